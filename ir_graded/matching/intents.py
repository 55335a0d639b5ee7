"""Intents of qrels, from the columns ``iteration``, ``probability`` and ``intent_type``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ir_graded.core.levels import Intents, Levels
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, short_repr
from ir_graded.io.intents import ITERATION, are_nav, check_probabilities, check_sum
from ir_graded.io.table import Table

if TYPE_CHECKING:
    import polars as pl


def intents_of(table: Table, topic: Ints, document: Ints, names: list[str]) -> tuple[Intents, list[str]]:
    """Return the intents of qrels, and the name of each.

    Args:
        table: the rows of the qrels.
        topic: topic of each row.
        document: position in the levels of the qrels of the document of each row.
        names: the topics.

    Raises:
        InputError: an intent is missing, or its probability or type is not valid or differs between rows.
    """
    import polars as pl

    text = table.text(ITERATION)
    describe = partial(describe_intent, table, text)
    codes = text.cast(pl.Categorical)
    key = topic << 32 | codes.to_physical().to_numpy().astype(np.int64)
    found, first, intent = np.unique(key, return_index=True, return_inverse=True)
    of_intent = found >> 32
    probability = None
    if "probability" in table.further:
        given = table.numbers("probability")
        check_probabilities(given, describe, unlisted=True)
        probability = given[first]
        _check_one_value(table, text, "probability", intent, first, np.nan_to_num(given, nan=-1.0))
        bounds = np.searchsorted(of_intent, np.arange(len(names) + 1))
        for number, name in enumerate(names):
            of_topic = probability[bounds[number] : bounds[number + 1]]
            if listed := of_topic[~np.isnan(of_topic)].tolist():
                check_sum(name, listed)
    is_nav = np.zeros(found.size, dtype=np.bool_)
    if "intent_type" in table.further:
        nav = are_nav(table.text("intent_type"), describe)
        _check_one_value(table, text, "intent_type", intent, first, nav)
        is_nav = nav[first]
    # One judgment for each intent and document, in the order of intents.
    rows = np.unique(intent << 32 | document, return_index=True)[1]
    levels = Levels.of(found.size, intent[rows], table.value[rows])
    intents = Intents(of_intent, probability, is_nav, levels, document[rows])
    return intents, text.gather(first).to_list()


def describe_intent(table: Table, text: pl.Series, row: int) -> str:
    """Describe a row by topic, document, intent and place."""
    return f"qrels: {table.describe(row)}, intent {text[row]!r}"


def _check_one_value(
    table: Table, text: pl.Series, name: str, intent: Ints, first: Ints, value: Floats | Bools
) -> None:
    """Raise InputError if two rows of an intent differ."""
    differs = value != value[first][intent]
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        other = int(first[intent[row]])
        given = table.objects(name)
        raise InputError(
            f"{describe_intent(table, text, row)} has {name} {short_repr(given[row])}, but "
            f"{short_repr(given[other])} at {table.place(other) or 'another row'}; use the same value in both"
        )
