"""Readers of qrels and run files on Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from ir_measures.measures import Measure

from ir_graded.core.facets import FACETS, INTENT, POSITION, SPAN, VALUE_COLUMNS, Facet
from ir_graded.errors import InputError, short_repr
from ir_graded.io.formats import INTEGER, LETTERS, NO_ITERATION
from ir_graded.measures.base import Scorer

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

with suppress(ImportError):  # not needed to score a partition
    from pyspark.sql import functions as F, types  # noqa: N812  # Spark's own documentation calls it so

#: A file, folder or pattern that Spark can read, or a list of these.
Paths: TypeAlias = "str | os.PathLike[str] | list[str | os.PathLike[str]]"

_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))$"
_INTEGER = f"^{INTEGER.pattern}$"
#: Errors for lines that have the right number of fields but may be of another format.
_DOUBT = {
    "qrels": "looks like an NTCIR file by letters; ir_graded.read_qrels reads those",
    "run": "may be a Genomics run without run_id; ir_graded.read_run reads either where the format is named",
}
#: Path and name of a run; a Parquet folder is one run, whatever the names of its parts.
_RUN_OF = {
    "parquet": r"^((?:.*?/)?([^/]+)\.parquet)(?:/.*)?$",
    "lines": r"^((?:.*/)?([^/]+?)(?:\.(?:gz|bz2|zst))?)$",
}
#: Number of fields, their names, and the position of the value.
_LINES = {"qrels": (4, "topic iteration doc level", 3), "run": (6, "topic Q0 doc rank score tag", 4)}


def read_qrels(spark: SparkSession, path: Paths) -> DataFrame:
    """Read qrels from Parquet (``*.parquet``) or TREC files: query_id, doc_id, relevance, iteration.

    Args:
        spark: the session that reads.
        path: a path or a list of paths in Spark's form: a file, a folder, or a pattern.

    Raises:
        InputError: ``path`` is not a path, or a file is compressed with xz, which Spark cannot read.
    """
    return _read(spark, "qrels", path)


def read_runs(spark: SparkSession, path: Paths) -> DataFrame:
    """Read runs from Parquet (``*.parquet``) or TREC files: run, query_id, doc_id, score.

    The name of a run is the name of its file or Parquet folder without the suffixes of compression and
    format, unless there is a column run.

    Args:
        spark: the session that reads.
        path: a path or a list of paths in Spark's form: a file, a folder, or a pattern.

    Raises:
        InputError: ``path`` is not a path, a file is compressed with xz, which Spark cannot read, or files in
            different folders have the same name.
    """
    frame = _read(spark, "run", path)
    if "run" in frame.columns:
        return frame
    pattern = _RUN_OF["parquet" if _is_parquet(as_paths(path) or []) else "lines"]
    files = sorted(frame.inputFiles())
    places: dict[str, str] = {}
    for match in filter(None, (re.match(pattern, unquote(file)) for file in files)):
        place, name = match.groups()
        if places.setdefault(name, place) != place:
            raise InputError(
                f"run: {places[name]} and {place} would both be the run {name!r}; "
                "rename one of them, or add a column run"
            )
    return frame.withColumn("run", F.regexp_extract(_readable(F.input_file_name()), pattern, 2))


def _readable(url: Column) -> Column:
    """Return the name of a file: Spark gives a URL, in which a blank is %20."""
    return F.url_decode(F.regexp_replace(url, r"\+", "%2B"))


def _is_parquet(paths: list[str]) -> bool:
    return all(path.rstrip("/").endswith(".parquet") for path in paths)


def _read(spark: SparkSession, kind: str, path: Paths) -> DataFrame:
    if not hasattr(spark, "read"):
        raise InputError(f"{kind}: expected a Spark session, then the path, found {short_repr(spark)}")
    paths = as_paths(path)
    if paths is None:
        raise InputError(f"{kind}: {short_repr(path)} is neither a path nor a list of paths")
    if _is_parquet(paths):
        return spark.read.parquet(*paths)
    text = spark.read.text(paths, lineSep="\n")
    for file in text.inputFiles():
        if file.endswith((".xz", ".zip", ".7z")):
            raise InputError(f"{kind}: {file}: Spark cannot read this compression; use gzip or zstandard")
    return _fields(text, kind)


def as_paths(source: object) -> list[str] | None:
    """Return paths in Spark's form; None if ``source`` is neither a path nor a list of paths."""
    paths = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(paths, (list, tuple)) or not paths:
        return None
    if not all(isinstance(path, (str, os.PathLike)) for path in paths):
        return None
    # Pattern characters are escaped if a file has exactly this name.
    return [
        re.sub(r"([\\\[\]{}*?])", r"\\\1", path) if Path(path).exists() else path
        for path in map(os.fspath, paths)
    ]


def _fields(text: DataFrame, kind: str) -> DataFrame:
    """Return the fields of TREC lines. An invalid line stops the job with an error that names its file."""
    width, layout, value = _LINES[kind]
    line = F.regexp_replace("value", "^\ufeff", "")
    line = F.regexp_replace(line, r"^\s+|\s+$", "")
    fields, between_tabs = F.split(line, r"\s+"), F.split(line, r"[^\S\t]*\t\s*")
    # Each line is looked at alone: fields between tabs are those of a line if one of them holds a blank.
    holds_blanks = F.size(between_tabs).between(3, F.size(fields) - 1)
    rows = text.select(F.when(holds_blanks, between_tabs).otherwise(fields).alias("fields"), "value")
    rows = rows.where(line.rlike(r"^(?!#(\s|$))\S"))
    fields = F.col("fields")

    def wrong(problem: str) -> Column:
        where = F.concat(_readable(F.input_file_name()), F.lit(f": {problem}: '"), F.col("value"), F.lit("'"))
        return F.raise_error(where)

    text_of_value = fields[value]
    # Spark cannot read a sign before NaN.
    parsed = F.when(text_of_value.rlike("(?i)nan"), float("nan")).otherwise(text_of_value.cast("double"))
    number = F.when(text_of_value.rlike(_NUMBER), parsed).otherwise(
        wrong(f"the {'score' if kind == 'run' else 'level'} is not a number such as 2, -0.5 or 1e-3")
    )
    doubtful = {
        "qrels": fields[1].isin(list(LETTERS)),
        "run": ~fields[1].isin(list(NO_ITERATION))
        & F.forall(F.array(fields[1], fields[2], fields[4], fields[5]), lambda one: one.rlike(_INTEGER)),
    }[kind]
    # Spark replaces invalid UTF-8 by this character, which could make two ids equal.
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
            for name, at in (("query_id", 0), ("doc_id", 2), *([(INTENT.name, 1)] if kind == "qrels" else []))
        ),
        F.when(complete, number).alias(VALUE_COLUMNS[kind]),
    )


def names_of_files(source: Any, spark: SparkSession | None) -> set[str]:
    """Return the names of all runs in paths, including empty files; an empty set for a DataFrame."""
    paths = as_paths(source)
    if paths is None or _is_parquet(paths):
        return set()
    files = (spark or active()).read.text(paths).inputFiles()
    return {match[2] for file in files if (match := re.match(_RUN_OF["lines"], unquote(file)))}


def active() -> SparkSession:
    """Return the active session. Raises InputError if there is none."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise InputError(
            "there is no active Spark session; pass DataFrames, or start a session before reading a path"
        )
    return session


#: Below 2 to this power, every whole number has its own float.
_DIGITS = {"float": 24, "double": 53}
#: Name of a run without a column run.
ONE_RUN = "run"


def prepared(
    kind: str, source: Any, spark: SparkSession | None, scorers: Mapping[Measure, Scorer]
) -> DataFrame:
    """Return rows with ids as text, the value as float64, and the declared columns that the source has.

    A declared column is as it was given. Its name follows the kind: qrels and run may both have the column.
    """
    frame = _frame(kind, source, spark)
    wanted = ["query_id", "doc_id", VALUE_COLUMNS[kind]]
    of_measures = [facet for one in scorers.values() for facet in (*one.needs, *one.USES)]
    used = _kinds(kind, (SPAN, POSITION, *of_measures))
    known = {*_kinds(kind, FACETS), *used} - {*wanted}
    _check_columns(kind, frame, wanted, known)
    further = [name for name in frame.columns if name in known]
    if not {*SPAN.columns} <= {*further}:
        further = [name for name in further if name not in SPAN.columns]
    _check_needs(kind, scorers, further)
    run = [name for name in frame.columns if (kind, name) == ("run", "run")]
    ids = [name for name in further if used.get(name) in {"id", "word"}]
    numbers = [name for name in further if used.get(name) in {"number", "cost", "span"}]
    _check_types(kind, frame, [*wanted[:2], *run, *ids], [wanted[2], *numbers])
    of_row = F.col("run").cast("string") if run else F.lit(ONE_RUN)
    return frame.select(
        *([of_row.alias("run")] if kind == "run" else []),
        *(_text(frame, name).alias(name) for name in wanted[:2]),
        F.col(wanted[2]).cast("double").alias("value"),
        *(F.col(f"`{name.replace('`', '``')}`").alias(f"{kind} {name}") for name in further),
    )


def _frame(kind: str, source: Any, spark: SparkSession | None) -> DataFrame:
    """Return the DataFrame that is given, or that of a path. Raises InputError for anything else."""
    frame: Any = source
    if as_paths(source) is not None:
        read = read_qrels if kind == "qrels" else read_runs
        frame = read(spark or active(), source)
    if not hasattr(frame, "columns") or not hasattr(frame, "mapInArrow"):
        raise InputError(f"{kind}: expected a Spark DataFrame or a path, found {type(source).__name__}")
    if frame.isStreaming:
        raise InputError(f"{kind}: a stream cannot be evaluated; write it to a table and pass that")
    found: DataFrame = frame
    return found


def _kinds(kind: str, facets: Iterable[Facet]) -> dict[str, str]:
    """Return the names of the columns of qrels or runs with their kinds."""
    return {name: facet.kind for facet in facets if kind in facet.of for name in _names(facet)}


def _names(facet: Facet) -> tuple[str, ...]:
    """Return the names of the columns of a declared column."""
    return facet.columns or (facet.name, *facet.other_names)


def _text(frame: DataFrame, name: str) -> Column:
    """Return a column of ids as text; a whole number, even if it is a float, becomes its digits."""
    column, kind = F.col(name), frame.schema[name].dataType.simpleString()
    if kind not in _DIGITS:
        return column.cast("string")
    whole = (column == F.rint(column)) & (F.abs(column) < 2.0 ** _DIGITS[kind])
    expected = "an id is text or a whole number (as a float, small enough to be exact), not "
    problem = F.concat(F.lit(f"{name}: {expected}"), column.cast("string"))
    text = F.when(whole, column.cast("long").cast("string")).otherwise(F.raise_error(problem))
    return F.when(column.isNull() | F.isnan(column), F.lit(None).cast("string")).otherwise(text)


def _check_columns(kind: str, frame: DataFrame, wanted: list[str], others: Iterable[str]) -> None:
    """Raise InputError if a column is missing, or named in another case, which Spark ignores."""
    for name in (*wanted, "run", *others):
        found = [column for column in frame.columns if column.lower() == name.lower()]
        if found not in ([], [name]):
            columns = ", ".join(found)
            raise InputError(f"{kind}: for Spark, {columns} is the same as {name}; keep one, named {name}")
    if missing := [name for name in wanted if name not in frame.columns]:
        raise InputError(
            f"{kind}: the DataFrame has no column {', '.join(missing)}; it has {', '.join(frame.columns)}"
        )


def _check_needs(kind: str, scorers: Mapping[Measure, Scorer], columns: Iterable[str]) -> None:
    """Raise InputError if a measure needs a column that is not among the given ones."""
    for measure, scorer in scorers.items():
        for facet in scorer.needs:
            if kind in facet.of and {*_names(facet)}.isdisjoint(columns):
                lacking = " and ".join(facet.columns or (facet.name,))
                raise InputError(
                    f"{measure} needs {facet.contents}: the DataFrame of the {kind} lacks {lacking}"
                )


def _check_types(kind: str, frame: DataFrame, ids: list[str], numbers: list[str]) -> None:
    """Raise InputError if a column does not have the required type."""
    of_ids = (types.StringType, types.IntegralType, types.FloatType, types.DoubleType)
    of_numbers = (types.NumericType, types.BooleanType)
    for name in (*ids, *numbers):
        fitting, needed = (of_numbers, "numbers are") if name in numbers else (of_ids, "text or numbers are")
        found = frame.schema[name].dataType
        if not isinstance(found, fitting):
            raise InputError(f"{kind}: the column {name} is of type {found.simpleString()}: {needed} needed")
