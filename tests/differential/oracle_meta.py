"""Rank correlations and tests of significance: scipy, statsmodels and the plain references."""

from itertools import combinations

import numpy as np
from differential.oracle_cases import Compared, Oracle, not_installed
from reference import meta_power, meta_rank
from scipy import stats

from ir_graded import meta
from ir_graded.meta.paired_tests import holm
from ir_graded.meta.samples import topic_counts


def matrix(rng, topics, systems):
    """Return scores of systems: continuous, or few distinct ones like those of P@5."""
    if rng.random() < 0.5:
        return rng.integers(0, 6, (topics, systems)) / 5
    return np.round(rng.normal(0, 0.5, (topics, systems)) + rng.normal(0, 0.4, systems), 4)


def of_scipy(rng):
    """Kendall's tau with and without ties, and p-values of the paired t test."""
    size = int(rng.integers(2, 300))
    a, b = rng.integers(0, max(2, size // 2), (2, size)).tolist()
    if len(set(a)) > 1 and len(set(b)) > 1:
        yield _one("kendall_tau_b", meta.kendall_tau_b(a, b), stats.kendalltau(a, b).statistic)
    a, b = rng.permutation(size).tolist(), rng.permutation(size).tolist()
    yield _one("kendall_tau", meta.kendall_tau(a, b), stats.kendalltau(a, b).statistic)
    values = matrix(rng, int(rng.integers(2, 60)), int(rng.integers(2, 6)))
    found = meta.discriminative_power(values, test="t").asl
    ours, theirs = {}, {}
    for pair, asl in zip(combinations(range(values.shape[1]), 2), found, strict=True):
        first, second = values[:, pair[0]], values[:, pair[1]]
        # scipy returns NaN, or a rounding error, if all differences are equal.
        if np.ptp(np.round(first - second, 12)):
            ours[str(pair)], theirs[str(pair)] = asl, stats.ttest_rel(first, second).pvalue
    yield Compared("discriminative_power(test='t')", ours, theirs)


def of_statsmodels(rng):
    """Holm's correction."""
    from statsmodels.stats.multitest import multipletests

    p = rng.random(int(rng.integers(1, 60))) ** int(rng.integers(1, 8))
    expected = multipletests(p, method="holm")[1]
    yield Compared("holm", dict(enumerate(holm(p).tolist())), dict(enumerate(expected.tolist())))


def of_reference(rng):
    """Rank correlations, and achieved significance levels from equal replicates."""
    size = int(rng.integers(2, 30))
    a, b = rng.permutation(size).tolist(), rng.permutation(size).tolist()
    (order,) = meta_rank.orders(b)
    yield _one("tau_ap", meta.tau_ap(a, b), float(meta_rank.tau_ap_of_order(a, order)))
    tied_a, tied_b = rng.integers(0, max(2, size // 2), (2, size)).tolist()
    yield _one("kendall_tau", meta.kendall_tau(tied_a, tied_b), meta_rank.kendall_tau(tied_a, tied_b))
    if len(set(tied_a)) > 1 and len(set(tied_b)) > 1:
        yield _one("tau_ap_b", meta.tau_ap_b(tied_a, tied_b), meta_rank.tau_ap_b(tied_a, tied_b))
    few = int(rng.integers(2, 7))
    a, b = rng.permutation(few).tolist(), rng.integers(0, 4, few).tolist()
    yield _one("tau_ap_a", meta.tau_ap_a(a, b), meta_rank.tau_ap_a(a, b))
    values, seed = matrix(rng, int(rng.integers(2, 10)), 4), int(rng.integers(1000))
    exact, counts = meta_power.exact(values), topic_counts(np.random.default_rng(seed), len(values), 30)
    asl = meta.discriminative_power(values, n_resamples=30, rng=seed).asl
    expected = [
        meta_power.two_sided_asl(meta_power.differences(exact, i, j), counts)
        for i, j in combinations(range(4), 2)
    ]
    yield Compared(
        "discriminative_power", dict(enumerate(asl.tolist())), dict(enumerate(map(float, expected)))
    )


def _one(measure, ours, theirs):
    return Compared(measure, {"": float(ours)}, {"": float(theirs)})


ORACLES = (
    Oracle("reference: meta", of_reference),
    Oracle("scipy", of_scipy, tolerance=1e-9),
    Oracle("statsmodels", of_statsmodels, missing=not_installed("statsmodels", "statsmodels")),
)
