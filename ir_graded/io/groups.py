"""Membership of documents in groups, put beside qrels: ``with_groups``."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.errors import InputError, ParameterError, short_repr

from . import columns
from .file_text import read_text
from .ids import as_text
from .lines import fields_of, line_error
from .reading import qrels_frame
from .shares import as_shares
from .sources import is_path_or_dataset_id
from .table import describe_document, row_place

if TYPE_CHECKING:
    import pandas as pd

#: Topic, document, and their shares of the groups.
_Row = tuple[Any, Any, Any]
_IDS = ("query_id", "doc_id")


def with_groups(qrels: Any, groups: Mapping[str, Any]) -> pd.DataFrame:
    """Return qrels as a frame with a column of membership for each attribute set, for GF and GFR.

    Args:
        qrels: qrels in any form that ``evaluate`` takes.
        groups: membership by name of the attribute set: a file of lines ``topic doc p1 ... pn`` with the
            share of each of n groups, a dict ``{topic: {doc: [p1, ..., pn]}}``, or a frame with the columns
            query_id and doc_id and one column for each group.

    Returns:
        The qrels with one more column per attribute set, which holds a list of n shares per row; None where
        the membership of the document is unknown: then it counts as shared equally.

    Raises:
        InputError: shares are negative, do not sum to 1 (up to 0.001), are fewer than two or not equally many
            for all documents, or the qrels do not judge the document.
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

    frame = qrels_frame(qrels)
    topics, docs = (map(as_text, frame[name]) for name in _IDS)
    documents = list(zip(topics, docs, strict=True))
    judged = set(documents)
    for name, source in groups.items():
        if not isinstance(name, str) or not name or name in frame.columns:
            raise ParameterError(f"groups: {name!r} must be the name of a column that the qrels do not have")
        found = _membership(name, source, judged)
        frame[name] = pd.Series([found.get(each) for each in documents], dtype=object, index=frame.index)
    return frame


def _membership(name: str, source: Any, judged: set[tuple[str, str]]) -> dict[tuple[str, str], list[float]]:
    """Shares by topic and document. Raises InputError where they are wrong or of an unjudged document."""
    rows, place = _rows(name, source)
    documents = [(as_text(topic), as_text(doc)) for topic, doc, _ in rows]

    def describe(row: int) -> str:
        return f"{name}: {describe_document(*documents[row], place(row))}"

    shares = as_shares([vector for *_, vector in rows], describe)
    found: dict[tuple[str, str], list[float]] = {}
    for row, (document, vector) in enumerate(zip(documents, shares.tolist(), strict=True)):
        if document in found:
            raise InputError(f"{describe(row)} appears twice")
        if document not in judged:
            raise InputError(f"{describe(row)} is not in the qrels: judge it, for example with level 0")
        found[document] = vector
    return found


def _rows(name: str, source: Any) -> tuple[list[_Row], Callable[[int], str]]:
    """Rows of membership in any form, and where each stands."""
    if is_path_or_dataset_id(source):
        return _rows_of_file(os.fspath(source))
    if isinstance(source, Mapping):
        for topic, docs in source.items():
            if not isinstance(docs, Mapping):
                raise InputError(
                    f"{name}: topic {topic!r} holds {short_repr(docs)} where a dict from doc_id to shares "
                    "is needed"
                )
        rows = [(topic, doc, vector) for topic, docs in source.items() for doc, vector in docs.items()]
        return rows, lambda _: ""
    if not (hasattr(source, "columns") or hasattr(source, "column_names")):
        raise InputError(f"{name}: {short_repr(source)} is neither a file, a dict of dicts nor a frame")
    names = list(columns.column_names(source))
    missing = [each for each in _IDS if each not in names]
    if missing:
        raise InputError(f"{name}: the table has no column {', '.join(missing)}")
    ids = (columns.objects_at(source[each], np.arange(len(source))) for each in _IDS)
    shares = (source[each] for each in names if each not in _IDS)
    return list(zip(*ids, zip(*shares, strict=True), strict=True)), row_place


def _rows_of_file(path: str) -> tuple[list[_Row], Callable[[int], str]]:
    """Rows of a file of lines ``topic doc p1 ... pn``."""
    rows: list[_Row] = []
    lines: list[int] = []
    for line, raw in enumerate(io.BytesIO(read_text(path)), 1):
        fields = fields_of(raw, line, path)
        if not fields:
            continue
        try:
            rows.append((fields[0], fields[1], [float(field) for field in fields[2:]]))
        except (IndexError, ValueError):
            problem = "expected topic, document and the share of each group, all numbers"
            raise line_error(path, line, problem, raw) from None
        lines.append(line)
    return rows, lambda row: f"{path}, line {lines[row]}"
