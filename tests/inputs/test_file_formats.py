"""File formats, and files that are read in blocks."""

from operator import attrgetter

import polars as pl
import pytest

from ir_graded.errors import FileFormatError, ParameterError
from ir_graded.io.files import named
from ir_graded.io.formats import Format, recognise

from .file_cases import (
    FIXED,
    NTCIR_LINES,
    NTCIR_ROWS,
    QRELS_LINES,
    RUN,
    RUN_LINES,
    RUN_ROWS,
    frame_of,
    joined,
    parse_block,
    read_qrels_file,
    read_run_file,
)

pytestmark = pytest.mark.filterwarnings("error")

# ------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("format", FIXED, ids=attrgetter("title"))
def test_a_format_describes_its_own_line(format):
    fields = format.layout.split()
    assert len(fields) == format.width
    assert fields[format.places["query_id"]] == "topic"
    assert fields[format.places["doc_id"]] in ("doc", "file", "pmid")
    assert fields[format.value] in ("score", "level", "L<level>", "<level>", "S|A|B|C", "rsv")
    assert [fields[position] for _, position in format.extra] == [name for name, _ in format.extra]
    assert named(format.kind, format.name) is format
    if format.only_named:
        return
    line = ["7" if position in format.whole else "x" for position in range(format.width)]
    if format.letters:
        line[format.value], line[-1] = "A", "1"
    if format.prefix:
        line[format.value] = f"{format.prefix}2"
    assert recognise(format.kind, line, "file.txt") is format
    for position in format.whole:
        with pytest.raises(FileFormatError, match="expected a run line"):
            recognise(format.kind, [*line[:position], "a", *line[position + 1 :]], "file.txt")


def test_the_first_line_that_is_not_blank_decides_the_format(write):
    path = write("\n \nq Q0 d\n")
    with pytest.raises(FileFormatError) as caught:
        read_run_file(path)
    assert str(caught.value) == (
        f"{path}, line 3: expected a run line of 6 fields (TREC run: topic Q0 doc rank score tag) "
        "or 8 fields (INEX run: topic Q0 file rank rsv run_id start length) "
        "or 7 fields (GENOMICS run: topic pmid rank score start length run_id), found 3: 'q Q0 d'"
    )


def test_an_unknown_number_of_fields_lists_the_known_ones():
    with pytest.raises(FileFormatError) as caught:
        recognise("qrels", ["1", "0"], "qrels.txt")
    assert str(caught.value) == (
        "qrels.txt, line 1: expected a qrels line of 4 fields (NTCIR-EARLY qrels: topic S|A|B|C doc 0|1) "
        "or 4 fields (NTCIR-INTENTS qrels: topic intent doc L<level>) "
        "or 4 fields (NTCIR-CLASSES qrels: topic doc L<level> class) "
        "or 4 fields (TREC qrels: topic iteration doc level) "
        "or 3 fields (NTCIR qrels: topic doc L<level>) "
        "or topic pmid start length aspects, separated by tabs (GENOMICS qrels) "
        "or topic Q0 file rel_chars doc_len [bep [start:length ...]] (INEX qrels), found 2: '1 0'"
    )


def test_a_named_format_is_enforced(write):
    path = write(joined(NTCIR_LINES))
    assert frame_of(read_qrels_file(path, format="ntcir")).rows() == NTCIR_ROWS
    with pytest.raises(FileFormatError, match=r"line 1: expected 4 fields \(TREC qrels: .*\), found 3"):
        read_qrels_file(path, format="trec")
    with pytest.raises(FileFormatError, match=r"line 1: expected 3 fields \(NTCIR qrels: .*\), found 4"):
        read_qrels_file(write(joined(QRELS_LINES)), format="ntcir")


@pytest.mark.parametrize(
    ("kind", "name"), [("run", "ntcir"), ("qrels", "TREC"), ("qrels", "csv"), ("run", "")]
)
def test_an_unknown_format_is_rejected(kind, name):
    with pytest.raises(ParameterError, match=f"unknown format '{name}' of a {kind} file; known: .*'trec'"):
        named(kind, name)


def test_an_unknown_format_is_rejected_before_the_file_is_opened(tmp_path):
    with pytest.raises(ParameterError):
        read_run_file(tmp_path / "none.txt", format="csv")


PASSAGES = Format("passages", "run", "topic doc start length score", "query_id doc_id start length score")


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
def test_an_integer_column_rejects_other_values(text):
    with pytest.raises(
        FileFormatError, match=r"^run\.txt, line 2: length '.*' is not a whole number of 64 bits"
    ):
        parse_block(f"q d 1 2 0.5\nq d 1 {text} 0.5\n".encode(), PASSAGES, 1, "run.txt")


def test_the_value_may_be_the_last_field_or_an_extra_column():
    swapped = Format("swapped", "run", "doc topic score start", "doc_id query_id score start")
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
