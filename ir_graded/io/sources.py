"""Conversion of qrels and runs of any form except a dict of dicts to tables."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ir_graded.errors import InputError

from .datasets import is_dataset, iterate_rows, load_dataset, unknown_dataset
from .files import read_file
from .paths import check_path
from .records import from_dicts, from_records, is_ranx, is_record
from .table import VALUE_COLUMNS, Table, from_frame, from_tuples

_FORMS = (
    "a dict of dicts, a DataFrame (pandas or Polars) or Arrow table, an iterable of named tuples, "
    "a list of dicts, Qrels or a Run of ranx, "
    "a path, or a dataset of ir_datasets or its id"
)


def table_of(kind: str, source: Any) -> Table:  # noqa: PLR0911  # one for each form
    """Return qrels or a run of any form except a dict of dicts as a table."""
    if isinstance(source, Table):
        return source
    if is_path_or_dataset_id(source):
        return _table_of_path_or_dataset_id(kind, source)
    if is_dataset(source):
        return from_tuples(kind, iterate_rows(kind, source))
    if is_ranx(source):
        return from_dicts(kind, source.to_dict())
    if isinstance(source, (list, tuple)) and source and is_record(source[0]):
        return from_records(kind, source, lambda row: f"item {row}")
    if hasattr(source, "read_all"):
        source = source.read_all()  # a reader of Arrow batches
    if hasattr(source, "collect_schema") and not hasattr(source, "to_arrow"):
        raise InputError(
            f"{kind}: a {type(source).__name__} has no rows yet; collect() it first, or give {_FORMS}"
        )
    if hasattr(source, "columns") or hasattr(source, "column_names"):
        return from_frame(kind, source)
    # NumPy scalars claim to be iterable.
    if isinstance(source, Iterable) and getattr(source, "ndim", 1) != 0:
        return from_tuples(kind, source)
    raise InputError(f"{kind}: cannot read {type(source).__name__}; give {_FORMS}")


def passage_table(purpose: str, kind: str, source: Any) -> Table:
    """Qrels or a run as a table. Raises InputError where they hold no passages."""
    table = None if isinstance(source, Mapping) else table_of(kind, source)
    if table is None or table.passage is None:
        hint = table.hint if table is not None else ""
        raise InputError(no_passages(purpose, kind, hint))
    table.check_ids()
    return table


def no_passages(purpose: object, kind: str, hint: str = "") -> str:
    """Return the message that qrels or a run lack passages, which a measure or a function needs."""
    columns = f"query_id, doc_id, {VALUE_COLUMNS[kind]}, start, length"
    return (
        f"{purpose} needs passages, but there are none in the {kind}: {hint and f'{hint}; '}give a table "
        f"or named tuples with the fields {columns}, or a file that has them; a dict of dicts cannot have "
        "passages"
    )


def is_path_or_dataset_id(source: object) -> bool:
    """Return whether ``source`` is a path or a dataset id."""
    return isinstance(source, (str, os.PathLike))


def is_file(source: object) -> bool:
    """Return whether ``source`` is the path of a file; other text is treated as a dataset id.

    Raises InputError if it is not a valid path.
    """
    if isinstance(source, os.PathLike):
        check_path(source)
        return True
    return isinstance(source, str) and bool(source) and (Path(source).exists() or Path(source).is_symlink())


def is_regular_file(source: object) -> bool:
    """Return whether ``source`` is the path of a file that can be read again (not a pipe)."""
    return is_file(source) and Path(source).is_file()  # type: ignore[arg-type]  # it is a path


def is_read_once(source: object) -> bool:
    """Return whether ``source`` can be read only once: an iterator, a reader of Arrow batches, a pipe."""
    if is_path_or_dataset_id(source):
        return is_file(source) and not is_regular_file(source)
    return isinstance(source, Iterator) or hasattr(source, "read_all")


def ensure_rereadable(kind: str, source: Any) -> Any:
    """Return a source that can be read repeatedly: a dict or a regular file unchanged, else a table.

    A pipe must not be opened a second time.

    Raises:
        InputError: an iterator has no rows, probably because it was read before.
    """
    if isinstance(source, Mapping) or is_regular_file(source):
        return source
    table = table_of(kind, source)
    if isinstance(source, Iterator) and not len(table):
        raise InputError(
            f"{kind}: the {type(source).__name__} has no rows; was it read before? An iterator can be read "
            f"only once; give a list of its rows (an empty list for an empty {kind})"
        )
    return table


def _table_of_path_or_dataset_id(kind: str, place: str | os.PathLike[str]) -> Table:
    if is_file(place):
        return read_file(kind, place)
    name = os.fspath(place)
    dataset = load_dataset(name)
    if dataset is not None:
        return from_tuples(kind, iterate_rows(kind, dataset))
    if any(sign in name for sign in (os.sep, os.altsep) if sign) or Path(name).suffix:
        problem = f"{os.strerror(errno.ENOENT)}, and no dataset of ir_datasets has this id"
        raise FileNotFoundError(errno.ENOENT, problem, name)
    raise unknown_dataset(name)
