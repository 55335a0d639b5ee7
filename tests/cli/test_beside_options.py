"""Files passed beside the qrels on the command line: ``--intents FILE`` and ``--groups NAME=FILE``."""

from functools import partial

import pytest
from helpers import assert_command_fails, run_command
from intents.intent_cases import EXAMPLE_A, GROUP_LEVELS, GROUP_RUN, HINDEX

INTENTS = ("intents.qrels", "intents.run")
DIN = "DIN-nDCG@10"
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
    by_intent = [
        f"{topic} {intent} {doc} {level}\n"
        for topic in ("1", "2")
        for intent, of_intent in EXAMPLE_A.levels.items()
        for doc, level in of_intent.items()
    ]
    (tmp_path / "intents.qrels").write_text("".join(by_intent))
    nav = {intent: "nav" if intent in EXAMPLE_A.nav else "inf" for intent in EXAMPLE_A.P}
    known = [f"{t} {intent} {p} {nav[intent]}\n" for t in ("1", "2") for intent, p in EXAMPLE_A.P.items()]
    (tmp_path / "intents.txt").write_text("".join(known))
    lines = [f"{t} Q0 {doc} 0 {-n} t\n" for t in ("1", "2") for n, doc in enumerate(EXAMPLE_A.retrieved)]
    (tmp_path / "intents.run").write_text("".join(lines))


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
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("ir_graded: wrote 1 run, ")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "0.3561" in page
    assert "--groups HINDEX=hindex.txt" in page


@pytest.mark.parametrize("given", [("hindex.txt",), ("=hindex.txt",), ("A=",), ("A=hindex.txt",) * 2])
def test_groups_without_a_name_or_given_twice_are_rejected(run, given):
    options = [word for text in given for word in ("--groups", text)]
    outcome = run("evaluate", "qrels.txt", "some.run", "-m", GF, *options)
    assert_command_fails(outcome, "--groups", "must be NAME=FILE, each NAME once")


def test_an_unreadable_line_of_groups_is_named_in_the_error(run, tmp_path):
    (tmp_path / "hindex.txt").write_text("1 a 0.5 x\n")
    outcome = run("evaluate", "qrels.txt", "some.run", "-m", GF, "--groups", "HINDEX=hindex.txt")
    assert_command_fails(outcome, "hindex.txt, line 1")


@pytest.mark.parametrize("command", ["evaluate", "explain"])
def test_commands_take_intents(run, command):
    qrels, ranking = INTENTS
    given = (DIN, qrels, ranking, "1") if command == "explain" else (qrels, ranking, "-m", DIN)
    code, out, err = run(command, *given, "--intents", "intents.txt")
    assert (code, err) == (0, "")
    assert out.split()[-1] == "0.4815"


def test_intents_and_groups_in_one_call(run):
    shares = ("--groups", "HINDEX=hindex.txt")
    code, out, err = run(
        *("evaluate", "intents.qrels", "some.run", "-m", f"{DIN} {GF}", "--intents", "intents.txt", *shares)
    )
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 3


@pytest.mark.parametrize("option", [("--intents", "intents.txt"), ("--groups", "HINDEX=hindex.txt")])
@pytest.mark.parametrize("unjudged", ["bounds", "intervals"])
def test_unjudged_rejects_intents_and_groups(run, unjudged, option):
    outcome = run("evaluate", "qrels.txt", "some.run", "-m", "gRBP@10", "--unjudged", unjudged, *option)
    assert_command_fails(outcome, "--unjudged", "leave out", option[0])
