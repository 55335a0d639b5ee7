"""The reference for prediction-powered intervals: worked values, coverage and the authors' library."""

from __future__ import annotations

import random

import pytest

from reference.prediction_powered import prediction_powered, tuning

Y = [0.2, 0.5, 0.4, 0.9, 0.7, 0.1, 0.6, 0.3]
f = [0.3, 0.6, 0.4, 0.8, 0.9, 0.2, 0.5, 0.5]
F = [0.1, 0.4, 0.8, 0.6, 0.7, 0.9, 0.3, 0.5, 0.2, 0.6, 0.8, 0.4]


@pytest.mark.parametrize(
    ("options", "low", "high"),
    [
        ({"quantile": "normal"}, 0.33359777, 0.59140223),
        ({}, 0.29939830, 0.62560170),
        ({"quantile": "normal", "power_tuning": 1}, 0.30544045, 0.61955955),
        ({"power_tuning": 0}, 0.23934348, 0.68565652),
    ],
)
def test_worked_example(options, low, high):
    found = prediction_powered(Y, f, F, **options)
    assert found.estimate == pytest.approx(0.4625, abs=1e-15)
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-9)


def test_worked_example_of_tuning_and_standard_errors():
    assert tuning(Y, f, F) == pytest.approx(0.51611617, abs=6e-9)
    assert prediction_powered(Y, f, F, quantile="normal").se == pytest.approx(0.06576765, abs=6e-9)
    assert prediction_powered(Y, f, F).se == pytest.approx(0.06897574, abs=6e-9)


def test_without_the_model_the_interval_uses_human_labels_only():
    found = prediction_powered(Y, f, F, power_tuning=0)
    assert found[:3] == (found.human, found.human_low, found.human_high)
    assert found.equivalent_topics == 8
    stats = pytest.importorskip("scipy.stats")
    theirs = stats.t.interval(0.95, 7, sum(Y) / 8, stats.sem(Y))
    assert (found.low, found.high) == pytest.approx(theirs, abs=1e-14)


def test_a_constant_or_contrary_model_is_ignored():
    assert tuning(Y, [0.5] * 8, [0.5] * 12) == 0
    assert tuning(Y, [1 - y for y in Y], F) == 0
    assert tuning(Y, [y / 2 for y in Y], [y / 2 for y in Y] * 4) == 1


def test_the_interval_has_the_nominal_coverage():
    """For lenient model labels of beta(2, 3) scores, about 95% of the intervals contain the true mean."""
    n, N, repetitions = 50, 300, 2000
    rng = random.Random(0)  # noqa: S311  # not for security
    inside = 0
    for _ in range(repetitions):
        scores = [rng.betavariate(2, 3) for _ in range(n + N)]
        model = [0.15 + 0.85 * y + rng.gauss(0, 0.08) for y in scores]
        found = prediction_powered(scores[:n], model[:n], model[n:])
        inside += found.low <= 0.4 <= found.high
    assert 0.93 <= inside / repetitions <= 0.97
