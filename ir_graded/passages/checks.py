"""Check a submission against the rules of a task of INEX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.segments import Ints
from ir_graded.io.lengths import read_lengths, rows_beyond
from ir_graded.io.sources import passage_table
from ir_graded.io.table import Table
from ir_graded.matching.articles import Articles, articles_of, order_rows
from ir_graded.matching.match import prepare_qrels
from ir_graded.matching.tables import groups_of
from ir_graded.meta.options import check_choice

if TYPE_CHECKING:
    import pandas as pd

OVERLAP, INTERLEAVED, SEVERAL, BEYOND = "overlap", "interleaved", "several rows", "beyond the end"
#: Problems that the rules of each task of INEX forbid.
TASKS = {
    "focused": {OVERLAP},
    "relevant-in-context": {OVERLAP, INTERLEAVED},
    "best-in-context": {INTERLEAVED, SEVERAL},
}


def check_submission(run: Any, task: str, lengths: Any = None) -> pd.DataFrame:
    """Find rows of a run with passages that break the rules of a task.

    - ``overlap``: two rows of an article share text (focused, relevant-in-context);
    - ``interleaved``: another article is ranked between rows of an article (relevant-in-context,
      best-in-context);
    - ``several rows``: an article has more than one row (best-in-context);
    - ``beyond the end``: a row ends after the end of its document (only if ``lengths`` are given).

    Args:
        run: a run with passages in any form.
        task: 'focused', 'relevant-in-context' or 'best-in-context'.
        lengths: length of each document: a mapping from doc_id, or a table or file with doc_id and length.

    Returns:
        A row per problem: query_id, doc_id, row, other_row and problem. Rows are counted from 0 in the order
        of the input. ``row`` is ranked below ``other_row``, which is -1 if the problem concerns one row.

    Raises:
        InputError: the run holds no passages, or the lengths lack a document.
        ParameterError: ``task`` is none of the three tasks.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> spans = {"doc_id": ["a", "b", "a"], "start": [0, 0, 5], "length": 9}
        >>> run = pd.DataFrame({"query_id": "1", "score": [3.0, 2, 1], **spans})
        >>> passages.check_submission(run, "relevant-in-context")
          query_id doc_id  row  other_row      problem
        0        1      a    2          0  interleaved
        1        1      a    2          0      overlap
    """
    import pandas as pd

    check_choice("task", task, TASKS)
    table = passage_table("check_submission", "run", run)
    table.check_values()
    order, articles = rows_by_rank(table)
    problems = [*_order_problems(order, articles.article[order]), *_overlaps(articles, order)]
    problems = [problem for problem in problems if problem[2] in TASKS[task]]
    if lengths is not None:
        problems += [(row, -1, BEYOND) for row in rows_beyond(table, read_lengths(lengths)).tolist()]
    problems.sort()
    types = {"query_id": "str", "doc_id": "str", "row": "int64", "other_row": "int64", "problem": "str"}
    rows = [(table.query_id[row], table.doc_id[row], row, other, problem) for row, other, problem in problems]
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def rows_by_rank(table: Table) -> tuple[Ints, Articles]:
    """Return the rows with passages of a run by topic and rank, and its articles."""
    topics: dict[str, dict[str, float]] = {topic: {} for topic in table.query_id.to_list()}
    groups = groups_of(prepare_qrels(topics), table.query_id)
    articles = articles_of(table, groups.topic)
    assert articles is not None  # noqa: S101  # for the type checker
    return order_rows(table, groups, articles)[0], articles


Problem = tuple[int, int, str]


def _order_problems(order: Ints, article: Ints) -> list[Problem]:
    """Return rows whose article is ranked above, and those of them with another article in between."""
    by_article = np.argsort(article, kind="stable")
    again = article[by_article[1:]] == article[by_article[:-1]]
    later, before = by_article[1:][again], by_article[:-1][again]
    pairs = list(zip(order[later].tolist(), order[before].tolist(), strict=True))
    found = [(row, other, SEVERAL) for row, other in pairs]
    back = (later != before + 1).tolist()
    return found + [(row, other, INTERLEAVED) for (row, other), one in zip(pairs, back, strict=True) if one]


def _overlaps(articles: Articles, order: Ints) -> list[Problem]:
    """Return each row that begins inside others of its article, with the last to end, lower rank first."""
    rank = np.argsort(order)
    spans = articles.passage.spans(articles.article)
    ahead, _ = spans.overlapping()
    rows = np.flatnonzero(np.isin(articles.article, articles.article[ahead]))
    part = spans[rows]
    found: list[Problem] = []
    article, reached, last = -1, 0, -1
    # The loop sees only rows of articles with overlaps.
    for at in np.lexsort((part.stop, part.start, part.article)).tolist():
        if part.article[at] != article:
            article, reached, last = int(part.article[at]), 0, -1
        if last >= 0 and part.start[at] < reached and part.start[last] < part.stop[at]:
            upper, lower = sorted((int(rows[at]), int(rows[last])), key=rank.__getitem__)
            found.append((lower, upper, OVERLAP))
        if part.stop[at] >= reached:
            reached, last = int(part.stop[at]), at
    return found
