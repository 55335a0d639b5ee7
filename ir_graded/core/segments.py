"""Sums and scans over segments: many topics in one flat array, without a loop over topics.

A *segment* is the range of positions that belong to one topic. ``segment`` holds the segment number of each
position, ascending; ``start`` holds the position at which the segment of each position begins.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Number = TypeVar("Number", Floats, Ints)

#: Doubles hold every whole number below this, so that sums of whole numbers are exact.
EXACT_INTEGERS_BELOW = 2.0**53


def pair_key(first: Ints, second: Ints | int) -> Ints:
    """Return one number for two that are below 2**31: keys sort by the first, then by the second."""
    return first << 32 | second


def starts(segment: Ints, segments: int) -> Ints:
    """Return the first position of each of ``segments`` segments, including empty ones."""
    return np.searchsorted(segment, np.arange(segments, dtype=np.int64)).astype(np.int64)


def ordinals(start: Ints) -> Ints:
    """Return the number of each position within its segment, from 1."""
    return np.arange(1, start.size + 1, dtype=np.int64) - start


class Totals:
    """Sums over segments, for several columns of values over the same segments."""

    def __init__(self, segment: Ints, segments: int) -> None:
        self._segment, self._segments = segment, segments
        length = np.bincount(segment, minlength=segments)
        self._longest = int(length.max(initial=0))
        self._some = np.flatnonzero(length)
        self._begin = (np.cumsum(length) - length)[self._some]

    def of(self, values: Floats) -> Floats:
        """Return the sum of ``values`` in each segment, shape ``(segments,)``; 0 for an empty segment."""
        if self._longest <= 2:  # noqa: PLR2004  # quicker, and two values have one sum
            of_few = np.bincount(self._segment, weights=values, minlength=self._segments)
            return of_few.astype(np.float64, copy=False)
        sums = np.zeros(self._segments)
        # Pairwise: adding many equal values one by one loses a digit for every power of ten.
        sums[self._some] = np.add.reduceat(values, self._begin)
        return sums


def total(values: Floats, segment: Ints, segments: int) -> Floats:
    """Return the sum of ``values`` in each segment, as :class:`Totals` does."""
    return Totals(segment, segments).of(values)


def whole_total(values: Ints, segment: Ints, segments: int) -> Ints:
    """Return the sum of whole numbers in each segment, exactly, shape ``(segments,)``."""
    sums = np.concatenate(([0], np.cumsum(values)))
    bounds = np.searchsorted(segment, np.arange(segments + 1, dtype=np.int64))
    return np.asarray(sums[bounds[1:]] - sums[bounds[:-1]])


def exact_sum(values: Floats) -> Floats:
    """Return the sum over the last axis, rounded once. It does not depend on the order of the values."""
    rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    return np.array([math.fsum(row) for row in rows.tolist()], dtype=np.float64).reshape(values.shape[:-1])


def count(segment: Ints, segments: int) -> Ints:
    """Return the number of positions in each segment."""
    return np.bincount(segment, minlength=segments).astype(np.int64, copy=False)


def cumulative_sum(values: Floats, start: Ints) -> Floats:
    """Return the inclusive running sum within each segment."""
    if not values.size:
        return values.copy()
    flat = np.cumsum(values)
    if flat[-1] < EXACT_INTEGERS_BELOW and bool((values == np.floor(values)).all()):
        return np.asarray(flat - (flat[start] - values[start]))
    # A flat running sum minus its base would lose digits to earlier segments.
    return _scan(values, start, np.add)


def cumulative_sum_before(values: Floats, start: Ints) -> Floats:
    """Return the sum of the values before each position in its segment; 0 at the first."""
    return _exclusive(cumulative_sum(values, start), start, 0)


def cumulative_product_before(values: Floats, start: Ints) -> Floats:
    """Return the product of the values before each position in its segment; 1 at the first."""
    return _exclusive(_scan(values, start, np.multiply), start, 1)


def cumulative_maximum_before(values: Ints, start: Ints) -> Ints:
    """Return the largest of the values before each position in its segment; 0 at the first."""
    return _exclusive(_scan(values, start, np.maximum), start, 0)


def maximum_from(values: Floats, segment: Ints) -> Floats:
    """Return the largest value from each position to the end of its segment; ``segment`` is ascending."""
    last = np.searchsorted(segment, segment, side="right") - 1
    return _scan(values[::-1], (values.size - 1 - last)[::-1], np.maximum)[::-1]


def sum_from(values: Floats, segment: Ints) -> Floats:
    """Return the sum from each position to the end of its segment; ``segment`` is ascending."""
    last = np.searchsorted(segment, segment, side="right") - 1
    return cumulative_sum(values[::-1], (values.size - 1 - last)[::-1])[::-1]


def _exclusive(scan: Number, start: Ints, first: int) -> Number:
    """Make an inclusive scan exclusive: shift values down by one, with ``first`` where a segment begins."""
    before = np.empty_like(scan)
    before[1:] = scan[:-1]
    before[start] = first
    return before


def _scan(values: Number, start: Ints, combine: np.ufunc) -> Number:
    """Scan segments inclusively in log2(longest segment) whole-array steps (Hillis and Steele 1986)."""
    result = values.copy()
    depth = ordinals(start) - 1
    longest = int(depth.max(initial=0))
    step = 1
    while step <= longest:
        after = result[step:]
        combine(after, result[:-step], out=after, where=depth[step:] >= step)
        step *= 2
    return result
