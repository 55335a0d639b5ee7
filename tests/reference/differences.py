"""Tests, corrections, intervals and ranks of spec "One engine for conclusions", in plain loops.

Every sign pattern is counted. ``z`` is a list of comparisons, each a list of the differences per topic.
"""

from __future__ import annotations

import itertools
import math

ROUNDING = 1e-12


def sign_patterns(topics):
    """All sign patterns of some topics."""
    return list(itertools.product((1, -1), repeat=topics))


def statistic(z, w, signs=None):
    """T of one comparison, with the signs of a pattern; and what counts as no difference from it."""
    terms = [a * b for a, b in zip(w, z, strict=True)]
    norm = math.sqrt(math.fsum(term * term for term in terms))
    if norm == 0:
        return 0.0, 0.0
    signed = terms if signs is None else [s * term for s, term in zip(signs, terms, strict=True)]
    return math.fsum(signed) / norm, ROUNDING * math.fsum(map(abs, terms)) / norm


def oriented(t, alternative):
    """The statistic of a tail: |T|, T or -T."""
    return {"two-sided": abs(t), "greater": t, "less": -t}[alternative]


def signed_ranks(z):
    """Midranks of |z| among all topics with the signs of z; zeros are ranked and get 0 (Pratt)."""
    ranks = []
    for value in z:
        below = sum(abs(other) < abs(value) for other in z)
        equal = sum(abs(other) == abs(value) for other in z)
        ranks.append((below + (equal + 1) / 2) * ((value > 0) - (value < 0)))
    return ranks


def single_p(z, w, alternative):
    """The p-value of one comparison from all sign patterns."""
    patterns = sign_patterns(len(z))
    t, margin = statistic(z, w)
    least = oriented(t, alternative) - margin
    count = sum(oriented(statistic(z, w, signs)[0], alternative) >= least for signs in patterns)
    return count / len(patterns)


def max_t(rows, w, alternative):
    """Step-down p-values of a family of comparisons, all with the same sign patterns."""
    patterns = sign_patterns(len(w))
    observed = [statistic(z, w) for z in rows]
    tail = [oriented(t, alternative) for t, _ in observed]
    order = sorted(range(len(rows)), key=lambda j: -tail[j])
    found, highest = [0.0] * len(rows), 0.0
    for place, j in enumerate(order):
        count = 0
        for signs in patterns:
            largest = max(oriented(statistic(rows[k], w, signs)[0], alternative) for k in order[place:])
            count += largest >= tail[j] - observed[j][1]
        highest = max(highest, count / len(patterns))
        found[j] = max(highest, single_p(rows[j], w, alternative))
    return found


def p_first(columns, j):
    """p of "no system has a higher mean than j": the largest T(k - j) against its own sign patterns."""
    topics = len(columns[0])
    rivals = [
        [round(a - b, 12) for a, b in zip(columns[k], columns[j], strict=True)]
        for k in range(len(columns))
        if k != j
    ]
    w = [1.0] * topics
    t, margin = max(statistic(z, w) for z in rivals)
    patterns = sign_patterns(topics)
    count = sum(max(statistic(z, w, signs)[0] for z in rivals) >= t - margin for signs in patterns)
    return count / len(patterns)


def holm(p):
    """Corrected p-values, in the order given."""
    order = sorted(range(len(p)), key=lambda j: p[j])
    found, highest = [0.0] * len(p), 0.0
    for place, j in enumerate(order):
        highest = max(highest, (len(p) - place) * p[j])
        found[j] = min(1.0, highest)
    return found


def benjamini_hochberg(p):
    """Corrected p-values, in the order given."""
    return [min(1.0, *(q * len(p) / sum(other <= q for other in p) for q in p if q >= own)) for own in p]


def student(z, w):
    """Mean, standard error and effective number of topics with weights."""
    total = math.fsum(w)
    h = [one / total for one in w]
    mean = math.fsum(a * b for a, b in zip(h, z, strict=True))
    squares = (a * a * (b - mean) ** 2 / (1 - a) for a, b in zip(h, z, strict=True))
    return mean, math.sqrt(math.fsum(squares)), 1 / math.fsum(a * a for a in h)


def of_clusters(z, w, cluster):
    """Sums U of w z over each cluster, standard error of the mean and effective number of clusters."""
    total = math.fsum(w)
    names = sorted({*cluster})
    mean = math.fsum(a * b for a, b in zip(w, z, strict=True)) / total
    sums, squares, shares = [], [], []
    for name in names:
        of_cluster = [(a / total, b) for a, b, c in zip(w, z, cluster, strict=True) if c == name]
        share = math.fsum(a for a, _ in of_cluster)
        excess = math.fsum(a * (b - mean) for a, b in of_cluster)
        sums.append(math.fsum(a * b for a, b in of_cluster))
        squares.append(excess**2 / (1 - share))
        shares.append(share)
    return (
        dict(zip(names, sums, strict=True)),
        math.sqrt(math.fsum(squares)),
        1 / math.fsum(a * a for a in shares),
    )
