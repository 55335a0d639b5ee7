"""One rule for ids in all forms: text keeps its characters, integers their digits, all else is rejected."""

import datetime
import enum
from decimal import Decimal
from pathlib import Path

import helpers
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ir_graded
from ecosystem import forms
from ir_graded import InputError


class Name(str, enum.Enum):
    """Ids that many programs define as an enum, printed as ``Name.ONE``."""

    ONE = "1"
    TWO = "2"
    A = "a"
    B = "b"


PLAIN_QRELS = {"1": {"11": 2, "12": 1}, "2": {"13": 1}}
PLAIN_RUN = {"1": {"12": 3.0, "99": 2.0, "11": 1.0}, "2": {"13": 1.0}}


@pytest.mark.parametrize("form", ["dicts", "tuples", "pandas objects", "polars objects"])
def test_str_and_a_subclass_of_it_are_one_topic(form):
    qrels = forms.FORMS[form].make("qrels", [("1", "a", 2), (Name.ONE, "b", 1)])
    run = forms.FORMS[form].make("run", [(Name.ONE, "a", 2.0), ("1", "b", 1.0)])
    assert ir_graded.evaluate("Q", qrels, run).values.tolist() == [[[1.0]]]


def test_the_topic_of_an_explanation_is_its_characters():
    run = {"1": {"12": 3.0, "11": 1.0}, "2": {"13": 1.0}}
    plain = ir_graded.explain("Q", PLAIN_QRELS, run, "1")
    for topic in (Name.ONE, np.str_("1"), 1, 1.0, np.int8(1), b"1"):
        found = ir_graded.explain("Q", PLAIN_QRELS, run, topic)
        assert (found.score, found.text()) == (plain.score, plain.text())
    for topic in (1.5, None, True, Path("1")):
        with pytest.raises(InputError, match="an id is text or a whole number"):
            ir_graded.explain("Q", PLAIN_QRELS, run, topic)


# --------------------------------------------------------------------------------------- numbers


def test_an_int_column_that_became_float_gives_equal_scores():
    """pandas converts integers to float if a row is missing."""
    qrels = pd.DataFrame({"query_id": [1, 1], "doc_id": [11, 12], "relevance": [2, 1]})
    run = pd.DataFrame({"query_id": [1, 1, None], "doc_id": [11, 12, None], "score": [2.0, 1.0, 0]}).dropna()
    assert run["doc_id"].dtype == np.float64
    assert ir_graded.evaluate("Q", qrels, run).values.tolist() == [[[1.0]]]


def test_minus_zero_is_zero():
    assert ir_graded.evaluate("Q", {-0.0: {-0.0: 1}}, {"0": {"0": 1.0}}).values.tolist() == [[[1.0]]]
    frame = pd.DataFrame({"query_id": [-0.0], "doc_id": [-0.0], "relevance": [1]})
    assert ir_graded.evaluate("Q", frame, {"0": {"0": 1.0}}).values.tolist() == [[[1.0]]]


@pytest.mark.parametrize("form", ["tuples", "pandas objects", "polars objects"])
def test_integers_of_two_libraries_are_one_topic(form):
    table = forms.FORMS[form].make("qrels", [(7, "a", 1), (np.int64(7), "b", 1)])
    assert ir_graded.evaluate("Q", table, {"7": {"a": 2.0, "b": 1.0}}).values.tolist() == [[[1.0]]]


# --------------------------------------------------------------------------------------- rejected


def library(column):
    return type(column).__module__.partition(".")[0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.5, 2.0]),
        pd.Series([2.0**53, 1.0]),
        pd.Series([2.0**24, 1.0], dtype="float32"),
        pd.Series([1.5, 2.0], dtype="Float64"),
        pd.Series([True, False]),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])),
        pd.Series([Decimal(1), Decimal(2)], dtype=pd.ArrowDtype(pa.decimal128(5, 0))),
        pd.Series(pd.Categorical([1.5, 2.0])),
        pl.Series([1.5, 2.0]),
        pl.Series([2.0**24, 1.0], dtype=pl.Float32),
        pl.Series([float("inf"), 1.0]),
        pl.Series([True, False]),
        pl.Series([Decimal(1), Decimal(2)]),
        pl.Series([datetime.date(2020, 1, 1)] * 2),
        pl.Series([datetime.timedelta(1)] * 2),
        pa.array([1.5, 2.0]),
        pa.array([True, False]),
        pa.array([Decimal(1), Decimal(2)]),
        pa.array([datetime.date(2020, 1, 1)] * 2),
    ],
    ids=lambda column: (
        f"{type(column).__module__.partition('.')[0]} {getattr(column, 'dtype', column)!r:.30}"
    ),
)
def test_columns_of_other_types_are_rejected(column):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library(column)]
    for kind in ("qrels", "run"):
        for name, other in (("query_id", "doc_id"), ("doc_id", "query_id")):
            columns = {name: column, other: ["1", "2"], helpers.VALUE[kind]: [1, 2]}
            given = (make(columns), PLAIN_RUN) if kind == "qrels" else (PLAIN_QRELS, make(columns))
            problem = (
                rf"^{kind}: {name}: (an id is text or a whole number|the float .* may represent several)"
            )
            with pytest.raises(InputError, match=problem):
                ir_graded.evaluate("Q", *given)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_nan_in_a_column_of_ids_is_missing(make):
    columns = {"query_id": [1.0, 1.0], "doc_id": [11.0, None], "score": [1.0, 2.0]}
    with pytest.raises(InputError, match=r"row 1 has no doc_id"):
        ir_graded.evaluate("Q", PLAIN_QRELS, make(columns))
