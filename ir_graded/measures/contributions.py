"""What each document adds to the score of its topic: one sum, for scores and for explanations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ir_graded.core import segments
from ir_graded.core.article_view import ArticleView
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.views import View

from .stopping import share


@dataclass(frozen=True, eq=False)
class Contributions:
    """A score as a sum over documents: ``score(topic) = sum of term over its documents / norm(topic)``.

    Attributes:
        view: the documents that the measure counts, as it sees them.
        term: what is summed, for each of them; None where each counts 1.
        norm: what the sum of each topic is divided by, shape ``(topics,)``; None where that is 1. Where it is
            0, the score is 0.
        norm_name: what that is, in words, where the columns of an explanation do not tell.
    """

    view: View | ArticleView
    term: Floats | None = None
    norm: Floats | None = None
    norm_name: str = ""

    def total(self) -> Floats:
        """Score of each topic, shape ``(topics,)``; divided once, after the sum."""
        view = self.view
        if self.term is None:
            total = segments.count(view.topic, view.levels.topics).astype(np.float64)
        else:
            total = view.sum_by_topic(self.term)
        return total if self.norm is None else share(total, self.norm)

    @property
    def rank(self) -> Ints:
        """Rank of each document in the list that the measure looks at."""
        return self.view.r if isinstance(self.view, ArticleView) else self.view.n

    @property
    def rank_in_run(self) -> Ints | None:
        """Its rank in the run, where the measure looks at a condensed list; None where that is no other."""
        view = self.view
        return view.rank if isinstance(view, View) and view.cut.judged_only else None

    @property
    def cutoff(self) -> int | None:
        """The rank below which the measure does not look."""
        return self.view.cutoff if isinstance(self.view, ArticleView) else self.view.cut.cutoff

    @property
    def relevant(self) -> Ints:
        """Number of documents per topic that the measure would count if all were retrieved."""
        return self.view.Numrel if isinstance(self.view, ArticleView) else self.view.R

    @property
    def kind(self) -> str:
        """What the documents are that the measure counts."""
        if isinstance(self.view, ArticleView):
            return "articles with relevance"
        return "judged documents" if self.view.cut.rel == -np.inf else "relevant documents"

    @property
    def value(self) -> Floats:
        """What each document adds to its topic's score; these sum to it but for rounding."""
        term = np.ones(self.view.topic.size) if self.term is None else self.term
        return term if self.norm is None else share(term, self.norm[self.view.topic])
