"""``--query-ids``: responses in a list as RUNs."""

import json
import os
from functools import partial

import pytest
from helpers import assert_command_fails, run_command

TOPICS = [f"query {number}" for number in range(6)]


def write_forms(path, docs_of):
    """Write responses in a list, and by query with the ending ``.by``."""
    responses = [
        {"took": 1, "hits": {"hits": [{"_id": doc, "_score": 1.0} for doc in docs_of(at)]}}
        for at in range(len(TOPICS))
    ]
    path.write_text(json.dumps({"took": 3, "responses": responses}))
    path.with_suffix(".by").write_text(json.dumps(dict(zip(TOPICS, responses, strict=True))))


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{topic},a,1\n{topic},b,2\n" for topic in TOPICS)
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\n" + rows)
    (tmp_path / "ids.txt").write_text("\n".join(TOPICS))
    for name, docs in (("first", "ab"), ("second", "xab"), ("third", "ba")):
        write_forms(tmp_path / f"{name}.json", lambda at, docs=docs: docs[at % 2 :])
    return partial(run_command, capsys)


def test_a_topic_may_hold_a_unicode_line_separator(run, tmp_path):
    """A line of a file ends in ``\\n`` or ``\\r\\n`` only."""
    topics = ["red\u2028shoes", *TOPICS[1:]]
    (tmp_path / "ids.txt").write_bytes("\r\n".join(topics).encode())
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\n" + f'"{topics[0]}",a,1\n')
    _, out, _ = run("evaluate", "qrels.csv", "first.json", "-m", "Q", "--query-ids", "ids.txt")
    assert out.split()[-2:] == ["first.json", "1.0000"]
    (tmp_path / "ids.txt").write_text("\r".join(topics))
    found = run("evaluate", "qrels.csv", "first.json", "-m", "Q", "--query-ids", "ids.txt")
    assert_command_fails(found, "ids.txt, line 1: a carriage return inside the line")


def test_report_names_the_file_of_queries_in_its_command(run, tmp_path):
    given = ("report", "qrels.csv", "first.json", "-m", "Q", "--html", "r.html", "--quiet")
    assert run(*given, "--query-ids", "ids.txt")[0] == 0
    assert "first.json --query-ids ids.txt" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("alone", [False, True])
def test_the_baseline_of_compare_is_found_by_name_and_in_folders(run, tmp_path, alone):
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "first.json").write_text((tmp_path / "second.json").read_text())
    given = ["compare", "qrels.csv", "main/first.json", "first.json", "-m", "Q", "-o", "json", "--quiet"]
    if alone:
        given[3:4] = ["--min", "Q=.1"]
    code, out, err = run(*given, "--query-ids", "ids.txt")
    assert code == 0, err
    names = {(row.get("baseline"), row["run"]) for row in json.loads(out)["comparisons"]}
    assert names == {(None, "first.json") if alone else ("main/first.json", "first.json")}
    found = run("compare", "qrels.csv", "new", "old=first.json", "new=second.json", "-m", "Q", "--quiet")
    assert_command_fails(found, "--query-ids")
    found = run(
        *("compare", "qrels.csv", "new", "old=first.json", "new=second.json", "-m", "Q", "--quiet"),
        *("--query-ids", "ids.txt"),
    )
    assert found[0] == 0, found[2]


def test_a_file_without_queries_for_all_responses_is_rejected(run, tmp_path):
    (tmp_path / "few.txt").write_text("query 0\n")
    given = ("compare", "qrels.csv", "first.json", "second.json", "-m", "Q", "--query-ids")
    assert_command_fails(run(*given, "few.txt"), "first.json: found 6 responses, but 1 query_ids")
    assert_command_fails(run(*given, "missing.txt"), "missing.txt")


@pytest.mark.slow
def test_responses_without_hits_are_not_lacking_topics(run, tmp_path):
    """Half of the responses of the baseline have no hits."""
    write_forms(tmp_path / "old.json", lambda at: "ab" if at % 2 else "")
    lists = {topic: [*"ab"] if at % 2 else [] for at, topic in enumerate(TOPICS)}
    nested = {topic: dict.fromkeys(docs, 1.0) for topic, docs in lists.items()}
    (tmp_path / "lists.json").write_text(json.dumps(lists))
    (tmp_path / "nested.json").write_text(json.dumps(nested))
    said = "has no document for 3 of the 6 topics of the qrels (the first is 'query 0') and scores 0 on them"
    for old in ("old.json", "old.by", "lists.json", "nested.json"):
        ids = () if old != "old.json" else ("--query-ids", "ids.txt")
        new = "first.by" if old != "old.json" else "first.json"
        code, out, err = run("compare", "qrels.csv", old, new, "-m", "RR", "-o", "json", *ids)
        assert (code, said in err) == (0, True), err
        (row,) = json.loads(out)["comparisons"]
        assert (row["baseline_mean"], row["mean"]) == (0.5, 1)
    partly = {topic: docs for at, (topic, docs) in enumerate(nested.items()) if at != 1}
    (tmp_path / "partly.json").write_text(json.dumps(partly))
    failed = run("compare", "qrels.csv", "partly.json", "first.by", "-m", "RR")
    assert_command_fails(failed, "lacks 1 of the 6 topics of the qrels (the first is 'query 1')")
    both = "lacks 1 of the 6 topics of the qrels (the first is 'query 1') and " + said
    assert both in run("evaluate", "qrels.csv", "partly.json", "-m", "RR")[2]


def test_notes_on_files_begin_with_their_names(run, tmp_path):
    responses = json.loads((tmp_path / "first.json").read_text())
    responses["responses"][1]["timed_out"] = True
    (tmp_path / "late.json").write_text(json.dumps(responses))
    given = ("compare", "qrels.csv", "first.json", "late.json", "-m", "Q", "--query-ids", "ids.txt")
    notes = json.loads(run(*given, "-o", "json", "--quiet")[1])["notes"]
    assert notes[0].startswith("late.json: the responses to queries 'query 1' timed out or lack shards")


def test_runs_in_other_formats_name_their_topics(run, tmp_path):
    rows = [f"{topic},{doc},{-at}" for topic in TOPICS for at, doc in enumerate("ab")]
    (tmp_path / "rows.csv").write_text("\n".join(["query_id,doc_id,score", *rows]))
    code, out, _ = run(
        "compare", "qrels.csv", "rows.csv", "third.json", "-m", "Q", "-o", "json", "--query-ids", "ids.txt"
    )
    (row,) = json.loads(out)["comparisons"]
    assert (code, row["baseline"], row["run"]) == (0, "rows.csv", "third.json")
    assert 0 < row["mean"] < row["baseline_mean"] < 1
    wrong = run("evaluate", "qrels.csv", "rows.csv", "-m", "Q", "--query-ids", "ids.txt")
    assert_command_fails(wrong, "--query-ids needs a RUN with responses of a search engine")


def test_a_pipe_is_read_once(run, tmp_path):
    def outcome(text):
        reading, writing = os.pipe()
        with os.fdopen(writing, "w") as pipe:
            pipe.write(text)
        path = f"/dev/fd/{reading}"
        found = run("evaluate", "qrels.csv", f"x={path}", "-m", "Q", "-o", "jsonl", "--query-ids", "ids.txt")
        os.close(reading)
        return found, path

    expected = run(
        "evaluate", "qrels.csv", "x=first.json", "-m", "Q", "-o", "jsonl", "--query-ids", "ids.txt"
    )
    found, _ = outcome((tmp_path / "first.json").read_text())
    assert found[0] == 0, found[2]
    assert found == expected
    wrong, path = outcome("query_id,doc_id,score\nquery 0,a,1\n")
    assert_command_fails(wrong, f"{path}: query_ids is for responses in JSON, and this is another text")
