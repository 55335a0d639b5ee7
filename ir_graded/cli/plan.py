"""``ir_graded plan``: number of topics that a comparison needs."""

from __future__ import annotations

import warnings
from typing import Any

import click

from ir_graded.errors import CoverageWarning

from . import options, score_sources
from .output import FORMATS, Leaderboard, show

_COLUMNS = ["variance", "n_topics", "power", "present", "power_at_present", "detectable"]


@click.command()
@score_sources.source
@click.option(
    "--difference",
    type=options.InUnits(0, min_open=True),
    required=True,
    help="Difference of means to detect; for an interval, its largest width.",
)
@click.option(
    "--test", type=click.Choice(["t", "anova", "interval"]), default="t", show_default=True, help="Test."
)
@click.option("--model", type=click.Choice(["two-way", "one-way"]), help="Model of the variance.")
@click.option("--unpaired", is_flag=True, help="With --test t: each system has different topics.")
@click.option(
    "--systems", type=click.IntRange(2), default=2, show_default=True, help="Number of systems of an anova."
)
@score_sources.alpha
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Probability of detecting the difference.",
)
@score_sources.folder
@options.output
@options.places
@options.quiet
def plan(  # one parameter an option
    difference: float,
    test: str,
    unpaired: bool,
    folder: str | None,
    output: str,
    places: int,
    **given: Any,
) -> None:
    """Compute how many topics detect a difference of means, given the variance of some scores.

    QRELS, RUNs and measures (-m) or matrices are as in `ir_graded meta`. Prints a row per measure: the
    variance, the number of topics needed with its power (for an interval, its expected width), and for the
    present number of topics the power and the smallest detectable difference (or the width).
    """
    from ir_graded.meta import topic_set_size
    from ir_graded.plots.meta import topic_set_sizes

    score_sources.prepare_folder(folder)
    options_of_design = {name: given.pop(name) for name in ("model", "systems", "alpha", "power")}
    options_of_design |= {"test": test, "paired": not unpaired}
    matrices = score_sources.score_matrices(**given)
    found = {
        name: topic_set_size(matrix, difference, **options_of_design) for name, matrix in matrices.items()
    }
    for name, matrix in matrices.items():
        low, high = matrix.values.min(), matrix.values.max()
        if difference >= high - low:
            warnings.warn(
                f"difference={difference:g} is at least the range of all scores of {name}, {low:g} to "
                f"{high:g}; give it in units of the measure, for example 0.05",
                CoverageWarning,
                stacklevel=1,
            )
    rows: list[tuple[list[str], list[Any]]] = []
    for name, size in found.items():
        design, present = size.design, int(size.present or 0)
        now = [present, design.value_at(present, difference), design.detectable(present)]
        rows.append(([name], [design.variance, size.n_topics, size.value, *now]))
    columns = [column.replace("power", "width" if test == "interval" else "power") for column in _COLUMNS]
    show(FORMATS[output](Leaderboard(["measure"], columns, rows, "statistic"), places))
    if folder is not None:
        score_sources.write_figures({"topic_set_size": topic_set_sizes(found)}, folder)
