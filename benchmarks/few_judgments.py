"""Simulate how far runs can be told apart by few judgments in the order of the pool.

``python benchmarks/few_judgments.py`` condenses the runs of several collections to judged documents, so
that the true scores are known, and reveals judgments in the order of the best rank in any run, at random
within a rank. It counts how many 95% intervals of the differences of two runs by ``model="runs"`` contain the
true difference, how many exclude 0 (settled), how many of these have the wrong sign, and how many intervals
of means contain the true mean. ``--page docs/trust`` writes the table. Names of collections choose some of
them; all but ``sample`` need the collections in ``../shared/data``.
"""

import argparse
import csv
import random
import sys
import warnings
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ir_graded
from benchmarks import interval_coverage as coverage
from tests.collections_data import ROOT, ranked_runs

MEASURES = ["nDCG@10", "AP", "Q"]
FIGURES = ["coverage of differences", "settled", "wrong among settled", "coverage of means"]
#: All documents of the condensed lists get levels.
DEPTH, SAMPLES = 1000, 100


def covid5():
    """Return qrels and all 126 runs of round 5; unjudged documents are missing."""
    qrels = ROOT / "trec-covid/qrels/qrels.covid-round5.txt.gz"
    qrels = coverage.qrels_of(ir_graded.read_qrels(qrels))
    runs = ranked_runs("round5.judged.tsv.xz")
    return qrels, {name: coverage.condensed(run, qrels) for name, run in runs.items()}


#: Title, numbers of labels, repetitions, number of random runs (None: all), and how to read each.
COLLECTIONS = {
    "sample": ("bundled sample, 20 runs", (500, 1000), 10, None, lambda: coverage.collection("sample")),
    "covid5": ("TREC-COVID round 5, 126 runs", (500, 1000, 2000, 4000), 5, None, covid5),
    "ten": ("TREC-COVID round 5, 10 random runs", (500, 1000), 20, 10, covid5),
    "robust": ("Robust 2003, 17 runs", (1000, 4000), 5, None, lambda: coverage.collection("robust")),
}


def in_pool_order(runs, rng):
    """Return the documents of the runs by best rank in any run, in random order within a rank."""
    best = {}
    for run in runs.values():
        for topic, docs in run.items():
            for rank, doc in enumerate(coverage.ranked(docs)):
                best[topic, doc] = min(rank, best.get((topic, doc), rank))
    return sorted(best, key=lambda one: (best[one], rng.random()))


def judged(qrels, documents):
    """Return the qrels of some documents; each topic has qrels."""
    known = {topic: {} for topic in qrels}
    for topic, doc in documents:
        known[topic][doc] = qrels[topic][doc]
    return known


def intervals(known, runs, model, seed):
    """Return the intervals of all measures without the warnings that few judgments cause."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)
        return ir_graded.score_intervals(
            MEASURES, known, runs, depth=DEPTH, n_samples=SAMPLES, rng=seed, model=model
        )


def means(qrels, runs):
    """Return the mean scores, shape ``(measures, runs)``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)  # runs without a topic
        return ir_graded.evaluate(MEASURES, qrels, runs).aggregates.T


def counted(truth, found):
    """Return the four figures for each measure, shape ``(figures, measures)``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)  # of bins
        got = found.differences()
    low, high, difference, settled = (
        np.reshape(column, (len(MEASURES), -1)) for column in (got.low, got.high, got.difference, got.settled)
    )
    first, second = np.triu_indices(truth.shape[1], 1)
    true = truth[:, first] - truth[:, second]
    inside = (low - 1e-12 <= true) & (true <= high + 1e-12)
    wrong = settled & (np.sign(difference) != np.sign(true))
    lowest, highest = found.overall[1:]
    covered = (lowest - 1e-12 <= truth) & (truth <= highest + 1e-12)
    of_settled = wrong.sum(axis=1) / settled.sum(axis=1)
    return np.stack([inside.mean(axis=1), settled.mean(axis=1), of_settled, covered.mean(axis=1)])


def simulated(qrels, runs, labels, repetitions, n_runs=None, model="runs"):
    """Yield for each repetition the figures by number of labels, shape ``(labels, figures, measures)``."""
    for seed in range(repetitions):
        rng = random.Random(seed)
        some = runs if n_runs is None else {name: runs[name] for name in rng.sample(sorted(runs), n_runs)}
        order, truth = in_pool_order(some, rng), means(qrels, some)
        yield [
            counted(truth, intervals(judged(qrels, order[:number]), some, model, seed)) for number in labels
        ]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("collections", nargs="*", choices=[*COLLECTIONS, "all"], default="all")
    parser.add_argument("--page", type=Path, help="folder of the page that shows the tables")
    given = parser.parse_args(arguments)
    rows = []
    for name in COLLECTIONS if "all" in given.collections else given.collections:
        title, labels, repetitions, n_runs, read = COLLECTIONS[name]
        qrels, runs = read()
        figures = np.array(list(simulated(qrels, runs, labels, repetitions, n_runs)))
        mean, error = figures.mean(axis=0), figures.std(axis=0, ddof=1) / np.sqrt(len(figures))
        for at, number in enumerate(labels):
            for column, measure in enumerate(MEASURES):
                cells = [
                    f"{value:.{4 if which == 2 else 2}f}" for which, value in enumerate(mean[at, :, column])
                ]
                rows.append([title, number, measure, *cells])
                print(*rows[-1], "errors", *np.round(error[at, :, column], 4), flush=True)
    if given.page:
        header = ["labels", "measure", *FIGURES]
        with (given.page / "run_model.csv").open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerows([["collection", *header], *rows])


if __name__ == "__main__":
    main()
