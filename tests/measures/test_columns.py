"""The contribution of each document, and the symbols beside it, for a small list worked out by hand."""

import ir_measures
import pytest

from ir_graded import BR, EBR, GAP, NCU, R_WP, O, P_measure, P_plus, Q, R_measure, gRBP, iRBU, nCG, nERR
from ir_graded.core.views import Cut, Views
from ir_graded.matching.judgments import from_dicts
from ir_graded.matching.match import match_run
from ir_graded.measures.classic import scorer_of

JUDGMENTS = from_dicts({"1": {"a": 3, "b": 1, "c": 0, "d": 2}})
#: Ranks 2 (b) and 4 (a) are relevant; the gains of the ideal list are 3, 2, 1.
RUN = {"1": {"x": 9.0, "b": 8.0, "c": 7.0, "a": 6.0}}

GAINS = {"gain": [1, 3], "cg": [1, 4], "cg_star": [5, 6]}
BLENDED = [(1 + 1) / (2 + 5), (2 + 4) / (4 + 6)]
CASCADE = [1 / 4, 3 / 4 * 3 / 4]


def blended(stop, utility=BLENDED):
    return {**GAINS, "stop": stop, "utility": utility, "BR": utility}


def views():
    return Views(JUDGMENTS.levels, match_run(JUDGMENTS, RUN))


def contributions(measure):
    return measure.contributions(views())


COLUMNS = {
    Q: blended([1 / 3, 1 / 3]),
    Q(beta=0): blended([1 / 3, 1 / 3], [1 / 2, 2 / 4]),
    Q(gains={3: 7}): {
        **blended([1 / 3, 1 / 3], [2 / (2 + 9), 10 / (4 + 10)]),
        "gain": [1, 7],
        "cg": [1, 8],
        "cg_star": [9, 10],
    },
    O: blended([1, 0]),
    P_measure: blended([0, 1]),
    P_plus: blended([1 / 2, 1 / 2]),
    NCU: blended([1 / 6, 3 / 6]),
    EBR: blended(CASCADE),
    iRBU(p=0.5): {**GAINS, "stop": CASCADE, "utility": [1 / 4, 1 / 16]},
    nERR: {**GAINS, "stop": CASCADE, "utility": [1 / 2, 1 / 4]},
    gRBP(p=0.5): {**GAINS, "stop": [1 / 4, 1 / 16], "utility": [1 / 3, 1]},
    GAP: {"stop": [1 / 10, 6 / 10], "utility": [1 / 2, (1 * 2 + 2 * 1 + 3 * 1) / 4 / 6]},
    R_measure: {**GAINS, "BR": BLENDED},
    R_measure(gains={3: 8}): {
        "gain": [1, 8],
        "cg": [1, 9],
        "cg_star": [10, 11],
        "BR": [2 / (2 + 10), 11 / (4 + 11)],
    },
    R_WP: {**GAINS, "BR": [1 / 5, 4 / 6]},
    nCG @ 4: {**GAINS, "BR": [1 / 5, 4 / 6]},
    BR @ 4: {**GAINS, "BR": BLENDED},
}


@pytest.mark.parametrize("measure", COLUMNS, ids=str)
def test_columns_equal_values_by_hand(measure):
    found = measure.columns(views())
    assert {n: pytest.approx(values.tolist(), abs=1e-15) for n, values in found.items()} == COLUMNS[measure]


NORMS = {
    nERR: (3 / 4 + 1 / 4 * 2 / 4 / 2 + 1 / 4 * 2 / 4 * 1 / 4 / 3, "ERR of the ideal list"),
    nERR @ 1: (3 / 4, "ERR of the ideal list"),
    nERR @ 2: (3 / 4 + 1 / 4 * 2 / 4 / 2, "ERR of the ideal list"),
    Q: (None, ""),
}


@pytest.mark.parametrize("measure", NORMS, ids=str)
def test_divisors_equal_values_by_hand(measure):
    found = contributions(measure)
    norm, name = NORMS[measure]
    assert found.norm_name == name
    assert norm is None if found.norm is None else found.norm.tolist() == pytest.approx([norm])


#: At-rank measures: BR there, shared by the documents up to it by 1 + beta g; documents below get nothing.
SHARED = {
    R_measure: [(1 + 1) / (3 + 6), 0],
    BR @ 4: [6 / 10 * 2 / 6, 6 / 10 * 4 / 6],
    BR(beta=3) @ 4: [(2 + 3 * 4) / (4 + 3 * 6) * 4 / 14, (2 + 3 * 4) / (4 + 3 * 6) * 10 / 14],
    BR(gains={3: 8}) @ 4: [(2 + 9) / (4 + 11) * 2 / 11, (2 + 9) / (4 + 11) * 9 / 11],
    nCG @ 3: [1 / 6],
    R_WP: [1 / 6, 0],
    nCG(gains={1: 0, 2: 0, 3: 0}) @ 4: [1 / 4, 1 / 4],
    R_WP(gains={1: 0, 2: 0, 3: 0}): [1 / 3, 0],
    GAP: [1 / 10 * 1 / 2, 6 / 10 * 7 / 24],
}


@pytest.mark.parametrize("measure", SHARED, ids=str)
def test_contributions_equal_values_by_hand(measure):
    found = contributions(measure)
    assert found.value.tolist() == pytest.approx(SHARED[measure], abs=1e-15)
    assert found.total().tolist() == pytest.approx([sum(SHARED[measure])], abs=1e-15)


def test_documents_have_names_ranks_and_levels():
    whole, cut = contributions(Q).view, contributions(Q(judged_only=True) @ 3).view
    assert (whole.kind, whole.cutoff, whole.rank_in_run) == ("relevant documents", None, None)
    assert (whole.n.tolist(), whole.R.tolist()) == ([2, 4], [3])
    assert (cut.kind, cut.cutoff, cut.rank_in_run.tolist()) == ("relevant documents", 3, [2, 4])
    assert (cut.n.tolist(), cut.R.tolist()) == ([1, 3], [3])


@pytest.mark.parametrize(
    ("rel", "cutoff", "retrieved", "seen"), [(1, None, 2, 2), (1, 3, 2, 1), (3, 3, 1, 0)]
)
def test_documents_below_the_cutoff_count_as_retrieved(rel, cutoff, retrieved, seen):
    view = views()[Cut(rel, False, cutoff)]
    assert (view.retrieved.tolist(), view.n.size) == ([retrieved], seen)


def test_documents_of_every_level_count_as_judged():
    scorer = scorer_of(ir_measures.Judged @ 3)
    assert scorer.contributions(views()).view.kind == "judged documents"
