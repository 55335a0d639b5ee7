"""Effect sizes, and topic set size design (Sakai 2016 and 2018) with exact noncentral distributions."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.later import extra
from ir_graded._utils.results import Result
from ir_graded.core.segments import Floats
from ir_graded.errors import InputError, ParameterError, check_choice

from .matrix import FEWEST, ScoreMatrix, pairs_of
from .options import MOST_TOPICS, check_options, statistic
from .topics import Sample

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


MODELS = ("two-way", "one-way")
_TESTS = ("t", "anova", "interval")
_ALTERNATIVES = ("two-sided", "greater")
#: Power of the smallest detectable differences in tables.
_POWER = 0.8
#: SciPy's critical values fail below this level.
_SMALLEST_ALPHA = 1e-12
#: Residuals below this share of the largest score are rounding errors.
ROUNDING = 1e-12
#: The two numbers of Nagata's approximation for an F test, by alpha and power.
_NAGATA = {
    (0.05, 0.8): (4.860, 3.584),
    (0.05, 0.9): (7.049, 4.244),
    (0.01, 0.8): (7.736, 4.551),
    (0.01, 0.9): (10.439, 5.213),
}
#: Above this noncentrality SciPy fails, and the normal deviate of the numerator makes no difference.
_LARGE = 1e4
#: Steps of root finding, and the relative change of a noncentrality that ends them.
_MOST_STEPS = 100
_PRECISION = 1e-14


def power_of_t(noncentrality: float, degrees: float, alpha: float, *, two_sided: bool) -> float:
    """Return the power of a t test, from alpha to 1."""
    critical = -float(extra("scipy.special").stdtrit(degrees, alpha / 2 if two_sided else alpha))
    sides = (noncentrality, -noncentrality) if two_sided else (noncentrality,)
    return min(max(sum(float(_t_tail(critical, degrees, side)) for side in sides), alpha), 1.0)


def noncentralities(t: Floats, degrees: int, tail: float) -> Floats:
    """Return the noncentralities with which P(T' > t) is a probability, for t >= 0; NaN where t is NaN."""
    # SciPy's nctdtrinc is exact to four to seven digits only.
    ndtri = extra("scipy.special").ndtri

    def excess(noncentrality: Floats) -> Floats:
        # Normal deviates of the probabilities are almost linear in the noncentrality.
        p = np.clip(_t_tail(t, degrees, noncentrality), 1e-300, 1 - 2**-53)
        return np.asarray(ndtri(p) - ndtri(tail))

    width = np.sqrt(1 + t**2 / (2 * degrees))
    low, high = t - width, t + width
    while ((below := excess(low)) > 0).any():
        low = np.where(below > 0, low - (high - low), low)
    while ((above := excess(high)) < 0).any():
        high = np.where(above < 0, high + (high - low), high)
    # Regula falsi; the value at an end that stays is halved (Illinois).
    found = low
    for _ in range(_MOST_STEPS):
        with np.errstate(invalid="ignore"):
            middle = np.clip(high - above * ((high - low) / (above - below)), low, high)
        # Both ends have reached the root.
        middle = np.where(above == below, high, middle)
        if not (np.abs(middle - found) > _PRECISION * np.maximum(1, np.abs(middle))).any():
            return middle
        found, value = middle, excess(middle)
        over = value > 0
        low, high = np.where(over, low, middle), np.where(over, middle, high)
        below, above = np.where(over, below / 2, value), np.where(over, value, above / 2)
    return found


def _t_tail(critical: Any, degrees: float, noncentrality: Any) -> Any:
    """Return P(T' > critical), of numbers or arrays."""
    # The same functions in scipy.stats take a second to import.
    special = extra("scipy.special")
    large = np.abs(noncentrality) > _LARGE
    with np.errstate(all="ignore"):
        found = special.nctdtr(degrees, -np.where(large, 1.0, noncentrality), -critical)
        # SciPy gives NaN for some large numbers of topics, where the normal distribution is the limit.
        found = np.where(np.isnan(found), special.ndtr(noncentrality - critical), found)
        if large.any():
            ratio = np.maximum(noncentrality / critical, 0.0)
            found = np.where(large, special.chdtr(degrees, degrees * ratio**2), found)
    return found


def power_of_f(noncentrality: float, first: int, last: float, alpha: float) -> float:
    """Return the power of an F test, from alpha to 1."""
    stats = extra("scipy.stats")
    if not noncentrality:
        return alpha  # SciPy 1.17 gives a negative probability
    critical = float(stats.f.isf(alpha, first, last))
    if noncentrality > _LARGE**2:
        found = float(stats.chi2.cdf(last * (noncentrality / (first * critical)), last))
    else:
        found = float(stats.ncf.sf(critical, first, last, noncentrality))
        if math.isnan(found):
            found = float(stats.ncx2.sf(first * critical, first, noncentrality))
    return min(max(found, alpha), 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreVariance(Result):
    """Residual variance of scores, per collection and pooled.

    Attributes:
        variance: pooled by degrees of freedom, ``sum(phi * V) / sum(phi)``.
        degrees: sum of the degrees of freedom.
        variances: V of each collection.
        phi: degrees of freedom of each collection.
        topics: number of topics of each collection.
        model: ``'two-way'`` or ``'one-way'``.
        cluster_size: topics of a cluster on average, as topics / effective clusters; 1 without clusters.
        design_effect: factor by which clusters increase the variance of a mean; 1 without clusters.
    """

    variance: float
    degrees: int
    variances: tuple[float, ...]
    phi: tuple[int, ...]
    topics: tuple[int, ...]
    model: str
    cluster_size: float = 1.0
    design_effect: float = 1.0

    def to_frame(self) -> pd.DataFrame:
        """Return a row per collection, then the pooled variance: columns variance, degrees, topics."""
        import pandas as pd

        rows = [*zip(self.variances, self.phi, self.topics, strict=True)]
        rows.append((self.variance, self.degrees, sum(self.topics)))
        names = pd.Index([*range(1, len(rows)), "pooled"], name="collection", dtype=object)
        return pd.DataFrame(rows, index=names, columns=["variance", "degrees", "topics"])


@statistic(model=MODELS)
def score_variance(scores: Any, *, model: str = "two-way", clusters: Any = None) -> ScoreVariance:
    """Compute the residual variance of the scores of systems on topics.

    For m systems and n topics: ``'one-way'`` ``V = sum (x - mean of system)^2 / (m (n-1))``; ``'two-way'``
    ``V = sum (x - system - topic + grand mean)^2 / ((m-1)(n-1))``. Twice the two-way variance is exactly the
    mean over all pairs of systems of the variance of their differences. With clusters, V is that of their
    means: with r the mean of ``x - system - topic + grand mean`` over a cluster and h its share of the
    topics, ``V = sum h^2 r^2 / (1 - h) / ((m-1) sum h^2)``, and for ``'one-way'`` likewise with m.

    Args:
        scores: a score matrix, topics x systems, or a list of matrices of several collections.
        model: ``'two-way'`` for paired data, or ``'one-way'``, which is larger.
        clusters: the cluster of each topic of a single matrix, as for ``differences``.

    Raises:
        InputError: a matrix is wrong, its variance is 0, or a topic has no cluster.
        ParameterError: the model is unknown, or there are clusters and several matrices.

    Example:
        >>> scores = [[0.9, 0.5, 0.3], [0.8, 0.4, 0.1], [0.4, 0.4, 0.1]]
        >>> [round(score_variance(scores, model=model).variance, 4) for model in ("two-way", "one-way")]
        [0.0167, 0.0289]
    """
    several = isinstance(scores, (list, tuple)) and bool(scores)
    if several and all(hasattr(one, "columns") or np.ndim(one) == 2 for one in scores):  # noqa: PLR2004
        matrices = [ScoreMatrix.of(one, f"collection {at}") for at, one in enumerate(scores, 1)]
    else:
        matrices = [ScoreMatrix.of(scores)]
    if clusters is not None:
        return _of_clusters(matrices, model, clusters)
    variances, phi = zip(*(_variance(matrix, model) for matrix in matrices), strict=True)
    pooled, topics = float(np.average(variances, weights=phi)), tuple(len(one.topics) for one in matrices)
    return ScoreVariance(pooled, sum(phi), variances, phi, topics, model)


def _variance(matrix: ScoreMatrix, model: str) -> tuple[float, int]:
    """Return the variance of a matrix and its degrees of freedom."""
    rest, systems = _residuals(matrix, model)
    degrees = systems * (len(rest) - 1)
    return float((rest**2).sum() / degrees), degrees


def _residuals(matrix: ScoreMatrix, model: str) -> tuple[Floats, int]:
    """Return the residuals, of the shape of the matrix, and the systems that are free to vary."""
    rest = matrix.values - matrix.values.mean(axis=0)
    if model == "two-way":
        rest -= rest.mean(axis=1, keepdims=True)
    if np.abs(rest).max() <= ROUNDING * np.abs(matrix.values).max() or not (rest**2).sum():
        raise InputError(f"the {model} variance of the scores is 0; use scores that vary by topic")
    return rest, rest.shape[1] - (model == "two-way")


def _of_clusters(matrices: Sequence[ScoreMatrix], model: str, clusters: Any) -> ScoreVariance:
    """Return the variance of the means of clusters of the topics of one matrix."""
    if len(matrices) > 1:
        raise ParameterError("clusters are of the topics of one matrix; give one, or leave clusters out")
    (matrix,) = matrices
    sample, (rest, systems) = Sample.of(matrix.topics, clusters=clusters), _residuals(matrix, model)
    _, means, sizes = sample.units(rest.T)
    h, effective = sizes / sizes.sum(), sample.effective()
    variance = float((means**2 @ (h**2 / (1 - h))).sum() / systems * effective)
    degrees, size = systems * (sample.size - 1), len(rest) / effective
    alone, _ = _variance(matrix, model)
    topics = (len(rest),)
    return ScoreVariance(
        variance, degrees, (variance,), (degrees,), topics, model, size, variance * size / alone
    )


@dataclass(frozen=True)
class Design:
    """A test with all its options; raises ParameterError for one that is out of its range.

    Attributes:
        test: ``'t'``, ``'anova'`` or ``'interval'``.
        model: model of the variance and of the error, by default ``'two-way'``, or ``'one-way'`` if unpaired.
        paired: whether both systems of the t test have the same topics.
        n_runs: number of systems of the anova.
        alpha: significance level, at least 1e-12; for an interval, 1 - confidence.
        power: probability of detecting the difference, above alpha.
        alternative: ``'two-sided'`` or ``'greater'``, for the t test.
        variance: residual variance V of the scores, instead of scores; a difference has the variance 2 V.

    Clusters of pilot scores set ``cluster_size``, the topics of a cluster: n topics are then
    ``n / cluster_size`` clusters, whose means have the variance V. Without pilot scores there are none.

    Example:
        >>> design = Design(power=0.9, variance=0.02)
        >>> topic_set_size(None, 0.1, design=design).n_topics
        44
    """

    test: str = "t"
    model: str | None = None
    paired: bool = True
    n_runs: int = 2
    alpha: float = 0.05
    power: float = 0.8
    alternative: str = "two-sided"
    variance: float | None = None
    cluster_size: float = field(default=1.0, init=False)

    choices: ClassVar = {"test": _TESTS, "model": MODELS, "alternative": _ALTERNATIVES}

    def __post_init__(self) -> None:
        if self.model is None:
            object.__setattr__(self, "model", "two-way" if self.paired else "one-way")
        for name, words in self.choices.items():
            check_choice(name, getattr(self, name), words)
        variance = {} if self.variance is None else {"variance": self.variance}
        check_options(alpha=self.alpha, n_runs=self.n_runs, power=self.power, **variance)
        if self.alpha < _SMALLEST_ALPHA:
            raise ParameterError(f"alpha={self.alpha!r} must be at least {_SMALLEST_ALPHA:g}")
        if self.power <= self.alpha:
            raise ParameterError(f"power={self.power!r} must be above alpha={self.alpha!r}")
        if self.test != "t" and (not self.paired or self.alternative != "two-sided"):
            raise ParameterError(
                f"paired=False and alternative='greater' are for test='t', not {self.test!r}"
            )

    @property
    def fewest(self) -> int:
        """The smallest number of topics of a test, those of two clusters."""
        return math.ceil(FEWEST * self.cluster_size)

    @property
    def deviation(self) -> float:
        """Standard deviation of a difference, the root of 2 V."""
        return math.sqrt(2 * float(self.variance or 0))

    def power_at(self, topics: int, difference: float) -> float:
        """Return the power of a t test or an anova with a number of topics."""
        n = topics / self.cluster_size
        if self.test == "anova":
            last = (n - 1) * (self.n_runs - (self.model == "two-way"))
            noncentrality = n * (difference / self.deviation) ** 2
            return power_of_f(noncentrality, self.n_runs - 1, last, self.alpha)
        degrees = n - 1 if self.paired else 2 * n - 2
        noncentrality = difference / self.deviation * np.sqrt(n)
        return power_of_t(noncentrality, degrees, self.alpha, two_sided=self.alternative == "two-sided")

    def width_at(self, topics: int) -> float:
        """Return the expected width of the interval of a mean paired difference."""
        special = extra("scipy.special")
        n = topics / self.cluster_size
        bias = np.sqrt(2 / (n - 1)) * np.exp(special.gammaln(n / 2) - special.gammaln((n - 1) / 2))
        quantile = -special.stdtrit(n - 1, self.alpha / 2)
        return float(2 * quantile * self.deviation / np.sqrt(n) * bias)

    def value_at(self, topics: int, difference: float) -> float:
        """Return the power, or the expected width of an interval."""
        return self.width_at(topics) if self.test == "interval" else self.power_at(topics, difference)

    def suffices(self, topics: int, difference: float) -> bool:
        """Return whether a number of topics detects a difference, or gives an interval of that width."""
        value = self.value_at(topics, difference)
        return value <= difference if self.test == "interval" else value >= self.power

    def smallest(self, difference: float) -> int:
        """Return the smallest sufficient number of topics."""
        sizes = range(self.fewest, MOST_TOPICS + 1)
        at = bisect_left(sizes, True, key=lambda topics: self.suffices(topics, difference))
        if at == len(sizes):
            raise ParameterError(
                f"a difference of {difference:g} needs more than {MOST_TOPICS:,} topics at the variance "
                f"{self.variance:g}; give a larger difference"
            )
        return sizes[at]

    def detectable(self, topics: int) -> float:
        """Return the difference that a number of topics detects, or the expected width of an interval."""
        if self.test == "interval":
            return self.width_at(topics)
        high = float(np.sqrt(self.variance or 0))
        while self.power_at(topics, high) < self.power:
            high *= 2
        # Bisection down to the last bits. SciPy's brentq takes a third of a second to import.
        step = high * 2.0**-52
        return step * bisect_left(range(1 << 52), self.power, key=lambda at: self.power_at(topics, at * step))

    def approximation(self, difference: float) -> float:
        """Return the approximate number of topics by Nagata's formulas; NaN if they do not apply."""
        if self.test == "anova":
            one, two = _NAGATA.get((self.alpha, self.power), (np.nan, np.nan))
            return float((one + two * np.sqrt(self.n_runs - 1)) * (self.deviation / difference) ** 2)
        if self.test == "interval" or not self.paired or self.alternative != "two-sided":
            return math.nan
        z, of_power = extra("scipy.special").ndtri([1 - self.alpha / 2, self.power])
        return float(((z + of_power) * self.deviation / difference) ** 2 + z**2 / 2)


def _applied(
    design: Design, scores: Any, n_topics: int | None, clusters: Any
) -> tuple[Design, int | None, float]:
    """Return the design with its variance, the topics, given or of one matrix, and the design effect."""
    check_options(n_topics=n_topics)
    if (scores is None) == (design.variance is None):
        raise ParameterError("give either scores or variance")
    if scores is None and clusters is not None:
        raise ParameterError("clusters need scores, from which their effect on the variance is estimated")
    if scores is None:
        return design, n_topics, 1.0
    found = score_variance(scores, model=str(design.model), clusters=clusters)
    topics = found.topics[0] if n_topics is None and len(found.topics) == 1 else n_topics
    applied = replace(design, variance=found.variance)
    object.__setattr__(applied, "cluster_size", found.cluster_size)
    return applied, topics, found.design_effect


def _present(n_topics: int | None, design: Design) -> int:
    if n_topics is None:
        raise ParameterError("n_topics is required unless scores are a single matrix")
    if n_topics < design.fewest:
        raise ParameterError(f"{n_topics=} must be at least {design.fewest}, the topics of two clusters")
    return int(n_topics)


@dataclass(frozen=True, eq=False, repr=False)
class TopicSetSize(Result):
    """Number of topics required to detect a difference, the result of :func:`topic_set_size`.

    Attributes:
        n_topics: the smallest sufficient number; for an unpaired test, in each group.
        difference: the difference to detect; for an interval, the largest width.
        value: power with ``n_topics``, or the expected width.
        value_below: power or width with one topic less; NaN if ``n_topics`` is the smallest number of a test.
        approximation: Nagata's approximation of the number (t, anova), else NaN.
        present: number of topics of the scores; None if several collections or none were given.
        design: variance, test and options.
        design_effect: factor by which clusters of topics increase the variance; 1 without clusters.
    """

    n_topics: int
    difference: float
    value: float
    value_below: float
    approximation: float
    present: int | None
    design: Design
    design_effect: float = field(default=1.0, repr=False)

    COLUMNS: ClassVar = (
        *("n_topics", "difference", "value", "value_below"),
        *("approximation", "present", "variance", "design_effect"),
    )

    @property
    def variance(self) -> float:
        """Residual variance of the scores, from the design."""
        return float(self.design.variance or 0)

    def curve(self) -> tuple[Floats, Floats]:
        """Return differences around the given one, and the number of topics that each requires."""
        # Half the difference requires about four times the topics.
        first = 0.5 if self.n_topics < MOST_TOPICS / 8 else 1
        wanted = self.difference * np.geomspace(first, 4, 25)
        needed = [self.design.smallest(float(one)) for one in wanted]
        return wanted, np.array(needed, dtype=np.float64)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the number of topics against the difference into ``ax`` or a new figure."""
        from ir_graded.plots.meta import topic_set_sizes

        return topic_set_sizes({"": self}, ax)


def topic_set_size(
    scores: Any, difference: float, *, design: Design | None = None, clusters: Any = None, **options: Any
) -> TopicSetSize:
    """Compute the smallest number of topics with which a test detects a difference of means.

    Let V be the residual variance. The paired t test has n - 1 degrees of freedom and the noncentrality
    ``difference * sqrt(n / (2 V))``; the unpaired test has 2n - 2 and n topics in each group. The analysis of
    variance of m systems, where the difference is between the best and the worst, has the noncentrality
    ``n * difference^2 / (2 V)``. The interval is that of a mean paired difference, and ``difference`` is its
    largest expected width at confidence 1 - alpha.

    With clusters of the topics of ``scores``, n above is the number of clusters and V the variance of their
    means; further topics are taken to come in clusters of the same sizes.

    Source: Sakai, "Topic set size design" (Information Retrieval Journal, 2016) and "Topic set size design
    for paired and unpaired data" (ICTIR 2018).

    Args:
        scores: a score matrix of earlier systems, a list of matrices of several collections, whose variances
            are pooled, or None if the design has a variance.
        difference: the smallest difference of means to detect, above 0; for an interval, its largest width.
        design: test, significance level, power and further options; by default ``Design()``.
        clusters: the cluster of each topic of the scores, a single matrix, as for ``differences``.
        options: fields of ``Design``, instead of a design.

    Raises:
        InputError: a matrix is wrong, its variance is 0, or a topic has no cluster.
        ParameterError: an option is out of its range, there are clusters without scores or of several
            matrices, or more than 10 million topics are needed.

    Example:
        >>> topic_set_size(None, 0.1, variance=0.02).n_topics
        34
    """
    check_options(difference=difference)
    chosen, present, effect = _applied(design or Design(**options), scores, None, clusters)
    number = chosen.smallest(float(difference))
    return TopicSetSize(
        n_topics=number,
        difference=float(difference),
        value=chosen.value_at(number, difference),
        value_below=chosen.value_at(number - 1, difference) if number > chosen.fewest else math.nan,
        approximation=chosen.approximation(difference),
        present=present,
        design=chosen,
        design_effect=effect,
    )


def power(
    scores: Any,
    difference: float,
    n_topics: int | None = None,
    *,
    design: Design | None = None,
    clusters: Any = None,
    **options: Any,
) -> float:
    """Compute the probability that a test detects a difference of means with a number of topics.

    Args:
        scores: as for ``topic_set_size``.
        difference: the true difference of means, at least 0.
        n_topics: number of topics, at least 2; by default that of the matrix.
        design: a t test or an anova; its power has no effect.
        clusters: as for ``topic_set_size``.
        options: fields of ``Design``, instead of a design.

    Raises:
        InputError: a matrix is wrong, or its variance is 0.
        ParameterError: an option is out of its range.

    Example:
        >>> round(power(None, 0.3, 50, variance=0.5), 6)
        0.547657
    """
    if difference != 0:
        check_options(difference=difference)
    # The default of the desired power, which has no effect, is above any alpha.
    design = design or Design(**{"power": 1 - 2**-53, **options})
    if design.test == "interval":
        raise ParameterError("test='interval' has no power; use minimum_detectable_difference for its width")
    chosen, topics, _ = _applied(design, scores, n_topics, clusters)
    return chosen.power_at(_present(topics, chosen), float(difference))


def minimum_detectable_difference(
    scores: Any,
    n_topics: int | None = None,
    *,
    design: Design | None = None,
    clusters: Any = None,
    **options: Any,
) -> float:
    """Compute the smallest difference of means that a test detects, or the width of an interval.

    Args:
        scores: as for ``topic_set_size``.
        n_topics: number of topics, at least 2; by default that of the matrix.
        design: test, significance level, power and further options; by default ``Design()``.
        clusters: as for ``topic_set_size``.
        options: fields of ``Design``, instead of a design.

    Raises:
        InputError: a matrix is wrong, or its variance is 0.
        ParameterError: an option is out of its range.

    Example:
        >>> round(minimum_detectable_difference(None, 50, variance=0.5), 6)
        0.404183
    """
    chosen, topics, _ = _applied(design or Design(**options), scores, n_topics, clusters)
    return chosen.detectable(_present(topics, chosen))


def detectable_deviations(topics: int, alpha: float, alternative: str = "two-sided") -> float:
    """Return the mean / standard deviation that a t test detects with power .8; NaN if alpha is too small."""
    if alpha < _SMALLEST_ALPHA or alpha >= _POWER:
        return 0.0 if alpha >= _POWER else math.nan
    return Design(variance=0.5, alpha=alpha, power=_POWER, alternative=alternative).detectable(topics)


@dataclass(frozen=True, eq=False, repr=False)
class EffectSizes(Result):
    """Effect sizes of pairs of systems.

    Attributes:
        run_a: first system of each pair.
        run_b: second system of each pair; the baseline if one is given.
        difference: mean of "a - b" over the topics.
        dz: mean / standard deviation of the differences by topic; NaN if all are equal.
        gz: dz corrected for its bias with few topics (Hedges).
        low: lower end of the interval of dz.
        high: upper end.
        es: difference / root of the two-way residual variance of all systems (Sakai, for Tukey's HSD).
        es_one_way: the same with the one-way variance, for unpaired systems.
        confidence: confidence level of the interval of dz.
    """

    run_a: tuple[Hashable, ...]
    run_b: tuple[Hashable, ...]
    difference: Floats
    dz: Floats
    gz: Floats
    low: Floats
    high: Floats
    es: Floats
    es_one_way: Floats
    confidence: float

    COLUMNS: ClassVar = ("run_a", "run_b", "difference", "dz", "gz", "low", "high", "es", "es_one_way")


@statistic()
def effect_sizes(scores: Any, baseline: Hashable | None = None, *, confidence: float = 0.95) -> EffectSizes:
    """Compute effect sizes of all pairs of systems, or of all systems against a baseline.

    With z the differences per topic, f = n - 1 and t the statistic of the paired t test:
    ``dz = mean(z) / sd(z)``; ``gz = dz * Gamma(f/2) / (sqrt(f/2) Gamma((f-1)/2))``. The interval of dz
    contains the noncentralities for which t is not extreme, divided by sqrt(n).

    Args:
        scores: score matrix, topics x systems.
        baseline: a system; None for all pairs.
        confidence: confidence level, between 0 and 1.

    Raises:
        InputError: the matrix is wrong, or its variance is 0.
        ParameterError: the confidence is out of its range, or the baseline is not a system.

    Source: Hedges, "Distribution theory for Glass's estimator of effect size" (1981); Sakai, "Laboratory
    experiments in information retrieval" (2018).

    Example:
        >>> found = effect_sizes([[0.9, 0.5], [0.8, 0.4], [0.4, 0.4], [0.7, 0.2]])
        >>> found.to_frame()[["difference", "dz", "gz"]].round(3)
           difference     dz     gz
        0       0.325  1.466  1.061
    """
    matrix = ScoreMatrix.of(scores)
    first, second = pairs_of(matrix.runs, baseline)
    mean, sd = mean_and_sd(matrix.values.T, first, second)
    topics = len(matrix.topics)
    f, dz = topics - 1, mean / sd
    bias = float(bias_of_dz(np.array(f)))
    ends = [
        noncentralities(np.abs(dz) * np.sqrt(topics), f, tail) / np.sqrt(topics)
        for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    ]
    low, high = np.where(dz < 0, -np.stack(ends[::-1]), np.stack(ends))
    two_way, one_way = (score_variance(matrix, model=model).variance for model in MODELS)
    return EffectSizes(
        run_a=tuple(matrix.runs[number] for number in first),
        run_b=tuple(matrix.runs[number] for number in second),
        difference=mean,
        dz=dz,
        gz=bias * dz,
        low=low,
        high=high,
        es=mean / np.sqrt(two_way),
        es_one_way=mean / np.sqrt(one_way),
        confidence=float(confidence),
    )


def bias_of_dz(f: Floats) -> Floats:
    """Return Hedges' factor of dz with f degrees of freedom; NaN for one, as Gamma(0) is infinite."""
    special = extra("scipy.special")
    with np.errstate(invalid="ignore"):
        bias = np.exp(special.gammaln(f / 2) - special.gammaln((f - 1) / 2)) / np.sqrt(f / 2)
    return np.where(f > 1, bias, np.nan)


def mean_and_sd(values: Floats, first: Any, second: Any) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the differences of pairs; NaN if all are equal."""
    mean, sd = np.empty(len(first)), np.empty(len(first))
    # Squares of the smallest scores would underflow to 0.
    values = values / (scale := float(np.abs(values).max()) or 1.0)
    for start in range(0, len(first), 4096):
        some = slice(start, start + 4096)
        z = values[first[some]] - values[second[some]]
        mean[some] = z.mean(axis=1)
        sd[some] = z.std(axis=1, ddof=1)
        largest = np.maximum(np.abs(values[first[some]]), np.abs(values[second[some]])).max(axis=1)
        sd[some][np.ptp(z, axis=1) <= ROUNDING * largest] = np.nan
    return mean * scale, sd * scale
