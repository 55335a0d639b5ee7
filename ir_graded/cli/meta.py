"""``ir_graded meta``: compare measures by how well they distinguish runs."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import click

from ir_graded.errors import CoverageWarning, InputError

from . import options, score_sources
from .output import frame_text, show


@click.command()
@score_sources.source
@click.option(
    "--reference", metavar="MEASURE", help="Measure to correlate the others with; by default the first."
)
@score_sources.test
@score_sources.alpha
@options.resamples()
@click.option(
    "--one-run-per-team",
    "teams",
    metavar="FILE",
    help="Keep one random run of each team. FILE: a CSV with the columns run (or tag) and team.",
)
@click.option("--top", type=click.IntRange(2), help="Keep this many of the best runs by a measure (--by).")
@click.option("--by", metavar="MEASURE", help="Measure of --top; by default the first.")
@click.option("--drop-identical", is_flag=True, help="Of runs with the same scores, keep one.")
@click.option(
    "--fuzziness",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.05,
    show_default=True,
    help="Fuzziness of the minority rate and the proportion of ties.",
)
@click.option(
    "--resample",
    type=click.Choice(["bootstrap", "disjoint"]),
    default="bootstrap",
    show_default=True,
    help="How the swap method draws topic sets.",
)
@click.option(
    "--max-rate", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Tolerated swap rate."
)
@score_sources.folder
@score_sources.seed
@options.output
@options.places
@options.quiet
def meta(  # noqa: PLR0913, PLR0917  # one parameter an option
    reference: str | None,
    test: str,
    alpha: float,
    resamples: int,
    teams: str | None,
    folder: str | None,
    seed: int,
    top: int | None,
    by: str | None,
    drop_identical: bool,
    fuzziness: float,
    resample: Literal["bootstrap", "disjoint"],
    max_rate: float,
    output: str,
    places: int,
    **source: Any,
) -> None:
    """Compare measures: discriminative power, stability, swap method, rank correlation.

    Give either QRELS, RUNs and measures (-m), or score matrices: --matrix FILE for each measure. FILE is a
    CSV named after the measure, with a row per topic and a column per system. Topics are in the
    --topic-column, in a column named topic, topic_id, query, query_id, qid or num (in any case), or in a
    first column without a name. Without such a column they are numbered.
    """
    from ir_graded import meta as statistics
    from ir_graded.plots.meta import asl_curve, stability_curves, swap_curves

    from .csv_files import read_teams

    score_sources.prepare_folder(folder)
    if by is not None and top is None:
        raise click.UsageError("--by goes with --top")
    scores: dict[str, Any] = {**score_sources.score_matrices(**source)}
    if drop_identical:
        scores, dropped = statistics.drop_identical(scores)
        for run, other in dropped.items():
            warnings.warn(
                f"run {run!r} has the same scores as {other!r} and is left out", CoverageWarning, stacklevel=1
            )
    if top is not None:
        measure = next(iter(scores)) if by is None else by
        scores = statistics.top(
            scores, top, score_sources.printed_name(measure, scores, bool(source["matrices"]))
        )
    if teams is not None:
        try:
            scores = dict(statistics.one_per_team(scores, read_teams(teams), seed))
        except InputError as error:
            raise InputError(f"{teams}: {error}") from None
    if reference is not None:
        reference = score_sources.printed_name(reference, scores, bool(source["matrices"]))
    comparison = statistics.compare(
        scores,
        reference=reference,
        test=test,
        alpha=alpha,
        fuzziness=fuzziness,
        resample=resample,
        max_rate=max_rate,
        n_resamples=resamples,
        rng=seed,
    )
    table = comparison.to_frame()
    show(frame_text(table, ["measure"], output, places))
    if folder is not None:
        figures = {
            "asl_curve": asl_curve(comparison.power),
            "stability": stability_curves(comparison.stability),
            "swap": swap_curves(comparison.swap),
            "tau": comparison.correlations.plot(),
        }
        score_sources.write_figures(figures, folder)
