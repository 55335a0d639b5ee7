"""The aspects in the rows of qrels with passages: column ``aspects``."""

from __future__ import annotations

import numpy as np

from ir_graded.core.levels import Aspects
from ir_graded.core.segments import Ints
from ir_graded.errors import InputError, short_repr
from ir_graded.io.ids import is_missing
from ir_graded.io.table import Table

#: Column of qrels with aspects, separated by ``|``.
ASPECTS = "aspects"


def aspects_of(table: Table, topic: Ints) -> Aspects:
    """Return the aspects of each row; a row with a missing value has none.

    Args:
        table: the rows of the qrels.
        topic: topic of each row.

    Raises:
        InputError: the aspects of a row are not text.
    """
    known = np.zeros(len(table), dtype=np.bool_)
    span: list[int] = []
    aspect: list[int] = []
    numbers: dict[tuple[int, str], int] = {}
    for row, (number, given) in enumerate(zip(topic.tolist(), table.objects(ASPECTS), strict=True)):
        if is_missing(given):
            continue
        if not isinstance(given, str):
            raise InputError(f"qrels: {table.describe(row)}: the aspects {short_repr(given)} are not text")
        known[row] = True
        for name in {part.strip() for part in given.split("|")}:
            span.append(row)
            aspect.append(numbers.setdefault((number, name), len(numbers)))
    return Aspects(known, np.array(span, dtype=np.int64), np.array(aspect, dtype=np.int64))
