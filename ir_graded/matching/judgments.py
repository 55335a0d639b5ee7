"""Qrels prepared once: topics by number, levels for the measures, and a lookup of judged documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ir_graded._utils.pytrec_eval_guard import RelevanceEvaluator
from ir_graded.core import segments
from ir_graded.core.facets import ASPECTS, INTENT, SPAN, SWAPPED, Facet
from ir_graded.core.levels import Highlights, Levels
from ir_graded.core.passages import Spans
from ir_graded.core.ranking import Groups, Scores
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, NoSharedTopicsError, format_ids, short_repr
from ir_graded.io.annotations import aspects_of, by_unit, intents_of, note_on_sample
from ir_graded.io.records import frame_in_dicts
from ir_graded.io.table import (
    VALUE_NAMES,
    Passage,
    Table,
    as_floats,
    as_text,
    at_rows,
    check_values,
    describe_document,
    first_rows,
    is_missing,
)

if TYPE_CHECKING:
    import polars as pl


Keys = npt.NDArray[np.uint64]

# An odd number with irregular bits: the fractional part of the golden ratio.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def document_keys(topic: Ints, doc_id: pl.Series) -> Keys:
    """Return an evenly distributed number for each (topic, document); equal pairs have equal keys."""
    key = topic.astype(np.uint64)
    key *= _SPREAD
    key += doc_id.hash().to_numpy()
    return key


def _highest(key: Keys, size: int) -> Ints:
    """Return the highest bits of keys, as positions in a table whose size is a power of two."""
    return (key >> np.uint64(65 - size.bit_length())).view(np.int64)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Judged documents to find in a run, ordered by topic.

    Attributes:
        topics: number of topics in the qrels.
        topic: topic of each document, ascending.
        document: its position in ``Levels``.
        doc_ids: the documents.
    """

    topics: int
    topic: Ints
    document: Ints
    doc_ids: list[str]

    def __reduce__(self) -> tuple[Any, ...]:
        # Do not pickle the cached keys, because another process may use another hash.
        return Lookup, (self.topics, self.topic, self.document, self.doc_ids)

    @cached_property
    def start(self) -> Ints:
        """Position of the first document of each topic, and one past the last."""
        return np.append(segments.starts(self.topic, self.topics), self.topic.size).astype(np.int64)

    @cached_property
    def _series(self) -> pl.Series:
        import polars as pl

        return pl.Series(self.doc_ids, dtype=pl.String)

    @cached_property
    def _keys(self) -> tuple[Keys, Ints]:
        """Keys in ascending order, ending with the largest possible key, and the documents of the others."""
        key = document_keys(self.topic, self._series)
        order = np.argsort(key)
        return np.append(key[order], ~np.uint64(0)), order

    @cached_property
    def _begin(self) -> npt.NDArray[np.int32]:
        """Position of the first key for each value of the highest bits (2 to 4 times as many as keys)."""
        key, _ = self._keys
        bits = key.size.bit_length() + 1
        highest = np.arange(1 << bits, dtype=np.uint64)
        return np.searchsorted(key, highest << np.uint64(64 - bits)).astype(np.int32)

    @cached_property
    def _filter(self) -> Bools:
        """Table over the highest bits of keys: False if no judged document has these bits."""
        size = max(1 << 16, min(1 << 24, 8 * self._begin.size))
        table = np.zeros(size, dtype=np.bool_)
        table[_highest(self._keys[0][:-1], size)] = True
        return table

    def prepare(self) -> None:
        """Compute the cached values now, so that several threads do not compute them at the same time."""
        _ = self._filter, self._series

    def find(self, topic: Ints, doc_id: pl.Series, key: Keys) -> tuple[Ints, Ints]:
        """Return the rows with a judged document, ascending, and the judged document of each.

        Args:
            topic: topic of each row.
            doc_id: its document.
            key: their keys, which find candidates; topic and document are then compared.
        """
        judged_key, judged = self._keys
        row = np.flatnonzero(self._filter[_highest(key, self._filter.size)])
        key = key[row]
        at = self._begin[_highest(key, self._begin.size)]
        rows, documents = [row[:0]], [judged[:0]]
        while row.size:
            there, inside = judged_key[at], at < judged.size
            same = np.flatnonzero((there == key) & inside)
            rows.append(row[same])
            documents.append(judged[at[same]])
            # The key may follow smaller keys, and equal keys of other documents.
            left = np.flatnonzero((there <= key) & inside)
            row, key, at = row[left], key[left], at[left] + 1
        row, document = np.concatenate(rows), np.concatenate(documents)
        really = (at_rows(self._series, document) == at_rows(doc_id, row)).to_numpy()
        really &= self.topic[document] == topic[row]
        row, document = row[really], document[really]
        order = np.argsort(row)
        return row[order], document[order]


@lru_cache(maxsize=1)
def compares_single_precision() -> bool:
    """Return whether pytrec_eval ranks by float32 scores, by a test with two scores equal as float32."""
    evaluator = RelevanceEvaluator({"1": {"a": 1}}, {"recip_rank"})
    # In double precision a is first; as float32 the two tie, and b comes first.
    return bool(evaluator.evaluate({"1": {"a": 1.00000001, "b": 1.0}})["1"]["recip_rank"] < 1)


def comparable(scores: Floats) -> Scores:
    """Return scores in the precision in which they are compared."""
    if not compares_single_precision():
        return scores
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Articles:
    """The articles of a table with passages.

    Attributes:
        table: one row per article, with the largest value of its passages.
        first: first row of each article in the table with passages.
        article: the article of each row of the table with passages.
        passage: the spans of these rows.
    """

    table: Table
    first: Ints
    article: Ints
    passage: Passage

    def groups(self, groups: Groups) -> Groups:
        """Return the positions of the topics in ``table``, from their positions among the passages."""
        group = np.searchsorted(groups.begin, self.first, side="right") - 1
        begin = np.append(np.flatnonzero(np.diff(group, prepend=-1)), group.size)
        return Groups(groups.number[group[begin[:-1]]], begin)

    def spans(self, articles: Ints, number: Ints) -> Spans:
        """Return the spans of some articles, with new article numbers."""
        wanted = np.full(len(self.table), -1, dtype=np.int64)
        wanted[articles] = number
        owner = wanted[self.article]
        rows = np.flatnonzero(owner >= 0)
        return self.passage[rows].spans(owner[rows])


def articles_of(table: Table, topic: Ints) -> Articles | None:
    """Return the articles of a validated table; None if it has no passages."""
    if table.passage is None:
        return None
    first, article = _articles(topic, table.doc_id)
    value = np.full(first.size, -np.inf)
    np.maximum.at(value, article, table.value)
    reduced = replace(table[first], value=value, passage=None)
    return Articles(reduced, first, article, table.passage)


def one_row_an_article(table: Table) -> Table:
    """Return a table without passages: one row per article, with its largest value."""
    import polars as pl

    if table.passage is None:
        return table
    topic = table.query_id.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    articles = articles_of(table, topic)
    return table if articles is None else articles.table


def _articles(topic: Ints, doc_id: pl.Series) -> tuple[Ints, Ints]:
    """Return the first row of each article, ascending, and the article of each row."""
    import polars as pl

    # Passages of an article are usually adjacent: join neighbours first, then the few others by value.
    begins = np.ones(topic.size, dtype=np.bool_)
    begins[1:] = (topic[1:] != topic[:-1]) | (doc_id != doc_id.shift(1)).to_numpy()[1:]
    begin = np.flatnonzero(begins)
    article = np.cumsum(begins) - 1
    blocks = pl.DataFrame({"topic": topic[begin], "doc": doc_id.gather(begin)}).with_row_index("block")
    first = blocks.select(pl.col("block").min().over("topic", "doc"))["block"].to_numpy().astype(np.int64)
    distinct, number = np.unique(first, return_inverse=True)
    return begin[distinct], number[article].astype(np.int64)


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
    doc_ids = list(docs)

    def describe(row: int) -> str:
        return describe_document(name, doc_ids[row])

    values = as_floats(list(docs.values()), lambda row: f"{kind}: {describe(row)}: the {VALUE_NAMES[kind]}")
    check_values(kind, values, describe)
    return values


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
        name: by_unit(table, facet, topic, unit[facet.per], table.in_kind)
        for name, facet in columns.items()
        if facet.per in unit
    }
    if further:
        levels = replace(levels, further=further)
    sample = note_on_sample(table)
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
        note_on_sample=sample,
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
    row = first_rows(rows)
    is_first = row == every
    first, document = np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[row]
    level, note = table.value[first], ""
    if (level[document] != table.value).any():
        _check_one_level(table, document)
        np.maximum.at(level, document, table.value)
        note = _note_of_levels(table, document, level)
    return first, document, level, note


def _check_one_level(table: Table, document: Ints) -> None:
    """Raise InputError if rows of a document, and of one intent if there are intents, differ in level."""
    import polars as pl

    rows = pl.DataFrame({"document": document})
    if table.has(INTENT):
        rows = rows.with_columns(table.text(INTENT.name).alias(INTENT.name).cast(pl.Categorical))
    first = first_rows(rows)
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
