"""Measures of this package and of other providers over the same qrels and runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import ir_measures
from ir_measures.measures import Measure
from ir_measures.providers import Evaluator
from ir_measures.util import Metric

from ir_graded.io.ids import as_text
from ir_graded.io.sources import table_of
from ir_graded.measures import GradedMeasure

from . import pipeline, upstream_inputs as upstream
from .provider import PROVIDER, GradedEvaluator


def needs_subtopics(measure: Measure) -> bool:
    """Whether a measure of ir-measures needs the qrels' subtopics (column ``iteration``)."""
    return any(measure.NAME == known.NAME for known in ir_measures.pyndeval.SUPPORTED_MEASURES)


def compose(measures: list[Measure], qrels: Any) -> Evaluator:
    """An evaluator for measures of both sides; results come in the order of ``measures``.

    Args:
        measures: measures of this package and of others.
        qrels: the qrels in any form.
    """
    graded_measures = [measure for measure in measures if isinstance(measure, GradedMeasure)]
    if len(graded_measures) == len(measures):
        return PROVIDER.evaluator(measures, qrels)
    with_subtopics = any(map(needs_subtopics, measures))
    if with_subtopics and isinstance(qrels, Iterator):
        qrels = list(qrels)
    graded = PROVIDER.evaluator(graded_measures, qrels)
    return ComposedEvaluator(measures, graded, qrels if with_subtopics else None)


class ComposedEvaluator(Evaluator):
    """Scores runs by measures of this package and by others. Threads may share it, and it pickles.

    Args:
        measures: all of them, in the order in which results come.
        graded: the evaluator of this package's measures.
        qrels: the caller's own qrels, for measures that need subtopics: only they hold them.
    """

    def __init__(self, measures: list[Measure], graded: GradedEvaluator, qrels: Any = None) -> None:
        super().__init__(measures, graded.judgments.query_ids)
        self.graded = graded
        self._qrels = qrels
        # They are given runs as dicts and name topics by text.
        self.others: list[Evaluator] = []
        others = [measure for measure in measures if not isinstance(measure, GradedMeasure)]
        subtopics = [measure for measure in others if needs_subtopics(measure)]
        plain = [measure for measure in others if measure not in subtopics]
        if plain:
            self.others.append(pipeline.evaluator(plain, upstream.qrels_dicts(graded.judgments)))
        if subtopics:
            self.others.append(pipeline.evaluator(subtopics, qrels))

    def __reduce__(self) -> tuple[Any, ...]:
        # The other evaluators do not pickle: they are made again.
        return type(self), (self.measures, self.graded, self._qrels)

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
                number = judgments.number.get(as_text(metric.query_id))
                # A provider may yield topics that only the run has.
                if number is not None:
                    yield Metric(judgments.query_ids[number], metric.measure, metric.value)
