"""Any selection of test folders can be passed to pytest."""

import re
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

from conftest import AT_NIGHT, MARKERS
from where import PACKAGE, TABLE, places_of

TESTS = Path(__file__).parents[1]
PROJECT = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
#: Folders that mutation testing leaves out: they run other processes or programs, need a JVM or real
#: collections, or test the documentation and the project.
NOT_FOR_MUTANTS = {"collections", "docs", "fuzz", "notebooks", "project", "spark"}


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


def test_tests_that_are_nightly_exist():
    assert [place for place in AT_NIGHT if not (TESTS / place).exists()] == []


def test_every_module_has_tests_that_exist():
    modules = [*PACKAGE.rglob("*.py")]
    missing = [str(test) for module in modules for test in places_of(module) if not test.exists()]
    assert missing == []
    names = [module.relative_to(PACKAGE).as_posix() for module in modules]
    first = {next(pattern for pattern in TABLE if fnmatch(name, pattern)) for name in names}
    assert [pattern for pattern in TABLE if pattern not in first] == []


def test_modules_are_imported_by_name_only_where_names_are_a_list():
    """``lint-imports`` does not see such imports: of lazy names, extras, families and commands."""
    by_name = {path for path in PACKAGE.rglob("*.py") if "import_module" in path.read_text(encoding="utf-8")}
    known = ("_utils/later.py", "_utils/measure_names.py", "measures/__init__.py", "cli/main.py")
    assert by_name == {PACKAGE / path for path in known}


def test_mutation_testing_selects_every_folder_of_tests_and_no_file_that_is_gone():
    named = re.findall(r'"(?:--ignore=|--deselect=)?tests/([\w/]+(?:\.py)?)', PROJECT)
    assert [path for path in named if not (TESTS / path).exists()] == []
    folders = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert folders - {*named} == NOT_FOR_MUTANTS


def test_mutation_testing_mutates_every_room_that_computes():
    mutated = re.findall(r'"ir_graded/(\w+)/\*\.py"', PROJECT)
    assert {"core", "evaluation", "io", "matching", "measures", "meta", "passages"} <= {*mutated}
