"""Resampled sets of topics, and statistics of all pairs of systems in all of them, as matrix products.

For a pair of systems let z be the differences per topic, n the number of topics, ``w = z - mean(z)`` and
``c`` the counts of a replicate (how often each topic was drawn). With

    S1 = sum(c * w) = sum((c - 1) * z)        S2 = sum(c * w**2)        D = n * S2 - S1**2

the replicate's statistic is ``t(w*) = S1 * sqrt((n - 1) / D)``, so ``t(w*)**2 = (n - 1) * S1**2 / D``
compares statistics without a root. S1 is a difference of two systems' sums: one product for each system
instead of one for each pair. S2 needs the squares of every pair and is computed in blocks of pairs.
(Sakai 2006, "Evaluating evaluation metrics based on the bootstrap".)
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ir_graded._utils.later import extra
from ir_graded._utils.threads import in_threads, processors, progress_bar
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.core.struct import Struct
from ir_graded.errors import CoverageWarning

#: Statistics closer than this, relative to their size and to 1, are equal, so that rounding has no effect.
TOLERANCE = 1e-12

#: From this ``S1**2 / D`` on, ``D = n * S2 - S1**2`` has lost digits and is computed from the values drawn.
_CANCELLED = 1e3

# Smaller blocks make threads wait for the interpreter; larger blocks leave the processor cache.
_PAIRS_A_BLOCK = 256
_MOST_THREADS = 16
# Number of arrays of (pairs, replicates) and of (pairs, topics) that a block has in memory at a time.
_REPLICATE_ARRAYS = 6
_TOPIC_ARRAYS = 4
#: Number of replicates of single pairs that are looked at together.
CELLS_A_LOOK = 1 << 18
_TINY = np.finfo(np.float64).tiny
#: Bars over blocks and replicates appear after this time.
SECONDS_BEFORE_BAR = 3.0


@dataclass(frozen=True, eq=False)
class Workspace(Struct):
    """Arrays of shape ``(pairs, replicates)`` that a thread reuses for each block to keep them in cache."""

    sums: Floats
    statistics: Floats
    scratch: Floats

    @classmethod
    def of(cls, pairs: int, replicates: int) -> Workspace:
        """Allocate arrays for a number of pairs and replicates."""
        return cls(*(np.empty((pairs, replicates)) for _ in range(3)))


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Weighted sums of the scores of each system, whose differences between systems keep their precision.

    A score is split into a multiple of a power of two, coarse enough that all sums of multiples are exact,
    and a remainder. Small differences between nearly equal systems are therefore exact. Both sums have the
    shape ``(systems, replicates)``.
    """

    coarse: Floats
    rest: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> WeightedSums:
        """Return sums of ``values`` (systems, topics) in [-1, 1] with ``weights`` (topics, replicates)."""
        # Weights are whole, and their sizes sum to at most twice the topics.
        bits = 52 - math.ceil(math.log2(2 * len(weights)))
        coarse = np.ldexp(np.rint(np.ldexp(values, bits)), -bits)
        return cls(coarse @ weights, (values - coarse) @ weights)

    def differences(self, pairs: Pairs, space: Workspace) -> Floats:
        """Return sums of the differences of each pair, shape ``(pairs, replicates)``, in ``space.sums``."""
        found, rest = space.sums, space.scratch
        # The pairs of a first system are adjacent, and so are their second systems.
        cuts = [0, *(np.flatnonzero(np.diff(pairs.first)) + 1).tolist(), len(pairs.first)]
        for begin, end in pairwise(cuts):
            one, second, rows = int(pairs.first[begin]), int(pairs.second[begin]), slice(begin, end)
            others = slice(second, second + end - begin)
            np.subtract(self.coarse[one], self.coarse[others], out=found[rows])
            np.subtract(self.rest[one], self.rest[others], out=rest[rows])
            found[rows] += rest[rows]
        return found


@dataclass(frozen=True, eq=False)
class Pairs(Struct):
    """Numbers of the two systems of each pair, in the order (0, 1), (0, 2), ... (1, 2), ...."""

    first: Ints
    second: Ints

    @classmethod
    def of(cls, systems: int) -> Pairs:
        """Return all pairs of a number of systems."""
        return cls(*(np.asarray(one, dtype=np.int64) for one in np.triu_indices(systems, 1)))


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores ``values * 2**exponent``, with values in [-1, 1], shape ``(systems, topics)``.

    Squares cannot overflow. Differences up to ``rounding`` of a system count as rounding; ``totals`` are its
    sums over topics.
    """

    values: Floats
    exponent: int
    rounding: Floats
    totals: WeightedSums

    @classmethod
    def of(cls, scores: Floats) -> PairedScores:
        """Scale scores of shape ``(topics, systems)``."""
        exponent = int(np.frexp(np.abs(scores).max())[1])
        values = np.ascontiguousarray(np.ldexp(scores, -exponent).T)
        totals = WeightedSums.of(values, np.ones((len(scores), 1)))
        return cls(values, exponent, TOLERANCE * np.abs(values).max(axis=1), totals)

    @property
    def topics(self) -> int:
        """Number of topics."""
        return int(self.values.shape[1])

    def total(self, pairs: Pairs) -> Floats:
        """Return the sum over topics of the differences of each pair, shape ``(pairs,)``."""
        coarse, rest = (
            part[pairs.first, 0] - part[pairs.second, 0] for part in (self.totals.coarse, self.totals.rest)
        )
        return np.asarray(coarse + rest)

    def mean(self, total: Floats) -> Floats:
        """Return means over topics in the original scale, from sums of scaled scores."""
        return np.asarray(np.ldexp(total / self.topics, self.exponent))


@dataclass(frozen=True, eq=False)
class PairBlock:
    """A block of pairs with their observed differences z, in scaled scores, shape ``(pairs, topics)``.

    ``total`` sums z, ``w`` is z shifted to mean 0, and ``squares`` sums its squares. Up to ``rounding``, the
    differences of ``constant`` pairs are equal, and those of ``identical`` ones are 0.
    """

    pairs: Pairs
    z: Floats
    total: Floats
    w: Floats
    squares: Floats
    rounding: Floats
    constant: Bools
    identical: Bools

    @classmethod
    def of(cls, scores: PairedScores, pairs: Pairs) -> PairBlock:
        """Return the observed differences of some pairs."""
        z = scores.values[pairs.first] - scores.values[pairs.second]
        total = scores.total(pairs)
        w = z - (total / z.shape[1])[:, np.newaxis]
        rounding = np.maximum(scores.rounding[pairs.first], scores.rounding[pairs.second])
        low, high = z.min(axis=1), z.max(axis=1)
        constant, identical = high - low <= rounding, np.maximum(np.abs(low), np.abs(high)) <= rounding
        return cls(pairs, z, total, w, np.square(w).sum(axis=1), rounding, constant, identical)

    def statistic(self) -> Floats:
        """Return Student's t of each pair; 0 if it is identical, infinite for other constant differences."""
        topics = self.z.shape[1]
        squares = np.where(self.constant, 1.0, np.maximum(self.squares, _TINY))
        t = self.total * np.sqrt((topics - 1) / (topics * squares))
        return np.asarray(
            np.where(self.constant, np.where(self.identical, 0.0, np.copysign(np.inf, self.total)), t)
        )


def replicate_statistics(block: PairBlock, counts: Floats, sums: Floats, space: Workspace) -> Floats:
    """Return ``S1**2 / D``, that is ``t(w*)**2 / (n - 1)``, shape ``(pairs, replicates)``.

    A replicate of equal values has 0 if their mean is 0, else infinity.
    """
    topics = len(counts)
    statistics = np.square(sums, out=space.statistics)
    deviation = np.matmul(topics * np.square(block.w), counts, out=space.scratch)
    deviation -= statistics
    # If all drawn values equal the mean, w and the deviation are rounding errors.
    floor = TOLERANCE * topics * block.squares
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        statistics /= deviation
    doubtful = (deviation.min(axis=1) <= floor) | ~(statistics.max(axis=1) < _CANCELLED)
    rows = np.flatnonzero(doubtful & ~block.constant)
    if len(rows):
        cancelled = np.zeros(statistics.shape, dtype=np.bool_)
        cancelled[rows] = (deviation[rows] <= floor[rows, np.newaxis]) | ~(statistics[rows] < _CANCELLED)
        _settle_common_values(block, counts, cancelled, statistics)
        _settle_each(block, counts, cancelled, statistics, sums)
    statistics[block.constant] = 0.0
    return statistics


def _settle_common_values(block: PairBlock, counts: Floats, cancelled: Bools, statistics: Floats) -> None:
    """Set the statistics of replicates that drew only the median difference of the pair, mostly 0."""
    rows = np.flatnonzero(cancelled.any(axis=1))
    z = block.z[rows]
    middle = z.shape[1] // 2
    common = np.partition(z, middle, axis=1)[:, middle]
    rounding = block.rounding[rows]
    other = (np.abs(z - common[:, np.newaxis]) > rounding[:, np.newaxis]).astype(np.float64)
    only_common = (other @ counts == 0) & cancelled[rows]
    at_mean = np.abs(common - block.total[rows] / z.shape[1]) <= rounding
    settled = np.where(at_mean, 0.0, np.inf)[:, np.newaxis]
    statistics[rows] = np.where(only_common, settled, statistics[rows])
    cancelled[rows] &= ~only_common


def _settle_each(
    block: PairBlock, counts: Floats, cancelled: Bools, statistics: Floats, sums: Floats
) -> None:
    """Set the statistics of other replicates with very small variance from the values drawn."""
    topics = len(counts)
    rows, columns = np.nonzero(cancelled)
    step = max(1, CELLS_A_LOOK // topics)
    for begin in range(0, len(rows), step):
        cells = row, column = rows[begin : begin + step], columns[begin : begin + step]
        w, rounding, drawn = block.w[row], block.rounding[row], counts.T[column]
        low = np.where(drawn > 0, w, np.inf).min(axis=1)
        high = np.where(drawn > 0, w, -np.inf).max(axis=1)
        equal = high - low <= rounding
        at_mean = np.maximum(np.abs(low), np.abs(high)) <= rounding
        mean = (drawn * w).sum(axis=1) / topics
        deviation = topics * (drawn * np.square(w - mean[:, np.newaxis])).sum(axis=1)
        ratio = np.square(sums[cells]) / np.where(equal, 1.0, np.maximum(deviation, _TINY))
        statistics[cells] = np.where(equal, np.where(at_mean, 0.0, np.inf), ratio)


def at_least(t: Floats, topics: int) -> Floats:
    """Return the least ``t(w*)**2 / (n - 1)`` that counts as ``|t(w*)| >= |t|``, for each t."""
    reached = np.maximum(np.abs(t) * (1 - TOLERANCE) - TOLERANCE, 0.0)
    return np.asarray(np.square(reached) / (topics - 1))


#: Function that processes a block of pairs, given its rows among all pairs and a workspace. It stores results
#: by row, so that neither the size nor the order of the blocks matters.
BlockWork = Callable[[PairBlock, slice, Workspace], None]


def for_each_block(
    work: BlockWork, scores: PairedScores, *, replicates: int, memory_mib: float, progress: bool | None
) -> None:
    """Call ``work`` for all pairs of systems, in blocks of pairs on all processors."""
    pairs = Pairs.of(len(scores.values))
    threads = min(processors(), _MOST_THREADS)
    cell = 8 * (_REPLICATE_ARRAYS * replicates + _TOPIC_ARRAYS * scores.topics)
    affordable = min(memory_mib * 2**20 / (threads * cell), _PAIRS_A_BLOCK)  # the memory may be infinite
    size = min(len(pairs.first), max(1, int(affordable)))
    blocks = [slice(begin, begin + size) for begin in range(0, len(pairs.first), size)]
    of_thread = threading.local()

    def work_on(rows: slice) -> int:
        if not hasattr(of_thread, "space"):
            of_thread.space = Workspace.of(size, replicates)
        part = pairs[rows]
        work(PairBlock.of(scores, part), rows, of_thread.space[: len(part.first)])
        return len(part.first)

    options: dict[str, Any] = {"unit": "pair", "delay": SECONDS_BEFORE_BAR}
    with progress_bar(progress=progress, total=len(pairs.first), **options) as bar:
        for done in in_threads(work_on, blocks, threads):
            bar.update(done)


def for_each_bootstrap_block(
    work: BlockWork, scores: PairedScores, counts: Floats, *, memory_mib: float, progress: bool | None
) -> None:
    """Call ``work`` as ``for_each_block``, with S1 in ``sums`` and squared statistics in ``statistics``."""
    sums = WeightedSums.of(scores.values, counts - 1)

    def with_statistics(block: PairBlock, rows: slice, space: Workspace) -> None:
        replicate_statistics(block, counts, sums.differences(block.pairs, space), space)
        work(block, rows, space)

    limits: dict[str, Any] = {"memory_mib": memory_mib, "progress": progress}
    for_each_block(with_statistics, scores, replicates=counts.shape[1], **limits)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep matrix products on the calling thread, because BLAS threads and block threads block each other."""
    limits: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limits


@cache
def _blas() -> Any:
    """Return the controller of NumPy's library; to find the library takes milliseconds."""
    return extra("threadpoolctl").ThreadpoolController()


class TooFewTopicsWarning(CoverageWarning):
    """Warning that a test can never be significant, because its topics have too few sign patterns."""


#: Number of arrays with a value per system (or topic) and replicate that exist at the same time.
_COPIES = 8
#: Number of values per array: few enough for the processor cache, enough to outweigh the overhead of calls.
_VALUES = 2**18


def replicate_blocks(n_resamples: int, rows: int, memory_mib: float = 64) -> Iterator[int]:
    """Yield numbers of replicates to draw at a time, so that arrays of ``rows`` values each stay small."""
    size = max(1, int(min(_VALUES, memory_mib * 2**20 / (8 * _COPIES)) / rows))
    for start in range(0, n_resamples, size):
        yield min(size, n_resamples - start)


def replicate_blocks_with_progress(n_resamples: int, rows: int, memory_mib: float) -> Iterator[int]:
    """Yield as ``replicate_blocks``, with a progress bar on a terminal if the work is long."""
    options: dict[str, Any] = {"unit": "replicate", "unit_scale": True, "delay": 1.0}
    with progress_bar(progress=None, total=int(n_resamples), **options) as bar:
        for size in replicate_blocks(n_resamples, rows, memory_mib):
            yield size
            bar.update(size)


def topic_counts(rng: np.random.Generator, topics: int, replicates: int) -> Floats:
    """Draw bootstrap samples of all topics as counts of each, shape ``(topics, replicates)``."""
    return _counts(rng.integers(0, topics, size=(replicates, topics)), topics)


def topic_count_pairs(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Floats]:
    """Draw two independent bootstrap samples per trial, each of shape ``(topics, trials)``."""
    drawn = rng.integers(0, topics, size=(trials, 2, topics))
    return _counts(drawn[:, 0], topics), _counts(drawn[:, 1], topics)


def disjoint_halves(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Floats]:
    """Draw two disjoint sets of floor(topics/2) topics per trial, as counts of 0 and 1."""
    order = rng.permuted(np.tile(np.arange(topics), (trials, 1)), axis=1)
    half = topics // 2
    return _counts(order[:, :half], topics), _counts(order[:, half : 2 * half], topics)


def sign_flips(rng: np.random.Generator, topics: int, replicates: int) -> Floats:
    """Draw signs +1 and -1, shape ``(topics, replicates)``."""
    # The highest bit is what ``rng.integers(0, 2)`` returns, at a third of the time.
    drawn = rng.integers(0, 2**32, size=(replicates, topics), dtype=np.uint32)
    return np.asarray((drawn.view(np.int32) >> 31 | 1).astype(np.float64).T)


def permuted_rows(rng: np.random.Generator, values: Floats) -> Floats:
    """Return a matrix with the scores of each topic permuted among the systems."""
    return rng.permuted(values, axis=1)


def _counts(drawn: Ints, topics: int) -> Floats:
    """Count how often each topic occurs in each row of ``drawn``, shape ``(topics, rows)``."""
    sets = drawn.shape[0]
    cell = drawn + topics * np.arange(sets)[:, np.newaxis]
    counts = np.bincount(cell.reshape(-1), minlength=sets * topics).reshape(sets, topics)
    return np.ascontiguousarray(counts.T, dtype=np.float64)
