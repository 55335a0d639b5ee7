"""Parameters of measures: one canonical form, which prints and reads back; other values are rejected."""

import math

import ir_measures
import numpy as np
import pytest
from measures import measure_cases as cases

import ir_graded
from ir_graded import (
    AWP,
    BR,
    EBR,
    GAP,
    NCU,
    R_WP,
    B_pref,
    O,
    P_measure,
    P_plus,
    Q,
    R_measure,
    R_pref,
    gRBP,
    iRBU,
    nCG,
    nDCG_JK,
    nERR,
)
from ir_graded.measures.params import LevelTable, canonical_number, format_value

QRELS = {"1": {"a": 3, "b": 1, "c": 0, "d": 2, "e": 16}, "2": {"a": 1, "b": -1, "f": 4}}
RUN = {"1": {"x": 9.0, "b": 8.0, "d": 7.0, "c": 6.0, "a": 5.0}, "2": {"b": 3.0, "a": 2.0, "y": 1.0}}


# ------------------------------------------------------------------------------------------ canonical form


@pytest.mark.parametrize(
    ("measure", "printed"),
    [
        (Q, "Q"),
        (Q(beta=1.0), "Q"),
        (Q(beta=np.int64(1)), "Q"),
        (Q(gains={}), "Q"),
        (Q(gains={2: 2, 1: 1.0}), "Q"),
        (Q(rel=1, judged_only=np.False_, norm="all"), "Q"),
        (NCU(stop="gu"), "NCU"),
        (NCU(stop="rb", gamma=0.95), "NCU(stop='rb')"),
        (Q(beta=0) @ 10.0, "Q(beta=0)@10"),
        (Q @ np.int32(10), "Q@10"),
        (Q(rel=2, beta=math.inf), "Q(beta=inf,rel=2)"),
        (Q(beta=np.float64(0.5)), "Q(beta=0.5)"),
        (Q(beta=-0.0), "Q(beta=0)"),
        (Q(gains={3: 10, 1: 2.0, 2: 2}), "Q(gains={1:2,3:10})"),
        (NCU(stops={1: 1}, gains={1: 5}), "NCU(gains={1:5},stops={1:1})"),
        (GAP(weights={2: 2}, norm="cutoff") @ 5, "GAP(norm='cutoff',weights={2:2})@5"),
        (iRBU(p=1.0), "iRBU(p=1)"),
        (P_plus(judged_only=True), "P+(judged_only=True)"),
        (Q(gains={-1: 5}), "Q(gains={-1:5})"),
    ],
)
def test_parameters_print_in_canonical_form(measure, printed):
    assert str(measure) == repr(measure) == printed


def test_later_changes_of_given_parameters_have_no_effect():
    gains = {1: 5}
    measure = Q(gains=gains)
    gains[1] = 7
    gains[2] = 1
    assert measure == Q(gains={1: 5})
    assert measure["gains"] == {1: 5}


def test_further_parameters_replace_or_extend_the_given_ones():
    assert Q(beta=2)(rel=2) == Q(beta=2, rel=2)
    assert Q(beta=2)(beta=3) == Q(beta=3)
    assert Q(beta=2)(beta=1) == Q
    assert (Q @ 10)(beta=0) @ 5 == Q(beta=0) @ 5


# ----------------------------------------------------------------------------------------- printed and read


ALIASES = {
    "Q-measure": Q,
    "Q_measure": Q,
    "O": O,
    "O_measure": O,
    "P_measure": P_measure,
    "P_plus": P_plus,
    "P-plus": P_plus,
    "Pplus": P_plus,
    "NCUgu,P": NCU(stop="gu", beta=0),
    "NCUgu,BR": NCU(stop="gu", beta=1),
    "NCUrb,P": NCU(stop="rb", beta=0),
    "NCUrb,BR": NCU(stop="rb", beta=1),
    "R_measure": R_measure,
    "R_WP": R_WP,
    "NCUgu,IE": NCU(utility="ie"),
    "NCUrb,IE": NCU(stop="rb", utility="ie"),
    "nEBR": EBR(norm="ideal"),
    "niRBU": iRBU(norm="ideal"),
    "nDCG_JK": nDCG_JK,
}
PREFERENCES = {
    "B_pref": B_pref,
    "R_pref": R_pref,
    "bpref_R": B_pref(penalty="R"),
    "bpref_N": B_pref(penalty="N"),
    "bpref_relative": B_pref(penalty="relative"),
    "rpref_N": R_pref(penalty="N"),
    "rpref_relative": R_pref(penalty="relative"),
    "rpref_relative2": R_pref(penalty="relative2"),
}


@pytest.mark.parametrize(
    ("behind", "params"),
    [
        ("", {}),
        ("@10", {"cutoff": 10}),
        (" @ 10", {"cutoff": 10}),
        ("(rel=2)", {"rel": 2}),
        ("(rel=2, gains={1: 0, 3: 7.5})@5", {"rel": 2, "gains": {1: 0, 3: 7.5}, "cutoff": 5}),
        ("(judged_only=True, cutoff=3)", {"judged_only": True, "cutoff": 3}),
    ],
)
def test_aliases_take_parameters_and_cutoffs(behind, params):
    takes_no_cutoff = params.keys() - {"rel"}
    for name, measure in (ALIASES if takes_no_cutoff else ALIASES | PREFERENCES).items():
        expected, text = measure(**params), name + behind
        for read in (ir_measures.parse_measure(text), *ir_measures.parse_trec_measure(text)):
            assert read == expected
            assert read.params == expected.params


def test_a_short_name_takes_the_value_that_it_has():
    assert ir_measures.parse_measure("NCUgu,P(beta=0, rel=2)") == NCU(beta=0, rel=2)
    assert ir_measures.parse_measure("NCUgu,BR(beta=3)") == NCU(beta=3)


def test_nrbp_is_not_an_alias_because_novelty_uses_the_name():
    assert ir_measures.parse_measure("NRBP") == ir_measures.NRBP
    with pytest.raises(NameError):
        ir_measures.parse_measure("nRBP")


# ------------------------------------------------------------------------------------- rejected parameters


NOT_TAKEN = [
    (Q, {"gamma": 0.5}, ["Q", "gamma", "0.5", "beta, gains, norm"]),
    (Q, {"cutof": 10}, ["Q", "cutof", "10", "cutoff"]),
    (Q, {"stop": "u"}, ["Q", "stop", "'u'"]),
    (Q, {"": 1}, ["Q", "''"]),
    (O, {"norm": "all"}, ["O-measure", "norm"]),
    (P_measure, {"norm": "cutoff"}, ["P-measure", "norm", "'cutoff'"]),
    (P_plus, {"max_rel": 3}, ["P+", "max_rel", "3"]),
    (AWP, {"beta": 1}, ["AWP", "beta", "1"]),
    (R_WP, {"beta": 1}, ["R-WP", "beta"]),
    (R_measure, {"norm": "cutoff"}, ["R-measure", "norm"]),
    (nCG, {"beta": 0}, ["nCG", "beta"]),
    (BR, {"norm": "all"}, ["BR", "norm"]),
    (EBR, {"norm": "cutoff"}, ["EBR", "norm", "'cutoff'", "'ideal'"]),
    (nERR, {"norm": "ideal"}, ["nERR", "norm"]),
    (NCU, {"norm": "ideal"}, ["NCU", "'gu'", "'br'", "norm='cutoff'"]),
    (NCU, {"stop": "first", "norm": "ideal"}, ["NCU", "'first'", "'br'", "scores 1"]),
    (NCU, {"utility": "rr", "beta": 2}, ["NCU", "'rr'", "beta=2", "'br'"]),
    (NCU, {"utility": "rr", "p": 0.5}, ["NCU", "'rr'", "p=0.5", "'ie'"]),
    (NCU, {"stop": "err", "norm": "cutoff"}, ["NCU", "'err'", "norm='cutoff'"]),
    (gRBP, {"norm": "ideal", "residual": True}, ["gRBP", "residual", "norm='all'"]),
    (nDCG_JK, {"b": 1}, ["nDCG-JK", "b=1", "> 1"]),
    (B_pref, {"penalty": "relative2"}, ["B-pref", "'R', 'N', 'relative'"]),
    (B_pref, {"judged_only": True}, ["B-pref", "judged_only"]),
    (R_pref, {"penalty": "relative", "max_rel": 3}, ["R-pref", "'relative'", "max_rel=3", "'N'"]),
    (iRBU, {"beta": 1}, ["iRBU", "beta"]),
    (nERR, {"beta": 1}, ["nERR", "beta"]),
    (GAP, {"rel": 2}, ["GAP", "rel", "2", "weights"]),
    (GAP, {"gains": {1: 2}}, ["GAP", "gains", "{1: 2}"]),
    (NCU, {"weights": {1: 2}}, ["NCU", "weights"]),
]


def test_parameters_that_a_measure_does_not_take_are_rejected():
    for measure, params, words in NOT_TAKEN:
        with pytest.raises(ir_graded.ParameterError) as caught:
            measure(**params)
        assert all(word in str(caught.value) for word in words)


#: The only stops with which a parameter of NCU is valid.
ONLY_WITH_STOPS = {"gamma": {"rb"}, "stops": {"gu"}, "max_rel": {"err"}, "norm": {"u", "rb", "gu"}}


@pytest.mark.parametrize("stop", ["u", "rb", "gu", "first", "preferred", "up_to_preferred", "err"])
def test_ncu_rejects_a_parameter_of_another_stop(stop):
    for name, value in {"gamma": 0.5, "stops": {1: 2}, "max_rel": 20, "norm": "cutoff"}.items():
        params = {"stop": stop, name: value}
        if stop in ONLY_WITH_STOPS[name]:
            assert NCU(**params)[name] == value
            continue
        with pytest.raises(ir_graded.ParameterError) as caught:
            NCU(**params)
        words = ["NCU", repr(stop), f"{name}={value!r}", *map(repr, ONLY_WITH_STOPS[name])]
        assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("measure", "needed"),
    [
        (nCG, "cutoff"),
        (BR(beta=0), "cutoff"),
        (Q(norm="cutoff"), "norm='cutoff'"),
        (GAP(norm="cutoff"), "norm='cutoff'"),
        (NCU(stop="rb", norm="cutoff"), "norm='cutoff'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("other", [[], [ir_measures.AP]], ids=["alone", "with AP"])
def test_a_missing_required_cutoff_is_rejected(measure, needed, other):
    for use in (ir_measures.calc, ir_measures.calc_aggregate, ir_measures.evaluator):
        with pytest.raises(ir_graded.ParameterError) as caught:
            use([measure, *other], QRELS, *([RUN] if use is not ir_measures.evaluator else []))
        message = str(caught.value)
        assert str(measure) in message
        assert needed in message
        assert "cutoff" in message


@pytest.mark.parametrize("measure", [nERR, EBR, iRBU, gRBP, R_pref, NCU(stop="err")], ids=str)
@pytest.mark.parametrize("as_table", [False, True])
def test_a_level_above_a_named_max_rel_names_topic_and_document(measure, as_table):
    qrels = {"t1": {"d1": 2}, "t2": {"d2": 1, "doc-7": 3}}
    given_qrels = cases.qrels_frame(qrels) if as_table else qrels
    with pytest.raises(ir_graded.InputError) as caught:
        ir_measures.calc_aggregate([measure(max_rel=2)], given_qrels, {"t1": {"d1": 1.0}})
    message = str(caught.value)
    assert all(word in message for word in (measure.NAME, "t2", "doc-7", "3", "max_rel=2"))
    ir_measures.calc_aggregate([measure(max_rel=3)], given_qrels, {"t1": {"d1": 1.0}})


# ------------------------------------------------------------------------------------ kinds of parameters


def test_levels_are_sorted_and_identities_are_dropped_if_redundant():
    given = {3: 3.0, 2: 1, 0.5: 4}
    assert list(LevelTable("").canonical(given).items()) == [(0.5, 4), (2, 1), (3, 3)]
    assert list(LevelTable("", drop_identity=True).canonical(given).items()) == [(0.5, 4), (2, 1)]


LARGEST_WHOLE = 2**53 - 1


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3.0, int), (-3.0, int), (0.5, float), (LARGEST_WHOLE, int), (-LARGEST_WHOLE, int),
        (LARGEST_WHOLE + 1, float), (-LARGEST_WHOLE - 1, float), (math.inf, float),
    ],
)  # fmt: skip
def test_whole_numbers_become_ints_up_to_2_to_53(value, kind):
    number = canonical_number(value)
    assert number == value
    assert type(number) is kind


def test_a_table_is_printed_without_blanks():
    assert format_value({1: 0.5, 2: 3}) == "{1:0.5,2:3}"
    assert format_value("u") == "'u'"
