"""Input that cannot be scored raises an error that names the place, in every form; nothing is dropped."""

import datetime
import enum
import math
import os
import uuid
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import helpers
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import assert_rejected, error_message, rows_of
from ir_measures import AP, RR

import ir_graded
from ecosystem import forms
from ir_graded import InputError

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
#: Further functions that reject the same input.
OTHERS = [
    lambda q, r: ir_graded.explain("Q", q, {"run": r}, "1"),
    lambda q, r: ir_graded.compare_rankings("Q", q, {"a": r}, {"b": RUN}, "1"),
    lambda q, r: ir_graded.compare_runs("Q", q, {"b": RUN}, {"a": r}),
    lambda q, r: ir_graded.ties("Q", q, {"run": r}),
    lambda q, r: ir_graded.unjudged(q, {"run": r}),
    lambda q, r: ir_graded.score_bounds("gRBP(max_rel=3)", q, {"run": r}),
    lambda q, r: ir_graded.score_intervals("AP", q, {"run": r}, n_samples=9, depth=2),
    lambda q, r: ir_graded.collection_statistics(q, {"run": r}),
    lambda q, r: ir_graded.evaluate_collections("Q", {"a": (q, {"run": r})}),
    lambda q, r: ir_graded.pool({"a": r}, 2, judged=q),
    lambda q, r: ir_graded.compare_judgments({"a": q}, {"b": QRELS}, "Q", {"a": r, "b": RUN}),
    lambda q, r: ir_graded.report("Q", q, {"run": r}, "unused.html"),
]


def assert_run_rejected(make, *parts):
    assert_rejected(CALLS, lambda: QRELS, make, *parts)


def assert_qrels_rejected(make, *parts, error=InputError):
    assert_rejected(CALLS, make, lambda: RUN, *parts, error=error)


# ------------------------------------------------------------------------------------------ the table

B, C = ("1", "b", 3.0), ("2", "c", 1.0)


class Fault(NamedTuple):
    """Rows that cannot be read.

    Attributes:
        cells: the forms that can have them, by their cells.
        rows: the rows.
        words: what the error says, with {number} for level or score; a dict for either kind.
        kinds: whether qrels, a run or both can be wrong.
        at: the rows that are wrong, which the error names.
    """

    cells: str
    rows: list[Any]
    words: str | dict[str, str]
    kinds: tuple[str, ...] = ("qrels", "run")
    at: tuple[int, ...] = (1,)


def a_value(value, words, cells="any", **options):
    """A wrong level or score in the second row."""
    return Fault(
        cells, [B, ("1", "a", value), C], f"topic '1', document 'a'|the {{number}} {words}", **options
    )


def a_column(values, words, cells="any typed", **options):
    """A column of wrong levels or scores."""
    return Fault(
        cells, [(*B[:2], values[0]), ("1", "a", values[1])], f"document 'b'|{words}", at=(0,), **options
    )


def an_id(wrong, words, cells="any", **options):
    """A wrong id of the topic, and of the document, in the second row."""
    for name, row in (("query_id", (wrong, "a", 2.0)), ("doc_id", ("1", wrong, 2.0))):
        yield Fault(cells, [B, row, C], words.format(name), **options)


MISSING = [math.nan, None, pd.NA, np.float32("nan"), pd.NaT, Decimal("NaN"), Decimal("sNaN")]
NO_NUMBERS = ["", b"1", [1], (1,), {}, object(), 1j, np.array([1.0]), pd.Timestamp(2020, 1, 1), 10**400]
NO_IDS = [
    *(1.5, -0.25, math.inf, np.float32(1.5), 2.0**53, np.float32(2**24), True, np.bool_(False), 1j),
    *(Decimal(1), Fraction(2, 1), datetime.date(2020, 1, 2), pd.Timestamp(2020, 1, 2), np.datetime64("2020")),
    *(datetime.timedelta(1), uuid.UUID(int=7), Path("a"), enum.Enum("Plain", "x").x, ("a",), frozenset("a")),
    b"\xff",
]  # fmt: skip
VITAL = "'vital' is not a number; replace words by numbers, for example vital by 2 and okay by 1"
STRING = "'3' is a string; convert the column to numbers"
DATES = [pd.Timestamp(2020, 1, 1), pd.Timestamp(2021, 1, 1)]
TWICE = {"run": "'b' appears twice", "qrels": "'b' has level 3 |and level 2 "}

ANY = "any typed text JSON"
NO_TEXTS = ["None", "x", "", "1,5", "0x10", "<NA>", "1_0", "\u0662"]

FAULTS = [
    *(a_value(value, "is missing") for value in MISSING),
    *(a_value(value, "is missing", "typed") for value in MISSING[:2]),
    a_value(math.nan, "is missing", "JSON"),
    *(a_value(value, "|is not a number") for value in NO_NUMBERS),
    a_value("vital", VITAL),
    a_value("vital", VITAL, "JSON", kinds=("run",)),
    a_column(["vital", "okay"], f"the {{number}} {VITAL}"),
    a_column(["3", "2"], f"the {{number}} {STRING}"),
    a_column(DATES, "is not a number"),
    a_column([None, None], "missing"),
    *(a_value(level, "is infinite", cells, kinds=("qrels",)) for level in (math.inf, -math.inf)
      for cells in ("any", "typed", "JSON")),
    *(Fault("text", [("1", "b", 3), ("1", "a", text)], "") for text in NO_TEXTS),
    *(Fault("text", [("1", "b", 3), ("1", "a", text)], "", ("qrels",))
      for text in ("nan", "NaN", "inf", "-inf")),
    *(fault for missing in (None, math.nan, pd.NA) for fault in an_id(missing, "{}")),
    *an_id(None, "has no {}", "typed"),
    *(fault for wrong in NO_IDS for fault in an_id(wrong, "{}: ", at=())),
    *(Fault("any", [("1", one, 3.0), ("1", other, 2.0), C], "topic '1'|'7'")
      for one, other in ((7, "7"), ("7", 7), ("7", np.int64(7)))),
    *(Fault("any", [(one, "a", 3.0), (other, "b", 2.0), C], "are the same as text", at=())
      for one, other in ((7, "7"), ("7", 7), (7.0, 7), ("7", 7.0), (np.float64(7), 7))),
    Fault(ANY, [("1", "b", 3), ("1", "b", 2), ("2", "b", 1)], TWICE, at=(0, 1)),
    Fault(ANY, [("1", "b", 3), ("1", "b", 3)], TWICE, ("run",), at=(0, 1)),
    Fault(ANY, [("1", "new", 3), ("1", "new", 2)], "'new' appears twice", ("run",), at=(0, 1)),
]  # fmt: skip


def faults_of(name):
    """Return the faults that a form can have, each with its number."""
    form = forms.FORMS[name]
    for number, fault in enumerate(FAULTS):
        # Keys of dicts that are equal, such as 7 and 7.0, are one.
        held = rows_of(helpers.dicts(fault.rows)) if name in forms.NESTED else fault.rows
        if form.cells in fault.cells.split() and repr(held) == repr(fault.rows):
            yield number, fault


@pytest.mark.every
@pytest.mark.parametrize("name", forms.FORMS)
def test_faults_are_named_in_every_form(name, tmp_path):
    form, at = forms.FORMS[name], [*forms.FORMS].index(name)
    for number, fault in [*faults_of(name)][at % 4 :: 4]:
        for kind in set(fault.kinds) & set(form.kinds):
            check_fault(form, fault, kind, [CALLS[(at + number) % len(CALLS)]], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", forms.FORMS)
def test_every_function_names_the_faults(name, tmp_path):
    form, calls, others = forms.FORMS[name], cycle(CALLS), cycle(OTHERS)
    for _, fault in faults_of(name):
        for kind in set(fault.kinds) & set(form.kinds):
            check_fault(form, fault, kind, [next(calls), next(others)], tmp_path)


@pytest.mark.parametrize("kind", ["qrels", "run"])
@pytest.mark.parametrize("name", ["dicts", "tuples", "pandas", "path", "CSV", "Parquet", "JSON"])
def test_other_functions_name_the_faults(name, kind, tmp_path):
    *_, wrong, repeated, _ = [fault for _, fault in faults_of(name) if kind in fault.kinds]
    for fault in (wrong, repeated):
        check_fault(forms.FORMS[name], fault, kind, OTHERS, tmp_path)


def check_fault(form, fault, kind, calls, folder):
    words = fault.words if isinstance(fault.words, str) else fault.words[kind]
    parts = words.format(number={"qrels": "level", "run": "score"}[kind]).split("|")
    for call in calls:
        made = {"qrels": QRELS, "run": RUN, kind: form.make(kind, fault.rows, folder)}
        message = error_message(InputError, call, *made.values())
        for part in parts:
            assert part in message, (fault, kind)
        for row in fault.at:
            assert form.place.format(row, row + 1, row + 2) in message, (fault, kind)


@pytest.mark.every
@pytest.mark.parametrize(
    "name", [name for name, one in forms.FORMS.items() if one.cells and "run" in one.kinds]
)
def test_infinite_scores_rank_first_and_last(name, tmp_path):
    rows = [("1", "x", 1e30), ("1", "last", -math.inf), ("1", "first", math.inf), ("1", "y", -1e30)]
    for doc, rank in [("first", 1), ("x", 2), ("y", 3), ("last", 4)]:
        run = forms.FORMS[name].make("run", rows, tmp_path)
        found = ir_measures.calc_aggregate(["O-measure(beta=0)", RR][: 1 + rank % 2], {"1": {doc: 1}}, run)
        assert {*found.values()} == {1 / rank}


@pytest.mark.every
@pytest.mark.parametrize(
    "name", [name for name, one in forms.FORMS.items() if one.cells and name not in forms.NESTED]
)
def test_a_document_with_equal_levels_counts_once(name, tmp_path):
    rows = [("1", "a", 2), ("1", "b", 1), ("2", "c", 1), ("1", "a", 2), ("1", "a", 2)]
    found = by_a_mixed_call(forms.FORMS[name].make("qrels", rows, tmp_path), RUN)
    assert found == by_a_mixed_call(QRELS, RUN)


@pytest.mark.parametrize(
    "dtype", ["Float64", "Int64", pd.ArrowDtype(pa.float64()), pd.ArrowDtype(pa.int32()), "category"]
)
def test_a_missing_score_or_level_in_a_nullable_column_is_rejected(dtype):
    for kind, check_rejected in (("run", assert_run_rejected), ("qrels", assert_qrels_rejected)):
        frame = forms.pandas()(kind, [("1", "b", 3), ("1", "a", 1)])
        frame[helpers.VALUE[kind]] = pd.Series([3, None], dtype="Float64").astype(dtype)
        check_rejected(lambda frame=frame: frame, "topic '1', document 'a' (row 1)", "missing")


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


# ------------------------------------------------------------------------------- objects and columns


def frame(**columns):
    """A pandas frame with one row."""
    return pd.DataFrame({name: [value] for name, value in columns.items()})


def lacking(kind, column, *names):
    """A frame without a column."""
    missing = column.replace("score", "score or rank")
    return kind, frame(**dict.fromkeys(names, "1")), f"no column {missing}; it has {', '.join(names)}"


ROW = {"query_id": "1", "doc_id": "a", "score": 1.0, "relevance": 1}
NAMES = {"qrels": ("query_id", "doc_id", "relevance"), "run": ("query_id", "doc_id", "score")}
CUTS = [(kind, library, name) for kind, names in NAMES.items() for name in names
        for library in (pd.DataFrame, pl.DataFrame, pa.table)]  # fmt: skip
NOT_TUPLES = [("1", "a", 1.0), {"query_id": "1"}, ["1", "a", 1.0], "1 a 1.0", 3, None]
TUPLE = {"qrels": ir_measures.Qrel("1", "a", 1), "run": ir_measures.ScoredDoc("1", "a", 1.0)}
NOT_IN_POLARS = [
    pa.RunEndEncodedArray.from_arrays([2], pa.array(["1"])),
    pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
    pa.array([(1, 2, 3), (1, 2, 3)], pa.month_day_nano_interval()),
]
ARROW = {"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}
TWO = pd.concat([frame(**ROW), frame(**ROW)[["doc_id"]]], axis=1)
LAZY = pl.LazyFrame({name: [value] for name, value in ROW.items()})
NOTHING = [b"1 Q0 a 1 1.0 tag", np.zeros((2, 3)), {"1", "2"}]
NO_DICTS = [3.0, None, ["a"], "a", ("a", 1.0)]

#: Objects that are neither qrels nor a run, and what the error says.
SOURCES = [
    *((kind, library({one: [ROW[one]] for one in NAMES[kind] if one != name}), f"no column {name}")
      for kind, library, name in CUTS),
    lacking("run", "score", "qid", "docno"),
    lacking("run", "query_id", "docno", "score"),
    lacking("run", "score", "query-id", "corpus-id"),
    lacking("run", "query_id, doc_id, score", "text"),
    lacking("qrels", "relevance", "qid", "docno", "level"),
    lacking("qrels", "relevance", "query-id", "corpus-id"),
    lacking("qrels", "doc_id", "query", "product", "rating"),
    lacking("qrels", "query_id, doc_id, relevance", "id"),
    ("qrels", frame(query_id="1", doc_id="a", score=1.0), "no column relevance"),
    *((kind, TWO, "'doc_id'|several columns") for kind in NAMES),
    *((kind, [TUPLE[kind], row], f"item 1|{', '.join(NAMES[kind])}") for row in NOT_TUPLES for kind in NAMES),
    ("run", [TUPLE["qrels"]], "item 0|score"),
    ("qrels", [TUPLE["run"]], "item 0|relevance"),
    *((kind, wrong, f"{kind}: |{type(wrong).__name__}|dict of dicts") for kind in NAMES
      for wrong in (None, 3, 1.5, object(), len)),
    ("run", LAZY, "LazyFrame has no rows yet|collect()"),
    ("qrels", pd.Series([1.0, 2.0]), "a Series has no named columns"),
    *((kind, wrong, "item 0") for wrong in NOTHING for kind in NAMES),
    *((kind, {"1": {"a": 1}, "2": inner}, "topic '2'") for inner in NO_DICTS for kind in NAMES),
    *(("run", pa.table({**ARROW, name: array}), f"a column of the Arrow type {array.type} cannot be read")
      for name in ARROW for array in NOT_IN_POLARS),
    *(("run", library({**ARROW, "doc_id": [wrong] * 2}), "an id is text or a whole number, not a")
      for wrong in (["a"], {"a": 1}) for library in (pd.DataFrame, pl.DataFrame)),
    ("run", frame(**ROW | {"doc_id": ("a",)}), "an id is text or a whole number, not a"),
    ("run", pd.DataFrame(ARROW | {"doc_id": ["\ud800", "b"]}, dtype=object), "is not valid"),
]  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("call", [by_calc, by_a_mixed_call, by_the_provider])
@pytest.mark.filterwarnings("ignore:Determining the column names of a LazyFrame")
def test_objects_that_are_neither_qrels_nor_a_run_are_rejected(call):
    for kind, wrong, words in SOURCES:
        for given in [wrong, iter(wrong)] if isinstance(wrong, list) else [wrong]:
            message = error_message(InputError, call, *{"qrels": QRELS, "run": RUN, kind: given}.values())
            assert all(part in message for part in words.split("|")), (kind, wrong, message)


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


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_binary_ids_are_decoded_as_utf_8(form):
    run = form({"query_id": [b"1", b"1"], "doc_id": [b"a", b"b"], "score": [1.0, 2.0]})
    assert ir_graded.evaluate("RR", {"1": {"a": 1}}, {"run": run}).aggregates[0, 0] == 0.5


HALF = "a\ud800"
#: Qrels, a run and a set of runs whose document, topic or name is not valid text.
HALVES = {
    "document": ({"1": {HALF: 2, "b": 1}, "2": {"c": 1}}, "run"),
    "topic": ({HALF: {"a": 2, "b": 1}, "2": {"c": 1}}, "run"),
    "name": ({"1": {"a": 2, "b": 1}, "2": {"c": 1}}, HALF),
}
#: Functions that need frames, and the places of text in them.
WITH_FRAMES = [
    (lambda q, runs: ir_graded.report("Q", q, runs, "page.html", n_samples=9, depth=2), "document topic"),
    (lambda q, runs: ir_graded.compare_judgments(q, q, "Q", runs), "document topic"),
    (lambda q, _: ir_graded.combine_judgments({"a": q, "b": q}), "document topic"),
    (lambda q, runs: ir_graded.score_intervals("Q@2", q, runs), "document topic"),
    (lambda q, runs: ir_graded.ties("Q", q, runs), "document topic name"),
    (lambda _, runs: ir_graded.pool(runs, 2), "document topic"),
    (lambda q, runs: ir_graded.compare_rankings("Q", q, *runs.values(), next(iter(q))), "document topic"),
    (lambda q, runs: ir_graded.evaluate("Q", q, runs).to_frame(), "topic name"),
]


@pytest.mark.slow
@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(("call", "places"), WITH_FRAMES)
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_lone_surrogate_is_scored_or_has_a_clear_error(tmp_path, monkeypatch, call, places, half):
    monkeypatch.chdir(tmp_path)
    qrels, name = HALVES[half]
    run = {topic: {doc: float(level) for doc, level in docs.items()} for topic, docs in qrels.items()}
    clear = pytest.raises(InputError, match=r"name 'a\\ud800' is not valid text: it has a lone surrogate")
    with clear if half in places else nullcontext():
        call(qrels, {name: run, "other": run})


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


def test_a_lazy_frame_among_runs_is_rejected_without_a_warning():
    lazy = pl.LazyFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
    with pytest.raises(InputError, match="has no rows yet"):
        ir_graded.evaluate("Q", {"1": {"a": 1}}, {"x": lazy})


# -------------------------------------------------------------------------------- found by fuzzing

HUGE = 10**5000
DATE = pl.DataFrame({"query_id": pl.Series([2**30], dtype=pl.Date), "doc_id": ["a"], "relevance": [1]})


@pytest.mark.parametrize("qrels", [
    {HUGE: {"a": 1}}, {"1": {HUGE: 1}}, {"1": {"a": HUGE}}, {"1": HUGE}, {"1": {"a": np.array([1.0, 2.0])}},
    {"1": {"a": pd.Series([1, 2])}}, [ir_measures.Qrel("1", "a", HUGE)],
    [ir_measures.Qrel(Decimal("sNaN"), "a", 1)], [HUGE], np.array(2),
    pd.DataFrame({"query_id": [HUGE], "doc_id": ["a"], "relevance": [1]}, dtype=object), DATE,
], ids=lambda _: "")  # fmt: skip
def test_values_that_raised_another_error_are_rejected(qrels):
    with pytest.raises(InputError):
        ir_graded.evaluate(["Q"], qrels, {"1": {"a": 1}})


@pytest.mark.parametrize("text", ["nDCG(gains={{}:1})", "nDCG(**{})", "AP(**{'rel': 2})"])
def test_strings_of_ir_measures_that_gave_another_error(text):
    with pytest.raises(ir_graded.MeasureSyntaxError, match=r"^cannot read .*; write "):
        ir_graded.evaluate([text], QRELS, RUN)


@pytest.mark.parametrize("order", ["ties='expected'", "ties='x'", "ranks='rows'"])
def test_an_unknown_parameter_beside_an_order_is_rejected(order):
    with pytest.raises(ir_graded.ParameterError, match="AP takes no parameter 'x'; it takes cutoff"):
        ir_graded.evaluate([f"AP(x=1,{order})"], QRELS, RUN)
