"""What the numeric floor knows: the levels of the qrels and the hits of a run, as flat arrays.

``Levels`` is prepared once from the qrels and says what the ideal list of each topic holds.
``Hits`` is one run reduced to its judged documents: nothing else of a run matters to a measure.
Topics are numbers ``0 .. topics-1`` here; their names stay with the callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np

from . import segments
from .segments import Bools, Floats, Ints
from .spans import Spans

#: Numbers between 2 to the power of minus and of plus this can be added up and multiplied as they are.
LARGE = 400
#: Overrides of a table over levels, in canonical form: ``((level, value), ...)`` sorted by level.
Overrides = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class Ideal:
    """The documents of each topic by a weight descending: R of them, with their cumulative weight.

    Sums of weights are in the unit of their topic: a power of two, which is 1 unless the topic's weights are
    so large or so small that sums or products would leave the range of doubles.

    Attributes:
        R: number of documents per topic, shape ``(topics,)``.
        start: position of each topic's first document in the flat arrays, shape ``(topics,)``.
        weight: weights of all topics' documents, per topic descending.
        topic: topic of each document, ascending.
    """

    R: Ints
    start: Ints
    weight: Floats
    topic: Ints

    @cached_property
    def largest(self) -> Floats:
        """The largest weight of each topic, 0 where it has no document; shape ``(topics,)``."""
        largest = np.zeros(self.R.size)
        largest[self.R > 0] = self.weight[self.start[self.R > 0]]
        return largest

    @cached_property
    def exponent(self) -> Ints:
        """The unit of each topic as an exponent of 2, shape ``(topics,)``."""
        exponent = np.frexp(self.largest)[1].astype(np.int64)
        return np.where(np.abs(exponent) > LARGE, exponent, 0)

    @cached_property
    def is_moderate(self) -> bool:
        """Whether all units are 1."""
        return not self.exponent.any()

    def in_units(self, weight: Floats, topic: Ints) -> Floats:
        """Weights of documents in the units of their topics."""
        return weight if self.is_moderate else np.ldexp(weight, -self.exponent[topic])

    @cached_property
    def cumulative(self) -> Floats:
        """Running sum of the weights within each topic."""
        return segments.cumulative_sum(self.in_units(self.weight, self.topic), self.start[self.topic])

    def first(self, n: Ints, topic: Ints) -> Floats:
        """Cumulative weight of the first ``n`` documents of ``topic``'s list; constant after n = R."""
        held = np.minimum(n, self.R[topic])
        result = np.zeros(held.shape)
        some = held > 0
        result[some] = self.cumulative[self.start[topic[some]] + held[some] - 1]
        return result

    def total(self) -> Floats:
        """Sum of all weights per topic, as they are: inf where that leaves the range of doubles."""
        sums = self.first(self.R, np.arange(self.R.size, dtype=np.int64))
        with np.errstate(over="ignore"):
            return np.ldexp(sums, self.exponent)


@dataclass(frozen=True, eq=False)
class Highlights:
    """The spans of text that an assessor highlighted, with the level of each.

    Attributes:
        spans: the spans; their article is the position of a judged document in :class:`Levels`.
        level: level of each span.
    """

    spans: Spans
    level: Floats


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of all judged documents, over all topics at once.

    Attributes:
        topics: number of topics in the qrels.
        topic: topic of each judged document, ascending, shape ``(judged,)``.
        grade: position of its level in ``values``, shape ``(judged,)``.
        values: the distinct levels that occur here or elsewhere in the collection, ascending.
        highlights: where the qrels hold passages, the highlighted spans of the judged documents.
    """

    topics: int
    topic: Ints
    grade: Ints
    values: Floats
    highlights: Highlights | None = None
    _ideals: dict[object, Ideal] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        topics: int,
        topic: Ints,
        level: Floats,
        highlights: Highlights | None = None,
        scale: Sequence[float] = (),
    ) -> Levels:
        """Levels of documents whose topics are given in ascending order; ``scale`` has further levels."""
        values, grade = np.unique(np.concatenate((level, scale)), return_inverse=True)
        grade = grade[: level.size]
        return cls(topics, topic, grade.astype(np.int64), values.astype(np.float64), highlights)

    def table(self, overrides: Overrides, otherwise: Floats | None = None) -> Floats:
        """A value for each of ``values``: the override of that level, else ``otherwise`` (the level)."""
        table = (self.values if otherwise is None else otherwise).copy()
        if overrides and table.size:
            levels, values = (np.array(column, dtype=np.float64) for column in zip(*overrides, strict=True))
            at = np.searchsorted(levels, self.values)
            at[at == levels.size] = 0
            known = levels[at] == self.values
            table[known] = values[at[known]]
        return table

    def ideal(self, rel: float, table: Floats) -> Ideal:
        """The ideal list of each topic: its documents of level >= ``rel`` by ``table`` descending.

        Kept for the next run: an evaluator asks for the same few lists again and again.
        """
        key = (rel, table.tobytes())
        if key not in self._ideals:
            self._ideals[key] = self._sorted_ideal(rel, table)
        return self._ideals[key]

    def _sorted_ideal(self, rel: float, table: Floats) -> Ideal:
        relevant = self.values[self.grade] >= rel
        topic, weight = self.topic[relevant], table[self.grade[relevant]]
        order = np.lexsort((-weight, topic))
        topic, weight = topic[order], weight[order]
        return Ideal(segments.count(topic, self.topics), segments.starts(topic, self.topics), weight, topic)


@dataclass(frozen=True, eq=False)
class Hits:
    """The judged documents that one run retrieved, ordered by topic and rank.

    Attributes:
        topic: topic of each hit, ascending.
        rank: its rank in the run, from 1.
        grade: position of its level in ``Levels.values``.
        document: its position in ``Levels.topic`` and ``Levels.grade``.
        n_retrieved: number of documents that the run retrieved, judged or not, shape ``(topics,)``.
        retrieved: where the run holds passages, those of the hits; their article is ``document``.
        n_unknown: number of topics of the run that the qrels lack.
        is_flat: whether it is known that all documents of each topic have one score.
    """

    topic: Ints
    rank: Ints
    grade: Ints
    document: Ints
    n_retrieved: Ints
    retrieved: Spans | None = None
    n_unknown: int = 0
    is_flat: bool = False

    @classmethod
    def of(
        cls,
        levels: Levels,
        document: Ints,
        rank: Ints,
        n_retrieved: Ints,
        retrieved: Spans | None = None,
        n_unknown: int = 0,
        is_flat: bool = False,
    ) -> Hits:
        """Hits on judged documents, given in any order with their ranks."""
        order = np.lexsort((rank, levels.topic[document]))
        document = document[order]
        topic, grade = levels.topic[document], levels.grade[document]
        return cls(topic, rank[order], grade, document, n_retrieved, retrieved, n_unknown, is_flat)

    @classmethod
    def joined(cls, levels: Levels, parts: Sequence[Hits], n_unknown: int = 0) -> Hits:
        """The hits of a run from those of its parts, no two of which hold the same topic of the qrels.

        Topics that the qrels lack may lie in several parts, so their number is given.
        """
        if len(parts) == 1:
            return parts[0] if parts[0].n_unknown == n_unknown else replace(parts[0], n_unknown=n_unknown)
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls.of(levels, nothing, nothing, np.zeros(levels.topics, dtype=np.int64))
        topic = np.concatenate([part.topic for part in parts])
        order = np.argsort(topic, kind="stable")
        rank, grade, document = (
            np.concatenate([getattr(part, name) for part in parts])[order]
            for name in ("rank", "grade", "document")
        )
        spans = [part.retrieved for part in parts if part.retrieved is not None]
        return cls(
            topic[order],
            rank,
            grade,
            document,
            np.sum([part.n_retrieved for part in parts], axis=0),
            reduce(Spans.concat, spans) if spans else None,
            n_unknown,
            all(part.is_flat for part in parts),
        )

    def from_level(self, levels: Levels, lowest: float) -> Hits:
        """The hits on documents of level >= ``lowest``."""
        if levels.values.size and levels.values[0] >= lowest:
            return self
        wanted = (levels.values >= lowest)[self.grade]
        topic, rank, grade, document = (
            column[wanted] for column in (self.topic, self.rank, self.grade, self.document)
        )
        return replace(self, topic=topic, rank=rank, grade=grade, document=document)

    def condensed_rank(self, judged: Bools, topics: int) -> Ints:
        """Rank in the condensed list: unjudged documents removed before ranks are counted.

        Args:
            judged: for each hit, whether its level counts as judged (>= 0).
            topics: number of topics.
        """
        above = np.concatenate(([0], np.cumsum(judged, dtype=np.int64)))
        start = segments.starts(self.topic, topics)
        return np.asarray(above[1:] - above[start[self.topic]])
