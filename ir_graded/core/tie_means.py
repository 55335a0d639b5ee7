"""Means over all orders of tied documents, exactly and for all topics at once.

In each tie group all orders of the documents are equally likely, and the groups are independent. Names are
those of the formulas: a group has the ranks t+1 .. t+n, m of its documents count, and the measure looks at q
of its ranks. Arrays have one value per counted document (by topic and group) or per group.

Source:
    McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently in the Presence
    of Tied Scores" (ECIR 2008), for the first of several documents; the others are derived here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from . import segments
from .counted import CountedDocuments
from .segments import Bools, Floats, Ints

#: Number of ranks that are processed at a time.
_CHUNK = 1 << 18

Counted = TypeVar("Counted", bound=CountedDocuments)

#: Function of ranks and their topics (two arrays) that returns a factor for each.
AtRanks = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True, eq=False)
class Utility:
    """A utility of the list down to a rank: ``(base + sum of value over the documents down to it) * factor``.

    Attributes:
        factor: the factor of each rank.
        value: value of each counted document, with base 0; None where the utility is the factor alone.
    """

    factor: AtRanks
    value: Floats | None = None


def by_rank(factor: Callable[[Ints], Floats]) -> Utility:
    """Return a utility that depends only on the rank."""
    return Utility(lambda n, _: factor(n))


#: The utility 1: its mean at a document is the probability that it is not below the cutoff.
SEEN = by_rank(lambda n: np.ones(n.size))


class TiedDocuments(Generic[Counted]):
    """The documents that count for a measure in the topics that have ties, by tie group.

    Attributes:
        view: the documents; their rank ``n`` is the first of their tie group.
        group: tie group of each document.
        begin: first document of each group.
        topic: topic of each group.
        t, n, m, q: see the module docstring.
        start: first group of the topic of each group.
    """

    def __init__(self, view: Counted) -> None:
        self.view = view
        place = view.topic << 32 | view.n
        self.begin: Ints = np.flatnonzero(np.diff(place, prepend=-1))
        self.m: Ints = np.diff(self.begin, append=place.size)
        self.group: Ints = np.repeat(np.arange(self.begin.size), self.m)
        self.topic: Ints = view.topic[self.begin]
        self.t: Ints = view.n[self.begin] - 1
        self.n: Ints = view.tied[self.begin]
        self.q: Ints = self.n if view.cutoff is None else np.minimum(self.n, view.cutoff - self.t)
        self.start: Ints = segments.starts(self.topic, view.levels.topics)[self.topic]

    @property
    def topics(self) -> Bools:
        """Whether each topic has a tied document here, shape ``(topics,)``."""
        return segments.count(self.topic[self.n > 1], self.view.levels.topics) > 0

    # -------------------------------------------------------------------------------- sums over groups

    def in_groups(self, value: Floats) -> Floats:
        """Return the sum of a value over the documents of each group."""
        return self._totals.of(value)

    @cached_property
    def _totals(self) -> segments.Totals:
        return segments.Totals(self.group, self.begin.size)

    def above(self, value: Floats) -> Floats:
        """Return the sum of a value over the documents above each group in its topic."""
        return segments.cumulative_sum_before(self.in_groups(value), self.start)

    def _values(self, utility: Utility) -> tuple[Floats, Floats]:
        """Return the value of each document, and the sum above each group, including the base."""
        if utility.value is None:
            return np.zeros(self.group.size), np.ones(self.begin.size)
        return utility.value, self.above(utility.value)

    def judged(self) -> Ints:
        """Return the number of documents of each group with a level >= 0, including those that count.

        The hits must include all of these documents.
        """
        hits, levels = self.view.hits, self.view.levels
        judged = (levels.values >= 0)[hits.level_index]
        group = (hits.topic << 32 | hits.rank)[judged]
        wanted = self.topic << 32 | self.t + 1
        return np.searchsorted(group, wanted, side="right") - np.searchsorted(group, wanted)

    # -------------------------------------------------------------------------------- means

    def at_rank(self, rank: Ints, utility: Utility) -> Floats:
        """Return the contribution of each group to the mean utility at a rank, given for each topic."""
        value, _ = self._values(utility)
        places = np.clip(rank[self.topic] - self.t, 0, self.q)
        factor = utility.factor(rank[self.topic], self.topic)
        return np.asarray(self.in_groups(value) * places / self.n * factor)

    def linear(self, utility: Utility) -> Floats:
        """Return the mean utility at each document; orders that put it below the cutoff count as 0."""
        value, above = self._values(utility)
        others = self.in_groups(value)[self.group] - value
        return self.spread(above[self.group] + value, others, utility.factor)

    def weighted(self, weight: Floats, utility: Utility) -> Floats:
        """Return for each group the mean sum of ``weight * utility``, with a weight for each document."""
        return self.in_groups(weight * self.linear(utility))

    def spread(self, own: Floats, others: Floats, factor: AtRanks) -> Floats:
        """Return the mean of ``(own + sum over the documents of the group above it) * factor``, by document.

        Args:
            own: the summand of each document, which does not depend on its place.
            others: the sum over all other documents of its group.
            factor: the factor of each rank.
        """
        factors, by_place = np.zeros(self.n.size), np.zeros(self.n.size)
        for part in _chunks(self.q):
            at = _Places(self.t[part], self.q[part], self.topic[part])
            there = at.factor(factor)
            factors[part], by_place[part] = at.sum(there), at.sum(there * (at.place - 1))
        group, n = self.group, self.n[self.group]
        return np.asarray((own * factors[group] + others * by_place[group] / np.maximum(n - 1, 1)) / n)

    def cascade(self, stop: Floats, go_on: Floats, utility: Utility) -> Floats:
        """Return for each group the mean of the sum of (product of ``go_on`` above) * ``stop`` * utility.

        Documents are inserted one by one into all groups at once. e and k are means over orders of the
        product down to a place, without and with the sum of the values; d and l are these times stop there.
        """
        value, above = self._values(utility)
        product = np.multiply.reduceat(go_on, self.begin) if self.begin.size else np.ones(0)
        reach = segments.cumulative_product_before(product, self.start)
        blended = utility.value is not None
        found = np.zeros(self.n.size)
        order = np.argsort(-self.m, kind="stable")  # so that groups with m > i are the first ones
        for part in _chunks(self.q[order] + 1):
            groups = order[part]
            m, width = self.m[groups], self.q[groups] + 1
            at = _Places(self.t[groups] - 1, width, self.topic[groups])
            j = (at.place - 1).astype(np.float64)
            inside = (j > 0).astype(np.float64)
            upper = np.maximum(j - 1, 0)
            z = (self.n[groups] - m)[at.owner].astype(np.float64)
            e = (j <= z).astype(np.float64)
            d, k, l = np.zeros_like(e), np.zeros_like(e), np.zeros_like(e)
            for i in range(int(m[0])):
                active = int(np.searchsorted(-m, -i))
                some = slice(0, int(at.end[active - 1]))
                owner, document = at.owner[some], self.begin[groups[:active]] + i
                s, x = (stop[document])[owner] * inside[some], (go_on[document])[owner]
                N = z[some] + i + 1
                stay = N - j[some]  # below 0 only after the last document, where all means are 0
                e1, d1 = _shifted(e[some]), _shifted(d[some])
                if blended:
                    v = (value[document])[owner]
                    k1, l1 = _shifted(k[some]) + v * e1, _shifted(l[some]) + v * d1
                    k[some] = (stay * k[some] + j[some] * x * k1) / N
                    l[some] = (s * k1 + upper[some] * x * l1 + stay * l[some]) / N
                d[some] = (s * e1 + upper[some] * x * d1 + stay * d[some]) / N
                e[some] = (stay * e[some] + j[some] * x * e1) / N
            ranked = _Places(self.t[groups], width - 1, self.topic[groups])
            mean = (above[groups][at.owner] * d + l)[inside > 0]
            found[groups] = reach[groups] * ranked.sum(mean * ranked.factor(utility.factor))
        return found

    def first(self, utility: Utility) -> Floats:
        """Return for each group the mean utility at the first document of the topic, if that is in it."""
        value, above = self._values(utility)
        total = self.in_groups(value)
        found = np.zeros(self.n.size)
        head = np.flatnonzero(self.start == np.arange(self.start.size))
        for part in _chunks(self.q[head]):
            groups = head[part]
            at = _Places(self.t[groups], self.q[groups], self.topic[groups])
            mean = above[groups] + total[groups] / self.m[groups]
            there = _first_at(at, self.n[groups], self.m[groups])
            found[groups] = at.sum(there * mean[at.owner] * at.factor(utility.factor))
        return found

    def preferred(self, grade: Ints, utility: Utility) -> Floats:
        """Return for each group the mean utility at the first document of the highest grade in the list.

        Args:
            grade: grade of each document, from 0; documents of one grade have one value.
            utility: the utility.
        """
        if not self.begin.size:
            return np.zeros(0)
        value, above = self._values(utility)
        steps = _Steps.of(self, grade, value)
        found = np.zeros(steps.n.size)
        for part in _chunks(steps.q):
            at = _Places(steps.t[part], steps.q[part], steps.topic[part])
            n, h = steps.n[part], steps.h[part]
            best = above[steps.group[part]] + steps.value[part]
            each = steps.lower_values[part] / np.maximum(n - h, 1)
            mean = best[at.owner] + (at.place - 1) * each[at.owner]
            found[part] = at.sum(_first_at(at, n, h) * mean * at.factor(utility.factor))
        return steps.in_groups(found)

    def up_to_preferred(self, grade: Ints, utility: Utility) -> Floats:
        """Return for each group the mean over orders of the mean utility down to that document.

        The loop goes down the places of all groups at once. P is the probability that i documents were met; F
        is that probability times the sum of the utilities at them.
        """
        if not self.begin.size:
            return np.zeros(0)
        value, above = self._values(utility)
        sum_above = self.above(self.linear(utility))
        count_above = self.above(np.ones(self.group.size))
        steps = _Steps.of(self, grade, value)
        found = np.zeros(steps.n.size)
        order = np.argsort(-steps.q, kind="stable")  # so that steps with q >= j are the first ones
        for part in _chunks((steps.b + 1)[order]):
            step = order[part]
            q, h, b, group = steps.q[step], steps.h[step], steps.b[step], steps.group[step]
            at = _Places(np.zeros(step.size, dtype=np.int64), b + 1, steps.topic[step])
            owner, i = at.owner, (at.place - 1).astype(np.float64)
            lower = (steps.lower_values[step] / np.maximum(b, 1))[owner]
            weight = _first_at(at, h + b, h) / (count_above[group][owner] + 1 + i)
            so_far = sum_above[group][owner]
            at_best = above[group][owner] + i * lower + steps.value[step][owner]
            at_lower = np.where(i < b[owner], above[group][owner] + (i + 1) * lower, 0.0)
            left, n = (h + b)[owner] - i, steps.n[step][owner]
            inner = (i > 0).astype(np.float64)
            P, F = (i == 0).astype(np.float64), np.zeros(i.size)
            for j in range(1, int(q[0]) + 1):
                active = int(np.searchsorted(-q, -j, side="right"))
                some = slice(0, int(at.end[active - 1]))
                factor = utility.factor(steps.t[step[:active]] + j, steps.topic[step[:active]])[owner[some]]
                # Above 1 only where P and F are 0: more documents left than places.
                rho = left[some] / (n[some] - j + 1)
                met, sums = rho * P[some], rho * F[some]
                here = weight[some] * (sums + met * (so_far[some] + at_best[some] * factor))
                found[step[:active]] += np.add.reduceat(here, at.begin[:active])
                moved = _shifted(sums + met * at_lower[some] * factor)
                P[some] = P[some] - met + inner[some] * _shifted(met)
                F[some] = F[some] - sums + inner[some] * moved
        return steps.in_groups(found)


def _shifted(values: Floats) -> Floats:
    """Return the values one position down, with 0 at the first."""
    shifted = np.zeros_like(values)
    shifted[1:] = values[:-1]
    return shifted


def _chunks(size: Ints) -> Iterator[slice]:
    """Yield slices of neighbouring items with sizes of about ``_CHUNK`` in all."""
    end = np.cumsum(size)
    cuts = np.searchsorted(end, np.arange(_CHUNK, int(size.sum()), _CHUNK))
    bounds = np.unique(np.concatenate(([0], cuts, [size.size]))).tolist()
    for begin, stop in pairwise(bounds):
        yield slice(begin, stop)


class _Places:
    """The places j = 1..q of each of some owners, one owner after the other.

    Attributes:
        owner: owner of each place.
        place: j.
        begin, end: first place of each owner, and one past its last.
    """

    def __init__(self, t: Ints, q: Ints, topic: Ints) -> None:
        self.end: Ints = np.cumsum(q)
        self.begin: Ints = self.end - q
        self.owner: Ints = np.repeat(np.arange(q.size), q)
        self.place: Ints = np.arange(1, self.owner.size + 1) - self.begin[self.owner]
        self._t, self._topic = t, topic

    def factor(self, factor: AtRanks) -> Floats:
        """Return the factor at each rank t + j."""
        return factor(self._t[self.owner] + self.place, self._topic[self.owner])

    def sum(self, values: Floats) -> Floats:
        """Return the sum over the places of each owner."""
        return self._totals.of(values)

    @cached_property
    def _totals(self) -> segments.Totals:
        return segments.Totals(self.owner, self.begin.size)


def _first_at(at: _Places, n: Ints, h: Ints) -> Floats:
    """Return the probability that the first of h among n documents is at each place."""
    n_there, h_there = n[at.owner], h[at.owner]
    after = n_there - at.place
    # Factors can leave their range only after a factor of 0.
    factor = np.maximum(after - h_there + 1, 0) / np.maximum(after, 1)
    return segments.cumulative_product_before(factor, at.begin[at.owner]) * (h_there / n_there)


def _none_among(n: Ints, q: Ints, h: Ints) -> Floats:
    """Return the probability that none of h among n documents is at the first q places."""
    found = np.ones(n.size)
    some = np.flatnonzero(h)
    if some.size:
        at = _Places(np.zeros(some.size, dtype=np.int64), h[some], some)
        i, total = at.place - 1, n[some][at.owner]
        factor = np.maximum(total - q[some][at.owner] - i, 0) / (total - i)
        found[some] = np.multiply.reduceat(factor, at.begin)
    return found


@dataclass(frozen=True, eq=False)
class _Steps:
    """The grades of groups that may be the highest in the list, as mutually exclusive cases.

    In a group entirely above the cutoff, only the highest grade can be. In a group that the cutoff splits,
    all grades above those of the groups above can be; documents of higher grades are then below the cutoff.

    Attributes:
        tied: the groups.
        group, topic, t: group of each step, with its topic and t.
        n, q: number of documents of the group without those of higher grades, and number of places looked at.
        h, value: number of documents of the grade, and their value.
        b, lower_values: number of counted documents of lower grades, and the sum of their values.
        probability: probability that documents of higher grades, also of groups below, are below the cutoff.
    """

    tied: TiedDocuments[Any]
    group: Ints
    topic: Ints
    t: Ints
    n: Ints
    q: Ints
    h: Ints
    value: Floats
    b: Ints
    lower_values: Floats
    probability: Floats

    @classmethod
    def of(cls, tied: TiedDocuments[Any], grade: Ints, value: Floats) -> _Steps:
        """Return the steps of all groups."""
        grades = int(grade.max(initial=0)) + 1
        key, where, h = np.unique(tied.group * grades + grade, return_inverse=True, return_counts=True)
        group, of_step = key // grades, key % grades
        one = np.empty(key.size, dtype=np.int64)
        one[where] = np.arange(grade.size)
        start = segments.starts(group, tied.n.size)[group]
        count = np.cumsum(h) - tied.begin[group]  # down from the lowest grade of the group
        b = count - h
        sums = np.bincount(where, weights=value, minlength=key.size).astype(np.float64, copy=False)
        lower_values = segments.cumulative_sum_before(sums, start)
        higher = tied.m[group] - count
        # The highest grade of the groups above, plus 1; 0 without one.
        top = np.maximum.reduceat(grade, tied.begin) + 1
        best = segments.cumulative_maximum_before(top, tied.start)
        cut = tied.q < tied.n
        possible = np.flatnonzero((of_step >= best[group]) & (cut[group] | (higher == 0)))
        # Each whole group of a topic replaces those above it; a split group is the last.
        whole = possible[~cut[group[possible]]]
        topic = tied.topic[group]
        takes_over = np.append(topic[whole][1:] != topic[whole][:-1], True)[: whole.size]
        kept = np.sort(np.concatenate((possible[cut[group[possible]]], whole[takes_over])))
        better = segments.count(tied.group[grade >= best[tied.group]], tied.n.size)
        none_better = np.ones(tied.view.levels.topics)
        none_better[tied.topic[cut]] = _none_among(tied.n[cut], tied.q[cut], better[cut])
        group, higher = group[kept], higher[kept]
        n = tied.n[group] - higher
        unseen = _none_among(tied.n[group], tied.q[group], np.where(cut[group], higher, 0))
        return cls(
            tied,
            group,
            tied.topic[group],
            tied.t[group],
            n,
            np.minimum(tied.q[group], n),
            h[kept],
            value[one[kept]],
            b[kept],
            lower_values[kept],
            np.where(cut[group], unseen, none_better[tied.topic[group]]),
        )

    def in_groups(self, found: Floats) -> Floats:
        """Return the sum over the steps of each group, weighted by their probabilities."""
        return segments.total(found * self.probability, self.group, self.tied.n.size)
