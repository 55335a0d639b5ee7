"""The qrels, prepared once: levels for the measures, and documents to look up in a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ir_graded.core import segments
from ir_graded.core.hits import Highlights, Levels
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, shown
from ir_graded.io.ids import as_text, is_missing
from ir_graded.io.table import ONLY_PASSAGES, VALUE_NAMES, Table, at_rows, check_values, describe_document

from .articles import articles_of

if TYPE_CHECKING:
    import polars as pl


Keys = npt.NDArray[np.uint64]


def document_keys(topic: Ints, doc_id: pl.Series, topics: int) -> Keys:
    """A number for each (topic, document): topic above, hash of the doc_id below. Equal ids, equal keys."""
    bits = np.uint64(max(topics, 1).bit_length())
    key = topic.astype(np.uint64)
    key <<= np.uint64(64) - bits
    key |= doc_id.hash().to_numpy() >> bits
    return key


@dataclass(frozen=True, eq=False)
class Lookup:
    """The judged documents that a run is searched for, ordered by topic.

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
        # The cached keys stay behind: another process may hash otherwise.
        return Lookup, (self.topics, self.topic, self.document, self.doc_ids)

    @cached_property
    def start(self) -> Ints:
        """Position of each topic's first document, and one past the last."""
        return np.append(segments.starts(self.topic, self.topics), self.topic.size).astype(np.int64)

    @cached_property
    def series(self) -> pl.Series:
        """The documents as a Polars column."""
        import polars as pl

        return pl.Series(self.doc_ids, dtype=pl.String)

    @cached_property
    def sorted_keys(self) -> tuple[Keys, Ints]:
        """The documents' keys in ascending order, and which document each belongs to."""
        key = document_keys(self.topic, self.series, self.topics)
        order = np.argsort(key).astype(np.int64)
        return key[order], order

    def prepared(self) -> Lookup:
        """This, with all that threads would make at the same time."""
        _ = self.filter, self.series
        return self

    @cached_property
    def filter(self) -> Bools:
        """A table over the low bits of keys: False says that no judged document has them."""
        table = np.zeros(1 << max(16, min(24, 4 + self.topic.size.bit_length())), dtype=np.bool_)
        table[self.sorted_keys[0] & np.uint64(table.size - 1)] = True
        return table

    @property
    def filter_mask(self) -> np.uint64:
        """The low bits of a key that ``filter`` looks at."""
        return np.uint64(self.filter.size - 1)


@dataclass(frozen=True, eq=False)
class Judgments:
    """Qrels of any form in one: topics by number, with their documents and levels.

    Attributes:
        query_ids: the caller's own query_id objects, in the order of their first appearance.
        names: the same as text, by which runs are matched.
        levels: the levels, by topic.
        doc_ids: the document of each level.
    """

    query_ids: list[Any]
    names: list[str]
    levels: Levels
    doc_ids: list[str]
    _lookups: dict[float, Lookup] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def number(self) -> dict[str, int]:
        """Topic number of each topic name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def numbers(self) -> pl.DataFrame:
        """The columns name and number of all topics."""
        import polars as pl

        return pl.DataFrame(
            {"name": pl.Series(self.names, dtype=pl.String), "number": pl.arange(len(self.names), eager=True)}
        )

    def lookup(self, lowest: float) -> Lookup:
        """The documents of level >= ``lowest``: what measures ask no one else about need not be searched."""
        if lowest not in self._lookups:
            wanted = np.flatnonzero(self.levels.values[self.levels.grade] >= lowest)
            topic = self.levels.topic[wanted]
            doc_ids = self.doc_ids
            if wanted.size < len(doc_ids):
                doc_ids = [doc_ids[row] for row in wanted.tolist()]
            self._lookups[lowest] = Lookup(self.levels.topics, topic, wanted, doc_ids)
        return self._lookups[lowest]

    def check_highest_level(self, measure: object, highest: float) -> None:
        """Raise InputError where a level is above the highest that a measure takes."""
        if self.levels.values.size and self.levels.values[-1] > highest:
            row = int(np.flatnonzero(self.levels.values[self.levels.grade] > highest)[0])
            where = describe_document(self.names[self.levels.topic[row]], self.doc_ids[row])
            level = self.levels.values[self.levels.grade[row]]
            raise InputError(
                f"{measure}: {where} has level {level:g}, above {highest:g}, the highest it takes"
            )


def from_table(table: Table, scale: Sequence[float] = ()) -> Judgments:
    """Judgments from rows; the same document twice is one where the levels agree, else an error.

    Rows that hold passages may repeat a document: its level is the largest, its spans are kept. ``scale``
    has the levels of the whole collection where the rows are a part of it.
    """
    table.check_ids()
    table.check_values()
    first = table.query_id.is_first_distinct().arg_true().to_numpy().astype(np.int64)
    names = at_rows(table.query_id, first).to_list()
    topic = _numbers(table.query_id, names)
    articles = articles_of(table, topic)
    if articles is None:
        kept = _without_repetitions(table, topic)
        documents = table if kept.size == len(table) else table.filter(kept)
    else:
        kept, documents = articles.first, articles.table
    # Stable, so that the documents of a topic keep their order.
    order = np.argsort(topic[kept], kind="stable")
    highlights = None
    if articles is not None:
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        highlights = Highlights(articles.passage.spans(place[articles.article]), table.value)
    levels = Levels.of(len(names), topic[kept][order], documents.value[order], highlights, scale)
    return Judgments(table.query_objects(first), names, levels, at_rows(documents.doc_id, order).to_list())


def _numbers(query_id: pl.Series, names: list[str]) -> Ints:
    """Position of each row's topic in ``names``."""
    import polars as pl

    if not names:
        return np.zeros(0, dtype=np.int64)
    known = pl.Series(names, dtype=pl.String)
    numbers = query_id.replace_strict(
        known, pl.Series(range(len(names)), dtype=pl.Int64), return_dtype=pl.Int64
    )
    return np.array(numbers.to_numpy(), dtype=np.int64)


def _without_repetitions(table: Table, topic: Ints) -> Ints:
    """The rows in which each document comes first. Raises InputError where its levels differ."""
    import polars as pl

    key = np.sort(document_keys(topic, table.doc_id, int(topic.max(initial=0)) + 1))
    if not (key[1:] == key[:-1]).any():
        return np.arange(topic.size, dtype=np.int64)
    rows = pl.DataFrame({"topic": topic, "doc": table.doc_id, "level": table.value}).with_row_index("row")
    first = rows.unique(["topic", "doc"], keep="first", maintain_order=True)
    if first.height < rows.height:
        differing = rows.join(first, on=["topic", "doc"]).filter(pl.col("level") != pl.col("level_right"))
        if differing.height:
            row, other = (int(differing.sort("row")[name][0]) for name in ("row_right", "row"))
            levels = " and ".join(
                f"level {table.value[at]:g}" + (f" at {place}" if (place := table.place(at)) else "")
                for at in (row, other)
            )
            where = describe_document(table.query_id[row], table.doc_id[row])
            raise InputError(f"qrels: {where} has {levels}; {ONLY_PASSAGES}")
    return first["row"].to_numpy().astype(np.int64)


def from_dicts(qrels: Mapping[Any, Any]) -> Judgments:
    """Judgments from a dict of dicts, query_id -> doc_id -> level."""
    items = list(qrels.items())  # one snapshot, in case another thread adds topics
    query_ids, topics = [query_id for query_id, _ in items], [docs for _, docs in items]
    names = text_ids(query_ids, "query_id", "qrels")
    for name, docs in zip(names, topics, strict=True):
        if not isinstance(docs, Mapping):
            raise InputError(
                f"qrels: topic {name!r} holds {shown(docs)} where a dict from doc_id to level is needed"
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


@contextmanager
def unchanged(kind: str, names: Sequence[str], topics: Sequence[Sized]) -> Iterator[None]:
    """Raise InputError if the dict of a topic grows or shrinks meanwhile, because a thread writes to it.

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
                    f"{kind}: topic {name!r} was changed while it was scored: "
                    "give a copy that nobody writes to"
                ) from reason

    try:
        yield
    except Exception as error:
        check(error)
        raise
    check()


def text_ids(ids: list[Any], name: str, where: str) -> list[str]:
    """Ids as text. Raises InputError where one is missing, or two differ only in type.

    Args:
        ids: the ids, each once.
        name: 'query_id' or 'doc_id'.
        where: what holds them, for messages.
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
        raise InputError(f"{where}: two of {name} are the same as text: {twice!r}")
    return names


def numbers_of(kind: str, name: str, docs: Mapping[Any, Any]) -> Floats:
    """The levels or scores of one topic's dict. Raises InputError where one is missing or no number."""
    from ir_graded.io import columns

    doc_ids = list(docs)

    def describe(row: int) -> str:
        return describe_document(name, doc_ids[row])

    values = columns.as_floats(
        list(docs.values()), lambda row: f"{kind}: {describe(row)}: the {VALUE_NAMES[kind]}"
    )
    check_values(kind, values, describe)
    return values
