"""A level that ``gains`` does not name, and that thus gains less than a lower level, is warned of."""

import pickle
import warnings

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

import ir_graded
from ir_graded import CoverageWarning, Q

QRELS = {"1": {"a": 4, "b": 3, "c": 1, "d": 2}}
RUN = {"1": {"b": 3.0, "x": 2.5, "a": 2.0}}


def warned(measures, qrels=QRELS, run=RUN, evaluate=ir_graded.evaluate):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(measures, qrels, run)
    assert {one.category for one in caught} <= {CoverageWarning}
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        ("Q(gains={1:1, 2:3, 3:7})", "Q(gains={2:3,3:7}): gains lacks level 4 of the qrels, so its"),
        ("nDCG(gains={1:1, 2:3, 3:7})@3", "nDCG(gains={2:3,3:7})@3: gains lacks level 4 of the qrels, so"),
        ("EBR(gains={3:7})", "EBR(gains={3:7}): gains lacks level 4"),
        ("infNDCG(gains={1:5})", "infNDCG(gains={1:5}): gains lacks level 2"),
        ("Q(gains={1:0, 3:4.5})", "Q(gains={1:0,3:4.5}): gains lacks level 4"),
        ("NCU(stop='gu', stops={3:9})", "NCU(stops={3:9}): stops lacks level 4"),
        ("NCU(stop='gu', gains={4:8}, stops={3:9})", "NCU(gains={4:8},stops={3:9}): stops lacks level 4"),
        ("GAP(weights={3:8})", "GAP(weights={3:8}): weights lacks level 4"),
        ("GM(measure='Q(gains={3:7})')", "Q(gains={3:7}): gains lacks level 4"),
    ],
)
def test_a_level_that_is_not_named_and_gains_less_than_a_lower_one_is_warned_of(measure, problem):
    (text,) = warned(measure)
    assert text.startswith(problem)


def test_the_warning_names_both_levels_and_the_way_out():
    assert warned(Q(gains={2: 3, 3: 7.5})) == [
        "Q(gains={2:3,3:7.5}): gains lacks level 4 of the qrels, so its value is 4, less than the 7.5 of "
        "level 3. Name level 4, too."
    ]


@pytest.mark.parametrize(
    "measure",
    [
        *(
            "Q",
            "Q(gains={2:3, 3:7, 4:15})",
            "Q(gains={1:0, 2:0})",
            "Q(gains={3:3.5})",
            "Q(gains={1:9}, rel=2)",
        ),
        # These are the levels themselves, which are not part of the printed name.
        *("Q(gains={3:7, 4:4})", "nDCG(gains={3:7, 4:4})@3", "NCU(stop='gu', stops={3:9, 4:4})"),
        *("NCU(stop='gu', gains={4:9}, stops={3:9})", "GAP(weights={3:8, 4:4})"),
    ],
)
def test_named_and_rising_gains_are_not_warned_of(measure):
    assert warned(measure) == []


def test_copies_of_a_measure_know_the_levels_that_were_named():
    typed = Q(gains={3: 7, 4: 4})
    assert str(typed) == "Q(gains={3:7})"
    copies = [typed, typed @ 10, typed(rel=2), pickle.loads(pickle.dumps(typed))]  # noqa: S301
    assert [warned(measure) for measure in copies] == [[]] * 4
    assert warned(Q(gains={3: 7}) @ 10) != []


def test_levels_of_intents_are_looked_at():
    qrels = [ir_measures.Qrel("1", "a", level, str(level)) for level in (1, 2, 4)]
    qrels.append(ir_measures.Qrel("1", "b", 1, "4"))
    assert "lacks level 2 of the qrels" in warned("D(measure='Q(gains={1:3})')@3", qrels)[0]


def test_levels_of_passages_are_looked_at():
    rows = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "start": 0, "length": 9})
    qrels, run = rows.assign(relevance=[1, 2]), rows.assign(score=[2, 1])
    (text,) = warned("U(of='rows', gains={1:5}, L=100)", qrels, run)
    assert text.startswith("U(L=100,gains={1:5}): gains lacks level 2 of the qrels")
    assert warned("U(of='rows', gains={1:5, 2:2}, L=100)", qrels, run) == []


def test_ir_measures_warns_for_measures_of_this_package():
    assert len(warned([Q(gains={3: 7})], evaluate=ir_measures.calc_aggregate)) == 1
    assert warned([nDCG @ 3], evaluate=ir_measures.calc_aggregate) == []
