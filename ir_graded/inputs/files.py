"""Run and qrels files as tables.

A file goes through polars' parallel CSV parser. That parser checks the number of fields on the first
line only and takes every single blank for a separator, so a second blank would silently shift columns.
Therefore nothing is parsed before :func:`_survey` found one blank between fields and no other white
space, and nothing is returned unless the blanks and the last field add up to lines of the right width.
Any other spacing is first brought into that form. Python looks at single lines only to report an error.
"""

from __future__ import annotations

import codecs
import io
import lzma
import math
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from ..errors import FileFormatError
from .formats import VALUE_NAMES, Format, Kind, VaryingFormat, named, recognise, shortened

LineNumbers = npt.NDArray[np.int64]
_Bytes = npt.NDArray[np.uint8]
_Mask = npt.NDArray[np.bool_]

#: Bytes looked at together: small enough for the temporary arrays to stay in the processor's cache.
_BLOCK = 1 << 18
_PIECE = 1 << 20

_TAB, _NEWLINE, _RETURN, _BLANK = b"\t\n\r "
#: White space as C's isspace() has it, which is also what bytes.split() takes.
_TO_BLANKS = bytes.maketrans(b"\t\v\f", b"   ")

#: A frame, or the skippable frame that parallel compressors put in front.
_ZSTANDARD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")

#: What polars reads as a float; float() reads more, such as 1_000.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
#: Python's int() stops at 4,300 digits.
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")


@dataclass(frozen=True, eq=False)
class FileTable:
    """The rows of one file, with the way back to its lines.

    Attributes:
        frame: one row per line that is not blank, in the order of the file.
        path: the file.
        lines: the line number of each row; None when row i is line i + 1.
    """

    frame: pl.DataFrame
    path: str
    lines: LineNumbers | None = None

    def place(self, row: int) -> str:
        """Say where a row (from 0) stands, for example ``run.txt, line 17``."""
        if not 0 <= row < self.frame.height:
            raise IndexError(f"row {row} of a table of {self.frame.height} rows")
        return f"{self.path}, line {row + 1 if self.lines is None else int(self.lines[row])}"


def read_run_file(path: str | os.PathLike[str], format: str | None = None) -> FileTable:
    """Read a run file, compressed or not.

    Args:
        path: the file: text in UTF-8, or that in gzip, zstandard or xz (told by its first bytes).
        format: the name of a format; None to tell it by the number of fields of the first line.

    Returns:
        A table with the columns query_id, doc_id (String) and score (Float64).

    Raises:
        FileFormatError: the file or a line of it cannot be read.
        OSError: the file cannot be opened.
    """
    return _read(path, "run", format)


def read_qrels_file(path: str | os.PathLike[str], format: str | None = None) -> FileTable:
    """Read a qrels file, compressed or not.

    Args:
        path: the file: text in UTF-8, or that in gzip, zstandard or xz (told by its first bytes).
        format: the name of a format; None to tell it by the number of fields of the first line.

    Returns:
        A table with the columns query_id, doc_id (String) and relevance (Float64).

    Raises:
        FileFormatError: the file or a line of it cannot be read.
        OSError: the file cannot be opened.
    """
    return _read(path, "qrels", format)


def parse_block(
    data: bytes, format: Format, first_line: int, path: str
) -> tuple[pl.DataFrame, LineNumbers | None]:
    """Parse whole lines of a file, without a byte-order mark; only the last newline may be missing.

    Args:
        data: the lines.
        format: their format.
        first_line: the line number of the first one.
        path: the file, for messages.

    Returns:
        The rows, and the line number of each, or None when row i is line first_line + i.

    Raises:
        FileFormatError: a line cannot be read; the message names the first such line.
    """
    frame, lines = _rows(data, format, first_line)
    if frame is None:
        _raise_first_error(data, format, first_line, path)
    return frame, lines


def _read(path: str | os.PathLike[str], kind: Kind, name: str | None) -> FileTable:
    chosen = None if name is None else named(kind, name)
    where = os.fspath(path)
    data = _content(where)
    if chosen is None:
        chosen = _recognised(data, kind, where)
    if chosen is None:
        return FileTable(_empty(kind), where)
    if isinstance(chosen, VaryingFormat):
        return FileTable(*_line_by_line(data, chosen, where))
    frame, lines = parse_block(data, chosen, 1, where)
    return FileTable(_by_order(frame) if chosen.by_order else frame, where, lines)


def _by_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Scores that say what the order of the lines says: the negated position within the topic."""
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("query_id")
    return frame.with_columns((-position).cast(pl.Float64).alias("score"))


def _line_by_line(data: bytes, format: VaryingFormat, path: str) -> tuple[pl.DataFrame, str, LineNumbers]:
    """Parse a file whose lines hold any number of passages."""
    rows: list[tuple[str, str, float, int, int]] = []
    lines: list[int] = []
    for line, raw in enumerate(io.BytesIO(data), 1):
        # What is not UTF-8 may stand in a field that is not read, but not in an id.
        fields = [field.decode(errors="surrogateescape") for field in raw.split()]
        if not fields:
            continue
        try:
            found = format.rows(fields, raw.decode(errors="surrogateescape"))
            "".join(part for row in found for part in row[:2]).encode()
        except UnicodeEncodeError:
            problem = "a topic or document is not UTF-8; the file must be text in UTF-8"
            raise _error(path, line, problem, raw) from None
        except ValueError as error:
            raise _error(path, line, f"expected {format.expected}: {error}", raw) from None
        rows += found
        lines += [line] * len(found)
    extra = (("start", 3), ("length", 4))
    try:
        frame = pl.DataFrame(rows, schema=_empty(format.kind, extra).schema, orient="row")
    except (OverflowError, pl.exceptions.PolarsError):
        raise FileFormatError(f"{path}: a start or length is beyond 64 bits") from None
    return frame, path, np.array(lines, dtype=np.int64)


def _empty(kind: Kind, extra: tuple[tuple[str, int], ...] = ()) -> pl.DataFrame:
    types: dict[str, pl.DataType] = {"query_id": pl.String(), "doc_id": pl.String()}
    types[VALUE_NAMES[kind]] = pl.Float64()
    types.update({name: pl.Int64() for name, _ in extra})
    return pl.DataFrame(schema=types)


def _recognised(data: bytes, kind: Kind, path: str) -> Format | VaryingFormat | None:
    """Tell the format by the first line that is not blank; None if there is no such line."""
    for line, raw in enumerate(io.BytesIO(data), 1):
        fields = _fields(raw, line, path)
        if fields:
            return recognise(kind, fields, path, line, raw.decode())
    return None


# ---------------------------------------------------------------------------------- bytes of a file


class _Decompressor(Protocol):
    """What the decompressors of zlib, lzma and zstandard have in common; one reads one member."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _Codec(NamedTuple):
    """A compression: how to start on a member, and the error of one that is corrupt."""

    name: str
    start: Callable[[], _Decompressor]
    error: type[Exception]


def _content(path: str) -> bytes:
    """Return the text of a file, decompressed, without a byte-order mark."""
    data = Path(path).read_bytes()
    codec = _codec(data, path)
    if codec is not None:
        data = _decompressed(data, codec, path)
    return data.removeprefix(codecs.BOM_UTF8)


def _codec(data: bytes, path: str) -> _Codec | None:
    if data.startswith(b"\x1f\x8b"):
        return _Codec("gzip", lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), zlib.error)
    if data.startswith(b"\xfd7zXZ\0"):
        return _Codec("xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), lzma.LZMAError)
    if _ZSTANDARD.match(data):
        return _zstandard(path)
    return None


def _zstandard(path: str) -> _Codec:
    try:
        import zstandard
    except ImportError as error:
        raise FileFormatError(
            f"{path}: compressed with zstandard; install the package 'zstandard' to read it"
        ) from error
    return _Codec("zstandard", lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


def _decompressed(data: bytes, codec: _Codec, path: str) -> bytes:
    """Decompress all members of a file; null bytes after a member are padding."""
    whole = io.BytesIO()
    member = codec.start()
    try:
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            while piece:
                if member.eof:
                    piece = piece.lstrip(b"\0")
                    if not piece:
                        break
                    member = codec.start()
                whole.write(member.decompress(piece))
                piece = member.unused_data if member.eof else b""
    except codec.error as error:
        raise FileFormatError(f"{path}: corrupt {codec.name} data ({error})") from error
    if not member.eof:
        raise FileFormatError(f"{path}: truncated {codec.name} data")
    return whole.getvalue()


# ------------------------------------------------------------------------------------ bytes to rows


def _rows(data: bytes, format: Format, first_line: int) -> tuple[pl.DataFrame | None, LineNumbers | None]:
    """Do the work of :func:`parse_block`, but return no frame where a line is wrong."""
    text, lines, survey = data, None, _survey(data)
    if survey is None:
        text, lines = _normalised(data, first_line)
        survey = _survey(text)
    return None if survey is None else _parsed(text, survey, format), lines


class _Survey(NamedTuple):
    """What a text in the parser's form holds."""

    blanks: int
    lines: int


def _survey(data: bytes) -> _Survey | None:
    """Count blanks and lines of a text whose fields stand between single blanks and newlines.

    Returns:
        The counts; None if the text has other white space, two next to each other, or one that
        opens the text, or a blank that ends it.
    """
    values = np.frombuffer(data, np.uint8)
    blanks = newlines = 0
    before = True
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK]
        blank = block == _BLANK
        # The five characters \t \n \v \f \r; the difference wraps around below \t.
        control = (block - np.uint8(_TAB)) <= _RETURN - _TAB
        found = int(np.count_nonzero(block == _NEWLINE))
        white = blank | control
        doubled = (before and white[0]) or (white[1:] & white[:-1]).any()
        if doubled or np.count_nonzero(control) != found:
            return None
        before = bool(white[-1])
        blanks += int(np.count_nonzero(blank))
        newlines += found
    if data.endswith(b" "):
        return None
    return _Survey(blanks, newlines + (not data.endswith(b"\n") and bool(data)))


def _normalised(data: bytes, first_line: int) -> tuple[bytes, LineNumbers | None]:
    """Bring any spacing into the parser's form; a carriage return inside a line stays.

    Returns:
        The text, and the line number of each of its lines, or None if no line was dropped.
    """
    texts: list[bytes] = []
    numbers: list[LineNumbers] = []
    total = 0
    for block in _whole_lines(data, _BLOCK):
        text, kept, count = _normalised_lines(block)
        texts.append(text)
        numbers.append(kept + (first_line + total))
        total += count
    lines = np.concatenate(numbers) if numbers else None
    return b"".join(texts), None if lines is None or lines.size == total else lines


def _whole_lines(data: bytes, size: int) -> Iterator[bytes]:
    """Cut a text after newlines; supply the last newline if it is missing."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1
        if end:
            yield data[start:end]
        else:
            rest = data[start:]
            yield rest if rest.endswith(b"\n") else rest + b"\n"
            return
        start = end


def _normalised_lines(block: bytes) -> tuple[bytes, LineNumbers, int]:
    """Normalise lines that all end in a newline; return the text, the lines kept and their number."""
    values = np.frombuffer(block.replace(b"\r\n", b"\n").translate(_TO_BLANKS), np.uint8)
    values = _without(values, _blanks_before_white(values))
    newline = values == _NEWLINE
    opens_line = np.empty(values.size, np.bool_)
    opens_line[0] = True
    opens_line[1:] = newline[:-1]
    empty = opens_line & newline
    count = int(np.count_nonzero(newline))
    kept = np.flatnonzero(~empty[newline]) if empty.any() else np.arange(count, dtype=np.int64)
    values = _without(values, empty | (opens_line & (values == _BLANK)))
    return values.tobytes(), kept, count


def _blanks_before_white(values: _Bytes) -> _Mask:
    """Mark all blanks of a run but the last, and that one too at the end of a line."""
    blank = values == _BLANK
    mark = np.zeros(values.size, np.bool_)
    np.logical_and(blank[:-1], blank[1:] | (values[1:] == _NEWLINE), out=mark[:-1])
    return mark


def _without(values: _Bytes, mark: _Mask) -> _Bytes:
    return values[~mark] if mark.any() else values


def _parsed(text: bytes, survey: _Survey, format: Format) -> pl.DataFrame | None:
    """Parse a surveyed text; None if a line of it is wrong.

    A line that is too short lacks its last field. Where none is, a line that is too long makes the
    blanks too many. That the whole text is UTF-8, polars checks itself.
    """
    if survey.blanks != (format.width - 1) * survey.lines:
        return None
    if not survey.lines:
        return _empty(format.kind, format.extra)
    if text.startswith((codecs.BOM_UTF8, b"x")):
        # polars drops one byte-order mark, and takes an "x^" at the beginning for zlib data.
        text = codecs.BOM_UTF8 + text
    value = f"f{format.value}"
    types: dict[str, pl.DataType] = {f"f{i}": pl.String() for i in range(format.width)}
    if not (format.prefix or format.by_order):
        types[value] = pl.Float64()
    types.update({f"f{position}": pl.Int64() for _, position in format.extra})
    last = f"f{format.width - 1}"
    try:
        lines = pl.scan_csv(text, has_header=False, separator=" ", quote_char=None, schema=types)
        frame = lines.select(
            pl.col(f"f{format.query_id}").alias("query_id"),
            pl.col(f"f{format.doc_id}").alias("doc_id"),
            pl.col(value).alias(format.value_name),
            *(pl.col(f"f{position}").alias(name) for name, position in format.extra),
            pl.col(last).is_null().alias("(short)"),
        ).collect()
    except pl.exceptions.PolarsError:
        return None
    if frame.height != survey.lines or frame["(short)"].any() or any(one.null_count() for one in frame):
        return None
    frame = frame.drop("(short)")
    return frame if format.kind == "run" else _with_levels(frame, format)


def _with_levels(frame: pl.DataFrame, format: Format) -> pl.DataFrame | None:
    """Turn the level's text into a number where it has a prefix; None if a level is no finite number."""
    name = format.value_name
    if format.prefix:
        texts = frame[name]
        if not texts.str.contains(f"^{re.escape(format.prefix)}[0-9]+$").all():
            return None
        frame = frame.with_columns(texts.str.strip_prefix(format.prefix).cast(pl.Float64))
    return frame if frame[name].is_finite().all() else None


# ------------------------------------------------------------------------------------------- errors


def _raise_first_error(data: bytes, format: Format, first_line: int, path: str) -> NoReturn:
    for block in _whole_lines(data, _PIECE):
        if _rows(block, format, first_line)[0] is None:
            _check_lines(block, format, first_line, path)
        first_line += block.count(b"\n")
    raise FileFormatError(f"{path}: cannot be read as a {format.title} file")


def _check_lines(block: bytes, format: Format, first_line: int, path: str) -> None:
    for line, raw in enumerate(io.BytesIO(block), first_line):
        fields = _fields(raw, line, path)
        problem = _problem(fields, format) if fields else None
        if problem:
            raise _error(path, line, problem, raw)


def _fields(raw: bytes, line: int, path: str) -> list[str]:
    """Split one line, with its newline, as the plain definition of the formats has it."""
    body = raw.removesuffix(b"\n").removesuffix(b"\r")
    if b"\r" in body:
        raise _error(path, line, "a carriage return inside the line; a line ends in \\n or \\r\\n", raw)
    try:
        return [field.decode() for field in body.split()]
    except UnicodeDecodeError as error:
        problem = f"byte 0x{error.object[error.start]:02x} is not UTF-8; the file must be text in UTF-8"
        raise _error(path, line, problem, raw) from None


def _problem(fields: list[str], format: Format) -> str | None:
    """Say what is wrong with a line's fields and what would be right; None if nothing is."""
    if len(fields) != format.width:
        return f"expected {format.expected}, found {len(fields)}"
    text = fields[format.value]
    problem = None
    if not format.by_order:
        problem = _level_problem(text, format.prefix) if format.kind == "qrels" else _score_problem(text)
    return problem or _extra_problem(fields, format)


def _score_problem(text: str) -> str | None:
    if _NUMBER.fullmatch(text):
        return None
    return f"score {shortened(text, 40)} is not a number such as 2, -0.5 or 1e-3"


def _level_problem(text: str, prefix: str) -> str | None:
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


def _error(path: str, line: int, problem: str, raw: bytes) -> FileFormatError:
    shown = shortened(raw.removesuffix(b"\n").removesuffix(b"\r")[:400].decode(errors="replace"))
    return FileFormatError(f"{path}, line {line}: {problem}: {shown}")
