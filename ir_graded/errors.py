"""Every error that this package raises on purpose, its warning, and how values and ids show in messages.

The errors derive from :class:`GradedError`, a ``ValueError`` as ir-measures raises
it, so that ``except ValueError`` around an ir-measures call keeps working.
"""

from __future__ import annotations


class GradedError(ValueError):
    """Base of the package's errors: the message says what is wrong, where, and what would be right."""


class ParameterError(GradedError):
    """A measure got a parameter that it does not take, or a value of a wrong type or range."""


class MeasureSyntaxError(GradedError):
    """A measure's name is known but the text around it cannot be read."""


class UnknownMeasureError(GradedError, NameError):
    """A string names no measure; also a ``NameError``, as ir-measures raises it."""


class InputError(GradedError):
    """Qrels or a run hold something that cannot be scored: a duplicate, a NaN, a wrong column."""


class FileFormatError(InputError):
    """A file (or one line of it) is not in a format that can be read."""


class NoSharedTopicsError(InputError):
    """The qrels are empty, or the qrels and a run have no topic in common."""


class CoverageWarning(UserWarning):
    """Qrels and runs fit badly: topics are missing, nothing is judged or relevant, or all scores tie."""


#: Characters of a value that a message shows.
_SHOWN = 400
#: Ids that a message shows.
MOST_IDS = 3


def format_ids(ids: list[str]) -> str:
    """Format the first ids for a message, with dots where there are more."""
    return ", ".join(map(repr, ids[:MOST_IDS])) + (" ..." if len(ids) > MOST_IDS else "")


def short_repr(value: object) -> str:
    """Return the repr of a value for a message, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python writes no int of thousands of digits, nor what holds one.
        return f"<{type(value).__name__} of too many digits>"
    return cut(text)


def cut(text: str) -> str:
    """A text for a message: its beginning where it is long."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def printable(text: str, longest: int | None = None) -> str:
    r"""Text in one line, safe to show on a terminal.

    Control characters, line ends, marks that change the direction of writing and everything else that cannot
    be seen are written as escapes, as Python does.

    Args:
        text: any text, such as a file name.
        longest: number of characters from which on the middle is replaced by an ellipsis.

    Example:
        >>> print(printable("red\x1b[31m"), printable("abcdefghij", 6))
        red\x1b[31m ab…hij
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest // 2 - 1]}…{text[-longest // 2 :]}"
