"""The line formats of run and qrels files: which field of a line means what.

A format is a declaration in :data:`FORMATS`; nothing else has to change for a further one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import FileFormatError, ParameterError

Kind = Literal["run", "qrels"]

#: What the value column of a table is called.
VALUE_NAMES: dict[Kind, str] = {"run": "score", "qrels": "relevance"}


@dataclass(frozen=True)
class Format:
    """One line format, whatever blanks separate the fields.

    Attributes:
        name: what a caller writes as ``format=``.
        kind: whether its lines are those of a run or of qrels.
        width: number of fields of a line.
        query_id: position of the topic, from 0 as all positions.
        doc_id: position of the document.
        value: position of the score (run) or the level (qrels).
        layout: the line in words, for messages.
        prefix: text in front of a level that is then a whole number, as in ``L2``.
        extra: further integer columns, as (column name, position).
    """

    name: str
    kind: Kind
    width: int
    query_id: int
    doc_id: int
    value: int
    layout: str
    prefix: str = ""
    extra: tuple[tuple[str, int], ...] = ()

    @property
    def title(self) -> str:
        """The format's name in messages, such as ``TREC run``."""
        return f"{self.name.upper()} {self.kind}"

    @property
    def value_name(self) -> str:
        """The name of the column that holds the value."""
        return VALUE_NAMES[self.kind]


FORMATS: tuple[Format, ...] = (
    Format("trec", "run", 6, query_id=0, doc_id=2, value=4, layout="topic Q0 doc rank score tag"),
    Format("trec", "qrels", 4, query_id=0, doc_id=2, value=3, layout="topic iteration doc level"),
    Format("ntcir", "qrels", 3, query_id=0, doc_id=1, value=2, layout="topic doc L<level>", prefix="L"),
)


def recognise(kind: Kind, first_line_fields: Sequence[str], path: str, line: int = 1) -> Format:
    """Pick the format of a file by the number of fields of its first line that is not blank.

    Args:
        kind: what the file is read as.
        first_line_fields: the fields of that line.
        path: the file, for the message.
        line: the line's number, for the message.

    Returns:
        The first format of this kind with that many fields.

    Raises:
        FileFormatError: no format of this kind has that many fields.
    """
    candidates = _of(kind)
    for candidate in candidates:
        if candidate.width == len(first_line_fields):
            return candidate
    expected = " or ".join(f"{one.width} fields ({one.title}: {one.layout})" for one in candidates)
    raise FileFormatError(
        f"{path}, line {line}: expected a {kind} line of {expected}, found {len(first_line_fields)}: "
        f"{shortened(' '.join(first_line_fields))}"
    )


def named(kind: Kind, name: str) -> Format:
    """Return the format of this kind with this name.

    Raises:
        ParameterError: there is none.
    """
    candidates = _of(kind)
    for candidate in candidates:
        if candidate.name == name:
            return candidate
    known = ", ".join(repr(one.name) for one in candidates)
    raise ParameterError(f"unknown format {name!r} of a {kind} file; known: {known}")


def shortened(text: str, limit: int = 80) -> str:
    """Quote ``text`` for a message, cut to ``limit`` characters."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def _of(kind: Kind) -> list[Format]:
    return [one for one in FORMATS if one.kind == kind]
