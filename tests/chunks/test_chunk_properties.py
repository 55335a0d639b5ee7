"""Properties of measures of rows that follow from their definitions."""

import numpy as np
import pandas as pd
import pytest
from chunks import chunk_cases as cases
from hypothesis import given, strategies as st
from ir_measures import P
from measures import measure_cases
from passages import passage_cases

import ir_graded
from ir_graded import AiP, CharF, CharP, CharR, IoU, Passage2AP, iP

examples = measure_cases.examples(30)
TOPIC = {"topics": ("1",)}
QRELS = passage_cases.qrels(**TOPIC, levels=(0, 1, 2))
RUNS = passage_cases.runs(**TOPIC, min_size=1)
SETS = [CharP, CharR, IoU, CharP(overlap="once"), IoU(overlap="once"), CharP(overlap="each")]
IN_ORDER = [iP(overlap="retrieved") @ 0.1, AiP(overlap="retrieved")]


def distinct(run):
    """Return the rows with distinct scores."""
    return [(topic, doc, -float(at), *span) for at, (topic, doc, _, *span) in enumerate(run)]


def assert_same(measures, one, other):
    found, changed = cases.scores(measures, *one), cases.scores(measures, *other)
    for name, by_topic in found.items():
        assert changed[name] == pytest.approx(by_topic, abs=1e-12)


def shuffled(rows, order):
    return [rows[at] for at in np.random.default_rng(order).permutation(len(rows))]


@pytest.mark.slow
@examples
@given(qrels=QRELS, run=RUNS, order=st.integers(0, 99))
def test_the_order_of_the_rows_of_a_run_changes_nothing(qrels, run, order):
    found = cases.scores(cases.OVERLAPPING, qrels, shuffled(run, order))
    assert found == cases.scores(cases.OVERLAPPING, qrels, run)


@pytest.mark.slow
@examples
@given(qrels=QRELS, run=RUNS, order=st.integers(0, 99))
def test_the_order_of_the_rows_of_qrels_changes_nothing(qrels, run, order):
    """PassageAP is excepted: its rows find the first span in the order of the qrels."""
    measures = [measure for measure in cases.OVERLAPPING if measure.NAME != "PassageAP"]
    assert cases.scores(measures, shuffled(qrels, order), run) == cases.scores(measures, qrels, run)


@pytest.mark.slow
@examples
@given(qrels=QRELS, run=RUNS, order=st.integers(0, 99))
def test_the_order_of_the_ranking_does_not_matter_to_measures_of_sets(qrels, run, order):
    assert_same(SETS, (qrels, run), (qrels, distinct(shuffled(run, order))))


@pytest.mark.slow
@examples
@given(qrels=QRELS, run=RUNS.map(distinct), at=st.integers(0, 23), first=st.integers(0, 9))
def test_splitting_a_row_changes_nothing_in_measures_of_sets(qrels, run, at, first):
    topic, doc, score, start, length = run[at % len(run)]
    first = min(first, length)
    halves = [(topic, doc, score, start, first), (topic, doc, score - 0.5, start + first, length - first)]
    split = [row for row in run if row[2] != score] + halves
    assert_same([*SETS, Passage2AP], (qrels, run), (qrels, split))


@pytest.mark.slow
@examples
@given(qrels=QRELS, run=RUNS, at=st.integers(0, 23), first=st.integers(0, 9))
def test_splitting_a_highlighted_span_changes_nothing(qrels, run, at, first):
    """PassageAP is excepted: its rows find only one span."""
    at %= len(qrels)
    topic, doc, level, start, length = qrels[at]
    first = min(first, length)
    split = [*qrels[:at], *qrels[at + 1 :]]
    split += [(topic, doc, level, start, first), (topic, doc, level, start + first, length - first)]
    measures = [measure for measure in cases.OVERLAPPING if measure.NAME != "PassageAP"]
    assert_same(measures, (qrels, run), (split, run))


@pytest.mark.slow
@examples
@given(qrels=QRELS, run=RUNS)
def test_inequalities_between_measures_hold(qrels, run):
    names = [CharP, CharP(overlap="once"), IoU, IoU(overlap="once"), *IN_ORDER, iP(overlap="retrieved") @ 0]
    ladder = [iP(overlap="retrieved") @ x for x in np.linspace(0, 1, 11).round(1).tolist()]
    recalls = [CharR @ k for k in (1, 2, 3, 5, 8)] + [CharR]
    found = {
        name: by_topic["1"]
        for name, by_topic in cases.scores([*names, *ladder, *recalls], qrels, run).items()
    }
    assert found["CharP(overlap='once')"] >= found["CharP"]
    assert found["IoU(overlap='once')"] >= found["IoU"]
    assert found[str(AiP(overlap="retrieved"))] <= found[str(iP(overlap="retrieved") @ 0)] + 1e-15
    assert [found[str(one)] for one in ladder] == sorted((found[str(one)] for one in ladder), reverse=True)
    assert [found[str(one)] for one in recalls] == sorted(found[str(one)] for one in recalls)


@pytest.mark.slow
@examples
@given(qrels=passage_cases.qrels(levels=(1, 2), min_length=1))
def test_retrieving_the_highlighted_spans_scores_1(qrels):
    one = {(row[0], row[1]): row for row in qrels}
    rows = list(one.values())
    run = [(topic, doc, level, start, length) for topic, doc, level, start, length in rows]
    for by_topic in cases.scores([CharP, CharR, CharF, IoU, iP @ 1, AiP, *IN_ORDER], rows, run).values():
        assert by_topic == pytest.approx(dict.fromkeys(by_topic, 1.0))


def test_precision_of_articles_of_one_length_is_that_of_documents():
    rng = np.random.default_rng(3)
    whole = {"query_id": "1", "start": 0, "length": 50}
    qrels = pd.DataFrame(
        {"doc_id": [f"d{n}" for n in range(40)], "relevance": rng.integers(0, 2, 40), **whole}
    )
    run = pd.DataFrame({"doc_id": [f"d{n}" for n in rng.permutation(60)], "score": -np.arange(60.0), **whole})
    for k in (1, 5, 20, 60):
        found = ir_graded.evaluate([CharP @ k, P @ k], qrels, run).mean().iloc[0].tolist()
        assert found[0] == pytest.approx(found[1])


@pytest.mark.slow
def test_articles_of_a_topic_do_not_touch_those_of_another():
    """Rows score equally in one and in several topics, also if a run has no rows for a topic."""
    qrels, run = passage_cases.random_rows(5, topics=6, articles=30, judged=20)
    together = cases.scores(cases.OVERLAPPING, qrels, run)
    for topic in {row[0] for row in qrels}:
        alone = [[row for row in rows if row[0] == topic] for rows in (qrels, run)]
        for name, by_topic in cases.scores(cases.OVERLAPPING, *alone).items():
            assert by_topic[topic] == together[name][topic]
