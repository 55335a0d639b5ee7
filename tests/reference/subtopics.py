"""Reference for the measures of ir-measures over intents (subtopics): slow, plain, one function per formula.

Written from the formulas alone, without code of the package. Notation, for one topic: ``S`` are the intents
with a relevant document in the qrels, ``rel_i`` the documents relevant to intent i, ``a`` is 1 - alpha, and a
pair is a rank and an intent to which the document at this rank is relevant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations, product

#: Level by intent and document.
Levels = dict[str, dict[str, float]]
Weight = Callable[[int], float]

DEFAULTS = {"cutoff": None, "rel": 1, "judged_only": False, "alpha": 0.5, "beta": 0.5}


def relevant(levels: Levels, rel: float) -> dict[str, set[str]]:
    """Return rel_i for each intent i of S."""
    found = {
        intent: {doc for doc, level in of_intent.items() if level >= rel}
        for intent, of_intent in levels.items()
    }
    return {intent: docs for intent, docs in found.items() if docs}


def pairs(S: dict[str, set[str]], docs: list[str]) -> Iterator[tuple[int, int]]:
    """Yield for each pair its rank, and the number of documents above that are relevant to the intent."""
    for members in S.values():
        above = 0
        for n, doc in enumerate(docs, 1):
            if doc in members:
                yield n, above
                above += 1


def weighted(S: dict[str, set[str]], docs: list[str], a: float, weight: Weight) -> float:
    """Sum of a^above * weight(rank) over pairs."""
    return math.fsum(a**above * weight(n) for n, above in pairs(S, docs))


def greedy(S: dict[str, set[str]], a: float) -> list[str]:
    """Return the ideal list: each document adds the most to those above; of equals, the largest id."""
    left = sorted(set().union(*S.values()), key=lambda doc: doc.encode("utf-8", "surrogatepass"))
    taken = dict.fromkeys(S, 0)
    found = []
    while left:

        def adds(doc: str) -> float:
            value = math.fsum(a ** taken[intent] for intent, members in S.items() if doc in members)
            return float(f"{value:.11e}")

        best = max(map(adds, left))
        doc = [each for each in left if adds(each) == best][-1]
        left.remove(doc)
        found.append(doc)
        for intent, members in S.items():
            taken[intent] += doc in members
    return found


def by_logarithm(n: int) -> float:
    """1 / log2(n + 1)."""
    return 1 / math.log2(n + 1)


def average_precision(members: set[str], docs: list[str]) -> float:
    """AP of the documents relevant to one intent."""
    found = [n for n, doc in enumerate(docs, 1) if doc in members]
    return math.fsum(C / n for C, n in enumerate(found, 1)) / len(members)


def score(name: str, params: dict, levels: Levels, retrieved: list[str]) -> float:
    """Score one topic by the measure with a name and parameters."""
    params = {**DEFAULTS, **params}
    k, beta = params["cutoff"], params["beta"]
    S = relevant(levels, params["rel"])
    docs = retrieved
    if params["judged_only"]:
        docs = [doc for doc in retrieved if any(doc in of_intent for of_intent in levels.values())]
    docs = docs[:k]
    if not S:
        return 0.0
    plain: dict[str, Callable[[], float]] = {
        "AP_IA": lambda: math.fsum(average_precision(members, docs) for members in S.values()),
        "P_IA": lambda: sum(1 for _ in pairs(S, docs)) / k,
        "StRecall": lambda: sum(1 for members in S.values() if members.intersection(docs)),
    }
    if name in plain:
        return plain[name]() / len(S)
    a = 1 - params["alpha"]
    without = name.replace("nDCG", "DCG").removeprefix("n")
    weight: Weight = {
        "alpha_DCG": by_logarithm,
        "ERR_IA": lambda n: 1 / n,
        "NRBP": lambda n: beta ** (n - 1),
    }[without]
    found = weighted(S, docs, a, weight)
    if without != name:
        return found / weighted(S, greedy(S, a)[:k], a, weight)
    if name == "NRBP":
        return (1 - a * beta) * found / len(S)
    return found / (len(S) * math.fsum(a ** (n - 1) * weight(n) for n in range(1, k + 1)))


def expected(name: str, params: dict, levels: Levels, groups: list[list[str]]) -> float:
    """Mean score over all orders of the documents of each group of tied documents."""
    orders = list(product(*map(permutations, groups)))
    rankings = [[doc for group in order for doc in group] for order in orders]
    return math.fsum(score(name, params, levels, docs) for docs in rankings) / len(rankings)
