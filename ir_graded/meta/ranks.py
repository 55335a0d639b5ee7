"""Confidence sets for the ranks of runs, and the runs that are tied for first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import short_repr

from .differences import check_possible, note_on_trimmed, pair_text, student_p
from .matrix import (
    DECIMALS,
    best_first,
    directions_of,
    matrices_by_measure,
    means_of,
    ranks_of,
    reference_name,
)
from .max_t import Comparisons, Replicates, Statistics, Tail, count, trimmed
from .options import Seed, generator, statistic
from .paired_tests import TESTS_OF_DIFFERENCES, holm
from .replicates import one_blas_thread
from .topics import ALL_TOPICS, Sample

if TYPE_CHECKING:
    from ir_graded.plots.style import Axes, Figure

_N_RESAMPLES = 10_000
#: Tests of means, as ranks are by means.
TESTS = {name: TESTS_OF_DIFFERENCES[name] for name in ("randomisation", "bootstrap", "t")}


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
        n_resamples: number of replicates; 0 if none are drawn.
        notes: sentences on what limits the tests, and on the mean of the best run if several are tied.
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
    notes: tuple[str, ...] = ()

    COLUMNS: ClassVar = ("run", "mean", "rank", "rank_low", "rank_high", "p_first", "tied_first")

    @property
    def tied_first(self) -> Bools:
        """Whether a run may be the best one: p_first is at least alpha, and rank_low is 1."""
        return np.asarray((self.p_first >= self.alpha) & (self.rank_low == 1))

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the ranks with their confidence sets into ``ax`` or a new figure."""
        from ir_graded.plots.scores import rank_intervals

        return rank_intervals(self, ax)


@statistic(test=TESTS)
def ranks(  # noqa: PLR0913  # options, all by keyword
    scores: Any,
    measure: Any = None,
    *,
    simultaneous: bool = True,
    test: str = "randomisation",
    alpha: float = 0.05,
    clusters: Any = None,
    n_resamples: int | None = None,
    rng: Seed = 0,
) -> Ranks:
    """Compute confidence sets for the ranks of runs by a measure, and the runs that are tied for first.

    All pairs of runs are tested by :func:`differences`, two-sided with max-t (Holm with ``test='t'``). A run
    may have each rank from ``1 + #{significantly better runs}`` to ``#runs - #{significantly worse runs}``.
    ``p_first`` of a run is the p-value of the largest T of another run minus it; with ``test='t'``, it is the
    smallest one-sided p of another run, times ``#runs - 1``. The runs with ``p_first >= alpha`` and
    ``rank_low == 1`` are tied for first. This holds for each run alone: the best run is tied for first with
    probability 1 - alpha. Of several equally good runs, some may not be.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x runs.
        measure: the measure; None for the first.
        simultaneous: whether the sets hold for all runs together (the family is all pairs) or for each run
            alone (the family is its pairs).
        test: {test}.
        alpha: significance level, between 0 and 1.
        clusters: the cluster of each topic, as for :func:`differences`.
        n_resamples: number of replicates B, at least 1; None for 10,000.
        rng: a seed or a generator.

    Raises:
        InputError: there are fewer than two topics, clusters or runs, a score is not finite, a topic has no
            cluster, or the measure is unknown.
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
    (direction,) = directions_of(scores, [name])
    matrix = matrices[name]
    runs, topics = len(matrix.runs), len(matrix.topics)
    declared = TESTS[test]
    replicates = int(n_resamples or min(declared.n_resamples, _N_RESAMPLES))
    first, second = np.triu_indices(runs, 1)
    sample = Sample.of(matrix.topics, clusters=clusters)
    sizes = {ALL_TOPICS: sample.size}
    kind = f"{sample.unit}s"
    check_possible(test, declared.correction, "two-sided", alpha, replicates, sizes, len(first), kind)
    values = direction * matrix.values.T  # higher ones are better
    z = (values[first] - values[second]).round(DECIMALS)
    given = Comparisons.of(z, np.zeros(len(z), dtype=np.int64), sample)
    pairs = np.arange(len(z))
    number = np.zeros((runs, runs), dtype=np.int64)
    number[first, second] = number[second, first] = pairs
    families = [pairs] if simultaneous else [np.delete(row, run) for run, row in enumerate(number)]
    with one_blas_thread():
        p_of_families, p_first, left_out = (
            _by_student(given, families, runs)
            if declared.statistics is None
            else _by_replicates(
                declared.statistics(given),
                families,
                runs,
                declared.replicates(given, replicates, generator(rng)),
            )
        )
    ahead, behind = np.where(z.sum(axis=1) > 0, (first, second), (second, first))
    better, worse = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    for run, (rows, p) in enumerate(p_of_families):
        found = rows[p < alpha]
        if simultaneous:
            better += np.bincount(behind[found], minlength=runs)
            worse += np.bincount(ahead[found], minlength=runs)
        else:
            better[run], worse[run] = (np.count_nonzero(one[found] == run) for one in (behind, ahead))
    means = direction * means_of(matrix)
    order = best_first(means, matrix.runs)
    ranked = Ranks(
        measure=name,
        run=tuple(matrix.runs[at] for at in order),
        mean=direction * means[order],
        rank=ranks_of(means)[order],
        rank_low=1 + better[order],
        rank_high=runs - worse[order],
        p_first=p_first[order],
        topics=topics,
        simultaneous=bool(simultaneous),
        test=test,
        alpha=float(alpha),
        n_resamples=replicates,
        notes=sample.notes
        + note_on_trimmed(left_out, lambda at: pair_text(matrix.runs[first[at]], matrix.runs[second[at]])),
    )
    return replace(ranked, notes=ranked.notes + _note_on_winner(ranked))


def _note_on_winner(found: Ranks) -> tuple[str, ...]:
    """Return a sentence if the best run was chosen among several that are tied for first."""
    tied = np.count_nonzero(found.tied_first)
    if tied == 1:
        return ()
    return (
        f"{tied} of {len(found.run)} runs are tied for first. The mean of {short_repr(found.run[0])} is the "
        "best of them, so it is probably worse on other topics.",
    )


#: p-values of pairs by family, those of "no run has a higher mean", and the pairs that max-t leaves out.
_Tested = tuple[list[tuple[Ints, Floats]], Floats, Bools]


def _by_student(given: Comparisons, families: Sequence[Ints], runs: int) -> _Tested:
    """Test all pairs of runs by Student's t and Holm's correction."""
    p, smallest = student_p(given, "two-sided"), np.ones(runs)
    for side, behind in zip(("less", "greater"), np.triu_indices(runs, 1), strict=True):
        np.minimum.at(smallest, behind, student_p(given, side))
    p_first = np.minimum(1.0, (runs - 1) * smallest)
    return [(rows, holm(p[rows])) for rows in families], p_first, np.zeros(len(p), dtype=np.bool_)


def _by_replicates(statistics: Statistics, families: Sequence[Ints], runs: int, draws: Replicates) -> _Tested:
    """Test all pairs of runs by replicates and max-t."""
    left_out = trimmed(statistics, families, draws)
    tail = Tail(statistics, "two-sided", [rows[~left_out[rows]] for rows in families], alone=False)
    best = _LargestRival(statistics, runs, left_out)
    count([(statistics, [tail, best])], draws)
    return tail.p_of_families(draws.exact), best.p(draws.exact), left_out


class _LargestRival:
    """Counts of replicates in which the largest T of "another run - run" is as large as observed.

    Args:
        statistics: those of the pairs in the order of ``np.triu_indices``.
        runs: number of runs.
        left_out: pairs that are not tested.
    """

    def __init__(self, statistics: Statistics, runs: int, left_out: Bools) -> None:
        self._runs = runs
        self._untested = np.flatnonzero(left_out | ~statistics.correctable)
        observed = statistics.observed.copy()
        observed[self._untested] = 0.0
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
