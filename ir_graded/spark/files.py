"""Files of qrels and runs, as Spark reads them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from ir_graded.errors import InputError, short_repr
from ir_graded.io.doubts import INTEGER, LETTERS, NO_ITERATION
from ir_graded.io.table import VALUE_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: A file, a folder or a pattern of either, as Spark reads them; or several.
Paths: TypeAlias = "str | os.PathLike[str] | list[str | os.PathLike[str]]"

_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))$"
_INTEGER = f"^{INTEGER.pattern}$"
#: Errors for lines that have the right number of fields but may be of another format.
_DOUBT = {
    "qrels": "looks like an NTCIR file by letters; ir_graded.read_qrels reads those",
    "run": "may be a Genomics run without run_id; ir_graded.read_run reads either where the format is named",
}
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
        raise InputError(f"{kind}: a Spark session is needed first, then the path, not {short_repr(spark)}")
    paths = as_paths(path)
    if paths is None:
        raise InputError(f"{kind}: {short_repr(path)} is neither a path nor a list of paths")
    if _is_parquet(paths):
        return spark.read.parquet(*paths)
    text = spark.read.text(paths, lineSep="\n")
    for file in text.inputFiles():
        if file.endswith(_NOT_READ):
            raise InputError(
                f"{kind}: {file}: Spark does not read this compression; gzip and zstandard it does"
            )
    return _fields(text, kind)


def as_paths(source: object) -> list[str] | None:
    """Paths as Spark wants them; None where ``source`` is none and no list of them."""
    if isinstance(source, (str, os.PathLike)):
        return [_literal(os.fspath(source))]
    if (
        isinstance(source, (list, tuple))
        and source
        and all(isinstance(one, (str, os.PathLike)) for one in source)
    ):
        return [_literal(os.fspath(one)) for one in source]
    return None


def _literal(path: str) -> str:
    """The path as Spark finds it: where there is a file of this very name, its signs are no pattern."""
    return re.sub(r"([\\\[\]{}*?])", r"\\\1", path) if Path(path).exists() else path


def _fields(text: DataFrame, kind: str) -> DataFrame:
    """The fields of TREC lines; a line that cannot be read stops the job and is named with its file."""
    from pyspark.sql import functions as F  # noqa: N812

    width, layout, names, value = _LINES[kind]
    line = F.regexp_replace("value", "^\ufeff", "")
    rows = text.select(F.split(F.trim(F.regexp_replace(line, r"\s+", " ")), " ").alias("fields"), "value")
    rows = rows.where(F.col("value").rlike(r"\S"))
    fields = F.col("fields")

    def wrong(problem: str) -> Column:
        where = F.concat(_readable(F.input_file_name()), F.lit(f": {problem}: '"), F.col("value"), F.lit("'"))
        return F.raise_error(where)

    number = F.when(fields[value].rlike(_NUMBER), _float(fields[value])).otherwise(
        wrong(f"the {'score' if kind == 'run' else 'level'} is not a number such as 2, -0.5 or 1e-3")
    )
    doubtful = {
        "qrels": fields[1].isin(list(LETTERS)),
        "run": ~fields[1].isin(list(NO_ITERATION))
        & F.forall(F.array(fields[1], fields[2], fields[4], fields[5]), lambda one: one.rlike(_INTEGER)),
    }[kind]
    # Spark reads what is no UTF-8 as this character: two ids would be one.
    unreadable = F.col("value").rlike("\ufffd")
    broken = F.col("value").rlike(r"\r(?!$)")
    complete = (
        F.when(unreadable, wrong("the line is not UTF-8"))
        .when(broken, wrong("a carriage return inside the line"))
        .when((F.size(fields) == width) & doubtful, wrong(_DOUBT[kind]))
        .otherwise(F.size(fields) == width)
    )
    return rows.select(
        *(
            F.when(complete, fields[at]).otherwise(wrong(f"expected {width} fields ({layout})")).alias(name)
            for name, at in names.items()
        ),
        F.when(complete, number).alias(VALUE_COLUMNS[kind]),
    )


def _float(text: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    # Spark reads no sign before it.
    return F.when(text.rlike("(?i)nan"), F.lit(float("nan"))).otherwise(text.cast("double"))


def names_of_files(source: Any, spark: SparkSession | None) -> set[str]:
    """Names of all runs that paths name, also of those without a line; none of a DataFrame."""
    paths = as_paths(source)
    if paths is None or _is_parquet(paths):
        return set()
    files = (spark or active()).read.text(paths).inputFiles()
    return {match[2] for file in files if (match := re.match(_RUN_OF["lines"], unquote(file)))}


def active() -> SparkSession:
    """The active session. Raises InputError where there is none."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise InputError(
            "there is no active Spark session: give DataFrames, or start one before reading a path"
        )
    return session
