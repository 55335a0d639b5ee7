"""Parameters of measures: their valid values and the canonical form of each value.

Each class is a ``ParamInfo`` of ir-measures that also describes the values it expects and converts a value to
its canonical form: 1, 1.0 and ``numpy.int64(1)`` become the same number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from ir_measures.measures import Measure, ParamInfo

from ir_graded.core.facets import FACETS
from ir_graded.core.segments import EXACT_INTEGERS_BELOW

#: Value of ``measure[name]`` for a parameter without a default that is not set.
NOT_PROVIDED: Any = ParamInfo().default


def canonical_number(value: object) -> int | float:
    """Return a number in canonical form: int if it is whole. Raises ValueError for NaN and non-numbers."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ValueError(f"{value!r} is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{value!r} is out of the range of doubles") from None
    if math.isnan(number):
        raise ValueError("NaN is not a number")
    return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS_BELOW else number


def format_value(value: object) -> str:
    """Format a canonical value for the printed name of a measure, so that it can be parsed again."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{format_value(k)}:{format_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(format_value, value)) + "]"
    return repr(value)


def with_floats(measure: Measure) -> Measure:
    """Return a measure of ir-measures with floats for whole numbers where it declares floats."""
    declared = measure.SUPPORTED_PARAMS
    floats = {
        name: float(value)
        for name, value in measure.params.items()
        if name in declared
        and declared[name].dtype is float
        and isinstance(value, (int, np.integer))
        and not isinstance(value, bool)
        and abs(int(value)) < EXACT_INTEGERS_BELOW
    }
    return measure(**floats) if floats else measure


class Param(ParamInfo):
    """A parameter with its type, default and valid values.

    Args:
        dtype: the type shown in the documentation of ir-measures.
        expected: description of valid values for error messages.
        desc: one-line description.
        default: default value; without one, the parameter is unset unless given.
        required: whether the measure cannot be computed without the parameter.
    """

    def __init__(
        self, dtype: type, expected: str, desc: str, *, default: Any = NOT_PROVIDED, required: bool = False
    ) -> None:
        super().__init__(dtype=dtype, required=required, default=default, desc=desc)
        self.expected = expected

    def canonical(self, value: Any) -> Any:
        """Return ``value`` in canonical form. Raises ValueError if it is not valid."""
        raise NotImplementedError  # pragma: no cover

    def expects(self, value: object) -> str:  # noqa: ARG002  # subclasses may use it
        """Describe the values that are valid in place of ``value``."""
        return self.expected

    def example(self, measure: object) -> str:
        """Return an example of the measure with this parameter set."""
        return f"{measure}@10"

    def validate(self, value: object) -> bool:
        """Return whether ``value`` is valid; the sentinel of ir-measures for an unset parameter is valid."""
        if value is NOT_PROVIDED:
            return not self.required
        try:
            self.canonical(value)
        except ValueError:
            return False
        return True


class Number(Param):
    """A number in a range; ``above`` and ``below`` are exclusive bounds, ``infinite`` allows inf."""

    def __init__(  # noqa: PLR0913  # the ends of a range
        self,
        desc: str,
        *,
        default: Any = NOT_PROVIDED,
        low: float | None = None,
        above: float | None = None,
        high: float | None = None,
        below: float | None = None,
        infinite: bool = False,
        required: bool = False,
    ) -> None:
        bounds = [
            f">= {low:g}" if low is not None else "",
            f"> {above:g}" if above is not None else "",
            f"<= {high:g}" if high is not None else "",
            f"< {below:g}" if below is not None else "",
        ]
        span = " and ".join(bound for bound in bounds if bound)
        words = ["a" if infinite else "a finite", "number", span, "or inf" if infinite else ""]
        expected = " ".join(word for word in words if word)
        super().__init__(float, expected, desc, default=default, required=required)
        self.low, self.above, self.high, self.below, self.infinite = low, above, high, below, infinite

    def example(self, measure: object) -> str:
        return super().example(measure) if self.high is None else f"{measure}@{self.high / 2:g}"

    def canonical(self, value: object) -> int | float:
        number = canonical_number(value)
        inside = (
            (self.infinite or not math.isinf(number))
            and (self.low is None or number >= self.low)
            and (self.above is None or number > self.above)
            and (self.high is None or number <= self.high)
            and (self.below is None or number < self.below)
        )
        if not inside:
            raise ValueError(f"{value!r} is out of range")
        return number


class Whole(Param):
    """A whole number >= 1."""

    def __init__(self, desc: str, *, required: bool = False) -> None:
        super().__init__(int, "a whole number >= 1", desc, required=required)

    def canonical(self, value: object) -> int:
        number = canonical_number(value)
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"{value!r} is not a whole number >= 1")
        return number

    def expects(self, value: object) -> str:
        is_large = isinstance(value, (int, float, np.integer, np.floating)) and value >= EXACT_INTEGERS_BELOW
        return f"{self.expected} and < 2**53" if is_large else self.expected


class Flag(Param):
    """True or False."""

    def __init__(self, desc: str) -> None:
        super().__init__(bool, "True or False", desc, default=False)

    def canonical(self, value: object) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{value!r} is neither True nor False")
        return bool(value)


class Choice(Param):
    """One of a few words."""

    def __init__(self, desc: str, words: tuple[str, ...], *, default: str) -> None:
        super().__init__(str, "one of " + ", ".join(map(repr, words)), desc, default=default)
        self.words = words

    def canonical(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"{value!r} is not one of {self.words}")
        return str(value)


class LevelTable(Param):
    """A dict from levels (finite numbers) to finite numbers >= 0, kept sorted by level.

    Args:
        desc: one-line description.
        drop_identity: whether entries ``level: level`` have no effect and are dropped.
    """

    def __init__(self, desc: str, *, drop_identity: bool = False) -> None:
        super().__init__(dict, "a dict from levels (numbers) to finite numbers >= 0", desc, default={})
        self.drop_identity = drop_identity

    def canonical(self, value: object) -> dict[int | float, int | float]:
        if not isinstance(value, Mapping):
            raise ValueError(f"{value!r} is not a dict")
        table = {}
        for given, weight in value.items():
            level, number = canonical_number(given), canonical_number(weight)
            if math.isinf(level) or math.isinf(number) or number < 0:
                raise ValueError(f"{given!r}: {weight!r} is out of range")
            if not (self.drop_identity and level == number):
                table[level] = number
        return dict(sorted(table.items()))


class Attributes(Param):
    """Name of the column of the qrels that holds the shares of groups."""

    #: Columns that do not hold shares.
    OTHERS = frozenset({"", "query_id", "doc_id", "relevance"}).union(
        *((facet.name, *facet.columns, *facet.other_names) for facet in FACETS)
    )

    def __init__(self, desc: str) -> None:
        super().__init__(str, "the name of a column of the qrels that holds shares", desc, required=True)

    def canonical(self, value: object) -> str:
        if not isinstance(value, str) or value in self.OTHERS:
            raise ValueError(f"{value!r} is not a column of shares")
        return str(value)

    def example(self, measure: object) -> str:
        return f"{getattr(measure, 'NAME', measure)}(groups='GENDER')@10"


class Shares(Param):
    """A list of shares that sum to 1, kept as given."""

    #: Largest difference between the sum of shares and 1; files may have rounded shares.
    ROUNDED = 0.001

    def __init__(self, desc: str) -> None:
        super().__init__(list, f"two or more numbers >= 0 that sum to 1 (up to {self.ROUNDED})", desc)

    def expects(self, value: object) -> str:
        try:
            total = math.fsum(canonical_number(share) for share in value)  # type: ignore[attr-defined]
        except (TypeError, ValueError, OverflowError):
            return self.expected
        return f"{self.expected}; these sum to {total:g}"

    def canonical(self, value: object) -> list[int | float]:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise ValueError(f"{value!r} is not a list")
        shares = [canonical_number(share) for share in value]
        if len(shares) < 2 or min(shares) < 0 or not abs(math.fsum(shares) - 1) <= self.ROUNDED:  # noqa: PLR2004
            raise ValueError(f"{value!r} does not sum to 1")
        return shares


class ByAttributes(Param):
    """A dict from columns of shares to values of another parameter, kept sorted."""

    _DICT = "a dict from columns of the qrels that hold shares to "

    def __init__(self, desc: str, of: Param, *, required: bool = False) -> None:
        default = NOT_PROVIDED if required else {}
        super().__init__(dict, self._DICT + of.expected, desc, default=default, required=required)
        self.of = of

    def expects(self, value: object) -> str:
        for one in value.values() if isinstance(value, Mapping) else ():
            try:
                self.of.canonical(one)
            except ValueError:
                return self._DICT + self.of.expects(one)
        return self.expected

    def canonical(self, value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping) or (self.required and not value):
            raise ValueError(f"{value!r} is not a dict with an entry")
        names = {Attributes("").canonical(name): name for name in value}
        return {name: self.of.canonical(value[names[name]]) for name in sorted(names)}

    def example(self, measure: object) -> str:
        return f"{getattr(measure, 'NAME', measure)}(groups={{'GENDER':'JSD'}})@10"


CUTOFF = Whole("last rank that the measure looks at")
REQUIRED_CUTOFF = Whole("rank that the measure looks at", required=True)
REL = Number("lowest relevant level", default=1, above=0)
JUDGED_ONLY = Flag("condensed list: documents without a level >= 0 are removed before ranks are counted")
NORM = Choice(
    "divide by the relevant documents of the whole topic, or by those that fit in the first cutoff ranks",
    ("all", "cutoff"),
    default="all",
)
IDEAL_NORM = Choice("with 'ideal' divide by the score of the ideal list", ("all", "ideal"), default="all")
BETA = Number("weight of gain against count in the blended ratio", default=1, low=0, infinite=True)
GAMMA = Number(
    "rank bias: each further relevant document weighs gamma times the one before",
    default=0.95,
    above=0,
    high=1,
)
GAINS = LevelTable("gain of each level; by default the level itself", drop_identity=True)
STOPS = LevelTable("stop weight of each level; by default its gain")
MAX_REL = Number("highest level of the scale; by default the highest in the given qrels")
PERSISTENCE = Number("persistence: probability of going on to the next rank", default=0.99, above=0, high=1)
TIES = Choice(
    "order of documents with equal scores: by id, the mean over all orders, or by level",
    ("doc_id", "expected", "optimistic", "pessimistic"),
    default="doc_id",
)
WEIGHTS = LevelTable("weight of each threshold j; by default j")
