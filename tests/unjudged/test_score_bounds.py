"""Exact bounds of scores: every measure compared with the plain reference, and measures without bounds."""

import itertools
import random
import re

import numpy as np
import pytest
from helpers import covid_sample
from ir_measures import ERR, RBP, RR, NumRet, P, SetP, Success
from measures import measure_cases as cases
from reference import ranked, unjudged
from reference.tie_cases import IDS

import ir_graded
from ir_graded import NCU, gRBP, iRBU
from ir_graded.errors import ParameterError

QRELS = {"1": {"d0": 1, "d2": 2, "d9": 3}}
RUN = {"1": {"d0": 4.0, "d1": 3.0, "d2": 2.0, "d3": 1.0}}

EXAMPLES = [
    (gRBP(p=0.8), 0.152, 0.824),
    (iRBU, 0.611362125000, 0.957313688203),
    (P @ 3, 2 / 3, 1),
    (ERR @ 20, 0.121093750000, 0.516773223877),
    (RR, 1, 1),
    (Success(rel=2) @ 2, 0, 1),
    (NumRet(rel=2), 1, 3),
    (SetP(rel=2), 0.25, 0.75),
]


@pytest.mark.parametrize(("measure", "lower", "upper"), EXAMPLES, ids=str)
def test_worked_examples_have_their_bounds(measure, lower, upper):
    found = ir_graded.score_bounds(measure, QRELS, RUN)
    assert found.lower.item() == pytest.approx(lower, rel=0, abs=1e-12)
    assert found.upper.item() == pytest.approx(upper, rel=0, abs=1e-12)
    assert found.residual.item() == found.upper.item() - found.lower.item()


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("measure", [gRBP @ 3, iRBU, NCU(stop="err", utility="rr")], ids=str)
@pytest.mark.parametrize("gains", [{2: 0}, {2: 0, 3: 0}, {3: 1}, {3: 2}], ids=str)
@pytest.mark.parametrize("levels", [{"a": 2}, {"a": 3}, {"a": 3, "b": 1}, {"a": 2, "b": 2, "z": 3}], ids=str)
def test_upper_bounds_reach_levels_that_the_qrels_lack(measure, gains, levels):
    measure, run = measure(gains=gains), {"x": 3.0, "a": 2.0, "y": 1.0}
    unjudged_levels = itertools.product(range(max(levels.values()) + 1), repeat=2)
    completions = [levels | dict(zip("xy", both, strict=True)) for both in unjudged_levels]
    scores = [ir_graded.evaluate(measure, {"1": one}, {"1": run}).values.item() for one in completions]
    found = ir_graded.score_bounds(measure, {"1": levels}, {"1": run})
    assert found.upper.item() == pytest.approx(max(scores), rel=0, abs=1e-15)


def test_a_scale_with_too_many_unknown_levels_has_no_bounds():
    words = "all known levels is at most 0, so one of 200 other levels up to 200 could be best"
    with pytest.raises(ParameterError, match=words):
        ir_graded.score_bounds("gRBP(gains={200:0})", {"1": {"a": 200}}, {"1": {"x": 1.0}})


def parameters(rng, name):
    params = {"rel": rng.choice((1, 1, 2))} if name != "ERR" else {}
    if name in ("gRBP", "iRBU"):
        params["gains"] = rng.choice(({}, {1: 1, 2: 3, 3: 7}, {1: 5, 3: 2}, {2: 0}, {3: 0}, {3: 1, 4: 2}))
        if rng.random() < 0.7:
            params["max_rel"] = rng.choice((3, 4))
    if name in ("gRBP", "iRBU", "RBP"):
        params["p"] = rng.choice((0.5, 0.8, 0.99))
    if name in ("P", "Success", "ERR"):
        params["cutoff"] = rng.randint(1, 8)
    if name in ("gRBP", "iRBU", "RR") and rng.random() < 0.6:
        params["cutoff"] = rng.choice((1, 2, 3, 5, 8))
    return params


MEASURES = {m.NAME: m for m in (gRBP, RBP, ERR, iRBU, P, Success, RR, NumRet, SetP)}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("name", unjudged.WITH_BOUNDS)
def test_bounds_equal_the_reference(name):
    rng = random.Random(name)  # noqa: S311
    wider = 0
    for _ in range(30):
        qrels = {t: {d: rng.choice((-1, 0, 1, 2, 3)) for d in rng.sample(IDS[:12], 6)} for t in "12345678"}
        run = {
            t: {d: rng.choice((1.0, 2.0, 3.0)) for d in rng.sample(IDS[:12], rng.randint(1, 8))}
            for t in "123456"
        }
        params = parameters(rng, name)
        form = rng.choice((run, cases.run_frame(cases.run_rows(run))))
        found = ir_graded.score_bounds(MEASURES[name](**params), qrels, form)
        scale = {level for levels in qrels.values() for level in levels.values()}
        for at, (topic, levels) in enumerate(qrels.items()):
            order = ranked.ranking(run.get(topic, {}))
            highest = params.get("max_rel", max(scale))
            expected = unjudged.bounds(name, params, levels, order, highest, scale)
            got = found.lower[0, 0, at], found.upper[0, 0, at]
            assert got == pytest.approx(expected, rel=0, abs=1e-13)
            wider += got[1] > got[0]
    assert wider > 40


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("utility", ["rr", "ie"])
def test_bounds_of_the_cascade_are_the_extremes_over_all_completions(utility):
    rng = random.Random(utility)  # noqa: S311
    wider = 0
    for _ in range(60):
        levels = {doc: rng.choice((-1, 0, 1, 2, 3)) for doc in rng.sample(IDS[:8], 4)}
        run = {doc: rng.choice((1.0, 2.0, 3.0)) for doc in rng.sample(IDS[:8], rng.randint(1, 6))}
        params = {"stop": "err", "utility": utility, "max_rel": 3, "rel": rng.choice((1, 1, 2))}
        params["gains"] = rng.choice(({}, {1: 1, 2: 3, 3: 7}, {1: 5, 3: 2}, {2: 0}))
        if rng.random() < 0.5:
            params["cutoff"] = rng.choice((1, 2, 5))
        if utility == "ie":
            params["p"] = rng.choice((0.5, 0.99))
        found = ir_graded.score_bounds(NCU(**params), {"1": levels}, {"1": run})
        scale = range(4)
        expected = unjudged.bounds_by_enumeration(
            "NCU", params, levels, ranked.ranking(run), scale, set(scale)
        )
        got = found.lower.item(), found.upper.item()
        assert got == pytest.approx(expected, rel=0, abs=1e-13)
        wider += got[1] > got[0]
    assert wider > 20


@pytest.mark.slow
def test_lower_bounds_are_the_scores_of_evaluate():
    covid = covid_sample()
    measures = ["gRBP", "P@10", "ERR@20", "RBP(p=0.8,rel=1)"]
    found = ir_graded.score_bounds(measures, covid.qrels, covid.runs)
    assert np.array_equal(found.lower, ir_graded.evaluate(measures, covid.qrels, covid.runs).values)
    assert (found.residual >= 0).all()


def test_residual_of_gRBP_equals_that_of_its_metrics():
    covid = covid_sample()
    name, run = next(iter(covid.runs.items()))
    found = ir_graded.score_bounds(gRBP(p=0.9) @ 20, covid.qrels, {name: run})
    metrics = gRBP(p=0.9, residual=True) @ 20
    expected = [metric.residual for metric in metrics.iter_calc(covid.qrels, run)]
    assert found.residual[0, 0].tolist() == pytest.approx(expected, rel=0, abs=1e-15)


@pytest.mark.parametrize(
    "measure",
    [
        "Q", "nDCG@10", "R@5", "AP", "SetP(relative=True)", "NumRet", "Bpref", "P(judged_only=True)@5",
        "Judged@5", "EBR", "NCU(stop='err',utility='rr',norm='ideal')", "NCU(stop='rb',utility='ie')",
    ],
)  # fmt: skip
def test_measure_without_bounds_is_rejected_by_name(measure):
    with pytest.raises(ir_graded.ParameterError) as caught:
        ir_graded.score_bounds(["P@5", measure], QRELS, RUN)
    assert str(caught.value).startswith(str(ir_graded.evaluate(measure, QRELS, RUN).measures[0]))
    assert "exact bounds require a score that rises with every gain" in str(caught.value)
    assert "ir_graded.score_intervals" in str(caught.value)


@pytest.mark.parametrize("function", ["score_bounds", "score_intervals"])
@pytest.mark.parametrize("measure", ["NumRel(rel=2)", "MAgP"])
def test_passage_measures_and_measures_of_other_providers_are_rejected(function, measure):
    with pytest.raises(ir_graded.GradedError, match=re.escape(measure)):
        getattr(ir_graded, function)(measure, QRELS, RUN)


def test_frames_hold_bounds_by_topic_and_their_means():
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    runs = {"poor": {"1": {"x": 1.0}}, "good": {"1": {"a": 2.0}, "2": {"x": 1.0}}}
    with pytest.warns(ir_graded.CoverageWarning):
        found = ir_graded.score_bounds(["P@1", "NumRet(rel=1)"], qrels, runs)
    assert found.to_frame().columns.tolist() == ["run", "query_id", "measure", "lower", "upper", "residual"]
    assert found.to_frame()["upper"].tolist() == [1, 0, 1, 1, 1, 0, 1, 1]
    mean = found.mean()
    assert mean.index.tolist() == ["good", "poor"]
    assert mean["P@1"].to_numpy().tolist() == [[0.5, 1, 0.5], [0, 0.5, 0.5]]
    assert mean["NumRet(rel=1)"].to_numpy().tolist() == [[1, 2, 1], [0, 1, 1]]


@pytest.mark.parametrize("ask", [ir_graded.score_bounds, ir_graded.score_intervals])
def test_ties_other_than_doc_id_are_rejected(ask):
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.0}}
    message = r"P\(ties='expected'\)@1: .* by doc_id; remove the parameter ties"
    with pytest.raises(ParameterError, match=message):
        ask(["P(ties='expected')@1", "P@1"], qrels, run)


def test_a_residual_requires_the_order_by_doc_id():
    with pytest.raises(ParameterError, match="residual=True needs ties='doc_id'"):
        gRBP(residual=True, ties="expected")


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_scale_without_gains_has_zero_upper_bounds():
    qrels, run = {"1": {"a": 0}}, {"1": {"a": 2.0, "x": 1.0}}
    found = ir_graded.score_bounds(["gRBP(p=0.8)", "iRBU"], qrels, run)
    assert found.upper.tolist() == [[[0.0]], [[0.0]]]
