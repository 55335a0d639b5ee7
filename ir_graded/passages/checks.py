"""Check a submission against the rules of a task of INEX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.segments import Ints
from ir_graded.errors import ParameterError, short_repr
from ir_graded.io.lengths import read_lengths, rows_beyond
from ir_graded.io.sources import passage_table
from ir_graded.matching.articles import Articles, articles_of, order_rows
from ir_graded.matching.match import prepare_qrels
from ir_graded.matching.tables import groups_of

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
        lengths: length of each document: a mapping from doc_id, a table with doc_id and length, or a CSV file
            with a header or a Parquet file with these columns.

    Returns:
        A row per problem: query_id, doc_id, row, other_row and problem; empty if the run follows the rules.
        Rows are counted from 0 in the order of the input. ``row`` is ranked below ``other_row``, which is -1
        if the problem concerns one row.

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

    if task not in TASKS:
        raise ParameterError(f"task={short_repr(task)} must be one of {', '.join(map(repr, TASKS))}")
    table = passage_table("check_submission", "run", run)
    table.check_values()
    topics: dict[str, dict[str, float]] = {topic: {} for topic in table.query_id.to_list()}
    groups = groups_of(prepare_qrels(topics), table.query_id)
    articles = articles_of(table, groups.topic)
    assert articles is not None  # noqa: S101  # for the type checker
    order, _, _ = order_rows(table, groups, articles)
    problems = [*_order_problems(order, articles.article[order]), *_overlaps(articles, order)]
    problems = [problem for problem in problems if problem[2] in TASKS[task]]
    if lengths is not None:
        problems += [(row, -1, BEYOND) for row in rows_beyond(table, read_lengths(lengths)).tolist()]
    problems.sort()
    return pd.DataFrame(
        {
            "query_id": pd.Series([table.query_id[row] for row, _, _ in problems], dtype="str"),
            "doc_id": pd.Series([table.doc_id[row] for row, _, _ in problems], dtype="str"),
            "row": np.array([row for row, _, _ in problems], dtype=np.int64),
            "other_row": np.array([other for _, other, _ in problems], dtype=np.int64),
            "problem": pd.Series([problem for _, _, problem in problems], dtype="str"),
        }
    )


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
    """Return each row that begins inside others of its article, with the one of these that ends last.

    Of the two, the row that is ranked lower comes first. ``order`` holds the rows by rank.
    """
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
