"""Qrels and runs as Spark DataFrames with one set of columns, from DataFrames or files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from ..errors import InputError, shown
from ..inputs.table import PASSAGE_COLUMNS, VALUE_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: A file, a folder or a pattern of either, as Spark reads them; or several.
Paths: TypeAlias = "str | os.PathLike[str] | list[str | os.PathLike[str]]"

#: What a run is called whose rows do not say.
ONE_RUN = "run"
_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))$"
#: Where a run lies, and its name: a Parquet folder is one, whatever its parts are called.
_RUN_OF = {
    "parquet": r"^((?:.*?/)?([^/]+)\.parquet)(?:/.*)?$",
    "lines": r"^((?:.*/)?([^/]+?)(?:\.(?:gz|bz2|zst))?)$",
}
_NOT_READ = (".xz", ".zip", ".7z")
_LINES = {
    "qrels": (4, "topic iteration doc level", {"query_id": 0, "doc_id": 2}, 3),
    "run": (6, "topic Q0 doc rank score tag", {"query_id": 0, "doc_id": 2}, 4),
}


def read_qrels(spark: SparkSession, path: Paths) -> DataFrame:
    """Qrels from Parquet (``*.parquet``) or TREC files: query_id, doc_id, relevance.

    Args:
        spark: the session that reads.
        path: a path or a list of them, as Spark takes them: a file, a folder, or a pattern.

    Raises:
        InputError: ``path`` is no path, or names files of xz, which Spark does not read.
    """
    return _read(spark, "qrels", path)


def read_runs(spark: SparkSession, path: Paths) -> DataFrame:
    """Runs from Parquet (``*.parquet``) or TREC files: run, query_id, doc_id, score.

    A file's name, without the endings of compression and format, is that of its run, and so is the name of a
    Parquet folder, unless it has a column run.

    Args:
        spark: the session that reads.
        path: a path or a list of them, as Spark takes them: a file, a folder, or a pattern.

    Raises:
        InputError: ``path`` is no path, names files of xz, which Spark does not read, or files of the same
            name in different folders.
    """
    from pyspark.sql import functions as F  # noqa: N812  # Spark's own documentation calls it so

    frame = _read(spark, "run", path)
    if "run" in frame.columns:
        return frame
    pattern = _RUN_OF["parquet" if _is_parquet(as_paths(path) or []) else "lines"]
    files = sorted(frame.inputFiles())
    _check_names([match for file in files if (match := re.match(pattern, unquote(file)))])
    return frame.withColumn("run", F.regexp_extract(_readable(F.input_file_name()), pattern, 2))


def _readable(url: Column) -> Column:
    """The name of a file as it is: Spark gives an address, in which a blank is %20."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.url_decode(F.regexp_replace(url, r"\+", "%2B"))


def _check_names(found: list[re.Match[str]]) -> None:
    """Raise InputError where files of runs in two places give the same name."""
    places: dict[str, str] = {}
    for match in found:
        place, name = match.groups()
        if places.setdefault(name, place) != place:
            raise InputError(
                f"run: {places[name]} and {place} would both be the run {name!r}: "
                "give them other names, or a column run"
            )


def _is_parquet(paths: list[str]) -> bool:
    return all(path.rstrip("/").endswith(".parquet") for path in paths)


def _read(spark: SparkSession, kind: str, path: Paths) -> DataFrame:
    if not hasattr(spark, "read"):
        raise InputError(f"{kind}: a Spark session is needed first, then the path, not {shown(spark)}")
    paths = as_paths(path)
    if paths is None:
        raise InputError(f"{kind}: {shown(path)} is neither a path nor a list of paths")
    if _is_parquet(paths):
        return spark.read.parquet(*paths)
    text = spark.read.text(paths)
    for file in text.inputFiles():
        if file.endswith(_NOT_READ):
            raise InputError(
                f"{kind}: {file}: Spark does not read this compression; gzip and zstandard it does"
            )
    return _fields(text, kind)


def as_paths(source: object) -> list[str] | None:
    """Paths as Spark wants them; None where ``source`` is none and no list of them."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    if (
        isinstance(source, (list, tuple))
        and source
        and all(isinstance(one, (str, os.PathLike)) for one in source)
    ):
        return [os.fspath(one) for one in source]
    return None


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
    if as_paths(source) is not None:
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
    _check_types(kind, frame, ids=wanted[:2], numbers=numbers)
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


def _check_types(kind: str, frame: DataFrame, ids: Iterable[str], numbers: Iterable[str]) -> None:
    """Raise InputError where a column would have to be taken for something that it is not."""
    from pyspark.sql import types

    of_ids = (types.StringType, types.IntegralType, types.FloatType, types.DoubleType)
    of_numbers = (types.NumericType, types.BooleanType)
    for names, fitting, needed in (
        (ids, of_ids, "text or numbers are"),
        (numbers, of_numbers, "numbers are"),
    ):
        for name in names:
            found = frame.schema[name].dataType
            if not isinstance(found, fitting):
                raise InputError(
                    f"{kind}: the column {name} is of type {found.simpleString()}: {needed} needed"
                )


def _active() -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise InputError(
            "there is no active Spark session: give DataFrames, or start one before reading a path"
        )
    return session
