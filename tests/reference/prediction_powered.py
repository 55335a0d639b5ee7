"""Reference for prediction-powered intervals: few topics with human labels, many with labels of a model.

Written from the formulas alone, without code of the package, so that the two can be compared.
Y and f are the scores of the labelled topics by human and model labels, F those of the other topics by
model labels; for a paired difference, all three are differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from reference.sample_size import mean, t_quantile


class PredictionPowered(NamedTuple):
    """An interval and the quantities that it was computed from."""

    estimate: float
    low: float
    high: float
    se: float
    tuning: float
    human: float
    human_low: float
    human_high: float
    llm: float
    equivalent_topics: float


def squares(values: Sequence[float]) -> float:
    """Return the sum of the squared distances from the mean."""
    centre = mean(values)
    return math.fsum((value - centre) ** 2 for value in values)


def covariance(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the variance with 1/n."""
    centre, other_centre = mean(one), mean(other)
    return mean([(x - centre) * (y - other_centre) for x, y in zip(one, other, strict=True)])


def tuning(Y: Sequence[float], f: Sequence[float], F: Sequence[float]) -> float:
    """lambda = cov(Y, f) / ((1 + n/N) var(f and F together)), clipped to [0, 1]; 0 if the variance is 0."""
    n, N = len(Y), len(F)
    together = [*f, *F]
    if len(set(together)) == 1:
        return 0.0
    spread = squares(together) / (n + N - 1)
    return min(1.0, max(0.0, covariance(Y, f) / ((1 + n / N) * spread)))


def variance(values: Sequence[float], quantile: str) -> float:
    """Return the variance with 1/(n - 1) for Student's quantile, with 1/n for the normal one."""
    return squares(values) / (len(values) - (quantile == "t"))


def quantile_of(level: float, n: int, quantile: str) -> float:
    """Return the quantile of Student's t with n - 1 degrees of freedom, or of the normal distribution."""
    p = (1 + level) / 2
    return t_quantile(p, n - 1) if quantile == "t" else NormalDist().inv_cdf(p)


def prediction_powered(
    Y: Sequence[float],
    f: Sequence[float],
    F: Sequence[float],
    level: float = 0.95,
    power_tuning: float | None = None,
    quantile: str = "t",
) -> PredictionPowered:
    """theta = lambda mean(F) + mean(Y - lambda f), theta +- q se.

    se^2 = lambda^2 var(F)/N + var(Y - lambda f)/n; var(F) always with 1/N, the other as in ``variance``.
    """
    n, N = len(Y), len(F)
    weight = tuning(Y, f, F) if power_tuning is None else power_tuning
    rest = [y - weight * x for y, x in zip(Y, f, strict=True)]
    estimate = weight * mean(F) + mean(rest)
    se = math.sqrt(weight**2 * squares(F) / N / N + variance(rest, quantile) / n)
    human_se = math.sqrt(variance(Y, quantile) / n)
    q = quantile_of(level, n, quantile)
    return PredictionPowered(
        estimate=estimate,
        low=estimate - q * se,
        high=estimate + q * se,
        se=se,
        tuning=weight,
        human=mean(Y),
        human_low=mean(Y) - q * human_se,
        human_high=mean(Y) + q * human_se,
        llm=mean([*f, *F]),
        equivalent_topics=n * (human_se / se) ** 2,
    )
