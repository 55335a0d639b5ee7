"""Confidence intervals of mean scores, by the percentile bootstrap over topics (Efron, 1979)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.arrays import read_only
from ir_graded._utils.short_reprs import ShortRepr
from ir_graded.core.segments import Floats, exact_sum

from .matrix import matrices_by_measure
from .options import check_options
from .resampling import Seed, generator, replicate_blocks, topic_counts

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceIntervals(ShortRepr):
    """Mean scores of systems with their confidence intervals.

    Attributes:
        measures: printed names of the measures.
        systems: the systems, in the given order.
        mean: mean over the topics, shape ``(measures, systems)``.
        low: lower ends of the intervals, with the same shape.
        high: upper ends.
        level: confidence level, such as 0.95.
        n_resamples: number of replicates.
        topics: number of topics.
    """

    measures: tuple[str, ...]
    systems: tuple[Hashable, ...]
    mean: Floats
    low: Floats
    high: Floats
    level: float
    n_resamples: int
    topics: int

    def to_frame(self) -> pd.DataFrame:
        """Return a row per run, best first by the first measure, with mean, low and high per measure."""
        import pandas as pd

        order = np.argsort(-self.mean[0], kind="stable")
        columns = pd.MultiIndex.from_product([self.measures, ["mean", "low", "high"]])
        ends = np.stack([self.mean, self.low, self.high], axis=1)
        names = [self.systems[number] for number in order]
        return pd.DataFrame(
            ends[:, :, order].transpose(2, 0, 1).reshape(len(order), -1),
            index=pd.Index(names, name="run", tupleize_cols=False),
            columns=columns,
        )

    def plot(self, measure: str | None = None, ax: Axes | None = None) -> Figure:
        """Plot the leaderboard by one measure (by default the first) into ``ax`` or a new figure."""
        from ir_graded.plots.scores import leaderboard

        return leaderboard(self, measure, ax)


def confidence_intervals(
    scores: Any, *, level: float = 0.95, n_resamples: int = 1000, rng: Seed = 0
) -> ConfidenceIntervals:
    """Compute percentile bootstrap intervals of the mean score over the topics.

    Each replicate draws n topics with replacement, where n is the number of topics; its statistic is the mean
    of their scores. With ``a = 1 - level``, the interval goes from the ``a/2`` to the ``1 - a/2`` quantile of
    the B statistics (with linear interpolation). All systems and measures share the same replicates. With few
    topics such intervals are slightly too short.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x
            systems. One system is enough.
        level: confidence level, between 0 and 1.
        n_resamples: number of replicates B, at least 1.
        rng: a seed or a generator.

    Returns:
        Mean, low and high of each system by each measure, in the units of the measure.

    Raises:
        InputError: there are fewer than two topics, a score is not finite, or measures, topics or systems
            do not match.
        ParameterError: an option is out of its range.

    Source:
        Efron, "Bootstrap methods: another look at the jackknife" (Annals of Statistics, 1979); Efron and
        Tibshirani, "An introduction to the bootstrap" (1993), chapter 13.

    Example:
        >>> import pandas as pd
        >>> scores = {"Q": pd.DataFrame({"poor": [0.4, 0.2, 0.3, 0.1], "good": [0.9, 0.7, 0.8, 0.8]})}
        >>> confidence_intervals(scores, n_resamples=500).to_frame().round(2)
                 Q
              mean   low  high
        run
        good  0.80  0.72  0.85
        poor  0.25  0.15  0.35
    """
    check_options(level=level, n_resamples=n_resamples)
    matrices = matrices_by_measure(scores, fewest_systems=1)
    source = generator(rng)
    values = np.stack([matrix.values.T for matrix in matrices.values()])
    measures, systems, topics = values.shape
    means = exact_sum(values) / topics
    # Centre at the mean, so that the interval of equal scores has width 0.
    centred = values - means[:, :, np.newaxis]
    replicates = np.empty((measures, systems, int(n_resamples)))
    done = 0
    for size in replicate_blocks(int(n_resamples), topics + measures * systems):
        replicates[:, :, done : done + size] = centred @ topic_counts(source, topics, size)
        done += size
    tail = (1 - float(level)) / 2
    low, high = means + np.quantile(replicates / topics, [tail, 1 - tail], axis=2)
    least, most = values.min(axis=2), values.max(axis=2)
    return ConfidenceIntervals(
        measures=tuple(matrices),
        systems=next(iter(matrices.values())).systems,
        mean=read_only(means),
        low=read_only(np.clip(low, least, most)),
        high=read_only(np.clip(high, least, most)),
        level=float(level),
        n_resamples=int(n_resamples),
        topics=topics,
    )
