"""Readers of Parquet files, as a whole or a run in pieces of whole topics."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import polars as pl

from ir_graded.core.facets import CONVENTIONS, RANK_COLUMNS, SPAN, convention_of, missing as no_columns
from ir_graded.errors import FileFormatError, cut

from .text import check_expansion, check_unchanged, errors_with_path

#: The mark of the format, and the begin of the binary data that follow, which text never has.
_BEGIN = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")
#: Smallest number of bytes of a row in memory.
_BYTES_OF_ROW = 16


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a Parquet file, complete or broken; False for a pipe, which is read once."""
    if not Path(path).is_file():
        return False
    with errors_with_path(path), Path(path).open("rb") as file:
        return _BEGIN.match(file.read(5)) is not None


def read_parquet(
    kind: str, path: str | os.PathLike[str], rows: int | None = None
) -> Iterator[tuple[pl.DataFrame, int, dict[str, Callable[[], pl.Series]]]]:
    """Yield the required columns of a file in pieces, each with its first row and readers of other columns.

    A piece has ``rows`` rows or one longer topic; None for one piece.
    """
    # Polars opens the file for every request.
    before = Path(path).stat()
    with parser_errors_with_path(path):
        lazy = pl.scan_parquet(os.fspath(path), glob=False)
        schema = lazy.collect_schema()
        height = _number_of_rows(lazy)
    names = _names(kind, schema, path)
    value = "rank" if names[2] in RANK_COLUMNS else CONVENTIONS[kind][0][2]
    columns = lazy.select(names).rename(dict(zip(names, (*CONVENTIONS[kind][0][:2], value), strict=False)))
    _check_size(height * _BYTES_OF_ROW, path)

    def column(name: str, begin: int, size: int) -> pl.Series:
        with parser_errors_with_path(path):
            return lazy.select(name).slice(begin, size).collect()[name]

    begin, wanted = 0, rows
    while True:
        with parser_errors_with_path(path):
            frame = columns.slice(begin, wanted).collect() if wanted else columns.collect()
        check_unchanged(path, before)
        if wanted and begin + frame.height < height:
            end = _start_of_last_topic(frame["query_id"])
            if not end:
                wanted *= 2
                continue
            frame = frame[:end]
        _check_ids(frame, path)
        others = (name for name in schema if name not in names)
        yield frame, begin, {name: partial(column, name, begin, frame.height) for name in others}
        begin, wanted = begin + frame.height, rows
        if begin >= height:
            return


def _names(kind: str, schema: Mapping[str, pl.DataType], path: str | os.PathLike[str]) -> list[str]:
    """Return the columns of ids and values, and of spans if there are any."""
    found = convention_of(kind, schema)
    if found is None:
        raise FileFormatError(f"{os.fspath(path)}: {no_columns(kind, schema)}")
    names = [*found, *(name for name in SPAN.columns if name in schema)]
    for name in names:
        if schema[name].is_nested():
            raise FileFormatError(
                f"{os.fspath(path)}: the column {name} has the type {cut(str(schema[name]))}, "
                "expected text or numbers"
            )
    return names


def _number_of_rows(lazy: pl.LazyFrame) -> int:
    return int(lazy.select(pl.len()).collect().item())


def _check_size(size: int, path: str | os.PathLike[str]) -> None:
    check_expansion(size, Path(path).stat().st_size, f"{os.fspath(path)}: the Parquet data")


def _check_ids(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Raise FileFormatError if ids, which a file may store once for many rows, need too much memory."""
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
def parser_errors_with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the file to errors of the parser."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise FileFormatError(f"{os.fspath(path)}: cannot be read as Parquet ({error})") from error
