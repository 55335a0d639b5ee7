"""Measures over intents, from every form of qrels, compared with worked examples, and identities."""

import math
import random

import ir_measures
import pandas as pd
import pytest
from intents.intent_cases import EXAMPLE_A, EXAMPLE_D, random_topic
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


# ------------------------------------------------------------------------------------- ties and explaining


def test_an_explanation_names_intents():
    found = ir_graded.explain("IA-Q@10", rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A}), "t").columns
    assert found["intent"].tolist() == ["2", "1", "3", "1", "2"]
    assert found["doc_id"].tolist() == ["b", "c", "c", "a", "a"]
    assert found["level"].tolist() == [2, 1, 1, 2, 1]
    assert found["probability"].tolist() == [0.3, 0.5, 0.2, 0.5, 0.3]
    assert found["C"].tolist() == [1, 1, 1, 2, 2]
    blended = (found["C"] + found["cg"]) / (found["rank"] + found["cg_star"])
    assert found["BR"].tolist() == pytest.approx(blended.tolist())
    gains = ir_graded.explain("D-Q@10", rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A}), "t")
    assert gains.columns["gain"].tolist() == [0.6, 0.7, 1.3]


def test_din_has_no_expected_score():
    qrels, run = rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A})
    with pytest.raises(ir_graded.ParameterError, match="ties='doc_id'"):
        ir_graded.evaluate("DIN#(measure='Q')", qrels, run, ties="expected")


def test_optimistic_and_pessimistic_orders_of_d_are_by_global_gain():
    # b has the higher level, a the higher gain over the intents.
    qrels = [ir_measures.Qrel("t", "a", 2, i) for i in "xy"] + [ir_measures.Qrel("t", "b", 3, "x")]
    run = {"t": {"a": 1.0, "b": 1.0}}
    found = {
        how: ir_graded.evaluate("D(measure='nDCG')@1", qrels, run, ties=how).values.item()
        for how in ("optimistic", "pessimistic", "expected")
    }
    assert found == {"optimistic": 1, "pessimistic": 0.75, "expected": 0.875}
    optimistic = ir_graded.explain("D(measure=\"nDCG(ties='optimistic')\")@1", qrels, run, "t").to_frame()
    assert optimistic[["rank", "doc_id", "state"]].to_numpy().tolist() == [
        [1, "a", "counted"],
        [2, "b", "missed"],
    ]


@pytest.mark.parametrize("measure", ["IA-Q@10", "P+Q@10", "I-rec@10"])
def test_the_best_order_is_rejected_if_intents_differ(measure):
    with pytest.raises(ir_graded.ParameterError, match="ties"):
        ir_graded.evaluate(measure, rows_of({"t": EXAMPLE_A}), run_of({"t": EXAMPLE_A}), ties="optimistic")
