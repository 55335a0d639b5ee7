"""Prepare qrels of any form, and match runs of any form with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_graded.core.judged_run import JudgedRun
from ir_graded.errors import NoSharedTopicsError, format_ids
from ir_graded.io.ids import as_text
from ir_graded.io.sources import is_file, table_of

from . import judgments
from .dicts import match_dicts
from .judgments import Judgments


def prepare_qrels(qrels: Any) -> Judgments:
    """Prepare qrels of any form. Raises InputError where they cannot be scored with."""
    if isinstance(qrels, Mapping):
        return judgments.from_dicts(qrels)
    return judgments.from_table(table_of("qrels", qrels))


def match_run(prepared: Judgments, run: Any, lowest: float = -np.inf, threads: int = 1) -> JudgedRun:
    """Find the documents of level >= ``lowest`` that a run of any form retrieved, with their ranks.

    Tables and files are divided among ``threads`` threads.
    """
    if isinstance(run, Mapping):
        return match_dicts(prepared, run, lowest)
    from .tables import match_run_file, match_table

    if is_file(run):
        return match_run_file(prepared, run, lowest, threads)
    return match_table(prepared, table_of("run", run), lowest, threads)


def check_shared_topics(prepared: Judgments, name: str, run: Any) -> None:
    """Raise NoSharedTopicsError where a run, in any form, has topics, but none of the qrels'."""
    topics = (
        [as_text(topic) for topic in list(run)]
        if isinstance(run, Mapping)
        else table_of("run", run).query_id.unique().drop_nulls().to_list()
    )
    if topics and prepared.number.keys().isdisjoint(topics):
        raise NoSharedTopicsError(
            f"run {name!r} and the qrels share no topic: "
            f"the run has {format_ids(sorted(topics))}, the qrels have {format_ids(sorted(prepared.names))}"
        )
