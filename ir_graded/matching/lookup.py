"""The judged documents of the qrels by hash, to find those that a run retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ir_graded.core import segments
from ir_graded.core.segments import Bools, Ints

if TYPE_CHECKING:
    import polars as pl

Keys = npt.NDArray[np.uint64]


def document_keys(topic: Ints, doc_id: pl.Series, topics: int) -> Keys:
    """A number for each (topic, document): topic above, hash of the doc_id below. Equal ids, equal keys."""
    bits = np.uint64(max(topics, 1).bit_length())
    key = topic.astype(np.uint64)
    key <<= np.uint64(64) - bits
    key |= doc_id.hash().to_numpy() >> bits
    return key


@dataclass(frozen=True, eq=False)
class Lookup:
    """The judged documents that a run is searched for, ordered by topic.

    Attributes:
        topics: number of topics in the qrels.
        topic: topic of each document, ascending.
        document: its position in ``Levels``.
        doc_ids: the documents.
    """

    topics: int
    topic: Ints
    document: Ints
    doc_ids: list[str]

    def __reduce__(self) -> tuple[Any, ...]:
        # The cached keys stay behind: another process may hash otherwise.
        return Lookup, (self.topics, self.topic, self.document, self.doc_ids)

    @cached_property
    def start(self) -> Ints:
        """Position of each topic's first document, and one past the last."""
        return np.append(segments.starts(self.topic, self.topics), self.topic.size).astype(np.int64)

    @cached_property
    def series(self) -> pl.Series:
        """The documents as a Polars column."""
        import polars as pl

        return pl.Series(self.doc_ids, dtype=pl.String)

    @cached_property
    def sorted_keys(self) -> tuple[Keys, Ints]:
        """The documents' keys in ascending order, and which document each belongs to."""
        key = document_keys(self.topic, self.series, self.topics)
        order = np.argsort(key).astype(np.int64)
        return key[order], order

    def prepared(self) -> Lookup:
        """This, with all that threads would make at the same time."""
        _ = self.filter, self.series
        return self

    @cached_property
    def filter(self) -> Bools:
        """A table over the low bits of keys: False says that no judged document has them."""
        table = np.zeros(1 << max(16, min(24, 4 + self.topic.size.bit_length())), dtype=np.bool_)
        table[self.sorted_keys[0] & np.uint64(table.size - 1)] = True
        return table

    @property
    def filter_mask(self) -> np.uint64:
        """The low bits of a key that ``filter`` looks at."""
        return np.uint64(self.filter.size - 1)
