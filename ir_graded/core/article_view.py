"""View for passage measures: the articles with relevance that a run retrieved, with F-scores.

Symbols are those of Kamps, Lalmas and Pehcevski (2007): P(a), R(a), F(a) and gP(r). Their rank r is ``n`` and
their Numrel is ``R``, as in the other views.
"""

from __future__ import annotations

import numpy as np

from . import segments
from .counted import CountedDocuments
from .judged_run import JudgedRun
from .levels import Highlights, Levels
from .segments import Floats, Ints
from .spans import Spans


def f_score(overlap: Ints, retrieved: Ints, highlighted: Ints, beta: float) -> Floats:
    """Return F(a) = (1 + beta^2) P R / (beta^2 P + R), or R where beta is inf; 0 without overlap.

    With P = overlap/retrieved and R = overlap/highlighted this is
    (1 + beta^2) overlap / (beta^2 highlighted + retrieved), which divides once.
    """
    of_highlighted, of_retrieved = f_weights(beta)
    weight = of_highlighted * highlighted + of_retrieved * retrieved
    overlaps = overlap > 0
    ratio = (of_highlighted + of_retrieved) * overlap / np.where(overlaps, weight, 1.0)
    # Rounding can put a perfect article one ulp above 1.
    return np.where(overlaps, np.minimum(ratio, 1.0), 0.0)


def f_weights(beta: float) -> tuple[float, float]:
    """Return the weights of the lengths of highlighted and of retrieved text in the divisor of F."""
    if np.isinf(beta):
        return 1.0, 0.0
    if beta <= 1:
        return float(beta) ** 2, 1.0
    # Divide by beta^2 so that the square does not overflow.
    return 1.0, (1 / float(beta)) ** 2


class ArticleView(CountedDocuments):
    """The articles with relevance that a run retrieved, in the order of its ranking.

    An article has relevance where spans of level >= ``rel`` highlight at least one position of it.

    Attributes:
        F: F-score of each article.
    """

    kind = "articles with relevance"

    def __init__(self, levels: Levels, hits: JudgedRun, rel: float, beta: float, cutoff: int | None) -> None:
        # Passages are missing only for empty qrels and empty runs.
        retrieved_spans = hits.retrieved or Spans.empty()
        highlights = levels.highlights or Highlights(Spans.empty(), np.zeros(0))
        relevant_spans = highlights.spans[highlights.level >= rel]
        articles = levels.topic.size
        highlighted = relevant_spans.union_length(articles)
        super().__init__(levels, hits, highlighted[hits.document] > 0, hits.rank, cutoff)
        self._R = segments.count(levels.topic[highlighted > 0], levels.topics)
        retrieved = retrieved_spans.union_length(articles)
        overlap = highlighted + retrieved - retrieved_spans.concat(relevant_spans).union_length(articles)
        self._overlap, self._lengths, self._beta = overlap, (retrieved, highlighted), beta
        self.F: Floats = self._f_score(self.document)

    def _f_score(self, article: Ints) -> Floats:
        retrieved, highlighted = self._lengths
        return f_score(self._overlap[article], retrieved[article], highlighted[article], self._beta)

    @property
    def R(self) -> Ints:
        """Number of articles with relevance of each topic (Numrel), shape ``(topics,)``."""
        return self._R

    @property
    def worth(self) -> Floats:
        """F-score of all judged articles retrieved, also below the cutoff; -1 for those without relevance."""
        return np.where(self._counts, self._f_score(self.hits.document), -1.0)

    @property
    def gP(self) -> Floats:
        """Generalised precision at each article: the sum of F down to it, divided by its rank."""
        return np.asarray(segments.cumulative_sum(self.F, self.start) / self.n)
