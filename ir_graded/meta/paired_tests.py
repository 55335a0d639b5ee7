"""Significance tests of paired differences, and corrections for several tests.

``TESTS`` and ``CORRECTIONS`` are the only lists of them: the functions, the tables of scores, the report, the
command line and the documentation take theirs from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_graded._utils.later import extra
from ir_graded._utils.threads import progress_bar
from ir_graded.core.segments import Floats, Ints

from .max_t import (
    FEWEST_DIFFERENT,
    Comparisons,
    Replicates,
    Statistics,
    bootstrap_statistics,
    signed_ranks,
    smallest_p,
    sums_with_signs,
)
from .replicates import (
    CELLS_A_LOOK,
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
    permuted_rows,
    sign_flips,
    topic_counts,
)


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
    rows = np.flatnonzero(tied)
    for some in np.array_split(rows, statistics.shape[1] * len(rows) // CELLS_A_LOOK + 1):
        low, high = ((value[some] + sign * margin[some])[:, np.newaxis] for sign in (-1, 1))
        found = statistics[some]
        size = np.where((found >= low) & (found <= high), np.abs(sums[some]), -1.0)
        descending = np.sort(size, axis=1)[:, ::-1]
        above = np.count_nonzero(found > high, axis=1)
        wanted = descending[np.arange(len(some)), place - above - 1]
        column[some] = (size == wanted[:, np.newaxis]).argmax(axis=1)
    return np.asarray(column, dtype=np.int64)


def _t_test(given: PairInput) -> Outcome:
    stdtr = extra("scipy.special").stdtr
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
        source: keys of publications in ``sources.bib``.
        smallest_p: the smallest p-value, from the numbers of topics and replicates (infinite is allowed) and
            whether it is two-sided.
        n_resamples: default number of replicates; 0 if none are drawn.
        pairs: ASL of all pairs of runs at once, two-sided; None if the test is of differences only.
        correction: the default correction of tests of differences; '' if the test is of all pairs only.
        statistics: statistics of differences for resampling; None for Student's p-values.
        replicates: the replicates of these statistics.
    """

    words: str
    name: str
    source: str
    smallest_p: Callable[[int, float, bool], float] = lambda *_: 0.0
    n_resamples: int = 0
    pairs: Callable[[PairInput], Outcome] | None = None
    correction: str = ""
    statistics: Callable[[Comparisons], Statistics] | None = None
    replicates: Callable[[Comparisons, int, np.random.Generator], Replicates] = Replicates.of_signs

    @property
    def signs(self) -> bool:
        """Whether replicates are signs of the differences."""
        return self.statistics is not None and self.replicates == Replicates.of_signs

    def of_pairs(self, given: PairInput) -> Outcome:
        """Return the ASL of each pair of runs, and its required differences if the test has them."""
        # All of TESTS_OF_PAIRS have it.
        assert self.pairs is not None  # noqa: S101  # for the type checker
        return self.pairs(given)


#: The tests by name.
TESTS: dict[str, PairedTest] = {
    "bootstrap": PairedTest(
        words="paired, studentised",
        name="bootstrap",
        source="[sakai2006evaluating]",
        smallest_p=lambda topics, n_resamples, _: 1.0 if topics < FEWEST_DIFFERENT else 1 / (n_resamples + 1),
        n_resamples=10_000,
        pairs=_bootstrap,
        correction="max-t",
        statistics=bootstrap_statistics,
        replicates=Replicates.of_topics,
    ),
    "t": PairedTest(
        words="Student's paired t test",
        name="t",
        source="[student1908probable]",
        pairs=_t_test,
        correction="holm",
    ),
    "randomisation": PairedTest(
        words="random signs of the differences, statistic: their mean",
        name="randomisation",
        source="[fisher1935design]; [smucker2007comparison]",
        smallest_p=smallest_p,
        n_resamples=100_000,
        pairs=_randomisation,
        correction="max-t",
        statistics=lambda given: sums_with_signs(given.weights[given.slice] * given.z),
    ),
    "wilcoxon": PairedTest(
        words="random signs of the ranks of the differences; tests symmetry about 0, not the mean",
        name="Wilcoxon signed-rank",
        source="[wilcoxon1945individual]; [pratt1959remarks]",
        smallest_p=smallest_p,
        n_resamples=100_000,
        correction="max-t",
        statistics=lambda given: sums_with_signs(signed_ranks(given)),
    ),
    "tukey_hsd": PairedTest(
        words="randomised Tukey HSD of all runs: each replicate permutes the scores of each topic, and the "
        "ASL is the share of replicates whose largest difference of means reaches that of the pair",
        name="randomised Tukey HSD",
        source="[carterette2012multiple]",
        n_resamples=10_000,
        pairs=_tukey_hsd,
    ),
}
#: The tests of all pairs of runs, as in papers, without a correction.
TESTS_OF_PAIRS = {name: test for name, test in TESTS.items() if test.pairs is not None}
#: The tests of differences, with a correction.
TESTS_OF_DIFFERENCES = {name: test for name, test in TESTS.items() if test.correction}


@dataclass(frozen=True)
class Correction:
    """A correction of p-values for several tests.

    Attributes:
        name: what it is called in a sentence.
        words: what it is, in the docstrings of functions.
        source: keys of publications in ``sources.bib``; empty for none.
        of: corrected p-values from those of a family, in the order given; None if the test computes them.
        multiplies: whether the smallest p-value is multiplied by the number of tests.
    """

    name: str
    words: str
    source: str
    of: Callable[[Floats], Floats] | None
    multiplies: bool = False


#: The corrections by name.
CORRECTIONS: dict[str, Correction] = {
    "max-t": Correction(
        "step-down max-t",
        "step-down, from the largest statistic of each replicate; controls the probability of any false "
        "positive and needs resampling",
        "[westfall1993resampling]; [boytsov2013deciding]",
        None,
    ),
    "holm": Correction(
        "Holm's correction",
        "Holm; controls the probability of any false positive",
        "[holm1979simple]",
        holm,
        multiplies=True,
    ),
    "bonferroni": Correction(
        "Bonferroni's correction",
        "controls the probability of any false positive",
        "[dunn1961multiple]",
        lambda p: np.minimum(1.0, p * p.size),
        multiplies=True,
    ),
    "bh": Correction(
        "the correction of Benjamini and Hochberg",
        "Benjamini and Hochberg; controls the expected share of false positives",
        "[benjamini1995controlling]",
        lambda p: np.minimum(1.0, _benjamini_hochberg(p)),
    ),
    "none": Correction("no correction", "no correction", "", lambda p: p),
}
