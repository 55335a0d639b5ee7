"""Measures over passages: of articles (MAgP), of characters (CharP, iP and others), and of TREC Genomics."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ir_graded.core import segments
from ir_graded.core.facets import ASPECTS, SPAN, Facet, costs
from ir_graded.core.levels import Aspects, Highlights, Levels
from ir_graded.core.passages import CHARACTERS, Budget, Spans
from ir_graded.core.segments import Floats, Ints, maximum_from, pair_key
from ir_graded.core.tie_means import SEEN, TiedDocuments, Utility
from ir_graded.core.views import ArticleView, PassageView, Views, f_weights
from ir_graded.errors import InputError, ParameterError

from .base import Contributions, GradedMeasure, TiedContributions, register
from .one_list import WHY_NO_EXCHANGE
from .params import BUDGETS, CUTOFF, F_BETA, GAINS, REL, REQUIRED_CUTOFF, TIES, Choice, Flag, Number

__all__ = [
    "AiP",
    "AspectAP",
    "CharF",
    "CharP",
    "CharR",
    "IoU",
    "MAgP",
    "Passage2AP",
    "PassageAP",
    "gP",
    "gR",
    "iP",
]


class PassageMeasure(GradedMeasure):
    """Base class of measures of articles and their passages; requires the columns start and length."""

    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "rel": REL, "beta": F_BETA, "ties": TIES}
    NEEDS = (SPAN,)

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
    r"""AP over articles, each weighted by the F-score of the text found in it.

    ``AgP = 1/Numrel * sum over ranks r of articles with relevance of gP(r)``, with
    ``gP(r) = 1/r * sum of F over the first r articles`` and ``F = (1 + beta^2) P R / (beta^2 P + R)``, P and
    R being precision and recall of the text retrieved from an article. Numrel is the number of articles with
    highlighted text. In [0, 1]; it is AP if articles are retrieved and highlighted as a whole.

    Formula:
        \mathrm{AgP} = \frac{1}{\mathrm{Numrel}} \sum_{r} \mathrm{gP}(r)
        \mathrm{gP}(r) = \frac{1}{r} \sum_{i \le r} F(a_{i})

    Use it for runs that point into documents, to score both the ranking of the articles and the text chosen
    in each. INEX 2009 and 2010 used ``beta=0.25``, the paper ``beta=1`` (the default).

    Users read passages within articles. Binary counterpart: AP of articles.

    Source: [kamps2007evaluating].

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
    r"""The mean F-score of the first articles.

    ``gP@k = 1/k * sum of F over the first k articles``, also if the run has fewer articles. In [0, 1].

    Formula:
        \mathrm{gP@}k = \frac{1}{k} \sum_{i \le k} F(a_{i})

    Use it as the precision of the first k articles of a run with passages. For runs with fewer articles, the
    INEX tool returns the value at the last rank instead.

    Users read passages within articles. Binary counterpart: P@k of articles.

    Source: [kamps2007evaluating].

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
    r"""The share of the articles with relevance that are among the first k articles.

    ``gR@k = articles with relevance among the first k / Numrel``, whatever ``beta`` is. In [0, 1].

    Formula:
        \mathrm{gR@}k = \frac{1}{\mathrm{Numrel}} \,\left|\{ i \le k : a_{i} \text{ has highlighted text}
            \}\right|

    Use it as the recall of articles of a run with passages, whatever text was found in them.

    Users read passages within articles. Binary counterpart: R@k of articles.

    Source: [kamps2007evaluating].

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
    LACKS = {"ideal": "there may be more than k articles with relevance"}
    SUPPORTED_PARAMS = {**PassageMeasure.SUPPORTED_PARAMS, "cutoff": REQUIRED_CUTOFF}

    def contributions(self, views: Views) -> Contributions:
        articles = self.articles(views)
        return Contributions(articles, None, self.norm(articles), "the articles with relevance")

    def mean_terms(self, tied: TiedDocuments[ArticleView]) -> Floats:
        return tied.linear(SEEN)


MAgP = register(_MAgP(), "AgP")
gP = register(_gP())
gR = register(_gR())


OVERLAP_ONCE = Choice(
    "text in several rows: 'retrieved' counts its length in each and finds it once, 'once' counts it once",
    ("retrieved", "once"),
    default="retrieved",
)
OVERLAP = Choice(
    "text in several rows: 'retrieved' counts its length in each and finds it once, 'once' counts it once, "
    "'each' counts and finds it in each",
    ("retrieved", "once", "each"),
    default="retrieved",
)
OVERLAP_OR_ERROR = Choice(
    "overlapping rows of an article: 'error' rejects them, 'retrieved' finds text in the best row that holds "
    "it",
    ("error", "retrieved"),
    default="error",
)
RECALL = Number("the point of recall at which precision is taken", low=0, high=1, required=True)
GRADED = Flag("weight each character by the gain of the highest level that highlights it")


class CharacterMeasure(GradedMeasure):
    """A measure of rows of a run that are passages; it needs the columns start and length.

    Example:
        >>> import ir_graded, pandas as pd
        >>> measure = ir_graded.CharP @ 1

    Lacks swap:
        >>> two = {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> measure.calc_aggregate(qrels, changed) < measure.calc_aggregate(qrels, run)
        True
    """

    NEEDS: ClassVar[tuple[Facet, ...]] = (SPAN,)
    NEEDS_ROWS = True
    LACKS = {"swap": "a row of a higher level may hold less highlighted text or more other text"}

    @property
    def needs(self) -> tuple[Facet, ...]:
        unit = self.params.get("unit", CHARACTERS)
        return self.NEEDS if unit == CHARACTERS else (*self.NEEDS, costs(unit, self))

    @property
    def budget(self) -> Budget | None:
        """The limit of the text that the measure looks at."""
        if "budget" not in self.params:
            return None
        return Budget(self["budget"], self["unit"], self["fit"] == "cut")

    def check_combination(self, params: Mapping[str, Any]) -> None:
        given = [name for name in ("unit", "fit") if name in params]
        if given and "budget" not in params:
            raise ParameterError(f"{self.NAME}: {given[0]}={params[given[0]]!r} needs a budget")

    def passages(self, views: Views) -> PassageView:
        """Return the view of the rows with highlighted text."""
        return views.passages(self["rel"], self.optional("cutoff"), budget=self.budget)

    def columns(self, views: Views) -> dict[str, Floats]:
        view = self.passages(views)
        spans = view.rows.spans
        columns = {
            "start": spans.start,
            "length": spans.stop - spans.start,
            "found": view.found,
            "P": view.precision,
            "R": view.found_down_to / view.R[view.topic],
        }
        return {name: np.asarray(values) for name, values in columns.items()}


class SetMeasure(CharacterMeasure):
    """A measure of the characters in the first rows, whose order does not matter."""

    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "rel": REL, "overlap": OVERLAP_ONCE, **BUDGETS}
    #: The divisor in words.
    NORM: ClassVar[str]

    def norm(self, view: PassageView) -> Floats:
        """Return the divisor of the number of characters found, shape ``(topics,)``."""
        raise NotImplementedError  # pragma: no cover

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        found = view.each if self["overlap"] == "each" else view.found
        return Contributions(view, found.astype(np.float64), self.norm(view), self.NORM)

    def retrieved(self, view: PassageView) -> Ints:
        """Return the number of characters retrieved, as ``overlap`` counts them."""
        return view.retrieved_characters(once=self["overlap"] == "once")


class _CharP(SetMeasure):
    r"""The share of characters in the first rows that are highlighted.

    ``CharP@k = highlighted characters found in the first k rows / characters in these rows``, including rows
    of unjudged articles. Text in several rows counts in the length of each row and is found once with
    ``overlap='retrieved'``, so that repeating text does not raise the score; it counts once with ``'once'``,
    and in each row with ``'each'``. In [0, 1].

    Formula:
        \mathrm{CharP@}k = \frac{\mathrm{found}(k)}{\mathrm{retrieved}(k)}

    Use it for the share of relevant text in the text that a retriever returns; see docs/guide/chunks.rst.

    Users read the first k passages or chunks, as a language model does. Binary counterpart: P@k of
    characters.

    Source: [smith2024evaluating]; [pehcevski2005hixeval].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> measure = ir_graded.CharP @ 1
        >>> ir_measures.calc_aggregate([ir_graded.CharP, measure], qrels, run)
        {CharP: 0.571428..., CharP@1: 1.0}
    """

    NAME = "CharP"
    PRETTY_NAME = "Character Precision"
    SUPPORTED_PARAMS = {**SetMeasure.SUPPORTED_PARAMS, "overlap": OVERLAP}
    NORM = "the characters retrieved"

    def norm(self, view: PassageView) -> Floats:
        return self.retrieved(view).astype(np.float64)


class _CharR(SetMeasure):
    r"""The share of the highlighted characters that the first rows hold.

    ``CharR@k = highlighted characters found in the first k rows / highlighted characters of the topic``. With
    ``graded=True``, which ``gains`` need, each character is weighted by the gain of the highest level that
    highlights it. With ``overlap='each'`` text in several rows is found several times, and recall **may
    exceed 1**, as in LegalBench-RAG. With ``budget`` only the rows that fit in it are read; each costs its
    full length, or its value in the column ``unit`` of the run. In [0, inf); without ``'each'`` at most 1.

    Formula:
        \mathrm{CharR@}k = \frac{\mathrm{found}(k)}{N}

    Use it to measure the share of the relevant text that a retriever returns; see docs/guide/chunks.rst.

    Users read the first k passages or chunks, as a language model does. Binary counterpart: R@k of
    characters.

    Source: [pipitone2024legalbench].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> measure = ir_graded.CharR @ 1
        >>> ir_measures.calc_aggregate([measure, ir_graded.CharR(overlap="each")], qrels, run)
        {CharR@1: 0.75, CharR(overlap='each'): 1.25}
    """

    NAME = "CharR"
    PRETTY_NAME = "Character Recall"
    SUPPORTED_PARAMS = {**SetMeasure.SUPPORTED_PARAMS, "overlap": OVERLAP, "graded": GRADED, "gains": GAINS}
    NORM = "the highlighted characters"
    RANGE = (0.0, np.inf)

    def check_combination(self, params: Mapping[str, Any]) -> None:
        super().check_combination(params)
        if params.get("graded") and params.get("overlap") == "each":
            raise ParameterError("CharR: graded=True needs overlap='retrieved' or 'once'")
        if params.get("gains") and not params.get("graded"):
            raise ParameterError("CharR: gains need graded=True")

    def norm(self, view: PassageView) -> Floats:
        return view.R.astype(np.float64)

    def contributions(self, views: Views) -> Contributions:
        if not self["graded"]:
            return super().contributions(views)
        view = self.passages(views)
        term, norm = np.zeros(view.topic.size), np.zeros(views.levels.topics)
        for level, weight in self._steps(views).items():
            # The rows of this view are among those of the lowest level.
            higher = views.passages(level, self.optional("cutoff"), budget=self.budget)
            key, own = (pair_key(one.topic, one.n) for one in (view, higher))
            term[np.searchsorted(key, own)] += weight * higher.found
            norm += weight * higher.R
        return Contributions(view, term, norm, "the gain of all highlighted characters")

    def _steps(self, views: Views) -> dict[float, float]:
        """Return the gain of each level minus that of the next lower level."""
        values = views.levels.highlighted_levels
        levels = values[values >= self["rel"]]
        gains = [self["gains"].get(level, level) for level in levels.tolist()]
        steps = np.diff(gains, prepend=0)
        if (steps < 0).any():
            raise ParameterError(f"{self}: gains must not fall from a level to a higher one, found {gains}")
        return dict(zip(levels.tolist(), steps.tolist(), strict=True))

    def score(self, views: Views) -> Floats:
        score = super().score(views)
        # Only characters that count in each row that holds them can add up to more than 1.
        return score if self["overlap"] == "each" else np.minimum(score, 1.0)


class _CharF(SetMeasure):
    r"""The weighted harmonic mean of precision and recall of characters.

    ``CharF@k = (1 + beta^2) P R / (beta^2 P + R)`` with P = CharP@k and R = CharR@k. In [0, 1].

    Formula:
        F = \frac{(1 + \beta^{2})\, P\, R}{\beta^{2} P + R}

    Use it for one number for precision and recall of characters; see docs/guide/chunks.rst.

    Users read the first k passages or chunks, as a language model does.

    Source: [pehcevski2005hixeval].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> measure = ir_graded.CharF @ 1
        >>> ir_measures.calc_aggregate([ir_graded.CharF, measure], qrels, run)
        {CharF: 0.727272..., CharF@1: 0.857142...}
    """

    NAME = "CharF"
    PRETTY_NAME = "Character F-score"
    SUPPORTED_PARAMS = {**SetMeasure.SUPPORTED_PARAMS, "beta": F_BETA}
    NORM = "the weighted mean of characters retrieved and highlighted"

    def norm(self, view: PassageView) -> Floats:
        of_highlighted, of_retrieved = f_weights(self["beta"])
        weighted = of_highlighted * view.R + of_retrieved * self.retrieved(view)
        return np.asarray(weighted / (of_highlighted + of_retrieved))


class _IoU(SetMeasure):
    r"""Characters both retrieved and highlighted, divided by those that are either.

    ``IoU@k = found / (characters in the first k rows + highlighted characters - found)``. Chunking
    experiments call it the Jaccard index of tokens, although they count characters. In [0, 1].

    Formula:
        \mathrm{IoU@}k = \frac{\mathrm{found}(k)}{\mathrm{retrieved}(k) + N - \mathrm{found}(k)}

    Use it for one number that penalises irrelevant and missing text; see docs/guide/chunks.rst.

    Users read the first k passages or chunks, as a language model does.

    Source: [smith2024evaluating].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> measure = ir_graded.IoU @ 1
        >>> ir_measures.calc_aggregate([ir_graded.IoU(overlap="once"), measure], qrels, run)
        {IoU(overlap='once'): 0.666666..., IoU@1: 0.75}
    """

    NAME = "IoU"
    PRETTY_NAME = "Intersection over Union"
    NORM = "the characters retrieved or highlighted"

    def norm(self, view: PassageView) -> Floats:
        return (self.retrieved(view) + view.R - view.total_found).astype(np.float64)


class InterpolatedPrecision(CharacterMeasure):
    """A measure of the precision at points of recall, over rows that do not overlap."""

    SUPPORTED_PARAMS = {"rel": REL, "overlap": OVERLAP_OR_ERROR}

    def passages(self, views: Views) -> PassageView:
        rows = views.hits.rows
        if rows is not None and rows.overlap and self["overlap"] == "error":
            raise InputError(
                f"{self} needs passages that do not overlap, but two do: {rows.overlap}; remove one, or set "
                "overlap='retrieved' to count text in the best row that holds it"
            )
        return super().passages(views)

    def best_precision(self, view: PassageView) -> Floats:
        """Return the largest precision at each row and all later ones."""
        return maximum_from(view.precision, view.topic)


class _iP(InterpolatedPrecision):
    r"""The largest precision of characters at or after a point of recall.

    ``iP@x = the largest P[r] over the ranks r with R[r] >= x``, or 0 without such a rank. P[r] and R[r] are
    precision and recall of the characters in the first r rows. R[r] and x are compared exactly. In [0, 1].

    Formula:
        \mathrm{iP@}x = \max \{ P[r] : R[r] \ge x \}

    Use it for precision early in a ranking. ``iP@0.01`` was official in INEX's focused task of 2008.

    Users read passages one after the other, as at INEX. Binary counterpart: AP of characters.

    Drawn: iP@0.1

    Source: [kamps2008inex].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 30], "length": [30, 40]})
        >>> measure = ir_graded.iP @ 0.5
        >>> ir_measures.calc_aggregate([measure, ir_graded.iP @ 0.9], qrels, run)
        {iP@0.5: 1.0, iP@0.9: 0.571428...}
    """

    NAME = "iP"
    PRETTY_NAME = "Interpolated Precision"
    SUPPORTED_PARAMS = {"recall": RECALL, **InterpolatedPrecision.SUPPORTED_PARAMS}
    AT_PARAM = "recall"

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        x = Fraction(repr(self["recall"]))
        # Python integers, since the products may exceed 64 bits.
        needed = -(-view.R.astype(object) * x.numerator // x.denominator)
        threshold = needed.astype(np.int64)[view.topic]
        found = view.found_down_to
        first = (found >= threshold) & ((found - view.found < threshold) | (view.C == 1))
        return Contributions(view, np.where(first, self.best_precision(view), 0.0))


class _AiP(InterpolatedPrecision):
    r"""The mean of the interpolated precision of characters at 101 points of recall.

    ``AiP = 1/101 * sum over i = 0 .. 100 of iP@(i/100)``. In [0, 1].

    Formula:
        \mathrm{AiP} = \frac{1}{101} \sum_{i=0}^{100} \mathrm{iP@}\tfrac{i}{100}

    Use it to average the precision of passages that do not overlap over all points of recall. Its mean, MAiP,
    is the official measure of INEX's focused task.

    Users read passages one after the other, as at INEX. Binary counterpart: AP of characters.

    Source: [kamps2008inex].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 30], "length": [30, 40]})
        >>> measure = ir_graded.AiP
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {AiP: 0.893917...}
    """

    NAME = "AiP"
    PRETTY_NAME = "Average Interpolated Precision"

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        found = view.found_down_to
        total = view.R[view.topic]
        # The points of recall that each row is the first to reach; the first one also reaches 0.
        reached = found * 100 // total
        before = np.where(view.C == 1, -1, (found - view.found) * 100 // total)
        points = np.full(view.levels.topics, 101.0)
        return Contributions(view, (reached - before) * self.best_precision(view), points, "points of recall")


CharP = register(_CharP())
CharR = register(_CharR())
CharF = register(_CharF())
IoU = register(_IoU())
iP = register(_iP())
AiP = register(_AiP(), "MAiP")


#: Characters whose summands are in memory at a time, and the longest piece of text that is summed.
_BLOCK, _LONGEST = 1 << 20, 1 << 25


class GenomicsMeasure(CharacterMeasure):
    """A measure of TREC Genomics; if aspects are known, highlighted spans without aspects do not count."""

    SUPPORTED_PARAMS = {"rel": REL}
    USES = (ASPECTS,)

    def passages(self, views: Views) -> PassageView:
        return views.passages(self["rel"], None, official=True)

    def gold(self, views: Views) -> tuple[Highlights, Ints]:
        """Return the highlighted spans, and the numbers of those that count."""
        highlights = views.levels.highlights or Highlights(Spans.empty(), np.zeros(0))
        return highlights, np.flatnonzero(highlights.official(self["rel"]))

    def chosen(self, views: Views) -> Ints:
        """Return for each row the first span, in the order of the qrels, with which it shares a character."""
        highlights, counts = self.gold(views)
        rows = self.passages(views).rows.spans
        row, span = rows.meeting(highlights.spans[counts])
        first = np.full(rows.article.size, counts.size, dtype=np.int64)
        np.minimum.at(first, row, span)
        return np.asarray(counts[first])


class _PassageAP(GenomicsMeasure):
    r"""TREC Genomics' PASSAGE MAP: precision of the characters at each row that finds text.

    ``PassageAP = sum over rows that find text of num/den / (rows that find text + spans never chosen)``. Each
    row chooses the first highlighted span, in the order of the qrels, with which it shares a character. num
    is the number of characters shared so far, den the sum of the lengths of all rows so far. Text that is
    found twice counts twice, as in the official program. In [0, 1].

    Formula:
        \mathrm{PassageAP} = \frac{1}{\mathrm{rows} + \mathrm{never}} \sum_{r}
            \frac{\mathrm{num}(r)}{\mathrm{den}(r)}

    Use it to compare with TREC Genomics (PASSAGE MAP), and ``Passage2AP`` otherwise: splitting a highlighted
    span changes the value of ``PassageAP``.

    Users read passages one after the other, as at TREC Genomics.

    Source: [hersh2007trec].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": [0, 20], "length": [30, 40]}
        >>> qrels = pd.DataFrame({"relevance": 1, **gold})
        >>> run = pd.DataFrame({"query_id": ["1"], "doc_id": "a", "score": 1, "start": 10, "length": 40})
        >>> measure = ir_graded.PassageAP
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {PassageAP: 0.25}
    """

    NAME = "PassageAP"
    PRETTY_NAME = "Passage Average Precision"
    NEEDS_QRELS_ORDER = True

    def contributions(self, views: Views) -> Contributions:
        view, chosen = self.passages(views), self.chosen(views)
        highlights, counts = self.gold(views)
        rows, spans = view.rows.spans, highlights.spans
        shared = np.minimum(rows.stop, spans.stop[chosen]) - np.maximum(rows.start, spans.start[chosen])
        found = segments.cumulative_sum(shared.astype(np.float64), view.start)
        never = _number_of_distinct(spans[counts], view.levels) - _number_of_distinct(
            spans[chosen], view.levels
        )
        norm = segments.count(view.topic, views.levels.topics) + never
        term = found / view.all.lengths.down_to(view.n, view.topic)
        return Contributions(
            view, term, norm.astype(np.float64), "rows that find text and spans never chosen"
        )


def _number_of_distinct(spans: Spans, levels: Levels) -> Ints:
    """Return the number of spans of each topic, each counted once."""
    distinct = np.unique(np.stack((spans.article, spans.start, spans.stop)), axis=1)
    return segments.count(levels.topic[distinct[0]], levels.topics)


class _Passage2AP(GenomicsMeasure):
    r"""TREC Genomics' PASSAGE2 MAP: average precision over characters.

    ``Passage2AP = 1/N * sum over highlighted characters found of n/d``: characters are counted one by one,
    row by row. A highlighted character counts in n and d when it is first found and is ignored later. Any
    other character counts in d each time. N is the number of highlighted characters. In [0, 1].

    Formula:
        \mathrm{Passage2AP} = \frac{1}{N} \sum_{c} \frac{n(c)}{d(c)}

    Use it for average precision with each character as a document; it is PASSAGE2 MAP of TREC Genomics 2007.

    Users read passages one after the other, as at TREC Genomics.

    Source: [hersh2007trec].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": ["1"], "doc_id": "a", "start": 10, "length": 4}
        >>> qrels = pd.DataFrame({"relevance": 1, **gold})
        >>> run = pd.DataFrame({"score": 1, **gold, "length": 2})
        >>> measure = ir_graded.Passage2AP
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {Passage2AP: 0.5}
    """

    NAME = "Passage2AP"
    PRETTY_NAME = "Passage2 Average Precision"

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        found = view.all
        row, size, found_in_row, others_in_row = found.cuts.new_gold()
        begin = segments.starts(found.rows.topic, views.levels.topics)[found.rows.topic]
        found_above = segments.cumulative_sum_before(found.first.astype(np.float64), begin).astype(np.int64)
        gold_to = segments.cumulative_sum(found.each.astype(np.float64), begin).astype(np.int64)
        length = found.rows.spans.stop - found.rows.spans.start
        # Characters of better rows that are not highlighted, counted each time.
        down_to = found.lengths.down_to(found.rows.rank, found.rows.topic)
        others_above = down_to - length - (gold_to - found.each)
        n, others = found_above[row] + found_in_row, others_above[row] + others_in_row
        terms = np.zeros(found.rows.topic.size)
        np.add.at(terms, row, _sums(n, others, size))
        return Contributions(view, terms[view.at], view.R.astype(np.float64), "the highlighted characters")


def _sums(n: Ints, others: Ints, size: Ints) -> Floats:
    """Return the sum of (n + i) / (n + i + others) over i = 1 .. size for each piece of text."""
    longest = int(size.max(initial=0))
    if longest > _LONGEST:
        raise InputError(f"Passage2AP sums over characters one by one; {longest} in one passage are too many")
    sums = np.zeros(size.size)
    # A closed form would lose digits; blocks of pieces bound the memory.
    block = (np.cumsum(size) - size) // _BLOCK
    for some in np.split(np.arange(size.size), np.flatnonzero(np.diff(block)) + 1):
        length = size[some]
        begin = np.cumsum(length) - length
        so_far = np.repeat(n[some] - begin, length) + np.arange(1, length.sum() + 1)
        sums[some] = np.add.reduceat(so_far / (so_far + np.repeat(others[some], length)), begin)
    return sums


class _AspectAP(GenomicsMeasure):
    r"""TREC Genomics' ASPECT MAP: average precision over the rows with new aspects.

    ``AspectAP = 1/aspects of the topic * sum over rows with new aspects of new * n/d``. Each row has the
    aspects of the first highlighted span, in the order of the qrels, with which it shares a character. Rows
    with new aspects count in n and d, rows without such a span in d, and others in neither. The qrels need a
    column aspects, with ``|`` between aspects. In [0, 1].

    Formula:
        \mathrm{AspectAP} = \frac{1}{A} \sum_{r} \mathrm{new}(r)\, \frac{n(r)}{d(r)}

    Use it to compare with TREC Genomics (ASPECT MAP). Read the run with ``rank='column'`` to rank as the
    official tool does.

    Users read passages one after the other, as at TREC Genomics.

    Source: [hersh2007trec].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": ["a", "b"], "start": 0, "length": 9}
        >>> qrels = pd.DataFrame({"relevance": 1, **gold, "aspects": ["X|Y", "Y|Z"]})
        >>> run = pd.DataFrame({"score": [2, 1], **gold})
        >>> ir_measures.calc_aggregate([ir_graded.AspectAP], qrels, run)
        {AspectAP: 1.0}

    Lacks swap:
        >>> measure, two = ir_graded.AspectAP, {"query_id": "1", "doc_id": ["a", "b"], "start": 0}
        >>> aspects = {"aspects": ["X", "X|Y"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "length": 10, **aspects})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [50, 0], "length": 10})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.5]
    """

    NAME = "AspectAP"
    PRETTY_NAME = "Aspect Average Precision"
    NEEDS = (SPAN, ASPECTS)
    NEEDS_QRELS_ORDER = True

    def contributions(self, views: Views) -> Contributions:
        view, chosen = self.passages(views), self.chosen(views)
        highlights, counts = self.gold(views)
        nothing = np.zeros(0, dtype=np.int64)
        aspects = highlights.aspects or Aspects(nothing > 0, nothing, nothing)
        begin = np.searchsorted(aspects.span, chosen)
        size = np.searchsorted(aspects.span, chosen, side="right") - begin
        row = np.repeat(np.arange(chosen.size, dtype=np.int64), size)
        at = np.arange(row.size, dtype=np.int64) + np.repeat(begin - (np.cumsum(size) - size), size)
        # Rows are sorted by topic and rank, so an aspect is new at its first row.
        first = np.unique(aspects.aspect[at], return_index=True)[1]
        new = segments.count(row[first], chosen.size)
        brings = (new > 0).astype(np.float64)
        n = segments.cumulative_sum(brings, view.start)
        d = view.n - segments.cumulative_sum(1.0 - brings, view.start)
        counted = np.isin(aspects.span, counts)
        one = np.unique(aspects.aspect[counted], return_index=True)[1]
        topic = views.levels.topic[highlights.spans.article[aspects.span[counted][one]]]
        of_topic = segments.count(topic, views.levels.topics)
        return Contributions(view, new * n / d, of_topic.astype(np.float64), "the aspects of the topic")


PassageAP = register(_PassageAP())
Passage2AP = register(_Passage2AP())
AspectAP = register(_AspectAP())
