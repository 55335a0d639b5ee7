"""gRBP: values by hand, and its residual compared with the plain reference."""

import ir_measures
import pytest
from reference.tie_cases import IDS

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
