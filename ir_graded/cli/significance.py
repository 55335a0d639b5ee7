"""``ir_graded significance``: test all pairs of runs by one measure."""

from __future__ import annotations

from typing import Any

import click

from . import options, score_sources
from .output import frame_text, show


@click.command()
@score_sources.source
@click.option(
    "--alternative",
    type=click.Choice(["greater", "two-sided"]),
    default="greater",
    show_default=True,
    help="Test whether the better run is better, or whether the two differ.",
)
@click.option(
    "--labels-by", metavar="MEASURE", help="Add the ranks of the runs by this measure, one of -m or --matrix."
)
@score_sources.alpha
@options.resamples()
@score_sources.seed
@score_sources.folder
@options.output
@options.places
@options.quiet
def significance(  # noqa: PLR0913, PLR0917  # one parameter an option
    alternative: str,
    labels_by: str | None,
    alpha: float,
    resamples: int,
    seed: int,
    folder: str | None,
    output: str,
    places: int,
    **source: Any,
) -> None:
    """Test all pairs of runs by the first measure with the paired bootstrap, and print a row per pair.

    QRELS, RUNs and measures (-m) or matrices are as in `ir_graded meta`.
    """
    from ir_graded.meta import significance as test
    from ir_graded.meta.matrix import reference_name

    score_sources.prepare_folder(folder)
    scores = score_sources.score_matrices(**source)
    reference = None
    if labels_by is not None:
        name = score_sources.printed_name(labels_by, scores, bool(source["matrices"]))
        reference = scores[reference_name(name, scores, "measure")]
    found = test(
        next(iter(scores.values())),
        labels_by=reference,
        alternative=alternative,
        alpha=alpha,
        n_resamples=resamples,
        rng=seed,
    )
    table = found.to_frame().astype({"significant": int})
    pair = ["system_a", "system_b"]
    show(frame_text(table.set_index(pair), pair, output, places))
    if folder is not None:
        score_sources.write_figures({"significance": found.plot()}, folder)
