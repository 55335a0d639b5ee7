"""Discriminative power: the share of pairs of systems that a measure tells apart (Sakai 2006)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.extras import extra
from ir_graded._utils.results import Result, read_only
from ir_graded._utils.threads import progress_bar
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import CoverageWarning

from .matrix import ScoreMatrix
from .sample_size import detectable_of_pairs, mean_and_sd
from .samples import Seed, check_choice, check_options, generator, permuted_rows, sign_flips, topic_counts
from .studentised import (
    SECONDS_BEFORE_BAR,
    TOLERANCE,
    PairBlock,
    PairedScores,
    Pairs,
    WeightedSums,
    Workspace,
    at_least,
    for_each_block,
    for_each_bootstrap_block,
    one_blas_thread,
)

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


@dataclass(frozen=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """Discriminative power of a measure, the result of :func:`discriminative_power`.

    Attributes:
        power: share of the pairs with ASL < alpha, from 0 to 1.
        required_difference: the difference of means that suffices for significance. With the bootstrap test:
            the largest of ``required_differences``. With other tests: the smallest observed difference from
            which on all pairs were significant, or NaN.
        asl: achieved significance level of each pair, a Series by run_a and run_b.
        differences: observed difference of means of each pair, run_a - run_b, a Series by run_a and
            run_b.
        required_differences: required difference of each pair; None if the test is not the bootstrap.
        alpha: significance level.
        test: name of the test.
        n_resamples: number of replicates.
    """

    power: float
    required_difference: float
    asl: pd.Series[float]
    differences: pd.Series[float]
    required_differences: pd.Series[float] | None
    alpha: float
    test: str
    n_resamples: int
    _values: Floats = field(repr=False)

    @property
    def curve(self) -> Floats:
        """ASL curve: the ASLs of all pairs in descending order."""
        return np.asarray(np.sort(self.asl.to_numpy())[::-1], dtype=np.float64)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per pair: run_a, run_b, difference, asl, significant, dz, minimum_detectable.

        ``dz`` is the effect size, NaN if all differences of a pair are equal. ``minimum_detectable`` is the
        difference that a two-sided paired t test at alpha detects with probability .8.
        """
        pairs = Pairs.of(len(self._values))
        _, sd = mean_and_sd(self._values, pairs.first, pairs.second)
        frame = self.differences.rename("difference").reset_index()
        return frame.assign(
            asl=self.asl.to_numpy(),
            significant=self.asl.to_numpy() < self.alpha,
            dz=self.differences.to_numpy() / sd,
            minimum_detectable=detectable_of_pairs(sd, self._values.shape[1], self.alpha),
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the ASL curve into ``ax`` or a new figure."""
        from ir_graded.plots.meta import asl_curve

        return asl_curve({"": self}, ax)


@dataclass(frozen=True, eq=False)
class _TestInput:
    """Scores and options of a test; with ``wants_required`` it computes required differences."""

    values: Floats
    scores: PairedScores
    alpha: float
    n_resamples: int
    rng: np.random.Generator
    memory_mib: float
    progress: bool | None
    wants_required: bool = True

    @property
    def block_options(self) -> dict[str, Any]:
        """Options of the loop over blocks of pairs."""
        return {"memory_mib": self.memory_mib, "progress": self.progress}

    def empty(self) -> Floats:
        """Return an array with an element for each pair."""
        systems = len(self.scores.values)
        return np.empty(systems * (systems - 1) // 2)


#: ASL of each pair and, where the test computes them, its required differences.
_Outcome = tuple[Floats, Floats | None]


def discriminative_power(
    scores: Any,
    *,
    alpha: float = 0.05,
    n_resamples: int = 1000,
    test: str = "bootstrap",
    rng: Seed = 0,
    memory_mib: float = 64,
    progress: bool | None = None,
) -> DiscriminativePower:
    """Compute the share of pairs of systems that a measure tells apart at significance level alpha.

    For a pair, z are the differences per topic and n is the number of topics. The bootstrap test compares
    ``t(z) = mean(z) / (sd(z) / sqrt(n))`` with the statistics of B replicates ``w*`` of the shifted
    ``w = z - mean(z)``: ``ASL = #{|t(w*)| >= |t(z)|} / B``, two-sided. Identical systems have
    ASL 1, a constant difference has ASL 0. A replicate of equal values has t = 0 if they are 0, else t is
    infinite. Statistics closer than 1e-12 count as equal. An ASL of 0 means less than ``1 / B``; it counts as
    significant at any alpha, as in the papers, so alpha should be at least ``1 / B``.

    Args:
        scores: score matrix, topics x systems: a DataFrame or anything that ``np.asarray`` takes.
        alpha: significance level, between 0 and 1.
        n_resamples: number of replicates B, at least 1.
        test: ``'bootstrap'`` (paired, studentised); ``'t'`` (Student's paired t test); ``'randomisation'``
            (sign flips of z, statistic ``|mean|``, ASL ``(count + 1) / (B + 1)``); ``'tukey_hsd'``
            (randomised Tukey HSD: each replicate permutes the scores of each topic; ASL is the share of
            replicates whose largest difference of means reaches the pair's).
        rng: a seed or a generator; the same seed gives the same result for every ``memory_mib``.
        memory_mib: limit for the working arrays, in MiB; inf for no limit.
        progress: whether to show a progress bar; None shows one on a terminal if the work is long.

    Returns:
        The power with the ASL, difference and required difference of each pair. The required difference of
        a pair by the bootstrap is ``|mean(w*)|`` of the replicate with the ``max(1, round(B * alpha))``-th
        largest ``|t(w*)|``.

    Raises:
        InputError: the matrix has fewer than two topics or systems, a score that is not finite, or a
            duplicate name.
        ParameterError: an option is unknown or out of its range.

    Warns:
        CoverageWarning: alpha is below ``1 / B`` in a test with ASLs of 0, the bootstrap or Tukey HSD.

    Source:
        Sakai, "Evaluating evaluation metrics based on the bootstrap" (SIGIR 2006); the randomised Tukey HSD:
        Carterette, "Multiple testing in statistical analysis of systems-based IR experiments" (TOIS 2012).

    Example:
        >>> import pandas as pd
        >>> scores = pd.DataFrame({"a": [0.9, 0.7, 0.8], "b": [0.4, 0.2, 0.3], "c": [0.4, 0.2, 0.3]})
        >>> found = discriminative_power(scores)
        >>> round(found.power, 4)
        0.6667
        >>> found.to_frame().iloc[:, :5]
          run_a run_b  difference  asl  significant
        0        a        b         0.5  0.0         True
        1        a        c         0.5  0.0         True
        2        b        c         0.0  1.0        False
    """
    check_test(test, alpha, n_resamples)
    check_options(memory_mib=memory_mib, progress=progress)
    if test in ("bootstrap", "tukey_hsd") and alpha < 1 / n_resamples:
        warnings.warn(
            f"n_resamples={n_resamples} is too small for alpha={alpha:g}: an ASL "
            f"below {1 / n_resamples:.3g} is counted as 0; use at least 1 / alpha replicates",
            CoverageWarning,
            stacklevel=2,
        )
    matrix = ScoreMatrix.of(scores)
    pairs = Pairs.of(len(matrix.runs))
    with one_blas_thread():
        paired = PairedScores.of(matrix.values)
        asl, required = _TESTS[test](
            _TestInput(
                values=matrix.values,
                scores=paired,
                alpha=float(alpha),
                n_resamples=int(n_resamples),
                rng=generator(rng),
                memory_mib=memory_mib,
                progress=progress,
            )
        )
    import pandas as pd

    names = pd.Index(list(matrix.runs), tupleize_cols=False)
    index = pd.MultiIndex.from_arrays([names[pairs.first], names[pairs.second]], names=["run_a", "run_b"])
    differences = paired.mean(paired.total(pairs))
    sufficient = (
        _smallest_sufficient(np.abs(differences), asl < float(alpha)) if required is None else required.max()
    )

    def series(values: Floats, name: str) -> pd.Series[float]:
        return pd.Series(read_only(values), index=index, name=name, copy=False)

    return DiscriminativePower(
        power=float(np.mean(asl < float(alpha))),
        required_difference=float(sufficient),
        asl=series(asl, "asl"),
        differences=series(differences, "difference"),
        required_differences=None if required is None else series(required, "required_difference"),
        alpha=float(alpha),
        test=test,
        n_resamples=int(n_resamples),
        _values=matrix.values.T,
    )


def significant_pairs(matrix: ScoreMatrix, *, test: str, alpha: float, n_resamples: int, rng: Seed) -> Bools:
    """Return which pairs of systems a test of ``discriminative_power`` tells apart."""
    with one_blas_thread():
        asl, _ = _TESTS[test](
            _TestInput(
                values=matrix.values,
                scores=PairedScores.of(matrix.values),
                alpha=alpha,
                n_resamples=int(n_resamples),
                rng=generator(rng),
                memory_mib=64,
                progress=False,
                wants_required=False,
            )
        )
    return np.asarray(asl < alpha)


def smallest_tukey_asl(systems: int, topics: int, n_resamples: float) -> float:
    """Return the smallest ASL of Tukey's test that can be known; infinite replicates are allowed.

    The scores of two of the m systems go to any two systems, the same two on all n topics, in at least
    ``m (m - 1)`` of ``(m (m - 1))^n`` cases. B replicates show no ASL below ``1 / (B + 1)``, which counts
    the observed scores as a replicate.
    """
    of_all_permutations = float(systems * (systems - 1)) ** (1 - topics)
    return max(of_all_permutations, 1 / (n_resamples + 1))


def check_test(test: str, alpha: float, n_resamples: int) -> None:
    """Raise ParameterError if a test is unknown or its options are out of range."""
    check_choice("test", test, _TESTS)
    check_options(alpha=alpha, n_resamples=n_resamples)


def _smallest_sufficient(sizes: Floats, significant: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    """Return the smallest size from which on all pairs were significant, or NaN."""
    unsure = sizes[~significant].max(initial=-1.0)
    sure = sizes[sizes > unsure + TOLERANCE * abs(unsure)]
    return float(sure.min()) if len(sure) else float("nan")


def _bootstrap(given: _TestInput) -> _Outcome:
    topics = given.scores.topics
    counts = topic_counts(given.rng, topics, given.n_resamples)
    place = max(1, round(given.n_resamples * given.alpha))
    asl, required = given.empty(), given.empty()

    def work(block: PairBlock, rows: slice, space: Workspace) -> None:
        reached = space.statistics >= at_least(block.statistic(), topics)[:, np.newaxis]
        asl[rows] = np.count_nonzero(reached, axis=1) / given.n_resamples
        if not given.wants_required:
            return
        column = _replicate_at_place(space, place)
        required[rows] = np.where(block.constant, 0.0, np.abs(space.sums[np.arange(len(column)), column]))

    for_each_bootstrap_block(work, given.scores, counts, **given.block_options)
    return asl, given.scores.mean(required) if given.wants_required else None


def _replicate_at_place(space: Workspace, place: int) -> Ints:
    """Return the replicate of each pair with the ``place``-th largest statistic; ties by sum, descending."""
    sums, statistics, sorted_at = space.sums, space.statistics, space.scratch
    at = statistics.shape[1] - place
    np.copyto(sorted_at, statistics)
    sorted_at.partition(at, axis=1)
    value = sorted_at[:, at]
    margin = 2 * TOLERANCE * np.where(np.isinf(value), 0.0, value)
    column = (statistics == value[:, np.newaxis]).argmax(axis=1)
    tied = sorted_at[:, :at].max(axis=1, initial=-1.0) >= value - margin
    tied |= sorted_at[:, at + 1 :].min(axis=1, initial=np.inf) <= value + margin
    for row in np.flatnonzero(tied):
        low, high = value[row] - margin[row], value[row] + margin[row]
        ties = np.flatnonzero((statistics[row] >= low) & (statistics[row] <= high))
        above = np.count_nonzero(statistics[row] > high)
        largest_first = np.sort(np.abs(sums[row, ties]))[::-1]
        column[row] = ties[np.argmax(np.abs(sums[row, ties]) == largest_first[place - above - 1])]
    return np.asarray(column, dtype=np.int64)


def _t_test(given: _TestInput) -> _Outcome:
    stdtr = extra("scipy.special", "meta").stdtr
    asl = given.empty()

    def work(block: PairBlock, rows: slice, _: Workspace) -> None:
        asl[rows] = 2 * stdtr(given.scores.topics - 1, -np.abs(block.statistic()))

    for_each_block(work, given.scores, replicates=1, **given.block_options)
    return asl, None


def _randomisation(given: _TestInput) -> _Outcome:
    flips = sign_flips(given.rng, given.scores.topics, given.n_resamples)
    sums = WeightedSums.of(given.scores.values, flips)
    asl = given.empty()

    def work(block: PairBlock, rows: slice, space: Workspace) -> None:
        flipped = np.abs(sums.differences(block.pairs, space), out=space.statistics)
        least = np.abs(block.total) - TOLERANCE * np.abs(block.z).sum(axis=1)
        count = np.count_nonzero(flipped >= least[:, np.newaxis], axis=1)
        asl[rows] = np.where(block.identical, 1.0, (count + 1) / (given.n_resamples + 1))

    for_each_block(work, given.scores, replicates=given.n_resamples, **given.block_options)
    return asl, None


def _tukey_hsd(given: _TestInput) -> _Outcome:
    ranges = np.empty(given.n_resamples)
    replicates = range(given.n_resamples)
    for replicate in progress_bar(
        replicates, progress=given.progress, unit="replicate", delay=SECONDS_BEFORE_BAR
    ):
        means = permuted_rows(given.rng, given.values).mean(axis=0)
        ranges[replicate] = means.max() - means.min()
    ranges.sort()
    sizes = np.abs(given.scores.mean(given.scores.total(Pairs.of(len(given.scores.values)))))
    below = np.searchsorted(ranges, sizes - TOLERANCE * np.abs(given.values).max(), side="left")
    return (given.n_resamples - below) / given.n_resamples, None


_TESTS: dict[str, Callable[[_TestInput], _Outcome]] = {
    "bootstrap": _bootstrap,
    "t": _t_test,
    "randomisation": _randomisation,
    "tukey_hsd": _tukey_hsd,
}
