"""Style of all plots: colour-blind safe colours, lines that differ in black and white, outside legends."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ir_graded._utils.later import extra
from ir_graded.core.segments import Floats
from ir_graded.errors import ParameterError, printable, short_repr

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414
    from matplotlib.figure import Figure as Figure  # noqa: PLC0414


#: Okabe and Ito (2008), without yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.6)),
    (0, (1.2, 1.2)),
    (0, (6, 1.4, 1.2, 1.4)),
    (0, (3, 1.2, 1, 1.2, 1, 1.2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
#: One column of a two-column paper, and one and a half, in inches.
COLUMN_WIDTH = 3.3
MIDDLE_WIDTH = 5.0
PAGE_WIDTH = 7.0
REFERENCE_LINE: dict[str, Any] = {"color": "0.35", "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}
HEIGHT = 2.3
_ROW_HEIGHT = 0.14
_CHARACTER_WIDTH = 0.07
_HANDLE_WIDTH = 0.5
#: Longest name in a legend, in characters; with its line it is as wide as a column.
_MAX_LABEL_LENGTH = 34
_FONT = 8.0
_SMALL_FONT = 7.0
#: With more ranks than this the axis is logarithmic, because the top ranks matter most.
_DEEP = 100
_RC = {
    "font.size": _FONT,
    "axes.labelsize": _FONT,
    "axes.titlesize": _FONT,
    "xtick.labelsize": _SMALL_FONT,
    "ytick.labelsize": _SMALL_FONT,
    "legend.fontsize": _SMALL_FONT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "axes.grid": False,
    "figure.dpi": 150,
    "savefig.dpi": 300,
}


def matplotlib() -> Any:
    """Return the matplotlib package. Raises GradedError that names the extra to install."""
    return extra("matplotlib")


def label(name: object, max_length: int = _MAX_LABEL_LENGTH) -> str:
    """Return a name as text on one line, shortened in the middle, with ``$`` (formulas) escaped."""
    return printable(" ".join(str(name).split()), max_length).replace("$", r"\$")


def topic_title(name: object, topic: Topic) -> str:
    """Return the title of a plot of one topic."""
    return f"{label(name)}, topic {label(topic.query_id, 10)}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 topic`` or ``2 topics``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def check_axes(ax: object) -> None:
    """Raise ParameterError if ``ax`` is not an Axes of a figure."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes) or ax.figure is None:
        raise ParameterError(
            f"ax={short_repr(ax)} must be a matplotlib Axes in a figure, or None for a new figure"
        )


@contextmanager
def canvas(
    ax: Axes | None, labels: Iterable[str] = (), height: float = HEIGHT, width: float = COLUMN_WIDTH
) -> Iterator[Axes]:
    """Yield the axes to draw into, given or of a new figure, then add a legend of what has a label."""
    with in_style():
        if ax is not None:
            check_axes(ax)
        axes = new_figure(width, height, labels).subplots() if ax is None else ax
        yield axes
        legend(axes, ax is None)


def in_style() -> Any:
    """Return a context in which figures have the style of the package."""
    return matplotlib().rc_context(_RC)


def new_figure(width: float, height: float, labels: Iterable[str] = ()) -> Figure:
    """Return a figure with room for a legend below its axes."""
    # Not pyplot: its figures exist until closed, and notebooks show them twice.
    from matplotlib.figure import Figure

    labels = [label for label in labels if label]
    rows = -(-len(labels) // _legend_columns(labels, width))
    return Figure(figsize=(width, height + _ROW_HEIGHT * rows), layout="constrained")


def figure_of(ax: Axes) -> Figure:
    """Return the figure of the axes, also for nested subfigures."""
    from matplotlib.figure import Figure

    holder: Any = ax.figure
    while not isinstance(holder, Figure):
        holder = holder.figure
    return holder


def format_rank_axis(axes: Axes, deepest: int) -> None:
    """Format the axis of ranks from 1 to the deepest: whole numbers, logarithmic beyond 100."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, ScalarFormatter

    if deepest > _DEEP:
        axes.set_xscale("log")
        axes.set_xlim(0.8, deepest * 1.25)
        decades = 10.0 ** np.arange(np.floor(np.log10(deepest)) + 1)
        axes.xaxis.set_major_locator(FixedLocator(decades.tolist()))
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(0.4, deepest + 0.6)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))


def line_style(number: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the number-th line; the first 385 are all different."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "markerfacecolor": "white" if number % 2 else COLOURS[number % len(COLOURS)],
        "markeredgewidth": 0.8,
    }


def annotate_cells(ax: Axes, values: Any, dark: Any, text: Callable[[float], str]) -> None:
    """Write the values of a matrix except NaN into its cells: white on dark cells, black on others."""
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            colour = "white" if dark[row, column] else "black"
            ax.text(column, row, text(value), ha="center", va="center", color=colour, fontsize="x-small")


def legend(
    ax: Axes, own_figure: bool, entries: tuple[list[Any], list[str]] | None = None, **place: Any
) -> None:
    """Draw a legend below the axes of a new figure, or in a ``place`` beside those of the caller."""
    handles, labels = ax.get_legend_handles_labels() if entries is None else entries
    if handles and own_figure:
        figure = figure_of(ax)
        columns = _legend_columns(labels, figure.get_figwidth())
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, **_LEGEND)
    elif handles:
        beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
        ax.legend(handles, labels, **beside | place, **_LEGEND)


_LEGEND: dict[str, Any] = {"frameon": False, "handlelength": 3.0, "columnspacing": 1.2, "labelspacing": 0.3}


def share_legend(axes: Sequence[Axes]) -> None:
    """Replace the legends of axes that show the same lines by one legend below the figure."""
    for ax in axes:
        if (own := ax.get_legend()) is not None:
            own.remove()
    legend(axes[0], own_figure=True)


def _legend_columns(labels: Sequence[str], available: float) -> int:
    """Return the number of legend columns that fit into a width in inches."""
    width = _HANDLE_WIDTH + _CHARACTER_WIDTH * max(map(len, labels), default=0)
    columns = max(1, min(len(labels), int(available / width)))
    return 1 if (columns, len(labels)) == (2, 3) else columns


def svg(figure: Figure) -> str:
    """Return the figure as SVG with letters as shapes, so that it looks the same without any font."""
    text = io.StringIO()
    # A fixed salt and no date make the file reproducible.
    options = {"svg.hashsalt": "ir_graded", "svg.fonttype": "path"}
    with matplotlib().rc_context(options), warnings.catch_warnings():
        # Drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


class ScoreTables(Protocol):
    """Scores of runs by several measures."""

    @property
    def names(self) -> list[str]: ...
    def position(self, measure: Any, /) -> int: ...
    def matrix(self, measure: Any, /) -> pd.DataFrame: ...
    def mean(self) -> pd.DataFrame: ...


class MeanIntervals(Protocol):
    """Means of runs with the ends of their intervals, each of shape ``(measures, runs)``."""

    @property
    def measures(self) -> Sequence[str]: ...
    @property
    def runs(self) -> Sequence[object]: ...
    @property
    def mean(self) -> Floats: ...
    @property
    def low(self) -> Floats: ...
    @property
    def high(self) -> Floats: ...
    @property
    def confidence(self) -> float: ...
    def best_first(self, measure: int) -> list[int]: ...


class UnjudgedShares(Protocol):
    """Shares of unjudged documents, of shapes ``(runs, depths)`` and ``(runs, ranks)``."""

    @property
    def runs(self) -> Sequence[str]: ...
    @property
    def depths(self) -> Sequence[int]: ...
    @property
    def share(self) -> Floats: ...
    @property
    def by_rank(self) -> Floats: ...


class Topic(Protocol):
    """Columns with a value per relevant document that a run retrieved for one topic."""

    @property
    def measure(self) -> Any: ...
    @property
    def run(self) -> str: ...
    @property
    def query_id(self) -> object: ...
    @property
    def retrieved(self) -> int: ...
    @property
    def columns(self) -> Mapping[str, npt.NDArray[Any]]: ...


class RankingPair(Protocol):
    """Documents of two rankings of a topic; ``run`` is 0 or 1, ``other_rank`` 0 for a document of one."""

    @property
    def runs(self) -> tuple[str, str]: ...
    @property
    def query_id(self) -> object: ...
    @property
    def measures(self) -> Sequence[Any]: ...
    @property
    def depth(self) -> int: ...
    @property
    def levels(self) -> tuple[float, ...]: ...
    @property
    def scores(self) -> Floats: ...
    @property
    def run(self) -> npt.NDArray[np.int64]: ...
    @property
    def rank(self) -> npt.NDArray[np.int64]: ...
    @property
    def other_rank(self) -> npt.NDArray[np.int64]: ...
    @property
    def level(self) -> Floats: ...
    @property
    def contribution(self) -> Floats: ...
