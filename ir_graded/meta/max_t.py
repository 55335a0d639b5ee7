"""p-values of paired differences from shared replicates: sign flips, bootstrap and step-down max-t.

A *comparison* is a row of differences over the topics. All comparisons of a call see the same replicates, so
the largest statistic of a replicate corrects for all of them at once (Westfall and Young, 1993). Where topics
are in clusters, these take the place of topics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_graded._utils.later import extra
from ir_graded.core.segments import Bools, Floats, Ints

from .replicates import TOLERANCE, topic_counts
from .topics import UNIT_DECIMALS, Sample

#: Most numbers of an array of statistics, and of drawn topics: 32 and 8 MiB.
_MOST_STATISTICS, _MOST_DRAWN = 2**22, 2**20
#: Fewest replicates of a block unless topics are many: with fewer, time would grow faster than the pairs.
#: Most replicates: one row of the block fits into the processor cache.
_FEWEST_REPLICATES, _MOST_REPLICATES = 2**7, 2**12
#: Fewest replicates of a block whose rows are counted one by one, and the numbers of a group of shorter rows.
_LONG_ROW, _GROUP = 2**11, 2**15
#: Signs of eight topics, by the byte whose set bits are negative.
_SIGNS_OF_BYTE = 1.0 - 2.0 * (np.arange(256)[:, np.newaxis] >> np.arange(8) & 1)
#: Fewest topics that must differ for a bootstrap test: with fewer, replicates often draw none of them.
FEWEST_DIFFERENT = 8
#: Statistics of the bootstrap are heavy-tailed if more than this share exceeds this multiple of Student's
#: quantile, with this tail at each end.
_HEAVY_SHARE, _HEAVY_MULTIPLE, _HEAVY_TAIL = 0.05, 1.25, 0.025


def enumerates(topics: int, n_resamples: float) -> bool:
    """Return whether the sign patterns whose first sign is + are at most the number of replicates."""
    return 2.0 ** min(topics - 1, 1000) <= n_resamples


def smallest_p(topics: int, n_resamples: float, two_sided: bool) -> float:
    """Return the smallest p-value that sign flips can give; infinite replicates are allowed."""
    of_all_patterns = 2.0 ** -min(topics - two_sided, 1000)
    return of_all_patterns if enumerates(topics, n_resamples) else max(of_all_patterns, 1 / (n_resamples + 1))


@dataclass(frozen=True)
class Comparisons:
    """Differences over the topics, a row each.

    Attributes:
        z: the differences, shape ``(comparisons, topics)``; 0 for topics that are not in the slice.
        slice: number of the slice of each comparison, a row of ``members``.
        members: whether each topic is in a slice, shape ``(slices, topics)``.
        weights: weights of the topics in each slice, 0 for others, shape ``(slices, topics)``.
    """

    z: Floats
    slice: Ints
    members: Bools
    weights: Floats

    @classmethod
    def of(cls, z: Floats, part: Ints, sample: Sample) -> Comparisons:
        """Return the comparisons of differences by topic, each on one of the slices of a sample."""
        shape = len(sample.parts), sample.size
        members, weights = np.zeros(shape, dtype=np.bool_), np.zeros(shape)
        of_units = np.zeros((len(z), sample.size))
        for at, name in enumerate(sample.parts):
            rows = np.flatnonzero(part == at)
            units, values, weights[at, units] = sample.units(z[rows], name)
            of_units[rows[:, np.newaxis], units] = values
            members[at, units] = True
        return cls(of_units, part, members, weights)

    def shifted(self, by: float) -> Comparisons:
        """Return the comparisons with a constant added to each difference."""
        z = np.where(self.members[self.slice], (self.z + by).round(UNIT_DECIMALS), 0.0)
        return Comparisons(z, self.slice, self.members, self.weights)

    def of_slice(self, at: int) -> tuple[Floats, Floats]:
        """Return the differences of the comparisons on a slice and the weights of its topics."""
        return self.z[self.slice == at][:, self.members[at]], self.weights[at, self.members[at]]


@dataclass(frozen=True)
class Statistics:
    """Statistics of comparisons.

    Attributes:
        observed: the statistic of each comparison.
        margin: differences from it that count as equal.
        correctable: whether a comparison is in its family, see ``FEWEST_DIFFERENT``.
        of: the statistics of a block of replicates, shape ``(comparisons, replicates)``, from what was drawn
            and an array to fill.
        heavy: size beyond which few statistics of replicates may be, see ``trimmed``; None without a limit.
    """

    observed: Floats
    margin: Floats
    correctable: Bools
    of: Callable[[Any, Floats], Floats]
    heavy: Floats | None = None


def sums_with_signs(terms: Floats) -> Statistics:
    """Return ``T = sum terms / sqrt(sum terms^2)``, 0 if all are 0; random signs leave the root unchanged."""
    norm = np.sqrt((terms**2).sum(axis=1))
    scaled = terms / np.where(norm == 0, 1.0, norm)[:, np.newaxis]
    return Statistics(
        observed=scaled.sum(axis=1),
        margin=TOLERANCE * np.abs(scaled).sum(axis=1),
        correctable=np.ones(len(terms), dtype=np.bool_),
        of=lambda signs, out: np.matmul(scaled, signs.T, out=out),
    )


def signed_ranks(given: Comparisons) -> Floats:
    """Return midranks of ``|z|`` among the topics of the slice with the sign of z; zeros get 0 (Pratt)."""
    ranks = np.zeros_like(given.z)
    for row, (z, members) in enumerate(zip(given.z, given.members[given.slice], strict=True)):
        _, inverse, count = np.unique(np.abs(z[members]), return_inverse=True, return_counts=True)
        ranks[row, members] = (np.cumsum(count) - (count - 1) / 2)[inverse] * np.sign(z[members])
    return ranks


def mean_and_error(z: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """Return weighted means, their standard errors and the effective number of topics (Kish)."""
    h = weights / weights.sum()
    mean = z @ h
    error = np.sqrt((z - mean[:, np.newaxis]) ** 2 @ (h**2 / (1 - h)))
    error[np.ptp(z, axis=1) == 0] = 0.0
    return mean, error, float(1 / (h**2).sum())


def studentised(mean: Floats, error: Floats) -> Floats:
    """Return ``mean / error``, infinite if the error is 0, and 0 if both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean == 0, 0.0, mean / error)


def bootstrap_statistics(given: Comparisons) -> Statistics:
    """Return ``t = mean / error``; a replicate draws topics of ``z - mean`` and carries their weights."""
    slices = range(len(given.members))
    parts = [given.of_slice(at) for at in slices]
    rows = [np.flatnonzero(given.slice == at) for at in slices]
    observed, heavy, centred = np.empty(len(given.z)), np.empty(len(given.z)), []
    for (z, weights), of_part in zip(parts, rows, strict=True):
        mean, error, effective = mean_and_error(z, weights)
        observed[of_part] = studentised(mean, error)
        # The degrees of freedom of the t test, so that unequal weights alone do not make a tail heavy.
        heavy[of_part] = -_HEAVY_MULTIPLE * extra("scipy.special").stdtrit(effective - 1, _HEAVY_TAIL)
        centred.append(np.where(error[:, np.newaxis] == 0, 0.0, z - mean[:, np.newaxis]))

    def of(drawn: Sequence[Floats], out: Floats) -> Floats:
        for all_z, (_, weights), of_part, counts in zip(centred, parts, rows, drawn, strict=True):
            share = weights[:, np.newaxis] / (weights @ counts)
            of_mean = counts * share
            with np.errstate(divide="ignore", invalid="ignore"):
                # The share of a topic that is not drawn may be 1.
                of_topic = np.where(counts > 0, of_mean * share / (1 - share), 0.0)
            total, group = of_topic.sum(axis=0), max(1, _GROUP // counts.shape[1])
            for start in range(0, len(all_z), group):
                z = all_z[start : start + group]
                mean, squares = z @ of_mean, z**2 @ of_topic
                error = squares - 2 * mean * (z @ of_topic) + mean**2 * total
                mean[np.abs(mean) <= TOLERANCE * np.abs(z).max(axis=1, initial=0.0)[:, np.newaxis]] = 0.0
                error[error <= TOLERANCE * squares] = 0.0
                out[of_part[start : start + group]] = studentised(mean, np.sqrt(error))
        return out

    finite = np.where(np.isinf(observed), 0.0, observed)
    correctable = np.count_nonzero(given.z, axis=1) >= FEWEST_DIFFERENT
    return Statistics(observed, TOLERANCE * np.abs(finite), correctable, of, heavy)


@dataclass(frozen=True)
class Replicates:
    """Replicates that all comparisons of a call share.

    Attributes:
        n: number of replicates, or of sign patterns whose first sign is +.
        topics: number of topics.
        exact: whether these are all sign patterns.
        draw: the next replicates of a block of some size, from the first one.
    """

    n: int
    topics: int
    exact: bool
    draw: Callable[[int, int], Any]

    @classmethod
    def of_signs(cls, given: Comparisons, n_resamples: int, rng: np.random.Generator) -> Replicates:
        """Return random signs, or all sign patterns if they are not more."""
        topics = given.z.shape[1]
        if enumerates(topics, n_resamples):
            # Bit 0, the sign of the first topic, is never set.
            patterns = 1 << max(topics - 1, 0)
            return cls(
                patterns, topics, True, lambda start, size: _signs(2 * np.arange(start, start + size), topics)
            )
        words = -(-topics // 64)
        return cls(
            n_resamples,
            topics,
            False,
            lambda _, size: _signs(rng.integers(0, 2**64, size=(size, words), dtype=np.uint64), topics),
        )

    @classmethod
    def of_topics(cls, given: Comparisons, n_resamples: int, rng: np.random.Generator) -> Replicates:
        """Return bootstrap samples of the topics of each slice, as counts."""
        streams = rng.spawn(len(given.members))
        states = [stream.bit_generator.state for stream in streams]
        sizes = np.count_nonzero(given.members, axis=1).tolist()

        def draw(start: int, size: int) -> list[Floats]:
            if start == 0:
                # Each pass over the replicates draws the same ones.
                for stream, state in zip(streams, states, strict=True):
                    stream.bit_generator.state = state
            return [topic_counts(stream, n, size) for stream, n in zip(streams, sizes, strict=True)]

        return cls(n_resamples, given.z.shape[1], False, draw)


def _signs(words: Ints | np.ndarray[Any, Any], topics: int) -> Floats:
    """Return the signs of topics, a row per replicate, from 64-bit words whose set bits are negative."""
    of_bytes = words.astype("<u8").reshape(len(words), -1).view(np.uint8)[:, : -(-topics // 8)]
    return np.take(_SIGNS_OF_BYTE, of_bytes, axis=0).reshape(len(words), -1)[:, :topics]


#: The statistic of each alternative, large values of which speak for it.
TAILS: dict[str, Callable[..., Floats]] = {
    "two-sided": np.abs,
    "greater": np.positive,
    "less": np.negative,
}


class Tail:
    """Counts of replicates whose statistics are as large as the observed ones.

    Args:
        statistics: observed statistics of the comparisons, with their margins.
        alternative: direction in which a statistic is extreme, one of ``TAILS``.
        families: comparisons that are corrected together by step-down max-t.
        alone: whether to count for ``p``, the p-values without correction, too.
    """

    def __init__(
        self,
        statistics: Statistics,
        alternative: str,
        families: Sequence[Ints] = (),
        *,
        alone: bool = True,
    ) -> None:
        self.alternative = alternative
        self._of = TAILS[alternative]
        observed = self._of(statistics.observed)
        self._least = observed - statistics.margin
        self._correctable = statistics.correctable
        # In ascending order of the statistics, for the running maximum.
        self._orders = [
            family[np.argsort(observed[family], kind="stable")]
            for family in (family[statistics.correctable[family]] for family in families)
        ]
        self._single: Ints = np.zeros(len(observed) if alone else 0, dtype=np.int64)
        self._corrected = [np.zeros(len(order), dtype=np.int64) for order in self._orders]
        self._replicates = 0

    def add(self, replicates: Floats, exact: bool) -> None:
        """Count the statistics of a block of replicates."""
        both = exact and self.alternative != "two-sided"
        for block in (replicates, -replicates) if both else (replicates,):
            self._replicates += block.shape[1]
            (self._count_groups if block.shape[1] < _LONG_ROW else self._count_rows)(block)

    def _count_rows(self, replicates: Floats) -> None:
        size, least = replicates.shape[1], self._least.tolist()
        value, largest, reached = np.empty(size), np.empty(size), np.empty(size, dtype=np.bool_)
        waiting = set(range(self._single.size))
        for order, corrected in zip(self._orders, self._corrected, strict=True):
            largest.fill(-np.inf)
            for at, row in enumerate(order.tolist()):
                self._of(replicates[row], out=value)
                np.maximum(largest, value, out=largest)
                corrected[at] += np.count_nonzero(np.greater_equal(largest, least[row], out=reached))
                if row in waiting:
                    waiting.remove(row)
                    self._single[row] += np.count_nonzero(np.greater_equal(value, least[row], out=reached))
        for row in waiting:
            self._of(replicates[row], out=value)
            self._single[row] += np.count_nonzero(np.greater_equal(value, least[row], out=reached))

    def _count_groups(self, replicates: Floats) -> None:
        """Count as ``_count_rows`` does, in calls per group of rows: a call per short row takes longer."""
        size = replicates.shape[1]
        group = _GROUP // size
        for start in range(0, self._single.size, group):
            at = slice(start, start + group)
            reached = self._of(replicates[at]) >= self._least[at, np.newaxis]
            self._single[at] += np.count_nonzero(reached, axis=1)
        for order, corrected in zip(self._orders, self._corrected, strict=True):
            largest = np.full(size, -np.inf)
            for start in range(0, len(order), group):
                at = slice(start, start + group)
                rows = order[at]
                least = self._least[rows]
                value = replicates.take(rows, axis=0)
                self._of(value, out=value)
                before, largest = largest, np.maximum(largest, value.max(axis=0))
                # The maximum of most replicates is that of the rows before: compare it by sorting.
                stays = before == largest
                corrected[at] += np.count_nonzero(stays) - np.searchsorted(np.sort(before[stays]), least)
                value, before = value[:, ~stays], before[~stays]
                np.maximum.accumulate(np.maximum(value, before, out=value), axis=0, out=value)
                corrected[at] += np.count_nonzero(value >= least[:, np.newaxis], axis=1)

    def p(self, exact: bool) -> Floats:
        """Return the p-value of each comparison alone."""
        return np.where(self._correctable, self._share(self._single, exact), 1.0)

    def p_of_families(self, exact: bool) -> list[tuple[Ints, Floats]]:
        """Return the comparisons of each family and their corrected p-values, which rise down the order."""
        found = []
        for order, corrected in zip(self._orders, self._corrected, strict=True):
            descending = np.maximum.accumulate(self._share(corrected, exact)[::-1])[::-1]
            found.append((order, descending))
        return found

    def p_corrected(self, exact: bool) -> Floats:
        """Return corrected p-values, of families without common comparisons; 1 outside of families."""
        found = np.ones(len(self._least))
        for order, p in self.p_of_families(exact):
            found[order] = p
        return found

    def _share(self, count: Ints, exact: bool) -> Floats:
        return np.asarray((count + (not exact)) / (self._replicates + (not exact)))


def count(problems: Sequence[tuple[Statistics, Sequence[Any]]], replicates: Replicates) -> None:
    """Add the statistics of all replicates, in blocks that fit in memory, to the tails of each problem."""
    rows = max(len(statistics.observed) for statistics, _ in problems)
    most = max(_FEWEST_REPLICATES, _MOST_STATISTICS // rows)
    block = max(1, min(replicates.n, _MOST_REPLICATES, most, _MOST_DRAWN // replicates.topics))
    # One array for all blocks: two at a time would not fit into 64 MiB.
    space = np.empty(rows * block)
    for start in range(0, replicates.n, block):
        size = min(block, replicates.n - start)
        drawn = replicates.draw(start, size)
        for statistics, tails in problems:
            shape = len(statistics.observed), size
            found = statistics.of(drawn, space[: math.prod(shape)].reshape(shape))
            for tail in tails:
                tail.add(found, replicates.exact)


class _Beyond:
    """Counts of replicates whose statistics are larger than a limit, in either direction."""

    def __init__(self, limit: Floats) -> None:
        self._limit = limit[:, np.newaxis]
        self.count: Ints = np.zeros(len(limit), dtype=np.int64)

    def add(self, replicates: Floats, _: bool) -> None:
        """Count the statistics of a block of replicates."""
        for beyond in (replicates > self._limit, replicates < -self._limit):
            self.count += np.count_nonzero(beyond, axis=1)


def trimmed(statistics: Statistics, families: Sequence[Ints], replicates: Replicates) -> Bools:
    """Return which comparisons leave their families, because their tails would decide for all others.

    Statistics of replicates are centred, so a constant in the differences changes nothing. Families of one
    stay, and all have the same size.
    """
    if statistics.heavy is None or max(map(len, families), default=0) < 2:  # noqa: PLR2004
        return np.zeros(len(statistics.observed), dtype=np.bool_)
    beyond = _Beyond(statistics.heavy)
    count([(statistics, [beyond])], replicates)
    return ~statistics.correctable | (beyond.count > _HEAVY_SHARE * replicates.n)
