"""Q-measure and AWP: the uniform stop with the blended ratio, and with its limit nCG."""

from __future__ import annotations

from ir_graded.core.segments import Floats
from ir_graded.core.tie_means import TiedDocuments, Utility
from ir_graded.core.views import View

from .base import COMMON, BlendedUtility, register
from .params import BETA, GAINS, NORM
from .stopping import uniform

#: Reason why a mean of ratios over ranks lacks the property 'exchange'.
WHY_NO_EXCHANGE = (
    "the better document may move from a rank with a high ratio to one with a low ratio, where little gain "
    "has accumulated"
)


class _UniformStop(BlendedUtility):
    """A measure whose users are equally likely to stop at each relevant document."""

    def stop(self, view: View) -> Floats:
        return uniform(view, self["norm"])

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.weighted(self.stop(tied.view), utility)


class _Q(_UniformStop):
    """Q-measure: average precision with the blended ratio in place of precision.

    ``Q = 1/R * sum over relevant ranks n of BR(n)`` with
    ``BR(n) = (C(n) + beta cg(n)) / (n + beta cg*(n))``. In [0, 1]; beta=0 is AP.

    Parameters: beta, gains, norm, cutoff, rel, judged_only, ties.

    Source: Sakai, "New Performance Metrics based on Multigrade Relevance" (NTCIR-4, 2004).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 3.0, "x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.Q], qrels, run)
        {Q: 0.75}

    Lacks exchange:
        >>> measure, qrels = ir_graded.Q, {"1": {"a": 100, "b": 1}}
        >>> run, changed = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"1": {"b": 3.0, "a": 2.0, "x": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.985483..., 0.509900...]
    """

    NAME = "Q"
    PRETTY_NAME = "Q-measure"
    SHORT_DESC = (
        "AP for graded relevance: the mean over the relevant documents of the blended ratio at their ranks."
    )
    SOURCE = "Sakai 2004"
    LACKS = {"exchange": WHY_NO_EXCHANGE}
    SUPPORTED_PARAMS = {**COMMON, "beta": BETA, "gains": GAINS, "norm": NORM}


class _AWP(_UniformStop):
    """Average weighted precision: average precision with cg/cg* in place of precision.

    ``AWP = 1/R * sum over relevant ranks n of cg(n) / cg*(n)``; this is Q with beta=inf. In [0, 1]. AWP
    ignores how far below rank R a relevant document is; Q does not.

    Parameters: gains, norm, cutoff, rel, judged_only, ties.

    Source: Kando, Kuriyama and Yoshioka, "Information Retrieval System Evaluation using
    Multi-Grade Relevance Judgments" (IPSJ SIG Notes, 2001).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 3.0, "x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.AWP], qrels, run)
        {AWP: 0.75}

    Lacks exchange:
        >>> measure, qrels = ir_graded.AWP, {"1": {"a": 100, "b": 1}}
        >>> run, changed = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"1": {"b": 3.0, "a": 2.0, "x": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.995049..., 0.505]
    """

    NAME = "AWP"
    PRETTY_NAME = "Average Weighted Precision"
    SHORT_DESC = (
        "The mean over the relevant documents of cumulative gain over ideal cumulative gain at their ranks."
    )
    SOURCE = "Kando et al. 2001"
    LACKS = {"exchange": WHY_NO_EXCHANGE}
    SUPPORTED_PARAMS = {**COMMON, "gains": GAINS, "norm": NORM}


Q = _Q()
register(Q, "Q-measure", "Q_measure")
AWP = _AWP()
register(AWP)
