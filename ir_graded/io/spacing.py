"""White space of a text: detect whether single blanks separate the fields, and normalise it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

LineNumbers = npt.NDArray[np.int64]
_Bytes = npt.NDArray[np.uint8]
_Mask = npt.NDArray[np.bool_]

#: Bytes that are processed together: few enough for the temporary arrays to stay in the processor cache.
_BLOCK = 1 << 18

_FIRST, _LAST = b"AS"
_TAB, _NEWLINE, _RETURN, _BLANK = b"\t\n\r "
#: White space inside lines other than blanks, as in C's isspace() and bytes.split().
_OTHER_BLANKS = (b"\t", b"\v", b"\f")


def count_white_space(data: bytes) -> int | None:
    """Count the white characters of a text in which single blanks and newlines separate all fields.

    Control characters count as white. They make the count differ from the number of fields, with which the
    caller compares it.

    Returns:
        The count, including the newline that may be missing at the end; None if two are adjacent or the text
        begins with one.
    """
    return _count_if_single(data, _blank_or_control)


def count_white_space_exactly(data: bytes) -> int | None:
    """Count as ``count_white_space``, for a text that may have control characters in its fields."""
    return _count_if_single(data, _white)


def _blank_or_control(values: _Bytes) -> _Mask:
    return np.asarray(values <= _BLANK)


def _white(values: _Bytes) -> _Mask:
    # The five characters \t \n \v \f \r; the difference wraps around below \t.
    return np.asarray((values == _BLANK) | ((values - np.uint8(_TAB)) <= _RETURN - _TAB))


def _count_if_single(data: bytes, white_in: Callable[[_Bytes], _Mask]) -> int | None:
    values = np.frombuffer(data, np.uint8)
    count = 0
    before = True
    for start in range(0, values.size, _BLOCK):
        white = white_in(values[start : start + _BLOCK])
        if (before and white[0]) or (white[1:] & white[:-1]).any():
            return None
        before = bool(white[-1])
        count += int(np.count_nonzero(white))
    return count + (not before)


def has_letter_fields(text: bytes) -> bool:
    """Return whether some field of a text, except the first and the last, is a single letter from A to S.

    Single white characters must separate the fields. This is much faster than parsing a column.
    """
    values = np.frombuffer(text, np.uint8)
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK + 2]
        white = block <= _BLANK
        # Bytes below A wrap around to large numbers.
        alone = (block - np.uint8(_FIRST))[1:-1] <= _LAST - _FIRST
        np.logical_and(alone, white[2:], out=alone)
        np.logical_and(alone, white[:-2], out=alone)
        if alone.any():
            return True
    return False


def normalise_spacing(data: bytes) -> tuple[bytes, LineNumbers | None]:
    """Normalise any spacing for the parser; a carriage return inside a line is kept.

    Returns:
        The text, and the line number of each of its lines, or None if no line was dropped.
    """
    texts: list[bytes] = []
    numbers: list[LineNumbers] = []
    total = 0
    for block in split_after_newlines(data, _BLOCK):
        text, kept, count = _normalise_lines(block)
        texts.append(text)
        numbers.append(kept + (1 + total))
        total += count
    lines = np.concatenate(numbers) if numbers else None
    return b"".join(texts), None if lines is None or lines.size == total else lines


def split_after_newlines(data: bytes, size: int) -> Iterator[bytes]:
    """Yield a text in blocks that end in newlines; add the last newline if it is missing."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1
        if end:
            yield data[start:end]
        else:
            rest = data[start:]
            yield rest if rest.endswith(b"\n") else rest + b"\n"
            return
        start = end


def _normalise_lines(block: bytes) -> tuple[bytes, LineNumbers, int]:
    """Normalise lines that all end in a newline; return the text, the lines kept and their number."""
    values = np.frombuffer(block, np.uint8)
    for other in _OTHER_BLANKS:
        if other in block:
            # Adding is much faster than assignment by mask.
            values = values + (values == ord(other)).view(np.uint8) * np.uint8(_BLANK - ord(other))
    mark = _blanks_before_white(values, b"\r" in block)
    values = _without(values, mark)
    newline = values == _NEWLINE
    opens_line = np.empty(values.size, np.bool_)
    opens_line[0] = True
    opens_line[1:] = newline[:-1]
    empty = opens_line & newline
    count = int(np.count_nonzero(newline))
    kept = np.flatnonzero(~empty[newline]) if empty.any() else np.arange(count, dtype=np.int64)
    values = _without(values, empty | (opens_line & (values == _BLANK)))
    return values.tobytes(), kept, count


def _blanks_before_white(values: _Bytes, returns: bool) -> _Mask:
    """Mark all blanks of a sequence except the last; at the end of a line, mark all and the return."""
    blank = values == _BLANK
    newline = values == _NEWLINE
    mark = np.zeros(values.size, np.bool_)
    if returns:
        ending = (values[:-1] == _RETURN) & newline[1:]
        newline[:-1] |= ending
        np.logical_and(blank[:-1], blank[1:] | newline[1:], out=mark[:-1])
        mark[:-1] |= ending
    else:
        np.logical_and(blank[:-1], blank[1:] | newline[1:], out=mark[:-1])
    return mark


def _without(values: _Bytes, mark: _Mask) -> _Bytes:
    return values[~mark] if mark.any() else values
