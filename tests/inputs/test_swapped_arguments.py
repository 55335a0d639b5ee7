"""Qrels and runs that were given in the wrong order."""

import warnings
from collections import namedtuple
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import ir_graded

QRELS = {"1": {"a": 2, "b": 1, "c": 0}}
RUN = {"1": {"a": 12.5, "b": 11.25, "x": 9.5}}
ASKS = r"are the qrels and the run swapped\?"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("1 0 a 2\n1 0 b 1\n1 0 c 0\n")
    Path("bm25.run").write_text("1 Q0 a 1 12.5 t\n1 Q0 b 2 11.25 t\n1 Q0 x 3 9.5 t\n")


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, lambda _: QRELS])
def test_measures_that_do_not_come_first_are_noticed(convert):
    qrels = convert({"query_id": ["1"], "doc_id": ["a"], "relevance": [1]})
    message = r"measures come first: evaluate\(measures, qrels, runs\)"
    with pytest.raises(ir_graded.ParameterError, match=message):
        ir_graded.evaluate(qrels, RUN, "Q")


@pytest.mark.usefixtures("files")
def test_swapped_files_are_noticed():
    with pytest.raises(ir_graded.FileFormatError) as caught:
        ir_graded.evaluate("Q", "bm25.run", "qrels.txt")
    assert str(caught.value) == (
        "bm25.run, line 1: expected a qrels line, found one of 6 fields (TREC run: topic Q0 doc rank score "
        "tag): are the qrels and the run swapped?: '1 Q0 a 1 12.5 t'"
    )
    with pytest.raises(ir_graded.FileFormatError, match=f"expected a run line, .*TREC qrels.*{ASKS}"):
        ir_graded.evaluate("Q", "qrels.txt", "qrels.txt")
    for run in (["qrels.txt"], {"mine": "qrels.txt"}):
        with pytest.raises(ir_graded.InputError):
            ir_graded.evaluate("Q", "bm25.run", run)
    with pytest.raises(ir_graded.InputError, match=ASKS):
        ir_graded.evaluate("Q", {"mine": "bm25.run"}, "qrels.txt")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas, lambda frame: frame.to_dict("records")])
def test_swapped_tables_are_noticed(convert):
    qrels = convert(ir_graded.read_qrels("qrels.txt"))
    run = convert(ir_graded.read_run("bm25.run"))
    with pytest.raises(ir_graded.InputError, match=f"it looks like a run .*{ASKS}"):
        ir_graded.evaluate("Q", run, qrels)
    with pytest.raises(ir_graded.InputError, match=f"it looks like qrels .*{ASKS}"):
        ir_graded.evaluate("Q", qrels, qrels)


def test_swapped_named_tuples_are_noticed():
    judged, ranked = namedtuple("J", "query_id doc_id relevance"), namedtuple("R", "query_id doc_id score")
    with pytest.raises(ir_graded.InputError, match=f"item 0 .* query_id, doc_id, relevance: {ASKS}"):
        ir_graded.evaluate("Q", [ranked("1", "a", 12.5)], [judged("1", "a", 2)])


def test_swapped_dicts_are_noticed():
    with pytest.warns(ir_graded.CoverageWarning, match="These look like a run and qrels.*swapped"):
        ir_graded.evaluate("Q", RUN, QRELS)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (QRELS, RUN),
        ({"1": {"a": 0.5, "b": 0.25}}, {"1": {"a": 2.0, "b": 1.5}}),
        ({"1": {"a": 0.5, "b": 0.25}}, {"1": {"a": 1000, "b": 999}}),
        ({"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2, "b": 1}}),
    ],
)
def test_dicts_in_the_right_order_are_not_suspected(qrels, run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ir_graded.evaluate("Q", qrels, run)
    assert not [warning for warning in caught if "swapped" in str(warning.message)]
