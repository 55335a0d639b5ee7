"""``ties``: the range of scores over orders of documents with equal scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.segments import Floats
from ir_graded.errors import ParameterError
from ir_graded.evaluation.coverage import ratio
from ir_graded.evaluation.evaluate import Request
from ir_graded.evaluation.provider import scorers_here
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, table_of_run
from ir_graded.measures.base import GradedMeasure, aggregate
from ir_graded.measures.classic.ties import takes_ties, with_ties
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.options import statistic

if TYPE_CHECKING:
    import pandas as pd

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


def tied_share(judgments: Judgments, run: Any) -> float:
    """Return the share of documents of a run that tie with another one, on topics of the qrels, else NaN."""
    import polars as pl

    from ir_graded.matching.articles import one_row_an_article

    table = one_row_an_article(table_of_run(judgments, run))
    # -0.0 becomes 0.0.
    rows = pl.DataFrame({"topic": table.query_id, "score": table.value + 0.0})
    size = rows.filter(pl.col("topic").is_in(judgments.names)).group_by("topic", "score").len()["len"]
    return float(ratio(size.filter(size > 1).sum(), size.sum()))
