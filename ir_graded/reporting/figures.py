"""Pictures of a report, each with a text alternative."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ir_graded.core.segments import exact_sum
from ir_graded.plots import scores as plots
from ir_graded.plots.style import plural
from ir_graded.plots.svg import svg

from .contents import Contents

if TYPE_CHECKING:
    from ir_graded.plots.style import Figure


@dataclass(frozen=True)
class Picture:
    """A picture for a page.

    Attributes:
        caption: text below the picture.
        alt: text alternative for screen readers.
        address: the picture as a data URI.
        width: natural width, in CSS pixels.
        height: natural height.
    """

    caption: str
    alt: str
    address: str
    width: int
    height: int

    @classmethod
    def of(cls, figure: Figure, caption: str, alt: str) -> Picture:
        """Return the picture of a figure."""
        data = b64encode(svg(figure).encode()).decode()
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        return cls(caption, alt, f"data:image/svg+xml;base64,{data}", width, height)


def of_measures(contents: Contents) -> Iterator[Picture]:
    """Yield per measure the leaderboard, and the best run by topic against the baseline or the second."""
    for at, name in enumerate(contents.intervals.measures):
        yield _leaderboard(contents, at, name)
        rivals = contents.rivals(at)
        if rivals is not None:
            yield _differences(contents, at, name, *rivals)


def of_unjudged(contents: Contents) -> Picture:
    """Return the picture of unjudged documents over the ranks."""
    found = contents.unjudged
    depth = found.depths[0]
    first = found.share[:, 0]
    alt = "Nothing was retrieved."
    if np.isfinite(first).any():
        alt = (
            f"Share of unjudged documents over the ranks of {plural(len(found.runs), 'run')}: down to rank "
            f"{depth} from {np.nanmin(first):.0%} to {np.nanmax(first):.0%}; the table holds the numbers."
        )
    return Picture.of(plots.unjudged(found), "Unjudged documents over the ranks.", alt)


def _leaderboard(contents: Contents, at: int, name: str) -> Picture:
    found = contents.intervals
    order = (-found.mean[at]).argsort(kind="stable")
    best, worst = (
        f"{found.systems[number]} with {found.mean[at, number]:.4f} "
        f"({found.low[at, number]:.4f} to {found.high[at, number]:.4f})"
        for number in (order[0], order[-1])
    )
    ends = f"the best is {best}, the last is {worst}" if len(order) > 1 else best
    intervals = f"{100 * found.level:g}% confidence intervals"
    alt = f"Means by {name} with {intervals} of {plural(len(order), 'run')}: {ends}."
    caption = f"{name}: means with {intervals}, best first."
    return Picture.of(plots.leaderboard(found, name), caption, alt)


def _differences(contents: Contents, at: int, name: str, run: str, other: str) -> Picture:
    of_run, of_other = (contents.scores.values[at, contents.scores.runs.index(one)] for one in (run, other))
    difference = of_run - of_other
    mean = exact_sum(difference) / difference.size
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    alt = (
        f"Differences in {name} by topic: {run} is better than {other} on {plural(better, 'topic')}, worse "
        f"on {worse}, equal on {difference.size - better - worse}; their mean is {mean:+.4f}."
    )
    against = "the baseline" if contents.tests is not None else "the second best"
    caption = f"{name}: {run} against {other}, {against}, topic by topic."
    return Picture.of(plots.differences(contents.scores, name, run, other), caption, alt)
