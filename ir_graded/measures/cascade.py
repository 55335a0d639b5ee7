"""Cascade measures, whose user stops at a document that satisfies: EBR, iRBU and nERR."""

from __future__ import annotations

import numpy as np

from ir_graded.core.levels import LARGE
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import TiedDocuments, Utility, by_rank
from ir_graded.core.views import View

from .base import BlendedUtility, ScaledMeasure, StopUtility, add_names, register
from .ideal_norm import WHY_NO_TRUNCATION, IdealNorm
from .params import BETA, IDEAL_NORM, PERSISTENCE
from .stopping import cascade, satisfaction

#: Reason why a cascade that is not normalised lacks the property 'ideal'.
WHY_NO_IDEAL = "no list satisfies every user, and the score is not divided by that of the ideal list"


class CascadeMeasure(IdealNorm, ScaledMeasure):
    """Base class of the cascade measures: the scale of gains and the cascading stop."""

    SUPPORTED_PARAMS = {**ScaledMeasure.SUPPORTED_PARAMS, "norm": IDEAL_NORM}

    def stop(self, view: View) -> Floats:
        gmax = self.gmax(view.levels, view.topic)
        return self._in_units(cascade(view, self.overrides("gains"), gmax), view)

    def satisfied(self, view: View) -> Floats:
        """Return the probability that each document satisfies."""
        return satisfaction(self.graded(view).g, self.gmax(view.levels, view.topic))

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        satisfied = self.satisfied(tied.view)
        return tied.cascade(self._in_units(satisfied, tied.view), 1.0 - satisfied, utility)

    def _in_units(self, stop: Floats, view: View) -> Floats:
        """Return the stops, or gains where only ratios matter and stops are too small for doubles."""
        if not self.over_ideal:
            return stop
        graded = self.graded(view)
        too_small = satisfaction(graded.ideal.largest, self.gmax(view.levels)) < 2.0**-LARGE
        return np.where(too_small[view.topic], graded.ideal.in_units(graded.g, view.topic), stop)


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
    """Expected blended ratio: the blended ratio at the rank where the user of ERR stops.

    ``EBR = sum over relevant ranks n of dsat(n-1) g(n)/(gmax+1) * BR(n)``, with
    ``dsat(n) = dsat(n-1) (1 - g(n)/(gmax+1))`` and ``dsat(0) = 1``. In [0, 1): even an ideal list scores
    below 1, unless ``norm='ideal'`` divides by its score at the same cutoff (``nEBR``).

    Parameters: beta, gains, norm ('all' or 'ideal'), max_rel, cutoff, rel, judged_only, ties. max_rel
    defaults to the highest level in all given qrels: set it if you evaluate the qrels in batches.

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
        "swap": "users who stop earlier, at the better document, may stop at a lower blended ratio",
    }
    SUPPORTED_PARAMS = {**CascadeMeasure.SUPPORTED_PARAMS, "beta": BETA}


class _iRBU(RankUtility, CascadeMeasure):
    """Intentwise rank-biased utility (for one intent): the cascade with a utility that falls with the rank.

    ``iRBU = sum over relevant ranks n of p^n * dsat(n-1) g(n)/(gmax+1)``. In [0, 1); ``norm='ideal'``
    divides by the score of the ideal list at the same cutoff (``niRBU``).

    Parameters: p, gains, norm ('all' or 'ideal'), max_rel, cutoff, rel, judged_only, ties.

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

    @property
    def utility_name(self) -> str:
        return "ie"


class _nERR(RankUtility, CascadeMeasure):
    """Normalised expected reciprocal rank: ERR over the ERR of the ideal list.

    ``nERR@k = ERR@k / ERR@k of the ideal list`` with
    ``ERR = sum over relevant ranks n of 1/n * dsat(n-1) g(n)/(gmax+1)``. In [0, 1].

    Parameters: gains, max_rel, cutoff, rel, judged_only, ties. The gain of a level is the level itself. For
    the gain 2^level - 1 of other tools, set ``gains``. ``NCU(stop='err',utility='rr')`` is ERR itself.

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
    SHORT_DESC = "The expected reciprocal of the rank that satisfies, divided by that of the ideal list."
    SOURCE = "Chapelle et al. 2009"
    LACKS = {"truncation": WHY_NO_TRUNCATION}
    SUPPORTED_PARAMS = ScaledMeasure.SUPPORTED_PARAMS

    @property
    def over_ideal(self) -> bool:
        return True

    @property
    def utility_name(self) -> str:
        return "rr"


EBR = _EBR()
register(EBR)
add_names(EBR(norm="ideal"), "nEBR")
iRBU = _iRBU()
register(iRBU)
add_names(iRBU(norm="ideal"), "niRBU")
nERR = _nERR()
register(nERR)
