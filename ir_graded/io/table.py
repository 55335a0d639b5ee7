"""Common table form of qrels and runs: columns of text and numbers, and the place of each row.

Every form except the dict of dicts is converted to a :class:`Table`. Errors give the place of a row in the
input of the caller.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.facets import FACETS, INTENT, SPAN, SWAPPED, VALUE_COLUMNS, Facet, convention_of, missing
from ir_graded.core.passages import Spans
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.struct import Struct
from ir_graded.errors import InputError, short_repr

from .._utils.threads import check_fork

if TYPE_CHECKING:
    import polars as pl

# From this number of rows on, loading what Polars needs for arrays is worth the time.
_MANY = 1 << 15


@dataclass(frozen=True, eq=False)
class Passage(Struct):
    """Spans of text, one per row: first position and length."""

    start: Floats
    length: Floats

    def spans(self, article: Ints) -> Spans:
        """Return the rows as spans of articles."""
        start = self.start.astype(np.int64)
        return Spans(article, start, start + self.length.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of qrels or of a run.

    Attributes:
        kind: 'qrels' or 'run'.
        query_id: topic of each row, as text.
        doc_id: document of each row, as text.
        value: level or score of each row; NaN if it is missing.
        place_of: returns the place of a row of the source for errors: 'run.txt, line 17', 'row 16'.
        query_objects_of: returns the query_id objects of the caller for rows of the source.
        passage: first position and length of the passage of each row, as float64, if there are passages.
        further: all other columns of the source by name, such as ``iteration``; each is read on demand.
        unused_intents: by topic the intents that have a probability and no row, for errors.
        rows: the row of the source of each row; None for all rows of the source.
    """

    kind: str
    query_id: pl.Series
    doc_id: pl.Series
    value: Floats
    place_of: Callable[[int], str]
    query_objects_of: Callable[[Ints], list[Any]]
    passage: Passage | None = None
    further: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    unused_intents: Mapping[str, list[str]] = field(default_factory=dict)
    rows: Ints | None = None

    def __getitem__(self, rows: Ints | slice) -> Table:
        """Return some of the rows, which keep their places."""
        if isinstance(rows, slice):
            query_id, doc_id = self.query_id[rows], self.doc_id[rows]
            of_source = np.arange(rows.start, rows.stop, dtype=np.int64)
        else:
            query_id, doc_id, of_source = at_rows(self.query_id, rows), at_rows(self.doc_id, rows), rows
        return replace(
            self,
            query_id=query_id,
            doc_id=doc_id,
            value=self.value[rows],
            passage=self.passage and self.passage[rows],
            rows=of_source if self.rows is None else self.rows[rows],
        )

    def place(self, row: int) -> str:
        """Return the place of a row for errors."""
        return self.place_of(row if self.rows is None else int(self.rows[row]))

    def query_objects(self, rows: Ints) -> list[Any]:
        """Return the query_id objects of the caller for some rows."""
        return self.query_objects_of(rows if self.rows is None else self.rows[rows])

    def column(self, name: str) -> Any:
        """Return a further column as it was given."""
        column = self.further[name]()
        return column if self.rows is None else objects_at(column, self.rows)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def why_no_repeats(self) -> str:
        """Advice for the error about a document in several rows."""
        advice = "keep one of the rows (only passages, with start and length, may repeat a document)"
        return "; ".join(filter(None, (advice, self.hint(SPAN), self.hint(INTENT))))

    def has(self, facet: Facet) -> bool:
        """Return whether the table has a further column."""
        return self.passage is not None if facet.kind == "span" else facet.name in self.further

    def hint(self, facet: Facet) -> str:
        """Return a hint on columns that mean the like of one that is missing; empty without any."""
        return "" if self.has(facet) else facet.hint([*map(str, self.further)])

    def check_ids(self) -> None:
        """Raise InputError if an id is missing."""
        for name in ("query_id", "doc_id"):
            column = getattr(self, name)
            if column.null_count():
                row = int(column.is_null().arg_true()[0])
                raise InputError(f"{self.kind}: {self.place(row) or 'a row'} has no {name}")

    def repeats_documents(self, by: str) -> bool:
        """Return whether a document of a topic is in several rows that differ in a further column."""
        import polars as pl

        rows = pl.DataFrame({"topic": self.query_id, "doc": self.doc_id})
        documents = rows.n_unique()
        return documents < len(rows) and rows.with_columns(self.text(by).alias(by)).n_unique() > documents

    def check_values(self) -> None:
        """Raise InputError if a level or score is missing."""
        check_values(self.kind, self.value, self.describe)

    def describe(self, row: int) -> str:
        """Describe a row by topic, document and place."""
        return describe_document(self.query_id[row], self.doc_id[row], self.place(row))

    def in_kind(self, row: int) -> str:
        """Describe a row by kind, topic, document and place."""
        return f"{self.kind}: {self.describe(row)}"

    def ids(self, name: str) -> pl.Series:
        """Return a further column as text, converted like ids; null for missing and blank values."""
        try:
            texts = as_strings(self.column(name))
        except InputError as error:
            raise InputError(f"{self.kind}: {name}: {error}") from None
        return texts.set(texts.str.strip_chars() == "", None)

    def text(self, name: str) -> pl.Series:
        """Return a further column as text, like ids. Raises InputError if a value is missing or blank."""
        texts = self.ids(name)
        if texts.null_count():
            raise InputError(f"{self.kind}: {self.describe(int(texts.is_null().arg_true()[0]))}: no {name}")
        return texts

    def numbers(self, facet: Facet, describe: Callable[[int], str] | None = None) -> Floats:
        """Return a further column as numbers. Raises InputError, with a described row, for a wrong value."""
        describe = describe or self.in_kind
        values = as_floats(self.column(facet.name), lambda row: f"{describe(row)}: the {facet.name}")
        facet.check(values, describe, may_lack=facet.may_lack)
        return values

    def objects(self, name: str) -> list[Any]:
        """Return a further column as objects of the caller, such as vectors."""
        return objects_at(self.column(name), np.arange(len(self), dtype=np.int64))

    def check_passages(self) -> None:
        """Raise InputError if a start or length is missing, negative or not a whole number."""
        if self.passage is None:
            return
        for name in PASSAGE_COLUMNS:
            values = getattr(self.passage, name)
            replace(SPAN, title=name).check(values, self.in_kind)


def at_rows(column: pl.Series, rows: Ints) -> pl.Series:
    """Return the values of a column at some rows."""
    # For an array, Polars imports numpy.ma: 20 ms, once.
    import polars as pl

    as_array = rows.size >= _MANY or "numpy.ma" in sys.modules
    return column[pl.Series(rows if as_array else rows.tolist(), dtype=pl.UInt32)]


def first_rows(rows: pl.DataFrame) -> Ints:
    """Return for each row the first row that is equal to it."""
    import polars as pl

    first = rows.with_row_index("(row)").select(pl.col("(row)").first().over(rows.columns))
    return first["(row)"].to_numpy().astype(np.int64)


VALUE_NAMES = {"qrels": "level", "run": "score", "chunks": "score"}
PASSAGE_COLUMNS = SPAN.columns
#: Further columns by their other names.
_OTHER_NAMES = {other: facet.name for facet in FACETS for other in facet.other_names}


def describe_document(query_id: object, doc_id: object, place: str = "") -> str:
    """Describe a document of a topic and its place."""
    ids = f"topic {short_repr(query_id)}, document {short_repr(doc_id)}"
    return f"{ids} ({place})" if place else ids


def check_values(kind: str, value: Floats, describe: Callable[[int], str]) -> None:
    """Raise InputError if a level or score is missing, or a level is infinite."""
    wrong = np.isnan(value) if kind == "run" else ~np.isfinite(value)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        what = "missing or NaN" if np.isnan(value[row]) else "infinite"
        raise InputError(f"{kind}: {describe(row)}: the {VALUE_NAMES[kind]} is {what}")


def row_place(row: int) -> str:
    """Return the place of a row in data without lines."""
    return f"row {row}"


def item_place(row: int) -> str:
    """Return the place of an item of a list."""
    return f"item {row}"


def from_frame(
    kind: str,
    frame: Any,
    place: Callable[[int], str] = row_place,
    further: Mapping[str, Callable[[], Any]] | None = None,
) -> Table:
    """Return a table from a pandas or Polars frame or an Arrow table.

    Args:
        kind: 'qrels' or 'run'.
        frame: the frame.
        place: locates a row.
        further: reads further columns; by default those of the frame.
    """
    check_fork()
    present = list(column_names(frame))
    wanted = convention_of(kind, present)
    if wanted is None:
        raise InputError(f"{kind}: {missing(kind, present)}")
    query_id, doc_id, value = (get_column(kind, frame, name) for name in wanted)
    passage = None
    if all(name in present for name in PASSAGE_COLUMNS):
        passage = tuple(get_column(kind, frame, name) for name in PASSAGE_COLUMNS)
    if further is None:
        further = {name: partial(get_column, kind, frame, name) for name in present if name not in wanted}
    return from_columns(kind, query_id, doc_id, value, place, passage, further)


def from_records(kind: str, records: Sequence[Any], place: Callable[[int], str] = item_place) -> Table:
    """Return the rows of a list of dicts. Raises InputError if one lacks a field."""
    names = convention_of(kind, records[0]) if isinstance(records[0], Mapping) else None
    if names is None:
        raise InputError(f"{kind}: {place(0)}: {missing(kind, records[0])}")
    for row, record in enumerate(records):
        if not isinstance(record, Mapping) or not record.keys() >= set(names):
            raise InputError(
                f"{kind}: {place(row)} is {short_repr(record)}, expected a dict with {', '.join(names)}"
            )
    further = [name for name in dict.fromkeys(chain.from_iterable(records)) if name not in names]
    rows = ([record[name] for name in names] + [record.get(name) for name in further] for record in records)
    return _of_rows(kind, rows, place, further)


def from_dicts(
    kind: str, topics: Mapping[Any, Mapping[Any, Any]], place: Callable[[int], str] = item_place
) -> Table:
    """Return the rows of a dict of dicts."""
    rows = [(topic, doc, value) for topic, docs in topics.items() for doc, value in docs.items()]
    return _of_rows(kind, rows, place)


def _of_rows(
    kind: str, rows: Iterable[Sequence[Any]], place: Callable[[int], str], further: Sequence[str] = ()
) -> Table:
    import pandas as pd

    names = ["query_id", "doc_id", VALUE_COLUMNS[kind], *further]
    given = [*rows]
    columns = {name: pd.Series([row[at] for row in given], dtype=object) for at, name in enumerate(names)}
    return from_frame(kind, pd.DataFrame(columns), place)


def from_tuples(kind: str, rows: Iterable[Any]) -> Table:
    """Return a table from an iterable of named tuples with the fields of ir-measures."""
    value_name = VALUE_COLUMNS[kind]
    query_ids: list[Any] = []
    doc_ids: list[Any] = []
    values: list[Any] = []
    starts: list[Any] = []
    lengths: list[Any] = []
    given: list[Any] = []
    standard = {"query_id", "doc_id", value_name}
    for number, row in enumerate(rows):
        if given or not standard.issuperset(getattr(row, "_fields", ())):
            given += [*[None] * (number - len(given)), row]
        try:
            query_ids.append(row.query_id)
            doc_ids.append(row.doc_id)
            values.append(getattr(row, value_name))
            if hasattr(row, "start") and hasattr(row, "length"):
                starts.append(row.start)
                lengths.append(row.length)
        except AttributeError:
            raise InputError(f"{kind}: item {number} is {short_repr(row)}, {_not_a_row(kind, row)}") from None
    if lengths and len(lengths) < len(values):
        raise InputError(f"{kind}: some items have a start and length, others do not; give them for all")
    passage = (starts, lengths) if lengths else None

    def column(name: str) -> list[Any]:
        return [getattr(row, name, None) for row in given]

    fields = chain.from_iterable(getattr(one, "_fields", ()) for one in dict.fromkeys(map(type, given)))
    further = {name: partial(column, name) for name in fields if name not in standard}
    return from_columns(kind, query_ids, doc_ids, values, item_place, passage, further)


def _not_a_row(kind: str, row: Any) -> str:
    """Say which fields a named tuple needs, and whether it has those of the other kind."""
    needed = f"not a named tuple with the fields query_id, doc_id, {VALUE_COLUMNS[kind]}"
    other = VALUE_COLUMNS["run" if kind == "qrels" else "qrels"]
    return f"{needed}: {SWAPPED}" if hasattr(row, other) else needed


def from_columns(
    kind: str,
    query_id: Any,
    doc_id: Any,
    value: Any,
    place: Callable[[int], str],
    passage: Any = None,
    further: Mapping[str, Callable[[], Any]] | None = None,
) -> Table:
    """Return a table from columns of any kind."""
    check_fork()

    def ids(column: Any, name: str, read: Callable[[Any], pl.Series]) -> pl.Series:
        try:
            return read(column)
        except InputError as error:
            raise InputError(f"{kind}: {name}: {error}") from None

    topics = ids(query_id, "query_id", topic_strings)
    docs = ids(doc_id, "doc_id", as_strings)

    def numbers(column: Any, what: str) -> Floats:
        return as_floats(
            column, lambda row: f"{kind}: {describe_document(topics[row], docs[row], place(row))}: the {what}"
        )

    further = further or {}
    others = {name: further[other] for other, name in _OTHER_NAMES.items() if other in further}
    table = Table(
        kind,
        topics,
        docs,
        numbers(value, VALUE_NAMES[kind]),
        place,
        lambda rows: objects_at(query_id, rows),
        None if passage is None else Passage(*map(numbers, passage, PASSAGE_COLUMNS)),
        {**others, **further},
    )
    table.check_passages()
    return table


# ---------------------------------------------------------------------------- columns of any library


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
    import polars as pl

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
    import polars as pl

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
    import polars as pl

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
    import polars as pl

    try:
        if hasattr(column, "to_pylist"):
            values: list[Any] = column.to_pylist()
        else:
            values = column.to_list() if hasattr(column, "to_list") else list(column)
    except (OverflowError, ValueError, pl.exceptions.PanicException) as error:
        raise InputError(f"a column has values without an equivalent in Python ({error})") from None
    return values


def _strings_of_objects(values: Iterable[Any]) -> pl.Series:
    import polars as pl

    texts = [None if is_missing(value) else as_text(value) for value in values]
    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise InputError(f"the id {error.object!r} is not valid text: it has a lone surrogate") from None


def _series(column: Any) -> pl.Series:
    """Return a column as a Polars series, without a copy if the library allows it."""
    import polars as pl

    if isinstance(column, pl.Series):
        return column
    if isinstance(column, list):
        return _series_of_objects(column)
    if _is_pandas(column):
        return _series_of_pandas(column)
    return _series_of_arrow(column)


def _series_of_arrow(column: Any) -> pl.Series:
    """Return an Arrow column as a series. Raises InputError if Polars lacks the type, such as unions."""
    import polars as pl

    if not _NO_SERIES.search(str(column.type)):
        with suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return pl.Series(column)
    raise InputError(
        f"a column of the Arrow type {column.type} cannot be read; cast ids to text, numbers to float64"
    )


def _is_pandas(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "pandas"


def _series_of_pandas(column: Any) -> pl.Series:
    import polars as pl

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
    import polars as pl

    # Lists of objects that are not text, such as numbers beyond 128 bits.
    failures = (TypeError, ValueError, AttributeError, OverflowError)
    with suppress(*failures, pl.exceptions.PolarsError, pl.exceptions.PanicException):
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
    import polars as pl

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
    import polars as pl

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
