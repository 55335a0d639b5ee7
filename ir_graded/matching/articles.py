"""Aggregation of tables with passages: one row per article with its largest value, and all its spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ir_graded.core.ranking import Groups
from ir_graded.core.segments import Ints
from ir_graded.core.spans import Spans
from ir_graded.io.table import Passage, Table

if TYPE_CHECKING:
    import polars as pl


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
    rows = table.filter(first)
    reduced = Table(table.kind, rows.query_id, rows.doc_id, value, rows.place, rows.query_objects)
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
