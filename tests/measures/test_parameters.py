"""Parameters of measures: one canonical form, which prints and reads back; other values are rejected."""

import math
import re
from fractions import Fraction

import ir_measures
import numpy as np
import pytest
from hypothesis import given, strategies as st
from measures import measure_cases as cases
from reference import ranked

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
from ir_graded.errors import short_repr
from ir_graded.measures import REGISTRY
from ir_graded.measures.params import NOT_PROVIDED

QRELS = {"1": {"a": 3, "b": 1, "c": 0, "d": 2, "e": 16}, "2": {"a": 1, "b": -1, "f": 4}}
RUN = {"1": {"x": 9.0, "b": 8.0, "d": 7.0, "c": 6.0, "a": 5.0}, "2": {"b": 3.0, "a": 2.0, "y": 1.0}}

COMMON = {"cutoff", "rel", "judged_only", "ties", "ranks"}
TAKES = {
    "Q": COMMON | {"beta", "gains", "norm"},
    "O-measure": COMMON | {"beta", "gains"},
    "P-measure": COMMON | {"beta", "gains"},
    "P+": COMMON | {"beta", "gains"},
    "NCU": COMMON | {"stop", "utility", "beta", "p", "gains", "norm", "gamma", "stops", "max_rel"},
    "AWP": COMMON | {"gains", "norm"},
    "R-measure": COMMON | {"beta", "gains"},
    "R-WP": COMMON | {"gains"},
    "nCG": COMMON | {"gains"},
    "BR": COMMON | {"beta", "gains"},
    "RelP": COMMON,
    "EBR": COMMON | {"beta", "gains", "max_rel", "norm"},
    "iRBU": COMMON | {"p", "gains", "max_rel", "norm"},
    "nERR": COMMON | {"gains", "max_rel"},
    "gRBP": COMMON | {"p", "gains", "max_rel", "norm", "residual"},
    "nDCG-JK": COMMON | {"b", "gains"},
    "B-pref": {"penalty", "rel", "ties", "ranks"},
    "R-pref": {"penalty", "gains", "max_rel", "rel", "ties", "ranks"},
    "GAP": {"cutoff", "judged_only", "weights", "norm", "ties", "ranks"},
}


# ------------------------------------------------------------------------------ parameters of measures


def test_measures_take_the_parameters_and_defaults_of_their_definitions():
    assert {name: {*measure.SUPPORTED_PARAMS} for name, measure in cases.MEASURES.items()} == TAKES
    for measure in cases.MEASURES.values():
        for name in measure.SUPPORTED_PARAMS:
            default = ranked.default(measure.NAME, name)
            assert measure[name] == (NOT_PROVIDED if default is None else default), (measure, name)


@cases.examples(100)
@given(cases.measures_with_parameters())
def test_a_measure_keeps_the_given_parameters(chosen):
    measure, params = chosen
    made = measure(**params)
    for name, value in params.items():
        expected = without_identity(value) if name == "gains" else value
        assert made[name] == expected


# ------------------------------------------------------------------------------------------ canonical form


def without_identity(gains):
    return {level: gain for level, gain in gains.items() if level != gain}


def meaning(measure, params):
    """Return the meaning of parameters, defaults included; equal meanings give equal values."""
    said = {name: ranked.default(measure.NAME, name) for name in measure.SUPPORTED_PARAMS} | params
    if "gains" in said:
        said["gains"] = without_identity(said["gains"])
    return measure.NAME, said


def number_spellings(number):
    """Return the number in other types."""
    spellings = [number, float(number), np.float64(number)]
    if not math.isinf(number):
        spellings.append(Fraction(float(number)))
        if float(number).is_integer():
            spellings += [int(number), np.int64(number), np.float32(number)]
    return st.sampled_from([spelling for spelling in spellings if spelling == number])


@st.composite
def respelled(draw, measure, params):
    """Return equal parameters in another form: types, order, defaults and identities written out."""
    names = draw(st.permutations(sorted(params)))
    other = {name: draw(respelled_value(name, params[name])) for name in names}
    for name in measure.SUPPORTED_PARAMS:
        default = ranked.default(measure.NAME, name)
        if name not in params and default is not None and draw(st.booleans()):
            other[name] = draw(respelled_value(name, default))
    return other


@st.composite
def respelled_value(draw, name, value):
    if isinstance(value, bool):
        return draw(st.sampled_from([value, np.bool_(value)]))
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return draw(number_spellings(value))
    table = dict(value)
    if name == "gains":
        for level in draw(st.lists(st.sampled_from([1, 2, 5, 0.5]))):
            table.setdefault(level, level)
    order = draw(st.permutations(list(table.items())))
    return {draw(number_spellings(key)): draw(number_spellings(item)) for key, item in order}


@pytest.mark.slow
@cases.examples(150)
@given(chosen=cases.measures_with_parameters(complete=False), data=st.data())
def test_equal_parameters_in_another_form_make_an_equal_measure(chosen, data):
    measure, params = chosen
    one = measure(**params)
    other = measure(**data.draw(respelled(measure, params)))
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == str(other)
    assert repr(one) == repr(other)
    assert spelled_out(one.params) == spelled_out(other.params)


def spelled_out(value):
    """Return a value with the types and the order of everything in it."""
    if isinstance(value, dict):
        return [(spelled_out(key), spelled_out(item)) for key, item in value.items()]
    return type(value), value


@st.composite
def few_parameters(draw, measure):
    """Parameters with few choices, so that equal ones are drawn often."""
    choice = {
        "beta": [0, 1, 2],
        "cutoff": [1, 10],
        "gains": [{}, {1: 5}, {1: 1}, {2: 1}, {1: 5, 2: 1}],
        "stops": [{}, {1: 1}, {1: 5}],
        "weights": [{}, {1: 1}, {2: 1}],
        "rel": [1, 2],
        "judged_only": [False, True],
        "norm": ["all", "cutoff", "ideal"],
        "stop": ["gu", "u", "rb", "err"],
        "utility": ["br", "rr", "ie"],
        "penalty": ["R", "N", "relative"],
        "b": [2, 10],
        "gamma": [0.95, 0.5],
        "max_rel": [3, 20],
        "p": [0.99, 0.5],
        "residual": [False, True],
        "ties": ["doc_id", "expected"],
        "ranks": ["documents", "rows"],
    }
    known = sorted(choice.keys() & measure.SUPPORTED_PARAMS)
    names = draw(st.lists(st.sampled_from(known), unique=True, max_size=3))
    return cases.together(measure, {name: draw(st.sampled_from(choice[name])) for name in names})


@pytest.mark.parametrize("measure", cases.MEASURES.values(), ids=cases.MEASURES)
@cases.examples(50)
@given(data=st.data())
def test_measures_are_equal_only_if_their_parameters_mean_the_same(measure, data):
    one, other = data.draw(few_parameters(measure)), data.draw(few_parameters(measure))
    same = meaning(measure, one) == meaning(measure, other)
    made, made_other = measure(**one), measure(**other)
    assert (made == made_other) is same
    assert (hash(made) == hash(made_other)) is same
    assert (str(made) == str(made_other)) is same
    assert (made.params == made_other.params) is same


def test_measures_of_different_names_differ():
    made = list(cases.MEASURES.values())
    assert len(set(made)) == len({str(measure) for measure in made}) == len(made)


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


@pytest.mark.slow
@cases.examples(100)
@given(chosen=cases.measures_with_parameters())
def test_calls_read_printed_measures(chosen):
    measure, params = chosen
    made = measure(**params)
    by_object, by_string = (ir_measures.calc(m, QRELS, RUN) for m in ([made], [str(made)]))
    assert by_string.aggregated == by_object.aggregated
    assert by_string.per_query == by_object.per_query
    assert set(by_string.aggregated) == {made}


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("NCUgu,P(beta=1)", "NCUgu,P has beta=0, not 1: write NCU"),
        ("NCUgu,BR(stop='rb')@3", "NCUgu,BR has stop='gu', not 'rb': write NCU(stop='rb')@3"),
        ("NCUrb,IE(utility='br')", "NCUrb,IE has utility='ie', not 'br': write NCU(stop='rb')"),
        ("nEBR(norm='all')", "nEBR has norm='ideal', not 'all': write EBR"),
        ("bpref_R(penalty='N')", "bpref_R has penalty='R', not 'N': write B-pref(penalty='N')"),
        ("D-nERR(measure='Q')", "D-nERR has measure='nERR', not 'Q': write D(measure='Q')"),
        ("GMAP(measure='Bpref')", "GMAP has measure='AP', not 'Bpref': write GM(measure='Bpref')"),
    ],
)
def test_a_short_name_with_another_value_of_its_parameters_is_rejected(text, problem):
    for read in (ir_measures.parse_measure, ir_measures.parse_trec_measure):
        with pytest.raises(ir_graded.ParameterError, match=f"^{re.escape(problem)}$"):
            read(text)


def test_a_short_name_takes_the_value_that_it_has():
    assert ir_measures.parse_measure("NCUgu,P(beta=0, rel=2)") == NCU(beta=0, rel=2)
    assert ir_measures.parse_measure("NCUgu,BR(beta=3)") == NCU(beta=3)


def test_every_name_in_strings_is_tested():
    names = {name for name, measure in REGISTRY.items() if measure.NAME in cases.MEASURES}
    assert names <= {*ALIASES, *PREFERENCES, *cases.MEASURES}


def test_nrbp_is_not_an_alias_because_novelty_uses_the_name():
    assert ir_measures.parse_measure("NRBP") == ir_measures.NRBP
    with pytest.raises(NameError):
        ir_measures.parse_measure("nRBP")


# ------------------------------------------------------------------------------------- rejected parameters

NO_NUMBERS = (True, False, np.True_, math.nan, np.float64("nan"), "1", None, 1j, [1], {1: 1}, b"1", 10**400)
NO_TABLES = (
    [(1, 2)], 5, "{1:2}", None, True,
    {"1": 2}, {True: 2}, {math.nan: 2}, {math.inf: 2}, {None: 2},
    {1: "2"}, {1: True}, {1: math.nan}, {1: math.inf}, {1: -1}, {1: -1e-9}, {1: None},
    {1: [2]}, {2: 3, 1: -2},
)  # fmt: skip

TABLE_RANGE = ("dict", "level", "finite numbers", ">= 0")

#: For each parameter: values that are rejected, and the description of the range in the message.
REFUSED = {
    "cutoff": ((*NO_NUMBERS, 0, -1, 1.5, math.inf, np.float64(2.5), -math.inf), ("whole number", ">= 1")),
    "rel": ((*NO_NUMBERS, 0, -1, -0.5, math.inf), ("finite number", "> 0")),
    "judged_only": ((0, 1, "True", None, "yes", 0.0, np.int64(1), []), ("True or False",)),
    "norm": (("cut", "", "ALL", None, 1, True, ["all"]), ("'all', '",)),
    "utility": (("BR", "", None, 1), ("'br', 'rr', 'ie'",)),
    "penalty": (("r", "", "relative3", None, 1), ("'N', 'relative'",)),
    "b": ((*NO_NUMBERS, 1, 0, -2, math.inf), ("finite number > 1",)),
    "beta": ((*NO_NUMBERS, -1, -1e-9, -math.inf), ("number >= 0", "inf")),
    "gamma": ((*NO_NUMBERS, 0, -0.5, 1.0001, 2, math.inf), ("finite number", "> 0", "<= 1")),
    "stop": (
        ("", "U", "uniform", None, 1, True, ["u"]),
        ("'u', 'rb', 'gu', 'first', 'preferred', 'up_to_preferred', 'err'",),
    ),
    "ties": (
        ("x", "", "Expected", None, 1, True, ["expected"]),
        ("'doc_id', 'expected', 'optimistic', 'pessimistic'",),
    ),
    "ranks": (("x", "", "Rows", None, 1, True, ["rows"]), ("'documents', 'rows'",)),
    "gains": (NO_TABLES, TABLE_RANGE),
    "stops": (NO_TABLES, TABLE_RANGE),
    "weights": (NO_TABLES, TABLE_RANGE),
    "max_rel": ((*NO_NUMBERS, math.inf, -math.inf), ("finite number",)),
    "p": ((*NO_NUMBERS, 0, -1, 1.0001, math.inf), ("finite number", "> 0 and <")),
    "residual": ((0, 1, "True", None, "yes"), ("True or False",)),
}
COMPANIONS = {"gamma": {"stop": "rb"}, "max_rel": {"stop": "err"}, "p": {"utility": "ie"}}


def companions(measure, name):
    """Return the stop without which a parameter would be rejected for another reason."""
    return COMPANIONS.get(name, {}) if "stop" in measure.SUPPORTED_PARAMS else {}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_name_measure_parameter_value_and_range(name):
    values, words = REFUSED[name]
    for measure in (one for one in cases.MEASURES.values() if name in one.SUPPORTED_PARAMS):
        for value in values:
            with pytest.raises(ir_graded.ParameterError) as caught:
                measure(**companions(measure, name), **{name: value})
            message = str(caught.value)
            assert message.startswith(measure.NAME)
            assert f"{name}={short_repr(value)}" in message
            assert all(word in message for word in words)


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


@pytest.mark.parametrize("stop", ["u", "first", "err"])
@pytest.mark.parametrize(("name", "value"), [("gamma", 0.95), ("stops", {}), ("norm", "all")])
def test_a_default_counts_as_unset_with_every_stop(stop, name, value):
    assert NCU(stop=stop, **{name: value}) == NCU(stop=stop)


@pytest.mark.parametrize("text", ["Q(gamma=0.5)", "P-measure@0", "NCU(stop='u',gamma=0.5)", "nCG(beta=1)@10"])
def test_strings_with_wrong_parameters_raise_an_equal_error(text):
    readers = (ir_measures.parse_measure, ir_measures.parse_trec_measure)
    for read in (*readers, lambda text: ir_measures.calc_aggregate([text], QRELS, RUN)):
        with pytest.raises(ir_graded.ParameterError):
            read(text)


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
