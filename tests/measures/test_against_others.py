"""Agreement with pyNTCIREVAL, a Python version of NTCIREVAL, on full and condensed lists.

Cases in which pyNTCIREVAL is wrong or fails are left out: empty lists; topics without a relevant document or
with weights of 0 only (it raises or divides by 0); negative levels (it counts -1 as the highest level); and
nERR with gains that do not rise with the level (it takes the last gain for the largest, and orders the ideal
list by level).
"""

import pytest
from hypothesis import assume, given, strategies as st
from measures import measure_cases as cases
from pyNTCIREVAL import Labeler, metrics
from reference import ranked

from ir_graded import BR, NCU, O, P_measure, P_plus, Q, nERR

LEVELS = 4
GAIN_TABLES = [(1, 2, 3), (1, 3, 7), (1, 1, 1), (0.5, 2.5, 10), (0, 1, 4)]
STOP_TABLES = [(1, 2, 3), (1, 1, 1), (0, 0.5, 3)]
QRELS = st.dictionaries(st.sampled_from(cases.DOC_IDS), st.integers(0, LEVELS - 1), min_size=1)
RUNS = st.dictionaries(st.sampled_from(cases.DOC_IDS), st.sampled_from(cases.SCORES), min_size=1)
BETAS = st.sampled_from([0, 0.1, 1, 10, 100])


def table(values):
    """Return the values of the levels 1, 2, 3 as a dict."""
    return dict(enumerate(values, start=1))


def assert_agrees(measure, make_metric, levels, scores, condensed):
    """Compare a measure with the metric that ``make_metric`` returns for the numbers of judged documents."""
    labeler = Labeler(levels, is_condensed=condensed)
    labelled = labeler.label(ranked.ranking(scores))
    assume(labelled)
    assume(labeler.compute_rel_num() > 0)
    expected = make_metric(labeler.compute_per_level_doc_num(LEVELS)).compute(labelled)
    got = cases.scores(measure(judged_only=condensed), {"1": levels}, {"1": scores})
    assert got["1"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("condensed", [False, True], ids=["plain", "condensed"])
@pytest.mark.parametrize(
    ("measure", "metric"),
    [
        (Q, metrics.QMeasure),
        (O, metrics.OMeasure),
        (P_measure, metrics.PMeasure),
        (P_plus, metrics.PPlusMeasure),
    ],
    ids=str,
)
@cases.examples(40)
@given(levels=QRELS, scores=RUNS, beta=BETAS, gains=st.sampled_from(GAIN_TABLES))
def test_blended_ratio_measures_equal_pyntcireval(measure, metric, condensed, levels, scores, beta, gains):
    made = measure(beta=beta, gains=table(gains))
    assert_agrees(made, lambda numbers: metric(numbers, gains, beta), levels, scores, condensed)


@pytest.mark.parametrize("condensed", [False, True], ids=["plain", "condensed"])
@cases.examples(40)
@given(levels=QRELS, scores=RUNS, beta=BETAS, gains=st.sampled_from(GAIN_TABLES), cutoff=st.integers(1, 20))
def test_q_with_a_cutoff_equals_pyntcireval(condensed, levels, scores, beta, gains, cutoff):
    made = Q(beta=beta, gains=table(gains), norm="cutoff") @ cutoff
    assert_agrees(
        made, lambda numbers: metrics.QMeasure(numbers, gains, beta, cutoff), levels, scores, condensed
    )


@pytest.mark.parametrize("condensed", [False, True], ids=["plain", "condensed"])
@cases.examples(40)
@given(levels=QRELS, scores=RUNS, cutoff=st.integers(1, 20))
def test_ap_and_precision_with_a_cutoff_equal_pyntcireval(condensed, levels, scores, cutoff):
    ap = Q(beta=0, norm="cutoff") @ cutoff
    assert_agrees(ap, lambda numbers: metrics.AP(numbers, (1, 2, 3), cutoff), levels, scores, condensed)
    assert_agrees(BR(beta=0) @ cutoff, lambda _: metrics.Precision(cutoff), levels, scores, condensed)


@pytest.mark.parametrize("condensed", [False, True], ids=["plain", "condensed"])
@cases.examples(40)
@given(
    levels=QRELS,
    scores=RUNS,
    beta=BETAS,
    gains=st.sampled_from(GAIN_TABLES),
    stops=st.sampled_from(STOP_TABLES),
)
def test_ncu_graded_uniform_equals_pyntcireval(condensed, levels, scores, beta, gains, stops):
    # pyNTCIREVAL divides by zero if all relevant documents have weight 0.
    assume(any(level > 0 and stops[level - 1] > 0 for level in levels.values()))
    made = NCU(stop="gu", beta=beta, gains=table(gains), stops=table(stops))
    assert_agrees(
        made, lambda numbers: metrics.NCUguBR(numbers, gains, stops, beta), levels, scores, condensed
    )
    assert_agrees(
        made(beta=0), lambda numbers: metrics.NCUguP(numbers, gains, stops), levels, scores, condensed
    )


@pytest.mark.parametrize("condensed", [False, True], ids=["plain", "condensed"])
@cases.examples(40)
@given(
    levels=QRELS,
    scores=RUNS,
    beta=BETAS,
    gains=st.sampled_from(GAIN_TABLES),
    gamma=st.sampled_from([0.1, 0.7, 0.95, 0.99, 1]),
)
def test_ncu_rank_biased_equals_pyntcireval(condensed, levels, scores, beta, gains, gamma):
    made = NCU(stop="rb", beta=beta, gains=table(gains), gamma=gamma)
    assert_agrees(
        made, lambda numbers: metrics.NCUrbBR(numbers, gains, gamma, beta), levels, scores, condensed
    )
    assert_agrees(
        made(beta=0), lambda numbers: metrics.NCUrbP(numbers, gains, gamma), levels, scores, condensed
    )


@pytest.mark.parametrize("condensed", [False, True], ids=["plain", "condensed"])
@cases.examples(40)
@given(
    levels=QRELS,
    scores=RUNS,
    gains=st.sampled_from([gains for gains in GAIN_TABLES if gains[0] > 0]),
    cutoff=st.one_of(st.none(), st.integers(1, 20)),
)
def test_nerr_equals_pyntcireval(condensed, levels, scores, gains, cutoff):
    made = nERR(gains=table(gains), max_rel=LEVELS - 1)
    assert_agrees(
        made if cutoff is None else made @ cutoff,
        lambda numbers: metrics.nERR(numbers, gains, cutoff),
        levels,
        scores,
        condensed,
    )
