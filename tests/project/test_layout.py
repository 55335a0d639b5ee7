"""Any choice of test folders can be given to pytest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

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
