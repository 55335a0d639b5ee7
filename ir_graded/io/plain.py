"""Plain TREC lines, read with NumPy alone, which takes less time and memory than Polars and its import.

Fields are read eight bytes at a time, as whole numbers. Wherever there is a doubt about a file, the complete
reader reads or explains it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter

import numpy as np

from ir_graded.core.facets import is_header
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.core.struct import light_dataclass
from ir_graded.core.texts import FIRST_BYTES, LONGEST, WORD, Bytes, Texts, Words, bytes_left, words_at
from ir_graded.errors import FileFormatError

from .._utils.threads import Result, in_threads, processors
from .formats import LETTERS, Format, Kind, formats_of, is_iteration, recognise
from .text import FileChangedError, Load, is_json, text_pieces

#: Bytes that a thread reads at a time; qrels are needed as a whole.
_PIECES: dict[str, int] = {"run": 4 << 20, "qrels": 32 << 20}
_TAB, _NEWLINE, _RETURN, _BLANK, _MINUS = b"\t\n\r -"

_EIGHT = np.uint64(8)
_EACH = np.uint64(0x0101010101010101)
_SIX, _HIGH, _ZEROS, _HALVES, _POINTS = (
    _EACH * np.uint64(one) for one in (0x06, 0x80, ord("0"), 0xF0, ord("."))
)

#: Powers of ten: exact as float64, and of the digits of a word.
_TENTH = np.power(10.0, np.arange(23), dtype=np.float64)
_TENS = 10 ** np.arange(WORD + 1, dtype=np.int64)
#: Whole numbers up to here are exact as float64; larger ones are read up to here.
_EXACT, _MOST = 1 << 53, 10**18
#: Bytes of numbers that are read here.
_DIGITS = 24
#: Factor that splits a float64 into halves of its digits (Dekker 1971).
_SPLIT = float((1 << 27) + 1)
#: Distance from the middle of two float64, in halves of their difference, at which rounding is safe.
_SAFE = 1e-6


@light_dataclass(frozen=True, eq=False)
class PlainRows:
    """Rows of plain lines.

    Attributes:
        names: the topic of each group of neighbouring rows.
        begin: the first row of each group, and one past the last row.
        doc_ids: the document of each row.
        values: its level or score.
    """

    names: list[str]
    begin: Ints
    doc_ids: Texts
    values: Floats


def read_plain(
    kind: Kind, paths: Iterable[str | os.PathLike[str]], work: Callable[[PlainRows], Result | None]
) -> Generator[Iterator[Result | None], None, None]:
    """Yield the results of ``work`` for the pieces of each file, from threads that read ahead.

    None for a piece of which the complete reader has to judge.
    """
    in_doubt: set[int] = set()

    def steps() -> Iterator[tuple[int, Callable[[], PlainRows | None]]]:
        for at, path in enumerate(paths):
            for load in _loads(kind, os.fspath(path)):
                yield at, load
                if at in in_doubt:
                    break

    def read(step: tuple[int, Callable[[], PlainRows | None]]) -> tuple[int, Result | None]:
        at, load = step
        try:
            rows = load()
        except FileChangedError:
            raise
        except FileFormatError:
            rows = None
        result = None if rows is None else work(rows)
        if result is None:
            in_doubt.add(at)
        return at, result

    for _, results in groupby(in_threads(read, steps(), processors()), key=itemgetter(0)):
        yield map(itemgetter(1), results)


def _loads(kind: Kind, path: str) -> Iterator[Callable[[], PlainRows | None]]:
    """Yield functions that return the rows of the pieces of a file."""
    is_first = True
    try:
        for load in text_pieces(path, _PIECES[kind]):
            yield partial(_rows, kind, path, load, is_first=is_first)
            is_first = False
    except FileChangedError:
        raise
    except FileFormatError:
        is_first = True
    if is_first:  # an error, or no text
        yield lambda: None


def _rows(kind: Kind, path: str, load: Load, *, is_first: bool) -> PlainRows | None:
    """Return the rows of a piece of a file; None if a line may not be plain."""
    trec = next(one for one in formats_of(kind) if isinstance(one, Format) and one.name == "trec")
    text = load()
    size = len(text) + (not text.endswith(b"\n"))
    data = text.ljust(size, b"\n") + bytes(LONGEST)
    values = np.frombuffer(data, np.uint8)
    names = ["query_id", "doc_id", trec.value_name]
    wanted = [trec.places[name] for name in names] + ([] if trec.review is None else [trec.review.field])
    fields = _fields(values[:size], trec.width, wanted) if text.isascii() and not is_json(text) else None
    if fields is None:
        return None
    topic, document, value, *reviewed = fields
    if any(length.max() > LONGEST for _, length in (topic, document, value)):
        return None
    if is_first and not _is_plain(kind, path, data, int(topic[0][0]), trec):
        return None
    for begin, length in reviewed:
        letters = {*map(ord, LETTERS)}.intersection(values[begin[length == 1]].tolist())
        first = data[document[0][0] : document[0][0] + document[1][0]].decode()
        if letters or (is_iteration(first) and _differ(values, begin, length)):  # of another layout?
            return None
    numbers = _numbers(data, *value)
    if numbers is None:
        return None
    topics = Texts.at(data, *topic)
    changes = topics.length[1:] != topics.length[:-1]
    for word in topics.words.T:
        changes |= word[1:] != word[:-1]
    groups = np.append(0, np.flatnonzero(changes) + 1)
    names = topics.texts(groups)
    found = PlainRows(names, np.append(groups, len(numbers)), Texts.at(data, *document), numbers)
    return None if "#" in names else found  # comments may have as many fields


def _fields(values: Bytes, width: int, wanted: Iterable[int]) -> list[tuple[Ints, Ints]] | None:
    """Return for each wanted field where it begins in each line, and its length.

    None if a line has another number of fields, or other white space than blanks, tabs and line ends, or if
    the fields may be those between tabs.
    """
    is_white: Bools = np.less_equal(values, _BLANK)
    if 3 * np.count_nonzero(is_white) > 2 * values.size:  # their positions would need much more memory
        return None
    white = np.flatnonzero(is_white)
    marks = values[white]
    if _are_single(white, marks, width):
        end = white.reshape(-1, width)
        begins = ((end[:, at - 1] if at else np.append(-1, end[:-1, -1])) + 1 for at in wanted)
        found = [(begin, end[:, at] - begin) for at, begin in zip(wanted, begins, strict=True)]
        return None if _may_hold_blanks(marks, len(end)) else found
    known = sum(np.count_nonzero(marks == mark) for mark in (_BLANK, _TAB, _NEWLINE))
    returns = white[marks == _RETURN]
    if white.size > known + returns.size or (values[returns + 1] != _NEWLINE).any():
        return None
    begin = np.append(0, white[:-1] + 1)
    is_field = begin < white
    newline = marks == _NEWLINE
    line = (np.cumsum(newline) - newline)[is_field]
    begin, length = begin[is_field], (white - begin)[is_field]
    # The last field of a line is the last before a newline.
    last = np.append(line[1:] > line[:-1], True)
    lines = int(np.count_nonzero(last))
    if not begin.size or begin.size != width * lines or not last[width - 1 :: width].all():
        return None
    found = [(begin[at::width], length[at::width]) for at in wanted]
    return None if _may_hold_blanks(marks, lines) else found


def _differ(values: Bytes, begin: Ints, length: Ints) -> bool:
    """Return whether fields differ; a single one may."""
    texts = (values[begin + at] != values[begin[0] + at] for at in range(int(length[0])))
    return len(begin) == 1 or bool((length != length[0]).any()) or any(text.any() for text in texts)


def _may_hold_blanks(marks: Bytes, lines: int) -> bool:
    """Return whether there are blanks, and enough tabs for all lines to have three fields between them."""
    return bool(np.count_nonzero(marks == _TAB) >= 2 * lines and (marks == _BLANK).any())


def _are_single(white: Ints, marks: Bytes, width: int) -> bool:
    """Return whether one blank or tab is between the fields of each line, and nothing else around them."""
    lines, rest = divmod(white.size, width)
    if rest or white[0] == 0 or np.diff(white).min() == 1:
        return False
    between = np.count_nonzero(marks == _BLANK)
    if between < lines * (width - 1):
        between += np.count_nonzero(marks == _TAB)
    return bool(between == lines * (width - 1) and (marks[width - 1 :: width] == _NEWLINE).all())


def _is_plain(kind: Kind, path: str, data: bytes, begin: int, trec: Format) -> bool:
    """Return whether the first line, which begins at or before a position, is one of a TREC file."""
    line = data[data.rfind(b"\n", 0, begin) + 1 : data.index(b"\n", begin) + 1].decode()
    fields, named = line.split(), re.findall(r"[\w-]+", line.lower())
    is_named = fields[0][0] in "{[" or is_header(named)
    return not is_named and recognise(kind, fields, path, 1, line) is trec


def _numbers(data: bytes, begin: Ints, length: Ints) -> Floats | None:
    """Return numbers, each as ``float`` reads it; None if one is not a finite number.

    ``float`` reads those with an exponent or with too many digits.
    """
    values = np.frombuffer(data, np.uint8)
    at, size = begin, length.astype(np.uint8)
    negative = values[begin] == _MINUS
    if negative.any():
        at, size = at + negative, size - negative
    others = size > _DIGITS
    whole, decimals, has_point = np.zeros(1, np.int64), np.zeros(1, np.uint8), np.zeros(1, np.bool_)
    for number in range(-(-min(_DIGITS, int(size.max())) // WORD)):
        left = bytes_left(size, number)
        digits, count, after, wrong = _digits(words_at(data, at + WORD * number, left), left)
        others |= wrong
        if number:
            others |= has_point & (count < left)
            if number > 1:  # two words have at most 16 digits
                others |= whole >= _MOST // _TENS[count]
            digits += whole * _TENS[count]
            after = decimals + np.where(has_point, count, after)
        whole, decimals, has_point = digits, after, has_point | (count < left)
    others |= (size == has_point) | (decimals >= _TENTH.size)
    found, doubtful = _quotients(whole, _TENTH[np.minimum(decimals, _TENTH.size - 1)])
    np.negative(found, out=found, where=negative)
    for row in np.flatnonzero(others | doubtful).tolist():
        text = data[begin[row] : begin[row] + length[row]]
        try:
            found[row] = math.nan if b"_" in text else float(text)
        except ValueError:
            return None
    return found if np.isfinite(found).all() else None


def _quotients(whole: Ints, tens: Floats) -> tuple[Floats, Bools]:
    """Return the float64 nearest to each quotient, and where a quotient is too near the middle of two.

    Where both numbers are exact as float64, so is the rounding of the quotient. Else the rest of the division
    corrects it, from the exact product of quotient and divisor (Dekker 1971).
    """
    found = np.asarray(whole / tens)
    doubtful = np.zeros(found.size, dtype=np.bool_)
    large = np.flatnonzero(whole > _EXACT)
    if large.size:
        whole, tens, quotient = whole[large], tens[large], found[large]
        product, error = _exact_product(quotient, tens)
        high = whole.astype(np.float64)
        rest = ((high - product) - error + (whole - high.astype(np.int64))) / tens
        found[large] = quotient + rest
        # Below a power of two, float64 are half as far apart.
        halves = np.abs(rest) / np.spacing(quotient) * 2
        doubtful[large] = (np.abs(halves - 1) < _SAFE) | (np.abs(halves - 0.5) < _SAFE)
    return found, doubtful


def _exact_product(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return a rounded product, and the exact product minus it (Dekker 1971)."""
    product = one * other
    high, above = (number * _SPLIT - (number * _SPLIT - number) for number in (one, other))
    low, below = one - high, other - above
    return product, ((high * above - product) + high * below + low * above) + low * below


def _digits(word: Words, left: Bytes) -> tuple[Ints, Bytes, Bytes, Bools]:
    """Return the number in up to eight characters without a point, its digits, and those after the point.

    Also return whether another character is not a digit.
    """
    # A byte of zero is one whose subtraction borrows; the lowest such byte is the point.
    differs = word ^ _POINTS
    zero = (differs - _EACH) & ~differs & _HIGH
    lowest = (zero & (~zero + np.uint64(1))) >> np.uint64(7)
    has_point = lowest > 0
    before = lowest - np.uint64(1)  # mask of the bytes before the point; of all without a point
    count = left - has_point
    after = word >> _EIGHT
    word = (((word ^ after) & before) ^ after ^ _ZEROS) & FIRST_BYTES[count]
    wrong = np.greater(((word + _SIX) | word) & _HALVES, 0)
    whole = ((before & _EACH) * _EACH >> np.uint64(56)).astype(np.uint8)
    # The last digit goes into the highest byte; then pairs, fours and eights of digits are joined.
    word <<= ((WORD - count) << 3 & 63).astype(np.uint64)
    word = word * np.uint64(10) + (word >> _EIGHT)
    pairs = np.uint64(0x000000FF000000FF)
    word = (word & pairs) * np.uint64(0x000F424000000064) + (
        ((word >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
    )
    return (word >> np.uint64(32)).view(np.int64), count, np.where(has_point, count - whole, 0), wrong
