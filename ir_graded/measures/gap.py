"""Graded average precision: expected AP over users with different thresholds of relevance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from ir_graded.core import segments
from ir_graded.core.levels import LARGE, Levels, Overrides
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.views import View, Views

from .base import StopUtility, register
from .contributions import TiedContributions
from .minima import minima_in_ties, sum_of_minima
from .params import CUTOFF, JUDGED_ONLY, NORM, TIES, WEIGHTS
from .stopping import recall_base, safe_divide

#: Up to this number of thresholds per topic, adding them one by one is faster than sorting.
_MOST_ADDED = 64


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Distinct relevant levels of each topic as thresholds, in flat arrays, ascending within the topic.

    A threshold between two neighbouring levels admits the same documents as the upper level, so its weight is
    added to that of the upper level.

    Attributes:
        key: topic and level of each threshold as one number, ascending.
        start: position of the first threshold of each topic.
        weight: sum of w_j over the thresholds j above the next lower level, up to this level.
        weight_up_to: sum of w_j over all thresholds j <= level.
        levels: number of distinct levels; the factor of the topic in ``key``.
    """

    key: Ints
    start: Ints
    weight: Floats
    weight_up_to: Floats
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
        named = levels.table(weights)[key % factor]
        # Topics whose sums leave the range of doubles are computed again below, in fractions.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            by_level = segments.cumulative_sum(named, start[topic])
            up_to = np.where(whole, _sum_of_whole_thresholds(level, weights), by_level)
        for rows in _rows_out_of_range(up_to, topic):
            if whole[rows.start]:
                whole_weights = [(Fraction(j), Fraction(w)) for j, w in _whole_thresholds(weights)]
                sums = [
                    top * (top + 1) / 2 + sum(w - j for j, w in whole_weights if j <= top)
                    for top in map(Fraction, level[rows].tolist())
                ]
            else:
                sums = [*accumulate(map(Fraction, named[rows].tolist()))]
            up_to[rows] = [float(one / (sums[-1] or 1)) for one in sums]
        weight = np.diff(up_to, prepend=0.0)
        at_start = start[topic] == np.arange(topic.size)
        weight[at_start] = up_to[at_start]
        return cls(key, start, weight, up_to, factor)

    def position(self, topic: Ints, level_index: Ints) -> Ints:
        """Return the position of the threshold at the level of each document."""
        return np.searchsorted(self.key, topic * self.levels + level_index).astype(np.int64)


def _whole_thresholds(weights: Overrides) -> list[tuple[float, float]]:
    """Return the whole thresholds >= 1 in ``weights``, with their weights."""
    return [(j, w) for j, w in weights if j >= 1 and float(j).is_integer()]


def _sum_of_whole_thresholds(level: Floats, weights: Overrides) -> Floats:
    """Return the sum of w_j over j = 1..level, with w_j = j for j that are not in ``weights``."""
    named = np.array(_whole_thresholds(weights), dtype=np.float64).reshape(-1, 2)
    thresholds, sums = named[:, 0], np.concatenate((np.zeros((1, 2)), np.cumsum(named, axis=0)))
    by_default, as_named = sums[np.searchsorted(thresholds, level, side="right")].T
    # Add whole numbers separately from the weights, since small weights would be lost in the sum.
    return np.asarray(level * (level + 1) / 2 - by_default + as_named)


def _rows_out_of_range(up_to: Floats, topic: Ints) -> list[slice]:
    """Return the rows of each topic whose sum of weights is too large or too small for sums and products."""
    end = np.flatnonzero(np.append(topic[1:] != topic[:-1], True))[: topic.size]
    largest = up_to[end]
    out_of_range = ~((largest >= 2.0**-LARGE) & (largest <= 2.0**LARGE) | (largest == 0))
    begin = np.append(0, end[:-1] + 1)
    return [slice(begin[at], end[at] + 1) for at in np.flatnonzero(out_of_range).tolist()]


class _GAP(StopUtility):
    """Graded average precision: AP at every threshold of relevance, weighted.

    ``GAP = sum_j w_j R_{>=j} AP_j / sum_j w_j R_{>=j}``, where AP_j is AP with documents of level >= j as
    relevant and R_{>=j} is their number. j runs over 1..highest level if all levels of the topic are whole
    numbers, else over its distinct levels >= 1. In [0, 1]; with binary relevance it is AP.

    Parameters: weights (of thresholds; default w_j = j, as in NTCIREVAL), norm, cutoff, judged_only, ties.

    Source: Robertson, Kanoulas and Yilmaz, "Extending Average Precision to Graded Relevance
    Judgments" (SIGIR 2010).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 3.0, "x": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.GAP], qrels, run)
        {GAP: 0.833333...}
    """

    NAME = "GAP"
    PRETTY_NAME = "Graded Average Precision"
    SHORT_DESC = (
        "Average precision in expectation over the level from which a user counts documents as relevant."
    )
    SOURCE = "Robertson et al. 2010"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "judged_only": JUDGED_ONLY,
        "weights": WEIGHTS,
        "norm": NORM,
        "ties": TIES,
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
        mean = tied.spread(above + weight, others, lambda n, _: 1.0 / n)
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


GAP = _GAP()
register(GAP)
