"""Means are summed exactly: no digit depends on the order of topics, runs or systems."""

from __future__ import annotations

import math
import operator
import random
from fractions import Fraction
from functools import reduce

import ir_measures
import number_cases as cases
import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures.base import aggregate, exact_mean
from ir_graded.meta.correlation import rank_correlations
from ir_graded.meta.differences import differences

MEASURES = cases.of_every_kind(max_rel=3)
COUNTS = ("NumRet", "NumRel", "NumQ")
QRELS, RANKINGS = cases.collection([cases.WHOLE, cases.SOFT], topics=60, retrieved=15, judged=12)
RUN = cases.run_of(RANKINGS)


def exact(values):
    """Return the mean in fractions, with the sum and the quotient rounded once each."""
    return float(sum(map(Fraction, values))) / len(values)


def plain_sum(values):
    """Return the result of ``sum`` before Python 3.12, which accumulates rounding errors."""
    return reduce(operator.add, values)


@pytest.mark.slow
def test_means_equal_those_of_fractions():
    scores = ir_graded.evaluate(MEASURES, QRELS, RUN)
    differing = 0
    for number, measure in enumerate(scores.measures):
        values = scores.values[number, 0].tolist()
        of_sum = float(sum(map(Fraction, values)))
        assert scores.aggregates[0, number] == (of_sum if measure.NAME in COUNTS else exact(values))
        differing += plain_sum(values) != of_sum
    assert differing > len(MEASURES) / 4  # a plain sum would differ


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_topics_gives_equal_means(seed):
    order = random.Random(seed).sample(list(QRELS), len(QRELS))  # noqa: S311
    qrels = {topic: QRELS[topic] for topic in order}
    expected = ir_graded.evaluate(MEASURES, QRELS, RUN).aggregates
    assert np.array_equal(ir_graded.evaluate(MEASURES, qrels, RUN).aggregates, expected)
    assert [*PROVIDER.calc_aggregate(MEASURES, qrels, RUN).values()] == expected[0].tolist()


def test_small_scores_are_not_lost_among_large_ones():
    values = [1.0, *[1e-16] * 1000]
    expected = exact(values)
    assert plain_sum(values) == 1
    for measure in MEASURES:
        if measure.NAME not in COUNTS:
            assert aggregate(measure, np.array(values)) == expected, measure


@pytest.mark.slow
def test_the_mean_of_a_million_topics_is_exact():
    wholes = np.random.default_rng(0).integers(0, 2**53, 1_000_000)
    values = wholes * 2.0**-53
    assert exact_mean(values.tolist()) == float(Fraction(sum(wholes.tolist()), 2**53)) / 1_000_000
    assert exact_mean([0.1] * 1_000_000) == 0.1


def test_means_on_spark_equal_those_of_one_machine():
    """Spark returns the topics in another order."""
    scores = ir_graded.evaluate(MEASURES, QRELS, RUN)
    for number, measure in enumerate(scores.measures):
        values = scores.values[number, 0]
        assert aggregate(measure, np.sort(values)) == aggregate(measure, values)


def matrices():
    rng = np.random.default_rng(7)
    values = rng.integers(0, 1000, (50, 8)) / 999
    values[:, 3] = values[rng.permutation(50), 2]  # the mean in another order
    return pd.DataFrame(values, columns=[f"s{n}" for n in range(8)])


@pytest.mark.parametrize("seed", range(5))
def test_means_of_systems_do_not_depend_on_the_order_of_topics(seed):
    scores = matrices()
    other = scores.sample(frac=1, random_state=seed)
    one, another = ({"Q": frame, "R": frame**2} for frame in (scores, other))
    difference = [differences(given, "s0").difference for given in (one, another)]
    assert np.array_equal(*difference)
    taus = [rank_correlations(given, reference="Q") for given in (one, another)]
    assert np.array_equal(taus[0].kendall, taus[1].kendall)
    assert np.array_equal(taus[0].tau_ap, taus[1].tau_ap)
    assert taus[0].tied.tolist() == [True, True]


@pytest.mark.parametrize("measure", [ir_graded.Q, ir_measures.AP], ids=str)
def test_no_topics_have_a_mean_of_nan(measure):
    assert math.isnan(aggregate(measure, np.zeros(0)))
