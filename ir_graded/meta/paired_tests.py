"""Significance tests of paired differences, and corrections for several tests.

``TESTS`` and ``CORRECTIONS`` are the only lists of them: the functions, the tables of scores, the report, the
command line and the documentation take theirs from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_graded._utils.extras import extra
from ir_graded._utils.threads import progress_bar
from ir_graded.core.segments import Floats, Ints

from .samples import (
    permuted_rows,
    replicate_blocks,
    sign_flips,
    sign_patterns,
    topic_counts,
)
from .significance import significance
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
)

#: Products of more than 2^18 numbers start threads of BLAS, which wait for each other on a busy machine.
_PER_ROW = 4


def enumerates(topics: int, n_resamples: float) -> bool:
    """Return whether all ``2^topics`` sign patterns are at most the number of replicates."""
    return 1 << topics <= n_resamples


def smallest_p(topics: int, n_resamples: float, two_sided: bool) -> float:
    """Return the smallest p-value that a test on these topics can give; infinite replicates are allowed."""
    of_all_patterns = (2 if two_sided else 1) / float(2 ** min(topics, 1000))
    if enumerates(topics, n_resamples):
        return of_all_patterns
    return max(of_all_patterns, 1 / (n_resamples + 1))


def randomisation_p(z: Floats, n_resamples: int, rng: np.random.Generator, two_sided: bool) -> Floats:
    """Return p-values from differences z of shape ``(measures, runs, topics)``, equal up to rounding.

    With T the absolute sum of z, or the negative sum if one-sided: ``p = #{T* >= T} / 2^n`` over all sign
    patterns of n topics if ``2^n <= B``, else ``(#{T* >= T} + 1) / (B + 1)`` over B random ones.
    """
    measures, systems, topics = z.shape
    statistic = np.abs if two_sided else np.negative
    least = statistic(z.sum(axis=2)) - TOLERANCE * np.abs(z).sum(axis=2)
    count: Ints = np.zeros((measures, systems), dtype=np.int64)
    exact = enumerates(topics, n_resamples)
    start = 0
    rows = max(topics + measures * systems, systems * topics // _PER_ROW)
    for size in replicate_blocks(2**topics if exact else n_resamples, rows):
        flips = sign_patterns(topics, start, size) if exact else sign_flips(rng, topics, size)
        count += np.count_nonzero(statistic(z @ flips) >= least[:, :, np.newaxis], axis=2)
        start += size
    return count / start if exact else (count + 1) / (start + 1)


def _student_p(z: Floats, _n_resamples: int, _rng: np.random.Generator, two_sided: bool) -> Floats:
    deviation = z.std(axis=2, ddof=1)
    deviation[np.ptp(z, axis=2) <= TOLERANCE * np.abs(z).max(axis=2)] = 0
    mean = z.mean(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / (deviation / np.sqrt(z.shape[2])))
    tail = extra("scipy.stats", "meta").t.cdf(-np.abs(t) if two_sided else t, z.shape[2] - 1)
    # Without any difference the p-value is 1.
    return np.where(z.any(axis=2), 2 * tail if two_sided else tail, 1.0)


def _bootstrap_p(z: Floats, n_resamples: int, rng: np.random.Generator, two_sided: bool) -> Floats:
    """Return p-values of 0 against each z, all with the same replicates, and never 0."""
    seed = int(rng.integers(0, 2**62))
    options: dict[str, Any] = {"n_resamples": n_resamples, "rng": seed, "progress": False}
    options["alternative"] = "two-sided" if two_sided else "greater"
    p = np.empty(z.shape[:2])
    for at in np.ndindex(p.shape):
        found = significance(np.stack((np.zeros_like(z[at]), z[at]), axis=1), **options)
        count = np.rint(found.asl.loc[[0], [1]].to_numpy()[0, 0] * n_resamples)
        p[at] = (count + 1) / (n_resamples + 1) if z[at].any() else 1.0
    return p


def holm(p: Floats) -> Floats:
    """Return p-values after the correction of Holm (1979), in the order given."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected


def _benjamini_hochberg(p: Floats) -> Floats:
    order = np.argsort(-p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    return corrected


@dataclass(frozen=True, eq=False)
class PairInput:
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
Outcome = tuple[Floats, Floats | None]


def _smallest_tukey_asl(topics: int, n_resamples: float, _two_sided: bool, runs: int) -> float:
    """Return the smallest ASL of Tukey's test that can be known; infinite replicates are allowed."""
    of_all_permutations = float(runs * (runs - 1)) ** (1 - topics)
    return max(of_all_permutations, 1 / (n_resamples + 1))


def _bootstrap(given: PairInput) -> Outcome:
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


def _t_test(given: PairInput) -> Outcome:
    stdtr = extra("scipy.special", "meta").stdtr
    asl = given.empty()

    def work(block: PairBlock, rows: slice, _: Workspace) -> None:
        asl[rows] = 2 * stdtr(given.scores.topics - 1, -np.abs(block.statistic()))

    for_each_block(work, given.scores, replicates=1, **given.block_options)
    return asl, None


def _randomisation(given: PairInput) -> Outcome:
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


def _tukey_hsd(given: PairInput) -> Outcome:
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


@dataclass(frozen=True)
class PairedTest:
    """A significance test of the differences z of two runs over the topics.

    Attributes:
        words: what it is, in the docstrings of functions.
        name: its name before the word "test".
        source: publications, as a report cites them.
        p: p-values of z of shape ``(measures, runs, topics)``, for a mean that is not 0 or, one-sided, below
            0, from z, number of replicates, generator and whether it is two-sided; None if the test is for
            all pairs of runs only.
        smallest_p: the smallest p-value, from the numbers of topics and replicates (infinite is allowed) and
            whether it is two-sided, and the number of runs of a test of all pairs.
        n_resamples: default number of replicates; 0 if none are drawn.
        pairs: ASL of all pairs of runs at once, two-sided; by default ``p`` of each pair.
    """

    words: str
    name: str
    source: str
    p: Callable[[Floats, int, np.random.Generator, bool], Floats] | None
    smallest_p: Callable[[int, float, bool, int], float]
    n_resamples: int = 0
    pairs: Callable[[PairInput], Outcome] | None = None

    def p_of(self, z: Floats, n_resamples: int, rng: np.random.Generator, two_sided: bool) -> Floats:
        """Return the p-values of differences; the test must be one of ``TESTS_OF_DIFFERENCES``."""
        return self.p(z, n_resamples, rng, two_sided) if self.p else np.full(z.shape[:2], np.nan)

    def of_pairs(self, given: PairInput) -> Outcome:
        """Return the ASL of each pair of runs, and its required differences if the test has them."""
        if self.pairs is not None:
            return self.pairs(given)
        asl = given.empty()

        def work(block: PairBlock, rows: slice, _: Workspace) -> None:
            z = np.where(block.identical[:, np.newaxis], 0.0, block.z)
            asl[rows] = self.p_of(z[np.newaxis], given.n_resamples, given.rng, True)[0]

        for_each_block(work, given.scores, replicates=1, **given.block_options)
        return asl, None


#: The tests by name.
TESTS: dict[str, PairedTest] = {
    "bootstrap": PairedTest(
        words="paired, studentised",
        name="bootstrap",
        source="Sakai, 2006",
        p=_bootstrap_p,
        smallest_p=lambda _topics, n_resamples, *_: 1 / (n_resamples + 1),
        n_resamples=10_000,
        pairs=_bootstrap,
    ),
    "t": PairedTest(
        words="Student's paired t test",
        name="t",
        source="Student, 1908",
        p=_student_p,
        smallest_p=lambda *_: 0.0,
        pairs=_t_test,
    ),
    "randomisation": PairedTest(
        words="random signs of the differences, statistic: their mean",
        name="randomisation",
        source="Fisher, 1935; Smucker, Allan and Carterette, 2007",
        p=randomisation_p,
        smallest_p=lambda topics, n_resamples, two_sided, _runs: smallest_p(topics, n_resamples, two_sided),
        n_resamples=100_000,
        pairs=_randomisation,
    ),
    "tukey_hsd": PairedTest(
        words="randomised Tukey HSD of all runs: each replicate permutes the scores of each topic, and the "
        "ASL is the share of replicates whose largest difference of means reaches that of the pair",
        name="randomised Tukey HSD",
        source="Carterette, 2012",
        p=None,
        smallest_p=_smallest_tukey_asl,
        n_resamples=10_000,
        pairs=_tukey_hsd,
    ),
}
#: The tests of single differences, such as those from a baseline.
TESTS_OF_DIFFERENCES = {name: test for name, test in TESTS.items() if test.p is not None}


@dataclass(frozen=True)
class Correction:
    """A correction of p-values for several tests.

    Attributes:
        words: what it is, in the docstrings of functions.
        of: corrected p-values from those of a family, in the order given.
    """

    words: str
    of: Callable[[Floats], Floats]


#: The corrections by name.
CORRECTIONS: dict[str, Correction] = {
    "holm": Correction("Holm; controls the probability of any false positive", holm),
    "bonferroni": Correction(
        "controls the probability of any false positive", lambda p: np.minimum(1.0, p * p.size)
    ),
    "bh": Correction(
        "Benjamini and Hochberg; controls the expected share of false positives", _benjamini_hochberg
    ),
    "none": Correction("no correction", lambda p: p),
}
