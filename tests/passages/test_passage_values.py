"""The values of MAgP, gP and gR by their definition, worked out by hand."""

import math

import pytest
from passages.passage_cases import one_topic, score

from ir_graded import MAgP, gP


def close(value):
    return pytest.approx(value, abs=1e-14)


PARTLY = one_topic([("a", 1, "0:30 100:50")]), one_topic([("a", 1.0, "20:100")])


@pytest.mark.parametrize(
    ("beta", "expected"),
    [
        (0.25, 0.30357142857142855), (1, 1 / 3), (0, 0.3), (math.inf, 0.375),
        (2, 5 * 0.3 * 0.375 / (4 * 0.3 + 0.375)), (1e100, 0.375), (1e-100, 0.3),
    ],
)  # fmt: skip
def test_f_of_one_article_equals_the_value_by_hand(beta, expected):
    assert score(MAgP(beta=beta), *PARTLY) == close(expected)
    assert score(gP(beta=beta) @ 1, *PARTLY) == close(expected)


@pytest.mark.parametrize("name", ["gP", "gR"])
def test_a_missing_cutoff_is_rejected(name):
    with pytest.raises(ValueError, match=f"{name} needs a cutoff"):
        score(name, *PARTLY)
    with pytest.raises(ValueError, match="beta=-1"):
        score(f"{name}(beta=-1)@10", *PARTLY)
