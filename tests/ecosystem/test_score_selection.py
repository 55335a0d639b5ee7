"""Scores of some runs, topics and measures, joined scores, and scores of frames."""

import json
import pickle
import re

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from ir_measures import AP, nDCG

import ir_graded
from ir_graded import InputError, ParameterError, Scores, evaluate

TOPICS = [str(number) for number in range(1, 13)]
QRELS = {topic: {f"d{at}": (at * int(topic)) % 3 for at in range(1, 9)} for topic in TOPICS}
RUNS = {
    name: {topic: {f"d{at}": float((at * step + int(topic)) % 11) for at in range(1, 9)} for topic in TOPICS}
    for name, step in (("one", 3), ("two", 5), ("three.run", 7))
}
MEASURES = ["Q", "nDCG@10", "AP", "NCU(stop='rb')"]


@pytest.fixture
def scores():
    return evaluate(MEASURES, QRELS, RUNS)


def same(one, other):
    assert (one.runs, one.names, one.query_ids) == (other.runs, other.names, other.query_ids)
    np.testing.assert_array_equal(one.values, other.values)
    return True


def test_selected_scores_have_the_order_given(scores):
    found = scores.select(runs=["two", "one"], topics=["7", 2], measures=[AP, "Q"])
    assert (found.runs, found.names, found.query_ids) == (("two", "one"), ["AP", "Q"], ("7", "2"))
    for measure in ("AP", "Q"):
        expected = scores.matrix(measure).loc[["7", "2"], ["two", "one"]]
        pd.testing.assert_frame_equal(found.matrix(measure), expected)
    assert not found.values.flags.writeable
    assert same(scores.select(), scores)


def test_one_name_or_object_selects_one(scores):
    assert scores["Q"].names == scores[ir_graded.Q].names == ["Q"]
    assert scores[["nDCG@10", AP]].names == ["nDCG@10", "AP"]
    assert scores.select(topics=3).query_ids == ("3",)
    assert scores.select(runs="runs/three").runs == ("three.run",)
    assert same(scores["AP"], evaluate("AP", QRELS, RUNS))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"runs": "tow"},
            ParameterError,
            r"^runs='tow' must be one of 'one', 'two', 'three\.run'; did you mean",
        ),
        (
            {"topics": ["1", "13"]},
            ParameterError,
            r"^topics='13' must be one of '1', '2', '3' \.\.\. \(12 in",
        ),
        ({"measures": "RR"}, InputError, "^RR was not evaluated; use one of Q, nDCG@10"),
        ({"measures": "nDGC@10"}, ir_graded.UnknownMeasureError, "Did you mean 'nDCG"),
        ({"runs": ["one", "one"]}, ParameterError, "^runs: 'one' is selected twice$"),
        ({"measures": ["AP", AP]}, ParameterError, "^measures: AP is selected twice$"),
        ({"topics": []}, ParameterError, "^topics is empty: give at least one, or None for all$"),
    ],
)
def test_wrong_selections_are_rejected(scores, options, error, message):
    with pytest.raises(error, match=message):
        scores.select(**options)


def test_scores_are_not_iterated(scores):
    for use in (list, lambda one: "Q" in one):
        with pytest.raises(TypeError):
            use(scores)


def test_selected_runs_keep_their_coverage():
    runs = {"whole": RUNS["one"], "part": {"1": {"d1": 2.0, "new": 1.0}}, "other": {"2": {"d1": 1.0}}}
    with pytest.warns(ir_graded.CoverageWarning):
        scores = evaluate(["Q", "AP"], QRELS, runs)
    before = scores.select(runs=["other", "part"], measures="AP")
    expected = scores.coverage.iloc[[2, 1]].reset_index(drop=True)
    assert expected["judged_share"].tolist() == [1.0, 0.5]
    counted = scores.select(runs=["other", "part"], measures="AP")
    for found in (before, counted, pickle.loads(pickle.dumps(counted))):  # noqa: S301
        pd.testing.assert_frame_equal(found.coverage, expected)
        assert [re.search("Run '(.+?)' lacks", note)[1] for note in found.coverage_notes] == ["other", "part"]
    with pytest.raises(InputError, match="the coverage is not known"):
        _ = scores.select(topics=["1"]).coverage


@pytest.mark.slow
def test_statistics_take_selected_joined_and_read_scores(scores, tmp_path):
    parts = [scores.select(runs=run) for run in scores.runs]
    made = [
        scores.select(measures=["Q", "AP"]),
        Scores.concat(parts)[["Q", "AP"]],
        Scores.from_frame(scores.to_frame())[["Q", "AP"]],
    ]
    plain = {name: scores.matrix(name) for name in ("Q", "AP")}
    meta = ir_graded.meta
    for one in made:
        for statistic in (meta.differences, meta.confidence_intervals, meta.ranks):
            pd.testing.assert_frame_equal(statistic(one).to_frame(), statistic(plain).to_frame())
        assert one.to_markdown(baseline="one") == made[0].to_markdown(baseline="one")
    ir_graded.report(made[1], path=tmp_path / "report.html", baseline="one")


def test_frames_read_back(scores):
    frame = scores.to_frame()
    for one in (frame, pl.from_pandas(frame), frame.astype("category").astype({"value": float})):
        found = Scores.from_frame(one)
        assert same(found, scores)
        assert found.measures == scores.measures
    numbered = Scores(scores.runs, scores.measures, tuple(range(12)), scores.values)
    assert Scores.from_frame(numbered.to_frame()).query_ids == tuple(range(12))


def test_rows_in_any_order_give_equal_scores(scores):
    found = Scores.from_frame(scores.to_frame().sample(frac=1, random_state=0))
    back = found.select(runs=scores.runs, topics=scores.query_ids, measures=scores.measures)
    assert same(back, scores)


def test_frames_of_pyterrier_are_read(scores):
    frame = scores.to_frame().rename(columns={"run": "name", "query_id": "qid"})
    assert same(Scores.from_frame(frame[["name", "qid", "measure", "value"]]), scores)


def test_frames_of_ir_measures_are_read():
    measures = [AP, nDCG @ 10]
    rows = [*ir_measures.iter_calc(measures, QRELS, RUNS["one"])]
    for frame in (pd.DataFrame(rows), pl.DataFrame([row._asdict() for row in rows])):
        found = Scores.from_frame(frame, run="one").select(topics=TOPICS, measures=measures)
        assert found.runs == ("one",)
        for row in rows:
            assert found.matrix(row.measure).loc[row.query_id, "one"] == row.value


def frame_of(**columns):
    first = {"run": ["a", "a", "b", "b"], "query_id": ["1", "2"] * 2, "measure": ["Q"] * 4}
    return pd.DataFrame({**first, "value": [0.1, 0.2, 0.3, 0.4], **columns})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"query_id": ["1"] * 4},
            "run 'a', topic '1', measure Q: the score appears several times .as 2 of 2",
        ),
        (
            {"value": [0.1, 0.2, np.nan, 1]},
            "run 'b', topic '1', measure Q: the score is nan, expected a finite",
        ),
        ({"value": ["x"] * 4}, "run 'a', topic '1', measure Q: the score is 'x', expected a finite number"),
        ({"value": [1, 1, 1, None]}, "run 'b', topic '2', measure Q: the score is nan"),
        (
            {"measure": ["Q", "Q", "P-mesure", "Q"]},
            "measure: Unknown measure 'P-mesure'. Did you mean 'P-meas",
        ),
        ({"measure": ["Q", "map", "Q", "map@"]}, "measure: .*map@"),
        ({"measure": [None] * 4}, "measure: measures=None must be a measure"),
        ({"measure": ["Q AP"] * 4}, "measure: 'Q AP' names 2 measures"),
        ({"run": ["a", "a", None, "b"]}, "run: an id is missing"),
        ({"query_id": ["1", 1, "2", "2"]}, "query_id: '1' and 1 are the same as text"),
        ({"qid": "1"}, r"expected one column 'query_id' or 'qid'; found \['run', 'query_id', "),
    ],
)
def test_wrong_frames_are_rejected(columns, message):
    with pytest.raises(ir_graded.GradedError, match=f"^frame: {message}"):
        Scores.from_frame(frame_of(**columns))


def test_missing_rows_and_columns_are_rejected():
    message = r"^frame: run 'b', topic '2', measure Q: the score is missing \(as 1 of 4 scores\)$"
    with pytest.raises(InputError, match=message):
        Scores.from_frame(frame_of()[:3])
    with pytest.raises(InputError, match=r"^frame: there are no rows$"):
        Scores.from_frame(frame_of()[:0])
    message = (
        r"^frame: expected one column 'run' or 'name', or run= with the name of the run; found \['query_id'"
    )
    with pytest.raises(InputError, match=message):
        Scores.from_frame(frame_of().drop(columns="run"))
    with pytest.raises(InputError, match=r"^frame: expected one column 'run' or 'name', .* found \[\]$"):
        Scores.from_frame([1])


def test_a_run_is_named_once():
    with pytest.raises(ParameterError, match=r"^run='x': the frame has the column 'run', so leave run out$"):
        Scores.from_frame(frame_of(), run="x")


def test_two_names_of_a_measure_are_one():
    found = Scores.from_frame(frame_of(measure=["AP", "AP", "map", "map"]))
    assert found.names == ["AP"]
    with pytest.raises(InputError, match="measure AP: the score appears several times"):
        Scores.from_frame(frame_of(run="a", measure=["AP", "AP", "map", "map"]))


def test_runs_and_measures_are_joined(scores):
    parts = [scores.select(runs=run, measures=measure) for run in scores.runs for measure in scores.measures]
    by_run = [Scores.concat(parts[at : at + 4]) for at in (0, 4, 8)]
    shuffled = by_run[1].select(topics=TOPICS[::-1], measures=MEASURES[::-1])
    assert same(Scores.concat(iter([by_run[0], shuffled, by_run[2]])), scores)
    other = scores[MEASURES[1:]].select(runs=scores.runs[::-1], topics=TOPICS[::-1])
    assert same(Scores.concat([scores["Q"], other]), scores)
    assert same(Scores.concat([scores]), scores)


def test_folds_are_joined(scores):
    folds = [scores.select(topics=TOPICS[at : at + 4]) for at in (0, 4, 8)]
    folds[1] = folds[1].select(runs=scores.runs[::-1], measures=MEASURES[::-1])
    assert same(Scores.concat(folds), scores)
    assert same(Scores.concat(folds[::-1][:2]), scores.select(topics=TOPICS[8:] + TOPICS[4:8]))
    evaluated = [evaluate("Q", {topic: QRELS[topic] for topic in part}, RUNS) for part in ("12", "4")]
    assert same(Scores.concat(evaluated), scores.select(topics=[*"124"], measures="Q"))


def test_the_signature_of_joined_scores_has_what_all_parts_agree_on():
    one, two = (evaluate("Q", {topic: QRELS[topic]}, RUNS) for topic in "12")
    found = Scores.concat([one, two]).signature
    assert (found.options, found.versions) == (one.signature.options, one.signature.versions)
    assert (found.topics, found.qrels, {*found.runs.values()}) == (2, None, {None})
    other = evaluate("Q", {"2": QRELS["2"]}, RUNS, duplicates="first")
    assert Scores.concat([one, other]).signature.options == {}
    content = json.loads(two.to_json())
    content["signature"]["versions"]["ir_graded"] = "0.0.9"
    older = Scores.from_json(json.dumps(content))
    assert Scores.concat([one, older]).signature.versions == {}


def test_scores_that_do_not_fit_are_rejected(scores):
    one = scores.select(runs="one")
    with pytest.raises(InputError, match=r"^run 'one' has scores by AP twice: select"):
        Scores.concat([scores["AP"], one])
    for parts, where in (
        (
            [one, scores.select(runs="two", topics=["1", "2"])],
            "'1' is in both scores, '10' only in the first",
        ),
        (
            [one.select(topics=["1", "2"]), scores.select(runs="two")],
            "'1' is in both .* '10' only in further",
        ),
        ([scores.select(topics=["3", "4"]), scores.select(topics=["4"])], "'4' is in both scores, '3' only"),
    ):
        with pytest.raises(InputError, match=f"^topics overlap but differ: {where}"):
            Scores.concat(parts)
    for other in (scores.select(topics="1"), one.select(topics="1", measures="Q")):
        with pytest.raises(
            InputError, match=r"^topics differ: '1' is only in further scores; joining topics"
        ):
            Scores.concat([one.select(topics="2"), other])
    with pytest.raises(InputError, match=r"^runs 'one' have scores by Q, and runs 'two' by AP: give equal"):
        Scores.concat([one["Q"], scores.select(runs="two", measures="AP")])
    with pytest.raises(InputError, match="there are no scores to join"):
        Scores.concat([])


def test_notebooks_show_the_best_runs_escaped(scores):
    names = tuple(f"<script>{at:02}&\n" for at in range(25))
    values = np.repeat(np.linspace(0, 1, 25)[np.newaxis, :, np.newaxis], 3, axis=2)
    html = Scores(names, (ir_graded.Q,), (1, 2, 3), values)._repr_html_()
    assert "<script" not in html
    assert html.count("<tr") == 22  # with two rows of names
    assert html.index("&lt;script&gt;24&amp;\\n") < html.index("&lt;script&gt;05&amp;\\n")
    assert "&lt;script&gt;04" not in html
    assert "The 20 best runs by Q." in html
    assert "1.0000" in html
    few = Scores(names[:2], (ir_graded.Q,), (1, 2, 3), values[:, :2])._repr_html_()
    assert "best runs" not in few
    assert few.startswith("<p>Scores(2 runs, 3 topics, measures Q)</p>\n<table")
    assert "NCU(stop=&#x27;rb&#x27;)" in scores._repr_html_()
    assert Scores((), (ir_graded.Q,), (), np.zeros((1, 0, 0)))._repr_html_().count("<") == 2


def test_notebooks_show_results_and_explanations_escaped():
    qrels, run = {"<1>": {"<b>": 2, "c": 1}, "2": {"a": 1}}, {"<1>": {"x": 3.0, "<b>": 1.0}, "2": {"a": 1.0}}
    runs = {"<i>": run, "other": run, "third": {"<1>": {"c": 1.0}, "2": {"a": 1.0}}}
    explained = ir_graded.explain("Q", qrels, {"<i>": run}, "<1>")
    html = explained._repr_html_()
    assert html.startswith("<p>Q, topic &lt;1&gt;, run &lt;i&gt;</p>\n<p>Relevant documents retrieved")
    assert "&lt;b&gt;" in html
    assert f"{explained.score:.4f}" in html
    scores = evaluate(["Q", "AP"], qrels, runs)
    shown = [html, scores._repr_html_(), ir_graded.meta.confidence_intervals(scores)._repr_html_()]
    for one in shown:
        assert "<table" in one
        assert "&lt;i&gt;" in one
        assert not re.search("<(i|b|1|script)>", one)
