"""Compare measures of rows with a plain reference that uses sets of characters, on random input."""

import pytest
from chunks import chunk_cases as cases
from hypothesis import given
from measures import measure_cases
from passages import passage_cases

from ir_graded import InputError
from ir_graded.measures import REGISTRY

examples = measure_cases.examples(30)


def assert_equal_the_reference(measures, qrels, run):
    found = cases.scores(measures, qrels, run)
    for measure in measures:
        measure_cases.assert_same_scores(found.get(str(measure), {}), cases.expected(measure, qrels, run))


@pytest.mark.slow
@examples
@given(qrels=passage_cases.qrels().map(cases.near), run=passage_cases.runs().map(cases.near))
def test_measures_that_take_no_overlaps(qrels, run):
    known = {row[0] for row in qrels}
    for measure in set(cases.VARIANTS) - set(cases.OVERLAPPING):
        # Topics that the qrels lack are ignored.
        try:
            expected = cases.expected(measure, qrels, [row for row in run if row[0] in known])
        except ValueError:
            with pytest.raises(InputError, match="overlap"):
                cases.scores([measure], qrels, run)
        else:
            found = cases.scores([measure], qrels, run)
            measure_cases.assert_same_scores(found.get(str(measure), {}), expected)


@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_many_topics(seed):
    qrels, run = passage_cases.random_rows(seed, topics=12, articles=60, judged=40)
    assert_equal_the_reference(cases.OVERLAPPING, qrels, run)


def test_every_measure_is_compared():
    of_rows = {n for n, measure in REGISTRY.items() if measure.NEEDS_ROWS and not measure.further_columns}
    # U is compared in tests/nuggets.
    assert of_rows == {measure.NAME for measure in cases.VARIANTS} | {"MAiP", "U"}
