"""Confidence intervals of means, from topics alone or with the labels of a model; minima of means."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.later import extra
from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, ParameterError, short_repr

from .matrix import (
    DECIMALS,
    FEWEST,
    ScoreMatrix,
    all_matrices,
    arithmetic,
    check_arithmetic,
    check_direction,
    is_geometric,
    matrices_by_measure,
    number_of,
    ranges_of,
    reference_name,
)
from .max_t import FEWEST_DIFFERENT, mean_and_error
from .options import Number, Seed, generator, statistic
from .replicates import replicate_blocks, topic_counts
from .sample_size import ROUNDING
from .topics import Sample, means_over_topics

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


#: Score below which a topic counts with this one in a geometric mean.
_SMALLEST = 0.00001


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceIntervals(Result):
    """Mean scores of systems with their confidence intervals.

    Attributes:
        measures: printed names of the measures.
        runs: the systems, in the given order.
        mean: mean over the topics, shape ``(measures, runs)``.
        low: lower ends of the intervals, with the same shape.
        high: upper ends.
        confidence: confidence level, such as 0.95.
        method: ``'t'`` or ``'bootstrap'``.
        n_resamples: number of replicates of the bootstrap.
        topics: number of topics.
        too_few: whether an interval is wider than half the range of the measure. Tables and reports print
            "too few topics" instead.
        notes: sentences on what limits the intervals.
        lower_is_better: measures by which lower scores are better.
    """

    measures: tuple[str, ...]
    runs: tuple[Hashable, ...]
    mean: Floats
    low: Floats
    high: Floats
    confidence: float
    method: str
    n_resamples: int
    topics: int
    too_few: Bools
    notes: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()

    def best_first(self, measure: int = 0) -> list[int]:
        """Return the numbers of the runs in the order of their means by a measure."""
        sign = 1 if self.measures[measure] in self.lower_is_better else -1
        numbers: list[int] = np.argsort(sign * self.mean[measure], kind="stable").tolist()
        return numbers

    def to_frame(self) -> pd.DataFrame:
        """Return a row per run, best first by the first measure, with mean, low and high per measure."""
        import pandas as pd

        order = self.best_first()
        ends = np.stack([self.mean, self.low, self.high], axis=1)[:, :, order]
        index = pd.Index([self.runs[number] for number in order], name="run", tupleize_cols=False)
        columns = pd.MultiIndex.from_product([self.measures, ["mean", "low", "high"]])
        return pd.DataFrame(ends.reshape(-1, len(order)).T, index, columns)

    def plot(self, measure: str | None = None, ax: Axes | None = None) -> Figure:
        """Plot the leaderboard by one measure (by default the first) into ``ax`` or a new figure."""
        from ir_graded.plots.scores import leaderboard

        return leaderboard(self, measure, ax)


@statistic(method=("t", "bootstrap"))
def confidence_intervals(
    scores: Any,
    *,
    confidence: float = 0.95,
    method: str = "t",
    n_resamples: int = 1000,
    weights: Any = None,
    clusters: Any = None,
    rng: Seed = 0,
) -> ConfidenceIntervals:
    """Compute intervals of the mean score over the topics.

    Student's interval is ``mean +- q se``, with the quantile q for n - 1 degrees of freedom. It ends at the
    ends of the range of the measure, which ``Scores`` know, and matrices and tables do not. With weights or
    clusters, ``se`` and n are those of ``meta.differences``: n is the effective number of topics or clusters,
    and what follows is about the means of clusters. Intervals of GMAP and
    other geometric means are those of the logarithms.

    Few topics may miss scores that are rare, such as 0 where nearly all are 1. If the most frequent score v
    holds at least half of the topics, fewer than 8 topics have another one, and the range is finite, then
    ``low = min(low, v - u (v - lowest))`` and ``high = max(high, v + u (highest - v))``, where u is the upper
    end of the exact interval of the share of other scores (Clopper and Pearson). Where two scores hold half
    of the topics each, this holds for both.

    ``method='bootstrap'`` gives percentile intervals, which are too short with few topics: a replicate draws
    n topics with replacement, and the interval goes from the ``a/2`` to the ``1 - a/2`` quantile of the
    (weighted) means of B replicates, where ``a = 1 - confidence``. All systems and measures share the same
    replicates.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x
            systems. One system is enough.
        confidence: confidence level, between 0 and 1.
        method: ``'t'`` or ``'bootstrap'``.
        n_resamples: number of bootstrap replicates B, at least 1.
        weights: weights of the topics, as for ``meta.differences``.
        clusters: the cluster of each topic, as for ``meta.differences``; the bootstrap draws clusters.
        rng: a seed or a generator, for the bootstrap.

    Raises:
        InputError: fewer than two topics, a score that is not finite, or other topics or systems.
        ParameterError: an option is out of its range.

    Source: Student, "The probable error of a mean" (Biometrika, 1908); Clopper and Pearson, "The use of
    confidence or fiducial limits illustrated in the case of the binomial" (Biometrika, 1934); Efron,
    "Bootstrap methods" (Annals of Statistics, 1979).

    Example:
        >>> import pandas as pd
        >>> scores = {"Q": pd.DataFrame({"poor": [0.4, 0.2, 0.3, 0.1], "good": [0.9, 0.7, 0.8, 0.8]})}
        >>> confidence_intervals(scores).to_frame().round(2)
                 Q
              mean   low  high
        run
        good  0.80  0.67  0.93
        poor  0.25  0.04  0.46
    """
    matrices = all_matrices(scores, fewest_runs=1)
    source = generator(rng)
    values = np.stack([matrix.values.T for matrix in matrices.values()])
    ranges = ranges_of(scores, matrices)
    geometric = [at for at, name in enumerate(matrices) if is_geometric(name)]
    for of_scores in (values, ranges):
        of_scores[geometric] = np.log(of_scores[geometric].clip(_SMALLEST))
    sample = Sample.of(next(iter(matrices.values())).topics, weights, clusters=clusters)
    means = means_over_topics(values[:, :, sample.kept], sample.weights)
    _, units, of_units = sample.units(values[:, :, sample.kept])
    if method == "t":
        low, high = _student(units, of_units, means, ranges.T[:, :, np.newaxis], confidence)
    else:
        low, high = _percentiles(units, of_units, means, confidence, n_resamples, source)
    for of_runs in (means, low, high, ranges):
        of_runs[geometric] = np.exp(of_runs[geometric])
    return ConfidenceIntervals(
        measures=tuple(matrices),
        runs=next(iter(matrices.values())).runs,
        mean=means,
        low=low,
        high=high,
        confidence=float(confidence),
        method=method,
        n_resamples=int(n_resamples),
        topics=sample.weights.size,
        too_few=high - low > np.ptp(ranges, axis=1)[:, np.newaxis] / 2,
        notes=sample.notes,
        lower_is_better=tuple(getattr(scores, "lower_is_better", ())),
    )


def _student(
    values: Floats, weights: Floats, means: Floats, ends: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return the ends of Student's intervals, wider where nearly all scores are equal."""
    special, level = extra("scipy.special"), (1 + float(confidence)) / 2
    _, error, n = mean_and_error(values.reshape(-1, values.shape[2]), weights)
    half = np.where(error, special.stdtrit(n - 1, level) * error, 0.0).reshape(means.shape)
    lowest, highest = ends
    # By rounding, a mean can be outside of the range.
    low = np.minimum(means, np.maximum(means - half, lowest))
    high = np.maximum(means, np.minimum(means + half, highest))
    rounded, middle = values.round(DECIMALS), values.shape[2] // 2
    ordered = np.sort(rounded, axis=2)
    # A score of at least half of the topics is in the middle.
    for v in (ordered[:, :, (values.shape[2] - 1) // 2], ordered[:, :, middle]):
        others = rounded != v[:, :, np.newaxis]
        count = np.count_nonzero(others, axis=2)
        rare = (count < FEWEST_DIFFERENT) & (count <= middle) & np.isfinite(highest - lowest)
        other = n * (others @ (weights / weights.sum()))
        u = special.betaincinv(other + 1, n - other, level)
        low = np.where(rare, np.minimum(low, v - u * (v - lowest)), low)
        high = np.where(rare, np.maximum(high, v + u * (highest - v)), high)
    return low, high


def _percentiles(  # the options of the statistic
    values: Floats,
    weights: Floats,
    means: Floats,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of the percentile bootstrap."""
    measures, systems, topics = values.shape
    # Centre at the mean, so that the interval of equal scores has width 0.
    centred = values - means[:, :, np.newaxis]
    blocks = replicate_blocks(int(n_resamples), topics + measures * systems)
    drawn = (topic_counts(rng, topics, size) for size in blocks)
    replicates = np.concatenate(
        [(centred * weights) @ counts / (weights @ counts) for counts in drawn], axis=2
    )
    tail = (1 - float(confidence)) / 2
    ends = means + np.quantile(replicates, [tail, 1 - tail], axis=2)
    low, high = np.clip(ends, values.min(axis=2), values.max(axis=2))
    return low, high


_FEW = 20
#: With fewer other topics, simulated intervals of a given lambda cover the mean in less than 93%.
_FEWEST_OTHERS = 5


@dataclass(frozen=True, eq=False, repr=False)
class PredictionPowered(Result):
    """Means, or differences from a baseline, with intervals; arrays have the shape ``(measures, runs)``.

    Attributes:
        measures: printed names of the measures.
        runs: the systems except the baseline.
        baseline: the baseline of the differences; None for means.
        estimate: mean, or difference, from the labels of people and of the model together.
        low: lower end of its interval.
        high: upper end.
        human: mean of the labelled topics under human labels.
        human_low: lower end of its interval.
        human_high: upper end.
        llm: mean of all topics under the labels of the model.
        tuning: weight lambda of the model, from 0 to 1.
        equivalent_topics: number of topics with human labels only that would give an equally narrow interval.
        n_labelled: number of topics with human labels, n.
        n_unlabelled: number of other topics, N.
        confidence: confidence level of the intervals, such as 0.95.
    """

    measures: tuple[str, ...]
    runs: tuple[Hashable, ...]
    baseline: Hashable | None
    estimate: Floats
    low: Floats
    high: Floats
    human: Floats
    human_low: Floats
    human_high: Floats
    llm: Floats
    tuning: Floats
    equivalent_topics: Floats
    n_labelled: int
    n_unlabelled: int
    confidence: float

    ROWS: ClassVar = {"measure": "measures", "run": "runs"}
    COLUMNS: ClassVar = (
        *("estimate", "low", "high", "human", "human_low", "human_high"),
        *("llm", "tuning", "equivalent_topics", "n_labelled", "n_unlabelled"),
    )


@statistic(quantile=("t", "normal"))
def prediction_powered(
    human: Any,
    llm: Any,
    *,
    baseline: Hashable | None = None,
    confidence: float = 0.95,
    power_tuning: float | None = None,
    quantile: str = "t",
) -> PredictionPowered:
    """Compute intervals of means from few topics with human labels and many with labels of a model.

    Let Y and f be the scores of n topics under human labels and under model labels, and F the scores of N
    other topics under model labels. Then ``estimate = lambda mean(F) + mean(Y - lambda f)``,
    ``lambda = cov(Y, f) / ((1 + n/N) var(f and F))`` within [0, 1] (cov divided by n, var by n + N - 1),
    ``se^2 = lambda^2 var(F) / N + var(Y - lambda f) / n``, and the interval is ``estimate +- q se``. With a
    baseline, Y, f and F are differences from it. A model that is pure noise gets lambda near 0, which gives
    Student's interval of the human labels.

    With few other topics the estimated lambda is small, but a given one need not be. A given lambda therefore
    needs at least five other topics, ``var(F)`` is divided by N - 1, and q has Welch's degrees of freedom:
    ``(a + b)^2 / (a^2 / (N - 1) + b^2 / (n - 1))``, with a and b the two terms of ``se^2``.

    Assumptions and limits: (1) The labelled topics must be a random sample of all topics; with topics chosen
    by difficulty, intervals nearly always miss. (2) The same model and prompt must have labelled the same
    kind of pool in both groups, and the measures must treat unjudged documents alike. (3) The method corrects
    the mean over topics, even for a model that favours a system, but not individual topics. (4) It does not
    cover missing judgments, ranks or discriminative power. (5) Intervals are not simultaneous: with many
    systems, correct for their number. (6) Topics count as independent: there are no clusters.

    Args:
        human: scores of the labelled topics under human labels: result of ``ir_graded.evaluate``, or a
            mapping from measures to score matrices.
        llm: scores of the same systems by the same measures under the labels of the model, on the labelled
            topics and further ones.
        baseline: a system; if given, differences from it are estimated instead of means.
        confidence: confidence level, between 0 and 1.
        power_tuning: lambda, from 0 to 1; by default it is estimated.
        quantile: ``'t'``, Student's with n - 1 degrees of freedom (Welch's with a given lambda), or
            ``'normal'``, with variances over n and N, as in PPI++; with few topics the latter gives intervals
            that are too short.

    Raises:
        InputError: a labelled topic is missing under the model, there are fewer than two labelled topics or
            no other topics (with a given lambda above 0, fewer than five), or systems or measures differ.
        ParameterError: an option is out of its range, or the baseline is not a system.

    Warns:
        UserWarning: fewer than 20 topics are labelled.

    Source: Angelopoulos, Duchi and Zrnic, "PPI++: efficient prediction-powered inference" (2023).

    Example:
        >>> import numpy as np
        >>> llm = np.random.default_rng(0).random((200, 2))
        >>> human = 0.8 * llm[:30] + 0.1
        >>> found = prediction_powered({"Q": human}, {"Q": llm})
        >>> found.tuning.round(2).tolist(), (found.equivalent_topics > 100).tolist()
        ([[0.59, 0.75]], [[True, True]])
    """
    measures, labelled, model, runs = _paired(human, llm, 1 if baseline is None else FEWEST)
    if baseline is not None:
        at = number_of(baseline, runs, "baseline")
        labelled, model = (np.delete(v - v[:, [at]], at, axis=1) for v in (labelled, model))
        runs = tuple(run for run in runs if run != baseline)
    n = labelled.shape[2]
    N = model.shape[2] - n
    if n < _FEW:
        warnings.warn(
            f"only {n} topics have human labels: below {_FEW}, intervals miss more often than stated",
            stacklevel=3,
        )
    if power_tuning and N < _FEWEST_OTHERS:
        raise InputError(
            f"power_tuning={power_tuning:g} needs at least {_FEWEST_OTHERS} topics without human labels, "
            f"found {N}: add topics with labels of the model, or leave power_tuning out"
        )
    Y, f, F = labelled, model[:, :, :n], model[:, :, n:]
    weight = _tuning(Y, f, model) if power_tuning is None else np.full(Y.shape[:2], float(power_tuning))
    one = int(quantile == "t")
    rest = Y - weight[:, :, np.newaxis] * f
    of_model = weight**2 * F.var(axis=2, ddof=one if power_tuning else 0) / N
    of_rest, of_labels = (values.var(axis=2, ddof=one) / n for values in (rest, Y))
    se, human_se = np.sqrt(of_model + of_rest), np.sqrt(of_labels)
    special, level = extra("scipy.special"), (1 + confidence) / 2
    human_q = float(special.stdtrit(n - 1, level) if quantile == "t" else special.ndtri(level))
    q = human_q
    if power_tuning and quantile == "t":
        # Shares of the variance, because squares of the smallest variances would underflow.
        share = of_model / np.where(se, of_model + of_rest, 1.0)
        q = special.stdtrit(1 / (share**2 / (N - 1) + (1 - share) ** 2 / (n - 1)), level)
    estimate, of_human = weight * F.mean(axis=2) + rest.mean(axis=2), Y.mean(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = n * (human_se / se) ** 2
    found = [
        *(estimate, estimate - q * se, estimate + q * se),
        *(of_human, of_human - human_q * human_se, of_human + human_q * human_se),
        *(model.mean(axis=2), weight, worth),
    ]
    return PredictionPowered(
        measures=measures,
        runs=runs,
        baseline=baseline,
        **dict(zip(PredictionPowered.COLUMNS, found, strict=False)),
        n_labelled=n,
        n_unlabelled=N,
        confidence=float(confidence),
    )


def _paired(
    human: Any, llm: Any, fewest_runs: int
) -> tuple[tuple[str, ...], Floats, Floats, tuple[Hashable, ...]]:
    """Return measures, human and model scores (measures x runs x topics, labelled ones first), and runs."""
    of_human, of_model = (matrices_by_measure(scores, fewest_runs) for scores in (human, llm))
    if set(of_human) != set(of_model):
        raise InputError(
            f"the measures differ: {', '.join(of_human)} by humans, {', '.join(of_model)} by the model"
        )
    first, second = next(iter(of_human.values())), next(iter(of_model.values()))
    known = set(second.topics)
    if missing := [topic for topic in first.topics if topic not in known]:
        raise InputError(f"topic {missing[0]!r} has human labels but no scores under the model")
    topics = tuple(dict.fromkeys((*first.topics, *second.topics)))
    if len(topics) == len(first.topics):
        raise InputError("all topics have human labels; add topics that have labels of the model only")
    order = ScoreMatrix(np.zeros((len(topics), len(first.runs))), topics, first.runs)
    return (
        tuple(of_human),
        np.stack([matrix.values.T for matrix in of_human.values()]),
        np.stack([of_model[name].aligned(order, f"{name} by the model").values.T for name in of_human]),
        first.runs,
    )


def _tuning(Y: Floats, f: Floats, together: Floats) -> Floats:
    """Return lambda of each measure and system; 0 if the scores under the model are all equal."""
    n, N = Y.shape[2], together.shape[2] - Y.shape[2]
    of_labels, of_model = (values - values.mean(axis=2, keepdims=True) for values in (Y, f))
    covariance = (of_labels * of_model).mean(axis=2)
    variance = (1 + n / N) * together.var(axis=2, ddof=1)
    equal = np.ptp(together, axis=2) <= ROUNDING * np.abs(together).max(axis=2)
    return np.clip(np.where(equal, 0.0, covariance) / np.where(equal, 1.0, variance), 0.0, 1.0)


_LOWEST = Number("a finite number", low_open=True, high_open=True)
#: Verdicts of means below a minimum, with a test and alone.
BELOW_MINIMUM = ("worse and below minimum", "below minimum")
#: Verdicts of means alone that are not below a minimum.
AT_LEAST, NO_MINIMUM = "not below minimum", "no minimum"


@dataclass(frozen=True, eq=False, repr=False)
class Minima(Result):
    """Means of runs with the lowest that pass, the result of :func:`minima`; a value a measure and run.

    Attributes:
        run: the run.
        measure: printed name of the measure.
        topics: number of topics.
        mean: mean of the run over the topics.
        minimum: lowest mean that passes; NaN without one.
        verdict: ``below minimum``, ``not below minimum`` or ``no minimum``.
        notes: sentences on what limits the means.
    """

    run: tuple[Hashable, ...]
    measure: tuple[str, ...]
    topics: Ints
    mean: Floats
    minimum: Floats
    verdict: tuple[str, ...]
    notes: tuple[str, ...] = ()

    COLUMNS: ClassVar = ("run", "measure", "topics", "mean", "minimum", "verdict")

    @property
    def passed(self) -> bool:
        """Whether no mean is below its minimum."""
        return BELOW_MINIMUM[1] not in self.verdict


@statistic()
def minima(scores: Any, minimum: Mapping[Any, float], *, weights: Any = None) -> Minima:
    """Compare means of runs with the lowest that pass, without a baseline and without a test.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x runs.
        minimum: mapping from measures to the lowest means that pass.
        weights: weights of the topics, as in ``differences``.

    Raises:
        InputError: a score is not finite, or a topic has no weight or a wrong one.
        ParameterError: a minimum is not of one of the measures, or is not a finite number.

    Example:
        >>> import pandas as pd
        >>> found = minima({"Q": pd.DataFrame({"old": [0.2, 0.6], "new": [0.5, 0.5]})}, {"Q": 0.45})
        >>> found.to_frame()[["run", "mean", "minimum", "verdict"]]
           run  mean  minimum            verdict
        0  old   0.4     0.45      below minimum
        1  new   0.5     0.45  not below minimum
    """
    matrices, notes = arithmetic(all_matrices(scores, 1))
    check_direction(scores, {*map(str, minimum)} & {*matrices} if isinstance(minimum, Mapping) else ())
    first = next(iter(matrices.values()))
    sample = Sample.of(first.topics, weights)
    sample.warn()
    values = np.stack([matrix.values.T for matrix in matrices.values()])[:, :, sample.kept]
    mean = means_over_topics(values, sample.weights).reshape(-1)
    floor = np.repeat(minima_of(scores, (*matrices,), minimum or {}), len(first.runs))
    verdict = np.select([is_below(mean, floor), np.isnan(floor)], [BELOW_MINIMUM[1], NO_MINIMUM], AT_LEAST)
    return Minima(
        run=first.runs * len(matrices),
        measure=tuple(name for name in matrices for _ in first.runs),
        topics=np.full(len(mean), sample.weights.size),
        mean=mean,
        minimum=floor,
        verdict=tuple(verdict.tolist()),
        notes=notes + sample.notes,
    )


def is_below(mean: Floats, minimum: Floats) -> Bools:
    """Return where a mean is below a minimum by more than an error of rounding."""
    return np.asarray((mean - minimum).round(DECIMALS) < 0)


def minima_of(scores: Any, measures: tuple[str, ...], minimum: Mapping[Any, float] | None) -> Floats:
    """Return the minimum of each measure, NaN without one. Raises ParameterError."""
    found = np.full(len(measures), np.nan)
    if minimum is not None and (not isinstance(minimum, Mapping) or not minimum):
        raise ParameterError(
            f"minimum={short_repr(minimum)} must be a mapping from measures to lowest means, such as "
            "{'nDCG@10': 0.65}"
        )
    for measure, lowest in (minimum or {}).items():
        try:
            known = hasattr(scores, "position")
            name = scores.names[scores.position(measure)] if known else str(measure)
            check_arithmetic([name])
            reference_name(name, measures)
        except InputError:
            raise ParameterError(
                f"the minimum of {measure} needs scores by {measure}; the measures are {', '.join(measures)}"
            ) from None
        at = measures.index(name)
        if not _LOWEST.holds(lowest) or not np.isnan(found[at]):
            problem = "is given twice" if _LOWEST.holds(lowest) else f"must be a finite number: {lowest!r}"
            raise ParameterError(f"the minimum of {measure} {problem}")
        found[at] = lowest
    return found
