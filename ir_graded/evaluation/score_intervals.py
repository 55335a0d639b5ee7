"""``score_intervals``: uncertainty of scores from unjudged documents, by imputed judgments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
from ir_graded.errors import InputError, ParameterError
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, table_of_run
from ir_graded.measures.base import Scorer
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.intervals import ConfidenceIntervals
from ir_graded.meta.matrix import check_arithmetic
from ir_graded.meta.options import Seed, check_options, generator

from .coverage import LOWEST_JUDGED, warn_caller
from .evaluate import Request
from .provider import scorers_here
from .scores import Scores

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ir_graded.plots.style import Axes, Figure


#: Last fused rank of each bin except the last bin.
BIN_ENDS = np.array([5, 10, 20, 50, 100, 200, 500], dtype=np.int64)
_BINS = BIN_ENDS.size + 1
#: Weight of the pooled shares, in documents.
POOLED = 5.0
#: Smallest number of judged documents of a bin whose unjudged documents get levels.
FEWEST = 50
#: Standard deviation of both shifts of the log odds, as between teams of TREC-COVID round 1.
SHIFT_DEVIATION = 0.7
#: Constant that is added to ranks before fusion.
_FUSION = 60
#: Unit of the sums of 1/(60 + rank), so that the order of the runs makes no difference.
_UNIT = 2.0**52
#: Number of rows of runs that are held before they are summed.
_ROWS = 1 << 22


def fused(judgments: Judgments, runs: list[Any]) -> pl.DataFrame:
    """Return the documents of all runs: topic, doc_id, nearest (rank in any run), place (fused rank).

    They are ranked by the sum of 1 / (60 + rank) over the runs, in units of 2^-52, and by doc_id descending.
    """
    import polars as pl

    from ir_graded.matching.tables import rank_rows

    def rows_of(run: Any) -> pl.DataFrame:
        topic, doc_id, rank = rank_rows(judgments, table_of_run(judgments, run))
        weight = np.rint(_UNIT / (_FUSION + rank)).astype(np.int64)
        return pl.DataFrame({"topic": topic, "doc_id": doc_id, "nearest": rank, "weight": weight})

    def added_up(parts: list[pl.DataFrame]) -> pl.DataFrame:
        by_document = pl.concat(parts).group_by("topic", "doc_id")
        return by_document.agg(pl.col("nearest").min(), pl.col("weight").sum())

    held = [rows_of({})]
    for rows in in_threads(rows_of, runs, processors()):
        held.append(rows)
        if sum(map(len, held)) > max(_ROWS, 2 * len(held[0])):
            held = [added_up(held)]
    # Equal sums of different ranks may differ by the rounding of each summand.
    lower = pl.col("weight").shift(1) - pl.col("weight") > len(runs)
    is_new = (lower | (pl.col("topic") != pl.col("topic").shift(1))).fill_null(value=True)
    pool = added_up(held).sort("topic", "weight", descending=[False, True])
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("topic")
    ordered = pool.with_columns(tie=is_new.cum_sum()).sort("tie", "doc_id", descending=[False, True])
    return ordered.with_columns(place=place)


@dataclass(frozen=True, eq=False)
class Imputation:
    """The documents that get levels, and the distribution of levels."""

    #: The qrels including these documents, whose level there has no meaning. Topics are sorted by length and
    #: name, so that random numbers do not depend on the order of the qrels.
    judgments: Judgments
    #: Position of each of these topics in the given qrels.
    topics: Ints
    #: Bin of each document of these qrels that gets a level, -1 for others.
    bin: Ints
    #: Positions in ``Levels.values`` of the levels >= 0.
    scale: Ints
    #: Number of judged documents that the runs retrieved, shape ``(bins, levels)``.
    judged: Floats
    #: Parameters of the shares of the levels, shape ``(topics, bins, levels)``.
    alpha: Floats
    #: Number of unjudged documents down to the depth in bins with too few judged documents.
    left_out: int

    @classmethod
    def of(cls, judgments: Judgments, runs: Iterable[Any], depth: int) -> Imputation:
        """Find the unjudged documents within ``depth`` of any run in bins with enough judged documents."""
        import polars as pl

        names = judgments.names
        by_name = sorted(range(len(names)), key=lambda at: (len(names[at]), names[at]))  # 9 before 10
        number = np.argsort(by_name)
        levels = judgments.levels
        doc_id = pl.Series(judgments.doc_ids, dtype=pl.String)
        known = pl.DataFrame({"topic": levels.topic, "doc_id": doc_id}).with_row_index("document")
        pool = fused(judgments, list(runs))
        pool = pool.join(known, on=["topic", "doc_id"], how="left", maintain_order="left")
        topic = number[pool["topic"].to_numpy()]
        document = np.array(pool["document"].cast(pl.Int64).fill_null(-1))
        place = pool["place"].to_numpy()
        bin_of = np.searchsorted(BIN_ENDS, place)
        judged = document >= 0
        judged[judged] = levels.values[levels.level_index[document[judged]]] >= LOWEST_JUDGED
        scale = np.flatnonzero(levels.values >= LOWEST_JUDGED)
        index = levels.level_index[document[judged]] - (scale[0] if scale.size else 0)
        counts = np.zeros((levels.topics, _BINS, scale.size))
        np.add.at(counts, (topic[judged], bin_of[judged], index), 1.0)
        alpha, enough = _parameters(counts)
        unjudged = ~judged & (pool["nearest"].to_numpy() <= depth)
        wanted = unjudged & enough[bin_of]
        new = np.flatnonzero(wanted & (document < 0))
        document[new] = levels.topic.size + np.arange(new.size)
        topics = np.concatenate((number[levels.topic], topic[new]))
        of_bin, of_place = np.full(topics.size, -1), np.zeros(topics.size, dtype=np.int64)
        of_bin[document[wanted]], of_place[document[wanted]] = bin_of[wanted], place[wanted]
        # Imputed documents are in fused order, independent of the form of the qrels and the order of runs.
        order = np.lexsort((of_place, topics))
        doc_ids = [*judgments.doc_ids, *pool["doc_id"].gather(new).to_list()]
        level_index = np.concatenate((levels.level_index, np.zeros(new.size, dtype=np.int64)))
        extended = Judgments(
            [judgments.query_ids[at] for at in by_name],
            [names[at] for at in by_name],
            Levels(levels.topics, topics[order], level_index[order], levels.values),
            [doc_ids[at] for at in order.tolist()],
        )
        topics_by_name, left_out = np.array(by_name, dtype=np.int64), int((unjudged & ~wanted).sum())
        return cls(extended, topics_by_name, of_bin[order], scale, counts.sum(axis=0), alpha, left_out)

    @cached_property
    def imputed(self) -> Bools:
        """Whether each document of the qrels gets a level."""
        return self.bin >= 0

    def draws(self, topic: int, seed: int) -> TopicDraws:
        """Return the random numbers of one topic."""
        levels = self.judgments.levels
        begin, end = np.searchsorted(levels.topic, [topic, topic + 1])
        of_topic = self.bin[begin:end]
        bins, bin_of = np.unique(of_topic[of_topic >= 0], return_inverse=True)
        return TopicDraws(self.alpha[topic, bins], bin_of, levels.values[self.scale] > 0, seed)


def _parameters(counts: Floats) -> tuple[Floats, Bools]:
    """Return parameters of the shares of levels, and which bins have enough judged documents."""
    # The overall shares smooth those of a bin, which smooth those of the bin of a topic.
    of_bin = counts.sum(axis=0)
    judged = of_bin.sum(axis=1, keepdims=True)
    shares = of_bin.sum(axis=0) / max(float(judged.sum()), 1.0)
    of_bin = (of_bin + POOLED * shares) / (judged + POOLED)
    return counts + POOLED * of_bin, judged[:, 0] >= FEWEST


class TopicDraws:
    """Random levels of the documents of one topic. Drawing in parts or at once gives the same levels."""

    def __init__(self, alpha: Floats, bin_of: Ints, above_0: Bools, seed: int) -> None:
        self._alpha, self._bin_of, self._above_0 = alpha, bin_of, above_0
        # One stream per kind of numbers, since gamma variables use varying numbers of draws.
        self._shifts, self._shares, self._uniform = map(
            np.random.default_rng, np.random.SeedSequence(seed).spawn(3)
        )

    def levels(self, shift: Floats) -> Ints:
        """Draw levels as positions on the scale, for a shift per sample; shape ``(samples, documents)``."""
        shift = shift + self._shifts.normal(0.0, SHIFT_DEVIATION, shift.size)
        weights = self._shares.standard_gamma(self._alpha, (shift.size, *self._alpha.shape))
        weights[..., self._above_0] *= np.exp(shift)[:, np.newaxis, np.newaxis]
        cumulative = np.cumsum(weights, axis=2)
        cumulative /= cumulative[:, :, -1:]
        uniform = self._uniform.random((shift.size, self._bin_of.size))
        drawn = np.zeros(uniform.shape, dtype=np.int64)
        for level in range(self._above_0.size - 1):
            drawn += uniform >= cumulative[:, self._bin_of, level]
        return drawn


#: Memory in bytes of the samples that are scored at a time.
_MEMORY = 64 << 20
#: Memory of a sample in bytes: per document of the topic, and per document that a run retrieved.
_BYTES_OF_DOCUMENT, _BYTES_OF_HIT = 64, 160
#: Above this growth of the number of relevant documents, a warning is issued.
_MUCH = 0.5
#: Runs with more than this share of imputed documents are marked in tables.
MOST_IMPUTED = 0.2


class OnlyRelevantError(InputError):
    """Raised when no judged document is non-relevant, so no level can be drawn for unjudged documents."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreIntervals(Result):
    """Scores with the uncertainty from unjudged documents.

    Attributes:
        scores: the scores, as in ``evaluate``, where unjudged documents count as not relevant.
        mean_score: mean of each score over the samples, shape ``(measures, runs, topics)``.
        low: lower ends of the intervals, with the same shape.
        high: upper ends.
        overall: mean, low and high of the aggregates over the topics, shape ``(3, measures, runs)``.
        imputed: share of the documents of each run down to the depth that got levels; shape ``(runs,)``.
        depth: unjudged documents down to this rank of any run got levels.
        confidence: share of the samples in an interval.
        n_samples: number of samples.
    """

    scores: Scores
    mean_score: Floats
    low: Floats
    high: Floats
    overall: Floats
    imputed: Floats
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

    def plot(self, measure: str | None = None, ax: Axes | None = None) -> Figure:
        """Plot means of the runs by one measure, by default the first, with their intervals."""
        from ir_graded.plots.scores import leaderboard

        mean, low, high = self.overall
        names, runs, topics = tuple(self.scores.names), self.scores.runs, len(self.scores.query_ids)
        found = ConfidenceIntervals(names, runs, mean, low, high, self.confidence, self.n_samples, topics)
        return leaderboard(found, measure, ax)


def score_intervals(  # what to evaluate, and how
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    runs: Any,
    *,
    depth: int | None = None,
    n_samples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
) -> ScoreIntervals:
    """Compute intervals of scores over possible levels of unjudged documents.

    Each sample gives a level to each unjudged document that any run retrieved down to ``depth``, and scores
    all runs with these qrels. Ideal lists and numbers of relevant documents change accordingly. All other
    unjudged documents stay not relevant. The documents of a topic are ranked by all runs together, by the sum
    of ``1 / (60 + rank)``, and divided into bins that end at ranks 5, 10, 20, 50, 100, 200, 500. Levels have
    the shares that they have among the judged documents of the topic in the bin. These shares are smoothed
    by five documents of the whole bin and drawn from a Dirichlet distribution. The log odds of the levels
    above 0 are shifted by two normal variables of standard deviation 0.7, one per sample and one per topic. A
    bin with fewer than 50 judged documents over all topics gets no levels.

    An interval goes from the ``a/2`` to the ``1 - a/2`` quantile over the samples, ``a = 1 - confidence``. It
    covers only the uncertainty from unjudged documents, not that from the choice of topics
    (``ir_graded.meta.confidence_intervals``). Do not compare runs by it: all runs share the samples. It may
    not contain the score of ``evaluate``. Give all available runs: with a single run, documents that no other
    run found look as good as the others, and means are too high. If most relevant documents are unjudged,
    measures of recall (AP, Q) are too low.

    Intervals of means are too narrow. In simulations with hidden judgments and several runs, 95% intervals
    contained the scores of topics at a cutoff of 10 in at least 90% of the cases, but the means in 65% to
    100% of the cases, and those of AP and Q in 19% to 82% (see "Coverage of the intervals" in the guide).
    Levels do not depend on the run, so means of good runs are too low and those of weak runs too high.

    Args:
        measures: measures of documents that this package computes, as in ``evaluate``.
        qrels: qrels in any form of ``evaluate``.
        runs: one or several runs in any form of ``evaluate``.
        depth: rank down to which unjudged documents get levels; by default the largest cutoff.
        n_samples: number of samples of the judgments, at least 1.
        confidence: share of the samples in an interval, between 0 and 1.
        rng: a seed or a generator. A seed gives the same result with any number of threads
            and any order of topics, documents and runs.

    Returns:
        Mean, low and high for each measure, run and topic, and for the aggregates over topics.

    Raises:
        ParameterError: an option is out of range, ``depth`` is missing, or a measure is not supported.
        InputError: there are unjudged documents to draw levels for, but no judged document is non-relevant,
            so their share cannot be estimated; or as for ``evaluate``, also its other errors.

    Warns:
        CoverageWarning: as in ``evaluate``; or the samples increase the number of relevant documents by more
            than half; or all judged documents of a bin are relevant; or no unjudged document got a level, so
            that the intervals have width 0.

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
    request.reread()
    return intervals_of(request, request.scores()[0], last, n_samples, confidence, rng)


def interval_depth(
    measures: list[Measure], depth: int | None, n_samples: int, confidence: float, rng: Seed
) -> int:
    """Return the depth, by default the largest cutoff. Raises ParameterError for a wrong option."""
    check_options(depth=depth, n_samples=n_samples, confidence=confidence)
    generator(rng)
    scorers_here(measures, "score_intervals", "passages columns ties")
    check_arithmetic(measures)
    without = [str(measure) for measure in measures if "cutoff" not in measure.params]
    if depth is None and without:
        raise ParameterError(
            f"{', '.join(without)}: a measure without a cutoff needs a depth, the last rank whose "
            "unjudged documents get levels: for example depth=100"
        )
    return int(depth or max(measure.params["cutoff"] for measure in measures))


def intervals_of(
    request: Request, scores: Scores, depth: int, n_samples: int, confidence: float, rng: Seed
) -> ScoreIntervals:
    """Return intervals of scores that have been computed, of runs that can be read again."""
    scorers = [*request.evaluator.graded.scorers.values()]
    source, n_samples = generator(rng), int(n_samples)
    imputation = Imputation.of(request.judgments, request.runs.values(), depth)
    _check_non_relevant(request, imputation)
    cuts = [scorer.cut for scorer in scorers]
    # The last rank in a run that any of the measures looks at.
    deepest = max(np.inf if cut.judged_only or cut.cutoff is None else cut.cutoff for cut in cuts)

    def needed(run: MatchedRun) -> Retrieved:
        return Retrieved.of(run, imputation, request.lowest, deepest)

    retrieved = list(request.match(needed, -np.inf, imputation.judgments))
    seeds = source.integers(2**63, size=len(scores.query_ids))
    shift = source.normal(0.0, SHIFT_DEVIATION, n_samples)
    tail = (1 - float(confidence)) / 2
    ends = np.empty((3, *scores.values.shape))
    moved = np.zeros((*scores.values.shape[:2], n_samples))
    samples = Samples(imputation, scorers, retrieved, shift, seeds)
    for block, values in samples.scored():
        topics = imputation.topics[block]
        zero = scores.values[:, :, topics]
        above = values - zero[..., np.newaxis]
        ends[0][:, :, topics] = zero + above.mean(axis=3)
        ends[1:, :, :, topics] = np.quantile(values, [tail, 1 - tail], axis=3)
        for topic in range(above.shape[2]):  # one by one, so that the sums do not depend on the blocks
            moved += above[:, :, topic]
    _warn_of_growth(request, scorers, samples.added)
    if imputation.left_out and not imputation.imputed.any():
        warn_caller(
            f"None of the {imputation.left_out} unjudged documents down to rank {depth} got a level, since "
            f"fewer than {FEWEST} documents near their ranks are judged. The intervals have no width; see "
            "score_bounds."
        )
    counts = [isinstance(measure.aggregator(), SumAgg) for measure in request.measures]
    moved /= np.where(counts, 1, len(scores.query_ids))[:, np.newaxis, np.newaxis]
    quantiles = np.quantile(moved, [tail, 1 - tail], axis=2)
    overall = np.stack([moved.mean(axis=2), *quantiles]) + scores.aggregates.T
    imputed = [np.count_nonzero(imputation.imputed[run.document[run.rank <= depth]]) for run in retrieved]
    documents = [int(np.minimum(run.n_retrieved, depth).sum()) for run in retrieved]
    shares = np.array(imputed) / np.maximum(documents, 1)
    mean, low, high = ends
    return ScoreIntervals(scores, mean, low, high, overall, shares, depth, float(confidence), n_samples)


def _check_non_relevant(request: Request, imputation: Imputation) -> None:
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
    if only := [f"{first[at]}{last[at]}" for at in used if not found[at]]:
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


@dataclass(frozen=True, eq=False)
class Retrieved:
    """The documents of a run that are judged or get levels, by topic and rank."""

    #: Their positions in the qrels of the imputation.
    document: Ints
    rank: Ints
    #: Position of the first document of each topic, and one past the last.
    start: Ints
    #: Number of documents retrieved, judged or not, shape ``(topics,)``.
    n_retrieved: Ints

    @classmethod
    def of(cls, run: MatchedRun, imputation: Imputation, lowest: float, deepest: float) -> Retrieved:
        """Return the documents that affect scores by measures with a lowest level and a deepest rank."""
        hits, levels = run.judged, imputation.judgments.levels
        counts = (levels.values >= lowest)[hits.level_index] | imputation.imputed[hits.document]
        kept = np.flatnonzero(counts & (hits.rank <= deepest))
        start = np.searchsorted(hits.topic[kept], np.arange(levels.topics + 1))
        return cls(hits.document[kept], hits.rank[kept], start, hits.n_retrieved)


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

    def __post_init__(self) -> None:
        self.levels = levels = self.imputation.judgments.levels
        self.lowest = levels.values.searchsorted(min(scorer.lowest_level for scorer in self.scorers))
        self.rel = levels.values.searchsorted(min(scorer.lowest_rel for scorer in self.scorers))
        self.start = np.append(segments.starts(levels.topic, levels.topics), levels.topic.size)
        #: Number of relevant documents that each sample adds.
        self.added = np.zeros(self.shift.size, dtype=np.int64)

    def scored(self) -> Iterator[tuple[slice, Floats]]:
        """Yield some topics, and their scores of shape ``(measures, runs, topics, samples)``."""
        for topics, size in self._blocks():
            numbers = range(topics.start, topics.stop)
            draws = [self.imputation.draws(topic, int(self.seeds[topic])) for topic in numbers]
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

    def _score(self, topics: slice, draws: list[TopicDraws], samples: slice) -> Floats:
        """Score some samples of some topics: shape ``(measures, runs, topics, samples)``."""
        begin, end = int(self.start[topics.start]), int(self.start[topics.stop])
        shift = self.shift[samples]
        level_index = np.tile(self.levels.level_index[begin:end], (shift.size, 1))
        imputed = self.imputation.imputed[begin:end]
        drawn = np.concatenate([draw.levels(shift) for draw in draws], axis=1)
        drawn = drawn + (self.imputation.scale[0] if drawn.size else 0)
        level_index[:, imputed] = drawn
        self.added[samples] += np.count_nonzero(drawn >= self.rel, axis=1)
        number = topics.stop - topics.start
        each = np.arange(shift.size, dtype=np.int64)[:, np.newaxis]
        topic = self.levels.topic[begin:end] - topics.start
        topic_of_samples = (each * number + topic).ravel()
        levels = Levels(shift.size * number, topic_of_samples, level_index.ravel(), self.levels.values)

        def score(run: Retrieved) -> Floats:
            hits = slice(int(run.start[topics.start]), int(run.start[topics.stop]))
            document, rank = run.document[hits] - begin, run.rank[hits]
            found = level_index[:, document]
            sample, hit = np.nonzero(found >= self.lowest)
            judged = JudgedRun(
                sample * number + topic[document[hit]],
                rank[hit],
                found[sample, hit],
                sample * (end - begin) + document[hit],
                np.tile(run.n_retrieved[topics], shift.size),
            )
            views = Views(levels, judged)
            of_samples = [scorer.score(views).reshape(shift.size, number).T for scorer in self.scorers]
            return np.stack(of_samples)

        return np.stack(list(in_threads(score, self.runs, processors())), axis=1)
