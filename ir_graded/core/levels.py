"""Levels of the judged documents of all topics, and the ideal list of each topic, as flat arrays.

Both depend on the qrels only, so they are computed once. Topics are numbers ``0 .. topics-1``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import segments
from .facets import STRATUM
from .passages import Spans
from .segments import Bools, Floats, Ints
from .struct import Keeps, light_dataclass

#: Largest level, gain, weight of a level and beta; sums and products of these do not overflow.
LARGEST = 1e100
#: Up to this number of (topic, level) pairs per document, counting the levels is faster than sorting them.
_SLOTS_PER_DOCUMENT = 2
#: Overrides of a table over levels, in canonical form: ``((level, value), ...)`` sorted by level.
Overrides = tuple[tuple[float, float], ...]


@light_dataclass(frozen=True, eq=False)
class Ideal:
    """The documents of each topic in descending order of a weight: R of them, with cumulative weights."""

    #: Number of documents per topic, and position of the first in the flat arrays, shapes ``(topics,)``.
    R: Ints
    start: Ints
    #: Weights of the documents of all topics, descending within each topic, and their topics.
    weight: Floats
    topic: Ints

    @cached_property
    def largest(self) -> Floats:
        """The largest weight of each topic, 0 where it has no document; shape ``(topics,)``."""
        largest = np.zeros(self.R.size)
        largest[self.R > 0] = self.weight[self.start[self.R > 0]]
        return largest

    @cached_property
    def cumulative(self) -> Floats:
        """Running sum of the weights within each topic."""
        return segments.cumulative_sum(self.weight, self.start[self.topic])

    def first(self, n: Ints, topic: Ints) -> Floats:
        """Return the cumulative weight of the first ``n`` documents of each topic; constant after n = R."""
        depth = np.minimum(n, self.R[topic])
        if depth.all():  # as for the ranks of relevant documents
            return np.asarray(self.cumulative.take(self.start.take(topic) + (depth - 1)))
        result = np.zeros(depth.shape)
        some = depth > 0
        result[some] = self.cumulative[self.start[topic[some]] + depth[some] - 1]
        return result


@light_dataclass(frozen=True, eq=False)
class Aspects:
    """The aspects of highlighted spans; each span may have several."""

    #: Whether the qrels say which aspects each span has.
    known: Bools
    #: The span of each aspect of a span, ascending.
    span: Ints
    #: Number of the aspect; those of several topics differ.
    aspect: Ints


@light_dataclass(frozen=True, eq=False)
class Highlights:
    """The spans of text that an assessor highlighted, with the level of each.

    Attributes:
        spans: the spans, in the order of the qrels; their article is the position of a judged document in
            :class:`Levels`.
        level: level of each span.
        aspects: the aspects of the spans, where measures need them.
        intent: the intent of each span, where measures need them.
        scale: levels of the spans of the whole collection, if these are a part of it.
    """

    spans: Spans
    level: Floats
    aspects: Aspects | None = None
    intent: Ints | None = None
    scale: Sequence[float] = ()

    def official(self, rel: float) -> Bools:
        """Return whether each span is of level >= ``rel`` and, where aspects are known, has an aspect."""
        relevant = self.level >= rel
        return relevant if self.aspects is None else relevant & self.aspects.known


@light_dataclass(frozen=True, eq=False)
class Levels(Keeps):
    """The levels of all judged documents, over all topics at once.

    Attributes:
        topics: number of topics in the qrels.
        topic: topic of each judged document, ascending, shape ``(judged,)``.
        level_index: position of its level in ``values``, shape ``(judged,)``.
        values: the distinct levels that occur here or elsewhere in the collection, ascending.
        highlights: the highlighted spans of the judged documents, where the qrels hold passages.
        intents: the judgments by intent, where measures need them.
        gmax: the largest gain of each topic, shape ``(topics,)``, where ``values`` are gains of the topic or
            of one intent; None where all topics share one scale of levels.
        further: by name the further columns that measures need, with a value for each judged document or each
            topic: numbers; ids as numbers, distinct where there is none; or shares of groups, shape
            ``(judged, groups)``, NaN where they are unknown.
    """

    topics: int
    topic: Ints
    level_index: Ints
    values: Floats
    highlights: Highlights | None = None
    intents: Intents | None = None
    gmax: Floats | None = None
    further: Mapping[str, Any] = field(default_factory=dict)
    _kept: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        topics: int,
        topic: Ints,
        level: Floats,
        highlights: Highlights | None = None,
        scale: Sequence[float] = (),
        intents: Intents | None = None,
    ) -> Levels:
        """Return levels of documents whose topics are in ascending order; ``scale`` adds further levels."""
        values, level_index = np.unique(np.concatenate((level, scale)), return_inverse=True)
        level_index = level_index[: level.size].astype(np.int64)
        return cls(topics, topic, level_index, values.astype(np.float64), highlights, intents)

    def with_zero(self) -> Levels:
        """Return these levels with 0 among their values."""

        def make() -> Levels:
            values = np.union1d(self.values, [0.0])
            level_index = np.searchsorted(values, self.values)[self.level_index].astype(np.int64)
            return replace(self, values=values, level_index=level_index, _kept={})

        return self.kept("with 0", make)

    @cached_property
    def by_intent(self) -> Intents:
        """Judgments by intent; an empty set where the qrels are empty."""
        if self.intents is not None:
            return self.intents
        nothing = np.zeros(0, dtype=np.int64)
        return Intents(nothing, None, nothing > 0, Levels.of(0, nothing, np.zeros(0)), nothing)

    @cached_property
    def highlighted_levels(self) -> Floats:
        """The distinct levels of highlighted spans here or elsewhere in the collection, ascending."""
        found = self.highlights
        return np.zeros(0) if found is None else np.unique([*found.scale, *np.unique(found.level)])

    def table(self, overrides: Overrides, otherwise: Floats | None = None) -> Floats:
        """Return a value for each of ``values``: its override, else ``otherwise`` (default: the level)."""
        table = (self.values if otherwise is None else otherwise).copy()
        if overrides and table.size:
            levels, values = (np.array(column, dtype=np.float64) for column in zip(*overrides, strict=True))
            at = np.searchsorted(levels, self.values)
            at[at == levels.size] = 0
            known = levels[at] == self.values
            table[known] = values[at[known]]
        return table

    def ideal(self, rel: float, table: Floats) -> Ideal:
        """Return the ideal list of each topic: its documents of level >= ``rel``, by ``table`` descending."""
        return self.kept(("ideal", rel, table.tobytes()), lambda: self._sorted_ideal(rel, table))

    def _sorted_ideal(self, rel: float, table: Floats) -> Ideal:
        first = int(np.searchsorted(self.values, rel))
        wanted = np.flatnonzero(self.level_index >= first)
        topic, level_index = self.topic[wanted], self.level_index[wanted] - first
        weights = table[first:]
        if self.topics * weights.size <= _SLOTS_PER_DOCUMENT * topic.size:
            # With few levels, counting is faster than sorting.
            descending = np.argsort(-weights)
            place = np.argsort(descending)
            slot = topic * weights.size + place[level_index]
            counts = np.bincount(slot, minlength=self.topics * weights.size)
            weight = np.repeat(np.tile(weights[descending], self.topics), counts)
        else:
            weight = weights[level_index]
            weight = weight[np.lexsort((-weight, topic))]
        return Ideal(segments.count(topic, self.topics), segments.starts(topic, self.topics), weight, topic)


@light_dataclass(frozen=True, eq=False)
class Intents:
    """The intents of all topics, and the judgments of documents for them.

    Attributes:
        topic: topic of each intent, ascending, shape ``(intents,)``.
        probability: given probability of each intent, NaN where it has none; None if none are given.
        is_nav: whether each intent is navigational.
        levels: the level of each judgment; its topics are the intents.
        document: the position in the levels of the qrels of the document of each judgment.
        doc_ids: the id of each document of the qrels.
        importance: importance of each intent as a nugget, where measures need it: a level (2 vital, 1 okay),
            NaN for other words.
    """

    topic: Ints
    probability: Floats | None
    is_nav: Bools
    levels: Levels
    document: Ints
    doc_ids: Sequence[str] = ()
    importance: Floats | None = None

    @cached_property
    def _by_document(self) -> tuple[Ints, Ints]:
        """Judgments in order of document, and the position at which those of each document begin."""
        order = np.argsort(self.document, kind="stable").astype(np.int64)
        return order, np.cumsum(np.bincount(self.document, minlength=1))

    @property
    def overlap(self) -> bool:
        """Whether any document has several intents."""
        return np.unique(self.document).size < self.document.size

    def judgments_of(self, document: Ints) -> tuple[Ints, Ints]:
        """Return the judgments of some documents, and the position in ``document`` that each belongs to."""
        order, end = self._by_document
        size = np.diff(end, prepend=0)[document]
        owner = np.repeat(np.arange(document.size, dtype=np.int64), size)
        first = (end[document] - np.cumsum(size))[owner]
        return order[first + np.arange(owner.size, dtype=np.int64)], owner


@light_dataclass(frozen=True, eq=False)
class Strata:
    """The strata of all topics. All documents of the qrels are in the pool; those of a level < 0 not judged.

    Attributes:
        of: stratum of each document of the qrels, shape ``(documents,)``.
        topic: topic of each stratum, ascending, shape ``(strata,)``.
        N: number of documents of each stratum.
        n: number of judged documents of each stratum.
    """

    of: Ints
    topic: Ints
    N: Ints
    n: Ints

    @classmethod
    def of_levels(cls, levels: Levels) -> Strata:
        """Return the strata of qrels; each topic is one stratum where they name none."""

        def make() -> Strata:
            given = levels.further.get(STRATUM.name, np.zeros_like(levels.topic))
            _, first, of = np.unique(
                np.stack([levels.topic, given]), axis=1, return_index=True, return_inverse=True
            )
            of = of.reshape(-1).astype(np.int64)
            judged = (levels.values >= 0)[levels.level_index]
            counts = segments.count(of, first.size), segments.count(of[judged], first.size)
            return cls(of, levels.topic[first], *counts)

        return levels.kept("strata", make)

    @property
    def f(self) -> Floats:
        """Weight of the judged documents of each stratum: N / n, 0 where none was judged."""
        return np.divide(self.N, self.n, out=np.zeros(self.N.size), where=self.n > 0)
