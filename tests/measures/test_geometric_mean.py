"""GM: the geometric mean over the topics, and the statistics of arithmetic means that leave it out."""

import math

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample

import ir_graded
from ir_graded import GM, ParameterError

QRELS = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"b": 1, "z": 2}, "3": {"q": 1}}
RUNS = {
    "x": {"1": {"u": 3.0, "a": 2.0, "c": 1.0}, "2": {"b": 1.0, "w": 0.5}, "3": {"p": 1.0, "w": 0.5}},
    "y": {"1": {"a": 3.0, "u": 2.0, "c": 1.0}, "2": {"w": 1.0, "b": 0.5}, "3": {"q": 1.0, "w": 0.5}},
}


@pytest.mark.parametrize("base", ["AP", "Bpref", "nDCG", "Q", "nERR", "AP(ties='expected')"])
def test_the_aggregate_is_the_exponential_of_the_mean_logarithm(base):
    scores = ir_graded.evaluate([GM(measure=base), base], QRELS, RUNS)
    means = scores.mean()
    for number, run in enumerate(scores.runs):
        floored = [max(value, 0.00001) for value in scores.values[1, number]]
        assert scores.values[0, number].tolist() == floored
        expected = math.exp(sum(map(math.log, floored)) / 3)
        assert means.loc[run, str(GM(measure=base))] == pytest.approx(expected, rel=1e-14)
        called = ir_measures.calc_aggregate([GM(measure=base)], QRELS, RUNS[run])
        assert called == {GM(measure=base): pytest.approx(expected, rel=1e-14)}


@pytest.mark.parametrize("order", ["expected", "optimistic", "pessimistic"])
@pytest.mark.parametrize("base", ["P", "Success", "AP", "RelP"])
def test_the_base_measure_takes_the_order_of_tied_documents(base, order):
    run = {"1": {"a": 1.0, "u": 1.0, "v": 0.5}}
    scores = ir_graded.evaluate([f"GM(measure='{base}')@1", f"{base}@1"], {"1": {"a": 1}}, run, ties=order)
    assert scores.values[1].item() == {"expected": 0.5, "optimistic": 1.0, "pessimistic": 0.0}[order]
    assert scores.values[0].item() == max(scores.values[1].item(), 0.00001)


def test_the_explanation_names_the_lowest_score():
    text = str(ir_graded.explain("GMAP", {"1": {"a": 1}}, {"1": {"x": 1.0, "y": 0.5}}, "1"))
    assert "Without any to count, the topic scores 1e-05." in text


def test_equal_scores_have_their_value_as_the_mean():
    qrels = {str(topic): {"a": 1} for topic in range(7)}
    run = {topic: {"x": 1.0, "y": 0.5} for topic in qrels}
    assert ir_graded.GM(measure="AP").calc_aggregate(qrels, run) == 0.00001
    assert math.isnan(ir_graded.GM(measure="AP").aggregator().result())


def test_the_weighted_aggregate_is_the_exponential_of_the_weighted_mean_logarithm():
    scores, weights = ir_graded.evaluate(["AP", "GMAP", "NumRet"], QRELS, RUNS), {"1": 1, "2": 5, "3": 0}
    found = scores.mean(weights=weights)
    assert list(found.index) == ["x", "y"]
    for run in scores.runs:
        one, two, _ = scores.matrix("GMAP")[run]
        assert found.loc[run, "GM(measure='AP')"] == pytest.approx((one * two**5) ** (1 / 6), rel=1e-14)
        one, two, _ = scores.matrix("AP")[run]
        assert found.loc[run, "AP"] == pytest.approx((one + 5 * two) / 6, rel=1e-14)
    assert found.loc["x", "NumRet"] == pytest.approx(3 * (3 + 5 * 2) / 6, rel=1e-14)
    equal = scores.mean(weights=dict.fromkeys(weights, 2))
    pd.testing.assert_frame_equal(equal, scores.mean(), check_exact=False, rtol=1e-14)


def test_scores_without_a_mean_keep_their_aggregate_in_frames():
    scores = ir_graded.evaluate(["GMAP", "NumRet", "AP"], QRELS, RUNS)
    frame = scores.to_frame()
    pd.testing.assert_frame_equal(ir_graded.Scores.from_frame(frame).mean(), scores.mean())
    # These are the names that PyTerrier has for them.
    frame["measure"] = frame["measure"].replace({"GM(measure='AP')": "GMAP", "NumRet": "num_ret"})
    pd.testing.assert_frame_equal(ir_graded.Scores.from_frame(frame).mean(), scores.mean())


ONLY_ARITHMETIC = {
    "differences": ir_graded.meta.differences,
    "ranks": ir_graded.meta.ranks,
    "correlations": lambda scores: ir_graded.meta.rank_correlations(scores, "GMAP"),
    "minima": lambda scores: ir_graded.meta.minima(scores, {"GMAP": 0.1}),
    "history": lambda scores: ir_graded.meta.history({"v1": scores, "v2": scores}),
    "a matrix by name": lambda scores: ir_graded.meta.differences({"GMAP": scores.matrix("GMAP")}),
    "the table of PyTerrier": lambda scores: ir_graded.meta.ranks(scores.to_frame().assign(measure="GMAP")),
    "one measure": ir_graded.meta.discriminative_power,
    "one measure in a table": lambda scores: ir_graded.meta.discriminative_power(scores.to_frame()),
    "compare_runs": lambda _: ir_graded.compare_runs("GMAP", QRELS, RUNS["x"], {"y": RUNS["y"]}),
}


@pytest.mark.parametrize("statistic", ONLY_ARITHMETIC)
def test_statistics_of_arithmetic_means_refuse_it_alone(statistic):
    message = r"GM.* is a geometric mean over the topics, but .* arithmetic means: use the base measure"
    with pytest.raises(ParameterError, match=message):
        ONLY_ARITHMETIC[statistic](ir_graded.evaluate("GMAP", QRELS, RUNS))


LEFT_OUT = (
    "Geometric means are not tested or compared, only arithmetic means over the topics: GM(measure='AP')."
)


@pytest.mark.filterwarnings("ignore:the randomisation test cannot:ir_graded.CoverageWarning")
@pytest.mark.parametrize("measures", ["AP GMAP NumRet", "GMAP AP NumRet"])
def test_tests_leave_it_out_with_a_note(measures):
    scores = ir_graded.evaluate(measures, QRELS, RUNS)
    others = scores[["AP", "NumRet"]]
    for statistic in (lambda of: ir_graded.meta.differences(of, "x"), ir_graded.meta.ranks):
        with pytest.warns(ir_graded.CoverageWarning) as caught:
            found = statistic(scores)
        assert [str(one.message) for one in caught if one.filename == __file__].count(LEFT_OUT) == 1
        pd.testing.assert_frame_equal(found.to_frame(), statistic(others).to_frame())
    with pytest.warns(ir_graded.CoverageWarning, match="Geometric means are not tested"):
        assert ir_graded.meta.differences(scores, "x").notes == (LEFT_OUT,)
    with pytest.warns(ir_graded.CoverageWarning, match="Geometric means are not tested"):
        found = ir_graded.meta.minima(scores, {"NumRet": 2, "AP": 0.1})
    assert (found.notes, found.passed, set(found.measure)) == ((LEFT_OUT,), True, {"AP", "NumRet"})
    with (
        pytest.warns(ir_graded.CoverageWarning, match="Geometric means are not tested"),
        pytest.raises(ParameterError, match=r"^GM\(measure='AP'\) is a geometric mean over the topics"),
    ):
        ir_graded.meta.minima(scores, {"GMAP": 0.1})


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("measures", ["AP GMAP", "GMAP AP", "gm_bpref GMAP AP"])
def test_compare_runs_leaves_it_out_with_a_note(measures):
    found, expected = (
        ir_graded.compare_runs(one, QRELS, RUNS["x"], {"y": RUNS["y"], "z": RUNS["x"]})
        for one in (measures, "AP")
    )
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert found.notes[0].startswith(LEFT_OUT.partition(": ")[0])
    assert found.notes[1:] == expected.notes


@pytest.mark.parametrize("weights", [None, {"1": 3, "2": 1, "3": 2}])
def test_intervals_are_those_of_the_logarithms(weights):
    scores = ir_graded.evaluate(["GMAP", "AP"], QRELS, RUNS)
    matrices = {name: scores.matrix(name) for name in scores.names}
    found = ir_graded.meta.confidence_intervals(matrices, weights=weights)
    given = {"log": np.log(scores.matrix("GMAP")), "AP": scores.matrix("AP")}
    expected = ir_graded.meta.confidence_intervals(given, weights=weights)
    for name in ("mean", "low", "high"):
        ends = np.exp(getattr(expected, name)[0]).clip(0.00001)
        assert getattr(found, name)[0] == pytest.approx(ends, rel=1e-12)
        assert (getattr(found, name)[1] == getattr(expected, name)[1]).all()
    means = scores.mean(weights).loc[[*scores.runs], "GM(measure='AP')"]
    assert found.mean[0] == pytest.approx(means.to_numpy(), rel=1e-12)
    in_range = ir_graded.meta.confidence_intervals(scores, weights=weights)
    assert in_range.low[0] == pytest.approx(found.low[0], rel=1e-9)
    assert in_range.high[0] == pytest.approx(found.high[0].clip(max=1), rel=1e-9)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.slow
def test_intervals_from_unjudged_documents_are_of_the_geometric_mean():
    covid = covid_sample()
    first, second = ir_graded.evaluate("AP", covid.qrels, covid.runs).query_ids[:2]
    qrels = covid.qrels[covid.qrels["query_id"].isin([first, second])]
    judged = {*qrels.loc[qrels["query_id"] == second, "doc_id"]}
    runs = {}
    for name in [*covid.runs][:2]:
        run = covid.runs[name]
        # All that is retrieved for the second topic is judged, so that its scores are certain.
        known = (run["query_id"] == second) & run["doc_id"].isin(judged)
        runs[name] = run[(run["query_id"] == first) | known]
    of_mean, of_geometric = (
        ir_graded.score_intervals(measure, qrels, runs, n_samples=30, depth=30) for measure in ("AP", "GMAP")
    )
    certain = of_mean.scores.values[0, :, [1]].T
    expected = np.sqrt((2 * of_mean.samples[0] - certain) * certain)
    assert expected.std(axis=1).min() > 0
    assert of_geometric.samples[0] == pytest.approx(expected, rel=1e-9)
    ends = [expected.mean(axis=1), *np.quantile(expected, [0.025, 0.975], axis=1)]
    assert of_geometric.overall[:, 0] == pytest.approx(np.array(ends), rel=1e-9)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_tables_have_the_geometric_mean_with_its_interval_and_no_test():
    covid = covid_sample()
    runs = {name: covid.runs[name] for name in [*covid.runs][:3]}
    scores = ir_graded.evaluate(["AP", "GMAP", "NumRelRet"], covid.qrels, runs)
    text = scores.to_markdown(baseline=scores.runs[0], letters=True, intervals=True)
    assert text.count(r"only arithmetic means over the topics: GM(measure='AP').") == 1
    means, ends = scores.mean(), ir_graded.meta.confidence_intervals(scores)
    for at, run in enumerate(scores.runs):
        row = next(line for line in text.splitlines() if run.replace("_", r"\_") in line).split("|")
        low, high = ends.low[1, at], ends.high[1, at]
        shown = f"{means.loc[run, scores.names[1]]:.4f}"
        assert row[3].replace("*", "").strip() == f"{shown} [{low:.4f}, {high:.4f}]"
        # A sum has the interval of the sum.
        total = len(scores.query_ids)
        low, high = total * ends.low[2, at], total * ends.high[2, at]
        assert f"[{low:.4f}, {high:.4f}]" in row[4]


@pytest.mark.slow
def test_curves_over_cutoffs_show_the_geometric_mean():
    plots = pytest.importorskip("ir_graded.plots")
    names = [f"GM(measure='P')@{k}" for k in (1, 2, 3)]
    scores = ir_graded.evaluate(names, QRELS, RUNS)
    axes = plots.cutoffs(scores).axes[0]
    heights = {line.get_label(): [*line.get_ydata()] for line in axes.get_lines()}
    assert heights == {run: scores.mean().loc[run].tolist() for run in scores.runs}


def test_every_geometric_mean_is_known_by_its_name():
    from ir_graded.meta.matrix import is_geometric

    names = ir_graded.measures.NAMES
    assert {name for name, one in names.items() if one.AGGREGATE != "mean"} - {"GM"} == {
        name for name in names if is_geometric(name)
    }
    for one in (
        GM(measure="AP"),
        GM(measure="AP") @ 10,
        GM(measure="AP(ties='expected')"),
        "gm_map",
        "gm_bpref",
    ):
        assert is_geometric(one)


def test_a_base_measure_is_required():
    with pytest.raises(ParameterError, match=r"GM needs .*for example GM\(measure='AP'\)@10"):
        ir_graded.evaluate("GM", QRELS, RUNS)
