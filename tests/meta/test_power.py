"""Discriminative power compared with plain references, scipy, invariants, error rates and real matrices."""

import math
import warnings
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data
from hypothesis import given, strategies as st
from reference import meta_power as plain

from ir_graded.errors import CoverageWarning
from ir_graded.meta import replicates
from ir_graded.meta.paired_tests import TESTS_OF_PAIRS as TESTS
from ir_graded.meta.replicates import permuted_rows, sign_flips, topic_counts
from ir_graded.meta.significance import discriminative_power, significance

OTHERS = [test for test in TESTS if test != "bootstrap"]
#: Tests that compare two systems without looking at the others.
OF_TWO = [test for test in TESTS if test != "tukey_hsd"]
B = 60


def continuous(topics, systems, seed=0):
    rng = np.random.default_rng(seed)
    hardness = rng.normal(0, 1, (topics, 1))
    return hardness + rng.normal(0, 0.5, (topics, systems)) + rng.normal(0, 0.3, systems)


def tied(topics, systems, seed=0):
    """Return scores like those of P@5: many equal differences, hard pairs with mean 0."""
    return np.random.default_rng(seed).integers(0, 6, (topics, systems)) / 5


def sparse(topics, systems, seed=0):
    """Return systems that agree on most topics, like near-identical runs."""
    rng = np.random.default_rng(seed)
    drawn = rng.random((topics, systems)) < 0.15
    return np.where(drawn, rng.choice([0.1, 0.37, 0.9], (topics, systems)), 0.3)


def shifted(topics, systems, seed=0):
    """Return systems that differ by a constant, up to rounding, and identical ones."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 1000, (topics, 1)) / 1000
    values = base + rng.choice([0, 0.1, 0.3], (1, systems))
    values[:, -1] = rng.random(topics)
    return np.round(values, 12)


MATRICES = {
    "continuous": continuous(12, 6),
    "two topics": tied(2, 6, 1),
    "three topics": tied(3, 6, 2),
    "few topics": tied(5, 7),
    "tied": tied(15, 6, 4),
    "sparse": sparse(10, 6, 5),
    "sparser": sparse(25, 5, 6),
    "shifted": shifted(9, 6, 7),
}


def pairs_of(values):
    return list(combinations(range(values.shape[1]), 2))


def counts_of(values, seed=3, many=B):
    return topic_counts(np.random.default_rng(seed), len(values), many)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("alpha", [1 / B, 0.05, 0.3])
def test_bootstrap_equals_the_plain_loops(name, alpha):
    values = MATRICES[name]
    result = discriminative_power(values, alpha=alpha, n_resamples=B, rng=3)
    numbers, counts = plain.exact(values), counts_of(values)
    asl, required = [], []
    for pair in pairs_of(values):
        z = plain.differences(numbers, *pair)
        found = plain.replicates(z, counts)
        asl.append(plain.two_sided_asl(z, counts, found))
        required.append(plain.required_difference(found, alpha))
    assert result.asl.tolist() == asl
    scale = np.abs(values).max()
    assert result.required_differences.to_numpy() / scale == pytest.approx(
        np.array(required) / scale, rel=1e-9, abs=1e-12
    )
    assert result.required_difference == result.required_differences.max()
    assert result.power == np.mean(np.array(asl) < alpha)


@pytest.mark.parametrize("name", MATRICES)
def test_randomisation_equals_the_plain_loops(name):
    values = MATRICES[name]
    numbers = plain.exact(values)
    signs = sign_flips(np.random.default_rng(3), len(values), B)
    result = discriminative_power(values, test="randomisation", n_resamples=B, rng=3)
    expected = [plain.randomisation_asl(plain.differences(numbers, *p), signs) for p in pairs_of(values)]
    assert result.asl.tolist() == expected


@pytest.mark.parametrize("name", MATRICES)
def test_tukey_hsd_equals_the_plain_loops(name):
    values = MATRICES[name]
    numbers, rng = plain.exact(values), np.random.default_rng(3)
    largest = plain.largest_differences(plain.exact(permuted_rows(rng, values)) for _ in range(B))
    result = discriminative_power(values, test="tukey_hsd", n_resamples=B, rng=3)
    assert result.asl.tolist() == [plain.tukey_asl(numbers, *pair, largest) for pair in pairs_of(values)]


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("test", OTHERS)
def test_required_difference_of_the_other_tests_equals_the_plain_loops(name, test):
    values = MATRICES[name]
    numbers = plain.exact(values)
    result = discriminative_power(values, test=test, n_resamples=200, alpha=0.2)
    sizes = [abs(sum(plain.differences(numbers, *pair))) / len(values) for pair in pairs_of(values)]
    expected = plain.smallest_sure_difference(sizes, (result.asl < 0.2).tolist())
    if expected is None:
        assert math.isnan(result.required_difference)
    else:
        assert result.required_difference == pytest.approx(float(expected), rel=1e-9)
    assert result.required_differences is None


@pytest.mark.parametrize("test", OTHERS)
def test_a_pair_whose_asl_is_alpha_is_not_significant(test):
    values = MATRICES["continuous"]
    asl = discriminative_power(values, test=test, n_resamples=200).asl
    sizes = [abs(sum(plain.differences(plain.exact(values), *pair))) / 12 for pair in pairs_of(values)]
    matters = 0
    for alpha in sorted(set(asl[(asl > 0) & (asl < 1)])):
        result = discriminative_power(values, test=test, n_resamples=200, alpha=float(alpha))
        expected = plain.smallest_sure_difference(sizes, (asl < alpha).tolist())
        matters += expected != plain.smallest_sure_difference(sizes, (asl <= alpha).tolist())
        assert result.power == (asl < alpha).mean()
        if expected is None:
            assert math.isnan(result.required_difference)
        else:
            assert result.required_difference == pytest.approx(float(expected), rel=1e-9)
    assert matters


@pytest.mark.parametrize("exponent", [-500, -1, 400])
@pytest.mark.parametrize("test", TESTS)
def test_scale_of_scores_changes_nothing(test, exponent):
    values = MATRICES["tied"]
    found = discriminative_power(values, test=test, n_resamples=B)
    scaled = discriminative_power(np.ldexp(values, exponent), test=test, n_resamples=B)
    assert scaled.asl.tolist() == found.asl.tolist()
    assert math.ldexp(scaled.required_difference, -exponent) == pytest.approx(
        found.required_difference, nan_ok=True
    )


@pytest.mark.parametrize("name", ["continuous", "tied", "few topics"])
def test_t_equals_scipy(name):
    from scipy.stats import ttest_rel

    values = MATRICES[name]
    result = discriminative_power(values, test="t")
    for (first, second), asl in zip(pairs_of(values), result.asl, strict=True):
        assert asl == pytest.approx(ttest_rel(values[:, first], values[:, second]).pvalue, rel=1e-9)


def test_a_single_differing_topic_has_the_exact_asl():
    """Replicates without that topic have variance 0; a computed variance of 1e-17 would give .27 here."""
    values = np.full((50, 2), 0.43)
    values[17, 0] += 0.37
    counts = counts_of(values, 0, 1000)
    z = plain.differences(plain.exact(np.round(values, 12)), 0, 1)
    result = discriminative_power(values, n_resamples=1000)
    assert result.asl.tolist() == [plain.two_sided_asl(z, counts)]
    assert result.asl.iloc[0] > 0.4


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_asl_1(test):
    score = np.random.default_rng(0).random(20)
    values = np.column_stack([score, score, score + 0.1 - 0.1])
    result = discriminative_power(values, test=test, n_resamples=50)
    assert result.asl.tolist() == [1, 1, 1]
    assert result.power == 0
    if test == "bootstrap":
        assert result.required_difference == 0
    else:
        assert math.isnan(result.required_difference)


@pytest.mark.parametrize("shift", [0.1, -0.25, 1 / 3])
@pytest.mark.parametrize("test", ["bootstrap", "t"])
def test_constant_differences_have_the_smallest_asl(test, shift):
    score = np.random.default_rng(0).random(20)
    result = discriminative_power(np.column_stack([score, score + shift]), test=test)
    assert result.asl.tolist() == [0]
    assert result.power == 1


def test_mean_zero_up_to_rounding_is_never_significant():
    values = np.array([[0.1, 0.0], [0.2, 0.0], [0.0, 0.3]])
    assert discriminative_power(values).asl.tolist() == [1]


ALL = pytest.mark.parametrize(
    "method",
    [
        *(partial(discriminative_power, test=test) for test in TESTS),
        *(partial(significance, alternative=alternative) for alternative in ("greater", "two-sided")),
    ],
    ids=[*TESTS, "greater", "two-sided"],
)


@ALL
def test_no_warnings_and_no_nan(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in [*MATRICES.values(), np.zeros((4, 3)), np.full((2, 2), 7.0)]:
            table = method(values, n_resamples=20).to_frame()
            assert table["asl"].between(0, 1).all()
            assert np.isfinite(table["difference"]).all()


@pytest.mark.parametrize("name", MATRICES)
@ALL
def test_memory_and_threads_change_nothing(monkeypatch, name, method):
    values = np.tile(MATRICES[name], (1, 3)) + np.repeat([0.0, 0.1, 0.2], MATRICES[name].shape[1])
    found = method(values, n_resamples=B)
    for memory, threads, most in ((1e-9, 1, 96), (64, 3, 7), (64, 5, 10_000)):
        monkeypatch.setattr(replicates, "_MOST_THREADS", threads)
        monkeypatch.setattr(replicates, "processors", lambda threads=threads: threads)
        monkeypatch.setattr(replicates, "_PAIRS_A_BLOCK", most)
        other = method(values, n_resamples=B, memory_mib=memory)
        pd.testing.assert_frame_equal(found.to_frame(), other.to_frame(), check_exact=True)
        if getattr(found, "required_differences", None) is not None:
            pd.testing.assert_series_equal(
                found.required_differences, other.required_differences, check_exact=True
            )


def squares_of(values, counts):
    """Return t**2 of all replicates of the only pair, as computed by the package."""
    scores = replicates.PairedScores.of(values)
    pairs, space = replicates.Pairs.of(2), replicates.Workspace.of(1, counts.shape[1])
    sums = replicates.WeightedSums.of(scores.values, counts - 1).differences(pairs, space)
    found = replicates.replicate_statistics(replicates.PairBlock.of(scores, pairs), counts, sums, space)
    return (len(values) - 1) * found[0]


@pytest.mark.parametrize(
    "z",
    [
        [0.5, 0.5000001, 0.0],
        [0.9, 0.90000002, 0.90000005, 0.1],
        [0.25, 0.2500003, 0.25, 0.0, 0.0000001],
        [0.1, 0.2, 0.3],
        [0.3, 0.6, 0.9, 0.6],
        [0.1, 0.4, 0.7, 0.7, 0.1],
    ],
)
def test_replicates_with_tiny_variance_keep_their_digits(z):
    values = np.column_stack([z, np.zeros(len(z))])
    counts = topic_counts(np.random.default_rng(1), len(z), 400)
    exact = plain.replicates(plain.differences(plain.exact(values), 0, 1), counts)
    expected = [float(abs(square)) for square, _ in exact]
    assert max(expected) > 100
    assert squares_of(values, counts).tolist() == pytest.approx(expected, rel=1e-7, abs=1e-20)


@pytest.mark.parametrize("mean", [0.0, 0.05, 0.1])
def test_replicates_of_equal_values_at_the_mean_have_no_difference(mean):
    """Most topics differ by the mean, so many replicates draw nothing else; the statistic is small."""
    z = np.array([mean] * 4 + [mean + 0.8, mean - 0.8])
    values = np.round(np.stack([0.5 + z / 2, 0.5 - z / 2], axis=1), 12)
    counts = counts_of(values)
    assert sum(not replicate[4:].any() for replicate in counts.T) > B / 50
    exact = plain.differences(plain.exact(values), 0, 1)
    result = discriminative_power(values, n_resamples=B, rng=3)
    assert result.asl.tolist() == [plain.two_sided_asl(exact, counts)]


@pytest.mark.slow
def test_replicates_of_one_topic_at_the_mean_have_no_difference():
    """Here most topics have another value."""
    z = np.array([0.1, 0.3, 0.3, -0.3])
    values = np.round(np.stack([0.5 + z / 2, 0.5 - z / 2], axis=1), 12)
    counts = counts_of(values, many=3000)
    assert (counts[0] == len(z)).sum() > 3
    exact = plain.differences(plain.exact(values), 0, 1)
    result = discriminative_power(values, n_resamples=3000, rng=3)
    assert result.asl.tolist() == [plain.two_sided_asl(exact, counts)]


def test_sums_of_nearly_equal_systems_keep_their_digits():
    rng = np.random.default_rng(0)
    score = rng.random(200) / 2 + 0.5
    values = np.column_stack([score, score + rng.integers(-5, 6, 200) * 2.0**-51])
    counts = topic_counts(rng, 200, 50)
    pairs, space = replicates.Pairs.of(2), replicates.Workspace.of(1, 50)
    found = replicates.WeightedSums.of(values.T, counts).differences(pairs, space)[0]
    expected = (values[:, 0] - values[:, 1]) @ counts
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-9, abs=1e-22)
    assert len(set(found)) > 10


decimals = st.integers(0, 20).map(lambda whole: whole / 20)


@st.composite
def matrices(draw):
    topics, systems = draw(st.integers(2, 7)), draw(st.integers(2, 4))
    return np.array(draw(st.lists(decimals, min_size=topics * systems, max_size=topics * systems))).reshape(
        topics, systems
    )


@pytest.mark.slow
@given(values=matrices(), seed=st.integers(0, 99))
def test_any_small_matrix_equals_the_plain_loops(values, seed):
    numbers, counts = plain.exact(values), counts_of(values, seed, 30)
    found = discriminative_power(values, n_resamples=30, rng=seed, alpha=0.2)
    zs = [plain.differences(numbers, *pair) for pair in pairs_of(values)]
    assert found.asl.tolist() == [plain.two_sided_asl(z, counts) for z in zs]
    assert found.required_differences.tolist() == pytest.approx(
        [plain.required_difference(plain.replicates(z, counts), 0.2) for z in zs], abs=1e-12
    )


SETS = 600


def within_binomial_limits(rate, sets):
    return abs(rate - 0.05) < 3.5 * math.sqrt(0.05 * 0.95 / sets)


@pytest.mark.slow
@pytest.mark.parametrize("test", OF_TWO)
def test_rejections_when_systems_do_not_differ(test):
    rng = np.random.default_rng(2026)
    rejected = [
        discriminative_power(rng.normal(size=(60, 2)), test=test, n_resamples=399, rng=rng).power
        for _ in range(SETS)
    ]
    assert within_binomial_limits(np.mean(rejected), SETS)


@pytest.mark.slow
def test_tukey_hsd_keeps_the_error_rate_of_a_whole_data_set():
    rng = np.random.default_rng(2026)
    any_rejected, any_by_t = [], []
    for _ in range(300):
        values = rng.normal(size=(50, 6))
        any_rejected.append(
            discriminative_power(values, test="tukey_hsd", n_resamples=199, rng=rng).power > 0
        )
        any_by_t.append(discriminative_power(values, test="t").power > 0)
    assert within_binomial_limits(np.mean(any_rejected), 300)
    assert np.mean(any_by_t) > 0.2


@needs_shared_data
@pytest.mark.parametrize(
    ("collection", "measure", "percent"),
    [
        ("web2010", "ap", 63.7), ("web2010", "ndcg20", 51.8), ("web2010", "err20", 48.1),
        ("web2010", "rr", 48.7), ("web2013", "ap", 68.1), ("web2013", "ndcg20", 37.8),
        ("web2013", "err20", 29.9), ("web2013", "rr", 23.9),
    ],
)  # fmt: skip
def test_powers_on_trec_web_match_the_documentation(collection, measure, percent):
    scores = pd.read_csv(ROOT / "urbano" / f"{collection}_{measure}.csv")
    assert 100 * discriminative_power(scores).power == pytest.approx(percent, abs=2)


def test_the_frame_has_one_row_for_each_pair_of_systems():
    frame = pd.DataFrame(MATRICES["continuous"], columns=list("abcdef"))
    result = discriminative_power(frame, alpha=0.2, n_resamples=B)
    rows = result.to_frame()
    assert list(rows)[:5] == ["run_a", "run_b", "difference", "asl", "significant"]
    assert list(rows)[5:] == ["dz", "minimum_detectable"]
    assert rows[["run_a", "run_b"]].to_numpy().tolist() == [list(two) for two in combinations("abcdef", 2)]
    assert rows["difference"].iloc[1] == pytest.approx(frame["a"].mean() - frame["c"].mean())
    assert rows["significant"].mean() == result.power
    assert 0 < result.power < 1
    assert result.asl["a", "c"] == rows["asl"].iloc[1]
    assert result.curve.tolist() == sorted(rows["asl"], reverse=True)


@pytest.mark.parametrize("test", ["bootstrap", "tukey_hsd"])
def test_alpha_below_one_replicate_causes_a_warning(test):
    values = MATRICES["continuous"]
    expected = discriminative_power(values, test=test, n_resamples=B, alpha=1 / B)
    with pytest.warns(CoverageWarning, match=rf"^n_resamples={B} is too small for alpha=0\.01: ") as caught:
        found = discriminative_power(values, test=test, n_resamples=B, alpha=0.01)
    assert [one.filename for one in caught] == [__file__]
    assert found.asl.equals(expected.asl)
    for exact in ("t", "randomisation"):  # their ASL is never 0 for lack of replicates
        discriminative_power(values, test=exact, n_resamples=B, alpha=0.01)
