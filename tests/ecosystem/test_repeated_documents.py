"""Runs that repeat documents score as runs with the row that counts, kept by plain Python."""

import gc
import json
import time
import weakref
from html import unescape
from pathlib import Path

import helpers
import numpy as np
import pandas as pd
import pytest
from helpers import dicts, quietly, trec_lines
from hypothesis import given, strategies as st

import ir_graded
from ecosystem import forms
from ir_graded import evaluate
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.io.table import Table

MEASURES = "Q AP nDCG@2 RR"
QRELS = dicts(forms.QRELS)
#: Repetitions with a higher, a lower and the same score, side by side or not, also in a topic without qrels.
ROWS = [
    ("101", "2", 1.0), ("101", "9", 2.0), ("101", "9", 5.0), ("101", "50", 4.0), ("101", "2", 9.0),
    ("102", "10", 3.0), ("102", "9", 3.0), ("101", "2", 0.0), ("102", "10", 3.0), ("999", "9", 1.0),
    ("999", "9", 7.0),
]  # fmt: skip
LEFT_OUT = 5
#: All forms that can repeat a document and have scores, in the order of the rows.
FORMS = {
    name: form.make
    for name, form in forms.ALL.items()
    if "run" in form.kinds
    and form.holds is not forms.ranking
    and name not in {*forms.NESTED, "pandas in disorder"}
}
KEPT = pytest.mark.parametrize("kept", ["first", "best"])


def without_repetitions(rows, kept):
    """Return the rows that count, in their order; a row is (topic, document, score, ...)."""
    found = {}
    for row in rows:
        before = found.setdefault(row[:2], row)
        if kept == "best" and row[2] > before[2]:
            found[row[:2]] = row
    return [row for row in dict.fromkeys(rows) if found[row[:2]] is row]


def note(kept, left_out=LEFT_OUT):
    counts = f"only the {kept} row of each counts (rows left out: {left_out})."
    return f"repeats documents in a topic: with duplicates={kept!r} {counts}"


def test_the_reference_keeps_these_rows():
    assert without_repetitions(ROWS, "first") == [ROWS[at] for at in (0, 1, 3, 5, 6, 9)]
    assert without_repetitions(ROWS, "best") == [ROWS[at] for at in (2, 3, 4, 5, 6, 10)]


@KEPT
@pytest.mark.parametrize("form", FORMS)
def test_every_form_scores_and_counts_as_the_rows_kept_by_hand(form, kept, tmp_path):
    make = FORMS[form]
    with pytest.raises(InputError, match=r"appears twice, .*as evaluate and read_run do with duplicates='"):
        evaluate(MEASURES, QRELS, make("run", ROWS, tmp_path))
    expected = quietly(evaluate, MEASURES, QRELS, dicts(without_repetitions(ROWS, kept)))
    with pytest.warns(CoverageWarning) as said:
        found = evaluate(MEASURES, QRELS, {"x": make("run", ROWS, tmp_path)}, duplicates=kept)
    assert found.values.tolist() == expected.values.tolist()
    ((text, place),) = ((str(one.message), one.filename) for one in said)
    assert f"Run 'x' {note(kept)}" in text
    assert place == __file__
    assert found.signature.runs["x"] in {None, expected.signature.runs["run"]}


_IDS = st.sampled_from("ab")
_RUNS = st.lists(st.tuples(_IDS, _IDS, st.sampled_from([-1.0, -0.0, 0.0, 2.0])), min_size=1, max_size=9)


@KEPT
@given(rows=_RUNS)
def test_any_rows_score_as_those_kept_by_hand(rows, kept):
    qrels = {"a": {"a": 2, "b": 1}, "b": {"b": 1}}
    expected = without_repetitions([(*row, at) for at, row in enumerate(rows)], kept)  # none are equal
    found = quietly(ir_graded.read_run, helpers.frame("run", rows), duplicates=kept)
    assert [*found.itertuples(index=False, name=None)] == [row[:3] for row in expected]
    found = quietly(evaluate, MEASURES, qrels, helpers.frame("run", rows), duplicates=kept)
    expected = dicts([row[:3] for row in expected])
    assert found.values.tolist() == quietly(evaluate, MEASURES, qrels, expected).values.tolist()


@KEPT
def test_rows_keep_their_positions_and_ranks(kept):
    rows = [
        ("1", "a", 1.0, 4),
        ("1", "b", 2.0, 3),
        ("1", "a", 2.0, 2),
        ("1", "c", 2.0, 1),
        ("1", "b", 2.0, 9),
    ]
    names = ["query_id", "doc_id", "score", "position"]
    qrels = {"1": {"a": 1, "b": 2}}
    expected = pd.DataFrame(without_repetitions(rows, kept), columns=names)
    found = quietly(evaluate, MEASURES, qrels, pd.DataFrame(rows, columns=names), duplicates=kept)
    assert found.values.tolist() == quietly(evaluate, MEASURES, qrels, expected).values.tolist()
    kept_rows = quietly(ir_graded.read_run, pd.DataFrame(rows, columns=names), duplicates=kept)
    assert kept_rows["position"].tolist() == expected["position"].tolist()
    ranked = [{"query_id": 1, "doc_id": doc, "rank": rank} for doc, rank in (("a", 3), ("b", 2), ("a", 1))]
    found = quietly(ir_graded.read_run, ranked, duplicates=kept)
    assert dict(zip(found["doc_id"], found["position"], strict=True)) == {
        "a": {"first": 3, "best": 1}[kept],
        "b": 2,
    }


@KEPT
@pytest.mark.parametrize("in_file", [False, True])
def test_lists_and_responses_keep_the_document_at_its_first_position(kept, in_file, tmp_path):
    hits = [{"_id": doc, "_score": 1.0} for doc in "aba"]
    for given_run in ({"1": ["a", "b", "a"]}, {"1": {"took": 1, "hits": {"hits": hits}}}):
        run = given_run
        if in_file:
            run = tmp_path / "run.json"
            run.write_text(json.dumps(given_run))
        found = quietly(evaluate, MEASURES, {"1": {"b": 1}}, run, duplicates=kept)
        assert found.values.tolist() == evaluate(MEASURES, {"1": {"b": 1}}, {"1": ["a", "b"]}).values.tolist()


def test_a_missing_score_of_a_repeated_document_is_an_error_if_the_best_counts():
    rows = [("1", "a", 1.0), ("1", "a", np.nan)]
    with pytest.raises(InputError, match=r"document 'a' \(row 1\): the score is missing"):
        evaluate("Q", {"1": {"a": 1}}, helpers.frame("run", rows), duplicates="best")


@KEPT
def test_passages_and_qrels_repeat_documents_as_without_the_option(kept):
    spans = helpers.frame("run", [("1", "a", 2.0, 0, 5), ("1", "a", 1.0, 7, 5)])
    gold = helpers.frame("qrels", [("1", "a", 1, 0, 5), ("1", "a", 1, 20, 5)])
    expected = evaluate("CharF IoU", gold, spans)
    found = evaluate("CharF IoU", gold, spans, duplicates=kept)
    assert found.values.tolist() == expected.values.tolist()
    assert not found.coverage_notes
    levels = helpers.frame("qrels", [("1", "a", 1), ("1", "a", 2)])
    with pytest.raises(InputError, match=r"has level .* keep one of the rows \(only passages"):
        evaluate("Q", levels, {"1": {"a": 1.0}}, duplicates=kept)


@KEPT
def test_documents_count_as_passages_after_repetitions_are_left_out(kept):
    lengths = dict.fromkeys(("2", "9", "10", "50"), 7)
    qrels = {"101": {"2": 1, "9": 1}}
    expected = quietly(evaluate, "CharP@2", qrels, dicts(without_repetitions(ROWS, kept)), lengths=lengths)
    frame = helpers.frame("run", ROWS)
    with pytest.warns(CoverageWarning, match=f"left out: {LEFT_OUT}"):
        found = evaluate("CharP@2", qrels, frame, lengths=lengths, duplicates=kept)
    assert found.values.tolist() == expected.values.tolist()
    assert found.signature.runs == expected.signature.runs


def files(folder, number, rows=ROWS):
    """Return the paths of runs that are all alike, but for the first row of a topic."""
    paths = [folder / f"{at}.run" for at in range(number)]
    for at, path in enumerate(paths):
        path.write_text(trec_lines("run", [*rows, ("103", f"{at}", 1.0)]))
    return paths


@pytest.fixture
def alive(monkeypatch):
    """The number of tables with repetitions that are in memory as another one is read."""
    left_out, seen, found = Table.without_repetitions, [], []

    def watched(table, kept):
        kept_rows = left_out(table, kept)
        if kept != "raise":
            deadline = time.monotonic() + 2
            while any(one() is not None for one in seen) and time.monotonic() < deadline:
                gc.collect()  # a thread may be about to end
            found.append(sum(one() is not None for one in seen))
            seen.extend(weakref.ref(one) for one in (table.value, kept_rows.value))
        return kept_rows

    monkeypatch.setattr(Table, "without_repetitions", watched)
    return found


def test_several_files_are_counted_each_and_held_one_at_a_time(tmp_path, alive):
    paths = files(tmp_path, 5)
    with pytest.warns(CoverageWarning) as said:
        found = evaluate(MEASURES, QRELS, paths, duplicates="first")
    assert alive == [0] * len(paths)
    text = str(said.pop().message)
    assert [f"Run '{at}.run' {note('first')}" in text for at in range(5)] == [True] * 3 + [False] * 2
    assert "2 more runs repeat documents." in text
    assert len(set(found.signature.runs.values())) == len(paths)


def test_a_report_counts_repetitions_and_shows_the_option(tmp_path, alive):
    page = tmp_path / "page.html"
    quietly(ir_graded.report, "Q", QRELS, files(tmp_path, 3), page, duplicates="best")
    assert {*alive} == {0}
    text = unescape(page.read_text())
    assert f"Run '1.run' {note('best')}" in text
    assert "duplicates='best'" in text.partition("ir_graded.report(")[2].partition("</")[0]


@KEPT
def test_a_comparison_takes_the_option(kept, tmp_path):
    one, two = files(tmp_path, 2)
    qrels = {topic: QRELS[topic] for topic in ("101", "102", "103")}
    with pytest.raises(InputError, match="appears twice"):
        ir_graded.compare_runs(MEASURES, qrels, one, two)
    rows = {"1.run": dicts([*without_repetitions(ROWS, kept), ("103", "1", 1.0)])}
    found, expected = (
        quietly(ir_graded.compare_runs, MEASURES, qrels, one, other, duplicates=kept, n_resamples=9)
        for other in (two, rows)
    )
    assert found.to_frame().equals(expected.to_frame())


def test_other_words_are_rejected(tmp_path):
    calls = (
        lambda word: evaluate("Q", "no.qrels", ROWS, duplicates=word),
        lambda word: ir_graded.compare_runs("Q", "no.qrels", {"1": {"a": 1.0}}, {"b": {}}, duplicates=word),
        lambda word: ir_graded.report("Q", "no.qrels", {"a": {}}, tmp_path / "page", duplicates=word),
        lambda word: ir_graded.read_run(helpers.frame("run", ROWS), duplicates=word),
    )
    for call in calls:
        for word in ("last", 1, ["first"]):
            message = r"^duplicates=.* must be one of (None|'raise'), 'first', 'best'"
            with pytest.raises(ParameterError, match=message):
                call(word)
    with pytest.raises(ParameterError, match="duplicates='raise' must be one of None, 'first', 'best'"):
        calls[-1]("raise")
    scores = evaluate("Q", {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0}})
    with pytest.raises(ParameterError, match="a page of Scores takes no duplicates"):
        ir_graded.report(scores, path=tmp_path / "page", duplicates="best")


def test_read_run_keeps_all_rows_by_default():
    frame = helpers.frame("run", ROWS)
    assert ir_graded.read_run(frame).equals(frame)
    with pytest.warns(CoverageWarning) as said:
        ir_graded.read_run(frame, duplicates="best")
    assert [(str(one.message), one.filename) for one in said] == [(f"The run {note('best')}", __file__)]


@KEPT
def test_the_signature_has_the_option_and_the_hash_of_the_rows_that_count(kept):
    frame, rows = helpers.frame("run", ROWS), helpers.frame("run", without_repetitions(ROWS, kept))
    scores = quietly(evaluate, "Q", QRELS, frame, duplicates=kept)
    usual = quietly(evaluate, "Q", QRELS, rows).signature
    assert scores.signature.runs == usual.runs
    assert "duplicates" not in usual.options  # as in files that were saved without the option
    assert scores.signature.options == usual.options | {"duplicates": kept}
    assert all(f"|duplicates:{kept}|" in text for text in (scores.signature.short, str(scores.signature)))
    saved = ir_graded.Scores.from_json(scores.to_json())
    assert saved.signature == scores.signature
    for run in (frame, rows):
        assert quietly(ir_graded.verify, saved, QRELS, run).agrees
    other = {"first": "best", "best": "first"}[kept]
    changed = ir_graded.Scores.from_json(scores.to_json().replace(f'"{kept}"', f'"{other}"'))
    assert not quietly(ir_graded.verify, changed, QRELS, frame).agrees
    unknown = ir_graded.Scores.from_json(scores.to_json().replace(f'"{kept}"', '"last"'))
    with pytest.raises(ParameterError, match="duplicates='last' must be"):
        ir_graded.verify(unknown, QRELS, frame)


def test_commands_take_the_option(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(trec_lines("qrels", forms.QRELS))
    Path("x.run").write_text(trec_lines("run", ROWS))
    Path("x.json").write_text('{"took": 1, "responses": [{"hits": {"hits": [{"_id": "9"}, {"_id": "9"}]}}]}')
    Path("ids").write_text("101\n")
    usual = helpers.run_command(capsys, "evaluate", "qrels", "x.run", "-m", "Q")
    helpers.assert_command_fails(usual, "one of the rows, as `ir_graded evaluate --duplicates first` does")
    for more in (("x.run",), ("x.json", "--query-ids", "ids")):
        call = ("evaluate", "qrels", *more, "-m", "Q", "--duplicates", "best", "--save", "s.json")
        code, _, said = helpers.run_command(capsys, *call)
        assert (code, "repeats documents in a topic: with --duplicates best only" in said) == (0, True)
        assert helpers.run_command(capsys, "verify", "s.json", "qrels", *more, "--quiet")[0] == 0
    bounds = ("-m", "Q", "--unjudged", "bounds", "--duplicates", "first")
    refused = helpers.run_command(capsys, *call[:3], *bounds)
    helpers.assert_command_fails(refused, "--unjudged supports only", "and --duplicates")
