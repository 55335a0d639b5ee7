"""Simulate error rates of tests, coverage of intervals and decisions of the gate.

``python benchmarks/error_rates.py`` prints the tables; ``--page docs/trust`` writes them beside the page
there. ``--repetitions`` is 1,000 for the page. Real scores are of the collections in ``../shared/data``.
"""

import argparse
import csv
import sys
import warnings
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ir_graded
from ir_graded import meta
from ir_graded.meta.differences import PASSING
from tests.collections_data import ROOT, covid_qrels, covid_round_5

RUNS, BETTER, ALPHA, B = 20, 9, 0.05, 1999


def logistic(x):
    return 1 / (1 + np.exp(-x))


def ap_like(rng, topics, better):
    """Scores of runs of five families; the first nine after the baseline may be better."""
    effect = rng.normal(-0.8, 1, (topics, 1)) + rng.normal(0, 0.45, (topics, 5))[:, np.arange(RUNS) % 5]
    scores = logistic(effect + rng.normal(0, 0.5, (topics, RUNS)) + 0.45 * is_better(better))
    return np.where(rng.random((topics, RUNS)) < 0.04, 0, scores)


def rr_like(rng, topics, better):
    """Reciprocal ranks, cut at 10."""
    p = np.maximum(0.02, logistic(rng.normal(0, 1, (topics, 1)) + 0.9 * is_better(better)))
    rank = rng.geometric(np.broadcast_to(p, (topics, RUNS)))
    return np.where(rank > 10, 0, 1 / rank)


def is_better(better):
    return (np.arange(RUNS) > 0) & (np.arange(RUNS) <= BETTER) & better


@cache
def round_5(measure):
    """Scores of the 126 runs of round 5 of TREC-COVID, shape ``(topics, runs)``."""
    with warnings.catch_warnings():
        # A run lacks a topic.
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)
        scores = ir_graded.evaluate([measure], covid_qrels(5), covid_round_5())
    return scores.matrix(measure).to_numpy()


@cache
def web_2013():
    """Scores of the 34 runs of TREC Web 2013 by AP, shape ``(topics, runs)``."""
    return np.loadtxt(ROOT / "urbano" / "web2013_ap.csv", delimiter=",", skiprows=1)


def means(rng, topics, better):
    """Scores of 20 real runs with equal means but skewed differences; topics are drawn with replacement."""
    scores = round_5("AP")
    best = np.argsort(-scores.mean(axis=0), kind="stable")[:80:4]
    centred = scores[:, best] - scores[:, best].mean(axis=0) + 0.05 * is_better(better)
    return centred[rng.integers(0, len(centred), topics)]


def error_rate(make, topics, better, repetitions, seed=0, **options):
    """Return the probability of any false positive, and the share of the better runs that are found."""
    rng = np.random.default_rng(seed)
    worse_or_equal = ~is_better(better)[1:]
    false, power = 0, 0.0
    for repetition in range(repetitions):
        options |= {"rng": repetition}
        found = meta.differences({"AP": make(rng, topics, better)}, 0, **options).significant
        false += found[worse_or_equal].any()
        power += found[~worse_or_equal].mean() if better else 0
    return false / repetitions, power / repetitions


#: Rows: scores, test, correction, and figures of the specification, section 7.2, with n = 10, 30, 50 topics:
#: first with equal runs, then with nine better ones. The row of the bootstrap is that of the page.
EXPECTED = {
    ("AP-like", "randomisation", "max-t"): ((0.051, 0.027), (0.047, 0.032), (0.053, 0.037)),
    ("RR-like", "randomisation", "max-t"): ((0.049, 0.036), (0.045, 0.043), (0.053, 0.038)),
    ("AP-like", "randomisation", "holm"): ((0.029, 0.015), (0.036, 0.025), (0.038, 0.022)),
    ("means", "randomisation", "max-t"): ((0.085, 0.045), (0.079, 0.048), (0.055, 0.052)),
    ("means", "t", "holm"): ((0.072, 0.040), (0.060, 0.039), (0.044, 0.038)),
    ("means", "bootstrap", "max-t"): ((0.038, 0.030), (0.048, 0.036), (0.050, 0.049)),
}
MAKE = {"AP-like": ap_like, "RR-like": rr_like, "means": means}
TOPICS = (10, 30, 50)


def rates(kind, test, correction, topics, repetitions):
    """Return error rate and power with equal runs, then with nine better ones."""
    replicates = {"n_resamples": 999 if test == "bootstrap" else B} if test != "t" else {}
    options = {"test": test, "correction": correction, **replicates}
    return [error_rate(MAKE[kind], topics, better, repetitions, **options) for better in (False, True)]


def shifted(scores, _):
    """Return scores whose means were shifted equal, and the group of each run."""
    return scores - scores.mean(axis=0), np.zeros(scores.shape[1], dtype=int)


def swapped(scores, size):
    """Return scores whose means are equal in groups of runs with similar means, and the groups.

    Two runs of a group exchange their scores on a topic until the means agree, so that zeros stay zeros.
    """
    made, rank = scores.copy(), np.argsort(np.argsort(-scores.mean(axis=0), kind="stable"))
    for group in range(-(-len(rank) // size)):
        runs = np.flatnonzero(rank // size == group)
        while True:
            order = runs[np.argsort(made[:, runs].sum(axis=0), kind="stable")]
            low, high = order[0], order[-1]
            z = made[:, high] - made[:, low]
            # The sums differ by |z.sum() - 2 z| after an exchange.
            topic = np.argmin(np.abs(z.sum() - 2 * z))
            if abs(z.sum() - 2 * z[topic]) >= z.sum() - 1e-4:
                break
            made[topic, [low, high]] = made[topic, [high, low]]
    return made, rank // size


#: Populations of topics of all pairs of runs: how they are made of real scores, and the size of the groups.
NULLS = {
    "real means": (lambda scores, _: (scores, None), 0),
    "groups of five equal, exchanged": (swapped, 5),
    "all equal, exchanged": (swapped, 1000),
    "all equal, shifted": (shifted, 0),
}
PAIR_TESTS = ("randomisation", "t", "bootstrap", "wilcoxon")


def all_pairs(null, test, topics, repetitions, seed=0, scores=None):
    """Return rates of all pairs of the 34 runs of TREC Web 2013 by AP, for topics drawn with replacement.

    These are the probability of any false claim, which is of an equal pair or has the wrong sign, and the
    share of the other pairs that are found.
    """
    make, size = NULLS[null]
    population, group = make(web_2013() if scores is None else scores, size)
    true, rng = population.mean(axis=0), np.random.default_rng(seed)
    any_false = power = 0.0
    for repetition in range(repetitions):
        drawn = population[rng.integers(0, len(population), topics)]
        replicates = {} if test == "t" else {"n_resamples": B if test == "randomisation" else 999}
        found = meta.differences({"AP": drawn}, test=test, rng=repetition, **replicates)
        run, other = np.array(found.run), np.array(found.baseline)
        differ = np.ones(len(run), dtype=bool) if group is None else group[run] != group[other]
        right = found.significant & differ & (found.difference * (true[run] - true[other]) > 0)
        any_false += (found.significant & ~right).any()
        power += right.sum() / max(1, differ.sum())
    return any_false / repetitions, power / repetitions


def one_test(test, topics, repetitions, seed=0):
    """Return the probability that one test of two real runs with equal means is significant."""
    rng, false = np.random.default_rng(seed), 0
    replicates = {} if test == "t" else {"n_resamples": B}
    for repetition in range(repetitions):
        pair = means(rng, topics, False)[:, [0, rng.integers(1, RUNS)]]
        found = meta.differences({"AP": pair}, 0, test=test, rng=repetition, **replicates)
        false += found.significant[0]
    return false / repetitions


def interval_coverage(measure, topics, repetitions, seed=0):
    """Return the shares of single intervals, and of families of intervals, that hold the true differences."""
    scores, rng = round_5(measure), np.random.default_rng(seed)
    single = together = 0.0
    for _ in range(repetitions):
        some = rng.choice(scores.shape[1], RUNS, replace=False)
        true = scores[:, some[1:]].mean(axis=0) - scores[:, some[0]].mean()
        drawn = scores[rng.integers(0, len(scores), topics)][:, some]
        found = meta.differences({measure: drawn}, 0, test="t")
        single += ((found.low <= true + 1e-12) & (true - 1e-12 <= found.high)).mean()
        together += bool(((found.low_all <= true + 1e-12) & (true - 1e-12 <= found.high_all)).all())
    return single / repetitions, together / repetitions


def weighted_coverage(sigma, related, repetitions, topics=20, seed=0):
    """Return how often the interval of a weighted difference holds the truth, with lognormal weights."""
    rng, held = np.random.default_rng(seed), 0
    for _ in range(repetitions):
        log_weight = rng.normal(0, 1, topics)
        z = rng.normal(0, 0.2, topics) + (0.1 * log_weight if related else 0)
        true = 0.1 * sigma if related else 0.0
        weights = dict(enumerate(np.exp(sigma * log_weight)))
        found = meta.differences({"AP": np.stack([0 * z, z], axis=1) + 5}, 0, test="t", weights=weights)
        held += found.low[0] <= true <= found.high[0]
    return held / repetitions


def weighted_errors(sigma, related, repetitions, topics=50, seed=0):
    """Return the rate of false differences of 50 topics with lognormal weights, and the effective topics.

    Where weights are related to the differences of the topics, the weighted mean over all topics is 0.
    """
    rng, false, effective = np.random.default_rng(seed), 0, 0.0
    for repetition in range(repetitions):
        log_weight = rng.normal(0, 1, topics)
        z = rng.normal(0, 0.2, topics) + (0.1 * (log_weight - sigma) if related else 0)
        weights = dict(enumerate(np.exp(sigma * log_weight)))
        runs = {"AP": np.stack([0 * z, z], axis=1) + 5}
        found = meta.differences(runs, 0, weights=weights, n_resamples=999, rng=repetition)
        false += found.significant[0]
        effective += found.effective_topics[0]
    return false / repetitions, effective / repetitions


def gate(topics, loss, repetitions, seed=0):
    """Return the shares of verdicts of pairs of runs with a true loss, with the tolerance .02."""
    scores, rng = round_5("nDCG@10"), np.random.default_rng(seed)
    counts = dict.fromkeys(("worse", "passes", "inconclusive"), 0)
    for repetition in range(repetitions):
        one, other = rng.choice(scores.shape[1], 2, replace=False)
        z = scores[:, one] - scores[:, other]
        z = (z - z.mean() - loss)[rng.integers(0, len(z), topics)]
        runs = {"nDCG@10": np.stack([0 * z, z], axis=1) + 5}
        options = {"alternative": "less", "family": "all", "tolerance": 0.02, "rng": repetition}
        verdict = meta.differences(runs, 0, n_resamples=B, **options).verdict[0]
        counts[verdict if verdict in counts else "passes"] += 1
    return {verdict: count / repetitions for verdict, count in counts.items()}


#: Sizes of 25 clusters: 5 or 20 queries each, from 1 to 60, or 5 with lognormal weights of the queries.
SIZES = {
    "5": lambda _: np.full(25, 5),
    "20": lambda _: np.full(25, 20),
    "1 to 60": lambda rng: np.minimum(rng.pareto(1.2, 25) + 1, 60).astype(int),
    "5, weighted": lambda _: np.full(25, 5),
}


def clustered(sizes, correlation, repetitions, seed=0):
    """Return rates of tests and intervals of queries in clusters, without and with ``clusters=``.

    The effects of clusters and queries are differences of a random pair of runs with equal means, and
    ``correlation`` is that of two queries of a cluster. The rates are false positives, coverage of the
    interval, and the share found of a difference that a t test of cluster means finds with probability .8.
    """
    scores, rng = round_5("nDCG@10"), np.random.default_rng(seed)
    rates = np.zeros((2, 3))
    for repetition in range(repetitions):
        one, other = rng.choice(scores.shape[1], 2, replace=False)
        real = (scores[:, one] - scores[:, other]) - (scores[:, one] - scores[:, other]).mean()
        each = SIZES[sizes](rng)
        cluster = np.repeat(np.arange(len(each)), each)
        z = np.sqrt(correlation) * rng.choice(real, len(each))[cluster]
        z += np.sqrt(1 - correlation) * rng.choice(real, len(cluster))
        weights = np.exp(rng.normal(0, 1, len(z))) if "weighted" in sizes else np.ones(len(z))
        share = np.bincount(cluster, weights) / weights.sum()
        error = correlation * (share**2).sum() + (1 - correlation) * (weights**2).sum() / weights.sum() ** 2
        effect = 2.9 * real.std() * np.sqrt(error)
        for at, given in enumerate((None, dict(enumerate(cluster.tolist())))):
            options = {"weights": dict(enumerate(weights)), "clusters": given, "rng": repetition}
            pairs = {"nDCG@10": np.stack([0 * z, z, z + effect], axis=1) + 5}
            found = meta.differences(pairs, 0, n_resamples=999, correction="none", **options)
            covers = found.low[0] <= 0 <= found.high[0]
            rates[at] += found.significant[0], covers, found.significant[1] and found.difference[1] > 0
    return rates / repetitions


def table_of_clusters(repetitions):
    rows = [
        [
            "queries a cluster",
            "correlation",
            "false, without",
            "false",
            "coverage, without",
            "coverage",
            "power",
        ]
    ]
    for sizes in SIZES:
        for correlation in (0, 0.1, 0.3):
            without, found = clustered(sizes, correlation, 2 * repetitions)
            shown = (without[0], found[0], without[1], found[1], found[2])
            rows.append([sizes, correlation, *(f"{rate:.3f}" for rate in shown)])
    return rows


def rare_failures(topics, share, repetitions, seed=0):
    """Return how often a strict gate passes a run that fails on a share of the queries: old, and by default.

    All queries score 1 otherwise, the tolerance is .02, and the second gate asks for what is unseen, too.
    """
    rng, passes = np.random.default_rng(seed), np.zeros(2)
    for repetition in range(repetitions):
        run = np.where(rng.random(topics) < share, 0.0, 1.0)
        rows = [
            (str(at), name, score)
            for name, of in (("a", 1 + 0 * run), ("b", run))
            for at, score in enumerate(of)
        ]
        frame = pd.DataFrame(rows, columns=["query_id", "run", "value"]).assign(measure="success")
        scores = ir_graded.Scores.from_frame(frame, ranges={"success": (0, 1)})
        options = {"alternative": "less", "family": "all", "tolerance": 0.02, "rng": repetition}
        found = meta.differences(scores, "a", n_resamples=B, **options)
        passed = found.verdict[0] in PASSING
        passes += passed, passed and not found.unseen_exceeds[0]
    return passes / repetitions


def table_of_failures(repetitions):
    header = ["queries that fail", "topics", "passes with --unseen ignore", "passes"]
    cases = product((0, 0.01, 0.05), (10, 20, 50, 200))
    found = [(share, topics, rare_failures(topics, share, repetitions)) for share, topics in cases]
    return [
        header,
        *([f"{share:.0%}", topics, *(f"{one:.3f}" for one in both)] for share, topics, both in found),
    ]


def table_of_weights(repetitions):
    rows = [
        [
            "sigma of lognormal weights",
            "effective topics",
            "false, weights unrelated",
            "false, weights related",
        ]
    ]
    for sigma in (1, 1.5, 2):
        found = [weighted_errors(sigma, related, 2 * repetitions) for related in (False, True)]
        rows.append([sigma, f"{found[0][1]:.0f}", *(f"{rate:.3f}" for rate, _ in found)])
    return rows


@cache
def similar(run, number=21):
    """Scores of a run of round 5 and those most like it, as of changes to a system, shape ``(topics, runs)``.

    The means are equal. The scale is such that differences of two runs have a standard deviation of 1.
    """
    scores = round_5("nDCG@10")
    nearest = np.argsort((scores - scores[:, [run]]).std(axis=0), kind="stable")[:number]
    centred = scores[:, nearest] - scores[:, nearest].mean(axis=0)
    first, second = np.triu_indices(number, 1)
    return centred / np.sqrt(((centred[:, first] - centred[:, second]) ** 2).mean())


def alarms(losses, deviation, topics, alpha, tolerance, repetitions, counted=slice(None)):
    """Return how often any of the counted commits is called worse.

    The gate compares each with the previous one and with the release before the first one. A history of the
    releases so far is looked at after each commit.

    Args:
        losses: loss of each commit from the previous one.
        deviation: standard deviation of the differences of two commits over the topics.
        topics: number of topics.
        alpha: significance level.
        tolerance: that of the gates.
        repetitions: number of repetitions.
        counted: commits that are counted.
    """
    rng, counts = np.random.default_rng(0), np.zeros(3)
    options = {"alternative": "less", "correction": "none", "tolerance": tolerance, "n_resamples": B}
    lost, releases = np.cumsum([0, *losses]), range(1 + len(losses))
    for repetition in range(repetitions):
        population = similar(int(rng.integers(round_5("nDCG@10").shape[1])))
        some = rng.choice(population.shape[1], len(releases), replace=False)
        drawn = deviation * population[rng.integers(0, len(population), topics)][:, some] - lost
        for at, z in enumerate((np.diff(drawn), drawn[:, 1:] - drawn[:, :1])):
            runs = {"nDCG@10": np.hstack([0 * z[:, :1], z]) + 5}
            found = meta.differences(runs, 0, alpha=alpha, rng=repetition, **options)
            counts[at] += "worse" in found.verdict[counted]
        scores = {at: {"nDCG@10": drawn[:, [at]]} for at in releases}
        counts[2] += any(
            meta.history({at: scores[at] for at in range(last + 1)}, alpha=alpha).worse[-1]
            for last in releases[1:][counted]
        )
    return counts / repetitions


LAST = slice(-1, None)
#: Loss of each commit, standard deviation of differences, topics, alpha, tolerance and counted commits.
SITUATIONS = {
    "ten commits lose .01 each": [(10 * (0.01,), 0.06, topics, 0.05, 0.02) for topics in (50, 200)],
    "twenty equal commits": [(20 * (0,), 0.12, 50, alpha, 0) for alpha in (0.05, 0.01)],
    "the last of twenty commits loses .05": [
        ((*19 * (0,), 0.05), 0.12, 50, alpha, 0, LAST) for alpha in (0.05, 0.01)
    ],
    "one commit loses .01": [((0.01,), 0.12, 50, 0.05, 0.02)],
    "one commit loses .02": [((0.02,), 0.12, 50, 0.05, 0.02)],
}


def table_of_alarms(repetitions):
    columns = ["deviation", "topics", "alpha", "tolerance"]
    rows = [["commits", *columns, "previous commit", "fixed release", "history"]]
    for name, situations in SITUATIONS.items():
        for losses, *settings in situations:
            shares = alarms(losses, *settings[:4], repetitions, *settings[4:])
            shown = [f"{share:.2f}" for share in shares]
            if len(losses) == 1:
                # The only release before is the first and the best one.
                shown[-1] = ""
            rows.append([name, *settings[:4], *shown])
    return rows


def best_of(measure, runs, topics, repetitions):
    """Return by how much the mean of the best of some runs exceeds its true mean.

    The figure is given for all samples of topics, for those where other runs are tied with it for first, of
    which ``ranks`` has a note, and for the others; then the share of the noted ones.
    """
    scores, rng = round_5(measure), np.random.default_rng(0)
    excess, noted = np.empty(repetitions), np.empty(repetitions, dtype=bool)
    for repetition in range(repetitions):
        some = scores[:, rng.choice(scores.shape[1], runs, replace=False)]
        drawn = some[rng.integers(0, len(some), topics)]
        found = meta.ranks({measure: drawn}, n_resamples=499, rng=repetition)
        excess[repetition] = found.mean[0] - some[:, found.run[0]].mean()
        noted[repetition] = len(found.notes) > 0
    return (
        excess.mean(),
        excess[noted].mean(),
        excess[~noted].mean() if not noted.all() else None,
        noted.mean(),
    )


def table_of_best(repetitions):
    rows = [["measure", "topics", "overstated by", "with a note", "without", "samples with a note"]]
    for measure in ("RR", "nDCG@10", "AP"):
        for topics in (20, 50):
            *means, share = best_of(measure, 19, topics, repetitions)
            shown = ("" if mean is None else f"{mean:.4f}" for mean in means)
            rows.append([measure, topics, *shown, f"{share:.2f}"])
    return rows


def prediction(k, spread, repetitions, topics=50):
    """Return how often the interval for a further collection holds the true effect there.

    True effects of collections are normal with mean 0 and a standard deviation of ``spread`` times the
    standard error in one collection. Their topics have differences of two real runs of round 5 by nDCG@10,
    which differ on most topics.
    """
    rng, held, runs = np.random.default_rng(0), [], 50
    population = round_5("nDCG@10")
    pairs = rng.permutation(np.stack(np.triu_indices(population.shape[1], 1), axis=1))
    for start in range(0, repetitions, runs):
        # Each run is a repetition of its own.
        first, second = pairs[rng.integers(0, len(pairs), runs)].T
        z = population[:, first] - population[:, second]
        z = z[:, (z != 0).mean(axis=0) > 0.5]
        z = (z - z.mean(axis=0)) / z.std(axis=0)
        effects = spread / np.sqrt(topics) * rng.normal(size=(k + 1, z.shape[1]))
        scores = {
            str(at): {"Q": np.hstack([np.zeros((topics, 1)), z[rng.integers(0, len(z), topics)] + effect])}
            for at, effect in enumerate(effects[:k])
        }
        summary = meta.across_collections(scores, 0, n_resamples=99, rng=start).summary
        held.append((summary["predict_low"] <= effects[k]) & (effects[k] <= summary["predict_high"]))
    return np.concatenate(held).mean()


def table_of_predictions(repetitions):
    spreads = (0, 1, 3)
    return [["collections", *(f"spread {spread}" for spread in spreads)]] + [
        [k, *(f"{prediction(k, spread, 5 * repetitions):.3f}" for spread in spreads)] for k in (3, 5, 10, 20)
    ]


def powered(human, model, labelled, others, repetitions):
    """Return how often intervals from human and model labels hold the mean of a run, and a difference.

    Human and model scores are by two measures on real topics, which are drawn with replacement.
    """
    scores = [
        np.loadtxt(ROOT / "urbano" / f"web2013_{name}.csv", delimiter=",", skiprows=1)
        for name in (human, model)
    ]
    rng, true, held = np.random.default_rng(0), scores[0].mean(axis=0), [[], []]
    for _ in range(repetitions):
        topics, baseline = rng.integers(0, len(scores[0]), labelled + others), int(rng.integers(len(true)))
        y, f = {"Q": scores[0][topics[:labelled]]}, {"Q": scores[1][topics]}
        for at, options in enumerate(({}, {"baseline": baseline})):
            found = meta.prediction_powered(y, f, **options)
            truth = np.delete(true - true[baseline], baseline) if at else true
            held[at].append(((found.low <= truth + 1e-12) & (truth - 1e-12 <= found.high)).mean())
    return [np.mean(shares) for shares in held]


def table_of_powered(repetitions):
    rows = [["human", "model", "labelled", "others", "means", "differences"]]
    for human, model in (("ap", "ndcg20"), ("ndcg20", "ap")):
        for labelled, others in ((10, 200), (20, 100), (30, 300), (50, 300)):
            shares = powered(human, model, labelled, others, repetitions)
            rows.append([human, model, labelled, others, *(f"{share:.3f}" for share in shares)])
    return rows


def table_of_errors(repetitions):
    rows = [
        ["scores", "test", "correction", *(f"{n} topics" for n in TOPICS), *(f"power, {n}" for n in TOPICS)]
    ]
    for kind, test, correction in EXPECTED:
        found = [rates(kind, test, correction, n, repetitions) for n in TOPICS]
        shares = [f"{equal[0]:.3f} / {better[0]:.3f}" for equal, better in found]
        rows.append([kind, test, correction, *shares, *(f"{better[1]:.3f}" for _, better in found)])
    return rows


def table_of_coverage(repetitions):
    rows = [["measure", "topics", "single", "simultaneous"]]
    for measure in ("AP", "RR"):
        for topics in (10, 20, 50):
            shares = interval_coverage(measure, topics, repetitions)
            rows.append([measure, topics, *(f"{share:.3f}" for share in shares)])
    return rows


def table_of_decisions(repetitions):
    rows = [["topics", "true loss", "worse", "passes", "inconclusive"]]
    for topics, loss in ((20, 0.05), (200, 0.05), (20, 0.02), (200, 0.02), (20, 0), (200, 0)):
        found = gate(topics, loss, repetitions)
        rows.append([topics, loss, *(f"{share:.3f}" for share in found.values())])
    return rows


def table_of_pairs(repetitions):
    rows = [["pairs and means", "topics", *PAIR_TESTS]]
    for null in NULLS:
        for topics in (20, 50):
            found = [all_pairs(null, test, topics, repetitions // 5) for test in PAIR_TESTS]
            shown = [f"{rate:.3f}" + ("" if "all" in null else f" ({power:.2f})") for rate, power in found]
            rows.append([f"561 pairs, {null}", topics, *shown])
    for topics in (50, 250):
        found = [one_test(test, topics, 2 * repetitions) for test in PAIR_TESTS]
        rows.append(["1 pair, equal, shifted", topics, *(f"{rate:.3f}" for rate in found)])
    return rows


TABLES = {
    "error_rates": table_of_errors,
    "interval_coverage": table_of_coverage,
    "gate_decisions": table_of_decisions,
    "all_pairs": table_of_pairs,
    "clusters": table_of_clusters,
    "rare_failures": table_of_failures,
    "weights": table_of_weights,
    "alarms": table_of_alarms,
    "best_of": table_of_best,
    "predictions": table_of_predictions,
    "powered": table_of_powered,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="tables to make; by default all")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ir_graded.CoverageWarning)
    warnings.filterwarnings("ignore", "only .* topics have human labels")
    for name in given.tables or TABLES:
        rows = TABLES[name](given.repetitions)
        if given.page:
            with (given.page / f"{name}.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
        for row in rows:
            print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    main()
