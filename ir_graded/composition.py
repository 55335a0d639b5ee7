"""One call with measures of this package and of other providers: each side gets what it can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ir_measures.measures import Measure
from ir_measures.providers import Evaluator
from ir_measures.providers.fallback_provider import FallbackEvaluator

from .inputs import sources, upstream
from .measures import GradedMeasure
from .provider import PROVIDER, GradedEvaluator


def compose(
    measures: list[Measure], other: Callable[[Any], Evaluator], ours: list[GradedMeasure], qrels: Any
) -> ComposedEvaluator:
    """An evaluator for measures of both sides.

    Args:
        measures: all of them, in the order in which results come.
        other: makes the other providers' evaluator from qrels that they can read.
        ours: those of this package.
        qrels: the qrels in any form; read once where they can be read only once.
    """
    readable = upstream.reads(qrels)
    if readable and iter(qrels) is qrels:
        qrels = list(qrels)
    graded = PROVIDER.evaluator(ours, qrels)
    theirs = upstream.with_whole_levels(qrels) if readable else upstream.qrels_dicts(graded.judgments)
    return ComposedEvaluator(measures, graded, other(theirs))


class ComposedEvaluator(FallbackEvaluator):
    """Measures of ours and of other providers over the same runs."""

    def __init__(self, measures: list[Measure], graded: GradedEvaluator, other: Evaluator) -> None:
        super().__init__(measures, [graded, other])

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        if upstream.reads(run):
            yield from super()._iter_calc(run)
            return
        table = sources.table_of("run", run)
        graded, other = self.evaluators
        yield from graded.iter_calc(table)
        yield from other.iter_calc(upstream.run_dicts(table))
