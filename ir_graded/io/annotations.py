"""Further columns of qrels, and what users add to them: intents, groups, lengths of documents."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ir_graded.core.facets import ASPECTS, INCLUSION, INTENT, INTENT_TYPE, PROBABILITY, Facet
from ir_graded.core.levels import Aspects, Intents, Levels
from ir_graded.core.segments import EXACT_INTEGERS_BELOW, Floats, Ints
from ir_graded.errors import FileFormatError, InputError, ParameterError, format_ids, short_repr

from .table import (
    Table,
    as_float,
    as_floats,
    as_strings,
    as_text,
    column_names,
    first_rows,
    get_column,
    is_missing,
    objects_at,
    row_place,
)
from .text import check_path, errors_with_path, fields_of, line_error, read_text

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


_Value = TypeVar("_Value")
#: First ids, second ids, values, and a function for the place of a row.
_Rows = tuple[list[Any], list[Any], list[Any], Callable[[int], str]]


@dataclass(frozen=True)
class Pairs:
    """Pairs of ids with their values, one row per pair.

    Attributes:
        ids: topic and second id of each row, as text.
        values: value of each row; for a frame, a tuple of its columns.
        describe: returns the description of a row, for messages.
        place: returns the place of a row.
    """

    ids: list[tuple[str, str]]
    values: list[Any]
    describe: Callable[[int], str]
    place: Callable[[int], str]

    def unique(self, values: Sequence[_Value]) -> dict[tuple[str, str], _Value]:
        """Return one value for each pair. Raises InputError if two rows of a pair have different values."""
        first: dict[tuple[str, str], int] = {}
        for row, (pair, value) in enumerate(zip(self.ids, values, strict=True)):
            other = first.setdefault(pair, row)
            if values[other] != value:
                place = self.place(other) or "another place"
                raise InputError(f"{self.describe(row)} is {value}, but {values[other]} at {place}")
        return {pair: values[row] for pair, row in first.items()}


def read_pairs(
    name: str,
    source: Any,
    by: tuple[str, str],
    layout: str,
    of_fields: Callable[[Sequence[str]], Any],
    of_columns: Callable[[Sequence[str]], Sequence[str]],
) -> Pairs:
    """Read values in any supported form.

    Args:
        name: the name of the source, for messages.
        source: a file, a dict ``{topic: {id: value}}``, or a frame.
        by: the column of the second id, and its name in messages.
        layout: a line of a file in words.
        of_fields: converts the fields of a line after the ids to a value; raises ValueError on failure.
        of_columns: returns the columns of a value, given the columns of a frame without the ids.

    Raises:
        InputError: the source has another form, or an id is missing or cannot be read.
        FileFormatError: a line of the file cannot be read.
        OSError: the file cannot be opened.
    """
    column, noun = by
    if isinstance(source, (str, os.PathLike)):
        *ids, values, place = _of_file(source, layout, of_fields)
    elif isinstance(source, Mapping):
        *ids, values, place = _of_dicts(name, source, noun)
    elif hasattr(source, "columns") or hasattr(source, "column_names"):
        *ids, values, place = _of_frame(name, source, column, of_columns)
    else:
        raise InputError(
            f"{name}: cannot read {short_repr(source)}; give a dict of dicts by topic and {noun}, a frame "
            f"with the columns query_id and {column}, or a file of lines {layout}"
        )

    def describe(row: int) -> str:
        where = f" ({place(row)})" if place(row) else ""
        return f"{name}: topic {ids[0][row]!r}, {noun} {ids[1][row]!r}{where}"

    try:
        texts = [as_strings(each) for each in ids]
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    for text in texts:
        if text.null_count():
            row = int(text.is_null().arg_true()[0])
            raise InputError(f"{describe(row)}: the topic or the {noun} is missing")
    pairs = list(zip(*texts, strict=True))
    if isinstance(source, Mapping):
        _check_distinct(name, noun, pairs, list(zip(*ids, strict=True)))
    return Pairs(pairs, values, describe, place)


def _check_distinct(name: str, noun: str, pairs: list[tuple[str, str]], given: list[tuple[Any, Any]]) -> None:
    """Raise InputError if two keys of a dict, such as 1 and '1', are the same as text."""
    topics: dict[str, Any] = {}
    others: dict[tuple[str, str], Any] = {}
    for pair, (topic, other) in zip(pairs, given, strict=True):
        twin = topics.setdefault(pair[0], topic)
        if twin is not topic:
            raise InputError(f"{name}: the topics {twin!r} and {topic!r} are the same as text")
        if pair in others:
            raise InputError(
                f"{name}: topic {topic!r}: the {noun}s {others[pair]!r} and {other!r} are the same as text"
            )
        others[pair] = other


def _of_dicts(name: str, source: Mapping[Any, Any], noun: str) -> _Rows:
    topics: list[Any] = []
    others: list[Any] = []
    values: list[Any] = []
    for topic, of_topic in source.items():
        if not isinstance(of_topic, Mapping):
            raise InputError(
                f"{name}: topic {topic!r}: expected a dict by {noun}, found {short_repr(of_topic)}"
            )
        topics += [topic] * len(of_topic)
        others += of_topic.keys()
        values += of_topic.values()
    return topics, others, values, lambda _: ""


def _of_frame(
    name: str, frame: Any, column: str, of_columns: Callable[[Sequence[str]], Sequence[str]]
) -> _Rows:
    ids, present = ("query_id", column), list(column_names(frame))
    wanted = [*ids, *of_columns([each for each in present if each not in ids])]
    missing = [each for each in wanted if each not in present]
    if missing:
        raise InputError(
            f"{name}: the table has no column {', '.join(missing)}; it has {', '.join(map(str, present))}"
        )
    rows = np.arange(len(frame))
    topics, others, *parts = (objects_at(get_column(name, frame, each), rows) for each in wanted)
    return topics, others, list(zip(*parts, strict=True)), row_place


def _of_file(path: str | os.PathLike[str], layout: str, of_fields: Callable[[Sequence[str]], Any]) -> _Rows:
    check_path(path)
    where = os.fspath(path)
    with errors_with_path(path):
        data = read_text(where)
    topics, others, values, lines = [], [], [], []
    for line, raw in enumerate(io.BytesIO(data), 1):
        fields = fields_of(raw, line, where)
        if not fields:
            continue
        try:
            topic, other, *rest = fields
            values.append(of_fields(rest))
        except ValueError:
            raise line_error(where, line, f"expected a line {layout}", raw) from None
        topics.append(topic)
        others.append(other)
        lines.append(line)
    return topics, others, values, lambda row: f"{where}, line {lines[row]}"


#: Tolerance of the sum, because files have probabilities with four digits.
HIGHEST_SUM = 1.001


def with_probabilities(table: Table, intents: Any) -> Table:
    """Return qrels with the columns probability and intent_type; errors as in ``with_intents``."""
    import polars as pl

    table.check_ids()
    listed = _checked(intents, table.query_id.unique(maintain_order=True).to_list())
    known = pl.DataFrame(
        [(*key, *value) for key, value in listed.items()],
        schema={"topic": pl.String, "intent": pl.String, "probability": pl.Float64, "type": pl.String},
        orient="row",
    )
    text = table.text(INTENT.name)
    rows = pl.DataFrame({"topic": table.query_id, "intent": text}).join(
        known, on=["topic", "intent"], how="left", maintain_order="left"
    )
    added = {
        INTENT.name: text,
        "probability": rows["probability"],
        "intent_type": rows["type"].fill_null(INTENT_TYPE.words[0]),
    }
    columns = {name: partial(added.get, name) for name in added}
    present = set(zip(table.query_id, text, strict=True)) if rows["probability"].null_count() else set(listed)
    unused: dict[str, list[str]] = {}
    for topic, intent in listed.keys() - present:
        unused.setdefault(topic, []).append(intent)
    return replace(table, further={**table.further, **columns}, unused_intents=unused)


def check_sum(topic: str, probabilities: Iterable[float]) -> None:
    """Raise InputError if the probabilities of a topic are missing or have a wrong sum."""
    given = [*probabilities]
    if not given:
        raise InputError(f"intents: topic {topic!r} of the qrels has no probabilities")
    total = math.fsum(given)
    if not 0 < total <= HIGHEST_SUM:
        listed = ", ".join(f"{value:g}" for value in given)
        raise InputError(
            f"intents: the probabilities of topic {topic!r} sum to {total:g}; the sum must be above 0 and at "
            f"most {HIGHEST_SUM}: {listed}"
        )


def words_of(facet: Facet, texts: pl.Series, describe: Callable[[int], str]) -> Ints:
    """Return the positions of texts among the words of a column. Raises InputError for another text."""
    wrong = ~texts.is_in(list(facet.words)).fill_null(value=False)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(
            f"{describe(row)}: the {facet.name} is {short_repr(texts[row])}; it must be {facet.valid}"
        )
    import polars as pl

    numbers = {word: number for number, word in enumerate(facet.words)}
    return texts.replace_strict(numbers, return_dtype=pl.Int64).to_numpy()


def _of_fields(fields: Sequence[str]) -> tuple[float, str]:
    probability, *types = fields
    (kind,) = types or INTENT_TYPE.words[:1]
    return float(probability), kind


def _of_columns(present: Sequence[str]) -> list[str]:
    return ["probability", *(name for name in present if name == "intent_type")]


def _checked(intents: Any, topics: list[str]) -> dict[tuple[str, str], tuple[float, str]]:
    """Return probability and type of each intent of some topics."""
    layout = "topic intent probability [inf|nav]"
    pairs = read_pairs("intents", intents, (INTENT.name, "intent"), layout, _of_fields, _of_columns)
    values = [value if isinstance(value, (tuple, list)) else (value,) for value in pairs.values]
    for row, value in enumerate(values):
        if len(value) not in {1, 2}:
            raise InputError(
                f"{pairs.describe(row)}: {short_repr(value)} must be a probability, or a pair of a "
                "probability and a type"
            )
    given, types = (
        zip(*((*value, INTENT_TYPE.words[0])[:2] for value in values), strict=True) if values else ((), ())
    )
    probability = as_floats([*given], lambda row: f"{pairs.describe(row)}: the probability")
    PROBABILITY.check(probability, pairs.describe)
    words_of(INTENT_TYPE, as_strings([*types]), pairs.describe)
    found = pairs.unique([*zip(probability.tolist(), types, strict=True)])
    of_topic: dict[str, list[float]] = {topic: [] for topic in topics}
    for (topic, _), (number, _) in found.items():
        if topic in of_topic:
            of_topic[topic].append(number)
    for topic in topics:
        check_sum(topic, of_topic[topic])
    return found


#: Largest difference between the sum of shares and 1; files may have rounded shares.
ROUNDED = 0.001
_FEWEST = 2


def as_shares(values: Sequence[Any], describe: Callable[[int], str]) -> Floats:
    """Return vectors of shares as an array, shape ``(rows, groups)``; NaN if a vector is missing.

    If all are missing, the number of groups is unknown and 0 is used.

    Args:
        values: a vector for each row, or None or NaN.
        describe: describes a row, for messages.

    Raises:
        InputError: a vector has fewer than two numbers or another number of them than the first, one of them
            is negative, or they do not sum to 1.
    """
    known = [row for row, value in enumerate(values) if not _is_missing(value)]
    vectors = _as_array([values[row] for row in known], lambda at: describe(known[at]))
    found = np.full((len(values), vectors.shape[1]), np.nan)
    found[known] = vectors
    sums = found[known].sum(axis=1)
    wrong = ~((np.abs(sums - 1.0) <= ROUNDED) & (found[known] >= 0).all(axis=1))
    if wrong.any():
        row = known[int(np.flatnonzero(wrong)[0])]
        raise InputError(
            f"{describe(row)}: the shares {short_repr(found[row].tolist())} must be numbers >= 0 "
            "that sum to 1"
        )
    return found


def _is_missing(value: Any) -> bool:
    return is_missing(value) if not hasattr(value, "__len__") else False


def _as_array(vectors: list[Any], describe: Callable[[int], str]) -> Floats:
    """Return vectors of one length >= 2 as rows of an array."""
    if not vectors:
        return np.zeros((0, 0))
    try:
        found = np.array(vectors)
        if found.dtype.kind in "iuf" and found.ndim == 2 and found.shape[1] >= _FEWEST:  # noqa: PLR2004
            return found.astype(np.float64)
    except ValueError:
        pass  # of several lengths
    for row, vector in enumerate(vectors):
        if isinstance(vector, (str, bytes, Mapping, Set)) or not hasattr(vector, "__len__"):
            raise InputError(f"{describe(row)}: {short_repr(vector)} is not a sequence of shares")
        if len(vector) < _FEWEST:
            raise InputError(f"{describe(row)}: {short_repr(vector)} has fewer than {_FEWEST} shares")
        if len(vector) != len(vectors[0]):
            raise InputError(
                f"{describe(row)} has {len(vector)} shares, but {describe(0)} has {len(vectors[0])}"
            )
    found = np.empty((len(vectors), len(vectors[0])))
    for row, vector in enumerate(vectors):
        where = f"{describe(row)}: the share"
        found[row] = [as_float(share, where.__str__) for share in vector]
    return found


def add_groups(frame: pd.DataFrame, groups: Mapping[str, Any]) -> pd.DataFrame:
    """Add a column for each attribute set to qrels; errors as in ``with_groups``."""
    import pandas as pd

    topics, docs = (map(as_text, frame[name]) for name in ("query_id", "doc_id"))
    documents = list(zip(topics, docs, strict=True))
    judged = set(documents)
    for name, source in groups.items():
        if not isinstance(name, str) or not name or name in frame.columns:
            raise ParameterError(f"groups: {name!r} must be the name of a column that the qrels do not have")
        found = _membership(name, source, judged)
        frame[name] = pd.Series([found.get(each) for each in documents], dtype=object, index=frame.index)
    return frame


def _numbers(fields: Iterable[str]) -> list[float]:
    return [float(field) for field in fields]


def _membership(name: str, source: Any, judged: set[tuple[str, str]]) -> dict[tuple[str, str], list[float]]:
    """Return shares by topic and document. Raises InputError if they are wrong or a document is unjudged."""
    layout = "topic doc p1 ... pn, all p numbers"
    pairs = read_pairs(name, source, ("doc_id", "document"), layout, _numbers, list)
    shares = as_shares(pairs.values, pairs.describe)
    for row, document in enumerate(pairs.ids):
        if document not in judged:
            raise InputError(f"{pairs.describe(row)} is not in the qrels; add it, for example with level 0")
    return pairs.unique(shares.tolist())


#: Passages that end behind their documents: they count, or are an error.
BEYOND = ("keep", "raise")


def read_lengths(source: Any) -> dict[str, int]:
    """Return the length of each document.

    Args:
        source: a mapping from doc_id to length, a frame with these columns, or a file of CSV with a header or
            Parquet.

    Raises:
        InputError: a length is not a whole number >= 0, or a document has two lengths.
        OSError: the file cannot be opened.
    """
    if isinstance(source, Mapping):
        doc_ids, given = as_strings(list(source)), list(source.values())
    else:
        frame = _read_file(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else source
        if not (hasattr(frame, "columns") or hasattr(frame, "column_names")):
            raise InputError(
                f"lengths are {short_repr(source)}; give a mapping from doc_id, a table with doc_id and "
                "length, or a file that holds one"
            )
        missing = [name for name in ("doc_id", "length") if name not in column_names(frame)]
        if missing:
            raise InputError(f"lengths: the table has no column {', '.join(missing)}")
        doc_ids, given = as_strings(frame["doc_id"]), frame["length"]
    lengths = as_floats(given, lambda row: f"lengths: document {doc_ids[row]!r} (row {row}): length")
    wrong = ~((lengths >= 0) & (lengths == np.floor(lengths)) & (lengths < EXACT_INTEGERS_BELOW))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"lengths: document {doc_ids[row]!r} (row {row}) has length {lengths[row]:g}; it must be a whole "
            "number from 0 to 2**53"
        )
    found: dict[str, int] = {}
    first: dict[str, int] = {}
    whole = lengths.astype(np.int64).tolist()
    for row, (doc_id, length) in enumerate(zip(doc_ids.to_list(), whole, strict=True)):
        if found.setdefault(doc_id, length) != length:
            raise InputError(
                f"lengths: document {doc_id!r} has length {found[doc_id]} at row {first[doc_id]} and "
                f"{length} at row {row}; use the same length in both"
            )
        first.setdefault(doc_id, row)
    return found


def rows_beyond(table: Table, lengths: Mapping[str, int]) -> Ints:
    """Return the rows whose passages end behind their documents.

    Raises:
        InputError: documents of the table have no length.
    """
    import polars as pl

    known = pl.Series(lengths.keys(), dtype=pl.String), pl.Series(lengths.values(), dtype=pl.Int64)
    end = table.doc_id.replace_strict(*known, default=None, return_dtype=pl.Int64)
    if missing := table.doc_id.filter(end.is_null()).unique(maintain_order=True).to_list():
        raise InputError(
            f"no length is given for {len(missing)} documents of the {table.kind}: {format_ids(missing)}"
        )
    assert table.passage is not None  # noqa: S101  # for the type checker
    stop = table.passage.start + table.passage.length
    return np.flatnonzero(stop > end.to_numpy())


def check_ends(table: Table, lengths: Mapping[str, int], beyond: str) -> None:
    """Check that all documents of a table have a length, and if wanted that passages end in their documents.

    Args:
        table: qrels or a run with passages.
        lengths: the length of each document.
        beyond: 'keep', or 'raise' where no passage may end behind its document.

    Raises:
        InputError: a document has no length, or with 'raise' a passage ends behind its document.
    """
    rows = rows_beyond(table, lengths)
    if rows.size and beyond == "raise":
        row = int(rows[0])
        assert table.passage is not None  # noqa: S101  # for the type checker
        start, length = table.passage.start[row], table.passage.length[row]
        raise InputError(
            f"{table.kind}: {table.describe(row)}: the passage {start:.0f}:{length:.0f} ends behind its "
            f"document, which has length {lengths[table.doc_id[row]]}; beyond='keep' keeps it"
        )


def _read_file(path: str) -> Any:
    import polars as pl

    from .parquet import is_parquet

    try:
        if is_parquet(path):
            return pl.read_parquet(path)
        return pl.read_csv(path, schema_overrides={"doc_id": pl.String})
    except pl.exceptions.PolarsError as error:
        raise FileFormatError(f"{path}: cannot be read as CSV or Parquet: {error}") from None


# ------------------------------------------------------------------------- further columns as arrays


def by_unit(
    table: Table, facet: Facet, topic: Ints, unit: Ints, describe: Callable[[int], str]
) -> npt.NDArray[Any]:
    """Return the value of a further column for each document, topic or intent.

    Args:
        table: the qrels.
        facet: the column.
        topic: the topic of each row; ids belong to topics.
        unit: the document, topic or intent of each row, as a number from 0 up.
        describe: describes a row.

    Raises:
        InputError: a value is not valid, or the rows of a unit have different values.
    """
    values = _values(table, facet, topic, unit, describe)
    first = np.zeros(unit.max(initial=-1) + 1, dtype=np.int64)
    first[unit[::-1]] = np.arange(unit.size)[::-1]
    expected = values[first][unit]
    differs = ~((values == expected) | ((values != values) & (expected != expected)))  # noqa: PLR0124  # NaN
    if differs.any():
        row = int(np.nonzero(differs)[0][0])
        other, given = int(first[unit[row]]), table.objects(facet.name)
        one, another = short_repr(given[row]), short_repr(given[other])
        raise InputError(
            f"{describe(row)}: the {facet.name} is {one}, but {another} at "
            f"{table.place(other) or 'another row'}; use the same value in both"
        )
    return values[first]


def _values(
    table: Table, facet: Facet, topic: Ints, unit: Ints, describe: Callable[[int], str]
) -> npt.NDArray[Any]:
    """Return the value of each row; ids as numbers, distinct for units without one."""
    import polars as pl

    if facet.kind == "number":
        return table.numbers(facet, describe)
    if facet.kind == "word":
        return words_of(facet, table.text(facet.name), describe)
    if facet.kind == "shares":
        return as_shares(table.objects(facet.name), lambda row: f"qrels: {facet.name}: {table.describe(row)}")
    ids = table.ids(facet.name)
    number = first_rows(pl.DataFrame({"topic": topic, "id": ids}))
    return np.where(ids.is_null().to_numpy(), -1 - unit, number)


def aspects_of(table: Table, topic: Ints) -> Aspects:
    """Return the aspects of each row; a row with a missing value has none.

    Args:
        table: the rows of the qrels.
        topic: topic of each row.

    Raises:
        InputError: the aspects of a row are not text.
    """
    known = np.zeros(len(table), dtype=np.bool_)
    span: list[int] = []
    aspect: list[int] = []
    numbers: dict[tuple[int, str], int] = {}
    for row, (number, given) in enumerate(zip(topic.tolist(), table.objects(ASPECTS.name), strict=True)):
        if is_missing(given):
            continue
        if not isinstance(given, str):
            raise InputError(f"qrels: {table.describe(row)}: the aspects {short_repr(given)} are not text")
        known[row] = True
        for name in {part.strip() for part in given.split("|")}:
            span.append(row)
            aspect.append(numbers.setdefault((number, name), len(numbers)))
    return Aspects(known, np.array(span, dtype=np.int64), np.array(aspect, dtype=np.int64))


def intents_of(table: Table, topic: Ints, document: Ints, names: list[str]) -> tuple[Intents, list[str]]:
    """Return the intents of qrels, and the name of each.

    Args:
        table: the rows of the qrels.
        topic: topic of each row.
        document: position in the levels of the qrels of the document of each row.
        names: the topics.

    Raises:
        InputError: an intent is missing, or its probability or type is not valid or differs between rows.
    """
    import polars as pl

    text = table.text(INTENT.name)

    def describe(row: int) -> str:
        return f"qrels: {table.describe(row)}, intent {text[row]!r}"

    codes = text.cast(pl.Categorical)
    key = topic << 32 | codes.to_physical().to_numpy().astype(np.int64)
    found, first, intent = np.unique(key, return_index=True, return_inverse=True)
    of_intent = found >> 32
    probability, is_nav = None, np.zeros(found.size, dtype=np.bool_)
    if table.has(PROBABILITY):
        probability = by_unit(table, PROBABILITY, topic, intent, describe)
        bounds = np.searchsorted(of_intent, np.arange(len(names) + 1))
        for number, name in enumerate(names):
            of_topic = probability[bounds[number] : bounds[number + 1]]
            if listed := of_topic[~np.isnan(of_topic)].tolist():
                check_sum(name, listed)
    if table.has(INTENT_TYPE):
        is_nav = by_unit(table, INTENT_TYPE, topic, intent, describe) > 0
    # One judgment for each intent and document, in the order of intents.
    rows = np.unique(intent << 32 | document, return_index=True)[1]
    levels = Levels.of(found.size, intent[rows], table.value[rows])
    intents = Intents(of_intent, probability, is_nav, levels, document[rows])
    return intents, text.gather(first).to_list()


def note_on_sample(table: Table) -> str:
    """Return sentences on judgments that are a sample; empty if the table has no such judgments."""
    given = table.numbers(INCLUSION) if table.has(INCLUSION) else np.ones(0)
    sampled = np.count_nonzero(given < 1)
    if not sampled:
        return ""
    return (
        f"{sampled} of {len(given)} judgments have an inclusion probability ({INCLUSION.name}) below 1. "
        "Measures score the sample as if it were complete."
    )
