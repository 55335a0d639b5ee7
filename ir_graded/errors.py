"""Errors and warnings of this package, and the formatting of values and ids in messages.

All errors derive from :class:`GradedError`. It is a ``ValueError``, as ir-measures raises, so that
``except ValueError`` around an ir-measures call keeps working.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

__all__ = [
    "CoverageWarning",
    "FileFormatError",
    "GradedError",
    "InputError",
    "MeasureSyntaxError",
    "NoSharedTopicsError",
    "ParameterError",
    "SampledJudgmentsWarning",
    "UnknownMeasureError",
]


class GradedError(ValueError):
    """Base class of all errors of this package."""


class ParameterError(GradedError):
    """Raised for a parameter that does not exist, or a value of the wrong type or out of range."""


class MeasureSyntaxError(GradedError):
    """Raised when the name of a measure is known but the text around it cannot be read."""


class UnknownMeasureError(GradedError, NameError):
    """A string names no measure; also a ``NameError``, as ir-measures raises it."""


class InputError(GradedError):
    """Raised when qrels or a run cannot be scored, for example for a duplicate, a NaN or a wrong column."""


class FileFormatError(InputError):
    """Raised when a file, or a line of it, is not in a supported format."""


class NoSharedTopicsError(InputError):
    """Raised when the qrels are empty, or the qrels and a run have no topic in common."""


class CoverageWarning(UserWarning):
    """Warning that qrels and runs do not match well, for example missing topics or scores that all tie."""


class SampledJudgmentsWarning(CoverageWarning):
    """Warning that judgments are a sample, which some measures score as if it were complete."""


#: End of a sentence on measures that do not estimate.
AS_COMPLETE = "the sample as if it were complete. Use ir_graded.score_estimates."
#: Number of characters of a value that a message shows.
_SHOWN = 400
#: Number of ids that a message shows.
MOST_IDS = 3


def of_run(name: str, error: GradedError) -> GradedError:
    """Return the error of one of several runs with the name of the run, once."""
    text, named = str(error).removeprefix("run: "), f"run {name!r}"
    return type(error)(text if text.startswith(named) else f"{named}: {text}")


@contextmanager
def valid_text() -> Iterator[None]:
    """Raise InputError for an id or a name with a lone surrogate, which Polars and Arrow cannot hold."""
    try:
        yield
    except UnicodeEncodeError as error:
        text = short_repr(error.object)
        raise InputError(f"the id or name {text} is not valid text: it has a lone surrogate") from None


def format_ids(ids: Sequence[object]) -> str:
    """Format the first ids for a message, with dots if there are more."""
    return ", ".join(map(short_repr, ids[:MOST_IDS])) + (" ..." if len(ids) > MOST_IDS else "")


def did_you_mean(name: object, known: Iterable[object], most: int = MOST_IDS) -> str:
    """Return a question with the known names that are most similar to another; empty without any."""
    near = get_close_matches(str(name), list(map(str, known)), most)
    return f"did you mean {' or '.join(map(short_repr, near))}?" if near else ""


def short_repr(value: object) -> str:
    """Return the repr of a value for a message, shortened if it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python cannot print an int with thousands of digits, nor a container with one.
        return f"<{type(value).__name__} of too many digits>"
    return cut(text)


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise ParameterError unless a value of an option is one of its choices, and of the type of that one."""
    if not any(isinstance(value, type(one)) and value == one for one in choices):
        raise ParameterError(f"{name}={short_repr(value)} must be one of {', '.join(map(repr, choices))}")


def shortened(text: str, limit: int = 80) -> str:
    """Quote a text for a message, cut to ``limit`` characters."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def cut(text: str) -> str:
    """Return a text for a message, only its beginning if it is long."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def printable(text: str, longest: int | None = None) -> str:
    r"""Return text on one line that is safe to show on a terminal.

    Control characters, line ends, direction marks and other invisible characters are written as Python
    escapes.

    Args:
        text: any text, such as a file name.
        longest: longest text; in longer text the middle is replaced by an ellipsis.

    Example:
        >>> print(printable("red\x1b[31m"), printable("abcdefghij", 6))
        red\x1b[31m ab…hij
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest // 2 - 1]}…{text[-longest // 2 :]}"


def caller(*through: str) -> tuple[str, int]:
    """Return the first package on the stack beside this and some others, and its distance from here."""
    frame, name, level = inspect.currentframe(), "ir_graded", 0
    while frame is not None and name in {"ir_graded", *through}:
        frame, level = frame.f_back, level + 1
        name = "" if frame is None else str(frame.f_globals.get("__name__")).partition(".")[0]
    return name, level


def warn_caller(text: str, category: type[Warning] = CoverageWarning) -> None:
    """Issue a warning at the line that called the package."""
    warnings.warn(text, category, stacklevel=caller()[1])
