"""``ir_graded demo``: a leaderboard of the sample data of the package."""

from __future__ import annotations

import click

from ir_graded.data.sample import sample
from ir_graded.evaluation.evaluate import evaluate

from .output import FORMATS, Leaderboard, show

MEASURES = ["P-measure", "Q", "NCU(stop='rb')", "nERR@10", "nDCG@10", "AP"]


@click.command()
def demo() -> None:
    """Evaluate real runs (TREC-COVID round 1) that come with the package, without network access."""
    covid = sample()
    topics = covid.qrels["query_id"].nunique()
    show(f"TREC-COVID round 1: {len(covid.runs)} runs, {topics} topics, graded qrels\n")
    scores = evaluate(MEASURES, covid.qrels, covid.runs)
    show(FORMATS["table"](Leaderboard.of(scores, by_topic=False), 4))
