"""Stdout and stderr that are full, closed, or without a reader are reported by the exit code."""

import io
import os
import sys
from pathlib import Path

import pytest
from faults.fault_cases import called, command, needs_posix, shell, write_collection

import ir_graded
from ir_graded._utils.threads import progress_bar
from ir_graded.cli.output import show
from ir_graded.errors import InputError

EVALUATE = command("evaluate", "qrels.txt", "one.run", "two.run", "-m", "Q AP")
WRONG = command("evaluate", "qrels.txt", "nowhere.run", "-m", "Q")

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

pytestmark = [needs_posix, pytest.mark.slow]


@pytest.fixture
def folder(tmp_path):
    write_collection(tmp_path)
    return tmp_path


@pytest.mark.parametrize("output", ["table", "csv", "jsonl"])
def test_an_encoding_without_a_character_is_reported_with_the_remedy(folder, output):
    (folder / "one.run").rename(folder / "\u6f22.run")
    line = f"ir_graded evaluate qrels.txt *.run -m Q -o {output}"
    problem = "ir_graded: standard output, in cp1252, cannot hold '\\u6f22'; set the environment variable "
    found = shell(f"unset PYTHONUTF8; export PYTHONIOENCODING=cp1252; {line}", folder)
    assert found == (2, "", problem + "PYTHONUTF8=1\n")
    assert shell(f"unset PYTHONIOENCODING; export PYTHONUTF8=1; {line}", folder)[0] == 0


def test_a_character_is_reported_with_its_remedy(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "cp1252"))
    for text, remedy in (("\u6f22", "set the environment variable PYTHONUTF8=1"), ("\ud800", "use -o jsonl")):
        with pytest.raises(InputError, match=rf"^standard output, in cp1252, cannot hold '.*'; {remedy}$"):
            show(text)


@pytest.mark.smoke
@needs_full
@pytest.mark.parametrize("arguments", [EVALUATE, command("measures"), command("demo")], ids=lambda a: a[3])
def test_a_full_disk_is_reported(folder, arguments):
    with Path("/dev/full").open("w") as full:
        code, _, err = called(arguments, folder, stdout=full)
    assert (code, err) == (2, "ir_graded: standard output: No space left on device\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_partial_write_is_reported(folder, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    with (folder / "table").open("w") as table:
        code, _, err = called(EVALUATE, folder, stdout=table, preexec_fn=limit)
    assert (code, err) == (2, "ir_graded: standard output: File too large\n")
    assert (folder / "table").stat().st_size == 10


def test_a_missing_reader_gives_a_silent_exit_code(folder):
    """As with other programs: no message, and a code that is not 0."""
    read, write = os.pipe()
    os.close(read)
    try:
        assert called(EVALUATE, folder, stdout=write) == (1, None, "")
    finally:
        os.close(write)


def test_a_reader_that_leaves_early_gives_a_silent_exit_code(folder):
    """The output is larger than a pipe, which is full when the reader leaves."""
    name = "r" * 200
    for number in range(500):
        (folder / f"{number}{name}").hardlink_to(folder / "one.run")
    line = f"ir_graded evaluate qrels.txt *{name} -m Q | head -1; echo ${{PIPESTATUS[@]}}"
    code, out, err = shell(line, folder)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["run", "Q"]
    assert out.splitlines()[1] == "1 0"


def test_closed_output_is_reported_before_any_work(folder):
    code, out, err = shell("ir_graded evaluate qrels.txt nowhere.run -m Q >&-", folder)
    assert (code, out) == (2, "")
    assert err == "ir_graded: standard output is closed: redirect it to /dev/null if you do not need it\n"


def test_an_error_with_closed_stderr_has_its_exit_code(folder):
    assert shell("ir_graded evaluate qrels.txt nowhere.run -m Q 2>&-", folder)[0] == 2
    read, write = os.pipe()
    os.close(read)
    try:
        assert called(WRONG, folder, stderr=write)[0] == 2
    finally:
        os.close(write)


def test_closed_stderr_has_no_progress_bar(monkeypatch):
    run = {"1": {"a": 1.0}}
    monkeypatch.setattr(sys, "stderr", None)
    assert ir_graded.evaluate("Q", {"1": {"a": 1}}, {"one": run, "two": run}, progress=True).mean().size == 2
    assert [progress_bar([], progress=shown).disable for shown in (None, True)] == [True, True]
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # which is not a terminal
    assert [progress_bar([], progress=shown).disable for shown in (None, True, False)] == [True, False, True]


def test_closed_stderr_does_not_stop_a_successful_call(folder):
    """Two runs have a progress bar, but there is no stderr for it."""
    code, out, _ = shell("ir_graded evaluate qrels.txt one.run two.run -m Q 2>&-", folder)
    assert code == 0
    assert len(out.splitlines()) == 4
