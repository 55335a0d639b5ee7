"""Statistics of one measure given the scores of all measures."""

import pytest

import ir_graded
from ir_graded import meta


def test_scores_of_all_measures_are_not_a_matrix():
    scores = ir_graded.evaluate("Q AP", {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}})
    for call in (
        meta.significance,
        meta.score_variance,
        lambda one: meta.topic_set_size(one, difference=0.1),
    ):
        with pytest.raises(
            ir_graded.GradedError, match=r"found the scores of all: Q, AP; give scores\.matrix\('Q'\)"
        ):
            call(scores)
