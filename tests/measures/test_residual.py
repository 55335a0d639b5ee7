"""gRBP: values by hand, and its residual compared with the plain reference."""

import ir_measures
import pytest
from measures import measure_cases as cases
from reference import ranked, unjudged
from reference.tie_cases import IDS, rng_of

from ir_graded import Q, evaluate, gRBP

QRELS = {"1": {"a": 1, "b": 2}}
RUN = {"1": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}}


def residuals(measure, qrels, run):
    return {metric.query_id: metric.residual for metric in ir_measures.iter_calc([measure], qrels, run)}


@pytest.mark.parametrize(
    ("levels", "p", "base", "residual"),
    [([1, None, 2, None], 0.8, 0.152, 0.672), ([0, 3, None, 2], 0.95, 0.076079166667, 0.859631250000)],
)
def test_worked_examples_have_their_values(levels, p, base, residual):
    run = {"1": {doc_id: -rank for rank, doc_id in enumerate(IDS[: len(levels)])}}
    qrels = {"1": {d: level for d, level in zip(IDS, levels, strict=False) if level is not None}}
    (metric,) = ir_measures.iter_calc([gRBP(p=p, max_rel=3, residual=True)], qrels, run)
    assert (metric.value, metric.residual) == pytest.approx((base, residual), rel=0, abs=1e-12)


def test_value_is_the_base_with_and_without_the_residual():
    plain, asked = gRBP(p=0.8), gRBP(p=0.8, residual=True)
    assert plain != asked
    assert str(asked) == "gRBP(p=0.8,residual=True)"
    assert ir_measures.parse_measure(str(asked)) == asked
    found = ir_measures.calc_aggregate([plain, asked], QRELS, RUN)
    assert found[plain] == found[asked]
    assert evaluate([asked], QRELS, RUN).values.item() == found[asked]


def test_only_metrics_of_measures_with_residual_have_one():
    # Another provider computes AP, so this is a mixed evaluator.
    asked = [gRBP, Q, ir_measures.AP, gRBP(residual=True)]
    found = {m.measure: hasattr(m, "residual") for m in ir_measures.iter_calc(asked, QRELS, RUN)}
    assert found == {gRBP: False, Q: False, ir_measures.AP: False, gRBP(residual=True): True}


def test_adjacent_judged_documents_have_no_residual_between_them():
    levels = {f"d{n:03}": 1 for n in range(100)}
    run = {"1": {doc_id: -rank for rank, doc_id in enumerate(levels)}}
    assert residuals(gRBP(p=0.3, residual=True) @ 100, {"1": levels}, run) == {"1": 0.0}
    assert residuals(gRBP(p=0.3, residual=True), {"1": levels}, run) == {"1": pytest.approx(0.3**100)}


@pytest.mark.slow
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("cutoff", [None, 1, 3, 8])
def test_residual_equals_the_reference(cutoff, judged_only):
    rng = rng_of(f"residual {cutoff} {judged_only}")
    for _ in range(60):
        params = {"p": rng.choice((0.1, 0.5, 0.8, 0.95, 0.999)), "judged_only": judged_only}
        params |= {"cutoff": cutoff} if cutoff else {}
        qrels = {
            topic: {d: rng.choice((-1, 0, 1, 2)) for d in rng.sample(IDS, rng.randint(1, 6))}
            for topic in ("1", "2", "3")
        }
        run = {
            topic: {d: rng.choice((1.0, 2.0, 3.0)) for d in rng.sample(IDS, rng.randint(0, 8))}
            for topic in ("1", "2")
        }
        for form in (run, cases.run_frame(cases.run_rows(run))):
            found = residuals(gRBP(**params, residual=True), qrels, form)
            for topic, levels in qrels.items():
                order = ranked.ranking(run.get(topic, {}))
                expected = unjudged.residual(params, levels, order)
                assert found[topic] == pytest.approx(expected, rel=0, abs=1e-15)
