"""Every measure with random parameters compared with the plain reference, on random qrels and runs."""

import math
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
import pytest
from measures import measure_cases as cases
from reference import ranked

from ir_graded.measures.params import Choice, Flag, LevelTable, Number, Param, Whole


@dataclass(frozen=True)
class Size:
    """The size of a random collection."""

    topics: int
    pool: int
    judged: int
    retrieved: int
    compared: int


SMALL = Size(topics=3, pool=24, judged=12, retrieved=14, compared=3)
MEDIUM = Size(topics=60, pool=400, judged=80, retrieved=300, compared=6)


def pick(rng, values):
    """Return one of the values, with its type."""
    return values[rng.integers(len(values))]


def random_docs(rng, size, count):
    return [f"d{doc}" for doc in rng.choice(size.pool, count, replace=False).tolist()]


def random_qrels(rng, size, scale):
    return {
        str(topic): {doc: pick(rng, scale) for doc in random_docs(rng, size, size.judged)}
        for topic in range(size.topics)
    }


def random_run(rng, size):
    # Few distinct scores make many ties.
    scores = cases.SCORES if size is SMALL else [score / 7 for score in range(size.retrieved // 2)]
    return {
        str(topic): {doc: pick(rng, scores) for doc in random_docs(rng, size, size.retrieved)}
        for topic in range(size.topics)
    }


@singledispatch
def random_value(param: Param, rng, size):
    """Return a value that a parameter may have. A new kind of parameter needs an entry here."""
    raise NotImplementedError(f"no random values for parameters of type {type(param).__name__}")


@random_value.register(Whole)
def _(_, rng, size):
    return pick(rng, [1, 2, 3, 5, size.judged // 3, size.judged, size.retrieved, 1000])


@random_value.register(Flag)
def _(_, rng, size):  # noqa: ARG001
    return pick(rng, [False, True])


@random_value.register(Choice)
def _(param, rng, size):  # noqa: ARG001
    return pick(rng, [word for word in param.words if word != "ideal"])


@random_value.register(LevelTable)
def _(_, rng, size):  # noqa: ARG001
    return {level: pick(rng, cases.WEIGHTS) for level in cases.TABLE_LEVELS if rng.random() < 1 / 2}


@random_value.register(Number)
def _(param, rng, size):  # noqa: ARG001
    return pick(rng, cases.numbers_of(param))


def random_parameters(rng, measure, size):
    """Return parameters that a variant takes together."""
    params = {}
    for name, param in measure.SUPPORTED_PARAMS.items():
        # Parameters that leave little of the others are drawn less often.
        share = 1 / 5 if name in {"rel", "judged_only"} else 1 / 2
        if name not in {*cases.fixed(measure), "ties", "ranks"} and rng.random() < share:
            params[name] = random_value(param, rng, size)
    params = cases.together(measure, params) | cases.fixed(measure)
    if cases.needs_cutoff(measure, params):
        params.setdefault("cutoff", size.judged // 2)
    return params


def assert_random_collection_equals_the_reference(rng, size, scale):
    qrels, run = random_qrels(rng, size, scale), random_run(rng, size)
    rows = cases.run_rows(run)
    frame = cases.run_frame([rows[at] for at in rng.permutation(len(rows)).tolist()])
    chosen = [(measure, random_parameters(rng, measure, size)) for measure in cases.VARIANTS]
    compared = rng.choice(size.topics, size.compared, replace=False).astype(str).tolist()
    expected = reference_of_some(chosen, qrels, run, compared)
    for source in (run, frame):
        found = cases.scores_of_all([measure(**params) for measure, params in chosen], qrels, source)
        assert all(len(scores) == size.topics for scores in found.values())
        for (measure, topic), score in expected.items():
            assert math.isclose(found[measure][topic], score, rel_tol=0, abs_tol=1e-12), (measure, topic)


def reference_of_some(chosen, qrels, run, topics):
    """Return reference scores of a few topics; the highest level is that of all qrels."""
    all_levels = {level for levels in qrels.values() for level in levels.values()}
    rankings = {topic: ranked.ranking(run[topic]) for topic in topics}
    return {
        (measure(**params), topic): ranked.score(
            measure.NAME, params, qrels[topic], rankings[topic], max(all_levels), all_levels
        )
        for measure, params in chosen
        for topic in topics
    }


@pytest.mark.parametrize("scale", cases.SCALES)
@pytest.mark.parametrize("seed", range(10))
def test_small_collections_score_like_the_reference(seed, scale):
    rng = np.random.default_rng([seed, len(scale)])
    assert_random_collection_equals_the_reference(rng, SMALL, cases.SCALES[scale])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_collections_of_medium_size_score_like_the_reference(seed):
    scale = list(cases.SCALES.values())[seed % len(cases.SCALES)]
    assert_random_collection_equals_the_reference(np.random.default_rng(seed), MEDIUM, scale)
