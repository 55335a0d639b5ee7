"""Atomic writes: a file is written as a whole or not at all. All files of the package are written here."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ir_graded.errors import InputError


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to write, with links resolved. Raises OSError or InputError."""
    if "\0" in os.fspath(path):
        raise InputError(f"the file name {os.fspath(path)!r} has a NUL character")
    if os.fspath(path) == "-":
        raise InputError("- is not the name of a file to write; give a name, or ./- for a file of this name")
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(place.parent))
    if place.exists() and not place.is_file():
        raise InputError(f"{os.fspath(path)} is not a file; give the name of the file to write")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "the folder is not writable", str(place.parent))
    return place


def write_whole(place: Path, content: bytes) -> None:
    """Write a temporary file, then replace the old file, so that readers see the old or the new file."""
    # A name can have 255 bytes, and a character up to four.
    from secrets import token_hex

    beside = place.with_name(f".{place.name[:32]}.{token_hex(8)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except OSError as error:
        # Name the given file, not the temporary one; errors of writing name no file.
        raise OSError(error.errno, error.strerror or str(error), str(place)) from error
    finally:
        beside.unlink(missing_ok=True)
