"""Base classes of the classics: measures of ir-measures, with the values of the provider that it prefers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core import segments
from ir_graded.core.segments import Floats
from ir_graded.core.tie_means import SEEN, TiedDocuments
from ir_graded.core.views import Cut, View, Views
from ir_graded.measures.base import Contributions, Scorer, TiedContributions, check_lacks
from ir_graded.measures.params import LEVELS, NOT_PROVIDED, TIES, Choice, Param

#: Class of each classic by its name in ir-measures.
CLASSICS: dict[str, type[Classic]] = {}

#: Name of the divisor R in explanations.
RELEVANT = "the relevant documents of the topic"


class Classic(Scorer):
    """Scorer of a measure of ir-measures."""

    #: The measure without parameters.
    MEASURE: ClassVar[Measure]
    #: Whether the score depends on the order of the documents.
    RANKED: ClassVar[bool] = True
    #: Parameters that the measure cannot be computed without, beside those that ir-measures requires.
    REQUIRED: ClassVar[tuple[str, ...]] = ()
    #: The orders of tied documents to choose from.
    ORDERS: ClassVar[Choice] = TIES
    #: Parameters that are levels.
    LEVELS: ClassVar[Mapping[str, Param]] = LEVELS
    #: Parameters that the measure lacks in ir-measures; ``ties.TiedClassic`` takes them.
    FURTHER: ClassVar[Mapping[str, Param]] = {}

    def __init__(self, measure: Measure, **further: Any) -> None:
        self.measure, self.further = measure, further

    def __getitem__(self, name: str) -> Any:
        """Return a parameter or its default; None if it has neither or the measure lacks the parameter."""
        if name in self.further:
            return self.further[name]
        if name not in self.measure.SUPPORTED_PARAMS:
            return None
        value = self.measure[name]
        return None if value is NOT_PROVIDED else value

    def is_defined(self) -> bool:
        """Return whether ir-measures defines the measure for these parameters, which have valid types."""
        return self["cutoff"] is None or is_natural(self["cutoff"])

    def validate_params(self) -> None:
        """Raise ParameterError for a value out of range; ``check_computable`` checks types."""

    @property
    def cut(self) -> Cut:
        rel = self["rel"]
        return Cut(1.0 if rel is None else float(rel), bool(self["judged_only"]), self["cutoff"])


class LinearClassic(Classic):
    """A classic that adds up a term of each relevant document; by default each counts 1, divided by R."""

    #: The divisor in words.
    NORM: ClassVar[str] = RELEVANT

    def terms(self, view: View) -> Floats | None:  # noqa: ARG002  # for subclasses
        """Return the term of each document; None if each counts 1."""
        return None

    def mean_terms(self, tied: TiedDocuments[View]) -> Floats:
        """Return the mean term of each document over the orders of tied documents."""
        return tied.linear(SEEN)

    def norm(self, view: View) -> Floats:
        """Return the divisor of the sum."""
        return num_rel(view)

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, self.terms(view), self.norm(view), self.NORM)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        return TiedContributions(tied, tied.in_groups(self.mean_terms(tied)), self.norm(tied.view))


Kind = TypeVar("Kind", bound=type[Classic])


def register(measure: Measure) -> Callable[[Kind], Kind]:
    """Register a class in CLASSICS as the scorer of ``measure`` with any parameters."""

    def enter(classic: Kind) -> Kind:
        check_lacks(measure.NAME, classic.LACKS)
        classic.MEASURE = measure
        CLASSICS[measure.NAME] = classic
        return classic

    return enter


def is_natural(value: object) -> bool:
    """Return whether a value is a whole number >= 1 of 64 bits; True is not."""
    return type(value) is int and 1 <= value < 2**63


def num_rel_ret(view: View) -> Floats:
    """Return the number of relevant documents of each topic that the run retrieved within the cutoff."""
    return segments.count(view.topic, view.levels.topics).astype(np.float64)


def num_rel(view: View) -> Floats:
    """Return the number of relevant documents R of each topic, as floats."""
    return view.R.astype(np.float64)
