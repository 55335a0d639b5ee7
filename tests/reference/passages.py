"""Reference for the passage measures of whole articles, MAgP, gP and gR: slow, plain, topic by topic.

Written from the formulas alone, without code of the package, so that the two can be compared. F is exact,
up to the 60th digit; only a score is rounded to a float, or returned as a decimal.

Rows are tuples: ``(query_id, doc_id, relevance, start, length)`` in the qrels and
``(query_id, doc_id, score, start, length)`` in a run, one for each passage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

from reference.ranked import DIGITS, decimal, ranking

DEFAULTS = {"cutoff": None, "beta": 1, "rel": 1}

Row = tuple[str, str, float, int, int]
Span = tuple[int, int]


def by_topic(rows: Iterable[tuple]) -> dict[str, list[tuple]]:
    """Return the rows of each topic without their first field."""
    found: dict[str, list[tuple]] = {}
    for query_id, *row in rows:
        found.setdefault(query_id, []).append(tuple(row))
    return found


def spans_by_article(rows: Iterable[tuple]) -> dict[str, list[Span]]:
    """Return the spans of each article in the rows of a topic."""
    found: dict[str, list[Span]] = {}
    for article, _, start, length in rows:
        found.setdefault(article, []).append((start, length))
    return found


def covered(spans: Iterable[Span]) -> int:
    """Return the number of characters in the union of spans ``[start, start + length)``."""
    total = end = 0
    for start, length in sorted(spans):
        total += max(0, start + length - max(start, end))
        end = max(end, start + length)
    return total


def f_of_article(relevant: list[Span], retrieved: list[Span], beta: float) -> Decimal:
    """F = (1 + beta^2) P R / (beta^2 P + R) of the characters of one article; with beta=inf, R."""
    gold, found = covered(relevant), covered(retrieved)
    both = gold + found - covered([*relevant, *retrieved])
    if not both:
        return Decimal(0)
    precision, recall = Fraction(both, found), Fraction(both, gold)
    if beta == math.inf:
        return decimal(recall)
    weight = Fraction(beta) ** 2
    return decimal((1 + weight) * precision * recall / (weight * precision + recall))


class Topic:
    """The quantities of one topic that the formulas need.

    Attributes:
        cutoff: the cutoff, or None.
        gold: the articles with a highlighted character in the qrels.
        F: F of each retrieved article.
        scores: the largest score of each retrieved article.
    """

    def __init__(self, params: dict, judged: Iterable[tuple], retrieved: Sequence[tuple]) -> None:
        """Prepare one topic from its rows without their first field."""
        params = {**DEFAULTS, **params}
        self.cutoff = params["cutoff"]
        highlighted = spans_by_article(row for row in judged if row[1] >= params["rel"])
        self.gold = {article for article, spans in highlighted.items() if covered(spans)}
        self.F = {
            article: f_of_article(highlighted.get(article, []), spans, params["beta"])
            for article, spans in spans_by_article(retrieved).items()
        }
        self.scores: dict[str, float] = {}
        for article, score, _, _ in retrieved:
            self.scores[article] = max(score, self.scores.get(article, -math.inf))

    def score(self, name: str, articles: list[str]) -> Decimal:
        """Return the score of articles in ranked order, 0 for a topic without relevance."""
        return MEASURES[name](self, articles[: self.cutoff]) if self.gold else Decimal(0)


def agp(topic: Topic, articles: list[str]) -> Decimal:
    """AgP = sum of gP(r) over the ranks r of articles with relevance / Numrel."""
    sums = accumulate(topic.F[article] for article in articles)
    gp = [total / r for r, total in enumerate(sums, 1)]
    found = (value for value, article in zip(gp, articles, strict=True) if article in topic.gold)
    return sum(found, Decimal(0)) / len(topic.gold)


MEASURES: dict[str, Callable[[Topic, list[str]], Decimal]] = {
    "MAgP": agp,
    # gP(r) = sum of F over the first r articles / r.
    "gP": lambda topic, articles: sum((topic.F[one] for one in articles), Decimal(0)) / topic.cutoff,
    # gR(r) = number of articles with relevance among the first r / Numrel.
    "gR": lambda topic, articles: Decimal(sum(one in topic.gold for one in articles)) / len(topic.gold),
}


def topics(params: dict, qrels_rows: Iterable[Row], run_rows: Iterable[Row]) -> Iterator[tuple[str, Topic]]:
    """Yield every topic of the qrels."""
    retrieved = by_topic(run_rows)
    for query_id, judged in by_topic(qrels_rows).items():
        yield query_id, Topic(params, judged, retrieved.get(query_id, []))


def evaluate(
    name: str, params: dict, qrels_rows: Iterable[Row], run_rows: Iterable[Row], number: type = float
) -> dict[str, float | Decimal]:
    """Score every topic of the qrels.

    Args:
        name: printed name of the measure.
        params: the parameters given; the others have their default.
        qrels_rows: ``(query_id, doc_id, relevance, start, length)``.
        run_rows: ``(query_id, doc_id, score, start, length)``.
        number: the type of the scores, float or Decimal.

    Returns:
        The score of each topic of the qrels; 0 for one without relevance or missing from the run.
    """
    with localcontext(DIGITS):
        return {
            query_id: number(topic.score(name, ranking(topic.scores)))
            for query_id, topic in topics(params, qrels_rows, run_rows)
        }
