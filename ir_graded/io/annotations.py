"""Columns that users add to qrels: probabilities and types of intents, and groups."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ir_graded.core.facets import INTENT, INTENT_TYPE, PROBABILITY
from ir_graded.errors import InputError, ParameterError, short_repr

from .table import (
    Table,
    as_strings,
    as_words,
    column_names,
    first_null,
    get_column,
    is_frame,
    objects_at,
    row_place,
)
from .text import check_path, fields_of, line_error, read_text
from .values import as_shares, as_text, floats_of, text_ids

if TYPE_CHECKING:
    import pandas as pd

_Value = TypeVar("_Value")
#: Pairs of ids, their values, and a function for the place of a row.
_Rows = tuple[list[tuple[str, str]], list[Any], Callable[[int], str]]


@dataclass(frozen=True)
class Pairs:
    """Topic and second id of each row as text, its value (of a frame, a tuple) and its place."""

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

    ``by`` has the column of the second id and its name in messages, ``layout`` a line of a file in words.
    ``of_fields`` converts the fields of a line after the ids to a value, or raises ValueError; ``of_columns``
    selects the columns of a value from those of a frame without the ids.
    """
    column, noun = by
    if isinstance(source, (str, os.PathLike)):
        ids, values, place = _of_file(source, layout, of_fields)
    elif isinstance(source, Mapping):
        ids, values, place = _of_dicts(name, source, noun)
    elif is_frame(source):
        ids, values, place = _of_frame(name, source, column, of_columns)
    else:
        raise InputError(
            f"{name}: cannot read {short_repr(source)}; give a dict of dicts by topic and {noun}, a frame "
            f"with the columns query_id and {column}, or a file of lines {layout}"
        )

    def describe(row: int) -> str:
        where = f" ({place(row)})" if place(row) else ""
        return f"{name}: topic {ids[row][0]!r}, {noun} {ids[row][1]!r}{where}"

    return Pairs(ids, values, describe, place)


def _of_dicts(name: str, source: Mapping[Any, Any], noun: str) -> _Rows:
    ids: list[tuple[str, str]] = []
    values: list[Any] = []
    for topic, of_topic in zip(text_ids([*source], "topic", name), source.values(), strict=True):
        if not isinstance(of_topic, Mapping):
            raise InputError(
                f"{name}: topic {topic!r}: expected a dict by {noun}, found {short_repr(of_topic)}"
            )
        ids += [(topic, other) for other in text_ids([*of_topic], noun, f"{name}: topic {topic!r}")]
        values += of_topic.values()
    return ids, values, lambda _: ""


def _of_frame(
    name: str, frame: Any, column: str, of_columns: Callable[[Sequence[str]], Sequence[str]]
) -> _Rows:
    names, present = ("query_id", column), column_names(frame)
    wanted = of_columns([each for each in present if each not in names])
    if missing := [each for each in (*names, *wanted) if each not in present]:
        raise InputError(
            f"{name}: the table has no column {', '.join(missing)}; it has {', '.join(map(str, present))}"
        )
    ids = [as_strings(get_column(name, frame, each), f"{name}: {each}") for each in names]
    for each, texts in zip(names, ids, strict=True):
        if (row := first_null(texts)) is not None:
            raise InputError(f"{name}: {row_place(row)} has no {each}")
    every = np.arange(len(frame))
    parts = [objects_at(get_column(name, frame, each), every) for each in wanted]
    return [*zip(*ids, strict=True)], [*zip(*parts, strict=True)], row_place


def _of_file(path: str | os.PathLike[str], layout: str, of_fields: Callable[[Sequence[str]], Any]) -> _Rows:
    check_path(path)
    where = os.fspath(path)
    data = read_text(where)
    ids, values, lines = [], [], []
    for line, raw in enumerate(io.BytesIO(data), 1):
        fields = fields_of(raw, line, where)
        if not fields:
            continue
        try:
            topic, other, *rest = fields
            values.append(of_fields(rest))
        except ValueError:
            raise line_error(where, line, f"expected a line {layout}", raw) from None
        ids.append((topic, other))
        lines.append(line)
    return ids, values, lambda row: f"{where}, line {lines[row]}"


#: Tolerance of the sum, because files have probabilities with four digits.
HIGHEST_SUM = 1.001


def with_probabilities(table: Table, intents: Any) -> Table:
    """Return qrels with the columns probability and intent_type; errors as in ``with_intents``."""
    listed = _checked(intents, table.query_id.unique(maintain_order=True).to_list())
    text = table.text(INTENT.name)
    pairs = [*zip(table.query_id.to_list(), text.to_list(), strict=True)]
    found = [listed.get(pair, (math.nan, INTENT_TYPE.words[0])) for pair in pairs]
    added = {
        INTENT.name: text,
        PROBABILITY.name: [probability for probability, _ in found],
        INTENT_TYPE.name: [kind for _, kind in found],
    }
    columns = {name: partial(added.get, name) for name in added}
    unused: dict[str, list[str]] = {}
    for topic, intent in listed.keys() - {*pairs}:
        unused.setdefault(topic, []).append(intent)
    return replace(table, further={**table.further, **columns}, unused_intents=unused)


def check_sum(topic: str, probabilities: Iterable[float]) -> None:
    """Raise InputError if the probabilities of a topic are missing or have a wrong sum."""
    given = [*probabilities]
    if not given:
        raise InputError(f"intents: topic {topic!r} of the qrels has no probabilities")
    total = math.fsum(given)
    if not 0 < total <= HIGHEST_SUM:
        listed = ", ".join(f"{value:g}" for value in given)
        raise InputError(
            f"intents: the probabilities of topic {topic!r} sum to {total:g}; the sum must be above 0 and at "
            f"most {HIGHEST_SUM}: {listed}"
        )


def _of_fields(fields: Sequence[str]) -> tuple[float, str]:
    probability, *types = fields
    (kind,) = types or INTENT_TYPE.words[:1]
    return float(probability), kind


def _of_columns(present: Sequence[str]) -> list[str]:
    return ["probability", *(name for name in present if name == "intent_type")]


def _checked(intents: Any, topics: list[str]) -> dict[tuple[str, str], tuple[float, str]]:
    """Return probability and type of each intent of some topics."""
    layout = "topic intent probability [inf|nav]"
    pairs = read_pairs("intents", intents, (INTENT.name, "intent"), layout, _of_fields, _of_columns)
    values = [value if isinstance(value, (tuple, list)) else (value,) for value in pairs.values]
    for row, value in enumerate(values):
        if len(value) not in {1, 2}:
            raise InputError(
                f"{pairs.describe(row)}: {short_repr(value)} must be a probability, or a pair of a "
                "probability and a type"
            )
    pair_of = [(*value, INTENT_TYPE.words[0])[:2] for value in values]
    probability = floats_of(
        [given for given, _ in pair_of], lambda row: f"{pairs.describe(row)}: the probability"
    )
    PROBABILITY.check(probability, pairs.describe)
    types = [kind for _, kind in pair_of]
    as_words(INTENT_TYPE, as_strings(types, "intents"), pairs.describe)
    found = pairs.unique([*zip(probability.tolist(), types, strict=True)])
    of_topic: dict[str, list[float]] = {topic: [] for topic in topics}
    for (topic, _), (number, _) in found.items():
        of_topic.setdefault(topic, []).append(number)
    for topic in topics:
        check_sum(topic, of_topic[topic])
    return found


def add_groups(frame: pd.DataFrame, groups: Mapping[str, Any]) -> pd.DataFrame:
    """Add a column for each attribute set to qrels; errors as in ``with_groups``."""
    import pandas as pd

    topics, docs = (map(as_text, frame[name]) for name in ("query_id", "doc_id"))
    documents = list(zip(topics, docs, strict=True))
    judged = set(documents)
    for name, source in groups.items():
        if not isinstance(name, str) or not name or name in frame.columns:
            raise ParameterError(f"groups: {name!r} must be the name of a column that the qrels do not have")
        found = _membership(name, source, judged)
        frame[name] = pd.Series([found.get(each) for each in documents], dtype=object, index=frame.index)
    return frame


def _numbers(fields: Iterable[str]) -> list[float]:
    return [float(field) for field in fields]


def _membership(name: str, source: Any, judged: set[tuple[str, str]]) -> dict[tuple[str, str], list[float]]:
    """Return shares by topic and document. Raises InputError if they are wrong or a document is unjudged."""
    layout = "topic doc p1 ... pn, all p numbers"
    pairs = read_pairs(name, source, ("doc_id", "document"), layout, _numbers, list)
    shares = as_shares(pairs.values, pairs.describe)
    for row, document in enumerate(pairs.ids):
        if document not in judged:
            raise InputError(f"{pairs.describe(row)} is not in the qrels; add it, for example with level 0")
    return pairs.unique(shares.tolist())
