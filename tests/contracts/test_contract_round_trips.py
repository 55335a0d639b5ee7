"""Printed measures read back, and pickles and copies of measures and evaluators equal the originals."""

import copy
import pickle

import ir_measures
import pytest
from contracts import contract_cases as cases
from hypothesis import given, strategies as st

from ir_graded.core.facets import STRATUM_OR_ITERATION
from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures import GradedMeasure
from ir_graded.measures.classic import scorer_of

pytestmark = cases.BOTH_COLUMNS


def assert_is(other, measure):
    assert other == measure
    assert type(other) is type(measure)
    assert hash(other) == hash(measure)
    # Types and order of all that the parameters hold.
    assert repr(other.params) == repr(measure.params)


def is_read_upstream(measure):
    """Return whether ir_measures' own grammar, without negative numbers in tables, reads the printed form."""
    numbers = [number for table in cases.tables(measure) for pair in table.items() for number in pair]
    return isinstance(measure, GradedMeasure) or min(numbers, default=0) >= 0


def test_negative_gains_in_measures_of_ir_measures_do_not_read_back():
    measure = ir_measures.nDCG(gains={1: -1})
    assert not is_read_upstream(measure)
    with pytest.raises(ValueError, match="problem parsing"):
        ir_measures.parse_measure(str(measure))


@cases.each(cases.ALL)
@cases.examples(8)
@given(data=st.data())
def test_printed_measures_read_back(subject, data):
    measure = data.draw(cases.measures(subject).filter(is_read_upstream))
    read = [ir_measures.parse_measure(str(measure)), *ir_measures.parse_trec_measure(str(measure))]
    assert len(read) == 2
    for other in read:
        if isinstance(measure, GradedMeasure):
            assert_is(other, measure)
        assert other == measure


@pytest.mark.slow
@cases.each(cases.ALL)
@cases.examples(3)
@given(data=st.data())
def test_pickles_and_copies_of_measures_and_evaluators_equal_the_originals(subject, data):
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    # Measures for strata take neither passages nor intents.
    is_sampled = STRATUM_OR_ITERATION in scorer_of(measure).USES
    tables = (one.qrels, one.run) if is_sampled else cases.passage_tables(one.qrels, one.run)
    evaluator = PROVIDER.evaluator([measure], tables[0])
    expected = list(evaluator.iter_calc(tables[1]))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert_is(pickle.loads(pickle.dumps(measure, protocol)), measure)  # noqa: S301
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):  # noqa: S301
        other = copied(measure)
        assert other is not measure
        assert_is(other, measure)
        assert list(PROVIDER.iter_calc([other], *tables)) == expected
        assert list(copied(evaluator).iter_calc(tables[1])) == expected
