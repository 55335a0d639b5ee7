"""Measure how time grows with runs, lines and topics; 1.0 in the last column is linear growth.

    python benchmarks/growth.py [--repeat 3] [--folder FOLDER] [--only runs,lines,...] [--small]

The runs are generated files of 50 topics (more than 100 runs read the files again), and the lines are one run
file of 1,000 documents per topic, each scored by ten measures; lines are whole processes, with their peak
memory. Topics and systems are those of a score matrix that ``meta.compare_measures`` and ``meta.ranks`` get;
``report`` writes the page of the runs. The exponent is ``log(time / time before) / log(size / size before)``.
Pairs of systems grow with the square of the systems. ``--small`` leaves out the file of 70 million lines
(2.3 GB) and 1,000 runs.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import peers
from timing import Figure, in_turn, process
from workloads import Store, score_matrix

import ir_graded

Steps = Iterator[tuple[str, float, Callable[[], object]]]


def runs(store: Store, small: bool) -> Steps:
    for number in (1, 10, 100, 1_000)[: 3 if small else 4]:
        yield "runs", number, partial(ir_graded.evaluate, peers.TEN, *_files(store, number), progress=False)


def lines(store: Store, small: bool) -> Steps:
    for scale in (0.1, 1):
        part = Store(store.folder, scale).few
        yield "lines", part.rows, partial(process, peers.ir_graded_command(*store.files("few", part)))
    if not small:
        qrels, path, number = store.large()
        yield "lines", number, partial(process, peers.ir_graded_command(qrels, path))


def topics(store: Store, small: bool) -> Steps:  # noqa: ARG001  # as all of them
    for number in (50, 500, 5_000):
        matrices = {name: score_matrix(number, 40) for name in ("one", "two")}
        yield "topics, 40 systems", number, partial(ir_graded.meta.compare_measures, matrices)


def systems(store: Store, small: bool) -> Steps:  # noqa: ARG001  # as all of them
    for number in (30, 90, 270):
        matrices = {name: score_matrix(50, number) for name in ("one", "two")}
        yield "systems, 50 topics", number, partial(ir_graded.meta.compare_measures, matrices)


def ranks(store: Store, small: bool) -> Steps:  # noqa: ARG001  # as all of them
    for number in (100, 200, 400, 1_000)[: 3 if small else 4]:
        yield "ranks, 50 topics", number, partial(ir_graded.meta.ranks, {"one": score_matrix(50, number)})


def report(store: Store, small: bool) -> Steps:
    page = store.folder / "report.html"
    for number in (100, 200, 400, 1_000)[: 3 if small else 4]:
        yield "report", number, partial(ir_graded.report, peers.TEN, *_files(store, number), page)


def _files(store: Store, number: int) -> tuple[Path, dict[str, Path]]:
    qrels, paths = store.submissions(100)
    return qrels, {str(at): paths[at % len(paths)] for at in range(number)}


SECTIONS = {
    "runs": runs,
    "lines": lines,
    "topics": topics,
    "systems": systems,
    "ranks": ranks,
    "report": report,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, help="counted repetitions (default: 3)")
    parser.add_argument("--folder", type=Path, help="keeps the data (default: a temporary folder)")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"of {','.join(SECTIONS)}")
    parser.add_argument("--small", action="store_true", help="leave out the largest sizes")
    given = parser.parse_args()
    print("| work | size | time | processors' time | peak memory | exponent |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as temporary:
        store = Store(given.folder or Path(temporary), 1)
        for name in given.only.split(","):
            before: tuple[float, Figure] | None = None
            for work, size, call in SECTIONS[name](store, given.small):
                figure = in_turn(given.repeat, {work: call})[work]
                row = [work, f"{size:,}", f"{figure.seconds:.3f} s", f"{figure.processors:.3f} s"]
                row.append(f"{figure.peak:,.0f} MiB" if figure.peak else "")
                row.append(_exponent(size, figure, *before) if before else "")
                print(f"| {' | '.join(row)} |", flush=True)
                before = size, figure


def _exponent(size: float, figure: Figure, size_before: float, before: Figure) -> str:
    return f"{math.log(figure.processors / before.processors) / math.log(size / size_before):.2f}"


if __name__ == "__main__":
    main()
