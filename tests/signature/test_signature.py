"""Signatures: equal rows have equal hashes in any order and form, every change gives another one."""

import copy
import json
import pickle
from dataclasses import replace

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ecosystem import forms
from helpers import covid_sample, rows_of, trec_lines
from hypothesis import given, strategies as st

import ir_graded
from ir_graded import CoverageWarning, GradedError, Scores
from ir_graded.evaluation import signature as module
from ir_graded.evaluation.signature import rows_hash
from ir_graded.io import table

QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"d": 1}}
RUN = {"1": {"a": 1.5, "x": 1.0, "b": 0.5}, "2": {"d": 2.0}}
ROWS = {"qrels": forms.QRELS, "run": forms.RUN}
ITERATORS = {"generator", "itertuples"}


def evaluated(qrels=QRELS, run=RUN, measures=("Q", "AP"), **options):
    return ir_graded.evaluate([*measures], qrels, {"bm25": run}, **options)


@pytest.fixture
def calls(monkeypatch):
    """Return the list of the kinds of sources that were hashed."""
    found = []

    def counted(kind, *more):
        found.append(kind)
        return rows_hash(kind, *more)

    monkeypatch.setattr(module, "rows_hash", counted)
    return found


ROW = st.tuples(
    st.sampled_from("123"), st.text("ab\u00e91", min_size=1, max_size=3), st.floats(-9, 9, width=32)
)


@pytest.mark.slow
@given(st.lists(ROW, min_size=1, unique_by=lambda row: row[:2]), st.randoms(use_true_random=False))
def test_order_has_no_effect_and_each_changed_value_has(rows, random):
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    expected = rows_hash("run", frame)
    shuffled = random.sample(rows, len(rows))
    assert rows_hash("run", pd.DataFrame(shuffled, columns=frame.columns)) == expected
    row, column = random.randrange(len(rows)), random.choice(frame.columns)
    changed = frame.copy()
    changed.loc[row, column] = 10.0 if column == "score" else f"{frame.loc[row, column]}x"
    assert rows_hash("run", changed) != expected
    assert rows_hash("run", frame.drop(index=row)) != expected


def test_ids_do_not_run_into_each_other():
    one, other = [("1", "ab", 1.0), ("1", "c", 1.0)], [("1", "a", 1.0), ("1", "bc", 1.0)]
    assert len({rows_hash("run", forms.dicts("run", rows)) for rows in (one, other)}) == 2


def test_the_size_of_pieces_has_no_effect(monkeypatch):
    expected = rows_hash("run", RUN)
    monkeypatch.setattr(module, "_PIECE", 3)
    assert rows_hash("run", RUN) == expected


def test_scores_count_as_doubles():
    different = [rows_hash("run", {"1": {"a": v}}) for v in (0.1, float(np.float32(0.1)), 0.1 + 1e-12)]
    assert len({*different}) == len(different)
    assert rows_hash("qrels", {"1": {"a": 0.1 + 1e-12}}) != rows_hash("qrels", {"1": {"a": 0.1}})
    assert rows_hash("run", {"1": {"a": -0.0}}) == rows_hash("run", {"1": {"a": 0.0}})


def test_hashes_do_not_depend_on_the_process_or_the_version_of_libraries():
    """These values are in saved files: a change makes all of them differ."""
    assert rows_hash("qrels", QRELS) == "5c0c8c1cbb04a381"
    assert rows_hash("run", RUN) == "dfafb2e1d518d306"


def test_positions_of_passages_count():
    columns = {"query_id": ["1", "1"], "doc_id": ["a", "a"], "score": [2.0, 1.0]}
    frame = pd.DataFrame({**columns, "start": [0, 5], "length": [3, 3]})
    hashes = {rows_hash("run", one) for one in (frame, frame.assign(start=[0, 6]), frame.assign(length=3.0))}
    assert len(hashes) == 2


def intents(**changed):
    columns = {"query_id": ["1", "1", "1"], "doc_id": ["a", "b", "b"], "relevance": [1, 2, 1]}
    columns |= {"iteration": ["x", "x", "y"], "probability": [0.75, 0.75, 0.25]}
    return pd.DataFrame(columns | changed)


@pytest.mark.slow
def test_further_columns_count_where_a_measure_uses_them():
    run = {"1": {"a": 1.0, "b": 2.0}}

    def of(measure, frame):
        return ir_graded.evaluate(measure, frame, run).signature.qrels

    other = intents(probability=[0.5, 0.5, 0.5])
    with pytest.warns(UserWarning, match="different levels"):
        assert of("Q", intents()) == of("Q", other)
    assert of("I-rec", intents()) != of("I-rec", intents(doc_id=["a", "b", "a"]))
    assert of("D-nDCG@10", intents()) != of("D-nDCG@10", other)
    assert of("D-nDCG@10", intents()) == of("D-nDCG@10", intents().sample(frac=1, random_state=1))


def test_intents_of_an_option_have_the_hash_of_their_columns():
    given, probabilities = intents().drop(columns="probability"), {"1": {"x": 0.75, "y": 0.25}}
    run = {"1": {"a": 1.0, "b": 2.0}}
    by_option = ir_graded.evaluate("D-nDCG@10", given, run, intents=probabilities).signature
    in_columns = ir_graded.evaluate("D-nDCG@10", ir_graded.with_intents(given, probabilities), run).signature
    assert by_option.qrels == in_columns.qrels is not None
    assert (by_option.options["intents"], in_columns.options["intents"]) == (True, False)
    assert "|intents:yes|" in by_option.short


def test_shares_of_groups_and_classes_count():
    run = {"1": {"a": 1.0, "b": 2.0}}

    def of(shares):
        qrels = ir_graded.with_groups({"1": {"a": 2, "b": 1}}, {"SIZE": {"1": shares}})
        return ir_graded.evaluate("GF(groups='SIZE')@2", qrels, run).signature.qrels

    one, other = {"a": [1, 0], "b": [0.5, 0.5]}, {"a": [1, 0], "b": [0.25, 0.75]}
    assert None not in {of(one), of(other)}
    assert of(one) == of(dict(reversed(one.items()))) != of(other)


def test_the_iteration_of_a_file_without_intents_says_nothing(tmp_path):
    """Measures that others define may look at intents, so the column is read."""
    path = tmp_path / "q.txt"
    path.write_text(trec_lines("qrels", rows_of(QRELS)))
    other = ir_measures.define_byquery(lambda _qrels, _run: 0.5, name="half")
    of_file, of_dict = (evaluated(source, measures=[other]).signature.qrels for source in (path, QRELS))
    assert of_file == of_dict is not None


def test_no_hash_is_computed_unless_it_is_needed(calls):
    scores = evaluated()
    _ = scores.mean(), scores.matrix("Q"), scores.coverage, scores.to_markdown(), scores.to_frame()
    assert calls == []
    assert scores.signature.qrels
    assert sorted(calls) == ["qrels", "run"]
    _ = scores.signature, scores.to_json(), pickle.dumps(scores)
    assert len(calls) == 2


@pytest.mark.parametrize("form", sorted(ITERATORS))
def test_a_source_that_is_read_once_has_no_hash(form):
    run = forms.FORMS[form].make("run", rows_of(RUN))
    signature = ir_graded.evaluate("Q", QRELS, {"once": run, "dict": RUN}).signature
    assert (signature.runs["once"], signature.all_runs) == (None, None)
    assert signature.runs["dict"] == rows_hash("run", RUN)
    assert "|runs:unknown|" in signature.short
    assert "|runs:unknown|" in str(signature)


def test_dicts_have_one_hash_with_and_without_polars(monkeypatch):
    """A process that was forked after Polars had started its threads cannot use it."""
    qrels = {"b": {"x": 1, "é": -0.0, "\U0001f600": 2}, "a": {"": 0.5, "\uffee": 1}, "c": {}}
    run = {topic: {doc: level / 3 for doc, level in docs.items()} for topic, docs in qrels.items()}
    expected = [rows_hash(kind, source) for kind, source in (("qrels", qrels), ("run", run), ("run", {}))]
    monkeypatch.setattr(table, "check_fork", fails)
    assert [rows_hash("qrels", qrels), rows_hash("run", run), rows_hash("run", {})] == expected


def fails():
    raise GradedError("this process was forked")


def test_ids_with_lone_surrogates_have_hashes():
    half = "a\ud800"
    signatures = [
        ir_graded.evaluate("Q", {topic: {doc: 1}}, {topic: {doc: 1.0}}).signature
        for topic, doc in (("1", half), (half, "1"), (half, "a"))
    ]
    found = {(one.qrels, *one.runs.values(), one.topics_hash) for one in signatures}
    assert len(found) == 3
    assert all(None not in one for one in found)


def test_a_hash_that_cannot_be_computed_has_a_warning(monkeypatch):
    frame = pd.DataFrame(rows_of(RUN), columns=["query_id", "doc_id", "score"])
    scores = ir_graded.evaluate("Q", QRELS, {"frame": frame, "dict": RUN})
    monkeypatch.setattr(table, "check_fork", fails)
    with pytest.warns(CoverageWarning, match="lacks the hashes of some inputs: this process was forked"):
        signature = scores.signature
    assert signature.runs["frame"] is None
    assert signature.qrels == rows_hash("qrels", QRELS)
    assert signature.runs["dict"] == rows_hash("run", RUN)


@pytest.mark.parametrize("change", ["rewrite", "remove"])
def test_a_file_that_changed_after_evaluation_has_no_hash(tmp_path, change):
    path = tmp_path / "r.run"
    path.write_text("1 Q0 a 1 2.0 t\n2 Q0 d 1 2.0 t\n")
    scores = evaluated(run=path)
    path.write_text("1 Q0 a 1 2.25 t\n2 Q0 d 1 2.0 t\n") if change == "rewrite" else path.unlink()
    assert scores.signature.runs == {"bm25": None}
    assert scores.signature.qrels is not None


def test_saved_pickled_and_copied_scores_keep_the_signature():
    scores = evaluated(ties="expected")
    for again in (
        pickle.loads(pickle.dumps(evaluated(ties="expected"))),  # noqa: S301  # own bytes
        copy.deepcopy(scores),
        copy.copy(scores),
        Scores.from_json(scores.to_json()),
        Scores.from_json(Scores.from_json(scores.to_json()).to_json()),
    ):
        assert again.signature == scores.signature
    assert scores.signature.to_dict() == json.loads(scores.to_json())["signature"]


def test_pickles_hold_hashes_instead_of_sources(tmp_path):
    path = tmp_path / "r.run"
    path.write_text("1 Q0 a 1 2.0 t\n2 Q0 d 1 2.0 t\n")
    scores = evaluated({"1": {"long-id-of-a-document": 1}, "2": {"d": 1}}, path)
    pickled = pickle.dumps(scores)
    path.unlink()
    assert b"long-id-of-a-document" not in pickled
    again = pickle.loads(pickled).signature  # noqa: S301  # own bytes
    assert again == scores.signature
    assert again.runs["bm25"] == rows_hash("run", {"1": {"a": 2.0}, "2": {"d": 2.0}})


def test_the_versions_of_a_signature_are_those_that_computed_the_scores():
    content = json.loads(evaluated().to_json())
    content["signature"]["versions"]["ir_graded"] = "0.0.1"
    assert Scores.from_json(json.dumps(content)).signature.versions["ir_graded"] == "0.0.1"
    del content["signature"]
    content["written_by"]["ir_graded"] = "0.0.2"
    old = Scores.from_json(json.dumps(content)).signature
    assert (old.versions["ir_graded"], old.qrels, old.runs, old.options) == (
        "0.0.2",
        None,
        {"bm25": None},
        {},
    )


def test_parts_of_scores_have_the_hashes_of_their_runs():
    scores = ir_graded.evaluate(["Q", "AP"], QRELS, {"a": RUN, "b": {"1": {"x": 1.0}, "2": {"d": 1.0}}})
    part = replace(scores, runs=("b",), measures=scores.measures[1:], values=scores.values[1:, 1:])
    assert part.signature.runs == {"b": scores.signature.runs["b"]}
    assert part.signature.measures == ("AP",)


def test_scores_without_qrels_have_no_hashes():
    signature = Scores(("a",), evaluated().measures, (1,), np.zeros((2, 1, 1))).signature
    assert (signature.qrels, signature.runs, signature.topics) == (None, {"a": None}, 1)
    assert signature.short.endswith("|Q,AP|qrels:unknown|runs:unknown|ties:unknown|topics:1")


def test_the_short_form_names_options_that_are_not_the_default():
    usual = evaluated().signature.short
    assert usual.split("|")[0] == f"ir_graded {ir_graded.__version__}"
    assert [part.partition(":")[0] for part in usual.split("|")[2:]] == ["qrels", "runs", "ties", "topics"]
    assert "|ties:expected|" in evaluated(ties="expected").signature.short
    assert replace(evaluated().signature, seed=7).short == f"{usual}|seed:7"
    rows = pd.DataFrame({"query_id": "1", "doc_id": ["a"], "score": 1.0, "start": 0, "length": 3})
    qrels = rows.rename(columns={"score": "relevance"})
    short = [ir_graded.evaluate("Q", qrels, rows, **one).signature.short for one in (
        {"ranks": "rows"}, {"lengths": {"a": 3}, "beyond": "raise"})]  # fmt: skip
    assert [one.partition("|ties:doc_id|")[2] for one in short] == [
        "ranks:rows|topics:1", "beyond:raise|lengths:yes|topics:1"]  # fmt: skip


def test_names_and_order_of_runs_have_no_effect_on_the_hash_of_all():
    other = {"1": {"x": 1.0}, "2": {"d": 1.0}}
    one = ir_graded.evaluate("Q", QRELS, {"a": RUN, "b": other}).signature
    two = ir_graded.evaluate("Q", QRELS, {"x": other, "y": RUN}).signature
    assert one.all_runs == two.all_runs
    assert one.all_runs != ir_graded.evaluate("Q", QRELS, {"a": RUN}).signature.all_runs


def test_topics_count_as_text_in_any_order():
    def of(qrels):
        return ir_graded.evaluate("Q", qrels, RUN).signature

    assert of({1: {"a": 1}, 2: {"d": 1}}).topics_hash == of({"2": {"d": 1}, "1": {"a": 1}}).topics_hash
    assert of({"1": {"a": 1}}).topics_hash != of({"2": {"d": 1}}).topics_hash


def test_the_line_has_no_line_break_and_all_parts():
    text = str(evaluated().signature)
    assert text.isprintable()
    names = ["ir_graded", "ir_measures", "measures", "number", "qrels", "runs", "ties", "ranks", "beyond"]
    names += ["precision", "intents", "nuggets", "lengths", "topics"]
    assert [part.replace(" ", ":").split(":")[0] for part in text.split("|")] == names


def test_weights_have_a_hash_that_does_not_depend_on_their_order():
    scores = evaluated()
    plain = scores.to_latex().splitlines()[-2]
    assert plain == f"% {scores.signature}"
    lines = [scores.to_latex(weights=one).splitlines()[-2] for one in (
        {"1": 2, "2": 3}, {2: 3.0, 1: 2.0, 9: 5}, {"1": 3, "2": 2})]  # fmt: skip
    assert lines[0] == lines[1] != lines[2]
    assert lines[0].startswith(f"{plain}|weights:")
    assert len(lines[0]) == len(plain) + len("|weights:") + 16


def test_weights_in_json_are_read_and_written_again():
    content = json.loads(evaluated().to_json())
    assert content["signature"]["weights"] is None
    content["signature"]["weights"] = "0123456789abcdef"
    read = Scores.from_json(json.dumps(content))
    assert json.loads(read.to_json()) == content
    assert read.signature.short.endswith("|weights:01234567")


def test_latex_has_the_signature_as_a_comment_inside_the_table():
    scores = ir_graded.evaluate("Q", covid_sample().qrels, dict([*covid_sample().runs.items()][:2]))
    lines = scores.to_latex().splitlines()
    assert lines[-2:] == [f"% {scores.signature}", r"\end{table}"]
    tested = scores.to_latex(baseline=scores.runs[0], rng=3).splitlines()
    assert tested[-2] == f"% {scores.signature}|seed:3"


def test_estimates_say_that_they_are_estimates():
    qrels = pd.DataFrame(
        {"query_id": "1", "doc_id": [*"abc"], "relevance": [1, 0, 1], "iprob": [1, 0.5, 0.5]}
    )
    found = ir_graded.score_estimates("AP", qrels, {"1": {"a": 2.0, "b": 1.0}}).scores.signature
    assert found.options["estimates"] is True
    assert "|estimates:yes" in found.short
    other = ir_graded.score_estimates("AP", qrels.assign(iprob=[1.0, 0.5, 0.25]), {"1": {"a": 2.0, "b": 1.0}})
    assert None is not found.qrels != other.scores.signature.qrels is not None
