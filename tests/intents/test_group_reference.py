"""The reference of group fairness: worked examples of the definitions, and properties on random topics."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from intents.intent_cases import (
    GENDER,
    GENDER_TARGET,
    GROUP_LEVELS,
    GROUP_RUN,
    HINDEX,
    random_distribution,
    random_topic,
)
from reference import groups, intents, ranked

ERR = ("NCU", {"stop": "err", "utility": "rr"})
SCALE = {"gains": {2: 3}}


def gf(divergence, membership, number, cutoff=20, target=None):
    params = {**SCALE, "divergence": divergence, "cutoff": cutoff, "target": target}
    return groups.gf(params, GROUP_LEVELS, GROUP_RUN, membership, number, 2)


@pytest.mark.parametrize(
    ("divergence", "at_20", "at_3"),
    [
        ("JSD", 0.397854110685, 0.338403794478),
        ("NMD", 0.432291666667, 0.375),
        ("RNOD", 0.356074829085, 0.303660723216),
    ],
)
def test_an_ordinal_attribute_with_a_uniform_target_matches_the_example(divergence, at_20, at_3):
    assert gf(divergence, HINDEX, 4) == pytest.approx(at_20, abs=1e-11)
    assert gf(divergence, HINDEX, 4, cutoff=3) == pytest.approx(at_3, abs=1e-11)


@pytest.mark.parametrize(
    ("divergence", "expected"), [("JSD", 0.560170808500), ("NMD", 0.60703125), ("RNOD", 0.520081883197)]
)
def test_a_target_with_a_zero_matches_the_example(divergence, expected):
    assert gf(divergence, GENDER, 3, target=GENDER_TARGET) == pytest.approx(expected, abs=1e-11)


def test_relevance_matches_the_example():
    for (name, params), expected in ((ERR, 0.765625), (("iRBU", {}), 0.802537250625)):
        found = ranked.score(name, {**params, **SCALE, "cutoff": 20}, GROUP_LEVELS, GROUP_RUN, 2)
        assert found == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    ("measure", "ordinal", "expected"),
    [({}, "RNOD", 0.572927629403), ({"measure": ERR}, "NMD", 0.586029158389)],
)
def test_gfr_is_the_mean_of_relevance_and_two_attributes(measure, ordinal, expected):
    params = {
        **SCALE,
        **measure,
        "groups": {"HINDEX": ordinal, "GENDER": "JSD"},
        "targets": {"GENDER": GENDER_TARGET},
        "cutoff": 20,
    }
    memberships = {"HINDEX": HINDEX, "GENDER": GENDER}
    found = groups.gfr(params, GROUP_LEVELS, GROUP_RUN, memberships, {"HINDEX": 4, "GENDER": 3}, 2)
    assert found == pytest.approx(expected, abs=1e-11)


def test_achieved_distributions_match_the_example():
    vectors = [groups.exactly(HINDEX.get(doc_id, [0.25] * 4)) for doc_id in GROUP_RUN]
    assert groups.achieved(vectors[:1]) == [1, 0, 0, 0]
    assert groups.achieved(vectors[:4]) == groups.exactly([0.375, 0.125, 0.125, 0.375])


# ------------------------------------------------------------------------------------------ on random topics


def random_topics(count=40):
    rng = random.Random(11)  # noqa: S311  # not for security
    for _ in range(count):
        topic = random_topic(rng, most_judged=15)
        levels = intents.document_levels(topic.levels)
        yield rng, levels, topic.retrieved, rng.randint(2, 8)


@pytest.mark.parametrize("divergence", groups.DIVERGENCES)
def test_divergences_are_0_at_the_target_and_at_most_1(divergence):
    rng = random.Random(2)  # noqa: S311  # not for security
    div = groups.DIVERGENCES[divergence]
    for _ in range(200):
        number = rng.randint(2, 8)
        a, t = (groups.exactly(random_distribution(rng, number)) for _ in range(2))
        assert div(t, t) == 0
        assert 0 <= div(a, t) <= 1 + 1e-15
    ends = [Fraction(1), *[Fraction(0)] * 4], [*[Fraction(0)] * 4, Fraction(1)]
    assert div(*ends) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("divergence", groups.DIVERGENCES)
def test_a_target_that_is_met_gives_the_sum_of_decay(divergence):
    for rng, levels, retrieved, number in random_topics():
        judged = [doc_id for doc_id in retrieved if doc_id in levels]
        target = random_distribution(rng, number)
        membership = dict.fromkeys(levels, target)
        params = {"divergence": divergence, "target": target, "cutoff": 10}
        found = groups.gf(params, levels, judged, membership, number, 4)
        topic = ranked.Topic({"cutoff": 10, "max_rel": 4}, levels, judged, 4, {4})
        assert found == pytest.approx(math.fsum(ranked.stop_err(topic).values()), abs=1e-12)


def test_gfr_of_one_attribute_is_the_mean_of_two_values():
    for rng, levels, retrieved, number in random_topics():
        membership = {doc_id: random_distribution(rng, number) for doc_id in levels if rng.random() < 0.8}
        params = {"groups": {"A": "JSD"}, "cutoff": 5}
        found = groups.gfr(params, levels, retrieved, {"A": membership}, {"A": number}, 4)
        fair = groups.gf({"divergence": "JSD", "cutoff": 5}, levels, retrieved, membership, number, 4)
        relevance = ranked.score("iRBU", {"cutoff": 5}, levels, retrieved, 4)
        assert found == pytest.approx((fair + relevance) / 2, abs=1e-15)


def test_a_topic_without_a_relevant_document_scores_0():
    params = {"divergence": "JSD", "groups": {"A": "JSD"}}
    assert groups.gf(params, {"a": 0}, ["a"], {}, 2, 2) == 0
    assert groups.gfr(params, {"a": 0}, ["a"], {"A": {}}, {"A": 2}, 2) == 0
