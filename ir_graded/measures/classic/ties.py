"""Classics with parameters that ir-measures lacks: ``nDCG(ties='expected')@10``, ``Compat(depth=1000)``.

They have names that the providers of ir-measures do not know, because those ignore unknown parameters.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from ir_measures.measures import Measure

from ir_graded.errors import ParameterError, short_repr
from ir_graded.measures.base import GradedMeasure
from ir_graded.measures.params import TIES, with_floats

from . import check_computable, check_rel_of_rbp
from .base import CLASSICS, Classic


def _of_scorer(name: str) -> Any:
    """Return a property with the value, or the method, that the scorer has under a name."""
    return property(attrgetter(f"scorer.{name}"))


class TiedClassic(GradedMeasure):
    """Base class of classics with ``ties`` and other further parameters; each classic has a subclass."""

    CLASSIC: ClassVar[type[Classic]]

    def __init__(self, **params: Any) -> None:
        classic = self.CLASSIC.MEASURE
        ties: str = self._canonical("ties", params.pop("ties", TIES.default))
        given_here = self.CLASSIC.FURTHER.keys() & params.keys()
        further = {name: self._canonical(name, params.pop(name)) for name in sorted(given_here)}
        self.measure: Measure = with_floats(type(classic)(**params))
        self.scorer = self.CLASSIC(self.measure, **further)
        if ties == "expected" and not self.has_expected_score:
            raise ParameterError(
                f"{self.measure} has no exact mean over the orders of tied documents: ties must be 'doc_id', "
                "'optimistic' or 'pessimistic'"
            )
        known = classic.SUPPORTED_PARAMS
        given = sorted({**self.measure.params, **further}.items())
        not_default = {k: v for k, v in given if k not in known or v != known[k].default}
        order = {} if ties == TIES.default else {"ties": ties}
        Measure.__init__(self, **not_default, **order)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.CLASSIC.MEASURE.NAME, self.params)

    @property
    def _printed_name(self) -> str:
        return str(self.CLASSIC.MEASURE.NAME)

    def validate_params(self) -> None:
        check_computable(self.measure)
        self.scorer.validate_params()
        self.validated = True

    lacks = _of_scorer("lacks")
    cut = _of_scorer("cut")
    grades = _of_scorer("grades")
    lowest_rel = _of_scorer("lowest_rel")
    lowest_level = _of_scorer("lowest_level")
    highest_level = _of_scorer("highest_level")
    has_expected_score = _of_scorer("has_expected_score")
    contributions = _of_scorer("contributions")
    expected_contributions = _of_scorer("expected_contributions")
    expected_score = _of_scorer("expected_score")
    score = _of_scorer("score")
    columns = _of_scorer("columns")


_SOURCE = (
    'Source: McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently in the '
    'Presence of Tied Scores" (ECIR 2008).'
)


def _of(classic: type[Classic]) -> type[TiedClassic]:
    name = classic.MEASURE.NAME
    members = {
        "__doc__": f"{name} with another order of documents with equal scores.\n\n{_SOURCE}",
        "__module__": __name__,
        "CLASSIC": classic,
        "NAME": f"{name} with ties",
        "PRETTY_NAME": f"{name} with ties",
        "AT_PARAM": classic.MEASURE.AT_PARAM,
        "SUPPORTED_PARAMS": {**classic.MEASURE.SUPPORTED_PARAMS, **classic.FURTHER, "ties": classic.ORDERS},
        "RANGE": classic.RANGE,
        "NEEDS": classic.NEEDS,
    }
    return type(f"{classic.__name__}WithTies", (TiedClassic,), members)


#: Class of each classic that depends on the order of documents, by its name in ir-measures.
TIED_CLASSICS = {name: _of(classic) for name, classic in CLASSICS.items() if classic.RANKED}


def _made(name: str, params: dict[str, Any]) -> TiedClassic:
    """Return a classic from its name and parameters, for pickles."""
    return TIED_CLASSICS[name](**params)


def check_ties(ties: Any, of: str = "") -> None:
    """Raise ParameterError if ``ties`` is not one of the valid words."""
    if not TIES.validate(ties):
        raise ParameterError(f"{of}ties={short_repr(ties)} must be {TIES.expected}")


def takes_ties(measure: Measure) -> bool:
    """Return whether a measure supports every order of tied documents."""
    try:
        for ties in TIES.words:
            with_ties(measure, ties)
    except ParameterError:
        return False
    return True


def with_ties(measure: Measure, ties: Any) -> Measure:
    """Return a measure with another order of tied documents; measures of sets do not depend on it.

    Raises:
        ParameterError: ``ties`` is not a valid word, or the measure does not support it.
    """
    check_ties(ties, f"{measure}: ")
    if isinstance(measure, GradedMeasure):
        return measure.with_ties(ties)
    check_rel_of_rbp(measure)
    classic = CLASSICS.get(measure.NAME)
    if classic is None or type(measure) is not type(classic.MEASURE):
        raise ParameterError(f"ir_graded does not compute {measure}, so ties={ties!r} has no effect")
    if ties == TIES.default or not classic.RANKED:
        return measure
    return TIED_CLASSICS[measure.NAME](**measure.params, ties=ties)


def separate_ties(measure: Measure) -> Measure:
    """Return a classic of ir-measures with parameters that it lacks as the classic that has them."""
    params = dict(measure.params)
    if isinstance(measure, GradedMeasure) or measure.NAME not in TIED_CLASSICS:
        return measure
    if CLASSICS[measure.NAME].FURTHER.keys() & params.keys():
        return TIED_CLASSICS[measure.NAME](**params)
    if "ties" not in params:
        return measure
    ties = params.pop("ties")
    return with_ties(type(measure)(**params), ties)
