"""``collection_statistics``: documents per topic, counted as in the papers."""

import numpy as np
import pytest
from helpers import covid_sample

import ir_graded
from ir_graded.errors import NoSharedTopicsError, ParameterError

QRELS = {"1": {"a": 2, "b": 1, "c": 0, "d": -1}, "2": {"e": 1, "f": 0, "g": 0}, "3": {"h": 0}}
RUNS = {"x": {"1": {"a": 1.0, "z": 0.5}, "3": {"h": 1.0}}, "y": {"1": {"b": 1.0}}}


def test_statistics_equal_values_by_hand():
    found = ir_graded.collection_statistics(QRELS, RUNS)
    assert found.to_frame().T.to_dict("list") == {
        "N": [pytest.approx(4 / 3), 1, 2, 3],
        "R": [1, 0, 2, 2],
        "level 2": [pytest.approx(1 / 3), 0, 1, 1],
        "level 1": [pytest.approx(2 / 3), 0, 1, 2],
        "depth of 2 runs": [pytest.approx(4 / 6), 0, 2, 2],
    }
    assert (found.topics, found.levels.tolist()) == (3, [2, 1])
    assert ir_graded.collection_statistics(QRELS, rel=2).to_frame().loc["R", "max"] == 1


def test_statistics_of_the_sample_equal_its_table():
    covid = covid_sample()
    found = ir_graded.collection_statistics(covid.qrels).to_frame()
    relevant = covid.qrels[covid.qrels["relevance"] > 0].groupby("query_id").size()
    assert found.loc["R"].tolist() == [relevant.mean(), relevant.min(), relevant.max(), len(relevant)]
    assert found.loc["N", "mean"] == (covid.qrels["relevance"] == 0).sum() / len(relevant)


def test_wrong_input_is_rejected():
    with pytest.raises(NoSharedTopicsError, match="the qrels are empty: there is no topic to evaluate"):
        ir_graded.collection_statistics({})
    with pytest.raises(NoSharedTopicsError, match="share no topic"):
        ir_graded.collection_statistics(QRELS, {"x": {"9": {"a": 1.0}}})
    with pytest.raises(ParameterError, match="rel=nan must be a finite number"):
        ir_graded.collection_statistics(QRELS, rel=np.nan)
