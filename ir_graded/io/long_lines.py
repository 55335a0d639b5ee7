"""Lines that are longer than any of a run: refused as soon as they are, for they would be held as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from ir_graded.errors import FileFormatError

from .decompression import READ
from .formats import shortened

#: No line of a run or of qrels is longer: ten thousand times what most are.
LONGEST = 1 << 20


def checked(text: bytes, path: str) -> bytes:
    """The same text. Raises FileFormatError where a line of it, even if only a part of one, is too long."""
    begin = 0
    while len(text) - begin > LONGEST:
        end = text.rfind(b"\n", begin, begin + LONGEST + 1)
        if end < 0:
            raise _too_long(text[begin : begin + READ], path)
        begin = end + 1
    return text


def lines_ending(blocks: Iterator[bytes], path: str) -> Iterator[bytes]:
    """The same stream. Raises FileFormatError where a line does not end for too long."""
    length, begin = 0, b""
    for block in blocks:
        newline = block.rfind(b"\n")
        if newline >= 0 or not begin:
            length, begin = 0, block[newline + 1 :][:READ]
        length += len(block) - (newline + 1)
        if length > LONGEST:
            raise _too_long(begin, path)
        yield block


def _too_long(begin: bytes, path: str) -> FileFormatError:
    shown = shortened(begin[:200].decode(errors="replace"))
    return FileFormatError(f"{path}: the line that holds {shown} is longer than {LONGEST >> 20} MiB")
