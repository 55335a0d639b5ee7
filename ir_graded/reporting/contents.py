"""Contents of a report: finished results, and how they were computed."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from ir_measures.measures.base import SumAgg

from ir_graded._version import __version__
from ir_graded.core.segments import Floats
from ir_graded.errors import ParameterError
from ir_graded.evaluation.coverage import LOWEST_JUDGED, warn_caller
from ir_graded.evaluation.evaluate import Request
from ir_graded.evaluation.overlap import overlaps_with
from ir_graded.evaluation.provider import GradedEvaluator, native_scorers
from ir_graded.evaluation.score_intervals import (
    OnlyRelevantError,
    ScoreIntervals,
    interval_depth,
    intervals_of,
)
from ir_graded.evaluation.scores import Scores
from ir_graded.evaluation.ties import OpenByTies, ranges
from ir_graded.evaluation.unjudged import (
    DEPTHS,
    RunShares,
    Unjudged,
    collect as unjudged_of,
    unjudged_shares,
)
from ir_graded.io.sources import find_run, named_runs
from ir_graded.matching.match import MatchedRun
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.classic.ties import takes_ties, with_ties
from ir_graded.meta import ConfidenceIntervals, Differences, Ranks, confidence_intervals, differences, ranks
from ir_graded.meta.matrix import number_of
from ir_graded.meta.samples import TooFewTopicsWarning

#: Libraries whose version may change a figure.
_LIBRARIES = ("ir-measures", "numpy", "pandas", "polars", "matplotlib")
_DEPTHS = np.array(DEPTHS, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Contents:
    """All results that a report shows."""

    scores: Scores
    intervals: ConfidenceIntervals
    baseline: str | None
    tests: Differences | None
    #: Confidence sets for ranks by the first measure; None for one run, and with weights.
    ranks: Ranks | None
    weighted: bool
    rng: int
    command: str
    title: str = ""
    #: None without qrels.
    unjudged: Unjudged | None = None
    #: None without samples or non-relevant documents.
    imputed: ScoreIntervals | None = None
    #: Why there are samples but no imputed scores; '' without a reason.
    not_imputed: str = ""
    #: Effect of ties on each run, for the measures that ir_graded computes; empty without qrels.
    ties: tuple[OpenByTies, ...] = ()
    #: Mean rank-biased overlap of each run with the baseline; None without a baseline.
    overlap: list[float] | None = None

    @property
    def best_first(self) -> list[int]:
        """Numbers of the runs in the order of the leaderboard, by the first measure."""
        numbers: list[int] = (-self.intervals.mean[0]).argsort(kind="stable").tolist()
        return numbers

    @property
    def imputed_means(self) -> Floats | None:
        """Imputed means with their intervals, of shape (runs, measures, 3); sums over topics become means."""
        if self.imputed is None:
            return None
        numbers = np.where([*map(is_summed, self.scores.measures)], len(self.scores.query_ids), 1)
        return self.imputed.overall.T / numbers[:, np.newaxis]

    def compared_runs(self, measure: int) -> tuple[str, str] | None:
        """Return the best run by a measure, and the baseline or the second best; None if there is one run."""
        means = self.intervals.mean[measure]
        order = [self.scores.runs[number] for number in (-means).argsort(kind="stable")]
        if self.baseline is not None:
            return next(run for run in order if run != self.baseline), self.baseline
        return (order[0], order[1]) if len(order) > 1 else None


def of_scores(
    scores: Scores,
    *,
    baseline: str | None,
    confidence: float,
    n_resamples: int,
    command: str,
    title: str,
    **options: Any,
) -> Contents:
    """Compute the results that follow from scores; arguments and errors are those of ``Scores.report``."""
    weights, rng = options["weights"], options["rng"]
    baseline = _baseline(baseline, dict.fromkeys(scores.runs))
    resampling = {"n_resamples": n_resamples, "weights": weights, "rng": rng}
    intervals = confidence_intervals(scores, confidence=confidence, **resampling)
    alpha = round(1 - confidence, 12)
    tests = None if baseline is None else differences(scores, baseline, alpha=alpha, **options)
    of_ranks = None
    if len(scores.runs) > 1 and weights is None:
        with warnings.catch_warnings():
            # With too few topics, all ranks are possible, which the page shows.
            warnings.simplefilter("ignore", TooFewTopicsWarning)
            of_ranks = ranks(scores, alpha=alpha, rng=rng)
    return Contents(scores, intervals, baseline, tests, of_ranks, weights is not None, rng, command, title)


def collect(
    measures: list[Measure],
    qrels: Any,
    runs: Any,
    *,
    baseline: str | None,
    n_samples: int,
    depth: int | None,
    **options: Any,
) -> Contents:
    """Compute all results of a report; arguments and errors are those of ``report``."""
    confidence, rng = options["confidence"], options["rng"]
    named = {_writable(name): run for name, run in named_runs(runs).items()}
    baseline = _baseline(baseline, named)
    if depth is not None and not n_samples:
        raise ParameterError(f"{depth=} needs n_samples >= 1")
    last = interval_depth(measures, depth, n_samples, confidence, rng) if n_samples else 0
    request = Request(measures, qrels)
    request.take(named)
    if n_samples or baseline is not None:
        request.reread()
    here = [measure for measure in native_scorers(measures) if takes_ties(measure)]
    in_orders = [with_ties(measure, order) for measure in here for order in ("optimistic", "pessimistic")]
    evaluator = GradedEvaluator(native_scorers(in_orders), request.judgments)

    def unjudged_and_ties(run: MatchedRun) -> tuple[RunShares, OpenByTies]:
        ties = OpenByTies.of(ranges(here, evaluator.scores_of(run.judged)))
        return unjudged_shares(request, run, _DEPTHS), ties

    scores, found = request.scores(unjudged_and_ties, LOWEST_JUDGED, progress=None)
    shares, ties = zip(*found, strict=True)
    contents = of_scores(scores, baseline=baseline, **options)
    overlap = None if baseline is None else overlaps_with(baseline, request.runs, request.judgments)
    imputed, not_imputed = None, ""
    if n_samples:
        try:
            imputed = intervals_of(request, scores, last, n_samples, confidence, rng)
        except OnlyRelevantError as error:
            not_imputed = str(error)
            warn_caller(not_imputed)
    return replace(
        contents,
        unjudged=unjudged_of(request, _DEPTHS, shares),
        imputed=imputed,
        not_imputed=not_imputed,
        ties=ties,
        overlap=overlap,
    )


def _writable(name: str) -> str:
    """Return a name that can be encoded in UTF-8: file names may contain lone surrogates."""
    return name.encode("utf-8", errors="backslashreplace").decode()


def _baseline(baseline: str | None, runs: Mapping[str, Any]) -> str | None:
    """Return the name of the baseline, given as a name, a path or either without its extension."""
    if baseline is None:
        return None
    found = find_run(_writable(str(baseline)), runs) or [*runs][number_of(baseline, [*runs], "baseline")]
    if len(runs) == 1:
        raise ParameterError(f"baseline={baseline!r} is the only run; add a run to compare with it")
    return found


def versions() -> list[tuple[str, str]]:
    """Return names and versions of the package, of Python and of the libraries that affect numbers."""
    of_libraries = [(name, version(name)) for name in _LIBRARIES]
    return [("ir_graded", __version__), ("Python", platform.python_version()), *of_libraries]


def is_summed(measure: Measure) -> bool:
    """Return whether ir-measures sums a measure over topics, while a report shows means."""
    return isinstance(measure.aggregator(), SumAgg)


def note(measure: Measure) -> dict[str, Any]:
    """Return the description of a measure, and how it was computed."""
    return {
        "name": str(measure),
        "title": str(getattr(measure, "PRETTY_NAME", None) or measure.NAME),
        "meaning": " ".join(str(getattr(measure, "SHORT_DESC", None) or "").split()),
        "source": str(getattr(measure, "SOURCE", None) or ""),
        "provider": "ir-measures" if scorer_of(measure) is None else "ir_graded",
        "summed": is_summed(measure),
    }
