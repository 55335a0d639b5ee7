"""Means over topics that do not depend on the order of the topics."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ir_measures.measures import Measure
from ir_measures.measures.base import Agg, MeanAgg

from ir_graded.core.segments import Floats


def exact_mean(values: Iterable[float]) -> float:
    """Return the mean of ``values``, summed exactly and rounded once; NaN without values (as ir-measures)."""
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


class ExactMean(Agg):
    """Aggregator of ir-measures that uses :func:`exact_mean`."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Add the score of a topic."""
        self.values.append(value)

    def result(self) -> float:
        """Return the mean of the scores added."""
        return exact_mean(self.values)


def aggregate(measure: Measure, values: Floats) -> float:
    """Return the aggregate of a measure over the topics: the mean, or the sum of counts such as NumRet."""
    aggregator = measure.aggregator()
    if type(aggregator) in (ExactMean, MeanAgg) and values.size:
        # The last digit of ir-measures' sum depends on the order of the topics.
        return exact_mean(values.tolist())
    for value in values.tolist():
        aggregator.add(value)
    return float(aggregator.result())
