"""The values of MAgP, gP and gR by their definition, worked out by hand."""

import math

import pytest
from passages.passage_cases import one_topic, score

from ir_graded import MAgP, gP, gR


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


TWO = [("a", 1, "0:10"), ("b", 1, "0:10")]
NO_TEXT = [("a", 1, "0:10"), ("b", 2, "3:0"), ("c", 1, "0:0 7:0")]
LEVELS = [("a", 2, "0:20"), ("a", 1, "20:10 5:3"), ("a", 0.5, "40:5"), ("a", 0, "50:50")]
#: Qrels, a run, and the scores of measures.
BY_HAND = {
    "one half at rank 1": (TWO, [("a", 2.0, "0:5"), ("b", 1.0, "10:10")], {MAgP: 1 / 2, gP @ 3: 2 / 9}),
    "one relevant article": (TWO, [("a", 2.0, "0:10"), ("b", 1.0, "0:30")], {gP @ 10: 0.15, gR @ 1: 0.5}),
    "F of 0 at a recall point": (
        TWO,
        [("a", 3.0, "50:10"), ("x", 2.0, "0:10"), ("b", 1.0, "0:10")],
        {gR @ 1: 0.5, MAgP: 1 / 6},
    ),
    "an article in several rows": (
        TWO,
        [("a", 2.0, "0:2 2:2 4:2 6:2 8:2"), ("b", 1.0, "0:10")],
        {MAgP @ 1: 0.5, gP @ 2: 1, gR @ 2: 1},
    ),
    "ranks by the best row": (
        TWO,
        [("a", 1.0, "0:5"), ("x", 2.0, "0:5"), ("b", 0.5, "0:10"), ("a", 3.0, "5:5"), ("x", -1.0, "0:5")],
        {gP @ 1: 1, MAgP: (1 + 2 / 3) / 2},
    ),
    "a tie": (TWO[1:], [("b", 1.0, "0:10"), ("c", 1.0, "0:10")], {MAgP: 0.5}),
    "a passage without text": (TWO, [("a", 3.0, "5:0"), ("b", 2.0, "0:10")], {gP @ 1: 0, gR @ 1: 0.5}),
    "an article without text": (
        NO_TEXT,
        [("b", 3.0, "0:10"), ("c", 2.0, "0:10"), ("a", 1.0, "0:10")],
        {MAgP: 1 / 3, gR @ 2: 0, gR @ 3: 1},
    ),
    "a level": (LEVELS, [("a", 1.0, "5:10")], {MAgP(rel=2, beta=math.inf): 1 / 2, gR(rel=3) @ 1: 0}),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_scores_equal_the_values_by_hand(name):
    qrels, run, expected = BY_HAND[name]
    for measure, value in expected.items():
        assert score(measure, one_topic(qrels), one_topic(run)) == close(value), measure


@pytest.mark.parametrize("name", ["gP", "gR"])
def test_a_missing_cutoff_is_rejected(name):
    with pytest.raises(ValueError, match=f"{name} needs a cutoff"):
        score(name, *PARTLY)
    with pytest.raises(ValueError, match="beta=-1"):
        score(f"{name}(beta=-1)@10", *PARTLY)
