"""Errors on the command line name options, not parameters of Python."""

import click
import pytest
from helpers import assert_command_fails, run_command

from ir_graded.cli.main import commands, for_shell


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "one.run").write_text("1 Q0 a 1 2 t\n2 Q0 b 1 2 t\n")
    return lambda *arguments: run_command(capsys, *arguments)


FILES = ("qrels.txt", "one.run")


def test_errors_name_options(run):
    assert_command_fails(run("evaluate", *FILES, "-m", "Q", "--unjudged", "intervals"), "--depth 100")
    assert_command_fails(run("evaluate", *FILES, "-m", "Q", "--unjudged", "bounds"), "--unjudged intervals")
    report = ("report", *FILES, "-m", "Q", "--html", "x.html")
    assert_command_fails(run(*report, "--depth", "5"), "--depth 5 needs --n-samples >= 1")
    assert_command_fails(run(*report, "--baseline", "none"), "--baseline none must be one of")


def test_every_parameter_is_named_as_its_long_option():
    for command in commands.commands.values():
        for one in command.params:
            if isinstance(one, click.Option) and one.expose_value and one.type is not click.BOOL:
                long = next((name for name in one.opts if name.startswith("--")), one.opts[0])
                assert for_shell(f"{one.name}=3 is wrong", command) == f"{long} 3 is wrong"


@pytest.mark.parametrize(
    "message",
    [
        "NCU: ties='x' must be one of",
        "Q(ties='expected') takes",
        "data/depth=5/x.run: No such file",
        "the run 'n_samples' is given twice",
        "topic '1', document 'depth=5'",
        "power and depth and level",
    ],
)
def test_parameters_of_measures_names_and_words_stay(message):
    for command in commands.commands.values():
        assert for_shell(message, command) == message
