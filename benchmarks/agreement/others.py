"""Programs of statistics, agreement of labels, intervals and residuals."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from differential.peer_values import Estimate, Labels, Ranking
from scipy import stats

from benchmarks.agreement.lists import pick
from benchmarks.agreement.oracles import Given, oracle
from ir_graded import gRBP, meta
from ir_graded.meta.paired_tests import holm


def beside(found):
    """Return our values and the others from pairs of both, by name or by name and key."""
    sides = {}, {}
    for name, pair in found.items():
        measure, key = name if isinstance(name, tuple) else (name, "")
        for side, value in zip(sides, pair, strict=True):
            side.setdefault(measure, {})[key] = float(value)
    return Given(sides[0]), sides[1]


# --------------------------------------------------------------------------------------- statistics


def matrix(rng, topics, systems):
    """Return scores of systems: continuous, or few distinct ones like those of P@5."""
    if rng.random() < 0.5:
        return rng.integers(0, 6, (topics, systems)) / 5
    return np.round(rng.normal(0, 0.5, (topics, systems)) + rng.normal(0, 0.4, systems), 4)


@oracle("scipy", package="scipy", tolerance=1e-9)
def _(rng):
    size, found = int(rng.integers(2, 300)), {}
    a, b = rng.integers(0, max(2, size // 2), (2, size)).tolist()
    if len(set(a)) > 1 and len(set(b)) > 1:
        found["kendall_tau_b"] = meta.kendall_tau_b(a, b), stats.kendalltau(a, b).statistic
    a, b = rng.permutation(size).tolist(), rng.permutation(size).tolist()
    found["kendall_tau"] = meta.kendall_tau(a, b), stats.kendalltau(a, b).statistic
    values = matrix(rng, int(rng.integers(2, 60)), int(rng.integers(2, 6)))
    asl = meta.discriminative_power(values, test="t").asl
    for pair, here in zip(combinations(range(values.shape[1]), 2), asl, strict=True):
        first, second = values[:, pair[0]], values[:, pair[1]]
        # scipy returns NaN, or a rounding error, if all differences are equal.
        if np.ptp(np.round(first - second, 12)):
            found["discriminative_power(test='t')", pair] = here, stats.ttest_rel(first, second).pvalue
    return beside(found)


@oracle("statsmodels", package="statsmodels")
def _(rng):
    from statsmodels.stats.multitest import multipletests

    p = rng.random(int(rng.integers(1, 60))) ** int(rng.integers(1, 8))
    pairs = zip(holm(p), multipletests(p, method="holm")[1], strict=True)
    return beside({("holm", at): pair for at, pair in enumerate(pairs)})


# ------------------------------------------------------------------------------------------- labels

#: Names of the weights of kappa and AC in the package and in other programs.
WEIGHTS = {"": None, "_linear": "linear", "_quadratic": "quadratic"}


def random_scale(rng):
    """Return a few levels."""
    return sorted(rng.permutation(6)[: rng.integers(2, 5)].tolist())


def two_judges(rng, scale):
    """Return the labels of two judges, and their counts."""
    counts = rng.integers(0, 4, (len(scale), len(scale)))
    counts[0, 0] += 1
    rows = [[scale[i], scale[j]] for (i, j), count in np.ndenumerate(counts) for _ in range(count)]
    return Labels(rows, scale), counts


@oracle("scikit-learn: labels", package="scikit-learn", golden=8)
def _(rng, *, small=False):  # noqa: ARG001
    from sklearn.metrics import cohen_kappa_score

    # It weighs places on the scale, and the package differences of levels.
    labels, _ = two_judges(rng, [*range(rng.integers(2, 5))])
    one, other = zip(*labels.rows, strict=True)
    found = {
        f"kappa{name}": {"": float(cohen_kappa_score(one, other, labels=labels.levels, weights=kind))}
        for name, kind in WEIGHTS.items()
    }
    return labels, {name: value for name, value in found.items() if not math.isnan(value[""])}


@oracle("krippendorff", package="krippendorff", golden=9)
def _(rng, *, small=False):  # noqa: ARG001
    import krippendorff

    scale, judges = random_scale(rng), int(rng.integers(2, 6))
    measurement = pick(rng, "nominal", "ordinal", "interval")
    rows = [[pick(rng, *scale) if rng.random() < 0.7 else None for _ in range(judges)] for _ in range(20)]
    theirs = krippendorff.alpha(
        reliability_data=np.array(rows, dtype=float).T, value_domain=scale, level_of_measurement=measurement
    )
    return Labels(rows, scale, measurement), {"alpha": {"": float(theirs)}}


@oracle("irrCAC", package="irrCAC", tolerance=1e-11, golden=8)
def _(rng, *, small=False):  # noqa: ARG001
    import pandas as pd
    from irrCAC.table import CAC

    labels, counts = two_judges(rng, random_scale(rng))
    distance = np.abs(np.subtract.outer(labels.levels, labels.levels)) / (
        labels.levels[-1] - labels.levels[0]
    )
    weights = {
        "ac1": np.eye(len(counts)), "ac2_linear": 1 - distance, "ac2_quadratic": 1 - distance**2,
    }  # fmt: skip
    table = pd.DataFrame(counts, index=labels.levels, columns=labels.levels)
    return labels, {
        name: {"": float(CAC(table, weights=of, digits=15).gwet()["est"]["coefficient_value"])}
        for name, of in weights.items()
    }


@oracle("ppi-python", package="ppi-python", golden=6)
def _(rng, *, small=False):
    import ppi_py

    n, N = (
        int(number)
        for number in (rng.integers(5, 20 if small else 60), rng.integers(5, 30 if small else 300))
    )
    human = np.round(rng.beta(2, 3, n + N), 3)
    model = np.round(0.1 + 0.7 * (human if rng.random() < 0.7 else 1 - human) + rng.normal(0, 0.1, n + N), 3)
    low, high = ppi_py.ppi_mean_ci(human[:n], model[:n], model[n:], alpha=0.05)
    given = Estimate(human[:n].tolist(), model[:n].tolist(), model[n:].tolist())
    return given, {"low": {"": float(low.item())}, "high": {"": float(high.item())}}


# ---------------------------------------------------------------------------------------- residuals


@oracle("cwl_eval: residuals", package="cwl-eval", golden=6)
def _(rng, *, small=False):  # noqa: ARG001
    from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
    from cwl.ruler.ranking import Ranking as RankingOfCwl

    levels = [pick(rng, 0, 1, 2, 3, None) for _ in range(rng.integers(1, 31))]
    p = pick(rng, 0.5, 0.8, 0.95, 0.99)
    metric = RBPCWLMetric(p)
    metric.residuals = True
    gains = [math.nan if level is None else level / 3 for level in levels]
    metric.measure(RankingOfCwl("1", gains, [1.0] * len(levels)))
    # cwl_eval reads 1,000 ranks, and divides by their weight.
    weight = 1 - p**1000
    theirs = {"value": metric.expected_utility, "residual": metric.residual_expected_utility}
    measure = str(gRBP(p=p, max_rel=3, residual=True) @ 1000)
    return Ranking(levels), {measure: {name: float(value) * weight for name, value in theirs.items()}}
