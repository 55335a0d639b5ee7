"""Run and qrels files as tables: whole, or a run in pieces."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
import polars as pl

from ir_graded.errors import FileFormatError

from . import content
from .formats import Format, Kind, PassageRow, VaryingFormat, named, recognise
from .lines import REVIEWED, check_byte_order_marks, empty, fields_of, line_error, raise_first_error, rows
from .spacing import LineNumbers


@dataclass(frozen=True, eq=False)
class FileTable:
    """The rows of a file or of a piece of it, with the way back to its lines.

    Attributes:
        frame: one row per line that is not blank, in the order of the file.
        path: the file.
        lines: the line number of each row, counted within the piece; None when row i is line i + 1.
        lines_before: tells how many lines stand before the piece; asked only for an error.
    """

    frame: pl.DataFrame
    path: str
    lines: LineNumbers | None = None
    lines_before: Callable[[], int] = int

    def place(self, row: int) -> str:
        """Say where a row (from 0) stands, for example ``run.txt, line 17``."""
        if not 0 <= row < self.frame.height:
            raise IndexError(f"row {row} of a table of {self.frame.height} rows")
        line = row + 1 if self.lines is None else int(self.lines[row])
        return f"{self.path}, line {self.lines_before() + line}"


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


def _read(path: str | os.PathLike[str], kind: Kind, name: str | None) -> FileTable:
    chosen = None if name is None else named(kind, name)
    where = os.fspath(path)
    data = content.whole(where)
    if chosen is None:
        chosen = _recognised(data, kind, where)
    elif isinstance(chosen, Format):
        chosen = chosen.named(next((len(raw.split()) for raw in io.BytesIO(data) if raw.strip()), 0))
    if chosen is None:
        return FileTable(empty(kind), where)
    if isinstance(chosen, VaryingFormat):
        return FileTable(*_line_by_line(data, chosen, where))
    return _parsed(where, chosen, lambda: data)


def run_pieces(path: str | os.PathLike[str], size: int) -> Iterator[Callable[[], FileTable]]:
    """A run file in pieces of about ``size`` bytes, each of whole topics and parsed by whoever asks for it.

    Raises, as each piece does when it is parsed:
        FileFormatError: the file or a line of it cannot be read.
        OSError: the file cannot be read.
    """
    where = os.fspath(path)
    chosen = None
    for number, load in enumerate(content.pieces(where, size)):
        if chosen is None:
            chosen = _recognised(load(), "run", where)
            if chosen is None:
                continue
        # All run formats have lines of a fixed width.
        assert isinstance(chosen, Format)  # noqa: S101  # for the type checker
        yield partial(_parsed, where, chosen, load, partial(_lines_before, where, size, number))


def _lines_before(path: str, size: int, number: int) -> int:
    return sum(load().count(b"\n") for load in islice(content.pieces(path, size), number))


def _parsed(
    path: str, format: Format, load: content.Load, lines_before: Callable[[], int] = int
) -> FileTable:
    data = load()
    check_byte_order_marks(data, lines_before, path)
    frame, lines = rows(data, format)
    if frame is None:
        raise_first_error(data, format, lines_before() + 1, path)
    if format.review is not None and REVIEWED in frame.columns:
        wrong = format.review.first_wrong(frame[REVIEWED], frame[format.value_name])
        if wrong is not None:
            line = wrong + 1 if lines is None else int(lines[wrong])
            raw = data.split(b"\n", line)[line - 1]
            raise line_error(path, lines_before() + line, format.review.problem(raw.decode().split()), raw)
        frame = frame.drop(REVIEWED)
    return FileTable(_by_order(frame) if format.by_order else frame, path, lines, lines_before)


def _by_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Scores that say what the order of the lines says: the negated position within the topic."""
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("query_id")
    return frame.with_columns((-position).cast(pl.Float64).alias("score"))


def _line_by_line(data: bytes, format: VaryingFormat, path: str) -> tuple[pl.DataFrame, str, LineNumbers]:
    """Parse a file whose lines hold any number of passages."""
    check_byte_order_marks(data, int, path)
    found: list[PassageRow] = []
    lines: list[int] = []
    for line, raw in enumerate(io.BytesIO(data), 1):
        # What is not UTF-8 may stand in a field that is not read, but not in an id.
        fields = [field.decode(errors="surrogateescape") for field in raw.split()]
        if not fields:
            continue
        try:
            passages = format.rows(fields, raw.decode(errors="surrogateescape"))
            "".join(part for row in passages for part in row[:2]).encode()
        except UnicodeEncodeError:
            problem = "a topic or document is not UTF-8; the file must be text in UTF-8"
            raise line_error(path, line, problem, raw) from None
        except ValueError as error:
            raise line_error(path, line, f"expected {format.expected}: {error}", raw) from None
        found += passages
        lines += [line] * len(passages)
    extra = (("start", 3), ("length", 4))
    try:
        frame = pl.DataFrame(found, schema=empty(format.kind, extra).schema, orient="row")
    except (OverflowError, pl.exceptions.PolarsError):
        raise FileFormatError(f"{path}: a start or length is beyond 64 bits") from None
    return frame, path, np.array(lines, dtype=np.int64)


def _recognised(data: bytes, kind: Kind, path: str) -> Format | VaryingFormat | None:
    """Tell the format by the first line that is not blank; None if there is no such line."""
    for line, raw in enumerate(io.BytesIO(data), 1):
        fields = fields_of(raw, line, path)
        if fields:
            return recognise(kind, fields, path, line, raw.decode())
    return None
