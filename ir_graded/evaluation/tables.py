"""Tables of the means of ``Scores`` for papers, in LaTeX, Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import SumAgg

from ir_graded.errors import GradedError, InputError, ParameterError, did_you_mean, printable, short_repr
from ir_graded.io.run_names import find_run

if TYPE_CHECKING:
    from ir_graded.meta.differences import Differences
    from ir_graded.meta.intervals import ConfidenceIntervals
    from ir_graded.meta.options import Seed

#: Value of ``digits`` for all digits.
ALL_DIGITS = -1
#: Decimal places by default.
DIGITS = 4
#: Signs of values that are significantly better and worse than the baseline.
BETTER, WORSE = "†", "‡"
_IN_LATEX = {BETTER: r"{\dagger}", WORSE: r"{\ddagger}"}

_LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {"|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}", "": "{}"}
#: Special characters, and places for an empty group: before a "[" or "*" that a row separator would take as
#: its argument, and between characters that form a ligature, such as "--" and "?`".
_SPECIAL_IN_LATEX = re.compile(r"[&%$#_{}~^\\|<>]|\A(?=[\[*])|(?<=([-`',]))(?=\1)|(?<=[?!])(?=`)")
#: Special characters of Markdown, among them ampersands that begin an entity, and those of references.
_SPECIAL_IN_MARKDOWN = r"[\\|*_`<>\[\]~$]|&(?=#?\w+;)|(?<!\w)@(?=\w)|[#!%&](?=\d)"
#: Places in references to users, issues and commits, in addresses and in emoji. An empty comment there keeps
#: code-hosting sites from linking them; GitHub links what follows a backslash, too.
_INSIDE_REFERENCE = (
    r"(?<=(?<!\w)@)(?=\w)|(?<=@)(?=[\w.-]*\.\w|[0-9a-f]{7})|(?<=#)(?=\d)|(?<=\b(?i:gh))(?=-\d)|"
    r"(?<=\w)(?=://)|(?<=\b(?i:www))(?=\.)|(?<=:)(?=[\w+-]+:)"
)
_TO_ESCAPE = re.compile(f"{_SPECIAL_IN_MARKDOWN}|{_INSIDE_REFERENCE}", re.ASCII)


def in_latex(text: str) -> str:
    """Escape a name for LaTeX, on one line; control characters are written as Python escapes."""
    return _SPECIAL_IN_LATEX.sub(lambda found: _LATEX[found[0]], printable(text))


def in_markdown(text: str) -> str:
    """Escape a text for a cell of Markdown, on one line; code-hosting sites link no part of it."""
    return _TO_ESCAPE.sub(lambda found: f"\\{found[0]}" if found[0] else "<!-- -->", printable(text))


def _in_html(text: str) -> str:
    from html import escape

    return escape(printable(text))


def _latex(
    head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str, booktabs: bool
) -> str:
    if wrong := {*label} & {*"{}%\\#~^$&"}:
        raise ParameterError(f"label={label!r} has {min(wrong)!r}, which LaTeX does not take in labels")
    top, middle, bottom = (rf"\{name}rule" if booktabs else r"\hline" for name in ("top", "mid", "bottom"))
    lines = [
        *(r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"),
        *([rf"\label{{{label}}}"] if label else []),
        *(rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", top),
        *(" & ".join(head) + r" \\", middle),
        *(" & ".join(row) + r" \\" for row in rows),
        *(bottom, r"\end{tabular}", r"\end{table}"),
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
    text = f"$^{{{signs}{hidden}}}$" if longest else ""
    return "".join(_IN_LATEX.get(character, character) for character in text)


def _raised_in_html(signs: str, _longest: str) -> str:
    return signs and f"<sup>{signs}</sup>"


@dataclass(frozen=True)
class Style:
    """Format of a table."""

    #: Escapes a name.
    text: Callable[[str], str]
    #: Template for best values.
    bold: str
    #: Writes the signs of a value, given the longest signs of its column.
    raised: Callable[[str, str], str]
    #: Writes head, rows and caption; LaTeX also takes ``label`` and ``booktabs``.
    render: Callable[..., str]


STYLES = {
    "latex": Style(in_latex, r"\textbf{{{}}}", _raised, _latex),
    "markdown": Style(in_markdown, "**{}**", _raised_in_html, _markdown),
    "html": Style(_in_html, "<strong>{}</strong>", _raised_in_html, _html),
}


def decimal(value: float, digits: int) -> str:
    """Return a number with some decimal places, or with all digits for -1."""
    return repr(value) if digits == ALL_DIGITS else f"{value:.{digits}f}"


def _add_signs(
    signs: dict[tuple[str, str], list[str]], found: Differences, sign_of: Callable[[str, bool], str]
) -> bool:
    """Add the signs of significant differences by run and measure; return whether there can be any.

    ``sign_of`` gets the name of the other run, and whether the run is better.
    """
    from ir_graded.meta.options import ALL_TOPICS

    if ALL_TOPICS in found.untestable:
        return False
    better = (found.difference > 0).tolist()
    for at in np.flatnonzero(found.significant).tolist():
        signs[str(found.run[at]), found.measure[at]].append(sign_of(str(found.baseline[at]), better[at]))
    return True


def _test_of(found: Differences) -> str:
    """Return words for a caption."""
    from ir_graded.meta.paired_tests import CORRECTIONS, TESTS

    return f"two-sided paired {TESTS[found.test].name} test, {CORRECTIONS[found.correction].name}"


def _digits_of(scores: Any, digits: Any) -> list[int]:
    """Return the decimal places of each measure."""
    places = [DIGITS] * len(scores.names)
    given = digits if isinstance(digits, Mapping) else dict.fromkeys(scores.names, digits)
    for measure, number in given.items():
        if isinstance(number, bool) or not isinstance(number, int) or number not in range(ALL_DIGITS, 18):
            raise ParameterError(
                f"digits={digits!r} must be whole numbers from 0 to 17, or -1 for all digits"
            )
        places[scores.position(measure)] = number
    return places


def _shown(
    scores: Any, names: Mapping[Any, str] | None, text: Callable[[str], str]
) -> tuple[dict[str, str], list[str]]:
    """Return the texts of the runs by name, best first, and those of the measures."""
    runs = {scores.runs[at]: text(scores.runs[at]) for at in scores.best_first}
    measures = [*map(text, scores.names)]
    for key, name in (names or {}).items():
        if key in runs:
            runs[key] = name
            continue
        try:
            measures[scores.position(key)] = name
        except GradedError:
            hint = (meant := did_you_mean(key, [*runs, *scores.names])) and f"; {meant}"
            raise ParameterError(
                f"names: {short_repr(key)} is neither a run nor a measure of the scores{hint}"
            ) from None
    return runs, measures


def _ended(caption: str) -> str:
    """Return a caption that other sentences can follow."""
    return f"{caption}." if re.search(r"[^.!?}]\Z", caption) else caption


def _intervals_of(scores: Any, intervals: Any, rng: Seed, weights: Any) -> ConfidenceIntervals:
    from ir_graded.meta.intervals import ConfidenceIntervals, confidence_intervals

    found = confidence_intervals(scores, rng=rng, weights=weights) if intervals is True else intervals
    if not isinstance(found, ConfidenceIntervals):
        raise ParameterError(
            f"intervals={short_repr(intervals)} must be True, False or a result of meta.confidence_intervals"
        )
    own = (found.runs, found.measures) == (scores.runs, tuple(scores.names))
    # Where the table has sums, the intervals are of means.
    summed = [isinstance(measure.aggregator(), SumAgg) for measure in scores.measures] if own else [False]
    times = np.where(summed, len(scores.query_ids), 1)[:, np.newaxis]
    found = replace(found, mean=found.mean * times, low=found.low * times, high=found.high * times)
    if not own or not np.allclose(found.mean, scores.aggregates.T):
        raise InputError(
            "intervals: their runs, measures or means differ from those of the scores: use "
            "meta.confidence_intervals(scores) with the weights of the table, if any"
        )
    return found


def table(  # noqa: PLR0913  # options of to_latex
    scores: Any,
    style: str,
    *,
    baseline: str | None,
    letters: bool,
    digits: int | Mapping[Any, int],
    alpha: float,
    test: str,
    correction: str | None,
    rng: Seed,
    caption: str | None,
    names: Mapping[Any, str] | None,
    intervals: bool | ConfidenceIntervals,
    weights: Any,
    **layout: Any,
) -> str:
    """Return a table of the means of the runs, best first by the first measure.

    ``weights`` are those of the scores, from ``weighted``.
    """
    from ir_graded.meta.differences import differences

    places = _digits_of(scores, digits)
    if not scores.runs or not scores.names:
        raise InputError("a table needs a run and a measure")
    write = STYLES[style]
    rows = [[*map(decimal, row, places)] for row in scores.aggregates.tolist()]
    # All values that print like the best one are bold.
    first = np.argmax(np.nan_to_num(scores.aggregates, nan=-np.inf), axis=0)
    best = [rows[run][column] for column, run in enumerate(first)]
    shown, columns = _shown(scores, names, write.text)
    signs: dict[tuple[str, str], list[str]] = {(run, name): [] for name in scores.names for run in shown}
    notes = [f"Mean scores over {len(scores.query_ids)} topics." if caption is None else _ended(caption)]
    notes += ["Best values in bold."] if weights is None else ["Topics are weighted.", "Best values in bold."]
    of_tests = len(notes)
    compare = partial(
        differences, scores, test=test, correction=correction, alpha=alpha, rng=rng, weights=weights
    )
    if baseline is not None:
        baseline = find_run(baseline, dict.fromkeys(scores.runs)) or baseline
        if _add_signs(signs, found := compare(baseline), lambda _, better: BETTER if better else WORSE):
            notes += [
                f"{write.raised(BETTER, BETTER)}: significantly better, {write.raised(WORSE, WORSE)}: "
                f"significantly worse than {shown[baseline]} ({_test_of(found)} for the {found.tests[0]} "
                f"runs of each measure, alpha = {alpha:g}).",
                *map(write.text, found.notes),
            ]
    texts = chain.from_iterable(product(ascii_lowercase, repeat=size) for size in count(1))
    of_run = dict(zip(shown, map("".join, texts), strict=False))
    if letters and _add_signs(signs, found := compare(None), lambda other, _: of_run[other]):
        shown = {run: f"({of_run[run]}) {name}" for run, name in shown.items()}
        notes += [
            f"Raised letters: significantly better than these runs ({_test_of(found)} for the "
            f"{found.tests[0]} pairs of runs of each measure, alpha = {alpha:g}).",
            *map(write.text, found.notes),
        ]
    # Without separators, "aa" would be two letters.
    separator = "," if len(shown) > len(ascii_lowercase) else ""
    raised = {
        cell: separator.join(sorted(some, key=lambda sign: (sign not in {BETTER, WORSE}, len(sign), sign)))
        for cell, some in signs.items()
    }
    longest = [max((raised[run, name] for run in shown), key=len) for name in scores.names]
    within = None if intervals is False else _intervals_of(scores, intervals, rng, weights)
    if within is not None:
        notes.append(
            f"Brackets: {100 * within.confidence:g}{write.text('%')} confidence intervals (bootstrap of the "
            f"topics, {within.n_resamples:,} replicates)."
        )
    cells = []
    for at, run in zip(scores.best_first, shown, strict=True):
        cells.append([shown[run]])
        for column, name in enumerate(scores.names):
            text = rows[at][column]
            value = write.bold.format(text) if text == best[column] else text
            value += write.raised(raised[run, name], longest[column])
            if within is not None:
                ends = (float(one[column, at]) for one in (within.low, within.high))
                value += f" [{', '.join(decimal(end, places[column]) for end in ends)}]"
            cells[-1].append(value)
    text = write.render(["run", *columns], cells, " ".join(dict.fromkeys(filter(None, notes))), **layout)
    if style != "latex":
        return text
    # Tests and intervals have notes.
    drawn = len(notes) > of_tests
    return with_comment(text, replace(scores.signature, seed=rng if drawn and isinstance(rng, int) else None))


def with_comment(latex: str, signature: Any) -> str:
    """Return a table with its signature as a comment before the last line, where it hides no other text."""
    text, _, end = latex.rpartition("\n")
    return f"{text}\n% {signature}\n{end}"
