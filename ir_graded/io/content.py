"""The text of a file, decompressed: whole, or in pieces of whole topics that are scored each on its own.

A piece ends where the topic of its lines changes. Whether a topic comes back in a later piece, the caller
sees from what it scored. A compressed file is read as its pieces are asked for; a piece of a plain file by
whoever loads it, so that threads read at the same time.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import partial
from io import FileIO
from itertools import chain
from pathlib import Path

from ir_graded.errors import FileFormatError

from . import long_lines
from .decompression import MAGIC, READ, codec_of, decompressed
from .file_state import FileState

#: How far one looks ahead for the next topic at first.
_LOOK = 1 << 16

#: Bytes of a topic that are compared.
_LONG_ID = 256

#: Gives the bytes of a piece.
Load = Callable[[], bytes]


def whole(path: str) -> bytes:
    """The text of a file, decompressed, without a byte-order mark.

    Raises:
        FileFormatError: its compressed data are corrupt, truncated or expand to far more than any run, a
            line is longer than any of a run, or it is written to meanwhile.
        OSError: it cannot be read.
    """
    with Path(path).open("rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        first = _first(file)
        codec = codec_of(first, path)
        blocks = chain([first], iter(partial(file.read, READ), b""))
        if codec is not None:
            data = b"".join(long_lines.lines_ending(decompressed(blocks, codec, path), path))
        elif _is_dense(found):
            data = _plain(file, path)
        else:
            data = b"".join(long_lines.lines_ending(blocks, path))
        _check_unchanged(file, found, path)
    return long_lines.checked(data.removeprefix(codecs.BOM_UTF8), path)


def pieces(path: str, size: int) -> Iterator[Load]:
    """The lines of a regular file in pieces of ``size`` bytes and on to where a line's first field changes.

    There is no byte-order mark; only the newline at the end of the last piece may be missing.

    Raises:
        FileFormatError: its compressed data are corrupt, truncated or expand to far more than any run, a
            line is longer than any of a run, or it is written to meanwhile.
        OSError: it cannot be read.
    """
    with Path(path).open("rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        first = _first(file)
        codec = codec_of(first, path)
        if codec is None:
            begin = len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0
            yield from _stretches(path, begin, FileState.of(found), size)
            return
        blocks = chain([first], iter(partial(file.read, READ), b""))
        for number, piece in enumerate(
            _cut(long_lines.lines_ending(decompressed(blocks, codec, path), path), size)
        ):
            yield partial(long_lines.checked, piece if number else piece.removeprefix(codecs.BOM_UTF8), path)
        _check_unchanged(file, found, path)


def _check_unchanged(file: FileIO, found: os.stat_result, path: str) -> None:
    """Raise FileFormatError if a regular file was written to since ``found`` was taken."""
    if stat.S_ISREG(found.st_mode):
        FileState.of(found).check(os.fstat(file.fileno()), path)


def _first(file: FileIO) -> bytes:
    """The first bytes of a file; a pipe may give a few at a time."""
    found = file.read(READ)
    while len(found) < MAGIC:
        more = file.read(READ)
        if not more:
            break
        found += more
    return found


def _is_dense(found: os.stat_result) -> bool:
    """Whether a file is a regular one that takes its size on the disk.

    Holes in a file, which may make it look enormous, are one long line of null bytes.
    """
    blocks: int | None = getattr(found, "st_blocks", None)  # of 512 bytes; Windows does not count them
    return stat.S_ISREG(found.st_mode) and (blocks is None or blocks * 512 >= found.st_size)


def _plain(file: FileIO, path: str) -> bytes:
    """All bytes of a regular file. Raises FileFormatError where its first line is too long."""
    state = FileState.of(os.fstat(file.fileno()))
    if state.size > long_lines.LONGEST:
        _stretch(path, 0, long_lines.LONGEST + 1, state)
    file.seek(0)
    try:
        return file.read()
    except MemoryError:
        raise FileFormatError(f"{path}: its {state.size >> 20} MiB do not fit in memory") from None


# ------------------------------------------------------------------------------------- where to cut


def _stretches(path: str, begin: int, state: FileState, size: int) -> Iterator[Load]:
    """A plain file in stretches that are read when they are loaded."""
    while begin < state.size:
        end = _end(path, begin + size, state)
        yield partial(_stretch, path, begin, end, state)
        begin = end


def _stretch(path: str, begin: int, end: int, state: FileState) -> bytes:
    with Path(path).open("rb", buffering=0) as file:
        file.seek(begin)
        found = file.read(end - begin)
        while len(found) < end - begin:
            more = file.read(end - begin - len(found))
            if not more:
                raise FileFormatError(f"{path}: became shorter while it was read")
            found += more
        state.check(os.fstat(file.fileno()), path)
    return long_lines.checked(found, path)


def _end(path: str, at: int, state: FileState) -> int:
    """Where the topic ends that a file holds at a position."""
    look = _LOOK
    while at < state.size:
        end = _next_topic(_stretch(path, at, min(at + look, state.size), state), 0)
        if end:
            return at + end
        if at + look >= state.size:
            break
        look *= 4
    return state.size


def _cut(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Cut a stream of text into pieces; the blocks of a long topic are joined once."""
    held: list[bytes] = []
    length, last = 0, b""  # bytes held, and their last line, which may be incomplete
    for block in _joined(blocks, size):
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


def _joined(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The same stream in blocks of at least ``size`` bytes, but for the last."""
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
    """Where another topic begins, behind the next whole line after a position; 0: not in this text."""
    begin = text.find(b"\n", at) + 1
    if not begin:
        return 0
    first = re.compile(rb"\S+").search(text, begin)
    if first is None or first.end() == len(text):
        return 0
    # Topics with so long a beginning in common count as one: that only makes the piece longer.
    topic = re.escape(first[0]) + rb"\s" if len(first[0]) < _LONG_ID else re.escape(first[0][:_LONG_ID])
    # White space is looked at to the end of a line only: over blank lines it would be again and again.
    change = re.compile(rb"\n(?=[^\S\n]*\S+\s)(?![^\S\n]*" + topic + rb")").search(text, first.end())
    return change.start() + 1 if change else 0
