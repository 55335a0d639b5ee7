"""Check for processes forked after Polars started its threads, in which Polars would wait forever."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ir_graded.errors import GradedError

_THREADS = Path("/proc/self/task")
#: This process and its ancestors that had threads of Polars when they forked.
_forked_with_threads: set[int] = set()


def check_fork() -> None:
    """Raise GradedError if Polars cannot work in this process. Call this before using Polars.

    Raises:
        GradedError: the threads of Polars are in a process from which this one was forked.
    """
    if _forked_with_threads - {os.getpid()}:
        raise GradedError(
            "this process was forked after Polars had started its threads, which a fork leaves behind: only "
            "dicts of dicts can be scored here; start processes with multiprocessing.get_context('spawn') or "
            "'forkserver'"
        )


def _before_fork() -> None:
    if "polars" in sys.modules and (not _THREADS.exists() or any(map(_is_of_pool, _THREADS.glob("*/comm")))):
        _forked_with_threads.add(os.getpid())


def _is_of_pool(name: Path) -> bool:
    with suppress(OSError):  # the thread may have ended
        return name.read_bytes() == b"polars-0\n"  # importing Polars starts others, which no work waits for
    return False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
