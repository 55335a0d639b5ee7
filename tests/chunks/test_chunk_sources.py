"""Chunks of other tools: files in JSON and CSV, dicts, documents and nodes; and what is wrong in them."""

import json
import re
from collections import namedtuple
from types import SimpleNamespace

import pandas as pd
import pytest

import ir_graded
from ir_graded import (
    CharP,
    CharR,
    CoverageWarning,
    FileFormatError,
    InputError,
    passages,
    read_qrels,
    read_run,
)

TESTS = [
    {"query": "q", "snippets": [{"file_path": "a.txt", "span": [0, 40], "answer": "?"}], "tags": ["x"]},
    {"query": "q", "snippets": []},
    {
        "query": "r",
        "snippets": [{"file_path": "b.txt", "span": [5, 5]}, {"file_path": "a.txt", "span": [60, 90]}],
    },
]
RETRIEVED = [
    [
        {"file_path": "a.txt", "span": [0, 30], "score": 0.1},
        {"file_path": "a.txt", "span": [20, 60], "score": 5},
    ],
    [{"file_path": "a.txt", "span": [0, 30], "score": 0.1}],
    [],
]
RESULTS = {
    "qa_result_list": [
        {"qa_gt": test, "retrieved_snippets": found, "precision": 7}
        for test, found in zip(TESTS, RETRIEVED, strict=True)
    ],
    "weights": [1, 1, 1],
}


def written(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def rows(frame):
    return list(frame.itertuples(index=False, name=None))


def test_legalbench_files(tmp_path):
    benchmark, results = written(tmp_path / "b.json", {"tests": TESTS}), written(tmp_path / "r.json", RESULTS)
    qrels = read_qrels(benchmark, format="legalbench")
    assert rows(qrels) == [
        *(("0", "a.txt", 1, 0, 40), ("1", "", 0, 0, 0), ("2", "b.txt", 1, 5, 0), ("2", "a.txt", 1, 60, 30))
    ]
    assert rows(read_qrels(results, format="legalbench")) == rows(qrels)
    run = read_run(results, format="legalbench")
    expected = [("0", "a.txt", -1.0, 0, 30), ("0", "a.txt", -2.0, 20, 40), ("1", "a.txt", -1.0, 0, 30)]
    assert rows(run) == expected
    with pytest.warns(CoverageWarning, match="lacks 1 of the 3 topics"):
        found = ir_graded.evaluate([CharP(overlap="each"), CharR(overlap="each")], qrels, run)
    assert found.matrix("CharP(overlap='each')")["run"].tolist() == [50 / 70, 0, 0]
    assert found.mean().iloc[0].tolist() == pytest.approx([50 / 70 / 3, 1.25 / 3])


def test_chroma_questions(tmp_path):
    references = json.dumps([{"content": 'a, "b"\nc', "start_index": 10, "end_index": 30}])
    frame = pd.DataFrame(
        {"question": ["one, two", "three"], "references": [references, "[]"], "corpus_id": ["é", "w"]}
    )
    frame.to_csv(tmp_path / "q.csv", index=False)
    assert rows(read_qrels(tmp_path / "q.csv", format="chroma")) == [
        ("0", "é", 1, 10, 20),
        ("1", "w", 0, 0, 0),
    ]


def without(document, *path):
    document = json.loads(json.dumps(document))
    place = document
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return document


def with_span(span):
    return {"tests": [{"query": "q", "snippets": [{"file_path": "a", "span": span}]}]}


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (with_span([5, 4]), r"tests\[0\].snippets\[0\].span ends at 4, before its start 5"),
        (with_span([1, 2, 3]), r"tests\[0\].snippets\[0\].span is \[1, 2, 3\]; expected \[start, end\]"),
        (with_span([-1, 2]), r"tests\[0\].snippets\[0\].span\[0\] is -1; it must not be negative"),
        (with_span([1.5, 2]), r"tests\[0\].snippets\[0\].span\[0\] is 1.5; expected a whole number"),
        (with_span([True, 2]), r"span\[0\] is True; expected a whole number"),
        (with_span("ab"), r"tests\[0\].snippets\[0\].span is 'ab'; expected a list"),
        (with_span([0, 2**53]), "it must be a whole number from 0 to"),
        (
            without({"tests": TESTS}, "tests", 0, "snippets", 0, "span"),
            r"tests\[0\].snippets\[0\] has no 'span'",
        ),
        (without({"tests": TESTS}, "tests", 1, "snippets"), r"tests\[1\] has no 'snippets'"),
        ({}, "the document has no 'tests'"),
        ([], r"the document is \[\]; expected an object with 'tests'"),
        ("{", "not a document in JSON"),
        ("[" * 100_000, "too deeply nested|not a document in JSON"),
        ({"tests": [{"snippets": [{"file_path": 5, "span": [0, 1]}]}]}, "file_path is 5; expected text"),
    ],
)
def test_documents_that_are_wrong_name_the_path_to_it(tmp_path, document, problem):
    path = written(tmp_path / "b.json", document)
    with pytest.raises(FileFormatError, match=f"b.json.*({problem})"):
        read_qrels(path, format="legalbench")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("question,corpus_id\na,b\n", "has no column references"),
        ("", "not a CSV file|has no column"),
        ("question,references,corpus_id\na,{,b\n", "not a document in JSON"),
        (
            'question,references,corpus_id\na,"[{""start_index"": 3}]",b\n',
            r"references\[0\] has no 'end_index'",
        ),
        ("question,references,corpus_id\na,[],\n", "question 0: corpus_id is None; expected text"),
    ],
)
def test_questions_that_are_wrong(tmp_path, text, problem):
    with pytest.raises(FileFormatError, match=f"q.csv.*({problem})"):
        read_qrels(written(tmp_path / "q.csv", text), format="chroma")


@pytest.mark.parametrize(
    ("read", "document", "problem"),
    [
        (read_qrels, {"tests": TESTS}, "an object with tests; read the file with format='legalbench'"),
        (read_qrels, RESULTS, "an object with qa_result_list, .*; read the file with format='legalbench'"),
        (read_run, RESULTS, "an object with qa_result_list, .*; read the file with format='legalbench'"),
        (read_run, {"tests": TESTS}, "an object with tests; read the file with format='legalbench'"),
        (read_qrels, TESTS, "an array of objects with query, snippets, tags; give a dict of dicts"),
        (
            read_run,
            [[{"corpus_id": "a", "start_index": 0, "end_index": 1}]],
            "an array; give a dict of dicts",
        ),
    ],
)
def test_json_of_chunks_is_read_only_with_its_format(tmp_path, read, document, problem):
    with pytest.raises(FileFormatError, match=f"r.json: is JSON, {problem}"):
        read(written(tmp_path / "r.json", document))


# ------------------------------------------------------------------------------- objects of libraries

Scored = namedtuple("Scored", "node score")


def document(text, start, source="a.md", **more):
    """As LangChain's documents."""
    return SimpleNamespace(page_content=text, metadata={"source": source, "start_index": start, **more})


def node(start, end, ref_doc_id="a.md"):
    """As LlamaIndex's text nodes."""
    return SimpleNamespace(
        start_char_idx=start, end_char_idx=end, ref_doc_id=ref_doc_id, metadata={"k": "other"}
    )


SAME = {
    "dicts": [
        {"corpus_id": "a.md", "start_index": 10, "end_index": 15},
        {"corpus_id": "a.md", "start_index": 0, "end_index": 4},
    ],
    "dicts with lengths": [
        {"doc_id": "a.md", "start": 10, "length": 5, "page": 1},
        {"corpus_id": "a.md", "doc_id": "x", "start": 0, "length": 4},
    ],
    "documents": [document("world", 10), document("𝄞bcd", 0)],
    "documents with scores": [(document("world", 10), 0.9), (document("𝄞bcd", 0), 0.95)],
    "nodes": [node(10, 15), node(0, 4)],
    "nodes with scores": [Scored(node(10, 15), 0.5), Scored(node(0, 4), 0.7)],
}  # fmt: skip


@pytest.mark.parametrize("chunks", SAME.values(), ids=SAME)
def test_chunks_of_libraries_are_one_run(chunks):
    expected = [("0", "a.md", -1.0, 10, 5), ("0", "a.md", -2.0, 0, 4)]
    frame = passages.run_of_chunks([chunks, []])
    assert rows(frame) == expected
    assert frame.dtypes.astype(str).to_dict() == passages.run_of_chunks([]).dtypes.astype(str).to_dict()
    assert rows(passages.run_of_chunks({7: chunks})) == [("7", *row[1:]) for row in expected]
    assert rows(passages.chunk_table(chunks)) == [(doc, *span) for _, doc, _, *span in expected]


@pytest.mark.parametrize("chunks", SAME.values(), ids=SAME)
def test_one_list_of_chunks_is_not_a_run(chunks):
    message = "expected {query_id: list of chunks}; this looks like one list of chunks: for query '0', "
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        passages.run_of_chunks(chunks)
    for chunk in (chunks[0], None, 5, "text"):
        words = r"^expected {query_id: list of chunks}: for query 'q', .* in place"
        with pytest.raises(InputError, match=words):
            passages.run_of_chunks({"q": chunk})
        with pytest.raises(InputError, match=r"^expected "):
            passages.run_of_chunks(chunk)
        with pytest.raises(InputError, match=r"^expected a list of chunks, found "):
            passages.chunk_table(chunk)
    assert rows(passages.run_of_chunks({"q": iter(chunks)})) == rows(passages.run_of_chunks({"q": chunks}))


def test_the_name_of_the_document_may_be_elsewhere():
    name = passages.run_of_chunks([[document("x", 3, file="b")]], doc_id="file")
    function = passages.run_of_chunks(
        [[document("x", 3, "dir/b")]], doc_id=lambda one: one.metadata["source"][4:]
    )
    assert rows(name) == rows(function) == [("0", "b", -1.0, 3, 1)]
    assert rows(passages.run_of_chunks([[node(1, 2)]], doc_id="k")) == [("0", "other", -1.0, 1, 1)]


@pytest.mark.parametrize(
    ("chunk", "problem"),
    [
        (document("x", -1), "start_index is -1: the splitter did not find the chunk"),
        (SimpleNamespace(page_content="x", metadata={"source": "a"}), "metadata has no 'start_index'"),
        (
            SimpleNamespace(page_content="x", metadata={"start_index": 0}),
            "metadata has no 'source'; name the key",
        ),
        (node(None, 5), "is a node without start_char_idx or end_char_idx"),
        (node(6, 5), "ends at 5, before its start 6"),
        (node(1, 5, None), "names no document"),
        (
            {"start_index": 1, "end_index": 2},
            "has no 'corpus_id'; name the key by doc_id=; the keys found are 'start_index', 'end_index'",
        ),
        ({"start_index": 1, "length": 2}, "has no 'end_index'"),
        ({"doc_id": "a", "start": 1, "length": -2}, "length is -2; it must not be negative"),
        (
            {"_id": "a", "_score": 1.0, "_source": {}},
            "needs start_index and end_index, or start and length; .* found are '_id', '_score', '_source'$",
        ),
        ({}, "the keys found are none$"),
        ("text", "is 'text'; it must be a dict"),
    ],
    ids=str,
)
def test_chunks_that_cannot_be_placed(chunk, problem):
    with pytest.raises(InputError, match=f"query '0', chunk 1.*{problem}"):
        passages.run_of_chunks([[document("x", 0), chunk]])
