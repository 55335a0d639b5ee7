"""Power of t and F tests, from noncentral distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ir_graded._utils.extras import extra
from ir_graded.core.segments import Floats

#: Above this noncentrality SciPy fails, and the normal deviate of the numerator makes no difference.
_LARGE = 1e4
#: Steps of root finding, and the relative change of a noncentrality that ends them.
_MOST_STEPS = 100
_PRECISION = 1e-14


def power_of_t(noncentrality: float, degrees: int, alpha: float, *, two_sided: bool) -> float:
    """Return the power of a t test, from alpha to 1."""
    stats = extra("scipy.stats", "meta")
    critical = float(stats.t.isf(alpha / 2 if two_sided else alpha, degrees))
    found = float(_t_tail(critical, degrees, noncentrality))
    if two_sided:
        found += float(_t_tail(critical, degrees, -noncentrality))
    return min(max(found, alpha), 1.0)


def noncentralities(t: Floats, degrees: int, tail: float) -> Floats:
    """Return the noncentralities with which P(T' > t) is a probability, for t >= 0; NaN where t is NaN.

    SciPy's ``nctdtrinc`` is exact to four to seven digits only.
    """
    special = extra("scipy.special", "meta")
    wanted = special.ndtri(tail)

    def excess(noncentrality: Floats) -> Floats:
        # Normal deviates of the probabilities are almost linear in the noncentrality.
        p = np.clip(_t_tail(t, degrees, noncentrality), 1e-300, 1 - 2**-53)
        return np.asarray(special.ndtri(p) - wanted)

    width = np.sqrt(1 + t**2 / (2 * degrees))
    low, high = t - width, t + width
    below, above = excess(low), excess(high)
    while (outside := below > 0).any():
        low = np.where(outside, low - (high - low), low)
        below = excess(low)
    while (outside := above < 0).any():
        high = np.where(outside, high + (high - low), high)
        above = excess(high)
    # Regula falsi; the value at an end that stays is halved (Illinois).
    found = low
    for _ in range(_MOST_STEPS):
        with np.errstate(invalid="ignore"):
            middle = np.clip(high - above * ((high - low) / (above - below)), low, high)
        # Both ends have reached the root.
        middle = np.where(above == below, high, middle)
        if not (np.abs(middle - found) > _PRECISION * np.maximum(1, np.abs(middle))).any():
            return middle
        found, value = middle, excess(middle)
        over = value > 0
        low, below, high, above = (
            np.where(over, low, middle),
            np.where(over, below / 2, value),
            np.where(over, middle, high),
            np.where(over, value, above / 2),
        )
    return found


def _t_tail(critical: Any, degrees: int, noncentrality: Any) -> Any:
    """Return P(T' > critical), of numbers or arrays."""
    stats = extra("scipy.stats", "meta")
    large, zero = np.abs(noncentrality) > _LARGE, np.equal(noncentrality, 0)
    with np.errstate(all="ignore"):
        found = stats.nct.sf(critical, degrees, np.where(large | zero, 1.0, noncentrality))
        # SciPy gives NaN for some large numbers of topics, where the normal distribution is the limit.
        found = np.where(np.isnan(found), stats.norm.sf(critical - noncentrality), found)
        if zero.any():  # SciPy 1.12 divides by zero
            found = np.where(zero, stats.t.sf(critical, degrees), found)
        if large.any():
            ratio = np.maximum(noncentrality / critical, 0.0)
            found = np.where(large, stats.chi2.cdf(degrees * ratio**2, degrees), found)
    return found


def power_of_f(noncentrality: float, first: int, last: int, alpha: float) -> float:
    """Return the power of an F test, from alpha to 1."""
    stats = extra("scipy.stats", "meta")
    if not noncentrality:
        return alpha  # SciPy 1.17 gives a negative probability
    critical = float(stats.f.isf(alpha, first, last))
    if noncentrality > _LARGE**2:
        return max(float(stats.chi2.cdf(last * (noncentrality / (first * critical)), last)), alpha)
    found = float(stats.ncf.sf(critical, first, last, noncentrality))
    if math.isnan(found):
        found = float(stats.ncx2.sf(first * critical, first, noncentrality))
    return min(max(found, alpha), 1.0)
