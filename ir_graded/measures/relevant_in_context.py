"""Relevant in Context: MAgP, gP and gR over ranked articles with passages."""

from __future__ import annotations

import numpy as np

from ir_graded.core.article_view import ArticleView
from ir_graded.core.segments import Floats
from ir_graded.core.tie_means import SEEN, TiedDocuments, Utility
from ir_graded.core.views import Views

from .base import GradedMeasure, register
from .contributions import Contributions, TiedContributions
from .params import CUTOFF, REL, REQUIRED_CUTOFF, TIES, Number
from .q import WHY_NO_EXCHANGE

F_BETA = Number(
    "weight of recall against precision in F; inf is recall only", default=1, low=0, infinite=True
)


class PassageMeasure(GradedMeasure):
    """Base class of measures of articles and their passages; requires the columns start and length."""

    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "rel": REL, "beta": F_BETA, "ties": TIES}
    NEEDS_PASSAGES = True

    def articles(self, views: Views) -> ArticleView:
        """Return the view of the articles with relevance that the run retrieved."""
        return views.articles(self["rel"], self["beta"], self.optional("cutoff"))

    def norm(self, articles: ArticleView) -> Floats:
        """Return the divisor of the sum over articles: the number of articles with relevance per topic."""
        return articles.R.astype(np.float64)

    def mean_terms(self, tied: TiedDocuments[ArticleView]) -> Floats:
        """Return the mean summand of each article over the orders of tied articles."""
        raise NotImplementedError  # pragma: no cover

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied_articles(self["rel"], self["beta"], self.optional("cutoff"))
        return TiedContributions(tied, tied.in_groups(self.mean_terms(tied)), self.norm(tied.view))

    def columns(self, views: Views) -> dict[str, Floats]:
        articles = self.articles(views)
        return {"F": articles.F, "gP": articles.gP}


class _MAgP(PassageMeasure):
    """Mean average generalised precision (of a topic: AgP).

    ``AgP = 1/Numrel * sum over ranks r of articles with relevance of gP(r)`` with
    ``gP(r) = 1/r * sum of F over the first r articles`` and
    ``F(a) = (1 + beta^2) P(a) R(a) / (beta^2 P(a) + R(a))``, where P(a) and R(a) are precision and recall of
    the text retrieved from article a. Numrel is the number of articles with a highlighted position. In
    [0, 1]; it is AP if articles are retrieved and highlighted as a whole.

    Parameters: beta, rel, cutoff (in articles), ties.

    Source: Kamps, Lalmas and Pehcevski, "Evaluating Relevant in Context: Document Retrieval with a
    Twist" (SIGIR 2007).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> whole = {"query_id": "1", "start": 0, "length": 10}
        >>> qrels = pd.DataFrame({"doc_id": ["a", "b"], "relevance": 1, **whole})
        >>> run = pd.DataFrame({"doc_id": ["a", "x"], "score": [2, 1], **whole})
        >>> ir_measures.calc_aggregate([ir_graded.MAgP], qrels, run)
        {MAgP: 0.5}

    Lacks exchange:
        >>> measure, part = ir_graded.MAgP, {**whole, "length": [10, 10, 1]}
        >>> run = pd.DataFrame({"doc_id": ["x", "a", "b"], "score": [3, 2, 1], **part})
        >>> changed = run.assign(score=[1, 2, 3])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.446969..., 0.386363...]
    """

    NAME = "MAgP"
    PRETTY_NAME = "Mean Average Generalised Precision"
    SHORT_DESC = "AP over articles, each weighted by the F-score of the text found in it."
    SOURCE = "Kamps et al. 2007"
    LACKS = {"exchange": WHY_NO_EXCHANGE}

    def contributions(self, views: Views) -> Contributions:
        articles = self.articles(views)
        return Contributions(articles, articles.gP, self.norm(articles))

    def mean_terms(self, tied: TiedDocuments[ArticleView]) -> Floats:
        return tied.linear(Utility(lambda n, _: 1.0 / n, tied.view.F))

    def columns(self, views: Views) -> dict[str, Floats]:
        articles = self.articles(views)
        stop = 1.0 / articles.R[articles.topic]
        return {**super().columns(views), "stop": stop, "utility": articles.gP}


class _gP(PassageMeasure):
    """Generalised precision at a rank.

    ``gP@k = 1/k * sum of F over the first k articles``; the divisor is k even if the run has fewer articles.
    In [0, 1].

    Parameters: cutoff (required, in articles), beta, rel, ties.

    Source: Kamps, Lalmas and Pehcevski, "Evaluating Relevant in Context: Document Retrieval with a
    Twist" (SIGIR 2007).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> whole = {"query_id": "1", "start": 0, "length": 10}
        >>> qrels = pd.DataFrame({"doc_id": ["a", "b"], "relevance": 1, **whole})
        >>> run = pd.DataFrame({"doc_id": ["a", "x"], "score": [2, 1], **whole})
        >>> ir_measures.calc_aggregate([ir_graded.gP@4], qrels, run)
        {gP@4: 0.25}

    Lacks ideal:
        >>> measure, run = ir_graded.gP @ 4, qrels.assign(score=[2, 1])
        >>> measure.calc_aggregate(qrels, run)
        0.5
    """

    NAME = "gP"
    PRETTY_NAME = "Generalised Precision"
    SHORT_DESC = "The mean F-score of the first articles."
    SOURCE = "Kamps et al. 2007"
    LACKS = {"ideal": "there may be fewer than k articles with relevance, but the divisor is k"}
    SUPPORTED_PARAMS = {**PassageMeasure.SUPPORTED_PARAMS, "cutoff": REQUIRED_CUTOFF}

    def contributions(self, views: Views) -> Contributions:
        articles = self.articles(views)
        return Contributions(articles, articles.F, self.norm(articles), "the cutoff")

    def norm(self, articles: ArticleView) -> Floats:
        return np.full(articles.levels.topics, self["cutoff"], dtype=np.float64)

    def mean_terms(self, tied: TiedDocuments[ArticleView]) -> Floats:
        return np.asarray(tied.view.F * tied.linear(SEEN))


class _gR(PassageMeasure):
    """Generalised recall at a rank.

    ``gR@k = articles with relevance among the first k / Numrel``. In [0, 1].

    Parameters: cutoff (required, in articles), beta (has no effect on recall of articles), rel, ties.

    Source: Kamps, Lalmas and Pehcevski, "Evaluating Relevant in Context: Document Retrieval with a
    Twist" (SIGIR 2007).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> whole = {"query_id": "1", "start": 0, "length": 10}
        >>> qrels = pd.DataFrame({"doc_id": ["a", "b"], "relevance": 1, **whole})
        >>> run = pd.DataFrame({"doc_id": ["a", "x"], "score": [2, 1], **whole})
        >>> ir_measures.calc_aggregate([ir_graded.gR@4], qrels, run)
        {gR@4: 0.5}

    Lacks ideal:
        >>> measure, run = ir_graded.gR @ 1, qrels.assign(score=[2, 1])
        >>> measure.calc_aggregate(qrels, run)
        0.5
    """

    NAME = "gR"
    PRETTY_NAME = "Generalised Recall"
    SHORT_DESC = "The share of the articles with relevance that are among the first k articles."
    SOURCE = "Kamps et al. 2007"
    LACKS = {"ideal": "there may be more than k articles with relevance"}
    SUPPORTED_PARAMS = {**PassageMeasure.SUPPORTED_PARAMS, "cutoff": REQUIRED_CUTOFF}

    def contributions(self, views: Views) -> Contributions:
        articles = self.articles(views)
        return Contributions(articles, None, self.norm(articles), "the articles with relevance")

    def mean_terms(self, tied: TiedDocuments[ArticleView]) -> Floats:
        return tied.linear(SEEN)


MAgP = _MAgP()
register(MAgP, "AgP")
gP = _gP()
register(gP)
gR = _gR()
register(gR)
