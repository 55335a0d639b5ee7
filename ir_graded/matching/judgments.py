"""Qrels prepared once: topics by number, levels for the measures, documents to look up in a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.facets import ASPECTS, INTENT, INTENT_TYPE, PROBABILITY, SPAN, SWAPPED, Facet
from ir_graded.core.levels import Aspects, Highlights, Intents, Levels
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, NoSharedTopicsError, format_ids, short_repr
from ir_graded.io.annotations import as_shares, check_sum, words_of
from ir_graded.io.columns import as_text, is_missing
from ir_graded.io.records import frame_in_dicts
from ir_graded.io.table import VALUE_NAMES, Table, at_rows, check_values, describe_document

from .lookup import Lookup, articles_of, document_keys

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl


@contextmanager
def unchanged(kind: str, names: Sequence[str], topics: Sequence[Sized]) -> Iterator[None]:
    """Raise InputError if another thread changes the size of the dict of a topic inside this context.

    Args:
        kind: 'qrels' or 'run'.
        names: the topics.
        topics: the dict of each.
    """
    sizes = [*map(len, topics)]

    def check(reason: Exception | None = None) -> None:
        for name, topic, size in zip(names, topics, sizes, strict=True):
            if len(topic) != size:
                raise InputError(
                    f"{kind}: topic {name!r} was changed while it was scored; "
                    "pass a copy that no other thread changes"
                ) from reason

    try:
        yield
    except Exception as error:
        check(error)
        raise
    check()


def text_ids(ids: list[Any], name: str, where: str) -> list[str]:
    """Return ids as text. Raises InputError if one is missing, or two differ only in type.

    Args:
        ids: the distinct ids.
        name: 'query_id' or 'doc_id'.
        where: source of the ids, for messages.
    """
    if set(map(type, ids)) <= {str}:
        return ids
    if any(map(is_missing, ids)):
        raise InputError(f"{where}: a {name} is missing (None or NaN)")
    try:
        names = [as_text(value) for value in ids]
    except InputError as error:
        raise InputError(f"{where}: {name}: {error}") from None
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"{where}: two values of {name} are the same as text: {twice!r}")
    return names


def numbers_of(kind: str, name: str, docs: Mapping[Any, Any]) -> Floats:
    """Return the levels or scores of a topic. Raises InputError if one is missing or not a number."""
    from ir_graded.io import columns

    doc_ids = list(docs)

    def describe(row: int) -> str:
        return describe_document(name, doc_ids[row])

    values = columns.as_floats(
        list(docs.values()), lambda row: f"{kind}: {describe(row)}: the {VALUE_NAMES[kind]}"
    )
    check_values(kind, values, describe)
    return values


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
        probability = _by_unit(table, PROBABILITY, topic, intent, describe)
        bounds = np.searchsorted(of_intent, np.arange(len(names) + 1))
        for number, name in enumerate(names):
            of_topic = probability[bounds[number] : bounds[number + 1]]
            if listed := of_topic[~np.isnan(of_topic)].tolist():
                check_sum(name, listed)
    if table.has(INTENT_TYPE):
        is_nav = _by_unit(table, INTENT_TYPE, topic, intent, describe) > 0
    # One judgment for each intent and document, in the order of intents.
    rows = np.unique(intent << 32 | document, return_index=True)[1]
    levels = Levels.of(found.size, intent[rows], table.value[rows])
    intents = Intents(of_intent, probability, is_nav, levels, document[rows])
    return intents, text.gather(first).to_list()


def _by_unit(
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
    number = _first_rows(pl.DataFrame({"topic": topic, "id": ids}))
    return np.where(ids.is_null().to_numpy(), -1 - unit, number)


@dataclass(frozen=True, eq=False)
class Judgments:
    """Prepared qrels: topics by number, with their documents and levels.

    Attributes:
        query_ids: query_id objects of the caller, in the order of their first appearance.
        names: query_ids as text, by which runs are matched.
        levels: the levels, by topic.
        doc_ids: the document of each level.
        intent_names: the name of each intent.
        columns: names of the requested further columns that the qrels have.
        of_run: the further columns of runs that measures need.
        ranks_rows: whether measures rank the rows of runs with passages.
        note: description of documents with several levels, of which the highest counts; empty without any.
        unused_intents: by topic the intents that have a probability and no document.
        hint: hint on columns with other names than those of passages, for errors.
        note_on_sample: sentences on judgments that are a sample; empty without any.
    """

    query_ids: list[Any]
    names: list[str]
    levels: Levels
    doc_ids: list[str]
    intent_names: list[str] = field(default_factory=list)
    columns: frozenset[str] = frozenset()
    note: str = ""
    ranks_rows: bool = False
    unused_intents: Mapping[str, list[str]] = field(default_factory=dict)
    hint: str = ""
    note_on_sample: str = ""
    of_run: tuple[Facet, ...] = ()
    _lookups: dict[float, Lookup] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def number(self) -> dict[str, int]:
        """Topic number of each topic name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def numbers(self) -> pl.DataFrame:
        """Names and numbers of all topics, as a frame with the columns name and number."""
        import polars as pl

        return pl.DataFrame(
            {"name": pl.Series(self.names, dtype=pl.String), "number": pl.arange(len(self.names), eager=True)}
        )

    def lookup(self, lowest: float) -> Lookup:
        """Return the lookup of documents with level >= ``lowest``; measures do not need the others."""
        if lowest not in self._lookups:
            wanted = np.flatnonzero(self.levels.values[self.levels.level_index] >= lowest)
            topic = self.levels.topic[wanted]
            doc_ids = self.doc_ids
            if wanted.size < len(doc_ids):
                doc_ids = [doc_ids[row] for row in wanted.tolist()]
            self._lookups[lowest] = Lookup(self.levels.topics, topic, wanted, doc_ids)
        return self._lookups[lowest]

    def note_on_text(self, rel: float) -> str:
        """Return a sentence on topics without text highlighted with a level >= ``rel``; empty without any."""
        highlights = self.levels.highlights
        if highlights is None:
            return ""
        spans = highlights.spans[highlights.level >= rel]
        topic = self.levels.topic[spans.article[spans.stop > spans.start]]
        without = np.setdiff1d(np.arange(len(self.names)), topic)
        names = format_ids([self.names[number] for number in without.tolist()])
        if not names:
            return ""
        subject = f"Topic {names} has" if without.size == 1 else f"Topics {names} have"
        return f"{subject} no highlighted text."

    def check_listed(self, rel: float) -> None:
        """Raise InputError if a document of level >= ``rel`` is of an intent without a probability."""
        intents = self.levels.by_intent
        levels = intents.levels
        unlisted = np.zeros(levels.topics, dtype=np.bool_)
        if intents.probability is not None:
            unlisted = np.isnan(intents.probability)
        wrong = unlisted[levels.topic] & (levels.values >= rel)[levels.level_index]
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            intent, document = int(levels.topic[at]), int(intents.document[at])
            topic = int(intents.topic[intent])
            others = np.flatnonzero((intents.topic == topic) & ~unlisted)
            listed = ", ".join(repr(self.intent_names[other]) for other in others.tolist())
            unused = ", ".join(map(repr, sorted(self.unused_intents.get(self.names[topic], ()))))
            unused = unused and f", and {unused} without a document: is one of them misspelled?"
            where = describe_document(self.names[topic], self.doc_ids[document])
            raise InputError(
                f"qrels: {where} is relevant to intent {self.intent_names[intent]!r}, which has no "
                f"probability; topic {self.names[topic]!r} has probabilities for {listed or 'none'}{unused}"
            )

    def require_topics(self, purpose: str) -> None:
        """Raise NoSharedTopicsError if the qrels are empty; ``purpose`` is for the message."""
        if not self.names:
            raise NoSharedTopicsError(f"the qrels are empty: there is no topic to {purpose}")

    def check_highest_level(self, measure: object, highest: float) -> None:
        """Raise InputError if a level is above the highest level of a measure."""
        if self.levels.values.size and self.levels.values[-1] > highest:
            row = int(np.flatnonzero(self.levels.values[self.levels.level_index] > highest)[0])
            where = describe_document(self.names[self.levels.topic[row]], self.doc_ids[row])
            level = self.levels.values[self.levels.level_index[row]]
            raise InputError(
                f"{measure}: {where} has level {level:g}, above {highest:g}, the highest level of the measure"
            )


def from_table(table: Table, scale: Sequence[float] = (), wanted: Iterable[Facet] = ()) -> Judgments:
    """Return judgments from rows. A duplicate document is allowed if the levels are equal, else an error.

    Rows with passages or with different intents may repeat a document; its level is the largest.

    Args:
        table: the rows.
        scale: levels of the whole collection, if the rows are a part of it.
        wanted: further columns that measures need.
    """
    table.check_ids()
    table.check_values()
    first = table.query_id.is_first_distinct().arg_true().to_numpy().astype(np.int64)
    names = at_rows(table.query_id, first).to_list()
    topic = _numbers(table.query_id, names)
    articles, note = articles_of(table, topic), ""
    if articles is None:
        kept, document, level, note = _without_repetitions(table, topic)
        doc_id = table.doc_id if kept.size == len(table) else at_rows(table.doc_id, kept)
    else:
        kept, document, level, doc_id = (
            articles.first,
            articles.article,
            articles.table.value,
            articles.table.doc_id,
        )
    # A stable sort keeps the order of the documents of a topic.
    order = np.argsort(topic[kept], kind="stable")
    columns = {facet.name: facet for facet in wanted if table.has(facet)}
    highlights = intents = None
    intent_names: list[str] = []
    if articles is not None or columns:
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        document = place[document]
    if articles is not None:
        aspects = aspects_of(table, topic) if ASPECTS.name in columns else None
        highlights = Highlights(articles.passage.spans(document), table.value, aspects)
    if INTENT.name in columns:
        intents, intent_names = intents_of(table, topic, document, names)
    levels = Levels.of(len(names), topic[kept][order], level[order], highlights, scale, intents)
    unit = {"document": document, "topic": topic}
    further = {
        name: _by_unit(table, facet, topic, unit[facet.per], table.in_kind)
        for name, facet in columns.items()
        if facet.per in unit
    }
    if further:
        levels = replace(levels, further=further)
    doc_ids = at_rows(doc_id, order).to_list()
    return Judgments(
        table.query_objects(first),
        names,
        levels,
        doc_ids,
        intent_names,
        frozenset(columns),
        note,
        unused_intents=table.unused_intents,
        hint=table.hint(SPAN),
        note_on_sample=table.note_on_sample(),
    )


def _numbers(query_id: pl.Series, names: list[str]) -> Ints:
    """Return the position in ``names`` of the topic of each row."""
    import polars as pl

    if not names:
        return np.zeros(0, dtype=np.int64)
    known = pl.Series(names, dtype=pl.String)
    numbers = query_id.replace_strict(
        known, pl.Series(range(len(names)), dtype=pl.Int64), return_dtype=pl.Int64
    )
    return np.array(numbers.to_numpy(), dtype=np.int64)


def _without_repetitions(table: Table, topic: Ints) -> tuple[Ints, Ints, Floats, str]:
    """Return the first row of each document, the document of each row, the highest levels, and a note.

    The note describes documents with several levels, if any.

    Raises InputError if the levels of a document (for one intent, if there are intents) differ.
    """
    import polars as pl

    every = np.arange(topic.size, dtype=np.int64)
    key = np.sort(document_keys(topic, table.doc_id))
    if not (key[1:] == key[:-1]).any():
        return every, every, table.value, ""
    rows = pl.DataFrame({"topic": topic, "doc": table.doc_id})
    row = _first_rows(rows)
    is_first = row == every
    first, document = np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[row]
    level, note = table.value[first], ""
    if (level[document] != table.value).any():
        _check_one_level(table, document)
        np.maximum.at(level, document, table.value)
        note = _note_of_levels(table, document, level)
    return first, document, level, note


def _first_rows(rows: pl.DataFrame) -> Ints:
    """Return for each row the first row that is equal to it."""
    import polars as pl

    first = rows.with_row_index("(row)").select(pl.col("(row)").first().over(rows.columns))
    return first["(row)"].to_numpy().astype(np.int64)


def _check_one_level(table: Table, document: Ints) -> None:
    """Raise InputError if rows of a document, and of one intent if there are intents, differ in level."""
    import polars as pl

    rows = pl.DataFrame({"document": document})
    if table.has(INTENT):
        rows = rows.with_columns(table.text(INTENT.name).alias(INTENT.name).cast(pl.Categorical))
    first = _first_rows(rows)
    differs = table.value[first] != table.value
    if differs.any():
        other = int(np.flatnonzero(differs)[0])
        row = int(first[other])
        levels = " and ".join(
            f"level {table.value[at]:g}" + (f" at {place}" if (place := table.place(at)) else "")
            for at in (row, other)
        )
        where = describe_document(table.query_id[row], table.doc_id[row])
        if INTENT.name in rows.columns and rows[INTENT.name].n_unique() > 1:
            where += f", intent {rows[INTENT.name][row]!r}"
        raise InputError(f"qrels: {where} has {levels}; {table.why_no_repeats}")


def _note_of_levels(table: Table, document: Ints, level: Floats) -> str:
    """Return a description of the documents with several levels."""
    lower = np.flatnonzero(level[document] != table.value)
    number = np.count_nonzero(np.bincount(document[lower]))
    documents = "1 document has" if number == 1 else f"{number} documents have"
    return (
        f"qrels: {documents} different levels in rows with different iterations (intents); the highest level "
        f"counts; the first: {table.describe(int(lower[0]))}"
    )


def from_dicts(qrels: Mapping[Any, Any]) -> Judgments:
    """Return judgments from a dict of dicts, query_id -> doc_id -> level."""
    items = list(qrels.items())  # one snapshot, in case another thread adds topics
    if problem := frame_in_dicts(dict(items)):
        raise InputError(f"qrels: {problem}")
    query_ids, topics = [query_id for query_id, _ in items], [docs for _, docs in items]
    names = text_ids(query_ids, "query_id", "qrels")
    for name, docs in zip(names, topics, strict=True):
        if not isinstance(docs, Mapping):
            hint = f": {SWAPPED}" if isinstance(docs, (str, os.PathLike)) else ""
            raise InputError(
                f"qrels: topic {name!r}: expected a dict from doc_id to level, found {short_repr(docs)}{hint}"
            )
    doc_ids: list[str] = []
    levels: list[Floats] = []
    with unchanged("qrels", names, topics):
        for name, docs in zip(names, topics, strict=True):
            doc_ids += text_ids(list(docs), "doc_id", f"qrels: topic {name!r}")
            levels.append(numbers_of("qrels", name, docs))
    counts = np.array([level.size for level in levels], dtype=np.int64)
    topic = np.repeat(np.arange(len(names), dtype=np.int64), counts)
    flat = np.concatenate(levels) if levels else np.zeros(0)
    return Judgments(query_ids, names, Levels.of(len(names), topic, flat), doc_ids)
