"""Every score is within the range that the measure declares and its documentation states."""

import inspect
import re

from contracts import contract_cases as cases
from hypothesis import given, strategies as st

pytestmark = cases.BOTH_COLUMNS


@cases.each(cases.ALL)
@cases.examples(8)
@given(data=st.data())
def test_scores_are_within_the_range(subject, data):
    low, high = cases.declared(subject).RANGE
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    for topic, score in cases.scores(measure, one.qrels, one.run).items():
        assert low <= score <= high, (measure, topic)


def test_the_documentation_states_the_range():
    for kind in {type(subject) for subject in cases.OWN}:
        named = re.findall(r"\bIn\s+\[(\S+), (\S+?)[\])]", inspect.getdoc(kind))
        assert [tuple(map(float, pair)) for pair in named] == [kind.RANGE], kind
