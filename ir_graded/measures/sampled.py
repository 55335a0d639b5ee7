"""Measures for judgments sampled by strata: they estimate the score that a complete pool would give."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ir_graded.core import segments
from ir_graded.core.facets import INCLUSION, STRATUM_OR_ITERATION
from ir_graded.core.levels import Levels, Strata
from ir_graded.core.segments import Floats
from ir_graded.core.views import Cut, View, Views

from .base import Contributions, GradedMeasure, register
from .params import BETA, GAINS, REL, Number

__all__ = ["infNDCG", "infQ", "xinfAP"]

#: The last rank of the list, as in NIST's sample_eval.pl: documents below it do not count.
_DEPTH = 1000
#: Digits of an estimated number of documents before it is rounded: sums of N/n have rounding errors.
_DIGITS = 9
_WHY_NO_IDEAL = "the share of relevant documents above is smoothed, so that it is below 1"
_WHY_NO_SWAP = "a document of the pool that was not judged counts in part as relevant for those below it"
_WHY_NO_EXCHANGE = "a document judged not relevant lowers the estimate for its stratum"


class SampledMeasure(GradedMeasure):
    """A measure that weights the judged documents of a stratum by N/n; without strata, a topic is one.

    The list ends at rank 1000.
    """

    USES = (STRATUM_OR_ITERATION, INCLUSION)
    ESTIMATES = True
    #: All documents of the pool, also those that were not judged.
    lowest_level = -np.inf
    #: Smoothing of the share of relevant documents among those judged.
    EPSILON: ClassVar[float] = 0.00001

    @property
    def cut(self) -> Cut:
        return replace(super().cut, cutoff=_DEPTH)

    def weight(self, view: View) -> Floats:
        """Return N/n of the stratum of each document."""
        strata = Strata.of_levels(view.levels)
        return strata.f[strata.of[view.document]]

    def estimated(self, levels: Levels) -> tuple[Floats, Floats]:
        """Return the gains of relevant levels, descending, and the estimated numbers of their documents.

        Shapes ``(gains,)`` and ``(topics, gains)``.
        """
        strata, grades = Strata.of_levels(levels), self.grades(levels)
        relevant = np.flatnonzero(grades.relevant[levels.level_index])
        gains, place = np.unique(-grades.gain[levels.level_index[relevant]], return_inverse=True)
        cell, f = levels.topic[relevant] * gains.size + place, strata.f[strata.of[relevant]]
        numbers = np.bincount(cell, f, minlength=levels.topics * gains.size)
        return -gains, numbers.reshape(levels.topics, gains.size).astype(np.float64)

    def found_above(self, views: Views, worth: Floats) -> Floats:
        """Return the estimated worth of all documents above each relevant one.

        It is the sum over strata of ``N (V + e) / (n + 3e)`` with their N documents and n judged ones above,
        and the sum V of ``worth``, the worth of each relevant document retrieved.
        """
        view, pool, e = views[self.cut], views[Cut(-np.inf, cutoff=_DEPTH)], self.EPSILON
        relevant = np.flatnonzero(pool.level >= self.cut.rel)
        worths = np.zeros(pool.n.size)
        worths[relevant] = worth
        stratum = Strata.of_levels(view.levels).of[pool.document]
        # Strata ascend with topics; a stable sort keeps the ranking within each.
        order = np.argsort(stratum, kind="stable")
        start = np.searchsorted(stratum[order], stratum[order]).astype(np.int64)
        n = segments.cumulative_sum((pool.level >= 0).astype(np.float64)[order], start)
        V = segments.cumulative_sum(worths[order], start)
        found = segments.ordinals(start) * (V + e) / (n + 3 * e)
        rises = np.empty(found.size)
        rises[order] = found - np.where(segments.ordinals(start) == 1, 0.0, np.roll(found, 1))
        return segments.cumulative_sum_before(rises, pool.start)[relevant]


class _xinfAP(SampledMeasure):
    r"""An estimate of AP from judgments sampled by strata.

    ``xinfAP = 1/R^ * sum over relevant ranks n of N_h/n_h * 1/n * (1 + sum over strata i with N_i(n) > 0 of
    N_i(n) (R_i(n) + e) / (n_i(n) + 3e))``, where h is the stratum of the document at n. Stratum i has N_i
    documents in the pool, of which n_i were judged; N_i(n), n_i(n) and R_i(n) of these, of the judged ones
    and of the relevant ones are above rank n. R^ is the sum over strata of N_i/n_i R_i, and e is 0.00001. The
    list ends at rank 1000, as in NIST's program. In [0, 1]; 0 without a relevant document. Levels below 0 are
    documents of the pool that were not judged.

    Formula:
        \mathrm{xinfAP} = \frac{1}{\hat{R}} \sum_{n \in \mathcal{N}} w(n)\, \frac{1 + S(n)}{n}
        w(n) = \frac{N_{h}}{n_{h}}
        S(n) = \sum_{i} N_{i}(n) \frac{R_{i}(n) + e}{n_{i}(n) + 3 e}

    Use it if a random sample of each stratum of the pool was judged, as in TREC tracks with sampleval files,
    and to compare with their published results. Strata are in the column ``stratum``, or else ``iteration``;
    without either, a topic is one stratum. It takes no cutoff: ``score_estimates`` does.

    Users want all relevant documents, but only a random sample was judged. Binary counterpart: infAP.

    Source: [yilmaz2008simple], as in NIST's sample_eval.pl.

    Example:
        >>> import ir_graded, ir_measures
        >>> measure, rows = ir_graded.xinfAP, [("a", 1, "1"), ("b", 1, "2"), ("c", -1, "2")]
        >>> qrels = [ir_measures.Qrel("1", doc, level, stratum) for doc, level, stratum in rows]
        >>> ir_measures.calc_aggregate([measure], qrels, {"1": {"x": 3.0, "a": 2.0, "b": 1.0}})
        {xinfAP: 0.611106...}

    Lacks ideal:
        >>> qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 2.0, "b": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        0.99999...

    Lacks swap:
        >>> qrels = {"1": {"a": 1, "u": -1}}
        >>> run = {"1": {"w": 6.0, "x": 5.0, "y": 4.0, "z": 3.0, "u": 2.0, "a": 1.0}}
        >>> changed = {"1": {"w": 6.0, "x": 5.0, "y": 4.0, "z": 3.0, "a": 2.0, "u": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.222222..., 0.2]

    Lacks exchange:
        >>> measure, qrels = measure(rel=2), {"1": {"a": 2, "b": 1, "c": 2, "u": -1}}
        >>> run = {"1": {"c": 4.0, "u": 3.0, "x": 2.0, "a": 1.0}}
        >>> changed = {"1": {"c": 4.0, "u": 3.0, "b": 2.0, "a": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.874995..., 0.812499...]
    """

    NAME = "xinfAP"
    PRETTY_NAME = "Extended inferred average precision"
    LACKS = {"ideal": _WHY_NO_IDEAL, "swap": _WHY_NO_SWAP, "exchange": _WHY_NO_EXCHANGE}
    SUPPORTED_PARAMS = {"rel": REL}

    def utility(self, views: Views) -> Floats:
        """Return the expected precision at the rank of each relevant document."""
        view = views[self.cut]
        return (1.0 + self.found_above(views, np.ones(view.n.size))) / view.n

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        norm = self.estimated(view.levels)[1].sum(axis=1)
        name = "the estimated number of relevant documents"
        return Contributions(view, self.weight(view) * self.utility(views), norm, name)

    def columns(self, views: Views) -> dict[str, Floats]:
        return {"weight": self.weight(views[self.cut]), "utility": self.utility(views)}


class _infQ(_xinfAP):
    r"""An estimate of Q from judgments sampled by strata.

    ``infQ = 1/R^ * sum over relevant ranks n of N_h/n_h * (1 + beta g(n) + sum over strata i with N_i(n) > 0
    of N_i(n) (V_i(n) + e) / (n_i(n) + 3e)) / (n + beta cg*(n))``, in the symbols of ``xinfAP``. V_i(n) is the
    sum of 1 + beta g over the relevant documents of stratum i above n. The ideal list of cg* has as many
    documents of each gain as the weights N_i/n_i of the judged ones add up to. It can exceed 1, if few of the
    documents above were judged. In [0, inf). The list ends at rank 1000, so that infQ with beta=0 is xinfAP.

    Formula:
        \mathrm{infQ} = \frac{1}{\hat{R}} \sum_{n \in \mathcal{N}} w(n)\, \mathrm{U}(n)
        w(n) = \frac{N_{h}}{n_{h}}
        \mathrm{U}(n) = \frac{1 + \beta g(n) + S(n)}{n + \beta\, \mathrm{cg}^{*}(n)}
        S(n) = \sum_{i} N_{i}(n) \frac{V_{i}(n) + e}{n_{i}(n) + 3 e}

    Use it as ``xinfAP``, if better documents matter more. If all documents of the pool were judged, it is
    ``Q@1000`` up to the smoothing.

    Users want all relevant documents, but only a random sample was judged. Binary counterpart: infAP.

    Source: [sakai2004new], estimated here as AP is by [yilmaz2008simple].

    Example:
        >>> import ir_graded, ir_measures
        >>> measure, rows = ir_graded.infQ, [("a", 2, "1"), ("b", 1, "2"), ("c", -1, "2")]
        >>> qrels = [ir_measures.Qrel("1", doc, level, stratum) for doc, level, stratum in rows]
        >>> ir_measures.calc_aggregate([measure], qrels, {"1": {"x": 3.0, "a": 2.0, "b": 1.0}})
        {infQ: 0.676182...}

    Lacks swap:
        >>> qrels = {"1": {"a": 1, "u": -1}}
        >>> run = {"1": {"w": 6.0, "x": 5.0, "y": 4.0, "z": 3.0, "u": 2.0, "a": 1.0}}
        >>> changed = {"1": {"w": 6.0, "x": 5.0, "y": 4.0, "z": 3.0, "a": 2.0, "u": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.291666..., 0.285714...]

    Lacks exchange:
        >>> measure, qrels = measure(rel=2), {"1": {"a": 2, "b": 1, "c": 2, "u": -1}}
        >>> run = {"1": {"c": 4.0, "u": 3.0, "x": 2.0, "a": 1.0}}
        >>> changed = {"1": {"c": 4.0, "u": 3.0, "b": 2.0, "a": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.982134..., 0.901782...]
    """

    NAME = "infQ"
    PRETTY_NAME = "Inferred Q-measure"
    SUPPORTED_PARAMS = {"beta": Number(BETA.desc, default=1, low=0), "gains": GAINS, "rel": REL}
    RANGE = (0.0, np.inf)

    def utility(self, views: Views) -> Floats:
        view, beta = views[self.cut], self["beta"]
        gains, numbers = self.estimated(view.levels)
        worth = 1.0 + beta * self.graded(view).g
        steps = gains - np.append(gains[1:], 0.0)
        # n documents of the ideal list have at least some gain: min(k, n) of these down to rank k.
        cg_star = np.zeros(view.n.size)
        # One gain after the other: there may be as many as documents.
        for step, at_least in zip(steps, np.cumsum(numbers, axis=1).T, strict=True):
            cg_star += step * np.minimum(view.n, at_least[view.topic])
        return np.asarray((worth + self.found_above(views, worth)) / (view.n + beta * cg_star))


class _infNDCG(SampledMeasure):
    r"""An estimate of nDCG from judgments sampled by strata.

    ``infNDCG = sum over strata i of N_i(1000)/n_i(1000) * sum over its relevant ranks n of g(n) / log2(n + 1)
    / DCG of the ideal list``. The list ends at rank 1000; N_i(1000) documents of the pool of stratum i are in
    it, and n_i(1000) of these were judged. The ideal list has floor(sum over strata of N_i/n_i R_i(g) + 0.5)
    documents of each gain g, if R_i(g) of the n_i judged documents of stratum i have it. In [0, inf): the
    list and the ideal list are estimated separately.

    Formula:
        \mathrm{infNDCG} = \frac{1}{\mathrm{DCG}^{*}} \sum_{n \in \mathcal{N}} w(n)\, g(n)\, D(n)
        D(n) = \frac{1}{\log_{2}(n + 1)}
        w(n) = \frac{N_{i}(1000)}{n_{i}(1000)}

    Use it as ``xinfAP``, in particular to compare with published results of TREC tracks with sampleval files.
    ``infQ`` has a smaller error in our measurements. Levels must be whole numbers.

    Users want all relevant documents, but only a random sample was judged. Binary counterpart: infAP.

    Source: [yilmaz2008simple], as in NIST's sample_eval.pl; grades are sorted as numbers here.

    Example:
        >>> import ir_graded, ir_measures
        >>> rows = [("a", 2, "1"), ("b", 1, "2"), ("c", -1, "2")]
        >>> qrels = [ir_measures.Qrel("1", doc, level, stratum) for doc, level, stratum in rows]
        >>> ir_measures.calc_aggregate([ir_graded.infNDCG], qrels, {"1": {"a": 2.0, "c": 1.0, "b": 0.0}})
        {infNDCG: 0.958181...}

    Lacks ideal:
        >>> measure, qrels, run = ir_graded.infNDCG, {"1": {"a": 1, "u": -1}}, {"1": {"a": 2.0}}
        >>> measure.calc_aggregate(qrels, run)  # with u at rank 2, 1.226294
        0.613147...

    Lacks swap:
        >>> measure, qrels = ir_graded.infNDCG, {"1": {"a": 10, "b": 1, "u": -1}}
        >>> first = {"a": 2000.0, **{f"x{place}": 1000.0 - place for place in range(998)}}
        >>> run, changed = {"1": {**first, "u": 2.0, "b": 1.0}}, {"1": {**first, "b": 2.0, "u": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.160094..., 0.585866...]

    Lacks exchange:
        >>> measure, qrels = ir_graded.infNDCG, {"1": {"a": 10, "b": 1, "u": -1}}
        >>> run = {"1": {"a": 3.0, "u": 2.0, "x": 1.0}}
        >>> changed = {"1": {"a": 3.0, "u": 2.0, "b": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.160094..., 0.913574...]
    """

    NAME = "infNDCG"
    PRETTY_NAME = "Inferred normalised discounted cumulative gain"
    LACKS = {
        "ideal": "unjudged documents of the pool in the list raise the weights of the judged ones",
        "swap": "the documents of the pool in the first 1000 ranks change if the swap is at rank 1000",
        "exchange": "a further judged document lowers the weight of all in its stratum",
    }
    SUPPORTED_PARAMS = {"gains": GAINS}
    RANGE = (0.0, np.inf)
    NEEDS_WHOLE_LEVELS = True

    def weight(self, view: View) -> Floats:
        """Return N/n of the stratum of each document, counted in the list."""
        strata, whole = Strata.of_levels(view.levels), Cut(-np.inf, cutoff=_DEPTH)
        pool, stratum = View(view.levels, view.hits, whole), strata.of[view.document]
        of = strata.of[pool.document]
        N, n = (segments.count(some, strata.N.size)[stratum] for some in (of, of[pool.level >= 0]))
        return np.asarray(N / n)

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        terms = self.weight(view) * self.graded(view).g / np.log2(view.n + 1.0)
        gains, numbers = self.estimated(view.levels)
        # The ideal list has the documents of each gain at the ranks down to the sum of the rounded numbers.
        ends = np.cumsum(np.floor(np.round(numbers, _DIGITS) + 0.5).astype(np.int64), axis=1)
        discounts = 1.0 / np.log2(np.arange(2.0, ends.max(initial=0) + 2.0))
        total = np.concatenate(([0.0], np.cumsum(discounts)))
        ideal = np.asarray((gains * np.diff(total[ends], axis=1, prepend=0.0)).sum(axis=1))
        return Contributions(view, terms, ideal, "the estimated DCG of the ideal list")

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        discount = 1.0 / np.log2(view.n + 1.0)
        return {"gain": self.graded(view).g, "discount": discount, "weight": self.weight(view)}


xinfAP = register(_xinfAP())
infQ = register(_infQ())
infNDCG = register(_infNDCG())
