"""Every option of every command changes the output, the exit code or a written file.

Commands that take RUNs take their names, and responses in a list.
"""

import json
import re
import shlex
from functools import cache

import pytest
from cli.command_cases import ARGUMENTS, TOPICS, arguments, command_of, options, write_files
from helpers import run_command

from ir_graded.cli.main import commands

#: Options whose words are an error.
REJECTS = {"--beyond"}
#: Commands of runs that have names, and that may be responses of a search engine.
OF_RUNS = [name for name, text in ARGUMENTS.items() if re.search("{(source|run|runs|on_runs)}", text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    write_files(folder)
    return folder


def drawn(_figure, file, **more):
    file.write("<svg></svg>" if more["format"] == "svg" else b"figure")


@pytest.fixture
def outcome(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    # Figures are tested elsewhere, and rendering takes long.
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", drawn)
    # Each option would change the command that a report shows.
    monkeypatch.setattr(shlex, "join", lambda _: "")

    def run(command, text):
        """Return exit code, output and all files that a command writes."""
        before = {*folder.rglob("*")}
        result = run_command(capsys, *command.split(), *shlex.split(text))
        new = sorted({*folder.rglob("*")} - before, reverse=True)
        written = {path.name: path.read_bytes() for path in new if path.is_file()}
        for path in new:
            path.unlink() if path.is_file() else path.rmdir()
        return *result, written

    return run


def test_every_command_is_tested_here():
    names = {f"{n} {one}" for n in commands.commands for one in getattr(command_of(n), "commands", [])}
    names |= {name for name in commands.commands if not hasattr(command_of(name), "commands")}
    assert names == ARGUMENTS.keys()


def check(outcome, command):
    usual_outcome = cache(lambda given: outcome(command, given))
    assert usual_outcome(arguments(command))[0] in {0, 1, 3}, usual_outcome(arguments(command))[2]
    for option, given, words in options(command):
        before, after = usual_outcome(given), outcome(command, f"{given} {words}")
        assert before != after, (option, after[:3])
        assert (after[0] in {0, 1, 3}) == (option not in REJECTS), (option, after[2])
        assert "Traceback" not in after[2]


# Two tests, because a mutant meets only some cases of a test that has many.
@pytest.mark.slow
@pytest.mark.parametrize("command", [*ARGUMENTS][:10])
def test_every_option_changes_the_outcome(outcome, command):
    check(outcome, command)


@pytest.mark.slow
@pytest.mark.parametrize("command", [*ARGUMENTS][10:])
def test_every_option_of_further_commands_changes_the_outcome(outcome, command):
    check(outcome, command)


def test_every_command_with_runs_takes_names_and_responses():
    """``trec_eval`` and ``passages check`` read certain files, and print no names of their own."""
    taking = {name for name in ARGUMENTS if {"run", "runs"} & {one.name for one in command_of(name).params}}
    assert taking - {"trec_eval", "passages check"} == {*OF_RUNS}
    of_lists = {name for name in ARGUMENTS if "query_ids" in {one.name for one in command_of(name).params}}
    assert of_lists == {*OF_RUNS}


def with_files(text, file_of):
    """Return arguments in which the files of runs are others."""
    return re.sub(r"(\w+)\.run", lambda found: file_of(found[1]), text)


@pytest.mark.parametrize("command", OF_RUNS)
@pytest.mark.parametrize("way", ["NAME=FILE", "tag"])
def test_every_command_takes_names_of_runs(outcome, command, way):
    usual = arguments(command)
    given = with_files(usual, "tag_{0}={0}.run".format) if way == "NAME=FILE" else f"{usual} --names tag"
    found, expected = outcome(command, given), outcome(command, usual)
    assert ("tag_one" in str(found)) == ("one.run" in str(expected))
    # Widths of columns and compressed data differ, and ``verify`` finds other names than were saved.
    texts = [re.sub(r'"application/zlib".*?<', "", str(one)) for one in (found, expected)]
    texts = [re.sub(r"[\s-]|\\n|tag_|\.run", "", text) for text in texts]
    assert command == "verify" or texts[0] == texts[1]


@pytest.mark.parametrize("command", OF_RUNS)
def test_responses_in_a_list_give_the_output_of_those_by_query(outcome, folder, command):
    usual = arguments(command)
    (folder / "ids.txt").write_text("\n".join(TOPICS))
    for name in re.findall(r"(\w+)\.run", usual):
        rows = [line.split() for line in (folder / f"{name}.run").read_text().splitlines()]
        rows = sorted(((row[0], row[2], float(row[4])) for row in rows), key=lambda row: -row[2])
        hits = [[{"_id": doc, "_score": score} for of, doc, score in rows if of == one] for one in TOPICS]
        responses = [{"took": 1, "hits": {"hits": one}} for one in hits]
        (folder / f"{name}.list").write_text(json.dumps({"took": 3, "responses": responses}))
        (folder / f"{name}.by").write_text(json.dumps(dict(zip(TOPICS, responses, strict=True))))
    in_list = outcome(command, with_files(f"{usual} --query-ids ids.txt", "{0}.run={0}.list".format))
    assert in_list == outcome(command, with_files(usual, "{0}.run={0}.by".format))
    assert in_list[0] == (command == "verify"), in_list[2]
