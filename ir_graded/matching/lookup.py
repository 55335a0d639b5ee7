"""Lookup of the judged documents of a run by keys, which are hashes of topic and document."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ir_graded.core import segments
from ir_graded.core.segments import Bools, Ints
from ir_graded.core.struct import light_dataclass
from ir_graded.core.texts import Names, Texts

if TYPE_CHECKING:
    import polars as pl

Keys = npt.NDArray[np.uint64]

# An odd number with irregular bits: the fractional part of the golden ratio.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: Each part of numbered documents is at least so many times as large as the next one.
_GROWTH = 8


def document_keys(topic: Ints, doc_id: pl.Series | Texts) -> Keys:
    """Return an evenly distributed number for each (topic, document); equal pairs have equal keys."""
    key = topic.astype(np.uint64)
    key *= _SPREAD
    key += np.asarray(doc_id.hash())
    return key


def repeated(key: Keys) -> Keys:
    """Return the keys that appear before, ascending; a key that appears three times is returned twice."""
    # Half of a key is sorted in half the time, and few halves are equal by chance.
    half = (key >> np.uint64(32)).astype(np.uint32)
    return _repeated(key[np.isin(half, _repeated(half))])


def _repeated(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    ordered = np.sort(values)
    return np.asarray(ordered[1:][ordered[1:] == ordered[:-1]])


def _highest(key: Keys, size: int) -> Ints:
    """Return the highest bits of keys, as positions in a table whose size is a power of two."""
    return (key >> np.uint64(65 - size.bit_length())).view(np.int64)


@light_dataclass(frozen=True, eq=False)
class _KeyTable:
    """Keys in ascending order, with the largest possible key at the end, and the position of the others."""

    key: Keys
    position: Ints

    @classmethod
    def of(cls, key: Keys) -> _KeyTable:
        """Return a table of keys in any order."""
        order = np.argsort(key)
        return cls(np.append(key[order], ~np.uint64(0)), order)

    @cached_property
    def begin(self) -> npt.NDArray[np.int32]:
        """Position of the first key for each value of the highest bits (2 to 4 times as many as keys)."""
        bits = self.key.size.bit_length() + 1
        highest = np.arange(1 << bits, dtype=np.uint64)
        return np.searchsorted(self.key, highest << np.uint64(64 - bits)).astype(np.int32)

    @cached_property
    def filter(self) -> Bools:
        """Table over the highest bits of keys: False if no key has these bits."""
        size = max(1 << 16, min(1 << 24, 8 * self.begin.size))
        table = np.zeros(size, dtype=np.bool_)
        table[_highest(self.key[:-1], size)] = True
        return table

    def find(self, key: Keys) -> tuple[Ints, Ints]:
        """Return the rows with a key of the table, and the position of each equal key."""
        row = np.flatnonzero(self.filter[_highest(key, self.filter.size)])
        key = key[row]
        at = self.begin[_highest(key, self.begin.size)]
        rows, positions = [row[:0]], [self.position[:0]]
        while row.size:
            there, inside = self.key[at], at < self.position.size
            same = np.flatnonzero((there == key) & inside)
            rows.append(row[same])
            positions.append(self.position[at[same]])
            # The key may follow smaller keys, and equal keys of other documents.
            left = np.flatnonzero((there <= key) & inside)
            row, key, at = row[left], key[left], at[left] + 1
        return np.concatenate(rows), np.concatenate(positions)


@light_dataclass(frozen=True, eq=False)
class Lookup:
    """Documents to find in a run: judged ones, ordered by topic, or those of other runs.

    Attributes:
        topics: number of topics in the qrels.
        topic: topic of each document.
        document: its position in ``Levels``.
        doc_ids: the documents.
    """

    topics: int
    topic: Ints
    document: Ints
    doc_ids: Sequence[str] | pl.Series

    def __reduce__(self) -> tuple[Any, ...]:
        # Do not pickle the cached keys, because another process may use another hash.
        return Lookup, (self.topics, self.topic, self.document, self.doc_ids)

    @cached_property
    def start(self) -> Ints:
        """Position of the first document of each topic, and one past the last."""
        return np.append(segments.starts(self.topic, self.topics), self.topic.size).astype(np.int64)

    @cached_property
    def _series(self) -> tuple[pl.Series, _KeyTable]:
        import polars as pl

        series = pl.Series(self.doc_ids, dtype=pl.String)
        return series, _KeyTable.of(document_keys(self.topic, series))

    @cached_property
    def _texts(self) -> tuple[Texts, _KeyTable]:
        texts = Texts.of(self.doc_ids)
        return texts, _KeyTable.of(document_keys(self.topic, texts))

    @cached_property
    def names(self) -> Names:
        """The documents, to be ordered."""
        return Names.of([*self.doc_ids])

    def prepare(self, *, texts: bool) -> None:
        """Compute what :meth:`find` needs now, so that several threads do not compute it at the same time.

        ``texts`` says whether its documents will be :class:`Texts`, else they are Series.
        """
        _ = (self._texts if texts else self._series)[1].filter

    def find(self, topic: Ints, doc_id: pl.Series | Texts, key: Keys) -> tuple[Ints, Ints]:
        """Return the rows with a judged document, ascending, and the judged document of each.

        Keys find candidates; topic and document are then compared.
        """
        if isinstance(doc_id, Texts):
            texts, table = self._texts
            row, document = table.find(key)
            really = doc_id.same(row, texts, document)
        else:
            from ir_graded.io.table import at_rows

            series, table = self._series
            row, document = table.find(key)
            really = (at_rows(series, document) == at_rows(doc_id, row)).to_numpy()
        really &= self.topic[document] == topic[row]
        # Sorting one combined number is several times as fast as sorting positions.
        both = np.sort((row << 32 | document)[really])
        return both >> 32, both & ((1 << 32) - 1)


class DocumentNumbers:
    """Numbers of documents: those of a lookup have theirs, others get the next ones when first seen."""

    def __init__(self, first: Lookup) -> None:
        # Several parts, so that the large ones rarely grow.
        self._parts = [first]
        self.size = first.document.size

    def of(self, topic: Ints, doc_id: pl.Series) -> Ints:
        """Return the numbers of distinct documents."""
        from ir_graded.io.table import at_rows

        key, number = document_keys(topic, doc_id), np.empty(topic.size, dtype=np.int64)
        left = np.arange(topic.size, dtype=np.int64)
        for part in self._parts:
            row, found = part.find(topic, doc_id, key)
            number[left[row]] = part.document[found]
            others = np.delete(np.arange(left.size, dtype=np.int64), row)
            left, topic, doc_id, key = left[others], topic[others], at_rows(doc_id, others), key[others]
        if left.size:
            number[left] = self.size + np.arange(left.size)
            self._add(topic, number[left], doc_id)
        return number

    def _add(self, topic: Ints, number: Ints, doc_id: pl.Series) -> None:
        import polars as pl

        self.size += number.size
        self._parts.append(Lookup(self._parts[0].topics, topic, number, doc_id))
        while len(self._parts) > 1 and self._parts[-2].topic.size < _GROWTH * self._parts[-1].topic.size:
            *self._parts, one, other = self._parts
            doc_ids = pl.concat(pl.Series(part.doc_ids, dtype=pl.String) for part in (one, other))
            topic, number = np.append(one.topic, other.topic), np.append(one.document, other.document)
            self._parts.append(Lookup(one.topics, topic, number, doc_ids))

    def to_frame(self) -> pl.DataFrame:
        """Return number, topic and doc_id of all documents."""
        import polars as pl

        schema = {"number": pl.Int64, "topic": pl.Int64, "doc_id": pl.String}
        return pl.concat(
            pl.DataFrame([part.document, part.topic, part.doc_ids], schema=schema) for part in self._parts
        )
