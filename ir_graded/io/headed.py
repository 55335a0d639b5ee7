"""Read text with a header that names the columns: qrels of BEIR and CSV of any tool."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ir_graded.errors import FileFormatError, cut

from .conventions import CONVENTIONS, QUEPID, convention_of, missing
from .lines import check_byte_order_marks, line_error
from .table import NUMBERS, PASSAGE_COLUMNS, VALUE_COLUMNS, Table, from_frame, with_other_names

#: Largest number of bytes in a header.
_LONGEST = 1 << 14
_WORD = re.compile(r"[\w-]+")


def delimiter_of(data: bytes, path: str) -> str | None:
    """Return the separator of a text whose first line names the columns; None for other text.

    Raises FileFormatError if the line has these names with another separator or in capitals.
    """
    first = data[:_LONGEST].lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")
    line = first.decode(errors="replace").replace('"', "")
    for mark in "\t,;":
        if any(convention_of(kind, map(str.strip, line.split(mark))) for kind in CONVENTIONS):
            return mark
    if "\r" not in line and any(
        found := convention_of(kind, _WORD.findall(line.lower())) for kind in CONVENTIONS
    ):
        problem = (
            f"looks like a header; expected {', '.join(found or ())} separated by tabs, commas or semicolons"
        )
        raise line_error(path, 1 + data[: data.index(first)].count(b"\n"), problem, first)
    return None


def read_headed(kind: str, data: bytes, path: str, delimiter: str) -> Table:
    """Read a text with a header.

    Raises FileFormatError for a header of the other kind (run or qrels), or if a line cannot be read.
    """
    rows, lines = delimited_rows(data, delimiter, path)
    names = [name.strip() for name in rows[0]]
    found = convention_of(kind, names)
    if found == QUEPID:  # writes queries without ratings in a row of one field
        given = [at for at, row in enumerate(rows) if len(row) > 1]
        rows, lines = [rows[at] for at in given], [lines[at] for at in given]
    if found is None:
        raise line_error(path, lines[0], missing(kind, names), delimiter.join(names).encode())
    numeric = [found[2], *(PASSAGE_COLUMNS if {*PASSAGE_COLUMNS} <= {*names} else ())]
    used = [*found[:2], *numeric]
    if twice := [name for name in used if names.count(name) > 1]:
        problem = f"several columns are named {cut(twice[0])}"
        raise line_error(path, lines[0], problem, delimiter.join(names).encode())
    places = [names.index(name) for name in used]
    values = np.empty((len(rows) - 1, len(numeric)))
    for number, (row, line) in enumerate(zip(rows[1:], lines[1:], strict=True)):
        try:
            if len(row) != len(names):
                raise ValueError(f"expected {len(names)} fields as in the header, found {len(row)}")
            row[:] = map(str.strip, row)
            for place in places:
                if not row[place]:
                    raise ValueError(f"the field {names[place]} is empty")
            values[number] = [_number(row[place]) for place in places[2:]]
        except ValueError as error:
            raise line_error(path, line, cut(str(error)), delimiter.join(row).encode()) from None
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
    table = from_frame(kind, frame, lambda row: f"{path}, line {lines[row + 1]}")
    repeated = {
        name: partial(_ambiguous, name, path, lines[0])
        for name in table.further.keys() & names
        if names.count(name) > 1
    }
    own = {name: read for name, read in table.further.items() if name in names}
    return _with_numbers(replace(table, further=with_other_names(own | repeated)))


def _ambiguous(name: str, path: str, line: int) -> Any:
    """Raise FileFormatError when a further column is read whose name appears twice in the header."""
    raise FileFormatError(f"{path}, line {line}: several columns are named {cut(name)}; keep one")


def _with_numbers(table: Table) -> Table:
    """Return a table whose further columns of numbers, which are text, are converted on demand."""
    columns = {name: partial(_as_numbers, table, name) for name in NUMBERS if name in table.further}
    return replace(table, further={**table.further, **columns})


def _as_numbers(table: Table, name: str) -> pl.Series:
    """Return a further column as numbers, NaN for empty fields."""
    found = np.full(len(table), np.nan)
    for row, text in enumerate(table.further[name]()):
        try:
            if text:
                found[row] = _number(text)
        except ValueError as error:
            problem = f"the {name}: {cut(str(error))}"
            raise FileFormatError(f"{table.kind}: {table.describe(row)}: {problem}") from None
    return pl.Series(found)


def delimited_rows(data: bytes, delimiter: str, path: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows of a text that are not blank, and the numbers of the lines in which they end.

    Raises FileFormatError if a line cannot be read.
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
            if any(map(str.strip, row)):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        problem = f"{error}; a field that begins with a quotation mark must end with one"
        raise line_error(path, reader.line_num, problem, b"") from None
    return rows, lines


def _number(text: str) -> float:
    # Python also reads 1_0 and digits of other scripts.
    if "_" in text or not text.isascii():
        raise ValueError(f"not a number: {text!r}")
    return float(text)
