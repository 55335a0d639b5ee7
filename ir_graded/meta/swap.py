"""The swap method: how large a difference must be so that another topic set rarely reverses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ir_graded._utils.arrays import read_only
from ir_graded._utils.short_reprs import ShortRepr
from ir_graded.core.segments import Floats, Ints

from .matrix import ScoreMatrix
from .options import check_choice, check_options
from .resampling import (
    Seed,
    disjoint_halves,
    generator,
    replicate_blocks_with_progress,
    topic_count_pairs,
)

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure

_BINS = 21
#: Means are rounded to 1e-12, so that differences at the edge of a bin are in the bin.
_UNIT = 1e12
_BIN_UNITS = 1e10


@dataclass(frozen=True, eq=False, repr=False)
class Swap(ShortRepr):
    """Swap rates of one measure by the size of the difference, the result of :func:`swap`.

    Attributes:
        lower: lower edges of the 21 bins, inclusive: 0, 0.01, ..., 0.20.
        upper: upper edges, exclusive except for the last, 1.
        observations: number of pairs of systems and trials whose difference is in the bin.
        swaps: number of these that have the opposite sign on the second topic set.
        max_rate: highest tolerated swap rate.
        required_difference: lower edge of the first bin from which on the swap rate is at most ``max_rate``
            in every bin with observations; NaN if there is none.
        sensitivity: share of the observations with at least that difference, in [0, 1].
        resample: how the two topic sets of a trial were drawn.
        n_resamples: number of trials.
    """

    lower: Floats
    upper: Floats
    observations: Ints
    swaps: Ints
    max_rate: float
    required_difference: float
    sensitivity: float
    resample: str
    n_resamples: int

    @property
    def rate(self) -> Floats:
        """Swap rates of the bins, in [0, 1]; NaN in an empty bin."""
        return _swap_rates(self.observations, self.swaps)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per bin: columns lower, upper, observations, swaps, rate (NaN in an empty bin)."""
        import pandas as pd

        return pd.DataFrame(
            {
                "lower": self.lower,
                "upper": self.upper,
                "observations": self.observations,
                "swaps": self.swaps,
                "rate": self.rate,
            }
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the swap rate against the difference, with the tolerated rate."""
        from ir_graded.plots.meta import swap_curves

        return swap_curves({"": self}, ax)


def swap(
    scores: Any,
    *,
    n_resamples: int = 1000,
    resample: Literal["bootstrap", "disjoint"] = "bootstrap",
    max_rate: float = 0.05,
    rng: Seed = 0,
    memory_mib: float = 64,
) -> Swap:
    """Compute swap rates, required difference and sensitivity of a measure.

    Each trial draws two topic sets. Let ``d`` and ``d'`` be the differences of the means of a pair on the two
    sets. The observation is in the bin of ``|d|`` and is a swap if ``d * d' < 0``;
    ``swap rate = swaps / observations`` of a bin. Means and differences are rounded to 12 decimals first.

    Args:
        scores: the score matrix of one measure, topics x systems. Differences above 1, which are possible
            only with scores outside [0, 1], are in the last bin.
        n_resamples: number of trials, at least 1.
        resample: ``"bootstrap"``: two independent samples of n topics with replacement; ``"disjoint"``: two
            sets of floor(n/2) topics without common topics.
        max_rate: highest tolerated swap rate, in [0, 1].
        rng: a seed or a ``numpy.random.Generator``.
        memory_mib: limit of the working memory, inf for no limit; the result does not depend on it.

    Raises:
        InputError: the matrix has fewer than two topics or systems, a score that is not finite, or a
            duplicate name.
        ParameterError: a parameter is out of its range.

    Source: Voorhees and Buckley (2002), with disjoint halves; Sakai (2006), with bootstrap samples.

    Example:
        >>> from ir_graded.meta.swap import swap
        >>> scores = [[0.9, 0.1, 0.5], [0.8, 0.2, 0.1], [0.7, 0.3, 0.6]]
        >>> result = swap(scores, n_resamples=200)
        >>> int(result.observations.sum())
        600
        >>> result.required_difference, round(result.sensitivity, 2)
        (0.2, 0.85)
    """
    check_choice("resample", resample, ("bootstrap", "disjoint"))
    check_options(n_resamples=n_resamples, max_rate=max_rate, memory_mib=memory_mib)
    matrix = ScoreMatrix.of(scores)
    topics, systems = matrix.values.shape
    source = generator(rng)
    draw, drawn = (disjoint_halves, topics // 2) if resample == "disjoint" else (topic_count_pairs, topics)
    counts = np.zeros((_BINS, 2), dtype=np.int64)
    for size in replicate_blocks_with_progress(n_resamples, 2 * (topics + systems), memory_mib):
        # Means in units of 1e-12, as whole numbers: their differences are exact.
        one, two = (np.rint(matrix.values.T @ sets / drawn * _UNIT) for sets in draw(source, topics, size))
        for x in range(systems - 1):
            counts += _count_by_bin(one[x] - one[x + 1 :], two[x] - two[x + 1 :])
    observations, swaps = counts.sum(axis=1), counts[:, 1].copy()
    edges = np.arange(_BINS) / 100
    first = _first_tolerable_bin(_swap_rates(observations, swaps), max_rate)
    return Swap(
        lower=read_only(edges),
        upper=read_only(np.append(edges[1:], 1.0)),
        observations=read_only(observations),
        swaps=read_only(swaps),
        max_rate=float(max_rate),
        required_difference=float("nan") if first is None else float(edges[first]),
        sensitivity=0.0 if first is None else float(observations[first:].sum() / observations.sum()),
        resample=resample,
        n_resamples=n_resamples,
    )


def _count_by_bin(difference: Floats, again: Floats) -> Ints:
    """Count the observations of each bin without and with a swap, shape ``(21, 2)``."""
    bins = np.minimum(np.floor(np.abs(difference) / _BIN_UNITS), _BINS - 1)
    code = 2 * bins.astype(np.intp) + (difference * again < 0)
    return np.bincount(code.reshape(-1), minlength=2 * _BINS).reshape(_BINS, 2).astype(np.int64, copy=False)


def _swap_rates(observations: Ints, swaps: Ints) -> Floats:
    """Return the swap rate of each bin; NaN in an empty bin."""
    rates = np.full(observations.shape, np.nan)
    np.divide(swaps, observations, out=rates, where=observations > 0)
    return rates


def _first_tolerable_bin(rates: Floats, max_rate: float) -> int | None:
    """Return the first bin with observations from which on all rates are at most ``max_rate``."""
    first = None
    for at in range(len(rates) - 1, -1, -1):
        if rates[at] > max_rate:
            break
        if not np.isnan(rates[at]):
            first = at
    return first
