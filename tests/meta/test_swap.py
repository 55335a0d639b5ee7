"""The swap method compared with plain loops in exact fractions, hand-made cases, and invariants."""

import importlib

import numpy as np
import pandas as pd
import pytest
from reference import meta_rank as plain

from ir_graded.errors import ParameterError
from ir_graded.meta.options import generator
from ir_graded.meta.samples import disjoint_halves, topic_count_pairs
from ir_graded.meta.stability import swap

# The package's attribute of this name is the function.
module = importlib.import_module("ir_graded.meta.stability")
DRAW = {"bootstrap": topic_count_pairs, "disjoint": disjoint_halves}
EACH = pytest.mark.parametrize("resample", DRAW)


def decimals(topics, systems, places=1, seed=0):
    """Draw scores with few decimals, so that differences often equal the edge of a bin."""
    return np.random.default_rng(seed).integers(0, 10**places + 1, size=(topics, systems)) / 10**places


def same(one, other):
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)
    np.testing.assert_equal(one.required_difference, other.required_difference)
    assert one.sensitivity == other.sensitivity


@pytest.fixture
def fixed(monkeypatch):
    """Replace the drawn topic sets."""

    def fix(one, two):
        def draw(_, __, size):
            return one[:, :size], two[:, :size]

        monkeypatch.setattr(module, "topic_count_pairs", draw)
        monkeypatch.setattr(module, "disjoint_halves", draw)

    return fix


@EACH
@pytest.mark.parametrize(
    ("topics", "systems", "spread"), [(2, 2, 1), (3, 3, 1), (7, 5, 1), (10, 4, 1), (20, 6, 0.5), (50, 4, 1)]
)
@pytest.mark.parametrize("max_rate", [0.0, 0.05, 0.3, 1.0])
def test_rates_equal_the_plain_loops(resample, topics, systems, spread, max_rate):
    scores = (decimals(topics, systems, seed=topics) * spread).round(2)
    scores[:, 0] = np.minimum(1, scores[:, 0] + 0.3).round(2)
    sets = DRAW[resample](generator(9), topics, 80)
    result = swap(scores, n_resamples=80, resample=resample, rng=9, max_rate=max_rate)
    observations, swaps, difference, sensitivity = plain.swap(scores, *sets, max_rate)
    assert result.observations.tolist() == observations
    assert result.swaps.tolist() == swaps
    np.testing.assert_equal(result.required_difference, difference)
    assert result.sensitivity == sensitivity


def test_the_plain_loops_cover_edges_and_good_bins():
    scores = decimals(20, 6, seed=20)
    scores[:, 0] = np.minimum(1, scores[:, 0] + 0.3).round(2)
    result = swap(scores, n_resamples=80, rng=9)
    assert 0 < result.required_difference < 0.2
    assert 0 < result.sensitivity < 1


@pytest.mark.parametrize("difference", [step / 100 for step in range(1, 21)])
def test_a_difference_on_the_edge_falls_into_the_upper_bin(difference):
    scores = [[0.3 + difference, 0.3]] * 7
    result = swap(scores, n_resamples=20)
    assert result.observations[round(difference * 100)] == 20
    assert result.required_difference == difference
    assert result.sensitivity == 1.0


def test_equal_systems_never_swap():
    system = decimals(7, 1, 4)
    result = swap(np.hstack([system, system]), n_resamples=50)
    assert result.observations.tolist() == [50] + [0] * 20
    assert result.swaps.sum() == 0


def test_equal_means_in_another_order_never_swap(fixed):
    fixed(np.ones((3, 4)), np.ones((3, 4)))
    result = swap([[0.1, 0.3], [0.2, 0.1], [0.3, 0.2]], n_resamples=4)
    assert result.observations[0] == 4
    assert result.swaps.sum() == 0


def test_the_first_set_decides_the_bin(fixed):
    fixed(np.array([[2.0], [0.0]]), np.array([[0.0], [2.0]]))
    result = swap([[0.55, 0.5], [0.5, 0.65]], n_resamples=1)
    assert np.flatnonzero(result.observations).tolist() == [5]
    assert result.swaps[5] == 1


def test_empty_bins_do_not_start_the_required_difference(fixed):
    one, two = np.array([[3.0, 0, 0], [0, 3, 0], [0, 0, 3]]), np.array([[0.0, 0, 0], [3, 0, 0], [0, 3, 3]])
    fixed(one, two)
    # Differences .05, -.12, .30 on the first sets; -.12, .30, .30 on the second: two swaps, then none.
    result = swap([[0.55, 0.5], [0.5, 0.62], [0.8, 0.5]], n_resamples=3)
    assert result.observations[[5, 12, 20]].tolist() == [1, 1, 1]
    assert result.swaps[[5, 12, 20]].tolist() == [1, 1, 0]
    assert result.required_difference == 0.2
    assert result.sensitivity == 1 / 3


def test_the_required_difference_skips_empty_bins(fixed):
    fixed(np.eye(3) * 3, np.array([[3.0, 0, 0], [0, 3, 0], [0, 0, 3]]))
    result = swap([[0.55, 0.5], [0.62, 0.5], [0.8, 0.5]], n_resamples=3)
    assert result.required_difference == 0.05
    assert result.sensitivity == 1.0


def test_the_sensitivity_is_0_if_no_difference_is_large_enough(fixed):
    fixed(np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
    result = swap([[1, 0], [0, 1]], n_resamples=2)
    assert np.isnan(result.required_difference)
    assert result.sensitivity == 0.0


def test_a_bad_bin_at_the_top_leaves_no_required_difference(fixed):
    fixed(np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([[2.0, 2.0], [0.0, 0.0]]))
    result = swap([[0.52, 0.5], [0.5, 0.9]], n_resamples=2)  # bin 2 is good, the last one swaps
    assert result.rate[[2, 20]].tolist() == [0.0, 1.0]
    assert np.isnan(result.required_difference)


def test_the_maximal_rate_itself_is_allowed(fixed):
    one = np.tile([[2.0], [0.0]], 20)
    two = one.copy()
    two[:, 0] = [0.0, 2.0]
    fixed(one, two)
    scores = [[0.55, 0.5], [0.5, 0.55]]
    assert swap(scores, n_resamples=20, max_rate=0.05).required_difference == 0.05
    assert np.isnan(swap(scores, n_resamples=20, max_rate=0.0499).required_difference)


def test_every_pair_and_trial_is_observed():
    result = swap(decimals(9, 7), n_resamples=30)
    assert result.observations.sum() == 21 * 30
    assert (result.swaps <= result.observations).all()


@pytest.mark.parametrize("resample", DRAW)
@pytest.mark.parametrize("memory_mib", [1e-6, 0.003, 0.05])
def test_block_size_changes_nothing(resample, memory_mib):
    scores = decimals(9, 5)
    small = swap(scores, n_resamples=300, resample=resample, memory_mib=memory_mib)
    same(small, swap(scores, n_resamples=300, resample=resample))


def test_order_and_names_change_nothing(fixed):
    scores = decimals(9, 5)
    one, two = topic_count_pairs(generator(2), 9, 100)
    fixed(one, two)
    expected = swap(scores, n_resamples=100)
    rows, columns = np.random.default_rng(1).permutation(9), np.random.default_rng(1).permutation(5)
    same(swap(scores[:, columns], n_resamples=100), expected)
    same(swap(pd.DataFrame(scores, index=list("abcdefghi")), n_resamples=100), expected)
    fixed(one[rows], two[rows])
    same(swap(scores[rows], n_resamples=100), expected)


def test_differences_above_one_fall_into_the_last_bin():
    assert swap([[5.0, 1.0], [6.0, 1.0]], n_resamples=10).observations[20] == 10


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_resamples": 0}, {"n_resamples": 2.5}, {"resample": "halves"}, {"max_rate": -0.1},
        {"max_rate": 1.1}, {"max_rate": float("nan")}, {"memory_mib": -1}, {"rng": -1},
    ],
)  # fmt: skip
def test_wrong_parameters_are_rejected(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        swap(decimals(4, 3), **wrong)


@EACH
def test_a_result_keeps_its_options(resample):
    scores = np.random.default_rng(0).random((8, 3))
    result = swap(scores, n_resamples=7, resample=resample, max_rate=0.25)
    assert (result.n_resamples, result.resample, result.max_rate) == (7, resample, 0.25)
