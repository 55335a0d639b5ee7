"""Spans of text, half-open ``[start, stop)``, over all articles at once.

Unions and overlaps take one sort and one sweep over whole arrays, in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import segments
from .segments import Bools, Ints


@dataclass(frozen=True, eq=False)
class Spans:
    """Spans of articles; spans of one article may overlap and may be anywhere in the arrays.

    Attributes:
        article: number of the article of each span.
        start: its first position, from 0.
        stop: one past its last position.
    """

    article: Ints
    start: Ints
    stop: Ints

    @classmethod
    def empty(cls) -> Spans:
        """Return an empty set of spans."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing, nothing)

    def __getitem__(self, rows: Ints | Bools) -> Spans:
        return Spans(self.article[rows], self.start[rows], self.stop[rows])

    def concat(self, other: Spans) -> Spans:
        """Return these spans followed by ``other``."""
        return Spans(
            np.concatenate((self.article, other.article)),
            np.concatenate((self.start, other.start)),
            np.concatenate((self.stop, other.stop)),
        )

    def union_length(self, articles: int) -> Ints:
        """Return the number of positions in the union of the spans of each article, shape ``(articles,)``."""
        order = np.lexsort((self.start, self.article))
        article, start, stop = self.article[order], self.start[order], self.stop[order]
        first = segments.starts(article, articles)[article]
        reached = segments.cumulative_maximum_before(stop, first)
        added = np.maximum(stop - np.maximum(start, reached), 0)
        sums = np.concatenate(([0], np.cumsum(added)))
        bounds = np.append(segments.starts(article, articles), article.size)
        return np.asarray(sums[bounds[1:]] - sums[bounds[:-1]])

    def overlapping(self) -> tuple[Ints, Ints]:
        """Return pairs of neighbouring overlapping spans: at least one pair per article that has any.

        Spans overlap where each begins before the other ends. Spans that only touch do not overlap. Neither
        does an empty span at the start of another.
        """
        # Empty spans come first, so that they do not separate spans that begin at the same position.
        order = order_of(self.article, self.start * 2 + (self.stop > self.start))
        ahead, behind = order[:-1], order[1:]
        same = self.article[ahead] == self.article[behind]
        overlap = same & (self.start[behind] < self.stop[ahead]) & (self.start[ahead] < self.stop[behind])
        return ahead[overlap], behind[overlap]

    def meeting(self, other: Spans, *, touching: bool = False) -> tuple[Ints, Ints]:
        """Return pairs of a span and a span of ``other`` in the same article that share a position.

        With ``touching``, a shared end is enough. Spans with a negative article are never paired.
        """
        order = np.lexsort((other.start, other.article))
        ordered = other[order]
        # Replace positions by their rank, so that they can be searched together with the article.
        known = np.unique(ordered.start)
        key = ordered.article * (known.size + 1) + np.searchsorted(known, ordered.start)
        longest = int((other.stop - other.start).max(initial=0))
        base = self.article * (known.size + 1)
        first = np.searchsorted(key, base + np.searchsorted(known, self.start - longest))
        last = np.searchsorted(key, base + np.searchsorted(known, self.stop, side="right"))
        size = np.where(self.article < 0, 0, np.maximum(last - first, 0))
        own = np.repeat(np.arange(size.size, dtype=np.int64), size)
        at = np.arange(own.size, dtype=np.int64) + np.repeat(first - (np.cumsum(size) - size), size)
        start = np.maximum(ordered.start[at], self.start[own])
        meets = np.minimum(ordered.stop[at], self.stop[own]) - start >= (0 if touching else 1)
        return own[meets], order[at[meets]]

    def union(self) -> Spans:
        """Return the union of the spans of each article: ascending, not empty, not touching each other."""
        article, position, change, depth = _edges(self[self.stop > self.start], openings_first=True)
        first, last = np.flatnonzero(depth == change), np.flatnonzero(depth == 0)
        return Spans(article[first], position[first], position[last])

    def intersection(self, other: Spans) -> Spans:
        """Return the overlap of two unions, see :meth:`union`."""
        article, position, _, depth = _edges(self.concat(other), openings_first=False)
        first = np.flatnonzero(depth == 2)  # noqa: PLR2004  # in both
        return Spans(article[first], position[first], position[first + 1])


def order_of(article: Ints, position: Ints) -> Ints:
    """Return the order of positions by article."""
    width = int(position.max(initial=0)) + 1
    if int(article.max(initial=0)) < 2**62 // width:
        return np.argsort(article * width + position).astype(np.int64)
    return np.lexsort((position, article)).astype(np.int64)


def _edges(spans: Spans, *, openings_first: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """Return article, position and change (1 or -1) of each edge, and the number of spans open after it."""
    article = np.concatenate((spans.article, spans.article))
    position = np.concatenate((spans.start, spans.stop))
    change = np.repeat(np.array([1, -1], dtype=np.int64), spans.article.size)
    order = np.lexsort((-change if openings_first else change, position, article))
    return article[order], position[order], change[order], np.cumsum(change[order])
