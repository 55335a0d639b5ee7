"""Classics with parameters that ir-measures lacks: ``nDCG(ties='expected')@10``, ``Compat(depth=1000)``.

They have names that the providers of ir-measures do not know, because those ignore unknown parameters.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from ir_measures.measures import Measure

from ir_graded.errors import ParameterError, short_repr
from ir_graded.measures.base import GradedMeasure, check_ranks
from ir_graded.measures.params import RANKS, TIES, with_floats

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
        orders = params.keys() & {"ties", "ranks"}
        order: dict[str, Any] = {name: self._canonical(name, params.pop(name)) for name in orders}
        order = {name: value for name, value in order.items() if value != self.SUPPORTED_PARAMS[name].default}
        given_here = self.CLASSIC.FURTHER.keys() & params.keys()
        further = {name: self._canonical(name, params.pop(name)) for name in sorted(given_here)}
        self.measure: Measure = with_floats(type(classic)(**params))
        self.scorer = self.CLASSIC(self.measure, **further)
        check_ranks(str(self.measure), order)
        if "ranks" in order and (self.scorer["min_rel"] or 0) < 0:
            raise ParameterError(
                f"{self.measure}: min_rel < 0 gives each judged row a gain; ranks must be {RANKS.default!r}"
            )
        if order.get("ties") == "expected" and not self.has_expected_score:
            raise ParameterError(
                f"{self.measure} has no exact mean over the orders of tied documents: ties must be 'doc_id', "
                "'optimistic' or 'pessimistic'"
            )
        known = classic.SUPPORTED_PARAMS
        given = sorted({**self.measure.params, **further}.items())
        not_default = {k: v for k, v in given if k not in known or v != known[k].default}
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


def _of(classic: type[Classic]) -> type[TiedClassic]:
    name = classic.MEASURE.NAME
    members = {
        "__doc__": f"{name} with another order of documents with equal scores.\n\n"
        "Source: [mcsherry2008computing].",
        "__module__": __name__,
        "CLASSIC": classic,
        "NAME": f"{name} with ties",
        "PRETTY_NAME": f"{name} with ties",
        "AT_PARAM": classic.MEASURE.AT_PARAM,
        "SUPPORTED_PARAMS": {
            **classic.MEASURE.SUPPORTED_PARAMS,
            **classic.FURTHER,
            "ties": classic.ORDERS,
            "ranks": RANKS,
        },
        "RANGE": classic.RANGE,
        "NEEDS": classic.NEEDS,
    }
    return type(f"{classic.__name__}WithTies", (TiedClassic,), members)


#: Class of each classic that depends on the order of documents, by its name in ir-measures.
TIED_CLASSICS = {name: _of(classic) for name, classic in CLASSICS.items() if classic.RANKED}


def _made(name: str, params: dict[str, Any]) -> TiedClassic:
    """Return a classic from its name and parameters, for pickles."""
    return TIED_CLASSICS[name](**params)


def check_word(name: str, value: Any, of: str = "") -> None:
    """Raise ParameterError if ``ties`` or ``ranks`` is not one of the valid words."""
    param = {"ties": TIES, "ranks": RANKS}[name]
    if not param.validate(value):
        raise ParameterError(f"{of}{name}={short_repr(value)} must be {param.expected}")


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
    return _with(measure, "ties", ties)


def takes_ranks(measure: Measure) -> bool:
    """Return whether ranks of a measure count documents, but could count rows with ties by doc_id."""
    try:
        return bool(with_ranks(with_ties(measure, TIES.default), "rows") != measure)
    except ParameterError:
        return False


def with_ranks(measure: Measure, ranks: Any) -> Measure:
    """Return a measure whose ranks count documents or rows; measures of sets or of rows do not change.

    Raises:
        ParameterError: ``ranks`` is not a valid word, or the measure does not support it.
    """
    return _with(measure, "ranks", ranks)


def _with(measure: Measure, name: str, value: Any) -> Measure:
    check_word(name, value, f"{measure}: ")
    if isinstance(measure, GradedMeasure):
        return measure.with_ties(value) if name == "ties" else measure.with_ranks(value)
    check_rel_of_rbp(measure)
    classic = CLASSICS.get(measure.NAME)
    if classic is None or type(measure) is not type(classic.MEASURE):
        raise ParameterError(f"ir_graded does not compute {measure}, so {name}={value!r} has no effect")
    if value in {TIES.default, RANKS.default} or not classic.RANKED:
        return measure
    return TIED_CLASSICS[measure.NAME](**measure.params, **{name: value})


def separate_ties(measure: Measure) -> Measure:
    """Return a classic of ir-measures with parameters that it lacks as the classic that has them."""
    params = dict(measure.params)
    if isinstance(measure, GradedMeasure) or measure.NAME not in TIED_CLASSICS:
        return measure
    order = {name: params.pop(name) for name in ("ties", "ranks") if name in params}
    tied, plain = TIED_CLASSICS[measure.NAME], type(measure)(**params) if order else measure
    further = CLASSICS[measure.NAME].FURTHER.keys() & params.keys()
    # ir-measures takes any parameter when it makes a measure, but cannot print it.
    if (order or further) and (unknown := params.keys() - tied.SUPPORTED_PARAMS.keys()):
        takes = ", ".join(tied.SUPPORTED_PARAMS)
        raise ParameterError(
            f"{measure.NAME} takes no parameter {short_repr(min(unknown))}; it takes {takes}"
        )
    if further:
        return tied(**params, **order)
    for name, value in order.items():
        plain = _with(plain, name, value)
    return plain
