"""Any selection of test folders can be passed to pytest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from conftest import MARKERS

TESTS = Path(__file__).parents[1]


def module(path):
    """Return the name under which pytest imports a file: the name of its package, or of the file."""
    names = [path.stem]
    while (path.parent / "__init__.py").exists():
        path = path.parent
        names.append(path.name)
    return ".".join(reversed(names))


def test_no_two_files_have_one_import_name():
    """``--doctest-modules`` imports all files, and a second conftest of equal name is an error."""
    names = Counter(module(path) for path in TESTS.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_folders_that_have_a_marker_exist():
    """If a folder were renamed, its tests would lose the marker."""
    assert [folder for folder in MARKERS if not any((TESTS / folder).glob("test_*.py"))] == []
