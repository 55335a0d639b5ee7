"""The shell's command exits at once, with Python's exit code."""

import os
from importlib import import_module

import pytest

from ir_graded.cli import run


@pytest.mark.parametrize(
    ("code", "expected"), [(None, 0), (0, 0), (2, 2), (130, 130), ("what went wrong", 1)]
)
def test_the_process_exits_with_the_code(monkeypatch, code, expected):
    def ending():
        raise SystemExit(code)

    codes = []
    # The package's attribute "main" is the function.
    monkeypatch.setattr(import_module("ir_graded.cli.main"), "main", ending)
    monkeypatch.setattr(os, "_exit", codes.append)
    run()
    assert codes == [expected]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError("the device is gone"), "the device is gone"),
        (OSError(28, "No space left on device", "table.csv"), "table.csv: No space left on device"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (MemoryError("9 TiB"), "not enough memory (9 TiB)"),
        (KeyboardInterrupt(), "interrupted"),
        (RuntimeError("could not download\n  x"), "could not download x"),
    ],
)
def test_an_error_is_one_line(monkeypatch, capsys, error, line):
    def failing(*_arguments, **_options):
        raise error

    main = import_module("ir_graded.cli.main")
    monkeypatch.setattr(main.commands, "main", failing)
    with pytest.raises(SystemExit) as stopped:
        main.main(["evaluate"])
    assert stopped.value.code == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert capsys.readouterr() == ("", f"ir_graded: {line}\n")
