"""Measures over intents, from every form of qrels, compared with the plain reference and worked examples."""

import math
import random
from itertools import permutations

import ir_measures
import pandas as pd
import pytest
from intents.intent_cases import EXAMPLE_A, EXAMPLE_D, GAINS, random_topic
from reference import intents as reference

import ir_graded

pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")

#: Base measures with their parameters.
BASES = [
    *(("Q", params) for params in ({}, {"beta": 0}, {"beta": 10}, {"beta": math.inf}, {"norm": "cutoff"})),
    *((name, {}) for name in ("AWP", "O-measure", "P-measure", "P+", "nCG", "BR", "R-measure", "R-WP")),
    *(("NCU", {"stop": stop}) for stop in ("u", "rb", "gu", "first", "preferred", "up_to_preferred", "err")),
    *((name, {}) for name in ("EBR", "iRBU", "nERR", "gRBP", "nDCG")),
    *((name, {"norm": "ideal"}) for name in ("EBR", "iRBU", "gRBP")),
    ("NCU", {"stop": "err", "utility": "rr"}),
    *(("NCU", {"stop": stop, "utility": "ie", "norm": "ideal"}) for stop in ("err", "gu")),
    ("NCU", {"stop": "rb", "utility": "ie"}),
    ("nDCG", {"dcg": "exp-log2"}),
]
SCALED = ("EBR", "iRBU", "nERR", "gRBP")
NAMES = ("D", "DIN", "IA", "D#", "DIN#", "IA#")


def measure_of(base):
    name, params = base
    return (ir_measures.nDCG if name == "nDCG" else ir_graded.measures.REGISTRY[name])(**params)


def ours(name, cutoff=None, base=None, **params):
    """Return a measure over intents by its printed name."""
    made = ir_graded.measures.REGISTRY[name]
    given = {**params, **({} if base is None else {"measure": measure_of(base)})}
    return made(**given, **({} if cutoff is None else {"cutoff": cutoff}))


def rows_of(topics):
    """Return rows of qrels with all columns."""
    return pd.DataFrame(
        [
            (name, doc, level, intent, topic.P[intent], "nav" if intent in topic.nav else "inf")
            for name, topic in topics.items()
            for intent, levels in topic.levels.items()
            for doc, level in levels.items()
        ],
        columns=["query_id", "doc_id", "relevance", "iteration", "probability", "intent_type"],
    )


def known_of(topics):
    """Return probabilities and types of all intents, including those without rows."""
    return {
        name: {intent: (p, "nav" if intent in topic.nav else "inf") for intent, p in topic.P.items()}
        for name, topic in topics.items()
    }


def run_of(topics):
    return {name: {doc: -float(n) for n, doc in enumerate(topic.retrieved)} for name, topic in topics.items()}


def random_topics(seed, count=6):
    """Yield topics with a relevant document; in some, documents have levels below 0."""
    rng = random.Random(seed)  # noqa: S311  # not for security
    topics = {}
    while len(topics) < count:
        topic = random_topic(rng)
        for levels in topic.levels.values():
            levels.update({f"x{n}": -1 for n in range(rng.choice([0, 3]))})
        if all(topic.levels.values()) and sum(topic.P.values()) > 0:
            topics[f"t{len(topics)}"] = topic
    return topics


def scores(measure, topics, qrels=None, **options):
    return all_scores([measure], topics, qrels, **options)[0]


def all_scores(measures, topics, qrels=None, **options):
    """Return the scores by topic of each measure, from one call."""
    found = ir_graded.evaluate(
        measures, rows_of(topics) if qrels is None else qrels, run_of(topics), **options
    )
    return [dict(zip(found.query_ids, values.tolist(), strict=True)) for values in found.values[:, 0]]


def expected(name, params, topics, *, uniform=False):
    qrels = rows_of(topics)[["query_id", "iteration", "doc_id", "relevance"]].itertuples(
        index=False, name=None
    )
    known = None if uniform else known_of(topics)
    return reference.evaluate(name, params, list(qrels), run_of(topics), known)


# --------------------------------------------------------------------------------------- worked examples

OF_A = [
    (("Q", {"norm": "cutoff"}), 0.496234472050, 0.464984472050, 0.516666666667),
    (("nDCG", {}), 0.656260252109, 0.481523787494, 0.552241521246),
    (("P-measure", {}), 0.7, 0.589285714286, 0.679166666667),
    (("P+", {}), 0.661645962733, 0.642468944099, 0.60625),
    (("EBR", {}), 0.517471439139, 0.352599243856, 0.4375),
    (("iRBU", {}), 0.752911085678, 0.540312011483, 0.667433890530),
    (("nERR", {}), 0.590317652392, 0.523324730768, 0.455384615385),
    (("NCU", {"stop": "err", "utility": "rr"}), 0.393978247171, 0.349267143366, 0.328888888889),
    (("gRBP", {}), 0.088100312500, 0.056773149038, 0.057265203125),
    (("gRBP", {"norm": "ideal"}), 0.803877283335, 0.518030453245, 0.776477330508),
    (("NCU", {"stop": "rb"}), 0.508702746719, 0.478294040226, 0.517094017094),
]


@pytest.mark.parametrize(("base", "d", "din", "ia"), OF_A)
def test_d_din_and_ia_match_example_a(base, d, din, ia):
    for name, value in (("D", d), ("DIN", din), ("IA", ia)):
        assert scores(ours(name, 10, base), {"t": EXAMPLE_A})["t"] == pytest.approx(value, abs=1e-11)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("I-rec@1", 1 / 3),
        ("I-rec@3", 1),
        ("D#-Q@10", 0.748117236025),
        ("DIN#-Q@10", 0.732492236025),
        ("P+Q@10", 0.55),
        ("P+Q#@10", 0.775),
        ("D-Q@3", 0.428312629400),
        ("D(measure='Q')@3", 0.321234472050),
        ("D-nDCG@3", 0.465309732303),
        ("D(measure='Q(gains={2:3})')@10", 0.488045634921),
        ("D(measure='nDCG(gains={2:3})')@10", 0.653957099830),
        ("DIN(measure='Q(gains={2:3})')@10", 0.446378968254),
        ("IA(measure='nDCG(gains={2:3})')@10", 0.536043158397),
        ("P+Q(gains={2:3})@10", 0.545238095238),
    ],
)
def test_other_measures_match_example_a(measure, value):
    assert scores(measure, {"t": EXAMPLE_A})["t"] == pytest.approx(value, abs=1e-11)


def test_sums_that_differ_in_the_last_bit_are_one_gain():
    assert scores("D(measure='P-measure')", {"t": EXAMPLE_D})["t"] == pytest.approx(0.928571428571, abs=1e-11)


def test_intents_without_a_relevant_document_share_no_probability():
    rows = [("a", 1, "x"), ("b", 1, "y"), ("c", 0, "z")]
    qrels = [ir_measures.Qrel("t", doc, level, intent) for doc, level, intent in rows]
    run, expected = {"t": {"b": 2.0, "a": 1.0}}, [0.815464876786, 5 / 6]
    known = {"t": {"x": 1 / 3, "y": 1 / 3, "z": 1 / 3}}
    with pytest.warns(UserWarning, match="no document of the qrels has two intents"):
        found = ir_graded.evaluate("IA-nDCG@10 P+Q@10", qrels, run).values.ravel()
    assert found == pytest.approx(expected, abs=1e-12)
    given = ir_graded.evaluate("IA-nDCG@10 P+Q@10", qrels, run, intents=known).values.ravel()
    assert given == pytest.approx([2 / 3 * value for value in expected], abs=1e-12)


def test_a_level_below_0_is_unjudged_in_a_condensed_list_beside_other_measures():
    rows = [("u", -1, "x"), ("a", 2, "x"), ("a", 1, "y"), ("b", 1, "y")]
    qrels = pd.DataFrame(rows, columns=["doc_id", "relevance", "iteration"]).assign(query_id="t")
    run = {"t": {"u": 3.0, "a": 2.0, "b": 1.0}}
    for name in ("D", "DIN", "IA"):
        measure = f"{name}(measure='nDCG(judged_only=True)')@10"
        assert ir_graded.evaluate([measure, "Judged@5"], qrels, run).values.ravel().tolist() == [1, 1]


# --------------------------------------------------------------------------------------------- reference


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_every_base_measure_equals_the_reference(base, seed):
    topics = random_topics(seed, 3)
    name, params = base
    gains = GAINS[seed % 3]
    # nDCG takes only whole gains.
    more = {} if not gains or "dcg" in params or (name == "nDCG" and seed == 2) else {"gains": gains}
    if name != "nDCG" and seed == 2:
        more["rel"] = 2
    if "dcg" not in params and seed % 2:
        more["judged_only"] = True
    if (name in SCALED or params.get("stop") == "err") and seed == 3:
        more["max_rel"] = 5
    base = (name, {**params, **more})
    asked = [(measure, cutoff) for cutoff in (3, 10) for measure in NAMES]
    measures = [ours(measure, cutoff, base) for measure, cutoff in asked]
    found = all_scores(measures, topics, intents=known_of(topics))
    for (measure, cutoff), each in zip(asked, found, strict=True):
        wanted = expected(measure, {"measure": base, "cutoff": cutoff}, topics)
        assert each == pytest.approx(wanted, abs=1e-12), measure


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["I-rec", "P+Q", "P+Q#"])
def test_measures_without_a_base_measure_equal_the_reference(name, seed):
    topics = random_topics(seed)
    params = {"cutoff": 5} if seed % 2 else {}
    if seed % 3 == 1:
        params |= {"judged_only": True, "rel": 2}
    if name != "I-rec" and seed % 4 > 1:
        params |= {"beta": 2, "gains": GAINS[1]}
    found = scores(ours(name, **params), topics)
    assert found == pytest.approx(expected(name, params, topics), abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", NAMES)
def test_missing_probabilities_are_uniform_over_relevant_intents(name, seed):
    topics = {name: topic._replace(nav=set()) for name, topic in random_topics(seed).items()}
    qrels = rows_of(topics).drop(columns=["probability", "intent_type"])
    base = ("Q", {"rel": 1 + seed % 2})
    found = scores(ours(name, 10, base), topics, qrels)
    params = {"measure": base, "cutoff": 10}
    assert found == pytest.approx(expected(name, params, topics, uniform=True), abs=1e-12)


# -------------------------------------------------------------------------------------------- properties


def all_measures():
    bases = [base for base in BASES if "dcg" not in base[1]]
    made = [ours(name, 10, base) for base in bases for name in ("D", "DIN", "IA", "D#")]
    return [*made, ours("P+Q#", 10), ours("I-rec", 10)]


@pytest.mark.parametrize("base", BASES, ids=str)
def test_one_intent_of_probability_1_is_the_base_measure(base):
    name, params = base
    if name in SCALED or params.get("stop") == "err":
        base = (name, {**params, "max_rel": 4})
    for seed in range(2):
        topics = {
            name: topic._replace(
                levels={"i": reference.document_levels(topic.levels)}, P={"i": 1.0}, nav=set()
            )
            for name, topic in random_topics(seed).items()
        }
        measures = [measure_of(base) @ 10, *(ours(name, 10, base) for name in ("D", "IA", "DIN"))]
        wanted, *found, recall, success = all_scores([*measures, "I-rec@3", "Success@3"], topics)
        for each in found:
            assert each == pytest.approx(wanted, abs=1e-12)
        assert recall == success


@pytest.mark.slow
def test_gamma_of_0_and_1_selects_one_part():
    topics = random_topics(1)
    for name in ("D", "IA", "DIN", "P+Q"):
        base = None if name == "P+Q" else ("Q", {"norm": "cutoff"})
        assert scores(ours(f"{name}#", 10, base, gamma=0), topics) == scores(ours(name, 10, base), topics)
        assert scores(ours(f"{name}#", 10, base, gamma=1), topics) == scores("I-rec@10", topics)


@pytest.mark.slow
def test_types_decide_between_informational_and_navigational():
    topics = random_topics(2)
    informational = {name: topic._replace(nav=set()) for name, topic in topics.items()}
    navigational = {name: topic._replace(nav=set(topic.levels)) for name, topic in topics.items()}
    assert scores("DIN-nDCG@10", informational) == scores("D-nDCG@10", informational)
    assert scores("P+Q@10", informational) == scores("IA-Q@10", informational)
    assert scores("P+Q@10", navigational) == scores("IA-P+@10", navigational)
    found, without = scores("DIN-nDCG@10", navigational), scores("D-nDCG@10", navigational)
    assert all(found[name] <= without[name] for name in found)
    assert found != without


@pytest.mark.slow
def test_names_and_order_of_intents_and_rows_change_no_bit():
    topics = random_topics(3)
    frame = rows_of(topics)
    renamed = frame.assign(iteration=[f"{9 - int(intent)}x" for intent in frame["iteration"]])
    shuffled = renamed.sample(frac=1, random_state=1)
    assert all_scores(all_measures(), topics) == all_scores(all_measures(), topics, shuffled)


@pytest.mark.parametrize("name", ["D", "IA"])
def test_splitting_an_intent_in_two_halves_changes_nothing(name):
    topics = random_topics(4)
    halved = {
        key: topic._replace(
            levels={**topic.levels, "half": topic.levels["1"]},
            P={**topic.P, "1": topic.P["1"] / 2, "half": topic.P["1"] / 2},
        )
        for key, topic in topics.items()
    }
    measures = [ours(name, 10, base) for base in BASES]
    for found, wanted in zip(all_scores(measures, halved), all_scores(measures, topics), strict=True):
        assert found == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("base", ["Q", "AWP", "nDCG", "nERR", "P-measure", "NCU(stop='rb')"])
def test_the_ideal_list_by_global_gain_scores_1(base):
    for name, topic in random_topics(5).items():
        gains = reference.global_gains(("Q", {}), topic.levels, topic.P)
        ideal = topic._replace(retrieved=sorted(gains, key=gains.get, reverse=True))
        found = scores(ir_graded.D(measure=base), {name: ideal})
        assert found[name] == pytest.approx(float(any(gain > 0 for gain in gains.values())), abs=1e-12)


@pytest.mark.slow
def test_a_topic_scores_the_same_alone_and_among_others():
    topics = random_topics(6, 3)
    together = all_scores(all_measures(), topics)
    for name, topic in topics.items():
        assert all_scores(all_measures(), {name: topic}) == [{name: each[name]} for each in together]


# ------------------------------------------------------------------------------------- ties and explaining


@pytest.mark.slow
@pytest.mark.parametrize("name", ["D", "IA", "D#", "IA#", "DIN#", "DIN", "I-rec", "P+Q", "P+Q#"])
def test_explained_contributions_sum_to_the_score(name):
    topics = random_topics(10, 3)
    qrels, run = rows_of(topics), run_of(topics)
    plain = name in ("I-rec", "P+Q", "P+Q#")
    measures = [
        ours(name, 5, base)
        if plain or "dcg" in base[1]
        else ours(name, 5, (base[0], {**base[1], "judged_only": True}))
        for base in ([None] if plain else BASES[::2])
    ]
    for measure, wanted in zip(measures, all_scores(measures, topics, qrels), strict=True):
        for topic, score in wanted.items():
            found = ir_graded.explain(measure, qrels, run, topic)
            assert found.score == score
            assert math.fsum(found.to_frame()["contribution"]) == pytest.approx(score, abs=1e-12), measure


def test_an_explanation_names_intents():
    found = ir_graded.explain("IA-Q@10", rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A}), "t").to_frame()
    assert found["intent"].tolist() == ["2", "1", "3", "1", "2"]
    assert found["doc_id"].tolist() == ["b", "c", "c", "a", "a"]
    assert found["level"].tolist() == [2, 1, 1, 2, 1]
    assert found["probability"].tolist() == [0.3, 0.5, 0.2, 0.5, 0.3]
    assert found["C"].tolist() == [1, 1, 1, 2, 2]
    blended = (found["C"] + found["cg"]) / (found["rank"] + found["cg_star"])
    assert found["BR"].tolist() == pytest.approx(blended.tolist())
    gains = ir_graded.explain("D-Q@10", rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A}), "t").to_frame()
    assert gains["gain"].tolist() == [0.6, 0.7, 1.3]


def test_din_has_no_expected_score():
    qrels, run = rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A})
    with pytest.raises(ir_graded.ParameterError, match="ties='doc_id'"):
        ir_graded.evaluate("DIN#(measure='Q')", qrels, run, ties="expected")


@pytest.mark.slow
def test_expected_scores_are_means_over_all_orders():
    measures = [
        *("D-Q@4", "D#-nDCG@2", "IA-Q@4", "IA#-P+@3", "I-rec@1", "I-rec@2", "P+Q#@3"),
        *("IA(measure='Q(judged_only=True)')@3", "D#(measure='Q(judged_only=True)')@2"),
    ]
    topics = {name: topic for name, topic in random_topics(7, 8).items() if len(topic.retrieved) > 3}
    assert len(topics) > 3
    qrels = rows_of(topics)
    # All orders of the first three documents, which are tied, above the others.
    in_order = {
        str(order): {
            name: {doc: -float(order[n] if n < 3 else n) for n, doc in enumerate(topic.retrieved)}
            for name, topic in topics.items()
        }
        for order in permutations(range(3))
    }
    means = ir_graded.evaluate(measures, qrels, in_order).values.mean(axis=1)
    tied = {
        name: {doc: -float(max(n, 2)) for n, doc in enumerate(topic.retrieved)}
        for name, topic in topics.items()
    }
    found = ir_graded.evaluate(measures, qrels, tied, ties="expected").values[:, 0]
    for measure, values, mean in zip(measures, found, means, strict=True):
        assert values == pytest.approx(mean, abs=1e-12), measure


def test_optimistic_and_pessimistic_orders_of_d_are_by_global_gain():
    # b has the higher level, a the higher gain over the intents.
    qrels = [ir_measures.Qrel("t", "a", 2, i) for i in "xy"] + [ir_measures.Qrel("t", "b", 3, "x")]
    run = {"t": {"a": 1.0, "b": 1.0}}
    found = {
        how: ir_graded.evaluate("D(measure='nDCG')@1", qrels, run, ties=how).values.item()
        for how in ("optimistic", "pessimistic", "expected")
    }
    assert found == {"optimistic": 1, "pessimistic": 0.75, "expected": 0.875}
    assert ir_graded.explain("D(measure=\"nDCG(ties='optimistic')\")@1", qrels, run, "t").to_frame()[
        "doc_id"
    ].tolist() == ["a"]


@pytest.mark.parametrize("measure", ["IA-Q@10", "P+Q@10", "I-rec@10"])
def test_the_best_order_is_rejected_if_intents_differ(measure):
    with pytest.raises(ir_graded.ParameterError, match="ties"):
        ir_graded.evaluate(measure, rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A}), ties="optimistic")
