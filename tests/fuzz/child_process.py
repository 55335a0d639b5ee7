"""Calls in a separate process: it may crash without harm, and its memory is measured."""

import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

#: Linux reports the peak memory of this process here, and resets it on request.
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
#: Memory limit of a call, so that a failing test does not harm the machine.
_LIMIT = 8 << 30
#: Seconds after which a call counts as hanging, even on a busy machine.
_ENDLESS = 240


class Child:
    """A process that starts on first use, and again after a call has ended it."""

    def __init__(self):
        self.pool = None

    def call(self, function, *arguments):
        """Return the outcome of a call: ``(outcome, peak memory in MiB)``.

        The outcome is None if the call succeeded, else the type and message of the error.

        Raises:
            BrokenProcessPool: the call ended the process.
            TimeoutError: the call did not end.
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
    except BaseException as error:  # panics of polars do not derive from Exception
        outcome = (type(error).__name__, str(error))
    return outcome, _most() - before


def _most():
    """Return the peak memory of this process in MiB."""
    if _STATUS.exists():
        lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)
