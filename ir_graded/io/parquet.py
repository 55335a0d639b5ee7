"""Readers of Parquet files with the columns of ir-measures, as a whole or a run in pieces of topics.

Reader of the footer of a Parquet file, which has the sizes of the columns.

Polars does not give these sizes, and pyarrow may not be installed. The footer is a struct in Thrift's compact
protocol.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ir_graded.errors import FileFormatError, cut

from .columns import CONVENTIONS, convention_of, missing as no_columns
from .table import PASSAGE_COLUMNS, Table, from_frame, with_other_names
from .text import check_expansion, check_unchanged

if TYPE_CHECKING:
    import polars as pl


#: The length of the footer, and the mark of the format.
TAIL = 8
#: Largest number of bits of a 64-bit number in groups of seven.
_LONGEST = 70
# Numbers of fields in parquet.thrift.
_ROW_GROUPS, _COLUMNS, _META_DATA, _PATH, _UNCOMPRESSED = 4, 1, 3, 3, 6


def column_sizes(path: str | os.PathLike[str]) -> Counter[str]:
    """Return the uncompressed size of each column of a file in bytes, by name.

    Raises:
        FileFormatError: the footer is broken.
    """
    with Path(path).open("rb") as file:
        end = file.seek(-TAIL, os.SEEK_END)
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, end - length))
        footer = BytesIO(file.read(length))
    sizes: Counter[str] = Counter()
    try:
        for group in _struct(footer)[_ROW_GROUPS]:
            for column in group[_COLUMNS]:
                found = column[_META_DATA]
                sizes[found[_PATH][0].decode()] += found[_UNCOMPRESSED]
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{os.fspath(path)}: cannot be read as Parquet (its footer is broken)"
        ) from error
    return sizes


def _struct(data: BytesIO) -> dict[int, Any]:
    fields: dict[int, Any] = {}
    number = 0
    while (head := _byte(data)) != 0:
        number = number + (head >> 4) if head >> 4 else _integer(data)
        kind = head & 15
        fields[number] = kind == 1 if kind in (1, 2) else _value(data, kind)
    return fields


def _value(data: BytesIO, kind: int) -> Any:
    match kind:
        case 1 | 2 | 3:
            return _byte(data)
        case 4 | 5 | 6:
            return _integer(data)
        case 7:
            return _bytes(data, 8)
        case 8:
            return _bytes(data, _varint(data))
        case 9 | 10:
            head = _byte(data)
            size = head >> 4 if head >> 4 < 15 else _varint(data)  # noqa: PLR2004
            return [_value(data, head & 15) for _ in range(size)]
        case 12:
            return _struct(data)
    raise ValueError(f"a field of type {kind}")


def _integer(data: BytesIO) -> int:
    value = _varint(data)
    return (value >> 1) ^ -(value & 1)


def _varint(data: BytesIO) -> int:
    value = 0
    for shift in range(0, _LONGEST, 7):
        byte = _byte(data)
        value |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004
            return value
    raise ValueError("a number of more than 64 bits")


def _byte(data: BytesIO) -> int:
    return _bytes(data, 1)[0]


def _bytes(data: BytesIO, size: int) -> bytes:
    found = data.read(size)
    if len(found) < size:
        raise ValueError("the end is missing")
    return found


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


def read_parquet(kind: str, path: str | os.PathLike[str]) -> Table:
    """Return the rows of a file.

    Raises:
        FileFormatError: the file cannot be read, or changes during reading.
        InputError: a column is missing, or a row cannot be scored.
    """
    # Polars opens the file for every request.
    before = Path(path).stat()
    with _parser_errors_with_path(path):
        columns = _columns(kind, path)
        _number_of_rows(columns, path)
        frame = columns.collect()
    check_unchanged(path, before)
    table = _table(kind, path, frame, 0)
    return table if kind == "run" else replace(table, further=_further(path, columns.collect_schema()))


def _further(path: str | os.PathLike[str], read: Iterable[str]) -> dict[str, Callable[[], pl.Series]]:
    """Return functions that read the further columns."""
    import polars as pl

    def column(name: str) -> pl.Series:
        _check_size(column_sizes(path)[name], path)
        with _parser_errors_with_path(path):
            return pl.read_parquet(os.fspath(path), columns=[name], glob=False)[name]

    names = pl.scan_parquet(os.fspath(path), glob=False).collect_schema()
    return with_other_names({name: partial(column, name) for name in names if name not in set(read)})


def parquet_pieces(path: str | os.PathLike[str], rows: int) -> Iterator[Callable[[], Table]]:
    """Yield a run in pieces of at most ``rows`` rows or one topic; errors as in :func:`read_parquet`."""
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
        yield partial(_table, "run", path, frame, begin)
        begin, wanted = begin + frame.height, rows


def _columns(kind: str, path: str | os.PathLike[str]) -> pl.LazyFrame:
    """Return the required columns as a lazy frame.

    Raises FileFormatError if one is missing or has lists or structs, or all are far larger than the file.
    """
    import polars as pl

    lazy = pl.scan_parquet(os.fspath(path), glob=False)
    schema = lazy.collect_schema()
    found = convention_of(kind, schema)
    if found is None:
        raise FileFormatError(f"{os.fspath(path)}: {no_columns(kind, schema)}")
    wanted = [*found]
    wanted += [name for name in PASSAGE_COLUMNS if name in schema]
    for name in wanted:
        if schema[name].is_nested():
            raise FileFormatError(
                f"{os.fspath(path)}: the column {name} has the type {cut(str(schema[name]))}, "
                "expected text or numbers"
            )
    sizes = column_sizes(path)
    _check_size(sum(sizes[name] for name in wanted), path)
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


def _table(kind: str, path: str | os.PathLike[str], frame: pl.DataFrame, begin: int) -> Table:
    _check_ids(frame, path)
    return from_frame(kind, frame, lambda row: f"{os.fspath(path)}, row {begin + row}")


@contextmanager
def _parser_errors_with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the file to errors of the parser."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise FileFormatError(f"{os.fspath(path)}: cannot be read as Parquet ({error})") from error
