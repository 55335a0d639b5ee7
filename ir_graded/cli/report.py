"""``ir_graded report``: one HTML page on several runs."""

from __future__ import annotations

import shlex

import click

from . import options
from .output import show


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@click.option("--html", "path", required=True, metavar="FILE", help="The page to write.")
@click.option("--baseline", metavar="RUN", help="Test the other runs against this one, by its name or file.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the confidence intervals; tests are at 1 - level.",
)
@options.resamples
@click.option(
    "--samples",
    type=click.IntRange(0, 1_000_000),
    default=0,
    show_default=True,
    help="Samples of the judgments, for intervals from unjudged documents.",
)
@click.option("--depth", type=click.IntRange(1), help="Rank down to which these impute judgments.")
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
    level: float,
    resamples: int,
    samples: int,
    depth: int | None,
    seed: int,
    title: str,
    intents: str | None,
    groups: tuple[str, ...],
) -> None:
    """Write one HTML page on RUNs: leaderboard, topics, pictures.

    QRELS and RUNs are as in `ir_graded evaluate`. Means come with bootstrap confidence intervals; with a
    --baseline each run is tested against it (randomisation test, Holm's correction). The page needs no
    network, and says how each of its figures was computed.
    """
    from ir_graded.reporting import write_report

    given = ["ir_graded", "report", qrels, *runs, *(word for text in measures for word in ("-m", text))]
    if baseline is not None:
        given += ["--baseline", baseline]
    given += ["--level", repr(level), "-B", str(resamples), "--samples", str(samples)]
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
        level=level,
        n_resamples=resamples,
        n_samples=samples,
        depth=depth,
        seed=seed,
        title=title,
        command=shlex.join(given),
    )
    show(path)
