"""A measure with cutoff k equals the measure without a cutoff on the run cut at rank k."""

from classics import classic_cases
from contracts import contract_cases as cases
from hypothesis import given, strategies as st

from ir_graded.measures import GradedMeasure

pytestmark = cases.BOTH_COLUMNS


def is_cut(measure):
    """Return whether a measure has a cutoff, and a value without it."""
    return "cutoff" in measure.params and cases.is_computed(cases.without(measure, "cutoff"))


def cut_measures(subject):
    """Return the measure with a cutoff that it works without, and other parameters."""
    if isinstance(subject, GradedMeasure):
        # norm='cutoff' has no value without a cutoff.
        with_any = st.tuples(cases.measures(subject, "truncation"), st.integers(1, 16))
        drawn = with_any.map(lambda drawn: cases.without(drawn[0], "norm") @ drawn[1])
        return drawn.filter(lambda one: is_cut(one) and "truncation" not in cases.lacks(one))
    return st.sampled_from([measure for measure in classic_cases.supported(subject.NAME) if is_cut(measure)])


def takes_a_cutoff(subject):
    """Return whether the measure takes a cutoff but does not need one."""
    if isinstance(subject, GradedMeasure):
        return "cutoff" in subject.SUPPORTED_PARAMS and is_cut(subject @ 5)
    return any(map(is_cut, classic_cases.supported(subject.NAME)))


def first(measure, qrels, docs):
    """Return the first ``cutoff`` documents of a ranking, as the measure counts them."""
    left = measure["cutoff"]
    for at, doc in enumerate(docs):
        left -= cases.is_seen(measure, qrels.get(doc))
        if left == 0:
            return docs[: at + 1]
    return docs


@cases.each([subject for subject in cases.having("truncation") if takes_a_cutoff(subject)])
@cases.examples(8)
@given(data=st.data())
def test_a_cutoff_equals_cutting_the_run(subject, data):
    measure, one = data.draw(cut_measures(subject)), data.draw(cases.collections(subject))
    cut = {topic: first(measure, one.qrels.get(topic, {}), docs) for topic, docs in one.rankings.items()}
    found = cases.scores(measure, one.qrels, cases.retrieved(one.rankings))
    assert found == cases.scores(cases.without(measure, "cutoff"), one.qrels, cases.retrieved(cut))


def test_measures_that_declare_to_lack_truncation_take_a_cutoff():
    assert all(takes_a_cutoff(subject) for subject in cases.OWN if "truncation" in cases.lacks(subject))
