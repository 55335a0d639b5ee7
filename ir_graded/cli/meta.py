"""``ir_graded meta``: which measure can tell these runs apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ir_graded.errors import InputError

from . import options, score_sources
from .output import FORMATS, Leaderboard, show

if TYPE_CHECKING:
    from ir_graded.meta.matrix import ScoreMatrix


@click.command()
@score_sources.source
@click.option(
    "--reference", metavar="MEASURE", help="Measure to correlate the others with; by default the first."
)
@score_sources.test
@score_sources.alpha
@options.resamples
@click.option(
    "--one-run-per-team",
    "teams",
    metavar="FILE",
    help="Keep one run of each team, drawn by the seed. FILE: a CSV with the columns run (or tag) and team.",
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
    output: str,
    places: int,
    **source: Any,
) -> None:
    """Compare measures: discriminative power, stability, swap method, rank correlation.

    Either QRELS, RUNs and measures (-m), or ready score matrices: --matrix FILE for each measure, named as
    the measure; a CSV with a row per topic and a column per system. A column named topic, topic_id, query,
    query_id, qid or num (in any case) holds the topics, or a first column without a name, or --topic-column;
    without one they are numbered.
    """
    from ir_graded.meta import compare
    from ir_graded.plots.meta import asl_curve, stability_curves, swap_curves

    score_sources.prepare_folder(folder)
    scores = score_sources.score_matrices(**source)
    if teams is not None:
        scores = _one_run_per_team(scores, teams, seed)
    if reference is not None:
        reference = score_sources.printed_name(reference, scores, bool(source["matrices"]))
    comparison = compare(scores, reference=reference, test=test, alpha=alpha, n_resamples=resamples, rng=seed)
    table = comparison.to_frame()
    rows = [([str(name)], row.tolist()) for name, row in table.iterrows()]
    show(FORMATS[output](Leaderboard(["measure"], list(table.columns), rows, "statistic"), places))
    if folder is not None:
        figures = {
            "asl_curve": asl_curve(comparison.power),
            "stability": stability_curves(comparison.stability),
            "swap": swap_curves(comparison.swap),
            "tau": comparison.correlations.plot(),
        }
        score_sources.write_figures(figures, folder)


def _one_run_per_team(scores: dict[str, ScoreMatrix], path: str, seed: int) -> dict[str, ScoreMatrix]:
    """The matrices with one run of each team, drawn at random as Sakai and Robertson did."""
    import numpy as np

    from .csv_files import read_teams

    team_of = read_teams(path)
    runs = [str(run) for run in next(iter(scores.values())).systems]
    unknown = [run for run in runs if run not in team_of]
    if unknown:
        raise InputError(f"{path}: names no team of run {unknown[0]!r}")
    members: dict[str, list[str]] = {}
    for run in sorted(runs):
        members.setdefault(team_of[run], []).append(run)
    rng = np.random.default_rng(seed)
    chosen = [str(rng.choice(members[team])) for team in sorted(members)]
    kept = f"{path}: one run of each team"
    return {name: matrix.of_systems(chosen, kept) for name, matrix in scores.items()}
