"""Significance matrices compared with plain references, invariants and edge cases."""

import math

import numpy as np
import pandas as pd
import pytest
from reference import meta_power as plain

from ir_graded.errors import InputError
from ir_graded.meta.significance import discriminative_power, significance
from tests.meta.test_power import MATRICES, B, continuous, counts_of


def by_mean(values):
    numbers = plain.exact(values)
    means = [sum(column) for column in zip(*numbers, strict=True)]
    return sorted(range(len(means)), key=lambda system: -means[system])


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_asl_equals_the_plain_loops(name, alternative):
    values = MATRICES[name]
    numbers, counts = plain.exact(values), counts_of(values)
    asl_of = {"greater": plain.one_sided_asl, "two-sided": plain.two_sided_asl}[alternative]
    found = significance(values, alternative=alternative, n_resamples=B, rng=3, alpha=0.1)
    order = by_mean(values)
    assert list(found.asl.index) == list(found.asl.columns) == order
    expected = [
        [1.0 if i == j else asl_of(plain.differences(numbers, i, j), counts) for j in order] for i in order
    ]
    assert found.asl.to_numpy().tolist() == expected
    assert found.significant.to_numpy().tolist() == [[asl < 0.1 for asl in row] for row in expected]
    above = [expected[i][j] < 0.1 for i in range(len(order)) for j in range(i + 1, len(order))]
    assert found.count == sum(above)


def test_systems_are_sorted_by_mean_and_ties_keep_their_order():
    frame = pd.DataFrame({"low": [0.1, 0.1], "first": [0.1, 0.7], "second": [0.7, 0.1], "high": [0.9, 0.8]})
    found = significance(frame, n_resamples=20)
    assert list(found.asl.index) == ["high", "first", "second", "low"]
    assert found.means.to_dict() == pytest.approx({"high": 0.85, "first": 0.4, "second": 0.4, "low": 0.1})


def test_one_tail_is_not_half_of_both_for_skewed_differences():
    z = np.append(np.full(20, 0.1) + np.arange(20) / 1000, 1.5)
    values = np.column_stack([z, np.zeros(21)])
    both = discriminative_power(values).asl.iloc[0]
    one = significance(values).asl.loc[0, 1]
    assert one < both
    assert significance(values, alternative="two-sided").asl.loc[0, 1] == both


def test_identical_systems_and_constant_differences_have_defined_asl():
    score = np.random.default_rng(0).random(20)
    frame = pd.DataFrame({"a": score, "same": score + 0.1 - 0.1, "worse": score - 0.1})
    one, both = significance(frame), significance(frame, alternative="two-sided")
    assert one.asl.to_numpy().tolist() == [[1, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert both.asl.to_numpy().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert one.count == both.count == 2
    assert not one.significant.loc["worse"].any()


@pytest.mark.slow
def test_rejections_when_systems_do_not_differ():
    rng = np.random.default_rng(2026)
    sets = 600
    rejected = []
    for _ in range(sets):
        values = rng.normal(size=(60, 2))
        found = significance(values, n_resamples=399, rng=rng)
        rejected.append(found.significant.loc[0, 1])
    assert abs(np.mean(rejected) - 0.05) < 3.5 * math.sqrt(0.05 * 0.95 / sets)


def test_the_frame_has_one_row_for_each_pair_of_systems():
    frame = pd.DataFrame(continuous(20, 4), columns=list("abcd"))
    found = significance(frame, n_resamples=B)
    rows = found.to_frame()
    assert list(rows) == ["run_a", "run_b", "difference", "asl", "significant"]
    assert len(rows) == 6
    assert rows["significant"].sum() == found.count > 0
    assert (rows["difference"] >= 0).all()
    for row in rows.itertuples():
        assert row.asl == found.asl.loc[row.run_a, row.run_b]
        assert row.difference == pytest.approx(frame[row.run_a].mean() - frame[row.run_b].mean())


LABELLED = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.2], "b": [0.5, 0.6, 0.5, 0.9], "c": [0.2, 0.2, 0.3, 0.4]})


@pytest.mark.parametrize(
    ("labels_by", "ranks"),
    [
        ({"c": 0.5, "a": 0.5, "b": 0.2}, [3, 1, 1]),
        (pd.Series({"c": 0.5, "a": 0.6, "b": 0.2}), [3, 2, 1]),
        ([0.1, 0.2, 0.3], [2, 1, 3]),
        (1 - LABELLED, [3, 2, 1]),
    ],
)
def test_rows_are_labelled_with_the_rank_by_a_reference(labels_by, ranks):
    matrix = LABELLED if not isinstance(labels_by, list) else LABELLED.to_numpy()
    found, plain = (significance(matrix, labels_by=by, n_resamples=50) for by in (labels_by, None))
    assert found.asl.index.tolist() == found.asl.columns.tolist() == found.significant.index.tolist() == ranks
    assert (found.asl.to_numpy() == plain.asl.to_numpy()).all()
    frame = found.to_frame()
    assert frame[["rank_a", "rank_b"]].to_numpy().tolist() == [
        [ranks[0], ranks[1]],
        [ranks[0], ranks[2]],
        ranks[1:],
    ]
    pd.testing.assert_frame_equal(frame.drop(columns=["rank_a", "rank_b"]), plain.to_frame())
    assert found.means.index.tolist() == plain.means.index.tolist()


def test_reference_must_have_the_systems():
    with pytest.raises(InputError, match="systems differ: 'c' is in the scores only"):
        significance(LABELLED, labels_by={"a": 1, "b": 2})
    with pytest.raises(InputError, match="scores has 3 systems, labels_by has 2"):
        significance(LABELLED.to_numpy(), labels_by=[1, 2])
    with pytest.raises(InputError, match="labels_by: expected one number per system"):
        significance(LABELLED, labels_by=5)
