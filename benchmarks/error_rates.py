"""Simulate error rates of tests, coverage of intervals and decisions of the gate.

``python benchmarks/error_rates.py`` prints the tables; ``--page docs/trust`` writes them beside the page
there. ``--repetitions`` is 1,000 for the page. Real scores need the collections in ``../shared/data``;
without them, only simulated scores are used.
"""

import argparse
import csv
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ir_graded
from ir_graded import meta
from tests.collections_data import ROOT
from tests.recorder import real

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
        scores = ir_graded.evaluate([measure], real.covid_qrels(5), real.covid_round_5())
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
#: first with equal runs, then with nine better ones.
EXPECTED = {
    ("AP-like", "randomisation", "max-t"): ((0.051, 0.027), (0.047, 0.032), (0.053, 0.037)),
    ("RR-like", "randomisation", "max-t"): ((0.049, 0.036), (0.045, 0.043), (0.053, 0.038)),
    ("AP-like", "randomisation", "holm"): ((0.029, 0.015), (0.036, 0.025), (0.038, 0.022)),
    ("means", "randomisation", "max-t"): ((0.085, 0.045), (0.079, 0.048), (0.055, 0.052)),
    ("means", "t", "holm"): ((0.072, 0.040), (0.060, 0.039), (0.044, 0.038)),
    ("means", "bootstrap", "max-t"): ((0.015, 0.006), (0.041, 0.033), (0.040, 0.040)),
}
MAKE = {"AP-like": ap_like, "RR-like": rr_like, "means": means}
TOPICS = (10, 30, 50)


def rates(kind, test, correction, topics, repetitions):
    """Return error rate and power with equal runs, then with nine better ones."""
    replicates = {"n_resamples": 999 if test == "bootstrap" else B} if test != "t" else {}
    options = {"test": test, "correction": correction, **replicates}
    return [error_rate(MAKE[kind], topics, better, repetitions, **options) for better in (False, True)]


def all_pairs(test, topics, repetitions, seed=0):
    """Return the probability of a significant pair of the 34 runs of TREC Web 2013 by AP with equal means."""
    scores, rng, false = web_2013(), np.random.default_rng(seed), 0
    centred = scores - scores.mean(axis=0)
    for repetition in range(repetitions):
        drawn = centred[rng.integers(0, len(centred), topics)]
        options = {"test": test, "n_resamples": B if test == "randomisation" else 999, "rng": repetition}
        false += meta.differences({"AP": drawn}, **options).significant.any()
    return false / repetitions


def one_wilcoxon_test(topics, repetitions, seed=0):
    """Return the probability that one test of two real runs with equal means is significant."""
    rng, false = np.random.default_rng(seed), 0
    for repetition in range(repetitions):
        pair = means(rng, topics, False)[:, [0, rng.integers(1, RUNS)]]
        found = meta.differences({"AP": pair}, 0, test="wilcoxon", n_resamples=B, rng=repetition)
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


def tables(repetitions, real_scores):
    """Return the tables of the page by file."""
    errors = [
        ["scores", "test", "correction", *(f"{n} topics" for n in TOPICS), *(f"power, {n}" for n in TOPICS)]
    ]
    for kind, test, correction in EXPECTED:
        if kind == "means" and not real_scores:
            continue
        found = [rates(kind, test, correction, n, repetitions) for n in TOPICS]
        shares = [f"{equal[0]:.3f} / {better[0]:.3f}" for equal, better in found]
        errors.append([kind, test, correction, *shares, *(f"{better[1]:.3f}" for _, better in found)])
    made = {"error_rates.csv": errors}
    if real_scores:
        coverage = [["measure", "topics", "single", "simultaneous"]]
        for measure in ("AP", "RR"):
            for topics in (10, 20, 50):
                shares = interval_coverage(measure, topics, repetitions)
                coverage.append([measure, topics, *(f"{share:.3f}" for share in shares)])
        decisions = [["topics", "true loss", "worse", "passes", "inconclusive"]]
        for topics, loss in ((20, 0.05), (200, 0.05), (20, 0.02), (200, 0.02), (20, 0), (200, 0)):
            found = gate(topics, loss, repetitions)
            decisions.append([topics, loss, *(f"{share:.3f}" for share in found.values())])
        hard = [["case", "topics", "probability of a false positive"]]
        for test in ("randomisation", "bootstrap"):
            for topics in (20, 50):
                rate = all_pairs(test, topics, repetitions // 5)
                hard.append([f"all pairs of 34 runs of TREC Web 2013, AP, {test}", topics, f"{rate:.3f}"])
        for topics in (50, 250):
            rate = one_wilcoxon_test(topics, 2 * repetitions)
            hard.append(["one pair of runs of TREC-COVID, AP, wilcoxon", topics, f"{rate:.3f}"])
        made |= {
            "interval_coverage.csv": coverage,
            "gate_decisions.csv": decisions,
            "hard_cases.csv": hard,
        }
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ir_graded.CoverageWarning)
    for name, rows in tables(given.repetitions, ROOT.is_dir()).items():
        if given.page:
            with (given.page / name).open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
        for row in rows:
            print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    main()
