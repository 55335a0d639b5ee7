"""Names of the columns of qrels and runs in the tools that write them."""

from __future__ import annotations

from collections.abc import Iterable

from ir_graded.errors import cut

QUEPID = ("query", "docid", "rating")
#: Names of topic, document and value by kind: of ir-measures, PyTerrier, BEIR and MTEB, and Quepid.
CONVENTIONS = {
    "qrels": (
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
        ("query-id", "corpus-id", "score"),
        QUEPID,
    ),
    "run": (
        ("query_id", "doc_id", "score"),
        ("qid", "docno", "score"),
        ("query-id", "corpus-id", "score"),
    ),
}


#: Asked where qrels look like a run, or a run like qrels.
SWAPPED = "are the qrels and the run swapped?"


def convention_of(kind: str, names: Iterable[object]) -> tuple[str, str, str] | None:
    """Return the first names of topic, document and value that all exist, else None."""
    present = set(names)
    return next((found for found in CONVENTIONS[kind] if present.issuperset(found)), None)


#: Columns of spans, and names that mean the like.
SPAN = ("start", "length")
LIKE_SPAN = {*SPAN, "end", "stop", "offset", "start_index", "end_index"}
#: Names that mean the column iteration of qrels.
_LIKE_INTENT = {"intent", "intent_id", "subtopic"}


def hint_on_spans(names: Iterable[object]) -> str:
    """Return a hint on columns of spans with other names than start and length; empty without any."""
    present = [*map(str, names)]
    lacking = [name for name in SPAN if name not in present]
    like = [name for name in present if name.lower() in LIKE_SPAN]
    if not lacking or not like:
        return ""
    return f"the table has {', '.join(like)} but not {' and '.join(lacking)} (length = end - start)"


def hint_on_intents(names: Iterable[object]) -> str:
    """Return a hint on a column of intents with another name than iteration; empty without any."""
    present = [*map(str, names)]
    like = next((name for name in present if name.lower() in _LIKE_INTENT), "")
    if not like or "iteration" in present:
        return ""
    return f"the table has {like}; rename it to iteration if it holds intents"


def missing(kind: str, names: Iterable[object]) -> str:
    """Return a message with the missing columns, the existing columns, and the likely kind of table."""
    present = [*names]
    wanted = CONVENTIONS[kind][0]
    other = "run" if kind == "qrels" else "qrels"
    found = convention_of(other, present)
    hint = ""
    if found:
        hint = f"; it looks like {'a run' if other == 'run' else other} ({', '.join(found)}): {SWAPPED}"
    lacking = ", ".join(name for name in wanted if name not in present)
    return f"the table has no column {lacking}; it has {cut(', '.join(map(str, present)))}{hint}"
