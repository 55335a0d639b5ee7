"""Plots of scores: differences by topic, leaderboards, means over cutoffs, unjudged documents by rank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats
from ir_graded.core.views import Views
from ir_graded.errors import InputError, ParameterError, printable, short_repr

from . import style

if TYPE_CHECKING:
    from .style import Axes, Figure, MeanIntervals, ScoreTables, Topic, UnjudgedShares


_FIRST, _SECOND = style.COLOURS[:2]
#: Up to these numbers of topics, each has a name, and a bar; more topics are drawn as one area.
_MAX_NAMED, _MAX_BARS = 30, 50
_MANY_TOPICS = 20
_MAX_RUNS = 50
_MAX_LINES = 6
_MAX_NAMED_RELEASES = 24
_PANEL_COLUMNS = 2
_PANEL_HEIGHT = 0.95  # inches
_MAX_NAME_LENGTH = 24
_PAIRED_LENGTH = 10
#: Length of an axis label on one line, in characters.
_X_LABEL_LENGTH = 34
_Y_LABEL_LENGTH = 26
_RUN_HEIGHT = 0.15
_BAR_SHIFT = 0.09  # of the distance of two releases
_WORSE = "worse than the first or the best before"
_CROSS: dict[str, Any] = {"linestyle": "", "marker": "x", "color": "black", "markersize": 4.5, "zorder": 5}
_SMALL_FONT = 6.0  # points
_MARGIN = 0.55  # inches, for the axis below


def differences(scores: ScoreTables, measure: Any, run_a: str, run_b: str, ax: Axes | None = None) -> Figure:
    """Plot differences of two runs per topic, ``run_a - run_b``, largest first, with their mean.

    Of more than 30 topics, the first and the last are named.

    Args:
        scores: result of ``evaluate``.
        measure: one of its measures, as an object or a string.
        run_a: name of one run.
        run_b: name of the other.
        ax: axes to draw into; by default a new figure.

    Raises:
        InputError: the measure was not evaluated, or a run does not exist.
    """
    matrix = scores.matrix(measure)
    for run in (run_a, run_b):
        if run not in matrix.columns:
            raise InputError(f"unknown run {run!r}; the runs are {', '.join(map(repr, matrix.columns))}")
    values = (matrix[run_a] - matrix[run_b]).sort_values(ascending=False, kind="stable")
    heights = values.to_numpy(dtype=np.float64)
    better = (heights > 0, heights < 0)
    labels = [
        f"{name} better ({style.plural(int(np.count_nonzero(wins)), 'topic')})"
        for name, wins in zip(_names([run_a, run_b]), better, strict=True)
    ]
    with style.canvas(ax, [*labels, "mean"]) as axes:
        places = np.arange(1, len(heights) + 1)
        for wins, colour, label in zip(better, (_FIRST, _SECOND), labels, strict=True):
            shown = np.where(wins, heights, 0.0)
            if len(heights) <= _MAX_BARS:
                axes.bar(places, shown, color=colour, label=label)
            else:
                axes.fill_between(places, shown, step="mid", color=colour, linewidth=0, label=label)
        axes.axhline(0, color="0.15", linewidth=0.6)
        axes.axhline(heights.mean(), label="mean", **style.REFERENCE_LINE)
        axes.set_xlim(0.4, len(heights) + 0.6)
        if len(heights) > _MAX_NAMED:
            axes.set_xticks([])
            axes.margins(y=0.1)
            # The largest difference in each direction, above or below its bar.
            for at, end in ((0, "left"), (-1, "right")):
                text, above = _names(values.index[[at]])[0], heights[at] > 0
                axes.annotate(
                    text,
                    (places[at], heights[at]),
                    (0, 2 if above else -2),
                    textcoords="offset points",
                    ha=end,
                    va="bottom" if above else "top",
                    fontsize=_SMALL_FONT,
                )
        else:
            axes.set_xticks(places, _names(values.index), rotation=90)
            axes.tick_params(axis="x", length=0, pad=1)
            if len(heights) > _MANY_TOPICS:
                axes.tick_params(axis="x", labelsize=_SMALL_FONT)
        [printed] = _names([scores.names[scores.position(measure)]])
        difference = _wrap_label("difference in", printed, _Y_LABEL_LENGTH)
        axes.set(xlabel="topic, by difference", ylabel=difference)
    return style.figure_of(axes)


def _chosen(column: str, wanted: Any, known: Sequence[Any]) -> Any:
    """Return what is wanted, by default the first. Raises InputError if it is not known."""
    if wanted is None:
        return known[0]
    if wanted not in known:
        raise InputError(f"{column}={short_repr(wanted)} must be one of {', '.join(map(repr, known))}")
    return wanted


def leaderboard(intervals: MeanIntervals, measure: Any = None, ax: Axes | None = None) -> Figure:
    """Plot means of runs with confidence intervals, best first; at most the best 50 runs.

    Args:
        intervals: result of ``ir_graded.meta.confidence_intervals``.
        measure: one of its measures; by default the first.
        ax: axes to draw into; by default those of a new figure, which grows with the number of runs.

    Raises:
        InputError: the measure is not among those of ``intervals``.
    """
    name = _chosen("measure", measure and str(measure), intervals.measures)
    at = intervals.measures.index(name)
    order = intervals.best_first(at)[:_MAX_RUNS]
    mean, low, high = (ends[at, order] for ends in (intervals.mean, intervals.low, intervals.high))
    with _intervals(ax, [intervals.runs[number] for number in order], mean, low, high) as axes:
        interval = f"mean with {100 * intervals.confidence:g}% interval"
        axes.set_xlabel(_wrap_label(f"{_names([name])[0]},", interval, _X_LABEL_LENGTH))
        if len(order) < len(intervals.runs):
            axes.set_ylabel(f"the best {len(order)} of {len(intervals.runs)} runs")
    return style.figure_of(axes)


#: Rows that look alike: their label, places, colour and marker.
_Alike = tuple[str, Sequence[int], str, str]


@contextmanager
def _intervals(
    ax: Axes | None,
    names: Sequence[object],
    value: Floats,
    low: Floats,
    high: Floats,
    alike: Sequence[_Alike] = (),
    labels: Sequence[str] = (),
) -> Iterator[Axes]:
    """Draw a row per name with a point and its interval.

    Args:
        ax: axes to draw into, or None.
        names: names of the rows.
        value: the points.
        low: lower ends of the intervals.
        high: upper ends.
        alike: the groups of rows; by default all are alike.
        labels: what the caller adds to the legend.
    """
    height = _MARGIN + _RUN_HEIGHT * max(len(names), 4)
    alike = alike or [("", range(len(names)), _FIRST, "o")]
    with style.canvas(ax, [*(label for label, *_ in alike), *labels], height) as axes:
        for label, places, colour, marker in alike:
            at = [*places]
            axes.hlines(at, low[at], high[at], color=colour, linewidth=1.4, alpha=0.55)
            points: dict[str, Any] = {"marker": marker, "color": colour, "linestyle": "", "markersize": 3.4}
            axes.plot(value[at], at, label=label, **points)
        axes.set_yticks(range(len(names)), _names(names))
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.xaxis.grid(visible=True, color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.locator_params(axis="x", nbins=5)
        yield axes


#: Colour and marker of each verdict, so that they differ in black and white; in this order in the legend.
_OF_VERDICT = {
    "better": (style.COLOURS[0], "^"),
    "equivalent": (style.COLOURS[2], "s"),
    "not worse": (style.COLOURS[4], "D"),
    "inconclusive": ("0.5", "o"),
    "worse": (style.COLOURS[1], "v"),
    "below minimum": (style.COLOURS[3], "P"),
    "worse and below minimum": ("black", "X"),
}


def verdicts(found: Any, measure: Any, part: str, ax: Axes | None = None) -> Figure:
    """Plot differences of runs from a baseline, or of pairs of runs, with intervals and verdicts.

    The largest difference is on top. Lines mark 0 and, dashed, the tolerance. Of more than 50 differences,
    those with the largest distance from 0 are drawn.

    Args:
        found: result of ``ir_graded.meta.differences``.
        measure: one of its measures; None for the first.
        part: one of its slices.
        ax: axes to draw into; by default those of a new figure, which grows with the number of rows.

    Raises:
        InputError: the measure or slice is not among those of the result.
    """
    rows = found.to_frame()
    for column, wanted in (("measure", measure), ("slice", part)):
        chosen = _chosen(column, wanted and str(wanted), rows[column].unique().tolist())
        rows = rows[rows[column] == chosen]
    largest = rows["difference"].abs().sort_values(ascending=False, kind="stable").index[:_MAX_RUNS]
    shown = rows.loc[largest].sort_values("difference", ascending=False, kind="stable")
    verdict, names = shown["verdict"].to_numpy(), shown["run"].tolist()
    of = f"difference from {_names(shown['baseline'])[0]}"
    if shown["baseline"].nunique() > 1:
        pairs = zip(names, shown["baseline"], strict=True)
        names = [" - ".join(printable(str(run), _PAIRED_LENGTH) for run in pair) for pair in pairs]
        of = "difference of two runs"
    alike = [
        (name, np.flatnonzero(verdict == name).tolist(), *look)
        for name, look in _OF_VERDICT.items()
        if name in verdict
    ]
    limit = f"tolerance {found.tolerance:g}" if found.tolerance else ""
    value, low, high = (shown[name].to_numpy() for name in ("difference", "low", "high"))
    with _intervals(ax, names, value, low, high, alike, [limit]) as axes:
        axes.axvline(0, color="0.4", linewidth=0.8, zorder=1)
        for side in (-1, 1) if found.tolerance else ():
            axes.axvline(side * found.tolerance, label=limit if side < 0 else "", **style.REFERENCE_LINE)
        confidence = 1 - found.alpha * (1 if found.alternative == "two-sided" else 2)
        [printed] = _names(rows["measure"].iloc[:1])
        interval = _wrap_label(f"{printed},", f"{100 * confidence:g}% interval", _X_LABEL_LENGTH)
        axes.set_xlabel(f"{interval}\n{of}")
        if len(shown) < len(rows):
            axes.set_ylabel(f"the largest {len(shown)} of {len(rows):,} differences")
    return style.figure_of(axes)


def rank_intervals(ranks: Any, ax: Axes | None = None) -> Figure:
    """Plot ranks of runs with their confidence sets, best first; at most the best 50 runs.

    Source: Mogstad et al. (2024).
    """
    shown = slice(_MAX_RUNS)
    with _intervals(
        ax, ranks.run[shown], ranks.rank[shown], ranks.rank_low[shown], ranks.rank_high[shown]
    ) as axes:
        sets = f"rank with {100 * (1 - ranks.alpha):g}% confidence set"
        axes.set_xlabel(_wrap_label(f"{_names([ranks.measure])[0]},", sets, _X_LABEL_LENGTH))
        if len(ranks.run) > _MAX_RUNS:
            axes.set_ylabel(f"the best {_MAX_RUNS} of {len(ranks.run)} runs")
    return style.figure_of(axes)


def forest(found: Any, measure: Any = None, run: Any = None, ax: Axes | None = None) -> Figure:
    """Plot the effects of a run on collections with intervals, their mean and that of random effects.

    A thin line is the interval for a further collection.

    Args:
        found: result of ``ir_graded.meta.across_collections``.
        measure: one of its measures; by default the first.
        run: one of its runs; by default the first.
        ax: axes to draw into; by default those of a new figure.

    Raises:
        InputError: the measure or run is not among those of the result.
    """
    rows, summary = found.table, found.summary
    for column, wanted in (("measure", measure and str(measure)), ("run", run)):
        chosen = _chosen(column, wanted, rows[column].unique().tolist())
        rows, summary = (table[table[column] == chosen] for table in (rows, summary))
    ends = (rows[name].to_numpy() for name in (found.effect, "low", "high"))
    with _intervals(ax, rows["collection"].tolist(), *ends) as axes:
        last = len(rows) - 1
        axes.hlines(last, summary["predict_low"], summary["predict_high"], color=_FIRST, linewidth=0.6)
        axes.axvline(0, color="0.4", linewidth=0.8)
        axes.axhline(last - 1.5, color="0.8", linewidth=0.6)
        pair = f"{rows['run'].iloc[0]} - {found.baseline}"
        axes.set_xlabel(_wrap_label(f"{_names([rows['measure'].iloc[0]])[0]},", pair, _X_LABEL_LENGTH))
    return style.figure_of(axes)


def history(found: Any, measure: Any = None, part: str = "all", ax: Axes | None = None) -> Figure:
    """Plot means over releases: a line a run, which ends where releases are not comparable.

    Bars are intervals of the change from the first release of a part, around the mean: those that exclude the
    mean of this release differ from it, by a single test. Crosses mark releases that are significantly worse
    than the first or the best one before. Of more than six runs, those with the best means in the last
    release are drawn.

    Args:
        found: result of ``ir_graded.meta.history``.
        measure: one of its measures; by default the first.
        part: one of its slices.
        ax: axes to draw into; by default a new figure.

    Raises:
        InputError: the measure or the slice is not among those of the result.
    """
    rows = found.to_frame().assign(worse=found.worse, better=found.direction * found.mean)
    releases = [*dict.fromkeys(rows["release"])]
    wanted = _chosen("measure", measure and str(measure), rows["measure"].unique().tolist())
    part = _chosen("slice", part, rows["slice"].unique().tolist())
    rows = rows[(rows["measure"] == wanted) & (rows["slice"] == part)]
    if not rows["release"].duplicated().any():
        rows = rows.assign(run="mean")
    last = rows[rows["release"] == rows["release"].iloc[-1]].sort_values(
        "better", ascending=False, kind="stable"
    )
    runs = [*dict.fromkeys([*last["run"], *rows["run"]])]
    labels = _names(runs[:_MAX_LINES])
    interval = f"change from the first: {100 * (1 - found.alpha):g}% interval"
    with style.canvas(ax, [*labels, interval, _WORSE, "not comparable"]) as axes:
        starts = rows.assign(at=rows["release"].map(releases.index)).groupby("part")["at"].min().iloc[1:]
        for number, (run, label) in enumerate(zip(runs, labels, strict=False)):
            for of_part, same in rows[rows["run"] == run].groupby("part"):
                first = of_part == rows.loc[rows["run"] == run, "part"].iloc[0]
                places = np.full(len(releases), np.nan)
                at, mean = same["release"].map(releases.index), same["mean"]
                places[at] = mean
                line = style.line_style(number)
                axes.plot(places, label=label if first else None, **line)
                # The bars of several runs are side by side.
                at = at + _BAR_SHIFT * (number - (len(labels) - 1) / 2)
                ends = [mean - same["change_first"] + same[end] for end in ("low_first", "high_first")]
                bar = interval if first and number == len(labels) - 1 else ""
                axes.vlines(at, *ends, color=line["color"], linewidth=1.0, alpha=0.45, label=bar)
                if len(runs) == 1:
                    axes.hlines(mean.iloc[0], at.iloc[0], at.iloc[-1], color="0.6", linewidth=0.6, zorder=1)
        worse = rows[rows["worse"] & rows["run"].isin(runs[:_MAX_LINES])]
        if len(worse):
            axes.plot(worse["release"].map(releases.index), worse["mean"], label=_WORSE, **_CROSS)
        for number, start in enumerate(starts):
            axes.axvline(start - 0.5, label=None if number else "not comparable", **style.REFERENCE_LINE)
        step = -(-len(releases) // _MAX_NAMED_RELEASES)
        axes.set_xticks(range(0, len(releases), step), _names(releases[::step]), rotation=90)
        axes.set_xlim(-0.5, len(releases) - 0.5)
        of_slice = "" if part == "all" else f" on {printable(part)}"
        axes.set_ylabel(f"{_names([wanted])[0]}{of_slice}")
        if len(runs) > _MAX_LINES:
            axes.set_title(f"the best {_MAX_LINES} of {len(runs)} runs")
    return style.figure_of(axes)


def cutoffs(
    scores: ScoreTables,
    measure: Any = None,
    ax: Axes | None = None,
    *,
    intervals: MeanIntervals | None = None,
) -> Figure:
    """Plot means of the runs by one measure over its cutoffs or budgets, such as I-rec@k over k.

    Args:
        scores: result of ``evaluate`` for the measure with several cutoffs, ``"I-rec@1 I-rec@5 I-rec@10"``,
            or budgets, ``"NuggetR(budget=1000) NuggetR(budget=4000)"``.
        measure: the measure without a cutoff or budget; by default that of the first measure in ``scores``.
        ax: axes to draw into; by default a new figure.
        intervals: ``meta.confidence_intervals(scores)``, whose ends are drawn as bars. Those of two runs may
            overlap although the runs differ, and those of one run over cutoffs are not independent.

    Raises:
        InputError: the scores have no cutoff or budget of the measure, or the intervals are not of them.
    """
    limits = {name: _limit(name) for name in scores.names}
    wanted, _, by_budget = _limit(scores.names[0] if measure is None else str(measure))
    if measure is not None:
        by_budget = (wanted, False) not in {(free, by) for free, limit, by in limits.values() if limit}
    found = {
        int(limit): name
        for name, (free, limit, by) in limits.items()
        if limit and (free, by) == (wanted, by_budget)
    }
    if not found:
        raise InputError(f"the scores have no cutoffs of {wanted}, only {', '.join(scores.names)}")
    of_runs = scores.mean().loc[scores.matrix(scores.names[0]).columns]
    means = {cutoff: of_runs[found[cutoff]] for cutoff in sorted(found)}
    runs = next(iter(means.values())).index
    labels = [style.label(run) for run in runs]
    with style.canvas(ax, labels) as axes:
        for number, (run, label) in enumerate(zip(runs, labels, strict=True)):
            heights = [mean[run] for mean in means.values()]
            line = style.line_style(number)
            axes.plot([*means], heights, label=label, clip_on=False, **line)
            if intervals is not None:
                ends = _ends(intervals, run, [found[cutoff] for cutoff in means])
                axes.vlines([*means], *ends, color=line["color"], linewidth=1.0, alpha=0.45)
        if not by_budget:
            style.format_rank_axis(axes, max(means))
        axes.set_ylim(bottom=0)
        mean = _wrap_label("mean", _names([wanted])[0] + ("" if by_budget else "@k"), _Y_LABEL_LENGTH)
        unit = _UNIT.search(next(iter(found.values())))
        budget = f"budget in {style.label(unit[2] if unit else 'characters')}"
        axes.set(xlabel=budget if by_budget else "cutoff k", ylabel=mean)
    return style.figure_of(axes)


def _ends(intervals: MeanIntervals, run: object, measures: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of a run. Raises InputError if it or a measure has none."""
    if run not in intervals.runs or not {*measures} <= {*intervals.measures}:
        raise InputError(f"intervals: expected those of the scores, with {', '.join(measures)} of {run!r}")
    rows, column = [intervals.measures.index(name) for name in measures], intervals.runs.index(run)
    return intervals.low[rows, column], intervals.high[rows, column]


_UNIT = re.compile(r"\bunit=(['\"])(.*?)\1")
_BUDGET = re.compile(r"\bbudget=(\d+),?")


def _limit(name: str) -> tuple[str, str, bool]:
    """Return a measure without its budget or else its cutoff, this number, and whether it is a budget."""
    if found := _BUDGET.search(name):
        return _BUDGET.sub("", name).replace(",)", ")").replace("()", ""), found[1], True
    free, _, cutoff = name.rpartition("@")
    return free or name, cutoff if free else "", False


def unjudged(result: UnjudgedShares, ax: Axes | None = None) -> Figure:
    """Plot the share of unjudged documents over the ranks.

    Up to six runs have a panel each: the line shows the share down to each depth, the area the share at each
    rank. With ``ax`` they are drawn as lines. More runs are drawn as rows of a coloured table with numbers,
    one column per depth, fewest unjudged first, at most 50.

    Args:
        result: result of ``ir_graded.unjudged``.
        ax: axes to draw into; by default a new figure.
    """
    if len(result.runs) > _MAX_LINES:
        return _unjudged_table(result, ax)
    if ax is None and len(result.runs) > 1:
        return _unjudged_panels(result)
    labels = [style.label(run) for run in result.runs]
    with style.canvas(ax, labels) as axes:
        for number, label in enumerate(labels):
            _draw_unjudged(axes, result, number, style.line_style(number), label)
        axes.set(xlabel=_BY_RANK_LABEL if len(labels) == 1 else "down to rank", ylabel="share unjudged")
    return style.figure_of(axes)


_BY_RANK_LABEL = "rank (line: down to it, area: at it)"


def _draw_unjudged(
    axes: Axes, result: UnjudgedShares, number: int, line: dict[str, Any], label: str = ""
) -> None:
    """Draw the shares of a run down to each depth and, where the run is alone, at each rank."""
    order = np.argsort(result.depths)
    if len(result.runs) == 1 or not label:
        ranks = np.arange(1, result.by_rank.shape[1] + 1)
        at_rank = result.by_rank[number]
        axes.fill_between(ranks, at_rank, step="mid", color=line["color"], alpha=0.25, linewidth=0)
    axes.plot(np.array(result.depths)[order], result.share[number][order], label=label, clip_on=False, **line)
    axes.set_xscale("log")
    ticks = [10**power for power in range(len(str(max(*result.depths, result.by_rank.shape[1]))))]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 1)


def _unjudged_panels(result: UnjudgedShares) -> Figure:
    rows = -(-len(result.runs) // _PANEL_COLUMNS)
    with style.in_style():
        figure = style.new_figure(style.COLUMN_WIDTH, _PANEL_HEIGHT * rows + _MARGIN)
        panels = figure.subplots(rows, _PANEL_COLUMNS, sharex=True, sharey=True).ravel()
        for number, run in enumerate(result.runs):
            _draw_unjudged(panels[number], result, number, style.line_style(0))
            panels[number].set_title(*_names([run]))
        for panel in panels[len(result.runs) - _PANEL_COLUMNS : len(result.runs)]:
            panel.tick_params(labelbottom=True)
        for panel in panels[len(result.runs) :]:
            panel.remove()
        figure.supxlabel(_BY_RANK_LABEL, fontsize="medium")
        figure.supylabel("share unjudged", fontsize="medium")
    return figure


def _unjudged_table(result: UnjudgedShares, ax: Axes | None) -> Figure:
    columns = np.argsort(result.depths)
    order = np.argsort(result.share.mean(axis=1), kind="stable")[:_MAX_RUNS]
    shares = result.share[np.ix_(order, columns)]
    with style.canvas(ax, height=_MARGIN + _RUN_HEIGHT * len(order)) as axes:
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        # Above 0.6 the blue is dark.
        style.annotate_cells(axes, shares, shares > 0.6, lambda share: f"{100 * share:.0f}")  # noqa: PLR2004
        axes.set_xticks(range(len(columns)), [f"{result.depths[at]:,}" for at in columns])
        axes.set_yticks(range(len(order)), _names([result.runs[number] for number in order]))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel("% unjudged down to rank")
        if len(order) < len(result.runs):
            axes.set_ylabel(f"the first {len(order)} of {len(result.runs)} runs")
    return style.figure_of(axes)


def _names(objects: Iterable[object]) -> list[str]:
    return [style.label(one, _MAX_NAME_LENGTH) for one in objects]


def _wrap_label(one: str, other: str, max_length: int) -> str:
    """Join two parts of an axis label, on two lines if one line would be longer than the axis."""
    return f"{one} {other}" if len(one) + len(other) < max_length else f"{one}\n{other}"


#: Width of the lines down to the axis, in points; many lines are thinner.
_WIDTH = 3.0
_MANY = 40


def profile(explanation: Topic, ax: Axes | None = None) -> Figure:
    """Plot stop distribution (left axis) and utility (right axis) over the ranks of relevant documents.

    For measures without a stop distribution, contributions are shown instead, and the blended ratio, if they
    have it, instead of the utility. Of several contributions at one rank, by intent, the sum is shown.

    Args:
        explanation: result of ``explain``.
        ax: axes to draw into; by default a new figure.

    Source: Sakai and Robertson, "Modelling A User Population for Designing Information Retrieval Metrics"
        (EVIA 2008).
    """
    columns = explanation.columns
    rank, row = np.unique(columns["rank"], return_inverse=True)
    # Stops and utilities of several intents of a document have no sum.
    alone = rank.size == row.size
    bars = "stop" if "stop" in columns and alone else "contribution"
    points = next((name for name in ("utility", "BR", "gP") if name in columns and alone), None)
    heights = np.bincount(row, columns[bars], rank.size)
    named = [_NAMES[name] for name in (bars, points) if name is not None]
    with style.canvas(ax, named) as axes:
        deepest = int(rank.max(initial=1))
        width = _WIDTH * min(1.0, _MANY / max(rank.size, 1))
        handles: list[Any] = [axes.vlines(rank, 0, heights, color=_FIRST, linewidth=width)]
        axes.set(xlabel="rank", ylabel=named[0])
        style.format_rank_axis(axes, deepest)
        axes.set_ylim(0, 1.08 * float(heights.max(initial=0.0)) or 1.0)
        if points is not None:
            right = axes.twinx()
            handles += right.plot(
                rank,
                columns[points],
                color=_SECOND,
                linestyle=(0, (4, 1.6)),
                linewidth=0.9,
                marker="o",
                markerfacecolor="white",
                markeredgewidth=0.8,
            )
            right.set(ylim=(0, 1.08), ylabel=named[1])
            right.spines["right"].set_visible(True)
        if not rank.size:
            axes.text(0.5, 0.5, "no document counts", transform=axes.transAxes, ha="center", va="center")
        axes.set_title(style.topic_title(explanation.measure, explanation))
        # Below the axes, because there is another axis on the right.
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22), "ncols": len(named)}
        style.legend(axes, ax is None, (handles, named), **place)
    return style.figure_of(axes)


_NAMES = {
    "stop": "stop probability",
    "contribution": "contribution",
    "utility": "utility",
    "BR": "blended ratio",
    "gP": "gP",
}


def stop_curve(measures: Sequence[Any], n_relevant: int = 10, ax: Axes | None = None) -> Figure:
    """Plot the probability of stopping against the number of relevant documents seen so far.

    The list has exactly ``n_relevant`` documents of level 1.

    Args:
        measures: measures with a stop distribution, such as ``ir_graded.NCU(stop="rb", gamma=0.7)``.
        n_relevant: number of relevant documents.
        ax: axes to draw into; by default a new figure.

    Raises:
        ParameterError: a measure has no stop distribution, or the number is not a whole number >= 1.

    Source: Sakai and Robertson (2008), Figure 1.
    """
    if isinstance(n_relevant, bool) or not isinstance(n_relevant, (int, np.integer)) or n_relevant < 1:
        raise ParameterError(f"n_relevant={n_relevant!r} must be a whole number >= 1")
    chosen = list(measures) if isinstance(measures, Sequence) else [measures]
    curves = {str(measure): _stop(measure, n_relevant) for measure in chosen}
    labels = [style.label(name) for name in curves]
    with style.canvas(ax, labels) as axes:
        seen = np.arange(1, n_relevant + 1)
        for number, (label, curve) in enumerate(zip(labels, curves.values(), strict=True)):
            axes.plot(seen, curve, label=label, **style.line_style(number))
        axes.set(xlabel="relevant documents so far", ylabel="probability of stopping")
        axes.set_ylim(bottom=0)
    return style.figure_of(axes)


def _stop(measure: Any, n_relevant: int) -> Floats:
    """Return the stop distribution of a measure over the list."""
    topic = np.zeros(n_relevant, dtype=np.int64)
    levels = Levels.of(1, topic, np.ones(n_relevant))
    run = JudgedRun.of_ideal(levels, 1.0, levels.values)
    columns = measure.columns(Views(levels, run)) if hasattr(measure, "columns") else {}
    if "stop" not in columns or len(columns["stop"]) != n_relevant:
        raise ParameterError(
            f"{short_repr(measure)} has no stop distribution over the list; give measures such as "
            "ir_graded.NCU(stop='rb', gamma=0.7) without a cutoff"
        )
    found: Floats = columns["stop"]
    return found


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
