"""``ir_graded report``: an HTML report on several runs."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ir_graded.reporting.page import report as page, write_report

from . import options
from .output import show


@click.command()
@options.qrels
@options.runs
@options.measures
@click.option("--baseline", metavar="RUN", help="Run to test the others against: its name or file.")
@options.of(page)
@options.intents
@options.nuggets
@options.groups
@click.option("--weights", metavar="FILE", help="Weights of topics: lines of topic and weight.")
@click.option("--title", default="", help="Heading of the page.")
@click.option("--html", "path", required=True, metavar="FILE", help="HTML file to write.")
@options.quiet
def report(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    path: str,
    intents: str | None,
    nuggets: str | None,
    groups: tuple[str, ...],
    **chosen: Any,
) -> None:
    """Write an HTML report on RUNs: leaderboard, topics, figures.

    QRELS and RUNs are as in `ir_graded evaluate`. Means have bootstrap confidence intervals. With a
    --baseline each run is tested against it (--test, --correction; alpha is 1 - confidence). The page
    works offline and describes how each number was computed.
    """
    context = click.get_current_context()
    command = ["ir_graded", "report", qrels, *runs]
    for option in context.command.params[2:]:
        value = context.params.get(str(option.name))
        values = value if isinstance(value, tuple) else [] if value in {None, ""} else [value]
        command += [word for one in values for word in (option.opts[0], str(one))]
    judged = options.judgments(qrels, intents, nuggets, groups)
    write_report(options.read(measures), judged, list(runs), path, **chosen, command=shlex.join(command))
    show(path)
