"""Edge cases of scores: nearly identical systems, intervals at the smallest score, means not above 0."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from ir_graded import meta
from ir_graded.errors import InputError
from ir_graded.meta.paired_tests import _replicate_at_place
from ir_graded.meta.replicates import Workspace
from ir_graded.meta.significance import _signed_bounds, _smallest_sufficient


def test_a_tuple_as_a_system_name_stays_one_name():
    systems = [("bm25", 1), ("bm25", 2)]
    scores = pd.DataFrame([[0.1, 0.2], [0.3, 0.5]], columns=pd.Index(systems, tupleize_cols=False))
    assert meta.significance(scores, n_resamples=5).means.index.tolist() == systems[::-1]
    intervals = meta.confidence_intervals({"Q": scores}, n_resamples=5).to_frame()
    assert intervals.index.tolist() == systems[::-1]
    assert intervals.index.nlevels == 1
    assert meta.discriminative_power(scores, n_resamples=20).asl.index.tolist() == [tuple(systems)]


@pytest.mark.parametrize("method", [meta.discriminative_power, meta.significance])
def test_an_asl_of_alpha_is_not_significant(method):
    scores = pd.DataFrame(np.random.default_rng(2).random((6, 2)), columns=["a", "b"])
    asl = method(scores, n_resamples=50).to_frame()["asl"].tolist()
    assert 0 < asl[0] < 1
    assert method(scores, n_resamples=50, alpha=asl[0]).to_frame()["significant"].tolist() == [False]
    above = np.nextafter(asl[0], 1)
    assert method(scores, n_resamples=50, alpha=above).to_frame()["significant"].tolist() == [True]


def test_statistics_are_equal_within_1e_12_of_their_size_and_of_1():
    t = np.array([0, 3, -3, 1e6])
    least, most = _signed_bounds(t, 11)
    low, high = t - 1e-12 * (1 + abs(t)), t + 1e-12 * (1 + abs(t))
    np.testing.assert_array_equal(least, low * abs(low) / 10)
    np.testing.assert_array_equal(most, high * abs(high) / 10)
    assert [bound.tolist() for bound in _signed_bounds(np.array([np.inf]), 11)] == [[np.inf], [np.inf]]


@pytest.mark.parametrize(("difference", "ties"), [(0.8e-12, 1), (1.2e-12, 0)])
def test_means_are_equal_within_1e_12_of_the_largest_score(difference, ties):
    scores = np.full((8, 2), 0.5)
    scores[:, 1] += difference * 0.5
    assert meta.stability(scores, fuzziness=[0], n_resamples=20).proportion_of_ties.tolist() == [ties]


def test_names_of_several_types_are_distinguished():
    scores = {"Q": pd.DataFrame([[1, 2], [3, 4]], columns=["a", "b"])}
    scores["AP"] = scores["Q"].set_axis(["a", 7], axis=1)
    with pytest.raises(InputError) as caught:
        meta.compare_measures(scores)
    assert str(caught.value) == "AP: systems differ from those of the other measures: 7 is only in this one"
    with pytest.raises(InputError) as caught:
        meta.compare_measures(dict(reversed(scores.items())))
    assert str(caught.value) == "Q: systems differ from those of the other measures: 7 is missing in this one"


def test_the_result_of_significance_has_labelled_tables():
    scores = pd.DataFrame({"poor": [0.1, 0.3, 0.2], "good": [0.5, 0.6, 0.9]})
    found = meta.significance(scores, n_resamples=30)
    assert (found.means.name, found.means.index.tolist()) == ("mean", ["good", "poor"])
    for table in (found.asl, found.significant):
        assert table.index.tolist() == table.columns.tolist() == ["good", "poor"]


def exact_means(values):
    return [float(sum(map(Fraction, column)) / len(column)) for column in values.T.tolist()]


def test_means_and_differences_keep_all_their_digits():
    one = np.random.default_rng(5).random(40)
    values = np.column_stack([one, one + 1e-13 * np.random.default_rng(6).random(40), one / 3])
    scores = pd.DataFrame(values, columns=["a", "b", "c"])
    means = meta.significance(scores, n_resamples=5).means[list("abc")]
    np.testing.assert_array_max_ulp(means.to_numpy(), np.array(exact_means(values)), 1)
    found = meta.discriminative_power(scores, n_resamples=20)
    pairs = [(0, 1), (0, 2), (1, 2)]
    sums = [sum(map(Fraction, values[:, at])) for at in range(3)]
    expected = [float((sums[first] - sums[second]) / 40) for first, second in pairs]
    assert found.differences.tolist() == pytest.approx(expected, rel=1e-14, abs=0)
    assert [found.asl.name, found.differences.name] == ["asl", "difference"]
    assert found.required_differences.name == "required_difference"
    assert found.asl.index.names == ["run_a", "run_b"]


@pytest.mark.parametrize(
    ("statistics", "sums", "order"),
    [
        ([5, 3, 4, 1], [1, 1, 1, 9], [0, 2, 1, 3]),
        ([5, 3, 3, 1], [1, -2, 4, 9], [0, 2, 1, 3]),
        ([5, 3, 3, 1], [1, -4, 2, 9], [0, 1, 2, 3]),
        ([3, 3, 3, 3], [1, -3, 2, -4], [3, 1, 2, 0]),
        ([5, 3, 3 + 5e-12, 1], [1, 4, -2, 9], [0, 1, 2, 3]),
        ([5, 3, 3 + 8e-12, 1], [1, 4, -2, 9], [0, 2, 1, 3]),
        ([np.inf, 3, np.inf, 1], [2, 1, -3, 1], [2, 0, 1, 3]),
    ],
)
def test_of_equal_statistics_the_larger_sum_comes_first(statistics, sums, order):
    for place, expected in enumerate(order, 1):
        space = Workspace.of(2, 4)
        space.statistics[:] = [statistics, statistics[::-1]]
        space.sums[:] = [sums, sums[::-1]]
        assert _replicate_at_place(space, place).tolist() == [expected, 3 - expected]


@pytest.mark.parametrize(
    ("sizes", "significant", "smallest"),
    [
        ([0.1, 0.2, 0.3], [False, True, True], 0.2),
        ([0.1, 0.2, 0.3], [True, False, True], 0.3),
        ([0.1, 0.2, 0.3], [True, True, True], 0.1),
        ([0.1, 0.2, 0.3], [True, True, False], np.nan),
        ([0.2, 0.2, 0.3], [True, False, True], 0.3),
        ([0.2 + 1e-13, 0.2, 0.3], [True, False, True], 0.3),
        ([0.2 + 1e-12, 0.2, 0.3], [True, False, True], 0.2 + 1e-12),
        ([0.0, 0.0], [True, False], np.nan),
    ],
)
def test_the_required_difference_has_only_significant_pairs_above_it(sizes, significant, smallest):
    found = _smallest_sufficient(np.array(sizes), np.array(significant))
    np.testing.assert_array_equal(found, smallest)
