"""``ir_graded explain``: the contribution of each document to the score of a topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ir_graded.evaluation.evaluate import in_order
from ir_graded.evaluation.explain import Explanation, explain as explained

from . import options
from .output import FORMATS, Leaderboard, json_line, show

_ALL_DIGITS = -1


@click.command()
@click.argument("measure")
@options.qrels
@click.argument("run")
@click.argument("query_id")
@options.ties
@options.intents
@options.groups
@options.output
@options.places
def explain(  # noqa: PLR0913, PLR0917  # click passes all options
    measure: str,
    qrels: str,
    run: str,
    query_id: str,
    ties: str,
    intents: str | None,
    groups: tuple[str, ...],
    output: str,
    places: int,
) -> None:
    """Explain the score of a topic: how much each relevant document adds.

    Prints the relevant documents that RUN retrieved for the topic QUERY_ID, down to the cutoff of MEASURE:
    rank, level, the quantities C, cg, cg* and BR that the measure uses, and the contribution. The
    contributions sum to the score, which is in the last row. QRELS and RUN are as in `ir_graded evaluate`.
    """
    measures = options.read([measure])
    if len(measures) != 1:
        raise click.UsageError(f"{measure!r} names {len(measures)} measures: give one measure")
    judged = options.judgments(qrels, intents, groups)
    show(_WRITERS[output](explained(in_order(measures, "auto", ties)[0], judged, run, query_id), places))


def _as_table(output: str, *, complete: bool) -> Callable[[Explanation, int], str]:
    """Return a writer of the rows in a format; formats that programs read have all columns."""

    def write(found: Explanation, places: int) -> str:
        head, rows = found.cells(places, complete=complete)
        # Text is left-aligned, numbers are right-aligned.
        labels = head.index("doc_id") + 1
        values: list[tuple[list[str], list[Any]]] = [(row[:labels], row[labels:]) for row in rows]
        return FORMATS[output](Leaderboard(head[:labels], head[labels:], values), places)

    return write


def _json_lines(found: Explanation, places: int) -> str:
    """Return a JSON object per document, then one for the score."""
    rows: list[dict[Any, Any]] = found.frame.to_dict("records")
    last = {"measure": str(found.measure), "run": found.run, "query_id": str(found.query_id)}
    rows.append({**last, "score": found.score, "notes": " ".join(found.notes)})
    return "\n".join(
        json_line({name: _rounded(value, places) for name, value in row.items()}) for row in rows
    )


def _rounded(value: object, places: int) -> object:
    return round(value, places) if isinstance(value, float) and places != _ALL_DIGITS else value


_WRITERS: dict[str, Callable[[Explanation, int], str]] = {
    "table": Explanation.text,
    "jsonl": _json_lines,
    **{output: _as_table(output, complete=True) for output in ("csv", "tsv")},
    **{output: _as_table(output, complete=False) for output in ("latex", "markdown")},
}
