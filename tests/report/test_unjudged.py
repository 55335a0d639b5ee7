"""Shares of unjudged documents: by hand, in all forms, and compared with ir-measures' Judged@k."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample

import ir_graded
from ir_graded.errors import InputError, NoSharedTopicsError, ParameterError

QRELS = {"1": {"a": 1, "b": 0, "c": -1}, "2": {"d": 2}, "3": {"e": 1}}
RUN = {"1": {"a": 9.0, "x": 8.0, "c": 7.0, "b": 6.0}, "2": {"y": 2.0, "d": 1.0}}


def test_shares_of_unjudged_documents_equal_values_by_hand():
    found = ir_graded.unjudged(QRELS, {"one": RUN, "two": {"3": {"e": 1.0}}}, depths=[1, 3, 10])
    topics = found.topic_share[0].T.tolist()
    assert topics[0] == pytest.approx([0, 2 / 3, 1 / 2])  # c has a level below 0, so it counts as unjudged
    assert topics[1] == pytest.approx([1, 1 / 2, 1 / 2])
    assert np.isnan(topics[2]).all()
    assert found.to_frame().loc["one"].tolist() == pytest.approx([1 / 2, 7 / 12, 1 / 2])
    assert found.to_frame().loc["two"].tolist() == [0, 0, 0]
    ranks = found.rank_frame()
    assert ranks.columns.tolist() == [1, 2, 3, 4]
    assert ranks.loc["one"].tolist() == [1 / 2, 1 / 2, 1, 0]
    assert ranks.loc["two"].tolist()[0] == 0
    assert np.isnan(ranks.loc["two"].tolist()[1:]).all()


def test_by_rank_ends_at_the_largest_depth():
    assert ir_graded.unjudged(QRELS, RUN, depths=[2]).by_rank.tolist() == [[0.5, 0.5]]


@pytest.mark.slow
def test_without_negative_levels_shares_are_one_minus_judged():
    covid = covid_sample()
    qrels = covid.qrels[covid.qrels["relevance"] >= 0]
    for name in list(covid.runs)[:3]:
        run = covid.runs[name]
        found = ir_graded.unjudged(qrels, run, depths=[5, 20, 1000])
        measures = [ir_measures.Judged @ depth for depth in found.depths]
        judged = {
            (metric.measure, metric.query_id): metric.value
            for metric in ir_measures.iter_calc(measures, qrels, run)
        }
        for at, measure in enumerate(measures):
            expected = [1 - judged[measure, topic] for topic in found.query_ids]
            assert found.topic_share[0, at].tolist() == pytest.approx(expected, abs=1e-12)
            assert found.share[0, at] == pytest.approx(np.mean(expected), abs=1e-12)


def rows(data, value):
    return pd.DataFrame(
        [(topic, doc, number) for topic, docs in data.items() for doc, number in docs.items()],
        columns=["query_id", "doc_id", value],
    )


def test_passages_count_by_article():
    qrels = rows({"1": {"a": 1}}, "relevance").assign(start=0, length=5)
    run = pd.DataFrame(
        {
            "query_id": "1",
            "doc_id": ["a", "a", "b"],
            "score": [3.0, 2.0, 1.0],
            "start": [0, 9, 0],
            "length": 4,
        }
    )
    assert ir_graded.unjudged(qrels, run, depths=[1, 2]).share.tolist() == [[0, 0.5]]


@pytest.mark.parametrize(
    "depths", [[], [0], [1.5], [True], [5, 5], [2**63], [10**5000], 5, "5", None], ids=range(10)
)
def test_wrong_depths_are_rejected(depths):
    message = r"must be one or more whole numbers >= 1 and < 2\*\*63, each once"
    with pytest.raises(ParameterError, match=message):
        ir_graded.unjudged(QRELS, RUN, depths=depths)


def test_wrong_input_is_rejected():
    with pytest.raises(NoSharedTopicsError, match="the qrels are empty"):
        ir_graded.unjudged({}, RUN)
    with pytest.raises(NoSharedTopicsError, match=r"run 'b'.*share no topic"):
        ir_graded.unjudged(QRELS, {"a": RUN, "b": {"9": {"a": 1.0}}})
    with pytest.raises(InputError, match=r"run 'b': .*'a'"):
        ir_graded.unjudged(QRELS, {"a": RUN, "b": {"1": {"a": float("nan")}}})


def test_the_numbers_are_read_only():
    found = ir_graded.unjudged(QRELS, RUN)
    with pytest.raises(ValueError, match="read-only"):
        found.by_rank[0, 0] = 3
