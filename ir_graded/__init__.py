"""Graded-relevance measures for the ir-measures ecosystem.

Importing this package is all it takes: its measures then work in ``ir_measures.calc`` and its
relatives, in PyTerrier's experiments and, by name, wherever a measure string is read.

Example:
    >>> import ir_graded, ir_measures
    >>> from ir_measures import nDCG
    >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 3.0, "x": 2.0, "a": 1.0}}
    >>> results = ir_measures.calc_aggregate(["P-measure@1000", "Q", nDCG@10], qrels, run)
    >>> {str(measure): round(value, 4) for measure, value in results.items()}
    {'P-measure@1000': 0.8333, 'Q': 0.75, 'nDCG@10': 0.7602}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import plugin
from .errors import (
    CoverageWarning,
    FileFormatError,
    GradedError,
    InputError,
    MeasureSyntaxError,
    NoSharedTopicsError,
    ParameterError,
)
from .measures import (
    AWP,
    BR,
    EBR,
    GAP,
    NCU,
    R_WP,
    GradedMeasure,
    MAgP,
    O,
    P_measure,
    P_plus,
    Q,
    R_measure,
    gP,
    gR,
    iRBU,
    nCG,
    nERR,
)

if TYPE_CHECKING:
    from . import meta, passages
    from .bundled import sample
    from .evaluation import evaluate
    from .explanation import Explanation, explain
    from .inputs.datasets import level_definitions
    from .judgedness import Unjudged, unjudged
    from .reading import read_qrels, read_run
    from .reporting import report
    from .scores import Scores

__version__ = "0.1.0"

plugin.register()

_MODULES = {"meta", "passages"}
# Loaded when first asked for: importing the package stays quick.
_LAZY = {
    "Explanation": "explanation",
    "Scores": "scores",
    "Unjudged": "judgedness",
    "evaluate": "evaluation",
    "explain": "explanation",
    "level_definitions": "inputs.datasets",
    "meta": "meta",
    "passages": "passages",
    "read_qrels": "reading",
    "read_run": "reading",
    "report": "reporting",
    "sample": "bundled",
    "unjudged": "judgedness",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_LAZY[name]}", __name__)
    value = module if _LAZY[name] == name and name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = [
    "AWP",
    "BR",
    "EBR",
    "GAP",
    "NCU",
    "R_WP",
    "CoverageWarning",
    "Explanation",
    "FileFormatError",
    "GradedError",
    "GradedMeasure",
    "InputError",
    "MAgP",
    "MeasureSyntaxError",
    "NoSharedTopicsError",
    "O",
    "P_measure",
    "P_plus",
    "ParameterError",
    "Q",
    "R_measure",
    "Scores",
    "Unjudged",
    "evaluate",
    "explain",
    "gP",
    "gR",
    "iRBU",
    "level_definitions",
    "meta",
    "nCG",
    "nERR",
    "passages",
    "read_qrels",
    "read_run",
    "report",
    "sample",
    "unjudged",
]  # fmt: skip
