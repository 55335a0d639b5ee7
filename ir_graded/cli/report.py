"""``ir_graded report``: an HTML report on several runs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from ir_graded.plots.scores import report_figures
from ir_graded.plots.style import plural
from ir_graded.reporting.contents import Contents
from ir_graded.reporting.page import report as of_report, write_report

from . import options
from .output import show
from .sources import prepare_folder, write_figures

if TYPE_CHECKING:
    from ir_graded.plots.style import Figure


@click.command()
@options.qrels
@options.runs
@options.measures
@click.option("--baseline", metavar="RUN", help="Run to test the others against: its name or file.")
@options.of(of_report)
@options.of_qrels
@options.weights
@options.clusters
@click.option("--title", default="", help="Heading of the page.")
@click.option(
    "--queries", metavar="FILE|ID", help="Texts of the topics: lines of topic, tab and text, or a dataset id."
)
@click.option("--documents", metavar="FILE|ID", help="Texts of documents, likewise.")
@click.option("--figures", metavar="FOLDER", help="Folder in which to write the figures as PDF and SVG.")
@click.option(
    "--html", "path", required=True, type=options.Written(), metavar="FILE", help="HTML file to write."
)
@options.quiet
def report(  # noqa: PLR0913, PLR0917  # click passes all options
    qrels: str,
    runs: Any,
    measures: tuple[str, ...],
    path: str,
    figures: str | None,
    intents: str | None,
    nuggets: str | None,
    groups: tuple[str, ...],
    **chosen: Any,
) -> None:
    """Write an HTML report on RUNs: leaderboard, topics, figures.

    QRELS and RUNs are as in `ir_graded evaluate`. Means have confidence intervals. With a --baseline
    each run is tested against it (--test, --correction; alpha is 1 - confidence). The page works
    offline and describes how each number was computed.
    """
    options.check_written()
    prepare_folder(figures, "--figures")
    context = click.get_current_context()
    command = ["ir_graded", "report", qrels, *options.runs_as_typed()]
    for option in context.command.params[2:]:
        value = context.params.get(str(option.name))
        if isinstance(value, bool):  # of a flag
            command += [option.opts[0]] * value
            continue
        values = value if isinstance(value, tuple) else [] if value in {None, ""} else [value]
        command += [word for one in values for word in (option.opts[0], str(one))]
    judged = options.judgments(qrels, intents, nuggets, groups)
    read = options.read(measures)
    contents = write_report(read, judged, runs, path, **chosen, command=shlex.join(command))
    if figures is not None:
        write_figures(_drawn(contents), figures, ("pdf", "svg"))
    # Also where standard error is a file, in which there is no progress bar.
    done = f"{plural(len(contents.scores.runs), 'run')}, {plural(len(contents.scores.query_ids), 'topic')}"
    click.echo(f"ir_graded: wrote {done}", err=True)
    show(path)


def _drawn(contents: Contents) -> dict[str, Figure]:
    """Return the figures of the report by names for files."""
    pairs = [contents.compared_runs(at) for at in range(len(contents.intervals.measures))]
    more = {"ranks": contents.ranks, "unjudged": contents.unjudged}
    return report_figures(contents.scores, contents.intervals, pairs, more)
