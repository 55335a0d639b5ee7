"""Text of files, decompressed, as a whole or in pieces of whole topics; and its lines.

A small file may expand to any size, so data that expand far more than runs or qrels do are an error. A piece
ends where the topic changes. A compressed file is read piece by piece, pieces of a plain file in parallel.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ir_graded.errors import FileFormatError, shortened

#: Attributes of a file that change when the file changes.
_STATE = ("st_dev", "st_ino", "st_size", "st_mtime_ns")


@contextmanager
def errors_with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path to errors of the operating system, which lack it after the file is open."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise


class FileChangedError(FileFormatError):
    """Error about a file that was written to while it was read."""


def check_unchanged(path: str | os.PathLike[str], before: os.stat_result) -> None:
    """Raise FileFormatError if a regular file was written to or replaced since ``before``."""
    if stat.S_ISREG(before.st_mode):
        now = Path(path).stat()
        if any(getattr(now, name) != getattr(before, name) for name in _STATE):
            raise FileChangedError(f"{os.fspath(path)}: was changed while it was read")


#: Compressed bytes that are read, and usually decompressed, at a time: few, because they may expand a lot.
READ = 1 << 16
#: Number of bytes that identify a compression.
MAGIC = 8

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
#: Start of a stream, and of its first block or its end.
_BZIP2 = re.compile(rb"BZh[1-9](1AY&|\x17rE8)")
#: What is not read, by its first bytes, and what to do about it.
_UNPACK = "unpack it, and give the files in it"
_NOT_READ = {
    rb"\x04\x22\x4d\x18": ("compressed with lz4", "decompress it, or use gzip, bzip2, zstandard or xz"),
    rb"PK\x03\x04": ("a zip archive, such as .zip or .xlsx", _UNPACK),
    rb"(?=[^\n]{257}ustar)[^\n]*\0": ("a tar archive, such as .tar or .tar.gz", _UNPACK),
}


class Codec(NamedTuple):
    """A compression: its name, what starts a decompressor with the interface of zlib, and its error.

    ``step`` bytes are given to a call; ``limit`` has further arguments of ``decompress``, the largest output.
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
    if _BZIP2.match(data):
        return Codec("bzip2", bz2.BZ2Decompressor, OSError)
    return None


def decompressed(blocks: Iterator[bytes], codec: Codec, path: str) -> Iterator[bytes]:
    """Decompress all members of a stream; null bytes after a member are padding."""
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
        if getattr(error, "errno", None) is not None:  # of the system, not of bzip2
            raise
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


#: Longest allowed line: ten thousand times the length of most lines of runs and qrels.
_LONGEST_LINE = 1 << 20
#: Largest JSON, which may be on one line: five times a run of 7,000 topics to depth 1,000.
_LARGEST_JSON = 1 << 30

#: Number of bytes in which JSON begins.
_BEGINNING = 256

#: Initial number of bytes to search for the next topic.
_LOOK = 1 << 16

#: Number of bytes of a topic that are compared.
_LONG_ID = 256

#: Function that returns the bytes of a piece.
Load = Callable[[], bytes]


def read_text(path: str) -> bytes:
    """Return the text of a file, decompressed, without a byte-order mark."""
    with errors_with_path(path), Path(path).open("rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        found_json, blocks, codec = _begun(file, path)
        if codec is None and stat.S_ISREG(before.st_mode) and not found_json:
            blocks = _at_once(file, path)
        data = b"".join((_up_to_size if found_json else _with_short_lines)(blocks, path))
        check_unchanged(path, before)
    return data.removeprefix(codecs.BOM_UTF8)


def text_pieces(path: str, size: int) -> Iterator[Load]:
    """Yield a regular file in pieces of ``size`` bytes, extended to the line where the first field changes.

    Pieces have no byte-order mark; only the newline at the end of the last piece may be missing. JSON is one
    piece.
    """
    with errors_with_path(path), Path(path).open("rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        found_json, blocks, codec = _begun(file, path)
        if found_json:
            yield partial(read_text, path)
            return
        if codec is None:
            yield from _stretches(path, before, size)
            return
        text = _with_short_lines(blocks, path)
        for number, piece in enumerate(_cut(text, size)):
            yield partial(bytes, piece if number else piece.removeprefix(codecs.BOM_UTF8))
        check_unchanged(path, before)


def _begun(file: FileIO, path: str) -> tuple[bool, Iterator[bytes], Codec | None]:
    """Return whether a text begins like JSON, its blocks and its compression.

    A pipe may give a few bytes at a time. Raises FileFormatError for archives.
    """
    first = file.read(READ)
    while len(first) < MAGIC and (more := file.read(READ)):
        first += more
    codec = codec_of(first, path)
    blocks = chain([first], iter(partial(file.read, READ), b""))
    text = blocks if codec is None else decompressed(blocks, codec, path)
    head = b""
    for block in text:
        head += block
        if len(head) > _BEGINNING or head.removeprefix(codecs.BOM_UTF8).strip():
            break
    for magic, (what, advice) in _NOT_READ.items():
        if re.match(magic, head):
            raise FileFormatError(f"{path}: {what}, which is not read; {advice}")
    return is_json(head.removeprefix(codecs.BOM_UTF8)), chain([head], text), codec


def is_json(data: bytes) -> bool:
    """Return whether a text begins like a JSON object or array."""
    return data[:_BEGINNING].lstrip()[:1] in {b"{", b"["}


def _up_to_size(blocks: Iterable[bytes], path: str) -> Iterator[bytes]:
    """Yield the blocks of JSON. Raises FileFormatError as soon as they are too large for memory."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > _LARGEST_JSON:
            raise FileFormatError(
                f"{path}: the JSON is larger than {_LARGEST_JSON >> 20} MiB; write lines of fields or Parquet"
            )
        yield block


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


def _stretches(path: str, before: os.stat_result, size: int) -> Iterator[Load]:
    """Yield functions that each read a part of a plain file."""
    mark = len(codecs.BOM_UTF8)
    begin = mark if _stretch(path, 0, min(mark, before.st_size), before) == codecs.BOM_UTF8 else 0
    while begin < before.st_size:
        end = _topic_end(path, begin + size, before)
        yield partial(_stretch, path, begin, end, before)
        begin = end


def _stretch(path: str, begin: int, end: int, before: os.stat_result) -> bytes:
    with errors_with_path(path), Path(path).open("rb", buffering=0) as file:
        file.seek(begin)
        found = file.read(end - begin)
        while len(found) < end - begin:
            more = file.read(end - begin - len(found))
            if not more:
                raise FileChangedError(f"{path}: became shorter while it was read")
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
    first = re.compile(rb"^[^\S\n]*((?!#\s)\S+)", re.MULTILINE).search(text, begin)
    if first is None or first.end() == len(text):
        return 0
    # Topics with such a long common beginning count as one, which only makes the piece longer.
    topic = re.escape(first[1]) + rb"\s" if len(first[1]) < _LONG_ID else re.escape(first[1][:_LONG_ID])
    # Skip white space only to the end of a line, so that blank lines are not scanned repeatedly.
    change = re.compile(rb"\n(?=[^\S\n]*\S+\s)(?![^\S\n]*(?:#\s|" + topic + rb"))").search(text, first.end())
    return change.start() + 1 if change else 0


def line_text(raw: bytes, line: int, path: str, errors: str = "strict") -> str:
    """Return one line without its end; ``errors`` as for ``bytes.decode``."""
    body = raw.removesuffix(b"\n").removesuffix(b"\r")
    if b"\r" in body:
        raise line_error(path, line, "a carriage return inside the line; a line ends in \\n or \\r\\n", raw)
    try:
        return body.decode(errors=errors)
    except UnicodeDecodeError as error:
        problem = f"byte 0x{error.object[error.start]:02x} is not UTF-8; the file must be text in UTF-8"
        raise line_error(path, line, problem, raw) from None


def split_fields(raw: bytes, tabs: int = 0) -> list[bytes]:
    """Split one line into fields, those between tabs if ``tabs`` is not 0; a comment has none."""
    fields = raw.split()
    if fields[:1] == [b"#"]:
        return []
    return [*filter(None, map(bytes.strip, raw.split(b"\t")))] if tabs else fields


def fields_of(raw: bytes, line: int, path: str, tabs: int = 0) -> list[str]:
    """Split one line as ``split_fields``, as text. Raises FileFormatError if it is not valid text."""
    fields = split_fields(raw, tabs)
    if fields or raw.isspace():  # not a comment
        line_text(raw, line, path)  # checks it
    return [field.decode() for field in fields]


#: Fewer fields between tabs are no line of any format.
_FEWEST_FIELDS = 3


def fields_between_tabs(data: bytes) -> int:
    """Return the number of fields on all lines if tabs alone separate them and some hold blanks, else 0."""
    if b"\t" not in data or b" " not in data:
        return 0
    number = holds_blanks = 0
    for raw in io.BytesIO(data):
        if fields := split_fields(raw, 1):
            number = number or len(fields)
            if len(fields) != max(number, _FEWEST_FIELDS):
                return 0
            holds_blanks |= len(raw.split()) > number
    return number * holds_blanks


#: A line whose first field is a number sign: the first of a text, and the others.
_FIRST_COMMENT = re.compile(rb"[^\S\n]*#(?!\S)[^\n]*")
_COMMENT = re.compile(rb"\n" + _FIRST_COMMENT.pattern)


def without_comments(data: bytes) -> bytes:
    """Return lines of fields with blank lines in place of comments."""
    if b"#" not in data:
        return data
    data = _COMMENT.sub(b"\n", data)
    first = _FIRST_COMMENT.match(data)
    return data[first.end() :] if first else data


def delimited_rows(data: bytes, delimiter: str, path: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows of a text that are not blank, and the numbers of the lines in which they end."""
    check_byte_order_marks(data, int, path)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise line_error(path, line, "the file must be text in UTF-8", b"") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if any(map(str.strip, row)):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        problem = f"not CSV: {error}; a field that begins with a quotation mark must end with one"
        raise line_error(path, reader.line_num, problem, b"") from None
    return rows, lines


def line_error(path: str, line: int, problem: str, raw: bytes) -> FileFormatError:
    """Return an error with the problem, the line and its position."""
    shown = shortened(raw.removesuffix(b"\n").removesuffix(b"\r")[:400].decode(errors="replace"))
    return FileFormatError(f"{path}, line {line}: {problem}: {shown}")


def check_byte_order_marks(data: bytes, lines_before: Callable[[], int], path: str) -> None:
    """Raise FileFormatError if a text contains a byte-order mark, which would be read as part of an id."""
    # Searching for one byte is much faster, and few texts contain this byte.
    if codecs.BOM_UTF8[:1] in data and codecs.BOM_UTF8 in data:
        before = data.count(b"\n", 0, data.index(codecs.BOM_UTF8))
        problem = "a byte-order mark inside the file (are these several files joined?); remove it"
        raise line_error(path, lines_before() + before + 1, problem, data.split(b"\n", before + 1)[before])
