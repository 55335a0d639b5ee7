"""Classics for binary relevance: AP, RR, P, R, Rprec, IPrec, Success, Accuracy, Bpref, infAP, and of sets."""

from __future__ import annotations

import math

import ir_measures
import numpy as np

from ir_graded.core import segments
from ir_graded.core.segments import Bools, Floats, Ints, pair_key
from ir_graded.core.tie_means import SEEN, TiedDocuments, Utility, by_rank
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError
from ir_graded.measures.base import Contributions, TiedContributions, first, safe_divide
from ir_graded.measures.classic.base import RELEVANT, Classic, LinearClassic, num_rel, num_rel_ret, register
from ir_graded.measures.gap import mean_others


@register(ir_measures.AP)
class AveragePrecision(LinearClassic):
    """Average precision.

    ``AP = 1/R * sum over relevant ranks n of C(n)/n``, where C(n) is the number of relevant documents down to
    n. A cutoff ends the sum; R does not change.

    Parameters: cutoff, rel, judged_only, as in trec_eval's map and map_cut.

    Source: [harman1992evaluation].
    """

    NORM = ""

    def terms(self, view: View) -> Floats:
        return np.asarray(view.C / view.n)

    def mean_terms(self, tied: TiedDocuments[View]) -> Floats:
        return tied.linear(Utility(lambda n, _: 1.0 / n, np.ones(tied.group.size)))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {"stop": 1.0 / view.R[view.topic], "utility": view.C / view.n}


@register(ir_measures.RR)
class ReciprocalRank(Classic):
    """Reciprocal rank.

    ``RR = 1/n`` for the rank n of the first relevant document; 0 without one.

    Parameters: rel, and either cutoff (as in MS MARCO's script) or judged_only (as in trec_eval).

    Source: [kantor2000trec].
    """

    MONOTONE = True

    def is_defined(self) -> bool:
        return super().is_defined() and not (self["cutoff"] and self["judged_only"])

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, first(view) / view.n)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        return TiedContributions(tied, tied.first(by_rank(lambda n: 1.0 / n)))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {"stop": first(view), "utility": 1.0 / view.n}


@register(ir_measures.P)
class Precision(LinearClassic):
    """Precision at a rank.

    ``P@k = C(k)/k``, also if the run has fewer than k documents.

    Parameters: cutoff (required), rel, judged_only, as in trec_eval.

    Source: [vanrijsbergen1979information].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.P @ 5, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {P@5: 0.2}
    """

    LACKS = {"ideal": "there may be fewer than k relevant documents, but the divisor is k"}
    MONOTONE = True
    NORM = "the cutoff"

    def norm(self, view: View) -> Floats:
        return np.full(view.levels.topics, self["cutoff"], dtype=np.float64)


@register(ir_measures.R)
class Recall(LinearClassic):
    """Recall at a rank.

    ``R@k = C(k)/R``.

    Parameters: cutoff (required), rel, judged_only, as in trec_eval.

    Source: [vanrijsbergen1979information].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.R @ 1, {"1": {"a": 1, "b": 1}}, {"1": {"a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {R@1: 0.5}
    """

    LACKS = {"ideal": "there may be more than k relevant documents"}


@register(ir_measures.Rprec)
class RPrecision(LinearClassic):
    """Precision at rank R, the number of relevant documents of the topic.

    ``Rprec = C(R)/R``.

    Parameters: rel, judged_only, as in trec_eval.

    Source: [buckley2005retrieval].
    """

    def terms(self, view: View) -> Floats:
        return (view.n <= view.R[view.topic]).astype(np.float64)

    def mean_terms(self, tied: TiedDocuments[View]) -> Floats:
        R = tied.view.R
        return tied.linear(Utility(lambda n, topic: (n <= R[topic]).astype(np.float64)))


@register(ir_measures.IPrec)
class InterpolatedPrecision(Classic):
    """Interpolated precision at a recall: the highest precision at any rank with at least that recall.

    ``IPrec@x = max of C(n)/n over relevant ranks n with C(n) >= m``, where ``m = floor(x R + 0.9)``, at least
    1; 0 without such a rank.

    Parameters: recall (required, in [0, 1]), rel, judged_only, as in trec_eval 9, which reads two decimals of
    the recall.

    Source: [salton1983introduction], as in trec_eval's iprec_at_recall.
    """

    def validate_params(self) -> None:
        super().validate_params()
        if not 0 <= self["recall"] <= 1:
            raise ParameterError(
                f"{self.measure}: the recall must be from 0 to 1: for example {self.measure @ 0.5}"
            )

    def contributions(self, views: Views) -> Contributions:
        """Return the precision at the first rank that has the highest; other documents do not count."""
        view = views[self.cut]
        return Contributions(view, self._best(view) * (view.C / view.n))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {"stop": self._best(view), "utility": view.C / view.n}

    def _best(self, view: View) -> Floats:
        """Return 1 at the first rank with the highest precision among those with the recall, else 0."""
        least = np.maximum(np.floor(self["recall"] * view.R + 0.9), 1.0)
        precision = np.where(least[view.topic] <= view.C, view.C / view.n, 0.0)
        highest = np.zeros(view.R.size)
        np.maximum.at(highest, view.topic, precision)
        best = np.flatnonzero((precision > 0) & (precision == highest[view.topic]))
        found = np.zeros(precision.size)
        found[best[np.unique(view.topic[best], return_index=True)[1]]] = 1.0
        return found


@register(ir_measures.Success)
class Success(Classic):
    """Success: whether a relevant document is among the first k.

    ``Success@k = 1 if C(k) > 0 else 0``.

    Parameters: cutoff (required), rel, judged_only, as in trec_eval.

    Source: Tomlinson's measure, in [buckley2008trec].
    """

    MONOTONE = True

    def score(self, views: Views) -> Floats:
        return (num_rel_ret(views[self.cut]) > 0).astype(np.float64)

    def contributions(self, views: Views) -> Contributions:
        """Return 1 for the first relevant document; documents below it do not count."""
        view = views[self.cut]
        return Contributions(view, first(view))

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        return TiedContributions(tied, tied.first(SEEN))


@register(ir_measures.Accuracy)
class Accuracy(Classic):
    """Accuracy: the probability that a relevant document is above another one, among those retrieved.

    ``Accuracy = 1/R' * sum over relevant ranks n of 1 - N(n)/N'``. R' of the documents retrieved are relevant
    and N' are not, including unjudged ones; N(n) of these are above n. With a cutoff only the first k
    documents count. The score is 1 if all are relevant, and 0 without a relevant document.

    Parameters: cutoff, rel. The provider of ir-measures leaves topics without a relevant document out, and
    fails if all documents are relevant.

    Source: [macavaney2022streamlining].

    Lacks swap:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.Accuracy @ 3, {"1": {"a": 1, "b": 1}}
        >>> run = {"1": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
        >>> changed = {"1": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run), PROVIDER.calc_aggregate([measure], qrels, changed)
        ({Accuracy@3: 1.0}, {Accuracy@3: 0.5})

    Lacks exchange:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.Accuracy, {"1": {"a": 1, "b": 1}}
        >>> run = {"1": {"a": 3.0, "x": 2.0, "y": 1.0}}
        >>> changed = {"1": {"a": 3.0, "x": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run), PROVIDER.calc_aggregate([measure], qrels, changed)
        ({Accuracy: 1.0}, {Accuracy: 0.5})
    """

    LACKS = {
        "swap": "a relevant document that moves above the cutoff has all others there above it",
        "exchange": "a relevant document low in the list lowers the mean over the relevant documents",
    }

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        found, others = self._counts(view)
        # Of the pairs of a relevant document and another one, all that are in this order.
        pairs = np.where(others == 0, 1.0, others)[view.topic] - self._others_above(view)
        name = "the relevant documents seen * the others seen (at least 1)"
        return Contributions(view, pairs, found * np.maximum(others, 1.0), name)

    @property
    def has_expected_score(self) -> bool:
        # With a cutoff the number of documents of each kind depends on the order.
        return self["cutoff"] is None

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        found, others = self._counts(tied.view)
        above = tied.t - tied.above(np.ones(tied.group.size)) + (tied.n - tied.m) / 2.0
        terms = tied.m * (np.where(others == 0, 1.0, others)[tied.topic] - above)
        return TiedContributions(tied, terms, found * np.maximum(others, 1.0))

    def columns(self, views: Views) -> dict[str, Floats]:
        return {"others_above": self._others_above(views[self.cut])}

    @staticmethod
    def _others_above(view: View) -> Floats:
        return (view.n - view.C).astype(np.float64)

    def _counts(self, view: View) -> tuple[Floats, Floats]:
        """Return the numbers of relevant documents and of others that the measure sees, by topic."""
        found, retrieved = num_rel_ret(view), view.hits.n_retrieved
        seen = retrieved if self["cutoff"] is None else np.minimum(retrieved, self["cutoff"])
        return found, seen - found


@register(ir_measures.Bpref)
class BinaryPreference(Classic):
    """Binary preference: how far documents judged relevant are above those judged not relevant.

    ``Bpref = 1/R * sum over relevant ranks n of 1 - min(N(n), R) / min(N, R)``, where N documents of the
    topic have a level >= 0 and < rel, and N(n) of them are above n. The summand is 1 if N(n) is 0. Levels
    below 0 count as unjudged.

    Parameters: rel, as in trec_eval.

    Source: [buckley2004retrieval], as corrected in trec_eval 8.

    Lacks exchange:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.Bpref(rel=2), {"1": {"a": 2, "b": 1}}
        >>> run, changed = {"1": {"x": 2.0, "a": 1.0}}, {"1": {"b": 2.0, "a": 1.0}}
        >>> [PROVIDER.calc_aggregate([measure], qrels, each)[measure] for each in (run, changed)]
        [1.0, 0.0]
    """

    LACKS = {
        "exchange": "a document judged not relevant (with rel=2 also one of level 1) counts against the "
        "documents below it; an unjudged document does not"
    }
    lowest_level = 0.0

    def others_above(self, views: Views) -> Ints:
        """Return N(n), the number of documents judged not relevant above each relevant one."""
        view, judged = views[self.cut], views[Cut(rel=0.0)]
        # Both views have the relevant documents in the same order, so the difference counts the others.
        return judged.C[judged.level >= self.cut.rel] - view.C

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        R = view.R
        most = np.minimum(view.N, R)[view.topic]
        above = np.minimum(self.others_above(views), R[view.topic])
        discount = safe_divide(above.astype(np.float64), most.astype(np.float64))
        return Contributions(view, 1.0 - discount, num_rel(view), RELEVANT)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied, judged = views.tied(self.cut), views.tied(Cut(rel=0.0)).view
        other = pair_key(judged.topic, judged.n)[judged.level < self.cut.rel]
        group, topic = pair_key(tied.topic, tied.t + 1), tied.topic
        begin = np.searchsorted(other, group)
        above = begin - np.searchsorted(other, pair_key(topic, 0))
        here = np.searchsorted(other, group, "right") - begin
        R, N = tied.view.R[topic], tied.view.N[topic]
        discount = safe_divide(mean_others(above, here, R), np.minimum(N, R).astype(np.float64))
        return TiedContributions(tied, tied.m * (1.0 - discount), num_rel(tied.view))

    def columns(self, views: Views) -> dict[str, Floats]:
        return {"others_above": self.others_above(views).astype(np.float64)}


@register(ir_measures.infAP)
class InferredAveragePrecision(Classic):
    """Inferred average precision: an estimate of AP where only a sample of the pool was judged.

    ``infAP = 1/R * sum over relevant ranks n of 1/n + P(n)/n * (r + e)/(r + s + 2e)``. Above rank n, r
    documents are relevant, s are judged not relevant (level >= 0 and < rel), and P(n) are of the pool: these,
    and those of a level below 0, which marks a document of the pool that was not judged. e is 0.00001. R
    counts the relevant documents of the sample.

    Parameters: rel, as in trec_eval.

    Source: [yilmaz2006estimating], as in trec_eval.

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.infAP, {"1": {"a": 1, "b": 1}}
        >>> run = {"1": {"a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {infAP: 0.999997...}

    Lacks swap:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.infAP, {"1": {"a": 1, "u": -1}}
        >>> run = {"1": {"x": 4.0, "y": 3.0, "u": 2.0, "a": 1.0}}
        >>> changed = {"1": {"x": 4.0, "y": 3.0, "a": 2.0, "u": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run), PROVIDER.calc_aggregate([measure], qrels, changed)
        ({infAP: 0.375}, {infAP: 0.333333...})

    Lacks exchange:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.infAP(rel=2), {"1": {"a": 2, "b": 1, "c": 2, "u": -1}}
        >>> run = {"1": {"c": 4.0, "u": 3.0, "x": 2.0, "a": 1.0}}
        >>> changed = {"1": {"c": 4.0, "u": 3.0, "b": 2.0, "a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run), PROVIDER.calc_aggregate([measure], qrels, changed)
        ({infAP(rel=2): 0.874997...}, {infAP(rel=2): 0.8125})
    """

    LACKS = {
        "ideal": "the share of relevant documents above is smoothed, so that it is below 1",
        "swap": "a document of the pool that was not judged counts as relevant in part for those below it",
        "exchange": "a document judged not relevant counts against those below it, an unjudged one does not",
    }

    #: Smoothing of the share of relevant documents among those judged.
    EPSILON = 0.00001
    ESTIMATES = True
    lowest_level = -np.inf

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, self._expected_precision(views), num_rel(view))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        return {"stop": 1.0 / view.R[view.topic], "utility": self._expected_precision(views)}

    def _expected_precision(self, views: Views) -> Floats:
        """Return the expected precision at the rank of each relevant document."""
        view, rel = views[self.cut], self.cut.rel
        # All views have the relevant documents in the same order.
        judged, pool = (
            found.C[found.level >= rel] - 1 for found in (views[Cut(rel=0.0)], views[Cut(rel=-np.inf)])
        )
        share = (view.C - 1 + self.EPSILON) / (judged + 2 * self.EPSILON)
        return (1.0 + pool * share) / view.n


# Python prints other betas with an exponent, which trec_eval cannot read.
_BETA_FROM, _BETA_BELOW = 1e-4, 1e16
#: Range of measures that are counts.
COUNT_RANGE = (0.0, math.inf)


def is_evaluated(views: Views) -> Bools:
    """Return whether each topic has documents in the run and in the qrels; trec_eval omits the others."""
    levels = views.levels
    return (views.hits.n_retrieved > 0) & (segments.count(levels.topic, levels.topics) > 0)


@register(ir_measures.Judged)
class JudgmentRate(LinearClassic):
    """Judgment rate: the share of judged documents among the first k, or among all.

    ``Judged@k = judged among the first k / min(k, retrieved)``. Documents with any level are judged, even a
    negative one.

    Parameters: cutoff, as in the provider of ir-measures.

    Source: [macavaney2020opennir], from which ir-measures took it.

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.Judged, {"1": {"a": 0}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {Judged: 1.0}
    """

    LACKS = {"nothing": "all judged documents count, relevant or not"}
    NORM = "the documents looked at"
    lowest_rel = np.inf
    lowest_level = -np.inf

    @property
    def cut(self) -> Cut:
        return Cut(-np.inf, cutoff=self["cutoff"])

    def norm(self, view: View) -> Floats:
        retrieved = view.hits.n_retrieved.astype(np.float64)
        return np.minimum(retrieved, self["cutoff"]) if self["cutoff"] else retrieved


@register(ir_measures.NumRet)
class NumRetrieved(Classic):
    """Number of documents retrieved, or of those with level >= rel. Summed over topics.

    Parameters: rel, as in trec_eval's num_ret and num_rel_ret.

    Source: [buckley1992trec].

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NumRet, {"1": {"a": 1}}, {"1": {"x": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NumRet: 1.0}
    """

    RANKED = False
    RANGE = COUNT_RANGE
    LACKS = {"nothing": "without rel all retrieved documents count, relevant or not"}
    MONOTONE = True

    @property
    def higher_is_better(self) -> bool:
        return self["rel"] is not None

    @property
    def lowest_rel(self) -> float:
        return np.inf if self["rel"] is None else super().lowest_rel

    @property
    def is_monotone(self) -> bool:
        return super().is_monotone and self["rel"] is not None

    def score(self, views: Views) -> Floats:
        if self["rel"] is not None:
            return num_rel_ret(views[self.cut])
        return np.where(is_evaluated(views), views.hits.n_retrieved, 0.0)

    def contributions(self, views: Views) -> Contributions:
        if self["rel"] is None:
            raise ParameterError(
                "NumRet counts all documents retrieved, including unjudged ones, which cannot be explained; "
                "use NumRet(rel=1) to count relevant documents"
            )
        return Contributions(views[self.cut])


@register(ir_measures.NumRel)
class NumRelevant(Classic):
    """Number of documents with level >= 1 in the qrels of the topics in the run. Summed over topics.

    Parameters: rel; ir-measures supports rel=1 only.

    Source: [buckley1992trec], as num_rel.

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NumRel, {"1": {"a": 1}}, {"1": {"x": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NumRel: 1.0}
    """

    RANKED = False
    RANGE = COUNT_RANGE
    LACKS = {"nothing": "all relevant documents count, retrieved or not"}
    higher_is_better = False
    lowest_level = np.inf

    def is_defined(self) -> bool:
        return super().is_defined() and self["rel"] == 1

    def score(self, views: Views) -> Floats:
        return np.where(is_evaluated(views), views[self.cut].R, 0.0)

    def contributions(self, views: Views) -> Contributions:  # noqa: ARG002  # there is nothing to see
        raise ParameterError(
            "NumRel counts the relevant documents of the qrels, retrieved or not, so the ranking has no "
            "effect; use NumRet(rel=1) to count those retrieved"
        )


@register(ir_measures.NumQ)
class NumTopics(Classic):
    """Number of topics: 1 for each topic of the qrels that is in the run. Summed over topics.

    Source: [buckley1992trec], as num_q.

    Lacks nothing:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NumQ, {"1": {"a": 1}}, {"1": {"x": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NumQ: 1.0}
    """

    RANKED = False
    LACKS = {"nothing": "every topic counts, whatever was retrieved"}
    higher_is_better = False
    lowest_rel = np.inf

    def score(self, views: Views) -> Floats:
        return is_evaluated(views).astype(np.float64)

    def contributions(self, views: Views) -> Contributions:  # noqa: ARG002  # there is nothing to see
        raise ParameterError("NumQ counts topics; documents do not contribute to it")


class SetMeasure(Classic):
    """Base class of measures of the set of retrieved documents."""

    RANKED = False

    def num_ret(self, views: Views) -> Floats:
        """Return the number of documents retrieved; with ``judged_only``, of those with a level >= 0."""
        if self["judged_only"]:
            return num_rel_ret(views[Cut(rel=0.0)])
        return views.hits.n_retrieved.astype(np.float64)


@register(ir_measures.SetP)
class SetPrecision(SetMeasure):
    """Precision of the set of retrieved documents.

    ``SetP = found / retrieved``. With relative=True it is relative to the best set of that size:
    ``found / min(retrieved, R)``.

    Parameters: rel, relative, judged_only, as in trec_eval's set_P and set_relative_P.

    Source: [buckley1992trec], formerly exact_prec.
    """

    MONOTONE = True

    @property
    def is_monotone(self) -> bool:
        return super().is_monotone and not self["relative"]

    def contributions(self, views: Views) -> Contributions:
        view, size = views[self.cut], self.num_ret(views)
        if self["relative"]:
            best = np.minimum(size, num_rel(view))
            return Contributions(view, None, best, "the relevant documents that a set of this size can hold")
        return Contributions(view, None, size, "the documents retrieved")


@register(ir_measures.SetR)
class SetRecall(LinearClassic):
    """Recall of the set of retrieved documents.

    ``SetR = found / R``.

    Parameters: rel, as in trec_eval's set_recall.

    Source: [buckley1992trec], formerly exact_recall.
    """

    RANKED = False


@register(ir_measures.SetF)
class SetFMeasure(SetMeasure):
    """F-measure of the set of retrieved documents.

    ``SetF = (beta + 1) P R / (beta P + R) = (beta + 1) found / (beta R# + retrieved)``, where R# is the
    number of relevant documents. Beta weights recall against precision and is not squared, as in trec_eval's
    set_F.

    Parameters: beta (0, or from 0.0001 to below 1e16: trec_eval misreads other values), rel, judged_only.

    Source: [vanrijsbergen1979information], as in trec_eval.
    """

    def is_defined(self) -> bool:
        return super().is_defined() and (self["beta"] == 0 or _BETA_FROM <= self["beta"] < _BETA_BELOW)

    def score(self, views: Views) -> Floats:
        view, beta = views[self.cut], self["beta"]
        return safe_divide((beta + 1.0) * num_rel_ret(view), beta * num_rel(view) + self.num_ret(views))

    def contributions(self, views: Views) -> Contributions:
        view, beta = views[self.cut], self["beta"]
        size = beta * num_rel(view) + self.num_ret(views)
        return Contributions(view, None, size / (beta + 1.0), "(beta R + retrieved) / (beta + 1)")


@register(ir_measures.SetAP)
class SetAveragePrecision(SetMeasure):
    """Precision times recall of the set of retrieved documents.

    ``SetAP = found^2 / (retrieved * R)``.

    Parameters: rel, judged_only, as in trec_eval's set_map.

    Source: [buckley1992trec], formerly exact_unranked_avg_prec.
    """

    def score(self, views: Views) -> Floats:
        view = views[self.cut]
        return safe_divide(num_rel_ret(view) ** 2, self.num_ret(views) * num_rel(view))

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        divisor = safe_divide(self.num_ret(views) * num_rel(view), num_rel_ret(view))
        return Contributions(view, None, divisor, "retrieved * R / found")
