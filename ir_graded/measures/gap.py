"""Measures that compare each document with those above it: GAP, B-pref and R-pref."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_graded.core import segments
from ir_graded.core.levels import Levels, Overrides
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.struct import light_dataclass
from ir_graded.core.tie_means import TiedDocuments
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError

from .base import (
    ScaledMeasure,
    StopUtility,
    TiedContributions,
    add_short_name,
    graded_uniform,
    recall_base,
    register,
    safe_divide,
    uniform,
)
from .params import CUTOFF, GAINS, JUDGED_ONLY, MAX_REL, NORM, ORDER, REL, WEIGHTS, Choice

__all__ = ["GAP", "B_pref", "R_pref"]


def sum_of_minima(weight: Floats, topic: Ints, topics: int) -> Floats:
    """Return for each position i the sum of min(w_i, w_j) over all positions j <= i of its topic.

    If w is the total weight of the thresholds that a document passes, this is the sum over those of i
    of their weight times the number of documents down to i that pass them.
    """
    # Blocks are merged pairwise, in log2(longest topic) sorts, independent of the number of thresholds.
    total = weight.copy()
    place = segments.ordinals(segments.starts(topic, topics)[topic]) - 1
    size = 1
    while size <= place.max(initial=0):
        # The first half of a block is full if there is a second half.
        block = np.cumsum(place % (2 * size) == 0)
        order = np.lexsort((weight, block))
        start = np.searchsorted(block, block)
        second = (place // size % 2 == 1)[order]
        w = weight[order]
        smaller = segments.cumulative_sum(np.where(second, 0.0, w), start)
        larger = size - segments.cumulative_sum((~second).astype(np.float64), start)
        total[order[second]] += (smaller + w * larger)[second]
        size *= 2
    return total


def minima_in_ties(weight: Floats, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
    """Return sums of min(w_i, w_j) over all j in tie groups above i, and over all other j in its group."""
    groups = tied.begin.size
    above = sum_of_minima(weight, tied.view.topic, tied.view.levels.topics)
    upper = sum_of_minima(weight, tied.group, groups)
    lower = sum_of_minima(weight[::-1], groups - 1 - tied.group[::-1], groups)[::-1]
    return above - upper, upper + lower - 2 * weight


#: Up to this number of thresholds per topic, adding them one by one is faster than sorting.
_MOST_ADDED = 64


@light_dataclass(frozen=True, eq=False)
class Thresholds:
    """Distinct relevant levels of each topic as thresholds, in flat arrays, ascending within the topic."""

    #: Topic * number of levels + level of each threshold, and position of the first threshold of each topic.
    key: Ints
    start: Ints
    #: Sum of w_j over the thresholds j above the next lower level up to this one, and over all j up to it.
    weight: Floats
    weight_up_to: Floats
    #: Number of distinct levels.
    levels: int

    @classmethod
    def of(cls, levels: Levels, rel: float, weights: Overrides) -> Thresholds:
        """Return 1..highest if all levels of the topic are whole numbers, else its levels."""
        factor = max(levels.values.size, 1)
        relevant = levels.values[levels.level_index] >= rel
        key = np.unique((levels.topic * factor + levels.level_index)[relevant])
        topic, level = key // factor, levels.values[key % factor]
        start = segments.starts(topic, levels.topics)
        fractional = (levels.values != np.floor(levels.values))[levels.level_index]
        whole = segments.count(levels.topic[fractional], levels.topics)[topic] == 0
        by_level = segments.cumulative_sum(levels.table(weights)[key % factor], start[topic])
        # Of whole levels, w_j is added over all j = 1..level, with w_j = j for j that are not in ``weights``.
        named = [(j, w) for j, w in weights if j >= 1 and float(j).is_integer()]
        thresholds = np.array(named, dtype=np.float64).reshape(-1, 2)
        sums = np.concatenate((np.zeros((1, 2)), np.cumsum(thresholds, axis=0)))
        by_default, as_named = sums[np.searchsorted(thresholds[:, 0], level, side="right")].T
        # Add whole numbers separately from the weights, since small weights would be lost in the sum.
        up_to = np.where(whole, level * (level + 1) / 2 - by_default + as_named, by_level)
        weight = np.diff(up_to, prepend=0.0)
        at_start = start[topic] == np.arange(topic.size)
        weight[at_start] = up_to[at_start]
        return cls(key, start, weight, up_to, factor)

    def position(self, topic: Ints, level_index: Ints) -> Ints:
        """Return the position of the threshold at the level of each document."""
        return np.searchsorted(self.key, topic * self.levels + level_index).astype(np.int64)


class _GAP(StopUtility):
    r"""Average precision in expectation over the level from which a user counts documents as relevant.

    ``GAP = sum_j w_j R_{>=j} AP_j / sum_j w_j R_{>=j}``, where AP_j is AP with documents of level >= j as
    relevant, R_{>=j} is their number, and w_j = j by default, as in NTCIREVAL. j runs over 1..highest level
    if all levels of the topic are whole numbers, else over its distinct levels >= 1. In [0, 1]; with binary
    relevance it is AP.

    Formula:
        \mathrm{GAP} = \frac{\sum_{j} w_{j}\, R_{\ge j}\, \mathrm{AP}_{j}}{\sum_{j} w_{j}\, R_{\ge j}}

    Use it if users disagree about the level from which a document counts as relevant. The weights are the
    shares of users with each threshold: ``weights={1: 0, 2: 1}`` with two levels is AP with ``rel=2``. Use
    ``Q`` if one user gains more from a better document.

    Users disagree about the lowest level that counts as relevant. Binary counterpart: AP.

    Source: [robertson2010extending].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 3.0, "x": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.GAP], qrels, run)
        {GAP: 0.833333...}
    """

    NAME = "GAP"
    PRETTY_NAME = "Graded Average Precision"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "judged_only": JUDGED_ONLY,
        "weights": WEIGHTS,
        "norm": NORM,
        **ORDER,
    }

    def _thresholds(self, view: View) -> Thresholds:
        return Thresholds.of(view.levels, view.cut.rel, self.overrides("weights"))

    def stop(self, view: View) -> Floats:
        """Return the weight of the thresholds that a document passes, as a share over relevant documents."""
        thresholds = self._thresholds(view)
        total = self._total_weight(view, thresholds)
        weight = thresholds.weight_up_to[thresholds.position(view.topic, view.level_index)]
        return safe_divide(weight, total[view.topic])

    def utility(self, view: View) -> Floats:
        """Return the mean precision at n over the thresholds that the document at n passes, by weight."""
        thresholds = self._thresholds(view)
        position = thresholds.position(view.topic, view.level_index)
        weight = thresholds.weight_up_to[position]
        precision = np.zeros(view.n.size)
        many = np.diff(thresholds.start, append=thresholds.key.size)[view.topic] > _MOST_ADDED
        precision[many] = sum_of_minima(weight[many], view.topic[many], view.levels.topics) / view.n[many]
        depth = np.where(many, -1, position - thresholds.start[view.topic])
        for passed in range(int(depth.max(initial=-1)) + 1):
            at = np.flatnonzero(depth >= passed)
            topic = view.topic[at]
            C = segments.ordinals(segments.starts(topic, view.levels.topics)[topic])
            precision[at] += thresholds.weight[thresholds.start[topic] + passed] * C / view.n[at]
        return safe_divide(precision, weight)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        view = tied.view
        thresholds = self._thresholds(view)
        weight = thresholds.weight_up_to[thresholds.position(view.topic, view.level_index)]
        # Both of two documents pass the thresholds that the lower one passes: the smaller weight.
        above, others = minima_in_ties(weight, tied)
        mean = tied.mean_sum(above + weight, others, lambda n, _: 1.0 / n)
        return TiedContributions(tied, tied.in_groups(mean), self._total_weight(view, thresholds))

    def _total_weight(self, view: View, thresholds: Thresholds) -> Floats:
        """Return sum_j w_j R_{>=j} of each topic, or of the first min(R, k) documents of its ideal list."""
        levels = view.levels
        relevant = levels.values[levels.level_index] >= view.cut.rel
        topic, level_index = levels.topic[relevant], levels.level_index[relevant]
        weight = thresholds.weight_up_to[thresholds.position(topic, level_index)]
        order = np.lexsort((-weight, topic))
        n = segments.ordinals(segments.starts(topic, levels.topics)[topic])
        counted = n <= recall_base(view, self["norm"])[topic]
        return segments.total(np.where(counted, weight[order], 0.0), topic, levels.topics)


GAP = register(_GAP())


def mean_others(above: Ints, here: Ints, R: Ints) -> Floats:
    """Return the mean of min(above + u, R) over u = 0..here, which are equally likely to be above."""
    fewer = np.clip(R - above, 0, here + 1)
    sums = fewer * above + fewer * (fewer - 1) / 2 + (here + 1 - fewer) * R
    return np.asarray(sums / (here + 1))


class _Preference(StopUtility):
    """Base class: a mean of 1 - penalty over the relevant documents in the condensed list."""

    WHY_NO_IDEAL = "with the relative penalty, the document at rank 1 adds nothing"

    @property
    def cut(self) -> Cut:
        return Cut(self["rel"], judged_only=True)

    @property
    def lacks(self) -> Mapping[str, str]:
        return {**self.LACKS, "ideal": self.WHY_NO_IDEAL} if self["penalty"] == "relative" else self.LACKS

    def as_good(self, view: View) -> Floats:
        """Return for each relevant document the sum of min(g(m)/g(n), 1) over the documents above."""
        raise NotImplementedError  # pragma: no cover

    def as_good_in_ties(self, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
        """Return that sum over all documents in tie groups above, and over all others in its group."""
        raise NotImplementedError  # pragma: no cover

    def most(self, view: View) -> Floats:
        """Return the largest sum of penalties of each topic: the divisor of penalty 'N'."""
        return view.N.astype(np.float64)

    def utility(self, view: View) -> Floats:
        penalty, n, as_good = self["penalty"], view.n, self.as_good(view)
        if penalty == "relative":
            return np.asarray(as_good / np.maximum(n - 1, 1))
        if penalty == "relative2":
            return np.asarray((1.0 + as_good) / n)
        if penalty == "N":
            return 1.0 - safe_divide(n - 1 - as_good, self.most(view)[view.topic])
        R = view.R[view.topic]
        return np.asarray(1.0 - np.minimum(n - view.C, R) / R)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied, penalty = views.tied(self.cut), self["penalty"]
        view, group = tied.view, tied.group
        above, here = self.as_good_in_ties(tied)
        if penalty == "relative":
            mean = tied.mean_sum(above, here, lambda n, _: 1.0 / np.maximum(n - 1, 1))
        elif penalty == "relative2":
            mean = tied.mean_sum(above + 1.0, here, lambda n, _: 1.0 / n)
        elif penalty == "N":
            mean_rank = (tied.t + (tied.n - 1) / 2)[group]
            mean = 1.0 - safe_divide(mean_rank - above - here / 2, self.most(view)[view.topic])
        else:
            R = view.R[tied.topic]
            others_above = tied.t - tied.above(np.ones(group.size)).astype(np.int64)
            mean = (1.0 - mean_others(others_above, tied.n - tied.m, R) / R)[group]
        return TiedContributions(tied, tied.in_groups(self.stop(view) * mean))


class _B_pref(_Preference):
    r"""How far documents judged relevant are above those judged not relevant, by penalty.

    ``B-pref = 1/R * sum over relevant ranks n of 1 - x(n)`` in the condensed list, where n - C(n) documents
    judged not relevant are above. In [0, 1]. ``penalty`` selects x:

    - 'R': ``min(R, n - C(n)) / R``, bpref_R of Sakai (2007);
    - 'N': ``(n - C(n)) / N``, N the documents judged not relevant (bpref_N);
    - 'relative': ``(n - C(n)) / (n - 1)``; rank 1 adds nothing (bpref_relative).

    Formula:
        \text{B-pref} = \frac{1}{R} \sum_{n \in \mathcal{N}} 1 - x(n)
        x_{R}(n) = \frac{\min(R,\, n - C(n))}{R}
        x_{N}(n) = \frac{n - C(n)}{N}
        x_{\mathrm{relative}}(n) = \frac{n - C(n)}{n - 1}

    Use it to compare with studies of bpref. Sakai (2007), who defines these variants, prefers
    ``judged_only=True`` with ``Q``, nDCG or AP. ``Bpref`` of ir-measures is trec_eval's.

    Users want all relevant documents, but many documents were not judged. Binary counterpart: Bpref.

    Drawn: B-pref B-pref(penalty='relative')

    Source: [sakai2007alternatives], after [buckley2004retrieval].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels = {"1": {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0}}
        >>> run = {"1": {"a": 4.0, "c": 3.0, "x": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.B_pref, ir_graded.B_pref(penalty="N")], qrels, run)
        {B-pref: 0.75, B-pref(penalty='N'): 0.833333...}

    Lacks exchange:
        >>> measure, qrels = ir_graded.B_pref, {"1": {"a": 1, "b": 0.5, "c": 1}}
        >>> run, changed = {"1": {"c": 3.0, "x": 2.0, "a": 1.0}}, {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.75]
    """

    NAME = "B-pref"
    PRETTY_NAME = "Binary Preference by Penalty"
    LACKS = {
        "exchange": "a document judged not relevant counts against those below it, an unjudged one does not"
    }
    SUPPORTED_PARAMS = {
        "penalty": Choice("penalty for documents above", ("R", "N", "relative"), default="R"),
        "rel": REL,
        **ORDER,
    }

    def stop(self, view: View) -> Floats:
        return uniform(view)

    def as_good(self, view: View) -> Floats:
        return (view.C - 1).astype(np.float64)

    def as_good_in_ties(self, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
        return tied.above(np.ones(tied.group.size))[tied.group], (tied.m - 1).astype(np.float64)[tied.group]


class _R_pref(_Preference, ScaledMeasure):
    r"""How far better documents are above worse ones, among those that are judged.

    ``R-pref = 1/cg*(R) * sum over relevant ranks n of g(n) (1 - x(n))`` in the condensed list, with
    ``pen(n) = sum over ranks m < n with g(m) < g(n) of (g(n) - g(m)) / g(n)``. In [0, 1]. ``penalty`` sets x:

    - 'N': ``pen(n) / (R + N - cg*(R)/gmax)``, N the documents judged not relevant (rpref_N; takes max_rel);
    - 'relative': ``pen(n) / (n - 1)``; rank 1 adds nothing (rpref_relative);
    - 'relative2': ``pen(n) / n`` (rpref_relative2).

    Formula:
        \text{R-pref} = \frac{1}{\mathrm{cg}^{*}(R)} \sum_{n \in \mathcal{N}} g(n) \left(1 - x(n)\right)
        \mathrm{pen}(n) = \sum_{m < n,\, g(m) < g(n)} \frac{g(n) - g(m)}{g(n)}
        x_{N}(n) = \frac{\mathrm{pen}(n)}{R + N - \mathrm{cg}^{*}(R) / g_{\max}}
        x_{\mathrm{relative}}(n) = \frac{\mathrm{pen}(n)}{n - 1}
        x_{\mathrm{relative2}}(n) = \frac{\mathrm{pen}(n)}{n}

    Use it as ``B-pref`` for graded relevance: a document counts against a better one below it by the
    difference of their gains. Sakai (2007) prefers ``judged_only=True`` with ``Q`` or nDCG.

    Users want all relevant documents, but many documents were not judged. Binary counterpart: Bpref.

    Drawn: R-pref R-pref(penalty='relative')

    Source: [debeer2006rpref]; [sakai2007alternatives].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.R_pref(penalty="relative2")], qrels, run)  # (1 + 3/2) / 3
        {R-pref(penalty='relative2'): 0.833333...}

    Lacks exchange:
        >>> measure, qrels = ir_graded.R_pref, {"1": {"a": 1, "b": 0.5, "c": 1}}
        >>> run, changed = {"1": {"c": 3.0, "x": 2.0, "a": 1.0}}, {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.5]
    """

    NAME = "R-pref"
    PRETTY_NAME = "Graded Preference"
    LACKS = _B_pref.LACKS
    SUPPORTED_PARAMS = {
        "penalty": Choice("penalty for documents above", ("N", "relative", "relative2"), default="N"),
        "gains": GAINS,
        "max_rel": MAX_REL,
        "rel": REL,
        **ORDER,
    }

    def check_combination(self, params: Mapping[str, Any]) -> None:
        if "max_rel" in params and (penalty := params.get("penalty", "N")) != "N":
            raise ParameterError(
                f"{self.NAME} with penalty={penalty!r} takes no max_rel "
                f"(given max_rel={params['max_rel']!r}); use it with penalty 'N'"
            )

    @property
    def infers_scale(self) -> bool:
        return super().infers_scale and self["penalty"] == "N"

    def stop(self, view: View) -> Floats:
        return graded_uniform(view, view.levels.table(self.overrides("gains")))

    def as_good(self, view: View) -> Floats:
        gain = self.graded(view).g
        return safe_divide(sum_of_minima(gain, view.topic, view.levels.topics) - gain, gain)

    def as_good_in_ties(self, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
        gain = self.graded(tied.view).g
        above, here = minima_in_ties(gain, tied)
        return safe_divide(above, gain), safe_divide(here, gain)

    def most(self, view: View) -> Floats:
        ideal, gmax = self.graded(view).ideal, self.gmax(view.levels)
        worse = 1.0 - safe_divide(ideal.weight, np.full(ideal.weight.shape, gmax))
        return super().most(view) + segments.total(worse, ideal.topic, view.levels.topics)


B_pref = register(_B_pref())
R_pref = register(_R_pref())
for _penalty in ("R", "N", "relative"):
    add_short_name(B_pref, f"bpref_{_penalty}", penalty=_penalty)
for _penalty in ("N", "relative", "relative2"):
    add_short_name(R_pref, f"rpref_{_penalty}", penalty=_penalty)
