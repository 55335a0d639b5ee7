"""Values for pairs of ids, given beside qrels: a file of lines, a dict of dicts or a frame."""

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
_Rows = tuple[list[Any], list[Any], list[Any], Callable[[int], str]]


@dataclass(frozen=True)
class Kind:
    """A kind of values, and how each form holds them.

    Attributes:
        column: the column with the second id; the first is query_id.
        noun: the second id in messages.
        value: the value in messages.
        layout: a line of a file in words.
        of_fields: makes a value of the fields of a line after the ids; ValueError says what is wrong.
        required: the columns of a value that a frame must have.
        optional: those that it may have; None for all others.
    """

    column: str
    noun: str
    value: str
    layout: str
    of_fields: Callable[[Sequence[str]], Any]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Pairs:
    """Pairs of ids with their values, a row each.

    Attributes:
        ids: topic and second id of each row, as text.
        values: the value of each; of a frame a tuple of its columns.
        describe: describes a row, for messages.
        place: says where a row is.
    """

    ids: list[tuple[str, str]]
    values: list[Any]
    describe: Callable[[int], str]
    place: Callable[[int], str]

    def unique(self, values: Sequence[_Value]) -> dict[tuple[str, str], _Value]:
        """Return one value for each pair. Raises InputError where two rows of a pair differ in theirs."""
        first: dict[tuple[str, str], int] = {}
        for row, (pair, value) in enumerate(zip(self.ids, values, strict=True)):
            other = first.setdefault(pair, row)
            if values[other] != value:
                place = self.place(other) or "another place"
                raise InputError(f"{self.describe(row)} is {value}, and {values[other]} at {place}")
        return {pair: values[row] for pair, row in first.items()}


def read_pairs(name: str, source: Any, kind: Kind) -> Pairs:
    """Read values of any form.

    Args:
        name: the name of the source, for messages.
        source: a file, a dict ``{topic: {id: value}}``, or a frame with the columns query_id, that of the
            second id, and those of the value.
        kind: the kind of the values.

    Raises:
        InputError: it has another form, or an id is missing or cannot be read.
        FileFormatError: a line of the file cannot be read.
        OSError: the file cannot be opened.
    """
    if is_path_or_dataset_id(source):
        topics, others, values, place = _of_file(source, kind)
    elif isinstance(source, Mapping):
        topics, others, values, place = _of_dicts(name, source, kind)
    elif hasattr(source, "columns") or hasattr(source, "column_names"):
        topics, others, values, place = _of_frame(name, source, kind)
    else:
        raise InputError(
            f"{name}: cannot read {short_repr(source)}; give a dict of dicts {{topic: {{{kind.noun}: "
            f"{kind.value}}}}}, a frame with the columns query_id and {kind.column}, or a file of lines "
            f"{kind.layout}"
        )

    def describe(row: int) -> str:
        where = f" ({place(row)})" if place(row) else ""
        return f"{name}: topic {topics[row]!r}, {kind.noun} {others[row]!r}{where}"

    ids = []
    for column in (topics, others):
        try:
            texts = columns.as_strings(column)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if texts.null_count():
            row = int(texts.is_null().arg_true()[0])
            raise InputError(f"{describe(row)}: the topic or the {kind.noun} is missing")
        ids.append(texts.to_list())
    return Pairs(list(zip(*ids, strict=True)), values, describe, place)


def _of_dicts(name: str, source: Mapping[Any, Any], kind: Kind) -> _Rows:
    for topic, values in source.items():
        if not isinstance(values, Mapping):
            raise InputError(
                f"{name}: topic {topic!r} holds {short_repr(values)} where a dict from {kind.noun} to "
                f"{kind.value} is needed"
            )
    rows = [(topic, other, value) for topic, values in source.items() for other, value in values.items()]
    topics, others, found = ([row[at] for row in rows] for at in range(3))
    return topics, others, found, lambda _: ""


def _of_frame(name: str, frame: Any, kind: Kind) -> _Rows:
    ids = ("query_id", kind.column)
    present = list(columns.column_names(frame))
    missing = [each for each in (*ids, *kind.required) if each not in present]
    if missing:
        raise InputError(
            f"{name}: the table has no column {', '.join(missing)}; it has {', '.join(map(str, present))}"
        )
    optional = [each for each in present if each not in ids] if kind.optional is None else kind.optional
    wanted = [*ids, *kind.required, *(each for each in optional if each in present)]
    rows = np.arange(len(frame))
    topics, others, *values = (
        columns.objects_at(columns.get_column(name, frame, each), rows) for each in wanted
    )
    return topics, others, list(zip(*values, strict=True)) or [()] * len(rows), row_place


def _of_file(path: str | os.PathLike[str], kind: Kind) -> _Rows:
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
            values.append(kind.of_fields(rest))
        except ValueError:
            raise line_error(where, line, f"expected a line {kind.layout}", raw) from None
        topics.append(topic)
        others.append(other)
        lines.append(line)
    return topics, others, values, lambda row: f"{where}, line {lines[row]}"
