"""Views of a run: the documents that a measure looks at, in the symbols of the papers.

A :class:`View` holds, for all topics at once, the ranks ``n`` of the relevant documents and the values of
``C(n)``, ``cg(n)``, ``cg*(n)`` and ``BR(n)`` at these ranks. The measures of one evaluation share views.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import segments
from .article_view import ArticleView
from .counted import CountedDocuments
from .judged_run import JudgedRun
from .levels import LARGE, Ideal, Levels, Overrides
from .passage_rows import Found
from .passage_view import PassageView, found_text
from .segments import Bools, Floats, Ints
from .tie_means import TiedDocuments, Utility


@dataclass(frozen=True)
class Cut:
    """Part of a ranking that a measure looks at. Measures with equal cuts share a view."""

    rel: float = 1.0
    judged_only: bool = False
    cutoff: int | None = None


class View(CountedDocuments):
    """The relevant documents that a run retrieved, seen through a :class:`Cut`.

    Attributes:
        cut: the cut.
        level_index: position of the level of each document in ``levels.values``.
    """

    def __init__(self, levels: Levels, hits: JudgedRun, cut: Cut) -> None:
        n = hits.rank
        if cut.judged_only:
            n = hits.condensed_rank((levels.values >= 0)[hits.level_index], levels.topics)
        super().__init__(levels, hits, (levels.values >= cut.rel)[hits.level_index], n, cut.cutoff)
        self.cut = cut
        self.level_index: Ints = hits.level_index[self._rows]
        self._graded: dict[Overrides, GradedView] = {}
        if cut.rel == -np.inf:
            self.kind = "judged documents"

    @property
    def rank_in_run(self) -> Ints | None:
        return self.hits.rank[self._rows] if self.cut.judged_only else None

    @cached_property
    def level(self) -> Floats:
        """Level of each document."""
        return self.levels.values[self.level_index]

    @cached_property
    def R(self) -> Ints:
        """Number of relevant documents of each topic, shape ``(topics,)``."""
        return self.levels.ideal(self.cut.rel, self.levels.values).R

    @property
    def max_retrievable(self) -> Ints:
        """Number of relevant documents that the first k ranks can hold: min(R, k). Shape ``(topics,)``."""
        return self.R if self.cutoff is None else np.minimum(self.R, self.cutoff)

    @cached_property
    def rp(self) -> Ints:
        """Preferred rank of each topic: the first rank of its highest level retrieved; 0 without one."""
        best = np.full(self.levels.topics, -1, dtype=np.int64)
        np.maximum.at(best, self.topic, self.level_index)
        preferred = np.flatnonzero(self.level_index == best[self.topic])
        rp = np.zeros(self.levels.topics, dtype=np.int64)
        # Assign from the last to the first, so that the smallest rank remains.
        rp[self.topic[preferred[::-1]]] = self.n[preferred[::-1]]
        return rp

    def graded(self, gains: Overrides) -> GradedView:
        """Return these documents with their gains."""
        if gains not in self._graded:
            self._graded[gains] = GradedView(self, gains)
        return self._graded[gains]


class GradedView:
    """A view with gains: cumulative gain, ideal cumulative gain and their blend with counts.

    Cumulative gains are in the units of the ideal lists.
    """

    def __init__(self, view: View, gains: Overrides) -> None:
        self.view = view
        self.table: Floats = view.levels.table(gains)
        self.g: Floats = self.table[view.level_index]
        self._BR: dict[float, Floats] = {}

    @cached_property
    def cg(self) -> Floats:
        """Cumulative gain cg at each relevant document."""
        return segments.cumulative_sum(self._in_units, self.view.start)

    @cached_property
    def ideal(self) -> Ideal:
        """The ideal list of each topic, by gain."""
        return self.view.levels.ideal(self.view.cut.rel, self.table)

    @property
    def _in_units(self) -> Floats:
        """Gain of each relevant document in the unit of its topic."""
        return self.ideal.in_units(self.g, self.view.topic)

    def mean_utility(self, beta: float) -> Utility:
        """Return the blended ratio as a utility, for means over orders of tied documents."""
        # With beta=inf and no gain in the ideal list, the ratio is C/n.
        counts = math.isinf(beta) & (self.ideal.largest == 0)

        def factor(n: Ints, topic: Ints) -> Floats:
            of_count, of_gain = self._weights(beta, topic)
            denominator = of_count * n + of_gain * self.ideal.first(n, topic)
            return np.asarray(1.0 / np.where(counts[topic], n, denominator))

        return Utility(factor, np.where(counts[self.view.topic], 1.0, self.blended_gain(beta)))

    @cached_property
    def cg_star(self) -> Floats:
        """Cumulative gain cg* of the ideal list at the same ranks."""
        return self.ideal.first(self.view.n, self.view.topic)

    def blended_gain(self, beta: float) -> Floats:
        """Return 1 + beta g of each document, in units: the summands in the numerator of BR."""
        of_count, of_gain = self._weights(beta, self.view.topic)
        return of_count + of_gain * self._in_units

    def BR(self, beta: float) -> Floats:
        """Return the blended ratio (C + beta cg) / (n + beta cg*) at each relevant document."""
        if beta not in self._BR:
            weights = self._weights(beta, self.view.topic)
            self._BR[beta] = blended_ratio(self.view.C, self.cg, self.view.n, self.cg_star, weights)
        return self._BR[beta]

    def BR_at(self, n: Ints, beta: float) -> Floats:
        """Return the blended ratio at one rank ``n`` of each topic (n >= 1), relevant or not.

        If the list ends above n, C and cg keep their last value.
        """
        view = self.view
        topics = view.levels.topics
        every = np.arange(topics, dtype=np.int64)
        C = segments.count(view.topic[view.n <= n[view.topic]], topics)
        cg = np.zeros(topics)
        some = C > 0
        cg[some] = self.cg[view.topic_start[some] + C[some] - 1]
        return blended_ratio(C, cg, n, self.ideal.first(n, every), self._weights(beta, every))

    def _weights(self, beta: float, topic: Ints) -> Weights:
        """Return the weights of count and of gain: (1, beta), or both divided by beta if it is too large."""
        if beta == 0 or math.isinf(beta):
            return float(beta == 0), float(beta != 0)
        mantissa, exponent = math.frexp(beta)
        if self.ideal.is_moderate and exponent <= LARGE:
            return 1.0, beta
        exponents = exponent + self.ideal.exponent[topic]
        is_large = exponents > LARGE
        of_count = np.ldexp(1.0 / mantissa, -np.maximum(exponents, LARGE))
        of_gain = np.ldexp(mantissa, np.minimum(exponents, LARGE))
        return np.where(is_large, of_count, 1.0), np.where(is_large, 1.0, of_gain)


#: Weights of counts and of gains: one for all topics or one per topic.
Weights = tuple[float, float] | tuple[Floats, Floats]


def blended_ratio(C: Ints, cg: Floats, n: Ints, cg_star: Floats, weights: Weights) -> Floats:
    """Return BR(n) = (C(n) + beta cg(n)) / (n + beta cg*(n)); C/n where beta = inf and cg* = 0.

    Args:
        C: number of relevant documents down to n.
        cg: cumulative gain down to n.
        n: the ranks.
        cg_star: cumulative gain of the ideal list down to n.
        weights: weights of counts and of gains: (1, beta), or (0, 1) for beta = inf.
    """
    of_count, of_gain = weights
    numerator = of_count * C + of_gain * cg
    denominator = of_count * n + of_gain * cg_star
    defined = denominator > 0
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), C / n)


class Views:
    """The views of one run, made on first use and shared between measures.

    Args:
        levels: the judgments.
        hits: the judged documents that the run retrieved.
        ties: order of tied documents: 'doc_id' (the order of ``hits``), 'optimistic' (highest level first) or
            'pessimistic' (highest level last).
    """

    def __init__(self, levels: Levels, hits: JudgedRun, ties: str = "doc_id") -> None:
        self.levels = levels
        self._ties = ties
        self.hits = self._in_order(hits, hits.level_index)
        self._views: dict[Cut, View] = {}
        self._articles: dict[tuple[float, float, int | None], ArticleView] = {}
        self._found: dict[tuple[float, bool], Found] = {}
        self._passages: dict[tuple[float, int | None, bool], PassageView] = {}
        self._ordered: dict[str, Views] = {}
        self._tied: dict[object, TiedDocuments[Any]] = {}
        self._kept: dict[object, Views] = {}

    def __getitem__(self, cut: Cut) -> View:
        if cut not in self._views:
            self._views[cut] = View(self.levels, self.hits, cut)
        return self._views[cut]

    def kept(self, key: object, make: Callable[[], Views]) -> Views:
        """Return views of a collection derived from this one, cached under a key."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def articles(self, rel: float, beta: float, cutoff: int | None) -> ArticleView:
        """Return the view of the articles with relevance; run and qrels must hold passages."""
        key = (rel, beta, cutoff)
        if key not in self._articles:
            articles = ArticleView(self.levels, self.hits, rel, beta, cutoff)
            if self._ties != "doc_id" and self.hits.ties is not None:
                hits = self._in_order(self.hits, articles.worth)
                articles = ArticleView(self.levels, hits, rel, beta, cutoff)
            self._articles[key] = articles
        return self._articles[key]

    def passages(self, rel: float, cutoff: int | None, *, official: bool = False) -> PassageView:
        """Return the view of the rows with highlighted text; run and qrels must hold passages."""
        if (rel, official) not in self._found:
            self._found[rel, official] = found_text(self.levels, self.hits, rel, official=official)
        key = rel, cutoff, official
        if key not in self._passages:
            self._passages[key] = PassageView(self.levels, self._found[rel, official], cutoff)
        return self._passages[key]

    # ------------------------------------------------------------------------------------------ ties

    def _in_order(self, hits: JudgedRun, worth: Ints | Floats) -> JudgedRun:
        """Return the run with tied documents in the order of these views."""
        if self._ties == "doc_id":
            return hits
        return hits.ordered_in_ties(worth, best_first=self._ties == "optimistic")

    def ordered(self, ties: str) -> Views:
        """Return the views of the run with tied documents in another order: 'optimistic' or 'pessimistic'."""
        if ties not in self._ordered:
            self._ordered[ties] = Views(self.levels, self.hits, ties)
        return self._ordered[ties]

    @cached_property
    def tied_topics(self) -> Bools:
        """Whether each topic has a tied document that counts for some measure, shape ``(topics,)``."""
        return self.hits.tied_topics(self.levels.topics)

    def tied(self, cut: Cut) -> TiedDocuments[View]:
        """Return the documents of a cut by tie group, in the topics that have ties."""
        if cut not in self._tied:
            view = View(self.levels, self._by_tie_group(cut.judged_only), replace(cut, judged_only=False))
            self._tied[cut] = TiedDocuments(view)
        return self._tied[cut]

    def tied_articles(self, rel: float, beta: float, cutoff: int | None) -> TiedDocuments[ArticleView]:
        """Return the articles with relevance by tie group, in the topics that have ties."""
        key = (rel, beta, cutoff)
        if key not in self._tied:
            view = ArticleView(self.levels, self._by_tie_group(condensed=False), rel, beta, cutoff)
            self._tied[key] = TiedDocuments(view)
        return self._tied[key]

    def _by_tie_group(self, condensed: bool) -> JudgedRun:
        judged = (self.levels.values >= 0)[self.hits.level_index]
        return self.hits.by_tie_group(judged, self.levels.topics, condensed=condensed)
