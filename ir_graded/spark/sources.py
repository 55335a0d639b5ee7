"""Qrels and runs as Spark DataFrames with one set of columns, from DataFrames or files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ir_graded.errors import InputError
from ir_graded.io.table import PASSAGE_COLUMNS, VALUE_COLUMNS

from .files import active, as_paths, read_qrels, read_runs

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: Below 2 to this power, every whole number has its own float.
_DIGITS = {"float": 24, "double": 53}
_NO_ID = "an id is text or a whole number (as a float, small enough to be exact), not "
#: Name of a run without a column run.
ONE_RUN = "run"


def prepared(kind: str, source: Any, spark: SparkSession | None) -> DataFrame:
    """Return a DataFrame with the required columns: ids as text and numbers as float64.

    Raises:
        InputError: a column is missing, or ``source`` is neither a DataFrame nor a path.
    """
    from pyspark.sql import functions as F  # noqa: N812

    frame: Any = source
    if as_paths(source) is not None:
        session = spark or active()
        frame = read_qrels(session, source) if kind == "qrels" else read_runs(session, source)
    if not hasattr(frame, "columns") or not hasattr(frame, "mapInArrow"):
        raise InputError(f"{kind}: expected a Spark DataFrame or a path, found {type(source).__name__}")
    if frame.isStreaming:
        raise InputError(f"{kind}: a stream cannot be evaluated; write it to a table and pass that")
    wanted = ["query_id", "doc_id", VALUE_COLUMNS[kind]]
    _check_columns(kind, frame, [*wanted, "run", *PASSAGE_COLUMNS])
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise InputError(
            f"{kind}: the DataFrame has no column {', '.join(missing)}; it has {', '.join(frame.columns)}"
        )
    numbers = [wanted[2], *(name for name in PASSAGE_COLUMNS if set(PASSAGE_COLUMNS) <= set(frame.columns))]
    named = kind == "run" and "run" in frame.columns
    _check_types(kind, frame, ids=[*wanted[:2], *(["run"] if named else [])], numbers=numbers)
    run = []
    if kind == "run":
        run = [(F.col("run").cast("string") if named else F.lit(ONE_RUN)).alias("run")]
    found: DataFrame = frame.select(
        *run,
        *(_text(frame, name).alias(name) for name in wanted[:2]),
        *(F.col(name).cast("double").alias(name) for name in numbers),
    )
    return found


def _text(frame: DataFrame, name: str) -> Column:
    """Return a column of ids as text; a whole number, even if it is a float, becomes its digits."""
    from pyspark.sql import functions as F  # noqa: N812

    column, kind = F.col(name), frame.schema[name].dataType.simpleString()
    if kind not in _DIGITS:
        return column.cast("string")
    whole = (column == F.rint(column)) & (F.abs(column) < 2.0 ** _DIGITS[kind])
    problem = F.concat(F.lit(f"{name}: {_NO_ID}"), column.cast("string"))
    text = F.when(whole, column.cast("long").cast("string")).otherwise(F.raise_error(problem))
    return F.when(column.isNull() | F.isnan(column), F.lit(None).cast("string")).otherwise(text)


def _check_columns(kind: str, frame: DataFrame, names: Iterable[str]) -> None:
    """Raise InputError if names differ from the required ones only in case, which Spark ignores."""
    for name in names:
        found = [column for column in frame.columns if column.lower() == name]
        if len(found) > 1:
            columns = ", ".join(found)
            raise InputError(f"{kind}: the columns {columns} are the same for Spark; keep one, named {name}")
        if found not in ([], [name]):
            raise InputError(f"{kind}: rename the column {found[0]} to {name}")


def _check_types(kind: str, frame: DataFrame, ids: Iterable[str], numbers: Iterable[str]) -> None:
    """Raise InputError if a column does not have the required type."""
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
