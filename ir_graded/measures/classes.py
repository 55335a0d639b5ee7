"""Equivalence classes: EC, a measure over lists in which each class of documents counts once."""

from __future__ import annotations

from ir_graded.core.classes import by_class
from ir_graded.core.segments import Floats
from ir_graded.core.views import Views

from .base import Scorer, register
from .composed import BASES, SHORT_NAMES, BaseMeasure, ComposedMeasure, add_short_names
from .contributions import Contributions

_CLASSICS = ("AP", "P", "RR", "Success")


class _EC(ComposedMeasure):
    """A measure that counts each equivalence class of documents, such as near-duplicates, once.

    ``EC = M(list of classes)``. In the run, the first relevant document of a class counts with its own level;
    later ones are not relevant but keep their rank. The ideal list has each class once, with its highest
    level, and R is the number of classes with a relevant document. Classes belong to one topic. A document
    without a class is a class by itself: if no document has a class, EC equals M. In [0, 1].

    Qrels need the column equivalence_class. Documents with equal scores are ordered by doc_id.

    Parameters: measure (M, required, without a cutoff: Q, AWP, O-measure, P-measure, P+, NCU, nCG, BR,
    R-measure, R-WP, EBR, iRBU, nERR, gRBP, nDCG, AP, P, RR, Success), cutoff.

    Source: Sakai, "NTCIREVAL: A Generic Toolkit for Information Access Evaluation" (FIT 2011).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b", "c"], "relevance": [3, 1, 2]}
        >>> qrels = pd.DataFrame({**rows, "equivalence_class": ["x", "x", "y"]})
        >>> run = {"1": {"b": 3.0, "a": 2.0, "c": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.EC(measure="AP")], qrels, run)  # (1/1 + 2/3) / 2
        {EC(measure='AP'): 0.833333...}

    Lacks ideal:
        >>> measure, qrels = ir_graded.EC(measure="AP"), qrels.assign(relevance=[2, 2, 1])
        >>> run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        0.833333...

    Lacks swap:
        >>> measure, qrels = ir_graded.EC(measure="AP"), qrels.assign(relevance=[2, 2, 1])
        >>> run, changed = {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.833333...]
    """

    NAME = "EC"
    PRETTY_NAME = "Measure over Equivalence Classes"
    SHORT_DESC = "A measure that counts each class of equivalent documents once."
    SOURCE = "Sakai 2011"
    LACKS = {
        "ideal": "a list of all relevant documents repeats classes; the ideal list has each class once",
        "swap": "the better document may be of a class that was already counted above",
    }
    SUPPORTED_PARAMS = {
        "measure": BaseMeasure("EC", (*BASES, *_CLASSICS)),
        **ComposedMeasure.SUPPORTED_PARAMS,
    }
    TAKES_TIES = False

    @property
    def qrel_columns(self) -> tuple[str, ...]:
        return ("equivalence_class",)

    @property
    def infers_scale(self) -> bool:
        return self.base.infers_scale

    def score(self, views: Views) -> Floats:
        scorer, views = self._by_class(views)
        return scorer.score(views)

    def contributions(self, views: Views) -> Contributions:
        scorer, views = self._by_class(views)
        return scorer.contributions(views)

    def columns(self, views: Views) -> dict[str, Floats]:
        scorer, views = self._by_class(views)
        return scorer.columns(views)

    def _by_class(self, views: Views) -> tuple[Scorer, Views]:
        """Return the scorer of the base measure and the views of the list of classes that it scores."""
        scorer, seen = self.base.relabelled(views)
        classes, rel = views.levels.classes, scorer.cut.rel
        if classes is None:  # the qrels are empty, or they would have been rejected
            return scorer, seen
        if seen is not views:
            return scorer, by_class(seen, classes, rel)
        return scorer, views.kept(("classes", rel), lambda: by_class(views, classes, rel))


EC = _EC()
register(EC)
add_short_names(EC, {**SHORT_NAMES, "Q": "Q", **{name: name for name in _CLASSICS}})
