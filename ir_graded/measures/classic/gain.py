"""Classics with gains by level: nDCG and ERR; Compat, the rank-biased overlap with the ideal list."""

from __future__ import annotations

from dataclasses import replace

import ir_measures
import numpy as np

from ir_graded.core import segments
from ir_graded.core.derived import Grades
from ir_graded.core.levels import Levels, Overrides
from ir_graded.core.segments import EXACT_INTEGERS_BELOW, Floats, Ints
from ir_graded.core.tie_means import by_rank
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError
from ir_graded.measures.base import (
    ABOVE_0,
    HIGHEST_EXPONENT,
    Contributions,
    Scorer,
    TiedContributions,
    doubt_of_values,
    exponential_gain,
    satisfaction,
    unsatisfied_before,
)
from ir_graded.measures.cascade import WHY_NO_IDEAL
from ir_graded.measures.classic.base import Classic, is_natural, register
from ir_graded.measures.params import Whole


@register(ir_measures.nDCG)
class DiscountedGain(Classic):
    """Normalised discounted cumulative gain.

    ``nDCG = DCG / DCG of the ideal list`` with ``DCG = sum over ranks n of gain(n) / log2(n + 1)``. The gain
    of a document is its level (dcg='log2') or 2^level - 1 (dcg='exp-log2'), and 0 for levels below 0. The
    ideal list holds all documents of the topic by gain, down to the cutoff.

    Parameters: cutoff, judged_only and gains with dcg='log2', as in trec_eval; only cutoff (required) with
    dcg='exp-log2', as in gdeval. ``gains`` first replaces the levels that it names; levels that become
    negative count as unjudged.

    Source: [jarvelin2002cumulated]; the exponential gain is of [burges2005learning].

    Lacks truncation:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.nDCG @ 1, {"1": {"a": 1, "b": 1}}
        >>> run, changed = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {nDCG@1: 1.0}
        >>> PROVIDER.calc_aggregate([ir_measures.nDCG], qrels, changed)
        {nDCG: 0.613147...}
    """

    LACKS = {"truncation": "the ideal list is also cut at rank k"}

    @property
    def exponential(self) -> bool:
        """Whether the gain is 2^level - 1."""
        return bool(self["dcg"] == "exp-log2")

    @property
    def highest_level(self) -> float:
        return HIGHEST_EXPONENT if self.exponential else super().highest_level

    @property
    def gains(self) -> Overrides:
        """Levels and their replacements, as sorted pairs."""
        return tuple(sorted((self["gains"] or {}).items()))

    def doubt(self, levels: Levels) -> str:
        gains = self["gains"] or {}
        return doubt_of_values(f"{self.measure}: gains", gains, gains, levels, ABOVE_0)

    def is_defined(self) -> bool:
        if self.exponential:
            return is_natural(self["cutoff"]) and self["gains"] is None and not self["judged_only"]
        numbers = [number for pair in (self["gains"] or {}).items() for number in pair]
        whole = all(type(number) is int and abs(number) < EXACT_INTEGERS_BELOW for number in numbers)
        return super().is_defined() and whole

    @property
    def cut(self) -> Cut:
        return Cut(ABOVE_0, bool(self["judged_only"]), self["cutoff"])

    @property
    def lowest_rel(self) -> float:
        return self._lowest_with_gain(super().lowest_rel)

    @property
    def lowest_level(self) -> float:
        return self._lowest_with_gain(super().lowest_level)

    def _lowest_with_gain(self, least: float) -> float:
        """Return the lowest level with a gain of at least ``least``."""
        return min([least, *(float(level) for level, gain in self.gains if gain >= least)])

    def relabelled(self, views: Views) -> tuple[Scorer, Views]:
        plain = {name: value for name, value in self.measure.params.items() if name != "gains"}
        return type(self)(type(self.measure)(**plain)), self._relabelled(views)

    def grades(self, levels: Levels) -> Grades:
        seen = levels.table(self.gains)
        gain = exponential_gain(seen) if self.exponential else seen
        return Grades(np.where(seen > 0, gain, 0.0), seen > 0, seen >= 0)

    def contributions(self, views: Views) -> Contributions:
        view = self._relabelled(views)[self.cut]
        terms = discounted(self._gain(view), view.n)
        return Contributions(view, terms, self._ideal_dcg(view.levels), "DCG of the ideal list")

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = self._relabelled(views).tied(self.cut)
        terms = tied.weighted(self._gain(tied.view), by_rank(lambda n: discounted(np.ones(n.size), n)))
        return TiedContributions(tied, terms, self._ideal_dcg(tied.view.levels))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = self._relabelled(views)[self.cut]
        return {"gain": self._gain(view), "discount": 1.0 / np.log2(view.n + 1.0)}

    def _relabelled(self, views: Views) -> Views:
        """Return the views of the run with levels replaced by ``gains``."""
        return relabelled(views, self.gains) if self.gains else views

    def _table(self, levels: Levels) -> Floats:
        """Return the gain of each level."""
        return exponential_gain(levels.values) if self.exponential else levels.values

    def _gain(self, view: View) -> Floats:
        """Return the gain of each document."""
        return self._table(view.levels)[view.level_index]

    def _ideal_dcg(self, levels: Levels) -> Floats:
        """Return DCG of the ideal list of each topic, down to the cutoff."""
        table = self._table(levels)
        key = ("ideal DCG", self.cut.rel, self["cutoff"], table.tobytes())
        return levels.kept(key, lambda: self._sum_of_ideal(levels, table))

    def _sum_of_ideal(self, levels: Levels, table: Floats) -> Floats:
        ideal = levels.ideal(self.cut.rel, table)
        n = segments.ordinals(ideal.start[ideal.topic])
        counted = np.flatnonzero(n <= self["cutoff"]) if self["cutoff"] else slice(None)
        terms = discounted(ideal.weight[counted], n[counted])
        return segments.total(terms, ideal.topic[counted], levels.topics)


def relabelled(views: Views, overrides: Overrides) -> Views:
    """Return the views of the run with other levels in the qrels."""
    levels, hits = views.levels, views.hits
    values, place = np.unique(levels.table(overrides), return_inverse=True)
    level_index = place[levels.level_index].astype(np.int64)
    other = Levels(levels.topics, levels.topic, level_index, values)
    return Views.of_rows(other, replace(hits, level_index=level_index[hits.document]))


def discounted(gain: Floats, n: Ints) -> Floats:
    """Return gains at ranks n with the discount of DCG."""
    return np.asarray(gain / np.log2(n + 1.0))


@register(ir_measures.ERR)
class ExpectedReciprocalRank(Classic):
    """Expected reciprocal rank.

    ``ERR = sum over ranks n of 1/n * r(n) * product over ranks i < n of (1 - r(i))`` with
    ``r(n) = (2^level - 1) / 16``, the probability that the document satisfies; levels go up to 4.

    Parameters: cutoff (required), as in gdeval. For scales with another highest level use ``nERR``.

    Source: [chapelle2009expected], as in gdeval of the TREC Web track (Clarke, 2010).

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.ERR @ 20, {"1": {"a": 4}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {ERR@20: 0.9375}
    """

    REQUIRED = ("cutoff",)
    LACKS = {"ideal": WHY_NO_IDEAL}
    MONOTONE = True
    highest_level = 4.0  # gdeval's

    def best_levels(self, levels: Levels) -> list[float]:  # noqa: ARG002  # gdeval's scale is fixed
        return [self.highest_level]

    def is_defined(self) -> bool:
        return is_natural(self["cutoff"])

    @property
    def cut(self) -> Cut:
        return Cut(ABOVE_0, cutoff=self["cutoff"])

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, self._stop(view) / view.n)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        satisfied = self._satisfied(tied.view)
        return TiedContributions(tied, tied.cascade(satisfied, 1.0 - satisfied, by_rank(lambda n: 1.0 / n)))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {"gain": exponential_gain(view.level), "stop": self._stop(view), "utility": 1.0 / view.n}

    def _stop(self, view: View) -> Floats:
        """Return the probability that the user stops at each document."""
        satisfied = self._satisfied(view)
        return unsatisfied_before(satisfied, view.start) * satisfied

    def _satisfied(self, view: View) -> Floats:
        """Return the probability that each document satisfies."""
        return satisfaction(exponential_gain(view.level), 2.0**self.highest_level - 1.0)


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

    Source: [clarke2021assessing].
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
        return Cut(ABOVE_0, cutoff=self["depth"])

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
    first = 0
    while first < lengths.size:
        # The weights of a part are as many as its longest list, for each of its lists.
        many = np.searchsorted(lengths[first:] * np.arange(1, lengths.size - first + 1), _CHUNK)
        rows = lengths[first : first + max(1, int(many))]
        d = np.arange(1, int(rows[-1]) + 1)
        terms = np.where(d <= rows[:, None], p ** (d - 1.0) / d, 0.0)
        left = np.cumsum(terms[:, ::-1], axis=1, dtype=np.longdouble)[:, ::-1]
        mine = np.flatnonzero((row >= first) & (row < first + rows.size) & (depth <= longest))
        found[mine] = left[row[mine] - first, depth[mine] - 1]
        first += rows.size
    return found
