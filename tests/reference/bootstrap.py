"""Trimmed max-t of the bootstrap, in plain loops.

A comparison is a list of differences ``z`` and one of weights ``w`` over the topics of its slice, and a list
of replicates, each a list of drawn topics.
"""

import math

from scipy.stats import t as student

ROUNDING = 1e-12
FEWEST = 8


def mean_of(z, w):
    """Weighted mean."""
    return math.fsum(a * b for a, b in zip(z, w, strict=True)) / math.fsum(w)


def statistic(z, w, size):
    """Mean / error: 0 without a mean, infinite without an error."""
    mean, total = mean_of(z, w), math.fsum(w)
    if abs(mean) <= ROUNDING * size:
        return 0.0
    if max(z) == min(z):
        return math.copysign(math.inf, mean)
    shares = [one / total for one in w]
    squares = [h * h * (one - mean) ** 2 / (1 - h) for h, one in zip(shares, z, strict=True)]
    return mean / math.sqrt(math.fsum(squares))


def of_replicates(z, w, draws):
    """Statistics of the replicates, of the differences less their mean."""
    centre = mean_of(z, w)
    centred = [0.0 if max(z) == min(z) else one - centre for one in z]
    size = max(map(abs, centred))
    return [statistic([centred[at] for at in drawn], [w[at] for at in drawn], size) for drawn in draws]


def is_trimmed(z, w, statistics):
    """Whether a comparison leaves its family."""
    effective = math.fsum(w) ** 2 / math.fsum(one * one for one in w)
    beyond = [one for one in statistics if abs(one) > 1.25 * student.ppf(0.975, effective - 1)]
    return len(beyond) / len(statistics) > 0.05 or sum(one != 0 for one in z) < FEWEST


def oriented(t, alternative):
    """The statistic of a tail: |t|, t or -t."""
    return {"two-sided": abs(t), "greater": t, "less": -t}[alternative]


def p_value(reached):
    """Share of replicates that reach the statistic, with the observed one."""
    return (sum(reached) + 1) / (len(reached) + 1)


def max_t(family, alternative):
    """p-values of the comparisons of a family alone, those of step-down max-t, and which are trimmed."""
    statistics = [of_replicates(*one) for one in family]
    drawn = [[oriented(t, alternative) for t in one] for one in statistics]
    least = [oriented(statistic(z, w, max(map(abs, z))), alternative) for z, w, _ in family]
    least = [t if math.isinf(t) else t - ROUNDING * abs(t) for t in least]
    few = [sum(one != 0 for one in z) < FEWEST for z, _, _ in family]
    alone = [1.0 if few[j] else p_value([t >= least[j] for t in drawn[j]]) for j in range(len(family))]
    if len(family) == 1:
        return alone, alone, [False]
    trimmed = [is_trimmed(z, w, one) for (z, w, _), one in zip(family, statistics, strict=True)]
    order = sorted((j for j in range(len(family)) if not trimmed[j]), key=lambda j: -least[j])
    corrected, highest = [1.0] * len(family), 0.0
    for place, j in enumerate(order):
        largest = [max(drawn[k][b] for k in order[place:]) for b in range(len(drawn[j]))]
        highest = max(highest, p_value([t >= least[j] for t in largest]))
        corrected[j] = highest
    return alone, corrected, trimmed


def p_first(scores, j, draws):
    """p of "no run has a higher mean than j", without trimmed pairs; ``scores`` has a list for each run."""
    family = []
    for k in range(len(scores)):
        if k != j:
            z = [round(a - b, 12) for a, b in zip(scores[k], scores[j], strict=True)]
            family.append((z, [1.0] * len(z), draws))
    statistics = [of_replicates(*one) for one in family]
    left_out = [
        sum(one != 0 for one in z) < FEWEST or (len(family) > 1 and is_trimmed(z, w, of_pair))
        for (z, w, _), of_pair in zip(family, statistics, strict=True)
    ]
    observed = [0.0 if out else statistic(z, w, 1) for (z, w, _), out in zip(family, left_out, strict=True)]
    rows = [[0.0] * len(draws) if out else one for one, out in zip(statistics, left_out, strict=True)]
    return p_value([max(one[b] for one in rows) >= max(observed) - ROUNDING for b in range(len(draws))])
