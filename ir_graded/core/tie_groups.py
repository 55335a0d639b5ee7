"""Tie groups: documents of one topic that have the same score in a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .segments import Bools, Ints


@dataclass(frozen=True, eq=False)
class TieGroups:
    """The tie group of each of some documents.

    Attributes:
        first: the first rank of the group, from 1.
        tied: number of documents in the group, judged or not.
    """

    first: Ints
    tied: Ints

    def part(self, wanted: Ints | Bools) -> TieGroups:
        """Return the tie groups of some of the documents."""
        return TieGroups(self.first[wanted], self.tied[wanted])

    @classmethod
    def concat(cls, parts: Iterable[tuple[Ints, TieGroups | None]]) -> TieGroups | None:
        """Concatenate the tie groups of parts of a run, given with the ranks of their documents.

        A part without ties is given as None. The result is None if no part has ties.
        """
        given = list(parts)
        if all(ties is None for _, ties in given):
            return None
        whole = [ties or cls(rank, np.ones_like(rank)) for rank, ties in given]
        return cls(
            np.concatenate([ties.first for ties in whole]), np.concatenate([ties.tied for ties in whole])
        )
