"""Score matrices, topics x systems, checked once: all methods take them in this form."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..segments import Floats

#: Fewer topics or systems than this cannot be compared.
_FEWEST = 2


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of systems on topics by one measure.

    Attributes:
        values: the scores, shape ``(topics, systems)``, float64.
        topics: names of the rows.
        systems: names of the columns.
    """

    values: Floats
    topics: tuple[Hashable, ...]
    systems: tuple[Hashable, ...]

    @classmethod
    def of(cls, scores: Any, name: str = "scores") -> ScoreMatrix:
        """A matrix from a topics x systems DataFrame or anything that ``np.asarray`` takes.

        Args:
            scores: the matrix; without names, topics and systems are numbered from 0.
            name: what to call it in messages.

        Raises:
            InputError: it is no matrix of numbers, has fewer than two topics or systems, holds a NaN or
                an infinite score, or a name stands twice.
        """
        try:
            values = np.array(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{name}: expected a topics x systems matrix of numbers") from None
        if values.ndim != 2:  # noqa: PLR2004  # rows and columns
            raise InputError(f"{name}: expected a topics x systems matrix, found {values.ndim} dimensions")
        named = hasattr(scores, "index") and hasattr(scores, "columns")
        topics = tuple(scores.index if named else range(values.shape[0]))
        systems = tuple(scores.columns if named else range(values.shape[1]))
        matrix = cls(values, topics, systems)
        matrix._check(name)
        return matrix

    def _check(self, name: str) -> None:
        for kind, names in (("topic", self.topics), ("system", self.systems)):
            if len(names) < _FEWEST:
                raise InputError(f"{name}: at least {_FEWEST} {kind}s are needed, found {len(names)}")
            if len(set(names)) < len(names):
                twice = next(one for one in names if names.count(one) > 1)
                raise InputError(f"{name}: {kind} {twice!r} stands twice")
        wrong = ~np.isfinite(self.values)
        if wrong.any():
            topic, system = (int(place[0]) for place in np.nonzero(wrong))
            raise InputError(
                f"{name}: topic {self.topics[topic]!r}, system {self.systems[system]!r}: "
                f"the score is {self.values[topic, system]}"
            )

    def aligned(self, other: ScoreMatrix, name: str) -> ScoreMatrix:
        """This matrix with rows and columns in the order of another. Raises InputError where names differ."""
        rows = _order("topic", self.topics, other.topics, name)
        columns = _order("system", self.systems, other.systems, name)
        return ScoreMatrix(self.values[np.ix_(rows, columns)], other.topics, other.systems)


def _order(kind: str, own: tuple[Hashable, ...], wanted: tuple[Hashable, ...], name: str) -> list[int]:
    differing = set(own) ^ set(wanted)
    if differing:
        one = min(differing, key=str)
        where = "only in it" if one in set(own) else "missing in it"
        raise InputError(f"{name}: {kind}s differ from those of the other measures: {one!r} is {where}")
    place = {one: number for number, one in enumerate(own)}
    return [place[one] for one in wanted]


def by_measure(scores: Any) -> dict[str, ScoreMatrix]:
    """One matrix per measure over the same topics and systems.

    Args:
        scores: what ``ir_graded.evaluate`` gives, or a mapping from measure (name or object) to matrix.
            Topics and systems in another order are aligned by name.

    Raises:
        InputError: there is no measure, a matrix is wrong, or topics or systems differ.
    """
    if hasattr(scores, "matrix") and hasattr(scores, "names"):
        scores = {name: scores.matrix(name) for name in scores.names}
    if not isinstance(scores, Mapping) or not scores:
        raise InputError("expected Scores from evaluate, or a mapping from measures to score matrices")
    matrices = {str(measure): ScoreMatrix.of(matrix, str(measure)) for measure, matrix in scores.items()}
    first = next(iter(matrices.values()))
    return {name: matrix.aligned(first, name) for name, matrix in matrices.items()}
