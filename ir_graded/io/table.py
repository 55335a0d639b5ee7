"""Common table form of qrels and runs: columns of text and numbers, and the place of each row.

Every form except the dict of dicts is converted to a :class:`Table`. Errors give the place of a row in the
input of the caller.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.facets import FACETS, INCLUSION, INTENT, SPAN, SWAPPED, VALUE_COLUMNS, Facet
from ir_graded.core.passages import Spans
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.struct import Struct
from ir_graded.errors import InputError, short_repr

from .._utils.threads import check_fork
from . import columns
from .columns import convention_of, missing

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
        return column if self.rows is None else columns.objects_at(column, self.rows)

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
            texts = columns.as_strings(self.column(name))
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
        values = columns.as_floats(self.column(facet.name), lambda row: f"{describe(row)}: the {facet.name}")
        facet.check(values, describe, may_lack=facet.may_lack)
        return values

    def note_on_sample(self) -> str:
        """Return sentences on judgments that are a sample; empty if the table has no such judgments.

        Raises InputError if an inclusion probability is not a number above 0 and at most 1.
        """
        if not self.has(INCLUSION):
            return ""
        given = self.numbers(INCLUSION)
        sampled = np.count_nonzero(given < 1)
        if not sampled:
            return ""
        return (
            f"{sampled} of {len(given)} judgments have an inclusion probability ({INCLUSION.name}) below 1. "
            "Measures score the sample as if it were complete."
        )

    def objects(self, name: str) -> list[Any]:
        """Return a further column as objects of the caller, such as vectors."""
        return columns.objects_at(self.column(name), np.arange(len(self), dtype=np.int64))

    def check_passages(self) -> None:
        """Raise InputError if a start or length is missing, negative or not a whole number."""
        if self.passage is None:
            return
        for name in PASSAGE_COLUMNS:
            values = getattr(self.passage, name)
            replace(SPAN, title=name).check(values, self.in_kind)


def at_rows(column: pl.Series, rows: Ints) -> pl.Series:
    """Return the values of a column at some rows."""
    import polars as pl

    # For an array, Polars imports numpy.ma: 20 ms, once.
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


def from_frame(kind: str, frame: Any, place: Callable[[int], str] = row_place) -> Table:
    """Return a table from a pandas or Polars frame or an Arrow table; ``place`` locates a row."""
    check_fork()
    present = list(columns.column_names(frame))
    wanted = convention_of(kind, present)
    if wanted is None:
        raise InputError(f"{kind}: {missing(kind, present)}")
    query_id, doc_id, value = (columns.get_column(kind, frame, name) for name in wanted)
    passage = None
    if all(name in present for name in PASSAGE_COLUMNS):
        passage = tuple(columns.get_column(kind, frame, name) for name in PASSAGE_COLUMNS)
    further = with_other_names(
        {name: partial(columns.get_column, kind, frame, name) for name in present if name not in wanted}
    )
    return from_columns(kind, query_id, doc_id, value, place, passage, further)


def with_other_names(further: dict[str, Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
    """Return further columns, also by the names that measures use."""
    aliases = {name: further[other] for other, name in _OTHER_NAMES.items() if other in further}
    return aliases | further


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
    further = with_other_names({name: partial(column, name) for name in fields if name not in standard})
    return from_columns(kind, query_ids, doc_ids, values, lambda row: f"item {row}", passage, further)


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

    topics = ids(query_id, "query_id", columns.topic_strings)
    docs = ids(doc_id, "doc_id", columns.as_strings)

    def numbers(column: Any, what: str) -> Floats:
        return columns.as_floats(
            column, lambda row: f"{kind}: {describe_document(topics[row], docs[row], place(row))}: the {what}"
        )

    table = Table(
        kind,
        topics,
        docs,
        numbers(value, VALUE_NAMES[kind]),
        place,
        lambda rows: columns.objects_at(query_id, rows),
        None if passage is None else Passage(*map(numbers, passage, PASSAGE_COLUMNS)),
        further or {},
    )
    table.check_passages()
    return table
