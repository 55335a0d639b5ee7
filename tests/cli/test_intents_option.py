"""Probabilities of intents on the command line: ``--intents FILE``."""

from functools import partial

import pytest
from helpers import assert_command_fails, run_command


@pytest.fixture
def run(capsys):
    return partial(run_command, capsys)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 x a 2\n1 y a 1\n1 y b 2\n")
    (tmp_path / "some.run").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
    (tmp_path / "intents.txt").write_text("1 x 0.75 inf\n1 y 0.25 inf\n")


#: GG is 1.75 for a and 0.5 for b: BR(1) = 1.5/2.75 and BR(2) = 1.
SCORE = (1.5 / 2.75 + 1) / 2


@pytest.mark.parametrize("last", ["evaluate", "explain"])
def test_evaluate_and_explain_take_intents(run, last):
    measure = "D(measure='Q')"
    given = {
        "evaluate": ("evaluate", "qrels.txt", "some.run", "-m", measure),
        "explain": ("explain", measure, "qrels.txt", "some.run", "1"),
    }[last]
    code, out, err = run(*given, "--intents", "intents.txt")
    assert (code, err) == (0, "")
    assert out.split()[-1] == f"{SCORE:.4f}"
    assert run(*given)[1].split()[-1] != f"{SCORE:.4f}"


def test_report_takes_intents_and_shows_the_command(run, tmp_path):
    for name in ("qrels.txt", "some.run", "intents.txt"):  # a report needs two topics
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text + text.replace("1 ", "2 ", 1).replace("\n1 ", "\n2 "))
    options = ("--intents", "intents.txt", "-B", "10", "--html", "page.html")
    code, _, err = run("report", "qrels.txt", "some.run", "-m", "D(measure='Q')", *options)
    assert (code, err) == (0, "")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{SCORE:.4f}" in page
    assert "--intents intents.txt" in page


@pytest.mark.filterwarnings("ignore:.*have different levels")  # for GF the highest counts
def test_intents_and_groups_are_taken_together(run, tmp_path):
    (tmp_path / "sizes.txt").write_text("1 a 1 0\n1 b 0 1\n")
    options = ("--intents", "intents.txt", "--groups", "SIZE=sizes.txt")
    for measure in ("D(measure='Q')", "GF(groups='SIZE')"):
        code, _, err = run("explain", measure, "qrels.txt", "some.run", "1", *options)
        assert code == 0, err


def test_a_topic_without_probabilities_is_named(run, tmp_path):
    (tmp_path / "intents.txt").write_text("2 x 1 inf\n")
    outcome = run("explain", "D-Q@10", "qrels.txt", "some.run", "1", "--intents", "intents.txt")
    assert_command_fails(outcome, "topic '1' of the qrels has no probabilities")
