"""``ir_graded evaluate``: a table of runs and measures."""

from __future__ import annotations

from collections.abc import Mapping

import click
from ir_measures.measures import Measure

from ir_graded.evaluation.evaluate import evaluate as evaluate_runs
from ir_graded.evaluation.scores import Scores
from ir_graded.io.lengths import BEYOND

from . import options
from .output import FORMATS, Leaderboard, More, show


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
    "--samples",
    type=click.IntRange(1, 1_000_000),
    help="Number of samples of the judgments for --unjudged intervals, by default 1000.",
)
@click.option("--seed", type=click.IntRange(0), help="Seed of these samples, by default 0.")
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
    samples: int | None,
    seed: int | None,
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
    of_samples = {"depth": depth, "samples": samples, "seed": seed}
    given = {name: value for name, value in of_samples.items() if value is not None}
    if given and unjudged != "intervals":
        raise click.UsageError(f"--{next(iter(given))} needs --unjudged intervals")
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
    from ir_graded.evaluation.score_bounds import score_bounds

    found = score_bounds(measures, qrels, list(runs))
    return found.scores, {"upper": (found.upper, found.scores.aggregates_of(found.upper))}


def _intervals(
    measures: list[Measure],
    qrels: str,
    runs: tuple[str, ...],
    depth: int | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> tuple[Scores, Mapping[str, More]]:
    from ir_graded.evaluation.score_intervals import score_intervals

    found = score_intervals(measures, qrels, list(runs), depth=depth, n_samples=samples, rng=seed)
    mean, low, high = found.overall.swapaxes(1, 2)
    return found.scores, {
        "mean": (found.mean_score, mean),
        "low": (found.low, low),
        "high": (found.high, high),
    }
