"""Names of runs on the command line: NAME=FILE and ``--names tag``."""

import json
from functools import partial
from pathlib import Path

import pytest
from helpers import assert_command_fails, run_command

TOPICS = range(6)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 a 1\n{topic} 0 b 2\n" for topic in TOPICS))
    for name, docs in (("first", "ab"), ("second", "xab"), ("third", "ba")):
        (tmp_path / f"{name}.run").write_text(
            "".join(
                f"{topic} Q0 {doc} 0 {-at} the-{name}\n"
                for topic in TOPICS
                for at, doc in enumerate(docs[topic % 2 :])
            )
        )
    return partial(run_command, capsys)


def names_of(out):
    return sorted(line.split(",")[0] for line in out.splitlines()[1:])


def test_saved_scores_among_the_runs_are_left_out_or_rejected(run, tmp_path):
    (tmp_path / "saved").mkdir()
    (tmp_path / "first.run").rename(tmp_path / "saved" / "first.run")
    run("evaluate", "qrels.txt", "saved/first.run", "-m", "Q", "--save", "saved/scores.json")
    Path("saved/aggregated.csv").write_text("name,Q\nfirst,0.5\n")
    assert run("evaluate", "qrels.txt", "saved", "-m", "Q", "-o", "csv")[1].count("\n") == 2
    for name in ("aggregated.csv", "scores.json"):
        given = ("evaluate", "qrels.txt", "saved/first.run", f"saved/{name}", "-m", "Q")
        assert_command_fails(run(*given), f"saved/{name} has scores of measures, not a run: leave it out, or")


def test_a_path_with_an_equals_sign_is_a_path(run, tmp_path):
    for name in ("b=0.75.run", "deep=1/x.run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((tmp_path / "first.run").read_text())
    given = ("evaluate", "qrels.txt", "b=0.75.run", "deep=1/x.run", "-m", "Q", "-o", "csv")
    assert names_of(run(*given)[1]) == ["b=0.75.run", "x.run"]
    assert names_of(run(*given, "k=b=0.75.run")[1]) == ["b=0.75.run", "k", "x.run"]
    assert_command_fails(run("evaluate", "qrels.txt", "none=1/x.run", "-m", "Q"), "1/x.run")
    assert_command_fails(run("evaluate", "qrels.txt", "deep/a=1/x.run", "-m", "Q"), "deep/a=1/x.run")


def test_a_given_name_goes_before_the_name_of_the_file_and_the_tag(run):
    given = ("evaluate", "qrels.txt", "new=second.run", "first.run", "-m", "Q", "-o", "csv")
    assert names_of(run(*given)[1]) == ["first.run", "new"]
    assert names_of(run(*given, "--names", "tag")[1]) == ["new", "the-first"]


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (["a=first.run", "a=second.run"], ["first.run and second.run are both named 'a'"]),
        (["first.run=second.run", "first.run"], ["second.run and first.run are both named 'first.run'"]),
        (["=first.run"], ["'=first.run' must be NAME=FILE", "a part is missing"]),
        (["a="], ["'a=' must be NAME=FILE"]),
        (["a=."], ["'a=.' must be NAME=FILE with one file", "a folder has several"]),
        (["a=missing.run"], ["missing.run"]),
    ],
)
def test_wrong_names_are_rejected(run, given, parts):
    assert_command_fails(run("evaluate", "qrels.txt", *given, "-m", "Q"), *parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1 Q0 a 1 2 x\n\n1 Q0 b 2 1 y\n", ["wrong.run, line 3: the tags of lines 1 and 3", "'x' and 'y'"]),
        ("query_id,doc_id,score\n1,a,2\n", ["wrong.run, line 1: expected a run with tags", "found 1 fields"]),
        ("\n", ["there are no lines"]),
    ],
)
def test_tags_that_cannot_name_a_run_are_rejected(run, tmp_path, text, parts):
    (tmp_path / "wrong.run").write_text(text)
    failed = run("evaluate", "qrels.txt", "wrong.run", "-m", "Q", "--names", "tag")
    assert_command_fails(failed, *parts)
    assert_command_fails(run("evaluate", "qrels.txt", "first.run", "first.run", "-m", "Q", "--names", "tag"))


def test_a_name_may_be_longer_than_that_of_a_file(run):
    name = "n" * 300
    assert names_of(run("evaluate", "qrels.txt", f"{name}=first.run", "-m", "Q", "-o", "csv")[1]) == [name]
    assert_command_fails(run("evaluate", "qrels.txt", f"a={name}", "-m", "Q"), f"{name}: File name too long")


@pytest.mark.parametrize("kind", ["genomics", "inex"])
def test_tags_of_runs_with_passages_are_found(tmp_path, kind):
    from ir_graded.io.run_names import run_tag

    lines = {"genomics": "1 12 1 3.5 0 10 mine\n", "inex": "1 Q0 f 1 3.5 mine 0 10\n"}
    (tmp_path / "passages.run").write_text(lines[kind])
    assert run_tag(str(tmp_path / "passages.run")) == "mine"


def test_a_tag_between_tabs_may_hold_blanks(tmp_path):
    from ir_graded.io.run_names import run_tag

    (tmp_path / "a.run").write_text("# made by hand\ngoogle maps\tQ0\td 1\t1\t3.5\tmy tag\n")
    assert run_tag(str(tmp_path / "a.run")) == "my tag"


@pytest.mark.slow
def test_compare_takes_a_name_of_the_baseline(run):
    def compared(*given):
        code, out, err = run("compare", "qrels.txt", *given, "-m", "Q", "-o", "json")
        rows = json.loads(out)["comparisons"] if code == 0 else err
        return [(row["baseline"], row["run"]) for row in rows] if code == 0 else rows

    assert compared("old=first.run", "new=second.run") == [("old", "new")]
    assert compared("old=first.run", "second.run") == [("old", "second.run")]
    assert compared("first.run", "new=second.run") == [("first.run", "new")]
    assert compared("old", "new=second.run", "old=first.run") == [("old", "new")]
    assert compared("old=first.run", "link=./first.run", "new=second.run") == [("old", "new")]
    assert compared("first.run", "second.run", "--names", "tag") == [("the-first", "the-second")]
    assert compared("the-first", "first.run", "second.run", "--names", "tag") == [("the-first", "the-second")]
    assert "is both the baseline and the only run" in compared("old=first.run", "new=first.run")
    assert "are both named 'x'" in compared("x=first.run", "x=second.run")
