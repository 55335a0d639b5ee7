"""Graded-relevance measures for the ir-measures ecosystem.

After importing this package, its measures work in ``ir_measures.calc`` and related functions, in
PyTerrier experiments and, by name, wherever a measure string is parsed.

Example:
    >>> import ir_graded, ir_measures
    >>> from ir_measures import nDCG
    >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 3.0, "x": 2.0, "a": 1.0}}
    >>> results = ir_measures.calc_aggregate(["P-measure@1000", "Q", nDCG@10], qrels, run)
    >>> {str(measure): round(value, 4) for measure, value in results.items()}
    {'P-measure@1000': 0.8333, 'Q': 0.75, 'nDCG@10': 0.7602}
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from . import errors, plugin
from ._utils.later import CONSTANTS
from ._version import __version__ as __version__
from .errors import *

plugin.register()

# Loaded on first access, so that importing the package is fast. The stub names each object with its module.
_LAZY = dict.fromkeys(["GradedMeasure", *CONSTANTS], "measures") | {
    name.name: statement.module
    for statement in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(statement, ast.ImportFrom)
    for name in statement.names
    if name.name not in {"*", "__version__"}
}


def __getattr__(name: str) -> Any:
    if name not in {*_LAZY, "measures"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    origin = _LAZY.get(name)
    module = import_module(f".{origin or name}", __name__)
    value = getattr(module, name) if origin else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = [*errors.__all__, *_LAZY]
