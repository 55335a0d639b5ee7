"""Perfect lists of any length score 1 at most, although rounding may give a larger sum."""

import pytest

from ir_graded import AWP, GAP, NCU, Q
from ir_graded.core.views import Views
from ir_graded.matching.judgments import from_dicts
from ir_graded.matching.match import match_run

LEVELS = {f"topic {R}": {f"d{n:02}": 1 + n % 3 for n in range(R)} for R in range(1, 60)}
JUDGMENTS = from_dicts(LEVELS)
IDEAL = {topic: {doc: float(level) for doc, level in docs.items()} for topic, docs in LEVELS.items()}


@pytest.mark.parametrize("measure", [Q, AWP, GAP, NCU, NCU(stop="rb")], ids=str)
def test_rounding_does_not_raise_a_score_above_1(measure):
    views = Views(JUDGMENTS.levels, match_run(JUDGMENTS, IDEAL))
    scores = measure.score(views)
    assert measure.contributions(views).total().max() > 1  # otherwise the bound would not be needed
    assert scores.max() == 1
    assert scores.min() >= 1 - 1e-14
