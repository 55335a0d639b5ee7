"""Cascade measures, whose user stops where a document satisfies: EBR, iRBU and nERR."""

from __future__ import annotations

import numpy as np

from ir_graded.core import segments
from ir_graded.core.levels import LARGE, Ideal, Levels
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import TiedDocuments, Utility, by_rank
from ir_graded.core.views import View, Views

from .base import BlendedUtility, ScaledMeasure, register
from .contributions import Contributions, TiedContributions
from .params import BETA, PERSISTENCE
from .stopping import cascade, ideal_cascade, satisfaction

#: Reason for which a cascade that is not normalised lacks the property 'ideal'.
WHY_NO_IDEAL = "no list satisfies every user, and the score is not divided by that of the ideal list"


class CascadeMeasure(ScaledMeasure):
    """Base of the cascade measures: the scale of gains and the cascading stop."""

    def stop(self, view: View) -> Floats:
        return cascade(view, self.overrides("gains"), self.gmax(view.levels, view.topic))

    def satisfied(self, view: View) -> Floats:
        """Return the probability that each document satisfies."""
        return satisfaction(self.graded(view).g, self.gmax(view.levels, view.topic))

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        satisfied = self.satisfied(tied.view)
        return tied.cascade(satisfied, 1.0 - satisfied, utility)


class _DiscountedCascade(CascadeMeasure):
    """A cascade measure whose utility depends on the rank alone."""

    def discount(self, n: Ints) -> Floats:
        """Return the utility at ranks n."""
        raise NotImplementedError  # pragma: no cover

    def utility(self, view: View) -> Floats:
        return self.discount(view.n)

    def mean_utility(self, view: View) -> Utility:  # noqa: ARG002  # it is the same for all documents
        return by_rank(self.discount)


class _EBR(BlendedUtility, CascadeMeasure):
    """Expected blended ratio: the blended ratio where the user of ERR stops.

    ``EBR = sum over relevant ranks n of dsat(n-1) g(n)/(gmax+1) * BR(n)``, with
    ``dsat(n) = dsat(n-1) (1 - g(n)/(gmax+1))`` and ``dsat(0) = 1``. In [0, 1), not normalised: an ideal
    list stays below 1.

    Parameters: beta, gains, max_rel, cutoff, rel, judged_only, ties. max_rel defaults to the highest level
    in all qrels given: name it where the qrels come in batches.

    Source: Sakai and Robertson, "Modelling A User Population for Designing Information Retrieval
    Metrics" (EVIA 2008) with the stop of Chapelle et al. (CIKM 2009), as in NTCIREVAL.

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
    SHORT_DESC = (
        "The blended ratio at the document that satisfies, in expectation over ERR's cascade of users."
    )
    SOURCE = "Sakai and Robertson 2008; Chapelle et al. 2009"
    LACKS = {
        "ideal": WHY_NO_IDEAL,
        "swap": "users whom the better document stops earlier may stop at a lower blended ratio",
    }
    SUPPORTED_PARAMS = {**CascadeMeasure.SUPPORTED_PARAMS, "beta": BETA}


class _iRBU(_DiscountedCascade):
    """Intentwise rank-biased utility (for one intent): the cascade with a utility that fades with depth.

    ``iRBU = sum over relevant ranks n of p^n * dsat(n-1) g(n)/(gmax+1)``. In [0, 1), not normalised.

    Parameters: p, gains, max_rel, cutoff, rel, judged_only, ties.

    Source: Sakai and Zeng, "Which Diversity Evaluation Measures Are Good?" (SIGIR 2019).

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
    SHORT_DESC = "The probability of being satisfied, discounted by p for every rank on the way."
    SOURCE = "Sakai and Zeng 2019"
    MONOTONE = True
    LACKS = {"ideal": WHY_NO_IDEAL}
    SUPPORTED_PARAMS = {**CascadeMeasure.SUPPORTED_PARAMS, "p": PERSISTENCE}

    def discount(self, n: Ints) -> Floats:
        return np.asarray(float(self["p"]) ** n)


class _nERR(_DiscountedCascade):
    """Normalised expected reciprocal rank: ERR over the ERR of the ideal list.

    ``nERR@k = ERR@k / ERR@k of the ideal list`` with
    ``ERR = sum over relevant ranks n of 1/n * dsat(n-1) g(n)/(gmax+1)``. In [0, 1].

    Parameters: gains, max_rel, cutoff, rel, judged_only, ties. The gain of a level is the level itself;
    for the 2^level - 1 of other tools say so with ``gains``.

    Source: Chapelle, Metzler, Zhang and Grinspan, "Expected Reciprocal Rank for Graded
    Relevance" (CIKM 2009).

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
    SHORT_DESC = "The expected reciprocal of the rank that satisfies, over that of the ideal list."
    SOURCE = "Chapelle et al. 2009"
    LACKS = {"truncation": "the ideal list, too, is cut at rank k"}

    def discount(self, n: Ints) -> Floats:
        return np.asarray(1.0 / n)

    def ideal_list(self, levels: Levels) -> Ideal:
        """Return the ideal list of each topic, by gain."""
        return levels.ideal(self["rel"], levels.table(self.overrides("gains")))

    def ideal_score(self, levels: Levels) -> Floats:
        """Return ERR of the ideal list of each topic, down to the cutoff."""
        return levels.kept(("ideal score", self), lambda: self._ideal_score(levels))

    def _ideal_score(self, levels: Levels) -> Floats:
        ideal = self.ideal_list(levels)
        n = segments.ordinals(ideal.start[ideal.topic])
        stop = ideal_cascade(ideal, self.gmax(levels, ideal.topic))
        terms = self._in_units(stop, ideal.weight, ideal.topic, levels) / n
        cutoff = self.optional("cutoff")
        if cutoff is not None:
            terms[n > cutoff] = 0.0
        return segments.total(terms, ideal.topic, levels.topics)

    def contributions(self, views: Views) -> Contributions:
        view, levels = views[self.cut], views.levels
        gain = self.graded(view).g
        stop = self._in_units(self.stop(view), gain, view.topic, levels)
        ideal = self.ideal_score(levels)
        return Contributions(view, stop * self.utility(view), ideal, "ERR of the ideal list")

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        view, satisfied = tied.view, self.satisfied(tied.view)
        stop = self._in_units(satisfied, self.graded(view).g, view.topic, view.levels)
        return tied.cascade(stop, 1.0 - satisfied, utility)

    def expected_contributions(self, views: Views) -> TiedContributions:
        found = super().expected_contributions(views)
        return TiedContributions(found.tied, found.term, self.ideal_score(views.levels))

    def _in_units(self, stop: Floats, gain: Floats, topic: Ints, levels: Levels) -> Floats:
        """Return the stops; where they are too small for doubles, gains, of which they are multiples."""
        ideal = self.ideal_list(levels)
        too_small = satisfaction(ideal.largest, self.gmax(levels)) < 2.0**-LARGE
        return np.where(too_small[topic], ideal.in_units(gain, topic), stop)


EBR = _EBR()
register(EBR)
iRBU = _iRBU()
register(iRBU)
nERR = _nERR()
register(nERR)
