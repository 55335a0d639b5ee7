"""Qrels and runs as other tools keep them: objects, the same in JSON, and on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers import run_command

import ir_graded
from ir_graded import CoverageWarning, FileFormatError, InputError, evaluate, read_qrels, read_run

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": {"b": 3.0, "x": 2.0, "a": 1.5}, "q2": {"c": 1.0, "y": 0.5}}
LISTS = {"q1": ["a", "b"], "q2": ["c"]}


def hits(docs, **names):
    """Return the documents of a query as records with other names of id and score."""
    key, score = names["id"], names["score"]
    return [{key: doc, score: value} for doc, value in docs.items()]


def by_query(wrap, **names):
    return {query: wrap(hits(docs, **names)) for query, docs in RUN.items()}


def solr(docs):
    return {"responseHeader": {"status": 0}, "response": {"numFound": 9, "docs": docs}}


def vespa(docs):
    return {"root": {"id": "toplevel", "relevance": 1.0, "children": docs}}


def ratings(text):
    return [
        {"query": query, "ratings": [{"docId": doc, "rating": text(level)} for doc, level in docs.items()]}
        for query, docs in QRELS.items()
    ]


def columns(of, *names):
    rows = [(query, doc, value) for query, docs in of.items() for doc, value in docs.items()]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


SOLR, VESPA = {"id": "id", "score": "score"}, {"id": "id", "score": "relevance"}
QRELS_FORMS = {
    "lists": LISTS,
    "sets": {query: set(docs) for query, docs in LISTS.items()},
    "LlamaIndex": {"queries": {"q1": "one"}, "corpus": {}, "relevant_docs": LISTS, "mode": "text"},
    "MTEB": {"queries": {"q1": "one"}, "corpus": {}, "relevant_docs": QRELS},
    "columns of ir-measures": columns(QRELS, "query_id", "doc_id", "relevance"),
    "columns of PyTerrier": columns(QRELS, "qid", "docno", "label"),
    "LoTTE": [{"qid": query, "query": "text", "answer_pids": docs} for query, docs in LISTS.items()],
    "BRIGHT": [{"query": "text", "id": query, "gold_ids": docs} for query, docs in LISTS.items()],
    "OpenSearch": {"judgmentRatings": ratings(str)},
    "OpenSearch, stored": {
        "took": 1,
        "hits": {"hits": [{"_id": "1", "_source": {"name": "n", "judgmentRatings": ratings(str)}}]},
    },
}
RUN_FORMS = {
    "pairs": {query: [*docs.items()] for query, docs in RUN.items()},
    "pairs in lists": {query: [[*pair] for pair in docs.items()] for query, docs in RUN.items()},
    "semantic_search": by_query(list, id="corpus_id", score="score"),
    "ids and scores": by_query(list, id="id", score="score"),
    "Solr": by_query(solr, **SOLR),
    "Vespa": by_query(vespa, **VESPA),
    "rank_llm": [
        {"query": {"text": "one", "qid": query}, "candidates": docs}
        for query, docs in by_query(list, id="docid", score="score").items()
    ],
    "columns": columns(RUN, "query_id", "doc_id", "score"),
}
IN_ORDER = {
    "lists of semantic_search": [hits(docs, id="corpus_id", score="score") for docs in RUN.values()],
    "lists of pairs": [[*docs.items()] for docs in RUN.values()],
    "responses of Solr": [solr(hits(docs, **SOLR)) for docs in RUN.values()],
    "responses of Vespa": [vespa(hits(docs, **VESPA)) for docs in RUN.values()],
}
FORMS = [
    *(("qrels", name, source) for name, source in QRELS_FORMS.items()),
    *(("run", name, source) for name, source in RUN_FORMS.items()),
]


def rows(frame, value):
    return {(row.query_id, row.doc_id): getattr(row, value) for row in frame.itertuples()}


def in_json(source, folder, lines):
    """Write a source as JSON, and if it is a list, as JSON Lines."""
    path = folder / "source.json"
    text = "\n".join(map(json.dumps, source)) if lines and isinstance(source, list) else json.dumps(source)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("kind", "name", "source"), FORMS, ids=[f"{kind}, {name}" for kind, name, _ in FORMS]
)
def test_forms_of_tools_are_read_as_objects_in_json_and_by_commands(kind, name, source, tmp_path, capsys):
    read, plain, value = {"qrels": (read_qrels, QRELS, "relevance"), "run": (read_run, RUN, "score")}[kind]
    expected = {(query, doc): number for query, docs in plain.items() for doc, number in docs.items()}
    sources = [source]
    if name != "sets":
        sources += [in_json(source, tmp_path, lines=False), in_json(source, tmp_path, lines=True)]
    for one in sources:
        assert rows(read(one), value) == expected
        given = {"qrels": QRELS, "run": RUN, kind: one}
        scores = evaluate(["Q", "nDCG@2"], given["qrels"], given["run"])
        assert np.array_equal(scores.values, evaluate(["Q", "nDCG@2"], QRELS, RUN).values)
        assert scores.signature.qrels == evaluate("Q", QRELS, RUN).signature.qrels
    if name != "sets":
        (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
        (tmp_path / "run.json").write_text(json.dumps(RUN))
        files = {"qrels": tmp_path / "qrels.json", "run": tmp_path / "run.json", kind: sources[1]}
        code, out, _ = run_command(capsys, "evaluate", *files.values(), "-m", "Q", "-o", "csv")
        assert (code, out.splitlines()[1].partition(",")[2]) == (0, "0.9500")


@pytest.mark.parametrize("name", RUN_FORMS)
def test_runs_of_tools_are_runs_by_name(name):
    scores = evaluate("Q", QRELS, {"one": RUN_FORMS[name], "other": RUN})
    assert scores.runs == ("one", "other")
    assert (scores.values[:, 0] == scores.values[:, 1]).all()


@pytest.mark.parametrize("name", IN_ORDER)
def test_lists_without_queries_take_query_ids(name, tmp_path, capsys):
    path = in_json(IN_ORDER[name], tmp_path, lines=False)
    for source in (IN_ORDER[name], path):
        assert rows(read_run(source, query_ids=["q1", "q2"]), "score") == rows(read_run(RUN), "score")
    (tmp_path / "ids.txt").write_text("q1\nq2\n")
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    command = ("evaluate", tmp_path / "qrels.json", path, "--query-ids", tmp_path / "ids.txt", "-m", "Q")
    assert run_command(capsys, *command)[0] == 0
    for source in (IN_ORDER[name], path):
        with pytest.raises(InputError, match=r"do not name their queries: .*query_ids="):
            ir_graded.evaluate("Q", QRELS, source)


def test_relevant_documents_of_a_data_set_keep_their_levels():
    levels = {"q1": {"a": 2, "b": 0}}
    assert rows(ir_graded.read_qrels({"corpus": {}, "relevant_docs": levels}), "relevance") == {
        ("q1", "a"): 2,
        ("q1", "b"): 0,
    }


@pytest.mark.parametrize(("kind", "name", "source"), [one for one in FORMS if isinstance(one[2], list)])
def test_json_lines_with_one_line_are_read(kind, name, source, tmp_path):
    read = {"qrels": ir_graded.read_qrels, "run": ir_graded.read_run}[kind]
    assert read(in_json(source[:1], tmp_path, lines=True)).equals(read(source[:1])), name


def test_ids_in_lists_may_be_numbers_of_numpy():
    run = {"q1": [np.int64(7), np.int32(8)], "q2": [(np.int64(7), np.float32(0.5))]}
    assert ir_graded.read_run({"q1": run["q1"]})["doc_id"].tolist() == ["7", "8"]
    assert ir_graded.read_run({"q2": run["q2"]})["doc_id"].tolist() == ["7"]
    assert ir_graded.read_qrels({"q1": {np.int64(7)}})["doc_id"].tolist() == ["7"]


def test_a_query_without_ratings_may_come_first():
    rated = {"judgmentRatings": [{"query": "q0", "ratings": []}, *ratings(str)]}
    assert rows(ir_graded.read_qrels(rated), "relevance") == rows(ir_graded.read_qrels(QRELS), "relevance")


def test_positions_as_ids_are_warned_of():
    with pytest.warns(CoverageWarning, match="run: corpus_id are numbers, so the documents are positions"):
        found = read_run([[{"corpus_id": 7, "score": 0.5}]], query_ids=["q1"])
    assert found["doc_id"].tolist() == ["7"]


def test_lists_rank_by_score_and_equal_scores_by_position():
    frame = read_run({"q1": [("b", 1.0), ("z", 1.0), ("a", 2.0)]})
    assert frame["position"].tolist() == [1, 2, 3]
    run = {"q1": [("b", 1.0), ("z", 1.0), ("y", 0.5)]}
    with pytest.warns(CoverageWarning, match="given positions"):
        assert evaluate("RR", {"q1": {"b": 1}}, run).values.item() == 1.0


def test_a_response_of_vespa_without_documents_is_a_topic_without_rows():
    found = read_run({"q1": vespa([{"id": "a", "relevance": 1.0}]), "q2": {"root": {"id": "toplevel"}}})
    assert found["doc_id"].tolist() == ["a"]


@pytest.mark.parametrize(
    "late",
    [
        solr([]) | {"responseHeader": {"status": 0, "partialResults": True}},
        {"root": {"id": "toplevel", "coverage": {"coverage": 40, "degraded": {"timeout": True}}}},
    ],
)
def test_responses_of_solr_and_vespa_that_timed_out_are_warned_of(late):
    in_time = {"root": {"id": "toplevel", "coverage": {"coverage": 100}, "children": []}}
    with pytest.warns(CoverageWarning, match="the responses to queries 'q1' timed out or lack shards"):
        ir_graded.read_run({"q1": late, "q2": solr([]), "q3": in_time})


WRONG = [
    ("qrels", {"train": "q.txt"}, "topic 'train': expected a dict from doc_id to level, found 'q.txt'"),
    ("qrels", {"qid": ["1"], "docno": ["a"], "label": [1, 2]}, "columns are not of one length: .* label 2"),
    ("qrels", {"judgmentRatings": ratings("high {}".format)}, r"ratings\[0\].rating is 'high 1'"),
    ("qrels", {"requests": [{"id": "1", "ratings": [{"_id": "a"}]}]}, "topic 'requests'"),
    ("qrels", {"relevant_docs": {"q1": "doc1"}}, "topic 'q1': expected a dict .* found 'doc1'"),
    ("qrels", {"relevant_docs": {"q1": None}}, "topic 'q1': expected a dict .* found None"),
    ("qrels", [{"qid": "1", "answer_pids": ["a"]}, {"qid": "2"}], r"\[1\] has no 'answer_pids'"),
    ("run", {"q1": [{"id": "a", "score": "high"}]}, r"\[0\].score is 'high'; expected a number"),
    ("run", {"q1": {"root": {"id": "toplevel", "errors": [{"code": 8}]}}}, "has errors: .*'code': 8"),
    ("run", {"q1": {"responseHeader": {"status": 400}, "error": {"msg": "m"}}}, "is an error: {'msg': 'm'}"),
    ("run", {"q1": vespa([{"id": "group:root:0", "children": []}])}, "is a group of Vespa, not a document"),
    ("run", {"q1": [("a", 0.9), ()]}, r"response\[1\] is .*; expected an id, or a pair of id and score"),
    ("run", {"q1": [("a", 0.9), ("b", 0.4, 7)]}, "; expected an id, or a pair of id and score"),
    ("run", {"q1": solr([{"docno": "a"}])}, r"response.docs\[0\] has no 'id'"),
    ("run", pd.Series([1.0]), "a Series has no named columns; give a frame"),
    ("run", pd.DataFrame({"qid": ["1"]}).groupby("qid"), "a DataFrameGroupBy has groups, not rows"),
]


@pytest.mark.parametrize(("kind", "source", "problem"), WRONG)
def test_what_is_wrong_is_named(kind, source, problem, tmp_path):
    read = {"qrels": read_qrels, "run": read_run}[kind]
    with pytest.raises(InputError, match=rf"^{kind}: .*{problem}"):
        read(source)
    if not isinstance(source, dict):  # whose runs could have names
        given = {"qrels": QRELS, "run": RUN, kind: source}
        with pytest.raises(InputError, match=rf"^{kind}: .*{problem}"):
            ir_graded.evaluate("Q", given["qrels"], given["run"])
    if isinstance(source, (dict, list)):
        with pytest.raises(FileFormatError, match=r"^/.*source\.json: "):
            read(in_json(source, tmp_path, lines=False))


def test_dicts_of_an_iterator_must_be_in_a_list():
    record = {"query_id": "q1", "doc_id": "a", "score": 1.0}
    with pytest.raises(InputError, match=r"item 0 is \{.*\}, a dict, and dicts must be in a list"):
        ir_graded.read_run(iter([record]))


def test_an_object_that_may_have_two_forms_is_refused():
    both = {"details": {}, "metric_score": 1.0, "mteb_model_meta": {}}
    with pytest.raises(InputError, match="may be responses of a search engine or predictions of MTEB"):
        read_run(both)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_topics_without_documents_count_in_every_form(tmp_path):
    run = {"q1": [("a", 1.0)], "q2": [("b", 1.0)]}
    for qrels in ({"q1": {"a": 1}, "q2": {}}, {"q1": ["a"], "q2": []}):
        for source in (qrels, in_json(qrels, tmp_path, lines=False)):
            assert evaluate("Q", source, run).values.tolist() == [[[1.0, 0.0]]]
