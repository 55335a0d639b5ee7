"""Convert spans in bytes of UTF-8 to spans in characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ir_graded.core.segments import Bools, Ints
from ir_graded.errors import InputError, short_repr
from ir_graded.io.columns import column_names

if TYPE_CHECKING:
    import pandas as pd

Text = TypeVar("Text")
#: The text of each document, as str or in bytes of UTF-8, by doc_id.
Texts: TypeAlias = Mapping[str, str | bytes] | Callable[[str], str | bytes]
_COLUMNS = ("doc_id", "start", "length")


def to_characters(table: pd.DataFrame, texts: Texts) -> pd.DataFrame:
    """Convert spans that count bytes of UTF-8 to spans that count characters (Unicode code points).

    Args:
        table: qrels or a run with doc_id, start and length.
        texts: the text of each document, as str or in bytes of UTF-8: a mapping from doc_id or a function of
            it.

    Returns:
        The table with start and length in characters.

    Raises:
        InputError: a span begins or ends inside a character or after the end of its text, a text is missing,
            or the table lacks a column.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> spans = pd.DataFrame({"doc_id": ["a"], "start": [3], "length": [2]})
        >>> passages.to_characters(spans, {"a": "für".encode()})
        Traceback (most recent call last):
        ir_graded.errors.InputError: row 0, document 'a': the span 3:2 ends after the text of 4 bytes
        >>> passages.to_characters(spans.assign(length=1), {"a": "für".encode()})
          doc_id  start  length
        0      a      2       1
    """
    if not hasattr(table, "groupby"):
        raise InputError(f"table is a {type(table).__name__}; it must be a pandas DataFrame")
    check_columns("table", table)
    start = table["start"].to_numpy(dtype=np.int64)
    stop = start + table["length"].to_numpy(dtype=np.int64)
    new_start, new_stop = np.zeros_like(start), np.zeros_like(stop)
    for key, found in table.groupby("doc_id", sort=False).indices.items():
        doc_id, rows = str(key), np.asarray(found, dtype=np.int64)
        data = np.frombuffer(_bytes_of(texts, doc_id), dtype=np.uint8)
        # Bytes 10xxxxxx continue a character.
        begins = np.append((data & 0xC0) != 0x80, True)  # noqa: PLR2004
        number = np.concatenate(([0], np.cumsum(begins[:-1])))
        for new, place, word in ((new_start, start, "begins"), (new_stop, stop, "ends")):
            _check(rows, doc_id, start, stop, place, begins, word)
            new[rows] = number[place[rows]]
    return table.assign(start=new_start, length=new_stop - new_start)


def text_of(texts: Mapping[str, Text] | Callable[[str], Text], doc_id: str) -> Text:
    """Return the text of a document. Raises InputError if it is missing."""
    try:
        return texts(doc_id) if callable(texts) else texts[doc_id]
    except KeyError:
        raise InputError(f"texts lack document {doc_id!r}") from None
    except TypeError:
        if callable(texts):
            raise
        raise InputError(
            f"texts are {short_repr(texts)}; they must be a mapping from doc_id to text, or a function of a "
            "doc_id"
        ) from None


def check_columns(name: str, table: Any) -> None:
    """Raise InputError for a table without the columns doc_id, start and length."""
    present = column_names(table) if hasattr(table, "columns") or hasattr(table, "column_names") else ()
    missing = [column for column in _COLUMNS if column not in present]
    if missing:
        raise InputError(
            f"{name}: expected a table with {', '.join(_COLUMNS)}; it lacks {', '.join(missing)}"
        )


def _bytes_of(texts: Texts, doc_id: str) -> bytes:
    """Return the text of a document in bytes of UTF-8."""
    text = text_of(texts, doc_id)
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    raise InputError(f"texts: document {doc_id!r} is {short_repr(text)}; it must be a str or bytes")


def _check(  # parts of the message
    rows: Ints, doc_id: object, start: Ints, stop: Ints, place: Ints, begins: Bools, word: str
) -> None:
    """Raise InputError if a position is not between two characters."""
    inside = (place[rows] >= 0) & (place[rows] < begins.size)
    wrong = ~inside
    wrong[inside] = ~begins[place[rows][inside]]
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        row = int(rows[at])
        where = "inside a character" if inside[at] else f"after the text of {begins.size - 1} bytes"
        span = f"{start[row]}:{stop[row] - start[row]}"
        raise InputError(f"row {row}, document {doc_id!r}: the span {span} {word} {where}")
