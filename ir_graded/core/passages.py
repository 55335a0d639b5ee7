"""Spans of text, half-open ``[start, stop)``, over all articles at once, and the rows of a run with passages.

Unions and overlaps take one sort and one sweep in whole numbers. Rows that neither find highlighted text nor
repeat text are kept as lengths only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np

from . import segments
from .segments import Bools, Ints, pair_key
from .struct import Join, Struct, light_dataclass


@light_dataclass(frozen=True, eq=False)
class Spans(Struct):
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

    def union_length(self, articles: int) -> Ints:
        """Return the number of positions in the union of the spans of each article, shape ``(articles,)``."""
        order = np.lexsort((self.start, self.article))
        article, start, stop = self.article[order], self.start[order], self.stop[order]
        first = segments.starts(article, articles)[article]
        reached = segments.cumulative_maximum_before(stop, first)
        added = np.maximum(stop - np.maximum(start, reached), 0)
        return segments.whole_total(added, article, articles)

    def overlapping(self) -> tuple[Ints, Ints]:
        """Return pairs of neighbouring overlapping spans: at least one pair per article that has any.

        Spans that only touch do not overlap. Neither does an empty span at the start of another.
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
        article, position, _, depth = _edges(Spans.concat([self, other]), openings_first=False)
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


#: Unit of budgets that needs no column.
CHARACTERS = "characters"


@dataclass(frozen=True)
class Budget:
    """Limit of the text read: the first row that exceeds it is cut or dropped, later rows are dropped.

    Attributes:
        size: the highest sum of the costs of the rows.
        unit: 'characters', or the column of the costs.
        cuts: whether the first row that exceeds the budget is cut.
    """

    size: int
    unit: str = CHARACTERS
    cuts: bool = True


@light_dataclass(frozen=True, eq=False)
class PassageRows(Struct):
    """The rows of a run in rank order; each is a passage of an article.

    Attributes:
        topics: the topics that have rows, each once.
        sizes: number of rows of each of them.
        down_to: number of characters in the rows of a topic up to each row, by topic in the order of
            ``topics``, then by rank.
        topic: topic of each kept row: rows of requested articles, and rows of articles whose rows overlap.
        rank: its rank among the rows of its topic, from 1.
        spans: its span. The article is a position in :class:`Levels`, or a negative number within its topic.
        overlap: description of two rows of one article that overlap; empty where none do.
        costs: sums of costs like ``down_to``, by unit.
    """

    topics: Ints
    sizes: Ints
    down_to: Ints
    topic: Ints
    rank: Ints
    spans: Spans
    overlap: str = ""
    costs: Mapping[str, Ints] = field(default_factory=dict)

    APART = frozenset({"topics", "sizes", "down_to", "costs"})
    SHARED: ClassVar[Join] = {"overlap": partial(max, key=bool)}

    @classmethod
    def empty(cls) -> PassageRows:
        """Return no rows."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing, nothing, nothing, nothing, Spans.empty())

    def ordered(self) -> PassageRows:
        """Return these rows with the kept ones in order of topic and rank."""
        key = pair_key(self.topic, self.rank)
        if (key[1:] > key[:-1]).all():
            return self
        return self[np.argsort(key)]

    def filled(self, budget: Budget) -> float:
        """Return the share of the budget that the rows of a topic fill; the mean over topics."""
        costs = self.down_to if budget.unit == CHARACTERS else self.costs[budget.unit]
        within = np.minimum(costs, budget.size) if budget.cuts else np.where(costs <= budget.size, costs, 0)
        return float((np.maximum.reduceat(within, np.cumsum(self.sizes) - self.sizes) / budget.size).mean())

    def within(self, budget: Budget | None) -> PassageRows:
        """Return the rows that fit in the budget of each topic, the last one perhaps cut."""
        if budget is None or not self.topics.size:
            return self
        costs = self.down_to if budget.unit == CHARACTERS else self.costs[budget.unit]
        slot = np.repeat(np.arange(self.topics.size, dtype=np.int64), self.sizes)
        begin = np.cumsum(self.sizes) - self.sizes
        is_first = segments.ordinals(begin[slot]) == 1
        above, before = (
            np.where(is_first, 0, np.concatenate(([0], sums[:-1]))) for sums in (self.down_to, costs)
        )
        length, whole = self.down_to - above, costs <= budget.size
        # The first row that exceeds the budget. Python integers, since the products may exceed 64 bits.
        over = np.flatnonzero(~whole & (before <= budget.size))
        part = length[over].astype(object) * (budget.size - before[over]) // (costs - before)[over]
        length[over] = part * budget.cuts
        keeps = whole.copy()
        keeps[over] = length[over] > 0
        number = np.zeros(int(self.topics.max()) + 1, dtype=np.int64)
        number[self.topics] = begin
        at = number[self.topic] + self.rank - 1
        kept, at = self[keeps[at]], at[keeps[at]]
        return replace(
            kept,
            sizes=segments.count(slot[keeps], self.topics.size),
            down_to=(above + length)[keeps],
            spans=replace(kept.spans, stop=kept.spans.start + length[at]),
            costs={},
        )


class RetrievedLengths:
    """Characters in the first rows of each of ``topics`` topics."""

    def __init__(self, rows: PassageRows, topics: int) -> None:
        self._down_to = rows.down_to
        self.sizes: Ints = np.zeros(topics, dtype=np.int64)
        self.sizes[rows.topics] = rows.sizes
        self._begin = np.zeros(topics, dtype=np.int64)
        self._begin[rows.topics] = np.cumsum(rows.sizes) - rows.sizes

    def down_to(self, rank: Ints, topic: Ints) -> Ints:
        """Return the characters in the first ``rank`` rows of ``topic``, or in all if there are fewer."""
        rank = np.minimum(rank, self.sizes[topic])
        found = np.zeros(rank.size, dtype=np.int64)
        found[rank > 0] = self._down_to[(self._begin[topic] + rank - 1)[rank > 0]]
        return found

    def first(self, cutoff: int | None) -> Ints:
        """Return the characters in the first ``cutoff`` rows of each topic (None: all), ``(topics,)``."""
        every = np.arange(self.sizes.size, dtype=np.int64)
        ranks = self.sizes if cutoff is None else np.full(every.size, cutoff, dtype=np.int64)
        return self.down_to(ranks, every)


class Cuts:
    """Rows and gold spans cut into pieces wherever one of them begins or ends.

    Piece i is between cuts i and i + 1; the piece after the last cut of an article is empty.
    """

    def __init__(self, rows: Spans, gold: Spans) -> None:
        article = np.concatenate((rows.article, gold.article) * 2)
        position = np.concatenate((rows.start, gold.start, rows.stop, gold.stop))
        order = order_of(article, position)
        article, position = article[order], position[order]
        new = np.ones(article.size, dtype=np.bool_)
        new[1:] = (article[1:] != article[:-1]) | (position[1:] != position[:-1])
        cut = np.empty(order.size, dtype=np.int64)
        cut[order] = np.cumsum(new) - 1
        self._begin, self._end = np.split(cut, 2)
        article, position = article[new], position[new]
        self._size = np.zeros(article.size, dtype=np.int64)
        self._size[:-1] = np.where(article[1:] == article[:-1], np.diff(position), 0)
        self._rows = rows.article.size
        edges = np.zeros(article.size + 1, dtype=np.int64)
        np.add.at(edges, self._begin[self._rows :], 1)
        np.add.at(edges, self._end[self._rows :], -1)
        self._in_gold: Bools = np.cumsum(edges[:-1]) > 0

    def counts(self) -> tuple[Ints, Ints, Ints]:
        """Return for each row its gold characters, those first found in it, and those in a better row."""
        begin, end = self._begin[: self._rows], self._end[: self._rows]
        of_gold = np.where(self._in_gold, self._size, 0)
        sums = np.concatenate(([0], np.cumsum(of_gold)))
        each = sums[end] - sums[begin]
        self._holder = holder = self._first_holder(begin, end)
        held = np.flatnonzero(holder < self._rows)
        first, own = np.zeros((2, self._rows), dtype=np.int64)
        np.add.at(first, holder[held], of_gold[held])
        np.add.at(own, holder[held], self._size[held])
        length = np.concatenate(([0], np.cumsum(self._size)))
        return each, first, length[end] - length[begin] - own

    def new_gold(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the row that finds each piece of gold first, its length, and two lengths before it.

        These are of the gold first found in the row and of the other text in it, in characters.
        """
        pieces = np.flatnonzero(self._in_gold & (self._holder < self._rows) & (self._size > 0))
        pieces = pieces[np.argsort(self._holder[pieces], kind="stable")]
        row, size = self._holder[pieces], self._size[pieces]
        sums = np.concatenate(([0], np.cumsum(size)))
        found = sums[:-1] - sums[np.searchsorted(row, row)]
        others = np.concatenate(([0], np.cumsum(np.where(self._in_gold, 0, self._size))))
        return row, size, found, others[pieces] - others[self._begin[row]]

    def first_held(self) -> tuple[Ints, Ints, Ints]:
        """Return the row that first holds each piece, the length of the piece, and its place in the row."""
        begin = self._begin[: self._rows]
        holder = self._first_holder(begin, self._end[: self._rows])
        pieces = np.flatnonzero((holder < self._rows) & (self._size > 0))
        row, place = holder[pieces], np.cumsum(self._size) - self._size
        return row, self._size[pieces], place[pieces] - place[begin[row]]

    def _first_holder(self, begin: Ints, end: Ints) -> Ints:
        """Return the first row that covers each piece, or the number of rows where none does."""
        # Each row is entered at two blocks of 2^level pieces that together cover its range. Blocks then pass
        # their row down to their halves.
        some = np.flatnonzero(end > begin)
        level = np.frexp((end - begin)[some])[1] - 1
        best = np.full(self._size.size, self._rows, dtype=np.int64)
        for power in range(int(level.max(initial=-1)), -1, -1):
            here = some[level == power]
            np.minimum.at(best, begin[here], here)
            np.minimum.at(best, end[here] - (1 << power), here)
            half = 1 << power >> 1
            if half:
                lower = best.copy()
                np.minimum(lower[half:], best[:-half], out=lower[half:])
                best = lower
        return best


@light_dataclass(frozen=True, eq=False)
class Found:
    """The highlighted text in each kept row, in characters.

    Attributes:
        rows: the rows, by topic and rank.
        lengths: sums over all rows.
        total: number of highlighted characters of each topic, shape ``(topics,)``.
        each: highlighted characters in each row.
        first: highlighted characters in each row that are not in a better row.
        repeated: characters of the row, highlighted or not, that are also in a better row.
        cuts: the rows cut into pieces that are highlighted or not.
    """

    rows: PassageRows
    lengths: RetrievedLengths
    total: Ints
    each: Ints
    first: Ints
    repeated: Ints
    cuts: Cuts

    @classmethod
    def of(cls, rows: PassageRows, highlighted: Spans, topic_of: Ints, topics: int) -> Found:
        """Find the union of highlighted spans in rows; ``topic_of`` is the topic of each article."""
        rows = rows.ordered()
        size = highlighted.stop - highlighted.start
        total = segments.whole_total(size, topic_of[highlighted.article], topics)
        # Number all articles, also those that are not in the qrels, in ascending order of topic.
        offset = int(-rows.spans.article.min(initial=0))
        key = rows.topic * (topic_of.size + offset) + rows.spans.article + offset
        known = np.unique(key)
        of_gold = topic_of[highlighted.article] * (topic_of.size + offset) + highlighted.article + offset
        at = np.searchsorted(known, of_gold)
        at[at == known.size] = 0
        found = known[at] == of_gold if known.size else np.zeros(at.size, dtype=np.bool_)
        article = np.searchsorted(known, key)
        gold = Spans(at[found], highlighted.start[found], highlighted.stop[found])
        cuts = Cuts(Spans(article, rows.spans.start, rows.spans.stop), gold)
        return cls(rows, RetrievedLengths(rows, topics), total, *cuts.counts(), cuts)
