"""Ranges and directions of measures in ``Scores``."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded import InputError, ParameterError, Scores, meta

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
RUNS = {"good": {"1": {"a": 2.0}, "2": {"c": 1.0}}, "poor": {"1": {"x": 1.0, "b": 0.5}, "2": {"c": 1.0}}}
STATED = {"judge": (1, 5), "latency (ms)": (0, math.inf), "votes": None}
KEPT = {"judge": (1, 5), "latency (ms)": (0, math.inf), "votes": None}
LOWER = ["latency (ms)"]


def judged(**values):
    cells = {"judge": [5, 1, 3, 4], "latency (ms)": [10, 20, 100, 200], "votes": [-3, 7, 0, 0.5]} | values
    rows = [
        {"run": run, "query_id": topic, "measure": measure, "value": value}
        for measure, column in cells.items()
        for (run, topic), value in zip([("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")], column, strict=True)
    ]
    return pd.DataFrame(rows)


def read(**options):
    return Scores.from_frame(judged(), **{"ranges": STATED, "lower_is_better": LOWER} | options)


def test_measures_declare_their_ranges():
    scores = ir_graded.evaluate("Q nDCG@10 RR Success@5 NumRet(rel=1) GMAP", QRELS, RUNS)
    assert [*scores.ranges.values()] == [(0, 1)] * 4 + [(0, math.inf), (0.00001, 1)]
    assert [*scores.ranges] == scores.names
    assert scores.lower_is_better == ()


def test_scores_of_another_scale_have_no_range():
    frame = ir_graded.evaluate("nDCG@10 RR", QRELS, RUNS).to_frame()
    in_percent = Scores.from_frame(frame.assign(value=100 * frame["value"]))
    assert in_percent.ranges == {"nDCG@10": None, "RR": None}
    assert Scores.from_frame(frame.assign(value=frame["value"] * (1 + 1e-15))).ranges["RR"] == (0, 1)
    stated = Scores.from_frame(frame.assign(value=100 * frame["value"]), ranges={"ndcg_cut_10": (0, 100)})
    assert stated.ranges["nDCG@10"] == (0, 100)


def test_scores_of_users_have_any_name_and_the_stated_range():
    scores = read()
    assert (scores.ranges, scores.lower_is_better) == (KEPT, tuple(LOWER))
    assert scores.names == [*STATED]
    assert scores.matrix("judge").loc["2", "b"] == 4
    rounded = judged(judge=[5 + 1e-15, 1 - 1e-15, 3, 4])
    assert Scores.from_frame(rounded, ranges=STATED).ranges["judge"] == (1, 5)
    assert read(lower_is_better="latency (ms)").lower_is_better == tuple(LOWER)
    assert Scores.from_frame(judged(), ranges={"judge": (1, 5)}, lower_is_better=[*STATED][1:]).ranges == {
        "judge": (1, 5), "latency (ms)": None, "votes": None
    }  # fmt: skip


def test_ranges_are_kept_by_selections_json_pickles_and_joins():
    scores = read()
    by_measure = Scores.concat([scores[["judge", "votes"]], scores["latency (ms)"]])
    by_run = Scores.concat([scores.select(runs="b"), scores.select(runs="a")])
    for kept in (
        scores.select(topics="1"),
        Scores.from_json(scores.to_json()),
        Scores.from_frame(scores.to_frame(), ranges=scores.ranges, lower_is_better=scores.lower_is_better),
        pickle.loads(pickle.dumps(scores)),  # noqa: S301  # own bytes
        by_measure,
        by_run,
    ):
        assert (kept.ranges, kept.lower_is_better) == (KEPT, tuple(LOWER))
    assert scores["judge"].ranges == {"judge": (1, 5)}
    other = Scores.from_frame(
        judged().replace({"a": "c", "b": "d"}), ranges=STATED | {"judge": (0, 5)}, lower_is_better=LOWER
    )
    with pytest.raises(InputError, match="the ranges of judge differ"):
        Scores.concat([scores, other])


def test_json_has_ranges_only_if_they_were_stated():
    scores = ir_graded.evaluate("RR", QRELS, RUNS)
    assert not {"ranges", "lower_is_better"} & json.loads(scores.to_json()).keys()
    content = json.loads(read().to_json())
    assert content["ranges"] == {"judge": [1, 5], "latency (ms)": [0, None], "votes": [None, None]}
    assert content["lower_is_better"] == LOWER
    for wrong in ({"ranges": {"judge": [2, 5]}}, {"ranges": {"judge": [1]}}, {"ranges": 1}, {"ranges": {}}):
        with pytest.raises(InputError, match="expected JSON of ir_graded scores"):
            Scores.from_json(json.dumps(content | wrong))


def test_lower_scores_are_best_where_they_are_better():
    scores = read()["latency (ms)"]
    assert [scores.runs[at] for at in scores.best_first] == ["a", "b"]
    assert scores.to_markdown().splitlines()[2] == "| a | **15.0000** |"
    assert read()["judge"].to_markdown().splitlines()[2] == "| b | **3.5000** |"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranges": {**STATED, "judge": (1, 4)}}, "run 'a', topic '1', measure judge: the score 5 .* 1 to 4"),
        ({"ranges": {**STATED, "judge": (2, 9)}}, r"'a', topic '2', .* score 1 .* \(as 1 of 4 scores\)"),
        ({"ranges": {**STATED, "judge": (5, 1)}}, r"judge: \(5, 1\) must be .* lower_is_better=\['judge'\]"),
        ({"ranges": {**STATED, "judge": (1, 1)}}, r"judge: \(1, 1\) must be the lowest"),
        ({"ranges": {**STATED, "judge": 5}}, "judge: 5 must be the lowest"),
        ({"ranges": {**STATED, "judge": (1, math.nan)}}, "must be the lowest"),
        ({"ranges": {**STATED, "jugde": (1, 5)}}, "'jugde' must be one of .* did you mean 'judge'"),
        ({"lower_is_better": ["latency"]}, "'latency' must be one of"),
        ({"ranges": [1, 5]}, r"ranges=\[1, 5\] must be a mapping"),
    ],
)
def test_wrong_ranges_are_rejected(options, message):
    with pytest.raises((InputError, ParameterError), match=message):
        read(**options)


def test_an_unknown_measure_without_a_range_is_rejected_with_advice():
    with pytest.raises(
        ir_graded.UnknownMeasureError, match=r"frame: .*'judge'.* ranges=\{'judge': \(0, 1\)\}"
    ):
        Scores.from_frame(judged())


def test_reports_and_statistics_take_scores_of_users(tmp_path):
    pytest.importorskip("jinja2")
    scores = read()
    ir_graded.report(scores, path=tmp_path / "page.html")
    assert "too few topics" in (tmp_path / "page.html").read_text(encoding="utf-8")
    found = ir_graded.meta.confidence_intervals(scores)
    assert found.low[0].tolist() == [1, 1]
    assert np.isfinite(found.high).all()


def test_a_measure_may_declare_that_lower_scores_are_better():
    scores = ir_graded.evaluate(["FirstRank@10", "RR"], QRELS, RUNS)
    assert scores.lower_is_better == ("FirstRank@10",)
    assert scores.ranges == {"FirstRank@10": (1, math.inf), "RR": (0, 1)}
    assert [*scores.mean()["FirstRank@10"].items()] == [("good", 1), ("poor", 1.5)]
    frame = scores.to_frame().replace({"RR": "judge"})
    stated = Scores.from_frame(frame, ranges={"judge": (0, 5)})
    again = Scores.from_json(stated.to_json())
    assert again.lower_is_better == stated.lower_is_better == ("FirstRank@10",)
    assert again.ranges == stated.ranges == {"FirstRank@10": (1, math.inf), "judge": (0, 5)}
    for conclude in (
        meta.compare_measures,
        lambda scores: meta.rank_correlations(scores, "RR"),
        lambda scores: meta.top(scores, 2, by="FirstRank@10"),
    ):
        with pytest.raises(ParameterError, match=r"lower scores .* \{'-FirstRank@10': -scores.matrix"):
            conclude(scores)
    assert [*meta.top(scores, 2, by="RR")] == ["FirstRank@10", "RR"]
    found = ir_graded.compare_runs("FirstRank@10", QRELS, RUNS["good"], {"poor": RUNS["poor"]}, test="t")
    assert (found.difference[0], found.gain[0]) == (0.5, -0.5)
