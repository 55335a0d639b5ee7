"""Registration of the measures in ir_measures. No other module changes ir_measures.

``register`` can be called repeatedly. Calls without a measure of this package are not affected.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import ir_measures
from ir_measures.providers import Evaluator

from ._utils.measure_names import MEASURES, PROVIDER

#: Attribute of the functions that replace some of ir-measures.
_MARK = "_ir_graded"


def register() -> None:
    """Register measures, provider and strings in ir_measures (and in pt.measures if it is loaded)."""
    registry = ir_measures.measures.registry
    # Others may have registered measures after these were imported.
    names = getattr(sys.modules.get(f"{__package__}.measures"), "NAMES", MEASURES)
    for name, measure in names.items():
        if registry.get(name, measure) is not measure and registry[name] != measure:
            raise ValueError(f"ir_measures already has another measure named {name!r}: {registry[name]!r}")
    registry.update(names)
    _add_provider()
    pipeline = ir_measures.DefaultPipeline
    _replace(pipeline, "_evaluator", _reading_strings)
    for module in (ir_measures.util, ir_measures):
        _replace(module, "parse_measure", _reading)
        _replace(module, "parse_trec_measure", _reading)
    # pt.measures copies the registry when PyTerrier is imported, which may have been earlier.
    pt_measures = sys.modules.get("pyterrier.measures")
    if pt_measures is not None:
        vars(pt_measures).update(names)


def _add_provider() -> None:
    """Add the provider after all others, replacing one from an earlier import of the package."""
    ir_measures.providers.registry[PROVIDER.NAME] = PROVIDER
    providers = ir_measures.DefaultPipeline.providers
    providers[:] = [provider for provider in providers if provider.NAME != PROVIDER.NAME] + [PROVIDER]


def _replace(owner: Any, name: str, replacement: Callable[[Any], Any]) -> None:
    """Replace a function of ir-measures once."""
    if not hasattr(original := getattr(owner, name), _MARK):
        setattr(owner, name, new := replacement(original))
        setattr(new, _MARK, True)


def _reading(original: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the function of this package with the name of one of ir-measures, which reads a string."""

    @wraps(original)
    def read(measure: str) -> Any:
        from .measures import parsing

        return getattr(parsing, original.__name__)(measure)

    return read


def _reading_strings(original: Callable[[Any, Any], Evaluator]) -> Callable[[Any, Any], Evaluator]:
    """Return a ``DefaultPipeline._evaluator`` that accepts strings and mixed measures of all providers."""

    @wraps(original)
    def _evaluator(measures: Any, qrels: Any) -> Evaluator:
        from .measures import GradedMeasure
        from .measures.parsing import read_measures

        # A measure object of ir-measures is the key of its results, so it must stay as given.
        objects = read_measures(measures, as_given=True)
        if not any(isinstance(measure, GradedMeasure) for measure in objects):
            return original(objects, qrels)
        from .evaluation.mixed import compose

        return compose(objects, qrels)

    return _evaluator
