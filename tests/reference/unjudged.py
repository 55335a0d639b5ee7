"""Reference for unjudged documents: graded RBP with its residual, exact bounds, and imputed judgments.

Written from the definitions alone, without code of the package, so that the two can be compared. A
document is *unjudged* if it has no level or one below 0. A *completion* is the qrels with levels for
unjudged documents.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from itertools import product

from reference import ranked

Levels = dict[str, float]


def is_judged(levels: Levels, doc_id: str) -> bool:
    """Return whether a document has a level of at least 0."""
    return levels.get(doc_id, -1) >= 0


# ---------------------------------------------------------------------------------------------- graded RBP


def residual(params: dict, levels: Levels, order: list[str]) -> float:
    """Residual of gRBP: (1-p) * sum of p^(n-1) over the evaluated ranks n without a judged document."""
    params = {**ranked.defaults("gRBP"), **params}
    seen = ranked.Topic(params, levels, order, 0, ()).evaluated()[: params["cutoff"]]
    unjudged = (params["p"] ** (n - 1) for n, d in enumerate(seen, start=1) if not is_judged(levels, d))
    return (1 - params["p"]) * math.fsum(unjudged) + below(params, len(seen))


def below(params: dict, last: int) -> float:
    """Share of a residual that is below the last document: p^last, or p^last - p^k with a cutoff k."""
    p, cutoff = params["p"], params["cutoff"]
    return p**last if cutoff is None else p ** min(last, cutoff) - p**cutoff


# ------------------------------------------------------------------------------------------- exact bounds


def levels_of_scale(name: str, params: dict, known: set[float], highest_level: float) -> set[float]:
    """Return the levels that a document may have: the known ones and all whole levels up to max_rel."""
    if name == "ERR":
        return {4}
    if name in ("gRBP", "iRBU"):
        highest = params.get("max_rel", highest_level)
        every = {*known, *params.get("gains", {}), highest, *range(int(highest) + 1)}
        return {level for level in every if params.get("rel", 1) <= level <= highest} or {0}
    return {params.get("rel", 1)}  # the others use relevant and other documents, not gains


#: Measures that rise with every gain and use neither R nor an ideal list.
WITH_BOUNDS = ("gRBP", "RBP", "ERR", "iRBU", "P", "Success", "RR", "NumRet", "SetP")


def bounds(
    name: str,
    params: dict,
    levels: Levels,
    order: list[str],
    highest_level: float,
    all_levels: set[float] | None = None,
) -> tuple[float, float]:
    """Return the smallest and the largest score of any completion.

    Unjudged documents have either no gain or the largest one. Ranks below the end of the list stay empty,
    except for gRBP and RBP, which a longer list may fill.

    Args:
        name: one of ``WITH_BOUNDS``.
        params: the parameters given.
        levels: level of each document in the qrels of this topic.
        order: the retrieved documents in ranked order.
        highest_level: highest level in all of the qrels, the default of max_rel.
        all_levels: the levels that occur in all of the qrels; those of this topic if not given.

    Raises:
        ValueError: if the measure has no such bounds, or uses judged documents only.
    """
    if name not in WITH_BOUNDS or params.get("relative"):
        raise ValueError(f"{name} {params} has no exact bounds")
    if params.get("judged_only"):
        raise ValueError("a completion judges every document, so judged_only leaves none out")

    known = all_levels or {*levels.values(), highest_level}

    def filled_with(level: float) -> float:
        filled = {**levels, **{doc_id: level for doc_id in order if not is_judged(levels, doc_id)}}
        has_gain = params.get("gains", {}).get(level, level) > 0
        value = ranked.score(name, params, filled, order, highest_level, known | {level})
        return value + (tail(name, params, len(order)) if has_gain else 0)

    uppers = map(filled_with, levels_of_scale(name, params, known, highest_level))
    return ranked.score(name, params, levels, order, highest_level, all_levels), max(uppers)


def tail(name: str, params: dict, retrieved: int) -> float:
    """Return the score that relevant documents at all ranks below the end of the list would add."""
    if name == "gRBP":
        return below({**ranked.defaults(name), **params}, retrieved)
    if name == "RBP":
        p, last = params["p"], ranked.RBP_RANKS
        return math.fsum(p**n for n in range(retrieved, last)) / math.fsum(p**n for n in range(last))
    return 0.0


def bounds_by_enumeration(
    name: str,
    params: dict,
    levels: Levels,
    order: list[str],
    scale: Collection[float],
    all_levels: set[float] | None = None,
) -> tuple[float, float]:
    """Return the smallest and the largest score over every completion with levels of the scale."""
    unjudged = [doc_id for doc_id in order if not is_judged(levels, doc_id)]
    scores = []
    for given in product(scale, repeat=len(unjudged)):
        completed = {**levels, **dict(zip(unjudged, given, strict=True))}
        scores.append(ranked.score(name, params, completed, order, max(scale), all_levels))
    return min(scores), max(scores)


# ---------------------------------------------------------------------------------------------- imputation

#: The last fused rank of each bin.
BIN_ENDS = (5, 10, 20, 50, 100, 200, 500, math.inf)
#: Weight a of the pooled shares, in documents.
POOLED = 5
#: Fewest judged documents that a bin needs for levels of its unjudged ones.
FEWEST = 50
#: Standard deviation of both shifts of the log odds.
SPREAD = 0.7
#: Constant added to the ranks in the fusion.
FUSION = 60

Qrels = dict[str, Levels]
Rankings = dict[str, list[str]]  # the documents of each topic in ranked order
Counts = dict[str, list[dict[float, int]]]
Shares = dict[float, float]


def fused(rankings: list[list[str]]) -> list[str]:
    """Return the documents of a topic by the sum over the runs of 1 / (60 + rank) descending, ties by id."""
    weight: dict[str, Fraction] = {}
    for ranking in rankings:
        for rank, doc_id in enumerate(ranking, start=1):
            weight[doc_id] = weight.get(doc_id, Fraction(0)) + Fraction(1, FUSION + rank)
    return sorted(weight, key=lambda doc_id: (weight[doc_id], doc_id), reverse=True)


def bins(rankings: list[list[str]]) -> dict[str, int]:
    """Return the bin of each document that a run retrieved for one topic, by its position in the fusion."""
    return {
        doc_id: next(b for b, end in enumerate(BIN_ENDS) if place <= end)
        for place, doc_id in enumerate(fused(rankings), start=1)
    }


def scale_of(qrels: Qrels) -> list[float]:
    """Return the levels of at least 0 that occur in the qrels, ascending."""
    return sorted({level for levels in qrels.values() for level in levels.values() if level >= 0})


def counts(qrels: Qrels, runs: list[Rankings]) -> Counts:
    """Return c[t][b][l]: retrieved documents of topic t in bin b with the judged level l."""
    found: Counts = {}
    for topic, levels in qrels.items():
        found[topic] = [dict.fromkeys(scale_of(qrels), 0) for _ in BIN_ENDS]
        for doc_id, b in bins([run.get(topic, []) for run in runs]).items():
            if is_judged(levels, doc_id):
                found[topic][b][levels[doc_id]] += 1
    return found


def priors(c: Counts, pooled: float = POOLED, fewest: int = FEWEST) -> dict[str, list[Shares | None]]:
    """Return alpha[t][b][l]: parameters of the shares of the levels; None for a bin with too few documents.

    pi, the shares of the levels over all topics and bins, smooths those of a bin, pi_b; these smooth those of
    the bin of a topic.
    """
    scale = list(next(iter(c.values()))[0]) if c else []
    of_bin = [
        {level: sum(by_bin[b][level] for by_bin in c.values()) for level in scale}
        for b in range(len(BIN_ENDS))
    ]
    of_level = {level: sum(one[level] for one in of_bin) for level in scale}
    total = sum(of_level.values())
    alpha: dict[str, list[Shares | None]] = {}
    for topic, by_bin in c.items():
        alpha[topic] = []
        for b, in_bin in enumerate(of_bin):
            n_b = sum(in_bin.values())
            if n_b < fewest or not total:
                alpha[topic].append(None)
                continue
            pi_b = {
                level: (in_bin[level] + pooled * of_level[level] / total) / (n_b + pooled) for level in scale
            }
            alpha[topic].append({level: by_bin[b][level] + pooled * pi_b[level] for level in scale})
    return alpha


def to_impute(
    qrels: Qrels, runs: list[Rankings], depth: int, alpha: dict[str, list[Shares | None]]
) -> dict[str, dict[str, int]]:
    """Return the bin of each document that gets a level: unjudged, within depth of a run, in a used bin."""
    found: dict[str, dict[str, int]] = {}
    for topic, levels in qrels.items():
        rankings = [run.get(topic, []) for run in runs]
        within = {doc_id for ranking in rankings for doc_id in ranking[:depth]}
        found[topic] = {
            doc_id: b
            for doc_id, b in bins(rankings).items()
            if doc_id in within and not is_judged(levels, doc_id) and alpha[topic][b] is not None
        }
    return found


def imputed(qrels: Qrels, run: Rankings, depth: int, sample: Qrels) -> float:
    """Return the share of a run's documents down to a depth that got a level."""
    looked_at = [(topic, doc_id) for topic in qrels for doc_id in run.get(topic, [])[:depth]]
    given = [is_judged(sample[t], doc_id) and not is_judged(qrels[t], doc_id) for t, doc_id in looked_at]
    return sum(given) / len(given) if given else 0.0
