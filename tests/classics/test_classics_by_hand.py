"""One small topic, worked out by hand for every classic."""

from math import log2

import ir_measures
import pytest
from classics.classic_cases import OF_DOCUMENTS
from ir_measures import (
    AP,
    BPM,
    ERR,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    RBP,
    RR,
    SDCG,
    Accuracy,
    Bpref,
    Compat,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)

import ir_graded

#: x is unjudged, and d has a negative level; e is not retrieved. Ranking: x a c d b.
QRELS = {"1": {"a": 2, "b": 1, "c": 0, "d": -1, "e": 1}}
RUN = {"1": {"x": 5.0, "a": 4.0, "c": 3.0, "d": 2.0, "b": 1.0}}
#: Smoothing in infAP.
E = 0.00001
CONDENSED = {"judged_only": True}  # a c b

CASES = [
    (AP, (1 / 2 + 2 / 5) / 3),
    (AP @ 3, 1 / 2 / 3),
    (AP(**CONDENSED), (1 + 2 / 3) / 3),
    (AP(rel=2), 1 / 2),
    (RR, 1 / 2),
    (RR @ 1, 0),
    (RR(**CONDENSED), 1),
    (P @ 5, 2 / 5),
    (P @ 10, 2 / 10),
    (P(**CONDENSED) @ 3, 2 / 3),
    (R @ 2, 1 / 3),
    (R(rel=2) @ 2, 1),
    (Rprec, 1 / 3),
    (Rprec(**CONDENSED), 2 / 3),
    (Success @ 1, 0),
    (Success @ 2, 1),
    (Success(rel=3) @ 5, 0),
    # c is the only document judged not relevant; b is ranked below it.
    (Bpref, (1 + 0) / 3),
    (Bpref(rel=2), 1),
    # At the rank of a, nothing above is of the pool. Above b are a, c (not relevant) and d (not judged).
    (infAP, (1 / 2 + 1 / 5 + 3 / 5 * (1 + E) / (2 + 2 * E)) / 3),
    (infAP(rel=2), 1 / 2),
    (nDCG, (2 / log2(3) + 1 / log2(6)) / (2 + 1 / log2(3) + 1 / log2(4))),
    (nDCG @ 2, 2 / log2(3) / (2 + 1 / log2(3))),
    (nDCG(**CONDENSED), (2 + 1 / log2(4)) / (2 + 1 / log2(3) + 1 / log2(4))),
    (
        nDCG(gains={1: 3, 0: 1}),
        (2 / log2(3) + 1 / log2(4) + 3 / log2(6)) / (3 + 3 / log2(3) + 2 / log2(4) + 1 / log2(5)),
    ),
    # Here c is unjudged and d is judged: the condensed list is a d b, with the levels 2, 3, 1.
    (
        nDCG(gains={0: -1, -1: 3}, **CONDENSED),
        (2 + 3 / log2(3) + 1 / log2(4)) / (3 + 2 / log2(3) + 1 / log2(4) + 1 / log2(5)),
    ),
    (nDCG(dcg="exp-log2") @ 5, (3 / log2(3) + 1 / log2(6)) / (3 + 1 / log2(3) + 1 / log2(4))),
    (nDCG(dcg="exp-log2") @ 2, 3 / log2(3) / (3 + 1 / log2(3))),
    (ERR @ 2, 3 / 16 / 2),
    (ERR @ 20, 3 / 16 / 2 + 13 / 16 * 1 / 16 / 5),
    (RBP(rel=1, p=0.5), (1 / 2 + 1 / 16) / 2),
    (RBP(rel=2), 0.8 * 0.2),
    (RBP(rel=1, p=1.0), 2 / 1000),
    (RBP(rel=1, p=0.0), 0),
    (Judged, 4 / 5),
    (Judged @ 2, 1 / 2),
    (Judged @ 10, 4 / 5),
    (NumRet, 5),
    (NumRet(rel=1), 2),
    (NumRel, 3),
    (NumQ, 1),
    (SetP, 2 / 5),
    (SetP(**CONDENSED), 2 / 3),
    (SetP(relative=True), 2 / 3),
    (SetR, 2 / 3),
    (SetF, 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)),
    (SetF(beta=2.0), 3 * (2 / 5) * (2 / 3) / (2 * 2 / 5 + 2 / 3)),
    (SetF(**CONDENSED), 2 / 3),
    (SetAP, 2 / 5 * 2 / 3),
    (IPrec @ 0.5, 2 / 5),  # 2 of 3 documents
    (IPrec @ 0.0, 1 / 2),
    (Accuracy, ((1 - 1 / 3) + (1 - 3 / 3)) / 2),
    (Accuracy @ 3, 1 - 1 / 2),
    # The ideal list is a b e. At ranks 1 to 5 the lists share 0, 1, 1, 1 and 2 documents.
    (Compat(p=0.5), (1 / 4 + 1 / 12 + 1 / 32 + 2 / 80) / (1 + 1 / 2 + 1 / 4 + 3 / 32 + 3 / 80)),
    (SDCG(max_rel=2) @ 2, 1 / log2(3) / (1 + 1 / log2(3))),
    (SDCG(max_rel=4) @ 3, 1 / 2 / log2(3) / (1 + 1 / log2(3) + 1 / 2)),
    (INSQ(max_rel=2), (1 / 9 + 1 / 2 / 36) / sum(1 / (n + 1) ** 2 for n in range(1, 1001))),
    # Two documents with a gain of 1 and 1/2: the first 2 ranks, or all 5.
    (BPM(max_rel=2) @ 5, 1 / 2),
    (BPM(max_rel=2, T=1.5) @ 5, 3 / 2 / 5),
    (NERR8(max_rel=4) @ 4, 1 / 2 / (1 + 1 + 1 / 2 + 1 / 2)),
    (NERR9(max_rel=4) @ 4, 1 / 2 / 2 / (1 + 1 / 2 + 1 / 2 / 3 + 1 / 2 / 4)),
    (NERR10(max_rel=2, p=0.5), 1 / 2 / (1 + 1 / 2)),
    (NERR11(max_rel=2), 1 / 9 / (1 / 4 + 1 / 9)),
    # At ranks 3 to 5, 2T - cg is 1 less.
    (
        INST(max_rel=2),
        (4 / 9 + (2 / 3 * 2 / 5) ** 2 / 2)
        / (
            1
            + 4 / 9
            + sum((2 / 3 * 2 / n) ** 2 for n in (3, 4, 5))
            + sum((2 / 3 * 2 / 5 * 4.5 / (n - 0.5)) ** 2 for n in range(6, 1001))
        ),
    ),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_classics_equal_values_by_hand():
    assert {measure.NAME for measure, _ in CASES} == set(OF_DOCUMENTS)
    for measure, expected in CASES:
        found = ir_graded.evaluate(measure, QRELS, RUN).values.item()
        assert found == pytest.approx(expected, abs=1e-12), measure


def test_fractional_levels_are_scored():
    qrels, run = {"1": {"a": 0.5, "b": 1.5, "c": -0.5}}, {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}
    cases = {
        nDCG: (0.5 + 1.5 / 2) / (1.5 + 0.5 / log2(3)),
        nDCG(judged_only=True): (0.5 + 1.5 / log2(3)) / (1.5 + 0.5 / log2(3)),
        AP: 1 / 3,
        ERR @ 3: (2**0.5 - 1) / 16 + (1 - (2**0.5 - 1) / 16) * (2**1.5 - 1) / 16 / 3,
        Judged: 1,
        Bpref: 0,
        NumRel: 1,
    }
    values = ir_graded.evaluate(list(cases), qrels, run).values.ravel()
    assert values.tolist() == pytest.approx(list(cases.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "level", "highest"),
    [("ERR@20", 5, "4"), ("ERR@20", 4.5, "4"), ("nDCG(dcg='exp-log2')@3", 1001, "1000")],
)
def test_a_level_above_the_scale_is_rejected(measure, level, highest):
    message = (
        rf"topic '1', document 'a' has level {level:g}, above {highest}, the highest level of the measure$"
    )
    with pytest.raises(ir_graded.InputError, match=message):
        ir_graded.evaluate(measure, {"1": {"a": level}}, RUN)


def test_the_highest_level_of_the_scale_is_scored():
    values = ir_graded.evaluate(["ERR@1", "nDCG(dcg='exp-log2')@3"], {"1": {"x": 4}}, RUN).values.ravel()
    assert values.tolist() == [15 / 16, 1.0]
    assert ir_graded.evaluate("nDCG(dcg='exp-log2')@3", {"1": {"x": 1000}}, RUN).values.item() == 1


def test_rbp_ignores_documents_below_rank_1000():
    run = {"1": {f"d{rank}": -float(rank) for rank in range(1, 1002)}}
    for doc, expected in (("d1000", 1 / 1000), ("d1001", 0)):
        assert ir_graded.evaluate(RBP(rel=1, p=1.0), {"1": {doc: 1}}, run).values.item() == expected


def test_interpolated_precision_rounds_up_from_a_tenth_of_a_document():
    """Recall .305 of ten documents is 3.05 documents, for which trec_eval 9 takes three; .311 takes four."""
    qrels = {"1": {f"d{n}": 1 for n in range(10)}}
    run = {"1": {doc: -float(n) for n, doc in enumerate(["d0", "d1", "d2", "x", "y", "z", "w", "d3"])}}
    scores = ir_graded.evaluate(["IPrec@0.305", "IPrec@0.3", "IPrec@0.311"], qrels, run)
    assert scores.values.ravel().tolist() == [1.0, 1.0, 0.5]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"a": 1.0, "x": 1.0, "y": 1.0, "z": 0.5}, 2 / 3),  # 1, 2/3 or 1/3
        ({"b": 2.0, "a": 1.0, "x": 1.0}, (1 + 1 / 2) / 2),
        ({"a": 1.0}, 1.0),
    ],
)
def test_expected_accuracy_counts_tied_others_by_half(run, expected):
    scores = ir_graded.evaluate("Accuracy", {"1": {"a": 1, "b": 1}}, {"1": run}, ties="expected")
    assert scores.values.item() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["INST(max_rel=2)", "SDCG(max_rel=2)@3", "NERR8(max_rel=2)@3"])
def test_levels_above_the_scale_count_as_its_highest_with_a_warning(name):
    run = {"1": {"a": 2.0, "b": 1.0}}
    with pytest.warns(ir_graded.CoverageWarning, match=r"level 5, above max_rel=2; it counts as 2"):
        found = ir_graded.evaluate(name, {"1": {"a": 5, "b": 1}}, run).values
    assert found.tolist() == ir_graded.evaluate(name, {"1": {"a": 2, "b": 1}}, run).values.tolist()


@pytest.mark.parametrize("alpha", [0.0, 1e-7, 0.5])
def test_a_huge_cutoff_over_intents_takes_no_time(alpha):
    rows = [ir_measures.Qrel("1", doc, 1, intent) for doc, intent in ("a1", "a2", "b2")]
    found = ir_graded.evaluate(
        f"alpha_DCG(alpha={alpha})@9223372036854775807 alpha_DCG(alpha={alpha})@70000",
        rows,
        {"1": {"a": 2.0, "b": 1.0}},
    )
    huge, large = found.values.ravel().tolist()
    assert 0 <= huge <= large
