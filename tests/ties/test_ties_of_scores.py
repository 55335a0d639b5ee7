"""Scores of measures with an order of tied documents, asked for by the plain name."""

import ir_measures
import pytest

import ir_graded

QRELS = {"1": {"a": 2, "b": 1}}
RUN = {"1": {"a": 1.0, "b": 1.0, "x": 1.0, "y": 0.5}}


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
@pytest.mark.parametrize("name", ["Q", "AP", "nDCG@10", "D-Q@10"])
def test_a_measure_is_found_without_its_order_of_ties(ties, name):
    qrels = QRELS
    if name.startswith("D"):
        qrels = [ir_measures.Qrel("1", *row) for row in (("a", 2, "i"), ("b", 1, "j"), ("a", 1, "j"))]
    scores = ir_graded.evaluate(name, qrels, RUN, ties=ties)
    assert scores.matrix(name).equals(scores.matrix(scores.names[0]))


def test_two_orders_must_be_named():
    scores = ir_graded.evaluate("Q(ties='expected') Q(ties='optimistic')", QRELS, RUN)
    with pytest.raises(ir_graded.InputError, match="Q was not evaluated"):
        scores.matrix("Q")
    with pytest.raises(ir_graded.InputError, match="AP was not evaluated"):
        scores.matrix("AP")
