"""Which of the long suites run before a merge, by what has changed; mutants whose line is gone."""

import importlib.util
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("grimp", reason="import-linter is not installed")


@pytest.fixture(scope="module")
def touched():
    loader = SourceFileLoader("touched", str(ROOT / ".ci" / "touched"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("touched", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["docs/guide/ties.rst", "README.md", "notebooks/execute.py"], []),
        (["ir_graded/spark/files.py"], ["spark"]),
        (["ir_graded/matching/dicts.py"], ["guard"]),
        (["tests/spark/conftest.py"], ["spark"]),
        (["ir_graded/reporting/templates/page.js"], ["browser"]),
        (["ir_graded/cli/measures.py"], []),
        (["benchmarks/peers.py"], ["guard"]),
        (["tests/faults/fault_cases.py"], ["faults"]),
        (["pyproject.toml"], ["spark", "browser", "faults", "guard"]),
        (None, ["spark", "browser", "faults", "guard"]),
    ],
)
def test_a_change_runs_the_suites_that_test_it(touched, monkeypatch, changed, expected):
    monkeypatch.chdir(ROOT)
    assert touched.suites(changed)[0] == expected


def test_a_change_that_all_reach_gets_the_smoke_tests_which_are_named(touched, monkeypatch):
    monkeypatch.chdir(ROOT)
    found, notes = touched.suites(["ir_graded/core/derived.py"])
    assert found == []
    assert "spark: the smoke test only, after changes to ir_graded.core.derived" in notes


def test_an_unknown_commit_is_no_list_of_files(touched, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert touched.changed_files("") is None
    assert touched.changed_files("no-such-commit") is None


def test_every_mutant_written_by_hand_finds_its_line():
    command = [sys.executable, str(ROOT / ".ci" / "hand_mutants"), "check"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # no shell
    assert done.stdout.endswith(" mutants, lost: none\n")
