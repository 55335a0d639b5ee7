"""Rank-biased overlap of ranked lists with ties, for many topics at once (Corsi and Urbano, 2024).

Values by depth are in one flat array with a segment per topic, as long as the longer list of the topic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .ranking import by_score
from .segments import Floats, Ints, Totals, ordinals, starts

#: Treatments of ties: equal items, mean over orders, and corrected for the information lost in ties.
TIES = ("w", "a", "b")
#: Values of two lists, in the order of their first axis.
VALUES = ("min", "max", "res", "ext")

#: Depths that are processed at a time, unless a topic has more: few enough for the processor cache.
_DEPTHS = 1 << 16
#: p to the power of this many times 1 / (1 - p) has no effect on a sum of doubles.
_NEGLIGIBLE = 40
#: Most terms of the tail that are added beyond the lists; the rest, for p near 1, has a closed form.
_MOST_TERMS = 100_000


@dataclass(frozen=True, eq=False)
class RankedLists:
    """The ranked list of each topic, with tie groups; rows are ordered by topic and score.

    Attributes:
        document: number of the document of each row; equal for equal documents of a topic in all runs.
        top: first rank of the tie group of each row.
        bottom: last rank of it.
        share: share of the tie group that is in the ranks down to the row.
        begin: first row of each topic, and one past the last row.
    """

    document: Ints
    top: Ints
    bottom: Ints
    share: Floats
    begin: Ints

    @classmethod
    def of(cls, topics: int, topic: Ints, score: Floats, document: Ints) -> RankedLists:
        """Rank rows in any order."""
        order, tied = by_score(topic, score)
        topic = topic[order]
        begin = np.append(starts(topic, topics), topic.size)
        new = np.ones(topic.size, dtype=np.bool_)
        new[1:] = ~tied
        first = np.flatnonzero(new)
        sizes = np.diff(np.append(first, topic.size))
        top, size = np.repeat([first + 1 - begin[topic[first]], sizes], sizes, axis=1)
        share = ordinals(np.repeat(first, sizes)) / size
        return cls(document[order], top, top + size - 1, share, begin)

    @property
    def lengths(self) -> Ints:
        """Number of documents of each topic."""
        return np.diff(self.begin)

    def part(self, first: int, stop: int) -> RankedLists:
        """Return some neighbouring topics."""
        rows = slice(int(self.begin[first]), int(self.begin[stop]))
        begin = self.begin[first : stop + 1] - self.begin[first]
        return RankedLists(self.document[rows], self.top[rows], self.bottom[rows], self.share[rows], begin)


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the depths, ``(1 - p) p^(d - 1)``, and their tails.

    Attributes:
        p: persistence, between 0 and 1.
        at: weight of each depth, from depth 1.
        tail: sum of weight / depth over all depths below the first 0, 1, ...
    """

    p: float
    at: Floats
    tail: Floats

    @classmethod
    def of(cls, p: float, depths: int) -> Weights:
        """Return the weights of a number of depths."""
        more = int(min(_NEGLIGIBLE / (1 - p), _MOST_TERMS)) + 1
        depth = np.arange(1, depths + more + 1, dtype=np.float64)
        weight = (1 - p) * p ** (depth - 1)
        terms = weight / depth
        rest = max(0.0, -(1 - p) / p * math.log1p(-p) - math.fsum(terms)) if more > _MOST_TERMS else 0.0
        # Added from the end: the difference of the whole sum and its beginning would lose all digits.
        tail = np.cumsum(np.append(rest, terms[::-1]))[::-1]
        return cls(p, weight[:depths], tail[: depths + 1])


class Overlaps:
    """Rank-biased overlap of pairs of ranked lists of the same topics.

    Args:
        lists: the lists of each run.
        documents: one more than the largest number of a document.
        p: persistence, between 0 and 1.
        ties: variant of RBO for documents with equal scores, one of ``TIES``.
    """

    def __init__(self, lists: Sequence[RankedLists], documents: int, p: float, ties: str) -> None:
        self.lists, self._documents, self._ties = lists, documents, ties
        longest = max(int(one.lengths.max(initial=0)) for one in lists)
        self._weights = Weights.of(p, 2 * longest)

    def with_others(self, one: int, others: Sequence[int]) -> Iterator[Floats]:
        """Yield the ``VALUES`` of a run and each other one, shape (4, topics); NaN where a list is empty."""
        first = self.lists[one]
        row = np.full(self._documents, -1, dtype=np.int64)
        row[first.document] = np.arange(first.document.size)
        for other in others:
            second = self.lists[other]
            longest = np.maximum(first.lengths, second.lengths)
            cuts = np.searchsorted(np.cumsum(longest), np.arange(_DEPTHS, int(longest.sum()), _DEPTHS))
            bounds = np.unique([0, *cuts.tolist(), longest.size]).tolist()
            parts = []
            for at, stop in pairwise(bounds):
                part = second.part(at, stop)
                parts.append(
                    self._of_topics(first.part(at, stop), part, row[part.document] - first.begin[at])
                )
            values = np.concatenate(parts, axis=1)
            values[:, (first.lengths == 0) | (second.lengths == 0)] = np.nan
            yield values

    def _of_topics(self, one: RankedLists, other: RankedLists, row: Ints) -> Floats:
        """Return the values of some topics; ``row`` is the row in ``one`` of each row of ``other`` or < 0."""
        short, long = np.sort([one.lengths, other.lengths], axis=0)
        depths, weights = _Depths(long), self._weights
        rows_b = np.flatnonzero(row >= 0)
        rows_a, topic = row[rows_b], np.repeat(np.arange(long.size), other.lengths)[rows_b]
        common = np.bincount(topic, minlength=long.size)
        (top_a, bottom_a, share_a), (top_b, bottom_b, share_b) = depths.groups(one), depths.groups(other)
        norm = depths.depth.astype(np.float64)
        if self._ties == "w":
            norm = (bottom_a + bottom_b) / 2
        elif self._ties == "b":
            norm = np.sqrt(
                (top_a - 1 + (norm - top_a + 1) * share_a) * (top_b - 1 + (norm - top_b + 1) * share_b)
            )
        # Ends of the tie groups of common documents; as equal items, all of a group are retrieved at its top.
        first_a, first_b = one.top[rows_a], other.top[rows_b]
        last_a, last_b = one.bottom[rows_a], other.bottom[rows_b]
        if self._ties == "w":
            last_a, last_b = first_a, first_b
        # Counts instead of shares by document: at each depth only one tie group of each run is in part above.
        overlap = depths.reached(np.maximum(last_a, last_b), topic).astype(np.float64)
        for low, high, shares in (
            (np.maximum(first_a, last_b), last_a, (share_a,)),
            (np.maximum(first_b, last_a), last_b, (share_b,)),
            (np.maximum(first_a, first_b), np.minimum(last_a, last_b), (share_a, share_b)),
        ):
            if (some := np.flatnonzero(low < high)).size:
                begun, ended = (depths.reached(ends[some], topic[some]) for ends in (low, high))
                overlap += math.prod(shares, start=begun - ended)
        agreement = overlap / norm
        at_short = agreement[np.maximum(depths.begin + short - 1, 0)] if norm.size else np.zeros(long.size)
        most, extrapolated = agreement, agreement
        # Below the shorter list: documents of the longer one that are not common.
        if (below := np.flatnonzero(depths.depth > short[depths.topic])).size:
            of_topic, is_a = depths.topic[below], one.lengths > other.lengths
            top, bottom, share = (
                np.where(is_a[of_topic], a[below], b[below])
                for a, b in ((top_a, top_b), (bottom_a, bottom_b), (share_a, share_b))
            )
            begun = bottom - depths.reached(np.where(is_a[topic], first_a, first_b), topic)[below]
            whole = np.where(share < 1, top - 1, bottom)
            whole -= depths.reached(np.where(is_a[topic], last_a, last_b), topic)[below]
            if self._ties == "w":
                whole = begun
            k, group = depths.depth[below] - short[of_topic], begun - whole
            most, extrapolated = agreement.copy(), agreement.copy()
            most[below] += (np.minimum(k, whole) + np.clip(k - whole, 0, group) * share) / norm[below]
            extrapolated[below] += k * at_short[of_topic] * (whole + group * share) / begun / norm[below]
        totals, weight = Totals(depths.topic, long.size), weights.at[depths.depth - 1]
        last = long + short - common
        p_long, p_last = weights.p**long, weights.p**last
        least = totals.of(agreement * weight) + common * weights.tail[long]
        # The closed form of the sum of (2d - last) / d, the largest agreement between both depths.
        above = 2 * p_long - p_last - last * (weights.tail[long] - weights.tail[last])
        highest = totals.of(most * weight) + above
        end = (common + (long - short) * at_short) / np.maximum(long, 1)
        return np.array([least, highest, highest - least, totals.of(extrapolated * weight) + end * p_long])


class _Depths:
    """Positions of the depths of all topics, down to the end of the longer list of each."""

    def __init__(self, long: Ints) -> None:
        self.topic = np.repeat(np.arange(long.size), long)
        #: First position of each topic.
        self.begin = np.cumsum(long) - long
        self.depth = ordinals(self.begin[self.topic])

    def groups(self, ranked: RankedLists) -> tuple[Ints, Ints, Floats]:
        """Return ends and share of the tie group at each depth; below the list each is a group of its own."""
        if ranked.top.size == self.depth.size:
            return ranked.top, ranked.bottom, ranked.share
        top, bottom, share = self.depth.copy(), self.depth.copy(), np.ones(self.depth.size)
        at = np.arange(ranked.top.size) + np.repeat(self.begin - ranked.begin[:-1], ranked.lengths)
        top[at], bottom[at], share[at] = ranked.top, ranked.bottom, ranked.share
        return top, bottom, share

    def reached(self, depth: Ints, topic: Ints) -> Ints:
        """Return at each position how many of some depths in topics it has reached."""
        counts = np.cumsum(np.bincount(self.begin[topic] + depth - 1, minlength=self.depth.size))
        return np.asarray(counts - np.append(0, counts)[self.begin][self.topic])
