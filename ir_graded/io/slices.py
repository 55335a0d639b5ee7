"""Slices of the topics, from a mapping or a file of lines ``topic slice``."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from typing import Any

from ir_graded.core.facets import CONVENTIONS
from ir_graded.errors import InputError, printable

from .text import delimited_rows, fields_of, line_error, read_text

#: First field of a header, which a file of slices may have.
_HEADERS = {names[0] for names in CONVENTIONS["run"]}


def read_slices(source: Any) -> Mapping[Any, Any]:
    """Return the slice of each topic, from a mapping or a file."""
    if source is None or isinstance(source, Mapping):
        return source or {}
    path, found = os.fspath(source), dict[str, str]()
    for line, fields in _lines_of_slices(read_text(path), path):
        if len(fields) != 2 or not all(fields):  # noqa: PLR2004  # topic and slice
            problem = f"expected a topic and its slice, found {len(fields)} fields"
            hint = "; where topics hold blanks, separate the fields by a tab or a comma"
            raise line_error(path, line, problem + hint, " ".join(fields).encode())
        topic, name = fields
        if topic in found:
            raise line_error(path, line, f"topic {topic!r} has a slice already", " ".join(fields).encode())
        found[topic] = name
    if not found:
        raise InputError(f"{printable(path)}: there are no slices; expected lines of a topic and its slice")
    return found


def _lines_of_slices(data: bytes, path: str) -> Iterator[tuple[int, list[str]]]:
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
        # Several tabs may align the slices.
        fields = [field.strip() for field in row if mark != "\t" or field.strip()]
        if line > lines[0] or fields[0] not in _HEADERS:
            yield line, fields
