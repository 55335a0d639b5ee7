"""What counts as an id among Python objects, and what as missing."""

from __future__ import annotations

from typing import Any

from ..errors import InputError, shown


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        # NaN and NaT differ from themselves; NA does not say whether it does.
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):
        # A signalling NaN of decimal cannot be compared either.
        return True
    except ValueError:
        # An array, of which each element is compared.
        return False


def as_text(value: Any) -> str:
    """An id as text: bytes are UTF-8, anything else what ``str`` makes of it.

    Raises:
        InputError: it is a list, a dict or another collection, or bytes that are no text.
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise InputError(f"the id {shown(bytes(value))} is no text in UTF-8") from None
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        raise InputError(
            f"an id is text or a whole number, not a {type(value).__name__} such as {shown(value)}"
        )
    try:
        return str(value)
    except ValueError:
        # Python writes no int of thousands of digits.
        raise InputError(f"{shown(value)} is no id: write it as text") from None
