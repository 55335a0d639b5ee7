"""Residuals of gRBP compared with those of cwl_eval."""

import math

import ir_measures
import pytest
from differential.oracle_cases import not_installed
from reference.tie_cases import rng_of

from ir_graded import gRBP

MISSING = not_installed("cwl", "cwl-eval")


@pytest.mark.slow
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_base_and_residual_of_grbp_equal_rbp_in_cwl_eval():
    from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
    from cwl.ruler.ranking import Ranking

    rng = rng_of("cwl_eval")
    for _ in range(400):
        found = [rng.choice((0, 1, 2, 3, None)) for _ in range(rng.randint(1, 30))]
        p = rng.choice((0.5, 0.8, 0.95, 0.99))
        theirs = RBPCWLMetric(p)
        theirs.residuals = True
        theirs.measure(
            Ranking("1", [math.nan if level is None else level / 3 for level in found], [1.0] * len(found))
        )
        levels = {f"d{n}": level for n, level in enumerate(found) if level is not None}
        run = {f"d{n}": float(-n) for n in range(len(found))}
        # cwl_eval reads 1,000 ranks, and divides by their weight.
        measure, weight = gRBP(p=p, max_rel=3, residual=True) @ 1000, 1 - p**1000
        (metric,) = ir_measures.iter_calc([measure], {"1": levels}, {"1": run})
        assert metric.value / weight == pytest.approx(theirs.expected_utility, rel=0, abs=1e-15)
        assert metric.residual / weight == pytest.approx(theirs.residual_expected_utility, rel=0, abs=1e-15)
