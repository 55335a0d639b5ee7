"""Measures of the blended ratio: at all relevant documents (Q, AWP), down to one (O, P, P+), at one rank.

Also of counts and ranks of relevant documents alone: RelP, F, FirstRank.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import SEEN, TiedDocuments, Utility, by_rank
from ir_graded.core.views import View, Views, f_weights

from .base import (
    COMMON,
    BlendedRatioMeasure,
    BlendedUtility,
    Contributions,
    GradedMeasure,
    TiedContributions,
    first,
    register,
    safe_divide,
    uniform,
)
from .params import BETA, F_BETA, GAINS, NORM, REQUIRED_CUTOFF

__all__ = ["AWP", "BR", "R_WP", "F", "FirstRank", "O", "P_measure", "P_plus", "Q", "R_measure", "RelP", "nCG"]
__all__ += ["O_measure", "Q_measure"]  # named as P_measure


#: Reason why a mean of ratios over ranks lacks the property 'exchange'.
WHY_NO_EXCHANGE = (
    "the better document may move from a rank with a high ratio to one with a low ratio, where little gain "
    "has accumulated"
)


class _Q(BlendedUtility):
    r"""AP for graded relevance: the mean over the relevant documents of the blended ratio at their ranks.

    ``Q = 1/R * sum over relevant ranks n of BR(n)`` with
    ``BR(n) = (C(n) + beta cg(n)) / (n + beta cg*(n))``. In [0, 1]; beta=0 is AP.

    Formula:
        Q = \frac{1}{R} \sum_{n \in \mathcal{N}} \mathrm{BR}(n)

    Use it if all relevant documents matter and better ones matter more: it is AP with levels, and told more
    pairs of systems apart than AP in our measurements (docs/guide/which_measure.rst). ``norm='cutoff'`` gives
    the Q@k of NTCIREVAL.

    Users want all relevant documents, and value highly relevant ones more. Binary counterpart: AP.

    Source: [sakai2004new].

    Example:
        >>> import ir_graded, ir_measures
        >>> measure, qrels = ir_graded.Q, {"1": {"a": 2, "b": 1}}
        >>> ir_measures.calc_aggregate([measure], qrels, {"1": {"b": 3.0, "x": 2.0, "a": 1.0}})
        {Q: 0.75}

    Lacks exchange:
        >>> qrels = {"1": {"a": 100, "b": 1}}
        >>> run, changed = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"1": {"b": 3.0, "a": 2.0, "x": 1.0}}
        >>> measure.calc_aggregate(qrels, changed) < measure.calc_aggregate(qrels, run)
        True
    """

    NAME = "Q"
    PRETTY_NAME = "Q-measure"
    LACKS = {"exchange": WHY_NO_EXCHANGE}
    SUPPORTED_PARAMS = {**COMMON, "beta": BETA, "gains": GAINS, "norm": NORM}

    def stop(self, view: View) -> Floats:
        return uniform(view, self["norm"])

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.weighted(self.stop(tied.view), utility)


class _AWP(_Q):
    r"""The mean over the relevant documents of cumulative gain over ideal cumulative gain at their ranks.

    ``AWP = 1/R * sum over relevant ranks n of cg(n) / cg*(n)``; this is Q with beta=inf. In [0, 1].

    Formula:
        \mathrm{AWP} = \frac{1}{R} \sum_{n \in \mathcal{N}} \frac{\mathrm{cg}(n)}{\mathrm{cg}^{*}(n)}

    Use it to compare with results of early NTCIR workshops, and ``Q`` otherwise: below rank R, a relevant
    document adds as much at any rank.

    Source: [kando2001information].

    Example:
        >>> import ir_graded, ir_measures
        >>> measure, qrels = ir_graded.AWP, {"1": {"a": 2, "b": 1}}
        >>> ir_measures.calc_aggregate([measure], qrels, {"1": {"b": 3.0, "x": 2.0, "a": 1.0}})
        {AWP: 0.75}
    """

    NAME = "AWP"
    PRETTY_NAME = "Average Weighted Precision"
    SUPPORTED_PARAMS = {**COMMON, "gains": GAINS, "norm": NORM}


Q = Q_measure = register(_Q(), "Q-measure", "Q_measure")
AWP = register(_AWP())


#: Reason why a measure that uses the preferred rank lacks the property 'swap'.
WHY_NO_SWAP = (
    "the preferred rank moves up with the best document, and relevant documents that were above it no longer "
    "count"
)


class _O(BlendedUtility):
    r"""RR for graded relevance: the blended ratio at the first relevant document.

    ``O = BR(n1)``, n1 the rank of the first relevant document retrieved; 0 without one. In [0, 1];
    beta=0 is RR.

    Formula:
        \text{O-measure} = \mathrm{BR}(n_{1})

    Use it if the user stops at the first relevant document of any level and gains more from a better one, as
    in known-item search and question answering. ``P-measure`` waits for the best document retrieved.

    Users stop at the first relevant document. Binary counterpart: RR.

    Drawn: second run.

    Source: [sakai2006task].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 3, "b": 1}}, {"1": {"b": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.O], qrels, run)
        {O-measure: 0.5}

    Lacks exchange:
        >>> measure, qrels = ir_graded.O, {"1": {"a": 3, "b": 1}}
        >>> run, changed = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"1": {"b": 3.0, "a": 2.0, "x": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.666666..., 0.5]
    """

    NAME = "O-measure"
    PRETTY_NAME = "O-measure"
    LACKS = {
        "exchange": "a document that moves above the first relevant one replaces it, even if its gain is "
        "smaller"
    }
    SUPPORTED_PARAMS = {**COMMON, "beta": BETA, "gains": GAINS}

    def stop(self, view: View) -> Floats:
        return first(view)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.first(utility)


class _P_measure(BlendedUtility):
    r"""The blended ratio at the preferred rank: the rank of the first of the best documents retrieved.

    ``P-measure = BR(rp)``; the preferred rank rp is the first rank with a document of the highest level
    retrieved within the cutoff. In [0, 1]; 0 if nothing relevant is retrieved.

    Formula:
        \text{P-measure} = \mathrm{BR}(r_{p})

    Use it if one highly relevant document is enough and the user reads on until it is found. For a run
    without documents of the best level, rp is the rank of its best document. The measure depends on one rank
    per topic and tells fewer pairs of systems apart than ``Q`` (docs/guide/which_measure.rst).

    Users need one highly relevant document.

    Drawn: second run.

    Source: [sakai2006give].

    Example:
        >>> import ir_graded, ir_measures
        >>> measure, qrels = ir_graded.P_measure, {"1": {"s": 3, "a": 2, "b": 1}}
        >>> ir_measures.calc_aggregate([measure], qrels, {"1": {"b": 2.0, "s": 1.0}})  # 6/7
        {P-measure: 0.857142...}

    Lacks swap:
        >>> qrels = {"1": {"t": 10, "s": 2, "b": 1}}
        >>> run, changed = {"1": {"x": 3.0, "b": 2.0, "s": 1.0}}, {"1": {"x": 3.0, "s": 2.0, "b": 1.0}}
        >>> measure.calc_aggregate(qrels, changed) < measure.calc_aggregate(qrels, run)
        True
    """

    NAME = "P-measure"
    PRETTY_NAME = "P-measure"
    LACKS = {"swap": WHY_NO_SWAP}
    SUPPORTED_PARAMS = {**COMMON, "beta": BETA, "gains": GAINS}

    def stop(self, view: View) -> Floats:
        return np.asarray(view.n == view.rp[view.topic], dtype=np.float64)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.preferred(tied.view.level_index, utility)


class _P_plus(_P_measure):
    r"""The mean blended ratio over the relevant documents down to the preferred rank.

    ``P+ = 1/C(rp) * sum over relevant ranks n <= rp of BR(n)``; rp as for P-measure. In [0, 1].

    Formula:
        \text{P+} = \frac{1}{C(r_{p})} \sum_{n \in \mathcal{N},\, n \le r_{p}} \mathrm{BR}(n)

    Use it like ``P-measure`` if the relevant documents above the best one should also count.

    Users need one highly relevant document.

    Drawn: second run.

    Source: [sakai2006bootstrap].

    Example:
        >>> import ir_graded, ir_measures
        >>> measure, qrels = ir_graded.P_plus, {"1": {"s": 3, "a": 2, "b": 1}}
        >>> ir_measures.calc_aggregate([measure], qrels, {"1": {"b": 3.0, "a": 2.0, "s": 1.0}})
        {P+: 0.738095...}
    """

    NAME = "P+"
    PRETTY_NAME = "P-plus"

    def stop(self, view: View) -> Floats:
        seen = view.n <= view.rp[view.topic]
        C_rp = np.bincount(view.topic[seen], minlength=view.levels.topics)
        return np.where(seen, 1.0 / C_rp[view.topic], 0.0)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.up_to_preferred(tied.view.level_index, utility)


O = O_measure = register(_O(), "O")  # the measure's name in the papers
P_measure = register(_P_measure())
P_plus = register(_P_plus(), "P-plus", "Pplus")


class AtRankMeasure(BlendedRatioMeasure):
    """A blended ratio at one rank of each topic: a required cutoff, else rank R."""

    def rank(self, view: View) -> Ints:
        """Return the rank that the measure uses in each topic, at least 1, shape ``(topics,)``."""
        if self.SUPPORTED_PARAMS["cutoff"] is REQUIRED_CUTOFF:
            return np.full(view.levels.topics, self["cutoff"], dtype=np.int64)
        # Without relevant documents there is no rank R, and the ratio is 0 at any rank.
        return np.maximum(view.R, 1)

    def score(self, views: Views) -> Floats:
        view = views[self.cut]
        ratio = self.graded(view).BR_at(self.rank(view), self.beta)
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
        utility = self.graded(tied.view).mean_utility(self.beta)
        return TiedContributions(tied, tied.at_rank(self.rank(tied.view), utility))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {**self.gain_columns(view), "BR": self.graded(view).BR(self.beta)}


class _R_measure(AtRankMeasure):
    r"""R-precision for graded relevance: the blended ratio at rank R.

    ``R-measure = BR(R)``, where R is the number of relevant documents of the topic. In [0, 1]; beta=0 is
    R-precision. With a cutoff, the run is cut at that rank first.

    Formula:
        \text{R-measure} = \mathrm{BR}(R)

    Use it as R-precision with levels, for topics of any size. The order down to rank R has no effect.

    Source: [sakai2004ranking].

    Example:
        >>> import ir_graded
        >>> ir_graded.R_measure.calc_aggregate({"1": {"a": 1, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}})
        0.5
    """

    NAME = "R-measure"
    PRETTY_NAME = "R-measure"
    SUPPORTED_PARAMS = {**COMMON, "beta": BETA, "gains": GAINS}


class _R_WP(AtRankMeasure):
    r"""Cumulative gain over ideal cumulative gain at rank R.

    ``R-WP = cg(R) / cg*(R)``. In [0, 1].

    Formula:
        \text{R-WP} = \frac{\mathrm{cg}(R)}{\mathrm{cg}^{*}(R)}

    Use it for topics of any size. It ignores the order down to rank R and everything below.

    Source: [kando2001information].

    Example:
        >>> import ir_graded
        >>> ir_graded.R_WP.calc_aggregate({"1": {"a": 3, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}})
        0.75
    """

    NAME = "R-WP"
    PRETTY_NAME = "R-Weighted Precision"
    SUPPORTED_PARAMS = {**COMMON, "gains": GAINS}


class _nCG(AtRankMeasure):
    r"""Cumulative gain over ideal cumulative gain at the cutoff.

    ``nCG@k = cg(k) / cg*(k)``; if the run is shorter than k, cg keeps its last value. In [0, 1].

    Formula:
        \mathrm{nCG@}k = \frac{\mathrm{cg}(k)}{\mathrm{cg}^{*}(k)}

    Use it for the sum of gains in the first k ranks. If their order matters, use nDCG@k or ``Q``.

    Users read one page of k results. Binary counterpart: P@k.

    Source: [jarvelin2002cumulated].

    Example:
        >>> import ir_graded
        >>> (ir_graded.nCG @ 2).calc_aggregate({"1": {"a": 3, "b": 1}}, {"1": {"b": 2.0, "x": 1.0}})
        0.25
    """

    NAME = "nCG"
    PRETTY_NAME = "Normalised Cumulative Gain"
    SUPPORTED_PARAMS = {**COMMON, "cutoff": REQUIRED_CUTOFF, "gains": GAINS}


class _BR(AtRankMeasure):
    r"""The blend of precision and normalised cumulative gain at the cutoff.

    ``BR@k = (C(k) + beta cg(k)) / (k + beta cg*(k))``; if the run is shorter than k, C and cg keep their
    last values. In [0, 1]; beta=0 is precision, beta=inf is nCG.

    Formula:
        \mathrm{BR@}k = \mathrm{BR}(k)

    Use it for one page of k results if both the number of relevant documents and their levels matter.

    Users read one page of k results. Binary counterpart: P@k.

    Source: [sakai2004new].

    Example:
        >>> import ir_graded
        >>> measure = ir_graded.BR @ 2
        >>> measure.calc_aggregate({"1": {"a": 1, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}})
        0.5

    Lacks ideal:
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)  # 2/3
        0.666666...
    """

    NAME = "BR"
    PRETTY_NAME = "Blended Ratio"
    LACKS = {"ideal": "below rank R the ideal list has no documents, and its precision falls"}
    SUPPORTED_PARAMS = {**COMMON, "cutoff": REQUIRED_CUTOFF, "beta": BETA, "gains": GAINS}


class CountAtRank(GradedMeasure):
    """The number of relevant documents down to the cutoff, divided by a number of each topic."""

    #: The divisor in words.
    NORM: ClassVar[str]

    def norm(self, view: View) -> Floats:
        """Return the divisor of each topic."""
        raise NotImplementedError  # pragma: no cover

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, None, self.norm(view), self.NORM)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        return TiedContributions(tied, tied.in_groups(tied.linear(SEEN)), self.norm(tied.view))


class _RelP(CountAtRank):
    r"""Precision at a rank, relative to the best list: the share of relevant documents that k ranks can hold.

    ``RelP@k = C(k) / min(k, R)``. In [0, 1]. It is trec_eval's relative_P and the capped recall of BEIR.

    Formula:
        \text{RelP@}k = \frac{C(k)}{\min(k, R)}

    Use it in place of R@k if topics may have more than k relevant documents, and in place of P@k if they may
    have fewer. It ignores levels and the order down to rank k.

    Users read one page of k results. Binary counterpart: P@k.

    Source: [buckley1992trec], as relative_P; [thakur2021beir], as capped recall.

    Example:
        >>> import ir_graded
        >>> (ir_graded.RelP @ 2).calc_aggregate({"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"a": 2.0, "x": 1.0}})
        0.5
    """

    NAME = "RelP"
    PRETTY_NAME = "Relative Precision"
    SUPPORTED_PARAMS = {**COMMON, "cutoff": REQUIRED_CUTOFF}
    NORM = "min(k, R)"

    def norm(self, view: View) -> Floats:
        return view.max_retrievable.astype(np.float64)


class _F(CountAtRank):
    r"""The weighted harmonic mean of precision and recall at a rank.

    ``F@k = (1 + beta^2) P R / (beta^2 P + R)`` with P = P@k and R = R@k, which is
    ``(1 + beta^2) C(k) / (beta^2 R + k)`` with R relevant documents. In [0, 1]; beta=0 is P@k, beta=inf R@k.

    Formula:
        F_{\beta}\text{@}k = \frac{(1 + \beta^{2})\, C(k)}{\beta^{2} R + k}

    Use it for one number for precision and recall of one page of k results. It ignores levels and the order
    down to rank k. SetF of ir-measures is for all documents retrieved, and its beta is not squared.

    Source: [vanrijsbergen1979information].

    Example:
        >>> import ir_graded
        >>> qrels, run = {"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"a": 2.0, "x": 1.0}}
        >>> (ir_graded.F @ 2).calc_aggregate(qrels, run)  # of P = 1/2 and R = 1/3
        0.4

    Lacks ideal:
        >>> measure, qrels, run = ir_graded.F @ 3, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        0.5
    """

    NAME = "F"
    PRETTY_NAME = "F-measure"
    LACKS = {"ideal": "precision is below 1 with fewer than k relevant documents, recall with more"}
    SUPPORTED_PARAMS = {**COMMON, "cutoff": REQUIRED_CUTOFF, "beta": F_BETA}
    NORM = "the weighted mean of the relevant documents and the cutoff"

    def norm(self, view: View) -> Floats:
        of_relevant, of_cutoff = f_weights(self["beta"])
        return np.asarray((of_relevant * view.R + of_cutoff * self["cutoff"]) / (of_relevant + of_cutoff))


class _FirstRank(GradedMeasure):
    r"""The rank of the first relevant document. Lower is better.

    ``FirstRank@k = n1``, n1 the rank of the first relevant document; k + 1 without one among the first k,
    also for topics without relevant documents or without a ranking. In [1, inf).

    Formula:
        \mathrm{FirstRank@}k = \min(n_{1}, k + 1)

    Use it to say how far users scroll, with medians and percentiles (``Scores.summary``), since few topics
    with high ranks dominate its mean. Tests and ranks of runs take measures by which higher is better: use
    RR there. In an explanation the first relevant document contributes its rank; the value k + 1 is of no
    document.

    Source: [cooper1968expected]: with ties='expected' and without a cutoff in reach, it is this length for
    one document plus 1.

    Example:
        >>> import ir_graded
        >>> measure, qrels = ir_graded.FirstRank @ 10, {"1": {"a": 1}}
        >>> [measure.calc_aggregate(qrels, {"1": run}) for run in ({"x": 2.0, "a": 1.0}, {"x": 1.0})]
        [2.0, 11.0]

    Lacks nothing:
        >>> measure.calc_aggregate(qrels, {"1": {"x": 1.0}})
        11.0

    Lacks ideal:
        >>> run = {"1": {"a": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        1.0

    Lacks swap:
        >>> run, changed = {"1": {"x": 2.0, "a": 1.0}}, {"1": {"a": 2.0, "x": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [2.0, 1.0]
    """

    NAME = "FirstRank"
    PRETTY_NAME = "Rank of the First Relevant Document"
    RANGE = (1.0, math.inf)
    LOWER_IS_BETTER = True
    LACKS = {
        "nothing": "a topic without a relevant document among the first k scores k + 1",
        "ideal": "lower scores are better, and the ideal list has the lowest",
        "swap": "lower scores are better",
    }
    SUPPORTED_PARAMS = {**COMMON, "cutoff": REQUIRED_CUTOFF}

    @property
    def _none(self) -> float:
        """Score without a relevant document."""
        return float(self["cutoff"] + 1)

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, first(view) * view.n)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        return TiedContributions(tied, tied.first(by_rank(lambda n: n.astype(np.float64))))

    def score(self, views: Views) -> Floats:
        found = super().score(views)
        return np.where(found > 0, found, self._none)

    def expected_score(self, views: Views) -> Floats:
        tied = views.tied(self.cut)
        # Orders without a relevant document add nothing to this mean.
        above = TiedContributions(tied, tied.first(by_rank(lambda n: np.asarray(self._none - n))))
        return np.asarray(np.where(tied.topics, self._none - above.total(), self.score(views)))


R_measure = register(_R_measure())
R_WP = register(_R_WP())
nCG = register(_nCG())
BR = register(_BR())
RelP = register(_RelP())
F = register(_F())
FirstRank = register(_FirstRank())
