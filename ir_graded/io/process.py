"""What Polars does to the process that it works in: forks lose its threads, and interrupts come late."""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ir_graded.errors import GradedError

_TASKS = Path("/proc/self/task")
#: The name of a thread of Polars' pool.
_THREAD = re.compile(r"polars-\d+\s*")


@dataclass
class _Process:
    """What this process knows of Polars' pool.

    Attributes:
        used: tables or files were worked on here.
        running: its threads ran when the process forked last.
        lost: they were left behind in a process that this one descends from.
    """

    used: bool = False
    running: bool = False
    lost: bool = False

    def before_fork(self) -> None:
        """Look for the threads: the child cannot see them."""
        self.running = "polars" in sys.modules and _has_threads(self.used)

    def in_child(self) -> None:
        """What was running is lost here."""
        self.lost = self.lost or self.running


_process = _Process()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_process.before_fork, after_in_child=_process.in_child)


def check_process() -> None:
    """To be called before a table or a file is worked on.

    Raises:
        GradedError: this process was forked after Polars had started its threads. It would wait for them
            without end.
    """
    if _process.lost:
        raise GradedError(
            "this process was forked after Polars had started its threads, which a fork leaves behind: only "
            "dicts of dicts can be scored here; start processes by multiprocessing.get_context('spawn') or "
            "'forkserver'"
        )
    if not _process.used:
        _process.used = True
        _let_interrupt()


def _has_threads(otherwise: bool) -> bool:
    """Whether Polars' pool runs in this process; ``otherwise`` where a process cannot list its threads."""
    try:
        tasks = list(_TASKS.iterdir())
    except OSError:
        return otherwise
    for task in tasks:
        # A thread may end in the meantime.
        with suppress(OSError):
            if _THREAD.fullmatch((task / "comm").read_text(encoding="utf-8", errors="replace")):
                return True
    return False


def _let_interrupt() -> None:
    """Let an interrupt end a wait, as Python has it.

    The handler that Polars puts before Python's when it is imported has the system take up reads and waits
    again, so that Ctrl-C is heard of only at their end: https://github.com/pola-rs/polars/issues/21739.
    """
    import polars  # noqa: F401  # only when its handler is there can it be mended

    if hasattr(signal, "siginterrupt") and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.siginterrupt(signal.SIGINT, True)
