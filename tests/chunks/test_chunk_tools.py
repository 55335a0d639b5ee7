"""Precision omega, citations and checks of submissions, against worked examples and the reference."""

import re

import pandas as pd
import pytest
from chunks.chunk_cases import near
from hypothesis import given, strategies as st
from measures import measure_cases
from passages import passage_cases
from reference import chunks

import ir_graded
from ir_graded import CoverageWarning, InputError, ParameterError, passages
from ir_graded.cli.main import main

examples = measure_cases.examples(30)
GOLD = [("1", "x", 1, 0, 40)]


def chunk_frame(rows):
    return pd.DataFrame(rows, columns=["doc_id", "start", "length"])


def omega(gold, cut, **options):
    return passages.precision_omega(passage_cases.frame("qrels", gold), chunk_frame(cut), **options)


# ------------------------------------------------------------------------------------------ omega


def test_omega_of_a_chunking():
    cut = [("x", 0, 30), ("x", 20, 40), ("x", 40, 50), ("x", 95, 4)]
    assert omega(GOLD, cut)["precision_omega"].tolist() == [40 / 60]
    touching = omega(GOLD, cut, touching=True)
    assert touching.to_dict("list") == {"query_id": ["1"], "precision_omega": [40 / 90], "chunks": [3]}


def test_gold_documents_without_a_chunk_warn():
    many = [("1", doc, 1, 0, 9) for doc in "abcd"]
    for gold, cut, message in (
        (GOLD, [("y", 0, 9)], "^1 document has highlighted text but no chunk: 'x'; check that the doc_ids"),
        (GOLD, [], "^1 document has highlighted text but no chunk: 'x'; "),
        (many, [("e", 0, 9)], "^4 documents have highlighted text but no chunk: 'a', 'b', 'c' [.]{3}; "),
    ):
        with pytest.warns(CoverageWarning, match=message):
            assert omega(gold, cut)["precision_omega"].tolist() == [0]


@pytest.mark.parametrize("empty", [("2", "x", 1, 5, 0), ("2", "x", 0, 5, 9)])
def test_topics_without_highlighted_text_warn(empty):
    gold = passage_cases.frame("qrels", [*GOLD, empty])
    with pytest.warns(CoverageWarning, match=r"^Topic '2' has no highlighted text\.$") as caught:
        found = passages.precision_omega(gold, chunk_frame([("x", 0, 40)]))
    assert [one.filename for one in caught] == [__file__]
    assert found["precision_omega"].tolist() == [1, 0]
    run = passage_cases.frame("run", [("1", "x", 1, 0, 40), ("2", "x", 1, 0, 40)])
    for measure in ("CharP", "CharR", "IoU", "MAgP"):
        with pytest.warns(CoverageWarning, match=r"^Topic '2' has no highlighted text\.$"):
            ir_graded.evaluate(["RR", measure], gold, run)
    ir_graded.evaluate("nDCG", gold, run)


def test_a_rel_that_no_span_reaches_warns():
    gold = passage_cases.frame("qrels", [*GOLD, ("2", "x", 1, 0, 9)])
    with pytest.warns(CoverageWarning, match=r"^Topics '1', '2' have no highlighted text\.$"):
        passages.precision_omega(gold, chunk_frame([("x", 0, 40)]), rel=2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@examples
@given(
    gold=passage_cases.qrels().map(near),
    cut=passage_cases.runs().map(near),
    touching=st.booleans(),
    rel=st.sampled_from((1, 2)),
)
def test_omega_equals_the_reference(gold, cut, touching, rel):
    cut = [(doc, start, length) for _, doc, _, start, length in cut]
    found = omega(gold, cut, touching=touching, rel=rel).set_index("query_id")
    for topic, of_topic in chunks.by_topic(gold).items():
        expected = chunks.precision_omega(cut, of_topic, rel, touching)
        assert found["precision_omega"][topic] == pytest.approx(expected, abs=1e-12)
        if touching:
            many = len(set(enumerate(chunks.chunks_of_gold(cut, of_topic, rel, touching))))
            assert found["chunks"][topic] == many


@pytest.mark.parametrize(
    ("cut", "problem"),
    [
        (pd.DataFrame({"doc_id": ["x"], "start": [0]}), "lacks length"),
        ([("x", 0, 30)], "lacks doc_id, start, length"),
        (chunk_frame([("x", 0, 5), ("x", -1, 5)]), "row 1.*start is -1"),
    ],
)
def test_chunks_that_are_wrong(cut, problem):
    with pytest.raises(InputError, match=problem):
        passages.precision_omega(passage_cases.frame("qrels", GOLD), cut)


def test_omega_needs_passages():
    with pytest.raises(InputError, match="precision_omega needs passages"):
        passages.precision_omega({"1": {"x": 1}}, chunk_frame([]))


# -------------------------------------------------------------------------------------- citations


SENTENCES = st.sampled_from(("a#1", "a#2", "b#1", "b#x#1", "c#1"))


def sentences(rows):
    return st.lists(st.tuples(SENTENCES, rows), max_size=12).map(lambda d: [(s, *row[1:]) for s, row in d])


ONE_ROW = passage_cases.qrels(min_size=1, max_size=1, levels=(0, 1)).map(lambda rows: near(rows)[0])
ONE_SPAN = passage_cases.runs(min_size=1, max_size=1).map(lambda rows: near(rows)[0])


@pytest.mark.slow
@examples
@given(qrels=sentences(ONE_ROW).filter(bool), run=sentences(ONE_SPAN).filter(bool))
def test_citations_equal_the_reference(qrels, run):
    found = passages.citations(passage_cases.frame("qrels", qrels), passage_cases.frame("run", run))
    expected = chunks.citations(qrels, run)
    assert set(found["answer"]) == set(expected)
    for answer, *values in found.itertuples(index=False):
        assert values == pytest.approx(expected[answer], abs=1e-12)


@pytest.mark.parametrize(
    "gold_of_second", [[], [("a#2", "x", 0, 0, 40)]], ids=["not in the qrels", "level 0"]
)
def test_a_cited_sentence_without_gold_lowers_precision(gold_of_second):
    gold = passage_cases.frame("qrels", [("a#1", "x", 1, 0, 40), *gold_of_second])
    cited = passage_cases.frame("run", [("a#1", "x", 1, 0, 40), ("a#2", "x", 1, 0, 40)])
    assert passages.citations(gold, cited).to_numpy().tolist() == [["a", 0.5, 1.0, 2, 1]]


def test_citations_without_spans_are_rejected():
    spans = passage_cases.frame("qrels", GOLD)
    with pytest.raises(InputError, match=r"^citations needs passages, but the qrels "):
        passages.citations({"a#1": {"x": 1}}, spans)
    with pytest.raises(InputError, match=r"^citations needs passages, but the run "):
        passages.citations(spans, {"a#1": {"x": 1.0}})


def test_a_sentence_without_answer_is_rejected():
    with pytest.raises(InputError, match="topic '1' has no '#' between"):
        passages.citations(
            passage_cases.frame("qrels", GOLD), passage_cases.frame("run", [("1", "x", 1, 0, 4)])
        )


# ----------------------------------------------------------------------------------------- checks


@pytest.mark.slow
@examples
@given(
    run=passage_cases.runs(topics=("1",)).map(near),
    task=st.sampled_from(sorted(chunks.TASKS)),
    known=st.booleans(),
)
def test_problems_are_those_of_the_reference(run, task, known):
    lengths = dict.fromkeys(passage_cases.ARTICLES, 15) if known else None
    found = passages.check_submission(passage_cases.frame("run", run), task, lengths)
    ranked = chunks.ranked_passages([row[1:] for row in run])
    expected = chunks.check_submission(ranked, task, lengths)
    names = {"beyond": "beyond the end"}
    spans = {(names.get(problem, problem), ranked[place][0]) for problem, place, _ in expected}
    assert {(row.problem, row.doc_id) for row in found.itertuples()} == spans
    for row in found.itertuples():
        assert run[row.row][1] == row.doc_id
        if row.problem == "overlap":
            one, other = run[row.row], run[row.other_row]
            assert chunks.overlapping_rows([(*x[1:2], *x[3:]) for x in (one, other)])


def test_passages_that_only_touch_do_not_overlap():
    # Articles without any overlap are not looked at row by row.
    run = [("1", "a", 9 - at, *span) for at, span in enumerate([(0, 5), (5, 5), (20, 5), (22, 5)])]
    found = passages.check_submission(passage_cases.frame("run", run), "focused")
    assert found[["row", "other_row"]].to_numpy().tolist() == [[3, 2]]


@pytest.mark.parametrize("spans", [[(0, 9), (5, 9)], [(5, 9), (0, 9)]])
@pytest.mark.parametrize("scores", [(2, 1), (1, 2)])
def test_the_lower_ranked_of_two_overlapping_rows_is_the_problem(spans, scores):
    run = [("1", "a", score, *span) for score, span in zip(scores, spans, strict=True)]
    found = passages.check_submission(passage_cases.frame("run", run), "focused")
    lower = scores.index(1)
    assert found[["row", "other_row"]].to_numpy().tolist() == [[lower, 1 - lower]]


def test_lengths_of_every_form(tmp_path):
    run = passage_cases.frame("run", [("1", "a", 2, 0, 10), ("1", "1", 1, 5, 6)])
    table = pd.DataFrame({"doc_id": ["a", "1", "a", "empty"], "length": [10, 10, 10, 0]})
    table.to_csv(tmp_path / "l.csv", index=False)
    table.to_parquet(tmp_path / "l.parquet")
    for lengths in ({"a": 10, "1": 10}, table, tmp_path / "l.csv", str(tmp_path / "l.parquet")):
        found = passages.check_submission(run, "focused", lengths)
        assert found.to_numpy().tolist() == [["1", "1", 1, -1, "beyond the end"]]


@pytest.mark.parametrize(
    ("lengths", "problem"),
    [
        ({"b": 3}, "no length is given for 1 documents of the run: 'a'"),
        ({"a": -1}, "document 'a' .row 0.: the length is -1; it must be a whole"),
        ({"a": 1.5}, "the length is 1.5"),
        (pd.DataFrame({"doc_id": ["a", "a"], "length": [1, 2]}), "length 2, but 1 in an earlier row"),
        (pd.DataFrame({"doc_id": ["a"]}), "has no column length"),
        ([("a", 9)], "lengths are .*; give a mapping from doc_id"),
        (5, "lengths are 5; give a mapping"),
    ],
)
def test_lengths_that_are_wrong(lengths, problem):
    with pytest.raises(InputError, match=problem):
        passages.check_submission(passage_cases.frame("run", [("1", "a", 2, 0, 10)]), "focused", lengths)


ROWS = [("1", "a", 2, 0, 10), ("1", "b", 1, 5, 6)]
JUDGED = passage_cases.frame("qrels", [("1", "a", 1, 0, 5)])


def test_a_passage_behind_the_end_is_kept_or_an_error():
    run, ends = passage_cases.frame("run", ROWS), {"a": 10, "b": 10}
    for lengths in (None, ends, {"a": 99, "b": 11}):
        assert ir_graded.evaluate("CharP", JUDGED, run, lengths=lengths).mean().iloc[0].tolist() == [5 / 16]
    ir_graded.evaluate("CharP", JUDGED, run, lengths={"a": 10, "b": 11}, beyond="raise")
    problem = "topic '1', document 'b' .row 1.: the passage 5:6 ends behind its document, which has length 10"
    with pytest.raises(InputError, match=problem):
        ir_graded.evaluate("CharP", JUDGED, run, lengths=ends, beyond="raise")
    with pytest.raises(InputError, match=f"run 'bad': {problem}"):
        ir_graded.evaluate("CharP", JUDGED, {"good": run[:1], "bad": run}, lengths=ends, beyond="raise")


def test_a_gold_span_behind_the_end_is_kept_or_an_error():
    run, ends = passage_cases.frame("run", [("1", "a", 2, 0, 10)]), {"a": 10}
    rows = [("1", "a", 1, 0, 5), ("1", "a", 1, 8, 12), ("1", "b", 0, 0, 0)]
    gold = passage_cases.frame("qrels", rows)
    ir_graded.evaluate("CharP", gold, run, lengths=ends)
    problem = (
        "qrels: topic '1', document 'a' .*: the passage 8:12 ends behind its document, which has length 10"
    )
    for form in (gold, gold.itertuples(index=False)):
        with pytest.raises(InputError, match=f"^{problem}; beyond='keep'"):
            ir_graded.evaluate("CharP", form, run, lengths=ends, beyond="raise")
    ir_graded.evaluate("CharP", iter(gold.itertuples(index=False)), run, lengths={"a": 20}, beyond="raise")
    with pytest.raises(InputError, match="no length is given for 1 documents of the qrels: 'a'"):
        ir_graded.evaluate("CharP", gold, run, lengths={"b": 20}, beyond="raise")


@pytest.mark.parametrize("beyond", ["keep", "raise"])
def test_every_document_of_a_run_needs_a_length(beyond):
    run = passage_cases.frame("run", [*ROWS, ("2", "c", 1, 0, 1), ("2", "d", 1, 0, 1)])
    with pytest.raises(InputError, match="no length is given for 3 documents of the run: 'b', 'c', 'd'"):
        ir_graded.evaluate("CharP", JUDGED, run, lengths={"a": 10}, beyond=beyond)


def test_an_iterator_is_checked_and_scored():
    rows = passage_cases.frame("run", ROWS).itertuples(index=False)
    found = ir_graded.evaluate("CharP", JUDGED, rows, lengths={"a": 10, "b": 11}, beyond="raise")
    assert found.mean().iloc[0].tolist() == [5 / 16]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"beyond": "cut", "lengths": {}}, "beyond='cut' must be 'keep' or 'raise'"),
        ({"beyond": "raise"}, "beyond='raise' needs lengths"),
    ],
)
def test_beyond_is_one_of_its_words_and_needs_lengths(options, problem):
    with pytest.raises(ParameterError, match=problem):
        ir_graded.evaluate("CharP", JUDGED, passage_cases.frame("run", ROWS), **options)


def test_the_command_takes_lengths(tmp_path, capsys):
    (tmp_path / "q").write_text("1\ta\t0\t5\tx\n", encoding="utf-8")
    (tmp_path / "r").write_text("1 a 1 2 0 10 x\n1 b 2 1 5 6 x\n", encoding="utf-8")
    (tmp_path / "l").write_text("doc_id,length\na,10\nb,10\n", encoding="utf-8")
    call = ["evaluate", str(tmp_path / "q"), str(tmp_path / "r"), "-m", "CharP"]
    for more, code, text in (
        (["--lengths", str(tmp_path / "l")], 0, "0.3125"),
        (["--lengths", str(tmp_path / "l"), "--beyond", "raise"], 2, "r, line 2.*ends behind its document"),
        (["--beyond", "raise"], 2, "--beyond raise needs --lengths"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*call, *more])
        assert ended.value.code == code
        said = capsys.readouterr()
        assert re.search(text, said.out + said.err)


def test_the_command_lists_problems_and_exits_with_1(tmp_path, capsys):
    path = tmp_path / "r.run"
    path.write_text("1 Q0 a 1 9 x 0 10\n1 Q0 a 2 8 x 5 10\n", encoding="utf-8")
    for task, code in (("focused", 1), ("relevant-in-context", 1)):
        with pytest.raises(SystemExit) as ended:
            main(["passages", "check", str(path), "--task", task])
        assert ended.value.code == code
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert lines == [
            ["query_id", "doc_id", "row", "other_row", "problem"],
            ["1", "a", "1", "0", "overlap"],
        ]
    path.write_text("1 Q0 a 1 9 x 0 10\n1 Q0 a 2 8 x 10 10\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["passages", "check", str(path), "--task", "focused"])
    assert (ended.value.code, capsys.readouterr().out) == (0, "")


# ------------------------------------------------------------------------------------------ units


TEXTS = {"a": "a é 文 𝄞 b".encode()}


def test_text_that_is_a_str_is_taken_as_utf_8():
    table = chunk_frame([("a", 2, 2), ("a", 5, 3)])
    expected = passages.to_characters(table, TEXTS)
    text = TEXTS["a"].decode()
    for texts in ({"a": text}, {"a": text}.__getitem__):
        pd.testing.assert_frame_equal(passages.to_characters(table, texts), expected)


@pytest.mark.parametrize(
    ("table", "texts", "problem"),
    [
        ([("a", 0, 1)], TEXTS, "table is a list; it must be a pandas DataFrame"),
        (
            chunk_frame([("a", 0, 1)]).drop(columns="start"),
            TEXTS,
            "table: expected a table with .*; it lacks start",
        ),
        (chunk_frame([("a", 0, 1)]), {"a": 5}, "texts: document 'a' is 5; it must be a str or bytes"),
        (chunk_frame([("a", 0, 1)]), [1], r"texts are \[1\]; they must be a mapping from doc_id"),
    ],
)
def test_tables_and_texts_that_cannot_be_converted(table, texts, problem):
    with pytest.raises(InputError, match=f"^{problem}"):
        passages.to_characters(table, texts)


def test_bytes_become_characters():
    text = TEXTS["a"].decode()
    starts = [len(text[:at].encode()) for at in range(len(text) + 1)]
    spans = [(one, two) for one in range(len(text) + 1) for two in range(one, len(text) + 1)]
    table = chunk_frame([("a", starts[one], starts[two] - starts[one]) for one, two in spans])
    for texts in (TEXTS, TEXTS.__getitem__):
        found = passages.to_characters(table, texts)
        assert found[["start", "length"]].to_numpy().tolist() == [[one, two - one] for one, two in spans]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("a", 3, 1), "row 0, document 'a': the span 3:1 begins inside a character"),
        (("a", 0, 3), "the span 0:3 ends inside a character"),
        (("a", 0, 99), "ends after the text of 15 bytes"),
        (("b", 0, 1), "texts lack document 'b'"),
    ],
)
def test_spans_that_are_no_characters(row, problem):
    with pytest.raises(InputError, match=problem):
        passages.to_characters(chunk_frame([row]), TEXTS)
