"""Scoring of one Spark partition: from Arrow batches of judgments and runs to scores.

The rows are sorted: judgments first, then by run and topic, each topic in the order of its ranking. Pieces of
whole topics are scored by the functions that score them on one machine. For a topic that is longer than a
piece, only judged rows are kept; ranks are the positions of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.facets import SPAN, VALUE_COLUMNS
from ir_graded.core.judged_run import JudgedRun
from ir_graded.errors import InputError
from ir_graded.evaluation.provider import GradedEvaluator, native_scorers, wanted_columns
from ir_graded.io.table import Table, from_frame
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.qrels import from_table
from ir_graded.matching.tables import match_ranked

if TYPE_CHECKING:
    import pyarrow as pa

#: Columns of the result of a partition.
SCORES = "run string, query_id string, measure string, value double"


@dataclass(frozen=True, eq=False)
class Scoring:
    """Scoring function that is sent to all workers and called with the rows of each partition.

    Attributes:
        measures: the measures.
        runs: names of all runs; a run that lacks a topic is scored as an empty run there.
        named: whether the rows have a column run; otherwise all rows are one run.
        scale: all levels in the qrels, for measures that use the highest one.
        judged: the judgments of every topic if they were broadcast; the rows of a partition then only give
            its topics.
        passages: which of qrels and run have start and length.
        piece: approximate number of rows of a run that are scored together.
        longest: a topic with more rows is not held in memory, unless they are passages.
    """

    measures: tuple[Measure, ...]
    runs: tuple[str, ...]
    named: bool
    scale: tuple[float, ...]
    judged: Callable[[], pa.Table] | None
    passages: frozenset[str]
    piece: int
    longest: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the scores of every run on every topic of the partition."""
        parts = groupby(_stretches(batches), key=lambda stretch: stretch[0])
        name, rows = next(parts, (None, iter(())))
        # Topics without judgments are not in the qrels.
        judgments = self._judgments([table for _, table in rows]) if name is None else None
        if judgments is None:
            return
        evaluator = GradedEvaluator(native_scorers(self.measures), judgments)
        missing = dict.fromkeys(self.runs)
        for name, stretches in parts:
            if str(name) not in missing:
                raise InputError(
                    f"run: {name!r} did not exist when the runs were listed: the DataFrame gives different "
                    "rows each time it is computed; write it to a file, or checkpoint it"
                )
            del missing[str(name)]
            yield from self._scores(evaluator, str(name), (table for _, table in stretches))
        for absent in missing:
            yield from self._scores(evaluator, absent, iter(()))

    def _judgments(self, rows: list[pa.Table]) -> Judgments | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not rows:
            return None
        table = pa.concat_tables(rows)
        if self.judged is not None:
            everything = self.judged()
            table = everything.filter(pc.is_in(everything["query_id"], table["query_id"].combine_chunks()))
        wanted = wanted_columns(self.measures)
        return from_table(self._table("qrels", table, ""), self.scale, wanted)

    def _table(self, kind: str, rows: pa.Table, where: str) -> Table:
        names = ["query_id", "doc_id", "value", *(SPAN.columns if kind in self.passages else ())]
        columns = dict(zip(names, rows.select(names).columns, strict=True))
        columns[VALUE_COLUMNS[kind]] = columns.pop("value")
        return from_frame(kind, type(rows).from_pydict(columns), lambda _: where)

    def _scores(
        self, evaluator: GradedEvaluator, name: str, tables: Iterator[pa.Table]
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        judgments = evaluator.judgments
        parts = [self._match(evaluator, name, piece) for piece in self._pieces(tables)]
        scored = evaluator.scores_of(JudgedRun.joined(judgments.levels, parts))
        topics = len(judgments.names)
        for measure, values in scored.items():
            yield pa.RecordBatch.from_pydict(
                {
                    "run": pa.array([name] * topics, pa.string()),
                    "query_id": pa.array(judgments.names, pa.string()),
                    "measure": pa.array([str(measure)] * topics, pa.string()),
                    "value": pa.array(values, pa.float64()),
                }
            )

    def _match(
        self, evaluator: GradedEvaluator, name: str, piece: pa.Table | Iterator[pa.Table]
    ) -> JudgedRun:
        where = f"run {name!r}" if self.named else "the only run, as the DataFrame has no column run"
        if isinstance(piece, Iterator):
            parts = (self._table("run", table, where) for table in piece)
            return match_ranked(evaluator.judgments, parts, evaluator.lowest)
        return evaluator.match(self._table("run", piece, where), threads=1)

    def _pieces(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table | Iterator[pa.Table]]:
        """Yield a run as tables of whole topics, or as an iterator of tables for a topic that is too long."""
        import pyarrow as pa

        held: list[pa.Table] = []
        for table in tables:
            held.append(table)
            rows = sum(map(len, held))
            if rows < self.piece:
                continue
            whole = pa.concat_tables(held)
            end = _last_change(whole["query_id"])
            if end:
                yield whole.slice(0, end)
                held = [whole.slice(end)]
            elif rows > self.longest and "run" not in self.passages:
                held = []
                yield _topic(whole, tables, held)
        if held:
            yield pa.concat_tables(held)


def _topic(first: pa.Table, others: Iterator[pa.Table], rest: list[pa.Table]) -> Iterator[pa.Table]:
    """Yield the tables of one topic; append the rows after it to ``rest``."""
    import pyarrow.compute as pc

    yield first
    topic = first["query_id"][0]
    for table in others:
        own_rows = int(pc.sum(pc.equal(table["query_id"], topic)).as_py() or 0)
        if own_rows:
            yield table.slice(0, own_rows)
        if own_rows < len(table):
            rest.append(table.slice(own_rows))
            return


def _last_change(topics: pa.ChunkedArray) -> int:
    """Return the position at which the last topic of a column begins."""
    codes = topics.combine_chunks().dictionary_encode().indices.to_numpy()
    changes = np.flatnonzero(np.diff(codes))
    return int(changes[-1]) + 1 if changes.size else 0


def _stretches(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str | None, pa.Table]]:
    """Yield each batch split by run: the name (None for qrels) and the rows."""
    import pyarrow as pa

    for batch in batches:
        table = pa.Table.from_batches([batch])
        codes = table["run"].combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
        bounds = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
        for begin, end in pairwise(bounds):
            if end > begin:
                yield table["run"][begin].as_py(), table.slice(begin, end - begin)
