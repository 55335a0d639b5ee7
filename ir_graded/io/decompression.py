"""Decompression of gzip, zstandard and xz, detected by their first bytes, in steps of bounded output.

A small malicious file can expand to any size. Data that expand to far more than runs or qrels do are an
error. The file objects of the libraries have no such limit, and miss truncated zstandard and joined xz data.
"""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ir_graded.errors import FileFormatError

#: Compressed bytes that are read, and usually decompressed, at a time: few, because they may expand a lot.
READ = 1 << 16
#: Number of bytes that identify a compression.
MAGIC = 6

#: Above this size, the expansion of a text is checked.
_EXPANDED = 1 << 26
#: Largest allowed expansion. Runs and qrels expand less, most of them less than ten times.
_RATIO = 200
#: The output of a step.
_STEP = 1 << 22
#: Memory limit for xz: several times the need of its highest level.
_XZ_MEMORY = 1 << 28
#: Zstandard has no limit for the output of a step; four bytes expand to at most 128 KiB.
_ZSTANDARD_STEP = 1 << 12

#: Start of a frame, or of the skippable frame that parallel compressors write first.
_ZSTANDARD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
#: Unsupported compressions by their first bytes.
_NOT_READ = {"bzip2": re.compile(rb"BZh[1-9]"), "zip": re.compile(rb"PK\x03\x04")}


class Codec(NamedTuple):
    """A compression.

    Attributes:
        name: its name in messages.
        start: returns a decompressor of one member, with the interface of zlib, lzma and zstandard.
        error: error of the decompressor for corrupt data.
        step: number of bytes per call.
        limit: further arguments of ``decompress``: the largest output.
    """

    name: str
    start: Callable[[], Any]
    error: type[Exception]
    step: int = READ
    limit: tuple[int, ...] = (_STEP,)


def codec_of(data: bytes, path: str) -> Codec | None:
    """Return the compression of data by their first bytes; None if they are not compressed."""
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
                f"{path}: compressed with {name}, which is not supported; decompress it, or compress it with "
                "gzip, zstandard or xz"
            )
    return None


def decompressed(blocks: Iterator[bytes], codec: Codec, path: str) -> Iterator[bytes]:
    """Decompress all members of a stream; null bytes after a member are padding.

    Raises:
        FileFormatError: the data are corrupt or truncated, or expand to far more than runs or qrels do.
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
    """Raise FileFormatError if ``what`` expands to far more bytes than runs or qrels do."""
    if size > max(_EXPANDED, _RATIO * compressed):
        raise FileFormatError(
            f"{what} expand to more than {_RATIO} times their size, which is not plausible for a run or "
            "qrels; write them as plain text if they are correct"
        )
