"""Stability compared with plain loops in exact fractions, hand-made cases, and invariants."""

import importlib

import numpy as np
import pandas as pd
import pytest
from reference import meta_rank as plain

from ir_graded.errors import ParameterError
from ir_graded.meta import samples
from ir_graded.meta.options import generator
from ir_graded.meta.samples import topic_counts
from ir_graded.meta.stability import stability

# The package's attribute of this name is the function.
module = importlib.import_module("ir_graded.meta.stability")
FUZZINESS = tuple(round(0.01 * step, 2) for step in range(1, 11))


def decimals(topics, systems, places, seed=0):
    """Draw scores with few decimals, so that means often tie or equal a margin."""
    return np.random.default_rng(seed).integers(0, 10**places + 1, size=(topics, systems)) / 10**places


@pytest.fixture
def scores():
    return decimals(6, 5, 1)


@pytest.fixture
def fixed(monkeypatch):
    """Make the replicates independent of the order of the topics."""

    def fix(counts):
        monkeypatch.setattr(module, "topic_counts", lambda _, topics, size: counts[:topics, :size])

    return fix


def same(one, other):
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topics", "systems", "places"), [(2, 2, 1), (3, 4, 1), (5, 4, 1), (7, 6, 2), (10, 5, 1), (48, 4, 4)]
)
def test_rates_equal_the_plain_loops(topics, systems, places):
    scores = decimals(topics, systems, places, seed=topics)
    counts = topic_counts(generator(3), topics, 60)
    fuzziness = (0.0, *FUZZINESS, 0.25, 0.5)
    result = stability(scores, n_resamples=60, rng=3, fuzziness=fuzziness)
    expected = plain.stability(scores, counts, fuzziness)
    assert list(zip(result.minority_rate, result.proportion_of_ties, strict=True)) == expected


def test_scores_of_any_sign_equal_the_plain_loops():
    scores = (decimals(5, 5, 1) - 0.5).round(1)
    result = stability(scores, n_resamples=80, rng=1, fuzziness=(0.0, 0.1))
    expected = plain.stability(scores, topic_counts(generator(1), 5, 80), (0.0, 0.1))
    assert list(zip(result.minority_rate, result.proportion_of_ties, strict=True)) == expected


def test_a_difference_of_exactly_the_margin_is_not_a_tie():
    result = stability([[0.5, 0.45], [0.5, 0.45]], fuzziness=[0.1, 0.11], n_resamples=10)
    assert result.proportion_of_ties.tolist() == [0.0, 1.0]
    assert result.minority_rate.tolist() == [0.0, 0.0]


def test_equal_systems_always_tie():
    system = decimals(7, 1, 4)
    result = stability(np.hstack([system, system]), fuzziness=[0.0, 0.01], n_resamples=50)
    assert result.proportion_of_ties.tolist() == [1.0, 1.0]
    assert result.minority_rate.tolist() == [0.0, 0.0]


def test_equal_scores_on_other_topics_tie_if_their_means_do(fixed):
    fixed(np.ones((3, 4)))
    result = stability([[0.1, 0.3], [0.2, 0.1], [0.3, 0.2]], fuzziness=[0.0], n_resamples=4)
    assert result.proportion_of_ties.tolist() == [1.0]


def test_systems_with_only_zeros_tie():
    result = stability(np.zeros((3, 3)), n_resamples=5)
    assert (result.proportion_of_ties == 1).all()


def test_minority_counts_the_rarer_direction(fixed):
    fixed(np.array([[2.0, 2.0, 0.0, 1.0], [0.0, 0.0, 2.0, 1.0]]))
    result = stability([[1, 0], [0, 1]], fuzziness=[0.1], n_resamples=4)
    assert result.minority_rate.tolist() == [0.25]
    assert result.proportion_of_ties.tolist() == [0.25]


def test_defaults_are_1000_resamples_and_seed_0(scores):
    result = stability(scores)
    assert result.fuzziness.tolist() == list(FUZZINESS)
    assert result.n_resamples == 1000
    same(result, stability(scores, rng=0, n_resamples=1000, fuzziness=FUZZINESS))
    same(result, stability(scores, rng=np.random.default_rng(0)))
    assert (stability(scores, rng=1).minority_rate != result.minority_rate).any()


@pytest.mark.parametrize("memory_mib", [1e-6, 0.003, 0.05])
def test_block_size_changes_nothing(scores, memory_mib):
    same(stability(scores, n_resamples=300, memory_mib=memory_mib), stability(scores, n_resamples=300))


def test_small_memory_gives_small_blocks():
    sizes = list(samples.replicate_blocks(1000, 100, 0.5))
    assert sum(sizes) == 1000
    assert max(sizes) * 100 * 8 < 0.5 * 2**20
    assert len(list(samples.replicate_blocks(1000, 100, 0.05))) > len(sizes)


def test_order_and_names_change_nothing(scores, fixed):
    counts = topic_counts(generator(5), 6, 200)
    fixed(counts)
    expected = stability(scores, n_resamples=200)
    rows, columns = np.random.default_rng(1).permutation(6), np.random.default_rng(1).permutation(5)
    same(stability(scores[:, columns], n_resamples=200), expected)
    frame = pd.DataFrame(scores, index=list("abcdef"), columns=list("VWXYZ"))
    same(stability(frame, n_resamples=200), expected)
    fixed(counts[rows])
    same(stability(scores[rows], n_resamples=200), expected)
    assert (stability(scores, n_resamples=200).minority_rate != expected.minority_rate).any()


def test_fuzziness_values_may_be_many_and_unordered(scores):
    values = np.random.default_rng(0).permutation(np.arange(300) / 1000)
    many = stability(scores, fuzziness=values, n_resamples=30)
    for at in (0, 7, 299):
        one = stability(scores, fuzziness=[values[at]], n_resamples=30)
        assert one.minority_rate[0] == many.minority_rate[at]
        assert one.proportion_of_ties[0] == many.proportion_of_ties[at]


def test_scale_changes_nothing(scores):
    same(stability(scores * 1e6, n_resamples=100), stability(scores, n_resamples=100))


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_resamples": 0}, {"n_resamples": 2.5}, {"n_resamples": True}, {"fuzziness": []},
        {"fuzziness": [-0.1]}, {"fuzziness": [1.0]}, {"fuzziness": [float("nan")]}, {"fuzziness": 0.1},
        {"fuzziness": ["some"]}, {"memory_mib": 0}, {"rng": "seed"},
    ],
)  # fmt: skip
def test_wrong_parameters_are_rejected(scores, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        stability(scores, **wrong)
