"""Articles of tables with passages: one row per article, and the ranks of their passages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from ir_graded.core.facets import POSITION, Facet
from ir_graded.core.passages import PassageRows, Spans, order_of
from ir_graded.core.ranking import Groups
from ir_graded.core.segments import Bools, Ints, ordinals
from ir_graded.core.struct import light_dataclass
from ir_graded.core.texts import Names
from ir_graded.errors import InputError
from ir_graded.io.table import Passage, Table, at_rows
from ir_graded.io.values import describe_document


@light_dataclass(frozen=True, eq=False)
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
    if table.kind == "run" and table.has(POSITION):
        raise InputError(
            "run: passages with equal scores are ranked by doc_id and start, so a run with passages cannot "
            "have the column position; drop or rename this column"
        )
    first, article = _articles(topic, table.doc_id)
    value = np.full(first.size, -np.inf)
    np.maximum.at(value, article, table.value)
    reduced = replace(table[first], value=value, passage=None)
    return Articles(reduced, first, article, table.passage)


def one_row_an_article(table: Table) -> Table:
    """Return a table without passages: one row per article, with its largest value."""
    if table.passage is None:
        return table
    topic = table.query_id.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    articles = articles_of(table, topic)
    return table if articles is None else articles.table


def _articles(topic: Ints, doc_id: pl.Series) -> tuple[Ints, Ints]:
    """Return the first row of each article, ascending, and the article of each row."""
    # Passages of an article are usually adjacent: join neighbours first, then the few others by value.
    begins = np.ones(topic.size, dtype=np.bool_)
    begins[1:] = (topic[1:] != topic[:-1]) | (doc_id != doc_id.shift(1)).to_numpy()[1:]
    begin = np.flatnonzero(begins)
    article = np.cumsum(begins) - 1
    blocks = pl.DataFrame({"topic": topic[begin], "doc": doc_id.gather(begin)}).with_row_index("block")
    first = blocks.select(pl.col("block").min().over("topic", "doc"))["block"].to_numpy().astype(np.int64)
    distinct, number = np.unique(first, return_inverse=True)
    return begin[distinct], number[article].astype(np.int64)


#: Rows by topic and rank, their ranks, and the position at which each topic begins.
Ordered = tuple[Ints, Ints, Ints]


def first_ranks(articles: Articles, ordered: Ordered) -> Ints:
    """Return the rank of the first row of each article."""
    (order, rank, _), first = ordered, np.empty(len(articles.table), dtype=np.int64)
    first[articles.article[order[::-1]]] = rank[::-1]  # the last assignment remains
    return first


def ranked_rows(
    table: Table,
    groups: Groups,
    articles: Articles,
    ordered: Ordered,
    found: Ints,
    document: Ints,
    costs: Iterable[Facet],
) -> PassageRows:
    """Return the rows of topics that are in the qrels, with their ranks as ``ordered`` by ``order_rows``.

    ``found`` are the articles that are in the qrels, ``document`` their positions in the levels of the qrels.
    """
    spans = articles.passage.spans(articles.article)
    order, rank, begin = ordered
    topic = groups.topic[order]
    known = np.full(len(articles.table), -1, dtype=np.int64)
    known[found] = document
    ahead, behind = spans.overlapping()
    # Articles that are not in the qrels get negative numbers.
    number = np.where(known < 0, -1 - np.arange(known.size), known)
    wanted = known >= 0
    wanted[articles.article[ahead]] = True
    article = articles.article[order]
    kept = np.flatnonzero(wanted[article])
    rows = order[kept]
    of_rows = spans[rows]
    sizes = np.diff(np.append(begin, order.size))

    def down_to(length: Ints) -> Ints:
        sums = np.cumsum(length[order])
        return np.asarray(sums - np.repeat(sums[begin] - length[order][begin], sizes))

    return PassageRows(
        topic[begin],
        sizes,
        down_to(spans.stop - spans.start),
        topic[kept],
        rank[kept],
        type(of_rows)(number[article[kept]], of_rows.start, of_rows.stop),
        _describe(table, articles.passage, int(ahead[0]), int(behind[0])) if ahead.size else "",
        {facet.name: down_to(table.numbers(facet).astype(np.int64)) for facet in costs if table.has(facet)},
    )


def order_rows(table: Table, groups: Groups, articles: Articles) -> Ordered:
    """Return the rows by topic and rank, their ranks, and the position at which each topic begins."""
    block = groups.topic
    # If each topic is one group, groups need not be joined.
    if groups.distinct:
        block = np.repeat(np.arange(groups.number.size, dtype=np.int64), np.diff(groups.begin))
    order = _order(block, table.value, articles)
    begin = np.flatnonzero(np.diff(block[order], prepend=-1))
    rank = ordinals(np.repeat(begin, np.diff(np.append(begin, order.size))))
    return order, rank, begin


def _order(block: Ints, score: npt.NDArray[np.floating], articles: Articles) -> Ints:
    """Return the rows by topic and rank."""
    same = block[1:] == block[:-1]
    order = np.arange(block.size, dtype=np.int64)
    if not (np.all(block[1:] >= block[:-1]) and np.all((score[1:] <= score[:-1]) | ~same)):
        order = np.lexsort((-score, block)).astype(np.int64)
        block, score = block[order], score[order]
        same = block[1:] == block[:-1]
    tied = same & (score[1:] == score[:-1])
    if not tied.any():
        return order
    group = np.cumsum(np.append(False, ~tied))
    places = np.flatnonzero(np.append(False, tied) | np.append(tied, False))
    order[places] = _tied_in_order(order[places], group[places], articles)
    return order


def _tied_in_order(rows: Ints, group: Ints, articles: Articles) -> Ints:
    """Return tied rows by doc_id descending, start and length within their group."""
    article = articles.article[rows]
    start = articles.passage.start[rows].astype(np.int64)
    length = articles.passage.length[rows]
    # Compare names only in groups with several articles.
    mixed = _mixed(group, article)
    if mixed.any():
        several, number = np.unique(article[mixed], return_inverse=True)
        names = Names.of(at_rows(articles.table.doc_id, several).to_list()).order_numbers()
        group *= several.size
        group[mixed] += several.size - 1 - names[number]
    order = order_of(group, start)
    of_one = (np.diff(group[order]) == 0) & (np.diff(start[order]) == 0)
    if (np.diff(length[order])[of_one] < 0).any():
        order = np.lexsort((length, start, group)).astype(np.int64)
    return rows[order]


def _mixed(group: Ints, article: Ints) -> Bools:
    """Return whether the group of each row, ascending, has rows of several articles."""
    begin = np.flatnonzero(np.diff(group, prepend=-1))
    first = np.repeat(article[begin], np.diff(np.append(begin, group.size)))
    several = np.zeros(int(group[-1]) + 1, dtype=np.bool_)
    several[group[article != first]] = True
    return several[group]


def _describe(table: Table, passage: Passage, row: int, other: int) -> str:
    spans = (
        f"{passage.start[at]:.0f}:{passage.length[at]:.0f}"
        + (f" at {place}" if (place := table.place(at)) else "")
        for at in sorted((row, other))
    )
    return f"{describe_document(table.query_id[row], table.doc_id[row])}: {' and '.join(spans)}"
