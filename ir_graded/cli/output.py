"""Tables of scores as text, with one function per format; all take the same rows."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError, printable
from ir_graded.evaluation.scores import Scores
from ir_graded.evaluation.tables import ALL_DIGITS, decimal, in_latex, in_markdown

if TYPE_CHECKING:
    import pandas as pd

#: Topic in the rows of aggregates, as in trec_eval.
ALL_TOPICS = "all"
#: Columns of p-values.
P_VALUES = ("p", "p_corrected", "p_loss", "p_loss_corrected", "p_first", "q_p")


def show(text: str) -> None:
    """Print on standard output. Raises OSError or InputError that names standard output if writing fails."""
    try:
        click.echo(text)
    except UnicodeEncodeError as error:
        wrong = error.object[error.start]
        is_half = "\ud800" <= wrong <= "\udfff"
        remedy = "use -o jsonl" if is_half else "set the environment variable PYTHONUTF8=1"
        encoding = sys.stdout.encoding
        raise InputError(f"standard output, in {encoding}, cannot hold {wrong!a}; {remedy}") from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def show_note(note: str, output: str) -> None:
    """Print a sentence below a table that people read, else on standard error."""
    for_people = output in {"table", "markdown"}
    if note:
        note = in_markdown(note) if output == "markdown" else printable(note)
        click.echo(f"\n{note}" if for_people else note, err=not for_people)


def frame_text(
    frame: pd.DataFrame, labels: list[str], output: str, digits: int, kind: str = "statistic"
) -> str:
    """Return a table in a format: the levels of the index are the row labels, the columns the values.

    p-values have three decimals in tables that people read, and all digits in the others.
    """
    if output in {"table", "markdown", "latex"}:
        from ir_graded.meta.differences import p_text

        frame = frame.assign(**{name: frame[name].map(p_text) for name in frame if name in P_VALUES})
    rows = [
        ([str(name) for name in (names if isinstance(names, tuple) else (names,))], list(row))
        for names, *row in frame.astype(object).itertuples()
    ]
    return FORMATS[output](Leaderboard(labels, [str(name) for name in frame], rows, kind), digits)


@dataclass(frozen=True)
class Leaderboard:
    """Rows to print: labels (run and, by topic, query_id), then a value per measure."""

    labels: list[str]
    measures: list[str]
    rows: Sequence[tuple[list[str], Sequence[float | str]]]
    #: Heading of the names of the values in formats with one line per value.
    kind: str = "measure"

    @classmethod
    def of(cls, scores: Scores, by_topic: bool, more: Mapping[str, More] | None = None) -> Leaderboard:
        """Return the means of the runs, best first; with ``by_topic`` preceded by the topics of each run."""
        if by_topic and ALL_TOPICS in map(str, scores.query_ids):
            raise InputError(
                f"the qrels have a topic {ALL_TOPICS!r}, which is the name of the means with --by-topic: "
                "leave the option out, or rename the topic"
            )
        more = more or {}
        names = [name + end for name in scores.names for end in ("", *(f" {one}" for one in more))]
        shown = [(scores.values, scores.aggregates), *more.values()]
        values = np.stack([of_topics for of_topics, _ in shown], axis=1).reshape(-1, *scores.values.shape[1:])
        aggregates = np.stack([overall for _, overall in shown], axis=2)
        rows: list[tuple[list[str], list[float]]] = []
        for number in scores.best_first:
            run = scores.runs[number]
            if by_topic:
                of_topics = zip(scores.query_ids, values[:, number].T.tolist(), strict=True)
                rows += [([run, str(query_id)], of_topic) for query_id, of_topic in of_topics]
            rows.append(([run, *([ALL_TOPICS] if by_topic else [])], aggregates[number].ravel().tolist()))
        return cls(["run", *(["query_id"] if by_topic else [])], names, rows)


#: Values beside the scores: of shape (measures, runs, topics), and over all topics (runs, measures).
More = tuple[Floats, Floats]


def places(value: float | str, digits: int) -> str:
    """Return a value with some decimal places, or all digits for -1; text and integers are unchanged."""
    if isinstance(value, (str, int)):
        return str(value)
    return decimal(value, digits)


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


def _tabulated(style: str, escaped: Callable[[str], str] = printable) -> Callable[[Leaderboard, int], str]:
    def write(board: Leaderboard, digits: int) -> str:
        rows = [
            [*map(escaped, labels), *(escaped(places(value, digits)) for value in values)]
            for labels, values in board.rows
        ]
        head = [*map(escaped, board.labels), *map(escaped, board.measures)]
        if style == "simple" and rows and all(map(str.isascii, chain(head, *rows))):
            return _in_columns(head, rows, len(board.labels))
        from tabulate import tabulate

        align = ["left"] * len(board.labels) + ["right"] * len(board.measures)
        # Names of runs and topics that look like numbers are unchanged.
        return str(tabulate(rows, head, tablefmt=style, disable_numparse=True, colalign=align))

    return write


def _in_columns(head: list[str], rows: list[list[str]], labels: int) -> str:
    """Return the table that tabulate makes in its style simple, which imports tables of wide characters."""
    rows = [[*map(str.strip, row)] for row in rows]
    widths = [len(name) + 2 for name in head]
    for row in rows:
        widths = [max(width, len(text)) for width, text in zip(widths, row, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if at < labels else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, ["-" * width for width in widths], *rows)
    ]
    return "\n".join(map(str.rstrip, lines))


def _latex(board: Leaderboard, digits: int) -> str:
    """Return a table for LaTeX with the rules of booktabs."""
    rules = iter((r"\toprule", r"\midrule", r"\bottomrule"))
    lines = _tabulated("latex_raw", in_latex)(board, digits).split("\n")
    return "\n".join(next(rules) if line == r"\hline" else line for line in lines)


def csv_lines(rows: Iterable[Sequence[object]], delimiter: str = ",") -> list[str]:
    """Return rows as lines of CSV, without their ends; a field with a line break is quoted."""
    lines: list[str] = []
    # With both characters of this line end the writer quotes all fields with line breaks.
    writer = csv.writer(SimpleNamespace(write=lines.append), delimiter=delimiter, lineterminator="\r\n")
    writer.writerows(rows)
    return [line.removesuffix("\r\n") for line in lines]


def _separated(delimiter: str) -> Callable[[Leaderboard, int], str]:
    def write(board: Leaderboard, digits: int) -> str:
        rows = ([*labels, *(places(value, digits) for value in values)] for labels, values in board.rows)
        return "\n".join(csv_lines([[*board.labels, *board.measures], *rows], delimiter))

    return write


def _json_lines(board: Leaderboard, digits: int) -> str:
    return "\n".join(
        json_line(
            {**dict(zip(board.labels, labels, strict=True)), board.kind: measure, "value": value}, digits
        )
        for labels, values in board.rows
        for measure, value in zip(board.measures, values, strict=True)
    )


FORMATS: dict[str, Callable[[Leaderboard, int], str]] = {
    "table": _tabulated("simple"),
    "tsv": _separated("\t"),
    "jsonl": _json_lines,
    "csv": _separated(","),
    "latex": _latex,
    "markdown": _tabulated("pipe", in_markdown),
}
