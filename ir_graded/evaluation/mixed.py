"""Evaluation with measures that others define (``ir_measures.define``) together with those computed here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from ir_measures.providers import Evaluator
from ir_measures.util import Metric

from ir_graded.core.facets import POSITION
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Floats
from ir_graded.errors import InputError
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import prepare_qrels, table_of_run

from .provider import GradedEvaluator, native_scorers, wanted_columns, warn_of_parts

if TYPE_CHECKING:
    import pandas as pd


class MixedEvaluator(Evaluator):
    """Evaluator of measures of this package and of others. It can be pickled if the measures can."""

    def __init__(self, measures: list[Measure], graded: GradedEvaluator) -> None:
        super().__init__(measures, graded.judgments.query_ids)
        self.graded = graded
        self.others = [measure for measure in measures if measure not in graded.scorers]
        # One evaluator each, so that measures cannot affect each other.
        self.evaluators = [
            ir_measures.DefaultPipeline.evaluator([measure], _qrels_frame(graded.judgments))
            for measure in self.others
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        # The evaluators of other providers cannot be pickled and are created again.
        return type(self), (self.measures, self.graded)

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        run = table_of_run(self.graded.judgments, run)
        yield from self.graded.iter_calc(run)
        for number, metric in self._of_others(run):
            yield Metric(self.graded.judgments.query_ids[number], metric.measure, metric.value)

    def _of_others(self, run: Any) -> Iterator[tuple[int, Metric]]:
        """Yield the metrics of the other providers, each with the number of its topic."""
        judgments = self.graded.judgments
        rows = _run_frame(judgments, run)
        for evaluator in self.evaluators:
            for metric in evaluator.iter_calc(rows):
                number = judgments.number.get(as_text(metric.query_id))
                # A provider may yield topics that only the run has.
                if number is not None:
                    yield number, metric

    def scores_of(self, judged_run: JudgedRun, run: Any) -> dict[Measure, Floats]:
        """Return the score of each measure for each topic of the qrels, from a match and its run."""
        scores = self.graded.scores_of(judged_run)
        if self.others:
            topics = len(self.graded.judgments.names)
            scores |= {measure: np.full(topics, measure.DEFAULT, dtype=float) for measure in self.others}
            for number, metric in self._of_others(run):
                scores[metric.measure][number] = metric.value
        return scores


def compose(measures: list[Measure], qrels: Any) -> Evaluator:
    """Return an evaluator for measures of this package and others, with results in their order."""
    judgments = prepare_qrels(qrels, wanted_columns(measures))
    scorers = native_scorers(measures)
    others = [measure for measure in measures if measure not in scorers]
    graded = GradedEvaluator(scorers, judgments, others=others)
    warn_of_parts(scorers, judgments, qrels)
    return MixedEvaluator(measures, graded) if others else graded


def _qrels_frame(judgments: Judgments) -> pd.DataFrame:
    """Return prepared qrels as a frame, with a row for each intent of a document if they have intents.

    Levels that are all whole numbers are integers.
    """
    import pandas as pd

    levels, intents = judgments.levels, judgments.levels.intents
    of_rows = levels if intents is None else intents.levels
    document = np.arange(levels.topic.size) if intents is None else intents.document
    level = of_rows.values[of_rows.level_index]
    whole = bool((level == np.floor(level)).all())
    names, doc_ids = (np.array(ids, dtype=object) for ids in (judgments.names, judgments.doc_ids))
    columns = {"query_id": names[levels.topic[document]], "doc_id": doc_ids[document]}
    columns["relevance"] = level.astype(np.int64) if whole else level
    if intents is not None:
        columns["iteration"] = np.array(judgments.intent_names, dtype=object)[of_rows.topic]
    return pd.DataFrame(columns)


def _run_frame(judgments: Judgments, run: Any) -> pd.DataFrame:
    """Return the topics of a run that the qrels have as a frame, with one row a document."""
    import pandas as pd

    from ir_graded.matching.articles import one_row_an_article
    from ir_graded.matching.tables import has_ties

    table = table_of_run(judgments, run)
    known = table.query_id.is_in(judgments.names).fill_null(value=False).arg_true().to_numpy()
    table = one_row_an_article(table[known.astype(np.int64)])
    if table.has(POSITION) and has_ties(table.query_id, table.value):
        raise InputError(
            "the run has positions, which rank its documents with equal scores, but measures that others "
            "define rank them by doc_id: leave out these measures, or the column position"
        )
    columns = {"query_id": table.query_id.to_list(), "doc_id": table.doc_id.to_list()}
    return pd.DataFrame({**columns, "score": np.asarray(table.value, dtype=np.float64)})
