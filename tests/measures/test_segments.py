"""Sums over segments: none is lost, for any number of values, and empty segments sum to 0."""

import math

import numpy as np
import pytest

from ir_graded.core import segments

SEGMENT = np.array([0, 1, 1, 3, 3, 3, 5, 5, 5, 5])
VALUES = np.array([0.1, 0.1, 0.2, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.4])


def test_totals_counts_and_starts_of_segments():
    expected = [math.fsum(VALUES[at == SEGMENT]) for at in range(7)]
    assert segments.total(VALUES, SEGMENT, 7).tolist() == pytest.approx(expected, rel=1e-15, abs=0)
    assert segments.count(SEGMENT, 7).tolist() == [1, 2, 0, 3, 0, 4, 0]
    assert segments.starts(SEGMENT, 7).tolist() == [0, 1, 3, 3, 6, 6, 10]
    few = segments.total(VALUES[:3], SEGMENT[:3], 3)
    assert few.tolist() == [0.1, 0.1 + 0.2, 0]


def test_many_equal_values_keep_their_digits():
    many = 10**6
    segment = np.repeat([0, 1], many)
    found = segments.total(np.full(2 * many, 0.1), segment, 3)
    assert found.tolist() == pytest.approx([many * 0.1, many * 0.1, 0], rel=1e-14)


def test_exact_sums_over_the_last_axis():
    values = np.array([1.0, 1e100, 1.0, -1e100, 0.1, 0.2, 0.3, 0.4]).reshape(2, 4)
    assert segments.exact_sum(values).tolist() == [2, 1]
    assert segments.exact_sum(values.reshape(1, 2, 4)).tolist() == [[2, 1]]
    assert segments.exact_sum(np.zeros((2, 0))).tolist() == [0, 0]


def test_empty_input_has_empty_sums():
    nothing, none = np.zeros(0), np.zeros(0, dtype=np.int64)
    assert segments.total(nothing, none, 2).tolist() == [0, 0]
    assert segments.count(none, 2).tolist() == segments.starts(none, 2).tolist() == [0, 0]
    assert segments.cumulative_sum(nothing, none).tolist() == []
