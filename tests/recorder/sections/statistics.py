"""Meta-evaluation with a seed, on score matrices of the notebooks and on those of real runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ir_graded
from ir_graded import meta

from .. import real
from ..recorder import Recorder, section
from .scores import sample, sample_runs

_URBANO = Path(__file__).resolve().parents[3] / "notebooks" / "data" / "urbano"
_TESTS = (*meta.discriminative_power.choices["test"],)


@section("statistics", "every statistic of meta on 12 score matrices of TREC Web", quick=True)
def _statistics(out: Recorder) -> None:
    paths = sorted(_URBANO.glob("*.csv"))
    for at, path in enumerate(paths[:1] if out.quick else paths):
        matrix = pd.read_csv(path)
        if out.quick:
            matrix = matrix.iloc[:, :10]
        of_one_matrix(out, path.stem, matrix, 100 if out.quick else 300, seed=at)
    years = sorted({path.stem.partition("_")[0] for path in paths})
    for year in years[:1] if out.quick else years:
        systems = 12 if out.quick else None
        matrices = {
            path.stem.partition("_")[2]: pd.read_csv(path).iloc[:, :systems]
            for path in paths
            if path.stem.startswith(year)
        }
        of_several_measures(out, year, matrices, 50 if out.quick else 200)
    _correlations(out)
    _collections(out)


def of_one_matrix(out: Recorder, where: str, matrix: Any, resamples: int, *, seed: int) -> None:
    """Record the statistics of one score matrix."""
    options: dict[str, Any] = {"n_resamples": resamples, "rng": seed}
    for test in _TESTS:
        for alpha in (0.05, 0.01):
            found = meta.discriminative_power(matrix, test=test, alpha=alpha, **options)
            out.result(f"discriminative_power {test}", f"{where}, alpha {alpha}", found)
            out.result(f"discriminative_power {test}.curve", f"{where}, alpha {alpha}", found.curve)
    for alternative in ("greater", "two-sided"):
        found = meta.significance(matrix, alternative=alternative, **options)
        out.result(f"significance {alternative}", where, found)
        out.result(f"significance {alternative}.count", where, found.count)
    out.result("stability", where, meta.stability(matrix, **options))
    for resample in ("bootstrap", "disjoint"):
        out.result(f"swap {resample}", where, meta.swap(matrix, resample=resample, **options))


def of_several_measures(out: Recorder, where: str, scores: Any, resamples: int) -> None:
    """Record the statistics of several measures together."""
    names = list(scores) if isinstance(scores, dict) else scores.names
    for reference in names:
        out.result("rank_correlations", f"{where}, {reference}", meta.rank_correlations(scores, reference))
    for level in (0.95, 0.5):
        found = meta.confidence_intervals(scores, confidence=level, n_resamples=resamples, rng=1)
        out.result("confidence_intervals", f"{where}, level {level}", found)
    systems = list(scores[names[0]].columns) if isinstance(scores, dict) else list(scores.runs)
    for baseline in (systems[0], systems[-1]):
        out.result("differences", f"{where}, {baseline}", meta.differences(scores, baseline, rng=2))
    out.result("differences", f"{where}, all pairs", meta.differences(scores, rng=2))
    out.result("ranks", where, meta.ranks(scores, rng=2))
    for test in _TESTS[:1] if out.quick else _TESTS:
        options: dict[str, Any] = {"n_resamples": resamples, "rng": 3, "fuzziness": 0.03}
        found = meta.compare_measures(scores, reference=names[-1], test=test, **options)
        out.result(f"compare {test}", where, found)


def _correlations(out: Recorder) -> None:
    """Return two lists of scores for correlations, with and without ties."""
    generator = np.random.Generator(np.random.PCG64(0))
    for number in range(20):
        length = 2 + int(generator.random() * 40)
        plain = generator.random(length), generator.random(length)
        tied = tuple(np.floor(one * 6) for one in plain)
        for name in ("kendall_tau", "tau_ap"):
            out.result(name, f"{number}", getattr(meta, name)(*plain))
        for name in ("kendall_tau", "kendall_tau_b", "tau_ap_b"):
            out.result(name, f"{number}, tied", getattr(meta, name)(*tied))
        out.result("tau_ap_a", f"{number}, tied", meta.tau_ap_a(plain[0], tied[1]))
        # Means of tenths that differ only by rounding.
        tenths = {name: np.floor(generator.random((3, 8)) * 6) / 10 for name in ("one", "other")}
        out.result("rank_correlations", f"{number}, tenths", meta.rank_correlations(tenths, "one"))
        found = meta.differences(tenths, 0, n_resamples=200, rng=number)
        out.result("differences", f"{number}, tenths", found)
        out.result("swap", f"{number}, tenths", meta.swap(tenths["one"], n_resamples=50, rng=number))


def _collections(out: Recorder) -> None:
    """Record differences on random collections."""
    generator = np.random.Generator(np.random.PCG64(1))
    scores = {f"{topics} topics": {"Q": generator.random((topics, 4))} for topics in (8, 10, 12, 20, 40)}
    for effect in meta.across_collections.choices["effect"]:
        for method in meta.across_collections.choices["method"]:
            found = meta.across_collections(scores, 0, effect=effect, method=method, rng=4)
            out.result("across_collections", f"{effect}, {method}", found)


@section("statistics of the sample", "meta on scores of the bundled runs")
def _of_the_sample(out: Recorder) -> None:
    scores = ir_graded.evaluate(["Q", "P-measure", "nDCG@10", "AP", "RR"], sample().qrels, sample_runs(20))
    of_several_measures(out, "sample", scores, 1000)
    for measure in ("Q", "RR"):
        of_one_matrix(out, f"sample, {measure}", scores.matrix(measure), 1000, seed=5)
    out.result("frame", "sample", scores.to_frame())
    minimum = {"Q": 0.2, "AP": 0.15}
    out.result("minima", "sample", meta.minima(scores, minimum))
    found = meta.differences(scores, scores.runs[0], minimum=minimum, n_resamples=1000)
    out.result("differences", "sample, minimum", found)
    topics = scores.query_ids
    parts = {
        f"v{at}": scores.select(runs=scores.runs[at : at + 2], topics=topics[: 30 - at % 2])
        for at in range(4)
    }
    out.result("history", "sample", meta.history(parts))
    out.result("aggregates", "sample", scores.aggregates)
    out.text("repr", "sample", repr(scores))


@section("statistics of covid", "meta on scores of TREC-COVID's runs", needs=real.COVID)
def _of_covid(out: Recorder) -> None:
    measures = ["Q", "P-measure", "NCU(stop='rb')", "nDCG@10", "AP", "RR"]
    for where, qrels, runs in (
        ("round 1", real.covid_qrels(1), real.covid_round_1()),
        ("raw runs of round 5", real.covid_qrels(5), real.covid_raw()),
    ):
        scores = ir_graded.evaluate(measures, qrels, runs, progress=False)
        of_several_measures(out, where, scores, 100)
        of_one_matrix(out, f"{where}, P-measure", scores.matrix("P-measure"), 200, seed=6)
