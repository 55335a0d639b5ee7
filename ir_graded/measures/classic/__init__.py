"""The classic measures of ir-measures, computed here: one pass over a run for them and the graded ones.

Values are those of ir-measures' own providers, which go first in its calls all the same. Levels that are no
whole numbers, which those refuse, are taken as they are.
"""

from __future__ import annotations

from ir_measures.measures import Measure

from ir_graded.measures import GradedMeasure
from ir_graded.measures.params import NOT_PROVIDED

from . import gain as gain, precision as precision, sets as sets
from .base import CLASSICS, Classic

Scorer = GradedMeasure | Classic

__all__ = ["CLASSICS", "Classic", "Scorer", "scorer_of"]


def scorer_of(measure: Measure) -> Scorer | None:
    """What scores a measure here: the measure itself where it is of this package, or its classic.

    None for a measure, a parameter or a value that is left to ir-measures' other providers.

    Example:
        >>> from ir_measures import AP, infAP
        >>> type(scorer_of(AP @ 10)).__name__, scorer_of(infAP)
        ('AveragePrecision', None)
    """
    if isinstance(measure, GradedMeasure):
        return measure
    kind = CLASSICS.get(measure.NAME)
    # ``define`` may make a measure of the same name, which is another.
    if kind is None or type(measure) is not type(kind.MEASURE) or not _takes(measure):
        return None
    classic = kind(measure)
    return classic if classic.is_defined() else None


def _takes(measure: Measure) -> bool:
    """Whether ir-measures takes the parameters: their names and types, and that none is missing."""
    params, known = measure.params, measure.SUPPORTED_PARAMS
    return params.keys() <= known.keys() and all(
        param.validate(params.get(name, NOT_PROVIDED)) for name, param in known.items()
    )
