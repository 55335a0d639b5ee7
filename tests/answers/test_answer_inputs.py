"""Forms of assignments, lists of nuggets and citations, and errors with their places."""

import json
import re
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from answers.answer_cases import EXAMPLE_A, EXAMPLE_E, SIX, answer, supported, topic, written
from helpers import WITHOUT_TUPLES

import ir_graded
from ir_graded import (
    CoverageWarning,
    FileFormatError,
    InputError,
    NoSharedTopicsError,
    ParameterError,
    score_answers,
)
from ir_graded.io.assignments import nugget_lists

ROWS = [
    ("1", "x", "a", "vital", "support"),
    ("1", "x", "b", "okay", "partial_support"),
    ("1", "y", "a", "vital", "not_support"),
    ("1", "y", "b", "okay", "support"),
]
COLUMNS = ["query_id", "run", "nugget", "importance", "assignment"]
FRAME = pd.DataFrame(ROWS, columns=COLUMNS)
OBJECTS = [
    answer("a vital support, b okay partial_support", run="x"),
    answer("a vital not_support, b okay support", run="y"),
]
CITED = [("1", "x", "1", "a", "FS"), ("1", "x", "1", "b", "NS"), ("1", "x", "2", None, None)]
CITATIONS = pd.DataFrame(CITED, columns=["query_id", "run", "sentence", "doc_id", "support"])
NUMBERS = {"vital": 2, "okay": 1, "support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def forms(folder):
    """Return the same assignments in all forms."""
    path = written(folder / "both.jsonl", OBJECTS)
    one, two = (written(folder / f"{run['run_id']}.jsonl", [run]) for run in OBJECTS)
    unnamed = [{key: value for key, value in run.items() if key != "run_id"} for run in OBJECTS]
    return {
        "path": path,
        "text": str(path),
        "gzip": written(folder / "both.jsonl.gz", OBJECTS),
        "xz": written(folder / "both.jsonl.xz", OBJECTS),
        "paths": [one, two],
        "mapping": {"x": one, "y": two},
        "mapping of objects": {"x": [unnamed[0]], "y": [unnamed[1]]},
        "mapping of tables": {run: FRAME[FRAME["run"] == run].drop(columns="run") for run in "xy"},
        "names win": {"x": [{**OBJECTS[0], "run_id": "other"}], "y": two},
        "objects": OBJECTS,
        **{name: make(FRAME, folder / f"table.{name}") for name, make in WITHOUT_TUPLES.items()},
        "categorical": FRAME.astype("category"),
        "numbers": FRAME.replace(NUMBERS).infer_objects(),
        "disorder": FRAME.iloc[[2, 0, 3, 1]].set_axis([5, 5, 3, 3])[COLUMNS[::-1]],
        "blanks and cases": FRAME.replace({"vital": " Vital", "support": "SUPPORT "}),
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Downcasting:FutureWarning")
def test_all_forms_give_the_same_scores(tmp_path):
    expected = {"x": [1, 1, 2 / 3, 2.5 / 3, 0.5, 0.75], "y": [0, 0, 1 / 3, 1 / 3, 0.5, 0.5]}
    for name, given in forms(tmp_path).items():
        scores = score_answers(SIX, given)
        found = {run: scores.values[:, at, 0].tolist() for at, run in enumerate(scores.runs)}
        assert {run: pytest.approx(values, abs=0) for run, values in expected.items()} == found, name


def test_lists_of_nuggets_in_all_forms(tmp_path):
    listed = [topic("a vital, b okay, c okay")]
    table = pd.DataFrame(
        {"query_id": ["1"] * 3, "nugget": list("abc"), "importance": [NUMBERS["vital"], 1, 1]}
    )
    words = table.assign(importance=["vital", "okay", 1])
    forms = [listed, table, pl.DataFrame(table.to_dict("list")), pa.table(table.to_dict("list"))]
    for given in [*forms, words.to_dict("records"), written(tmp_path / "n.jsonl", listed)]:
        scores = score_answers(["NuggetScore", "weighted_score"], OBJECTS, nuggets=given)
        assert scores.values[:, :, 0].tolist() == [[0.5, 1 / 3], [0.625, 0.25]]
        lists = nugget_lists(given)
        assert (lists.run, lists.importance.tolist(), len(lists)) == (["", "", ""], [2, 1, 1], 3)


def test_read_assignments_returns_a_frame_that_scores_alike(tmp_path):
    given = [answer(EXAMPLE_A), answer("a vital support, a vital not_support, a okay support", "2")]
    with pytest.warns(CoverageWarning) as warned:
        frame = ir_graded.read_assignments(written(tmp_path / "x.jsonl", given))
    assert len(warned) == 1
    assert list(frame) == COLUMNS
    assert frame["nugget"].tolist()[-3:] == ["a", "a #2", "a #3"]
    assert frame["importance"].fillna(-1).tolist() == [2, 2, 2, 1, 1, -1, 1, 2, 2, 1]
    assert frame["assignment"].tolist() == [1, 0.5, 0, 1, 0.5, 1, 0, 1, 0, 1]
    with pytest.warns(CoverageWarning):
        assert (score_answers(SIX, frame).values == score_answers(SIX, given).values).all()


def test_a_run_without_a_name_is_called_by_its_file(tmp_path):
    unnamed = {"qid": 7, "nuggets": OBJECTS[0]["nuggets"]}
    scores = score_answers("NuggetScore", written(tmp_path / "llama.jsonl.gz", [unnamed]))
    assert (scores.runs, scores.query_ids) == (("llama.jsonl",), ("7",))
    assert score_answers("NuggetScore", [unnamed]).runs == ("run",)


def test_other_labels_are_counted_in_one_warning(tmp_path):
    path = written(tmp_path / "x.jsonl", [answer(EXAMPLE_A)])
    with pytest.warns(CoverageWarning) as found:
        scores = score_answers("NuggetScore", path)
    (only,) = found
    assert str(only.message) == (
        f"1 of 7 nuggets have an importance other than vital, okay, the first 'failed' ({path}, line 1: "
        "nuggets[5]); such nuggets count in importance='all' only. 1 of 7 nuggets have an assignment other "
        f"than support, partial_support, not_support, the first 'maybe' ({path}, line 1: nuggets[6]); they "
        "count as not_support."
    )
    assert " ".join(scores.coverage_notes) == str(only.message)


def test_other_words_of_tables_count_as_not_supported():
    for word in ("maybe", "", "supporter", "not_provided", "rooted_in_support"):
        with pytest.warns(CoverageWarning, match=f"1 of 1 .* the first '{word}' .* count as not_support"):
            ir_graded.read_assignments(pd.DataFrame([(*ROWS[0][:4], word)], columns=COLUMNS))


def test_runs_with_different_lists_are_a_warning():
    given = [OBJECTS[0], answer("a vital support", run="y")]
    with pytest.warns(CoverageWarning, match=r"1 topic.*'1': 'x' has 2 nuggets, 'y' has 1.*nuggets="):
        score_answers("NuggetScore", given)
    # Neither another order nor a list that all share.
    same = [OBJECTS[0], answer("b okay support, a vital support", run="y")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score_answers("NuggetScore", same)
        score_answers("NuggetScore", given, nuggets=[topic("a vital, b okay")])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"nuggets": []}', "has no 'qid'"),
        ('{"qid": null, "nuggets": []}', "an id is text or a whole number"),
        ('{"qid": "1"}', "has no 'nuggets'"),
        ('{"qid": "1", "nuggets": {}}', "nuggets is {}; expected a list"),
        ('{"qid": "1", "nuggets": [3]}', "nuggets[0] is 3; expected an object with 'text'"),
        ('{"qid": "1", "nuggets": [{"text": "a", "importance": "vital"}]}', "nuggets[0] has no 'assignment'"),
        (
            '{"qid": "1", "nuggets": [{"text": "a", "importance": "vital", "assignment": 3}]}',
            "nuggets[0].assignment is 3; expected text",
        ),
        (
            '{"qid": "1", "nuggets": [{"text": 1, "importance": "vital", "assignment": "support"}]}',
            "nuggets[0].text is 1; expected text",
        ),
        ('{"qid": "1", "run_id": [], "nuggets": []}', "an id is text or a whole number"),
        ('{"qid": "1", ', "not JSON"),
        ('{"a": ' * 100000, "too deeply nested"),
        ("[1]", "[1]; expected an object with 'qid'"),
    ],
)
def test_a_bad_line_is_an_error_with_file_and_line(line, words, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(OBJECTS[0]) + "\n\n" + line + "\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}, line 3: .*{re.escape(words)}"):
        score_answers("NuggetScore", path)


def test_objects_have_the_same_errors_with_the_number_of_the_item():
    with pytest.raises(InputError, match=r"item 1: nuggets\[0\] has no 'assignment'") as found:
        score_answers("NuggetScore", [OBJECTS[0], {**topic("a vital"), "run_id": "z"}])
    assert found.type is InputError


def test_a_run_with_two_answers_to_a_topic_is_rejected(tmp_path):
    path = written(tmp_path / "a.jsonl", [OBJECTS[0], OBJECTS[1], OBJECTS[0]])
    message = r"line 3: run 'x', topic '1' appears twice, first at .*a.jsonl, line 1"
    with pytest.raises(InputError, match=message):
        score_answers("NuggetScore", path)
    with pytest.raises(InputError, match=r"item 1: topic '1' appears twice, first at item 0"):
        score_answers("NuggetScore", OBJECTS, nuggets=[topic("a vital"), topic("b vital")])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([*ROWS, ROWS[0]], "topic '1', nugget 'a' appears twice for run 'x' (row 0 and row 4)"),
        (
            [*ROWS, ("1", "z", "a", "okay", "support")],
            "topic '1', nugget 'a' has two importances (row 0 and row 4)",
        ),
        ([(*ROWS[0][:4], 1.5)], "row 0: the assignment is 1.5; it must be one of support"),
        ([(*ROWS[0][:4], float("nan"))], "the assignment is nan"),
        *(
            (
                [(*ROWS[0][:4], word)],
                f"row 0: the assignment is '{word}'; it must be one of support, partial_",
            )
            for word in ("partial", "not", "Supported", "partially supported", "none", "unsupported", "FS")
        ),
        ([(*ROWS[0][:4], -0.1)], "credit from 0 to 1"),
        ([(*ROWS[0][:3], float("inf"), 1.0)], "the importance is inf"),
        ([(*ROWS[0][:3], [1], 1.0)], "the importance is [1]"),
        ([(None, *ROWS[0][1:])], "row 0 has no query_id"),
        ([], "'run' has no answer"),
    ],
)
def test_bad_tables_are_errors_with_rows(rows, words):
    with pytest.raises(InputError, match=re.escape(words)):
        score_answers("NuggetScore", pd.DataFrame(rows, columns=COLUMNS))


def test_a_table_without_a_column_is_rejected(tmp_path):
    with pytest.raises(InputError, match="the table has no column importance; it has query_id"):
        score_answers("NuggetScore", FRAME.drop(columns="importance"))
    path = tmp_path / "table.csv"
    FRAME.drop(columns="assignment").to_csv(path, index=False)
    with pytest.raises(InputError, match="has no column assignment"):
        score_answers("NuggetScore", path)


@pytest.mark.parametrize("given", [3, [], {}, [3], iter([]), {"x": {"1": 2}}, None])
def test_other_objects_are_rejected(given):
    if given is None:
        with pytest.raises(ParameterError, match="NuggetScore needs assignments"):
            score_answers("NuggetScore", given)
        return
    with pytest.raises(InputError, match=r"cannot read|there is no answer"):
        score_answers("NuggetScore", given)


def test_a_frame_of_spark_is_refused_with_the_reason():
    frame = type("DataFrame", (), {"__module__": "pyspark.sql", "columns": COLUMNS, "collect": None})()
    with pytest.raises(InputError, match=r"Spark.*toPandas"):
        score_answers("NuggetScore", frame)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('{"question": "q", "positive_ctxs": []}\n' * 2, "question, positive_ctxs"),
        ('[\n{"question": "q", "answers": ["a"]}\n]\n', "question, answers"),
        ('{"id": "1", "input": "q", "output": [{"answer": "a"}]}\n', "id, input, output"),
        ('{"topic_id": "1", "answer": [{"text": "a"}]}\n', "topic_id, answer"),
    ],
)
def test_files_of_other_objects_are_named_by_their_keys(text, keys, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    given = {"NuggetScore": ("assignments", "qid, run_id"), "CitationP": ("citations", "topic_id, run_id")}
    for measure, (name, needed) in given.items():
        with pytest.raises(FileFormatError) as found:
            score_answers(measure, **{name: path})
        assert str(found.value).startswith(f"{path}: the table has no column query_id, ")
        assert f"; it has {keys}; give such a table, or objects with {needed} and " in str(found.value)


def test_json_may_hold_rows_of_a_table_or_one_array(tmp_path):
    rows, path = FRAME.to_dict("records"), tmp_path / "a.json"
    for given in (rows, OBJECTS):
        for text in (json.dumps(given, indent=1), "\n".join(map(json.dumps, given))):
            path.write_text(text)
            assert score_answers("NuggetScore", path).values.ravel().tolist() == [0.75, 0.5]
    path.write_text(json.dumps([{**OBJECTS[0], "qid": "\ud800"}]))
    with pytest.raises(InputError, match="lone surrogate"):
        score_answers("NuggetScore", path)
    path.write_text(json.dumps([*rows, 3]))
    with pytest.raises(FileFormatError, match=r"a.json, item 4: 3 is not an object as before"):
        score_answers("NuggetScore", path)


def test_a_nugget_that_only_the_answer_has_is_rejected(tmp_path):
    path = written(tmp_path / "a.jsonl", [answer("alpha vital support, betta okay support")])
    with pytest.raises(InputError) as found:
        score_answers("NuggetScore", path, nuggets=[topic("alpha vital, beta okay")])
    assert str(found.value) == (
        f"run 'x', topic '1', nugget 'betta' ({path}, line 1: nuggets[1]) is not in nuggets; did you mean "
        "'beta'?"
    )


def test_topics_must_be_shared_with_the_lists():
    with pytest.raises(NoSharedTopicsError, match="run 'x' and the nuggets have no topic in common"):
        score_answers("NuggetScore", OBJECTS, nuggets=[topic("a vital", "9")])
    more = [*OBJECTS, answer("new vital support", "8")]
    with pytest.warns(CoverageWarning, match="Answers to 1 topic that the nuggets lack are left out: '8'"):
        scores = score_answers("NuggetScore", more, nuggets=[topic("a vital, b okay")])
    assert scores.query_ids == ("1",)
    assert scores.coverage["unknown_topics"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("measures", "options", "words"),
    [
        ("nDCG", {"assignments": OBJECTS}, "nDCG scores rankings: use evaluate"),
        ("CitationP", {"assignments": OBJECTS}, "CitationP needs citations"),
        ("NuggetScore", {"citations": [supported(EXAMPLE_E)]}, "NuggetScore needs assignments"),
        (
            "CitationP",
            {"citations": [supported(EXAMPLE_E)], "nuggets": [topic("a vital")]},
            "without assignments",
        ),
        ("NuggetScore", {"assignments": OBJECTS, "citations": CITATIONS}, "no measure uses the citations"),
        (
            "NuggetScore(importance='most')",
            {"assignments": OBJECTS},
            "must be one of 'all', 'vital', 'weighted', or",
        ),
        ("CitationP(several='max')", {"citations": CITATIONS}, "must be one of 'first', 'mean'"),
        ("NuggetScore@5", {"assignments": OBJECTS}, "takes no parameter 'cutoff'"),
    ],
)
def test_measures_need_their_input(measures, options, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        score_answers(measures, **options)


def test_citations_in_all_forms(tmp_path):
    objects = [supported("a FS b NS | ")]
    named = {"x": [{"qid": "1", "support_eval": objects[0]["support_eval"]}]}
    forms = {
        "objects": objects,
        "mapping": named,
        "file": written(tmp_path / "c.jsonl.xz", objects),
        **{name: make(CITATIONS, tmp_path / f"t.{name}") for name, make in WITHOUT_TUPLES.items()},
        "words": CITATIONS.replace({"FS": "Full Support", "NS": "no_support"}),
        "numbered": CITATIONS.astype({"sentence": int}),
    }
    measures = ["CitationP", "CitationR", "CitationP(several='mean')", "CitationR(several='mean')"]
    for name, given in forms.items():
        scores = score_answers(measures, citations=given)
        assert (scores.runs, scores.query_ids) == (("x",), ("1",)), name
        assert scores.values.ravel().tolist() == [1, 0.5, 0.5, 0.25], name


@pytest.mark.parametrize("no", [False, "false", "False", 0])
def test_sentences_of_a_table_that_need_no_citation(no):
    scores = score_answers("CitationR", citations=CITATIONS.assign(needs_citation=[True, None, no]))
    assert scores.values.tolist() == [[[1]]]


def test_a_citation_without_a_label_is_a_warning():
    message = r"1 of 2 citations have no label and count 0, the first at item 0"
    with pytest.warns(CoverageWarning, match=message):
        scores = score_answers("CitationP", citations=[supported("a FS | b -")])
    assert scores.values.tolist() == [[[0.5]]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            [supported("a XX")],
            "item 0: support_eval[0].eval_scores[0]: run 'x', topic '1', sentence '0': the support is 'XX'",
        ),
        ([supported("a FS a NS")], "document 'a' appears twice"),
        ([supported("a FS"), supported("a FS")], "item 1: run 'x', topic '1' appears twice"),
        (
            [{"topic_id": "1", "support_eval": [{"citations": [1], "eval_scores": []}]}],
            "has 1 citations and 0 eval",
        ),
        (
            [{"topic_id": "1", "support_eval": [{"citations": [1]}]}],
            "item 0: support_eval[0] has no 'eval_scores'",
        ),
        ([{"support_eval": []}], "has no 'qid'"),
        (CITATIONS.assign(support="good"), "row 0: run 'x', topic '1', sentence '1': the support is 'good'"),
        (CITATIONS.assign(doc_id="a"), "row 1: run 'x', topic '1', sentence '1': document 'a' appears twice"),
        (CITATIONS.assign(needs_citation="maybe"), "needs_citation is 'maybe'; it must be true or false"),
        (CITATIONS.drop(columns="support"), "the table has no column support"),
        (CITATIONS.iloc[:0], "there is no answer"),
    ],
)
def test_bad_citations_are_errors_with_places(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        score_answers("CitationP", citations=given)


def test_an_unknown_label_in_a_file_is_named_by_line_and_path(tmp_path):
    path = written(tmp_path / "c.jsonl", [supported("a FS"), supported("a FS | b Maybe", "2")])
    message = r"c.jsonl, line 2: support_eval\[1\].eval_scores\[0\]: .*'Maybe'"
    with pytest.raises(FileFormatError, match=message):
        score_answers("CitationP", citations=path)


def test_a_run_without_answers_is_an_error():
    with pytest.raises(InputError, match="run 'x': cannot read \\[\\]"):
        score_answers("NuggetScore", {"x": [], "y": OBJECTS[:1]})
    with pytest.raises(InputError, match="'x' has no answer"):
        score_answers("NuggetScore", {"x": FRAME.iloc[:0], "y": OBJECTS[:1]})
    with pytest.raises(InputError, match="run 'x': cannot read None"):
        score_answers("NuggetScore", {"x": None})


def test_one_answer_needs_a_list():
    with pytest.raises(InputError, match="a list of dicts"):
        score_answers("NuggetScore", OBJECTS[0])


def test_a_name_of_a_repetition_that_another_nugget_has_is_an_error():
    nuggets = [{"text": text, "importance": "vital", "assignment": "support"} for text in ("x", "x", "x #2")]
    with pytest.raises(InputError, match="nugget 'x' is repeated, and another nugget has the name"):
        score_answers("NuggetScore", [{"qid": "1", "nuggets": nuggets}])


@pytest.mark.parametrize("value", [10**400, True])
def test_values_that_are_no_credits_are_errors(value):
    table = FRAME.astype({"assignment": object})
    table.loc[0, "assignment"] = value
    with pytest.raises(InputError, match="row 0: the assignment is"):
        score_answers("NuggetScore", table)


def test_a_lazy_frame_is_an_error():
    with pytest.raises(InputError, match="cannot read"):
        score_answers("NuggetScore", pl.from_pandas(FRAME).lazy())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"qid": "\\ud800", "nuggets": []}', "line 1: not JSON"),
        ("query_id,nugget\n1,a\n", "no column importance, assignment"),
        ("query_id,nugget,importance,assignment,assignment\n", "several columns named assignment"),
    ],
)
def test_errors_of_files_name_the_file(text, words, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=f"a.txt.*{words}"):
        score_answers("NuggetScore", path)
