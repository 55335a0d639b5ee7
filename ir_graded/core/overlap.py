"""Rank-biased overlap of ranked lists with ties, for many topics at once (Corsi and Urbano, 2024).

Values by depth are in one flat array with a segment per topic, as long as the longer list of the topic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .ranking import Scores
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
    def of(cls, topics: int, topic: Ints, score: Scores, document: Ints) -> RankedLists:
        """Rank rows in any order."""
        order = np.lexsort((-score, topic))
        topic, score = topic[order], score[order]
        begin = np.append(starts(topic, topics), topic.size)
        new = np.ones(topic.size, dtype=np.bool_)
        new[1:] = (topic[1:] != topic[:-1]) | (score[1:] != score[:-1])
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
        more = int(min(_NEGLIGIBLE / (1 - p), _MOST_TERMS)) + 1 if p < 1 else _MOST_TERMS
        depth = np.arange(1, depths + more + 1, dtype=np.float64)
        weight = (1 - p) * p ** (depth - 1)
        terms = weight / depth
        rest = 0.0
        if more > _MOST_TERMS:
            rest = max(0.0, -(1 - p) / p * math.log1p(-p) - math.fsum(terms))
        # Added from the end: the difference of the whole sum and its beginning would lose all digits.
        tail = np.cumsum(np.append(rest, terms[::-1]))[::-1]
        return cls(p, weight[:depths], tail[: depths + 1])


class Overlaps:
    """Rank-biased overlap of pairs of ranked lists of the same topics.

    Args:
        lists: the lists of each run.
        documents: one more than the largest number of a document.
        p: persistence, between 0 and 1.
        ties: one of ``TIES``.
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
            parts = [
                self._of_topics(first.part(at, stop), second.part(at, stop), row, int(first.begin[at]))
                for at, stop in pairwise(bounds)
            ]
            values = np.concatenate(parts, axis=1)
            values[:, (first.lengths == 0) | (second.lengths == 0)] = np.nan
            yield values

    def _of_topics(self, one: RankedLists, other: RankedLists, row: Ints, begin: int) -> Floats:
        """Return the values of some topics, given the rows of documents in the first run from ``begin``."""
        pair, weights = Pair(one, other, row[other.document] - begin, self._ties), self._weights
        if not pair.depth.size:
            return np.full((len(VALUES), pair.long.size), np.nan)
        agreement = pair.overlap() / pair.norm
        most, extrapolated, at_short = agreement, agreement, agreement[pair.last_short]
        if pair.below.size:
            below, k = pair.below, pair.depth[pair.below] - pair.short[pair.topic[pair.below]]
            whole, group, share = pair.unmatched()
            most, extrapolated = agreement.copy(), agreement.copy()
            found = np.minimum(k, whole) + np.clip(k - whole, 0, group) * share
            most[below] += found / pair.norm[below]
            found = k * at_short[pair.topic[below]] * (whole + group * share) / (whole + group)
            extrapolated[below] += found / pair.norm[below]
        totals, weight = Totals(pair.topic, pair.long.size), weights.at[pair.depth - 1]
        long, last = pair.long, pair.long + pair.short - pair.common
        p_long, p_last = weights.p**long, weights.p**last
        low = totals.of(agreement * weight) + pair.common * weights.tail[long]
        # The closed form of the sum of (2d - last) / d, the largest agreement between both depths.
        above = 2 * p_long - p_last - last * (weights.tail[long] - weights.tail[last])
        high = totals.of(most * weight) + above
        end = (pair.common + (long - pair.short) * at_short) / np.maximum(long, 1)
        return np.array([low, high, high - low, totals.of(extrapolated * weight) + end * p_long])


class Pair:
    """Two runs: their common documents, and quantities at each depth of each topic."""

    def __init__(self, one: RankedLists, other: RankedLists, row: Ints, ties: str) -> None:
        lengths = np.stack([one.lengths, other.lengths])
        self.short, self.long = lengths.min(axis=0), lengths.max(axis=0)
        self._lists, self._ties = (one, other), ties
        #: Topic of each position, its depth, and the first position of each topic.
        self.topic = np.repeat(np.arange(self.long.size), self.long)
        self._begin = np.cumsum(self.long) - self.long
        self.depth = ordinals(self._begin[self.topic])
        #: Positions below the end of the shorter list, and that end in each topic.
        self.below = np.flatnonzero(self.depth > self.short[self.topic])
        self.last_short = np.maximum(self._begin + self.short - 1, 0)
        matched = np.flatnonzero(row >= 0)
        self._rows = row[matched], matched
        self._matched_topic = np.repeat(np.arange(self.long.size), other.lengths)[matched]
        #: Number of common documents of each topic.
        self.common = np.bincount(self._matched_topic, minlength=self.long.size)
        self._longer = lengths[0] > lengths[1], lengths[1] > lengths[0]
        sides = [self._groups(ranked) for ranked in self._lists]
        #: Share of the tie group at a depth that is in the ranks down to it, by run.
        self._share = [share for _, _, share in sides]
        if ties == "w":
            self.norm = (sides[0][1] + sides[1][1]) / 2
        elif ties == "a":
            self.norm = self.depth.astype(np.float64)
        else:
            a, b = (top - 1 + (self.depth - top + 1) * share for top, _, share in sides)
            self.norm = np.sqrt(a * b)

    def _groups(self, ranked: RankedLists) -> tuple[Ints, Ints, Floats]:
        """Return ends and share of the tie group at each depth; below the list each is a group of its own."""
        if ranked.top.size == self.depth.size:
            return ranked.top, ranked.bottom, ranked.share
        top, bottom, share = self.depth.copy(), self.depth.copy(), np.ones(self.depth.size)
        offset = self._begin - ranked.begin[:-1]
        at = np.arange(ranked.top.size) + np.repeat(offset, ranked.lengths)
        top[at], bottom[at], share[at] = ranked.top, ranked.bottom, ranked.share
        return top, bottom, share

    def _from(self, depth: Ints, topic: Ints) -> Ints:
        """Return at each depth how many documents have at most the given depths."""
        counts = np.cumsum(np.bincount(self._begin[topic] + depth - 1, minlength=self.depth.size))
        before = np.append(0, counts)[self._begin]
        return np.asarray(counts - before[self.topic])

    def _within(self, low: Ints, high: Ints) -> Ints | None:
        """Return at each depth how many common documents have it in [low, high); None without any."""
        some = np.flatnonzero(low < high)
        if not some.size:
            return None
        begin = self._begin[self._matched_topic[some]] - 1
        size = self.depth.size + 1
        steps = np.bincount(begin + low[some], minlength=size) - np.bincount(
            begin + high[some], minlength=size
        )
        return np.cumsum(steps)[:-1]

    def overlap(self) -> Floats:
        """Return the overlap at each depth: the sum over common documents of the product of their shares."""
        (one, other), (rows, others) = self._lists, self._rows
        top_a, bottom_a, top_b, bottom_b = (
            one.top[rows],
            one.bottom[rows],
            other.top[others],
            other.bottom[others],
        )
        topic, (a, b) = self._matched_topic, self._share
        if self._ties == "w":
            return self._from(np.maximum(top_a, top_b), topic).astype(np.float64)
        # Counts instead of shares by document: at each depth only one tie group of each run is in part above.
        found = self._from(np.maximum(bottom_a, bottom_b), topic).astype(np.float64)
        for low, high, shares in (
            (np.maximum(top_a, bottom_b), bottom_a, (a,)),
            (np.maximum(top_b, bottom_a), bottom_b, (b,)),
            (np.maximum(top_a, top_b), np.minimum(bottom_a, bottom_b), (a, b)),
        ):
            if (count := self._within(low, high)) is not None:
                found += math.prod(shares, start=count)
        return found

    def unmatched(self) -> tuple[Ints, Ints, Floats]:
        """Return of documents in the longer run only how many are above each depth below the shorter run.

        These are those of tie groups that end above or at it, those of the group that continues below, and
        the share of this group.
        """
        depths, topics = [], []
        for ranked, rows, longer in zip(self._lists, self._rows, self._longer, strict=True):
            topic = np.repeat(np.arange(self.long.size), ranked.lengths)
            alone = longer[topic]
            alone[rows] = False
            some = np.flatnonzero(alone)
            depths.append((ranked.top[some], ranked.bottom[some]))
            topics.append(topic[some])
        top, bottom = (np.concatenate(each) for each in zip(*depths, strict=True))
        of_rows = np.concatenate(topics)
        whole, begun = (self._from(each, of_rows)[self.below] for each in (bottom, top))
        if self._ties == "w":
            return begun, np.zeros_like(begun), np.ones(begun.size)
        first = self._longer[0][self.topic[self.below]]
        share = np.where(first, self._share[0][self.below], self._share[1][self.below])
        return whole, begun - whole, share
