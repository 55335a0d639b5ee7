"""Values of topics, slices and weights, from a mapping, a table or a file of lines ``topic value``."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any

from ir_graded.core.facets import CONVENTIONS
from ir_graded.errors import InputError, printable, short_repr

from .text import delimited_rows, fields_of, line_error, read_text

#: First field of a header, which a file may have.
_HEADERS = {names[0] for names in CONVENTIONS["run"]}


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
    """Return the weight of each topic, from a mapping, a Series, a frame with one column or a file.

    Raises:
        FileFormatError: a line of the file cannot be read, or a topic appears twice.
        InputError: the file has no lines, a frame has several columns, or a topic appears twice.
    """
    if hasattr(source, "columns"):
        if len(source.columns) != 1:
            raise InputError(f"weights: expected a table with one column, found {len(source.columns)}")
        source = source[source.columns[0]]
    given = _of_topics(source, "weights")
    if isinstance(source, (str, os.PathLike)):
        return {topic: _as_number(weight) for topic, weight in given.items()}
    return given


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _of_topics(source: Any, kind: str) -> dict[str, Any]:
    """Return the value of each topic from a mapping, a Series or a file."""
    if hasattr(source, "items"):
        given = [(str(topic), value) for topic, value in source.items()]
    elif isinstance(source, (str, os.PathLike)):
        given = _of_file(os.fspath(source), kind.rstrip("s"))
    else:
        raise InputError(
            f"{kind}: expected a mapping, a Series, a DataFrame or a file, found {short_repr(source)}"
        )
    found = dict(given)
    if len(found) < len(given):
        twice = next(topic for topic in found if sum(topic == one for one, _ in given) > 1)
        raise InputError(f"{kind}: topic {twice!r} appears twice")
    return found


def _of_file(path: str, kind: str) -> list[tuple[str, str]]:
    found = dict[str, str]()
    for line, fields in _lines(read_text(path), path):
        if len(fields) != 2 or not all(fields):  # noqa: PLR2004  # topic and value
            problem = f"expected a topic and its {kind}, found {len(fields)} fields"
            hint = "; where topics hold blanks, separate the fields by a tab or a comma"
            raise line_error(path, line, problem + hint, " ".join(fields).encode())
        topic, value = fields
        if topic in found:
            raise line_error(path, line, f"topic {topic!r} has a {kind} already", " ".join(fields).encode())
        found[topic] = value
    if not found:
        raise InputError(f"{printable(path)}: there are no {kind}s; expected lines of a topic and its {kind}")
    return [*found.items()]


def _lines(data: bytes, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line that is not blank, separated by tabs, commas or blanks."""
    first = data.lstrip().partition(b"\n")[0].strip()
    mark = next((mark for mark in "\t," if mark.encode() in first), None)
    if mark is None:
        for line, raw in enumerate(io.BytesIO(data), 1):
            fields = fields_of(raw, line, path)
            if fields and (line > 1 or fields[0] not in _HEADERS):
                yield line, fields
        return
    rows, lines = delimited_rows(data, mark, path)
    for line, row in zip(lines, rows, strict=True):
        # Several tabs may align the fields.
        fields = [field.strip() for field in row if mark != "\t" or field.strip()]
        if line > lines[0] or fields[0] not in _HEADERS:
            yield line, fields
