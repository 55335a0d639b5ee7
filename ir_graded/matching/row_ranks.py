"""Ranks of the rows of runs with passages: by score, doc_id descending, start and length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ir_graded.core.names import order_numbers
from ir_graded.core.passage_rows import PassageRows
from ir_graded.core.ranking import Groups
from ir_graded.core.segments import Bools, Ints, ordinals
from ir_graded.core.spans import order_of
from ir_graded.io.table import Table, at_rows, describe_document

from .articles import Articles
from .precision import comparable

if TYPE_CHECKING:
    import numpy.typing as npt


def ranked_rows(table: Table, groups: Groups, articles: Articles, found: Ints, document: Ints) -> PassageRows:
    """Rank the rows of topics that are in the qrels.

    Args:
        table: the rows.
        groups: positions of their topics.
        articles: the articles of the table.
        found: the articles that are in the qrels.
        document: position of each of these in the levels of the qrels.
    """
    spans = articles.passage.spans(articles.article)
    order, rank, begin = order_rows(table, groups, articles)
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
    length = (spans.stop - spans.start)[order]
    down_to = np.cumsum(length)
    down_to -= np.repeat(down_to[begin] - length[begin], sizes)
    return PassageRows(
        topic[begin],
        sizes,
        down_to,
        topic[kept],
        rank[kept],
        type(of_rows)(number[article[kept]], of_rows.start, of_rows.stop),
        _describe(table, int(ahead[0]), int(behind[0])) if ahead.size else "",
    )


def order_rows(table: Table, groups: Groups, articles: Articles) -> tuple[Ints, Ints, Ints]:
    """Return the rows by topic and rank, their ranks, and the position at which each topic begins."""
    block = groups.topic
    # If each topic is one group, groups need not be joined.
    if groups.distinct:
        block = np.repeat(np.arange(groups.number.size, dtype=np.int64), np.diff(groups.begin))
    order = _order(block, comparable(table.value), articles)
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
        names = order_numbers(at_rows(articles.table.doc_id, several).to_list())
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


def _describe(table: Table, row: int, other: int) -> str:
    assert table.passage is not None  # noqa: S101  # for the type checker
    start, length = table.passage.start, table.passage.length
    spans = (
        f"{start[at]:.0f}:{length[at]:.0f}" + (f" at {place}" if (place := table.place(at)) else "")
        for at in sorted((row, other))
    )
    return f"{describe_document(table.query_id[row], table.doc_id[row])}: {' and '.join(spans)}"
