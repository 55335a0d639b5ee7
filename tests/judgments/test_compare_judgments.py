"""``compare_judgments``: agreement of qrels, conclusions on runs, and errors."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample

import ir_graded
from ir_graded import meta
from ir_graded.errors import CoverageWarning, InputError, NoSharedTopicsError, ParameterError

MEASURES = ["AP", "Q", "nDCG(judged_only=True)@10", "Bpref", "gRBP(p=0.8)", "P@5"]


@pytest.fixture(scope="module")
def collection():
    covid = covid_sample()
    runs = {f"run {at}": run for at, run in enumerate(list(covid.runs.values())[:6])}
    rng = np.random.default_rng(3)
    other = covid.qrels.sample(frac=0.9, random_state=1).reset_index(drop=True)
    moved = rng.random(len(other)) < 0.2
    other.loc[moved, "relevance"] = rng.integers(-1, 3, moved.sum())
    return covid.qrels, other[other["query_id"] != "7"], runs


@pytest.mark.slow
def test_scores_equal_evaluate_with_each_set(collection):
    qrels, other, runs = collection
    found = ir_graded.compare_judgments(qrels, other, MEASURES, runs, n_resamples=30)
    expected = [ir_graded.evaluate(MEASURES, judgments, runs) for judgments in (qrels, other)]
    by_hand = meta.conclusions(*expected, n_resamples=30)
    ours = found.conclusions["b"]
    assert ours.dropped_a == ("7",)
    assert (ours.means_a == by_hand.means_a).all()
    assert (ours.means_b == by_hand.means_b).all()
    pd.testing.assert_frame_equal(ours.to_frame(), by_hand.to_frame())
    assert list(found.to_frame().index.names) == ["judgments", "measure"]


@pytest.mark.slow
def test_shared_pairs_compare_labels_without_coverage(collection):
    qrels, other, runs = collection
    found = ir_graded.compare_judgments(qrels, other, ["AP", "Q"], runs, pairs="shared", test="t")
    both = qrels.merge(other[["query_id", "doc_id"]], on=["query_id", "doc_id"])
    again = other.merge(qrels[["query_id", "doc_id"]], on=["query_id", "doc_id"])
    expected = [ir_graded.evaluate(["AP", "Q"], judgments, runs) for judgments in (both, again)]
    pd.testing.assert_frame_equal(
        found.conclusions["b"].to_frame(), meta.conclusions(*expected, test="t").to_frame()
    )
    subset = ir_graded.compare_judgments(qrels, both, ["AP"], runs, pairs="shared", test="t")
    assert subset.conclusions["b"].to_frame()["bias"].tolist() == [0]


def test_agreement_equals_the_coefficients_of_the_label_table(collection):
    qrels, other, _ = collection
    found = ir_graded.compare_judgments(qrels, {"x": other, "y": qrels}, n_resamples=20).agreement
    keys = ["query_id", "doc_id"]
    table = qrels.set_index(keys)[["relevance"]].set_axis(["a"], axis=1)
    table["x"] = other.set_index(keys)["relevance"].clip(lower=0)
    table["y"] = table["a"]
    expected = meta.agreement(table.clip(lower=0), reference="a", n_resamples=20)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert found.to_frame().query("b == 'y'")["value"].eq(1).all()
    assert found.sets == ("a", "x", "y")


@pytest.mark.slow
def test_several_sets_are_compared_one_by_one(collection):
    qrels, other, runs = collection
    found = ir_graded.compare_judgments(qrels, {"x": other, "y": qrels}, "AP", runs, test="t")
    alone = ir_graded.compare_judgments(qrels, other, "AP", runs, test="t")
    assert found.to_frame().loc["x"].to_dict() == alone.to_frame().loc["b"].to_dict()
    assert found.to_frame().loc[("y", "AP"), "recall"] == 1


A = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"d": 1, "e": 0}, "3": {"f": 1}}
RUNS = {
    "x": {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 1.0}},
    "y": {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0, "d": 0.5}},
}


def test_maps_convert_to_one_scale():
    stretched = {topic: {doc: 10 * level for doc, level in docs.items()} for topic, docs in A.items()}
    maps = {"b": {0: 0, 10: 1, 20: 2}}
    found = ir_graded.compare_judgments(A, stretched, maps=maps, n_resamples=5)
    assert found.agreement.to_frame()["value"].eq(1).all()
    with pytest.raises(InputError, match="maps: 'b' has the level 20, which is missing in its map"):
        ir_graded.compare_judgments(A, stretched, maps={"b": {0: 0, 10: 1}})
    with pytest.raises(ParameterError, match="maps='c' must be one of 'a', 'b'"):
        ir_graded.compare_judgments(A, stretched, maps={"c": {0: 0}})


def test_negative_levels_agree_with_zero():
    found = ir_graded.compare_judgments(A, {"1": {"a": 2, "b": -2, "c": 1}, "2": {"d": 1}}, n_resamples=5)
    assert found.agreement.to_frame()["value"].eq(1).all()


def test_unjudged_documents_of_a_sample_are_not_compared():
    rows = [("1", "a", 2, "1"), ("1", "b", -1, "1"), ("1", "c", 0, "1"), ("2", "d", 1, "1")]
    sample = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "stratum"])
    found = ir_graded.compare_judgments(sample, {"1": {"a": 2, "b": 1, "c": 0}, "2": {"d": 1}}, n_resamples=5)
    assert found.agreement.confusion().to_numpy().sum() == 3
    assert found.agreement.to_frame()["value"].eq(1).all()


def test_equal_sets_of_one_level_agree():
    one = {"1": {"a": 1, "b": 1}, "2": {"c": 1}}
    for others in (one, {"b": one, "c": one}):
        found = ir_graded.compare_judgments(one, others, n_resamples=2).agreement.to_frame()
        assert (found[["value", "low", "high"]] == 1).all(axis=None)
        assert not found["undefined"].any()


def test_file_names_name_the_sets(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    one, two = (str(tmp_path / folder / "qrels") for folder in ("one", "two"))
    assert ir_graded.compare_judgments(one, two, n_resamples=2).agreement.sets == ("a", "qrels")
    (tmp_path / "llm").write_text("1 0 a 1\n1 0 b 1\n")
    found = ir_graded.compare_judgments(one, [two, str(tmp_path / "llm")], n_resamples=2)
    assert found.agreement.sets == ("a", "qrels", "llm")


def test_missing_topics_of_runs_cause_a_warning():
    with pytest.warns(CoverageWarning, match="lacks 1 of the 3 topics") as caught:
        ir_graded.compare_judgments(A, A, "AP", RUNS, test="t")
    assert [one.filename for one in caught] == [__file__]


PASSAGES = pd.DataFrame([["1", "a", 1, 0, 5]], columns=["query_id", "doc_id", "relevance", "start", "length"])


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize(
    ("a", "b", "more", "error", "words"),
    [
        (
            A,
            {"1": {"z": 1}},
            {},
            NoSharedTopicsError,
            "judge no pair .*: 'a' has topic '1', document 'a' and 'b' has topic '1', document 'z'",
        ),
        (A, {"x": A, "y": {"9": {"a": 1}}}, {}, NoSharedTopicsError, "'a' and 'y' judge no pair"),
        (A, {"1": {}}, {}, NoSharedTopicsError, "'b' is empty"),
        (PASSAGES, A, {}, InputError, "'a' has passages"),
        (A, A, {"runs": RUNS}, ParameterError, "give both runs and measures"),
        (A, A, {"measures": "AP"}, ParameterError, "give both runs and measures"),
        (A, A, {"runs": RUNS, "measures": "INST"}, ParameterError, "INST needs a max_rel"),
        (A, A, {"runs": {"x": RUNS["x"]}, "measures": "AP"}, InputError, "at least 2 systems are needed"),
        (A, {"1": A["1"]}, {"runs": RUNS, "measures": "AP"}, InputError, "at least 2 topics"),
        ({"x": A, "y": A}, A, {}, InputError, "the reference must be one set"),
        (A, A, {"runs": RUNS, "measures": []}, ParameterError, "no measure given"),
        (A, A, {"runs": RUNS, "measures": "I-rec@10"}, ParameterError, "I-rec@10 needs the column iteration"),
        (A, A, {"maps": {"b": {0: 0, 1: "x", 2: 2}}}, InputError, "maps: 'b': the level for 1 is 'x'"),
        (A, A, {"maps": {"b": {0: 0, 1: math.nan, 2: 2}}}, InputError, "maps: 'b': the level for 1 is nan"),
        (A, A, {"maps": {"b": {0: 0, 1: [1], 2: 2}}}, InputError, r"maps: 'b': the level for 1 is \[1\]"),
        (A, A, {"maps": {"a": [1]}}, ParameterError, r"maps=\{'a': \[1\]\} must be a dict from the name"),
        (A, A, {"maps": [1]}, ParameterError, r"maps=\[1\] must be a dict from the name of a set to a dict"),
        (A, {"1": {"a": "high"}}, {}, InputError, "topic '1', document 'a'"),
    ],
)
def test_errors_name_the_problem(a, b, more, error, words):
    with pytest.raises(error, match=words):
        ir_graded.compare_judgments(a, b, **more)


def test_reference_keeps_its_judgments_if_another_set_has_its_name():
    found = ir_graded.compare_judgments({"a": A}, {"a": {"1": {"a": 0}}, "b": A}, n_resamples=2)
    assert found.agreement.sets == ("a (reference)", "a", "b")
    frame = found.agreement.to_frame().set_index(["b", "coefficient"])["value"]
    assert frame["b", "observed"] == 1
    assert frame["a", "observed"] == 0


def test_conclusions_without_runs_are_rejected_and_the_plot_is_the_matrix():
    pytest.importorskip("matplotlib")
    found = ir_graded.compare_judgments(A, A, n_resamples=2)
    with pytest.raises(InputError, match="no runs were given"):
        found.to_frame()
    [axes] = [ax for ax in found.plot().axes if ax.get_xlabel()]
    assert axes.get_xlabel() == "level in b"
    assert [text.get_text() for text in axes.texts] == ["2", "0", "0", "0", "3", "0", "0", "0", "1"]
    with pytest.raises(ParameterError, match="judgments='x' must be one of 'b'"):
        found.plot("x")


@pytest.mark.slow
def test_plot_names_the_systems_that_move_most(collection):
    pytest.importorskip("matplotlib")
    qrels, other, runs = collection
    found = ir_graded.compare_judgments(qrels, other, ["AP", "P@5"], runs, test="t")
    panels = [ax for ax in found.plot().axes if ax.get_visible()]
    table = found.conclusions["b"]
    for number, panel in enumerate(panels):
        a, b = table.means_a[number], table.means_b[number]
        moves = (-a).argsort(kind="stable").argsort() - (-b).argsort(kind="stable").argsort()
        expected = {f"{name} ({move:+d})" for name, move in zip(table.runs, moves, strict=True) if move}
        named = {text.get_text() for text in panel.texts}
        assert len(named) == min(3, len(expected))
        assert named <= expected
        assert panel.get_title().startswith(f"{table.measures[number]}: tau-b")
