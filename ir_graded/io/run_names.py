"""Runs by name: from paths, folders, lists and the arguments of commands."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from inspect import isfunction
from pathlib import Path
from typing import Any

from ir_graded.core.facets import is_record
from ir_graded.errors import InputError

from .experiments import holds_scores, is_pipeline, run_files
from .records import is_ranx
from .responses import is_ranked
from .sources import is_dataset, is_file, is_path_or_dataset_id, is_regular_file, table_of
from .text import fields_between_tabs, line_error, read_text, run_name, split_fields, standard_input

#: Position of the tag in lines of runs by their number of fields: TREC, Genomics, INEX FOL.
_TAG = {6: 5, 7: 6, 8: 5}


def named_runs(runs: Any, kind: str = "run") -> dict[str, Any]:
    """Return runs by name, from one run, a path, a list of paths or runs, or a mapping from names.

    Responses of search engines become tables. With another ``kind``, the runs are sets of qrels.
    """
    if is_ranked(runs):
        return {"run": table_of(kind, runs)}
    named = _named(runs)
    return {name: table_of(kind, run) if is_ranked(run) else run for name, run in named.items()}


def _named(runs: Any) -> dict[str, Any]:
    if isinstance(runs, Mapping):
        if not runs:
            raise InputError(
                "the dict of the runs is empty; give a run (topic -> doc_id -> score), or a dict from names "
                "to runs"
            )
        # Else topic -> doc_id -> score.
        return _by_name(runs) if any(map(_is_run, list(runs.values()))) else {"run": runs}
    if is_path_or_dataset_id(runs):
        return _by_path([runs])
    if isinstance(runs, (list, tuple)) and runs and not hasattr(runs, "_fields"):
        if all(is_path_or_dataset_id(run) for run in runs):
            return _by_path(runs)
        if not any(hasattr(run, "_fields") or is_record(run) for run in runs):
            return {f"run {number}": run for number, run in enumerate(runs, start=1)}
    return {"run": runs}


def runs_of_arguments(texts: Iterable[str], by_tag: bool = False) -> list[str] | dict[str, str]:
    """Return the runs of a command: paths, or paths by name if one is ``NAME=PATH`` or if tags are names.

    Args:
        texts: paths, folders, dataset ids, or these behind a name and an equals sign. A text is a path if
            this path exists, or if what is in front of its first equals sign has a separator of folders.
        by_tag: whether files without a name are named by their tags.

    Raises:
        InputError: two runs have one name, a name or a path is missing, or a tag cannot be read.
        FileFormatError: as for ``run_tag``.
    """
    given: list[str] = []
    named: list[tuple[str, str]] = []
    for text in texts:
        name, mark, path = text.partition("=")
        if not mark or is_file(text) or any(sep in name for sep in (os.sep, os.altsep) if sep):
            given.append(text)
            continue
        place = os.fspath(standard_input(path))
        if not name.strip() or not path or Path(place).is_dir():
            problem = "a folder has several" if name.strip() and path else "a part is missing"
            raise InputError(f"the run {text!r} must be NAME=FILE with one file: {problem}")
        named.append((name, place))
    if not named and not by_tag:
        return given
    for name, path in _by_path(given).items() if given else ():
        named.append((run_tag(path) if by_tag and is_file(path) else name, path))
    first: dict[str, str] = {}
    for name, path in named:
        if name in first:
            raise InputError(f"{first[name]} and {path} are both named {name!r}: give one as NAME={path}")
        first[name] = path
    return first


def run_tag(path: str) -> str:
    """Return the tag of a run file, which all its lines have.

    Raises:
        InputError: the file has no lines, or is a pipe, which cannot be read again for its documents.
        FileFormatError: a line has no tag, or two lines have different ones.
    """
    if not is_regular_file(path):
        raise InputError(f"{path}: the tag of a pipe or folder cannot be read; name the run NAME={path}")
    tag, at = b"", 0
    data = read_text(path)
    tabs = fields_between_tabs(data)
    for line, raw in enumerate(io.BytesIO(data), 1):
        fields = split_fields(raw, tabs)
        if not fields:
            continue
        if len(fields) not in _TAG:
            problem = f"expected a run with tags (topic Q0 doc rank score tag), found {len(fields)} fields"
            raise line_error(path, line, problem, raw)
        if (found := fields[_TAG[len(fields)]]) != (tag := tag or found):
            names = " and ".join(repr(one.decode(errors="replace")) for one in (tag, found))
            raise line_error(path, line, f"the tags of lines {at} and {line} differ, {names}", raw)
        at = at or line
    if not tag:
        raise InputError(f"{path}: there are no lines, so the run has no tag; name the run NAME={path}")
    return tag.decode(errors="replace")


def find_run(wanted: str | os.PathLike[str], runs: Mapping[str, Any]) -> str | None:
    """Return the name of the one run that is meant by its name or path, with or without extension, or None.

    A path with a folder never means a run whose path has another folder.
    """
    text = os.fspath(wanted)
    if text in runs:
        return text
    path, base = Path(text), run_name(text)
    near = [
        name
        for name, run in runs.items()
        if path.name == text or not is_path_or_dataset_id(run) or Path(run).parent == path.parent
    ]
    found = [name for name in near if Path(name).name == base] or [
        name for name in near if Path(name).stem == base
    ]
    return found[0] if len(found) == 1 else None


def _is_run(value: Any) -> bool:
    """Return whether a value can only be a run, not the dict of a topic or a number in its place."""
    if isinstance(value, Mapping):
        # Checking one value is enough: either all are dicts of documents or all are scores.
        return isinstance(next(iter(value.values()), None), Mapping) or is_ranked(value)
    return (
        is_ranx(value)
        or is_path_or_dataset_id(value)
        or is_dataset(value)
        or is_pipeline(value)
        or isfunction(value)  # which is rejected as a run
        or hasattr(value, "__iter__")
        or hasattr(type(value), "columns")
        or hasattr(value, "place_of")  # a Table, without importing Polars
    )


def _by_name(runs: Mapping[Any, Any]) -> dict[str, Any]:
    try:
        named = {str(name): run for name, run in runs.items()}
    except ValueError:
        raise InputError("the name of a run is an int with too many digits; give the name as text") from None
    if len(named) < len(runs):
        names = list(map(str, runs))
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two runs have the same name as text: {twice!r}")
    return named


def _by_path(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """Return runs by file name without the suffix of a compression, or by path if file names repeat."""
    given = [os.fspath(file) for path in paths for file in _files(standard_input(path))]
    names = list(map(run_name, given))
    unique = [name if names.count(name) == 1 else path for name, path in zip(names, given, strict=True)]
    if len(set(unique)) < len(unique):
        twice = next(name for name in unique if unique.count(name) > 1)
        raise InputError(f"the run {twice} is given twice")
    return dict(zip(unique, given, strict=True))


def _files(path: str | os.PathLike[str]) -> list[str | os.PathLike[str]]:
    """Return the files of runs in a folder, sorted by name, or else the path itself."""
    if not os.fspath(path):
        raise InputError("the path of a run is empty")
    if is_regular_file(path) and holds_scores(Path(path)):
        raise InputError(
            f"{os.fspath(path)} has scores of measures, not a run: leave it out, or give the path of its "
            "folder, of which only the runs are read"
        )
    if not (is_file(path) and Path(path).is_dir()):
        return [path]
    files = run_files(path)
    if not files:
        raise InputError(f"the folder {os.fspath(path)} has no files of runs")
    return [*files]
