"""Precision and recall of the text that generated answers cite, per sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.views import Views
from ir_graded.errors import InputError
from ir_graded.io.sources import passage_table
from ir_graded.matching.match import match_run, prepare_qrels
from ir_graded.measures import CharP, CharR

if TYPE_CHECKING:
    import pandas as pd


def citations(qrels: Any, run: Any, separator: str = "#") -> pd.DataFrame:
    """Compute precision and recall of the citations in generated answers.

    A topic is a sentence, ``answer#sentence``. The run holds the spans that the sentence cites, in any order,
    and the qrels hold the spans that support it. Precision is the mean of ``CharP(overlap='once')`` over the
    sentences with a citation. Recall is the mean of CharR over the sentences with supporting text. This
    package defines these two means; they do not come from a paper.

    Args:
        qrels: supporting spans: qrels with passages.
        run: cited spans: a run with passages.
        separator: text between answer and sentence in a query_id; its last occurrence counts.

    Returns:
        A row per answer: answer, precision, recall, and the numbers of sentences in the two means, cited and
        supported. Precision or recall is 0 if its number of sentences is 0.

    Raises:
        InputError: an id has no separator, or qrels or run hold no passages.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> span = {"doc_id": "x", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"query_id": ["a#1", "a#2"], "relevance": 1, **span})
        >>> run = pd.DataFrame({"query_id": ["a#1"], "score": 1.0, **span, "length": 50})
        >>> passages.citations(qrels, run)
          answer  precision  recall  cited  supported
        0      a        0.8     0.5      1          2
    """
    import pandas as pd

    judged = passage_table("citations", "qrels", qrels)
    cited_rows = passage_table("citations", "run", run)
    judgments = replace(prepare_qrels(judged), ranks_rows=True)
    views = Views(judgments.levels, match_run(judgments, cited_rows))
    precision, recall = (measure.score(views) for measure in (CharP(overlap="once"), CharR))
    supported = views.passages(1, None).R > 0
    cited = set(cited_rows.query_id.unique().to_list())
    found: dict[str, list[float]] = {}
    for number, name in enumerate(judgments.names):
        sums = found.setdefault(_answer(name, separator), [0.0, 0.0, 0, 0])
        if name in cited:
            sums[0] += precision[number]
            sums[2] += 1
        if supported[number]:
            sums[1] += recall[number]
            sums[3] += 1
    for name in sorted(cited - set(judgments.names)):
        found.setdefault(_answer(name, separator), [0.0, 0.0, 0, 0])[2] += 1
    table = np.array(list(found.values())).reshape(len(found), 4)
    counts = table[:, 2:].astype(np.int64)
    means = table[:, :2] / np.maximum(counts, 1)
    return pd.DataFrame(
        {
            "answer": pd.Series(list(found), dtype="str"),
            "precision": means[:, 0],
            "recall": means[:, 1],
            "cited": counts[:, 0],
            "supported": counts[:, 1],
        }
    )


def _answer(query_id: str, separator: str) -> str:
    answer, there, _ = query_id.rpartition(separator)
    if not there:
        raise InputError(f"topic {query_id!r} has no {separator!r} between an answer and a sentence")
    return answer
