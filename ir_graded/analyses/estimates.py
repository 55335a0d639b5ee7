"""``score_estimates``: scores estimated from a sample of the judgments, with their standard errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded._utils.results import Result
from ir_graded.core import segments
from ir_graded.core.facets import INCLUSION, METHOD, STRATUM
from ir_graded.core.levels import Levels, Strata
from ir_graded.core.segments import Bools, Floats, Ints, pair_key
from ir_graded.core.struct import light_dataclass
from ir_graded.core.views import Views, blend
from ir_graded.errors import InputError, ParameterError, SampledJudgmentsWarning, short_repr, warn_caller
from ir_graded.evaluation.evaluate import Request
from ir_graded.evaluation.provider import scorers_here
from ir_graded.evaluation.scores import Scores
from ir_graded.io.sources import opened
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, prepare_qrels
from ir_graded.measures.base import Scorer, safe_divide
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.classic.cwl import weights_down_to
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.matrix import number_of
from ir_graded.meta.options import statistic

if TYPE_CHECKING:
    import pandas as pd


#: Methods of choosing documents whose documents count as certain: by MTC, and by MTC and sampling.
CERTAIN = (0, 2)
COVERS = "the sampling of judgments only, not of topics"
#: Numbers of documents this close to a whole number, relatively, are equal to it up to rounding.
_WHOLE = 1e-9
#: Ranks beyond all ranks of runs, and the last rank of the table of sums of discounts.
_BEYOND, _TABLE = 2**31, 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class EstimateDifference(Result):
    """Difference of the mean estimates of two runs, from the same sample of judgments.

    Attributes:
        measure: printed name of each measure.
        difference: mean of ``run_a`` minus that of ``run_b``, shape ``(measures,)``.
        se: standard error of the difference.
        low: lower ends of the intervals.
        high: upper ends.
        run_a: name of the first run.
        run_b: name of the run that is subtracted.
        confidence: confidence of each interval, such as 0.95.
        covers: what the standard errors and the intervals cover.
    """

    measure: tuple[str, ...]
    difference: Floats
    se: Floats
    low: Floats
    high: Floats
    run_a: str
    run_b: str
    confidence: float
    covers: str = COVERS

    COLUMNS: ClassVar = ("run_a", "run_b", "measure", "difference", "se", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class ScoreEstimates(Result):
    """Scores estimated from sampled judgments, with intervals that cover the sampling of judgments only.

    The intervals do not cover the choice of topics (``ir_graded.meta.confidence_intervals``).

    Attributes:
        scores: the estimates as scores; they may be below 0 or above 1.
        se: standard errors of the estimates, shape ``(measures, runs, topics)``; NaN where a stratum of
            several documents has a single judged one.
        low: lower ends of the intervals, with the same shape.
        high: upper ends.
        overall: mean over the topics, its standard error, low and high, shape ``(4, measures, runs)``.
        largest_weight: largest share of one judged document in the estimated number of relevant documents,
            shape ``(measures, topics)``; NaN where no judged document is relevant.
        no_relevant: number of topics without a relevant judged document, which score 0, by measure.
        confidence: confidence of the intervals.
        covers: what the standard errors and the intervals cover.
    """

    scores: Scores
    se: Floats
    low: Floats
    high: Floats
    overall: Floats
    largest_weight: Floats
    no_relevant: Ints
    confidence: float
    _sample: Sample
    _influence: Floats
    covers: str = COVERS

    @property
    def estimate(self) -> Floats:
        """The estimates, shape ``(measures, runs, topics)``."""
        return self.scores.values

    def to_frame(self) -> pd.DataFrame:
        """Return columns run, query_id, measure, estimate, se, low, high and largest_weight."""
        weight = np.broadcast_to(self.largest_weight[:, np.newaxis], self.estimate.shape)
        columns = {"estimate": self.estimate, "se": self.se, "low": self.low, "high": self.high}
        return self.scores.frame_of({**columns, "largest_weight": weight})

    def mean(self) -> pd.DataFrame:
        """Means over the topics: a row per run, best first; per measure estimate, se, low and high.

        Intervals of the mean cover the sampling of judgments only, not of topics.
        """
        names = ("estimate", "se", "low", "high")
        return self.scores.mean_frame_of(dict(zip(names, self.overall.swapaxes(1, 2), strict=True)))

    def difference(self, run_a: str, run_b: str) -> EstimateDifference:
        """Return the differences of the means of two runs, whose estimates are from the same sample.

        The standard error is that of the differences of the influences of each document, so it is smaller
        than that of unrelated estimates. It covers the sampling of judgments only, not of topics.

        Args:
            run_a: name of a run.
            run_b: name of the run whose means are subtracted.

        Raises:
            ParameterError: there is no run of this name.

        Example:
            >>> import ir_graded, pandas
            >>> rows = [("1", "a", 1, 1.0), ("1", "b", 1, 0.5), ("1", "c", 0, 0.5)]
            >>> qrels = pandas.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iprob"])
            >>> runs = {"good": {"1": {"b": 2.0, "a": 1.0}}, "poor": {"1": {"a": 2.0, "c": 1.0}}}
            >>> found = ir_graded.score_estimates("P@2", qrels, runs)
            >>> found.difference("good", "poor").to_frame().round(3).iloc[:, 2:]
              measure  difference     se    low   high
            0     P@2         1.0  0.707 -0.386  2.386
        """
        runs = self.scores.runs
        a, b = number_of(run_a, runs, "run_a"), number_of(run_b, runs, "run_b")
        difference = self.overall[0, :, a] - self.overall[0, :, b]
        variance = [self._sample.variance(one).sum() for one in self._influence[:, a] - self._influence[:, b]]
        se = np.sqrt(variance) / len(self.scores.query_ids)
        ends = _ends(difference, se, self.confidence)
        return EstimateDifference(
            tuple(self.scores.names), difference, se, *ends, runs[a], runs[b], self.confidence
        )


def _sums(of: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each of ``size`` groups, which may be in any order."""
    return np.bincount(of, values, size).astype(np.float64, copy=False)


def _ends(estimate: Floats, se: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of normal intervals."""
    width = -NormalDist().inv_cdf((1 - confidence) / 2) * se
    return estimate - width, estimate + width


@statistic()
def score_estimates(
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    runs: Any,
    *,
    confidence: float = 0.95,
    certain: Sequence[float] = CERTAIN,
) -> ScoreEstimates:
    """Estimate the scores of a completely judged pool from a random sample of it, with standard errors.

    Use it if the judged documents were drawn at random, with known probabilities (column ``iprob``) or from
    strata, as ``pool`` draws them. For other judgments use ``score_intervals``, or ``score_bounds`` for a
    guarantee.

    Each judged document of inclusion probability ``pi`` has the weight ``w = 1 / pi``. With
    rank r, relevance x and gain g of a document, e above d, and ``R^ = sum of w x`` over judged documents::

        AP    1/R^ * sum over d of w x (1 + sum over e of w x) / r
        Q     1/R^ * sum over d of w x (1 + beta g + sum over e of w x (1 + beta g)) / (r + beta cg*(r))
        nDCG  sum over d with r <= k of w g / log2(r + 1), divided by this sum for the ideal list
        P@k   sum over d with r <= k of w x / k; RBP and gRBP likewise with the weights of their ranks

    The ideal list has as many documents of a gain >= v as the sum of w over them, the last one in part. With
    complete judgments each estimate is the measure. AP is statAP. Estimates are not cut to [0, 1]. A topic
    without a relevant judged document scores 0. Relevant documents outside the pool are unknown: AP, Q and
    nDCG are relative to those in the pool.

    Standard errors follow from the influence u of each document (the derivative of the estimate by w). With
    strata of N documents, n of them judged, ``se^2 = sum over strata of N (N - n) / n * var(u)`` (NaN where n
    is 1 and N is not); with probabilities only, for independent draws, ``se^2 = sum of w (w - 1) u^2``. The
    interval of a mean over T topics is ``mean -+ z * sqrt(sum of se^2) / T``.

    The intervals cover the sampling of judgments only, not of topics. In simulations with real runs, 95%
    intervals of means held the true mean in 90% to 95% of the cases with strata by rank, and those of AP and
    Q in less than 80% in a uniform sample of a tenth of the pool; intervals of single topics do so less
    often. Such a sample says little about the first ten ranks. Weights are not cut off: see
    ``largest_weight`` for topics that one document decides.

    Args:
        measures: AP, Q and nDCG, the latter with or without cutoff; P, RBP and gRBP.
        qrels: qrels with the column ``iprob`` (inclusion probabilities), ``stratum``, or both: a frame
            (pandas or Polars) or Arrow table, named tuples (TrecPrel of ir_datasets), a path or a dataset.
            Documents of a level below 0 are in the pool, but not judged. With strata only, probabilities are
            the shares of judged documents.
        runs: one or several runs in any form of ``evaluate``.
        confidence: confidence of the intervals, between 0 and 1.
        certain: values of the column ``method`` whose documents were certain to be judged, whatever their
            ``iprob``: 0 and 2 in files of the Million Query and Web tracks. Empty for none.

    Returns:
        Estimates, standard errors and intervals for each measure, run and topic, and for the means.

    Raises:
        ParameterError: a measure has no estimator, or an option is out of range.
        InputError: the qrels have neither probabilities nor strata, a probability is not that of the stratum
            (to 1e-6), a document appears twice, there are passages; or as for ``evaluate``.

    Warns:
        SampledJudgmentsWarning: rows without an inclusion probability or of level -999 were dropped, or
            documents of method 0 with one below 1 count as certain.
        CoverageWarning: as in ``evaluate``; or a stratum has no judged document and adds nothing, or a single
            one of several, so that standard errors are not known.

    Source:
        Pavlu and Aslam, "A Practical Sampling Strategy for Efficient Retrieval Evaluation" (2007) for AP. The
        estimates of other measures and the standard errors are of this package.

    Example:
        >>> import ir_graded, pandas
        >>> rows = [("1", "a", 1, 1.0), ("1", "b", 2, 0.5), ("1", "c", 0, 0.2), ("1", "d", 1, 0.5)]
        >>> qrels = pandas.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iprob"])
        >>> run = {"1": {"b": 4.0, "x": 3.0, "a": 2.0, "d": 1.0}}
        >>> found = ir_graded.score_estimates(["AP", "Q"], qrels, run)
        >>> found.mean().round(3)["AP"]
             estimate     se    low   high
        run
        run       1.0  0.236  0.538  1.462
        >>> print(found.covers)
        the sampling of judgments only, not of topics
    """
    wanted = read_measures(measures)
    _check_measures(wanted)
    methods = np.asarray(certain)
    if methods.ndim != 1 or methods.dtype.kind not in "iuf":
        raise ParameterError(f"certain={short_repr(certain)} must be a list of numbers of methods, or empty")
    source = opened("qrels", qrels)
    table = source.table().judgments()
    judgments = prepare_qrels(table, (INCLUSION, STRATUM, METHOD))
    levels = judgments.levels
    if note := table.note_on_dropped():
        warn_caller(note, SampledJudgmentsWarning)
    if levels.highlights is not None:
        raise InputError("qrels: score_estimates takes no passages (columns start and length)")
    # The sample is weighted here, so there is no reason to warn of it.
    request = Request(wanted, replace(judgments, note_on_sample=""), runs)
    scorers, sample = request.evaluator.graded.scorers, Sample.of(judgments, methods)
    estimators = [KINDS[measure.NAME](scorer, levels, sample.weight) for measure, scorer in scorers.items()]
    # Only these documents have influences.
    documents = np.unique(np.concatenate([one.document for one in estimators]))
    sample = replace(sample, kept=documents[sample.uncertain[documents]])

    def estimated(run: MatchedRun) -> list[tuple[Floats, Floats]]:
        if run.judged.retrieved is not None:
            raise InputError("run: score_estimates takes no passages (columns start and length)")
        views = Views(levels, run.judged)
        found = (estimator.of_run(views) for estimator in estimators)
        return [(estimate, influence[sample.kept]) for estimate, influence in found]

    scores, by_run = request.scores(estimated, rows=False)
    estimates, influences = (
        np.array([[of_run[at][which] for of_run in by_run] for at in range(len(estimators))])
        for which in (0, 1)
    )
    variance = np.array([[sample.variance(one) for one in of_runs] for of_runs in influences])
    request.origin.add("qrels", "", source)
    given = {**request.origin.options, "estimates": True}
    origin = replace(request.origin, facets=(INCLUSION, STRATUM, METHOD), options=given)
    scores = replace(scores, values=estimates, _origin=origin)
    mean, se = scores.aggregates.T, np.sqrt(variance.sum(axis=2)) / len(scores.query_ids)
    overall = np.stack([mean, se, *_ends(mean, se, confidence)])
    low, high = _ends(estimates, np.sqrt(variance), confidence)
    largest = np.array([estimator.largest_weight for estimator in estimators])
    none = np.array([np.count_nonzero(estimator.R == 0) for estimator in estimators])
    return ScoreEstimates(
        scores, np.sqrt(variance), low, high, overall, largest, none, float(confidence), sample, influences
    )


def _check_measures(measures: list[Measure]) -> None:
    """Raise ParameterError for a measure without an estimator."""
    for measure in measures:
        base, _, _ = measure.NAME.partition(" with ties")
        if base not in KINDS:
            scorer = scorer_of(measure)
            why = ": it is an estimate itself, for evaluate" if scorer and scorer.ESTIMATES else ""
            raise ParameterError(
                f"{measure} has no estimator for sampled judgments{why}. Available: {', '.join(KINDS)}"
            )
    for measure in scorers_here(measures, "score_estimates", "passages columns ties"):
        of_list = {"cutoff": "all sampled documents count, also those below"}
        reasons = _REASONS | (of_list if KINDS[measure.NAME] is _Average else {})
        if given := [name for name in reasons if measure.params.get(name)]:
            raise ParameterError(
                f"{measure} has no estimator for sampled judgments with {given[0]}: {reasons[given[0]]}"
            )


@light_dataclass(frozen=True, eq=False)
class Sample:
    """The sample of the judgments of all topics, with a value for each document of the qrels."""

    topics: int
    topic: Ints
    #: Inverse inclusion probability; 0 if the document was not judged.
    weight: Floats
    #: Whether the document was judged, and might not have been.
    uncertain: Bools
    #: The strata without the documents that were certain; None if each document was drawn by itself.
    strata: Strata | None
    #: The documents whose influence the variance depends on.
    kept: Ints

    @classmethod
    def of(cls, judgments: Judgments, certain: npt.NDArray[Any]) -> Sample:
        """Return the sample of qrels, and warn of strata with too few judged documents."""
        levels, further = judgments.levels, judgments.levels.further
        judged = (levels.values >= 0)[levels.level_index]
        sure = judged & np.isin(further.get(METHOD.name, np.full(judged.size, np.nan)), certain)
        if sure.any() and {STRATUM.name, INCLUSION.name} <= further.keys():
            raise InputError(
                "qrels: certain documents have no stratum, so that their iprob is not that of the stratum; "
                f"leave out one of the columns {STRATUM.name}, {INCLUSION.name} and {METHOD.name}, or use "
                "certain=()"
            )
        pi, strata = further.get(INCLUSION.name), None
        if STRATUM.name in further:
            whole = Strata.of_levels(levels)
            N, n = (segments.count(whole.of[one], whole.topic.size) for one in (~sure, ~sure & judged))
            strata, pi = replace(whole, N=N, n=n), (n / np.maximum(N, 1))[whole.of]
            if note := judgments.note_on_strata():
                warn_caller(note)
            if (single := np.unique(whole.of, return_index=True)[1][(n == 1) & (N > 1)]).size:
                warn_caller(
                    f"{single.size} of {N.size} strata have a single judged document of several, so standard "
                    f"errors are not known: the first is stratum {judgments.strata[single[0]]!r} of topic "
                    f"{judgments.names[levels.topic[single[0]]]!r}. Judge another document of it, at random, "
                    "or join strata."
                )
        elif pi is None:
            raise InputError(
                INCLUSION.refusal("score_estimates", "qrels", f"a column {STRATUM.name} will also do")
            )
        # In files of the tracks, documents of method 0 have probability 1, those of method 2 may have any.
        method, given = (further.get(name, np.ones(judged.size)) for name in (METHOD.name, INCLUSION.name))
        if odd := np.count_nonzero(sure & judged & (method == 0) & (given < 1)):
            warn_caller(
                f"{odd} judgments of method 0 have an inclusion probability below 1, but count as certain; "
                "certain=() uses the probabilities.",
                SampledJudgmentsWarning,
            )
        weight = np.divide(1.0, np.where(sure, 1.0, pi), out=np.zeros(judged.size), where=judged)
        return cls(levels.topics, levels.topic, weight, weight > 1, strata, np.zeros(0, dtype=np.int64))

    def variance(self, influence: Floats) -> Floats:
        """Return the variance of the estimate of each topic from the influences of the kept documents."""
        if self.strata is None:
            w = self.weight[self.kept]
            return _sums(self.topic[self.kept], w * (w - 1.0) * influence**2, self.topics)
        strata, of = self.strata, self.strata.of[self.kept]
        N, n, size = strata.N, strata.n, strata.topic.size
        judged = np.maximum(n, 1)
        mean = _sums(of, influence, size) / judged
        # All other judged documents of a stratum have the influence 0.
        squares = _sums(of, (influence - mean[of]) ** 2, size) + (n - segments.count(of, size)) * mean**2
        unknown = np.where((n == 1) & (N > 1), np.nan, 0.0)
        factor = np.divide(N * (N - n) / judged, n - 1, out=unknown, where=n > 1)
        return _sums(strata.topic, factor * squares, self.topics)


def _discount(n: Any) -> Floats:
    return np.asarray(1.0 / np.log2(n + 1.0))


def _sum_of_discounts(n: Floats) -> Floats:
    """Return the sum of the discounts down to ranks; of a fraction, the last one counts in part."""
    whole = np.floor(n).astype(np.int64)
    ranks = np.arange(1, min(int(whole.max(initial=0)), _TABLE) + 1)
    total = np.append(0.0, np.cumsum(_discount(ranks)))[np.minimum(whole, _TABLE)]
    for at in np.flatnonzero(whole > _TABLE):
        known, rest = weights_down_to(_discount, int(whole[at]))
        total[at] = known.sum() + rest
    return np.asarray(total + (n - whole) * _discount(whole + 1))


class _Estimator:
    """Estimates of a measure for one sample: what depends on the qrels, computed once.

    ``document`` are the relevant judged documents and ``R`` their weighted number by topic. A *group* has
    those of a topic and gain v, by topic and descending gain: ``n`` is the weighted number of documents of at
    least this gain, ``step`` the difference of v and the next lower gain (0 at the end).
    """

    def __init__(self, scorer: Scorer, levels: Levels, weight: Floats) -> None:
        grades = scorer.grades(levels)
        if (wrong := levels.values[grades.relevant & (levels.values < 0)]).size:
            raise ParameterError(
                f"{scorer}: level {wrong[0]:g} is relevant, but documents of a level below 0 were not judged"
            )
        self.scorer, self.weight, self.topics = scorer, weight, levels.topics
        self.document = np.flatnonzero(grades.relevant[levels.level_index])
        self.topic, w = levels.topic[self.document], weight[self.document]
        self.R = _sums(self.topic, w, levels.topics)
        largest = np.zeros(levels.topics)
        np.maximum.at(largest, self.topic, w)
        self.largest_weight = np.divide(largest, self.R, out=np.full(self.R.size, np.nan), where=self.R > 0)
        self.gain = grades.gain[levels.level_index]
        gains, place = np.unique(-self.gain[self.document], return_inverse=True)
        group, self.group = np.unique(self.topic * gains.size + place, return_inverse=True)
        self.of, v = group // max(gains.size, 1), -gains[group % max(gains.size, 1)]
        self.start = segments.starts(self.of, levels.topics)
        n = segments.cumulative_sum(_sums(self.group, w, group.size), self.start[self.of])
        # Derivatives jump at whole numbers.
        self.n = np.where(np.abs(n - np.rint(n)) <= _WHOLE * n, np.rint(n), n)
        is_last = np.append(self.of[1:] != self.of[:-1], True)[: v.size]
        self.v, self.step = np.append(v, 0.0), v - np.where(is_last, 0.0, np.append(v[1:], 0.0)[: v.size])

    def of_run(self, views: Views) -> tuple[Floats, Floats]:
        """Return the estimate of each topic, and the influence of each document of the qrels."""
        raise NotImplementedError  # pragma: no cover

    def influence(self, of_group: Floats) -> Floats:
        """Return the influences of documents that the run did not retrieve, which depend on their groups."""
        u = np.zeros(self.weight.size)
        u[self.document] = of_group[self.group]
        return u


class _Linear(_Estimator):
    """Sums over documents of a weight of the rank: P, RBP and gRBP."""

    def of_run(self, views: Views) -> tuple[Floats, Floats]:
        found = self.scorer.contributions(views)
        u = np.zeros(self.weight.size)
        u[found.view.document] = found.value
        return found.view.sum_by_topic(self.weight[found.view.document] * found.value), u


class _Discounted(_Estimator):
    """nDCG: divided by the estimated sum of the ideal list."""

    def __init__(self, scorer: Scorer, levels: Levels, weight: Floats) -> None:
        super().__init__(scorer, levels, weight)
        k = scorer.cut.cutoff or np.inf
        self.ideal = _sums(self.of, self.step * _sum_of_discounts(np.minimum(self.n, k)), levels.topics)
        slope = np.where(self.n <= k, self.step * _discount(np.ceil(self.n)), 0.0)
        self.slope = segments.sum_from(slope, self.of) / self.ideal[self.of]

    def of_run(self, views: Views) -> tuple[Floats, Floats]:
        found = self.scorer.contributions(views)
        view, term = found.view, np.asarray(found.term)
        estimate = safe_divide(view.sum_by_topic(self.weight[view.document] * term), self.ideal)
        u = self.influence(-estimate[self.of] * self.slope)
        u[view.document] += term / self.ideal[view.topic]
        return estimate, u


class _Average(_Estimator):
    """AP and Q: the mean of the blended ratio over the relevant documents; beta is 0 for AP."""

    def __init__(self, scorer: Scorer, levels: Levels, weight: Floats) -> None:
        super().__init__(scorer, levels, weight)
        of_count, self.of_gain = blend(getattr(scorer, "beta", 0.0))
        none = _sums(self.of, self.v[:-1], levels.topics) == 0
        # With beta=inf and no gain in the ideal list, the ratio is that of counts.
        self.of_count = np.where(none, 1.0, of_count)
        self.cumulative = np.append(segments.cumulative_sum(self.step * self.n, self.start[self.of]), 0.0)
        self.key = pair_key(self.of, np.minimum(np.ceil(self.n), _BEYOND).astype(np.int64))

    def cg_star(self, topic: Ints, rank: Ints) -> Floats:
        """Return the sum of the ideal gains down to some ranks: of ``step * min(n, rank)`` over groups."""
        at = np.searchsorted(self.key, pair_key(topic, rank), side="right")
        begin, end = np.searchsorted(self.of, topic), np.searchsorted(self.of, topic, side="right")
        whole = np.where(at > begin, self.cumulative[at - 1], 0.0)
        return whole + np.where(at < end, self.v[at], 0.0) * rank

    def of_run(self, views: Views) -> tuple[Floats, Floats]:
        view = views[self.scorer.cut]
        topic, r, w = view.topic, view.n, self.weight[view.document]
        own = self.of_count[topic] + self.of_gain * self.gain[view.document]
        divisor = self.of_count[topic] * r + self.of_gain * self.cg_star(topic, r)
        ratio = (own + segments.cumulative_sum_before(w * own, view.start)) / divisor
        estimate = safe_divide(view.sum_by_topic(w * ratio), self.R)
        below = segments.sum_from(w / divisor, topic) - w / divisor
        # A document adds to the ideal gains at ranks below the end of its group.
        steeper = np.append(segments.sum_from(w * ratio / divisor, topic), 0.0)
        last = pair_key(self.of, np.minimum(self.n, _BEYOND).astype(np.int64))
        at = np.searchsorted(pair_key(topic, r), last, side="right")
        beyond = np.where(at < np.searchsorted(topic, self.of, side="right"), steeper[at], 0.0)
        ideal = segments.sum_from(self.step * beyond, self.of)
        u = self.influence(-(estimate[self.of] + self.of_gain * ideal) / self.R[self.of])
        u[view.document] += (ratio + own * below) / self.R[topic]
        return estimate, u


#: The measures that have an estimator.
KINDS: dict[str, type[_Estimator]] = {
    **dict.fromkeys(("AP", "Q"), _Average),
    "nDCG": _Discounted,
    **dict.fromkeys(("P", "RBP", "gRBP"), _Linear),
}
#: Parameters without an estimator.
_REASONS = {
    "judged_only": "ranks among judged documents depend on the sample",
    "norm": "the divisor has no estimator",
    "residual": "most unjudged documents were left out by the sample",
}
