"""Checks of paths and files: valid paths, errors with the path, and files that changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ir_graded.errors import FileFormatError, InputError, short_repr

_COMPRESSIONS = (".gz", ".xz", ".zst")
#: Attributes of a file that change when the file changes.
_STATE = ("st_dev", "st_ino", "st_size", "st_mtime_ns")
#: The file behind ``-``, and the folder of the pipes that a shell names, as in ``<(zcat x.run)``.
_STANDARD_INPUT, _PIPES = "/dev/stdin", "/dev/fd/"


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


@contextmanager
def errors_with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path to errors of the operating system, which lack it after the file is open."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise


def check_unchanged(path: str | os.PathLike[str], before: os.stat_result) -> None:
    """Raise FileFormatError if a regular file was written to or replaced since ``before``."""
    if stat.S_ISREG(before.st_mode):
        now = Path(path).stat()
        if any(getattr(now, name) != getattr(before, name) for name in _STATE):
            raise FileFormatError(f"{os.fspath(path)}: was changed while it was read")
