"""Classics over intents (subtopics): alpha-nDCG, ERR-IA, NRBP, AP-IA, P-IA, StRecall and their variants.

A document is relevant to an intent if its level for it is at least ``rel``. All intents with a relevant
document in the qrels count alike: probabilities of intents are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import ir_measures
import numpy as np

from ir_graded.core import derived, segments
from ir_graded.core.derived import Grades, IntentView, greedy_list
from ir_graded.core.facets import INTENT
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import by_rank
from ir_graded.core.views import Cut, Views
from ir_graded.errors import ParameterError, short_repr
from ir_graded.measures.base import Contributions, Scorer, TiedContributions, safe_divide
from ir_graded.measures.params import MEAN_TIES, REL, Number

from .base import Classic, register
from .cwl import weights_down_to
from .precision import AveragePrecision, Precision, Success

_WHY_NO_IDEAL = "one list is rarely the best for every intent"
#: Weights below this change no digit of a score.
_NEGLIGIBLE = 1e-18
#: Number of ranks of an ideal list that measures with smaller cutoffs share.
_SHARED = 64


@dataclass(frozen=True)
class _Novelty(Scorer):
    """Scorer of the list of one intent: a^(relevant documents above) * weight of the rank, summed."""

    RANGE = (0.0, math.inf)

    a: float
    weight: Callable[[Ints], Floats]
    cutoff: int | None

    @property
    def cut(self) -> Cut:
        return Cut(-np.inf, cutoff=self.cutoff)

    def contributions(self, views: Views) -> Contributions:
        columns = self.columns(views)
        return Contributions(views[self.cut], columns["gain"] * columns["discount"])

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        mean = tied.rank_biased(np.ones(tied.group.size), self.a, by_rank(self.weight))
        return TiedContributions(tied, mean)

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {"gain": np.asarray(self.a ** (view.C - 1.0)), "discount": self.weight(view.n)}


class IntentClassic(Classic):
    """Base class of classics over intents: a sum of the scores of one list per intent, over a divisor."""

    NEEDS = (INTENT,)
    ORDERS = MEAN_TIES
    #: The divisor in words.
    NORM: ClassVar[str] = "the intents with a relevant document"
    #: Documents of level 0 or below can be relevant.
    LEVELS = {"rel": Number(REL.desc)}

    @property
    def listed(self) -> Scorer:
        """The scorer of the list of one intent."""
        raise NotImplementedError  # pragma: no cover

    def norm(self, levels: Levels) -> Floats:
        """Return the divisor of each topic: the number of intents with a relevant document."""
        intents = levels.by_intent
        relevant = derived.relevant_intents(intents, self.grades(intents.levels))
        return segments.count(intents.topic[relevant], levels.topics).astype(np.float64)

    def validate_params(self) -> None:
        super().validate_params()
        for name in ("alpha", "beta"):
            value = self[name]
            if value is not None and not 0 <= value <= 1:
                raise ParameterError(
                    f"{self.measure.NAME}: {name}={short_repr(value)} must be a number from 0 to 1"
                )

    @property
    def lowest_level(self) -> float:
        # All judged documents are in a condensed list, whatever their level.
        return -np.inf if self.cut.judged_only else super().lowest_level

    def grades(self, levels: Levels) -> Grades:
        relevant = levels.values >= self.cut.rel
        return Grades(relevant.astype(np.float64), relevant, np.ones_like(relevant))

    def lists(self, views: Views) -> Views:
        """Return the list of each intent."""
        grades = self.grades(views.levels.by_intent.levels)
        return derived.by_intent(views, grades, judged_only=self.cut.judged_only)

    def total(self, levels: Levels, of_lists: Floats) -> Floats:
        """Return the sum over the intents of each topic."""
        return derived.exact_sums(of_lists, levels.by_intent.topic, levels.topics)

    def _score(self, levels: Levels, of_lists: Floats) -> Floats:
        # Rounding can put a perfect list one ulp above the highest score.
        return np.minimum(safe_divide(self.total(levels, of_lists), self.norm(levels)), self.RANGE[1])

    def score(self, views: Views) -> Floats:
        return self._score(views.levels, self.listed.score(self.lists(views)))

    def expected_score(self, views: Views) -> Floats:
        return self._score(views.levels, self.listed.expected_score(self.lists(views)))

    def contributions(self, views: Views) -> Contributions:
        view = self._view(views)
        value = self.listed.contributions(self.lists(views)).value[view.order]
        return Contributions(view, value, self.norm(views.levels), self.NORM)

    def expected_contributions(self, views: Views) -> TiedContributions:  # noqa: ARG002  # not used here
        raise ParameterError(
            f"{self.measure}: the mean over orders of tied documents is a sum over intents, without an "
            "explanation"
        )

    def columns(self, views: Views) -> dict[str, Floats]:
        view = self._view(views)
        of_lists = self.listed.columns(self.lists(views))
        return {**view.columns, **{name: values[view.order] for name, values in of_lists.items()}}

    def _view(self, views: Views) -> IntentView:
        """Return the relevant judgments of the documents retrieved, by topic and rank."""
        grades = self.grades(views.levels.by_intent.levels)
        return IntentView(views, self.lists(views), grades, self["cutoff"])


class Novelty(IntentClassic):
    """Base class of sums of a^(relevant documents for the intent above) * weight of the rank."""

    NORM = "the intents with a relevant document times the highest sum of an intent"

    @property
    def a(self) -> float:
        """Factor for each document above that is relevant to the intent."""
        return 0.5 if self["alpha"] is None else 1.0 - self["alpha"]

    @property
    def weight(self) -> Callable[[Ints], Floats]:
        """Function from ranks to their weights."""
        raise NotImplementedError  # pragma: no cover

    @property
    def listed(self) -> Scorer:
        return _Novelty(self.a, self.weight, self["cutoff"])

    def norm(self, levels: Levels) -> Floats:
        highest = _highest(self.a, self.weight, self["cutoff"]) if self["cutoff"] else 1.0
        return super().norm(levels) * highest


class OverIdeal(Novelty):
    """Base class of such sums that are divided by the sum of the ideal list, which is greedy.

    That list has at least the share 1 - 1/e of the highest possible sum.
    """

    RANGE = (0.0, math.e / (math.e - 1))
    LACKS = {
        "ideal": "the ideal list is that of the greedy algorithm, not by level",
        "truncation": "the ideal list is also cut at rank k",
    }
    NORM = "the sum of the ideal list"

    @property
    def depth(self) -> float:
        """Number of ranks of the ideal list that matter."""
        return float(self["cutoff"] or math.inf)

    def norm(self, levels: Levels) -> Floats:
        return levels.kept(("sum of the ideal list", str(self.measure)), lambda: self._sum_of_ideal(levels))

    def _sum_of_ideal(self, levels: Levels) -> Floats:
        grades, depth = self.grades(levels.by_intent.levels), max(self.depth, _SHARED)
        key = ("greedy list", self.a, depth, *grades.key)
        run = levels.kept(key, lambda: greedy_list(levels, grades.relevant, self.a, depth))
        lists = derived.by_intent(Views(levels, run), grades, judged_only=False)
        return self.total(levels, self.listed.score(lists))


def _by_logarithm(n: Ints) -> Floats:
    return np.asarray(1.0 / np.log2(n + 1.0))


def _reciprocal(n: Ints) -> Floats:
    return np.asarray(1.0 / n)


@lru_cache(maxsize=256)
def _highest(a: float, weight: Callable[[Ints], Floats], cutoff: int) -> float:
    """Return the sum of a^(n-1) * weight over ranks n down to the cutoff."""
    last = int(min(cutoff, _ranks_that_matter(a)))
    known, rest = weights_down_to(lambda n: a ** (n - 1.0) * weight(n), last)
    return math.fsum([*known.tolist(), rest])


def _ranks_that_matter(base: float) -> float:
    """Return the number of ranks n at which base^(n-1) is not negligible."""
    if base in {0.0, 1.0}:
        return math.inf if base else 1.0
    return math.ceil(math.log(_NEGLIGIBLE) / math.log(base)) + 1.0


@dataclass(frozen=True)
class _Geometric:
    """The weight beta^(n-1) of each rank, times a factor."""

    beta: float
    factor: float = 1.0

    def __call__(self, n: Ints) -> Floats:
        return np.asarray(self.factor * self.beta ** (n - 1.0))


@register(ir_measures.alpha_DCG)
class AlphaDCG(Novelty):
    """Discounted cumulative gain over intents, divided by the highest possible value.

    ``alpha_DCG@k = sum over pairs of (1 - alpha)^c / log2(n + 1) / (S * sum over ranks n <= k of
    (1 - alpha)^(n-1) / log2(n + 1))``. A pair is a rank n <= k and an intent to which its document is
    relevant, c is the number of documents above that are relevant to the intent, and S intents have a
    relevant document. Probabilities of intents are ignored.

    Parameters: cutoff (required), alpha in [0, 1], rel, judged_only.

    Source: [clarke2008novelty], as in ndeval of the TREC Web track, which does not divide at rank 1.

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> measure, qrels, run = ir_measures.alpha_DCG @ 1, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {alpha_DCG@1: 0.5}
    """

    LACKS = {"ideal": _WHY_NO_IDEAL}
    REQUIRED = ("cutoff",)
    weight = staticmethod(_by_logarithm)


@register(ir_measures.alpha_nDCG)
class AlphaNDCG(OverIdeal):
    """Normalised discounted cumulative gain over intents.

    ``alpha_nDCG = sum over pairs of (1 - alpha)^c / log2(n + 1)``, as in alpha_DCG, divided by this sum for
    the ideal list, down to the cutoff if there is one. The ideal list has at each rank the document that adds
    the most to those above it; of several, the one with the largest id. It need not be the best list: a run
    can score above 1, at most e/(e-1) = 1.58. Probabilities of intents are ignored.

    Parameters: cutoff, alpha in [0, 1], rel, judged_only.

    Source: [clarke2008novelty], as in ndeval of the TREC Web track, in which rounding decides between
    documents that add equally.

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> qrels, run = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> measure = ir_measures.alpha_nDCG
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {alpha_nDCG: 0.840...}

    Lacks truncation:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"aab"], "relevance": 1, "iteration": [*"xyx"]}
        >>> qrels, run, changed = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2.0}}
        >>> measure = ir_measures.alpha_nDCG @ 1
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {alpha_nDCG@1: 1.0}
        >>> PROVIDER.calc_aggregate([ir_measures.alpha_nDCG], qrels, changed)
        {alpha_nDCG: 0.863...}
    """

    weight = staticmethod(_by_logarithm)


@register(ir_measures.ERR_IA)
class ERRIntentAware(Novelty):
    """Expected reciprocal rank over intents, divided by the highest possible value.

    ``ERR_IA@k = sum over pairs of 2^-c / n / (S * sum over ranks n <= k of 2^-(n-1) / n)``, with pairs, c and
    S as in alpha_DCG. Relevance is binary and probabilities of intents are ignored, so that it is not
    ``IA-ERR``.

    Parameters: cutoff (required), rel, judged_only.

    Source: [chapelle2009expected], as in ndeval of the TREC Web track, which does not divide at rank 1.

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> measure, qrels, run = ir_measures.ERR_IA @ 1, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {ERR_IA@1: 0.5}
    """

    LACKS = {"ideal": _WHY_NO_IDEAL}
    REQUIRED = ("cutoff",)
    weight = staticmethod(_reciprocal)


@register(ir_measures.nERR_IA)
class NormalisedERRIntentAware(OverIdeal):
    """Normalised expected reciprocal rank over intents.

    ``nERR_IA = sum over pairs of 2^-c / n``, as in ERR_IA, divided by this sum for the ideal list of
    alpha_nDCG. Like that, it can be above 1. Probabilities of intents are ignored.

    Parameters: cutoff, rel, judged_only.

    Source: [chapelle2009expected], as in ndeval of the TREC Web track.

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> qrels, run = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> measure = ir_measures.nERR_IA
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {nERR_IA: 0.777...}

    Lacks truncation:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"aab"], "relevance": 1, "iteration": [*"xyx"]}
        >>> qrels, run, changed = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2.0}}
        >>> measure = ir_measures.nERR_IA @ 1
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {nERR_IA@1: 1.0}
        >>> PROVIDER.calc_aggregate([ir_measures.nERR_IA], qrels, changed)
        {nERR_IA: 0.888...}
    """

    weight = staticmethod(_reciprocal)


@register(ir_measures.NRBP)
class NoveltyRankBiasedPrecision(Novelty):
    """Novelty- and rank-biased precision.

    ``NRBP = (1 - (1 - alpha) beta) / S * sum over pairs of (1 - alpha)^c beta^(n-1)``, with pairs, c and S as
    in alpha_DCG, over the whole list. Probabilities of intents are ignored.

    Parameters: alpha in [0, 1], beta in [0, 1], rel.

    Source: [clarke2009effectiveness].

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> measure, qrels, run = ir_measures.NRBP, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NRBP: 0.65625}
    """

    LACKS = {"ideal": "the user may go on below the last relevant document"}

    NORM = IntentClassic.NORM

    @property
    def weight(self) -> Callable[[Ints], Floats]:
        return _Geometric(self["beta"], 1.0 - self.a * self["beta"])


@register(ir_measures.nNRBP)
class NormalisedNoveltyRankBiasedPrecision(OverIdeal):
    """Normalised novelty- and rank-biased precision.

    ``nNRBP = sum over pairs of (1 - alpha)^c beta^(n-1)``, as in NRBP, divided by this sum for the ideal list
    of alpha_nDCG. Like that, it can be above 1. Probabilities of intents are ignored.

    Parameters: alpha in [0, 1], beta in [0, 1], rel.

    Source: [clarke2009effectiveness].

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> qrels, run = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> measure = ir_measures.nNRBP
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {nNRBP: 0.777...}
    """

    LACKS = {"ideal": OverIdeal.LACKS["ideal"]}

    @property
    def weight(self) -> Callable[[Ints], Floats]:
        return _Geometric(self["beta"])

    @property
    def depth(self) -> float:
        return _ranks_that_matter(self["beta"])


@register(ir_measures.AP_IA)
class AveragePrecisionIntentAware(IntentClassic):
    """Mean over the intents of average precision.

    ``AP_IA = 1/S * sum over intents i of AP_i``, where AP_i is AP for the documents relevant to intent i, and
    S intents have one. Probabilities of intents are ignored: ``IA`` uses them.

    Parameters: rel, judged_only.

    Source: [agrawal2009diversifying], as in ndeval of the TREC Web track.

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> measure, qrels, run = ir_measures.AP_IA, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {AP_IA: 0.75}
    """

    LACKS = {"ideal": _WHY_NO_IDEAL}

    @property
    def listed(self) -> Scorer:
        return AveragePrecision(ir_measures.AP(rel=self["rel"]))


@register(ir_measures.P_IA)
class PrecisionIntentAware(IntentClassic):
    """Mean over the intents of precision at a rank.

    ``P_IA@k = pairs / (k S)``, with pairs of a rank n <= k and an intent to which its document is relevant,
    and S intents that have a relevant document. Probabilities of intents are ignored.

    Parameters: cutoff (required), rel, judged_only.

    Source: [agrawal2009diversifying], as in ndeval of the TREC Web track.

    Lacks ideal:
        >>> import pandas as pd
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> rows = {"query_id": "1", "doc_id": [*"abb"], "relevance": [2, 1, 1], "iteration": [*"xxy"]}
        >>> measure, qrels, run = ir_measures.P_IA @ 2, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {P_IA@2: 0.75}
    """

    LACKS = {"ideal": _WHY_NO_IDEAL}
    REQUIRED: ClassVar[tuple[str, ...]] = ("cutoff",)

    @property
    def listed(self) -> Scorer:
        return Precision(ir_measures.P(rel=self["rel"], cutoff=self["cutoff"]))


@register(ir_measures.StRecall)
class SubtopicRecall(IntentClassic):
    """Share of the intents that have a relevant document among the first k, or among all.

    ``StRecall@k = intents with a relevant document among the first k / S``, where S intents have one in the
    qrels. Equals ``I-rec``. Probabilities of intents are ignored.

    Parameters: cutoff, rel.

    Source: [zhai2003beyond].
    """

    @property
    def listed(self) -> Scorer:
        cutoff = {} if self["cutoff"] is None else {"cutoff": self["cutoff"]}
        return Success(ir_measures.Success(rel=self["rel"], **cutoff))
