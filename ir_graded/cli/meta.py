"""``ir_graded meta``: which measure can tell these runs apart?"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_graded._utils.atomic_files import check_writable, write_whole
from ir_graded.errors import InputError
from ir_graded.evaluation.evaluate import evaluate

from . import options
from .output import FORMATS, Leaderboard, show

if TYPE_CHECKING:
    from ir_graded.evaluation.scores import Scores
    from ir_graded.meta import Comparison
    from ir_graded.meta.matrix import ScoreMatrix
    from ir_graded.plots.style import Figure

_TESTS = ("bootstrap", "t", "randomisation", "tukey_hsd")


@click.command()
@options.optional_qrels
@click.argument("runs", nargs=-1, metavar="RUN...")
@options.optional_measures
@options.provider
@click.option(
    "--matrix", "matrices", multiple=True, metavar="FILE", help="A ready score matrix (CSV). May repeat."
)
@click.option("--topic-column", metavar="NAME", help="The column of each --matrix that holds the topics.")
@click.option(
    "--reference", metavar="MEASURE", help="Measure to correlate the others with; by default the first."
)
@click.option(
    "--test", type=click.Choice(_TESTS), default="bootstrap", show_default=True, help="Significance test."
)
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True
)
@options.resamples
@click.option(
    "--one-run-per-team",
    "teams",
    metavar="FILE",
    help="Keep one run of each team, drawn by the seed. FILE: a CSV with the columns run (or tag) and team.",
)
@click.option("--plot", "folder", metavar="DIR", help="Write the figures there, as PNG and PDF.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@options.output
@options.places
@options.quiet
def meta(  # noqa: PLR0913, PLR0917  # one parameter an option
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    provider: str,
    matrices: tuple[str, ...],
    topic_column: str | None,
    reference: str | None,
    test: str,
    alpha: float,
    resamples: int,
    teams: str | None,
    folder: str | None,
    seed: int,
    output: str,
    places: int,
) -> None:
    """Compare measures: discriminative power, stability, swap method, rank correlation.

    Either QRELS, RUNs and measures (-m), or ready score matrices: --matrix FILE for each measure, named as
    the measure; a CSV with a row per topic and a column per system. A column named topic, topic_id, query,
    query_id, qid or num (in any case) holds the topics, or a first column without a name, or --topic-column;
    without one they are numbered.
    """
    from ir_graded.meta import compare
    from ir_graded.meta.matrix import matrices_by_measure

    from .csv_files import read_matrices

    if bool(matrices) == bool(qrels):
        raise click.UsageError("give either QRELS, RUNs and -m, or --matrix FILE for each measure")
    if matrices and measures:
        raise click.UsageError("-m goes with QRELS and RUNs: the measure of a --matrix is its file's name")
    if topic_column is not None and not matrices:
        raise click.UsageError("--topic-column goes with --matrix")
    if folder is not None:
        _prepare(folder)
    given = (
        read_matrices(matrices, topic_column)
        if matrices
        else _evaluated(str(qrels), runs, measures, provider)
    )
    scores = matrices_by_measure(given)
    if teams is not None:
        scores = _one_run_per_team(scores, teams, seed)
    if reference is not None and not matrices:
        reference = _printed(reference, scores)
    comparison = compare(scores, reference=reference, test=test, alpha=alpha, n_resamples=resamples, rng=seed)
    table = comparison.to_frame()
    rows = [([str(name)], row.tolist()) for name, row in table.iterrows()]
    show(FORMATS[output](Leaderboard(["measure"], list(table.columns), rows, "statistic"), places))
    if folder is not None:
        _write_figures(comparison, Path(folder))


def _evaluated(qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], provider: str) -> Scores:
    if not runs or not measures:
        raise click.UsageError('give at least two RUNs, and measures: -m "Q P-measure nDCG@10 AP"')
    return evaluate(options.read(measures), qrels, list(runs), provider=provider)


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


def _printed(reference: str, scores: dict[str, ScoreMatrix]) -> str:
    """The reference's printed name, as the matrices bear it."""
    if reference in scores:
        return reference
    from ir_graded.measures.parsing import parse_measure

    return str(parse_measure(reference))


def _prepare(folder: str) -> None:
    """Make the folder for the figures, before any work. Raises an error where they cannot be drawn there."""
    from ir_graded.plots import style

    style.matplotlib()
    if not folder:
        raise click.BadParameter("expected the name of a folder, found ''", param_hint="--plot")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise click.BadParameter(f"{folder} is a file or lies in one", param_hint="--plot") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise click.BadParameter(f"the folder {folder} is not writable", param_hint="--plot")


def _write_figures(comparison: Comparison, folder: Path) -> None:
    """Draw all figures, then write each as a whole: one that cannot be drawn leaves the old ones."""
    from ir_graded.plots.meta import asl_curve, stability_curves, swap_curves

    figures = {
        "asl_curve": asl_curve(comparison.power),
        "stability": stability_curves(comparison.stability),
        "swap": swap_curves(comparison.swap),
        "tau": comparison.correlations.plot(),
    }
    drawn = {
        check_writable(folder / f"{name}.{ending}"): _drawn(figure, ending)
        for name, figure in figures.items()
        for ending in ("png", "pdf")
    }
    for place, content in drawn.items():
        write_whole(place, content)


def _drawn(figure: Figure, ending: str) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=ending, bbox_inches="tight", dpi=200)
    return content.getvalue()
