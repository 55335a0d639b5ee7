"""Read CSV files of score matrices, and of the teams of runs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ir_graded.errors import FileFormatError, InputError
from ir_graded.io.file_text import read_text
from ir_graded.io.paths import errors_with_path, uncompressed_name
from ir_graded.meta.matrix import ScoreMatrix


def read_matrices(paths: tuple[str, ...], topic_column: str | None = None) -> dict[str, ScoreMatrix]:
    """Read score matrices, named after their files.

    Args:
        paths: the files.
        topic_column: name of the column of topics in each file; None to recognise it by its name.

    Raises:
        InputError: two files have the same name, or a file holds no score matrix.
    """
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
    _check_scores(rows, {str(system): header.index(str(system)) for system in matrix.systems}, path)
    return matrix


def _check_scores(rows: list[tuple[int, list[str]]], places: dict[str, int], path: str) -> None:
    """Raise InputError for scores such as 1_0, which Python reads as numbers and run files do not allow.

    Args:
        rows: the rows of the file with the numbers of their lines.
        places: index of the score of each system in a row.
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
    """Read the team of each run.

    Raises:
        InputError: columns are missing, a field is blank, or a run has two teams.
    """
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
    """Return the names of the columns, and the rows with their line numbers, without blank lines.

    Raises:
        FileFormatError: the file is not text, is empty, or a row is longer or shorter than the first.
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
        raise FileFormatError(f"{path}: the file is empty, expected a CSV file with a header")
    (_, header), *others = rows
    if len(header) == 1:
        raise FileFormatError(
            f"{path}: the first line, {header[0]!r}, has no comma, expected the names of columns"
        )
    for line, row in others:
        if len(row) != len(header):
            found, wanted = len(row), len(header)
            raise FileFormatError(
                f"{path}, line {line}: expected {wanted} fields as in the first line, found {found}"
            )
    return header, others
