"""Judgments from qrels in a table: one level for each document, and the further columns of documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ir_graded.core.facets import (
    ASPECTS,
    IMPORTANCE,
    INCLUSION,
    INTENT,
    INTENT_TYPE,
    PROBABILITY,
    SPAN,
    STRATUM,
    Facet,
)
from ir_graded.core.levels import Aspects, Highlights, Intents, Levels, Strata
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, short_repr
from ir_graded.io.annotations import check_sum, importance_of
from ir_graded.io.table import Table, at_rows, first_rows
from ir_graded.io.values import describe_document

from .articles import articles_of
from .judgments import Judgments
from .lookup import document_keys, repeated

#: Largest difference between an inclusion probability and the judged share of the stratum.
_ROUNDING = 1e-6


def from_table(table: Table, scale: Sequence[float] = (), wanted: Iterable[Facet] = ()) -> Judgments:
    """Return judgments from rows. A duplicate document is allowed if the levels are equal, else an error.

    Rows with passages or with different intents may repeat a document; its level is the largest.

    Args:
        table: the rows.
        scale: levels of the whole collection, if the rows are a part of it.
        wanted: further columns that measures need.
    """
    table = table.judgments()
    facets = {facet.name: facet for facet in wanted if table.has(facet)}
    first = table.query_id.is_first_distinct().arg_true().to_numpy().astype(np.int64)
    named = at_rows(table.query_id, first)
    topic = topic_numbers(table.query_id, named)
    # As in a dict of dicts, a topic without a document counts.
    without = sorted(table.without_rows.difference(named))
    names = named.append(pl.Series(without, dtype=pl.String)) if without else named
    articles, note = articles_of(table, topic), ""
    if articles is None:
        kept, document, level, note = _without_repetitions(table, topic)
    else:
        kept, document, level = articles.first, articles.article, articles.table.value
    # A stable sort keeps the order of the documents of a topic.
    order = np.argsort(topic[kept], kind="stable")
    if articles is not None or facets:
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        document = place[document]
    doc_ids = at_rows(table.doc_id, kept[order]).to_list()
    highlights = intents = None
    intent_names, note_on_importance = list[str](), ""
    if articles is not None:
        aspects = _aspects(table.values(ASPECTS), topic) if ASPECTS.name in facets else None
        highlights = Highlights(articles.passage.spans(document), table.value, aspects, scale=scale)
    if INTENT.name in facets:
        intents, intent_names, intent = _intents(table, topic, document, names, doc_ids, scale)
        if IMPORTANCE.name in facets:
            importance, note_on_importance = importance_of(table)
            intents = replace(intents, importance=_by_unit(table, IMPORTANCE, importance, topic, intent))
        highlights = highlights and replace(highlights, intent=intent)
    levels = Levels.of(len(names), topic[kept][order], level[order], highlights, scale, intents)
    unit = {"document": document, "topic": topic}
    further = {
        name: _by_unit(table, facet, table.values(facet), topic, unit[facet.per])
        for name, facet in facets.items()
        if facet.per in unit
    }
    if further:
        levels = replace(levels, further=further)
    strata = []
    if STRATUM.name in facets:
        strata = at_rows(table.values(facets[STRATUM.name]), kept[order]).to_list()
        _check_strata(table, levels, names, strata)
    return Judgments(
        [*table.query_objects(first), *without],
        names.to_list(),
        levels,
        doc_ids,
        intent_names,
        frozenset(facets),
        note,
        unused_intents=table.unused_intents,
        hint=table.hint(SPAN),
        note_on_sample=table.note_on_sample(),
        note_on_importance=note_on_importance,
        strata=strata,
        several_strata=table.has(STRATUM) and table.strata() > len(names),
    )


def _check_strata(table: Table, levels: Levels, names: pl.Series, strata_names: list[str]) -> None:
    """Raise InputError if strata are intents, or inclusion probabilities are not those of the strata."""
    if not table.has(STRATUM):
        if of_intents := [one.name for one in (PROBABILITY, INTENT_TYPE, IMPORTANCE) if table.has(one)]:
            raise InputError(
                f"qrels: the column {INTENT.name} holds intents (there is a column {of_intents[0]}), so the "
                f"strata must be in a column {STRATUM.name}"
            )
    elif INCLUSION.name in levels.further:
        strata, given = Strata.of_levels(levels), levels.further[INCLUSION.name]
        n, N = strata.n[strata.of], strata.N[strata.of]
        if (wrong := np.flatnonzero((n > 0) & (np.abs(given - n / N) > _ROUNDING))).size:
            at = int(wrong[0])
            raise InputError(
                f"qrels: topic {names[int(levels.topic[at])]!r}, stratum {strata_names[at]!r}: the inclusion "
                f"probability (iprob) is {given[at]:g}, but {n[at]} of {N[at]} documents were judged; "
                "correct one of them, or remove the column stratum or iprob"
            )


def topic_numbers(query_id: pl.Series, names: pl.Series) -> Ints:
    """Return the position in ``names`` of the topic of each row."""
    numbers = query_id.replace_strict(names, pl.arange(len(names), eager=True), return_dtype=pl.Int64)
    return np.array(numbers.to_numpy(), dtype=np.int64)


def _without_repetitions(table: Table, topic: Ints) -> tuple[Ints, Ints, Floats, str]:
    """Return the first row of each document, the document of each row, the highest levels, and a note."""
    every = np.arange(topic.size, dtype=np.int64)
    if not repeated(document_keys(topic, table.doc_id)).size:
        return every, every, table.value, ""
    rows = pl.DataFrame({"topic": topic, "doc": table.doc_id})
    row = first_rows(rows)
    is_first = row == every
    if table.has(INCLUSION) or table.has(STRATUM):
        again = int(np.flatnonzero(~is_first)[0])
        raise InputError(
            f"{table.in_kind(again)}: the document is also at {table.place(int(row[again]))}; in sampled "
            "judgments, give each document one row"
        )
    first, document = np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[row]
    level, note = table.value[first], ""
    if (level[document] != table.value).any():
        _check_one_level(table, document)
        np.maximum.at(level, document, table.value)
        note = _note_of_levels(table, document, level)
    return first, document, level, note


def _check_one_level(table: Table, document: Ints) -> None:
    """Raise InputError if rows of a document, and of one intent if there are intents, differ in level."""
    rows = pl.DataFrame({"document": document})
    if table.has(INTENT):
        rows = rows.with_columns(table.text(INTENT.name).alias(INTENT.name).cast(pl.Categorical))
        key = np.sort(document << 32 | rows[INTENT.name].to_physical().to_numpy())
        if (key[1:] != key[:-1]).all():
            return  # sorting is quicker than looking for the first row of each
    first = first_rows(rows)
    differs = table.value[first] != table.value
    if differs.any():
        other = int(np.flatnonzero(differs)[0])
        row = int(first[other])
        levels = " and ".join(
            f"level {table.value[at]:g}" + (f" at {place}" if (place := table.place(at)) else "")
            for at in (row, other)
        )
        where = describe_document(table.query_id[row], table.doc_id[row])
        if INTENT.name in rows.columns and rows[INTENT.name].n_unique() > 1:
            where += f", intent {rows[INTENT.name][row]!r}"
        raise InputError(f"qrels: {where} has {levels}; {table.why_no_repeats}")


def _note_of_levels(table: Table, document: Ints, level: Floats) -> str:
    """Return a description of the documents with several levels."""
    lower = np.flatnonzero(level[document] != table.value)
    number = np.count_nonzero(np.bincount(document[lower]))
    documents = "1 document has" if number == 1 else f"{number} documents have"
    return (
        f"qrels: {documents} different levels in rows with different iterations (intents); the highest level "
        f"counts; the first: {table.describe(int(lower[0]))}"
    )


def _by_unit(table: Table, facet: Facet, values: Any, topic: Ints, unit: Ints) -> npt.NDArray[Any]:
    """Return the value of a further column for each unit; an error if rows of a unit differ."""
    if facet.kind == "id":
        # As numbers, distinct within topics, and for units without an id.
        number = first_rows(pl.DataFrame({"topic": topic, "id": values}))
        values = np.where(values.is_null().to_numpy(), -1 - unit, number)
    first = np.zeros(unit.max(initial=-1) + 1, dtype=np.int64)
    first[unit[::-1]] = np.arange(unit.size)[::-1]
    expected = values[first][unit]
    differs = ~((values == expected) | ((values != values) & (expected != expected)))  # noqa: PLR0124  # NaN
    if differs.any():
        row = int(np.nonzero(differs)[0][0])
        other, given = int(first[unit[row]]), table.objects(table.name_of(facet))
        one, another = short_repr(given[row]), short_repr(given[other])
        raise InputError(
            f"{table.described(facet)(row)}: the {facet.name} is {one}, but {another} at "
            f"{table.place(other) or 'another row'}; use the same value in both"
        )
    found: npt.NDArray[Any] = values[first]
    return found


def _aspects(words: list[set[str] | None], topic: Ints) -> Aspects:
    """Return the aspects of each row, numbered by topic; a row without words has none."""
    numbers: dict[tuple[int, str], int] = {}
    pairs = [
        (row, numbers.setdefault((number, name), len(numbers)))
        for row, (number, names) in enumerate(zip(topic.tolist(), words, strict=True))
        for name in names or ()
    ]
    span, aspect = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Aspects(np.array([names is not None for names in words], dtype=np.bool_), span, aspect)


def _intents(
    table: Table, topic: Ints, document: Ints, names: pl.Series, doc_ids: list[str], scale: Sequence[float]
) -> tuple[Intents, list[str], Ints]:
    """Return the intents of qrels, the name of each, and the intent of each row."""
    text: pl.Series = table.values(INTENT)
    key = topic << 32 | text.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    found, first, intent = np.unique(key, return_index=True, return_inverse=True)
    of_intent = found >> 32
    probability, is_nav = None, np.zeros(found.size, dtype=np.bool_)
    if table.has(PROBABILITY):
        probability = _by_unit(table, PROBABILITY, table.values(PROBABILITY), topic, intent)
        bounds = np.searchsorted(of_intent, np.arange(len(names) + 1))
        for number, name in enumerate(names):
            of_topic = probability[bounds[number] : bounds[number + 1]]
            if listed := of_topic[~np.isnan(of_topic)].tolist():
                check_sum(name, listed)
    if table.has(INTENT_TYPE):
        is_nav = _by_unit(table, INTENT_TYPE, table.values(INTENT_TYPE), topic, intent) > 0
    # One judgment for each intent and document, in the order of intents.
    rows = np.unique(intent << 32 | document, return_index=True)[1]
    levels = Levels.of(found.size, intent[rows], table.value[rows], scale=scale)
    intents = Intents(of_intent, probability, is_nav, levels, document[rows], doc_ids=doc_ids)
    return intents, text.gather(first).to_list(), intent.astype(np.int64)
