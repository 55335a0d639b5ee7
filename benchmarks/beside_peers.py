"""Compare every workload with its peers in one run: times, ratios and peak memory, as Markdown.

    python benchmarks/beside_peers.py [--repeat 5] [--only files,dicts] [--output FILE]

Every figure is the median of the repetitions; the peers take turns, and the first round does not count. A
ratio compares a row with the first row of its table. trec_eval is measured if the environment variable
TREC_EVAL names its program; ranx, pyndeval and pyNTCIREVAL if they are installed. The many runs are generated
unless --runs FOLDER --qrels FILE names real ones. The file of 70 million lines needs --large. The script
exits with 1 if scores differ that must be equal.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import peers
from report import Report
from sections import SECTIONS, Run
from workloads import Store

from ir_graded._utils.atomic_files import check_writable
from ir_graded._utils.threads import processors


def machine() -> str:
    """Return the number of processors and the versions."""
    found = [f"{platform.system()} {platform.machine()}, {processors()} processors"]
    found.append(f"Python {platform.python_version()}")
    for name in peers.NAMES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join(found)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5, help="counted repetitions (default: 5)")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"of {','.join(SECTIONS)}")
    parser.add_argument("--scale", type=float, default=1, help="times as many topics (default: 1)")
    parser.add_argument("--folder", type=Path, help="keeps the data (default: a temporary folder)")
    parser.add_argument("--output", type=Path, help="a file for the report, which is printed in any case")
    parser.add_argument(
        "--runs",
        type=Path,
        help="a folder of run files, or a file of lines 'topic TAB run TAB rank:doc rank:doc ...'",
    )
    parser.add_argument("--qrels", type=Path, help="the qrels of --runs")
    parser.add_argument("--large", action="store_true", help="measure a file of 70 million lines (2.3 GB)")
    found = parser.parse_args()
    found.only = found.only.split(",")
    for name in set(found.only) - set(SECTIONS):
        parser.error(f"--only: unknown section {name!r}; choose from {', '.join(SECTIONS)}")
    if found.output is not None:
        check_writable(found.output)  # before anything is measured
    return found


def main() -> int:
    given = options()
    report = Report()
    report.write("# ir_graded beside its peers", "", f"{machine()}.", "")
    report.write(f"Medians of {given.repeat} rounds or more, peers in turn, after an uncounted first round.")
    report.write("A ratio is that to the first row of the table. ir_graded computes ten measures:")
    report.write(f"{', '.join(peers.TEN)}.")
    with tempfile.TemporaryDirectory() as temporary:
        store = Store(given.folder or Path(temporary), given.scale)
        run = Run(store, report, given.repeat, given.runs, given.qrels, given.large)
        for name, section in SECTIONS.items():
            if name in given.only:
                section(run)
    if given.output:
        report.save(given.output)
    return 0 if report.holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
