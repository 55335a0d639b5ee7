"""The measures as an ir-measures provider: qrels are prepared once, each run is scored on its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from ir_measures.providers import Evaluator, Provider
from ir_measures.util import Metric

from .errors import InputError
from .inputs.judgments import Judgments
from .inputs.sources import hits_of, is_empty, judgments_of, table_of
from .inputs.table import PASSAGE_COLUMNS, VALUE_COLUMNS
from .measures import REGISTRY, GradedMeasure
from .measures.aggregate import exact_mean
from .segments import Floats
from .views import Views


class GradedEvaluator(Evaluator):
    """Scores runs against qrels that were prepared once; keeps nothing of a run, and pickles.

    Args:
        measures: the measures, in the order in which results come.
        judgments: the prepared qrels.
    """

    def __init__(self, measures: Iterable[GradedMeasure], judgments: Judgments) -> None:
        super().__init__(list(measures), judgments.query_ids)
        self.judgments = judgments
        for measure in self.measures:
            measure.validate_params()
            max_rel = measure.params.get("max_rel")
            if max_rel is not None:
                judgments.check_max_rel(measure, max_rel)
        self.passage_measures = [measure for measure in self.measures if measure.NEEDS_PASSAGES]
        if self.passage_measures and judgments.names and judgments.levels.highlights is None:
            raise InputError(without_passages("qrels", self.passage_measures[0]))
        self.lowest = min((measure.lowest_level for measure in self.measures), default=np.inf)

    def scores(self, run: Any) -> dict[Measure, Floats]:
        """Score of each measure for each topic of the qrels, in their order.

        Args:
            run: a run in any form.

        Raises:
            InputError: the run holds something that cannot be scored.
        """
        if not isinstance(run, Mapping):
            run = table_of("run", run)
        hits = hits_of(self.judgments, run, self.lowest)
        # An empty run lacks the columns at times: PyTerrier makes such for topics that no batch had.
        if self.passage_measures and hits.retrieved is None and not is_empty(run):
            raise InputError(without_passages("run", self.passage_measures[0]))
        views = Views(self.judgments.levels, hits)
        return {measure: measure.score(views) for measure in self.measures}

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yields the metric of every measure for every topic of the qrels, as ir-measures has it."""
        for measure, scores in self.scores(run).items():
            yield from map(Metric, self.judgments.query_ids, repeat(measure), scores.tolist())

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """The mean of each measure over the topics of the qrels."""
        return {measure: exact_mean(scores.tolist()) for measure, scores in self.scores(run).items()}


def without_passages(kind: str, measure: GradedMeasure) -> str:
    """What is wrong with qrels or a run that name documents only."""
    columns = f"query_id, doc_id, {VALUE_COLUMNS[kind]}, start, length"
    return (
        f"{measure} needs passages, and the {kind} given hold none: give a table or named tuples with the "
        f"fields {columns}, or a file that has them; a dict of dicts cannot"
    )


class GradedProvider(Provider):
    """ir-measures' way to the measures of this package."""

    NAME = "ir_graded"
    SUPPORTED_MEASURES = list({id(measure): measure for measure in REGISTRY.values()}.values())

    def supports(self, measure: Measure) -> bool:
        """Whether ``measure`` is one of ours. Raises ParameterError where it lacks what it needs."""
        if not isinstance(measure, GradedMeasure):
            return False
        measure.validate_params()
        return True

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> GradedEvaluator:
        measures = list(measures)
        unknown = [measure for measure in measures if not self.supports(measure)]
        if unknown:
            raise ValueError(f"the provider {self.NAME} has no {', '.join(map(str, unknown))}")
        return GradedEvaluator(measures, judgments_of(qrels))

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Columns that the measures need in a run."""
        return ["query_id", "doc_id", "score", *_passage_columns(measures)]

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Columns that the measures need in the qrels."""
        return ["query_id", "doc_id", "relevance", *_passage_columns(measures)]


def _passage_columns(measures: Iterable[Measure]) -> tuple[str, ...]:
    return PASSAGE_COLUMNS if any(measure.NEEDS_PASSAGES for measure in measures) else ()


PROVIDER = GradedProvider()
