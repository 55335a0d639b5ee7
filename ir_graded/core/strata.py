"""Strata of the pools of topics, of which only a sample of the documents was judged."""

from __future__ import annotations

import numpy as np

from . import segments
from .facets import STRATUM
from .levels import Levels
from .segments import Floats, Ints
from .struct import light_dataclass


@light_dataclass(frozen=True, eq=False)
class Strata:
    """The strata of all topics. All documents of the qrels are in the pool; those of a level < 0 not judged.

    Attributes:
        of: stratum of each document of the qrels, shape ``(documents,)``.
        topic: topic of each stratum, ascending, shape ``(strata,)``.
        N: number of documents of each stratum.
        n: number of judged documents of each stratum.
    """

    of: Ints
    topic: Ints
    N: Ints
    n: Ints

    @classmethod
    def of_levels(cls, levels: Levels) -> Strata:
        """Return the strata of qrels; each topic is one stratum where they name none."""

        def make() -> Strata:
            given = levels.further.get(STRATUM.name, np.zeros_like(levels.topic))
            _, first, of = np.unique(
                np.stack([levels.topic, given]), axis=1, return_index=True, return_inverse=True
            )
            of = of.reshape(-1).astype(np.int64)
            judged = (levels.values >= 0)[levels.level_index]
            counts = segments.count(of, first.size), segments.count(of[judged], first.size)
            return cls(of, levels.topic[first], *counts)

        return levels.kept("strata", make)

    @property
    def f(self) -> Floats:
        """Weight of the judged documents of each stratum: N / n, 0 where none was judged."""
        return np.divide(self.N, self.n, out=np.zeros(self.N.size), where=self.n > 0)
