"""Judgments of a collection: ``pool``, what to judge next, and ``collection_statistics``, what there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result
from ir_graded._utils.threads import in_threads, processors
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, NoSharedTopicsError, ParameterError, format_ids, short_repr
from ir_graded.evaluation.coverage import LOWEST_JUDGED
from ir_graded.evaluation.evaluate import Request
from ir_graded.io.sources import Source, named_runs
from ir_graded.matching.match import prepare_qrels, rows_by_name
from ir_graded.meta.options import OPTIONS, Number, Seed, generator, statistic

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


#: Number of documents that a stratum needs for a standard error.
_FEWEST = 2


@statistic()
def pool(
    runs: Any,
    depth: int | None = None,
    *,
    judged: Any = None,
    strata: Mapping[int, float] | None = None,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Return the documents that runs retrieved down to a depth, to be judged in random order.

    The depth-k pool has the documents at ranks 1 to k of any run. With ``strata`` only a sample of it is to
    be judged: a stratum holds the documents of a topic whose best rank in any run lies in a range. Of its N
    documents, ``n = min(N, max(2, floor(share * N + 1/2)))`` are drawn without replacement; two, since a
    single one gives no standard error. The inclusion probability is n/N.

    Args:
        runs: one or several runs in any form of ``evaluate``; of passages, each document counts once.
        depth: last rank in the pool; give it or ``strata``.
        judged: qrels whose documents are left out, in any form of ``evaluate``. Levels below 0 count as not
            judged. Topics without judgments are in the pool.
        strata: share of the documents to judge by the last rank of each stratum, for example
            ``{5: 1, 20: 0.2, 100: 0.05}`` for ranks 1-5, 6-20 and 21-100.
        rng: a seed or a generator. A seed gives the same result with any order of topics, documents and runs.

    Returns:
        Columns query_id, doc_id, stratum (from 1) and iprob, the inclusion probability (both 1 without
        ``strata``), sorted by topic and shuffled within a topic, as assessors must not see ranks. With
        ``strata`` also relevance: -1 where a document is not to be judged, else missing. Once it is filled
        in, these are qrels of the sample.

    Raises:
        ParameterError: neither or both of ``depth`` and ``strata`` are given, ``judged`` is given with
            ``strata``, or an option is out of range.
        NoSharedTopicsError: ``judged`` has topics, but none of the runs.
        InputError: a run or ``judged`` cannot be read.

    Source:
        Sparck Jones and van Rijsbergen, "Report on the Need for and Provision of an 'Ideal' Information
        Retrieval Test Collection" (1975); strata: Yilmaz, Kanoulas and Aslam (SIGIR 2008).

    Example:
        >>> import ir_graded
        >>> run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
        >>> ir_graded.pool(run, 2, judged={"1": {"a": 1}})
          query_id doc_id  stratum  iprob
        0        1      b        1    1.0
    """
    import pandas as pd
    import polars as pl

    ends = _strata(depth, judged, strata)
    source, last = generator(rng), max(ends)
    query_ids: dict[str, Any] = {}

    def first_documents(item: tuple[str, Source]) -> tuple[dict[str, Any], pl.DataFrame]:
        rows = rows_by_name(*item)
        number = pl.Series(range(len(rows.names)), dtype=pl.Int64)
        names = pl.DataFrame({"number": number, "topic": pl.Series(rows.names, dtype=pl.String)})
        columns = {"number": rows.topic, "doc_id": rows.doc_id, "score": rows.score}
        tie = rows.doc_id if rows.position is None else pl.Series(-rows.position)
        ranked = pl.DataFrame({**columns, "tie": tie})
        ranked = ranked.sort("number", "score", "tie", descending=[False, True, True])
        ranked = ranked.with_columns(best=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("number"))
        found = ranked.filter(pl.col("best") <= last).join(names, on="number")
        return dict(zip(rows.names, rows.query_ids, strict=True)), found.select("topic", "doc_id", "best")

    tables = []
    for named, table in in_threads(first_documents, named_runs(runs).items(), processors()):
        query_ids = named | query_ids
        tables.append(table)
    if not tables:
        raise InputError("runs: expected at least one run, found none")
    pooled = pl.concat(tables).group_by("topic", "doc_id").agg(pl.col("best").min())
    if judged is not None:
        pooled = pooled.join(_judged(judged, query_ids), on=["topic", "doc_id"], how="anti")
    pooled = pooled.sort(pl.col("topic").str.len_chars(), "topic", "doc_id")
    # One number decides whether a document is drawn, another one its place.
    drawn, place = source.random((2, len(pooled)))
    stratum = 1 + np.searchsorted([*ends], pooled["best"].to_numpy())
    share = np.array([0.0, *ends.values()])[stratum]
    found = pooled.with_columns(
        stratum=pl.Series(stratum), share=pl.Series(share), drawn=pl.Series(drawn), place=pl.Series(place)
    )
    of_stratum = ["topic", "stratum"]
    size = pl.len().over(of_stratum)
    number = ((pl.col("share") * size).round(9) + 0.5).floor().clip(lower_bound=_FEWEST)
    number = pl.min_horizontal(number, size)
    found = found.with_columns(
        iprob=number / size, sampled=pl.col("drawn").rank("ordinal").over(of_stratum) <= number
    )
    found = found.sort(pl.col("topic").str.len_chars(), "topic", "place")
    result = pd.DataFrame(
        {
            "query_id": [query_ids[name] for name in found["topic"].to_list()],
            "doc_id": found["doc_id"].to_list(),
            "stratum": found["stratum"].to_numpy(),
            "iprob": found["iprob"].to_numpy(),
        }
    ).astype({"doc_id": str})
    if strata is not None:
        result["relevance"] = pd.array([None if drawn else -1 for drawn in found["sampled"]], dtype="Int64")
    return result


def _strata(depth: int | None, judged: Any, strata: Any) -> dict[int, float]:
    """Return the share of documents to judge by the last rank of each stratum, ascending."""
    if (depth is None) == (strata is None):
        raise ParameterError("give either depth, for example depth=100, or strata, and not both")
    if strata is None:
        assert depth is not None  # noqa: S101  # for the type checker
        return {int(depth): 1.0}
    if judged is not None:
        raise ParameterError(
            "judged and strata exclude each other: a sample of what is left of a pool has no known inclusion "
            "probabilities in the whole pool"
        )
    share = Number("", 0, 1, low_open=True).holds
    rank = partial(Number.holds, Number("", 1, OPTIONS["depth"].high, whole=True))  # type: ignore[union-attr]
    if (
        not isinstance(strata, Mapping)
        or not strata
        or not all(map(rank, strata))
        or not all(map(share, strata.values()))
    ):
        raise ParameterError(
            f"strata={short_repr(strata)} must map the last rank of each stratum, a whole number >= 1, to "
            "the share of its documents to judge, above 0 and at most 1, as in {5: 1, 20: 0.2, 100: 0.05}"
        )
    return {int(end): float(strata[end]) for end in sorted(strata)}


def _judged(judged: Any, query_ids: Mapping[str, Any]) -> pl.DataFrame:
    """Return topics and documents with a level of at least 0."""
    import polars as pl

    qrels = prepare_qrels(judged)
    if qrels.names and query_ids and query_ids.keys().isdisjoint(qrels.names):
        raise NoSharedTopicsError(
            f"judged and the runs share no topic: judged has {format_ids(sorted(qrels.names))}, the runs "
            f"have {format_ids(sorted(query_ids))}"
        )
    levels = qrels.levels
    kept = np.flatnonzero(levels.values[levels.level_index] >= LOWEST_JUDGED)
    topic, doc_ids = np.array(qrels.names, dtype=object)[levels.topic[kept]], qrels.doc_ids
    columns = {"topic": topic.tolist(), "doc_id": [doc_ids[at] for at in kept.tolist()]}
    return pl.DataFrame(columns, schema={"topic": pl.String, "doc_id": pl.String})


@dataclass(frozen=True, eq=False, repr=False)
class CollectionStatistics(Result):
    """Numbers of documents per topic of a collection.

    Attributes:
        topics: number of topics.
        levels: the relevant levels, highest first.
        non_relevant: judged documents per topic that are not relevant, N; shape ``(topics,)``.
        relevant: relevant documents per topic, R.
        of_level: documents per topic of each relevant level, shape ``(levels, topics)``.
        retrieved: number of documents that each run retrieved for each topic, shape ``(runs, topics)``; None
            without runs.
    """

    topics: int
    levels: Floats
    non_relevant: Ints
    relevant: Ints
    of_level: Ints
    retrieved: Ints | None

    def to_frame(self) -> pd.DataFrame:
        """Return rows N, R, ``level ...`` and, with runs, ``depth of N runs``, by mean, min, max and topics.

        ``topics`` is the number of topics with such documents; for a depth, the number of topics for which at
        least one run retrieved documents.
        """
        import pandas as pd

        rows = {"N": self.non_relevant, "R": self.relevant}
        rows |= {f"level {level:g}": counts for level, counts in zip(self.levels, self.of_level, strict=True)}
        if self.retrieved is not None:
            count = len(self.retrieved)
            rows[f"depth of {count} run{'' if count == 1 else 's'}"] = self.retrieved
        table = {
            name: (counts.mean(), counts.min(), counts.max(), np.atleast_2d(counts).any(axis=0).sum())
            for name, counts in rows.items()
        }
        return pd.DataFrame.from_dict(table, orient="index", columns=["mean", "min", "max", "topics"])


@statistic()
def collection_statistics(qrels: Any, runs: Any = None, *, rel: float = 1) -> CollectionStatistics:
    """Count judged and relevant documents per topic, and the depth of runs.

    Args:
        qrels: qrels in any form of ``evaluate``.
        runs: runs in any form of ``evaluate``; None for no runs.
        rel: the smallest relevant level. Levels below 0 count as unjudged.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run and the qrels have no topic in common.
        InputError: qrels or runs cannot be read.
        ParameterError: ``rel`` is not a finite number.

    Source: Sakai and Robertson (2008), Table 3.

    Example:
        >>> import ir_graded
        >>> ir_graded.collection_statistics(ir_graded.sample().qrels).to_frame().round(2)
                   mean  min  max  topics
        N        211.30  106  298      30
        R         78.40   26  202      30
        level 2   41.23    5  126      30
        level 1   37.17    2   97      30
    """
    request = Request(None, qrels, runs)
    levels, topics = request.judgments.levels, len(request.judgments.names)
    of_level = np.zeros((levels.values.size, topics), dtype=np.int64)
    np.add.at(of_level, (levels.level_index, levels.topic), 1)
    relevant = levels.values >= rel
    depths = [] if runs is None else request.match(lambda matched: matched.judged.n_retrieved, np.inf)
    return CollectionStatistics(
        topics=topics,
        levels=levels.values[relevant][::-1].copy(),
        non_relevant=of_level[~relevant & (levels.values >= 0)].sum(axis=0),
        relevant=of_level[relevant].sum(axis=0),
        of_level=of_level[relevant][::-1].copy(),
        retrieved=None if runs is None else np.stack([*depths]),
    )
