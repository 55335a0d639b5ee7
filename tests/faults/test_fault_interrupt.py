"""Interrupts during the work end it at once, with no half-written file and no traceback."""

import os
import signal
import threading

import pytest
from ecosystem.processes import python
from faults.fault_cases import (
    PATIENCE,
    Stalled,
    command,
    hidden_files,
    interrupted,
    needs_posix,
    started,
    write_collection,
)
from helpers import run_command

from ir_graded._utils.threads import in_threads

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _signals_are_heard():
    """Deliver Ctrl-C even if the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def folder(tmp_path):
    write_collection(tmp_path)
    return tmp_path


def stalled(folder, number):
    return [Stalled(folder / f"stalled{at}.run") for at in range(number)]


@pytest.mark.smoke
@needs_posix
@pytest.mark.parametrize("runs", [1, 2])
def test_an_interrupted_evaluation_prints_nothing(folder, runs):
    """The main thread reads one run; for several, it waits for other threads."""
    waiting = stalled(folder, runs)
    names = [run.path.name for run in waiting]
    process = started(command("evaluate", "qrels.txt", *names, "-m", "Q"), folder)
    code, out, err = interrupted(process, waiting)
    assert (code, out, err.split("\n")) == (130, "", ["", "ir_graded: interrupted", ""])


@needs_posix
def test_an_interrupted_report_keeps_the_old_file(folder):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    (folder / "page.html").write_text("the old page")
    waiting = stalled(folder, 1)
    arguments = command("report", "qrels.txt", "one.run", "stalled0.run", "-m", "Q", "--html", "page.html")
    code, out, _ = interrupted(started(arguments, folder), waiting)
    assert (code, out) == (130, "")
    assert (folder / "page.html").read_text() == "the old page"
    assert hidden_files(folder) == []


USED_AS_A_LIBRARY = """
    import os, signal, sys

    def forbidden(*arguments):
        raise AssertionError(arguments)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal = signal.siginterrupt = forbidden
    os.chdir(sys.argv[1])
    import ir_graded
    ir_graded.evaluate("Q", "qrels.txt", ["one.run", "two.run"])
    ir_graded.evaluate("Q", ir_graded.read_qrels("qrels.txt"), ir_graded.read_run("one.run"))
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@needs_posix
def test_the_library_does_not_change_the_handling_of_interrupts(folder):
    """Only the command line changes the handler."""
    assert python(USED_AS_A_LIBRARY, folder) == "True\n"


@needs_posix
def test_the_command_line_lets_an_interrupt_end_a_wait_for_a_pipe(folder, monkeypatch, capsys):
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write((folder / "one.run").read_bytes())
    changed = []
    monkeypatch.setattr(signal, "siginterrupt", lambda *given: changed.append(given))
    for run, expected in (("one.run", []), (f"/dev/fd/{reading}", [(signal.SIGINT, True)])):
        assert run_command(capsys, "evaluate", folder / "qrels.txt", folder / run, "-m", "Q")[0] == 0
        assert changed == expected
    os.close(reading)


# ------------------------------------------------------------------------------------- threads


@needs_posix
def test_an_interrupt_does_not_wait_for_the_threads():
    go_on, begun, ended = threading.Event(), [], []

    def work(item):
        begun.append(item)
        if item == 1:
            # Unlike _thread.interrupt_main, a signal also interrupts a wait that has begun.
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        go_on.wait(PATIENCE)
        ended.append(item)

    with pytest.raises(KeyboardInterrupt):
        list(in_threads(work, range(100), 2))
    assert ended == []
    go_on.set()
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread.name.startswith("ThreadPoolExecutor"):
            thread.join()
    assert set(begun) <= {0, 1, 2}


def test_an_error_waits_for_running_work():
    second, told, begun, ended = threading.Event(), threading.Event(), [], []

    def work(item):
        if item == 0:
            second.wait(PATIENCE)
            raise ValueError("the first")
        begun.append(item)
        second.set()
        told.wait(0.05)  # an error that did not wait would have been raised by now
        ended.append(item)

    with pytest.raises(ValueError, match="the first"):
        list(in_threads(work, range(100), 2))
    assert sorted(begun) == sorted(ended)
    told.set()
    assert 1 <= len(ended) < 10


def test_an_abandoned_iteration_leaves_no_thread():
    before = set(threading.enumerate())
    found = in_threads(lambda item: item, iter(int, 1), 2)
    assert next(found) == 0
    ours = set(threading.enumerate()) - before
    assert ours
    found.close()
    assert not ours & set(threading.enumerate())
