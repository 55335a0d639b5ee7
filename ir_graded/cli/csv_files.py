"""CSV files that the commands take: score matrices, and which team sent which run."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ir_graded.errors import FileFormatError, InputError
from ir_graded.io.file_text import read_text
from ir_graded.io.paths import errors_with_path, uncompressed_name
from ir_graded.meta.matrix import ScoreMatrix


def read_matrices(paths: tuple[str, ...], topic_column: str | None = None) -> dict[str, ScoreMatrix]:
    """Score matrices, named after their files.

    Args:
        paths: the files.
        topic_column: name of the column that holds the topics in each; None where the names tell.

    Raises:
        InputError: two have the same name, or a file holds no score matrix.
    """
    matrices: dict[str, ScoreMatrix] = {}
    for path in paths:
        name = Path(uncompressed_name(path)).stem
        if name in matrices:
            raise InputError(f"two matrices are named {name!r}: the file's name is the measure's")
        matrices[name] = _read_matrix(path, topic_column)
    return matrices


def _read_matrix(path: str, topic_column: str | None) -> ScoreMatrix:
    import pandas as pd

    header, rows = _table(path)
    # As text, so that topics stay as they are written: 001.
    table = pd.DataFrame([row for _, row in rows], columns=header, dtype=object)
    if topic_column is not None:
        if header.count(topic_column) != 1:
            columns = ", ".join(map(repr, header))
            raise InputError(f"{path}: --topic-column {topic_column!r} must be one of the columns {columns}")
        table = table.set_index(topic_column)
    matrix = ScoreMatrix.of(table, path, advice="name the column of the topics with --topic-column")
    _check_scores(rows, {str(system): header.index(str(system)) for system in matrix.systems}, path)
    return matrix


def _check_scores(rows: list[tuple[int, list[str]]], places: dict[str, int], path: str) -> None:
    """Raise InputError for what Python reads as a number and files of runs may not hold, such as 1_0.

    Args:
        rows: the rows of the file with the numbers of their lines.
        places: where in a row the score of each system stands.
        path: the file.
    """
    for line, row in rows:
        for system, place in places.items():
            if "_" in row[place] or not row[place].strip().isascii():
                raise InputError(
                    f"{path}, line {line}: system {system!r}: the score is {row[place]!r}, "
                    "expected a number such as 0.25 or 1e-3"
                )


def read_teams(path: str) -> dict[str, str]:
    """The team of each run.

    Raises:
        InputError: columns are missing, a field is blank, or a run has two teams.
    """
    header, rows = _table(path)
    run_at = next((header.index(name) for name in ("run", "tag") if name in header), None)
    if run_at is None or "team" not in header:
        raise InputError(f"{path}: a table of teams needs the columns run (or tag) and team")
    team_at = header.index("team")
    teams: dict[str, str] = {}
    for line, row in rows:
        run, team = row[run_at], row[team_at].strip()
        if not run.strip() or not team:
            missing = f"run {run!r} has no team" if run.strip() else f"team {team!r} has no run"
            raise InputError(f"{path}, line {line}: {missing}")
        if teams.setdefault(run, team) != team:
            raise InputError(f"{path}, line {line}: run {run!r} is of team {teams[run]!r} and of {team!r}")
    return teams


def _table(path: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows with their line numbers; blank lines are left out.

    Raises:
        FileFormatError: it is no text, holds nothing, or a row is longer or shorter than the first.
    """
    with errors_with_path(path):
        data = read_text(path)
    try:
        reader = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: not a CSV file in UTF-8 ({error})") from None
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {reader.line_num}: not in the CSV format ({error})") from None
    if not rows:
        raise FileFormatError(f"{path}: holds nothing, expected a CSV file with the names of its columns")
    (_, header), *others = rows
    if len(header) == 1:
        raise FileFormatError(
            f"{path}: the first line, {header[0]!r}, has no comma, expected names of columns"
        )
    for line, row in others:
        if len(row) != len(header):
            found, wanted = len(row), len(header)
            raise FileFormatError(
                f"{path}, line {line}: {found} fields (commas separate them), the first line has {wanted}"
            )
    return header, others
