"""Scores of measures with an order of tied documents, asked for by the plain name."""

from itertools import permutations

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


@pytest.mark.parametrize(
    ("name", "penalties"), [("B-pref", ("R", "N", "relative")), ("R-pref", ("N", "relative", "relative2"))]
)
def test_expected_preferences_are_means_over_all_orders_by_each_penalty(name, penalties):
    qrels, docs = {"1": {"a": 2, "b": 1, "c": 0, "d": 0, "f": 0, "g": 0}}, "abcd"
    orders = {"".join(o): {"1": {doc: -float(at) for at, doc in enumerate(o)}} for o in permutations(docs)}
    measures = [f"{name}(penalty={penalty!r})" for penalty in penalties]
    expected = ir_graded.evaluate(measures, qrels, orders).values.mean(axis=(1, 2))
    found = ir_graded.evaluate(
        measures, qrels, {"1": dict.fromkeys(docs, 1.0) | {"x": 0.5}}, ties="expected"
    ).values
    assert found[:, 0, 0].tolist() == pytest.approx(expected.tolist(), abs=1e-12)
    assert len({*expected.tolist()}) == 3
