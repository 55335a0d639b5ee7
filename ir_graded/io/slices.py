"""Values of topics: slices, clusters and weights, from a mapping, a table or a file of ``topic value``."""

from __future__ import annotations

import io
import math
import os
from contextlib import suppress
from typing import Any

from ir_graded.core.facets import CONVENTIONS
from ir_graded.errors import InputError, printable, short_repr

from .text import delimited_rows, fields_of, line_error, read_text

#: First field of a header, which a file may have.
_HEADERS = {names[0].casefold() for names in CONVENTIONS["run"]}
#: Texts of values that are missing.
_MISSING = ("None", "nan", "<NA>", "NaT", "")
#: Name of the column of weights.
_WEIGHT = "weight"


def read_slices(source: Any) -> list[dict[str, str]]:
    """Return the slice of each topic, for each key: one of a mapping, a Series or a file, several of a frame.

    The topics of a frame are its column query_id or qid, else its index.

    Raises:
        FileFormatError: a line of the file cannot be read, or a topic appears twice.
        InputError: the file has no lines, or a topic appears twice.
    """
    if source is None:
        return []
    if not hasattr(source, "columns"):
        return [{topic: str(name) for topic, name in _of_topics(source, "slices").items()}]
    return [
        {topic: f"{key}={name}" for topic, name in of_topic.items()}
        for key, of_topic in _of_columns(source, "slices").items()
    ]


def read_clusters(source: Any) -> dict[str, str]:
    """Return the cluster of each topic, without those where it is None or NaN, as ``read_weights``.

    In a frame with further columns, that of the clusters is named cluster.
    """
    found = _of_topics(source, "clusters")
    return {topic: name for topic, one in found.items() if (name := str(one)) not in _MISSING}


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
    return _of_topics(source, "weights")


def _of_columns(source: Any, kind: str) -> dict[str, dict[str, Any]]:
    """Return the values of topics in a frame, for each column of values."""
    columns, names, one = [*source.columns], [*map(str, source.columns)], kind.rstrip("s")
    several = kind == "slices"
    keys, values = _places(names, "" if several else one)
    has_topics = len(keys) == 1 or (not keys and hasattr(source, "index"))
    if not has_topics or not values or not (several or len(values) == 1):
        others = "the other columns" if several else f"its only other column or in a column {one}"
        raise InputError(
            f"{kind}: expected a table with topics as its index or in a column query_id, and {kind} in "
            f"{others}; found the columns {', '.join(map(repr, names))}"
        )
    topics = source[columns[keys[0]]] if keys else source.index
    return {
        names[at]: _by_topic([*zip(map(str, topics), source[columns[at]], strict=True)], kind)
        for at in values
    }


def _places(names: list[str], kind: str) -> tuple[list[int], list[int]]:
    """Return the columns that may hold topics, and those that may hold their values."""
    keys = [at for at, name in enumerate(names) if name.casefold() in _HEADERS]
    values = [at for at, name in enumerate(names) if name == kind]
    return keys, values or [at for at in range(len(names)) if at not in keys]


def _of_topics(source: Any, kind: str) -> dict[str, Any]:
    """Return the value of each topic from a mapping, a Series, a frame or a file."""
    if hasattr(source, "columns"):
        (found,) = _of_columns(source, kind).values()
        return found
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
    header = [name.casefold() for name in rows[0][1]] if rows else []
    names, keys, values = ["topic", kind], [0], [1]
    if _HEADERS.intersection(header) or (kind == _WEIGHT and kind in header[1:]):
        (line, _), names = rows.pop(0), header
        keys, values = _places(names, kind)
        keys = keys or [0]
        if len(values) != 1 or len(keys) != 1:
            problem = f"expected a header with query_id and {kind}, each once"
            raise line_error(path, line, problem, " ".join(names).encode())
    found = dict[str, Any]()
    for line, fields in rows:
        try:
            if len(fields) != len(names) or not (fields[keys[0]] and fields[values[0]]):
                wanted = f"{len(names)} fields as in the header" if names[2:] else f"a topic and its {kind}"
                hint = "where topics hold blanks, separate the fields by a tab or a comma"
                raise ValueError(f"expected {wanted}, found {len(fields)} fields; {hint}")
            if (topic := fields[keys[0]]) in found:
                hint = "; give overlapping slices in several files, one a call" if kind == "slice" else ""
                raise ValueError(f"topic {topic!r} has a {kind} already{hint}")
            found[topic] = _weight(fields[values[0]]) if kind == _WEIGHT else fields[values[0]]
        except ValueError as error:
            raise line_error(path, line, str(error), " ".join(fields).encode()) from None
    if not found:
        raise InputError(f"{printable(path)}: there are no {kind}s; expected lines of a topic and its {kind}")
    return found


def _weight(text: str) -> float:
    """Return a weight in a file. Raises ValueError if it is not a finite number >= 0."""
    with suppress(ValueError):
        if 0 <= (weight := float(text.replace("_", "?"))) < math.inf:  # float would read 1_0
            return weight
    raise ValueError("the weight must be a finite number >= 0")


def _lines(data: bytes, path: str) -> list[tuple[int, list[str]]]:
    """Return the fields of each line that is not blank, separated by tabs, commas or blanks.

    Semicolons separate them if the first line is a header with semicolons.
    """
    first = data.lstrip().partition(b"\n")[0].decode(errors="replace").strip().casefold()
    marks = [mark for mark in "\t," if mark in first] or [";"] * bool(_HEADERS.intersection(first.split(";")))
    if not marks:
        split = ((line, fields_of(raw, line, path)) for line, raw in enumerate(io.BytesIO(data), 1))
        return [(line, fields) for line, fields in split if fields]
    rows, lines = delimited_rows(data, marks[0], path)
    found = [(line, [*map(str.strip, row)]) for line, row in zip(lines, rows, strict=True)]
    # Several tabs may align two fields.
    if marks[0] == "\t" and sum(map(bool, found[0][1])) <= 2:  # noqa: PLR2004
        found = [(line, [*filter(None, fields)]) for line, fields in found]
    return found
