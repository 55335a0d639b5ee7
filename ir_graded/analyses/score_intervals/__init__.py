"""``score_intervals``: uncertainty of scores from unjudged documents, by imputed judgments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ir_measures.measures import Measure
from ir_measures.measures.base import SumAgg

from ir_graded._utils.results import Result
from ir_graded._utils.threads import in_threads, processors
from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.core.views import Views
from ir_graded.errors import InputError, ParameterError, warn_caller
from ir_graded.evaluation.coverage import LOWEST_JUDGED
from ir_graded.evaluation.evaluate import Request
from ir_graded.evaluation.provider import scorers_here
from ir_graded.evaluation.scores import Scores
from ir_graded.measures.base import Scorer
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.matrix import is_geometric, number_of
from ir_graded.meta.options import Seed, check_options, generator, statistic

from .imputation import (
    BIN_ENDS,
    FEWEST,
    SHIFT_DEVIATION,
    Draws,
    Imputation,
    ReciprocalRankFusion,
    Retrieved,
    RunModel,
)

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


#: Distributions of levels: by bins of fused rank, or by the ranks in all runs.
MODELS = ("bins", "runs")
#: Memory in bytes of the samples that are scored at a time.
_MEMORY = 128 << 20
#: Memory of a sample in bytes: per document of the topic, and per document that a run retrieved.
_BYTES_OF_DOCUMENT, _BYTES_OF_HIT = 64, 160
#: Above this growth of the number of relevant documents, a warning is issued.
_MUCH = 0.5
#: Runs with more than this share of imputed documents are marked in tables.
MOST_IMPUTED = 0.2


class OnlyRelevantError(InputError):
    """Raised when no judged document is non-relevant, so no level can be drawn for unjudged documents."""


@dataclass(frozen=True, eq=False, repr=False)
class IntervalDifferences(Result):
    """Differences of the means of all pairs of runs over the samples of unjudged documents.

    Attributes:
        run_a: first run of each pair, by measure and in the order of the runs.
        run_b: second run.
        measure: printed name of the measure.
        difference: mean over the samples of the mean of ``run_a`` minus that of ``run_b``.
        low: lower ends of the intervals, ``difference - z * sd`` with the standard deviation over the samples
            and the quantile z of the normal distribution at ``1 - (1 - confidence) / (2 looks)``: 1.96 for
            95% confidence and one look.
        high: upper ends.
        settled: whether the interval excludes 0.
        confidence: confidence of the intervals of a pair over all looks.
        n_samples: number of samples.
        looks: number of looks among which ``1 - confidence`` is divided.
    """

    run_a: tuple[str, ...]
    run_b: tuple[str, ...]
    measure: tuple[str, ...]
    difference: Floats
    low: Floats
    high: Floats
    settled: Bools
    confidence: float
    n_samples: int
    looks: int

    COLUMNS: ClassVar = ("run_a", "run_b", "measure", "difference", "low", "high", "settled")


@dataclass(frozen=True, eq=False, repr=False)
class ScoreIntervals(Result):
    """Scores with the uncertainty from unjudged documents.

    Attributes:
        scores: the scores, as in ``evaluate``, where unjudged documents count as not relevant.
        mean_score: mean of each score over the samples, shape ``(measures, runs, topics)``.
        low: lower ends of the intervals, with the same shape.
        high: upper ends.
        overall: mean, low and high of the aggregates over the topics, shape ``(3, measures, runs)``.
        samples: these aggregates in each sample, shape ``(measures, runs, n_samples)``.
        imputed: share of the documents of each run down to the depth that got levels; shape ``(runs,)``.
        model: 'bins' or 'runs'.
        depth: unjudged documents down to this rank of any run got levels.
        confidence: share of the samples in an interval.
        n_samples: number of samples.
    """

    scores: Scores
    mean_score: Floats
    low: Floats
    high: Floats
    overall: Floats
    samples: Floats
    imputed: Floats
    model: str
    depth: int
    confidence: float
    n_samples: int

    @property
    def zero(self) -> Floats:
        """Scores where unjudged documents count as not relevant, shape ``(measures, runs, topics)``."""
        return self.scores.values

    def to_frame(self) -> pd.DataFrame:
        """Return columns run, query_id, measure (its printed name), zero, mean, low and high."""
        columns = {"zero": self.zero, "mean": self.mean_score, "low": self.low, "high": self.high}
        return self.scores.frame_of(columns)

    def mean(self) -> pd.DataFrame:
        """Aggregates over the topics: a row per run, best first; per measure zero, mean, low and high."""
        ends = dict(zip(("mean", "low", "high"), self.overall.swapaxes(1, 2), strict=True))
        return self.scores.mean_frame_of({"zero": self.scores.aggregates, **ends})

    def differences(self, *, looks: int = 1) -> IntervalDifferences:
        """Return intervals of the differences of all pairs of runs, whose scores are from the same samples.

        A pair is settled if its interval excludes 0: judging the other documents would hardly change which
        run is better on these topics. To save judgments, judge the pool one depth at a time (``pool``) until
        the pairs that matter are settled. If you stop as soon as an interval excludes 0, set ``looks``: each
        further look is a further chance of a wrong sign. Intervals cover neither the choice of topics nor,
        over all pairs, that some of many intervals err. Use ``model="runs"``: with 1,000 judgments of 126
        runs, 92% to 93% of its 95% intervals contained the true difference, and 26% to 37% of those of bins.

        Args:
            looks: number of planned looks, each after more judgments, if the differences are never settled.
                Fix it before the first look and pass it at each one. Each look gets an equal share of the
                error: its intervals have confidence ``1 - (1 - confidence) / looks``.

        Raises:
            InputError: there are fewer than two runs.
            ParameterError: there are fewer than two samples, or ``looks`` is not a whole number >= 1.

        Warns:
            CoverageWarning: the samples are of ``model="bins"``.

        Example:
            >>> import ir_graded
            >>> covid = ir_graded.sample()
            >>> some = dict(list(covid.runs.items())[:10])
            >>> found = ir_graded.score_intervals("nDCG@10", covid.qrels, some, n_samples=50, model="runs")
            >>> found.differences().to_frame().columns.tolist()
            ['run_a', 'run_b', 'measure', 'difference', 'low', 'high', 'settled']
        """
        runs = self.scores.runs
        if len(runs) < 2:  # noqa: PLR2004  # of a pair
            raise InputError(f"differences need two runs, found {len(runs)}")
        first, second = np.triu_indices(len(runs), 1)
        # One run at a time, as the differences of all pairs in all samples need much memory.
        parts = (self.samples[:, at, np.newaxis] - self.samples[:, at + 1 :] for at in range(len(runs)))
        return self._of_pairs(first, second, parts, looks)

    def difference(self, run_a: str, run_b: str, *, looks: int = 1) -> IntervalDifferences:
        """Return the intervals of ``run_a`` minus ``run_b``, a row per measure, as ``differences`` does.

        Raises:
            ParameterError: there is no run of this name, or as for ``differences``.
        """
        a, b = (
            np.array([number_of(run, self.scores.runs, name)])
            for run, name in ((run_a, "run_a"), (run_b, "run_b"))
        )
        return self._of_pairs(a, b, [self.samples[:, a] - self.samples[:, b]], looks)

    def _of_pairs(
        self, first: Ints, second: Ints, parts: Iterable[Floats], looks: int
    ) -> IntervalDifferences:
        """Return the result for pairs of runs, whose differences in the samples are given in parts."""
        check_options(looks=looks)
        if self.n_samples < 2:  # noqa: PLR2004
            raise ParameterError(f"n_samples={self.n_samples}: differences need at least 2 samples")
        if self.model == "bins":
            warn_caller(
                "Differences of model='bins' are too small and often have the wrong sign: levels depend on "
                "fused ranks only. Use model='runs'."
            )
        runs, names = self.scores.runs, self.scores.names
        found = [(part.mean(axis=2), part.std(axis=2, ddof=1)) for part in parts]
        mean, deviation = (np.concatenate(one, axis=1).ravel() for one in zip(*found, strict=True))
        width = -NormalDist().inv_cdf((1 - self.confidence) / 2 / looks) * deviation
        low, high = mean - width, mean + width
        run_a, run_b = (tuple(runs[at] for at in each.tolist()) * len(names) for each in (first, second))
        measure = tuple(name for name in names for _ in first)
        settled = (low > 0) | (high < 0)
        return IntervalDifferences(
            run_a, run_b, measure, mean, low, high, settled, self.confidence, self.n_samples, int(looks)
        )

    def plot(self, measure: str | None = None, ax: Axes | None = None) -> Figure:
        """Plot means of the runs by one measure, by default the first, with their intervals."""
        from ir_graded.meta.intervals import ConfidenceIntervals
        from ir_graded.plots.scores import leaderboard

        mean, low, high = self.overall
        names, runs, topics = tuple(self.scores.names), self.scores.runs, len(self.scores.query_ids)
        ends = (names, runs, mean, low, high, self.confidence, "samples", self.n_samples, topics)
        found = ConfidenceIntervals(*ends, too_few=np.zeros(mean.shape, dtype=np.bool_))
        return leaderboard(found, measure, ax)


@statistic(model=MODELS)
def score_intervals(  # noqa: PLR0913  # what to evaluate, and how
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    runs: Any,
    *,
    depth: int | None = None,
    n_samples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
    model: str = "bins",
) -> ScoreIntervals:
    """Compute intervals of scores over possible levels of unjudged documents.

    Use it by default for runs with unjudged documents: it takes most measures. For a guarantee in place of
    likely levels, use ``score_bounds``; if the judged documents are a random sample of the pool, use
    ``score_estimates``.

    Each sample gives a level to each unjudged document that any run retrieved down to ``depth``, and scores
    all runs with these qrels. Ideal lists and numbers of relevant documents change accordingly. All other
    unjudged documents stay not relevant.

    With ``model="bins"`` the documents of a topic are ranked by all runs together, by the sum of ``1 / (60 +
    rank)``, and divided into bins that end at ranks 5, 10, 20, 50, 100, 200, 500. Levels have the shares that
    they have among the judged documents of the topic in the bin. These shares are smoothed by five documents
    of the whole bin and drawn from a Dirichlet distribution. The log odds of the levels above 0 are shifted
    by two normal variables of standard deviation 0.7, one per sample and one per topic. A bin with fewer than
    50 judged documents over all topics gets no levels.

    With ``model="runs"`` levels follow logistic regressions, one per step of the scale: the log odds of a
    level >= l among documents of a level at least that before l are ``b0 + b1 z + b2 z^2 + t + sum of c_r 60
    / (60 + rank in run r)`` over the runs that retrieved the document. z is the standardised logarithm of the
    sum of ``1 / (60 + rank)`` over these runs, t is of the topic. Ridge penalties ``t^2 / 2`` and ``c_r^2 /
    2`` (and 1/100 of that for b) are part of the fit to all judged documents that a run retrieved. A sample
    draws coefficients from the normal approximation (the inverse of the Hessian), and shifts the log odds of
    levels above 0 as above. Use it to compare runs (``differences``): good runs find more relevant documents
    among the unjudged, so it needs fewer judgments than bins. Give ten runs or more, and trust the sign of a
    difference, not the levels of means, which are biased.

    An interval goes from the ``a/2`` to the ``1 - a/2`` quantile over the samples, ``a = 1 - confidence``. It
    covers only the uncertainty from unjudged documents, not that from the choice of topics
    (``ir_graded.meta.confidence_intervals``). Do not compare runs by it, but by ``differences``: all runs
    share the samples. It may not contain the score of ``evaluate``. Give all available runs: with a single
    run, documents that no other run found look as good as the others, and means are too high. If most
    relevant documents are unjudged, measures of recall (AP, Q) are too low.

    Intervals of means are too narrow. In simulations of bins with hidden judgments and several runs, 95%
    intervals contained the scores of topics at a cutoff of 10 in at least 90% of the cases, but the means in
    65% to 100% of the cases, and those of AP and Q in 19% to 82% (see "Coverage of the intervals" in the
    guide). With bins levels do not depend on the run, so means of good runs are too low and those of weak
    runs too high.

    Args:
        measures: measures of documents that this package computes, as in ``evaluate``.
        qrels: qrels in any form of ``evaluate``.
        runs: one or several runs in any form of ``evaluate``.
        depth: rank down to which unjudged documents get levels; by default the largest cutoff.
        n_samples: number of samples of the judgments, at least 1.
        confidence: share of the samples in an interval, between 0 and 1.
        rng: a seed or a generator. A seed gives the same result with any number of threads
            and any order of topics, documents and runs.
        model: 'bins' of fused rank, or 'runs', regressions on the ranks in all runs.

    Returns:
        Mean, low and high for each measure, run and topic, and for the aggregates over topics.

    Raises:
        ParameterError: an option is out of range, ``depth`` is missing, or a measure is not supported.
        InputError: there are unjudged documents to draw levels for, but no judged document is non-relevant,
            so their share cannot be estimated, or for ``model="runs"`` the runs retrieved fewer than 200
            judged documents; or as for ``evaluate``, also its other errors.

    Warns:
        CoverageWarning: as in ``evaluate``; with bins if the samples increase the number of relevant
            documents by more than half, if all judged documents of a bin are relevant, or if no unjudged
            document got a level, so that the intervals have width 0; with ``model="runs"`` if there are fewer
            than ten runs.

    Source:
        Froebe, Gienapp, Potthast and Hagen, "Bootstrapped nDCG Estimation in the Presence of Unjudged
        Documents" (ECIR 2023), with other distributions.

    Example:
        >>> import ir_graded
        >>> covid = ir_graded.sample()
        >>> some = dict(list(covid.runs.items())[:2])
        >>> found = ir_graded.score_intervals("nDCG@10", covid.qrels, some, n_samples=50)
        >>> found.low.shape, bool((found.low <= found.high).all())
        ((1, 2, 30), True)
    """
    wanted = read_measures(measures)
    last = interval_depth(wanted, depth, n_samples, confidence, rng)
    request = Request(wanted, qrels, runs)
    request.reread()  # so that the signature knows runs that can be read only once
    fusion = ReciprocalRankFusion(request.judgments)
    scores, _ = request.scores(fusion.add)
    return intervals_of(request, scores, fusion, last, n_samples, confidence, rng, model)


def interval_depth(
    measures: list[Measure], depth: int | None, n_samples: int, confidence: float, rng: Seed
) -> int:
    """Return the depth, by default the largest cutoff. Raises ParameterError for a wrong option."""
    check_options(depth=depth, n_samples=n_samples, confidence=confidence)
    generator(rng)
    scorers_here(measures, "score_intervals", "passages columns strata ties")
    without = [str(measure) for measure in measures if "cutoff" not in measure.params]
    if depth is None and without:
        raise ParameterError(
            f"{', '.join(without)}: a measure without a cutoff needs a depth, the last rank whose "
            "unjudged documents get levels: for example depth=100"
        )
    return int(depth or max(measure.params["cutoff"] for measure in measures))


def intervals_of(  # noqa: PLR0913, PLR0917  # what to evaluate, and how
    request: Request,
    scores: Scores,
    fusion: ReciprocalRankFusion,
    depth: int,
    n_samples: int,
    confidence: float,
    rng: Seed,
    model: str = "bins",
) -> ScoreIntervals:
    """Return intervals of scores that have been computed."""
    scorers = [*request.evaluator.graded.scorers.values()]
    source, n_samples = generator(rng), int(n_samples)
    by_runs = model == "runs"
    imputation = Imputation.of(request.judgments, fusion, depth, all_bins=by_runs)
    _check_non_relevant(request, imputation, by_bin=not by_runs)
    by_runs &= bool(imputation.imputed.any())
    deepest = max(map(_last_rank, scorers))

    retrieved = [Retrieved.of(run, imputation, request.lowest, deepest) for run in fusion.runs]
    seeds = source.integers(2**63, size=len(scores.query_ids))
    shift = source.normal(0.0, SHIFT_DEVIATION, n_samples)
    tail = (1 - float(confidence)) / 2
    ends = np.empty((3, *scores.values.shape))
    moved = np.zeros((*scores.values.shape[:2], n_samples))
    draws: Callable[[int, int], Draws] = imputation.draws
    if by_runs:
        by_name = sorted(zip(request.runs, fusion.runs, strict=True), key=itemgetter(0))
        judged = [Retrieved.of(run, imputation, LOWEST_JUDGED, np.inf) for _, run in by_name]
        draws = RunModel(imputation, judged, n_samples, source).draws
    geometric = [at for at, measure in enumerate(request.measures) if is_geometric(measure)]
    samples = Samples(imputation, scorers, retrieved, shift, seeds, draws)
    for block, values in samples.scored():
        topics = imputation.topics[block]
        zero = scores.values[:, :, topics]
        above = values - zero[..., np.newaxis]
        ends[0][:, :, topics] = zero + above.mean(axis=3)
        ends[1:, :, :, topics] = np.quantile(values, [tail, 1 - tail], axis=3)
        above[geometric] = np.log(values[geometric] / zero[geometric, ..., np.newaxis])
        for topic in range(above.shape[2]):  # one by one, so that the sums do not depend on the blocks
            moved += above[:, :, topic]
    if not by_runs:  # few judgments are what these are for
        _warn_of_growth(request, scorers, samples.added)
    if imputation.left_out and not imputation.imputed.any():
        warn_caller(
            f"None of the {imputation.left_out} unjudged documents down to rank {depth} got a level, since "
            f"fewer than {FEWEST} documents near their ranks are judged. The intervals have no width; see "
            "score_bounds."
        )
    counts = [isinstance(measure.aggregator(), SumAgg) for measure in request.measures]
    moved /= np.where(counts, 1, len(scores.query_ids))[:, np.newaxis, np.newaxis]
    moved[geometric] = scores.aggregates.T[geometric, :, np.newaxis] * np.expm1(moved[geometric])
    quantiles = np.quantile(moved, [tail, 1 - tail], axis=2)
    overall = np.stack([moved.mean(axis=2), *quantiles]) + scores.aggregates.T
    imputed = [np.count_nonzero(imputation.imputed[run.document[run.rank <= depth]]) for run in retrieved]
    documents = [int(np.minimum(run.n_retrieved, depth).sum()) for run in retrieved]
    shares = np.array(imputed) / np.maximum(documents, 1)
    mean, low, high = ends
    moved += scores.aggregates.T[..., np.newaxis]
    return ScoreIntervals(
        scores, mean, low, high, overall, moved, shares, model, depth, float(confidence), n_samples
    )


def _last_rank(scorer: Scorer) -> float:
    """Return the last rank in a run that a measure looks at."""
    cut = scorer.cut
    return math.inf if cut.judged_only or cut.cutoff is None else cut.cutoff


def _check_non_relevant(request: Request, imputation: Imputation, *, by_bin: bool) -> None:
    """Raise OnlyRelevantError if levels are drawn from relevant documents alone; warn of such bins."""
    scale = request.judgments.levels.values[imputation.scale]
    below = (scale == 0) | (scale < request.rel)  # level 0 may have a gain
    non_relevant = f"a level >= 0 and < {request.rel:g}" if request.rel > 1 else "level 0"
    known = np.isin(request.judgments.levels.level_index, imputation.scale[below]).any()
    found = np.count_nonzero(imputation.judged[:, below], axis=1)
    if (imputation.imputed.any() and not found.any()) or (imputation.left_out and not known):
        raise OnlyRelevantError(
            f"{'the runs retrieved' if known else 'the qrels have'} no judged non-relevant document "
            f"({non_relevant}), so the share of relevant documents among the unjudged ones cannot be "
            "estimated, and there are no intervals; add judged non-relevant documents, or use "
            "ir_graded.score_bounds for measures with exact bounds"
        )
    first = [1, *(BIN_ENDS + 1).tolist()]
    last = [f"-{end}" for end in BIN_ENDS.tolist()] + [" and below"]
    used = np.unique(imputation.bin[imputation.imputed])
    if by_bin and (only := [f"{first[at]}{last[at]}" for at in used if not found[at]]):
        warn_caller(
            f"All judged documents at fused ranks {', '.join(only)} are relevant: nearly all unjudged "
            "documents there are drawn relevant, and scores may be far too high. Judge non-relevant "
            "documents at these ranks, too."
        )


def _warn_of_growth(request: Request, scorers: Iterable[Scorer], added: Ints) -> None:
    """Warn if the samples add many relevant documents to the known ones."""
    levels = request.judgments.levels.values
    relevant = np.count_nonzero(request.judgments.levels.level_index >= np.searchsorted(levels, request.rel))
    growth = float(added.mean()) / relevant if relevant else 0.0
    if growth > _MUCH:
        depend = [str(m) for m, s in zip(request.measures, scorers, strict=True) if not s.is_monotone]
        effect = (
            f"too few are judged for intervals of {', '.join(depend)}, which depend on all of them"
            if depend
            else "most relevant documents retrieved may be unjudged, and scores depend on their drawn levels"
        )
        warn_caller(f"The samples add {100 * growth:.0f}% to the known relevant documents: {effect}.")


@dataclass(eq=False)
class Samples:
    """Samples of the qrels, a few topics at a time; each topic of a sample is treated as a separate topic."""

    imputation: Imputation
    scorers: Sequence[Scorer]
    runs: Sequence[Retrieved]
    #: For each sample, the shift of the log odds that all topics share.
    shift: Floats
    #: A seed for each topic.
    seeds: Ints
    #: The random levels of a topic, given a seed.
    draws: Callable[[int, int], Draws]

    def __post_init__(self) -> None:
        self.levels = levels = self.imputation.judgments.levels
        self.lowest = levels.values.searchsorted(min(scorer.lowest_level for scorer in self.scorers))
        self.rel = levels.values.searchsorted(min(scorer.lowest_rel for scorer in self.scorers))
        self.start = np.append(segments.starts(levels.topic, levels.topics), levels.topic.size)
        self.last_ranks = np.array([*map(_last_rank, self.scorers)])
        #: Number of relevant documents that each sample adds.
        self.added = np.zeros(self.shift.size, dtype=np.int64)

    def scored(self) -> Iterator[tuple[slice, Floats]]:
        """Yield some topics, and their scores of shape ``(measures, runs, topics, samples)``."""
        for topics, size in self._blocks():
            numbers = range(topics.start, topics.stop)
            draws = [self.draws(topic, int(self.seeds[topic])) for topic in numbers]
            begins = range(0, self.shift.size, size)
            parts = [self._score(topics, draws, slice(begin, begin + size)) for begin in begins]
            # The last digit of a sum depends on how values lie in memory.
            yield topics, np.ascontiguousarray(np.concatenate(parts, axis=3))

    def _blocks(self) -> Iterator[tuple[slice, int]]:
        """Yield neighbouring topics with all samples, or one topic with some samples, as memory allows."""
        documents = np.diff(self.start)
        retrieved = np.max([np.diff(run.start) for run in self.runs], axis=0)
        scores = 8 * len(self.runs) * len(self.scorers)
        sample = _BYTES_OF_DOCUMENT * documents + _BYTES_OF_HIT * processors() * retrieved + scores
        begin, samples = 0, self.shift.size
        for end in range(1, sample.size + 1):
            if end == sample.size or sample[begin : end + 1].sum() * samples > _MEMORY:
                yield slice(begin, end), min(samples, max(1, int(_MEMORY / sample[begin:end].sum())))
                begin = end

    def _score(self, topics: slice, draws: list[Draws], samples: slice) -> Floats:
        """Score some samples of some topics: shape ``(measures, runs, topics, samples)``."""
        begin, end = int(self.start[topics.start]), int(self.start[topics.stop])
        shift = self.shift[samples]
        level_index = np.tile(self.levels.level_index[begin:end], (shift.size, 1))
        imputed = self.imputation.imputed[begin:end]
        drawn = np.concatenate([draw(shift) for draw in draws], axis=1)
        drawn = drawn + (self.imputation.scale[0] if drawn.size else 0)
        level_index[:, imputed] = drawn
        self.added[samples] += np.count_nonzero(drawn >= self.rel, axis=1)
        number = topics.stop - topics.start
        each = np.arange(shift.size, dtype=np.int64)[:, np.newaxis]
        topic = self.levels.topic[begin:end] - topics.start
        topic_of_samples = (each * number + topic).ravel()
        levels = Levels(shift.size * number, topic_of_samples, level_index.ravel(), self.levels.values)

        # As bytes that lie together, the levels of a document stay in the processor cache.
        by_document = np.ascontiguousarray(level_index.T, dtype=np.min_scalar_type(self.levels.values.size))

        def views(run: Retrieved, last: float) -> Views:
            hits = slice(int(run.start[topics.start]), int(run.start[topics.stop]))
            document, rank = run.document[hits] - begin, run.rank[hits]
            document, rank = document[rank <= last], rank[rank <= last]
            found = np.ascontiguousarray(by_document[document].T)
            at = np.flatnonzero(found >= self.lowest)  # several times as fast as nonzero of rows and columns
            sample = at // max(document.size, 1)  # several times as fast as divmod
            hit = at - sample * document.size
            judged = JudgedRun(
                sample * number + topic[document].take(hit),
                rank.take(hit),
                found.take(at).astype(np.int64),
                sample * (end - begin) + document.take(hit),
                np.tile(run.n_retrieved[topics], shift.size),
            )
            return Views(levels, judged)

        def score(run: Retrieved) -> Floats:
            values = np.empty((len(self.scorers), number, shift.size))
            # Most documents are below the cutoff of some measures.
            for last in {*self.last_ranks}:
                of_samples = views(run, last)
                for at in np.flatnonzero(self.last_ranks == last).tolist():
                    values[at] = self.scorers[at].score(of_samples).reshape(shift.size, number).T
            return values

        return np.stack(list(in_threads(score, self.runs, processors())), axis=1)
