"""The one place that makes randomness: resampled topic sets, as vectors of counts.

All measures and all pairs of systems of one call see the same replicates. The same seed gives the same
numbers on every machine and however many replicates are drawn at a time.
"""

from __future__ import annotations

import numpy as np

from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import ParameterError

Seed = int | np.random.Generator


def generator(rng: Seed) -> np.random.Generator:
    """The generator of a seed; a generator is itself. Raises ParameterError for anything else."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise ParameterError(f"rng={rng!r} must be a whole number >= 0 (a seed) or a numpy.random.Generator")


def topic_counts(rng: np.random.Generator, topics: int, replicates: int) -> Floats:
    """Bootstrap samples: how often each topic was drawn, shape ``(topics, replicates)``.

    A replicate is as many topics as there are, drawn with replacement.
    """
    return _counted(rng.integers(0, topics, size=(replicates, topics)), topics)


def topic_count_pairs(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Floats]:
    """Two independent bootstrap samples a trial, each of shape ``(topics, trials)``."""
    drawn = rng.integers(0, topics, size=(trials, 2, topics))
    return _counted(drawn[:, 0], topics), _counted(drawn[:, 1], topics)


def disjoint_halves(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Floats]:
    """Two disjoint sets of floor(topics/2) topics a trial, as counts of 0 and 1."""
    order = rng.permuted(np.tile(np.arange(topics), (trials, 1)), axis=1)
    half = topics // 2
    return _counted(order[:, :half], topics), _counted(order[:, half : 2 * half], topics)


def sign_flips(rng: np.random.Generator, topics: int, replicates: int) -> Floats:
    """Signs +1 and -1, shape ``(topics, replicates)``."""
    return np.asarray(1.0 - 2.0 * rng.integers(0, 2, size=(replicates, topics))).T


def permuted_rows(rng: np.random.Generator, values: Floats) -> Floats:
    """A score matrix with the scores of each topic dealt out to the systems at random."""
    return rng.permuted(values, axis=1)


def _counted(drawn: Ints, topics: int) -> Floats:
    sets = drawn.shape[0]
    cell = drawn + topics * np.arange(sets)[:, np.newaxis]
    counts = np.bincount(cell.reshape(-1), minlength=sets * topics).reshape(sets, topics)
    return np.ascontiguousarray(counts.T, dtype=np.float64)
