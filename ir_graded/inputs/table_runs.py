"""From a run's table to hits: keys find the judged documents, scores are ranked within topics.

A table with passages is first brought to one row an article.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import ranking
from ..errors import InputError
from ..hits import Hits
from ..segments import Ints
from .articles import articles_of
from .judgments import Judgments, Keys, Lookup, document_keys
from .table import ONLY_PASSAGES, Table, describe_document

if TYPE_CHECKING:
    import polars as pl


def hits_of_table(judgments: Judgments, table: Table, lowest: float) -> Hits:
    """Hits of a run's table. Raises InputError for a duplicate document or a missing id or score."""
    table.check_ids()
    groups = _groups(judgments, table.query_id)
    if (groups.number < 0).any():
        table, groups = _with_qrels(table, groups)
    topic = groups.topic
    table.check_values()
    articles = articles_of(table, topic)
    if articles is not None:
        table, topic, groups = articles.table, topic[articles.first], articles.groups(groups)
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
    document = lookup.document[judged]
    spans = None if articles is None else articles.spans(row, document)
    return Hits.of(judgments.levels, document, rank, groups.lengths(judgments.levels.topics), spans)


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
            places = f"at {table.place(first)} and at {table.place(row)}"
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
    really = (doc_id.gather(row) == lookup.series.gather(found)).to_numpy()
    return row[really], found[really]


def _joined_rows(lookup: Lookup, topic: Ints, doc_id: pl.Series) -> tuple[Ints, Ints]:
    """The same by an exact join, for the rare qrels in which two documents share a key."""
    import polars as pl

    rows = pl.DataFrame({"topic": topic, "doc": doc_id}).with_row_index("row")
    judged = pl.DataFrame({"topic": lookup.topic, "doc": lookup.series}).with_row_index("judged")
    both = rows.join(judged, on=["topic", "doc"], how="inner")
    return both["row"].to_numpy().astype(np.int64), both["judged"].to_numpy().astype(np.int64)
