"""A run reduced to its judged documents, as flat arrays. Measures need nothing else of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from . import segments
from .levels import Levels
from .passages import PassageRows, Spans
from .segments import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class TieGroups:
    """The tie group of each of some documents.

    Attributes:
        first: the first rank of the group, from 1.
        tied: number of documents in the group, judged or not.
    """

    first: Ints
    tied: Ints

    def part(self, wanted: Ints | Bools) -> TieGroups:
        """Return the tie groups of some of the documents."""
        return TieGroups(self.first[wanted], self.tied[wanted])

    @classmethod
    def concat(cls, parts: Iterable[tuple[Ints, TieGroups | None]]) -> TieGroups | None:
        """Concatenate the tie groups of parts of a run, given with the ranks of their documents.

        A part without ties is given as None. The result is None if no part has ties.
        """
        given = list(parts)
        if all(ties is None for _, ties in given):
            return None
        whole = [ties or cls(rank, np.ones_like(rank)) for rank, ties in given]
        return cls(
            np.concatenate([ties.first for ties in whole]), np.concatenate([ties.tied for ties in whole])
        )


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """The judged documents that one run retrieved, ordered by topic and rank.

    Attributes:
        topic: topic of each document, ascending.
        rank: its rank in the run, from 1.
        level_index: position of its level in ``Levels.values``.
        document: its position in ``Levels.topic`` and ``Levels.level_index``.
        n_retrieved: number of documents that the run retrieved, judged or not, shape ``(topics,)``.
        retrieved: passages of the documents, where the run holds passages; their article is ``document``.
        n_unknown: number of topics of the run that are not in the qrels.
        is_flat: whether all documents of each topic are known to have the same score.
        ties: the tie group of each document; None where no document ties with another one of the run.
        rows: the rows with passages, ranked as rows, where measures need them.
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

    @classmethod
    def of(  # noqa: PLR0913, PLR0917  # what a run reduces to
        cls,
        levels: Levels,
        document: Ints,
        rank: Ints,
        n_retrieved: Ints,
        retrieved: Spans | None = None,
        n_unknown: int = 0,
        is_flat: bool = False,
        ties: TieGroups | None = None,
        rows: PassageRows | None = None,
    ) -> JudgedRun:
        """Return a run made of judged documents, given in any order with their ranks."""
        order = np.argsort(levels.topic[document] << 32 | rank)
        document = document[order]
        topic, level_index = levels.topic[document], levels.level_index[document]
        return cls(
            topic,
            rank[order],
            level_index,
            document,
            n_retrieved,
            retrieved,
            n_unknown,
            is_flat,
            ties and ties.part(order),
            rows,
        )

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

    @classmethod
    def concat(cls, levels: Levels, parts: Sequence[JudgedRun], n_unknown: int = 0) -> JudgedRun:
        """Concatenate the parts of a run; each topic of the qrels is in one part only.

        Topics that are not in the qrels may be in several parts, so their number is given.
        """
        if len(parts) == 1:
            return parts[0] if parts[0].n_unknown == n_unknown else replace(parts[0], n_unknown=n_unknown)
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls.of(levels, nothing, nothing, np.zeros(levels.topics, dtype=np.int64))
        topic = np.concatenate([part.topic for part in parts])
        order = np.argsort(topic, kind="stable")
        rank, level_index, document = (
            np.concatenate([getattr(part, name) for part in parts])[order]
            for name in ("rank", "level_index", "document")
        )
        spans = [part.retrieved for part in parts if part.retrieved is not None]
        ties = TieGroups.concat((part.rank, part.ties) for part in parts)
        rows = [part.rows for part in parts if part.rows is not None]
        return cls(
            topic[order],
            rank,
            level_index,
            document,
            np.sum([part.n_retrieved for part in parts], axis=0),
            reduce(Spans.concat, spans) if spans else None,
            n_unknown,
            all(part.is_flat for part in parts),
            ties and ties.part(order),
            PassageRows.concat(rows) if rows else None,
        )

    def from_level(self, levels: Levels, lowest: float) -> JudgedRun:
        """Return the run with only the documents of level >= ``lowest``."""
        if levels.values.size and levels.values[0] >= lowest:
            return self
        return self.part((levels.values >= lowest)[self.level_index])

    def part(self, wanted: Ints | Bools) -> JudgedRun:
        """Return the run with a selection of its documents, or with all of them in another order."""
        topic, rank, level_index, document = (
            column[wanted] for column in (self.topic, self.rank, self.level_index, self.document)
        )
        ties = self.ties and self.ties.part(wanted)
        return replace(self, topic=topic, rank=rank, level_index=level_index, document=document, ties=ties)

    def ordered_in_ties(self, worth: Ints | Floats, *, best_first: bool) -> JudgedRun:
        """Return the run with tied documents ordered by ``worth``; documents it lacks have the lowest."""
        if self.ties is None:
            return self
        group = self.topic << 32 | self.ties.first
        order = np.lexsort((-worth, group))
        above = np.empty_like(order)
        above[order] = segments.ordinals(np.searchsorted(group, group)) - 1
        rank = self.ties.first + (above if best_first else self.ties.tied - 1 - above)
        return replace(self, rank=rank).part(np.argsort(self.topic << 32 | rank))

    def tied_topics(self, topics: int) -> Bools:
        """Return whether each topic has a document here that ties with another one of the run."""
        if self.ties is None:
            return np.zeros(topics, dtype=np.bool_)
        return segments.count(self.topic[self.ties.tied > 1], topics) > 0

    def by_tie_group(self, judged: Bools, topics: int, *, condensed: bool) -> JudgedRun:
        """Return the run with only the topics that have ties; documents are at the first rank of their group.

        Args:
            judged: for each document, whether its level counts as judged (>= 0).
            topics: number of topics.
            condensed: whether unjudged documents are removed before ranks are counted.
        """
        wanted = self.tied_topics(topics)[self.topic]
        run = self.part(wanted).condensed(judged[wanted], topics) if condensed else self.part(wanted)
        ties = run.ties or TieGroups(run.rank, np.ones_like(run.rank))
        return replace(run, rank=ties.first, ties=ties)

    def condensed(self, judged: Bools, topics: int) -> JudgedRun:
        """Return the run with only judged documents; ranks and tie groups are those of the condensed list.

        Args:
            judged: for each document, whether its level counts as judged (>= 0).
            topics: number of topics.
        """
        run = self.part(judged)
        start = segments.starts(run.topic, topics)[run.topic]
        ties = None
        if run.ties is not None:
            group = run.topic << 32 | run.ties.first
            begin, end = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
            ties = TieGroups(begin - start + 1, end - begin)
        return replace(run, rank=segments.ordinals(start), ties=ties)

    def condensed_rank(self, judged: Bools, topics: int) -> Ints:
        """Return ranks in the condensed list: unjudged documents are removed before ranks are counted.

        Args:
            judged: for each document, whether its level counts as judged (>= 0).
            topics: number of topics.
        """
        above = np.concatenate(([0], np.cumsum(judged, dtype=np.int64)))
        start = segments.starts(self.topic, topics)
        return np.asarray(above[1:] - above[start[self.topic]])


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
        kind: name of the counted documents in explanations.
        countable: whether ``R`` is a number of such documents.
    """

    kind: str = "relevant documents"
    countable: bool = True

    def __init__(self, levels: Levels, hits: JudgedRun, counts: Bools, n: Ints, cutoff: int | None) -> None:
        """Select the hits that count.

        Args:
            levels: the judgments.
            hits: the judged documents that the run retrieved.
            counts: whether each hit counts, regardless of its rank.
            n: rank of each hit in the list that the measure looks at.
            cutoff: the last rank that the measure looks at.
        """
        self.levels = levels
        self.cutoff = cutoff
        self.hits = hits
        self._counts = counts
        self._rows = counts if cutoff is None else counts & (n <= cutoff)
        self.topic: Ints = hits.topic[self._rows]
        self.n: Ints = n[self._rows]
        self.topic_start: Ints = segments.starts(self.topic, levels.topics)
        self.start: Ints = self.topic_start[self.topic]
        self.C: Ints = segments.ordinals(self.start)

    @property
    def R(self) -> Ints:
        """Number of documents of each topic that count if retrieved, shape ``(topics,)``."""
        raise NotImplementedError  # pragma: no cover

    @property
    def rank_in_run(self) -> Ints | None:
        """Rank of each document in the run where ``n`` is its rank in the condensed list, else None."""
        return None

    @property
    def document(self) -> Ints:
        """Position of each document in ``levels``."""
        return self.hits.document[self._rows]

    @property
    def tied(self) -> Ints:
        """Number of documents in the tie group of each document."""
        ties = self.hits.ties
        return np.ones_like(self.n) if ties is None else ties.tied[self._rows]

    @property
    def retrieved(self) -> Ints:
        """Number of documents per topic that count, including those below the cutoff."""
        return segments.count(self.hits.topic[self._counts], self.levels.topics)

    def sum_by_topic(self, values: Floats) -> Floats:
        """Return the sum over the documents of each topic, shape ``(topics,)``."""
        return self._totals.of(values)

    @cached_property
    def _totals(self) -> segments.Totals:
        return segments.Totals(self.topic, self.levels.topics)

    def mean_shares(self, shares: Floats) -> Floats:
        """Return the mean shares of groups at ranks 1..n, for each document, shape ``(documents, groups)``.

        Args:
            shares: the shares of each judged document, shape ``(judged, groups)``; NaN where unknown.
                Documents with unknown shares, such as unjudged ones, count as shared equally.
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
