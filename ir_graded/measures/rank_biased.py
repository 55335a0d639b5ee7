"""Measures with a weight for each rank: gRBP, with a residual for unjudged documents, and nDCG-JK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import by_rank
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError

from .base import COMMON, ScaledMeasure, register
from .contributions import TiedContributions
from .ideal_norm import WHY_NO_TRUNCATION, IdealNorm
from .params import GAINS, IDEAL_NORM, TIES, Flag, Number
from .stopping import safe_divide

_PERSISTENCE = Number("persistence: probability of going on to the next rank", default=0.95, above=0, below=1)
_RESIDUAL = Flag("metrics have a field residual: how much judging every document could raise the score")
_BASE = Number("base of the logarithm; ranks up to it are not discounted", default=2, above=1)


class _WeightedGain(IdealNorm):
    """A measure that weights the gain at each rank: the stop is the weight, the utility is the gain."""

    def weight(self, n: Ints) -> Floats:
        """Return the weight of ranks n."""
        raise NotImplementedError  # pragma: no cover

    def stop(self, view: View) -> Floats:
        return self.weight(view.n)

    def utility(self, view: View) -> Floats:
        graded = self.graded(view)
        return graded.ideal.in_units(graded.g, view.topic)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        terms = tied.weighted(self.utility(tied.view), by_rank(self.weight))
        return TiedContributions(tied, terms, self.ideal_score(views.levels))


class _gRBP(_WeightedGain, ScaledMeasure):
    """Graded rank-biased precision: the user goes on to the next rank with probability p.

    ``gRBP = (1-p) * sum over relevant ranks n of p^(n-1) * g(n)/gmax``, where gmax is the largest gain of the
    scale. In [0, 1): only an infinite list of the best documents would reach 1. ``norm='ideal'`` divides by
    the score of the ideal list at the same cutoff (nRBP in NTCIREVAL).

    With ``residual=True`` the score does not change, but each metric of ``ir_measures.iter_calc`` has a field
    ``residual``: ``(1-p) * sum over unjudged ranks n of p^(n-1) + p^d - p^k``, where d is the number of
    documents retrieved (at most k) and k is the cutoff (without one, p^k is 0). If every document were
    judged, the score would be between the score and score + residual. Levels below 0 count as unjudged.

    Parameters: p, gains, norm ('all' or 'ideal'), max_rel, cutoff, rel, judged_only, ties, residual (with
    ties='doc_id' and norm='all'). max_rel defaults to the highest level in all given qrels: set it if you
    evaluate the qrels in batches. ``RBP(p=0.8, rel=1)`` of ir-measures is for binary relevance and looks at
    1,000 ranks.

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
    SUPPORTED_PARAMS = {
        **ScaledMeasure.SUPPORTED_PARAMS,
        "p": _PERSISTENCE,
        "norm": IDEAL_NORM,
        "residual": _RESIDUAL,
    }

    @property
    def lowest_level(self) -> float:
        return 0.0 if self["residual"] else super().lowest_level

    @property
    def infers_scale(self) -> bool:
        # Divided by the ideal list, the largest gain cancels out.
        return super().infers_scale and not self.over_ideal

    def check_combination(self, params: Mapping[str, Any]) -> None:
        for name, default in (("ties", TIES.default), ("norm", IDEAL_NORM.default)):
            if params.get("residual") and params.get(name, default) != default:
                raise ParameterError(f"{self.NAME}: residual=True needs {name}={default!r}")

    def weight(self, n: Ints) -> Floats:
        # Divided by the ideal list, the factor 1 - p cancels out.
        share = 1.0 if self.over_ideal else 1.0 - self["p"]
        return np.asarray(share * self["p"] ** (n - 1.0))

    def utility(self, view: View) -> Floats:
        if self.over_ideal:
            return super().utility(view)
        gain = self.graded(view).g
        return safe_divide(gain, np.full(gain.shape, self.gmax(view.levels, view.topic)))

    def residual(self, views: Views) -> Floats | None:
        if not self["residual"]:
            return None
        judged = views[Cut(0.0, self.cut.judged_only, self.cut.cutoff)]
        p, n = self["p"], judged.n
        # The ranks between two judged documents weigh p^upper - p^(lower-1), which is 0 if they are adjacent.
        upper = np.where(judged.C == 1, 0, np.roll(n, 1))
        between = judged.sum_by_topic(p ** upper.astype(np.float64) - p ** (n - 1.0))
        last = np.zeros(judged.levels.topics, dtype=np.int64)
        np.maximum.at(last, judged.topic, n)
        return between + self.below(last)

    def below(self, last: Ints) -> Floats:
        weight: Floats = self["p"] ** last.astype(np.float64)
        cutoff = self.optional("cutoff")
        return weight if cutoff is None else np.maximum(weight - self["p"] ** float(cutoff), 0.0)


class _nDCG_JK(_WeightedGain):
    """Original nDCG, which does not discount the first b ranks.

    ``nDCG-JK = sum over relevant ranks n of g(n)/D(n)``, divided by this sum for the ideal list at the
    cutoff; ``D(n) = 1`` for n <= b, else ``log_b(n)``. In [0, 1]. ``nDCG`` of ir-measures uses log2(n + 1).

    Parameters: b, gains, cutoff, rel, judged_only, ties.

    Source: Jarvelin and Kekalainen, "Cumulated Gain-Based Evaluation of IR Techniques" (ACM TOIS, 2002).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 3}}, {"1": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.nDCG_JK @ 10], qrels, run)  # (1 + 3/2) / (3 + 1)
        {nDCG-JK@10: 0.625}

    Lacks truncation:
        >>> measure, qrels = ir_graded.nDCG_JK @ 1, {"1": {"a": 1, "b": 1}}
        >>> run, changed = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2.0}}
        >>> measure.calc_aggregate(qrels, run), ir_graded.nDCG_JK.calc_aggregate(qrels, changed)
        (1.0, 0.5)
    """

    NAME = "nDCG-JK"
    PRETTY_NAME = "Original Normalised Discounted Cumulative Gain"
    SHORT_DESC = "Gains discounted by log_b of the rank from rank b on, divided by those of the ideal list."
    SOURCE = "Jarvelin and Kekalainen 2002"
    LACKS = {"truncation": WHY_NO_TRUNCATION}
    SUPPORTED_PARAMS = {**COMMON, "b": _BASE, "gains": GAINS}

    @property
    def over_ideal(self) -> bool:
        return True

    def weight(self, n: Ints) -> Floats:
        return np.asarray(1.0 / np.maximum(np.log(n) / np.log(self["b"]), 1.0))


gRBP = _gRBP()
register(gRBP)
nDCG_JK = _nDCG_JK()
register(nDCG_JK, "nDCG_JK")
