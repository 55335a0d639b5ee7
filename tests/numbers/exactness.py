"""Count the correct digits of every measure's scores: largest errors in ulps, printed as a table.

``python tests/numbers/exactness.py`` compares each measure with decimals of 60 digits: with ordinary numbers
and random topics (``--topics`` per scale), with parameters and levels at the limits of their ranges, and
with a ranking of ``--documents`` documents, most of them relevant. An ulp is the unit in the last place of a
double, 2^-53 for numbers from 1/2 to 1. ``--page docs/trust`` writes the figures into the pages there.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import number_cases as cases
import passage_precision
from classics.classic_cases import OF_DOCUMENTS as CLASSICS

SCALES = [(0, 1, 2, 3), (0, 0.1, 0.7, 1, 1 / 3 + 1, 2.75)]
TITLES = ("ordinary", "ends", "long")
#: The parts of the pages to write: a table of all measures, and the figures in the text.
TABLE, TEXT = "exactness.csv", "exactness.txt"


def graded(measure, ordinary, long):
    """Return the errors of a measure: for ordinary numbers, at the limits of ranges and in a long ranking."""
    yield cases.errors(cases.parameters(measure, 3), *ordinary)
    at_ends = cases.errors(cases.parameters(measure, 3, ends=True), *cases.ENDS)
    chosen = cases.parameters(measure, cases.LARGEST_LEVEL)
    yield [*at_ends, *cases.errors(chosen, *cases.LEVELS_AT_ENDS)]
    yield cases.errors(cases.of_long_rankings(measure), *long)


def classic(name, ordinary, long):
    """Return the errors of a classic; gains of 2^level are not defined at the limits."""
    measures = cases.CLASSIC_VARIANTS[name]
    yield cases.errors(measures, *ordinary)
    finite = [one for one in measures if not str(one).startswith(("nDCG(dcg", "ERR"))]
    yield cases.errors(finite, *cases.LEVELS_AT_ENDS)
    yield cases.errors(measures, *long)


def passages(measure, topics, documents):
    """Return the errors of a passage measure: articles of 60 positions, of 2^48, and many articles."""
    yield passage_precision.errors(measure, 60, range(topics))
    yield passage_precision.errors(measure, 2**48, range(topics))
    yield passage_precision.errors(measure, 2**20, [0], documents)


def rows(topics, documents):
    """Yield name and errors of every measure."""
    ordinary = cases.collection(SCALES, topics=topics, retrieved=60, judged=40)
    long = cases.collection(SCALES, topics=1, retrieved=documents, judged=documents * 9 // 10)
    for name, measure in cases.VARIANTS.items():
        yield name, graded(measure, ordinary, long)
    for name, measure in passage_precision.MEASURES.items():
        yield name, passages(measure, topics, min(documents, 2000))
    for name in CLASSICS:
        yield name, classic(name, ordinary, long)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--topics", type=int, default=20, help="random topics of each scale")
    parser.add_argument("--documents", type=int, default=100_000, help="documents of the long ranking")
    parser.add_argument("--page", type=Path, help="folder of the pages that show the figures")
    given = parser.parse_args(arguments)
    print(f"{'largest error in ulps':26}{''.join(f'{title:>10}' for title in TITLES)}{'scores':>9}")  # noqa: T201
    found = []
    for name, parts in rows(given.topics, given.documents):
        errors = [list(part) for part in parts]
        largest = [cases.largest(part)[0] for part in errors]
        count = sum(map(len, errors))
        print(f"{name:26}{''.join(f'{error:10.2f}' for error in largest)}{count:9,}", flush=True)  # noqa: T201
        found.append((name, largest, count))
    worst, total = max(max(largest) for _, largest, _ in found), sum(count for *_, count in found)
    print(f"{total:,} scores compared, the largest error is {worst:.2f} ulps")  # noqa: T201
    if given.page:
        write(given.page, found, worst, total)
    return worst


def write(folder, found, worst, total):
    """Write the figures into the pages in a folder."""
    with (folder / TABLE).open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["measure", *TITLES, "scores"])
        for name, largest, count in found:
            lines.writerow([name, *(f"{error:.2f}" for error in largest), count])
    figures = {"exactness scores": f"{total:,}", "exactness worst": f"{worst:.2f}"}
    text = "".join(f".. |{name}| replace:: {figure}\n" for name, figure in figures.items())
    (folder / TEXT).write_text(text, encoding="utf-8")


def written(folder):
    """Return the measures that the pages in a folder list, with their errors and numbers of scores."""
    with (folder / TABLE).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {row["measure"]: [float(row[name]) for name in (*TITLES, "scores")] for row in rows}


if __name__ == "__main__":
    main()
