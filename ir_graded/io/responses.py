"""Responses of search engines and ranked lists as runs, and judgments of search engines and lists as qrels.

The order of a response or a list ranks documents with equal scores.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from ir_graded.core.facets import POSITION, is_record
from ir_graded.errors import CoverageWarning, InputError, format_ids, short_repr

from .records import Node, Options
from .values import as_text, text_ids

if TYPE_CHECKING:
    from .table import Table


class _Engine(NamedTuple):
    """Where the response of a search engine has its documents, and their keys of id and score."""

    outer: str
    inner: str
    doc_id: str
    score: str


_ENGINES = (
    _Engine("hits", "hits", "_id", "_score"),  # Elasticsearch and OpenSearch
    _Engine("response", "docs", "id", "score"),  # Solr
    _Engine("root", "children", "id", "relevance"),  # Vespa
)
_NUMBERS = (int, float, np.number)
#: Keys of the id of a document in a ranked list, of which each document has one, beside its score.
_DOC_IDS = ("corpus_id", "doc_id", "docid", "docno", "id", "_id")
#: Keys of queries and of lists of relevant documents in records.
_QUERIES, _RELEVANT = ("query_id", "qid", "id", "_id", "query"), ("answer_pids", "gold_ids")
#: Judgments of search engines: key of the list of queries; then the keys of the id or text of a query, of its
#: ratings (a list, or levels by document), and of document and level of a rating.
_RATINGS = (
    ("judgmentRatings", ("query", "ratings", "docId", "rating")),  # OpenSearch, Search Relevance
    ("requests", ("id", "ratings", "_id", "rating")),  # OpenSearch and Elasticsearch, _rank_eval
    ("queries", ("query_text", "ratings", "doc_id", "rating")),  # Quepid, export of a case
    ("queries", ("query", "ratings", "doc_id", "rating")),  # Quepid, export of a book
)


class _Hit(NamedTuple):
    """A document of a response or list, with its score and rating if it has them, and its place."""

    doc_id: Any
    score: float | None
    rating: float | None
    place: str


def content_of(source: Any) -> Any:
    """Return a response as dicts and lists, which the clients of Elasticsearch have as its body."""
    return source if isinstance(source, (Mapping, list, tuple)) else getattr(source, "body", source)


def first_of(found: Any) -> Any:
    """Return the first value of a dict, or the first item of a list; None of anything else."""
    if isinstance(found, Mapping):
        return next(iter(found.values()), None)
    return found[0] if isinstance(found, (list, tuple)) and found else None


def _engine_of(found: Any) -> _Engine | None:
    """Return the search engine whose response to one query an object is, else None."""
    for engine in _ENGINES if isinstance(found, Mapping) else ():
        outer = found.get(engine.outer)
        if isinstance(outer, Mapping) and (
            isinstance(outer.get(engine.inner), list) or "took" in found or outer.get("id") == "toplevel"
        ):
            return engine
    return None


def _is_search(source: Any) -> bool:
    """Return whether an object is the response to one query, or an error in place of it."""
    found = content_of(source)
    if not isinstance(found, Mapping):
        return False
    has_status = "status" in found or "responseHeader" in found
    return _engine_of(found) is not None or (has_status and isinstance(found.get("error"), (str, Mapping)))


def is_response(source: Any) -> bool:
    """Return whether an object is responses of search engines: one, by query, or in a list."""
    found = content_of(source)
    return (
        _is_search(found)
        or _is_search(first_of(found))
        or _is_several(found)
        or (isinstance(found, Mapping) and (isinstance(found.get("responses"), list) or _is_rank_eval(found)))
    )


def _is_several(found: Any) -> bool:
    """Return whether a list has a response of ``_msearch`` in each place, as JSON Lines of batches."""
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(one, Mapping) and isinstance(one.get("responses"), list) for one in found)
    )


def _is_rank_eval(found: Mapping[Any, Any]) -> bool:
    details, score = found.get("details"), found.get("metric_score")
    return isinstance(details, Mapping) and isinstance(score, (int, float, str))


def is_candidates(found: Any) -> bool:
    """Return whether an object is a list of records of a query and its ranked candidates, as of rank_llm."""
    first = first_of(found) if isinstance(found, (list, tuple)) else None
    return (
        isinstance(first, Mapping)
        and isinstance(first.get("query"), Mapping)
        and isinstance(first.get("candidates"), list)
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, bool)


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple)) and not hasattr(value, "_fields")


def is_lists(found: Any, kinds: tuple[type, ...] = (list, tuple)) -> bool:
    """Return whether an object is lists of ids by query; an empty list alone may be an empty run."""
    if not isinstance(found, Mapping) or not isinstance(first_of(found), kinds) or is_record(found):
        return False
    lists: list[Any] = [
        ids for ids in found.values() if isinstance(ids, kinds) and not hasattr(ids, "_fields")
    ]
    return any(lists) and len(lists) == len(found) and all(all(map(_is_id, ids)) for ids in lists)


def is_lists_in_order(found: Any) -> bool:
    """Return whether an object is a list of lists by query, without the queries."""
    first = first_of(found) if isinstance(found, (list, tuple)) else None
    return isinstance(first, list) and (
        is_lists({"": first}) or (bool(first) and is_scored_lists({"": first}))
    )


def is_scored_lists(found: Any) -> bool:
    """Return whether an object is lists by query of pairs of id and score, or of records with both."""
    if not isinstance(found, Mapping) or not all(_is_list(docs) for docs in found.values()):
        return False
    first = next((docs[0] for docs in found.values() if docs), None)
    if isinstance(first, Mapping):
        return "score" in first and _doc_key(first) is not None and not is_record(first)
    if not _is_list(first) or len(first) != len(("id", "score")):
        return False
    return _is_id(first[0]) and isinstance(first[1], _NUMBERS)


def _doc_key(record: Mapping[Any, Any]) -> str | None:
    return next((key for key in _DOC_IDS if key in record), None)


def ranked_table(kind: str, source: Any, options: Options) -> Table:
    """Return responses or ranked lists as a run with positions; as qrels the ratings of ``_rank_eval``.

    ``options.query_ids`` are the topics of responses and lists that are not by query.
    """
    where = options.path or kind
    try:
        nodes = _by_query(content_of(source), options.query_ids)
        found = {query_id: [*_hits(query_id, node)] for query_id, node in nodes.items()}
    except InputError as error:
        raise options.error(kind, error) from None
    if incomplete := [query_id for query_id, node in nodes.items() if _is_partial(node.value)]:
        _warn(
            f"{where}: the responses to queries {format_ids(incomplete)} timed out or lack shards that "
            "failed, so documents may be missing."
        )
    firsts = [first_of(node.value) for node in nodes.values()]
    if any(isinstance(one, Mapping) and isinstance(one.get("corpus_id"), int) for one in firsts):
        _warn(f"{where}: corpus_id are numbers, so the documents are positions in the corpus, from 0.")
    rows = _ratings(found, where) if kind == "qrels" else _ranked(found, nodes, where)
    further = {POSITION.name: lambda: [row[3] for row in rows]} if kind == "run" else None
    table = _table_of(kind, rows, options, further)
    without_rows = frozenset(as_text(query_id) for query_id, hits in found.items() if not hits)
    return replace(table, without_rows=without_rows)


def _table_of(kind: str, rows: Sequence[tuple[Any, ...]], options: Options, further: Any = None) -> Table:
    """Return rows that begin with topic, document and value, and end with their place, as a table."""
    from .table import from_columns

    columns = [[row[at] for row in rows] for at in range(3)]
    return from_columns(kind, columns, lambda row: options.at(rows[row][-1]), further=further)


def _by_query(found: Any, query_ids: Sequence[Any] | None) -> dict[Any, Node]:
    """Return the response or the list of each query. Raises InputError if queries are not known."""
    if is_candidates(found):
        queries = [*Node(found)]
        names = [one["query"]["qid"].value for one in queries]
        return _distinct(names, [one["candidates"] for one in queries], "qid")
    if isinstance(found, Mapping) and not (_is_search(found) or isinstance(found.get("responses"), list)):
        if query_ids is not None:
            raise InputError("query_ids is for responses in a list, and these are by query; leave it out")
        if not _is_rank_eval(found):
            return {query_id: Node(content_of(one), "response") for query_id, one in found.items()}
        if failures := found.get("failures"):
            query_id = next(iter(failures))
            raise InputError(f"query {query_id!r} failed: {short_repr(failures[query_id])}")
        details = Node(found)["details"]
        return {query_id: details[query_id]["hits"] for query_id in details.value}
    nodes_in_order = _in_order(found)
    if query_ids is None:
        raise InputError(
            "responses do not name their queries: give a dict {query_id: response}, or the ids in the order "
            "of the responses, read_run(source, query_ids=[...]) in Python, --query-ids in the shell"
        )
    ids = [query_ids] if isinstance(query_ids, str) else [*query_ids]
    if len(ids) != len(nodes_in_order):
        raise InputError(f"found {len(nodes_in_order)} responses, but {len(ids)} query_ids")
    return _distinct(ids, nodes_in_order, "query_ids")


def _distinct(ids: list[Any], nodes: list[Node], name: str) -> dict[Any, Node]:
    """Return responses or lists by query. Raises InputError if a query appears twice."""
    names = text_ids(ids, name, "run")
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise InputError(f"{name} has {twice!r} twice")
    return {one: Node(content_of(node.value), node.place) for one, node in zip(ids, nodes, strict=True)}


def _in_order(found: Any) -> list[Node]:
    """Return the responses, or the lists, that do not name their queries."""
    if isinstance(found, Mapping):
        return [Node(found, "response")] if _is_search(found) else [*Node(found)["responses"]]
    if _is_several(found):
        return [one for several in Node(found) for one in several["responses"]]
    return [*Node(found)]


def _hits(query_id: Any, node: Node) -> Iterator[_Hit]:
    """Yield the documents of a query by position. Raises InputError that names the query and the place."""
    try:
        if "error" in node:
            raise node.error(f"is an error: {short_repr(node['error'].value)}")
        if not isinstance(node.value, Mapping):
            yield from map(_listed, node)
            return
        engine = _engine_of(node.value) or _ENGINES[0]
        outer = node[engine.outer]
        if "errors" in outer:  # of Vespa, which leaves out the list where no document matches
            raise outer.error(f"has errors: {short_repr(outer['errors'].value)}")
        for hit in outer[engine.inner] if engine.inner in outer or engine.outer == "hits" else ():
            if engine.outer == "root" and engine.inner in hit:
                raise hit.error("is a group of Vespa, not a document; search without grouping")
            yield _hit(hit, engine.doc_id, engine.score)
    except InputError as error:
        raise InputError(f"query {query_id!r}: {error}") from None


def _listed(node: Node) -> _Hit:
    """Return an item of a list: an id, a pair of id and score, a record of both, or a rated hit."""
    if "hit" in node:  # of _rank_eval
        rating = _number(node["rating"]) if "rating" in node else None
        return _hit(node["hit"], "_id", "_score")._replace(rating=rating, place=node.place)
    if isinstance(node.value, Mapping):
        return _hit(node, _doc_key(node.value) or _DOC_IDS[0], "score")
    found = [node] if _is_id(node.value) else [*node]
    if not 1 <= len(found) <= len(("id", "score")):
        raise node.error(f"is {short_repr(node.value)}; expected an id, or a pair of id and score")
    doc_id, *score = found
    return _Hit(doc_id.value, _number(score[0]) if score else None, None, node.place)


def _hit(node: Node, doc_id: str, score: str) -> _Hit:
    """Return a document from a record with the keys of its id and its score, which may be missing."""
    found = node[doc_id]
    if isinstance(found.value, str) and not found.value.strip():
        raise found.error("is empty; expected the id of a document")
    return _Hit(found.value, _number(node[score]) if score in node else None, None, node.place)


def _is_partial(found: Any) -> bool:
    """Return whether a response lacks documents of the index."""
    if not isinstance(found, Mapping):
        return False
    header, root = Node(found.get("responseHeader")), Node(found.get("root"))  # of Solr and of Vespa
    if "partialResults" in header or ("coverage" in root and "degraded" in root["coverage"]):
        return True
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
    if isinstance(node.value, bool) or not isinstance(node.value, _NUMBERS):
        raise node.error(f"is {short_repr(node.value)}; expected a number or null")
    try:
        return float(node.value)
    except OverflowError:
        raise node.error(f"is {short_repr(node.value)}, which is too large for a number") from None


def _ranked(found: Mapping[Any, list[_Hit]], nodes: Mapping[Any, Node], where: str) -> list[tuple[Any, ...]]:
    """Return topic, document, score, position and place of each document of a run."""
    rows: list[tuple[Any, ...]] = []
    unordered = []
    for query_id, hits in found.items():
        scores = [hit.score for hit in hits if hit.score is not None]
        # A response may be sorted by another field than its scores; lists are not.
        of_engine = not is_scored_lists({query_id: nodes[query_id].value})
        if len(scores) < len(hits) or (of_engine and (np.diff(scores) > 0).any()):
            unordered += [query_id] * bool(scores)
            scores = [-float(at) for at in range(1, len(hits) + 1)]
        rows += [
            (query_id, hit.doc_id, score, at, hit.place)
            for at, (hit, score) in enumerate(zip(hits, scores, strict=True), 1)
        ]
    if unordered:
        _warn(
            f"{where}: the scores of queries {format_ids(unordered)} do not descend or are partly "
            "missing, so the positions of the hits are the ranking, and these scores are not used."
        )
    return rows


def _ratings(found: Mapping[Any, list[_Hit]], where: str) -> list[tuple[Any, ...]]:
    """Return topic, document, level and place of each rated document. Raises InputError without any."""
    rows = [
        (query_id, hit.doc_id, hit.rating, hit.place)
        for query_id, hits in found.items()
        for hit in hits
        if hit.rating is not None
    ]
    if not rows:
        raise InputError(f"{where}: the responses have no ratings, which only those of _rank_eval have")
    lost = [query_id for query_id in found if query_id not in {row[0] for row in rows}]
    text = (
        "judgments from a response of _rank_eval lack the rated documents that were not retrieved; read "
        "those of the request to score recall and ideal lists"
    )
    left = f" Left out, since no hit has a rating: {format_ids(lost)}." if lost else ""
    _warn(f"{where}: {text}.{left}")
    return rows


def _rated_queries(found: Any) -> Sequence[Node]:
    """Return the queries in judgments of a search engine; none in anything else."""
    if isinstance(found, list):
        return [*Node(found)]
    if not isinstance(found, Mapping):
        return ()
    lists, hits = [Node(found)], found.get("hits")
    # OpenSearch returns stored judgments as hits of a search.
    if isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
        lists += [one["_source"] for one in Node(found)["hits"]["hits"] if "_source" in one]
    known = [one[key] for one in lists for key in dict(_RATINGS) if key in one]
    return [query for one in known if isinstance(one.value, list) for query in one]


def _keys_of(query: Node) -> tuple[str, str, str, str] | None:
    """Return the keys of a rated query: its name and ratings, and document and level of a rating."""
    for _, keys in _RATINGS:
        name, ratings, *of_rating = keys
        if name in query and ratings in query:
            given = query.value[ratings]
            first = first_of(given)
            if isinstance(given, Mapping) or (isinstance(first, Mapping) and {*of_rating} <= {*first}):
                return keys
    return None


def _keys_of_first(queries: Sequence[Node]) -> tuple[str, str, str, str] | None:
    """Return the keys of the first query that has ratings."""
    return next(filter(None, map(_keys_of, queries)), None)


def is_judgments(found: Any) -> bool:
    """Return whether an object is judgments of a search engine."""
    queries = _rated_queries(found[:1] if isinstance(found, list) else found)
    return _keys_of_first(queries) is not None


def judgments_table(kind: str, source: Any, options: Options) -> Table:
    """Return judgments of a search engine as qrels."""
    rows: list[tuple[Any, ...]] = []
    try:
        queries = _rated_queries(source)
        name, ratings, doc_id, rating = _keys_of_first(queries) or _RATINGS[0][1]
        for query in queries:
            given = query[ratings]
            if isinstance(given.value, Mapping):
                pairs = [(document, given[document]) for document in given.value]
            else:
                pairs = [(one[doc_id].value, one[rating]) for one in given]
            rows += [(query[name].value, document, _level(level), level.place) for document, level in pairs]
    except InputError as error:
        raise options.error(kind, error) from None
    return _table_of(kind, rows, options)


def _level(node: Node) -> float:
    """Return a level, which may be text."""
    try:
        return float(node.value)
    except OverflowError:
        return math.inf  # which the table rejects with its place
    except (TypeError, ValueError):
        raise node.error(f"is {short_repr(node.value)}; expected a number") from None


def _relevant_key(record: Any) -> str | None:
    return next((key for key in _RELEVANT if isinstance(record.get(key), list)), None)


def is_relevant(found: Any) -> bool:
    """Return whether an object is a list of records, one for each query, of its relevant documents."""
    first = first_of(found) if isinstance(found, (list, tuple)) else None
    if not isinstance(first, Mapping) or _relevant_key(first) is None:
        return False
    return any(name in first for name in _QUERIES)


def relevant_table(kind: str, source: Any, options: Options) -> Table:
    """Return lists or sets of relevant documents as qrels of level 1."""
    rows: list[tuple[Any, ...]] = []
    if isinstance(source, Mapping):
        rows = [(query_id, doc_id, 1.0, "") for query_id, doc_ids in source.items() for doc_id in doc_ids]
        without_rows = frozenset(as_text(query_id) for query_id, doc_ids in source.items() if not doc_ids)
        return replace(_table_of(kind, rows, options), without_rows=without_rows)
    query, key = next(name for name in _QUERIES if name in source[0]), _relevant_key(source[0])
    try:
        for record in Node(source):
            rows += [(record[query].value, one.value, 1.0, one.place) for one in record[str(key)]]
    except InputError as error:
        raise options.error(kind, error) from None
    return _table_of(kind, rows, options)


def _warn(text: str) -> None:
    warnings.warn(text, CoverageWarning, stacklevel=2)
