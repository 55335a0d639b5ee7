"""Read-only arrays for results."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def read_only(values: Array) -> Array:
    """Make an array read-only and return it."""
    values.setflags(write=False)
    return values
