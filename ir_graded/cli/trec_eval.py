"""``ir_graded trec_eval``: the output of trec_eval 10 for TREC files."""

from __future__ import annotations

from typing import Any

import click

from ir_graded.io.paths import standard_input

from . import options
from .output import show


@click.command("trec_eval")
@options.qrels
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-m", "names", multiple=True, metavar="NAME", help="Measure or set of measures. Repeatable.")
@click.option("-q", "by_topic", is_flag=True, help="Print each topic, then the values over all topics.")
@click.option("-n", "no_summary", is_flag=True, help="Do not print the values over all topics.")
@click.option("-c", "complete", is_flag=True, help="Count all topics of QRELS, also those that a RUN lacks.")
@click.option(
    "-l",
    "rel",
    type=click.IntRange(0, 2**31 - 1),
    default=1,
    show_default=True,
    help="Lowest relevant level.",
)
@click.option("-J", "judged_only", is_flag=True, help="Drop documents without a level >= 0.")
@click.option(
    "-M", "depth", type=click.IntRange(0, 2**31), default=2**31, help="Keep this many documents per topic."
)
@click.option(
    "-N", "documents", type=click.IntRange(0, 2**53), default=0, help="Size of the collection, for utility."
)
@options.quiet
def trec_eval(
    qrels: str, runs: tuple[str, ...], names: tuple[str, ...], by_topic: bool, no_summary: bool, **chosen: Any
) -> None:
    """Print what trec_eval 10 prints, for each RUN.

    QRELS and RUNs are TREC files, plain or compressed, or - for standard input; lines that begin with # are
    skipped. Documents are ranked by score in double precision, then by id descending.

    NAME is a measure of trec_eval (ndcg), a measure with parameters (P.5,10 or ndcg.1=3,2=9), official
    (default), set or all_trec. Not available are prefs_*, *_avgjg, and the options -Z, -T and -R.
    """
    from ir_graded.analyses.trec_eval import Options, measures_of, ranked_lists

    measures = measures_of(names or ["official"])
    lists = ranked_lists(qrels, [str(standard_input(run)) for run in runs], Options(**chosen))
    lines = [line for one in lists for line in one.lines(measures, by_topic, not no_summary)]
    if lines:
        show("\n".join(lines))
