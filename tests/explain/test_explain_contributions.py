"""The contributions of documents sum to the score of evaluate, for every measure with every parameter."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from chunks import chunk_cases
from contracts import contract_cases as cases
from hypothesis import given, strategies as st
from measures import measure_cases
from passages import passage_cases

import ir_graded
from ir_graded.errors import NoSharedTopicsError, ParameterError
from ir_graded.measures.classic import CLASSICS, scorer_of

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
    assert total == pytest.approx(expected, rel=1e-14, abs=1e-12)
    assert (found.to_frame()["contribution"] >= 0).all()
    return found


@cases.each([subject for subject in cases.ALL if subject.NAME not in WITHOUT])
@cases.examples(12)
@given(data=st.data())
def test_contributions_sum_to_the_score(subject, data):
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    if measure.NAME == "NumRet" and "rel" not in measure.params:
        return
    qrels, run = one.qrels, one.run
    if cases.needs_tables(measure):
        qrels, run = cases.passage_tables(qrels, run)
    expected = cases.scores(measure, one.qrels, one.run)
    topic = data.draw(st.sampled_from(sorted(expected)))
    found = assert_explained(measure, qrels, run, topic, expected[topic])
    if qrels is one.qrels:
        assert_rows_agree(found, qrels[topic], run.get(topic, {}))
        if "gains" not in measure.params or measure.NAME in measure_cases.MEASURES:  # else new levels
            assert_others_agree(found, scorer_of(measure).cut, qrels[topic], run.get(topic, {}))
    if measure.NAME in measure_cases.MEASURES:
        assert_columns_agree(measure, pd.DataFrame(found.columns))


def assert_rows_agree(found, levels, scores):
    """Check the level and the rank of each document."""
    for row in found.to_frame().itertuples():
        level = levels.get(row.doc_id, -1)
        assert row.level == level if row.state != "unjudged" else level < 0 and pd.isna(row.level)
        if row.doc_id not in scores:
            assert row.state == "missed"
            assert pd.isna(row.rank)
            continue
        above = sum(score > scores[row.doc_id] for score in scores.values())
        tied = sum(score == scores[row.doc_id] for score in scores.values())
        assert above < (row.rank_in_run if hasattr(row, "rank_in_run") else row.rank) <= above + tied


def assert_others_agree(found, cut, levels, scores):
    """Check which documents are above the first that counts, and which are missed."""
    counted = {*found.columns["doc_id"]}
    wanted = [doc for doc, level in levels.items() if level >= cut.rel and doc not in counted]
    best = sorted(wanted, key=lambda doc: (-levels[doc], doc))
    frame = found.to_frame()
    assert frame["doc_id"][frame["state"] == "missed"].tolist() == best[:10]
    assert found.missed == len(best)
    listed = [doc for doc in scores if not cut.judged_only or levels.get(doc, -1) >= 0]
    above = min(
        [*(found.columns["rank"] - 1), *([] if counted else [len(listed), cut.cutoff or len(listed)])]
    )
    assert found.above == above
    first = frame[frame["state"].isin(["not relevant", "unjudged"])]
    assert first["rank"].tolist() == [*range(1, min(above, 10) + 1)]
    assert not counted & {*first["doc_id"]}
    assert first["doc_id"].is_unique


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
        frame = pd.DataFrame(found.columns)
        if "found" in frame:
            assert (frame["found"].cumsum() <= found.relevant).all()
            assert not frame.duplicated(["rank"]).any()
        elif name == "MAgP":
            assert np.allclose(frame["stop"] * frame["utility"], frame["contribution"], rtol=0, atol=1e-15)
