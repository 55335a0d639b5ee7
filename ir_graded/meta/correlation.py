"""Rank correlations of two sets of scores of the same systems, where higher is better.

Series and mappings are aligned by name. Ties are scores that are exactly equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats
from ir_graded.errors import InputError, format_ids

from .matrix import (
    FEWEST,
    as_cells,
    as_finite,
    check_direction,
    check_unique,
    matrices_by_measure,
    means_of,
    reference_name,
)

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


def kendall_tau(a: Any, b: Any) -> float:
    """Return Kendall's tau-a (Kendall 1938) of two rankings of the same systems.

    ``tau = (concordant - discordant) / (L * (L - 1) / 2)`` over the pairs of L systems. A pair that is tied
    in either ranking counts as neither. In [-1, 1], symmetric.

    Args:
        a: scores of L systems: an array, or a Series or mapping, which are aligned by name.
        b: other scores of the same systems.

    Raises:
        InputError: fewer than two systems, a score that is not finite, or systems that differ.

    Example:
        >>> round(kendall_tau([0.1, 0.2, 0.3], [0.1, 0.3, 0.2]), 4)
        0.3333
    """
    x, y, _ = align(a, b, "a", "b")
    return float(_concordance(x, y) / (len(x) * (len(x) - 1) / 2))


def kendall_tau_b(a: Any, b: Any) -> float:
    """Return Kendall's tau-b (Kendall 1945), which corrects for ties.

    ``tau_b = (concordant - discordant) / sqrt(P(a) * P(b))``, where ``P`` is the number of pairs that are not
    tied in that ranking. Without ties it equals tau-a. In [-1, 1], symmetric; NaN if all systems of a ranking
    are tied.

    Args:
        a: scores of L systems: an array, or a Series or mapping, which are aligned by name.
        b: other scores of the same systems.

    Raises:
        InputError: fewer than two systems, a score that is not finite, or systems that differ.

    Example:
        >>> round(kendall_tau_b([0.1, 0.2, 0.2], [0.1, 0.2, 0.3]), 4)
        0.8165
    """
    x, y, _ = align(a, b, "a", "b")
    if not (pairs := np.sqrt([np.count_nonzero(_is_above(one, one)) for one in (x, y)])).all():
        return float("nan")
    return min(max(float(_concordance(x, y) / pairs[0] / pairs[1]), -1.0), 1.0)


def tau_ap(reference: Any, estimate: Any) -> float:
    """Return the AP correlation, a tau with more weight at the top (Yilmaz, Aslam and Robertson 2008).

    ``tau_ap = 2 / (L - 1) * sum_{i=2..L} n(i) / (i - 1) - 1``, where ``n(i)`` is the number of systems above
    rank i of the estimate that are also above that system in the reference. In [-1, 1], not symmetric.

    Args:
        reference: scores of L systems, none of them tied.
        estimate: other scores of the same systems, none of them tied.

    Raises:
        InputError: fewer than two systems, a score that is not finite, ties, or systems that differ.

    Example:
        >>> tau_ap([0.3, 0.2, 0.1], [0.2, 0.3, 0.1]), tau_ap([0.3, 0.2, 0.1], [0.3, 0.1, 0.2])
        (0.0, 0.5)
    """
    x, y, systems = align(reference, estimate, "reference", "estimate")
    _reject_ties(x, systems, "reference")
    _reject_ties(y, systems, "estimate")
    ranked = x[np.argsort(-y)]
    agreeing = np.triu(_is_above(ranked, ranked)).sum(axis=0)
    return float(2 / (len(x) - 1) * (agreeing[1:] / np.arange(1, len(x))).sum() - 1)


def tau_ap_a(reference: Any, estimate: Any) -> float:
    """Return the mean of tau_ap over all orders of ties in the estimate (Urbano and Marrero 2017).

    In a group of t systems that begins at rank p, each system is k = 0..t-1 places below rank p equally
    often, with k of the t-1 others above it. It adds the mean over k of
    ``(c + g * k / (t - 1)) / (p - 1 + k)`` to the sum of tau_ap. ``c`` is the number of systems above the
    group, and ``g`` of those within the group, that are above the system in the reference. In [-1, 1], not
    symmetric; without ties it equals tau_ap.

    Args:
        reference: scores of L systems, none of them tied.
        estimate: other scores of the same systems.

    Raises:
        InputError: fewer than two systems, a score that is not finite, a tied reference, or other systems.

    Example:
        >>> tau_ap_a([0.3, 0.2, 0.1], [0.5, 0.5, 0.1])
        0.5
    """
    x, y, systems = align(reference, estimate, "reference", "estimate")
    _reject_ties(x, systems, "reference")
    total = 0.0
    for score in np.unique(y):
        group, above = y == score, y > score
        place = np.arange(np.count_nonzero(group))
        weight = 1 / np.maximum(np.count_nonzero(above) + place, 1)
        outside, inside = (np.count_nonzero(_is_above(x[others], x[group])) for others in (above, group))
        terms = outside * weight.sum() + inside * (weight * place).sum() / max(len(place) - 1, 1)
        total += terms / len(place)
    return float(2 / (len(x) - 1) * total - 1)


def tau_ap_b(a: Any, b: Any) -> float:
    """Return the AP correlation with ties in both rankings, symmetric (Urbano and Marrero 2017).

    This is the mean over the two directions of ``2 / m * sum c_i / (p_i - 1) - 1``. The sum is over the m
    systems outside the top tie group of the estimate of that direction, ``p_i`` is the rank of the first
    member of the tie group of i, and ``c_i`` the number of systems strictly above i in both rankings. In
    [-1, 1]; without ties the mean of tau_ap in the two directions, NaN if all systems of a ranking are tied.

    Args:
        a: scores of L systems: an array, or a Series or mapping, which are aligned by name.
        b: other scores of the same systems.

    Raises:
        InputError: fewer than two systems, a score that is not finite, or systems that differ.

    Example:
        >>> round(tau_ap_b([0.3, 0.2, 0.2, 0.1], [0.5, 0.5, 0.1, 0.0]), 4)
        0.4167
    """
    x, y, _ = align(a, b, "a", "b")
    agreeing = (_is_above(x, x) & _is_above(y, y)).sum(axis=0)
    ways = []
    for estimate in (x, y):
        above = _is_above(estimate, estimate).sum(axis=0)
        outside = above > 0
        ways.append(2 * (agreeing[outside] / above[outside]).mean() - 1 if outside.any() else np.nan)
    return float(sum(ways) / 2)


@dataclass(frozen=True, eq=False, repr=False)
class RankCorrelations(Result):
    """Rank correlations of several measures with a reference measure.

    Attributes:
        reference: the measure that the others are compared with.
        measures: names of all measures.
        runs: names of the systems, in the order of the score matrices.
        kendall: Kendall's tau of each measure with the reference.
        kendall_variant: ``"tau"``, or ``"tau_b"`` if one of the two rankings has ties.
        tau_ap: AP correlation of each measure, as the estimate, with the reference.
        tau_ap_variant: ``"tau_ap"``, ``"tau_ap_a"`` or ``"tau_ap_b"``.
        tied: whether any systems are tied, by measure.
        matrix: Kendall's tau_b of all pairs of measures, measures x measures.
    """

    reference: str
    measures: tuple[str, ...]
    runs: tuple[Hashable, ...]
    kendall: Floats
    kendall_variant: tuple[str, ...]
    tau_ap: Floats
    tau_ap_variant: tuple[str, ...]
    tied: Bools
    _taus: Floats

    ROWS: ClassVar = {"measure": "measures"}
    COLUMNS: ClassVar = ("kendall", "kendall_variant", "tau_ap", "tau_ap_variant")

    @cached_property
    def matrix(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._taus, list(self.measures), list(self.measures), copy=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per measure with columns kendall, kendall_variant, tau_ap, tau_ap_variant."""
        return super().to_frame().set_index("measure")

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot a heat map of Kendall's tau of all pairs of measures."""
        from ir_graded.plots.meta import tau_heat_map

        return tau_heat_map(self.matrix, tied=bool(self.tied.any()), ax=ax)


def rank_correlations(by_measure: Any, reference: Any) -> RankCorrelations:
    """Correlate the rankings of systems by measures, using means over the topics.

    Without ties tau and tau_ap are used, else tau_b, with tau_ap_a if the reference (the truth) has no ties,
    or tau_ap_b. Means are rounded to 12 decimals, so that the order of topics neither makes nor breaks a tie.

    Args:
        by_measure: result of ``ir_graded.evaluate``, or a mapping from measure to score matrix, topics x
            systems, which are aligned by name.
        reference: measure to compare the others with, as an object or by its printed name.

    Raises:
        InputError: the reference is missing, a matrix is wrong, or topics or systems differ.

    Source: Sakai and Robertson (2008), Tables 4 and 5.

    Example:
        >>> ap = [[0.9, 0.5, 0.3], [0.8, 0.4, 0.2]]
        >>> rr = [[1.0, 0.5, 0.5], [1.0, 1.0, 1.0]]
        >>> rank_correlations({"AP": ap, "RR": rr}, reference="AP").to_frame().round(3)
                 kendall kendall_variant  tau_ap tau_ap_variant
        measure
        AP         1.000             tau    1.00         tau_ap
        RR         0.816           tau_b    0.75       tau_ap_a
    """
    matrices = matrices_by_measure(by_measure)
    check_direction(by_measure, matrices)
    name = reference_name(reference, matrices)
    measures = tuple(matrices)
    means = [means_of(matrix) for matrix in matrices.values()]
    tied = np.array([len(np.unique(mean)) < len(mean) for mean in means])
    taus = np.array([[kendall_tau_b(one, other) for other in means] for one in means])
    at = measures.index(name)
    of_ap, variants = zip(*(fitting_tau_ap(means[at], mean) for mean in means), strict=True)
    return RankCorrelations(
        reference=name,
        measures=measures,
        runs=next(iter(matrices.values())).runs,
        kendall=taus[at].copy(),
        kendall_variant=tuple("tau_b" if ties else "tau" for ties in tied | tied[at]),
        tau_ap=np.array(of_ap),
        tau_ap_variant=variants,
        tied=tied,
        _taus=taus,
    )


def fitting_tau_ap(reference: Floats, estimate: Floats) -> tuple[float, str]:
    """Return the AP correlation of two rankings in the variant for their ties, and the variant name."""
    if len(np.unique(reference)) < len(reference):
        return tau_ap_b(reference, estimate), "tau_ap_b"
    if len(np.unique(estimate)) < len(estimate):
        return tau_ap_a(reference, estimate), "tau_ap_a"
    return tau_ap(reference, estimate), "tau_ap"


def _concordance(x: Floats, y: Floats) -> int:
    """Return the number of concordant pairs less that of discordant pairs."""
    # Compare instead of subtracting: differences of very large scores overflow.
    above = _is_above(x, x), _is_above(y, y)
    return int(np.count_nonzero(above[0] & above[1]) - np.count_nonzero(above[0] & above[1].T))


def _is_above(one: Floats, other: Floats) -> Bools:
    """Return whether the system of each row is above that of each column."""
    return np.asarray(one[:, np.newaxis] > other)


def _reject_ties(scores: Floats, systems: tuple[Hashable, ...], which: str) -> None:
    values, counts = np.unique(scores, return_counts=True)
    if len(values) == len(scores):
        return
    best = values[counts > 1].max()
    tied = [name for name, score in zip(systems, scores, strict=True) if score == best]
    advice = "use tau_ap_a for ties in the estimate, tau_ap_b for ties in both"
    raise InputError(f"systems {format_ids(tied)} are tied in the {which}: {advice}")


def align(a: Any, b: Any, first: str, second: str) -> tuple[Floats, Floats, tuple[Hashable, ...]]:
    """Return the scores of both rankings in the same order, and the names or numbers of the systems."""
    (x, own), (y, other) = _scores_and_names(a, first), _scores_and_names(b, second)
    if own and other:
        if differing := sorted(set(own) ^ set(other), key=str):
            where = first if differing[0] in set(own) else second
            raise InputError(f"systems differ: {differing[0]!r} is in the {where} only")
        place = {name: at for at, name in enumerate(other)}
        y = y[[place[name] for name in own]]
    if len(x) != len(y):
        raise InputError(f"{first} has {len(x)} systems, {second} has {len(y)}")
    systems = own or other or tuple(range(len(x)))
    if len(x) < FEWEST:
        raise InputError(f"at least {FEWEST} systems are needed, found {len(x)}")
    return x, y, systems


def _scores_and_names(given: Any, which: str) -> tuple[Floats, tuple[Hashable, ...]]:
    """Return scores and their names, if they have any."""
    names: tuple[Hashable, ...] = ()
    if isinstance(given, Mapping):
        names, given = tuple(given), list(given.values())
    elif hasattr(given, "index") and hasattr(given, "to_numpy"):
        names = tuple(given.index)
    cells = as_cells(given, which, "one number per system", dimensions=1)
    check_unique("system", names, which)
    systems = names or range(len(cells))
    return as_finite(cells, lambda at: f"{which}: the score of system {systems[at]!r}"), names
