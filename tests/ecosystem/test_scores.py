"""``Scores``: the result of ``evaluate``."""

import copy
import dataclasses
import pickle
import statistics

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, NumRet, nDCG

from ir_graded import InputError, P_measure, ParameterError, Q, Scores, evaluate

#: The runs lack topics on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
RUNS = {
    "poor": {"1": {"x": 2.0, "b": 1.0}},
    "good": {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}},
    "fair": {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "2": {"x": 1.0}},
}
MEASURES = ["Q", "P-measure@10", "AP", "NumRet"]
# By hand: Q of the run poor on topic 1 is (1 + 1) / (2 + 3) / 2; P-measure at its preferred rank 2 is 2 / 5.
VALUES = [
    [[0.2, 0], [1, 1], [0.75, 0]],
    [[0.4, 0], [1, 1], [5 / 6, 0]],
    [[0.25, 0], [1, 1], [5 / 6, 0]],
    [[2, 0], [2, 1], [3, 1]],
]


@pytest.fixture
def scores():
    return evaluate(MEASURES, QRELS, RUNS)


def test_scores_have_names_topics_measures_and_values(scores):
    assert scores.runs == ("poor", "good", "fair")
    assert scores.query_ids == ("1", "2")
    assert scores.names == MEASURES
    assert scores.measures == (Q, P_measure @ 10, AP, NumRet)
    assert scores.values.shape == (4, 3, 2)
    assert scores.values.dtype == np.float64
    np.testing.assert_allclose(scores.values, VALUES, rtol=0, atol=1e-12)


def test_the_frame_has_one_row_for_each_run_topic_and_measure(scores):
    frame = scores.to_frame()
    assert list(frame.columns) == ["run", "query_id", "measure", "value"]
    assert len(frame) == scores.values.size
    assert frame["value"].dtype == np.float64
    found = frame.set_index(["measure", "run", "query_id"])["value"]
    assert found.index.is_unique
    for i, measure in enumerate(MEASURES):
        for j, run in enumerate(RUNS):
            for k, topic in enumerate(QRELS):
                assert found[measure, run, topic] == scores.values[i, j, k]


@pytest.mark.parametrize(
    "asked", ["P-measure@10", P_measure @ 10, "P_measure@10", "P_measure(beta=1)@10", P_measure(cutoff=10.0)]
)
def test_matrix_takes_a_string_or_an_object(scores, asked):
    matrix = scores.matrix(asked)
    assert list(matrix.columns) == ["poor", "good", "fair"]
    assert list(matrix.index) == ["1", "2"]
    assert (matrix.index.name, matrix.columns.name) == ("query_id", "run")
    assert (matrix.to_numpy() == scores.values[1].T).all()


def test_every_measure_has_a_matrix(scores):
    for position, (name, measure) in enumerate(zip(scores.names, scores.measures, strict=True)):
        assert scores.position(name) == scores.position(measure) == position
        pd.testing.assert_frame_equal(scores.matrix(name), scores.matrix(measure))
    assert (scores.matrix("map").to_numpy() == scores.values[2].T).all()


def test_mean_is_best_first(scores):
    mean = scores.mean()
    assert list(mean.index) == ["good", "fair", "poor"]
    assert mean.index.name == "run"
    assert list(mean.columns) == MEASURES
    expected = {
        "good": {"Q": 1, "P-measure@10": 1, "AP": 1, "NumRet": 3},
        "fair": {"Q": 0.375, "P-measure@10": 5 / 12, "AP": 5 / 12, "NumRet": 4},
        "poor": {"Q": 0.1, "P-measure@10": 0.2, "AP": 0.125, "NumRet": 2},
    }
    for run, values in expected.items():
        assert mean.loc[run].to_dict() == pytest.approx(values, abs=1e-12)


def test_means_of_slices_equal_those_of_their_topics():
    qrels = {str(topic): {"a": topic, "b": 1} for topic in range(1, 8)}
    runs = {name: {topic: {name: 1.0, "x": int(topic) % 3} for topic in qrels} for name in "ab"}
    scores = evaluate(["Q", "NumRet(rel=1)", "GMAP"], qrels, runs)
    slices = {topic: "long" if topic in "246" else "short" if topic != "7" else "odd" for topic in qrels}
    for weights in (None, {topic: int(topic) for topic in qrels}):
        found = scores.mean(weights, slices=slices)
        assert found.index.names == ["run", "slice"]
        pd.testing.assert_frame_equal(found.xs("all", level="slice"), scores.mean(weights))
        for name, of in found.drop(index="all", level="slice").groupby("slice"):
            part = [topic for topic in qrels if slices[topic] == name]
            # Weights need two topics in means, but not in those of slices.
            alone = scores.select(topics=part).mean(weights if len(part) > 1 else None)
            pd.testing.assert_frame_equal(of.droplevel("slice"), alone.loc[[*scores.mean(weights).index]])
    with pytest.raises(InputError, match="slices: no topic of 'odd' has a weight above 0"):
        scores.mean(dict.fromkeys(qrels, 1) | {"7": 0}, slices=slices)


def test_summaries_equal_those_of_the_standard_library():
    rng = np.random.default_rng(0)
    scores = Scores(("a", "b"), (Q, AP), tuple(range(11)), rng.random((2, 2, 11)))
    found = scores.summary(["median", "min", "max", "sd", "p10", "p97.5", "mean"])
    assert [*found.index] == [*scores.mean().index]
    for measure in ("Q", "AP"):
        for run, of_run in found[measure].iterrows():
            values = scores.matrix(measure)[run].tolist()
            quantiles = statistics.quantiles(values, n=40, method="inclusive")
            wanted = [statistics.median(values), min(values), max(values), statistics.stdev(values)]
            wanted += [quantiles[3], quantiles[38], statistics.fmean(values)]
            assert of_run.tolist() == pytest.approx(wanted, abs=1e-15)
    pd.testing.assert_frame_equal(scores.summary("p0"), scores.summary("min"))
    assert (
        scores.select(topics=3).summary(["sd", "p5"]).isna()["Q"].to_numpy().tolist() == [[True, False]] * 2
    )


@pytest.mark.parametrize("wrong", ["avg", "p101", "p", "P10", "p-1", 50, ["median", "q1"]])
def test_an_unknown_statistic_is_rejected(scores, wrong):
    words = "must be one of 'mean', 'median', 'min', 'max', 'sd', or a percentile from 'p0' to 'p100'$"
    with pytest.raises(ParameterError, match=words):
        scores.summary(wrong)
    with pytest.raises(ParameterError, match="statistics is empty"):
        scores.summary([])


def test_mean_is_sorted_by_the_first_measure():
    assert list(evaluate(["NumRet", "Q"], QRELS, RUNS).mean().index) == ["fair", "good", "poor"]


def test_runs_with_equal_means_keep_the_given_order():
    runs = {"z": RUNS["poor"], "b": RUNS["good"], "a": RUNS["good"], "c": RUNS["poor"], "y": RUNS["good"]}
    assert list(evaluate(["Q", "AP"], QRELS, runs).mean().index) == ["b", "a", "y", "z", "c"]


def test_means_do_not_depend_on_the_order_of_topics():
    numbers = range(1, 60)
    qrels = {str(n): {f"d{d}": (n * d) % 3 for d in range(1, 9)} for n in numbers}
    run = {str(n): {f"d{(n * d) % 11}": 1.0 / d for d in range(1, 9)} for n in numbers}
    forwards = evaluate(["Q", "nERR@5", "GAP"], qrels, run).mean()
    backwards = evaluate(["Q", "nERR@5", "GAP"], dict(reversed(qrels.items())), run).mean()
    pd.testing.assert_frame_equal(forwards, backwards, check_exact=True)


@pytest.mark.parametrize("asked", ["RR", "Q@10", Q(beta=0), nDCG @ 10, "P_measure@1000", "P-measure"])
def test_a_measure_that_was_not_evaluated_is_rejected(scores, asked):
    for call in (scores.matrix, scores.position):
        with pytest.raises(InputError, match="was not evaluated") as caught:
            call(asked)
        assert all(name in str(caught.value) for name in MEASURES)


def test_an_unknown_measure_is_rejected(scores):
    with pytest.raises(NameError, match="NoSuch"):
        scores.matrix("NoSuch")
    with pytest.raises(ValueError, match="3"):
        scores.matrix(3)


def assert_frozen(scores):
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        scores.values += 1
    for field in ("values", "runs", "measures", "query_ids"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(scores, field, ())


def test_values_are_read_only(scores):
    before = scores.values.copy()
    assert_frozen(scores)
    assert (scores.values == before).all()


def test_matrices_are_copies(scores):
    before = scores.values.copy()
    matrix = scores.matrix("Q")
    matrix.loc["1", "good"] = 77.0
    matrix += 1
    mean = scores.mean()
    mean.loc["good", "Q"] = 77.0
    assert (scores.values == before).all()
    assert scores.matrix("Q").loc["1", "good"] == 1
    assert scores.mean().loc["good", "Q"] == 1


@pytest.mark.parametrize(
    "again",
    [lambda scores: pickle.loads(pickle.dumps(scores)), copy.copy, copy.deepcopy],  # noqa: S301  (made here)
    ids=["pickle", "copy", "deepcopy"],
)
def test_pickles_and_copies_keep_the_scores(scores, again):
    found = again(scores)
    assert (found.runs, found.measures, found.query_ids) == (scores.runs, scores.measures, scores.query_ids)
    assert (found.values == scores.values).all()
    pd.testing.assert_frame_equal(found.to_frame(), scores.to_frame())
    pd.testing.assert_frame_equal(found.mean(), scores.mean())
    assert_frozen(found)


def test_the_frame_converts_back_to_the_matrices(scores):
    table = scores.to_frame().pivot_table(index="query_id", columns=["measure", "run"], values="value")
    for name in scores.names:
        pd.testing.assert_frame_equal(
            table[name][list(scores.runs)], scores.matrix(name), check_names=False, check_column_type=False
        )
    made = Scores(
        scores.runs,
        scores.measures,
        scores.query_ids,
        scores.to_frame()["value"].to_numpy().reshape(4, 3, 2).copy(),
    )
    pd.testing.assert_frame_equal(made.to_frame(), scores.to_frame())


def test_repr_counts_runs_and_topics(scores):
    assert repr(scores) == "Scores(3 runs, 2 topics, measures Q, P-measure@10, AP, NumRet)"
    assert repr(evaluate("Q", {"1": {"a": 1}}, {"1": {"a": 1.0}})) == "Scores(1 run, 1 topic, measures Q)"


def test_topics_keep_the_objects_of_the_qrels():
    qrels = pd.DataFrame({"query_id": [7, 3], "doc_id": ["a", "b"], "relevance": [1, 1]})
    scores = evaluate(["Q", "AP"], qrels, {"r": {"7": {"a": 1.0}}})
    assert scores.query_ids == (7, 3)
    assert list(scores.matrix("AP").index) == [7, 3]
    assert set(scores.to_frame()["query_id"]) == {3, 7}
    assert scores.matrix("AP").loc[7, "r"] == 1
