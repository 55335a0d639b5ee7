"""``collection_statistics``: numbers of judged and relevant documents per topic, as in papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Floats, Ints
from ir_graded.meta.options import statistic

from .evaluate import Request

if TYPE_CHECKING:
    import pandas as pd


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
