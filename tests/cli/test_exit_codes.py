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
