"""Measures that take another measure: ``D(measure='Q')@10``, and their short names such as ``D-Q@10``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from ir_measures.measures import Measure

from ir_graded.core.levels import Levels
from ir_graded.errors import ParameterError, short_repr

# Short names need all base measures.
from . import cascade, ncu, one_list  # noqa: F401
from .base import GradedMeasure, Scorer, add_short_name
from .classic import scorer_of
from .classic.ties import TiedClassic, with_ranks, with_ties
from .params import CUTOFF, Param
from .parsing import parse_measure, read_measures

#: Base measures that use gains.
BASES = (
    *("Q", "AWP", "O-measure", "P-measure", "P+", "NCU", "nCG", "BR", "R-measure", "R-WP"),
    *("EBR", "iRBU", "nERR", "gRBP", "nDCG"),
)
#: Base measures by their short names.
SHORT_NAMES = {
    "Q": "Q(norm='cutoff')",
    "nDCG": "nDCG",
    "MSnDCG": "nDCG",
    "RBP": "gRBP",
    "ERR": "NCU(stop='err',utility='rr')",
    **{name: name for name in ("O-measure", "P-measure", "P+", "nERR", "EBR", "iRBU", "AWP")},
}


class BaseMeasure(Param):
    """A measure without a cutoff, given as a string or object; its canonical form is the printed name.

    Args:
        outer: name of the measure that has this parameter.
        names: names of the allowed measures.
        default: the base measure if none is given; without it one is required.
        example: the base measure in examples.
    """

    def __init__(
        self, outer: str, names: tuple[str, ...] = BASES, default: str | None = None, example: str = "Q"
    ) -> None:
        expected = f"one of {', '.join(names)}, with their parameters"
        given: dict[str, Any] = {"required": True} if default is None else {"default": default}
        super().__init__(str, expected, "the base measure", **given)
        self.outer, self.names, self.shown = outer, names, example

    def canonical(self, value: Any) -> str:
        if not isinstance(value, (str, Measure)):
            raise ValueError(self.expected)
        try:
            found = _read(value) if isinstance(value, str) else (value,)
        except ParameterError:
            raise
        except (NameError, ValueError):
            raise ValueError(self.expected) from None
        if len(found) != 1 or base_name(found[0]) not in self.names:
            raise ValueError(self.expected)
        (measure,) = found
        if "cutoff" in measure.params:
            params = dict(measure.params)
            at, free = params.pop("cutoff"), repr(type(measure)(**params))
            raise ParameterError(
                f"{self.outer}: measure={short_repr(str(measure))} has a cutoff; give it to the outer "
                f"measure: {self.outer}(measure={free!r})@{at}"
            )
        if measure.params.get("residual"):
            raise ParameterError(f"{self.outer}: measure={short_repr(str(measure))} must not have a residual")
        return repr(measure)

    def example(self, measure: object) -> str:  # noqa: ARG002  # one example for all
        return f"{self.outer}(measure={self.shown!r})@10"


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[Measure, ...]:
    """Return the measures that a string names, cached: short names use only a few."""
    return tuple(read_measures(text))


def base_name(measure: Measure) -> str:
    """Return the name of a measure without the suffix for its order of tied documents."""
    name: str = measure.CLASSIC.MEASURE.NAME if isinstance(measure, TiedClassic) else measure.NAME
    return name


@lru_cache(maxsize=256)
def at_cutoff(text: str, cutoff: int | None = None) -> Measure:
    """Return the measure with a printed name, at a cutoff."""
    return parse_measure(text) if cutoff is None else parse_measure(text)(cutoff=cutoff)


def computed(measure: Measure) -> Scorer:
    """Return the scorer of a base measure. Raises ParameterError if this package does not compute it."""
    scorer = scorer_of(measure)
    if scorer is None:
        raise ParameterError(f"ir_graded does not compute the base measure {measure} with these parameters")
    return scorer


def of_base(name: str) -> Any:
    """Return a property that has the value of the base measure."""
    return property(lambda measure: getattr(measure.base, name))


class ComposedMeasure(GradedMeasure):
    """A measure with a base measure, whose levels, cutoff and order of tied documents it uses."""

    SUPPORTED_PARAMS = {"cutoff": CUTOFF}
    #: Whether the base measure may have another order of tied documents.
    TAKES_TIES: ClassVar[bool] = True

    def check_combination(self, params: Mapping[str, Any]) -> None:
        base = {} if self.TAKES_TIES or "measure" not in params else at_cutoff(params["measure"]).params
        for name in base.keys() & {"ties", "ranks"}:
            raise ParameterError(f"{self.NAME}: measure={params['measure']!r} must not have {name}")

    @property
    def base(self) -> Scorer:
        """The base measure at the cutoff of this measure."""
        return computed(at_cutoff(self["measure"], self.optional("cutoff")))

    def doubt(self, levels: Levels) -> str:
        return super().doubt(levels) or self.base.doubt(levels)

    def validate_params(self) -> None:
        super().validate_params()
        try:
            self.base.validate_params()
        except ParameterError:
            if "cutoff" in self.params:
                raise
            raise ParameterError(
                f"{self} needs a cutoff because its base measure does: for example {self}@10"
            ) from None

    def with_ties(self, ties: str) -> Measure:
        """Return the measure with another order of tied documents in the base measure."""
        if not self.TAKES_TIES:
            return super().with_ties(ties)
        return self(measure=with_ties(at_cutoff(self["measure"], None), ties))

    def with_ranks(self, ranks: str) -> Measure:
        """Return the measure with another meaning of ranks in the base measure."""
        if not self.TAKES_TIES:
            return super().with_ranks(ranks)
        return self(measure=with_ranks(at_cutoff(self["measure"], None), ranks))

    @property
    def lacks(self) -> Mapping[str, str]:
        return {**self.LACKS, **(self.base.lacks if "measure" in self.params else {})}

    ties, ranks_rows, cut = of_base("ties"), of_base("ranks_rows"), of_base("cut")
    lowest_rel, lowest_level, highest_level = map(of_base, ("lowest_rel", "lowest_level", "highest_level"))


def add_short_names(measure: ComposedMeasure, names: Mapping[str, str] = SHORT_NAMES) -> None:
    """Register the short names of a measure with each base measure, such as D-Q."""
    for name, base in names.items():
        add_short_name(measure, f"{measure.NAME}-{name}", measure=base)
