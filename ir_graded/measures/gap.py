"""Graded average precision: average precision in expectation over what a user counts as relevant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import segments
from ..hits import Levels, Overrides
from ..segments import Floats, Ints
from ..views import View, scaled
from .base import StopUtility, register
from .params import CUTOFF, JUDGED_ONLY, NORM, WEIGHTS
from .stopping import held, share


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The distinct relevant levels of every topic, as thresholds, flat and ascending within the topic.

    Thresholds between two neighbouring levels admit the same documents as the upper one, so their
    weights are added up there: ``weight`` of a level is the sum of w_j over the thresholds j that
    it is the first level to reach, and ``weight_up_to`` that over all thresholds j <= level.
    """

    key: Ints
    start: Ints
    weight: Floats
    weight_up_to: Floats
    grades: int

    @classmethod
    def of(cls, levels: Levels, rel: float, weights: Overrides) -> Thresholds:
        """Thresholds from the qrels: 1..highest where all levels of the topic are whole, else its levels."""
        grades = max(levels.values.size, 1)
        relevant = levels.values[levels.grade] >= rel
        key = np.unique((levels.topic * grades + levels.grade)[relevant])
        topic, level = key // grades, levels.values[key % grades]
        start = segments.starts(topic, levels.topics)
        fractional = (levels.values != np.floor(levels.values))[levels.grade]
        whole = segments.count(levels.topic[fractional], levels.topics)[topic] == 0
        unit = _unit(weights)
        by_level = segments.cumulative_sum(levels.table(weights)[key % grades] * unit, start[topic])
        up_to = np.where(whole, _sum_of_whole_thresholds(level, weights, unit), by_level)
        weight = np.diff(up_to, prepend=0.0)
        at_start = start[topic] == np.arange(topic.size)
        weight[at_start] = up_to[at_start]
        return cls(key, start, weight, up_to, grades)

    def position(self, topic: Ints, grade: Ints) -> Ints:
        """Where the level of each document stands among the flat thresholds."""
        return np.searchsorted(self.key, topic * self.grades + grade).astype(np.int64)


def _unit(weights: Overrides) -> float:
    """A power of two to take the weights by: only their ratios matter, and large sums overflow."""
    _, exponent = scaled(np.array([weight for _, weight in weights]))
    return 2.0 ** -max(exponent, 0)


def _sum_of_whole_thresholds(level: Floats, weights: Overrides, unit: float) -> Floats:
    """Sum of w_j over j = 1..level in a unit, w_j = j where it is not overridden."""
    named = np.array([(j, w * unit) for j, w in weights if j >= 1 and float(j).is_integer()]).reshape(-1, 2)
    thresholds, sums = named[:, 0], np.concatenate((np.zeros((1, 2)), np.cumsum(named, axis=0)))
    by_default, as_named = sums[np.searchsorted(thresholds, level, side="right")].T
    # Whole numbers apart from the weights, or small ones would be lost among them.
    return np.asarray((level * (level + 1) / 2 - by_default) * unit + as_named)


class _GAP(StopUtility):
    """Graded average precision: AP at every threshold of relevance, weighted.

    ``GAP = sum_j w_j R_{>=j} AP_j / sum_j w_j R_{>=j}``: AP_j is AP with documents of level >= j as
    relevant, R_{>=j} their number; j runs over 1..highest level where all levels of the topic are whole
    numbers, else over its distinct levels >= 1. In [0, 1]; with binary relevance it is AP.

    Parameters: weights (of thresholds; w_j = j where absent, as in NTCIREVAL), norm, cutoff, judged_only.

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
    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "judged_only": JUDGED_ONLY, "weights": WEIGHTS, "norm": NORM}

    def _thresholds(self, view: View) -> Thresholds:
        return Thresholds.of(view.levels, view.cut.rel, self.overrides("weights"))

    def stop(self, view: View) -> Floats:
        """Share of a document's thresholds in those of all relevant documents (of the topic's best few)."""
        thresholds = self._thresholds(view)
        total = self._ideal_weight(view, thresholds)
        weight = thresholds.weight_up_to[thresholds.position(view.topic, view.grade)]
        return share(weight, total[view.topic])

    def utility(self, view: View) -> Floats:
        """Precision at n for the thresholds that the document at n passes, by their weights."""
        thresholds = self._thresholds(view)
        position = thresholds.position(view.topic, view.grade)
        depth = position - thresholds.start[view.topic]
        precision = np.zeros(view.n.size)
        for passed in range(int(depth.max(initial=-1)) + 1):
            at = np.flatnonzero(depth >= passed)
            topic = view.topic[at]
            C = np.arange(1, at.size + 1) - segments.starts(topic, view.levels.topics)[topic]
            precision[at] += thresholds.weight[thresholds.start[topic] + passed] * C / view.n[at]
        return share(precision, thresholds.weight_up_to[position])

    def _ideal_weight(self, view: View, thresholds: Thresholds) -> Floats:
        """sum_j w_j R_{>=j} of each topic, or of the first min(R, k) documents of its ideal list."""
        levels = view.levels
        relevant = levels.values[levels.grade] >= view.cut.rel
        topic, grade = levels.topic[relevant], levels.grade[relevant]
        weight = thresholds.weight_up_to[thresholds.position(topic, grade)]
        # Weights grow with the level, so the best come first in this order too.
        order = np.lexsort((-weight, topic))
        n = np.arange(1, topic.size + 1) - segments.starts(topic, levels.topics)[topic]
        counted = n <= held(view, self["norm"])[topic]
        return segments.total(np.where(counted, weight[order], 0.0), topic, levels.topics)


GAP = _GAP()
register(GAP)
