"""Agreement between sets of labels, from confusion matrices of shape ``(..., levels, levels)``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, ParameterError, check_choice

from .matrix import FEWEST, as_cells, as_finite, check_unique, number_of
from .options import Seed, generator, statistic
from .replicates import topic_counts

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure

MEASUREMENTS = ("nominal", "ordinal", "interval")
#: With more levels than this (soft labels), coefficients of classes are not computed.
_MOST_LEVELS = 20
_FEW_TOPICS = 10
_NAMES = (
    *("observed", "kappa", "kappa_linear", "kappa_quadratic"),
    *("ac1", "ac2_linear", "ac2_quadratic", "alpha", "overlap"),
)
_ALPHA = _NAMES.index("alpha")
#: Name in tables for all sets together, of which only alpha is defined.
ALL_SETS = "all sets"


def _weights(levels: Floats, power: int) -> Floats:
    """Return weights of agreement from the values of the levels; with power 0 only equal levels agree."""
    if not power:
        return np.eye(len(levels))
    return np.asarray(1 - (np.abs(levels[:, np.newaxis] - levels) / (levels[-1] - levels[0])) ** power)


def _corrected(counts: Floats, weights: Floats, chance: Floats) -> Floats:
    """Return (po - pe) / (1 - pe) from counts, where ``chance`` is pe times the square of their sum."""
    total = counts.sum(axis=(-2, -1))
    observed = (counts * weights).sum(axis=(-2, -1))
    return np.asarray((observed * total - chance) / (total**2 - chance))


def _kappa(counts: Floats, weights: Floats) -> Floats:
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    return _corrected(counts, weights, ((rows @ weights) * columns).sum(axis=-1))


def _gwet(counts: Floats, weights: Floats) -> Floats:
    total = counts.sum(axis=(-2, -1))[..., np.newaxis]
    both = (counts.sum(axis=-1) + counts.sum(axis=-2)) / 2
    share = weights.sum() / (len(weights) * (len(weights) - 1))
    return _corrected(counts, weights, share * (both * (total - both)).sum(axis=-1))


@dataclass(frozen=True)
class _Classes:
    """Coefficients from confusion matrices, for few levels."""

    levels: Floats
    rel: float
    measurement: str

    def collect(self, topic: Ints, labels: Floats, topics: int) -> Floats:
        """Return a confusion matrix of two sets for each topic, shape ``(topics, levels, levels)``."""
        size = len(self.levels)
        one, two = np.searchsorted(self.levels, labels).T
        counts = np.bincount((topic * size + one) * size + two, minlength=topics * size * size)
        return counts.reshape(topics, size, size).astype(np.float64)

    def collect_all(self, topic: Ints, labels: Floats, topics: int) -> Floats:
        """Return half the coincidences of rows with several labels, shape ``(topics, levels, levels)``."""
        of_level = np.stack([np.count_nonzero(labels == level, axis=1) for level in self.levels])
        share = 0.5 / (of_level.sum(axis=0) - 1)
        sums = [
            np.bincount(topic, share * one * (of_level[at] - (at == number)), topics).astype(np.float64)
            for number, one in enumerate(of_level)
            for at in range(len(of_level))
        ]
        return np.stack(sums, axis=1).reshape(topics, len(self.levels), len(self.levels))

    def coefficients(self, counts: Floats) -> Floats:
        """Return the coefficients of confusion matrices, shape ``(..., coefficients)``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            total = counts.sum(axis=(-2, -1))
            # On a scale of one level, all labels agree.
            found = [np.where(total > 0, 1.0, np.nan)] * (len(_NAMES) - 1)
            if len(self.levels) >= FEWEST:
                weights = [_weights(self.levels, power) for power in range(3)]
                found = [
                    np.trace(counts, axis1=-2, axis2=-1) / total,
                    *(_kappa(counts, weight) for weight in weights),
                    *(_gwet(counts, weight) for weight in weights),
                    self._alpha(counts + np.swapaxes(counts, -2, -1)),
                ]
            start = int(np.searchsorted(self.levels, self.rel))
            both = counts[..., start:, start:].sum(axis=(-2, -1))
            neither = counts[..., :start, :start].sum(axis=(-2, -1))
            return np.stack([*found, both / (total - neither)], axis=-1)

    def _alpha(self, coincidences: Floats) -> Floats:
        """Return Krippendorff's alpha."""
        margins = coincidences.sum(axis=-1)
        ordinal = self.measurement == "ordinal"
        place = margins.cumsum(axis=-1) - margins / 2 if ordinal else self.levels
        distance: Floats = (place[..., :, np.newaxis] - place[..., np.newaxis, :]) ** 2
        if self.measurement == "nominal":
            distance = 1 - np.eye(len(self.levels))
        expected = margins[..., :, np.newaxis] * margins[..., np.newaxis, :] * distance
        observed = (coincidences * distance).sum(axis=(-2, -1))
        return np.asarray(1 - (margins.sum(axis=-1) - 1) * observed / expected.sum(axis=(-2, -1)))


@dataclass(frozen=True)
class _Soft:
    """Alpha of interval labels from sums, for many levels; a ``centre`` between them keeps sums exact."""

    centre: float
    measurement: str

    def collect(self, topic: Ints, labels: Floats, topics: int) -> Floats:
        """Return disagreement, number, sum and sum of squares of each topic, shape ``(topics, 4)``."""
        number = np.count_nonzero(~np.isnan(labels), axis=1)
        total, squares = (np.nansum((labels - self.centre) ** power, axis=1) for power in (1, 2))
        disagreement = 2 * (number * squares - total**2) / (number - 1)
        sums = [np.bincount(topic, values, topics) for values in (disagreement, number, total, squares)]
        return np.stack(sums, axis=1)

    collect_all = collect

    def coefficients(self, sums: Floats) -> Floats:
        """Return the coefficients, NaN except for alpha; shape ``(..., coefficients)``."""
        found = np.full((*sums.shape[:-1], len(_NAMES)), np.nan)
        observed, number, total, squares = np.moveaxis(sums, -1, 0)
        if self.measurement == "interval":
            with np.errstate(divide="ignore", invalid="ignore"):
                found[..., _ALPHA] = 1 - (number - 1) * observed / (2 * (number * squares - total**2))
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Agreement between sets of labels, the result of :func:`agreement`.

    Attributes:
        sets: names of the sets.
        topics: ids of the topics.
        levels: the levels of all sets, ascending.
        pairs: numbers of the two sets that are compared, for each comparison.
        counts: pairs of a topic and a document by both levels, shape ``(comparisons, topics, levels,
            levels)``; empty if there are more than 20 levels.
        covered: number of pairs per comparison and topic in the first set only, the second only, and both.
        values: coefficients, shape ``(comparisons, coefficients)``, with alpha of more than two sets last.
        low: lower ends of the intervals, with the same shape.
        high: upper ends.
        undefined: number of replicates in which the coefficient is undefined.
        measurement: distance between levels in alpha.
        confidence: confidence level of the intervals, such as 0.95.
    """

    sets: tuple[Hashable, ...]
    topics: tuple[Hashable, ...]
    levels: Floats
    pairs: tuple[tuple[int, int], ...]
    counts: Floats
    covered: Ints
    values: Floats
    low: Floats
    high: Floats
    undefined: Ints
    measurement: str
    confidence: float
    _by_topic: Floats

    @property
    def few_topics(self) -> bool:
        """Whether fewer than ten topics have pairs in several sets, so that intervals are too short."""
        return bool(np.count_nonzero(self.covered[:, :, 2].any(axis=0)) < _FEW_TOPICS)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per pair of sets and coefficient; with more than two sets, the last is alpha of all.

        Columns: a, b, coefficient, value, low, high, undefined, few_topics. Coefficients: ``observed``
        agreement, Cohen's ``kappa`` and its linear and quadratic weights, Gwet's ``ac1``, and ``ac2`` with
        these weights, Krippendorff's ``alpha``, and the ``overlap`` of relevant pairs.
        """
        import pandas as pd

        names = [(self.sets[one], self.sets[two], name) for one, two in self.pairs for name in _NAMES]
        rows = [*range(len(names))]
        if len(self.values) > len(self.pairs):
            rows.append(len(names) + _ALPHA)
            names.append((ALL_SETS, ALL_SETS, "alpha"))
        return pd.DataFrame(names, columns=["a", "b", "coefficient"]).assign(
            value=self.values.reshape(-1)[rows],
            low=self.low.reshape(-1)[rows],
            high=self.high.reshape(-1)[rows],
            undefined=self.undefined.reshape(-1)[rows],
            few_topics=self.few_topics,
        )

    def matrix(self, coefficient: str) -> pd.DataFrame:
        """Return one coefficient of all pairs of sets, sets x sets, with its mean in a last column."""
        import pandas as pd

        check_choice("coefficient", coefficient, _NAMES)
        cells = np.full((len(self.sets), len(self.sets)), np.nan)
        for (one, two), value in zip(self.pairs, self.values[:, _NAMES.index(coefficient)], strict=False):
            cells[one, two] = cells[two, one] = value
        means = pd.DataFrame(cells).mean(axis=1).to_numpy()
        np.fill_diagonal(cells, 1.0)
        return pd.DataFrame(cells, list(self.sets), list(self.sets)).assign(mean=means)

    def confusion(self, comparison: int = 0) -> pd.DataFrame:
        """Return the confusion matrix of two sets: levels in the first (rows) and the second set."""
        import pandas as pd

        levels = self.levels[: self.counts.shape[-1]]
        rows, columns = (pd.Index(levels, name=self.sets[number]) for number in self.pairs[comparison])
        return pd.DataFrame(self.counts[comparison].sum(axis=0).astype(np.int64), rows, columns)

    def by_topic(self, comparison: int = 0) -> pd.DataFrame:
        """Return a row per topic: number of pairs in the first set, the second and both; coefficients."""
        import pandas as pd

        index = pd.Index(self.topics, name="query_id", tupleize_cols=False)
        covered = pd.DataFrame(self.covered[comparison], index, ["a_only", "b_only", "both"])
        return covered.join(pd.DataFrame(self._by_topic[comparison], index, list(_NAMES)))

    def plot(self, comparison: int = 0, ax: Axes | None = None) -> Figure:
        """Plot the confusion matrix of two sets, with at most 20 levels, into ``ax`` or a new figure."""
        from ir_graded.plots.meta import confusion_matrix

        if not self.counts.size:
            raise InputError(f"the labels have {len(self.levels)} levels, too many for a confusion matrix")
        return confusion_matrix(self.confusion(comparison), ax)


@statistic(measurement=MEASUREMENTS)
def agreement(  # noqa: PLR0913  # options, all by keyword
    labels: Any,
    *,
    topics: Sequence[Hashable] | None = None,
    reference: Hashable | None = None,
    measurement: str = "ordinal",
    rel: float = 1,
    levels: Sequence[float] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    rng: Seed = 0,
) -> Agreement:
    """Compute the agreement of sets of labels: coefficients of all pairs and alpha of all, with intervals.

    Let p be the confusion matrix divided by its sum, and w the weights by the values of the levels (identity,
    linear, quadratic). Then ``po = sum w p``; Cohen's kappa is ``(po - pe) / (1 - pe)`` with
    ``pe = sum w_ij p_i. p_.j``; Gwet's AC has ``pe = sum w / (q (q-1)) * sum pi (1 - pi)``, where pi is the
    mean of both margins and q the number of levels. Krippendorff's ``alpha = 1 - Do / De`` uses coincidences:
    a row with m labels adds its ordered pairs of labels divided by m - 1. Kappa is low if nearly all labels
    are equal; AC is not. If the scale has one level, all these coefficients are 1; if it has several and all
    labels have one level, kappa and alpha are undefined (NaN). For the intervals, topics are drawn with
    replacement and the coefficient is that of the sum of their matrices.

    Args:
        labels: a table with a row per topic and document and a column per set; NaN for a missing label.
        topics: topic of each row; by default the first level of the index of the table.
        reference: a set to compare all others with; by default all pairs of sets are compared.
        measurement: distance between levels in alpha, ``'nominal'``, ``'ordinal'`` or ``'interval'``. With
            more than 20 levels, only alpha of interval labels is computed.
        rel: smallest relevant level, for the overlap (pairs relevant in both / in either).
        levels: levels of the scale; by default those in the table.
        confidence: confidence level of the intervals, between 0 and 1.
        n_resamples: number of replicates.
        rng: a seed or a generator.

    Raises:
        InputError: the labels are not such a table, or no row has two labels.
        ParameterError: an option is out of its range.

    Source: Cohen (1960, 1968); Gwet (2008); Krippendorff, "Content analysis" (2004).

    Example:
        >>> labels = [[0, 0], [0, 0], [1, 1], [2, 1], [2, 2], [0, 1]]
        >>> found = agreement(labels, topics=[1, 1, 1, 2, 2, 2]).to_frame().set_index("coefficient")
        >>> found["value"][["observed", "kappa", "alpha"]].round(3).tolist()
        [0.667, 0.52, 0.764]
    """
    table, names, of_row = _table(labels, topics)
    known = ~np.isnan(table)
    cells = as_cells([] if levels is None else list(levels), "levels", "a list of numbers", dimensions=1)
    declared = as_finite(cells, lambda place: f"levels: number {place + 1}")
    scale = np.unique(np.concatenate([table[known], declared]))
    several = known.sum(axis=1) >= FEWEST
    if not several.any():
        raise InputError("labels: no pair of a topic and a document has labels in two of the sets")
    number: dict[Hashable, int] = {}
    topic = np.array([number.setdefault(query_id, len(number)) for query_id in of_row], dtype=np.int64)
    of: _Classes | _Soft = _Soft(float(scale.mean()), measurement)
    if len(scale) <= _MOST_LEVELS:
        of = _Classes(scale, float(rel), measurement)
    pairs = tuple(combinations(range(len(names)), 2))
    if reference is not None:
        at = number_of(reference, names, "reference")
        pairs = tuple((at, other) for other in range(len(names)) if other != at)
    sums, covered = [], []
    for pair in pairs:
        one, two = known[:, pair].T
        both = np.flatnonzero(one & two)
        sums.append(of.collect(topic[both], table[both][:, pair], len(number)))
        sides = (one & ~two, two & ~one, one & two)
        covered.append(np.stack([np.bincount(topic[side], minlength=len(number)) for side in sides], axis=1))
    if len(names) > FEWEST:
        sums.append(of.collect_all(topic[several], table[several], len(number)))
    values, low, high, undefined = with_intervals(
        sums, of.coefficients, confidence, int(n_resamples), generator(rng)
    )
    if len(names) > FEWEST:
        for found in (values, low, high):
            found[-1, np.arange(len(_NAMES)) != _ALPHA] = np.nan
    counts = np.stack(sums[: len(pairs)])
    return Agreement(
        sets=names,
        topics=tuple(number),
        levels=scale,
        pairs=pairs,
        counts=counts if isinstance(of, _Classes) else np.zeros((*counts.shape[:2], 0, 0)),
        covered=np.stack(covered),
        values=values,
        low=low,
        high=high,
        undefined=undefined,
        measurement=measurement,
        confidence=float(confidence),
        _by_topic=np.stack([of.coefficients(one) for one in sums]),
    )


def with_intervals(
    sums: list[Floats],
    coefficients: Callable[[Floats], Floats],
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats, Ints]:
    """Return coefficients of sums over topics, their intervals, and numbers of undefined replicates."""
    # Topics without a pair in several sets carry no information.
    used = np.flatnonzero(sum(one.reshape(len(one), -1).any(axis=1) for one in sums))
    drawn = topic_counts(rng, len(used), n_resamples)
    tail = (1 - float(confidence)) / 2
    values = np.stack([coefficients(one.sum(axis=0)) for one in sums])
    undefined = np.zeros(values.shape, dtype=np.int64)
    low, high = ends = np.full((2, *values.shape), np.nan)
    for at, one in enumerate(sums):
        totals = drawn.T @ one[used].reshape(len(used), -1)
        replicates = coefficients(totals.reshape(-1, *one.shape[1:]))
        undefined[at] = np.count_nonzero(np.isnan(replicates), axis=0)
        some = undefined[at] < n_resamples
        ends[:, at, some] = np.nanquantile(replicates[:, some], [tail, 1 - tail], axis=0)
    return values, low, high, undefined


def _table(
    labels: Any, topics: Sequence[Hashable] | None
) -> tuple[Floats, tuple[Hashable, ...], list[Hashable]]:
    """Return labels (rows x sets, NaN if missing), the names of the sets, and the topic of each row."""
    import pandas as pd

    expected = "a table of numbers with a row per topic and document and a column per set"
    cells = as_cells(labels, "labels", expected, dimensions=2)
    names = tuple(labels.columns) if hasattr(labels, "columns") else tuple(range(cells.shape[1]))
    check_unique("set", names, "labels")
    if len(names) < FEWEST:
        raise InputError(f"labels: at least {FEWEST} sets are needed, found {len(names)}")
    if topics is not None:
        of_row = list(topics)
    elif hasattr(labels, "columns") and labels.index.nlevels >= FEWEST:
        of_row = list(labels.index.get_level_values(0))
    else:
        raise ParameterError(
            "topics is required, because the index of the labels does not hold topics and documents"
        )
    if len(of_row) != len(cells):
        raise ParameterError(f"topics has {len(of_row)} values for {len(cells)} rows of labels")
    cells = cells if cells.dtype.kind == "f" else cells.astype(object)
    known = pd.notna(cells)
    values = as_finite(
        np.where(known, cells, 0), lambda row, place: f"labels: row {row}, set {names[place]!r}: the label"
    )
    return np.where(known, values, np.nan), names, of_row
