"""Which systems are worse than a baseline: one-sided tests, a tolerance, one family of tests."""

import itertools
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ir_graded import CoverageWarning, InputError, ParameterError, meta
from ir_graded.meta.paired_tests import CORRECTIONS, TESTS_OF_DIFFERENCES as TESTS


def scores(z, more=()):
    """A baseline, and a system a row of differences."""
    base = np.linspace(0.2, 0.8, np.shape(z)[-1])
    return {"Q": pd.DataFrame({"old": base, **{f"s{n}": base + one for n, one in enumerate([z, *more])}})}


def continuous(rng, topics):
    return rng.beta(1, 2, (topics, 1)) + 0.1 * rng.standard_t(5, (topics, 2))


def reciprocal_ranks(rng, topics):
    """Few values, many of them equal."""
    rank = rng.geometric(np.clip(rng.beta(1, 2, (topics, 1)), 0.01, 1), (topics, 2))
    return np.where(rank > 10, 0, 1 / rank)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "make", "topics"),
    [
        *itertools.product(TESTS, [continuous, reciprocal_ranks], [40]),
        ("randomisation", reciprocal_ranks, 10),
    ],
)
def test_equal_systems_fail_about_alpha_of_the_time(test, make, topics):
    """Simulated: both systems have one distribution; the second is compared with the first 2,000 times."""
    rng = np.random.default_rng(7)
    trials, alpha = 2000, 0.05
    failed = 0
    for trial in range(trials):
        pair = make(rng, topics)
        failed += not meta.regressions(
            {"Q": pair}, 0, test=test, alpha=alpha, n_resamples=400, rng=trial
        ).passed
    assert 0.03 <= failed / trials <= alpha + 0.01


@pytest.mark.parametrize("test", TESTS)
def test_a_regression_is_found_and_an_improvement_is_not(test):
    z = -0.1 + 0.05 * np.sin(np.arange(30))
    found = meta.regressions(scores(z, [-z]), "old", test=test)
    assert found.worse.tolist() == [[[True, False]]]
    assert found.p[0, 0, 1] > 0.95
    assert not found.passed


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_are_not_worse(test):
    found = meta.regressions(scores(np.zeros(10)), "old", test=test)
    assert (found.p.tolist(), found.passed) == ([[[1.0]]], True)
    assert np.isnan(found.minimum_detectable).all()


def share_of_all_signs(z):
    """Share of the sign patterns with a sum that is as low."""
    totals = [np.dot(signs, z) for signs in itertools.product([1, -1], repeat=len(z))]
    return np.mean(np.array(totals) <= z.sum() + 1e-12)


@pytest.mark.parametrize(
    "z", [np.full(n, -1.0) for n in (3, 4, 5)] + [np.linspace(-0.3, 0.1, n) for n in (10, 13)]
)
def test_p_of_few_topics_is_exact(z):
    """The 8,192 sign patterns of 13 topics are fewer than the replicates, in more than one block."""
    found = [
        meta.regressions({"Q": np.stack([0 * z, z]).T}, 0, correction="none", alpha=0.2, rng=rng)
        for rng in (0, 1)
    ]
    assert [one.p[0, 0, 0] for one in found] == [share_of_all_signs(z)] * 2


def test_p_of_random_signs_is_near_that_of_all_signs():
    z = np.linspace(-0.3, 0.15, 16)
    found = meta.regressions(scores(z), "old", n_resamples=50_000)
    assert found.p[0, 0, 0] == pytest.approx(share_of_all_signs(z), abs=0.005)


def test_p_of_the_t_test_is_that_of_scipy():
    z = np.array([-0.3, -0.2, 0.1, -0.4, 0.05, -0.1])
    found = meta.regressions(scores(z), "old", test="t")
    assert found.p[0, 0, 0] == pytest.approx(stats.ttest_1samp(z, 0, alternative="less").pvalue, rel=1e-9)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("loss", "p"), [(-0.1, 0.01), (0.1, 1)])
def test_a_constant_difference_is_certain(test, loss, p):
    found = meta.regressions(scores(np.full(12, loss)), "old", test=test, n_resamples=1000)
    assert found.p[0, 0, 0] <= p
    assert found.passed == (loss > 0)


def test_a_significant_loss_within_the_tolerance_passes():
    z = -0.004 + 0.001 * np.sin(np.arange(50))
    assert not meta.regressions(scores(z), "old").passed
    within = meta.regressions(scores(z), "old", tolerance=0.005)
    assert within.passed
    assert within.p[0, 0, 0] < 0.001


def test_a_loss_of_exactly_the_tolerance_passes():
    z = np.full(12, -0.25)
    assert meta.regressions(scores(z), "old", tolerance=0.25).passed
    assert not meta.regressions(scores(z), "old", tolerance=0.2499).passed


@pytest.mark.parametrize("test", TESTS)
def test_a_loss_that_is_equal_up_to_rounding_passes(test):
    base = np.linspace(0.3, 0.8, 12)
    assert (base - 0.1 - base).min() < -0.1  # by rounding
    for loss, tolerance in ((0.1, 0.1), (1e-15, 0)):
        lost = {"Q": pd.DataFrame({"old": base, "new": base - loss})}
        assert meta.regressions(lost, "old", tolerance=tolerance, test=test).passed


def test_a_p_value_of_exactly_alpha_is_not_significant():
    """Of the 32 sign patterns of 5 topics, one has so low a sum."""
    z = np.full(5, -0.1)
    with pytest.warns(CoverageWarning, match=r"worse on 5 topics \(p >= 0\.0312\)"):
        found = meta.regressions(scores(z), "old", alpha=1 / 32)
    assert (found.p.tolist(), found.passed) == ([[[1 / 32]]], True)


@pytest.mark.parametrize("n_resamples", [1, 99])
def test_the_bootstrap_never_gives_p_of_0(n_resamples):
    z = -0.1 + 0.001 * np.sin(np.arange(30))
    found = meta.regressions(scores(z), "old", test="bootstrap", n_resamples=n_resamples, alpha=0.6)
    assert found.p.tolist() == [[[1 / (n_resamples + 1)]]]


def test_a_tolerance_that_no_loss_can_exceed_is_an_error():
    losing = scores(np.full(9, -0.1))  # the baseline has the mean 0.5
    with pytest.raises(ParameterError, match=r"^tolerance=0\.5 must be below the mean of 'old', 0\.5 by Q"):
        meta.regressions(losing, "old", tolerance=0.5)
    assert meta.regressions(losing, "old", tolerance=0.499).passed
    negative = {"Q": losing["Q"] - 5}
    assert meta.regressions(negative, "old", tolerance=0.5).passed


def test_a_baseline_that_scores_0_is_warned_of():
    base = np.repeat([0.0, 0.01, 0.5], 10)
    matrix = pd.DataFrame({"old": base, "new": base})
    slices = {at: "abc"[at // 10] for at in range(30)}
    with pytest.warns(CoverageWarning) as caught:
        meta.regressions({"Q": matrix}, "old", slices=slices, tolerance=0.02)
    assert [str(one.message) for one in caught] == [
        "'old' scores 0 on the 10 of slice 'a' by Q, has the mean 0.01 on the 10 of slice 'b' by Q, within "
        "the tolerance, so no system can be worse there; do the ids of run and qrels match, and are levels "
        "of the qrels relevant to the measure?"
    ]
    with pytest.warns(
        CoverageWarning, match="'old' scores 0 on all 30 topics by Q, so no system can be worse"
    ):
        meta.regressions({"Q": matrix - matrix}, "old")


def test_all_systems_measures_and_slices_are_one_family():
    rng = np.random.default_rng(3)
    matrices = {name: rng.random((20, 4)) for name in ("Q", "AP")}
    slices = {at: "odd" if at % 2 else "even" for at in range(18)}
    for correction in CORRECTIONS:
        found = meta.regressions(matrices, 0, test="t", correction=correction, slices=slices)
        p = found.p.reshape(-1)
        assert (p.size, found.slices, found.topics) == (3 * 2 * 3, ("all", "even", "odd"), (20, 9, 9))
        order, expected = np.argsort(p), p * p.size
        if correction == "none":
            expected = p
        elif correction == "bh":
            expected = stats.false_discovery_control(p)
        elif correction == "holm":
            expected[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
        assert found.p_corrected.reshape(-1) == pytest.approx(np.minimum(expected, 1))


@pytest.mark.parametrize("size", [2, 5])
def test_a_slice_has_the_values_of_its_topics_alone(size):
    rng = np.random.default_rng(5)
    matrix = rng.random((12, 3))
    slices = {str(at): "first" for at in range(size)}
    whole = meta.regressions({"Q": matrix}, 0, test="t", slices=slices, correction="none").to_frame()
    alone = meta.regressions({"Q": matrix[:size]}, 0, test="t", correction="none").to_frame()
    part = whole[whole["slice"] == "first"].reset_index(drop=True).drop(columns="slice")
    pd.testing.assert_frame_equal(part, alone.drop(columns="slice"))


def test_minimum_detectable_is_what_a_test_of_the_family_detects():
    rng = np.random.default_rng(6)
    z = rng.normal(0, 0.1, (2, 50))
    found = meta.regressions(scores(z[0], [z[1]]), "old")
    options = {"alpha": 0.025, "alternative": "greater"}
    expected = meta.minimum_detectable_difference(None, 50, variance=z[0].var(ddof=1) / 2, **options)
    assert found.minimum_detectable[0, 0, 0] == pytest.approx(expected)


def test_a_detectable_loss_exceeds_the_tolerance():
    """A normal mean with the detectable loss is below minus the tolerance with probability .8."""
    z = np.random.default_rng(6).normal(0, 0.1, 50)
    found = meta.regressions(scores(z, [z + 0.3]), "old", tolerance=0.2)
    (loss, _), deviation = found.minimum_detectable[0, 0], z.std(ddof=1) / np.sqrt(50)
    assert NormalDist(-loss, deviation).cdf(-0.2) == pytest.approx(0.8)


def test_slices_of_other_topics_are_rejected():
    values = scores(np.sin(np.arange(6)))
    slices = {0: "a", 1: "a", "2.": "a", "3.": "a", 4: "b", 5: "b"}
    with pytest.raises(
        InputError, match=r"no scored topic is named '2\.', '3\.', and 2, 3 \(2 in total\) have no"
    ):
        meta.regressions(values, "old", slices=slices, test="t")
    assert meta.regressions(values, "old", slices=dict.fromkeys(range(4), "a"), test="t").slices == (
        "all",
        "a",
    )
    assert meta.regressions(values, "old", slices=dict.fromkeys(range(9), "a"), test="t").slices == (
        "all",
        "a",
    )


def test_replicates_that_cannot_tell_are_an_error():
    with pytest.raises(ParameterError, match="n_resamples=18 is too small: with 1 tests"):
        meta.regressions(scores(np.arange(9.0)), "old", n_resamples=18)
    meta.regressions(scores(np.arange(9.0)), "old", n_resamples=19, alpha=0.051)
    with pytest.raises(ParameterError, match="n_resamples=30 is too small: with 2 tests"):
        meta.regressions(scores(np.arange(9.0), [np.arange(9.0)]), "old", n_resamples=30)


def test_topics_too_few_for_any_significant_result_are_warned_of():
    z = -np.ones(5)
    with pytest.warns(CoverageWarning, match=r"2 comparisons .* worse on 5 topics \(p >= 0\.0625\)") as said:
        found = meta.regressions(scores(z, [z]), "old")
    assert (found.passed, found.smallest_p_corrected.tolist()) == (True, [[[1 / 16] * 2]])
    assert "not below alpha=0.05; use more topics or test='t'" in str(said[0].message)
    for options in ({"test": "t"}, {"alpha": 0.07}, {"correction": "none"}, {"correction": "bh"}):
        assert not meta.regressions(scores(z, [z]), "old", **options).passed


def test_a_test_without_replicates_is_not_said_to_have_too_few(monkeypatch):
    monkeypatch.setitem(TESTS, "t", replace(TESTS["t"], smallest_p=lambda topics, *_: 1 / topics))
    with pytest.warns(CoverageWarning, match=r"the t test with 1 comparison .* 9 topics \(p >= 0\.1"):
        meta.regressions(scores(-np.ones(9)), "old", test="t")


def test_a_slice_too_small_for_any_significant_result_is_warned_of():
    z, slices = -np.linspace(0.1, 0.2, 30), dict.fromkeys(range(3), "hard")
    with pytest.warns(CoverageWarning, match=r"worse on 3 topics of the slice 'hard' \(p >= 0\.125\): its"):
        found = meta.regressions(scores(z), "old", slices=slices)
    assert found.worse.reshape(-1).tolist() == [True, False]
    assert not meta.regressions(scores(z), "old", slices=slices, test="t").passed


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize(("topics", "n_resamples"), [(6, 10_000), (12, 600)])
def test_the_smallest_p_is_that_of_a_loss_on_every_topic(correction, topics, n_resamples):
    z = -np.linspace(0.1, 0.2, topics)
    found = meta.regressions(
        scores(z, [z, z]), "old", correction=correction, n_resamples=n_resamples, alpha=0.1, rng=1
    )
    assert found.smallest_p_corrected.tolist() == found.p_corrected.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha=0 must be a number between 0 and 1"),
        ({"tolerance": -0.1}, "tolerance=-0.1 must be a finite number >= 0"),
        ({"test": "sign"}, "test='sign' must be one of 'bootstrap', 't', 'randomisation'"),
        ({"correction": None}, "correction=None must be one of 'holm'"),
    ],
)
def test_wrong_options_are_errors(options, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        meta.regressions(scores(np.arange(9.0)), "old", **options)


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ({0: "a", 1: "b", 2: "b"}, "slices: 'a' has 1 of the scored topics"),
        ({"no topic": "a"}, "slices: no scored topic is named 'no topic', and 0, 1, 2 ..."),
        ({0: "all", 1: "all"}, "slices: a slice is named 'all'"),
    ],
)
def test_wrong_slices_are_errors(slices, message):
    with pytest.raises(InputError, match=f"^{message}"):
        meta.regressions(scores(np.arange(9.0)), "old", slices=slices)
