"""Divergences of distributions over groups, compared with the plain reference."""

import random

import numpy as np
import pytest
from intents.intent_cases import random_distribution
from reference import groups

from ir_graded.measures.groups import DIVERGENCES

EACH = pytest.mark.parametrize("name", DIVERGENCES)


def test_every_divergence_has_a_reference():
    assert DIVERGENCES.keys() == groups.DIVERGENCES.keys()


@pytest.mark.slow
@EACH
def test_random_distributions_have_the_divergence_of_the_reference(name):
    rng = random.Random(5)  # noqa: S311  # not for security
    for _ in range(200):
        number = rng.randint(2, 8)
        achieved = [random_distribution(rng, number) for _ in range(5)]
        target = random_distribution(rng, number)
        found = DIVERGENCES[name](np.array(achieved, dtype=float), np.array(target, dtype=float))
        expected = [groups.DIVERGENCES[name](groups.exactly(a), groups.exactly(target)) for a in achieved]
        assert found == pytest.approx(expected, abs=1e-12)


@EACH
def test_empty_input_gives_no_divergences(name):
    assert DIVERGENCES[name](np.zeros((0, 3)), np.array([0.5, 0.5, 0])).shape == (0,)
