"""Match runs in tables: keys find the judged documents, scores are ranked within topics.

A table with passages is first brought to one row an article.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ir_graded._utils.threads import in_threads
from ir_graded.core import ranking
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Ints
from ir_graded.errors import InputError, printable
from ir_graded.io.files import read_file, run_pieces
from ir_graded.io.table import ONLY_PASSAGES, Table, at_rows, describe_document

from .articles import articles_of
from .judgments import Judgments
from .lookup import Keys, Lookup, document_keys
from .precision import comparable

if TYPE_CHECKING:
    import polars as pl

#: Bytes of a file, and rows of a table, that a thread works on: few enough for the processor's cache, enough
#: for the work to outweigh the calls.
_PIECE = 1 << 23
_ROWS = 1 << 18
#: Rows of a Parquet file that are held at a time: about one of its row groups.
_FRAME = 1 << 20
#: Files from this size on are worth a word where they must be read whole.
_LARGE = 1 << 28


def match_table(judgments: Judgments, table: Table, lowest: float, threads: int) -> JudgedRun:
    """Match a run's table. Raises InputError for a duplicate document or a missing id or score."""
    table.check_ids()
    groups = _groups(judgments, table.query_id)
    lookup = judgments.lookup(lowest).prepared()

    def match_part(part: slice) -> JudgedRun:
        rows = table.part(int(groups.begin[part.start]), int(groups.begin[part.stop]))
        return _match_rows(judgments, lookup, rows, groups.part(part.start, part.stop))

    parts = list(in_threads(match_part, _parts(groups), threads))
    return JudgedRun.concat(judgments.levels, parts, len(_unknown(table, groups)))


def match_run_file(
    judgments: Judgments, path: str | os.PathLike[str], lowest: float, threads: int
) -> JudgedRun:
    """Match a run's file, in pieces where it is ordered by topic, else as a whole.

    Raises:
        InputError: as :func:`match_table`.
        FileFormatError: the file or a line of it cannot be read.
        OSError: the file cannot be read.
    """
    if not Path(path).is_file():
        # What may be read only once, such as a pipe: pieces may have to be read again.
        return match_table(judgments, read_file("run", path), lowest, threads)
    lookup = judgments.lookup(lowest).prepared()

    def match_piece(load: Callable[[], Table]) -> tuple[JudgedRun, set[str]]:
        table = load()
        table.check_ids()
        groups = _groups(judgments, table.query_id)
        return _match_rows(judgments, lookup, table, groups), _unknown(table, groups)

    parts: list[JudgedRun] = []
    unknown: set[str] = set()
    seen = np.zeros(judgments.levels.topics, dtype=np.bool_)
    for judged_run, others in in_threads(match_piece, run_pieces(path, _PIECE, _FRAME), threads):
        again = np.flatnonzero(seen & (judged_run.n_retrieved > 0))
        if again.size:
            _warn_not_grouped(path, judgments.names[again[0]])
            return match_table(judgments, read_file("run", path), lowest, threads)
        seen |= judged_run.n_retrieved > 0
        parts.append(judged_run)
        unknown |= others
    return JudgedRun.concat(judgments.levels, parts, len(unknown))


def match_ranked(judgments: Judgments, tables: Iterable[Table], lowest: float) -> JudgedRun:
    """Match one topic; its documents come ranked, each once, from tables that need not fit in memory.

    Raises:
        InputError: an id or a score is missing.
    """
    lookup = judgments.lookup(lowest).prepared()
    documents, ranks = [], []
    n_retrieved = np.zeros(judgments.levels.topics, dtype=np.int64)
    for table in tables:
        table.check_ids()
        topic = _groups(judgments, table.query_id).topic
        if (topic < 0).any():
            continue  # the qrels lack it
        table.check_values()
        key = document_keys(topic, table.doc_id, judgments.levels.topics)
        row, judged = _judged_rows(lookup, topic, key, table.doc_id)
        documents.append(lookup.document[judged])
        ranks.append(n_retrieved[topic[row]] + row + 1)
        n_retrieved[topic[:1]] += len(table)
    if not documents:
        return JudgedRun.concat(judgments.levels, [])
    return JudgedRun.of(judgments.levels, np.concatenate(documents), np.concatenate(ranks), n_retrieved)


def _warn_not_grouped(path: str | os.PathLike[str], topic: str) -> None:
    """Warn where a file is large and must be held whole."""
    size = Path(path).stat().st_size
    if size > _LARGE:
        warnings.warn(
            f"{printable(os.fspath(path))}: topic {topic!r} stands in several places, so the whole file "
            f"({size >> 20} MiB) is read into memory; sort it by topic to have it read in pieces",
            stacklevel=2,
        )


def _parts(groups: ranking.Groups) -> list[slice]:
    """Neighbouring groups by about so many rows; all groups in one where a topic is several."""
    size = groups.number.size
    if not groups.distinct:
        return [slice(0, size)]
    cuts = np.searchsorted(groups.begin, np.arange(0, groups.begin[-1], _ROWS))
    bounds = np.unique(np.append(cuts, size)).tolist()
    return [slice(begin, end) for begin, end in pairwise(bounds)]


def _match_rows(judgments: Judgments, lookup: Lookup, table: Table, groups: ranking.Groups) -> JudgedRun:
    """Match rows whose ids have been checked with the qrels."""
    if (groups.number < 0).any():
        table, groups = _with_qrels(table, groups)
    topic = groups.topic
    table.check_values()
    articles = articles_of(table, topic)
    if articles is not None:
        table, topic, groups = articles.table, topic[articles.first], articles.groups(groups)
    key = document_keys(topic, table.doc_id, judgments.levels.topics)
    _check_duplicates(table, topic, key)
    row, judged = _judged_rows(lookup, topic, key, table.doc_id)
    score = comparable(table.value)
    doc_id = table.doc_id

    def doc_ids(wanted: Ints) -> list[str]:
        return at_rows(doc_id, wanted).to_list()

    rows: ranking.Rows | ranking.Grouped = ranking.Rows(score, topic, doc_ids)
    if groups.distinct:
        rows = ranking.Grouped(score, groups, doc_ids)
    hits = ranking.Rows(score[row], topic[row], lambda wanted: doc_ids(row[wanted]))
    rank = ranking.ranks(rows, hits)
    document = lookup.document[judged]
    spans = None if articles is None else articles.spans(row, document)
    n_retrieved = groups.lengths(judgments.levels.topics)
    is_flat = ranking.is_flat(score, groups)
    return JudgedRun.of(judgments.levels, document, rank, n_retrieved, spans, is_flat=is_flat)


def _groups(judgments: Judgments, query_id: pl.Series) -> ranking.Groups:
    """Neighbouring rows of one topic, with its number: -1 where the qrels do not have it."""
    import polars as pl

    # Runs stand grouped by topic nearly always: then one look-up a group will do.
    runs = query_id.rle().struct.unnest()
    number = runs["value"].replace_strict(
        judgments.numbers["name"], judgments.numbers["number"], default=-1, return_dtype=pl.Int64
    )
    begin = np.concatenate(([0], np.cumsum(runs["len"].to_numpy().astype(np.int64))))
    return ranking.Groups(number.to_numpy(), begin)


def _unknown(table: Table, groups: ranking.Groups) -> set[str]:
    """The topics that the qrels lack."""
    first = groups.begin[:-1][groups.number < 0]
    return set(at_rows(table.query_id, first).to_list()) if first.size else set()


def _with_qrels(table: Table, groups: ranking.Groups) -> tuple[Table, ranking.Groups]:
    """The rows of topics that the qrels have."""
    rows = np.flatnonzero(groups.topic >= 0)
    kept = groups.number >= 0
    begin = np.concatenate(([0], np.cumsum(np.diff(groups.begin)[kept])))
    return table.filter(rows), ranking.Groups(groups.number[kept], begin)


def _check_duplicates(table: Table, topic: Ints, key: Keys) -> None:
    """Raise InputError where a document stands twice in a topic."""
    ordered = np.sort(key)
    suspects = ordered[1:][ordered[1:] == ordered[:-1]]
    if not suspects.size:
        return
    seen: dict[tuple[int, str], int] = {}
    for row in np.flatnonzero(np.isin(key, suspects)).tolist():
        doc_id = table.doc_id[row]
        first = seen.setdefault((int(topic[row]), doc_id), row)
        if first != row:
            where = describe_document(table.query_id[row], doc_id)
            one, other = table.place(first), table.place(row)
            places = f"at {one} and at {other}" if one != other else f"in {one}"
            raise InputError(f"run: {where} stands twice, {places}; {ONLY_PASSAGES}")


def _judged_rows(lookup: Lookup, topic: Ints, key: Keys, doc_id: pl.Series) -> tuple[Ints, Ints]:
    """Rows that hold a judged document, and which one: keys find the candidates, the ids decide."""
    judged_key, judged = lookup.sorted_keys
    if (judged_key[1:] == judged_key[:-1]).any():
        return _joined_rows(lookup, topic, doc_id)
    candidate = np.flatnonzero(lookup.filter[key & lookup.filter_mask])
    at = np.searchsorted(judged_key, key[candidate])
    at[at == judged_key.size] = 0
    same = judged_key[at] == key[candidate] if judged_key.size else np.zeros(0, dtype=np.bool_)
    row, found = candidate[same], judged[at[same]]
    really = (at_rows(doc_id, row) == at_rows(lookup.series, found)).to_numpy()
    return row[really], found[really]


def _joined_rows(lookup: Lookup, topic: Ints, doc_id: pl.Series) -> tuple[Ints, Ints]:
    """The same by an exact join, for the rare qrels in which two documents share a key."""
    import polars as pl

    rows = pl.DataFrame({"topic": topic, "doc": doc_id}).with_row_index("row")
    judged = pl.DataFrame({"topic": lookup.topic, "doc": lookup.series}).with_row_index("judged")
    both = rows.join(judged, on=["topic", "doc"], how="inner")
    return both["row"].to_numpy().astype(np.int64), both["judged"].to_numpy().astype(np.int64)
