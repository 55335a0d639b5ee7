"""Hash lookup of judged documents, to find those that a run retrieved.

Precision in which scores are compared: that of the installed pytrec_eval.

Some versions rank by float32 scores, and all measures of one call must use the same ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ir_graded._utils.pytrec_eval_guard import RelevanceEvaluator
from ir_graded.core import segments
from ir_graded.core.passages import Spans
from ir_graded.core.ranking import Groups, Scores
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.io.table import Passage, Table, at_rows

if TYPE_CHECKING:
    import polars as pl


Keys = npt.NDArray[np.uint64]

# An odd number with irregular bits: the fractional part of the golden ratio.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def document_keys(topic: Ints, doc_id: pl.Series) -> Keys:
    """Return an evenly distributed number for each (topic, document); equal pairs have equal keys."""
    key = topic.astype(np.uint64)
    key *= _SPREAD
    key += doc_id.hash().to_numpy()
    return key


def _highest(key: Keys, size: int) -> Ints:
    """Return the highest bits of keys, as positions in a table whose size is a power of two."""
    return (key >> np.uint64(65 - size.bit_length())).view(np.int64)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Judged documents to find in a run, ordered by topic.

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
        # Do not pickle the cached keys, because another process may use another hash.
        return Lookup, (self.topics, self.topic, self.document, self.doc_ids)

    @cached_property
    def start(self) -> Ints:
        """Position of the first document of each topic, and one past the last."""
        return np.append(segments.starts(self.topic, self.topics), self.topic.size).astype(np.int64)

    @cached_property
    def _series(self) -> pl.Series:
        import polars as pl

        return pl.Series(self.doc_ids, dtype=pl.String)

    @cached_property
    def _keys(self) -> tuple[Keys, Ints]:
        """Keys in ascending order, ending with the largest possible key, and the documents of the others."""
        key = document_keys(self.topic, self._series)
        order = np.argsort(key)
        return np.append(key[order], ~np.uint64(0)), order

    @cached_property
    def _begin(self) -> npt.NDArray[np.int32]:
        """Position of the first key for each value of the highest bits (2 to 4 times as many as keys)."""
        key, _ = self._keys
        bits = key.size.bit_length() + 1
        highest = np.arange(1 << bits, dtype=np.uint64)
        return np.searchsorted(key, highest << np.uint64(64 - bits)).astype(np.int32)

    @cached_property
    def _filter(self) -> Bools:
        """Table over the highest bits of keys: False if no judged document has these bits."""
        size = max(1 << 16, min(1 << 24, 8 * self._begin.size))
        table = np.zeros(size, dtype=np.bool_)
        table[_highest(self._keys[0][:-1], size)] = True
        return table

    def prepare(self) -> None:
        """Compute the cached values now, so that several threads do not compute them at the same time."""
        _ = self._filter, self._series

    def find(self, topic: Ints, doc_id: pl.Series, key: Keys) -> tuple[Ints, Ints]:
        """Return the rows with a judged document, ascending, and the judged document of each.

        Args:
            topic: topic of each row.
            doc_id: its document.
            key: their keys, which find candidates; topic and document are then compared.
        """
        judged_key, judged = self._keys
        row = np.flatnonzero(self._filter[_highest(key, self._filter.size)])
        key = key[row]
        at = self._begin[_highest(key, self._begin.size)]
        rows, documents = [row[:0]], [judged[:0]]
        while row.size:
            there, inside = judged_key[at], at < judged.size
            same = np.flatnonzero((there == key) & inside)
            rows.append(row[same])
            documents.append(judged[at[same]])
            # The key may follow smaller keys, and equal keys of other documents.
            left = np.flatnonzero((there <= key) & inside)
            row, key, at = row[left], key[left], at[left] + 1
        row, document = np.concatenate(rows), np.concatenate(documents)
        really = (at_rows(self._series, document) == at_rows(doc_id, row)).to_numpy()
        really &= self.topic[document] == topic[row]
        row, document = row[really], document[really]
        order = np.argsort(row)
        return row[order], document[order]


@lru_cache(maxsize=1)
def compares_single_precision() -> bool:
    """Return whether pytrec_eval ranks by float32 scores, by a test with two scores equal as float32."""
    evaluator = RelevanceEvaluator({"1": {"a": 1}}, {"recip_rank"})
    # In double precision a is first; as float32 the two tie, and b comes first.
    return bool(evaluator.evaluate({"1": {"a": 1.00000001, "b": 1.0}})["1"]["recip_rank"] < 1)


def comparable(scores: Floats) -> Scores:
    """Return scores in the precision in which they are compared."""
    if not compares_single_precision():
        return scores
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Articles:
    """The articles of a table with passages.

    Attributes:
        table: one row per article, with the largest value of its passages.
        first: first row of each article in the table with passages.
        article: the article of each row of the table with passages.
        passage: the spans of these rows.
    """

    table: Table
    first: Ints
    article: Ints
    passage: Passage

    def groups(self, groups: Groups) -> Groups:
        """Return the positions of the topics in ``table``, from their positions among the passages."""
        group = np.searchsorted(groups.begin, self.first, side="right") - 1
        begin = np.append(np.flatnonzero(np.diff(group, prepend=-1)), group.size)
        return Groups(groups.number[group[begin[:-1]]], begin)

    def spans(self, articles: Ints, number: Ints) -> Spans:
        """Return the spans of some articles, with new article numbers."""
        wanted = np.full(len(self.table), -1, dtype=np.int64)
        wanted[articles] = number
        owner = wanted[self.article]
        rows = np.flatnonzero(owner >= 0)
        return self.passage[rows].spans(owner[rows])


def articles_of(table: Table, topic: Ints) -> Articles | None:
    """Return the articles of a validated table; None if it has no passages."""
    if table.passage is None:
        return None
    first, article = _articles(topic, table.doc_id)
    value = np.full(first.size, -np.inf)
    np.maximum.at(value, article, table.value)
    reduced = replace(table[first], value=value, passage=None)
    return Articles(reduced, first, article, table.passage)


def one_row_an_article(table: Table) -> Table:
    """Return a table without passages: one row per article, with its largest value."""
    import polars as pl

    if table.passage is None:
        return table
    topic = table.query_id.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    articles = articles_of(table, topic)
    return table if articles is None else articles.table


def _articles(topic: Ints, doc_id: pl.Series) -> tuple[Ints, Ints]:
    """Return the first row of each article, ascending, and the article of each row."""
    import polars as pl

    # Passages of an article are usually adjacent: join neighbours first, then the few others by value.
    begins = np.ones(topic.size, dtype=np.bool_)
    begins[1:] = (topic[1:] != topic[:-1]) | (doc_id != doc_id.shift(1)).to_numpy()[1:]
    begin = np.flatnonzero(begins)
    article = np.cumsum(begins) - 1
    blocks = pl.DataFrame({"topic": topic[begin], "doc": doc_id.gather(begin)}).with_row_index("block")
    first = blocks.select(pl.col("block").min().over("topic", "doc"))["block"].to_numpy().astype(np.int64)
    distinct, number = np.unique(first, return_inverse=True)
    return begin[distinct], number[article].astype(np.int64)
