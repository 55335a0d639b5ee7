"""Tables of mean scores for papers and pages: best values bold, significant differences marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

import numpy as np

from ir_graded.core.segments import Bools, Floats
from ir_graded.errors import InputError, ParameterError


class Tabled(Protocol):
    """What a table needs of the scores."""

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""

    @property
    def query_ids(self) -> tuple[Any, ...]:
        """The topics."""

    @property
    def names(self) -> list[str]:
        """Printed names of the measures."""

    @property
    def aggregates(self) -> Floats:
        """Means, shape ``(runs, measures)``."""

    @property
    def best_first(self) -> list[int]:
        """Numbers of the runs."""


_LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _in_latex(text: str) -> str:
    return re.sub(r"[&%$#_{}~^\\]", lambda found: _LATEX[found[0]], text)


def _in_markdown(text: str) -> str:
    return re.sub(r"([\\|*_`<\[\]])", r"\\\1", text)


def _latex(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    lines = [
        *(r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"),
        *(rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule"),
        *(" & ".join(head) + r" \\", r"\midrule"),
        *(" & ".join(row) + r" \\" for row in rows),
        *(r"\bottomrule", r"\end{tabular}", r"\end{table}"),
    ]
    return "\n".join(lines)


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    rule = [":--", *["--:"] * (len(head) - 1)]
    return "\n".join([*(f"| {' | '.join(row)} |" for row in (head, rule, *rows)), "", caption])


def _html(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
    lines += [f"<tr><th>{name}</th>{''.join(f'<td>{v}</td>' for v in values)}</tr>" for name, *values in rows]
    return "\n".join(["<table>", f"<caption>{caption}</caption>", *lines, "</table>"])


@dataclass(frozen=True)
class Style:
    """How a table is written.

    Attributes:
        text: escapes a name.
        bold: marks a best value.
        mark: the sign of a significant difference.
        write: takes head, rows and caption.
    """

    text: Callable[[str], str]
    bold: str
    mark: str
    write: Callable[[Sequence[str], Sequence[Sequence[str]], str], str]


STYLES = {
    "latex": Style(_in_latex, r"\textbf{{{}}}", r"$^{\dagger}$", _latex),
    "markdown": Style(_in_markdown, "**{}**", "†", _markdown),
    "html": Style(escape, "<strong>{}</strong>", "†", _html),
}


def table(scores: Tabled, style: str, *, baseline: str | None, digits: int, alpha: float) -> str:
    """Return the means of the runs, best first by the first measure.

    Raises:
        InputError: there is no run or measure, or fewer than two topics to test on.
        ParameterError: digits is no whole number from 0 to 17, or the baseline is no run.
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or digits not in range(18):
        raise ParameterError(f"digits={digits!r} must be a whole number from 0 to 17")
    if not scores.runs or not scores.names:
        raise InputError("a table needs a run and a measure")
    write = STYLES[style]
    texts = np.array([[f"{value:.{digits}f}" for value in row] for row in scores.aggregates])
    # Equal to the reader, equally bold.
    first = np.argmax(np.nan_to_num(scores.aggregates, nan=-np.inf), axis=0)
    best = texts == texts[first, range(len(scores.names))]
    marked, note = _significant(scores, baseline, alpha, write)
    cells = [
        [write.text(scores.runs[run])]
        + [
            (write.bold.format(text) if best[run, at] else text) + (write.mark if marked[run, at] else "")
            for at, text in enumerate(texts[run])
        ]
        for run in scores.best_first
    ]
    caption = f"Mean scores over {len(scores.query_ids)} topics. Best values in bold.{note}"
    return write.write(["run", *map(write.text, scores.names)], cells, caption)


def _significant(scores: Tabled, baseline: str | None, alpha: float, style: Style) -> tuple[Bools, str]:
    """Return where runs differ significantly from the baseline, by run and measure, and a sentence on it."""
    marked = np.zeros(scores.aggregates.shape, dtype=np.bool_)
    if baseline is None:
        return marked, ""
    from ir_graded.meta.baseline import against_baseline

    tests = against_baseline(scores, baseline, alpha=alpha)
    for at, system in enumerate(tests.systems):
        marked[scores.runs.index(str(system))] = tests.significant[:, at]
    return marked, (
        f" {style.mark}: differs significantly from {style.text(baseline)} (two-sided paired randomisation "
        f"test, Holm's correction for the {len(tests.systems)} runs of each measure, "
        f"alpha = {alpha:g})."
    )
