"""``ir_graded statistics``: how many documents are judged and relevant."""

from __future__ import annotations

import click

from . import options
from .output import frame_text, show


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option("--rel", type=float, default=1, show_default=True, help="Smallest relevant level.")
@options.output
@options.places
def statistics(qrels: str, runs: tuple[str, ...], rel: float, output: str, places: int) -> None:
    """Print how many documents per topic of QRELS are judged and relevant, and how deep RUNs are.

    N counts judged documents that are not relevant, R relevant ones; then a row per relevant level. Columns:
    mean and range over the topics, and how many topics have such documents.
    """
    from ir_graded.evaluation.collection_statistics import collection_statistics

    table = collection_statistics(qrels, list(runs) or None, rel=rel).to_frame()
    show(frame_text(table, ["documents"], output, places))
