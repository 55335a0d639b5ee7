"""Defaults of the methods: the documented numbers of replicates, levels and seed."""

import numpy as np
import pandas as pd
import pytest

from ir_graded import meta

SCORES = pd.DataFrame(np.round(np.random.default_rng(1).random((7, 3)), 2), columns=["a", "b", "c"])


def compared(scores, **options):
    return meta.compare_measures({"Q": scores}, **options)


def intervals(scores, **options):
    return meta.confidence_intervals({"Q": scores}, **options)


def against_a(scores, **options):
    return meta.differences({"Q": scores}, "a", **options)


DEFAULTS = {
    meta.discriminative_power: {"test": "bootstrap", "alpha": 0.05, "n_resamples": 1000},
    meta.significance: {"alternative": "greater", "alpha": 0.05, "n_resamples": 1000},
    meta.swap: {"resample": "bootstrap", "max_rate": 0.05, "n_resamples": 1000},
    meta.stability: {"n_resamples": 1000},
    intervals: {"confidence": 0.95, "n_resamples": 1000},
    against_a: {
        "alpha": 0.05,
        "n_resamples": 100_000,
        "correction": "max-t",
        "family": "measure",
        "alternative": "two-sided",
        "tolerance": 0.0,
    },
}


@pytest.mark.parametrize("method", DEFAULTS, ids=lambda method: method.__name__)
def test_defaults_equal_those_in_the_result(method):
    found = method(SCORES)
    assert {name: getattr(found, name) for name in DEFAULTS[method]} == DEFAULTS[method]


@pytest.mark.parametrize("method", [*DEFAULTS, compared], ids=lambda method: method.__name__)
def test_the_default_seed_is_0(method):
    given, expected = method(SCORES, n_resamples=50), method(SCORES, n_resamples=50, rng=0)
    pd.testing.assert_frame_equal(given.to_frame(), expected.to_frame(), check_exact=True)


def test_default_fuzziness_has_steps_of_a_hundredth_up_to_a_tenth():
    hundredths = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1]
    assert meta.stability(SCORES, n_resamples=2).fuzziness.tolist() == hundredths


def test_docstrings_name_the_words_of_each_option():
    """Words that are keys of a table are inserted for ``{option}``."""
    public = {name: getattr(meta, name) for name in meta.__all__}
    declared = {name: function.choices for name, function in public.items() if hasattr(function, "choices")}
    assert {"differences", "discriminative_power", "ranks"} <= declared.keys()
    for name, choices in declared.items():
        documented = public[name].__doc__
        assert not any(f"{{{option}}}" in documented for option in choices)
    for name in ("differences", "discriminative_power", "ranks"):
        for word, test in declared[name]["test"].items():
            assert f"``{word!r}`` ({test.words})" in public[name].__doc__
