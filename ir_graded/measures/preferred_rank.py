"""Measures for users who need one document: O-measure, P-measure and P+."""

from __future__ import annotations

from ir_graded.core.segments import Floats
from ir_graded.core.tie_means import TiedDocuments, Utility
from ir_graded.core.views import View

from .base import COMMON, BlendedUtility, register
from .params import BETA, GAINS
from .stopping import first, preferred, up_to_preferred

#: Reason why a measure that uses the preferred rank lacks the property 'swap'.
WHY_NO_SWAP = (
    "the preferred rank moves up with the best document, and relevant documents that were above it no longer "
    "count"
)


class _OneDocumentMeasure(BlendedUtility):
    """Base class of the three measures: their parameters, and the blended ratio as utility."""

    SUPPORTED_PARAMS = {**COMMON, "beta": BETA, "gains": GAINS}


class _O(_OneDocumentMeasure):
    """O-measure: the blended ratio at the first relevant document.

    ``O = BR(n1)``, n1 the rank of the first relevant document retrieved; 0 without one. In [0, 1];
    beta=0 is RR.

    Parameters: beta, gains, cutoff, rel, judged_only, ties.

    Source: Sakai, "On the Task of Finding One Highly Relevant Document with High Precision"
    (IPSJ Transactions on Databases, 2006).

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
    SHORT_DESC = "RR for graded relevance: the blended ratio at the first relevant document."
    SOURCE = "Sakai 2006"
    LACKS = {
        "exchange": "a document that moves above the first relevant one replaces it, even if its gain is "
        "smaller"
    }

    def stop(self, view: View) -> Floats:
        return first(view)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.first(utility)


class _P_measure(_OneDocumentMeasure):
    """P-measure: the blended ratio at the preferred rank.

    ``P-measure = BR(rp)``; the preferred rank rp is the first rank with a document of the highest level
    retrieved (within the cutoff). 0 if nothing relevant is retrieved. In [0, 1].

    Parameters: beta, gains, cutoff, rel, judged_only, ties.

    Source: Sakai, "Give Me Just One Highly Relevant Document: P-measure" (SIGIR 2006).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"s": 3, "a": 2, "b": 1}}, {"1": {"b": 2.0, "s": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.P_measure], qrels, run)  # 6/7
        {P-measure: 0.857142...}

    Lacks swap:
        >>> measure, qrels = ir_graded.P_measure, {"1": {"t": 10, "s": 2, "b": 1}}
        >>> run, changed = {"1": {"b": 2.0, "s": 1.0}}, {"1": {"s": 2.0, "b": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.357142..., 0.272727...]
    """

    NAME = "P-measure"
    PRETTY_NAME = "P-measure"
    SHORT_DESC = (
        "The blended ratio at the preferred rank: the rank of the first of the best documents retrieved."
    )
    SOURCE = "Sakai 2006"
    LACKS = {"swap": WHY_NO_SWAP}

    def stop(self, view: View) -> Floats:
        return preferred(view)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.preferred(tied.view.level_index, utility)


class _P_plus(_OneDocumentMeasure):
    """P+: the mean blended ratio over the relevant documents down to the preferred rank.

    ``P+ = 1/C(rp) * sum over relevant ranks n <= rp of BR(n)``; rp as for P-measure. In [0, 1].

    Parameters: beta, gains, cutoff, rel, judged_only, ties.

    Source: Sakai, "Bootstrap-Based Comparisons of IR Metrics for Finding One Relevant Document" (AIRS 2006).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"s": 3, "a": 2, "b": 1}}, {"1": {"b": 3.0, "a": 2.0, "s": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.P_plus], qrels, run)
        {P+: 0.738095...}

    Lacks swap:
        >>> measure, qrels = ir_graded.P_plus, {"1": {"t": 10, "s": 2, "b": 1}}
        >>> run = {"1": {"x": 3.0, "b": 2.0, "s": 1.0}}
        >>> changed = {"1": {"x": 3.0, "s": 2.0, "b": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.227678..., 0.214285...]
    """

    NAME = "P+"
    PRETTY_NAME = "P-plus"
    SHORT_DESC = "The mean blended ratio over the relevant documents down to the preferred rank."
    SOURCE = "Sakai 2006"
    LACKS = {"swap": WHY_NO_SWAP}

    def stop(self, view: View) -> Floats:
        return up_to_preferred(view)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.up_to_preferred(tied.view.level_index, utility)


O = _O()  # the measure's name in the papers
register(O, "O", "O_measure")
P_measure = _P_measure()
register(P_measure, "P_measure")
P_plus = _P_plus()
register(P_plus, "P_plus", "P-plus", "Pplus")
