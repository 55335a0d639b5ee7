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
from itertools import chain, pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from . import segments
from .judged_run import CountedDocuments
from .segments import Bools, Floats, Ints

#: Number of ranks that are processed at a time.
_CHUNK = 1 << 18
#: Means below exp(-80), about 1e-35, change no digit of a score.
_NEGLIGIBLE = 80.0
#: Events with a probability below exp(-46), about 1e-20, are left out.
_RARE = 46.0
#: Number of ranks for which a step takes about twice the time of a step for none (measured).
_STEP = 700

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

        Ranks that a negligible share of users reaches are left out. The rest takes a step for each document
        or for each place, whichever are fewer.
        """
        value, above = self._values(utility)
        product = np.multiply.reduceat(go_on, self.begin) if self.begin.size else np.ones(0)
        reach = segments.cumulative_product_before(product, self.start)
        q, by_place = self.q, np.zeros(self.n.size, dtype=np.bool_)
        if self.m.max(initial=0) > _NEGLIGIBLE:
            # The mean of the product down to place j is at most exp(-j / n * sum of (1 - go_on)).
            lost = np.maximum(self.in_groups(1.0 - go_on), 2.0**-50)
            q = np.minimum(q, np.ceil(_NEGLIGIBLE * self.n / lost)).astype(np.int64)
            by_place = (q * _STEP < self.m * (_STEP + q)) & (2 * q <= self.n)
        parts = chain(
            self._by_document(np.flatnonzero(~by_place), q, stop, go_on, value),
            self._by_place(np.flatnonzero(by_place), q, stop, go_on, value),
        )
        found = np.zeros(self.n.size)
        for groups, stops, stops_by_value in parts:
            ranked = _Places(self.t[groups], q[groups], self.topic[groups])
            mean = above[groups][ranked.owner] * stops + stops_by_value
            found[groups] = reach[groups] * ranked.sum(mean * ranked.factor(utility.factor))
        return found

    def _by_document(
        self, groups: Ints, q: Ints, stop: Floats, go_on: Floats, value: Floats
    ) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Yield groups with the mean probability to stop at each of their first q places, plain and by value.

        It is the product of ``go_on`` above times ``stop`` at the place; by value, it is multiplied by the
        sum of the values down to it. ``passes`` has the products over the first places. Documents are
        inserted one by one into all groups at once.
        """
        groups = groups[np.argsort(-self.m[groups], kind="stable")]  # largest first
        has_values = value.any()
        for part in _chunks(q[groups] + 1):
            some_groups = groups[part]
            m, width = self.m[some_groups], q[some_groups] + 1
            at = _Places(self.t[some_groups] - 1, width, self.topic[some_groups])
            place = (at.place - 1).astype(np.float64)
            inside = (place > 0).astype(np.float64)
            before = np.maximum(place - 1, 0)
            uncounted = (self.n[some_groups] - m)[at.owner].astype(np.float64)
            passes = (place <= uncounted).astype(np.float64)
            passes_by_value, stops, stops_by_value = np.zeros((3, place.size))
            for inserted in range(int(m[0])):
                active = int(np.searchsorted(-m, -inserted))
                some = slice(0, int(at.end[active - 1]))
                owner, document = at.owner[some], self.begin[some_groups[:active]] + inserted
                stop_here, go_on_here = stop[document][owner] * inside[some], go_on[document][owner]
                size = uncounted[some] + inserted + 1
                stay = size - place[some]  # below 0 only after the last document, where all means are 0
                passed, stopped = _shifted(passes[some]), _shifted(stops[some])
                go_on_above, go_on_here = before[some] * go_on_here, place[some] * go_on_here
                if has_values:
                    value_here = value[document][owner]
                    passed_by_value = _shifted(passes_by_value[some]) + value_here * passed
                    stopped_by_value = _shifted(stops_by_value[some]) + value_here * stopped
                    passes_by_value[some] = (
                        stay * passes_by_value[some] + go_on_here * passed_by_value
                    ) / size
                    stops_by_value[some] = (
                        stop_here * passed_by_value
                        + go_on_above * stopped_by_value
                        + stay * stops_by_value[some]
                    ) / size
                stops[some] = (stop_here * passed + go_on_above * stopped + stay * stops[some]) / size
                passes[some] = (stay * passes[some] + go_on_here * passed) / size
            yield some_groups, stops[inside > 0], stops_by_value[inside > 0]

    def _by_place(
        self, groups: Ints, q: Ints, stop: Floats, go_on: Floats, value: Floats
    ) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Yield what ``_by_document`` does, at most down to the middle of each group.

        Documents that stop and go on alike form a class. ``without`` is the mean product over the first
        places of a group that lacks a document of the class, ``passes`` that with it. A document is outside
        the first j of n places or inside: ``n passes(j) = (n - j) without(j) + j go_on without(j - 1)``.
        Errors shrink with j as long as j <= n / 2.
        """
        groups = groups[np.argsort(-q[groups], kind="stable")]  # deepest first
        for part in _chunks(q[groups]):
            some_groups = groups[part]
            at = _Places(self.t[some_groups], q[some_groups], self.topic[some_groups])
            classes = _Classes.of(self, some_groups, stop, go_on, value)
            stops, stops_by_value = np.zeros((2, at.owner.size))
            without, without_by_value = np.ones(classes.owner.size), np.zeros(classes.owner.size)
            last = -q[some_groups]
            for place in range(1, int(q[some_groups[0]]) + 1):
                active = int(np.searchsorted(last, -place, side="right"))
                some = slice(0, int(classes.end[active - 1]))
                owner, begin, n = classes.owner[some], classes.begin[:active], classes.n[some]
                here, inside = at.begin[:active] + (place - 1), place * classes.go_on[some]
                passing, stopping = classes.share[some] * classes.go_on[some], classes.stop[some]
                by_value = without_by_value[some] + classes.value[some] * without[some]
                stops[here] = np.add.reduceat(stopping * without[some], begin)
                stops_by_value[here] = np.add.reduceat(stopping * by_value, begin)
                passes = np.add.reduceat(passing * without[some], begin)[owner]
                passes_by_value = np.add.reduceat(passing * by_value, begin)[owner]
                without[some] = (n * passes - inside * without[some]) / (n - place)
                without_by_value[some] = (n * passes_by_value - inside * by_value) / (n - place)
            yield some_groups, stops, stops_by_value

    def rank_biased(self, stop: Floats, gamma: float, utility: Utility) -> Floats:
        """Return for each group the mean sum of ``gamma`` to the power of C - 1, times ``stop`` * utility."""
        if (self.m * self.q).max(initial=0) <= _CHUNK:  # quicker for small groups
            return self.cascade(stop, np.full_like(stop, gamma), utility)
        if gamma == 1:
            return self.weighted(stop, utility)
        value, above = self._values(utility)
        count_above, mean = self.above(np.ones(self.group.size)), self.in_groups(value) / self.m
        number, group = segments.ordinals(self.begin[self.group]), self.group
        weight = gamma ** (count_above[group] + number - 1) * (above[group] + number * mean[group]) * stop
        return _numbered(self.t, self.q, self.topic, self.n, self.m, weight, utility.factor)

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

        In a group above the cutoff, the documents have their utilities at any places. In a group that the
        cutoff splits, the places of all of them must be above it: a loop goes down the places of all these
        groups at once, with the probability that a number of documents was met, and with that probability
        times the sum of the utilities at them.
        """
        if not self.begin.size:
            return np.zeros(0)
        value, above = self._values(utility)
        sum_above = self.above(self.linear(utility))
        count_above = self.above(np.ones(self.group.size))
        steps = _Steps.of(self, grade, value)
        found = np.zeros(steps.n.size)
        whole, split = np.flatnonzero(steps.q == steps.n), np.flatnonzero(steps.q < steps.n)
        split = split[np.argsort(-steps.q[split], kind="stable")]  # deepest first
        for step, is_whole in chain(
            ((whole[part], True) for part in _chunks((steps.b + 1)[whole])),
            ((split[part], False) for part in _chunks(np.minimum(steps.b + 1, steps.q)[split])),
        ):
            q, best, lower, group = steps.q[step], steps.h[step], steps.b[step], steps.group[step]
            width = lower + 1 if is_whole else np.minimum(lower + 1, q)
            at = _Places(np.zeros(step.size, dtype=np.int64), width, steps.topic[step])
            owner, met = at.owner, (at.place - 1).astype(np.float64)
            value_of_lower = (steps.lower_values[step] / np.maximum(lower, 1))[owner]
            weight = _first_at(at, best + lower, best) / (count_above[group][owner] + 1 + met)
            so_far = sum_above[group][owner]
            at_best = above[group][owner] + met * value_of_lower + steps.value[step][owner]
            at_lower = np.where(met < lower[owner], above[group][owner] + (met + 1) * value_of_lower, 0.0)
            if is_whole:
                backwards = (owner.size - at.end[owner])[::-1]
                later = segments.cumulative_sum_before(weight[::-1], backwards)[::-1]
                n, m = steps.n[step], best + lower
                by_number = weight * at_best + later * at_lower
                found[step] = at.sum(weight) * sum_above[group] + _numbered(
                    steps.t[step], n, steps.topic[step], n, m, by_number, utility.factor, width
                )
                continue
            left, n = (best + lower)[owner] - met, steps.n[step][owner]
            further = (met > 0).astype(np.float64)
            chance, utilities = (met == 0).astype(np.float64), np.zeros(met.size)
            for place in range(1, int(q[0]) + 1):
                active = int(np.searchsorted(-q, -place, side="right"))
                some = slice(0, int(at.end[active - 1]))
                ranks, topic = steps.t[step[:active]] + place, steps.topic[step[:active]]
                factor = utility.factor(ranks, topic)[owner[some]]
                # Above 1 only where the chance is 0: more documents left than places.
                share = left[some] / (n[some] - place + 1)
                meets, sums = share * chance[some], share * utilities[some]
                here = weight[some] * (sums + meets * (so_far[some] + at_best[some] * factor))
                found[step[:active]] += np.add.reduceat(here, at.begin[:active])
                moved = _shifted(sums + meets * at_lower[some] * factor)
                chance[some] = chance[some] - meets + further[some] * _shifted(meets)
                utilities[some] = utilities[some] - sums + further[some] * moved
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


@dataclass(frozen=True, eq=False)
class _Classes:
    """The documents of some groups by what they do in a cascade, including those that do not count.

    Attributes:
        owner: group of each class, as a position among the groups; ascending.
        begin, end: first class of each group, and one past its last.
        n: number of documents of the group.
        share: share of the class in these.
        go_on, value: of each document of the class.
        stop: of all documents of the class, divided by n.
    """

    owner: Ints
    begin: Ints
    end: Ints
    n: Floats
    share: Floats
    go_on: Floats
    value: Floats
    stop: Floats

    @classmethod
    def of(
        cls, tied: TiedDocuments[Any], groups: Ints, stop: Floats, go_on: Floats, value: Floats
    ) -> _Classes:
        """Return the classes of the groups."""
        number = np.full(tied.begin.size, -1)
        number[groups] = np.arange(groups.size)
        at = np.flatnonzero(number[tied.group] >= 0)
        others = np.flatnonzero(tied.n[groups] > tied.m[groups])
        owner = np.concatenate((number[tied.group[at]], others))
        x = np.concatenate((go_on[at], np.ones(others.size)))
        s, v = (np.concatenate((column[at], np.zeros(others.size))) for column in (stop, value))
        count = np.concatenate((np.ones(at.size), (tied.n - tied.m)[groups[others]]))
        order = np.lexsort((v, s, x, owner))
        owner, x, s, v = owner[order], x[order], s[order], v[order]
        changes = (np.diff(column, prepend=np.nan) != 0 for column in (owner, x, s, v))
        first = np.flatnonzero(np.logical_or.reduce([*changes]))
        owner = owner[first]
        n = tied.n[groups][owner].astype(np.float64)
        share = np.add.reduceat(count[order], first) / n
        begin = segments.starts(owner, groups.size)
        end = np.append(begin[1:], owner.size)
        return cls(owner, begin, end, n, share, x[first], v[first], share * s[first])


def _first_at(at: _Places, n: Ints, h: Ints) -> Floats:
    """Return the probability that the first of h among n documents is at each place."""
    n_there, h_there = n[at.owner], h[at.owner]
    after = n_there - at.place
    # Factors can leave their range only after a factor of 0.
    factor = np.maximum(after - h_there + 1, 0) / np.maximum(after, 1)
    return segments.cumulative_product_before(factor, at.begin[at.owner]) * (h_there / n_there)


def _numbered(  # noqa: PLR0913, PLR0917  # one value per owner
    t: Ints, q: Ints, topic: Ints, n: Ints, m: Ints, weight: Floats, factor: AtRanks, size: Ints | None = None
) -> Floats:
    """Return the mean sum of ``weight * factor`` over the places of m among n documents, by owner.

    Above a document at place j there are i of the other m - 1 documents with hypergeometric probability. A
    hypergeometric number is a sum of independent events, so that Bernstein's inequality bounds the range of i
    that matters.

    Args:
        t: number of ranks above each owner.
        q: number of places looked at.
        topic: topic of each owner.
        n: number of documents.
        m: number of those that have a weight.
        weight: weight of the first, second, ... of these documents, owner by owner.
        factor: the factor of each rank.
        size: number of weights of each owner, m if not given; the others are 0.
    """
    size = m if size is None else size
    begin = np.cumsum(size) - size
    owner = np.repeat(np.arange(n.size), size)
    # Number of weights of each owner down to the last that matters.
    some = np.flatnonzero(weight > 1e-35 * np.maximum.reduceat(weight, begin)[owner])
    last = np.zeros(n.size)
    last[owner[some]] = some - begin[owner[some]]  # the last assignment counts
    found = np.zeros(n.size)
    for part in _chunks(q):
        at = _Places(t[part], q[part], topic[part])
        there = at.owner + part.start
        draws, others = (at.place - 1).astype(np.float64), (n[there] - 1).astype(np.float64)
        marked = (m[there] - 1).astype(np.float64)
        share, left = marked / np.maximum(others, 1), others - draws
        mean = draws * share
        width = np.sqrt(2 * _RARE * mean * (1 - share) * left / np.maximum(others - 1, 1)) + 2 / 3 * _RARE
        low = np.maximum(np.floor(mean - width), np.maximum(0, draws - (others - marked)))
        width = np.minimum(np.ceil(mean + width), np.minimum(marked, draws)) - low + 1
        by_place = np.zeros(there.size)
        rows = np.flatnonzero(low <= last[there])
        rows = rows[np.argsort(-width[rows], kind="stable")]
        while rows.size:
            wide = int(width[rows[0]])
            here, rows = np.split(rows, [max(1, _CHUNK // wide)])
            D, K, N, of = draws[here, None], marked[here, None], others[here, None], there[here]
            i = low[here, None] + np.arange(wide)
            chance = np.ones_like(i)
            before = i[:, :-1]
            np.cumprod(
                (K - before) * (D - before) / ((before + 1) * (N - K - D + before + 1)), 1, out=chance[:, 1:]
            )
            index = np.minimum(i, last[of, None])
            of_weight = np.where(i > index, 0.0, weight[begin[of, None] + index.astype(np.int64)])
            by_place[here] = (chance * of_weight).sum(1) / chance.sum(1)
        found[part] = at.sum(by_place * at.factor(factor)) * m[part] / n[part]
    return found


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
