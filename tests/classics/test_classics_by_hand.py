"""Values of classics by hand: soft levels, the highest levels, and limits of ranks."""

from math import log2

import ir_measures
import pytest
from ir_measures import AP, ERR, RBP, Bpref, Judged, NumRel, nDCG

import ir_graded

RUN = {"1": {"x": 5.0, "a": 4.0, "c": 3.0, "d": 2.0, "b": 1.0}}


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
