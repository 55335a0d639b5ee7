"""Several runs by their names: from one run, a path, a folder, a list or a mapping."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ir_graded.errors import InputError

from .datasets import is_dataset
from .paths import run_name, standard_input
from .records import is_ranx, is_record
from .sources import is_file, is_path_or_dataset_id
from .table import Table


def named_runs(runs: Any) -> dict[str, Any]:
    """Return runs by name, from one run, a path, a list of paths or runs, or a mapping from names.

    Raises InputError for an empty dict, or if two runs have the same name.
    """
    if isinstance(runs, Mapping):
        if not runs:
            raise InputError(
                "the dict of the runs is empty; give a run (topic -> doc_id -> score), or a dict from names "
                "to runs"
            )
        return _by_name(runs) if _names_runs(runs) else {"run": runs}
    if is_path_or_dataset_id(runs):
        return _by_path([runs])
    if isinstance(runs, (list, tuple)) and runs and not hasattr(runs, "_fields"):
        if all(is_path_or_dataset_id(run) for run in runs):
            return _by_path(runs)
        if not any(hasattr(run, "_fields") or is_record(run) for run in runs):
            return {f"run {number}": run for number, run in enumerate(runs, start=1)}
    return {"run": runs}


def find_run(wanted: str | os.PathLike[str], runs: Mapping[str, Any]) -> str | None:
    """Return the name of the one run that is meant by its name or path, with or without extension, or None.

    Args:
        wanted: the name or path. A path with a folder never means a run whose path has another folder.
        runs: runs, or their paths, by name.
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


def _names_runs(runs: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is from names to runs, rather than one run (topic -> doc_id -> score)."""
    return any(map(_is_run, list(runs.values())))


def _is_run(value: Any) -> bool:
    """Return whether a value can only be a run, not the dict of a topic or a number in its place."""
    if isinstance(value, Mapping):
        # Checking one value is enough: either all are dicts of documents or all are scores.
        return isinstance(next(iter(value.values()), None), Mapping)
    return (
        isinstance(value, Table)
        or is_ranx(value)
        or is_path_or_dataset_id(value)
        or is_dataset(value)
        or hasattr(value, "__iter__")
        or hasattr(type(value), "columns")
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
    """Return the files of a folder, sorted by name and without hidden files, or else the path itself."""
    if not os.fspath(path):
        raise InputError("the path of a run is empty")
    if not (is_file(path) and Path(path).is_dir()):
        return [path]
    files = [file for file in sorted(Path(path).iterdir()) if not file.is_dir() and file.name[0] != "."]
    if not files:
        raise InputError(f"the folder {os.fspath(path)} has no files")
    return [*files]
