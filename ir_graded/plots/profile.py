"""Plot of a measure on one topic: where users stop, and the utility of the list down to that rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import style

if TYPE_CHECKING:
    from .drawable import TopicProfile
    from .style import Axes, Figure

_MAX_TITLE_LENGTH = 44
#: Width of the lines down to the axis, in points; many lines are thinner.
_WIDTH = 3.0
_MANY = 40
_BARS, _LINE = style.COLOURS[0], style.COLOURS[1]


def profile(explanation: TopicProfile, ax: Axes | None = None) -> Figure:
    """Plot stop distribution (left axis) and utility (right axis) over the ranks of relevant documents.

    For measures without a stop distribution, contributions are shown instead, and the blended ratio, if they
    have it, instead of the utility.

    Args:
        explanation: result of ``explain``.
        ax: axes to draw into; by default a new figure.

    Raises:
        GradedError: matplotlib is not installed.
        ParameterError: ``ax`` is not a matplotlib Axes.

    Source: Sakai and Robertson, "Modelling A User Population for Designing Information Retrieval Metrics"
        (EVIA 2008).
    """
    columns = explanation.columns
    bars = "stop" if "stop" in columns else "contribution"
    points = next((name for name in ("utility", "BR", "gP") if name in columns), None)
    named = [_NAMES[name] for name in (bars, points) if name is not None]
    with style.canvas(ax, named) as axes:
        rank = columns["rank"]
        deepest = int(rank.max(initial=1))
        width = _WIDTH * min(1.0, _MANY / max(rank.size, 1))
        handles: list[Any] = [
            axes.vlines(rank, 0, columns[bars], color=_BARS, linewidth=width, label=named[0])
        ]
        axes.set_xlabel("rank")
        axes.set_ylabel(named[0])
        style.format_rank_axis(axes, deepest)
        axes.set_ylim(0, 1.08 * float(columns[bars].max(initial=0.0)) or 1.0)
        if points is not None:
            right = axes.twinx()
            handles += right.plot(
                rank,
                columns[points],
                label=named[1],
                color=_LINE,
                linestyle=(0, (4, 1.6)),
                linewidth=0.9,
                marker="o",
                markerfacecolor="white",
                markeredgewidth=0.8,
            )
            right.set_ylim(0, 1.08)
            right.set_ylabel(named[1])
            right.spines["right"].set_visible(True)
        if not rank.size:
            axes.text(0.5, 0.5, "no document counts", transform=axes.transAxes, ha="center", va="center")
        axes.set_title(
            f"{style.label(explanation.measure, _MAX_TITLE_LENGTH - 10)}, "
            f"topic {style.label(explanation.query_id, 10)}"
        )
        _draw_legend(axes, handles, named, own_figure=ax is None)
    return style.figure_of(axes)


_NAMES = {
    "stop": "stop probability",
    "contribution": "contribution",
    "utility": "utility",
    "BR": "blended ratio",
    "gP": "gP",
}


def _draw_legend(axes: Axes, handles: list[Any], names: list[str], *, own_figure: bool) -> None:
    """Draw the legend below the axes, because there is another axis on the right."""
    if own_figure:
        style.legend(axes, own_figure, (handles, names))
    else:
        axes.legend(
            handles,
            names,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.22),
            ncols=len(names),
            frameon=False,
            handlelength=3.0,
        )
