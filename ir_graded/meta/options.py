"""Options of all statistics: what values they may have; seeds, weights and slices of topics."""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from ir_graded.core.segments import Bools, Floats, Ints, exact_sum
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import (
    MOST_IDS,
    CoverageWarning,
    InputError,
    ParameterError,
    format_ids,
    printable,
    short_repr,
    valid_text,
)
from ir_graded.io.slices import read_slices, read_weights

Given = ParamSpec("Given")
Found = TypeVar("Found")
#: Written as text, because numpy.random takes long to import.
Seed: TypeAlias = "int | np.random.Generator"

#: Largest number of topics of a power or sample size; above it the expected width becomes inexact.
MOST_TOPICS = 10**7
#: Largest score, and therefore largest difference: sums, products and roundings of scores do not overflow.
LARGEST = 1e130


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
    "depth": Number("None or a whole number >= 1 and < 2**63", 1, 2**63 - 1, whole=True, none=True),
    "difference": Number(f"a finite number > 0, up to {LARGEST:g}", 0, LARGEST, low_open=True),
    "fuzziness": Number("a number >= 0 and < 1", 0, 1, high_open=True),
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


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise ParameterError unless an option is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")


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


#: The slice of all topics.
ALL_TOPICS = "all"
#: With fewer effective topics, few topics have most of the weight, and nothing covers.
_FEW_EFFECTIVE = 10


def means_over_topics(values: Floats, weights: Floats) -> Floats:
    """Return means over the last axis, which do not depend on the order of the topics."""
    if (weights == weights[0]).all():
        return np.asarray(exact_sum(values) / len(weights))
    return np.asarray(exact_sum(values * weights) / weights.sum())


def weights_of(topics: tuple[Hashable, ...], weights: Any) -> Floats:
    """Return the weight of each topic, 1 without weights. Raises InputError for a missing or wrong one."""
    if weights is None:
        return np.ones(len(topics))
    given = read_weights(weights)
    found = np.full(len(topics), np.nan)
    for at, topic in enumerate(topics):
        weight = given.get(str(topic))
        if isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool):
            found[at] = weight
    wrong = [topic for topic, fits in zip(topics, (found >= 0) & (found < math.inf), strict=True) if not fits]
    if wrong:
        place = f"{printable(os.fspath(weights))}: " if isinstance(weights, (str, os.PathLike)) else ""
        raise InputError(
            f"{place}weights: topics need a finite number >= 0, and {format_ids(wrong[:MOST_IDS])} "
            f"({len(wrong)} in total) have none"
        )
    if np.count_nonzero(found) < 2:  # noqa: PLR2004
        raise InputError(f"weights: {np.count_nonzero(found)} topics have a weight above 0; a test needs 2")
    return found


def topics_by_slice(topics: tuple[Hashable, ...], slices: Any) -> dict[str, Ints]:
    """Return the indices of all topics and of each slice. Raises InputError if a slice is too small."""
    parts = {ALL_TOPICS: np.arange(len(topics), dtype=np.int64)}
    for of_topic in read_slices(slices):
        member = [of_topic.get(str(topic)) for topic in topics]
        unknown = [*of_topic.keys() - {str(topic) for topic in topics}]
        without = [topic for topic, part in zip(topics, member, strict=True) if part is None]
        # Slices may be of more topics or of fewer, but not both: then ids differ.
        if unknown and without:
            raise InputError(
                f"slices: no scored topic is named {format_ids(sorted(unknown))}, and {format_ids(without)} "
                f"({len(without)} in total) have no slice; are the ids equal?"
            )
        for name in dict.fromkeys(part for part in member if part is not None) or of_topic.values():
            if name in parts:
                raise InputError(
                    f"slices: a slice is named {name!r}, which is the name of all topics or of another: "
                    "rename it"
                )
            parts[name] = np.array([at for at, part in enumerate(member) if part == name], dtype=np.int64)
            if parts[name].size < 2:  # noqa: PLR2004
                raise InputError(
                    f"slices: {name!r} has {parts[name].size} of the scored topics; a test needs 2"
                )
    return parts


def of_kept(parts: dict[str, Ints], kept: Bools) -> dict[str, Ints]:
    """Return slices of the topics with a weight above 0. Raises InputError if one has fewer than two."""
    place = np.cumsum(kept) - 1
    found = {name: place[part[kept[part]]] for name, part in parts.items()}
    for name, part in found.items():
        if part.size < 2:  # noqa: PLR2004
            raise InputError(f"slices: {part.size} topics of {name!r} have a weight above 0; a test needs 2")
    return found


def notes_on_weights(parts: Mapping[str, Ints], weights: Floats) -> tuple[str, ...]:
    """Return a sentence, also as a warning, if few topics have most of the weight."""
    few = []
    for name, part in parts.items():
        effective = weights[part].sum() ** 2 / (weights[part] ** 2).sum()
        if effective < _FEW_EFFECTIVE:
            few.append(f"{effective:.1f} ({'all topics' if name == ALL_TOPICS else f'slice {name!r}'})")
    if not few:
        return ()
    note = (
        f"weights: the effective number of topics is {', '.join(few)}, below {_FEW_EFFECTIVE}, because few "
        "topics have most of the weight; intervals, tests and verdicts are unreliable"
    )
    warnings.warn(note, CoverageWarning, stacklevel=4)
    return (f"{note[0].upper()}{note[1:]}.",)
