"""Columns with the shares of groups in each document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError, short_repr

from .columns import as_float
from .ids import is_missing

#: Largest difference between the sum of shares and 1; files may have rounded shares.
ROUNDED = 0.001
_FEWEST = 2


def as_shares(values: Sequence[Any], describe: Callable[[int], str]) -> Floats:
    """Return vectors of shares as an array, shape ``(rows, groups)``; NaN if a vector is missing.

    If all are missing, the number of groups is unknown and 0 is used.

    Args:
        values: a vector for each row, or None or NaN.
        describe: describes a row, for messages.

    Raises:
        InputError: a vector has fewer than two numbers or another number of them than the first, one of them
            is negative, or they do not sum to 1.
    """
    known = [row for row, value in enumerate(values) if not _is_missing(value)]
    vectors = _as_array([values[row] for row in known], lambda at: describe(known[at]))
    found = np.full((len(values), vectors.shape[1]), np.nan)
    found[known] = vectors
    sums = found[known].sum(axis=1)
    wrong = ~((np.abs(sums - 1.0) <= ROUNDED) & (found[known] >= 0).all(axis=1))
    if wrong.any():
        row = known[int(np.flatnonzero(wrong)[0])]
        raise InputError(
            f"{describe(row)}: the shares {short_repr(found[row].tolist())} must be numbers >= 0 "
            "that sum to 1"
        )
    return found


def _is_missing(value: Any) -> bool:
    return is_missing(value) if not hasattr(value, "__len__") else False


def _as_array(vectors: list[Any], describe: Callable[[int], str]) -> Floats:
    """Return vectors of one length >= 2 as rows of an array."""
    if not vectors:
        return np.zeros((0, 0))
    try:
        found = np.array(vectors)
        if found.dtype.kind in "iuf" and found.ndim == 2 and found.shape[1] >= _FEWEST:  # noqa: PLR2004
            return found.astype(np.float64)
    except ValueError:
        pass  # of several lengths
    for row, vector in enumerate(vectors):
        if isinstance(vector, (str, bytes, Mapping, Set)) or not hasattr(vector, "__len__"):
            raise InputError(f"{describe(row)}: {short_repr(vector)} is not a sequence of shares")
        if len(vector) < _FEWEST:
            raise InputError(f"{describe(row)}: {short_repr(vector)} has fewer than {_FEWEST} shares")
        if len(vector) != len(vectors[0]):
            raise InputError(
                f"{describe(row)} has {len(vector)} shares, but {describe(0)} has {len(vectors[0])}"
            )
    found = np.empty((len(vectors), len(vectors[0])))
    for row, vector in enumerate(vectors):
        where = f"{describe(row)}: the share"
        found[row] = [as_float(share, where.__str__) for share in vector]
    return found
