"""From a run to its hits: one way for dicts, one for tables; both give the same hits."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ranking
from ..errors import InputError
from ..hits import Hits
from ..segments import Floats, Ints
from .judgments import Judgments, Keys, Lookup, document_keys, numbers_of
from .table import Table, describe_document

if TYPE_CHECKING:
    import polars as pl

# Rows of dicts that are ranked together: enough for numpy, few enough for the cache.
_BATCH_ROWS = 1 << 17


def hits_of_dicts(judgments: Judgments, run: Mapping[Any, Any], lowest: float) -> Hits:
    """Hits of a dict of dicts, query_id -> doc_id -> score: only judged documents are looked up."""
    lookup = judgments.lookup(lowest)
    parts = [_batch_hits(judgments, lookup, batch) for batch in _batches(_topics(judgments, run))]
    return _together(lookup, parts)


def _together(lookup: Lookup, parts: list[tuple[Ints, Ints]]) -> Hits:
    """Hits from pairs of arrays: which judged document, at which rank."""
    judged = np.concatenate([part[0] for part in parts] or [np.zeros(0, dtype=np.int64)])
    rank = np.concatenate([part[1] for part in parts] or [np.zeros(0, dtype=np.int64)])
    return Hits.in_order(lookup.topic[judged], rank, lookup.grade[judged])


def _topics(judgments: Judgments, run: Mapping[Any, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Number and documents of the run's topics that have qrels, in the order of the qrels."""
    own: dict[str, Any] = {}
    for query_id in run:
        if own.setdefault(str(query_id), query_id) is not query_id:
            raise InputError(f"run: two topics are the same as text: {str(query_id)!r}")
    for number, name in enumerate(judgments.names):
        if name not in own:
            continue
        docs = run[own[name]]
        if not isinstance(docs, Mapping):
            raise InputError(
                f"run: topic {name!r} holds {docs!r} where a dict from doc_id to score is needed"
            )
        if docs:
            yield number, _with_text_ids(name, docs)


def _with_text_ids(name: str, docs: Mapping[Any, Any]) -> Mapping[str, Any]:
    """The dict with doc_ids as text. Looking at one id of a dict tells the type of all that tools write."""
    if isinstance(next(iter(docs)), str):
        return docs
    as_text = {str(doc_id): score for doc_id, score in docs.items()}
    if len(as_text) < len(docs):
        raise InputError(f"run: topic {name!r}: two doc_ids are the same as text")
    return as_text


def _batches(
    topics: Iterator[tuple[int, Mapping[str, Any]]],
) -> Iterator[list[tuple[int, Mapping[str, Any]]]]:
    batch: list[tuple[int, Mapping[str, Any]]] = []
    rows = 0
    for number, docs in topics:
        batch.append((number, docs))
        rows += len(docs)
        if rows >= _BATCH_ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _batch_hits(
    judgments: Judgments, lookup: Lookup, batch: list[tuple[int, Mapping[str, Any]]]
) -> tuple[Ints, Ints]:
    """Judged documents of a batch of topics that the run holds, and their ranks."""
    lengths = np.array([len(docs) for _, docs in batch], dtype=np.int64)
    scores = _scores(judgments, batch)
    spans = [(lookup.start[number], lookup.start[number + 1]) for number, _ in batch]
    found = list(
        chain.from_iterable(
            map(docs.get, lookup.doc_ids[start:stop])
            for (_, docs), (start, stop) in zip(batch, spans, strict=True)
        )
    )
    # None (not in the run) becomes NaN; no score is NaN, they have been checked.
    hit_scores = np.array(found, dtype=np.float64)
    retrieved = np.flatnonzero(~np.isnan(hit_scores))
    judged = np.concatenate([np.arange(start, stop) for start, stop in spans])[retrieved]
    slot = np.repeat(np.arange(len(batch)), [stop - start for start, stop in spans])[retrieved]

    bounds = np.concatenate(([0], np.cumsum(lengths)))
    rows = ranking.Grouped(
        ranking.comparable(scores),
        ranking.Groups(np.arange(len(batch), dtype=np.int64), bounds),
        lambda wanted: _doc_ids(batch, bounds, wanted),
    )
    hits = ranking.Rows(
        ranking.comparable(hit_scores[retrieved]),
        slot,
        lambda wanted: [lookup.doc_ids[at] for at in judged[wanted].tolist()],
    )
    return judged, ranking.ranks(rows, hits)


def _doc_ids(batch: list[tuple[int, Mapping[str, Any]]], bounds: Ints, rows: Ints) -> list[str]:
    """Doc_ids of some rows of a batch, the rows ascending."""
    doc_ids: list[str] = []
    for slot in np.unique(np.searchsorted(bounds, rows, side="right") - 1).tolist():
        listed = list(batch[slot][1])
        inside = (
            rows[np.searchsorted(rows, bounds[slot]) : np.searchsorted(rows, bounds[slot + 1])] - bounds[slot]
        )
        doc_ids += [listed[row] for row in inside.tolist()]
    return doc_ids


def _scores(judgments: Judgments, batch: list[tuple[int, Mapping[str, Any]]]) -> Floats:
    """All scores of a batch. Raises InputError where one is missing or no number."""
    # Packing is the fastest way from Python's floats to an array, and refuses what is no number.
    try:
        packed = [struct.pack(f"{len(docs)}d", *docs.values()) for _, docs in batch]
        scores = np.frombuffer(b"".join(packed), dtype=np.float64)
        if not np.isnan(scores).any():
            return scores
    except (struct.error, TypeError, ValueError, OverflowError):
        pass
    return np.concatenate([numbers_of("run", judgments.names[number], docs) for number, docs in batch])


def hits_of_table(judgments: Judgments, table: Table, lowest: float) -> Hits:
    """Hits of a run's table. Raises InputError for a duplicate document or a missing id or score."""
    table.check_ids()
    groups = _groups(judgments, table.query_id)
    if (groups.number < 0).any():
        table, groups = _with_qrels(table, groups)
    topic = groups.topic
    table.check_values()
    key = document_keys(topic, table.doc_id, judgments.levels.topics)
    _check_duplicates(table, topic, key)
    lookup = judgments.lookup(lowest)
    row, judged = _judged_rows(lookup, topic, key, table.doc_id)
    score = ranking.comparable(table.value)
    doc_id = table.doc_id

    def doc_ids(wanted: Ints) -> list[str]:
        return doc_id.gather(wanted).to_list()

    rows: ranking.Rows | ranking.Grouped = ranking.Rows(score, topic, doc_ids)
    if np.unique(groups.number).size == groups.number.size:
        rows = ranking.Grouped(score, groups, doc_ids)
    hits = ranking.Rows(score[row], topic[row], lambda wanted: doc_ids(row[wanted]))
    rank = ranking.ranks(rows, hits)
    return _together(lookup, [(judged, rank)])


def _groups(judgments: Judgments, query_id: pl.Series) -> ranking.Groups:
    """Neighbouring rows of one topic, with its number: -1 where the qrels do not have it."""
    import polars as pl

    # Runs stand grouped by topic nearly always: then one look-up a group will do.
    changes = (query_id != query_id.shift(1)).to_numpy()
    begin = np.flatnonzero(changes[1:]).astype(np.int64) + 1
    begin = np.concatenate(([0], begin))[: len(query_id)]
    number = query_id.gather(begin).replace_strict(
        pl.Series(judgments.names, dtype=pl.String),
        pl.Series(range(len(judgments.names)), dtype=pl.Int64),
        default=-1,
        return_dtype=pl.Int64,
    )
    return ranking.Groups(number.to_numpy(), np.append(begin, len(query_id)))


def _with_qrels(table: Table, groups: ranking.Groups) -> tuple[Table, ranking.Groups]:
    """The rows of topics that the qrels have."""
    rows = np.flatnonzero(groups.topic >= 0)
    kept = groups.number >= 0
    begin = np.concatenate(([0], np.cumsum(np.diff(groups.begin)[kept])))
    return table.filter(rows), ranking.Groups(groups.number[kept], begin)


def _check_duplicates(table: Table, topic: Ints, key: Keys) -> None:
    """Raise InputError where a document stands twice in a topic."""
    ordered = np.sort(key)
    suspects = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not suspects.size:
        return
    seen: dict[tuple[int, str], int] = {}
    for row in np.flatnonzero(np.isin(key, suspects)).tolist():
        doc_id = table.doc_id[row]
        first = seen.setdefault((int(topic[row]), doc_id), row)
        if first != row:
            where = describe_document(table.query_id[row], doc_id)
            raise InputError(f"run: {where} stands twice, at {table.place(first)} and at {table.place(row)}")


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
    really = (doc_id.gather(row) == lookup.series.gather(found)).to_numpy()
    return row[really], found[really]


def _joined_rows(lookup: Lookup, topic: Ints, doc_id: pl.Series) -> tuple[Ints, Ints]:
    """The same by an exact join, for the rare qrels in which two documents share a key."""
    import polars as pl

    rows = pl.DataFrame({"topic": topic, "doc": doc_id}).with_row_index("row")
    judged = pl.DataFrame({"topic": lookup.topic, "doc": lookup.series}).with_row_index("judged")
    both = rows.join(judged, on=["topic", "doc"], how="inner")
    return both["row"].to_numpy().astype(np.int64), both["judged"].to_numpy().astype(np.int64)
