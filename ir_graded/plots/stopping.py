"""Plot of the stop distribution of measures over an ideal list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats
from ir_graded.core.views import Views
from ir_graded.errors import ParameterError, short_repr

from . import style

if TYPE_CHECKING:
    from .style import Axes, Figure


def stop_curve(measures: Sequence[Any], n_relevant: int = 10, ax: Axes | None = None) -> Figure:
    """Plot the probability of stopping against the number of relevant documents seen so far.

    The list has exactly ``n_relevant`` documents of level 1.

    Args:
        measures: measures with a stop distribution, such as ``ir_graded.NCU(stop="rb", gamma=0.7)``.
        n_relevant: number of relevant documents.
        ax: axes to draw into; by default a new figure.

    Raises:
        GradedError: matplotlib is not installed.
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
        axes.set_xlabel("relevant documents so far")
        axes.set_ylabel("probability of stopping")
        axes.set_ylim(bottom=0)
        style.legend(axes, ax is None)
    return style.figure_of(axes)


def _stop(measure: Any, n_relevant: int) -> Floats:
    """Return the stop distribution of a measure over the list."""
    topic = np.zeros(n_relevant, dtype=np.int64)
    levels = Levels.of(1, topic, np.ones(n_relevant))
    document = np.arange(n_relevant, dtype=np.int64)
    run = JudgedRun.of(levels, document, document + 1, np.array([n_relevant]))
    columns = measure.columns(Views(levels, run)) if hasattr(measure, "columns") else {}
    if "stop" not in columns or len(columns["stop"]) != n_relevant:
        raise ParameterError(
            f"{short_repr(measure)} has no stop distribution over the list; give measures such as "
            "ir_graded.NCU(stop='rb', gamma=0.7) without a cutoff"
        )
    found: Floats = columns["stop"]
    return found
