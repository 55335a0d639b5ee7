"""Plots of the meta-evaluation. Each function returns the matplotlib Figure.

Without ``ax``, functions create a new figure that is as wide as one column of a two-column paper and does not
belong to pyplot. Save it with ``figure.savefig("name.pdf")``, widen it with ``figure.set_size_inches(7, 3)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError

from . import style

if TYPE_CHECKING:
    import pandas as pd

    from .style import Axes, Figure


#: Results of a statistic by measure; ``plots`` never imports their types.
Results = Mapping[str, Any]

#: Visible part of an ASL curve, in multiples of alpha: up to .15 at .05, as in Sakai (2006).
_MAX_ALPHAS = 3
_MARKERS_PER_LINE = 8
_MAX_LABELS = 24
_MAX_ANNOTATED = 10
_DARK = "#0B3C5D"
_LIGHT = "#E8EEF2"


def asl_curve(results: Results, ax: Axes | None = None) -> Figure:
    """Plot the achieved significance levels of all pairs of systems in descending order, with alpha.

    The lower a curve, the more pairs the measure tells apart. ASLs up to three times alpha are shown.

    Source: Sakai (2006), Figures 2 and 3.
    """
    with _curves(results, ax, "pairs of systems, by ASL", "achieved significance level") as (axes, curves):
        alphas = {float(result.alpha) for result in results.values()}
        top = _MAX_ALPHAS * max(alphas)
        _draw_reference_lines(axes, alphas)
        axes.set_ylim(0, top)
        for number, (result, line) in enumerate(curves):
            curve = np.asarray(result.curve, dtype=np.float64).reshape(-1)
            begin = int(np.count_nonzero(curve > top))
            end = max(begin + 1, int(np.count_nonzero(curve > 0)))
            stop = min(end, len(curve))
            # A few markers from begin to stop, those of each measure shifted by a share of their distance.
            step = (stop - begin) / _MARKERS_PER_LINE
            shifted = [begin + (at + number / len(results)) * step for at in range(_MARKERS_PER_LINE)]
            markers = sorted({min(stop - 1, int(at)) for at in shifted})
            axes.plot(np.arange(1, len(curve) + 1), curve, markevery=markers, **line)
    return style.figure_of(axes)


def significance_matrix(significant: pd.DataFrame, asl: pd.DataFrame, ax: Axes | None = None) -> Figure:
    """Plot which systems (rows) are significantly better than which (columns), best system first.

    Source: Kamps et al. (2007).
    """
    better = significant.to_numpy(dtype=bool)
    names = list(significant.index)
    legend = ["significantly better", "not significant"]
    with _cells(ax, names, legend) as axes:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        axes.imshow(better, cmap=ListedColormap([_LIGHT, _DARK]), vmin=0, vmax=1, aspect="equal")
        if len(names) <= _MAX_ANNOTATED:
            # Not np.array, which returns the result without a copy with pandas 2.2 and numpy 2.
            levels = asl.to_numpy(dtype=np.float64, copy=True)
            np.fill_diagonal(levels, np.nan)
            style.annotate_cells(axes, levels, better, _two_decimals)
        _label_cells(axes, names)
        axes.set(xlabel="system, from best to worst", ylabel="system, from best to worst")
        patches = [Patch(facecolor=colour, edgecolor="0.4", linewidth=0.5) for colour in (_DARK, _LIGHT)]
        style.legend(axes, ax is None, (patches, legend))
    return style.figure_of(axes)


def stability_curves(results: Results, ax: Axes | None = None) -> Figure:
    """Plot minority rate against proportion of ties, one point per fuzziness value; lower left is best.

    Source: Buckley and Voorhees (2000); in this form Sakai (2007).
    """
    with _curves(results, ax, "proportion of ties", "minority rate") as (axes, curves):
        for result, line in curves:
            axes.plot(result.proportion_of_ties, result.minority_rate, **line)
        axes.set_ylim(bottom=0)
    return style.figure_of(axes)


def swap_curves(results: Results, ax: Axes | None = None) -> Figure:
    """Plot the swap rate against the difference between two systems, with the tolerated rate.

    Each point is at the lower edge of its bin; empty bins have no point.

    Source: Voorhees and Buckley (2002); Sakai (2006).
    """
    with _curves(results, ax, "difference of means (lower edge of bin)", "swap rate") as (axes, curves):
        _draw_reference_lines(axes, {result.max_rate for result in results.values()})
        for number, (result, line) in enumerate(curves):
            some = result.observations > 0
            axes.plot(result.lower[some], result.rate[some], markevery=(number % 2, 2), **line)
        axes.set_ylim(bottom=0)
    return style.figure_of(axes)


def tau_heat_map(taus: pd.DataFrame, *, tied: bool, ax: Axes | None = None) -> Figure:
    """Plot Kendall's tau of all pairs of measures in colour, with numbers for up to ten measures."""
    return _heat_map(taus, "Kendall's tau-b" if tied else "Kendall's tau", ax)


def overlap_heat_map(overlap: pd.DataFrame, label: str = "mean RBO", ax: Axes | None = None) -> Figure:
    """Plot the rank-biased overlap of all pairs of runs in colour, with numbers for up to ten runs."""
    return _heat_map(overlap, label, ax)


def _heat_map(pairs: pd.DataFrame, label: str, ax: Axes | None) -> Figure:
    """Plot values up to 1 of all pairs, from the tenth below the lowest."""
    values = pairs.to_numpy(dtype=np.float64)
    names = list(pairs.index)
    with _cells(ax, names) as axes:
        lowest = float(np.nanmin(values, initial=1.0))
        bottom = min(np.floor(lowest * 10) / 10, 0.9)
        image = axes.imshow(values, cmap="Blues", vmin=bottom, vmax=1, aspect="equal")
        if len(names) <= _MAX_ANNOTATED:
            style.annotate_cells(axes, values, values > bottom + 0.65 * (1 - bottom), _two_decimals)
        _label_cells(axes, names)
        _draw_colour_bar(axes, image, label)
    return style.figure_of(axes)


def comparison(
    power: Results, stability: Results, swap: Results, taus: pd.DataFrame, *, tied: bool
) -> Figure:
    """Plot ASL curves, stability, swap rates and rank correlations of measures in one figure."""
    names = _cell_labels(list(taus.index))
    below = _SMALL_CHARACTER_WIDTH * max(map(len, names)) / 2  # the heat map is in one row of two
    with style.in_style():
        figure = style.new_figure(style.PAGE_WIDTH, 2 * (style.HEIGHT + below), map(style.label, power))
        (one, two), (three, four) = figure.subplots(2, 2)
        asl_curve(power, one)
        stability_curves(stability, two)
        swap_curves(swap, three)
        tau_heat_map(taus, tied=tied, ax=four)
        style.share_legend((one, two, three))
    return figure


def topic_set_sizes(results: Results, ax: Axes | None = None) -> Figure:
    """Plot the number of topics against the difference that they detect, on logarithmic axes.

    The present numbers of topics are dashed lines.

    Source: Sakai (2016).
    """
    with _curves(results, ax, "difference of means", "topics needed") as (axes, curves):
        for number, (result, line) in enumerate(curves):
            axes.plot(*result.curve(), markevery=(2 * number % 6, 6), **line)
        _draw_reference_lines(axes, {one.present for one in results.values() if one.present})
    from matplotlib.ticker import LogLocator, NullLocator

    axes.autoscale(axis="x")
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    return style.figure_of(axes)


@contextmanager
def _curves(
    results: Results, ax: Axes | None, x: str, y: str
) -> Iterator[tuple[Axes, list[tuple[Any, dict[str, Any]]]]]:
    """Yield axes with a legend, and each result with the options of its line."""
    if not results:
        raise InputError("there is no result to draw")
    labels = [style.label(name) for name in results]
    with style.canvas(ax, labels) as axes:
        lines = ({"label": label, **style.line_style(number)} for number, label in enumerate(labels))
        yield axes, list(zip(results.values(), lines, strict=True))
        axes.set_xlim(left=0)
        axes.set(xlabel=x, ylabel=y)


def _draw_reference_lines(axes: Axes, heights: Iterable[float]) -> None:
    for height in heights:
        axes.axhline(height, **style.REFERENCE_LINE)


def _draw_colour_bar(axes: Axes, image: Any, label: str) -> None:
    bar = style.figure_of(axes).colorbar(image, ax=axes, shrink=0.8, pad=0.03, label=label)
    bar.outline.set_visible(False)


def _two_decimals(value: float) -> str:
    """Format a number with two decimals and without a leading zero, such as ``.47``, and ``1`` for one."""
    return f"{value:.2f}".replace("0.", ".", 1).replace("1.00", "1")


_MANY_LABELS = 14
_LONG_LABEL = 14
_MAX_LABEL_LENGTH = 28
_SMALL_FONT = 6.0  # points
_SMALL_CHARACTER_WIDTH = 0.06  # width of a character of this size, in inches


def _cells(
    ax: Axes | None, names: Sequence[object], legend: Iterable[str] = ()
) -> AbstractContextManager[Axes]:
    """Return square axes, wider than a column for many or long names."""
    side = style.MIDDLE_WIDTH if _are_small(_cell_labels(names)) else style.COLUMN_WIDTH
    return style.canvas(ax, legend, side, side)


def _label_cells(axes: Axes, names: Sequence[object]) -> None:
    """Write names along both axes, as many as are readable."""
    shown = _cell_labels(names)
    places = range(0, len(names), _label_step(names))
    axes.set_xticks(places, shown, rotation=90)
    axes.set_yticks(places, shown)
    axes.tick_params(length=0)
    if _are_small(shown):
        axes.tick_params(labelsize=_SMALL_FONT)
    axes.spines[:].set_visible(False)


def _are_small(labels: Sequence[str]) -> bool:
    """Return whether labels are so many or long that they need smaller type."""
    return len(labels) > _MANY_LABELS or max(map(len, labels)) > _LONG_LABEL


def _cell_labels(names: Sequence[object]) -> list[str]:
    return [style.label(name, _MAX_LABEL_LENGTH) for name in names[:: _label_step(names)]]


def _label_step(names: Sequence[object]) -> int:
    return -(-len(names) // _MAX_LABELS)


#: Number of systems with the largest change in rank that are named.
_NAMED = 3
_COLUMNS = 3


def confusion_matrix(counts: pd.DataFrame, ax: Axes | None = None) -> Figure:
    """Plot documents by their levels in two sets: counts in the cells, shares of the row in colour."""
    values = counts.to_numpy(dtype=np.float64)
    totals = values.sum(axis=1, keepdims=True)
    shares = np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)
    with style.canvas(ax, height=style.COLUMN_WIDTH) as axes:
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
        style.annotate_cells(axes, values, shares > 0.6, "{:,.0f}".format)  # noqa: PLR2004  # darker than text
        axes.set_xticks(range(values.shape[1]), [f"{level:g}" for level in counts.columns])
        axes.set_yticks(range(values.shape[0]), [f"{level:g}" for level in counts.index])
        other, own = (style.label(each.name) for each in (counts.columns, counts.index))
        axes.set(xlabel=f"level in {other}", ylabel=f"level in {own}")
        axes.tick_params(length=0)
        _draw_colour_bar(axes, image, "share of the row")
    return style.figure_of(axes)


def means_scatter(
    measures: Sequence[str], runs: Sequence[object], a: Floats, b: Floats, taus: Sequence[float]
) -> Figure:
    """Plot means of runs under two sets of judgments, one panel per measure; the largest moves are named."""
    columns = min(_COLUMNS, len(measures))
    rows = -(-len(measures) // columns)
    with style.in_style():
        figure = style.new_figure(style.PAGE_WIDTH, rows * style.HEIGHT)
        every = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, name, one, two, tau in zip(every, measures, a, b, taus, strict=False):
            # The order of equal means does not matter: only moves are named.
            moves = (-two).argsort(kind="stable").argsort() - (-one).argsort(kind="stable").argsort()
            named = [at for at in np.argsort(-np.abs(moves), kind="stable")[:_NAMED].tolist() if moves[at]]
            ends = [min(one.min(), two.min()), max(one.max(), two.max())]
            panel.plot(ends, ends, **style.REFERENCE_LINE)
            panel.plot(one, two, linestyle="", marker="o", markersize=3, color=style.COLOURS[0], alpha=0.7)
            panel.plot(one[named], two[named], linestyle="", marker="s", markersize=4, color=style.COLOURS[1])
            # In the corner, where there are no points, in the order of their heights.
            for place, at in enumerate(sorted(named, key=lambda at: two[at])):
                panel.annotate(
                    f"{style.label(runs[at], 18)} ({-moves[at]:+d})",
                    (one[at], two[at]),
                    xytext=(0.99, 0.04 + 0.08 * place),
                    textcoords="axes fraction",
                    ha="right",
                    fontsize="x-small",
                    arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "relpos": (0, 0.5)},
                )
            panel.set(xlabel="mean under a", ylabel="mean under b")
            panel.set_title(f"{style.label(name)}: tau-b {tau:.2f}")
        for panel in every[len(measures) :]:
            panel.set_visible(False)
    return figure
