"""Statistics of one measure given the scores of all measures."""

import pandas as pd
import pytest
from helpers import covid_sample

from ir_graded import GradedError, evaluate, meta


def scores_of_runs(*names):
    sample = covid_sample()
    return evaluate("Q", sample.qrels, dict(zip(names, sample.runs.values(), strict=False)))


@pytest.mark.parametrize(
    "call",
    [
        lambda one: meta.effect_sizes(one).to_frame(),
        lambda one: meta.significance(one).to_frame(),
        lambda one: meta.stability(one).to_frame(),
        lambda one: meta.swap(one).to_frame(),
        lambda one: meta.discriminative_power(one, test="t").to_frame(),
        lambda one: meta.topic_set_size(one, 0.1).to_frame(),
        lambda one: pd.DataFrame([meta.power(one, 0.1), meta.minimum_detectable_difference(one)]),
    ],
)
def test_scores_of_one_measure_are_its_matrix(call):
    scores = scores_of_runs("a", "b", "c")
    pd.testing.assert_frame_equal(call(scores), call(scores.matrix("Q")))


def test_runs_of_scores_may_be_named_like_columns_of_topics():
    found = meta.effect_sizes(scores_of_runs("qid", "num", "topic"))
    assert (found.run_a, found.run_b) == (("qid", "qid", "num"), ("num", "topic", "topic"))


def test_scores_of_all_measures_are_not_a_matrix():
    scores = evaluate("Q AP", {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}})
    for call in (
        meta.significance,
        meta.score_variance,
        lambda one: meta.topic_set_size(one, difference=0.1),
    ):
        with pytest.raises(GradedError, match=r"found the scores of all: Q, AP; give scores\.matrix\('Q'\)"):
            call(scores)
