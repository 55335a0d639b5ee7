"""Minima of means: gates without a baseline."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, ParameterError, short_repr

from .matrix import DECIMALS, all_matrices, arithmetic, check_arithmetic, reference_name
from .options import ALL_TOPICS, Number, means_over_topics, notes_on_weights, statistic, weights_of

_LOWEST = Number("a finite number", low_open=True, high_open=True)
#: Verdicts of means below a minimum, with a test and alone.
BELOW_MINIMUM = ("worse and below minimum", "below minimum")
#: Verdicts of means alone that are not below a minimum.
AT_LEAST, NO_MINIMUM = "not below minimum", "no minimum"


@dataclass(frozen=True, eq=False, repr=False)
class Minima(Result):
    """Means of runs with the lowest that pass, the result of :func:`minima`; a value a measure and run.

    Attributes:
        run: the run.
        measure: printed name of the measure.
        topics: number of topics.
        mean: mean of the run over the topics.
        minimum: lowest mean that passes; NaN without one.
        verdict: ``below minimum``, ``not below minimum`` or ``no minimum``.
        notes: sentences on what limits the means.
    """

    run: tuple[Hashable, ...]
    measure: tuple[str, ...]
    topics: Ints
    mean: Floats
    minimum: Floats
    verdict: tuple[str, ...]
    notes: tuple[str, ...] = ()

    COLUMNS: ClassVar = ("run", "measure", "topics", "mean", "minimum", "verdict")

    @property
    def passed(self) -> bool:
        """Whether no mean is below its minimum."""
        return BELOW_MINIMUM[1] not in self.verdict


@statistic()
def minima(scores: Any, minimum: Mapping[Any, float], *, weights: Any = None) -> Minima:
    """Compare means of runs with the lowest that pass, without a baseline and without a test.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x runs.
        minimum: mapping from measures to the lowest means that pass.
        weights: weights of the topics, as in ``differences``.

    Raises:
        InputError: a score is not finite, or a topic has no weight or a wrong one.
        ParameterError: a minimum is not of one of the measures, or is not a finite number.

    Example:
        >>> import pandas as pd
        >>> found = minima({"Q": pd.DataFrame({"old": [0.2, 0.6], "new": [0.5, 0.5]})}, {"Q": 0.45})
        >>> found.to_frame()[["run", "mean", "minimum", "verdict"]]
           run  mean  minimum            verdict
        0  old   0.4     0.45      below minimum
        1  new   0.5     0.45  not below minimum
    """
    matrices, notes = arithmetic(all_matrices(scores, 1))
    first = next(iter(matrices.values()))
    of_topic = weights_of(first.topics, weights)
    kept = of_topic > 0
    if weights is not None:
        notes += notes_on_weights({ALL_TOPICS: np.arange(np.count_nonzero(kept))}, of_topic[kept])
    values = np.stack([matrix.values.T for matrix in matrices.values()])[:, :, kept]
    mean = means_over_topics(values, of_topic[kept]).reshape(-1)
    floor = np.repeat(minima_of(scores, (*matrices,), minimum or {}), len(first.runs))
    verdict = np.select([is_below(mean, floor), np.isnan(floor)], [BELOW_MINIMUM[1], NO_MINIMUM], AT_LEAST)
    return Minima(
        run=first.runs * len(matrices),
        measure=tuple(name for name in matrices for _ in first.runs),
        topics=np.full(len(mean), np.count_nonzero(kept)),
        mean=mean,
        minimum=floor,
        verdict=tuple(verdict.tolist()),
        notes=notes,
    )


def is_below(mean: Floats, minimum: Floats) -> Bools:
    """Return where a mean is below a minimum by more than an error of rounding."""
    return np.asarray((mean - minimum).round(DECIMALS) < 0)


def minima_of(scores: Any, measures: tuple[str, ...], minimum: Mapping[Any, float] | None) -> Floats:
    """Return the minimum of each measure, NaN without one. Raises ParameterError."""
    found = np.full(len(measures), np.nan)
    if minimum is not None and (not isinstance(minimum, Mapping) or not minimum):
        raise ParameterError(
            f"minimum={short_repr(minimum)} must be a mapping from measures to lowest means, such as "
            "{'nDCG@10': 0.65}"
        )
    for measure, lowest in (minimum or {}).items():
        try:
            known = hasattr(scores, "position")
            name = scores.names[scores.position(measure)] if known else str(measure)
            check_arithmetic([name])
            reference_name(name, measures)
        except InputError:
            raise ParameterError(
                f"the minimum of {measure} needs scores by {measure}; the measures are {', '.join(measures)}"
            ) from None
        at = measures.index(name)
        if not _LOWEST.holds(lowest) or not np.isnan(found[at]):
            problem = "is given twice" if _LOWEST.holds(lowest) else f"must be a finite number: {lowest!r}"
            raise ParameterError(f"the minimum of {measure} {problem}")
        found[at] = lowest
    return found
