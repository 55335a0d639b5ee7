"""Random files, whole and damaged, compared with a plain Python reader."""

import math
import re
from operator import attrgetter

import pytest
from hypothesis import example, given, strategies as st

from ir_graded.errors import FileFormatError
from ir_graded.io import lines as line_parser, lines as white
from ir_graded.io.files import named

from .file_cases import BOM, FIXED, bits, parse_block

#: Any ranks are read by name; the positions of ``colbert`` change scores.
PLAIN = [
    one if one.review is None or one.kind == "qrels" else one.named(3)
    for one in FIXED
    if one.name != "colbert"
]

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.slow]

# ------------------------------------------------------------------------------ plain reader


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)


LETTERS = {"S": "3", "A": "2", "B": "1", "C": "0"}


def split_lines(content, width):
    """Return the number of each line that is no comment, the line, and its fields."""
    lines = [(at, raw.removesuffix(b"\r"), raw.split()) for at, raw in enumerate(content.split(b"\n"), 1)]
    lines = [(at, line, fields) for at, line, fields in lines if fields[:1] != [b"#"]]
    parts = [[part.strip() for part in line.split(b"\t") if part.strip()] for _, line, _ in lines]
    by_tabs = {len(fields) for fields in parts if fields} == {width}
    if by_tabs and any(len(fields) > width for _, _, fields in lines):
        lines = [(at, line, fields) for (at, line, _), fields in zip(lines, parts, strict=True)]
    return lines


def plain_reader(content, format):  # noqa: C901, PLR0911, PLR0912  # the formats, in one plain piece
    """Return rows and their line numbers, or the number of the first wrong line."""
    rows, numbers, marks, doubtful = [], [], [], []
    content = content.removeprefix(BOM)
    if BOM in content:
        return content[: content.index(BOM)].count(b"\n") + 1
    for number, line, raw_fields in split_lines(content, format.width):
        try:
            fields = [field.decode() for field in raw_fields]
        except UnicodeDecodeError:
            return number
        if b"\r" in line:
            return number
        if not fields:
            continue
        if len(fields) != format.width:
            return number
        text = fields[format.value]
        if format.letters:
            if text not in LETTERS:
                return number
            text = LETTERS[text]
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
        if format.letters:
            marks.append((fields[format.value] + fields[3], number))
        elif format.review is not None and fields[1] in LETTERS:
            doubtful.append(number)
        rows.append(
            (
                fields[format.places["query_id"]],
                fields[format.places["doc_id"]],
                float(text),
                *map(int, extra),
            )
        )
        numbers.append(number)
    # The first B decides which of the two kinds of files it is.
    marks_of_b = [mark for mark, _ in marks if mark[0] == "B"]
    allowed = {"S1", "A1", "C0", "B1" if marks_of_b[:1] == ["B1"] else "B0"}
    doubtful += [number for mark, number in marks if mark not in allowed]
    return doubtful[0] if doubtful else (rows, numbers)


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
    "letters": st.sampled_from("SABC"),
}


@st.composite
def between_tabs(draw, format):
    """Draw lines whose ids hold blanks."""
    parts = []
    for _ in range(draw(st.integers(1, 5))):
        fields = [" ".join(draw(st.lists(IDS, min_size=1, max_size=3))) for _ in range(format.width)]
        fields[format.value] = draw(VALUES["letters" if format.letters else format.prefix])
        if format.letters:
            fields[3] = "1" if fields[format.value] in "SA" else "0"
        for _, position in format.extra:
            fields[position] = str(draw(st.integers(-(2**63), 2**63 - 1)))
        gap = st.sampled_from(["\t", "\t", " \t", "\t\t"])
        parts += [*(field + draw(gap) for field in fields[:-1]), fields[-1], draw(ENDS)]
    return "".join(parts).encode()


@st.composite
def well_formed(draw, format):
    plain = draw(st.booleans())
    relevant = draw(st.sampled_from(["SA", "SAB"]))
    parts = []
    for _ in range(draw(st.integers(0, 8))):
        fields = [draw(IDS) for _ in range(format.width)]
        fields[format.value] = draw(VALUES["letters" if format.letters else format.prefix])
        if format.letters:
            fields[3] = "1" if fields[format.value] in relevant else "0"
        for _, position in format.extra:
            fields[position] = str(draw(st.integers(-(2**63), 2**63 - 1)))
        parts.append("" if plain else draw(EDGES))
        for field in fields[:-1]:
            parts += [field, " " if plain else draw(GAPS)]
        parts += [fields[-1], "\n" if plain else draw(ENDS)]
    content = "".join(parts).encode()
    return content[: len(content) - draw(st.integers(0, 1))]


@pytest.mark.parametrize("format", PLAIN, ids=attrgetter("title"))
def test_files_are_read_like_the_plain_reader(format):
    @given(st.one_of(well_formed(format), between_tabs(format)), BLOCKS)
    def check(content, block):
        same_as_plain(content, format, block)

    check()


@pytest.mark.parametrize("format", PLAIN, ids=attrgetter("title"))
def test_damaged_files_are_rejected_like_the_plain_reader(format):
    damage = st.sampled_from(
        [b" ", b"  ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xc3", BOM, b"_", b"x", b"a b", b""]
    )

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
    "q", "Q0", "1", "2.5", "L1", "A", "B", "nan", "é", "\0", "#", '"', *(" " * 8), " ", "  ", "\t", "\n",
    "\n", "\r\n", "\r", "\f",
]  # fmt: skip


@given(st.lists(st.sampled_from(SCRAPS), max_size=40), BLOCKS, st.sampled_from(PLAIN))
@example(["q", " ", "Q0", " ", "1", " ", "1"], 1, named("qrels", "trec"))
def test_fragments_are_read_like_the_plain_reader(scraps, block, format):
    same_as_plain("".join(scraps).encode(), format, block)
