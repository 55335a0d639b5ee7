"""Resampled topic sets in blocks that fit in memory; a seed gives the same for every block size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ir_graded._utils.threads import progress_bar
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import CoverageWarning


class TooFewTopicsWarning(CoverageWarning):
    """Warning that a test can never be significant, because its topics have too few sign patterns."""


#: Number of arrays with a value per system (or topic) and replicate that exist at the same time.
_COPIES = 8
#: Number of values per array: few enough for the processor cache, enough to outweigh the overhead of calls.
_VALUES = 2**18
_SECONDS_BEFORE_BAR = 1.0


def replicate_blocks(n_resamples: int, rows: int, memory_mib: float = 64) -> Iterator[int]:
    """Yield numbers of replicates to draw at a time, so that arrays of ``rows`` values each stay small."""
    size = max(1, int(min(_VALUES, memory_mib * 2**20 / (8 * _COPIES)) / rows))
    for start in range(0, n_resamples, size):
        yield min(size, n_resamples - start)


def replicate_blocks_with_progress(n_resamples: int, rows: int, memory_mib: float) -> Iterator[int]:
    """Yield as ``replicate_blocks``, with a progress bar on a terminal if the work is long."""
    options: dict[str, Any] = {"unit": "replicate", "unit_scale": True, "delay": _SECONDS_BEFORE_BAR}
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
