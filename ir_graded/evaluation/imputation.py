"""Imputed judgments: levels for unjudged documents, drawn from judged documents at similar ranks.

The documents of a topic are ranked by all runs together, and this ranking is divided into bins. The levels of
an unjudged document are drawn with the shares of levels among the judged documents of its bin. These shares
are uncertain and are also drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.threads import in_threads, processors
from ir_graded.core import segments
from ir_graded.core.levels import Levels
from ir_graded.core.names import order_numbers
from ir_graded.core.segments import Floats, Ints
from ir_graded.io.ids import as_text
from ir_graded.io.sources import table_of
from ir_graded.io.table import Table, from_frame
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.tables import rank_rows

from .unjudged import LOWEST_JUDGED

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
SPREAD = 0.7
#: Constant that is added to ranks before fusion.
_FUSION = 60
#: Unit of the sums of 1/(60 + rank), so that the order of the runs makes no difference.
_UNIT = 2.0**52
#: Number of rows of runs that are held before they are summed.
_ROWS = 1 << 22


def pooled(judgments: Judgments, runs: Iterable[Any]) -> pl.DataFrame:
    """Return all documents that the runs retrieved for the topics of the qrels.

    Args:
        judgments: the qrels.
        runs: scored runs, in forms that can be read again.

    Returns:
        The columns topic (number), doc_id, nearest (smallest rank in any run) and weight, the sum of
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

    The overall shares smooth those of a bin, which smooth those of the bin of a topic.

    Args:
        counts: judged documents, shape ``(topics, bins, levels)``.
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
        """Draw levels as positions on the scale, shape ``(samples, documents)``.

        Args:
            shift: for each sample, the shift of the log odds that all topics share.
        """
        shift = shift + self._shifts.normal(0.0, SPREAD, shift.size)
        weights = self._shares.standard_gamma(self._alpha, (shift.size, *self._alpha.shape))
        weights[..., self._above_0] *= np.exp(shift)[:, np.newaxis, np.newaxis]
        cumulative = np.cumsum(weights, axis=2)
        cumulative /= cumulative[:, :, -1:]
        uniform = self._uniform.random((shift.size, self._bin_of.size))
        drawn = np.zeros(uniform.shape, dtype=np.int64)
        for level in range(self._above_0.size - 1):
            drawn += uniform >= cumulative[:, self._bin_of, level]
        return drawn
