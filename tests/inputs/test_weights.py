"""Weights of topics in mappings, frames and files, in Python and with ``--weights``."""

import pandas as pd
import polars as pl
import pytest
from helpers import assert_command_fails, run_command

import ir_graded
from ir_graded.errors import FileFormatError, InputError
from ir_graded.evaluation.signature import weights_hash
from ir_graded.io.slices import read_clusters, read_slices, read_weights

EXPECTED = {"1": 3, "q 2": 0.5, "3": 0}
FILES = {
    "tabs": "1\t3\nq 2\t.5\n\n3\t0\n",
    "aligned by tabs": "1\t\t3\nq 2\t.5\n3\t\t0\n",
    "commas": "1,3\nq 2,5e-1\n3,0\n",
    "header": "query_id,weight\n1,3\nq 2,.5\n3,0\n",
    "header of other names": "topic\tweight\n1\t3\nq 2\t.5\n3\t0\n",
    "header with one unnamed column": "qid,traffic\n1,3\nq 2,.5\n3,0\n",
    "further columns": 'query_id,text,weight\n1,"a, b",3\nq 2,,.5\n3,"c ""d""",0\n',
    "further columns in another order": "weight\ttext\tqid\n3\t\t1\n.5\tb\tq 2\n0\tc\t3\n",
    "byte-order mark and CRLF": "\ufeffquery_id,weight\r\n1,3\r\nq 2,.5\r\n3,0\r\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_weights_are_read_from_files(tmp_path, text):
    (tmp_path / "weights").write_bytes(text.encode())
    assert read_weights(tmp_path / "weights") == EXPECTED


def test_blanks_separate_fields(tmp_path):
    (tmp_path / "weights").write_text("query_id  weight \n 1  3\n2 4 \n")
    assert read_weights(str(tmp_path / "weights")) == {"1": 3, "2": 4}
    (tmp_path / "weights").write_text("weight 3\n2 4\n")
    assert read_weights(str(tmp_path / "weights")) == {"weight": 3, "2": 4}


COLUMNS = {"query_id": ["1", "q 2", "3"], "text": ["a", "b", "c"], "weight": [3.0, 0.5, 0.0]}
FRAMES = {
    "index and one column": pd.DataFrame({"traffic": [3, 0.5, 0]}, index=["1", "q 2", "3"]),
    "index and a column weight": pd.DataFrame(COLUMNS).set_index("query_id"),
    "columns": pd.DataFrame(COLUMNS),
    "qid and one column": pd.DataFrame({"traffic": [3, 0.5, 0], "qid": ["1", "q 2", "3"]}),
    "Polars": pl.DataFrame(COLUMNS),
    "Series": pd.Series([3, 0.5, 0], index=["1", "q 2", "3"]),
    "dict": EXPECTED,
}


@pytest.mark.parametrize("given", FRAMES.values(), ids=FRAMES)
def test_weights_are_read_from_objects(given):
    assert read_weights(given) == EXPECTED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 3\n2 x\n", "line 2: the weight must be a finite number >= 0: '2 x'"),
        ("1 3\n\n2 -1\n", "line 3: the weight must be a finite number >= 0: '2 -1'"),
        ("1,3\n2,nan\n", "line 2: the weight must be"),
        ("1,3\n2,inf\n", "line 2: the weight must be"),
        ("1,3\n2,1_0\n", "line 2: the weight must be"),
        ("topic,traffic\n1,3\n", "line 1: the weight must be a finite number >= 0: 'topic traffic'"),
        ("query_id,text,traffic\n1,a,3\n", "line 1: expected a header with query_id and weight, each once"),
        ("query_id,qid,weight\n1,1,3\n", "line 1: expected a header with query_id and weight"),
        ("query_id,weight,weight\n1,1,3\n", "line 1: expected a header with query_id and weight"),
        ("query_id,text,weight\n1,a,3\n2,3\n", "line 3: expected 3 fields as in the header, found 2 fields"),
        ("query_id,text,weight\n1,a,\n", "line 2: expected 3 fields as in the header"),
        ("1 3 4\n", "line 1: expected a topic and its weight, found 3 fields"),
        ("1 3\n1 4\n", "line 2: topic '1' has a weight already"),
    ],
)
def test_wrong_lines_of_weights_name_their_line(tmp_path, text, words):
    (tmp_path / "weights").write_text(text)
    with pytest.raises(FileFormatError, match=f"weights, {words}"):
        read_weights(tmp_path / "weights")


@pytest.mark.parametrize("text", ["", "\n", "query_id,weight\n"])
def test_a_file_without_weights_is_rejected(tmp_path, text):
    (tmp_path / "weights").write_text(text)
    with pytest.raises(InputError, match="there are no weights; expected lines of a topic and its weight"):
        read_weights(tmp_path / "weights")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1], "b": [2]}),
        pd.DataFrame({"query_id": ["1"], "qid": ["1"], "weight": [2]}),
        pl.DataFrame({"weight": [2]}),
        pd.DataFrame({"query_id": ["1"]}),
    ],
)
def test_a_frame_whose_weights_are_not_clear_is_rejected(frame):
    with pytest.raises(InputError, match="weights: expected a table with topics as its index or in a column"):
        read_weights(frame)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_slices_and_clusters_of_a_frame_may_have_a_column_of_topics(table):
    rows = {"qid": [1, 2], "slice": ["hard", "easy"], "length": [3, 4]}
    assert read_slices(table(rows)) == [
        {"1": "slice=hard", "2": "slice=easy"},
        {"1": "length=3", "2": "length=4"},
    ]
    assert read_clusters(table({"query_id": ["1", "2"], "text": "ab", "cluster": ["x", None]})) == {"1": "x"}
    assert read_clusters(table({"query_id": ["1", "2"], "group": ["x", "y"]})) == {"1": "x", "2": "y"}
    with pytest.raises(InputError, match="clusters in its only other column or in a column cluster; found"):
        read_clusters(table({"query_id": ["1"], "a": ["x"], "b": ["y"]}))


def test_the_text_of_a_query_is_no_topic(tmp_path):
    (tmp_path / "weights.csv").write_text("query_id,query,weight\n1,a b,3\n2,c,1\n")
    assert read_weights(tmp_path / "weights.csv") == {"1": 3, "2": 1}
    assert read_weights(pd.read_csv(tmp_path / "weights.csv")) == {"1": 3, "2": 1}


def test_a_topic_has_one_weight():
    with pytest.raises(InputError, match="weights: topic '1' appears twice"):
        read_weights(pd.DataFrame({"query_id": ["1", "1"], "weight": [1, 2]}))


def test_slices_may_have_a_header_with_further_columns(tmp_path):
    (tmp_path / "slices").write_text("query_id,text,slice\n1,a,hard\n2,b,easy\n")
    assert read_slices(tmp_path / "slices") == [{"1": "hard", "2": "easy"}]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "up.run").write_text("1 Q0 a 1 2 t\n2 Q0 x 1 2 t\n2 Q0 a 2 1 t\n")
    (tmp_path / "down.run").write_text("1 Q0 x 1 2 t\n1 Q0 a 2 1 t\n2 Q0 a 1 2 t\n")
    (tmp_path / "weights.csv").write_text("query_id,text,weight\n1,one,1\n2,two,3\n")
    return tmp_path


@pytest.mark.slow
def test_evaluate_prints_weighted_means(capsys, folder):  # noqa: ARG001
    given = ("evaluate", "qrels.txt", "up.run", "down.run", "-m", "RR", "--weights", "weights.csv", "-o")
    assert run_command(capsys, *given, "csv")[:2] == (0, "run,RR\ndown.run,0.8750\nup.run,0.6250\n")
    expected = ir_graded.evaluate("RR", "qrels.txt", ["up.run", "down.run"]).mean(weights={"1": 1, "2": 3})
    assert expected["RR"].tolist() == [0.875, 0.625]
    lines = run_command(capsys, *given, "jsonl")[1].splitlines()
    assert lines[0] == '{"run": "down.run", "measure": "RR", "value": 0.875}'
    scores = ir_graded.evaluate("RR", "qrels.txt", ["up.run", "down.run"])
    assert run_command(capsys, *given, "latex")[1] == f"{scores.to_latex(weights='weights.csv')}\n"


@pytest.mark.slow
@pytest.mark.parametrize("output", ["table", "markdown", "csv", "jsonl", "latex"])
def test_every_output_and_the_signature_name_the_weights(capsys, folder, output):  # noqa: ARG001
    given = ("evaluate", "qrels.txt", "up.run", "down.run", "-m", "RR", "--signature", "-o", output)
    weighted = run_command(capsys, *given, "--weights", "weights.csv")[1:]
    said = "Topics are weighted." if output == "latex" else "Means are weighted by weights.csv."
    assert said in "".join(weighted)
    scores = ir_graded.evaluate("RR", "qrels.txt", ["up.run", "down.run"])
    code = weights_hash(["2", "1"], [3.0, 1.0])
    assert f"|weights:{code}" in "".join(weighted).replace("\\", "")
    plain = "".join(run_command(capsys, *given)[1:])
    assert "weight" not in plain
    assert "weight" not in str(scores.signature)


def test_weights_are_part_of_marked_tables(capsys, folder):
    topics = range(8)
    (folder / "qrels.txt").write_text("".join(f"{topic} 0 a 1\n" for topic in topics))
    good, poor = "{0} Q0 a 1 2 t\n", "{0} Q0 x 1 2 t\n{0} Q0 a 2 1 t\n"
    for name, one in (("up.run", [poor] * 6 + [good] * 2), ("down.run", [good] * 6 + [poor] * 2)):
        (folder / name).write_text("".join(line.format(t) for t, line in zip(topics, one, strict=True)))
    (folder / "weights.csv").write_text("".join(f"{topic} {1 if topic < 6 else 0}\n" for topic in topics))
    given = ("evaluate", "qrels.txt", "up.run", "down.run", "-m", "RR", "--baseline", "up.run")
    assert "†" not in run_command(capsys, *given, "-o", "markdown")[1].splitlines()[2]
    lines = run_command(capsys, *given, "-o", "markdown", "--weights", "weights.csv")[1].splitlines()
    assert lines[2] == "| down.run | **1.0000**<sup>†</sup> |"
    assert "Topics are weighted. Best values in bold. <sup>†</sup>: significantly better" in lines[-1]


def test_a_history_names_its_weights(capsys, folder):
    (folder / "saved").mkdir()
    for name in ("up", "down"):
        given = ("evaluate", "qrels.txt", f"app={name}.run", "-m", "RR", "--save", f"saved/{name}.json")
        assert run_command(capsys, *given)[0] == 0
    out = run_command(capsys, "history", "saved", "--weights", "weights.csv")[1]
    assert out.endswith("\n\nMeans and changes are weighted by weights.csv.\n")


@pytest.mark.parametrize("more", ["-q", "--unjudged=bounds", "--estimates"])
def test_weights_exclude_what_they_do_not_weigh(capsys, folder, more):  # noqa: ARG001
    given = ("evaluate", "qrels.txt", "up.run", "-m", "RR", "--weights", "weights.csv", more, "-o", "latex")
    assert_command_fails(run_command(capsys, *given), "--weights are of means only")


def test_saved_scores_without_the_weights_are_warned_of(capsys, folder):  # noqa: ARG001
    given = ("evaluate", "qrels.txt", "up.run", "-m", "RR", "--save", "saved.json")
    code, out, err = run_command(capsys, *given, "--weights", "weights.csv")
    assert (code, "0.6250" in out) == (0, True)
    said = "the scores in saved.json are without weights; give --weights to commands that read them, too"
    assert err == f"ir_graded: warning: {said}\n"
    assert run_command(capsys, *given)[2] == ""


@pytest.mark.parametrize("header", ["query_id;weight", "Query_ID;Weight", "QID,WEIGHT", "query_id\tWeight"])
def test_headers_may_have_semicolons_and_capitals(tmp_path, header):
    mark = next(one for one in ";,\t" if one in header)
    (tmp_path / "weights").write_text(f"{header}\nred shoes{mark}1\n2{mark}3\n")
    assert read_weights(tmp_path / "weights") == {"red shoes": 1, "2": 3}
