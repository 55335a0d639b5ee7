"""Checks of qrels and runs in dicts: ids, values, and concurrent changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from typing import Any

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError
from ir_graded.io.ids import as_text, is_missing
from ir_graded.io.table import VALUE_NAMES, check_values, describe_document


@contextmanager
def unchanged(kind: str, names: Sequence[str], topics: Sequence[Sized]) -> Iterator[None]:
    """Raise InputError if another thread changes the size of the dict of a topic inside this context.

    Args:
        kind: 'qrels' or 'run'.
        names: the topics.
        topics: the dict of each.
    """
    sizes = [*map(len, topics)]

    def check(reason: Exception | None = None) -> None:
        for name, topic, size in zip(names, topics, sizes, strict=True):
            if len(topic) != size:
                raise InputError(
                    f"{kind}: topic {name!r} was changed while it was scored; "
                    "pass a copy that no other thread changes"
                ) from reason

    try:
        yield
    except Exception as error:
        check(error)
        raise
    check()


def text_ids(ids: list[Any], name: str, where: str) -> list[str]:
    """Return ids as text. Raises InputError if one is missing, or two differ only in type.

    Args:
        ids: the distinct ids.
        name: 'query_id' or 'doc_id'.
        where: source of the ids, for messages.
    """
    if set(map(type, ids)) <= {str}:
        return ids
    if any(map(is_missing, ids)):
        raise InputError(f"{where}: a {name} is missing (None or NaN)")
    try:
        names = [as_text(value) for value in ids]
    except InputError as error:
        raise InputError(f"{where}: {name}: {error}") from None
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"{where}: two values of {name} are the same as text: {twice!r}")
    return names


def numbers_of(kind: str, name: str, docs: Mapping[Any, Any]) -> Floats:
    """Return the levels or scores of a topic. Raises InputError if one is missing or not a number."""
    from ir_graded.io import columns

    doc_ids = list(docs)

    def describe(row: int) -> str:
        return describe_document(name, doc_ids[row])

    values = columns.as_floats(
        list(docs.values()), lambda row: f"{kind}: {describe(row)}: the {VALUE_NAMES[kind]}"
    )
    check_values(kind, values, describe)
    return values
