"""Means over topics that do not depend on the order in which the topics come."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ir_measures.measures import Measure
from ir_measures.measures.base import Agg, MeanAgg

from ir_graded.core.segments import Floats


def exact_mean(values: Iterable[float]) -> float:
    """Mean of ``values``, summed exactly and rounded once; NaN without values, as ir-measures has it."""
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


class ExactMean(Agg):
    """ir-measures' aggregator interface over :func:`exact_mean`."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Take one topic's score."""
        self.values.append(value)

    def result(self) -> float:
        """Mean of the scores taken."""
        return exact_mean(self.values)


def aggregate(measure: Measure, values: Floats) -> float:
    """A measure's own aggregate over the topics: the mean, or the sum of counts such as NumRet."""
    aggregator = measure.aggregator()
    if type(aggregator) in (ExactMean, MeanAgg) and values.size:
        # ir-measures adds up in the order of the topics, which would show in the last digit.
        return exact_mean(values.tolist())
    for value in values.tolist():
        aggregator.add(value)
    return float(aggregator.result())
