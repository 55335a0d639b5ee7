"""Dicts and tables with odd values are scored, or rejected by an error that names the place."""

import datetime
import decimal
import fractions
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import ir_graded
from fuzz.fuzz_cases import error_or_none, fuzz

#: Patterns that name the place: the input and its row, the topic and document, or the id itself.
PLACE = r"\bqrels\b|\bruns?\b|\bids?\b|\btopics?\b|^a column |neither a file nor a dataset"
#: An integer with more digits than Python prints.
HUGE = st.just(5000).map(lambda digits: 10**digits)

ids = st.one_of(
    st.sampled_from(["1", "2", "a", "b", 1, 2, 1.0, True, b"1", b"\xff", np.int64(1), np.str_("a")]),
    st.sampled_from(["", " ", "\0", "\ud800", "x" * 9999, None, math.nan, pd.NA, pd.NaT]),
    st.sampled_from([-(2**64), (1, 2), frozenset([1]), datetime.date(2020, 1, 1)]),
    st.text(max_size=4),
    st.integers(),
)
values = st.one_of(
    st.integers(-2, 4),
    st.floats(),
    st.sampled_from([None, pd.NA, pd.NaT, np.nan, 10**400, -(2**63), True, 1j, "1", "x", b"1", "\ud800"]),
    st.sampled_from(
        [[], {}, {1: 2}, range(3), object, len, np.array([1.0, 2.0]), np.array(2), np.float32(1.5)]
    ),
    st.sampled_from([np.int8(3), np.datetime64("2020-01-01"), pd.Series([1, 2]), pd.DataFrame({"x": [1]})]),
    st.sampled_from([decimal.Decimal("sNaN"), decimal.Decimal("1.5"), fractions.Fraction(1, 3)]),
    st.sampled_from([pd.Interval(0, 1), datetime.date(2020, 1, 1), datetime.timedelta(1)]),
)


def _scored(qrels, run):
    scores = ir_graded.evaluate(["Q", "GAP", "nDCG@5", "AP"], qrels, run)
    assert np.isfinite(scores.values).all()
    return scores


topics = st.dictionaries(
    ids | HUGE, st.dictionaries(ids | HUGE, values | HUGE, max_size=4) | values, max_size=3
)
plain = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1}}


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(150)
@given(qrels=st.just(plain) | topics, run=st.just(plain) | topics)
def test_dicts_are_scored_or_rejected(qrels, run):
    error_or_none("dicts", _scored, qrels, run, place=PLACE)


PANDAS = [
    "str", "string", "category", "int64", "Int64", "float32", "Float64", "bool", "boolean", "datetime64[ns]",
    "timedelta64[ns]", "complex128", "S3", "Sparse[float]", "period[D]", "interval", "int64[pyarrow]",
    "string[pyarrow]",
]  # fmt: skip
POLARS = [
    *(
        pl.String, pl.Object, pl.Categorical, pl.Enum(["1", "2", "a"]), pl.Binary, pl.Null, pl.Boolean,
        pl.Int8,
    ),
    *(pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(10, 2), pl.Date, pl.Datetime, pl.Duration, pl.Time),
    *(pl.List(pl.Int64), pl.Struct({"x": pl.Int64})),
]  # fmt: skip
KINDS = {
    "pandas": st.sampled_from([None, object, *PANDAS]),
    "polars": st.sampled_from([None, *POLARS]),
    "arrow": st.sampled_from([None, "dictionary"]),
}


def _column(library, cells, kind):
    """Return a column of a library; None if the library cannot make one of these cells."""
    if library == "arrow" or str(kind).endswith("[pyarrow]"):
        # pyarrow itself crashes on numpy scalars of several types.
        cells = [None if isinstance(cell, np.generic) else cell for cell in cells]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if library == "pandas":
                return pd.Series(cells, dtype=kind)
            if library == "polars":
                return pl.Series(cells, dtype=kind, strict=False)
            array = pa.array(cells)
            return array if kind is None else array.dictionary_encode()
    except (Exception, pl.exceptions.PanicException):  # not an input if the library rejects it
        return None


def _frame(library, columns):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[library]
    try:
        return make(columns)
    except (ValueError, pl.exceptions.PolarsError):  # columns of several heights or shapes
        return None


@st.composite
def frames(draw, value):
    """Draw a table of qrels or of a run with odd cells and types; None if its library cannot make one."""
    library = draw(st.sampled_from(sorted(KINDS)))
    height = draw(st.integers(0, 4))
    cells = {"query_id": ids | st.just("1"), "doc_id": ids, value: values}
    if draw(st.integers(0, 4)) == 0:
        cells |= {"start": values, "length": values}
    columns = {
        name: _column(
            library,
            draw(st.lists(odd | st.integers(1, 2), min_size=height, max_size=height)),
            draw(KINDS[library]),
        )
        for name, odd in cells.items()
        if draw(st.integers(0, 20))
    }
    return None if any(column is None for column in columns.values()) else _frame(library, columns)


tables = pd.DataFrame(
    {"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1, 0], "score": [2.0, 1.0]}
)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(150)
@given(qrels=frames("relevance"), run=frames("score"))
def test_tables_are_scored_or_rejected(qrels, run):
    for given_qrels, given_run in ((qrels, tables), (tables, run), (qrels, run)):
        if given_qrels is not None and given_run is not None:
            error_or_none("tables", _scored, given_qrels, given_run, place=PLACE)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(60)
@given(thing=st.one_of(values, st.lists(values | st.tuples(ids, ids, values), max_size=3)))
def test_other_objects_are_rejected(thing):
    for qrels, run in ((thing, tables), (tables, thing)):
        error_or_none("other objects", _scored, qrels, run, place=PLACE, also=(OSError,))
