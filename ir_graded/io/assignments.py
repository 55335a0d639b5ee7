"""Nuggets of topics, and their assignments to answers: JSON Lines of nuggetizer, and tables."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from ir_graded.core.segments import Floats
from ir_graded.errors import CoverageWarning, FileFormatError, InputError, short_repr

from .parquet import is_parquet
from .records import Node, distinct_names, is_json
from .table import (
    as_strings,
    column_names,
    first_null,
    get_column,
    is_frame,
    item_place,
    objects_at,
    row_place,
)
from .text import check_path, delimited_rows, line_error, read_text, run_name, standard_input, text_pieces
from .values import as_text, is_missing, text_ids

if TYPE_CHECKING:
    import pandas as pd

#: Levels of importance and credits of assignments by their labels.
IMPORTANCES = {"vital": 2.0, "okay": 1.0}
CREDITS = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


#: Columns of a text file whose cells may be numbers.
_NUMERIC = {"importance", "assignment", "relevance"}


class Part(NamedTuple):
    """One file or object of an input: the objects of JSON, each with its place, or the columns of a table.

    ``run`` is the name that the caller gives, and ``unnamed`` that of rows without a name.
    """

    run: str | None
    unnamed: str
    objects: Iterable[tuple[str, Any]] = ()
    names: Sequence[str] | None = None
    get: Callable[[str], Any] = list
    place: Callable[[int], str] = row_place

    def run_of(self, record: Any) -> str:
        """Return the name of the run of an object of JSON."""
        if self.run is not None:
            return self.run
        return as_text(record["run_id"]) if "run_id" in record else self.unnamed

    def columns(self, kind: str, wanted: Sequence[str], *, runs: bool) -> dict[str, list[Any]]:
        """Return columns of a table as objects, ids as text. Raises InputError if one is missing."""
        names = self.names or ()
        if missing := [name for name in wanted if name not in names]:
            raise InputError(
                f"{kind}: the table has no column {', '.join(missing)}; it has {', '.join(map(str, names))}"
            )
        found: dict[str, list[Any]] = {}
        for name in [*wanted, *(["run"] if runs and self.run is None and "run" in names else [])]:
            column = self.get(name)
            if name not in {"query_id", "run", "nugget", "sentence"}:
                found[name] = objects_at(column, np.arange(len(column), dtype=np.int64))
                continue
            texts = as_strings(column, f"{kind}: {name}", distinct=True)
            if (row := first_null(texts)) is not None:
                raise InputError(f"{kind}: {self.place(row)} has no {name}")
            found[name] = texts.to_list()
        given = self.unnamed if self.run is None else self.run
        return {"run": [given if runs else ""] * len(found["query_id"]), **found}


def parts_of(kind: str, source: Any, key: str, run: str | None = None) -> Iterator[Part]:
    """Yield the files and objects of an input. ``key`` is in every object of JSON, but in no table."""
    if isinstance(source, Mapping) and source and run is None:
        for name, part in zip(text_ids([*source], "run", kind), source.values(), strict=True):
            yield from parts_of(kind, part, key, name)
    elif isinstance(source, (str, os.PathLike)):
        check_path(source)
        yield _of_file(kind, standard_input(source), run)
    elif type(source).__module__.partition(".")[0] == "pyspark":
        raise InputError(f"{kind}: a DataFrame of Spark is not read here; give its toPandas()")
    elif is_frame(source):
        yield Part(run, "run", (), column_names(source), partial(get_column, kind, source))
    elif isinstance(source, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in source):
        for path in source:
            yield from parts_of(kind, path, key, run)
    elif isinstance(source, (list, tuple)) and all(isinstance(one, Mapping) for one in source):
        if key in source[0]:
            yield Part(run, "run", [(item_place(at), one) for at, one in enumerate(source)])
        else:
            names = [*dict.fromkeys(name for one in source for name in one)]
            yield Part(run, "run", (), names, lambda name: [one.get(name) for one in source], item_place)
    else:
        raise InputError(
            f"{kind}: cannot read {short_repr(source)}; give a path, a list of paths, a table (pandas, "
            "Polars or Arrow), a list of dicts, or a mapping from names of runs to these"
        )


def _of_file(kind: str, path: str | os.PathLike[str], run: str | None) -> Part:
    """Return a file of JSON Lines, of CSV or TSV with a header, or of Parquet."""
    where, name = os.fspath(path), run_name(path)
    if is_parquet(path):
        try:
            frame = pl.read_parquet(where)
        except pl.exceptions.PolarsError as error:
            raise FileFormatError(f"{where}: cannot be read as Parquet: {error}") from None
        return Part(run, name, (), frame.columns, frame.get_column, lambda row: f"{where}, row {row}")
    data = read_text(where)
    if is_json(data):
        return Part(run, name, _json_lines(data, where))
    header, _, _ = data.partition(b"\n")
    rows, lines = delimited_rows(data, "\t" if b"\t" in header else ",", where)
    names = rows[0] if rows else []
    if "query_id" not in names:
        raise FileFormatError(
            f"{where}: expected {kind} in JSON Lines, or a table with a header that has query_id"
        )
    if uneven := [line for row, line in zip(rows, lines, strict=True) if len(row) != len(names)]:
        raise FileFormatError(f"{where}, line {uneven[0]}: expected {len(names)} fields as in the header")

    def column(name: str) -> list[Any]:
        cells = [row[names.index(name)] or None for row in rows[1:]]
        return [_number_or_text(cell) for cell in cells] if name in _NUMERIC else cells

    return Part(run, name, (), names, column, lambda row: f"{where}, line {lines[row + 1]}")


def _number_or_text(cell: str | None) -> float | str | None:
    try:
        return cell if cell is None else float(cell)
    except ValueError:
        return cell


def _json_lines(data: bytes, path: str) -> Iterator[tuple[str, Any]]:
    for line, raw in enumerate(data.splitlines(), 1):
        if not raw or raw.isspace():
            continue
        try:
            yield f"{path}, line {line}", json.loads(raw)
        except RecursionError:
            raise line_error(path, line, "the JSON is too deeply nested", raw) from None
        except ValueError as error:
            raise line_error(path, line, f"not JSON: {error}", raw) from None


def error_at(place: str, error: object) -> InputError:
    """Return an error about an object of JSON, with its place."""
    return (FileFormatError if ", line " in place else InputError)(f"{place}: {error}")


@dataclass(frozen=True, eq=False)
class Nuggets:
    """Nuggets of topics, or of the answers to them: a row per nugget.

    Attributes:
        query_id: topic of each row, as text.
        run: name of the run of each row; empty for lists, which belong to no run.
        nugget: text of each row; in JSON, repeats in a list are named ``text #2``, ``text #3`` and so on.
        importance: level of each row: vital 2, okay 1, NaN for another label, or the number in a table.
        credit: credit of each row, in [0, 1]; None for lists.
        answers: place of each (run, topic) in the order of the input, also of those without nuggets.
        place: returns the place of a row for errors: 'a.jsonl, line 3: nuggets[2]', 'row 16'.
        notes: sentences on labels that are not known, for a CoverageWarning.
    """

    query_id: list[str]
    run: list[str]
    nugget: list[str]
    importance: Floats
    credit: Floats | None
    answers: Mapping[tuple[str, str], str]
    place: Callable[[int], str]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.nugget)

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        import pandas as pd

        texts = {"query_id": self.query_id, "run": self.run, "nugget": self.nugget}
        columns = {name: pd.Series(values, dtype="str") for name, values in texts.items()}
        return pd.DataFrame({**columns, "importance": self.importance, "assignment": self.credit})

    def describe(self, row: int) -> str:
        """Describe a row by run, topic, nugget and place."""
        run = f"run {self.run[row]!r}, " if self.run[row] else ""
        nugget = short_repr(self.nugget[row])
        return f"{run}topic {self.query_id[row]!r}, nugget {nugget} ({self.place(row)})"


class _Rows:
    """Rows of nuggets as they are read."""

    def __init__(self, kind: str, keys: tuple[str, ...]) -> None:
        self.kind, self.keys = kind, keys
        self.topics: list[str] = []
        self.runs: list[str] = []
        #: Texts, importances and assignments as given.
        self.given: tuple[list[Any], ...] = tuple([] for _ in keys)
        self.answers: dict[tuple[str, str], str] = {}
        self.begins: list[int] = []
        self.places: list[Callable[[int], str]] = []
        self.of_tables: list[int] = []

    @property
    def has_runs(self) -> bool:
        return "assignment" in self.keys

    def place(self, row: int) -> str:
        """Return the place of a row."""
        part = bisect_right(self.begins, row) - 1
        return self.places[part](row - self.begins[part])

    def _begin(self, place: Callable[[int], str]) -> None:
        self.begins.append(len(self.topics))
        self.places.append(place)

    def take(self, part: Part) -> None:
        """Add the nuggets of a file or object."""
        if part.names is not None:
            self._take_table(part)
        for place, record in part.objects:
            self._take_object(part, place, record)

    def _take_object(self, part: Part, place: str, record: Any) -> None:
        try:
            topic = as_text(Node(record)["qid"].value)
            run = part.run_of(record) if self.has_runs else ""
            columns = self._columns(record)
        except InputError as error:
            raise error_at(place, error) from None
        if (run, topic) in self.answers:
            answer = f"run {run!r}, topic {topic!r}" if self.has_runs else f"topic {topic!r}"
            raise InputError(f"{place}: {answer} appears twice, first at {self.answers[run, topic]}")
        self.answers[run, topic] = place
        self._begin(lambda at: f"{place}: nuggets[{at}]")
        size = len(columns[0])
        self.topics += [topic] * size
        self.runs += [run] * size
        for values, new in zip(self.given, (distinct_names(columns[0]), *columns[1:]), strict=True):
            values.extend(new)

    def _columns(self, record: Any) -> list[list[str]]:
        """Return texts and labels of an object. Raises InputError with the path of a value that is wrong."""
        try:
            columns = [[one[key] for one in record["nuggets"]] for key in self.keys]
            if type(record["nuggets"]) is list and all({*map(type, column)} <= {str} for column in columns):
                return columns
        except (KeyError, TypeError):
            pass
        nuggets = [*Node(record)["nuggets"]]
        return [[one[key].text() for one in nuggets] for key in self.keys]

    def _take_table(self, part: Part) -> None:
        wanted = ("query_id", "nugget", *self.keys[1:])
        columns = part.columns(self.kind, wanted, runs=self.has_runs)
        first = len(self.topics)
        self._begin(part.place)
        self.topics += columns["query_id"]
        self.runs += columns["run"]
        for values, name in zip(self.given, wanted[1:], strict=True):
            values.extend(columns[name])
        self.of_tables += range(first, len(self.topics))
        for row in range(first, len(self.topics)):
            if (answer := (self.runs[row], self.topics[row])) not in self.answers:
                self.answers[answer] = self.place(row)

    def _check_tables(self, importance: Floats) -> None:
        """Raise InputError if a table has a nugget of an answer twice, or with two importances."""
        texts = self.given[0]
        seen: dict[tuple[str, ...], int] = {}
        for row in self.of_tables:
            run, topic, nugget = self.runs[row], self.topics[row], texts[row]
            what = (
                f"{self.kind}: {f'run {run!r}, ' if run else ''}topic {topic!r}, nugget {short_repr(nugget)}"
            )
            if (other := seen.setdefault((run, topic, nugget), row)) != row:
                raise InputError(f"{what} appears twice ({self.place(other)} and {self.place(row)})")
            other = seen.setdefault((topic, nugget), row)
            if not np.array_equal(importance[other], importance[row], equal_nan=True):
                values = self.given[1]
                raise InputError(
                    f"{what} has the importance {short_repr(values[row])} ({self.place(row)}), but "
                    f"{short_repr(values[other])} in another row ({self.place(other)})"
                )

    def nuggets(self) -> Nuggets:
        """Return all rows. Raises InputError if there is no answer, or a value is out of its range."""
        if not self.answers:
            raise InputError(f"{self.kind}: there is no {'answer' if self.has_runs else 'list of nuggets'}")
        notes: list[str] = []
        importance = self._numbers(
            1, IMPORTANCES, np.nan, "such nuggets count in importance='all' only", notes
        )
        credit = None
        if self.has_runs:
            credit = self._numbers(2, CREDITS, 0.0, "they count as not_support", notes)
        self._check_tables(importance)
        texts = self.given[0]
        return Nuggets(
            self.topics, self.runs, texts, importance, credit, self.answers, self.place, tuple(notes)
        )

    def _numbers(
        self, column: int, known: Mapping[str, float], unknown: float, effect: str, notes: list[str]
    ) -> Floats:
        """Return the number of each label, and add a note on labels that are not known."""
        name, given = self.keys[column], self.given[column]

        def number(value: Any) -> float:
            if isinstance(value, str):
                return known.get(value.strip().casefold(), math.inf)
            if name == "importance" and is_missing(value):
                return math.inf
            valid = isinstance(value, (int, float, np.number)) and math.isfinite(value)
            return float(value) if valid and (name == "importance" or 0 <= value <= 1) else math.nan

        try:
            numbers = {value: number(value) for value in {*given}}
            found = np.array([numbers[value] for value in given], dtype=np.float64)
        except TypeError:  # a list or dict, which has no hash
            found = np.array([*map(number, given)], dtype=np.float64)
        if np.isnan(found).any():
            row = int(np.isnan(found).argmax())
            raise InputError(
                f"{self.kind}: {self.place(row)}: topic {self.topics[row]!r}, nugget "
                f"{short_repr(self.given[0][row])}: the {name} is {short_repr(given[row])}; it must be one "
                f"of {', '.join(known)}, or a {'level' if name == 'importance' else 'credit from 0 to 1'}"
            )
        others = np.isinf(found)
        if others.any():
            row = int(others.argmax())
            notes.append(
                f"{others.sum()} of {found.size} nuggets have an {name} other than {', '.join(known)}, the "
                f"first {short_repr(given[row])} ({self.place(row)}); {effect}."
            )
            found[others] = unknown
        return found


def is_assignments(source: Any) -> bool:
    """Return whether a source holds assignments rather than qrels; a file is judged by its beginning."""
    if isinstance(source, (list, tuple)):
        return bool(source) and is_assignments(source[0])
    wanted = {"query_id", "nugget", "assignment"}
    if is_frame(source):
        return wanted <= {*column_names(source)}
    if isinstance(source, Mapping):
        known = wanted <= source.keys() or {"qid", "nuggets"} <= source.keys()
        return known or is_assignments(next(iter(source.values()), None))
    if not isinstance(source, (str, os.PathLike)) or not Path(source).is_file() or is_parquet(source):
        return False
    head = next(text_pieces(os.fspath(source), 1), bytes)()
    names = head.partition(b"\n")[0].decode(errors="replace")
    return (
        bool(re.search(rb'"nuggets"\s*:', head)) if is_json(head) else wanted <= {*re.findall(r"\w+", names)}
    )


def _read(kind: str, source: Any, keys: tuple[str, ...]) -> Nuggets:
    rows = _Rows(kind, keys)
    for part in parts_of(kind, source, "nuggets"):
        rows.take(part)
    return rows.nuggets()


def nugget_lists(source: Any) -> Nuggets:
    """Return the nuggets of topics with their importance, without assignments.

    Args:
        source: a path or a list of paths to JSON Lines of nuggetizer, compressed or not; a table (pandas,
            Polars, Arrow, or a file of CSV or Parquet) with the columns query_id, nugget and importance; or a
            list of dicts with these keys, or those of nuggetizer.

    Raises:
        InputError: a topic is on two lines, a nugget appears twice in a table, or a value is wrong.
        FileFormatError: a line of a file cannot be read.
    """
    return _read("nuggets", source, ("text", "importance"))


def nugget_assignments(source: Any) -> Nuggets:
    """Return the nuggets of answers with their credits, with the errors of :func:`read_assignments`."""
    return _read("assignments", source, ("text", "importance", "assignment"))


def read_assignments(paths: Any) -> pd.DataFrame:
    """Read assignments of nuggets to answers as a frame, as input of ``score_answers``.

    Args:
        paths: a file of nuggetizer (JSON Lines, an answer a line, with qid, run_id and nuggets, each with
            text, importance and assignment; plain, gzip, zstandard or xz), a list of files, a table
            (query_id, run, nugget, importance, assignment), a list of dicts, or a mapping from names of runs
            to these. A name in the mapping replaces run_id; without either, a run is named after its file.

    Returns:
        A row per nugget: query_id, run, nugget (the second occurrence in an answer is named ``text #2``),
        importance (vital 2, okay 1, NaN for another label) and assignment (the credit: support 1,
        partial_support 0.5, not_support and other labels 0).

    Raises:
        InputError: a run has two answers to a topic, a credit is not in [0, 1], or there is no answer.
        FileFormatError: a line of a file cannot be read; the message has file, line and path.
        OSError: a file cannot be opened.

    Warns:
        CoverageWarning: an importance or assignment is another label than those above.

    Example:
        >>> import ir_graded
        >>> nuggets = [
        ...     {"text": "founded in 2004", "importance": "vital", "assignment": "support"},
        ...     {"text": "non-profit", "importance": "okay", "assignment": "partial_support"},
        ... ]
        >>> ir_graded.read_assignments([{"qid": "1", "run_id": "llama", "nuggets": nuggets}])
          query_id    run          nugget  importance  assignment
        0        1  llama  founded in 2004         2.0         1.0
        1        1  llama       non-profit         1.0         0.5
    """
    found = nugget_assignments(paths)
    if found.notes:
        warnings.warn(" ".join(found.notes), CoverageWarning, stacklevel=2)
    return found.frame()
