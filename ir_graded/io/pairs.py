"""Values for pairs of ids, such as probabilities of intents, from a file, a dict of dicts or a frame."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ir_graded.errors import InputError, short_repr

from . import columns
from .file_text import read_text
from .lines import fields_of, line_error
from .paths import check_path, errors_with_path
from .sources import is_path_or_dataset_id
from .table import row_place

_Value = TypeVar("_Value")
#: First ids, second ids, values, and a function for the place of a row.
_Rows = tuple[list[Any], list[Any], list[Any], Callable[[int], str]]


@dataclass(frozen=True)
class Pairs:
    """Pairs of ids with their values, one row per pair.

    Attributes:
        ids: topic and second id of each row, as text.
        values: value of each row; for a frame, a tuple of its columns.
        describe: returns the description of a row, for messages.
        place: returns the place of a row.
    """

    ids: list[tuple[str, str]]
    values: list[Any]
    describe: Callable[[int], str]
    place: Callable[[int], str]

    def unique(self, values: Sequence[_Value]) -> dict[tuple[str, str], _Value]:
        """Return one value for each pair. Raises InputError if two rows of a pair have different values."""
        first: dict[tuple[str, str], int] = {}
        for row, (pair, value) in enumerate(zip(self.ids, values, strict=True)):
            other = first.setdefault(pair, row)
            if values[other] != value:
                place = self.place(other) or "another place"
                raise InputError(f"{self.describe(row)} is {value}, but {values[other]} at {place}")
        return {pair: values[row] for pair, row in first.items()}


def read_pairs(
    name: str,
    source: Any,
    by: tuple[str, str],
    layout: str,
    of_fields: Callable[[Sequence[str]], Any],
    of_columns: Callable[[Sequence[str]], Sequence[str]],
) -> Pairs:
    """Read values in any supported form.

    Args:
        name: the name of the source, for messages.
        source: a file, a dict ``{topic: {id: value}}``, or a frame.
        by: the column of the second id, and its name in messages.
        layout: a line of a file in words.
        of_fields: converts the fields of a line after the ids to a value; raises ValueError on failure.
        of_columns: returns the columns of a value, given the columns of a frame without the ids.

    Raises:
        InputError: the source has another form, or an id is missing or cannot be read.
        FileFormatError: a line of the file cannot be read.
        OSError: the file cannot be opened.
    """
    column, noun = by
    if is_path_or_dataset_id(source):
        *ids, values, place = _of_file(source, layout, of_fields)
    elif isinstance(source, Mapping):
        *ids, values, place = _of_dicts(name, source, noun)
    elif hasattr(source, "columns") or hasattr(source, "column_names"):
        *ids, values, place = _of_frame(name, source, column, of_columns)
    else:
        raise InputError(
            f"{name}: cannot read {short_repr(source)}; give a dict of dicts by topic and {noun}, a frame "
            f"with the columns query_id and {column}, or a file of lines {layout}"
        )

    def describe(row: int) -> str:
        where = f" ({place(row)})" if place(row) else ""
        return f"{name}: topic {ids[0][row]!r}, {noun} {ids[1][row]!r}{where}"

    try:
        texts = [columns.as_strings(each) for each in ids]
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    for text in texts:
        if text.null_count():
            row = int(text.is_null().arg_true()[0])
            raise InputError(f"{describe(row)}: the topic or the {noun} is missing")
    pairs = list(zip(*texts, strict=True))
    if isinstance(source, Mapping):
        _check_distinct(name, noun, pairs, list(zip(*ids, strict=True)))
    return Pairs(pairs, values, describe, place)


def _check_distinct(name: str, noun: str, pairs: list[tuple[str, str]], given: list[tuple[Any, Any]]) -> None:
    """Raise InputError if two keys of a dict, such as 1 and '1', are the same as text."""
    topics: dict[str, Any] = {}
    others: dict[tuple[str, str], Any] = {}
    for pair, (topic, other) in zip(pairs, given, strict=True):
        twin = topics.setdefault(pair[0], topic)
        if twin is not topic:
            raise InputError(f"{name}: the topics {twin!r} and {topic!r} are the same as text")
        if pair in others:
            raise InputError(
                f"{name}: topic {topic!r}: the {noun}s {others[pair]!r} and {other!r} are the same as text"
            )
        others[pair] = other


def _of_dicts(name: str, source: Mapping[Any, Any], noun: str) -> _Rows:
    topics: list[Any] = []
    others: list[Any] = []
    values: list[Any] = []
    for topic, of_topic in source.items():
        if not isinstance(of_topic, Mapping):
            raise InputError(
                f"{name}: topic {topic!r}: expected a dict by {noun}, found {short_repr(of_topic)}"
            )
        topics += [topic] * len(of_topic)
        others += of_topic.keys()
        values += of_topic.values()
    return topics, others, values, lambda _: ""


def _of_frame(
    name: str, frame: Any, column: str, of_columns: Callable[[Sequence[str]], Sequence[str]]
) -> _Rows:
    ids, present = ("query_id", column), list(columns.column_names(frame))
    wanted = [*ids, *of_columns([each for each in present if each not in ids])]
    missing = [each for each in wanted if each not in present]
    if missing:
        raise InputError(
            f"{name}: the table has no column {', '.join(missing)}; it has {', '.join(map(str, present))}"
        )
    rows = np.arange(len(frame))
    topics, others, *parts = (
        columns.objects_at(columns.get_column(name, frame, each), rows) for each in wanted
    )
    return topics, others, list(zip(*parts, strict=True)), row_place


def _of_file(path: str | os.PathLike[str], layout: str, of_fields: Callable[[Sequence[str]], Any]) -> _Rows:
    check_path(path)
    where = os.fspath(path)
    with errors_with_path(path):
        data = read_text(where)
    topics, others, values, lines = [], [], [], []
    for line, raw in enumerate(io.BytesIO(data), 1):
        fields = fields_of(raw, line, where)
        if not fields:
            continue
        try:
            topic, other, *rest = fields
            values.append(of_fields(rest))
        except ValueError:
            raise line_error(where, line, f"expected a line {layout}", raw) from None
        topics.append(topic)
        others.append(other)
        lines.append(line)
    return topics, others, values, lambda row: f"{where}, line {lines[row]}"
