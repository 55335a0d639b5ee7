"""Files of runs and qrels: spacing, compression, characters and numbers."""

import math
import random
from contextlib import nullcontext
from decimal import Decimal, localcontext
from itertools import product

import polars as pl
import pytest
from hypothesis import given, strategies as st

from ir_graded.errors import FileFormatError
from ir_graded.io import text as file_text
from ir_graded.io.sources import named_runs

from .file_cases import (
    BOM,
    COMPRESSIONS,
    NO_NUMBERS,
    NTCIR_LINES,
    NTCIR_ROWS,
    QRELS_LINES,
    QRELS_ROWS,
    RUN,
    RUN_LINES,
    RUN_ROWS,
    SPACINGS,
    bits,
    expected_lines,
    frame_of,
    joined,
    parse_block,
    places,
    read_qrels_file,
    read_run_file,
)

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "lines", "rows"),
    [
        (read_run_file, RUN_LINES, RUN_ROWS),
        (read_qrels_file, QRELS_LINES, QRELS_ROWS),
        (read_qrels_file, NTCIR_LINES, NTCIR_ROWS),
    ],
)
def test_every_spacing_gives_equal_tables(write, read, lines, rows):
    for spacing, (begin, compression) in product(SPACINGS, [(b"", "none"), (BOM, "none"), (BOM, "gzip")]):
        content = SPACINGS[spacing](lines)
        path = write(COMPRESSIONS[compression](begin + content))
        table = read(path)
        assert frame_of(table).rows() == rows, spacing
        assert places(table) == [f"{path}, line {line}" for line in expected_lines(content)]


@pytest.mark.parametrize("name", ["run.txt", "run.gz", "run.zst", "run.xz"])
def test_every_compression_gives_equal_tables_under_any_name(write, name):
    for compress in COMPRESSIONS.values():
        assert frame_of(read_run_file(write(compress(BOM + joined(RUN_LINES)), name))).rows() == RUN_ROWS


@pytest.mark.slow
@pytest.mark.parametrize("format", [None, "trec"])
def test_a_file_without_lines_gives_an_empty_frame(write, format):
    contents = [b"", b"\n", b"\r\n", b" \t\n\n", BOM, BOM + b"\n", b" "]
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    for content, compress in product(contents, COMPRESSIONS.values()):
        path = write(compress(content))
        run = frame_of(read_run_file(path, format))
        assert (run.height, run.schema) == (0, schema)
        qrels = frame_of(read_qrels_file(path, format))
        assert (qrels.height, qrels.columns) == (0, ["query_id", "doc_id", "relevance"])


# ------------------------------------------------------------------------------ characters of an id


# The last are the first bytes of a zlib stream, of bzip2, and of an address.
ODD_IDS = [
    *("\0", "a\0b", '"', '"a', "'", "#q", ",", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "NULL"),
    *("x^", "x\x01", "x\u069c", "x\u0686", "BZh9", "/data", "file:///a", "*", "a?b"),
]


@pytest.mark.slow
def test_any_other_character_belongs_to_the_id(write):
    for text in ODD_IDS:
        content = f"{text} Q0 {text} 1 2 {text}\n{text} {text} {text} {text} 3 {text}\n"
        for data in (content, content.replace(" ", "\t")):
            frame = frame_of(read_run_file(write(data)))
            assert frame.rows() == [(text, text, 2.0), (text, text, 3.0)]


@pytest.mark.parametrize("comment", [b"# pool depth 10", b"#", b" #\tx", b"# \xff"], ids=repr)
def test_comments_are_ignored(write, comment):
    for end in (b"\n", b"\r\n"):
        lines = [comment, b"1 0 d1 2", b"1 0 # 0", comment, b"#1 0 d2 1", comment]
        frame = frame_of(read_qrels_file(write(end.join(lines))))
        assert frame.rows() == [("1", "d1", 2.0), ("1", "#", 0.0), ("#1", "d2", 1.0)]


@pytest.mark.parametrize("end", ["\n", "\t\r\n", "\n\n# x\ty\n"], ids=repr)
def test_fields_between_tabs_may_hold_blanks(write, end):
    lines = ["maps\t0\td1\t2", "google maps\t0\td1\t0", "google maps\t\t0  \t d 2\t1"]
    frame = frame_of(read_qrels_file(write(end.join(["", *lines, ""]))))
    assert frame.rows() == [("maps", "d1", 2.0), ("google maps", "d1", 0.0), ("google maps", "d 2", 1.0)]
    frame = frame_of(read_run_file(write(end.join(["a b\tQ0\td 1\t1\t2.5\ta tag", ""]))))
    assert frame.rows() == [("a b", "d 1", 2.5)]
    frame = frame_of(read_qrels_file(write(end.join(["a b\td 1\t1", ""])), "ntcir-continuous"))
    assert frame.rows() == [("a b", "d 1", 1.0)]


@pytest.mark.parametrize(
    "lines", ["1 0 a\t1\n", "1\t0\ta\t1\t\n", "1 \t0 \ta\t\t1\n", "1 0\ta\t1\n1 0 b 1\n"], ids=repr
)
def test_white_space_separates_fields_that_tabs_alone_do_not(write, lines):
    assert frame_of(read_qrels_file(write(lines))).rows()[0] == ("1", "a", 1.0)


@pytest.mark.parametrize(
    ("read", "data", "format", "problem"),
    [
        (read_qrels_file, "google maps\t3665\t1\n", None, "line 1: level '1' is not L0, L1, .* between tabs"),
        (
            read_qrels_file,
            "google maps\t3665\t1\n",
            "trec",
            "line 1: expected 4 .* 3; .* between tabs",
        ),
        (read_run_file, "a b\td\t1\t2.5\tt\n", None, "line 1: expected a run .*, found 5; .* between tabs"),
        (read_qrels_file, "\n# x\na b\t0\td\t1\na b\t0\te\tx y\n", None, "line 4: level 'x y' is not a"),
    ],
)
def test_fields_between_tabs_must_be_those_of_the_format(write, read, data, format, problem):
    with pytest.raises(FileFormatError, match=problem):
        read(write(data), format)


def test_text_with_a_header_has_no_comments(write):
    header = "query_id\tdoc_id\trelevance\n"
    frame = frame_of(read_qrels_file(write(header + "# 1 hits\td1\t2\n")))
    assert frame.rows() == [("# 1 hits", "d1", 2.0)]
    for data, problem in (
        ("# made by hand\n" + header, "line 2: a header must be the first line; remove the lines before it"),
        (header + "# made by hand\n", "line 2: expected 3 fields as in the header, found 1"),
    ):
        with pytest.raises(FileFormatError, match=problem):
            read_qrels_file(write(data))


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
    """Return the number halfway between x and its neighbour as text, whole or cut to some digits."""
    neighbour = math.nextafter(x, 0.0)
    with localcontext() as context:
        context.prec = 1100
        between = (Decimal(x) + Decimal(neighbour)) / 2
        return str(between) if cut < 10 else f"{between:.{cut}e}"


@pytest.mark.slow
@given(st.lists(number_texts(), min_size=1, max_size=50))
def test_a_score_equals_float_of_its_text(texts):
    frame, _ = parse_block(joined(f"q Q0 d 1 {text} t" for text in texts), RUN, 1, "run.txt")
    assert bits(frame["score"].to_list()) == bits([float(text) for text in texts])


@pytest.mark.parametrize(
    "text", ["12", "1e5", "+1.5", "1.", ".5", "inf", "-inf", "iNfiNity", "1E+5", "00.10"]
)
def test_valid_numbers_are_read_as_scores(write, text):
    assert frame_of(read_run_file(write(f"q Q0 d 1 {text} t\n")))["score"].to_list() == [float(text)]


@pytest.mark.slow
def test_a_score_that_is_not_a_number_is_rejected(write):
    for text in NO_NUMBERS:
        for lines in ([f"q Q0 d 1 {text} t"], ["q Q0 d 1 1 t", f"q Q0 e 1 {text} t"]):
            path = write(joined(lines))
            with pytest.raises(FileFormatError) as caught:
                read_run_file(path)
            message = str(caught.value)
            assert message.startswith(f"{path}, line {len(lines)}: score {text!r} is not a number such as ")
            assert message.endswith(repr(lines[-1]))


@pytest.mark.slow
def test_a_level_that_is_not_finite_is_rejected(write):
    for text in (*NO_NUMBERS, "nan", "inf", "-Infinity", "1e400", "L1"):
        path = write(joined(["q 0 d 1", f"q 0 e {text}"]))
        with pytest.raises(FileFormatError, match=r"run\.txt, line 2: level .* is not a .*number such as 2"):
            read_qrels_file(path)


def test_an_ntcir_level_without_l_is_rejected(write):
    for text in ("2", "l2", "L", "L-1", "L1.5", "L+1", "LL1", "L1L", "L1_0", "L\u0661", "L" + "9" * 400):
        with pytest.raises(FileFormatError, match=r"run\.txt, line 2: level .* is not L0, L1, L2, ..."):
            read_qrels_file(write(joined(["q d L1", f"q e {text}"])))


def test_standard_input_and_pipes_are_not_named_by_a_number():
    found = named_runs(["-", "/dev/fd/63", "runs/bm25.run.gz"])
    runs = {name: run.path for name, run in found.items()}
    assert runs == {"-": "/dev/stdin", "/dev/fd/63": "/dev/fd/63", "bm25.run": "runs/bm25.run.gz"}


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_json_is_bounded_by_its_size(write, monkeypatch, compression):
    """It may be on one line."""
    data = BOM + b' {"1": {"a": 1, "b": 0}}'
    path = write(COMPRESSIONS[compression](data))
    monkeypatch.setattr(file_text, "_LONGEST_LINE", 5)
    monkeypatch.setattr(file_text, "_LARGEST_JSON", len(data))
    assert frame_of(read_qrels_file(path)).rows() == [("1", "a", 1.0), ("1", "b", 0.0)]
    assert [load() for load in file_text.text_pieces(str(path), 4)] == [data.removeprefix(BOM)]
    monkeypatch.setattr(file_text, "_LARGEST_JSON", len(data) - 1)
    with pytest.raises(FileFormatError, match=r"run\.txt: the JSON is larger than 0 MiB; write lines"):
        read_qrels_file(path)


def test_a_line_is_too_long_wherever_it_is_cut(monkeypatch):
    monkeypatch.setattr(file_text, "_LONGEST_LINE", 5)
    source = random.Random(1)  # noqa: S311
    outcomes = set()
    for _ in range(2000):
        lines = ["x" * source.choice([0, 1, 4, 5, 5, 6, 9]) for _ in range(source.randint(1, 5))]
        whole = "\n".join(lines).encode()
        cuts = sorted(source.randint(0, len(whole)) for _ in range(source.randint(0, 4)))
        blocks = [whole[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
        too_long = any(len(line) > 5 for line in lines)
        outcomes.add(too_long)
        with pytest.raises(FileFormatError) if too_long else nullcontext():
            assert b"".join(file_text._with_short_lines(blocks, "a.run")) == whole
    assert outcomes == {True, False}
