"""``meta.differences``: worked examples, brute force, other programs, options and limits."""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import quietly
from scipy import stats

from ir_graded import meta
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.meta.paired_tests import holm
from tests.reference import differences as reference

#: Section 6 of the specification.
SCORES = pd.DataFrame(
    {
        "b": [0.2, 0.4, 0.1, 0.5, 0.3, 0.6, 0.2, 0.4],
        "x": [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.6, 0.7],
        "y": [0.3, 0.4, 0.3, 0.4, 0.5, 0.7, 0.1, 0.6],
        "z": [0.2, 0.3, 0.1, 0.6, 0.1, 0.5, 0.2, 0.4],
    }
)
WEIGHTS = [8, 1, 1, 1, 4, 1, 2, 2]


def found(scores=SCORES, baseline="b", **options):
    """Return the result for one measure."""
    return meta.differences({"Q": scores}, baseline, **options)


quiet = partial(quietly, found)


def test_randomisation_of_the_worked_example_is_exact():
    result = found()
    assert result.exact
    np.testing.assert_allclose(result.p * 128, [2, 28, 64], rtol=1e-12)
    np.testing.assert_allclose(result.p_corrected * 128, [2, 38, 64], rtol=1e-12)
    np.testing.assert_allclose(result.difference, [0.2375, 0.075, -0.0375], rtol=1e-12)
    np.testing.assert_allclose(result.dz, [1.999604391253, 0.585142123204, -0.409332617182], rtol=1e-11)
    assert list(zip(result.wins, result.ties, result.losses, strict=True)) == [
        (7, 1, 0),
        (5, 1, 2),
        (1, 4, 3),
    ]


def test_as_many_replicates_as_patterns_of_signs_are_exact():
    assert [quiet(n_resamples=n).exact for n in (2**7 - 1, 2**7)] == [False, True]


def test_intervals_of_the_worked_example():
    result = found()
    np.testing.assert_allclose(
        [result.low, result.high, result.low_all, result.high_all],
        [
            [0.138202874151, -0.032156136323, -0.114089998561],
            [0.336797125849, 0.182156136323, 0.039089998561],
            [0.106165412035, -0.066729248370, -0.138801178834],
            [0.368834587965, 0.216729248370, 0.063801178834],
        ],
        atol=1e-12,
    )


def test_one_sided_tests_of_the_worked_example():
    result = found(alternative="greater")
    np.testing.assert_allclose(result.p * 256, [2, 28, 240], rtol=1e-12)
    np.testing.assert_allclose(result.p_corrected * 256, [2, 44, 240], rtol=1e-12)


@pytest.mark.parametrize(
    ("alternative", "name"),
    [("two-sided", "p_corrected"), ("less", "p_loss_corrected"), ("greater", "p_gain_corrected")],
)
def test_printed_p_values_are_named_by_the_side_that_was_tested(alternative, name):
    result = found(alternative=alternative)
    assert f" {name} " in str(result)
    assert f"<th>{name}</th>" in result._repr_html_()
    assert "p_corrected" in result.to_frame()


@pytest.mark.parametrize(
    ("test", "correction", "p", "corrected"),
    [
        ("randomisation", "holm", [2 / 128, 28 / 128, 0.5], [0.046875, 0.4375, 0.5]),
        ("randomisation", "bh", [2 / 128, 28 / 128, 0.5], [0.046875, 0.328125, 0.5]),
        ("randomisation", "bonferroni", [2 / 128, 28 / 128, 0.5], [0.046875, 0.65625, 1]),
        (
            "t",
            "holm",
            [0.000769876311, 0.141891602701, 0.284931380842],
            [0.002309628934, 0.283783205403, 0.284931380842],
        ),
        ("wilcoxon", "max-t", [0.015625, 0.21875, 0.5], [0.03125, 0.296875, 0.5]),
    ],
)
def test_other_tests_and_corrections_of_the_worked_example(test, correction, p, corrected):
    result = found(test=test, correction=correction)
    np.testing.assert_allclose(result.p, p, atol=1e-12)
    np.testing.assert_allclose(result.p_corrected, corrected, atol=1e-12)


def test_default_correction_is_that_of_the_test():
    assert [found(test=test).correction for test in ("randomisation", "wilcoxon", "t")] == [
        "max-t",
        "max-t",
        "holm",
    ]


def test_verdicts_of_the_worked_example_with_a_tolerance():
    result = found(alternative="less", tolerance=0.1)
    assert result.verdict == ("better", "not worse", "inconclusive")


def test_weights_of_the_worked_example():
    result = quiet(weights=dict(enumerate(WEIGHTS)))
    np.testing.assert_allclose(result.effective_topics, 4.347826086957, rtol=1e-12)
    np.testing.assert_allclose(result.mean, [0.515, 0.38, 0.235], rtol=1e-12)
    np.testing.assert_allclose(result.baseline_mean, 0.28, rtol=1e-12)
    np.testing.assert_allclose(result.se, [0.065254506241, 0.034834613424, 0.043160502168], atol=1e-12)
    np.testing.assert_allclose(result.low, [0.039019156099, -0.004619854306, -0.174625249277], atol=1e-12)
    np.testing.assert_allclose(result.high, [0.430980843901, 0.204619854306, 0.084625249277], atol=1e-12)
    np.testing.assert_allclose(result.p * 128, [2, 20, 64], rtol=1e-12)
    np.testing.assert_allclose(result.p_corrected * 128, [8, 20, 64], rtol=1e-12)
    student = quiet(weights=dict(enumerate(WEIGHTS)), test="t")
    np.testing.assert_allclose(student.p, [0.030657393505, 0.056162789928, 0.366482259525], atol=1e-12)


def test_weights_have_no_unit():
    one, other = (
        quiet(weights={topic: weight * unit for topic, weight in enumerate(WEIGHTS)}) for unit in (1, 1000)
    )
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


def test_topic_of_weight_zero_is_left_out():
    weights = dict.fromkeys(range(8), 1.0) | {3: 0.0}
    with_zero, without = quiet(weights=weights), quiet(SCORES.drop(index=3))
    pd.testing.assert_frame_equal(with_zero.to_frame(), without.to_frame())


def test_slices_may_name_topics_of_weight_zero():
    weights, slices = dict.fromkeys(range(8), 1.0) | {3: 0.0}, dict.fromkeys([0, 1, 2, 3], "early")
    found_slice = quiet(weights=weights, slices=slices)
    assert found_slice.topics.tolist() == [7, 7, 7, 3, 3, 3]
    with pytest.raises(InputError, match="1 topics of 'early' have a weight above 0"):
        quiet(weights=weights, slices={3: "early", 0: "early"})


def test_all_pairs_of_the_worked_example():
    result = found(baseline=None)
    of_pair = {
        frozenset(pair): p * 128
        for *pair, p in zip(result.run, result.baseline, result.p_corrected, strict=True)
    }
    expected = {"bx": 2, "by": 38, "bz": 64, "xy": 33, "xz": 1, "yz": 33}
    assert of_pair == {frozenset(pair): pytest.approx(p, rel=1e-12) for pair, p in expected.items()}
    # The run with the higher mean comes first.
    assert (result.difference > 0).all()


def test_a_pair_has_the_order_of_all_topics_on_each_slice():
    scores = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.9, 0.1, 0.2], "b": [0.1, 0.2, 0.3, 0.1, 0.4, 0.3]})
    result = quiet(scores, None, slices={4: "late", 5: "late"})
    assert result.run == ("a", "a")
    assert result.difference.tolist() == pytest.approx([2.2 / 6, -0.2])


def random_case(rng):
    """Return scores on a lattice with zeros and ties, and weights of the topics."""
    topics, runs = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    scores = rng.integers(0, rng.integers(2, 12), (topics, runs)) / 10
    weights = rng.integers(1, 5, topics).astype(float) if rng.random() < 0.5 else np.ones(topics)
    return scores, weights


def compare_with_brute_force(cases, seed):
    """Compare random cases with the reference; return how many corrected p-values differ from single ones."""
    rng, corrected = np.random.default_rng(seed), 0
    for _ in range(cases):
        scores, weights = random_case(rng)
        alternative = ["two-sided", "greater", "less"][rng.integers(3)]
        z = [
            [round(a - b, 12) for a, b in zip(row, scores[:, 0].tolist(), strict=True)]
            for row in scores[:, 1:].T.tolist()
        ]
        given = None if (weights == 1).all() else dict(enumerate(weights))
        result = quiet(scores, 0, alternative=alternative, weights=given)
        p = [reference.single_p(row, weights, alternative) for row in z]
        np.testing.assert_allclose(result.p, p, rtol=1e-12)
        p_max = reference.max_t(z, weights, alternative)
        np.testing.assert_allclose(result.p_corrected, p_max, rtol=1e-12)
        corrected += (result.p_corrected > result.p).sum()
        for correction, by_hand in (("holm", reference.holm), ("bh", reference.benjamini_hochberg)):
            other = quiet(scores, 0, alternative=alternative, weights=given, correction=correction)
            np.testing.assert_allclose(other.p_corrected, by_hand(p), rtol=1e-12)
        if given is None:
            ranks = [reference.signed_ranks(row) for row in z]
            other = quiet(scores, 0, alternative=alternative, test="wilcoxon")
            single = [reference.single_p(row, weights, alternative) for row in ranks]
            np.testing.assert_allclose(other.p, single, rtol=1e-12)
            np.testing.assert_allclose(
                other.p_corrected, reference.max_t(ranks, weights, alternative), rtol=1e-12
            )
        for row, mean, se, effective in zip(
            z, result.difference, result.se, result.effective_topics, strict=True
        ):
            np.testing.assert_allclose((mean, se, effective), reference.student(row, weights), atol=1e-12)
    return corrected


@pytest.mark.slow
def test_brute_force_over_all_sign_patterns_agrees():
    assert compare_with_brute_force(30, 1) > 10


@pytest.mark.release
def test_brute_force_agrees_on_600_cases():
    assert compare_with_brute_force(600, 2) > 200


def test_slices_equal_their_topics_alone():
    rng = np.random.default_rng(5)
    scores = pd.DataFrame(rng.random((14, 3)).round(2), columns=["b", "x", "y"])
    slices = {topic: "even" if topic % 2 == 0 else "odd" for topic in range(14)}
    together = found(scores, slices=slices).to_frame()
    for name in ("even", "odd"):
        part = [topic for topic in range(14) if slices[topic] == name]
        alone = found(scores.loc[part]).to_frame()
        of_slice = together[together["slice"] == name].reset_index(drop=True)
        columns = ["topics", "mean", "difference", "low", "high", "p", "wins", "dz", "dz_low"]
        pd.testing.assert_frame_equal(of_slice[columns], alone[columns], rtol=1e-12)
        # The family is larger.
        assert (of_slice["p_corrected"] >= alone["p_corrected"] - 1e-12).all()


def test_slices_of_a_frame_are_named_by_column():
    frame = pd.DataFrame({"type": ["who", "how"] * 4, "long": [True] * 4 + [False] * 4})
    names = [*dict.fromkeys(quiet(slices=frame).slice)]
    assert names == ["all", "type=who", "type=how", "long=True", "long=False"]


def test_weights_and_slices_are_read_from_files(tmp_path: Path):
    (tmp_path / "weights").write_text("".join(f"{topic} {weight}\n" for topic, weight in enumerate(WEIGHTS)))
    (tmp_path / "slices").write_text("".join(f"{topic}\tlong one\n" for topic in range(4)))
    result = quiet(weights=tmp_path / "weights", slices=tmp_path / "slices")
    assert result.effective_topics[0] == pytest.approx(4.347826086957)
    assert {*result.slice} == {"all", "long one"}


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "3", None, True])
def test_topic_with_a_wrong_weight_is_named(weight):
    with pytest.raises(InputError, match=r"and 5 \(1 in total\)"):
        found(weights=dict.fromkeys(range(8), 1.0) | {5: weight})


def test_topic_without_a_weight_is_named():
    with pytest.raises(InputError, match=r"and 0, 1, 2 \(8 in total\)"):
        found(weights={"other": 1.0})


def test_too_few_weighted_topics_are_rejected():
    with pytest.raises(InputError, match="1 topics have a weight above 0"):
        found(weights=dict.fromkeys(range(8), 0.0) | {5: 1.0})


def test_few_effective_topics_warn():
    with pytest.warns(CoverageWarning, match="effective number of topics is 4.3"):
        found(weights=dict(enumerate(WEIGHTS)))


def test_wilcoxon_rejects_weights():
    with pytest.raises(ParameterError, match="wilcoxon"):
        found(weights=dict(enumerate(WEIGHTS)), test="wilcoxon")


def test_max_t_needs_replicates():
    with pytest.raises(ParameterError, match="use 'holm'"):
        found(test="t", correction="max-t")


def test_student_equals_scipy():
    rng = np.random.default_rng(4)
    scores = rng.random((12, 4))
    for alternative in ("two-sided", "greater", "less"):
        result = found(scores, 0, test="t", alternative=alternative)
        expected = [
            stats.ttest_rel(scores[:, run], scores[:, 0], alternative=alternative).pvalue for run in (1, 2, 3)
        ]
        np.testing.assert_allclose(result.p, expected, rtol=1e-9)


def test_equal_sums_count_as_equal():
    # In floating point .3 - .1 + ... is not 0, and scipy's permutation test gives .96875.
    z = np.array([-0.3, 0.1, -0.2, 0.3, -0.2, -0.1, 0.2, 0, 0.2])
    assert found(np.stack([0 * z + 0.5, z + 0.5], axis=1), 0).p[0] == 1


def test_identical_runs_are_equivalent():
    result = found(SCORES.assign(same=SCORES["b"]))
    row = result.to_frame().set_index("run").loc["same"]
    assert (row["difference"], row["p"], row["low"], row["high"]) == (0, 1, 0, 0)
    assert row["verdict"] == "equivalent"
    assert np.isnan(row["dz"])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_of_the_t_test_without_a_difference_is_1(alternative):
    same = SCORES[["b"]].assign(same=SCORES["b"])
    assert found(same, test="t", alternative=alternative).p.tolist() == [1]


def test_constant_difference_has_the_smallest_p():
    constant = SCORES.assign(x=SCORES["b"] + 0.1)
    assert found(constant).p[0] == 2 / 256
    student = found(constant, test="t")
    assert (student.p[0], student.low[0] - student.high[0]) == (0, 0)
    assert np.isnan(student.dz[0])


def test_single_p_does_not_depend_on_other_runs():
    rng = np.random.default_rng(6)
    scores = pd.DataFrame(rng.random((30, 5)))
    alone = found(scores[[0, 3]], 0, n_resamples=2000)
    assert alone.p[0] == found(scores, 0, n_resamples=2000).p[2]


def test_blocks_of_replicates_do_not_change_p(monkeypatch):
    from ir_graded.meta import max_t

    rng = np.random.default_rng(7)
    scores = rng.random((70, 4))
    for test in ("randomisation", "bootstrap"):
        whole = found(scores, 0, n_resamples=999, test=test)
        monkeypatch.setattr(max_t, "_MOST_REPLICATES", 64)
        np.testing.assert_array_equal(
            found(scores, 0, n_resamples=999, test=test).p_corrected, whole.p_corrected
        )
        monkeypatch.undo()


def test_family_of_all_measures():
    rng = np.random.default_rng(8)
    scores = {name: rng.random((9, 3)) for name in ("Q", "AP")}
    of_measure = meta.differences(scores, 0)
    of_all = meta.differences(scores, 0, family="all")
    np.testing.assert_array_equal(of_measure.p, of_all.p)
    assert (of_measure.p_corrected <= of_all.p_corrected).all()
    assert of_measure.tests.tolist() == [2] * 4
    assert of_all.tests.tolist() == [4] * 4


def test_bootstrap_is_close_to_the_t_test_of_smooth_scores():
    rng = np.random.default_rng(9)
    scores = rng.normal(size=(40, 4)) + np.array([0, 0, 0.3, 0.6])
    bootstrap, student = (found(scores, 0, test=test) for test in ("bootstrap", "t"))
    np.testing.assert_allclose(bootstrap.p, student.p, atol=0.03)


@pytest.mark.parametrize("weights", [[1] * 10, [9, 1, 1, 4, 1, 2, 2, 1, 6, 1]])
def test_bootstrap_counts_studentised_replicates(weights):
    z = np.array([0.31, -0.12, 0.2, 0.05, -0.3, 0.41, 0.17, 0.02, 0.28, -0.08])
    drawn = np.random.default_rng(3).spawn(1)[0].integers(0, 10, (300, 10))

    def t(z, weights):
        h = weights / weights.sum()
        return (h * z).sum() / np.sqrt((h**2 * (z - (h * z).sum()) ** 2 / (1 - h)).sum())

    of_topic = np.array(weights, dtype=float)
    centred = z - np.average(z, weights=of_topic)
    reached = [abs(t(centred[topics], of_topic[topics])) >= abs(t(z, of_topic)) for topics in drawn]
    options = {"weights": dict(enumerate(weights)), "n_resamples": 300, "rng": 3}
    with pytest.warns(CoverageWarning) if len({*weights}) > 1 else warnings.catch_warnings():
        found_p = found(np.stack([0 * z + 0.5, z + 0.5], axis=1), 0, test="bootstrap", **options).p
    assert found_p == pytest.approx([(sum(reached) + 1) / 301])
    assert 5 < sum(reached) < 200


def test_bootstrap_leaves_out_pairs_with_few_different_topics():
    scores = pd.DataFrame({"b": [0.5] * 12, "twin": [0.9] * 7 + [0.5] * 5, "other": [0.9] * 8 + [0.5] * 4})
    result = found(scores, test="bootstrap")
    assert result.p[0] == 1
    assert result.p[1] < 0.01


def test_equal_weights_do_not_change_the_bootstrap():
    scores = np.random.default_rng(10).random((20, 3))
    options = {"test": "bootstrap", "n_resamples": 500}
    weighted = found(scores, 0, weights=dict.fromkeys(range(20), 3), **options)
    np.testing.assert_array_equal(weighted.p_corrected, found(scores, 0, **options).p_corrected)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "max-t", "bh"])
def test_too_few_replicates_are_rejected_with_the_number_needed(correction):
    scores = np.random.default_rng(11).random((30, 20))
    used = 100 if correction in ("max-t", "bh") else 1000
    with pytest.raises(ParameterError, match=f"n_resamples={used * (100 if used == 1000 else 10)}"):
        found(scores, 0, correction=correction, n_resamples=used, alpha=0.001)


def test_too_few_topics_warn():
    with pytest.warns(CoverageWarning, match=r"5 topics \(p >= 0.0625\)"):
        found(SCORES[:5])


def test_baseline_without_scores_is_inconclusive():
    zeros = SCORES.assign(b=0.0)
    with pytest.warns(CoverageWarning, match="scores 0 on all 8 topics by Q, .*; do the ids"):
        result = found(zeros)
    assert {*result.verdict} == {"inconclusive"}


def test_tolerance_above_the_mean_of_the_baseline_is_rejected():
    with pytest.raises(ParameterError, match="must be below the mean of 'b'"):
        found(tolerance=0.4)


def test_minimum_detectable_is_that_of_the_t_test():
    from statistics import NormalDist

    result = found(correction="none")
    sd = (SCORES["x"] - SCORES["b"]).std()
    needed = meta.minimum_detectable_difference(None, variance=sd**2 / 2, n_topics=8)
    assert result.minimum_detectable[0] == pytest.approx(needed)
    needed = meta.minimum_detectable_difference(None, variance=sd**2 / 2, n_topics=8, alternative="greater")
    one_sided = found(correction="none", alternative="less").minimum_detectable[0]
    assert one_sided == pytest.approx(needed) != pytest.approx(result.minimum_detectable[0])
    with_tolerance = found(correction="none", tolerance=0.2).minimum_detectable[0]
    assert with_tolerance == pytest.approx(0.2 + NormalDist().inv_cdf(0.8) * sd / np.sqrt(8))


def test_interval_of_dz_is_that_of_effect_sizes():
    expected = meta.effect_sizes(SCORES, "b")
    result = found()
    np.testing.assert_allclose([result.dz_low, result.dz_high], [expected.low, expected.high], rtol=1e-9)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_intervals_of_one_sided_tests_have_one_confidence(alternative):
    one_sided, twice = found(alternative=alternative), found(alpha=0.1)
    for end in ("low", "high", "low_all", "high_all", "dz_low", "dz_high"):
        np.testing.assert_allclose(getattr(one_sided, end), getattr(twice, end), rtol=1e-12)


def test_printed_table_shows_the_conclusions():
    text = str(quiet(slices=dict.fromkeys(range(4), "early")))
    assert "verdict" in text
    assert "early" in text
    assert "dz_low" not in text


def test_holm_equals_values_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.7])).tolist() == [1, 1]


def scores_of(z, *more):
    """Return a baseline, and a run for each row of differences."""
    base = np.linspace(0.2, 0.8, len(z))
    return pd.DataFrame({"b": base, **{f"r{at}": base + one for at, one in enumerate([z, *more])}})


@pytest.mark.parametrize("test", ["randomisation", "t", "bootstrap", "wilcoxon"])
def test_loss_of_exactly_the_tolerance_is_not_worse(test):
    base = np.linspace(0.3, 0.8, 12)
    assert (base - 0.1 - base).min() < -0.1  # by rounding
    for loss, tolerance in ((0.1, 0.1), (1e-15, 0)):
        lost = pd.DataFrame({"b": base, "new": base - loss})
        assert found(lost, tolerance=tolerance, test=test, alternative="less").passed
    lost = pd.DataFrame({"b": base, "new": base - 0.25})
    assert not found(lost, tolerance=0.2499, test=test, alternative="less").passed


def test_corrected_p_of_exactly_alpha_is_not_significant():
    with pytest.warns(CoverageWarning, match=r"5 topics \(p >= 0\.0312\)"):
        result = found(scores_of(np.full(5, -0.1)), alpha=1 / 32, alternative="less")
    assert (result.p.tolist(), result.significant.tolist(), result.passed) == ([1 / 32], [False], True)


@pytest.mark.slow
def test_scores_in_tenths_have_the_p_values_of_whole_numbers():
    rng = np.random.default_rng(1)
    for _ in range(30):
        whole = rng.integers(0, 11, (30, 2))
        tenths, expected = (quiet(scores, 0, n_resamples=300, rng=2) for scores in (whole / 10, whole))
        assert tenths.p[0] == expected.p[0]


def test_baseline_within_the_tolerance_on_a_slice_is_named():
    base = np.repeat([0.0, 0.01, 0.5], 10)
    scores = pd.DataFrame({"b": base, "new": base})
    with pytest.warns(CoverageWarning) as caught:
        found(scores, slices={at: "xyz"[at // 10] for at in range(30)}, tolerance=0.02)
    assert [str(one.message) for one in caught] == [
        "'b' scores 0 on the 10 of slice 'x' by Q, has the mean 0.01 on the 10 of slice 'y' by Q, within the "
        "tolerance, so no run can be worse there; do the ids of run and qrels match, and are levels of the "
        "qrels relevant to the measure?"
    ]


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ({0: "a", 1: "b", 2: "b"}, "slices: 'a' has 1 of the scored topics"),
        ({"no topic": "a"}, "slices: no scored topic is named 'no topic', and 0, 1, 2 ..."),
        ({0: "all", 1: "all"}, "slices: a slice is named 'all'"),
        (7, "slices: expected a mapping, a Series, a DataFrame or a file, found 7"),
        (pd.Series(["a", "b"], index=[0, 0]), "slices: topic '0' appears twice"),
    ],
)
def test_wrong_slices_are_errors(slices, message):
    with pytest.raises(InputError, match=f"^{message}"):
        found(slices=slices)


def test_unknown_baseline_is_an_error():
    with pytest.raises(
        ParameterError, match=r"^baseline='bb' must be one of 'b', 'x', 'y' .*; did you mean 'b'"
    ):
        found(baseline="bb")
