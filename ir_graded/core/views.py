"""Views of a run: the documents, articles or rows that a measure looks at, in the symbols of the papers.

A :class:`View` holds, for all topics at once, the ranks ``n`` of the relevant documents and the values of
``C(n)``, ``cg(n)``, ``cg*(n)`` and ``BR(n)`` at these ranks; an :class:`ArticleView` the F-scores of Kamps,
Lalmas and Pehcevski (2007). The measures of one evaluation share views.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import segments
from .judged_run import CountedDocuments, JudgedRun
from .levels import Highlights, Ideal, Levels, Overrides
from .passages import Budget, Found, PassageRows, Spans
from .segments import Bools, Floats, Ints, cumulative_sum, whole_total
from .struct import Keeps
from .tie_means import TiedDocuments, Utility


def f_score(overlap: Ints, retrieved: Ints, highlighted: Ints, beta: float) -> Floats:
    """Return F(a) = (1 + beta^2) P R / (beta^2 P + R), or R where beta is inf; 0 without overlap.

    With P = overlap/retrieved and R = overlap/highlighted this is
    (1 + beta^2) overlap / (beta^2 highlighted + retrieved), which divides once.
    """
    of_highlighted, of_retrieved = f_weights(beta)
    weight = of_highlighted * highlighted + of_retrieved * retrieved
    overlaps = overlap > 0
    ratio = (of_highlighted + of_retrieved) * overlap / np.where(overlaps, weight, 1.0)
    # Rounding can put a perfect article one ulp above 1.
    return np.where(overlaps, np.minimum(ratio, 1.0), 0.0)


def f_weights(beta: float) -> tuple[float, float]:
    """Return the weights of the lengths of highlighted and of retrieved text in the divisor of F."""
    return (float(beta) ** 2, 1.0) if beta <= 1 else (1.0, (1 / float(beta)) ** 2)  # also for inf


class ArticleView(CountedDocuments):
    """The articles with relevance that a run retrieved, in the order of its ranking.

    An article has relevance where spans of level >= ``rel`` highlight at least one position of it.

    Attributes:
        F: F-score of each article.
    """

    kind = "articles with relevance"

    def __init__(self, levels: Levels, hits: JudgedRun, rel: float, beta: float, cutoff: int | None) -> None:
        # Passages are missing only for empty qrels and empty runs.
        retrieved_spans = hits.retrieved or Spans.empty()
        highlights = levels.highlights or Highlights(Spans.empty(), np.zeros(0))
        relevant_spans = highlights.spans[highlights.level >= rel]
        articles = levels.topic.size
        highlighted = relevant_spans.union_length(articles)
        super().__init__(levels, hits, highlighted[hits.document] > 0, hits.rank, cutoff)
        self.counting = highlighted > 0
        #: Number of articles with relevance of each topic (Numrel), shape ``(topics,)``.
        self.R = segments.count(levels.topic[self.counting], levels.topics)
        retrieved = retrieved_spans.union_length(articles)
        union = Spans.concat([retrieved_spans, relevant_spans]).union_length(articles)
        self._overlap, self._lengths = highlighted + retrieved - union, (retrieved, highlighted)
        self._beta = beta
        self.F: Floats = self._f_score(self.document)

    def _f_score(self, article: Ints) -> Floats:
        retrieved, highlighted = self._lengths
        return f_score(self._overlap[article], retrieved[article], highlighted[article], self._beta)

    @property
    def worth(self) -> Floats:
        """F-score of all judged articles retrieved, also below the cutoff; -1 for those without relevance."""
        return np.where(self._counts, self._f_score(self.hits.document), -1.0)

    @property
    def gP(self) -> Floats:
        """Generalised precision at each article: the sum of F down to it, divided by its rank."""
        return np.asarray(segments.cumulative_sum(self.F, self.start) / self.n)


class PassageView(CountedDocuments):
    """The rows that hold highlighted text, in the order of the ranking of rows.

    Attributes:
        all: all rows of the run that are kept.
        at: place of each row among those of ``rows`` in :class:`Found`.
        found: highlighted characters in each row that are not in a better row.
        each: all highlighted characters in each row.
    """

    kind = "rows with highlighted text"
    countable = False

    def __init__(self, levels: Levels, found: Found, highlighted: Ints, cutoff: int | None) -> None:
        """``highlighted`` are the articles with highlighted text."""
        rows = found.rows
        at = np.flatnonzero(found.each > 0)
        document = rows.spans.article[at]
        hits = JudgedRun(
            rows.topic[at], rows.rank[at], levels.level_index[document], document, found.lengths.sizes
        )
        super().__init__(levels, hits, np.ones(at.size, dtype=np.bool_), hits.rank, cutoff)
        self.all = found
        self.counting = np.zeros(levels.topic.size, dtype=np.bool_)
        self.counting[highlighted] = True
        #: Number of highlighted characters of each topic, shape ``(topics,)``.
        self.R = found.total
        self.at: Ints = (at := at[self._rows])
        self.found: Ints = found.first[at]
        self.each: Ints = found.each[at]
        self.rows: PassageRows = rows[at]

    @property
    def found_down_to(self) -> Ints:
        """Highlighted characters down to each row, each counted once."""
        return cumulative_sum(self.found.astype(np.float64), self.start).astype(np.int64)

    @property
    def precision(self) -> Floats:
        """Highlighted characters found down to each row, as a share of all characters in these rows."""
        return np.asarray(self.found_down_to / self.all.lengths.down_to(self.n, self.topic))

    @property
    def total_found(self) -> Ints:
        """Highlighted characters found down to the cutoff, each counted once, shape ``(topics,)``."""
        return self.sum_by_topic(self.found.astype(np.float64)).astype(np.int64)

    def retrieved_characters(self, *, once: bool) -> Ints:
        """Return the characters in the rows of each topic down to the cutoff; ``once`` ignores repeats."""
        lengths = self.all.lengths.first(self.cutoff)
        if not once:
            return lengths
        rows, repeated = self.all.rows, self.all.repeated
        if self.cutoff is not None:
            repeated = np.where(rows.rank <= self.cutoff, repeated, 0)
        return lengths - whole_total(repeated, rows.topic, self.levels.topics)


def highlighted_text(levels: Levels, rel: float, *, official: bool = False) -> Spans:
    """Return the union of the spans of level >= ``rel``."""
    highlights = levels.highlights or Highlights(Spans.empty(), np.zeros(0))
    wanted = highlights.official(rel) if official else highlights.level >= rel
    return levels.kept(("highlighted", rel, official), highlights.spans[wanted].union)


@dataclass(frozen=True)
class Cut:
    """Part of a ranking that a measure looks at. Measures with equal cuts share a view."""

    rel: float = 1.0
    judged_only: bool = False
    cutoff: int | None = None


class View(CountedDocuments, Keeps):
    """The relevant documents that a run retrieved, seen through a :class:`Cut`.

    Attributes:
        cut: lowest relevant level, cutoff, and whether unjudged documents are dropped.
        level_index: position of the level of each document in ``levels.values``.
    """

    def __init__(self, levels: Levels, hits: JudgedRun, cut: Cut) -> None:
        n = hits.rank
        if cut.judged_only:
            judged = (levels.values >= 0)[hits.level_index]
            above = np.concatenate(([0], np.cumsum(judged, dtype=np.int64)))
            n = above[1:] - above[segments.starts(hits.topic, levels.topics)[hits.topic]]
        super().__init__(levels, hits, (levels.values >= cut.rel)[hits.level_index], n, cut.cutoff)
        self.cut = cut
        self.level_index: Ints = self._chosen(hits.level_index)
        self._kept = {}
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

    @cached_property
    def counting(self) -> Bools:
        return (self.levels.values >= self.cut.rel)[self.levels.level_index]

    @cached_property
    def N(self) -> Ints:
        """Number of documents of each topic judged not relevant, and of later rows of judged ones."""
        N = self.levels.ideal(0.0, self.levels.values).R - self.R
        if self.hits.again is None:
            return N
        judged = self.hits.again & (self.levels.values >= 0)[self.hits.level_index]
        return N + segments.count(self.hits.topic[judged], self.levels.topics)

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

        def make() -> GradedView:
            view = copy(self)
            # Without a cycle, the arrays are freed before the next garbage collection.
            view._kept = {}  # noqa: SLF001  # of this class
            return GradedView(view, gains)

        return self.kept(gains, make)


class GradedView(Keeps):
    """A view with gains: cumulative gain, ideal cumulative gain and their blend with counts."""

    def __init__(self, view: View, gains: Overrides) -> None:
        self.view = view
        self.table: Floats = view.levels.table(gains)
        self.g: Floats = self.table[view.level_index]
        self._kept = {}

    @cached_property
    def cg(self) -> Floats:
        """Cumulative gain cg at each relevant document."""
        return segments.cumulative_sum(self.g, self.view.start)

    @cached_property
    def ideal(self) -> Ideal:
        """The ideal list of each topic, by gain."""
        return self.view.levels.ideal(self.view.cut.rel, self.table)

    def mean_utility(self, beta: float) -> Utility:
        """Return the blended ratio as a utility, for means over orders of tied documents."""
        # With beta=inf and no gain in the ideal list, the ratio is C/n.
        counts = math.isinf(beta) & (self.ideal.largest == 0)

        def factor(n: Ints, topic: Ints) -> Floats:
            of_count, of_gain = blend(beta)
            denominator = of_count * n + of_gain * self.ideal.first(n, topic)
            return np.asarray(1.0 / np.where(counts[topic], n, denominator))

        return Utility(factor, np.where(counts[self.view.topic], 1.0, self.blended_gain(beta)))

    @cached_property
    def cg_star(self) -> Floats:
        """Cumulative gain cg* of the ideal list at the same ranks."""
        return self.ideal.first(self.view.n, self.view.topic)

    def blended_gain(self, beta: float) -> Floats:
        """Return 1 + beta g of each document, the summands in the numerator of BR."""
        of_count, of_gain = blend(beta)
        return of_count + of_gain * self.g

    def BR(self, beta: float) -> Floats:
        """Return the blended ratio (C + beta cg) / (n + beta cg*) at each relevant document."""
        return self.kept(beta, lambda: blended_ratio(self.view.C, self.cg, self.view.n, self.cg_star, beta))

    def BR_at(self, n: Ints, beta: float) -> Floats:
        """Return the blended ratio at one rank ``n`` of each topic (n >= 1), relevant or not.

        If the list ends above n, C and cg keep their last value.
        """
        view, every = self.view, np.arange(self.view.levels.topics, dtype=np.int64)
        C = segments.count(view.topic[view.n <= n[view.topic]], every.size)
        cg = np.zeros(every.size)
        some = C > 0
        cg[some] = self.cg[view.topic_start[some] + C[some] - 1]
        return blended_ratio(C, cg, n, self.ideal.first(n, every), beta)


def blend(beta: float) -> tuple[float, float]:
    """Return the weights of counts and of gains in the blended ratio."""
    return (0.0, 1.0) if math.isinf(beta) else (1.0, beta)


def blended_ratio(C: Ints, cg: Floats, n: Ints, cg_star: Floats, beta: float) -> Floats:
    """Return BR(n) = (C(n) + beta cg(n)) / (n + beta cg*(n)); C/n where beta = inf and cg* = 0."""
    of_count, of_gain = blend(beta)
    numerator = of_count * C + of_gain * cg
    denominator = of_count * n + of_gain * cg_star
    defined = denominator > 0
    if defined.all():
        return np.asarray(numerator / denominator)
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), C / n)


class Views(Keeps):
    """The views of one run, made on first use and shared between measures.

    The order of tied documents is that of ``hits`` ('doc_id'), or highest level first ('optimistic') or last
    ('pessimistic').
    """

    def __init__(self, levels: Levels, hits: JudgedRun, ties: str = "doc_id") -> None:
        self.levels = levels
        self._ties = ties
        self.hits = self._in_order(hits, hits.level_index)
        self._kept = {}

    def __getitem__(self, cut: Cut) -> View:
        return self.kept(cut, lambda: View(self.levels, self.hits, cut))

    @classmethod
    def of_rows(cls, levels: Levels, hits: JudgedRun) -> Views:
        """Return the views of a list in which a document counts at its first row.

        Its later rows have level 0 if the document is judged. A list of documents does not change.
        """
        if hits.again is None:
            return cls(levels, hits)
        with_zero = levels.with_zero()
        level_index = np.searchsorted(with_zero.values, levels.values)[hits.level_index].astype(np.int64)
        zero = np.searchsorted(with_zero.values, 0.0)
        np.minimum(level_index, zero, out=level_index, where=hits.again)
        return cls(with_zero, replace(hits, level_index=level_index))

    def by_row(self) -> Views:
        """Return the views of the list of rows, if the run holds passages and its rows are known."""
        make = lambda: self.of_rows(self.levels, self.hits.by_row(self.levels.topic.size))  # noqa: E731
        return self if self.hits.rows is None else self.kept("by row", make)

    def articles(self, rel: float, beta: float, cutoff: int | None) -> ArticleView:
        """Return the view of the articles with relevance; run and qrels must hold passages."""

        def make() -> ArticleView:
            articles = ArticleView(self.levels, self.hits, rel, beta, cutoff)
            hits = self._in_order(self.hits, articles.worth)
            return articles if hits is self.hits else ArticleView(self.levels, hits, rel, beta, cutoff)

        return self.kept(("articles", rel, beta, cutoff), make)

    def passages(
        self, rel: float, cutoff: int | None, *, official: bool = False, budget: Budget | None = None
    ) -> PassageView:
        """Return the view of the rows with highlighted text; run and qrels must hold passages.

        With ``official``, only spans that have aspects count, if aspects are known.
        """
        highlighted = highlighted_text(self.levels, rel, official=official)

        def find() -> Found:
            rows = (self.hits.rows or PassageRows.empty()).within(budget)
            return Found.of(rows, highlighted, self.levels.topic, self.levels.topics)

        key = rel, official, budget
        found = self.kept(("text", *key), find)
        make = lambda: PassageView(self.levels, found, highlighted.article, cutoff)  # noqa: E731
        return self.kept(("passages", cutoff, *key), make)

    def _in_order(self, hits: JudgedRun, worth: Ints | Floats) -> JudgedRun:
        """Return the run with tied documents in the order of these views, the others by ``worth``."""
        if self._ties == "doc_id" or hits.ties is None:
            return hits
        group = segments.pair_key(hits.topic, hits.ties.first)
        order = np.lexsort((-worth, group))
        above = np.empty_like(order)
        above[order] = segments.ordinals(np.searchsorted(group, group)) - 1
        rank = hits.ties.first + (above if self._ties == "optimistic" else hits.ties.tied - 1 - above)
        return replace(hits, rank=rank)[np.argsort(segments.pair_key(hits.topic, rank))]

    def ordered(self, ties: str) -> Views:
        """Return the views of the run with tied documents in another order: 'optimistic' or 'pessimistic'."""
        return self.kept(("ordered", ties), lambda: Views(self.levels, self.hits, ties))

    @cached_property
    def tied_topics(self) -> Bools:
        """Whether each topic has a tied document that counts for some measure, shape ``(topics,)``."""
        ties, topics = self.hits.ties, self.levels.topics
        if ties is None:
            return np.zeros(topics, dtype=np.bool_)
        return segments.count(self.hits.topic[ties.tied > 1], topics) > 0

    def tied(self, cut: Cut) -> TiedDocuments[View]:
        """Return the documents of a cut by tie group, in the topics that have ties."""

        def make() -> TiedDocuments[View]:
            hits = self._by_tie_group(condensed=cut.judged_only)
            return TiedDocuments(View(self.levels, hits, replace(cut, judged_only=False)))

        return self.kept(("tied", cut), make)

    def tied_articles(self, rel: float, beta: float, cutoff: int | None) -> TiedDocuments[ArticleView]:
        """Return the articles with relevance by tie group, in the topics that have ties."""

        def make() -> TiedDocuments[ArticleView]:
            hits = self._by_tie_group(condensed=False)
            return TiedDocuments(ArticleView(self.levels, hits, rel, beta, cutoff))

        return self.kept(("tied articles", rel, beta, cutoff), make)

    def _by_tie_group(self, *, condensed: bool) -> JudgedRun:
        """Return the run with only the topics that have ties; documents are at the first rank of their group.

        With ``condensed``, only documents with a level >= 0 are in the list.
        """
        run = self.hits[self.tied_topics[self.hits.topic]]
        if condensed:
            run = run.condensed((self.levels.values >= 0)[run.level_index], self.levels.topics)
        return replace(run, rank=run.tie_groups.first, ties=run.tie_groups)
