"""Differences of runs: tests, corrections, intervals and verdicts, the one source of all conclusions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ir_graded._utils.later import extra
from ir_graded._utils.results import Result
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import MOST_IDS, CoverageWarning, ParameterError, short_repr

from .intervals import AT_LEAST, BELOW_MINIMUM, NO_MINIMUM, is_below, minima_of
from .matrix import DECIMALS, all_matrices, arithmetic, check_direction, directions_of, pairs_of, ranges_of
from .max_t import (
    FEWEST_DIFFERENT,
    Comparisons,
    Statistics,
    Tail,
    count,
    enumerates,
    mean_and_error,
    studentised,
    trimmed,
)
from .options import Seed, generator, statistic
from .paired_tests import CORRECTIONS, TESTS_OF_DIFFERENCES as TESTS
from .replicates import TOLERANCE, TooFewTopicsWarning, one_blas_thread
from .sample_size import detectable_deviations, noncentralities
from .topics import ALL_TOPICS, Sample, means_over_topics

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure

#: Replicates of a test of all pairs of runs.
_OF_ALL_PAIRS = 10_000
_FAMILIES = ("measure", "all")
ALTERNATIVES = ("two-sided", "greater", "less")
_OF_TESTS = ("worse", "better", "equivalent", "not worse", "inconclusive")
#: Verdicts that fail a gate, most severe first.
FAILING = (BELOW_MINIMUM[0], "worse", BELOW_MINIMUM[1])
VERDICTS = (*FAILING, *_OF_TESTS[1:], AT_LEAST, NO_MINIMUM)
#: Verdicts that show that a run does not lose more than the tolerance.
PASSING = _OF_TESTS[1:4]
#: With fewer effective topics or clusters there is no verdict of a test.
_FEWEST_EFFECTIVE = 3


def p_text(p: float) -> str:
    """Return a p-value as tables show it, with three decimals."""
    return "<.001" if p < 0.001 else f"{p:.3f}"  # noqa: PLR2004


def names_of_side(alternative: str) -> dict[str, str]:
    """Return names for the p-values of a one-sided test beside its verdicts, which are of both sides."""
    side = {"less": "loss", "greater": "gain"}.get(alternative)
    if side is None:
        return {}
    return {"p": f"p_{side}", "p_corrected": f"p_{side}_corrected", "significant": f"significant_{side}"}


class NothingToLoseWarning(CoverageWarning):
    """Warning that no run can be worse, because the baseline scores no more than the tolerance."""


@dataclass(frozen=True, eq=False, repr=False)
class Differences(Result):
    """Differences of runs with tests, intervals and verdicts, the result of :func:`differences`.

    The attributes are columns, with a value for each slice, measure and pair of runs.

    Attributes:
        slice: slice of topics; ``"all"`` is all topics.
        topics: number of topics.
        judged: mean share of judged documents down to the cutoff of the measure, else 10; NaN if only scores
            are given.
        baseline_judged: that share for the baseline.
        effective_topics: number of equally weighted topics, or clusters of them, with the same standard error
            (Kish).
        measure: printed name of the measure.
        run: the run; of all pairs, the one with the better mean.
        baseline: the run that it is compared with.
        mean: mean score of the run over the topics of the slice, weighted if there are weights.
        baseline_mean: mean score of the baseline over the same topics.
        difference: mean of "run - baseline".
        se: standard error of the difference.
        p: p-values of the alternative, of single tests. Where verdicts are printed beside them, those of a
            one-sided test are named ``p_loss`` or ``p_gain``.
        p_corrected: p-values corrected for the family.
        verdict: ``worse``, ``better``, ``equivalent``, ``not worse`` or ``inconclusive``; with a minimum also
            ``below minimum`` or ``worse and below minimum``.
        wins: number of topics on which the run is better.
        ties: number without a difference.
        losses: number of topics on which the baseline is better.
        tests: number of tests in the family.
        alternative: ``'two-sided'``, ``'greater'`` or ``'less'``.
        test: name of the test, as in the option of that name.
        correction: name of the correction for several tests, as in the option of that name.
        family: tests that are corrected together, ``'measure'`` or ``'all'``.
        alpha: significance level. All intervals have the confidence 1 - alpha; with a one-sided alternative
            1 - 2 alpha, so that each end alone has 1 - alpha.
        tolerance: largest loss that does not matter.
        n_resamples: number of replicates; 0 if none are drawn.
        exact: whether the p-values count all sign patterns instead of random ones.
        untestable: slices with too few topics for any corrected p-value below alpha.
        minimum: lowest mean that passes; NaN without one, and on slices.
        unseen: largest loss if failures were too rare to be among the topics, where fewer than 8 topics (or
            clusters) differ; NaN elsewhere, where the range of the measure is not known, and where
            ``compare_runs`` finds equal rankings.
        direction: 1 where higher scores are better, else -1.
        notes: sentences on what limits the comparison.
        on_verdicts: those among them that limit what a verdict says.
    """

    slice: tuple[str, ...]
    topics: Ints
    judged: Floats
    baseline_judged: Floats
    effective_topics: Floats = field(repr=False)
    measure: tuple[str, ...]
    run: tuple[Hashable, ...]
    baseline: tuple[Hashable, ...]
    mean: Floats
    baseline_mean: Floats
    difference: Floats
    se: Floats
    p: Floats
    p_corrected: Floats
    verdict: tuple[str, ...]
    wins: Ints
    ties: Ints
    losses: Ints
    tests: Ints
    alternative: str
    test: str
    correction: str
    family: str
    alpha: float
    tolerance: float
    n_resamples: int
    exact: bool
    untestable: tuple[str, ...]
    minimum: Floats
    unseen: Floats
    direction: Floats = field(repr=False)
    notes: tuple[str, ...] = ()
    on_verdicts: tuple[str, ...] = field(default=(), repr=False)

    COLUMNS: ClassVar = (
        *("slice", "topics", "judged", "baseline_judged", "effective_topics", "measure", "run", "baseline"),
        *("mean", "baseline_mean", "difference", "low", "high", "low_all", "high_all"),
        *("p", "p_corrected", "significant", "verdict", "dz", "dz_low", "dz_high", "wins", "ties", "losses"),
        *("minimum_detectable", "minimum", "unseen"),
    )
    _SHOWN: ClassVar = (
        "measure",
        "run",
        "baseline",
        "mean",
        "difference",
        "low",
        "high",
        "p_corrected",
        "verdict",
    )

    @property
    def significant(self) -> Bools:
        """Whether the corrected p-value is below alpha."""
        return np.asarray(self.p_corrected < self.alpha)

    @property
    def passed(self) -> bool:
        """Whether no run is worse by any measure on any slice, and no mean is below a minimum."""
        return not {*self.verdict} & {*FAILING}

    @property
    def gain(self) -> Floats:
        """Differences in the direction in which a run is better: negative where it is worse."""
        return self.direction * self.difference

    @property
    def unseen_exceeds(self) -> Bools:
        """Whether a run passes although failures that no topic shows could exceed the tolerance, if any."""
        passing = np.isin(self.verdict, PASSING)
        return np.asarray(passing & (self.tolerance > 0) & (self.unseen > self.tolerance))

    @cached_property
    def low(self) -> Floats:
        """Lower ends of Student's intervals of the single differences."""
        return self.difference - self._half_width(1)

    @cached_property
    def high(self) -> Floats:
        """Upper ends of Student's intervals of the single differences."""
        return self.difference + self._half_width(1)

    @cached_property
    def low_all(self) -> Floats:
        """Lower ends of intervals that hold together for all differences of the family (Bonferroni)."""
        return self.difference - self._half_width(self.tests)

    @cached_property
    def high_all(self) -> Floats:
        """Upper ends of intervals that hold together for all differences of the family."""
        return self.difference + self._half_width(self.tests)

    def _half_width(self, tests: int | Ints) -> Floats:
        stdtrit = extra("scipy.special").stdtrit
        return np.asarray(-stdtrit(self.effective_topics - 1, self._tail / tests) * self.se)

    @property
    def _tail(self) -> float:
        """Share of the distribution beyond each end of an interval."""
        return self.alpha / 2 if self.alternative == "two-sided" else self.alpha

    @property
    def _sd(self) -> Floats:
        """Standard deviation of the differences over the topics; NaN if all are equal."""
        return np.where(self.se == 0, np.nan, self.se) * np.sqrt(self.effective_topics)

    @property
    def dz(self) -> Floats:
        """Effect size of each difference: mean / standard deviation; NaN if all differences are equal."""
        return self.difference / self._sd

    @cached_property
    def _dz_ends(self) -> Floats:
        root, ends = np.sqrt(self.effective_topics), np.empty((2, len(self.dz)))
        for effective in np.unique(self.effective_topics):
            at = self.effective_topics == effective
            t = np.abs(self.dz[at]) * root[at]
            for end, tail in zip(ends, (self._tail, 1 - self._tail), strict=True):
                end[at] = noncentralities(t, effective - 1, tail) / root[at]
        return np.where(self.dz < 0, -ends[::-1], ends)

    @property
    def dz_low(self) -> Floats:
        """Lower ends of intervals of dz, from the noncentral t distribution, as confident as ``low``."""
        return np.asarray(self._dz_ends[0])

    @property
    def dz_high(self) -> Floats:
        """Upper ends of the intervals of dz."""
        return np.asarray(self._dz_ends[1])

    @property
    def minimum_detectable(self) -> Floats:
        """Smallest difference that is significant with probability .8, and beyond the tolerance.

        It is that of a paired t test at alpha, divided by the number of tests if there is a correction. The
        standard deviation of the pair is taken as known. NaN if all differences are equal, or if fewer than
        two topics are effective.
        """
        tests = np.ones_like(self.tests) if self.correction == "none" else self.tests
        alternative = "two-sided" if self.alternative == "two-sided" else "greater"
        whole = np.maximum(2, np.floor(self.effective_topics + 1e-9)).astype(np.int64)
        cases, case = np.unique(np.stack([whole, tests]), axis=1, return_inverse=True)
        deviations = [
            detectable_deviations(topics, self.alpha / number, alternative)
            for topics, number in cases.T.tolist()
        ]
        beyond = float(extra("scipy.special").ndtri(0.8)) * np.nan_to_num(self.se)
        found = np.maximum(np.array(deviations)[case.reshape(-1)] * self._sd, self.tolerance + beyond)
        # One topic with nearly all the weight shows no deviation.
        return np.where(self.effective_topics < 2, np.nan, found)  # noqa: PLR2004

    def plot(self, measure: Any = None, slice: str = ALL_TOPICS, ax: Axes | None = None) -> Figure:
        """Plot the differences by a measure, by default the first, with intervals and verdicts.

        Lines mark 0 and, dashed, the tolerance. Of more than 50 differences the largest are drawn.
        """
        from ir_graded.plots.scores import verdicts

        return verdicts(self, measure, slice, ax)

    def _printed(self) -> pd.DataFrame:
        several = [*dict.fromkeys(self.slice)] != [ALL_TOPICS]
        frame = self.to_frame()[[*(["slice"] if several else []), *self._SHOWN]]
        frame = frame.assign(p_corrected=frame["p_corrected"].map(p_text))
        return frame.rename(columns=names_of_side(self.alternative))


@statistic(alternative=ALTERNATIVES, test=TESTS, correction=CORRECTIONS, family=_FAMILIES)
def differences(  # noqa: PLR0913  # options, all by keyword
    scores: Any,
    baseline: Hashable | None = None,
    *,
    alternative: str = "two-sided",
    test: str = "randomisation",
    correction: str | None = None,
    family: str = "measure",
    alpha: float = 0.05,
    tolerance: float = 0.0,
    weights: Any = None,
    slices: Any = None,
    clusters: Any = None,
    minimum: Mapping[Any, float] | None = None,
    n_resamples: int | None = None,
    rng: Seed = 0,
) -> Differences:
    """Test differences of runs from a baseline, or of all pairs of runs, and draw conclusions.

    With z the differences of a pair per topic, rounded to 12 decimals, and w the weights of the topics:
    ``T = sum w z / sqrt(sum w^2 z^2)``. A replicate flips the signs of z at random, the same for all pairs,
    measures and slices: ``p = (#{|T*| >= |T|} + 1) / (B + 1)``. If no more than B sign patterns differ
    (``2^(n-1)`` for n topics), each is used once, and p is exact. Step-down max-t compares each T, in
    descending order, with the largest T* of a replicate among the pairs that are left.

    The bootstrap draws topics of ``z - mean`` with replacement and compares ``t = mean / se``. A pair that
    rests on few topics would decide for all pairs of its family, so max-t leaves it out: it keeps its p, and
    its corrected p is 1. These are pairs where fewer than 8 topics differ, or where more than 5% of the
    ``|t*|`` exceed 1.25 times the 97.5% quantile of Student's t with the degrees of freedom below.

    The difference has Student's interval with ``se^2 = sum h^2 (z - mean)^2 / (1 - h)``, ``h = w / sum w``,
    and ``1 / sum h^2 - 1`` degrees of freedom. The verdict is the first that holds: *worse* (the loss is
    larger than the tolerance, and the corrected p of a loss is below alpha), *better* (the corrected p of a
    gain is), *equivalent* (two one-sided tests at alpha show that the mean is within the tolerance), *not
    worse* (one shows that the loss is not larger), *inconclusive*. A mean below its minimum on all topics is
    *below minimum*, or *worse and below minimum*, without any test.

    Where fewer than 8 topics differ, *equivalent* and *not worse* rest on topics that say nothing about rare
    failures. Of n effective topics, none fails with probability alpha if a share ``q = 1 - alpha^(1 / n)`` of
    all fails; ``unseen = q (mean of the baseline - lowest score) + max(0, loss)``. The verdict stays, and a
    note says where ``unseen`` exceeds the tolerance. With fewer than 3 effective topics, the verdict is
    *inconclusive*.

    With ``clusters``, z and w above are of clusters instead of topics: the weighted mean of the differences
    of the topics of a cluster, and the sum of their weights.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices, topics x runs.
            Lower scores are better where ``Scores`` say so, else higher ones.
        baseline: name of the run that the others are compared with; None for all pairs of runs.
        alternative: ``'two-sided'``, ``'greater'`` (runs are better) or ``'less'``.
        test: {test}.
        correction: {correction}. None for the default of the test: Holm for t, max-t for the others.
        family: tests that are corrected together: ``'measure'`` (those of a measure) or ``'all'``.
        alpha: significance level, between 0 and 1.
        tolerance: largest difference of means that does not matter, in units of the measure; >= 0.
        weights: weights of the topics, such as their traffic: a mapping or Series by topic, a DataFrame, or a
            file of lines ``topic weight``. Frames, and CSV or TSV files with a header, may have further
            columns beside ``weight``; their topics are in ``query_id`` or ``qid``. Queries drawn in
            proportion to traffic must not be weighted again.
        slices: slices of topics, each tested in addition to all topics: in the forms of ``weights``, or a
            file of lines ``topic slice``; each column of a frame gives slices named ``column=value``.
        clusters: the cluster of each topic, where topics belong together and are not independent, such as
            variants of a query or queries of a session: in the forms of ``weights``, with ``cluster``. All
            topics of a cluster get the same sign, or are drawn together, also where a slice cuts it.
        minimum: mapping from measures to the lowest means that pass, on all topics.
        n_resamples: number of replicates B, at least 1; None for 100,000 sign flips, 10,000 for all pairs
            and for the bootstrap.
        rng: a seed or a generator.

    Raises:
        InputError: there are fewer than two topics in total or in a slice, or fewer than two runs; a score is
            not finite; a topic has no weight, a wrong one or no cluster; or all are in one cluster.
        ParameterError: an option is out of its range, the baseline is not a run, options do not go together,
            a minimum is not of one of the measures, B is too small for any corrected p-value below alpha, or
            no run can lose more than the tolerance.

    Warns:
        CoverageWarning: there are too few topics for any p-value below alpha, the weights are worth fewer
            than 10 topics, or the baseline scores 0.

    Source:
        Smucker, Allan and Carterette (CIKM 2007); Westfall and Young, "Resampling-based multiple testing"
        (1993); Boytsov, Belova and Westfall (SIGIR 2013); Holm (1979); Benjamini and Hochberg (1995); Pratt
        (1959); Schuirmann (1987) for equivalence.

    Example:
        >>> import pandas as pd
        >>> runs = {"old": [0.2, 0.3, 0.4] * 3, "slip": [0.1] * 9, "same": [0.2, 0.3, 0.4] * 3}
        >>> found = differences({"Q": pd.DataFrame(runs)}, "old", tolerance=0.01)
        >>> found.to_frame()[["run", "difference", "p", "p_corrected", "verdict"]].round(3)
            run  difference      p  p_corrected     verdict
        0  slip        -0.2  0.004        0.004       worse
        1  same         0.0  1.000        1.000  equivalent
    """
    matrices, notes = arithmetic(all_matrices(scores))
    direction = directions_of(scores, matrices)
    first = next(iter(matrices.values()))
    correction = correction or TESTS[test].correction
    _check_fit(test, correction, weights, clusters)
    sample = Sample.of(first.topics, weights, slices, clusters)
    sample.warn()
    parts, of_topic = sample.parts, sample.weights
    # Higher values are better from here on.
    values = direction[:, np.newaxis, np.newaxis] * np.stack([one.values.T for one in matrices.values()])
    values = values[:, :, sample.kept]
    means = np.stack([means_over_topics(values[:, :, part], of_topic[part]) for part in parts.values()])
    pairs = _pairs(means, first.runs, baseline)
    shape = pairs.shape[1:]
    part, measure, _ = (at.reshape(-1) for at in np.indices(shape))
    run, against = pairs.reshape(2, -1)
    z = (values[measure, run] - values[measure, against]).round(DECIMALS)
    given = Comparisons.of(z, part, sample)
    family_of = measure if family == "measure" else np.zeros_like(measure)
    families = [np.flatnonzero(family_of == number) for number in range(family_of.max() + 1)]
    default = min(TESTS[test].n_resamples, np.inf if baseline is not None else _OF_ALL_PAIRS)
    replicates = int(n_resamples or default)
    sizes = dict(zip(parts, np.count_nonzero(given.members, axis=1).tolist(), strict=True))
    untestable = check_possible(
        test, correction, alternative, alpha, replicates, sizes, len(families[0]), f"{sample.unit}s"
    )
    if minimum is not None and baseline is None:
        raise ParameterError("minimum needs a baseline; without one, use meta.minima")
    floor = np.where(part == 0, minima_of(scores, (*matrices,), minimum)[measure], np.nan)
    check_direction(scores, {*map(str, minimum or {})} & {*matrices})
    nothing = np.zeros(len(run), dtype=np.bool_)
    if baseline is not None:
        base = means[:, :, against[0]]
        nothing = _without_gain(values, base, (*matrices,), baseline, parts, float(tolerance))[part, measure]
    with one_blas_thread():
        answers = _Answers.of(
            given,
            alternative=alternative,
            families=families,
            test=test,
            correction=correction,
            tolerance=tolerance,
            n_resamples=replicates,
            rng=generator(rng),
        )
    difference, se, effective = _student(given)
    verdict = answers.verdicts(alternative, difference, np.all(given.z == 0, axis=1), alpha, tolerance)
    verdict = np.where(nothing | (effective < _FEWEST_EFFECTIVE - TOLERANCE), "inconclusive", verdict)
    sign, baseline_mean = direction[measure], means[part, measure, against]
    lowest = (direction[:, np.newaxis] * ranges_of(scores, matrices)).min(axis=1)[measure]
    few = (np.count_nonzero(given.z, axis=1) < FEWEST_DIFFERENT) & np.isfinite(lowest)
    hidden = (1 - alpha ** (1 / effective)) * (baseline_mean - np.where(few, lowest, 0.0))
    below = is_below(means[part, measure, run], floor)
    verdict = np.select([below & (verdict == "worse"), below], BELOW_MINIMUM, verdict)
    inside = np.stack([np.isin(np.arange(of_topic.size), at) for at in parts.values()])[part]

    def named(at: int) -> str:
        of_measure = f" by {[*matrices][measure[at]]}" if len(matrices) > 1 else ""
        of_slice = f" on {[*parts][part[at]]!r}" if part[at] else ""
        return pair_text(first.runs[run[at]], first.runs[against[at]]) + of_measure + of_slice

    found = Differences(
        slice=_named(parts, part),
        topics=np.count_nonzero(inside, axis=1),
        judged=np.full(len(run), np.nan),
        baseline_judged=np.full(len(run), np.nan),
        effective_topics=effective,
        measure=_named(matrices, measure),
        run=_named(first.runs, run),
        baseline=_named(first.runs, against),
        mean=sign * means[part, measure, run],
        baseline_mean=sign * baseline_mean,
        difference=sign * difference,
        se=se,
        p=answers.p,
        p_corrected=answers.p_corrected,
        verdict=tuple(verdict.tolist()),
        wins=np.count_nonzero((z > 0) & inside, axis=1),
        ties=np.count_nonzero((z == 0) & inside, axis=1),
        losses=np.count_nonzero((z < 0) & inside, axis=1),
        tests=np.array([len(families[number]) for number in family_of]),
        alternative=alternative,
        test=test,
        correction=correction,
        family=family,
        alpha=float(alpha),
        tolerance=float(tolerance),
        n_resamples=replicates,
        exact=TESTS[test].signs and enumerates(sample.size, replicates),
        untestable=untestable,
        minimum=floor,
        unseen=np.where(few, hidden + np.maximum(0.0, -difference), np.nan),
        direction=sign,
        notes=notes + sample.notes + note_on_trimmed(answers.trimmed, named),
    )
    more = (*_note_on_bounds(found, answers.above, named), *_note_on_unseen(found))
    return replace(found, notes=found.notes + more, on_verdicts=more)


def with_equal_rankings(found: Differences, equal: Bools) -> Differences:
    """Return a comparison without unseen failures where rankings are equal."""
    was = _note_on_unseen(found)
    found = replace(found, unseen=np.where(equal, np.nan, found.unseen))
    kept, of_verdicts = (
        tuple(note for note in notes if note not in was) + _note_on_unseen(found)
        for notes in (found.notes, found.on_verdicts)
    )
    return replace(found, notes=kept, on_verdicts=of_verdicts)


def _note_on_unseen(found: Differences) -> tuple[str, ...]:
    """Return a sentence on the largest unseen loss of a run that passes, if it exceeds the tolerance."""
    exceeds = found.unseen_exceeds
    if not exceeds.any():
        return ()
    at = int(np.argmax(np.where(exceeds, found.unseen, -np.inf)))
    share = 1 - found.alpha ** (1 / found.effective_topics[at])
    left = found.tolerance - max(0.0, -found.gain[at])
    of_share = left * share / (found.unseen[at] - found.tolerance + left) if left > 0 else 0.0
    enough = math.ceil(math.log(found.alpha) / math.log1p(-of_share)) if of_share > 0 else 0
    where = "" if found.slice[at] == ALL_TOPICS else f" on {found.slice[at]!r}"
    kind = "" if found.effective_topics[at] == found.topics[at] else "effective "
    remedy = f"; {enough:,} {kind}topics would show the tolerance" if enough else ""
    return (
        f"In {np.count_nonzero(exceeds):,} of {exceeds.size:,} comparisons fewer than {FEWEST_DIFFERENT} "
        f"topics differ, so rare failures may be unseen: up to {share:.1%} of the queries could fail by "
        f"{found.measure[at]}{where} with {short_repr(found.run[at])}, a loss of "
        f"{found.unseen[at]:.4g}{remedy}.",
    )


def _note_on_bounds(found: Differences, above: Floats, named: Callable[[int], str]) -> tuple[str, ...]:
    """Return a sentence where a run is shown not to lose more than the tolerance, and its interval does."""
    shown = np.isin(found.verdict, ("equivalent", "not worse")) & (above < found.alpha)
    ends = np.where(found.direction > 0, found.low, found.high)
    worst = found.direction * ends
    places = np.flatnonzero(shown & ((worst + found.tolerance).round(DECIMALS) < 0)).tolist()
    if not places:
        return ()
    at = places[0]
    more = f" (and {len(places) - 1:,} more)" if len(places) > 1 else ""
    return (
        f"{named(at)}{more}: the {TESTS[found.test].name} test excludes a loss of more than "
        f"{found.tolerance:g} (p = {above[at]:.3g}), although Student's interval ends at "
        f"{ends[at]:.4g}.",
    )


@dataclass(frozen=True)
class _Answers:
    """p-values of comparisons: of the alternative, of losses and gains, and of the bounds of the tolerance.

    Attributes:
        p: p-value of the alternative, of each comparison alone.
        p_corrected: p-value of the alternative, corrected for the family.
        loss: corrected p of a loss; of a two-sided test those of the alternative.
        gain: corrected p of a gain.
        above: p of "the mean is above -tolerance", alone.
        below: p of "the mean is below the tolerance", alone.
        trimmed: comparisons that max-t leaves out.
    """

    p: Floats
    p_corrected: Floats
    loss: Floats
    gain: Floats
    above: Floats
    below: Floats
    trimmed: Bools

    @classmethod
    def of(  # noqa: PLR0913  # the question and how to answer it
        cls,
        given: Comparisons,
        *,
        alternative: str,
        families: Sequence[Ints],
        test: str,
        correction: str,
        tolerance: float,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> _Answers:
        sides = ("less", "greater") if alternative != "two-sided" else ("two-sided",)
        asked = [(given, side, families if correction == "max-t" else ()) for side in sides]
        raised = given.shifted(tolerance) if tolerance else given
        asked += [(raised, "greater", ()), (given.shifted(-tolerance) if tolerance else given, "less", ())]
        found, left_out = _p_values(asked, test, n_resamples, rng)
        corrected = {}
        for (_, side, _), (p, p_max_t) in zip(asked[: len(sides)], found, strict=False):
            corrected[side] = p_max_t if correction == "max-t" else _by_family(correction, p, families)
        single = dict(zip(sides, (p for p, _ in found), strict=False))
        own = alternative if alternative in corrected else "two-sided"
        return cls(
            p=single[own],
            p_corrected=corrected[own],
            loss=corrected.get("less", corrected[own]),
            gain=corrected.get("greater", corrected[own]),
            above=found[-2][0],
            below=found[-1][0],
            trimmed=left_out,
        )

    def verdicts(
        self, alternative: str, difference: Floats, equal: Bools, alpha: float, tolerance: float
    ) -> npt.NDArray[np.str_]:
        """Return the verdict on each difference; ``equal`` comparisons have no differences at all."""
        less, greater = self.loss < alpha, self.gain < alpha
        if alternative == "two-sided":
            less, greater = less & (difference < 0), greater & (difference > 0)
        beyond = (difference + tolerance).round(DECIMALS) < 0
        within = (self.above < alpha) & (self.below < alpha) | equal
        conditions = [less & beyond, greater, within, self.above < alpha]
        return np.select(conditions, [*_OF_TESTS[:-1]], _OF_TESTS[-1])


def pair_text(one: Hashable, other: Hashable) -> str:
    """Return the names of two runs for a sentence."""
    return f"{short_repr(one)} and {short_repr(other)}"


def note_on_trimmed(trimmed: Bools, named: Callable[[int], str]) -> tuple[str, ...]:
    """Return a sentence on the pairs that max-t leaves out, if any, with some of their names."""
    places = np.flatnonzero(trimmed).tolist()
    if not places:
        return ()
    more = f" and {len(places) - MOST_IDS:,} more" if len(places) > MOST_IDS else ""
    return (
        f"The bootstrap leaves {len(places):,} of {trimmed.size:,} pairs undecided (p_corrected = 1), "
        f"because their differences depend on few topics: {', '.join(map(named, places[:MOST_IDS]))}{more}.",
    )


def _named(names: Iterable[Any], at: Ints) -> tuple[Any, ...]:
    """Return the names at some positions."""
    names = [*names]
    return tuple(names[number] for number in at)


def _p_values(
    asked: Sequence[tuple[Comparisons, str, Sequence[Ints]]],
    test: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[list[tuple[Floats, Floats]], Bools]:
    """Return single p-values and those corrected by max-t of each question, all from the same replicates.

    Return also the comparisons of the first question that max-t leaves out, here in all questions.
    """
    declared, (asked_first, _, all_families) = TESTS[test], asked[0]
    if declared.statistics is None:
        p_values = [student_p(given, side) for given, side, _ in asked]
        return [(p, p) for p in p_values], np.zeros(len(asked_first.z), dtype=np.bool_)
    replicates = declared.replicates(asked_first, n_resamples, rng)
    problems: dict[int, tuple[Statistics, list[Tail]]] = {
        key: (declared.statistics(given), [])
        for key, given in {id(given): given for given, _, _ in asked}.items()
    }
    left_out = trimmed(problems[id(asked_first)][0], all_families, replicates)
    tails = []
    for given, side, families in asked:
        statistics, of_problem = problems[id(given)]
        of_problem.append(Tail(statistics, side, [family[~left_out[family]] for family in families]))
        tails.append(of_problem[-1])
    count([*problems.values()], replicates)
    found = [(tail.p(replicates.exact), tail.p_corrected(replicates.exact)) for tail in tails]
    return found, left_out


def _student(given: Comparisons) -> tuple[Floats, Floats, Floats]:
    """Return means, standard errors and effective numbers of topics."""
    mean, error, effective = (np.empty(len(given.z)) for _ in range(3))
    for at in range(len(given.members)):
        z, weights = given.of_slice(at)
        _, error[given.slice == at], effective[given.slice == at] = mean_and_error(z, weights)
        mean[given.slice == at] = means_over_topics(z, weights)
    return mean, error, effective


def student_p(given: Comparisons, side: str) -> Floats:
    """Return p-values of Student's paired t tests."""
    mean, error, effective = _student(given)
    t = studentised(mean, error)
    stdtr = extra("scipy.special").stdtr
    if side == "two-sided":
        p = 2 * stdtr(effective - 1, -np.abs(t))
    else:
        p = stdtr(effective - 1, t if side == "less" else -t)
    # Without any difference the p-value is 1.
    return np.where(given.z.any(axis=1), p, 1.0)


def _by_family(correction: str, p: Floats, families: Sequence[Ints]) -> Floats:
    corrected, correct = np.empty_like(p), CORRECTIONS[correction].of
    # Max-t corrects while it counts.
    assert correct is not None  # noqa: S101  # for the type checker
    for family in families:
        corrected[family] = correct(p[family])
    return corrected


def _pairs(means: Floats, runs: tuple[Hashable, ...], baseline: Hashable | None) -> Ints:
    """Return numbers of runs and of their baselines, each of shape ``(slices, measures, pairs)``."""
    first, second = (np.broadcast_to(one, (*means.shape[:2], one.size)) for one in pairs_of(runs, baseline))
    if baseline is not None:
        return np.stack([first, second])
    # The order in the slice of all topics, so that a pair is the same on each slice.
    of_all = np.broadcast_to(means[:1], means.shape).round(DECIMALS)
    swapped = np.take_along_axis(of_all, second, 2) > np.take_along_axis(of_all, first, 2)
    return np.where(swapped, np.stack([second, first]), np.stack([first, second]))


def _check_fit(test: str, correction: str, weights: Any, clusters: Any) -> None:
    """Raise ParameterError for options that do not go together."""
    if correction == "max-t" and TESTS[test].statistics is None:
        raise ParameterError(f"correction='max-t' needs replicates, and {test=} has none; use 'holm'")
    for option, given in (("weights", weights), ("clusters", clusters)):
        if given is not None and test == "wilcoxon":
            raise ParameterError(
                f"test='wilcoxon' has no {option}: it compares ranks; use 'randomisation' or 't'"
            )


def check_possible(  # noqa: PLR0913, PLR0917  # the test and words for messages
    test: str,
    correction: str,
    alternative: str,
    alpha: float,
    n_resamples: int,
    sizes: Mapping[str, int],
    tests: int,
    units: str = "topics",
) -> tuple[str, ...]:
    """Warn of slices that need more topics, or clusters of them, for a p-value below alpha; return them.

    Raises:
        ParameterError: a p-value below alpha needs more replicates.
    """
    factor = tests if CORRECTIONS[correction].multiplies else 1
    all_topics = next(iter(sizes.values()))

    def smallest(replicates: float) -> Floats:
        two_sided = alternative == "two-sided"
        # All slices share the signs of all topics.
        enumerated = TESTS[test].signs and enumerates(all_topics, replicates)
        return factor * np.array(
            [
                TESTS[test].smallest_p(size, math.inf if enumerated else replicates, two_sided)
                for size in sizes.values()
            ]
        )

    reached, reachable = smallest(n_resamples), smallest(math.inf)
    if ((reached >= alpha) & (reachable < alpha)).any():
        least = reached[reachable < alpha].max()
        enough = n_resamples
        while ((smallest(enough) >= alpha) & (reachable < alpha)).any():
            enough *= 10
        other = "correction='max-t' or " if factor > 1 and TESTS[test].statistics is not None else ""
        raise ParameterError(
            f"n_resamples={n_resamples}: with {tests} tests and correction={correction!r} no corrected p can "
            f"fall below {least:.3g}, and alpha is {alpha}: use {other}n_resamples={enough}"
        )
    few = {name: p for name, p in zip(sizes, reachable.tolist(), strict=True) if p >= alpha}
    if few:
        listed = [
            f"{sizes[name]} {units}{'' if name == ALL_TOPICS else f' of the slice {name!r}'} (p >= {p:.3g})"
            for name, p in few.items()
        ]
        warnings.warn(
            f"the {TESTS[test].name} test cannot find a difference on {', '.join(listed)}: its smallest "
            f"corrected p-value is not below alpha={alpha:g}; use more {units} or test='t'",
            TooFewTopicsWarning,
            stacklevel=4,
        )
    return (*few,)


def _without_gain(  # the scores and words for messages
    values: Floats,
    base: Floats,
    measures: tuple[str, ...],
    baseline: Hashable,
    parts: Mapping[str, Ints],
    tolerance: float,
) -> Bools:
    """Return where the baseline scores 0, with a warning, shape ``(slices, measures)``.

    Raises:
        ParameterError: no run can lose more than the tolerance.
    """
    # Where scores are negative, the lowest possible score is not known.
    hopeless = (base <= tolerance) & (values.min(axis=(1, 2)) >= 0)
    said, asked = [], ""
    for part, measure in np.argwhere(hopeless).tolist():
        name, mean = [*parts][part], float(base[part, measure])
        size = parts[name].size
        where = f"all {size} topics" if name == ALL_TOPICS else f"the {size} of slice {name!r}"
        if mean == 0:
            said.append(f"scores 0 on {where} by {measures[measure]}")
            asked = (
                "; do the ids of run and qrels match, and are levels of the qrels relevant to the measure?"
            )
        elif name == ALL_TOPICS:
            raise ParameterError(
                f"tolerance={tolerance:g} must be below the mean of {baseline!r}, {mean:.4g} by "
                f"{measures[measure]}: no run can lose more than that"
            )
        else:
            said.append(f"has the mean {mean:.4g} on {where} by {measures[measure]}, within the tolerance")
    if said:
        more = f" (and {len(said) - MOST_IDS} more)" if len(said) > MOST_IDS else ""
        warnings.warn(
            f"{baseline!r} {', '.join(said[:MOST_IDS])}{more}, so no run can be worse there{asked}",
            NothingToLoseWarning,
            stacklevel=4,
        )
    return np.asarray(hopeless & (base == 0))
