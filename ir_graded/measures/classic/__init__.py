"""The measures of ir-measures, computed together with the graded measures in one pass over a run.

Levels that are not whole numbers, which the providers of ir-measures reject, are supported.
"""

from __future__ import annotations

from ir_measures.measures import Measure

from ir_graded.errors import ParameterError, short_repr
from ir_graded.measures.base import GradedMeasure, Scorer, sections
from ir_graded.measures.params import NOT_PROVIDED, Param

# The order of these imports is the order of CLASSICS in errors and documentation.
from . import gain as gain, precision as precision, cwl as cwl  # isort: skip
from . import intents as intents  # isort: skip
from .base import CLASSICS, Classic, is_natural

__all__ = ["CLASSICS", "Classic", "check_computable", "check_rel_of_rbp", "scorer_of"]

#: Examples of values of required parameters, for messages.
EXAMPLES: dict[str, float] = {"cutoff": 10, "max_rel": 2, "recall": 0.5}


def scorer_of(measure: Measure) -> Scorer | None:
    """Return the measure itself if it is of this package, or its classic; None if only others compute it.

    Example:
        >>> from ir_measures import AP, P
        >>> type(scorer_of(AP @ 10)).__name__, scorer_of(P)
        ('AveragePrecision', None)
    """
    if isinstance(measure, GradedMeasure):
        return measure
    kind = _kind(measure)
    if kind is None:
        return None
    params, known = measure.params, measure.SUPPORTED_PARAMS
    # ir-measures does not check this when it creates a measure.
    valid = all(
        kind.LEVELS.get(name, param).validate(params.get(name, NOT_PROVIDED)) for name, param in known.items()
    )
    if not valid or params.keys() - known.keys() or set(kind.REQUIRED) - params.keys():
        return None
    classic = kind(measure)
    return classic if classic.is_defined() else None


def _kind(measure: Measure) -> type[Classic] | None:
    """Return the class that computes a measure of ir-measures; None if there is none."""
    kind = CLASSICS.get(measure.NAME)
    # ``ir_measures.define`` may create another measure with the name of a classic.
    return kind if kind is not None and type(measure) is type(kind.MEASURE) else None


def check_rel_of_rbp(measure: Measure) -> None:
    """Raise ParameterError for RBP without rel, which ir-measures documents but no provider computes."""
    rbp = CLASSICS["RBP"].MEASURE
    if type(measure) is type(rbp) and measure["rel"] in (NOT_PROVIDED, None):
        p = measure["p"]
        raise ParameterError(
            f"{measure} has no rel, and no provider of ir-measures computes it without rel: use gRBP(p={p}), "
            f"whose gains depend on the level, or RBP(p={p},rel=1), which treats all levels >= 1 alike"
        )


def check_computable(measure: Measure) -> None:
    """Raise ParameterError if ir-measures does not define a measure with these parameters, or one is missing.

    ir-measures does not check these when it creates a measure.

    Example:
        >>> from ir_measures import RR
        >>> check_computable(RR(cutoff=10, judged_only=True))
        Traceback (most recent call last):
            ...
        ir_graded.errors.ParameterError: RR(judged_only=True)@10: RR takes rel, and either cutoff (as in MS \
MARCO's script) or judged_only (as in trec_eval)
    """
    if scorer_of(measure) is not None:
        return
    check_rel_of_rbp(measure)
    params, kind = measure.SUPPORTED_PARAMS, _kind(measure)
    required = [name for name, param in params.items() if param.required]
    required += () if kind is None else kind.REQUIRED
    missing = [name for name in required if name not in measure.params]
    if missing:
        example = measure(**{name: EXAMPLES.get(name, 1) for name in missing})
        raise ParameterError(f"{measure} needs a {' and a '.join(missing)}: for example {example}")
    for name, value in measure.params.items():
        param = params[name] if kind is None else kind.LEVELS.get(name, params[name])
        natural = value is not None and name == "cutoff"
        if not param.validate(value) or (natural and not is_natural(value)):
            right = f"of type {param.dtype.__name__}: {param.desc}"
            if isinstance(param, Param):
                right = param.expected
            elif isinstance(param.choices, list):
                right = " or ".join(map(repr, param.choices))
            elif natural:
                right = "a whole number >= 1 that fits 64 bits"
            raise ParameterError(f"{measure.NAME}: {name}={short_repr(value)} must be {right}")
    if kind is not None:
        takes, _, _ = " ".join(sections(kind)["Parameters"].split()).partition(". ")
        raise ParameterError(f"{measure}: {measure.NAME} takes {takes.rstrip('.')}")
