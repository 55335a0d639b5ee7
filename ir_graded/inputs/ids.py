"""What counts as an id among Python objects, and what as missing."""

from __future__ import annotations

from typing import Any

from ..errors import InputError


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        # NaN and NaT differ from themselves; NA does not say whether it does.
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def as_text(value: Any) -> str:
    """An id as text: bytes are UTF-8, anything else what ``str`` makes of it.

    Raises:
        InputError: it is a list, a dict or another collection, or bytes that are no text.
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise InputError(f"the id {bytes(value)!r} is no text in UTF-8") from None
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        raise InputError(f"an id is text or a whole number, not a {type(value).__name__} such as {value!r}")
    return str(value)
