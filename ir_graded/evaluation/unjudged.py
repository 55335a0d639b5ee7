"""``unjudged``: the share of unjudged documents of runs, down to depths and at each rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.arrays import read_only
from ir_graded._utils.short_reprs import ShortRepr
from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import ParameterError, short_repr
from ir_graded.io.named_runs import named_runs
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, match_runs, prepare_qrels

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure

DEPTHS = (5, 10, 20, 50, 100, 1000)
#: Documents with this level or a higher one count as judged; a negative level marks an unjudged document.
LOWEST_JUDGED = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Unjudged(ShortRepr):
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

    @property
    def share(self) -> Floats:
        """Mean of ``topic_share`` over the topics with retrieved documents, shape ``(runs, depths)``."""
        return mean_of_known(self.topic_share)

    def to_frame(self) -> pd.DataFrame:
        """Return the mean share of unjudged documents: a row per run, a column per depth."""
        import pandas as pd

        columns = pd.Index(self.depths, name="depth")
        return pd.DataFrame(self.share, index=pd.Index(self.runs, name="run"), columns=columns)

    def rank_frame(self) -> pd.DataFrame:
        """Return the share of topics whose document is unjudged: a row per run, a column per rank."""
        import pandas as pd

        columns = pd.RangeIndex(1, self.by_rank.shape[1] + 1, name="rank")
        return pd.DataFrame(self.by_rank.copy(), index=pd.Index(self.runs, name="run"), columns=columns)

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
    judgments = prepare_qrels(qrels)
    judgments.require_topics("look at")
    named = named_runs(runs)
    shares = match_runs(judgments, named, LOWEST_JUDGED, lambda run: unjudged_shares(judgments, run, wanted))
    return collect(judgments, named, wanted, shares)


#: Shares of one run: of each topic down to each depth, and of all topics at each rank.
RunShares = tuple[Floats, Floats]


def collect(judgments: Judgments, runs: Iterable[str], depths: Ints, shares: Iterable[RunShares]) -> Unjudged:
    """Collect the shares of several runs, given their names."""
    topic_share, by_rank = zip(*shares, strict=True)
    ranks = max(at_rank.size for at_rank in by_rank)
    padded = [np.append(at_rank, np.full(ranks - at_rank.size, np.nan)) for at_rank in by_rank]
    return Unjudged(
        tuple(runs),
        tuple(depths.tolist()),
        tuple(judgments.query_ids),
        read_only(np.array(topic_share)),
        read_only(np.array(padded)),
    )


def _checked(depths: Any) -> Ints:
    given = list(depths) if isinstance(depths, Iterable) and not isinstance(depths, str) else [None]
    whole = [
        isinstance(one, (int, np.integer)) and not isinstance(one, bool) and 1 <= one < 2**63 for one in given
    ]
    if not given or not all(whole) or len(set(given)) < len(given):
        raise ParameterError(
            f"depths={short_repr(depths)} must be one or more whole numbers >= 1 and < 2**63, each once"
        )
    return np.array(given, dtype=np.int64)


def unjudged_shares(judgments: Judgments, matched: MatchedRun, depths: Ints) -> RunShares:
    """Return the shares of unjudged documents of a run that was matched down to the lowest judged level."""
    judged = matched.judged.from_level(judgments.levels, LOWEST_JUDGED)
    topics = judged.n_retrieved.size
    deepest = int(np.minimum(judged.n_retrieved, depths.max()).max(initial=0))
    at_rank = np.bincount(judged.rank[judged.rank <= deepest], minlength=deepest + 1)[1:]
    ends = np.bincount(np.minimum(judged.n_retrieved, deepest), minlength=deepest + 1)
    reaching = topics - np.cumsum(ends)[:-1]
    return unjudged_share(judged, depths), ratio(reaching - at_rank, reaching)


def unjudged_share(judged_run: JudgedRun, depths: Ints) -> Floats:
    """Return the unjudged share of the documents of each topic down to each depth.

    Args:
        judged_run: the judged documents that a run retrieved.
        depths: the depths, each at least 1.

    Returns:
        Shape ``(depths, topics)``; NaN if the run retrieved nothing for the topic.
    """
    topics = judged_run.n_retrieved.size
    judged = np.array(
        [segments.count(judged_run.topic[judged_run.rank <= depth], topics) for depth in depths]
    )
    retrieved = np.minimum(judged_run.n_retrieved, depths[:, np.newaxis])
    return ratio(retrieved - judged, retrieved)


def ratio(part: Any, whole: Any) -> Floats:
    """Return part / whole; NaN if the whole is 0."""
    nothing = np.full(np.shape(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=nothing, where=np.asarray(whole) > 0))


def mean_of_known(values: Floats) -> Floats:
    """Return the mean over the last axis, ignoring NaN."""
    known = ~np.isnan(values)
    return ratio(segments.exact_sum(np.where(known, values, 0.0)), known.sum(axis=-1))
