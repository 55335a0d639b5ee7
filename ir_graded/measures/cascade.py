"""Measures that go down the list: EBR, iRBU, nERR stop at a document that satisfies; gRBP, DCG, nDCG-JK."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ir_graded.core.derived import Grades
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import TiedDocuments, Utility, by_rank
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError

from .base import (
    ABOVE_0,
    COMMON,
    HIGHEST_EXPONENT,
    BlendedUtility,
    Contributions,
    ScaledMeasure,
    StopUtility,
    TiedContributions,
    add_short_name,
    cascade,
    exponential_gain,
    register,
    safe_divide,
    satisfaction,
)
from .params import BETA, GAINS, IDEAL_NORM, PERSISTENCE, Choice, Flag, Number

__all__ = ["DCG", "EBR", "gRBP", "iRBU", "nDCG_JK", "nERR"]


#: Reason why a measure divided by the score of the ideal list lacks the property 'truncation'.
WHY_NO_TRUNCATION = "the ideal list is also cut at rank k"


class IdealNorm(StopUtility):
    """A measure of the family ``sum over ranks n of stop(n) * utility(n)`` that takes norm='ideal'."""

    @property
    def over_ideal(self) -> bool:
        """Whether the sum is divided by that of the ideal list."""
        return bool(self["norm"] == "ideal")

    @property
    def lacks(self) -> Mapping[str, str]:
        return self.lacks_with_norm(super().lacks)

    def lacks_with_norm(self, lacks: Mapping[str, str]) -> Mapping[str, str]:
        """Return the properties that the measure lacks, given those that it lacks with norm='all'."""
        if not self.over_ideal:
            return lacks
        others = {name: reason for name, reason in lacks.items() if name != "ideal"}
        return {**others, "truncation": WHY_NO_TRUNCATION}

    @property
    def is_monotone(self) -> bool:
        return super().is_monotone and not self.over_ideal

    def ideal_order(self, levels: Levels) -> Floats:
        """Return the value of each level by which the ideal list is sorted: its gain."""
        return levels.table(self.overrides("gains"))

    def ideal_terms(self, view: View) -> Floats:
        """Return the summand of each document of the ideal list."""
        return self.stop(view) * self.utility(view)

    def ideal_score(self, levels: Levels) -> Floats | None:
        """Return the score of the ideal list of each topic at the cutoff; None without norm='ideal'."""
        return (
            levels.kept(("ideal score", self), lambda: self._ideal_score(levels)) if self.over_ideal else None
        )

    def _ideal_score(self, levels: Levels) -> Floats:
        order, cut = self.ideal_order(levels), replace(self.cut, cutoff=None)
        view = levels.kept(
            ("ideal view", cut, order.tobytes()),
            lambda: View(levels, JudgedRun.of_ideal(levels, cut.rel, order), cut),
        )
        terms = self.ideal_terms(view)
        if self.cut.cutoff is not None:
            terms[view.n > self.cut.cutoff] = 0.0
        return view.sum_by_topic(terms)

    def contributions(self, views: Views) -> Contributions:
        found = super().contributions(views)
        name = f"{self.NAME.removeprefix('n')} of the ideal list" if self.over_ideal else ""
        return replace(found, norm=self.ideal_score(views.levels), norm_name=name)

    def expected_contributions(self, views: Views) -> TiedContributions:
        found = super().expected_contributions(views)
        return replace(found, norm=self.ideal_score(views.levels))


#: Reason why a cascade that is not normalised lacks the property 'ideal'.
WHY_NO_IDEAL = "no list satisfies every user, and the score is not divided by that of the ideal list"


class CascadeMeasure(IdealNorm, ScaledMeasure):
    """Base class of the cascade measures: the scale of gains and the cascading stop."""

    SUPPORTED_PARAMS = {**ScaledMeasure.SUPPORTED_PARAMS, "norm": IDEAL_NORM}

    def stop(self, view: View) -> Floats:
        return cascade(view, self.overrides("gains"), self.gmax(view.levels, view.topic))

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        view = tied.view
        satisfied = satisfaction(self.graded(view).g, self.gmax(view.levels, view.topic))
        return tied.cascade(satisfied, 1.0 - satisfied, utility)


class RankUtility(IdealNorm, StopUtility):
    """A measure of the family whose utility depends only on the rank: 'rr' (1/n) or 'ie' (p^n)."""

    @property
    def utility_name(self) -> str:
        """Name of the utility: 'rr' or 'ie'."""
        raise NotImplementedError  # pragma: no cover

    def discount(self, n: Ints) -> Floats:
        """Return the utility at ranks n."""
        if self.utility_name == "rr":
            return np.asarray(1.0 / n)
        # Divided by the ideal list a constant factor cancels out, and with a small p all would be 0.
        return np.asarray(float(self["p"]) ** (n - self.over_ideal))

    def utility(self, view: View) -> Floats:
        return self.discount(view.n)

    def mean_utility(self, view: View) -> Utility:  # noqa: ARG002  # it is the same for all documents
        return by_rank(self.discount)

    def ideal_terms(self, view: View) -> Floats:
        # One division rounds less than a reciprocal times a product.
        return self.stop(view) / view.n if self.utility_name == "rr" else super().ideal_terms(view)


class _EBR(BlendedUtility, CascadeMeasure):
    r"""The blended ratio at the document that satisfies, in expectation over ERR's cascade of users.

    ``EBR = sum over relevant ranks n of dsat(n-1) g(n)/(gmax+1) * BR(n)``, with
    ``dsat(n) = dsat(n-1) (1 - g(n)/(gmax+1))`` and ``dsat(0) = 1``. In [0, 1): even an ideal list scores
    below 1, unless ``norm='ideal'`` divides by its score at the same cutoff (``nEBR``).

    Formula:
        \mathrm{EBR} = \sum_{n \in \mathcal{N}} \mathrm{dsat}(n-1)\, s(n)\, \mathrm{BR}(n)

    Use it if users read down the list until a document satisfies them. It suits the same users as ``nERR``,
    but rewards the whole list down to the last document read rather than its rank. Unless ``norm='ideal'``,
    compare runs on one set of qrels only, and set ``max_rel`` if qrels come in batches.

    Users stop when a document satisfies them, and read on otherwise.

    Source: [sakai2008modelling]; [chapelle2009expected], for the stop, as in NTCIREVAL.

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.EBR(beta=0)], qrels, run)
        {EBR(beta=0): 0.25}

    Lacks swap:
        >>> measure, qrels = ir_graded.EBR, {"1": {"t": 100, "s": 5, "b": 1}}
        >>> run, changed = {"1": {"b": 2.0, "s": 1.0}}, {"1": {"s": 2.0, "b": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.003860..., 0.003644...]

    Lacks ideal:
        >>> measure, qrels, run = ir_graded.EBR, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        0.5
    """

    NAME = "EBR"
    PRETTY_NAME = "Expected Blended Ratio"
    LACKS = {
        "ideal": WHY_NO_IDEAL,
        "swap": "users who stop earlier, at the better document, may stop at a lower blended ratio",
    }
    SUPPORTED_PARAMS = {**CascadeMeasure.SUPPORTED_PARAMS, "beta": BETA}


class _iRBU(RankUtility, CascadeMeasure):
    r"""The probability of being satisfied, discounted by p for every rank on the way.

    ``iRBU = sum over relevant ranks n of p^n * dsat(n-1) g(n)/(gmax+1)``. In [0, 1); ``norm='ideal'``
    divides by the score of the ideal list at the same cutoff (``niRBU``).

    Formula:
        \mathrm{iRBU} = \sum_{n \in \mathcal{N}} p^{n}\, \mathrm{dsat}(n-1)\, s(n)

    Use it for the cascade of ERR with a user who gives up at each rank with probability 1 - p. With p near 1
    it measures whether, not how soon, the user is satisfied. It is the utility of RBU for one intent.

    Users stop when a document satisfies them, and read on otherwise.

    Source: [sakai2019which].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.iRBU(p=0.5)], qrels, run)
        {iRBU(p=0.5): 0.125}

    Lacks ideal:
        >>> measure, qrels, run = ir_graded.iRBU, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        0.495
    """

    NAME = "iRBU"
    PRETTY_NAME = "Intentwise Rank-Biased Utility"
    MONOTONE = True
    LACKS = {"ideal": WHY_NO_IDEAL}
    SUPPORTED_PARAMS = {**CascadeMeasure.SUPPORTED_PARAMS, "p": PERSISTENCE}
    utility_name = "ie"


class _nERR(RankUtility, CascadeMeasure):
    r"""The expected reciprocal of the rank that satisfies, divided by that of the ideal list.

    ``nERR@k = ERR@k / ERR@k of the ideal list`` with
    ``ERR = sum over relevant ranks n of 1/n * dsat(n-1) g(n)/(gmax+1)``, which is
    ``NCU(stop='err',utility='rr')``. In [0, 1].

    Formula:
        \mathrm{nERR@}k = \frac{\mathrm{ERR@}k}{\mathrm{ERR@}k \text{ of the ideal list}}
        \mathrm{ERR} = \sum_{n \in \mathcal{N}} \frac{1}{n}\, \mathrm{dsat}(n-1)\, s(n)

    Use it if one document may satisfy the user. Gains are the levels; for those of gdeval, 2^level - 1, write
    for example ``gains={2: 3, 3: 7, 4: 15}``. Set ``max_rel`` if qrels come in batches.

    Users stop when a document satisfies them, and read on otherwise.

    Source: [chapelle2009expected].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.nERR@10], qrels, run)
        {nERR@10: 0.5}

    Lacks truncation:
        >>> measure, qrels = ir_graded.nERR @ 1, {"1": {"a": 1, "b": 1}}
        >>> run, changed = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2.0}}
        >>> measure.calc_aggregate(qrels, run), ir_graded.nERR.calc_aggregate(qrels, changed)
        (1.0, 0.8)
    """

    NAME = "nERR"
    PRETTY_NAME = "Normalised Expected Reciprocal Rank"
    LACKS = {"truncation": WHY_NO_TRUNCATION}
    SUPPORTED_PARAMS = ScaledMeasure.SUPPORTED_PARAMS
    over_ideal = True
    utility_name = "rr"


EBR = register(_EBR())
add_short_name(EBR, "nEBR", norm="ideal")
iRBU = register(_iRBU())
add_short_name(iRBU, "niRBU", norm="ideal")
nERR = register(_nERR())


_RESIDUAL = Flag("metrics have a field residual: how much judging every document could raise the score")
_BASE = Number("base of the logarithm; ranks up to it are not discounted", default=2, above=1)


class _WeightedGain(IdealNorm):
    """A measure that weights the gain at each rank: the stop is the weight, the utility is the gain."""

    def weight(self, n: Ints) -> Floats:
        """Return the weight of ranks n."""
        raise NotImplementedError  # pragma: no cover

    def stop(self, view: View) -> Floats:
        return self.weight(view.n)

    def utility(self, view: View) -> Floats:
        return self.graded(view).g

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        terms = tied.weighted(self.utility(tied.view), by_rank(self.weight))
        return TiedContributions(tied, terms, self.ideal_score(views.levels))


class _gRBP(_WeightedGain, ScaledMeasure):
    r"""The gain per document of a user who goes on to each next rank with probability p.

    ``gRBP = (1-p) * sum over relevant ranks n of p^(n-1) * g(n)/gmax``, where gmax is the largest gain of the
    scale. In [0, 1); only an infinite list of the best documents would reach 1. ``norm='ideal'`` divides by
    the score of the ideal list at the same cutoff (nRBP in NTCIREVAL). RBP of ir-measures is for binary
    relevance.

    With ``residual=True``, which needs norm='all' and the default of ties and ranks, each metric of
    ``ir_measures.iter_calc`` has a field ``residual``: ``(1-p) * sum over unjudged ranks n of p^(n-1) + p^d -
    p^k``, where d is the number of documents retrieved (at most k) and k is the cutoff (without one, p^k is
    0). It is how much judging every document could raise the score. Levels below 0 count as unjudged.

    Formula:
        \mathrm{gRBP} = (1 - p) \sum_{n \in \mathcal{N}} p^{n-1} \frac{g(n)}{g_{\max}}
        \text{residual} = (1 - p) \sum_{n \text{ unjudged}} p^{n-1} + p^{d} - p^{k}

    Use it for scores that need neither the number of relevant documents nor an ideal list; see
    docs/guide/unjudged.rst for ``residual``. Topics with few relevant documents have low scores for
    all runs; to compare topics, use ``nERR`` or ``Q``.

    Users read on to the next rank with a fixed probability. Binary counterpart: RBP.

    Source: [moffat2008rank].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 3}}, {"1": {"a": 3.0, "x": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.gRBP(p=0.5)], qrels, run)  # 1/2 * (1/3 + 1/4)
        {gRBP(p=0.5): 0.291666...}
        >>> measure = ir_graded.gRBP(p=0.5, residual=True)
        >>> [metric.residual for metric in ir_measures.iter_calc([measure], qrels, run)]  # 1/4 + 1/8
        [0.375]

    Lacks ideal:
        >>> measure, qrels, run = ir_graded.gRBP(p=0.5), {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        0.5
    """

    NAME = "gRBP"
    PRETTY_NAME = "Graded Rank-Biased Precision"
    MONOTONE = True
    LACKS = {"ideal": "the user may go on below the last relevant document"}
    SUPPORTED_PARAMS = {
        **ScaledMeasure.SUPPORTED_PARAMS,
        "p": Number("persistence: probability of going on to the next rank", default=0.95, above=0, below=1),
        "norm": IDEAL_NORM,
        "residual": _RESIDUAL,
    }

    @property
    def lowest_level(self) -> float:
        return 0.0 if self["residual"] else super().lowest_level

    @property
    def infers_scale(self) -> bool:
        # Divided by the ideal list, the largest gain cancels out.
        return super().infers_scale and not self.over_ideal

    def check_combination(self, params: Mapping[str, Any]) -> None:
        for name in ("ties", "ranks", "norm"):
            default = self.SUPPORTED_PARAMS[name].default
            if params.get("residual") and params.get(name, default) != default:
                raise ParameterError(f"{self.NAME}: residual=True needs {name}={default!r}")

    def weight(self, n: Ints) -> Floats:
        # Divided by the ideal list, the factor 1 - p cancels out.
        share = 1.0 if self.over_ideal else 1.0 - self["p"]
        return np.asarray(share * self["p"] ** (n - 1.0))

    def utility(self, view: View) -> Floats:
        if self.over_ideal:
            return super().utility(view)
        gain = self.graded(view).g
        return safe_divide(gain, np.full(gain.shape, self.gmax(view.levels, view.topic)))

    def residual(self, views: Views) -> Floats | None:
        if not self["residual"]:
            return None
        judged = views[Cut(0.0, self.cut.judged_only, self.cut.cutoff)]
        p, n = self["p"], judged.n
        # The ranks between two judged documents weigh p^upper - p^(lower-1), which is 0 if they are adjacent.
        upper = np.where(judged.C == 1, 0, np.roll(n, 1))
        between = judged.sum_by_topic(p ** upper.astype(np.float64) - p ** (n - 1.0))
        last = np.zeros(judged.levels.topics, dtype=np.int64)
        np.maximum.at(last, judged.topic, n)
        return between + self.below(last)

    def below(self, last: Ints) -> Floats:
        weight: Floats = self["p"] ** last.astype(np.float64)
        cutoff = self.optional("cutoff")
        return weight if cutoff is None else np.maximum(weight - self["p"] ** float(cutoff), 0.0)


class _nDCG_JK(_WeightedGain):
    r"""Gains discounted by log_b of the rank from rank b on, divided by those of the ideal list.

    ``nDCG-JK = sum over relevant ranks n of g(n)/D(n)``, divided by this sum for the ideal list at the
    cutoff; ``D(n) = 1`` for n <= b, else ``log_b(n)``. In [0, 1].

    Formula:
        \text{nDCG-JK} = \frac{\sum_{n \in \mathcal{N}} g(n) / D(n)}{\text{the same of the ideal list}}
        D(n) = \max(1, \log_{b} n)

    Use it to compare with results from before nDCG with log2(n + 1) became common. Use nDCG of ir-measures
    otherwise: down to rank b, the order makes no difference here.

    Users read on, but after rank ``b`` (a parameter) each rank is worth less, as in the original nDCG.

    Drawn: nDCG-JK nDCG-JK(b=10)

    Source: [jarvelin2002cumulated].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 3}}, {"1": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.nDCG_JK @ 10], qrels, run)  # (1 + 3/2) / (3 + 1)
        {nDCG-JK@10: 0.625}

    Lacks truncation:
        >>> measure, qrels = ir_graded.nDCG_JK @ 1, {"1": {"a": 1, "b": 1}}
        >>> run, changed = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2.0}}
        >>> measure.calc_aggregate(qrels, run), ir_graded.nDCG_JK.calc_aggregate(qrels, changed)
        (1.0, 0.5)
    """

    NAME = "nDCG-JK"
    PRETTY_NAME = "Original Normalised Discounted Cumulative Gain"
    LACKS = {"truncation": WHY_NO_TRUNCATION}
    SUPPORTED_PARAMS = {**COMMON, "b": _BASE, "gains": GAINS}
    over_ideal = True

    def weight(self, n: Ints) -> Floats:
        return np.asarray(1.0 / np.maximum(np.log(n) / np.log(self["b"]), 1.0))


class _DCG(_WeightedGain):
    r"""The gains of the ranked documents, discounted by the logarithm of their ranks and not normalised.

    ``DCG = sum over ranks n of gain(n) / log2(n + 1)``, the dividend of nDCG. The gain of a document is its
    level or its entry in ``gains`` (dcg='log2'), or 2^level - 1 (dcg='exp-log2', which takes no gains), and 0
    for levels of 0 and below. In [0, inf).

    Formula:
        \mathrm{DCG} = \sum_{n} \frac{\mathrm{gain}(n)}{\log_{2}(n + 1)}

    Use it to compare with results that were not normalised, or for the gain that users get rather than its
    share of what they could get. Topics with many relevant documents dominate its mean; nDCG of ir-measures
    divides by DCG of the ideal list.

    Source: [jarvelin2002cumulated]; [burges2005learning], for the exponential gain.

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 3}}, {"1": {"a": 3.0, "x": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.DCG @ 10], qrels, run)  # 1 + 3/2
        {DCG@10: 2.5}
        >>> ir_measures.calc_aggregate([ir_graded.DCG(dcg="exp-log2") @ 10], qrels, run)  # 1 + 7/2
        {DCG(dcg='exp-log2')@10: 4.5}

    Lacks ideal:
        >>> measure, qrels, run = ir_graded.DCG @ 10, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        1.0
    """

    NAME = "DCG"
    PRETTY_NAME = "Discounted Cumulative Gain"
    RANGE = (0.0, math.inf)
    LACKS = {"ideal": "the highest score depends on the relevant documents of the topic"}
    SUPPORTED_PARAMS = {
        **{name: param for name, param in COMMON.items() if name != "rel"},
        "dcg": Choice(
            "gain of a level: the level ('log2') or 2^level - 1 ('exp-log2')",
            ("log2", "exp-log2"),
            default="log2",
        ),
        "gains": GAINS,
    }
    over_ideal = False

    @property
    def _exponential(self) -> bool:
        return bool(self["dcg"] == "exp-log2")

    @property
    def cut(self) -> Cut:
        return replace(super().cut, rel=ABOVE_0)

    @property
    def highest_level(self) -> float:
        return HIGHEST_EXPONENT if self._exponential else super().highest_level

    def check_combination(self, params: Mapping[str, Any]) -> None:
        if params.get("gains") and "dcg" in params:
            raise ParameterError(
                f"{self.NAME} with dcg='exp-log2' takes no gains (given gains={params['gains']!r}): give all "
                "gains without dcg"
            )

    def grades(self, levels: Levels) -> Grades:
        grades = super().grades(levels)
        return replace(grades, gain=exponential_gain(grades.gain)) if self._exponential else grades

    def weight(self, n: Ints) -> Floats:
        return np.asarray(1.0 / np.log2(n + 1.0))

    def utility(self, view: View) -> Floats:
        gain = super().utility(view)
        return exponential_gain(gain) if self._exponential else gain

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {"gain": self.utility(view), "discount": self.weight(view.n)}


gRBP = register(_gRBP())
DCG = register(_DCG())
nDCG_JK = register(_nDCG_JK())
