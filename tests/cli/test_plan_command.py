"""``ir_graded plan``: the number of topics that a comparison needs."""

import csv
import json
from functools import partial

import pytest
from helpers import assert_command_fails, run_command

from ir_graded import meta

ROWS = [(0.9, 0.5, 0.3), (0.8, 0.4, 0.1), (0.4, 0.4, 0.1), (0.7, 0.2, 0.4), (0.6, 0.5, 0.2), (0.3, 0.2, 0.3)]


@pytest.fixture
def plan(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [["topic", "a", "b", "c"], *([str(at), *map(str, row)] for at, row in enumerate(ROWS))]
    with (tmp_path / "ap.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return partial(run_command, capsys, "plan")


def values(out):
    return {one["statistic"]: one["value"] for one in map(json.loads, out.splitlines())}


def test_row_has_the_topics_needed_and_the_detectable_difference(plan):
    code, out, _ = plan("--matrix", "ap.csv", "--difference", "0.1", "-o", "jsonl", "-p", "-1")
    assert code == 0
    found = values(out)
    assert (found["n_topics"], found["present"]) == (43, 6)
    assert found["power"] == pytest.approx(0.8038268, abs=6e-8)
    assert found["power_at_present"] == meta.power(ROWS, 0.1)
    assert found["detectable"] == meta.minimum_detectable_difference(ROWS)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (("--model", "one-way"), 48),
        (("--test", "interval"), 82),
        (("--unpaired",), {"paired": False}),
        (("--power", "0.9", "--alpha", "0.01"), {"power": 0.9, "alpha": 0.01}),
        (("--test", "anova", "--n-runs", "5"), {"test": "anova", "n_runs": 5}),
    ],
)
def test_options_reach_the_function(plan, options, given):
    _, out, _ = plan("--matrix", "ap.csv", "--difference", "0.1", *options, "-o", "jsonl")
    expected = given if isinstance(given, int) else meta.topic_set_size(ROWS, 0.1, **given).n_topics
    assert values(out)["n_topics"] == expected


def test_runs_are_evaluated_with_a_row_for_each_measure(plan, tmp_path):
    (tmp_path / "q").write_text("1 0 a 2\n1 0 b 1\n2 0 c 1\n3 0 d 1\n")
    (tmp_path / "x").write_text("1 Q0 a 1 3 x\n2 Q0 y 1 3 x\n2 Q0 c 2 2 x\n3 Q0 d 1 1 x\n")
    (tmp_path / "y").write_text("1 Q0 b 1 3 y\n2 Q0 c 1 3 y\n3 Q0 z 1 1 y\n3 Q0 d 2 .5 y\n")
    code, out, _ = plan("q", "x", "y", "-m", "AP Q", "--difference", "0.2", "-o", "csv")
    assert code == 0
    assert [line.partition(",")[0] for line in out.splitlines()] == ["measure", "AP", "Q"]


@pytest.mark.slow
def test_figure_is_written(plan, tmp_path):
    code, *_ = plan("--matrix", "ap.csv", "--difference", "0.1", "--plot", "figures")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "topic_set_size.pdf",
        "topic_set_size.png",
    ]


@pytest.mark.parametrize(("difference", "warned"), [("5", True), ("0.8", True), ("0.79", False)])
def test_a_difference_as_large_as_the_range_of_the_scores_is_warned_of(plan, difference, warned):
    code, _, err = plan("--matrix", "ap.csv", "--difference", difference)
    expected = (
        f"ir_graded: warning: --difference {difference} is at least the range of all scores of ap, 0.1 to 0.9"
    )
    assert (code, err.startswith(expected), bool(err)) == (0, warned, warned)


def test_wrong_options_are_rejected(plan):
    assert_command_fails(plan("--matrix", "ap.csv"), "--difference")
    assert_command_fails(plan("--difference", "1"), "give either QRELS, RUNs and -m, or --matrix")
    found = plan("--matrix", "ap.csv", "--difference", "1", "--power", "0.01")
    assert_command_fails(found, "--power 0.01 must be above --alpha 0.05")
