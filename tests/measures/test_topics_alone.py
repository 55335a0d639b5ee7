"""A topic has one score alone and among others, even with weights at the limit."""

import pytest
from measures import measure_cases as cases

from ir_graded import EBR, GAP, NCU, Q, iRBU, nERR

#: Levels 1 to 3 have plain weights; 4 and 5 have extreme weights.
PLAIN = {"a": 3, "b": 1, "c": 2}
LARGE = {"a": 3, "b": 5, "c": 4, "d": 5}
SMALL = {"b": 6, "c": 6}
RUN = {"b": 3.0, "x": 2.0, "a": 1.0, "c": 0.5}
WEIGHTS = {4: 1e100, 5: 1e100, 6: 1e-100}


@pytest.mark.parametrize(
    "measure",
    [
        GAP(weights={1: 0, 2: 0, 3: 0, **WEIGHTS}),
        GAP(weights={1: 0, 2: 0, 3: 0, **WEIGHTS}, norm="cutoff") @ 2,
        NCU(stops=WEIGHTS),
        Q(gains=WEIGHTS, beta=1e100),
        nERR(gains=WEIGHTS, max_rel=6),
    ],
    ids=str,
)
@pytest.mark.parametrize("order", [(PLAIN, LARGE, SMALL), (LARGE, PLAIN, PLAIN), (PLAIN, PLAIN, LARGE)])
def test_a_topic_scores_the_same_alone_and_among_others(measure, order):
    qrels = {str(number): levels for number, levels in enumerate(order)}
    together = cases.scores(measure, qrels, dict.fromkeys(qrels, RUN))
    # The levels of the other topics stay in the qrels, so that the scale does not change.
    for topic, levels in qrels.items():
        rest = {other: {"z": level} for other, level in zip("pqr", (4, 5, 6), strict=True)}
        alone = cases.scores(measure, {topic: levels, **rest}, {topic: RUN})
        assert together[topic] == alone[topic]
    assert max(together.values()) > 0


@pytest.mark.parametrize("measure", [EBR(beta=0), nERR, iRBU], ids=str)
def test_a_certain_stop_is_not_affected_by_a_long_topic_without_stops(measure):
    long = {f"d{n:02}": 1 for n in range(80)}
    qrels = {"1": {"d00": 2, "d01": 2}, "2": long, "3": {"d00": 2}}
    run = {doc: -float(n) for n, doc in enumerate(long)}
    found = cases.scores(measure(gains={1: 0, 2: 1e100}), qrels, dict.fromkeys(qrels, run))
    assert found["2"] == 0
    assert found["1"] == found["3"] > 0.9
