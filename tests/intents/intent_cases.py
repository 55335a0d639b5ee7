"""Topics with intents, classes and groups: the worked examples of the definitions, and random ones."""

from __future__ import annotations

import random
from typing import NamedTuple


class IntentTopic(NamedTuple):
    """One topic and its ranking.

    Attributes:
        levels: level by intent and document.
        retrieved: the retrieved documents in ranked order.
        P: probability of each intent.
        nav: the navigational intents.
    """

    levels: dict[str, dict[str, float]]
    retrieved: list[str]
    P: dict[str, float]
    nav: set[str]


#: Levels of a are 2 for intent 1, 1 for intent 2, and so on; x is unjudged.
EXAMPLE_A = IntentTopic(
    {"1": {"a": 2, "c": 1, "n": 0}, "2": {"a": 1, "b": 2, "n": 0}, "3": {"c": 1, "d": 2, "n": 0}},
    ["b", "n", "c", "x", "a"],
    {"1": 0.5, "2": 0.3, "3": 0.2},
    {"1", "3"},
)

#: GG of b is .2 + .1, which is .30000000000000004 in doubles; GG of a is .3.
EXAMPLE_D = IntentTopic(
    {"1": {"a": 1}, "2": {"b": 1}, "3": {"b": 1}, "4": {"c": 1}},
    ["a", "x", "b"],
    {"1": 0.3, "2": 0.2, "3": 0.1, "4": 0.4},
    set(),
)

#: A run of twenty documents, five of the ten relevant ones: level by document, and the ranking.
TEN_RELEVANT = {f"l{level}-{n}": level for level, R in ((3, 3), (2, 3), (1, 4)) for n in range(R)}
_AT = {2: "l3-0", 5: "l2-0", 8: "l3-1", 12: "l1-0", 15: "l2-1"}
FIVE_RETRIEVED = [_AT.get(n, f"x{n}") for n in range(1, 21)]

#: Two documents of one class; the run may rank either first.
CLASS_LEVELS = {"a": 3, "b": 1, "c": 2}
CLASSES = {"a": 1, "b": 1, "c": 2}

#: Levels and membership by attribute set; u1 and u2 of the run are unjudged.
GROUP_LEVELS = {"a": 2, "b": 0, "c": 1, "d": 1}
GROUP_RUN = ["a", "u1", "b", "d", "u2"]
HINDEX = {"a": [1, 0, 0, 0], "b": [0.25] * 4, "c": [1, 0, 0, 0], "d": [0, 0, 0, 1]}
GENDER = {"a": [1, 0, 0], "b": [0.2, 0.3, 0.5], "c": [0, 1, 0], "d": [0, 0, 1]}
GENDER_TARGET = [0.5, 0.5, 0]


# ------------------------------------------------------------------------------------------- random topics


def random_topic(rng: random.Random, most_judged: int = 60) -> IntentTopic:
    """Return a topic with 1 to 6 intents; some documents are relevant to several, some to none.

    Probabilities are random, uniform, rounded to four digits, sum to less than 1, or contain a 0. A listed
    intent may have no relevant document. Some runs are empty.
    """
    judged = [f"d{n}" for n in range(rng.randint(4, most_judged))]
    intents = [str(n) for n in range(1, rng.randint(1, 6) + 1)]
    highest = rng.randint(1, 4)
    levels: dict[str, dict[str, float]] = {intent: {} for intent in intents}
    share = rng.choice([0.1, 0.4, 0.8])
    for doc_id in judged:
        relevant_to = [intent for intent in intents if rng.random() < share]
        for intent in relevant_to:
            levels[intent][doc_id] = rng.randint(1, highest)
        for intent in rng.sample(intents, len(intents) if not relevant_to else rng.randint(0, len(intents))):
            levels[intent].setdefault(doc_id, 0)
    pool = [*judged, *(f"x{n}" for n in range(rng.randint(0, 60)))]
    retrieved = rng.sample(pool, rng.choice([0, *[rng.randint(1, len(pool))] * 9]))
    nav = {intent for intent in intents if rng.random() < rng.choice([0, 0.5, 1])}
    return IntentTopic(levels, retrieved, random_probabilities(rng, intents), nav)


def random_probabilities(rng: random.Random, intents: list[str]) -> dict[str, float]:
    """Return probabilities of the intents, whose sum is at most 1, or slightly more by rounding."""
    weights = [rng.random() + 0.01 for _ in intents]
    kind = rng.choice(["random", "uniform", "rounded", "below 1", "with a 0"])
    if kind == "uniform":
        weights = [1.0 for _ in intents]
    if kind == "with a 0" and len(intents) > 1:
        weights[rng.randrange(len(intents))] = 0.0
    total = sum(weights) * (rng.uniform(1, 3) if kind == "below 1" else 1)
    found = {intent: weight / total for intent, weight in zip(intents, weights, strict=True)}
    return {intent: round(p, 4) for intent, p in found.items()} if kind == "rounded" else found


def random_distribution(rng: random.Random, groups: int) -> list[float]:
    """Return probabilities of groups, some of them 0, or one of them 1."""
    weights = [rng.random() if rng.random() < 0.7 else 0.0 for _ in range(groups)]
    if rng.random() < 0.3 or not any(weights):
        weights = [0.0] * groups
        weights[rng.randrange(groups)] = 1.0
    return [weight / sum(weights) for weight in weights]
