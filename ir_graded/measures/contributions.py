"""Contributions of documents to scores: one sum that scores and explanations share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_graded.core import segments
from ir_graded.core.counted import CountedDocuments
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import TiedDocuments

from .stopping import safe_divide


@dataclass(frozen=True, eq=False)
class Contributions:
    """A score as a sum over documents: ``score(topic) = sum of term over its documents / norm(topic)``.

    Attributes:
        view: the documents that the measure counts.
        term: the summand of each document; None if each counts 1.
        norm: divisor of the sum of each topic, shape ``(topics,)``; None if it is 1. A topic with divisor 0
            scores 0.
        norm_name: the divisor in words, if the columns of an explanation do not show it.
    """

    view: CountedDocuments
    term: Floats | None = None
    norm: Floats | None = None
    norm_name: str = ""

    def total(self) -> Floats:
        """Return the score of each topic, shape ``(topics,)``. The sum is divided once, at the end."""
        view = self.view
        if self.term is None:
            total = segments.count(view.topic, view.levels.topics).astype(np.float64)
        else:
            total = view.sum_by_topic(self.term)
        return total if self.norm is None else safe_divide(total, self.norm)

    @property
    def rank(self) -> Ints:
        """Rank of each document in the list that the measure looks at."""
        return self.view.n

    @property
    def rank_in_run(self) -> Ints | None:
        """Rank of each document in the run if the measure looks at a condensed list, else None."""
        return self.view.rank_in_run

    @property
    def cutoff(self) -> int | None:
        """Last rank that the measure looks at."""
        return self.view.cutoff

    @property
    def relevant(self) -> Ints:
        """Number of documents of each topic that would count if all were retrieved."""
        return self.view.R

    @property
    def kind(self) -> str:
        """Name of the documents that the measure counts."""
        return self.view.kind

    @property
    def value(self) -> Floats:
        """Contribution of each document to the score of its topic; they sum to the score up to rounding."""
        term = np.ones(self.view.topic.size) if self.term is None else self.term
        return term if self.norm is None else safe_divide(term, self.norm[self.view.topic])


@dataclass(frozen=True, eq=False)
class TiedContributions:
    """A mean score over all orders of tied documents as a sum over tie groups.

    Attributes:
        tied: the documents that the measure counts, in topics with ties.
        term: the summand of each tie group.
        norm: as in :class:`Contributions`.
    """

    tied: TiedDocuments[Any]
    term: Floats
    norm: Floats | None = None

    def total(self) -> Floats:
        """Return the score of each topic, shape ``(topics,)``; 0 for topics without ties."""
        total = segments.total(self.term, self.tied.topic, self.tied.view.levels.topics)
        return total if self.norm is None else safe_divide(total, self.norm)

    @property
    def value(self) -> Floats:
        """Contribution of each tie group to the score of its topic."""
        return self.term if self.norm is None else safe_divide(self.term, self.norm[self.tied.topic])
