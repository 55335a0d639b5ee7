"""Errors of rank correlations name the wrong ranking and its systems."""

import math

import pandas as pd
import pytest

from ir_graded.errors import InputError
from ir_graded.meta import kendall_tau, kendall_tau_b, tau_ap, tau_ap_a, tau_ap_b

NAMES = {
    kendall_tau: ("a", "b"),
    kendall_tau_b: ("a", "b"),
    tau_ap: ("reference", "estimate"),
    tau_ap_a: ("reference", "estimate"),
    tau_ap_b: ("a", "b"),
}
EACH = pytest.mark.parametrize("correlation", NAMES, ids=lambda one: one.__name__)
RIGHT = [3, 2, 1]


@EACH
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([1, math.nan, 2], ": the score of system 1 is nan, expected a finite number"),
        ({"p": 1, "q": math.inf, "r": 2}, ": the score of system 'q' is inf, expected a finite number"),
        ([[1, 2, 3]], ": expected one number per system, found 2 dimensions"),
        (pd.Series([1, 2, 3], index=["p", "q", "p"]), ": system 'p' appears twice"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_error_names_the_ranking(correlation, wrong, message):
    for place, name in enumerate(NAMES[correlation]):
        given = [RIGHT, RIGHT]
        given[place] = wrong
        with pytest.raises(InputError) as caught:
            correlation(*given)
        assert str(caught.value) == name + message


@EACH
def test_systems_in_one_ranking_only_are_named(correlation):
    first, second = NAMES[correlation]
    with pytest.raises(InputError) as caught:
        correlation({"p": 1, "q": 2}, {"p": 1, "r": 2})
    assert str(caught.value) == f"systems differ: 'q' is in the {first} only"
    with pytest.raises(InputError) as caught:
        correlation({"p": 1, "q": 2}, {"p": 1, "q": 3, "a": 2})
    assert str(caught.value) == f"systems differ: 'a' is in the {second} only"
    with pytest.raises(InputError) as caught:
        correlation([1, 2, 3], [1, 2])
    assert str(caught.value) == f"{first} has 3 systems, {second} has 2"


NAMED = {"p": 3, "q": 2, "r": 1}
TIED = {"p": 2, "q": 1, "r": 1}


@pytest.mark.parametrize(
    ("reference", "estimate", "tied"),
    [
        (NAMED, TIED, "'q', 'r' are tied in the estimate"),
        (NAMED, list(TIED.values()), "'q', 'r' are tied in the estimate"),
        (list(NAMED.values()), TIED, "'q', 'r' are tied in the estimate"),
        (RIGHT, [2, 1, 1], "1, 2 are tied in the estimate"),
        (TIED, NAMED, "'q', 'r' are tied in the reference"),
        ([2, 1, 1, 1, 1, 1], [6, 5, 4, 3, 2, 1], "1, 2, 3 ... are tied in the reference"),
        ([2, 1, 1, 1, 1, 1, 1], range(7), "1, 2, 3 ... are tied in the reference"),
        ([1, 1, 2, 2], [*RIGHT, 0], "2, 3 are tied in the reference"),
    ],
)
def test_tied_systems_are_named_best_first(reference, estimate, tied):
    with pytest.raises(InputError) as caught:
        tau_ap(reference, estimate)
    advice = "use tau_ap_a for ties in the estimate, tau_ap_b for ties in both"
    assert str(caught.value) == f"systems {tied}: {advice}"


def test_tau_ap_a_rejects_ties_only_in_the_reference():
    with pytest.raises(InputError) as caught:
        tau_ap_a(TIED, NAMED)
    advice = "use tau_ap_a for ties in the estimate, tau_ap_b for ties in both"
    assert str(caught.value) == f"systems 'q', 'r' are tied in the reference: {advice}"
    assert tau_ap_a(NAMED, TIED) == 0.75
