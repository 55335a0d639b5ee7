"""Aggregates over topics: the means of all measures are exact, and counts are summed."""

import math

import ir_measures
import numpy as np

from ir_graded import Q
from ir_graded.measures.base import aggregate, exact_mean

#: A plain running sum of these numbers is 0.
CANCELLING = [1.0, 1e100, 1.0, -1e100]


def test_sums_are_exact_in_any_order():
    assert exact_mean(CANCELLING) == exact_mean(sorted(CANCELLING)) == 2 / 4
    assert exact_mean(iter(CANCELLING)) == 2 / 4


def test_no_values_give_a_mean_of_nan():
    assert math.isnan(exact_mean([]))
    assert math.isnan(aggregate(Q, np.array([])))
    assert math.isnan(aggregate(ir_measures.AP, np.array([])))


def test_a_measure_of_the_package_has_the_exact_mean():
    aggregator = Q.aggregator()
    for value in CANCELLING:
        aggregator.add(value)
    assert aggregator.result() == aggregate(Q, np.array(CANCELLING)) == 2 / 4


def test_a_mean_measure_of_ir_measures_has_the_exact_mean():
    assert aggregate(ir_measures.AP, np.array(CANCELLING)) == 2 / 4


def test_counts_are_summed():
    assert aggregate(ir_measures.NumRet, np.array([2.0, 3.0])) == 5
    assert aggregate(ir_measures.NumRet, np.array([])) == 0
