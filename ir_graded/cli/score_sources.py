"""Options of commands that take scores, from an evaluation of runs or from score matrices."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ir_graded._utils.atomic_files import check_writable, write_whole
from ir_graded.evaluation.evaluate import evaluate

from . import options

if TYPE_CHECKING:
    from ir_graded.meta.matrix import ScoreMatrix
    from ir_graded.plots.style import Figure

_OPTIONS = (
    options.optional_qrels,
    click.argument("runs", nargs=-1, metavar="RUN..."),
    options.optional_measures,
    options.provider,
    click.option(
        "--matrix", "matrices", multiple=True, metavar="FILE", help="Score matrix (CSV). Repeatable."
    ),
    click.option("--topic-column", metavar="NAME", help="Column of the topics in each --matrix."),
)

folder = click.option(
    "--plot", "folder", metavar="DIR", help="Folder in which to write the figures as PNG and PDF."
)
alpha = click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True
)
test = click.option(
    "--test",
    type=click.Choice(["bootstrap", "t", "randomisation", "tukey_hsd"]),
    default="bootstrap",
    show_default=True,
    help="Significance test.",
)
seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)


def source(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options that ``score_matrices`` takes to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def score_matrices(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    provider: str,
    matrices: tuple[str, ...],
    topic_column: str | None,
) -> dict[str, ScoreMatrix]:
    """Return score matrices by measure. Raises UsageError unless either runs or matrices are given."""
    from ir_graded.meta.matrix import matrices_by_measure

    from .csv_files import read_matrices

    if bool(matrices) == bool(qrels):
        raise click.UsageError("give either QRELS, RUNs and -m, or --matrix FILE for each measure")
    if matrices and measures:
        raise click.UsageError("-m needs QRELS and RUNs: the measure of a --matrix is the name of its file")
    if topic_column is not None and not matrices:
        raise click.UsageError("--topic-column needs --matrix")
    if matrices:
        return matrices_by_measure(read_matrices(matrices, topic_column))
    if not runs or not measures:
        raise click.UsageError('give at least two RUNs, and measures: -m "Q P-measure nDCG@10 AP"')
    return matrices_by_measure(evaluate(options.read(measures), str(qrels), list(runs), provider=provider))


def printed_name(measure: str, scores: Mapping[str, Any], of_files: bool) -> str:
    """Return the name of the matrix of a measure; names of files are unchanged."""
    if of_files or measure in scores:
        return measure
    from ir_graded.measures.parsing import read_measure

    return str(read_measure(measure))


def prepare_folder(folder: str | None) -> None:
    """Create the folder for figures before any work. Raises an error if they cannot be written there."""
    if folder is None:
        return
    from ir_graded.plots import style

    style.matplotlib()
    if not folder:
        raise click.BadParameter("expected the name of a folder, found ''", param_hint="--plot")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise click.BadParameter(f"{folder} is a file, or is inside a file", param_hint="--plot") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise click.BadParameter(f"the folder {folder} is not writable", param_hint="--plot")


def write_figures(figures: Mapping[str, Figure], folder: str) -> None:
    """Draw all figures, then write them; if one cannot be drawn, no file changes."""
    drawn = {
        check_writable(Path(folder) / f"{name}.{ending}"): _drawn(figure, ending)
        for name, figure in figures.items()
        for ending in ("png", "pdf")
    }
    for place, content in drawn.items():
        write_whole(place, content)


def _drawn(figure: Figure, ending: str) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=ending, bbox_inches="tight", dpi=200)
    return content.getvalue()
