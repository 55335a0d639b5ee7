"""The ideal list has the highest score of the range."""

import math

import pytest
from contracts import contract_cases as cases
from hypothesis import given, strategies as st
from measures import measure_cases

from ir_graded import ParameterError
from ir_graded.measures import GradedMeasure

pytestmark = cases.BOTH_COLUMNS

#: A range without an upper limit has no highest value.
SUBJECTS = [subject for subject in cases.having("ideal") if math.isfinite(cases.declared(subject).RANGE[1])]


def with_positive_weights(measure):
    """Return the measure without weights of 0, whose sum may be 0."""
    if not isinstance(measure, GradedMeasure):
        # Gains may change the relevant levels, and so the ideal list; the tests of the classics cover that.
        return cases.without(measure, "gains")
    changed = {
        name: {level: weight for level, weight in value.items() if weight > 0}
        for name, value in measure.params.items()
        if isinstance(value, dict)
    }
    if "measure" in measure.params:
        changed["measure"] = str(measure.params["measure"]).replace("gains={2:0},", "")
    return measure(**changed)


def with_a_cutoff_where_it_must_be(measure):
    """Return the measure without a cutoff or budget, if it works without one."""
    cuts = "cutoff", "budget", "unit", "fit"
    uncut = cases.without(measure, *cuts, *(["norm"] if measure.params.get("norm") == "cutoff" else []))
    return uncut if cases.is_computed(uncut) else measure


def is_with_norm(subject):
    """Return whether the measure can be divided by the best score of the first k documents."""
    try:
        can = isinstance(subject, GradedMeasure) and "norm" not in subject.params
        return can and bool(subject(norm="cutoff"))
    except ParameterError:
        return False


@cases.each(SUBJECTS)
@cases.examples(8)
@given(data=st.data())
def test_the_ideal_list_has_the_highest_score(subject, data):
    measure = with_a_cutoff_where_it_must_be(
        with_positive_weights(data.draw(cases.measures(subject, "ideal")))
    )
    assert_the_ideal_list_is_best(measure, data.draw(cases.collections(subject)).qrels)


@cases.each(list(filter(is_with_norm, SUBJECTS)))
@cases.examples(8)
@given(data=st.data(), cutoff=st.integers(1, 16))
def test_the_ideal_list_has_the_highest_score_at_any_cutoff_with_norm_cutoff(subject, data, cutoff):
    """Except when the documents with the largest stop weights are not those with the largest gains."""
    drawn = cases.without(with_positive_weights(data.draw(cases.measures(subject, "ideal"))), "stops")
    measure = drawn(norm="cutoff", cutoff=cutoff)
    assert_the_ideal_list_is_best(measure, data.draw(cases.collections(subject)).qrels)


def assert_the_ideal_list_is_best(measure, qrels):
    ideal = cases.ideal_rankings(measure, qrels)
    low, high = cases.declared(measure).RANGE
    for topic, score in cases.scores(measure, qrels, cases.retrieved(ideal), whole=True).items():
        assert score == pytest.approx(high if ideal[topic] else low, rel=1e-14, abs=cases.ROUNDING)


@pytest.mark.slow
def test_variants_that_declare_to_lack_it_have_ideal_lists_with_lower_scores():
    for subject in measure_cases.VARIANTS:
        measure = subject @ 5 if measure_cases.needs_cutoff(subject, subject.params) else subject
        found = [
            score
            for one in cases.COLLECTIONS[::3]
            for ideal in [cases.ideal_rankings(measure, one.qrels)]
            for topic, score in cases.scores(measure, one.qrels, cases.retrieved(ideal)).items()
            if ideal[topic]
        ]
        is_lower = min(found) < cases.declared(subject).RANGE[1] - cases.ROUNDING
        assert is_lower is ("ideal" in cases.lacks(subject)), subject
