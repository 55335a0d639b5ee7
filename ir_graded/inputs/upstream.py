"""Qrels and runs for the providers of ir-measures that stand beside ours in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .datasets import is_dataset
from .judgments import Judgments
from .sources import is_place, table_of
from .table import Table


def whole(level: Any) -> Any:
    """A whole-number level as an int, which is all that pytrec_eval takes; any other as it is."""
    try:
        return int(level) if type(level) is not int and float(level).is_integer() else level
    except (TypeError, ValueError):
        return level


def with_whole_levels(qrels: Any) -> Any:
    """Qrels of a form that ir-measures reads, with whole-number levels as ints (copied where needed)."""
    if isinstance(qrels, Mapping):
        if all(type(level) is int for docs in qrels.values() for level in docs.values()):
            return qrels
        return {topic: {doc: whole(level) for doc, level in docs.items()} for topic, docs in qrels.items()}
    if hasattr(qrels, "itertuples"):
        return _frame_with_whole_levels(qrels)
    return [
        row if type(row.relevance) is int else row._replace(relevance=whole(row.relevance)) for row in qrels
    ]


def _frame_with_whole_levels(qrels: Any) -> Any:
    relevance = qrels["relevance"]
    if relevance.dtype.kind in "iu":
        return qrels
    levels = [whole(level) for level in relevance]
    if all(type(level) is int for level in levels):
        return qrels.assign(relevance=np.array(levels, dtype=np.int64))
    return qrels


def reads(source: Any) -> bool:
    """Whether ir-measures itself reads this form: a dict, a pandas frame, an iterable of named tuples."""
    foreign = is_place(source) or is_dataset(source) or isinstance(source, Table)
    table = hasattr(source, "columns") or hasattr(source, "column_names")
    return not foreign and (hasattr(source, "itertuples") or not table)


def qrels_dicts(judgments: Judgments) -> dict[str, dict[str, Any]]:
    """Prepared qrels as a dict of dicts, ids as text, whole-number levels as ints."""
    levels = [whole(level) for level in judgments.levels.values.tolist()]
    qrels: dict[str, dict[str, Any]] = {name: {} for name in judgments.names}
    rows = zip(
        judgments.levels.topic.tolist(), judgments.doc_ids, judgments.levels.grade.tolist(), strict=True
    )
    for topic, doc_id, grade in rows:
        qrels[judgments.names[topic]][doc_id] = levels[grade]
    return qrels


def run_dicts(run: Any) -> dict[str, dict[str, float]]:
    """A run of any form as a dict of dicts, ids as text."""
    if isinstance(run, Mapping):
        return {
            str(topic): {str(doc): float(score) for doc, score in docs.items()} for topic, docs in run.items()
        }
    table = table_of("run", run)
    dicts: dict[str, dict[str, float]] = {}
    for topic, doc_id, score in zip(
        table.query_id.to_list(), table.doc_id.to_list(), table.value.tolist(), strict=True
    ):
        dicts.setdefault(topic, {})[doc_id] = score
    return dicts
