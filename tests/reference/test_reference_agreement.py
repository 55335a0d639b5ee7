"""The reference for agreement of judgments: worked values, invariants, and other implementations."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from reference import agreement, meta_rank
from reference.sample_size import paired_t_p_value

examples = settings(max_examples=60, deadline=None)

FIRST = dict(enumerate([0, 0, 0, 1, 1, 2, 2, 2, 3, 0, 1, 3]))
SECOND = dict(enumerate([0, 0, 1, 1, 2, 2, 2, 1, 3, 0, 0, 2]))
SCALE = [0, 1, 2, 3]
KINDS = ["identity", "linear", "quadratic"]
MEASUREMENTS = ["nominal", "ordinal", "interval"]


def alpha(counts, scale, measurement="ordinal"):
    return agreement.alpha(agreement.coincidences_of(counts), scale, measurement)


def tables(seed, many):
    rng = random.Random(seed)  # noqa: S311  # not for security
    for _ in range(many):
        q = rng.randint(2, 4)
        scale = sorted(rng.sample(range(6), q))
        yield [[rng.randint(0, 9) for _ in scale] for _ in scale], scale


# ---------------------------------------------------------------------------------------------- worked values


def test_worked_example_of_twelve_pairs():
    counts = agreement.confusion(FIRST, SECOND, SCALE)
    assert counts == [[3, 1, 0, 0], [1, 1, 1, 0], [0, 1, 2, 0], [0, 0, 1, 1]]
    kappas = [agreement.kappa(counts, SCALE, kind) for kind in KINDS]
    assert kappas == pytest.approx([0.4285714286, 0.6385542169, 0.8076923077], abs=6e-11)
    alphas = [alpha(counts, SCALE, measurement) for measurement in MEASUREMENTS]
    assert alphas == pytest.approx([0.4497607656, 0.8124901776, 0.8154093098], abs=6e-11)
    gwets = [agreement.gwet(counts, SCALE, kind) for kind in KINDS]
    assert gwets == pytest.approx([0.4503816794, 0.6811337467, 0.8462852263], abs=6e-11)
    assert agreement.overlap(counts, SCALE) == 7 / 9


def test_worked_example_of_three_topics():
    np = pytest.importorskip("numpy")
    topics = [
        agreement.confusion({k: FIRST[k] for k in part}, {k: SECOND[k] for k in part}, SCALE)
        for part in (range(4), range(4, 8), range(8, 12))
    ]
    quadratic = [agreement.kappa(counts, SCALE, "quadratic") for counts in topics]
    assert quadratic == pytest.approx([0.5, -0.333333, 0.862069], abs=6e-7)
    drawn = np.random.default_rng(0).integers(0, 3, size=(1000, 3))
    counts = [(drawn == topic).sum(axis=1).tolist() for topic in range(3)]
    expected = {
        lambda total: agreement.kappa(total, SCALE, "quadratic"): (-0.333333, 0.864865),
        lambda total: alpha(total, SCALE): (-0.277778, 0.812490),
        lambda total: agreement.gwet(total, SCALE): (0.337423, 0.703704),
    }
    for coefficient, ends in expected.items():
        assert agreement.interval(topics, counts, coefficient) == pytest.approx((*ends, 0), abs=6e-7)


def test_replicates_without_a_value_are_counted():
    topics = [[[2, 0], [0, 0]], [[1, 0], [0, 1]]]
    drawn = [[2, 1, 0], [0, 1, 2]]
    found = agreement.interval(topics, drawn, lambda total: agreement.kappa(total, [0, 1]))
    assert found == (1, 1, 1)


def test_worked_example_of_skewed_labels():
    counts = [[90, 4], [4, 2]]
    assert agreement.observed_agreement(counts, [0, 1]) == Fraction(92, 100)
    found = agreement.kappa(counts, [0, 1]), alpha(counts, [0, 1]), agreement.gwet(counts, [0, 1])
    assert found == pytest.approx((0.290780, 0.294326, 0.909829), abs=6e-7)


def test_one_constant_set_has_kappa_0():
    counts = [[5, 3], [0, 0]]
    assert agreement.kappa(counts, [0, 1]) == 0
    assert alpha(counts, [0, 1]) == pytest.approx(-0.153846, abs=6e-7)
    assert agreement.gwet(counts, [0, 1]) == pytest.approx(0.460674, abs=6e-7)


def test_one_class_and_no_pair():
    counts = [[8, 0], [0, 0]]
    assert math.isnan(agreement.kappa(counts, [0, 1]))
    assert math.isnan(alpha(counts, [0, 1]))
    assert agreement.gwet(counts, [0, 1]) == 1
    nothing = [[0, 0], [0, 0]]
    for counts, scale, value in (([[8]], [0], 1), ([[0]], [0], math.nan), (nothing, [0, 1], math.nan)):
        found = agreement.kappa(counts, scale), agreement.gwet(counts, scale), alpha(counts, scale)
        assert found == pytest.approx((value,) * 3, nan_ok=True)
        assert math.isnan(agreement.overlap(counts, scale))


def test_an_unused_level_changes_only_ac1():
    first, second = dict(enumerate([0, 0, 2, 2, 0])), dict(enumerate([0, 2, 2, 2, 0]))
    for scale, value in (([0, 2], 0.6), ([0, 1, 2], 0.733333)):
        counts = agreement.confusion(first, second, scale)
        assert agreement.gwet(counts, scale) == pytest.approx(value, abs=6e-7)
        assert agreement.kappa(counts, scale, "linear") == pytest.approx(0.615385, abs=6e-7)
        assert alpha(counts, scale) == pytest.approx(0.64, abs=1e-15)


#: Krippendorff's example C: four observers, twelve units, None for a missing judgment.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def test_worked_example_of_four_observers_with_missing_labels():
    sets = [{unit: level for unit, level in enumerate(row) if level is not None} for row in OBSERVERS]
    o = agreement.coincidences(sets, [1, 2, 3, 4, 5])
    found = [agreement.alpha(o, [1, 2, 3, 4, 5], measurement) for measurement in MEASUREMENTS]
    assert found == pytest.approx([0.743421053, 0.815387504, 0.849107143], abs=6e-10)


SYSTEMS = "wxyz"
UNDER_A = [
    (0.9, 0.5, 0.3, 0.6),
    (0.8, 0.4, 0.1, 0.6),
    (0.4, 0.4, 0.1, 0.3),
    (0.7, 0.2, 0.4, 0.6),
    (0.6, 0.5, 0.2, 0.4),
    (0.3, 0.2, 0.3, 0.3),
]
UNDER_B = [
    (0.7, 0.6, 0.2, 0.9),
    (0.6, 0.5, 0.2, 0.8),
    (0.4, 0.3, 0.1, 0.5),
    (0.5, 0.4, 0.3, 0.9),
    (0.5, 0.4, 0.1, 0.6),
    (0.2, 0.3, 0.2, 0.4),
]


def p_value(scores, first, second):
    return paired_t_p_value([row[first] - row[second] for row in scores])


def test_worked_example_of_conclusions():
    pairs = agreement.conclusions(UNDER_A, UNDER_B, p_value)
    named = {name: {SYSTEMS[i] + SYSTEMS[j] for i, j in found} for name, found in pairs.items() if found}
    assert named == {
        "active agreement": {"wy", "yz"},
        "active disagreement": {"wz"},
        "mixed agreement, a only": {"wx"},
        "mixed agreement, b only": {"xy", "xz"},
    }
    assert p_value(UNDER_A, 0, 1) == pytest.approx(0.031770, abs=6e-7)
    assert p_value(UNDER_B, 0, 1) == pytest.approx(0.101939, abs=6e-7)
    assert agreement.precision_and_recall(pairs) == (0.4, 0.5)
    means = [list(map(float, agreement.means(scores))) for scores in (UNDER_A, UNDER_B)]
    assert meta_rank.kendall_tau(*means) == pytest.approx(0.666667, abs=6e-7)
    for one, other in (means, means[::-1]):
        order = sorted(range(4), key=lambda system: -other[system])
        assert float(meta_rank.tau_ap_of_order(one, order)) == pytest.approx(0.333333, abs=6e-7)
    assert agreement.largest_fall(UNDER_A, UNDER_B) == 1
    assert agreement.top_overlap(UNDER_A, UNDER_B, SYSTEMS, 1) == 0
    assert agreement.top_overlap(UNDER_A, UNDER_B, SYSTEMS, 10) == 1


@pytest.mark.parametrize(
    ("difference_a", "difference_b", "in_a", "in_b", "name"),
    [
        (1, 2, True, True, "active agreement"),
        (1, -2, True, True, "active disagreement"),
        (1, 2, True, False, "mixed agreement, a only"),
        (-1, 2, False, True, "mixed disagreement, b only"),
        (1, 0, False, False, "passive agreement"),
        (-1, 2, False, False, "passive disagreement"),
    ],
)
def test_pairs_are_classified_by_significance_and_sign(difference_a, difference_b, in_a, in_b, name):
    found = agreement.class_of_pair(Fraction(difference_a), Fraction(difference_b), in_a, in_b)
    assert found == name


def test_judgments_agree_with_themselves():
    pairs = agreement.conclusions(UNDER_A, UNDER_A, p_value)
    assert {name for name, found in pairs.items() if found} <= {"active agreement", "passive agreement"}
    assert sum(map(len, pairs.values())) == 6
    assert agreement.precision_and_recall(pairs) == (1, 1)
    assert agreement.bias(UNDER_A, UNDER_A) == 0
    assert agreement.largest_fall(UNDER_A, UNDER_A) == 0


def test_conclusions_without_a_significant_pair_have_no_precision():
    pairs = agreement.conclusions(UNDER_A, UNDER_B, lambda *_: 1.0)
    assert all(map(math.isnan, agreement.precision_and_recall(pairs)))


# ------------------------------------------------------------------------------------------------- properties

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


def coefficients(counts, scale):
    found = [agreement.kappa(counts, scale, kind) for kind in KINDS]
    found += [agreement.gwet(counts, scale, kind) for kind in KINDS]
    found += [alpha(counts, scale, measurement) for measurement in MEASUREMENTS]
    return [*found, agreement.overlap(counts, scale)]


@examples
@given(labels)
def test_swapping_the_sets_transposes_the_matrix_and_changes_no_coefficient(pairs):
    first, second = (dict(enumerate(labels)) for labels in zip(*pairs, strict=True))
    one, other = (agreement.confusion(*sets, SCALE) for sets in ((first, second), (second, first)))
    assert other == [list(row) for row in zip(*one, strict=True)]
    for before, after in zip(coefficients(one, SCALE), coefficients(other, SCALE), strict=True):
        assert after == before or (math.isnan(after) and math.isnan(before))


@examples
@given(labels)
def test_two_sets_are_the_first_case_of_many(pairs):
    first, second = (dict(enumerate(labels)) for labels in zip(*pairs, strict=True))
    counts = agreement.confusion(first, second, SCALE)
    assert agreement.coincidences([first, second], SCALE) == agreement.coincidences_of(counts)
    assert agreement.coincidences([first, second, {}, {"only": 3}], SCALE) == agreement.coincidences_of(
        counts
    )


@examples
@given(labels, st.integers(1, 9), st.integers(0, 5))
def test_weights_depend_only_on_distances_of_values(pairs, factor, shift):
    first, second = (dict(enumerate(labels)) for labels in zip(*pairs, strict=True))
    counts = agreement.confusion(first, second, SCALE)
    stretched = [factor * level + shift for level in SCALE]
    for kind in KINDS:
        before, after = agreement.kappa(counts, SCALE, kind), agreement.kappa(counts, stretched, kind)
        assert after == before or (math.isnan(after) and math.isnan(before))


@examples
@given(labels)
def test_perfect_agreement_is_1(pairs):
    same = dict(enumerate(first for first, _ in pairs))
    counts = agreement.confusion(same, same, SCALE)
    for value in coefficients(counts, SCALE):
        assert value == 1 or math.isnan(value)


def test_pairs_and_levels_of_judgments():
    first = agreement.mapped({"1": {"a": 0, "b": -1, "c": 3}, "2": {"a": 1}})
    second = agreement.mapped({"1": {"a": 2, "c": 0, "d": 1}}, {0: 0, 1: 0, 2: 2})
    assert first["1"]["b"] == 0
    assert agreement.scale_of(first, second) == [0, 1, 2, 3]
    assert agreement.coverage(first["1"], second["1"]) == (1, 1, 2)
    found = agreement.confusions(first, second, [0, 1, 2, 3])
    assert found == {"1": [[0, 0, 1, 0], [0] * 4, [0] * 4, [1, 0, 0, 0]]}
    with pytest.raises(KeyError):
        agreement.mapped({"1": {"a": 3}}, {0: 0})
