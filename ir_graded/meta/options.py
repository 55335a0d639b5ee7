"""Options of all statistics: what values they may have, and seeds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from ir_graded.core.struct import light_dataclass
from ir_graded.errors import ParameterError, check_choice, short_repr, valid_text

Given = ParamSpec("Given")
Found = TypeVar("Found")
#: Written as text, because numpy.random takes long to import.
Seed: TypeAlias = "int | np.random.Generator"

#: Largest number of topics of a power or sample size; above it the expected width becomes inexact.
MOST_TOPICS = 10**7
#: Largest score, and therefore largest difference: sums, products and roundings of scores do not overflow.
LARGEST = 1e130
#: Largest rank.
DEEPEST = 2**63 - 1


@light_dataclass(frozen=True, eq=False)
class Number:
    """A number in a range. All comparisons with NaN are false.

    Attributes:
        expected: description of valid values.
        low: the smallest value.
        high: the largest value.
        low_open: whether values must be above ``low``.
        high_open: whether values must be below ``high``.
        whole: whether it must be a whole number.
        none: whether None is valid too.
    """

    expected: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    whole: bool = False
    none: bool = False

    def holds(self, value: Any) -> bool:
        """Return whether a value is valid."""
        if value is None:
            return self.none
        kinds = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
        return (
            isinstance(value, kinds)
            and not isinstance(value, bool)
            and bool(self.low < value if self.low_open else self.low <= value)
            and bool(value < self.high if self.high_open else value <= self.high)
        )


@light_dataclass(frozen=True, eq=False)
class _Rule:
    """Values that are not a range of numbers."""

    expected: str
    holds: Callable[[Any], bool]


_SHARE = Number("a number between 0 and 1", 0, 1, low_open=True, high_open=True)
_POSITIVE = Number("a whole number >= 1", 1, whole=True)
_SEVERAL = Number("a whole number >= 2", 2, whole=True)
#: The values of each option, by its name in all functions. A default is always valid.
OPTIONS: dict[str, Number | _Rule] = {
    "alpha": _SHARE,
    "confidence": _SHARE,
    "depth": Number("None or a whole number >= 1 and < 2**63", 1, DEEPEST, whole=True, none=True),
    "difference": Number(f"a finite number > 0, up to {LARGEST:g}", 0, LARGEST, low_open=True),
    "fuzziness": Number("a number >= 0 and < 1", 0, 1, high_open=True),
    "limit": Number("None or a whole number >= 1", 1, whole=True, none=True),
    "looks": Number("a whole number from 1 to 1,000,000", 1, 10**6, whole=True),
    "max_rate": Number("a number in [0, 1]", 0, 1),
    "memory_mib": Number("a number > 0, or inf", 0, low_open=True),
    "n_resamples": _POSITIVE,
    "n_runs": _SEVERAL,
    "n_samples": _POSITIVE,
    "n_topics": Number(
        f"None or a whole number from 2 to {MOST_TOPICS:,}", 2, MOST_TOPICS, whole=True, none=True
    ),
    "p": _SHARE,
    "power": _SHARE,
    "power_tuning": Number("None or a number in [0, 1]", 0, 1, none=True),
    "progress": _Rule(
        "True, False or None", lambda value: value is None or isinstance(value, (bool, np.bool_))
    ),
    "rel": Number("a finite number", low_open=True, high_open=True),
    "rng": _Rule(
        "a whole number >= 0 (a seed) or a numpy.random.Generator",
        lambda value: isinstance(value, np.random.Generator) or Number("", 0, whole=True).holds(value),
    ),
    "tolerance": Number("a finite number >= 0", 0, high_open=True),
    "top_k": _POSITIVE,
    "top_n": _SEVERAL,
    "variance": Number("a finite number > 0", 0, low_open=True, high_open=True),
}


def check_options(**options: Any) -> None:
    """Raise ParameterError if an option has the wrong type or is out of its range."""
    for name, value in options.items():
        if not OPTIONS[name].holds(value):
            raise ParameterError(f"{name}={short_repr(value)} must be {OPTIONS[name].expected}")


def statistic(
    **choices: Collection[str] | None,
) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Declare a statistic, whose options are checked by their names before it runs.

    Args:
        choices: the words that options may have; None leaves the check to the function. If they are the keys
            of objects with ``words``, the text ``{option}`` in the docstring becomes their list.
    """

    def declare(function: Callable[Given, Found]) -> Callable[Given, Found]:
        parameters = inspect.signature(function).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()}

        @wraps(function)
        def checked(*args: Given.args, **kwargs: Given.kwargs) -> Found:
            for name, value in {**dict(zip(defaults, args, strict=False)), **kwargs}.items():
                if name not in defaults or value is defaults[name]:
                    continue
                if name in choices:
                    if (words := choices[name]) is not None:
                        check_choice(name, value, words)
                elif name in OPTIONS:
                    check_options(**{name: value})
            with valid_text():
                return function(*args, **kwargs)

        for name, words in choices.items():
            if isinstance(words, Mapping) and checked.__doc__:
                listed = "; ".join(f"``{word!r}`` ({meaning.words})" for word, meaning in words.items())
                checked.__doc__ = checked.__doc__.replace(f"{{{name}}}", listed)
        checked.choices = choices  # type: ignore[attr-defined]
        return checked

    return declare


def generator(rng: Seed) -> np.random.Generator:
    """Return a generator from a seed or a generator. Raises ParameterError for anything else."""
    check_options(rng=rng)
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(int(rng))
