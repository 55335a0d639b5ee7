"""Options of commands that take scores, from an evaluation of runs or from score matrices."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ir_graded._utils.atomic_files import check_writable, write_whole
from ir_graded.errors import FileFormatError, InputError
from ir_graded.evaluation.evaluate import evaluate
from ir_graded.evaluation.scores import read_scores
from ir_graded.io.paths import uncompressed_name
from ir_graded.io.text import delimited_rows, read_text
from ir_graded.measures.parsing import read_measure
from ir_graded.meta.matrix import ScoreMatrix, matrices_by_measure

from . import options

if TYPE_CHECKING:
    from ir_graded.plots.style import Figure


def read_matrices(paths: tuple[str, ...], topic_column: str | None = None) -> dict[str, ScoreMatrix]:
    """Read score matrices, named after their files. Raises InputError if two have the same name."""
    matrices: dict[str, ScoreMatrix] = {}
    for path in paths:
        name = Path(uncompressed_name(path)).stem
        if name in matrices:
            raise InputError(f"two matrices are named {name!r}: each file must be named after its measure")
        matrices[name] = _read_matrix(path, topic_column)
    return matrices


def _read_matrix(path: str, topic_column: str | None) -> ScoreMatrix:
    import pandas as pd

    header, rows = _table(path)
    # As text, so that topics such as 001 keep their zeros.
    table = pd.DataFrame([row for _, row in rows], columns=header, dtype=object)
    if topic_column is not None:
        if header.count(topic_column) != 1:
            columns = ", ".join(map(repr, header))
            raise InputError(f"{path}: --topic-column {topic_column!r} must be one of the columns {columns}")
        table = table.set_index(topic_column)
    matrix = ScoreMatrix.of(table, path, advice="name the column of the topics with --topic-column")
    _check_scores(rows, {str(system): header.index(str(system)) for system in matrix.runs}, path)
    return matrix


def _check_scores(rows: list[tuple[int, list[str]]], places: dict[str, int], path: str) -> None:
    """Raise InputError for scores such as 1_0, which Python reads as numbers and run files do not allow."""
    for line, row in rows:
        for system, place in places.items():
            if "_" in row[place] or not row[place].strip().isascii():
                raise InputError(
                    f"{path}, line {line}: system {system!r}: the score is {row[place]!r}, "
                    "expected a number such as 0.25 or 1e-3"
                )


def read_teams(path: str) -> dict[str, str]:
    """Read the team of each run. Raises InputError if a run has none or two."""
    header, rows = _table(path)
    run_at = next((header.index(name) for name in ("run", "tag") if name in header), None)
    if run_at is None or "team" not in header:
        raise InputError(f"{path}: expected a table of teams with the columns run (or tag) and team")
    team_at = header.index("team")
    teams: dict[str, str] = {}
    for line, row in rows:
        run, team = row[run_at], row[team_at].strip()
        if not run.strip() or not team:
            missing = f"run {run!r} has no team" if run.strip() else f"team {team!r} has no run"
            raise InputError(f"{path}, line {line}: {missing}")
        if teams.setdefault(run, team) != team:
            raise InputError(f"{path}, line {line}: run {run!r} has two teams, {teams[run]!r} and {team!r}")
    return teams


def _table(path: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows with their line numbers, without blank lines."""
    rows, lines = delimited_rows(read_text(path), ",", path)
    if not rows:
        raise FileFormatError(f"{path}: the file is empty, expected a CSV file with a header")
    header, *others = rows
    if len(header) == 1:
        raise FileFormatError(
            f"{path}: the first line, {header[0]!r}, has no comma, expected the names of columns"
        )
    for line, row in zip(lines[1:], others, strict=True):
        if len(row) != len(header):
            found, wanted = len(row), len(header)
            raise FileFormatError(
                f"{path}, line {line}: expected {wanted} fields as in the first line, found {found}"
            )
    return header, [*zip(lines[1:], others, strict=True)]


_OPTIONS = (
    options.optional_qrels,
    options.optional_runs,
    options.optional_measures,
    click.option(
        "--matrix", "matrices", multiple=True, metavar="FILE", help="Score matrix (CSV). Repeatable."
    ),
    click.option("--topic-column", metavar="NAME", help="Column of the topics in each --matrix."),
    click.option(
        "--scores",
        "saved",
        multiple=True,
        metavar="FILE",
        help="Scores from --save of `evaluate` or `answers`; -m chooses among their measures.",
    ),
)

folder = click.option(
    "--plot", "folder", metavar="DIR", help="Folder in which to write the figures as PNG and PDF."
)


@dataclass(frozen=True)
class Source:
    """Scores of a command, from an evaluation of runs or from files.

    Attributes:
        scores: score matrix of each measure.
        of_files: whether they are from files, whose names are those of the measures.
        folder: folder for figures, if any.
    """

    scores: dict[str, ScoreMatrix]
    of_files: bool
    folder: str | None

    def printed_name(self, measure: str) -> str:
        """Return the name of the matrix of a measure; names of files are unchanged."""
        if self.of_files or measure in self.scores:
            return measure
        return str(read_measure(measure))

    def write_figures(self, draw: Callable[[], Mapping[str, Figure]]) -> None:
        """Draw and write figures if there is a folder for them."""
        if self.folder is not None:
            write_figures(draw(), self.folder)


def source(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options of a command that takes a ``Source``."""

    @wraps(command)
    def with_source(folder: str | None, matrices: tuple[str, ...], **given: Any) -> None:
        prepare_folder(folder)
        names = ("qrels", "runs", "measures", "topic_column", "saved")
        scores = _score_matrices(matrices=matrices, **{name: given.pop(name) for name in names})
        command(Source(scores, bool(matrices), folder), **given)

    decorated: Callable[..., None] = with_source
    for option in reversed((*_OPTIONS, folder)):
        decorated = option(decorated)
    return decorated


def _score_matrices(
    qrels: str | None,
    runs: Any,
    measures: tuple[str, ...],
    matrices: tuple[str, ...],
    topic_column: str | None,
    saved: tuple[str, ...],
) -> dict[str, ScoreMatrix]:
    """Return score matrices by measure. Raises UsageError unless runs, matrices or saved scores are given."""
    if sum(map(bool, (qrels, matrices, saved))) != 1:
        raise click.UsageError(
            "give either QRELS, RUNs and -m, or --matrix FILE for each measure, or --scores FILE"
        )
    if measures and matrices:
        raise click.UsageError("-m needs QRELS and RUNs: the measure of a --matrix is the name of its file")
    if topic_column is not None and not matrices:
        raise click.UsageError("--topic-column needs --matrix")
    if matrices:
        return matrices_by_measure(read_matrices(matrices, topic_column))
    if saved:
        (path, *more) = saved
        if more:
            raise click.UsageError("give --scores once")
        scores = read_scores(path)
        wanted = options.read(measures) if measures else scores.measures
        return matrices_by_measure(scores[wanted])
    if not runs or not measures:
        raise click.UsageError('give at least two RUNs, and measures: -m "Q P-measure nDCG@10 AP"')
    return matrices_by_measure(evaluate(options.read(measures), str(qrels), runs))


def prepare_folder(folder: str | None, option: str = "--plot") -> None:
    """Create the folder for figures before any work. Raises an error if they cannot be written there."""
    if folder is None:
        return
    from ir_graded.plots import style

    style.matplotlib()
    if not folder:
        raise click.BadParameter("expected the name of a folder, found ''", param_hint=option)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise click.BadParameter(f"{folder} is a file, or is inside a file", param_hint=option) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise click.BadParameter(f"the folder {folder} is not writable", param_hint=option)


def write_figures(
    figures: Mapping[str, Figure], folder: str, endings: tuple[str, ...] = ("png", "pdf")
) -> None:
    """Draw all figures, then write them; if one cannot be drawn, no file changes."""
    drawn = {
        check_writable(Path(folder) / f"{name}.{ending}"): figure_bytes(figure, ending)
        for name, figure in figures.items()
        for ending in endings
    }
    for place, content in drawn.items():
        write_whole(place, content)


def check_figure(path: str | None) -> None:
    """Check before any work that a figure can be written to a file. Raises BadParameter for other endings."""
    if path is None:
        return
    from ir_graded.plots import style

    style.matplotlib()
    if Path(path).suffix not in {".png", ".pdf", ".svg"}:
        raise click.BadParameter(f"{path} must end with .png, .pdf or .svg", param_hint="--plot")
    check_writable(path)


def figure_bytes(figure: Figure, ending: str) -> bytes:
    """Return a figure as PNG, PDF or SVG."""
    if ending == "svg":
        from ir_graded.plots.style import svg

        return svg(figure).encode()
    content = io.BytesIO()
    figure.savefig(content, format=ending, bbox_inches="tight", dpi=200)
    return content.getvalue()
