"""Lengths of documents, and passages that end behind their documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ir_graded.core.facets import SPAN
from ir_graded.core.segments import Ints
from ir_graded.errors import FileFormatError, InputError, format_ids, short_repr

from .forms import is_frame
from .parquet import is_parquet
from .table import Passage, Table, as_floats, as_strings, check_columns, column_names
from .values import text_ids


def read_lengths(source: Any) -> dict[str, int]:
    """Return the length of each document, a whole number >= 0.

    Args:
        source: a mapping from doc_id to length, a frame with these columns, or a file of CSV with a header or
            Parquet.
    """
    if isinstance(source, Mapping):
        doc_ids, given = text_ids([*source], "doc_id", "lengths"), [*source.values()]
    else:
        frame = _read_file(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else source
        if not is_frame(frame):
            raise InputError(
                f"lengths are {short_repr(source)}; give a mapping from doc_id, a table with doc_id and "
                "length, or a file that holds one"
            )
        check_columns("lengths", column_names(frame), ("doc_id", "length"))
        doc_ids, given = as_strings(frame["doc_id"], "lengths: doc_id").to_list(), frame["length"]

    def describe(row: int) -> str:
        return f"lengths: document {doc_ids[row]!r} (row {row})"

    lengths = as_floats(given, lambda row: f"{describe(row)}: length")
    replace(SPAN, title="the length").check(lengths, describe)
    found: dict[str, int] = {}
    for row, (doc_id, length) in enumerate(zip(doc_ids, lengths.astype(np.int64).tolist(), strict=True)):
        if found.setdefault(doc_id, length) != length:
            raise InputError(
                f"{describe(row)} has length {length}, but {found[doc_id]} in an earlier row; "
                "use the same length in both"
            )
    return found


def rows_beyond(table: Table, lengths: Mapping[str, int]) -> Ints:
    """Return the rows whose passages end behind their documents. Raises InputError for a missing length."""
    assert table.passage is not None  # noqa: S101  # for the type checker
    stop = table.passage.start + table.passage.length
    return np.flatnonzero(stop > _ends(table, lengths))


def with_lengths(table: Table, lengths: Mapping[str, int]) -> Table:
    """Return a table with each document as a passage. Raises InputError for a missing length."""
    ends = _ends(table, lengths).astype(np.float64)
    return replace(table, passage=Passage(np.zeros(len(table)), ends))


def _ends(table: Table, lengths: Mapping[str, int]) -> Ints:
    """Return the length of the document of each row. Raises InputError for a missing length."""
    known = pl.Series(lengths.keys(), dtype=pl.String), pl.Series(lengths.values(), dtype=pl.Int64)
    end = table.doc_id.replace_strict(*known, default=None, return_dtype=pl.Int64)
    if missing := table.doc_id.filter(end.is_null()).unique(maintain_order=True).to_list():
        raise InputError(
            f"no length is given for {len(missing)} documents of the {table.kind}: {format_ids(missing)}"
        )
    return np.asarray(end.to_numpy(), dtype=np.int64)


def end_check(lengths: Any, beyond: str) -> Callable[[Table], None]:
    """Return a function that checks the passages of a table.

    It raises InputError if a document has no length, or with ``beyond='raise'`` if a passage ends behind it.
    """
    known = read_lengths(lengths)

    def check(table: Table) -> None:
        rows = rows_beyond(table, known)
        if rows.size and beyond == "raise":
            row = int(rows[0])
            assert table.passage is not None  # noqa: S101  # for the type checker
            start, length = table.passage.start[row], table.passage.length[row]
            raise InputError(
                f"{table.in_kind(row)}: the passage {start:.0f}:{length:.0f} ends behind its document, which "
                f"has length {known[table.doc_id[row]]}; beyond='keep' keeps it"
            )

    return check


def _read_file(path: str) -> Any:
    try:
        if is_parquet(path):
            return pl.read_parquet(path)
        return pl.read_csv(path, schema_overrides={"doc_id": pl.String})
    except pl.exceptions.PolarsError as error:
        raise FileFormatError(f"{path}: cannot be read as CSV or Parquet: {error}") from None
