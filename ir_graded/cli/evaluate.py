"""Commands that score runs: ``evaluate``, ``explain``, ``demo``, and ``passages`` for checks of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click
from ir_measures.measures import Measure

from ir_graded.data.sample import sample
from ir_graded.evaluation.evaluate import BEYOND, evaluate as evaluate_runs, in_order
from ir_graded.evaluation.explain import Explanation, explain as explained
from ir_graded.evaluation.scores import Scores

from . import options
from .output import FORMATS, Leaderboard, More, json_line, show


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@options.provider
@click.option(
    "--unjudged",
    type=click.Choice(["bounds", "intervals"]),
    help="Show how far unjudged documents could change each score: exact bounds, or intervals from imputed "
    "judgments.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    help="Rank down to which --unjudged intervals imputes; by default the largest cutoff.",
)
@click.option(
    "--n-samples",
    type=click.IntRange(1, 1_000_000),
    help="Number of samples of the judgments for --unjudged intervals, by default 1000.",
)
@click.option("--seed", "rng", type=click.IntRange(0), help="Seed of these samples, by default 0.")
@options.ties
@options.intents
@options.groups
@options.lengths
@click.option(
    "--beyond",
    type=click.Choice(BEYOND),
    default="keep",
    show_default=True,
    help="With --lengths: keep passages that end after the end of their document, or raise an error.",
)
@options.by_topic
@options.output
@options.places
@options.quiet
def evaluate(  # noqa: PLR0913, PLR0917  # click passes all options
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    provider: str,
    unjudged: str | None,
    depth: int | None,
    n_samples: int | None,
    rng: int | None,
    ties: str,
    intents: str | None,
    groups: tuple[str, ...],
    lengths: str | None,
    beyond: str,
    by_topic: bool,
    output: str,
    places: int,
) -> None:
    """Score RUNs against QRELS, best first.

    QRELS is a file (TREC or NTCIR format) or a dataset id of ir_datasets. A RUN is a TREC run file or the id
    of a dataset with scoreddocs. Files may be compressed (gzip, zstandard, xz). Measures are those of this
    package (see `ir_graded measures`), those of ir-measures, and the names of trec_eval.
    """
    read, more = options.read(measures), None
    if unjudged and (provider != "auto" or ties != "doc_id" or intents or groups or lengths):
        raise click.UsageError(
            "--unjudged supports only measures of documents, computed by this package with ties by doc_id: "
            "leave out --provider, --ties, --intents, --groups and --lengths"
        )
    if beyond == "raise" and lengths is None:
        raise click.UsageError("--beyond raise needs --lengths")
    of_samples = {"depth": depth, "n_samples": n_samples, "seed": rng}
    given = {name: value for name, value in of_samples.items() if value is not None}
    if given and unjudged != "intervals":
        raise click.UsageError(f"--{next(iter(given)).replace('_', '-')} needs --unjudged intervals")
    if unjudged == "bounds":
        scores, more = _bounds(read, qrels, runs)
    elif unjudged == "intervals":
        scores, more = _intervals(read, qrels, runs, **given)
    else:
        judged = options.judgments(qrels, intents, groups)
        scores = evaluate_runs(
            read, judged, list(runs), provider=provider, ties=ties, lengths=lengths, beyond=beyond
        )
    show(FORMATS[output](Leaderboard.of(scores, by_topic, more), places))


def _bounds(measures: list[Measure], qrels: str, runs: tuple[str, ...]) -> tuple[Scores, Mapping[str, More]]:
    from ir_graded.evaluation.unjudged import score_bounds

    found = score_bounds(measures, qrels, list(runs))
    return found.scores, {"upper": (found.upper, found.scores.aggregates_of(found.upper))}


def _intervals(
    measures: list[Measure],
    qrels: str,
    runs: tuple[str, ...],
    depth: int | None = None,
    n_samples: int = 1000,
    seed: int = 0,
) -> tuple[Scores, Mapping[str, More]]:
    from ir_graded.evaluation.score_intervals import score_intervals

    found = score_intervals(measures, qrels, list(runs), depth=depth, n_samples=n_samples, rng=seed)
    mean, low, high = found.overall.swapaxes(1, 2)
    return found.scores, {
        "mean": (found.mean_score, mean),
        "low": (found.low, low),
        "high": (found.high, high),
    }


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
    rows: list[dict[Any, Any]] = found.to_frame().to_dict("records")
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
