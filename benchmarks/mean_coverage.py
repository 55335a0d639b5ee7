"""Simulate how often intervals of means contain the mean, and how wide they are.

``python benchmarks/mean_coverage.py`` prints a table; ``--page docs/trust`` writes it beside the page there.
``--repetitions`` is 1,000 for the page. Topics of real collections are drawn with replacement, and the mean
over all of them is the truth. Real scores need the collections in ``../shared/data``; without them, only
success rates are simulated.
"""

import argparse
import csv
import sys
from pathlib import Path

import ir_measures
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import error_rates
from ir_graded import Scores, meta
from tests.collections_data import ROOT

TOPICS = (5, 10, 20, 50)
#: Shown methods: the percentile bootstrap, Student without a range, and the default with one.
METHODS = ("bootstrap", "t, no range", "t")


def web_2013(name):
    """Scores of the 34 runs of TREC Web 2013 by nDCG@20 or AP, shape ``(topics, runs)``."""
    return np.loadtxt(ROOT / "urbano" / f"web2013_{name}.csv", delimiter=",", skiprows=1)


def success(rate):
    """Scores of one run that succeeds on a share of the topics."""
    return (np.arange(1000) < 1000 * rate).astype(float)[:, np.newaxis]


#: Measure and population of each row of the table.
COLLECTIONS = {
    "RR, round 5": ("RR", lambda: error_rates.round_5("RR")),
    "nDCG@10, round 5": ("nDCG@10", lambda: error_rates.round_5("nDCG@10")),
    "AP, round 5": ("AP", lambda: error_rates.round_5("AP")),
    "AP, Web 2013": ("AP", lambda: web_2013("ap")),
    "nDCG@20, Web 2013": ("nDCG@20", lambda: web_2013("ndcg20")),
    "Success .05": ("Success@5", lambda: success(0.05)),
    "Success .95": ("Success@5", lambda: success(0.95)),
}


def simulated(name, topics, repetitions, method="t", seed=0):
    """Return the coverage of 95% intervals of samples of topics, and their mean width, over all runs."""
    measure, population = COLLECTIONS[name]
    scores, rng = population(), np.random.default_rng(seed)
    truth, found = scores.mean(axis=0), []
    # Each run on each sample of topics is a column; a block of them fits into memory.
    size = max(1, 5000 // scores.shape[1])
    for start in range(0, repetitions, size):
        drawn = scores[rng.integers(0, len(scores), (min(size, repetitions - start), topics))]
        columns = drawn.transpose(0, 2, 1).reshape(-1, topics)
        runs = tuple(map(str, range(len(columns))))
        given = Scores(runs, (ir_measures.parse_measure(measure),), tuple(range(topics)), columns[np.newaxis])
        matrix = {measure: given.matrix(measure)}
        options = {"method": method.partition(",")[0], "rng": start}
        ends = meta.confidence_intervals(given if method == "t" else matrix, **options)
        true = np.tile(truth, len(drawn))
        found.append(
            [(ends.low[0] - 1e-12 <= true) & (true <= ends.high[0] + 1e-12), ends.high[0] - ends.low[0]]
        )
    inside, width = np.concatenate(found, axis=1)
    return float(inside.mean()), float(width.mean())


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--page", type=Path, help="folder of the page that shows the table")
    given = parser.parse_args(arguments)
    rows = [["scores", "topics", "bootstrap", "Student", "default"]]
    for name in COLLECTIONS if ROOT.is_dir() else [*COLLECTIONS][-2:]:
        for topics in TOPICS:
            cells = [simulated(name, topics, given.repetitions, method) for method in METHODS]
            rows.append([name, topics, *(f"{coverage:.3f} ({width:.2f})" for coverage, width in cells)])
            print(*rows[-1], sep="\t", flush=True)
    if given.page:
        with (given.page / "mean_coverage.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
