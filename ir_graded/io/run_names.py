"""Names of runs: those of the arguments of commands, and the run that a name means."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ir_graded.errors import InputError

from .paths import by_path, is_file, run_name, standard_input
from .text import fields_between_tabs, line_error, read_text, split_fields

#: Position of the tag in lines of runs by their number of fields: TREC, Genomics, INEX FOL.
_TAG = {6: 5, 7: 6, 8: 5}


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
    for name, path in by_path(given).items() if given else ():
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
    if not Path(path).is_file():
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
        if path.name == text or run is None or run.path is None or Path(run.path).parent == path.parent
    ]
    found = [name for name in near if Path(name).name == base] or [
        name for name in near if Path(name).stem == base
    ]
    return found[0] if len(found) == 1 else None
