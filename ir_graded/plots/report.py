"""The figures of a report, as files for papers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from .scores import differences, leaderboard

if TYPE_CHECKING:
    from .style import Figure, MeanIntervals, ScoreTables

#: What file systems, shells or LaTeX would read in names of files.
_NOT_IN_NAMES = re.compile(r"[^\w@=-]+")


class Plotted(Protocol):
    """A result with a plot."""

    def plot(self) -> Figure: ...


def report_figures(
    scores: ScoreTables,
    intervals: MeanIntervals,
    pairs: Sequence[tuple[str, str] | None],
    more: Mapping[str, Plotted | None],
) -> dict[str, Figure]:
    """Return the figures of a report by names for files.

    Args:
        scores: scores by measure, topic and run, from which differences by topic are drawn.
        intervals: confidence intervals of the means by each measure.
        pairs: for each measure the two runs whose differences by topic are drawn; None without a second run.
        more: further results by name, such as the ranks and the unjudged documents; None for one that the
            report lacks.

    Returns:
        ``leaderboard-MEASURE`` and ``differences-MEASURE`` for each measure, and the names of ``more``.
    """
    figures: dict[str, Figure] = {}
    for measure, pair in zip(intervals.measures, pairs, strict=True):
        name = _NOT_IN_NAMES.sub("_", measure).strip("_")
        if f"leaderboard-{name}" in figures:
            name += f"-{len(figures)}"
        figures[f"leaderboard-{name}"] = leaderboard(intervals, measure)
        if pair is not None:
            figures[f"differences-{name}"] = differences(scores, measure, *pair)
    return figures | {name: result.plot() for name, result in more.items() if result is not None}
