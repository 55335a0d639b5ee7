"""Sort order of many names, compared eight bytes at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .segments import Ints

#: Bytes that are compared at a time.
_WORD = 8
#: Masks that keep the first 0 to 8 bytes of a big-endian number.
_FIRST_BYTES = np.array(
    [((1 << 64) - 1) >> (8 * count) ^ ((1 << 64) - 1) for count in range(9)], dtype=np.uint64
)


def order_numbers(names: Sequence[str]) -> Ints:
    """Return a number per name that sorts like the names; equal names get equal numbers.

    The bytes of UTF-8 sort like Python strings, by code point.
    """
    data = "".join(names).encode("utf-8", "surrogatepass")
    length = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    if int(length.sum()) < len(data):
        encoded = (name.encode("utf-8", "surrogatepass") for name in names)
        length = np.fromiter(map(len, encoded), dtype=np.int64, count=len(names))
    begin = np.cumsum(length) - length
    # One word starts at each byte, without a copy; the end is padded with zeros.
    padded = data + bytes(_WORD)
    words = np.ndarray((len(data) + 1,), dtype=">u8", buffer=padded, strides=(1,))

    def word(number: int, rows: Ints | slice) -> npt.NDArray[np.uint64]:
        left = np.clip(length[rows] - _WORD * number, 0, _WORD)
        found = words[np.minimum(begin[rows] + _WORD * number, len(data))].astype(np.uint64)
        return np.asarray(found & _FIRST_BYTES[left])

    order = _dense(word(0, slice(None)))
    for number in range(1, -(-int(length.max(initial=0)) // _WORD)):
        # Compare further only names that agree so far and have more bytes.
        rows = np.flatnonzero((np.bincount(order)[order] > 1) & (length > _WORD * number))
        if not rows.size:
            break
        following = np.zeros(order.size, dtype=np.int64)
        following[rows] = _dense(word(number, rows)) + 1
        order = _dense(order << 32 | following)
    if b"\0" in data:
        # Padding zeros cannot be told from zero bytes of a name, so compare lengths.
        order = _dense(order << 32 | _dense(length))
    return order


def _dense(values: npt.NDArray[np.integer]) -> Ints:
    """Return for each value the number of distinct smaller values."""
    order = np.argsort(values)
    ordered = values[order]
    steps = np.zeros(values.size, dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
    number = np.empty_like(steps)
    number[order] = steps
    return number
