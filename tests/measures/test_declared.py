"""A declared lack names a property; if a lack depends on parameters, the measure computes it."""

import pytest

from ir_graded import EBR, NCU, O, P_measure, P_plus, Q
from ir_graded.measures import PROPERTIES
from ir_graded.measures.base import check_lacks


def test_only_known_properties_can_be_declared_as_lacking():
    check_lacks("Q", {})
    check_lacks("Q", dict.fromkeys(PROPERTIES, "why"))
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        check_lacks("Q", {"swap": "why", "swop": "why", "ideals": "why"})
    known = "nothing, ideal, swap, exchange, truncation"
    assert str(caught.value) == f"Q: unknown property 'ideals' in LACKS; the properties are {known}"


@pytest.mark.parametrize(
    ("stop", "measure"),
    [("u", Q), ("first", O), ("preferred", P_measure), ("up_to_preferred", P_plus), ("err", EBR)],
)
def test_ncu_lacks_what_the_measure_of_its_stop_lacks(stop, measure):
    assert set(NCU(stop=stop).lacks) == set(measure.lacks)
