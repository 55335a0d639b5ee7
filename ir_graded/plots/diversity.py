"""Plots of one topic: coverage of intents, and shares of groups, in the first documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError

from . import style

if TYPE_CHECKING:
    from .style import Axes, Figure, Topic

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
