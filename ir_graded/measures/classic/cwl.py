"""Classics of the C/W/L framework: RBP, SDCG, INSQ, INST, BPM and NERR.

The score is the gain per document that a user expects who goes down the list, and reads on below each rank
with some probability:

``M = sum over ranks n of g(n) W(n) / sum over ranks n of W(n)``

W(n) is the probability of reaching rank n, or a multiple of it. The sums go down to the cutoff, or over 1,000
ranks, as in cwl_eval; ranks below the end of the run have no gain and keep their weight.

Source: Moffat, Bailey, Scholer and Thomas, "Incorporating User Expectations and Behavior into the Measurement
of Search Effectiveness" (ACM TOIS, 2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np

from ir_graded.core import segments
from ir_graded.core.derived import rounded
from ir_graded.core.levels import LARGEST, Levels
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import by_rank
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError
from ir_graded.measures.base import Contributions, TiedContributions, unsatisfied_before

from .base import Classic, register

#: Number of ranks without a cutoff.
RANKS = 1000
#: Weights of further ranks are integrated, not added up.
_ADDED = 1 << 16
#: Above this share of satisfied users, the product of 1 - g is the share of the others.
_MOST = 0.5
#: Number of topics whose weights are held in memory at a time.
_TOPICS = 256

WHY_NO_IDEAL = "the user may go on below the last relevant document, and its gain may be below 1"


class ExpectedGain(Classic):
    """Base class of the C/W/L measures."""

    LACKS = {"ideal": WHY_NO_IDEAL}

    @property
    def ranks(self) -> int:
        """Number of ranks that have a weight."""
        return int(self["cutoff"] or RANKS)

    @property
    def cut(self) -> Cut:
        least = self["min_rel"]
        # Below 0, every judged document has a gain.
        rel = math.nextafter(least, math.inf) if least >= 0 else -math.inf
        return Cut(rel, cutoff=self.ranks)

    @property
    def is_monotone(self) -> bool:
        return super().is_monotone and not self.cut.rel < 0

    def validate_params(self) -> None:
        super().validate_params()
        least, most, T, p = (self[name] for name in ("min_rel", "max_rel", "T", "p"))
        if most is not None and least >= most:
            example = self.measure(max_rel=least + 1)
            raise ParameterError(
                f"{self.measure}: max_rel={most} must be above min_rel={least}: for example {example}"
            )
        if T is not None and not 1.0 / LARGEST <= T <= LARGEST:
            limits = f"above 0 (from {1.0 / LARGEST:g} to {LARGEST:g})"
            raise ParameterError(f"{self.measure}: T must be {limits}: for example {self.measure(T=2.0)}")
        if p is not None and not 0 <= p <= 1:
            raise ParameterError(f"{self.measure}: p must be from 0 to 1: for example {self.measure(p=0.8)}")

    def doubt(self, levels: Levels) -> str:
        highest, most = levels.values.max(initial=0.0), self["max_rel"]
        if most is None or highest <= most:
            return ""
        return f"{self.measure}: the qrels have level {highest:g}, above max_rel={most}; it counts as {most}"

    def best_levels(self, levels: Levels) -> list[float]:  # noqa: ARG002  # higher levels have no more gain
        return [float(self["max_rel"])]

    def gain(self, view: View) -> Floats:
        """Return the gain of each document, in [0, 1]."""
        least, most = self["min_rel"], self["max_rel"]
        return np.asarray((np.clip(view.level, max(least, 0), most) - least) / (most - least))

    def weights(self, view: View, gain: Floats) -> tuple[Floats, Floats]:
        """Return the weight of each document, and the sum of the weights of all ranks of each topic."""
        raise NotImplementedError  # pragma: no cover

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        gain = self.gain(view)
        weight, total = self.weights(view, gain)
        return Contributions(view, gain * weight, total, "the weights of all ranks")

    def score(self, views: Views) -> Floats:
        # Rounding can put a list of gains of 1 above 1.
        return np.minimum(super().score(views), self.RANGE[1])

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        gain = self.gain(view)
        return {"gain": gain, "weight": self.weights(view, gain)[0]}


class WeightByRank(ExpectedGain):
    """Base class of the measures whose weights depend on the rank alone."""

    MONOTONE = True

    def weight(self, n: Ints) -> Floats:
        """Return the weight of ranks n."""
        raise NotImplementedError  # pragma: no cover

    def weights(self, view: View, gain: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002  # for others
        return self.weight(view.n), self._norm(view)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        terms = tied.weighted(self.gain(tied.view), by_rank(self.weight))
        return TiedContributions(tied, terms, self._norm(tied.view))

    def below(self, last: Ints) -> Floats:
        known, rest = weights_down_to(self.weight, self.ranks, int(last.max(initial=0)))
        left = np.append(np.cumsum(known[::-1])[::-1], 0.0) + rest
        return np.asarray(left[np.minimum(last, known.size)] / (known.sum() + rest))

    def _norm(self, view: View) -> Floats:
        known, rest = weights_down_to(self.weight, self.ranks)
        return np.full(view.levels.topics, known.sum() + rest)


def weights_down_to(weight: Callable[[Any], Floats], ranks: int, deepest: int = 0) -> tuple[Floats, float]:
    """Return the weights of the first ranks, at least to ``deepest``, and the sum of those of the others."""
    known = min(ranks, max(deepest, _ADDED))
    first = weight(np.arange(1, known + 1, dtype=np.int64))
    if known == ranks:
        return first, 0.0
    # Euler-Maclaurin from the middles between ranks; the integral by Gauss, in steps that double the rank.
    node, share = np.polynomial.legendre.leggauss(20)
    bounds = np.geomspace(known + 0.5, ranks + 0.5, math.ceil(math.log2(ranks / known)) + 1)
    middle, half = (bounds[1:] + bounds[:-1]) / 2, np.diff(bounds) / 2
    integral = float((half[:, None] * share * weight(middle[:, None] + half[:, None] * node)).sum())
    before, after = np.diff(weight(np.array([known, known + 1, ranks, ranks + 1])))[::2]
    return first, integral - float(after - before) / 24.0


@register(ir_measures.RBP)
class RankBiasedPrecision(WeightByRank):
    """Rank-biased precision.

    ``RBP = sum over relevant ranks n of p^(n-1) / sum over ranks i of p^(i-1)``, both over the first 1,000
    ranks, as in cwl_eval.

    Parameters: p in [0, 1], rel (required).

    Source: [moffat2008rank].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.RBP(p=0.5, rel=1), {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {RBP(p=0.5,rel=1): 0.5}
    """

    LACKS = {"ideal": "the user may go on below the last relevant document"}

    def is_defined(self) -> bool:
        return self["rel"] is not None and self["cutoff"] is None and 0 <= self["p"] <= 1

    @property
    def cut(self) -> Cut:
        return Cut(float(self["rel"]), cutoff=RANKS)

    def best_levels(self, levels: Levels) -> list[float]:  # noqa: ARG002  # all relevant levels count alike
        return [self.lowest_rel]

    def gain(self, view: View) -> Floats:
        return np.ones(view.n.size)

    def weight(self, n: Ints) -> Floats:
        return np.asarray((self["p"] ** np.arange(RANKS, dtype=np.float64))[n - 1])

    def columns(self, views: Views) -> dict[str, Floats]:
        return {"weight": self.weight(views[self.cut].n)}


@register(ir_measures.SDCG)
class ScaledDiscountedGain(WeightByRank):
    """Scaled discounted cumulative gain: the gain as a share of that of a list of the best documents only.

    ``SDCG@k = sum over ranks n <= k of g(n) / log2(n + 1) / sum over ranks n <= k of 1 / log2(n + 1)``. The
    gain is ``g = (level - min_rel) / (max_rel - min_rel)``, with lower and higher levels set to min_rel and
    max_rel; levels below 0 count as 0, and unjudged documents have no gain.

    Parameters: cutoff and max_rel (required), min_rel, dcg='log2'. cwl_eval looks at 1,000 ranks at most.

    Source: [moffat2017incorporating], as in cwl_eval.

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.SDCG(max_rel=1) @ 2, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {SDCG(max_rel=1)@2: 0.613147...}
    """

    def weight(self, n: Ints) -> Floats:
        return np.asarray(1.0 / np.log2(n + 1.0))


#: Reason why INST lacks the properties 'swap' and 'exchange'.
_WHY_NO_SWAP = "with T below 0.5, a user who has found more than wanted may read on for longer"


def inverse_square(n: Ints, T: float) -> Floats:
    """Return the weight of INSQ at ranks n, so that rank 1 has the weight 1."""
    return np.asarray((2.0 * T) ** 2 / (n - 1.0 + 2.0 * T) ** 2)


@register(ir_measures.INSQ)
class InverseSquares(WeightByRank):
    """Inverse squares: the weight of a rank falls with the square of its number.

    ``INSQ = sum over ranks n of g(n) W(n) / sum over ranks n of W(n)`` with
    ``W(n) = (2T / (n - 1 + 2T))^2``, both over the first 1,000 ranks, as in cwl_eval. Users who want a total
    gain of T look at about 2T documents. The gain g is that of ``SDCG``.

    Parameters: T > 0, max_rel (required), min_rel.

    Source: [moffat2012models].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.INSQ(max_rel=1), {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {INSQ(max_rel=1): 0.388237...}
    """

    def weight(self, n: Ints) -> Floats:
        return inverse_square(n, self["T"])


@register(ir_measures.INST)
class InverseSquaresOfTarget(ExpectedGain):
    """INST: as INSQ, but users who have found more of the gain that they want stop sooner.

    ``INST = sum over ranks n of g(n) W(n) / sum over ranks n of W(n)``, both over the first 1,000 ranks, as
    in cwl_eval. W(n) is the product over ranks m < n of
    ``((m + 2T - cg(m) - 1) / (m + 2T - cg(m)))^2``, where cg(m) is the sum of the gains down to m. The gain g
    is that of ``SDCG``.

    Parameters: T > 0, max_rel (required), min_rel.

    Source: [bailey2015user]; [moffat2015inst].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.INST(max_rel=1), {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {INST(max_rel=1): 0.608296...}

    Lacks swap:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.INST(max_rel=10, T=0.25), {"1": {"a": 10, "b": 9, "c": 10}}
        >>> run, changed = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}
        >>> [PROVIDER.calc_aggregate([measure], qrels, each)[measure] for each in (run, changed)]
        [0.867365..., 0.809686...]

    Lacks exchange:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.INST(max_rel=10, T=0.25), {"1": {"a": 10, "b": 9, "c": 10}}
        >>> run, changed = {"1": {"b": 2.0, "c": 1.0}}, {"1": {"a": 2.0, "c": 1.0}}
        >>> [PROVIDER.calc_aggregate([measure], qrels, each)[measure] for each in (run, changed)]
        [0.789480..., 0.618534...]
    """

    LACKS = {
        **ExpectedGain.LACKS,
        "swap": _WHY_NO_SWAP,
        "exchange": _WHY_NO_SWAP,
    }

    def weights(self, view: View, gain: Floats) -> tuple[Floats, Floats]:
        # Between two documents with a gain, W(n) is a constant over (n - 1 + A)^2 with A = 2T - cg. Each
        # topic begins with a document at rank 1 that has no gain.
        topics, wanted = view.levels.topics, 2.0 * self["T"]
        begin = view.topic_start + np.arange(topics)
        at = np.arange(1, view.n.size + 1) + view.topic
        rank, A = np.ones(at.size + topics), np.full(at.size + topics, wanted)
        rank[at], A[at] = view.n, wanted - segments.cumulative_sum(gain, view.start)
        following = np.append(rank[1:], RANKS)
        following[begin[1:] - 1] = RANKS
        level = rank - 1.0 + A
        start = np.repeat(begin, np.diff(begin, append=rank.size))
        root = segments.cumulative_product_before(level / (following - 1.0 + A), start)
        total, further = np.ones(topics), np.arange(1.0, RANKS)
        for first in range(0, topics, _TOPICS):
            part = slice(begin[first], begin[first + _TOPICS] if first + _TOPICS < topics else None)
            times = (following - rank)[part].astype(np.int64)
            of_part = (np.repeat(each[part], times).reshape(-1, RANKS - 1) for each in (root * level, A))
            numerator, offset = of_part
            total[first : first + _TOPICS] += ((numerator / (further + offset)) ** 2).sum(axis=1)
        return root[at] ** 2, total


@register(ir_measures.BPM)
class BejeweledPlayer(ExpectedGain):
    """Bejeweled player model: the gain per document of a user who stops with a total gain of T, or at rank k.

    ``BPM@k = cg(s)/s``, where cg(n) is the sum of the gains down to rank n, and s is the first rank with
    ``cg(s) >= T``, at most k. cg and T are compared with 12 significant digits. The gain g is that of
    ``SDCG``.

    Parameters: cutoff and max_rel (required), T > 0, min_rel.

    Source: [zhang2017evaluating], the static version, as in cwl_eval.

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.BPM(max_rel=2) @ 2, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {BPM(max_rel=2)@2: 0.25}

    Lacks swap:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.BPM(max_rel=10) @ 5, {"1": {"a": 10, "b": 9}}
        >>> run, changed = {"1": {"x": 3.0, "b": 2.0, "a": 1.0}}, {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run), PROVIDER.calc_aggregate([measure], qrels, changed)
        ({BPM(max_rel=10)@5: 0.633333...}, {BPM(max_rel=10)@5: 0.5})

    Lacks exchange:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels = ir_measures.BPM(max_rel=10) @ 5, {"1": {"a": 10, "b": 9, "c": 10}}
        >>> run, changed = {"1": {"x": 3.0, "b": 2.0, "a": 1.0}}, {"1": {"x": 3.0, "c": 2.0, "a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run), PROVIDER.calc_aggregate([measure], qrels, changed)
        ({BPM(max_rel=10)@5: 0.633333...}, {BPM(max_rel=10)@5: 0.5})
    """

    LACKS = {
        **ExpectedGain.LACKS,
        "swap": "the user who reaches T sooner does not see the gain further down",
        "exchange": "the user who reaches T sooner does not see the gain further down",
    }

    def weights(self, view: View, gain: Floats) -> tuple[Floats, Floats]:
        last = np.full(view.levels.topics, float(self.ranks))
        # Ten times a gain of 0.1 is 1.
        enough = rounded(segments.cumulative_sum(gain, view.start)) >= rounded(np.array([self["T"]]))
        np.minimum.at(last, view.topic[enough], view.n[enough])
        return (view.n <= last[view.topic]).astype(np.float64), last


class NearlyReciprocalRank(ExpectedGain):
    """Base class of NERR: the user is satisfied by a document with probability g, and then stops."""

    MONOTONE = True

    def patience(self, n: Ints) -> Floats:
        """Return the weight of ranks n if no document above satisfies."""
        raise NotImplementedError  # pragma: no cover

    def weights(self, view: View, gain: Floats) -> tuple[Floats, Floats]:
        reached = unsatisfied_before(gain, view.start)
        known, rest = weights_down_to(self.patience, self.ranks, int(view.n.max(initial=0)))
        down_to = np.cumsum(known, dtype=np.longdouble).astype(np.float64)
        # A user who is satisfied at rank n has passed the patience down to n, the others all of it.
        last = np.flatnonzero(np.diff(view.topic, append=-1))
        unsatisfied = np.ones(view.levels.topics)
        unsatisfied[view.topic[last]] = reached[last] * (1.0 - gain[last])
        satisfied = view.sum_by_topic(reached * gain)
        # Where most are not satisfied, the difference from 1 has more correct digits than the product.
        unsatisfied = np.where(satisfied < _MOST, 1.0 - satisfied, unsatisfied)
        stopped = view.sum_by_topic(reached * gain * down_to[view.n - 1])
        return reached * self.patience(view.n), stopped + unsatisfied * (known.sum() + rest)


@register(ir_measures.NERR8)
class NearlyReciprocalRank8(NearlyReciprocalRank):
    """Not (but nearly) expected reciprocal rank, equation 8: the user stops when satisfied, or at rank k.

    ``NERR8@k = sum over ranks n <= k of g(n) W(n) / sum over ranks n <= k of W(n)`` with
    ``W(n) = product over ranks m < n of (1 - g(m))``. The gain g is that of ``SDCG``.

    Parameters: cutoff and max_rel (required), min_rel.

    Source: [azzopardi2021err].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NERR8(max_rel=2) @ 2, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NERR8(max_rel=2)@2: 0.333333...}
    """

    def patience(self, n: Ints) -> Floats:
        return np.ones(n.shape)


@register(ir_measures.NERR9)
class NearlyReciprocalRank9(NearlyReciprocalRank):
    """Not (but nearly) expected reciprocal rank, equation 9: as NERR8, with a discount by rank.

    ``NERR9@k = sum over ranks n <= k of g(n) W(n) / sum over ranks n <= k of W(n)`` with
    ``W(n) = 1/n * product over ranks m < n of (1 - g(m))``. The gain g is that of ``SDCG``.

    Parameters: cutoff and max_rel (required), min_rel.

    Source: [azzopardi2021err].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NERR9(max_rel=2) @ 2, {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NERR9(max_rel=2)@2: 0.4}
    """

    def patience(self, n: Ints) -> Floats:
        return np.asarray(1.0 / n)


@register(ir_measures.NERR10)
class NearlyReciprocalRank10(NearlyReciprocalRank):
    """Not (but nearly) expected reciprocal rank, equation 10: as NERR8, with the patience of RBP.

    ``NERR10 = sum over ranks n of g(n) W(n) / sum over ranks n of W(n)`` with
    ``W(n) = p^(n-1) * product over ranks m < n of (1 - g(m))``, both over the first 1,000 ranks, as in
    cwl_eval. The gain g is that of ``SDCG``.

    Parameters: p in [0, 1], max_rel (required), min_rel.

    Source: [azzopardi2021err].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NERR10(p=0.5, max_rel=2), {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NERR10(p=0.5,max_rel=2): 0.333333...}
    """

    def patience(self, n: Ints) -> Floats:
        return np.asarray(self["p"] ** (n - 1.0))


@register(ir_measures.NERR11)
class NearlyReciprocalRank11(NearlyReciprocalRank):
    """Not (but nearly) expected reciprocal rank, equation 12: as NERR8, with the patience of INSQ.

    ``NERR11 = sum over ranks n of g(n) W(n) / sum over ranks n of W(n)`` with
    ``W(n) = (2T / (n - 1 + 2T))^2 * product over ranks m < n of (1 - g(m))``, both over the first 1,000
    ranks, as in cwl_eval. The gain g is that of ``SDCG``.

    Parameters: T > 0, max_rel (required), min_rel.

    Source: [azzopardi2021err].

    Lacks ideal:
        >>> from ir_graded.evaluation.provider import PROVIDER
        >>> measure, qrels, run = ir_measures.NERR11(max_rel=2), {"1": {"a": 1}}, {"1": {"a": 1.0}}
        >>> PROVIDER.calc_aggregate([measure], qrels, run)
        {NERR11(max_rel=2): 0.279662...}
    """

    def patience(self, n: Ints) -> Floats:
        return inverse_square(n, self["T"])
