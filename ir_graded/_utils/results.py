"""Results that hold arrays, printed in one line: ``Unjudged(runs=('a',), by_rank=<array 1 x 1000>)``."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def read_only(values: Array) -> Array:
    """Make an array read-only and return it."""
    values.setflags(write=False)
    return values


#: Longest text of a value, and most numbers of an array, that are printed whole.
_LONGEST, _MOST_NUMBERS = 60, 6


class ShortRepr:
    """Base of dataclasses that print long values by their sizes; they are made with ``repr=False``."""

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={short(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]  # classes derived from this are dataclasses
            if field.repr and not field.name.startswith("_")
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def short(value: Any) -> str:
    """Return the repr of a value, or its type and size where the repr is long."""
    if isinstance(value, np.ndarray):
        text = str(value.tolist()) if value.size <= _MOST_NUMBERS else ""
        return text if 0 < len(text) <= _LONGEST else f"<array {' x '.join(map(str, value.shape))}>"
    text = repr(value)
    if len(text) <= _LONGEST and "\n" not in text:
        return text
    size = f" of {len(value)}" if isinstance(value, Sized) else ""
    return f"<{type(value).__name__}{size}>"
