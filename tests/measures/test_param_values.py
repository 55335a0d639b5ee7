"""Each kind of parameter alone: the values it takes, its descriptions, and its form in ir-measures."""

import math
import re

import numpy as np
import pytest

from ir_graded.measures.params import (
    NOT_PROVIDED,
    Choice,
    Flag,
    LevelTable,
    Number,
    Param,
    Whole,
    canonical_number,
    format_value,
)

WORDS = {
    "a finite number": Number(""),
    "a finite number >= 0": Number("", low=0),
    "a finite number > 0": Number("", above=0),
    "a finite number <= 1": Number("", high=1),
    "a finite number > 0 and <= 1": Number("", above=0, high=1),
    "a finite number > 0 and < 1": Number("", above=0, below=1),
    "a number >= 0 or inf": Number("", low=0, infinite=True),
    "a whole number >= 1": Whole(""),
    "True or False": Flag(""),
    "one of 'u', 'rb'": Choice("", ("u", "rb"), default="u"),
    "a dict from levels (numbers) to finite numbers >= 0": LevelTable(""),
}


@pytest.mark.parametrize("expected", WORDS)
def test_the_expected_values_are_described(expected):
    assert WORDS[expected].expected == expected


def test_the_description_names_the_limit_that_a_large_number_exceeds():
    for value in (0, 1.5, -(2.0**53), "x", None):
        with pytest.raises(ValueError, match=r"^a whole number >= 1$"):
            Whole("").canonical(value)
    for value in (2**53, 2.0**53, 10**400, np.float64(2**60), np.int64(2**60)):
        with pytest.raises(ValueError, match=r"^a whole number >= 1 and < 2\*\*53$"):
            Whole("").canonical(value)


@pytest.mark.parametrize(
    ("param", "dtype", "default"),
    [
        (Number("meaning"), float, NOT_PROVIDED),
        (Number("meaning", default=0.5), float, 0.5),
        (Whole("meaning"), int, NOT_PROVIDED),
        (Flag("meaning"), bool, False),
        (Choice("meaning", ("u", "rb"), default="rb"), str, "rb"),
        (LevelTable("meaning"), dict, {}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Param) else None,
)
def test_ir_measures_gets_the_definition_of_a_parameter(param, dtype, default):
    assert (param.dtype, param.default, param.desc, param.required) == (dtype, default, "meaning", False)


@pytest.mark.parametrize("param", [Whole("meaning", required=True), Param(int, "", "", required=True)])
def test_a_parameter_may_be_required(param):
    assert param.required is True


@pytest.mark.parametrize(
    ("param", "valid", "invalid"),
    [
        (Number("", low=2), [2, 2.0, 3, np.float32(2)], [1.999, -3, math.inf, math.nan]),
        (Number("", above=2), [2.001, 3], [2, 1, math.inf]),
        (Number("", below=2), [1.999, -3], [2, 3, math.inf]),
        (Number("", high=2), [2, -5], [2.001, 3, -math.inf]),
        (Number("", low=0, infinite=True), [math.inf, 0], [-math.inf, math.nan]),
        (Number(""), [0, -1.5, 1e100], [2e100, math.inf, -math.inf, "1", None, True, np.True_, 10**400]),
        (Whole(""), [1, 1.0, 2, np.int64(7)], [0, -1, 1.5, math.inf, True, "1"]),
        (Flag(""), [True, False, np.True_], [0, 1, "True", None]),
        (Choice("", ("u", "rb"), default="u"), ["u", "rb"], ["gu", "", 1, None]),
        (LevelTable(""), [{}, {1: 0}, {-1: 1.5}], [{1: -1e-9}, {1: 2e100}, {math.inf: 1}, {True: 1}, [1]]),
    ],
    ids=lambda value: value.expected if isinstance(value, Param) else "",
)
def test_values_at_the_limits_of_the_range(param, valid, invalid):
    for value in valid:
        assert param.canonical(value) == value
        assert param.validate(value)
    for value in invalid:
        assert not param.validate(value)
        with pytest.raises(ValueError, match=f"^{re.escape(param.expected)}"):
            param.canonical(value)


@pytest.mark.parametrize(
    ("param", "value"), [(Number("", low=0, infinite=True), 1.1e100), (LevelTable(""), {1: 3, 2: 1.7e308})]
)
def test_numbers_above_the_limit_are_rejected(param, value):
    with pytest.raises(
        ValueError, match=rf"^{re.escape(param.expected)}; the largest finite number is 1e\+100$"
    ):
        param.canonical(value)


def test_an_unset_parameter_is_valid_unless_required():
    assert Whole("").validate(NOT_PROVIDED) is True
    assert Whole("", required=True).validate(NOT_PROVIDED) is False
    assert Whole("").validate(0) is False


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
