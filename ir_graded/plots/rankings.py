"""Plot of two rankings of a topic, and the colours of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import style

if TYPE_CHECKING:
    from .style import Axes, Figure, RankingPair

#: Colours of levels from the lowest to the highest, which differ in grey, too.
_RAMP = ((0xE6, 0xE8, 0xEC), (0x4F, 0xA5, 0x99), (0x06, 0x45, 0x3F))
_ROW_HEIGHT = 0.17
_MARGIN = 1.0  # of title and axis, in inches
_PATCH = {"facecolor": "white", "linewidth": 0, "pad": 0.5}
#: Inner and outer side of the squares of the second list.
_INNER, _OUTER = 0.75, 1.0


def level_colours(levels: Sequence[float]) -> dict[float, str]:
    """Return a colour for each of some ascending levels, from pale grey to dark green."""
    places = np.linspace(0, len(_RAMP) - 1, max(len(levels), 2))
    channels = np.array(
        [np.interp(places, range(len(_RAMP)), channel) for channel in zip(*_RAMP, strict=True)]
    )
    return {
        level: "#" + "".join(f"{round(one):02x}" for one in channels[:, at].tolist())
        for at, level in enumerate(levels)
    }


def rankings(pair: RankingPair, measure: int = 0, ax: Axes | None = None) -> Figure:
    """Draw two rankings of a topic side by side, with lines between equal documents.

    Squares have the colour of the level, and are hatched for unjudged documents. Bars at both sides are the
    contributions to the score. A number beside a square is the rank in the other list, if it is below the
    depth.

    Args:
        pair: result of ``compare_rankings``.
        measure: position of the measure whose contributions are drawn.
        ax: axes to draw into; by default a new figure.
    """
    colours, name = level_colours(pair.levels), style.label(pair.measures[measure])
    keys = [*(f"level {level:g}" for level in colours), "unjudged"]
    height = _MARGIN + _ROW_HEIGHT * max(int(pair.rank.max(initial=1)), 5)
    added = np.nan_to_num(pair.contribution[measure])
    most = float(np.abs(added).max(initial=0.0)) or 1.0
    style.matplotlib()
    from matplotlib.patches import Patch

    with style.canvas(ax, keys, height) as axes:
        looks = [*((pair.level == level, colour, "") for level, colour in colours.items())]
        looks.append((np.isnan(pair.level), "white", "//////"))
        for number, side in enumerate((-1, 1)):
            mine = pair.run == number
            where = (side * _INNER, side * _OUTER)
            for has, colour, hatch in looks:
                axes.barh(
                    pair.rank[mine & has],
                    where[1] - where[0],
                    0.8,
                    left=where[0],
                    color=colour,
                    edgecolor="0.4",
                    hatch=hatch,
                    linewidth=0.5,
                )
            axes.barh(
                pair.rank[mine],
                side * added[mine] / most,
                0.5,
                left=side * (_OUTER + 0.08),
                color=style.COLOURS[number],
            )
            for row in np.flatnonzero(mine & (pair.other_rank > pair.depth)).tolist():
                align = "left" if side < 0 else "right"
                place = side * (_INNER - 0.05), pair.rank[row]
                axes.text(
                    *place,
                    str(pair.other_rank[row]),
                    ha=align,
                    va="center",
                    color="0.4",
                    fontsize="x-small",
                    bbox=_PATCH,
                )
        for row in np.flatnonzero(
            (pair.run == 0) & (pair.other_rank > 0) & (pair.other_rank <= pair.depth)
        ).tolist():
            ends = (pair.rank[row], pair.other_rank[row])
            colour = "0.25" if pair.level[row] > 0 else "0.75"
            axes.plot((-_INNER, _INNER), ends, color=colour, linewidth=0.7, zorder=1)
        edge = _OUTER + 0.08
        axes.set_xticks([-edge - 1, -edge, edge, edge + 1], [f"{most:.3g}", "0", "0", f"{most:.3g}"])
        axes.set(xlim=(-edge - 1.1, edge + 1.1), ylim=(max(pair.rank.max(initial=1), 5) + 0.6, 0.4))
        axes.set_yticks(np.unique(np.append(1, np.arange(5, pair.rank.max(initial=1) + 1, 5))))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set(xlabel=f"contribution to {name}", ylabel="rank")
        for side, run, score in zip((-1, 1), pair.runs, pair.scores[measure].tolist(), strict=True):
            axes.annotate(
                f"{style.label(run, 22)}\n{score:.4f}",
                (side * (edge + 0.3), 1),
                (0, 4),
                axes.get_xaxis_transform(),
                "offset points",
                ha="center",
                fontsize="small",
            )
        handles = [
            Patch(facecolor=one, edgecolor="0.4", hatch=hatch, linewidth=0.5) for _, one, hatch in looks
        ]
        style.legend(axes, ax is None, (handles, keys))
        axes.set_title(f"topic {style.label(pair.query_id, 10)}", pad=26)
    return style.figure_of(axes)
