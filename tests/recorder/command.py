"""Record the results of the package, and compare them with an earlier recording."""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from . import checksums
from .recorder import Section
from .recording import Difference, Item, Recording, Report, differences
from .sections import SECTIONS

_LIBRARIES = "numpy pandas polars pyarrow scipy ir-measures pytrec-eval-terrier matplotlib"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    # Warnings are not results, and may change.
    warnings.simplefilter("ignore")
    code: int = options.run(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python tests/recorder", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    record = commands.add_parser("record", help="record all results into FILE")
    record.add_argument("file", type=Path, metavar="FILE")
    record.add_argument("--quick", action="store_true", help="the quick subset only")
    record.set_defaults(run=_record)

    compare = commands.add_parser("compare", help="record again and list what differs")
    compare.add_argument("file", type=Path, metavar="FILE", help="an earlier recording")
    compare.add_argument("new", type=Path, nargs="?", metavar="NEW", help="a second one; by default made now")
    compare.add_argument("--limit", type=int, default=200, help="values to list, 0 for all (default: 200)")
    compare.set_defaults(run=_compare)

    for one in (record, compare):
        one.add_argument("--section", action="append", choices=SECTIONS, help="may repeat (default: all)")

    commands.add_parser("sections", help="list the sections").set_defaults(run=_list_sections)
    expect = commands.add_parser(
        "expect", help=f"write {checksums.EXPECTED.name}, with which a test compares"
    )
    expect.set_defaults(run=_expect)
    return parser


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  (a command)


# ------------------------------------------------------------------------------------------- record


def _record(options: argparse.Namespace) -> int:
    return _recorded(options.file, options.section or [*SECTIONS], options.quick)


def _recorded(path: Path, names: Sequence[str], quick: bool) -> int:
    """Record sections into a file and return the exit code, 1 if a section failed."""
    began, total, failed = time.perf_counter(), 0, []
    with Recording.create(path) as recording:
        recording.note({"quick": str(quick), "Python": platform.python_version()})
        recording.note({name: version(name) for name in _LIBRARIES.split()})
        for section in SECTIONS.values():
            if section.name not in names or (quick and not section.quick):
                continue
            if section.lacking:
                _say(f"{section.name:<24} left out: {section.lacking}")
                continue
            try:
                total += _record_section(recording, section, quick)
            except Exception:  # the other sections may still succeed
                failed.append(section.name)
                _say(f"{section.name:<24} failed:\n{traceback.format_exc()}")
    size = path.stat().st_size / 1e6
    _say(f"{total:,} values in {time.perf_counter() - began:.0f} s: {path}, {size:.1f} MB")
    if failed:
        _say(f"sections that failed: {', '.join(failed)}")
    return 1 if failed else 0


def _record_section(recording: Recording, section: Section, quick: bool) -> int:
    """Record a section, print its duration, and return the number of values."""
    began, counts = time.perf_counter(), Counter[str]()

    def take(item: Item) -> None:
        counts["messages" if item.loose else "values"] += len(item.values)
        counts["items"] += 1
        recording.add(item)

    section.run(take, quick=quick)
    _say(
        f"{section.name:<24} {time.perf_counter() - began:6.1f} s {counts['items']:9,} items "
        f"{counts['values']:11,} values {counts['messages']:7,} lines of messages"
    )
    return counts["values"]


# ------------------------------------------------------------------------------------------ compare


def _compare(options: argparse.Namespace) -> int:
    with Recording(options.file) as old, tempfile.TemporaryDirectory() as folder:
        names = [name for name in old.sections() if options.section is None or name in options.section]
        new_path, code = options.new, 0
        if new_path is None:
            new_path = Path(folder) / "new.recording"
            code = _recorded(new_path, names, old.facts["quick"] == "True")
        with Recording(new_path) as new:
            _warn_of_other_facts(old, new)
            report = differences(old, new, names)
    return max(code, _said(report, options.limit))


def _warn_of_other_facts(old: Recording, new: Recording) -> None:
    before, after = old.facts, new.facts
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            _say(f"note: {name} was {before[name]} and is {after[name]}")


def _said(report: Report, limit: int) -> int:
    """Print a report and return the exit code."""
    _list("messages that differ (no failure)", report.messages, limit)
    if report.added:
        _say(f"\nnew keys (no failure): {len(report.added):,}, the first {' | '.join(report.added[0])}")
    _list("values that differ", report.changed, limit)
    if report.changed:
        _say("\nvalues that differ by section and result, the most frequent first:")
        counts = Counter((one.section, one.what) for one in report.changed)
        for (section, what), count in counts.most_common(40):
            _say(f"{count:9,}  {section} | {what}")
    differing = f"{len(report.changed):,} values and {len(report.messages):,} lines of messages differ"
    _say(f"\n{report.compared:,} items compared: {differing}")
    return 1 if report.changed else 0


def _list(title: str, found: list[Difference], limit: int) -> None:
    if not found:
        return
    _say(f"\n{title}: {len(found):,}")
    shown = found[:limit] if limit else found
    for one in shown:
        _say(f"  {one}")
    if len(shown) < len(found):
        _say(f"  ... and {len(found) - len(shown):,} more: --limit 0 lists all")


# ------------------------------------------------------------------------------------------- others


def _list_sections(_: argparse.Namespace) -> int:
    for section in SECTIONS.values():
        marks = " (quick)" * section.quick + f" ({section.lacking})" * bool(section.lacking)
        _say(f"{section.name:<24} {section.about}{marks}")
    return 0


def _expect(_: argparse.Namespace) -> int:
    _say(f"{checksums.write_expected():,} checksums: {checksums.EXPECTED}")
    return 0
