"""Explanations: tables and texts of single topics."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import ir_graded

from .. import draws, spread
from ..recorder import Recorder, section
from .passages import passage_frame
from .scores import sample, sample_runs

_TOPICS = ("1", "3", "17")


@section("explain", "explanations of the sample and of random topics", quick=True)
def _explain(out: Recorder) -> None:
    qrels = _of_topics(sample().qrels)
    measures = spread.plain() if out.quick else (*spread.single(), *spread.classics())
    for name, whole in sample_runs(1 if out.quick else 3).items():
        run = _of_topics(whole)
        for measure, topic in product(measures, _TOPICS[:1] if out.quick else _TOPICS):
            _record(out, measure, f"{name}, topic {topic}", qrels, run, topic)
    for drawn in map(draws.collection, range(0 if out.quick else 400)):
        topic = next(topic for topic in drawn.run if topic in drawn.qrels and drawn.run[topic])
        for measure in spread.some((*spread.combined(), *spread.classics()), 0.02, drawn.name):
            if spread.fits(measure, drawn.highest):
                _record(out, measure, drawn.name, drawn.qrels, drawn.run, topic)


@section("explain passages", "explanations over passages")
def _explain_passages(out: Recorder) -> None:
    for number in range(40):
        name, *rows = draws.passages(number)
        qrels, run = passage_frame("qrels", rows[0]), passage_frame("run", rows[1])
        for measure in spread.some(spread.single(passages=True), 0.3, name):
            _record(out, measure, name, qrels, run, qrels["query_id"].iloc[0])


def _of_topics(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of some topics, of a run down to rank 300."""
    return frame[frame["query_id"].isin(_TOPICS)].groupby("query_id", sort=False).head(300)


def _record(out: Recorder, measure: Any, where: str, qrels: Any, run: Any, topic: str) -> None:
    with out.errors(f"{measure}", where):
        found = ir_graded.explain(measure, qrels, run, topic)
        for name, values in found.columns.items():
            kept = values if values.dtype.kind in "biuf" else [str(value) for value in values]
            out.values(f"{measure}, column {name}", where, kept)
        out.values(f"{measure}, score", where, np.array([found.score]))
        counts = {"relevant": found.relevant, "retrieved": found.retrieved, "below": found.below}
        out.result(f"{measure}, counts", where, counts)
        if out.quick:
            return
        types = [f"{name}: {dtype}" for name, dtype in found.to_frame().dtypes.items()]
        out.values(f"{measure}, types", where, types)
        # The text above the table counts as a message.
        prose, _, table = found.text(6).partition("\n\n")
        out.text(f"{measure}, table", where, table)
        if topic == _TOPICS[0]:
            out.message(f"{measure}, prose", where, prose)
