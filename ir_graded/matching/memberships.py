"""Further columns of qrels, with one value per document: its class, and its shares of groups."""

from __future__ import annotations

import numpy as np

from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError
from ir_graded.io.intents import ITERATION
from ir_graded.io.table import Table

from .aspects import ASPECTS

#: The column of equivalence classes.
CLASS = "equivalence_class"
#: Further columns that are not attribute sets.
OTHERS = frozenset({ITERATION, CLASS, ASPECTS})


def classes_of(table: Table, topic: Ints, document: Ints) -> Ints:
    """Return the class of each document as a number; a document without one is a class by itself.

    Args:
        table: the qrels.
        topic: the topic of each row, as a number; classes belong to topics.
        document: the document of each row, as a number from 0 up.

    Raises:
        InputError: rows of a document have different classes.
    """
    import polars as pl

    rows = pl.DataFrame({"topic": topic, "class": table.ids(CLASS)}).with_row_index("row")
    first = rows.select(pl.col("row").first().over("topic", "class"))["row"].to_numpy().astype(np.int64)
    numbers = np.where(rows["class"].is_null().to_numpy(), -1 - document, first)
    found = np.zeros(document.max(initial=-1) + 1, dtype=np.int64)
    found[document] = numbers
    _check_equal(table, document, found[document] != numbers, CLASS)
    return found


def shares_of(table: Table, name: str, document: Ints) -> Floats:
    """Return the shares of groups in each document, shape ``(documents, groups)``; NaN if unknown.

    Args:
        table: the qrels.
        name: the column that holds them.
        document: the document of each row, as a number from 0 up.

    Raises:
        InputError: shares are wrong, or rows of a document differ.
    """
    from ir_graded.io.shares import as_shares

    shares = as_shares(table.objects(name), lambda row: f"qrels: {name}: {table.describe(row)}")
    found = np.zeros((document.max(initial=-1) + 1, shares.shape[1]))
    found[document] = shares
    equal = (found[document] == shares) | (np.isnan(found[document]) & np.isnan(shares))
    _check_equal(table, document, ~equal.all(axis=1), name)
    return found


def _check_equal(table: Table, document: Ints, differs: Bools, name: str) -> None:
    """Raise InputError if rows of a document differ."""
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        last = int(np.flatnonzero(document == document[row])[-1])
        raise InputError(
            f"qrels: {table.describe(row)}: its {name} differs from that at "
            f"{table.place(last) or 'another row'}"
        )
