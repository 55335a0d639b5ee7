"""``ir_graded evaluate``: a table of runs and measures."""

from __future__ import annotations

import click

from ir_graded.evaluation.evaluate import evaluate as evaluate_runs

from . import options
from .output import FORMATS, Leaderboard, show


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@options.provider
@options.ties
@options.by_topic
@options.output
@options.places
@options.quiet
def evaluate(  # noqa: PLR0913, PLR0917  # click passes all options
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    provider: str,
    ties: str,
    by_topic: bool,
    output: str,
    places: int,
) -> None:
    """Score RUNs against QRELS, best first.

    QRELS is a file (TREC or NTCIR format) or a dataset id of ir_datasets; a RUN is a TREC run file or a
    dataset id with scoreddocs. Files may be compressed (gzip, zstandard, xz). Measures are those of this
    package (see `ir_graded measures`), those of ir-measures and trec_eval's names.
    """
    scores = evaluate_runs(options.read(measures), qrels, list(runs), provider=provider, ties=ties)
    show(FORMATS[output](Leaderboard.of(scores, by_topic), places))
