"""Stop distributions: the probability that a user stops at each relevant document.

Each function returns the probabilities at the relevant documents that the run retrieved; at all other ranks
they are 0. Relevant documents that were not retrieved keep their probability, so the sum over a run may be
below 1.
"""

from __future__ import annotations

import numpy as np

from ir_graded.core.levels import Levels, Overrides
from ir_graded.core.segments import Floats, Ints, cumulative_product_before, cumulative_sum, ordinals
from ir_graded.core.views import View

# Products of at most this number of factors are accurate; errors of smaller products do not affect a sum.
_FEW_FACTORS, _NEGLIGIBLE = 64, 2.0**-24


def safe_divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, or 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)


def recall_base(view: View, norm: str) -> Ints:
    """Return the number of relevant documents in the denominator: R, or min(R, k) with norm='cutoff'."""
    return view.max_retrievable if norm == "cutoff" else view.R


def uniform(view: View, norm: str = "all") -> Floats:
    """Return p_u = 1/R (Robertson 2008)."""
    return np.asarray(1.0 / recall_base(view, norm)[view.topic])


def rank_biased(view: View, gamma: float, norm: str = "all") -> Floats:
    """Return p_rb = gamma^(C(n)-1) / sum_{i=1..R} gamma^(i-1) (Sakai and Robertson 2008)."""
    if gamma == 1:
        return uniform(view, norm)
    return np.asarray(gamma ** (view.C - 1.0) / geometric_sum(view, gamma, norm))


def geometric_sum(view: View, gamma: float, norm: str = "all") -> Floats:
    """Return sum_{i=1..R} gamma^(i-1) of the topic of each document."""
    terms = recall_base(view, norm)[view.topic]
    if gamma == 1:
        return terms.astype(np.float64)
    # expm1 keeps the digits of 1 - gamma^R where gamma is close to 1.
    log = np.log(gamma)
    return np.asarray(np.expm1(terms * log) / np.expm1(log))


def graded_uniform(view: View, weights: Floats, norm: str = "all") -> Floats:
    """Return p_gu = weight of the level / sum of weights of relevant documents (Sakai and Robertson 2008)."""
    ideal = view.levels.ideal(view.cut.rel, weights)
    total = ideal.first(recall_base(view, norm), np.arange(view.levels.topics, dtype=np.int64))
    return safe_divide(weights[view.level_index], total[view.topic])


def first(view: View) -> Floats:
    """Return 1 at the first relevant document (O-measure; RR), else 0."""
    return np.asarray(view.C == 1, dtype=np.float64)


def preferred(view: View) -> Floats:
    """Return 1 at the preferred rank rp (Sakai 2006), else 0."""
    return np.asarray(view.n == view.rp[view.topic], dtype=np.float64)


def up_to_preferred(view: View) -> Floats:
    """Return 1/C(rp) at each relevant document down to the preferred rank (P+; Sakai 2006)."""
    seen = view.n <= view.rp[view.topic]
    C_rp = np.bincount(view.topic[seen], minlength=view.levels.topics)
    return np.where(seen, 1.0 / C_rp[view.topic], 0.0)


def satisfaction(gain: Floats, gmax: float | Floats) -> Floats:
    """Return the probability g/(gmax+1) that a document with gain g satisfies (Chapelle et al. 2009)."""
    return np.asarray(gain / (gmax + 1.0))


def cascade(view: View, gains: Overrides, gmax: float | Floats) -> Floats:
    """Return dsat(n-1) g(n)/(gmax+1): the user goes down the list until a document satisfies."""
    satisfied = satisfaction(view.graded(gains).g, gmax)
    return unsatisfied_before(satisfied, view.start) * satisfied


def unsatisfied_before(satisfied: Floats, start: Ints) -> Floats:
    """Return dsat(n-1), the probability that no document above each one satisfied."""
    product = cumulative_product_before(1.0 - satisfied, start)
    far = (ordinals(start) > _FEW_FACTORS + 1) & (product > _NEGLIGIBLE)
    if not far.any():
        return product
    # Products of many factors close to 1 lose digits; sums of their logarithms do not.
    logarithm = np.log1p(-np.minimum(satisfied, np.nextafter(1.0, 0.0)))
    return np.where(far, np.exp(cumulative_sum(logarithm, start) - logarithm), product)


def gains_on_scale(levels: Levels, gains: Overrides, rel: float, max_rel: float) -> dict[float, float]:
    """Return the gain of each relevant level in the qrels or in ``gains``, and of ``max_rel``, up to that."""
    named = dict(gains)
    scale = {*levels.values.tolist(), *named, max_rel}
    return {level: named.get(level, level) for level in scale if rel <= level <= max_rel}
