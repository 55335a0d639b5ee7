"""``with_groups``: add the membership of documents in groups to qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ir_graded.errors import InputError, ParameterError, short_repr

from .ids import as_text
from .pairs import read_pairs
from .reading import qrels_frame
from .shares import as_shares

if TYPE_CHECKING:
    import pandas as pd


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
    import pandas as pd

    if not isinstance(groups, Mapping):
        raise ParameterError(f"groups={short_repr(groups)} must be a dict from names to membership")
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
