from __future__ import annotations

import gzip
import lzma
import math
import os
import re
import struct
import sys
from decimal import Decimal, localcontext
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import example, given, settings, strategies as st

from ir_graded.errors import FileFormatError, GradedError, InputError, ParameterError
from ir_graded.inputs import content as bytes_of, files, lines as line_parser, spacing as white
from ir_graded.inputs.files import FileTable, read_qrels_file, read_run_file
from ir_graded.inputs.formats import FORMATS, Format, named, recognise

pytestmark = pytest.mark.filterwarnings("error")

BOM = b"\xef\xbb\xbf"
RUN = named("run", "trec")

RUN_ROWS = [
    ("301", "FT911-3", 12.5),
    ("301", "FT911-4", -3.0),
    ("301", "ünï-漢字", 1e-5),
    ("302", "a-document-with-quite-a-long-name", math.inf),
    ("303", '"quoted,#', 0.1),
]
RUN_LINES = [
    "301 Q0 FT911-3 1 12.5 tag",
    "301 Q0 FT911-4 2 -3 tag",
    "301 Q0 ünï-漢字 - 1e-5 tag",
    "302 Q0 a-document-with-quite-a-long-name none inf täg",
    '303 "Q0 "quoted,# 1 .1 "',
]
QRELS_LINES = ["1 0 d1 2", "1 0 d2 0", "1 0 d3 -1", "2 0 d1 0.5", "2 0 d2 +3"]
QRELS_ROWS = [("1", "d1", 2.0), ("1", "d2", 0.0), ("1", "d3", -1.0), ("2", "d1", 0.5), ("2", "d2", 3.0)]
NTCIR_LINES = ["1 d1 L2", "1 d2 L0", "2 d1 L10"]
NTCIR_ROWS = [("1", "d1", 2.0), ("1", "d2", 0.0), ("2", "d1", 10.0)]


def parse_block(data, format, first_line, path):
    """Rows of a piece of a file that begins with line ``first_line``, and the numbers of its lines."""
    table = files._parsed(path, format, lambda: data, lambda: first_line - 1)
    return table.frame, None if table.lines is None else table.lines + (first_line - 1)


def joined(lines, end="\n", change=lambda line: line):
    return "".join(change(line) + end for line in lines).encode()


def aligned(line):
    return "".join(f"{field:>14}  " for field in line.split())


def scattered(lines):
    return "\n\r\n  \t\n".join(["", *lines, "", ""]).encode()


SPACINGS = {
    "single blanks": joined,
    "tabs": partial(joined, change=lambda line: line.replace(" ", "\t")),
    "vertical tabs, form feeds": partial(
        joined, change=lambda line: line.replace(" ", "\v", 1).replace(" ", "\f", 1)
    ),
    "double blanks": partial(joined, change=lambda line: line.replace(" ", "  ")),
    "one double blank": lambda lines: joined(lines)[::-1].replace(b" ", b"  ", 1)[::-1],
    "mixed": partial(joined, change=lambda line: line.replace(" ", " \t ")),
    "aligned": partial(joined, change=aligned),
    "leading": partial(joined, change=lambda line: " " + line),
    "leading on the last line": lambda lines: joined(lines[:-1]) + b" " + joined(lines[-1:]),
    "trailing": partial(joined, change=lambda line: line + " "),
    "trailing at the end": lambda lines: joined(lines) + b" ",
    "trailing without newline": lambda lines: joined(lines)[:-1] + b" ",
    "CRLF": partial(joined, end="\r\n"),
    "tabs, CRLF": partial(joined, end="\r\n", change=lambda line: line.replace(" ", "\t")),
    "CRLF and LF": lambda lines: joined(lines[:2]) + joined(lines[2:], end="\r\n"),
    "blank before CRLF": partial(joined, end=" \r\n"),
    "no last newline": lambda lines: joined(lines)[:-1],
    "CRLF, no last newline": lambda lines: joined(lines, end="\r\n")[:-2],
    "CRLF, half a last newline": lambda lines: joined(lines, end="\r\n")[:-1],
    "blank line first": lambda lines: b"\n" + joined(lines),
    "blank line last": lambda lines: joined(lines) + b"\n",
    "blank lines between": partial(joined, end="\n\n"),
    "blank CRLF lines between": partial(joined, end="\r\n\r\n"),
    "blank lines everywhere": scattered,
    "everything": lambda lines: scattered([aligned(line) for line in lines]),
}


def two_members(compress):
    return lambda data: compress(data[: len(data) // 2]) + compress(data[len(data) // 2 :])


def zstd(data, **options):
    return zstandard.ZstdCompressor(**options).compress(data)


SKIPPABLE = b"\x5a\x2a\x4d\x18" + struct.pack("<I", 3) + b"abc"

COMPRESSIONS = {
    "none": lambda data: data,
    "gzip": gzip.compress,
    "gzip, members": two_members(gzip.compress),
    "gzip, padded": lambda data: gzip.compress(data) + b"\0" * 1000,
    "gzip, empty member": lambda data: gzip.compress(b"") + gzip.compress(data),
    "zstandard": zstd,
    "zstandard, frames": two_members(zstd),
    "zstandard, size unknown": partial(zstd, write_content_size=False, write_checksum=True),
    "zstandard, skippable frames": lambda data: SKIPPABLE + zstd(data) + SKIPPABLE + zstd(b""),
    "xz": lzma.compress,
    "xz, streams": two_members(lzma.compress),
}


@pytest.fixture
def write(tmp_path):
    def written(content, name="run.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def places(table):
    return [table.place(row) for row in range(table.frame.height)]


def expected_lines(content):
    return [number for number, raw in enumerate(content.split(b"\n"), 1) if raw.strip()]


def test_a_run_has_its_columns_and_types(write):
    table = read_run_file(write(joined(RUN_LINES)))
    assert isinstance(table, FileTable)
    assert table.frame.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert table.frame.rows() == RUN_ROWS
    assert table.lines is None


def test_qrels_have_their_columns_and_types(write):
    table = read_qrels_file(write(joined(QRELS_LINES)))
    assert table.frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    assert table.frame.rows() == QRELS_ROWS


def test_ntcir_qrels(write):
    table = read_qrels_file(write(joined(NTCIR_LINES)))
    assert table.frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    assert table.frame.rows() == NTCIR_ROWS


@pytest.mark.parametrize("bom", [b"", BOM])
@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("spacing", SPACINGS)
def test_every_spacing_gives_the_same(write, spacing, compression, bom):
    for read, lines, rows in (
        (read_run_file, RUN_LINES, RUN_ROWS),
        (read_qrels_file, QRELS_LINES, QRELS_ROWS),
        (read_qrels_file, NTCIR_LINES, NTCIR_ROWS),
    ):
        content = SPACINGS[spacing](lines)
        path = write(COMPRESSIONS[compression](bom + content))
        table = read(path)
        assert table.frame.rows() == rows
        assert places(table) == [f"{path}, line {line}" for line in expected_lines(content)]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("name", ["run.txt", "run.gz", "run.zst", "run.xz"])
def test_every_compression_gives_the_same_under_any_name(write, compression, name):
    path = write(COMPRESSIONS[compression](BOM + joined(RUN_LINES)), name)
    assert read_run_file(path).frame.rows() == RUN_ROWS


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_compressed_file_of_many_pieces_is_read_whole(write, compression, monkeypatch):
    content = joined(f"q{i} Q0 d{i * i} 1 {i / 7} t" for i in range(3000))
    monkeypatch.setattr(bytes_of, "READ", 100)
    table = read_run_file(write(COMPRESSIONS[compression](content)))
    assert table.frame["score"].to_list() == [i / 7 for i in range(3000)]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n", b" \t\n\n", BOM, BOM + b"\n", b" "])
@pytest.mark.parametrize("format", [None, "trec"])
def test_a_file_without_lines_gives_an_empty_frame(write, compression, content, format):
    path = write(COMPRESSIONS[compression](content))
    run = read_run_file(path, format).frame
    assert (run.height, run.schema) == (0, {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
    qrels = read_qrels_file(path, format).frame
    assert (qrels.height, qrels.columns) == (0, ["query_id", "doc_id", "relevance"])
    with pytest.raises(IndexError):
        read_run_file(path, format).place(0)


@pytest.mark.parametrize("as_path", [str, Path])
def test_a_path_is_text_or_path_like(write, as_path):
    path = write(joined(RUN_LINES))
    table = read_run_file(as_path(path))
    assert table.path == str(path)
    assert table.place(3) == f"{path}, line 4"


@pytest.mark.parametrize("row", [-1, 5])
def test_place_of_a_row_that_is_not_there(write, row):
    with pytest.raises(IndexError, match=f"row {row} of a table of 5 rows"):
        read_run_file(write(joined(RUN_LINES))).place(row)


# ------------------------------------------------------------------------------ characters of an id


@pytest.mark.parametrize(
    "text",
    [
        *(
            "\0",
            "a\0b",
            '"',
            '"a',
            "'",
            "#",
            "#q",
            ",",
            "\x1c",
            "\x85",
            "\xa0",
            "\u2028",
            "\u3000",
            "NULL",
        ),
        # The beginning of a zlib stream, of bzip2, of an address.
        *("x^", "x\x01", "x\u069c", "x\u0686", "BZh9", "/data", "file:///a", "*", "a?b"),
    ],
)
def test_any_other_character_belongs_to_the_id(write, text):
    content = f"{text} Q0 {text} 1 2 {text}\n{text} {text} {text} {text} 3 {text}\n"
    for data in (content, content.replace(" ", "\t")):
        frame = read_run_file(write(data)).frame
        assert frame.rows() == [(text, text, 2.0), (text, text, 3.0)]


def test_only_the_first_byte_order_mark_is_one(write):
    content = BOM + BOM + b"q Q0 d 1 2 t\n" + BOM + b"q Q0 d 1 2 t\n"
    assert read_run_file(write(content)).frame["query_id"].to_list() == ["\ufeffq", "\ufeffq"]


def test_ids_that_look_like_numbers_stay_text(write):
    assert read_run_file(write("007 Q0 1e5 1 2 t\n")).frame.rows() == [("007", "1e5", 2.0)]


# ------------------------------------------------------------------------------------------- numbers


def number_texts():
    finite = st.floats(allow_nan=False, allow_infinity=False)
    return st.one_of(
        finite.map(repr),
        st.builds(lambda x, digits: f"{x:.{digits}e}", finite, st.integers(0, 40)),
        st.builds(lambda x, digits: f"{x:.{digits}f}", finite, st.integers(0, 30)),
        st.builds(midpoint, finite, st.integers(0, 60)),
        st.from_regex(
            r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?", fullmatch=True
        ),
        st.sampled_from(
            ["inf", "-inf", "+Infinity", "NaN", "nan", "-nan", "1e400", "-1e-400", "-0", "1." + "0" * 800]
        ),
        st.sampled_from(["2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623159e308"]),
    )


def midpoint(x, cut):
    """The text of the number between x and its neighbour, whole or cut to some digits."""
    neighbour = math.nextafter(x, 0.0)
    with localcontext() as context:
        context.prec = 1100
        between = (Decimal(x) + Decimal(neighbour)) / 2
        return str(between) if cut < 10 else f"{between:.{cut}e}"


def bits(values):
    array = np.array(values, np.float64)
    array[np.isnan(array)] = np.nan
    return array.view(np.uint64).tolist()


@settings(max_examples=300, deadline=None)
@given(st.lists(number_texts(), min_size=1, max_size=50))
def test_a_score_is_what_float_makes_of_it(texts):
    frame, _ = parse_block(joined(f"q Q0 d 1 {text} t" for text in texts), RUN, 1, "run.txt")
    assert bits(frame["score"].to_list()) == bits([float(text) for text in texts])


@pytest.mark.parametrize(
    "text", ["12", "1e5", "+1.5", "1.", ".5", "inf", "-inf", "iNfiNity", "1E+5", "00.10"]
)
def test_scores_that_are_numbers(write, text):
    assert read_run_file(write(f"q Q0 d 1 {text} t\n")).frame["score"].to_list() == [float(text)]


def test_nan_is_read(write):
    assert math.isnan(read_run_file(write("q Q0 d 1 nan t\n")).frame["score"][0])


NO_NUMBERS = [
    *(
        "1_000",
        "0x10",
        "0x1p3",
        "true",
        "1.5abc",
        "1e",
        "1e5.5",
        "e5",
        ".",
        "+",
        "-",
        "--1",
        "+-1",
        "1,5",
        "null",
        "NA",
    ),
    *(
        "1d5",
        "1.0f",
        "nan(1)",
        "infin",
        "None",
        '"1"',
        "1\0",
        "\0",
        "\u0661",
        "\xa01",
        "\u22121",
        "\uff11",
        "1\x1c",
    ),
]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_a_score_that_is_no_number(write, text):
    for lines in ([f"q Q0 d 1 {text} t"], ["q Q0 d 1 1 t", f"q Q0 e 1 {text} t"]):
        path = write(joined(lines))
        with pytest.raises(FileFormatError) as caught:
            read_run_file(path)
        message = str(caught.value)
        assert message.startswith(f"{path}, line {len(lines)}: score {text!r} is not a number such as ")
        assert message.endswith(repr(lines[-1]))


@pytest.mark.parametrize("text", [*NO_NUMBERS, "nan", "inf", "-Infinity", "1e400", "L1"])
def test_a_level_that_is_no_finite_number(write, text):
    path = write(joined(["q 0 d 1", f"q 0 e {text}"]))
    with pytest.raises(
        FileFormatError, match=f"^{re.escape(str(path))}, line 2: level .* is not a .*number such as 2"
    ):
        read_qrels_file(path)


@pytest.mark.parametrize(
    "text", ["2", "l2", "L", "L-1", "L1.5", "L+1", "LL1", "L1L", "L1_0", "L\u0661", "L" + "9" * 400]
)
def test_an_ntcir_level_is_written_with_an_l(write, text):
    path = write(joined(["q d L1", f"q e {text}"]))
    with pytest.raises(
        FileFormatError, match=f"^{re.escape(str(path))}, line 2: level .* is not L0, L1, L2, ..."
    ):
        read_qrels_file(path)


# -------------------------------------------------------------------------------------------- errors


WRONG_LINES = {
    "short": ("q Q0 d 1 2", "expected 6 fields (TREC run: topic Q0 doc rank score tag), found 5"),
    "long": ("q Q0 d 1 2 t u", "expected 6 fields (TREC run: topic Q0 doc rank score tag), found 7"),
    "one field": ("q", "found 1"),
    "score": ("q Q0 d 1 high t", "score 'high' is not a number"),
    "shifted": ("q Q0 d x 1 2 t", "found 7"),
    "qrels": ("q 0 d 1", "found 4"),
    "carriage return": ("q Q0 d\r 1 2 t", "a carriage return inside the line"),
    "carriage return instead of a blank": ("q Q0 d\r1 2 t", "a carriage return inside the line"),
    "two carriage returns": ("q Q0 d 1 2 t\r\r", "a carriage return inside the line"),
}


@pytest.mark.parametrize("before", [1, 3])
@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("wrong", WRONG_LINES)
def test_a_wrong_line_is_named(write, wrong, spacing, before):
    line, problem = WRONG_LINES[wrong]
    content = (
        SPACINGS[spacing](RUN_LINES[:before]).rstrip() + b"\n" + line.encode() + b"\n" + joined(RUN_LINES)
    )
    number = content.split(b"\n").index(line.encode()) + 1
    path = write(content)
    for data in (content, gzip.compress(content)):
        path.write_bytes(data)
        with pytest.raises(FileFormatError) as caught:
            read_run_file(path)
        message = str(caught.value)
        assert message.startswith(f"{path}, line {number}: ")
        assert problem in message
        assert repr(line.removesuffix("\r")) in message


def test_a_short_and_a_long_line_do_not_make_up_for_each_other(write):
    path = write(joined([*RUN_LINES, "q Q0 d 1 2", "q Q0 d 1 2 t u"]))
    with pytest.raises(FileFormatError, match=r"line 6: .* found 5"):
        read_run_file(path)
    path = write(joined([*RUN_LINES, "q Q0 d 1 2 t u", "q Q0 d 1 2"]))
    with pytest.raises(FileFormatError, match=r"line 6: .* found 7"):
        read_run_file(path)


def test_a_double_blank_does_not_shift_columns(write):
    # A parser that separates at every blank reads the rank 1 as the score of d2.
    assert read_run_file(write("q Q0 d1 1 9.5 t\nq  Q0 d2 1 8.5 t\n")).frame.rows() == [
        ("q", "d1", 9.5),
        ("q", "d2", 8.5),
    ]
    # Nor does it stand for a field that is missing.
    with pytest.raises(FileFormatError, match=r"line 2: .* found 5"):
        read_run_file(write("q Q0 d1 1 9.5 t\nq  d2 1 8.5 t\n"))


def test_the_first_of_several_wrong_lines_is_named(write):
    lines = [f"q Q0 d{i} 1 2 t" for i in range(500)]
    lines[200] = "q Q0 d 1 2 t u"
    lines[100] = "q Q0 d 1 two t"
    lines[300] = "q"
    with pytest.raises(FileFormatError, match="line 101: score 'two'"):
        read_run_file(write(joined(lines)))


@pytest.mark.parametrize("piece", [1, 50, 1000, 1 << 20])
def test_the_wrong_line_is_found_in_any_piece(write, piece, monkeypatch):
    lines = [f"q Q0 d{i} 1 2 t" for i in range(300)]
    lines[200] = "q Q0 d 1 two t"
    monkeypatch.setattr(line_parser, "_PIECE", piece)
    with pytest.raises(FileFormatError, match="line 201: score 'two'"):
        read_run_file(write(joined(lines)))
    with pytest.raises(FileFormatError, match="line 401: score 'two'"):
        read_run_file(write(joined(lines, end="\n\n")))


def test_a_long_line_is_shortened(write):
    path = write("q Q0 d 1 2 t\n" + "x" * 100_000 + "\n")
    with pytest.raises(FileFormatError) as caught:
        read_run_file(path)
    assert len(str(caught.value)) < len(str(path)) + 250
    assert "xxx...'" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "byte"),
    [
        (b"q Q0 caf\xe9 1 2 t", "0xe9"),
        (b"q \xff d 1 2 t", "0xff"),
        (b"q Q0 d \xc3 2 t", "0xc3"),
        (b"q Q0 d 1 2 \xed\xa0\x80", "0xed"),
        (b"\xc0\x80 Q0 d 1 2 t", "0xc0"),
    ],
)
def test_text_that_is_not_utf8(write, line, byte, monkeypatch):
    for content in (joined(RUN_LINES) + line, joined(RUN_LINES, end="\r\n") + line + b"\r\n"):
        for piece in (1, 3, 1 << 20):
            monkeypatch.setattr(line_parser, "_PIECE", piece)
            path = write(content)
            with pytest.raises(
                FileFormatError, match=f"^{re.escape(str(path))}, line 6: byte {byte} is not UTF-8"
            ):
                read_run_file(path)


@pytest.mark.parametrize("column", range(6))
def test_text_that_is_not_utf8_far_down_in_any_column(column):
    fields = [b"q", b"Q0", b"d", b"1", b"2", b"t"]
    good = b" ".join(fields) + b"\n"
    fields[column] = b"\xe9"
    content = good * 100_000 + b" ".join(fields) + b"\n" + good * 100_000
    with pytest.raises(FileFormatError, match=r"^run\.txt, line 100001: byte 0xe9 is not UTF-8"):
        parse_block(content, RUN, 1, "run.txt")


def test_utf16_is_not_utf8(write):
    path = write("q Q0 d 1 2 t\n".encode("utf-16"))
    with pytest.raises(FileFormatError, match="line 1: byte 0xff is not UTF-8"):
        read_run_file(path)


def test_a_file_of_carriage_returns_only(write):
    with pytest.raises(FileFormatError, match="line 1: a carriage return inside the line"):
        read_run_file(write(joined(RUN_LINES, end="\r")))


@pytest.mark.parametrize(
    "compression", [name for name in COMPRESSIONS if name not in ("none", "gzip, padded")]
)
def test_truncated_compressed_data(write, compression):
    data = COMPRESSIONS[compression](joined(f"q{i} Q0 d{i * i} 1 {i / 7} t" for i in range(500)))
    for end in (8, len(data) // 3, len(data) - 1):
        path = write(data[:end], "run.gz")
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: (truncated|corrupt) "):
            read_run_file(path)


@pytest.mark.parametrize(
    ("compression", "name"), [("gzip", "gzip"), ("zstandard, size unknown", "zstandard"), ("xz", "xz")]
)
def test_corrupt_compressed_data(write, compression, name):
    whole = COMPRESSIONS[compression](joined(f"q{i} Q0 d{i * i} 1 {i / 7} t" for i in range(500)))
    half = len(whole) // 2
    for data in (whole[:half] + bytes([whole[half] ^ 0x55]) + whole[half + 1 :], whole + b"something else"):
        path = write(data)
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: corrupt {name} data"):
            read_run_file(path)


def test_zstandard_is_needed_for_its_own_files_only(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    for compression in ("none", "gzip", "xz"):
        assert read_run_file(write(COMPRESSIONS[compression](joined(RUN_LINES)))).frame.rows() == RUN_ROWS
    path = write(zstd(joined(RUN_LINES)))
    with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: .*install the package 'zstandard'"):
        read_run_file(path)


def test_errors_of_the_system_pass_through(tmp_path, write):
    with pytest.raises(FileNotFoundError) as caught:
        read_run_file(tmp_path / "none.txt")
    assert caught.value.filename == str(tmp_path / "none.txt")
    with pytest.raises((IsADirectoryError, PermissionError)):
        read_qrels_file(tmp_path)
    with pytest.raises(NotADirectoryError):
        read_qrels_file(write(b"") / "run.txt")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to this user"
)
def test_a_forbidden_file(write):
    path = write(b"")
    path.chmod(0)
    with pytest.raises(PermissionError):
        read_run_file(path)


def test_format_errors_are_value_errors(write):
    with pytest.raises(ValueError, match="line 1") as caught:
        read_run_file(write("q\n"))
    assert isinstance(caught.value, GradedError)
    assert isinstance(caught.value, InputError)


def test_what_only_the_parser_refuses_is_still_an_error(monkeypatch):
    monkeypatch.setattr(line_parser, "_parsed", lambda *_: None)
    with pytest.raises(FileFormatError, match=r"^run\.txt: cannot be read as a TREC run file$"):
        parse_block(joined(RUN_LINES), RUN, 1, "run.txt")


# ------------------------------------------------------------------------------------------- formats


FIXED = tuple(one for one in FORMATS if isinstance(one, Format))


@pytest.mark.parametrize("format", FIXED, ids=attrgetter("title"))
def test_a_format_describes_its_own_line(format):
    fields = format.layout.split()
    assert len(fields) == format.width
    assert fields[format.query_id] == "topic"
    assert fields[format.doc_id] in ("doc", "file", "pmid")
    assert fields[format.value] in ("score", "level", "L<level>", "rsv")
    assert [fields[position] for _, position in format.extra] == [name for name, _ in format.extra]
    assert named(format.kind, format.name) is format
    line = ["7" if position in format.whole else "x" for position in range(format.width)]
    assert recognise(format.kind, line, "file.txt") is format
    for position in format.whole:
        with pytest.raises(FileFormatError, match="expected a run line"):
            recognise(format.kind, [*line[:position], "a", *line[position + 1 :]], "file.txt")


def test_the_format_is_told_by_the_first_line_that_is_not_blank(write):
    path = write("\n \nq Q0 d\n")
    with pytest.raises(FileFormatError) as caught:
        read_run_file(path)
    assert str(caught.value) == (
        f"{path}, line 3: expected a run line of 6 fields (TREC run: topic Q0 doc rank score tag) "
        "or 8 fields (INEX run: topic Q0 file rank rsv run_id start length) "
        "or 7 fields (GENOMICS run: topic pmid rank score start length run_id), found 3: 'q Q0 d'"
    )


def test_an_unknown_width_lists_the_known_ones():
    with pytest.raises(FileFormatError) as caught:
        recognise("qrels", ["1", "0"], "qrels.txt")
    assert str(caught.value) == (
        "qrels.txt, line 1: expected a qrels line of 4 fields (TREC qrels: topic iteration doc level) "
        "or 3 fields (NTCIR qrels: topic doc L<level>) "
        "or topic pmid start length aspects, separated by tabs (GENOMICS qrels) "
        "or topic Q0 file rel_chars doc_len [bep [start:length ...]] (INEX qrels), found 2: '1 0'"
    )


def test_a_named_format_is_held_to(write):
    path = write(joined(NTCIR_LINES))
    assert read_qrels_file(path, format="ntcir").frame.rows() == NTCIR_ROWS
    with pytest.raises(FileFormatError, match=r"line 1: expected 4 fields \(TREC qrels: .*\), found 3"):
        read_qrels_file(path, format="trec")
    with pytest.raises(FileFormatError, match=r"line 1: expected 3 fields \(NTCIR qrels: .*\), found 4"):
        read_qrels_file(write(joined(QRELS_LINES)), format="ntcir")


@pytest.mark.parametrize(
    ("kind", "name"), [("run", "ntcir"), ("qrels", "TREC"), ("qrels", "csv"), ("run", "")]
)
def test_an_unknown_format(kind, name):
    with pytest.raises(ParameterError, match=f"unknown format '{name}' of a {kind} file; known: 'trec'"):
        named(kind, name)


def test_an_unknown_format_is_an_error_before_the_file_is_opened(tmp_path):
    with pytest.raises(ParameterError):
        read_run_file(tmp_path / "none.txt", format="csv")


PASSAGES = Format(
    *("passages", "run", 5, 0, 1, 4),
    layout="topic doc start length score",
    extra=(("start", 2), ("length", 3)),
)


def test_a_format_may_have_integer_columns():
    for data in (b"q d 10 +5 0.5\nq e 0 007 1\n", b"\tq d 10  +5 0.5\r\nq e 0 007 1"):
        frame, lines = parse_block(data, PASSAGES, 1, "run.txt")
        assert lines is None
        assert frame.schema == {
            "query_id": pl.String,
            "doc_id": pl.String,
            "score": pl.Float64,
            "start": pl.Int64,
            "length": pl.Int64,
        }
        assert frame.rows() == [("q", "d", 0.5, 10, 5), ("q", "e", 1.0, 0, 7)]
    empty, _ = parse_block(b"\n", PASSAGES, 1, "run.txt")
    assert empty.schema == frame.schema


@pytest.mark.parametrize(
    "text", ["1.0", "1e3", "x", "1_0", "9223372036854775808", "-9223372036854775809", "9" * 5000]
)
def test_an_integer_column_holds_integers(text):
    with pytest.raises(
        FileFormatError, match=r"^run\.txt, line 2: length '.*' is not a whole number of 64 bits"
    ):
        parse_block(f"q d 1 2 0.5\nq d 1 {text} 0.5\n".encode(), PASSAGES, 1, "run.txt")


def test_the_value_may_be_the_last_field_and_an_extra_column_too():
    swapped = Format("swapped", "run", 4, 1, 0, 2, layout="doc topic score start", extra=(("start", 3),))
    frame, _ = parse_block(b"d q 0.5 3\n", swapped, 1, "run.txt")
    assert frame.rows() == [("q", "d", 0.5, 3)]


# -------------------------------------------------------------------------------------------- blocks


def test_a_block_counts_its_lines_from_its_first():
    frame, lines = parse_block(joined(RUN_LINES), RUN, 1000, "run.txt")
    assert (frame.rows(), lines) == (RUN_ROWS, None)
    frame, lines = parse_block(b"\n" + joined(RUN_LINES, end="\r\n\r\n"), RUN, 1000, "run.txt")
    assert frame.rows() == RUN_ROWS
    assert lines.tolist() == [1001, 1003, 1005, 1007, 1009]
    for data in (b"q Q0 d 1 2 t\nq Q0 d 1 x t\n", b"q\tQ0\td 1 2 t\r\nq Q0 d 1 x t"):
        with pytest.raises(FileFormatError, match=r"^run\.txt, line 1001: score 'x'"):
            parse_block(data, RUN, 1000, "run.txt")


def test_the_first_line_of_a_block_may_be_the_wrong_one():
    for line in ("q Q0 d 1 2", "q Q0 d 1 2 t u", "q"):
        with pytest.raises(FileFormatError, match=r"^run\.txt, line 51: expected 6 fields"):
            parse_block(joined([line, *RUN_LINES]), RUN, 51, "run.txt")


def test_many_lines_pass_the_limits_of_blocks(monkeypatch):
    lines = [f"q{i % 13} Q0 {'d' * (i % 29)}{i} {i} {i / 3} tag" for i in range(4000)]
    rows = [(line.split()[0], line.split()[2], float(line.split()[4])) for line in lines]
    for block in (1, 2, 3, 64, 1000):
        monkeypatch.setattr(white, "_BLOCK", block)
        for spacing in ("single blanks", "tabs, CRLF", "aligned", "blank lines everywhere"):
            content = SPACINGS[spacing](lines if block > 3 else lines[:200])
            frame, numbers = parse_block(content, RUN, 1, "run.txt")
            assert frame.rows() == rows[: frame.height]
            assert frame.height == (4000 if block > 3 else 200)
            found = range(1, frame.height + 1) if numbers is None else numbers.tolist()
            assert list(found) == expected_lines(content)


# ------------------------------------------------------------------------------ plain Python as judge


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)


def plain_reader(content, format):  # noqa: C901, PLR0911  # the formats, in one plain piece
    """Rows and their line numbers; or the number of the first wrong line."""
    rows, numbers = [], []
    for number, raw in enumerate(content.removeprefix(BOM).split(b"\n"), 1):
        line = raw.removesuffix(b"\r")
        try:
            fields = [field.decode() for field in line.split()]
        except UnicodeDecodeError:
            return number
        if b"\r" in line:
            return number
        if not fields:
            continue
        if len(fields) != format.width:
            return number
        text = fields[format.value]
        if format.prefix:
            if not re.fullmatch("L[0-9]+", text):
                return number
            text = text[1:]
        if format.by_order:
            text = "0"
        if not NUMBER.fullmatch(text) or (format.kind == "qrels" and not math.isfinite(float(text))):
            return number
        extra = [fields[position] for _, position in format.extra]
        if not all(re.fullmatch("[+-]?[0-9]+", one) and -(2**63) <= int(one) < 2**63 for one in extra):
            return number
        rows.append((fields[format.query_id], fields[format.doc_id], float(text), *map(int, extra)))
        numbers.append(number)
    return rows, numbers


def same_as_plain(content, format, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(white, "_BLOCK", block)
        patch.setattr(line_parser, "_PIECE", 4 * block)
        expected = plain_reader(content, format)
        if isinstance(expected, int):
            with pytest.raises(FileFormatError) as caught:
                parse_block(content.removeprefix(BOM), format, 1, "file.txt")
            assert str(caught.value).startswith(f"file.txt, line {expected}: ")
        else:
            frame, lines = parse_block(content.removeprefix(BOM), format, 1, "file.txt")
            rows = frame.rows()
            assert [row[:2] for row in rows] == [row[:2] for row in expected[0]]
            assert [row[3:] for row in rows] == [row[3:] for row in expected[0]]
            if not format.by_order:
                assert bits([row[2] for row in rows]) == bits([row[2] for row in expected[0]])
            numbers = list(range(1, len(rows) + 1)) if lines is None else lines.tolist()
            assert numbers == expected[1]


BLOCKS = st.sampled_from([1, 2, 5, 16, 100, 1 << 18])
WHITE = " \t\n\r\v\f"
IDS = st.text(st.characters(exclude_characters=WHITE, codec="utf-8"), min_size=1, max_size=15)
GAPS = st.one_of(st.just(" "), st.text(" \t\v\f", min_size=1, max_size=3))
EDGES = st.one_of(st.just(""), st.text(" \t", max_size=2))
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\n\n", " \n", "\r\n \t\r\n"])
VALUES = {
    "": st.floats(allow_nan=False, allow_infinity=False).map(repr),
    "L": st.integers(0, 9).map("L{}".format),
}


@st.composite
def well_formed(draw, format):
    plain = draw(st.booleans())
    parts = []
    for _ in range(draw(st.integers(0, 8))):
        fields = [draw(IDS) for _ in range(format.width)]
        fields[format.value] = draw(VALUES[format.prefix])
        for _, position in format.extra:
            fields[position] = str(draw(st.integers(-(2**63), 2**63 - 1)))
        parts.append("" if plain else draw(EDGES))
        for field in fields[:-1]:
            parts += [field, " " if plain else draw(GAPS)]
        parts += [fields[-1], "\n" if plain else draw(ENDS)]
    content = "".join(parts).encode()
    return content[: len(content) - draw(st.integers(0, 1))]


@pytest.mark.parametrize("format", FIXED, ids=attrgetter("title"))
def test_files_are_read_as_plain_python_reads_them(format):
    @settings(max_examples=200, deadline=None)
    @given(well_formed(format), BLOCKS)
    def check(content, block):
        same_as_plain(content, format, block)

    check()


@pytest.mark.parametrize("format", FIXED, ids=attrgetter("title"))
def test_damaged_files_are_refused_where_plain_python_refuses_them(format):
    damage = st.sampled_from(
        [b" ", b"  ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xc3", b"_", b"x", b"a b", b""]
    )

    @settings(max_examples=300, deadline=None)
    @given(
        well_formed(format),
        BLOCKS,
        st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), damage), max_size=3),
    )
    def check(content, block, damages):
        for place, length, new in damages:
            at = place % (len(content) + 1)
            content = content[:at] + new + content[at + length :]
        same_as_plain(content, format, block)

    check()


SCRAPS = [
    "q",
    "Q0",
    "1",
    "2.5",
    "L1",
    "nan",
    "é",
    "\0",
    '"',
    *(" " * 8),
    " ",
    "  ",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\f",
]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(SCRAPS), max_size=40), BLOCKS, st.sampled_from(FIXED))
@example(["q", " ", "Q0", " ", "1", " ", "1"], 1, named("qrels", "trec"))
def test_scraps_are_read_as_plain_python_reads_them(scraps, block, format):
    same_as_plain("".join(scraps).encode(), format, block)


def test_a_blank_in_the_tag_is_an_error(write):
    with pytest.raises(FileFormatError, match=r"expected a run line of 6 fields .* found 7"):
        read_run_file(write("1 Q0 a 1 3 12 t\n"))
