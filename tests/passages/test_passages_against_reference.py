"""MAgP, gP and gR compared with the plain reference, and with measures of documents of whole articles."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from ir_measures import AP, P, R
from measures import measure_cases
from passages import passage_cases as cases
from reference import passages

import ir_graded
from ir_graded import MAgP, gP, gR
from ir_graded.core.facets import SPAN

examples = measure_cases.examples


def test_the_reference_equals_values_by_hand():
    """P 0.3 and R 0.375 at the first rank; then an article without relevance, then one retrieved exactly."""
    qrels = [("1", "a", 1, 0, 30), ("1", "a", 1, 100, 50), ("1", "b", 1, 0, 9), ("1", "c", 1, 0, 1)]
    run = [("1", "b", 1.0, 0, 9), ("1", "a", 3.0, 20, 100), ("1", "x", 2.0, 0, 5)]
    values = {
        ("MAgP", 1, None): (1 / 3 + (1 / 3 + 1) / 3) / 3,
        ("MAgP", 0.25, None): (0.30357142857142855 + 1.30357142857142855 / 3) / 3,
        ("MAgP", math.inf, 2): 0.375 / 3,
        ("gP", 0, 4): 1.3 / 4,
        ("gR", 1, 2): 1 / 3,
    }
    for (name, beta, cutoff), value in values.items():
        params = {"beta": beta, "cutoff": cutoff}
        assert passages.evaluate(name, params, qrels, run) == {"1": pytest.approx(value, abs=1e-15)}


EVERY = [
    *(("MAgP", {"beta": beta}) for beta in (0.25, math.inf)),
    ("MAgP", {}),
    ("MAgP", {"rel": 2, "cutoff": 20, "beta": 4}),
    *(("gP", {"cutoff": cutoff, "beta": 0.25}) for cutoff in (10, 1000)),
    *(("gR", {"cutoff": cutoff, "rel": rel}) for cutoff, rel in ((10, 1), (50, 2))),
]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_measures_equal_the_reference_on_many_topics(seed):
    qrels, run = cases.random_rows(seed)
    assert len(run) == 41 * 200 * 4
    cases.assert_equal_the_reference(EVERY, qrels, run)


@pytest.mark.slow
def test_the_random_tables_tell_measures_apart():
    rows = cases.random_rows(1)
    qrels, run = cases.frame("qrels", rows[0]), cases.frame("run", rows[1])
    found = cases.scores([cases.MEASURES[name](**params) for name, params in EVERY], qrels, run)
    assert len({tuple(by_topic.items()) for by_topic in found.values()}) == len(EVERY)
    assert found["MAgP"]["0"] == 0  # not in the run
    assert "41" not in found["MAgP"]  # not in the qrels
    assert all(value > 0 for topic, value in found["MAgP"].items() if topic != "0")


@pytest.mark.slow
def test_tables_with_thousands_of_passages_in_one_article_are_scored():
    """One article with thousands of spans makes long scans; many articles have one span."""
    random = np.random.default_rng(0)
    qrels = [("1", "long", 1, int(start), 7) for start in random.integers(0, 50_000, 3000)]
    qrels += [("1", f"d{n}", 1, n, 10) for n in range(50)]
    run = [("1", "long", 1.0, int(start), 5) for start in random.integers(0, 50_000, 3001)]
    run += [("1", f"d{n}", n / 10, n + 3, 10) for n in range(50)]
    cases.assert_equal_the_reference([("MAgP", {}), ("gP", {"cutoff": 41, "beta": 0.25})], qrels, run)


def whole(kind, dicts, pieces):
    """Return the documents of a dict of dicts as whole articles, in one row or in several pieces."""
    rows = []
    for topic, docs in dicts.items():
        for doc_id, value in docs.items():
            size = 5 + sum(map(ord, doc_id)) % 40
            cut = pieces % size
            spans = [(0, size)] if not cut else [(cut, size - cut), (0, cut)]
            rows += [(topic, doc_id, value, *span) for span in spans]
    return cases.frame(kind, rows)


@examples(50)
@given(
    qrels=measure_cases.qrels_for_pytrec_eval(),
    run=measure_cases.runs_for_pytrec_eval(),
    rel=st.integers(1, 3),
    cutoff=st.integers(1, 16),
    beta=st.sampled_from(cases.BETAS),
    pieces=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_whole_articles_give_ap_precision_and_recall(qrels, run, rel, cutoff, beta, pieces):
    pairs = {
        MAgP(rel=rel, beta=beta): AP(rel=rel),
        MAgP(rel=rel, beta=beta) @ cutoff: AP(rel=rel) @ cutoff,
        gP(rel=rel, beta=beta) @ cutoff: P(rel=rel) @ cutoff,
        gR(rel=rel, beta=beta) @ cutoff: R(rel=rel) @ cutoff,
    }
    found = cases.scores(pairs, whole("qrels", qrels, pieces[0]), whole("run", run, pieces[1]))
    expected = cases.scores(pairs.values(), qrels, run)
    for measure, theirs in pairs.items():
        measure_cases.assert_same_scores(found[str(measure)], expected[str(theirs)])


def test_measures_are_in_the_registry_under_their_names():
    registry = ir_graded.measures.REGISTRY
    of_articles = {n for n in registry if SPAN in registry[n].NEEDS and not registry[n].NEEDS_ROWS}
    assert of_articles == {*cases.MEASURES, "AgP"}
