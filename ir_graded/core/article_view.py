"""What a passage measure sees of a run: its articles with relevance and the F-score of each.

Symbols are those of Kamps, Lalmas and Pehcevski (2007): P(a), R(a), F(a), gP(r), Numrel.
"""

from __future__ import annotations

import numpy as np

from . import segments
from .judged_run import JudgedRun
from .levels import Highlights, Levels
from .segments import Floats, Ints
from .spans import Spans


def f_score(overlap: Ints, retrieved: Ints, highlighted: Ints, beta: float) -> Floats:
    """F(a) = (1 + beta^2) P R / (beta^2 P + R); beta = inf: R. 0 where nothing relevant is retrieved.

    With P = overlap/retrieved and R = overlap/highlighted this is
    (1 + beta^2) overlap / (beta^2 highlighted + retrieved), which divides once.
    """
    if np.isinf(beta):
        of_highlighted, of_retrieved = 1.0, 0.0
    elif beta <= 1:
        of_highlighted, of_retrieved = float(beta) ** 2, 1.0
    else:
        # Divided by beta^2, lest the square overflow.
        of_highlighted, of_retrieved = 1.0, (1 / float(beta)) ** 2
    weight = of_highlighted * highlighted + of_retrieved * retrieved
    found = overlap > 0
    ratio = (of_highlighted + of_retrieved) * overlap / np.where(found, weight, 1.0)
    # Rounding may carry a perfect article an ulp beyond 1.
    return np.where(found, np.minimum(ratio, 1.0), 0.0)


class ArticleView:
    """The articles with relevance that a run retrieved, in the order of its ranking.

    An article has relevance where spans of level >= ``rel`` highlight at least one position of it.

    Attributes:
        topic: topic of each article, ascending.
        r: its rank among the run's articles.
        C: number of articles with relevance down to it.
        document: its position in ``levels``.
        cutoff: the rank below which the view does not look.
        F: its F-score.
        Numrel: number of articles with relevance of each topic, shape ``(topics,)``.
    """

    def __init__(self, levels: Levels, hits: JudgedRun, rel: float, beta: float, cutoff: int | None) -> None:
        # None: empty qrels or an empty run; the evaluator refuses others that hold no passages.
        retrieved_spans = hits.retrieved or Spans.none()
        self.levels = levels
        documents = levels.topic.size
        highlights = relevant_highlights(levels.highlights or Highlights(Spans.none(), np.zeros(0)), rel)
        highlighted = highlights.spans.covered(documents)
        self.Numrel: Ints = segments.count(levels.topic[highlighted > 0], levels.topics)
        seen = highlighted[hits.document] > 0
        if cutoff is not None:
            seen &= hits.rank <= cutoff
        document = hits.document[seen]
        self.cutoff = cutoff
        self._hits = hits
        self._highlighted = highlighted
        self.document: Ints = document
        self.topic: Ints = hits.topic[seen]
        self.r: Ints = hits.rank[seen]
        self.start: Ints = segments.starts(self.topic, levels.topics)[self.topic]
        self.C: Ints = np.arange(1, self.topic.size + 1, dtype=np.int64) - self.start
        retrieved = retrieved_spans.covered(documents)
        union = retrieved_spans.joined(highlights.spans).covered(documents)
        overlap = highlighted + retrieved - union
        self.F: Floats = f_score(overlap[document], retrieved[document], highlighted[document], beta)

    @property
    def retrieved(self) -> Ints:
        """Number of articles with relevance that the run retrieved of each topic, below the cutoff too."""
        topic = self._hits.topic[self._highlighted[self._hits.document] > 0]
        return segments.count(topic, self.levels.topics)

    @property
    def gP(self) -> Floats:
        """Generalised precision at each article: sum of F down to it, over its rank."""
        return np.asarray(segments.cumulative_sum(self.F, self.start) / self.r)

    def sum_by_topic(self, contributions: Floats) -> Floats:
        """Sum over the articles of each topic, shape ``(topics,)``."""
        return segments.total(contributions, self.topic, self.levels.topics)


def relevant_highlights(highlights: Highlights, rel: float) -> Highlights:
    """The highlights of level >= ``rel``."""
    relevant = highlights.level >= rel
    return Highlights(highlights.spans[relevant], highlights.level[relevant])
