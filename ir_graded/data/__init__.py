"""Sample data shipped with the package: TREC-COVID round 1, real qrels and 20 runs.

Only data whose licence permits redistribution may be added, with its source in ``SOURCE.txt``.
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_QRELS = "trec-covid-round1-qrels.txt.xz"
_RUNS = "trec-covid-round1-runs.tsv.xz"


@dataclass(frozen=True, eq=False)
class Sample:
    """Qrels and runs of a collection.

    Attributes:
        qrels: frame of query_id, doc_id, relevance (0, 1, 2).
        runs: run name to frame of query_id, doc_id, score.
        source: source and licence of the data.
    """

    qrels: pd.DataFrame
    runs: dict[str, pd.DataFrame]
    source: str

    def __repr__(self) -> str:
        topics = self.qrels["query_id"].nunique()
        return f"Sample({topics} topics, {len(self.runs)} runs: {', '.join(self.runs)})"


def sample() -> Sample:
    """Return TREC-COVID round 1: 30 topics, graded qrels, and 20 runs of 20 teams to depth 1,000.

    The original scores are not included, only the order: the score at rank n is -n.

    Example:
        >>> import ir_graded
        >>> covid = ir_graded.sample()
        >>> len(covid.runs), covid.qrels["query_id"].nunique()
        (20, 30)
    """
    import pandas as pd

    runs: dict[str, dict[str, list[str]]] = {}
    for line in _lines(_RUNS):
        name, query_id, docs = line.split("\t")
        runs.setdefault(name, {})[query_id] = docs.split(" ")
    qrels = pd.DataFrame(
        [(topic, doc, int(level)) for topic, _, doc, level in map(str.split, _lines(_QRELS))],
        columns=["query_id", "doc_id", "relevance"],
    )
    source = files(__package__).joinpath("SOURCE.txt").read_text(encoding="utf-8")
    return Sample(qrels, {name: _frame(topics) for name, topics in runs.items()}, source)


def _frame(topics: dict[str, list[str]]) -> pd.DataFrame:
    import pandas as pd

    lengths = [len(docs) for docs in topics.values()]
    return pd.DataFrame(
        {
            "query_id": np.repeat(np.array(list(topics), dtype=object), lengths),
            "doc_id": [doc for docs in topics.values() for doc in docs],
            "score": -np.concatenate([np.arange(1.0, length + 1) for length in lengths]),
        }
    )


def _lines(name: str) -> list[str]:
    return lzma.decompress(files(__package__).joinpath(name).read_bytes()).decode().strip().split("\n")
