"""What all results have in common: they are finished, and their numbers cannot be written over."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

_Array = TypeVar("_Array", bound=np.ndarray[Any, Any])


def read_only(values: _Array) -> _Array:
    """The same array, which refuses to be changed from now on."""
    values.setflags(write=False)
    return values
