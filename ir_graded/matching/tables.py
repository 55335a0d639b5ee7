"""Matching of runs in tables: find judged documents by key, and rank scores within topics.

A table with passages is first reduced to one row per article.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ir_graded._utils.threads import in_threads
from ir_graded.core import ranking
from ir_graded.core.facets import LONGEST, POSITION
from ir_graded.core.judged_run import JudgedRun, Matched, TieGroups
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.struct import light_dataclass
from ir_graded.core.texts import Names
from ir_graded.errors import InputError, printable, short_repr
from ir_graded.io.files import read_file, run_pieces
from ir_graded.io.table import Table, at_rows

from .articles import articles_of, first_ranks, one_row_an_article, order_rows, ranked_rows
from .judgments import Judgments
from .lookup import Keys, document_keys, repeated
from .qrels import topic_numbers

#: Bytes of a file, and rows of a table, that a thread processes at a time: few enough for the processor
#: cache, enough to outweigh the overhead of calls.
_PIECE = 1 << 23
_ROWS = 1 << 18
#: Up to this number of groups of rows, a Python dict looks up topics faster than Polars.
_FEW_GROUPS = 1 << 10
#: Rows of a Parquet file in memory at a time: about one row group.
_FRAME = 1 << 20
#: From this size on, a warning is issued if a file must be read as a whole.
_LARGE = 1 << 28


def match_table(judgments: Judgments, table: Table, lowest: float, threads: int = 1) -> JudgedRun:
    """Match the table of a run in several threads."""
    groups = groups_of(judgments, table.query_id)
    judgments.lookup(lowest).prepare(texts=False)

    def match_part(part: slice) -> Matched:
        rows = table[int(groups.begin[part.start]) : int(groups.begin[part.stop])]
        return _match_rows(judgments, rows, groups.part(part.start, part.stop), lowest)

    parts = list(in_threads(match_part, _parts(groups), threads))
    return JudgedRun.of(judgments.levels, parts, len(_unknown(table, groups)))


def read_pieces(
    paths: Iterable[str | os.PathLike[str]], threads: int
) -> Generator[Iterator[Table], None, None]:
    """Yield the pieces of the file of each run; threads read ahead, also in later files."""
    loads = ((at, load) for at, path in enumerate(paths) for load in run_pieces(path, _PIECE, _FRAME))

    def read(step: tuple[int, Callable[[], Table]]) -> tuple[int, Table]:
        at, load = step
        return at, load()

    for _, pieces in groupby(in_threads(read, loads, threads), key=itemgetter(0)):
        yield map(itemgetter(1), pieces)


def match_pieces(
    judgments: Judgments, path: str | os.PathLike[str], pieces: Iterable[Table], lowest: float
) -> JudgedRun:
    """Match the file of a run in pieces, or as a whole if it is not ordered by topic."""
    parts: list[Matched] = []
    unknown: set[str] = set()
    seen = np.zeros(judgments.levels.topics, dtype=np.bool_)
    for table in pieces:
        groups = groups_of(judgments, table.query_id)
        part = _match_rows(judgments, table, groups, lowest)
        again = part.topic[seen[part.topic]]
        if again.size:
            if (size := Path(path).stat().st_size) > _LARGE:
                warnings.warn(
                    f"{printable(os.fspath(path))}: topic {judgments.names[again.min()]!r} appears in "
                    f"several places, so the whole file ({size >> 20} MiB) is read into memory; sort it by "
                    "topic to read it in pieces",
                    stacklevel=2,
                )
            return match_table(judgments, read_file("run", path), lowest)
        seen[part.topic] = True
        parts.append(part)
        unknown |= _unknown(table, groups)
    return JudgedRun.of(judgments.levels, parts, len(unknown))


def match_ranked(judgments: Judgments, tables: Iterable[Table], lowest: float) -> JudgedRun:
    """Match one topic from ranked documents without duplicates, in tables that need not fit in memory.

    Only where groups of equal scores begin is kept of all rows.
    """
    lookup = judgments.lookup(lowest)
    documents, ranks, begins = [], [], []
    length, last, number = 0, None, np.zeros(0, dtype=np.int64)
    for table in tables:
        topic = groups_of(judgments, table.query_id).topic
        if (topic < 0).any():
            continue  # not in the qrels
        table.check_values()
        if table.has(POSITION):
            table.numbers(POSITION)  # checks them
        row, judged = lookup.find(topic, table.doc_id, document_keys(topic, table.doc_id))
        documents.append(lookup.document[judged])
        ranks.append(length + row + 1)
        # A group of equal scores may continue in the next table.
        score = table.value
        begins.append(length + np.flatnonzero(np.append(score[:1] != last, score[1:] != score[:-1])))
        last = score[-1] if score.size else last
        length, number = length + len(table), topic[:1] if topic.size else number
    if not number.size:
        return JudgedRun.of(judgments.levels, [])
    document, rank = np.concatenate(documents), np.concatenate(ranks)
    lengths, begin = np.array([length], dtype=np.int64), np.append(np.concatenate(begins), length)
    group = np.searchsorted(begin, rank - 1, side="right")
    ties = TieGroups(begin[group - 1] + 1, begin[group] - begin[group - 1])
    found = Matched(document, rank, ties if (ties.tied > 1).any() else None, False, False, number, lengths)
    return JudgedRun.of(judgments.levels, [found])


def rank_rows(judgments: Judgments, table: Table, *, apart: bool = False) -> tuple[Ints, pl.Series, Ints]:
    """Return topic, document and rank of each row whose topic is in the qrels, for validated rows.

    Of passages, this is a row per article, or with ``apart`` all rows by rank.
    """
    groups = groups_of(judgments, table.query_id)
    table, groups = _with_qrels(table, groups)
    articles = articles_of(table, groups.topic)
    if articles is not None and apart:
        order, rank, _ = order_rows(table, groups, articles)
        return groups.topic[order], at_rows(table.doc_id, order), rank
    if articles is not None:
        table, groups = articles.table, articles.groups(groups)
    score, topic, doc_ids = table.value, groups.topic, _tie_names(table, groups.topic)
    every = np.arange(len(table), dtype=np.int64)
    hits = ranking.Hits(score, topic, doc_ids, every)
    ranks = ranking.ranks(ranking.Rows(score, groups, doc_ids), hits)
    return topic, table.doc_id, ranks.rank


def ranked_documents(judgments: Judgments, table: Table) -> pl.DataFrame:
    """Return the topic, rank and document of each row of a run, for topics of the qrels."""
    topic, doc_id, rank = rank_rows(judgments, table)
    return pl.DataFrame({"topic": topic, "rank": rank, "doc_id": doc_id.cast(pl.String)})


def first_differences(judgments: Judgments, one: pl.DataFrame, other: pl.DataFrame) -> Floats:
    """Return the first rank of each topic at which two rankings differ, inf if they are equal."""
    alone = pl.concat([one, other]).group_by("topic", "rank", "doc_id").len().filter(pl.col("len") == 1)
    first = alone.group_by("topic").agg(pl.col("rank").min())
    found = np.full(len(judgments.names), np.inf)
    found[first["topic"].to_numpy()] = first["rank"].to_numpy()
    return found


@light_dataclass(frozen=True, eq=False)
class RunRows:
    """All documents of a run, in any order.

    Attributes:
        query_ids: the topics as objects of the caller.
        names: the topics as text.
        topic: position of the topic of each document among them.
        doc_id: the documents.
        score: their scores, none of them missing.
        position: their positions, which rank equal scores, where the run has them.
    """

    query_ids: list[Any]
    names: list[str]
    topic: Ints
    doc_id: pl.Series
    score: Floats
    position: Floats | None = None


def rows_of_run(table: Table) -> RunRows:
    """Return the documents of a run; of passages, each article with its largest score."""
    table.check_values()
    table = one_row_an_article(table)
    first = table.query_id.is_first_distinct().arg_true().to_numpy().astype(np.int64)
    named = at_rows(table.query_id, first)
    topic = topic_numbers(table.query_id, named)
    _check_duplicates(table, document_keys(topic, table.doc_id))
    position = None
    if table.has(POSITION):
        _tie_names(table, topic)  # checks them
        position = table.numbers(POSITION)
    return RunRows(table.query_objects(first), named.to_list(), topic, table.doc_id, table.value, position)


def _parts(groups: ranking.Groups) -> list[slice]:
    """Return slices of neighbouring groups of limited size; one slice if a topic has several groups."""
    size = groups.number.size
    if not groups.distinct:
        return [slice(0, size)]
    cuts = np.searchsorted(groups.begin, np.arange(0, groups.begin[-1], _ROWS))
    bounds = np.unique(np.append(cuts, size)).tolist()
    return [slice(begin, end) for begin, end in pairwise(bounds)]


def _match_rows(judgments: Judgments, table: Table, groups: ranking.Groups, lowest: float) -> Matched:
    """Match rows with validated ids with the qrels."""
    table, groups = _with_qrels(table, groups)
    table.check_values()
    articles, rows_of = articles_of(table, groups.topic), (table, groups)
    if articles is not None:
        table, groups = articles.table, articles.groups(groups)
    key = document_keys(groups.topic, table.doc_id)
    _check_duplicates(table, key)
    lookup = judgments.lookup(lowest)
    row, judged = lookup.find(groups.topic, table.doc_id, key)
    score, doc_ids = table.value, _tie_names(table, groups.topic)
    rows = ranking.Rows(score, groups, doc_ids)
    hits = ranking.Hits(score[row], groups.topic[row], lambda wanted: doc_ids(row[wanted]), row)
    ranks = ranking.ranks(rows, hits)
    document = lookup.document[judged]
    is_flat = ranking.is_flat(score, groups)
    spans = passages = first = None
    if articles is not None:
        spans = articles.spans(row, document)
        ordered = order_rows(*rows_of, articles)
        first = first_ranks(articles, ordered)[row]
        if judgments.ranks_rows:
            costs = [facet for facet in judgments.of_run if facet.kind == "cost"]
            passages = ranked_rows(*rows_of, articles, ordered, row, document, costs)
    of_documents = (facet for facet in judgments.of_run if facet.kind != "cost" and table.has(facet))
    further = {facet.name: table.numbers(facet)[row] for facet in of_documents}
    length = np.diff(groups.begin)
    by_position = table.has(POSITION) and has_ties(groups.topic, score)
    of_articles = (spans, passages, further, first)
    return Matched(document, *ranks, groups.number, length, is_flat, *of_articles, by_position)


def _tie_names(table: Table, topic: Ints) -> Callable[[Ints], Names]:
    """Return names of rows, of which the larger ones come first among equal scores: doc_ids, or positions.

    Raises InputError if two rows of a topic have one position.
    """
    if not table.has(POSITION):
        return partial(_ids_at, table.doc_id)
    position = table.numbers(POSITION)
    repeated = pl.DataFrame({"topic": topic, "position": position}).is_duplicated()
    if repeated.any():
        row = int(repeated.arg_true()[0])
        other = np.flatnonzero((topic == topic[row]) & (position == position[row]))[1]
        places = " and ".join(short_repr(table.doc_id[at]) for at in (row, int(other)))
        raise InputError(
            f"run: topic {short_repr(table.query_id[row])}: documents {places} both have the {POSITION.name} "
            f"{position[row]:g}; number the rows of each topic from 1"
        )
    return lambda rows: Names.of([f"{LONGEST - at:015.0f}" for at in position[rows].tolist()])


def has_ties(topic: Ints | pl.Series, score: Floats) -> bool:
    """Return whether two rows of a topic have equal scores."""
    return bool(pl.DataFrame({"topic": topic, "score": score + 0.0}).is_duplicated().any())  # without -0.0


def _ids_at(doc_id: pl.Series, rows: Ints) -> Names:
    return Names.of(at_rows(doc_id, rows).to_list())


def groups_of(judgments: Judgments, query_id: pl.Series) -> ranking.Groups:
    """Return groups of neighbouring rows of one topic, with its number or -1 if it is not in the qrels."""
    changes = (query_id[1:] != query_id[:-1]).to_numpy()
    begin = np.concatenate(([0] if len(query_id) else [], np.flatnonzero(changes) + 1)).astype(np.int64)
    names = at_rows(query_id, begin)
    # Runs are nearly always grouped by topic.
    if begin.size < _FEW_GROUPS:
        number = np.array([judgments.number.get(name, -1) for name in names.to_list()], dtype=np.int64)
    else:
        known = judgments.numbers
        number = names.replace_strict(
            known["name"], known["number"], default=-1, return_dtype=pl.Int64
        ).to_numpy()
    return ranking.Groups(number, np.append(begin, len(query_id)))


def _unknown(table: Table, groups: ranking.Groups) -> set[str]:
    """Return the topics that are not in the qrels."""
    first = groups.begin[:-1][groups.number < 0]
    return set(at_rows(table.query_id, first).to_list()) if first.size else set()


def _with_qrels(table: Table, groups: ranking.Groups) -> tuple[Table, ranking.Groups]:
    """Return the rows of topics that are in the qrels."""
    if (groups.number >= 0).all():
        return table, groups
    rows = np.flatnonzero(groups.topic >= 0)
    kept = groups.number >= 0
    begin = np.concatenate(([0], np.cumsum(np.diff(groups.begin)[kept])))
    return table[rows], ranking.Groups(groups.number[kept], begin)


def _check_duplicates(table: Table, key: Keys) -> None:
    """Raise InputError if a document appears twice in a topic."""
    suspects = repeated(key)
    if suspects.size:
        table.check_repetitions(np.flatnonzero(np.isin(key, suspects)).tolist())
