"""Ranges and directions of measures, and measures whose scores were computed or judged elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.segments import Bools, Floats
from ir_graded.errors import InputError, ParameterError, short_repr
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.parsing import read_measure
from ir_graded.meta.matrix import DECIMALS

#: Lowest and highest possible score.
Range = tuple[float, float]
UNKNOWN: Range = (-math.inf, math.inf)


class Stated(NamedTuple):
    """Range and direction of a measure as stated by the user."""

    low: float
    high: float
    lower_is_better: bool


class GivenMeasure(Measure):
    """A measure with any name, of which nothing is known but its scores."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.NAME = self.__name__ = name


def named(measure: Any, given: Collection[str], read: Callable[[Any], Measure] = read_measure) -> Measure:
    """Return the measure of a name; names in ``given`` need not be known. Raises as ``read``."""
    try:
        return read(measure)
    except (NameError, ValueError):
        if str(measure) not in given:
            raise
        return GivenMeasure(str(measure))


def stated(ranges: Mapping[Any, Range | None] | None, lower_is_better: Iterable[Any]) -> dict[str, Stated]:
    """Return range and direction by the printed names of measures. Raises ParameterError."""
    if not (ranges is None or isinstance(ranges, Mapping)):
        raise ParameterError(f"ranges={short_repr(ranges)} must be a mapping, such as {{'judge': (1, 5)}}")
    of_lower = [lower_is_better] if isinstance(lower_is_better, (str, Measure)) else [*lower_is_better]
    lower = {str(named(one, {str(one)})) for one in of_lower}
    found = dict.fromkeys(lower, Stated(*UNKNOWN, True))
    for one, ends in (ranges or {}).items():
        name = str(named(one, {str(one)}))
        try:
            low, high = map(float, UNKNOWN if ends is None else ends)
        except (TypeError, ValueError):
            low = high = math.nan
        if not low < high:
            raise ParameterError(
                f"ranges: {name}: {short_repr(ends)} must be the lowest and the highest possible score, such "
                "as (1, 5) or (0, math.inf), or None if unknown; if lower scores are better, also give "
                f"lower_is_better=[{short_repr(name)}]"
            )
        found[name] = Stated(low, high, name in lower)
    return found


def outside(values: Floats, low: float, high: float) -> Bools:
    """Return where scores are outside a range by more than an error of rounding; missing ones are not."""
    with np.errstate(invalid="ignore"):
        return ((low - values).round(DECIMALS) > 0) | ((values - high).round(DECIMALS) > 0)


def range_of(measure: Measure, values: Floats) -> Range | None:
    """Return the range that a measure declares; None if it is unknown or the scores have another scale."""
    scorer = scorer_of(measure)
    if scorer is None or outside(values, *scorer.RANGE).any():
        return None
    return float(scorer.RANGE[0]), float(scorer.RANGE[1])


def is_lower_better(measure: Measure, given: Stated | None = None) -> bool:
    """Return whether lower scores are better, as the measure declares or the user stated."""
    scorer = scorer_of(measure)
    return bool((scorer and scorer.LOWER_IS_BETTER) or (given and given.lower_is_better))


def check_scores(
    values: Floats, measure: str, of: Stated, runs: Collection[str], topics: Collection[Any]
) -> None:
    """Raise InputError for a score outside the stated range; ``values`` have the shape (runs, topics)."""
    wrong = np.argwhere(outside(values, of.low, of.high))
    if len(wrong):
        run, topic = wrong[0].tolist()
        raise InputError(
            f"run {short_repr([*runs][run])}, topic {short_repr([*topics][topic])}, measure {measure}: the "
            f"score {values[run, topic]:g} is outside of the range from {of.low:g} to {of.high:g} "
            f"(as {len(wrong)} of {values.size} scores)"
        )
