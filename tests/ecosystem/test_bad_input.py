"""Input that cannot be scored raises an error that names the place, in every form; nothing is dropped."""

import math
import os
from decimal import Decimal
from pathlib import Path

import helpers
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import assert_rejected, error_message
from ir_measures import AP, RR

import ir_graded
from ecosystem import forms
from ir_graded import FileFormatError, InputError
from ir_graded.io.sources import opened

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
RUN = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "2": {"c": 1.0}}


def by_calc(qrels, run):
    return ir_measures.calc(["Q", "nERR@10"], qrels, run)


def by_a_mixed_call(qrels, run):
    return ir_measures.calc_aggregate([AP, "Q", RR @ 10], qrels, run)


def by_the_provider(qrels, run):
    return list(ir_measures.providers.registry["ir_graded"].iter_calc([ir_graded.Q], qrels, run))


def by_evaluate(qrels, run):
    return ir_graded.evaluate(["Q", AP], qrels, {"run": run})


CALLS = [by_calc, by_a_mixed_call, by_the_provider, by_evaluate]


def assert_run_rejected(make, *parts):
    assert_rejected(CALLS, lambda: QRELS, make, *parts)


def assert_qrels_rejected(make, *parts, error=InputError):
    assert_rejected(CALLS, make, lambda: RUN, *parts, error=error)


#: Tables with values of any one type (including a column of numbers with holes).
TYPED = {
    "pandas": forms.pandas(),
    "pandas in an odd order": lambda kind, rows, folder: forms.pandas()(kind, rows, folder).set_index(
        pd.Index([7] * len(rows))
    ),
    "polars": forms.polars(),
    "arrow": forms.arrow,
    "arrow in chunks": forms.arrow_in_chunks,
}
#: Tables with any Python object.
ANYTHING = {
    "pandas of objects": forms.pandas_of_objects,
    "polars of objects": forms.polars_of_objects,
    "tuples": forms.tuples,
    "generator": forms.generator,
    "tuples of ir_datasets": forms.datasets_tuples,
    "itertuples": lambda kind, rows, folder: forms.pandas_of_objects(kind, rows, folder).itertuples(),
}
TABLES = TYPED | ANYTHING
FILES = {"path": forms.path, "compressed file": forms.compressed}


def place(form, row, folder):
    """Return how an error names the place of a row."""
    if form in FILES:
        (file,) = folder.iterdir()
        return f"{file}, line {row + 1}"
    return f"item {row}" if "tuples" in form or form == "generator" else f"row {row}"


@pytest.fixture
def made(tmp_path):
    """Create a form again in a folder that holds this one file only."""

    def call(form, kind, rows):
        for file in tmp_path.iterdir():
            file.unlink()
        return (TABLES | FILES)[form](kind, rows, tmp_path)

    return call


def test_the_unchanged_input_is_accepted():
    for call in CALLS:
        call(QRELS, RUN)


# ----------------------------------------------------------------------------------------- duplicates


class Names:
    """Return the places of two rows in a form whose file name is known only after it is created."""

    def __init__(self, form, folder, *rows):
        self.form, self.folder, self.rows = form, folder, rows

    def check(self, message):
        # Each call creates a new file: its number differs, its folder and lines do not.
        for row in self.rows:
            wanted = f", line {row + 1}" if self.form in FILES else place(self.form, row, self.folder)
            assert wanted in message
        if self.form in FILES:
            assert message.count(str(self.folder)) == len(self.rows)


@pytest.mark.parametrize("form", [*TABLES, *FILES])
@pytest.mark.parametrize("doc", ["a", "unjudged"])
@pytest.mark.parametrize("scores", [(3.0, 1.0), (2.0, 2.0)], ids=["two scores", "one score"])
def test_a_duplicate_in_a_run_is_rejected(form, doc, scores, made, tmp_path):
    rows = [("1", "b", 9.0), ("1", doc, scores[0]), ("2", doc, 1.0), ("2", "c", 2.0), ("1", doc, scores[1])]
    for call in CALLS:
        message = error_message(InputError, call, QRELS, made(form, "run", rows))
        assert f"topic '1', document '{doc}'" in message
        Names(form, tmp_path, 1, 4).check(message)


@pytest.mark.parametrize("form", [*TABLES, *FILES])
def test_a_duplicate_in_qrels_with_different_levels_is_rejected(form, made, tmp_path):
    rows = [("1", "b", 1), ("1", "a", 2), ("2", "a", 1), ("1", "a", 2), ("1", "a", 0)]
    for call in CALLS:
        message = error_message(InputError, call, made(form, "qrels", rows), RUN)
        assert "topic '1', document 'a'" in message
        assert "level 2" in message
        assert "level 0" in message
        Names(form, tmp_path, 1, 4).check(message)


@pytest.mark.parametrize("form", [*TABLES, *FILES])
def test_a_duplicate_in_qrels_with_equal_levels_counts_once(form, made):
    rows = [("1", "a", 2), ("1", "b", 1), ("2", "c", 1), ("1", "a", 2), ("1", "a", 2)]
    for measures in (["Q", "R-measure", "GAP"], ["Q", AP, RR @ 10]):
        expected = forms.results(measures, QRELS, RUN)
        assert forms.results(measures, made(form, "qrels", rows), RUN) == expected


# ------------------------------------------------------------------------------- missing, not a number

MISSING = [float("nan"), None, pd.NA, np.nan, np.float32("nan"), pd.NaT, Decimal("NaN")]


@pytest.mark.parametrize("form", TYPED)
@pytest.mark.parametrize("missing", [float("nan"), None])
def test_a_missing_score_or_level_in_a_typed_column_is_rejected(form, missing, made, tmp_path):
    rows = [("1", "b", 3.0), ("2", "c", 1.0), ("1", "a", missing)]
    where = "topic '1', document 'a'", place(form, 2, tmp_path), "missing"
    assert_run_rejected(lambda: made(form, "run", rows), *where, "score")
    assert_qrels_rejected(lambda: made(form, "qrels", rows), *where, "level")


@pytest.mark.parametrize(
    "dtype", ["Float64", "Int64", pd.ArrowDtype(pa.float64()), pd.ArrowDtype(pa.int32()), "category"]
)
def test_a_missing_score_or_level_in_a_nullable_column_is_rejected(dtype):
    for kind, check_rejected in (("run", assert_run_rejected), ("qrels", assert_qrels_rejected)):
        frame = forms.pandas()(kind, [("1", "b", 3), ("1", "a", 1)])
        frame[helpers.VALUE[kind]] = pd.Series([3, None], dtype="Float64").astype(dtype)
        check_rejected(lambda frame=frame: frame, "topic '1', document 'a' (row 1)", "missing")


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_a_column_of_missing_values_only_is_rejected(make):
    columns = helpers.columns("run", [("1", "b", None), ("1", "a", None)])
    assert_run_rejected(lambda: make(columns), "topic '1', document 'b' (row 0)", "missing")


@pytest.mark.parametrize("form", ANYTHING)
@pytest.mark.parametrize("missing", MISSING, ids=lambda value: f"{type(value).__name__} {value}")
def test_a_missing_score_or_level_among_objects_is_rejected(form, missing, made, tmp_path):
    rows = [("1", "b", 3.0), ("2", "c", 1.0), ("1", "a", missing)]
    where = "topic '1', document 'a'", place(form, 2, tmp_path), "missing"
    assert_run_rejected(lambda: made(form, "run", rows), *where, "score")
    assert_qrels_rejected(lambda: made(form, "qrels", rows), *where, "level")


@pytest.mark.parametrize("missing", MISSING, ids=lambda value: f"{type(value).__name__} {value}")
def test_a_missing_score_or_level_in_dicts_is_rejected(missing):
    rows = [("1", "b", 3.0), ("1", "a", missing), ("2", "c", 1.0)]
    assert_run_rejected(lambda: forms.dicts("run", rows), "topic '1', document 'a'", "score", "missing")
    assert_qrels_rejected(lambda: forms.dicts("qrels", rows), "topic '1', document 'a'", "level", "missing")


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("text", ["nan", "NaN", "None", "x", "", "1,5", "0x10", "<NA>"])
def test_a_bad_score_or_level_in_a_file_is_rejected(form, text, made, tmp_path):
    rows = [("1", "b", 3.0), ("2", "c", 1.0), ("1", "a", text)]
    for call in CALLS:
        for message in (
            error_message(InputError, call, QRELS, made(form, "run", rows)),
            error_message(InputError, call, made(form, "qrels", rows), RUN),
        ):
            Names(form, tmp_path, 2).check(message)
            assert "a" in message.split("line 3")[1] or "document 'a'" in message


NO_NUMBERS = [
    "x", "", b"1", [1], (1,), {}, object(), 1j, np.array([1.0]), pd.Timestamp(2020, 1, 1), 10**400,
]  # fmt: skip


@pytest.mark.parametrize("form", ANYTHING)
@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_a_score_or_level_that_is_not_a_number_is_rejected(form, wrong, made, tmp_path):
    rows = [("1", "b", 3.0), ("2", "c", 1.0), ("1", "a", wrong)]
    where = "topic '1', document 'a'", place(form, 2, tmp_path), "is not a number"
    assert_run_rejected(lambda: made(form, "run", rows), *where, "score")
    assert_qrels_rejected(lambda: made(form, "qrels", rows), *where, "level")


@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_a_score_or_level_in_dicts_that_is_not_a_number_is_rejected(wrong):
    rows = [("1", "b", 3.0), ("1", "a", wrong), ("2", "c", 1.0)]
    where = "topic '1', document 'a'", "is not a number"
    assert_run_rejected(lambda: forms.dicts("run", rows), *where, "score")
    assert_qrels_rejected(lambda: forms.dicts("qrels", rows), *where, "level")


@pytest.mark.parametrize("form", [*TYPED, *ANYTHING, "dicts"])
def test_numbers_as_text_are_rejected(form, tmp_path):
    rows = [("1", "b", "3"), ("1", "a", "2"), ("2", "c", "1")]
    make = (TABLES | {"dicts": forms.dicts})[form]
    where = "topic '1', document 'b'", "'3' is a string; convert the column to numbers"
    assert_run_rejected(lambda: make("run", rows, tmp_path), *where, "score")
    assert_qrels_rejected(lambda: make("qrels", rows, tmp_path), *where, "level")


@pytest.mark.parametrize(
    ("text", "is_word"), [("partial support", True), ("L2", False), ("1,5", False), ("", False)]
)
def test_only_words_are_to_be_replaced_by_numbers(text, is_word):
    with pytest.raises(InputError, match=r"is not a number(; replace words)?") as found:
        ir_graded.evaluate("Q", {"1": {"a": text}}, {"1": {"a": 1.0}})
    assert ("replace words" in str(found.value)) == is_word


@pytest.mark.parametrize("form", [*TYPED, *ANYTHING, "dicts"])
def test_words_in_place_of_numbers_are_rejected(form, tmp_path):
    rows = [("1", "b", "vital"), ("1", "a", "okay"), ("2", "c", "okay")]
    make = (TABLES | {"dicts": forms.dicts})[form]
    problem = "'vital' is not a number; replace words by numbers, for example vital by 2 and okay by 1"
    where = "topic '1', document 'b'"
    assert_run_rejected(lambda: make("run", rows, tmp_path), where, f"the score {problem}")
    assert_qrels_rejected(lambda: make("qrels", rows, tmp_path), where, f"the level {problem}")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_as_numbers_are_rejected(make):
    columns = helpers.columns(
        "run", [("1", "b", pd.Timestamp(2020, 1, 1)), ("1", "a", pd.Timestamp(2021, 1, 1))]
    )
    assert_run_rejected(lambda: make(columns), "topic '1', document 'b' (row 0)", "is not a number")


# -------------------------------------------------------------------------------------------- infinite


@pytest.mark.parametrize("form", [*TABLES, *FILES, "dicts"])
@pytest.mark.parametrize("level", [math.inf, -math.inf])
def test_an_infinite_level_is_rejected(form, level, tmp_path):
    rows = [("1", "b", 3.0), ("2", "c", 1.0), ("1", "a", level)]
    make = (TABLES | FILES | {"dicts": forms.dicts})[form]
    error = FileFormatError if form in FILES else InputError
    parts = [", line 3", "inf"] if form in FILES else ["topic '1', document 'a'", "infinite"]
    assert_qrels_rejected(lambda: make("qrels", rows, tmp_path), *parts, error=error)


@pytest.mark.parametrize("form", [*TABLES, *FILES, "dicts"])
def test_infinite_scores_rank_first_and_last(form, tmp_path):
    rows = [("1", "x", 1e30), ("1", "last", -math.inf), ("1", "first", math.inf), ("1", "y", -1e30)]
    make = (TABLES | FILES | {"dicts": forms.dicts})[form]
    for doc, rank in [("first", 1), ("x", 2), ("y", 3), ("last", 4)]:
        for measures in (["O-measure(beta=0)"], ["O-measure(beta=0)", RR]):
            found = ir_measures.calc_aggregate(measures, {"1": {doc: 1}}, make("run", rows, tmp_path))
            assert list(found.values()) == [1 / rank] * len(measures)


# ------------------------------------------------------------------------------------------------- ids


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("name", ["query_id", "doc_id"])
def test_a_missing_id_is_rejected(form, name, made, tmp_path):
    topic, doc = (None, "a") if name == "query_id" else ("1", None)
    rows = [("1", "b", 3), ("2", "c", 1), (topic, doc, 2)]
    where = place(form, 2, tmp_path), name
    assert_run_rejected(lambda: made(form, "run", rows), *where, "run")
    assert_qrels_rejected(lambda: made(form, "qrels", rows), *where, "qrels")


@pytest.mark.parametrize("column", [
    pd.array([1, 1, None], dtype="Int64"), [1.0, 1.0, np.nan], pd.Categorical(["1", "1", None]),
    pd.array(["1", "1", None], dtype="string[pyarrow]"),
    pd.array([1, 1, None], dtype=pd.ArrowDtype(pa.int64())),
], ids=["Int64", "float64", "category", "string", "Arrow"])  # fmt: skip
def test_a_missing_id_in_a_typed_column_is_rejected(column):
    frame = pd.DataFrame({"query_id": column, "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]})
    qrels = {"1": {"a": 1}, "1.0": {"a": 1}}
    assert_rejected(CALLS, lambda: qrels, lambda: frame, "row 2", "query_id")
    assert_qrels_rejected(lambda: frame.rename(columns={"score": "relevance"}), "row 2", "query_id")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=["None", "nan", "NA"])
def test_a_missing_id_in_dicts_is_rejected(missing):
    assert_run_rejected(lambda: {"1": {"a": 1.0, missing: 2.0}}, "'1'", "doc_id")
    assert_run_rejected(lambda: {"1": {"a": 1.0}, missing: {"b": 2.0}}, "query_id")
    assert_qrels_rejected(lambda: {"1": {"a": 1, missing: 2}}, "'1'", "doc_id")
    assert_qrels_rejected(lambda: {"1": {"a": 1}, missing: {"b": 2}}, "query_id")


@pytest.mark.parametrize("ids", [(7, "7"), ("7", 7), ("7", np.int64(7))], ids=repr)
def test_ids_in_dicts_that_are_equal_as_text_are_rejected(ids):
    first, second = ids
    for others in ({}, {"a": 1}, {5: 1}):
        where = "topic '1'", "'7'", "same as text"
        assert_run_rejected(lambda others=others: {"1": {first: 1.0, **others, second: 2.0}}, *where)
        assert_qrels_rejected(lambda others=others: {"1": {**others, first: 1, second: 2}}, *where)
    assert_run_rejected(lambda: {first: {"a": 1.0}, second: {"b": 1.0}}, "'7'", "same as text")
    assert_qrels_rejected(lambda: {first: {"a": 1}, second: {"b": 1}}, "'7'", "same as text")


@pytest.mark.parametrize("form", ANYTHING)
def test_ids_in_tables_that_are_equal_as_text_are_rejected(form, made, tmp_path):
    rows = [("1", "7", 2), ("1", "b", 3), ("1", 7, 1)]
    where = "topic '1', document '7'", place(form, 0, tmp_path), place(form, 2, tmp_path)
    assert_run_rejected(lambda: made(form, "run", rows), *where)
    assert_qrels_rejected(lambda: made(form, "qrels", rows), *where)
    topics = [("1", "a", 2), ("2", "c", 3), (1, "b", 1)]
    assert_run_rejected(lambda: made(form, "run", topics), "'1'")
    assert_qrels_rejected(lambda: made(form, "qrels", topics), "'1'")


def as_text(table):
    return {str(topic): {str(doc): value for doc, value in docs.items()} for topic, docs in table.items()}


@pytest.mark.parametrize("measures", [["Q", "GAP"], ["Q", AP, RR @ 10]], ids=["ours", "mixed"])
@pytest.mark.parametrize(
    "run",
    [
        {"1": {7: 3.0, "x": 2.0, "a": 1.0}, "2": {3: 1.0}},
        {"1": {"x": 3.0, 7: 2.0, "a": 1.0}, 2: {"y": 2.0, 3: 1.0}},
        {"1": {"x": 1.0, 7: 1.0, "a": 1.0}, 2: {3: 1.0, "y": 1.0}},
    ],
    ids=["int first", "text first", "ties"],
)
def test_ids_of_several_types_in_one_dict(run, measures):
    qrels = {"1": {"a": 1, 7: 2}, 2: {3: 1}}
    expected = forms.results(measures, as_text(qrels), as_text(run))
    assert forms.results(measures, qrels, run) == expected
    assert forms.results(measures, as_text(qrels), run) == expected


# --------------------------------------------------------------------------------------------- columns


@pytest.mark.parametrize("form", TYPED)
@pytest.mark.parametrize("missing", ["query_id", "doc_id", "value"])
def test_a_missing_column_is_rejected(form, missing, made):
    for kind, rows, check_rejected in (
        ("run", [("1", "a", 1.0)], assert_run_rejected),
        ("qrels", [("1", "a", 1)], assert_qrels_rejected),
    ):
        table = made(form, kind, rows)
        name = helpers.VALUE[kind] if missing == "value" else missing
        present = {"query_id", "doc_id", helpers.VALUE[kind]} - {name}
        cut = table.drop(columns=name) if isinstance(table, pd.DataFrame) else table.drop([name])
        check_rejected(lambda cut=cut: cut, kind, f"no column {name}", *present)


def test_columns_with_names_of_two_tools_are_rejected():
    frame = pd.DataFrame({"qid": ["1"], "doc_id": ["a"], "score": [1.0]})
    assert_run_rejected(lambda: frame, "no column query_id", "qid, doc_id, score")


@pytest.mark.parametrize(
    ("kind", "columns", "lacking"),
    [
        ("run", ["qid", "docno"], "score"),
        ("run", ["docno", "score"], "qid"),
        ("run", ["query-id", "corpus-id"], "score"),
        ("run", ["text"], "query_id, doc_id, score"),
        ("qrels", ["qid", "docno", "relevance"], "label"),
        ("qrels", ["query-id", "corpus-id"], "score"),
        ("qrels", ["query", "docid"], "rating"),
        ("qrels", ["id"], "query_id, doc_id, relevance"),
    ],
)
def test_missing_columns_are_named_as_the_others(kind, columns, lacking):
    words = f"^{kind}: the table has no column {lacking}; it has {', '.join(columns)}$"
    with pytest.raises(InputError, match=words):
        opened(kind, pd.DataFrame({name: ["1"] for name in columns})).table()


def test_swapped_run_and_qrels_are_rejected():
    qrels, run = forms.pandas()("qrels", [("1", "a", 1)]), forms.pandas()("run", [("1", "a", 1.0)])
    assert_rejected(CALLS, lambda: run, lambda: qrels, "qrels", "no column relevance")


@pytest.mark.parametrize("name", ["score", "doc_id"])
def test_a_column_that_appears_twice_is_rejected(name):
    frame = forms.pandas()("run", [("1", "a", 1.0), ("1", "b", 2.0)])
    assert_run_rejected(lambda: pd.concat([frame, frame[[name]]], axis=1), f"'{name}'", "several columns")


@pytest.mark.parametrize("row", [("1", "a", 1.0), {"query_id": "1"}, ["1", "a", 1.0], "1 a 1.0", 3, None])
def test_rows_that_are_not_named_tuples_are_rejected(row):
    good = ir_measures.ScoredDoc("1", "b", 1.0)
    for call in (by_calc, by_a_mixed_call, by_the_provider):
        for run in ([good, row], iter([good, row])):
            message = error_message(InputError, call, QRELS, run)
            assert "item 1" in message
            assert "query_id, doc_id, score" in message
        message = error_message(InputError, call, [ir_measures.Qrel("1", "b", 1), row], RUN)
        assert "item 1" in message
        assert "query_id, doc_id, relevance" in message


def test_rows_with_other_fields_are_rejected():
    assert_run_rejected(lambda: [ir_measures.Qrel("1", "a", 1)], "item 0", "score")
    assert_qrels_rejected(lambda: [ir_measures.ScoredDoc("1", "a", 1.0)], "item 0", "relevance")


# ----------------------------------------------------------------------------------------- wrong types


@pytest.mark.parametrize(
    "wrong",
    [
        None, 3, 1.5, object(), len,
        pl.LazyFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0], "relevance": [1]}),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
@pytest.mark.filterwarnings(
    "ignore:Determining the column names of a LazyFrame"
)  # Polars warns whenever the schema is read
def test_an_object_that_is_not_a_table_is_rejected(wrong):
    for call in (by_calc, by_a_mixed_call, by_the_provider):
        for kind, message in (
            ("run", error_message(InputError, call, QRELS, wrong)),
            ("qrels", error_message(InputError, call, wrong, RUN)),
        ):
            assert message.startswith(kind)
            assert type(wrong).__name__ in message
            assert "dict of dicts" in message or "collect() it first" in message


@pytest.mark.parametrize(
    "wrong",
    [b"1 Q0 a 1 1.0 tag", np.zeros((2, 3)), {"1", "2"}],
    ids=lambda value: type(value).__name__,
)
def test_an_iterable_of_other_objects_is_rejected(wrong):
    assert_run_rejected(lambda: wrong, "item 0")
    assert_qrels_rejected(lambda: wrong, "item 0")


@pytest.mark.parametrize("inner", [3.0, None, ["a"], "a", ("a", 1.0)], ids=lambda value: type(value).__name__)
def test_a_dict_that_does_not_hold_dicts_is_rejected(inner):
    for call in (by_calc, by_a_mixed_call, by_the_provider):
        assert "topic '2'" in error_message(InputError, call, QRELS, {"1": {"a": 1.0}, "2": inner})
        assert "topic '2'" in error_message(InputError, call, {"1": {"a": 1}, "2": inner}, RUN)


def test_a_path_without_a_file_is_rejected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (str(tmp_path / "no-such-file.txt"), "no-such-file.txt", "no-such-file/qrels"):
        for call in CALLS:
            for given in ((QRELS, name), (name, RUN)):
                with pytest.raises(FileNotFoundError, match="and no dataset of ir_datasets has") as caught:
                    call(*given)
                assert caught.value.filename == name
            with pytest.raises(FileNotFoundError, match="no-such-file"):
                call(QRELS, Path(name))
    assert_run_rejected(lambda: "no-such-file", "'no-such-file' is neither a file nor a dataset id")
    assert_qrels_rejected(lambda: "no-such-file", "'no-such-file' is neither a file nor a dataset id")


def entry_in_bytes():
    with os.scandir(b"/") as entries:
        return next(entries)


@pytest.mark.parametrize("path", [Path("a\0b"), Path("\ud800"), entry_in_bytes()], ids=["0", "half", "bytes"])
def test_a_path_that_no_file_can_have_is_rejected(path):
    for call in (by_calc, by_a_mixed_call, by_the_provider, by_evaluate):
        for qrels, run in ((QRELS, path), (path, RUN)):
            assert "path" in error_message(InputError, call, qrels, run)
    for call in (
        lambda: ir_graded.evaluate("Q", QRELS, path),
        lambda: ir_graded.evaluate("Q", QRELS, [path]),
        lambda: ir_graded.explain("Q", QRELS, path, "1"),
        lambda: ir_graded.unjudged(QRELS, {"mine": path}),
        lambda: ir_graded.read_run(path, format="trec"),
    ):
        with pytest.raises(InputError, match="path"):
            call()


NOT_IN_POLARS = {
    "run-end encoded": pa.RunEndEncodedArray.from_arrays([2], pa.array(["1"])),
    "union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
    "interval": pa.array([(1, 2, 3), (1, 2, 3)], pa.month_day_nano_interval()),
}


@pytest.mark.parametrize("array", NOT_IN_POLARS.values(), ids=NOT_IN_POLARS)
@pytest.mark.parametrize("name", ["query_id", "doc_id", "score"])
def test_arrow_columns_that_polars_does_not_support_are_rejected(name, array):
    columns = {"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}
    message = error_message(InputError, by_evaluate, QRELS, pa.table({**columns, name: array}))
    assert f"a column of the Arrow type {array.type} cannot be read" in message


# ----------------------------------------------------------------------- changed by another thread


class Growing:
    """A number that changes its dict when it is read, as another thread might."""

    def __init__(self, docs):
        self.docs = docs

    def __float__(self):
        self.docs[f"new {len(self.docs)}"] = 1.0
        return 1.0


def test_a_dict_that_changes_while_it_is_scored_is_an_error():
    def changing():
        docs = {"a": 2.0, "b": 1.0, "z": 0.0}
        docs["c"] = Growing(docs)
        return {"1": docs, "2": {"c": 1}}

    problem = "topic '1' was changed while it was scored"
    assert_run_rejected(changing, f"run: {problem}")
    assert_qrels_rejected(changing, f"qrels: {problem}")


# ------------------------------------------------------------------------------- what ids may be


BINARY = {"query_id": [b"1", b"1"], "doc_id": [b"a", b"b"], "score": [1.0, 2.0]}


@pytest.mark.parametrize("form", ["dict", "pandas", "Polars", "Arrow", "tuples"])
def test_binary_ids_are_decoded_as_utf_8(form):
    runs = {
        "dict": {b"1": {b"a": 1.0, b"b": 2.0}},
        "pandas": pd.DataFrame(BINARY),
        "Polars": pl.DataFrame(BINARY),
        "Arrow": pa.table(BINARY),
        "tuples": list(pd.DataFrame(BINARY).itertuples(index=False)),
    }
    for qrels in ({"1": {"a": 1}}, {b"1": {b"a": 1}}):
        assert ir_graded.evaluate("RR", qrels, {"run": runs[form]}).aggregates[0, 0] == 0.5


@pytest.mark.parametrize("wrong", [["a"], ("a",), {"a": 1}])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_collections_as_ids_are_rejected(wrong, library):
    if library is pl.DataFrame and isinstance(wrong, tuple):
        wrong = list(wrong)
    table = library({"query_id": ["1"], "doc_id": [wrong], "score": [1.0]})
    with pytest.raises(InputError, match="an id is text or a whole number, not a"):
        ir_graded.evaluate("Q", {"1": {"a": 1}}, table)


def test_a_lone_surrogate_is_rejected():
    table = pd.DataFrame({"query_id": ["1"], "doc_id": pd.Series(["\ud800"], dtype=object), "score": [1.0]})
    with pytest.raises(InputError, match="is not valid"):
        ir_graded.evaluate("Q", {"1": {"a": 1}}, table)


HALF = "a\ud800"
#: Qrels, a run and a set of runs whose document, topic or name is not valid text.
HALVES = {
    "document": ({"1": {HALF: 2, "b": 1}, "2": {"c": 1}}, "run"),
    "topic": ({HALF: {"a": 2, "b": 1}, "2": {"c": 1}}, "run"),
    "name": ({"1": {"a": 2, "b": 1}, "2": {"c": 1}}, HALF),
}
ALL, IDS = frozenset(HALVES), frozenset({"document", "topic"})
#: Functions that need frames, and which of these their frames have.
WITH_FRAMES = {
    "report": (lambda q, runs: ir_graded.report("Q", q, runs, "page.html", n_samples=9, depth=2), IDS),
    "compare_judgments": (
        lambda q, runs: ir_graded.compare_judgments(q, q, "Q", runs),
        frozenset({"document"}),
    ),
    "combine_judgments": (lambda q, _: ir_graded.combine_judgments({"a": q, "b": q}), IDS),
    "score_intervals": (lambda q, runs: ir_graded.score_intervals("Q@2", q, runs), IDS),
    "ties": (lambda q, runs: ir_graded.ties("Q", q, runs), ALL),
    "pool": (lambda _, runs: ir_graded.pool(runs, 2), IDS),
    "compare_rankings": (
        lambda q, runs: ir_graded.compare_rankings("Q", q, *runs.values(), next(iter(q))),
        IDS,
    ),
    "to_frame": (lambda q, runs: ir_graded.evaluate("Q", q, runs).to_frame(), frozenset({"topic", "name"})),
}


@pytest.mark.slow
@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("function", WITH_FRAMES)
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_lone_surrogate_is_scored_or_has_a_clear_error(tmp_path, monkeypatch, function, half):
    monkeypatch.chdir(tmp_path)
    qrels, name = HALVES[half]
    run = {topic: {doc: float(level) for doc, level in docs.items()} for topic, docs in qrels.items()}
    call, refused = WITH_FRAMES[function]
    runs = {name: run, "other": run}
    if half not in refused:
        call(qrels, runs)
        return
    with pytest.raises(
        InputError, match=r"the id or name 'a\\ud800' is not valid text: it has a lone surrogate"
    ):
        call(qrels, runs)


@pytest.mark.parametrize("half", HALVES)
def test_scores_with_a_lone_surrogate_are_saved(half):
    qrels, name = HALVES[half]
    run = {topic: {doc: float(level) for doc, level in docs.items()} for topic, docs in qrels.items()}
    scores = ir_graded.evaluate("Q", qrels, {name: run})
    again = ir_graded.Scores.from_json(scores.to_json().encode())
    assert (again.runs, again.query_ids, again.signature) == (scores.runs, scores.query_ids, scores.signature)


def test_an_empty_path_is_rejected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the path of a run is empty"):
        ir_graded.evaluate("Q", {"1": {"a": 1}}, "")
    (tmp_path / "gone.run").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        ir_graded.evaluate("Q", {"1": {"a": 1}}, tmp_path)


def test_a_reader_of_arrow_batches_is_read_as_a_table():
    reader = pa.table({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]}).to_reader()
    assert ir_graded.evaluate("RR", {"1": {"a": 1}}, reader).aggregates[0, 0] == 1


def test_a_lazy_frame_among_runs_is_rejected_without_a_warning():
    lazy = pl.LazyFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
    with pytest.raises(InputError, match="has no rows yet"):
        ir_graded.evaluate("Q", {"1": {"a": 1}}, {"x": lazy})
