"""Sums and scans over segments: many topics in one flat array, no loop over topics.

A *segment* is the run of positions that belong to one topic. ``segment`` gives each
position's segment number in ascending order; ``start`` the position at which its segment begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Number = TypeVar("Number", Floats, Ints)

#: Doubles hold every whole number below this, so that sums of whole numbers are exact.
EXACT_INTEGERS_BELOW = 2.0**53


def starts(segment: Ints, segments: int) -> Ints:
    """First position of each of ``segments`` segments (of an empty one: where it would be)."""
    return np.searchsorted(segment, np.arange(segments, dtype=np.int64)).astype(np.int64)


def ordinals(start: Ints) -> Ints:
    """Number of each position within its segment, from 1."""
    return np.arange(1, start.size + 1, dtype=np.int64) - start


def total(values: Floats, segment: Ints, segments: int) -> Floats:
    """Sum of ``values`` in each segment, shape ``(segments,)``; 0 for an empty segment.

    Summed pairwise: many equal values one after the other would lose a digit for every power of ten.
    """
    length = np.bincount(segment, minlength=segments)
    if length.max(initial=0) <= 2:  # noqa: PLR2004  # quicker, and two values have one sum
        return np.bincount(segment, weights=values, minlength=segments).astype(np.float64, copy=False)
    some = np.flatnonzero(length)
    sums = np.zeros(segments)
    sums[some] = np.add.reduceat(values, (np.cumsum(length) - length)[some])
    return sums


def exact_sum(values: Floats) -> Floats:
    """Sum over the last axis, rounded once: the order of the values does not matter."""
    rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    return np.array([math.fsum(row) for row in rows.tolist()], dtype=np.float64).reshape(values.shape[:-1])


def count(segment: Ints, segments: int) -> Ints:
    """Number of positions in each segment."""
    return np.bincount(segment, minlength=segments).astype(np.int64, copy=False)


def cumulative_sum(values: Floats, start: Ints) -> Floats:
    """Running sum within each segment (inclusive).

    Whole numbers are summed in one flat pass, exactly. Others are summed by doubling steps inside
    their segment: a flat running sum minus its base would lose digits to earlier segments.
    """
    if not values.size:
        return values.copy()
    flat = np.cumsum(values)
    if flat[-1] < EXACT_INTEGERS_BELOW and bool((values == np.floor(values)).all()):
        return np.asarray(flat - (flat[start] - values[start]))
    return _scan(values, start, np.add)


def cumulative_product_before(values: Floats, start: Ints) -> Floats:
    """Product of the values *above* each position in its segment (exclusive; 1 at the first)."""
    return _exclusive(_scan(values, start, np.multiply), start, 1)


def cumulative_maximum_before(values: Ints, start: Ints) -> Ints:
    """Largest of the values above each position in its segment (exclusive; 0 at the first)."""
    return _exclusive(_scan(values, start, np.maximum), start, 0)


def _exclusive(scan: Number, start: Ints, first: int) -> Number:
    """Make an inclusive scan exclusive: each value one position down, ``first`` where a segment begins."""
    before = np.empty_like(scan)
    before[1:] = scan[:-1]
    before[start] = first
    return before


def _scan(values: Number, start: Ints, combine: Callable[[Number, Number], Number]) -> Number:
    """Inclusive scan within segments in log2(longest segment) whole-array steps (Hillis and Steele 1986)."""
    result = values.copy()
    depth = ordinals(start) - 1
    longest = int(depth.max(initial=0))
    step = 1
    while step <= longest:
        at = np.flatnonzero(depth >= step)
        result[at] = combine(result[at], result[at - step])
        step *= 2
    return result
