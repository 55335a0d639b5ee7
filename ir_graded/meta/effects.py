"""Effect sizes of differences between systems."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.arrays import read_only
from ir_graded._utils.extras import extra
from ir_graded._utils.short_reprs import ShortRepr
from ir_graded.core.segments import Floats

from .matrix import ScoreMatrix, number_of
from .noncentral import noncentralities
from .options import check_options
from .sample_size import ROUNDING, score_variance

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class EffectSizes(ShortRepr):
    """Effect sizes of pairs of systems.

    Attributes:
        system_a: first system of each pair.
        system_b: second system of each pair; the baseline if one is given.
        difference: mean of "a - b" over the topics.
        dz: mean / standard deviation of the differences by topic, as in a paired t test. NaN if all
            differences are equal.
        gz: dz corrected for its bias with few topics (Hedges).
        low: lower end of the interval of dz.
        high: upper end.
        es: difference / root of the two-way residual variance of all systems (Sakai, for Tukey's HSD).
        es_one_way: es with the one-way variance.
        level: confidence level.
    """

    system_a: tuple[Hashable, ...]
    system_b: tuple[Hashable, ...]
    difference: Floats
    dz: Floats
    gz: Floats
    low: Floats
    high: Floats
    es: Floats
    es_one_way: Floats
    level: float

    def to_frame(self) -> pd.DataFrame:
        """Return a row per pair: system_a, system_b, difference, dz, gz, low, high, es, es_one_way."""
        import pandas as pd

        names = ("difference", "dz", "gz", "low", "high", "es", "es_one_way")
        pairs = {"system_a": list(self.system_a), "system_b": list(self.system_b)}
        return pd.DataFrame({**pairs, **{name: getattr(self, name) for name in names}})


def effect_sizes(scores: Any, baseline: Hashable | None = None, *, level: float = 0.95) -> EffectSizes:
    """Compute effect sizes of all pairs of systems, or of all systems against a baseline.

    With z the differences per topic, f = n - 1 and t the statistic of the paired t test:
    ``dz = mean(z) / sd(z)``; ``gz = dz * Gamma(f/2) / (sqrt(f/2) Gamma((f-1)/2))``. The interval of dz
    contains the noncentralities for which t is not extreme, divided by sqrt(n).

    Args:
        scores: score matrix, topics x systems.
        baseline: a system; None for all pairs.
        level: confidence level, between 0 and 1.

    Raises:
        InputError: the matrix is wrong, or its variance is 0.
        ParameterError: the level is out of its range, or the baseline is not a system.

    Source:
        Hedges, "Distribution theory for Glass's estimator of effect size" (J. Educational Statistics, 1981);
        Sakai, "Laboratory experiments in information retrieval" (2018).

    Example:
        >>> found = effect_sizes([[0.9, 0.5], [0.8, 0.4], [0.4, 0.4], [0.7, 0.2]])
        >>> found.to_frame()[["difference", "dz", "gz"]].round(3)
           difference     dz     gz
        0       0.325  1.466  1.061
    """
    check_options(level=level)
    matrix = ScoreMatrix.of(scores)
    first, second = np.triu_indices(len(matrix.systems), 1)
    if baseline is not None:
        at = number_of(baseline, matrix.systems, "baseline")
        first = np.delete(np.arange(len(matrix.systems)), at)
        second = np.full_like(first, at)
    mean, spread = mean_and_spread(matrix.values.T, first, second)
    topics = len(matrix.topics)
    special = extra("scipy.special", "meta")
    f, dz = topics - 1, mean / spread
    # It is undefined for two topics, as Gamma(0) is infinite.
    bias = np.exp(special.gammaln(f / 2) - special.gammaln((f - 1) / 2)) / np.sqrt(f / 2) if f > 1 else np.nan
    ends = [
        noncentralities(np.abs(dz) * np.sqrt(topics), f, tail) / np.sqrt(topics)
        for tail in ((1 - level) / 2, (1 + level) / 2)
    ]
    low, high = np.where(dz < 0, -np.stack(ends[::-1]), np.stack(ends))
    two_way, one_way = (score_variance(matrix, model=model).variance for model in ("two-way", "one-way"))
    return EffectSizes(
        system_a=tuple(matrix.systems[number] for number in first),
        system_b=tuple(matrix.systems[number] for number in second),
        difference=read_only(mean),
        dz=read_only(dz),
        gz=read_only(bias * dz),
        low=read_only(low),
        high=read_only(high),
        es=read_only(mean / np.sqrt(two_way)),
        es_one_way=read_only(mean / np.sqrt(one_way)),
        level=float(level),
    )


def mean_and_spread(values: Floats, first: Any, second: Any) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the differences of pairs; NaN if all are equal.

    Args:
        values: scores, systems x topics.
        first: number of the first system of each pair.
        second: number of the second.
    """
    mean, spread = np.empty(len(first)), np.empty(len(first))
    # Squares of the smallest scores would underflow to 0.
    values = values / (scale := float(np.abs(values).max()) or 1.0)
    for start in range(0, len(first), 4096):
        some = slice(start, start + 4096)
        z = values[first[some]] - values[second[some]]
        mean[some] = z.mean(axis=1)
        spread[some] = z.std(axis=1, ddof=1)
        largest = np.maximum(np.abs(values[first[some]]), np.abs(values[second[some]])).max(axis=1)
        spread[some][np.ptp(z, axis=1) <= ROUNDING * largest] = np.nan
    return mean * scale, spread * scale
