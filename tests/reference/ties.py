"""Reference for scores with ties: every distinct order of the tied documents is scored.

Written from the definitions alone, without code of the package, so that the two can be compared. Closed
forms for large groups are in ``ties_large``.

A *tie group* is a list of documents with one score; a run of a topic is a list of tie groups from the top
down. Each group is permuted uniformly, the groups independently. Documents of one level (for passages: of
one F) are interchangeable, so every distinct order of their levels is equally likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from decimal import localcontext
from itertools import groupby, product

from reference import passages, ranked

TIES = ("doc_id", "expected", "optimistic", "pessimistic")

Groups = list[list[str]]
Levels = dict[str, float]


# ---------------------------------------------------------------------------------------------- tie groups


def tie_groups(scores: dict[str, float]) -> Groups:
    """Return the documents of one topic by descending score, those with equal scores in one list.

    Args:
        scores: score of each retrieved document.

    Returns:
        The tie groups; in each of them the documents by id descending, as ``doc_id`` orders them.
    """

    def compared(doc_id: str) -> float:
        return float(scores[doc_id])

    return [list(group) for _, group in groupby(ranked.ranking(scores), compared)]


def arrangements(documents: list[str], kind: Callable[[str], Hashable]) -> Iterator[list[str]]:
    """Yield every distinct order of documents; documents of one kind are interchangeable."""
    if not documents:
        yield []
        return
    for first in {kind(doc_id): doc_id for doc_id in documents}.values():
        rest = [doc_id for doc_id in documents if doc_id != first]
        for tail in arrangements(rest, kind):
            yield [first, *tail]


def orders(groups: Groups, kind: Callable[[str], Hashable]) -> Iterator[list[str]]:
    """Yield every distinct order of a run; all are equally likely."""
    for chosen in product(*(list(arrangements(group, kind)) for group in groups)):
        yield [doc_id for group in chosen for doc_id in group]


def number_of_orders(groups: Groups, kind: Callable[[str], Hashable]) -> int:
    """Return the number of distinct orders of a run."""
    number = 1
    for group in groups:
        kinds = [kind(doc_id) for doc_id in group]
        number *= math.factorial(len(kinds))
        for one in set(kinds):
            number //= math.factorial(kinds.count(one))
    return number


def tied_score(
    ties: str, groups: Groups, kind: Callable[[str], float], score_of: Callable[[list[str]], float]
) -> float:
    """Score of one topic.

    Args:
        ties: one of ``TIES``.
        groups: the tie groups.
        kind: documents of one kind are interchangeable; 'optimistic' puts the largest kind first.
        score_of: score of an order.

    Returns:
        The score of the order that ``ties`` names, or the mean over all orders.

    Raises:
        ValueError: if ``ties`` is not in ``TIES``.
    """
    if ties == "doc_id":
        return score_of([doc_id for group in groups for doc_id in sorted(group, reverse=True)])
    if ties == "optimistic":
        return score_of([doc_id for group in groups for doc_id in sorted(group, key=kind, reverse=True)])
    if ties == "pessimistic":
        return score_of([doc_id for group in groups for doc_id in sorted(group, key=kind)])
    if ties == "expected":
        scores = [score_of(order) for order in orders(groups, kind)]
        return math.fsum(scores) / len(scores)
    raise ValueError(f"ties={ties!r} is none of {TIES}")


# ----------------------------------------------------------------------------------------- ranked documents


def level_or_below(levels: Levels) -> Callable[[str], float]:
    """Return the kind of a document: its level; unjudged documents are below all levels."""
    return lambda doc_id: levels.get(doc_id, -math.inf)


def score(
    name: str,
    params: dict,
    ties: str,
    levels: Levels,
    groups: Groups,
    highest_level: float,
    all_levels: set[float] | None = None,
) -> float:
    """Score one topic.

    Args:
        name: printed name of the measure.
        params: the parameters given; the others have their default.
        ties: one of ``TIES``.
        levels: level of each document in the qrels of this topic.
        groups: the retrieved documents as tie groups, from the top down.
        highest_level: highest level in all of the qrels, the default of max_rel.
        all_levels: the levels that occur in all of the qrels; those of this topic if not given.

    Returns:
        The score, 0.0 for a topic without a relevant document.
    """
    with localcontext(ranked.DIGITS):
        topic = ranked.topic_of(name, params, levels, [], highest_level, all_levels)
        return tied_score(
            ties,
            groups,
            level_or_below(levels),
            lambda order: float(ranked.formula(name, topic.of_order(order))),
        )


# ------------------------------------------------------------------------------------------------ passages


def article_kinds(topic: passages.Topic) -> dict[str, tuple[float, bool]]:
    """Return F of each article and whether it has relevance: 'optimistic' orders by them, both descending."""
    return {article: (F, article in topic.gold) for article, F in topic.F.items()}


def evaluate_passages(
    name: str, params: dict, ties: str, qrels_rows: Iterable[passages.Row], run_rows: Iterable[passages.Row]
) -> dict[str, float]:
    """Score every topic of the qrels by MAgP, gP or gR.

    Args:
        name: printed name of the measure.
        params: the parameters given.
        ties: one of ``TIES``.
        qrels_rows: ``(query_id, doc_id, relevance, start, length)``.
        run_rows: ``(query_id, doc_id, score, start, length)``; an article ties by its largest score.

    Returns:
        The score of each topic of the qrels, 0.0 for a topic without relevance.
    """

    def score_of(topic: passages.Topic) -> float:
        groups = tie_groups(topic.scores)
        kind = article_kinds(topic).__getitem__
        return tied_score(ties, groups, kind, lambda order: float(topic.score(name, order)))

    with localcontext(ranked.DIGITS):
        topics = passages.topics(params, qrels_rows, run_rows)
        return {query_id: score_of(topic) for query_id, topic in topics}
