"""Membership in groups on the command line: ``--groups NAME=FILE``."""

from functools import partial

import pytest
from helpers import assert_command_fails, run_command
from intents.intent_cases import GROUP_LEVELS, GROUP_RUN, HINDEX

GF = "GF(groups='HINDEX',divergence='RNOD',gains={2:3})@20"


@pytest.fixture
def run(capsys):
    return partial(run_command, capsys)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    levels = dict.fromkeys(("1", "2"), GROUP_LEVELS)
    lines = [f"{topic} 0 {doc} {level}\n" for topic, docs in levels.items() for doc, level in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    ranked = [f"{topic} Q0 {doc} 0 {-n} t\n" for topic in levels for n, doc in enumerate(GROUP_RUN)]
    (tmp_path / "some.run").write_text("".join(ranked))
    shares = [f"{t} {doc} {' '.join(map(str, each))}\n" for t in levels for doc, each in HINDEX.items()]
    (tmp_path / "hindex.txt").write_text("".join(shares))


def test_evaluate_takes_groups(run):
    code, out, err = run("evaluate", "qrels.txt", "some.run", "-m", GF, "--groups", "HINDEX=hindex.txt")
    assert (code, err) == (0, "")
    assert out.split()[-1] == "0.3561"


def test_explain_takes_groups(run):
    code, out, err = run("explain", GF, "qrels.txt", "some.run", "1", "--groups", "HINDEX=hindex.txt")
    assert (code, err) == (0, "")
    assert "a_4" in out
    assert out.split()[-1] == "0.3561"


def test_report_takes_groups_and_shows_the_command(run, tmp_path):
    measures = f"GFR(groups={{'HINDEX':'RNOD'}})@20 {GF}"
    command = ("report", "qrels.txt", "some.run", "-m", measures, "--groups", "HINDEX=hindex.txt", "-B", "10")
    code, _, err = run(*command, "--html", "page.html")
    assert (code, err) == (0, "")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "0.3561" in page
    assert "--groups HINDEX=hindex.txt" in page


@pytest.mark.parametrize("given", [("hindex.txt",), ("=hindex.txt",), ("A=",), ("A=hindex.txt",) * 2])
def test_groups_without_a_name_or_twice_are_rejected(run, given):
    options = [word for text in given for word in ("--groups", text)]
    outcome = run("evaluate", "qrels.txt", "some.run", "-m", GF, *options)
    assert_command_fails(outcome, "--groups", "must be NAME=FILE, with each NAME once")


def test_groups_that_are_missing_are_named(run):
    outcome = run("evaluate", "qrels.txt", "some.run", "-m", GF)
    assert_command_fails(outcome, "no column HINDEX", "with_groups")


def test_a_line_of_groups_that_cannot_be_read_is_named(run, tmp_path):
    (tmp_path / "hindex.txt").write_text("1 a 0.5 x\n")
    outcome = run("evaluate", "qrels.txt", "some.run", "-m", GF, "--groups", "HINDEX=hindex.txt")
    assert_command_fails(outcome, "hindex.txt, line 1")
