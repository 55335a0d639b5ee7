"""``verify`` finds every kind of change, in Python and on the command line."""

import json
from functools import partial

import pandas as pd
import pytest
from helpers import assert_command_fails, frame, rows_of, run_command, trec_lines
from packed import gzipped

import ir_graded
from ir_graded import FileFormatError, ParameterError, Scores
from ir_graded._utils.text_tables import in_markdown

QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"d": 1, "e": 2}}
RUNS = {
    "bm25": {"1": {"a": 1.5, "x": 1.0, "b": 0.5}, "2": {"d": 2.0, "e": 1.0}},
    "dense": {"1": {"b": 3.0, "a": 2.0}, "2": {"e": 3.0, "y": 2.0}},
}


def changed(nested, *keys, value):
    """Return a copy of nested dicts and lists with another value."""
    first, *others = keys
    copied = nested.copy()
    copied[first] = changed(nested[first], *others, value=value) if others else value
    return copied


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(ir_graded.evaluate(["Q", "AP"], QRELS, RUNS).to_json(), encoding="utf-8")
    return path


def edit(saved, *keys, value):
    """Change a value of a saved file."""
    saved.write_text(json.dumps(changed(json.loads(saved.read_text()), *keys, value=value)))


def differing(found):
    """Return item, run, measure and topic, and status of the items that do not agree."""
    table = found.to_frame()
    assert found.agrees == (table["status"] == "agrees").all()
    table = table[table["status"] != "agrees"]
    return [*table[["item", "run", "measure", "query_id", "status"]].itertuples(index=False, name=None)]


def test_equal_rows_in_another_order_and_form_agree(saved, tmp_path):
    qrels = frame("qrels", rows_of(QRELS)[::-1])
    (tmp_path / "dense.gz").write_bytes(gzipped(trec_lines("run", rows_of(RUNS["bm25"])[::-1]).encode()))
    found = ir_graded.verify(saved, qrels, {"dense": RUNS["dense"], "bm25": tmp_path / "dense.gz"})
    assert differing(found) == []
    assert found.agrees
    assert ir_graded.verify(Scores.from_json(saved.read_bytes()), QRELS, RUNS).agrees


def test_a_changed_label_is_found_with_the_scores_that_it_changes(saved):
    found = ir_graded.verify(saved, changed(QRELS, "2", "e", value=1), RUNS)
    assert differing(found)[0] == ("qrels", "", "", "", "differs")
    assert {row[:4] for row in differing(found)[1:]} == {("score", "bm25", "Q", "2")}
    last = found.to_frame().query("item == 'score'").iloc[0]
    was, now = (ir_graded.evaluate("Q", qrels, RUNS["bm25"]).values[0, 0, 1] for qrels in (
        QRELS, changed(QRELS, "2", "e", value=1)))  # fmt: skip
    assert (last["saved"], last["found"]) == (was, now)
    assert last["note"] == f"largest difference {abs(was - now):g} (topics that differ: 1)"


def test_a_changed_score_that_changes_no_rank_is_found(saved):
    found = ir_graded.verify(saved, QRELS, changed(RUNS, "bm25", "1", "a", value=1.75))
    assert differing(found) == [("run", "bm25", "", "", "differs")]


def test_the_largest_difference_of_several_topics_is_named(saved):
    first, second = json.loads(saved.read_text())["values"][1][1]
    edit(saved, "values", 1, 1, value=[first - 0.125, second + 0.25])
    found = ir_graded.verify(saved, QRELS, RUNS)
    assert differing(found) == [("score", "dense", "AP", "2", "differs")]
    assert found.note[-1] == "largest difference 0.25 (topics that differ: 2)"


def test_a_score_that_was_missing_is_found(saved):
    edit(saved, "values", 0, 0, 1, value=None)
    assert differing(ir_graded.verify(saved, QRELS, RUNS)) == [("score", "bm25", "Q", "2", "differs")]


def test_another_version_is_found(saved):
    edit(saved, "signature", "versions", "ir_graded", value="0.0.1")
    found = ir_graded.verify(saved, QRELS, RUNS)
    assert differing(found) == [("version of ir_graded", "", "", "", "differs")]
    row = found.to_frame().iloc[0]
    assert (row["saved"], row["found"]) == ("0.0.1", ir_graded.__version__)


def test_another_option_is_found(saved):
    found = ir_graded.verify(saved, QRELS, RUNS, ties="expected")
    assert [row[0] for row in differing(found)] == ["measures", "ties"]


def test_a_table_of_lengths_that_was_not_given_is_found():
    run = pd.DataFrame({"query_id": "1", "doc_id": ["a"], "score": 1.0, "start": 0, "length": 3})
    qrels = run.rename(columns={"score": "relevance"})
    scores = ir_graded.evaluate("Q", qrels, run, lengths={"a": 3}, beyond="raise")
    assert ir_graded.verify(scores, qrels, run, lengths={"a": 3}).agrees
    found = ir_graded.verify(scores, qrels, run, beyond="keep")
    assert [row[0] for row in differing(found)] == ["beyond", "lengths"]


@pytest.mark.parametrize("options", [{"ties": "expected"}, {"ties": "pessimistic"}, {"ranks": "documents"}])
def test_saved_options_are_used_again(options):
    scores = ir_graded.evaluate(["Q", "AP"], QRELS, RUNS, **options)
    assert ir_graded.verify(scores, QRELS, RUNS).agrees
    for name in options:
        found = ir_graded.verify(ir_graded.evaluate(["Q", "AP"], QRELS, RUNS), QRELS, RUNS, **options)
        assert name in [row[0] for row in differing(found)]


def test_missing_and_other_runs_are_found(saved):
    new = {"1": {"c": 1.0}, "2": {"d": 1.0}}
    found = ir_graded.verify(saved, QRELS, {"bm25": RUNS["bm25"], "new": new})
    assert differing(found) == [("run", "dense", "", "", "missing"), ("run", "new", "", "", "not saved")]


def test_a_run_with_another_name_is_found_by_its_rows(saved):
    edit(saved, "values", 1, 1, 0, value=0.125)
    found = ir_graded.verify(saved, QRELS, {"x": RUNS["dense"], "y": RUNS["bm25"]})
    assert differing(found) == [("score", "dense", "AP", "1", "differs")]
    assert [note for note in found.note if "given" in note] == ["given as y", "given as x"]


def test_other_topics_are_found_and_shared_ones_compared(saved):
    qrels = {"2": changed(QRELS, "2", "e", value=1)["2"], "3": {"z": 1}}
    with pytest.warns(ir_graded.CoverageWarning):
        found = ir_graded.verify(saved, qrels, RUNS)
    assert [row[0] for row in differing(found)] == ["topics", "qrels", "score"]
    assert differing(found)[-1] == ("score", "bm25", "Q", "2", "differs")


def test_runs_without_a_hash_are_not_known(saved):
    once = frame("run", rows_of(RUNS["dense"])).itertuples()
    found = ir_graded.verify(saved, QRELS, {"bm25": RUNS["bm25"], "dense": once})
    assert differing(found) == [("run", "dense", "", "", "not known")]


def test_a_file_without_a_signature_is_not_known_but_scores_are_compared(saved):
    content = json.loads(saved.read_text())
    del content["signature"]
    content["values"][0][0][0] += 0.5
    saved.write_text(json.dumps(content))
    found = differing(ir_graded.verify(saved, QRELS, RUNS))
    assert {row[4] for row in found[:-1]} == {"not known", "differs"}
    assert ("qrels", "", "", "", "not known") in found
    assert ("score", "bm25", "Q", "1", "differs") in found


def test_files_that_hold_no_scores_and_estimates_are_rejected(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(FileFormatError, match=r"other\.json: expected JSON of ir_graded scores"):
        ir_graded.verify(tmp_path / "other.json", QRELS, RUNS)
    qrels = pd.DataFrame({"query_id": "1", "doc_id": [*"ab"], "relevance": [1, 0], "iprob": [1.0, 0.5]})
    scores = ir_graded.score_estimates("AP", qrels, {"1": {"a": 1.0}}).scores
    with pytest.raises(ParameterError, match="estimates"):
        ir_graded.verify(scores, qrels, {"1": {"a": 1.0}})


FIELDS = ["versions", "measures", "qrels", "runs", "topics", "topics_hash", "options", "seed", "weights"]


@pytest.mark.parametrize(
    ("field", "value", "item"),
    [
        ("measures", ["Q", "RR"], "measures"),
        ("topics", 3, "topics"),
        ("topics_hash", "0" * 16, "topics"),
        ("seed", 5, "seed"),
        ("weights", "0" * 16, "weights"),
        ("qrels", "0" * 16, "qrels"),
    ],
)
def test_no_field_of_the_signature_is_trusted(saved, field, value, item):
    edit(saved, "signature", field, value=value)
    assert differing(ir_graded.verify(saved, QRELS, RUNS)) == [(item, "", "", "", "differs")]


def test_another_precision_of_an_older_file_is_named_with_the_hashes_that_it_changes(saved):
    edit(saved, "signature", "options", "precision", value="float32")
    edit(saved, "signature", "runs", "bm25", value="0" * 16)
    found = ir_graded.verify(saved, QRELS, RUNS).to_frame().query("status == 'differs'")
    assert found["item"].tolist() == ["precision", "run"]
    assert {*found["note"]} == {"scores of documents were compared and hashed as float32, now as float64"}


def test_a_signature_of_more_than_the_scores_is_found(saved):
    content = json.loads(saved.read_text())
    content["signature"]["options"]["further"] = True
    content |= {"runs": ["bm25"], "values": [of_runs[:1] for of_runs in content["values"]]}
    saved.write_text(json.dumps(content))
    found = differing(ir_graded.verify(saved, QRELS, {"bm25": RUNS["bm25"]}))
    assert found == [("further", "", "", "", "not known"), ("run", "dense", "", "", "differs")]
    content["query_ids"] = content["query_ids"][:1]
    content["values"] = [[[values[0]] for values in of_runs] for of_runs in content["values"]]
    saved.write_text(json.dumps(content))
    found = differing(ir_graded.verify(saved, QRELS, {"bm25": RUNS["bm25"]}))
    assert found[0] == ("topics", "", "", "", "differs")


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_the_signature_lacks_is_not_known(saved, field):
    content = json.loads(saved.read_text())
    assert [*content["signature"]] == FIELDS
    del content["signature"][field]
    saved.write_text(json.dumps(content))
    assert {row[4] for row in differing(ir_graded.verify(saved, QRELS, RUNS))} == {"not known"}


def test_a_selection_of_saved_scores_is_verified(saved):
    part = Scores.from_json(saved.read_text()).select(runs="dense", measures="AP")
    assert ir_graded.verify(part, QRELS, {"dense": RUNS["dense"]}).agrees


BROKEN = {
    **{
        f"{field} null": ("signature", field, None)
        for field in FIELDS
        if field not in {"qrels", "seed", "weights"}
    },
    **{f"{field} list": ("signature", field, [["x"]]) for field in FIELDS},
    "option list": ("signature", "options", {"ties": ["x"]}),
    "signature list": ("signature", []),
    "signature number": ("signature", 1),
    "run twice": ("runs", ["bm25", "bm25"]),
    "measure twice": ("measures", ["Q", "Q(beta=1)"]),
    "topic twice": ("query_ids", [1, "1"]),
    "topic object": ("query_ids", [{}, "1"]),
    "large number": ("values", 0, 0, 0, 10**400),
}


@pytest.mark.parametrize("keys", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_rejected(saved, keys):
    edit(saved, *keys[:-1], value=keys[-1])
    message = r"scores\.json: expected JSON of ir_graded scores, version 1.*: ."
    with pytest.raises(FileFormatError, match=message):
        ir_graded.verify(saved, QRELS, RUNS)


@pytest.mark.parametrize("key", ["format", "seed"])
def test_deeply_nested_json_is_rejected(saved, key):
    deep = "[" * 100_000 + "]" * 100_000
    edit(saved, *(["signature"] if key == "seed" else []), key, value="here")
    saved.write_text(saved.read_text().replace('"here"', deep))
    with pytest.raises(FileFormatError, match="too deeply nested"):
        ir_graded.verify(saved, QRELS, RUNS)


# ---------------------------------------------------------------------------------------- command line


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text(trec_lines("qrels", rows_of(QRELS)))
    for name, run in RUNS.items():
        (tmp_path / name).write_text(trec_lines("run", rows_of(run)))


@pytest.fixture
def run(capsys):
    return partial(run_command, capsys)


EVALUATE = ("evaluate", "q.txt", "bm25", "dense", "-m", "Q AP")


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_the_command_verifies_what_evaluate_saved(run, tmp_path):
    assert run(*EVALUATE, "--ties", "expected", "--save", "s.json")[0] == 0
    code, out, err = run("verify", "s.json", "q.txt", "dense", "bm25", "-o", "csv")
    assert (code, err) == (0, "")
    head, *rows = out.splitlines()
    assert head == "item,run,measure,query_id,status,saved,found,note"
    assert all(",agrees," in row for row in rows)
    (tmp_path / "q.txt").write_text((tmp_path / "q.txt").read_text().replace("2 0 e 2", "2 0 e 1"))
    code, out, err = run("verify", "s.json", "q.txt", "dense", "bm25", "-o", "csv")
    assert (code, err) == (1, "")
    assert [row.split(",")[0] for row in out.splitlines() if ",differs," in row] == ["qrels", "score"]
    assert run("verify", "s.json", "q.txt", "dense")[0] == 1


@pytest.mark.usefixtures("files")
def test_options_of_the_command_are_compared(run):
    run(*EVALUATE, "--save", "s.json")
    code, out, _ = run("verify", "s.json", "q.txt", "dense", "bm25", "--ties", "optimistic", "-o", "csv")
    assert code == 1
    assert "ties,,,,differs,doc_id,optimistic,\n" in out


@pytest.mark.usefixtures("files")
def test_names_in_cells_of_values_are_escaped(run):
    run(*EVALUATE[:2], "a|@b_c=bm25", "-m", "Q", "--save", "s.json")
    given = ("verify", "s.json", "q.txt", "a|@b_c=bm25", "-o")
    assert r" a\|\@<!-- -->b\_c | " in run(*given, "markdown")[1]
    assert r" a\textbar{}@b\_c & " in run(*given, "latex")[1]


@pytest.mark.usefixtures("files")
def test_the_command_rejects_other_files(run, tmp_path):
    assert_command_fails(run("verify", "q.txt", "q.txt", "bm25"), "q.txt", "JSON of ir_graded scores")
    run(*EVALUATE, "--save", "s.json")
    text = (tmp_path / "s.json").read_text()
    (tmp_path / "s.json").write_text(text.replace('["bm25", "dense"]', '["bm25", "bm25"]'))
    assert_command_fails(run("verify", "s.json", "q.txt", "bm25"), "s.json", "runs: 'bm25' appears twice")


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_intents_of_the_command_are_an_option_of_the_signature(run, tmp_path):
    (tmp_path / "i.txt").write_text("1 x a 2\n1 x b 1\n1 y b 1\n2 x d 1\n2 y e 1\n")
    (tmp_path / "p.txt").write_text("1 x 0.5\n1 y 0.5\n2 x 0.5\n2 y 0.5\n")
    given = ("i.txt", "bm25", "--intents", "p.txt")
    assert run("evaluate", *given, "-m", "D-nDCG@10", "--save", "s.json")[0] == 0
    assert json.loads((tmp_path / "s.json").read_text())["signature"]["options"]["intents"] is True
    assert run("verify", "s.json", *given)[0] == 0
    (tmp_path / "p.txt").write_text("1 x 0.25\n1 y 0.75\n2 x 0.5\n2 y 0.5\n")
    code, out, _ = run("verify", "s.json", *given, "-o", "csv")
    assert code == 1
    assert [row.split(",")[0] for row in out.splitlines() if ",differs," in row] == ["qrels", "score"]


@pytest.mark.slow
@pytest.mark.parametrize("output", ["csv", "tsv", "table", "markdown", "jsonl", "latex"])
@pytest.mark.usefixtures("files")
def test_the_signature_is_printed_where_it_cannot_break_a_reader(run, output):
    signature = str(ir_graded.evaluate(["Q", "AP"], "q.txt", ["bm25", "dense"]).signature)
    code, plain, err = run(*EVALUATE, "-o", output)
    assert (code, err) == (0, "")
    assert (signature in plain) == (output == "latex")
    code, out, err = run(*EVALUATE, "-o", output, "--signature")
    expected = {
        "csv": (f"# {signature}\n{plain}", ""),
        "tsv": (f"# {signature}\n{plain}", ""),
        "jsonl": (plain, f"{signature}\n"),
        "latex": (plain, ""),
        "markdown": (f"{plain}\n{in_markdown(signature)}\n", ""),
    }.get(output, (f"{plain}\n{signature}\n", ""))
    assert (code, out, err) == (0, *expected)
    if output == "latex":
        assert plain.splitlines()[-2:] == [f"% {signature}", r"\end{table}"]


@pytest.mark.usefixtures("files")
def test_the_signature_of_intervals_has_the_seed(run):
    options = ("--unjudged", "intervals", "--depth", 3, "--n-samples", 20, "--seed", 5)
    _, out, _ = run("evaluate", "q.txt", "bm25", "-m", "Q", *options, "-o", "csv", "--signature", "--quiet")
    assert out.splitlines()[0].endswith("|seed:5")
