"""Rank correlations compared with published values, plain loops, scipy, and identities of each variant."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st
from reference import meta_rank as plain
from scipy.stats import kendalltau

import ir_graded
from ir_graded.errors import InputError
from ir_graded.meta.correlation import (
    RankCorrelations,
    kendall_tau,
    kendall_tau_b,
    rank_correlations,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
)

#: The names of the two rankings.
NAMES = {
    kendall_tau: ("a", "b"),
    kendall_tau_b: ("a", "b"),
    tau_ap: ("reference", "estimate"),
    tau_ap_a: ("reference", "estimate"),
    tau_ap_b: ("a", "b"),
}
EACH = pytest.mark.parametrize("correlation", NAMES, ids=lambda one: one.__name__)

X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
X_TIED = np.round(np.array(X) * 5) / 5
Y_TIED = np.round(np.array(Y) * 5) / 5


@st.composite
def pairs(draw, tied_a=True, tied_b=True, most=7):
    """Two rankings of one set of systems, with or without ties."""
    size = draw(st.integers(2, most))

    def ranking(tied):
        if tied:
            return draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
        return draw(st.permutations(range(size)))

    return ranking(tied_a), ranking(tied_b)


@pytest.mark.parametrize(
    ("correlation", "a", "b", "published"),
    [
        (kendall_tau, X, Y, 0.7777778),
        (tau_ap, X, Y, 0.7491182),
        (kendall_tau, X, Y_TIED, 0.7111111),
        (tau_ap_a, X, Y_TIED, 0.6074515),
        (kendall_tau_b, X_TIED, Y_TIED, 0.75),
        (tau_ap_b, X_TIED, Y_TIED, 0.6269841),
    ],
)
def test_correlations_have_the_published_values(correlation, a, b, published):
    assert correlation(a, b) == pytest.approx(published, abs=5e-8)


@given(pairs())
def test_kendall_equals_the_plain_loops_and_scipy(both):
    a, b = both
    assert kendall_tau(a, b) == pytest.approx(plain.kendall_tau(a, b), abs=1e-12)
    np.testing.assert_allclose(kendall_tau_b(a, b), kendalltau(a, b).statistic, atol=1e-12)


@given(pairs(tied_a=False, tied_b=False))
def test_tau_ap_equals_the_plain_loops_and_kendall_equals_scipy(both):
    a, b = both
    (order,) = plain.orders(b)
    assert tau_ap(a, b) == pytest.approx(float(plain.tau_ap_of_order(a, order)), abs=1e-12)
    assert kendall_tau(a, b) == pytest.approx(kendalltau(a, b).statistic, abs=1e-12)


@given(pairs(tied_a=False, most=6))
def test_tau_ap_a_equals_the_mean_over_all_orders_of_ties(both):
    a, b = both
    assert tau_ap_a(a, b) == pytest.approx(plain.tau_ap_a(a, b), abs=1e-12)


@given(pairs())
def test_tau_ap_b_equals_the_plain_loops(both):
    a, b = both
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    assert tau_ap_b(a, b) == pytest.approx(plain.tau_ap_b(a, b), abs=1e-12)


def test_an_estimate_with_all_systems_tied_has_zero_or_nan():
    assert tau_ap_a([3, 2, 1, 0], [1, 1, 1, 1]) == pytest.approx(0, abs=1e-12)
    assert kendall_tau([1, 2, 3], [1, 1, 1]) == 0
    assert math.isnan(kendall_tau_b([1, 2, 3], [1, 1, 1]))
    assert math.isnan(tau_ap_b([1, 2, 3], [1, 1, 1]))


@EACH
def test_named_scores_are_aligned(correlation):
    names = list("abcdefghij")
    expected = correlation(X, Y)
    a, b = pd.Series(X, index=names), pd.Series(Y, index=names)
    assert correlation(a, b[::-1]) == expected
    assert correlation(a.to_dict(), dict(reversed(b.to_dict().items()))) == expected
    assert correlation(a, np.array(Y)) == expected
    assert correlation(X, b) == expected


FINITE = "expected a finite number"


@EACH
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([1, math.nan, 2], f"the score of system 1 is nan, {FINITE}"),
        (["good", 1, 2], f"the score of system 0 is 'good', {FINITE}"),
        ({"p": 1, "q": math.inf, "r": 2}, f"the score of system 'q' is inf, {FINITE}"),
        ({"p": 1, "q": pd.NA, "r": 2}, f"the score of system 'q' is <NA>, {FINITE}"),
        ([[1, 2, 3]], "expected one number per system, found 2 dimensions"),
        (pd.Series([1, 2, 3], index=["p", "q", "p"]), "system 'p' appears twice"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_error_names_the_ranking(correlation, wrong, message):
    for place, name in enumerate(NAMES[correlation]):
        given = [[3, 2, 1], [3, 2, 1]]
        given[place] = wrong
        with pytest.raises(InputError) as caught:
            correlation(*given)
        assert str(caught.value) == f"{name}: {message}"


@EACH
def test_systems_in_one_ranking_only_are_named(correlation):
    first, second = NAMES[correlation]
    for a, b, message in (
        ({"p": 1, "q": 2}, {"p": 1, "r": 2}, f"systems differ: 'q' is in the {first} only"),
        ({"p": 1, "q": 2}, {"p": 1, "q": 3, "a": 2}, f"systems differ: 'a' is in the {second} only"),
        ([1, 2, 3], [1, 2], f"{first} has 3 systems, {second} has 2"),
        ([1], [1], "at least 2 systems are needed, found 1"),
        ([], [], "at least 2 systems are needed, found 0"),
    ):
        with pytest.raises(InputError) as caught:
            correlation(a, b)
        assert str(caught.value) == message


NAMED = {"p": 3, "q": 2, "r": 1}
TIED = {"p": 2, "q": 1, "r": 1}


@pytest.mark.parametrize(
    ("correlation", "reference", "estimate", "tied"),
    [
        (tau_ap, NAMED, TIED, "'q', 'r' are tied in the estimate"),
        (tau_ap, NAMED, [*TIED.values()], "'q', 'r' are tied in the estimate"),
        (tau_ap, [*NAMED.values()], TIED, "'q', 'r' are tied in the estimate"),
        (tau_ap, [3, 2, 1], [2, 1, 1], "1, 2 are tied in the estimate"),
        (tau_ap, TIED, NAMED, "'q', 'r' are tied in the reference"),
        (tau_ap_a, TIED, NAMED, "'q', 'r' are tied in the reference"),
        (tau_ap, [2, 1, 1, 1, 1, 1], [6, 5, 4, 3, 2, 1], "1, 2, 3 ... are tied in the reference"),
        (tau_ap, [2, 1, 1, 1, 1, 1, 1], range(7), "1, 2, 3 ... are tied in the reference"),
        (tau_ap, [1, 1, 2, 2], [3, 2, 1, 0], "2, 3 are tied in the reference"),
    ],
)
def test_tied_systems_are_named_best_first(correlation, reference, estimate, tied):
    with pytest.raises(InputError) as caught:
        correlation(reference, estimate)
    advice = "use tau_ap_a for ties in the estimate, tau_ap_b for ties in both"
    assert str(caught.value) == f"systems {tied}: {advice}"


# ------------------------------------------------------------------------------------- many measures


@pytest.fixture
def matrices():
    rng = np.random.default_rng(0)
    frames = {
        name: pd.DataFrame(rng.random((6, 5)), index=list("uvwxyz"), columns=list("abcde"))
        for name in ("AP", "Q", "RR")
    }
    frames["RR"]["b"] = frames["RR"]["a"]
    return frames


def test_columns_are_plain_without_ties_and_labelled_with_ties(matrices):
    result = rank_correlations(matrices, reference="AP")
    means = {name: frame.mean() for name, frame in matrices.items()}
    table = result.to_frame()
    assert list(table) == ["kendall", "kendall_variant", "tau_ap", "tau_ap_variant"]
    assert list(table.index) == ["AP", "Q", "RR"]
    assert table.index.name == "measure"
    assert table["kendall_variant"].tolist() == ["tau", "tau", "tau_b"]
    assert table["tau_ap_variant"].tolist() == ["tau_ap", "tau_ap", "tau_ap_a"]
    assert table.loc["AP", ["kendall", "tau_ap"]].tolist() == pytest.approx([1, 1])
    assert table.loc["Q", "kendall"] == pytest.approx(kendall_tau(means["AP"], means["Q"]))
    assert table.loc["Q", "tau_ap"] == tau_ap(means["AP"], means["Q"])
    assert table.loc["RR", "kendall"] == kendall_tau_b(means["AP"], means["RR"])
    assert table.loc["RR", "tau_ap"] == tau_ap_a(means["AP"], means["RR"])
    reverse = rank_correlations(matrices, reference="RR").to_frame()
    assert reverse.loc["AP", "tau_ap"] == tau_ap_b(means["RR"], means["AP"])
    assert {*reverse["tau_ap_variant"], *reverse["kendall_variant"]} == {"tau_ap_b", "tau_b"}
    assert table["kendall"].between(-1, 1).all()
    assert isinstance(result, RankCorrelations)


def test_ties_in_the_estimate_alone_keep_the_reference_as_the_truth():
    reference, estimate = [0.5, 0.4, 0.3, 0.2, 0.1], [0.4, 0.6, 0.6, 0.1, 0.3]
    found = rank_correlations({"a": [reference] * 2, "b": [estimate] * 2}, reference="a").to_frame().loc["b"]
    assert (found["tau_ap_variant"], found["tau_ap"]) == ("tau_ap_a", pytest.approx(0.125))
    orders = [[0.4, 0.6, 0.59, 0.1, 0.3], [0.4, 0.59, 0.6, 0.1, 0.3]]
    assert found["tau_ap"] == pytest.approx(sum(tau_ap(reference, order) for order in orders) / 2)
    assert tau_ap_b(reference, estimate) == pytest.approx(0.020833, abs=6e-7)


def test_means_that_differ_only_by_rounding_are_tied():
    """In doubles, 0.1 + 0.2 is not equal to 0.3 + 0.0."""
    result = rank_correlations({"Q": [[0.1, 0.3], [0.2, 0.0]], "AP": [[0.1, 0.3], [0.2, 0.1]]}, reference="Q")
    assert result.tied.tolist() == [True, False]
    assert result.kendall_variant == ("tau_b", "tau_b")


def test_the_matrix_has_the_correlation_of_every_pair(matrices):
    result = rank_correlations(matrices, reference="Q")
    assert list(result.matrix.index) == list(result.matrix.columns) == ["AP", "Q", "RR"]
    np.testing.assert_array_equal(result.matrix, result.matrix.T)
    np.testing.assert_allclose(np.diag(result.matrix), 1)
    np.testing.assert_array_equal(result.matrix["Q"], result.kendall)
    expected = kendall_tau_b(matrices["AP"].mean(), matrices["RR"].mean())
    assert result.matrix.loc["AP", "RR"] == expected


def test_order_and_names_of_topics_and_systems_do_not_matter(matrices):
    expected = rank_correlations(matrices, reference="AP").to_frame()
    shuffled = {
        name: frame.sample(frac=1, random_state=at).sample(frac=1, axis=1, random_state=at)
        for at, (name, frame) in enumerate(matrices.items())
    }
    pd.testing.assert_frame_equal(rank_correlations(shuffled, reference="AP").to_frame(), expected)
    renamed = {name: frame.rename(columns=str.upper) for name, frame in matrices.items()}
    pd.testing.assert_frame_equal(rank_correlations(renamed, reference="AP").to_frame(), expected)


def test_scores_of_evaluate_are_accepted():
    qrels = {"1": {"a": 2, "b": 1}, "2": {"a": 1}}
    runs = {
        "good": {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}},
        "fair": {"1": {"b": 2.0, "x": 1.0}, "2": {"a": 1.0}},
        "poor": {"1": {"x": 2.0, "b": 1.0}, "2": {"x": 1.0}},
    }
    scores = ir_graded.evaluate(["Q", "AP", "nDCG@10"], qrels, runs)
    result = rank_correlations(scores, reference="nDCG@10")
    assert result.reference == "nDCG@10"
    assert result.measures == ("Q", "AP", "nDCG@10")
    assert result.runs == ("good", "fair", "poor")
    assert result.to_frame()["kendall"].tolist() == pytest.approx([1, 1, 1])
    assert rank_correlations(scores, reference=scores.measures[0]).reference == "Q"


def test_wrong_measures_are_named(matrices):
    with pytest.raises(InputError, match="reference nDCG is not among the measures AP, Q, RR"):
        rank_correlations(matrices, reference="nDCG")
    with pytest.raises(InputError, match="reference strange thing"):
        rank_correlations(matrices, reference="strange thing")
    other = matrices | {"Q": matrices["Q"].rename(columns={"a": "other"})}
    with pytest.raises(InputError, match=r"Q: systems differ .*'a'"):
        rank_correlations(other, reference="AP")
    with pytest.raises(InputError, match="at least 2 systems"):
        rank_correlations({"AP": [[1], [2]]}, reference="AP")
    with pytest.raises(InputError, match="is nan"):
        rank_correlations({"AP": [[1, float("nan")], [2, 3]]}, reference="AP")
    with pytest.raises(InputError, match="mapping from measures"):
        rank_correlations({}, reference="AP")
