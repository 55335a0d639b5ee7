"""Precision in which scores are compared: that of the installed pytrec_eval.

Some versions rank by float32 scores, and all measures of one call must use the same ranking.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ir_graded._utils.pytrec_eval_guard import RelevanceEvaluator
from ir_graded.core.ranking import Scores
from ir_graded.core.segments import Floats


@lru_cache(maxsize=1)
def compares_single_precision() -> bool:
    """Return whether pytrec_eval ranks by float32 scores, by a test with two scores equal as float32."""
    evaluator = RelevanceEvaluator({"1": {"a": 1}}, {"recip_rank"})
    # In double precision a is first; as float32 the two tie, and b comes first.
    return bool(evaluator.evaluate({"1": {"a": 1.00000001, "b": 1.0}})["1"]["recip_rank"] < 1)


def comparable(scores: Floats) -> Scores:
    """Return scores in the precision in which they are compared."""
    if not compares_single_precision():
        return scores
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32)
