"""Compare NuggetR, U and budgets with a plain reference that uses sets of characters, on random topics."""

import random

import pytest
from nuggets import nugget_cases as cases

import ir_graded

#: Topics of each batch, which has measures with random parameters.
TOPICS = 20


def assert_equal_the_reference(seed):
    source = random.Random(seed)  # noqa: S311
    qrels, run = cases.random_topics(seed, TOPICS)
    scores = ir_graded.evaluate(cases.random_measures(source), qrels, run)
    for measure, values in zip(scores.measures, scores.values[:, 0], strict=True):
        for topic, value in zip(scores.query_ids, values, strict=True):
            gold = qrels[qrels["query_id"] == topic].drop(columns="query_id").values.tolist()
            rows = run[run["query_id"] == topic].drop(columns="query_id").values.tolist()
            wanted = cases.expected(measure, gold, rows)
            assert value == pytest.approx(wanted, rel=1e-13, abs=1e-15), (str(measure), topic)


pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")


def test_random_topics():
    assert_equal_the_reference(0)


@pytest.mark.release
@pytest.mark.parametrize("tens", range(3))
def test_600_random_topics(tens):
    for seed in range(10 * tens, 10 * tens + 10):
        assert_equal_the_reference(seed)
