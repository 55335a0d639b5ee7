"""Registration of the measures in ir_measures. No other module changes ir_measures.

``register`` can be called repeatedly. Calls without a measure of this package are not affected.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import ir_measures
from ir_measures.providers import Evaluator, FallbackProvider

from ._utils.measure_names import MEASURES, PROVIDER


class Pipeline(FallbackProvider):
    """``ir_measures.DefaultPipeline`` that accepts strings, and measures of all providers together.

    Pickles of functions such as ``ir_measures.calc_aggregate`` contain it, so it is a class of this module.
    """

    def _evaluator(self, measures: Any, qrels: Any) -> Evaluator:
        from .measures import GradedMeasure
        from .measures.params import LEVELS
        from .measures.parsing import read_measures

        # A measure object of ir-measures is the key of its results, so it must stay as given.
        objects = read_measures(measures, as_given=True)
        # Other providers take whole levels only.
        levels = [one for measure in objects for name, one in measure.params.items() if name in LEVELS]
        if {*map(type, levels)} <= {int} and not any(isinstance(one, GradedMeasure) for one in objects):
            return super()._evaluator(objects, qrels)
        from ir_graded.evaluation.provider import compose

        return compose(objects, qrels)


def _documented_as(original: Callable[[str], Any]) -> Callable[[Callable[[str], Any]], Any]:
    """Take over all of a function of ir-measures but the name of its module, by which it is pickled."""
    # It may have been replaced by an earlier import of this module.
    original = getattr(original, "__wrapped__", original)
    return wraps(original, ("__name__", "__doc__", "__annotations__"))


@_documented_as(ir_measures.util.parse_measure)
def parse_measure(measure: str) -> Any:  # noqa: D103
    from .measures import parsing

    return parsing.parse_measure(measure)


@_documented_as(ir_measures.util.parse_trec_measure)
def parse_trec_measure(measure: str) -> Any:  # noqa: D103
    from .measures import parsing

    return parsing.parse_trec_measure(measure)


def register() -> None:
    """Register measures, provider and strings in ir_measures (and in pt.measures if it is loaded)."""
    registry = ir_measures.measures.registry
    # Others may have registered measures after these were imported.
    names = getattr(sys.modules.get(f"{__package__}.measures"), "NAMES", MEASURES)
    for name, measure in names.items():
        if registry.get(name, measure) is not measure and registry[name] != measure:
            raise ValueError(f"ir_measures already has another measure named {name!r}: {registry[name]!r}")
    registry.update(names)
    # The provider comes after all others, and replaces one from an earlier import of the package.
    ir_measures.providers.registry[PROVIDER.NAME] = PROVIDER
    providers = ir_measures.DefaultPipeline.providers
    providers[:] = [provider for provider in providers if provider.NAME != PROVIDER.NAME] + [PROVIDER]
    ir_measures.DefaultPipeline.__class__ = Pipeline
    for module in (ir_measures.util, ir_measures):
        module.parse_measure, module.parse_trec_measure = parse_measure, parse_trec_measure
    # pt.measures copies the registry when PyTerrier is imported, which may have been earlier.
    pt_measures = sys.modules.get("pyterrier.measures")
    if pt_measures is not None:
        vars(pt_measures).update(names)
