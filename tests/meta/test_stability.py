"""Stability and the swap method compared with plain loops in exact fractions, hand-made cases, invariants."""

import importlib
from functools import partial

import numpy as np
import pandas as pd
import pytest
from reference import meta_rank as plain

from ir_graded.errors import ParameterError
from ir_graded.meta import replicates
from ir_graded.meta.options import generator
from ir_graded.meta.replicates import disjoint_halves, topic_count_pairs, topic_counts
from ir_graded.meta.stability import stability, swap

# The package's attribute of this name is the function.
module = importlib.import_module("ir_graded.meta.stability")
FUZZINESS = tuple(round(0.01 * step, 2) for step in range(1, 11))
DRAW = {"bootstrap": topic_count_pairs, "disjoint": disjoint_halves}
EACH = pytest.mark.parametrize(
    "method", [stability, *(partial(swap, resample=name) for name in DRAW)], ids=["stability", *DRAW]
)


def decimals(topics, systems, places=1, seed=0):
    """Draw scores with few decimals, so that means often tie or equal a margin or the edge of a bin."""
    return np.random.default_rng(seed).integers(0, 10**places + 1, size=(topics, systems)) / 10**places


@pytest.fixture
def scores():
    return decimals(6, 5)


@pytest.fixture
def fixed(monkeypatch):
    """Replace the drawn topic sets."""

    def fix(one, two=None):
        monkeypatch.setattr(module, "topic_counts", lambda _, __, size: one[:, :size])
        for name in ("topic_count_pairs", "disjoint_halves"):
            monkeypatch.setattr(module, name, lambda _, __, size: (one[:, :size], two[:, :size]))

    return fix


def same(one, other):
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)
    for name in ("required_difference", "sensitivity"):
        np.testing.assert_equal(getattr(one, name, None), getattr(other, name, None))


@EACH
@pytest.mark.parametrize("memory_mib", [1e-6, 0.003, 0.05])
def test_block_size_changes_nothing(scores, method, memory_mib):
    same(method(scores, n_resamples=300, memory_mib=memory_mib), method(scores, n_resamples=300))


def test_small_memory_gives_small_blocks():
    sizes = list(replicates.replicate_blocks(1000, 100, 0.5))
    assert sum(sizes) == 1000
    assert max(sizes) * 100 * 8 < 0.5 * 2**20
    assert len(list(replicates.replicate_blocks(1000, 100, 0.05))) > len(sizes)


@EACH
def test_order_and_names_change_nothing(scores, fixed, method):
    one, two = topic_count_pairs(generator(2), 6, 100)
    fixed(one, two)
    expected = method(scores, n_resamples=100)
    rows, columns = np.random.default_rng(1).permutation(6), np.random.default_rng(1).permutation(5)
    same(method(scores[:, columns], n_resamples=100), expected)
    same(method(pd.DataFrame(scores, list("abcdef"), list("VWXYZ")), n_resamples=100), expected)
    fixed(one[rows], two[rows])
    same(method(scores[rows], n_resamples=100), expected)


# ------------------------------------------------------------------------------------------- stability


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topics", "systems", "places"), [(2, 2, 1), (3, 4, 1), (5, 4, 1), (7, 6, 2), (10, 5, 1), (48, 4, 4)]
)
def test_rates_equal_the_plain_loops(topics, systems, places):
    scores = decimals(topics, systems, places, seed=topics)
    counts = topic_counts(generator(3), topics, 60)
    fuzziness = (0.0, *FUZZINESS, 0.25, 0.5)
    result = stability(scores, n_resamples=60, rng=3, fuzziness=fuzziness)
    expected = plain.stability(scores, counts, fuzziness)
    assert list(zip(result.minority_rate, result.proportion_of_ties, strict=True)) == expected


def test_scores_of_any_sign_equal_the_plain_loops():
    scores = (decimals(5, 5) - 0.5).round(1)
    result = stability(scores, n_resamples=80, rng=1, fuzziness=(0.0, 0.1))
    expected = plain.stability(scores, topic_counts(generator(1), 5, 80), (0.0, 0.1))
    assert list(zip(result.minority_rate, result.proportion_of_ties, strict=True)) == expected


@pytest.mark.parametrize(
    ("given", "ties"),
    [
        ([[0.5, 0.45]] * 2, [0.0, 1.0]),  # a difference of exactly the margin
        ([[0.1234, 0.1234], [0.7, 0.7]], [1.0, 1.0]),
        (np.zeros((3, 3)), [1.0, 1.0]),
    ],
)
def test_smaller_differences_than_the_margin_and_none_at_all_are_ties(given, ties):
    result = stability(given, fuzziness=[0.1, 0.11], n_resamples=10)
    assert result.proportion_of_ties.tolist() == ties
    assert result.minority_rate.tolist() == [0.0, 0.0]


def test_minority_counts_the_rarer_direction(fixed):
    fixed(np.array([[2.0, 2.0, 0.0, 1.0], [0.0, 0.0, 2.0, 1.0]]))
    result = stability([[1, 0], [0, 1]], fuzziness=[0.1], n_resamples=4)
    assert result.minority_rate.tolist() == [0.25]
    assert result.proportion_of_ties.tolist() == [0.25]


def test_fuzziness_values_may_be_many_and_unordered(scores):
    values = np.random.default_rng(0).permutation(np.arange(300) / 1000)
    many = stability(scores, fuzziness=values, n_resamples=30)
    for at in (0, 7, 299):
        one = stability(scores, fuzziness=[values[at]], n_resamples=30)
        assert one.minority_rate[0] == many.minority_rate[at]
        assert one.proportion_of_ties[0] == many.proportion_of_ties[at]


def test_scale_changes_nothing(scores):
    same(stability(scores * 1e6, n_resamples=100), stability(scores, n_resamples=100))


@pytest.mark.parametrize("wrong", [[], [-0.1], [1.0], [float("nan")], 0.1, ["some"]])
def test_wrong_fuzziness_is_rejected(scores, wrong):
    with pytest.raises(ParameterError, match=r"^fuzziness=.* must be one or more numbers >= 0 and < 1"):
        stability(scores, fuzziness=wrong)


# ------------------------------------------------------------------------------------------------ swap


@pytest.mark.parametrize("resample", DRAW)
@pytest.mark.parametrize(
    ("topics", "systems", "spread"), [(2, 2, 1), (3, 3, 1), (7, 5, 1), (10, 4, 1), (20, 6, 0.5), (50, 4, 1)]
)
@pytest.mark.parametrize("max_rate", [0.0, 0.05, 0.3, 1.0])
def test_swaps_equal_the_plain_loops(resample, topics, systems, spread, max_rate):
    scores = (decimals(topics, systems, seed=topics) * spread).round(2)
    scores[:, 0] = np.minimum(1, scores[:, 0] + 0.3).round(2)
    sets = DRAW[resample](generator(9), topics, 80)
    result = swap(scores, n_resamples=80, resample=resample, rng=9, max_rate=max_rate)
    observations, swaps, difference, sensitivity = plain.swap(scores, *sets, max_rate)
    assert result.observations.tolist() == observations
    assert result.swaps.tolist() == swaps
    np.testing.assert_equal(result.required_difference, difference)
    assert result.sensitivity == sensitivity


@pytest.mark.parametrize("difference", [step / 100 for step in range(1, 21)])
def test_a_difference_on_the_edge_falls_into_the_upper_bin(difference):
    scores = [[0.3 + difference, 0.3]] * 7
    result = swap(scores, n_resamples=20)
    assert result.observations[round(difference * 100)] == 20
    assert result.required_difference == difference
    assert result.sensitivity == 1.0


def test_differences_above_one_fall_into_the_last_bin():
    assert swap([[5.0, 1.0], [6.0, 1.0]], n_resamples=10).observations[20] == 10


def test_equal_means_in_another_order_tie_and_never_swap(fixed):
    fixed(np.ones((3, 4)), np.ones((3, 4)))
    scores = [[0.1, 0.3], [0.2, 0.1], [0.3, 0.2]]
    assert stability(scores, fuzziness=[0.0], n_resamples=4).proportion_of_ties.tolist() == [1.0]
    result = swap(scores, n_resamples=4)
    assert (result.observations[0], result.swaps.sum()) == (4, 0)


@pytest.mark.parametrize(
    ("one", "two", "scores", "rates", "required", "sensitivity"),
    [
        # The first set decides the bin.
        ([[2.0], [0.0]], [[0.0], [2.0]], [[0.55, 0.5], [0.5, 0.65]], {5: 1}, np.nan, 0),
        # Differences .05, -.12, .30 on the first sets; -.12, .30, .30 on the second: two swaps, then none.
        (
            np.eye(3) * 3, [[0.0, 0, 0], [3, 0, 0], [0, 3, 3]], [[0.55, 0.5], [0.5, 0.62], [0.8, 0.5]],
            {5: 1, 12: 1, 20: 0}, 0.2, 1 / 3,
        ),
        # Bins without observations are skipped.
        (np.eye(3) * 3, np.eye(3) * 3, [[0.55, 0.5], [0.62, 0.5], [0.8, 0.5]], {5: 0, 12: 0, 20: 0}, 0.05, 1),
        # The last bin is bad, although one below is good.
        (np.eye(2) * 2, [[2.0, 2.0], [0.0, 0.0]], [[0.52, 0.5], [0.5, 0.9]], {2: 0, 20: 1}, np.nan, 0),
    ],
)  # fmt: skip
def test_the_required_difference_of_worked_sets(fixed, one, two, scores, rates, required, sensitivity):
    one, two = np.array(one), np.array(two)
    fixed(one, two)
    result = swap(scores, n_resamples=one.shape[1])
    assert {at: result.rate[at] for at in np.flatnonzero(result.observations)} == rates
    np.testing.assert_equal(result.required_difference, required)
    assert result.sensitivity == sensitivity


def test_the_maximal_rate_itself_is_allowed(fixed):
    one = np.tile([[2.0], [0.0]], 20)
    two = one.copy()
    two[:, 0] = [0.0, 2.0]
    fixed(one, two)
    scores = [[0.55, 0.5], [0.5, 0.55]]
    assert swap(scores, n_resamples=20, max_rate=0.05).required_difference == 0.05
    assert np.isnan(swap(scores, n_resamples=20, max_rate=0.0499).required_difference)
