"""``ir_graded report``: an HTML report on several runs."""

from __future__ import annotations

import shlex

import click

from . import options
from .output import show


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@click.option("--html", "path", required=True, metavar="FILE", help="HTML file to write.")
@click.option("--baseline", metavar="RUN", help="Run to test the others against: its name or file.")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals; the significance level of tests is 1 - confidence.",
)
@options.resamples()
@click.option(
    "--n-samples",
    type=click.IntRange(0, 1_000_000),
    default=0,
    show_default=True,
    help="Number of samples of the judgments for intervals from unjudged documents.",
)
@click.option(
    "--depth", type=click.IntRange(1), help="Rank down to which judgments are imputed for these intervals."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--title", default="", help="Heading of the page.")
@options.intents
@options.groups
@options.quiet
def report(  # noqa: PLR0913, PLR0917  # one parameter an option
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    path: str,
    baseline: str | None,
    confidence: float,
    n_resamples: int,
    n_samples: int,
    depth: int | None,
    seed: int,
    title: str,
    intents: str | None,
    groups: tuple[str, ...],
) -> None:
    """Write an HTML report on RUNs: leaderboard, topics, figures.

    QRELS and RUNs are as in `ir_graded evaluate`. Means have bootstrap confidence intervals. With a
    --baseline each run is tested against it (randomisation test, Holm's correction). The page works offline
    and describes how each number was computed.
    """
    from ir_graded.reporting import write_report

    given = ["ir_graded", "report", qrels, *runs, *(word for text in measures for word in ("-m", text))]
    if baseline is not None:
        given += ["--baseline", baseline]
    given += ["--confidence", repr(confidence), "-B", str(n_resamples), "--n-samples", str(n_samples)]
    given += [] if intents is None else ["--intents", intents]
    given += [word for text in groups for word in ("--groups", text)]
    given += [*(["--depth", str(depth)] if depth else []), "--seed", str(seed)]
    given += [*(["--title", title] if title else []), "--html", path]
    write_report(
        options.read(measures),
        options.judgments(qrels, intents, groups),
        list(runs),
        path,
        baseline=baseline,
        confidence=confidence,
        n_resamples=n_resamples,
        n_samples=n_samples,
        depth=depth,
        rng=seed,
        title=title,
        command=shlex.join(given),
    )
    show(path)
