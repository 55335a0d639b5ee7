"""``rbo`` and ``rbo_matrix``: how similar runs are, by rank-biased overlap, without judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.overlap import TIES, VALUES, Overlaps, RankedLists
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, NoSharedTopicsError, format_ids, warn_caller
from ir_graded.evaluation.coverage import mean_of_known
from ir_graded.io.sources import Source, named_runs
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.lookup import Lookup, document_keys
from ir_graded.matching.match import rows_by_name
from ir_graded.meta.options import statistic

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.matching.tables import RunRows
    from ir_graded.plots.style import Axes, Figure


@statistic(ties=TIES)
def rbo(run: Any, other: Any, p: float = 0.9, ties: str = "a") -> pd.DataFrame:
    """Compare two runs by rank-biased overlap (RBO), topic by topic. No judgments are needed.

    ``RBO = (1 - p) / p * sum over d = 1, 2, ... of A(d) p^d``. The agreement ``A(d)`` is the share of common
    documents in the first d ranks of both runs, so the top counts most: the first ``1 / (1 - p)`` ranks hold
    most of the weight. Runs end, so ``min`` and ``max`` are bounds over all ways to continue them, and
    ``ext`` is an estimate that continues their agreement. All are in [0, 1], and the order of the runs has no
    effect. Positions in a run, as of responses of search engines, do not rank documents with equal scores
    here: ``ties`` applies to them.

    Args:
        run: a run in any form that ``evaluate`` takes.
        other: another run, in any form.
        p: persistence, between 0 and 1; with higher values deeper ranks count more.
        ties: treatment of documents with equal scores: 'w', they have one rank and are equal; 'a', their
            order is unknown, which gives the mean over all orders; 'b', as 'a', corrected for the information
            that ties lack, so that a run is equal to itself. Without ties all three give the same values.
            Lists of unequal length have estimates of what is below the shorter one.

    Returns:
        A row per topic that both runs have, in the order of ``run``, with the columns query_id, min, max,
        res, which is max - min, and ext.

    Raises:
        NoSharedTopicsError: the runs have no topic in common.
        InputError: a run cannot be read, or several runs are given for one.
        ParameterError: ``p`` or ``ties`` is out of range.

    Warns:
        CoverageWarning: some topics are in one run only; they are left out.

    Source: Webber, Moffat and Zobel, "A Similarity Measure for Indefinite Rankings" (ACM TOIS, 2010); ties:
    Corsi and Urbano, "The Treatment of Ties in Rank-Biased Overlap" (SIGIR 2024).

    Example:
        >>> import ir_graded
        >>> run = {"1": {"a": 3.0, "b": 3.0, "c": 2.0, "d": 1.0}}
        >>> ir_graded.rbo(run, {"1": {"b": 3.0, "a": 2.0, "e": 1.0}}, p=0.8).round(4)
          query_id     min     max    res     ext
        0        1  0.5047  0.8317  0.327  0.6867
    """
    import pandas as pd

    named: dict[str, Source] = {}
    for parameter, given in (("run", run), ("other", other)):
        found = named_runs(given)
        if len(found) != 1:
            raise InputError(
                f"{parameter}: expected one run, found {len(found)}; rbo_matrix compares several"
            )
        ((name, one),) = found.items()
        named[parameter if name in {"run", *named} else name] = one
    ranked = _Ranked.of(named)
    ranked.check_shared()
    (values,) = Overlaps(ranked.lists, ranked.documents, p, ties).with_others(0, [1])
    shared = np.flatnonzero(~np.isnan(values[0]))
    query_ids = [ranked.query_ids[topic] for topic in shared.tolist()]
    return pd.DataFrame({"query_id": query_ids, **dict(zip(VALUES, values[:, shared], strict=True))})


@dataclass(frozen=True, eq=False, repr=False)
class RunOverlaps(Result):
    """Mean rank-biased overlap of all pairs of runs.

    Attributes:
        runs: names of the runs.
        overlap: mean over the topics that both runs of a pair have, runs x runs.
        topics: number of these topics, runs x runs.
        p: persistence, the probability of going on to the next rank, between 0 and 1.
        ties: variant for documents with equal scores, ``'w'``, ``'a'`` or ``'b'``.
        score: the value of which these are means.
    """

    runs: tuple[str, ...]
    overlap: Floats
    topics: Ints
    p: float
    ties: str
    score: str

    ROWS: ClassVar = {"run": "runs"}

    def to_frame(self) -> pd.DataFrame:
        """Return the means, with a row and a column per run."""
        import pandas as pd

        return pd.DataFrame(self.overlap, pd.Index(self.runs, name="run"), list(self.runs), copy=True)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot a heat map of all pairs of runs."""
        from ir_graded.plots.meta import overlap_heat_map

        return overlap_heat_map(self.to_frame(), f"mean RBO ({self.score}, p={self.p:g})", ax)


@statistic(ties=TIES, score=VALUES)
def rbo_matrix(runs: Any, p: float = 0.9, ties: str = "a", score: str = "ext") -> RunOverlaps:
    """Compare all pairs of runs by the mean of rank-biased overlap (RBO) over the topics.

    Args:
        runs: several runs in any form that ``evaluate`` takes.
        p: persistence, between 0 and 1; with higher values deeper ranks count more.
        ties: treatment of documents with equal scores: 'w', equal; 'a', the mean over all orders; 'b', 'a'
            corrected for ties. With 'a' a run with ties has an overlap below 1 with itself.
        score: value of which the mean is taken: 'ext', 'min', 'max' or 'res'.

    Returns:
        The means, each over the topics that both runs of the pair have.

    Raises:
        NoSharedTopicsError: two runs have no topic in common.
        InputError: a run cannot be read.
        ParameterError: an option is out of range.

    Warns:
        CoverageWarning: some topics are not in all runs.

    Source: as for ``rbo``.

    Example:
        >>> import ir_graded
        >>> covid = ir_graded.sample()
        >>> runs = {name: covid.runs[name] for name in ("BM25R2", "UIowaS_Run3", "sab20.1.meta.docs")}
        >>> ir_graded.rbo_matrix(runs).to_frame().round(2)
                           BM25R2  UIowaS_Run3  sab20.1.meta.docs
        run
        BM25R2               1.00         0.08               0.09
        UIowaS_Run3          0.08         1.00               0.37
        sab20.1.meta.docs    0.09         0.37               1.00
    """
    ranked = _Ranked.of(named_runs(runs))
    ranked.check_shared()
    overlaps = Overlaps(ranked.lists, ranked.documents, p, ties)
    size, at = len(ranked.names), VALUES.index(score)
    means = np.empty((size, size))
    for one in range(size):
        for other, values in enumerate(overlaps.with_others(one, range(one, size)), start=one):
            means[one, other] = means[other, one] = mean_of_known(values[at])
    return RunOverlaps(tuple(ranked.names), means, ranked.shared, float(p), ties, score)


class OverlapWith:
    """Overlap of runs with a baseline, on topics of the qrels.

    Args:
        baseline: the valid run that the others are compared with.
        judgments: the prepared qrels.
    """

    def __init__(self, baseline: Source, judgments: Judgments) -> None:
        self._judgments = judgments
        rows, topic = self._judged_rows(baseline)
        order, every = np.argsort(topic, kind="stable"), np.arange(topic.size)
        doc_ids = rows.doc_id.gather(order).to_list()
        self._lookup = Lookup(len(judgments.names), topic[order], every, doc_ids)
        self._list = self._ranked(rows, topic)

    def mean(self, run: Source) -> float:
        """Return the mean ``ext`` of a valid run and the baseline, or NaN."""
        lists = [self._list, self._ranked(*self._judged_rows(run))]
        overlaps = Overlaps(lists, len(self._lookup.doc_ids) + 1, 0.9, "a")
        (values,) = overlaps.with_others(0, [1])
        return float(mean_of_known(values[VALUES.index("ext")]))

    def _judged_rows(self, run: Source) -> tuple[RunRows, Ints]:
        """Return the rows of a run in topics of the qrels, and the number of the topic of each."""
        from ir_graded.matching.tables import rows_of_run

        table = run.table(self._judgments.number)
        known = table.query_id.is_in(self._judgments.names).arg_true().to_numpy().astype(np.int64)
        rows = rows_of_run(table if known.size == len(table.query_id) else table[known])
        number = np.array([self._judgments.number[name] for name in rows.names], dtype=np.int64)
        return rows, number[rows.topic]

    def _ranked(self, rows: RunRows, topic: Ints) -> RankedLists:
        # All documents that the baseline lacks have one number.
        document = np.full(topic.size, len(self._lookup.doc_ids), dtype=np.int64)
        at, found = self._lookup.find(topic, rows.doc_id, document_keys(topic, rows.doc_id))
        document[at] = found
        return RankedLists.of(self._lookup.topics, topic, rows.score, document)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Runs as ranked lists, with numbers for topics and documents that all share.

    Attributes:
        names: names of the runs.
        query_ids: topics of all runs, as objects of the caller.
        lists: the ranked lists of each run.
        documents: number of numbers of documents.
    """

    names: list[str]
    query_ids: list[Any]
    lists: list[RankedLists]
    documents: int

    @classmethod
    def of(cls, runs: Mapping[str, Source]) -> _Ranked:
        """Read and rank runs by name."""
        import polars as pl

        from ir_graded.io.table import first_rows

        rows = [rows_by_name(*item) for item in runs.items()]
        query_ids: dict[str, Any] = {}
        for one in rows:
            for name, query_id in zip(one.names, one.query_ids, strict=True):
                query_ids.setdefault(name, query_id)
        number = {name: at for at, name in enumerate(query_ids)}
        topics = [np.array([number[name] for name in one.names], dtype=np.int64)[one.topic] for one in rows]
        columns = {"topic": np.concatenate(topics), "doc": pl.concat([one.doc_id for one in rows])}
        ends = np.cumsum([one.topic.size for one in rows])
        documents = np.split(first_rows(pl.DataFrame(columns)), ends[:-1])
        lists = [
            RankedLists.of(len(number), topic, one.score, document)
            for topic, one, document in zip(topics, rows, documents, strict=True)
        ]
        return cls([*runs], [*query_ids.values()], lists, int(ends[-1]))

    @cached_property
    def _has(self) -> Ints:
        """1 where a run has a topic, else 0, runs x topics."""
        return np.array([one.lengths > 0 for one in self.lists], dtype=np.int64)

    @property
    def shared(self) -> Ints:
        """Number of topics that both runs of each pair have."""
        return self._has @ self._has.T

    def check_shared(self) -> None:
        """Raise NoSharedTopicsError if two runs have no topic in common; warn if some are not in all runs."""
        if len(self.names) == 1:
            raise InputError("expected at least two runs, found 1")
        for pair in np.argwhere(np.triu(self.shared == 0, 1)).tolist():
            first, second = (repr(self.names[at]) for at in pair)
            own, others = (format_ids([*compress(self.query_ids, self._has[at])]) or "none" for at in pair)
            raise NoSharedTopicsError(
                f"runs {first} and {second} share no topic: {first} has {own}, {second} has {others}"
            )
        partly = [*compress(self.query_ids, 1 - self._has.min(axis=0))]
        if partly:
            warn_caller(
                f"{len(partly)} topic{'s are' if len(partly) > 1 else ' is'} not in all runs "
                f"({format_ids(partly)}): each pair of runs is compared on the topics that both have."
            )
