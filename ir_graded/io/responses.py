"""Responses of search engines, and lists of ids, as tables: the order given is the ranking."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ir_graded.core.facets import POSITION, is_record
from ir_graded.errors import CoverageWarning, FileFormatError, InputError, format_ids, short_repr

from .records import Node
from .values import as_text, text_ids

if TYPE_CHECKING:
    from .table import Table


class _Hit(NamedTuple):
    """A document of a response, with its score and rating if it has them, and its place."""

    doc_id: Any
    score: float | None
    rating: float | None
    place: str


def _content(source: Any) -> Any:
    """Return a response as dicts and lists, which the clients of Elasticsearch have as its body."""
    return source if isinstance(source, (Mapping, list, tuple)) else getattr(source, "body", source)


def _is_search(source: Any) -> bool:
    """Return whether an object is the response to one query, or an error in place of it."""
    found = _content(source)
    if not isinstance(found, Mapping):
        return False
    hits = found.get("hits")
    is_result = isinstance(hits, Mapping) and (isinstance(hits.get("hits"), list) or "took" in found)
    return is_result or (isinstance(found.get("error"), (str, Mapping)) and "status" in found)


def _is_ids(source: Any) -> bool:
    return (
        isinstance(source, (list, tuple))
        and not hasattr(source, "_fields")
        and all(isinstance(one, (str, int)) for one in source)
    )


def is_ranked(source: Any) -> bool:
    """Return whether an object is responses of a search engine, or lists of ids by query."""
    found = _content(source)
    if isinstance(found, list):
        return bool(found) and (_is_search(found[0]) or _is_several(found))
    if not isinstance(found, Mapping) or not found:
        return False
    first = next(iter(found.values()))
    # Lists of rows are runs by name, and an empty list may be an empty run.
    is_lists = isinstance(first, (list, tuple)) and any(found.values()) and not is_record(found)
    return (
        _is_search(found)
        or _is_search(first)
        or isinstance(found.get("responses"), list)
        or _is_rank_eval(found)
        or (is_lists and all(map(_is_ids, found.values())))
    )


def _is_several(found: Any) -> bool:
    """Return whether a list has a response of ``_msearch`` in each place, as JSON Lines of batches."""
    return bool(found) and all(
        isinstance(one, Mapping) and isinstance(one.get("responses"), list) for one in found
    )


def _is_rank_eval(found: Mapping[Any, Any]) -> bool:
    details, score = found.get("details"), found.get("metric_score")
    return isinstance(details, Mapping) and isinstance(score, (int, float, str))


def ranked_table(kind: str, source: Any, query_ids: Sequence[Any] | None = None, path: str = "") -> Table:
    """Return responses, or lists of ids, as a run with positions; as qrels the ratings of ``_rank_eval``.

    Args:
        kind: 'qrels' or 'run'.
        source: what ``is_ranked`` accepts, or a list of lists of ids with ``query_ids``.
        query_ids: the topic of each response, if they are not by query.
        path: file of the source, for errors.
    """
    from .table import from_columns

    try:
        nodes = _by_query(_content(source), query_ids)
        found = {query_id: [*_hits(query_id, node)] for query_id, node in nodes.items()}
    except InputError as error:
        if path:
            raise FileFormatError(f"{path}: {error}") from None
        raise type(error)(f"{kind}: {error}") from None
    if partial := [query_id for query_id, node in nodes.items() if _is_partial(node.value)]:
        _warn(
            f"{path or kind}: the responses to queries {format_ids(partial)} timed out or lack shards that "
            "failed, so documents may be missing."
        )
    rows: list[tuple[Any, Any, float, int, str]] = []
    if kind == "qrels":
        rows = _ratings(found, path)
    else:
        unordered = []
        for query_id, hits in found.items():
            scores = _scores(hits)
            if scores is None:
                unordered += [query_id] * any(hit.score is not None for hit in hits)
                scores = [-float(at) for at in range(1, len(hits) + 1)]
            rows += [
                (query_id, hit.doc_id, score, at, hit.place)
                for at, (hit, score) in enumerate(zip(hits, scores, strict=True), 1)
            ]
        if unordered:
            _warn(
                f"{path or kind}: the scores of queries {format_ids(unordered)} do not descend or are partly "
                "missing, so the positions of the hits are the ranking, and these scores are not used."
            )
    columns = [[row[at] for row in rows] for at in range(5)]
    further = {POSITION.name: lambda: columns[3]} if kind == "run" else None

    def place(row: int) -> str:
        return f"{path}, {columns[4][row]}" if path else str(columns[4][row])

    table = from_columns(kind, columns[:3], place, further=further)
    without_rows = frozenset(as_text(query_id) for query_id, hits in found.items() if not hits)
    return replace(table, without_rows=without_rows)


def _by_query(found: Any, query_ids: Sequence[Any] | None) -> dict[Any, Node]:
    """Return the response, the hits or the ids of each query. Raises InputError if queries are not known."""
    if isinstance(found, Mapping) and not (_is_search(found) or isinstance(found.get("responses"), list)):
        if query_ids is not None:
            raise InputError("query_ids is for responses in a list, and these are by query; leave it out")
        if not _is_rank_eval(found):
            return {query_id: Node(_content(one), "response") for query_id, one in found.items()}
        if failures := found.get("failures"):
            query_id = next(iter(failures))
            raise InputError(f"query {query_id!r} failed: {short_repr(failures[query_id])}")
        details = Node(found)["details"]
        return {query_id: details[query_id]["hits"] for query_id in details.value}
    nodes = _in_order(found)
    if query_ids is None:
        raise InputError(
            "responses do not name their queries: give a dict {query_id: response}, or the ids in the order "
            "of the responses, read_run(source, query_ids=[...]) in Python, --query-ids in the shell"
        )
    ids = [query_ids] if isinstance(query_ids, str) else [*query_ids]
    if len(ids) != len(nodes):
        raise InputError(f"found {len(nodes)} responses, but {len(ids)} query_ids")
    names = text_ids(ids, "query_ids", "run")
    by_query = {one: Node(_content(node.value), node.place) for one, node in zip(ids, nodes, strict=True)}
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"query_ids has {twice!r} twice")
    return by_query


def _in_order(found: Any) -> list[Node]:
    """Return the responses, or the lists of ids, that do not name their queries."""
    if isinstance(found, Mapping):
        return [Node(found, "response")] if _is_search(found) else [*Node(found)["responses"]]
    if _is_several(found):
        return [one for several in Node(found) for one in several["responses"]]
    return [*Node(found)]


def _hits(query_id: Any, node: Node) -> Iterator[_Hit]:
    """Yield the documents of a query by position. Raises InputError that names the query and the place."""
    try:
        if _is_ids(node.value):
            yield from (_Hit(one.value, None, None, one.place) for one in node)
            return
        if "error" in node:
            raise node.error(f"is an error: {short_repr(node['error'].value)}")
        rated = not isinstance(node.value, Mapping)  # of _rank_eval
        for one in node if rated else node["hits"]["hits"]:
            hit = one["hit"] if rated else one
            if isinstance(hit["_id"].value, str) and not hit["_id"].value.strip():
                raise hit["_id"].error("is empty; expected the id of a document")
            score = _number(hit["_score"]) if "_score" in hit else None
            yield _Hit(
                hit["_id"].value, score, _number(one["rating"]) if "rating" in one else None, one.place
            )
    except InputError as error:
        raise InputError(f"query {query_id!r}: {error}") from None


def _is_partial(found: Any) -> bool:
    """Return whether a response lacks documents of the index."""
    if not isinstance(found, Mapping):
        return False
    shards = found.get("_shards")
    if found.get("timed_out") is True or not isinstance(shards, Mapping):
        return found.get("timed_out") is True
    counts: list[Any] = [shards.get("successful"), shards.get("total")]
    successful, total = counts if all(isinstance(one, int) for one in counts) else (0, 0)
    return bool(shards.get("failed")) or successful < total


def _number(node: Node) -> float | None:
    """Return a score or rating; None for null."""
    if node.value is None:
        return None
    if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
        raise node.error(f"is {short_repr(node.value)}; expected a number or null")
    try:
        return float(node.value)
    except OverflowError:
        raise node.error(f"is {short_repr(node.value)}, which is too large for a number") from None


def _scores(hits: list[_Hit]) -> list[float] | None:
    """Return the scores of a query; None if some are missing or they do not descend."""
    scores = [hit.score for hit in hits if hit.score is not None]
    if len(scores) < len(hits) or (np.diff(scores) > 0).any():
        return None
    return scores


def _ratings(found: Mapping[Any, list[_Hit]], path: str) -> list[tuple[Any, Any, float, int, str]]:
    """Return the rated documents. Raises InputError if there are none."""
    where = f"{path or 'qrels'}: "
    rows = [
        (query_id, hit.doc_id, hit.rating, at, hit.place)
        for query_id, hits in found.items()
        for at, hit in enumerate(hits, 1)
        if hit.rating is not None
    ]
    if not rows:
        raise InputError(f"{where}the responses have no ratings, which only those of _rank_eval have")
    lost = [query_id for query_id in found if query_id not in {row[0] for row in rows}]
    text = (
        "judgments from a response of _rank_eval lack the rated documents that were not retrieved; read "
        "those of the request to score recall and ideal lists"
    )
    left = f" Left out, since no hit has a rating: {format_ids(lost)}." if lost else ""
    _warn(f"{where}{text}.{left}")
    return rows


def _warn(text: str) -> None:
    warnings.warn(text, CoverageWarning, stacklevel=2)
