"""Many topics and long rankings: no overflow, and every topic keeps the score that it has alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from ir_measures import AP, NumRet
from reference import ranked

import ir_graded
from ir_graded.evaluation.provider import PROVIDER

pytestmark = pytest.mark.slow

TOPICS = 1_000_000
#: One measure for each algorithm: sums, one rank, thresholds, cascades, counts.
MEASURES = [ir_graded.Q, ir_graded.R_WP, ir_graded.GAP, ir_graded.nERR(max_rel=4), AP, NumRet]


def tables(topics):
    """Return qrels with two documents per topic and runs with one or two, of four kinds in turn."""
    number = np.arange(topics)
    names = pl.Series("t", number).cast(pl.String)
    level = pl.DataFrame({"query_id": pl.concat([names, names]), "doc_id": ["a"] * topics + ["b"] * topics})
    qrels = level.with_columns(relevance=np.concatenate((1 + number % 2, 0.5 + number % 4)))
    run = level.with_columns(score=np.concatenate((1.0 + number % 3, 2.0 + number % 2)))
    # In topic order; every third topic has only its first document.
    run = run[np.arange(2 * topics).reshape(2, -1).T.ravel()]
    return qrels, run.filter(pl.Series((np.repeat(number % 3, 2) > 0) | (np.arange(2 * topics) % 2 == 0)))


def as_dicts(table, value):
    nested = {}
    for topic, doc, number in table.select("query_id", "doc_id", value).iter_rows():
        nested.setdefault(topic, {})[doc] = number
    return nested


def by_formulas(qrels, run):
    """Return scores of the plain reference; AP is Q without gain, and NumRet is counted."""
    qrels, run = as_dicts(qrels, "relevance"), as_dicts(run, "score")
    measures = [("Q", {}), ("R-WP", {}), ("GAP", {}), ("nERR", {"max_rel": 4}), ("Q", {"beta": 0})]
    scores = [[*ranked.evaluate(name, params, qrels, run).values()] for name, params in measures]
    return np.array([*scores, [len(docs) for docs in run.values()]])


@pytest.mark.release
def test_a_million_topics_score_like_a_few():
    period = 12
    few = ir_graded.evaluate(MEASURES, *tables(period)).values
    np.testing.assert_allclose(few[:, 0], by_formulas(*tables(period)), rtol=0, atol=1e-12)
    found = ir_graded.evaluate(MEASURES, *tables(TOPICS))
    assert found.values.shape == (len(MEASURES), 1, TOPICS)
    assert len(np.unique(few, axis=2)[0, 0]) > 4
    everywhere = np.tile(few, TOPICS // period + 1)[:, :, :TOPICS]
    assert np.array_equal(found.values, everywhere)
    counts = np.bincount(np.arange(TOPICS) % period)
    for number, measure in enumerate(found.measures):
        values = map(Fraction, few[number, 0].tolist())
        total = sum(count * value for count, value in zip(counts.tolist(), values, strict=True))
        expected = float(total) if measure.NAME.startswith("Num") else float(total) / TOPICS
        assert found.aggregates[0, number] == expected, measure


def test_a_long_ranking_is_scored():
    """``exactness.py`` measures its digits; this test has a relevant document at the last rank."""
    documents = 100_000
    run = {"1": {f"d{n}": -float(n) for n in range(documents)}}
    qrels = {"1": {f"d{documents - 1}": 3, "x": 2}}
    last = ir_graded.BR(beta=0) @ documents
    found = {str(m.measure): m.value for m in PROVIDER.evaluator([last, ir_graded.O], qrels).iter_calc(run)}
    assert found == {str(last): 1 / documents, "O-measure": (1 + 3) / (documents + 5)}
    every = {"1": dict.fromkeys(run["1"], 1.1)}
    ideal = ir_graded.evaluate(
        ["Q", "AWP", "NCU", "NCU(stop='rb',gamma=1)", "nERR", "AP", "nDCG"], every, run
    )
    assert ideal.values.ravel().tolist() == pytest.approx([1] * 7, rel=1e-15)
