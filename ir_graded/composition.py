"""Measures of this package and of other providers over the same qrels and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import ir_measures
from ir_measures.measures import Measure
from ir_measures.providers import Evaluator
from ir_measures.util import Metric

from .inputs import upstream
from .inputs.sources import table_of
from .measures import GradedMeasure
from .provider import PROVIDER, GradedEvaluator

OtherEvaluators = Callable[[list[Measure], Any], Evaluator]


def needs_subtopics(measure: Measure) -> bool:
    """Whether a measure of ir-measures needs the qrels' subtopics (column ``iteration``)."""
    return any(measure.NAME == known.NAME for known in ir_measures.pyndeval.SUPPORTED_MEASURES)


def compose(measures: list[Measure], qrels: Any, others: OtherEvaluators) -> Evaluator:
    """An evaluator for measures of both sides; results come in the order of ``measures``.

    Args:
        measures: measures of this package and of others.
        qrels: the qrels in any form.
        others: makes the other providers' evaluator.
    """
    graded_measures = [measure for measure in measures if isinstance(measure, GradedMeasure)]
    if len(graded_measures) == len(measures):
        return PROVIDER.evaluator(measures, qrels)
    subtopics = [measure for measure in measures if needs_subtopics(measure)]
    if subtopics and isinstance(qrels, Iterator):
        qrels = list(qrels)
    graded = PROVIDER.evaluator(graded_measures, qrels)
    plain = [m for m in measures if not isinstance(m, GradedMeasure) and m not in subtopics]
    parts: list[Evaluator] = []
    if plain:
        parts.append(others(plain, upstream.qrels_dicts(graded.judgments)))
    if subtopics:
        # Only the caller's own qrels have them.
        parts.append(others(subtopics, qrels))
    return ComposedEvaluator(measures, graded, parts)


class ComposedEvaluator(Evaluator):
    """Scores runs by measures of this package and by others.

    Args:
        measures: all of them, in the order in which results come.
        graded: the evaluator of this package's measures.
        others: the other evaluators, which are given runs as dicts and name topics by text.
    """

    def __init__(self, measures: list[Measure], graded: GradedEvaluator, others: list[Evaluator]) -> None:
        super().__init__(measures, graded.judgments.query_ids)
        self.graded = graded
        self.others = others

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        found: dict[Measure, list[Metric]] = {measure: [] for measure in self.measures}
        for metric in self._metrics(run):
            found[metric.measure].append(metric)
        yield from chain.from_iterable(found.values())

    def _metrics(self, run: Any) -> Iterator[Metric]:
        if not isinstance(run, Mapping):
            run = table_of("run", run)
        yield from self.graded.iter_calc(run)
        judgments = self.graded.judgments
        dicts = upstream.run_dicts(judgments, run)
        for other in self.others:
            for metric in other.iter_calc(dicts):
                number = judgments.number.get(str(metric.query_id))
                # A provider may yield topics that only the run has.
                if number is not None:
                    yield Metric(judgments.query_ids[number], metric.measure, metric.value)
