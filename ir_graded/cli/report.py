"""``ir_graded report``: an HTML report on several runs."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ir_graded import meta as statistics_of

from . import options
from .output import show


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@click.option("--html", "path", required=True, metavar="FILE", help="HTML file to write.")
@click.option("--baseline", metavar="RUN", help="Run to test the others against: its name or file.")
@options.of(statistics_of.confidence_intervals)
@options.of(statistics_of.against_baseline, "alpha", "n_resamples", "rng")
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
    title: str,
    intents: str | None,
    groups: tuple[str, ...],
    **chosen: Any,
) -> None:
    """Write an HTML report on RUNs: leaderboard, topics, figures.

    QRELS and RUNs are as in `ir_graded evaluate`. Means have bootstrap confidence intervals. With a
    --baseline each run is tested against it (--test, Holm's correction, alpha is 1 - confidence). The page
    works offline and describes how each number was computed.
    """
    from ir_graded.reporting import write_report

    given = ["ir_graded", "report", qrels, *runs, *(word for text in measures for word in ("-m", text))]
    if baseline is not None:
        given += ["--baseline", baseline]
    given += [] if intents is None else ["--intents", intents]
    given += [word for text in groups for word in ("--groups", text)]
    for option in click.get_current_context().command.params:
        if (value := chosen.get(str(option.name))) is not None:
            given += [option.opts[0], str(value)]
    given += [*(["--title", title] if title else []), "--html", path]
    write_report(
        options.read(measures),
        options.judgments(qrels, intents, groups),
        list(runs),
        path,
        baseline=baseline,
        title=title,
        **chosen,
        command=shlex.join(given),
    )
    show(path)
