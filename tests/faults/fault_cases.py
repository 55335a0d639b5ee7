"""A small collection as files, and the command line in separate processes that tests may kill."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers import rows_of, trec_lines

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1, "d": 0}, "3": {"e": 1, "f": 2}}
RUNS = {
    "one.run": {"1": {"a": 2.0, "x": 1.0}, "2": {"c": 1.0}, "3": {"e": 1.0}},
    "two.run": {"1": {"x": 2.0, "b": 1.0}, "2": {"c": 1.0}, "3": {"x": 2.0, "e": 1.0}},
}
#: Time limit of a process in seconds, which a busy machine must not reach.
PATIENCE = 60

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
#: Options for a Python that forks: from 3.12 on, it warns if there are threads.
FORKED = ("-W", "error", "-W", "ignore:This process:DeprecationWarning")
needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals, pipes and limits of POSIX")


def write_collection(folder):
    """Write qrels.txt, one.run and two.run."""
    (folder / "qrels.txt").write_text(trec_lines("qrels", rows_of(QRELS)), encoding="utf-8")
    for name, run in RUNS.items():
        (folder / name).write_text(run_text(run), encoding="utf-8")


def run_text(run):
    return trec_lines("run", rows_of(run))


def command(*arguments):
    return [sys.executable, "-m", "ir_graded", *map(str, arguments)]


def started(arguments, folder, **options):
    """Start the command line; stdout and stderr can be read from the process unless they are redirected."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen(  # noqa: S603  (the arguments are literals of the tests)
        arguments, cwd=folder, text=True, encoding="utf-8", env=environment(), **(pipes | options)
    )


def environment():
    return os.environ | {"PYTHONIOENCODING": "utf-8", "MPLBACKEND": "agg"}


def ended(process):
    """Return exit code, stdout and stderr of a process. A process that does not exit fails the test."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail("the process did not end")
    assert "Traceback" not in (err or ""), err
    return process.returncode, out, err


def called(arguments, folder, **options):
    return ended(started(arguments, folder, **options))


def shell(line, folder):
    """Run a shell line with ``ir_graded`` as the command; PIPESTATUS needs bash."""
    line = f'ir_graded() {{ "{sys.executable}" -m ir_graded "$@"; }}; {line}'
    return called(["bash", "-c", line], folder)


@contextmanager
def public_folder():
    """A folder that every user may read; pytest's own are readable by its user alone."""
    with tempfile.TemporaryDirectory(prefix="ir-graded-") as name:
        place = Path(name).resolve()
        place.chmod(0o755)
        yield place
        place.chmod(0o755)


_WITHOUT_PRIVILEGES = """
import json, os, sys
# All that the calls import: the other user may not be let into the environment that it lies in.
import jinja2, markupsafe, matplotlib.pyplot, numpy.random, scipy.stats
import ir_graded.meta, ir_graded.plots.meta, ir_graded.reporting
from ir_graded.cli import main

ir_graded.evaluate("Q", "warm.txt", ["warm.run", "warm.run.2"])
if os.geteuid() == 0:
    os.setuid(65534)
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as end:
        print(end.code, flush=True)
"""


def without_privileges(calls, folder, mode=0o755):
    """Call the command line as a user other than root, who may do everything; codes on stdout.

    ``mode`` is set on the folder first.
    """
    (folder / "warm.txt").write_text("1 0 a 1\n")
    (folder / "warm.run").write_text("1 Q0 a 1 1 t\n")
    (folder / "warm.run.2").write_text("1 Q0 a 1 1 t\n")
    folder.chmod(mode)
    return called([sys.executable, "-c", _WITHOUT_PRIVILEGES, json.dumps(calls)], folder)


class Stalled:
    """A run that never arrives: a named pipe, whose reader waits."""

    def __init__(self, path):
        self.path = Path(path)
        os.mkfifo(self.path)
        self.end = None

    def read(self, process):
        """Return once a process has read a line of it, and so waits for more."""
        limit = time.monotonic() + PATIENCE
        while self.end is None or self._unread():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < limit
            try:
                if self.end is None:
                    self.end = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
                    os.write(self.end, b"1 Q0 a 1 1 t\n")
            except OSError:  # nobody is reading yet
                select.select([], [], [], 0.02)

    def _unread(self):
        """Return the number of bytes in the pipe."""
        import fcntl
        import termios

        return int.from_bytes(fcntl.ioctl(self.end, termios.FIONREAD, bytes(4)), sys.byteorder)

    def close(self):
        if self.end is not None:
            os.close(self.end)


def interrupted(process, stalled, number=signal.SIGINT):
    """Send a signal to a process that waits for runs which never arrive; return its code and output."""
    for run in stalled:
        run.read(process)
    process.send_signal(number)
    found = ended(process)
    for run in stalled:
        run.close()
    return found


def hidden_files(folder):
    """Return the files that an unfinished write leaves behind."""
    return [path.name for path in Path(folder).iterdir() if path.name.endswith(".tmp")]
