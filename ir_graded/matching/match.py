"""Prepare qrels of any form, and match runs of any form with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.threads import Result, processors
from ir_graded.core.facets import Facet
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Bools
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import InputError, NoSharedTopicsError, format_ids, of_run
from ir_graded.io.plain import read_plain
from ir_graded.io.sources import Source, opened

from .dicts import match_dicts
from .judgments import Judgments, from_dicts, from_plain
from .plain import match_plain

if TYPE_CHECKING:
    from ir_graded.io.table import Table

    from .tables import RunRows


def prepare_qrels(qrels: Any, wanted: Iterable[Facet] = ()) -> Judgments:
    """Prepare qrels of any form, with the further columns that are wanted for measures."""
    source, wanted = opened("qrels", qrels), [*wanted]
    if source.content == "dicts":
        return from_dicts(source.given)
    if source.content == "file" and source.is_regular_file and not wanted:
        plain = [*next(read_plain("qrels", [source.given], from_plain))]
        if len(plain) == 1 and plain[0] is not None:
            return plain[0]
    from .qrels import from_table

    return from_table(source.table(), wanted=wanted)


def match_run(prepared: Judgments, run: Any, lowest: float = -np.inf, threads: int = 1) -> JudgedRun:
    """Find the documents of level >= ``lowest`` that a run of any form retrieved, with their ranks."""
    source = opened("run", run)
    if source.content == "dicts":
        return match_dicts(prepared, source.given, lowest)
    from .tables import match_pieces, match_table, read_pieces

    if source.content == "file" and source.is_regular_file:
        return match_pieces(prepared, source.given, next(read_pieces([source.given], threads)), lowest)
    return match_table(prepared, source.table(), lowest, threads)


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
    run: Source
    judged: JudgedRun
    lowest: float

    def has_no_document(self, names: Sequence[str]) -> Bools:
        """Return whether the run has each topic, but without a document, as a response without hits."""
        empty: Bools = self.judged.n_retrieved == 0
        if not empty.any():
            return empty
        topics = self.run.without_rows
        return np.asarray(empty & [name in topics for name in names])


def match_runs(
    prepared: Judgments,
    runs: Mapping[str, Source],
    lowest: float,
    work: Callable[[MatchedRun], Result],
    *,
    whole: bool = False,
    judged_only: bool = False,
) -> Iterator[Result]:
    """Match several runs with the qrels, and yield the result of ``work`` for each, in their order.

    Args:
        prepared: the prepared qrels.
        runs: the runs by name.
        lowest: lowest level of the documents to look for; in a run that can be read only once, of all.
        work: function that is called with each matched run.
        whole: whether ``work`` needs the rows of the runs; files are then held as tables, one at a time.
        judged_only: whether ``work`` needs no documents but judged ones, and gets files by their paths.

    Raises NoSharedTopicsError or InputError; the message names the run if there are several.
    """
    # Threads read the files of several runs at a time, and match plain ones. Other rows are matched here, in
    # many short steps, which gain little from threads because of Python's global lock.
    files = [] if whole else [run for run in runs.values() if run.content == "file"]
    judged_only &= all(run.is_regular_file for run in files)
    with _reading(prepared, [run.given for run in files], lowest, judged_only=judged_only) as pieces:
        for name, given in runs.items():
            with naming_run(name, given, len(runs)):
                level = -np.inf if given.is_read_once else lowest
                if whole or given.content != "file":
                    run = given.kept(whole=True)
                    judged = match_run(prepared, run, level, processors())
                elif given.is_regular_file:
                    judged, run = _match_file(prepared, given, next(pieces), level)
                else:  # a pipe, in one piece
                    (table,) = next(pieces)
                    run = given.read_as(table)
                    judged = match_run(prepared, run, level, processors())
                if not judged.n_retrieved.any():
                    _check_shared_topics(prepared, name, run)
                result = work(MatchedRun(name, run, judged, level))
                del run, judged  # the next run may need as much memory
            yield result


@contextmanager
def naming_run(name: str, run: Source, runs: int) -> Iterator[None]:
    """Name the run in an InputError, if it is one of several and no path names it."""
    try:
        yield
    except InputError as error:
        if runs == 1 or run.path is not None:
            raise
        raise of_run(name, error) from error


def _match_file(
    prepared: Judgments, run: Source, found: JudgedRun | Iterable[Table] | None, lowest: float
) -> tuple[JudgedRun, Source]:
    """Match the file of a run if it is not yet, and return the run as it was or as a table of one piece."""
    if isinstance(found, JudgedRun):
        return found, run
    from .tables import match_pieces, read_pieces

    only: list[Table] = []
    pieces = next(read_pieces([run.given], processors())) if found is None else found
    judged = match_pieces(prepared, run.given, _keeping_one(pieces, only), lowest)
    return judged, run.read_as(only[0]) if only else run


def _keeping_one(tables: Iterable[Table], only: list[Table]) -> Iterator[Table]:
    """Yield the pieces of a file; ``only`` then has the piece if there is just one."""
    for number, table in enumerate(tables):
        only[:] = [] if number else [table]
        yield table


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


def _check_shared_topics(prepared: Judgments, name: str, run: Source) -> None:
    """Raise NoSharedTopicsError if a run has topics but none of the topics of the qrels."""
    topics = run.topics()
    if topics and prepared.number.keys().isdisjoint(topics):
        if {*topics} <= {*run.without_rows}:
            raise NoSharedTopicsError(
                f"run {name!r} has no document, only empty dicts for {format_ids(sorted(topics))}; if these "
                "are names of runs, all runs are empty"
            )
        raise NoSharedTopicsError(
            f"run {name!r} and the qrels share no topic: "
            f"the run has {format_ids(sorted(topics))}, the qrels have {format_ids(sorted(prepared.names))}"
        )


def rows_by_name(name: str, run: Source) -> RunRows:
    """Return the documents of a run; errors name the run if no file does."""
    from .tables import rows_of_run

    with naming_run(name, run, 2):  # functions of rankings name also the only run
        return rows_of_run(run.table())
