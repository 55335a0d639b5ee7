"""Random collections, one per number: qrels and runs with ties, gaps, soft and negative levels.

Everything is drawn with ``random`` of a generator, whose stream is equal in all versions of numpy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

One = TypeVar("One")

#: Levels of the qrels, by the name of their scale.
SCALES: dict[str, tuple[float, ...]] = {
    "binary": (0, 1),
    "graded": (0, 1, 2, 3),
    "negative": (-2, -1, 0, 1, 2, 3, 4),
    "doubling": (0, 2, 4, 8, 16),
    "soft": (-0.5, 0, 0.25, 0.5, 1, 1.5, 2.75),
    "mixed": (-1, 0, 0.5, 1, 2, 16),
    "small": (0, 1e-9, 1e-3, 0.5, 1),
    "large": (0, 1, 999, 1e6),
    "huge": (0, 1, 1e50, 1e100),
}
#: Scores of a run, by how its documents tie.
SCORES: dict[str, tuple[float, ...]] = {
    "few": (-2.0, -0.5, 0.0, 1.0, 2.5),
    "single precision": tuple(1 + step * 1e-9 for step in range(40)),
    "one": (1.0,),
    "beyond": (-math.inf, -1e300, -1e39, -0.0, 0.0, 1e-46, 0.1, 1.0, 1e39, 1e300, math.inf),
}
_DOCUMENTS = ("d", "D", "doc-", "0", "é", "文", "𝄞")


class Draw:
    """Random numbers and choices for one collection."""

    def __init__(self, number: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(number))

    def unit(self) -> float:
        """Return a number in [0, 1)."""
        return float(self._generator.random())

    def below(self, count: int) -> int:
        """Return a whole number from 0 below ``count``."""
        return int(self.unit() * count)

    def chance(self, share: float) -> bool:
        """Return True in this share of the cases."""
        return self.unit() < share

    def one_of(self, choices: Sequence[One]) -> One:
        """Return one of the choices."""
        return choices[self.below(len(choices))]

    def shuffled(self, things: Sequence[One]) -> list[One]:
        """Return the items in another order."""
        return [things[at] for at in np.argsort(self._generator.random(len(things)), kind="stable").tolist()]


@dataclass(frozen=True)
class Collection:
    """Qrels and a run over documents.

    Attributes:
        name: its name, with its scale and the ties of its run.
        qrels: levels by topic and document.
        run: scores by topic and document.
        highest: the highest level of the scale.
        is_whole: whether its levels are whole numbers >= 0 and no topic is empty, so that other providers
            of ir_measures can score it (pytrec_eval is not safe with negative levels).
    """

    name: str
    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    highest: float
    is_whole: bool


def collection(number: int) -> Collection:
    """Return the random collection of a number."""
    draw = Draw(number)
    scale, ties = draw.one_of([*SCALES]), draw.one_of(["none", *SCORES])
    levels = SCALES[scale]
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    has_empty = False
    for topic in draw.shuffled([str(number) for number in range(1, 2 + draw.below(8))]):
        documents = draw.shuffled([f"{draw.one_of(_DOCUMENTS)}{at}" for at in range(3 + draw.below(50))])
        judged = [doc for doc in documents if draw.chance(0.6)]
        lowest_only = draw.chance(0.07)
        qrels[topic] = {doc: levels[0] if lowest_only else draw.one_of(levels) for doc in judged}
        if draw.chance(0.04):
            qrels[topic] = {}
        has_empty |= not qrels[topic]
        if run and draw.chance(0.1):
            continue  # the topic is missing from the run
        retrieved = draw.shuffled(documents)[: 1 + draw.below(len(documents))]
        run[topic] = dict(zip(retrieved, _scores(draw, ties, len(retrieved)), strict=True))
        if len(run) > 1 and draw.chance(0.04):
            run[topic] = {}
    if draw.chance(0.3):
        run["of-the-run-alone"] = {"d1": 1.0}
    # One document that is judged and retrieved, so that qrels and run share a topic with documents.
    first = next(iter(run))
    qrels[first].setdefault(next(iter(run[first])), levels[-1])
    is_whole = scale in {"binary", "graded", "doubling"} and not has_empty
    return Collection(f"{number:04} {scale}, ties {ties}", qrels, run, levels[-1], is_whole)


def _scores(draw: Draw, ties: str, count: int) -> list[float]:
    if ties == "none":
        return [score / 7 for score in draw.shuffled(range(-count, count))[:count]]
    return [draw.one_of(SCORES[ties]) for _ in range(count)]


def passages(number: int) -> tuple[str, list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return name, qrels and run of a random collection of passages: overlapping, touching and empty spans.

    Rows are ``(query_id, doc_id, relevance or score, start, length)``, in any order.
    """
    draw = Draw(1_000_000 + number)
    levels = draw.one_of([(0, 1), (-1, 0, 1, 2, 3), (0, 0.5, 1, 1.5)])
    far = draw.chance(0.1) * 2**40
    topics = [str(topic) for topic in range(1, 2 + draw.below(5))]
    qrels, run = [], []
    for topic in topics:
        articles = [f"a{number}" for number in range(2 + draw.below(12))]
        for article in articles:
            if draw.chance(0.7):
                qrels += [(topic, article, draw.one_of(levels), *_span(draw, far)) for _ in _few(draw)]
            if draw.chance(0.7):
                score = draw.one_of((0.5, 1.0, 1 + 1e-9, 2.0, draw.unit()))
                run += [(topic, article, score - at, *_span(draw, far)) for at in _few(draw)]
    qrels.append((topics[0], "a0", 1, 5 + far, 20))
    run.append((topics[0], "a0", 1.0, far, 15))
    return f"{number:04} {'far' if far else 'near'}", draw.shuffled(qrels), draw.shuffled(run)


def _few(draw: Draw) -> range:
    return range(1 + draw.below(4))


def _span(draw: Draw, far: int) -> tuple[int, int]:
    return far + draw.below(60), draw.one_of((0, 1, 5, draw.below(40)))


def run_for(qrels: dict[str, dict[str, float]], number: int, depth: int) -> dict[str, dict[str, float]]:
    """Return a random run for real qrels; better documents tend to rank higher, some tie or are unjudged."""
    draw = Draw(2_000_000 + number)
    run: dict[str, dict[str, float]] = {}
    for topic in sorted(qrels):
        documents = [*sorted(qrels[topic]), *(f"unjudged {at}" for at in range(depth))]
        scores = {
            doc: round(draw.unit() * 3 + 0.5 * qrels[topic].get(doc, 0), 2)
            for doc in draw.shuffled(documents)[:depth]
        }
        if not draw.chance(0.05):
            run[topic] = scores
    return run
