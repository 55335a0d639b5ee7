"""Conversion of Python objects to ids, and detection of missing ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_graded.errors import InputError, short_repr


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    try:
        # NaN and NaT differ from themselves; comparing NA gives NA.
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):
        # A signalling NaN of decimal cannot be compared either.
        return True
    except ValueError:
        # An array is compared elementwise.
        return False


def as_text(value: Any) -> str:
    """Return an id as text, by one rule for all forms of qrels and runs.

    A string counts by its characters, even if its class defines another ``__str__``; bytes are decoded as
    UTF-8; a whole number, even if it is a float, becomes its digits.

    Raises:
        InputError: the value is anything else, such as 1.5, True, a date or a path.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        try:
            return str(int(value))
        except ValueError:
            # Python cannot print an int with thousands of digits.
            raise InputError(f"{short_repr(value)} is not an id; write it as text") from None
    if isinstance(value, (float, np.floating)):
        # Larger floats may represent several whole numbers.
        limit = 2.0 ** (np.finfo(type(value)).nmant + 1)
        if not (float(value).is_integer() and abs(float(value)) < limit):
            raise invalid_id(value)
        return str(int(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise InputError(f"the id {short_repr(bytes(value))} is not valid UTF-8") from None
    raise invalid_id(value)


def invalid_id(value: Any) -> InputError:
    """Return the error for a value that cannot be an id."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return InputError(
            f"the float {short_repr(value)} may represent several whole numbers; give ids as text or integers"
        )
    return InputError(
        f"an id is text or a whole number, not a {type(value).__name__} such as {short_repr(value)}"
    )


def type_of_id(value: Any) -> type:
    """Return the type that distinguishes ids that are equal as text.

    Subclasses of ``str``, and integers or floats of NumPy, count as the Python type, to which they are equal.
    """
    for kind, subclasses in ((str, str), (int, (int, np.integer)), (float, (float, np.floating))):
        if isinstance(value, subclasses):
            return kind
    return type(value)
