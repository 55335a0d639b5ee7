"""Qrels and runs as Spark DataFrames with one set of columns, from DataFrames or files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..inputs.table import PASSAGE_COLUMNS, VALUE_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: What a run is called whose rows do not say.
ONE_RUN = "run"
_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))$"
_LINES = {
    "qrels": (4, "topic iteration doc level", {"query_id": 0, "doc_id": 2}, 3),
    "run": (6, "topic Q0 doc rank score tag", {"query_id": 0, "doc_id": 2}, 4),
}


def read_qrels(spark: SparkSession, path: str) -> DataFrame:
    """Qrels from Parquet (``*.parquet``) or TREC files: query_id, doc_id, relevance."""
    return _read(spark, "qrels", path)


def read_runs(spark: SparkSession, path: str) -> DataFrame:
    """Runs from Parquet (``*.parquet``) or TREC files: run, query_id, doc_id, score.

    A file's name, without the endings of compression and format, is that of its run, unless a Parquet
    file has a column run.
    """
    from pyspark.sql import functions as F  # noqa: N812  # Spark's own documentation calls it so

    frame = _read(spark, "run", path)
    if "run" in frame.columns:
        return frame
    name = F.element_at(F.split(F.input_file_name(), "/"), -1)
    return frame.withColumn("run", F.regexp_replace(name, r"\.(gz|bz2|zst|parquet)$", ""))


def _read(spark: SparkSession, kind: str, path: str) -> DataFrame:
    if path.rstrip("/").endswith(".parquet"):
        return spark.read.parquet(path)
    return _fields(spark.read.text(path), kind)


def _fields(text: DataFrame, kind: str) -> DataFrame:
    """The fields of TREC lines; a line that cannot be read stops the job and is named with its file."""
    from pyspark.sql import functions as F  # noqa: N812

    width, layout, names, value = _LINES[kind]
    line = F.regexp_replace("value", "^\ufeff", "")
    rows = text.select(F.split(F.trim(F.regexp_replace(line, r"\s+", " ")), " ").alias("fields"), "value")
    rows = rows.where(F.col("value").rlike(r"\S"))
    fields = F.col("fields")

    def wrong(problem: str) -> Column:
        where = F.concat(F.input_file_name(), F.lit(f": {problem}: '"), F.col("value"), F.lit("'"))
        return F.raise_error(where)

    number = F.when(fields[value].rlike(_NUMBER), _float(fields[value])).otherwise(
        wrong(f"the {'score' if kind == 'run' else 'level'} is not a number such as 2, -0.5 or 1e-3")
    )
    complete = F.size(fields) == width
    return rows.select(
        *(
            F.when(complete, fields[at]).otherwise(wrong(f"expected {width} fields ({layout})")).alias(name)
            for name, at in names.items()
        ),
        F.when(complete, number).alias(VALUE_COLUMNS[kind]),
    )


def _float(text: Column) -> Column:
    return text.cast("double")


def prepared(kind: str, source: Any, spark: SparkSession | None) -> DataFrame:
    """A DataFrame with text ids and numbers as float64, in the columns that count.

    Raises:
        InputError: it lacks a column, or is no DataFrame and no path.
    """
    from pyspark.sql import functions as F  # noqa: N812

    frame: Any = source
    if isinstance(source, str):
        session = spark or _active()
        frame = read_qrels(session, source) if kind == "qrels" else read_runs(session, source)
    if not hasattr(frame, "columns") or not hasattr(frame, "mapInArrow"):
        raise InputError(f"{kind}: a Spark DataFrame or a path is needed, not {type(source).__name__}")
    wanted = ["query_id", "doc_id", VALUE_COLUMNS[kind]]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise InputError(
            f"{kind}: the DataFrame has no column {', '.join(missing)}; it has {', '.join(frame.columns)}"
        )
    numbers = [wanted[2], *(name for name in PASSAGE_COLUMNS if set(PASSAGE_COLUMNS) <= set(frame.columns))]
    run = []
    if kind == "run":
        named = "run" in frame.columns
        run = [(F.col("run").cast("string") if named else F.lit(ONE_RUN)).alias("run")]
    found: DataFrame = frame.select(
        *run,
        F.col("query_id").cast("string").alias("query_id"),
        F.col("doc_id").cast("string").alias("doc_id"),
        *(F.col(name).cast("double").alias(name) for name in numbers),
    )
    return found


def _active() -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise InputError(
            "there is no active Spark session: give DataFrames, or start one before reading a path"
        )
    return session
