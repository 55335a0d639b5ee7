"""Options of all statistics: defaults and values are those in their results, and wrong ones are rejected."""

import inspect
import math
from operator import itemgetter

import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded import meta
from ir_graded.errors import ParameterError
from ir_graded.meta.options import OPTIONS

SCORES = pd.DataFrame(np.round(np.random.default_rng(1).random((7, 3)), 2), columns=["a", "b", "c"])
BY_MEASURE = {"Q": SCORES}
#: The arguments of each statistic.
CALLS = {
    "across_collections": ({"one": BY_MEASURE, "two": BY_MEASURE, "three": {"Q": 1 - SCORES**2}}, "a"),
    "compare_measures": (BY_MEASURE,),
    "conclusions": (BY_MEASURE, {"Q": SCORES**2}),
    "confidence_intervals": (BY_MEASURE,),
    "differences": (BY_MEASURE, "a"),
    "discriminative_power": (SCORES,),
    "effect_sizes": (SCORES,),
    "prediction_powered": ({"Q": SCORES[:3]}, BY_MEASURE),
    "ranks": (BY_MEASURE,),
    "score_variance": (SCORES,),
    "significance": (SCORES,),
    "stability": (SCORES,),
    "swap": (SCORES,),
}
#: Values other than the defaults; of words, the last one is chosen.
OTHER = {"alpha": 0.1, "confidence": 0.9, "max_rate": 0.25, "n_resamples": 200, "tolerance": 0.01, "top_k": 2}
EACH = pytest.mark.parametrize("name", CALLS)


def options_of(function):
    """Return the defaults of the options."""
    return {one.name: one.default for one in inspect.signature(function).parameters.values()}


@EACH
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning", "ignore::UserWarning")
def test_options_and_defaults_equal_those_in_the_result(name):
    function = getattr(meta, name)
    defaults, chosen = (
        options_of(function),
        {option: [*words][-1] for option, words in function.choices.items() if words},
    )
    other = chosen | {option: value for option, value in OTHER.items() if option in defaults}
    for given in ({}, other):
        found = function(*CALLS[name], **given)
        for option in other:
            expected = given.get(option, defaults[option])
            if hasattr(found, option) and expected is not None:
                assert getattr(found, option) == expected, option


@pytest.mark.parametrize("name", [name for name in CALLS if "rng" in options_of(getattr(meta, name))])
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_the_default_seed_is_0(name):
    given, expected = (getattr(meta, name)(*CALLS[name], n_resamples=50, **seed) for seed in ({}, {"rng": 0}))
    pd.testing.assert_frame_equal(given.to_frame(), expected.to_frame(), check_exact=True)


#: The values of each option, and wrong ones.
_SHARE = "a number between 0 and 1", ["x", None, True, 0, 1, math.nan]
_COUNT = "a whole number >= 1", [0, True, 1.5, "x", None]
_DEPTH = "None or a whole number >= 1 and < 2**63", [0, 2.5, 2**63, True]
WRONG = {
    "alpha": _SHARE,
    "confidence": _SHARE,
    "depth": _DEPTH,
    "fuzziness": ("a number >= 0 and < 1", ["x", None, 1, -0.1, True]),
    "limit": ("None or a whole number >= 1", [0, 2.5, True, "x"]),
    "max_rate": ("a number in [0, 1]", ["x", None, True, -0.1, 1.1, math.nan]),
    "memory_mib": ("a number > 0, or inf", ["x", None, True, 0, math.nan]),
    "n_resamples": _COUNT,
    "n_runs": ("a whole number >= 2", [1, 2.5, True]),
    "n_samples": _COUNT,
    "p": _SHARE,
    "power": _SHARE,
    "power_tuning": ("None or a number in [0, 1]", [2, -0.1, True]),
    "progress": ("True, False or None", ["x", 2]),
    "rel": ("a finite number", ["x", None, math.nan, math.inf]),
    "rng": ("a whole number >= 0 (a seed) or a numpy.random.Generator", [-1, 1.0, True, None, "0", [0]]),
    "tolerance": ("a finite number >= 0", [-0.1, math.inf]),
    "top_k": _COUNT,
    "variance": ("a finite number > 0", [0.0, -1, math.inf, True]),
}
STATISTICS = {
    name: function
    for module in (ir_graded, meta)
    for name in module.__all__
    if hasattr(function := getattr(module, name), "choices")
}


@pytest.mark.parametrize("name", STATISTICS)
def test_wrong_options_are_named_with_their_value_and_what_is_valid(name):
    """The options are checked before anything else is looked at."""
    function = STATISTICS[name]
    defaults = options_of(function)
    needed = {one: None for one, default in defaults.items() if default is inspect.Parameter.empty}
    wrong = {option: WRONG[option] for option in defaults if option in OPTIONS}
    for option, words in function.choices.items():
        wrong[option] = words and (f"one of {', '.join(map(repr, words))}", ["sign", None, 1])
    for option, (expected, values) in filter(itemgetter(1), wrong.items()):
        for value in values:
            if value is not defaults[option]:
                with pytest.raises(ParameterError) as caught:
                    function(**needed, **{option: value})
                assert str(caught.value) == f"{option}={value!r} must be {expected}"


def test_docstrings_name_the_words_of_each_option():
    """Words that are keys of a table are inserted for ``{option}``."""
    for function in STATISTICS.values():
        assert not any(f"{{{option}}}" in function.__doc__ for option in function.choices)
    for function in (meta.differences, meta.discriminative_power, meta.ranks):
        for word, test in function.choices["test"].items():
            assert f"``{word!r}`` ({test.words})" in function.__doc__
