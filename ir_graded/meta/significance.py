"""Which systems improve over others (Kamps et al. 2007), discriminative power (Sakai 2006), conclusions."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result, read_only
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import CoverageWarning, InputError

from .correlation import align, fitting_tau_ap, kendall_tau, kendall_tau_b
from .matrix import FEWEST, ScoreMatrix, best_first, matrices_by_measure, means_of, ranks_of
from .options import Seed, generator, statistic
from .paired_tests import TESTS_OF_PAIRS as TESTS, Outcome, PairInput
from .replicates import (
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
from .sample_size import detectable_deviations, mean_and_sd

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
    significant at any alpha, as in the papers. Topics count as independent: there are no clusters.

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


#: Classes of pairs of systems, in the order of their codes.
_CLASSES = (
    *("passive_agreement", "passive_disagreement"),
    *("mixed_agreement_a", "mixed_disagreement_a", "mixed_agreement_b", "mixed_disagreement_b"),
    *("active_agreement", "active_disagreement"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Conclusions(Result):
    """Conclusions about the same systems under two sets of judgments, a and b.

    Attributes:
        measures: printed names of the measures.
        runs: names of the systems.
        means_a: mean of each system under a, shape ``(measures, runs)``.
        means_b: mean of each system under b.
        table: the table of ``to_frame``, in the order of the measures.
        topics: number of topics in both.
        dropped_a: topics in a only.
        dropped_b: topics in b only.
        alpha: significance level.
        test: name of the test.
    """

    measures: tuple[str, ...]
    runs: tuple[Hashable, ...]
    means_a: Floats
    means_b: Floats
    table: pd.DataFrame
    topics: int
    dropped_a: tuple[Hashable, ...]
    dropped_b: tuple[Hashable, ...]
    alpha: float
    test: str

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per measure, highest recall first.

        Columns: the mean of all systems (``mean_a``, ``mean_b``) and ``bias``, b - a; ``largest_fall`` of a
        system in ranks; ``tau`` (without correction for ties), ``tau_b``, ``tau_ap`` with a as the reference
        and ``tau_ap_reverse`` with b, each with its variant for ties; ``top_overlap``, the share of the best
        systems that are the same in both; the number of pairs of systems in each class. The class depends on
        the number of sets in which a pair is significant (active: both, mixed: only the named one, passive:
        neither) and on whether the signs of its differences agree. ``precision`` is active agreement /
        significant under b, and ``recall`` is active agreement / significant under a.
        """
        return self.table.sort_values("recall", ascending=False, kind="stable")

    def plot(self) -> Figure:
        """Plot means under a against means under b, one panel per measure, labelling the largest moves."""
        from ir_graded.plots.meta import means_scatter

        return means_scatter(
            self.measures, self.runs, self.means_a, self.means_b, self.table["tau_b"].tolist()
        )


@statistic(test=TESTS)
def conclusions(
    scores_a: Any,
    scores_b: Any,
    *,
    test: str = "bootstrap",
    alpha: float = 0.05,
    top_k: int = 10,
    n_resamples: int = 1000,
    rng: Seed = 0,
) -> Conclusions:
    """Compare scores of the same systems under two sets of judgments, the first as the reference.

    Only topics in both sets count. Every pair of systems is tested under each set, with the same replicates.

    Args:
        scores_a: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.
        scores_b: scores of the same systems by the same measures.
        test: a test of ``discriminative_power``.
        alpha: significance level.
        top_k: number of best systems whose overlap is computed; ties at the border are ordered by name.
        n_resamples: number of replicates of the test.
        rng: a seed; with a generator, the two sets use different replicates.

    Raises:
        InputError: fewer than two topics are in both, or systems or measures differ.
        ParameterError: an option is out of its range.

    Source:
        Moffat, Scholer and Thomas, "Models and metrics" (ADCS 2012), for the names of the classes.

    Example:
        >>> a = [[0.9, 0.2, 0.3], [0.8, 0.1, 0.1], [0.7, 0.4, 0.5], [0.9, 0.3, 0.2]]
        >>> b = [[0.5, 0.2, 0.3], [0.6, 0.1, 0.1], [0.4, 0.4, 0.1], [0.7, 0.3, 0.2]]
        >>> conclusions({"Q": a}, {"Q": b}, test="t").to_frame()[["tau", "recall"]].round(3)
                   tau  recall
        measure
        Q        0.333     0.5
    """
    of_a, of_b = matrices_by_measure(scores_a), matrices_by_measure(scores_b)
    if set(of_a) != set(of_b):
        raise InputError(f"measures differ: {', '.join(of_a)} under a, {', '.join(of_b)} under b")
    options = {"test": test, "alpha": alpha, "n_resamples": n_resamples, "rng": rng}
    return conclude(of_a, of_b, top_k, {}, options)


def conclude(
    of_a: dict[str, ScoreMatrix],
    of_b: dict[str, ScoreMatrix],
    top_k: int,
    known: dict[Any, Any],
    options: dict[str, Any],
) -> Conclusions:
    """Return the conclusions from matrices; ``known`` caches the tests of a for further sets."""
    first, second = next(iter(of_a.values())), next(iter(of_b.values()))
    topics = tuple(topic for topic in first.topics if topic in set(second.topics))
    if len(topics) < FEWEST:
        raise InputError(f"at least {FEWEST} topics must be in both sets of judgments, found {len(topics)}")
    rows, means_a, means_b = [], [], []
    for name, matrix in of_a.items():
        a = _of_topics(matrix, topics)
        b = _of_topics(of_b[name], topics).aligned(a, f"{name} under b")
        if (name, topics) not in known:
            known[name, topics] = significant_pairs(a, **options)
        in_b = significant_pairs(b, **options)
        means_a.append(means_of(a))
        means_b.append(means_of(b))
        rows.append(_row(means_a[-1], means_b[-1], (known[name, topics], in_b), a.runs, top_k))
    import pandas as pd

    return Conclusions(
        measures=tuple(of_a),
        runs=first.runs,
        means_a=np.stack(means_a),
        means_b=np.stack(means_b),
        table=pd.DataFrame(rows, index=pd.Index(list(of_a), name="measure")),
        topics=len(topics),
        dropped_a=tuple(topic for topic in first.topics if topic not in topics),
        dropped_b=tuple(topic for topic in second.topics if topic not in topics),
        alpha=float(options["alpha"]),
        test=options["test"],
    )


def _of_topics(matrix: ScoreMatrix, topics: tuple[Hashable, ...]) -> ScoreMatrix:
    """Return the matrix of some of the topics."""
    place = {topic: at for at, topic in enumerate(matrix.topics)}
    return ScoreMatrix(matrix.values[[place[topic] for topic in topics]], topics, matrix.runs)


def _row(
    a: Floats, b: Floats, significant: tuple[Any, Any], systems: tuple[Hashable, ...], top_k: int
) -> dict[str, Any]:
    """Return the table row of one measure, from means under both sets and significant pairs."""
    pairs = Pairs.of(len(a))
    opposite = (a[pairs.first] - a[pairs.second]) * (b[pairs.first] - b[pairs.second]) < 0
    in_a, in_b = significant
    code = 2 * (in_a.astype(np.int64) + 2 * in_b) + opposite
    counts = np.bincount(code, minlength=len(_CLASSES))
    agreeing = counts[_CLASSES.index("active_agreement")]
    found_a, found_b = np.count_nonzero(in_a), np.count_nonzero(in_b)
    size = min(top_k, len(a))
    (tau_ap, variant), (reverse, of_reverse) = fitting_tau_ap(a, b), fitting_tau_ap(b, a)
    return {
        "mean_a": a.mean(),
        "mean_b": b.mean(),
        "bias": b.mean() - a.mean(),
        "largest_fall": int((ranks_of(b) - ranks_of(a)).max()),
        "tau": kendall_tau(a, b),
        "tau_b": kendall_tau_b(a, b),
        "tau_ap": tau_ap,
        "tau_ap_variant": variant,
        "tau_ap_reverse": reverse,
        "tau_ap_reverse_variant": of_reverse,
        "top_overlap": len(set(best_first(a, systems)[:size]) & set(best_first(b, systems)[:size])) / size,
        **dict(zip(_CLASSES, counts.tolist(), strict=True)),
        "precision": agreeing / found_b if found_b else float("nan"),
        "recall": agreeing / found_a if found_a else float("nan"),
    }
