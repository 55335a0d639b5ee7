"""Score matrices, topics x systems: the validated input of all statistics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.segments import EXACT_INTEGERS_BELOW, Floats, Ints, exact_sum
from ir_graded.errors import (
    MOST_IDS,
    CoverageWarning,
    InputError,
    ParameterError,
    did_you_mean,
    format_ids,
    short_repr,
)

from .options import LARGEST, Seed, check_options, generator

if TYPE_CHECKING:
    import pandas as pd


#: The smallest number of topics or systems that can be compared.
FEWEST = 2
#: Number of decimals of means and differences; further decimals are rounding errors.
DECIMALS = 12
#: Names of columns that hold the topics, in any case and with any separator between words.
_TOPIC_COLUMNS = frozenset(
    f"{thing}{word}" for thing in ("topic", "query") for word in ("", "id", "no", "num", "number")
) | {"qid", "num"}
#: Names of an unnamed first column, as pandas writes and reads it; it also holds the topics.
_UNNAMED = ("", "unnamed: 0")
_SET_INDEX = "make the column of the topics the index of the table, or name the index if it holds them"
#: Columns of frames with a row per score, by their names in ``Scores.to_frame``, in PyTerrier and in
#: ir_measures.
_COLUMNS = {
    "run": ("run", "name"),
    "query_id": ("query_id", "qid"),
    "measure": ("measure",),
    "value": ("value",),
}


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of systems on topics by one measure, shape ``(topics, runs)``, with the topics in one order."""

    values: Floats
    topics: tuple[Hashable, ...]
    runs: tuple[Hashable, ...]

    @classmethod
    def of(
        cls, scores: Any, name: str = "scores", fewest_runs: int = FEWEST, advice: str = _SET_INDEX
    ) -> ScoreMatrix:
        """Create a matrix from a topics x systems DataFrame or array-like, or from Scores of one measure.

        The topics of a table are its index, if it has a name or holds values that are not whole numbers.
        Otherwise they are its column named topic, topic_id, query_id, qid, num or similar, in any position.
        """
        if isinstance(scores, ScoreMatrix):
            return scores
        if (by_measure := _by_measure(scores)) is not None:
            if len(by_measure) == 1:
                check_arithmetic(by_measure)
                return cls.of(next(iter(by_measure.values())), name, fewest_runs)
            raise InputError(
                f"{name}: expected the scores by one measure, found those by {', '.join(by_measure)}; "
                "keep the rows of one"
            )
        if hasattr(scores, "matrix") and hasattr(scores, "names"):
            if len(scores.names) == 1:
                check_arithmetic(scores.names)
                return cls.of_measure(scores, scores.names[0], fewest_runs)
            raise InputError(
                f"{name}: expected the matrix of one measure, found the scores of all: "
                f"{', '.join(scores.names)}; give scores.matrix({scores.names[0]!r})"
            )
        table, suspects = _with_topic_index(scores, name, advice)
        cells = as_cells(table, name, "a topics x systems matrix of numbers", dimensions=2)
        named = hasattr(table, "index") and hasattr(table, "columns")
        topics = tuple(table.index if named else range(cells.shape[0]))
        runs = tuple(table.columns if named else range(cells.shape[1]))
        matrix = cls.checked(cells, topics, runs, name, fewest_runs)
        # Some of the suspects, but not every column, look like ids.
        values = np.sort(matrix.values, axis=0)
        distinct = (values % 1 == 0).all(axis=0) & (np.diff(values, axis=0) > 0).all(axis=0)
        ids = distinct & (values[0] >= 0) & (values[-1] > 1) & (values[-1] < EXACT_INTEGERS_BELOW)
        wrong = [run for run, is_id in zip(runs, ids, strict=True) if is_id and run in suspects]
        if wrong and not ids.all():
            raise InputError(
                f"{name}: the column {wrong[0]!r} counts as a system but looks like topics, because it holds "
                f"distinct whole numbers; {advice}"
            )
        return matrix

    @classmethod
    def of_measure(cls, scores: Any, measure: str, fewest_runs: int) -> ScoreMatrix:
        """Create a matrix from Scores. All columns are runs, even if they are named like topics."""
        cells = scores.values[scores.position(measure)].T.copy()
        return cls.checked(cells, tuple(scores.query_ids), tuple(scores.runs), measure, fewest_runs)

    @classmethod
    def checked(
        cls,
        cells: np.ndarray[Any, Any],
        topics: tuple[Hashable, ...],
        runs: tuple[Hashable, ...],
        name: str,
        fewest_runs: int = FEWEST,
    ) -> ScoreMatrix:
        """Create a matrix from cells, a row per topic and a column per system. Raises errors as ``of``."""
        _check_names("topic", topics, name)
        _check_names("system", runs, name, fewest_runs)

        def describe(topic: int, run: int) -> str:
            return f"{name}: topic {topics[topic]!r}, system {runs[run]!r}: the score"

        try:
            values = as_finite(cells, describe, LARGEST)
        except InputError as error:
            import pandas as pd

            lacking = [topics[row] for row in np.flatnonzero(pd.isna(cells).any(axis=1))]
            raise _naming(lacking, len(topics), error) from None
        rows = _in_order(topics)
        return cls(values[rows], tuple(topics[row] for row in rows), runs)

    def aligned(self, other: ScoreMatrix, name: str) -> ScoreMatrix:
        """Return the matrix in the order of another matrix. Raises InputError if names differ."""
        rows = _positions("topic", self.topics, other.topics, name)
        columns = _positions("system", self.runs, other.runs, name)
        return ScoreMatrix(self.values[np.ix_(rows, columns)], other.topics, other.runs)


def _in_order(topics: Sequence[Hashable]) -> list[int]:
    """Return the positions of topics by number if all are whole numbers, else by their text.

    Replicates draw topics by position: one order for the same topics gives the same numbers.
    """
    names = [str(topic).removesuffix(".0") for topic in topics]  # a frame may have made floats of numbers
    by_number = all(map(str.isdecimal, names))
    return sorted(range(len(names)), key=lambda at: (len(names[at]) if by_number else 0, names[at]))


def _with_topic_index(table: Any, name: str, advice: str) -> tuple[Any, set[Hashable]]:
    """Return a table with the topics as its index, and the columns that must not look like ids.

    Tables of Polars and Arrow become those of pandas; anything else has no columns.
    """
    import pandas as pd

    if hasattr(table, "column_names") and hasattr(table, "to_pandas"):
        table = table.to_pandas()
    elif hasattr(table, "to_numpy") and hasattr(table, "columns") and not hasattr(table, "index"):
        table = pd.DataFrame(table.to_numpy(), columns=list(table.columns))
    if not isinstance(table, pd.DataFrame):
        return table, set()
    places = [place for place, column in enumerate(table.columns) if _is_topic_name(column, place)]
    if table.index.name is not None or table.index.dtype.kind not in "iu":
        return table, {table.columns[place] for place in places}
    if not places:
        return table, set(table.columns)
    if len(places) > 1:
        names = " and ".join(repr(table.columns[place]) for place in places)
        raise InputError(f"{name}: the columns {names} may both hold the topics; {advice}")
    place = places[0]
    column, topics = table.columns[place], table.iloc[:, place]
    # The name of the first column is sufficient, since topics may be numbers such as 31.2.
    if place and (pd.to_numeric(topics, errors="coerce") % 1 > 0).any():
        raise InputError(f"{name}: the column {column!r} is named like topics but holds scores; {advice}")
    others = table.iloc[:, np.arange(len(table.columns)) != place]
    return others.set_axis(pd.Index(topics.tolist()), axis=0), set()


def _is_topic_name(column: Hashable, place: int) -> bool:
    """Return whether a column with this name and position holds the topics."""
    if not isinstance(column, str):
        return False
    unnamed = place == 0 and column.strip().lower() in _UNNAMED
    return unnamed or "".join(filter(str.isalnum, column)).lower() in _TOPIC_COLUMNS


def _check_names(kind: str, names: tuple[Hashable, ...], name: str, fewest: int = FEWEST) -> None:
    if len(names) < fewest:
        raise InputError(
            f"{name}: at least {fewest} {kind}{'s' * (fewest > 1)} are needed, found {len(names)}"
        )
    check_unique(kind, names, name)
    for place, one in enumerate(names, 1):
        if isinstance(one, str) and not one.strip():
            raise InputError(f"{name}: {kind} {place} of {len(names)} has no name, found {one!r}")


def check_unique(kind: str, names: tuple[Hashable, ...], name: str) -> None:
    """Raise InputError if a name appears twice."""
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise InputError(f"{name}: {kind} {twice!r} appears twice")


def as_cells(given: Any, name: str, expected: str, dimensions: int) -> np.ndarray[Any, Any]:
    """Return an array of values that may be numbers; masked values become NaN. Raises InputError."""
    try:
        if isinstance(given, np.ma.MaskedArray):
            given = np.ma.filled(given.astype(object), math.nan)
        cells = np.asarray(given)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected {expected}") from None
    if cells.ndim != dimensions:
        raise InputError(f"{name}: expected {expected}, found {cells.ndim} dimensions")
    # Kinds that may hold numbers; objects and text are checked one by one.
    if cells.dtype.kind not in "biufOUS":
        raise InputError(f"{name}: expected {expected}, found the type {cells.dtype}")
    return cells


def as_finite(cells: np.ndarray[Any, Any], describe: Callable[..., str], largest: float = math.inf) -> Floats:
    """Return the numbers in an array, as float64. Raises InputError for others, or for too large ones."""
    try:
        with np.errstate(over="ignore"):
            values = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        place = next(place for place, cell in np.ndenumerate(cells) if not _is_number(cell))
    else:
        wrong = np.argwhere(~(np.abs(values) <= largest) | np.isinf(values))
        if not len(wrong):
            return values
        place = tuple(wrong[0].tolist())
    bound = "" if math.isinf(largest) else f" up to {largest:g}"
    cell = cells[place].item() if isinstance(cells[place], np.generic) else cells[place]
    raise InputError(f"{describe(*place)} is {short_repr(cell)}, expected a finite number{bound}")


def _naming(lacking: Iterable[Hashable], topics: int, error: InputError) -> InputError:
    """Return an error with the topics that lack a score, and what to do with them."""
    if not (names := [*dict.fromkeys(lacking)]):
        return error
    return InputError(
        f"{error}; topics without a score ({len(names)} of {topics}): {format_ids(names)}; leave them out "
        "for all systems and measures"
    )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return np.ndim(cell) == 0


def _positions(kind: str, own: tuple[Hashable, ...], wanted: tuple[Hashable, ...], name: str) -> list[int]:
    """Return the position in ``own`` of each wanted name. Raises InputError if names differ."""
    differing = set(own) ^ set(wanted)
    if differing:
        one = min(differing, key=str)
        where = "only in this one" if one in set(own) else "missing in this one"
        raise InputError(f"{name}: {kind}s differ from those of the other measures: {one!r} is {where}")
    place = {one: number for number, one in enumerate(own)}
    return [place[one] for one in wanted]


def matrices_by_measure(scores: Any, fewest_runs: int = FEWEST) -> dict[str, ScoreMatrix]:
    """Return the matrices of ``all_matrices`` without those that ``arithmetic`` leaves out."""
    return arithmetic(all_matrices(scores, fewest_runs), stacklevel=5)[0]


def all_matrices(scores: Any, fewest_runs: int = FEWEST) -> dict[str, ScoreMatrix]:
    """Return one matrix per measure, over the same topics and systems in one order. Raises InputError."""
    if hasattr(scores, "matrix") and hasattr(scores, "names"):
        scores = {name: ScoreMatrix.of_measure(scores, name, fewest_runs) for name in scores.names}
    elif (by_measure := _by_measure(scores)) is not None:
        scores = by_measure
    if not isinstance(scores, Mapping) or not scores:
        raise InputError(
            "expected Scores from evaluate, a mapping from measures to score matrices, or a table with a row "
            "per run, topic and measure, such as that of pyterrier.Experiment(..., perquery=True)"
        )
    check_unique("measure", tuple(map(str, scores)), "scores")
    matrices = {
        str(measure): ScoreMatrix.of(matrix, str(measure), fewest_runs) for measure, matrix in scores.items()
    }
    first = next(iter(matrices.values()))
    return {name: matrix.aligned(first, name) for name, matrix in matrices.items()}


def ranges_of(scores: Any, measures: Iterable[str]) -> Floats:
    """Return the ends of the range of each measure, shape ``(measures, 2)``; infinite if unknown."""
    known = scores.ranges if hasattr(scores, "matrix") and hasattr(scores, "names") else {}
    return np.array([known.get(name) or (-np.inf, np.inf) for name in measures])


def directions_of(scores: Any, measures: Iterable[str]) -> Floats:
    """Return 1 for each measure by which higher scores are better, and -1 for others, which Scores know."""
    lower = getattr(scores, "lower_is_better", ())
    return np.array([-1.0 if name in lower else 1.0 for name in measures])


def check_direction(scores: Any, measures: Iterable[str]) -> None:
    """Raise ParameterError for a measure by which lower scores are better, where runs are only ordered."""
    lower = [name for name in measures if name in getattr(scores, "lower_is_better", ())]
    if lower:
        raise ParameterError(
            f"{lower[0]}: lower scores are better, and this statistic takes higher ones for better; give "
            f"negated scores, such as {{'-{lower[0]}': -scores.matrix({lower[0]!r})}}"
        )


def arithmetic(
    matrices: Mapping[str, ScoreMatrix], stacklevel: int = 4
) -> tuple[dict[str, ScoreMatrix], tuple[str, ...]]:
    """Return the matrices without geometric means, and a sentence, also as a warning, if there are some.

    Raises ParameterError if nothing is left.
    """
    geometric = [name for name in matrices if is_geometric(name)]
    if len(geometric) == len(matrices):
        check_arithmetic(geometric)
    if not geometric:
        return dict(matrices), ()
    names = ", ".join(geometric)
    note = f"Geometric means are not tested or compared, only arithmetic means over the topics: {names}."
    warnings.warn(note, CoverageWarning, stacklevel=stacklevel)
    return {name: matrix for name, matrix in matrices.items() if name not in geometric}, (note,)


def score_rows(frame: Any, run: str | None = None) -> dict[str, list[Any]]:
    """Return run, query_id, measure and value of each row of a table of scores.

    Raises InputError or ParameterError as ``Scores.from_frame``.
    """
    frame = _per_query(frame)
    there = [str(column) for column in getattr(frame, "columns", ())]
    rows: dict[str, list[Any]] = {}
    for kind, names in _COLUMNS.items():
        found = [one for one in there if one in names]
        if kind == "run" and run is not None and found:
            raise ParameterError(f"run={run!r}: the frame has the column {found[0]!r}, so leave run out")
        if len(found) != 1 and (kind != "run" or run is None):
            advice = ", or run= with the name of the run" if kind == "run" else ""
            raise InputError(
                f"frame: expected one column {' or '.join(map(repr, names))}{advice}; found {there}"
            )
        rows[kind] = list(frame[found[0]]) if found else [run] * len(frame)
    if not rows["value"]:
        raise InputError("frame: there are no rows")
    return rows


def score_cells(
    rows: Mapping[str, list[Any]], names: Mapping[str, Mapping[Any, Hashable]]
) -> tuple[dict[str, list[Any]], Floats]:
    """Return the distinct measures, runs and topics of rows, and an array of their scores.

    ``names`` maps each measure, run and topic of the rows to its name.

    Raises InputError if a score is missing, appears twice or is not a finite number.
    """
    distinct = {kind: [*dict.fromkeys(named.values())] for kind, named in names.items()}
    numbers = []
    for kind, named in names.items():
        place = {name: number for number, name in enumerate(distinct[kind])}
        numbers.append([place[named[key]] for key in rows[kind]])
    at, shape = np.array(numbers), tuple(map(len, distinct.values()))

    def describe(place: Iterable[int]) -> str:
        measure, run, topic = (some[number] for some, number in zip(distinct.values(), place, strict=True))
        return f"frame: run {short_repr(run)}, topic {short_repr(topic)}, measure {measure}: the score"

    try:
        values = as_finite(np.array(rows["value"], dtype=object), lambda row: describe(at[:, row].tolist()))
    except InputError as error:
        import pandas as pd

        lacking = [
            names["query_id"][topic]
            for topic, value in zip(rows["query_id"], rows["value"], strict=True)
            if pd.isna(value) is True
        ]
        raise _naming(lacking, len(distinct["query_id"]), error) from None
    count = np.bincount(np.ravel_multi_index(tuple(at), shape), minlength=math.prod(shape)).reshape(shape)
    for wrong, problem in ((count > 1, "appears several times"), (count == 0, "is missing")):
        if wrong.any():
            share = f"{np.count_nonzero(wrong)} of {wrong.size}"
            raise InputError(f"{describe(np.argwhere(wrong)[0].tolist())} {problem} (as {share} scores)")
    cells = np.empty(shape)
    cells[tuple(at)] = values
    return distinct, cells


def _per_query(frame: Any) -> Any:
    """Return the table of topics of ``pyterrier.Experiment(perquery="both")``, and Arrow tables as pandas."""
    frame = frame.perquery if isinstance(frame, tuple) and hasattr(frame, "perquery") else frame
    return frame.to_pandas() if hasattr(frame, "column_names") else frame


def _by_measure(scores: Any) -> dict[str, pd.DataFrame] | None:
    """Return the matrices of a table with a row per score; None for anything else."""
    table = _per_query(scores)
    columns = {*map(str, getattr(table, "columns", ()))}
    if any(columns.isdisjoint(names) for names in _COLUMNS.values()):
        return None
    import pandas as pd

    rows = score_rows(table)
    for kind in ("measure", "run", "query_id"):
        if pd.isna(pd.Series(rows[kind], dtype=object)).any():
            raise InputError(f"frame: {kind}: an id is missing (None or NaN)")
    names = {kind: {key: key for key in rows[kind]} for kind in ("measure", "run", "query_id")}
    names["measure"] = {key: str(key) for key in rows["measure"]}
    distinct, cells = score_cells(rows, names)
    topics = pd.Index(distinct["query_id"], name="query_id", tupleize_cols=False)
    runs = pd.Index(distinct["run"], name="run", tupleize_cols=False)
    return {
        measure: pd.DataFrame(of_measure.T, topics, runs)
        for measure, of_measure in zip(distinct["measure"], cells, strict=True)
    }


def is_geometric(measure: Any) -> bool:
    """Return whether a name, here, in PyTerrier or in trec_eval, is that of a geometric mean."""
    return str(measure).startswith(("GM(", "GMAP", "gm_"))


def check_arithmetic(measures: Iterable[Any]) -> None:
    """Raise ParameterError for a measure whose aggregate is a geometric mean."""
    for measure in filter(is_geometric, measures):
        raise ParameterError(
            f"{measure} is a geometric mean over the topics, but this statistic is of arithmetic means: use "
            "the base measure, or logarithms, such as {'log AP': np.log(scores.matrix('AP').clip(0.00001))}"
        )


def reference_name(reference: Any, measures: Collection[str], option: str = "reference") -> str:
    """Return the printed name of a measure. Raises InputError if it is not among the measures."""
    name = str(reference)
    if name in measures:
        return name
    raise InputError(f"{option} {reference!s} is not among the measures {', '.join(measures)}")


def number_of(run: Any, runs: Sequence[Hashable], option: str) -> int:
    """Return the position of a run. Raises ParameterError if no run has this name."""
    if run not in runs:
        hint = (meant := did_you_mean(run, runs, 1)) and f"; {meant}"
        of_all = f" ({len(runs)} in total)" if len(runs) > MOST_IDS else ""
        raise ParameterError(f"{option}={short_repr(run)} must be one of {format_ids(runs)}{of_all}{hint}")
    return runs.index(run)


def pairs_of(runs: Sequence[Hashable], baseline: Hashable | None) -> tuple[Ints, Ints]:
    """Return the runs and the baseline of each, or both runs of all pairs. Raises ParameterError."""
    if baseline is None:
        return np.triu_indices(len(runs), 1)
    at = number_of(baseline, runs, "baseline")
    others = np.delete(np.arange(len(runs)), at)
    return others, np.full_like(others, at)


def means_of(matrix: ScoreMatrix) -> Floats:
    """Return the means of the systems, rounded so that the order of topics makes no difference."""
    return np.asarray((exact_sum(matrix.values.T) / len(matrix.topics)).round(DECIMALS))


def ranks_of(means: Floats) -> Ints:
    """Return the rank of each system, 1 for the best; equal means share the smaller rank."""
    return np.asarray(1 + np.count_nonzero(means[np.newaxis] > means[:, np.newaxis], axis=1))


def best_first(means: Floats, runs: Sequence[Hashable]) -> list[int]:
    """Return the numbers of the runs in descending order of means, then by name."""
    return sorted(range(len(means)), key=lambda at: (-means[at], str(runs[at])))


def top(scores: Any, n: int, by: Any) -> dict[str, pd.DataFrame]:
    """Return the matrices of the n systems with the highest means by a measure, best first, ties by name.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.
        n: number of systems, at least 2; all if there are fewer.
        by: the measure.

    Raises:
        InputError: a matrix is wrong, or the measure does not exist.
        ParameterError: ``n`` is out of its range, or lower scores of the measure are better.

    Example:
        >>> import pandas as pd
        >>> ap = pd.DataFrame({"a": [0.1, 0.2], "b": [0.5, 0.3], "c": [0.4, 0.3]})
        >>> list(top({"AP": ap}, 2, by="AP")["AP"])
        ['b', 'c']
    """
    check_options(top_n=n)
    matrices = matrices_by_measure(scores)
    name = reference_name(by, matrices, "measure")
    check_direction(scores, [name])
    matrix = matrices[name]
    best = best_first(means_of(matrix), matrix.runs)[:n]
    return _kept(matrices, [matrix.runs[number] for number in best])


def one_per_team(scores: Any, teams: Mapping[Any, Any], rng: Seed = 0) -> dict[str, pd.DataFrame]:
    """Return the matrices of one system of each team, drawn at random as in Sakai and Robertson (2008).

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.
        teams: the team of each system; entries for others are ignored. Systems get the order of their teams.
        rng: a seed or a generator.

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
    for run in sorted(next(iter(matrices.values())).runs, key=str):
        if run not in teams:
            raise InputError(f"teams: run {run!r} has no team; add an entry for it")
        members.setdefault(str(teams[run]), []).append(run)
    source = generator(rng)
    return _kept(
        matrices, [members[team][int(source.choice(len(members[team])))] for team in sorted(members)]
    )


def drop_identical(scores: Any) -> tuple[dict[str, pd.DataFrame], dict[Hashable, Hashable]]:
    """Remove systems that equal an earlier system on every topic by every measure.

    Return the matrix of each measure, and a dict from each dropped system to the system that it equals.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.

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
    for number, run in enumerate(next(iter(matrices.values())).runs):
        key = b"".join(matrix.values[:, number].tobytes() for matrix in matrices.values())
        if first.setdefault(key, run) != run:
            dropped[run] = first[key]
    return _kept(matrices, [*first.values()]), dropped


def _kept(matrices: Mapping[str, ScoreMatrix], runs: list[Hashable]) -> dict[str, pd.DataFrame]:
    """Return the tables of some of the runs."""
    import pandas as pd

    tables = {}
    for name, matrix in matrices.items():
        _check_names("system", tuple(runs), f"{name}: systems kept")
        index = pd.Index(matrix.topics, name="topic", tupleize_cols=False)
        values = matrix.values[:, [matrix.runs.index(run) for run in runs]]
        tables[name] = pd.DataFrame(values, index=index, columns=pd.Index(runs, tupleize_cols=False))
    return tables
