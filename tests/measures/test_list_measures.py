"""Normalised measures, other utilities, nDCG-JK and preferences: values by hand, and identities."""

import math

import ir_measures
import pytest
from measures.test_worked_examples import FIVE_RETRIEVED, TEN_RELEVANT, run_of
from reference import ranked

import ir_graded
from ir_graded import EBR, NCU, B_pref, R_pref, gRBP, iRBU, nDCG_JK, nERR

ERR = NCU(stop="err", utility="rr")
RB_IE = NCU(stop="rb", utility="ie")

#: Measure and values: with the first parameters at 10 and for the whole list, then with the second.
VALUES = [
    (gRBP, {"p": 0.95}, {"p": 0.8}, 0.109567073138, 0.135302907313, 0.256556373333, 0.268147058409),
    (
        *(gRBP(norm="ideal"), {"p": 0.95}, {"p": 0.8}),
        *(0.406407982074, 0.501867759674, 0.363311647806, 0.379725314867),
    ),
    (ERR, {}, {}, 0.41171875, 0.413151041667, 0.41171875, 0.413151041667),
    (nERR, {}, {}, 0.477298879246, 0.478959311780, 0.477298879246, 0.478959311780),
    (ERR(norm="ideal"), {}, {}, 0.477298879246, 0.478959311780, 0.477298879246, 0.478959311780),
    (EBR, {}, {}, 0.464861111111, 0.473652026671, 0.464861111111, 0.473652026671),
    (EBR(norm="ideal"), {}, {}, 0.465148564066, 0.473944915603, 0.465148564066, 0.473944915603),
    (iRBU, {"p": 0.99}, {"p": 0.9}, 0.940456071340, 0.957459761994, 0.721667550938, 0.726286818395),
    (
        *(iRBU(norm="ideal"), {"p": 0.99}, {"p": 0.9}),
        *(0.953770675194, 0.971015097352, 0.829420326152, 0.834729300231),
    ),
    (
        *(RB_IE, {"p": 0.99, "gamma": 0.95}, {"p": 0.9, "gamma": 0.7}),
        *(0.338470930886, 0.520457173507, 0.442789281114, 0.487957509313),
    ),
    (nDCG_JK, {"b": 2}, {"b": 10}, 0.410799477932, 0.477629525989, 0.421052631579, 0.559325090289),
]


def score_alone(measure, levels, retrieved):
    """Return the score of one topic by the package."""
    return ir_measures.calc_aggregate([measure], {"t": levels}, run_of(retrieved))[measure]


def score(measure, levels, retrieved):
    """Return the score of one topic by the package, after checking that the reference agrees."""
    found = score_alone(measure, levels, retrieved)
    expected = ranked.score(measure.NAME, measure.params, levels, retrieved, max(levels.values()))
    assert found == pytest.approx(expected, rel=0, abs=1e-12)
    return found


@pytest.mark.parametrize(
    ("measure", "first", "second", "first_at_10", "first_whole", "second_at_10", "second_whole"), VALUES
)
def test_five_retrieved_of_ten_relevant_score_as_by_hand(
    measure, first, second, first_at_10, first_whole, second_at_10, second_whole
):
    levels = TEN_RELEVANT["t"]
    found = [
        score(made, levels, FIVE_RETRIEVED)
        for params in (first, second)
        for made in (measure(**params) @ 10, measure(**params))
    ]
    assert found == pytest.approx([first_at_10, first_whole, second_at_10, second_whole], rel=0, abs=1e-11)


# ------------------------------------------------------------------------------------------- identities


def test_original_ndcg_does_not_discount_the_first_b_ranks():
    levels = {"a": 1, "b": 1, "c": 1}
    found = [score(nDCG_JK(b=b), levels, ["a", "x", "y", "b"]) for b in (2, 3, 4)]
    ideals = [2 + 1 / math.log2(3), 3, 3]
    assert found == pytest.approx([(1 + 1 / 2) / ideals[0], (1 + 1 / math.log(4, 3)) / 3, 2 / 3])


def test_ideal_list_of_ncu_is_the_best_list_for_its_stop():
    levels = {"a": 1, "b": 2}
    # Stop weights and levels decide if the gain does not count.
    for measure in (
        NCU(utility="rr", norm="ideal", stops={1: 5}),
        NCU(utility="ie", norm="ideal", gains={1: 5}),
    ):
        assert score(measure, levels, ["a", "b"]) == 1
        assert score(measure, levels, ["b", "a"]) < 1
    for stop in ("preferred", "up_to_preferred"):
        measure = NCU(stop=stop, utility="rr", norm="ideal", gains={1: 5})
        assert score(measure, levels, ["b", "a"]) == 1
        assert score(measure, levels, ["a", "b"]) < 1


# ------------------------------------------------------------------------------------------- preferences


def test_preferences_use_judged_documents_only():
    levels, retrieved = {"a": 1, "b": 2, "n": 0}, ["n", "x", "b", "a"]
    # One document judged not relevant is above both: R = 2, N = 1, cg* = 3, R + N - cg*/gmax = 1.5.
    expected = {
        B_pref(penalty="R"): 1 / 2,
        B_pref(penalty="N"): 0,
        B_pref(penalty="relative"): (0 + 1 / 2) / 2,
        R_pref(penalty="N"): 1 / 3,
        R_pref(penalty="relative"): (0 + 1 / 2) / 3,
        R_pref(penalty="relative2"): (2 * 1 / 2 + 2 / 3) / 3,
    }
    for measure, value in expected.items():
        assert score(measure, levels, retrieved) == pytest.approx(value, abs=1e-15), measure


def test_a_lower_level_above_a_document_is_part_of_its_penalty():
    # At a, pen = (2 - 1)/2 and R + N - cg*/gmax = 2 - 3/2.
    for penalty, value in {"N": 1 / 3, "relative": 1 / 3, "relative2": 2.5 / 3}.items():
        found = score(R_pref(penalty=penalty), {"a": 2, "b": 1}, ["b", "a"])
        assert found == pytest.approx(value, abs=1e-15), penalty


def test_rank_1_adds_nothing_to_relative_preferences():
    for measure, value in {
        B_pref(penalty="relative"): 0,
        R_pref(penalty="relative"): 0,
        R_pref(penalty="relative2"): 1,
    }.items():
        assert score(measure, {"a": 1, "n": 0}, ["a", "n"]) == value


def test_penalty_is_0_if_no_document_could_be_worse():
    """The sum of penalties is exactly 0 even for gains that a double cannot represent."""
    levels = {f"d{n}": 1 for n in range(7)}
    for gains in ({}, {1: 0.1}, {1: 1 / 3}):
        assert score(R_pref(gains=gains), levels, list(levels)) == pytest.approx(1, abs=1e-15)
    assert score(B_pref(penalty="N"), levels, list(levels)) == pytest.approx(1, abs=1e-15)


def test_a_tiny_persistence_leaves_the_ideal_list_a_score():
    measure = iRBU(norm="ideal", p=1e-200)
    assert ir_graded.evaluate(measure, {"1": {"a": 2}}, {"1": {"a": 1.0}}).values.item() == 1
