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

from .evaluation.mixed import compose
from .evaluation.provider import PROVIDER
from .measures import NAMES, GradedMeasure
from .measures.parsing import parse_measure, parse_trec_measure, read_measures

_MARK = "_ir_graded"


def register() -> None:
    """Register measures, provider and strings in ir_measures (and in pt.measures if it is loaded)."""
    registry = ir_measures.measures.registry
    for name, measure in NAMES.items():
        if registry.get(name, measure) != measure:
            raise ValueError(f"ir_measures already has another measure named {name!r}: {registry[name]!r}")
    registry.update(NAMES)
    _add_provider()
    _wrap_pipeline()
    for module in (ir_measures, ir_measures.util):
        module.parse_measure = parse_measure
        module.parse_trec_measure = parse_trec_measure
    # pt.measures copies the registry when PyTerrier is imported, which may have been earlier.
    pt_measures = sys.modules.get("pyterrier.measures")
    if pt_measures is not None:
        vars(pt_measures).update(NAMES)


def _add_provider() -> None:
    """Add the provider after all others, replacing one from an earlier import of the package."""
    ir_measures.providers.registry[PROVIDER.NAME] = PROVIDER
    providers = ir_measures.DefaultPipeline.providers
    providers[:] = [provider for provider in providers if provider.NAME != PROVIDER.NAME] + [PROVIDER]


def _wrap_pipeline() -> None:
    """Make calc, iter_calc, evaluator and related functions, which share one method, read strings."""
    pipeline = ir_measures.DefaultPipeline
    evaluator = pipeline._evaluator  # noqa: SLF001
    original, known = getattr(evaluator, _MARK, (evaluator, None))
    # After an earlier import of the package, ``known`` is another class of the same name.
    if known is not GradedMeasure:
        pipeline._evaluator = _reading_strings(original)  # noqa: SLF001


def _reading_strings(original: Callable[[Any, Any], Evaluator]) -> Callable[[Any, Any], Evaluator]:
    """Return a ``DefaultPipeline._evaluator`` that accepts strings and mixed measures of all providers."""

    @wraps(original)
    def _evaluator(measures: Any, qrels: Any) -> Evaluator:
        # A measure object of ir-measures is the key of its results, so it must stay as given.
        objects = read_measures(measures, as_given=True)
        if not any(isinstance(measure, GradedMeasure) for measure in objects):
            return original(objects, qrels)
        return compose(objects, qrels)

    setattr(_evaluator, _MARK, (original, GradedMeasure))
    return _evaluator
