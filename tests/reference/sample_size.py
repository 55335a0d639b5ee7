"""Reference for topic set size, power, detectable differences and effect sizes: slow, plain, ``math`` alone.

Written from the formulas alone, without code of the package, so that the two can be compared. The
noncentral t distribution is an integral over chi, the noncentral F distribution a Poisson mixture of beta
tails, and quantiles are found by bisection.

A score matrix is a list of rows, one per topic, with one score for each system.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

Matrix = Sequence[Sequence[float]]


# ---------------------------------------------------------------------------------------------- distributions


def normal_cdf(x: float) -> float:
    """P(Z <= x)."""
    return math.erfc(-x / math.sqrt(2)) / 2


def beta_tail(x: float, a: float, b: float) -> float:
    """P(X <= x) of a beta distribution, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_tail(1 - x, b, a)
    front = math.exp(
        a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    )
    # Evaluated from the far end: after this many terms, the value no longer changes.
    fraction = 1.0
    for i in range(200 + int(10 * math.sqrt(a + b)), 0, -1):
        m = i // 2
        if i % 2 == 0:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        fraction = 1 + d / fraction
    return front / a / fraction


def t_tail(t: float, f: float) -> float:
    """P(T > t) with f degrees of freedom."""
    half = beta_tail(f / (f + t * t), f / 2, 0.5) / 2
    return half if t >= 0 else 1 - half


def f_tail(x: float, f1: float, f2: float) -> float:
    """P(F > x) with f1 and f2 degrees of freedom."""
    return beta_tail(f2 / (f2 + f1 * x), f2 / 2, f1 / 2)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the point between two others at which an increasing function crosses 0."""
    while True:
        middle = (low + high) / 2
        if middle in {low, high}:
            return middle
        if function(middle) < 0:
            low = middle
        else:
            high = middle


@cache
def t_quantile(p: float, f: float) -> float:
    """Return the t with P(T <= t) = p."""
    if p < 0.5:
        return -t_quantile(1 - p, f)
    high = 1.0
    while t_tail(high, f) > 1 - p:
        high *= 2
    return root(lambda t: (1 - p) - t_tail(t, f), 0.0, high)


@cache
def f_quantile(p: float, f1: float, f2: float) -> float:
    """Return the x with P(F <= x) = p."""
    high = 1.0
    while f_tail(high, f1, f2) > 1 - p:
        high *= 2
    return root(lambda x: (1 - p) - f_tail(x, f1, f2), 0.0, high)


def over_chi(function: Callable[[float], float], f: float, scale: float = 1.0) -> float:
    """Return the mean of ``function(s)`` over s = sqrt(chi2 / f), by the trapezoid rule in y = log s.

    Args:
        function: function of s.
        f: degrees of freedom.
        scale: steepness of the function; larger values make the steps smaller.
    """

    def log_density(y: float) -> float:
        """Return the log density of y without its constant, which is 0 at its maximum, y = 0."""
        return f * (y - math.expm1(2 * y) / 2)

    step = min(1 / math.sqrt(2 * f), 1 / (1 + abs(scale))) / 6
    low = high = 0.0
    while log_density(low) > -45:
        low -= step
    while log_density(high) > -45:
        high += step
    many = round((high - low) / step)
    points = [low + step * i for i in range(many + 1)]
    weights = [math.exp(log_density(y)) for y in points]
    values = [weight * function(math.exp(y)) for weight, y in zip(weights, points, strict=True)]
    return math.fsum(values) / math.fsum(weights)


def noncentral_t_tail(w: float, f: float, noncentrality: float) -> float:
    """P(T' > w): the mean of P(Z + noncentrality > w s) over s = sqrt(chi2 / f)."""
    return over_chi(lambda s: normal_cdf(noncentrality - w * s), f, w)


def noncentral_f_tail(x: float, f1: float, f2: float, noncentrality: float) -> float:
    """P(F' > x): beta tails with f1/2 + j in place of f1/2, weighed by Poisson(j; noncentrality / 2)."""
    mean = noncentrality / 2
    last = int(mean + 12 * math.sqrt(mean) + 40)
    terms = []
    for j in range(last + 1):
        log_weight = -mean + (j * math.log(mean) if j else 0.0) - math.lgamma(j + 1)
        if log_weight > -45:
            terms.append(math.exp(log_weight) * beta_tail(f2 / (f2 + f1 * x), f2 / 2, f1 / 2 + j))
    return math.fsum(terms)


# --------------------------------------------------------------------------------------------------- variance


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """Return the variance with 1/(n - 1)."""
    centre = mean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def one_way_variance(x: Matrix) -> tuple[float, int]:
    """V_E1 = sum (x_ij - mean of the system)^2 / (m (n-1)), and its degrees of freedom."""
    n, m = len(x), len(x[0])
    of_system = [mean(column) for column in zip(*x, strict=True)]
    squares = [(row[i] - of_system[i]) ** 2 for row in x for i in range(m)]
    return math.fsum(squares) / (m * (n - 1)), m * (n - 1)


def two_way_variance(x: Matrix) -> tuple[float, int]:
    """V_E2 = sum (x_ij - system - topic + grand mean)^2 / ((m-1)(n-1)), and its degrees of freedom."""
    n, m = len(x), len(x[0])
    of_system = [mean(column) for column in zip(*x, strict=True)]
    of_topic = [mean(row) for row in x]
    grand = mean(of_topic)
    squares = [(x[j][i] - of_system[i] - of_topic[j] + grand) ** 2 for j in range(n) for i in range(m)]
    return math.fsum(squares) / ((m - 1) * (n - 1)), (m - 1) * (n - 1)


def mean_variance_of_differences(x: Matrix) -> float:
    """Mean over all pairs of systems of the variance of their differences; it is 2 V_E2."""
    m = len(x[0])
    pairs = [(i, k) for i in range(m) for k in range(i)]
    return mean([variance([row[i] - row[k] for row in x]) for i, k in pairs])


# ------------------------------------------------------------------------------------------------------ power


def power_paired_t(d: float, n: int, alpha: float = 0.05, alternative: str = "two-sided") -> float:
    """Return the power of a paired t test with n topics, d = difference / sigma_t."""
    return _power_of_t(d * math.sqrt(n), n - 1, alpha, alternative)


def power_unpaired_t(d: float, n: int, alpha: float = 0.05, alternative: str = "two-sided") -> float:
    """Return the power of an unpaired t test with n topics per group, d = difference / sigma."""
    return _power_of_t(d * math.sqrt(n / 2), 2 * n - 2, alpha, alternative)


def _power_of_t(noncentrality: float, f: int, alpha: float, alternative: str) -> float:
    if alternative == "greater":
        return noncentral_t_tail(t_quantile(1 - alpha, f), f, noncentrality)
    w = t_quantile(1 - alpha / 2, f)
    return noncentral_t_tail(w, f, noncentrality) + noncentral_t_tail(w, f, -noncentrality)


def anova_degrees(m: int, n: int, model: str = "one-way") -> tuple[int, int]:
    """Degrees of freedom of m systems and of the error."""
    return m - 1, m * (n - 1) if model == "one-way" else (m - 1) * (n - 1)


def power_anova(delta: float, m: int, n: int, alpha: float = 0.05, model: str = "one-way") -> float:
    """Return the power of an F test of m systems, delta = difference between best and worst^2 / (2 V)."""
    f1, f2 = anova_degrees(m, n, model)
    return noncentral_f_tail(f_quantile(1 - alpha, f1, f2), f1, f2, n * delta)


def detectable(power_of: Callable[[float], float], power: float = 0.8, high: float = 64.0) -> float:
    """Return the effect that has this power; ``power_of`` rises with the effect."""
    return root(lambda effect: power_of(effect) - power, 1e-12, high)


# ---------------------------------------------------------------------------------- one pair: test and effect


def paired_t_p_value(z: Sequence[float]) -> float:
    """Two-sided p-value of paired differences; 1 where all are 0, 0 where all are equal otherwise."""
    if len(set(z)) == 1:
        return float(z[0] == 0)
    return 2 * t_tail(abs(mean(z)) / math.sqrt(variance(z) / len(z)), len(z) - 1)


def dz(z: Sequence[float]) -> float:
    """mean(z) / sd(z) of paired differences; NaN if they are all equal."""
    if len(set(z)) == 1:
        return math.nan
    return mean(z) / math.sqrt(variance(z))


def hedges_j(f: int) -> float:
    """J = Gamma(f/2) / (sqrt(f/2) Gamma((f-1)/2))."""
    return math.exp(math.lgamma(f / 2) - math.lgamma((f - 1) / 2)) / math.sqrt(f / 2)


def gz(z: Sequence[float]) -> float:
    """J dz."""
    return hedges_j(len(z) - 1) * dz(z)


def interval_of_dz(z: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Return the interval from the two noncentral t distributions through the observed t."""
    n = len(z)
    t, tail = dz(z) * math.sqrt(n), (1 - level) / 2

    def noncentrality(p: float) -> float:
        return root(lambda value: noncentral_t_tail(t, n - 1, value) - p, t - 40, t + 40)

    return noncentrality(tail) / math.sqrt(n), noncentrality(1 - tail) / math.sqrt(n)
