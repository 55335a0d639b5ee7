"""Every parameter takes the values that it declares, and says so where it rejects others."""

import math
import re
from functools import singledispatch

import ir_measures
import numpy as np
import pytest
from contracts import contract_cases as cases

from ir_graded import ParameterError
from ir_graded.errors import short_repr
from ir_graded.measures import NAMES
from ir_graded.measures.classic import CLASSICS, check_computable, scorer_of
from ir_graded.measures.classic.ties import TIED_CLASSICS, _of
from ir_graded.measures.composed import BaseMeasure
from ir_graded.measures.params import (
    NOT_PROVIDED,
    Attributes,
    ByAttributes,
    Choice,
    Flag,
    Importance,
    LevelTable,
    Number,
    Shares,
    Whole,
)
from ir_graded.measures.parsing import read_measure, read_measures

EACH = cases.each([NAMES[name] for name in {measure.NAME: None for measure in NAMES.values()}])
LARGEST = 1e100
LIMIT = "; the largest finite number is 1e+100"
NO_NUMBERS = (True, np.True_, "1", b"1", None, math.nan, 1j, [1], {1: 1})
NO_TABLES = (5, None, "{1:2}", [(1, 2)], *({key: 1} for key in ("1", True, math.nan, math.inf)))
NO_TABLES += tuple({1: weight} for weight in ("2", True, math.nan, math.inf, -1e-9, None, [2]))


# -------------------------------------------------------------------------------------------- declarations


@singledispatch
def described(param):
    """Return the words for the values of a parameter, values that it takes, and others with further words.

    A new kind of parameter needs an entry here.
    """
    raise NotImplementedError(f"no values for parameters of type {type(param).__name__}")


def plain(*values):
    """Return values that are rejected without further words."""
    return [(value, "") for value in values]


@described.register(Number)
def _(param):
    signs = {"low": ">=", "above": ">", "high": "<=", "below": "<"}
    span = " and ".join(f"{signs[name]} {bound:g}" for name, bound in param.bounds.items())
    words = ["a number" if param.infinite else "a finite number", span, "or inf" if param.infinite else ""]
    taken, rejected = [math.inf] if param.infinite else [], plain(*NO_NUMBERS, 10**400, -math.inf)
    for name, bound in param.bounds.items():
        sign = math.inf if name in {"low", "above"} else -math.inf
        included = name in {"low", "high"}
        taken += [bound, math.nextafter(bound, sign)][not included :]
        rejected += plain(math.nextafter(bound, -sign) if included else bound)
    rejected += [] if param.infinite else plain(math.inf)
    if not {"high", "below"} & param.bounds.keys():
        taken.append(LARGEST)
        rejected.append((math.nextafter(LARGEST, math.inf), LIMIT))
    return " ".join(filter(None, words)), [*taken, *([] if param.bounds else [-3 * LARGEST])], rejected


@described.register(Whole)
def _(_):
    large = [(value, " and < 2**53") for value in (2**53, 2.0**60, 10**400, math.inf)]
    return "a whole number >= 1", [1, 2, 2**53 - 1], [*plain(*NO_NUMBERS, 0, -1, 1.5), *large]


@described.register(Flag)
def _(_):
    return "True or False", [True, False], plain(0, 1, 0.0, "True", None)


@described.register(Choice)
def _(param):
    words = "one of " + ", ".join(map(repr, param.words))
    return words, [*param.words], plain("", param.words[0].swapcase(), [*param.words], None, 1)


@described.register(LevelTable)
def _(_):
    rejected = [*plain(*NO_TABLES), ({1: 2 * LARGEST}, LIMIT)]
    taken = [{}, {1: 0}, {-1: 1.5, 2: 7, 0.5: LARGEST}]
    return "a dict from levels (numbers) to finite numbers >= 0", taken, rejected


@described.register(Importance)
def _(_):
    words, taken, rejected = described(LevelTable(""))
    taken = ["all", "vital", "weighted", *taken[1:]]
    return f"one of 'all', 'vital', 'weighted', or {words}", taken, [*rejected, *plain("Vital", "")]


@described.register(Attributes)
def _(param):
    return param.expected, ["SIZE", "tokens"], plain("", "query_id", "start", "relevance", 3, None)


@described.register(Shares)
def _(_):
    words = "two or more numbers >= 0 that sum to 1 (up to 0.001)"
    rejected = plain("ab", b"ab", {0.5: 0.5}, 1, None, [], [1], [-0.5, 1.5], [math.nan, 1], [True, 0])
    rejected += [([0.5, share], f"; these sum to {0.5 + share:g}") for share in (0.502, 0.498)]
    return words, [[0.5, 0.5], [0, 1], [0.3331, 0.3332, 0.333], [0.5005, 0.5]], rejected


@described.register(ByAttributes)
def _(param):
    words, taken, rejected = described(param.of)
    some, none = [{"SIZE": one} for one in taken], plain(None, "SIZE", {"": taken[0]}, {3: taken[0]})
    if param.required:
        none += plain({})
    rejected = [*none, *(({"SIZE": one}, more) for one, more in rejected)]
    words = f"a dict from columns of the qrels that hold shares to {words}"
    return words, [*some, {"Z": taken[0], "A": taken[-1]}], rejected


@described.register(BaseMeasure)
def _(param):
    taken = [name for name in param.names if name != "EC"]
    words = f"one of {', '.join(param.names)}, with their parameters"
    return words, taken, plain("nothing", "Q AP", 3, None, "NumRet", "MAgP")


def anew(param):
    """Return a parameter made with the arguments that a declaration needs."""
    names = {
        Number: ("default", "infinite", "required"),
        Whole: ("required",),
        Choice: ("words", "default"),
        LevelTable: ("drop_identity",),
        Attributes: ("expected", "default"),
        ByAttributes: ("of", "required"),
    }.get(type(param), ())
    given = {name: getattr(param, name) for name in names}
    given = {name: value for name, value in given.items() if value not in (False, NOT_PROVIDED)}
    if isinstance(param, BaseMeasure):
        default = {} if param.required else {"default": param.default}
        return BaseMeasure(param.outer, param.names, **default, example=param.shown)
    return type(param)(param.desc, **given, **getattr(param, "bounds", {}))


def beside(measure, name, value):
    """Return further parameters without which the measure does not take a value of a parameter."""
    others = [
        {other: word}
        for other, param in measure.SUPPORTED_PARAMS.items()
        if other != name
        for word in getattr(param, "words", (True,) if isinstance(param, Flag) else (9,))
        if isinstance(param, (Choice, Flag)) or other == "budget"
    ]
    for more in [{}, *others]:
        try:
            measure(**more, **{name: value})
        except ParameterError:
            continue
        return more
    raise AssertionError(f"{measure} takes {name} beside no other parameter")


def spellings(value):
    """Return a value in other types and orders."""
    if isinstance(value, bool):
        return [np.bool_(value)]
    if isinstance(value, (int, float)):
        return [float(value), np.float64(value)]
    if isinstance(value, dict):
        return [dict(reversed(value.items()))]
    return [tuple(value), np.array(value)] if isinstance(value, list) else []


# ------------------------------------------------------------------------------------------------ contracts


@pytest.mark.every
@EACH
def test_values_in_the_declared_range_are_taken_and_print_and_read_back(subject):
    for name, param in subject.SUPPORTED_PARAMS.items():
        words, taken, _ = described(param)
        assert param.expected == words
        for value in taken:
            more = beside(subject, name, value)
            made = subject(**more, **{name: value})
            kept = {k: v for k, v in value.items() if k != v} if name == "gains" else value
            assert made[name] == kept
            assert (name in made.params) is (kept != param.default)
            assert param.validate(value)
            for other in spellings(value):
                again = subject(**more, **{name: other})
                assert (again, hash(again), repr(again)) == (made, hash(made), repr(made))
                assert repr(again.params) == repr(made.params)
            for read in (ir_measures.parse_measure(str(made)), *ir_measures.parse_trec_measure(str(made))):
                assert (read, repr(read.params)) == (made, repr(made.params))
        if param.default is not NOT_PROVIDED:
            assert subject(**{name: param.default}) == subject
            assert subject[name] == param.default


@pytest.mark.every
@EACH
def test_other_values_are_rejected_with_the_declared_range(subject):
    for name, param in subject.SUPPORTED_PARAMS.items():
        words, _, rejected = described(param)
        for value, more in rejected:
            with pytest.raises(ParameterError) as caught:
                subject(**{name: value})
            assert (
                str(caught.value)
                == f"{subject._printed_name}: {name}={short_repr(value)} must be {words}{more}"
            )
            assert not param.validate(value)


@pytest.mark.every
@EACH
def test_unknown_and_missing_parameters_are_named_with_those_that_exist(subject):
    names = subject.SUPPORTED_PARAMS
    with pytest.raises(ParameterError) as caught:
        subject(unknown=[1])
    takes = f"it takes {', '.join(names)}"
    assert str(caught.value) == f"{subject.NAME} takes no parameter 'unknown' (given unknown=[1]); {takes}"
    required = [name for name, param in names.items() if param.required]
    assert [name for name, param in names.items() if not param.validate(NOT_PROVIDED)] == required
    for name in required[:1]:
        subject = subject if name == "cutoff" or "cutoff" not in names else subject @ 5
        with pytest.raises(ParameterError) as caught:
            subject.validate_params()
        example = re.fullmatch(
            rf"{re.escape(f'{subject} needs {name}' if name[-1] == 's' else f'{subject} needs a {name}')}, "
            rf"{re.escape(names[name].expected)}: for example (.*)",
            str(caught.value),
        )[1]
        assert read_measure(example).NAME == subject.NAME
        assert cases.is_computed(read_measure(example))


def test_a_parameter_made_from_its_declaration_is_the_declared_one():
    types = {
        Number: float,
        Whole: int,
        Flag: bool,
        LevelTable: dict,
        Importance: dict,
        Shares: list,
        ByAttributes: dict,
    }
    params = {id(param): param for measure in NAMES.values() for param in measure.SUPPORTED_PARAMS.values()}
    assert len(params) > 30
    for param in params.values():
        again = anew(param)
        assert vars(again) == vars(param)
        assert again.dtype is types.get(type(param), str)
        assert again.expected == described(param)[0]
        assert again.desc.strip() == again.desc != ""
        if again.default is not NOT_PROVIDED:
            assert again.canonical(again.default) == again.default
            assert not again.required


# ------------------------------------------------------------------------------------ measures of ir-measures

EACH_CLASSIC = cases.each([kind.MEASURE for kind in CLASSICS.values()])


def needed_by(measure):
    """Return values of the parameters that a measure of ir-measures cannot be computed without."""
    known = {"cutoff": 3, "max_rel": 2, "recall": 0.5, "rel": 1}
    required = [name for name, param in measure.SUPPORTED_PARAMS.items() if param.required]
    names = {"RBP": ["rel"]}.get(measure.NAME, [*required, *CLASSICS[measure.NAME].REQUIRED])
    return {name: known[name] for name in names}


@pytest.mark.every
@EACH_CLASSIC
def test_wrong_parameters_of_measures_of_ir_measures_are_named(subject):
    needed = needed_by(subject)
    assert scorer_of(subject(**needed)) is not None
    check_computable(subject(**needed))
    for name in needed if subject.NAME != "RBP" else ():
        some = subject(**{one: value for one, value in needed.items() if one != name})
        with pytest.raises(ParameterError, match=rf"^{re.escape(f'{some} needs a {name}: for')} ") as caught:
            check_computable(some)
        example = str(caught.value).partition(": for example ")[2]
        assert scorer_of(ir_measures.parse_measure(example)) is not None
    for name, param in subject.SUPPORTED_PARAMS.items():
        level = CLASSICS[subject.NAME].LEVELS.get(name)
        whole = name == "cutoff" or (level is not None and "> 0" in level.expected)
        others = (0, -1, True, 2**63 if level is None else np.nan) if whole else ()
        for value in ("x", [1], *others):
            made = subject(**{**needed, name: value})
            right = f"of type {param.dtype.__name__}: {param.desc}"
            if level is not None:
                right = level.expected
            elif isinstance(param.choices, list):
                right = " or ".join(map(repr, param.choices))
            elif name == "cutoff":
                right = "a whole number >= 1 that fits 64 bits"
            assert scorer_of(made) is None
            with pytest.raises(
                ParameterError, match=re.escape(f"{subject.NAME}: {name}={value!r} must be {right}")
            ):
                check_computable(made)
        if param.dtype is float:  # ir-measures takes no whole numbers for these
            exact, (found,) = subject(**{name: 1.0}), read_measures(subject(**{name: np.int64(1)}))
            assert (found, type(found.params[name])) == (exact, float)
            assert repr(read_measures(f"{subject.NAME}({name}=1)")[0].params) == repr(exact.params)
            assert read_measures(subject(**{name: 1}), as_given=True)[0].params == {name: 1}


#: Limits of numbers that ir-measures does not declare: measures, lowest and highest, and whether both belong.
LIMITS = {
    "p": (("NERR10", 0, 1, True), ("Compat", 0, 1, False)),
    "alpha": tuple((name, 0, 1, True) for name in ("alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP")),
    "beta": (("NRBP", 0, 1, True), ("nNRBP", 0, 1, True)),
    "recall": (("IPrec", 0, 1, True),),
    "T": tuple((name, 1 / LARGEST, LARGEST, True) for name in ("INSQ", "INST", "BPM", "NERR11")),
}


@pytest.mark.parametrize("name", LIMITS)
def test_numbers_of_measures_of_ir_measures_have_limits(name):
    for of, low, high, both in LIMITS[name]:
        for bound, sign in ((low, -math.inf), (high, math.inf)):
            good = bound if both else math.nextafter(bound, -sign)
            needed = needed_by(CLASSICS[of].MEASURE)
            scorer_of(CLASSICS[of].MEASURE(**{**needed, name: float(good)})).validate_params()
            wrong = CLASSICS[of].MEASURE(**{**needed, name: math.nextafter(good, sign)})
            message = rf"^{of}.*\b({name}|the {name}) ?[m=].* must be|.*{name} must"
            with pytest.raises(ParameterError, match=message):
                scorer_of(wrong).validate_params()


@pytest.mark.every
@cases.each(list(TIED_CLASSICS.values()))
def test_an_order_of_ties_is_a_parameter_of_measures_of_ir_measures(subject):
    classic, of_ranks = subject.CLASSIC, subject.SUPPORTED_PARAMS["ranks"]
    needed, again = needed_by(classic.MEASURE), _of(classic)
    for name in (
        "__name__",
        "__doc__",
        "__module__",
        "NAME",
        "AT_PARAM",
        "SUPPORTED_PARAMS",
        "RANGE",
        "NEEDS",
    ):
        assert getattr(again, name) == getattr(subject, name)
    plain = type(classic.MEASURE)(**needed)
    for name, param in (("ties", classic.ORDERS), *classic.FURTHER.items(), ("ranks", of_ranks)):
        words, taken, rejected = described(param)
        for value in taken:
            if value == "expected" and not scorer_of(plain).has_expected_score:
                message = rf"^{re.escape(str(plain))} has no exact mean over the"
                with pytest.raises(ParameterError, match=message):
                    subject(**needed, ties=value)
                continue
            made = subject(**needed, **{name: value})
            assert made.params.get(name, param.default) == value
            assert read_measure(str(made)) == (made if name in made.params else plain)
        for value, more in rejected:
            with pytest.raises(ParameterError) as caught:
                subject(**needed, **{name: value})
            expected = f"{classic.MEASURE.NAME}: {name}={short_repr(value)} must be {words}{more}"
            assert str(caught.value) == expected
