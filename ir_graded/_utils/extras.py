"""Imports of optional libraries, with an error that names the extra to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ir_graded.errors import GradedError


def extra(module: str, name: str) -> Any:
    """Import a module of an optional library. Raises GradedError with the extra if it is not installed.

    Args:
        module: the module, such as 'scipy.stats'.
        name: the extra of this package that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise GradedError(
            f"this feature requires {library}: install it with pip install 'ir-graded[{name}]'"
        ) from None
