"""Any choice of test folders can be given to pytest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from conftest import MARKERS

TESTS = Path(__file__).parents[1]


def module(path):
    """The name under which pytest imports a file: that of its package, or its own."""
    names = [path.stem]
    while (path.parent / "__init__.py").exists():
        path = path.parent
        names.append(path.name)
    return ".".join(reversed(names))


def test_no_two_files_are_imported_under_one_name():
    """``--doctest-modules`` imports all files, and a second conftest as the first one's name is an error."""
    names = Counter(module(path) for path in TESTS.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_folders_that_have_a_marker_exist():
    """Otherwise all tests of a renamed folder would be essential."""
    assert [folder for folder in MARKERS if not any((TESTS / folder).glob("test_*.py"))] == []
