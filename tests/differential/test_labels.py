"""Agreement of labels, and prediction-powered intervals, compared with other programs."""

import importlib.util
import itertools
import math
import random

import numpy as np
import pandas as pd
import pytest
from reference import agreement
from reference.agreement import KINDS, MEASUREMENTS
from reference.prediction_powered import prediction_powered


def needs(module, package):
    """Skip a test if a program is missing."""
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f"{package} is not installed")


def tables(seed, many):
    """Yield tables of random counts with a scale."""
    rng = random.Random(seed)  # noqa: S311  # not for security
    for _ in range(many):
        scale = sorted(rng.sample(range(6), rng.randint(2, 4)))
        yield [[rng.randint(0, 9) for _ in scale] for _ in scale], scale


@needs("sklearn", "scikit-learn")
def test_kappa_equals_scikit_learn():
    from sklearn import metrics

    for counts, _ in tables(1, 200):
        size = range(len(counts))
        one = [i for i, j in itertools.product(size, size) for _ in range(counts[i][j])]
        other = [j for i, j in itertools.product(size, size) for _ in range(counts[i][j])]
        for kind in KINDS:
            weights = None if kind == "identity" else kind
            theirs = metrics.cohen_kappa_score(one, other, labels=list(size), weights=weights)
            assert agreement.kappa(counts, list(size), kind) == pytest.approx(theirs, abs=1e-12)


@needs("krippendorff", "krippendorff")
def test_alpha_equals_krippendorff():
    import krippendorff

    rng = random.Random(2)  # noqa: S311  # not for security
    for _ in range(100):
        scale = sorted(rng.sample(range(6), rng.randint(2, 4)))
        rows = [
            [rng.choice(scale) if rng.random() < 0.7 else math.nan for _ in range(20)]
            for _ in range(rng.randint(2, 5))
        ]
        sets = [{at: level for at, level in enumerate(row) if not math.isnan(level)} for row in rows]
        o = agreement.coincidences(sets, scale)
        for measurement in MEASUREMENTS:
            theirs = krippendorff.alpha(
                reliability_data=np.array(rows), value_domain=scale, level_of_measurement=measurement
            )
            assert agreement.alpha(o, scale, measurement) == pytest.approx(theirs, abs=1e-12)


@needs("irrCAC", "irrCAC")
def test_gwet_equals_irrcac():
    from irrCAC.table import CAC

    for counts, scale in tables(3, 100):
        for kind in KINDS:
            weights = [
                [float(agreement.weight(kind, scale, i, j)) for j in range(len(scale))]
                for i in range(len(scale))
            ]
            table = pd.DataFrame(counts, index=scale, columns=scale)
            theirs = CAC(table, weights=pd.DataFrame(weights).to_numpy(), digits=15).gwet()
            value = theirs["est"]["coefficient_value"]
            assert agreement.gwet(counts, scale, kind) == pytest.approx(value, abs=1e-11)


@needs("ppi_py", "ppi-python")
def test_normal_intervals_equal_ppi_python():
    import ppi_py

    rng = np.random.default_rng(0)
    for number in range(100):
        n, N = rng.integers(5, 60), rng.integers(5, 300)
        human = rng.beta(2, 3, n + N)
        model = 0.1 + 0.7 * (1 - human if number % 3 == 0 else human) + rng.normal(0, 0.1, n + N)
        theirs = ppi_py.ppi_mean_ci(human[:n], model[:n], model[n:], alpha=0.05)
        ours = prediction_powered(
            human[:n].tolist(), model[:n].tolist(), model[n:].tolist(), quantile="normal"
        )
        assert (ours.low, ours.high) == pytest.approx([one.item() for one in theirs], abs=1e-12)
