"""Ranks from scores: by score descending, then by doc_id descending, as in trec_eval.

Scores are compared as float64. Rounding to float32 keeps their order, so rows are sorted by float32, in half
the time, and then only those that are equal in float32 by float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .judged_run import TieGroups
from .segments import Bools, Floats, Ints
from .struct import light_dataclass
from .texts import Names

Keys = npt.NDArray[np.uint64]
Singles = npt.NDArray[np.float32]

_HALF = np.uint64(32)
#: From this number of rows per hit, ranking the hits alone is faster than ranking all rows.
_FEW_HITS = 16
#: Up to about this number of comparisons per row, comparing each hit with all rows is faster than sorting.
_COMPARISONS_PER_ROW = 3
#: Up to this size of a tie, comparing each hit with all of the tie is faster than sorting.
_FEW_TIED = 32
#: Number of names that are compared at a time.
_COMPARED = 1 << 18
#: Whole numbers of 64 bits that doubles do not all represent.
_LARGE = 2.0**53, 2.0**64


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
        score: their scores.
        groups: the rows of each topic.
        doc_ids: the documents of some rows, called for tied ones only.
    """

    score: Floats
    groups: Groups
    doc_ids: Callable[[Ints], Names]

    def part(self, rows: Ints) -> Rows:
        """Return some rows, given in ascending order."""
        topic = self.groups.topic[rows]
        begin = np.flatnonzero(np.diff(topic, prepend=-1))
        groups = Groups(topic[begin], np.append(begin, topic.size))
        return Rows(self.score[rows], groups, lambda wanted: self.doc_ids(rows[wanted]))


@light_dataclass(frozen=True, eq=False)
class Hits:
    """Scored documents whose ranks are needed, with topics, and fields as in :class:`Rows`."""

    score: Floats
    topic: Ints
    doc_ids: Callable[[Ints], Names]
    #: Row of each document; None if it is not known.
    row: Ints | None = None

    def part(self, wanted: Ints) -> Hits:
        """Return some of the hits, without their rows."""
        return Hits(self.score[wanted], self.topic[wanted], lambda some: self.doc_ids(wanted[some]))


def is_flat(score: Floats, groups: Groups) -> bool:
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


def by_score(topic: Ints, score: Floats) -> tuple[Ints, Bools]:
    """Order rows by topic, and by score descending.

    Returns:
        The row at each place; for each place but the first, whether the place before has its topic and score.
    """
    _, order, tied, _ = _ordered(_key(topic, _codes(_single(score))), score)
    return np.arange(topic.size) if order is None else order, tied


class Ranks(NamedTuple):
    """Ranks of documents, and how their scores compare with those of other rows."""

    #: The rank of each document, from 1, among the rows of its topic.
    rank: Ints
    #: Their tie groups; None where no document ties with another row.
    ties: TieGroups | None
    #: Whether the score of some document equals another one in float32 only.
    is_close: bool = False
    #: Whether some documents tie by whole numbers of 64 bits that doubles do not all represent.
    is_large: bool = False

    @property
    def tie_groups(self) -> TieGroups:
        """The tie groups, also where no document ties."""
        return self.ties or TieGroups(self.rank.copy(), np.ones_like(self.rank))


def ranks(rows: Rows, hits: Hits) -> Ranks:
    """Rank each hit among the rows of its topic."""
    if not hits.topic.size:
        return Ranks(np.zeros(0, dtype=np.int64), None)
    few = _FEW_HITS * hits.topic.size < rows.score.size and rows.groups.distinct
    found = (_rank_few(rows, hits) if few else None) or _rank_all(rows, hits)
    if found.ties is None:
        return found
    tied = np.abs(hits.score[found.ties.tied > 1])
    return found._replace(is_large=bool(((tied >= _LARGE[0]) & (tied <= _LARGE[1])).any()))


def _rank_few(rows: Rows, hits: Hits) -> Ranks | None:
    """Rank each hit by counting the rows above it; None where ranking all rows is faster."""
    start, stop = rows.groups.spans(hits.topic)
    is_close = False
    if _is_descending(rows):
        first = _bisect(rows.score, hits.score, start, stop, np.greater)
        end = _bisect(rows.score, hits.score, first, stop, np.greater_equal)
        above, tied = first - start, end - first
        is_close = _is_close(rows.score, first, end, start, stop)
    elif int((stop - start).sum()) <= _COMPARISONS_PER_ROW * rows.score.size:
        above, tied = _compare(_single(rows.score), _single(hits.score), start, stop)
    else:
        return None
    rank = above + 1
    among_tied = np.flatnonzero(tied > 1)
    if not among_tied.size:
        return Ranks(rank, None, is_close)
    some = hits.part(among_tied)
    found = _rank_all(rows.part(rows.groups.of_topics(some.topic)), some)
    rank[among_tied], is_close = found.rank, is_close or found.is_close
    if found.ties is None:
        return Ranks(rank, None, is_close)
    ties = TieGroups(rank.copy(), np.ones_like(rank))
    ties.first[among_tied], ties.tied[among_tied] = found.ties.first, found.ties.tied
    return Ranks(rank, ties, is_close)


def _is_close(score: Floats, first: Ints, stop: Ints, begin: Ints, end: Ints) -> bool:
    """Return whether a score next to a tie equals it in float32.

    Args:
        score: scores by topic, descending.
        first: first row of each tie.
        stop: one past its last row.
        begin: first row of its topic.
        end: one past the last row of its topic.
    """
    before, after = first > begin, stop < end
    own, other = np.append(first[before], first[after]), np.append(first[before] - 1, stop[after])
    return bool((_single(score[own]) == _single(score[other])).any())


def _is_descending(rows: Rows) -> bool:
    """Return whether the scores of every topic are in descending order."""
    in_order = rows.score[1:] <= rows.score[:-1]
    in_order[rows.groups.begin[1:-1] - 1] = True
    return bool(in_order.all())


def _bisect(
    score: Floats, wanted: Floats, low: Ints, high: Ints, before: Callable[[Any, Any], Bools]
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


def _compare(score: Singles, wanted: Singles, start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Count the rows above and tied in float32 by comparing each hit with all rows of its topic."""
    length = stop - start
    offset = np.concatenate(([0], np.cumsum(length)[:-1]))
    row = np.arange(int(length.sum()), dtype=np.int64) + np.repeat(start - offset, length)
    of_row, of_hit = score[row], np.repeat(wanted, length)
    above = np.add.reduceat(of_row > of_hit, offset, dtype=np.int64)
    return above, np.add.reduceat(of_row == of_hit, offset, dtype=np.int64)


def _rank_all(rows: Rows, hits: Hits) -> Ranks:
    """Rank each hit by ranking all rows."""
    ranked = _ranked(rows, hits)
    rank, ties = ranked.place - ranked.begin + 1, None
    tied = np.flatnonzero(ranked.in_tie[ranked.place])
    if tied.size:
        ties = TieGroups(rank.copy(), np.ones_like(rank))
        rank[tied], ties.first[tied], ties.tied[tied] = _rank_tied(rows, hits, ranked, tied)
    found = Ranks(rank, ties)
    if ranked.score is None:
        return found
    first = ranked.begin + found.tie_groups.first - 1
    stop = first + found.tie_groups.tied
    return found._replace(is_close=_is_close(ranked.score, first, stop, ranked.begin, ranked.end))


@light_dataclass(frozen=True, eq=False)
class _Ranked:
    """All rows by topic, and by score descending."""

    #: The row at each place; None where rows are in this order.
    order: Ints | None
    #: For each place but the first, whether the place before has its topic and score.
    tied: Bools
    #: The place of each hit, any of its tie, the first place of its topic, and one past the last.
    place: Ints
    begin: Ints
    end: Ints
    #: The score at each place; None where all that are equal in float32 are equal.
    score: Floats | None

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
        return _Ranked(None, tied, hits.row, *groups.spans(hits.topic), rows.score)
    key, wanted = _keys(rows, hits)
    key, order, tied, score = _ordered(key, rows.score)
    first_of_topic = hits.topic.astype(np.uint64) << _HALF
    begin = end = np.searchsorted(key, first_of_topic)
    if score is not None:
        end = np.searchsorted(key, first_of_topic + (np.uint64(1) << _HALF))
    if hits.row is None:
        place, stop = np.empty((2, wanted.size), dtype=np.int64)
        wanted, by_key = _sorted(wanted)  # a sorted search is faster
        place[by_key] = np.searchsorted(key, wanted)
        if score is not None:
            stop[by_key] = np.searchsorted(key, wanted, side="right")
            place = _bisect(score, hits.score, place, stop, np.greater)
    elif order is None:
        place = hits.row
    else:
        position = np.empty_like(order)
        position[order] = np.arange(order.size)
        place = position[hits.row]
    return _Ranked(order, tied, place, begin, end, score)


def _ordered(key: Keys, score: Floats) -> tuple[Keys, Ints | None, Bools, Floats | None]:
    """Order rows by key, and by score descending.

    Returns:
        The key at each place; the row, or None where they were in order; for each place but the first,
        whether the place before has its key and score; the score, or None where equal keys have equal scores.
    """
    order = None
    if (key[1:] < key[:-1]).any():
        key, order = _sorted(key)
    tied = key[1:] == key[:-1]
    at = np.flatnonzero(tied) + 1
    here, before = (at, at - 1) if order is None else (order[at], order[at - 1])
    # Rows whose key, but not score, is that of the place before.
    places = at[score[here] != score[before]]
    if not places.size:
        return key, order, tied, None
    order = np.arange(key.size) if order is None else order
    _order_equal_keys(score, order, tied, places)
    return key, order, tied, score[order]


def _order_equal_keys(score: Floats, order: Ints, tied: Bools, places: Ints) -> None:
    """Order rows with equal keys by score, in place, where a score differs at some of the places."""
    number = np.append(0, np.cumsum(~tied))
    wanted = np.zeros(int(number[-1]) + 1, dtype=np.bool_)
    wanted[number[places]] = True
    members = np.flatnonzero(wanted[number])
    rows = order[members]
    rows = rows[np.lexsort((-score[rows], number[members]))]
    order[members] = rows
    inside = np.flatnonzero(number[members[1:]] == number[members[:-1]]) + 1
    tied[members[inside] - 1] = score[rows[inside]] == score[rows[inside - 1]]


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
    member = member[held[tie]]
    size = np.bincount(tie)[held]
    tie_of_hit = (np.cumsum(held) - 1)[tie_of_hit]
    names = rows.doc_ids(member if ranked.order is None else ranked.order[member])
    if hits.row is None:
        names, own = names + hits.doc_ids(among), member.size + np.arange(among.size)
    else:
        own = np.searchsorted(member, place)
    first_rank: Ints = first[held][tie_of_hit] - ranked.begin[among] + 1
    return first_rank + _count_larger(names, size, tie_of_hit, own), first_rank, size[tie_of_hit]


def _count_larger(names: Names, size: Ints, tie: Ints, own: Ints) -> Ints:
    """Return how many names of a tie are larger than the name of each hit.

    Args:
        names: the names of all ties, one tie after the other, perhaps followed by others.
        size: number of names of each tie.
        tie: the tie of each hit.
        own: the position of its name.
    """
    begin, of_hit = np.cumsum(size) - size, size[tie]
    larger = np.empty(tie.size, dtype=np.int64)
    small = of_hit <= _FEW_TIED
    columns = names.columns() if small.any() else []
    for each in np.flatnonzero(np.bincount(of_hit[small])).tolist():
        hits = np.flatnonzero(of_hit == each)
        for few in np.array_split(hits, each * hits.size // _COMPARED + 1):
            others = begin[tie[few]][:, np.newaxis] + np.arange(each)
            found, same = np.zeros(others.shape, dtype=np.bool_), np.ones(others.shape, dtype=np.bool_)
            for column in columns:
                other, mine = column[others], column[own[few]][:, np.newaxis]
                found |= same & (other > mine)
                same &= other == mine
            larger[few] = np.count_nonzero(found, axis=1)
    if not small.all():
        number, hits = names.order_numbers(), np.flatnonzero(~small)
        tie_of_name = np.repeat(np.arange(size.size, dtype=np.int64), size)
        # The tie, then the number, descending.
        key = np.sort((tie_of_name << 32) - number[: tie_of_name.size])
        before = np.searchsorted(key, (tie[hits] << 32) - number[own[hits]])
        larger[hits] = before - begin[tie[hits]]
    return larger


def _keys(rows: Rows, hits: Hits) -> tuple[Keys, Keys]:
    """Return a sortable number per row, and per hit whose row is not known: topic, then score in float32."""
    if hits.row is not None:
        return _key(rows.groups.topic, _codes(_single(rows.score))), np.zeros(0, dtype=np.uint64)
    code = _codes(_single(np.concatenate((rows.score, hits.score))))
    return _key(rows.groups.topic, code[: rows.score.size]), _key(hits.topic, code[rows.score.size :])


def _sorted(key: Keys) -> tuple[Keys, Ints]:
    """Return keys in ascending order, and the row of each."""
    bits = key.size.bit_length()
    if int(key.max(initial=0)) >> (64 - bits):
        order = np.argsort(key)
        return key[order], order
    # With the row in its lowest bits, a key is sorted in half the time.
    key = key << np.uint64(bits) | np.arange(key.size, dtype=np.uint64)
    key.sort()
    return key >> np.uint64(bits), (key & np.uint64((1 << bits) - 1)).view(np.int64)


def _key(topic: Ints, code: npt.NDArray[np.uint32]) -> Keys:
    key = topic.astype(np.uint64)
    key <<= _HALF
    key |= code
    return key


def _single(score: npt.NDArray[np.floating]) -> Singles:
    """Return scores in float32."""
    with np.errstate(over="ignore", under="ignore"):
        return score.astype(np.float32)


def _codes(score: Singles) -> npt.NDArray[np.uint32]:
    """Return a number per score: smaller for higher scores, equal for equal scores."""
    bits = (score + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    negative = bits.view(np.int32) >> 31
    return np.asarray(bits ^ (~negative.view(np.uint32) & np.uint32(0x7FFFFFFF)))


def descending_codes(score: npt.NDArray[np.floating]) -> npt.NDArray[np.uint32]:
    """Return a number per score: smaller for higher scores, equal for scores that are equal as float64."""
    single = _single(score)
    if np.array_equal(single, score, equal_nan=True):
        return _codes(single)
    return np.asarray(np.unique(-score, return_inverse=True)[1], dtype=np.uint32).reshape(-1)
