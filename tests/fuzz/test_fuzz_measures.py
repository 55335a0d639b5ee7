"""Measure strings are read, or rejected by name; a measure that is read can be printed and computed."""

import ir_measures
import numpy as np
import pytest
from hypothesis import given, strategies as st

import ir_graded
from fuzz.fuzz_cases import error_or_none, fuzz
from fuzz.measure_strings import COMPUTED, PARAMETERS, numbers, strings, values
from ir_graded.measures import REGISTRY, GradedMeasure
from ir_graded.measures.parsing import _graded_name, parse_measure, parse_trec_measure, read_measures

#: Levels of one digit, and levels too large for a table.
QRELS = [
    {"1": {"a": 2, "b": 1, "c": 0, "d": level}, "2": {"a": 1}, "3": {"z": -2}} for level in (3, 1e9, 1e100)
]
#: Patterns that name a measure or the part that cannot be read.
PLACE = (
    r"^([Cc]annot read |[Uu]nknown |no measure |the providers of ir-measures cannot compute one of "
    r"|[A-Za-z][\w+#-]*(\(.*\))?(@\S+)?[: ])"
)
RUN = {"1": {"a": 1.0, "x": 0.5, "d": 0.5, "b": 0.2}, "2": {"z": 1.0}}


def check(text):
    """Check that the string is rejected, or gives a measure; one of this package must read back."""
    read = []
    error_or_none("measure strings", lambda: read.extend(read_measures([text])), place=PLACE)
    for reader in (parse_measure, ir_measures.parse_measure, parse_trec_measure):
        # Other names behave as in ir-measures alone: it raises TypeError for AP(**{}), and the error of
        # int() for P_2.1.
        also = (TypeError,) if _graded_name(text) is None else ()
        if reader is parse_trec_measure and _fails_alone(text):
            also += (ValueError,)
        error_or_none(
            "measure strings", lambda reader=reader: read.append(reader(text)), place=PLACE, also=also
        )
    for measure in read:
        if isinstance(measure, GradedMeasure):
            assert parse_measure(str(measure)) == measure
            assert hash(parse_measure(str(measure))) == hash(measure)


def _fails_alone(text):
    """Return whether ir-measures' own reader of trec_eval names rejects the string."""
    try:
        parse_trec_measure.__wrapped__(text)
    except ValueError:
        return True
    return False


@fuzz(250)
@given(text=strings() | st.text(max_size=30))
def test_strings_are_read_or_rejected(text):
    check(text)


def _scored(text, qrels):
    measures = read_measures([text])
    # Values of any size fit into a table of scores, but a score is never infinite.
    scores = ir_graded.evaluate(measures, qrels, RUN)
    assert np.isfinite(scores.values).all(), text


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(150)
@given(
    name=st.sampled_from([*REGISTRY, *COMPUTED]),
    parameters=st.dictionaries(st.sampled_from(PARAMETERS), values, max_size=2),
    cutoff=st.one_of(st.just(""), numbers.map("@{}".format)),
    qrels=st.sampled_from(QRELS),
)
def test_measures_are_computed_or_rejected(name, parameters, cutoff, qrels):
    arguments = ",".join(f"{key}={value}" for key, value in parameters.items())
    error_or_none("measures computed", _scored, f"{name}({arguments}){cutoff}", qrels, place=PLACE)
