"""Files of qrels and runs as tables, whatever their format: whole, or a run in pieces of whole topics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ir_graded.errors import InputError, shown

from . import parquet
from .forks import check_fork
from .table import PASSAGE_COLUMNS, VALUE_COLUMNS, Passage, Table, at_rows

if TYPE_CHECKING:
    from .files import FileTable


def from_file(kind: str, path: str | os.PathLike[str], format: str | None = None) -> Table:
    """A file of qrels or of a run, in a format that its columns or ``format`` tell."""
    from . import files

    check_fork()
    check_path(path)
    with naming(path):
        if format is None and parquet.is_parquet(path):
            return parquet.read(kind, path)
        read = {"qrels": files.read_qrels_file, "run": files.read_run_file}[kind]
        return _from_lines(kind, read(path, format))


def run_pieces(path: str | os.PathLike[str], size: int, rows: int) -> Iterator[Callable[[], Table]]:
    """The tables of a run's pieces, each made by whoever asks for it.

    Args:
        path: the file.
        size: bytes of a piece where the file has lines.
        rows: rows of a piece where it is Parquet.
    """
    from . import files

    check_fork()
    with naming(path):
        if parquet.is_parquet(path):
            yield from parquet.run_pieces(path, rows)
        else:
            for load in files.run_pieces(path, size):
                yield partial(_loaded, path, load)


def _loaded(path: str | os.PathLike[str], load: Callable[[], FileTable]) -> Table:
    with naming(path):
        return _from_lines("run", load())


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise InputError where a path is one that no file can have, or is bytes."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise InputError(f"the path {shown(name)} is bytes: give it as text")
    try:
        possible = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InputError(f"no file can have the path {shown(name)}")


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the operating system with the name of the file: where opening went well they lack it."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise


def _from_lines(kind: str, read: FileTable) -> Table:
    """The rows of a file or of a piece of it."""
    query_id, doc_id, value = (read.frame[name] for name in ("query_id", "doc_id", VALUE_COLUMNS[kind]))
    passage = None
    if all(name in read.frame.columns for name in PASSAGE_COLUMNS):
        passage = Passage(*(read.frame[name].cast(float).to_numpy() for name in PASSAGE_COLUMNS))
    table = Table(
        kind,
        query_id,
        doc_id,
        value.to_numpy(),
        read.place,
        lambda rows: at_rows(query_id, rows).to_list(),
        passage,
    )
    table.check_passages()
    return table
