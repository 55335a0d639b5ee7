"""Inputs found by fuzzing, which once caused another error, a crash, a hang or a silent choice."""

import decimal
from collections import namedtuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from packed import gzipped

import ir_graded
from ir_graded.io import text as file_text
from ir_graded.measures.parsing import read_measures

PLAIN = {"1": {"a": 1}}
HUGE = 10**5000
Row = namedtuple("Row", "query_id doc_id relevance")


@pytest.mark.parametrize("text", ["nDCG(gains={{}:1})", "nDCG(**{})", "AP(**{'rel': 2})"])
def test_strings_of_ir_measures_that_gave_another_error(text):
    with pytest.raises(ir_graded.MeasureSyntaxError, match=r"^cannot read .*; write "):
        read_measures([text])


@pytest.mark.parametrize("order", ["ties='expected'", "ties='x'", "ranks='rows'"])
def test_an_unknown_parameter_beside_an_order_is_rejected(order):
    with pytest.raises(ir_graded.ParameterError, match="AP takes no parameter 'x'; it takes cutoff"):
        read_measures([f"AP(x=1,{order})"])


@pytest.mark.parametrize(
    "qrels",
    [
        {HUGE: {"a": 1}},
        {"1": {HUGE: 1}},
        {"1": {"a": HUGE}},
        {"1": HUGE},
        {"1": {"a": np.array([1.0, 2.0])}},
        {"1": {"a": pd.Series([1, 2])}},
        {"1": {"a": decimal.Decimal("sNaN")}},
        {"1": {b"\xff": 1}},
        [Row("1", "a", HUGE)],
        [Row(decimal.Decimal("sNaN"), "a", 1)],
        [HUGE],
        np.array(2),
        pd.DataFrame({"query_id": [HUGE], "doc_id": ["a"], "relevance": [1]}, dtype=object),
        pl.DataFrame({"query_id": pl.Series([2**30], dtype=pl.Date), "doc_id": ["a"], "relevance": [1]}),
    ],
    ids=lambda _: "",
)
def test_values_that_raised_another_error_are_rejected(qrels):
    with pytest.raises(ir_graded.InputError):
        ir_graded.evaluate(["Q"], qrels, PLAIN)


def pieces(path, text):
    """Return the lengths of the pieces in which a run is read."""
    path.write_bytes(text)
    return [len(load()) for load in file_text.text_pieces(str(path), 1)]


@pytest.mark.parametrize("white", [b"\n", b"\r\n", b" \n", b"\v\n"])
def test_blank_lines_after_a_topic_are_read_quickly(tmp_path, white):
    # Each was compared with every line before it: 60 KB took half a minute.
    text = b"1 Q0 a 1 1 t\n" * 3 + white * 300_000
    other = b"2 Q0 a 1 1 t\n"
    assert pieces(tmp_path / "one", text) == [len(text)]
    assert pieces(tmp_path / "two", text + other) == [len(text), len(other)]


def test_topics_with_a_long_common_prefix_stay_in_one_piece(tmp_path):
    long, other = b"x" * 100_000, b"2 Q0 a 1 1 t\n"
    lines = [long + end + b" Q0 a 1 1 t\n" for end in (b"1", b"1", b"2")]
    size = len(lines[0])
    assert pieces(tmp_path / "one", b"".join(lines)) == [3 * size]
    assert pieces(tmp_path / "two", b"".join([*lines, other])) == [3 * size, len(other)]
    assert pieces(tmp_path / "short", b"".join(line[-200:] for line in lines)) == [400, 200]


@pytest.mark.parametrize("level", ["9" * 25, "-1e300", "9223372036854775808"])
def test_levels_beyond_64_bits_keep_their_value(tmp_path, level):
    # They became the lowest 64-bit number.
    path = tmp_path / "qrels.txt"
    path.write_text(f"1 0 a {level}\n1 0 b 2\n")
    assert ir_graded.read_qrels(path)["relevance"].tolist() == [float(level), 2.0]


@pytest.mark.parametrize("format", [None, "trec"])
def test_a_file_compressed_twice_is_rejected(tmp_path, format):
    path = tmp_path / "run.gz"
    path.write_bytes(gzipped(gzipped(b"1 Q0 a 1 1.0 t\n")))
    with pytest.raises(ir_graded.FileFormatError, match="line 1: byte 0x8b is not UTF-8"):
        ir_graded.read_run(path, format=format)
