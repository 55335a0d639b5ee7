"""Tests of systems against a baseline: which differ, and which are worse."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.extras import extra
from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats, Ints, exact_sum
from ir_graded.errors import MOST_IDS, CoverageWarning, InputError, ParameterError, format_ids

from .matrix import DECIMALS, matrices_by_measure, number_of
from .options import Seed, generator, statistic
from .paired_tests import CORRECTIONS, TESTS_OF_DIFFERENCES as TESTS, enumerates
from .sample_size import detectable_deviations, mean_and_sd
from .samples import check_significance_is_possible

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class BaselineTests(Result):
    """Differences of systems from a baseline with their significance.

    Attributes:
        measures: printed names of the measures.
        runs: the systems except the baseline, in the given order.
        baseline: the baseline.
        difference: mean of "system - baseline" over the topics, shape ``(measures, runs)``.
        p: two-sided p-values of the individual tests, with the same shape.
        p_holm: p-values after Holm's correction for the systems compared by one measure.
        sd: standard deviation of "system - baseline" over the topics, with the same shape; NaN if all
            differences are equal.
        topics: number of topics.
        test: the test.
        alpha: significance level.
        n_resamples: number of replicates.
    """

    measures: tuple[str, ...]
    runs: tuple[Hashable, ...]
    baseline: Hashable
    difference: Floats
    p: Floats
    p_holm: Floats
    sd: Floats
    topics: int
    test: str
    alpha: float
    n_resamples: int

    ROWS: ClassVar = {"measure": "measures", "run": "runs"}
    COLUMNS: ClassVar = ("difference", "p", "p_holm", "significant", "dz", "minimum_detectable")

    @property
    def significant(self) -> Bools:
        """Whether the corrected p-value is below alpha, shape ``(measures, runs)``."""
        return np.asarray(self.p_holm < self.alpha)

    @property
    def exact(self) -> bool:
        """Whether the p-values count all sign patterns instead of random ones."""
        return self.test == "randomisation" and enumerates(self.topics, self.n_resamples)

    @property
    def smallest_p_holm(self) -> float:
        """Smallest corrected p-value that a test can have with any scores."""
        return _smallest(self.test, self.topics, self.n_resamples, len(self.runs))

    @property
    def dz(self) -> Floats:
        """Effect size of each difference, ``difference / sd``; shape ``(measures, runs)``."""
        return self.difference / self.sd

    @property
    def minimum_detectable(self) -> Floats:
        """Difference that one two-sided paired t test at alpha detects with probability .8.

        The standard deviation of the pair is treated as known. Holm's correction is ignored; with it, even
        larger differences may be missed. Shape ``(measures, runs)``.
        """
        return self.sd * detectable_deviations(self.topics, self.alpha)


@statistic(test=TESTS)
def against_baseline(
    scores: Any,
    baseline: Hashable,
    *,
    test: str = "randomisation",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: Seed = 0,
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
        test: {test}.
        alpha: significance level, between 0 and 1.
        n_resamples: number of replicates B, at least 1; None for the default of the test, 100,000 random
            signs.
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
    replicates = TESTS[test].n_resamples if n_resamples is None else n_resamples
    matrices = matrices_by_measure(scores)
    names = next(iter(matrices.values())).runs
    of_baseline = number_of(baseline, names, "baseline")
    others = [number for number in range(len(names)) if number != of_baseline]
    values = np.stack([matrix.values.T for matrix in matrices.values()])
    topics, compared = values.shape[2], len(others)
    check_significance_is_possible(
        lambda size: np.array([_smallest(test, topics, size, compared)]),
        n_resamples,
        replicates,
        alpha,
        tests=compared,
        topics=[f"{topics} topics"],
        cannot=f"the {test} test of {compared} run{'s' * (compared > 1)} cannot find a difference",
        advice="more topics",
    )
    z = values[:, others] - values[:, [of_baseline]]
    against = np.full(len(others), of_baseline)
    sd = np.stack([mean_and_sd(of_measure, others, against)[1] for of_measure in values])
    p = TESTS[test].p_of(z, int(replicates), generator(rng), two_sided=True)
    return BaselineTests(
        measures=tuple(matrices),
        runs=tuple(names[number] for number in others),
        baseline=baseline,
        difference=exact_sum(z) / z.shape[2],
        p=p,
        p_holm=np.stack([CORRECTIONS["holm"].of(row) for row in p]),
        sd=sd,
        topics=topics,
        test=test,
        alpha=float(alpha),
        n_resamples=int(replicates),
    )


def _smallest(test: str, topics: int, n_resamples: float, compared: int) -> float:
    return min(1.0, compared * TESTS[test].smallest_p(topics, n_resamples, True, 2))


#: The slice of all topics.
ALL_TOPICS = "all"


class NothingToLoseWarning(CoverageWarning):
    """Warning that no system can be worse, because the baseline scores no more than the tolerance."""


@dataclass(frozen=True, eq=False, repr=False)
class Regressions(Result):
    """Differences of systems from a baseline, and which are worse, the result of :func:`regressions`.

    Attributes:
        slices: names of the slices of topics; the first is all topics.
        measures: printed names of the measures.
        runs: the systems except the baseline, in the given order.
        baseline: the baseline.
        baseline_mean: mean of the baseline, shape ``(slices, measures)``.
        difference: mean of "system - baseline" over the topics, shape ``(slices, measures, runs)``.
        p: p-values of the single tests, one-sided for a lower mean, same shape.
        p_corrected: p-values corrected for all tests, same shape.
        sd: standard deviation of "system - baseline", same shape; NaN if all differences are equal.
        topics: number of topics of each slice.
        judged: mean share of judged documents down to the cutoff of the measure, else 10, shape as
            ``difference``; NaN if only scores are given.
        baseline_judged: that of the baseline, shape ``(slices, measures)``.
        alpha: significance level.
        tolerance: largest loss of the mean with which a system is not worse.
        test: the test.
        correction: the correction.
        n_resamples: number of replicates.
        notes: sentences on what limits the comparison.
    """

    slices: tuple[str, ...]
    measures: tuple[str, ...]
    runs: tuple[Hashable, ...]
    baseline: Hashable
    baseline_mean: Floats
    difference: Floats
    p: Floats
    p_corrected: Floats
    sd: Floats
    topics: tuple[int, ...]
    judged: Floats
    baseline_judged: Floats
    alpha: float
    tolerance: float
    test: str
    correction: str
    n_resamples: int
    notes: tuple[str, ...] = ()

    @property
    def worse(self) -> Bools:
        """Whether a system loses significantly and more than the tolerance; shape as ``difference``."""
        above_tolerance = (self.difference + self.tolerance).round(DECIMALS) < 0
        return np.asarray(above_tolerance & (self.p_corrected < self.alpha))

    @property
    def passed(self) -> bool:
        """Whether no system is worse by any measure on any slice."""
        return not self.worse.any()

    @property
    def smallest_p_corrected(self) -> Floats:
        """Smallest corrected p-value that each test can have with any scores; shape as ``difference``."""
        return _smallest_of_family(self.test, self.correction, self.topics, self.n_resamples, self.p.shape)

    @property
    def alpha_of_each(self) -> float:
        """Alpha of a single test: with a correction, ``alpha`` is divided by the number of tests."""
        return self.alpha if self.correction == "none" else self.alpha / self.p.size

    @property
    def minimum_detectable(self) -> Floats:
        """Smallest loss that is found worse with probability .8; shape as ``difference``.

        A loss is found if a one-sided paired t test at ``alpha_of_each`` is significant and the mean is
        lower by more than the tolerance, d. So it is at least ``d + 0.842 sd / sqrt(n)``. The deviation of
        the pair is taken as known.
        """
        special = extra("scipy.special", "meta")
        alpha = self.alpha_of_each
        of_one = np.array([detectable_deviations(topics, alpha, "greater") for topics in self.topics])
        beyond = special.ndtri(0.8) / np.sqrt(self.topics)
        by_test, by_tolerance = (factor[:, np.newaxis, np.newaxis] * self.sd for factor in (of_one, beyond))
        return np.asarray(np.maximum(by_test, self.tolerance + by_tolerance))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per slice, measure and system.

        Columns: slice, topics, judged, baseline_judged, measure, run, baseline (its mean), mean, difference,
        p, p_corrected, minimum_detectable, worse.
        """
        import pandas as pd

        part, measure, system = (at.reshape(-1) for at in np.indices(self.p.shape))
        base = self.baseline_mean[part, measure]
        return pd.DataFrame(
            {
                "slice": [self.slices[at] for at in part],
                "topics": [self.topics[at] for at in part],
                "judged": self.judged.reshape(-1),
                "baseline_judged": self.baseline_judged[part, measure],
                "measure": [self.measures[at] for at in measure],
                "run": [self.runs[at] for at in system],
                "baseline": base,
                "mean": base + self.difference.reshape(-1),
                "difference": self.difference.reshape(-1),
                "p": self.p.reshape(-1),
                "p_corrected": self.p_corrected.reshape(-1),
                "minimum_detectable": self.minimum_detectable.reshape(-1),
                "worse": self.worse.reshape(-1),
            }
        )


@statistic(test=TESTS, correction=CORRECTIONS)
def regressions(  # noqa: PLR0913  # options, all by keyword
    scores: Any,
    baseline: Hashable,
    *,
    alpha: float = 0.05,
    tolerance: float = 0.0,
    test: str = "randomisation",
    correction: str = "holm",
    slices: Mapping[Any, Any] | None = None,
    n_resamples: int = 10_000,
    rng: Seed = 0,
) -> Regressions:
    """Find systems that are significantly worse than a baseline, by more than a tolerance.

    Let z be the differences "system - baseline" per topic, rounded to 12 decimals. A system is worse if
    ``mean(z) < -tolerance`` and its corrected p-value is below alpha. Each test has the null hypothesis
    ``mean(z) >= 0`` and the alternative ``mean(z) < 0``. The tests of all systems, measures and slices are
    one family for the correction.

    Args:
        scores: the result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x
            systems.
        baseline: name of the system that the others are compared with.
        alpha: significance level, between 0 and 1.
        tolerance: largest loss of the mean, in units of the measure, with which a system is not worse; >= 0.
        test: {test}. With random signs of z, ``p = (#{mean(z*) <= mean(z)} + 1) / (B + 1)``; with n topics
            and ``2^n <= B`` all sign patterns, ``p = #{mean(z*) <= mean(z)} / 2^n``. The bootstrap is that of
            ``significance``, with ``p = (#{t(w*) <= t(z)} + 1) / (B + 1)``.
        correction: {correction}.
        slices: slices of some of the topics, such as ``{"1": "easy", "2": "hard"}``. Each slice is tested
            separately, in addition to all topics.
        n_resamples: number of replicates B, at least 1.
        rng: a seed or a generator.

    Raises:
        InputError: there are fewer than two topics in total or in a slice, fewer than two systems, or a
            score that is not finite.
        ParameterError: an option is out of its range, the baseline is not a system, n_resamples is too
            small for any corrected p-value below alpha, or the tolerance is not below the mean of the
            baseline, where no score is negative.

    Warns:
        CoverageWarning: all topics or a slice are so few that the randomisation test cannot be significant:
            no p-value of n topics falls below ``1 / 2^n``, before the correction; or the baseline scores 0
            on all topics or a slice, or no more than the tolerance on a slice, so that no system can be
            worse.

    Source:
        Smucker, Allan and Carterette (CIKM 2007); Holm (Scand. J. Statistics, 1979); Benjamini and Hochberg
        (J. Royal Statistical Society B, 1995).

    Example:
        >>> import pandas as pd
        >>> systems = {"old": [0.2, 0.3, 0.4] * 3, "slip": [0.1] * 9, "new": [0.5] * 9}
        >>> found = regressions({"Q": pd.DataFrame(systems)}, "old", tolerance=0.01)
        >>> found.passed
        False
        >>> found.to_frame()[["run", "difference", "worse"]].round(3)
            run  difference  worse
        0  slip        -0.2   True
        1   new         0.2  False
    """
    matrices = matrices_by_measure(scores)
    first = next(iter(matrices.values()))
    names = first.runs
    of_baseline = number_of(baseline, names, "baseline")
    others = [number for number in range(len(names)) if number != of_baseline]
    every = np.stack([matrix.values.T for matrix in matrices.values()])
    parts = topics_by_slice(first.topics, slices or {})
    sizes = {name: topics.size for name, topics in parts.items()}
    shape = len(parts), len(matrices), len(others)
    comparisons = math.prod(shape)
    check_significance_is_possible(
        lambda replicates: _smallest_of_family(
            test, correction, tuple(sizes.values()), replicates, shape
        ).min((1, 2)),
        n_resamples,
        n_resamples,
        alpha,
        tests=comparisons,
        topics=[
            f"{topics} topics{'' if name == ALL_TOPICS else f' of the slice {name!r}'}"
            for name, topics in sizes.items()
        ],
        cannot=(
            f"the {test} test with {comparisons} comparison{'s' * (comparisons > 1)} cannot find a run worse"
        ),
        advice="more topics or test='t'",
    )
    random = generator(rng)
    found = [
        _of_part(
            every[:, :, topics],
            others,
            of_baseline,
            lambda z: TESTS[test].p_of(z, n_resamples, random, two_sided=False),
        )
        for topics in parts.values()
    ]
    base, difference, sd, p = (np.stack(column) for column in zip(*found, strict=True))
    _check_losses_are_possible(every, base, (*matrices,), baseline, sizes, float(tolerance))
    return Regressions(
        slices=tuple(parts),
        measures=tuple(matrices),
        runs=tuple(names[number] for number in others),
        baseline=baseline,
        baseline_mean=base,
        difference=difference,
        p=p,
        p_corrected=CORRECTIONS[correction].of(p.reshape(-1)).reshape(p.shape),
        sd=sd,
        topics=tuple(sizes.values()),
        judged=np.full(p.shape, np.nan),
        baseline_judged=np.full(base.shape, np.nan),
        alpha=float(alpha),
        tolerance=float(tolerance),
        test=test,
        correction=correction,
        n_resamples=int(n_resamples),
    )


def topics_by_slice(topics: tuple[Hashable, ...], slices: Mapping[Any, Any]) -> dict[str, Ints]:
    """Return the indices of all topics and of each slice. Raises InputError if a slice is too small."""
    of_topic = {str(topic): str(part) for topic, part in slices.items()}
    member = [of_topic.get(str(topic)) for topic in topics]
    unknown = [*of_topic.keys() - {str(topic) for topic in topics}]
    without = [topic for topic, part in zip(topics, member, strict=True) if part is None]
    # Groups may be of more topics or of fewer, but not both: then ids differ.
    if unknown and without:
        raise InputError(
            f"slices: no scored topic is named {format_ids(sorted(unknown))}, and {format_ids(without)} "
            f"({len(without)} in total) have no slice; are the ids equal?"
        )
    parts = {ALL_TOPICS: np.arange(len(topics), dtype=np.int64)}
    for name in dict.fromkeys(of_topic.values()):
        if name == ALL_TOPICS:
            raise InputError(
                f"slices: a slice is named {ALL_TOPICS!r}, which is the name of all topics: rename it"
            )
        parts[name] = np.array([at for at, part in enumerate(member) if part == name], dtype=np.int64)
        if parts[name].size < 2:  # noqa: PLR2004
            raise InputError(f"slices: {name!r} has {parts[name].size} of the scored topics; a test needs 2")
    return parts


def _smallest_of_family(
    test: str, correction: str, topics: tuple[int, ...], n_resamples: float, shape: tuple[int, ...]
) -> Floats:
    """Return the smallest corrected p-values: a correction rises with each of the p-values."""
    p = np.empty(shape)
    p[:] = np.array([TESTS[test].smallest_p(size, n_resamples, False, 2) for size in topics])[
        :, np.newaxis, np.newaxis
    ]
    return CORRECTIONS[correction].of(p.reshape(-1)).reshape(shape)


def _check_losses_are_possible(
    values: Floats,
    base: Floats,
    measures: tuple[str, ...],
    baseline: Hashable,
    sizes: dict[str, int],
    tolerance: float,
) -> None:
    """Raise ParameterError if the tolerance exceeds any possible loss; warn if the baseline scores 0."""
    # Where scores are negative, the lowest possible score is not known.
    hopeless = (base <= tolerance) & (values.min(axis=(1, 2)) >= 0)
    said, asked = [], ""
    for part, measure in np.argwhere(hopeless).tolist():
        name, mean = [*sizes][part], float(base[part, measure])
        where = f"all {sizes[name]} topics" if name == ALL_TOPICS else f"the {sizes[name]} of slice {name!r}"
        if mean == 0:
            said.append(f"scores 0 on {where} by {measures[measure]}")
            asked = (
                "; do the ids of run and qrels match, and are levels of the qrels relevant to the measure?"
            )
        elif name == ALL_TOPICS:
            raise ParameterError(
                f"tolerance={tolerance:g} must be below the mean of {baseline!r}, {mean:.4g} by "
                f"{measures[measure]}: no system can lose more than that"
            )
        else:
            said.append(f"has the mean {mean:.4g} on {where} by {measures[measure]}, within the tolerance")
    if said:
        more = f" (and {len(said) - MOST_IDS} more)" if len(said) > MOST_IDS else ""
        warnings.warn(
            f"{baseline!r} {', '.join(said[:MOST_IDS])}{more}, so no system can be worse there{asked}",
            NothingToLoseWarning,
            stacklevel=4,
        )


def _of_part(
    values: Floats, others: list[int], baseline: int, test: Callable[[Floats], Floats]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return, for some topics, means of the baseline, and differences with their sd and p-values."""
    against = np.full(len(others), baseline)
    z = (values[:, others] - values[:, [baseline]]).round(DECIMALS)
    sd = np.stack([mean_and_sd(of_measure, others, against)[1] for of_measure in values])
    topics = values.shape[2]
    return exact_sum(values[:, baseline]) / topics, exact_sum(z) / topics, sd, test(z)
