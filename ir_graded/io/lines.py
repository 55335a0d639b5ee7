"""Parser of the lines of run and qrels files.

Lines are parsed by the CSV parser of Polars. It checks the number of fields on the first line only and treats
every blank as a separator, so a second blank would silently shift columns. Therefore text is parsed only if
:func:`~.spacing.count_white_space` finds no two adjacent white characters, and rows are returned only if the
number of white characters and the last fields match lines of the right width. Other spacing is normalised
first. Python parses single lines only to report an error.
"""

from __future__ import annotations

import codecs
import io
import math
import re
from collections.abc import Callable
from typing import NoReturn

import polars as pl

from ir_graded.errors import FileFormatError

from .doubts import LETTERS
from .formats import Format, Kind, shortened
from .spacing import (
    LineNumbers,
    count_white_space,
    count_white_space_exactly,
    has_letter_fields,
    normalise_spacing,
    split_after_newlines,
)
from .table import VALUE_COLUMNS

_PIECE = 1 << 20
#: White space that must be normalised first; usually visible at the beginning of the text.
_OTHER_WHITE = {b" ": re.compile(rb"[\t\v\f\r]|  "), b"\t": re.compile(rb"[ \v\f\r]|\t\t")}
_LOOK = 1 << 10
#: First bytes of a text that Polars mistakes for gzip, zstandard or zlib data.
_MISTAKEN = (b"x", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")

#: Column of the field that the review of a format checks.
_REVIEWED = "(reviewed)"

#: Floats that Polars accepts; float() accepts more, such as 1_000.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
#: Python's int() stops at 4,300 digits.
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")


def empty(kind: Kind, extra: tuple[tuple[str, int], ...] = ()) -> pl.DataFrame:
    """Return a table without rows."""
    types: dict[str, pl.DataType] = {"query_id": pl.String(), "doc_id": pl.String()}
    types[VALUE_COLUMNS[kind]] = pl.Float64()
    types.update({name: pl.Int64() for name, _ in extra})
    return pl.DataFrame(schema=types)


def check_byte_order_marks(data: bytes, lines_before: Callable[[], int], path: str) -> None:
    """Raise FileFormatError if a text contains a byte-order mark, as joined files do.

    The mark is invisible and would be read as part of an id.
    """
    # Searching for one byte is much faster, and few texts contain this byte.
    if codecs.BOM_UTF8[:1] in data and codecs.BOM_UTF8 in data:
        before = data.count(b"\n", 0, data.index(codecs.BOM_UTF8))
        problem = "a byte-order mark inside the file (are these several files joined?); remove it"
        raise line_error(path, lines_before() + before + 1, problem, data.split(b"\n", before + 1)[before])


def parse_lines(
    data: bytes, format: Format, path: str, lines_before: Callable[[], int] = int
) -> tuple[pl.DataFrame, LineNumbers | None]:
    """Return the rows of a file or of a piece of it, without a byte-order mark.

    Args:
        data: whole lines; only the last newline may be missing.
        format: the format of the lines.
        path: the file, for errors.
        lines_before: returns the number of lines before ``data``; called only for an error.

    Returns:
        A row per line that is not blank; and the line number of each row within ``data``, or None if row i is
        line i + 1.

    Raises:
        FileFormatError: a line cannot be read, or contradicts the format.
    """
    check_byte_order_marks(data, lines_before, path)
    frame, lines = _rows(data, format)
    if frame is None:
        _raise_first_error(data, format, lines_before() + 1, path)
    if format.review is not None and _REVIEWED in frame.columns:
        wrong = format.review.first_wrong(frame[_REVIEWED], frame[format.value_name])
        if wrong is not None:
            line = wrong + 1 if lines is None else int(lines[wrong])
            raw = data.split(b"\n", line)[line - 1]
            raise line_error(path, lines_before() + line, format.review.problem(raw.decode().split()), raw)
        frame = frame.drop(_REVIEWED)
    if format.by_order:
        # Scores that reproduce the order of the lines: the negated position within the topic.
        position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("query_id")
        frame = frame.with_columns((-position).cast(pl.Float64).alias("score"))
    return frame, lines


def _rows(data: bytes, format: Format) -> tuple[pl.DataFrame | None, LineNumbers | None]:
    """Parse whole lines of a file, without a byte-order mark; only the last newline may be missing.

    Returns:
        The rows, with the column ``_REVIEWED`` if the review of the format must check them, or None if a line
        cannot be read; and the line number of each row within ``data``, or None if row i is line i + 1.
    """
    for separator, others in _OTHER_WHITE.items():
        if not others.search(data, 0, _LOOK):
            frame = _parsed(data, count_white_space(data), format, separator)
            if frame is not None:
                return frame, None
    text, lines = normalise_spacing(data)
    return _parsed(text, count_white_space_exactly(text), format), lines


def _parsed(text: bytes, white: int | None, format: Format, separator: bytes = b" ") -> pl.DataFrame | None:
    """Parse a text with ``white`` separate white characters; return None if a line is wrong.

    A line that is too short lacks its last field. Otherwise, a line that is too long, or white space that is
    not the separator, makes the number of white characters too large. Polars checks that the text is UTF-8.
    """
    if white is None:
        return None
    if not text:
        return empty(format.kind, format.extra)
    if text.startswith(_MISTAKEN):
        # Polars drops one byte-order mark and then checks nothing else.
        text = codecs.BOM_UTF8 + text
    value = f"f{format.value}"
    types: dict[str, pl.DataType] = {f"f{i}": pl.String() for i in range(format.width)}
    if not (format.prefix or format.letters or format.by_order):
        types[value] = pl.Float64()
    types.update({f"f{position}": pl.Int64() for _, position in format.extra})
    last = f"f{format.width - 1}"
    review = []
    if format.review is not None and has_letter_fields(text):
        review = [pl.col(f"f{format.review.field}").alias(_REVIEWED)]
    try:
        lines = pl.scan_csv(
            text, has_header=False, separator=separator.decode(), quote_char=None, schema=types
        )
        frame = lines.select(
            pl.col(f"f{format.query_id}").alias("query_id"),
            pl.col(f"f{format.doc_id}").alias("doc_id"),
            pl.col(value).alias(format.value_name),
            *(pl.col(f"f{position}").alias(name) for name, position in format.extra),
            *review,
            pl.col(last).is_null().alias("(short)"),
        ).collect()
    except pl.exceptions.PolarsError:
        return None
    if (
        format.width * frame.height != white
        or frame["(short)"].any()
        or any(one.null_count() for one in frame)
    ):
        return None
    frame = frame.drop("(short)")
    return frame if format.kind == "run" else _with_levels(frame, format)


def _with_levels(frame: pl.DataFrame, format: Format) -> pl.DataFrame | None:
    """Convert levels that are text to numbers; return None if a level is not a finite number."""
    name = format.value_name
    if format.prefix:
        texts = frame[name]
        if not texts.str.contains(f"^{re.escape(format.prefix)}[0-9]+$").all():
            return None
        frame = frame.with_columns(texts.str.strip_prefix(format.prefix).cast(pl.Float64))
    if format.letters:
        if not frame[name].is_in(list(LETTERS)).all():
            return None
        frame = frame.with_columns(pl.col(name).replace_strict(LETTERS, return_dtype=pl.Float64))
    return frame if frame[name].is_finite().all() else None


# ------------------------------------------------------------------------------------------- errors


def _raise_first_error(data: bytes, format: Format, first_line: int, path: str) -> NoReturn:
    """Raise an error for the first line that cannot be read."""
    for block in split_after_newlines(data, _PIECE):
        if _rows(block, format)[0] is None:
            _check_lines(block, format, first_line, path)
        first_line += block.count(b"\n")
    raise FileFormatError(f"{path}: cannot be read as a {format.title} file")


def _check_lines(block: bytes, format: Format, first_line: int, path: str) -> None:
    for line, raw in enumerate(io.BytesIO(block), first_line):
        fields = fields_of(raw, line, path)
        problem = _problem(fields, format) if fields else None
        if problem:
            raise line_error(path, line, problem, raw)


def fields_of(raw: bytes, line: int, path: str) -> list[str]:
    """Split one line, with its newline, into fields."""
    body = raw.removesuffix(b"\n").removesuffix(b"\r")
    if b"\r" in body:
        raise line_error(path, line, "a carriage return inside the line; a line ends in \\n or \\r\\n", raw)
    try:
        return [field.decode() for field in body.split()]
    except UnicodeDecodeError as error:
        problem = f"byte 0x{error.object[error.start]:02x} is not UTF-8; the file must be text in UTF-8"
        raise line_error(path, line, problem, raw) from None


def _problem(fields: list[str], format: Format) -> str | None:
    """Return the problem of the fields of a line and the expected form, else None."""
    if len(fields) != format.width:
        return f"expected {format.expected}, found {len(fields)}"
    text = fields[format.value]
    problem = None
    if not format.by_order:
        problem = _level_problem(text, format) if format.kind == "qrels" else _score_problem(text)
    return problem or _extra_problem(fields, format)


def _score_problem(text: str) -> str | None:
    if _NUMBER.fullmatch(text):
        return None
    return f"score {shortened(text, 40)} is not a number such as 2, -0.5 or 1e-3"


def _level_problem(text: str, format: Format) -> str | None:
    if format.letters:
        wrong = f"the second field must be S, A, B or C, not {shortened(text, 40)}"
        return None if text in LETTERS else wrong
    prefix = format.prefix
    digits = text.removeprefix(prefix)
    if prefix:
        right = text.startswith(prefix) and re.fullmatch("[0-9]+", digits)
        wanted = f"{prefix}0, {prefix}1, {prefix}2, ..."
    else:
        right = _NUMBER.fullmatch(text)
        wanted = "a finite number such as 2 or -0.5"
    if right and math.isfinite(float(digits)):
        return None
    return f"level {shortened(text, 40)} is not {wanted}"


def _extra_problem(fields: list[str], format: Format) -> str | None:
    for name, position in format.extra:
        if not _INTEGER.fullmatch(fields[position]) or not -(2**63) <= int(fields[position]) < 2**63:
            return f"{name} {shortened(fields[position], 40)} is not a whole number of 64 bits such as 17"
    return None


def line_error(path: str, line: int, problem: str, raw: bytes) -> FileFormatError:
    """Return an error with the problem, the line and its position."""
    shown = shortened(raw.removesuffix(b"\n").removesuffix(b"\r")[:400].decode(errors="replace"))
    return FileFormatError(f"{path}, line {line}: {problem}: {shown}")
