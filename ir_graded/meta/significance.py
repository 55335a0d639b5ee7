"""Which systems improve over which others (Kamps et al. 2007); discriminative power (Sakai 2006)."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result, read_only
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import CoverageWarning
from ir_graded.meta.correlation import align
from ir_graded.meta.matrix import ScoreMatrix, means_of, ranks_of
from ir_graded.meta.options import Seed, generator, statistic
from ir_graded.meta.paired_tests import TESTS_OF_PAIRS as TESTS, Outcome, PairInput
from ir_graded.meta.replicates import (
    TOLERANCE,
    PairBlock,
    PairedScores,
    Pairs,
    Workspace,
    at_least,
    for_each_bootstrap_block,
    one_blas_thread,
    topic_counts,
)
from ir_graded.meta.sample_size import detectable_deviations, mean_and_sd

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


@dataclass(frozen=True, eq=False, repr=False)
class SignificanceMatrix(Result):
    """Significance matrix, the result of :func:`significance`.

    Attributes:
        asl: ASL of "the system of the row improves over that of the column", systems x systems by mean,
            descending; 1 on the diagonal. If two-sided, ASL of "the two differ"; the matrix is symmetric.
        significant: whether ASL < alpha, with the same shape.
        means: mean score of each system, descending.
        alpha: significance level.
        alternative: ``'greater'`` or ``'two-sided'``.
        n_resamples: number of replicates.
        ranks: rank of each system by ``labels_by``, which names the rows and columns; None without it.
    """

    asl: pd.DataFrame
    significant: pd.DataFrame
    means: pd.Series[float]
    alpha: float
    alternative: str
    n_resamples: int
    ranks: pd.Series[int] | None = None

    @property
    def count(self) -> int:
        """Number of pairs in which the system with the higher mean is significantly better."""
        return int(np.count_nonzero(np.triu(self.significant.to_numpy(), 1)))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per pair, better first: run_a, run_b, difference, asl, significant, and any ranks."""
        import pandas as pd

        better, worse = pairs = np.triu_indices(len(self.means), 1)
        names, means = self.means.index, self.means.to_numpy()
        columns: dict[str, Any] = {
            "run_a": names[better],
            "run_b": names[worse],
            "difference": means[better] - means[worse],
            "asl": self.asl.to_numpy()[pairs],
            "significant": self.significant.to_numpy()[pairs],
        }
        if self.ranks is not None:
            columns |= {"rank_a": self.ranks.to_numpy()[better], "rank_b": self.ranks.to_numpy()[worse]}
        return pd.DataFrame(columns)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the matrix into ``ax`` or a new figure."""
        from ir_graded.plots.meta import significance_matrix

        return significance_matrix(self.significant, self.asl, ax)


@statistic(alternative=("greater", "two-sided"))
def significance(  # noqa: PLR0913  # options, all by keyword
    scores: Any,
    *,
    labels_by: Any = None,
    alternative: str = "greater",
    alpha: float = 0.05,
    n_resamples: int = 1000,
    rng: Seed = 0,
    memory_mib: float = 64,
    progress: bool | None = None,
) -> SignificanceMatrix:
    """Test which systems improve over which others, with the paired bootstrap test.

    Let z be the differences "row - column" per topic and ``w = z - mean(z)``. Over B replicates, the
    one-tailed ``ASL = #{t(w*) >= t(z)} / B``; the two-sided ``ASL = #{|t(w*)| >= |t(z)|} / B``. Statistics
    closer than 1e-12 count as equal; special cases are those of ``discriminative_power``.

    Args:
        scores: score matrix, topics x systems: a DataFrame or anything that ``np.asarray`` takes.
        labels_by: another measure of the same systems, as a score matrix or as means by system, whose ranks
            name rows and columns, 1 for the best; equal means share the smaller rank.
        alternative: ``'greater'`` (the row improves over the column) or ``'two-sided'``.
        alpha: significance level, between 0 and 1.
        n_resamples: number of replicates B, at least 1.
        rng: a seed or a generator; the same seed gives the same result for every ``memory_mib``.
        memory_mib: limit for the working arrays, in MiB; inf for no limit.
        progress: whether to show a progress bar; None shows one on a terminal if the work is long.

    Raises:
        InputError: fewer than two topics or systems, a score that is not finite, or a duplicate name.
        ParameterError: an option is unknown or out of its range.

    Source: Kamps, Pehcevski, Kazai, Lalmas and Robertson, "INEX 2007 evaluation measures" (INEX 2007).

    Example:
        >>> import pandas as pd
        >>> found = significance(pd.DataFrame({"poor": [0.4, 0.2, 0.3], "good": [0.9, 0.7, 0.8]}))
        >>> found.asl
              good  poor
        good   1.0   0.0
        poor   1.0   1.0
        >>> found.count
        1
    """
    import pandas as pd

    matrix = ScoreMatrix.of(scores)
    reference = None if labels_by is None else _ranks(labels_by, matrix)
    asl = np.ones((len(matrix.runs), len(matrix.runs)))
    with one_blas_thread():
        paired = PairedScores.of(matrix.values)
        means = paired.mean((paired.totals.coarse + paired.totals.rest)[:, 0])
        # Round, so that means that differ only in the order of a sum are equal.
        order = np.argsort(-np.round(means, 12), kind="stable")
        place = np.argsort(order)
        counts = topic_counts(generator(rng), paired.topics, int(n_resamples))

        def work(block: PairBlock, _: slice, space: Workspace) -> None:
            first, second = _counts(space, block.statistic(), paired.topics, alternative)
            one, two = place[block.pairs.first], place[block.pairs.second]
            asl[one, two] = first / int(n_resamples)
            asl[two, one] = second / int(n_resamples)

        for_each_bootstrap_block(work, paired, counts, memory_mib=memory_mib, progress=progress)
    index = pd.Index([matrix.runs[number] for number in order], tupleize_cols=False)
    ranks = None if reference is None else pd.Series(read_only(reference[order]), index=index, name="rank")
    shown = index if ranks is None else pd.Index(ranks.to_numpy(), name="rank")
    return SignificanceMatrix(
        asl=pd.DataFrame(read_only(asl), shown, shown, copy=False),
        significant=pd.DataFrame(read_only(asl < float(alpha)), shown, shown, copy=False),
        means=pd.Series(read_only(means[order]), index=index, name="mean", copy=False),
        alpha=float(alpha),
        alternative=alternative,
        n_resamples=int(n_resamples),
        ranks=ranks,
    )


def _ranks(labels_by: Any, matrix: ScoreMatrix) -> Ints:
    """Return the rank of each system under another measure."""
    if isinstance(labels_by, ScoreMatrix) or hasattr(labels_by, "columns") or np.ndim(labels_by) == 2:  # noqa: PLR2004
        other = ScoreMatrix.of(labels_by, "labels_by")
        labels_by = dict(zip(other.runs, means_of(other).tolist(), strict=True))
    expected = dict.fromkeys(matrix.runs, 0.0)
    _, means, _ = align(expected, labels_by, "scores", "labels_by")
    return ranks_of(means.round(12))


def _counts(space: Workspace, t: Floats, topics: int, alternative: str) -> tuple[Ints, Ints]:
    """Count the replicates that favour the first and the second system of each pair as much as observed."""
    if alternative == "two-sided":
        extreme = np.asarray(np.count_nonzero(space.statistics >= at_least(t, topics)[:, np.newaxis], axis=1))
        return extreme, extreme
    signed = np.copysign(space.statistics, space.sums)
    least, most = _signed_bounds(t, topics)
    first = np.count_nonzero(signed >= least[:, np.newaxis], axis=1)
    second = np.count_nonzero(signed <= most[:, np.newaxis], axis=1)
    return np.asarray(first), np.asarray(second)


def _signed_bounds(t: Floats, topics: int) -> tuple[Floats, Floats]:
    """Return the least and the largest ``t(w*) * |t(w*)| / (n - 1)`` that count as equal to t."""
    margin = TOLERANCE * (1 + np.abs(np.where(np.isinf(t), 0.0, t)))
    low, high = (t - margin, t + margin)
    return low * np.abs(low) / (topics - 1), high * np.abs(high) / (topics - 1)


@dataclass(frozen=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """Discriminative power of a measure, the result of :func:`discriminative_power`.

    Attributes:
        power: share of the pairs with ASL < alpha, from 0 to 1.
        required_difference: the difference of means that suffices for significance: the largest of
            ``required_differences`` or, in other tests, the smallest observed difference from which on all
            pairs were significant, or NaN. By the bootstrap it varies between seeds by several hundredths.
        asl: achieved significance level of each pair, a Series by run_a and run_b.
        differences: observed difference of means of each pair, run_a - run_b.
        required_differences: required difference of each pair by the bootstrap, ``|mean(w*)|`` of the
            replicate with the ``max(1, round(B * alpha))``-th largest ``|t(w*)|``; None for other tests.
        alpha: significance level.
        test: name of the test.
        n_resamples: number of replicates.
    """

    power: float
    required_difference: float
    alpha: float
    test: str
    n_resamples: int
    _runs: tuple[Hashable, ...]
    _values: Floats
    _asl: Floats
    _differences: Floats
    _required: Floats | None

    # Series are made on first use: the command line needs none, and the import of pandas takes long.
    @cached_property
    def asl(self) -> pd.Series[float]:
        return self._series("asl", self._asl)

    @cached_property
    def differences(self) -> pd.Series[float]:
        return self._series("difference", self._differences)

    @cached_property
    def required_differences(self) -> pd.Series[float] | None:
        return None if self._required is None else self._series("required_difference", self._required)

    def _series(self, name: str, values: Floats) -> pd.Series[float]:
        import pandas as pd

        runs, pairs = pd.Index(list(self._runs), tupleize_cols=False), Pairs.of(len(self._runs))
        index = pd.MultiIndex.from_arrays([runs[pairs.first], runs[pairs.second]], names=["run_a", "run_b"])
        return pd.Series(values, index=index, name=name, copy=False)

    @property
    def curve(self) -> Floats:
        """ASL curve: the ASLs of all pairs in descending order."""
        return np.sort(self._asl)[::-1]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per pair: run_a, run_b, difference, asl, significant, dz, minimum_detectable.

        ``dz`` is the effect size, NaN if all differences of a pair are equal. ``minimum_detectable`` is the
        difference that a two-sided paired t test at alpha detects with probability .8.
        """
        pairs = Pairs.of(len(self._values))
        _, sd = mean_and_sd(self._values, pairs.first, pairs.second)
        frame = self.differences.rename("difference").reset_index()
        return frame.assign(
            asl=self._asl,
            significant=self._asl < self.alpha,
            dz=self._differences / sd,
            minimum_detectable=sd * detectable_deviations(self._values.shape[1], self.alpha),
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the ASL curve into ``ax`` or a new figure."""
        from ir_graded.plots.meta import asl_curve

        return asl_curve({"": self}, ax)


@statistic(test=TESTS)
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
    ``w = z - mean(z)``: ``ASL = #{|t(w*)| >= |t(z)|} / B``, two-sided. Identical systems have ASL 1, a
    constant difference has ASL 0. A replicate of equal values has t = 0 if they are 0, else t is infinite.
    Statistics closer than 1e-12 count as equal. An ASL of 0 means less than ``1 / B`` and counts as
    significant at any alpha, as in the papers.

    Args:
        scores: score matrix, topics x systems: a DataFrame or anything that ``np.asarray`` takes.
        alpha: significance level, between 0 and 1.
        n_resamples: number of replicates B, at least 1.
        test: {test}. The ASL of ``'randomisation'`` is ``(count + 1) / (B + 1)``.
        rng: a seed or a generator; the same seed gives the same result for every ``memory_mib``.
        memory_mib: limit for the working arrays, in MiB; inf for no limit.
        progress: whether to show a progress bar; None shows one on a terminal if the work is long.

    Raises:
        InputError: fewer than two topics or systems, a score that is not finite, or a duplicate name.
        ParameterError: an option is unknown or out of its range.

    Warns:
        CoverageWarning: alpha is below ``1 / B`` in a test with ASLs of 0, the bootstrap or Tukey HSD.

    Source: Sakai, "Evaluating evaluation metrics based on the bootstrap" (SIGIR 2006); the randomised Tukey
    HSD: Carterette, "Multiple testing in statistical analysis of systems-based IR experiments" (TOIS 2012).

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
    if test in ("bootstrap", "tukey_hsd") and alpha < 1 / n_resamples:
        warnings.warn(
            f"n_resamples={n_resamples} is too small for alpha={alpha:g}: an ASL "
            f"below {1 / n_resamples:.3g} is counted as 0; use at least 1 / alpha replicates",
            CoverageWarning,
            stacklevel=3,
        )
    matrix = ScoreMatrix.of(scores)
    pairs = Pairs.of(len(matrix.runs))
    limits = {"memory_mib": memory_mib, "progress": progress}
    paired, (asl, required) = _outcome(matrix, test, alpha, n_resamples, rng, **limits)
    significant = asl < float(alpha)
    differences = paired.mean(paired.total(pairs))
    least = _smallest_sufficient(np.abs(differences), significant) if required is None else required.max()

    return DiscriminativePower(
        power=float(np.mean(significant)),
        required_difference=float(least),
        alpha=float(alpha),
        test=test,
        n_resamples=int(n_resamples),
        _runs=matrix.runs,
        _values=matrix.values.T,
        _asl=asl,
        _differences=differences,
        _required=required,
    )


def significant_pairs(matrix: ScoreMatrix, *, test: str, alpha: float, n_resamples: int, rng: Seed) -> Bools:
    """Return which pairs of systems a test of ``discriminative_power`` tells apart."""
    limits = {"memory_mib": 64, "progress": False}
    _, (asl, _) = _outcome(matrix, test, alpha, n_resamples, rng, wants_required=False, **limits)
    return np.asarray(asl < alpha)


def _outcome(
    matrix: ScoreMatrix, test: str, alpha: float, n_resamples: int, rng: Seed, **options: Any
) -> tuple[PairedScores, Outcome]:
    with one_blas_thread():
        paired = PairedScores.of(matrix.values)
        given = PairInput(matrix.values, paired, float(alpha), int(n_resamples), generator(rng), **options)
        return paired, TESTS[test].of_pairs(given)


def _smallest_sufficient(sizes: Floats, significant: Bools) -> float:
    """Return the smallest size from which on all pairs were significant, or NaN."""
    unsure = sizes[~significant].max(initial=-1.0)
    sure = sizes[sizes > unsure + TOLERANCE * abs(unsure)]
    return float(sure.min()) if len(sure) else float("nan")
