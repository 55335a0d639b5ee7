"""The values of MAgP, gP and gR by their definition, worked out by hand."""

import math

import pytest
from passages.passage_cases import frame, one_topic, score, scores

from ir_graded import MAgP, gP, gR


def topic(qrels, run):
    return one_topic(qrels), one_topic(run)


def close(value):
    return pytest.approx(value, abs=1e-14)


# ------------------------------------------------------------------------------------------ F of an article

PARTLY = topic([("a", 1, "0:30 100:50")], [("a", 1.0, "20:100")])


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


@pytest.mark.parametrize(
    ("highlighted", "retrieved", "overlap", "size", "relevant"),
    [
        ("0:10", "0:10", 10, 10, 10),
        ("0:10", "10:10", 0, 10, 10),  # half-open: they only touch
        ("0:10", "9:10", 1, 10, 10),
        ("0:10 5:10", "0:15", 15, 15, 15),  # overlapping
        ("0:15", "0:10 5:10", 15, 15, 15),
        ("0:20 5:5", "2:4 0:8", 8, 8, 20),  # one inside another
        ("0:10", "0:5 5:5", 10, 10, 10),  # adjacent
        ("0:5 5:5 10:5", "0:15", 15, 15, 15),
        ("0:10", "0:10 0:10 0:10", 10, 10, 10),  # a duplicate
        ("0:10 0:10", "0:5", 5, 5, 10),
        ("0:10 0:3", "0:3 7:1 2:7", 9, 9, 10),
        ("0:30 4:2 20:5", "3:10 40:2 12:3", 12, 14, 30),  # a long one, then short ones inside it
        ("50:10 0:10", "5:50", 10, 50, 20),  # rows in random order
        ("0:10", "0:4 4:0 100:0", 4, 4, 10),  # zero-length ones among others
        ("0:10 3:0", "0:10 55:0", 10, 10, 10),
        (f"{2**48}:10", f"{2**48 - 5}:10", 5, 10, 10),
        (f"0:{2**48}", f"{2**47}:{2**47}", 2**47, 2**47, 2**48),
    ],
)
def test_unions_and_overlaps_equal_values_by_hand(highlighted, retrieved, overlap, size, relevant):
    rows = topic([("a", 1, highlighted)], [("a", 1.0, retrieved)])
    precision, recall = overlap / size, overlap / relevant
    assert score(MAgP(beta=0), *rows) == close(precision)
    assert score(MAgP(beta=math.inf), *rows) == close(recall)
    f = 2 * precision * recall / (precision + recall) if overlap else 0
    assert score(MAgP, *rows) == close(f)


def test_spans_of_other_articles_and_topics_do_not_count():
    qrels = [("1", "a", 1, 0, 10), ("1", "b", 1, 10, 10), ("2", "a", 1, 20, 10)]
    run = [("1", "a", 2.0, 0, 30), ("1", "b", 1.0, 0, 10), ("2", "a", 2.0, 0, 30)]
    found = scores([gP(beta=0) @ 1, gP(beta=0) @ 2], frame("qrels", qrels), frame("run", run))
    assert found["gP(beta=0)@1"] == {"1": close(1 / 3), "2": close(1 / 3)}
    assert found["gP(beta=0)@2"] == {"1": close(1 / 6), "2": close(1 / 6)}


@pytest.mark.parametrize(("beta", "length"), [(0.3, 3), (0.7, 5), (3, 7), (0.1, 3), (2.5, 3)])
def test_rounding_does_not_raise_a_score_above_1(beta, length):
    exactly = topic([("a", 1, f"0:{length}")], [("a", 1.0, f"0:{length}")])
    for measure in (MAgP(beta=beta), MAgP(beta=beta) @ 1, gP(beta=beta) @ 1):
        assert 1 - 1e-15 < score(measure, *exactly) <= 1


# ------------------------------------------------------------------------------------------ over the articles

TWO_RELEVANT = [("a", 1, "0:10"), ("b", 1, "0:10")]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ([("a", 2.0, "0:10"), ("b", 1.0, "10:10")], 0.75),
        ([("a", 2.0, "10:10"), ("b", 1.0, "0:10")], 0.25),
        ([("a", 2.0, "0:10")], 0.5),
        ([("a", 1.0, "0:10"), ("x", 2.0, "0:10")], 0.25),
        ([("a", 2.0, "0:10"), ("b", 1.0, "0:10")], 1),
    ],
)
def test_agp_of_two_relevant_articles_equals_the_value_by_hand(run, expected):
    assert score(MAgP, *topic(TWO_RELEVANT, run)) == close(expected)


def test_gp_divides_by_the_cutoff_even_if_the_run_is_shorter():
    rows = topic(TWO_RELEVANT, [("a", 2.0, "0:10"), ("b", 1.0, "0:30")])
    assert [score(gP @ k, *rows) for k in (1, 2, 3, 10)] == [close(n) for n in (1, 0.75, 0.5, 0.15)]
    assert [score(gR @ k, *rows) for k in (1, 2, 3, 10)] == [close(n) for n in (0.5, 1, 1, 1)]


def test_an_article_with_relevance_is_a_recall_point_even_if_f_is_0():
    rows = topic(TWO_RELEVANT, [("a", 3.0, "50:10"), ("x", 2.0, "0:10"), ("b", 1.0, "0:10")])
    assert score(gR @ 1, *rows) == close(0.5)
    assert score(MAgP, *rows) == close((0 / 1 + 1 / 3) / 2)


def test_a_cutoff_counts_articles_and_not_rows():
    rows = topic(
        [("a", 1, "0:10"), ("b", 1, "0:10")], [("a", 2.0, "0:2 2:2 4:2 6:2 8:2"), ("b", 1.0, "0:10")]
    )
    assert [score(MAgP @ k, *rows) for k in (1, 2)] == [close(0.5), close(1)]
    assert [score(gP @ k, *rows) for k in (1, 2)] == [close(1), close(1)]
    assert [score(gR @ k, *rows) for k in (1, 2)] == [close(0.5), close(1)]


def test_an_article_is_ranked_by_its_best_row_and_its_rows_need_not_be_adjacent():
    qrels = one_topic(TWO_RELEVANT)
    run = [
        ("1", "a", 1.0, 0, 5),
        ("1", "x", 2.0, 0, 5),
        ("1", "b", 0.5, 0, 10),
        ("1", "a", 3.0, 5, 5),
        ("1", "x", -1.0, 0, 5),
    ]
    assert score(gP @ 1, qrels, run) == close(1)  # a, whose two halves are not adjacent
    assert score(MAgP, qrels, run) == close((1 + 2 / 3) / 2)


def test_tied_articles_are_ordered_by_descending_id():
    qrels = one_topic([("b", 1, "0:10")])
    assert score(MAgP, qrels, one_topic([("a", 1.0, "0:10"), ("b", 1.0, "0:10")])) == close(1)
    assert score(MAgP, qrels, one_topic([("b", 1.0, "0:10"), ("c", 1.0, "0:10")])) == close(0.5)
    qrels = one_topic([("9", 1, "0:10")])
    assert score(MAgP, qrels, one_topic([("9", 1.0, "0:10"), ("10", 1.0, "0:10")])) == close(1)


# -------------------------------------------------------------------------------------------------- edges


def test_zero_length_passages_keep_rank_and_recall_point():
    rows = topic(TWO_RELEVANT, [("a", 3.0, "5:0"), ("b", 2.0, "0:10")])
    assert score(gP @ 1, *rows) == 0
    assert score(gR @ 1, *rows) == close(0.5)
    assert score(MAgP, *rows) == close((0 + 1 / 2) / 2)
    rows = topic(TWO_RELEVANT, [("x", 3.0, "5:0 6:0"), ("b", 2.0, "0:10")])
    assert score(gR @ 1, *rows) == 0
    assert score(MAgP, *rows) == close(0.25)


def test_relevant_articles_without_highlighted_text_are_not_counted():
    qrels = [("a", 1, "0:10"), ("b", 2, "3:0"), ("c", 1, "0:0 7:0")]
    rows = topic(qrels, [("b", 3.0, "0:10"), ("c", 2.0, "0:10"), ("a", 1.0, "0:10")])
    assert score(MAgP, *rows) == close(1 / 3)
    assert [score(gR @ k, *rows) for k in (1, 2, 3)] == [0, 0, 1]
    assert score(gP @ 3, *rows) == close(1 / 3)


def test_a_passage_beyond_the_end_lowers_precision():
    rows = topic([("a", 1, "0:100")], [("a", 1.0, "0:1000")])
    assert score(MAgP(beta=0), *rows) == close(0.1)
    assert score(MAgP(beta=math.inf), *rows) == 1


@pytest.mark.parametrize(
    "qrels",
    [
        [("1", "a", 0, 0, 10), ("1", "b", -2, 0, 10)],
        [("1", "a", 0, 0, 0)],
        [("1", "a", 3, 7, 0)],
        [("1", "a", 0.75, 0, 10)],
        [("1", "x", 1, 0, 10)],
    ],
    ids=["levels below 1", "judged only", "no character", "soft label below rel", "another article"],
)
@pytest.mark.parametrize("measure", [MAgP, gP @ 2, gR @ 2], ids=str)
def test_without_a_relevant_character_the_score_is_zero(measure, qrels):
    run = [("1", "a", 2.0, 0, 10), ("1", "b", 1.0, 0, 10)]
    assert score(measure, qrels, run) == 0
    assert score(measure, [*qrels, ("1", "b", 1, 0, 10)], run) > 0


def test_topics_on_one_side_only_score_zero_or_are_left_out():
    """A topic missing from the run scores 0 and counts in the mean; one missing from qrels is left out."""
    qrels = frame("qrels", [("1", "a", 1, 0, 10), ("2", "a", 1, 0, 10), ("3", "a", 0, 0, 0)])
    run = frame("run", [("1", "a", 1.0, 0, 10), ("9", "a", 1.0, 0, 10)])
    for measure in (MAgP, gP @ 1, gR @ 1):
        assert scores([measure], qrels, run) == {str(measure): {"1": 1, "2": 0, "3": 0}}
        assert measure.calc_aggregate(qrels, run) == close(1 / 3)
    nothing = run[:0]
    assert scores([MAgP], qrels, nothing) == {"MAgP": {"1": 0, "2": 0, "3": 0}}


@pytest.mark.parametrize(
    ("rel", "expected"), [(1, 10 / 30), (2, 10 / 20), (1.5, 10 / 20), (3, 0), (0.5, 10 / 35)]
)
def test_rows_below_rel_are_not_highlighted(rel, expected):
    qrels = [("a", 2, "0:20"), ("a", 1, "20:10 5:3"), ("a", 0.5, "40:5"), ("a", 0, "50:50")]
    rows = topic(qrels, [("a", 1.0, "5:10")])
    assert score(MAgP(rel=rel, beta=math.inf), *rows) == close(expected)
    assert score(gR(rel=rel) @ 1, *rows) == (1 if expected else 0)


def test_rel_decides_the_articles_that_count():
    qrels = [("a", 1, "0:10"), ("b", 2, "0:10"), ("c", 2, "0:10")]
    rows = topic(qrels, [("a", 3.0, "0:10"), ("b", 2.0, "0:10")])
    assert score(MAgP, *rows) == close(2 / 3)
    assert score(MAgP(rel=2), *rows) == close(0.25)
    assert score(gR(rel=2) @ 2, *rows) == close(0.5)
    assert score(gP(rel=2) @ 2, *rows) == close(0.5)


@pytest.mark.parametrize("name", ["gP", "gR"])
def test_a_missing_cutoff_is_rejected(name):
    with pytest.raises(ValueError, match=f"{name} needs a cutoff"):
        score(name, *PARTLY)
    with pytest.raises(ValueError, match="beta=-1"):
        score(f"{name}(beta=-1)@10", *PARTLY)
