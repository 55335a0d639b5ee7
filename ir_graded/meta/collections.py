"""Scores of several collections and releases: combined differences from a baseline, and means over time."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.later import extra
from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import CoverageWarning, GradedError, InputError, format_ids, short_repr

from .differences import check_possible
from .matrix import DECIMALS, FEWEST, ScoreMatrix, directions_of, matrices_by_measure, number_of
from .max_t import Comparisons, Replicates, Tail, count, mean_and_error, studentised, sums_with_signs
from .options import Seed, generator, statistic
from .paired_tests import holm
from .replicates import one_blas_thread
from .sample_size import bias_of_dz
from .topics import ALL_TOPICS, Sample, means_over_topics

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


EFFECTS = ("difference", "gz")
METHODS = ("reml", "dl")
#: The rows after those of the collections.
MEAN, RANDOM = "mean of collections", "random effects"
_TEST, _N_RESAMPLES = "randomisation", 100_000
_FEW = 5
_COLUMNS = (
    *("measure", "run", "collection", "topics", "baseline_mean", "mean", "difference", "gz"),
    *("se", "low", "high", "p", "p_corrected", "weight"),
)


@dataclass(frozen=True)
class RandomEffects:
    """The mean effect of collections like those observed, from effects and their variances.

    Attributes:
        mu: estimated mean effect over collections.
        se: its standard error (Knapp and Hartung).
        tau2: variance between collections.
        i2: share of the variance between collections, from 0 to 1.
        q: Cochran's Q.
        weights: weight of each collection; their sum is 1.
    """

    mu: float
    se: float
    tau2: float
    i2: float
    q: float
    weights: Floats

    @classmethod
    def of(cls, y: Floats, v: Floats, method: str) -> RandomEffects:
        """Return the mean of effects y with variances v."""
        w, f = 1 / v, len(y) - 1
        mu = (w @ y) / w.sum()
        q = float(w @ (y - mu) ** 2)
        of_moments = max(0.0, (q - f) / (w.sum() - (w @ w) / w.sum()))
        tau2 = of_moments if method == "dl" else _reml(y, v)
        typical = f * w.sum() / (w.sum() ** 2 - w @ w)
        w = 1 / (v + tau2)
        mu = float((w @ y) / w.sum())
        se = float(np.sqrt(max(1.0, (w @ (y - mu) ** 2) / f) / w.sum()))
        return cls(mu, se, tau2, float(tau2 / (tau2 + typical)), q, w / w.sum())


def _reml(y: Floats, v: Floats) -> float:
    """Return the variance between collections of restricted maximum likelihood, 0 if its root is below."""

    def excess(tau2: float) -> float:
        w = 1 / (v + tau2)
        mu = (w @ y) / w.sum()
        return float(w**2 @ (y - mu) ** 2 - w.sum() + (w @ w) / w.sum())

    if excess(0.0) <= 0:
        return 0.0
    high = float(np.var(y, ddof=1))
    while excess(high) > 0:
        high *= 2
    return float(extra("scipy.optimize").brentq(excess, 0.0, high, xtol=1e-18, rtol=1e-15))


@dataclass(frozen=True, eq=False, repr=False)
class AcrossCollections(Result):
    """Differences from a baseline on several collections, the result of :func:`across_collections`.

    Attributes:
        table: a row per measure, run and collection, then rows "mean of collections" and "random effects".
        summary: a row per measure and run: tau2 and i2 (how much collections differ), q and q_p (Cochran's
            test that they do not), predict_low and predict_high (an interval for a further collection).
        baseline: name of the run that the others are compared with.
        effect: ``'difference'`` (of means) or ``'gz'`` (standardised).
        method: estimator of tau2, ``'reml'`` or ``'dl'`` (DerSimonian and Laird).
        alpha: significance level; the intervals have the confidence 1 - alpha.
        n_resamples: number of replicates.
    """

    table: pd.DataFrame
    summary: pd.DataFrame
    baseline: Hashable
    effect: str
    method: str
    alpha: float
    n_resamples: int

    def to_frame(self) -> pd.DataFrame:
        """Return the table.

        Columns: measure, run, collection, topics, baseline_mean, mean, difference, gz, se, low, high, p,
        p_corrected, weight (in the random effects). With ``effect='gz'`` se, low and high are those of gz.
        """
        return self.table.copy()

    def plot(self, measure: str | None = None, run: Hashable | None = None, ax: Axes | None = None) -> Figure:
        """Plot the effects of a run by a measure, by default the first, as a forest plot."""
        from ir_graded.plots.scores import forest

        return forest(self, measure, run, ax)


@statistic(effect=EFFECTS, method=METHODS)
def across_collections(  # noqa: PLR0913  # options, all by keyword
    scores: Mapping[str, Any],
    baseline: Hashable,
    *,
    effect: str = "difference",
    method: str = "reml",
    alpha: float = 0.05,
    clusters: Mapping[str, Any] | None = None,
    n_resamples: int | None = None,
    rng: Seed = 0,
) -> AcrossCollections:
    """Compare runs with a baseline on several collections, and combine the differences.

    The rows of collections are tested as by :func:`differences`, with max-t over the runs and collections of
    a measure. Let y be the effects of k collections and v their squared standard errors. *Mean of
    collections* (these collections): ``sum y / k`` with ``se^2 = sum v / k^2`` and Welch's degrees of
    freedom; its p is that of random signs with weight ``1 / n`` for each of the n topics of a collection.
    *Random effects* (collections like these): weights ``w = 1 / (v + tau^2)``, ``mu = sum w y / sum w``,
    ``se^2 = max(1, sum w (y - mu)^2 / (k - 1)) / sum w`` and k - 1 degrees of freedom. The corrected p of
    these rows is for the runs of a measure: max-t and Holm. The interval for a further collection is that of
    ``mu`` with ``tau^2 + se^2`` in place of ``se^2``. With confidence .95, it held the effect there in .88 to
    .98 of the simulations with 3 to 20 collections that differ (``benchmarks/error_rates.py predictions``).

    Args:
        scores: a mapping from names of collections to results of ``ir_graded.evaluate`` (such as that of
            ``ir_graded.evaluate_collections``), or to mappings from measures to score matrices. All have the
            same measures; topics of different collections differ, also with equal names.
        baseline: name of the run that the others are compared with.
        effect: ``'difference'`` of means, or ``'gz'``, the difference in standard deviations over topics with
            Hedges' correction, with the variance ``1/n + gz^2/(2n)``.
        method: estimate of tau^2: ``'reml'`` or ``'dl'`` (DerSimonian and Laird).
        alpha: significance level, between 0 and 1.
        clusters: a mapping from names of collections to the clusters of their topics, as for
            :func:`differences`. v is then that of clusters, and n their effective number.
        n_resamples: number of replicates B, at least 1; None for 100,000.
        rng: a seed or a generator.

    Raises:
        InputError: there are fewer than two collections, a run or measure is missing from one, clusters are
            of another collection or lack a topic, or all differences of a run on a collection are equal, so
            that they have no standard error.
        ParameterError: an option is out of its range, or the baseline is not a run.

    Warns:
        CoverageWarning: there are fewer than five collections, so that tau^2 is hardly known.

    Source:
        DerSimonian and Laird, "Meta-analysis in clinical trials" (Controlled Clinical Trials, 1986); Knapp
        and Hartung, "Improved tests for a random effects meta-regression with a single covariate"
        (Statistics in Medicine, 2003); Westfall and Young, "Resampling-based multiple testing" (1993).

    Example:
        >>> import pandas as pd, warnings
        >>> news = pd.DataFrame({"old": [0.2, 0.3, 0.4] * 4, "new": [0.3, 0.5, 0.4] * 4})
        >>> web = pd.DataFrame({"old": [0.5, 0.1, 0.6] * 4, "new": [0.6, 0.1, 0.7] * 4})
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     found = across_collections({"news": {"Q": news}, "web": {"Q": web}}, "old")
        >>> found.to_frame()[["run", "collection", "difference", "low", "high"]].round(3)
           run           collection  difference    low   high
        0  new                 news       0.100  0.046  0.154
        1  new                  web       0.067  0.035  0.098
        2  new  mean of collections       0.083  0.053  0.113
        3  new       random effects       0.077 -0.120  0.275
    """
    import pandas as pd

    by_collection = _aligned(scores, baseline)
    names = [*by_collection]
    measures = by_collection[names[0]]
    first = next(iter(measures.values()))
    replicates = int(n_resamples or _N_RESAMPLES)
    runs = [run for run in first.runs if run != baseline]
    samples = _samples(by_collection, clusters)
    units = sum(sample.size for sample in samples)
    check_possible(
        _TEST, "max-t", "two-sided", alpha, replicates, {ALL_TOPICS: units}, len(runs) * len(names)
    )
    seed = int(generator(rng).integers(2**62))
    rows, summaries = [], []
    for measure in measures:
        matrices = [of_collection[measure] for of_collection in by_collection.values()]
        base, mean, z = zip(*(_means(matrix, runs, baseline) for matrix in matrices), strict=True)
        p, corrected = _tested(z, samples, replicates, seed)
        for at, run in enumerate(runs):
            effects = _Effects.of([one[at] for one in z], samples, names, run, baseline, measure, effect)
            columns = {
                "baseline_mean": np.array(base),
                "mean": np.array([one[at] for one in mean]),
                "p": p[:, at],
                "p_corrected": corrected[:, at],
            }
            of_run, summary = _rows_of_run(names, effects, columns, method, alpha)
            rows += [{"measure": measure, "run": run, **row} for row in of_run]
            summaries.append({"measure": measure, "run": run, **summary})
    table = pd.DataFrame(rows)[[*_COLUMNS]]
    random = table["collection"] == RANDOM
    for measure in measures:
        of_measure = random & (table["measure"] == measure)
        table.loc[of_measure, "p_corrected"] = holm(table.loc[of_measure, "p"].to_numpy())
    if len(names) < _FEW:
        warnings.warn(
            f"{len(names)} collections are too few to know how much collections differ: intervals of random "
            "effects are wide, and those of a further collection wider",
            CoverageWarning,
            stacklevel=3,
        )
    return AcrossCollections(
        table, pd.DataFrame(summaries), baseline, effect, method, float(alpha), replicates
    )


def _rows_of_run(
    names: Sequence[str], effects: _Effects, columns: Mapping[str, Floats], method: str, alpha: float
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Return the rows of a run by a measure: collections, their mean, random effects; and the summary.

    Args:
        names: the collections.
        effects: those of the run.
        columns: means with a value per collection; p-values, followed by that of the mean of collections.
        method: estimate of tau^2.
        alpha: significance level.
    """
    pooled = RandomEffects.of(effects.y, effects.v, method)
    rows = [
        {
            "collection": name,
            "topics": effects.topics[at],
            **{column: values[at] for column, values in columns.items()},
            **effects.row(at, alpha),
            "weight": weight,
        }
        for at, (name, weight) in enumerate(zip(names, pooled.weights.tolist(), strict=True))
    ]
    of_mean = {
        "collection": MEAN,
        "topics": sum(effects.topics),
        "baseline_mean": columns["baseline_mean"].mean(),
        "mean": columns["mean"].mean(),
        **effects.mean(alpha),
        "p": columns["p"][-1],
        "p_corrected": columns["p_corrected"][-1],
    }
    of_all, summary = effects.random(pooled, alpha)
    return [*rows, of_mean, {"collection": RANDOM, "topics": sum(effects.topics), **of_all}], summary


def _aligned(scores: Any, baseline: Hashable) -> dict[str, dict[str, ScoreMatrix]]:
    """Return the matrices of each collection, with the runs in one order."""
    if not isinstance(scores, Mapping) or len(scores) < FEWEST:
        found = f"{len(scores)} collections" if isinstance(scores, Mapping) else short_repr(scores)
        raise InputError(f"expected a mapping from two or more collections to their scores, found {found}")
    matrices = {str(name): matrices_by_measure(of_collection) for name, of_collection in scores.items()}
    measures = [*next(iter(matrices.values()))]
    runs = list(dict.fromkeys(run for one in matrices.values() for run in next(iter(one.values())).runs))
    for name, one in matrices.items():
        if {*one} != {*measures}:
            differing = min({*one} ^ {*measures})
            raise InputError(f"collection {name!r}: measures differ from those of the first, by {differing}")
        if missing := {*runs} - {*next(iter(one.values())).runs}:
            raise InputError(
                f"collection {name!r}: run {min(missing, key=str)!r} is missing; "
                "all collections need all runs"
            )
    number_of(baseline, runs, "baseline")
    return {
        name: {measure: _of_runs(one[measure], runs) for measure in measures}
        for name, one in matrices.items()
    }


def _of_runs(matrix: ScoreMatrix, runs: list[Hashable]) -> ScoreMatrix:
    places = [matrix.runs.index(run) for run in runs]
    return ScoreMatrix(matrix.values[:, places], matrix.topics, tuple(runs))


def _means(matrix: ScoreMatrix, runs: list[Hashable], baseline: Hashable) -> tuple[float, Floats, Floats]:
    """Return the mean of the baseline, those of the runs and the differences, shape ``(runs, topics)``."""
    base = matrix.values[:, matrix.runs.index(baseline)]
    others = matrix.values[:, [matrix.runs.index(run) for run in runs]].T
    return float(base.mean()), others.mean(axis=1), (others - base).round(DECIMALS)


def _samples(
    by_collection: Mapping[str, Mapping[str, ScoreMatrix]], clusters: Mapping[str, Any] | None
) -> list[Sample]:
    """Return the sample of topics of each collection."""
    if clusters is not None and (not isinstance(clusters, Mapping) or {*clusters} - {*by_collection}):
        raise InputError(
            f"clusters={short_repr(clusters)} must be a mapping from names of collections to clusters of "
            f"their topics; the collections are {format_ids([*by_collection])}"
        )
    samples = []
    for name, matrices in by_collection.items():
        try:
            of_collection = (clusters or {}).get(name)
            samples.append(Sample.of(next(iter(matrices.values())).topics, clusters=of_collection))
        except GradedError as error:
            raise type(error)(f"collection {name!r}: {error}") from None
    return samples


def _tested(
    z: Sequence[Floats], samples: Sequence[Sample], n_resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Return p-values, alone and corrected: a row per collection and one of their mean, a column per run."""
    of_units = [sample.units(one)[1:] for sample, one in zip(samples, z, strict=True)]
    runs, sizes = len(z[0]), np.array([len(weights) for _, weights in of_units])
    together, weights = (np.concatenate(column, axis=-1) for column in zip(*of_units, strict=True))
    members = np.repeat(np.eye(len(z), dtype=np.bool_), sizes, axis=1)
    slices = np.repeat(np.arange(len(z)), runs)
    given = Comparisons(
        np.where(members[slices], np.tile(together, (len(z), 1)), 0.0), slices, members, members * weights
    )
    share = weights * ((1 / (members @ weights)) @ members)
    of_collections = sums_with_signs(given.weights[slices] * given.z)
    of_means = sums_with_signs(together * share)
    tails = [
        Tail(statistics, "two-sided", [np.arange(len(statistics.observed))])
        for statistics in (of_collections, of_means)
    ]
    draws = Replicates.of_signs(given, n_resamples, np.random.default_rng(seed))
    with one_blas_thread():
        count([(of_collections, [tails[0]]), (of_means, [tails[1]])], draws)
    p = np.concatenate([tail.p(draws.exact) for tail in tails])
    corrected = np.concatenate([tail.p_corrected(draws.exact) for tail in tails])
    return p.reshape(-1, runs), corrected.reshape(-1, runs)


@dataclass(frozen=True)
class _Effects:
    """Effects of a run on the collections.

    Attributes:
        topics: numbers of topics.
        difference: mean differences.
        gz: effect sizes.
        y: the effects that are combined, one of the two.
        v: their variances.
        f: their degrees of freedom.
        of_gz: whether gz is combined.
    """

    topics: list[int]
    difference: Floats
    gz: Floats
    y: Floats
    v: Floats
    f: Floats
    of_gz: bool

    @classmethod
    def of(  # the differences and words for messages
        cls,
        z: list[Floats],
        samples: Sequence[Sample],
        names: list[str],
        run: Hashable,
        baseline: Hashable,
        measure: str,
        effect: str,
    ) -> _Effects:
        """Return the effects of one run."""
        topics = [len(of_collection) for of_collection in z]
        of_units = [sample.units(one[np.newaxis])[1:] for sample, one in zip(samples, z, strict=True)]
        difference, se, n = map(np.hstack, zip(*(mean_and_error(*one) for one in of_units), strict=True))
        if not se.all():
            raise InputError(
                f"collection {names[int(np.argmin(se))]!r}: {run!r} differs from {baseline!r} by "
                f"{measure} by the same value on all topics, so the difference has no standard error; leave "
                "the run or the collection out"
            )
        gz = bias_of_dz(n - 1) * difference / (se * np.sqrt(n))
        if effect == "gz":
            return cls(topics, difference, gz, gz, 1 / n + gz**2 / (2 * n), n - 1, True)
        return cls(topics, difference, gz, difference, se**2, n - 1, False)

    def row(self, at: int, alpha: float) -> dict[str, float]:
        """Return the columns of a collection."""
        named = {"difference": self.difference[at], "gz": self.gz[at]}
        return {**named, **_interval(self.y[at], np.sqrt(self.v[at]), self.f[at], alpha)}

    def _named(self, value: float) -> dict[str, float]:
        return {"difference": np.nan, "gz": value} if self.of_gz else {"difference": value, "gz": np.nan}

    def mean(self, alpha: float) -> dict[str, float]:
        """Return the columns of the mean of collections."""
        k = len(self.y)
        welch = self.v.sum() ** 2 / (self.v**2 / self.f).sum()
        value = self.y.mean()
        return {**self._named(value), **_interval(value, np.sqrt(self.v.sum()) / k, welch, alpha)}

    def random(self, pooled: RandomEffects, alpha: float) -> tuple[dict[str, float], dict[str, float]]:
        """Return the columns of the random effects, and those of the summary."""
        special, f = extra("scipy.special"), len(self.y) - 1
        p = 2 * special.stdtr(f, -abs(pooled.mu) / pooled.se)
        next_one = _interval(pooled.mu, np.sqrt(pooled.tau2 + pooled.se**2), f, alpha)
        row = {**self._named(pooled.mu), **_interval(pooled.mu, pooled.se, f, alpha), "p": p, "weight": 1.0}
        return row, {
            "tau2": pooled.tau2,
            "i2": pooled.i2,
            "q": pooled.q,
            "q_p": special.chdtrc(f, pooled.q),
            "predict_low": next_one["low"],
            "predict_high": next_one["high"],
        }


def _interval(value: float, se: float, degrees: float, alpha: float) -> dict[str, float]:
    width = -extra("scipy.special").stdtrit(degrees, alpha / 2) * se
    return {"se": float(se), "low": float(value - width), "high": float(value + width)}


@dataclass(frozen=True, eq=False, repr=False)
class History(Result):
    """Means of runs over releases, the result of :func:`history`.

    The attributes are columns, with a value for each release, slice, measure and run. Changes, intervals and
    p-values are NaN, and ``best`` is empty, if there is no comparable release to compare with.

    Attributes:
        release: name of the release.
        slice: slice of topics; ``"all"`` is all topics.
        measure: printed name of the measure.
        run: name of the run.
        topics: number of topics.
        mean: mean over the topics.
        change: difference from the previous release, without a test.
        change_first: difference from the first release of the part.
        low_first: lower end of Student's interval of this difference alone.
        high_first: upper end of that interval.
        p_first: corrected p-value of this difference.
        best: release before this one with the best mean of the part.
        change_best: difference from that release.
        low_best: lower end of Student's interval of this difference alone.
        high_best: upper end of that interval.
        p_best: corrected p-value of this difference.
        part: number of the part of the history, from 1; only releases of one part are comparable.
        direction: 1 where higher scores are better, else -1.
        alpha: the intervals have the confidence 1 - alpha.
        notes: sentences on what differs between releases.
    """

    release: tuple[str, ...]
    slice: tuple[str, ...]
    measure: tuple[str, ...]
    run: tuple[Hashable, ...]
    topics: Ints
    mean: Floats
    change: Floats
    change_first: Floats
    low_first: Floats
    high_first: Floats
    p_first: Floats
    best: tuple[str, ...]
    change_best: Floats
    low_best: Floats
    high_best: Floats
    p_best: Floats
    part: Ints
    direction: Floats = field(repr=False)
    alpha: float
    notes: tuple[str, ...] = ()

    COLUMNS: ClassVar = (
        *("release", "slice", "measure", "run", "topics", "mean", "change"),
        *("change_first", "low_first", "high_first", "p_first"),
        *("best", "change_best", "low_best", "high_best", "p_best", "part"),
    )

    @property
    def worse(self) -> Bools:
        """Whether a mean is significantly worse than that of the first release or of the best one before."""
        return np.asarray(
            ((self.p_first < self.alpha) & (self.direction * self.change_first < 0))
            | ((self.p_best < self.alpha) & (self.direction * self.change_best < 0))
        )

    def plot(self, measure: Any = None, slice: str = ALL_TOPICS, ax: Axes | None = None) -> Figure:
        """Plot the means by a measure, by default the first, with intervals of the change from the first.

        The interval excludes the mean of the first release where ``low_first`` to ``high_first`` excludes 0.
        Lines end where releases are not comparable. Crosses mark releases that are ``worse``.
        """
        from ir_graded.plots.scores import history as draw

        return draw(self, measure, slice, ax)


@statistic()
def history(
    scores: Mapping[str, Any],
    *,
    alpha: float = 0.05,
    weights: Any = None,
    slices: Any = None,
    clusters: Any = None,
) -> History:
    """Follow means over releases, test each against the first and the best one before, and find breaks.

    Two releases in a row are comparable if they have equal topics, and equal hashes of the qrels and options
    in their signatures. A run is followed by its name; if each release has one run, by its only run.

    Small losses add up, and a test against the previous release misses them. Each release is therefore tested
    against the first one of its part, and against the one with the best mean so far. The p-values are those
    of Student's paired t test, two-sided. Holm's correction is over all pairs of comparable releases,
    all slices and all runs of a measure, because each release may become the best one. So the p-values of a
    release rise when later ones are added.

    Args:
        scores: scores of each release, oldest first: results of ``ir_graded.evaluate``, or mappings from
            measures to score matrices.
        alpha: significance level, between 0 and 1; the intervals have the confidence 1 - alpha.
        weights: weights of the topics of all releases, as in ``differences``.
        slices: slices of the topics, each followed in addition to all topics, as in ``differences``.
        clusters: the cluster of each topic of all releases, as in ``differences``.

    Raises:
        InputError: there are fewer than two releases, a score is not finite, a topic has no weight, a wrong
            one or no cluster, a slice has fewer than two topics, or lower scores of a measure are better in
            only some releases.
        ParameterError: ``alpha`` is out of its range, or all measures are geometric means.

    Warns:
        CoverageWarning: topics, qrels, options, measures or runs differ, or it is not known if qrels do.

    Source:
        Student, "The Probable Error of a Mean" (Biometrika, 1908); Holm, "A simple sequentially rejective
        multiple test procedure" (Scandinavian Journal of Statistics, 1979).

    Example:
        >>> import pandas as pd
        >>> releases = {"v1": [0.5, 0.8, 0.6, 0.7], "v2": [0.6, 0.8, 0.7, 0.7], "v3": [0.4, 0.6, 0.4, 0.5]}
        >>> given = {name: {"Q": pd.DataFrame({"bm25": column})} for name, column in releases.items()}
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", CoverageWarning)  # the qrels are not known
        ...     found = history(given)
        >>> shown = ["release", "mean", "change", "change_first", "p_first", "best", "change_best", "p_best"]
        >>> print(found.to_frame()[shown].round(3).to_string(index=False))
        release  mean  change  change_first  p_first best  change_best  p_best
             v1 0.650     NaN           NaN      NaN               NaN     NaN
             v2 0.700   0.050         0.050    0.182   v1        0.050   0.182
             v3 0.475  -0.225        -0.175    0.012   v2       -0.225   0.009
        >>> found.worse.tolist()
        [False, False, True]
    """
    if not isinstance(scores, Mapping) or len(scores) < FEWEST:
        found = f"{len(scores)} releases" if isinstance(scores, Mapping) else short_repr(scores)
        raise InputError(f"expected a mapping from two or more releases to their scores, found {found}")
    of_topics = {"weights": weights, "slices": slices, "clusters": clusters}
    releases = [_Release.of(str(name), one, of_topics) for name, one in scores.items()]
    alone = all(len(one.runs) == 1 for one in releases)
    notes, parts = [], [1]
    for before, now in pairwise(releases):
        breaks, others = [*now.breaks(before)], [*now.gaps(before, alone)]
        parts.append(parts[-1] + bool(breaks))
        pair = f"{before.name!r} and {now.name!r}"
        notes += [f"{pair} are not comparable: {'; '.join(breaks)}"] if breaks else []
        notes += [f"{pair}: {'; '.join(others)}"] if others else []
    for note in notes:
        warnings.warn(note, CoverageWarning, stacklevel=3)
    direction = _directions(releases)
    rows = _followed(releases, parts, alone, alpha, direction)
    columns: dict[str, Any] = {name: tuple(row[name] for row in rows) for name in History.COLUMNS}
    of_text = ("release", "slice", "measure", "run", "best")
    columns |= {name: np.array(values) for name, values in columns.items() if name not in of_text}
    signs = np.array([direction[measure] for measure in columns["measure"]])
    return History(**columns, direction=signs, alpha=float(alpha), notes=tuple(notes))


def _directions(releases: Sequence[_Release]) -> dict[str, float]:
    """Return the direction of each measure. Raises InputError if it differs between releases."""
    found: dict[str, float] = {}
    for release in releases:
        for measure, direction in release.direction.items():
            if found.setdefault(measure, direction) != direction:
                raise InputError(
                    f"release {release.name!r}: {'lower' if direction < 0 else 'higher'} scores of {measure} "
                    "are better, unlike in an earlier release; give the same lower_is_better to each"
                )
    return found


def _followed(
    releases: Sequence[_Release],
    parts: Sequence[int],
    alone: bool,
    alpha: float,
    direction: Mapping[str, float],
) -> list[dict[str, Any]]:
    """Return the columns of each release, slice, measure and run, in their order.

    Args:
        releases: the releases, oldest first.
        parts: the part of each.
        alone: whether each release has one run, whose name does not matter.
        alpha: significance level.
        direction: that of each measure.
    """
    special = extra("scipy.special")
    rows: list[dict[str, Any]] = []
    # Number and row of each earlier release and its scores, by part, slice, measure and run.
    runs: dict[Any, list[tuple[int, dict[str, Any], Floats]]] = defaultdict(list)
    # p-values of all pairs by measure, and which of them belong where.
    p: dict[str, list[float]] = defaultdict(list)
    places: list[tuple[dict[str, Any], str, int]] = []
    for number, (release, part) in enumerate(zip(releases, parts, strict=True)):
        sample = release.sample
        for name, measure, run, mean, scores in release.columns():
            row: dict[str, Any] = dict.fromkeys(History.COLUMNS, np.nan)
            row |= {"release": release.name, "slice": name, "measure": measure, "run": run, "mean": mean}
            topics = sample.parts[name]
            weights = sample.weights[topics]
            row |= {"topics": topics.size, "part": part, "best": ""}
            if before := runs[part, name, measure, alone or run]:
                z = (scores - np.stack([old for _, _, old in before])).round(DECIMALS)
                # The earliest of equally good ones.
                best = int(np.argmax([direction[measure] * old["mean"] for _, old, _ in before]))
                row["best"] = before[best][1]["release"]
                means, se, effective = mean_and_error(*sample.units(z, name)[1:])
                width = -special.stdtrit(effective - 1, alpha / 2) * se
                changes = means_over_topics(z[:, topics], weights).tolist()
                for which, at in (("first", 0), ("best", best)):
                    ends = {
                        f"low_{which}": changes[at] - width[at],
                        f"high_{which}": changes[at] + width[at],
                    }
                    row |= {f"change_{which}": changes[at]} | ends
                    places.append((row, f"p_{which}", len(p[measure]) + at))
                if before[-1][0] == number - 1:
                    row["change"] = changes[-1]
                p[measure] += (2 * special.stdtr(effective - 1, -np.abs(studentised(means, se)))).tolist()
            before.append((number, row, scores))
            rows.append(row)
    corrected = {measure: holm(np.array(of_pairs)) for measure, of_pairs in p.items()}
    for row, name, place in places:
        row[name] = corrected[row["measure"]][place]
    return rows


@dataclass(frozen=True)
class _Release:
    """Scores of a release, with the topics in the order of their names, and their signature, if any."""

    name: str
    matrices: Mapping[str, ScoreMatrix]
    direction: Mapping[str, float]
    signature: Any
    sample: Sample

    @classmethod
    def of(cls, name: str, scores: Any, of_topics: Mapping[str, Any]) -> _Release:
        try:
            matrices = matrices_by_measure(scores, 1)
            topics = next(iter(matrices.values())).topics
            order = sorted(range(len(topics)), key=lambda at: str(topics[at]))
            topics = tuple(topics[at] for at in order)
            in_order = {
                measure: ScoreMatrix(matrix.values[order], topics, matrix.runs)
                for measure, matrix in matrices.items()
            }
            sample = Sample.of(topics, **of_topics)
            direction = dict(zip(in_order, directions_of(scores, in_order).tolist(), strict=True))
            return cls(name, in_order, direction, getattr(scores, "signature", None), sample)
        except GradedError as error:
            raise type(error)(f"release {name!r}: {error}") from None

    @property
    def runs(self) -> tuple[Hashable, ...]:
        return next(iter(self.matrices.values())).runs

    @property
    def topics(self) -> list[str]:
        return [*map(str, next(iter(self.matrices.values())).topics)]

    def columns(self) -> Iterator[tuple[str, str, Hashable, float, Floats]]:
        """Yield slice, measure, run, mean on the slice, and scores of all topics that have a weight."""
        for name, topics in self.sample.parts.items():
            for measure, matrix in self.matrices.items():
                values = matrix.values[self.sample.kept].T
                means = means_over_topics(values[:, topics], self.sample.weights[topics])
                for run, mean, scores in zip(
                    matrix.runs, means.round(DECIMALS).tolist(), values, strict=True
                ):
                    yield name, measure, run, mean, scores

    def breaks(self, before: _Release) -> Iterator[str]:
        """Yield what makes means of two releases incomparable."""
        if {*self.topics} != {*before.topics}:
            yield _only("topics", before.topics, self.topics)
        mine, theirs = self.signature, before.signature
        if mine and theirs and mine.qrels and theirs.qrels and mine.qrels != theirs.qrels:
            yield f"the qrels differ, by their hashes {theirs.qrels} and {mine.qrels}"
        if mine and theirs and mine.options and theirs.options:
            for option in sorted({*mine.options} | {*theirs.options}):
                old, new = theirs.options.get(option), mine.options.get(option)
                if old != new:
                    yield f"the option {option} is {old} and {new}"

    def gaps(self, before: _Release, alone: bool) -> Iterator[str]:
        """Yield what else differs, or is not known."""
        if {*self.matrices} != {*before.matrices}:
            yield _only("measures", [*before.matrices], [*self.matrices])
        if not alone and {*self.runs} != {*before.runs}:
            yield _only("runs", [*before.runs], [*self.runs])
        unknown = [repr(one.name) for one in (before, self) if not getattr(one.signature, "qrels", None)]
        if unknown:
            lack = f"{' and '.join(unknown)} {'has' if len(unknown) == 1 else 'have'}"
            yield f"it is not known if the qrels differ, because {lack} no hash of them"
        versions: list[Any] = [getattr(one.signature, "versions", None) for one in (before, self)]
        if all(versions) and versions[0] != versions[1]:
            numbers = [", ".join(f"{name} {number}" for name, number in one.items()) for one in versions]
            yield f"they were computed by {' and by '.join(numbers)}"


def _only(kind: str, before: list[Any], now: list[Any]) -> str:
    """Return which names only one of two releases has."""
    parts = [
        f"{len(names)} only in the {which} ({format_ids(names)})"
        for which, own, others in (("first", before, now), ("second", now, before))
        if (names := [name for name in own if name not in {*others}])
    ]
    return f"the {kind} differ: {', '.join(parts)}"
