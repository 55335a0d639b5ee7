"""The reference of intents and classes: worked examples of the definitions, and properties on any topic."""

from __future__ import annotations

import math
import random

import pytest
from intents.intent_cases import (
    CLASS_LEVELS,
    CLASSES,
    EXAMPLE_A,
    EXAMPLE_D,
    GAINS,
    IntentTopic,
    random_topic,
)
from reference import intents, ranked

Q_CUT = ("Q", {"norm": "cutoff"})
ERR = ("NCU", {"stop": "err", "utility": "rr"})

#: Example a at k = 10: base measure, D, DIN, IA.
VALUES_OF_A = [
    (("Q", {}), 0.496234472050, 0.464984472050, 0.516666666667),
    (("nDCG", {}), 0.656260252109, 0.481523787494, 0.552241521246),
    (("P-measure", {}), 0.7, 0.589285714286, 0.679166666667),
    (("P+", {}), 0.661645962733, 0.642468944099, 0.60625),
    (("EBR", {}), 0.517471439139, 0.352599243856, 0.4375),
    (("iRBU", {}), 0.752911085678, 0.540312011483, 0.667433890530),
    (("nERR", {}), 0.590317652392, 0.523324730768, 0.455384615385),
    (ERR, 0.393978247171, 0.349267143366, 0.328888888889),
    (("gRBP", {}), 0.088100312500, 0.056773149038, 0.057265203125),
    (("gRBP", {"norm": "ideal"}), 0.803877283335, 0.518030453245, 0.776477330508),
    (("NCU", {"stop": "rb"}), 0.508702746719, 0.478294040226, 0.517094017094),
]

#: Example b: the topic of example a with gains {2: 3}.
VALUES_OF_B = [
    ("D", "Q", 0.488045634921),
    ("D", "nDCG", 0.653957099830),
    ("D", "P-measure", 0.711111111111),
    ("D", "iRBU", 0.793952442346),
    ("DIN", "Q", 0.446378968254),
    ("DIN", "nDCG", 0.458986707024),
    ("IA", "Q", 0.516666666667),
    ("IA", "nDCG", 0.536043158397),
]

ALL_BASES = [
    *(("Q", params) for params in ({}, {"beta": 0}, {"beta": 10}, {"beta": math.inf}, {"norm": "cutoff"})),
    *((name, {}) for name in ("AWP", "O-measure", "P-measure", "P+", "nCG", "BR", "R-measure", "R-WP")),
    *(("NCU", {"stop": stop}) for stop in ("u", "rb", "gu", "first", "preferred", "up_to_preferred")),
    ("NCU", {"stop": "rb", "utility": "ie", "gamma": 0.5}),
    ("NCU", {"stop": "gu", "utility": "rr", "norm": "ideal"}),
    ("nDCG", {}),
    ("nDCG", {"dcg": "exp-log2"}),
]
WITH_SCALE = [
    ("NCU", {"stop": "err"}),
    ERR,
    *((name, {}) for name in ("EBR", "iRBU", "nERR", "gRBP")),
    *((name, {"norm": "ideal"}) for name in ("EBR", "iRBU", "gRBP")),
]
#: Base measures whose ideal list scores 1, without a cutoff and at one.
REACH_1 = [
    *(
        (name, {})
        for name in ("Q", "AWP", "O-measure", "P-measure", "P+", "R-measure", "R-WP", "nDCG", "nERR")
    ),
    *(("NCU", {"stop": stop}) for stop in ("u", "rb", "gu", "first", "preferred", "up_to_preferred")),
    *((name, {"norm": "ideal"}) for name in ("EBR", "iRBU", "gRBP")),
    *(("NCU", {"stop": stop, "utility": "ie", "norm": "ideal"}) for stop in ("err", "u", "rb", "first")),
]
REACH_1_AT_K = [
    ("nCG", {}),
    *(("NCU", {"stop": stop, "norm": "cutoff"}) for stop in ("u", "rb", "gu")),
    *(base for base in REACH_1 if base[0] in ("nDCG", "nERR") or "norm" in base[1]),
]


def scored(topic, name, base=None, cutoff=10, **params):
    if base is not None:
        params["measure"] = base
    return intents.score(
        name, {"cutoff": cutoff, **params}, topic.levels, topic.retrieved, topic.P, topic.nav
    )


def topics(count, seed=1):
    rng = random.Random(seed)  # noqa: S311  # no secret
    return [random_topic(rng) for _ in range(count)]


def ids(base):
    return f"{base[0]} {base[1]}" if isinstance(base, tuple) else None


# --------------------------------------------------------------------------------------- worked examples


def test_global_gains_match_example_a():
    GG = intents.global_gains(("Q", {}), EXAMPLE_A.levels, EXAMPLE_A.P)
    assert GG == {"a": 1.3, "c": 0.7, "n": 0, "b": 0.6, "d": 0.4}


def test_lists_match_example_a():
    arguments = (("Q", {}), EXAMPLE_A.levels, EXAMPLE_A.retrieved, EXAMPLE_A.P)
    assert intents.d_list(*arguments, 10, ()).level[1:] == [0.6, None, 0.7, None, 1.3]
    assert intents.din_list(*arguments, EXAMPLE_A.nav, 10, ()).level[1:] == [0.6, None, 0.7, None, 0.3]


@pytest.mark.parametrize(("base", "d", "din", "ia"), VALUES_OF_A, ids=ids)
def test_d_din_and_ia_match_example_a(base, d, din, ia):
    for name, expected in (("D", d), ("DIN", din), ("IA", ia)):
        assert scored(EXAMPLE_A, name, base) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    ("name", "base", "cutoff", "expected"),
    [
        ("I-rec", None, 1, 1 / 3),
        ("I-rec", None, 3, 1),
        ("D#", Q_CUT, 10, 0.748117236025),
        ("DIN#", Q_CUT, 10, 0.732492236025),
        ("P+Q", None, 10, 0.55),
        ("P+Q#", None, 10, 0.775),
        ("D", Q_CUT, 3, 0.428312629400),
        ("D", ("Q", {}), 3, 0.321234472050),
        ("D", ("nDCG", {}), 3, 0.465309732303),
    ],
    ids=ids,
)
def test_other_measures_match_example_a(name, base, cutoff, expected):
    assert scored(EXAMPLE_A, name, base, cutoff) == pytest.approx(expected, abs=1e-11)


def test_single_intents_match_example_a():
    arguments = (EXAMPLE_A.levels, EXAMPLE_A.retrieved, 10, ())
    levels, *rest = arguments
    for base, expected in ((Q_CUT, (0.479167, 0.8125, 0.166667)), (("P+", {}), (0.479167, 1, 0.333333))):
        found = [intents.score_list(base, intents.intent_list(base, levels, i, *rest)) for i in levels]
        assert found == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("name", "base", "expected"), VALUES_OF_B)
def test_example_b_has_exponential_gains(name, base, expected):
    assert scored(EXAMPLE_A, name, (base, {"gains": {2: 3}})) == pytest.approx(expected, abs=1e-11)


def test_p_plus_q_matches_example_b():
    assert scored(EXAMPLE_A, "P+Q", gains={2: 3}) == pytest.approx(0.545238095238, abs=1e-11)


def test_global_gains_match_example_b():
    GG = intents.global_gains(("Q", {"gains": {2: 3}}), EXAMPLE_A.levels, EXAMPLE_A.P)
    assert GG == {"a": 1.8, "c": 0.7, "n": 0, "b": 0.9, "d": 0.6}


def test_sums_that_differ_in_the_last_bit_are_one_gain():
    assert 0.2 + 0.1 != 0.3
    assert scored(EXAMPLE_D, "D", ("P-measure", {})) == pytest.approx(0.928571428571, abs=1e-11)


@pytest.mark.parametrize(
    ("base", "b_first", "in_order"),
    [
        ("Q", 0.5625, 1),
        ("P-measure", 0.625, 1),
        ("P+", 0.5625, 1),
        ("AP", 5 / 6, 1),
        ("nDCG", 0.469278726023, 1),
        ("nERR", 6 / 13, 1),
        ("EBR", 0.359375, None),
        ("iRBU", 0.611362125, None),
    ],
)
def test_a_class_counts_once(base, b_first, in_order):
    assert intents.ec((base, {}), CLASS_LEVELS, CLASSES, ["b", "a", "c"], 10, ()) == pytest.approx(
        b_first, abs=1e-11
    )
    if in_order is not None:
        assert intents.ec((base, {}), CLASS_LEVELS, CLASSES, ["a", "c", "b"], 10, ()) == in_order


# ------------------------------------------------------------------------------------- one and many intents


@pytest.mark.parametrize("base", [*ALL_BASES, *WITH_SCALE], ids=ids)
def test_one_intent_of_probability_1_is_the_base_measure(base):
    for at, topic in enumerate(topics(40)):
        levels = intents.document_levels(topic.levels)
        scale = {"max_rel": 4} if base in WITH_SCALE else {}
        gains = {} if base[0] == "nDCG" else {"gains": GAINS[at % 3]}
        condensed = {} if base[1].get("dcg") else {"judged_only": bool(at % 2)}
        made = (base[0], {**base[1], **scale, **gains, **condensed})
        alone = IntentTopic({"i": levels}, topic.retrieved, {"i": 1.0}, set())
        if base[1].get("dcg"):
            as_gains = {level: 2**level - 1 for level in range(1, 5)}
            params = {"gains": as_gains, "cutoff": 10}
        else:
            params = {**made[1], "cutoff": 10}
        expected = ranked.score(base[0], params, levels, topic.retrieved, max(levels.values()))
        for name in ("D", "IA"):
            assert scored(alone, name, made) == pytest.approx(expected, abs=1e-12)


def test_intent_recall_of_one_intent_is_success():
    for topic in topics(40):
        levels = intents.document_levels(topic.levels)
        alone = IntentTopic({"i": levels}, topic.retrieved, {"i": 1.0}, set())
        expected = ranked.score("Success", {"cutoff": 3}, levels, topic.retrieved, 4)
        assert scored(alone, "I-rec", cutoff=3) == expected


@pytest.mark.parametrize("name", ["D", "IA", "DIN", "P+Q"])
def test_gamma_of_0_and_1_selects_one_part(name):
    base = None if name == "P+Q" else Q_CUT
    for topic in topics(40):
        assert scored(topic, f"{name}#", base, gamma=0) == scored(topic, name, base)
        assert scored(topic, f"{name}#", base, gamma=1) == scored(topic, "I-rec")


@pytest.mark.parametrize("base", [*ALL_BASES, *WITH_SCALE], ids=ids)
def test_din_equals_d_for_informational_intents_only(base):
    for topic in topics(20):
        typed = topic._replace(nav=set())
        assert scored(typed, "DIN", base) == scored(typed, "D", base)


def test_p_plus_q_of_one_type_has_one_part():
    for topic in topics(40):
        of_inf, of_nav = topic._replace(nav=set()), topic._replace(nav=set(topic.levels))
        for k in (3, None):
            assert scored(of_inf, "P+Q", cutoff=k) == scored(topic, "IA", Q_CUT if k else ("Q", {}), k)
            assert scored(of_nav, "P+Q", cutoff=k) == scored(topic, "IA", ("P+", {}), k)


def test_a_navigational_intent_adds_at_one_rank_at_most():
    for topic in topics(40):
        base = ("Q", {})
        for intent in topic.levels:
            only = {intent: topic.levels[intent]}
            found = intents.din_list(base, only, topic.retrieved, {intent: 1.0}, {intent}, None, ())
            assert found.count(found.last) <= 1


def test_navigational_intents_never_raise_ndcg():
    for topic in topics(60):
        assert scored(topic, "DIN", ("nDCG", {})) <= scored(topic, "D", ("nDCG", {})) + 1e-15


@pytest.mark.parametrize(
    ("base", "cutoff"),
    [*((base, None) for base in REACH_1), *((base, 5) for base in REACH_1_AT_K)],
    ids=ids,
)
def test_the_ideal_list_by_global_gain_scores_1(base, cutoff):
    for topic in topics(20):
        GG = intents.global_gains(base, topic.levels, topic.P)
        ideal = topic._replace(retrieved=sorted(GG, key=GG.get, reverse=True))
        assert scored(ideal, "D", base, cutoff) == pytest.approx(float(any(GG.values())), abs=1e-12)


@pytest.mark.parametrize("name", ["D", "IA", "DIN", "I-rec", "P+Q"])
def test_names_and_order_of_intents_and_rows_do_not_matter(name):
    rng = random.Random(3)  # noqa: S311  # not for security
    bases = [None] if name in ("I-rec", "P+Q") else [*ALL_BASES, *WITH_SCALE]
    for topic in topics(15):
        order = rng.sample(list(topic.levels), len(topic.levels))
        renamed = {intent: f"new {rng.random()}" for intent in order}
        shuffled = {
            renamed[intent]: dict(rng.sample(list(topic.levels[intent].items()), len(topic.levels[intent])))
            for intent in order
        }
        other = IntentTopic(
            shuffled,
            topic.retrieved,
            {renamed[intent]: topic.P[intent] for intent in order},
            {renamed[intent] for intent in topic.nav},
        )
        for base in bases:
            assert scored(other, name, base) == scored(topic, name, base)


@pytest.mark.parametrize("base", [*ALL_BASES, *WITH_SCALE], ids=ids)
def test_splitting_an_intent_in_two_halves_changes_nothing(base):
    for topic in topics(20):
        levels = {**topic.levels, "half": topic.levels["1"]}
        P = {**topic.P, "1": topic.P["1"] / 2, "half": topic.P["1"] / 2}
        halved = topic._replace(levels=levels, P=P)
        for name in ("D", "IA"):
            assert scored(halved, name, base) == pytest.approx(scored(topic, name, base), abs=1e-12)


def test_missing_probabilities_are_uniform_over_intents_with_a_relevant_document():
    topic = IntentTopic({"1": {"a": 1}, "2": {"b": 2}, "3": {"c": 0}}, ["a", "x", "b"], {}, set())
    said = topic._replace(P={"1": 0.5, "2": 0.5, "3": 0.0})
    for name in ("D", "IA", "P+Q"):
        base = None if name == "P+Q" else ("Q", {})
        unsaid = intents.score(
            name,
            {"cutoff": 10, **({"measure": base} if base else {})},
            topic.levels,
            topic.retrieved,
        )
        assert unsaid == scored(said, name, base)


# ---------------------------------------------------------------------------------- edges of the definitions


def test_the_level_of_a_document_is_its_highest():
    levels = intents.document_levels({"1": {"a": 2, "b": 1}, "2": {"a": 1}, "3": {"c": 1}})
    assert levels == {"a": 2, "b": 1, "c": 1}
    assert f"{ranked.score('nDCG', {'cutoff': 10}, levels, ['x', 'b', 'a'], 2):.4f}" == "0.5209"


def test_a_document_is_judged_when_any_intent_judges_it():
    topic = IntentTopic({"1": {"a": 1, "n": -1}, "2": {"b": 1, "n": 0}}, ["x", "n", "a"], {"1": 1.0}, set())
    # x alone is unjudged; n keeps its rank for intent 1 too.
    assert scored(topic, "IA", ("O-measure", {"beta": 0, "judged_only": True})) == 0.5


def test_levels_below_rel_give_no_intent_and_no_gain():
    topic = IntentTopic({"1": {"a": 2, "b": 1}, "2": {"b": 1}}, ["b", "a"], {"1": 0.5, "2": 0.5}, {"1"})
    base = ("O-measure", {"beta": 0, "rel": 2})
    assert scored(topic, "I-rec", rel=1, cutoff=1) == 1
    assert scored(topic, "I-rec", rel=2, cutoff=1) == 0
    assert scored(topic, "I-rec", rel=2, cutoff=2) == 1
    assert (scored(topic, "D", base), scored(topic, "DIN", base)) == (0.5, 0.5)
    assert scored(topic, "IA", base) == 0.25
    # b does not use up intent 1.
    assert scored(topic, "P+Q", beta=0, rel=2, cutoff=2) == 0.25
    assert scored(topic, "D#", base, cutoff=1, gamma=1) == 0


def test_ndcg_takes_levels_above_0_as_relevant():
    topic = IntentTopic({"1": {"a": 0.5}, "2": {"b": 1}}, ["a"], {"1": 0.5, "2": 0.5}, set())
    assert scored(topic, "D#", ("nDCG", {}), gamma=1) == 0.5
    assert scored(topic, "D#", ("Q", {}), gamma=1) == 0
    assert scored(topic, "IA", ("nDCG", {})) == 0.5
    # The gains of nDCG replace the levels, so intent 2 has no relevant document left.
    assert scored(topic, "D#", ("nDCG", {"gains": {1: 0}}), gamma=1) == 1


def test_a_relevant_document_of_gain_0_counts_in_ia_only():
    topic = IntentTopic({"1": {"a": 2, "b": 1}}, ["a"], {"1": 1.0}, set())
    base = ("Q", {"beta": 0, "gains": {1: 0}})
    assert scored(topic, "IA", base) == 0.5
    assert scored(topic, "D", base) == 1


def test_a_nonrelevant_document_leaves_a_navigational_intent_open():
    topic = IntentTopic({"1": {"a": 0, "b": 1}}, ["a", "b"], {"1": 1.0}, {"1"})
    assert scored(topic, "DIN", ("O-measure", {"beta": 0})) == 0.5


def test_only_relevant_documents_use_up_a_class():
    assert intents.ec(("RR", {}), {"a": 0, "b": 1}, {"a": 1, "b": 1}, ["a", "b"], None, ()) == 0.5


@pytest.mark.parametrize("base", [*ALL_BASES, *WITH_SCALE], ids=ids)
def test_classes_of_one_document_change_nothing(base):
    for topic in topics(20):
        levels = intents.document_levels(topic.levels)
        if base[0] == "nDCG":
            params = {"gains": {level: 2**level - 1 for level in range(1, 5)}} if base[1] else {}
        else:
            params = base[1]
        expected = ranked.score(
            base[0], {**params, "cutoff": 10}, levels, topic.retrieved, max(levels.values())
        )
        for classes in ({}, {doc_id: doc_id for doc_id in levels}):
            assert intents.ec(base, levels, classes, topic.retrieved, 10, ()) == expected


@pytest.mark.parametrize(
    "params",
    [
        {"measure": ("GAP", {})},
        {"measure": ("AP", {})},
        {"measure": ("Q", {"cutoff": 10})},
        {"measure": ("NCU", {"stop": "gu", "stops": {1: 2}})},
        {"measure": ("Q", {"norm": "cutoff"}), "cutoff": None},
        {"measure": ("nCG", {}), "cutoff": None},
    ],
)
def test_undefined_base_measures_are_rejected(params):
    with pytest.raises(ValueError, match=r"none of|outer measure|stops|cutoff"):
        intents.score("D", {"cutoff": 10, **params}, EXAMPLE_A.levels, EXAMPLE_A.retrieved)


def test_topics_are_those_of_qrels_and_run():
    rows = [("1", i, doc_id, level) for i, docs in EXAMPLE_A.levels.items() for doc_id, level in docs.items()]
    rows += [("2", "1", "a", 1), ("3", "1", "a", 0)]
    run = {"1": {doc_id: -float(n) for n, doc_id in enumerate(EXAMPLE_A.retrieved)}, "3": {"a": 1.0}}
    known = {"1": {i: (p, "nav" if i in EXAMPLE_A.nav else "inf") for i, p in EXAMPLE_A.P.items()}}
    known |= {topic: {"1": (1.0, "inf")} for topic in ("2", "3")}
    found = intents.evaluate("P+Q", {"cutoff": 10}, rows, run, known)
    assert found == {"1": scored(EXAMPLE_A, "P+Q"), "2": 0, "3": 0}
