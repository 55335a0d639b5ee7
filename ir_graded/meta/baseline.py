"""Tests of systems against a baseline: randomisation tests with Holm's correction."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.arrays import read_only
from ir_graded._utils.short_reprs import ShortRepr
from ir_graded.core.segments import Bools, Floats, exact_sum

from .effects import mean_and_spread
from .matrix import matrices_by_measure, number_of, rows_of_systems
from .options import check_options, check_significance_is_possible
from .randomisation import enumerates, randomisation_p, smallest_p
from .resampling import Seed, generator
from .sample_size import detectable_of_pairs

if TYPE_CHECKING:
    import pandas as pd


#: Default number of replicates, independent of alpha and of the number of systems.
_REPLICATES = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class BaselineTests(ShortRepr):
    """Differences of systems from a baseline with their significance.

    Attributes:
        measures: printed names of the measures.
        systems: the systems except the baseline, in the given order.
        baseline: the baseline.
        difference: mean of "system - baseline" over the topics, shape ``(measures, systems)``.
        p: two-sided p-values of the individual tests, with the same shape.
        p_holm: p-values after Holm's correction for the systems compared by one measure.
        spread: standard deviation of "system - baseline" over the topics, with the same shape; NaN if all
            differences are equal.
        topics: number of topics.
        alpha: significance level.
        n_resamples: number of replicates.
    """

    measures: tuple[str, ...]
    systems: tuple[Hashable, ...]
    baseline: Hashable
    difference: Floats
    p: Floats
    p_holm: Floats
    spread: Floats
    topics: int
    alpha: float
    n_resamples: int

    @property
    def significant(self) -> Bools:
        """Whether the corrected p-value is below alpha, shape ``(measures, systems)``."""
        return np.asarray(self.p_holm < self.alpha)

    @property
    def exact(self) -> bool:
        """Whether the p-values count all sign patterns instead of random ones."""
        return enumerates(self.topics, self.n_resamples)

    @property
    def smallest_p_holm(self) -> float:
        """Smallest corrected p-value that a test can have with any scores."""
        return _smallest(self.topics, self.n_resamples, len(self.systems))

    @property
    def dz(self) -> Floats:
        """Effect size of each difference, ``difference / spread``; shape ``(measures, systems)``."""
        return self.difference / self.spread

    @property
    def minimum_detectable(self) -> Floats:
        """Difference that one two-sided paired t test at alpha detects with probability .8.

        The spread of the pair is treated as known. Holm's correction is ignored; with it, even larger
        differences may be missed. Shape ``(measures, systems)``.
        """
        return detectable_of_pairs(self.spread, self.topics, self.alpha)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per measure and system.

        Columns: measure, run, difference, p, p_holm, significant, dz, minimum_detectable.
        """
        return rows_of_systems(self, "difference", "p", "p_holm", "significant", "dz", "minimum_detectable")


def against_baseline(
    scores: Any, baseline: Hashable, *, alpha: float = 0.05, n_resamples: int | None = None, rng: Seed = 0
) -> BaselineTests:
    """Test which systems differ significantly from a baseline.

    The randomisation test flips the signs of the differences per topic, z, at random, B times:
    ``p = (#{|mean(z*)| >= |mean(z)|} + 1) / (B + 1)``, two-sided; identical systems have p = 1. All systems
    and measures share the same flips. If ``2^n <= B`` for n topics, each sign pattern is used once and
    ``p = #{|mean(z*)| >= |mean(z)|} / 2^n`` is exact. Holm's correction is for the systems that one measure
    compares: with the m p-values ascending, the i-th becomes ``min(1, max over j <= i of (m - j + 1) p_j)``.
    No corrected p falls below ``m / (B + 1)``, nor below ``2 m / 2^n``. Tables and ``ir_graded.report`` call
    this function with the default B, so their p-values are the same.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x
            systems.
        baseline: name of the system that the others are compared with.
        alpha: significance level, between 0 and 1.
        n_resamples: number of replicates B, at least 1; None for 100,000.
        rng: a seed or a generator.

    Raises:
        InputError: there are fewer than two topics or systems, a score is not finite, or measures, topics or
            systems do not fit together.
        ParameterError: an option is out of its range, the baseline is not a system, or n_resamples is too
            small for any corrected p-value below alpha.

    Warns:
        CoverageWarning: the topics are so few that no corrected p-value can fall below alpha.

    Source:
        Fisher, "The design of experiments" (1935); for retrieval: Smucker, Allan and Carterette (CIKM 2007);
        Holm, "A simple sequentially rejective multiple test procedure" (Scand. J. Statistics, 1979).

    Example:
        >>> import pandas as pd
        >>> systems = {"old": [0.1] * 9, "same": [0.1] * 9, "new": [0.2, 0.3, 0.4] * 3}
        >>> tests = against_baseline({"Q": pd.DataFrame(systems)}, "old").to_frame().round(3)
        >>> tests[["run", "difference", "p", "p_holm", "significant", "minimum_detectable"]]
            run  difference      p  p_holm  significant  minimum_detectable
        0  same         0.0  1.000   1.000        False                 NaN
        1   new         0.2  0.004   0.008         True               0.092
    """
    replicates = _REPLICATES if n_resamples is None else n_resamples
    check_options(alpha=alpha, n_resamples=replicates)
    matrices = matrices_by_measure(scores)
    names = next(iter(matrices.values())).systems
    of_baseline = number_of(baseline, names, "baseline")
    others = [number for number in range(len(names)) if number != of_baseline]
    values = np.stack([matrix.values.T for matrix in matrices.values()])
    topics, compared = values.shape[2], len(others)
    check_significance_is_possible(
        lambda size: np.array([_smallest(topics, size, compared)]),
        n_resamples,
        replicates,
        alpha,
        tests=compared,
        topics=[f"{topics} topics"],
        cannot=f"the randomisation test of {compared} run{'s' * (compared > 1)} cannot find a difference",
        advice="more topics",
    )
    z = values[:, others] - values[:, [of_baseline]]
    against = np.full(len(others), of_baseline)
    spread = np.stack([mean_and_spread(of_measure, others, against)[1] for of_measure in values])
    p = randomisation_p(z, int(replicates), generator(rng), two_sided=True)
    return BaselineTests(
        measures=tuple(matrices),
        systems=tuple(names[number] for number in others),
        baseline=baseline,
        difference=read_only(exact_sum(z) / z.shape[2]),
        p=read_only(p),
        p_holm=read_only(np.stack([holm(row) for row in p])),
        spread=read_only(spread),
        topics=topics,
        alpha=float(alpha),
        n_resamples=int(replicates),
    )


def _smallest(topics: int, n_resamples: float, compared: int) -> float:
    return min(1.0, compared * smallest_p(topics, n_resamples, two_sided=True))


def holm(p: Floats) -> Floats:
    """Return p-values after the correction of Holm (1979), in the order given."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected
