"""Input for the package and for other programs, with the values of the package by measure and topic."""

from __future__ import annotations

from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd
from helpers import rows_of

import ir_graded
from ir_graded import meta

ByMeasure = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Lists:
    """Qrels and a run.

    Attributes:
        qrels: level by topic and document, or columns of a table.
        run: score by topic and document.
        as_tables: whether the package gets tables instead of dicts.
        intents: probabilities and types of intents.
    """

    qrels: dict[str, dict[str, float]] | dict[str, list]
    run: dict[str, dict[str, float]]
    as_tables: bool = False
    intents: dict | None = None

    def scores(self, measures) -> ByMeasure:
        """Return the scores by all measures, from one call."""
        measures, qrels, run = list(measures), self.qrels, self.run
        if "doc_id" in qrels:
            qrels = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in qrels.items()})
            qrels["relevance"] = qrels["relevance"].astype(float)
        elif self.as_tables:
            qrels = pd.DataFrame(rows_of(qrels), columns=["query_id", "doc_id", "relevance"])
            run = pd.DataFrame(rows_of(run), columns=["query_id", "doc_id", "score"])
        found = ir_graded.evaluate(measures, qrels, {"run": run}, intents=self.intents)
        values = found.values[:, 0].tolist()
        return {
            measure: dict(zip(found.query_ids, of_measure, strict=True))
            for measure, of_measure in zip(measures, values, strict=True)
        }


@dataclass(frozen=True)
class Ranking:
    """The levels of one ranking, None for unjudged documents: values and residuals of measures."""

    levels: list[float | None]

    def scores(self, measures) -> ByMeasure:
        docs = {f"d{rank}": level for rank, level in enumerate(self.levels)}
        qrels = {doc: level for doc, level in docs.items() if level is not None}
        run = {doc: -float(rank) for rank, doc in enumerate(docs)}
        metrics = ir_measures.iter_calc(
            [ir_measures.parse_measure(measure) for measure in measures], {"1": qrels}, {"1": run}
        )
        return {str(m.measure): {"value": m.value, "residual": m.residual} for m in metrics}


@dataclass(frozen=True)
class Labels:
    """The labels of several judges, one row per document: coefficients of agreement."""

    rows: list[list[float | None]]
    levels: list[float]
    measurement: str = "ordinal"

    def scores(self, names) -> ByMeasure:
        labels = np.array(self.rows, dtype=float)
        found = meta.agreement(
            labels, topics=[1] * len(labels), levels=self.levels, measurement=self.measurement, n_resamples=2
        )
        table = found.to_frame().drop_duplicates("coefficient", keep="last").set_index("coefficient")
        return {name: {"": float(table["value"][name])} for name in names}


@dataclass(frozen=True)
class Estimate:
    """Scores of topics by human labels and by a model, and of further topics by the model."""

    human: list[float]
    model: list[float]
    further: list[float]

    def scores(self, names) -> ByMeasure:
        row = (
            meta.prediction_powered(
                {"Q": np.array([self.human]).T},
                {"Q": np.array([[*self.model, *self.further]]).T},
                quantile="normal",
            )
            .to_frame()
            .iloc[0]
        )
        return {name: {"": float(row[name])} for name in names}


KINDS = {kind.__name__: kind for kind in (Lists, Ranking, Labels, Estimate)}
