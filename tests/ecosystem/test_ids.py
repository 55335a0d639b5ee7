"""One rule for ids in all forms: text keeps its characters, integers their digits, all else is rejected."""

import datetime
import enum
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import helpers
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ir_measures import AP, nDCG

import ir_graded
from ecosystem import forms
from ir_graded import InputError


class Name(str, enum.Enum):
    """Ids that many programs define as an enum, printed as ``Name.ONE``."""

    ONE = "1"
    TWO = "2"
    A = "a"
    B = "b"


class Loud(str):
    """Text with another printed form."""

    __slots__ = ()

    def __str__(self):
        return "LOUD"


def pandas_of_objects(kind, rows, folder=None):  # noqa: ARG001  (every form is made by the same call)
    return pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in helpers.columns(kind, rows).items()}
    )


#: Forms with any Python object.
OBJECTS = {
    "dicts": forms.dicts,
    "tuples": forms.tuples,
    "generator": forms.generator,
    "pandas": forms.pandas(),
    "pandas of objects": pandas_of_objects,
    "pandas of categories": forms.pandas(ids="category"),
    "polars of objects": forms.polars_of_objects,
}
#: Forms with columns of one type.
TYPED = {"polars": forms.polars(), "arrow": forms.arrow, "arrow in chunks": forms.arrow_in_chunks}

PLAIN_QRELS = {"1": {"11": 2, "12": 1}, "2": {"13": 1}}
PLAIN_RUN = {"1": {"12": 3.0, "99": 2.0, "11": 1.0}, "2": {"13": 1.0}}
MEASURES = ["Q", "P-measure", AP, nDCG @ 10]


def rows_of(table, topic, doc):
    return [(topic(t), doc(d), value) for t, docs in table.items() for d, value in docs.items()]


def scores(qrels, run):
    """Return scores by ``evaluate`` and by the call of ir_measures."""
    metrics = ir_measures.calc_aggregate(MEASURES, qrels(), run())
    found = ir_graded.evaluate(MEASURES, qrels(), run()).values.tolist()
    return [found, {str(name): value for name, value in metrics.items()}]


@pytest.fixture(scope="module")
def expected():
    return scores(lambda: PLAIN_QRELS, lambda: PLAIN_RUN)


def check(expected, make, topic, doc):
    def qrels():
        return make("qrels", rows_of(PLAIN_QRELS, topic, doc))

    def run():
        return make("run", rows_of(PLAIN_RUN, topic, doc))

    assert scores(qrels, lambda: PLAIN_RUN) == expected
    assert scores(lambda: PLAIN_QRELS, run) == expected
    assert scores(qrels, run) == expected


# ------------------------------------------------------------------------------------------ text


@pytest.mark.parametrize("text", [Loud, np.str_], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("form", OBJECTS | TYPED)
def test_a_subclass_of_str_is_its_characters(expected, form, text):
    check(expected, (OBJECTS | TYPED)[form], text, text)


@pytest.mark.parametrize("form", ["dicts", "tuples", "pandas of objects", "polars of objects"])
def test_str_and_a_subclass_of_it_are_one_topic(form):
    qrels = OBJECTS[form]("qrels", [("1", "a", 2), (Name.ONE, "b", 1)])
    run = OBJECTS[form]("run", [(Name.ONE, "a", 2.0), ("1", "b", 1.0)])
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


@pytest.mark.parametrize(
    "number",
    [int, float, np.int16, np.uint32, np.int64, np.float32, np.float64],
    ids=lambda kind: kind.__name__,
)
@pytest.mark.parametrize("form", OBJECTS)
def test_whole_numbers_are_their_digits(expected, form, number):
    check(expected, OBJECTS[form], lambda topic: number(int(topic)), lambda doc: number(int(doc)))


@pytest.mark.parametrize("number", [int, float])
@pytest.mark.parametrize("form", TYPED)
def test_columns_of_whole_numbers_are_their_digits(expected, form, number):
    check(expected, TYPED[form], lambda topic: number(int(topic)), lambda doc: number(int(doc)))


@pytest.mark.parametrize(
    "dtype",
    ["float64", "float32", "float16", "Int64", "Float64", "Float32", "Int8", pd.ArrowDtype(pa.float64())],
    ids=str,
)
def test_pandas_columns_of_whole_numbers_are_their_digits(expected, dtype):
    check(expected, forms.pandas(ids=dtype), int, int)


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Int8])
def test_polars_columns_of_whole_numbers_are_their_digits(expected, dtype):
    check(expected, forms.polars(query_id=dtype, doc_id=dtype), int, int)


def test_an_int_column_that_became_float_gives_equal_scores():
    """pandas converts integers to float if a row is missing."""
    qrels = pd.DataFrame({"query_id": [1, 1], "doc_id": [11, 12], "relevance": [2, 1]})
    run = pd.DataFrame(
        {"query_id": [1, 1, None], "doc_id": [11, 12, None], "score": [2.0, 1.0, 0.0]}
    ).dropna()
    assert run["doc_id"].dtype == np.float64
    assert ir_graded.evaluate("Q", qrels, run).values.tolist() == [[[1.0]]]


def test_minus_zero_is_zero():
    assert ir_graded.evaluate("Q", {-0.0: {-0.0: 1}}, {"0": {"0": 1.0}}).values.tolist() == [[[1.0]]]
    frame = pd.DataFrame({"query_id": [-0.0], "doc_id": [-0.0], "relevance": [1]})
    assert ir_graded.evaluate("Q", frame, {"0": {"0": 1.0}}).values.tolist() == [[[1.0]]]


@pytest.mark.parametrize("form", ["tuples", "pandas of objects", "polars of objects"])
@pytest.mark.parametrize("ids", [(11.0, 11), (11, 11.0), ("11", 11.0), (np.float64(11), 11)], ids=repr)
def test_topics_of_two_types_that_are_equal_as_text_are_rejected(form, ids):
    for kind, other in (("qrels", {"11": {"a": 1.0}}), ("run", {"11": {"a": 1}})):
        table = OBJECTS[form](kind, [(ids[0], "a", 1), (ids[1], "b", 1)])
        given = (table, other) if kind == "qrels" else (other, table)
        with pytest.raises(InputError, match=rf"{kind}: query_id: .*11.* and .*11.* are the same as text"):
            ir_graded.evaluate("Q", *given)


@pytest.mark.parametrize("form", ["tuples", "pandas of objects", "polars of objects"])
def test_integers_of_two_libraries_are_one_topic(form):
    table = OBJECTS[form]("qrels", [(7, "a", 1), (np.int64(7), "b", 1)])
    assert ir_graded.evaluate("Q", table, {"7": {"a": 2.0, "b": 1.0}}).values.tolist() == [[[1.0]]]


# --------------------------------------------------------------------------------------- rejected


def library(column):
    return type(column).__module__.partition(".")[0]


REFUSED = [
    *(1.5, -0.25, float("inf"), np.float32(1.5), 2.0**53, np.float32(2**24), True, np.bool_(False), 1j),
    *(Decimal(1), Fraction(2, 1), datetime.date(2020, 1, 2), pd.Timestamp(2020, 1, 2), np.datetime64("2020")),
    *(datetime.timedelta(1), uuid.UUID(int=7), Path("a"), enum.Enum("Plain", "x").x, ("a",), frozenset("a")),
]


@pytest.mark.parametrize("form", ["dicts", "tuples", "pandas of objects"])
@pytest.mark.parametrize("name", ["query_id", "doc_id"])
def test_other_types_are_rejected(form, name):
    for wrong in REFUSED:
        rows = [(wrong, "a", 1) if name == "query_id" else ("1", wrong, 1), ("1", "b", 1)]
        for kind in ("qrels", "run"):
            table = OBJECTS[form](kind, rows)
            given = (table, PLAIN_RUN) if kind == "qrels" else (PLAIN_QRELS, table)
            with pytest.raises(InputError, match=r"id is text or a whole|may represent several") as caught:
                ir_graded.evaluate("Q", *given)
            assert str(caught.value).startswith(f"{kind}:")
            assert name in str(caught.value)


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
