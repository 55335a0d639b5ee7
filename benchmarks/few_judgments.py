"""Simulate how far runs can be told apart by few judgments in the order of the pool.

``python benchmarks/few_judgments.py`` condenses the runs of several collections to judged documents, so
that the true scores are known, and reveals judgments in the order of the best rank in any run, at random
within a rank. It counts how many 95% intervals of the differences of two runs by ``model="runs"`` contain the
true difference, how many exclude 0 (settled), how many of these have the wrong sign, and how many intervals
of means contain the true mean. ``--page docs/trust`` writes the table. Names of collections choose some of
them; all but ``sample`` need the collections in ``../shared/data``.

``--stopping`` simulates assessors who compute the differences after every batch of labels, and stop. A pair
of runs stops when it is settled, and five random runs when the first or all of their ten pairs are settled.
It counts the wrong signs among the pairs settled at the stop, with and without ``looks=``.
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
#: Labels at the first look and, at most, at the last one.
FIRST, LAST = 200, 2000
#: Runs whose pairs are watched together, and the number of such sets; a difference below this is close.
WATCHED, SETS, CLOSE = 5, 200, 0.02
STOPPING = [
    "one look",
    "each pair",
    "later looks",
    "first of ten",
    "all of ten",
    "close pairs",
    "pairs settled",
    "labels",
]


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


#: Repetitions of a simulation with stops, and labels between two looks.
STOPS = {
    "sample": (6, (20, 100, 400)),
    "covid5": (3, (100, 400)),
    "ten": (10, (100, 400)),
    "robust": (4, (100, 400)),
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


def looked_at(qrels, runs, order, numbers, plans, seed):
    """Return the signs of the differences that are settled, 0 for others, at each look of several plans.

    Args:
        plans: for each plan, the numbers of labels at its looks, and ``looks=`` of its differences.

    Returns:
        For each plan the signs, shape ``(looks, measures, pairs)``.
    """
    signs = [[] for _ in plans]
    for number in numbers:
        found = intervals(judged(qrels, order[:number]), runs, "runs", seed)
        for (at, looks), of_plan in zip(plans, signs, strict=True):
            if number in at:
                got = found.differences(looks=looks)
                of_plan.append(np.reshape(np.sign(got.difference) * got.settled, (len(MEASURES), -1)))
    return [np.array(of_plan) for of_plan in signs]


def at_stop(signs, rule):
    """Return the signs of each set of pairs at the first look where ``rule`` of it is settled, 0 if never.

    Signs have the shape ``(looks, sets, pairs)``, and the result ``(sets, pairs)``.
    """
    stops = rule(signs != 0, axis=2)
    chosen = signs[stops.argmax(axis=0), np.arange(stops.shape[1])]
    return np.where(stops.any(axis=0)[:, np.newaxis], chosen, 0)


def wrong(signs, true):
    """Return the share of wrong signs among the settled pairs, NaN if there are none."""
    settled = signs != 0
    return (settled & (signs != true)).sum() / settled.sum() if settled.any() else np.nan


def stopped(signs, truth, numbers, seed):
    """Return the figures of ``STOPPING`` from the signs ``(looks, pairs)`` and true means of one measure."""
    first, second = np.triu_indices(truth.size, 1)
    difference = truth[first] - truth[second]
    true, close = np.sign(difference), np.abs(difference) < CLOSE
    each, look = at_stop(signs[:, :, np.newaxis], np.any)[:, 0], (signs != 0).argmax(axis=0)
    labels = np.where(each == 0, LAST, np.array(numbers)[look])
    pair_of = np.zeros((truth.size, truth.size), dtype=int)
    pair_of[first, second] = np.arange(first.size)
    rng = np.random.default_rng(seed)
    some = np.sort([rng.choice(truth.size, WATCHED, replace=False) for _ in range(SETS)], axis=1)
    one, other = np.triu_indices(WATCHED, 1)
    sets = pair_of[some[:, one], some[:, other]]
    return [
        np.nanmean([wrong(of_look, true) for of_look in signs]),
        wrong(each, true),
        wrong(each[look > 0], true[look > 0]),
        *(wrong(at_stop(signs[:, sets], rule), true[sets]) for rule in (np.any, np.all)),
        (each * true == -1)[close].mean(),
        (each != 0).mean(),
        labels.mean(),
    ]


def stops(qrels, runs, batches, repetitions, n_runs=None):
    """Yield for each repetition the figures of ``STOPPING``.

    The shape is ``(batches, 2, measures, figures)``, where 2 is without and with ``looks=``.
    """
    looks = [range(FIRST, LAST + 1, batch) for batch in batches]
    plans = [(numbers, planned) for numbers in looks for planned in (1, len(numbers))]
    every = sorted({number for numbers in looks for number in numbers})
    for seed in range(repetitions):
        rng = random.Random(seed)
        some = runs if n_runs is None else {name: runs[name] for name in rng.sample(sorted(runs), n_runs)}
        order, truth = in_pool_order(some, rng), means(qrels, some)
        found = [
            [stopped(of_plan[:, at], truth[at], numbers, seed) for at in range(len(MEASURES))]
            for of_plan, (numbers, _) in zip(
                looked_at(qrels, some, order, every, plans, seed), plans, strict=True
            )
        ]
        yield np.reshape(found, (len(batches), 2, len(MEASURES), -1))


def at_budgets(name):
    """Yield the cells of the rows of a collection at fixed numbers of labels, with their standard errors."""
    title, labels, repetitions, n_runs, read = COLLECTIONS[name]
    figures = np.array(list(simulated(*read(), labels, repetitions, n_runs)))
    mean, error = figures.mean(axis=0), figures.std(axis=0, ddof=1) / np.sqrt(len(figures))
    for at, number in enumerate(labels):
        for column, measure in enumerate(MEASURES):
            cells = [f"{value:.{4 if which == 2 else 2}f}" for which, value in enumerate(mean[at, :, column])]
            yield [title, number, measure, *cells], error[at, :, column]


def at_stops(name):
    """Yield the cells of the rows of a collection, each without / with ``looks=``, with standard errors."""
    title, _, _, n_runs, read = COLLECTIONS[name]
    repetitions, batches = STOPS[name]
    figures = np.ma.masked_invalid(list(stops(*read(), batches, repetitions, n_runs)))
    mean, error = figures.mean(axis=0), figures.std(axis=0, ddof=1) / np.sqrt(figures.count(axis=0))
    for at, batch in enumerate(batches):
        for column, measure in enumerate(MEASURES):
            pairs = zip(*mean[at, :, column].filled(np.nan).tolist(), strict=True)
            cells = [" / ".join(f"{one:.{0 if one > 1 else 3}f}" for one in pair) for pair in pairs]
            looks = len(range(FIRST, LAST + 1, batch))
            yield [title, batch, looks, measure, *cells], error[at, :, column].ravel()


#: The file of a table, the columns before the figures, and its rows.
TABLES = {
    False: ("run_model.csv", ["collection", "labels", "measure", *FIGURES], at_budgets),
    True: ("stopping.csv", ["collection", "labels per look", "looks", "measure", *STOPPING], at_stops),
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("collections", nargs="*", choices=[*COLLECTIONS, "all"], default="all")
    parser.add_argument("--stopping", action="store_true", help="simulate assessors who stop when settled")
    parser.add_argument("--page", type=Path, help="folder of the page that shows the tables")
    given = parser.parse_args(arguments)
    file, header, rows_of = TABLES[given.stopping]
    rows = []
    for name in COLLECTIONS if "all" in given.collections else given.collections:
        for cells, errors in rows_of(name):
            rows.append(cells)
            print(*cells, "errors", *np.round(errors, 4), flush=True)
    if given.page:
        with (given.page / file).open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
