"""Lines of runs and qrels, and the ways in which files may contain them."""

import bz2
import lzma
import math
import struct
from functools import partial

import numpy as np
import polars as pl
import zstandard
from packed import gzipped

from ir_graded.core.facets import VALUE_COLUMNS
from ir_graded.io.formats import FORMATS, Format
from ir_graded.io.lines import parse_lines

BOM = b"\xef\xbb\xbf"
#: The formats with a fixed number of fields.
FIXED = tuple(one for one in FORMATS if isinstance(one, Format))

RUN_ROWS = [
    ("301", "FT911-3", 12.5),
    ("301", "FT911-4", -3.0),
    ("301", "ünï-漢字", 1e-5),
    ("302", "a-document-with-quite-a-long-name", math.inf),
    ("303", '"quoted,#', 0.1),
]
RUN_LINES = [
    "301 Q0 FT911-3 1 12.5 tag",
    "301 Q0 FT911-4 2 -3 tag",
    "301 Q0 ünï-漢字 - 1e-5 tag",
    "302 Q0 a-document-with-quite-a-long-name none inf täg",
    '303 "Q0 "quoted,# 1 .1 "',
]
QRELS_LINES = ["1 0 d1 2", "1 0 d2 0", "1 0 d3 -1", "2 0 d1 0.5", "2 0 d2 +3"]
QRELS_ROWS = [("1", "d1", 2.0), ("1", "d2", 0.0), ("1", "d3", -1.0), ("2", "d1", 0.5), ("2", "d2", 3.0)]
NTCIR_LINES = ["1 d1 L2", "1 d2 L0", "2 d1 L10"]
NTCIR_ROWS = [("1", "d1", 2.0), ("1", "d2", 0.0), ("2", "d1", 10.0)]
#: Texts that are not numbers, although some program reads them as numbers.
NO_NUMBERS = [
    *("1_000", "0x10", "0x1p3", "true", "1.5abc", "1e", "1e5.5", "e5", ".", "+", "-", "--1", "+-1", "1,5"),
    *("null", "NA", "1d5", "1.0f", "nan(1)", "infin", "None", '"1"', "1\0", "\0", "\u0661", "\xa01"),
    *("\u22121", "\uff11", "1\x1c"),
]


def frame_of(table):
    """Return the rows of a table of the package."""
    columns = {"query_id": table.query_id, "doc_id": table.doc_id, VALUE_COLUMNS[table.kind]: table.value}
    return pl.DataFrame(columns)


def parse_block(data, format, first_line, path):
    """Return rows of a piece of a file that begins with line ``first_line``, and their line numbers."""
    frame, lines = parse_lines(data, format, path, lambda: first_line - 1)
    return frame, None if lines is None else lines + (first_line - 1)


def joined(lines, end="\n", change=lambda line: line):
    return "".join(change(line) + end for line in lines).encode()


def aligned(line):
    return "".join(f"{field:>14}  " for field in line.split())


def scattered(lines):
    return "\n\r\n  \t\n".join(["", *lines, "", ""]).encode()


SPACINGS = {
    "single blanks": joined,
    "tabs": partial(joined, change=lambda line: line.replace(" ", "\t")),
    "vertical tabs, form feeds": partial(
        joined, change=lambda line: line.replace(" ", "\v", 1).replace(" ", "\f", 1)
    ),
    "double blanks": partial(joined, change=lambda line: line.replace(" ", "  ")),
    "one double blank": lambda lines: joined(lines)[::-1].replace(b" ", b"  ", 1)[::-1],
    "mixed": partial(joined, change=lambda line: line.replace(" ", " \t ")),
    "aligned": partial(joined, change=aligned),
    "leading": partial(joined, change=lambda line: " " + line),
    "leading on the last line": lambda lines: joined(lines[:-1]) + b" " + joined(lines[-1:]),
    "trailing": partial(joined, change=lambda line: line + " "),
    "trailing at the end": lambda lines: joined(lines) + b" ",
    "trailing without newline": lambda lines: joined(lines)[:-1] + b" ",
    "CRLF": partial(joined, end="\r\n"),
    "tabs, CRLF": partial(joined, end="\r\n", change=lambda line: line.replace(" ", "\t")),
    "CRLF and LF": lambda lines: joined(lines[:2]) + joined(lines[2:], end="\r\n"),
    "blank before CRLF": partial(joined, end=" \r\n"),
    "no last newline": lambda lines: joined(lines)[:-1],
    "CRLF, no last newline": lambda lines: joined(lines, end="\r\n")[:-2],
    "CRLF, half a last newline": lambda lines: joined(lines, end="\r\n")[:-1],
    "blank line first": lambda lines: b"\n" + joined(lines),
    "blank line last": lambda lines: joined(lines) + b"\n",
    "blank lines between": partial(joined, end="\n\n"),
    "blank CRLF lines between": partial(joined, end="\r\n\r\n"),
    "blank lines everywhere": scattered,
    "comments": lambda lines: b"# a\n" + joined(lines, end="\n #\tb\r\n") + b"#",
    "everything": lambda lines: scattered([aligned(line) for line in lines]),
}


def two_members(compress):
    return lambda data: compress(data[: len(data) // 2]) + compress(data[len(data) // 2 :])


def zstd(data, **options):
    return zstandard.ZstdCompressor(**options).compress(data)


SKIPPABLE = b"\x5a\x2a\x4d\x18" + struct.pack("<I", 3) + b"abc"

COMPRESSIONS = {
    "none": lambda data: data,
    "gzip": gzipped,
    "gzip, members": two_members(gzipped),
    "gzip, padded": lambda data: gzipped(data) + b"\0" * 1000,
    "gzip, empty member": lambda data: gzipped(b"") + gzipped(data),
    "zstandard": zstd,
    "zstandard, frames": two_members(zstd),
    "zstandard, size unknown": partial(zstd, write_content_size=False, write_checksum=True),
    "zstandard, skippable frames": lambda data: SKIPPABLE + zstd(data) + SKIPPABLE + zstd(b""),
    "xz": lzma.compress,
    "xz, streams": two_members(lzma.compress),
    "bzip2": bz2.compress,
    "bzip2, streams": two_members(bz2.compress),
}


def rows_of(frame):
    return [*frame.itertuples(index=False, name=None)]


def expected_lines(content):
    lines = enumerate(content.split(b"\n"), 1)
    return [number for number, raw in lines if raw.split()[:1] not in ([], [b"#"])]


def bits(values):
    array = np.array(values, np.float64)
    array[np.isnan(array)] = np.nan
    return array.view(np.uint64).tolist()
