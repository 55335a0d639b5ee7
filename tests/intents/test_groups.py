"""Group fairness: GF and GFR compared with worked examples, the plain reference and properties."""

import math

import numpy as np
import pandas as pd
import pytest
from intents.intent_cases import GENDER, GENDER_TARGET, GROUP_LEVELS, GROUP_RUN, HINDEX

import ir_graded
from ir_graded import GF, GFR
from ir_graded.errors import InputError, ParameterError

SCALE = {"gains": {2: 3}}


def as_run(ranking):
    """Return a run with this ranking of documents."""
    return {doc: float(-n) for n, doc in enumerate(ranking)}


def frame_of(levels, **memberships):
    """Return qrels of topics with a column of vectors per attribute set; None if a document has none."""
    rows = [(topic, doc, level) for topic, docs in levels.items() for doc, level in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    for name, of_topic in memberships.items():
        frame[name] = pd.Series([of_topic[t].get(doc) for t, doc, _ in rows], index=frame.index, dtype=object)
    return frame


EXAMPLE = frame_of({"1": GROUP_LEVELS}, HINDEX={"1": HINDEX}, GENDER={"1": GENDER})
EXAMPLE_RUN = {"1": as_run(GROUP_RUN)}


def score(measure, qrels=EXAMPLE, run=EXAMPLE_RUN):
    """Return the score of the only topic."""
    return ir_graded.evaluate([measure], qrels, run).values.item()


# ------------------------------------------------------------------------------------------ worked examples


@pytest.mark.parametrize(
    ("divergence", "at_20", "at_3"),
    [
        ("JSD", 0.397854110685, 0.338403794478),
        ("NMD", 0.432291666667, 0.375),
        ("RNOD", 0.356074829085, 0.303660723216),
    ],
)
def test_an_ordinal_attribute_with_a_uniform_target_matches_the_example(divergence, at_20, at_3):
    measure = GF(groups="HINDEX", divergence=divergence, **SCALE)
    assert score(measure @ 20) == pytest.approx(at_20, abs=1e-11)
    assert score(measure @ 3) == pytest.approx(at_3, abs=1e-11)


@pytest.mark.parametrize(
    ("divergence", "expected"), [("JSD", 0.560170808500), ("NMD", 0.60703125), ("RNOD", 0.520081883197)]
)
def test_a_target_with_a_zero_matches_the_example(divergence, expected):
    measure = GF(groups="GENDER", divergence=divergence, target=GENDER_TARGET, **SCALE)
    assert score(measure) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    ("measure", "ordinal", "expected"),
    [("iRBU", "RNOD", 0.572927629403), ("NCU(stop='err',utility='rr')", "NMD", 0.586029158389)],
)
def test_gfr_is_the_mean_of_relevance_and_two_attributes(measure, ordinal, expected):
    params = {"groups": {"HINDEX": ordinal, "GENDER": "JSD"}, "targets": {"GENDER": GENDER_TARGET}}
    assert score(GFR(measure=measure, **params, **SCALE) @ 20) == pytest.approx(expected, abs=1e-11)


# ------------------------------------------------------------------------------------------------ properties


def test_documents_without_membership_are_shared_equally():
    levels = {"1": {"a": 1, "b": 1}}
    run = {"1": as_run(["x", "a", "b"])}
    unknown, equal = {"1": {"a": [1, 0]}}, {"1": {"a": [1, 0], "b": [0.5, 0.5]}}
    found = [score(GF(groups="A"), frame_of(levels, A=each), run) for each in (unknown, equal)]
    assert found[0] == found[1]


def test_documents_that_are_not_relevant_change_the_achieved_distribution():
    levels = {"1": {"a": 1, "b": 0, "c": -1}}
    member = {"1": {"a": [1, 0], "b": [0, 1], "c": [0, 1]}}
    for other in ("b", "c"):
        frame = frame_of(levels, A=member)
        assert score(GF(groups="A", divergence="NMD"), frame, {"1": as_run(["a"])}) == 0.25
        assert score(GF(groups="A", divergence="NMD"), frame, {"1": as_run([other, "a"])}) == 0.5


# ------------------------------------------------------------------------------------------------ parameters


def test_gfr_passes_shared_parameters_to_its_measure():
    params = {"gains": {2: 3}, "rel": 2, "max_rel": 3}
    fair = GF(groups="HINDEX", divergence="NMD", **params) @ 5
    for measure, expected in (
        ("iRBU", "iRBU(gains={2:3},rel=2,max_rel=3)@5"),
        ("iRBU(rel=1.5,gains={2:4})", "iRBU(gains={2:4},max_rel=3,rel=1.5)@5"),
        ("AP", "AP(rel=2)@5"),
        ("Rprec", "Rprec(rel=2)"),
    ):
        mean = (score(expected) + score(fair)) / 2
        found = score(GFR(groups={"HINDEX": "NMD"}, measure=measure, **params) @ 5)
        assert found == pytest.approx(mean, abs=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: GFR(groups={"A": "JSD"}, targets={"B": [0.5, 0.5]}),
            "targets has the key 'B', which groups does not have",
        ),
        (lambda: GFR(groups={"A": "JSD"}, measure="NumRet"), "NumRet"),
        (lambda: GFR(groups={"A": "JSD"}, measure="Q@10"), "Q@10"),
        (lambda: GFR(groups={"A": "JSD"}, measure="Q(ties='expected')"), "ties"),
    ],
)
def test_wrong_parameters_are_rejected(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_target_of_another_length_is_rejected():
    with pytest.raises(ParameterError, match="target has 3 numbers, but HINDEX has 4 groups"):
        score(GF(groups="HINDEX", target=[0.5, 0.5, 0]))


@pytest.mark.parametrize(("params", "highest"), [({}, 4), ({"max_rel": 10}, 4), ({"max_rel": 3}, 3)])
def test_levels_above_the_scale_of_either_part_are_rejected(params, highest):
    measure = GFR(groups={"GENDER": "JSD"}, measure="ERR", **params) @ 3
    assert score(measure, EXAMPLE.assign(relevance=1)) > 0
    with pytest.raises(InputError, match=f"has level 5, above {highest}, the highest level of the measure"):
        score(measure, EXAMPLE.assign(relevance=5))


def test_expected_ties_are_rejected():
    with pytest.raises(ParameterError, match="takes no ties"):
        ir_graded.evaluate([GF(groups="HINDEX")], EXAMPLE, EXAMPLE_RUN, ties="expected")


# ----------------------------------------------------------------------------------------------------- input


def test_qrels_without_the_column_are_rejected():
    with pytest.raises(InputError, match="'AGE'"):
        score(GF(groups="AGE"))
    with pytest.raises(InputError, match="'HINDEX'"):
        score(GF(groups="HINDEX"), {"1": GROUP_LEVELS})


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([0.5, 0.4], r"topic '1', document 'b' \(row 1\): the shares \[0.5, 0.4\] must be"),
        ([1.5, -0.5], "document 'b'.* numbers >= 0 that sum to 1"),
        ([math.nan, 1], "document 'b'.* numbers >= 0 that sum to 1"),
        ([0.5, 0.25, 0.25], "document 'b'.*0.25. is not a sequence of 2 shares as for"),
        ([1], "document 'b'.*: .1. is not a sequence of 2 shares"),
        ("0.5", "document 'b'.*'0.5' is not a sequence"),
        (["a", "b"], "document 'b'.*'a' is not a number"),
        (0.5, "document 'b'.*0.5 is not a sequence"),
    ],
)
def test_wrong_vectors_are_rejected(vector, message):
    frame = frame_of({"1": {"a": 1, "b": 0}}, A={"1": {"a": [1, 0], "b": vector}})
    with pytest.raises(InputError, match=message):
        score(GF(groups="A"), frame, {"1": {"a": 1.0}})


# --------------------------------------------------------------------------------------------------- explain


def test_an_explanation_of_gf_shows_the_achieved_distribution():
    measure = GF(groups="HINDEX", divergence="RNOD", **SCALE) @ 20
    found = ir_graded.explain(measure, EXAMPLE, EXAMPLE_RUN, "1")
    assert found.columns["doc_id"].tolist() == ["a", "d"]
    assert found.columns["rank"].tolist() == [1, 4]
    achieved = np.stack([found.columns[f"a_{group}"] for group in range(1, 5)], axis=1)
    assert achieved.tolist() == [[1, 0, 0, 0], [0.375, 0.125, 0.125, 0.375]]
    assert found.columns["stop"].tolist() == [0.75, 0.0625]
    assert found.columns["contribution"] == pytest.approx(found.columns["stop"] * found.columns["utility"])
    assert found.columns["contribution"].sum() == pytest.approx(found.score, abs=1e-15)


@pytest.mark.parametrize(
    "base", ["iRBU", "iRBU(rel=2)", "nDCG", "Bpref", "AP(judged_only=True)", "RR", "Rprec"]
)
def test_contributions_to_gfr_sum_to_its_score(base):
    params = {"groups": {"HINDEX": "RNOD", "GENDER": "JSD"}, "targets": {"GENDER": GENDER_TARGET}}
    measure = GFR(measure=base, **params) if "judged_only" in base else GFR(measure=base, **params) @ 3
    found = ir_graded.explain(measure, EXAMPLE, EXAMPLE_RUN, "1")
    assert found.columns["contribution"].sum() == pytest.approx(found.score, abs=1e-14)
    assert {"similarity_HINDEX", "similarity_GENDER", "relevance", "stop"} <= found.columns.keys()


def test_gfr_over_classes_needs_both_columns():
    classes = EXAMPLE.assign(equivalence_class=["x", "y", "z", "x"])
    params = {"groups": {"HINDEX": "RNOD"}}
    found = score(GFR(measure="EC(measure='Q')", **params), classes)
    parts = score("EC-Q", classes), score(GF(groups="HINDEX", divergence="RNOD"), classes)
    assert found == pytest.approx(sum(parts) / 2, abs=1e-15)
    with pytest.raises(InputError, match="equivalence_class"):
        score(GFR(measure="EC(measure='Q')", **params))
