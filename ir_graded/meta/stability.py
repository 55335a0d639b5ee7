"""How reliably a measure orders systems: stability, the swap method, and all methods side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from ir_graded._utils.results import Result
from ir_graded._utils.threads import in_threads, processors
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import ParameterError

from .correlation import RankCorrelations, rank_correlations
from .matrix import ScoreMatrix, check_direction, matrices_by_measure, reference_name
from .options import OPTIONS, Seed, generator, statistic
from .paired_tests import TESTS_OF_PAIRS as TESTS
from .replicates import (
    disjoint_halves,
    one_blas_thread,
    replicate_blocks_with_progress,
    topic_count_pairs,
    topic_counts,
)
from .significance import DiscriminativePower, discriminative_power

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


Found = TypeVar("Found")
#: How the swap method draws two topic sets.
RESAMPLES = ("bootstrap", "disjoint")
_FUZZINESS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10)
#: Differences below this share are rounding errors: sums in another order differ by about 1e-15.
_TOLERANCE = 1e-12
_SMALLEST = float(np.nextafter(0.0, 1.0))
_MOST_IN_BYTE = 255


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Result):
    """Minority rate and proportion of ties of one measure, for each fuzziness value.

    Attributes:
        fuzziness: the fuzziness values f, shape ``(f,)``.
        minority_rate: share of the comparisons that contradict the majority of their pair, in [0, 0.5].
        proportion_of_ties: share of the comparisons within the fuzziness margin, in [0, 1].
        n_resamples: number of topic sets drawn.
    """

    fuzziness: Floats
    minority_rate: Floats
    proportion_of_ties: Floats
    n_resamples: int

    COLUMNS: ClassVar = ("fuzziness", "minority_rate", "proportion_of_ties")

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the minority rate against the proportion of ties."""
        from ir_graded.plots.meta import stability_curves

        return stability_curves({"": self}, ax)


@statistic(fuzziness=None)
def stability(
    scores: Any,
    *,
    fuzziness: Sequence[float] = _FUZZINESS,
    n_resamples: int = 1000,
    rng: Seed = 0,
    memory_mib: float = 64,
) -> Stability:
    """Compute minority rate and proportion of ties (Buckley and Voorhees 2000) over bootstrap topic sets.

    On each topic set (Sakai 2007), with means ``M``, a pair of systems X and Y counts as a tie, ``EQ``, when
    ``|M(X) - M(Y)| < f * max(M(X), M(Y))`` or ``M(X) = M(Y)``, else as ``GT(X, Y)`` or ``GT(Y, X)``. Then
    ``minority rate = sum over pairs of min(GT(X, Y), GT(Y, X)) / sum of all counts`` and
    ``proportion of ties = sum over pairs of EQ / sum of all counts``.

    The result does not depend on rounding: means count as equal if they differ by at most 1e-12 of the
    largest score, and a difference that misses the margin by less than 1e-12 of the larger mean reaches it.
    Topics count as independent: there are no clusters.

    Args:
        scores: the score matrix of one measure, topics x systems.
        fuzziness: values of f, each in [0, 1).
        n_resamples: number of topic sets, at least 1.
        rng: a seed or a generator; the same seed gives the same result for every ``memory_mib``.
        memory_mib: limit for the working arrays, in MiB; inf for no limit.

    Raises:
        InputError: fewer than two topics or systems, a score that is not finite, or a duplicate name.
        ParameterError: a parameter is out of its range.

    Example:
        >>> scores = [[0.9, 0.1, 0.5], [0.8, 0.2, 0.1], [0.7, 0.3, 0.6]]
        >>> stability(scores, fuzziness=[0.05, 0.1], n_resamples=200).to_frame().round(2)
           fuzziness  minority_rate  proportion_of_ties
        0       0.05           0.01                 0.0
        1       0.10           0.01                 0.0
    """
    values = list(fuzziness) if isinstance(fuzziness, Iterable) else []
    if not values or not all(map(OPTIONS["fuzziness"].holds, values)):
        raise ParameterError(f"fuzziness={fuzziness!r} must be one or more numbers >= 0 and < 1")
    margins = np.array(values, dtype=np.float64)
    matrix = ScoreMatrix.of(scores)
    topics, systems = matrix.values.shape
    source = generator(rng)
    rounding = _TOLERANCE * topics * float(np.abs(matrix.values).max())
    ascending, place = np.unique(margins, return_inverse=True)
    thresholds = np.maximum(ascending - _TOLERANCE, _SMALLEST)
    by_margins = np.zeros((2, len(thresholds) + 1, systems, systems), dtype=np.int64)
    with one_blas_thread():
        for size in replicate_blocks_with_progress(n_resamples, topics + systems, memory_mib):
            totals = matrix.values.T @ topic_counts(source, topics, size)
            positive = np.maximum(totals, 0.0) + 0.0  # not -0, so that no quotient is -inf
            for x in range(systems - 1):
                share = totals[x] - totals[x + 1 :]
                lower = share < 0
                differ = np.abs(share, out=share) > rounding
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    share /= np.maximum(positive[x], positive[x + 1 :])
                by_margins[:, :, x, x + 1 :] += _count_by_margins_reached(share, differ, lower, thresholds)
    comparisons = n_resamples * (systems * (systems - 1) // 2)
    reached = by_margins[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return Stability(
        fuzziness=margins,
        minority_rate=reached.min(axis=0).sum(axis=(1, 2))[place] / comparisons,
        proportion_of_ties=(comparisons - reached.sum(axis=(0, 2, 3)))[place] / comparisons,
        n_resamples=n_resamples,
    )


def _count_by_margins_reached(share: Floats, differ: Bools, lower: Bools, thresholds: Floats) -> Ints:
    """Count replicates by the margins that X (first) or Y reaches, shape ``(2, thresholds + 1, others)``.

    Args:
        share: ``|M(X) - M(Y)| / max(M(X), M(Y))``, infinite if the larger mean is not above 0.
        differ: whether the means differ by more than rounding; else they reach no margin.
        lower: whether the mean of X is the lower one.
        thresholds: the margins.
    """
    others, kinds = len(share), 2 * (len(thresholds) + 1)
    # Bytes take half the time of a binary search.
    kind: Ints = lower.astype(np.uint8 if kinds <= _MOST_IN_BYTE else np.intp)
    kind *= kinds // 2
    for threshold in thresholds:
        kind += (share >= threshold).view(np.uint8)
    kind *= differ.view(np.uint8)
    of_pair = kind + kinds * np.arange(others)[:, np.newaxis]
    counts = np.bincount(of_pair.reshape(-1), minlength=others * kinds)
    return counts.reshape(others, 2, -1).transpose(1, 2, 0).astype(np.int64, copy=False)


_BINS = 21
#: Means are rounded to 1e-12, so that differences at the edge of a bin are in the bin.
_UNIT = 1e12
_BIN_UNITS = 1e10


@dataclass(frozen=True, eq=False, repr=False)
class Swap(Result):
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

    COLUMNS: ClassVar = ("lower", "upper", "observations", "swaps", "rate")

    @property
    def rate(self) -> Floats:
        """Swap rates of the bins, in [0, 1]; NaN in an empty bin."""
        return _swap_rates(self.observations, self.swaps)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the swap rate against the difference, with the tolerated rate."""
        from ir_graded.plots.meta import swap_curves

        return swap_curves({"": self}, ax)


@statistic(resample=RESAMPLES)
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
    Topics count as independent: there are no clusters.

    Args:
        scores: the score matrix of one measure, topics x systems. Differences above 1 are in the last bin.
        n_resamples: number of trials, at least 1.
        resample: ``"bootstrap"``, two independent samples of n topics (Sakai 2006), or ``"disjoint"``, two
            sets of floor(n/2) topics without common topics (Voorhees and Buckley 2002).
        max_rate: highest tolerated swap rate, in [0, 1].
        rng: a seed or a generator; the same seed gives the same result for every ``memory_mib``.
        memory_mib: limit for the working arrays, in MiB; inf for no limit.

    Raises:
        InputError: fewer than two topics or systems, a score that is not finite, or a duplicate name.
        ParameterError: a parameter is out of its range.

    Example:
        >>> scores = [[0.9, 0.1, 0.5], [0.8, 0.2, 0.1], [0.7, 0.3, 0.6]]
        >>> result = swap(scores, n_resamples=200)
        >>> int(result.observations.sum())
        600
        >>> result.required_difference, round(result.sensitivity, 2)
        (0.2, 0.85)
    """
    matrix = ScoreMatrix.of(scores)
    topics, systems = matrix.values.shape
    source = generator(rng)
    draw, drawn = (disjoint_halves, topics // 2) if resample == "disjoint" else (topic_count_pairs, topics)
    counts = np.zeros((_BINS, 2), dtype=np.int64)  # of each bin, without and with a swap
    with one_blas_thread():
        for size in replicate_blocks_with_progress(n_resamples, 2 * (topics + systems), memory_mib):
            # Means in units of 1e-12, as whole numbers: their differences are exact.
            one, two = (
                np.rint(matrix.values.T @ sets / drawn * _UNIT) for sets in draw(source, topics, size)
            )
            for x in range(systems - 1):
                difference = one[x] - one[x + 1 :]
                swapped = difference * (two[x] - two[x + 1 :]) < 0
                bins = np.abs(difference, out=difference)
                bins /= _BIN_UNITS
                code = 2 * np.minimum(bins, _BINS - 1, out=bins).astype(np.uint8) + swapped
                counts += np.bincount(code.reshape(-1), minlength=2 * _BINS).reshape(_BINS, 2)
    observations, swaps = counts.sum(axis=1), counts[:, 1].copy()
    edges = np.arange(_BINS) / 100
    too_high = np.flatnonzero(_swap_rates(observations, swaps) > max_rate)
    tolerable = (observations > 0) & (np.arange(_BINS) > too_high.max(initial=-1))
    return Swap(
        lower=edges,
        upper=np.append(edges[1:], 1.0),
        observations=observations,
        swaps=swaps,
        max_rate=float(max_rate),
        required_difference=float(edges[tolerable][0]) if tolerable.any() else float("nan"),
        sensitivity=float(observations[tolerable].sum() / observations.sum()),
        resample=resample,
        n_resamples=n_resamples,
    )


def _swap_rates(observations: Ints, swaps: Ints) -> Floats:
    """Return the swap rate of each bin; NaN in an empty bin."""
    with np.errstate(invalid="ignore"):
        return np.asarray(swaps / observations)


@dataclass(frozen=True, eq=False, repr=False)
class MeasureComparison(Result):
    """Results of all methods for each measure, over the same replicates.

    Attributes:
        power: discriminative power of each measure, by name.
        stability: stability of each measure.
        swap: swap method of each measure.
        correlations: rank correlations with the reference.
        fuzziness: the fuzziness at which ``to_frame`` reads the stability.
    """

    power: dict[str, DiscriminativePower]
    stability: dict[str, Stability]
    swap: dict[str, Swap]
    correlations: RankCorrelations
    fuzziness: float

    def to_frame(self) -> pd.DataFrame:
        """Return a row per measure, most discriminative first.

        Columns: power and required_difference of the test; minority_rate and proportion_of_ties at
        ``fuzziness``; sensitivity and swap_difference of the swap method; then the rank correlations.
        """
        import pandas as pd

        table = pd.DataFrame.from_dict(self.rows(), orient="index")
        table.index.name = "measure"
        return table

    def rows(self) -> dict[str, dict[str, float | str]]:
        """Return the columns of ``to_frame`` of each measure."""
        found: dict[str, dict[str, float | str]] = {}
        for at, (name, power) in enumerate(self.power.items()):
            stable, place = self.stability[name], [*self.stability[name].fuzziness].index(self.fuzziness)
            found[name] = {
                "power": power.power,
                "required_difference": power.required_difference,
                **_row(stable, place, stable.COLUMNS[1:]),
                "sensitivity": self.swap[name].sensitivity,
                "swap_difference": self.swap[name].required_difference,
                **_row(self.correlations, at, self.correlations.COLUMNS),
            }
        return dict(sorted(found.items(), key=lambda row: -self.power[row[0]].power))

    def plot(self) -> Any:
        """Plot ASL curves, stability, swap rates and correlations in one figure (requires matplotlib)."""
        from ir_graded.plots.meta import comparison

        taus, tied = self.correlations.matrix, bool(self.correlations.tied.any())
        return comparison(self.power, self.stability, self.swap, taus, tied=tied)


def _row(result: Result, at: int, columns: Iterable[str]) -> dict[str, float | str]:
    """Return the values of some columns in a row, as Python objects."""
    return {name: np.asarray(getattr(result, name)).tolist()[at] for name in columns}


@statistic(test=TESTS, resample=RESAMPLES)
def compare_measures(  # noqa: PLR0913  # options, all by keyword
    scores: Any,
    *,
    reference: str | None = None,
    alpha: float = 0.05,
    test: str = "bootstrap",
    fuzziness: float = 0.05,
    resample: Literal["bootstrap", "disjoint"] = "bootstrap",
    max_rate: float = 0.05,
    n_resamples: int = 1000,
    rng: Seed = 0,
    memory_mib: float = 64,
) -> MeasureComparison:
    """Compare measures by discriminative power, stability, swap method and rank correlation.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to topics x systems matrices.
        reference: measure whose ranking of systems is correlated with the others; by default the first.
        alpha: significance level of the power.
        test: {test}.
        fuzziness: fuzziness at which the table shows minority rate and proportion of ties.
        resample: how the swap method draws topic sets, see ``swap``.
        max_rate: highest tolerated swap rate of the swap method.
        n_resamples: replicates of each method.
        rng: seed or generator; all measures use the same replicates.
        memory_mib: limit of the working memory of a block, in MiB; inf for no limit.

    Raises:
        InputError: topics or systems differ between measures, or the reference does not exist.
        ParameterError: a parameter is out of its range.

    Source: Sakai and Robertson (EVIA 2008), and the papers named at each method.

    Example:
        >>> import ir_graded
        >>> covid = ir_graded.sample()
        >>> scores = ir_graded.evaluate(["Q", "P-measure"], covid.qrels, covid.runs)
        >>> comparison = ir_graded.meta.compare_measures(scores, n_resamples=200)
        >>> comparison.to_frame()[["power", "sensitivity"]].index.tolist()
        ['Q', 'P-measure']
    """
    matrices = matrices_by_measure(scores)
    check_direction(scores, matrices)
    reference = reference_name(next(iter(matrices)) if reference is None else reference, matrices)
    for_power, for_stability, for_swap = (int(seed) for seed in generator(rng).integers(0, 2**62, 3))

    def of_each(
        function: Callable[..., Found], seed: int, threads: int = 1, **options: Any
    ) -> dict[str, Found]:
        options |= {"rng": seed, "n_resamples": n_resamples, "memory_mib": memory_mib}
        found = in_threads(lambda matrix: function(matrix, **options), matrices.values(), threads)
        return dict(zip(matrices, found, strict=True))

    with one_blas_thread():  # once, as threads that end would undo it for the others
        # The test has its own threads.
        power = of_each(discriminative_power, for_power, alpha=alpha, test=test)
        margins = sorted({*_FUZZINESS, float(fuzziness)})
        stabilities = of_each(stability, for_stability, processors(), fuzziness=margins)
        swaps = of_each(swap, for_swap, processors(), resample=resample, max_rate=max_rate)
    return MeasureComparison(
        power=power,
        stability=stabilities,
        swap=swaps,
        correlations=rank_correlations(matrices, reference=reference),
        fuzziness=float(fuzziness),
    )
