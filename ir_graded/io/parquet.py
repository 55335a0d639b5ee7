"""Readers of Parquet files, as a whole or a run in pieces of whole topics."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ir_graded.core.facets import CONVENTIONS, SPAN, convention_of, missing as no_columns
from ir_graded.errors import FileFormatError, cut

from .text import check_expansion, check_unchanged

if TYPE_CHECKING:
    import polars as pl


#: The length of the footer, and the mark of the format.
TAIL = 8
_MAGIC = b"PAR1"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
#: Smallest number of bytes of a row in memory.
_BYTES_OF_ROW = 16


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a Parquet file, complete or broken; False for a pipe, which is read once.

    The first topic of a text file may also be PAR1. A Parquet file also ends with this mark and the length of
    its footer; if it is truncated, its fifth byte is a control character.
    """
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        begin = file.read(len(_MAGIC) + 1)
        if not begin.startswith(_MAGIC):
            return False
        if _CONTROL.search(begin):
            return True
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        end = file.read()
    footer = int.from_bytes(end[: -len(_MAGIC)], "little")
    return end.endswith(_MAGIC) and size >= len(_MAGIC) + footer + TAIL


def read_parquet(kind: str, path: str | os.PathLike[str]) -> pl.DataFrame:
    """Return the required columns of a file.

    Raises:
        FileFormatError: the file cannot be read, or changes during reading.
        InputError: a column is missing.
    """
    # Polars opens the file for every request.
    before = Path(path).stat()
    with _parser_errors_with_path(path):
        columns = _columns(kind, path)
        _number_of_rows(columns, path)
        frame = columns.collect()
    check_unchanged(path, before)
    _check_ids(frame, path)
    return frame


def further_columns(
    path: str | os.PathLike[str], read: pl.DataFrame, begin: int = 0
) -> dict[str, Callable[[], pl.Series]]:
    """Return functions that read the other columns, at the rows that were read from ``begin`` on."""
    import polars as pl

    def column(name: str) -> pl.Series:
        with _parser_errors_with_path(path):
            rows = pl.scan_parquet(os.fspath(path), glob=False).select(name).slice(begin, read.height)
            return rows.collect()[name]

    with _parser_errors_with_path(path):
        names = pl.scan_parquet(os.fspath(path), glob=False).collect_schema()
    return {name: partial(column, name) for name in names if name not in read.columns}


def parquet_pieces(path: str | os.PathLike[str], rows: int) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield a run in pieces of at most ``rows`` rows or one topic, each with its first position."""
    before = Path(path).stat()
    with _parser_errors_with_path(path):
        columns = _columns("run", path)
        height = _number_of_rows(columns, path)
    begin, wanted = 0, rows
    while begin < height:
        with _parser_errors_with_path(path):
            frame = columns.slice(begin, wanted).collect()
        check_unchanged(path, before)
        if begin + frame.height < height:
            end = _start_of_last_topic(frame["query_id"])
            if not end:
                wanted *= 2
                continue
            frame = frame[:end]
        _check_ids(frame, path)
        yield frame, begin
        begin, wanted = begin + frame.height, rows


def _columns(kind: str, path: str | os.PathLike[str]) -> pl.LazyFrame:
    """Return the required columns as a lazy frame.

    Raises FileFormatError if one is missing or has lists or structs.
    """
    import polars as pl

    lazy = pl.scan_parquet(os.fspath(path), glob=False)
    schema = lazy.collect_schema()
    found = convention_of(kind, schema)
    if found is None:
        raise FileFormatError(f"{os.fspath(path)}: {no_columns(kind, schema)}")
    wanted = [*found]
    wanted += [name for name in SPAN.columns if name in schema]
    for name in wanted:
        if schema[name].is_nested():
            raise FileFormatError(
                f"{os.fspath(path)}: the column {name} has the type {cut(str(schema[name]))}, "
                "expected text or numbers"
            )
    return lazy.select(wanted).rename(dict(zip(found, CONVENTIONS[kind][0], strict=True)))


def _number_of_rows(columns: pl.LazyFrame, path: str | os.PathLike[str]) -> int:
    """Return the number of rows. Raises FileFormatError if it is implausibly large for the file size."""
    import polars as pl

    height = int(columns.select(pl.len()).collect().item())
    _check_size(height * _BYTES_OF_ROW, path)
    return height


def _check_size(size: int, path: str | os.PathLike[str]) -> None:
    check_expansion(size, Path(path).stat().st_size, f"{os.fspath(path)}: the Parquet data")


def _check_ids(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Raise FileFormatError if ids, which a file may store once for many rows, need too much memory."""
    import polars as pl

    for name in ("query_id", "doc_id"):
        length = frame[name]
        times: pl.Series | int = 1
        if length.dtype in (pl.Categorical, pl.Enum):
            counted = length.value_counts()
            length, times = counted[name].cast(pl.String), counted["count"]
        if length.dtype == pl.String:
            _check_size(int((length.str.len_bytes().cast(pl.UInt64) * times).sum()), path)


def _start_of_last_topic(query_id: pl.Series) -> int:
    """Return the position at which the last topic of a column begins."""
    other = (query_id != query_id[-1]).arg_true()
    return int(other[-1]) + 1 if len(other) else 0


@contextmanager
def _parser_errors_with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the file to errors of the parser."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise FileFormatError(f"{os.fspath(path)}: cannot be read as Parquet ({error})") from error
