"""Conversion of columns of any table library to Polars text and NumPy numbers, with few copies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

from ir_graded.core.facets import SWAPPED
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, cut, short_repr


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    try:
        # NaN and NaT differ from themselves; comparing NA gives NA.
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):
        # A signalling NaN of decimal cannot be compared either.
        return True
    except ValueError:
        # An array is compared elementwise.
        return False


def as_text(value: Any) -> str:
    """Return an id as text, by one rule for all forms of qrels and runs.

    A string counts by its characters, even if its class defines another ``__str__``; bytes are decoded as
    UTF-8; a whole number, even if it is a float, becomes its digits.

    Raises:
        InputError: the value is anything else, such as 1.5, True, a date or a path.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        try:
            return str(int(value))
        except ValueError:
            # Python cannot print an int with thousands of digits.
            raise InputError(f"{short_repr(value)} is not an id; write it as text") from None
    if isinstance(value, (float, np.floating)):
        # Larger floats may represent several whole numbers.
        limit = 2.0 ** (np.finfo(type(value)).nmant + 1)
        if not (float(value).is_integer() and abs(float(value)) < limit):
            raise invalid_id(value)
        return str(int(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise InputError(f"the id {short_repr(bytes(value))} is not valid UTF-8") from None
    raise invalid_id(value)


def invalid_id(value: Any) -> InputError:
    """Return the error for a value that cannot be an id."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return InputError(
            f"the float {short_repr(value)} may represent several whole numbers; give ids as text or integers"
        )
    return InputError(
        f"an id is text or a whole number, not a {type(value).__name__} such as {short_repr(value)}"
    )


def type_of_id(value: Any) -> type:
    """Return the type that distinguishes ids that are equal as text.

    Subclasses of ``str``, and integers or floats of NumPy, count as the Python type, to which they are equal.
    """
    for kind, subclasses in ((str, str), (int, (int, np.integer)), (float, (float, np.floating))):
        if isinstance(value, subclasses):
            return kind
    return type(value)


QUEPID = ("query", "docid", "rating")
#: Names of topic, document and value by kind: of ir-measures, PyTerrier, BEIR and MTEB, and Quepid.
CONVENTIONS = {
    "qrels": (
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
        ("query-id", "corpus-id", "score"),
        QUEPID,
    ),
    "run": (
        ("query_id", "doc_id", "score"),
        ("qid", "docno", "score"),
        ("query-id", "corpus-id", "score"),
    ),
}


def convention_of(kind: str, names: Iterable[object]) -> tuple[str, str, str] | None:
    """Return the first names of topic, document and value that all exist, else None."""
    present = set(names)
    return next((found for found in CONVENTIONS[kind] if present.issuperset(found)), None)


def missing(kind: str, names: Iterable[object]) -> str:
    """Return a message with the missing columns, the existing columns, and the likely kind of table."""
    present = [*names]
    wanted = CONVENTIONS[kind][0]
    other = "run" if kind == "qrels" else "qrels"
    found = convention_of(other, present)
    hint = ""
    if found:
        hint = f"; it looks like {'a run' if other == 'run' else other} ({', '.join(found)}): {SWAPPED}"
    lacking = ", ".join(name for name in wanted if name not in present)
    return f"the table has no column {lacking}; it has {cut(', '.join(map(str, present)))}{hint}"


#: Errors that Polars raises for lists of objects that are not text, such as numbers beyond 128 bits.
_NOT_TEXT = (
    *(TypeError, ValueError, AttributeError, OverflowError),
    *(pl.exceptions.PolarsError, pl.exceptions.PanicException),
)
#: Arrow types that make Polars print a panic to stderr, or that it reads as raw bytes.
_NO_SERIES = re.compile(r"decimal256|extension<arrow\.uuid")


def column_names(frame: Any) -> Iterable[str]:
    """Return the column names of a frame or Arrow table."""
    columns: Iterable[str] = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return columns


def get_column(kind: str, frame: Any, name: str) -> Any:
    """Return a column of qrels or a run. Raises InputError if the name appears twice."""
    if list(column_names(frame)).count(name) > 1:
        raise InputError(f"{kind}: the table has several columns named {name!r}; keep one")
    return frame[name]


def topic_strings(column: Any) -> pl.Series:
    """Return query_ids as text. Raises InputError if two differ only in type, such as 1 and '1'."""
    given = column.to_numpy() if _is_pandas(column) and column.dtype == np.dtype(object) else column
    if isinstance(given, (list, np.ndarray)):
        texts = _texts_of_objects(given)
        if texts is not None:  # all of one type
            return texts
    names = as_strings(column)
    if isinstance(column, list) or getattr(column, "dtype", None) in (np.dtype(object), pl.Object):
        values = _as_objects(column)
        if len(set(map(type, values))) > 1:
            ids = [name for name, _ in dict.fromkeys(zip(names, map(type_of_id, values), strict=True))]
            if len(set(ids)) < len(ids):
                twice = next(name for at, name in enumerate(ids) if name in ids[:at])
                raise InputError(f"two topics are the same as text: {twice!r}")
    return names


def as_strings(column: Any) -> pl.Series:
    """Return a column of ids as text, converted as in :func:`~.ids.as_text`; null for missing ids.

    Raises InputError if a value is not an id.
    """
    if _is_pandas(column) and isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        return _strings_of_floats(column.to_numpy())
    series = _series(column)
    if series.dtype == pl.String:
        return series
    if series.dtype.is_integer() or series.dtype in (pl.Categorical, pl.Enum):
        return series.cast(pl.String)
    if series.dtype.is_float():
        return _strings_of_floats(series.to_numpy())
    return _strings_of_objects(_as_objects(series))


def _strings_of_floats(values: Floats) -> pl.Series:
    """Return whole numbers that are floats as text, null for NaN. Raises InputError for other floats."""
    missing = np.isnan(values)
    # Larger floats may represent several whole numbers.
    limit = 2.0 ** min(np.finfo(values.dtype).nmant + 1, 63)
    wrong = ~(missing | ((values == np.floor(values)) & (np.abs(values) < limit)))
    if wrong.any():
        raise invalid_id(values[wrong][0].item())
    numbers = pl.Series(np.where(missing, 0, values).astype(np.int64))
    return numbers.set(pl.Series(missing), None).cast(pl.String)


def _as_objects(column: Any) -> list[Any]:
    """Return the Python objects of a column. Raises InputError if a value has no Python equivalent."""
    try:
        if hasattr(column, "to_pylist"):
            values: list[Any] = column.to_pylist()
        else:
            values = column.to_list() if hasattr(column, "to_list") else list(column)
    except (OverflowError, ValueError, pl.exceptions.PanicException) as error:
        raise InputError(f"a column has values without an equivalent in Python ({error})") from None
    return values


def _strings_of_objects(values: Iterable[Any]) -> pl.Series:
    texts = [None if is_missing(value) else as_text(value) for value in values]
    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise InputError(f"the id {error.object!r} is not valid text: it has a lone surrogate") from None


def _series(column: Any) -> pl.Series:
    """Return a column as a Polars series, without a copy if the library allows it."""
    if isinstance(column, pl.Series):
        return column
    if isinstance(column, list):
        return _series_of_objects(column)
    if _is_pandas(column):
        return _series_of_pandas(column)
    return _series_of_arrow(column)


def _series_of_arrow(column: Any) -> pl.Series:
    """Return an Arrow column as a series. Raises InputError if Polars lacks the type, such as unions."""
    if not _NO_SERIES.search(str(column.type)):
        with suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return pl.Series(column)
    raise InputError(
        f"a column of the Arrow type {column.type} cannot be read; cast ids to text, numbers to float64"
    )


def _is_pandas(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "pandas"


def _series_of_pandas(column: Any) -> pl.Series:
    dtype = column.dtype
    if isinstance(getattr(dtype, "categories", None), object) and hasattr(column, "cat"):
        categories = as_strings(column.cat.categories.to_series())
        code = pl.Series(column.cat.codes.to_numpy(), dtype=pl.Int64)
        return categories.gather(code.set(code < 0, None))
    arrow = getattr(column.array, "_pa_array", None)
    if arrow is not None:
        return _series_of_arrow(arrow)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        return pl.Series(column.to_numpy())
    return _series_of_objects(column.to_numpy(dtype=object))


def _series_of_objects(values: Sequence[Any] | np.ndarray[Any, Any]) -> pl.Series:
    """Return Python objects as text; None, NaN and NA are missing."""
    texts = _texts_of_objects(values)
    return _strings_of_objects(values) if texts is None else texts


def _texts_of_objects(values: Sequence[Any] | np.ndarray[Any, Any]) -> pl.Series | None:
    """Return Python objects that are text or None as a series; None if there are other objects."""
    with suppress(*_NOT_TEXT):
        return pl.Series(values=values, dtype=pl.String, strict=True)
    return None


def as_floats(column: Any, describe: Callable[[int], str]) -> Floats:
    """Return a column of levels or scores as float64, NaN where missing.

    Raises InputError for a value that is not a number, with the row as given by ``describe``.
    """
    values = _floats_if_numeric(column)
    if values is None:
        objects = _as_objects(column)
        values = np.empty(len(objects))
        for row, value in enumerate(objects):
            values[row] = as_float(value, lambda row=row: describe(row))  # type: ignore[misc]
    return values


def as_float(value: Any, describe: Callable[[], str]) -> float:
    """Return one level or score as a float, NaN if it is missing."""
    if is_missing(value):
        return np.nan
    try:
        # NumPy before 2.4 converts an array with one element to a number.
        if not isinstance(value, (str, bytes)) and not getattr(value, "ndim", 0):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    problem = "is not a number"
    if isinstance(value, str):
        try:
            float(value)
            problem = "is a string; convert the column to numbers"
        except ValueError:
            problem = "is not a number; replace words by numbers, for example vital by 2 and okay by 1"
    raise InputError(f"{describe()} {short_repr(value)} {problem}")


def _floats_if_numeric(column: Any) -> Floats | None:
    """Return the whole column if its type is numeric, else None."""
    if isinstance(column, list):
        return _floats_of_list(column)
    if isinstance(column, pl.Series):
        return column.cast(pl.Float64).fill_null(np.nan).to_numpy() if column.dtype.is_numeric() else None
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype):
        return column.to_numpy(dtype=np.float64) if dtype.kind in "iufb" else None
    if getattr(dtype, "_is_numeric", False):
        values: Floats = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return values
    if hasattr(column, "to_pylist"):
        return _floats_if_numeric(_series_of_arrow(column))
    return None


def _floats_of_list(values: list[Any]) -> Floats | None:
    """Return a list of Python ints and floats as an array; None if it has anything else."""
    if set(map(type, values)) <= {int, float}:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            return None
    return None


def objects_at(column: Any, rows: Ints) -> list[Any]:
    """Return the Python objects of a column at some rows."""
    if isinstance(column, list):
        return [column[row] for row in rows.tolist()]
    if _is_pandas(column) and hasattr(column.dtype, "pyarrow_dtype"):
        column = column.array.__arrow_array__()
    if _is_pandas(column):
        values: list[Any] = column.iloc[rows].tolist()
        return values
    if hasattr(column, "to_pylist"):
        # One by one, because pyarrow has no `take` for string views.
        return [column[row].as_py() for row in rows.tolist()]
    series = column if isinstance(column, pl.Series) else pl.Series(column)
    return series.gather(rows).to_list()
