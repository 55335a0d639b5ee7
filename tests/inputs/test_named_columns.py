"""Qrels and runs of other tools: columns with a header, records, JSON and objects of ranx."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from helpers import TABLES
from packed import gzipped

import ir_graded
from ir_graded import FileFormatError, InputError

QRELS = {"1": {"a": 2.0, "b": 0.5}, "2": {"c": 1.0}}
RUN = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "2": {"c": 1.5}}
EXPECTED = ir_graded.evaluate(["Q", "nDCG"], QRELS, RUN).values.tolist()
NAMES = {
    "qrels": [
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
        ("query-id", "corpus-id", "score"),
        ("query", "docid", "rating"),
        ("q_id", "doc_id", "score"),
        ("user_id", "item_id", "rating"),
        ("qid", "doc_id", "grade"),
    ],
    "run": [
        ("query_id", "doc_id", "score"),
        ("qid", "docno", "score"),
        ("query-id", "corpus-id", "score"),
        ("q_id", "doc_id", "score"),
        ("query", "docid", "score"),
        ("query", "doc_id", "score"),
        ("qid", "item_id", "score"),
    ],
}
CASES = [(kind, names) for kind in NAMES for names in NAMES[kind]]


def rows(kind):
    given = QRELS if kind == "qrels" else RUN
    return [(topic, doc, value) for topic, docs in given.items() for doc, value in docs.items()]


def scores(kind, source):
    qrels, run = (source, RUN) if kind == "qrels" else (QRELS, source)
    return ir_graded.evaluate(["Q", "nDCG"], qrels, run).values.tolist()


def frame(kind, names):
    return pd.DataFrame(rows(kind), columns=names)


@pytest.mark.parametrize(("kind", "names"), CASES)
def test_columns_are_known_by_the_names_of_each_tool(kind, names, tmp_path):
    table = frame(kind, names).assign(title="t")
    for form in ("pandas", "polars", "records", "parquet"):
        assert scores(kind, TABLES[form](table, tmp_path / form)) == EXPECTED
    table.to_json(tmp_path / "t.json", orient="records", indent=1)
    assert scores(kind, tmp_path / "t.json") == EXPECTED


@pytest.mark.parametrize(("kind", "names"), CASES)
@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_text_with_a_header_is_read(kind, names, separator, tmp_path):
    table = frame(kind, names).assign(title='of "two", words')
    text = table[["title", *names]].to_csv(sep=separator, index=False, lineterminator="\r\n")
    (tmp_path / "file").write_text("\ufeff" + text + "\r\n", newline="")
    assert scores(kind, tmp_path / "file") == EXPECTED
    (tmp_path / "file.gz").write_bytes(gzipped(text.encode()))
    assert scores(kind, tmp_path / "file.gz") == EXPECTED


def test_blanks_around_fields_and_empty_rows_do_no_harm(tmp_path):
    (tmp_path / "q.csv").write_text(
        "query_id, doc_id, relevance, note\n1, a , 2,\n,,,\n \n1, b, 0.5, x\n2,c,1,\n"
    )
    assert scores("qrels", tmp_path / "q.csv") == EXPECTED


def test_quepid_writes_queries_without_ratings_alone(tmp_path):
    """Its basic CSV has such rows, after an empty line."""
    (tmp_path / "q.csv").write_text('\nquery,docid,rating\n1,a,2\n1,b,0.5\n"no, rating"\n2,c,1\n')
    assert scores("qrels", tmp_path / "q.csv") == EXPECTED


@pytest.mark.parametrize(
    ("kind", "names", "found"),
    [
        ("qrels", ["query_id", "doc_id", "relevance", "qid", "docid", "label"], ["query_id", "doc_id", 2]),
        ("qrels", ["qid", "query", "doc_id", "grade"], ["qid", "doc_id", 3]),
        ("qrels", ["q_id", "doc_id", "score", "relevance"], ["q_id", "doc_id", 3]),
        ("qrels", ["query-id", "corpus-id", "score", "label"], ["query-id", "corpus-id", 3]),
        ("run", ["qid", "docno", "docid", "query", "rank", "score"], ["qid", "docno", 5]),
        ("run", ["query_id", "docno", "docid", "query", "score"], ["query_id", "docno", 4]),
        ("run", ["qid", "doc_id", "docid", "query", "rank"], ["qid", "doc_id", -4]),
        ("run", ["qid", "doc_id", "rank", "score"], ["qid", "doc_id", 3]),
        ("run", ["qid", "doc_id", "rank"], ["qid", "doc_id", -2]),
        ("qrels", ["qid", "query-id", "docno", "grade"], "qid and query-id, which mean the same"),
        ("qrels", ["qid", "docno", "docid", "grade"], "docno and docid, which mean the same"),
        ("run", ["qid", "docno", "doc_id", "rank"], ["qid", "docno", -3]),
    ],
)
def test_names_of_one_tool_go_before_a_mixture(kind, names, found, tmp_path):
    """A text field of a row is its name, and a value its position."""
    row = [at if at == len(names) - 1 or name in VALUES else name for at, name in enumerate(names)]
    table, read = (
        pd.DataFrame([row], columns=names),
        {"run": ir_graded.read_run, "qrels": ir_graded.read_qrels},
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    table.to_parquet(tmp_path / "t.parquet")
    table.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    for source in (table, table.to_dict("records"), *sorted(tmp_path.iterdir())):
        if isinstance(found, list):
            assert read[kind](source).iloc[0].tolist()[:3] == found
        else:
            with pytest.raises(InputError, match=found):
                read[kind](source)


VALUES = ("relevance", "label", "grade", "rank", "score")


def test_a_header_alone_is_an_empty_run(tmp_path):
    (tmp_path / "run.csv").write_text("qid,docno,score\n")
    assert len(ir_graded.read_run(tmp_path / "run.csv")) == 0


def test_further_columns_of_a_header_are_those_of_qrels(tmp_path):
    (tmp_path / "q.csv").write_text("query_id,iteration,doc_id,relevance\n1,i1,a,1\n1,i2,b,1\n")
    run = {"1": {"a": 2.0, "b": 1.0}}
    with pytest.warns(UserWarning, match="no document of the qrels has two intents"):
        assert ir_graded.evaluate("I-rec@1", tmp_path / "q.csv", run).values.tolist() == [[[0.5]]]


SPANS = {"start": [0, 5], "length": [10, 9]}


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("kind", ["qrels", "run"])
def test_start_and_length_are_read_in_every_form_with_names(kind, form, tmp_path):
    columns = {"query_id": "1", "doc_id": "a", **SPANS}
    given = {name: pd.DataFrame(columns | {name: [1, 2]}) for name in ("relevance", "score")}
    value = {"qrels": "relevance", "run": "score"}[kind]
    given[value] = TABLES[form](given[value], tmp_path / kind)
    found = ir_graded.evaluate(["CharP", "MAgP"], *given.values())
    assert found.mean().iloc[0].tolist() == [14 / 19, 1.0]


# ------------------------------------------------------------------------------------------- JSON


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
@pytest.mark.parametrize("further", [{}, {"iteration": "i"}, {"SIZE": [0.5, 0.5]}])
def test_json_lines_with_one_record_are_read(end, further, tmp_path):
    (tmp_path / "q.jsonl").write_text(json.dumps({"qid": "1", "docno": "a", "label": 2, **further}) + end)
    (tmp_path / "run.jsonl").write_text(json.dumps({"qid": "1", "docno": "a", "score": 2}) + end)
    found = ir_graded.evaluate("Q", tmp_path / "q.jsonl", tmp_path / "run.jsonl")
    assert found.values.tolist() == [[[1.0]]]


def test_a_field_that_the_first_record_lacks_is_read():
    records = [
        {"query_id": "1", "doc_id": "a", "relevance": 1},
        {"query_id": "1", "doc_id": "b", "relevance": 1, "start": 0, "length": 9},
    ]
    with pytest.raises(InputError, match=r"document 'a' \(item 0\): start is missing"):
        scores("qrels", records)


@pytest.mark.parametrize("orient", ["dict", "index"])
def test_columns_and_rows_of_a_frame_are_not_topics(orient):
    """Read as topics, they give scores if ids are numbers: the run has the same columns."""
    columns = pd.DataFrame({"query_id": [1, 1], "doc_id": [7, 8], "relevance": [1, 2]})
    with pytest.raises(InputError, match=r"qrels: .*columns or rows of a frame"):
        scores("qrels", columns.to_dict(orient))


# ------------------------------------------------------------------------- intents, and samples

INTENTS = "query_id,iteration,doc_id,relevance,probability\n"


def test_probabilities_are_numbers_in_every_form_with_names(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"{INTENTS}1,i,a,1,.75\n1, j,b,1,0.25\n1,j,a,1, 2.5e-1 \n")
    run = {"1": {"a": 1.0}}
    expected = ir_graded.evaluate("D(measure='nDCG')@2", path, run).values.tolist()
    table = pd.read_csv(path, skipinitialspace=True)
    assert table["probability"].tolist() == [0.75, 0.25, 0.25]
    assert ir_graded.evaluate("D(measure='nDCG')@2", table, run).values.tolist() == expected
    kept = ir_graded.read_qrels(path)
    assert kept["probability"].tolist() == [0.75, 0.25, 0.25]
    assert kept["iteration"].tolist() == ["i", "j", "j"]
    assert ir_graded.evaluate("D(measure='nDCG')@2", kept, run).values.tolist() == expected
    equal = ir_graded.evaluate("D(measure='nDCG')@2", table.drop(columns="probability"), run).values.tolist()
    assert equal != expected


def test_an_intent_without_a_probability_is_unlisted(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"{INTENTS}1,i,a,1,1\n1,j,b,0,\n")
    assert ir_graded.evaluate("I-rec@1", path, {"1": {"a": 1.0}}).values.tolist() == [[[1.0]]]
    path.write_text(f"{INTENTS}1,i,a,1,1\n1,j,b,1,\n")
    with pytest.raises(InputError, match="relevant to intent 'j', which has no probability"):
        ir_graded.evaluate("I-rec@1", path, {"1": {"a": 1.0}})


def test_a_probability_that_is_not_a_number_names_the_line_if_it_is_needed(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"{INTENTS}1,i,a,1,1\n1,j,a,1,high\n")
    run = {"1": {"a": 1.0}}
    assert ir_graded.evaluate("AP", path, run).values.tolist() == [[[1.0]]]
    problem = r"document 'a' \(.*q\.csv, line 3\): the probability 'high' is not a number"
    with pytest.raises(FileFormatError, match=problem):
        ir_graded.evaluate("D(measure='nDCG')@2", path, run)


OF_COLUMNS = {
    "iteration": "I-rec@1",
    "subtopic_id": "I-rec@1",
    "probability": "D-nDCG@2",
    "iprob": "AP",
    "group": "GF(groups='group')@10",
}


@pytest.mark.parametrize("name", OF_COLUMNS)
def test_a_further_column_of_qrels_that_is_read_appears_once(name, tmp_path):
    header = "query_id,doc_id,relevance" + ",iteration" * (name == "probability")
    (tmp_path / "q.csv").write_text(
        f"{header},{name},,{name},\n1,a,1{',i' * (name == 'probability')},2,,3,\n"
    )
    with pytest.raises(FileFormatError, match=f"line 1: several columns are named {name}"):
        ir_graded.evaluate(OF_COLUMNS[name], tmp_path / "q.csv", {"1": {"a": 1.0}})


# -------------------------------------------------------------------------------------------- ranx


def test_qrels_and_runs_of_ranx_itself_are_taken():
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    whole = {topic: {doc: int(2 * level) for doc, level in docs.items()} for topic, docs in QRELS.items()}
    expected = ir_graded.evaluate("Q", whole, RUN).values.tolist()
    found = ir_graded.evaluate("Q", ranx.Qrels(whole), ranx.Run(RUN))
    assert found.values.tolist() == expected


# ---------------------------------------------------------------------------------- what is rejected


def test_a_record_without_a_field_is_an_error():
    records = frame("run", NAMES["run"][1]).to_dict("records")
    del records[2]["score"]
    with pytest.raises(InputError, match=r"run: topic .*item 2.*: the score is missing"):
        scores("run", records)


# ---------------------------------------------------------------------------------- standard input


@pytest.mark.parametrize("piped", ["run", pytest.param("qrels", marks=pytest.mark.slow)])
def test_a_dash_is_the_standard_input(piped, tmp_path):
    table = {"qrels": frame("qrels", NAMES["qrels"][0]), "run": frame("run", NAMES["run"][0])}
    for kind, one in table.items():
        one.to_csv(tmp_path / kind, index=False)
    places = ["-" if kind == piped else kind for kind in table]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "ir_graded", "evaluate", *places, "-m", "Q", "-o", "jsonl", "-p", "-1"],
        cwd=tmp_path,
        input=(tmp_path / piped).read_text(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["value"] == sum(EXPECTED[0][0]) / 2
