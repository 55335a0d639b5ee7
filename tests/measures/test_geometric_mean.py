"""GM: the geometric mean over the topics, and the statistics of arithmetic means that refuse it."""

import math

import ir_measures
import pytest

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


@pytest.mark.parametrize(
    "call",
    [
        ir_graded.meta.differences,
        ir_graded.meta.ranks,
        lambda scores: scores.mean(weights={"1": 1, "2": 2, "3": 1}),
        lambda _: ir_graded.score_intervals("GMAP", QRELS, RUNS, depth=3),
        lambda _: ir_graded.compare_runs("GMAP", QRELS, RUNS["x"], {"y": RUNS["y"]}),
    ],
)
def test_statistics_of_arithmetic_means_refuse_it(call):
    scores = ir_graded.evaluate("GMAP", QRELS, RUNS)
    message = r"^GM\(measure='AP'\) is a geometric mean over the topics, but .* means: use AP, or the log"
    with pytest.raises(ParameterError, match=message):
        call(scores)


def test_a_base_measure_is_required():
    with pytest.raises(ParameterError, match=r"GM needs .*for example GM\(measure='AP'\)@10"):
        ir_graded.evaluate("GM", QRELS, RUNS)
