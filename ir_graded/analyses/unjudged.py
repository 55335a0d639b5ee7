"""What leaves scores open: unjudged documents, and ``ties``, documents with equal scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.results import Result, read_only
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.views import Views
from ir_graded.errors import ParameterError, short_repr
from ir_graded.evaluation.coverage import LOWEST_JUDGED, mean_of_known, ratio, unjudged_share
from ir_graded.evaluation.evaluate import Request
from ir_graded.evaluation.provider import scorers_here
from ir_graded.evaluation.scores import Scores
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun
from ir_graded.measures.base import GradedMeasure, aggregate
from ir_graded.measures.classic.ties import takes_ties, with_ties
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.options import statistic

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.io.sources import Source
    from ir_graded.plots.style import Axes, Figure


DEPTHS = (5, 10, 20, 50, 100, 1000)


@dataclass(frozen=True, eq=False, repr=False)
class Unjudged(Result):
    """Shares of unjudged documents of several runs.

    Attributes:
        runs: names of the runs, in the given order.
        depths: the depths, in the given order.
        query_ids: the topics, in the order of the qrels.
        topic_share: unjudged share of the documents that a run retrieved down to a depth, shape
            ``(runs, depths, topics)``; NaN if the run retrieved nothing for the topic.
        by_rank: share of topics whose document at rank 1, 2, ... is unjudged, among topics with a document at
            that rank; shape ``(runs, ranks)`` down to the largest depth or the longest run, NaN below the end
            of a run.
    """

    runs: tuple[str, ...]
    depths: tuple[int, ...]
    query_ids: tuple[Any, ...]
    topic_share: Floats
    by_rank: Floats

    @cached_property
    def share(self) -> Floats:
        """Mean of ``topic_share`` over the topics with retrieved documents, shape ``(runs, depths)``."""
        return read_only(mean_of_known(self.topic_share))

    def to_frame(self) -> pd.DataFrame:
        """Return the mean share of unjudged documents: a row per run, a column per depth."""
        import pandas as pd

        return pd.DataFrame(self.share, self.runs, pd.Index(self.depths, name="depth")).rename_axis("run")

    def rank_frame(self) -> pd.DataFrame:
        """Return the share of topics whose document is unjudged: a row per run, a column per rank."""
        import pandas as pd

        ranks = pd.RangeIndex(1, self.by_rank.shape[1] + 1, name="rank")
        return pd.DataFrame(self.by_rank.copy(), self.runs, ranks).rename_axis("run")

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the shares over the ranks into ``ax`` or a new figure."""
        from ir_graded.plots.scores import unjudged as draw

        return draw(self, ax)


def unjudged(qrels: Any, runs: Any, *, depths: Iterable[int] = DEPTHS) -> Unjudged:
    """Compute the share of unjudged documents among the retrieved, down to each depth and at each rank.

    If j of the n documents that a run retrieved for a topic down to the depth are judged, the share of the
    topic is ``1 - j / n``. Documents with a level >= 0 in the qrels of the topic are judged, as for
    ``judged_only``: TREC uses negative levels for documents that were not assessed. Judged@k of ir-measures
    counts these as judged; without negative levels the share of a topic is ``1 - Judged@k``. Topics for which
    a run retrieved nothing are left out of its means (Judged counts them as 0).

    Args:
        qrels: qrels in any form of ``evaluate``.
        runs: one or several runs in any form of ``evaluate``.
        depths: distinct ranks down to which shares are computed.

    Returns:
        Shares in [0, 1]; runs with passages are evaluated article by article.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run and the qrels have no topic in common.
        InputError: the qrels or a run cannot be scored.
        ParameterError: ``depths`` is empty, or has duplicates or values that are not whole numbers >= 1.

    Source:
        Judged: MacAvaney, OpenNIR (WSDM 2020); condensed lists: Sakai, "Alternatives to Bpref" (SIGIR 2007).

    Example:
        >>> qrels = {"1": {"a": 1, "b": 0, "c": -1}}
        >>> run = {"1": {"a": 5.0, "x": 4.0, "c": 3.0, "b": 2.0}}
        >>> found = unjudged(qrels, run, depths=[1, 2, 4])
        >>> found.to_frame()
        depth    1    2    4
        run
        run    0.0  0.5  0.5
        >>> found.by_rank
        array([[0., 1., 1., 0.]])
    """
    wanted = _checked(depths)
    request = Request(None, qrels, runs)
    shares = request.match(lambda run: unjudged_shares(request, run, wanted), LOWEST_JUDGED)
    return collect(request, wanted, shares)


#: Shares of one run: of each topic down to each depth, and of all topics at each rank.
RunShares = tuple[Floats, Floats]


def collect(request: Request, depths: Ints, shares: Iterable[RunShares]) -> Unjudged:
    """Collect the shares of the runs of a request."""
    topic_share, by_rank = zip(*shares, strict=True)
    ranks = max(at_rank.size for at_rank in by_rank)
    padded = [np.append(at_rank, np.full(ranks - at_rank.size, np.nan)) for at_rank in by_rank]
    names, query_ids = tuple(request.runs), tuple(request.judgments.query_ids)
    return Unjudged(names, tuple(depths.tolist()), query_ids, np.array(topic_share), np.array(padded))


def _checked(depths: Any) -> Ints:
    given = list(depths) if isinstance(depths, Iterable) and not isinstance(depths, str) else []
    whole = [
        isinstance(one, (int, np.integer)) and not isinstance(one, bool) and 1 <= one < 2**63 for one in given
    ]
    if not given or not all(whole) or len(set(given)) < len(given):
        raise ParameterError(
            f"depths={short_repr(depths)} must be one or more whole numbers >= 1 and < 2**63, each once"
        )
    return np.array(given, dtype=np.int64)


def unjudged_shares(request: Request, matched: MatchedRun, depths: Ints) -> RunShares:
    """Return the shares of unjudged documents of a run that was matched down to the lowest judged level."""
    judged = matched.judged.from_level(request.judgments.levels, LOWEST_JUDGED)
    topics = judged.n_retrieved.size
    deepest = int(np.minimum(judged.n_retrieved, depths.max()).max(initial=0))
    at_rank = np.bincount(judged.rank[judged.rank <= deepest], minlength=deepest + 1)[1:]
    ends = np.bincount(np.minimum(judged.n_retrieved, deepest), minlength=deepest + 1)
    reaching = topics - np.cumsum(ends)[:-1]
    return unjudged_share(judged, depths), ratio(reaching - at_rank, reaching)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreBounds(Result):
    """The lowest and the highest scores that judging all retrieved documents could give.

    Attributes:
        scores: the scores, as in ``evaluate``.
        lower: lowest scores, with no gain for unjudged documents: the current scores; shape ``(measures,
            runs, topics)``.
        upper: highest scores, with the best level for each unjudged document.
    """

    scores: Scores
    lower: Floats
    upper: Floats

    @property
    def residual(self) -> Floats:
        """``upper - lower``, with the same shape."""
        return np.asarray(self.upper - self.lower)

    def to_frame(self) -> pd.DataFrame:
        """Return columns run, query_id, measure (its printed name), lower, upper and residual."""
        columns = {"lower": self.lower, "upper": self.upper, "residual": self.residual}
        return self.scores.frame_of(columns)

    def mean(self) -> pd.DataFrame:
        """Aggregates over the topics: a row per run, best first; per measure lower, upper and residual."""
        lower, upper = map(self.scores.aggregates_of, (self.lower, self.upper))
        return self.scores.mean_frame_of({"lower": lower, "upper": upper, "residual": upper - lower})


def score_bounds(measures: Iterable[str | Measure] | str | Measure, qrels: Any, runs: Any) -> ScoreBounds:
    """Compute exact bounds of scores over all possible judgments of the unjudged documents of the runs.

    Use it for a guarantee: no judgment whatever moves a score out of its bounds. They are wide, and exist for
    few measures. For the likely range, with most measures, use ``score_intervals``; if the judged documents
    are a random sample of the pool, use ``score_estimates``.

    The lower bound is the current score: unjudged documents have no gain. For the upper bound, each unjudged
    document has the level with the largest gain on the scale (``max_rel``; 4 for ERR). Levels below 0 count
    as unjudged. Ranks below the end of a run stay empty, except for gRBP, RBP, SDCG and INSQ, whose users
    continue there.

    Args:
        measures: gRBP, iRBU, and ir-measures' RBP, SDCG, INSQ, NERR8 to NERR11, ERR, P, Success, RR,
            NumRet(rel=1), SetP. Their scores rise with every gain, and do not use the number of relevant
            documents or an ideal list.
        qrels: qrels in any form of ``evaluate``.
        runs: one or several runs in any form of ``evaluate``.

    Returns:
        Bounds for each measure, run and topic, in the units of the measure.

    Raises:
        ParameterError: a measure has no such bounds; use ``score_intervals`` instead.
        NoSharedTopicsError, InputError, ValueError, NameError: as for ``evaluate``.

    Source:
        Moffat and Zobel, "Rank-Biased Precision for Measurement of Retrieval Effectiveness" (ACM TOIS, 2008).

    Example:
        >>> import ir_graded
        >>> qrels = {"1": {"a": 1, "b": 2, "c": 3}}
        >>> run = {"1": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}}
        >>> ir_graded.score_bounds(["gRBP(p=0.8)", "P@3"], qrels, run).to_frame().round(3)
           run query_id      measure  lower  upper  residual
        0  run        1  gRBP(p=0.8)  0.152  0.824     0.672
        1  run        1          P@3  0.667  1.000     0.333
    """
    wanted = scorers_here(read_measures(measures), "score_bounds", "passages columns strata ties")
    if without := [str(measure) for measure, scorer in wanted.items() if not scorer.is_monotone]:
        raise ParameterError(
            f"{', '.join(without)}: exact bounds require a score that rises with every gain and depends on "
            "retrieved documents only; use ir_graded.score_intervals to estimate intervals for other measures"
        )
    request = Request([*wanted], qrels, runs)
    levels = request.judgments.levels
    best = {scorer: scorer.best_levels(levels) for scorer in wanted.values()}

    def highest(matched: MatchedRun) -> list[Floats]:
        judged = matched.judged.from_level(levels, LOWEST_JUDGED)
        filled = {level: with_all_judged(levels, judged, level) for level in set(chain(*best.values()))}
        upper = []
        for scorer, candidates in best.items():
            below = scorer.below(judged.n_retrieved)
            scores = [scorer.score(filled[level]) + (below if level > 0 else 0.0) for level in candidates]
            upper.append(np.max(scores, axis=0))
        return upper

    scores, upper = request.scores(highest, LOWEST_JUDGED, rows=False)
    return ScoreBounds(scores, scores.values, np.array(upper).swapaxes(0, 1))


def with_all_judged(levels: Levels, judged: JudgedRun, level: float) -> Views:
    """Return views of a run in which each unjudged document has a level; the qrels hold what it retrieved."""
    begin = np.cumsum(judged.n_retrieved) - judged.n_retrieved
    topic = np.repeat(np.arange(levels.topics, dtype=np.int64), judged.n_retrieved)
    document = np.arange(topic.size, dtype=np.int64)
    values = np.union1d(levels.values, [level])
    level_index = np.full(topic.size, np.searchsorted(values, level), dtype=np.int64)
    at = begin[judged.topic] + judged.rank - 1
    level_index[at] = np.searchsorted(values, levels.values)[judged.level_index]
    everything = JudgedRun(topic, document - begin[topic] + 1, level_index, document, judged.n_retrieved)
    return Views(Levels(levels.topics, topic, level_index, values), everything)


#: Scores that differ by no more than this are equal.
_ROUNDING = 1e-12
_ORDERS = ("pessimistic", "expected", "optimistic")


@statistic()
def ties(measures: Iterable[str | Measure] | str | Measure, qrels: Any, runs: Any) -> pd.DataFrame:
    """Measure how much the scores of runs depend on the order of documents with equal scores.

    Args:
        measures: measures of this package and classics that it computes.
        qrels: qrels in any form of ``evaluate``.
        runs: one or several runs in any form of ``evaluate``.

    Returns:
        A row per run and measure with the columns

        - ``run``, ``measure``;
        - ``tied_share``: share of the documents retrieved that tie with another one of their topic;
        - ``topics_share``: share of the topics in which the optimistic and the pessimistic score differ;
        - ``largest_range``: the largest difference of these two scores in a topic;
        - ``pessimistic``, ``expected``, ``optimistic``: means over the topics. The first and the last order
          documents by level, which gives the extremes of most, but not all, measures.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run and the qrels have no topic in common.
        InputError: the qrels or a run cannot be scored.
        ParameterError: a measure is not computed here, it has no mean over the orders, or none is given.

    Example:
        >>> import ir_graded
        >>> qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0, "c": 0.0}}
        >>> ir_graded.ties("RR", qrels, run).T
                              0
        run                 run
        measure              RR
        tied_share     0.666667
        topics_share        1.0
        largest_range       0.5
        pessimistic         0.5
        expected           0.75
        optimistic          1.0
    """
    import pandas as pd

    wanted = [*scorers_here(read_measures(measures), "ties")]
    for measure in wanted:
        takes = measure.SUPPORTED_PARAMS if isinstance(measure, GradedMeasure) else ("ties",)
        if "ties" in takes and not takes_ties(measure):
            raise ParameterError(
                f"{measure}: ties compares the pessimistic, the expected and the optimistic score, and this "
                "measure lacks one of them; evaluate(..., ties=...) takes those that it has"
            )
    request = Request([with_ties(measure, order) for measure in wanted for order in _ORDERS], qrels, runs)

    def score(matched: MatchedRun) -> tuple[float, dict[Measure, Floats]]:
        scores = request.evaluator.scores_of(matched.judged, matched.run)
        return tied_share(request.judgments, matched.run), scores

    rows = []
    for name, (share, scores) in zip(request.runs, request.match(score, request.lowest), strict=True):
        for measure, differences in zip(wanted, ranges(wanted, scores), strict=True):
            of_order = {order: scores[with_ties(measure, order)] for order in _ORDERS}
            rows.append(
                {
                    "run": name,
                    "measure": str(measure),
                    "tied_share": share,
                    "topics_share": float((differences > _ROUNDING).mean()),
                    "largest_range": float(differences.max()),
                    **{order: aggregate(measure, values) for order, values in of_order.items()},
                }
            )
    return pd.DataFrame(rows)


def ranges(measures: Iterable[Measure], scores: Mapping[Measure, Floats]) -> list[Floats]:
    """Return for each measure the difference of the optimistic and the pessimistic score of each topic."""
    return [
        np.abs(scores[with_ties(measure, "optimistic")] - scores[with_ties(measure, "pessimistic")])
        for measure in measures
    ]


def tied_share(judgments: Judgments, run: Source) -> float:
    """Return the share of documents of a run that tie with another one, on topics of the qrels, else NaN."""
    import polars as pl

    from ir_graded.matching.articles import one_row_an_article

    table = one_row_an_article(run.table(judgments.number))
    # -0.0 becomes 0.0.
    rows = pl.DataFrame({"topic": table.query_id, "score": table.value + 0.0})
    size = rows.filter(pl.col("topic").is_in(judgments.names)).group_by("topic", "score").len()["len"]
    return float(ratio(size.filter(size > 1).sum(), size.sum()))
