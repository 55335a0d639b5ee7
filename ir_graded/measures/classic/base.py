"""The base of the classic measures: one of ir-measures with its parameters, scored from views.

A classic is one class in one place. ``@register`` enters it into ``CLASSICS``, from which the provider, the
command line and the tests take everything. Its values are those of the provider that ir-measures prefers for
it; parameters and values that no provider of ir-measures defines are not ours either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core import segments
from ir_graded.core.segments import Floats
from ir_graded.core.views import Cut, View, Views
from ir_graded.measures.contributions import Contributions
from ir_graded.measures.params import NOT_PROVIDED
from ir_graded.measures.properties import Declared, check_declared

#: The class that scores each classic, by the name that ir-measures has for it.
CLASSICS: dict[str, type[Classic]] = {}

#: What many are divided by, in words.
RELEVANT = "the relevant documents of the topic"
# trec_eval reads whole numbers of this size; beyond, it sees others.
_WHOLE_BELOW = 2**31


class Classic(Declared):
    """A measure of ir-measures with its parameters; scores as a measure of this package does.

    Attributes:
        MEASURE: ir-measures' own object, without parameters.
        NEEDS_PASSAGES: whether qrels and run must say where in a document the text is.
        highest_level: where the scale ends, above which the measure is not defined; None where it does not.

    Args:
        measure: the measure object of ir-measures that is scored.
    """

    MEASURE: ClassVar[Measure]
    NEEDS_PASSAGES: ClassVar[bool] = False
    highest_level: float | None = None

    def __init__(self, measure: Measure) -> None:
        self.measure = measure

    def __getitem__(self, name: str) -> Any:
        """Value of a parameter, or its default; None without either, and for one that the measure lacks."""
        if name not in self.measure.SUPPORTED_PARAMS:
            return None
        value = self.measure[name]
        return None if value is NOT_PROVIDED else value

    def is_defined(self) -> bool:
        """Whether ir-measures defines values for these parameters, each of which is of the right type."""
        return all(self[name] is None or is_natural(self[name]) for name in ("cutoff", "rel"))

    def validate_params(self) -> None:
        """Raise AssertionError where parameters are not what ir-measures takes."""
        self.measure.validate_params()

    @property
    def cut(self) -> Cut:
        """Which documents the measure looks at."""
        return Cut(float(self["rel"] or 1), bool(self["judged_only"]), self["cutoff"])

    @property
    def lowest_rel(self) -> float:
        """The lowest level that counts as relevant; inf where the measure does not ask what is relevant."""
        return self.cut.rel

    @property
    def lowest_level(self) -> float:
        """The lowest level whose documents the measure needs to know of."""
        return 0.0 if self.cut.judged_only else self.lowest_rel

    def contributions(self, views: Views) -> Contributions:
        """What each document adds to the score of its topic.

        Raises:
            ParameterError: documents add nothing to this measure, or not only judged ones do.
        """
        raise NotImplementedError  # pragma: no cover

    def score(self, views: Views) -> Floats:
        """Score of every topic of the qrels, shape ``(topics,)``; 0 for one that the run lacks."""
        return self.contributions(views).total()

    def columns(self, views: Views) -> dict[str, Floats]:  # noqa: ARG002  # for those that have some
        """The symbols from which the contribution of each document comes, by name."""
        return {}


Kind = TypeVar("Kind", bound=type[Classic])


def register(measure: Measure) -> Callable[[Kind], Kind]:
    """Enter a class into CLASSICS as what scores ``measure``, whatever its parameters."""

    def enter(classic: Kind) -> Kind:
        check_declared(measure.NAME, classic.LACKS)
        classic.MEASURE = measure
        CLASSICS[measure.NAME] = classic
        return classic

    return enter


def is_natural(value: object) -> bool:
    """Whether a value is a whole number >= 1 as trec_eval can read it (True is none)."""
    return type(value) is int and 1 <= value < _WHOLE_BELOW


def found(view: View) -> Floats:
    """Number of relevant documents that the run retrieved for each topic, as far as the view looks."""
    return segments.count(view.topic, view.levels.topics).astype(np.float64)


def relevant(view: View) -> Floats:
    """Number of relevant documents R of each topic."""
    return view.R.astype(np.float64)
