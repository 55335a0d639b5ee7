"""Arrays of finished results."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def read_only(values: Array) -> Array:
    """Return the array itself, which cannot be written to from now on."""
    values.setflags(write=False)
    return values
