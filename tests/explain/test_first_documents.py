"""Test the first documents of runs against plain sorting, and their contributions against ``explain``."""

import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded.analyses.explain import first_documents
from ir_graded.evaluation.evaluate import Request

MEASURES = ["Q", "nDCG@5", "P+(judged_only=True)", "AP(ties='optimistic')"]


def _random_input(seed):
    """Return qrels with levels from -1 to 3, and a run with ties; not all documents and topics are shared."""
    source = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(40)]

    def draw(size, low, high):
        chosen = source.choice(names, size, replace=False).tolist()
        return dict(zip(chosen, source.integers(low, high, size).tolist(), strict=True))

    qrels = {f"q{topic}": draw(20, -1, 4) for topic in range(4)}
    run = {f"q{topic}": draw(source.choice([1, 7, 30]), 0, 10) for topic in (3, 1, 0, 7)}
    return qrels, run


def _found(measures, qrels, run, depth, topic=None):
    request = Request(measures, qrels, {"run": run})
    scorers = [request.evaluator.graded.scorers.get(measure) for measure in request.measures]
    (found,) = request.match(lambda matched: first_documents(request, matched, scorers, depth, topic), 0.0)
    return request, found


def _forms(run, folder):
    rows = [(topic, doc, score) for topic, docs in run.items() for doc, score in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    path = folder / "one.run"
    path.write_text("".join(f"{topic} Q0 {doc} 1 {score} r\n" for topic, doc, score in rows))
    return run, frame, path


@pytest.mark.parametrize("seed", range(25))
def test_documents_are_those_of_plain_sorting(seed, tmp_path):
    qrels, run = _random_input(seed)
    depth = [1, 3, 10, 50][seed % 4]
    expected = []
    for topic, judged in qrels.items():
        docs = sorted(run.get(topic, {}).items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
        for rank, (doc, _) in enumerate(docs[:depth], 1):
            level = judged.get(doc, -1)
            expected.append((topic, rank, doc, level if level >= 0 else None))
    for form in _forms(run, tmp_path):
        request, found = _found(MEASURES, qrels, form, depth)
        levels = [None if np.isnan(level) else int(level) for level in found.level]
        topics = [request.judgments.names[topic] for topic in found.topic]
        assert [*zip(topics, found.rank.tolist(), found.doc_id.to_list(), levels, strict=True)] == expected
        _, alone = _found(MEASURES, qrels, form, depth, topic=1)
        mine = found.topic == 1
        assert alone.doc_id.to_list() == found.doc_id.filter(mine).to_list()
        np.testing.assert_array_equal(alone.contribution, found.contribution[:, mine])


@pytest.mark.parametrize("seed", range(10))
def test_contributions_are_those_of_explain(seed):
    qrels, run = _random_input(seed)
    request, found = _found(MEASURES, qrels, run, 50)
    for measure, of_measure in zip(request.measures, found.contribution, strict=True):
        for topic, name in enumerate(request.judgments.names):
            expected = ir_graded.explain(measure, qrels, run, name)
            of_document = dict(zip(expected.columns["doc_id"], expected.columns["contribution"], strict=True))
            mine = found.topic == topic
            documents = found.doc_id.filter(mine).to_list()
            assert of_measure[mine].tolist() == [of_document.get(one, 0.0) for one in documents]


def test_contributions_without_a_sum_are_missing():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
    run = {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 2.0, "x": 1.0}}
    _, found = _found(["NumQ", "Q(ties='expected')", "P@2"], qrels, run, 5)
    np.testing.assert_array_equal(
        found.contribution, [[np.nan] * 4, [np.nan, np.nan, 1.0, 0.0], [0.0, 0.5, 0.5, 0.0]]
    )


def test_passages_of_a_document_are_added_up():
    qrels = pd.DataFrame(
        [("1", "a", 1, 0, 10), ("1", "a", 1, 20, 10), ("1", "b", 1, 0, 10)],
        columns=["query_id", "doc_id", "relevance", "start", "length"],
    )
    run = pd.DataFrame(
        [("1", "x", 4.0, 0, 5), ("1", "a", 3.0, 0, 10), ("1", "b", 2.0, 0, 5), ("1", "a", 1.0, 20, 10)],
        columns=["query_id", "doc_id", "score", "start", "length"],
    )
    _, found = _found(["CharR"], qrels, run, 5)
    assert found.doc_id.to_list() == ["x", "a", "b"]
    np.testing.assert_allclose(found.contribution, [[0.0, 20 / 30, 5 / 30]])
    np.testing.assert_array_equal(found.level, [np.nan, 1.0, 1.0])


def test_measures_over_intents_are_added_up():
    qrels = pd.DataFrame(
        [("1", "a", 1, "i"), ("1", "a", 1, "j"), ("1", "b", 1, "j")],
        columns=["query_id", "doc_id", "relevance", "iteration"],
    )
    run = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}}
    _, found = _found(["alpha_nDCG@3"], qrels, run, 5)
    assert found.doc_id.to_list() == ["b", "x", "a"]
    score = ir_graded.evaluate("alpha_nDCG@3", qrels, run).values[0, 0, 0]
    assert found.contribution.sum() == pytest.approx(score)
    assert found.contribution[0, 1] == 0.0
