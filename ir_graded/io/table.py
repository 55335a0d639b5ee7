"""Common table form of qrels and runs: columns of text and numbers, and the place of each row.

Every form except the dict of dicts is converted to a :class:`Table`. Errors give the place of a row in the
input of the caller.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from itertools import chain, repeat
from typing import Any

import numpy as np
import polars as pl

from ir_graded.core.facets import (
    FACETS,
    INCLUSION,
    INTENT,
    POSITION,
    RANK,
    RANK_COLUMNS,
    SPAN,
    STRATUM,
    SWAPPED,
    VALUE_COLUMNS,
    Facet,
    convention_of,
    is_record,
    missing,
)
from ir_graded.core.passages import Spans
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.struct import Struct, light_dataclass
from ir_graded.errors import InputError, cut, short_repr, valid_text, warn_caller

from .._utils.threads import check_fork
from .records import Options
from .values import (
    VALUE_NAMES,
    as_shares,
    as_text,
    as_word_sets,
    check_values,
    describe_document,
    floats_of,
    not_documents,
    texts_of,
    whole_numbers,
)

#: Level of documents that were not judged, in files with inclusion probabilities.
NOT_JUDGED = -999
# From this number of rows on, loading what Polars needs for arrays is worth the time.
_MANY = 1 << 15
#: Arrow types that make Polars print a panic to stderr, or that it reads as raw bytes.
_NO_SERIES = re.compile(r"decimal256|extension<arrow\.uuid")
#: Version of pyarrow from which Polars reads views of text that pyarrow made.
_VIEWS_SINCE = 25
#: Further columns by their other names.
_OTHER_NAMES = {other: facet.name for facet in FACETS for other in facet.other_names}
#: Functions that return further columns as they were given.
Further = Mapping[str, Callable[[], Any]]


@light_dataclass(frozen=True, eq=False)
class Passage(Struct):
    """Spans of text, one per row: first position and length."""

    start: Floats
    length: Floats

    def spans(self, article: Ints) -> Spans:
        """Return the rows as spans of articles."""
        start = self.start.astype(np.int64)
        return Spans(article, start, start + self.length.astype(np.int64))


@light_dataclass(frozen=True, eq=False)
class Table:
    """Rows of qrels or of a run. All is valid, except that scores and further columns may be missing.

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
        dropped: number of rows of sampled judgments that were dropped.
        without_rows: topics that the source of a run has without a document, as text.
        repeated: clause on the rows of a run that were left out because their document has another one.
    """

    kind: str
    query_id: pl.Series
    doc_id: pl.Series
    value: Floats
    place_of: Callable[[int], str]
    query_objects_of: Callable[[Ints], list[Any]]
    passage: Passage | None = None
    further: Further = field(default_factory=dict)
    unused_intents: Mapping[str, list[str]] = field(default_factory=dict)
    rows: Ints | None = None
    dropped: int = 0
    without_rows: frozenset[str] = frozenset()
    repeated: str = ""

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

    def __len__(self) -> int:
        return len(self.value)

    def place(self, row: int) -> str:
        """Return the place of a row for errors."""
        return self.place_of(row if self.rows is None else int(self.rows[row]))

    def describe(self, row: int) -> str:
        """Describe a row by topic, document and place."""
        return describe_document(self.query_id[row], self.doc_id[row], self.place(row))

    def in_kind(self, row: int) -> str:
        """Describe a row by kind, topic, document and place."""
        return f"{self.kind}: {self.describe(row)}"

    def query_objects(self, rows: Ints) -> list[Any]:
        """Return the query_id objects of the caller for some rows."""
        return self.query_objects_of(rows if self.rows is None else self.rows[rows])

    def check_values(self) -> None:
        """Raise InputError if a level or score is missing."""
        check_values(self.kind, self.value, self.describe)

    def has(self, facet: Facet) -> bool:
        """Return whether the table has a further column."""
        return self.passage is not None if facet.kind == "span" else self.name_of(facet) in self.further

    def name_of(self, facet: Facet) -> str:
        """Return the name of a further column here: its own, or another one that it is read by."""
        names = (name for name in (facet.name, *facet.other_names) if name in self.further)
        return next(names, facet.name)

    def hint(self, facet: Facet) -> str:
        """Return a hint on columns that mean the like of one that is missing; empty without any."""
        return "" if self.has(facet) else facet.hint([*map(str, self.further)])

    @property
    def why_no_repeats(self) -> str:
        """Advice for the error about a document in several rows."""
        keep = "keep one of the rows"
        keep += ", as evaluate and read_run do with duplicates='first'" if self.kind == "run" else ""
        advice = f"{keep} (only passages, with start and length, may repeat a document)"
        return "; ".join(filter(None, (advice, self.hint(SPAN), self.hint(INTENT))))

    def check_repetitions(self, suspects: Iterable[int] | None = None) -> None:
        """Raise InputError if a document appears twice in a topic of a run, in rows that are suspects."""
        seen: dict[tuple[str, str], int] = {}
        for row in range(len(self)) if suspects is None else suspects:
            topic, doc_id = self.query_id[row], self.doc_id[row]
            if (first := seen.setdefault((topic, doc_id), row)) != row:
                one, other = self.place(first), self.place(row)
                places = f"at {one} and at {other}" if one != other else f"in {one}"
                where = describe_document(topic, doc_id)
                raise InputError(f"run: {where} appears twice, {places}; {self.why_no_repeats}")

    def repeats_documents(self, by: str) -> bool:
        """Return whether a document of a topic is in several rows that differ in a further column."""
        rows = pl.DataFrame({"topic": self.query_id, "doc": self.doc_id})
        documents = rows.n_unique()
        return documents < len(rows) and rows.with_columns(self.text(by).alias(by)).n_unique() > documents

    def without_repetitions(self, kept: str) -> Table:
        """Return a run with the 'first' or the 'best' row of each document; with 'raise' all rows."""
        if kept == "raise" or self.passage is not None:
            return self
        rows = pl.DataFrame({"topic": self.query_id, "doc": self.doc_id, "score": self.value})
        rows = rows.with_row_index("row")
        if kept == "best":  # a missing score is above all others, and is an error later
            rows = rows.sort("score", descending=True, maintain_order=True)
        first = rows.unique(["topic", "doc"], keep="first", maintain_order=True)["row"].sort()
        if not (left_out := len(self) - len(first)):
            return self
        note = f"repeats documents in a topic: with duplicates={kept!r} only the {kept} row of each counts"
        table = self[first.to_numpy().astype(np.int64)]
        return replace(table, repeated=f"{note} (rows left out: {left_out})")

    def in_order(self, ties: str, where: str) -> Table:
        """Return a run with positions for documents with equal scores: by 'rank', or as 'given'.

        ``where`` names the run. Warns where the order by rank is not one by score, which alone ranks
        documents with different scores. Raises InputError for passages, without ranks, or where two documents
        of a topic have one.
        """
        if self.passage is not None:
            raise InputError(
                f"{where}: ties={ties!r} is for documents, and this run has passages, of which those with "
                "equal scores are by doc_id and start"
            )
        by_position = ties == "rank" and self.has(POSITION) and not self.has(RANK)
        if by_position or not len(self):
            return self
        rows = pl.DataFrame({"topic": self.query_id, "doc": self.doc_id, "score": self.value})
        if ties == "given":
            found = rows.select(pl.int_range(pl.len()).over("topic"))
        else:
            if not self.has(RANK):
                raise InputError(
                    f"{where}: ties='rank' needs ranks, in a column rank or a TREC file; ties='given' takes "
                    "the rows in their order"
                )
            found = pl.DataFrame({RANK.name: self.numbers(RANK)})
            self._check_ranks(rows.hstack(found))
        of_source = np.zeros(len(self) if self.rows is None else int(self.rows.max(initial=-1)) + 1)
        of_source[slice(None) if self.rows is None else self.rows] = found.to_series().to_numpy()
        return replace(self, further={**self.further, POSITION.name: lambda: pl.Series(of_source)})

    def _check_ranks(self, rows: pl.DataFrame) -> None:
        """Check the columns topic, doc, score and rank."""
        rows = rows.with_row_index().unique(["topic", RANK.name, "doc"], keep="first", maintain_order=True)
        again = rows.filter(pl.struct("topic", RANK.name).is_duplicated())
        if len(again):
            raise InputError(
                f"{self.in_kind(again['index'][0])}: another document of the topic has the same rank, "
                f"{again[RANK.name][0]:g}; ties='given' takes the rows in their order"
            )
        by_rank = rows.filter(pl.col("score").is_not_nan()).sort("topic", RANK.name)
        higher = by_rank.filter(pl.col("score") > pl.col("score").shift().over("topic"))
        if len(higher):
            first, topics = self.describe(higher["index"].sort()[0]), higher["topic"].n_unique()
            warn_caller(
                f"A run contradicts its scores by its ranks in {topics} topic{'s' * (topics > 1)} (the first "
                f"document with a higher score than the one before: {first}): the scores rank, and the ranks "
                "count among equal scores only."
            )

    def without_identical_ids(self) -> Table:
        """Return a run without the documents whose id is that of their topic."""
        identical = self.query_id == self.doc_id
        if not identical.any():
            return self
        table = self[np.flatnonzero(~identical.to_numpy())]
        emptied = {*self.query_id.filter(identical)}.difference(table.query_id)
        return replace(table, without_rows=self.without_rows | emptied)

    def judgments(self) -> Table:
        """Return the rows of qrels without those that prels give to documents that were not judged."""
        if not self.has(INCLUSION) or self.has(STRATUM):
            return self
        lacking = (self.value >= 0) & np.isnan(self.numbers(INCLUSION))
        unwanted = lacking | (self.value == NOT_JUDGED)
        dropped = int(np.count_nonzero(unwanted))
        return replace(self[np.flatnonzero(~unwanted)], dropped=dropped) if dropped else self

    def note_on_sample(self) -> str:
        """Return sentences on judgments that are a sample; empty if the table has no such judgments."""
        judged, note = self.value >= 0, ""
        total, unjudged = np.count_nonzero(judged), np.count_nonzero(~judged)
        if self.has(INCLUSION) and (sampled := np.count_nonzero(self.numbers(INCLUSION)[judged] < 1)):
            note = f"{sampled} of {total} judgments have an inclusion probability below 1."
        elif self.has(STRATUM) and unjudged:
            note = f"{unjudged} of {len(self)} documents of the pool were not judged."
        return " ".join(filter(None, (note, self.note_on_dropped())))

    def note_on_dropped(self) -> str:
        """Return a sentence on rows of sampled judgments that were dropped; empty without any."""
        rows = f"Dropped rows (level {NOT_JUDGED} or inclusion probability NA): {self.dropped}."
        return rows if self.dropped else ""

    def strata(self) -> int:
        """Return the number of strata of all topics."""
        return pl.DataFrame({"topic": self.query_id, "stratum": self.text(STRATUM.name)}).n_unique()

    def column(self, name: str) -> Any:
        """Return a further column as it was given."""
        column = self.further[name]()
        return column if self.rows is None else objects_at(column, self.rows)

    def objects(self, name: str) -> list[Any]:
        """Return a further column as objects of the caller, such as vectors."""
        return objects_at(self.column(name), np.arange(len(self), dtype=np.int64))

    def ids(self, name: str) -> pl.Series:
        """Return a further column as text, converted like ids; null for missing and blank values."""
        texts = as_strings(self.column(name), f"{self.kind}: {name}")
        return texts.set(texts.str.strip_chars() == "", None)

    def text(self, name: str) -> pl.Series:
        """Return a further column as text, like ids. Raises InputError if a value is missing or blank."""
        texts = self.ids(name)
        if (row := first_null(texts)) is not None:
            raise InputError(f"{self.in_kind(row)}: no {name}")
        return texts

    def numbers(self, facet: Facet) -> Floats:
        """Return a further column as numbers. Raises InputError for a wrong value."""
        describe = self.described(facet)
        title = facet.title or f"the {facet.name}"
        values = as_floats(self.column(facet.name), lambda row: f"{describe(row)}: {title}")
        facet.check(values, describe, may_lack=facet.may_lack)
        return values

    def values(self, facet: Facet) -> Any:
        """Return a further column by its kind: ids, positions of words, sets of words, shares or numbers."""
        name = self.name_of(facet)
        if facet.kind == "id":
            return self.ids(name) if facet.may_lack else self.text(name)
        if facet.kind == "word":
            return as_words(facet, self.text(name), self.described(facet))
        if facet.kind == "number":
            return self.numbers(facet)
        given = self.objects(name)
        if facet.kind == "words":
            return as_word_sets(given, lambda row: f"{self.in_kind(row)}: the {name}")
        return as_shares(given, lambda row: f"{self.kind}: {name}: {self.describe(row)}")

    def described(self, facet: Facet) -> Callable[[int], str]:
        """Return a function that describes a row, with its intent for a column of intents."""
        if facet.per != "intent":
            return self.in_kind
        return lambda row: f"{self.in_kind(row)}, intent {self.text(INTENT.name)[row]!r}"


def row_place(row: int) -> str:
    """Return the place of a row in data without lines."""
    return f"row {row}"


def no_place(row: int) -> str:  # noqa: ARG001  # as the others
    """Return the place of a row of a dict, which its topic and document show."""
    return ""


def item_place(row: int) -> str:
    """Return the place of an item of a list."""
    return f"item {row}"


def from_frame(
    kind: str, frame: Any, place: Callable[[int], str] = row_place, further: Further | None = None
) -> Table:
    """Return a table from a frame, with its further columns or those that ``further`` reads."""
    return from_named(kind, column_names(frame), partial(get_column, kind, frame), place, further)


def from_records(kind: str, records: Sequence[Any], place: Callable[[int], str] = item_place) -> Table:
    """Return the rows of a list of dicts. Raises InputError if one lacks a field."""
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InputError(f"{kind}: {place(row)} is {short_repr(record)}, expected a dict as before")
    names = [*dict.fromkeys(chain.from_iterable(records))]
    where = f"{place(0)}: "
    return from_named(kind, names, lambda name: [record.get(name) for record in records], place, where=where)


def from_nested(
    kind: str,
    topics_of: Mapping[Any, Any],
    options: Options,
    wanted: Container[str] | None = None,
    depth: int | None = None,
) -> Table:
    """Return the rows of a dict of dicts, or of topics that are wanted, or those down to a depth."""
    items = list(topics_of.items())
    for topic, docs in items:
        if not isinstance(docs, Mapping):
            raise options.error(kind, not_documents(kind, topic, docs))
    if wanted is not None:
        items = [(topic, docs) for topic, docs in items if as_text(topic) in wanted]
    if depth is not None:
        items = [(topic, _best(docs, depth)) for topic, docs in items]
    columns = (
        [*chain.from_iterable(repeat(topic, len(docs)) for topic, docs in items)],
        [*chain.from_iterable(docs for _, docs in items)],
        [*chain.from_iterable(docs.values() for _, docs in items)],
    )
    table = from_columns(kind, columns, options.item if options.path else no_place)
    return replace(table, without_rows=frozenset(as_text(topic) for topic, docs in items if not docs))


def _best(docs: Mapping[Any, Any], depth: int) -> Mapping[Any, Any]:
    """Return the documents of a topic that are not below the depth; those that tie with the last stay."""
    if len(docs) <= depth:
        return docs
    score = np.array([*docs.values()], dtype=np.float64)
    kept = score >= np.partition(score, -depth)[-depth]
    return {doc_id: value for (doc_id, value), keep in zip(docs.items(), kept.tolist(), strict=True) if keep}


def from_tuples(kind: str, rows: Iterable[Any]) -> Table:
    """Return a table from an iterable of named tuples with the fields of ir-measures."""
    value_name = VALUE_COLUMNS[kind]
    standard = {"query_id", "doc_id", value_name}
    query_ids, doc_ids, values, spans = [], [], [], []
    given: list[Any] = []  # only with further fields
    for number, row in enumerate(rows):
        if given or not standard.issuperset(getattr(row, "_fields", ())):
            given += [*[None] * (number - len(given)), row]
        try:
            query_ids.append(row.query_id)
            doc_ids.append(row.doc_id)
            values.append(getattr(row, value_name))
        except AttributeError:
            raise InputError(f"{kind}: item {number} is {short_repr(row)}, {_not_a_row(kind, row)}") from None
        if hasattr(row, "start") and hasattr(row, "length"):
            spans.append((row.start, row.length))
    if spans and len(spans) < len(values):
        raise InputError(f"{kind}: some items have a start and length, others do not; give them for all")

    def column(name: str) -> list[Any]:
        return [getattr(row, name, None) for row in given]

    fields = chain.from_iterable(getattr(one, "_fields", ()) for one in dict.fromkeys(map(type, given)))
    further = {name: partial(column, name) for name in fields if name not in standard}
    passage = [[span[at] for span in spans] for at in range(len(SPAN.columns))] if spans else None
    return from_columns(kind, (query_ids, doc_ids, values), item_place, passage, further)


def _not_a_row(kind: str, row: Any) -> str:
    """Say which fields a named tuple needs, or what else the row is."""
    if is_record(row):
        return "a dict, and dicts must be in a list: list(...)"
    needed = f"not a named tuple with the fields query_id, doc_id, {VALUE_COLUMNS[kind]}"
    other = VALUE_COLUMNS["run" if kind == "qrels" else "qrels"]
    return f"{needed}: {SWAPPED}" if hasattr(row, other) else needed


def from_named(
    kind: str,
    names: Sequence[str],
    get: Callable[[str], Any],
    place: Callable[[int], str],
    further: Further | None = None,
    where: str = "",
) -> Table:
    """Return a table from columns by name; ``further`` replaces those beside ids, values and spans."""
    wanted = convention_of(kind, names)
    if wanted is None:
        raise InputError(f"{kind}: {where}{missing(kind, names)}")
    passage = [*map(get, SPAN.columns)] if {*SPAN.columns} <= {*names} else None
    if further is None:
        further = {name: partial(get, name) for name in names if name not in wanted}
    table = from_columns(kind, [*map(get, wanted)], place, passage, further)
    if kind != "run" or wanted[2] not in RANK_COLUMNS:
        return table
    rank = table.value
    replace(POSITION, title=f"the {wanted[2]}").check(rank, table.in_kind)
    return replace(table, value=-rank, further={**table.further, POSITION.name: lambda: pl.Series(rank)})


def from_columns(
    kind: str,
    columns: Sequence[Any],
    place: Callable[[int], str],
    passage: Iterable[Any] | None = None,
    further: Further | None = None,
) -> Table:
    """Return a table from columns of ids and values of any kind. Raises InputError if one is not valid."""
    check_fork()
    query_id, doc_id, value = columns
    topics = as_strings(query_id, f"{kind}: query_id", distinct=True)
    docs = as_strings(doc_id, f"{kind}: doc_id")
    for name, ids in (("query_id", topics), ("doc_id", docs)):
        if (row := first_null(ids)) is not None:
            raise InputError(f"{kind}: {place(row) or 'a row'} has no {name}")

    def describe(row: int) -> str:
        return f"{kind}: {describe_document(topics[row], docs[row], place(row))}"

    def numbers(column: Any, title: str) -> Floats:
        return as_floats(column, lambda row: f"{describe(row)}: the {title}")

    further = further or {}
    others = {name: further[other] for other, name in _OTHER_NAMES.items() if other in further}
    values = numbers(value, VALUE_NAMES[kind])
    if kind == "qrels":
        check_values(kind, values, lambda row: describe_document(topics[row], docs[row], place(row)))
    spans = [*map(numbers, passage or (), SPAN.columns)]
    for title, found in zip(SPAN.columns, spans, strict=False):
        replace(SPAN, title=title).check(found, describe)
    return Table(
        kind,
        topics,
        docs,
        values,
        place,
        partial(objects_at, query_id),
        Passage(*spans) if spans else None,
        {**others, **further},
    )


def at_rows(column: pl.Series, rows: Ints) -> pl.Series:
    """Return the values of a column at some rows."""
    # For an array, Polars imports numpy.ma: 20 ms, once.
    as_array = rows.size >= _MANY or "numpy.ma" in sys.modules
    return column[pl.Series(rows if as_array else rows.tolist(), dtype=pl.UInt32)]


def first_rows(rows: pl.DataFrame) -> Ints:
    """Return for each row the first row that is equal to it."""
    first = rows.with_row_index("(row)").select(pl.col("(row)").first().over(rows.columns))
    return first["(row)"].to_numpy().astype(np.int64)


def first_null(column: pl.Series) -> int | None:
    """Return the first row without a value, or None."""
    return int(column.is_null().arg_true()[0]) if column.null_count() else None


def column_names(frame: Any) -> list[str]:
    """Return the column names of a frame or Arrow table; none of anything else."""
    return [*(frame.column_names if hasattr(frame, "column_names") else getattr(frame, "columns", ()))]


def check_columns(
    where: str,
    names: Sequence[str],
    wanted: Sequence[str],
    hint: str = "",
    error: type[InputError] = InputError,
) -> None:
    """Raise an error if a table lacks a wanted column, or has it twice."""
    lacking = [name for name in wanted if name not in names]
    if wrong := lacking or [name for name in wanted if [*names].count(name) > 1]:
        problem = f"{'no column' if lacking else 'several columns named'} {', '.join(dict.fromkeys(wrong))}"
        raise error(f"{where}: the table has {problem}; it has {cut(', '.join(map(str, names)))}{hint}")


def get_column(kind: str, frame: Any, name: str) -> Any:
    """Return a column of qrels or a run. Raises InputError if the name appears twice."""
    if column_names(frame).count(name) > 1:
        raise InputError(f"{kind}: the table has several columns named {name!r}; keep one")
    return frame[name]


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


def _is_pandas(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "pandas"


def _as_objects(column: Any) -> list[Any]:
    """Return the Python objects of a column. Raises InputError if a value has no Python equivalent."""
    try:
        values: list[Any] = column.to_list() if hasattr(column, "to_list") else list(column)
    except (OverflowError, ValueError, pl.exceptions.PanicException) as error:
        raise InputError(f"a column has values without an equivalent in Python ({error})") from None
    return values


def _crashes_on_views() -> bool:
    """Return whether Polars crashes on views that pyarrow made, as in tables cast to them."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and int(pyarrow.__version__.partition(".")[0]) < _VIEWS_SINCE


def _series_of_arrow(column: Any) -> pl.Series:
    """Return an Arrow column as a series. Raises InputError if Polars lacks the type, such as unions."""
    if str(column.type) == "string_view" and _crashes_on_views():
        column = column.cast("large_string")
    if not _NO_SERIES.search(str(column.type)):
        with suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return pl.Series(column)
    raise InputError(
        f"a column of the Arrow type {column.type} cannot be read; cast ids to text, numbers to float64"
    )


def as_strings(column: Any, where: str, *, distinct: bool = False) -> pl.Series:
    """Return a column of ids as text, converted as in :func:`~.values.as_text`; null for missing ids.

    ``where`` is for messages. It is an error if ``distinct`` ids differ only in type, as 1 and '1'.
    """
    try:
        return _strings(column, distinct)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _strings(column: Any, distinct: bool) -> pl.Series:
    if _is_pandas(column):
        if hasattr(column.dtype, "categories") and hasattr(column, "cat"):
            categories = _strings(column.cat.categories.to_series(), distinct)
            code = pl.Series(column.cat.codes.to_numpy(), dtype=pl.Int64)
            return categories.gather(code.set(code < 0, None))
        is_numpy = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf"
        arrow = getattr(column.array, "_pa_array", None)
        column = arrow if arrow is not None else column.to_numpy(dtype=None if is_numpy else object)
    if isinstance(column, list) or getattr(column, "dtype", None) == np.dtype(object):
        return _strings_of_objects(column, distinct)
    if isinstance(column, np.ndarray):
        if column.dtype.kind == "f":
            return _strings_of_floats(column)
        column = pl.Series(column)
    series = column if isinstance(column, pl.Series) else _series_of_arrow(column)
    if series.dtype.is_integer() or series.dtype in (pl.String, pl.Categorical, pl.Enum):
        return series.cast(pl.String)
    if series.dtype.is_float():
        return _strings_of_floats(series.to_numpy())
    return _strings_of_objects(_as_objects(series), distinct)


def _strings_of_floats(values: Floats) -> pl.Series:
    numbers, missing = whole_numbers(values)
    return pl.Series(numbers).set(pl.Series(missing), None).cast(pl.String)


def _strings_of_objects(values: Sequence[Any] | np.ndarray[Any, Any], distinct: bool) -> pl.Series:
    """Return Python objects as text; None, NaN and NA are missing."""
    # Most are text. Lists may also have objects such as numbers beyond 128 bits.
    failures = (TypeError, ValueError, AttributeError, OverflowError)
    with suppress(*failures, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return pl.Series(values=values, dtype=pl.String, strict=True)
    texts = texts_of([*values], distinct=distinct)
    with valid_text():
        return pl.Series(texts, dtype=pl.String)


def as_floats(column: Any, describe: Callable[[int], str]) -> Floats:
    """Return a column of levels or scores as float64, NaN where missing; ``describe`` is for errors."""
    if hasattr(column, "to_pylist"):
        column = _series_of_arrow(column)
    dtype: Any = getattr(column, "dtype", None)
    found: Floats
    if isinstance(column, pl.Series) and dtype.is_numeric():
        found = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    elif isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        found = column.to_numpy(dtype=np.float64)
    elif getattr(dtype, "_is_numeric", False):
        found = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        found = floats_of(_as_objects(column), describe)
    return found


def as_words(facet: Facet, texts: pl.Series, describe: Callable[[int], str]) -> Ints:
    """Return the positions of texts among the words of a column. Raises InputError for another text."""
    numbers = {word: number for number, word in enumerate(facet.words)}
    found = texts.replace_strict(numbers, default=None, return_dtype=pl.Int64)
    if (row := first_null(found)) is not None:
        raise InputError(
            f"{describe(row)}: the {facet.name} is {short_repr(texts[row])}; it must be {facet.valid}"
        )
    return found.to_numpy()
