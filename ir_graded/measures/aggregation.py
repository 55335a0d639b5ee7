"""Means over topics that do not depend on the order in which the topics come."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ir_measures.measures import Measure
from ir_measures.measures.base import Agg, MeanAgg

from ir_graded.core.segments import Floats


def exact_mean(values: Iterable[float]) -> float:
    """Return the mean of ``values``, summed exactly and rounded once; NaN without values, as ir-measures."""
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


class ExactMean(Agg):
    """ir-measures' aggregator interface over :func:`exact_mean`."""

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
        # The sum of ir-measures depends on the order of the topics in the last digit.
        return exact_mean(values.tolist())
    for value in values.tolist():
        aggregator.add(value)
    return float(aggregator.result())
