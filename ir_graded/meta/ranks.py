"""Confidence sets for the ranks of runs, and the runs that are tied for first."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats, Ints

from .differences import check_possible
from .matrix import DECIMALS, best_first, matrices_by_measure, means_of, ranks_of, reference_name
from .max_t import Comparisons, Statistics, Tail, count
from .options import ALL_TOPICS, Seed, generator, statistic
from .paired_tests import TESTS_OF_DIFFERENCES
from .replicates import one_blas_thread

if TYPE_CHECKING:
    from ir_graded.plots.style import Axes, Figure

_N_RESAMPLES = 10_000
#: Tests of means, as ranks are by means.
TESTS = {name: TESTS_OF_DIFFERENCES[name] for name in ("randomisation", "bootstrap")}


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Result):
    """Ranks of runs with confidence sets, best first, the result of :func:`ranks`.

    Attributes:
        measure: printed name of the measure.
        run: names of the runs.
        mean: mean scores over the topics.
        rank: ranks by the mean; equal means share the smaller rank.
        rank_low: best rank that the topics allow, 1 + the number of runs that are significantly better.
        rank_high: worst rank that they allow, the number of runs less those that are significantly worse.
        p_first: p-value of "no run has a higher mean".
        topics: number of topics.
        simultaneous: whether the sets hold together for all runs.
        test: name of the test.
        alpha: significance level.
        n_resamples: number of replicates.
    """

    measure: str
    run: tuple[Hashable, ...]
    mean: Floats
    rank: Ints
    rank_low: Ints
    rank_high: Ints
    p_first: Floats
    topics: int
    simultaneous: bool
    test: str
    alpha: float
    n_resamples: int

    COLUMNS: ClassVar = ("run", "mean", "rank", "rank_low", "rank_high", "p_first", "tied_first")

    @property
    def tied_first(self) -> Bools:
        """Whether a run may be the best one: p_first is at least alpha."""
        return np.asarray(self.p_first >= self.alpha)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the ranks with their confidence sets into ``ax`` or a new figure."""
        from ir_graded.plots.scores import rank_intervals

        return rank_intervals(self, ax)


@statistic(test=TESTS)
def ranks(
    scores: Any,
    measure: Any = None,
    *,
    simultaneous: bool = True,
    test: str = "randomisation",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: Seed = 0,
) -> Ranks:
    """Compute confidence sets for the ranks of runs by a measure, and the runs that are tied for first.

    All pairs of runs are tested by :func:`differences`, two-sided with max-t. A run may have each rank from
    ``1 + #{significantly better runs}`` to ``#runs - #{significantly worse runs}``. ``p_first`` of a run is
    the p-value of the largest T of another run minus it. The runs with ``p_first >= alpha`` are tied for
    first; they include the best run with probability 1 - alpha.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x runs.
        measure: the measure; None for the first.
        simultaneous: whether the sets hold for all runs together (the family is all pairs) or for each run
            alone (the family is its pairs).
        test: {test}.
        alpha: significance level, between 0 and 1.
        n_resamples: number of replicates B, at least 1; None for 10,000.
        rng: a seed or a generator.

    Raises:
        InputError: there are fewer than two topics or runs, a score is not finite, or the measure is unknown.
        ParameterError: an option is out of its range, or no p-value of B replicates is below alpha.

    Warns:
        CoverageWarning: there are too few topics for any p-value below alpha.

    Source:
        Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks with applications to mobility across
        neighbourhoods and academic achievement across countries" (Review of Economic Studies, 2024).

    Example:
        >>> import pandas as pd
        >>> runs = {"a": [0.9, 0.8, 0.7] * 3, "b": [0.8, 0.9, 0.7] * 3, "c": [0.1, 0.3, 0.2] * 3}
        >>> found = ranks({"Q": pd.DataFrame(runs)})
        >>> found.to_frame()[["run", "rank", "rank_low", "rank_high", "tied_first"]]
          run  rank  rank_low  rank_high  tied_first
        0   a     1         1          2        True
        1   b     1         1          2        True
        2   c     3         3          3       False
    """
    matrices = matrices_by_measure(scores)
    name = next(iter(matrices)) if measure is None else reference_name(measure, matrices, "measure")
    matrix = matrices[name]
    runs, topics = len(matrix.runs), len(matrix.topics)
    replicates = int(n_resamples or _N_RESAMPLES)
    first, second = np.triu_indices(runs, 1)
    check_possible(test, "max-t", "two-sided", alpha, replicates, {ALL_TOPICS: topics}, len(first))
    values = matrix.values.T
    z = (values[first] - values[second]).round(DECIMALS)
    members = np.ones((1, topics), dtype=np.bool_)
    given = Comparisons(z, np.zeros(len(z), dtype=np.int64), members, np.ones(topics))
    declared = TESTS[test]
    # Both tests have statistics.
    assert declared.statistics is not None  # noqa: S101  # for the type checker
    statistics = declared.statistics(given)
    pairs = np.arange(len(z))
    number = np.zeros((runs, runs), dtype=np.int64)
    number[first, second] = number[second, first] = pairs
    of_run = [np.delete(row, run) for run, row in enumerate(number)]
    tail = Tail(statistics, "two-sided", [pairs] if simultaneous else of_run, alone=False)
    best = _LargestRival(statistics, runs)
    draws = declared.replicates(given, replicates, generator(rng))
    with one_blas_thread():
        count([(statistics, [tail, best])], draws)
    better, worse = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    for run, (rows, p) in enumerate(tail.p_of_families(draws.exact)):
        found = rows[p < alpha]
        ahead = np.where(statistics.observed[found] > 0, first[found], second[found])
        behind = first[found] + second[found] - ahead
        if simultaneous:
            better += np.bincount(behind, minlength=runs)
            worse += np.bincount(ahead, minlength=runs)
        else:
            better[run], worse[run] = np.count_nonzero(behind == run), np.count_nonzero(ahead == run)
    means = means_of(matrix)
    order = best_first(means, matrix.runs)
    return Ranks(
        measure=name,
        run=tuple(matrix.runs[at] for at in order),
        mean=means[order],
        rank=ranks_of(means)[order],
        rank_low=1 + better[order],
        rank_high=runs - worse[order],
        p_first=best.p(draws.exact)[order],
        topics=topics,
        simultaneous=bool(simultaneous),
        test=test,
        alpha=float(alpha),
        n_resamples=replicates,
    )


class _LargestRival:
    """Counts of replicates in which the largest T of "another run - run" is as large as observed.

    Args:
        statistics: those of the pairs in the order of ``np.triu_indices``.
        runs: number of runs.
    """

    def __init__(self, statistics: Statistics, runs: int) -> None:
        self._runs = runs
        self._untested = np.flatnonzero(~statistics.correctable)
        observed = np.where(statistics.correctable, statistics.observed, 0.0)
        self._least = self._largest(observed[:, np.newaxis]) - statistics.margin.max()
        self._count: Ints = np.zeros(runs, dtype=np.int64)
        self._replicates = 0

    def _largest(self, of_pairs: Floats) -> Floats:
        """Return the largest value of "other - run" for each run, from those of "first - second"."""
        found = np.full((self._runs, of_pairs.shape[1]), -np.inf)
        start = 0
        for run in range(self._runs - 1):
            rows = of_pairs[start : start + self._runs - 1 - run]
            start += len(rows)
            found[run] = np.maximum(found[run], -rows.min(axis=0))
            np.maximum(found[run + 1 :], rows, out=found[run + 1 :])
        return found

    def add(self, replicates: Floats, exact: bool) -> None:
        """Count the statistics of a block of replicates; those of pairs without a test become 0."""
        replicates[self._untested] = 0.0
        for block in (replicates, -replicates) if exact else (replicates,):
            self._count += np.count_nonzero(self._largest(block) >= self._least, axis=1)
            self._replicates += block.shape[1]

    def p(self, exact: bool) -> Floats:
        """Return the p-value of each run."""
        return np.asarray((self._count + (not exact)) / (self._replicates + (not exact)))
