"""Exit codes and formats of ``ir_graded compare``, and ``compare_runs``."""

import json
import subprocess
import sys
from functools import partial
from xml.etree import ElementTree as ET

import pytest
from helpers import assert_command_fails, run_command

import ir_graded

TOPICS = 30


def run_lines(hit_rank):
    """Return a run that ranks the relevant document of each topic at the given rank."""
    ranks = (
        f"{topic} Q0 {'hit' if rank == hit_rank(topic) else f'x{rank}'} {rank} {9 - rank} t"
        for topic in range(TOPICS)
        for rank in (1, 2, 3)
    )
    return "\n".join(ranks) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 hit 1\n" for topic in range(TOPICS)))
    (tmp_path / "old.run").write_text(run_lines(lambda topic: 1 + topic % 2))
    (tmp_path / "same.run").write_text(run_lines(lambda topic: 1 + topic % 2))
    (tmp_path / "worse.run").write_text(run_lines(lambda topic: 2 + topic % 2))
    (tmp_path / "better.run").write_text(run_lines(lambda _: 1))
    groups = "".join(f"{topic}\t{'even' if topic % 2 == 0 else 'odd'}\n" for topic in range(TOPICS))
    (tmp_path / "groups.tsv").write_text(groups)
    return tmp_path


@pytest.fixture
def compare(capsys, folder):  # noqa: ARG001  # the command runs there
    return partial(run_command, capsys, "compare", "qrels.txt", "old.run")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("same.run better.run -m RR --fail-if worse", 0),
        ("better.run worse.run -m RR --fail-if worse", 1),
        ("worse.run -m RR --fail-if worse --tolerance 0.9", 0),
        ("worse.run -m RR", 0),
        ("missing.run -m RR --fail-if worse", 2),
        ("worse.run -m nonsense --fail-if worse", 2),
        ("worse.run -m RR --fail-if worse --alpha 2", 2),
        ("worse.run -m RR --fail-if worse -B 3", 2),
        ("old.run -m RR --fail-if worse", 2),
        ("-m RR --fail-if worse", 2),
    ],
)
def test_exit_codes_in_a_shell(folder, arguments, code):
    line = f"'{sys.executable}' -m ir_graded compare qrels.txt old.run {arguments}; echo $?"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603, S607
    assert done.stdout.splitlines()[-1] == str(code), done.stderr
    assert bool(done.stderr) == (code == 2)


def test_table_has_a_row_for_each_run_and_measure_and_says_what_was_tested(compare):
    code, out, _ = compare("worse.run", "same.run", "-m", "RR P@1")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[::8] for line in lines[2:6]] == [
        ["worse.run", "worse"],
        ["same.run", "ok"],
        ["worse.run", "worse"],
        ["same.run", "ok"],
    ]
    assert lines[-1].startswith(
        "2 of 4 comparisons with old.run worse (loss above 0, corrected p below 0.05). "
        "One-sided randomisation test on 30 topics, correction holm. A one-sided paired t test with "
        "these topics detects a loss of 0."
    )


def test_an_undefined_minimum_detectable_is_explained(compare):
    _, out, _ = compare("same.run", "-m", "RR")
    assert out.splitlines()[-1].endswith(
        "correction holm. minimum_detectable is not defined (nan) where all topics have the same difference."
    )


@pytest.fixture
def few(folder):
    """Four topics, on all of which worse.run is worse."""
    (folder / "qrels.txt").write_text("".join(f"{topic} 0 hit 1\n" for topic in range(4)))


@pytest.mark.usefixtures("few")
def test_a_gate_that_could_never_fail_is_an_error(compare):
    failed = compare("worse.run", "-m", "RR", "--fail-if", "worse")
    assert_command_fails(
        failed,
        "--fail-if worse could never fail: the randomisation test with 1 comparison",
        "worse on 4 topics (p >= 0.0625)",
        "not below --alpha 0.05; use more topics or --test t",
    )
    assert compare("worse.run", "-m", "RR", "--fail-if", "worse", "--test", "t")[0] == 1


@pytest.mark.usefixtures("few")
def test_without_a_gate_a_test_that_finds_nothing_is_warned_of(compare):
    code, out, err = compare("worse.run", "-m", "RR")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("ir_graded: warning: the randomisation test with 1 comparison cannot find")
    assert err.endswith("use more topics or --test t\n")
    assert out.splitlines()[-1].endswith("on 4 topics, correction holm.")


def test_a_gate_on_a_group_of_three_topics_is_an_error(compare, folder):
    (folder / "groups.tsv").write_text("1 hard\n2 hard\n3 hard\n")
    failed = compare("same.run", "-m", "RR", "--groups", "groups.tsv", "--fail-if", "worse")
    assert_command_fails(failed, "3 topics of the group 'hard' (p >= 0.125)")


def test_markdown_is_a_table_with_groups(compare):
    code, out, _ = compare("worse.run", "-m", "RR", "-o", "markdown", "--groups", "groups.tsv")
    assert code == 0
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if line[:1] == "|"
    ]
    assert rows[0][:4] == ["run", "measure", "group", "baseline"]
    assert [(row[2], row[-1]) for row in rows[2:]] == [("all", "worse"), ("even", "worse"), ("odd", "worse")]


def test_json_holds_options_and_comparisons(compare):
    tested = ("--test", "t", "--correction", "bh", "--tolerance", "0.01")
    _, out, _ = compare("worse.run", "-m", "RR", "-o", "json", "-p", "-1", *tested)
    found = json.loads(out)
    assert {name: found[name] for name in ("baseline", "test", "correction", "tolerance", "passed")} == {
        "baseline": "old.run",
        "test": "t",
        "correction": "bh",
        "tolerance": 0.01,
        "passed": False,
    }
    (row,) = found["comparisons"]
    assert (row["run"], row["measure"], row["group"], row["topics"], row["worse"]) == (
        "worse.run",
        "RR",
        "all",
        TOPICS,
        True,
    )
    assert row["difference"] == pytest.approx((0.5 - 1 + 1 / 3 - 0.5) / 2)


def test_json_has_null_where_nothing_can_be_detected(compare):
    _, out, _ = compare("same.run", "-m", "RR", "-o", "json")
    assert json.loads(out)["comparisons"][0]["minimum_detectable"] is None


def test_junit_has_a_failure_for_each_worse_run(compare):
    _, out, _ = compare("worse.run", "better.run", "-m", "RR", "-o", "junit")
    suite = ET.fromstring(out)  # noqa: S314  # the text of the command
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", "1")
    assert [(case.get("classname"), case.find("failure") is not None) for case in suite] == [
        ("worse.run", True),
        ("better.run", False),
    ]
    assert suite[0].find("failure").get("message").startswith("-0.3333 against old.run, p ")


def test_runs_of_one_file_name_are_told_apart_by_their_folders(compare, folder):
    (folder / "branch").mkdir()
    (folder / "branch" / "old.run").write_text((folder / "worse.run").read_text())
    code, out, _ = compare("branch/old.run", "-m", "RR", "--fail-if", "worse")
    assert code == 1
    assert out.splitlines()[2].startswith("branch/old.run")


@pytest.mark.parametrize("tolerance", ["5%", "-0.1"])
def test_a_wrong_tolerance_names_its_units(compare, tolerance):
    failed = compare("same.run", "-m", "RR", "--tolerance", tolerance)
    assert_command_fails(
        failed, "--tolerance", tolerance, "; give it in units of the measure, for example 0.005"
    )


def test_a_wrong_line_of_groups_is_an_error_that_names_it(compare, folder):
    (folder / "wrong.tsv").write_text("1 even\n\n2\n")
    assert_command_fails(
        compare("same.run", "-m", "RR", "--groups", "wrong.tsv"), "wrong.tsv, line 3", "a topic"
    )
    (folder / "twice.tsv").write_text("1 even\n1 odd\n")
    assert_command_fails(compare("same.run", "-m", "RR", "--groups", "twice.tsv"), "twice.tsv, line 2")


# ------------------------------------------------------------------------------------------ compare_runs

QRELS = {str(topic): {"hit": 1} for topic in range(12)}
OLD = {str(topic): {"hit": 2.0, "x": 1.0} for topic in range(12)}
NEW = {str(topic): {"hit": 1.0, "x": 2.0} for topic in range(12)}


@pytest.mark.parametrize(("runs", "names"), [(NEW, ("run",)), ({"a": NEW, "b": OLD}, ("a", "b"))])
def test_runs_come_in_any_form(runs, names):
    found = ir_graded.compare_runs("RR", QRELS, OLD, runs)
    assert (found.baseline, found.systems, found.passed) == ("baseline", names, False)


def test_a_baseline_may_have_a_name():
    assert ir_graded.compare_runs("RR", QRELS, {"main": OLD}, {"new": NEW}).baseline == "main"
    with pytest.raises(ir_graded.InputError, match="the baseline and a run are both named 'main'"):
        ir_graded.compare_runs("RR", QRELS, {"main": OLD}, {"main": NEW})


@pytest.mark.parametrize("baseline", ["old.run", "old", "./old", "old.run.gz"])
def test_the_baseline_may_be_one_of_the_runs(folder, baseline):
    runs = [str(folder / "worse.run"), "old.run"]
    assert_old_is_the_baseline(ir_graded.compare_runs("RR", "qrels.txt", baseline, runs))


@pytest.mark.parametrize("baseline", ["old.run", "old", "runs/old", "runs/old.run"])
def test_the_baseline_may_be_a_file_of_the_folder_of_runs(folder, baseline):
    (folder / "runs").mkdir()
    for name in ("old.run", "worse.run"):
        (folder / name).rename(folder / "runs" / name)
    assert_old_is_the_baseline(ir_graded.compare_runs("RR", "qrels.txt", baseline, "runs"))


def assert_old_is_the_baseline(found):
    assert (found.baseline, found.systems, found.passed) == ("old.run", ("worse.run",), False)


def test_a_baseline_that_is_the_only_run_is_an_error(compare):
    assert_command_fails(compare("old.run", "-m", "RR"), "--baseline old.run is the only run")


def test_a_missing_baseline_is_no_run_of_another_folder(capsys, folder):
    (folder / "runs").mkdir()
    (folder / "same.run").rename(folder / "runs" / "same.run")
    failed = run_command(
        capsys, "compare", "qrels.txt", "main/same.run", "runs/same.run", "old.run", "-m", "RR"
    )
    assert_command_fails(failed, "main/same.run")


def test_several_baselines_are_an_error():
    with pytest.raises(ir_graded.InputError, match="baseline: expected one run, found 2"):
        ir_graded.compare_runs("RR", QRELS, {"a": OLD, "b": OLD}, NEW)


def test_groups_of_a_mapping_and_ties_are_passed_on():
    tied = {str(topic): {"hit": 1.0, "x": 1.0, "y": 0.0} for topic in range(12)}
    groups = {topic: "low" if int(topic) < 6 else "high" for topic in QRELS}
    found = ir_graded.compare_runs("RR", QRELS, OLD, tied, groups=groups, ties="pessimistic", test="t")
    assert found.groups == ("all", "low", "high")
    assert found.difference.reshape(-1).tolist() == [-0.5, -0.5, -0.5]
