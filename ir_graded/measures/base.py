"""Base classes of measures: scores per topic from views, and parameters in canonical form.

A measure is one class with a docstring, parameters, and the contribution of each document. ``register``
adds it to ``REGISTRY``, from which the plugin, the command line, the pages and the tests follow.
"""

from __future__ import annotations

import inspect
import math
import operator
import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import repeat
from textwrap import dedent
from typing import Any, ClassVar, TypeVar

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from ir_measures.measures.base import Agg, MeanAgg

from ir_graded._utils.later import Later, in_place
from ir_graded._utils.measure_names import MEASURES
from ir_graded._utils.publications import short_citations
from ir_graded.core import segments
from ir_graded.core.derived import Grades
from ir_graded.core.facets import Facet
from ir_graded.core.judged_run import CountedDocuments
from ir_graded.core.levels import LARGEST, Levels, Overrides
from ir_graded.core.passages import Budget
from ir_graded.core.segments import Floats, Ints, cumulative_product_before, cumulative_sum, ordinals
from ir_graded.core.struct import light_dataclass
from ir_graded.core.tie_means import TiedDocuments, Utility
from ir_graded.core.views import Cut, GradedView, View, Views
from ir_graded.errors import ParameterError, cut, short_repr

from .params import (
    CUTOFF,
    GAINS,
    JUDGED_ONLY,
    MAX_REL,
    ORDER,
    RANKS,
    REL,
    TIES,
    LevelValues,
    Param,
    format_value,
)

#: Lowest level with a gain if a document of level 0 has no gain.
ABOVE_0 = float(np.nextafter(0.0, 1.0))
#: Highest level with the gain 2^level - 1, so that sums do not overflow.
HIGHEST_EXPONENT = 1000.0
# Below this level the subtraction in 2^level - 1 loses digits.
_NEAR_0 = 0.5
# Products of at most this number of factors are accurate; errors of smaller products do not affect a sum.
_FEW_FACTORS, _NEGLIGIBLE = 64, 2.0**-24


__all__ = ["GradedMeasure"]


def safe_divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, or 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)


def recall_base(view: View, norm: str) -> Ints:
    """Return the number of relevant documents in the denominator: R, or min(R, k) with norm='cutoff'."""
    return view.max_retrievable if norm == "cutoff" else view.R


def uniform(view: View, norm: str = "all") -> Floats:
    """Return p_u = 1/R (Robertson 2008)."""
    return np.asarray(1.0 / recall_base(view, norm)[view.topic])


def geometric_sum(view: View, gamma: float, norm: str) -> Floats:
    """Return sum_{i=1..R} gamma^(i-1) of the topic of each document."""
    terms = recall_base(view, norm)[view.topic]
    if gamma == 1:
        return terms.astype(np.float64)
    # expm1 keeps the digits of 1 - gamma^R where gamma is close to 1.
    log = np.log(gamma)
    return np.asarray(np.expm1(terms * log) / np.expm1(log))


def graded_uniform(view: View, weights: Floats, norm: str = "all") -> Floats:
    """Return p_gu = weight of the level / sum of weights of relevant documents (Sakai and Robertson 2008)."""
    ideal = view.levels.ideal(view.cut.rel, weights)
    total = ideal.first(recall_base(view, norm), np.arange(view.levels.topics, dtype=np.int64))
    return safe_divide(weights[view.level_index], total[view.topic])


def first(view: View) -> Floats:
    """Return 1 at the first relevant document (O-measure; RR), else 0."""
    return np.asarray(view.C == 1, dtype=np.float64)


def exponential_gain(level: Floats) -> Floats:
    """Return the gain 2^level - 1 of a level."""
    return np.where(level < _NEAR_0, np.expm1(level * np.log(2.0)), np.exp2(level) - 1.0)


def satisfaction(gain: Floats, gmax: float | Floats) -> Floats:
    """Return the probability g/(gmax+1) that a document with gain g satisfies (Chapelle et al. 2009)."""
    return np.asarray(gain / (gmax + 1.0))


def cascade(view: View, gains: Overrides, gmax: float | Floats) -> Floats:
    """Return dsat(n-1) g(n)/(gmax+1): the user goes down the list until a document satisfies."""
    satisfied = satisfaction(view.graded(gains).g, gmax)
    return unsatisfied_before(satisfied, view.start) * satisfied


def unsatisfied_before(satisfied: Floats, start: Ints) -> Floats:
    """Return dsat(n-1), the probability that no document above each one satisfied."""
    product = cumulative_product_before(1.0 - satisfied, start)
    far = (ordinals(start) > _FEW_FACTORS + 1) & (product > _NEGLIGIBLE)
    if not far.any():
        return product
    # Products of many factors close to 1 lose digits; sums of their logarithms do not.
    logarithm = np.log1p(-np.minimum(satisfied, np.nextafter(1.0, 0.0)))
    return np.where(far, np.exp(cumulative_sum(logarithm, start) - logarithm), product)


def gains_on_scale(levels: Levels, gains: Overrides, rel: float, max_rel: float) -> dict[float, float]:
    """Return the gain of each relevant level in the qrels or in ``gains``, and of ``max_rel``, up to that."""
    named = dict(gains)
    scale = {*levels.values.tolist(), *named, max_rel}
    return {level: named.get(level, level) for level in scale if rel <= level <= max_rel}


#: First words of the sections; those that end with a colon are not part of the text.
_SECTION = re.compile(r"(Formula|Parameters|Drawn|Source|Example|Lacks \w+):\s|Use it\b|Users\b")


def sections(kind: type) -> dict[str, str]:
    """Return the sections of a docstring by name; 'Definition' has all paragraphs without one.

    A counterexample for an entry of ``LACKS`` may be in the docstring of a base class. 'Source' has keys of
    publications, for which ``with_citations`` writes the publications.
    """
    found = _own_sections(kind)
    lacks = {f"Lacks {name}" for name in getattr(kind, "LACKS", ())}
    for base in kind.__mro__[1:] if lacks - found.keys() else ():
        found = {name: text for name, text in _own_sections(base).items() if name in lacks} | found
    return found


def _own_sections(kind: type) -> dict[str, str]:
    found = {"Summary": "", "Definition": "", "Use it": "", "Users": "", "Source": ""}
    summary, *blocks = inspect.cleandoc(kind.__doc__ or "").split("\n\n")
    found["Summary"] = " ".join(summary.split())
    for block in (block for block in blocks if not block.startswith(".. ")):
        head = _SECTION.match(block)
        if head is None:
            found["Definition"] = f"{found['Definition']}\n\n{block}".strip()
        else:
            found[head[1] or head[0]] = dedent(block[head.end() :] if head[1] else block).strip()
    return found


#: Properties of every measure that does not list them in ``LACKS``, with a counterexample in its docstring. A
#: document is better than another if its level is higher and no parameter (gains, stops, weights) gives it a
#: lower value.
PROPERTIES: dict[str, str] = {
    "nothing": "A topic for which the run retrieved nothing relevant scores 0.",
    "ideal": "The ideal list (all relevant documents by gain, nothing else) has the highest possible score "
    "without a cutoff, or at any cutoff if the measure needs one.",
    "swap": "Swapping a better document with the one just above it never lowers the score.",
    "exchange": "Swapping a better document with any document above it never lowers the score; nor does "
    "replacing a document by a better one that was not retrieved.",
    "truncation": "The score at cutoff k equals the score without a cutoff on the run cut at rank k.",
}


def check_lacks(name: str, lacks: Mapping[str, str]) -> None:
    """Raise ValueError if ``LACKS`` has a key that is not a property."""
    unknown = sorted(lacks.keys() - PROPERTIES.keys())
    if unknown:
        known = ", ".join(PROPERTIES)
        raise ValueError(f"{name}: unknown property {unknown[0]!r} in LACKS; the properties are {known}")


def exact_mean(values: Iterable[float]) -> float:
    """Return the mean of ``values``, summed exactly and rounded once; NaN without values (as ir-measures)."""
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


class ExactMean(Agg):
    """Aggregator of ir-measures that uses :func:`exact_mean`."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Add the score of a topic."""
        self.values.append(value)

    def result(self) -> float:
        """Return the mean of the scores added."""
        return exact_mean(self.values)


class GeometricMean(ExactMean):
    """Aggregator of ir-measures: the geometric mean of scores above 0; NaN without scores."""

    def result(self, weights: Iterable[float] | None = None) -> float:
        """Return the geometric mean of the scores added; ``weights`` have the mean 1."""
        if not self.values:
            return math.nan
        logs = map(operator.mul, weights or repeat(1.0), map(math.log, self.values))
        mean = math.exp(exact_mean(logs))
        # Rounding can put it outside the range of the scores.
        return min(max(mean, min(self.values)), max(self.values))


#: Aggregators that are arithmetic means.
MEANS = (ExactMean, MeanAgg)


def aggregate(measure: Measure, values: Floats, weights: Floats | None = None) -> float:
    """Return the aggregate of a measure over the topics: the mean, or the sum of counts such as NumRet.

    ``weights`` of the topics have the mean 1.
    """
    aggregator = measure.aggregator()
    if isinstance(aggregator, GeometricMean):
        aggregator.values = values.tolist()
        return aggregator.result(None if weights is None else weights.tolist())
    if weights is not None:
        values = values * weights
    if type(aggregator) in MEANS and values.size:
        # The last digit of ir-measures' sum depends on the order of the topics.
        return exact_mean(values.tolist())
    for value in values.tolist():
        aggregator.add(value)
    return float(aggregator.result())


@light_dataclass(frozen=True, eq=False)
class Contributions:
    """A score as a sum over documents: ``score(topic) = sum of term over its documents / norm(topic)``.

    Attributes:
        view: the documents that the measure counts.
        term: the summand of each document; None if each counts 1.
        norm: divisor of the sum of each topic, shape ``(topics,)``; None if it is 1. A topic with divisor 0
            scores 0.
        norm_name: the divisor in words, if the columns of an explanation do not show it.
    """

    view: CountedDocuments
    term: Floats | None = None
    norm: Floats | None = None
    norm_name: str = ""

    def total(self) -> Floats:
        """Return the score of each topic, shape ``(topics,)``. The sum is divided once, at the end."""
        view = self.view
        if self.term is None:
            total = segments.count(view.topic, view.levels.topics).astype(np.float64)
        else:
            total = view.sum_by_topic(self.term)
        return total if self.norm is None else safe_divide(total, self.norm)

    @property
    def value(self) -> Floats:
        """Contribution of each document to the score of its topic; they sum to the score up to rounding."""
        term = np.ones(self.view.topic.size) if self.term is None else self.term
        return term if self.norm is None else safe_divide(term, self.norm[self.view.topic])


@light_dataclass(frozen=True, eq=False)
class TiedContributions:
    """A mean score over all orders of tied documents as a sum over tie groups.

    Attributes:
        tied: the documents that the measure counts, in topics with ties.
        term: the summand of each tie group.
        norm: as in :class:`Contributions`.
    """

    tied: TiedDocuments[Any]
    term: Floats
    norm: Floats | None = None

    def total(self) -> Floats:
        """Return the score of each topic, shape ``(topics,)``; 0 for topics without ties."""
        total = segments.total(self.term, self.tied.topic, self.tied.view.levels.topics)
        return total if self.norm is None else safe_divide(total, self.norm)

    @property
    def value(self) -> Floats:
        """Contribution of each tie group to the score of its topic."""
        return self.term if self.norm is None else safe_divide(self.term, self.norm[self.tied.topic])


#: Measures of rankings by every name that measure strings can use, and those of answers, which have neither
#: qrels nor ranks.
REGISTRY: dict[str, GradedMeasure] = {}
ANSWERS: dict[str, GradedMeasure] = {}
NAMES: Mapping[str, GradedMeasure] = ChainMap(REGISTRY, ANSWERS)

#: Parameters that short names such as NCUgu,BR set, as they are given, also where that is the default.
SHORT_FOR: dict[str, dict[str, Any]] = {}

#: Largest number of levels without judgments that exact bounds consider.
_MOST_LEVELS = 100
#: Parameters that nearly every measure takes.
COMMON: dict[str, Param] = {"cutoff": CUTOFF, "rel": REL, "judged_only": JUDGED_ONLY, **ORDER}


class Scorer:
    """Base class of all measures: computes the scores of a run by one measure."""

    #: Lowest and highest possible score of a topic.
    RANGE: ClassVar[tuple[float, float]] = (0.0, 1.0)
    #: The entries of ``PROPERTIES`` that the measure lacks, each with the reason.
    LACKS: ClassVar[Mapping[str, str]] = {}
    #: Further columns of qrels and run that the measure requires, and those that it uses if they exist.
    NEEDS: ClassVar[tuple[Facet, ...]] = ()
    USES: ClassVar[tuple[Facet, ...]] = ()
    #: Whether the measure estimates what a complete pool would score from judgments of a part of it.
    ESTIMATES: ClassVar[bool] = False
    #: Whether levels must be whole numbers.
    NEEDS_WHOLE_LEVELS: ClassVar[bool] = False
    #: Whether the measure always ranks the rows of a run, rather than articles by their best row.
    NEEDS_ROWS: ClassVar[bool] = False
    #: Whether the score depends on the order of the rows of the qrels.
    NEEDS_QRELS_ORDER: ClassVar[bool] = False
    #: Whether lower scores mean better rankings.
    LOWER_IS_BETTER: ClassVar[bool] = False
    #: What the scores of the topics are aggregated to.
    AGGREGATE: ClassVar[str] = "mean"
    #: Whether the score rises with every gain and depends on retrieved documents only.
    MONOTONE: ClassVar[bool] = False

    @property
    def lacks(self) -> Mapping[str, str]:
        """Properties that the measure lacks with these parameters; ``LACKS`` for most measures."""
        return self.LACKS

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score means a better ranking; False for ranks, and for counts of other things."""
        return not self.LOWER_IS_BETTER

    @property
    def cut(self) -> Cut:
        """Part of a ranking that the measure looks at."""
        raise NotImplementedError  # pragma: no cover

    @property
    def needs(self) -> tuple[Facet, ...]:
        """Further columns that the measure requires with these parameters; ``NEEDS`` for most measures."""
        return self.NEEDS

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Names of the required columns, without those of passages."""
        return tuple(facet.name for facet in self.needs if facet.kind != "span")

    @property
    def budget(self) -> Budget | None:
        """Budget of the text that the measure looks at; None without one."""
        return None

    @property
    def lowest_rel(self) -> float:
        """Lowest level that counts as relevant; inf where relevance makes no difference."""
        return float(self.cut.rel)

    @property
    def lowest_level(self) -> float:
        """Lowest level of the documents that the score depends on."""
        return 0.0 if self.cut.judged_only else self.lowest_rel

    @property
    def highest_level(self) -> float:
        """Highest level for which the measure is defined."""
        return LARGEST

    @property
    def infers_scale(self) -> bool:
        """Whether scores depend on the highest level of all qrels, because no highest level is set."""
        return False

    def doubt(self, levels: Levels) -> str:  # noqa: ARG002  # for measures on a given scale
        """Return a sentence on levels that do not suit the measure; empty without any."""
        return ""

    def relabelled(self, views: Views) -> tuple[Scorer, Views]:
        """Return a scorer and views with relabelled levels, for measures that replace levels."""
        return self, views

    def grades(self, levels: Levels) -> Grades:
        """Return the gain and relevance that the measure assigns to each level in ``levels.values``."""
        relevant = levels.values >= self.cut.rel
        return Grades(np.where(relevant, levels.values, 0.0), relevant, levels.values >= 0)

    def in_order(self, views: Views) -> Views:
        """Return the list that the measure scores: of rows if ``ranks`` says so, else ordered as in ``ties``.

        With ``ties='expected'``, tied documents are by doc_id.
        """
        if self.ranks_rows:
            return views.by_row()
        if self.ties in {TIES.default, "expected"} or not views.tied_topics.any():
            return views
        return views.ordered(self.ties)

    def validate_params(self) -> None:
        """Raise ParameterError or AssertionError if the measure cannot be computed."""
        raise NotImplementedError  # pragma: no cover

    def contributions(self, views: Views) -> Contributions:
        """Return the contribution of each document. Raises ParameterError if the score is not a sum."""
        raise NotImplementedError  # pragma: no cover

    def score(self, views: Views) -> Floats:
        """Return the score of each topic of the qrels, shape ``(topics,)``; 0 if the run lacks the topic."""
        return self.contributions(views).total()

    @property
    def ties(self) -> str:
        """Order of documents with equal scores, one of the words of ``TIES``."""
        return str(TIES.default)

    @property
    def ranks_rows(self) -> bool:
        """Whether ranks count the rows of a run with passages because of ``ranks='rows'``."""
        return False

    @property
    def has_expected_score(self) -> bool:
        """Whether the measure defines its mean over the orders of tied documents."""
        return type(self).expected_contributions is not Scorer.expected_contributions

    def expected_contributions(self, views: Views) -> TiedContributions:  # noqa: ARG002  # for subclasses
        """Return the contribution of each tie group to the mean score over all orders of tied documents.

        Only topics with ties have tie groups. Raises ParameterError if the measure does not define this mean.
        """
        raise ParameterError(f"{self} has no expected score over the orders of tied documents")

    def score_with_ties(self, views: Views) -> Floats:
        """Return the score of every topic with ranks as ``ranks`` and ``ties`` say."""
        if self.ties == "expected" and views.tied_topics.any():
            return self.expected_score(views)
        return self.score(self.in_order(views))

    def expected_score(self, views: Views) -> Floats:
        """Return the mean score of every topic over all orders of tied documents."""
        found = self.expected_contributions(views)
        mean = np.minimum(found.total(), self.RANGE[1])
        # In topics without ties, the score equals that by doc_id to the last bit.
        return np.where(found.tied.topics, mean, self.score(views))

    def columns(self, views: Views) -> dict[str, Floats]:  # noqa: ARG002  # for subclasses that have some
        """Return the symbols of the formula for each document, by name."""
        return {}

    @property
    def is_monotone(self) -> bool:
        """Whether a further judgment can only raise the score. In a condensed list it can also lower it."""
        return self.MONOTONE and not self.cut.judged_only

    def best_levels(self, levels: Levels) -> list[float]:  # noqa: ARG002  # for measures with gains
        """Return the levels of which one gives unjudged documents the highest score."""
        return [self.lowest_rel]

    def below(self, last: Ints) -> Floats:
        """Return what relevant documents at all ranks below ``last`` of each topic would add to the score."""
        return np.zeros(last.size)

    def residual(self, views: Views) -> Floats | None:  # noqa: ARG002  # for a measure that has one
        """Return how much judging every document could raise the score; None if not requested."""
        return None


def doubt_of_values(
    name: str, values: Mapping[float, float], named: Collection[float], levels: Levels, rel: float
) -> str:
    """Return a sentence on a level without a given value, if a lower one has a higher value; else nothing.

    Args:
        name: measure and parameter.
        values: value of levels; that of others is the level.
        named: levels whose value was given.
        levels: levels of the qrels.
        rel: lowest level that counts.
    """
    found = (levels.values, levels.by_intent.levels.values, levels.highlighted_levels)
    best = lower = -math.inf
    for level in np.unique(np.concatenate(found)).tolist():
        value = values.get(level, level)
        if level >= rel and level not in named and value < best:
            return (
                f"{name} lacks level {level:g} of the qrels, so its value is {value:g}, less than the "
                f"{best:g} of level {lower:g}. Name level {level:g}, too."
            )
        if level >= rel and value > best:
            best, lower = value, level
    return ""


def check_ranks(name: str, params: Mapping[str, Any]) -> None:
    """Raise ParameterError if ranks count rows, whose order is fixed, and ``ties`` is not the default."""
    ties = params.get("ties", TIES.default)
    if params.get("ranks", RANKS.default) != RANKS.default and ties != TIES.default:
        raise ParameterError(f"{name}: ranks={params['ranks']!r} needs ties={TIES.default!r}, not {ties!r}")


class GradedMeasure(Scorer, Measure):
    """A measure of this package: an ir-measures ``Measure`` that checks its parameters on creation.

    Measures with the same canonical parameters are equal and have the same hash and printed name. Parsing the
    printed name returns an equal measure.
    """

    NAME: ClassVar[str]
    PRETTY_NAME: ClassVar[str]
    SUPPORTED_PARAMS: ClassVar[dict[str, Param]] = COMMON
    #: The registry of the measure.
    NAMES: ClassVar[dict[str, GradedMeasure]] = REGISTRY

    def __init__(self, **params: Any) -> None:
        for name, value in params.items():
            if name not in self.SUPPORTED_PARAMS:
                takes = ", ".join(self.SUPPORTED_PARAMS)
                raise ParameterError(
                    f"{self.NAME} takes no parameter {short_repr(name)} "
                    f"(given {cut(name)}={short_repr(value)}); it takes {takes}"
                )
        canonical = {name: self._canonical(name, params[name]) for name in sorted(params)}
        # A measure with an explicit default value equals the measure without it.
        not_default = {
            name: value for name, value in canonical.items() if value != self.SUPPORTED_PARAMS[name].default
        }
        check_ranks(self._printed_name, not_default)
        self.check_combination(not_default)
        super().__init__(**not_default)

    @property
    def _printed_name(self) -> str:
        """Name in measure strings and messages."""
        return self.NAME

    def _canonical(self, name: str, value: Any) -> Any:
        try:
            return self.SUPPORTED_PARAMS[name].canonical(value)
        except ParameterError:
            raise
        except ValueError as error:
            raise ParameterError(
                f"{self._printed_name}: {name}={short_repr(value)} must be {error}"
            ) from None

    @property
    def SHORT_DESC(self) -> str:
        """Summary of the docstring."""
        return sections(type(self))["Summary"]

    @property
    def SOURCE(self) -> str:
        """Publications that define the measure: authors and years, or the source of a measure of your own."""
        source = sections(type(self))["Source"]
        return short_citations(source) or " ".join(source.split())

    def check_combination(self, params: Mapping[str, Any]) -> None:
        """Raise ParameterError if parameters exclude each other; a hook for subclasses."""

    def validate_params(self) -> None:
        """Raise ParameterError if a required parameter is missing; ``nCG@10`` creates ``nCG`` first."""
        for name, param in self.SUPPORTED_PARAMS.items():
            if param.required and name not in self.params:
                example = param.example(self)
                needs = name if name.endswith("s") else f"a {name}"
                raise ParameterError(f"{self} needs {needs}, {param.expected}: for example {example}")
        if self.params.get("norm") == "cutoff" and "cutoff" not in self.params:
            raise ParameterError(f"{self}: norm='cutoff' needs a cutoff: for example {self}@10")
        self.validated = True

    def doubt(self, levels: Levels) -> str:
        gains = self.params.get("gains", {})
        for name, table in self.params.items():
            if isinstance(table, LevelValues):
                values = {**gains, **table} if name == "stops" else table
                if doubt := doubt_of_values(f"{self}: {name}", values, table.named, levels, self.cut.rel):
                    return doubt
        return super().doubt(levels)

    def score(self, views: Views) -> Floats:
        # Rounding can put a perfect list one ulp above the highest score.
        return np.minimum(super().score(views), self.RANGE[1])

    def grades(self, levels: Levels) -> Grades:
        grades = super().grades(levels)
        if "gains" not in self.SUPPORTED_PARAMS:
            return grades
        gain = levels.table(self.overrides("gains"))
        return replace(grades, gain=np.where(grades.relevant, gain, 0.0))

    def graded(self, view: View) -> GradedView:
        """Return the documents of a view with the gains of this measure."""
        return view.graded(self.overrides("gains"))

    def gain_columns(self, view: View) -> dict[str, Floats]:
        """Return gain g, cumulative gain cg and ideal cumulative gain cg* at each document."""
        graded = self.graded(view)
        return {"gain": graded.g, "cg": graded.cg, "cg_star": graded.cg_star}

    def aggregator(self) -> ExactMean:
        """Return the aggregator over topics: a mean, rounded once."""
        return ExactMean()

    def optional(self, name: str) -> Any:
        """Return the value of a parameter without a default; None if it is not set."""
        return self.params.get(name)

    def overrides(self, name: str) -> Overrides:
        """Return a dict parameter as sorted pairs."""
        return tuple(self[name].items())

    @property
    def ties(self) -> str:
        return str(self["ties"]) if "ties" in self.SUPPORTED_PARAMS else super().ties

    def with_ties(self, ties: str) -> Measure:
        """Return the measure with another order of tied documents. Raises ParameterError if it has none."""
        if "ties" not in self.SUPPORTED_PARAMS:
            raise ParameterError(f"{self} takes no ties, given ties={ties!r}")
        if ties == "expected" and not self.has_expected_score:
            raise ParameterError(f"{self} has no expected score over the orders of tied documents")
        return self(ties=ties)

    @property
    def ranks_rows(self) -> bool:
        return bool(self.params.get("ranks", RANKS.default) != RANKS.default)

    def with_ranks(self, ranks: str) -> Measure:
        """Return the measure with another meaning of ranks. Raises ParameterError if it has one only."""
        if self.NEEDS_ROWS:
            return self
        if "ranks" not in self.SUPPORTED_PARAMS:
            raise ParameterError(f"{self} takes no ranks, given ranks={ranks!r}")
        return self(ranks=ranks)

    @property
    def cut(self) -> Cut:
        rel = self["rel"] if "rel" in self.SUPPORTED_PARAMS else REL.default
        judged_only = bool(self.params.get("judged_only", False))
        return Cut(rel, judged_only, self.optional("cutoff"))

    @property
    def highest_level(self) -> float:
        return float(self.params.get("max_rel", LARGEST))

    def max_rel(self, levels: Levels) -> float:
        """Return the highest level of the scale: ``max_rel``, or else the highest level in the qrels."""
        return float(self.params.get("max_rel", levels.values[-1] if levels.values.size else 0.0))

    @property
    def __name__(self) -> str:
        """Printed name, by which ir-measures registers and sorts measures."""
        return self.NAME

    def __repr__(self) -> str:
        params = ",".join(f"{k}={format_value(v)}" for k, v in self.params.items() if k != self.AT_PARAM)
        at = f"@{self.params[self.AT_PARAM]}" if self.AT_PARAM in self.params else ""
        return f"{self._printed_name}{f'({params})' if params else ''}{at}"


class StopUtility(GradedMeasure):
    """A measure of the family ``sum over ranks n of stop(n) * utility(n)`` (Sakai and Robertson 2008)."""

    def stop(self, view: View) -> Floats:
        """Return the probability that the user stops at each relevant document retrieved."""
        raise NotImplementedError  # pragma: no cover

    def utility(self, view: View) -> Floats:
        """Return the utility of the list down to each relevant document retrieved, in [0, 1]."""
        raise NotImplementedError  # pragma: no cover

    def contributions(self, views: Views) -> Contributions:
        view = views[self.cut]
        return Contributions(view, self.stop(view) * self.utility(view))

    def mean_utility(self, view: View) -> Utility:  # noqa: ARG002  # for subclasses
        """Return the utility in a form for means over orders of tied documents."""
        raise ParameterError(f"{self} does not define the mean of its utility over tied documents")

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:  # noqa: ARG002  # for subclasses
        """Return the mean of ``sum of stop * utility`` over the orders of tied documents, per tie group."""
        raise ParameterError(f"{self} does not define the mean of its stop over tied documents")

    @property
    def has_expected_score(self) -> bool:
        of, base = type(self), StopUtility
        if of.expected_contributions is not base.expected_contributions:
            return True
        return of.mean_stop is not base.mean_stop and of.mean_utility is not base.mean_utility

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied = views.tied(self.cut)
        return TiedContributions(tied, self.mean_stop(tied, self.mean_utility(tied.view)))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = views[self.cut]
        gains = self.gain_columns(view) if "gains" in self.SUPPORTED_PARAMS else {}
        return {**gains, "stop": self.stop(view), "utility": self.utility(view)}


class ScaledMeasure(StopUtility):
    """A :class:`StopUtility` measure that compares gains with the largest gain on the scale."""

    SUPPORTED_PARAMS = {**COMMON, "gains": GAINS, "max_rel": MAX_REL}

    def gmax(self, levels: Levels, topic: Ints | slice = slice(None)) -> float | Floats:
        """Return the largest gain on the scale, or per topic of ``topic`` if topics have their own scales."""
        if levels.gmax is not None:
            return levels.gmax[topic]
        return float(max(self._scale(levels).values(), default=0.0))

    @property
    def infers_scale(self) -> bool:
        return "max_rel" not in self.params

    def grades(self, levels: Levels) -> Grades:
        grades = super().grades(levels)
        return grades if self.infers_scale else replace(grades, gmax=float(self.gmax(levels)))

    def best_levels(self, levels: Levels) -> list[float]:
        scale = self._scale(levels)
        best = max(scale, key=scale.__getitem__, default=0.0)
        largest = scale.get(best, 0.0)
        # If `gains` lowers the highest levels, whole levels that the qrels lack may have larger gains.
        begin, end = math.floor(largest) + 1, math.floor(self.max_rel(levels)) + 1
        if end - begin > _MOST_LEVELS:
            raise ParameterError(
                f"{self}: the gain of all known levels is at most {largest:g}, so one of {end - begin} other "
                f"levels up to {end - 1} could be best; exact bounds support {_MOST_LEVELS} of them"
            )
        others = [float(level) for level in range(begin, end) if level >= self["rel"] and level not in scale]
        return [best if largest > 0 else 0.0, *others]

    def _scale(self, levels: Levels) -> dict[float, float]:
        return gains_on_scale(levels, self.overrides("gains"), self["rel"], self.max_rel(levels))


class BlendedRatioMeasure(GradedMeasure):
    """A measure that uses the blended ratio."""

    @property
    def beta(self) -> float:
        """Weight of gain against count in the blended ratio; inf (cg/cg*) if it is not a parameter."""
        return float(self["beta"]) if "beta" in self.SUPPORTED_PARAMS else math.inf


class BlendedUtility(BlendedRatioMeasure, StopUtility):
    """A :class:`StopUtility` measure whose utility is the blended ratio."""

    def utility(self, view: View) -> Floats:
        return self.graded(view).BR(self.beta)

    def mean_utility(self, view: View) -> Utility:
        return self.graded(view).mean_utility(self.beta)

    def columns(self, views: Views) -> dict[str, Floats]:
        columns = super().columns(views)
        return {**columns, "BR": columns["utility"]}


Registered = TypeVar("Registered", bound=GradedMeasure)


def register(measure: Registered, *aliases: str) -> Registered:
    """Add a measure to its registry under its printed name, that name as an identifier, and ``aliases``.

    Raises:
        ValueError: another measure has the name, here or in ir-measures. To compute a measure of ir-measures,
            register a ``Classic`` for it with ``ir_graded.measures.classic.base.register``.
    """
    check_lacks(measure.NAME, measure.LACKS)
    identifier = measure.NAME.replace("-", "_").replace("#", "_sharp").replace("+", "_plus_").rstrip("_")
    return add_names(measure, measure.NAME, identifier, *aliases)


def add_names(measure: Registered, *names: str) -> Registered:
    """Add further names of a measure, which may have parameters, and return the measure."""
    measure = in_place(MEASURES.get(names[0]), measure)
    for name in names:
        if NAMES.get(name, measure) != measure:
            raise ValueError(f"the name {name!r} is taken by {NAMES[name]!r}")
        theirs = ir_measures.measures.registry.get(name)
        # The class is another one of that name after an earlier import of its module.
        is_ours = issubclass(type(theirs), (GradedMeasure, Later))
        if theirs is not None and not is_ours and _path(theirs) != _path(measure):
            raise ValueError(
                f"the name {name!r} is taken by a measure of ir-measures: choose another name. To "
                "compute that measure, register a Classic with ir_graded.measures.classic.base.register"
            )
    measure.NAMES.update(dict.fromkeys(names, measure))
    return measure


def add_short_name(measure: GradedMeasure, name: str, /, **params: Any) -> None:
    """Add a name that is short for a measure with some parameters."""
    SHORT_FOR[name] = params
    add_names(measure(**params), name)


def _path(measure: Measure) -> tuple[str, str]:
    return type(measure).__module__, type(measure).__qualname__
