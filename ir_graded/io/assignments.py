"""Answers as files and tables: nuggets and their assignments as nuggetizer writes them, and citations."""

from __future__ import annotations

import io
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from ir_graded.core.levels import LARGEST
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import CoverageWarning, FileFormatError, InputError, short_repr, valid_text

from .forms import is_frame
from .parquet import is_parquet, parser_errors_with_path
from .paths import check_path, run_name, standard_input
from .records import Node, distinct_names, read_json
from .table import as_strings, check_columns, column_names, first_null, item_place, objects_at, row_place
from .text import (
    delimited_rows,
    is_json,
    line_error,
    read_text,
    text_pieces,
)
from .values import as_text, is_missing, number_or_text, text_ids

if TYPE_CHECKING:
    import pandas as pd

#: Levels of importance and credits of assignments by their labels.
IMPORTANCES = {"vital": 2.0, "okay": 1.0}
CREDITS = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
#: Weights of citations by labels in lower case, with blanks between words.
_SUPPORT = {"fs": 1.0, "full support": 1.0, "ps": 0.5, "partial support": 0.5, "ns": 0.0, "no support": 0.0}
_NEEDS = {True: True, False: False, "true": True, "false": False}
#: Effect of labels that are not known.
_EFFECT = {
    "importance": "such nuggets count in importance='all' only",
    "assignment": "they count as not_support",
}


#: Words of tables that mean an assignment but are not one of ``CREDITS``.
_SIMILAR = re.compile(r"(not?|un|none|full(y)?|partial(ly)?)?[ _-]?(support(s|ed)?)?(?<=.)|[fpn]s")

#: Columns of a text file whose cells may be numbers.
_NUMERIC = {"importance", "assignment", "relevance"}


#: Objects of JSON that are read beside tables.
_OBJECTS = {
    "assignments": "qid, run_id and nuggets (each with text, importance and assignment)",
    "nuggets": "qid and nuggets (each with text and importance)",
    "citations": "topic_id, run_id and support_eval (each with citations and eval_scores)",
}


class Part(NamedTuple):
    """One file or object of an input: the objects of JSON, each with its place, or the columns of a table.

    ``run`` is the name that the caller gives, ``unnamed`` that of rows without a name, and ``path`` the file.
    """

    run: str | None
    unnamed: str
    path: str = ""
    objects: Iterable[tuple[str, Any]] = ()
    names: Sequence[str] | None = None
    get: Callable[[str], Any] = list
    place: Callable[[int], str] = row_place

    def run_of(self, record: Any) -> str:
        """Return the name of the run of an object of JSON."""
        if self.run is not None:
            return self.run
        return as_text(record["run_id"]) if "run_id" in record else self.unnamed

    def columns(
        self, kind: str, ids: Sequence[str], others: Sequence[str], *, runs: bool = False
    ) -> dict[str, list[Any]]:
        """Return ids of a table as text, and other columns as objects, or raise InputError."""
        names = self.names or ()
        ids = ["run", *ids] if runs and self.run is None and "run" in names else ids
        error = FileFormatError if self.path else InputError
        objects = "" if "query_id" in names else _OBJECTS.get(kind, "")
        hint = objects and f"; give such a table, or objects with {objects}"
        check_columns(self.path or kind, names, (*ids, *others), hint, error)
        found: dict[str, list[Any]] = {}
        for name in ids:
            texts = as_strings(self.get(name), f"{kind}: {name}", distinct=True)
            if (row := first_null(texts)) is not None:
                raise InputError(f"{kind}: {self.place(row)} has no {name}")
            found[name] = texts.to_list()
        every = np.arange(len(found["query_id"]), dtype=np.int64)
        found |= {name: objects_at(self.get(name), every) for name in others}
        given = self.unnamed if self.run is None else self.run
        return {"run": [given if runs else ""] * every.size, **found}


def part_of_frame(frame: Any, run: str | None = None) -> Part:
    """Return the columns of a frame or an Arrow table."""
    return Part(run, "run", names=column_names(frame), get=frame.__getitem__)


def parts_of(kind: str, source: Any, key: str, run: str | None = None) -> Iterator[Part]:
    """Yield the files and objects of an input. ``key`` is in every object of JSON, but in no table."""
    given: Iterable[tuple[str | None, Any]]
    if isinstance(source, Mapping) and source and run is None and not {key, "query_id"} & source.keys():
        given = zip(text_ids([*source], "run", kind), source.values(), strict=True)
    elif _is_list_of(source, (str, os.PathLike)):
        given = ((run, path) for path in source)
    else:
        yield _part(kind, source, key, run)
        return
    for name, one in given:
        yield from parts_of(kind, one, key, name)


def _is_list_of(source: Any, kinds: Any) -> bool:
    return (
        isinstance(source, (list, tuple)) and bool(source) and all(isinstance(one, kinds) for one in source)
    )


def _part(kind: str, source: Any, key: str, run: str | None) -> Part:
    if isinstance(source, (str, os.PathLike)):
        check_path(source)
        return _of_file(kind, standard_input(source), key, run)
    if not hasattr(source, "collect") and is_frame(source):
        return part_of_frame(source, run)
    if _is_list_of(source, Mapping):
        return _of_objects(((item_place(at), one) for at, one in enumerate(source)), key, run, "run")
    of_run = "" if run is None else f"run {run!r}: "
    raise InputError(
        f"{kind}: {of_run}cannot read {short_repr(source)}; give a path, a list of paths, a table (pandas, "
        "Polars or Arrow; of Spark its toPandas()), a list of dicts, or a mapping from names of runs to these"
    )


def _of_file(kind: str, path: str | os.PathLike[str], key: str, run: str | None) -> Part:
    """Return a file of JSON, of CSV or TSV with a header, or of Parquet."""
    where, name = os.fspath(path), run_name(path)
    if is_parquet(path):
        with parser_errors_with_path(path):
            frame = pl.read_parquet(where)
        return part_of_frame(frame, run)._replace(
            unnamed=name, path=where, place=lambda row: f"{where}, row {row}"
        )
    data = read_text(where)
    if is_json(data):
        return _of_objects(_objects_in(data, where), key, run, name, where)
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
        return [*map(number_or_text, cells)] if name in _NUMERIC else cells

    return Part(run, name, where, (), names, column, lambda row: f"{where}, line {lines[row + 1]}")


def _of_objects(
    objects: Iterable[tuple[str, Any]], key: str, run: str | None, name: str, path: str = ""
) -> Part:
    """Return objects with their places as they are if the first has ``key``, else as the rows of a table."""
    given = iter(objects)
    head = [*islice(given, 1)]
    first = head[0][1] if head else None
    if not isinstance(first, Mapping) or key in first:
        return Part(run, name, path, chain(head, given))
    rows = [*head, *given]
    for place, one in rows:
        if not isinstance(one, Mapping):
            raise error_at(place, f"{short_repr(one)} is not an object as before")
    names = [*dict.fromkeys(chain.from_iterable(one for _, one in rows))]
    get = lambda name: [one.get(name) for _, one in rows]  # noqa: E731
    return Part(run, name, path, (), names, get, lambda row: rows[row][0])


def _objects_in(data: bytes, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the objects of JSON Lines, or of one array, with their places."""
    if data.lstrip()[:1] == b"[" and isinstance(content := read_json(data, path), list):
        with valid_text():
            json.dumps(content, ensure_ascii=False).encode()
        yield from ((f"{path}, item {at}", one) for at, one in enumerate(content))
        return
    for line, raw in enumerate(io.BytesIO(data), 1):
        if raw.isspace():
            continue
        try:
            found = json.loads(raw.rstrip())
            if b"\\u" in raw:
                json.dumps(found, ensure_ascii=False).encode()  # an error for half of a surrogate pair
            yield f"{path}, line {line}", found
        except RecursionError:
            raise line_error(path, line, "the JSON is too deeply nested", raw) from None
        except ValueError as error:
            raise line_error(path, line, f"not JSON: {error}", raw) from None


def error_at(place: str, error: object) -> InputError:
    """Return an error about an object of JSON, with its place."""
    return (FileFormatError if re.search(", (line|item) ", place) else InputError)(f"{place}: {error}")


@dataclass(frozen=True, eq=False)
class Nuggets:
    """Nuggets of topics, or of the answers to them: a row per nugget, and the rows of an answer together.

    Attributes:
        query_id: topic of each row, as text.
        run: name of the run of each row; empty for lists, which belong to no run.
        nugget: text of each row; in JSON, repeats in a list are named ``text #2``, ``text #3`` and so on.
        importance: level of each row: vital 2, okay 1, NaN for another label, or the number in a table.
        credit: credit of each row, in [0, 1]; 0 in lists.
        answers: place of each (run, topic) in the order of the input, also of those without nuggets.
        bounds: first row of each answer, and the number of rows.
        place: returns the place of a row for errors: 'a.jsonl, line 3: nuggets[2]', 'row 16'.
        notes: sentences on labels that are not known, for a CoverageWarning.
    """

    query_id: list[str]
    run: list[str]
    nugget: list[str]
    importance: Floats
    credit: Floats
    answers: Mapping[tuple[str, str], str]
    bounds: Ints
    place: Callable[[int], str]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.nugget)

    def to_frame(self) -> pd.DataFrame:
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


#: Run, topic and place of an answer, its columns, and a function for the places of its nuggets.
_Answer = tuple[str, str, str, list[list[Any]], Callable[[int], str]]


def _answers_in_json(part: Part, keys: tuple[str, ...]) -> Iterator[_Answer]:
    for place, record in part.objects:
        try:
            topic = as_text(Node(record)["qid"].value)
            columns: list[list[Any]] = _columns(record, keys)
            columns[0] = distinct_names(columns[0])
            run = part.run_of(record)
        except InputError as error:
            raise error_at(place, error) from None
        yield run, topic, place, columns, lambda at, place=place: f"{place}: nuggets[{at}]"  # type: ignore[misc]


def _columns(record: Any, keys: tuple[str, ...]) -> list[list[str]]:
    """Return texts and labels of an object. Raises InputError with the path of a value that is wrong."""
    try:
        columns = [[one[key] for one in record["nuggets"]] for key in keys]
        if type(record["nuggets"]) is list and all({*map(type, column)} <= {str} for column in columns):
            return columns
    except (KeyError, TypeError):
        pass
    nuggets = [*Node(record)["nuggets"]]
    return [[one[key].text() for one in nuggets] for key in keys]


def _answers_in_table(part: Part, keys: tuple[str, ...]) -> Iterator[_Answer]:
    kind, has_runs = _kind(keys), "assignment" in keys
    columns_of = part.columns(kind, ("query_id", "nugget"), keys[1:], runs=has_runs)
    runs, topics, texts, *labels = (columns_of[name] for name in ("run", "query_id", "nugget", *keys[1:]))
    levels = [_number(label, IMPORTANCES) for label in labels[0]]
    for row, label in enumerate(labels[1] if has_runs else ()):
        if _number(label, CREDITS) == math.inf and _SIMILAR.fullmatch(label.strip().casefold()):
            raise _wrong_label(kind, "assignment", label, CREDITS, part.place(row))
    first: dict[tuple[str, ...], int] = {}
    rows_of: dict[tuple[str, str], list[int]] = {}
    for row, (run, topic, text) in enumerate(zip(runs, topics, texts, strict=True)):
        rows_of.setdefault((run, topic), []).append(row)
        again, other = (first.setdefault(key, row) for key in ((run, topic, text), (topic, text)))
        if again != row or (other != row and levels[other] != levels[row]):
            at, problem = (other, "has two importances") if again == row else (again, "appears twice")
            of_run = f" for run {run!r}" if run and again != row else ""
            raise InputError(
                f"{kind}: topic {topic!r}, nugget {short_repr(text)} {problem}{of_run} "
                f"({part.place(at)} and {part.place(row)})"
            )
    for (run, topic), rows in rows_of.items():
        columns = [[column[row] for row in rows] for column in (texts, *labels)]
        yield run, topic, part.place(rows[0]), columns, lambda at, rows=rows: part.place(rows[at])  # type: ignore[misc]


def _number(value: Any, known: Mapping[str, float]) -> float:
    """Return the number of a label: inf if it is not known, NaN if it is neither a label nor a number."""
    if isinstance(value, str):
        return known.get(value.strip().casefold(), math.inf)
    least, most = (-LARGEST, LARGEST) if known is IMPORTANCES else (0, 1)
    if isinstance(value, (int, float, np.number)) and type(value) is not bool and least <= value <= most:
        return float(value)
    return math.inf if known is IMPORTANCES and is_missing(value) else math.nan


def _kind(keys: tuple[str, ...]) -> str:
    """Return the name of an input in messages."""
    return "assignments" if "assignment" in keys else "nuggets"


def _numbers(
    kind: str, name: str, labels: list[Any], known: Mapping[str, float], place: Callable[[int], str]
) -> tuple[Floats, list[str]]:
    """Return the number of each label, inf if it is not known, and a sentence on such labels."""
    try:
        of_label = {label: _number(label, known) for label in {*labels}}
        found = np.array([*map(of_label.__getitem__, labels)], dtype=np.float64)
    except TypeError:  # a list or dict, which has no hash
        found = np.array([_number(label, known) for label in labels])
    for row in np.flatnonzero(np.isnan(found))[:1].tolist():
        raise _wrong_label(kind, name, labels[row], known, place(row))
    valid = ", ".join(known)
    others = np.flatnonzero(np.isinf(found)).tolist()
    return found, [
        f"{len(others)} of {len(labels)} nuggets have an {name} other than {valid}, the first "
        f"{short_repr(labels[row])} ({place(row)}); {_EFFECT[name]}."
        for row in others[:1]
    ]


def _wrong_label(kind: str, name: str, label: Any, known: Mapping[str, float], place: str) -> InputError:
    number = "level" if known is IMPORTANCES else "credit from 0 to 1"
    return InputError(
        f"{kind}: {place}: the {name} is {short_repr(label)}; it must be one of {', '.join(known)} "
        f"or a {number}"
    )


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


def _read(source: Any, *keys: str) -> Nuggets:
    kind, has_runs = _kind(keys), "assignment" in keys
    answers: dict[tuple[str, str], str] = {}
    found: list[_Answer] = []
    for part in parts_of(kind, source, "nuggets"):
        before = len(found)
        read = _answers_in_json if part.names is None else _answers_in_table
        for answer in read(part if has_runs else part._replace(run=""), keys):
            run_id, topic, where, _, _ = answer
            if (other := answers.setdefault((run_id, topic), where)) is not where:
                words = f"run {run_id!r}, topic {topic!r}" if has_runs else f"topic {topic!r}"
                raise InputError(f"{where}: {words} appears twice, first at {other}")
            found.append(answer)
        if len(found) == before:
            raise InputError(f"{kind}: {part.path or repr(part.run or part.unnamed)} has no answer")
    given = [[*chain.from_iterable(answer[3][at] for answer in found)] for at in range(len(keys))]
    sizes = [len(columns[0]) for _, _, _, columns, _ in found]
    bounds = np.cumsum([0, *sizes])
    run = [answer[0] for answer, size in zip(found, sizes, strict=True) for _ in range(size)]
    query_id = [answer[1] for answer, size in zip(found, sizes, strict=True) for _ in range(size)]

    def place(row: int) -> str:
        answer = int(np.searchsorted(bounds, row, side="right")) - 1
        return found[answer][4](row - int(bounds[answer]))

    levels, notes = _numbers(kind, "importance", given[1], IMPORTANCES, place)
    levels[np.isinf(levels)] = np.nan
    credit = np.zeros(len(run))
    if has_runs:
        credit, more = _numbers(kind, "assignment", given[2], CREDITS, place)
        credit[np.isinf(credit)] = 0.0
        notes += more
    return Nuggets(query_id, run, given[0], levels, credit, answers, bounds, place, tuple(notes))


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
    return _read(source, "text", "importance")


def nugget_assignments(source: Any) -> Nuggets:
    """Return the nuggets of answers with their credits, with the errors of :func:`read_assignments`."""
    return _read(source, "text", "importance", "assignment")


def read_assignments(paths: Any) -> pd.DataFrame:
    """Read assignments of nuggets to answers as a frame, as input of ``score_answers``.

    Args:
        paths: a file of nuggetizer (JSON Lines, an answer a line, with qid, run_id and nuggets, each with
            text, importance and assignment; plain, gzip, zstandard or xz), a list of files, a table
            (query_id, run, nugget, importance, assignment; also in CSV, Parquet or JSON), a list of dicts, or
            a mapping from names of runs to these. A name in the mapping replaces run_id; without either, a
            run is named after its file.

    Returns:
        A row per nugget: query_id, run, nugget (the second occurrence in an answer is named ``text #2``),
        importance (vital 2, okay 1, NaN for another label) and assignment (the credit: support 1,
        partial_support 0.5, not_support and other labels 0).

    Raises:
        InputError: a run has two answers to a topic, a credit is not in [0, 1], an assignment in a table is
            a similar word, such as ``partial``, or there is no answer.
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
    return found.to_frame()


class Citations(NamedTuple):
    """Weights of the citations of each sentence that needs one, by (run, topic), and notes for a warning."""

    answers: Mapping[tuple[str, str], list[list[float]]]
    notes: tuple[str, ...]


#: Run and topic, sentence, cited document or None, label of support, needs_citation, and place.
_Cited = tuple[tuple[str, str], str, str | None, Any, Any, str]


def read_citations(source: Any) -> Citations:
    """Return the citations in a file, table, list or mapping from names of runs.

    Raises:
        InputError: an unknown label, a document twice in a sentence, or an answer on two lines.
        FileFormatError: a line of a file cannot be read.
    """
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    unlabelled = list[str]()
    for part in parts_of("citations", source, "support_eval"):
        rows = _citations_in_table(part) if part.names is not None else _citations_in_json(part, found)
        for (run, topic), sentence, doc_id, support, needs, place in rows:
            sentences, problem = found.setdefault((run, topic), {}), ""
            needed = _NEEDS.get(needs.casefold() if isinstance(needs, str) else is_missing(needs) or needs)
            cited = sentences.setdefault(sentence, {}) if needed else {}
            if needed is None:
                problem = f"needs_citation is {short_repr(needs)}; it must be true or false"
            elif doc_id in cited:
                problem = f"document {doc_id!r} appears twice"
            elif needed and doc_id is not None:
                words = "ns" if is_missing(support) else str(support).strip().casefold()
                unlabelled += [place] * is_missing(support)
                cited[doc_id] = _SUPPORT.get(re.sub(r"[\s_-]+", " ", words), math.nan)
                if math.isnan(cited[doc_id]):
                    problem = f"the support is {short_repr(support)}; it must be FS, PS or NS"
            if problem:
                raise error_at(place, f"run {run!r}, topic {topic!r}, sentence {sentence!r}: {problem}")
    if not found:
        raise InputError("citations: there is no answer")
    answers = {key: [[*cited.values()] for cited in sentences.values()] for key, sentences in found.items()}
    citations, missing = sum(map(len, chain.from_iterable(answers.values()))), len(unlabelled)
    return Citations(
        answers,
        tuple(
            f"{missing} of {citations} citations have no label and count 0, the first at {place}."
            for place in unlabelled[:1]
        ),
    )


def _citations_in_table(part: Part) -> Iterator[_Cited]:
    needs = ["needs_citation"] if "needs_citation" in (part.names or ()) else []
    found = part.columns("citations", ("query_id", "sentence"), ("doc_id", "support", *needs), runs=True)
    documents = as_strings(found["doc_id"], "citations: doc_id").to_list()
    for row, doc_id in enumerate(documents):
        answer = found["run"][row], found["query_id"][row]
        needed = found["needs_citation"][row] if needs else True
        yield answer, found["sentence"][row], doc_id, found["support"][row], needed, part.place(row)


def _citations_in_json(part: Part, found: dict[tuple[str, str], Any]) -> Iterator[_Cited]:
    for place, record in part.objects:
        node = Node(record)
        try:
            answer = part.run_of(record), as_text(node["topic_id" if "topic_id" in node else "qid"].value)
            if answer in found:
                raise InputError(f"run {answer[0]!r}, topic {answer[1]!r} appears twice")
            found[answer] = {}
            for at, sentence in enumerate(node["support_eval"]):
                cited, labels = [*sentence["citations"]], [*sentence["eval_scores"]]
                if len(cited) != len(labels):
                    raise sentence.error(f"has {len(cited)} citations and {len(labels)} eval_scores")
                needs = sentence.value.get("needs_citation", True)
                yield answer, str(at), None, None, needs, f"{place}: {sentence.place}"
                for one, label in zip(cited, labels, strict=True):
                    yield answer, str(at), as_text(one.value), label.value, needs, f"{place}: {label.place}"
        except InputError as error:
            raise error_at(place, error) from None
