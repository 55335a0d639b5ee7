"""``with_intents``: add probabilities and types of intents to qrels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.segments import Bools, Floats
from ir_graded.errors import InputError, short_repr

from .sources import table_of
from .table import Table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: Column of qrels with the intent.
ITERATION = "iteration"
#: Informational and navigational intents.
TYPES = ("inf", "nav")
#: Tolerance of the sum, because files have probabilities with four digits.
HIGHEST_SUM = 1.001


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
    from .reading import qrels_frame

    return qrels_frame(add_intents(qrels, intents))


def add_intents(qrels: Any, intents: Any) -> Table:
    """Return qrels as a table with the columns probability and intent_type; errors as `with_intents`."""
    import polars as pl

    table = None if isinstance(qrels, Mapping) else table_of("qrels", qrels)
    if table is None or ITERATION not in table.further:
        raise InputError(
            "intents are given, but the qrels have no column iteration: give a table or named tuples with "
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
    text = table.text(ITERATION)
    rows = pl.DataFrame({"topic": table.query_id, "intent": text}).join(
        known, on=["topic", "intent"], how="left", maintain_order="left"
    )
    added = {
        ITERATION: text,
        "probability": rows["probability"],
        "intent_type": rows["type"].fill_null(TYPES[0]),
    }
    columns = {name: partial(added.get, name) for name in added}
    present = set(zip(table.query_id, text, strict=True)) if rows["probability"].null_count() else set(listed)
    unused: dict[str, list[str]] = {}
    for topic, intent in listed.keys() - present:
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


def check_probabilities(given: Floats, describe: Callable[[int], str], *, unlisted: bool = False) -> None:
    """Raise InputError if a probability is negative or infinite, or NaN unless intents may be unlisted."""
    valid = np.isfinite(given) & (given >= 0)
    wrong = np.flatnonzero(~(valid | np.isnan(given) if unlisted else valid))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"{describe(row)}: the probability is {given[row]:g}; it must be a finite number >= 0"
        )


def are_nav(types: pl.Series, describe: Callable[[int], str]) -> Bools:
    """Return which types are navigational. Raises InputError for an invalid type."""
    wrong = ~types.is_in(list(TYPES)).fill_null(value=False)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(
            f"{describe(row)}: the intent_type is {short_repr(types[row])}; it must be 'inf' (informational) "
            "or 'nav' (navigational)"
        )
    return (types == TYPES[1]).to_numpy()


def _of_fields(fields: Sequence[str]) -> tuple[float, str]:
    probability, *types = fields
    (kind,) = types or TYPES[:1]
    return float(probability), kind


def _of_columns(present: Sequence[str]) -> list[str]:
    return ["probability", *(name for name in present if name == "intent_type")]


def _checked(intents: Any, topics: list[str]) -> dict[tuple[str, str], tuple[float, str]]:
    """Return probability and type of each intent of some topics."""
    from . import columns
    from .pairs import read_pairs

    layout = "topic intent probability [inf|nav]"
    pairs = read_pairs("intents", intents, (ITERATION, "intent"), layout, _of_fields, _of_columns)
    values = [value if isinstance(value, (tuple, list)) else (value,) for value in pairs.values]
    for row, value in enumerate(values):
        if len(value) not in {1, 2}:
            raise InputError(
                f"{pairs.describe(row)}: {short_repr(value)} must be a probability, or a pair of a "
                "probability and a type"
            )
    given, types = zip(*((*value, TYPES[0])[:2] for value in values), strict=True) if values else ((), ())
    probability = columns.as_floats([*given], lambda row: f"{pairs.describe(row)}: the probability")
    check_probabilities(probability, pairs.describe)
    nav = are_nav(columns.as_strings([*types]), pairs.describe)
    found = pairs.unique([*zip(probability.tolist(), np.where(nav, *TYPES[::-1]).tolist(), strict=True)])
    of_topic: dict[str, list[float]] = {topic: [] for topic in topics}
    for (topic, _), (number, _) in found.items():
        if topic in of_topic:
            of_topic[topic].append(number)
    for topic in topics:
        check_sum(topic, of_topic[topic])
    return found
