"""Matching of plain lines that were read without Polars."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np

from ir_graded.core import ranking
from ir_graded.core.judged_run import JudgedRun, Matched
from ir_graded.core.texts import Texts
from ir_graded.io.plain import PlainRows, read_plain

from .judgments import Judgments
from .lookup import document_keys, repeated


class _Part(NamedTuple):
    """The topics of a piece of a run, as text, and its judged documents."""

    names: list[str]
    matched: Matched


def match_plain(
    judgments: Judgments, paths: Iterable[str | os.PathLike[str]], lowest: float
) -> Generator[JudgedRun | None, None, None]:
    """Match the file of each run; None if it is not plain, or a topic or document may be repeated."""
    judgments.lookup(lowest).prepare(texts=True)
    for pieces in read_plain("run", paths, lambda rows: _match_rows(judgments, rows, lowest)):
        parts = [*pieces]
        found = [part for part in parts if part is not None]
        names = set[str]().union(*(part.names for part in found))
        if len(found) < len(parts) or len(names) < sum(len({*part.names}) for part in found):
            yield None
        else:
            unknown = names.difference(judgments.number)
            yield JudgedRun.of(judgments.levels, [part.matched for part in found], len(unknown))


def _match_rows(judgments: Judgments, rows: PlainRows, lowest: float) -> _Part | None:
    """Match the rows of a piece; None if a document may be repeated in a topic."""
    number = np.array([judgments.number.get(name, -1) for name in rows.names], dtype=np.int64)
    length, known = np.diff(rows.begin), number >= 0
    score, doc_ids = rows.values, rows.doc_ids
    if not known.all():
        kept = np.flatnonzero(np.repeat(known, length))
        score, doc_ids = score[kept], Texts(doc_ids.words[kept], doc_ids.length[kept])
        number, length = number[known], length[known]
    groups = ranking.Groups(number, np.append(0, np.cumsum(length)))
    key = document_keys(groups.topic, doc_ids)
    if repeated(key).size:
        return None
    lookup = judgments.lookup(lowest)
    row, judged = lookup.find(groups.topic, doc_ids, key)
    hits = ranking.Hits(score[row], groups.topic[row], lambda wanted: doc_ids.names(row[wanted]), row)
    ranks = ranking.ranks(ranking.Rows(score, groups, doc_ids.names), hits)
    flat = ranking.is_flat(score, groups)
    return _Part(rows.names, Matched(lookup.document[judged], *ranks, number, length, flat))
