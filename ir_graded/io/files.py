"""Read run and qrels files as tables: as a whole, or a run in pieces."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ir_graded.core.facets import FACETS, INCLUSION, METHOD, POSITION, RANK, SPAN, VALUE_COLUMNS
from ir_graded.errors import FileFormatError, InputError, ParameterError, cut, format_ids

from .._utils.threads import check_fork
from .formats import (
    NOT_AVAILABLE,
    OF_SAMPLES,
    Format,
    Kind,
    PassageRow,
    VaryingFormat,
    formats_of,
    of_sample,
    recognise,
)
from .forms import read_object
from .lines import LineNumbers, delimiter_of, no_rows, parse_lines, read_headed
from .parquet import is_parquet, read_parquet
from .records import DOCUMENTS, DocumentFormat, Options, read_json
from .table import Further, Table, first_null, from_columns, from_frame
from .text import (
    Load,
    check_byte_order_marks,
    fields_between_tabs,
    fields_of,
    is_json,
    line_error,
    read_text,
    split_fields,
    text_pieces,
)


def read_file(kind: str, path: str | os.PathLike[str], options: Options = Options()) -> Table:  # noqa: B008
    """Read a file of qrels or of a run: Parquet, or text in UTF-8, plain or compressed.

    The compression is recognised by the first bytes, the format of a text by its first line, unless
    ``options`` name it.
    """
    check_fork()
    if options.format is None and is_parquet(path):
        (piece,) = read_parquet(kind, path)
        return _of_parquet(kind, path, *piece)
    return _read_text_file("qrels" if kind == "qrels" else "run", path, options)


#: Column of snapshots of Quepid.
_SNAPSHOT = "Snapshot Name"
#: A line that begins with a number sign, and what follows the six fields of a line of a run.
_COMMENT = re.compile(rb"\n[ \t]*#[^\n]*")
_FURTHER = re.compile(rb"(\n[^\S\n]*(?:\S+[^\S\n]+){5}\S+)[^\n]*")


def read_as_trec_eval(kind: Kind, path: str | os.PathLike[str]) -> tuple[Table, str]:
    """Read TREC lines as trec_eval does: without comments, and without fields of a run behind its tag.

    Returns the rows, and the last field that is read of the last line, which is the tag of a run.
    """
    check_fork()
    where = os.fspath(path)
    data = b"\n" + read_text(where)
    if b"#" in data:
        data = _COMMENT.sub(b"\n", data)
    trec = named(kind, "trec")
    assert isinstance(trec, Format)  # noqa: S101  # for the type checker
    trec = replace(trec.named(trec.width), by_tabs=False)
    try:
        table = _read_lines(where, trec, lambda: data[1:])
    except FileFormatError:
        if kind == "qrels":
            raise
        data = _FURTHER.sub(rb"\1", data)
        table = _read_lines(where, trec, lambda: data[1:])
    last = data.rstrip().rpartition(b"\n")[2].split()
    return table, last[-1].decode() if last else ""


def run_pieces(path: str | os.PathLike[str], size: int, rows: int) -> Iterator[Callable[[], Table]]:
    """Yield functions that return tables of pieces: ``size`` bytes of text, or ``rows`` rows of Parquet."""
    check_fork()
    pieces: Iterator[Callable[[], Table]] = iter(())
    if (is_large := Path(path).stat().st_size > size) and is_parquet(path):
        pieces = (partial(_of_parquet, "run", path, *piece) for piece in read_parquet("run", path, rows))
    elif is_large:
        pieces = _text_file_pieces(path, size)
    yield next(pieces, partial(read_file, "run", path))
    yield from pieces


def _of_parquet(
    kind: str, path: str | os.PathLike[str], frame: pl.DataFrame, begin: int, further: Further
) -> Table:
    """Return rows of a Parquet file, of which ``begin`` is the first."""
    return from_frame(kind, frame, lambda row: f"{os.fspath(path)}, row {begin + row}", further)


def named(kind: Kind, name: str) -> Format | VaryingFormat | DocumentFormat:
    """Return the format of this kind with this name. Raises ParameterError if it does not exist."""
    known = {one.name: one for one in (*formats_of(kind), *DOCUMENTS) if one.kind == kind}
    if name not in known:
        raise ParameterError(
            f"unknown format {name!r} of a {kind} file; known: {', '.join(map(repr, known))}"
        )
    return known[name]


def _read_text_file(kind: Kind, path: str | os.PathLike[str], options: Options) -> Table:
    """Read a run or qrels in text. Errors as in :func:`read_file`."""
    chosen = None if options.format is None else named(kind, options.format)
    where = os.fspath(path)
    data = read_text(where)
    if isinstance(chosen, DocumentFormat):
        return _document(data, chosen, where)
    if chosen is not None:
        return _in_lines(kind, data, where, chosen)
    if is_json(data):
        return read_object(kind, read_json(data, where), options._replace(path=where))
    if options.query_ids is not None:
        raise FileFormatError(f"{where}: query_ids is for responses in JSON, and this is another text")
    delimiter = delimiter_of(data, where)
    return _in_lines(kind, data, where) if delimiter is None else _headed(kind, data, where, delimiter)


def _in_lines(kind: Kind, data: bytes, where: str, chosen: Format | VaryingFormat | None = None) -> Table:
    """Read lines of fields, in a format that the user may have chosen."""
    if chosen is None:
        chosen = _recognised(data, kind, where)
    elif isinstance(chosen, Format):
        line, raw, fields = _first_line(data, where)
        chosen = chosen.named(len(fields))
        if fields_between_tabs(data) not in {0, chosen.width}:
            problem = f"expected {chosen.expected}, found {len(fields)}; the fields are those between tabs"
            raise line_error(where, line, problem, raw)
    if chosen is None:
        return _table(kind, no_rows(kind), where)
    if isinstance(chosen, VaryingFormat):
        return _line_by_line(data, chosen, where)
    # Fields that few measures need are read only on demand, in place of the document.
    further = {name: partial(_field, data, chosen, name, where) for name in chosen.further}
    table = _read_lines(where, chosen, lambda: data, further=further)
    if RANK.name in further:
        rank = further[RANK.name]
        return replace(table, further={RANK.name: lambda: _as_numbers(table, RANK.name, rank())})
    if INCLUSION.name not in further:
        return table
    texts = {name: further[name]() for name in (INCLUSION.name, METHOD.name)}
    texts[INCLUSION.name] = texts[INCLUSION.name].replace(NOT_AVAILABLE, "")
    numbers = {name: partial(_as_numbers, table, name, column) for name, column in texts.items()}
    return replace(table, further={**table.further, **numbers})


def _field(data: bytes, format: Format, name: str, path: str) -> pl.Series:
    """Return a further column of a file."""
    return parse_lines(data, format.with_document(name), path)[0]["doc_id"]


def _headed(kind: Kind, data: bytes, path: str, delimiter: str) -> Table:
    """Read a text with a header; further columns of numbers, which are text, are converted on demand."""
    frame, lines, repeated = read_headed(kind, data, path, delimiter)
    if _SNAPSHOT in frame.columns and frame[_SNAPSHOT].n_unique() > 1:
        names = format_ids(frame[_SNAPSHOT].unique(maintain_order=True).to_list())
        raise FileFormatError(f"{path}: has several snapshots of Quepid, {names}; keep the rows of one")
    declared = {name for facet in FACETS for name in (facet.name, *facet.other_names)}
    numbers = {facet.name for facet in (*FACETS, RANK) if facet.kind == "number"}

    def column(name: str) -> Any:
        if name in repeated:
            raise FileFormatError(f"{path}, line {lines[0]}: several columns are named {cut(name)}; keep one")
        if name in numbers:
            return _as_numbers(table, name, frame[name])
        # A column that the user names, such as that of costs, may hold numbers.
        values = frame[name].cast(pl.Float64, strict=False)
        return frame[name] if name in declared or values.null_count() else values

    standard = {"query_id", "doc_id", VALUE_COLUMNS[kind]}
    further = {name: partial(column, name) for name in frame.columns if name not in standard}
    table = from_frame(kind, frame, lambda row: f"{path}, line {lines[row + 1]}", further)
    return table


def _as_numbers(table: Table, name: str, texts: pl.Series) -> pl.Series:
    """Return a further column as numbers, NaN for empty fields."""
    numbers = texts.cast(pl.Float64, strict=False)
    if (row := first_null(numbers.set(texts == "", np.nan))) is not None:
        raise FileFormatError(f"{table.in_kind(row)}: the {name} {cut(repr(texts[row]))} is not a number")
    return numbers


def _text_file_pieces(path: str | os.PathLike[str], size: int) -> Iterator[Callable[[], Table]]:
    """Yield functions that each read a piece of a run, of about ``size`` bytes and whole topics."""
    where = os.fspath(path)
    chosen = None
    for number, load in enumerate(text_pieces(where, size)):
        if chosen is None:
            if is_json(begin := load()) or delimiter_of(begin, where):
                yield partial(_read_text_file, "run", path, Options())
                return
            chosen = _recognised(begin, "run", where)
            if chosen is None:
                continue
            if isinstance(chosen, Format) and chosen.review is not None:  # of all lines
                yield partial(_read_text_file, "run", path, Options())
                return
        # All run formats have lines with a fixed number of fields.
        assert isinstance(chosen, Format)  # noqa: S101  # for the type checker
        yield partial(_read_lines, where, chosen, load, partial(_lines_before, where, size, number))


def _lines_before(path: str, size: int, number: int) -> int:
    return sum(load().count(b"\n") for load in islice(text_pieces(path, size), number))


def _read_lines(
    path: str,
    format: Format,
    load: Load,
    lines_before: Callable[[], int] = int,
    further: Further | None = None,
) -> Table:
    frame, lines = parse_lines(load(), format, path, lines_before)
    return _table(format.kind, frame, path, lines, lines_before, further)


def _line_by_line(data: bytes, format: VaryingFormat, path: str) -> Table:
    """Read a file whose lines hold any number of passages."""
    check_byte_order_marks(data, int, path)
    tabs = fields_between_tabs(data)
    found: list[PassageRow] = []
    lines: list[int] = []
    for line, raw in enumerate(io.BytesIO(data), 1):
        # Bytes that are not UTF-8 are allowed in fields that are not read, but not in ids.
        fields = [field.decode(errors="surrogateescape") for field in split_fields(raw, tabs)]
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
    schema = no_rows(format.kind, format.spans).schema
    width = len(schema)
    further: Further = {
        name: partial(list, [row[at] for row in found]) for at, name in enumerate(format.further, width)
    }
    try:
        frame = pl.DataFrame([row[:width] for row in found], schema=schema, orient="row")
    except (OverflowError, pl.exceptions.PolarsError):
        raise FileFormatError(f"{path}: a start or length is beyond 64 bits") from None
    return _table(format.kind, frame, path, np.array(lines, dtype=np.int64), further=further)


def _document(data: bytes, format: DocumentFormat, path: str) -> Table:
    """Read a document as a whole. Places in errors are paths in it."""
    try:
        rows, names = list(format.rows(data)), format.row._fields
        # The last of all fields is the place, the first three are ids and value.
        columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        ids_and_value = [columns[name] for name in names[:3]]
        passage = [columns[name] for name in SPAN.columns if name in columns]
        further: Further = {name: partial(list, columns[name]) for name in names[3:-1]}
        return from_columns(
            format.kind, ids_and_value, lambda row: f"{path}, {columns['place'][row]}", passage, further
        )
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from None


def _recognised(data: bytes, kind: Kind, path: str) -> Format | VaryingFormat | None:
    """Recognise the format by the first line that is not blank; None if all lines are blank."""
    line, raw, fields = _first_line(data, path)
    if not fields:
        return None
    found = _sampled(data, path) if kind == "qrels" and len(fields) == OF_SAMPLES else None
    return found or recognise(kind, fields, path, line, raw.decode())


def _first_line(data: bytes, path: str) -> tuple[int, bytes, list[str]]:
    """Return the number of the first line with fields, the line, and its fields; none if all are blank."""
    tabs = fields_between_tabs(data)
    for line, raw in enumerate(io.BytesIO(data), 1):
        if fields := fields_of(raw, line, path, tabs):
            return line, raw, fields
    return 0, b"", []


def _sampled(data: bytes, path: str) -> Format | VaryingFormat | None:
    """Return the format of sampled judgments that a file has, else None."""
    tabs = fields_between_tabs(data)
    lines = ([one.decode(errors="replace") for one in split_fields(raw, tabs)] for raw in io.BytesIO(data))
    try:
        name = of_sample([*filter(None, lines)])
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return next((one for one in formats_of("qrels") if one.name == name), None)


def _table(
    kind: Kind,
    frame: pl.DataFrame,
    path: str,
    lines: LineNumbers | None = None,
    lines_before: Callable[[], int] = int,
    further: Further | None = None,
) -> Table:
    """Return the rows of a file or of a piece of it, in their order; ``lines`` as from ``parse_lines``."""

    def place(row: int) -> str:
        return f"{path}, line {lines_before() + (row + 1 if lines is None else int(lines[row]))}"

    if POSITION.name in frame.columns:
        further = {POSITION.name: partial(frame.get_column, POSITION.name), **(further or {})}
    return from_frame(kind, frame, place, further or {})
