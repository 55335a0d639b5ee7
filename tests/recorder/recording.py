"""Recordings: results as items with exact values, the file that stores them, and the comparison of two.

A recording is one SQLite file. An item has a key of three parts (section, what, where), one value or
many, and a label for each value, such as the topic. Values are stored bit by bit.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

TEXT = "text"

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE labels (number INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE items (
    section TEXT, what TEXT, place TEXT, loose INTEGER, labels INTEGER, kind TEXT, packed BLOB,
    PRIMARY KEY (section, what, place)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, eq=False)
class Item:
    """One result.

    Attributes:
        section: the section that recorded it.
        what: the computed result: a measure, a statistic, a command.
        where: the input: a collection, a run, a form.
        values: an array of one dimension, or texts.
        labels: a unique text per value; empty if values are numbered from 0.
        loose: whether it may change intentionally (messages): differences are reported and do not fail.
    """

    section: str
    what: str
    where: str
    values: np.ndarray | Sequence[str]
    labels: tuple[str, ...] = ()
    loose: bool = False

    @property
    def kind(self) -> str:
        """Return the type of the values: that of numpy, or TEXT."""
        return self.values.dtype.str if isinstance(self.values, np.ndarray) else TEXT


@dataclass(frozen=True)
class Difference:
    """A value that differs between two recordings; ``label`` names it inside its item."""

    section: str
    what: str
    where: str
    label: str
    old: str
    new: str
    loose: bool = False

    def __str__(self) -> str:
        return f"{self.section} | {self.what} | {self.where} | {self.label}: {self.old} -> {self.new}"


@dataclass
class Report:
    """The differences of a recording from an older one.

    Attributes:
        changed: values that differ or exist only in the older one.
        messages: messages that differ or exist only in the older one.
        added: keys that exist only in the newer one.
        compared: number of items that both have.
    """

    changed: list[Difference] = field(default_factory=list)
    messages: list[Difference] = field(default_factory=list)
    added: list[tuple[str, str, str]] = field(default_factory=list)
    compared: int = 0


class Recording:
    """A file of items. ``create`` makes an empty one; the constructor opens an existing one."""

    def __init__(self, path: str | Path) -> None:
        if not Path(path).is_file():
            raise FileNotFoundError(f"{path}: no such recording")
        self._connect(path)
        self._texts = dict(self._db.execute("SELECT number, packed FROM labels"))

    def _connect(self, path: str | Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        self._numbers: dict[tuple[str, ...], int] = {}

    @classmethod
    def create(cls, path: str | Path) -> Recording:
        """Create an empty recording; a file at ``path`` is replaced."""
        Path(path).unlink(missing_ok=True)
        made = cls.__new__(cls)
        made._connect(path)
        made._db.executescript(_TABLES)
        made._db.execute("BEGIN")
        made._texts = {}
        return made

    def close(self) -> None:
        """Write pending items to the file, and close it."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._db.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def facts(self) -> dict[str, str]:
        """Return facts about the whole recording, such as versions of libraries."""
        return dict(self._db.execute("SELECT name, value FROM facts"))

    def note(self, facts: Mapping[str, str]) -> None:
        """Store facts about the whole recording."""
        self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    def add(self, item: Item) -> None:
        """Store an item. Raise ValueError if its key exists, or if labels and values do not match."""
        if item.labels and len(item.labels) != len(item.values):
            raise ValueError(f"{_key(item)}: {len(item.labels)} labels, {len(item.values)} values")
        row = (
            *_key(item), item.loose, self._number_of(item.labels), item.kind, _packed(item.values),
        )  # fmt: skip
        try:
            self._db.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except sqlite3.IntegrityError:
            raise ValueError(f"{_key(item)} is recorded twice") from None

    def _number_of(self, labels: tuple[str, ...]) -> int:
        if labels not in self._numbers:
            if len(set(labels)) < len(labels):
                raise ValueError(f"a label appears twice among {labels[:3]}...")
            number = self._numbers[labels] = len(self._numbers)
            self._texts[number] = _packed(labels)
            self._db.execute("INSERT INTO labels VALUES (?, ?)", (number, self._texts[number]))
        return self._numbers[labels]

    def sections(self) -> dict[str, int]:
        """Return the number of items by section."""
        return dict(self._db.execute("SELECT section, count(*) FROM items GROUP BY section"))

    def rows(self, section: str) -> dict[tuple[str, str, str], Row]:
        """Yield the items of a section by key, in stored form."""
        found = self._db.execute(
            "SELECT what, place, loose, labels, kind, packed FROM items WHERE section = ?", (section,)
        )
        return {
            (section, what, where): Row(bool(loose), self._texts[labels], kind, packed)
            for what, where, loose, labels, kind, packed in found
        }

    def items(self, section: str) -> Iterator[Item]:
        """Yield the items of a section, sorted by key."""
        for key, row in sorted(self.rows(section).items(), key=lambda pair: pair[0]):
            yield Item(*key, row.values(), tuple(_texts(row.labels)), row.loose)


@dataclass(frozen=True)
class Row:
    """Return an item in stored form: equal rows have equal bits."""

    loose: bool
    labels: bytes
    kind: str
    packed: bytes

    def values(self) -> np.ndarray | list[str]:
        """Return the values."""
        return _texts(self.packed) if self.kind == TEXT else np.frombuffer(_unpacked(self.packed), self.kind)

    def printed(self) -> dict[str, str]:
        """Return each value as text by its label; different values have different texts."""
        values = self.values()
        texts = values if self.kind == TEXT else _printed(values)
        return dict(zip(_texts(self.labels) or map(str, range(len(texts))), texts, strict=True))


def differences(old: Recording, new: Recording, sections: Sequence[str]) -> Report:
    """Return the differences of the items of some sections."""
    report = Report()
    for section in sections:
        before, after = old.rows(section), new.rows(section)
        report.added += sorted(after.keys() - before.keys())
        for key, row in sorted(before.items(), key=lambda pair: pair[0]):
            found = report.messages if row.loose else report.changed
            if key not in after:
                found.append(Difference(*key, "(item)", "recorded", "missing", row.loose))
                continue
            report.compared += 1
            if row != after[key]:
                found += _of_rows(key, row, after[key])
    return report


def _of_rows(key: tuple[str, str, str], old: Row, new: Row) -> Iterator[Difference]:
    if old.kind != new.kind:
        yield Difference(*key, "(type)", old.kind, new.kind, old.loose)
    before, after = old.printed(), new.printed()
    for label in [*before, *(label for label in after if label not in before)]:
        one, other = before.get(label, "missing"), after.get(label, "missing")
        if one != other:
            yield Difference(*key, label, one, other, old.loose)
    common = [label for label in before if label in after]
    if common != [label for label in after if label in before]:
        yield Difference(*key, "(order)", ", ".join(before), ", ".join(after), old.loose)


def _key(item: Item) -> tuple[str, str, str]:
    return item.section, item.what, item.where


def _printed(values: np.ndarray) -> list[str]:
    """Return numbers as text; a NaN with its bits, because there are several."""
    bits = values.view(f"u{values.itemsize}").tolist()
    return [
        f"nan 0x{pattern:x}" if value != value else repr(value)  # noqa: PLR0124  (only a NaN differs from itself)
        for value, pattern in zip(values.tolist(), bits, strict=True)
    ]


def _packed(values: np.ndarray | Sequence[str]) -> bytes:
    """Return values as bytes, compressed if that is shorter; the first byte tells which."""
    if isinstance(values, np.ndarray):
        data = np.ascontiguousarray(values).tobytes()
    else:
        data = json.dumps(list(values), ensure_ascii=True).encode()
    compressed = zlib.compress(data, 1)
    return b"z" + compressed if len(compressed) < len(data) else b"-" + data


def _unpacked(packed: bytes) -> bytes:
    return zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed[1:]


def _texts(packed: bytes) -> list[str]:
    texts: list[str] = json.loads(_unpacked(packed))
    return texts
