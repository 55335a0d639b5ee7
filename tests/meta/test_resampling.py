"""Topic sets: the number of times each topic is drawn, which does not depend on the block size."""

import numpy as np
import pytest

from ir_graded.errors import ParameterError
from ir_graded.meta import replicates
from ir_graded.meta.options import generator

TOPICS = 5


def seeded():
    return np.random.default_rng(7)


def test_permuted_rows_exchange_the_scores_of_a_topic():
    values = np.arange(12.0).reshape(3, 4)
    dealt = [replicates.permuted_rows(rng, values) for rng in [seeded()] for _ in range(200)]
    for one in dealt:
        np.testing.assert_array_equal(np.sort(one, axis=1), values)
    assert {one[0, 0] for one in dealt} == {0, 1, 2, 3}
    assert any(one[0].tolist() != (one[1] - 4).tolist() for one in dealt)


@pytest.mark.parametrize(
    "draw",
    [
        replicates.topic_counts,
        replicates.topic_count_pairs,
        replicates.disjoint_halves,
        replicates.sign_flips,
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
    drawn, found = seeded().integers(0, TOPICS, (20, TOPICS)), replicates.topic_counts(seeded(), TOPICS, 20)
    np.testing.assert_array_equal(found, counted(drawn))
    assert (found.dtype, found.flags.c_contiguous) == (np.float64, True)
    pairs = seeded().integers(0, TOPICS, (20, 2, TOPICS))
    one, two = replicates.topic_count_pairs(seeded(), TOPICS, 20)
    np.testing.assert_array_equal(one, counted(pairs[:, 0]))
    np.testing.assert_array_equal(two, counted(pairs[:, 1]))
    orders = seeded().permuted([list(range(TOPICS))] * 20, axis=1)
    one, two = replicates.disjoint_halves(seeded(), TOPICS, 20)
    np.testing.assert_array_equal(one, counted(orders[:, :2]))
    np.testing.assert_array_equal(two, counted(orders[:, 2:4]))
    signs = 1 - 2 * seeded().integers(0, 2, (20, TOPICS)).T
    np.testing.assert_array_equal(replicates.sign_flips(seeded(), TOPICS, 20), signs)


def test_a_seed_is_a_nonnegative_integer_or_a_generator():
    rng = seeded()
    assert generator(rng) is rng
    for seed in (0, np.int64(0)):
        assert generator(seed).integers(2**62) == np.random.default_rng(0).integers(2**62)
    for wrong in (-1, 1.0, True, None, "0", [0]):
        with pytest.raises(ParameterError, match=r"^rng=.* must be a whole number >= 0"):
            generator(wrong)
