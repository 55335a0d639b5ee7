"""The classic measures of ir-measures, computed together with the graded measures in one pass over a run.

Levels that are not whole numbers, which the providers of ir-measures reject, are supported.
"""

from __future__ import annotations

from ir_measures.measures import Measure

from ir_graded.errors import ParameterError
from ir_graded.measures.base import GradedMeasure, Scorer
from ir_graded.measures.params import NOT_PROVIDED

# The order of these imports is the order of CLASSICS in errors and documentation.
from . import sets as sets, gain as gain, precision as precision, intents as intents  # isort: skip
from .base import CLASSICS, Classic

__all__ = ["CLASSICS", "Classic", "check_computable", "scorer_of"]


def scorer_of(measure: Measure) -> Scorer | None:
    """Return the measure itself if it is of this package, or its classic; None if only others compute it.

    Example:
        >>> from ir_measures import AP, SetAP
        >>> type(scorer_of(AP @ 10)).__name__, scorer_of(SetAP)
        ('AveragePrecision', None)
    """
    if isinstance(measure, GradedMeasure):
        return measure
    kind = CLASSICS.get(measure.NAME)
    # ``ir_measures.define`` may create another measure with the name of a classic.
    if kind is None or type(measure) is not type(kind.MEASURE):
        return None
    params, known = measure.params, measure.SUPPORTED_PARAMS
    # ir-measures does not check this when it creates a measure.
    valid = all(param.validate(params.get(name, NOT_PROVIDED)) for name, param in known.items())
    if not valid or params.keys() - known.keys():
        return None
    classic = kind(measure)
    return classic if classic.is_defined() else None


def check_computable(measure: Measure) -> None:
    """Raise ParameterError for RBP without rel, which ir-measures documents but no provider computes."""
    rbp = CLASSICS["RBP"].MEASURE
    if type(measure) is type(rbp) and measure["rel"] in (NOT_PROVIDED, None):
        p = measure["p"]
        raise ParameterError(
            f"{measure} has no rel, and no provider of ir-measures computes it without rel: use gRBP(p={p}), "
            f"whose gains depend on the level, or RBP(p={p},rel=1), which treats all levels >= 1 alike"
        )
