"""``score_intervals``: uncertainty of scores from unjudged documents, by imputed judgments.

The documents of a topic are ranked by all runs together and divided into bins. An unjudged document gets a
level that is drawn from those of the judged documents of its bin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure
from ir_measures.measures.base import SumAgg

from ir_graded._utils.results import Result
from ir_graded._utils.threads import in_threads, processors
from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.ranking import order_numbers
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.views import Views
from ir_graded.errors import InputError, ParameterError
from ir_graded.io.sources import table_of
from ir_graded.io.table import Table, from_frame
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun
from ir_graded.matching.tables import rank_rows
from ir_graded.measures.base import Scorer
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.intervals import ConfidenceIntervals
from ir_graded.meta.options import Seed, check_options, generator

from .coverage import LOWEST_JUDGED, warn_caller
from .evaluate import Request
from .scores import Scores
from .upstream import scorers_here

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


def pooled(judgments: Judgments, runs: Iterable[Any]) -> pl.DataFrame:
    """Return all documents that the runs retrieved for the topics of the qrels.

    The columns are topic (number), doc_id, nearest (smallest rank in any run) and weight, the sum of
    1 / (60 + rank) over the runs in units of 2^-52.
    """
    import polars as pl

    held: list[pl.DataFrame] = [_rows_of(judgments, {})]
    for rows in in_threads(lambda run: _rows_of(judgments, run), runs, processors()):
        held.append(rows)
        if sum(map(len, held)) > max(_ROWS, 2 * len(held[0])):
            held = [_added_up(pl.concat(held))]
    return _added_up(pl.concat(held))


def _rows_of(judgments: Judgments, run: Any) -> pl.DataFrame:
    import polars as pl

    table = _table_of_dict(judgments, run) if isinstance(run, Mapping) else table_of("run", run)
    topic, doc_id, rank = rank_rows(judgments, table)
    weight = np.rint(_UNIT / (_FUSION + rank)).astype(np.int64)
    return pl.DataFrame({"topic": topic, "doc_id": doc_id, "nearest": rank, "weight": weight})


def _table_of_dict(judgments: Judgments, run: Mapping[Any, Any]) -> Table:
    import polars as pl

    topics = [(as_text(topic), docs) for topic, docs in list(run.items())]
    topics = [(name, docs) for name, docs in topics if name in judgments.number]
    columns = {
        "query_id": [name for name, docs in topics for _ in docs],
        "doc_id": [as_text(doc_id) for _, docs in topics for doc_id in docs],
        "score": [float(score) for _, docs in topics for score in docs.values()],
    }
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return from_frame("run", pl.DataFrame(columns, schema=schema))


def _added_up(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return rows.group_by("topic", "doc_id").agg(pl.col("nearest").min(), pl.col("weight").sum())


def fused(pool: pl.DataFrame, runs: int) -> pl.DataFrame:
    """Return the pool by topic and fused rank (column place); ties by doc_id descending."""
    import polars as pl

    pool = pool.sort("topic", "weight", descending=[False, True])
    topic, weight = pool["topic"].to_numpy(), pool["weight"].to_numpy()
    # Equal sums of different ranks may differ by the rounding of each summand.
    new = np.ones(topic.size, dtype=np.bool_)
    new[1:] = (topic[1:] != topic[:-1]) | (weight[:-1] - weight[1:] > runs)
    tie = np.cumsum(new) - 1
    tied = np.flatnonzero(np.bincount(tie)[tie] > 1)
    order = np.arange(topic.size, dtype=np.int64)
    names = order_numbers(pool["doc_id"].gather(tied).to_list())
    order[tied] = tied[np.lexsort((-names, tie[tied]))]
    start = segments.starts(topic, int(topic.max(initial=0)) + 1)
    place = segments.ordinals(start[topic])
    return pool[order].with_columns(pl.Series("place", place))


@dataclass(frozen=True, eq=False)
class Imputation:
    """The documents that get levels, and the distribution of levels.

    Attributes:
        judgments: the qrels including these documents, whose level there has no meaning. Topics are sorted by
            length and name, so that random numbers do not depend on the order of the qrels.
        topics: position of each of these topics in the given qrels.
        bin: bin of each document of these qrels that gets a level, -1 for others.
        scale: positions in ``Levels.values`` of the levels >= 0.
        judged: number of judged documents that the runs retrieved, shape ``(bins, levels)``.
        alpha: parameters of the shares of the levels, shape ``(topics, bins, levels)``.
        left_out: number of unjudged documents down to the depth in bins with too few judged documents.
    """

    judgments: Judgments
    topics: Ints
    bin: Ints
    scale: Ints
    judged: Floats
    alpha: Floats
    left_out: int

    @classmethod
    def of(cls, judgments: Judgments, runs: Iterable[Any], depth: int) -> Imputation:
        """Find the unjudged documents within ``depth`` of any run in bins with enough judged documents."""
        import polars as pl

        runs = list(runs)
        names = judgments.names
        by_name = sorted(range(len(names)), key=lambda at: (len(names[at]), names[at]))  # 9 before 10
        number = np.argsort(by_name)
        levels = judgments.levels
        level = levels.values[levels.level_index]
        known = pl.DataFrame(
            {
                "topic": levels.topic,
                "doc_id": pl.Series(judgments.doc_ids, dtype=pl.String),
                "document": np.arange(levels.topic.size, dtype=np.int64),
            }
        )
        pool = fused(pooled(judgments, runs), len(runs)).join(
            known, on=["topic", "doc_id"], how="left", maintain_order="left"
        )
        topic = number[pool["topic"].to_numpy()]
        document = np.array(pool["document"].fill_null(-1), dtype=np.int64)
        place = pool["place"].to_numpy()
        bin_of = np.searchsorted(BIN_ENDS, place)
        judged = document >= 0
        judged[judged] = level[document[judged]] >= LOWEST_JUDGED
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
        left_out = int(np.count_nonzero(unjudged & ~wanted))
        return cls(
            extended,
            np.array(by_name, dtype=np.int64),
            of_bin[order],
            scale,
            counts.sum(axis=0),
            alpha,
            left_out,
        )

    @cached_property
    def imputed(self) -> segments.Bools:
        """Whether each document of the qrels gets a level."""
        return self.bin >= 0

    def draws(self, topic: int, seed: int) -> TopicDraws:
        """Return the random numbers of one topic."""
        levels = self.judgments.levels
        begin, end = np.searchsorted(levels.topic, [topic, topic + 1])
        of_topic = self.bin[begin:end]
        bins, bin_of = np.unique(of_topic[of_topic >= 0], return_inverse=True)
        return TopicDraws(self.alpha[topic, bins], bin_of, levels.values[self.scale] > 0, seed)


def _parameters(counts: Floats) -> tuple[Floats, segments.Bools]:
    """Return parameters of the shares of levels, and which bins have enough judged documents.

    The overall shares smooth those of a bin, which smooth those of the bin of a topic. ``counts`` are judged
    documents, shape ``(topics, bins, levels)``.
    """
    of_bin = counts.sum(axis=0)
    judged = of_bin.sum(axis=1, keepdims=True)
    shares = of_bin.sum(axis=0) / max(float(judged.sum()), 1.0)
    of_bin = (of_bin + POOLED * shares) / (judged + POOLED)
    return counts + POOLED * of_bin, judged[:, 0] >= FEWEST


class TopicDraws:
    """Random levels of the documents of one topic. Drawing in parts or at once gives the same levels.

    Args:
        alpha: parameters of the shares of the levels in each bin, shape ``(bins, levels)``.
        bin_of: bin of each document.
        above_0: for each level, whether it is above 0.
        seed: seed of all random numbers.
    """

    def __init__(self, alpha: Floats, bin_of: Ints, above_0: segments.Bools, seed: int) -> None:
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
        depth: a whole number >= 1 and < 2**63; by default the largest cutoff of the measures.
        n_samples: number of samples, at least 1.
        confidence: share of the samples in an interval, between 0 and 1.
        rng: a seed or a generator. A seed gives the same result with any number of threads
            and any order of topics, documents and runs.

    Returns:
        Mean, low and high for each measure, run and topic, and for the aggregates over topics.

    Raises:
        ParameterError: an option is out of range, ``depth`` is missing, or a measure is not supported.
        InputError: as for ``evaluate``; or there are unjudged documents to draw levels for, but no judged
            document is non-relevant, so their share cannot be estimated.
        NoSharedTopicsError, ValueError, NameError: as for ``evaluate``.

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
    overall = (
        np.concatenate((moved.mean(axis=2)[np.newaxis], np.quantile(moved, [tail, 1 - tail], axis=2)))
        + scores.aggregates.T
    )
    return ScoreIntervals(
        scores,
        ends[0],
        ends[1],
        ends[2],
        overall,
        np.array([run.imputed_share(imputation, depth) for run in retrieved]),
        depth,
        float(confidence),
        n_samples,
    )


def _check_non_relevant(request: Request, imputation: Imputation) -> None:
    """Raise OnlyRelevantError if levels are drawn from relevant documents alone; warn of such bins."""
    values = request.judgments.levels.values
    scale = values[imputation.scale]
    below = (scale == 0) | (scale < request.rel)  # level 0 may have a gain
    non_relevant = f"a level >= 0 and < {request.rel:g}" if request.rel > 1 else "level 0"
    to_draw = imputation.left_out or imputation.imputed.any()
    if to_draw and not np.isin(request.judgments.levels.level_index, imputation.scale[below]).any():
        where = f"the qrels have no judged non-relevant document ({non_relevant})"
    elif imputation.imputed.any() and not imputation.judged[:, below].any():
        where = f"the runs retrieved no judged non-relevant document ({non_relevant})"
    else:
        used = np.unique(imputation.bin[imputation.imputed])
        first = [1, *(BIN_ENDS + 1).tolist()]
        last = [f"-{end}" for end in BIN_ENDS.tolist()] + [" and below"]
        only = [f"{first[at]}{last[at]}" for at in used if not imputation.judged[at][below].any()]
        if only:
            warn_caller(
                f"All judged documents at fused ranks {', '.join(only)} are relevant: nearly all unjudged "
                "documents there are drawn relevant, and scores may be far too high. Judge non-relevant "
                "documents at these ranks, too."
            )
        return
    raise OnlyRelevantError(
        f"{where}, so the share of relevant documents among the unjudged ones cannot be estimated, and there "
        "are no intervals; add judged non-relevant documents, or use ir_graded.score_bounds for measures "
        "with exact bounds"
    )


def _warn_of_growth(request: Request, scorers: Iterable[Scorer], added: Ints) -> None:
    """Warn if the samples add many relevant documents to the known ones."""
    levels = request.judgments.levels.values
    known = request.judgments.levels.level_index >= np.searchsorted(levels, request.rel)
    relevant = np.count_nonzero(known)
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
    """The documents of a run that are judged or get levels, by topic and rank.

    Attributes:
        document: their positions in the qrels of the imputation.
        rank: their ranks.
        start: position of the first document of each topic, and one past the last.
        n_retrieved: number of documents retrieved, judged or not, shape ``(topics,)``.
    """

    document: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    start: Ints
    n_retrieved: Ints

    @classmethod
    def of(cls, run: MatchedRun, imputation: Imputation, lowest: float, deepest: float) -> Retrieved:
        """Return the documents that affect scores by measures with a lowest level and a deepest rank."""
        hits, levels = run.judged, imputation.judgments.levels
        counts = (levels.values >= lowest)[hits.level_index] | imputation.imputed[hits.document]
        kept = np.flatnonzero(counts & (hits.rank <= deepest))
        start = np.searchsorted(hits.topic[kept], np.arange(levels.topics + 1))
        # Smaller types halve the memory, since the documents of all runs are held.
        document, rank = hits.document[kept].astype(np.int32), hits.rank[kept].astype(np.int32)
        return cls(document, rank, start, hits.n_retrieved)

    def imputed_share(self, imputation: Imputation, depth: int) -> float:
        """Return the share of the documents down to a depth that got levels."""
        found = np.count_nonzero(imputation.imputed[self.document] & (self.rank <= depth))
        return found / max(int(np.minimum(self.n_retrieved, depth).sum()), 1)


class Samples:
    """Samples of the qrels, a few topics at a time; each topic of a sample is treated as a separate topic.

    Args:
        imputation: the documents that get levels.
        scorers: the measures.
        runs: the runs.
        shift: for each sample, the shift of the log odds that all topics share.
        seeds: a seed for each topic.

    Attributes:
        added: number of relevant documents that each sample adds.
    """

    def __init__(
        self,
        imputation: Imputation,
        scorers: Sequence[Scorer],
        runs: Sequence[Retrieved],
        shift: Floats,
        seeds: Ints,
    ) -> None:
        self._imputation, self._scorers, self._runs = imputation, scorers, runs
        self._shift, self._seeds = shift, seeds
        self._levels = imputation.judgments.levels
        values = self._levels.values
        self._lowest = int(np.searchsorted(values, min(scorer.lowest_level for scorer in scorers)))
        self._rel = int(np.searchsorted(values, min(scorer.lowest_rel for scorer in scorers)))
        self._start = np.append(
            segments.starts(self._levels.topic, self._levels.topics), self._levels.topic.size
        )
        self.added = np.zeros(shift.size, dtype=np.int64)

    def scored(self) -> Iterator[tuple[slice, Floats]]:
        """Yield some topics, and their scores of shape ``(measures, runs, topics, samples)``."""
        for topics, size in self._blocks():
            draws = [
                self._imputation.draws(topic, int(self._seeds[topic]))
                for topic in range(topics.start, topics.stop)
            ]
            parts = [
                self._score(topics, draws, slice(begin, begin + size))
                for begin in range(0, self._shift.size, size)
            ]
            # The last digit of a sum depends on how values lie in memory.
            yield topics, np.ascontiguousarray(np.concatenate(parts, axis=3))

    def _blocks(self) -> Iterator[tuple[slice, int]]:
        """Yield neighbouring topics with all samples, or one topic with some samples, as memory allows."""
        documents = np.diff(self._start)
        retrieved = np.max([np.diff(run.start) for run in self._runs], axis=0)
        scores = 8 * len(self._runs) * len(self._scorers)
        sample = _BYTES_OF_DOCUMENT * documents + _BYTES_OF_HIT * processors() * retrieved + scores
        begin, samples = 0, self._shift.size
        for end in range(1, sample.size + 1):
            if end == sample.size or sample[begin : end + 1].sum() * samples > _MEMORY:
                yield slice(begin, end), min(samples, max(1, int(_MEMORY / sample[begin:end].sum())))
                begin = end

    def _score(self, topics: slice, draws: list[TopicDraws], samples: slice) -> Floats:
        """Score some samples of some topics: shape ``(measures, runs, topics, samples)``."""
        begin, end = int(self._start[topics.start]), int(self._start[topics.stop])
        shift = self._shift[samples]
        level_index = np.tile(self._levels.level_index[begin:end], (shift.size, 1))
        imputed = self._imputation.imputed[begin:end]
        drawn = np.concatenate([draw.levels(shift) for draw in draws], axis=1)
        drawn = drawn + (self._imputation.scale[0] if drawn.size else 0)
        level_index[:, imputed] = drawn
        self.added[samples] += np.count_nonzero(drawn >= self._rel, axis=1)
        number = topics.stop - topics.start
        each = np.arange(shift.size, dtype=np.int64)[:, np.newaxis]
        topic = self._levels.topic[begin:end] - topics.start
        levels = Levels(
            shift.size * number, (each * number + topic).ravel(), level_index.ravel(), self._levels.values
        )

        def score(run: Retrieved) -> Floats:
            hits = slice(int(run.start[topics.start]), int(run.start[topics.stop]))
            document, rank = run.document[hits].astype(np.int64) - begin, run.rank[hits].astype(np.int64)
            found = level_index[:, document]
            sample, hit = np.nonzero(found >= self._lowest)
            judged = JudgedRun(
                sample * number + topic[document[hit]],
                rank[hit],
                found[sample, hit],
                sample * (end - begin) + document[hit],
                np.tile(run.n_retrieved[topics], shift.size),
            )
            views = Views(levels, judged)
            of_samples = [scorer.score(views).reshape(shift.size, number).T for scorer in self._scorers]
            return np.stack(of_samples)

        return np.stack(list(in_threads(score, self._runs, processors())), axis=1)
