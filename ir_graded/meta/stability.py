"""Stability: how often topic sets order the same two systems differently (Buckley and Voorhees, 2000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.arrays import read_only
from ir_graded._utils.short_reprs import ShortRepr
from ir_graded.core.segments import Floats, Ints

from .matrix import ScoreMatrix
from .options import check_options, fuzziness_values
from .resampling import Seed, generator, replicate_blocks_with_progress, topic_counts

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure

_FUZZINESS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10)
#: Differences below this share are rounding errors: sums in another order differ by about 1e-15.
_TOLERANCE = 1e-12
_SMALLEST = float(np.nextafter(0.0, 1.0))
_MOST_IN_BYTE = 255


@dataclass(frozen=True, eq=False, repr=False)
class Stability(ShortRepr):
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

    def to_frame(self) -> pd.DataFrame:
        """Return a row per fuzziness value: columns fuzziness, minority_rate, proportion_of_ties."""
        import pandas as pd

        return pd.DataFrame(
            {
                "fuzziness": self.fuzziness,
                "minority_rate": self.minority_rate,
                "proportion_of_ties": self.proportion_of_ties,
            }
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the minority rate against the proportion of ties."""
        from ir_graded.plots.meta import stability_curves

        return stability_curves({"": self}, ax)


def stability(
    scores: Any,
    *,
    fuzziness: Sequence[float] = _FUZZINESS,
    n_resamples: int = 1000,
    rng: Seed = 0,
    memory_mib: float = 64,
) -> Stability:
    """Compute minority rate and proportion of ties of a measure over bootstrap topic sets.

    On each topic set, with means ``M``, a pair of systems X and Y counts as a tie, ``EQ``, when
    ``|M(X) - M(Y)| < f * max(M(X), M(Y))`` or ``M(X) = M(Y)``, else as ``GT(X, Y)`` or ``GT(Y, X)``. Then
    ``minority rate = sum over pairs of min(GT(X, Y), GT(Y, X)) / sum of all counts`` and
    ``proportion of ties = sum over pairs of EQ / sum of all counts``.

    The result does not depend on rounding or on the size of the blocks: means count as equal if they differ
    by at most 1e-12 of the largest score, and a difference that misses the margin by less than 1e-12 of the
    larger mean has reached it. Systems with the same scores tie, in any order of the topics.

    Args:
        scores: the score matrix of one measure, topics x systems.
        fuzziness: values of f, each in [0, 1).
        n_resamples: number of topic sets, at least 1.
        rng: a seed or a ``numpy.random.Generator``.
        memory_mib: limit of the working memory, inf for no limit; the result does not depend on it.

    Raises:
        InputError: the matrix has fewer than two topics or systems, a score that is not finite, or a
            duplicate name.
        ParameterError: a parameter is out of its range.

    Source: Buckley and Voorhees (2000), with bootstrap samples of the topics as in Sakai (2007).

    Example:
        >>> from ir_graded.meta.stability import stability
        >>> scores = [[0.9, 0.1, 0.5], [0.8, 0.2, 0.1], [0.7, 0.3, 0.6]]
        >>> stability(scores, fuzziness=[0.05, 0.1], n_resamples=200).to_frame().round(2)
           fuzziness  minority_rate  proportion_of_ties
        0       0.05           0.01                 0.0
        1       0.10           0.01                 0.0
    """
    check_options(n_resamples=n_resamples, memory_mib=memory_mib)
    margins = np.array(fuzziness_values(fuzziness))
    matrix = ScoreMatrix.of(scores)
    topics, systems = matrix.values.shape
    source = generator(rng)
    rounding = _TOLERANCE * topics * float(np.abs(matrix.values).max())
    thresholds = np.maximum(np.sort(margins) - _TOLERANCE, _SMALLEST)
    by_margins = np.zeros((2, len(thresholds) + 1, systems, systems), dtype=np.int64)
    for size in replicate_blocks_with_progress(n_resamples, topics + systems, memory_mib):
        totals = matrix.values.T @ topic_counts(source, topics, size)
        for x in range(systems - 1):
            difference = _relative_difference(totals[x], totals[x + 1 :], rounding)
            by_margins[:, :, x, x + 1 :] += _count_by_margins_reached(difference, thresholds)
    comparisons = n_resamples * (systems * (systems - 1) // 2)
    reached = by_margins[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    ascending = np.argsort(margins, kind="stable")
    minority, decided = np.empty_like(margins), np.empty_like(margins)
    minority[ascending] = reached.min(axis=0).sum(axis=(1, 2))
    decided[ascending] = reached.sum(axis=(0, 2, 3))
    return Stability(
        fuzziness=read_only(margins),
        minority_rate=read_only(minority / comparisons),
        proportion_of_ties=read_only((comparisons - decided) / comparisons),
        n_resamples=n_resamples,
    )


def _relative_difference(one: Floats, others: Floats, rounding: float) -> Floats:
    """Return ``(M(X) - M(Y)) / max(M(X), M(Y))``, shape ``(others, replicates)``.

    Infinite if the larger mean, and therefore the margin, is not above 0.
    """
    difference = one - others
    difference[np.abs(difference) <= rounding] = 0.0
    larger = np.maximum(one, others)
    positive = larger > 0
    np.divide(difference, larger, out=difference, where=positive)
    if not positive.all():
        difference[~positive & (difference > 0)] = np.inf
        difference[~positive & (difference < 0)] = -np.inf
    return difference


def _count_by_margins_reached(difference: Floats, thresholds: Floats) -> Ints:
    """Count replicates by the number of margins by which X (first) or Y exceeds the other.

    Shape ``(2, thresholds + 1, others)``; one pass over pairs and replicates serves all margins.
    """
    others, kinds = len(difference), 2 * (len(thresholds) + 1)
    margins = np.zeros(difference.shape, dtype=np.uint8 if len(thresholds) <= _MOST_IN_BYTE else np.intp)
    size = np.abs(difference)
    for threshold in thresholds:
        margins += (size >= threshold).view(np.uint8)
    kind = margins + (kinds // 2) * (difference < 0) + kinds * np.arange(others)[:, np.newaxis]
    counts = np.bincount(kind.reshape(-1), minlength=others * kinds)
    return counts.reshape(others, 2, -1).transpose(1, 2, 0).astype(np.int64, copy=False)
