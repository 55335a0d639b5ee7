"""Check the options of statistics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ir_graded.core.segments import Floats
from ir_graded.errors import CoverageWarning, ParameterError, short_repr

#: Largest number of topics of a power or sample size; above it the expected width becomes inexact.
MOST_TOPICS = 10**7
#: Largest score, and therefore largest difference.
_LARGEST = 1e130


class TooFewTopicsWarning(CoverageWarning):
    """Warning that a test can never be significant, because its topics have too few sign patterns."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


#: A predicate on values, and a description of valid values.
_Rule = tuple[Callable[[Any], bool], str]
_SHARE: _Rule = (lambda value: _is_number(value) and 0 < value < 1, "a number between 0 and 1")
_POSITIVE: _Rule = (lambda value: _is_whole(value, 1), "a whole number >= 1")
_SEVERAL: _Rule = (lambda value: _is_whole(value, 2), "a whole number >= 2")
#: The rule of each option. All comparisons with NaN are false.
_RULES: dict[str, _Rule] = {
    "alpha": _SHARE,
    "confidence": _SHARE,
    "depth": (
        lambda value: value is None or (_is_whole(value, 1) and value < 2**63),
        "None or a whole number >= 1 and < 2**63",
    ),
    "difference": (
        lambda value: _is_number(value) and 0 < value <= _LARGEST,
        f"a finite number > 0, up to {_LARGEST:g}",
    ),
    "fuzziness": (lambda value: _is_number(value) and 0 <= value < 1, "a number >= 0 and < 1"),
    "level": _SHARE,
    "max_rate": (lambda value: _is_number(value) and 0 <= value <= 1, "a number in [0, 1]"),
    "memory_mib": (lambda value: _is_number(value) and value > 0, "a number > 0, or inf"),
    "n_samples": _POSITIVE,
    "n_resamples": _POSITIVE,
    "n_topics": (
        lambda value: value is None or (_is_whole(value, 2) and value <= MOST_TOPICS),
        f"None or a whole number from 2 to {MOST_TOPICS:,}",
    ),
    "power": _SHARE,
    "power_tuning": (
        lambda value: value is None or (_is_number(value) and 0 <= value <= 1),
        "None or a number in [0, 1]",
    ),
    "progress": (lambda value: value is None or isinstance(value, (bool, np.bool_)), "True, False or None"),
    "rel": (lambda value: _is_number(value) and abs(value) < float("inf"), "a finite number"),
    "systems": _SEVERAL,
    "tolerance": (lambda value: _is_number(value) and 0 <= value < float("inf"), "a finite number >= 0"),
    "top_n": _SEVERAL,
    "top_k": _POSITIVE,
    "variance": (lambda value: _is_number(value) and 0 < value < float("inf"), "a finite number > 0"),
}


def check_options(**options: Any) -> None:
    """Raise ParameterError if an option has the wrong type or is out of its range."""
    for name, value in options.items():
        holds, expected = _RULES[name]
        if not holds(value):
            raise ParameterError(f"{name}={short_repr(value)} must be {expected}")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise ParameterError unless an option is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")


def check_significance_is_possible(  # noqa: PLR0913  # what is tested, and words for messages
    smallest: Callable[[float], Floats],
    n_resamples: int | None,
    default: int,
    alpha: float,
    *,
    tests: int,
    topics: Sequence[str],
    cannot: str,
    advice: str,
    more_replicates: str = "against_baseline",
) -> None:
    """Raise ParameterError if a p-value below alpha needs more replicates; warn if it needs more topics.

    Args:
        smallest: returns the smallest corrected p-value on each set of topics, from a number of replicates.
        n_resamples: number of replicates; None for the default.
        default: the default number.
        alpha: significance level.
        tests: number of tests in the family.
        topics: description of each set of topics.
        cannot: names the test and what it cannot find.
        advice: says what to do if there are too few topics.
        more_replicates: names the function that takes a number of replicates.
    """
    used = default if n_resamples is None else int(n_resamples)
    reached, reachable = smallest(used), smallest(math.inf)
    if ((reached >= alpha) & (reachable < alpha)).any():
        enough = used
        while ((smallest(enough) >= alpha) & (reachable < alpha)).any():
            enough *= 10
        least = reached[reachable < alpha].max()
        fact = f"with {tests} tests no corrected p-value can fall below {least:.3g}, and alpha is {alpha}"
        if n_resamples is None:
            raise ParameterError(
                f"the default of {used:,} replicates is too small: {fact}; use a larger alpha, or "
                f"{more_replicates} with {enough:,} replicates"
            )
        raise ParameterError(f"n_resamples={used} is too small: {fact}; use n_resamples={enough}")
    few = [f"{name} (p >= {p:.3g})" for name, p in zip(topics, reachable, strict=True) if p >= alpha]
    if few:
        warnings.warn(
            f"{cannot} on {', '.join(few)}: its smallest corrected p-value is not below alpha={alpha:g}; "
            f"use {advice}",
            TooFewTopicsWarning,
            stacklevel=3,
        )


def fuzziness_values(fuzziness: Any) -> list[float]:
    """Return the values of the fuzziness. Raises ParameterError if there are none or one is invalid."""
    try:
        values = list(fuzziness)
    except TypeError:
        values = []
    holds, _ = _RULES["fuzziness"]
    if not values or not all(holds(value) for value in values):
        raise ParameterError(f"fuzziness={fuzziness!r} must be one or more numbers >= 0 and < 1")
    return [float(value) for value in values]
