"""Plots of one article of a run as a strip: highlighted text, retrieved text, and their overlap.

Figures are drawn with matplotlib. Notebooks show an SVG image that needs no library and labels each span.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from ir_graded.errors import ParameterError

from .style import PAGE_WIDTH, check_axes, figure_of, matplotlib

if TYPE_CHECKING:
    from .style import Axes, Figure

#: The spans of each lane by its name: (start, stop).
Lanes: TypeAlias = Mapping[str, Sequence[tuple[int, int]]]

_AXIS = "position in the article"
_MIN_LINE_WIDTH = 0.5  # points, even for a span of one character
_HEIGHT = 1.7  # inches


#: Fill, edge and hatch of each lane, in the colour-blind safe colours of Okabe and Ito.
_STYLES = {
    "highlighted": ("#E69F00", "#E69F00", None),
    "overlap": ("#000000", "#000000", None),
    "retrieved": ("#56B4E9", "#0072B2", "////"),
}


def draw(lanes: Lanes, extent: int, title: tuple[str, str], ax: Axes | None = None) -> Figure:
    """Draw the strip with matplotlib, into rectilinear axes."""
    matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    if ax is None:
        ax = Figure(figsize=(PAGE_WIDTH, _HEIGHT), layout="constrained").subplots()
    check_axes(ax)
    if ax.name != "rectilinear":
        raise ParameterError(f"ax={ax!r} must be rectilinear: a strip lies along its x axis")
    end = max(extent, 1)
    for y, (name, spans) in enumerate(lanes.items()):
        fill, edge, hatch = _STYLES[name]
        ax.broken_barh([(0, end)], (y - 0.4, 0.8), facecolor="0.95")
        ax.broken_barh(
            [(start, stop - start) for start, stop in spans],
            (y - 0.4, 0.8),
            facecolor=fill,
            edgecolor=edge,
            hatch=hatch,
            linewidth=_MIN_LINE_WIDTH,
            clip_on=False,
        )
    ax.set_yticks(range(len(_STYLES)), list(_STYLES))
    ax.set(ylim=(len(_STYLES) - 0.4, -0.6), xlim=(0, end))
    room = ax.get_window_extent().width / ax.figure.dpi * 72
    ax.xaxis.set_major_locator(MaxNLocator(_max_ticks(room, end), steps=[1, 2, 2.5, 5, 10], integer=True))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.tick_params(labelsize="small")
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.set_xlabel(_AXIS, fontsize="small")
    # Do not read ids as formulas.
    ax.set_title("\n".join(title).replace("$", r"\$"), fontsize="small", usetex=False, wrap=True)
    return figure_of(ax)


def html(lanes: Lanes, extent: int, title: tuple[str, str], description: str) -> str:
    """Return the strip as a self-contained SVG image; a tooltip shows the position of each span."""
    end = max(extent, 1)
    left, wide, high = 90, 600, 18  # of the lanes
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(description)}" '
        f'viewBox="0 0 720 150" style="width:100%;max-width:720px;background:#fff" '
        f'font-family="sans-serif" font-size="12" fill="#222">',
        f'<text x="8" y="16">{escape(title[0])}</text>',
        f'<text x="8" y="33">{escape(title[1])}</text>',
    ]
    for row, (name, spans) in enumerate(lanes.items()):
        y = 44 + row * (high + 4)
        parts.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{name}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{wide}" height="{high}" fill="#eee"/>')
        for start, stop in spans:
            width = max((stop - start) / end * wide, 1)
            parts.append(
                f'<rect x="{left + start / end * wide:.2f}" y="{y}" width="{width:.2f}" height="{high}" '
                f'fill="{_STYLES[name][1]}"><title>{start:,} to {stop:,}</title></rect>'
            )
    step = _tick_step(end, _max_ticks(wide, end))
    for tick in range(0, end + 1, step):
        x = f"{left + tick / end * wide:.2f}"
        parts.append(f'<path d="M{x} 110v4" stroke="#222"/>')
        parts.append(f'<text x="{x}" y="126" text-anchor="middle">{tick:,}</text>')
    parts.append(f'<text x="{left + wide / 2}" y="143" text-anchor="middle">{_AXIS}</text></svg>')
    return "".join(parts)


def _max_ticks(room: float, end: int) -> int:
    """Return the number of labelled intervals up to ``end`` that fit into ``room`` points."""
    return max(1, min(6, int(room / (5 * len(f"{end:,}") + 10))))


def _tick_step(end: int, most: int) -> int:
    """Return the smallest step of 1, 2, 5, 10, 20, ... with at most ``most`` ticks up to ``end``."""
    power = 1
    while end > 5 * power * most:
        power *= 10
    return next(step for step in (power, 2 * power, 5 * power) if end <= step * most)
