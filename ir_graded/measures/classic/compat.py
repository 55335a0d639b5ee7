"""Compat: the rank-biased overlap of a run and its ideal list."""

from __future__ import annotations

from collections.abc import Iterator

import ir_measures
import numpy as np

from ir_graded.core import segments
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError
from ir_graded.measures.base import Contributions
from ir_graded.measures.params import Whole

from .base import Classic, register

#: Number of ranks whose weights are held in memory at a time.
_CHUNK = 1 << 18
#: Largest depth.
_DEEPEST = 10**6


@register(ir_measures.Compat)
class Compatibility(Classic):
    """Compatibility: the rank-biased overlap of the run and the ideal list that is most like it.

    ``Compat = RBO(run, ideal) / RBO(ideal, ideal)``, or with normalize=False
    ``RBO(run, ideal) * (1 - p) / (1 - p^D)``, with
    ``RBO = sum over depths d <= D of p^(d-1) * overlap(d) / d``. overlap(d) is the number of documents that
    both lists have down to rank d. The ideal list holds the documents of levels above 0, by level, then by
    rank in the run; those that were not retrieved come last in their level. D is the length of the longer
    list.

    Parameters: p in (0, 1), normalize, as in the provider of ir-measures; depth, which sets D: lists that are
    longer are cut. The program of the authors has depth=1000.

    Source: Clarke, Vtyurina and Smucker, "Assessing Top-k Preferences" (ACM TOIS, 2021).
    """

    FURTHER = {"depth": Whole("depth to which the lists are compared, at most 1,000,000")}

    def validate_params(self) -> None:
        super().validate_params()
        if not 0 < self["p"] < 1:
            example = self.measure(p=0.9)
            raise ParameterError(f"{self.measure}: p must be above 0 and below 1: for example {example}")
        if (self["depth"] or 0) > _DEEPEST:
            raise ParameterError(f"{self.measure}: depth={self['depth']} must be at most {_DEEPEST}")

    @property
    def cut(self) -> Cut:
        return Cut(float(np.nextafter(0.0, 1.0)), cutoff=self["depth"])

    def contributions(self, views: Views) -> Contributions:
        view, p = views[self.cut], self["p"]
        size, depth = view.max_retrievable, self["depth"]
        longest = np.maximum(view.hits.n_retrieved, size) if depth is None else np.full_like(size, depth)
        place, topics = self._place(view), np.arange(size.size)
        # The documents of the run, then for each topic the first depth below its ideal list.
        owner = np.concatenate((view.topic, topics))
        weight = overlap_weights(p, longest[owner], np.concatenate((np.maximum(view.n, place), size + 1)))
        term, rest = np.split(weight, [place.size])
        down_to = size if self["normalize"] else longest
        # 1 + p + p^2 + ... to the depth; expm1 keeps the digits of 1 - p^d where p is close to 1.
        norm = np.expm1(down_to * np.log(p)) / -(1.0 - p)
        if not self["normalize"]:
            return Contributions(view, term, norm, "the weights of all depths")
        return Contributions(view, term, norm + size * rest, "RBO of the ideal list with itself")

    def score(self, views: Views) -> Floats:
        # Rounding can put an ideal list above 1.
        return np.minimum(super().score(views), self.RANGE[1])

    def columns(self, views: Views) -> dict[str, Floats]:
        return {"ideal_rank": self._place(views[self.cut]).astype(np.float64)}

    def _place(self, view: View) -> Ints:
        """Return the rank of each document in the ideal list."""
        levels = view.levels
        many = levels.values.size

        def in_order() -> Ints:
            return np.sort(levels.topic * many + (many - 1 - levels.level_index))

        ideal = levels.kept("judged documents by topic and level", in_order)
        key = view.topic * many + (many - 1 - view.level_index)
        above = np.searchsorted(ideal, key) - np.searchsorted(ideal, view.topic * many)
        order = np.argsort(key, kind="stable")
        place = np.empty_like(order)
        place[order] = segments.ordinals(np.searchsorted(key[order], key[order]))
        return above + place


def overlap_weights(p: float, longest: Ints, depth: Ints) -> Floats:
    """Return the sum of p^(d-1)/d from each depth to the end of the longer list, 0 below that."""
    found = np.zeros(depth.size)
    lengths, row = np.unique(longest, return_inverse=True)
    for first, rows in _parts(lengths):
        d = np.arange(1, int(rows[-1]) + 1)
        terms = np.where(d <= rows[:, None], p ** (d - 1.0) / d, 0.0)
        left = np.cumsum(terms[:, ::-1], axis=1, dtype=np.longdouble)[:, ::-1]
        mine = np.flatnonzero((row >= first) & (row < first + rows.size) & (depth <= longest))
        found[mine] = left[row[mine] - first, depth[mine] - 1]
    return found


def _parts(lengths: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield parts of ascending lengths of lists, each with the number of its first one."""
    first = 0
    while first < lengths.size:
        # The weights of a part are as many as its longest list, for each of its lists.
        many = np.searchsorted(lengths[first:] * np.arange(1, lengths.size - first + 1), _CHUNK)
        yield first, (part := lengths[first : first + max(1, int(many))])
        first += part.size
