"""Reference for measures of judgments sampled by strata: loops over ranks and strata, without the package."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

Levels = dict[str, float]
Strata = dict[str, str]  # the stratum of each document of the pool

EPSILON = 0.00001
DEPTH = 1000


def weights(levels: Levels, strata: Strata) -> dict[str, Fraction]:
    """Return N/n of each stratum, 0 where no document was judged."""
    size = Counter(strata[doc] for doc in levels)
    judged = Counter(strata[doc] for doc, level in levels.items() if level >= 0)
    return {h: Fraction(size[h], judged[h]) if judged[h] else Fraction(0) for h in size}


def _expected(levels: Levels, strata: Strata, above: list[str], worth: dict[str, float]) -> float:
    """Return the sum over strata of N (V + e) / (n + 3e) for the documents above a rank."""
    total = 0.0
    for h in {*strata.values()}:
        pool = [doc for doc in above if doc in levels and strata[doc] == h]
        judged = [doc for doc in pool if levels[doc] >= 0]
        V = sum(worth.get(doc, 0.0) for doc in judged)
        if pool:
            total += len(pool) * (V + EPSILON) / (len(judged) + 3 * EPSILON)
    return total


def xinf_ap(levels: Levels, strata: Strata, ranking: list[str], rel: float = 1) -> float:
    """Return xinfAP of a topic."""
    return inf_q(levels, strata, ranking, beta=0, rel=rel)


def inf_q(  # the measure's parameters
    levels: Levels,
    strata: Strata,
    ranking: list[str],
    beta: float = 1,
    gains: dict[float, float] | None = None,
    rel: float = 1,
) -> float:
    """Return infQ of a topic; xinfAP for beta=0."""
    f = weights(levels, strata)
    gain = {doc: (gains or {}).get(level, level) for doc, level in levels.items() if level >= rel}
    R = sum(f[strata[doc]] for doc in gain)
    worth = {doc: 1 + beta * g for doc, g in gain.items()}
    total = 0.0
    for rank, doc in enumerate(ranking[:DEPTH], start=1):
        if doc not in gain:
            continue
        found = worth[doc] + _expected(levels, strata, ranking[: rank - 1], worth)
        cg_star, before = 0.0, 0.0
        for v in sorted({*gain.values()}):
            at_least = float(sum(f[strata[other]] for other, g in gain.items() if g >= v))
            cg_star += (v - before) * sum(max(0.0, min(1.0, at_least - k + 1)) for k in range(1, rank + 1))
            before = v
        total += float(f[strata[doc]]) * found / (rank + beta * cg_star)
    return total / float(R) if R else 0.0


def inf_ndcg(
    levels: Levels, strata: Strata, ranking: list[str], gains: dict[float, float] | None = None
) -> float:
    """Return infNDCG of a topic."""
    f = weights(levels, strata)
    gain = {doc: (gains or {}).get(level, level) for doc, level in levels.items() if level >= 1}
    listed = [doc for doc in ranking[:DEPTH] if doc in levels]
    total = 0.0
    for h in {*strata.values()}:
        pool = [doc for doc in listed if strata[doc] == h]
        judged = [doc for doc in pool if levels[doc] >= 0]
        for doc in judged:
            total += len(pool) / len(judged) * gain.get(doc, 0.0) / math.log2(ranking.index(doc) + 2)
    ideal: list[float] = []
    for v in sorted({*gain.values()}, reverse=True):
        estimate = sum(f[strata[doc]] for doc, g in gain.items() if g == v)
        ideal += [v] * math.floor(estimate + Fraction(1, 2))
    dcg = sum(v / math.log2(rank + 1) for rank, v in enumerate(ideal, start=1))
    return total / dcg if dcg else 0.0
