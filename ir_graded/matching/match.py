"""Prepare qrels of any form, and match runs of any form with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.threads import Result, processors
from ir_graded.core.facets import Facet
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Bools
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import InputError, NoSharedTopicsError, format_ids, of_run
from ir_graded.io.plain import read_plain
from ir_graded.io.responses import is_ranked
from ir_graded.io.sources import (
    ensure_rereadable,
    is_file,
    is_path_or_dataset_id,
    is_read_once,
    is_regular_file,
    table_of,
)
from ir_graded.io.values import as_text, text_ids

from .dicts import match_dicts
from .judgments import Judgments, from_dicts, from_plain
from .plain import match_plain

if TYPE_CHECKING:
    from ir_graded.io.table import Table

    from .tables import RunRows


def prepare_qrels(qrels: Any, wanted: Iterable[Facet] = ()) -> Judgments:
    """Prepare qrels of any form, with the further columns that are wanted for measures."""
    if isinstance(qrels, Mapping) and not is_ranked(qrels):
        return from_dicts(qrels)
    if is_path_or_dataset_id(qrels) and not (wanted := [*wanted]):
        plain = [*next(read_plain("qrels", [qrels], from_plain))] if is_regular_file(qrels) else []
        if len(plain) == 1 and plain[0] is not None:
            return plain[0]
    from .qrels import from_table

    return from_table(table_of("qrels", qrels), wanted=wanted)


def match_run(prepared: Judgments, run: Any, lowest: float = -np.inf, threads: int = 1) -> JudgedRun:
    """Find the documents of level >= ``lowest`` that a run of any form retrieved, with their ranks."""
    if isinstance(run, Mapping) and not is_ranked(run):
        return match_dicts(prepared, run, lowest)
    from .tables import match_pieces, match_table, read_pieces

    if is_regular_file(run):
        return match_pieces(prepared, run, next(read_pieces([run], threads)), lowest)
    return match_table(prepared, table_of("run", run), lowest, threads)


@light_dataclass(frozen=True, eq=False)
class MatchedRun:
    """A run that has been matched with the qrels.

    Attributes:
        name: the name of the run.
        run: the run, in a form that can be read again; of a small file, its table.
        judged: its judged documents.
        lowest: lowest level of the documents that were looked for.
    """

    name: str
    run: Any
    judged: JudgedRun
    lowest: float

    def has_no_document(self, names: Sequence[str]) -> Bools:
        """Return whether the run has each topic, but without a document, as a response without hits."""
        empty: Bools = self.judged.n_retrieved == 0
        if not empty.any():
            return empty
        if isinstance(self.run, Mapping):
            topics = {as_text(topic) for topic in list(self.run) if not self.run[topic]}
        else:
            topics = getattr(self.run, "without_rows", set[str]())
        return np.asarray(empty & [name in topics for name in names])


def match_runs(
    prepared: Judgments,
    runs: Mapping[str, Any],
    lowest: float,
    work: Callable[[MatchedRun], Result],
    *,
    whole: bool = False,
    judged_only: bool = False,
) -> Iterator[Result]:
    """Match several runs with the qrels, and yield the result of ``work`` for each, in their order.

    Args:
        prepared: the prepared qrels.
        runs: the runs by name, in any form.
        lowest: lowest level of the documents to look for; in a run that can be read only once, of all.
        work: function that is called with each matched run.
        whole: whether ``work`` needs the rows of the runs; files are then held as tables, one at a time.
        judged_only: whether ``work`` needs no documents but judged ones, and gets files by their paths.

    Raises NoSharedTopicsError or InputError; the message names the run if there are several.
    """
    # Threads read the files of several runs at a time, and match plain ones. Other rows are matched here, in
    # many short steps, which gain little from threads because of Python's global lock.
    paths = [] if whole else [run for run in runs.values() if is_file(run)]
    judged_only &= all(map(is_regular_file, paths))
    with _reading(prepared, paths, lowest, judged_only=judged_only) as pieces:
        for name, given in runs.items():
            try:
                level = -np.inf if is_read_once(given) else lowest
                if whole or not is_file(given):
                    run = ensure_rereadable("run", given)
                    if whole and not isinstance(run, Mapping):
                        run = table_of("run", run)
                    judged = match_run(prepared, run, level, processors())
                elif is_regular_file(given):
                    judged, run = _match_file(prepared, given, next(pieces), level)
                else:  # a pipe, in one piece
                    (run,) = next(pieces)
                    judged = match_run(prepared, run, level, processors())
                if not judged.n_retrieved.any():
                    _check_shared_topics(prepared, name, run)
                result = work(MatchedRun(name, run, judged, level))
            except InputError as error:
                if len(runs) == 1 or is_path_or_dataset_id(given):
                    raise
                raise of_run(name, error) from error
            yield result


def _match_file(
    prepared: Judgments, path: Any, found: JudgedRun | Iterable[Table] | None, lowest: float
) -> tuple[JudgedRun, Any]:
    """Match the file of a run if it is not yet, and return the run as its path or as a table of one piece."""
    if isinstance(found, JudgedRun):
        return found, path
    from .tables import match_pieces, read_pieces

    only: list[Table] = []
    pieces = next(read_pieces([path], processors())) if found is None else found
    return match_pieces(prepared, path, _keeping_one(pieces, only), lowest), only[0] if only else path


def _keeping_one(tables: Iterable[Table], only: list[Table]) -> Iterator[Table]:
    """Yield the pieces of a file; ``only`` then has the piece if there is just one."""
    for number, table in enumerate(tables):
        only[:] = [] if number else [table]
        yield table


def table_of_run(prepared: Judgments, run: Any) -> Table:
    """Return a valid run of any form as a table; of a dict of dicts, only topics of the qrels."""
    if not isinstance(run, Mapping):
        return table_of("run", run)
    import polars as pl

    from ir_graded.io.table import from_frame

    topics = [(as_text(topic), docs) for topic, docs in list(run.items())]
    topics = [(name, docs) for name, docs in topics if name in prepared.number]
    columns = {
        "query_id": list(chain.from_iterable([name] * len(docs) for name, docs in topics)),
        "doc_id": list(chain.from_iterable(text_ids(list(docs), "doc_id", "run") for _, docs in topics)),
        "score": list(chain.from_iterable(map(float, docs.values()) for _, docs in topics)),
    }
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return from_frame("run", pl.DataFrame(columns, schema=schema))


def _reading(
    prepared: Judgments, paths: list[Any], lowest: float, *, judged_only: bool
) -> AbstractContextManager[Iterator[Any]]:
    """Return the pieces of each file, or with ``judged_only`` its matched run, None if it is not plain."""
    if not paths:
        return nullcontext(iter(()))
    if judged_only:
        return closing(match_plain(prepared, paths, lowest))
    from .tables import read_pieces

    return closing(read_pieces(paths, processors()))


def _check_shared_topics(prepared: Judgments, name: str, run: Any) -> None:
    """Raise NoSharedTopicsError if a run of any form has topics but none of the topics of the qrels."""
    topics = (
        [as_text(topic) for topic in list(run)]
        if isinstance(run, Mapping)
        else table_of("run", run).query_id.unique().drop_nulls().to_list()
    )
    if topics and prepared.number.keys().isdisjoint(topics):
        if isinstance(run, Mapping) and all(isinstance(docs, Mapping) and not docs for docs in run.values()):
            raise NoSharedTopicsError(
                f"run {name!r} has no document, only empty dicts for {format_ids(sorted(topics))}; if these "
                "are names of runs, all runs are empty"
            )
        raise NoSharedTopicsError(
            f"run {name!r} and the qrels share no topic: "
            f"the run has {format_ids(sorted(topics))}, the qrels have {format_ids(sorted(prepared.names))}"
        )


def rows_by_name(name: str, run: Any) -> RunRows:
    """Return the documents of a run; errors name the run if no file does."""
    from .tables import rows_of_run

    try:
        return rows_of_run(run)
    except InputError as error:
        if is_path_or_dataset_id(run):
            raise
        raise of_run(name, error) from error
