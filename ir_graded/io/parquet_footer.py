"""Reader of the footer of a Parquet file, which has the sizes of the columns.

Polars does not give these sizes, and pyarrow may not be installed. The footer is a struct in Thrift's compact
protocol.
"""

from __future__ import annotations

import os
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

from ir_graded.errors import FileFormatError

#: The length of the footer, and the mark of the format.
TAIL = 8
#: Largest number of bits of a 64-bit number in groups of seven.
_LONGEST = 70
# Numbers of fields in parquet.thrift.
_ROW_GROUPS, _COLUMNS, _META_DATA, _PATH, _UNCOMPRESSED = 4, 1, 3, 3, 6


def column_sizes(path: str | os.PathLike[str]) -> Counter[str]:
    """Return the uncompressed size of each column of a file in bytes, by name.

    Raises:
        FileFormatError: the footer is broken.
    """
    with Path(path).open("rb") as file:
        end = file.seek(-TAIL, os.SEEK_END)
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, end - length))
        footer = BytesIO(file.read(length))
    sizes: Counter[str] = Counter()
    try:
        for group in _struct(footer)[_ROW_GROUPS]:
            for column in group[_COLUMNS]:
                found = column[_META_DATA]
                sizes[found[_PATH][0].decode()] += found[_UNCOMPRESSED]
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{os.fspath(path)}: cannot be read as Parquet (its footer is broken)"
        ) from error
    return sizes


def _struct(data: BytesIO) -> dict[int, Any]:
    fields: dict[int, Any] = {}
    number = 0
    while (head := _byte(data)) != 0:
        number = number + (head >> 4) if head >> 4 else _integer(data)
        kind = head & 15
        fields[number] = kind == 1 if kind in (1, 2) else _value(data, kind)
    return fields


def _value(data: BytesIO, kind: int) -> Any:
    match kind:
        case 1 | 2 | 3:
            return _byte(data)
        case 4 | 5 | 6:
            return _integer(data)
        case 7:
            return _bytes(data, 8)
        case 8:
            return _bytes(data, _varint(data))
        case 9 | 10:
            head = _byte(data)
            size = head >> 4 if head >> 4 < 15 else _varint(data)  # noqa: PLR2004
            return [_value(data, head & 15) for _ in range(size)]
        case 12:
            return _struct(data)
    raise ValueError(f"a field of type {kind}")


def _integer(data: BytesIO) -> int:
    value = _varint(data)
    return (value >> 1) ^ -(value & 1)


def _varint(data: BytesIO) -> int:
    value = 0
    for shift in range(0, _LONGEST, 7):
        byte = _byte(data)
        value |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004
            return value
    raise ValueError("a number of more than 64 bits")


def _byte(data: BytesIO) -> int:
    return _bytes(data, 1)[0]


def _bytes(data: BytesIO, size: int) -> bytes:
    found = data.read(size)
    if len(found) < size:
        raise ValueError("the end is missing")
    return found
