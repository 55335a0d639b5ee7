"""Tables as text: their formats, an entry for each, and how names and numbers are written in them."""

from __future__ import annotations

import csv
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from types import SimpleNamespace
from typing import Any

from ir_graded.errors import ParameterError, printable

#: Value of ``digits`` for all digits.
ALL_DIGITS = -1
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


def in_html(text: str) -> str:
    """Escape a text for HTML, on one line."""
    from html import escape

    return escape(printable(text))


def decimal(value: float, digits: int) -> str:
    """Return a number with some decimal places, or with all digits for -1."""
    return repr(value) if digits == ALL_DIGITS else f"{value:.{digits}f}"


def places(value: float | str, digits: int) -> str:
    """Return a value with some decimal places, or all digits for -1; text and integers are unchanged."""
    return str(value) if isinstance(value, (str, int)) else decimal(value, digits)


def json_line(record: Mapping[str, Any], digits: int = ALL_DIGITS) -> str:
    """Return a JSON object in one line, with null for numbers that are not finite, and escapes."""

    def known(value: Any) -> Any:
        if not isinstance(value, float):
            return value
        value = value if digits == ALL_DIGITS else round(value, digits)
        return value if math.isfinite(value) else None

    text = json.dumps({name: known(value) for name, value in record.items()}, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def csv_lines(rows: Iterable[Sequence[object]], delimiter: str = ",") -> list[str]:
    """Return rows as lines of CSV, without their ends; a field with a line break is quoted."""
    lines: list[str] = []
    # With both characters of this line end the writer quotes all fields with line breaks.
    writer = csv.writer(SimpleNamespace(write=lines.append), delimiter=delimiter, lineterminator="\r\n")
    writer.writerows(rows)
    return [line.removesuffix("\r\n") for line in lines]


@dataclass(frozen=True)
class TextTable:
    """Rows to print: labels, such as run and query_id, then a value for each name."""

    labels: list[str]
    names: list[str]
    rows: Sequence[tuple[list[str], Sequence[float | str]]]
    #: Heading of the names in formats with one line per value.
    kind: str = "measure"

    def cells(self, digits: int, text: Callable[[str], str] = str) -> list[list[str]]:
        """Return the texts of the head and of each row."""
        rows = ([*labels, *(places(value, digits) for value in values)] for labels, values in self.rows)
        return [[*map(text, row)] for row in ([*self.labels, *self.names], *rows)]


# ------------------------------------------------------------------------------------------- all rows


def fitted(table: TextTable, digits: int, width: float) -> str:
    """Return a table that people read, within a width if its labels and one column fit.

    Columns of one value are named below the table, except the first; others continue below.
    """
    head, *rows = table.cells(digits, printable)
    labels, columns = len(table.labels), range(len(table.labels), len(head))

    def part(shown: Sequence[int], padding: int = 0) -> str:
        places = [*range(labels), *shown]
        return _simple([[row[at] for at in places] for row in (head, *rows)], labels, padding)

    for padding in (_PADDING, 0):
        whole = part(columns, padding)
        rule = whole.split("\n", 2)[1]  # as long as the longest line
        if len(rule) <= width:
            return whole
    widths = [*map(len, rule.split(_GAP))]
    alike = [at for at in columns[1:] if len(rows) > 1 and len({row[at] for row in rows}) == 1]
    left, parts = [at for at in columns if at not in alike], []
    while left:
        ends = accumulate(widths[at] + len(_GAP) for at in left)
        size = max(1, sum(sum(widths[:labels]) + len(_GAP) * (labels - 1) + end <= width for end in ends))
        parts.append(part(left[:size]))
        left = left[size:]
    if alike:
        said = ", ".join(f"{head[at]} {rows[0][at]}" for at in alike)
        parts.append(wrapped(f"In all rows: {said}.", width))
    return "\n\n".join(parts)


def wrapped(text: str, width: float) -> str:
    """Return a text in lines within a width, except for words that are longer; indentation is kept."""
    if not math.isfinite(width):
        return text
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(textwrap.fill(line, int(width), subsequent_indent=indent, **options))
    return "\n".join(lines)


def _simple(cells: list[list[str]], labels: int, padding: int) -> str:
    head, *rows = cells
    if rows and all(map(str.isascii, chain(head, *rows))):
        return in_columns(head, rows, labels, padding)
    return _in_style(cells, labels, "simple")


def _tabulated(table: TextTable, digits: int, style: str, text: Callable[[str], str] = printable) -> str:
    return _in_style(table.cells(digits, text), len(table.labels), style)


def _in_style(cells: list[list[str]], labels: int, style: str) -> str:
    from tabulate import tabulate

    head, *rows = cells
    align = ["left"] * labels + ["right"] * (len(head) - labels)
    # Names of runs and topics that look like numbers are unchanged.
    return str(tabulate(rows, head, tablefmt=style, disable_numparse=True, colalign=align))


#: What is between columns of tabulate, and blanks by which it makes a column wider than its name.
_GAP = "  "
_PADDING = 2


def in_columns(head: list[str], rows: list[list[str]], labels: int, padding: int = _PADDING) -> str:
    """Return the table that tabulate makes in its style simple, which imports tables of wide characters."""
    rows = [[*map(str.strip, row)] for row in rows]
    widths = [len(name) + padding for name in head]
    for row in rows:
        widths = [max(width, len(text)) for width, text in zip(widths, row, strict=True)]
    lines = [
        _GAP.join(
            text.ljust(width) if at < labels else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, ["-" * width for width in widths], *rows)
    ]
    return "\n".join(map(str.rstrip, lines))


def _separated(table: TextTable, digits: int, delimiter: str) -> str:
    return "\n".join(csv_lines(table.cells(digits), delimiter))


def _json_lines(table: TextTable, digits: int) -> str:
    return "\n".join(
        json_line({**dict(zip(table.labels, labels, strict=True)), table.kind: name, "value": value}, digits)
        for labels, values in table.rows
        for name, value in zip(table.names, values, strict=True)
    )


def _latex_rows(table: TextTable, digits: int) -> str:
    """Return a table for LaTeX with the rules of booktabs."""
    rules = iter((r"\toprule", r"\midrule", r"\bottomrule"))
    lines = _tabulated(table, digits, "latex_raw", in_latex).split("\n")
    return "\n".join(next(rules) if line == r"\hline" else line for line in lines)


def _html_rows(table: TextTable, digits: int) -> str:
    head, *rows = table.cells(digits, in_html)
    return _html(head, rows, "", len(table.labels))


# ------------------------------------------------------------------------------------ means for papers


def _latex(
    head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str = "", booktabs: bool = True
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


def _html(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, labels: int = 1) -> str:
    lines = [f"<caption>{caption}</caption>"] if caption else []
    for tag, *cells in (("th", *head), *(("td", *row) for row in rows)):
        tags = ["th"] * labels + [tag] * (len(cells) - labels)
        lines.append(
            f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for tag, cell in zip(tags, cells, strict=True))}</tr>"
        )
    return "\n".join(["<table>", *lines, "</table>"])


def _raised(signs: str, longest: str) -> str:
    """Return signs in LaTeX, padded to the longest of their column so that digits are aligned."""
    hidden = rf"\phantom{{{longest[len(signs) :]}}}" if len(longest) > len(signs) else ""
    text = f"$^{{{signs}{hidden}}}$" if longest else ""
    return "".join(_IN_LATEX.get(character, character) for character in text)


def _raised_in_html(signs: str, _longest: str) -> str:
    return signs and f"<sup>{signs}</sup>"


# --------------------------------------------------------------------------------------------- formats


@dataclass(frozen=True)
class Paper:
    """Format of means in a paper."""

    #: Escapes a name.
    text: Callable[[str], str]
    #: Template for best values.
    bold: str
    #: Writes the signs of a value, given the longest signs of its column.
    raised: Callable[[str, str], str]
    #: Writes head, rows and caption; LaTeX also takes ``label`` and ``booktabs``.
    render: Callable[..., str]
    #: Adds the signature of the scores, which then no table lacks.
    signed: Callable[[str, object], str] | None = None


@dataclass(frozen=True)
class Format:
    """Format of tables."""

    #: Writes a table with some decimal places; a table that people read in a terminal also takes a width.
    write: Callable[..., str]
    #: Whether programs read it, so that p-values have all digits and lists are complete.
    exact: bool = False
    #: Writes a note below the table; without it, notes are on standard error.
    note: Callable[[str], str] | None = None
    #: Adds the signature of the scores; without it, the signature is a note.
    signed: Callable[[str, object], str] | None = None
    paper: Paper | None = None


def _with_comment(text: str, signature: object) -> str:
    """Return a table with its signature as a comment before the last line, where it hides no other text."""
    text, _, end = text.rpartition("\n")
    return f"{text}\n% {signature}\n{end}"


def _below_comment(text: str, signature: object) -> str:
    return f"# {signature}\n{text}"


FORMATS = {
    "table": Format(fitted, note=printable),
    "tsv": Format(partial(_separated, delimiter="\t"), exact=True, signed=_below_comment),
    "jsonl": Format(_json_lines, exact=True),
    "csv": Format(partial(_separated, delimiter=","), exact=True, signed=_below_comment),
    "latex": Format(
        _latex_rows,
        signed=_with_comment,
        paper=Paper(in_latex, r"\textbf{{{}}}", _raised, _latex, _with_comment),
    ),
    "markdown": Format(
        partial(_tabulated, style="pipe", text=in_markdown),
        note=in_markdown,
        paper=Paper(in_markdown, "**{}**", _raised_in_html, _markdown),
    ),
    "html": Format(
        _html_rows,
        note=lambda text: f"<p>{in_html(text)}</p>",
        paper=Paper(in_html, "<strong>{}</strong>", _raised_in_html, _html),
    ),
}
#: Formats of means in papers, by name.
PAPERS = {name: one.paper for name, one in FORMATS.items() if one.paper is not None}
