"""Measures at one rank: R-measure and R-WP at rank R, nCG and BR at the cutoff."""

from __future__ import annotations

import numpy as np

from ir_graded.core.segments import Floats, Ints
from ir_graded.core.views import View, Views

from .base import COMMON, BlendedRatioMeasure, register
from .contributions import Contributions, TiedContributions
from .params import BETA, GAINS, REQUIRED_CUTOFF
from .stopping import safe_divide


class AtRankMeasure(BlendedRatioMeasure):
    """A blended ratio at one rank of each topic."""

    def rank(self, view: View) -> Ints:
        """Return the rank that the measure uses in each topic, shape ``(topics,)``; 0 where there is none."""
        raise NotImplementedError  # pragma: no cover

    def score(self, views: Views) -> Floats:
        view = views[self.cut]
        # Without relevant documents there is no rank R, and the ratio is 0 at any rank.
        rank = np.maximum(self.rank(view), 1)
        ratio = self.graded(view).BR_at(rank, self.beta)
        # Rounding can put a perfect list one ulp above 1.
        return np.minimum(ratio, 1.0)

    def contributions(self, views: Views) -> Contributions:
        """Divide the blended ratio among the documents down to that rank by their share of its numerator."""
        view = views[self.cut]
        above = view.n <= self.rank(view)[view.topic]
        part = np.where(above, self.graded(view).blended_gain(self.beta), 0.0)
        # With beta=inf and no gain in the ideal list, the ratio is C/n: all documents count equally.
        part = np.where((view.sum_by_topic(part) == 0)[view.topic], above, part)
        whole = view.sum_by_topic(part)
        return Contributions(view, safe_divide(part, whole[view.topic]) * self.score(views)[view.topic])

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        rank = np.maximum(self.rank(tied.view), 1)
        return TiedContributions(tied, tied.at_rank(rank, self.graded(tied.view).mean_utility(self.beta)))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {**self.gain_columns(view), "BR": self.graded(view).BR(self.beta)}


class _AtR(AtRankMeasure):
    """A blended ratio at rank R, the number of relevant documents of the topic."""

    def rank(self, view: View) -> Ints:
        return view.R


class _AtCutoff(AtRankMeasure):
    """A blended ratio at the cutoff, which is required."""

    def rank(self, view: View) -> Ints:
        return np.full(view.levels.topics, self["cutoff"], dtype=np.int64)


class _R_measure(_AtR):
    """R-measure: the blended ratio at rank R.

    ``R-measure = BR(R)``, where R is the number of relevant documents of the topic. In [0, 1]; beta=0 is
    R-precision. With a cutoff, the run is cut at that rank first.

    Parameters: beta, gains, cutoff, rel, judged_only, ties.

    Source: Sakai, "Ranking the NTCIR Systems based on Multigrade Relevance" (AIRS 2004).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.R_measure], qrels, run)
        {R-measure: 0.5}
    """

    NAME = "R-measure"
    PRETTY_NAME = "R-measure"
    SHORT_DESC = "R-precision for graded relevance: the blended ratio at rank R."
    SOURCE = "Sakai 2004"
    SUPPORTED_PARAMS = {**COMMON, "beta": BETA, "gains": GAINS}


class _R_WP(_AtR):
    """R-weighted precision: normalised cumulative gain at rank R.

    ``R-WP = cg(R) / cg*(R)``. In [0, 1].

    Parameters: gains, cutoff, rel, judged_only, ties.

    Source: Kando, Kuriyama and Yoshioka, "Information Retrieval System Evaluation using
    Multi-Grade Relevance Judgments" (IPSJ SIG Notes, 2001).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 3, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.R_WP], qrels, run)
        {R-WP: 0.75}
    """

    NAME = "R-WP"
    PRETTY_NAME = "R-Weighted Precision"
    SHORT_DESC = "Cumulative gain over ideal cumulative gain at rank R."
    SOURCE = "Kando et al. 2001"
    SUPPORTED_PARAMS = {**COMMON, "gains": GAINS}


class _nCG(_AtCutoff):
    """Normalised cumulative gain at a rank, without discount.

    ``nCG@k = cg(k) / cg*(k)``; if the run is shorter than k, cg keeps its last value. In [0, 1].

    Parameters: cutoff (required), gains, rel, judged_only, ties.

    Source: Jarvelin and Kekalainen, "Cumulated Gain-Based Evaluation of IR Techniques" (ACM TOIS, 2002).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 3, "b": 1}}, {"1": {"b": 2.0, "x": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.nCG@2], qrels, run)
        {nCG@2: 0.25}
    """

    NAME = "nCG"
    PRETTY_NAME = "Normalised Cumulative Gain"
    SHORT_DESC = "Cumulative gain over ideal cumulative gain at the cutoff."
    SOURCE = "Jarvelin and Kekalainen 2002"
    SUPPORTED_PARAMS = {**COMMON, "cutoff": REQUIRED_CUTOFF, "gains": GAINS}


class _BR(_AtCutoff):
    """Blended ratio at a rank.

    ``BR@k = (C(k) + beta cg(k)) / (k + beta cg*(k))``; if the run is shorter than k, C and cg keep their
    last values. In [0, 1]; beta=0 is precision, beta=inf is nCG.

    Parameters: cutoff (required), beta, gains, rel, judged_only, ties.

    Source: Sakai, "New Performance Metrics based on Multigrade Relevance" (NTCIR-4, 2004).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.BR@2], qrels, run)
        {BR@2: 0.5}

    Lacks ideal:
        >>> measure, qrels, run = ir_graded.BR @ 2, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)  # 2/3
        0.666666...
    """

    NAME = "BR"
    PRETTY_NAME = "Blended Ratio"
    SHORT_DESC = "The blend of precision and normalised cumulative gain at the cutoff."
    SOURCE = "Sakai 2004"
    LACKS = {"ideal": "below rank R the ideal list has no documents, and its precision falls"}
    SUPPORTED_PARAMS = {**COMMON, "cutoff": REQUIRED_CUTOFF, "beta": BETA, "gains": GAINS}


R_measure = _R_measure()
register(R_measure, "R_measure")
R_WP = _R_WP()
register(R_WP, "R_WP")
nCG = _nCG()
register(nCG)
BR = _BR()
register(BR)
