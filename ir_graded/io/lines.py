"""Parser of the lines of run and qrels files.

The CSV parser of Polars checks the number of fields on the first line only, and a second blank would silently
shift columns. So a text is parsed only if no two white characters are adjacent, and its rows are used only if
the number of white characters and the last fields match the format. Other spacing is normalised first.
"""

from __future__ import annotations

import codecs
import io
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import polars as pl

from ir_graded.core.facets import (
    CONVENTIONS,
    POSITION,
    QUEPID,
    QUEPID_DETAILED,
    RANK_COLUMNS,
    SPAN,
    VALUE_COLUMNS,
    convention_of,
    is_header,
    missing,
)
from ir_graded.errors import CoverageWarning, FileFormatError, cut, format_ids, shortened

from .formats import LETTERS, REVIEWED, Format, Kind
from .text import (
    check_byte_order_marks,
    delimited_rows,
    fields_between_tabs,
    fields_of,
    line_error,
    without_comments,
)

LineNumbers = npt.NDArray[np.int64]
_Bytes = npt.NDArray[np.uint8]
_Mask = npt.NDArray[np.bool_]

#: Bytes that are processed together: few enough for the temporary arrays to stay in the processor cache.
_BLOCK = 1 << 18

_TAB, _NEWLINE, _RETURN, _BLANK = b"\t\n\r "
#: White space inside lines other than blanks, as in C's isspace() and bytes.split().
_OTHER_BLANKS = (b"\t", b"\v", b"\f")


def count_white_space(data: bytes, *, exactly: bool = False) -> int | None:
    """Count white characters, with a last newline; None if two are adjacent or the text begins with one.

    Control characters count as white, unless ``exactly``. They make the count differ from the number of
    fields, with which the caller compares it.
    """
    values = np.frombuffer(data, np.uint8)
    count = 0
    before = True
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK]
        # The five characters \t \n \v \f \r; the difference wraps around below \t.
        white = (block == _BLANK) | (block - np.uint8(_TAB) <= _RETURN - _TAB) if exactly else block <= _BLANK
        if (before and white[0]) or (white[1:] & white[:-1]).any():
            return None
        before = bool(white[-1])
        count += int(np.count_nonzero(white))
    return count + (not before)


def normalise_spacing(data: bytes) -> tuple[bytes, LineNumbers | None]:
    """Normalise any spacing for the parser; a carriage return inside a line is kept.

    Returns the text, and the line number of each of its lines, or None if no line was dropped.
    """
    texts: list[bytes] = []
    numbers: list[LineNumbers] = []
    total = 0
    for block in split_after_newlines(data, _BLOCK):
        text, kept, count = _normalise_lines(block)
        texts.append(text)
        numbers.append(kept + (1 + total))
        total += count
    lines = np.concatenate(numbers) if numbers else None
    return b"".join(texts), None if lines is None or lines.size == total else lines


def split_after_newlines(data: bytes, size: int) -> Iterator[bytes]:
    """Yield a text in blocks that end in newlines; add the last newline if it is missing."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1
        if end:
            yield data[start:end]
        else:
            rest = data[start:]
            yield rest if rest.endswith(b"\n") else rest + b"\n"
            return
        start = end


def _normalise_lines(block: bytes) -> tuple[bytes, LineNumbers, int]:
    """Normalise lines that all end in a newline; return the text, the lines kept and their number."""
    values = np.frombuffer(block, np.uint8)
    for other in _OTHER_BLANKS:
        if other in block:
            # Adding is much faster than assignment by mask.
            values = values + (values == ord(other)).view(np.uint8) * np.uint8(_BLANK - ord(other))
    mark = _blanks_before_white(values, b"\r" in block)
    values = _without(values, mark)
    newline = values == _NEWLINE
    opens_line = np.empty(values.size, np.bool_)
    opens_line[0] = True
    opens_line[1:] = newline[:-1]
    empty = opens_line & newline
    count = int(np.count_nonzero(newline))
    kept = np.flatnonzero(~empty[newline]) if empty.any() else np.arange(count, dtype=np.int64)
    values = _without(values, empty | (opens_line & (values == _BLANK)))
    return values.tobytes(), kept, count


def _blanks_before_white(values: _Bytes, returns: bool) -> _Mask:
    """Mark all blanks of a sequence except the last; at the end of a line, mark all and the return."""
    blank = values == _BLANK
    newline = values == _NEWLINE
    mark = np.zeros(values.size, np.bool_)
    if returns:
        ending = (values[:-1] == _RETURN) & newline[1:]
        newline[:-1] |= ending
        np.logical_and(blank[:-1], blank[1:] | newline[1:], out=mark[:-1])
        mark[:-1] |= ending
    else:
        np.logical_and(blank[:-1], blank[1:] | newline[1:], out=mark[:-1])
    return mark


def _without(values: _Bytes, mark: _Mask) -> _Bytes:
    return values[~mark] if mark.any() else values


_PIECE = 1 << 20
#: White space that must be normalised first; usually visible at the beginning of the text.
_OTHER_WHITE = {b" ": re.compile(rb"[\t\v\f\r]|  "), b"\t": re.compile(rb"[ \v\f\r]|\t\t")}
_LOOK = 1 << 10
#: First bytes of a text that Polars mistakes for gzip, zstandard or zlib data.
_MISTAKEN = (b"x", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")

#: Floats that Polars accepts; float() accepts more, such as 1_000.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
#: Python's int() stops at 4,300 digits.
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")


def no_rows(kind: Kind, spans: Iterable[str] = ()) -> pl.DataFrame:
    """Return a table without rows."""
    types: dict[str, pl.DataType] = {"query_id": pl.String(), "doc_id": pl.String()}
    types[VALUE_COLUMNS[kind]] = pl.Float64()
    return pl.DataFrame(schema=types | {name: pl.Int64() for name in spans})


def parse_lines(
    data: bytes, format: Format, path: str, lines_before: Callable[[], int] = int
) -> tuple[pl.DataFrame, LineNumbers | None]:
    """Return the rows of whole lines of a file or of a piece of it, without a byte-order mark.

    ``lines_before`` returns the number of lines before ``data``; it is called only for an error. Also
    returned is the line of each row within ``data``, or None if row i is line i + 1.
    """
    check_byte_order_marks(data, lines_before, path)
    data = without_comments(data)
    frame, lines = _rows(data, format)
    if frame is None:
        _raise_first_error(data, format, lines_before() + 1, path)
    if format.review is not None and frame.height:
        wrong = format.review.wrong(frame).arg_true()
        if len(wrong):
            line = wrong[0] + 1 if lines is None else int(lines[wrong[0]])
            raw = data.split(b"\n", line)[line - 1]
            fields = fields_of(raw, line, path, _tabs(data, format))
            problem = format.review.problem.format(*fields)
            raise line_error(path, lines_before() + line, problem, raw)
        if note := format.review.note(frame):
            warnings.warn(f"{path}: {note}", CoverageWarning, stacklevel=2)
        frame = frame.drop(REVIEWED)
    if format.by_order:
        # Scores that reproduce the order of the lines: the negated position within the topic.
        position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("query_id")
        frame = frame.with_columns((-position).cast(pl.Float64).alias("score"))
    return _by_position(frame, path) if POSITION.name in format.places else frame, lines


def _by_position(frame: pl.DataFrame, path: str) -> pl.DataFrame:
    """Return a run whose positions are the ranking; scores that do not descend with them are replaced."""
    position, score = pl.col(POSITION.name), pl.col("score")
    descend = (score.sort_by(position).diff() <= 0).all().over("query_id")
    if other := frame.filter(~descend)["query_id"].unique(maintain_order=True).to_list():
        text = f"{path}: the scores of topics {format_ids(other)} do not descend with the ranks"
        warnings.warn(f"{text}, so the ranks are the ranking.", CoverageWarning, stacklevel=2)
    return frame.with_columns(
        pl.when(descend).then(score).otherwise(-position.cast(pl.Float64)).alias("score")
    )


def _rows(data: bytes, format: Format) -> tuple[pl.DataFrame | None, LineNumbers | None]:
    """Parse as ``parse_lines``, with a column ``REVIEWED``; no rows if a line cannot be read."""
    frame, lines = _between_white_space(data, format)
    return _between_tabs(data, format) if frame is None and _tabs(data, format) else (frame, lines)


def _between_white_space(data: bytes, format: Format) -> tuple[pl.DataFrame | None, LineNumbers | None]:
    """Parse lines whose fields are those between white space; no rows if a line cannot be read."""
    for separator, others in _OTHER_WHITE.items():
        if not others.search(data, 0, _LOOK):
            frame = _parsed(data, count_white_space(data), format, separator)
            if frame is not None:
                return frame, None
    text, lines = normalise_spacing(data)
    return _parsed(text, count_white_space(text, exactly=True), format), lines


def _tabs(data: bytes, format: Format) -> int:
    """Return the number of fields of a format if those of lines are between tabs, else 0."""
    return format.width if format.by_tabs and fields_between_tabs(data) == format.width else 0


def _between_tabs(data: bytes, format: Format) -> tuple[pl.DataFrame | None, LineNumbers | None]:
    """Parse lines whose fields are those between tabs; no rows if a line cannot be read."""
    try:
        rows = [fields_of(raw, 0, "", format.width) for raw in io.BytesIO(data)]
    except FileFormatError:
        return None, None
    lines = np.array([line for line, fields in enumerate(rows, 1) if fields])
    text = "".join("\t".join(fields) + "\n" for fields in rows if fields).encode()
    return _parsed(text, lines.size * format.width, format, b"\t"), lines


def _parsed(text: bytes, white: int | None, format: Format, separator: bytes = b" ") -> pl.DataFrame | None:
    """Parse a text with ``white`` separate white characters; return None if a line is wrong."""
    # Too few fields leave the last one null; too many make the number of white characters too large.
    if white is None:
        return None
    if not text:
        return no_rows(format.kind, dict(format.extra))
    if text.startswith(_MISTAKEN):
        # Polars drops one byte-order mark and then checks nothing else.
        text = codecs.BOM_UTF8 + text
    value = f"f{format.value}"
    types: dict[str, pl.DataType] = {f"f{i}": pl.String() for i in range(format.width)}
    if not (format.prefix or format.letters or format.by_order):
        types[value] = pl.Float64()
    types.update({f"f{position}": pl.Int64() for _, position in format.extra})
    last = f"f{format.width - 1}"
    wanted = [(name, format.places[name]) for name in ("query_id", "doc_id", format.value_name)]
    reviewed = [] if format.review is None else [(REVIEWED, format.review.field)]
    try:
        lines = pl.scan_csv(
            text, has_header=False, separator=separator.decode(), quote_char=None, schema=types
        )
        frame = lines.select(
            *(pl.col(f"f{at}").alias(name) for name, at in (*wanted, *format.extra, *reviewed)),
            pl.col(last).is_null().alias("(short)"),
        ).collect()
    except pl.exceptions.PolarsError:
        return None
    if (
        format.width * frame.height != white
        or frame["(short)"].any()
        or any(one.null_count() for one in frame)
    ):
        return None
    frame = frame.drop("(short)")
    return frame if format.kind == "run" else _with_levels(frame, format)


def _with_levels(frame: pl.DataFrame, format: Format) -> pl.DataFrame | None:
    """Convert levels that are text to numbers; return None if a level is not a finite number."""
    name = format.value_name
    if format.prefix:
        texts = frame[name]
        if not texts.str.contains(f"^{re.escape(format.prefix)}[0-9]+$").all():
            return None
        frame = frame.with_columns(texts.str.strip_prefix(format.prefix).cast(pl.Float64))
    if format.letters:
        if not frame[name].is_in(list(LETTERS)).all():
            return None
        frame = frame.with_columns(pl.col(name).replace_strict(LETTERS, return_dtype=pl.Float64))
    return frame if frame[name].is_finite().all() else None


def _raise_first_error(data: bytes, format: Format, first_line: int, path: str) -> NoReturn:
    """Raise an error for the first line that cannot be read."""
    tabs = _tabs(data, format)
    parse = _between_tabs if tabs else _between_white_space
    for block in split_after_newlines(data, _PIECE):
        if parse(block, format)[0] is None:
            for line, raw in enumerate(io.BytesIO(block), first_line):
                fields = fields_of(raw, line, path, tabs)
                if fields and (problem := _problem(fields, format)):
                    raise line_error(path, line, problem, raw)
        first_line += block.count(b"\n")
    raise FileFormatError(f"{path}: cannot be read as a {format.title} file")


def _problem(fields: list[str], format: Format) -> str | None:
    """Return the problem of the fields of a line and the expected form, else None."""
    if len(fields) != format.width:
        return f"expected {format.expected}, found {len(fields)}"
    text = fields[format.value]
    shown = shortened(text, 40)
    if not format.by_order:
        if format.kind == "run" and not _NUMBER.fullmatch(text):
            return f"{format.value_name} {shown} is not a number such as 2, -0.5 or 1e-3"
        if format.letters and text not in LETTERS:
            return f"the second field must be S, A, B or C, not {shown}"
        if format.kind == "qrels" and not format.letters and (wanted := _not_a_level(text, format.prefix)):
            return f"level {shown} is not {wanted}"
    for name, position in format.extra:
        if not _INTEGER.fullmatch(fields[position]) or not -(2**63) <= int(fields[position]) < 2**63:
            return f"{name} {shortened(fields[position], 40)} is not a whole number of 64 bits such as 17"
    return None


def _not_a_level(text: str, prefix: str) -> str | None:
    """Return the expected form of a level if a text is not one."""
    digits = text.removeprefix(prefix)
    if prefix:
        right, wanted = re.fullmatch(prefix + "[0-9]+", text), f"{prefix}0, {prefix}1, {prefix}2, ..."
    else:
        right, wanted = _NUMBER.fullmatch(text), "a finite number such as 2 or -0.5"
    return None if right and math.isfinite(float(digits)) else wanted


#: Largest number of bytes in a header.
_LONGEST = 1 << 14
_WORD = re.compile(r"[\w-]+")


def delimiter_of(data: bytes, path: str) -> str | None:
    """Return the separator of a text whose first line names the columns; None for other text.

    Raises FileFormatError if the line has these names with another separator or in capitals.
    """
    first = data[:_LONGEST].lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")
    line = first.decode(errors="replace").replace('"', "")
    for mark in "\t,;":
        if is_header(map(str.strip, line.split(mark))):
            return mark
    if (
        "\r" not in line
        and line.split()[:1] != ["#"]
        and any(found := convention_of(kind, _WORD.findall(line.lower())) for kind in CONVENTIONS)
    ):
        problem = (
            f"looks like a header; expected {', '.join(found or ())} separated by tabs, commas or semicolons"
        )
        raise line_error(path, 1 + data[: data.index(first)].count(b"\n"), problem, first)
    return None


def read_headed(
    kind: str, data: bytes, path: str, delimiter: str
) -> tuple[pl.DataFrame, list[int], set[str]]:
    """Return the rows of a text with a header, the line of each, and names of repeated further columns."""
    rows, lines = delimited_rows(data, delimiter, path)
    names = [name.strip() for name in rows[0]]
    try:
        used = _used(kind, names)
    except ValueError as error:
        raise line_error(path, lines[0], str(error), delimiter.join(names).encode()) from None
    query_id, doc_id, value, *spans = used
    if (query_id, doc_id, value) == QUEPID or query_id == QUEPID_DETAILED[0]:
        given = _given_of_quepid(kind, rows, names, used)
        rows, lines = [rows[at] for at in given], [lines[at] for at in given]
    numbers = [*_numbers(rows[1:], lines[1:], names, [*map(names.index, used)], path, delimiter)]
    values = np.array(numbers, dtype=np.float64).reshape(-1, 1 + len(spans))
    texts = dict(zip(names, zip(*rows[1:], strict=True), strict=True)) if len(rows) > 1 else {}
    columns: dict[str, Any] = dict.fromkeys(name for name in names if name not in used[:3])
    columns |= {"query_id": query_id, "doc_id": doc_id}
    frame = pl.DataFrame(
        {name: pl.Series(texts.get(of or name, ()), dtype=pl.String) for name, of in columns.items()}
        | {"rank" if kind == "run" and value in RANK_COLUMNS else VALUE_COLUMNS[kind]: values[:, 0]}
        | dict(zip(spans, values.T[1:], strict=True))
    )
    return frame, lines, {name for name in columns if names.count(name) > 1}


def _used(kind: str, names: list[str]) -> list[str]:
    """Return the names of ids, value and spans. Raises ValueError if one is missing or repeated."""
    found = convention_of(kind, names)
    if found is None:
        raise ValueError(missing(kind, names))
    used = [*found, *(SPAN.columns if {*SPAN.columns} <= {*names} else ())]
    if twice := [name for name in used if names.count(name) > 1]:
        raise ValueError(f"several columns are named {cut(twice[0])}")
    return used


def _given_of_quepid(kind: str, rows: list[list[str]], names: list[str], used: list[str]) -> list[int]:
    """Return which rows hold a document and, in qrels, its rating.

    Quepid ends the row of a query without documents behind the query, and leaves out unknown ratings.
    """
    short = 1 if used[0] == QUEPID[0] else names.index(used[0]) + 1
    value = names.index(used[2])
    return [
        at
        for at, row in enumerate(rows)
        if len(row) != short and (kind == "run" or len(row) <= value or row[value].strip())
    ]


def _numbers(
    rows: Sequence[list[str]],
    lines: Sequence[int],
    names: list[str],
    used: list[int],
    path: str,
    delimiter: str,
) -> Iterator[list[float]]:
    """Strip the fields of rows; yield the numbers of the columns that are used, behind the ids."""
    for row, line in zip(rows, lines, strict=True):
        try:
            if len(row) != len(names):
                raise ValueError(f"expected {len(names)} fields as in the header, found {len(row)}")
            row[:] = map(str.strip, row)
            if empty := [names[at] for at in used if not row[at]]:
                raise ValueError(f"the field {empty[0]} is empty")
            numbers = [number_of(row[at]) for at in used[2:]]
        except ValueError as error:
            raise line_error(path, line, cut(str(error)), delimiter.join(row).encode()) from None
        yield numbers


def number_of(text: str) -> float:
    """Return a number of a field. Raises ValueError for digits that only Python reads."""
    # Python also reads 1_0 and digits of other scripts.
    if "_" in text or not text.isascii():
        raise ValueError(f"not a number: {text!r}")
    return float(text)
