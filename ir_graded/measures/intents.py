"""Measures over intents: a base measure on a list by global gain (D, DIN), or on one per intent (IA, P+Q)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core import derived, segments
from ir_graded.core.facets import INTENT
from ir_graded.core.judged_run import CountedDocuments
from ir_graded.core.segments import Bools, Floats, Ints, pair_key
from ir_graded.core.views import Cut, Views
from ir_graded.errors import ParameterError

from .base import Contributions, GradedMeasure, Scorer, TiedContributions, register, safe_divide
from .classic.precision import Success
from .composed import BaseMeasure, ComposedMeasure, add_short_names, at_cutoff, computed
from .one_list import WHY_NO_EXCHANGE, WHY_NO_SWAP, P_plus, Q
from .params import BETA, CUTOFF, GAINS, JUDGED_ONLY, MEAN_ORDER, MEAN_TIES, REL, TIES, Number

__all__ = ["DIN", "IA", "D", "DIN_sharp", "D_sharp", "IA_sharp", "I_rec", "P_plus_Q", "P_plus_Q_sharp"]


#: Weight of I-rec in the # measures.
GAMMA = Number("weight of I-rec against the measure without #", default=0.5, low=0, high=1)
_ABOVE_0 = float(np.nextafter(0.0, 1.0))


def _score(scorer: Scorer, views: Views, ties: bool) -> Floats:
    return scorer.score_with_ties(views) if ties else scorer.score(views)


@dataclass(frozen=True)
class _Found(Success):
    """Scorer that gives 1 to a list with a relevant document within the cutoff (a covered intent), else 0."""

    cutoff: int | None
    order: str

    @property
    def cut(self) -> Cut:
        return Cut(-np.inf, cutoff=self.cutoff)

    @property
    def ties(self) -> str:
        return self.order


class IntentMeasure(GradedMeasure):
    """Base class of measures over intents: a score, and for # measures its mean with I-rec."""

    NEEDS = (INTENT,)

    @property
    def judging(self) -> Scorer:
        """Measure that determines which levels are relevant and whether the list is condensed."""
        return self.base if isinstance(self, ComposedMeasure) else self

    def plain_score(self, views: Views, ties: bool) -> Floats:
        """Return the score without I-rec, with tied documents by doc_id or in the order of ``ties``."""
        raise NotImplementedError  # pragma: no cover

    def of_judgments(self, views: Views) -> derived.Grades:
        """Return the gain and relevance that the measure assigns to the levels of judgments."""
        return self.judging.grades(views.levels.by_intent.levels)

    def lists(self, views: Views) -> Views:
        """Return the list of each intent."""
        return derived.by_intent(views, self.of_judgments(views), judged_only=self.judging.cut.judged_only)

    def score(self, views: Views, ties: bool = False) -> Floats:
        plain = self.plain_score(views, ties)
        if "gamma" not in self.SUPPORTED_PARAMS:
            return plain
        gamma = float(self["gamma"])
        return gamma * self.recall(views, ties) + (1 - gamma) * plain

    def expected_score(self, views: Views) -> Floats:
        return self.score(views, ties=True)

    @property
    def _found(self) -> _Found:
        return _Found(self.optional("cutoff"), self.ties)

    def recall(self, views: Views, ties: bool) -> Floats:
        """Return I-rec of each topic."""
        found = _score(self._found, self.lists(views), ties)
        covered = segments.total(found, views.levels.by_intent.topic, views.levels.topics)
        return safe_divide(covered, self._relevant_intents(views))

    def recall_terms(self, views: Views, view: derived.IntentView) -> Floats:
        """Return the contribution of each relevant judgment to I-rec."""
        covers: Floats = self._found.contributions(self.lists(views)).value[view.order]
        return covers / self._relevant_intents(views)[view.topic]

    def _relevant_intents(self, views: Views) -> Floats:
        intents = views.levels.by_intent
        topic = intents.topic[derived.relevant_intents(intents, self.of_judgments(views))]
        return segments.count(topic, views.levels.topics).astype(np.float64)

    def view(self, views: Views) -> derived.IntentView:
        """Return the relevant judgments of the documents retrieved, by topic and rank."""
        return derived.IntentView(views, self.lists(views), self.of_judgments(views), self.optional("cutoff"))

    def expected_contributions(self, views: Views) -> TiedContributions:  # noqa: ARG002  # not used here
        raise ParameterError(
            f"{self}: the mean over orders of tied documents is a sum over intents, without an explanation"
        )


class GlobalGainMeasure(IntentMeasure, ComposedMeasure):
    """A base measure applied to one list, whose gains are sums over the intents."""

    #: Whether a navigational intent counts for its first relevant document only.
    ONCE: ClassVar[bool] = False

    def check_combination(self, params: Mapping[str, Any]) -> None:
        if "measure" not in params:
            return
        base = at_cutoff(params["measure"], None)
        if "stops" in base.params:
            raise ParameterError(
                f"{self.NAME}: the base measure {base} has stops, which depend on levels; a list by global "
                "gain has no levels"
            )
        if self.ONCE and base.params.get("ties", TIES.default) != TIES.default:
            raise ParameterError(
                f"{self.NAME}: the base measure {base} must have ties={TIES.default!r}, because the gain of "
                "a document depends on the documents above it"
            )

    @property
    def listed(self) -> Scorer:
        """Base measure for a list whose levels are gains."""
        return _for_gains(self["measure"], self.optional("cutoff"))

    def by_gain(self, views: Views) -> Views:
        """Return the run with global gains as levels."""
        return derived.by_global_gain(views, self.of_judgments(views), once=self.ONCE)

    def in_order(self, views: Views) -> Views:
        if self.ties in {TIES.default, "expected"}:
            return super().in_order(views)
        hits = self.by_gain(views).ordered(self.ties).hits
        return Views(views.levels, replace(hits, level_index=views.levels.level_index[hits.document]))

    def plain_score(self, views: Views, ties: bool) -> Floats:
        return _score(self.listed, self.by_gain(views), ties)

    def contributions(self, views: Views) -> Contributions:
        of_gain = self.listed.contributions(self.by_gain(views))
        if "gamma" not in self.SUPPORTED_PARAMS:
            return of_gain
        view = self.view(views)
        documents = _Documents(view)
        value = (1 - self["gamma"]) * _at(documents, of_gain.view, of_gain.value)
        place = np.searchsorted(_key(documents), _key(view))
        np.add.at(value, place, self["gamma"] * self.recall_terms(views, view))
        return Contributions(documents, value)

    def expected_contributions(self, views: Views) -> TiedContributions:
        if "gamma" in self.SUPPORTED_PARAMS:
            return super().expected_contributions(views)
        return self.listed.expected_contributions(self.by_gain(views))

    def columns(self, views: Views) -> dict[str, Floats]:
        by_gain = self.by_gain(views)
        columns = self.listed.columns(by_gain)
        if "gamma" not in self.SUPPORTED_PARAMS:
            return columns
        documents, of_gain = _Documents(self.view(views)), self.listed.contributions(by_gain).view
        return {name: _at(documents, of_gain, values, np.nan) for name, values in columns.items()}


class _Documents(CountedDocuments):
    """The documents that are relevant to at least one intent, each once."""

    def __init__(self, view: derived.IntentView) -> None:
        run = view.hits[np.flatnonzero(np.diff(pair_key(view.hits.topic, view.hits.rank), prepend=-1))]
        super().__init__(view.levels, run, np.ones(run.rank.size, dtype=np.bool_), run.rank, view.cutoff)
        self.R, self.counting = view.documents, view.counting


def _key(view: CountedDocuments) -> Ints:
    return pair_key(view.topic, view.n)


def _at(view: CountedDocuments, other: CountedDocuments, values: Floats, missing: float = 0.0) -> Floats:
    """Return values of the documents of ``other`` at the documents of ``view``."""
    found = np.full(view.n.size, missing)
    found[np.searchsorted(_key(view), _key(other))] = values
    return found


class IntentSumMeasure(IntentMeasure):
    """A sum over the intents of a topic: probability times the score of the list of the intent."""

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """The scorer of the lists of all intents, or of informational and of navigational ones."""
        raise NotImplementedError  # pragma: no cover

    def plain_score(self, views: Views, ties: bool) -> Floats:
        intents, lists = views.levels.by_intent, self.lists(views)
        scores = _by_type([_score(scorer, lists, ties) for scorer in self.scorers], intents.is_nav)
        weight = derived.probabilities(intents, self.of_judgments(views))
        return derived.exact_sums(weight * scores, intents.topic, views.levels.topics)

    def contributions(self, views: Views) -> Contributions:
        intents, lists, view = views.levels.by_intent, self.lists(views), self.view(views)
        values = [scorer.contributions(lists).value[view.order] for scorer in self.scorers]
        value = derived.probabilities(intents, self.of_judgments(views))[view.intent]
        value = value * _by_type(values, intents.is_nav[view.intent])
        if "gamma" in self.SUPPORTED_PARAMS:
            value = (1 - self["gamma"]) * value + self["gamma"] * self.recall_terms(views, view)
        return Contributions(view, value)

    def columns(self, views: Views) -> dict[str, Floats]:
        intents, lists, view = views.levels.by_intent, self.lists(views), self.view(views)
        found = dict(view.columns)
        found["probability"] = derived.probabilities(intents, self.of_judgments(views))[view.intent]
        columns = [scorer.columns(lists) for scorer in self.scorers]
        for name in columns[0]:
            values = [by_name[name][view.order] for by_name in columns]
            found[name] = _by_type(values, intents.is_nav[view.intent])
        return found


def _by_type(values: Sequence[Floats], is_nav: Bools) -> Floats:
    """Return the only values, or those of each intent or judgment by type: informational, navigational."""
    return values[0] if len(values) == 1 else np.where(is_nav, values[1], values[0])


@lru_cache(maxsize=256)
def _for_gains(text: str, cutoff: int | None) -> Scorer:
    """Return the base measure for a list whose levels are gains: documents with a gain > 0 are relevant."""
    measure = _without(at_cutoff(text, cutoff), "gains", "rel", "max_rel", "dcg")
    takes_rel = isinstance(measure, GradedMeasure) and "rel" in measure.SUPPORTED_PARAMS
    return computed(measure(rel=_ABOVE_0) if takes_rel else measure)


@lru_cache(maxsize=256)
def _for_intent(text: str, cutoff: int | None) -> Scorer:
    """Return the base measure for lists that are already condensed if it has ``judged_only``."""
    return computed(_without(at_cutoff(text, cutoff), "judged_only"))


def _without(measure: Measure, *names: str) -> Measure:
    return type(measure)(**{name: value for name, value in measure.params.items() if name not in names})


_SHARP = {"gamma": GAMMA}
_WHY_NO_IDEAL = "one list is rarely the best for every intent"


class _I_rec(IntentMeasure):
    r"""The share of the intents that have a relevant document among the first documents.

    ``I-rec@k = intents with a relevant document among the first k / intents with one in the qrels``. In
    [0, 1]. It ignores probabilities, levels and ranks, and equals StRecall(rel=r)@k of ir-measures.

    Formula:
        \text{I-rec@}k = \frac{|\bigcup_{n \le k} I(d_{n})|}{|I|}

    Use it if the first page should cover each intent. An intent without a relevant document in the qrels does
    not count; do not use it to score answers by nuggets, where a nugget that no answer supports must lower
    the score. It ignores the order of the first k documents: ``D#`` adds a measure of the ranking.

    Users want documents on each aspect of the question. Binary counterpart: StRecall@k.

    Drawn: I-rec@3

    Source: [sakai2011evaluating], after [zhai2003beyond].

    Example:
        >>> import ir_graded, ir_measures
        >>> rows = [("a", 2, "x"), ("b", 1, "x"), ("b", 1, "y")]
        >>> qrels = [ir_measures.Qrel("1", doc, level, intent) for doc, level, intent in rows]
        >>> run = {"1": {"c": 3.0, "a": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.I_rec @ 2], qrels, run)
        {I-rec@2: 0.5}
    """

    NAME = "I-rec"
    PRETTY_NAME = "Intent recall"
    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "rel": REL, "judged_only": JUDGED_ONLY, **MEAN_ORDER}

    def plain_score(self, views: Views, ties: bool) -> Floats:
        return self.recall(views, ties)

    def contributions(self, views: Views) -> Contributions:
        view = self.view(views)
        return Contributions(view, self.recall_terms(views, view))

    def columns(self, views: Views) -> dict[str, Floats]:
        return self.view(views).columns


class _D(GlobalGainMeasure):
    r"""A base measure over gains summed over the intents by their probabilities.

    ``GG(d) = sum over intents i of P(i) g_i(d)``, with 12 significant digits; g_i is the gain by the base
    measure's ``gains``, and 0 where d is not relevant to i. Documents with GG > 0 are relevant, and the ideal
    list is sorted by GG. The largest gain is that of the topic unless the base sets ``max_rel``. P is uniform
    over the intents with a relevant document if the qrels have no probabilities. In [0, 1]. Short names are
    D-Q@10, which is ``D(measure="Q(norm='cutoff')")@10`` as published by NTCIR, D-nDCG@10, D-RBP and others.

    Formula:
        \mathrm{D}(M) = M(\text{list by } \mathrm{GG})

    Use it if documents that serve many or likely intents should be near the top. A perfect run scores 1, but
    one that leaves out an unlikely intent loses little: report ``I-rec`` too (docs/guide/intents.rst).

    Source: [sakai2011evaluating].

    Example:
        >>> import ir_graded, ir_measures
        >>> rows = [("a", 2, "x"), ("a", 1, "y"), ("b", 2, "y")]  # GG is 1.5 and 1
        >>> qrels = [ir_measures.Qrel("1", doc, level, intent) for doc, level, intent in rows]
        >>> run = {"1": {"b": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.D(measure="Q")], qrels, run)  # (2/2.5 + 1) / 2
        {D(measure='Q'): 0.9}
        >>> ir_measures.calc_aggregate(["D-nDCG@10"], qrels, run)
        {D(measure='nDCG')@10: 0.913...}
    """

    NAME = "D"
    PRETTY_NAME = "D-measure"
    SUPPORTED_PARAMS = {"measure": BaseMeasure("D"), "cutoff": CUTOFF}


class _D_sharp(GlobalGainMeasure):
    r"""The mean of intent recall and of a base measure over global gains.

    ``D# = gamma * I-rec + (1 - gamma) * D``, with rel and judged_only of the base measure. In [0, 1].

    Formula:
        \text{D\#} = \gamma\, \text{I-rec} + (1 - \gamma)\, \text{D}

    Use it for coverage and ranking in one number: ``D#-nDCG@10`` and ``D#-Q@10`` are the main measures of
    NTCIR's INTENT and IMine tasks. Also report ``I-rec`` and ``D``, because runs trade one for the other.

    Users want documents on each aspect of the question.

    Source: [sakai2011evaluating].

    Example:
        >>> import ir_graded, ir_measures
        >>> rows = [("a", 2, "x"), ("a", 1, "y"), ("b", 2, "y")]
        >>> qrels = [ir_measures.Qrel("1", doc, level, intent) for doc, level, intent in rows]
        >>> ir_measures.calc_aggregate(["D#-Q@10"], qrels, {"1": {"b": 1.0}})  # (1/2 + 2/2.5/2) / 2
        {D#(measure="Q(norm='cutoff')")@10: 0.45}
    """

    NAME = "D#"
    PRETTY_NAME = "D#-measure"
    SUPPORTED_PARAMS = {"measure": BaseMeasure("D#"), **_SHARP, "cutoff": CUTOFF}


class _DIN(GlobalGainMeasure):
    r"""A base measure over global gains to which a navigational intent adds once.

    ``gain(n) = sum of P(i) g_i(d_n)`` over the informational intents, and over the navigational intents to
    which no document above n is relevant. R, the ideal list and the largest gain are those of D, so with
    P-measure as base, DIN can be higher than D. The base must order tied documents by doc_id. In [0, 1].

    Formula:
        \mathrm{DIN}(M) = M(\text{list by gain})
        \mathrm{gain}(n) = \sum_{i\, \mathrm{inf}} P(i)\, g_{i}(d_{n}) + \sum_{i\, \mathrm{nav},\,
            \text{new at } n} P(i)\, g_{i}(d_{n})

    Use it if some intents are navigational: users need one document, and a second one adds nothing. Without
    types of intents it equals ``D``.

    Source: [sakai2012evaluation].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> qrels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "relevance": 1, "iteration": "x"})
        >>> qrels = qrels.assign(intent_type="nav", probability=1)
        >>> measure, run = ir_graded.DIN(measure="AWP"), {"1": {"a": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {DIN(measure='AWP'): 0.5}

    Lacks ideal:
        >>> measure.calc_aggregate(qrels, run) < 1
        True
    """

    NAME = "DIN"
    PRETTY_NAME = "DIN-measure"
    LACKS = {"ideal": "documents further down no longer add to a navigational intent"}
    SUPPORTED_PARAMS = {"measure": BaseMeasure("DIN"), "cutoff": CUTOFF}
    ONCE = True


class _DIN_sharp(_DIN):
    r"""The mean of intent recall and of DIN.

    ``DIN# = gamma * I-rec + (1 - gamma) * DIN``. In [0, 1].

    Formula:
        \text{DIN\#} = \gamma\, \text{I-rec} + (1 - \gamma)\, \text{DIN}
        \mathrm{gain}(n) = \sum_{i\, \mathrm{inf}} P(i)\, g_{i}(d_{n}) + \sum_{i\, \mathrm{nav},\,
            \text{new at } n} P(i)\, g_{i}(d_{n})

    Use it like ``D#`` if some intents are navigational.

    Source: [sakai2012evaluation].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> qrels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "relevance": 1, "iteration": "x"})
        >>> qrels = qrels.assign(intent_type="nav", probability=1)
        >>> measure, run = ir_graded.DIN_sharp(measure="AWP"), {"1": {"a": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {DIN#(measure='AWP'): 0.75}
    """

    NAME = "DIN#"
    PRETTY_NAME = "DIN#-measure"
    SUPPORTED_PARAMS = {"measure": BaseMeasure("DIN#"), **_SHARP, "cutoff": CUTOFF}


class _IA(IntentSumMeasure, ComposedMeasure):
    r"""The sum over the intents of probability times a base measure for that intent.

    ``IA = sum over intents i of P(i) M_i``, where M_i is the base measure over the levels of intent i only,
    with the R, ideal list and largest gain of that intent (unless the base measure sets ``max_rel``). Intents
    without a relevant document add 0. In [0, 1].

    Formula:
        \mathrm{IA}(M) = \sum_{i \in I} P(i)\, M_{i}

    Use it if each user has one intent and the mean over the users matters. A run that serves only the
    likeliest intent may score high, and no run is ideal for all intents: compare runs on one set of qrels
    only. ERR_IA of ir-measures has other gains and another scale than ``IA-ERR``.

    Users mean different things by one query, and each has one meaning in mind.

    Source: [agrawal2009diversifying].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b"], "relevance": [2, 1], "iteration": ["x", "y"]}
        >>> rows["probability"] = 0.5
        >>> qrels, run = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> measure = ir_graded.IA(measure="Q")
        >>> ir_measures.calc_aggregate([measure], qrels, run)  # 1/2 + 2/3 / 2
        {IA(measure='Q'): 0.833...}

    Lacks ideal:
        >>> measure.calc_aggregate(qrels, run) < 1
        True
    """

    NAME = "IA"
    PRETTY_NAME = "Intent-aware measure"
    LACKS = {"ideal": _WHY_NO_IDEAL}
    SUPPORTED_PARAMS = {"measure": BaseMeasure("IA"), "cutoff": CUTOFF}

    def check_combination(self, params: Mapping[str, Any]) -> None:
        if "measure" not in params:
            return
        base = at_cutoff(params["measure"], None)
        if base.params.get("ties", TIES.default) not in MEAN_TIES.words:
            words = " or ".join(map(repr, MEAN_TIES.words))
            raise ParameterError(
                f"{self.NAME}: the base measure {base} must have ties={words}, because the best order of "
                "tied documents differs between intents"
            )

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        return (_for_intent(self["measure"], self.optional("cutoff")),)


class _IA_sharp(_IA):
    r"""The mean of intent recall and of an intent-aware measure.

    ``IA# = gamma * I-rec + (1 - gamma) * IA``. In [0, 1].

    Formula:
        \text{IA\#} = \gamma\, \text{I-rec} + (1 - \gamma)\, \mathrm{IA}(M)
        \mathrm{IA}(M) = \sum_{i \in I} P(i)\, M_{i}

    Use it like ``IA`` if coverage of every intent should also count.

    Source: [agrawal2009diversifying]; [sakai2011evaluating], for I-rec.

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b"], "relevance": [2, 1], "iteration": ["x", "y"]}
        >>> rows["probability"] = 0.5
        >>> qrels, run = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> measure = ir_graded.IA_sharp(measure="Q")
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {IA#(measure='Q'): 0.916...}
    """

    NAME = "IA#"
    PRETTY_NAME = "IA#-measure"
    SUPPORTED_PARAMS = {"measure": BaseMeasure("IA#"), **_SHARP, "cutoff": CUTOFF}


class _P_plus_Q(IntentSumMeasure):
    r"""The sum over the intents of probability times Q, or P+ for a navigational intent.

    ``P+Q = sum over intents i of P(i) M_i``, where M_i is P+ for navigational intents, else Q with
    norm='cutoff' at a cutoff. In [0, 1].

    Formula:
        \text{P+Q} = \sum_{i\, \mathrm{inf}} P(i)\, \mathrm{Q}_{i} + \sum_{i\, \mathrm{nav}} P(i)\,
            \text{P+}_{i}

    Use it if users with an informational intent read on (``Q``), and users with a navigational intent stop at
    the best document (``P+``). Qrels need types of intents; it is IA-Q if all are informational.

    Source: [sakai2012evaluation].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b"], "relevance": [2, 1], "iteration": ["x", "y"]}
        >>> rows["probability"] = 0.5
        >>> measure, qrels, run = ir_graded.P_plus_Q, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {P+Q: 0.833...}

    Lacks ideal:
        >>> measure.calc_aggregate(qrels, run) < 1
        True

    Lacks exchange:
        >>> one = {"query_id": "1", "iteration": "x", "probability": 1}
        >>> qrels = pd.DataFrame({**one, "doc_id": ["a", "b"], "relevance": [100, 1]})
        >>> run, changed = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"1": {"b": 3.0, "a": 2.0, "x": 1.0}}
        >>> measure.calc_aggregate(qrels, changed) < measure.calc_aggregate(qrels, run)
        True

    Lacks swap:
        >>> one = {"query_id": "1", "iteration": "x", "probability": 1, "intent_type": "nav"}
        >>> qrels = pd.DataFrame({**one, "doc_id": ["t", "s", "b"], "relevance": [10, 2, 1]})
        >>> run, changed = {"1": {"x": 3.0, "b": 2.0, "s": 1.0}}, {"1": {"x": 3.0, "s": 2.0, "b": 1.0}}
        >>> measure.calc_aggregate(qrels, changed) < measure.calc_aggregate(qrels, run)
        True

    Lacks truncation:
        >>> one = {"query_id": "1", "iteration": "x", "probability": 1}
        >>> qrels = pd.DataFrame({**one, "doc_id": ["a", "b"], "relevance": 1})
        >>> run, changed = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2.0}}
        >>> uncut, measure = measure, measure @ 1
        >>> uncut.calc_aggregate(qrels, changed) < measure.calc_aggregate(qrels, run)
        True
    """

    NAME = "P+Q"
    PRETTY_NAME = "P+Q"
    LACKS = {
        "ideal": _WHY_NO_IDEAL,
        "exchange": WHY_NO_EXCHANGE,
        "swap": WHY_NO_SWAP,
        "truncation": "Q is divided by min(R, k)",
    }
    SUPPORTED_PARAMS = {
        "beta": BETA,
        "gains": GAINS,
        "rel": REL,
        "judged_only": JUDGED_ONLY,
        "cutoff": CUTOFF,
        **MEAN_ORDER,
    }

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        # The lists are already condensed if the measure has judged_only.
        params = {name: value for name, value in self.params.items() if name not in {"gamma", "judged_only"}}
        norm = "cutoff" if "cutoff" in self.params else "all"
        return Q(norm=norm, **params), P_plus(**params)


class _P_plus_Q_sharp(_P_plus_Q):
    r"""The mean of intent recall and of P+Q.

    ``P+Q# = gamma * I-rec + (1 - gamma) * P+Q``. In [0, 1].

    Formula:
        \text{P+Q\#} = \gamma\, \text{I-rec} + (1 - \gamma)\, \text{P+Q}
        \text{P+Q} = \sum_{i\, \mathrm{inf}} P(i)\, \mathrm{Q}_{i} + \sum_{i\, \mathrm{nav}} P(i)\,
            \text{P+}_{i}

    Use it like ``P+Q`` if coverage of every intent should also count.

    Source: [sakai2012evaluation].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b"], "relevance": [2, 1], "iteration": ["x", "y"]}
        >>> rows["probability"] = 0.5
        >>> measure, qrels, run = ir_graded.P_plus_Q_sharp, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {P+Q#: 0.916...}
    """

    NAME = "P+Q#"
    PRETTY_NAME = "P+Q#"
    SUPPORTED_PARAMS = {**_P_plus_Q.SUPPORTED_PARAMS, **_SHARP}


I_rec = register(_I_rec(), "Irec")
D = register(_D())
D_sharp = register(_D_sharp(), "Dsharp")
DIN = register(_DIN())
DIN_sharp = register(_DIN_sharp(), "DINsharp")
IA = register(_IA())
IA_sharp = register(_IA_sharp(), "IAsharp")
P_plus_Q = register(_P_plus_Q(), "PplusQ")
P_plus_Q_sharp = register(_P_plus_Q_sharp(), "PplusQsharp")
for _measure in (D, D_sharp, DIN, DIN_sharp, IA, IA_sharp):
    add_short_names(_measure)
