"""Spans of text, half-open ``[start, stop)``, over all articles at once.

Unions and overlaps come from one sort and one sweep over whole arrays, in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import segments
from .segments import Bools, Ints


@dataclass(frozen=True, eq=False)
class Spans:
    """Spans of articles; those of one article may overlap and be in any place of the arrays.

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
        """Return no spans."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing, nothing)

    def __getitem__(self, rows: Ints | Bools) -> Spans:
        return Spans(self.article[rows], self.start[rows], self.stop[rows])

    def concat(self, other: Spans) -> Spans:
        """Return these spans and others."""
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
