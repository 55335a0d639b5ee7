"""Topic set size, power, detectable differences and effect sizes: worked values and a plain reference."""

import math
from itertools import product
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from reference import sample_size as plain
from scipy import stats

from ir_graded import meta
from ir_graded.errors import InputError, ParameterError
from ir_graded.meta.sample_size import noncentralities, power_of_f, power_of_t

SCORES = np.array(
    [(0.9, 0.5, 0.3), (0.8, 0.4, 0.1), (0.4, 0.4, 0.1), (0.7, 0.2, 0.4), (0.6, 0.5, 0.2), (0.3, 0.2, 0.3)]
)
WEB = Path(__file__).parents[2] / "notebooks/data/urbano"


def web(year, measure):
    return pd.read_csv(WEB / f"web{year}_{measure}.csv")


@pytest.mark.parametrize(
    ("difference", "options", "topics", "below", "value", "approximation"),
    [
        (0.5, {"variance": 0.5}, 34, 0.7953658, 0.8077775, 33.316248),
        (0.2, {"variance": 0.5}, 199, 0.7996984, 0.8016910, 198.142723),
        (0.5, {"variance": 0.5, "alpha": 0.01, "power": 0.9}, 63, 0.8949432, 0.9007355, 62.834997),
        (0.5, {"variance": 1, "paired": False}, 64, None, 0.8014596, math.nan),
        (0.2, {"variance": 1, "paired": False}, 394, None, 0.8005931, math.nan),
        (0.1, {"test": "anova", "n_runs": 2, "model": "one-way"}, 80, None, 0.802680512, 84.44),
        (0.1, {"test": "anova", "n_runs": 10, "model": "one-way"}, 158, None, 0.802020040, 156.12),
        (0.1, {"test": "anova", "n_runs": 100, "model": "one-way"}, 405, None, 0.800853940, 405.20),
        (0.1, {"test": "anova", "n_runs": 2}, 81, None, None, 84.44),
        (0.1, {"test": "anova", "n_runs": 10}, 158, None, None, 156.12),
        (0.1, {"test": "anova", "n_runs": 100}, 405, None, None, 405.20),
        (0.05, {"test": "interval"}, 617, 0.05002265, 0.04998197, math.nan),
        (0.1, {"test": "interval"}, 156, 0.10019211, 0.09986641, math.nan),
        (0.2, {"test": "interval"}, 41, 0.20097678, 0.19838394, math.nan),
    ],
)
def test_worked_sizes_match(difference, options, topics, below, value, approximation):
    found = meta.topic_set_size(None, difference, **{"variance": 0.05} | options)
    assert found.n_topics == topics
    assert below is None or found.value_below == pytest.approx(below, abs=6e-8)
    assert value is None or found.value == pytest.approx(value, abs=6e-8)
    assert found.approximation == pytest.approx(approximation, abs=6e-3, nan_ok=True)


@pytest.mark.parametrize(("systems", "topics", "start"), [(10, 263, 260.78), (100, 622, 623.08)])
def test_worked_sizes_of_strict_anovas_match(systems, topics, start):
    options = {"test": "anova", "model": "one-way", "n_runs": systems, "alpha": 0.01, "power": 0.9}
    found = meta.topic_set_size(None, 0.1, variance=0.05, **options)
    assert (found.n_topics, round(found.approximation, 2)) == (topics, start)


def test_worked_power_and_detectable_differences_match():
    assert meta.power(None, 0.3, 50, variance=0.5) == pytest.approx(0.547657039, abs=1e-9)
    one_tailed = meta.power(None, 0.3, 50, variance=0.5, alternative="greater")
    assert one_tailed == pytest.approx(0.672573983, abs=1e-9)
    least = meta.minimum_detectable_difference
    assert least(None, 50, variance=0.5) == pytest.approx(0.404183002, abs=1e-9)
    assert least(None, 30, variance=0.5) == pytest.approx(0.529235615, abs=1e-9)
    found = least(None, 50, variance=0.05, test="anova", model="one-way", n_runs=20)
    assert found == pytest.approx(0.204312224, abs=1e-9)
    assert found**2 / 0.1 == pytest.approx(0.417434848, abs=1e-9)


@pytest.mark.parametrize(
    ("model", "variance", "sizes", "powers", "detectable", "power"),
    [
        ("two-way", 0.025888889, (43, 82), (0.7941325, 0.8038268), 0.091970754, 0.861283499),
        ("one-way", 0.029, (48, 92), (0.7958274, 0.8044388), 0.097340157, 0.820728481),
    ],
)
def test_worked_matrix_matches(model, variance, sizes, powers, detectable, power):
    (topics, narrow), (below, value) = sizes, powers
    assert meta.score_variance(SCORES, model=model).variance == pytest.approx(variance, abs=6e-10)
    found = meta.topic_set_size(SCORES, 0.1, model=model)
    assert (found.n_topics, found.present) == (topics, 6)
    assert (found.value_below, found.value) == pytest.approx((below, value), abs=6e-8)
    least = meta.minimum_detectable_difference(SCORES, 50, model=model)
    assert least == pytest.approx(detectable, abs=6e-10)
    assert meta.power(SCORES, 0.1, 50, model=model) == pytest.approx(power, abs=1e-9)
    assert meta.topic_set_size(SCORES, 0.1, test="interval", model=model).n_topics == narrow


def test_variances_of_the_web_tracks_and_their_sizes_match():
    collections = [web(year, "ap") for year in (2010, 2011, 2013)]
    one, two = (meta.score_variance(collections, model=model) for model in ("one-way", "two-way"))
    assert one.variances == pytest.approx((0.00844327, 0.01591457, 0.00896605), abs=6e-9)
    assert two.variances == pytest.approx((0.00449079, 0.00981291, 0.00545590), abs=6e-9)
    assert (one.variance, two.variance) == pytest.approx((0.01110942, 0.00649981), abs=6e-9)
    assert two.phi == (4089, 2989, 1617)
    assert two.to_frame().loc["pooled"].tolist() == [two.variance, 8695, 148]
    for model, topics in (("two-way", [258, 43, 13]), ("one-way", [438, 72, 20])):
        sizes = [meta.topic_set_size(collections, d, model=model).n_topics for d in (0.02, 0.05, 0.1)]
        assert sizes == topics
    least = [meta.minimum_detectable_difference(collections, 50, model=m) for m in ("two-way", "one-way")]
    assert least == pytest.approx([0.04608327, 0.06024747], abs=6e-9)
    assert meta.score_variance(web(2013, "ndcg20")).variance == pytest.approx(0.01732504, abs=6e-9)
    assert meta.score_variance(web(2013, "rr")).variance == pytest.approx(0.10395970, abs=6e-9)


def test_twice_the_two_way_variance_equals_the_mean_variance_of_differences():
    for seed in range(5):
        scores = np.random.default_rng(seed).random((9, 5))
        expected = plain.mean_variance_of_differences(scores.tolist())
        assert 2 * meta.score_variance(scores).variance == pytest.approx(expected, rel=1e-12)
        assert meta.score_variance(scores).variance == pytest.approx(
            plain.two_way_variance(scores.tolist())[0]
        )
        found = meta.score_variance(scores, model="one-way")
        assert (found.variance, found.degrees) == pytest.approx(plain.one_way_variance(scores.tolist()))


@pytest.mark.parametrize(
    ("topics", "d", "alternative"), [*product((2, 7, 50), (0.05, 0.4, 2.0), ("two-sided", "greater"))]
)
def test_power_equals_the_plain_integrals(topics, d, alternative):
    options = {"variance": 0.5, "alternative": alternative}
    expected = plain.power_paired_t(d, topics, alternative=alternative)
    assert meta.power(None, d, topics, **options) == pytest.approx(expected, abs=1e-8)
    expected = plain.power_unpaired_t(d / math.sqrt(0.5), topics, alternative=alternative)
    assert meta.power(None, d, topics, paired=False, **options) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("systems", "topics", "model"), [*product((2, 5, 20), (4, 30), ("one-way", "two-way"))]
)
def test_power_of_anovas_equals_the_plain_mixture(systems, topics, model):
    found = meta.power(None, 0.2, topics, variance=0.1, test="anova", n_runs=systems, model=model)
    expected = plain.power_anova(0.2**2 / 0.2, systems, topics, model=model)
    assert found == pytest.approx(expected, abs=1e-8)


def test_power_rises_from_alpha_to_1():
    assert [meta.power(None, d, 30, variance=0.5) for d in (0, 50)] == pytest.approx([0.05, 1])
    assert meta.power(None, 0, 30, variance=0.5, test="anova", n_runs=4) == 0.05


@pytest.mark.parametrize("degrees", [1, 999_999, 9_999_999])
def test_power_is_neither_nan_nor_below_alpha_if_scipy_fails(degrees):
    for noncentrality in (0.0, 1e-12, 1.0, 10.0, 60.0):
        for sided in (True, False):
            assert 0.05 <= power_of_t(noncentrality, degrees, 0.05, two_sided=sided) <= 1
        assert 0.05 <= power_of_f(noncentrality, 3, degrees, 0.05) <= 1
    assert power_of_t(10.0, 999_999, 0.05, two_sided=True) == pytest.approx(1)


@pytest.mark.parametrize(
    "options", [{}, {"paired": False}, {"test": "anova", "n_runs": 7}, {"alternative": "greater"}]
)
def test_size_and_detectable_difference_are_inverse(options):
    for topics in (5, 30, 200):
        least = meta.minimum_detectable_difference(None, topics, variance=0.03, **options)
        assert meta.power(None, least, topics, variance=0.03, **options) == pytest.approx(0.8, abs=1e-9)
        sizes = [
            meta.topic_set_size(None, least * factor, variance=0.03, **options).n_topics
            for factor in (1 + 1e-7, 1 - 1e-7)
        ]
        assert sizes == [topics, topics + 1]


def test_approximation_of_a_t_test_is_within_two_topics():
    for d, (alpha, power) in product((0.1, 0.3, 0.7), ((0.05, 0.8), (0.01, 0.9), (0.1, 0.5))):
        found = meta.topic_set_size(None, d, variance=0.5, alpha=alpha, power=power)
        assert abs(found.n_topics - found.approximation) < 2


@pytest.mark.parametrize("alpha", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("options", [{}, {"paired": False}, {"alternative": "greater"}])
def test_few_topics_at_a_tiny_alpha_need_a_huge_difference(alpha, options):
    for topics in (2, 3):
        found = meta.minimum_detectable_difference(None, topics, variance=0.5, alpha=alpha, **options)
        assert meta.power(None, found, topics, variance=0.5, alpha=alpha, **options) == pytest.approx(0.8)
        degrees = topics - 1 if options.get("paired", True) else 2 * topics - 2
        critical = stats.t.isf(alpha if "alternative" in options else alpha / 2, degrees)
        # Here the numerator of the noncentral t is almost the noncentrality.
        numerator = critical * math.sqrt(stats.chi2.ppf(0.8, degrees) / degrees)
        assert found * math.sqrt(topics) == pytest.approx(numerator, rel=0.01)


def test_anova_of_few_topics_at_a_small_alpha_does_not_warn():
    found = meta.minimum_detectable_difference(None, 2, variance=0.5, alpha=1e-9, test="anova", n_runs=2)
    power = meta.power(None, found, 2, variance=0.5, alpha=1e-9, test="anova", n_runs=2)
    assert power == pytest.approx(0.8)


def test_curve_ends_at_the_largest_size():
    size = meta.topic_set_size(None, 0.0003, variance=0.02)
    differences, topics = size.curve()
    assert topics[0] == topics.max() == size.n_topics
    assert differences[0] == pytest.approx(0.0003)


def test_size_to_frame_has_one_row():
    row = meta.topic_set_size(SCORES, 0.1).to_frame().iloc[0]
    assert row[["n_topics", "difference", "present"]].tolist() == [43, 0.1, 6]
    assert math.isnan(meta.topic_set_size(None, 0.1, variance=1).to_frame()["present"].iloc[0])


ERRORS = [
    (
        lambda: meta.topic_set_size([[0.1, 0.2], [0.1, 0.2]], 0.1),
        InputError,
        "two-way variance of the scores is 0",
    ),
    (lambda: meta.topic_set_size([[0.1, 0.3], [0.2, 0.4]], 0.1), InputError, "variance of the scores is 0"),
    (lambda: meta.topic_set_size(SCORES[:1], 0.1), InputError, "at least 2 topics are needed, found 1"),
    (
        lambda: meta.topic_set_size([SCORES, SCORES[:, :1]], 0.1),
        InputError,
        "collection 2: at least 2 systems",
    ),
    (lambda: meta.topic_set_size("scores", 0.1), InputError, "expected a topics x systems matrix"),
    (lambda: meta.topic_set_size(SCORES, 0), ParameterError, "difference=0 must be a finite number > 0"),
    (lambda: meta.topic_set_size(SCORES, -0.1), ParameterError, "difference=-0.1 must be"),
    (
        lambda: meta.topic_set_size(SCORES, 0.1, power=0.05),
        ParameterError,
        "power=0.05 must be above alpha=0.05",
    ),
    (lambda: meta.topic_set_size(SCORES, 1e-6), ParameterError, "needs more than 10,000,000 topics"),
    (lambda: meta.topic_set_size(SCORES, 0.1, variance=1.0), ParameterError, "either scores or variance"),
    (lambda: meta.topic_set_size(None, 0.1), ParameterError, "either scores or variance"),
    (
        lambda: meta.topic_set_size(SCORES, 0.1, test="anova", paired=False),
        ParameterError,
        "are for test='t'",
    ),
    (lambda: meta.power(SCORES, 0.1, 1), ParameterError, "n_topics=1 must be"),
    (lambda: meta.power(SCORES, 0.1, alpha=1e-300), ParameterError, "alpha=1e-300 must be at least 1e-12"),
    (lambda: meta.power(SCORES, 0.1, 10**8), ParameterError, "a whole number from 2 to 10,000,000"),
    (lambda: meta.power(SCORES, 1e200), ParameterError, "difference=1e.200 must be a finite number > 0, up"),
    (lambda: meta.power(SCORES, -0.1), ParameterError, "difference=-0.1 must be"),
    (lambda: meta.power(SCORES, 0.1, test="interval"), ParameterError, "has no power"),
    (lambda: meta.power([SCORES, SCORES], 0.1), ParameterError, "n_topics is required"),
    (lambda: meta.effect_sizes(SCORES, "x"), ParameterError, "baseline='x' must be one of 0, 1, 2"),
]


def test_errors_say_what_is_wrong():
    for call, error, words in ERRORS:
        with pytest.raises(error, match=words):
            call()


def test_worked_effect_sizes_match():
    row = meta.effect_sizes(SCORES).to_frame().iloc[0]
    assert row[["run_a", "run_b"]].tolist() == [0, 1]
    expected = {"difference": 0.25, "dz": 1.205607055, "gz": 1.013612543, "es": 1.553757732}
    for name, value in (expected | {"es_one_way": 1.468050549}).items():
        assert row[name] == pytest.approx(value, abs=6e-10)
    assert row[["low", "high"]].tolist() == pytest.approx([0.095464, 2.255882], abs=6e-7)


@pytest.mark.parametrize(
    ("degrees", "t", "tail", "noncentrality"),
    [
        (1, 0.3, 0.025, -1.7497486251399687),
        (4, 2.953122116, 0.025, 0.096010464570068077),
        (4, 2.953122116, 0.975, 5.6545205944465017),
        (9, 60, 0.975, 87.293319199279654),
        (49, 2, 0.025, -0.0091574881829345451),
        (49, 200, 0.025, 160.4452703118406),
        (1, 200, 0.975, 448.28614899278654),
        (1999, 3.5, 0.995, 6.079336824466121),
    ],
)
def test_noncentralities_have_twelve_digits(degrees, t, tail, noncentrality):
    """Roots of the integral of Phi(t s - noncentrality) over s = chi / sqrt(degrees), by mpmath."""
    found = noncentralities(np.array([t, np.nan, 0.0]), degrees, tail)
    assert found[0] == pytest.approx(noncentrality, rel=1e-12, abs=1e-13)
    assert np.isnan(found[1])
    assert found[2] == pytest.approx(NormalDist().inv_cdf(tail), rel=1e-12)


@pytest.mark.slow
def test_effect_sizes_equal_the_plain_reference():
    scores = np.random.default_rng(2).random((12, 4))
    found = meta.effect_sizes(scores, 2, confidence=0.9).to_frame()
    assert found["run_b"].tolist() == [2, 2, 2]
    for _, row in found.iterrows():
        z = (scores[:, int(row["run_a"])] - scores[:, 2]).tolist()
        assert (row["dz"], row["gz"]) == pytest.approx((plain.dz(z), plain.gz(z)))
        assert (row["low"], row["high"]) == pytest.approx(plain.interval_of_dz(z, 0.9), abs=1e-6)
    for columns in ([0, 1], [2, 3]):
        straight = meta.effect_sizes(scores[:, columns])
        swapped = meta.effect_sizes(scores[:, columns[::-1]])
        assert (swapped.dz, swapped.low, swapped.high) == (-straight.dz, -straight.high, -straight.low)


def test_effect_of_constant_differences_is_nan():
    found = meta.effect_sizes([[0.1, 0.2, 0.9], [0.5, 0.6, 0.3], [0.3, 0.4, 0.2]]).to_frame()
    assert found[["dz", "gz", "low", "high"]].iloc[0].isna().all()
    assert found.iloc[1:].notna().all(axis=None)
    assert math.isnan(meta.effect_sizes([[0.1, 0.2], [0.1, 0.4]]).gz[0])


def test_results_of_tests_state_the_detectable_difference():
    frame = meta.discriminative_power(SCORES, test="t").to_frame()
    against = meta.differences({"Q": SCORES}, 1, correction="none").to_frame()
    z = (SCORES[:, 0] - SCORES[:, 1]).tolist()
    expected = plain.detectable(lambda d: plain.power_paired_t(d, 6)) * math.sqrt(plain.variance(z))
    for row in (frame.iloc[0], against.iloc[0]):
        assert row["dz"] == pytest.approx(plain.dz(z))
        assert row["minimum_detectable"] == pytest.approx(expected, rel=1e-8)
    same = meta.discriminative_power([[0.1, 0.1], [0.4, 0.4]], n_resamples=20).to_frame()
    assert same[["dz", "minimum_detectable"]].isna().all(axis=None)
