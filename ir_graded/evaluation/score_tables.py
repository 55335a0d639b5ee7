"""Tables of mean scores in LaTeX, Markdown and HTML, with the best values and significance marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from string import ascii_lowercase
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError, ParameterError, printable
from ir_graded.io.named_runs import find_run

#: Sign of a significant difference from the baseline.
DAGGER = "†"
#: Number of replicates of the Tukey HSD test.
_REPLICATES = 10_000
#: Signs of each run and measure, as text.
Signs = npt.NDArray[np.object_]


class Tabled(Protocol):
    """Properties of scores that a table uses."""

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
        """Indices of the runs, best first."""


_LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {"|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}", "": "{}"}
#: Special characters, and places for an empty group: before a "[" or "*" that a row separator would take as
#: its argument, and between characters that form a ligature, such as "--" and "?`".
_SPECIAL_IN_LATEX = re.compile(r"[&%$#_{}~^\\|<>]|\A(?=[\[*])|(?<=([-`',]))(?=\1)|(?<=[?!])(?=`)")
#: Special characters, and ampersands that begin an entity.
_SPECIAL_IN_MARKDOWN = re.compile(r"[\\|*_`<>\[\]~$]|&(?=#?\w+;)")


def in_latex(text: str) -> str:
    r"""Escape a name for LaTeX, on one line; control characters are written as Python escapes.

    Example:
        >>> print(in_latex("[a|b]--#1"), in_latex("?`*"))
        {}[a\textbar{}b]-{}-\#1 ?{}`*
    """
    return _SPECIAL_IN_LATEX.sub(lambda found: _LATEX[found[0]], printable(text))


def in_markdown(text: str) -> str:
    r"""Escape a name for a cell of Markdown, on one line.

    Example:
        >>> print(in_markdown("a|b_*c\n"))
        a\|b\_\*c\\n
    """
    return _SPECIAL_IN_MARKDOWN.sub(r"\\\g<0>", printable(text))


def _in_html(text: str) -> str:
    return escape(printable(text))


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


def _raised(signs: str, longest: str) -> str:
    """Return signs in LaTeX, padded to the longest of their column so that digits are aligned."""
    hidden = rf"\phantom{{{longest[len(signs) :]}}}" if len(longest) > len(signs) else ""
    return f"$^{{{signs}{hidden}}}$".replace(DAGGER, r"{\dagger}") if longest else ""


def _raised_in_html(signs: str, _longest: str) -> str:
    return signs and f"<sup>{signs}</sup>"


@dataclass(frozen=True)
class Style:
    """Format of a table.

    Attributes:
        text: function that escapes a name.
        bold: template for best values.
        raised: function of the signs of a value and the longest signs of its column.
        render: function of head, rows and caption.
    """

    text: Callable[[str], str]
    bold: str
    raised: Callable[[str, str], str]
    render: Callable[[Sequence[str], Sequence[Sequence[str]], str], str]


STYLES = {
    "latex": Style(in_latex, r"\textbf{{{}}}", _raised, _latex),
    "markdown": Style(in_markdown, "**{}**", _raised_in_html, _markdown),
    "html": Style(_in_html, "<strong>{}</strong>", _raised_in_html, _html),
}


def table(
    scores: Tabled, style: str, *, baseline: str | None, letters: bool, digits: int, alpha: float
) -> str:
    """Return a table of the means of the runs, best first by the first measure.

    Raises:
        InputError: there is no run or measure, fewer than two topics to test on, or more runs than letters.
        ParameterError: digits is not a whole number from 0 to 17, or the baseline is not a run.
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or digits not in range(18):
        raise ParameterError(f"digits={digits!r} must be a whole number from 0 to 17")
    if not scores.runs or not scores.names:
        raise InputError("a table needs a run and a measure")
    write = STYLES[style]
    texts = np.array([[f"{value:.{digits}f}" for value in row] for row in scores.aggregates])
    # All values that print like the best one are bold.
    first = np.argmax(np.nan_to_num(scores.aggregates, nan=-np.inf), axis=0)
    best = texts == texts[first, range(len(scores.names))]
    names = {run: write.text(scores.runs[run]) for run in scores.best_first}
    signs = np.full(texts.shape, "", dtype=object)
    caption = f"Mean scores over {len(scores.query_ids)} topics. Best values in bold."
    if baseline is not None:
        baseline = find_run(baseline, dict.fromkeys(scores.runs)) or baseline
        if runs := _against(scores, baseline, alpha, signs):
            caption += (
                f" {write.raised(DAGGER, DAGGER)}: differs significantly from {write.text(baseline)} "
                f"(two-sided paired randomisation test, Holm's correction for the {runs} runs of each "
                f"measure, alpha = {alpha:g})."
            )
    if letters and (named := _pairs(scores, alpha, signs)):
        names = {run: f"({named[run]}) {name}" for run, name in names.items()}
        caption += (
            " Raised letters: significantly better than these runs (randomised Tukey HSD test of all pairs "
            f"of runs for each measure, alpha = {alpha:g})."
        )
    longest = [max(column, key=len) for column in signs.T]
    cells = [
        [name]
        + [
            (write.bold.format(text) if best[run, at] else text) + write.raised(signs[run, at], longest[at])
            for at, text in enumerate(texts[run])
        ]
        for run, name in names.items()
    ]
    return write.render(["run", *map(write.text, scores.names)], cells, caption)


def _against(scores: Tabled, baseline: str, alpha: float, signs: Signs) -> int:
    """Add daggers to runs that differ significantly from the baseline.

    Return how many runs are tested, 0 if the topics are too few for any significant difference.
    """
    from ir_graded.meta.baseline import against_baseline

    tests = against_baseline(scores, baseline, alpha=alpha)
    for at, system in enumerate(tests.systems):
        signs[scores.runs.index(str(system)), tests.significant[:, at]] += DAGGER
    return len(tests.systems) if tests.smallest_p_holm < alpha else 0


def _pairs(scores: Tabled, alpha: float, signs: Signs) -> dict[int, str]:
    """Add to each run the letters of runs that are significantly worse.

    Return the letter of each run, nothing if the topics are too few for any significant difference.
    """
    from ir_graded.meta.discriminative import significant_pairs, smallest_tukey_asl
    from ir_graded.meta.matrix import matrices_by_measure
    from ir_graded.meta.options import check_options, check_significance_is_possible

    check_options(alpha=alpha)
    if len(scores.runs) > len(ascii_lowercase):
        raise InputError(f"letters=True allows at most {len(ascii_lowercase)} runs, found {len(scores.runs)}")
    letters = dict(zip(scores.best_first, ascii_lowercase, strict=False))
    matrices = matrices_by_measure(scores)
    runs, topics = len(scores.runs), len(scores.query_ids)
    check_significance_is_possible(
        lambda size: np.array([smallest_tukey_asl(runs, topics, size)]),
        None,
        _REPLICATES,
        alpha,
        tests=runs * (runs - 1) // 2,
        topics=[f"{topics} topics"],
        cannot=f"the randomised Tukey HSD test of {runs} runs cannot find a difference",
        advice="more topics",
        more_replicates="discriminative_power",
    )
    if smallest_tukey_asl(runs, topics, _REPLICATES) >= alpha:
        return {}
    for at, matrix in enumerate(matrices.values()):
        different = significant_pairs(matrix, test="tukey_hsd", alpha=alpha, n_resamples=_REPLICATES, rng=0)
        for one, other in np.transpose(np.triu_indices(len(letters), 1))[different].tolist():
            better, worse = sorted((one, other), key=lambda run: -scores.aggregates[run, at])
            signs[better, at] += letters[worse]
    for cell in np.ndindex(signs.shape):
        signs[cell] = "".join(sorted(signs[cell], key=lambda sign: (sign != DAGGER, sign)))
    return letters
