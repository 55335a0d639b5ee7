"""``evaluate`` and ``mean`` on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.facets import SPAN, VALUE_COLUMNS
from ir_graded.errors import MOST_IDS, InputError, NoSharedTopicsError, ParameterError, format_ids, short_repr
from ir_graded.evaluation.provider import needs_passages
from ir_graded.evaluation.upstream import scorers_here
from ir_graded.io.values import describe_document
from ir_graded.matching.judgments import compares_single_precision
from ir_graded.measures.base import aggregate
from ir_graded.measures.parsing import read_measure, read_measures

from .files import ONE_RUN, Paths, as_paths, names_of_files, prepared
from .partitions import SCORES, Scoring

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

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

    Spark counts, sorts and distributes the rows by topic. The topics of each partition are then scored by the
    functions that score them on one machine, with the same results. A topic with too many rows for the memory
    of a worker is ranked by Spark's sort, which spills to disk.

    Args:
        measures: measure objects and strings: those of this package, and the classics that it computes.
        qrels: columns query_id, doc_id, relevance (start and length for passages); or paths.
        runs: columns query_id, doc_id, score (start and length), and run, the name of the system; without the
            column run, all rows are one run. Or paths: Parquet if they end in ``.parquet``, else TREC files.
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
        InputError: a column is missing or of another type, a row has no run or query_id, a measure needs
            passages but there are none, or a document appears twice in a topic longer than longest_topic.
        ParameterError: a measure is neither one of this package nor a classic that it computes, needs further
            columns or the order of the qrels (measures over intents, classes or groups, PassageAP, AspectAP),
            or an option is out of its range.

    Example:
        >>> import ir_graded.spark
        >>> scores = ir_graded.spark.evaluate(["Q", "AP"], qrels, runs)  # doctest: +SKIP
        >>> ir_graded.spark.mean(scores).show()  # doctest: +SKIP
    """
    from pyspark.sql import functions as F  # noqa: N812  # Spark's own documentation calls it so

    wanted = _scored_here(measures)
    if not _is_count(longest_topic):
        raise ParameterError(
            f"longest_topic={short_repr(longest_topic)} must be a whole number from 1 to {_MOST_ROWS}"
        )
    if not (broadcast is None or isinstance(broadcast, bool)):
        raise ParameterError(f"broadcast={broadcast!r} must be True, False or None")
    judged, ranked = prepared("qrels", qrels, spark), prepared("run", runs, spark)
    given = {"qrels": judged, "run": ranked}
    passages = frozenset(kind for kind, frame in given.items() if set(SPAN.columns) <= set(frame.columns))
    _check_passages(wanted, passages)
    topics_given: Any = judged if as_paths(qrels) else qrels
    type_of_topics = topics_given.schema["query_id"].dataType
    scale = [row[0] for row in judged.select("relevance").distinct().collect() if row[0] is not None]
    if not scale and judged.isEmpty():
        raise NoSharedTopicsError("the qrels are empty: there is no topic to evaluate")
    runs_given: Any = ranked if as_paths(runs) else runs
    named = "run" in runs_given.columns
    found, long_topics = _survey(judged, ranked, longest_topic)
    names = sorted({*found, *names_of_files(runs, spark)})
    if not names and named:
        raise NoSharedTopicsError("the runs are empty, so there is nothing to evaluate")
    if long_topics and "run" not in passages:
        _check_duplicates(ranked, long_topics)
    small = _small(judged) if broadcast is None else broadcast
    if small and not hasattr(judged, "_jdf"):
        raise ParameterError("broadcast=True needs a session of this process, not one of Spark Connect")
    scoring = Scoring(
        measures=tuple(wanted),
        runs=tuple(names or [ONE_RUN]),
        named=named,
        scale=tuple(scale),
        judged=_broadcast(judged) if small else None,
        passages=passages,
        # A larger piece could hide a topic that is too long.
        piece=min(_PIECE, longest_topic),
        longest=longest_topic,
    )
    topics = judged.select("query_id").distinct()
    left = topics if small else judged.withColumnRenamed(VALUE_COLUMNS["qrels"], "value")
    right = ranked.withColumnRenamed(VALUE_COLUMNS["run"], "value")
    if small:
        right = right.join(F.broadcast(topics), "query_id", "left_semi")
    rows = (
        right.unionByName(left.withColumn("run", F.lit(None).cast("string")), allowMissingColumns=True)
        # Not by the column itself: Spark 4 then takes the union's parts for distributed already, and changes
        # them while it runs.
        .withColumn("place", F.xxhash64("query_id"))
        .repartition("place")
        .drop("place")
        .sortWithinPartitions(
            F.col("run").asc_nulls_first(),
            "query_id",
            _compared(F.col("value")).desc(),
            F.col("doc_id").desc(),
        )
    )
    scores = rows.mapInArrow(scoring, SCORES)
    return scores.withColumn("query_id", F.col("query_id").cast(type_of_topics))


def mean(scores: DataFrame) -> DataFrame:
    """Aggregate the scores of :func:`evaluate` over the topics, for each run and measure.

    Args:
        scores: columns run, query_id, measure, value.

    Returns:
        Columns run, measure, value: the mean rounded once, or the sum of counts such as NumRet.

    Raises:
        InputError: ``scores`` is not such a DataFrame.
    """
    from pyspark.sql import functions as F  # noqa: N812

    missing = {"run", "measure", "value"} - set(getattr(scores, "columns", ()))
    if missing or not hasattr(scores, "mapInArrow"):
        raise InputError("scores: expected the Spark DataFrame from evaluate, with run, measure and value")

    # Sort, so that the last digit does not depend on the order of the topics.
    values = F.sort_array(F.collect_list("value"))
    total = F.udf(lambda *row: _aggregate(*row), "double")  # noqa: PLW0108  # Spark acts on type hints
    grouped = scores.groupBy("run", "measure").agg(values.alias("values"))
    return grouped.select("run", "measure", total("measure", "values").alias("value"))


def _aggregate(measure: str, values: list[float]) -> float:
    return aggregate(read_measure(measure), np.array(values, dtype=np.float64))


def _scored_here(measures: Iterable[str | Measure] | str | Measure) -> list[Measure]:
    wanted = read_measures(measures)
    for measure, scorer in scorers_here(wanted, "ir_graded.spark.evaluate", "columns").items():
        if scorer.NEEDS_QRELS_ORDER:
            raise ParameterError(
                f"{measure} depends on the order of the rows of the qrels, which Spark does not keep; "
                "use ir_graded.evaluate"
            )
    return wanted


def _check_passages(measures: Iterable[Measure], given: frozenset[str]) -> None:
    """Raise InputError if a measure needs passages and qrels or runs have none (are not in ``given``)."""
    for measure in filter(needs_passages, measures):
        for kind in [kind for kind in VALUE_COLUMNS if kind not in given]:
            columns = " and ".join(SPAN.columns)
            raise InputError(f"{measure} needs passages: the {kind}'s DataFrame lacks {columns}")


def _compared(value: Column) -> Column:
    """Return a score in the precision used on one machine, with -0.0 equal to 0.0."""
    from pyspark.sql import functions as F  # noqa: N812

    return (value.cast("float") if compares_single_precision() else value) + F.lit(0).cast("float")


def _survey(judged: DataFrame, ranked: DataFrame, longest: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names of all runs, and the (run, topic) pairs with too many rows for memory."""
    from pyspark.sql import functions as F  # noqa: N812

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
    """Raise InputError if a document appears twice in one of the topics that are not held in memory."""
    from pyspark.sql import functions as F  # noqa: N812

    session = ranked.sparkSession
    some = session.createDataFrame(long_topics, "run string, query_id string")
    rows = ranked.join(F.broadcast(some), ["run", "query_id"], "left_semi")
    twice = rows.groupBy("run", "query_id", "doc_id").count().where("count > 1").head()
    if twice is not None:
        where = describe_document(twice["query_id"], twice["doc_id"])
        raise InputError(f"run {twice['run']!r}: {where} appears {twice['count']} times")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_ROWS


def _small(judged: DataFrame) -> bool:
    """Return whether the qrels fit into a broadcast by Spark's statistics; Spark Connect has none."""
    if not hasattr(judged, "_jdf"):
        return False
    plan: Any = judged._jdf.queryExecution().optimizedPlan()  # noqa: SLF001  # no public way to statistics
    return int(str(plan.stats().sizeInBytes())) <= _BROADCAST_BYTES


def _broadcast(judged: DataFrame) -> Callable[[], pa.Table]:
    """Return all qrels as a broadcast value for every worker."""
    import pyarrow as pa

    renamed = judged.withColumnRenamed(VALUE_COLUMNS["qrels"], "value")
    rows = renamed.collect()
    columns = {name: [row[name] for row in rows] for name in renamed.columns}
    sent = judged.sparkSession.sparkContext.broadcast(pa.table(columns))
    return _Broadcast(sent)


class _Broadcast:
    """Callable that returns a broadcast value; Spark sends only the reference."""

    def __init__(self, sent: Any) -> None:
        self.sent = sent

    def __call__(self) -> pa.Table:
        table: pa.Table = self.sent.value
        return table
