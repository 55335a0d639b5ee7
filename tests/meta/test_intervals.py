"""Bootstrap intervals and tests against a baseline, compared with plain loops over equal replicates."""

import inspect
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample

import ir_graded
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.meta import against_baseline, confidence_intervals, discriminative_power, samples
from ir_graded.meta.paired_tests import holm, randomisation_p
from ir_graded.meta.samples import sign_flips, topic_counts

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


def test_intervals_equal_scipys_percentile_bootstrap_in_distribution():
    bootstrap = pytest.importorskip("scipy.stats").bootstrap
    column = matrices(40)["Q"]["a"].to_numpy()
    ours = confidence_intervals({"Q": matrices(40)["Q"]}, n_resamples=20_000)
    seed = {"rng" if "rng" in inspect.signature(bootstrap).parameters else "random_state": 1}  # scipy < 1.15
    theirs = bootstrap((column,), np.mean, n_resamples=20_000, method="percentile", **seed)
    assert ours.low[0, 0] == pytest.approx(theirs.confidence_interval.low, abs=0.004)
    assert ours.high[0, 0] == pytest.approx(theirs.confidence_interval.high, abs=0.004)


def test_measures_and_systems_share_the_replicates():
    scores = matrices()
    both = confidence_intervals(scores, rng=1)
    alone = confidence_intervals({"AP": scores["AP"][["c"]]}, rng=1)
    assert both.low[1, 2] == pytest.approx(alone.low[0, 0], abs=1e-14)
    assert both.high[1, 2] == pytest.approx(alone.high[0, 0], abs=1e-14)
    assert not np.array_equal(both.low, confidence_intervals(scores, rng=2).low)
    assert np.array_equal(both.low, confidence_intervals(scores, rng=1).low)


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
    with pytest.raises(ValueError, match="read-only"):
        found.low[0, 0] = 1


def test_intervals_stay_within_the_scores():
    """By rounding, means of replicates that draw only the best or the worst topic are outside the scores."""
    scores = np.array(list(combinations(np.arange(11) / 10, 3))).T
    found = confidence_intervals({"Q": scores}, confidence=0.99, n_resamples=500)
    assert (found.low[0] >= scores.min(axis=0)).all()
    assert (found.high[0] <= scores.max(axis=0)).all()
    assert (found.high[0] == scores.max(axis=0)).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1}, "confidence=1 must be a number between 0 and 1"),
        ({"confidence": float("nan")}, "confidence=nan must be"),
        ({"confidence": "0.9"}, "confidence='0.9' must be"),
        ({"n_resamples": 0}, "n_resamples=0 must be a whole number >= 1"),
        ({"rng": -1}, "rng=-1 must be"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        confidence_intervals(matrices(), **options)


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


# ------------------------------------------------------------------------------------ against a baseline


def test_p_values_equal_a_plain_loop_over_the_flips():
    scores = matrices()
    found = against_baseline(scores, "b", n_resamples=200, rng=9)
    flips = sign_flips(np.random.default_rng(9), 12, 200)
    assert found.runs == ("a", "c", "d")
    for at, matrix in enumerate(scores.values()):
        for place, system in enumerate(found.runs):
            z = (matrix[system] - matrix["b"]).tolist()
            observed = abs(sum(z))
            reached = sum(
                abs(sum(one * sign for one, sign in zip(z, flips[:, flip], strict=True))) >= observed - 1e-12
                for flip in range(200)
            )
            assert found.p[at, place] == (reached + 1) / 201
            assert found.difference[at, place] == pytest.approx(sum(z) / 12, abs=1e-12)


def test_scores_in_tenths_have_the_p_values_of_whole_numbers():
    """Replicates that equal the observed value up to rounding count as equally extreme."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        whole = pd.DataFrame(rng.integers(0, 11, (8, 2)), index=list("pqrstuvw"), columns=["a", "b"])
        found, expected = (
            against_baseline({"Q": scores}, "a", n_resamples=300, rng=2) for scores in (whole / 10, whole)
        )
        assert found.p[0, 0] == expected.p[0, 0]


@pytest.mark.parametrize("topics", [3, 5, 12])
def test_p_values_of_few_topics_count_all_sign_patterns(topics):
    """Fisher's exact test: two of all patterns have equal signs."""
    tests = against_baseline({"Q": np.stack([np.zeros(topics), np.ones(topics)]).T}, 0, alpha=0.3)
    assert tests.p.tolist() == [[2 / 2**topics]]


def test_p_values_equal_those_of_discriminative_power():
    scores = matrices()
    ours = against_baseline(scores, "a", n_resamples=500, rng=4)
    theirs = discriminative_power(scores["Q"], test="randomisation", n_resamples=500, rng=4).asl
    assert ours.p[0].tolist() == theirs.loc["a"].tolist()


def test_blocks_of_replicates_change_nothing(monkeypatch):
    scores = matrices()
    whole = against_baseline(scores, "b", n_resamples=201, rng=9)
    intervals = confidence_intervals(scores, n_resamples=201, rng=9)
    monkeypatch.setattr(samples, "_IN_CACHE", 500)
    assert against_baseline(scores, "b", n_resamples=201, rng=9).p.tolist() == whole.p.tolist()
    assert confidence_intervals(scores, n_resamples=201, rng=9).low.tolist() == intervals.low.tolist()


def test_only_a_p_value_below_alpha_is_significant():
    p = against_baseline(matrices(), "b", n_resamples=200, rng=9).p_holm
    alpha = float(np.sort(p, axis=None)[1])
    found = against_baseline(matrices(), "b", n_resamples=200, rng=9, alpha=alpha)
    assert found.significant.tolist() == (p < alpha).tolist()
    assert (found.p_holm == alpha).any()
    assert (found.baseline, found.alpha, found.n_resamples) == ("b", alpha, 200)


def test_identical_systems_do_not_differ():
    same = pd.DataFrame({"a": [0.1, 0.7, 0.3], "b": [0.1, 0.7, 0.3]})
    found = against_baseline({"Q": same}, "a", alpha=0.3)
    assert found.p[0, 0] == found.p_holm[0, 0] == 1
    assert not found.significant.any()


def test_holm_equals_values_by_hand_and_statsmodels():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.7])).tolist() == [1, 1]
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).random(40) ** 3
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])


def test_the_correction_is_within_one_measure():
    found = against_baseline(matrices(), "d", n_resamples=300)
    for p, corrected in zip(found.p, found.p_holm, strict=True):
        assert corrected.tolist() == holm(p).tolist()
    frame = found.to_frame()
    assert list(frame.columns) == [
        *("measure", "run", "difference", "p", "p_holm", "significant"),
        *("dz", "minimum_detectable"),
    ]
    assert len(frame) == 6
    assert (frame["significant"] == (frame["p_holm"] < 0.05)).all()


def better_on_each_topic(systems, topics):
    """A baseline, and systems with a higher score on each topic."""
    step = np.linspace(0.1, 0.2, topics)[:, np.newaxis] * np.arange(systems + 1)
    return {"Q": pd.DataFrame(step, columns=["old", *(f"new{number}" for number in range(systems))])}


def test_many_systems_can_differ_significantly_with_the_default_replicates():
    """10,000 replicates allow no corrected p-value below 125/10,001 = .012."""
    found = against_baseline(better_on_each_topic(125, 30), "old", alpha=0.01)
    assert (found.n_resamples, found.exact, found.significant.sum()) == (100_000, False, 125)
    assert found.smallest_p_holm == found.p_holm.min() == 125 / 100_001


@pytest.mark.parametrize("topics", [8, 12])
def test_the_smallest_p_is_that_of_differences_on_every_topic(topics):
    found = against_baseline(better_on_each_topic(3, topics), "old")
    assert found.exact
    assert found.p_holm.tolist() == [[found.smallest_p_holm] * 3] == [[3 * 2 / 2**topics] * 3]


def test_replicates_too_few_for_the_systems_are_an_error():
    scores = better_on_each_topic(5, 20)
    with pytest.raises(ParameterError) as raised:
        against_baseline(scores, "old", n_resamples=99)
    assert str(raised.value) == (
        "n_resamples=99 is too small: with 5 tests no corrected p-value can fall below 0.05, and alpha is "
        "0.05; use n_resamples=990"
    )
    assert against_baseline(scores, "old", n_resamples=100).significant.all()
    with pytest.raises(ParameterError, match="default of 100,000 replicates is too small: with 5 tests"):
        against_baseline(scores, "old", alpha=4e-5)


@pytest.mark.parametrize("n_resamples", [None, 20, 10_000])
def test_topics_too_few_for_any_significant_difference_are_warned_of(n_resamples):
    """The advice is more topics, also where the replicates are fewer than the sign patterns."""
    scores = better_on_each_topic(3, 6)
    with pytest.warns(CoverageWarning) as said:
        found = against_baseline(scores, "old", n_resamples=n_resamples)
    assert str(said[0].message) == (
        "the randomisation test of 3 runs cannot find a difference on 6 topics (p >= 0.0938): its smallest "
        "corrected p-value is not below alpha=0.05; use more topics"
    )
    assert not found.significant.any()
    assert against_baseline(scores, "old", alpha=0.1).significant.all()


def test_signs_are_drawn_as_by_numpy_for_large_blocks():
    z = np.random.default_rng(3).normal(0.01, 0.1, (1, 1, 700))
    p = randomisation_p(z, 500, np.random.default_rng(5), two_sided=True)
    signs = 1 - 2 * np.random.default_rng(5).integers(0, 2, (500, 700))
    reached = np.count_nonzero(np.abs(signs @ z[0, 0]) >= abs(z.sum()))
    assert p.tolist() == [[(reached + 1) / 501]]


def test_an_unknown_baseline_is_named():
    with pytest.raises(ParameterError, match="baseline='x' must be one of 'a', 'b', 'c'"):
        against_baseline(matrices(), "x")
    with pytest.raises(ParameterError) as raised:
        against_baseline(better_on_each_topic(125, 9), "new_24")
    assert str(raised.value) == (
        "baseline='new_24' must be one of 'old', 'new0', 'new1' ... (126 in total); did you mean 'new24'?"
    )
    with pytest.raises(ParameterError, match="alpha=2 must be"):
        against_baseline(matrices(), "a", alpha=2)
    with pytest.raises(ParameterError, match="n_resamples=0 must be"):
        against_baseline(matrices(), "a", n_resamples=0)
