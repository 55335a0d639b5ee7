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
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from . import segments
from .judged_run import CountedDocuments
from .segments import Bools, Floats, Ints, pair_key
from .struct import light_dataclass

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


@light_dataclass(frozen=True, eq=False)
class Utility:
    """A utility of the list down to a rank: ``(base + sum of value over the documents down to it) * factor``.

    Attributes:
        factor: function of ranks and topics that returns the factor of each.
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
        place = pair_key(view.topic, view.n)
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

    @cached_property
    def in_groups(self) -> Callable[[Floats], Floats]:
        """Function that returns the sum of a value over the documents of each group."""
        return segments.Totals(self.group, self.begin.size).of

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
        group = pair_key(hits.topic, hits.rank)[judged]
        wanted = pair_key(self.topic, self.t + 1)
        return np.searchsorted(group, wanted, side="right") - np.searchsorted(group, wanted)

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
        return self.mean_sum(above[self.group] + value, others, utility.factor)

    def weighted(self, weight: Floats, utility: Utility) -> Floats:
        """Return for each group the mean sum of ``weight * utility``, with a weight for each document."""
        return self.in_groups(weight * self.linear(utility))

    def mean_sum(self, own: Floats, others: Floats, factor: AtRanks) -> Floats:
        """Return the mean of ``(own + sum over the documents of the group above it) * factor``, by document.

        Args:
            own: the summand of each document, which does not depend on its place.
            others: the sum over all other documents of its group.
            factor: function of ranks and topics that returns the factor of each.
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
        reach = segments.cumulative_product_before(np.multiply.reduceat(go_on, self.begin), self.start)
        depth, by_place = self.q, np.zeros(self.n.size, dtype=np.bool_)
        if self.m.max(initial=0) > _NEGLIGIBLE:
            # The mean of the product down to place j is at most exp(-j / n * sum of (1 - go_on)).
            lost = np.maximum(self.in_groups(1.0 - go_on), 2.0**-50)
            depth = np.minimum(depth, np.ceil(_NEGLIGIBLE * self.n / lost)).astype(np.int64)
            by_place = (depth * _STEP < self.m * (_STEP + depth)) & (2 * depth <= self.n)
        found = np.zeros(self.n.size)
        for groups, stops in chain(
            self._by_document(np.flatnonzero(~by_place), depth, stop, go_on, value),
            self._by_place(np.flatnonzero(by_place), depth, stop, go_on, value),
        ):
            at = _Places(self.t[groups], depth[groups], self.topic[groups])
            mean = above[groups][at.owner] * stops[0] + stops[1:].sum(axis=0)
            found[groups] = reach[groups] * at.sum(mean * at.factor(utility.factor))
        return found

    def _by_document(
        self, groups: Ints, depth: Ints, stop: Floats, go_on: Floats, value: Floats
    ) -> Iterator[tuple[Ints, Floats]]:
        """Yield groups with the mean probability to stop at each of their first places."""
        # The product of ``go_on`` above times ``stop``; a second row has it times the values down to there.
        groups = groups[np.argsort(-self.m[groups], kind="stable")]  # largest first
        rows = 1 + int(value.any())
        # Parts that fit in the cache: each step goes over all their means.
        for part in _chunks(4 * rows * (depth[groups] + 1)):
            chosen = groups[part]
            m = self.m[chosen]
            at = _Places(self.t[chosen] - 1, depth[chosen] + 1, self.topic[chosen])
            place = (at.place - 1).astype(np.float64)
            inside, before = (place > 0).astype(np.float64), np.maximum(place - 1, 0)
            uncounted = (self.n[chosen] - m)[at.owner].astype(np.float64)
            passes, stops = np.zeros((2, rows, place.size))
            passes[0] = place <= uncounted
            for inserted in range(int(m[0])):
                active = int(np.searchsorted(-m, -inserted))
                some = slice(0, int(at.end[active - 1]))
                owner, document = at.owner[some], self.begin[chosen[:active]] + inserted
                size = uncounted[some] + inserted + 1
                stay = size - place[some]  # below 0 only after the last document, where all means are 0
                stop_here, go_on_here = stop[document][owner] * inside[some], go_on[document][owner]
                passed = _moved_down(passes[:, some], value[document][owner])
                stopped = _moved_down(stops[:, some], value[document][owner])
                go_on_above = before[some] * go_on_here
                stops[:, some] = (stop_here * passed + go_on_above * stopped + stay * stops[:, some]) / size
                passes[:, some] = (stay * passes[:, some] + place[some] * go_on_here * passed) / size
            yield chosen, stops[:, inside > 0]

    def _by_place(
        self, groups: Ints, depth: Ints, stop: Floats, go_on: Floats, value: Floats
    ) -> Iterator[tuple[Ints, Floats]]:
        """Yield what ``_by_document`` does, at most down to the middle of each group.

        ``without`` is the mean product over the first places of a group that lacks a document of a class,
        ``passes`` that with it. A document is outside the first j of n places or inside:
        ``n passes(j) = (n - j) without(j) + j go_on without(j - 1)``. Errors shrink with j as long as
        j <= n / 2.
        """
        groups = groups[np.argsort(-depth[groups], kind="stable")]  # deepest first
        for part in _chunks(depth[groups]):
            chosen = groups[part]
            at = _Places(self.t[chosen], depth[chosen], self.topic[chosen])
            classes = _Classes(self, chosen, stop, go_on, value)
            stops, without = np.zeros((2, at.owner.size)), np.zeros((2, classes.owner.size))
            without[0] = 1.0
            for place in range(1, int(depth[chosen[0]]) + 1):
                active = int(np.searchsorted(-depth[chosen], -place, side="right"))
                some = slice(0, int(classes.end[active - 1]))
                owner, begin, n = classes.owner[some], classes.begin[:active], classes.n[some]
                go = classes.go_on[some]
                passing = without[:, some]
                passing[1] += classes.value[some] * passing[0]
                stops[:, at.begin[:active] + (place - 1)] = np.add.reduceat(
                    classes.stop[some] * passing, begin, axis=1
                )
                passes = np.add.reduceat(classes.share[some] * go * passing, begin, axis=1)[:, owner]
                without[:, some] = (n * passes - place * go * passing) / (n - place)
            yield chosen, stops

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
        return _mean_by_number(self.t, self.q, self.topic, self.n, self.m, weight, self.m, utility.factor)

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
            utility: utility of the list down to that document.
        """
        value, above = self._values(utility)
        cases = _HighestGrades(self, grade, value)
        found = np.zeros(cases.n.size)
        for part in _chunks(cases.q):
            at = _Places(cases.t[part], cases.q[part], cases.topic[part])
            n, best = cases.n[part], cases.best[part]
            at_best = above[cases.group[part]] + cases.value[part]
            each = cases.lower_values[part] / np.maximum(n - best, 1)
            mean = at_best[at.owner] + (at.place - 1) * each[at.owner]
            found[part] = at.sum(_first_at(at, n, best) * mean * at.factor(utility.factor))
        return cases.in_groups(found)

    def up_to_preferred(self, grade: Ints, utility: Utility) -> Floats:
        """Return for each group the mean over orders of the mean utility down to that document.

        In a group above the cutoff, the documents have their utilities at any places. In a group that the
        cutoff splits, the places of all of them must be above it: a loop goes down the places of all these
        groups at once, with the probability that a number of documents was met, and with that probability
        times the sum of the utilities at them.
        """
        value, above = self._values(utility)
        mean_above, count_above = self.above(self.linear(utility)), self.above(np.ones(self.group.size))
        cases = _HighestGrades(self, grade, value)
        found, width = np.zeros(cases.n.size), np.minimum(cases.lower + 1, cases.q)
        deepest_first, is_split = np.argsort(-cases.q, kind="stable"), cases.q < cases.n
        whole, split = (deepest_first[is_split[deepest_first] == splits] for splits in (False, True))
        for case in (some[part] for some in (whole, split) for part in _chunks(width[some])):
            q, n, best, lower = cases.q[case], cases.n[case], cases.best[case], cases.lower[case]
            t, topic, group = cases.t[case], cases.topic[case], cases.group[case]
            at = _Places(t, width[case], topic)
            owner, met = at.owner, (at.place - 1).astype(np.float64)
            of_lower = (cases.lower_values[case] / np.maximum(lower, 1))[owner]
            share = _first_at(at, best + lower, best) / (count_above[group][owner] + 1 + met)
            at_best = above[group][owner] + met * of_lower + cases.value[case][owner]
            at_lower = np.where(met < lower[owner], above[group][owner] + (met + 1) * of_lower, 0.0)
            if not is_split[case[0]]:
                backwards = (owner.size - at.end[owner])[::-1]
                later = segments.cumulative_sum_before(share[::-1], backwards)[::-1]
                by_number = share * at_best + later * at_lower
                found[case] = at.sum(share) * mean_above[group] + _mean_by_number(
                    t, n, topic, n, best + lower, by_number, width[case], utility.factor
                )
                continue
            unmet, further = (best + lower)[owner] - met, (met > 0).astype(np.float64)
            chance, utilities = (met == 0).astype(np.float64), np.zeros(met.size)
            for place in range(1, int(q[0]) + 1):
                active = int(np.searchsorted(-q, -place, side="right"))
                some = slice(0, int(at.end[active - 1]))
                factor = utility.factor(t[:active] + place, topic[:active])[owner[some]]
                # Above 1 only where the chance is 0: more documents left than places.
                meets = unmet[some] / (n[owner[some]] - place + 1)
                utilities_here, chance_here = meets * utilities[some], meets * chance[some]
                down_to_best = mean_above[group][owner[some]] + at_best[some] * factor
                here = share[some] * (utilities_here + chance_here * down_to_best)
                found[case[:active]] += np.add.reduceat(here, at.begin[:active])
                moved = _shifted(utilities_here + chance_here * at_lower[some] * factor)
                chance[some] = chance[some] - chance_here + further[some] * _shifted(chance_here)
                utilities[some] = utilities[some] - utilities_here + further[some] * moved
        return cases.in_groups(found)


def _shifted(values: Floats) -> Floats:
    """Return the values one position down the last axis, with 0 at the first."""
    shifted = np.zeros_like(values)
    shifted[..., 1:] = values[..., :-1]
    return shifted


def _moved_down(means: Floats, value: Floats) -> Floats:
    """Return means one place down, below a further document with a value: see ``_by_document``."""
    moved = _shifted(means)
    moved[1:] += value * moved[0]
    return moved


def _chunks(size: Ints) -> Iterator[slice]:
    """Yield slices of neighbouring items with sizes of about ``_CHUNK`` in all."""
    end = np.cumsum(size)
    cuts = np.searchsorted(end, np.arange(_CHUNK, int(size.sum()), _CHUNK))
    bounds = np.unique(np.concatenate(([0], cuts, [size.size]))).tolist()
    for begin, stop in pairwise(bounds):
        yield slice(begin, stop)


class _Places:
    """The places j = 1..q of each of some owners, one owner after the other."""

    # ``owner`` and ``place`` are those of each place; ``begin`` and ``end`` bound those of each owner.

    def __init__(self, t: Ints, q: Ints, topic: Ints) -> None:
        self.end: Ints = np.cumsum(q)
        self.begin: Ints = self.end - q
        self.owner: Ints = np.repeat(np.arange(q.size), q)
        self.place: Ints = np.arange(1, self.owner.size + 1) - self.begin[self.owner]
        self._t, self._topic = t, topic

    def factor(self, factor: AtRanks) -> Floats:
        """Return the factor at each rank t + j."""
        return factor(self._t[self.owner] + self.place, self._topic[self.owner])

    @cached_property
    def sum(self) -> Callable[[Floats], Floats]:
        """Function that returns the sum of values over the places of each owner."""
        return segments.Totals(self.owner, self.begin.size).of


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

    def __init__(
        self, tied: TiedDocuments[Any], groups: Ints, stop: Floats, go_on: Floats, value: Floats
    ) -> None:
        number = np.full(tied.begin.size, -1)
        number[groups] = np.arange(groups.size)
        at = np.flatnonzero(number[tied.group] >= 0)
        others = np.flatnonzero(tied.n[groups] > tied.m[groups])
        zero = np.zeros(others.size)
        owner = np.concatenate((number[tied.group[at]], others))
        given = zip((go_on, stop, value), (zero + 1.0, zero, zero), strict=True)
        columns = [np.concatenate((of_counted[at], of_others)) for of_counted, of_others in given]
        count = np.concatenate((np.ones(at.size), (tied.n - tied.m)[groups[others]]))
        order = np.lexsort((*columns[::-1], owner))
        changes = [np.diff(column[order], prepend=np.nan) != 0 for column in (owner, *columns)]
        first = np.flatnonzero(np.logical_or.reduce(changes))
        self.owner: Ints = owner[order[first]]
        self.go_on, each_stop, self.value = (column[order[first]] for column in columns)
        self.n: Floats = tied.n[groups][self.owner].astype(np.float64)
        self.share: Floats = np.add.reduceat(count[order], first) / self.n
        self.stop: Floats = self.share * each_stop
        self.begin: Ints = segments.starts(self.owner, groups.size)
        self.end: Ints = np.append(self.begin[1:], self.owner.size)


def _first_at(at: _Places, n: Ints, h: Ints) -> Floats:
    """Return the probability that the first of h among n documents is at each place."""
    n_there, h_there = n[at.owner], h[at.owner]
    after = n_there - at.place
    # Factors can leave their range only after a factor of 0.
    factor = np.maximum(after - h_there + 1, 0) / np.maximum(after, 1)
    return segments.cumulative_product_before(factor, at.begin[at.owner]) * (h_there / n_there)


def _mean_by_number(  # noqa: PLR0913, PLR0917  # one value per owner
    t: Ints, q: Ints, topic: Ints, n: Ints, m: Ints, weight: Floats, size: Ints, factor: AtRanks
) -> Floats:
    """Return the mean sum of ``weight * factor`` over the places of m among n documents, by owner.

    ``weight`` has the weights of the first, second, ... of the m documents, ``size`` of them for each owner;
    further ones are 0. Above a document at place j there are i of the other m - 1 documents with
    hypergeometric probability. A hypergeometric number is a sum of independent events, so that Bernstein's
    inequality bounds the range of i that matters.
    """
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
        above, others = (at.place - 1).astype(np.float64), (n[there] - 1).astype(np.float64)
        marked = (m[there] - 1).astype(np.float64)
        share = marked / np.maximum(others, 1)
        mean = above * share
        variance = mean * (1 - share) * (others - above) / np.maximum(others - 1, 1)
        width = np.sqrt(2 * _RARE * variance) + 2 / 3 * _RARE
        low = np.maximum(np.floor(mean - width), np.maximum(0, above - (others - marked)))
        width = np.minimum(np.ceil(mean + width), np.minimum(marked, above)) - low + 1
        by_place = np.zeros(there.size)
        rows = np.flatnonzero(low <= last[there])
        rows = rows[np.argsort(-width[rows], kind="stable")]
        while rows.size:
            wide = int(width[rows[0]])
            here, rows = np.split(rows, [max(1, _CHUNK // wide)])
            drawn, wanted, unwanted = above[here, None], marked[here, None], (others - marked)[here, None]
            number = low[here, None] + np.arange(wide)
            before, chance = number[:, :-1], np.ones_like(number)
            odds = (wanted - before) * (drawn - before) / ((before + 1) * (unwanted - drawn + before + 1))
            np.cumprod(odds, axis=1, out=chance[:, 1:])
            index = np.minimum(number, last[there[here], None])
            weights = weight[begin[there[here], None] + index.astype(np.int64)]
            by_place[here] = (chance * np.where(number > index, 0.0, weights)).sum(1) / chance.sum(1)
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


class _HighestGrades:
    """The grades of groups that may be the highest in the list, as mutually exclusive cases.

    In a group entirely above the cutoff, only the highest grade can be. In a group that the cutoff splits,
    all grades above those of the groups above can be; documents of higher grades are then below the cutoff.

    Attributes:
        group, topic, t: group of each case, with its topic and t.
        n, q: number of documents of the group without those of higher grades, and number of places looked at.
        best, value: number of documents of the grade, and their value.
        lower, lower_values: number of counted documents of lower grades, and the sum of their values.
        probability: probability that documents of higher grades, also of groups below, are below the cutoff.
    """

    def __init__(self, tied: TiedDocuments[Any], grade: Ints, value: Floats) -> None:
        grades = int(grade.max(initial=0)) + 1
        key, one, place, count = np.unique(
            tied.group * grades + grade, return_index=True, return_inverse=True, return_counts=True
        )
        group, topic = key // grades, tied.topic[key // grades]
        up_to = np.cumsum(count) - tied.begin[group]  # from the lowest grade of the group
        higher = tied.m[group] - up_to
        sums = np.bincount(place, weights=value, minlength=key.size).astype(np.float64, copy=False)
        lower_values = segments.cumulative_sum_before(sums, segments.starts(group, tied.n.size)[group])
        # The highest grade of the groups above, plus 1; 0 without one.
        highest = np.maximum.reduceat(grade, tied.begin) + 1
        above = segments.cumulative_maximum_before(highest, tied.start)
        is_split = tied.q < tied.n
        possible = np.flatnonzero((key % grades >= above[group]) & (is_split[group] | (higher == 0)))
        # Each whole group of a topic replaces those above it; a split group is the last.
        whole = possible[~is_split[group[possible]]]
        takes_over = np.append(topic[whole][1:] != topic[whole][:-1], True)[: whole.size]
        kept = np.sort(np.concatenate((possible[is_split[group[possible]]], whole[takes_over])))
        better = segments.count(tied.group[grade >= above[tied.group]], tied.n.size)
        none_better = np.ones(tied.view.levels.topics)
        none_better[tied.topic[is_split]] = _none_among(tied.n[is_split], tied.q[is_split], better[is_split])
        self._groups = tied.n.size
        self.group, self.topic, higher = group[kept], topic[kept], higher[kept]
        self.t = tied.t[self.group]
        self.n = tied.n[self.group] - higher
        self.q = np.minimum(tied.q[self.group], self.n)
        self.best, self.value = count[kept], value[one[kept]]
        self.lower, self.lower_values = (up_to - count)[kept], lower_values[kept]
        splits = is_split[self.group]
        unseen = _none_among(tied.n[self.group], tied.q[self.group], np.where(splits, higher, 0))
        self.probability = np.where(splits, unseen, none_better[self.topic])

    def in_groups(self, found: Floats) -> Floats:
        """Return the sum over the cases of each group, weighted by their probabilities."""
        return segments.total(found * self.probability, self.group, self._groups)
