"""Decompression in steps of bounded output: gzip, zstandard and xz, told by their first bytes.

A small file may be made to expand to any size. What expands to far more than a run or qrels can is refused.
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
#: The output of a step, about.
_STEP = 1 << 22
#: Memory that decompressing xz may take: several times what its highest level does.
_XZ_MEMORY = 1 << 28
#: Zstandard gives no bound to a step's output: four bytes are 128 KiB at most.
_ZSTANDARD_STEP = 1 << 12

#: A frame, or the skippable frame that parallel compressors put in front.
_ZSTANDARD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
#: What is not read, by how it begins.
_NOT_READ = {"bzip2": re.compile(rb"BZh[1-9]"), "zip": re.compile(rb"PK\x03\x04")}


class Codec(NamedTuple):
    """A compression.

    Attributes:
        name: what messages call it.
        start: gives a decompressor of one member, as those of zlib, lzma and zstandard are.
        outputs: gives what a decompressor makes of some bytes, a bounded piece at a time.
        step: how many bytes are given to it at a time.
        error: what it raises for corrupt data.
    """

    name: str
    start: Callable[[], Any]
    outputs: Callable[[Any, bytes], Iterator[bytes]]
    step: int
    error: type[Exception]


def codec_of(data: bytes, path: str) -> Codec | None:
    """The compression of data that begin so; None where they are not compressed."""
    if data.startswith(b"\x1f\x8b"):
        return Codec("gzip", partial(zlib.decompressobj, zlib.MAX_WBITS | 16), _from_gzip, READ, zlib.error)
    if data.startswith(b"\xfd7zXZ\0"):
        start = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _XZ_MEMORY)
        return Codec("xz", start, _from_xz, READ, lzma.LZMAError)
    if _ZSTANDARD.match(data):
        return _zstandard(path)
    for name, magic in _NOT_READ.items():
        if magic.match(data) and not data.isascii():
            raise FileFormatError(
                f"{path}: compressed with {name}, which is not read: decompress it, or compress it with "
                "gzip, zstandard or xz"
            )
    return None


def _zstandard(path: str) -> Codec:
    try:
        import zstandard
    except ImportError as error:
        raise FileFormatError(
            f"{path}: compressed with zstandard; install the package 'zstandard' to read it"
        ) from error

    def start() -> Any:
        return zstandard.ZstdDecompressor().decompressobj()

    return Codec("zstandard", start, _from_zstandard, _ZSTANDARD_STEP, zstandard.ZstdError)


def _from_gzip(member: Any, data: bytes) -> Iterator[bytes]:
    while True:
        found = member.decompress(data, _STEP)
        yield found
        data = member.unconsumed_tail
        if member.eof or not (data or len(found) == _STEP):
            return


def _from_xz(member: Any, data: bytes) -> Iterator[bytes]:
    yield member.decompress(data, _STEP)
    while not (member.eof or member.needs_input):
        yield member.decompress(b"", _STEP)


def _from_zstandard(member: Any, data: bytes) -> Iterator[bytes]:
    yield member.decompress(data)


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
            rest = data
            while rest:
                if member.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    member = codec.start()
                for text in codec.outputs(member, rest):
                    given += len(text)
                    check_expansion(given, taken, f"{path}: the {codec.name} data")
                    yield text
                rest = member.unused_data if member.eof else b""
    except codec.error as error:
        what = "too much memory is needed for the" if "memory" in str(error).lower() else "corrupt"
        raise FileFormatError(f"{path}: {what} {codec.name} data ({error})") from error
    if not member.eof:
        raise FileFormatError(f"{path}: truncated {codec.name} data")


def _steps(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The same stream in blocks of at most ``size`` bytes."""
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
