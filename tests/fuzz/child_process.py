"""Calls in a process of their own: it may die without harm, and its memory is measured."""

from __future__ import annotations

import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

#: Where Linux tells the largest memory that this process held, and forgets it when asked to.
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
#: No call gets more, so that a failing test does no harm to the machine.
_LIMIT = 8 << 30
#: Seconds after which a call counts as one that never ends, on a machine that has other work.
_ENDLESS = 240


class Child:
    """A process that is started when it is first needed, and again where a call has ended it."""

    def __init__(self):
        self.pool = None

    def call(self, function, *arguments):
        """What became of a call: ``(outcome, MiB that it took at most)``.

        The outcome is None where all went well, else the error's type and message.

        Raises:
            BrokenProcessPool: the call ended the process.
            TimeoutError: it did not end.
        """
        if self.pool is None:
            self.pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_limited)
        try:
            return self.pool.submit(_measured, function, arguments).result(_ENDLESS)
        except BaseException:
            self.close()
            raise

    def close(self):
        """End the process."""
        if self.pool is not None:
            for process in list(self.pool._processes.values()):
                process.kill()
            self.pool.shutdown()
            self.pool = None


def _limited():
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_LIMIT, _LIMIT))


def _measured(function, arguments):
    with suppress(OSError):
        _FORGET.write_text("5")
    before = _most()
    outcome = None
    try:
        function(*arguments)
    except BaseException as error:  # polars' panics are no Exception
        outcome = (type(error).__name__, str(error))
    return outcome, _most() - before


def _most():
    """The most MiB that this process has held."""
    if _STATUS.exists():
        lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)
