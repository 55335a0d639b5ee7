"""Randomisation test of paired differences: p-values from all sign patterns, or from a sample of them."""

from __future__ import annotations

import numpy as np

from ir_graded.core.segments import Floats, Ints

from .resampling import replicate_blocks, sign_flips, sign_patterns
from .studentised import TOLERANCE

#: Products of more than 2^18 numbers start threads of BLAS, which wait for each other on a busy machine.
_PER_ROW = 4


def enumerates(topics: int, n_resamples: float) -> bool:
    """Return whether all ``2^topics`` sign patterns are at most the number of replicates."""
    return 1 << topics <= n_resamples


def smallest_p(topics: int, n_resamples: float, *, two_sided: bool) -> float:
    """Return the smallest p-value that a test on these topics can give; infinite replicates are allowed."""
    of_all_patterns = (2 if two_sided else 1) / float(2 ** min(topics, 1000))
    if enumerates(topics, n_resamples):
        return of_all_patterns
    return max(of_all_patterns, 1 / (n_resamples + 1))


def randomisation_p(z: Floats, n_resamples: int, rng: np.random.Generator, *, two_sided: bool) -> Floats:
    """Return p-values from differences z of shape ``(measures, systems, topics)``, equal up to rounding.

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
