"""Hits of dicts and tables, topics without relevant documents, and parameters at their limits."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from measures import measure_cases as cases
from reference import ranked

import ir_graded
from ir_graded.matching.match import match_run, prepare_qrels


def assert_all_equal_the_reference(chosen, qrels, runs):
    """Compare measures with parameters on a run, given as a dict of dicts and as a table."""
    expected = {m(**params): cases.reference_scores(m, params, qrels, runs[0]) for m, params in chosen}
    for run in runs:
        got = cases.scores_of_all(expected, qrels, run)
        for measure, scores in expected.items():
            cases.assert_same_scores(got[measure], scores)


def test_a_gain_equal_to_its_level_adds_no_level():
    runs = {"1": {"a": 1.0}}, pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
    assert_all_equal_the_reference([(ir_graded.EBR, {"gains": {3: 3, 16: 1e-9}})], {"1": {"a": 16}}, runs)


@cases.examples(60)
@given(qrels=cases.qrels(), runs=cases.runs_twice(), lowest=st.sampled_from([-np.inf, 0.0, 0.5, 1.0, 3.0]))
def test_dicts_and_tables_give_equal_hits(qrels, runs, lowest):
    judgments = prepare_qrels(qrels)
    of_dicts, of_table = (match_run(judgments, run, lowest) for run in runs)
    for name in ("topic", "rank", "level_index"):
        assert getattr(of_dicts, name).tolist() == getattr(of_table, name).tolist()


@cases.examples(60)
@given(qrels=cases.qrels(), run=cases.runs())
def test_hits_are_the_judged_documents_at_their_ranks(qrels, run):
    judgments = prepare_qrels(qrels)
    hits = match_run(judgments, run)
    got = [
        (judgments.names[topic], rank, judgments.levels.values[grade])
        for topic, rank, grade in zip(
            hits.topic.tolist(), hits.rank.tolist(), hits.level_index.tolist(), strict=True
        )
    ]
    expected = [
        (topic, rank, levels[doc_id])
        for topic, levels in qrels.items()
        for rank, doc_id in enumerate(ranked.ranking(run.get(topic, {})), start=1)
        if doc_id in levels
    ]
    assert got == expected


EVERY_MEASURE = [
    m @ 5 if cases.needs_cutoff(m, {}) else m for m in cases.MEASURES.values() if "nothing" not in m.lacks
]


SCORED_ZERO = {
    "empty run": ({"1": {"a": 1}}, {}),
    "only topics without qrels": ({"1": {"a": 1}}, {"2": {"a": 1.0}}),
    "nothing relevant in the qrels": ({"1": {"a": 0, "b": -1}}, {"1": {"a": 2.0, "b": 1.0}}),
    "only unjudged documents": ({"1": {"a": 1}}, {"1": {"x": 1.0, "y": 2.0}}),
    "only soft labels below rel": ({"1": {"a": 0.75}}, {"1": {"a": 1.0}}),
    "topic without judgments": ({"1": {}}, {"1": {"a": 1.0}}),
}


@pytest.mark.parametrize("case", SCORED_ZERO)
def test_topics_without_relevant_hits_score_zero(case):
    qrels, run = SCORED_ZERO[case]
    # DCG gives a gain to soft labels.
    chosen = [m for m in EVERY_MEASURE if m.cut.rel == 1 or "soft" not in case]
    assert len(chosen) >= len(EVERY_MEASURE) - 1
    for form in (run, cases.run_frame(cases.run_rows(run))):
        found = cases.scores_of_all(chosen, qrels, form)
        assert [*found.values()] == [{"1": 0.0}] * len(chosen)


def test_the_mean_counts_missing_topics_of_the_run_and_no_others():
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 0}}
    run = {"1": {"a": 1.0}, "9": {"a": 1.0}}
    alone = ir_measures.calc_aggregate(EVERY_MEASURE, {"1": {"a": 1}}, run)
    for measure, mean in ir_measures.calc_aggregate(EVERY_MEASURE, qrels, run).items():
        assert alone[measure] > 0, measure
        assert mean == pytest.approx(alone[measure] / 3, abs=1e-15), measure


THREE_LEVELS = {"1": {"a": 3, "b": 1, "c": 2}}
ALL_RETRIEVED = {"1": {"b": 3.0, "x": 2.0, "a": 1.0, "c": 0.0}}


@pytest.mark.parametrize("scale", [1e-20, 1e-13, 1e-10, 1e10])
def test_gap_takes_weights_of_any_size(scale):
    params = {"weights": {1: 1.7 * scale, 2: 0.3 * scale, 3: 2.9 * scale}}
    got = cases.scores(ir_graded.GAP(**params), THREE_LEVELS, ALL_RETRIEVED)
    cases.assert_same_scores(got, cases.reference_scores(ir_graded.GAP, params, THREE_LEVELS, ALL_RETRIEVED))


@pytest.mark.parametrize("gamma", [1e-17, 1e-6, 1 - 1e-12, 1 - 1e-16])
def test_ncu_takes_gamma_at_the_limits_of_its_range(gamma):
    params = {"stop": "rb", "gamma": gamma}
    got = cases.scores(ir_graded.NCU(**params), THREE_LEVELS, ALL_RETRIEVED)
    cases.assert_same_scores(got, cases.reference_scores(ir_graded.NCU, params, THREE_LEVELS, ALL_RETRIEVED))
