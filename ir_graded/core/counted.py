"""Base class of all views: the documents of a run that count for a measure, with their ranks."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from . import segments
from .judged_run import JudgedRun
from .levels import Levels
from .segments import Bools, Floats, Ints


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
