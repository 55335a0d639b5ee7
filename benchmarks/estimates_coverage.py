"""Simulate samples of judgments, and estimate the scores of complete judgments from them.

``python benchmarks/estimates_coverage.py`` draws samples of the judgments of TREC-COVID round 5 (126 runs,
50 topics; it needs ``../shared/data``) by several designs, and prints bias, root mean squared error and
Kendall tau of the means of all runs, and how many 95% intervals of means, and of the differences of random
pairs of runs, contain those of complete judgments. ``--page docs/trust`` writes the table beside the page
there.
"""

import argparse
import csv
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import kendalltau

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ir_graded
from tests.collections_data import covid_qrels, covid_round_5

#: Measures of each design, and the measures for strata that estimate the same, where there is one.
MEASURES = {"AP": "xinfAP", "Q": "infQ", "nDCG": "infNDCG", "nDCG@10": None, "P@10": None}
#: Shares of the documents to judge by best rank in any run, ``(last rank, share), ...``, or limits of draws
#: that follow each other.
DESIGNS = {
    "uniform, 10%": ((np.inf, 0.1),),
    "A: 1/2, 1/10, 1/20": ((5, 0.5), (20, 0.1), (np.inf, 0.05)),
    "B: all, 1/5, 1/10": ((3, 1.0), (10, 0.2), (np.inf, 0.1)),
    "limit: 500": (500,),
    "limit: 2,236": (2236,),
    "limit: 736, then 1,500": (736, 1500),
}
PAIRS, REPETITIONS = 63, 40
HEAD = [
    *("design", "judged", "measure", "bias", "rmse", "tau", "coverage", "coverage of differences"),
    *(
        "strata: bias",
        "strata: rmse",
        "strata: tau",
        "strata: coverage",
        "as complete: bias",
        "as complete: tau",
    ),
]


@cache
def collection():
    """Return the judged documents of the pool with their best ranks, and the runs."""
    runs = covid_round_5()
    retrieved = pl.concat(runs.values()).rename({"score": "best"})
    best = retrieved.group_by("query_id", "doc_id").agg(-pl.col("best").max())
    qrels = ir_graded.read_qrels(covid_qrels(5)).astype({"query_id": str})
    qrels = qrels.merge(best.to_pandas(), on=["query_id", "doc_id"])
    return qrels[qrels["relevance"] >= 0].reset_index(drop=True), runs


@cache
def judged_runs():
    """Return the runs without the documents that nobody judged, to draw from."""
    qrels, runs = collection()
    judged = pl.from_pandas(qrels[["query_id", "doc_id"]])
    return {name: run.join(judged, on=["query_id", "doc_id"], how="semi") for name, run in runs.items()}


def evaluated(measures, qrels, runs):
    """Return the means of all runs, shape ``(runs, measures)``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)  # a run lacks a topic
        return ir_graded.evaluate(measures, qrels, runs, progress=False).aggregates


def sampled(qrels, design, rng):
    """Return the pool with the levels of a sample of at least two documents of each stratum, else -1.

    With limits, return the documents of the draws, with their inclusion probabilities.
    """
    if isinstance(DESIGNS[design][0], int):
        key, found = ["query_id", "doc_id"], None
        for limit in DESIGNS[design]:
            found = ir_graded.pool(judged_runs(), limit=limit, judged=found, rng=rng)
            found = found.drop(columns="relevance").merge(qrels[[*key, "relevance"]], on=key)
        return found
    ends, shares = map(np.array, zip(*DESIGNS[design], strict=True))
    table = qrels[["query_id", "doc_id", "relevance"]].assign(stratum=np.searchsorted(ends, qrels["best"]))
    groups = table.assign(draw=rng.random(len(table))).groupby(["query_id", "stratum"])["draw"]
    wanted = np.maximum(2, np.round(groups.transform("size") * shares[table["stratum"]]))
    return table.assign(relevance=table["relevance"].where(groups.rank() <= wanted, -1))


@cache
def strata_measures():
    """Return the measures for strata that the package has."""
    found = {}
    for measure, name in MEASURES.items():
        try:
            found[measure] = name and ir_graded.measures.parsing.read_measure(name)
        except NameError:
            found[measure] = None
    return found


def figures(design, repetitions, seed=0, most_runs=None):
    """Return the mean number of judged documents, and figures as in ``HEAD``, shape ``(measures, figures)``.

    The second array has the standard errors of biases and coverages over the repetitions.
    """
    qrels, runs = collection()
    runs = dict(list(runs.items())[:most_runs])
    rng, names = np.random.default_rng(seed), [*MEASURES]
    pairs = [rng.choice(len(runs), 2, replace=False) for _ in range(PAIRS)]
    truth = evaluated(names, qrels, runs)
    labels, found = [], []
    for _ in range(repetitions):
        sample = sampled(qrels, design, rng)
        labels.append(np.count_nonzero(sample["relevance"] >= 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ir_graded.CoverageWarning)
            estimates = ir_graded.score_estimates(names, sample, runs)
        mean, se, low, high = estimates.overall.swapaxes(1, 2)
        zero = evaluated(names, sample[["query_id", "doc_id", "relevance"]], runs)
        by_strata = strata_means(sample, runs) if "stratum" in sample else {}
        run_names = [*runs]
        ends = [estimates.difference(run_names[a], run_names[b]) for a, b in pairs]
        true = [truth[a] - truth[b] for a, b in pairs]
        inside = [(one.low <= gap) & (gap <= one.high) for one, gap in zip(ends, true, strict=True)]
        rows = []
        for at, measure in enumerate(names):
            of_measure, width = truth[:, at], 1.96 * se[:, at]
            covered = (low[:, at] <= of_measure) & (of_measure <= high[:, at])
            row = [*errors(mean[:, at], of_measure), covered.mean(), np.mean([one[at] for one in inside])]
            strata = by_strata.get(measure)
            row += [np.nan] * 4 if strata is None else [
                *errors(strata, of_measure), (np.abs(strata - of_measure) <= width).mean()
            ]  # fmt: skip
            bias, _, tau = errors(zero[:, at], of_measure)
            rows.append([*row, bias, tau])
        found.append(rows)
    values = np.array(found)
    mean = values.mean(axis=0)
    for squares in (1, 6):
        mean[:, squares] = np.sqrt(mean[:, squares])
    return np.mean(labels), mean, values.std(axis=0, ddof=1) / np.sqrt(repetitions)


def strata_means(sample, runs):
    """Return the means of all runs by the measures for strata."""
    measures = {name: measure for name, measure in strata_measures().items() if measure is not None}
    if not measures:
        return {}
    return dict(zip(measures, evaluated([*measures.values()], sample, runs).T, strict=True))


def errors(found, true):
    """Return bias and squared error of the means of all runs, and tau of their order."""
    return (found - true).mean(), ((found - true) ** 2).mean(), kendalltau(found, true).statistic


def table(repetitions, designs=tuple(DESIGNS)):
    """Return the rows of the table."""
    rows = [HEAD]
    for design in designs:
        labels, found, _ = figures(design, repetitions)
        for measure, values in zip(MEASURES, found, strict=True):
            cells = [
                "" if np.isnan(value) else f"{value:.{places}f}"
                for value, places in zip(values, PLACES, strict=True)
            ]
            rows.append([design, round(labels), measure, *cells])
            print(*rows[-1], sep=", ", flush=True)
    return rows


#: Decimals of the figures.
PLACES = (3, 3, 3, 2, 2, 3, 3, 3, 2, 3, 3)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--page", type=Path, help="folder of the page that shows the table")
    given = parser.parse_args(arguments)
    rows = table(given.repetitions)
    if given.page:
        with (given.page / "estimates.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
