"""Checksums of the quick subset: two sums per measure, stored in the repository, compared with a tolerance.

Other machines round the last digits differently, so their bits cannot be compared with a stored recording.
The sum of all sizes, and a weighted sum of the values, show whether any value changed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from .recording import Item
from .sections import SECTIONS

EXPECTED = Path(__file__).with_name("expected.jsonl")
#: Largest difference of sums, relative to the sum of sizes.
TOLERANCE = 1e-13

_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Checksum:
    """All values of a measure, or of another result, in a section.

    Attributes:
        section: the section.
        what: the measure or result.
        count: number of values.
        size: sum of the sizes of the finite values.
        mixed: sum of the finite values, with the weight 1/2 + frac(i * golden ratio) at position i.
        others: digest of the texts, of the numbers that are not finite, and of all labels.
    """

    section: str
    what: str
    count: int
    size: float
    mixed: float
    others: str

    @classmethod
    def of(cls, section: str, what: str, items: Iterable[Item]) -> Checksum:
        """Return the checksum of items."""
        finite: list[float] = []
        others = sha256()
        count = 0
        for item in sorted(items, key=lambda item: item.where):
            count += len(item.values)
            others.update(repr((item.where, item.labels)).encode())
            if isinstance(item.values, np.ndarray):
                values = item.values.astype(np.float64)
                others.update(repr(values[~np.isfinite(values)].tolist()).encode())
                finite += values[np.isfinite(values)].tolist()
            else:
                others.update(repr(list(item.values)).encode())
        size = math.fsum(map(abs, finite))
        return cls(section, what, count, size, _mixed(finite), others.hexdigest()[:12])

    def equals(self, expected: Checksum) -> bool:
        """Return whether values, texts and labels are equal up to rounding."""
        return (self.count, self.others) == (expected.count, expected.others) and all(
            math.isclose(one, other, rel_tol=0, abs_tol=TOLERANCE * expected.size)
            for one, other in ((self.size, expected.size), (self.mixed, expected.mixed))
        )


def _mixed(values: list[float]) -> float:
    return math.fsum(value * (0.5 + (at * _GOLDEN) % 1) for at, value in enumerate(values, 1))


def recorded(section: str) -> list[Checksum]:
    """Record a section's quick subset now and return its checksums; messages are left out."""
    items: dict[str, list[Item]] = {}

    def take(item: Item) -> None:
        if not item.loose:
            items.setdefault(item.what, []).append(item)

    SECTIONS[section].run(take, quick=True)
    return [Checksum.of(section, what, of) for what, of in sorted(items.items())]


def quick_sections() -> list[str]:
    """Return the sections of the quick subset."""
    return [name for name, one in SECTIONS.items() if one.quick]


def expected() -> dict[str, list[Checksum]]:
    """Return the checksums stored in the repository, by section."""
    found: dict[str, list[Checksum]] = {}
    for line in EXPECTED.read_text(encoding="utf-8").splitlines():
        checksum = Checksum(*json.loads(line))
        found.setdefault(checksum.section, []).append(checksum)
    return found


def changes(now: list[Checksum], before: list[Checksum]) -> Iterator[str]:
    """Describe the differences of a section; a new measure is not a difference."""
    by_name = {checksum.what: checksum for checksum in now}
    for old in before:
        new = by_name.get(old.what)
        if new is None:
            yield f"{old.section} | {old.what}: is no longer recorded"
        elif not new.equals(old):
            yield f"{old.section} | {old.what}: {_shown(old)} -> {_shown(new)}"


def _shown(checksum: Checksum) -> str:
    return f"{checksum.count} values, sums {checksum.size!r} and {checksum.mixed!r}, others {checksum.others}"


def write_expected() -> int:
    """Record the quick subset, store its checksums, and return their number.

    A result that equals its checksum keeps it: machines differ in last digits, which are not a change.
    """
    before = {(one.section, one.what): one for of_section in expected().values() for one in of_section}
    lines = []
    for now in (checksum for section in quick_sections() for checksum in recorded(section)):
        old = before.get((now.section, now.what))
        stored = old if old is not None and now.equals(old) else now
        lines.append(json.dumps(astuple(stored), ensure_ascii=False))
    EXPECTED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)
