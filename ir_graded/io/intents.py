"""Probabilities and types of intents, given beside the qrels."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ir_graded.errors import InputError, short_repr

from .ids import as_text, is_missing
from .paths import check_path, errors_with_path
from .sources import is_path_or_dataset_id, table_of
from .table import Table

if TYPE_CHECKING:
    import pandas as pd

#: The column of qrels that names the intent.
ITERATION = "iteration"
#: Informational and navigational intents.
TYPES = ("inf", "nav")
#: Files hold probabilities with four digits.
HIGHEST_SUM = 1.001
_FIELDS = "topic intent probability [inf|nav]"
_COLUMNS = ("query_id", ITERATION, "probability")

#: Topic, intent, probability, type, place.
_Row = tuple[str, str, float, str, str]


def with_intents(qrels: Any, intents: Any) -> pd.DataFrame:
    """Add probabilities and types of intents to qrels, for measures such as ``D``.

    Args:
        qrels: qrels with intents, in any form that ``evaluate`` takes but a dict of dicts.
        intents: ``{topic: {intent: probability}}``, ``{topic: {intent: (probability, 'nav')}}``, a frame with
            the columns query_id, iteration, probability and, if wanted, intent_type; or a file of lines
            ``topic intent probability [inf|nav]``. Topics that the qrels lack are ignored.

    Returns:
        A frame with the columns query_id, doc_id (text), relevance, iteration, probability and intent_type;
        the probability of an intent that is not listed is NaN.

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
    import pandas as pd

    from .reading import frame_of

    table = add_intents(qrels, intents)
    frame = frame_of(table)
    frame[ITERATION] = pd.Series(table.text(ITERATION).to_list(), dtype="str")
    frame["probability"] = table.numbers("probability")
    frame["intent_type"] = pd.Series(table.text("intent_type").to_list(), dtype="str")
    return frame


def add_intents(qrels: Any, intents: Any) -> Table:
    """Return qrels as a table with the columns probability and intent_type; errors as `with_intents`."""
    import polars as pl

    table = None if isinstance(qrels, Mapping) else table_of("qrels", qrels)
    if table is None or ITERATION not in table.further:
        raise InputError(
            "intents are given, and the qrels have no column iteration: give a table or named tuples with "
            "the fields query_id, doc_id, relevance, iteration, or a file of TREC or NTCIR whose second "
            "field is the intent; a dict of dicts has no such column"
        )
    table.check_ids()
    listed = _checked(intents, table.query_id.unique(maintain_order=True).to_list())
    known = pl.DataFrame(
        [(*key, *value) for key, value in listed.items()],
        schema={"topic": pl.String, "intent": pl.String, "probability": pl.Float64, "type": pl.String},
        orient="row",
    )
    rows = pl.DataFrame({"topic": table.query_id, "intent": table.text(ITERATION)}).join(
        known, on=["topic", "intent"], how="left", maintain_order="left"
    )
    further = {
        **table.further,
        "probability": lambda: rows["probability"],
        "intent_type": lambda: rows["type"].fill_null(TYPES[0]),
    }
    return replace(table, further=further)


def check_sum(topic: str, probabilities: Iterable[float]) -> None:
    """Raise InputError where the probabilities of a topic are missing or have a wrong sum."""
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


def _checked(intents: Any, topics: list[str]) -> dict[tuple[str, str], tuple[float, str]]:
    """Return probability and type of each intent of some topics."""
    found: dict[tuple[str, str], tuple[float, str]] = {}
    places: dict[tuple[str, str], str] = {}
    for topic, intent, probability, kind, place in _rows(intents):
        key = (topic, intent)
        where = f"intents: topic {topic!r}, intent {intent!r}{place and f' ({place})'}"
        if not (math.isfinite(probability) and probability >= 0):
            raise InputError(f"{where}: the probability is {probability:g}; it must be a finite number >= 0")
        if kind not in TYPES:
            raise InputError(f"{where}: the type is {short_repr(kind)}; it must be 'inf' or 'nav'")
        if found.setdefault(key, (probability, kind)) != (probability, kind):
            first, other = found[key], (probability, kind)
            raise InputError(f"{where} is {other}, and {first} at {places[key] or 'another place'}")
        places.setdefault(key, place)
    of_topic: dict[str, list[float]] = {topic: [] for topic in topics}
    for (topic, _), (probability, _) in found.items():
        if topic in of_topic:
            of_topic[topic].append(probability)
    for topic in topics:
        check_sum(topic, of_topic[topic])
    return found


def _rows(intents: Any) -> Iterator[_Row]:
    """The intents of any form."""
    if isinstance(intents, Mapping):
        return _of_dicts(intents)
    if is_path_or_dataset_id(intents):
        return _of_file(intents)
    if hasattr(intents, "columns") or hasattr(intents, "column_names"):
        return _of_frame(intents)
    raise InputError(
        f"intents: cannot read {type(intents).__name__}; give a dict {{topic: {{intent: probability}}}}, a "
        f"frame with the columns {', '.join(_COLUMNS)}, or a file of lines {_FIELDS}"
    )


def _of_dicts(intents: Mapping[Any, Any]) -> Iterator[_Row]:
    for topic, of_topic in intents.items():
        if not isinstance(of_topic, Mapping):
            raise InputError(
                f"intents: topic {topic!r} holds {short_repr(of_topic)} where a dict from intent to "
                "probability is needed"
            )
        for intent, value in of_topic.items():
            probability, kind = value if isinstance(value, tuple) and len(value) == 2 else (value, TYPES[0])  # noqa: PLR2004
            yield _row(topic, intent, probability, kind, "")


def _row(topic: Any, intent: Any, probability: Any, kind: Any, place: str) -> _Row:
    from .columns import as_float

    where = f"intents: topic {topic!r}, intent {intent!r}{place and f' ({place})'}"
    if is_missing(topic) or is_missing(intent):
        raise InputError(f"{where}: the topic or the intent is missing")
    number = as_float(probability, lambda: f"{where}: the probability")
    return as_text(topic), as_text(intent), number, str(kind), place


def _of_frame(frame: Any) -> Iterator[_Row]:
    from . import columns

    present = [*columns.column_names(frame)]
    missing = [name for name in _COLUMNS if name not in present]
    if missing:
        raise InputError(
            f"intents: the table has no column {', '.join(missing)}; it has {', '.join(map(str, present))}"
        )
    topics, intents = (columns.as_strings(frame[name]).to_list() for name in _COLUMNS[:2])
    values = columns.as_floats(frame["probability"], lambda row: f"intents: row {row}: the probability")
    kinds = [TYPES[0]] * len(topics)
    if "intent_type" in present:
        kinds = columns.as_strings(frame["intent_type"]).to_list()
    for row, one in enumerate(zip(topics, intents, values.tolist(), kinds, strict=True)):
        yield _row(*one, f"row {row}")


def _of_file(path: str | os.PathLike[str]) -> Iterator[_Row]:
    from .file_text import read_text
    from .lines import fields_of, line_error

    check_path(path)
    where = os.fspath(path)
    with errors_with_path(path):
        data = read_text(where)
    for line, raw in enumerate(io.BytesIO(data), 1):
        fields = fields_of(raw, line, where)
        if not fields:
            continue
        if len(fields) not in (3, 4):
            raise line_error(where, line, f"expected 3 or 4 fields ({_FIELDS}), found {len(fields)}", raw)
        try:
            number = float(fields[2])
        except ValueError:
            raise line_error(where, line, "the probability, the third field, is not a number", raw) from None
        yield fields[0], fields[1], number, (*fields, TYPES[0])[3], f"{where}, line {line}"
