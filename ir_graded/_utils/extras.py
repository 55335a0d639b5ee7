"""Optional libraries, with an error that names the extra where one is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ir_graded.errors import GradedError


def extra(module: str, name: str) -> Any:
    """Import a module of an optional library. Raises GradedError, which names the extra, without it.

    Args:
        module: the module, such as 'scipy.stats'.
        name: the extra of this package that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise GradedError(f"{library} is needed here: pip install 'ir-graded[{name}]'") from None
