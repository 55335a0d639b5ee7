"""Plots of one topic: two rankings, the text of an article, coverage of intents and shares of groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError, ParameterError

from . import style

if TYPE_CHECKING:
    from .style import Axes, Figure, RankingPair, Topic


_MAX_TICK_LENGTH = 12
_MAX_INTENTS_LENGTH = 24
#: Share of the width of a group that its bars take.
_BARS_WIDTH = 0.8
_TARGET = "0.7"


def coverage(explanations: Topic | Iterable[Topic], ax: Axes | None = None) -> Figure:
    """Plot the share of the intents of a topic that the first k documents cover, over k.

    A line rises at each rank at which the run covers a further intent. With one explanation, the names of
    these intents are written beside the line.

    Args:
        explanations: one or several results of ``explain`` for I-rec on one topic, one per run.
        ax: axes to draw into; by default a new figure.

    Raises:
        InputError: there is no explanation, one is not of I-rec, or topics differ.

    Source: Sakai and Song, "Evaluating Diversified Search Results Using Per-intent Graded Relevance" (SIGIR
        2011).
    """
    found = _of_one_topic(explanations, "I-rec", "intent")
    runs = [style.label(one.run) for one in found]
    labels = runs if len(found) > 1 else []
    with style.canvas(ax, labels) as axes:
        ends = [max(1, min(one.retrieved, one.measure.params.get("cutoff", np.inf))) for one in found]
        for number, (one, run, end) in enumerate(zip(found, runs, ends, strict=True)):
            new = one.columns["contribution"] > 0
            ranks, intents = one.columns["rank"][new], one.columns["intent"][new]
            first = np.unique(ranks)
            share = np.cumsum(one.columns["contribution"][new])[np.searchsorted(ranks, first, "right") - 1]
            axes.step(
                [1, *first, end],
                [0, *share, *(share[-1:] if share.size else [0])],
                where="post",
                label=run if labels else None,
                markevery=range(1, first.size + 1),
                clip_on=False,
                **style.line_style(number),
            )
            for at in zip(first.tolist(), share.tolist(), strict=True) if not labels else ():
                names = style.label(", ".join(map(str, intents[ranks == at[0]])), _MAX_INTENTS_LENGTH)
                axes.annotate(names, at, (4, -9), textcoords="offset points", fontsize="small")
        style.format_rank_axis(axes, int(max(ends)))
        title = style.topic_title(found[0].measure, found[0])
        axes.set(ylim=(0, 1.02), xlabel="rank", ylabel="share of intents covered", title=title)
    return style.figure_of(axes)


def groups(
    explanations: Topic | Iterable[Topic],
    ax: Axes | None = None,
    *,
    names: Sequence[object] | None = None,
) -> Figure:
    """Plot the shares of the groups of an attribute set: the target, and the shares of each run.

    The shares of a run are those that GF compares with the target: of the documents down to the last
    relevant document retrieved within the cutoff.

    Args:
        explanations: one or several results of ``explain`` for GF on one topic, one per run. All must have
            the attribute set of the first.
        ax: axes to draw into; by default a new figure.
        names: names of the groups; by default their numbers.

    Raises:
        InputError: there is no explanation, one is not of GF, topics or attribute sets differ, or the number
            of names differs from the number of groups.

    Source: Sakai, Kim and Kang, "A Versatile Framework for Evaluating Ranked Lists in Terms of Group Fairness
        and Relevance" (ACM TOIS, 2023).
    """
    found = _of_one_topic(explanations, "GF", "a_1")
    attribute = found[0].measure["groups"]
    if others := {one.measure["groups"] for one in found} - {attribute}:
        raise InputError(f"the explanations have different attribute sets: {attribute!r}, {sorted(others)}")
    shares = [_achieved(one) for one in found]
    number = shares[0].size
    names = range(1, number + 1) if names is None else names
    if len(names) != number:
        raise InputError(f"expected {number} names for the groups of {attribute!r}, found {len(names)}")
    target = found[0].measure.target(number)
    labels = ["target", *(f"{style.label(one.run)}, {_depth(one)}" for one in found)]
    with style.canvas(ax, labels) as axes:
        width = _BARS_WIDTH / len(labels)
        colours = [_TARGET, *(style.COLOURS[at % len(style.COLOURS)] for at in range(len(found)))]
        for at, (heights, label, colour) in enumerate(zip([target, *shares], labels, colours, strict=True)):
            places = np.arange(number) + (at - (len(labels) - 1) / 2) * width
            axes.bar(places, heights, width, color=colour, label=label, edgecolor="white", linewidth=0.5)
        axes.set_xticks(range(number), [style.label(name, _MAX_TICK_LENGTH) for name in names])
        axes.tick_params(axis="x", length=0)
        axes.set(xlabel="group", ylabel="share", title=style.topic_title(attribute, found[0]))
    return style.figure_of(axes)


def _achieved(explanation: Topic) -> Floats:
    """Return the shares of the groups down to the last relevant document; equal shares without one."""
    columns = [values for name, values in explanation.columns.items() if name.startswith("a_")]
    last = [values[-1] for values in columns if values.size]
    return np.array(last) if last else np.full(len(columns), 1 / len(columns))


def _depth(explanation: Topic) -> str:
    rank = explanation.columns["rank"]
    return f"ranks 1 to {rank[-1]}" if rank.size else "no relevant document"


def _of_one_topic(explanations: Topic | Iterable[Topic], measure: str, column: str) -> list[Topic]:
    """Return explanations as a list. Raises InputError if one is of another measure, or topics differ."""
    found = list(explanations) if isinstance(explanations, Iterable) else [explanations]
    if not found:
        raise InputError("there is no explanation to draw")
    for one in found:
        if measure != one.measure.NAME or column not in one.columns:
            raise InputError(f"expected an explanation of {measure}, found one of {one.measure}")
    topics = dict.fromkeys(str(one.query_id) for one in found)
    if len(topics) > 1:
        raise InputError(f"expected explanations of one topic, found {', '.join(topics)}")
    return found


#: Colours of levels from the lowest to the highest, which differ in grey, too.
_RAMP = ((0xE6, 0xE8, 0xEC), (0x4F, 0xA5, 0x99), (0x06, 0x45, 0x3F))
_ROW_HEIGHT = 0.17
_MARGIN = 1.0  # of title and axis, in inches
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
                    bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
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
    style.matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    if ax is None:
        ax = Figure(figsize=(style.PAGE_WIDTH, _HEIGHT), layout="constrained").subplots()
    style.check_axes(ax)
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
    return style.figure_of(ax)


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
    most, power = _max_ticks(wide, end), 1
    while end > 5 * power * most:
        power *= 10
    step = next(step for step in (power, 2 * power, 5 * power) if end <= step * most)
    for tick in range(0, end + 1, step):
        x = f"{left + tick / end * wide:.2f}"
        parts.append(f'<path d="M{x} 110v4" stroke="#222"/>')
        parts.append(f'<text x="{x}" y="126" text-anchor="middle">{tick:,}</text>')
    parts.append(f'<text x="{left + wide / 2}" y="143" text-anchor="middle">{_AXIS}</text></svg>')
    return "".join(parts)


def _max_ticks(room: float, end: int) -> int:
    """Return the number of labelled intervals up to ``end`` that fit into ``room`` points."""
    return max(1, min(6, int(room / (5 * len(f"{end:,}") + 10))))
