"""Levels of unjudged documents: which documents get one, and their distribution by bins of fused rank."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ir_graded.core.levels import Levels
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.core.struct import light_dataclass
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.lookup import DocumentNumbers
from ir_graded.matching.match import MatchedRun, table_of_run

from .coverage import LOWEST_JUDGED

if TYPE_CHECKING:
    import polars as pl

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
FUSION = 60
#: Unit of the sums of 1/(60 + rank), so that the order of the runs makes no difference.
_UNIT = 2.0**52
#: Larger than any rank.
_NEVER = np.iinfo(np.int64).max


class PooledRun(NamedTuple):
    """The documents of a run of any form, by their numbers in the fusion."""

    number: Ints
    rank: Ints
    #: Number of documents retrieved, shape ``(topics,)``.
    n_retrieved: Ints


class ReciprocalRankFusion:
    """The documents of all runs, ranked by the sum of 1 / (60 + rank) over the runs, in units of 2^-52.

    Source: Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods" (SIGIR 2009).
    """

    def __init__(self, judgments: Judgments) -> None:
        self._judgments = judgments
        #: The numbers of the documents: those of the qrels have their positions there, others follow.
        self.numbers = DocumentNumbers(judgments.lookup(-np.inf))
        self._nearest = self._weight = np.zeros(0, dtype=np.int64)
        self.runs: list[PooledRun] = []

    def add(self, run: MatchedRun) -> None:
        """Add a run that has been matched with the qrels."""
        from ir_graded.matching.tables import rank_rows

        topic, doc_id, rank = rank_rows(self._judgments, table_of_run(self._judgments, run.run))
        number = self.numbers.of(topic, doc_id)
        new = self.numbers.size - self._weight.size
        self._nearest = np.append(self._nearest, np.full(new, _NEVER))
        self._weight = np.append(self._weight, np.zeros(new, dtype=np.int64))
        self._nearest[number] = np.minimum(self._nearest[number], rank)
        self._weight[number] += np.rint(_UNIT / (FUSION + rank)).astype(np.int64)
        self.runs.append(PooledRun(number.astype(np.int32), rank.astype(np.int32), run.judged.n_retrieved))

    def pool(self) -> pl.DataFrame:
        """Return the documents by topic and place (fused rank), ties by doc_id descending.

        The other columns are number, topic, doc_id, nearest (rank in any run) and weight.
        """
        import polars as pl

        known = self.numbers.frame()
        number = known["number"].to_numpy()
        known = known.with_columns(nearest=self._nearest[number], weight=self._weight[number])
        # Equal sums of different ranks may differ by the rounding of each summand.
        lower = pl.col("weight").shift(1) - pl.col("weight") > len(self.runs)
        is_new = (lower | (pl.col("topic") != pl.col("topic").shift(1))).fill_null(value=True)
        pool = known.filter(pl.col("weight") > 0).sort("topic", "weight", descending=[False, True])
        place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("topic")
        ordered = pool.with_columns(tie=is_new.cum_sum()).sort("tie", "doc_id", descending=[False, True])
        return ordered.with_columns(place=place)


@light_dataclass(frozen=True, eq=False)
class Imputation:
    """The documents that get levels, and the distribution of levels."""

    #: The qrels including these documents, whose level there has no meaning. Topics are sorted by length and
    #: name, so that random numbers do not depend on the order of the qrels.
    judgments: Judgments
    #: Position of each of these topics in the given qrels.
    topics: Ints
    #: Bin of each document of these qrels that gets a level, -1 for others.
    bin: Ints
    #: Position in these qrels of each document of the fusion, -1 for others.
    position: Ints
    #: Positions in ``Levels.values`` of the levels >= 0.
    scale: Ints
    #: Number of judged documents that the runs retrieved, shape ``(bins, levels)``.
    judged: Floats
    #: Parameters of the shares of the levels, shape ``(topics, bins, levels)``.
    alpha: Floats
    #: Number of unjudged documents down to the depth in bins with too few judged documents.
    left_out: int

    @classmethod
    def of(
        cls, judgments: Judgments, fusion: ReciprocalRankFusion, depth: int, *, all_bins: bool = False
    ) -> Imputation:
        """Find the unjudged documents within ``depth`` of any run in bins with enough judged documents."""
        names = judgments.names
        by_name = sorted(range(len(names)), key=lambda at: (len(names[at]), names[at]))  # 9 before 10
        number = np.argsort(by_name)
        levels = judgments.levels
        pool = fusion.pool()
        topic, place = number[pool["topic"].to_numpy()], pool["place"].to_numpy()
        # The first numbers are those of the qrels.
        document = np.array(pool["number"])
        document[document >= levels.topic.size] = -1
        bin_of = np.searchsorted(BIN_ENDS, place)
        judged = document >= 0
        judged[judged] = levels.values[levels.level_index[document[judged]]] >= LOWEST_JUDGED
        scale = np.flatnonzero(levels.values >= LOWEST_JUDGED)
        index = levels.level_index[document[judged]] - (scale[0] if scale.size else 0)
        counts = np.zeros((levels.topics, _BINS, scale.size))
        np.add.at(counts, (topic[judged], bin_of[judged], index), 1.0)
        alpha, enough = _parameters(counts)
        unjudged = ~judged & (pool["nearest"].to_numpy() <= depth)
        wanted = unjudged & (enough[bin_of] | all_bins)
        new = np.flatnonzero(wanted & (document < 0))
        document[new] = levels.topic.size + np.arange(new.size)
        topics = np.concatenate((number[levels.topic], topic[new]))
        of_bin, of_place = np.full(topics.size, -1), np.zeros(topics.size, dtype=np.int64)
        of_bin[document[wanted]] = bin_of[wanted]
        of_place[document[document >= 0]] = place[document >= 0]
        # Documents are in fused order, independent of the form of the qrels and the order of runs.
        order = np.lexsort((of_place, topics))
        doc_ids = [*judgments.doc_ids, *pool["doc_id"].gather(new).to_list()]
        level_index = np.concatenate((levels.level_index, np.zeros(new.size, dtype=np.int64)))
        position = np.full(fusion.numbers.size, -1, dtype=np.int64)
        position[np.append(np.arange(levels.topic.size), pool["number"].to_numpy()[new])] = np.argsort(order)
        extended = Judgments(
            [judgments.query_ids[at] for at in by_name],
            [names[at] for at in by_name],
            Levels(levels.topics, topics[order], level_index[order], levels.values),
            [doc_ids[at] for at in order.tolist()],
        )
        topics_by_name, left_out = np.array(by_name, dtype=np.int64), int((unjudged & ~wanted).sum())
        return cls(
            extended, topics_by_name, of_bin[order], position, scale, counts.sum(axis=0), alpha, left_out
        )

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


@light_dataclass(frozen=True, eq=False)
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
    def of(cls, run: PooledRun, imputation: Imputation, lowest: float, deepest: float) -> Retrieved:
        """Return the documents that affect scores by measures with a lowest level and a deepest rank."""
        levels = imputation.judgments.levels
        counts = (levels.values >= lowest)[levels.level_index] | imputation.imputed
        kept = np.flatnonzero(
            np.append(counts, False)[imputation.position][run.number] & (run.rank <= deepest)
        )
        document, rank = imputation.position[run.number[kept]], run.rank[kept].astype(np.int64)
        order = np.argsort(levels.topic[document] << 32 | rank)
        document, rank = document[order], rank[order]
        start = np.searchsorted(levels.topic[document], np.arange(levels.topics + 1))
        return cls(document, rank, start, run.n_retrieved[imputation.topics])


def _parameters(counts: Floats) -> tuple[Floats, Bools]:
    """Return parameters of the shares of levels, and which bins have enough judged documents."""
    # The overall shares smooth those of a bin, which smooth those of the bin of a topic.
    of_bin = counts.sum(axis=0)
    judged = of_bin.sum(axis=1, keepdims=True)
    shares = of_bin.sum(axis=0) / max(float(judged.sum()), 1.0)
    of_bin = (of_bin + POOLED * shares) / (judged + POOLED)
    return counts + POOLED * of_bin, judged[:, 0] >= FEWEST


class Draws(Protocol):
    """Random levels of the documents of one topic, drawn in parts in the order of the samples."""

    def levels(self, shift: Floats) -> Ints:
        """Draw levels as positions on the scale, for a shift per sample; shape ``(samples, documents)``."""


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
