"""Qrels prepared once: topics by number, with their documents and the levels for the measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.facets import Facet
from ir_graded.core.levels import Levels, Strata
from ir_graded.core.segments import Bools
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import MOST_IDS, InputError, NoSharedTopicsError, format_ids
from ir_graded.io.plain import PlainRows
from ir_graded.io.values import describe_document, rows_of_dicts

from .lookup import Lookup, document_keys, repeated

if TYPE_CHECKING:
    import polars as pl


@light_dataclass(frozen=True, eq=False)
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
        several_strata: whether a column of strata divides the pool of some topic.
        note_on_importance: a sentence on nuggets whose importance is another word; empty without any.
        strata: the name of the stratum of each document, if measures need strata and the qrels name them.
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
    note_on_importance: str = ""
    several_strata: bool = False
    of_run: tuple[Facet, ...] = ()
    strata: list[str] = field(default_factory=list)
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

    def with_level_above(self, level: float) -> set[str]:
        """Return the names of the topics with a document of a level above this one."""
        above = self.levels.values[self.levels.level_index] > level
        return {self.names[number] for number in self.levels.topic[above].tolist()}

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

    def note_on_identical_ids(self, rel: float) -> str:
        """Return a sentence on documents of level >= ``rel`` with the id of their topic, if there are any."""
        relevant = np.flatnonzero(self.levels.values[self.levels.level_index] >= rel).tolist()
        topic = self.levels.topic.tolist()
        found = [self.names[topic[at]] for at in relevant if self.names[topic[at]] == self.doc_ids[at]]
        return (
            "Runs are scored without documents whose id is that of the topic, but the qrels have such a "
            f"document as relevant in {len(found)} of {len(self.names)} topics (the first is {found[0]!r}), "
            "where it counts as missed."
            if found
            else ""
        )

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

    def note_on_strata(self) -> str:
        """Return a sentence on strata in which no document was judged; empty without any."""
        strata = Strata.of_levels(self.levels)
        documents = np.unique(strata.of, return_index=True)[1][strata.n == 0].tolist()
        names = [
            f"topic {self.names[self.levels.topic[at]]!r}"
            + (f" stratum {self.strata[at]!r}" if self.strata else "")
            for at in documents
        ]
        found = ", ".join(names[:MOST_IDS]) + (" ..." if names[MOST_IDS:] else "")
        return found and f"No document was judged in {found}, so estimates leave these documents out."

    def check_levels(self, measure: object, wrong: Bools, problem: str) -> None:
        """Raise InputError if a document has a level that is ``wrong`` for a measure."""
        if wrong.any():
            row = int(np.flatnonzero(wrong[self.levels.level_index])[0])
            where = describe_document(self.names[self.levels.topic[row]], self.doc_ids[row])
            level = self.levels.values[self.levels.level_index[row]]
            raise InputError(f"{measure}: {where} has level {level:g}, {problem}")


def from_dicts(qrels: Mapping[Any, Any]) -> Judgments:
    """Return judgments from a dict of dicts, query_id -> doc_id -> level."""
    query_ids, names, topic, doc_ids, levels = rows_of_dicts("qrels", qrels)
    return Judgments(query_ids, names, Levels.of(len(names), topic, levels), doc_ids)


def from_plain(rows: PlainRows) -> Judgments | None:
    """Return judgments from plain lines; None if a document may be repeated in a topic."""
    known: dict[str, int] = {}
    number = np.array([known.setdefault(name, len(known)) for name in rows.names], dtype=np.int64)
    topic = np.repeat(number, np.diff(rows.begin))
    if repeated(document_keys(topic, rows.doc_ids)).size:
        return None
    doc_ids, values = rows.doc_ids.texts(slice(None)), rows.values
    if len(known) < len(rows.names):
        order = np.argsort(topic, kind="stable")
        topic, doc_ids, values = topic[order], [doc_ids[row] for row in order.tolist()], values[order]
    return Judgments([*known], [*known], Levels.of(len(known), topic, values), doc_ids)
