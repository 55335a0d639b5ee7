"""``RankingMetric``: scores of rankings that arrive in batches, as in the loops of training."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError
from ir_graded.measures.parsing import read_measures

from .arrays import BY_POSITION, check_levels, check_order, flags_of, numbers_of, same_shape, scores_of
from .evaluate import Request, in_order
from .scores import Scores
from .ties import DefaultTies

#: Documents of some batches: scores, levels, topics, and whether the ranking has them.
Part = tuple[npt.NDArray[np.floating], Floats, Ints, Bools]
#: The id of the first document; the others are lower and have as many digits, so they sort as numbers.
_FIRST_ID = 2 * 10**15


class RankingMetric:
    """Score rankings that arrive in batches: ``update`` for each batch, then ``compute``, then ``reset``.

    The values are those of ``evaluate`` with ``ties``, to the last bit, whatever the batches are: a topic
    whose documents come in several batches, or in several processes (``merge_state``), is one ranking.
    ``update`` takes what the retrieval metrics of torchmetrics take, and copies it once to NumPy arrays; the
    measures are computed in NumPy. ``ir_graded.torchmetrics.GradedRankingMetric`` does the same in Lightning
    and ``MetricCollection``.

    Documents have no ids here, so a document that is given twice counts twice.

    Args:
        measures: the measures, as for ``evaluate``. A single one makes ``compute`` return a number, and a
            list of measures makes it return a dict.
        ties: order of documents with equal scores: 'expected', the mean over all orders; 'position', the
            order in which they are given; 'optimistic' or 'pessimistic', by level descending or ascending.
            By default 'expected', and 'position' for measures that do not define this mean.

    Raises:
        ParameterError: ``ties`` is not one of these words, or it is 'expected' and a measure does not define
            this mean.
        NameError: the name of a measure is unknown.

    Example:
        >>> import ir_graded
        >>> metric = ir_graded.RankingMetric(["nDCG@10", "RR"])
        >>> metric.update([0.3, 0.2, 0.9], [2, 0, 1], indexes=[7, 7, 7])
        >>> metric.update([[0.8, 0.7]], [[0, 1]], indexes=[8])
        >>> {name: round(value, 4) for name, value in metric.compute().items()}
        {'nDCG@10': 0.7453, 'RR': 0.75}
    """

    def __init__(self, measures: Iterable[str | Measure] | str | Measure, *, ties: str | None = None) -> None:
        check_order(ties)
        given = read_measures(measures)
        if ties is not None and ties != BY_POSITION:
            given = in_order(given, ties)
        self._ties = DefaultTies(given if ties is None else [])
        #: The measures by the names of the metrics.
        self.measures = dict(zip(map(str, given), self._ties.measures or given, strict=True))
        self._single = isinstance(measures, (str, Measure)) and len(given) == 1
        self.reset()

    def update(
        self, preds: Any, target: Any, indexes: Any, *, mask: Any = None, retrieved: Any = None
    ) -> None:
        """Add the documents of a batch.

        Args:
            preds: the score of each document, an array of any shape and library; the highest is ranked first.
            target: the level of each document, same shape. A document with a level below 0 is unjudged, as
                in qrels: it has a rank, and measures with ``judged_only`` remove it. A topic without a judged
                document is left out.
            indexes: the number of the topic of each document, same shape; or of each row, which then is a
                topic or a part of one.
            mask: True for documents and False for padding, same shape; None if there is no padding.
            retrieved: False for judged documents that the ranking lacks, same shape. They count in the ideal
                list, and their scores are ignored. None if the ranking has all.

        Raises:
            InputError: shapes differ, an array holds other values than numbers, a score or a level is NaN, a
                level is infinite, or ``indexes`` holds fractions.
        """
        self.parts.append(_part(preds, target, indexes, mask, retrieved))

    def compute(self) -> Any:
        """Return the mean of each measure over the topics: a dict by name, or the number of a single measure.

        A topic without relevant documents scores 0.

        Raises:
            InputError: there is no judged document, or the levels do not fit a measure.

        Warns:
            CoverageWarning: as ``evaluate``; or relevant documents of a topic have equal scores, and by
                default a measure ranks them by position.
        """
        means = dict(zip(self.measures, self.scores().aggregates[0].tolist(), strict=True))
        return next(iter(means.values())) if self._single else means

    def scores(self, name: str = "run") -> Scores:
        """Return the scores of all topics, for intervals, significance tests and tables.

        Args:
            name: the name of the run.

        Raises, Warns: as ``compute``.
        """
        import polars as pl

        preds, level, topic, retrieved = map(np.concatenate, zip(*self.parts, strict=True))
        # Documents with equal scores are ranked by id descending.
        doc_id = pl.Series(_FIRST_ID - np.arange(topic.size)).cast(pl.String)
        rows = pl.DataFrame({"query_id": topic, "doc_id": doc_id, "relevance": level, "score": preds})
        rows = rows.with_columns(retrieved=retrieved).sort("query_id", maintain_order=True)
        rows = rows.filter((pl.col("relevance") >= 0).any().over("query_id"))
        if not rows.height:
            raise InputError("there is no judged document: call update with levels >= 0 before compute")
        request = Request([*self.measures.values()], rows.select("query_id", "doc_id", "relevance"))
        request.take({name: rows.filter("retrieved").select("query_id", "doc_id", "score")})
        values = request.judgments.levels.values
        scores, (tied,) = request.scores(lambda matched: self._ties.topics(matched.judged, values))
        self._ties.warn(tied.size, BY_POSITION, BY_POSITION)
        return scores

    def reset(self) -> None:
        """Forget all documents."""
        #: The documents of the batches.
        self.parts: list[Part] = [_part([], [], np.zeros(0, dtype=np.int64), None, None)]

    def merge_state(self, others: RankingMetric | Iterable[RankingMetric]) -> RankingMetric:
        """Add the documents of other metrics, for example of other processes, and return this metric.

        Metrics can be pickled, so ``torch.distributed.all_gather_object`` and ``multiprocessing`` send them.

        Raises:
            InputError: the others have other measures or another ``ties``.
        """
        merged = [others] if isinstance(others, RankingMetric) else [*others]
        for other in merged:
            if other.measures != self.measures:
                raise InputError(
                    f"the metrics to merge compute {', '.join(map(str, self.measures.values()))} and "
                    f"{', '.join(map(str, other.measures.values()))}; give them the same measures and ties"
                )
        self.parts = [part for one in (self, *merged) for part in one.parts]
        return self

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Add a batch, as ``update``, and return the values of this batch alone."""
        batch = copy(self)
        batch.reset()
        batch.update(*args, **options)
        self.parts += batch.parts
        return batch.compute()


def _part(preds: Any, target: Any, indexes: Any, mask: Any, retrieved: Any) -> Part:
    """Return the documents of a batch, flat, checked, and copied."""
    level, topic = numbers_of("target", target), numbers_of("indexes", indexes)
    if topic.shape != level.shape and topic.shape == level.shape[:-1]:
        topic = np.broadcast_to(topic[..., np.newaxis], level.shape)
    same_shape("indexes", topic, level.shape, "target")
    if topic.dtype.kind == "f" and topic.size:  # an empty list has the type of numbers with fractions
        raise InputError(f"indexes holds {topic.dtype}; it must hold whole numbers, one for each topic")
    every = np.ones(level.shape, dtype=np.bool_)
    shown = every if mask is None else flags_of("mask", mask, level.shape, "target")
    found = every if retrieved is None else flags_of("retrieved", retrieved, level.shape, "target")
    check_levels("target", level, shown, -np.inf)
    score = scores_of("preds", preds, shown & found, "target")
    # Indexing copies, so that callers may reuse their arrays.
    return score[shown], level[shown].astype(np.float64), topic[shown].astype(np.int64), found[shown]
