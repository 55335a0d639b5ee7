"""Reference for ``ranks='rows'``: the rows of a run as a list of documents, slow and plain.

The first row of a document is the document. A later row is a document of its own that is never relevant; it
is judged if the document is. The ideal list and R are those of the documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import localcontext

from . import intents, ranked, subtopics
from .chunks import ranked_passages

Levels = dict[str, float]


def listed(rows: Iterable[tuple]) -> list[tuple[str, str]]:
    """Return document and own id of each row (doc_id, score, start, length) of a topic in rank order."""
    found: list[tuple[str, str]] = []
    for doc_id, _, _ in ranked_passages(rows):
        n = sum(doc_id == other for other, _ in found) + 1
        found.append((doc_id, doc_id if n == 1 else f"{doc_id} (row {n})"))
    return found


def with_rows(levels: Levels, rows: list[tuple[str, str]]) -> Levels:
    """Return the levels of documents and of later rows."""
    return {**levels, **{own: min(levels[doc], 0) for doc, own in rows if own != doc and doc in levels}}


def score(name: str, params: dict, levels: Levels, rows: list[tuple[str, str]], all_levels: set) -> float:
    """Score one topic by a measure of ``reference.ranked``; ``all_levels`` are those of all topics."""
    params = {**ranked.defaults(name), **params}
    if name == "nDCG":  # its gains replace levels before all else
        levels = {doc: params["gains"].get(level, level) for doc, level in levels.items()}
        params["gains"] = {}
    expanded, retrieved = with_rows(levels, rows), [own for _, own in rows]
    with localcontext(ranked.DIGITS):
        topic = ranked.topic_of(name, params, expanded, retrieved, max(all_levels, default=0), all_levels)
        return float(ranked.formula(name, topic))


def score_over_intents(
    name: str, params: dict, levels: dict[str, Levels], rows: list[tuple[str, str]], **further: object
) -> float:
    """Score one topic by a measure of ``reference.intents`` or ``reference.subtopics``."""
    expanded = {intent: with_rows(of_intent, rows) for intent, of_intent in levels.items()}
    reference = (
        intents.score if name in {"I-rec", "D", "IA", "DIN", "P+Q"} or "#" in name else subtopics.score
    )
    return reference(name, params, expanded, [own for _, own in rows], **further)
