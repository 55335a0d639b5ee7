"""Libraries that only some parts of the package need, and what to say where one is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ir_graded.errors import GradedError


def extra(module: str, name: str) -> Any:
    """A module of an optional library. Raises GradedError, which names the extra, where it is missing.

    Args:
        module: the module, such as 'scipy.stats'.
        name: the extra of this package that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise GradedError(f"{library} is needed here: pip install 'ir-graded[{name}]'") from None
