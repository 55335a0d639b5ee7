"""``ir_graded statistics``: numbers of judged and relevant documents."""

from __future__ import annotations

import click

from . import options
from .output import frame_text, show


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option("--rel", type=float, default=1, show_default=True, help="Lowest relevant level.")
@options.output
@options.places
def statistics(qrels: str, runs: tuple[str, ...], rel: float, output: str, places: int) -> None:
    """Print how many documents per topic of QRELS are judged and relevant, and the depths of RUNs.

    The row N counts judged documents that are not relevant, R relevant documents; a row per relevant level
    follows. The columns are the mean and range over topics, and the number of topics with such documents.
    """
    from ir_graded.evaluation.collection_statistics import collection_statistics

    table = collection_statistics(qrels, list(runs) or None, rel=rel).to_frame()
    show(frame_text(table, ["documents"], output, places))
