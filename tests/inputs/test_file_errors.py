"""Errors for files that cannot be read: the problem, and its line."""

import re

import pytest
from packed import gzipped

from ir_graded.errors import FileFormatError, GradedError, InputError
from ir_graded.io import lines as line_parser

from .file_cases import (
    COMPRESSIONS,
    RUN,
    RUN_LINES,
    SPACINGS,
    frame_of,
    joined,
    parse_block,
    read_qrels_file,
    read_run_file,
)

pytestmark = pytest.mark.filterwarnings("error")

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


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG_LINES)
def test_the_error_names_the_wrong_line(write, wrong):
    line, problem = WRONG_LINES[wrong]
    for spacing in SPACINGS.values():
        begin = spacing(RUN_LINES[:3]).rstrip()
        content = begin + b"\n" + line.encode() + b"\n" + joined(RUN_LINES)
        number = content.split(b"\n").index(line.encode()) + 1
        for data in (content, gzipped(content)):
            path = write(data)
            with pytest.raises(FileFormatError) as caught:
                read_run_file(path)
            message = str(caught.value)
            assert message.startswith(f"{path}, line {number}: ")
            assert problem in message
            assert repr(line.removesuffix("\r")) in message


def test_a_double_blank_does_not_shift_columns(write):
    # A parser that splits at every blank reads the rank 1 as the score of d2.
    assert frame_of(read_run_file(write("q Q0 d1 1 9.5 t\nq  Q0 d2 1 8.5 t\n"))).rows() == [
        ("q", "d1", 9.5),
        ("q", "d2", 8.5),
    ]
    # Nor does a double blank replace a missing field.
    with pytest.raises(FileFormatError, match=r"line 2: .* found 5"):
        read_run_file(write("q Q0 d1 1 9.5 t\nq  d2 1 8.5 t\n"))


def test_a_long_line_is_shortened_in_the_error(write):
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
def test_text_that_is_not_utf8_is_rejected(write, line, byte, monkeypatch):
    for content in (joined(RUN_LINES) + line, joined(RUN_LINES, end="\r\n") + line + b"\r\n"):
        for piece in (1, 3, 1 << 20):
            monkeypatch.setattr(line_parser, "_PIECE", piece)
            path = write(content)
            with pytest.raises(
                FileFormatError, match=f"^{re.escape(str(path))}, line 6: byte {byte} is not UTF-8"
            ):
                read_run_file(path)


@pytest.mark.parametrize(
    "compression", [name for name in COMPRESSIONS if name not in ("none", "gzip, padded")]
)
def test_truncated_compressed_data_is_rejected(write, compression):
    data = COMPRESSIONS[compression](joined(f"q{i} Q0 d{i * i} 1 {i / 7} t" for i in range(500)))
    for end in (8, len(data) // 3, len(data) - 1):
        path = write(data[:end], "run.gz")
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: (truncated|corrupt) "):
            read_run_file(path)


@pytest.mark.parametrize(
    ("compression", "name"), [("gzip", "gzip"), ("zstandard, size unknown", "zstandard"), ("xz", "xz")]
)
def test_corrupt_compressed_data_is_rejected(write, compression, name):
    whole = COMPRESSIONS[compression](joined(f"q{i} Q0 d{i * i} 1 {i / 7} t" for i in range(500)))
    half = len(whole) // 2
    for data in (whole[:half] + bytes([whole[half] ^ 0x55]) + whole[half + 1 :], whole + b"something else"):
        path = write(data)
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: corrupt {name} data"):
            read_run_file(path)


def test_errors_of_the_system_pass_through(tmp_path, write):
    with pytest.raises(FileNotFoundError) as caught:
        read_run_file(tmp_path / "none.txt")
    assert caught.value.filename == str(tmp_path / "none.txt")
    with pytest.raises((IsADirectoryError, PermissionError)):
        read_qrels_file(tmp_path)
    with pytest.raises(NotADirectoryError):
        read_qrels_file(write(b"") / "run.txt")


def test_format_errors_are_value_errors(write):
    with pytest.raises(ValueError, match="line 1") as caught:
        read_run_file(write("q\n"))
    assert isinstance(caught.value, GradedError)
    assert isinstance(caught.value, InputError)


def test_lines_that_only_the_parser_rejects_raise_an_error(monkeypatch):
    monkeypatch.setattr(line_parser, "_parsed", lambda *_: None)
    with pytest.raises(FileFormatError, match=r"^run\.txt: cannot be read as a TREC run file$"):
        parse_block(joined(RUN_LINES), RUN, 1, "run.txt")
