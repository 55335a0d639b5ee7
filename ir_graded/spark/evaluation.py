"""``evaluate`` and ``mean`` on Spark, and the scoring of one partition: from Arrow batches to scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.facets import INCLUSION, POSITION, SPAN, STRATUM, VALUE_COLUMNS
from ir_graded.core.judged_run import JudgedRun
from ir_graded.errors import MOST_IDS, InputError, NoSharedTopicsError, ParameterError, format_ids, short_repr
from ir_graded.evaluation.provider import GradedEvaluator, native_scorers, scorers_here, wanted_columns
from ir_graded.io.table import Table, from_frame
from ir_graded.io.values import describe_document
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.qrels import from_table
from ir_graded.matching.tables import match_ranked
from ir_graded.measures.base import aggregate
from ir_graded.measures.parsing import read_measure, read_measures

from .files import ONE_RUN, Paths, as_paths, names_of_files, prepared

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

with suppress(ImportError):  # not needed to score a partition
    from pyspark.sql import functions as F  # noqa: N812  # Spark's own documentation calls it so

_BROADCAST_BYTES = 16 << 20
_PIECE = 1 << 18  # rows that a worker scores together
_MOST_ROWS = 1 << 62  # of a topic: Spark counts with 64 bits


def evaluate(
    measures: Iterable[str | Measure] | str | Measure,
    qrels: DataFrame | Paths,
    runs: DataFrame | Paths,
    *,
    broadcast: bool | None = None,
    longest_topic: int = 1 << 22,
    spark: SparkSession | None = None,
) -> DataFrame:
    """Score runs that are Spark DataFrames, or files that Spark reads.

    Spark distributes and sorts the rows by topic; the scores are those of one machine. A topic with too many
    rows for the memory of a worker is ranked by Spark's sort, which spills to disk.

    Args:
        measures: measure objects and strings: those of this package, and the classics that it computes.
        qrels: columns query_id, doc_id, relevance, and further ones as for ``ir_graded.evaluate`` (start and
            length for passages, iteration for intents and so on); or paths.
        runs: columns query_id, doc_id, score, further ones (start and length, position), and run, the name of
            the system; without the column run, all rows are one run. Or paths: Parquet if they end in
            ``.parquet``, else TREC files.
        broadcast: whether every worker gets all qrels, or only those of its topics together with the rows of
            the runs; by default all qrels if Spark's statistics show that they are smaller than 16 MiB.
        longest_topic: a topic with more rows than this is not held in memory.
        spark: the session that reads paths; by default the active one.

    Returns:
        Columns run (string), query_id (as in the qrels), measure (its printed name) and value (double), with
        every topic of the qrels for every run. Scores are computed lazily, when Spark needs the rows. An
        invalid row then stops the job, with our message in Spark's exception.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run has none of their topics.
        InputError: a column that is required or that a measure needs is missing or of another type, a row has
            no run or query_id, or a document or position appears twice in a topic longer than longest_topic.
        ParameterError: a measure is neither one of this package nor a classic that it computes, or depends on
            the order of the rows of the qrels (PassageAP, AspectAP), or an option is out of its range.

    Example:
        >>> import ir_graded.spark
        >>> scores = ir_graded.spark.evaluate(["Q", "AP"], qrels, runs)  # doctest: +SKIP
        >>> ir_graded.spark.mean(scores).show()  # doctest: +SKIP
    """
    wanted = scorers_here(read_measures(measures), "ir_graded.spark.evaluate")
    if others := [measure for measure, scorer in wanted.items() if scorer.NEEDS_QRELS_ORDER]:
        raise ParameterError(
            f"{others[0]} depends on the order of the rows of the qrels, which Spark does not keep; "
            "use ir_graded.evaluate"
        )
    _check_options(longest_topic, broadcast)
    judged, ranked = prepared("qrels", qrels, spark, wanted), prepared("run", runs, spark, wanted)
    scale = _scale(judged)
    runs_given: Any = ranked if as_paths(runs) else runs
    named = "run" in runs_given.columns
    found, long_topics = _survey(judged, ranked, longest_topic)
    names = sorted({*found, *names_of_files(runs, spark)})
    if not names and named:
        raise NoSharedTopicsError("the runs are empty, so there is nothing to evaluate")
    if long_topics and f"run {SPAN.columns[0]}" not in ranked.columns:
        _check_duplicates(ranked, long_topics)
    everywhere = _broadcast(judged, broadcast)
    scoring = Scoring(
        measures=tuple(wanted),
        runs=tuple(names or [ONE_RUN]),
        named=named,
        scale=scale,
        judged=everywhere,
        # A larger piece could hide a topic that is too long.
        piece=min(_PIECE, longest_topic),
        longest=longest_topic,
    )
    if everywhere is None:
        rows = _in_order(judged, ranked)
    else:
        topics = judged.select("query_id").distinct()
        rows = _in_order(topics, ranked.join(F.broadcast(topics), "query_id", "left_semi"))
    scores = rows.mapInArrow(scoring, "run string, query_id string, measure string, value double")
    topics_given: Any = judged if as_paths(qrels) else qrels
    return scores.withColumn("query_id", F.col("query_id").cast(topics_given.schema["query_id"].dataType))


def _check_options(longest_topic: Any, broadcast: object) -> None:
    is_count = isinstance(longest_topic, int) and not isinstance(longest_topic, bool)
    if not (is_count and 1 <= longest_topic <= _MOST_ROWS):
        raise ParameterError(
            f"longest_topic={short_repr(longest_topic)} must be a whole number from 1 to {_MOST_ROWS}"
        )
    if not (broadcast is None or isinstance(broadcast, bool)):
        raise ParameterError(f"broadcast={broadcast!r} must be True, False or None")


def _scale(judged: DataFrame) -> tuple[float, ...]:
    """Return all levels of the qrels, without those of rows that Table.judgments drops."""
    sampled = f"qrels {INCLUSION.name}" in judged.columns and f"qrels {STRATUM.name}" not in judged.columns
    counted = judged.dropna(subset=[f"qrels {INCLUSION.name}"]) if sampled else judged
    scale = [level for (level,) in counted.select("value").distinct().collect() if level is not None]
    if not scale and judged.isEmpty():
        raise NoSharedTopicsError("the qrels are empty: there is no topic to evaluate")
    return tuple(scale)


def _in_order(judged: DataFrame, ranked: DataFrame) -> DataFrame:
    """Return all rows, partitioned by topic: judgments first, then each run in the order of its rankings."""
    position = [F.col(name) for name in ranked.columns if name == f"run {POSITION.name}"]
    return (
        ranked.unionByName(judged.withColumn("run", F.lit(None).cast("string")), allowMissingColumns=True)
        # Not by the column itself: Spark 4 then takes the union's parts for distributed already, and changes
        # them while it runs.
        .withColumn("place", F.xxhash64("query_id"))
        .repartition("place")
        .drop("place")
        .sortWithinPartitions(
            F.col("run").asc_nulls_first(),
            "query_id",
            (F.col("value") + F.lit(0.0)).desc(),  # -0.0 becomes 0.0
            *position,
            F.col("doc_id").desc(),
        )
    )


def mean(scores: DataFrame) -> DataFrame:
    """Aggregate the scores of :func:`evaluate` over the topics, for each run and measure.

    Args:
        scores: columns run, query_id, measure, value.

    Returns:
        Columns run, measure, value: the mean rounded once, or the sum of counts such as NumRet.

    Raises:
        InputError: ``scores`` is not such a DataFrame.
    """
    missing = {"run", "measure", "value"} - set(getattr(scores, "columns", ()))
    if missing or not hasattr(scores, "mapInArrow"):
        raise InputError("scores: expected the Spark DataFrame from evaluate, with run, measure and value")

    # Sort, so that the last digit does not depend on the order of the topics.
    values = F.sort_array(F.collect_list("value"))
    total = F.udf(lambda measure, row: aggregate(read_measure(measure), np.array(row)), "double")
    grouped = scores.groupBy("run", "measure").agg(values.alias("values"))
    return grouped.select("run", "measure", total("measure", "values").alias("value"))


def _survey(judged: DataFrame, ranked: DataFrame, longest: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names of all runs, and the (run, topic) pairs with too many rows for memory."""
    known = judged.select("query_id").distinct().withColumn("known", F.lit(1))
    counts = ranked.groupBy("run", "query_id").count().join(known, "query_id", "left")
    is_long = (F.col("known") == 1) & (F.col("count") > longest)
    found = (
        counts.groupBy("run")
        .agg(
            F.max("known").alias("known"),
            F.max(F.col("query_id").isNull()).alias("nameless"),
            F.collect_list(F.when(is_long, F.col("query_id"))).alias("long"),
            F.slice(F.collect_set("query_id"), 1, MOST_IDS + 1).alias("some"),
        )
        .collect()
    )
    for row in found:
        if row["run"] is None:
            raise InputError("run: a row has no run; name the system of every row, or remove the column run")
        if row["nameless"]:
            raise InputError(f"run {row['run']!r}: a row has no query_id")
        if row["known"] is None:
            topics = judged.select("query_id").dropna().distinct()
            of_qrels = [topic for (topic,) in topics.limit(MOST_IDS + 1).collect()]
            of_run = format_ids(sorted(row["some"]))
            raise NoSharedTopicsError(
                f"run {row['run']!r} and the qrels share no topic: "
                f"the run has {of_run}, the qrels have {format_ids(sorted(of_qrels))}"
            )
    long_topics = [(row["run"], topic) for row in found for topic in row["long"]]
    return sorted(row["run"] for row in found), long_topics


def _check_duplicates(ranked: DataFrame, long_topics: list[tuple[str, str]]) -> None:
    """Raise InputError if a topic that is not held in memory has a document or position twice."""
    session = ranked.sparkSession
    some = session.createDataFrame(long_topics, "run string, query_id string")
    rows = ranked.join(F.broadcast(some), ["run", "query_id"], "left_semi")
    for name in {"doc_id", f"run {POSITION.name}"} & {*rows.columns}:
        twice = rows.groupBy("run", "query_id", name).count().where("count > 1").head()
        if twice is not None:
            where = describe_document(twice["query_id"], twice[name])
            if name != "doc_id":
                where = f"topic {short_repr(twice['query_id'])}: the {POSITION.name} {twice[name]:g}"
            raise InputError(f"run {twice['run']!r}: {where} appears {twice['count']} times")


def _broadcast(judged: DataFrame, wanted: bool | None) -> Broadcast[pa.Table] | None:
    """Return all qrels for every worker if that is wanted, by default if Spark's statistics are small."""
    import pyarrow as pa

    is_classic = hasattr(judged, "_jdf")  # Spark Connect has neither broadcasts nor statistics
    if wanted and not is_classic:
        raise ParameterError("broadcast=True needs a session of this process, not one of Spark Connect")
    if wanted is None and is_classic:
        plan: Any = judged._jdf.queryExecution().optimizedPlan()  # noqa: SLF001  # no public way to them
        wanted = int(str(plan.stats().sizeInBytes())) <= _BROADCAST_BYTES
    if not wanted:
        return None
    rows = judged.collect()
    columns = {name: [row[name] for row in rows] for name in judged.columns}
    return judged.sparkSession.sparkContext.broadcast(pa.table(columns))


@dataclass(frozen=True, eq=False)
class Scoring:
    """Scoring function that is sent to all workers and called with the rows of each partition.

    The rows are sorted: judgments first, then by run and topic, each topic in the order of its ranking.
    Pieces of whole topics are scored by the functions that score them on one machine. For a topic that is
    longer than a piece, only judged rows are kept; ranks are the positions of the rows.
    """

    measures: tuple[Measure, ...]
    #: Names of all runs; a run that lacks a topic is scored as an empty run there.
    runs: tuple[str, ...]
    #: Whether the rows have a column run; otherwise all rows are one run.
    named: bool
    #: All levels in the qrels, for measures that use the highest one.
    scale: tuple[float, ...]
    #: The judgments of every topic if they were broadcast; the rows of a partition then only give its topics.
    judged: Broadcast[pa.Table] | None
    #: Approximate number of rows of a run that are scored together.
    piece: int
    #: A topic with more rows is not held in memory, unless they are passages.
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
            everything = self.judged.value
            table = everything.filter(pc.is_in(everything["query_id"], table["query_id"].combine_chunks()))
        return from_table(self._table("qrels", table, ""), self.scale, wanted_columns(self.measures))

    def _table(self, kind: str, rows: pa.Table, where: str) -> Table:
        columns = {"query_id": "query_id", "doc_id": "doc_id", VALUE_COLUMNS[kind]: "value"}
        for name in rows.column_names:
            if name.startswith(f"{kind} "):
                columns[name.removeprefix(f"{kind} ")] = name
        table = rows.select([*columns.values()]).rename_columns([*columns])
        return from_frame(kind, table, lambda _: where)

    def _scores(
        self, evaluator: GradedEvaluator, name: str, tables: Iterator[pa.Table]
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        judgments = evaluator.judgments
        where = f"run {name!r}" if self.named else "the only run, as the DataFrame has no column run"
        parts = []
        for piece in self._pieces(tables):
            if isinstance(piece, Iterator):
                rows = (self._table("run", table, where) for table in piece)
                parts.append(match_ranked(judgments, rows, evaluator.lowest))
            else:
                parts.append(evaluator.match(self._table("run", piece, where), threads=1))
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
            end = _bounds(whole["query_id"])[-2]  # where the last topic begins
            if end:
                yield whole.slice(0, end)
                held = [whole.slice(end)]
            elif rows > self.longest and f"run {SPAN.columns[0]}" not in whole.column_names:
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


def _bounds(column: pa.ChunkedArray) -> list[int]:
    """Return the positions at which equal values of a column begin, and its length."""
    codes = column.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
    return [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]


def _stretches(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str | None, pa.Table]]:
    """Yield each batch split by run: the name (None for qrels) and the rows."""
    import pyarrow as pa

    for batch in batches:
        table = pa.Table.from_batches([batch])
        for begin, end in pairwise(_bounds(table["run"])):
            if end > begin:
                yield table["run"][begin].as_py(), table.slice(begin, end - begin)
