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

from . import errors, plugin
from ._utils.later import import_lazily
from ._utils.measure_names import CONSTANTS
from ._utils.version import __version__ as __version__
from .errors import *

plugin.register()

_names = import_lazily(__name__, {"measures": "", **dict.fromkeys(["GradedMeasure", *CONSTANTS], "measures")})
__all__ = [*errors.__all__, *_names]
__all__.remove("measures")  # for code that expects it after the import of the package
