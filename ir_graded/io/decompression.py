"""Decompression of gzip, zstandard and xz, told by their first bytes, in steps of bounded output.

A small file may be made to expand to any size. Data that expand to far more than a run or qrels can are an
error. The libraries' own file objects give no such bound, and miss truncated zstandard and joined xz data.
"""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ir_graded.errors import FileFormatError

#: Compressed bytes that are read, and mostly decompressed, at a time: few, as they may be many more then.
READ = 1 << 16
#: As many bytes tell a compression.
MAGIC = 6

#: A text is held to the size that it was compressed to once it is larger than this.
_EXPANDED = 1 << 26
#: No text of runs or qrels is so many times as large as what it was compressed to; most are less than ten.
_RATIO = 200
#: The output of a step.
_STEP = 1 << 22
#: Memory that decompressing xz may take: several times what its highest level does.
_XZ_MEMORY = 1 << 28
#: Zstandard gives no bound to a step's output: four bytes are 128 KiB at most.
_ZSTANDARD_STEP = 1 << 12

#: A frame, or the skippable frame that parallel compressors put in front.
_ZSTANDARD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
#: Compressions that are not read, by how they begin.
_NOT_READ = {"bzip2": re.compile(rb"BZh[1-9]"), "zip": re.compile(rb"PK\x03\x04")}


class Codec(NamedTuple):
    """A compression.

    Attributes:
        name: its name in messages.
        start: gives a decompressor of one member, as those of zlib, lzma and zstandard are.
        error: raised by the decompressor for corrupt data.
        step: how many bytes are given to it at a time.
        limit: further arguments of its ``decompress``: the largest output.
    """

    name: str
    start: Callable[[], Any]
    error: type[Exception]
    step: int = READ
    limit: tuple[int, ...] = (_STEP,)


def codec_of(data: bytes, path: str) -> Codec | None:
    """Return the compression of data that begin so; None where they are not compressed."""
    if data.startswith(b"\x1f\x8b"):
        return Codec("gzip", partial(zlib.decompressobj, zlib.MAX_WBITS | 16), zlib.error)
    if data.startswith(b"\xfd7zXZ\0"):
        return Codec("xz", partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _XZ_MEMORY), lzma.LZMAError)
    if _ZSTANDARD.match(data):
        try:
            import zstandard
        except ImportError as error:
            raise FileFormatError(
                f"{path}: compressed with zstandard; install the package 'zstandard' to read it"
            ) from error
        start = zstandard.ZstdDecompressor().decompressobj
        return Codec("zstandard", start, zstandard.ZstdError, _ZSTANDARD_STEP, ())
    for name, magic in _NOT_READ.items():
        if magic.match(data) and not data.isascii():
            raise FileFormatError(
                f"{path}: compressed with {name}, which is not read: decompress it, or compress it with "
                "gzip, zstandard or xz"
            )
    return None


def decompressed(blocks: Iterator[bytes], codec: Codec, path: str) -> Iterator[bytes]:
    """Decompress all members of a stream; null bytes after a member are padding.

    Raises:
        FileFormatError: the data are corrupt or truncated, or expand to far more than any run or qrels.
    """
    member = codec.start()
    taken = given = 0
    try:
        for data in _steps(blocks, codec.step):
            taken += len(data)
            rest, text = data, b""
            while rest or len(text) == _STEP:
                if member.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    member = codec.start()
                text = member.decompress(rest, *codec.limit)
                rest = member.unused_data or getattr(member, "unconsumed_tail", b"")
                given += len(text)
                check_expansion(given, taken, f"{path}: the {codec.name} data")
                yield text
    except codec.error as error:
        what = "too much memory is needed for the" if "memory" in str(error).lower() else "corrupt"
        raise FileFormatError(f"{path}: {what} {codec.name} data ({error})") from error
    if not member.eof:
        raise FileFormatError(f"{path}: truncated {codec.name} data")


def _steps(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    for block in blocks:
        for start in range(0, len(block), size):
            yield block[start : start + size]


def check_expansion(size: int, compressed: int, what: str) -> None:
    """Raise FileFormatError where ``what`` expands to far more bytes than any run or qrels do."""
    if size > max(_EXPANDED, _RATIO * compressed):
        raise FileFormatError(
            f"{what} expand to more than {_RATIO} times their size, which those of no run and no qrels do; "
            "write them as plain text if they are meant so"
        )
