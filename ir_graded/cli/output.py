"""Tables of scores on standard output, in the formats of ``text_tables``."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
import numpy as np

from ir_graded._utils.text_tables import FORMATS, TextTable, wrapped
from ir_graded.core.segments import Floats
from ir_graded.errors import InputError, printable
from ir_graded.evaluation.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

#: Topic in the rows of aggregates, as in trec_eval.
ALL_TOPICS = "all"
#: Columns of p-values.
P_VALUES = ("p", "p_corrected", "p_loss", "p_loss_corrected", "p_first", "p_best", "q_p")


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


#: Whether tables may be wider than the terminal.
WIDE = "ir_graded.wide"


def width() -> float:
    """Return the width of a terminal for tables, at least 80; infinite with ``--wide``."""
    if click.get_current_context().meta.get(WIDE):
        return math.inf
    return max(80, shutil.get_terminal_size().columns)


def written(table: TextTable, output: str, digits: int) -> str:
    """Return a table in a format; one that people read in a terminal fits into it."""
    further = {"width": width()} if output == "table" else {}
    return FORMATS[output].write(table, digits, **further)


def show_note(note: str, output: str, *, whole: bool = False) -> None:
    """Print a sentence below a table if people read the format, else on standard error.

    With ``whole``, it stays on one line, so that it can be copied.
    """
    if note:
        below = FORMATS[output].note
        is_wrapped = output == "table" and not whole
        text = wrapped(printable(note), width()) if is_wrapped else below and below(note)
        click.echo(f"\n{text}" if text else printable(note), err=below is None)


def frame_text(
    frame: pd.DataFrame, labels: list[str], output: str, digits: int, kind: str = "statistic"
) -> str:
    """Return a table in a format: the levels of the index are the row labels, the columns the values.

    p-values have three decimals in tables that people read, and all digits in the others.
    """
    if not FORMATS[output].exact:
        from ir_graded.meta.differences import p_text

        frame = frame.assign(**{name: frame[name].map(p_text) for name in frame if name in P_VALUES})
    rows = [
        ([str(name) for name in (names if isinstance(names, tuple) else (names,))], list(row))
        for names, *row in frame.astype(object).itertuples()
    ]
    return written(TextTable(labels, [str(name) for name in frame], rows, kind), output, digits)


#: Values beside the scores: of shape (measures, runs, topics), and over all topics (runs, measures).
More = tuple[Floats, Floats]


def leaderboard(scores: Scores, by_topic: bool, more: Mapping[str, More] | None = None) -> TextTable:
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
    return TextTable(["run", *(["query_id"] if by_topic else [])], names, rows)
