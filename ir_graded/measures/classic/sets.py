"""Classics of sets: Judged, NumRet, NumRel, NumQ, SetP, SetR, SetF and SetAP."""

from __future__ import annotations

import math

import ir_measures
import numpy as np

from ir_graded.core import segments
from ir_graded.core.segments import Bools, Floats
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError
from ir_graded.measures.base import Contributions
from ir_graded.measures.stopping import safe_divide

from .base import Classic, LinearClassic, num_rel, num_rel_ret, register

# Python prints other betas with an exponent, which trec_eval cannot read.
_BETA_FROM, _BETA_BELOW = 1e-4, 1e16
#: Range of measures that are counts.
COUNT_RANGE = (0.0, math.inf)


def is_evaluated(views: Views) -> Bools:
    """Return whether each topic has documents in the run and in the qrels; trec_eval omits the others."""
    levels = views.levels
    return (views.hits.n_retrieved > 0) & (segments.count(levels.topic, levels.topics) > 0)


@register(ir_measures.Judged)
class JudgmentRate(LinearClassic):
    """Judgment rate: the share of judged documents among the first k, or among all.

    ``Judged@k = judged among the first k / min(k, retrieved)``. Documents with any level are judged, even a
    negative one.

    Parameters: cutoff, as in the provider of ir-measures.

    Source: MacAvaney, OpenNIR (WSDM 2020), from which ir-measures took it.

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.Judged, {"1": {"a": 0}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {Judged: 1.0}
    """

    LACKS = {"nothing": "all judged documents count, relevant or not"}
    NORM = "the documents looked at"
    lowest_rel = np.inf
    lowest_level = -np.inf

    @property
    def cut(self) -> Cut:
        return Cut(-np.inf, cutoff=self["cutoff"])

    def norm(self, view: View) -> Floats:
        retrieved = view.hits.n_retrieved.astype(np.float64)
        return np.minimum(retrieved, self["cutoff"]) if self["cutoff"] else retrieved


@register(ir_measures.NumRet)
class NumRetrieved(Classic):
    """Number of documents retrieved, or of those with level >= rel. Summed over topics.

    Parameters: rel, as in trec_eval's num_ret and num_rel_ret.

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NumRet, {"1": {"a": 1}}, {"1": {"x": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NumRet: 1.0}
    """

    RANKED = False
    RANGE = COUNT_RANGE
    LACKS = {"nothing": "without rel all retrieved documents count, relevant or not"}
    MONOTONE = True

    @property
    def higher_is_better(self) -> bool:
        return self["rel"] is not None

    @property
    def lowest_rel(self) -> float:
        return np.inf if self["rel"] is None else super().lowest_rel

    @property
    def is_monotone(self) -> bool:
        return super().is_monotone and self["rel"] is not None

    def score(self, views: Views) -> Floats:
        if self["rel"] is not None:
            return num_rel_ret(views[self.cut])
        return np.where(is_evaluated(views), views.hits.n_retrieved, 0.0)

    def contributions(self, views: Views) -> Contributions:
        if self["rel"] is None:
            raise ParameterError(
                "NumRet counts all documents retrieved, including unjudged ones, which cannot be explained; "
                "use NumRet(rel=1) to count relevant documents"
            )
        return Contributions(views[self.cut])


@register(ir_measures.NumRel)
class NumRelevant(Classic):
    """Number of documents with level >= 1 in the qrels of the topics in the run. Summed over topics.

    Parameters: rel; ir-measures supports rel=1 only.

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NumRel, {"1": {"a": 1}}, {"1": {"x": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NumRel: 1.0}
    """

    RANKED = False
    RANGE = COUNT_RANGE
    LACKS = {"nothing": "all relevant documents count, retrieved or not"}
    higher_is_better = False
    lowest_level = np.inf

    def is_defined(self) -> bool:
        return super().is_defined() and self["rel"] == 1

    def score(self, views: Views) -> Floats:
        return np.where(is_evaluated(views), views[self.cut].R, 0.0)

    def contributions(self, views: Views) -> Contributions:  # noqa: ARG002  # there is nothing to see
        raise ParameterError(
            "NumRel counts the relevant documents of the qrels, retrieved or not, so the ranking has no "
            "effect; use NumRet(rel=1) to count those retrieved"
        )


@register(ir_measures.NumQ)
class NumTopics(Classic):
    """Number of topics: 1 for each topic of the qrels that is in the run. Summed over topics.

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NumQ, {"1": {"a": 1}}, {"1": {"x": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NumQ: 1.0}
    """

    RANKED = False
    LACKS = {"nothing": "every topic counts, whatever was retrieved"}
    higher_is_better = False
    lowest_rel = np.inf

    def score(self, views: Views) -> Floats:
        return is_evaluated(views).astype(np.float64)

    def contributions(self, views: Views) -> Contributions:  # noqa: ARG002  # there is nothing to see
        raise ParameterError("NumQ counts topics; documents do not contribute to it")


class SetMeasure(Classic):
    """Base class of measures of the set of retrieved documents."""

    RANKED = False

    def num_ret(self, views: Views) -> Floats:
        """Return the number of documents retrieved; with ``judged_only``, of those with a level >= 0."""
        if self["judged_only"]:
            return num_rel_ret(views[Cut(rel=0.0)])
        return views.hits.n_retrieved.astype(np.float64)


@register(ir_measures.SetP)
class SetPrecision(SetMeasure):
    """Precision of the set of retrieved documents.

    ``SetP = found / retrieved``. With relative=True it is relative to the best set of that size:
    ``found / min(retrieved, R)``.

    Parameters: rel, relative, judged_only, as in trec_eval's set_P and set_relative_P.

    Source: trec_eval (Buckley, 1992), formerly exact_prec.
    """

    MONOTONE = True

    @property
    def is_monotone(self) -> bool:
        return super().is_monotone and not self["relative"]

    def contributions(self, views: Views) -> Contributions:
        view, size = views[self.cut], self.num_ret(views)
        if self["relative"]:
            best = np.minimum(size, num_rel(view))
            return Contributions(view, None, best, "the relevant documents that a set of this size can hold")
        return Contributions(view, None, size, "the documents retrieved")


@register(ir_measures.SetR)
class SetRecall(LinearClassic):
    """Recall of the set of retrieved documents.

    ``SetR = found / R``.

    Parameters: rel, as in trec_eval's set_recall.

    Source: trec_eval (Buckley, 1992), formerly exact_recall.
    """

    RANKED = False


@register(ir_measures.SetF)
class SetFMeasure(SetMeasure):
    """F-measure of the set of retrieved documents.

    ``SetF = (beta + 1) P R / (beta P + R) = (beta + 1) found / (beta R# + retrieved)``, where R# is the
    number of relevant documents. Beta weights recall against precision and is not squared, as in trec_eval's
    set_F.

    Parameters: beta (0, or from 0.0001 to below 1e16: trec_eval misreads other values), rel, judged_only.

    Source: van Rijsbergen, "Information Retrieval" (1979), as in trec_eval.
    """

    def is_defined(self) -> bool:
        return super().is_defined() and (self["beta"] == 0 or _BETA_FROM <= self["beta"] < _BETA_BELOW)

    def score(self, views: Views) -> Floats:
        view, beta = views[self.cut], self["beta"]
        return safe_divide((beta + 1.0) * num_rel_ret(view), beta * num_rel(view) + self.num_ret(views))

    def contributions(self, views: Views) -> Contributions:
        view, beta = views[self.cut], self["beta"]
        size = beta * num_rel(view) + self.num_ret(views)
        return Contributions(view, None, size / (beta + 1.0), "(beta R + retrieved) / (beta + 1)")


@register(ir_measures.SetAP)
class SetAveragePrecision(SetMeasure):
    """Precision times recall of the set of retrieved documents.

    ``SetAP = found^2 / (retrieved * R)``.

    Parameters: rel, judged_only, as in trec_eval's set_map.

    Source: trec_eval (Buckley, 1992), formerly exact_unranked_avg_prec.
    """

    def score(self, views: Views) -> Floats:
        view = views[self.cut]
        return safe_divide(num_rel_ret(view) ** 2, self.num_ret(views) * num_rel(view))

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        divisor = safe_divide(self.num_ret(views) * num_rel(view), num_rel_ret(view))
        return Contributions(view, None, divisor, "retrieved * R / found")
