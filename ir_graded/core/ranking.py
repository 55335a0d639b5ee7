"""Ranks from scores: by score descending, ties by doc_id descending, as in trec_eval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .segments import Bools, Ints

Keys = npt.NDArray[np.uint64]
Scores = npt.NDArray[Any]  # float32 or float64

_HALF = np.uint64(32)
# Up to about this many comparisons per row, comparing each hit with the rows of its topic beats sorting.
_COMPARISONS_PER_ROW = 3


class Rows:
    """Scored documents.

    Attributes:
        score: their scores, in the precision in which they are compared.
        topic: topic number of each.
        doc_ids: function from row numbers to doc_ids, called for tied rows only.
    """

    def __init__(self, score: Scores, topic: Ints, doc_ids: Callable[[Ints], Sequence[str]]) -> None:
        self.score = score
        self.topic = topic
        self.doc_ids = doc_ids


class Grouped:
    """Scored documents grouped by topic, the topics in any order.

    Attributes:
        groups: the rows of each topic.
        score, topic, doc_ids: as in :class:`Rows`.
    """

    def __init__(self, score: Scores, groups: Groups, doc_ids: Callable[[Ints], Sequence[str]]) -> None:
        self.score = score
        self.groups = groups
        self.doc_ids = doc_ids

    @property
    def topic(self) -> Ints:
        """Topic number of each row."""
        return self.groups.topic


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of neighbouring rows of one topic.

    Attributes:
        number: topic number of each group.
        begin: first row of each group, and one past the last group.
    """

    number: Ints
    begin: Ints

    @cached_property
    def topic(self) -> Ints:
        """Topic number of each row."""
        return np.repeat(self.number, np.diff(self.begin))

    def part(self, first: int, stop: int) -> Groups:
        """Return some neighbouring groups, with rows counted from the first of them."""
        return Groups(self.number[first:stop], self.begin[first : stop + 1] - self.begin[first])

    @cached_property
    def distinct(self) -> bool:
        """True where every topic is one group."""
        number = np.sort(self.number)
        return bool((number[1:] != number[:-1]).all())

    def lengths(self, topics: int) -> Ints:
        """Return the number of rows of each topic, shape ``(topics,)``."""
        length = np.zeros(topics, dtype=np.int64)
        np.add.at(length, self.number, np.diff(self.begin))
        return length

    def spans(self, topic: Ints) -> tuple[Ints, Ints]:
        """Return the first row of each given topic and one past its last, if every topic is one group."""
        order = np.argsort(self.number, kind="stable")
        group = order[np.searchsorted(self.number, topic, sorter=order)]
        return self.begin[group], self.begin[group + 1]


def is_flat(score: Scores, groups: Groups) -> bool:
    """Return whether all rows of every topic have the same score, so that scores rank nothing."""
    first, last = score[groups.begin[:-1]], score[groups.begin[1:] - 1]
    # The ends of the groups mostly decide.
    if (first != last).any():
        return False
    changes = score[1:] != score[:-1]
    changes[groups.begin[1:-1] - 1] = False
    if changes.any():
        return False
    # A topic may have several groups.
    order = np.lexsort((first, groups.number))
    number, first = groups.number[order], first[order]
    return not ((number[1:] == number[:-1]) & (first[1:] != first[:-1])).any()


def ranks(rows: Rows | Grouped, hits: Rows) -> Ints:
    """Return the rank of each hit, from 1, among the rows of its topic; hits are some of these documents."""
    if not hits.topic.size:
        return np.zeros(0, dtype=np.int64)
    above, tied = _count_above_and_tied(rows, hits)
    rank = above + 1
    among_tied = np.flatnonzero(tied > 1)
    if among_tied.size:
        rank[among_tied] += _rank_among_tied(rows, hits, among_tied)
    return rank


def _count_above_and_tied(rows: Rows | Grouped, hits: Rows) -> tuple[Ints, Ints]:
    """Return the number of rows with a higher score in the topic of each hit, and with its score."""
    if isinstance(rows, Grouped):
        start, stop = rows.groups.spans(hits.topic)
        if _is_descending(rows):
            first = _bisect(rows.score, hits.score, start, stop, np.greater)
            return first - start, _bisect(rows.score, hits.score, first, stop, np.greater_equal) - first
        if int((stop - start).sum()) <= _COMPARISONS_PER_ROW * rows.score.size:
            return _compare(rows.score, hits.score, start, stop)
    return _sort(rows, hits)


def _is_descending(rows: Grouped) -> bool:
    """Return whether the scores of every topic are in descending order."""
    in_order = rows.score[1:] <= rows.score[:-1]
    in_order[rows.groups.begin[1:-1] - 1] = True
    return bool(in_order.all())


def _bisect(
    score: Scores, wanted: Scores, low: Ints, high: Ints, before: Callable[[Any, Any], Bools]
) -> Ints:
    """Return for each wanted score the first row in [low, high) whose score is not ``before`` it."""
    low, high = low.copy(), high.copy()
    while True:
        open_ = low < high
        if not open_.any():
            return low
        middle = np.where(open_, (low + high) // 2, 0)
        goes_before = before(score[middle], wanted)
        low = np.where(open_ & goes_before, middle + 1, low)
        high = np.where(open_ & ~goes_before, middle, high)


def _compare(score: Scores, wanted: Scores, start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Count the rows above and tied by comparing each hit with all rows of its topic."""
    length = stop - start
    offset = np.concatenate(([0], np.cumsum(length)[:-1]))
    row = np.arange(int(length.sum()), dtype=np.int64) + np.repeat(start - offset, length)
    of_row, of_hit = score[row], np.repeat(wanted, length)
    above = np.add.reduceat(of_row > of_hit, offset, dtype=np.int64)
    return above, np.add.reduceat(of_row == of_hit, offset, dtype=np.int64)


def _sort(rows: Rows | Grouped, hits: Rows) -> tuple[Ints, Ints]:
    """Count the rows above and tied by sorting keys, for rows in any order."""
    key, wanted = _keys(rows, hits)
    ordered = np.sort(key)
    left = np.searchsorted(ordered, wanted, side="left")
    right = np.searchsorted(ordered, wanted, side="right")
    first = np.searchsorted(ordered, wanted >> _HALF << _HALF, side="left")
    return (left - first).astype(np.int64), (right - left).astype(np.int64)


def _keys(rows: Rows | Grouped, hits: Rows) -> tuple[Keys, Keys]:
    """Return a sortable number per row and per hit: topic in the high half, score code in the low half."""
    code = _descending_codes(np.concatenate((rows.score, hits.score)))
    key = np.concatenate((rows.topic, hits.topic)).astype(np.uint64)
    key <<= _HALF
    key |= code
    return key[: rows.score.size], key[rows.score.size :]


def _descending_codes(score: Scores) -> npt.NDArray[np.uint32]:
    """Return a number per score: smaller for higher scores, the same for equal ones."""
    if score.dtype != np.float32:
        return np.unique(-score, return_inverse=True)[1].astype(np.uint32)
    bits = (score + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    negative = bits.view(np.int32) >> 31
    return np.asarray(bits ^ (~negative.view(np.uint32) & np.uint32(0x7FFFFFFF)))


def _rank_among_tied(rows: Rows | Grouped, hits: Rows, among: Ints) -> Ints:
    """Return how many documents with the score of each hit have a larger doc_id and so a better rank."""
    near = _rows_of_topics(rows, hits.topic[among])
    key, wanted = _keys(
        Rows(rows.score[near], rows.topic[near], rows.doc_ids),
        Rows(hits.score[among], hits.topic[among], hits.doc_ids),
    )
    tied = _positions_of_keys(key, np.unique(wanted))
    names = rows.doc_ids(near[tied])
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True), dtype=np.int64)
    order = by_name[np.argsort(key[tied[by_name]], kind="stable")]
    ordered = key[tied[order]]
    place = np.arange(tied.size) - np.searchsorted(ordered, ordered, side="left")
    known = {
        (number, names[at]): n
        for number, at, n in zip(ordered.tolist(), order.tolist(), place.tolist(), strict=True)
    }
    hit_names = hits.doc_ids(among)
    return np.array([known[found] for found in zip(wanted.tolist(), hit_names, strict=True)], dtype=np.int64)


def _rows_of_topics(rows: Rows | Grouped, topic: Ints) -> Ints:
    """Return the rows of some topics, ascending; all rows where they are not grouped by topic."""
    if not isinstance(rows, Grouped):
        return np.arange(rows.score.size, dtype=np.int64)
    start, stop = rows.groups.spans(np.unique(topic))
    return np.concatenate([np.arange(*span) for span in zip(np.sort(start), np.sort(stop), strict=True)])


def _positions_of_keys(key: Keys, wanted: Keys) -> Ints:
    """Return the positions of the keys that are in ``wanted``, which is sorted."""
    at = np.searchsorted(wanted, key)
    at[at == wanted.size] = 0
    return np.flatnonzero(wanted[at] == key)
