"""Reference for measures over intents and over equivalence classes: slow, plain, one function per formula.

Written from the formulas alone, without code of the package, so that the two can be compared. Each
measure turns the judgments of one topic into one list, or into one list per intent, and a base measure of
``reference.ranked`` scores it. Sums over intents are added with ``math.fsum``.

Notation, for one topic: ``P(i)`` is the probability of intent i, ``g_i(d)`` the gain of document d for it, 0
where d is not relevant to i, ``GG(d)`` the global gain, and ``I`` the intents that have a relevant document.

A base measure is a pair of its printed name and its parameters, without a cutoff: ``("Q", {"beta": 2})``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from decimal import Decimal

from reference import ranked
from reference.ranked import exact

DEFAULTS = {"cutoff": None, "gamma": 0.5, "beta": 1, "gains": {}, "rel": 1, "judged_only": False}

#: Measures that D, IA and DIN take.
BASES = (
    *("Q", "AWP", "O-measure", "P-measure", "P+", "NCU", "nCG", "BR", "R-measure", "R-WP"),
    *("EBR", "iRBU", "nERR", "gRBP", "nDCG"),
)
#: Measures that EC takes.
CLASS_BASES = (*BASES, "AP", "P", "RR", "Success")

Base = tuple[str, dict]
#: Level by intent and document.
Levels = dict[str, dict[str, float]]
#: One topic of a ranked list: a level, or a gain, at each rank; None where the document is not relevant.
AtRank = list[float | None]


# ------------------------------------------------------------------------------------------- base measure


def checked(base: Base, bases: tuple[str, ...]) -> Base:
    """Return the base measure. Raise ValueError if it is not one of these, or has a cutoff."""
    name, params = base
    if name not in bases:
        raise ValueError(f"{name} is none of {', '.join(bases)}")
    if "cutoff" in params:
        raise ValueError("the cutoff belongs to the outer measure")
    return name, params


def relabelled(base: Base, level: float) -> float:
    """Return the level that a base measure uses: for nDCG, ``gains`` replaces levels."""
    name, params = base
    return params.get("gains", {}).get(level, level) if name == "nDCG" else level


def is_relevant(base: Base, level: float) -> bool:
    """Return whether a document of that level is relevant: level >= rel, for nDCG level > 0."""
    name, params = base
    if name == "nDCG":
        return relabelled(base, level) > 0
    return level >= params.get("rel", DEFAULTS["rel"])


def gain(base: Base, level: float) -> Decimal:
    """Return the gain of a level: 0 if not relevant, for nDCG with dcg='exp-log2' 2^level - 1."""
    name, params = base
    if not is_relevant(base, level):
        return Decimal(0)
    if name == "nDCG":
        seen = relabelled(base, level)
        return exact(2**seen - 1 if params.get("dcg", "log2") == "exp-log2" else seen)
    return exact(params.get("gains", {}).get(level, level))


def gain_params(base: Base, cutoff: int | None) -> dict:
    """Return the parameters of a base measure for a list whose levels are already gains."""
    name, params = base
    applied = ("gains", "rel", "judged_only", "max_rel", "dcg")
    left = {key: value for key, value in params.items() if key not in applied}
    return {**ranked.defaults(name), **left, "cutoff": cutoff}


def level_params(base: Base, cutoff: int | None) -> dict:
    """Return the parameters of a base measure for a list of levels as returned by ``carried``."""
    gains = {} if base[0] == "nDCG" else base[1].get("gains", {})
    return {**gain_params(base, cutoff), "gains": gains}


def carried(base: Base, level: float) -> float:
    """Return the number that represents a relevant document in a list: its level, for nDCG its gain."""
    return float(gain(base, level)) if base[0] == "nDCG" else level


def gmax_of_scale(base: Base, all_levels: Iterable[float]) -> Decimal:
    """Return the largest gain of a relevant level up to max_rel, by default the highest level."""
    every = set(all_levels)
    scale = {name: base[1][name] for name in ("gains", "rel", "max_rel") if name in base[1]}
    return ranked.largest_gain(ranked.Topic(scale, {}, [], max(every, default=0), every))


def score_list(base: Base, topic: ranked.Topic) -> float:
    """Return the base measure of a list; 0 if nothing is relevant."""
    return float(ranked.formula(base[0], topic))


# ---------------------------------------------------------------------------------------- judged documents


def is_judged(base: Base, levels: Levels, doc_id: str) -> bool:
    """Return whether some intent judges the document: its level for it is >= 0."""
    return any(
        doc_id in of_intent and relabelled(base, of_intent[doc_id]) >= 0 for of_intent in levels.values()
    )


def looked_at(base: Base, levels: Levels, retrieved: list[str]) -> list[str]:
    """Return the ranking, or with judged_only the condensed list, which is equal for all intents."""
    if not base[1].get("judged_only", DEFAULTS["judged_only"]):
        return retrieved
    return [doc_id for doc_id in retrieved if is_judged(base, levels, doc_id)]


def documents(levels: Levels) -> list[str]:
    """Return all documents of a topic."""
    return list(dict.fromkeys(doc_id for of_intent in levels.values() for doc_id in of_intent))


def document_levels(levels: Levels) -> dict[str, float]:
    """Return the level of each document for measures without intents: its highest over the intents."""
    return {
        doc_id: max(of_intent[doc_id] for of_intent in levels.values() if doc_id in of_intent)
        for doc_id in documents(levels)
    }


def relevant_intents(base: Base, levels: Levels) -> list[str]:
    """I: the intents with at least one relevant document."""
    return [
        intent
        for intent, of_intent in levels.items()
        if any(is_relevant(base, level) for level in of_intent.values())
    ]


def probabilities(base: Base, levels: Levels, given: dict[str, float] | None) -> dict[str, float]:
    """Return the given P(i), else 1/|I| for each intent of I."""
    if given is not None:
        return given
    intents = relevant_intents(base, levels)
    return {intent: 1 / len(intents) for intent in intents}


# --------------------------------------------------------------------------------------- I-rec and sharpness


def i_rec(base: Base, levels: Levels, retrieved: list[str], cutoff: int | None) -> float:
    """I-rec@k: intents in I with a relevant document among the first k ranks, over the intents in I.

    The base decides which documents are relevant and whether the list is condensed.
    """
    intents = relevant_intents(base, levels)
    first = set(looked_at(base, levels, retrieved)[:cutoff])
    covered = sum(
        any(doc_id in first and is_relevant(base, level) for doc_id, level in levels[intent].items())
        for intent in intents
    )
    return covered / len(intents) if intents else 0.0


def sharp(gamma: float, recall: float, other: float) -> float:
    """gamma * I-rec + (1 - gamma) * the measure without #."""
    return gamma * recall + (1 - gamma) * other


# ------------------------------------------------------------------------------------------------------- D


def twelve_digits(number: float) -> float:
    """Round to 12 significant digits: .2 + .1 and .3 become one value."""
    return float(f"{number:.11e}")


def summed_gain(terms: Iterable[tuple[float, Decimal]]) -> float:
    """Sum of P(i) * g_i over pairs of both, rounded to 12 significant digits."""
    return twelve_digits(math.fsum(p * float(g) for p, g in terms))


def global_gains(base: Base, levels: Levels, P: dict[str, float]) -> dict[str, float]:
    """GG(d) = sum over i of P(i) g_i(d), for every document."""
    return {
        doc_id: summed_gain(
            (P.get(intent, 0.0), gain(base, of_intent[doc_id]))
            for intent, of_intent in levels.items()
            if doc_id in of_intent
        )
        for doc_id in documents(levels)
    }


def or_none(value: float) -> float | None:
    """Return a gain at a rank, None if it is 0: not relevant."""
    return value if value > 0 else None


def global_list(
    base: Base, at_rank: AtRank, GG: dict[str, float], cutoff: int | None, all_levels: Iterable[float]
) -> ranked.Topic:
    """Return the list of D or DIN with the gains at its ranks, and the ideal list by GG."""
    if base[1].get("stops"):
        raise ValueError("stops are by level, and a list by global gain has none")
    relevant = [value for value in GG.values() if value > 0]
    if base[1].get("max_rel") is None:
        gmax = exact(max(relevant, default=0))
    else:
        gmax = gmax_of_scale(base, all_levels)
    return ranked.Topic.of_lists(gain_params(base, cutoff), at_rank, relevant, gmax)


def d_list(
    base: Base,
    levels: Levels,
    retrieved: list[str],
    P: dict[str, float],
    cutoff: int | None,
    all_levels: Iterable[float],
) -> ranked.Topic:
    """The list of D: gain GG at each rank, R documents with GG > 0."""
    GG = global_gains(base, levels, P)
    at_rank = [or_none(GG.get(doc_id, 0.0)) for doc_id in looked_at(base, levels, retrieved)]
    return global_list(base, at_rank, GG, cutoff, all_levels)


def din_list(
    base: Base,
    levels: Levels,
    retrieved: list[str],
    P: dict[str, float],
    nav: Iterable[str],
    cutoff: int | None,
    all_levels: Iterable[float],
) -> ranked.Topic:
    """The list of DIN: like D, but a navigational intent counts at its first relevant document only."""
    GG = global_gains(base, levels, P)
    seen: set[str] = set()
    at_rank: AtRank = []
    for doc_id in looked_at(base, levels, retrieved):
        relevant_to = [
            intent
            for intent, of_intent in levels.items()
            if doc_id in of_intent and is_relevant(base, of_intent[doc_id])
        ]
        counted = [intent for intent in relevant_to if intent not in seen]
        at_rank.append(or_none(summed_gain((P.get(i, 0.0), gain(base, levels[i][doc_id])) for i in counted)))
        seen.update(intent for intent in relevant_to if intent in set(nav))
    return global_list(base, at_rank, GG, cutoff, all_levels)


# ------------------------------------------------------------------------------------------------ IA, P+Q


def intent_list(
    base: Base,
    levels: Levels,
    intent: str,
    retrieved: list[str],
    cutoff: int | None,
    all_levels: Iterable[float],
) -> ranked.Topic:
    """The list by the levels of one intent alone, with its R, ideal list and largest gain."""
    relevant = {doc_id: level for doc_id, level in levels[intent].items() if is_relevant(base, level)}
    if base[1].get("max_rel") is None:
        gmax = max((gain(base, level) for level in relevant.values()), default=Decimal(0))
    else:
        gmax = gmax_of_scale(base, all_levels)
    seen = {doc_id: carried(base, level) for doc_id, level in relevant.items()}
    at_rank = [seen.get(doc_id) for doc_id in looked_at(base, levels, retrieved)]
    return ranked.Topic.of_lists(level_params(base, cutoff), at_rank, list(seen.values()), gmax)


def ia(
    base: Base,
    levels: Levels,
    retrieved: list[str],
    P: dict[str, float],
    cutoff: int | None,
    all_levels: Iterable[float],
) -> float:
    """IA: sum over i in I of P(i) M_i."""
    return math.fsum(
        P.get(intent, 0.0)
        * score_list(base, intent_list(base, levels, intent, retrieved, cutoff, all_levels))
        for intent in relevant_intents(base, levels)
    )


def p_plus_q(
    params: dict, levels: Levels, retrieved: list[str], P: dict[str, float], nav: Iterable[str]
) -> float:
    """P+Q: sum over i in I of P(i) * (Q_i with norm='cutoff' where i is inf, P+_i where i is nav)."""
    cutoff = params["cutoff"]
    own = {name: params[name] for name in ("beta", "gains", "rel", "judged_only")}
    of_inf = ("Q", {**own, "norm": "cutoff"} if cutoff else own)
    of_nav = ("P+", own)
    terms = []
    for intent in relevant_intents(of_nav, levels):
        base = of_nav if intent in set(nav) else of_inf
        topic = intent_list(base, levels, intent, retrieved, cutoff, ())
        terms.append(P.get(intent, 0.0) * score_list(base, topic))
    return math.fsum(terms)


# ----------------------------------------------------------------------------------- equivalence classes


def class_list(
    base: Base,
    levels: dict[str, float],
    classes: dict[str, Hashable],
    retrieved: list[str],
    cutoff: int | None,
    all_levels: Iterable[float],
) -> ranked.Topic:
    """The list of EC: the first relevant document of a class counts, with its own level.

    Args:
        base: the base measure.
        levels: level of each judged document.
        classes: the class of each document; a missing document has a separate class.
        retrieved: the documents in ranked order.
        cutoff: the cutoff.
        all_levels: the levels that occur in all of the qrels.
    """
    relevant = {doc_id: level for doc_id, level in levels.items() if is_relevant(base, level)}
    highest: dict[Hashable, float] = {}
    for doc_id, level in relevant.items():
        of_doc = class_of(classes, doc_id)
        highest[of_doc] = max(highest.get(of_doc, -math.inf), carried(base, level))
    seen: set[Hashable] = set()
    at_rank: AtRank = []
    for doc_id in looked_at(base, {"": levels}, retrieved):
        of_doc = class_of(classes, doc_id)
        counts = doc_id in relevant and of_doc not in seen
        at_rank.append(carried(base, levels[doc_id]) if counts else None)
        if counts:
            seen.add(of_doc)
    gmax = gmax_of_scale(base, {*all_levels, *levels.values()})
    return ranked.Topic.of_lists(level_params(base, cutoff), at_rank, list(highest.values()), gmax)


def class_of(classes: dict[str, Hashable], doc_id: str) -> Hashable:
    """Return the class of a document."""
    return ("class", classes[doc_id]) if doc_id in classes else ("document", doc_id)


def ec(
    base: Base,
    levels: dict[str, float],
    classes: dict[str, Hashable],
    retrieved: list[str],
    cutoff: int | None,
    all_levels: Iterable[float],
) -> float:
    """EC: the base measure over classes; its gmax is that of the scale, as without classes."""
    base = checked(base, CLASS_BASES)
    return score_list(base, class_list(base, levels, classes, retrieved, cutoff, all_levels))


# --------------------------------------------------------------------------------------------- evaluation


def score(
    name: str,
    params: dict,
    levels: Levels,
    retrieved: list[str],
    P: dict[str, float] | None = None,
    nav: Iterable[str] = (),
    all_levels: Iterable[float] = (),
) -> float:
    """Score one topic.

    Args:
        name: printed name of the measure: I-rec, D, IA, DIN, P+Q or one of the last four with a #.
        params: the parameters given; ``measure`` of D, IA and DIN is the base measure.
        levels: level by intent and document.
        retrieved: the retrieved documents in ranked order.
        P: probability of each intent; uniform over I if not given.
        nav: the navigational intents.
        all_levels: the levels that occur in all of the qrels, where ``max_rel`` is named.

    Returns:
        The score, 0.0 for a topic without a relevant document.

    Raises:
        ValueError: if the name or the base measure is unknown, a cutoff is missing or in the wrong place.
    """
    params = {**DEFAULTS, **params}
    plain, cutoff = name.removesuffix("#"), params["cutoff"]
    all_levels = {*all_levels, *(level for of_intent in levels.values() for level in of_intent.values())}
    own = ("I-rec", {"rel": params["rel"], "judged_only": params["judged_only"]})
    base = checked(params["measure"], BASES) if plain in ("D", "IA", "DIN") else own
    P = probabilities(base, levels, P)
    recall = i_rec(base, levels, retrieved, cutoff)
    if plain == "I-rec":
        return recall
    if plain == "D":
        found = score_list(base, d_list(base, levels, retrieved, P, cutoff, all_levels))
    elif plain == "DIN":
        found = score_list(base, din_list(base, levels, retrieved, P, nav, cutoff, all_levels))
    elif plain == "IA":
        found = ia(base, levels, retrieved, P, cutoff, all_levels)
    elif plain == "P+Q":
        found = p_plus_q(params, levels, retrieved, P, nav)
    else:
        raise ValueError(f"unknown measure {name!r}")
    return sharp(params["gamma"], recall, found) if name != plain else found
