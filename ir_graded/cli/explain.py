"""Commands that check scores and runs: ``explain``, ``verify`` and ``passages``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ir_graded._utils.text_tables import FORMATS, TextTable, json_line
from ir_graded.analyses.explain import RankingComparison, compare_rankings, explain as explained
from ir_graded.analyses.verification import verify as verified
from ir_graded.evaluation.evaluate import in_order, order_of_measures
from ir_graded.io.records import ROW_ORDERS
from ir_graded.io.sources import opened

from . import options
from .output import frame_text, show, written

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@click.argument("file")
@options.qrels
@options.runs
@options.of(verified)
@options.lengths
@options.of_qrels
@options.table
def verify(
    file: str,
    qrels: str,
    runs: Any,
    groups: tuple[str, ...],
    output: str,
    places: int,
    **chosen: Any,
) -> int:
    """Recompute the scores in FILE, and say what differs. The exit code is 1 if anything does.

    FILE is what `ir_graded evaluate --save` wrote; QRELS and RUNs are as in `ir_graded evaluate`. Versions,
    options, rows of QRELS and of each RUN and all scores are compared. Rows may be in another order or
    format. A changed row cannot be named, because only a hash of the rows was saved.
    """
    found = verified(file, options.judgments(qrels, None, None, groups), runs, **chosen)
    frame = found.to_frame().set_index("item")
    show(frame_text(frame.where(frame.notna(), ""), ["item"], output, places))
    return int(not found.agrees)


@click.command()
@click.argument("measure")
@options.qrels
@options.run
@click.argument("query_id")
@click.option(
    "--against",
    metavar="RUN",
    callback=options.one_run,
    help="Another run, whose ranking is shown beside that of RUN.",
)
@options.ties
@options.of_qrels
@options.narrow_table
def explain(  # noqa: PLR0913, PLR0917  # click passes all options
    measure: str,
    qrels: str,
    run: Any,
    query_id: str,
    against: Any,
    ties: str,
    ranks: str | None,
    intents: str | None,
    nuggets: str | None,
    groups: tuple[str, ...],
    output: str,
    places: int,
) -> None:
    """Explain the score of a topic: what each relevant document adds, and which are missed.

    Prints the relevant documents that RUN retrieved for the topic QUERY_ID, down to the cutoff of MEASURE:
    rank, level, the quantities C, cg, cg* and BR that the measure uses, and the contribution. The
    contributions sum to the score, which is in the last row. Documents above the first relevant one are
    marked as not relevant or unjudged. The best relevant documents that are below the cutoff or not in RUN
    are marked as missed, with their rank in RUN. QRELS and RUN are as in `ir_graded evaluate`.
    With --against, prints the first 20 documents of both runs side by side, judged or not.
    """
    measures = options.read([measure])
    if len(measures) != 1:
        raise click.UsageError(f"{measure!r} names {len(measures)} measures: give one measure")
    judged = options.judgments(qrels, intents, nuggets, groups)
    chosen = in_order(measures, order_of_measures(ties), ranks)
    if ties in ROW_ORDERS:
        run, against = (one and opened("run", one).keeping(ties=ties) for one in (run, against))
    if against is not None:
        compared = compare_rankings(chosen, judged, run, against, query_id)
        show(str(compared) if output == "table" else _ranking_text(compared, output, places))
        return
    found = explained(chosen[0], judged, run, query_id)
    if output == "jsonl":
        rows = _records(found.to_frame())
        last = {"measure": str(found.measure), "run": found.run, "query_id": str(found.query_id)}
        rows.append({**last, "score": found.score, "notes": " ".join(found.notes)})
        show("\n".join(json_line(row, places) for row in rows))
    elif output == "table":
        show(found.text(places))
    else:
        head, cells = found.cells(places, complete=FORMATS[output].exact)
        texts = head.index("doc_id") + 1  # left-aligned
        values: list[tuple[list[str], list[Any]]] = [(row[:texts], row[texts:]) for row in cells]
        show(written(TextTable(head[:texts], head[texts:], values), output, places))


def _ranking_text(compared: RankingComparison, output: str, places: int) -> str:
    frame, labels = compared.to_frame(), ["run", "rank", "doc_id", "level", "other_rank"]
    if output == "jsonl":
        return "\n".join(json_line(row, places) for row in _records(frame))
    known = {name: frame[name].map("{:g}".format, na_action="ignore").astype(object) for name in labels[3:]}
    frame = frame.assign(**{name: values.where(values.notna(), "") for name, values in known.items()})
    return frame_text(frame.set_index(labels), labels, output, places)


def _records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows, with None where a value is missing."""
    rows: list[dict[Any, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


_TASKS = ("focused", "relevant-in-context", "best-in-context")


@click.group()
def passages() -> None:
    """Check passages of runs, such as for overlaps."""


@passages.command()
@click.argument("run", type=click.Path())
@click.option("--task", type=click.Choice(_TASKS), required=True, help="Task whose rules apply.")
@options.lengths
def check(run: str, task: str, lengths: str | None) -> int:
    """List rows of RUN that break the rules of a task. The exit code is 1 if there are any."""
    from ir_graded.passages import check_submission

    found = check_submission(run, task, lengths)
    if len(found):
        show(found.to_string(index=False))
    return int(len(found) > 0)
