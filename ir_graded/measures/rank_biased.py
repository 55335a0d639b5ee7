"""Rank-biased precision for graded relevance, and how far unjudged documents could raise it: gRBP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import by_rank
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError

from .base import ScaledMeasure, register
from .contributions import TiedContributions
from .params import TIES, Flag, Number
from .stopping import safe_divide

_PERSISTENCE = Number("persistence: probability of going on to the next rank", default=0.95, above=0, below=1)
_RESIDUAL = Flag("metrics have a field residual: how far judging every document could raise the score")


class _gRBP(ScaledMeasure):
    """Graded rank-biased precision: the user goes on to the next rank with probability p.

    ``gRBP = (1-p) * sum over relevant ranks n of p^(n-1) * g(n)/gmax``, gmax the largest gain of the scale.
    In [0, 1), not normalised: only an endless list of the best documents would reach 1.

    With ``residual=True`` the score is the same, and each metric of ``ir_measures.iter_calc`` has a field
    ``residual``: ``(1-p) * sum over unjudged ranks n of p^(n-1) + p^d - p^k``, d the documents retrieved (at
    most k), k the cutoff (without one, p^k is 0). If every document were judged, the score would lie between
    the score and the sum of the two. Levels below 0 count as unjudged.

    Parameters: p, gains, max_rel, cutoff, rel, judged_only, ties, residual (with ties='doc_id'). max_rel
    defaults to the highest level in all qrels given: name it where the qrels come in batches. ``RBP(p=0.8,
    rel=1)`` of ir-measures is for binary relevance, and looks at 1,000 ranks.

    Source: Moffat and Zobel, "Rank-Biased Precision for Measurement of Retrieval Effectiveness", with the
    residual (ACM TOIS, 2008).

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
    SHORT_DESC = "The gain per document of a user who goes on to each next rank with probability p."
    SOURCE = "Moffat and Zobel 2008"
    MONOTONE = True
    LACKS = {"ideal": "the user may go on below the last relevant document"}
    SUPPORTED_PARAMS = {**ScaledMeasure.SUPPORTED_PARAMS, "p": _PERSISTENCE, "residual": _RESIDUAL}

    @property
    def lowest_level(self) -> float:
        return 0.0 if self["residual"] else super().lowest_level

    def check_combination(self, params: Mapping[str, Any]) -> None:
        if params.get("residual") and params.get("ties", TIES.default) != TIES.default:
            raise ParameterError(f"{self.NAME}: residual=True needs ties={TIES.default!r}")

    def stop(self, view: View) -> Floats:
        return self._weight(view.n)

    def _weight(self, n: Ints) -> Floats:
        return np.asarray((1.0 - self["p"]) * self["p"] ** (n - 1.0))

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        return TiedContributions(tied, tied.weighted(self.utility(tied.view), by_rank(self._weight)))

    def utility(self, view: View) -> Floats:
        gain = self.graded(view).g
        return safe_divide(gain, np.full(gain.shape, self.gmax(view.levels, view.topic)))

    def residual(self, views: Views) -> Floats | None:
        if not self["residual"]:
            return None
        judged = views[Cut(0.0, self.cut.judged_only, self.cut.cutoff)]
        p, n = self["p"], judged.n
        # The ranks between two judged documents weigh p^upper - p^(lower-1): nothing where they are adjacent.
        upper = np.where(judged.C == 1, 0, np.roll(n, 1))
        between = judged.sum_by_topic(p ** upper.astype(np.float64) - p ** (n - 1.0))
        last = np.zeros(judged.levels.topics, dtype=np.int64)
        np.maximum.at(last, judged.topic, n)
        return between + self.below(last)

    def below(self, last: Ints) -> Floats:
        weight: Floats = self["p"] ** last.astype(np.float64)
        cutoff = self.optional("cutoff")
        return weight if cutoff is None else np.maximum(weight - self["p"] ** float(cutoff), 0.0)


gRBP = _gRBP()
register(gRBP)
