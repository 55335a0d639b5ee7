"""The reference for topic set size and power: worked values, independent sources and invariants."""

from __future__ import annotations

import csv
import math

import pytest
from collections_data import ROOT, needs_shared_data
from hypothesis import given, settings, strategies as st

from reference import sample_size as sizes

examples = settings(max_examples=40, deadline=None)

SCORES = [
    (0.9, 0.5, 0.3),
    (0.8, 0.4, 0.1),
    (0.4, 0.4, 0.1),
    (0.7, 0.2, 0.4),
    (0.6, 0.5, 0.2),
    (0.3, 0.2, 0.3),
]
V_E1, V_E2 = 0.029, 0.025888888888888889
DELTA = 0.1**2 / (2 * 0.05)


def smallest_t(d, alpha=0.05, power=0.8):
    """Count up from 9 below the approximation, where the power is still too small."""
    first = max(2, int(sizes.nagata_t(d, alpha, power)) - 9)
    assert first == 2 or sizes.power_paired_t(d, first, alpha) < power
    return sizes.smallest(lambda n: sizes.power_paired_t(d, n, alpha) >= power, first)


# ---------------------------------------------------------------------------------------------- worked values


@pytest.mark.parametrize(
    ("d", "alpha", "power", "n", "before", "there", "nagata"),
    [
        (0.5, 0.05, 0.8, 34, 0.7953658, 0.8077775, 33.316248),
        (0.2, 0.05, 0.8, 199, 0.7996984, 0.8016910, 198.142723),
        (0.5, 0.01, 0.9, 63, 0.8949432, 0.9007355, 62.834997),
    ],
)
def test_size_for_a_paired_t_test(d, alpha, power, n, before, there, nagata):
    assert smallest_t(d, alpha, power) == n
    assert sizes.power_paired_t(d, n - 1, alpha) == pytest.approx(before, abs=6e-8)
    assert sizes.power_paired_t(d, n, alpha) == pytest.approx(there, abs=6e-8)
    assert sizes.nagata_t(d, alpha, power) == pytest.approx(nagata, abs=6e-7)


@pytest.mark.parametrize(("alternative", "value"), [("two-sided", 0.547657039), ("greater", 0.672573983)])
def test_power_of_a_paired_t_test(alternative, value):
    found = sizes.power_paired_t(0.3, 50, alternative=alternative)
    assert found == pytest.approx(value, abs=6e-10)


@pytest.mark.parametrize(("d", "n", "value"), [(0.5, 64, 0.8014596), (0.2, 394, 0.8005931)])
def test_size_for_an_unpaired_t_test(d, n, value):
    assert sizes.smallest(lambda n: sizes.power_unpaired_t(d, n) >= 0.8, n - 9) == n
    assert sizes.power_unpaired_t(d, n) == pytest.approx(value, abs=6e-8)


@pytest.mark.parametrize(
    ("m", "n", "value", "start", "two_way"),
    [
        (2, 80, 0.802680512, 84.44, 81),
        (10, 158, 0.802020040, 156.12, 158),
        (100, 405, 0.800853940, 405.20, 405),
    ],
)
def test_size_for_an_f_test(m, n, value, start, two_way):
    assert sizes.smallest(lambda n: sizes.power_anova(DELTA, m, n) >= 0.8, n - 5) == n
    assert sizes.power_anova(DELTA, m, n) == pytest.approx(value, abs=6e-10)
    assert sizes.nagata_anova(DELTA, m) == pytest.approx(start, abs=6e-3)
    assert sizes.smallest(lambda n: sizes.power_anova(DELTA, m, n, model="two-way") >= 0.8, n - 5) == two_way


@pytest.mark.parametrize(
    ("m", "n", "value", "start"), [(10, 263, 0.901081, 260.78), (100, 622, 0.900101, 623.08)]
)
def test_size_for_a_stricter_f_test(m, n, value, start):
    assert sizes.smallest(lambda n: sizes.power_anova(DELTA, m, n, 0.01) >= 0.9, n - 5) == n
    assert sizes.power_anova(DELTA, m, n, 0.01) == pytest.approx(value, abs=6e-7)
    assert sizes.nagata_anova(DELTA, m, 0.01, 0.9) == pytest.approx(start, abs=6e-3)
    assert math.isnan(sizes.nagata_anova(DELTA, m, 0.02, 0.9))


@pytest.mark.parametrize(
    ("width", "n", "before", "there"),
    [
        (0.05, 617, 0.05002265, 0.04998197),
        (0.1, 156, 0.10019211, 0.09986641),
        (0.2, 41, 0.20097678, 0.19838394),
    ],
)
def test_size_for_an_interval(width, n, before, there):
    assert sizes.smallest(lambda n: sizes.expected_width(0.1, n) <= width, n - 9) == n
    assert sizes.expected_width(0.1, n - 1) == pytest.approx(before, abs=6e-9)
    assert sizes.expected_width(0.1, n) == pytest.approx(there, abs=6e-9)
    assert sizes.expected_width_by_integration(0.1, n) == pytest.approx(there, abs=6e-9)


@pytest.mark.parametrize(("n", "d"), [(50, 0.404183002), (30, 0.529235615)])
def test_detectable_effect_of_a_t_test(n, d):
    found = sizes.detectable(lambda effect: sizes.power_paired_t(effect, n), high=3)
    assert found == pytest.approx(d, abs=6e-10)


def test_detectable_difference_of_an_f_test():
    found = sizes.detectable(lambda delta: sizes.power_anova(delta, 20, 50), high=3)
    assert found == pytest.approx(0.417434848, abs=6e-10)
    assert sizes.difference_of(found, 0.05) == pytest.approx(0.204312224, abs=6e-10)


@pytest.mark.parametrize(
    ("v", "n", "before", "there", "detectable", "power", "of_interval"),
    [
        (V_E2, 43, 0.7941325, 0.8038268, 0.091970754, 0.861283499, 82),
        (V_E1, 48, 0.7958274, 0.8044388, 0.097340157, 0.820728481, 92),
    ],
)
def test_plan_from_a_small_matrix(v, n, before, there, detectable, power, of_interval):
    sigma = math.sqrt(2 * v)
    assert smallest_t(0.1 / sigma) == n
    assert sizes.power_paired_t(0.1 / sigma, n - 1) == pytest.approx(before, abs=6e-8)
    assert sizes.power_paired_t(0.1 / sigma, n) == pytest.approx(there, abs=6e-8)
    found = sigma * sizes.detectable(lambda d: sizes.power_paired_t(d, 50), high=3)
    assert found == pytest.approx(detectable, abs=6e-10)
    assert sizes.power_paired_t(0.1 / sigma, 50) == pytest.approx(power, abs=6e-10)
    assert sizes.smallest(lambda n: sizes.expected_width(2 * v, n) <= 0.1) == of_interval


def test_variance_of_a_small_matrix():
    assert sizes.one_way_variance(SCORES) == (pytest.approx(V_E1), 15)
    assert sizes.two_way_variance(SCORES) == (pytest.approx(V_E2), 10)


def test_effect_sizes_of_a_pair():
    z = [row[0] - row[1] for row in SCORES]
    assert math.sqrt(sizes.variance(z)) == pytest.approx(0.207364414, abs=6e-10)
    assert sizes.dz(z) == pytest.approx(1.205607055, abs=6e-10)
    assert sizes.dz(z) * math.sqrt(6) == pytest.approx(2.953122116, abs=6e-10)
    assert sizes.hedges_j(5) == pytest.approx(0.840748682, abs=6e-10)
    assert sizes.gz(z) == pytest.approx(1.013612543, abs=6e-10)
    assert sizes.interval_of_dz(z) == pytest.approx((0.095464, 2.255882), abs=6e-7)
    assert sizes.es(sizes.mean(z), V_E2) == pytest.approx(1.553757732, abs=6e-10)
    assert sizes.es(sizes.mean(z), V_E1) == pytest.approx(1.468050549, abs=6e-10)
    assert math.isnan(sizes.dz([0.1, 0.1]))


def web(name):
    with (ROOT / "urbano" / f"{name}.csv").open(encoding="utf-8") as lines:
        return [tuple(map(float, row)) for row in list(csv.reader(lines))[1:]]


@needs_shared_data
def test_plan_from_the_web_tracks():
    collections = [web(f"web{year}_ap") for year in (2010, 2011, 2013)]
    one_way = [sizes.one_way_variance(x) for x in collections]
    two_way = [sizes.two_way_variance(x) for x in collections]
    assert [v for v, _ in one_way] == pytest.approx([0.00844327, 0.01591457, 0.00896605], abs=6e-9)
    assert [v for v, _ in two_way] == pytest.approx([0.00449079, 0.00981291, 0.00545590], abs=6e-9)
    assert [phi for _, phi in two_way] == [4089, 2989, 1617]
    expected = [
        (two_way, 0.00649981, [258, 43, 13], 0.04608327),
        (one_way, 0.01110942, [438, 72, 20], 0.06024747),
    ]
    for variances, pooled, topics, detectable in expected:
        v = sizes.pooled_variance(variances)
        sigma = math.sqrt(2 * v)
        assert v == pytest.approx(pooled, abs=6e-9)
        assert [smallest_t(difference / sigma) for difference in (0.02, 0.05, 0.1)] == topics
        found = sigma * sizes.detectable(lambda d: sizes.power_paired_t(d, 50), high=3)
        assert found == pytest.approx(detectable, abs=6e-9)
    assert sizes.two_way_variance(web("web2013_ndcg20"))[0] == pytest.approx(0.01732504, abs=6e-9)
    assert sizes.two_way_variance(web("web2013_rr"))[0] == pytest.approx(0.10395970, abs=6e-9)


# ------------------------------------------------------------------------------------------------- properties


@examples
@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=2, max_size=9))
def test_variance_of_differences_is_twice_the_two_way_variance(rows):
    assert sizes.mean_variance_of_differences(rows) == pytest.approx(2 * sizes.two_way_variance(rows)[0])


@pytest.mark.parametrize("n", [2, 3, 10, 400])
def test_power_without_a_difference_is_alpha(n):
    for alternative in ("two-sided", "greater"):
        assert sizes.power_paired_t(0, n, 0.05, alternative) == pytest.approx(0.05, abs=1e-9)
    assert sizes.power_anova(1e-300, 5, n, 0.05) == pytest.approx(0.05, abs=1e-9)


def test_power_rises_with_topics_difference_and_alpha():
    powers = {
        "t": sizes.power_paired_t,
        "unpaired": sizes.power_unpaired_t,
        "anova": lambda effect, n, alpha: sizes.power_anova(effect, 5, n, alpha),
    }
    for power in powers.values():
        for values in (
            [power(0.4, n, 0.05) for n in (3, 9, 30, 90)],
            [power(effect, 20, 0.05) for effect in (0.1, 0.3, 0.5, 0.9)],
            [power(0.4, 20, alpha) for alpha in (0.001, 0.01, 0.05, 0.2)],
        ):
            assert values == sorted(values)
            assert len(set(values)) == 4
    assert sizes.expected_width(1, 20) > sizes.expected_width(1, 21)


@pytest.mark.parametrize("d", [0.15, 0.3, 0.61, 1.2])
def test_size_and_detectable_effect_are_inverse(d):
    n = smallest_t(d)
    assert sizes.detectable(lambda effect: sizes.power_paired_t(effect, n), high=9) <= d
    assert sizes.detectable(lambda effect: sizes.power_paired_t(effect, n - 1), high=9) > d
    assert abs(sizes.nagata_t(d) - n) < 2


# ---------------------------------------------------------------------------------------- independent sources


@pytest.mark.parametrize("f", [1, 2, 7, 49, 3000])
def test_distributions_equal_scipy(f):
    stats = pytest.importorskip("scipy.stats")
    for p in (0.6, 0.95, 0.999):
        assert sizes.t_quantile(p, f) == pytest.approx(stats.t.ppf(p, f), rel=1e-11)
        assert sizes.f_quantile(p, 3, f) == pytest.approx(stats.f.ppf(p, 3, f), rel=1e-10)
    for w, nc in ((2, 0.5), (2, 3), (1.7, -2), (5, 4)):
        assert sizes.noncentral_t_tail(w, f, nc) == pytest.approx(stats.nct.sf(w, f, nc), abs=1e-10)
        assert sizes.noncentral_f_tail(w, 4, f, abs(nc)) == pytest.approx(
            stats.ncf.sf(w, 4, f, abs(nc)), abs=1e-10
        )
    z = [0.1, 0.4, -0.2, 0.3, 0.25]
    assert sizes.paired_t_p_value(z) == pytest.approx(stats.ttest_1samp(z, 0).pvalue, rel=1e-12)


def test_power_equals_statsmodels():
    power = pytest.importorskip("statsmodels.stats.power")
    one, two, anova = power.TTestPower(), power.TTestIndPower(), power.FTestAnovaPower()
    solved = {(0.5, 0.05, 0.8): 33.367131, (0.2, 0.05, 0.8): 198.150824, (0.5, 0.01, 0.9): 62.870238}
    for (d, alpha, target), n in solved.items():
        assert one.solve_power(d, None, alpha, target) == pytest.approx(n, abs=1e-5)
        assert math.ceil(n) == smallest_t(d, alpha, target)
    for n in (10, 50, 200):
        for d in (0.1, 0.3):  # further out, SciPy's tail away from the difference may be NaN
            assert sizes.power_paired_t(d, n) == pytest.approx(one.power(d, n, 0.05), abs=1e-8)
            greater = one.power(d, n, 0.05, alternative="larger")
            assert sizes.power_paired_t(d, n, alternative="greater") == pytest.approx(greater, abs=1e-8)
            assert sizes.power_unpaired_t(d, n) == pytest.approx(two.power(d, n, 0.05), abs=1e-8)
    for m, n in ((2, 80), (10, 158), (100, 405)):
        # Versions before 0.15 differ in the fifth digit.
        theirs = anova.power(math.sqrt(DELTA / m), n * m, 0.05, m)
        assert sizes.power_anova(DELTA, m, n) == pytest.approx(theirs, abs=2e-5)
