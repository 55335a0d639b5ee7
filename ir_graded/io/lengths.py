"""Document lengths from a mapping, a frame or a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ir_graded.core.segments import EXACT_INTEGERS_BELOW
from ir_graded.errors import FileFormatError, InputError, format_ids

from .sources import is_path_or_dataset_id


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


def lengths_of(doc_ids: Iterable[str], lengths: Mapping[str, int]) -> dict[str, int]:
    """Return the lengths of some documents. Raises InputError if a length is missing."""
    wanted = list(dict.fromkeys(doc_ids))
    missing = [doc_id for doc_id in wanted if doc_id not in lengths]
    if missing:
        raise InputError(f"no length is given for {len(missing)} documents of the run: {format_ids(missing)}")
    return {doc_id: lengths[doc_id] for doc_id in wanted}


def _read_file(path: str) -> Any:
    import polars as pl

    from .parquet import is_parquet

    try:
        if is_parquet(path):
            return pl.read_parquet(path)
        return pl.read_csv(path, schema_overrides={"doc_id": pl.String})
    except pl.exceptions.PolarsError as error:
        raise FileFormatError(f"{path}: cannot be read as CSV or Parquet: {error}") from None
