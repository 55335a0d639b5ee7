"""Reference for the measures of passages, MAgP, gP and gR: slow, plain, sets of character positions.

Written from the formulas alone, without code of the package, so that the two can be compared.
The F of an article is exact (``Fraction``); sums over ranks are floats, added with ``math.fsum``.

Rows are tuples: ``(query_id, doc_id, relevance, start, length)`` in the qrels and
``(query_id, doc_id, score, start, length)`` in a run, one for each passage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from reference.ranked import ranking

DEFAULTS = {"cutoff": None, "beta": 1, "rel": 1}

Row = tuple[str, str, float, int, int]
Spans = dict[str, list[tuple[int, int]]]


# --------------------------------------------------------------------------------------------- one article


def positions(spans: list[tuple[int, int]]) -> set[int]:
    """Return the characters of a union of spans ``[start, start + length)``."""
    found: set[int] = set()
    for start, length in spans:
        found.update(range(start, start + length))
    return found


def f_of_article(relevant: set[int], retrieved: set[int], beta: float) -> float:
    """F = (1 + beta^2) P R / (beta^2 P + R) of the characters of one article."""
    both = len(relevant & retrieved)
    precision = Fraction(both, len(retrieved)) if retrieved else Fraction(0)
    recall = Fraction(both, len(relevant)) if relevant else Fraction(0)
    if precision + recall == 0:
        return 0.0
    if beta == math.inf:
        return float(recall)
    beta_squared = Fraction(beta) ** 2
    return float((1 + beta_squared) * precision * recall / (beta_squared * precision + recall))


# ----------------------------------------------------------------------------------------------- one topic


class Topic:
    """The quantities of one topic that the formulas need.

    Attributes:
        F: F of the article at rank r; ``F[0]`` is not used.
        relevant: whether the article at rank r has a highlighted character; ``relevant[0]`` is not used.
        last: the last evaluated rank (that of the last article, or the cutoff if that is smaller).
        numrel: number of articles with a highlighted character in the qrels.
        cutoff: the cutoff, or None.
    """

    def __init__(self, params: dict, highlighted: Spans, retrieved: Spans, ranked: list[str]) -> None:
        """Prepare one topic.

        Args:
            params: every parameter.
            highlighted: the spans of each article that rows of at least level ``rel`` highlight.
            retrieved: the spans of each article that the run retrieved.
            ranked: the retrieved articles in ranked order.
        """
        self.cutoff = params["cutoff"]
        if self.cutoff is not None:
            ranked = ranked[: self.cutoff]
        with_relevance = {article for article, spans in highlighted.items() if any(n > 0 for _, n in spans)}
        self.numrel = len(with_relevance)
        self.last = len(ranked)
        self.F = [math.nan]
        self.relevant = [False]
        for article in ranked:
            self.relevant.append(article in with_relevance)
            self.F.append(
                f_of_article(
                    positions(highlighted.get(article, [])), positions(retrieved[article]), params["beta"]
                )
            )

    def sum_of_f(self, r: int) -> float:
        """The sum of F over the first r articles."""
        return math.fsum(self.F[n] for n in range(1, min(r, self.last) + 1))


def generalised_precision(topic: Topic, r: int) -> float:
    """gP(r) = sum of F over the first r articles / r."""
    return topic.sum_of_f(r) / r


def generalised_recall(topic: Topic, r: int) -> float:
    """gR(r) = number of articles with relevance among the first r / Numrel."""
    return sum(topic.relevant[n] for n in range(1, min(r, topic.last) + 1)) / topic.numrel


def agp(topic: Topic) -> float:
    """AgP = sum of gP(r) over the ranks r of articles with relevance / Numrel."""
    ranks = [r for r in range(1, topic.last + 1) if topic.relevant[r]]
    return math.fsum(generalised_precision(topic, r) for r in ranks) / topic.numrel


def required_cutoff(topic: Topic) -> int:
    """Return the cutoff of a measure that needs one."""
    if topic.cutoff is None:
        raise ValueError("this measure needs a cutoff")
    return topic.cutoff


MEASURES = {
    "MAgP": agp,
    "gP": lambda topic: generalised_precision(topic, required_cutoff(topic)),
    "gR": lambda topic: generalised_recall(topic, required_cutoff(topic)),
}


# ---------------------------------------------------------------------------------------------- evaluation


def spans_by_article(rows: Iterable[Row], query_id: str) -> Spans:
    """Return the spans of each article of a topic."""
    found: Spans = {}
    for topic, article, _, start, length in rows:
        if topic == query_id:
            found.setdefault(article, []).append((start, length))
    return found


def score_by_article(rows: Iterable[Row], query_id: str) -> dict[str, float]:
    """Return the largest score of each article of a topic."""
    found: dict[str, float] = {}
    for topic, article, score, _, _ in rows:
        if topic == query_id:
            found[article] = max(score, found.get(article, -math.inf))
    return found


def evaluate(
    name: str, params: dict, qrels_rows: Iterable[Row], run_rows: Iterable[Row], float32: bool = True
) -> dict[str, float]:
    """Score every topic of the qrels.

    Args:
        name: printed name of the measure.
        params: the parameters given; the others have their default.
        qrels_rows: ``(query_id, doc_id, relevance, start, length)``.
        run_rows: ``(query_id, doc_id, score, start, length)``.
        float32: whether scores are compared in single precision.

    Returns:
        The score of each topic of the qrels; 0.0 for one without relevance or missing from the run.
    """
    params = {**DEFAULTS, **params}
    qrels_by_topic: dict[str, list[Row]] = {}
    for row in qrels_rows:
        qrels_by_topic.setdefault(row[0], []).append(row)
    run_by_topic: dict[str, list[Row]] = {}
    for row in run_rows:
        run_by_topic.setdefault(row[0], []).append(row)

    found = {}
    for query_id, judgments in qrels_by_topic.items():
        results = run_by_topic.get(query_id, [])
        highlighting = [row for row in judgments if row[2] >= params["rel"]]
        topic = Topic(
            params,
            spans_by_article(highlighting, query_id),
            spans_by_article(results, query_id),
            ranking(score_by_article(results, query_id), float32),
        )
        found[query_id] = MEASURES[name](topic) if topic.numrel else 0.0
    return found
