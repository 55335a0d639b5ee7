"""Topic sets: the number of times each topic is drawn, which does not depend on the block size."""

import numpy as np
import pytest

from ir_graded.errors import ParameterError
from ir_graded.meta import samples
from ir_graded.meta.options import generator

TOPICS, MANY = 5, 4000


def seeded():
    return np.random.default_rng(7)


def test_bootstrap_samples_have_as_many_topics_as_the_matrix():
    counts = samples.topic_counts(seeded(), TOPICS, MANY)
    assert counts.shape == (TOPICS, MANY)
    assert counts.dtype == np.float64
    assert counts.flags.c_contiguous
    assert set(np.unique(counts)) == {0, 1, 2, 3, 4, 5}
    assert (counts.sum(axis=0) == TOPICS).all()
    # Binomial: each topic is drawn n times at 1/n, so the variance is 1 - 1/n.
    assert counts.mean(axis=1) == pytest.approx([1] * TOPICS, abs=0.06)
    assert counts.var(axis=1) == pytest.approx([0.8] * TOPICS, abs=0.08)


def test_the_two_samples_of_a_trial_are_independent():
    one, two = samples.topic_count_pairs(seeded(), TOPICS, MANY)
    assert one.shape == two.shape == (TOPICS, MANY)
    assert (one.sum(axis=0) == TOPICS).all()
    assert (two.sum(axis=0) == TOPICS).all()
    correlations = [np.corrcoef(one[topic], two[topic])[0, 1] for topic in range(TOPICS)]
    assert np.abs(correlations).max() < 0.06


@pytest.mark.parametrize(("topics", "half"), [(2, 1), (5, 2), (6, 3)])
def test_disjoint_halves_share_no_topic(topics, half):
    one, two = samples.disjoint_halves(seeded(), topics, MANY)
    for sets in (one, two):
        assert set(np.unique(sets)) == {0, 1}
        assert (sets.sum(axis=0) == half).all()
        assert sets.mean(axis=1) == pytest.approx([half / topics] * topics, abs=0.04)
    assert not (one * two).any()


def test_signs_are_plus_and_minus_equally_often():
    flips = samples.sign_flips(seeded(), TOPICS, MANY)
    assert flips.shape == (TOPICS, MANY)
    assert set(np.unique(flips)) == {-1, 1}
    assert flips.mean(axis=1) == pytest.approx([0] * TOPICS, abs=0.06)


def test_permuted_rows_exchange_the_scores_of_a_topic():
    values = np.arange(12.0).reshape(3, 4)
    dealt = [samples.permuted_rows(rng, values) for rng in [seeded()] for _ in range(200)]
    for one in dealt:
        np.testing.assert_array_equal(np.sort(one, axis=1), values)
    assert {one[0, 0] for one in dealt} == {0, 1, 2, 3}
    assert any(one[0].tolist() != (one[1] - 4).tolist() for one in dealt)


@pytest.mark.parametrize(
    "draw",
    [
        samples.topic_counts,
        samples.topic_count_pairs,
        samples.disjoint_halves,
        samples.sign_flips,
    ],
)
def test_the_size_of_a_block_changes_nothing(draw):
    rng = seeded()
    blocks = [np.atleast_3d(np.array(draw(rng, TOPICS, size)).T) for size in (3, 1, 6)]
    whole = np.atleast_3d(np.array(draw(seeded(), TOPICS, 10)).T)
    np.testing.assert_array_equal(np.concatenate(blocks), whole)


def counted(drawn):
    return [[sum(one == topic) for one in drawn] for topic in range(TOPICS)]


def test_the_topics_of_a_seed_depend_only_on_documented_draws():
    drawn = seeded().integers(0, TOPICS, (20, TOPICS))
    np.testing.assert_array_equal(samples.topic_counts(seeded(), TOPICS, 20), counted(drawn))
    pairs = seeded().integers(0, TOPICS, (20, 2, TOPICS))
    one, two = samples.topic_count_pairs(seeded(), TOPICS, 20)
    np.testing.assert_array_equal(one, counted(pairs[:, 0]))
    np.testing.assert_array_equal(two, counted(pairs[:, 1]))
    orders = seeded().permuted([list(range(TOPICS))] * 20, axis=1)
    one, two = samples.disjoint_halves(seeded(), TOPICS, 20)
    np.testing.assert_array_equal(one, counted(orders[:, :2]))
    np.testing.assert_array_equal(two, counted(orders[:, 2:4]))
    signs = 1 - 2 * seeded().integers(0, 2, (20, TOPICS)).T
    np.testing.assert_array_equal(samples.sign_flips(seeded(), TOPICS, 20), signs)


def test_a_seed_is_a_nonnegative_integer_or_a_generator():
    rng = seeded()
    assert generator(rng) is rng
    for seed in (0, np.int64(0)):
        assert generator(seed).integers(2**62) == np.random.default_rng(0).integers(2**62)
    for wrong in (-1, 1.0, True, None, "0", [0]):
        with pytest.raises(ParameterError, match=r"^rng=.* must be a whole number >= 0"):
            generator(wrong)
