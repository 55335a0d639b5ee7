"""Parameters of measures: their valid values and the canonical form of each value.

Each class is a ``ParamInfo`` of ir-measures that also describes the values it expects and converts a value to
its canonical form: 1, 1.0 and ``numpy.int64(1)`` become the same number.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from ir_measures.measures import Measure, ParamInfo

from ir_graded.core.facets import FACETS
from ir_graded.core.levels import LARGEST
from ir_graded.core.passages import CHARACTERS
from ir_graded.core.segments import EXACT_INTEGERS_BELOW, Floats

#: Value of ``measure[name]`` for a parameter without a default that is not set.
NOT_PROVIDED: Any = ParamInfo().default


#: Added to the message on a number above the limit, which hardly any user meets.
_LIMIT = f"; the largest finite number is {LARGEST:g}"


def canonical_number(value: object) -> int | float:
    """Return a number in canonical form: int if it is whole. Return NaN if it is not a number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS_BELOW else number


def format_value(value: object) -> str:
    """Format a canonical value for the printed name of a measure, so that it can be parsed again."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{format_value(k)}:{format_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(format_value, value)) + "]"
    return repr(value)


def with_floats(measure: Measure) -> Measure:
    """Return a measure of ir-measures with floats where it declares them, and levels in canonical form."""
    declared = measure.SUPPORTED_PARAMS
    floats = {
        name: float(value)
        for name, value in measure.params.items()
        if name in declared and declared[name].dtype is float and isinstance(value, (int, np.integer))
        if isinstance(canonical_number(value), int)
    }
    levels = {
        name: canonical_number(value)
        for name, value in measure.params.items()
        if name in LEVELS and LEVELS[name].validate(value) and type(value) is not int
    }
    return measure(**floats, **levels) if floats or levels else measure


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
        """Return ``value`` in canonical form. Raises ValueError, with the expected values, if not valid."""
        raise NotImplementedError  # pragma: no cover

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

    #: Symbol and test of each bound.
    BOUNDS: ClassVar = {
        "low": (">=", operator.ge),
        "above": (">", operator.gt),
        "high": ("<=", operator.le),
        "below": ("<", operator.lt),
    }

    def __init__(
        self,
        desc: str,
        *,
        default: Any = NOT_PROVIDED,
        infinite: bool = False,
        required: bool = False,
        **bounds: float,
    ) -> None:
        self.bounds, self.infinite = bounds, infinite
        span = " and ".join(f"{self.BOUNDS[name][0]} {bound:g}" for name, bound in bounds.items())
        words = ["a number" if infinite else "a finite number", span, "or inf" if infinite else ""]
        super().__init__(float, " ".join(filter(None, words)), desc, default=default, required=required)

    def example(self, measure: object) -> str:
        return f"{measure}@{self.bounds['high'] / 2:g}" if "high" in self.bounds else super().example(measure)

    def canonical(self, value: object) -> int | float:
        number = canonical_number(value)
        within = math.isfinite(number) and all(
            self.BOUNDS[name][1](number, bound) for name, bound in self.bounds.items()
        )
        if not within and not (self.infinite and number == math.inf):
            raise ValueError(self.expected)
        if LARGEST < number < math.inf:
            raise ValueError(self.expected + _LIMIT)
        return number


class Whole(Param):
    """A whole number >= 1."""

    def __init__(self, desc: str, *, required: bool = False) -> None:
        super().__init__(int, "a whole number >= 1", desc, required=required)

    def canonical(self, value: object) -> int:
        number = canonical_number(value)
        if not isinstance(number, int) or number < 1:
            is_large = isinstance(value, (int, float, np.number)) and value >= EXACT_INTEGERS_BELOW
            raise ValueError(f"{self.expected} and < 2**53" if is_large else self.expected)
        return number


class Flag(Param):
    """True or False."""

    def __init__(self, desc: str) -> None:
        super().__init__(bool, "True or False", desc, default=False)

    def canonical(self, value: object) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(self.expected)
        return bool(value)


class Choice(Param):
    """One of a few words."""

    def __init__(self, desc: str, words: tuple[str, ...], *, default: str) -> None:
        super().__init__(str, "one of " + ", ".join(map(repr, words)), desc, default=default)
        self.words = words

    def canonical(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(self.expected)
        return str(value)


class LevelValues(dict[Any, Any]):
    """Values of levels; ``named`` has all levels that were given, also those with the default value."""

    named: frozenset[float] = frozenset()


class LevelTable(Param):
    """A dict from levels to finite numbers >= 0, kept sorted; ``drop_identity`` drops ``level: level``."""

    def __init__(self, desc: str, *, drop_identity: bool = False) -> None:
        super().__init__(dict, "a dict from levels (numbers) to finite numbers >= 0", desc, default={})
        self.drop_identity = drop_identity

    def canonical(self, value: object) -> LevelValues:
        if not isinstance(value, Mapping):
            raise ValueError(self.expected)
        table = {canonical_number(level): canonical_number(weight) for level, weight in value.items()}
        if not all(math.isfinite(level) and 0 <= weight < math.inf for level, weight in table.items()):
            raise ValueError(self.expected)
        if max(table.values(), default=0) > LARGEST:
            raise ValueError(self.expected + _LIMIT)
        kept = {level: weight for level, weight in table.items() if not self.drop_identity or level != weight}
        values = LevelValues(sorted(kept.items()))
        values.named = frozenset(getattr(value, "named", table))
        return values


class Importance(LevelTable):
    """How the importance of a nugget weighs: a word, or a dict from levels to weights."""

    #: Weights of the words by level: 2 is vital, 1 okay. Other levels weigh 0, except with 'all'.
    WORDS: ClassVar[dict[str, dict[float, float]]] = {"all": {}, "vital": {2: 1}, "weighted": {2: 1, 1: 0.5}}

    def __init__(self, desc: str) -> None:
        super().__init__(desc)
        self.expected = f"one of {', '.join(map(repr, self.WORDS))}, or {self.expected}"
        self.default = "all"

    def canonical(self, value: object) -> Any:
        return value if isinstance(value, str) and value in self.WORDS else dict(super().canonical(value))


def importance_weights(importance: str | Mapping[float, float], levels: Floats) -> Floats:
    """Return the weight of each nugget by its level of importance; NaN is a label without a level."""
    if importance == "all":
        return np.ones(levels.shape)
    weights = np.zeros(levels.shape)
    table = Importance.WORDS[importance] if isinstance(importance, str) else importance
    for level, weight in table.items():
        weights[levels == level] = weight
    return weights


class Attributes(Param):
    """Name of a column: of the qrels, with the shares of groups, or of the run, with costs."""

    #: Columns that do not hold shares.
    OTHERS = frozenset({"", "query_id", "doc_id", "relevance", "score"}).union(
        *((facet.name, *facet.columns, *facet.other_names) for facet in FACETS)
    )

    def __init__(
        self,
        desc: str,
        expected: str = "the name of a column of the qrels that holds shares",
        *,
        default: Any = NOT_PROVIDED,
    ) -> None:
        super().__init__(str, expected, desc, default=default, required=default is NOT_PROVIDED)

    def canonical(self, value: object) -> str:
        if not isinstance(value, str) or value in self.OTHERS:
            raise ValueError(self.expected)
        return str(value)

    def example(self, measure: object) -> str:
        return f"{getattr(measure, 'NAME', measure)}(groups='GENDER')@10"


class Shares(Param):
    """A list of shares that sum to 1, kept as given."""

    #: Largest difference between the sum of shares and 1; files may have rounded shares.
    ROUNDED = 0.001

    def __init__(self, desc: str) -> None:
        super().__init__(list, f"two or more numbers >= 0 that sum to 1 (up to {self.ROUNDED})", desc)

    def canonical(self, value: object) -> list[int | float]:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise ValueError(self.expected)
        shares = [canonical_number(share) for share in value]
        if len(shares) < 2 or not all(0 <= share <= LARGEST for share in shares):  # noqa: PLR2004
            raise ValueError(self.expected)
        if abs((total := math.fsum(shares)) - 1) > self.ROUNDED:
            raise ValueError(f"{self.expected}; these sum to {total:g}")
        return shares


class ByAttributes(Param):
    """A dict from columns of shares to values of another parameter, kept sorted."""

    _DICT = "a dict from columns of the qrels that hold shares to "

    def __init__(self, desc: str, of: Param, *, required: bool = False) -> None:
        default = NOT_PROVIDED if required else {}
        super().__init__(dict, self._DICT + of.expected, desc, default=default, required=required)
        self.of = of

    def canonical(self, value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping) or (self.required and not value):
            raise ValueError(self.expected)
        if not all(map(Attributes("").validate, value)):
            raise ValueError(self.expected)
        try:
            return {str(name): self.of.canonical(value[name]) for name in sorted(value)}
        except ValueError as error:
            raise ValueError(f"{self._DICT}{error}") from None

    def example(self, measure: object) -> str:
        return f"{getattr(measure, 'NAME', measure)}(groups={{'GENDER':'JSD'}})@10"


CUTOFF = Whole("last rank that the measure looks at")
#: Limit of the text that a measure of rows looks at.
BUDGETS: dict[str, Param] = {
    "budget": Whole("highest sum of the costs of the rows that the measure looks at"),
    "unit": Attributes(
        "unit of the budget: 'characters', or a column of the run with the cost of each row",
        "'characters' or the name of a column of the run that holds costs",
        default=CHARACTERS,
    ),
    "fit": Choice(
        "the first row that exceeds the budget: 'cut' keeps its beginning, 'drop' nothing; all later rows "
        "are dropped",
        ("cut", "drop"),
        default="cut",
    ),
}
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
F_BETA = Number(
    "weight of recall against precision in F; inf is recall only", default=1, low=0, infinite=True
)
GAMMA = Number(
    "rank bias: each further relevant document weighs gamma times the one before",
    default=0.95,
    above=0,
    high=1,
)
GAINS = LevelTable("gain of each level; by default the level itself", drop_identity=True)
STOPS = LevelTable("stop weight of each level; by default its gain")
MAX_REL = Number("highest level of the scale; by default the highest in the given qrels")
#: Levels among the parameters of ir-measures, which declares whole numbers, although levels may be fractions.
LEVELS: dict[str, Param] = {
    "rel": REL,
    "min_rel": Number("highest level without gain"),
    "max_rel": Number("highest level of the scale", required=True),
}
PERSISTENCE = Number("persistence: probability of going on to the next rank", default=0.99, above=0, high=1)
#: Orders of documents with equal scores, in words for captions.
TIES_IN_WORDS = {
    "doc_id": "tied documents by doc id",
    "expected": "mean over all orders of tied documents",
    "optimistic": "tied documents best first",
    "pessimistic": "tied documents worst first",
}
#: The same where rows of the run decide, as signatures name it.
ROW_ORDERS_IN_WORDS = {
    "rank": "tied documents by rank",
    "given": "tied documents in their given order",
    "position": "tied documents by position",
    "mixed": "tied documents in orders that differ between runs",
}
TIES = Choice(
    "order of documents with equal scores: by id, the mean over all orders, or by level",
    tuple(TIES_IN_WORDS),
    default="doc_id",
)
#: Orders of ties without 'optimistic' and 'pessimistic': the best order differs between intents.
MEAN_TIES = Choice(
    "order of documents with equal scores: by id, or the mean over all orders",
    ("doc_id", "expected"),
    default="doc_id",
)
RANKS = Choice(
    "what ranks count in a run with passages: documents, or rows, of which the first of a document counts",
    ("documents", "rows"),
    default="documents",
)
#: What ranks count, and the order of documents with equal scores.
ORDER: dict[str, Param] = {"ties": TIES, "ranks": RANKS}
MEAN_ORDER: dict[str, Param] = {"ties": MEAN_TIES, "ranks": RANKS}
WEIGHTS = LevelTable("weight of each threshold j; by default j")
IMPORTANCE = Importance(
    "nuggets that count: 'all' alike, the 'vital' ones, 'weighted' (vital 1, okay 0.5), or a weight for each "
    "level (vital 2, okay 1)"
)
