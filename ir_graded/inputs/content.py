"""The text of a file, decompressed: whole, or in pieces of whole topics that are scored each on its own.

A piece ends where the topic of its lines changes. Whether a topic comes back in a later piece, the caller
sees from what it scored. A compressed file is read as its pieces are asked for; a piece of a plain file by
whoever loads it, so that threads read at the same time.
"""

from __future__ import annotations

import codecs
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol

from ..errors import FileFormatError

#: Bytes read at a time where a file is read from its beginning to its end: few, as they may be compressed.
_READ = 1 << 16
#: How far one looks ahead for the next topic at first.
_LOOK = 1 << 16

#: A frame, or the skippable frame that parallel compressors put in front.
_ZSTANDARD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")

#: Gives the bytes of a piece.
Load = Callable[[], bytes]


def whole(path: str) -> bytes:
    """The text of a file, decompressed, without a byte-order mark.

    Raises:
        FileFormatError: its compressed data are corrupt or truncated.
        OSError: it cannot be read.
    """
    data = Path(path).read_bytes()
    codec = _codec(data, path)
    if codec is not None:
        blocks = (data[start : start + _READ] for start in range(0, len(data), _READ))
        data = b"".join(_decompressed(blocks, codec, path))
    return data.removeprefix(codecs.BOM_UTF8)


def pieces(path: str, size: int) -> Iterator[Load]:
    """The lines of a regular file in pieces of ``size`` bytes and on to where a line's first field changes.

    There is no byte-order mark; only the newline at the end of the last piece may be missing.

    Raises:
        FileFormatError: its compressed data are corrupt or truncated.
        OSError: it cannot be read.
    """
    with Path(path).open("rb", buffering=0) as file:
        first = file.read(_READ)
        codec = _codec(first, path)
        if codec is None:
            begin = len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0
            yield from _stretches(path, begin, os.fstat(file.fileno()).st_size, size)
            return
        blocks = chain([first], iter(lambda: file.read(_READ), b""))
        for number, piece in enumerate(_cut(_decompressed(blocks, codec, path), size)):
            yield partial(_itself, piece if number else piece.removeprefix(codecs.BOM_UTF8))


def _itself(piece: bytes) -> bytes:
    return piece


# ------------------------------------------------------------------------------------- where to cut


def _stretches(path: str, begin: int, total: int, size: int) -> Iterator[Load]:
    """A plain file in stretches that are read when they are loaded."""
    while begin < total:
        end = _end(path, begin + size, total)
        yield partial(_stretch, path, begin, end)
        begin = end


def _stretch(path: str, begin: int, end: int) -> bytes:
    with Path(path).open("rb", buffering=0) as file:
        file.seek(begin)
        found = file.read(end - begin)
        while len(found) < end - begin:
            more = file.read(end - begin - len(found))
            if not more:
                raise FileFormatError(f"{path}: became shorter while it was read")
            found += more
    return found


def _end(path: str, at: int, total: int) -> int:
    """Where the topic ends that a file holds at a position."""
    look = _LOOK
    while at < total:
        end = _next_topic(_stretch(path, at, min(at + look, total)), 0)
        if end:
            return at + end
        if at + look >= total:
            break
        look *= 4
    return total


def _cut(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """A stream of text in pieces."""
    text, looked = b"", 0
    for block in _joined(blocks, size):
        text += block
        while len(text) >= size:
            end = _next_topic(text, max(size, looked))
            if not end:
                break
            yield text[:end]
            text, looked = text[end:], 0
        # The line that the text ends in may be cut off: look at it again.
        looked = max(0, text.rfind(b"\n", 0, len(text) - 1))
    if text:
        yield text


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
    first = re.compile(rb"\s*(\S+)\s").match(text, begin)
    if first is None:
        return 0
    change = re.compile(rb"\n(?=\s*\S+\s)(?!\s*" + re.escape(first[1]) + rb"\s)").search(text, first.end(1))
    return change.start() + 1 if change else 0


# ------------------------------------------------------------------------------------- decompression


class _Decompressor(Protocol):
    """What the decompressors of zlib, lzma and zstandard have in common; one reads one member."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _Codec(NamedTuple):
    """A compression: how to start on a member, and the error of one that is corrupt."""

    name: str
    start: Callable[[], _Decompressor]
    error: type[Exception]


def _codec(data: bytes, path: str) -> _Codec | None:
    if data.startswith(b"\x1f\x8b"):
        return _Codec("gzip", lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), zlib.error)
    if data.startswith(b"\xfd7zXZ\0"):
        return _Codec("xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), lzma.LZMAError)
    if _ZSTANDARD.match(data):
        return _zstandard(path)
    return None


def _zstandard(path: str) -> _Codec:
    try:
        import zstandard
    except ImportError as error:
        raise FileFormatError(
            f"{path}: compressed with zstandard; install the package 'zstandard' to read it"
        ) from error
    return _Codec("zstandard", lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


def _decompressed(blocks: Iterator[bytes], codec: _Codec, path: str) -> Iterator[bytes]:
    """Decompress all members of a stream; null bytes after a member are padding."""
    member = codec.start()
    try:
        for block in blocks:
            rest = block
            while rest:
                if member.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    member = codec.start()
                yield member.decompress(rest)
                rest = member.unused_data if member.eof else b""
    except codec.error as error:
        raise FileFormatError(f"{path}: corrupt {codec.name} data ({error})") from error
    if not member.eof:
        raise FileFormatError(f"{path}: truncated {codec.name} data")
