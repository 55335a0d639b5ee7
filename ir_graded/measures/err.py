"""The cascade family: EBR, iRBU and nERR stop where a document satisfies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import segments
from ..hits import Levels
from ..segments import Floats
from ..views import View, Views
from .base import COMMON, BlendedUtility, StopUtility, register
from .contributions import Contributions
from .params import BETA, GAINS, MAX_REL, PERSISTENCE
from .stopping import cascade, ideal_cascade, largest_gain


class CascadeMeasure(StopUtility):
    """What the family has in common: the scale of gains and the cascading stop."""

    SUPPORTED_PARAMS = {**COMMON, "gains": GAINS, "max_rel": MAX_REL}

    def gmax(self, levels: Levels) -> float:
        """The largest gain on the scale."""
        return largest_gain(levels, self.overrides("gains"), self["rel"], self.max_rel(levels))

    def stop(self, view: View) -> Floats:
        return cascade(view, self.overrides("gains"), self.gmax(view.levels))


class _EBR(BlendedUtility, CascadeMeasure):
    """Expected blended ratio: the blended ratio where the user of ERR stops.

    ``EBR = sum over relevant ranks n of dsat(n-1) g(n)/(gmax+1) * BR(n)``, with
    ``dsat(n) = dsat(n-1) (1 - g(n)/(gmax+1))`` and ``dsat(0) = 1``. In [0, 1), not normalised: an ideal
    list stays below 1.

    Parameters: beta, gains, max_rel, cutoff, rel, judged_only. max_rel defaults to the highest level
    in all qrels given: name it where the qrels come in batches.

    Source: Sakai and Robertson, "Modelling A User Population for Designing Information Retrieval
    Metrics" (EVIA 2008) with the stop of Chapelle et al. (CIKM 2009), as in NTCIREVAL.

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.EBR(beta=0)], qrels, run)
        {EBR(beta=0): 0.25}
    """

    NAME = "EBR"
    PRETTY_NAME = "Expected Blended Ratio"
    SHORT_DESC = (
        "The blended ratio at the document that satisfies, in expectation over ERR's cascade of users."
    )
    SOURCE = "Sakai and Robertson 2008; Chapelle et al. 2009"
    SUPPORTED_PARAMS = {**CascadeMeasure.SUPPORTED_PARAMS, "beta": BETA}


class _iRBU(CascadeMeasure):
    """Intentwise rank-biased utility (for one intent): the cascade with a utility that fades with depth.

    ``iRBU = sum over relevant ranks n of p^n * dsat(n-1) g(n)/(gmax+1)``. In [0, 1), not normalised.

    Parameters: p, gains, max_rel, cutoff, rel, judged_only.

    Source: Sakai and Zeng, "Which Diversity Evaluation Measures Are Good?" (SIGIR 2019).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.iRBU(p=0.5)], qrels, run)
        {iRBU(p=0.5): 0.125}
    """

    NAME = "iRBU"
    PRETTY_NAME = "Intentwise Rank-Biased Utility"
    SHORT_DESC = "The probability of being satisfied, discounted by p for every rank on the way."
    SOURCE = "Sakai and Zeng 2019"
    SUPPORTED_PARAMS = {**CascadeMeasure.SUPPORTED_PARAMS, "p": PERSISTENCE}

    def utility(self, view: View) -> Floats:
        return np.asarray(float(self["p"]) ** view.n)


class _nERR(CascadeMeasure):
    """Normalised expected reciprocal rank: ERR over the ERR of the ideal list.

    ``nERR@k = ERR@k / ERR@k of the ideal list`` with
    ``ERR = sum over relevant ranks n of 1/n * dsat(n-1) g(n)/(gmax+1)``. In [0, 1].

    Parameters: gains, max_rel, cutoff, rel, judged_only. The gain of a level is the level itself;
    for the 2^level - 1 of other tools say so with ``gains``.

    Source: Chapelle, Metzler, Zhang and Grinspan, "Expected Reciprocal Rank for Graded
    Relevance" (CIKM 2009).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.nERR@10], qrels, run)
        {nERR@10: 0.5}
    """

    NAME = "nERR"
    PRETTY_NAME = "Normalised Expected Reciprocal Rank"
    SHORT_DESC = "The expected reciprocal of the rank that satisfies, over that of the ideal list."
    SOURCE = "Chapelle et al. 2009"

    def utility(self, view: View) -> Floats:
        return np.asarray(1.0 / view.n)

    def ideal_score(self, levels: Levels) -> Floats:
        """ERR of each topic's ideal list, down to the cutoff."""
        ideal = levels.ideal(self["rel"], levels.table(self.overrides("gains")))
        n = np.arange(1, ideal.topic.size + 1, dtype=np.int64) - ideal.start[ideal.topic]
        terms = ideal_cascade(ideal, self.gmax(levels)) / n
        cutoff = self.optional("cutoff")
        if cutoff is not None:
            terms[n > cutoff] = 0.0
        return segments.total(terms, ideal.topic, levels.topics)

    def contributions(self, views: Views) -> Contributions:
        ideal = self.ideal_score(views.levels)
        return replace(super().contributions(views), norm=ideal, norm_name="ERR of the ideal list")


EBR = _EBR()
register(EBR)
iRBU = _iRBU()
register(iRBU)
nERR = _nERR()
register(nERR)
