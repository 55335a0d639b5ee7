"""Significance matrices: which systems improve over which others (Kamps et al. 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result, read_only
from ir_graded.core.segments import Floats, Ints

from .correlation import align
from .matrix import ScoreMatrix, means_of, ranks_of
from .options import Seed, generator, statistic
from .samples import topic_counts
from .studentised import (
    TOLERANCE,
    PairBlock,
    PairedScores,
    Workspace,
    at_least,
    for_each_bootstrap_block,
    one_blas_thread,
)

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
