"""RBP without rel, which ir-measures describes as graded and no provider computes."""

import ir_measures
import pytest
from ir_measures import RBP

import ir_graded

QRELS, RUN = {"1": {"a": 2}}, {"1": {"a": 1.0}}
SCORED_BY = [
    lambda measure: ir_graded.evaluate([measure], QRELS, RUN),
    lambda measure: ir_graded.evaluate(["Q", measure], QRELS, RUN),
    lambda measure: ir_graded.explain(measure, QRELS, RUN, "1"),
    lambda measure: ir_measures.calc_aggregate([measure], QRELS, RUN),
    lambda measure: ir_measures.calc_aggregate(["Q", measure], QRELS, RUN),
]


@pytest.mark.parametrize("score", SCORED_BY)
@pytest.mark.parametrize("measure", [RBP, RBP(p=0.5), "RBP(p=0.5)"], ids=repr)
def test_rbp_without_rel_is_an_error_that_suggests_both_ways_to_write_it(score, measure):
    p = 0.8 if measure is RBP else 0.5
    with pytest.raises(ir_graded.ParameterError, match=rf"gRBP\(p={p}\).* or RBP\(p={p},rel=1\)"):
        score(measure)


def test_rbp_with_rel_is_computed():
    assert ir_measures.calc_aggregate([RBP(p=0.5, rel=1)], QRELS, RUN) == {RBP(p=0.5, rel=1): 0.5}
