"""Every error that this package raises on purpose.

They all derive from :class:`GradedError`, a ``ValueError`` as ir-measures raises
it, so that ``except ValueError`` around an ir-measures call keeps working.
"""

from __future__ import annotations


class GradedError(ValueError):
    """Base of the package's errors: the message says what is wrong, where, and what would be right."""


class ParameterError(GradedError):
    """A measure got a parameter that it does not take, or a value of a wrong type or range."""


class MeasureSyntaxError(GradedError):
    """A measure's name is known but the text around it cannot be read."""


class InputError(GradedError):
    """Qrels or a run hold something that cannot be scored: a duplicate, a NaN, a wrong column."""


class FileFormatError(InputError):
    """A file (or one line of it) is not in a format that can be read."""


class NoSharedTopicsError(InputError):
    """The qrels are empty, or the qrels and a run have no topic in common."""


#: Characters of a value that a message shows.
_SHOWN = 400
#: Ids that a message shows.
MOST_IDS = 3


def listed(ids: list[str]) -> str:
    """The first of some ids, for a message, and dots where there are more."""
    return ", ".join(map(repr, ids[:MOST_IDS])) + (" ..." if len(ids) > MOST_IDS else "")


def shown(value: object) -> str:
    """A value as Python writes it, for a message: cut where it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python writes no int of thousands of digits, nor what holds one.
        return f"<{type(value).__name__} of too many digits>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
