"""Judgments of a collection: ``pool``, what to judge next, and ``collection_statistics``, what there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result
from ir_graded._utils.threads import in_threads, processors
from ir_graded.core.facets import INCLUSION, STRATUM
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, NoSharedTopicsError, ParameterError, format_ids, short_repr
from ir_graded.evaluation.coverage import LOWEST_JUDGED
from ir_graded.evaluation.evaluate import Request
from ir_graded.io.sources import Source, named_runs
from ir_graded.matching.match import prepare_qrels, rows_by_name
from ir_graded.meta.options import DEEPEST, Number, Seed, generator, statistic
from ir_graded.meta.topics import weights_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


#: Number of documents that a stratum needs for a standard error, and fewest of a topic with ``limit``.
_FEWEST = 2
#: Probabilities this close to the largest one, relatively, are equal to it up to rounding.
_EQUAL = 1e-12


@statistic()
def pool(
    runs: Any,
    depth: int | None = None,
    *,
    judged: Any = None,
    strata: Mapping[int, float] | None = None,
    limit: int | None = None,
    weights: Any = None,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Return the documents that runs retrieved, down to a depth or a sample of them, in random order.

    The depth-k pool has the documents at ranks 1 to k of any run. With ``strata`` only a sample of it is to
    be judged: a stratum holds the documents of a topic whose best rank in any run lies in a range. Of its N
    documents, ``n = min(N, max(2, floor(share * N + 1/2)))`` are drawn without replacement; two, since a
    single one gives no standard error. The inclusion probability is n/N.

    With ``limit``, documents are drawn from all that the runs retrieved, for ``score_estimates``. Each topic
    gets at least two, and numbers in proportion to its weight (Sainte-Lague). Of a topic, n documents are
    drawn by systematic sampling in random order, with ``pi = min(c, n * s / sum of s)``, where s is the
    square root of the sum of 1/rank over runs; what exceeds c goes to the others. Without judged documents, c
    is 1.

    If J of the N documents of a topic are judged, with inclusion probabilities q, n are drawn from the other
    ones, and both draws are averaged: the estimate from the first, with the share ``a``, and that which takes
    the judged documents as certain and the others from the new draw::

        a = J (N - J - n) / ((J + n) (N - J)), or 0 where all q are 1
        iprob = 1 / (1 + a (1 / q - 1)) of a judged document, pi / (1 - a) of a new one; c = 1 - a

    Sums weighted by 1/iprob are unbiased, and so is their variance as ``score_estimates`` computes it, for
    independent draws. In a uniform draw, iprob is (J + n) / N. The judged documents must be drawn from what
    the same runs retrieved; with other runs, or where they were chosen in another way, set their iprob to 1.

    Args:
        runs: one or several runs in any form of ``evaluate``; of passages, each document counts once.
        depth: last rank in the pool; give it, ``strata`` or ``limit``.
        judged: qrels whose documents are left out, in any form of ``evaluate``. Levels below 0 count as not
            judged. Topics without judgments are in the pool. With ``limit`` they need the column ``iprob``.
        strata: share of the documents to judge by the last rank of each stratum, for example
            ``{5: 1, 20: 0.2, 100: 0.05}`` for ranks 1-5, 6-20 and 21-100.
        limit: number of documents to draw at random, with known inclusion probabilities; all that are left
            where there are fewer.
        weights: with ``limit``, weights of the topics, such as their traffic, as for ``meta.differences``;
            equal without them. A topic of weight 0 gets no document.
        rng: a seed or a generator. A seed gives the same result with any order of topics, documents and runs.

    Returns:
        Columns query_id, doc_id, stratum (from 1) and iprob, the inclusion probability (both 1 without
        ``strata``), sorted by topic and shuffled within a topic, as assessors must not see ranks. With
        ``strata`` also relevance: -1 where a document is not to be judged, else missing. Once it is filled
        in, these are qrels of the sample. With ``limit`` query_id, doc_id, iprob and relevance: missing for
        documents to judge, which come first in a topic; the judged ones follow with their new iprob.

    Raises:
        ParameterError: not exactly one of ``depth``, ``strata`` and ``limit`` is given, ``judged`` is given
            with ``strata``, ``weights`` without ``limit``, ``limit`` is too small for two documents of each
            topic, or an option is out of range.
        NoSharedTopicsError: ``judged`` has topics, but none of the runs.
        InputError: a run, ``judged`` or the weights cannot be read; with ``limit``, ``judged`` has no iprob,
            strata with iprob below 1, or a document with iprob below 1 that no run retrieved.

    Source:
        Sparck Jones and van Rijsbergen, "Report on the Need for and Provision of an 'Ideal' Information
        Retrieval Test Collection" (1975); strata: Yilmaz, Kanoulas and Aslam (SIGIR 2008). Probabilities by
        ranks: Pavlu and Aslam, "A Practical Sampling Strategy for Efficient Retrieval Evaluation" (2007);
        the root of the sum of 1/rank and the average of two draws are of this package.

    Example:
        >>> import ir_graded
        >>> run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
        >>> ir_graded.pool(run, 2, judged={"1": {"a": 1}})
          query_id doc_id  stratum  iprob
        0        1      b        1    1.0
        >>> ir_graded.pool(run, limit=2).round(3)
          query_id doc_id  iprob  relevance
        0        1      c  0.505       <NA>
        1        1      a  0.875       <NA>
    """
    import pandas as pd
    import polars as pl

    ends = _strata(depth, judged, strata, limit)
    if weights is not None and limit is None:
        raise ParameterError("weights are shares of a limit: give limit, for example limit=100, too")
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
    # In an order, so that sums do not depend on that of the runs.
    rank = pl.col("best").sort()
    pooled = pl.concat(tables).group_by("topic", "doc_id").agg(rank.min(), size=(1 / rank).sum().sqrt())
    pooled = pooled.sort(pl.col("topic").str.len_chars(), "topic", "doc_id")
    known = _judged(judged, query_ids, pooled, limit)
    if limit is not None:
        return _drawn(pooled, known, query_ids, limit, weights, source)
    pooled = pooled.join(known, on=["topic", "doc_id"], how="anti", maintain_order="left")
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


def _strata(depth: int | None, judged: Any, strata: Any, limit: int | None) -> dict[int, float]:
    """Return the share of documents to judge by the last rank of each stratum, ascending."""
    if sum(one is not None for one in (depth, strata, limit)) != 1:
        raise ParameterError("give one of depth, for example depth=100, strata and limit, and no other")
    if strata is None:
        return {int(depth or DEEPEST): 1.0}
    if judged is not None:
        raise ParameterError(
            "judged and strata exclude each other: a sample of what is left of a pool has no known inclusion "
            "probabilities in the whole pool"
        )
    share = Number("", 0, 1, low_open=True).holds
    rank = partial(Number.holds, Number("", 1, DEEPEST, whole=True))
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


def _judged(
    judged: Any, query_ids: Mapping[str, Any], pooled: pl.DataFrame, limit: int | None
) -> pl.DataFrame:
    """Return topic, doc_id, level and iprob (1 without ``limit``) of documents with a level of at least 0."""
    import polars as pl

    schema = {"topic": pl.String, "doc_id": pl.String, "level": pl.Float64, "iprob": pl.Float64}
    if judged is None:
        return pl.DataFrame(schema=schema)
    qrels = prepare_qrels(judged, () if limit is None else (INCLUSION, STRATUM))
    if qrels.names and query_ids and query_ids.keys().isdisjoint(qrels.names):
        raise NoSharedTopicsError(
            f"judged and the runs share no topic: judged has {format_ids(sorted(qrels.names))}, the runs "
            f"have {format_ids(sorted(query_ids))}"
        )
    levels = qrels.levels
    level = levels.values[levels.level_index]
    kept = np.flatnonzero(level >= LOWEST_JUDGED)
    topic, doc_ids = np.array(qrels.names, dtype=object)[levels.topic[kept]], qrels.doc_ids
    iprob = levels.further.get(INCLUSION.name)
    if limit is not None and kept.size and iprob is None:
        hint = "where the documents were certain to be judged, it is 1"
        raise InputError(INCLUSION.refusal("judged with limit", "qrels", hint))
    columns = {"topic": topic.tolist(), "doc_id": [doc_ids[at] for at in kept.tolist()], "level": level[kept]}
    found = pl.DataFrame({**columns, "iprob": np.ones(kept.size) if iprob is None else iprob[kept]}, schema)
    sampled = found.filter(pl.col("iprob") < 1)
    if len(sampled) and STRATUM.name in levels.further:
        raise InputError(
            "judged: a sample of strata ends at the last rank of its strata, but limit draws from all that "
            "the runs retrieved; set iprob to 1 to take its documents as certain"
        )
    if len(odd := sampled.join(pooled, on=["topic", "doc_id"], how="anti", maintain_order="left")):
        one = odd.row(0, named=True)
        raise InputError(
            f"judged: document {one['doc_id']!r} of topic {one['topic']!r} has iprob {one['iprob']:g}, but "
            "no run retrieved it; give the runs that the sample was drawn from, or set iprob to 1 to take "
            "its documents as certain"
        )
    return found


def _drawn(
    pooled: pl.DataFrame,
    judged: pl.DataFrame,
    query_ids: Mapping[str, Any],
    limit: int,
    weights: Any,
    source: np.random.Generator,
) -> pd.DataFrame:
    """Return a draw of the documents that are left, and the judged ones, with probabilities of both draws."""
    import pandas as pd
    import polars as pl

    # The same seed must not repeat the numbers of an earlier draw.
    source = np.random.default_rng([int(source.integers(2**63)), len(judged)])
    key = ["topic", "doc_id"]
    names = pooled["topic"].unique(maintain_order=True)
    weight = weights_of([query_ids[name] for name in names], weights)
    topics = pl.DataFrame({"topic": names, "at": np.arange(len(names)), "weight": weight})
    left = pooled.join(judged, on=key, how="anti", maintain_order="left")
    left = left.join(topics, on="topic", maintain_order="left")
    known = judged.join(topics, on="topic", how="left", maintain_order="left")
    of_run = known.drop_nulls("at")
    J, sampled, rest = (
        np.bincount(one["at"], minlength=len(names))
        for one in (of_run, of_run.filter(pl.col("iprob") < 1), left)
    )
    left = left.filter(pl.col("weight") > 0).with_columns(number=pl.int_range(pl.len()).over("topic"))
    at, number, size = (left[name].to_numpy() for name in ("at", "number", "size"))
    if limit < (least := np.count_nonzero(number < _FEWEST)):
        raise ParameterError(
            f"limit={limit} must be at least {least}: {_FEWEST} documents of each topic, or all that are "
            "left of it; weights of 0 leave topics out"
        )
    # The next document goes to the topic of the largest quotient; chance decides between equal ones.
    quotient = np.where(number < _FEWEST, np.inf, weight[at] / (number + 0.5))
    n = np.bincount(at[np.lexsort((source.random(len(names))[at], -quotient))[:limit]], minlength=len(names))
    a = np.where(sampled > 0, J * (rest - n) / np.maximum((J + n) * rest, 1), 0.0)
    iprob = np.zeros(at.size)
    for topic in np.flatnonzero(n):
        start, end = np.searchsorted(at, [topic, topic + 1])
        mixed = start + source.permutation(end - start)
        pi = _probabilities(size[mixed], n[topic], 1 - a[topic])
        # Points at a distance of 1 from a random start; each document is as long as its probability.
        ends = np.append(np.cumsum(pi)[:-1], n[topic]) - source.random()
        drawn = np.diff(np.ceil(ends).clip(0), prepend=0) > 0
        iprob[mixed[drawn]] = np.minimum(pi[drawn] / (1 - a[topic]), 1)
    place, level = pl.Series(source.random(at.size)), pl.lit(None, pl.Float64)
    new = left.select(*key, iprob=pl.Series(iprob), level=level, place=place).filter(pl.col("iprob") > 0)
    share = pl.Series(np.append(a, 0.0)[known["at"].fill_null(len(names))])
    # Judged documents follow those to judge.
    together = 1 / (1 + share * (1 / pl.col("iprob") - 1))
    old = known.select(*key, iprob=together, level="level", place=pl.lit(1.0))
    found = pl.concat([new, old]).sort(pl.col("topic").str.len_chars(), "topic", "place", "doc_id")
    whole = (found["level"].drop_nulls() % 1 == 0).all()
    return pd.DataFrame(
        {
            "query_id": [query_ids.get(name, name) for name in found["topic"]],
            "doc_id": found["doc_id"].to_list(),
            "iprob": found["iprob"].to_numpy(),
            "relevance": pd.array(found["level"].to_list(), dtype="Int64" if whole else "Float64"),
        }
    ).astype({"doc_id": str})


def _probabilities(size: Floats, n: int, most: float) -> Floats:
    """Return probabilities in proportion to sizes that sum to n, none above ``most``."""
    full = np.zeros(size.size, dtype=bool)
    while True:
        rest = (n - most * np.count_nonzero(full)) / size.sum(where=~full) if not full.all() else 0.0
        pi = np.where(full, most, rest * size)
        if not (above := ~full & (pi >= most * (1 - _EQUAL))).any():
            return pi
        full |= above


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
