"""Values of topics, slices and weights, from a mapping, a table or a file of lines ``topic value``."""

from __future__ import annotations

import io
import math
import os
from typing import Any

from ir_graded.core.facets import CONVENTIONS
from ir_graded.errors import InputError, printable, short_repr

from .text import delimited_rows, fields_of, line_error, read_text

#: First field of a header, which a file may have.
_HEADERS = {names[0].casefold() for names in CONVENTIONS["run"]}
#: Name of the column of weights.
_WEIGHT = "weight"


def read_slices(source: Any) -> list[dict[str, str]]:
    """Return the slice of each topic, for each key: one of a mapping, a Series or a file, several of a frame.

    Raises:
        FileFormatError: a line of the file cannot be read, or a topic appears twice.
        InputError: the file has no lines, or a topic appears twice.
    """
    if source is None:
        return []
    if hasattr(source, "columns"):
        return [
            {topic: f"{key}={name}" for topic, name in _of_topics(source[key], "slices").items()}
            for key in source.columns
        ]
    return [{topic: str(name) for topic, name in _of_topics(source, "slices").items()}]


def read_weights(source: Any) -> dict[str, Any]:
    """Return the weight of each topic, from a mapping, a Series, a frame or a file.

    In a frame or a file with further columns, that of the weights is named weight. The topics of a frame are
    its column query_id or qid, else its index.

    Raises:
        FileFormatError: a line of the file cannot be read, a weight in it is not a finite number >= 0, or a
            topic appears twice.
        InputError: the file has no lines, a frame has several columns and none is named weight, or a topic
            appears twice.
    """
    if not hasattr(source, "columns"):
        return _of_topics(source, "weights")
    columns = [*map(str, source.columns)]
    keys = [name for name in columns if name.casefold() in _HEADERS]
    values = [name for name in columns if name == _WEIGHT] or [name for name in columns if name not in keys]
    if len(values) != 1 or len(keys) > 1 or not (keys or hasattr(source, "index")):
        raise InputError(
            f"weights: expected a table with topics as its index or in a column query_id, and weights in its "
            f"only other column or in a column weight; found the columns {', '.join(map(repr, columns))}"
        )
    table = dict(zip(columns, source.columns, strict=True))
    topics = source[table[keys[0]]] if keys else source.index
    return _by_topic([*zip(map(str, topics), source[table[values[0]]], strict=True)], "weights")


def _of_topics(source: Any, kind: str) -> dict[str, Any]:
    """Return the value of each topic from a mapping, a Series or a file."""
    if hasattr(source, "items"):
        return _by_topic([(str(topic), value) for topic, value in source.items()], kind)
    if isinstance(source, (str, os.PathLike)):
        return _of_file(os.fspath(source), kind.rstrip("s"))
    raise InputError(
        f"{kind}: expected a mapping, a Series, a DataFrame or a file, found {short_repr(source)}"
    )


def _by_topic(given: list[tuple[str, Any]], kind: str) -> dict[str, Any]:
    found = dict(given)
    if len(found) < len(given):
        twice = next(topic for topic in found if sum(topic == one for one, _ in given) > 1)
        raise InputError(f"{kind}: topic {twice!r} appears twice")
    return found


def _of_file(path: str, kind: str) -> dict[str, Any]:
    rows = _lines(read_text(path), path)
    width, topic_at, value_at = 2, 0, 1
    first = [name.casefold() for name in rows[0][1]] if rows else []
    if _HEADERS.intersection(first) or (kind == _WEIGHT and kind in first[1:]):
        (line, _), names = rows.pop(0), first
        width, keys = len(names), [at for at, name in enumerate(names) if name in _HEADERS] or [0]
        values = [at for at, name in enumerate(names) if name == kind]
        values = values or [at for at in range(width) if at not in keys]
        if len(values) != 1 or len(keys) != 1:
            problem = f"expected a header with query_id and {kind}, each once"
            raise line_error(path, line, problem, " ".join(names).encode())
        (topic_at,), (value_at,) = keys, values
    found = dict[str, Any]()
    for line, fields in rows:
        if len(fields) != width or not fields[topic_at] or not fields[value_at]:
            expected = f"a topic and its {kind}" if width == 2 else f"{width} fields as in the header"  # noqa: PLR2004
            problem = f"expected {expected}, found {len(fields)} fields"
            hint = "; where topics hold blanks, separate the fields by a tab or a comma"
            raise line_error(path, line, problem + hint, " ".join(fields).encode())
        topic, value = fields[topic_at], fields[value_at]
        if topic in found:
            problem = f"topic {topic!r} has a {kind} already"
            hint = "" if kind == _WEIGHT else "; give overlapping slices in several files, one a call"
            raise line_error(path, line, problem + hint, " ".join(fields).encode())
        found[topic] = _weight(value, path, line) if kind == _WEIGHT else value
    if not found:
        raise InputError(f"{printable(path)}: there are no {kind}s; expected lines of a topic and its {kind}")
    return found


def _weight(text: str, path: str, line: int) -> float:
    """Return a weight in a file. Raises FileFormatError if it is not a finite number >= 0."""
    try:
        weight = math.nan if "_" in text else float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise line_error(path, line, "the weight must be a finite number >= 0", text.encode())
    return weight


def _lines(data: bytes, path: str) -> list[tuple[int, list[str]]]:
    """Return the fields of each line that is not blank, separated by tabs, commas or blanks.

    Semicolons separate them if the first line is a header with semicolons.
    """
    first = data.lstrip().partition(b"\n")[0].strip()
    mark = next((mark for mark in "\t," if mark.encode() in first), None)
    if mark is None and _HEADERS.intersection(first.decode(errors="replace").casefold().split(";")):
        mark = ";"
    if mark is None:
        split = ((line, fields_of(raw, line, path)) for line, raw in enumerate(io.BytesIO(data), 1))
        return [(line, fields) for line, fields in split if fields]
    rows, lines = delimited_rows(data, mark, path)
    found = [(line, [*map(str.strip, row)]) for line, row in zip(lines, rows, strict=True)]
    # Several tabs may align two fields.
    if mark == "\t" and sum(map(bool, found[0][1])) <= 2:  # noqa: PLR2004
        found = [(line, [*filter(None, fields)]) for line, fields in found]
    return found
