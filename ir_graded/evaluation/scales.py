"""Warning for measures that take their scale from a part of the qrels, such as a batch of PyTerrier."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from types import FrameType
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from ir_graded.errors import MOST_IDS, CoverageWarning
from ir_graded.matching.judgments import Judgments
from ir_graded.measures.base import Scorer

from .coverage import levels_to_caller


class _Call(NamedTuple):
    """Facts of a call of ir-measures, which do not grow with its qrels.

    Attributes:
        measures: the measures that took their scale from the qrels.
        ends: the first and the last topic.
        row: label of the first row of the qrels, a pandas frame.
        highest: the highest level.
    """

    measures: frozenset[Measure]
    ends: tuple[str, str]
    row: Any
    highest: float

    def is_part_beside(self, other: _Call) -> bool:
        """Return whether the qrels of two calls may be parts of one collection.

        They have other topics, and rows of one frame have different labels.
        """
        has_other_rows = self.row != other.row and set(self.ends).isdisjoint(other.ends)
        return bool(has_other_rows) and self.measures == other.measures


#: The preceding call. No score depends on it.
_preceding: _Call | None = None


def warn_of_parts(scorers: Mapping[Measure, Scorer], judgments: Judgments, qrels: Any) -> None:
    """Warn if measures take another scale from these qrels than from other topics in the preceding call.

    Only calls of PyTerrier count. It passes pandas frames, whose labels show that they may be parts of one.

    Args:
        scorers: the measures with their scorers.
        judgments: the prepared qrels.
        qrels: the qrels as given.
    """
    global _preceding  # the batches of a tool are separate calls
    measures = [measure for measure, scorer in scorers.items() if scorer.infers_scale]
    levels = judgments.levels.values
    # Without a level above 0, all scores are 0 on any scale.
    if not measures or not hasattr(qrels, "iloc") or not levels.size or levels[-1] <= 0:
        return
    if not _is_of_pyterrier():
        return
    ends = judgments.names[0], judgments.names[-1]
    call = _Call(frozenset(measures), ends, qrels.index[0], float(levels[-1]))
    preceding, _preceding = _preceding, call
    if preceding is None or preceding.highest == call.highest or not call.is_part_beside(preceding):
        return
    low, high = sorted((preceding.highest, call.highest))
    names = ", ".join(map(str, measures[:MOST_IDS])) + (" ..." if len(measures) > MOST_IDS else "")
    takers = [measure for measure in measures if "max_rel" in measure.SUPPORTED_PARAMS]
    example = f": for example {takers[0](max_rel=high)}" if takers else " of the base measure"
    warnings.warn(
        f"{names}: the highest level of the qrels, to which gains are relative, is {low:g} in one and "
        f"{high:g} in another of two successive calls with other topics, so their scores are on different "
        "scales. If the topics are of one collection (PyTerrier's batch_size evaluates it in parts), set "
        f"the highest level of its scale with max_rel{example}",
        CoverageWarning,
        stacklevel=levels_to_caller(),
    )


def _is_of_pyterrier() -> bool:
    """Return whether PyTerrier called ir-measures, which called this package."""
    frame = sys._getframe()  # noqa: SLF001  # inspect reads source files
    while frame.f_back is not None and _package(frame) in {"ir_graded", "ir_measures"}:
        frame = frame.f_back
    return _package(frame) == "pyterrier"


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]
