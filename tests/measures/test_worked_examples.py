"""The papers' worked examples, to the last printed digit."""

import math

import pytest
from ir_measures import calc_aggregate

import ir_graded
from ir_graded.core.levels import Levels
from ir_graded.core.views import Cut, Views
from ir_graded.matching.match import match_run, prepare_qrels
from ir_graded.measures import base

THREE_LEVELS = {"t": {"s": 3, "a": 2, "b": 1}}
SYSTEM_X = ("b", "s")
SYSTEM_Y = ("other", "s")
INVERSE_OF_IDEAL = ("b", "a", "s")

TEN_RELEVANT = {
    "t": {f"{name}{n}": level for name, level, R in (("s", 3, 3), ("a", 2, 3), ("b", 1, 4)) for n in range(R)}
}
RANKS_RETRIEVED = {2: "s0", 5: "a0", 8: "s1", 12: "b0", 15: "a1"}
FIVE_RETRIEVED = [RANKS_RETRIEVED.get(n, f"other{n}") for n in range(1, 21)]


def run_of(ranked):
    return {"t": {doc_id: float(-n) for n, doc_id in enumerate(ranked)}}


def score(measure, qrels, ranked):
    return calc_aggregate([measure], qrels, run_of(ranked))[measure]


def view_of(qrels, ranked):
    judgments = prepare_qrels(qrels)
    return Views(judgments.levels, match_run(judgments, run_of(ranked)))[Cut()]


@pytest.mark.parametrize(
    ("measure", "ranked", "expected"),
    [
        (ir_graded.P_measure, SYSTEM_X, 6 / 7),
        (ir_graded.P_measure, SYSTEM_Y, 4 / 7),
        (ir_graded.O, SYSTEM_X, 1 / 2),
        (ir_graded.O, SYSTEM_Y, 4 / 7),
        (ir_graded.P_measure, INVERSE_OF_IDEAL, 1),
    ],
)
def test_one_document_measures_match_systems_x_and_y(measure, ranked, expected):
    assert score(measure, THREE_LEVELS, ranked) == pytest.approx(expected, abs=1e-15)


def test_p_plus_matches_the_inverse_of_the_ideal_list():
    assert f"{score(ir_graded.P_plus, THREE_LEVELS, INVERSE_OF_IDEAL):.6f}" == "0.738095"


@pytest.mark.parametrize(
    ("stop", "beta", "printed"),
    [
        ("u", 0, "0.1942"), ("u", 1, "0.2219"), ("rb", 0, "0.3575"), ("rb", 1, "0.3842"), ("gu", 0, "0.2329"),
        ("gu", 1, "0.2610"),
    ],
)  # fmt: skip
def test_ncu_matches_five_of_ten_relevant(stop, beta, printed):
    gamma = {"gamma": 0.7} if stop == "rb" else {}
    measure = ir_graded.NCU(stop=stop, beta=beta, **gamma)
    assert f"{score(measure, TEN_RELEVANT, FIVE_RETRIEVED):.4f}" == printed


@pytest.mark.parametrize(("measure", "printed"), [(ir_graded.Q(beta=0), "0.1942"), (ir_graded.Q, "0.2219")])
def test_q_matches_five_of_ten_relevant(measure, printed):
    assert f"{score(measure, TEN_RELEVANT, FIVE_RETRIEVED):.4f}" == printed


def test_explicit_gains_and_stop_weights_equal_to_levels_change_nothing():
    named = ir_graded.NCU(stop="gu", gains={1: 1, 2: 2, 3: 3}, stops={1: 1, 2: 2, 3: 3})
    assert f"{score(named, TEN_RELEVANT, FIVE_RETRIEVED):.4f}" == "0.2610"


@pytest.mark.parametrize(
    ("rank", "printed"), [(2, "0.5000"), (5, "0.3889"), (8, "0.4400"), (12, "0.4194"), (15, "0.4706")]
)
def test_blended_ratio_matches_at_the_five_ranks(rank, printed):
    assert f"{score(ir_graded.BR @ rank, TEN_RELEVANT, FIVE_RETRIEVED):.4f}" == printed


def test_blended_ratio_of_the_view_matches_at_the_five_ranks():
    view = view_of(TEN_RELEVANT, FIVE_RETRIEVED)
    assert view.n.tolist() == list(RANKS_RETRIEVED)
    printed = [f"{ratio:.4f}" for ratio in view.graded(()).BR(1)]
    assert printed == ["0.5000", "0.3889", "0.4400", "0.4194", "0.4706"]


def graded_uniform(view):
    return base.graded_uniform(view, view.levels.values)


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (base.uniform, [1 / 10] * 5),
        (
            ir_graded.NCU(stop="rb", gamma=0.7).stop,
            [0.7**i / math.fsum(0.7**j for j in range(10)) for i in range(5)],
        ),
        (graded_uniform, [3 / 19, 2 / 19, 3 / 19, 1 / 19, 2 / 19]),
        (base.first, [1, 0, 0, 0, 0]),
        (ir_graded.P_measure.stop, [1, 0, 0, 0, 0]),
        (ir_graded.P_plus.stop, [1, 0, 0, 0, 0]),
        (lambda view: base.cascade(view, (), 3), [3 / 4, 1 / 8, 3 / 32, 1 / 128, 3 / 256]),
    ],
    ids=["uniform", "rank-biased", "graded-uniform", "first", "preferred", "up to preferred", "cascade"],
)
def test_stop_probabilities_match_at_the_five_ranks(stop, expected):
    assert stop(view_of(TEN_RELEVANT, FIVE_RETRIEVED)).tolist() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("stop", "expected"),
    [(ir_graded.P_measure.stop, [0, 0, 1]), (ir_graded.P_plus.stop, [1 / 3, 1 / 3, 1 / 3])],
    ids=["preferred", "up to preferred"],
)
def test_the_user_of_p_continues_to_the_best_document(stop, expected):
    assert stop(view_of(THREE_LEVELS, INVERSE_OF_IDEAL)).tolist() == expected


def test_ideal_list_of_the_ten_relevant_documents_matches():
    levels = prepare_qrels(TEN_RELEVANT).levels
    assert isinstance(levels, Levels)
    assert levels.ideal(1, levels.values).cumulative.tolist() == [3, 6, 9, 11, 13, 15, 16, 17, 18, 19]
