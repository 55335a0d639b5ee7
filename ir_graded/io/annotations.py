"""Columns that users add to qrels: probabilities and types of intents, and groups."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from ir_graded.core.facets import IMPORTANCE, INTENT, INTENT_TYPE, PROBABILITY
from ir_graded.core.segments import Floats
from ir_graded.errors import (
    CoverageWarning,
    InputError,
    NoSharedTopicsError,
    ParameterError,
    format_ids,
    short_repr,
)

from .assignments import IMPORTANCES, Nuggets, nugget_lists, part_of_frame
from .forms import is_frame
from .paths import check_path
from .sources import opened, qrels_frame
from .table import Table, as_strings, as_words, column_names, no_place
from .text import fields_of, line_error, read_text
from .values import as_shares, as_text, floats_of, number_or_text, text_ids

if TYPE_CHECKING:
    import pandas as pd

_Value = TypeVar("_Value")


def with_intents(qrels: Any, intents: Any) -> pd.DataFrame:
    """Add probabilities and types of intents to qrels, for measures such as ``D``.

    Args:
        qrels: qrels with intents, in any form of ``evaluate`` except a dict of dicts.
        intents: ``{topic: {intent: probability}}``, ``{topic: {intent: (probability, 'nav')}}``, a frame with
            the columns query_id, iteration, probability and optionally intent_type; or a file of lines
            ``topic intent probability [inf|nav]``. Topics that are not in the qrels are ignored.

    Returns:
        A frame with the columns query_id, doc_id (text), relevance, iteration, probability, intent_type and
        all others of the qrels; the probability of an intent that is not listed is NaN.

    Raises:
        InputError: the qrels have no intents, or the probabilities of a topic of the qrels are missing, not
            valid, or do not sum to more than 0 and at most 1.001.
        FileFormatError: a line of the file cannot be read.
        OSError: the file cannot be opened.

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels = [ir_measures.Qrel("1", "a", 2, "x"), ir_measures.Qrel("1", "b", 1, "y")]
        >>> ir_graded.with_intents(qrels, {"1": {"x": 0.75, "y": (0.25, "nav")}}).T
                        0     1
        query_id        1     1
        doc_id          a     b
        relevance     2.0   1.0
        iteration       x     y
        probability  0.75  0.25
        intent_type   inf   nav
    """
    return qrels_frame(add_intents(opened("qrels", qrels).table(), intents))


def add_intents(table: Table, intents: Any) -> Table:
    """Return qrels with the columns probability and intent_type; errors as `with_intents`."""
    if not table.has(INTENT):
        raise InputError(f"intents are given, but {INTENT.lacking('qrels')}")
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


def with_nuggets(qrels: Any, nuggets: Any) -> pd.DataFrame:
    """Add the importance of nuggets to qrels, and the nuggets without rows, for ``NuggetR`` and ``U``.

    The nuggets are the intents of the qrels (column iteration). A nugget without rows gets one of length 0
    and level 0, or the lowest level if it is below 0, at the topic's document of highest level. This row
    changes no other measure.

    Args:
        qrels: qrels with nuggets as intents, in any form of ``evaluate`` except a dict of dicts.
        nuggets: lists of nuggets by topic: files of nuggetizer (JSON Lines), a table with the columns
            query_id, nugget and importance ('vital', 'okay' or a level), or a list of dicts.

    Returns:
        A frame with the columns query_id, doc_id (text), relevance, iteration, importance (vital 2, okay 1,
        NaN for other words) and all others of the qrels.

    Raises:
        InputError: the qrels have no intents, or a nugget has two importances.
        NoSharedTopicsError: the nuggets and the qrels share no topic.
        FileFormatError: a line of a file cannot be read.

    Warns:
        CoverageWarning: an importance is another word, topics are not in the qrels, or nuggets of the qrels
            are not among the nuggets.

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels = [ir_measures.Qrel("1", "a", 2, "x")]
        >>> lists = [{"query_id": "1", "nugget": name, "importance": "vital"} for name in "xy"]
        >>> ir_graded.with_nuggets(qrels, lists)
          query_id doc_id  relevance iteration  importance
        0        1      a        2.0         x         2.0
        1        1      a        0.0         y         2.0
    """
    table, note = add_nuggets(opened("qrels", qrels).table(), nuggets)
    if note:
        warnings.warn(note, CoverageWarning, stacklevel=2)
    return qrels_frame(table)


def add_nuggets(table: Table, nuggets: Any) -> tuple[Table, str]:
    """Return qrels with importance and all nuggets, and doubts; errors as `with_nuggets`."""
    if not table.has(INTENT):
        raise InputError(f"nuggets are given, but {INTENT.lacking('qrels')}")
    listed = nugget_lists(nuggets)
    topics = {*table.query_id.to_list()}
    if topics.isdisjoint(listed.query_id):
        raise NoSharedTopicsError(
            f"the nuggets and the qrels share no topic: the nuggets have {format_ids(listed.query_id)}, the "
            f"qrels have {format_ids(sorted(topics))}"
        )
    pairs = [*zip(table.query_id.to_list(), table.text(INTENT.name).to_list(), strict=True)]
    place = {
        pair: row
        for row, pair in enumerate(zip(listed.query_id, listed.nugget, strict=True))
        if pair[0] in topics
    }
    known = importance_of(table)[0] if table.has(IMPORTANCE) else np.full(len(table), np.nan)
    levels, unlisted = known.copy(), []
    for row, pair in enumerate(pairs):
        if pair not in place:
            unlisted.append(row)
            continue
        levels[row] = listed.importance[place[pair]]
        if not np.isnan(known[row]) and known[row] != levels[row]:
            raise InputError(
                f"{table.in_kind(row)}: the nugget has the importance {known[row]:g}, but {levels[row]:g} "
                f"in the nuggets: {listed.describe(place[pair])}; use the same in both"
            )
    new = sorted(place.keys() - {*pairs}, key=place.__getitem__)
    order = pl.DataFrame({"topic": table.query_id, "doc": table.doc_id, "level": table.value})
    order = order.with_row_index("row").sort("level", "doc", descending=[True, False])
    best = order.unique("topic", keep="first", maintain_order=True)
    row_of = dict(best.select("topic", "row").iter_rows())
    rows = np.array([*range(len(table)), *(row_of[topic] for topic, _ in new)], dtype=np.int64)
    found, added = table[rows], len(new)
    columns = {name: partial(found.objects, name) for name in table.further}
    # A listed nugget has no probability, and the type of an intent has no effect on it.
    for facet, value in ((PROBABILITY, math.nan), (INTENT_TYPE, INTENT_TYPE.words[0])):
        if table.has(facet):
            columns[facet.name] = partial(list, [*table.objects(facet.name), *[value] * added])
    columns[INTENT.name] = partial(list, [nugget for _, nugget in (*pairs, *new)])
    columns[IMPORTANCE.name] = partial(
        list, [*levels.tolist(), *(float(listed.importance[place[pair]]) for pair in new)]
    )
    passage = found.passage
    if passage is not None:
        passage = replace(passage, length=np.where(np.arange(rows.size) < len(table), passage.length, 0.0))
    whole = replace(
        found,
        value=np.append(table.value, np.full(added, min(0.0, table.value.min(initial=0.0)))),
        passage=passage,
        further=columns,
        rows=None,
        place_of=found.place,
        query_objects_of=found.query_objects,
    )
    return whole, _note_on_nuggets(table, listed, unlisted)


def with_groups(qrels: Any, groups: Mapping[str, Any]) -> pd.DataFrame:
    """Return qrels as a frame with a column of membership for each attribute set, for GF and GFR.

    Args:
        qrels: qrels in any form of ``evaluate``.
        groups: membership by name of the attribute set: a file of lines ``topic doc p1 ... pn`` with the
            share of each of n groups, a dict ``{topic: {doc: [p1, ..., pn]}}``, or a frame with the columns
            query_id and doc_id and one column for each group.

    Returns:
        The qrels with a further column per attribute set, with a list of n shares per row, or None if the
        membership of the document is unknown. Such a document counts as shared equally.

    Raises:
        InputError: shares are negative, do not sum to 1 (up to 0.001), are fewer than two, or differ in
            number between documents; or a document is not judged in the qrels.
        FileFormatError: a line of a file cannot be read.
        ParameterError: an attribute set has the name of another column.

    Example:
        >>> import ir_graded
        >>> sizes = {"1": {"a": [1, 0], "b": [0.5, 0.5]}}
        >>> ir_graded.with_groups({"1": {"a": 2, "b": 0, "c": 1}}, {"SIZE": sizes})
          query_id doc_id  relevance        SIZE
        0        1      a          2  [1.0, 0.0]
        1        1      b          0  [0.5, 0.5]
        2        1      c          1        None
    """
    if not isinstance(groups, Mapping):
        raise ParameterError(f"groups={short_repr(groups)} must be a dict from names to membership")
    import pandas as pd

    frame = qrels_frame(qrels)
    topics, docs = (map(as_text, frame[name]) for name in ("query_id", "doc_id"))
    documents = list(zip(topics, docs, strict=True))
    judged = set(documents)
    for name, source in groups.items():
        if not isinstance(name, str) or not name or name in frame.columns:
            raise ParameterError(f"groups: {name!r} must be the name of a column that the qrels do not have")
        found = _membership(name, source, judged)
        frame[name] = pd.Series([found.get(each) for each in documents], dtype=object, index=frame.index)
    return frame


@dataclass(frozen=True)
class Pairs:
    """Topic and second id of each row as text, its value (of a frame, a tuple) and its place.

    ``name`` is that of the input in messages, ``noun`` that of the second id.
    """

    name: str
    noun: str
    ids: list[tuple[str, str]]
    values: list[Any]
    place: Callable[[int], str] = no_place

    def describe(self, row: int) -> str:
        """Describe a row by its ids and place."""
        (topic, other), place = self.ids[row], self.place(row)
        return f"{self.name}: topic {topic!r}, {self.noun} {other!r}" + (f" ({place})" if place else "")

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
        check_path(source)
        return Pairs(name, noun, *_of_file(os.fspath(source), layout, of_fields))
    if isinstance(source, Mapping):
        return Pairs(name, noun, *_of_dicts(name, source, noun))
    if not is_frame(source):
        raise InputError(
            f"{name}: cannot read {short_repr(source)}; give a dict of dicts by topic and {noun}, a frame "
            f"with the columns query_id and {column}, or a file of lines {layout}"
        )
    names, part = ("query_id", column), part_of_frame(source)
    wanted = of_columns([one for one in column_names(source) if one not in names])
    found = part.columns(name, names, wanted)
    ids, values = ([*zip(*(found[one] for one in some), strict=True)] for some in (names, wanted))
    return Pairs(name, noun, ids, values, part.place)


def _of_dicts(name: str, source: Mapping[Any, Any], noun: str) -> tuple[list[tuple[str, str]], list[Any]]:
    ids: list[tuple[str, str]] = []
    values: list[Any] = []
    for topic, of_topic in zip(text_ids([*source], "topic", name), source.values(), strict=True):
        if not isinstance(of_topic, Mapping):
            raise InputError(
                f"{name}: topic {topic!r}: expected a dict by {noun}, found {short_repr(of_topic)}"
            )
        ids += [(topic, other) for other in text_ids([*of_topic], noun, f"{name}: topic {topic!r}")]
        values += of_topic.values()
    return ids, values


def _of_file(
    path: str, layout: str, of_fields: Callable[[Sequence[str]], Any]
) -> tuple[list[tuple[str, str]], list[Any], Callable[[int], str]]:
    ids, values, lines = [], [], []
    for line, raw in enumerate(io.BytesIO(read_text(path)), 1):
        if not (fields := fields_of(raw, line, path)):
            continue
        try:
            topic, other, *rest = fields
            values.append(of_fields(rest))
        except ValueError:
            raise line_error(path, line, f"expected a line {layout}", raw) from None
        ids.append((topic, other))
        lines.append(line)
    return ids, values, lambda row: f"{path}, line {lines[row]}"


#: Tolerance of the sum, because files have probabilities with four digits.
HIGHEST_SUM = 1.001


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


def importance_of(table: Table) -> tuple[Floats, str]:
    """Return the importance of the nugget of each row, NaN for other words, and a note on these."""
    given, others = table.objects(IMPORTANCE.name), list[int]()
    levels = np.full(len(given), np.nan)
    for row, value in enumerate(given):
        if isinstance(value, str):
            value = IMPORTANCES.get(value.strip().casefold(), number_or_text(value))  # noqa: PLW2901
        if isinstance(value, str):
            others.append(row)
        else:
            levels[row] = floats_of([value], lambda _, at=row: f"{table.in_kind(at)}: the importance")[0]  # type: ignore[misc]
    if not others:
        return levels, ""
    return levels, (
        f"{len(others)} of {len(levels)} rows of the qrels have an importance other than "
        f"{', '.join(IMPORTANCES)}, the first {short_repr(given[others[0]])} ({table.describe(others[0])}); "
        "such nuggets count in importance='all' only."
    )


def _note_on_nuggets(table: Table, listed: Nuggets, unlisted: list[int]) -> str:
    """Return sentences on labels, topics and nuggets that are not known; empty without any."""
    notes = [*listed.notes]
    if ignored := sorted({*listed.query_id} - {*table.query_id.to_list()}):
        whose = "a topic that is" if len(ignored) == 1 else f"{len(ignored)} topics that are"
        notes.append(f"The nuggets of {whose} not in the qrels are ignored: {format_ids(ignored)}.")
    if unlisted:
        notes.append(
            f"Nuggets of the qrels are not among the given ones, in {len(unlisted)} rows, the first: "
            f"{table.describe(unlisted[0])}, nugget {short_repr(table.text(INTENT.name)[unlisted[0]])}. They "
            "count with importance='all' only, unless the qrels have their importance."
        )
    return " ".join(notes)


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
