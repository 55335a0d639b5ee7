"""Measure how many labels a leaderboard needs, by the order of judging and by how unjudged documents count.

``python benchmarks/judging_orders.py`` condenses the runs of real collections to judged documents, so
that the leaderboard with all judgments is known, hides all judgments, and reveals them in an order. It prints
the number of labels from which on Kendall's tau with the true leaderboard stays at .95 or more.
``--page docs/trust`` writes the table. All collections but ``sample`` are read from ``../shared/data``.

Orders: *pool* takes the first documents of all runs, then the second ones, and so on; *random*; *move to
front* takes the next document of the run with the best recent documents; *uncertain* takes documents whose
probability of relevance is nearest to .5, and *variance* those with the largest ``p (1 - p)`` times the
variance over the runs of their weight in the measure. The last two refit a model after each batch.
"""

import argparse
import csv
import random
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scipy.stats import kendalltau

import ir_graded
from benchmarks import interval_coverage as coverage
from ir_graded.analyses.score_intervals.imputation import (
    Imputation,
    ReciprocalRankFusion,
    Retrieved,
    RunModel,
    sigmoid,
)
from ir_graded.io.sources import named_runs
from ir_graded.matching.match import MatchedRun, match_run, prepare_qrels
from tests.collections_data import ranked_runs

MEASURES = ["nDCG@10", "AP", "Q"]
#: Ranks down to which documents are judged and imputed: all.
DEPTH = 1000
#: The first number of labels, the growth of a batch, and the samples of a mean and of a probability.
FIRST, GROWTH, SAMPLES, DRAWS = 400, 1.12, 30, 200
TAU = 0.95
#: Weight of a document at a rank for a measure.
WEIGHTS = {
    "nDCG@10": lambda rank: np.where(rank <= 10, 1 / np.log2(rank + 1), 0),
    "AP": lambda rank: 1 / rank,
    "Q": lambda rank: 1 / rank,
}


def covid5():
    """Return round 5: qrels, and all 126 runs with their judged documents."""
    qrels = ir_graded.read_qrels(coverage.ROOT / "trec-covid/qrels/qrels.covid-round5.txt.gz")
    return qrels, ranked_runs("round5.judged.tsv.xz")


COLLECTIONS = {
    "sample": ("bundled sample", coverage.sample),
    "covid5": ("TREC-COVID round 5", covid5),
    "robust": ("Robust 2003", coverage.robust),
}


class Hidden:
    """A collection with hidden judgments: what is known of it, and the rankings of all runs."""

    def __init__(self, name):
        rows, runs = COLLECTIONS[name][1]()
        self.qrels = coverage.qrels_of(rows)
        self.runs = {run: coverage.condensed(frame, self.qrels) for run, frame in runs.items()}
        self.rank = {}
        best = {}
        for run, topics in self.runs.items():
            self.rank[run] = of_run = {}
            for topic, docs in topics.items():
                for rank, doc in enumerate(coverage.ranked(docs), start=1):
                    of_run[topic, doc] = rank
                    best[topic, doc] = min(rank, best.get((topic, doc), rank))
        self.best = best
        self.documents = sorted(best)
        self.frames = {run: _frame(topics) for run, topics in self.runs.items()}
        self.known = {}
        self.truth = ir_graded.evaluate(MEASURES, self.qrels, self.frames).aggregates

    def level(self, document):
        topic, doc = document
        return self.qrels[topic][doc]

    def reveal(self, documents):
        for document in documents:
            self.known[document] = self.level(document)

    def labels(self):
        found = {topic: {} for topic in self.qrels}
        for (topic, doc), level in self.known.items():
            found[topic][doc] = level
        return found

    def probability(self):
        """Return the probability of relevance of each unjudged document by the model of the runs."""
        judgments = prepare_qrels(self.labels())
        fusion = ReciprocalRankFusion(judgments)
        for name, run in named_runs(self.frames).items():
            fusion.add(MatchedRun(name, run, match_run(judgments, run), -np.inf))
        imputation = Imputation.of(judgments, fusion, DEPTH, all_bins=True)
        judgments, imputed = imputation.judgments, imputation.imputed
        found = [Retrieved.of(run, imputation, 0.0, np.inf) for run in fusion.runs]
        model = RunModel(imputation, found, DRAWS, np.random.default_rng(0))
        beta, of_topic = (drawn.mean(axis=0) for drawn in model.steps[0])
        probability = {}
        for topic, name in enumerate(judgments.names):
            at = np.flatnonzero(imputed & (judgments.levels.topic == topic)).tolist()
            p = sigmoid(model.features(imputed, topic) @ beta + of_topic[topic])
            probability |= {(name, judgments.doc_ids[row]): float(x) for row, x in zip(at, p, strict=True)}
        return probability


def _frame(topics):
    import pandas as pd

    rows = [(topic, doc, score) for topic, docs in topics.items() for doc, score in docs.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])


def pool(hidden, rng):
    """Return the documents by their best rank, in random order among equal ones."""
    mixed = rng.sample(hidden.documents, len(hidden.documents))
    return sorted(mixed, key=hidden.best.get)


def at_random(hidden, rng):
    return rng.sample(hidden.documents, len(hidden.documents))


def move_to_front(hidden, rng):
    """Return the documents in the order of Cormack et al. (SIGIR 1998), topics in turn."""
    orders = []
    for topic in sorted(hidden.qrels):
        queues = {run: coverage.ranked(docs.get(topic, {})) for run, docs in hidden.runs.items()}
        names = rng.sample(sorted(queues), len(queues))
        priority, place, seen, order = dict.fromkeys(names, 0), dict.fromkeys(names, 0), set(), []
        total = len({doc for queue in queues.values() for doc in queue})
        while len(order) < total:
            run = max((name for name in names if place[name] < len(queues[name])), key=priority.get)
            doc = queues[run][place[run]]
            place[run] += 1
            if doc in seen:
                continue
            seen.add(doc)
            order.append((topic, doc))
            priority[run] = 0 if hidden.level((topic, doc)) >= 1 else priority[run] - 1
        orders.append(order)
    longest = max(map(len, orders))
    return [order[at] for at in range(longest) for order in orders if at < len(order)]


def batches(total):
    """Yield growing numbers of labels."""
    number = float(FIRST)
    while number < total:
        yield round(number)
        number *= GROWTH
    yield total


def in_order(order):
    """Return a policy that takes documents in an order fixed beforehand."""

    def reveal(hidden, rng, numbers, measure):  # noqa: ARG001  # as adaptive policies
        documents = order(hidden, rng)
        for number in numbers:
            hidden.reveal(documents[len(hidden.known) : number])
            yield number

    return reveal


def by_worth(worth):
    """Return a policy that takes the documents of highest worth by the model, refitted after each batch."""

    def reveal(hidden, rng, numbers, measure):
        first = pool(hidden, rng)
        of_measure = worth(hidden, measure)
        for number in numbers:
            more = number - len(hidden.known)
            if not hidden.known:
                chosen = first[:more]
            else:
                p = hidden.probability()
                left = [document for document in first if document not in hidden.known]
                chosen = sorted(left, key=lambda document: -of_measure(document, p[document]))[:more]
            hidden.reveal(chosen)
            yield number

    return reveal


def uncertain(hidden, measure):  # noqa: ARG001  # as variance
    return lambda _, p: -abs(p - 0.5)


def variance(hidden, measure):
    weights = defaultdict(list)
    for ranks in hidden.rank.values():
        for document, weight in zip(ranks, WEIGHTS[measure](np.array([*ranks.values()])), strict=True):
            weights[document].append(float(weight))
    runs = len(hidden.runs)
    of = {}
    for document, some in weights.items():
        mean = sum(some) / runs
        of[document] = sum(weight * weight for weight in some) / runs - mean * mean
    return lambda document, p: p * (1 - p) * of[document]


#: Orders with the scoring of unjudged documents, and whether the order depends on the measure.
POLICIES = {
    "pool": (in_order(pool), False),
    "random": (in_order(at_random), False),
    "move to front": (in_order(move_to_front), False),
    "uncertain": (by_worth(uncertain), False),
    "variance": (by_worth(variance), True),
}
SCORINGS = ("zero", "bins", "runs")


def means(hidden, scoring):
    """Return the means of all runs, shape ``(runs, measures)``."""
    labels = hidden.labels()
    if scoring == "zero":
        return ir_graded.evaluate(MEASURES, labels, hidden.frames).aggregates
    found = ir_graded.score_intervals(
        MEASURES, labels, hidden.frames, depth=DEPTH, n_samples=SAMPLES, model=scoring
    )
    return found.overall[0].T


def labels_needed(name, policy, scorings, seed=0):
    """Return by scoring and measure the labels from which on tau stays at .95 or more."""
    reveal, of_measure = POLICIES[policy]
    needed = {}
    for measure in MEASURES if of_measure else [None]:
        hidden = Hidden(name)
        numbers = [*batches(len(hidden.documents))]
        taus = defaultdict(list)
        for number in reveal(hidden, random.Random(seed), numbers, measure):
            for scoring in scorings:
                found = means(hidden, scoring)
                for at, one in enumerate(MEASURES):
                    if measure in (None, one):
                        tau = kendalltau(found[:, at], hidden.truth[:, at]).statistic
                        taus[scoring, one].append((number, tau))
        for key, of in taus.items():
            below = [number for number, tau in of if not tau >= TAU]
            later = [number for number, _ in of if not below or number > below[-1]]
            needed[key] = later[0] if later else numbers[-1]
    return needed


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("collections", nargs="*", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--page", type=Path, help="folder of the page that shows the figures")
    given = parser.parse_args(arguments)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)
        for name in given.collections:
            for policy in POLICIES:
                scorings = SCORINGS if policy == "pool" else ("runs",)
                found = labels_needed(name, policy, scorings)
                for scoring in scorings:
                    figures = [found[scoring, measure] for measure in MEASURES]
                    rows.append([COLLECTIONS[name][0], policy, scoring, *figures])
                    print(*rows[-1], sep="\t", flush=True)
    if given.page:
        with (given.page / "judging_orders.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(["collection", "order of judging", "unjudged documents", *MEASURES])
            lines.writerows(rows)


if __name__ == "__main__":
    main()
