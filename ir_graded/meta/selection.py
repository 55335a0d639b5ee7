"""Selection of systems before measures are compared."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from ir_graded.errors import InputError

from .matrix import ScoreMatrix, best_first, matrices_by_measure, means_of, reference_name
from .options import check_options
from .resampling import Seed, generator

if TYPE_CHECKING:
    import pandas as pd


def top(scores: Any, n: int, by: Any) -> dict[str, pd.DataFrame]:
    """Return the n systems with the highest means by a measure, best first; ties at the border by name.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.
        n: number of systems, at least 2; all if there are fewer.
        by: the measure.

    Returns:
        The matrix of each measure, as input for ``compare`` and related functions.

    Raises:
        InputError: a matrix is wrong, or the measure does not exist.
        ParameterError: ``n`` is out of its range.

    Example:
        >>> import pandas as pd
        >>> ap = pd.DataFrame({"a": [0.1, 0.2], "b": [0.5, 0.3], "c": [0.4, 0.3]})
        >>> list(top({"AP": ap}, 2, by="AP")["AP"])
        ['b', 'c']
    """
    check_options(top_n=n)
    matrices = matrices_by_measure(scores)
    matrix = matrices[reference_name(by, matrices, "measure")]
    best = best_first(means_of(matrix), matrix.systems)[:n]
    return _kept(matrices, [matrix.systems[number] for number in best])


def one_per_team(scores: Any, teams: Mapping[Any, Any], rng: Seed = 0) -> dict[str, pd.DataFrame]:
    """Return one system of each team, drawn at random as in Sakai and Robertson (2008).

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.
        teams: the team of each system; entries for other systems are ignored.
        rng: a seed or a generator.

    Returns:
        The matrix of each measure, systems in the order of the teams' names.

    Raises:
        InputError: a system has no team, there are fewer than two teams, or a matrix is wrong.

    Example:
        >>> import pandas as pd
        >>> ap = pd.DataFrame({"a1": [0.1, 0.2], "a2": [0.5, 0.3], "b": [0.4, 0.3]})
        >>> list(one_per_team({"AP": ap}, {"a1": "A", "a2": "A", "b": "B"})["AP"])
        ['a2', 'b']
    """
    if not hasattr(teams, "keys"):
        raise InputError("teams: expected a mapping from systems to teams")
    matrices = matrices_by_measure(scores)
    members: dict[str, list[Hashable]] = {}
    for system in sorted(next(iter(matrices.values())).systems, key=str):
        if system not in teams:
            raise InputError(f"teams: run {system!r} has no team; add an entry for it")
        members.setdefault(str(teams[system]), []).append(system)
    source = generator(rng)
    return _kept(
        matrices, [members[team][int(source.choice(len(members[team])))] for team in sorted(members)]
    )


def drop_identical(scores: Any) -> tuple[dict[str, pd.DataFrame], dict[Hashable, Hashable]]:
    """Remove systems that equal an earlier system on every topic by every measure.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.

    Returns:
        The matrix of each measure, and a dict from each dropped system to the system that it equals.

    Raises:
        InputError: a matrix is wrong, or only one system is left.

    Example:
        >>> import pandas as pd
        >>> ap = pd.DataFrame({"a": [0.1, 0.2], "b": [0.5, 0.3], "again": [0.1, 0.2]})
        >>> drop_identical({"AP": ap})[1]
        {'again': 'a'}
    """
    matrices = matrices_by_measure(scores)
    first: dict[bytes, Hashable] = {}
    dropped = {}
    for number, system in enumerate(next(iter(matrices.values())).systems):
        key = b"".join(matrix.values[:, number].tobytes() for matrix in matrices.values())
        if first.setdefault(key, system) != system:
            dropped[system] = first[key]
    return _kept(matrices, [*first.values()]), dropped


def _kept(matrices: Mapping[str, ScoreMatrix], systems: list[Hashable]) -> dict[str, pd.DataFrame]:
    """Return the tables of some of the systems."""
    import pandas as pd

    tables = {}
    for name, matrix in matrices.items():
        kept = matrix.of_systems(systems, f"{name}: systems kept")
        index = pd.Index(kept.topics, name="topic", tupleize_cols=False)
        tables[name] = pd.DataFrame(kept.values, index=index, columns=pd.Index(systems, tupleize_cols=False))
    return tables
