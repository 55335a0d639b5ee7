"""A declared further column of qrels or runs reaches a measure from every form that has it."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers import TABLES

import ir_graded
from ir_graded.core.facets import Facet
from ir_graded.errors import InputError, ParameterError
from ir_graded.measures.base import COMMON, StopUtility

QRELS = pd.DataFrame(
    {
        "query_id": ["1", "1", "1", "2"],
        "doc_id": ["a", "b", "c", "x"],
        "relevance": [2, 1, 1, 1],
        "cost": [0.5, 4.0, 8.0, 2.0],
    }
)
RUN = pd.DataFrame(
    {
        "query_id": ["1", "1", "1", "2", "2"],
        "doc_id": ["a", "z", "b", "y", "x"],
        "score": [3.0, 2.0, 1.0, 2.0, 1.0],
        "cost": [1.0, 100.0, 3.0, 0.0, 7.0],
    }
)


def cost(per, of):
    """Return a measure that is the sum of the column cost over the relevant documents retrieved."""
    facet = Facet("cost", per, "number", "costs", of=(of,), is_valid=lambda cost: cost >= 0, valid=">= 0")

    class Cost(StopUtility):
        NAME, PRETTY_NAME, SHORT_DESC, SOURCE = "Cost", "Cost", "Cost.", "none"
        NEEDS = (facet,)
        RANGE = (0.0, 1e9)
        SUPPORTED_PARAMS = {"rel": COMMON["rel"]}

        def stop(self, view):
            return view.values_of(facet)

        def utility(self, view):
            return view.C / view.C

    return Cost()


@pytest.fixture(autouse=True)
def numbers_in_headers(monkeypatch):
    monkeypatch.setattr("ir_graded.io.files.FACETS", cost("row", "run").NEEDS)


@pytest.mark.parametrize("form", TABLES)
def test_a_column_of_the_run_reaches_the_measure(form, tmp_path):
    run = TABLES[form](RUN, tmp_path / "run")
    scores = ir_graded.evaluate([cost("row", "run"), "AP"], QRELS, run)
    assert scores.values[0, 0].tolist() == [1.0 + 3.0, 7.0]


@pytest.mark.parametrize("form", TABLES)
def test_a_column_of_the_qrels_reaches_the_measure(form, tmp_path):
    qrels = TABLES[form](QRELS, tmp_path / "qrels")
    assert ir_graded.evaluate(cost("document", "qrels"), qrels, RUN).values[0, 0].tolist() == [4.5, 2.0]


def test_a_column_of_topics_has_one_value_for_each():
    measure = cost("topic", "qrels")
    qrels = QRELS.assign(cost=[3.0, 3.0, 3.0, 5.0])
    assert ir_graded.evaluate(measure, qrels, RUN).values[0, 0].tolist() == [6.0, 5.0]
    message = r"document 'b' \(row 1\): the cost is 4\.0, but 0\.5 at row 0; use the same value in both"
    with pytest.raises(InputError, match=message):
        ir_graded.evaluate(measure, QRELS, RUN)


def test_ties_and_parts_of_a_run_keep_the_column(monkeypatch):
    monkeypatch.setattr("ir_graded.matching.tables._ROWS", 1)
    tied = RUN.assign(score=[2.0, 1.0, 1.0, 1.0, 1.0])
    assert ir_graded.evaluate(cost("row", "run"), QRELS, tied).values[0, 0].tolist() == [4.0, 7.0]


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        ({"1": {"a": 1.0}}, r"^Cost needs costs, but the run has no column cost: "),
        (RUN.drop(columns="cost"), r"^Cost needs costs, but the run has no column cost: "),
        (RUN.assign(cost=-1.0), r"^run: topic '1', document 'a' \(row 0\): the cost is -1; it must be >= 0"),
        (RUN.assign(cost=float("nan")), r"document 'a' \(row 0\): the cost is missing; it must be >= 0"),
        (RUN.assign(cost="dear"), r"document 'a' \(row 0\): the cost 'dear' is not a number"),
    ],
)
def test_a_run_without_a_valid_column_is_rejected(run, problem):
    with pytest.raises(InputError, match=problem):
        ir_graded.evaluate(cost("row", "run"), QRELS, run)


def test_qrels_without_the_column_and_arrays_are_rejected():
    measure = cost("document", "qrels")
    with pytest.raises(InputError, match=r"^Cost needs costs, but the qrels have no column cost: "):
        ir_graded.evaluate(measure, QRELS.drop(columns="cost"), RUN)
    with pytest.raises(ParameterError, match="Cost needs the column cost, which score_arrays does not use"):
        ir_graded.score_arrays(measure, [[1, 0]])


SPAN = {"start": 0, "length": 9}
WRONG = [
    ("Q", {}, {"position": [1.0, None]}, "run: topic '1', document 'b' (row 1): the position is missing"),
    (
        "infAP",
        {"iprob": [0.5, "x"]},
        {},
        "qrels: topic '1', document 'b' (row 1): the inclusion probability (iprob) 'x'",
    ),
    (
        "D-nDCG@2",
        {"iteration": "1", "probability": [0.5, "x"]},
        {},
        "qrels: topic '1', document 'b' (row 1), intent '1': the probability 'x' is not a number",
    ),
    (
        "CharP(budget=9,unit='tokens')",
        SPAN,
        {**SPAN, "tokens": [3, "x"]},
        "run: topic '1', document 'b' (row 1): the column 'tokens', the unit of CharP(budget=9,",
    ),
]


@pytest.mark.parametrize(("measure", "of_qrels", "of_run", "message"), WRONG)
def test_a_wrong_value_is_named_with_its_column_and_row(measure, of_qrels, of_run, message):
    ids = {"query_id": ["1", "1"], "doc_id": ["a", "b"]}
    qrels = pd.DataFrame({**ids, "relevance": [1, 0], **of_qrels})
    run = pd.DataFrame({**ids, "score": [2.0, 1.0], **of_run})
    with pytest.raises(InputError) as caught:
        ir_graded.evaluate(measure, qrels, run)
    assert str(caught.value).startswith(message)
