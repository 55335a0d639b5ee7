"""Document lengths from a mapping, a frame or a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_graded.core.segments import EXACT_INTEGERS_BELOW, Ints
from ir_graded.errors import FileFormatError, InputError, format_ids, short_repr

from .sources import is_path_or_dataset_id
from .table import Table

#: Passages that end behind their documents: they count, or are an error.
BEYOND = ("keep", "raise")


def read_lengths(source: Any) -> dict[str, int]:
    """Return the length of each document.

    Args:
        source: a mapping from doc_id to length, a frame with these columns, or a file of CSV with a header or
            Parquet.

    Raises:
        InputError: a length is not a whole number >= 0, or a document has two lengths.
        OSError: the file cannot be opened.
    """
    from . import columns

    if isinstance(source, Mapping):
        doc_ids, given = columns.as_strings(list(source)), list(source.values())
    else:
        frame = _read_file(os.fspath(source)) if is_path_or_dataset_id(source) else source
        if not (hasattr(frame, "columns") or hasattr(frame, "column_names")):
            raise InputError(
                f"lengths are {short_repr(source)}; give a mapping from doc_id, a table with doc_id and "
                "length, or a file that holds one"
            )
        missing = [name for name in ("doc_id", "length") if name not in columns.column_names(frame)]
        if missing:
            raise InputError(f"lengths: the table has no column {', '.join(missing)}")
        doc_ids, given = columns.as_strings(frame["doc_id"]), frame["length"]
    lengths = columns.as_floats(given, lambda row: f"lengths: document {doc_ids[row]!r} (row {row}): length")
    wrong = ~((lengths >= 0) & (lengths == np.floor(lengths)) & (lengths < EXACT_INTEGERS_BELOW))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"lengths: document {doc_ids[row]!r} (row {row}) has length {lengths[row]:g}; it must be a whole "
            "number from 0 to 2**53"
        )
    found: dict[str, int] = {}
    first: dict[str, int] = {}
    whole = lengths.astype(np.int64).tolist()
    for row, (doc_id, length) in enumerate(zip(doc_ids.to_list(), whole, strict=True)):
        if found.setdefault(doc_id, length) != length:
            raise InputError(
                f"lengths: document {doc_id!r} has length {found[doc_id]} at row {first[doc_id]} and "
                f"{length} at row {row}; use the same length in both"
            )
        first.setdefault(doc_id, row)
    return found


def rows_beyond(table: Table, lengths: Mapping[str, int]) -> Ints:
    """Return the rows whose passages end behind their documents.

    Raises:
        InputError: documents of the table have no length.
    """
    import polars as pl

    known = pl.Series(lengths.keys(), dtype=pl.String), pl.Series(lengths.values(), dtype=pl.Int64)
    end = table.doc_id.replace_strict(*known, default=None, return_dtype=pl.Int64)
    if missing := table.doc_id.filter(end.is_null()).unique(maintain_order=True).to_list():
        raise InputError(
            f"no length is given for {len(missing)} documents of the {table.kind}: {format_ids(missing)}"
        )
    assert table.passage is not None  # noqa: S101  # for the type checker
    stop = table.passage.start + table.passage.length
    return np.flatnonzero(stop > end.to_numpy())


def check_ends(table: Table, lengths: Mapping[str, int], beyond: str) -> None:
    """Check that all documents of a table have a length, and if wanted that passages end in their documents.

    Args:
        table: qrels or a run with passages.
        lengths: the length of each document.
        beyond: 'keep', or 'raise' where no passage may end behind its document.

    Raises:
        InputError: a document has no length, or with 'raise' a passage ends behind its document.
    """
    table.check_values()
    rows = rows_beyond(table, lengths)
    if rows.size and beyond == "raise":
        row = int(rows[0])
        assert table.passage is not None  # noqa: S101  # for the type checker
        start, length = table.passage.start[row], table.passage.length[row]
        raise InputError(
            f"{table.kind}: {table.describe(row)}: the passage {start:.0f}:{length:.0f} ends behind its "
            f"document, which has length {lengths[table.doc_id[row]]}; beyond='keep' keeps it"
        )


def _read_file(path: str) -> Any:
    import polars as pl

    from .parquet import is_parquet

    try:
        if is_parquet(path):
            return pl.read_parquet(path)
        return pl.read_csv(path, schema_overrides={"doc_id": pl.String})
    except pl.exceptions.PolarsError as error:
        raise FileFormatError(f"{path}: cannot be read as CSV or Parquet: {error}") from None
