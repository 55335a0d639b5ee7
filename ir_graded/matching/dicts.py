"""Matching of runs in dicts: look up judged documents, and rank them by counting higher scores."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from sys import getsizeof
from typing import Any

import numpy as np

from ir_graded.core import ranking
from ir_graded.core.judged_run import JudgedRun, Matched
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.texts import Names
from ir_graded.errors import InputError
from ir_graded.io.values import not_documents, numbers_of, text_ids, unchanged

from .judgments import Judgments
from .lookup import Lookup

# Number of rows that are ranked together: enough for NumPy to be efficient, few enough for the cache.
_BATCH_ROWS = 1 << 18
# In dicts with more documents than this, keys are checked one by one.
_DEEPEST = 1 << 14


def match_dicts(judgments: Judgments, run: Mapping[Any, Any], lowest: float) -> JudgedRun:
    """Match a dict of dicts, query_id -> doc_id -> score: only judged documents are looked up."""
    lookup = judgments.lookup(lowest)
    items = list(run.items())  # one snapshot, in case another thread adds topics
    names = text_ids([query_id for query_id, _ in items], "query_id", "run")
    by_name = {name: docs for name, (_, docs) in zip(names, items, strict=True)}
    shared = [(number, by_name[name]) for number, name in enumerate(judgments.names) if name in by_name]
    parts = []
    for batch in _batches(_documents(judgments, shared)):
        names = [judgments.names[number] for number, _ in batch]
        with unchanged("run", names, [docs for _, docs in batch]):
            parts.append(_match_batch(judgments, lookup, batch))
    return JudgedRun.of(judgments.levels, parts, n_unknown=len(by_name) - len(shared))


def _documents(judgments: Judgments, found: list[tuple[int, Any]]) -> Iterable[tuple[int, Mapping[str, Any]]]:
    """Return topics of the run by number, with their documents, doc_ids as text."""
    # Check all at once first, since nearly all runs are valid and one call per topic is slow.
    runs = [docs for _, docs in found]
    if set(map(type, runs)) <= {dict} and set(map(getsizeof, runs)) <= _sizes_with_text_only():
        return found
    return _checked(judgments, found)


def _checked(judgments: Judgments, found: list[tuple[int, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield topics with documents, ids as text. Raises InputError if a topic does not have a dict."""
    for number, docs in found:
        name = judgments.names[number]
        if not isinstance(docs, Mapping):
            raise InputError(f"run: {not_documents('run', name, docs)}")
        if not docs:
            continue
        if set(map(type, docs)) <= {str}:
            yield number, docs
            continue
        with unchanged("run", [name], [docs]):
            ids = text_ids(list(docs), "doc_id", f"run: topic {name!r}")
            with_text_ids = dict(zip(ids, docs.values(), strict=True))
        yield number, with_text_ids


@lru_cache(maxsize=1)
def _sizes_with_text_only() -> frozenset[int]:
    """Return sizes in memory that only dicts with text keys have (CPython 3.11 and newer)."""
    sizes: list[set[int]] = []
    for key in (str, int):
        growing: dict[Any, None] = {}
        sizes.append(set())
        # A dict doubles its size, so that some number of each of its sizes is among these.
        while len(growing) < _DEEPEST:
            for number in range(len(growing), len(growing) * 5 // 4 + 1):
                growing[key(number)] = None
            sizes[-1].add(getsizeof(growing))
    return frozenset(sizes[0] - sizes[1])


def _batches(
    topics: Iterable[tuple[int, Mapping[str, Any]]],
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


def _match_batch(judgments: Judgments, lookup: Lookup, batch: list[tuple[int, Mapping[str, Any]]]) -> Matched:
    """Match some topics."""
    lengths = np.array([len(docs) for _, docs in batch], dtype=np.int64)
    scores = _scores(judgments, batch)
    number = np.array([number for number, _ in batch], dtype=np.int64)
    start, stop = lookup.start[number], lookup.start[number + 1]
    found = list(
        chain.from_iterable(
            map(docs.get, lookup.doc_ids[begin:end])
            for (_, docs), begin, end in zip(batch, start.tolist(), stop.tolist(), strict=True)
        )
    )
    # None (not in the run) becomes NaN; the scores were checked and are not NaN.
    hit_scores = np.array(found, dtype=np.float64)
    retrieved = np.flatnonzero(~np.isnan(hit_scores))
    asked: Ints = np.cumsum(stop - start, dtype=np.int64)
    slot = np.searchsorted(asked, retrieved, side="right").astype(np.int64)
    judged: Ints = stop[slot] - asked[slot] + retrieved

    bounds = np.concatenate(([0], np.cumsum(lengths)))
    rows = ranking.Rows(
        scores,
        ranking.Groups(np.arange(len(batch), dtype=np.int64), bounds),
        lambda wanted: _names(batch, bounds, wanted),
    )
    hits = ranking.Hits(hit_scores[retrieved], slot, lambda wanted: lookup.names[judged[wanted]])
    ranks = ranking.ranks(rows, hits)
    flat = ranking.is_flat(rows.score, rows.groups)
    return Matched(lookup.document[judged], *ranks, number, lengths, flat)


def _names(batch: list[tuple[int, Mapping[str, Any]]], bounds: Ints, rows: Ints) -> Names:
    """Return the doc_ids of some rows of a batch."""
    length = np.diff(bounds)
    slot = np.searchsorted(bounds, rows, side="right") - 1
    some = np.flatnonzero(np.bincount(slot))  # np.unique imports numpy.ma
    in_order = list(chain.from_iterable(batch[at][1] for at in some.tolist()))
    # Positions at which the rows of each topic begin in that list.
    begin = np.zeros(length.size, dtype=np.int64)
    begin[some] = np.cumsum(length[some]) - length[some]
    at = begin[slot] + rows - bounds[slot]
    if 2 * at.size > len(in_order):  # joining all is faster than choosing
        return Names.of(in_order)[at]
    return Names.of([in_order[row] for row in at.tolist()])


def _scores(judgments: Judgments, batch: list[tuple[int, Mapping[str, Any]]]) -> Floats:
    """Return all scores of a batch. Raises InputError if one is missing or not a number."""
    # Packing is the fastest conversion of Python floats to an array, and rejects values that are not numbers.
    scores = np.empty(sum(len(docs) for _, docs in batch))
    memory, begin = scores.data.cast("B"), 0
    try:
        for _, docs in batch:
            # Pack one topic at a time, so that memory is reused while it is in the cache.
            packed = struct.pack(f"{len(docs)}d", *docs.values())
            memory[begin : begin + len(packed)] = packed
            begin += len(packed)
        # The minimum is NaN if any number is NaN.
        if not np.isnan(scores.min()):
            return scores
    except (struct.error, TypeError, ValueError, OverflowError):
        pass
    return np.concatenate([numbers_of("run", judgments.names[number], docs) for number, docs in batch])
