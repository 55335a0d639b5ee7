"""Files and folders of users: names of runs, standard input, and folders that PyTerrier and BEIR write."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ir_graded.errors import InputError, format_ids, short_repr

_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
#: The file behind ``-``, and the folder of the pipes that a shell names, as in ``<(zcat x.run)``.
_STANDARD_INPUT, _PIPES = "/dev/stdin", "/dev/fd/"
#: Tables of scores that ``pyterrier.Experiment`` writes into ``save_dir``.
_OF_PYTERRIER = ("aggregated.csv", "perquery.csv")
#: Beginning of the JSON of means of BEIR, and of ``Scores.to_json``.
_SCORES = re.compile(rb'\s*\{\s*"(ndcg"\s*:\s*\{\s*"NDCG@|format"\s*:\s*"ir_graded scores")')


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise InputError if a path is not valid for a file, or is bytes."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise InputError(f"the path {short_repr(name)} is bytes; give it as text")
    try:
        possible = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InputError(f"no file can have the path {short_repr(name)}")


def standard_input(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the path of the standard input for ``-``, and any other path unchanged."""
    return _STANDARD_INPUT if path == "-" and not Path("-").exists() else path


def run_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a run that is given by its path: the name of the file, without a compression."""
    place = os.fspath(path)
    if place == _STANDARD_INPUT:
        return "-"
    return place if place.startswith(_PIPES) else uncompressed_name(path)


def uncompressed_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without the suffix of a compression."""
    return Path(path).stem if Path(path).suffix in _COMPRESSIONS else Path(path).name


def is_file(source: object) -> bool:
    """Return whether ``source`` is the path of a file; other text is treated as a dataset id."""
    if isinstance(source, os.PathLike):
        check_path(source)
        return True
    if not isinstance(source, str) or not source:
        return False
    try:
        return Path(source).exists() or Path(source).is_symlink()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def run_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a folder, sorted, without hidden files and without tables of scores."""
    files = [file for file in sorted(Path(folder).iterdir()) if not file.is_dir() and file.name[0] != "."]
    return [file for file in files if not holds_scores(no_pipe(file))]


def no_pipe(file: Path) -> Path:
    """Return a file in a folder. Raises InputError for a pipe or a device, which might never end."""
    if file.exists() and not file.is_file():
        raise InputError(f"{file}: is not a regular file; remove it from the folder, or give it by its path")
    return file


def holds_scores(file: Path) -> bool:
    """Return whether a file has scores of measures, not a run."""
    if file.name in _OF_PYTERRIER:
        return file.read_bytes()[:5] == b"name,"
    if file.suffix != ".json":
        return False
    with file.open("rb") as opened:
        return _SCORES.match(opened.read(200)) is not None


def qrels_file(source: Any) -> Any:
    """Return ``qrels/test.tsv`` of a folder of BEIR, and anything but a folder unchanged."""
    if not is_file(source) or not Path(source).is_dir():
        return source
    files = {file.name: file for file in sorted(Path(source, "qrels").glob("*.tsv"))}
    if "test.tsv" not in files:
        there = f" (this one has {', '.join(f'qrels/{name}' for name in files)})" if files else ""
        raise InputError(
            f"{os.fspath(source)} is a folder without qrels/test.tsv, which folders of BEIR have{there}; "
            "give the path of the file of the qrels"
        )
    return no_pipe(files["test.tsv"])


def collections_in(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the folders of BEIR in a folder by name, such as ``scifact`` or ``cqadupstack/android``."""
    # Patterns without ** also find links to folders.
    found = sorted(file.parent for depth in ("*", "*/*") for file in Path(folder).glob(f"{depth}/qrels"))
    if not found:
        raise InputError(
            f"{os.fspath(folder)}: no folders of BEIR (NAME/qrels/test.tsv); give a dict from names to qrels"
        )
    return {one.relative_to(folder).as_posix(): one for one in found}


def runs_of_collection(runs: Any, name: str) -> dict[str, Any]:
    """Return the runs of a collection by name.

    ``runs`` maps names of runs to folders with a file per collection, or to dicts from collections to runs.
    A folder of such folders is also possible.
    """
    if isinstance(runs, (str, os.PathLike)):
        runs = {one.name: one for one in sorted(Path(runs).iterdir()) if one.is_dir()}
    if not isinstance(runs, Mapping) or not runs:
        raise InputError(
            "runs: expected a dict from names of runs to folders with a file per collection, or to dicts "
            "from collections to runs"
        )
    return {str(run): _run_of_collection(str(run), given, name) for run, given in runs.items()}


def _run_of_collection(run: str, given: Any, name: str) -> Any:
    """Return the run of a collection from a dict or a folder."""
    if isinstance(given, Mapping):
        if name in given:
            return given[name]
        raise InputError(f"run {run!r}: no run of collection {name!r}, only of {format_ids([*given])}")
    if not isinstance(given, (str, os.PathLike)) or not Path(given).is_dir():
        found = short_repr(given)
        raise InputError(f"run {run!r}: expected a folder or a dict of collections, found {found}")
    place = Path(given, name)
    # As save_runfile of BEIR and MTEB name them: scifact.run.trec, SciFact_predictions.json.
    wanted = re.compile(re.escape(place.name) + r"(_default)?(_predictions)?(\.[a-z]+)*", re.IGNORECASE)
    files = run_files(place.parent) if place.parent.is_dir() else []
    matching = [file for file in files if wanted.fullmatch(file.name)]
    if len(matching) != 1:
        there = ", ".join(file.name for file in matching) or "no such file"
        raise InputError(
            f"run {run!r}: expected one file of collection {name!r} in {place.parent}, such as "
            f"{place.name}.run or {place.name}_predictions.json, found {there}"
        )
    return matching[0]


def by_path(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """Return runs by file name without the suffix of a compression, or by path if file names repeat."""
    given = [os.fspath(file) for path in paths for file in _files(standard_input(path))]
    names = list(map(run_name, given))
    unique = [name if names.count(name) == 1 else path for name, path in zip(names, given, strict=True)]
    if len(set(unique)) < len(unique):
        twice = next(name for name in unique if unique.count(name) > 1)
        raise InputError(f"the run {'-' if twice == _STANDARD_INPUT else twice} is given twice")
    return dict(zip(unique, given, strict=True))


def _files(path: str | os.PathLike[str]) -> list[str | os.PathLike[str]]:
    """Return the files of runs in a folder, sorted by name, or else the path itself."""
    if not os.fspath(path):
        raise InputError("the path of a run is empty")
    if is_file(path) and Path(path).is_file() and holds_scores(Path(path)):
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
