"""Reference for the classics of ir-measures that depend on the order of a list: slow, plain, topic by topic.

Written from the formulas alone, without code of the package, so that the two can be compared.
Counts and gains that are levels are exact (``Fraction``); discounts and probabilities are floats. Sums are
added with ``math.fsum``.

Notation, for one topic: ``C(n)`` counts the relevant documents down to rank n, ``R`` is the number of
relevant documents in the qrels. A document is relevant if its level is at least ``rel``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from reference.ranked import exact

DEFAULTS = {"cutoff": None, "rel": 1, "judged_only": False, "dcg": "log2", "gains": {}, "p": 0.8}

#: RBP equals that of cwl_eval, which evaluates this number of ranks.
RBP_RANKS = 1000

Levels = dict[str, float]


# --------------------------------------------------------------------------------------------- one topic


def seen(params: dict, levels: Levels, ranked: list[str]) -> list[str]:
    """Return the evaluated documents: all or, with judged_only, those of level >= 0, down to the cutoff."""
    if params["judged_only"]:
        ranked = [doc_id for doc_id in ranked if levels.get(doc_id, -1) >= 0]
    return ranked[: params["cutoff"]]


def relevant_documents(params: dict, levels: Levels) -> set[str]:
    """Return the documents of level >= rel."""
    return {doc_id for doc_id, level in levels.items() if level >= params["rel"]}


def relevant_ranks(params: dict, levels: Levels, ranked: list[str]) -> list[int]:
    """Return the ranks of relevant documents: the i-th of them is the rank n with C(n) = i."""
    relevant = relevant_documents(params, levels)
    return [n for n, doc_id in enumerate(seen(params, levels, ranked), start=1) if doc_id in relevant]


def average_precision(params: dict, levels: Levels, ranked: list[str]) -> float:
    """AP: 1/R * sum over relevant ranks n of C(n)/n."""
    ranks = relevant_ranks(params, levels, ranked)
    return float(
        sum(Fraction(i, n) for i, n in enumerate(ranks, 1)) / len(relevant_documents(params, levels))
    )


def reciprocal_rank(params: dict, levels: Levels, ranked: list[str]) -> float:
    """RR: 1/n for the rank n of the first relevant document."""
    return max((1 / n for n in relevant_ranks(params, levels, ranked)), default=0.0)


def precision(params: dict, levels: Levels, ranked: list[str]) -> float:
    """P@k: C(k)/k."""
    return len(relevant_ranks(params, levels, ranked)) / params["cutoff"]


def recall(params: dict, levels: Levels, ranked: list[str]) -> float:
    """R@k: C(k)/R."""
    return len(relevant_ranks(params, levels, ranked)) / len(relevant_documents(params, levels))


def r_precision(params: dict, levels: Levels, ranked: list[str]) -> float:
    """Rprec: C(R)/R."""
    R = len(relevant_documents(params, levels))
    return sum(n <= R for n in relevant_ranks(params, levels, ranked)) / R


def success(params: dict, levels: Levels, ranked: list[str]) -> float:
    """Success@k: 1 if a relevant document is among the first k, else 0."""
    return float(bool(relevant_ranks(params, levels, ranked)))


def judged(params: dict, levels: Levels, ranked: list[str]) -> float:
    """Judged@k: share of documents with a level, whatever it is, among the first min(k, retrieved)."""
    looked_at = ranked[: params["cutoff"]]
    return sum(doc_id in levels for doc_id in looked_at) / len(looked_at) if looked_at else 0.0


def bpref(params: dict, levels: Levels, ranked: list[str]) -> float:
    """Bpref: 1/R * sum over relevant ranks of 1 - min(N(n), R) / min(N, R), where 1 is summed if N(n) is 0.

    N documents of the topic have a level from 0 to below rel; N(n) of them are above rank n.
    """
    relevant = relevant_documents(params, levels)
    others = {doc_id for doc_id, level in levels.items() if 0 <= level < params["rel"]}
    terms, above = [], 0
    for doc_id in ranked:
        if doc_id in relevant:
            terms.append(1 - Fraction(min(above, len(relevant)), min(len(others), len(relevant)) or 1))
        above += doc_id in others
    return float(sum(terms) / len(relevant))


def inferred_average_precision(params: dict, levels: Levels, ranked: list[str]) -> float:
    """infAP: 1/R * sum over relevant ranks n of 1/n + P/n * (r + e) / (r + s + 2e), with e = 0.00001.

    Above n, r documents are relevant and s are judged not relevant (level from 0 to below rel). P documents
    are of the pool: these, and those of a negative level.
    """
    e, terms = Fraction(1, 100_000), []
    for n, doc_id in enumerate(ranked, start=1):
        if doc_id in relevant_documents(params, levels):
            pool = [levels[above] for above in ranked[: n - 1] if above in levels]
            r = sum(level >= params["rel"] for level in pool)
            s = sum(0 <= level < params["rel"] for level in pool)
            terms.append(Fraction(1, n) + Fraction(len(pool), n) * (r + e) / (r + s + 2 * e))
    return float(sum(terms) / len(relevant_documents(params, levels)))


def gain(params: dict, level: float) -> Fraction | float:
    """Gain of a level in nDCG: the level, or 2^level - 1; 0 for levels below 0."""
    if level <= 0:
        return Fraction(0)
    return 2.0**level - 1 if params["dcg"] == "exp-log2" else exact(level)


def discounted(gains: list[Fraction | float]) -> float:
    """DCG: sum over ranks n of gain / log2(n + 1)."""
    return math.fsum(float(one) / math.log2(n + 1) for n, one in enumerate(gains, start=1))


def ndcg(params: dict, levels: Levels, ranked: list[str]) -> float:
    """nDCG: DCG over the DCG of the ideal list; ``gains`` replaces levels before all else."""
    levels = {doc_id: params["gains"].get(level, level) for doc_id, level in levels.items()}
    gains = [gain(params, levels.get(doc_id, 0)) for doc_id in seen(params, levels, ranked)]
    ideal = discounted(
        sorted((gain(params, level) for level in levels.values()), reverse=True)[: params["cutoff"]]
    )
    return discounted(gains) / ideal if ideal else 0.0


def satisfaction(level: float) -> float:
    """Probability (2^level - 1) / 16 that a document satisfies; 0 for levels below 0."""
    return (2.0 ** max(level, 0) - 1) / 16


def err(params: dict, levels: Levels, ranked: list[str]) -> float:
    """ERR: sum over ranks n of 1/n * r(n) * product over the ranks above of (1 - r), r the satisfaction."""
    terms, unsatisfied = [], 1.0
    for n, doc_id in enumerate(seen(params, levels, ranked), start=1):
        satisfied = satisfaction(levels.get(doc_id, 0))
        terms.append(unsatisfied * satisfied / n)
        unsatisfied *= 1 - satisfied
    return math.fsum(terms)


@cache
def rbp_weights(p: float) -> tuple[float, ...]:
    """Weights of ranks 1, 2, ... in RBP: p^(n-1) over their sum down to rank 1,000."""
    weights = [p**i for i in range(RBP_RANKS)]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def rbp(params: dict, levels: Levels, ranked: list[str]) -> float:
    """RBP: sum of the weights of the relevant ranks."""
    weights = rbp_weights(params["p"])
    return math.fsum(weights[n - 1] for n in relevant_ranks(params, levels, ranked) if n <= RBP_RANKS)


MEASURES: dict[str, Callable[[dict, Levels, list[str]], float]] = {
    "AP": average_precision,
    "RR": reciprocal_rank,
    "P": precision,
    "R": recall,
    "Rprec": r_precision,
    "Success": success,
    "Bpref": bpref,
    "infAP": inferred_average_precision,
    "nDCG": ndcg,
    "ERR": err,
    "RBP": rbp,
    "Judged": judged,
}

#: Measures that are not defined by relevant documents alone: they accept any topic.
OF_ANY_TOPIC = ("nDCG", "ERR", "Judged")


def score(name: str, params: dict, levels: Levels, ranked: list[str]) -> float:
    """Score one topic.

    Args:
        name: name of the classic.
        params: the parameters given; the others have their default.
        levels: level of each document in the qrels of this topic.
        ranked: the retrieved documents in ranked order.

    Returns:
        The score, 0.0 for a topic without a relevant document.
    """
    params = {**DEFAULTS, **params}
    if name not in OF_ANY_TOPIC and not relevant_documents(params, levels):
        return 0.0
    return MEASURES[name](params, levels, ranked)
