"""Intervals of means, compared with SciPy and with plain loops over equal replicates."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from collections_data import needs_shared_data
from helpers import covid_sample
from scipy import stats

import ir_graded
from benchmarks import mean_coverage
from ir_graded import Scores
from ir_graded.errors import InputError
from ir_graded.meta import confidence_intervals, replicates
from ir_graded.meta.replicates import topic_counts

SYSTEMS = ["a", "b", "c", "d"]


def matrices(topics=12, seed=3):
    rng = np.random.default_rng(seed)
    return {
        name: pd.DataFrame(rng.random((topics, 4)) ** power, columns=SYSTEMS)
        for name, power in (("Q", 1), ("AP", 3))
    }


def quantile(ordered, q):
    """Interpolate linearly between the two nearest sorted values."""
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("n_resamples", [1, 37, 400])
def test_intervals_equal_a_plain_loop_over_the_replicates(level, n_resamples):
    scores = matrices()
    options = {"method": "bootstrap", "n_resamples": n_resamples, "rng": 5}
    found = confidence_intervals(scores, confidence=level, **options)
    counts = topic_counts(np.random.default_rng(5), 12, n_resamples).astype(int)
    for at, matrix in enumerate(scores.values()):
        for number, system in enumerate(SYSTEMS):
            column = matrix[system].tolist()
            means = []
            for replicate in range(n_resamples):
                drawn = [column[topic] for topic in range(12) for _ in range(counts[topic, replicate])]
                assert len(drawn) == 12
                means.append(sum(drawn) / 12)
            means.sort()
            assert found.mean[at, number] == pytest.approx(sum(column) / 12, abs=1e-12)
            assert found.low[at, number] == pytest.approx(quantile(means, (1 - level) / 2), abs=1e-12)
            assert found.high[at, number] == pytest.approx(quantile(means, (1 + level) / 2), abs=1e-12)


def test_scores_of_evaluate_are_accepted_and_means_are_best_first():
    covid = covid_sample()
    runs = {name: covid.runs[name] for name in list(covid.runs)[:4]}
    scores = ir_graded.evaluate(["Q", "nDCG@10"], covid.qrels, runs)
    frame = confidence_intervals(scores).to_frame()
    pd.testing.assert_frame_equal(frame.xs("mean", axis=1, level=1), scores.mean())
    for measure in ("Q", "nDCG@10"):
        part = frame[measure]
        assert (part["low"] < part["mean"]).all()
        assert (part["mean"] < part["high"]).all()


def test_equal_scores_have_an_interval_of_zero_width_and_one_system_is_enough():
    found = confidence_intervals({"Q": pd.DataFrame({"a": [0.1] * 3})})
    assert found.low[0, 0] == found.mean[0, 0] == found.high[0, 0]
    assert (found.method, found.too_few[0, 0]) == ("t", False)
    assert found.mean[0, 0] == pytest.approx(0.1, abs=1e-16)


def test_bootstrap_intervals_stay_within_the_scores():
    """By rounding, means of replicates that draw only the best or the worst topic are outside the scores."""
    scores = np.array(list(combinations(np.arange(11) / 10, 3))).T
    found = confidence_intervals({"Q": scores}, confidence=0.99, method="bootstrap", n_resamples=500)
    assert (found.low[0] >= scores.min(axis=0)).all()
    assert (found.high[0] <= scores.max(axis=0)).all()
    assert (found.high[0] == scores.max(axis=0)).any()


def test_wrong_scores_are_named():
    with pytest.raises(InputError, match="Q: at least 2 topics are needed, found 1"):
        confidence_intervals({"Q": pd.DataFrame({"a": [0.1]})})
    with pytest.raises(InputError, match="at least 1 system are needed, found 0"):
        confidence_intervals({"Q": pd.DataFrame(index=range(3))})
    with pytest.raises(InputError, match="expected Scores from evaluate"):
        confidence_intervals([[0.1, 0.2]])


def test_the_leaderboard_is_drawn_for_the_requested_measure_and_axes():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.subplots()
    found = confidence_intervals(matrices(topics=9))
    assert found.topics == 9
    assert found.plot("AP", ax) is figure
    [line] = [line for line in ax.lines if len(line.get_xdata()) == len(SYSTEMS)]
    assert sorted(line.get_xdata()) == sorted(found.mean[1])
    assert found.plot().axes[0].get_xlabel() != ax.get_xlabel()


def test_blocks_of_replicates_change_nothing(monkeypatch):
    options = {"method": "bootstrap", "n_resamples": 201, "rng": 9}
    intervals = confidence_intervals(matrices(), **options)
    monkeypatch.setattr(replicates, "_VALUES", 500)
    assert confidence_intervals(matrices(), **options).low.tolist() == intervals.low.tolist()


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_equal_weights_change_nothing_and_others_weight_the_means(method):
    scores = matrices()
    topics = scores["Q"].index
    whole = confidence_intervals(scores, method=method, n_resamples=100)
    weighted = confidence_intervals(scores, method=method, n_resamples=100, weights=dict.fromkeys(topics, 3))
    np.testing.assert_allclose([weighted.low, weighted.high], [whole.low, whole.high], rtol=1e-12)
    weights = dict(zip(topics, np.arange(len(topics)), strict=True))
    found = confidence_intervals(scores, method=method, n_resamples=100, weights=weights)
    expected = np.average(scores["Q"], axis=0, weights=np.arange(len(topics)))
    np.testing.assert_allclose(found.mean[0], expected, rtol=1e-12)
    assert ((found.low <= found.mean) & (found.mean <= found.high)).all()


def scored(rows, ends, names="abcdefgh"):
    """Return scores of runs, a row each, by a judge whose scores have a range."""
    frame = pd.DataFrame(np.transpose(rows), columns=[*names][: len(rows)])
    frame = frame.rename_axis("query_id").reset_index().melt("query_id", var_name="run")
    return Scores.from_frame(frame.assign(measure="judge"), ranges={"judge": ends})


def reference(column, ends, level):
    """Return the interval of one run by the definition, without weights."""
    n, mean, error = len(column), np.mean(column), stats.sem(column)
    low, high = stats.t.interval(level, n - 1, mean, error) if error > 1e-15 else (mean, mean)
    if ends is None:
        return low, high
    lowest, highest = ends
    low, high = max(low, lowest), min(high, highest)
    for v in {*column}:
        others = sum(score != v for score in column)
        if others < 8 and n - others >= n / 2 and math.isfinite(highest - lowest):
            u = stats.binomtest(others, n).proportion_ci(level, method="exact").high
            low, high = min(low, v - u * (v - lowest)), max(high, v + u * (highest - v))
    return low, high


RANGES = [(0, 1), (-2, 3), (0, math.inf), (-math.inf, 1), None]


@pytest.mark.parametrize("ends", RANGES, ids=str)
def test_intervals_equal_a_plain_reference(ends):
    rng = np.random.default_rng(RANGES.index(ends))
    widened = 0
    for n in [2, 3, 4, 5, 9, 10, 14, 16, 17, 30] * 2:
        level = rng.choice([0.5, 0.9, 0.95, 0.999])
        rows = np.where(
            rng.random((6, n)) < rng.random((6, 1)), rng.integers(0, 2, (6, 1)), rng.random((6, n))
        )
        found = confidence_intervals(scored(rows, ends), confidence=level)
        for run, column in enumerate(rows.tolist()):
            expected = reference(column, ends, level)
            assert (found.low[0, run], found.high[0, run]) == pytest.approx(expected, rel=1e-10, abs=1e-12)
            assert found.low[0, run] <= found.mean[0, run] <= found.high[0, run]
            assert found.too_few[0, run] == (
                ends is not None and expected[1] - expected[0] > (ends[1] - ends[0]) / 2
            )
            # With another value, the interval is wider than Student's.
            widened += (
                found.high[0, run] - found.low[0, run] > np.diff(reference(column, None, level))[0] + 1e-9
            )
    assert (widened > 10) == (ends in RANGES[:2])


def test_intervals_of_a_matrix_are_students_without_a_range():
    for name, matrix in matrices(5).items():
        found = confidence_intervals({name: matrix})
        for run, column in enumerate(matrix.to_numpy().T.tolist()):
            assert (found.low[0, run], found.high[0, run]) == pytest.approx(reference(column, None, 0.95))
        assert not found.too_few.any()


def test_ten_equal_scores_may_have_others():
    found = confidence_intervals(scored([[1] * 10, [0] * 10, [0.5] * 10], (0, 1)))
    assert found.low[0].round(2).tolist() == [0.69, 0, 0.35]
    assert found.high[0].round(2).tolist() == [1, 0.31, 0.65]
    # By definition, .025 of the samples have no other score.
    assert (1 - found.high[0, 1]) ** 10 == pytest.approx(0.025)


def test_two_scores_of_half_the_topics_widen_both_sides():
    found = confidence_intervals(scored([[0, 1] * 2], (0, 1)))
    turned = confidence_intervals(scored([[1, 0] * 2], (0, 1)))
    assert found.low[0, 0] + found.high[0, 0] == pytest.approx(1)
    assert (found.low, found.high) == (turned.low, turned.high)


@pytest.mark.parametrize("count", [7, 8])
def test_eight_other_scores_give_students_interval(count):
    rows = [[1.0] * (40 - count) + [0.99] * count]
    found = confidence_intervals(scored(rows, (0, 1)))
    assert (found.low[0, 0] < 0.9) == (count < 8)


@pytest.mark.parametrize("count", [3, 4])
def test_less_than_half_of_equal_scores_give_students_interval(count):
    rows = [[1.0] * count + [0.99, 0.98, 0.97, 0.96]]
    found = confidence_intervals(scored(rows, (0, 1)))
    assert (found.low[0, 0] < 0.9) == (count == 4)


def test_weighted_intervals_are_those_of_effective_topics():
    rng = np.random.default_rng(4)
    column, weights = rng.random(15), rng.lognormal(size=15)
    h = weights / weights.sum()
    mean, n = h @ column, 1 / (h**2).sum()
    error = math.sqrt(sum(h**2 / (1 - h) * (column - mean) ** 2))
    expected = stats.t.interval(0.9, n - 1, mean, error)
    given = dict(enumerate(weights.tolist()))
    found = confidence_intervals(scored([column], (-9, 9)), confidence=0.9, weights=given)
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx(expected, rel=1e-12)
    # Scores of the topics 0 and 1 are rare; u is the quantile that Clopper and Pearson give.
    rare = np.where(np.arange(15) < 2, 0.9, 1.0)
    found = confidence_intervals(scored([rare], (0, 1)), confidence=0.9, weights=given)
    other = n * h[:2].sum()
    assert found.low[0, 0] == pytest.approx(1 - stats.beta.ppf(0.95, other + 1, n - other), rel=1e-9)


def test_topics_without_weight_are_left_out():
    given = dict.fromkeys(range(12), 1) | {3: 0, 7: 0}
    column = [1.0] * 12
    column[3] = column[7] = 0
    found = confidence_intervals(scored([column], (0, 1)), weights=given)
    assert (found.topics, found.low[0, 0].round(2)) == (10, 0.69)


def test_wide_intervals_are_not_printed_but_stay_in_the_frame():
    scores = scored([[1, 0, 1, 0.5], [0.5, 0.52, 0.48, 0.51]], (0, 1))
    found = confidence_intervals(scores)
    assert found.too_few.tolist() == [[True, False]]
    text = scores.to_markdown(intervals=True, digits=2)
    assert "| a | **0.62** [too few topics] |" in text
    assert f"| b | 0.50 [{found.low[0, 1]:.2f}, {found.high[0, 1]:.2f}] |" in text
    assert found.to_frame().loc["a", ("judge", "high")] == found.high[0, 0] == 1


#: Coverage and width in the specification, by scores and topics.
SPECIFIED = {
    ("RR, round 5", 5): (0.99, 0.66),
    ("RR, round 5", 10): (0.99, 0.49),
    ("RR, round 5", 20): (0.99, 0.34),
    ("Success .05", 20): (1.00, 0.24),
    ("AP, round 5", 5): (0.93, 0.30),
    ("nDCG@10, round 5", 5): (0.925, None),
    ("nDCG@10, round 5", 10): (0.925, None),
    ("nDCG@10, round 5", 20): (0.925, None),
}


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize(("scores", "topics"), SPECIFIED)
def test_intervals_cover_the_mean_as_often_as_specified(scores, topics):
    coverage, width = SPECIFIED[scores, topics]
    found = mean_coverage.simulated(scores, topics, 300)
    assert found[0] == pytest.approx(coverage, abs=0.02)
    assert width is None or found[1] == pytest.approx(width, abs=0.04)
