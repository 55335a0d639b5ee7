"""Identities between measures, and bounds, on any input (tests/contracts: properties of all measures)."""

import itertools
import math

import pytest
from hypothesis import assume, given, strategies as st
from ir_measures import AP, RR, P, Rprec
from measures import measure_cases as cases
from reference import ranked

import ir_graded
from ir_graded import AWP, BR, EBR, GAP, NCU, R_WP, O, P_measure, P_plus, Q, R_measure, iRBU, nCG, nERR

CUTOFFS = st.one_of(st.integers(1, 20), st.just(1000))
BETAS = st.one_of(st.sampled_from([0, 1e-3, 1, 10, 1e6, math.inf]), st.floats(0, 1000, allow_subnormal=False))
WHOLE_QRELS = cases.qrels_for_pytrec_eval()


def both(one, other, qrels, run):
    """Return the scores by topic of two measures, from one call."""
    found = cases.scores_of_all([one, other], qrels, run)
    return found[one], found[other]


def assert_equal_on(one, other, qrels, run):
    cases.assert_same_scores(*both(one, other, qrels, run))


# ----------------------------------------------------------------- ir_measures' own measures (pytrec_eval)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(Q(beta=0), AP), (O(beta=0), RR), (R_measure(beta=0), Rprec), (NCU(stop="u", beta=0), AP)],
    ids=str,
)
@pytest.mark.parametrize("with_rel", [False, True])
@cases.examples(30)
@given(
    qrels=WHOLE_QRELS,
    run=cases.runs_for_pytrec_eval(min_docs=1),
    rel=st.sampled_from([1, 2, 3, 4, 16]),
    judged_only=st.booleans(),
)
def test_beta_zero_equals_the_binary_measure(ours, theirs, with_rel, qrels, run, rel, judged_only):
    params = {"rel": rel, "judged_only": judged_only} if with_rel else {}
    assert_equal_on(ours(**params), theirs(**params), qrels, run)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(Q(beta=0), AP), (BR(beta=0), P), (NCU(stop="u", beta=0), AP)], ids=str
)
@cases.examples(30)
@given(
    qrels=WHOLE_QRELS, run=cases.runs_for_pytrec_eval(min_docs=1), cutoff=CUTOFFS, judged_only=st.booleans()
)
def test_beta_zero_with_a_cutoff_equals_the_binary_measure(ours, theirs, qrels, run, cutoff, judged_only):
    params = {"cutoff": cutoff, "judged_only": judged_only}
    assert_equal_on(ours(**params), theirs(**params), qrels, run)


@pytest.mark.slow
@pytest.mark.filterwarnings(cases.CLOSE_SCORES)
@cases.examples(30)
@given(qrels=WHOLE_QRELS, runs=cases.runs_twice(min_docs=1))
def test_all_measures_of_one_call_use_one_ranking(qrels, runs):
    for run in runs:
        got = cases.scores_of_all([Q(beta=0), AP, O(beta=0), RR], qrels, run)
        cases.assert_same_scores(got[Q(beta=0)], got[AP])
        cases.assert_same_scores(got[O(beta=0)], got[RR])


@cases.examples(30)
@given(qrels=cases.qrels(["binary"]), run=cases.runs_for_pytrec_eval(min_docs=1))
def test_gap_of_binary_relevance_equals_ap(qrels, run):
    assert_equal_on(GAP, AP, qrels, run)


# --------------------------------------------------------------------------------- measures of the package


@pytest.mark.parametrize(
    ("stop", "measure"),
    [("u", Q), ("first", O), ("preferred", P_measure), ("up_to_preferred", P_plus), ("err", EBR)],
)
@cases.examples(30)
@given(qrels=cases.qrels(), run=cases.runs(), beta=BETAS, data=st.data())
def test_ncu_equals_the_measure_with_its_stop(stop, measure, qrels, run, beta, data):
    params = data.draw(cases.parameters(measure)) | {"beta": beta}
    assert_equal_on(NCU(stop=stop, **params), measure(**params), qrels, run)


@pytest.mark.slow
@cases.examples(50)
@given(qrels=cases.qrels(), run=cases.runs(), beta=BETAS, weight=st.sampled_from([0.1, 1, 7]), data=st.data())
def test_no_rank_bias_and_equal_weights_equal_the_uniform_stop(qrels, run, beta, weight, data):
    params = data.draw(cases.parameters(Q)) | {"beta": beta}
    uniform = NCU(stop="u", **params)
    assert_equal_on(NCU(stop="rb", gamma=1, **params), uniform, qrels, run)
    equal = dict.fromkeys(
        (level for levels in qrels.values() for level in levels.values() if level > 0), weight
    )
    assert_equal_on(NCU(stop="gu", stops=equal, **params), uniform, qrels, run)


@pytest.mark.slow
@cases.examples(30)
@given(qrels=cases.qrels(), run=cases.runs(), data=st.data())
def test_stop_weights_default_to_gains(qrels, run, data):
    params = data.draw(cases.parameters(NCU(stop="gu"))) | {"stop": "gu"}
    for name in ("gamma", "max_rel", "stops"):
        params.pop(name, None)
    gains = params.get("gains", {})
    levels = {level for docs in qrels.values() for level in docs.values()}
    named = {level: gains.get(level, level) for level in levels if level > 0}
    assert_equal_on(NCU(**params), NCU(**params, stops=named), qrels, run)


@pytest.mark.parametrize(("limit", "measure"), [(AWP, Q), (R_WP, R_measure), (nCG, BR)], ids=str)
@cases.examples(30)
@given(qrels=cases.qrels(), run=cases.runs(), data=st.data())
def test_beta_infinite_equals_weighted_precision(limit, measure, qrels, run, data):
    params = data.draw(cases.parameters(limit))
    assert_equal_on(limit(**params), measure(beta=math.inf, **params), qrels, run)


@pytest.mark.parametrize("measure", [Q, O, P_measure, P_plus, NCU, R_measure, EBR, BR @ 5], ids=str)
@cases.examples(25)
@given(qrels=cases.qrels(), run=cases.runs())
def test_beta_infinite_is_the_limit_of_large_beta(measure, qrels, run):
    large, infinite = both(measure(beta=1e12), measure(beta=math.inf), qrels, run)
    cases.assert_same_scores(large, infinite, 1e-9)


@pytest.mark.parametrize("measure", [Q, AWP, GAP, NCU(stop="u"), NCU(stop="rb"), NCU(stop="gu")], ids=str)
@cases.examples(30)
@given(qrels=cases.qrels(), run=cases.runs(), cutoff=CUTOFFS)
def test_norm_cutoff_never_lowers_the_score(measure, qrels, run, cutoff):
    of_all, of_cutoff = both(measure @ cutoff, measure(norm="cutoff") @ cutoff, qrels, run)
    for topic, levels in qrels.items():
        R = sum(level >= 1 for level in levels.values())
        if cutoff >= R:
            assert of_cutoff[topic] == pytest.approx(of_all[topic], abs=1e-12)
        else:
            assert of_cutoff[topic] >= of_all[topic]


@pytest.mark.parametrize("measure", [R_WP, R_measure], ids=str)
@cases.examples(30)
@given(
    levels=st.dictionaries(st.sampled_from(cases.DOC_IDS), st.sampled_from([0, 1, 2, 5])), run=cases.runs()
)
def test_at_rank_r_equals_the_measure_with_that_cutoff(measure, levels, run):
    R = sum(level > 0 for level in levels.values())
    assume(R > 0)
    at_rank = {R_WP: nCG, R_measure: BR}[measure]
    assert_equal_on(measure, at_rank @ R, {"1": levels}, run)


@pytest.mark.slow
@cases.examples(30)
@given(chosen=cases.measures_with_parameters(), qrels=cases.qrels(), run=cases.runs())
def test_a_cutoff_below_the_end_of_the_list_changes_nothing(chosen, qrels, run):
    measure, params = chosen
    params.pop("cutoff", None)
    if "cutoff" in measure.SUPPORTED_PARAMS and not cases.needs_cutoff(measure, params):
        assert_equal_on(measure(**params), measure(**params) @ 1000, qrels, run)


@pytest.mark.slow
@cases.examples(30)
@given(chosen=cases.measures_with_parameters(), qrels=cases.qrels(), run=cases.runs())
def test_judged_only_equals_the_run_without_unjudged_documents(chosen, qrels, run):
    measure, params = chosen
    condensed = {
        topic: {doc_id: score for doc_id, score in docs.items() if qrels.get(topic, {}).get(doc_id, -1) >= 0}
        for topic, docs in run.items()
    }
    params.pop("judged_only", None)
    # Preferences always use the condensed list.
    condenses = {"judged_only": True} if "judged_only" in measure.SUPPORTED_PARAMS else {}
    got = cases.scores(measure(**params, **condenses), qrels, run)
    cases.assert_same_scores(got, cases.scores(measure(**params), qrels, condensed))


# ------------------------------------------------------------------------------ binary relevance and bounds


def first_relevant_below(rank, levels, scores):
    """Return the ranks below ``rank`` that hold a relevant document."""
    ranking = ranked.ranking(scores)
    return [n for n, doc_id in enumerate(ranking, start=1) if n > rank and levels.get(doc_id, 0) > 0]


@cases.examples(50)
@given(qrels=cases.qrels(["binary"]), run=cases.runs())
def test_q_exceeds_ap_exactly_if_a_relevant_document_is_below_rank_r(qrels, run):
    q, ap = both(Q, Q(beta=0), qrels, run)
    for topic, levels in qrels.items():
        below = first_relevant_below(sum(levels.values()), levels, run.get(topic, {}))
        assert (q[topic] > ap[topic] + 1e-12) if below else q[topic] == pytest.approx(ap[topic], abs=1e-15)


@cases.examples(50)
@given(qrels=cases.qrels(["binary"]), run=cases.runs())
def test_o_exceeds_rr_exactly_if_the_first_relevant_document_is_below_rank_r(qrels, run):
    o, rr = both(O, O(beta=0), qrels, run)
    for topic, levels in qrels.items():
        R, scores = sum(levels.values()), run.get(topic, {})
        first = (first_relevant_below(0, levels, scores) or [0])[0]
        if R > 0 and first > R:
            assert o[topic] > rr[topic] + 1e-12
        else:
            assert o[topic] == pytest.approx(rr[topic], abs=1e-15)


@pytest.mark.slow
@cases.examples(25)
@given(qrels=cases.qrels(["binary"]), run=cases.runs(), beta=BETAS)
def test_p_measures_of_binary_relevance_equal_o_measure(qrels, run, beta):
    for measure in (P_measure, P_plus):
        assert_equal_on(measure(beta=beta), O(beta=beta), qrels, run)


@pytest.mark.parametrize(
    "measure", [R_measure, R_WP, BR @ 3, nCG @ 3, nERR, GAP, Q, AWP, NCU, P_plus], ids=str
)
@pytest.mark.parametrize("levels", [(2.3, 1.7, 1.2), (1.2, 2.3, 1.2)])
def test_rounding_does_not_raise_a_score_above_1(measure, levels):
    qrels = {"1": dict(zip("abc", levels, strict=True))}
    for ranking in itertools.permutations("abc"):
        run = {"1": {doc_id: -float(n) for n, doc_id in enumerate(ranking)}}
        assert cases.scores(measure, qrels, run)["1"] <= 1.0


@pytest.mark.parametrize("measure", [EBR, iRBU, NCU(stop="err")], ids=str)
@cases.examples(25)
@given(qrels=cases.qrels(), run=cases.runs())
def test_unnormalised_cascades_stay_below_1(measure, qrels, run):
    assert all(score < 1 for score in cases.scores(measure, qrels, run).values())


@pytest.mark.parametrize("measure", [EBR, iRBU, nERR, NCU(stop="err")], ids=str)
@cases.examples(25)
@given(qrels=cases.qrels(), run=cases.runs())
def test_max_rel_defaults_to_the_highest_level_of_all_topics(measure, qrels, run):
    highest = max(level for levels in qrels.values() for level in levels.values())
    assert_equal_on(measure, measure(max_rel=highest), qrels, run)


def test_one_perfect_document_scores_half_in_the_cascade():
    assert cases.scores(ir_graded.EBR, {"1": {"a": 1}}, {"1": {"a": 1.0}}) == {"1": 0.5}
