"""Power of t and F tests, from noncentral distributions."""

from __future__ import annotations

import math

from ir_graded._utils.extras import extra

#: Above this noncentrality SciPy fails, and the normal deviate of the numerator makes no difference.
_LARGE = 1e4


def power_of_t(noncentrality: float, degrees: int, alpha: float, *, two_sided: bool) -> float:
    """Return the power of a t test, from alpha to 1."""
    stats = extra("scipy.stats", "meta")
    critical = float(stats.t.isf(alpha / 2 if two_sided else alpha, degrees))
    found = _t_tail(critical, degrees, noncentrality)
    if two_sided:
        found += _t_tail(critical, degrees, -noncentrality)
    return min(max(found, alpha), 1.0)


def _t_tail(critical: float, degrees: int, noncentrality: float) -> float:
    """Return P(T' > critical)."""
    stats = extra("scipy.stats", "meta")
    if abs(noncentrality) > _LARGE:
        return float(stats.chi2.cdf(degrees * max(noncentrality / critical, 0.0) ** 2, degrees))
    # SciPy 1.12 divides by zero at 0.
    found = stats.nct.sf(critical, degrees, noncentrality) if noncentrality else stats.t.sf(critical, degrees)
    # SciPy gives NaN for some large numbers of topics, where the normal distribution is the limit.
    return float(stats.norm.sf(critical - noncentrality) if math.isnan(found) else found)


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
