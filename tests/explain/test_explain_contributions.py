"""The contributions of documents sum to the score of evaluate, for every measure with every parameter."""

import ir_measures
import numpy as np
import pytest
from chunks import chunk_cases
from contracts import contract_cases as cases
from hypothesis import given, strategies as st
from measures import measure_cases
from passages import passage_cases

import ir_graded
from ir_graded.errors import NoSharedTopicsError, ParameterError
from ir_graded.measures.classic import CLASSICS

WITHOUT = {"NumQ", "NumRel"}

pytestmark = [
    pytest.mark.slow,
    cases.BOTH_COLUMNS,
    pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning"),
]


def assert_explained(measure, qrels, run, query_id, expected):
    """Return an explanation whose contributions sum to the score."""
    found = ir_graded.explain(measure, qrels, run, query_id)
    assert found.score == expected
    total = cases.of_contributions(measure, found.to_frame()["contribution"])
    assert abs(total - expected) <= 1e-12
    assert (found.to_frame()["contribution"] >= 0).all()
    return found


@cases.each([subject for subject in cases.ALL if subject.NAME not in WITHOUT])
@cases.examples(4)
@given(data=st.data())
def test_contributions_sum_to_the_score(subject, data):
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    if measure.NAME == "NumRet" and "rel" not in measure.params:
        return
    qrels, run = one.qrels, one.run
    if cases.needs_tables(measure):
        qrels, run = cases.passage_tables(qrels, run)
    expected = cases.scores(measure, one.qrels, one.run)
    for topic in data.draw(st.permutations(sorted(expected)))[:4]:
        frame = assert_explained(measure, qrels, run, topic, expected[topic]).to_frame()
        if qrels is one.qrels:
            assert_rows_agree(frame, qrels[topic], run.get(topic, {}))
        if measure.NAME in measure_cases.MEASURES:
            assert_columns_agree(measure, frame)


def assert_rows_agree(frame, levels, scores):
    """Check the level and the rank of each document."""
    for row in frame.itertuples():
        assert row.level == levels[row.doc_id]
        above = sum(score > scores[row.doc_id] for score in scores.values())
        tied = sum(score == scores[row.doc_id] for score in scores.values())
        assert above < (row.rank_in_run if hasattr(row, "rank_in_run") else row.rank) <= above + tied


def assert_columns_agree(measure, frame):
    """Check that the columns contain the factors of the contributions."""
    assert (frame["C"] == np.arange(1, len(frame) + 1)).all()
    assert (frame["rank"] >= frame["C"]).all()
    if "stop" in frame and not getattr(measure, "over_ideal", False):
        assert np.allclose(frame["stop"] * frame["utility"], frame["contribution"], rtol=0, atol=1e-15)
    if "BR" in frame:
        assert frame["BR"].between(0, 1 + 1e-12).all()
    if "cg" in frame:
        assert np.allclose(frame["gain"].cumsum(), frame["cg"])
        assert (frame["cg"] <= frame["cg_star"] * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", sorted(WITHOUT | {"NumRet"}))
def test_counts_without_contributions_are_rejected(name):
    with pytest.raises(ParameterError, match=name):
        ir_graded.explain(CLASSICS[name].MEASURE, {"1": {"a": 1}}, {"1": {"a": 1.0}}, "1")


@measure_cases.examples(8)
@given(
    chosen=passage_cases.parameters(),
    qrels=passage_cases.qrels(topics=("1", "2"), min_size=4),
    run=passage_cases.runs(topics=("1", "2"), min_size=4),
)
def test_contributions_of_passages_sum_to_the_score(chosen, qrels, run):
    name, params = chosen
    measures = [passage_cases.MEASURES[name](**params), *chunk_cases.OVERLAPPING]
    tables = passage_cases.frame("qrels", qrels), passage_cases.frame("run", run)
    for metric in ir_measures.iter_calc(measures, *tables):
        try:
            found = assert_explained(metric.measure, *tables, metric.query_id, metric.value)
        except NoSharedTopicsError:
            return
        frame = found.to_frame()
        if "found" in frame:
            assert (frame["found"].cumsum() <= found.relevant).all()
            assert not frame.duplicated(["rank"]).any()
        elif name == "MAgP":
            assert np.allclose(frame["stop"] * frame["utility"], frame["contribution"], rtol=0, atol=1e-15)
