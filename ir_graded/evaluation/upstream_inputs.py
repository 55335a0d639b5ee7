"""Qrels and runs for the other providers of ir-measures: dicts with ids as text, whole levels as ints.

The other providers take only that without complaint or mixing: pytrec_eval for one wants text, ints
and floats exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ir_graded.core import segments
from ir_graded.io.ids import as_text
from ir_graded.io.table import Table
from ir_graded.matching.articles import one_row_an_article
from ir_graded.matching.dict_checks import text_ids, unchanged
from ir_graded.matching.judgments import Judgments


def qrels_dicts(judgments: Judgments) -> dict[str, dict[str, Any]]:
    """Prepared qrels as a dict of dicts; levels that are no whole numbers stay floats."""
    level_of = [int(level) if level.is_integer() else level for level in judgments.levels.values.tolist()]
    levels = [level_of[grade] for grade in judgments.levels.level_index.tolist()]
    topic = judgments.levels.topic
    bounds = [*segments.starts(topic, len(judgments.names)).tolist(), topic.size]
    return {
        name: dict(zip(judgments.doc_ids[begin:end], levels[begin:end], strict=True))
        for name, (begin, end) in zip(judgments.names, pairwise(bounds), strict=True)
    }


def run_dicts(judgments: Judgments, run: Mapping[Any, Any] | Table) -> dict[str, dict[str, float]]:
    """A run as a dict of dicts, scores as floats: the topics that the qrels have."""
    if isinstance(run, Mapping):
        topics = {as_text(topic): docs for topic, docs in list(run.items())}
        names = [name for name in topics if name in judgments.number]
        with unchanged("run", names, [topics[name] for name in names]):
            return {
                name: dict(
                    zip(
                        text_ids(list(topics[name]), "doc_id", f"run: topic {name!r}"),
                        map(float, topics[name].values()),
                        strict=True,
                    )
                )
                for name in names
            }
    known = run.query_id.is_in(judgments.names).fill_null(value=False).arg_true().to_numpy()
    run = one_row_an_article(run.filter(known.astype(np.int64)))
    changes = (run.query_id != run.query_id.shift(1)).to_numpy()[1:]
    bounds = [*(np.flatnonzero(changes) + 1).tolist(), len(run)] if len(run) else []
    doc_ids, scores = run.doc_id.to_list(), run.value.tolist()
    dicts: dict[str, dict[str, float]] = {}
    begin = 0
    for end in bounds:
        dicts.setdefault(run.query_id[begin], {}).update(
            zip(doc_ids[begin:end], scores[begin:end], strict=True)
        )
        begin = end
    return dicts
