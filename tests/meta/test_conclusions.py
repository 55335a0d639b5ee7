"""Conclusions with two sets of judgments: the worked example, a plain reference and edge cases."""

import math

import numpy as np
import pandas as pd
import pytest
from reference import agreement as plain
from reference.sample_size import paired_t_p_value

from ir_graded.errors import InputError
from ir_graded.meta import conclusions

A = pd.DataFrame(
    [
        (0.9, 0.5, 0.3, 0.6), (0.8, 0.4, 0.1, 0.6), (0.4, 0.4, 0.1, 0.3), (0.7, 0.2, 0.4, 0.6),
        (0.6, 0.5, 0.2, 0.4), (0.3, 0.2, 0.3, 0.3),
    ],
    columns=list("wxyz"),
)  # fmt: skip
B = pd.DataFrame(
    [
        (0.7, 0.6, 0.2, 0.9), (0.6, 0.5, 0.2, 0.8), (0.4, 0.3, 0.1, 0.5), (0.5, 0.4, 0.3, 0.9),
        (0.5, 0.4, 0.1, 0.6), (0.2, 0.3, 0.2, 0.4),
    ],
    columns=list("wxyz"),
)  # fmt: skip
COUNTS = {
    "active agreement": "active_agreement",
    "active disagreement": "active_disagreement",
    "mixed agreement, a only": "mixed_agreement_a",
    "mixed agreement, b only": "mixed_agreement_b",
    "mixed disagreement, a only": "mixed_disagreement_a",
    "mixed disagreement, b only": "mixed_disagreement_b",
    "passive agreement": "passive_agreement",
    "passive disagreement": "passive_disagreement",
}


def p_value(scores, i, j):
    return paired_t_p_value([row[i] - row[j] for row in scores])


def row_of(a, b, **options):
    return conclusions({"Q": a}, {"Q": b}, **options).to_frame().loc["Q"]


def test_worked_example_has_its_values():
    row = row_of(A, B, test="t")
    expected = dict.fromkeys(COUNTS.values(), 0)
    expected |= {
        "active_agreement": 2,
        "active_disagreement": 1,
        "mixed_agreement_a": 1,
        "mixed_agreement_b": 2,
    }
    assert row[list(expected)].to_dict() == expected
    assert (row["precision"], row["recall"]) == (0.4, 0.5)
    assert (row["tau"], row["tau_ap"], row["tau_ap_reverse"]) == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    assert (row["tau_ap_variant"], row["largest_fall"]) == ("tau_ap", 1)


@pytest.mark.slow
def test_random_scores_equal_the_plain_reference():
    rng = np.random.default_rng(1)
    for _ in range(15):
        a = rng.integers(0, 11, (8, 6)) / 10
        b = np.clip(a + rng.integers(-4, 5, a.shape) / 10, 0, 1).round(1)
        names = [f"s{at}" for at in range(6)]
        row = row_of(pd.DataFrame(a, columns=names), pd.DataFrame(b, columns=names), test="t", top_k=3)
        classes = plain.conclusions(a.tolist(), b.tolist(), p_value)
        assert row[list(COUNTS.values())].tolist() == [len(classes[name]) for name in COUNTS]
        expected = [*plain.precision_and_recall(classes), plain.bias(a.tolist(), b.tolist())]
        assert row[["precision", "recall", "bias"]].tolist() == pytest.approx(expected, nan_ok=True)
        assert row["largest_fall"] == plain.largest_fall(a.tolist(), b.tolist())
        assert row["top_overlap"] == plain.top_overlap(a.tolist(), b.tolist(), names, 3)


@pytest.mark.parametrize("test", ["bootstrap", "t", "tukey_hsd"])
def test_set_against_itself_keeps_all_conclusions(test):
    row = row_of(A, A, test=test, n_resamples=100)
    assert row["active_agreement"] + row["passive_agreement"] == 6
    assert (row["bias"], row["largest_fall"], row["tau_b"], row["top_overlap"]) == (0, 0, 1, 1)
    assert row["precision"] == row["recall"] == 1


def test_precision_and_recall_without_significant_pairs_are_nan():
    row = row_of([[0.1, 0.2], [0.2, 0.1], [0.1, 0.3]], [[0.2, 0.1], [0.2, 0.3], [0.1, 0.3]], test="t")
    assert math.isnan(row["precision"])
    assert math.isnan(row["recall"])


def test_topics_of_one_set_only_are_dropped_and_named():
    found = conclusions({"Q": A.rename(index={5: "x"})}, {"Q": B.sample(frac=1, random_state=0)}, test="t")
    assert (found.topics, found.dropped_a, found.dropped_b) == (5, ("x",), (5,))
    expected = row_of(A.iloc[:5], B.iloc[:5], test="t")
    assert found.to_frame().loc["Q"].to_dict() == pytest.approx(expected.to_dict())


def test_measures_are_sorted_by_recall():
    found = conclusions({"Q": A, "AP": A}, {"Q": B, "AP": A}, n_resamples=200)
    assert list(found.to_frame().index) == ["AP", "Q"]


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ({"Q": A}, {"Q": B.set_axis(range(5, 11))}, "at least 2 topics must be in both"),
        ({"Q": A}, {"AP": B}, "measures differ: Q under a, AP under b"),
        ({"Q": A}, {"Q": B.rename(columns={"w": "v"})}, "Q under b: systems differ"),
        (A, {"Q": B}, "a mapping from measures to score matrices"),
    ],
)
def test_errors_say_what_is_wrong(a, b, words):
    with pytest.raises(InputError, match=words):
        conclusions(a, b)
