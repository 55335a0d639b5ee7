"""Input of nuggets and budgets: forms of qrels, runs and lists, their warnings and errors."""

import json
import warnings

import ir_measures
import pandas as pd
import pytest
from helpers import TABLES, WITHOUT_TUPLES, run_command
from nuggets.nugget_cases import DOCUMENTS, EXAMPLE, EXAMPLE_RUN, mean

import ir_graded
import ir_graded.spark
from ir_graded import CoverageWarning, FileFormatError, InputError, NoSharedTopicsError, ParameterError

MEASURES = ["NuggetR@3", "NuggetR(importance='vital')", "CharR(budget=30,unit='tokens')", "U(L=500)"]
VALUES = [0.5, 1.0, 0.35, 3.18]


@pytest.mark.parametrize("form", TABLES)
def test_forms_of_qrels_and_runs(form, tmp_path):
    qrels, run = TABLES[form](EXAMPLE, tmp_path / "qrels"), TABLES[form](EXAMPLE_RUN, tmp_path / "run")
    found = ir_graded.evaluate(MEASURES, qrels, {"run": run}).mean().iloc[0]
    assert found.tolist() == pytest.approx(VALUES)


def test_runs_of_documents_in_dicts():
    assert mean("NuggetR@1", DOCUMENTS, {"1": {"a": 2.0, "b": 1.0}}) == 0.5
    nothing = pd.DataFrame(columns=["query_id", "doc_id", "score"])
    with pytest.warns(CoverageWarning, match="empty"):
        assert mean("NuggetR", EXAMPLE, nothing) == 0


# ---------------------------------------------------------------------------------------- lists of nuggets

LISTS = EXAMPLE[["query_id", "iteration", "importance"]].drop_duplicates()
LISTS = LISTS.rename(columns={"iteration": "nugget"})
#: Without the row that lists n4, and without importance.
QRELS = EXAMPLE[EXAMPLE["iteration"] != "n4"].drop(columns="importance")
WEIGHTED = "NuggetR(importance='weighted')@5"


def jsonl(path, lists):
    """Write lists of nuggets as nuggetizer does."""
    lines = [
        {
            "qid": topic,
            "nuggets": [{"text": row.nugget, "importance": row.importance} for row in rows.itertuples()],
        }
        for topic, rows in lists.groupby("query_id")
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("form", ["objects", *WITHOUT_TUPLES])
def test_forms_of_lists(form, tmp_path):
    path = tmp_path / "nuggets"
    lists = jsonl(path, LISTS) if form == "objects" else TABLES[form](LISTS, path)
    assert mean(WEIGHTED, QRELS, EXAMPLE_RUN, nuggets=lists) == mean(WEIGHTED) == pytest.approx(5 / 6)
    found = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(WEIGHTED)], ir_graded.with_nuggets(QRELS, lists), EXAMPLE_RUN
    )
    assert [*found.values()] == [pytest.approx(5 / 6)]


def test_a_listed_nugget_gets_an_empty_row_at_the_best_document():
    qrels = pd.DataFrame(
        {
            "query_id": "1",
            "doc_id": ["c", "b", "a"],
            "relevance": [-1, 2, 2],
            "iteration": "n",
            "probability": 1.0,
        }
    )
    lists = pd.DataFrame({"query_id": "1", "nugget": ["n", "new"], "importance": [2, "okay"]})
    found = ir_graded.with_nuggets(qrels, lists)
    assert found.iloc[:3]["importance"].tolist() == [2, 2, 2]
    last = found.iloc[3]
    assert last[["doc_id", "relevance", "iteration", "importance"]].tolist() == ["a", -1, "new", 1]
    assert pd.isna(last["probability"])
    spans = ir_graded.with_nuggets(qrels.assign(start=[1, 2, 3], length=9), lists)
    assert spans["length"].tolist() == [9, 9, 9, 0]


def test_doubtful_lists_are_warned_of():
    others = pd.DataFrame({"query_id": ["1", "2"], "nugget": ["n1", "x"], "importance": ["vital", "chief"]})
    with pytest.warns(CoverageWarning) as warned:
        assert mean("NuggetR", QRELS, EXAMPLE_RUN, nuggets=others) == 1
    text = str(warned[0].message)
    assert "1 of 2 nuggets have an importance other than vital, okay, the first 'chief'" in text
    assert "nuggets of a topic that is not in the qrels are ignored: '2'" in text
    assert "not among the given ones, in 3 rows, the first: topic '1', document 'a' (row 2)" in text
    with pytest.warns(CoverageWarning, match="not among the given ones"):
        ir_graded.with_nuggets(QRELS, others[:1])


def test_other_words_of_importance_count_in_all_only():
    qrels = EXAMPLE.assign(importance=EXAMPLE["importance"].replace("okay", "failed"))
    with pytest.warns(CoverageWarning, match="3 of 6 rows of the qrels have an importance other than vital"):
        assert mean(WEIGHTED, qrels) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mean("NuggetR@5", qrels) == 0.75


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"qrels": {"1": {"a": 1}}}, InputError, "nuggets are given, but the qrels have no column iteration"),
        ({"nugget": ["n1", "n1"]}, InputError, r"nugget 'n1' appears twice \(row 0 and row 1\)"),
        (
            {"query_id": "9"},
            NoSharedTopicsError,
            "nuggets and the qrels share no topic: the nuggets have '9'",
        ),
        (
            {"qrels": EXAMPLE},
            InputError,
            "nugget has the importance 2, but 1 in the nuggets: topic '1', nugget",
        ),
        (
            {"importance": float("inf")},
            InputError,
            "the importance is inf; it must be one of vital, okay or a level",
        ),
    ],
)
def test_wrong_lists(change, error, message):
    lists = pd.DataFrame({"query_id": "1", "nugget": ["n1", "n2"], "importance": "okay"})
    qrels = change.pop("qrels", QRELS)
    with pytest.raises(error, match=message):
        ir_graded.with_nuggets(qrels, lists.assign(**change))


def test_rows_of_a_nugget_need_one_importance():
    mixed = EXAMPLE.assign(importance=["vital", "okay", *["vital"] * 4])
    with pytest.raises(InputError, match="intent 'n1': the importance is 'okay', but 'vital' at row 0"):
        mean("NuggetR(importance='vital')", mixed)


def test_command_line_takes_lists(tmp_path, capsys):
    QRELS.to_csv(tmp_path / "qrels.csv", index=False)
    EXAMPLE_RUN.to_csv(tmp_path / "run.csv", index=False)
    lists = jsonl(tmp_path / "nuggets.jsonl", LISTS)
    paths = [str(tmp_path / "qrels.csv"), str(tmp_path / "run.csv")]
    options = ["--nuggets", str(lists), "-o", "csv"]
    code, out, _ = run_command(capsys, "evaluate", *paths, "-m", "NuggetR(importance='vital')@2", *options)
    assert (code, "0.5000" in out) == (0, True)
    code, out, _ = run_command(capsys, "explain", "NuggetR@2", *paths, "1", *options[:2])
    assert (code, "n4" in out) == (0, True)


# --------------------------------------------------------------------------------- nuggetizer's retrieval

LINES = [
    {
        "text": "q",
        "qid": "1",
        "docid": "a",
        "candidate_text": "t",
        "nuggets": [
            {"text": "x", "importance": "vital", "assignment": "support"},
            {"text": "x", "importance": "okay", "assignment": "partial_support"},
            {"text": "z", "importance": "okay", "assignment": "not_support"},
        ],
    },
    {"qid": 1, "docid": "b", "nuggets": [{"text": "x", "importance": "vital", "assignment": "Not_Support "}]},
]


def lines(path, change=lambda _: None):
    """Write output of nuggetizer with a change."""
    records = json.loads(json.dumps(LINES))
    change(records)
    path.write_text("\n\n".join(map(json.dumps, records)))
    return path


def test_retrieval_of_nuggetizer(tmp_path):
    path = lines(tmp_path / "out.jsonl")
    found = ir_graded.read_qrels(path, format="nuggetizer")
    assert found[["doc_id", "relevance", "iteration", "importance"]].to_numpy().tolist() == [
        ["a", 2, "x", "vital"], ["a", 1, "x #2", "okay"], ["a", 0, "z", "okay"], ["b", 0, "x", "vital"],
    ]  # fmt: skip
    assert mean("NuggetR@1", found, {"1": {"a": 1.0}}) == 2 / 3
    assert mean("NuggetR(rel=2)@1", found, {"1": {"a": 1.0}}) == 1 / 3
    with pytest.raises(FileFormatError, match="read the file with format='nuggetizer'"):
        ir_graded.read_qrels(path)
    other = lines(tmp_path / "other.jsonl", lambda some: some[1]["nuggets"][0].update(assignment="CFO"))
    with pytest.warns(CoverageWarning, match=r"1 assignments are other than support.* first 'CFO' \(line 3"):
        levels = ir_graded.read_qrels(other, format="nuggetizer")["relevance"]
    assert levels.tolist() == [2, 1, 0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda some: some[1]["nuggets"][0].update(importance="okay"),
            r"line 3: nuggets\[0\] has the importance",
        ),
        (lambda some: some[1]["nuggets"][0].pop("text"), r"line 3: nuggets\[0\] has no 'text'"),
        (
            lambda some: some[1].update(docid="a"),
            "line 3: topic '1', document 'a' appears twice, first at line 1",
        ),
        (lambda some: some[0].update(nuggets=4), "line 1: nuggets is 4; expected a list"),
    ],
)
def test_wrong_output_of_nuggetizer(tmp_path, change, message):
    with pytest.raises(FileFormatError, match=message):
        ir_graded.read_qrels(lines(tmp_path / "out.jsonl", change), format="nuggetizer")


# ------------------------------------------------------------------------------------- parameters and columns


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("CharR(unit='tokens')", "CharR: unit='tokens' needs a budget"),
        ("NuggetR(fit='drop')", "NuggetR: fit='drop' needs a budget"),
        ("NuggetR(partial=True,threshold=0.5)", "partial=True takes no threshold"),
        ("U(of='nuggets',gains={1:2})", "gains needs of='rows', given of='nuggets'"),
        ("U(threshold=0.5)", "threshold needs of='nuggets', given of='rows'"),
        ("U(importance='vital')", "importance needs of='nuggets', given of='rows'"),
    ],
)
def test_wrong_parameters(measure, message):
    with pytest.raises(ParameterError, match=message):
        mean(measure)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (-1, r"document 'a' \(row 0\): the column 'tokens', the unit of CharR.*, is -1; it must be a whole"),
        (1.5, "is 1.5; it must be a whole number"),
        (None, "is missing; it must be"),
        ("x", "the unit of CharR.*, 'x' is not a number"),
    ],
)
def test_wrong_costs(tokens, message):
    with pytest.raises(InputError, match=message):
        mean("CharR(budget=3,unit='tokens')", run=EXAMPLE_RUN.assign(tokens=tokens))


@pytest.mark.parametrize(
    ("measure", "qrels", "run", "message"),
    [
        (
            "CharR(budget=3,unit='chars')",
            EXAMPLE,
            EXAMPLE_RUN,
            r"'chars'; the unit of characters is 'characters'",
        ),
        ("CharR(budget=3,unit='words')", EXAMPLE, EXAMPLE_RUN, "needs the costs .* has no column words"),
        ("NuggetR(importance='vital')", QRELS, EXAMPLE_RUN, "needs the importance .*with_nuggets returns"),
        ("NuggetR", EXAMPLE, {"1": {"a": 1.0}}, "NuggetR needs passages, but the run has no columns start"),
        ("NuggetR(budget=9)", DOCUMENTS, {"1": {"a": 1.0}}, "needs passages, but the run has no columns"),
        (
            "NuggetR(budget=9)",
            EXAMPLE.rename(columns={"length": "len"}),
            EXAMPLE_RUN,
            "would score whole documents: in the qrels, the table has start but not length",
        ),
        ("NuggetR", {"1": {"a": 1}}, EXAMPLE_RUN, "no column iteration: without facts, CharR counts"),
        (
            "U",
            DOCUMENTS,
            EXAMPLE_RUN,
            "U needs passages, .*: for whole documents, give evaluate their lengths",
        ),
    ],
)
def test_missing_columns(measure, qrels, run, message):
    with pytest.raises(InputError, match=message):
        mean(measure, qrels, run)


@pytest.mark.parametrize("measure", ["NuggetR@3", "CharR@3", "U"])
def test_intervals_and_bounds_refuse_text(measure):
    for function in (ir_graded.score_intervals, ir_graded.score_bounds):
        with pytest.raises(ParameterError, match=r"needs (passages|the column).* nothing is unjudged"):
            function(measure, EXAMPLE, EXAMPLE_RUN)


def test_runs_that_fill_a_budget_to_different_shares_are_warned_of():
    gold = pd.DataFrame({"query_id": ["1"], "doc_id": "a", "relevance": 1, "start": 0, "length": 90})
    rows = [gold.assign(score=1.0, length=size) for size in (20, 90)]
    runs = dict(zip(("short", "long"), rows, strict=True))
    words = "budget of CharR.budget=100. alike: 'short' fills 20% of it on average, 'long' 90%"
    with pytest.warns(CoverageWarning, match=words):
        ir_graded.evaluate("CharR(budget=100)", gold, runs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ir_graded.evaluate(["CharR(budget=20)", "CharR(budget=100)@1"], gold, runs)
    words = "'long' fills 0% of it on average, 'short' 67%; retrieve more rows .*: fit='drop' leaves them"
    with pytest.warns(CoverageWarning, match=words):
        ir_graded.evaluate("CharR(budget=30,fit='drop')", gold, {**runs, "empty": rows[0][:0]})
