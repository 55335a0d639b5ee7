"""Whether a file that is opened again is still the one that was opened first."""

from __future__ import annotations

import os
from typing import NamedTuple

from ir_graded.errors import FileFormatError


class FileState(NamedTuple):
    """What tells whether a file that is opened again is another or was written to."""

    device: int
    number: int
    size: int
    written: int

    @classmethod
    def of(cls, found: os.stat_result) -> FileState:
        """The state of a file by what the operating system says of it."""
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def check(self, found: os.stat_result, path: str | os.PathLike[str]) -> None:
        """Raise FileFormatError where the file that was found in this state is in another now."""
        if FileState.of(found) != self:
            raise FileFormatError(f"{os.fspath(path)}: was changed while it was read")
