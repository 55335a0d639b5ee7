"""``ir_graded meta``: which measure can tell these runs apart?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..evaluation import evaluate
from . import options
from .output import FORMATS, Leaderboard

if TYPE_CHECKING:
    import pandas as pd

    from ..meta import Comparison

_TESTS = ("bootstrap", "t", "randomisation", "tukey_hsd")


@click.command()
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1, metavar="RUN...")
@options.optional_measures
@click.option(
    "--matrix", "matrices", multiple=True, metavar="FILE", help="A ready score matrix (CSV). May repeat."
)
@click.option(
    "--reference", metavar="MEASURE", help="Measure to correlate the others with; by default the first."
)
@click.option(
    "--test", type=click.Choice(_TESTS), default="bootstrap", show_default=True, help="Significance test."
)
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True
)
@click.option(
    "-B", "--resamples", type=click.IntRange(1), default=1000, show_default=True, help="Replicates."
)
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
def meta(  # noqa: PLR0913, PLR0917  # one parameter an option
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    matrices: tuple[str, ...],
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

    Either QRELS, RUNs and measures (-m), or ready score matrices: --matrix FILE for each measure, a CSV with
    a row per topic and a column per system; a first column named topic, query_id or nothing names the topics.
    """
    from ..meta import compare

    if bool(matrices) == bool(qrels):
        raise click.UsageError("give either QRELS, RUNs and -m, or --matrix FILE for each measure")
    scores = _read_matrices(matrices) if matrices else _evaluated(str(qrels), runs, measures)
    if teams is not None:
        scores = _one_run_per_team(scores, teams, seed)
    reference = None if reference is None else _printed(reference, scores)
    comparison = compare(scores, reference=reference, test=test, alpha=alpha, n_resamples=resamples, rng=seed)
    if folder is not None:
        _write_figures(comparison, Path(folder))
    table = comparison.to_frame()
    rows = [([str(name)], row.tolist()) for name, row in table.iterrows()]
    click.echo(FORMATS[output](Leaderboard(["measure"], list(table.columns), rows), places))


def _evaluated(qrels: str, runs: tuple[str, ...], measures: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    if not runs or not measures:
        raise click.UsageError('give at least two RUNs, and measures: -m "Q P-measure nDCG@10 AP"')
    scores = evaluate(options.read(measures), qrels, list(runs))
    return {name: scores.matrix(name) for name in scores.names}


def _read_matrices(paths: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    import pandas as pd

    matrices = {}
    for path in paths:
        name = Path(path).stem
        if name in matrices:
            raise InputError(f"two matrices are named {name!r}: the file's name is the measure's")
        try:
            table = pd.read_csv(path)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: not a CSV score matrix ({error})") from None
        first = str(table.columns[0])
        if first in ("topic", "query_id") or first.startswith("Unnamed"):
            table = table.set_index(table.columns[0])
        matrices[name] = table
    return matrices


def _one_run_per_team(scores: dict[str, pd.DataFrame], path: str, seed: int) -> dict[str, pd.DataFrame]:
    """The matrices with one run of each team, drawn at random as Sakai and Robertson did."""
    import numpy as np
    import pandas as pd

    table = pd.read_csv(path, dtype=str)
    column = next((name for name in ("run", "tag") if name in table.columns), None)
    if column is None or "team" not in table.columns:
        raise InputError(f"{path}: a table of teams needs the columns run (or tag) and team")
    team_of = dict(zip(table[column], table["team"], strict=True))
    runs = [str(run) for run in next(iter(scores.values())).columns]
    unknown = [run for run in runs if run not in team_of]
    if unknown:
        raise InputError(f"{path}: names no team of run {unknown[0]!r}")
    members: dict[str, list[str]] = {}
    for run in sorted(runs):
        members.setdefault(team_of[run], []).append(run)
    rng = np.random.default_rng(seed)
    chosen = [str(rng.choice(members[team])) for team in sorted(members)]
    return {name: matrix[chosen] for name, matrix in scores.items()}


def _printed(reference: str, scores: Any) -> str:
    """The reference's printed name, as the matrices bear it."""
    if reference in scores:
        return reference
    from ..grammar import parse_measure

    return str(parse_measure(reference))


def _write_figures(comparison: Comparison, folder: Path) -> None:
    from ..plots.meta import asl_curve, stability_curves, swap_curves, tau_heat_map

    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "asl_curve": asl_curve(comparison.power),
        "stability": stability_curves(comparison.stability),
        "swap": swap_curves(comparison.swap),
        "tau": tau_heat_map(comparison.correlations),
    }
    for name, figure in figures.items():
        for ending in ("png", "pdf"):
            figure.savefig(folder / f"{name}.{ending}", bbox_inches="tight", dpi=200)
