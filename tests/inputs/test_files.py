"""Files of lines: formats, spacing, compression, characters, numbers, and errors with their lines."""

import io
import math
import random
import re
import tarfile
from contextlib import nullcontext
from decimal import Decimal, localcontext
from functools import partial
from itertools import product
from operator import attrgetter

import pytest
from hypothesis import given, strategies as st
from packed import gzipped

import ir_graded
from ir_graded import read_qrels, read_run
from ir_graded.errors import FileFormatError, GradedError, InputError, ParameterError
from ir_graded.io import lines as line_parser, text as file_text
from ir_graded.io.files import named
from ir_graded.io.formats import recognise
from ir_graded.io.sources import named_runs

from .file_cases import (
    BOM,
    COMPRESSIONS,
    FIXED,
    NO_NUMBERS,
    NTCIR_LINES,
    NTCIR_ROWS,
    QRELS_LINES,
    QRELS_ROWS,
    RUN_LINES,
    RUN_ROWS,
    SPACINGS,
    bits,
    expected_lines,
    joined,
    rows_of,
)

pytestmark = pytest.mark.filterwarnings("error")


# ------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("format", FIXED, ids=attrgetter("title"))
def test_a_format_describes_its_own_line(format):
    fields = format.layout.split()
    assert len(fields) == format.width
    assert fields[format.places["query_id"]] == "topic"
    assert fields[format.places["doc_id"]] in ("doc", "file", "pmid")
    assert fields[format.value] in ("score", "rank", "level", "L<level>", "<level>", "S|A|B|C", "rsv")
    assert [fields[at].replace("rank", "position") for _, at in format.extra] == [*dict(format.extra)]
    assert named(format.kind, format.name) is format
    if format.only_named:
        return
    # These are whole numbers in the first line.
    whole = {"msmarco": (2,), "colbert": (2,), "genomics": (2, 4, 5)}.get(format.name, ())
    line = ["7" if position in whole else "x" for position in range(format.width)]
    if format.letters:
        line[format.value], line[-1] = "A", "1"
    else:
        line[format.value] = f"{format.prefix}2"
    assert recognise(format.kind, line, "file.txt") is format
    for position in whole:
        with pytest.raises(FileFormatError, match="expected a run line"):
            recognise(format.kind, [*line[:position], "a", *line[position + 1 :]], "file.txt")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "q1 d1",
            "expected a qrels line of 4 fields (TREC qrels: topic iteration doc level) or 3 fields (NTCIR",
        ),
        ("1,0,a,2", "the fields are separated by commas; separate them by blanks or tabs, or add a header"),
        (
            "1;d;L2",
            "the fields are separated by semicolons; separate them by blanks or tabs",
        ),
        ("1 0 a", "looks like TREC qrels (topic iteration doc level) without the level"),
        (
            "query_id,doc_id,level",
            "if this is a header, the table has no column relevance; it has",
        ),
    ],
)
def test_frequent_mistakes_get_frequent_forms(write, line, problem):
    path = write(f"\n \n{line}\n")
    with pytest.raises(FileFormatError, match=re.escape(f"{path}, line 3: {problem}")):
        read_qrels(path)


def test_a_named_format_is_enforced(write):
    path = write(joined(NTCIR_LINES))
    assert rows_of(read_qrels(path, format="ntcir")) == NTCIR_ROWS
    with pytest.raises(FileFormatError, match=r"line 1: expected 4 fields \(TREC qrels: .*\), found 3"):
        read_qrels(path, format="trec")
    with pytest.raises(FileFormatError, match=r"line 1: expected 3 fields \(NTCIR qrels: .*\), found 4"):
        read_qrels(write(joined(QRELS_LINES)), format="ntcir")


@pytest.mark.parametrize(
    ("read", "kind", "name"),
    [(read_run, "run", "ntcir"), (read_qrels, "qrels", "TREC"), (read_qrels, "qrels", "csv")],
)
def test_an_unknown_format_is_rejected_before_the_file_is_opened(read, kind, name, tmp_path):
    with pytest.raises(ParameterError, match=f"unknown format '{name}' of a {kind} file; known: .*'trec'"):
        read(tmp_path / "none.txt", format=name)


INEX = "1 Q0 a 1 9 t 10 +5\n1 Q0 b 2 8 t 0 {}\n"


def test_columns_of_whole_numbers_are_read(write):
    for data in (INEX, INEX.replace(" ", "  ").replace("\n", "\r\n")):
        frame = read_run(write(data.format("007")))
        assert frame[["start", "length"]].to_numpy().tolist() == [[10, 5], [0, 7]]


@pytest.mark.parametrize("text", ["1.0", "1e3", "x", "1_0", "9223372036854775808", "9" * 5000])
def test_a_column_of_whole_numbers_rejects_other_values(write, text):
    with pytest.raises(
        FileFormatError, match=r"run\.txt, line 2: (length '.*' is not a whole number|expected)"
    ):
        read_run(write(INEX.format(text)))


# ------------------------------------------------------------------------------ spacing, compression


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "lines", "rows"),
    [
        (read_run, RUN_LINES, RUN_ROWS),
        (read_qrels, QRELS_LINES, QRELS_ROWS),
        (read_qrels, NTCIR_LINES, NTCIR_ROWS),
    ],
)
def test_every_spacing_gives_equal_rows(write, read, lines, rows):
    for spacing, (begin, compression) in product(SPACINGS, [(b"", "none"), (BOM, "none"), (BOM, "gzip")]):
        path = write(COMPRESSIONS[compression](begin + SPACINGS[spacing](lines)))
        assert rows_of(read(path)) == rows, spacing


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("begin", [b"", BOM])
def test_a_repeated_line_is_named_in_every_spacing(write, begin, compression):
    """Each row has the number of its line."""
    qrels = {topic: {"x": 1} for topic, *_ in RUN_ROWS}
    for spacing, repeated in product(SPACINGS, range(len(RUN_LINES))):
        content = SPACINGS[spacing]([*RUN_LINES, RUN_LINES[repeated]])
        path = write(COMPRESSIONS[compression](begin + content))
        numbers = expected_lines(content)
        places = f"at {path}, line {numbers[repeated]} and at {path}, line {numbers[-1]};"
        with pytest.raises(InputError, match=re.escape(places)):
            ir_graded.evaluate("Q", qrels, path)


@pytest.mark.parametrize("name", ["run.txt", "run.gz", "run.zst", "run.xz", "run.bz2"])
def test_every_compression_gives_equal_rows_under_any_name(write, name):
    for compress in COMPRESSIONS.values():
        assert rows_of(read_run(write(compress(BOM + joined(RUN_LINES)), name))) == RUN_ROWS


@pytest.mark.parametrize("format", [None, "trec"])
def test_a_file_without_lines_gives_an_empty_frame(write, format):
    lines = {read_run: b"1 Q0 a 1 2.0 t", read_qrels: b"1 0 a 1"}
    types = {read: read(write(line)).dtypes.to_dict() for read, line in lines.items()}
    contents = [b"", b"\n", b"\r\n", b" \t\n\n", BOM, BOM + b"\n", b" "]
    for content, compress in product(contents, COMPRESSIONS.values()):
        path = write(compress(content))
        run, qrels = read_run(path, format=format), read_qrels(path, format=format)
        assert (len(run), [*run]) == (0, ["query_id", "doc_id", "score"])
        assert (len(qrels), [*qrels]) == (0, ["query_id", "doc_id", "relevance"])
        assert [run.dtypes.to_dict(), qrels.dtypes.to_dict()] == [*types.values()]


@pytest.mark.parametrize("compression", [one for one in COMPRESSIONS if one not in ("none", "gzip, padded")])
def test_truncated_compressed_data_is_rejected(write, compression):
    data = COMPRESSIONS[compression](joined(f"q{i} Q0 d{i * i} 1 {i / 7} t" for i in range(500)))
    for end in (8, len(data) // 3, len(data) - 1):
        path = write(data[:end], "run.gz")
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: (truncated|corrupt) "):
            read_run(path)


@pytest.mark.parametrize(
    ("compression", "name"),
    [("gzip", "gzip"), ("zstandard, size unknown", "zstandard"), ("xz", "xz"), ("bzip2", "bzip2")],
)
def test_corrupt_compressed_data_is_rejected(write, compression, name):
    whole = COMPRESSIONS[compression](joined(f"q{i} Q0 d{i * i} 1 {i / 7} t" for i in range(500)))
    half = len(whole) // 2
    for data in (whole[:half] + bytes([whole[half] ^ 0x55]) + whole[half + 1 :], whole + b"something else"):
        path = write(data)
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: corrupt {name} data"):
            read_run(path)


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
            assert rows_of(read_run(write(data))) == [(text, text, 2.0), (text, text, 3.0)]


@pytest.mark.parametrize("comment", [b"# pool depth 10", b"#", b" #\tx", b"# \xff"], ids=repr)
def test_comments_are_ignored(write, comment):
    for end in (b"\n", b"\r\n"):
        lines = [comment, b"1 0 d1 2", b"1 0 # 0", comment, b"#1 0 d2 1", comment]
        found = rows_of(read_qrels(write(end.join(lines))))
        assert found == [("1", "d1", 2.0), ("1", "#", 0.0), ("#1", "d2", 1.0)]


@pytest.mark.parametrize("end", ["\n", "\t\r\n", "\n\n# x\ty\n"], ids=repr)
def test_fields_between_tabs_may_hold_blanks(write, end):
    lines = ["maps\t0\td1\t2", "google maps\t0\td1\t0", "google maps\t\t0  \t d 2\t1"]
    found = rows_of(read_qrels(write(end.join(["", *lines, ""]))))
    assert found == [("maps", "d1", 2.0), ("google maps", "d1", 0.0), ("google maps", "d 2", 1.0)]
    assert rows_of(read_run(write(end.join(["a b\tQ0\td 1\t1\t2.5\ta tag", ""])))) == [("a b", "d 1", 2.5)]
    path = write(end.join(["a b\td 1\t1", ""]))
    assert rows_of(read_qrels(path, format="ntcir-continuous")) == [("a b", "d 1", 1.0)]


@pytest.mark.parametrize(
    "lines", ["1 0 a\t1\n", "1\t0\ta\t1\t\n", "1 \t0 \ta\t\t1\n", "1 0\ta\t1\n1 0 b 1\n"], ids=repr
)
def test_white_space_separates_fields_that_tabs_alone_do_not(write, lines):
    assert rows_of(read_qrels(write(lines)))[0] == ("1", "a", 1.0)


def test_text_with_a_header_has_no_comments(write):
    header = "query_id\tdoc_id\trelevance\n"
    assert rows_of(read_qrels(write(header + "# 1 hits\td1\t2\n"))) == [("# 1 hits", "d1", 2.0)]


@pytest.mark.parametrize(("line", "byte"), [
    (b"q Q0 caf\xe9 1 2 t", "0xe9"),
    (b"q \xff d 1 2 t", "0xff"),
    (b"q Q0 d \xc3 2 t", "0xc3"),
    (b"q Q0 d 1 2 \xed\xa0\x80", "0xed"),
    (b"\xc0\x80 Q0 d 1 2 t", "0xc0"),
])  # fmt: skip
def test_text_that_is_not_utf8_is_rejected(write, line, byte, monkeypatch):
    for content in (joined(RUN_LINES) + line, joined(RUN_LINES, end="\r\n") + line + b"\r\n"):
        for piece in (1, 3, 1 << 20):
            monkeypatch.setattr(line_parser, "_PIECE", piece)
            path = write(content)
            problem = f"^{re.escape(str(path))}, line 6: byte {byte} is not UTF-8"
            with pytest.raises(FileFormatError, match=problem):
                read_run(path)


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
def test_a_score_equals_float_of_its_text(tmp_path_factory, texts):
    path = tmp_path_factory.getbasetemp() / "numbers.run"
    path.write_bytes(joined(f"q Q0 d 1 {text} t" for text in texts))
    assert bits(read_run(path)["score"].to_list()) == bits([float(text) for text in texts])


@pytest.mark.parametrize(
    "text", ["12", "1e5", "+1.5", "1.", ".5", "inf", "-inf", "iNfiNity", "1E+5", "00.10"]
)
def test_valid_numbers_are_read_as_scores(write, text):
    assert read_run(write(f"q Q0 d 1 {text} t\n"))["score"].to_list() == [float(text)]


@pytest.mark.slow
def test_a_score_that_is_not_a_number_is_rejected(write):
    for text in NO_NUMBERS:
        for lines in ([f"q Q0 d 1 {text} t"], ["q Q0 d 1 1 t", f"q Q0 e 1 {text} t"]):
            path = write(joined(lines))
            with pytest.raises(FileFormatError) as caught:
                read_run(path)
            message = str(caught.value)
            assert message.startswith(f"{path}, line {len(lines)}: score {text!r} is not a number such as ")
            assert message.endswith(repr(lines[-1]))


@pytest.mark.slow
def test_a_level_that_is_not_finite_is_rejected(write):
    for text in (*NO_NUMBERS, "nan", "inf", "-Infinity", "1e400", "L1"):
        path = write(joined(["q 0 d 1", f"q 0 e {text}"]))
        with pytest.raises(FileFormatError, match=r"run\.txt, line 2: level .* is not a .*number such as 2"):
            read_qrels(path)


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
                read_run(path)
            message = str(caught.value)
            assert message.startswith(f"{path}, line {number}: ")
            assert problem in message
            assert repr(line.removesuffix("\r")) in message


def test_a_double_blank_does_not_shift_columns(write):
    # A parser that splits at every blank reads the rank 1 as the score of d2.
    found = rows_of(read_run(write("q Q0 d1 1 9.5 t\nq  Q0 d2 1 8.5 t\n")))
    assert found == [("q", "d1", 9.5), ("q", "d2", 8.5)]
    # Nor does a double blank replace a missing field.
    with pytest.raises(FileFormatError, match=r"line 2: .* found 5"):
        read_run(write("q Q0 d1 1 9.5 t\nq  d2 1 8.5 t\n"))


def test_a_long_line_is_shortened_in_the_error(write):
    path = write("q Q0 d 1 2 t\n" + "x" * 100_000 + "\n")
    with pytest.raises(FileFormatError) as caught:
        read_run(path)
    assert len(str(caught.value)) < len(str(path)) + 250
    assert "xxx...'" in str(caught.value)


def test_errors_of_the_system_pass_through(tmp_path, write):
    with pytest.raises(FileNotFoundError) as caught:
        read_run(tmp_path / "none.txt", format="trec")
    assert caught.value.filename == str(tmp_path / "none.txt")
    with pytest.raises((IsADirectoryError, PermissionError)):
        read_qrels(tmp_path, format="trec")
    with pytest.raises(NotADirectoryError):
        read_qrels(write(b"") / "run.txt", format="trec")


def test_format_errors_are_value_errors(write):
    with pytest.raises(ValueError, match="line 1") as caught:
        read_run(write("q\n"))
    assert isinstance(caught.value, GradedError)
    assert isinstance(caught.value, InputError)


def test_lines_that_only_the_parser_rejects_raise_an_error(write, monkeypatch):
    monkeypatch.setattr(line_parser, "_parsed", lambda *_: None)
    with pytest.raises(FileFormatError, match=r"run\.txt: cannot be read as a TREC run file$"):
        read_run(write(joined(RUN_LINES)))


@pytest.mark.parametrize("level", ["9" * 25, "-1e300", "9223372036854775808"])
def test_levels_beyond_64_bits_keep_their_value(tmp_path, level):
    # They became the lowest 64-bit number.
    path = tmp_path / "qrels.txt"
    path.write_text(f"1 0 a {level}\n1 0 b 2\n")
    assert read_qrels(path)["relevance"].tolist() == [float(level), 2.0]


@pytest.mark.parametrize("format", [None, "trec"])
def test_a_file_compressed_twice_is_rejected(tmp_path, format):
    path = tmp_path / "run.gz"
    path.write_bytes(gzipped(gzipped(b"1 Q0 a 1 1.0 t\n")))
    with pytest.raises(FileFormatError, match="line 1: byte 0x8b is not UTF-8"):
        read_run(path, format=format)


# -------------------------------------------------------------------------------------- names, limits


def test_standard_input_and_pipes_are_not_named_by_a_number():
    paths = ["/dev/stdin", "/dev/fd/63", "runs/bm25.run.gz", "b.bz2"]
    runs = {name: run.path for name, run in named_runs(["-", *paths[1:]]).items()}
    assert runs == dict(zip(["-", "/dev/fd/63", "bm25.run", "b"], paths, strict=True))


def archive_of(data, mode="w"):
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode=mode) as archive:
        (entry := tarfile.TarInfo("a.run")).size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("pack", "problem"),
    [
        (archive_of, "a tar archive, .*unpack it"),
        (partial(archive_of, mode="w:gz"), r"a tar archive, such as \.tar or \.tar\.gz, .*unpack it"),
        (b"PK\x03\x04".__add__, "a zip archive, .*unpack it"),
        (b"\x04\x22\x4d\x18\x64\x40\xa7".__add__, "compressed with lz4, .*decompress it"),
    ],
    ids=["tar", "tar.gz", "zip", "lz4"],
)
def test_archives_and_other_compressions_are_named(write, pack, problem):
    for read in (read_qrels, read_run):
        with pytest.raises(FileFormatError, match=f"run.txt: {problem}"):
            read(write(pack(joined(RUN_LINES))))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_json_is_bounded_by_its_size(write, monkeypatch, compression):
    """It may be on one line."""
    data = BOM + b' {"1": {"a": 1, "b": 0}}'
    path = write(COMPRESSIONS[compression](data))
    monkeypatch.setattr(file_text, "_LONGEST_LINE", 5)
    monkeypatch.setattr(file_text, "_LARGEST_JSON", len(data))
    assert rows_of(read_qrels(path)) == [("1", "a", 1.0), ("1", "b", 0.0)]
    assert [load() for load in file_text.text_pieces(str(path), 4)] == [data.removeprefix(BOM)]
    monkeypatch.setattr(file_text, "_LARGEST_JSON", len(data) - 1)
    with pytest.raises(FileFormatError, match=r"run\.txt: the JSON is larger than 0 MiB; write lines"):
        read_qrels(path)


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
