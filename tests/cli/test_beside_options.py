"""Files passed beside the qrels, such as ``--intents FILE`` and ``--groups NAME=FILE``."""

import json
import shlex

import pytest
from cli.command_cases import arguments, options, write_files
from helpers import assert_command_fails, run_command

import ir_graded

TOGETHER = 'intents.txt columns.run -m \'D-nDCG@2 GFR(groups={"A":"RNOD"})@5\' --intents probabilities.txt'


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return lambda text, *more: run_command(capsys, *shlex.split(text), *more)


@pytest.mark.parametrize("option", ["--intents", "--nuggets", "--groups", "--lengths"])
def test_commands_give_the_scores_of_evaluate(run, tmp_path, option):
    def given(command):
        """Return the words of a command with the option, "" without it."""
        return next((f"{command} {text} {w}" for flag, text, w in options(command) if flag == option), "")

    _, qrels, *runs, _, measure, _, file = shlex.split(given("evaluate"))
    further = {} if option == "--groups" else {option[2:]: file}
    judged = qrels if further else ir_graded.with_groups(qrels, {"A": "groups.txt"})
    scores = ir_graded.evaluate(measure, judged, runs, **further)
    means = scores.mean().iloc[:, 0].to_dict()
    assert len({*means.values()}) > 1
    shown = run(f"{given('evaluate')} -o jsonl -p -1")[1].splitlines()
    assert {row["run"]: row["value"] for row in map(json.loads, shown)} == means
    found = ir_graded.compare_runs(measure, judged, runs[0], runs, **further)
    compared = json.loads(run(f"{given('compare')} -o json -p -1")[1])["comparisons"]
    assert [row["mean"] for row in compared] == found.mean.tolist() == [means[name] for name in runs[1:]]
    assert {row["baseline_mean"] for row in compared} == {means[runs[0]]}
    alone = ("compare", qrels, runs[0], "-m", measure, option, file, "--min")
    assert run("", *alone, f"{measure}={means[runs[0]] + 1e-6}")[0] == 1
    if explained := given("explain"):
        assert run(explained)[1].split()[-1] == f"{scores.matrix(measure).loc['t1'].iloc[0]:.4f}"
        assert run(given("report"))[0] == 0
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert f"{means[runs[0]]:.4f}" in page
        assert f"{option} {file}" in page


def test_intents_and_groups_in_one_call(run, tmp_path):
    lines = (tmp_path / "groups.txt").read_text().splitlines(keepends=True)
    (tmp_path / "groups.txt").write_text("".join(line for line in lines if line.split()[1] in "abc"))
    code, out, err = run(f"evaluate {TOGETHER} --groups A=groups.txt")
    assert (code, err, len(out.splitlines())) == (0, "", 3)


@pytest.mark.parametrize("given", [("groups.txt",), ("=groups.txt",), ("A=",), ("A=groups.txt",) * 2])
def test_groups_without_a_name_or_given_twice_are_rejected(run, given):
    words = [word for text in given for word in ("--groups", text)]
    outcome = run("evaluate " + arguments("evaluate"), *words)
    assert_command_fails(outcome, "--groups", "must be NAME=FILE, each NAME once")


def test_an_unreadable_line_of_groups_is_named_in_the_error(run, tmp_path):
    (tmp_path / "groups.txt").write_text("t1 a 0.5 x\n")
    assert_command_fails(run(f"evaluate {TOGETHER} --groups A=groups.txt"), "groups.txt, line 1")


@pytest.mark.parametrize("option", [("--intents", "probabilities.txt"), ("--groups", "A=groups.txt")])
@pytest.mark.parametrize("unjudged", ["bounds", "intervals"])
def test_unjudged_rejects_intents_and_groups(run, unjudged, option):
    outcome = run(f"evaluate qrels.txt one.run -m gRBP@10 --unjudged {unjudged}", *option)
    assert_command_fails(outcome, "--unjudged", "leave out", option[0])
