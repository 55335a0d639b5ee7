"""Qrels and runs of other tools: columns with a header, records, JSON and objects of ranx."""

import json
import subprocess
import sys

import pandas as pd
import polars as pl
import pytest
from packed import gzipped

import ir_graded
from ir_graded import FileFormatError, InputError
from ir_graded.io.files import read_file

QRELS = {"1": {"a": 2.0, "b": 0.5}, "2": {"c": 1.0}}
RUN = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "2": {"c": 1.5}}
EXPECTED = ir_graded.evaluate(["Q", "nDCG"], QRELS, RUN).values.tolist()
NAMES = {
    "qrels": [
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
        ("query-id", "corpus-id", "score"),
        ("query", "docid", "rating"),
    ],
    "run": [("query_id", "doc_id", "score"), ("qid", "docno", "score"), ("query-id", "corpus-id", "score")],
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
    table = frame(kind, names)
    assert scores(kind, table) == EXPECTED
    assert scores(kind, pl.from_pandas(table)) == EXPECTED
    assert scores(kind, table.to_dict("records")) == EXPECTED
    table.assign(title="t").to_parquet(tmp_path / "t.parquet")
    assert scores(kind, tmp_path / "t.parquet") == EXPECTED


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
    ("kind", "header", "lacking"),
    [
        ("run", "query_id,docid,score", "doc_id"),
        ("run", "query_id; doc_id; scroe", "score"),
        ("run", "query_id\tdocid\tscore", "doc_id"),
        ("qrels", "query_id,doc_id,level", "relevance"),
    ],
)
def test_a_misspelt_header_names_the_column(kind, header, lacking, tmp_path):
    (tmp_path / "x").write_text(f"{header}\n1,a,2\n")
    read = {"run": ir_graded.read_run, "qrels": ir_graded.read_qrels}[kind]
    with pytest.raises(FileFormatError, match=f"line 1: if this is a header, .* no column {lacking}; it has"):
        read(tmp_path / "x")


@pytest.mark.parametrize("line", ["1,a,2", "1;a", "a line of words"])
def test_other_lines_are_no_headers(line, tmp_path):
    (tmp_path / "x").write_text(f"{line}\n")
    with pytest.raises(FileFormatError, match="line 1: expected a run line of"):
        ir_graded.read_run(tmp_path / "x")


def test_a_header_alone_is_an_empty_run(tmp_path):
    (tmp_path / "run.csv").write_text("qid,docno,score\n")
    assert len(ir_graded.read_run(tmp_path / "run.csv")) == 0


def test_further_columns_of_a_header_are_those_of_qrels(tmp_path):
    (tmp_path / "q.csv").write_text("query_id,iteration,doc_id,relevance\n1,i1,a,1\n1,i2,b,1\n")
    run = {"1": {"a": 2.0, "b": 1.0}}
    with pytest.warns(UserWarning, match="no document of the qrels has two intents"):
        assert ir_graded.evaluate("I-rec@1", tmp_path / "q.csv", run).values.tolist() == [[[0.5]]]


SPANS = {"start": [0, 5], "length": [10, 9]}


def passages_of(kind, folder):
    """Yield a table of two passages of one document in each form with named columns."""
    value = {"qrels": "relevance", "run": "score"}[kind]
    table = pd.DataFrame({"query_id": "1", "doc_id": "a", value: [1, 2], **SPANS})
    yield table
    yield table.to_dict("records")
    table.to_csv(folder / f"{kind}.csv", index=False)
    yield folder / f"{kind}.csv"
    table.to_json(folder / f"{kind}.json", orient="records")
    yield folder / f"{kind}.json"


@pytest.mark.parametrize("kind", ["qrels", "run"])
def test_start_and_length_are_read_in_every_form_with_names(kind, tmp_path):
    (other,) = {"qrels", "run"} - {kind}
    given = {other: next(passages_of(other, tmp_path))}
    for table in passages_of(kind, tmp_path):
        both = {**given, kind: table}
        found = ir_graded.evaluate(["CharP", "MAgP"], both["qrels"], both["run"])
        assert found.mean().iloc[0].tolist() == [14 / 19, 1.0]


# ------------------------------------------------------------------------------------------- JSON

JSON = {
    "records": [{"query_id": t, "doc_id": d, "relevance": v} for t, d, v in rows("qrels")],
    "dict of dicts": QRELS,
    "OpenSearch": {
        "name": "n",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {"query": t, "ratings": [{"docId": d, "rating": f"{v:.3f}"} for d, v in docs.items()]}
            for t, docs in QRELS.items()
        ],
    },
    "OpenSearch, the list alone": [
        {"query": t, "ratings": [{"docId": d, "rating": v} for d, v in docs.items()]}
        for t, docs in QRELS.items()
    ],
    "_rank_eval": {
        "requests": [
            {"id": t, "ratings": [{"_index": "i", "_id": d, "rating": v} for d, v in docs.items()]}
            for t, docs in QRELS.items()
        ],
        "metric": {"dcg": {}},
    },
    "Quepid": {
        "queries": [
            {"query_text": t, "ratings": [{"doc_id": d, "rating": v} for d, v in docs.items()]}
            for t, docs in QRELS.items()
        ]
    },
    "Quepid by document": {"queries": [{"query": t, "ratings": docs} for t, docs in QRELS.items()]},
}


@pytest.mark.parametrize("name", JSON)
def test_json_of_search_engines_is_read(name, tmp_path):
    (tmp_path / "q.json").write_text(json.dumps(JSON[name], indent=1))
    assert scores("qrels", tmp_path / "q.json") == EXPECTED


def test_json_lines_and_json_of_runs_are_read(tmp_path):
    lines = "\n".join(json.dumps({"qid": t, "docno": d, "score": v}) for t, d, v in rows("run"))
    (tmp_path / "run.jsonl").write_text(lines)
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    assert scores("run", tmp_path / "run.jsonl") == EXPECTED
    assert scores("run", tmp_path / "run.json") == EXPECTED


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


COLUMNS = pd.DataFrame({"query_id": [1, 1], "doc_id": [7, 8], "relevance": [1, 2]})


@pytest.mark.parametrize("orient", ["columns", "index"])
def test_columns_and_rows_of_a_frame_are_not_topics(orient, tmp_path):
    """Read as topics, they give scores if ids are numbers: the run has the same columns."""
    text = COLUMNS.to_json(orient=orient)
    (tmp_path / "q.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"q\.json: .*columns or rows of a frame.*orient='records'"):
        scores("qrels", tmp_path / "q.json")
    with pytest.raises(InputError, match=r"qrels: .*columns or rows of a frame"):
        scores("qrels", json.loads(text))
    assert ir_graded.read_qrels(COLUMNS.to_dict("list")).equals(ir_graded.read_qrels(COLUMNS))


@pytest.mark.parametrize("text", ['{"1": {"a": 1, "a": 2}}', '{"1": {"a": 1}, "a": {"b": 1}, "a": {}}'])
def test_a_repeated_key_in_json_is_an_error(text, tmp_path):
    (tmp_path / "q.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"q\.json: .*the key 'a' appears twice in an object"):
        scores("qrels", tmp_path / "q.json")


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


@pytest.mark.parametrize("name", ["iteration", "subtopic_id", "probability", "iprob", "aspects", "group"])
def test_a_further_column_of_qrels_that_is_read_appears_once(name, tmp_path):
    (tmp_path / "q.csv").write_text(f"query_id,doc_id,relevance,{name},,{name},\n1,a,1,2,,3,\n")
    table = read_file("qrels", tmp_path / "q.csv")
    with pytest.raises(FileFormatError, match=f"line 1: several columns are named {name}"):
        table.further["iteration" if name == "subtopic_id" else name]()


# -------------------------------------------------------------------------------------------- ranx


class OfRanx:
    """Replacement for Qrels and Run of ranx, which cannot be iterated."""

    def __init__(self, given):
        self.given = given

    def to_dict(self):
        return self.given


OfRanx.__module__ = "ranx.data_structures"


def test_qrels_and_runs_of_ranx_are_taken():
    assert scores("qrels", OfRanx(QRELS)) == EXPECTED
    assert scores("run", OfRanx(RUN)) == EXPECTED
    found = ir_graded.evaluate("Q", OfRanx(QRELS), {"one": OfRanx(RUN), "two": OfRanx(RUN)})
    assert found.runs == ("one", "two")


def test_qrels_and_runs_of_ranx_itself_are_taken():
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    whole = {topic: {doc: int(2 * level) for doc, level in docs.items()} for topic, docs in QRELS.items()}
    expected = ir_graded.evaluate("Q", whole, RUN).values.tolist()
    found = ir_graded.evaluate("Q", ranx.Qrels(whole), ranx.Run(RUN))
    assert found.values.tolist() == expected


# ---------------------------------------------------------------------------------- what is rejected


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (
            "run",
            "qid,docno,label\n1,a,1\n",
            r"line 1: the table has no column .*it looks like qrels \(qid, docno, label\)",
        ),
        ("qrels", "qid\tdocno\tscore\n1\ta\t1\n", r"line 1: .*it looks like a run \(qid, docno, score\)"),
        ("run", "qid,docno,score\n1,a,1\n1,b\n", "line 3: expected 3 fields as in the header, found 2"),
        ("run", "qid,docno,score\n\n1,a,high\n", "line 3: could not convert string to float: 'high'"),
        (
            "run",
            "qid,docno,score,start,length\n1,a,1,x,9\n",
            "line 2: could not convert string to float: 'x'",
        ),
        (
            "qrels",
            "query-id corpus-id score\n1 a 2\n",
            "line 1: looks like a header; expected query-id, corpus",
        ),
        (
            "run",
            "\r\n\r\nqid|docno|score\r\n1|a|2\r\n",
            "line 3: looks like a header; .* separated by tabs, commas or",
        ),
        (
            "qrels",
            "Query_ID,Doc_ID,Relevance\n1,a,2\n",
            "line 1: looks like a header; expected query_id, doc",
        ),
        ("qrels", "query_id,doc_id,relevance\n1,a,2\n1,,2\n", "line 3: the field doc_id is empty"),
        ("qrels", "query_id,doc_id,relevance\n1,a,2\n ,b,2\n", "line 3: the field query_id is empty"),
        ("qrels", "query_id,doc_id,relevance\n1,a,\n", "line 2: the field relevance is empty"),
        ("qrels", "query_id,doc_id,relevance\n1,a,1_0\n", "line 2: not a number: '1_0'"),
        ("qrels", "query_id,doc_id,relevance\n1,a,\u0662\n", "line 2: not a number"),
        ("qrels", "query_id,doc_id,relevance,doc_id\n1,a,1,b\n", "line 1: several columns are named doc_id"),
        ("qrels", 'query_id,doc_id,relevance\n1,"a,1\n', "line 2: .*begins with a quotation mark must end"),
        (
            "qrels",
            '{"queries": [{"query_text": "q"}]}',
            "is JSON, an object with queries; give a dict",
        ),
        ("qrels", "[1, 2]", "is JSON, an array; give a dict of dicts"),
        ("qrels", '{"1": {"a": 1}', "looks like JSON but cannot be read"),
        (
            "run",
            '{"1": 5}',
            "is JSON, an object with 1; give .* with query_id, doc_id and score",
        ),
    ],
)
def test_files_that_cannot_be_told_are_errors(kind, text, message, tmp_path):
    (tmp_path / "f").write_text(text)
    with pytest.raises(FileFormatError, match=f"f(:|,) {message}"):
        scores(kind, tmp_path / "f")


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
