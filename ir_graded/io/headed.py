"""Text with a header that names the columns, separated by tabs or commas: BEIR's qrels, CSV of any tool."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl

from .conventions import CONVENTIONS, convention_of, missing
from .lines import check_byte_order_marks, line_error
from .table import PASSAGE_COLUMNS, VALUE_COLUMNS, Table, from_frame

#: Bytes in which a header ends.
_LONGEST = 1 << 14


def delimiter_of(data: bytes) -> str | None:
    """Return the separator of a text whose first line names the columns; None for other text."""
    first = data[:_LONGEST].lstrip(b"\r\n").partition(b"\n")[0].decode(errors="replace")
    return next(
        (mark for mark in "\t,;" if any(convention_of(k, _fields(first, mark)) for k in CONVENTIONS)), None
    )


def _fields(line: str, delimiter: str) -> list[str]:
    return [field.strip() for field in line.replace('"', "").split(delimiter)]


def read_headed(kind: str, data: bytes, path: str, delimiter: str) -> Table:
    """Read a text with a header.

    Raises FileFormatError for a header of the other kind, and for a line that cannot be read.
    """
    check_byte_order_marks(data, int, path)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "the file must be text in UTF-8"
        raise line_error(path, line, problem, data.split(b"\n", line)[line - 1]) from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise line_error(path, reader.line_num, str(error), b"") from None
    names = [name.strip() for name in rows[0]]
    found = convention_of(kind, names)
    if found is None:
        raise line_error(path, lines[0], missing(kind, names), delimiter.join(names).encode())
    numeric = [name for name in (found[2], *PASSAGE_COLUMNS) if name in names]
    places = [names.index(name) for name in numeric]
    values = np.empty((len(rows) - 1, len(places)))
    for number, (row, line) in enumerate(zip(rows[1:], lines[1:], strict=True)):
        try:
            if len(row) != len(names):
                raise ValueError(f"expected {len(names)} fields as in the header, found {len(row)}")
            values[number] = [float(row[place]) for place in places]
        except ValueError as error:
            raise line_error(path, line, str(error), delimiter.join(row).encode()) from None
    columns = dict(zip(names, zip(*rows[1:], strict=True), strict=True)) if len(rows) > 1 else {}
    frame = pl.DataFrame(
        {name: pl.Series(columns.get(name, ()), dtype=pl.String) for name in names if name not in found}
        | {
            "query_id": pl.Series(columns.get(found[0], ()), dtype=pl.String),
            "doc_id": pl.Series(columns.get(found[1], ()), dtype=pl.String),
            VALUE_COLUMNS[kind]: values[:, 0],
        }
        | dict(zip(numeric[1:], values.T[1:], strict=True))
    )
    return from_frame(kind, frame, lambda row: f"{path}, line {lines[row + 1]}")
