"""The base of all measures: parameters in canonical form, and a score per topic from views.

A measure is one class in one place: its name and aliases, what it is about, its parameters, what
it stops at and its utility. ``@register`` enters it into ``REGISTRY``, from which the plugin, the
command line and the tests take everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.levels import Levels, Overrides
from ir_graded.core.segments import Floats
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError, cut, short_repr

from .aggregation import ExactMean
from .contributions import Contributions
from .params import CUTOFF, JUDGED_ONLY, REL, Param, print_value
from .properties import Declared, check_declared

#: Every name that a string may use, and the measure object that it stands for.
REGISTRY: dict[str, GradedMeasure] = {}

#: Parameters that nearly every measure takes.
COMMON: dict[str, Param] = {"cutoff": CUTOFF, "rel": REL, "judged_only": JUDGED_ONLY}


class GradedMeasure(Declared, Measure):
    """A measure of this package: an ir-measures ``Measure`` whose parameters are checked when it is made.

    Measures with the same canonical parameters are equal, hash alike and print alike; the printed
    name reads back as the same measure.
    """

    NAME: ClassVar[str]
    PRETTY_NAME: ClassVar[str]
    SHORT_DESC: ClassVar[str]
    #: Where the measure was defined.
    SOURCE: ClassVar[str]
    SUPPORTED_PARAMS: ClassVar[dict[str, Param]] = COMMON
    #: Whether qrels and run must say where in a document the text is.
    NEEDS_PASSAGES: ClassVar[bool] = False

    def __init__(self, **params: Any) -> None:
        self._check_names(params)
        canonical = {name: self._canonical(name, params[name]) for name in sorted(params)}
        # A default is as good as unset.
        told = {
            name: value for name, value in canonical.items() if value != self.SUPPORTED_PARAMS[name].default
        }
        self.check_combination(told)
        super().__init__(**told)

    def _check_names(self, params: Mapping[str, Any]) -> None:
        for name, value in params.items():
            if name not in self.SUPPORTED_PARAMS:
                takes = ", ".join(self.SUPPORTED_PARAMS)
                raise ParameterError(
                    f"{self.NAME} takes no parameter {short_repr(name)} "
                    f"(given {cut(name)}={short_repr(value)}); it takes {takes}"
                )

    def _canonical(self, name: str, value: Any) -> Any:
        param = self.SUPPORTED_PARAMS[name]
        try:
            return param.canonical(value)
        except ValueError:
            expected = param.expects(value)
            raise ParameterError(f"{self.NAME}: {name}={short_repr(value)} must be {expected}") from None

    def check_combination(self, params: Mapping[str, Any]) -> None:
        """Hook: raise ParameterError where parameters that are fine alone do not go together."""

    def validate_params(self) -> None:
        """Raise ParameterError where something is missing that the measure cannot do without.

        Only here and not when the measure is made, since ``nCG`` comes before ``nCG@10``.
        """
        for name, param in self.SUPPORTED_PARAMS.items():
            if param.required and name not in self.params:
                raise ParameterError(f"{self} needs a {name}, {param.expected}: for example {self}@10")
        if self.params.get("norm") == "cutoff" and "cutoff" not in self.params:
            raise ParameterError(f"{self}: norm='cutoff' needs a cutoff: for example {self}@10")
        self.validated = True

    def contributions(self, views: Views) -> Contributions:
        """What each document adds to the score of its topic."""
        raise NotImplementedError  # pragma: no cover

    def score(self, views: Views) -> Floats:
        """Score of every topic of the qrels, shape ``(topics,)``."""
        # Rounding may carry a perfect list an ulp beyond 1.
        return np.minimum(self.contributions(views).total(), 1.0)

    def columns(self, views: Views) -> dict[str, Floats]:
        """The symbols from which the contribution of each document comes, by name."""
        raise NotImplementedError  # pragma: no cover

    def gain_columns(self, view: View) -> dict[str, Floats]:
        """Gain g, cumulative gain cg and ideal cumulative gain cg* at each document."""
        graded = view.graded(self.overrides("gains"))
        exponent = graded.ideal.exponent[view.topic]
        with np.errstate(over="ignore"):
            cg, cg_star = np.ldexp(graded.cg, exponent), np.ldexp(graded.cg_star, exponent)
        return {"gain": graded.g, "cg": cg, "cg_star": cg_star}

    def aggregator(self) -> ExactMean:
        """The mean over topics, rounded once."""
        return ExactMean()

    def optional(self, name: str) -> Any:
        """Value of a parameter without default, None where it is not set."""
        return self.params.get(name)

    def overrides(self, name: str) -> Overrides:
        """A dict parameter as sorted pairs."""
        return tuple(self[name].items())

    @property
    def cut(self) -> Cut:
        """Which documents the measure looks at."""
        rel = self["rel"] if "rel" in self.SUPPORTED_PARAMS else REL.default
        judged_only = bool(self.params.get("judged_only", False))
        return Cut(rel, judged_only, self.optional("cutoff"))

    @property
    def lowest_rel(self) -> float:
        """The lowest level that counts as relevant."""
        return float(self.cut.rel)

    @property
    def lowest_level(self) -> float:
        """The lowest level whose documents the measure needs to know of."""
        return 0.0 if self.cut.judged_only else self.lowest_rel

    @property
    def highest_level(self) -> float | None:
        """Where the scale ends, above which there may be no level; None where the qrels say."""
        named: float | None = self.optional("max_rel")
        return named

    def max_rel(self, levels: Levels) -> float:
        """The highest level of the scale: as named, else the highest in the qrels given."""
        named = self.highest_level
        highest = levels.values[-1] if levels.values.size else 0.0
        return float(highest if named is None else named)

    @property
    def __name__(self) -> str:
        """The printed name: ir-measures registers and sorts measures by it."""
        return self.NAME

    def __repr__(self) -> str:
        params = ",".join(f"{k}={print_value(v)}" for k, v in self.params.items() if k != self.AT_PARAM)
        at = f"@{self.params[self.AT_PARAM]}" if self.AT_PARAM in self.params else ""
        return f"{self.NAME}{f'({params})' if params else ''}{at}"


class StopUtility(GradedMeasure):
    """A measure of the family ``sum over ranks n of stop(n) * utility(n)`` (Sakai and Robertson 2008)."""

    def stop(self, view: View) -> Floats:
        """Probability that the user stops at each relevant document retrieved."""
        raise NotImplementedError  # pragma: no cover

    def utility(self, view: View) -> Floats:
        """What the list down to that document is worth, in [0, 1]."""
        raise NotImplementedError  # pragma: no cover

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, self.stop(view) * self.utility(view))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        gains = self.gain_columns(view) if "gains" in self.SUPPORTED_PARAMS else {}
        return {**gains, "stop": self.stop(view), "utility": self.utility(view)}


class BlendedUtility(StopUtility):
    """One of the family whose utility is the blended ratio."""

    def beta(self) -> float:
        """Weight of gain against count."""
        return float(self["beta"])

    def utility(self, view: View) -> Floats:
        return view.graded(self.overrides("gains")).BR(self.beta())

    def columns(self, views: Views) -> dict[str, Floats]:
        found = super().columns(views)
        return {**found, "BR": found["utility"]}


def register(measure: GradedMeasure, *aliases: str) -> None:
    """Enter a measure into REGISTRY under its printed name and ``aliases``."""
    check_declared(measure.NAME, measure.LACKS)
    shorthand(measure, measure.NAME, *aliases)


def shorthand(measure: GradedMeasure, *names: str) -> None:
    """Enter names that stand for a measure with parameters."""
    for name in names:
        if REGISTRY.get(name, measure) != measure:
            raise ValueError(f"the name {name!r} is taken by {REGISTRY[name]!r}")
        REGISTRY[name] = measure
