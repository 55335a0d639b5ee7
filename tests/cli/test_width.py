"""Tables in a terminal of 80 columns."""

import shlex

import pytest
from cli.command_cases import ARGUMENTS, arguments, options, write_files
from helpers import run_command

from ir_graded._utils.text_tables import TextTable, fitted, wrapped

#: Commands that print texts of a page, or what trec_eval prints.
WITHOUT_TABLES = {"report", "trec_eval", "passages check"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("width")
    write_files(folder)
    return folder


@pytest.mark.parametrize("name", sorted(ARGUMENTS.keys() - WITHOUT_TABLES))
def test_every_command_fits_80_columns(capsys, monkeypatch, folder, name):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    wide = [given for flag, given, _ in options(name) if flag == "--wide"]
    for given in [arguments(name), *wide]:
        _, out, _ = run_command(capsys, name, *shlex.split(given))
        assert out
        code = (">>>", "...")
        assert [line for line in out.splitlines() if len(line) > 80 and line.lstrip()[:3] not in code] == []
    if wide:
        assert max(map(len, run_command(capsys, name, *shlex.split(wide[0]), "--wide")[1].splitlines())) > 80


TABLE = TextTable(["run"], ["first", "same", "other", "last"], [(["a"], [1, 2, 3, 4]), (["b"], [1, 2, 5, 6])])


def test_a_table_that_fits_is_whole():
    assert fitted(TABLE, 0, 60) == fitted(TABLE, 0, float("inf"))
    assert "In all rows" not in fitted(TABLE, 0, 60)


def test_columns_of_one_value_are_named_below_and_others_continue():
    parts = fitted(TABLE, 0, 12).split("\n\n")
    assert [part.split("\n")[0].split() for part in parts[:-1]] == [
        ["run", "first"],
        ["run", "other"],
        ["run", "last"],
    ]
    assert parts[-1] == "In all rows:\nsame 2."
    assert "In all rows" not in fitted(TextTable(["run"], TABLE.names, TABLE.rows[:1]), 0, 12)


def test_a_word_is_never_broken():
    assert wrapped("use nDCG(judged_only=True)@10 here", 10) == "use\nnDCG(judged_only=True)@10\nhere"
    assert wrapped("one two", float("inf")) == "one two"
