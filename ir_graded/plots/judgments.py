"""Plots of two sets of judgments. Each function returns the matplotlib Figure, as in ``plots.meta``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.segments import Floats

from . import style

if TYPE_CHECKING:
    import pandas as pd

    from .style import Axes, Figure

#: Number of systems with the largest change in rank that are named.
_NAMED = 3
_COLUMNS = 3


def confusion_matrix(counts: pd.DataFrame, ax: Axes | None = None) -> Figure:
    """Plot documents by their levels in two sets: counts in the cells, shares of the row in colour.

    Args:
        counts: counts by level in the first set (rows) and the second set (columns); both axes are named.
        ax: axes to draw into; by default a new figure.

    Raises:
        GradedError: matplotlib is not installed.
    """
    values = counts.to_numpy(dtype=np.float64)
    totals = values.sum(axis=1, keepdims=True)
    shares = np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)
    with style.canvas(ax, height=style.COLUMN_WIDTH) as axes:
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
        style.annotate_cells(axes, values, shares > 0.6, "{:,.0f}".format)  # noqa: PLR2004  # darker than text
        axes.set_xticks(range(values.shape[1]), [f"{level:g}" for level in counts.columns])
        axes.set_yticks(range(values.shape[0]), [f"{level:g}" for level in counts.index])
        axes.set_xlabel(f"level in {style.label(counts.columns.name)}")
        axes.set_ylabel(f"level in {style.label(counts.index.name)}")
        axes.tick_params(length=0)
        bar = style.figure_of(axes).colorbar(image, ax=axes, shrink=0.8, pad=0.03)
        bar.set_label("share of the row")
        bar.outline.set_visible(False)
    return style.figure_of(axes)


def means_scatter(
    measures: Sequence[str], systems: Sequence[object], a: Floats, b: Floats, taus: Sequence[float]
) -> Figure:
    """Plot means of systems under two sets of judgments, one panel per measure; the largest moves are named.

    Args:
        measures: names of the measures.
        systems: names of the systems.
        a: means under the first set, shape ``(measures, systems)``.
        b: means under the second set, with the same shape.
        taus: Kendall's tau-b of each measure.

    Raises:
        GradedError: matplotlib is not installed.
    """
    columns = min(_COLUMNS, len(measures))
    rows = -(-len(measures) // columns)
    with style.panels(rows, columns, ()) as axes:
        every = np.atleast_1d(axes).reshape(-1)
        for panel, name, one, two, tau in zip(every, measures, a, b, taus, strict=False):
            _scatter(panel, one, two, systems)
            panel.set_title(f"{style.label(name)}: tau-b {tau:.2f}")
        for panel in every[len(measures) :]:
            panel.set_visible(False)
    return style.figure_of(every[0])


def _scatter(axes: Any, a: Floats, b: Floats, systems: Sequence[object]) -> None:
    """Draw the means of one measure, with the names of the systems that move most."""
    # The order of equal means does not matter: only moves are named.
    moves = (-b).argsort(kind="stable").argsort() - (-a).argsort(kind="stable").argsort()
    named = [at for at in np.argsort(-np.abs(moves), kind="stable")[:_NAMED].tolist() if moves[at]]
    ends = [min(a.min(), b.min()), max(a.max(), b.max())]
    axes.plot(ends, ends, **style.REFERENCE_LINE)
    axes.plot(a, b, linestyle="", marker="o", markersize=3, color=style.COLOURS[0], alpha=0.7)
    axes.plot(a[named], b[named], linestyle="", marker="s", markersize=4, color=style.COLOURS[1])
    # In the corner, where there are no points, in the order of their heights.
    for place, at in enumerate(sorted(named, key=lambda at: b[at])):
        axes.annotate(
            f"{style.label(systems[at], 18)} ({-moves[at]:+d})",
            (a[at], b[at]),
            xytext=(0.99, 0.04 + 0.08 * place),
            textcoords="axes fraction",
            ha="right",
            fontsize="x-small",
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "relpos": (0, 0.5)},
        )
    axes.set_xlabel("mean under a")
    axes.set_ylabel("mean under b")
