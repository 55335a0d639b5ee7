"""``score_bounds``: the lowest and highest scores that judging all documents could give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.results import Result
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats
from ir_graded.core.views import Views
from ir_graded.errors import ParameterError
from ir_graded.io.sources import named_runs
from ir_graded.matching.match import MatchedRun
from ir_graded.measures.parsing import read_measures

from .coverage import LOWEST_JUDGED
from .evaluate import Evaluation, ScoredRun
from .scores import Scores

if TYPE_CHECKING:
    import pandas as pd


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

    The lower bound is the current score: unjudged documents have no gain. For the upper bound, each unjudged
    document has the level with the largest gain on the scale (``max_rel``; 4 for ERR). Levels below 0 count
    as unjudged. Ranks below the end of a run stay empty, except for gRBP and RBP, whose users continue there.

    Args:
        measures: gRBP, iRBU, and ir-measures' RBP, ERR, P, Success, RR, NumRet(rel=1), SetP. Their scores
            rise with every gain, and do not use the number of relevant documents or an ideal list.
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
    evaluation = Evaluation(read_measures(measures), qrels)
    scorers = evaluation.scorers("score_bounds")
    levels = evaluation.judgments.levels
    without = [str(m) for m, s in zip(evaluation.measures, scorers, strict=True) if not s.is_monotone]
    if without:
        raise ParameterError(
            f"{', '.join(without)}: exact bounds require a score that rises with every gain and depends on "
            "retrieved documents only; use ir_graded.score_intervals to estimate intervals for other measures"
        )
    best = [scorer.best_levels(levels) for scorer in scorers]

    def bounds(matched: MatchedRun) -> tuple[ScoredRun, list[Floats]]:
        judged = matched.judged.from_level(levels, LOWEST_JUDGED)
        filled = {level: with_all_judged(levels, judged, level) for level in set(chain(*best))}
        upper = []
        for scorer, candidates in zip(scorers, best, strict=True):
            below = scorer.below(judged.n_retrieved)
            scores = [scorer.score(filled[level]) + (below if level > 0 else 0.0) for level in candidates]
            upper.append(np.max(scores, axis=0))
        return evaluation.score(matched), upper

    named = named_runs(runs)
    found = evaluation.match(named, min(evaluation.lowest, LOWEST_JUDGED), bounds)
    scored, upper = zip(*found, strict=True)
    scores = evaluation.scores(named, scored)
    return ScoreBounds(scores, scores.values, np.array(upper).swapaxes(0, 1))


def with_all_judged(levels: Levels, judged: JudgedRun, level: float) -> Views:
    """Return views of a run in which each unjudged document has a level.

    Args:
        levels: the judgments.
        judged: the judged documents that the run retrieved.
        level: the level of all other documents. The qrels of these views have retrieved documents only.
    """
    begin = np.cumsum(judged.n_retrieved) - judged.n_retrieved
    topic = np.repeat(np.arange(levels.topics, dtype=np.int64), judged.n_retrieved)
    document = np.arange(topic.size, dtype=np.int64)
    values = np.union1d(levels.values, [level])
    level_index = np.full(topic.size, np.searchsorted(values, level), dtype=np.int64)
    at = begin[judged.topic] + judged.rank - 1
    level_index[at] = np.searchsorted(values, levels.values)[judged.level_index]
    everything = JudgedRun(topic, document - begin[topic] + 1, level_index, document, judged.n_retrieved)
    return Views(Levels(levels.topics, topic, level_index, values), everything)
