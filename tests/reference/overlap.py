"""Rank-biased overlap of two rankings with ties, depth by depth, as Corsi and Urbano (2024) define it.

A ranking is a list of tie groups, each a list of items.
"""

from __future__ import annotations

import math
from itertools import permutations, product


def positions(groups):
    """Return the top and the bottom rank of the tie group of each item."""
    places, rank = {}, 1
    for group in groups:
        places |= dict.fromkeys(group, (rank, rank + len(group) - 1))
        rank += len(group)
    return places


def contribution(ties, place, d):
    """Return how much of an item is in the first d ranks."""
    top, bottom = place
    if d < top:
        return 0.0
    return 1.0 if ties == "w" else min(1.0, (d - top + 1) / (bottom - top + 1))


def group_at(places, d):
    """Return the top and bottom rank of the group at rank d; below the ranking, an item of its own."""
    return next((place for place in places.values() if place[0] <= d <= place[1]), (d, d))


def squared_length(place, d):
    """Return the sum of the squared contributions of all items in the first d ranks."""
    top, bottom = place
    return top - 1 + (d - top + 1) ** 2 / (bottom - top + 1)


def agreement(ties, shared, one, other, d):
    """Return the agreement at depth d for an overlap."""
    places = group_at(one, d), group_at(other, d)
    if ties == "w":
        return 2 * shared / (places[0][1] + places[1][1])
    if ties == "a":
        return shared / d
    return shared / math.sqrt(squared_length(places[0], d) * squared_length(places[1], d))


def tail(p, depth):
    """Return the sum of ``p^d / d`` over all d above a depth."""
    terms = []
    for d in range(depth + 1, depth + 10**6):
        terms.append(p**d / d)
        if terms[-1] <= terms[0] * 1e-18:
            break
    return math.fsum(terms)


def rbo(one, other, p, ties):
    """Return the lower bound, the upper bound and the extrapolated score of two rankings."""
    short, long = sorted((positions(one), positions(other)), key=len)
    s, l = len(short), len(long)
    common, only = short.keys() & long.keys(), long.keys() - short.keys()

    def overlap(d):
        return math.fsum(contribution(ties, short[x], d) * contribution(ties, long[x], d) for x in common)

    at_s = agreement(ties, overlap(s), short, long, s)
    low, high, ext = [], [], []
    for d in range(1, l + 1):
        at_most = extrapolated = shared = overlap(d)
        if d > s:
            # Items of the shorter ranking below its end: as many new matches as possible, or as the agreement
            # at its end lets expect.
            k, seen = d - s, sorted((contribution(ties, long[x], d) for x in only), reverse=True)
            seen = [share for share in seen if share]
            at_most += math.fsum(seen[:k])
            extrapolated += k * at_s * math.fsum(seen) / len(seen)
        for sums, value in ((low, shared), (high, at_most), (ext, extrapolated)):
            sums.append(agreement(ties, value, short, long, d) * p**d)
    f = l + s - len(common)
    high += [(2 * d - l - s + len(common)) / d * p**d for d in range(l + 1, f + 1)]
    high.append(p ** (f + 1) / (1 - p))
    low.append(len(common) * tail(p, l))
    ext.append((len(common) + (l - s) * at_s) / l * p ** (l + 1) / (1 - p))
    return tuple((1 - p) / p * math.fsum(terms) for terms in (low, high, ext))


def orders(groups):
    """Yield each order of the tied items, as groups of one item."""
    for order in product(*map(permutations, groups)):
        yield [[item] for group in order for item in group]


def mean_over_orders(one, other, p):
    """Return the means of the three values over all orders of both rankings."""
    values = [rbo(a, b, p, "w") for a in orders(one) for b in orders(other)]
    return tuple(math.fsum(column) / len(values) for column in zip(*values, strict=True))
