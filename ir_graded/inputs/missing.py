"""What counts as missing among Python objects."""

from __future__ import annotations

from typing import Any


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        # NaN and NaT differ from themselves; NA does not say whether it does.
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True
