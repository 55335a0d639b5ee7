"""Readers of files of qrels and runs in any format, as a whole or as pieces of whole topics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from . import parquet
from .forks import check_fork
from .paths import check_path, errors_with_path
from .table import Table


def read_file(kind: str, path: str | os.PathLike[str], format: str | None = None) -> Table:
    """Read a file of qrels or of a run.

    Args:
        kind: 'qrels' or 'run'.
        path: Parquet, or text in UTF-8, plain or in gzip, zstandard or xz (detected by the first bytes).
        format: name of a text format; None to detect it by the number of fields of the first line.

    Raises:
        FileFormatError: the file or a line of it cannot be read.
        InputError: the path is not valid, or a row of a Parquet file cannot be scored.
        OSError: the file cannot be opened.
    """
    from .text_files import read_text_file

    check_fork()
    check_path(path)
    with errors_with_path(path):
        if format is None and parquet.is_parquet(path):
            return parquet.read_parquet(kind, path)
        return read_text_file("qrels" if kind == "qrels" else "run", path, format)


def run_pieces(path: str | os.PathLike[str], size: int, rows: int) -> Iterator[Callable[[], Table]]:
    """Yield functions that each return the table of a piece of a run, at least one.

    Args:
        path: the file.
        size: bytes of a piece of a text file.
        rows: rows of a piece of a Parquet file.
    """
    from .text_files import text_file_pieces

    check_fork()
    whole = partial(read_file, "run", path)
    with errors_with_path(path):
        if Path(path).stat().st_size <= size:
            yield whole
            return
        if parquet.is_parquet(path):
            pieces = parquet.parquet_pieces(path, rows)
        else:
            pieces = map(errors_with_path(path), text_file_pieces(path, size))
        empty = True
        for piece in pieces:
            yield piece
            empty = False
        if empty:
            yield whole
