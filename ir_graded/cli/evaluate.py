"""Commands that score runs: ``evaluate``, ``explain``, ``demo``, and ``passages`` for checks of runs."""

from __future__ import annotations

from typing import Any

import click

from ir_graded.data.sample import sample
from ir_graded.evaluation.evaluate import evaluate as evaluate_runs, in_order
from ir_graded.evaluation.explain import explain as explained
from ir_graded.evaluation.score_intervals import score_intervals
from ir_graded.evaluation.unjudged import score_bounds

from . import options
from .output import FORMATS, Leaderboard, More, json_line, show


@click.command()
@options.qrels
@options.runs
@options.measures
@click.option(
    "--unjudged",
    type=click.Choice(["bounds", "intervals"]),
    help="Show how far unjudged documents could change each score: exact bounds, or intervals from imputed "
    "judgments.",
)
@options.of(score_intervals, "confidence")
@options.of(evaluate_runs)
@options.lengths
@options.intents
@options.nuggets
@options.groups
@options.save
@options.by_topic
@options.table
def evaluate(  # noqa: PLR0913, PLR0917  # click passes all options
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    unjudged: str | None,
    depth: int | None,
    n_samples: int,
    rng: int,
    intents: str | None,
    nuggets: str | None,
    groups: tuple[str, ...],
    save: str | None,
    by_topic: bool,
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Score RUNs against QRELS, best first.

    QRELS is a file (TREC or NTCIR format) or a dataset id of ir_datasets. A RUN is a TREC run file or the id
    of a dataset with scoreddocs. Files may be compressed (gzip, zstandard, xz). Measures are those of this
    package (see `ir_graded measures`), those of ir-measures, and the names of trec_eval. --depth, --n-samples
    and --seed are options of --unjudged intervals.
    """
    read, files = options.read(measures), list(runs)
    if unjudged and (
        chosen["ties"] != "doc_id" or chosen["ranks"] or intents or nuggets or groups or chosen["lengths"]
    ):
        raise click.UsageError(
            "--unjudged supports only measures of documents with ties by doc_id: "
            "leave out --ties, --ranks, --intents, --nuggets, --groups and --lengths"
        )
    if chosen["beyond"] == "raise" and chosen["lengths"] is None:
        raise click.UsageError("--beyond raise needs --lengths")
    if unjudged != "intervals" and (given := options.given("depth", "n_samples", "rng")):
        raise click.UsageError(f"{given[0]} needs --unjudged intervals")
    more: dict[str, More] = {}
    if unjudged == "bounds":
        bounds = score_bounds(read, qrels, files)
        scores = bounds.scores
        more["upper"] = (bounds.upper, scores.aggregates_of(bounds.upper))
    elif unjudged == "intervals":
        found = score_intervals(read, qrels, files, depth=depth, n_samples=n_samples, rng=rng)
        scores, overall = found.scores, found.overall.swapaxes(1, 2)
        ends = (found.mean_score, found.low, found.high)
        more |= zip(("mean", "low", "high"), zip(ends, overall, strict=True), strict=True)
    else:
        scores = evaluate_runs(read, options.judgments(qrels, intents, nuggets, groups), files, **chosen)
    options.save_scores(scores, save)
    show(FORMATS[output](Leaderboard.of(scores, by_topic, more), places))


@click.command()
@click.argument("measure")
@options.qrels
@click.argument("run")
@click.argument("query_id")
@options.ties
@options.intents
@options.nuggets
@options.groups
@options.table
def explain(  # noqa: PLR0913, PLR0917  # click passes all options
    measure: str,
    qrels: str,
    run: str,
    query_id: str,
    ties: str,
    ranks: str | None,
    intents: str | None,
    nuggets: str | None,
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
    judged = options.judgments(qrels, intents, nuggets, groups)
    found = explained(in_order(measures, ties, ranks)[0], judged, run, query_id)
    if output == "jsonl":
        rows: list[dict[Any, Any]] = found.to_frame().to_dict("records")
        last = {"measure": str(found.measure), "run": found.run, "query_id": str(found.query_id)}
        rows.append({**last, "score": found.score, "notes": " ".join(found.notes)})
        show("\n".join(json_line(row, places) for row in rows))
    elif output == "table":
        show(found.text(places))
    else:
        head, cells = found.cells(places, complete=output in {"csv", "tsv"})
        texts = head.index("doc_id") + 1  # left-aligned
        values: list[tuple[list[str], list[Any]]] = [(row[:texts], row[texts:]) for row in cells]
        show(FORMATS[output](Leaderboard(head[:texts], head[texts:], values), places))


_TASKS = ("focused", "relevant-in-context", "best-in-context")


@click.group()
def passages() -> None:
    """Check runs with passages."""


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


MEASURES = ["P-measure", "Q", "NCU(stop='rb')", "nERR@10", "nDCG@10", "AP"]


@click.command()
def demo() -> None:
    """Evaluate real runs (TREC-COVID round 1) that come with the package, without network access."""
    covid = sample()
    topics = covid.qrels["query_id"].nunique()
    show(f"TREC-COVID round 1: {len(covid.runs)} runs, {topics} topics, graded qrels\n")
    scores = evaluate_runs(MEASURES, covid.qrels, covid.runs)
    show(FORMATS["table"](Leaderboard.of(scores, by_topic=False), 4))
