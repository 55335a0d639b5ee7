"""Ranks from scores: by score descending, then by doc_id descending, as in trec_eval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .judged_run import TieGroups
from .segments import Bools, Ints
from .struct import light_dataclass

Keys = npt.NDArray[np.uint64]
Scores = npt.NDArray[Any]  # float32 or float64

_HALF = np.uint64(32)
#: From this number of rows per hit, ranking the hits alone is faster than ranking all rows.
_FEW_HITS = 16
#: Up to about this number of comparisons per row, comparing each hit with all rows is faster than sorting.
_COMPARISONS_PER_ROW = 3
#: Bytes that are compared at a time.
_WORD = 8
#: Masks that keep the first 0 to 8 bytes of a big-endian number.
_FIRST_BYTES = np.array(
    [((1 << 64) - 1) >> (8 * count) ^ ((1 << 64) - 1) for count in range(9)], dtype=np.uint64
)


def order_numbers(names: Sequence[str]) -> Ints:
    """Return a number per name that sorts like the names; equal names get equal numbers."""
    # The bytes of UTF-8 sort like Python strings, by code point.
    data = "".join(names).encode("utf-8", "surrogatepass")
    length = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    if int(length.sum()) < len(data):
        encoded = (name.encode("utf-8", "surrogatepass") for name in names)
        length = np.fromiter(map(len, encoded), dtype=np.int64, count=len(names))
    begin = np.cumsum(length) - length
    # One word starts at each byte, without a copy; the end is padded with zeros.
    padded = data + bytes(_WORD)
    words = np.ndarray((len(data) + 1,), dtype=">u8", buffer=padded, strides=(1,))

    def word(number: int, rows: Ints | slice) -> npt.NDArray[np.uint64]:
        left = np.clip(length[rows] - _WORD * number, 0, _WORD)
        found = words[np.minimum(begin[rows] + _WORD * number, len(data))].astype(np.uint64)
        return np.asarray(found & _FIRST_BYTES[left])

    order = _dense(word(0, slice(None)))
    for number in range(1, -(-int(length.max(initial=0)) // _WORD)):
        # Compare further only names that agree so far and have more bytes.
        rows = np.flatnonzero((np.bincount(order)[order] > 1) & (length > _WORD * number))
        if not rows.size:
            break
        following = np.zeros(order.size, dtype=np.int64)
        following[rows] = _dense(word(number, rows)) + 1
        order = _dense(order << 32 | following)
    if b"\0" in data:
        # Padding zeros cannot be told from zero bytes of a name, so compare lengths.
        order = _dense(order << 32 | _dense(length))
    return order


def _dense(values: npt.NDArray[np.integer]) -> Ints:
    """Return for each value the number of distinct smaller values."""
    order = np.argsort(values)
    ordered = values[order]
    steps = np.zeros(values.size, dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
    number = np.empty_like(steps)
    number[order] = steps
    return number


@light_dataclass(frozen=True, eq=False)
class Groups:
    """Groups of neighbouring rows of one topic."""

    #: Topic number of each group.
    number: Ints
    #: First row of each group, and one past the last group.
    begin: Ints

    @cached_property
    def topic(self) -> Ints:
        """Topic number of each row."""
        return np.repeat(self.number, np.diff(self.begin))

    def of_topics(self, topic: Ints) -> Ints:
        """Return the rows of some topics, ascending."""
        wanted = np.flatnonzero(np.isin(self.number, topic))
        spans = zip(self.begin[wanted].tolist(), self.begin[wanted + 1].tolist(), strict=True)
        return np.concatenate([np.arange(*span, dtype=np.int64) for span in spans])

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


@light_dataclass(frozen=True, eq=False)
class Rows:
    """Scored documents, grouped by topic.

    Attributes:
        score: their scores, in the precision in which they are compared.
        groups: the rows of each topic.
        doc_ids: the documents of some rows, called for tied ones only.
    """

    score: Scores
    groups: Groups
    doc_ids: Callable[[Ints], Sequence[str]]

    def part(self, rows: Ints) -> Rows:
        """Return some rows, given in ascending order."""
        topic = self.groups.topic[rows]
        begin = np.flatnonzero(np.diff(topic, prepend=-1))
        groups = Groups(topic[begin], np.append(begin, topic.size))
        return Rows(self.score[rows], groups, lambda wanted: self.doc_ids(rows[wanted]))


@light_dataclass(frozen=True, eq=False)
class Hits:
    """Scored documents whose ranks are needed, with topics, and fields as in :class:`Rows`."""

    score: Scores
    topic: Ints
    doc_ids: Callable[[Ints], Sequence[str]]
    #: Row of each document; None if it is not known.
    row: Ints | None = None

    def part(self, wanted: Ints) -> Hits:
        """Return some of the hits, without their rows."""
        return Hits(self.score[wanted], self.topic[wanted], lambda some: self.doc_ids(wanted[some]))


def is_flat(score: Scores, groups: Groups) -> bool:
    """Return whether all rows of every topic have the same score, so that scores give no ranking."""
    first, last = score[groups.begin[:-1]], score[groups.begin[1:] - 1]
    # The first and last row of a group usually settle it.
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


def ranks(rows: Rows, hits: Hits) -> tuple[Ints, TieGroups | None]:
    """Return the rank of each hit, from 1, among the rows of its topic, and its tie group.

    The tie groups are None where no hit ties with another row.
    """
    if not hits.topic.size:
        return np.zeros(0, dtype=np.int64), None
    few = _FEW_HITS * hits.topic.size < rows.score.size and rows.groups.distinct
    counted = _count_above_and_tied(rows, hits) if few else None
    if counted is None:
        return _rank_all(rows, hits)
    above, tied = counted
    rank = above + 1
    among_tied = np.flatnonzero(tied > 1)
    if not among_tied.size:
        return rank, None
    some = hits.part(among_tied)
    rank[among_tied], _ = _rank_all(rows.part(rows.groups.of_topics(some.topic)), some)
    return rank, TieGroups(above + 1, tied)


def _count_above_and_tied(rows: Rows, hits: Hits) -> tuple[Ints, Ints] | None:
    """Return the number of rows with a higher and an equal score; None where ranking all rows is faster."""
    start, stop = rows.groups.spans(hits.topic)
    if _is_descending(rows):
        first = _bisect(rows.score, hits.score, start, stop, np.greater)
        return first - start, _bisect(rows.score, hits.score, first, stop, np.greater_equal) - first
    if int((stop - start).sum()) <= _COMPARISONS_PER_ROW * rows.score.size:
        return _compare(rows.score, hits.score, start, stop)
    return None


def _is_descending(rows: Rows) -> bool:
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


def _rank_all(rows: Rows, hits: Hits) -> tuple[Ints, TieGroups | None]:
    """Return the rank of each hit, and its tie group, by ranking all rows."""
    ranked = _ranked(rows, hits)
    rank = ranked.place - ranked.begin + 1
    tied = np.flatnonzero(ranked.in_tie[ranked.place])
    if not tied.size:
        return rank, None
    ties = TieGroups(rank.copy(), np.ones_like(rank))
    rank[tied], ties.first[tied], ties.tied[tied] = _rank_tied(rows, hits, ranked, tied)
    return rank, ties


@light_dataclass(frozen=True, eq=False)
class _Ranked:
    """All rows by topic, and by score descending."""

    #: The row at each place; None where rows are in this order.
    order: Ints | None
    #: For each place but the first, whether the place before has its topic and score.
    tied: Bools
    #: The place of each hit, any of its tie, and the first place of its topic.
    place: Ints
    begin: Ints

    @cached_property
    def in_tie(self) -> Bools:
        """Whether each place has the same score as another place of its topic."""
        found = np.zeros(self.tied.size + 1, dtype=np.bool_)
        found[1:] = self.tied
        found[:-1] |= self.tied
        return found


def _ranked(rows: Rows, hits: Hits) -> _Ranked:
    """Rank the rows by score, and find the hits among them."""
    groups = rows.groups
    if hits.row is not None and groups.distinct and _is_descending(rows):
        tied = rows.score[1:] == rows.score[:-1]
        tied[groups.begin[1:-1] - 1] = False
        return _Ranked(None, tied, hits.row, groups.spans(hits.topic)[0])
    key, wanted = _keys(rows, hits)
    order = None
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key)
        key = key[order]
    first_of_topic = hits.topic.astype(np.uint64) << _HALF
    begin = np.searchsorted(key, first_of_topic)
    if hits.row is None:
        place = np.empty(wanted.size, dtype=np.int64)
        by_key = np.argsort(wanted)  # a sorted search is faster
        place[by_key] = np.searchsorted(key, wanted[by_key])
    elif order is None:
        place = hits.row
    else:
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        place = places[hits.row]
    return _Ranked(order, key[1:] == key[:-1], place, begin)


def _rank_tied(rows: Rows, hits: Hits, ranked: _Ranked, among: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the ranks of tied hits, larger doc_ids first, and the first rank and size of their ties."""
    member = np.flatnonzero(ranked.in_tie)
    begins = np.ones(member.size, dtype=np.bool_)
    begins[1:] = ~ranked.tied[member[1:] - 1]
    first = member[begins]
    place = ranked.place[among]
    tie_of_hit = np.searchsorted(first, place, side="right") - 1
    # Only ties that contain a hit have to be ranked.
    held = np.zeros(first.size, dtype=np.bool_)
    held[tie_of_hit] = True
    tie = np.cumsum(begins) - 1
    kept = held[tie]
    member, tie = member[kept], tie[kept]
    names = rows.doc_ids(member if ranked.order is None else ranked.order[member])
    if hits.row is None:
        number = order_numbers([*names, *hits.doc_ids(among)])
        name, name_of_hit = number[: tie.size], number[tie.size :]
        key = (tie << 32) - name
        order = np.argsort(key)
        position = np.searchsorted(key[order], (tie_of_hit << 32) - name_of_hit)
    else:
        order = np.argsort((tie << 32) - order_numbers(names))
        positions = np.empty_like(order)
        positions[order] = np.arange(order.size)
        position = positions[np.searchsorted(member, place)]
    # Members are in order of tie: subtract the members before the first of the tie.
    before = np.searchsorted(tie, tie_of_hit)
    first_rank: Ints = first[tie_of_hit] - ranked.begin[among] + 1
    return first_rank + position - before, first_rank, np.searchsorted(tie, tie_of_hit, side="right") - before


def _keys(rows: Rows, hits: Hits) -> tuple[Keys, Keys]:
    """Return a sortable number per row, and per hit whose row is not known: topic, then score."""
    if hits.row is not None:
        return _key(rows.groups.topic, descending_codes(rows.score)), np.zeros(0, dtype=np.uint64)
    code = descending_codes(np.concatenate((rows.score, hits.score)))
    return _key(rows.groups.topic, code[: rows.score.size]), _key(hits.topic, code[rows.score.size :])


def _key(topic: Ints, code: npt.NDArray[np.uint32]) -> Keys:
    key = topic.astype(np.uint64)
    key <<= _HALF
    key |= code
    return key


def descending_codes(score: Scores) -> npt.NDArray[np.uint32]:
    """Return a number per score: smaller for higher scores, equal for equal scores."""
    if score.dtype != np.float32:
        return np.unique(-score, return_inverse=True)[1].astype(np.uint32)
    bits = (score + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    negative = bits.view(np.int32) >> 31
    return np.asarray(bits ^ (~negative.view(np.uint32) & np.uint32(0x7FFFFFFF)))
