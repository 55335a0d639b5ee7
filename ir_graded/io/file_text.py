"""Decompressed text of a file, as a whole or in pieces of whole topics that are scored separately.

A piece ends where the topic of its lines changes. The caller detects topics that reappear in a later piece. A
compressed file is read piece by piece; each piece of a plain file is read by the thread that loads it, so
that threads read in parallel.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import FileIO
from itertools import chain
from pathlib import Path

from ir_graded.errors import FileFormatError

from .decompression import MAGIC, READ, Codec, codec_of, decompressed
from .formats import shortened
from .paths import check_unchanged

#: Longest allowed line: ten thousand times the length of most lines of runs and qrels.
_LONGEST_LINE = 1 << 20

#: Initial number of bytes to search for the next topic.
_LOOK = 1 << 16

#: Number of bytes of a topic that are compared.
_LONG_ID = 256

#: Function that returns the bytes of a piece.
Load = Callable[[], bytes]


def read_text(path: str) -> bytes:
    """Return the text of a file, decompressed, without a byte-order mark.

    Raises:
        FileFormatError: compressed data are corrupt, truncated or expand too much, a line is too long, or the
            file changes during reading.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        blocks, codec = _blocks(file, path)
        if codec is not None:
            blocks = decompressed(blocks, codec, path)
        elif _is_dense(before):
            blocks = _at_once(file, path)
        data = b"".join(_with_short_lines(blocks, path))
        check_unchanged(path, before)
    return data.removeprefix(codecs.BOM_UTF8)


def text_pieces(path: str, size: int) -> Iterator[Load]:
    """Yield a regular file in pieces of ``size`` bytes, extended to the line where the first field changes.

    Pieces have no byte-order mark; only the newline at the end of the last piece may be missing.

    Raises:
        FileFormatError: as :func:`read_text`.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        blocks, codec = _blocks(file, path)
        if codec is None:
            yield from _stretches(path, before, size)
            return
        text = _with_short_lines(decompressed(blocks, codec, path), path)
        for number, piece in enumerate(_cut(text, size)):
            yield partial(bytes, piece if number else piece.removeprefix(codecs.BOM_UTF8))
        check_unchanged(path, before)


def _blocks(file: FileIO, path: str) -> tuple[Iterator[bytes], Codec | None]:
    """Return the blocks of a file and its compression; a pipe may give a few bytes at a time."""
    first = file.read(READ)
    while len(first) < MAGIC and (more := file.read(READ)):
        first += more
    return chain([first], iter(partial(file.read, READ), b"")), codec_of(first, path)


def _is_dense(found: os.stat_result) -> bool:
    """Return whether a file is regular and has no holes, which could make it look very large."""
    blocks: int | None = getattr(found, "st_blocks", None)  # of 512 bytes; Windows does not count them
    return stat.S_ISREG(found.st_mode) and (blocks is None or blocks * 512 >= found.st_size)


def _at_once(file: FileIO, path: str) -> Iterator[bytes]:
    """Yield a whole regular file, after checking its first line."""
    file.seek(0)
    list(_with_short_lines([file.read(_LONGEST_LINE + 1)], path))
    file.seek(0)
    try:
        yield file.read()
    except MemoryError:
        size = os.fstat(file.fileno()).st_size
        raise FileFormatError(f"{path}: its {size >> 20} MiB do not fit in memory") from None


def _with_short_lines(blocks: Iterable[bytes], path: str) -> Iterator[bytes]:
    """Yield the blocks of a text. Raises FileFormatError as soon as a line is too long for memory."""
    length, start = 0, b""  # of the line that the last block ended in
    for block in blocks:
        begin = 0
        while length + len(block) - begin > _LONGEST_LINE:
            end = block.rfind(b"\n", begin, begin + _LONGEST_LINE + 1 - length)
            if end < 0:
                shown = shortened((start + block[begin : begin + 200])[:200].decode(errors="replace"))
                raise FileFormatError(
                    f"{path}: the line with {shown} is longer than {_LONGEST_LINE >> 20} MiB"
                )
            length, start, begin = 0, b"", end + 1
        newline = block.rfind(b"\n", begin)
        if newline >= 0:
            length, start, begin = 0, b"", newline + 1
        start = start or block[begin : begin + 200]
        length += len(block) - begin
        yield block


# ------------------------------------------------------------------------------------- where to cut


def _stretches(path: str, before: os.stat_result, size: int) -> Iterator[Load]:
    """Yield functions that each read a part of a plain file."""
    mark = len(codecs.BOM_UTF8)
    begin = mark if _stretch(path, 0, min(mark, before.st_size), before) == codecs.BOM_UTF8 else 0
    while begin < before.st_size:
        end = _topic_end(path, begin + size, before)
        yield partial(_stretch, path, begin, end, before)
        begin = end


def _stretch(path: str, begin: int, end: int, before: os.stat_result) -> bytes:
    with Path(path).open("rb", buffering=0) as file:
        file.seek(begin)
        found = file.read(end - begin)
        while len(found) < end - begin:
            more = file.read(end - begin - len(found))
            if not more:
                raise FileFormatError(f"{path}: became shorter while it was read")
            found += more
    check_unchanged(path, before)
    return b"".join(_with_short_lines([found], path))


def _topic_end(path: str, at: int, before: os.stat_result) -> int:
    """Return the position at which the topic at a position of a file ends."""
    look, size = _LOOK, before.st_size
    while at < size:
        end = _next_topic(_stretch(path, at, min(at + look, size), before), 0)
        if end:
            return at + end
        if at + look >= size:
            break
        look *= 4
    return size


def _cut(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield a stream of text in pieces; the blocks of a long topic are joined once."""
    held: list[bytes] = []
    length, last = 0, b""  # bytes held, and their last line, which may be incomplete
    for block in _merged(blocks, size):
        rest = block
        while rest:
            text = last + rest
            enough = length + len(rest) >= size
            end = _next_topic(text, max(0, size - length + len(last))) if enough else 0
            if not end:
                held.append(rest)
                length += len(rest)
                last = text[max(0, text.rfind(b"\n", 0, len(text) - 1)) :]
                break
            end -= len(last)
            yield b"".join([*held, memoryview(rest)[:end]])
            held, length, last, rest = [], 0, b"", rest[end:]
    if held:
        yield b"".join(held)


def _merged(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield a stream in blocks of at least ``size`` bytes, except for the last."""
    held: list[bytes] = []
    length = 0
    for block in blocks:
        held.append(block)
        length += len(block)
        if length >= size:
            yield b"".join(held)
            held, length = [], 0
    yield b"".join(held)


def _next_topic(text: bytes, at: int) -> int:
    """Return where another topic begins, after the next whole line after a position; 0 if it does not."""
    begin = text.find(b"\n", at) + 1
    if not begin:
        return 0
    first = re.compile(rb"\S+").search(text, begin)
    if first is None or first.end() == len(text):
        return 0
    # Topics with such a long common beginning count as one, which only makes the piece longer.
    topic = re.escape(first[0]) + rb"\s" if len(first[0]) < _LONG_ID else re.escape(first[0][:_LONG_ID])
    # Skip white space only to the end of a line, so that blank lines are not scanned repeatedly.
    change = re.compile(rb"\n(?=[^\S\n]*\S+\s)(?![^\S\n]*" + topic + rb")").search(text, first.end())
    return change.start() + 1 if change else 0
