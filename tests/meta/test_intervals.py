"""Bootstrap intervals of means, compared with plain loops over equal replicates."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample

import ir_graded
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
    found = confidence_intervals(scores, confidence=level, n_resamples=n_resamples, rng=5)
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
    frame = confidence_intervals(scores, n_resamples=50).to_frame()
    pd.testing.assert_frame_equal(frame.xs("mean", axis=1, level=1), scores.mean())
    for measure in ("Q", "nDCG@10"):
        part = frame[measure]
        assert (part["low"] < part["mean"]).all()
        assert (part["mean"] < part["high"]).all()


def test_equal_scores_have_an_interval_of_zero_width_and_one_system_is_enough():
    found = confidence_intervals({"Q": pd.DataFrame({"a": [0.1] * 3})}, n_resamples=20)
    assert found.low[0, 0] == found.high[0, 0] == 0.1
    assert found.mean[0, 0] == pytest.approx(0.1, abs=1e-16)


def test_intervals_stay_within_the_scores():
    """By rounding, means of replicates that draw only the best or the worst topic are outside the scores."""
    scores = np.array(list(combinations(np.arange(11) / 10, 3))).T
    found = confidence_intervals({"Q": scores}, confidence=0.99, n_resamples=500)
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
    found = confidence_intervals(matrices(topics=9), n_resamples=20)
    assert found.topics == 9
    assert found.plot("AP", ax) is figure
    [line] = [line for line in ax.lines if len(line.get_xdata()) == len(SYSTEMS)]
    assert sorted(line.get_xdata()) == sorted(found.mean[1])
    assert found.plot().axes[0].get_xlabel() != ax.get_xlabel()


def test_blocks_of_replicates_change_nothing(monkeypatch):
    intervals = confidence_intervals(matrices(), n_resamples=201, rng=9)
    monkeypatch.setattr(replicates, "_VALUES", 500)
    assert confidence_intervals(matrices(), n_resamples=201, rng=9).low.tolist() == intervals.low.tolist()


def test_equal_weights_change_nothing_and_others_weight_the_means():
    scores = matrices()
    topics = scores["Q"].index
    whole = confidence_intervals(scores, n_resamples=100)
    weighted = confidence_intervals(scores, n_resamples=100, weights=dict.fromkeys(topics, 3))
    np.testing.assert_allclose([weighted.low, weighted.high], [whole.low, whole.high], rtol=1e-12)
    weights = dict(zip(topics, np.arange(len(topics)), strict=True))
    found = confidence_intervals(scores, n_resamples=100, weights=weights)
    expected = np.average(scores["Q"], axis=0, weights=np.arange(len(topics)))
    np.testing.assert_allclose(found.mean[0], expected, rtol=1e-12)
    assert ((found.low <= found.mean) & (found.mean <= found.high)).all()
