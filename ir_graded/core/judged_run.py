"""A run reduced to its judged documents, as flat arrays. Measures need nothing else of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from . import segments
from .facets import Facet
from .levels import Levels
from .passages import PassageRows, Spans
from .segments import Bools, Floats, Ints, pair_key
from .struct import Join, Struct, light_dataclass

Parts = TypeVar("Parts", bound="Ranked")


@light_dataclass(frozen=True, eq=False)
class TieGroups(Struct):
    """The tie group of each of some documents."""

    #: The first rank of the group, from 1.
    first: Ints
    #: Number of documents in the group, judged or not.
    tied: Ints


class Ranked(Struct):
    """Documents with ranks and tie groups."""

    rank: Ints
    ties: TieGroups | None

    @property
    def tie_groups(self) -> TieGroups:
        """The tie groups, also where no document ties."""
        return self.ties or TieGroups(self.rank, np.ones_like(self.rank))

    @classmethod
    def concat(cls: type[Parts], parts: Sequence[Parts]) -> Parts:
        if any(part.ties for part in parts):
            parts = [replace(part, ties=part.tie_groups) for part in parts]  # type: ignore[type-var]
        return super().concat(parts)


@light_dataclass(frozen=True, eq=False)
class Matched(Ranked):
    """The judged documents in a part of a run, in any order.

    Attributes:
        document: position of each document in ``Levels.topic`` and ``Levels.level_index``.
        rank: its rank in the run, from 1.
        ties: its tie group; None where no document ties with another one of the run.
        is_close: whether the score of some document equals that of another one in float32 only.
        is_large: whether some tie by whole numbers of 64 bits that doubles do not all represent.
        topic: the topics of the rows; a topic that is not grouped appears several times.
        length: the number of rows of each.
        is_flat: whether all rows of each topic are known to have the same score.
        retrieved: passages of the documents, where the run holds passages; their article is ``document``.
        rows: the rows with passages, ranked as rows, where measures need them.
        further: by name the further columns of the run that measures need, with a value for each document.
        row: rank of its first row among the rows of the topic, where the run holds passages.
        by_position: whether some rows have equal scores and are ranked by their positions.
    """

    document: Ints
    rank: Ints
    ties: TieGroups | None
    is_close: bool
    is_large: bool
    topic: Ints
    length: Ints
    is_flat: bool = False
    retrieved: Spans | None = None
    rows: PassageRows | None = None
    further: Mapping[str, Floats] = field(default_factory=dict)
    row: Ints | None = None
    by_position: bool = False

    APART = frozenset({"topic", "length", "retrieved", "rows"})
    SHARED: ClassVar[Join] = {"is_flat": all, "by_position": any, "is_close": any, "is_large": any}


@light_dataclass(frozen=True, eq=False)
class JudgedRun(Ranked):
    """The judged documents that one run retrieved, ordered by topic and rank.

    Attributes:
        topic: topic of each document, ascending.
        rank, document, ties, is_close, is_large, is_flat, retrieved, rows, further, row, by_position: as in
            :class:`Matched`.
        level_index: position of its level in ``Levels.values``.
        n_retrieved: number of documents that the run retrieved, judged or not, shape ``(topics,)``.
        n_unknown: number of topics of the run that are not in the qrels.
        again: in a list of rows, whether each is a later row of its document; None in a list of documents.
    """

    topic: Ints
    rank: Ints
    level_index: Ints
    document: Ints
    n_retrieved: Ints
    retrieved: Spans | None = None
    n_unknown: int = 0
    is_flat: bool = False
    ties: TieGroups | None = None
    rows: PassageRows | None = None
    further: Mapping[str, Floats] = field(default_factory=dict)
    row: Ints | None = None
    again: Bools | None = None
    by_position: bool = False
    is_close: bool = False
    is_large: bool = False

    APART = frozenset({"retrieved", "rows"})
    SHARED: ClassVar[Join] = {"n_retrieved": sum, "n_unknown": sum, **Matched.SHARED}

    @classmethod
    def of(cls, levels: Levels, parts: Sequence[Matched], n_unknown: int = 0) -> JudgedRun:
        """Return the run that was matched in some parts."""
        n_retrieved = np.zeros(levels.topics, dtype=np.int64)
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls(nothing, nothing, nothing, nothing, n_retrieved, n_unknown=n_unknown)
        found = Matched.concat(parts)
        np.add.at(n_retrieved, found.topic, found.length)
        found = found[np.argsort(pair_key(levels.topic[found.document], found.rank))]
        columns = {one.name: getattr(found, one.name) for one in fields(found)}
        del columns["length"]
        columns.update(topic=levels.topic[found.document], level_index=levels.level_index[found.document])
        return cls(n_retrieved=n_retrieved, n_unknown=n_unknown, **columns)

    @classmethod
    def joined(cls, levels: Levels, parts: Sequence[JudgedRun]) -> JudgedRun:
        """Return the run that consists of some parts; each topic is in one part only."""
        if not parts:
            return cls.of(levels, [])
        whole = cls.concat(parts)
        return whole[np.argsort(whole.topic, kind="stable")]

    @classmethod
    def of_ideal(cls, levels: Levels, rel: float, table: Floats) -> JudgedRun:
        """Return the run of exactly the documents of level >= ``rel``, by ``table`` descending."""
        place = np.argsort(np.argsort(-table))
        document = np.flatnonzero((levels.values >= rel)[levels.level_index])
        # Sorting by one combined key of topic and place is faster than by two.
        key = levels.topic[document] * table.size + place[levels.level_index[document]]
        document = document[np.argsort(key)]
        topic, level_index = levels.topic[document], levels.level_index[document]
        rank = segments.ordinals(segments.starts(topic, levels.topics)[topic])
        return cls(topic, rank, level_index, document, segments.count(topic, levels.topics))

    def has(self, facet: Facet) -> bool:
        """Return whether the run has a further column."""
        if facet.kind == "span":
            return self.retrieved is not None
        return facet.name in self.further or (self.rows is not None and facet.name in self.rows.costs)

    def from_level(self, levels: Levels, lowest: float) -> JudgedRun:
        """Return the run with only the documents of level >= ``lowest``."""
        if levels.values.size and levels.values[0] >= lowest:
            return self
        return self[(levels.values >= lowest)[self.level_index]]

    def by_row(self, documents: int) -> JudgedRun:
        """Return the list of the rows of these documents, each at its rank among all rows of the topic.

        ``documents`` is the number of documents in the qrels. The run itself if it has no rows.
        """
        if self.rows is None:
            return self
        rows = self.rows.ordered()
        place = np.full(documents, -1, dtype=np.int64)
        place[self.document] = np.arange(self.document.size)
        # The articles of other rows are not in the qrels, or of levels that were not looked for.
        kept = np.flatnonzero(rows.spans.article >= 0)
        kept = kept[place[rows.spans.article[kept]] >= 0]
        document = rows.spans.article[kept]
        again = np.ones(kept.size, dtype=np.bool_)
        again[np.unique(document, return_index=True)[1]] = False
        n_retrieved = np.zeros_like(self.n_retrieved)
        n_retrieved[rows.topics] = rows.sizes
        listed = self[place[document]]
        return replace(
            listed, rank=rows.rank[kept], n_retrieved=n_retrieved, ties=None, rows=None, again=again
        )

    def condensed(self, judged: Bools, topics: int) -> JudgedRun:
        """Return the run with only ``judged`` documents; ranks and ties are those of the condensed list."""
        run = self[judged]
        start = segments.starts(run.topic, topics)[run.topic]
        ties = None
        if run.ties is not None:
            group = pair_key(run.topic, run.ties.first)
            begin, end = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
            ties = TieGroups(begin - start + 1, end - begin)
        return replace(run, rank=segments.ordinals(start), ties=ties)


class CountedDocuments:
    """The documents that a run retrieved and that count for a measure.

    Attributes:
        levels: the judgments.
        hits: the judged documents that the run retrieved.
        cutoff: the last rank that the measure looks at; None without a cutoff.
        topic: topic of each document, ascending.
        n: its rank in the list that the measure looks at.
        topic_start: position at which each topic begins, shape ``(topics,)``.
        start: position at which the topic of each document begins.
        C: number of counted documents down to and including each one.
        kind, verb: name of the counted documents in explanations, and that of their state.
        countable: whether ``R`` is a number of such documents.
    """

    kind: str = "relevant documents"
    verb: str = " retrieved"
    countable: bool = True

    def __init__(self, levels: Levels, hits: JudgedRun, counts: Bools, n: Ints, cutoff: int | None) -> None:
        """Select the hits for which ``counts`` is true; ``n`` is the rank of each hit."""
        self.levels, self.hits, self.cutoff = levels, hits, cutoff
        self._counts = counts
        self._rows = counts if cutoff is None else counts & (n <= cutoff)
        self._all = bool(self._rows.all())
        self.topic: Ints = self._chosen(hits.topic)
        self.n: Ints = self._chosen(n)
        self.topic_start: Ints = segments.starts(self.topic, levels.topics)
        self.start: Ints = self.topic_start[self.topic]
        self.C: Ints = segments.ordinals(self.start)

    def _chosen(self, values: Ints) -> Ints:
        """Return the values of the documents among those of all hits, without a copy of all."""
        return values if self._all else values[self._rows]

    @cached_property
    def R(self) -> Ints:
        """Number of documents of each topic that count if retrieved, shape ``(topics,)``."""
        raise NotImplementedError  # pragma: no cover

    @cached_property
    def counting(self) -> Bools | None:
        """Whether each document of the qrels counts if retrieved; None where no documents are counted."""
        return None

    @property
    def rank_in_run(self) -> Ints | None:
        """Rank of each document in the run where ``n`` is its rank in the condensed list, else None."""
        return None

    @property
    def document(self) -> Ints:
        """Position of each document in ``levels``."""
        return self.hits.document[self._rows]

    def values_of(self, facet: Facet) -> Any:
        """Return the value of a further column of the qrels or the run for each document."""
        if not self.topic.size:
            return np.zeros(0)  # empty qrels and runs may lack the column
        if "run" in facet.of:
            return self.hits.further[facet.name][self._rows]
        return self.levels.further[facet.name][self.topic if facet.per == "topic" else self.document]

    @property
    def tied(self) -> Ints:
        """Number of documents in the tie group of each document."""
        ties = self.hits.ties
        return np.ones_like(self.n) if ties is None else ties.tied[self._rows]

    @property
    def retrieved(self) -> Ints:
        """Number of documents per topic that count, including those below the cutoff."""
        return segments.count(self.hits.topic[self._counts], self.levels.topics)

    @cached_property
    def sum_by_topic(self) -> Callable[[Floats], Floats]:
        """Function that returns the sum of values over the documents of each topic, shape ``(topics,)``."""
        return segments.Totals(self.topic, self.levels.topics).of

    def mean_shares(self, shares: Floats) -> Floats:
        """Return the mean shares of groups at ranks 1..n, for each document, shape ``(documents, groups)``.

        Unknown shares are NaN in ``shares`` and count as equal, as those of unjudged documents do.
        """
        hits = self.hits
        mine = shares[hits.document]
        known = ~np.isnan(mine).any(axis=1)
        mine[~known] = 0.0
        start = segments.starts(hits.topic, self.levels.topics)[hits.topic]
        columns = (known.astype(np.int64), *mine.T)
        seen, *sums = (segments.cumulative_sum(column, start)[self._rows] for column in columns)
        unknown = (self.n - seen) / shares.shape[1]
        return np.stack([(group + unknown) / self.n for group in sums], axis=1)
