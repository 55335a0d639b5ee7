"""The C/W/L measures, IPrec, SetAP, Compat and Accuracy: worked example, references, errors, edge cases."""

import itertools
import random

import ir_measures
import pytest
from reference import ranked
from ties import tie_scores

import ir_graded
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.classic.ties import with_ties

#: Level m: pooled, not judged; x is unjudged.
QRELS = {"1": {"a": 3, "b": 1, "c": 2, "u": 2, "n": 0, "m": -1}}
RUN = {"1": {doc: -float(rank) for rank, doc in enumerate("bxancm")}}

WORKED = {
    "SDCG(max_rel=3)@3": 0.391065605019,
    "SDCG(max_rel=3)@10": 0.240171883676,
    "SDCG(min_rel=1,max_rel=3)@3": 0.234639363011,
    "NERR8(max_rel=3)@10": 0.428571428571,
    "NERR9(max_rel=3)@10": 0.357142857143,
    "NERR10(max_rel=3)": 0.408099688474,
    "NERR11(max_rel=3)": 0.341772151899,
    "INSQ(max_rel=3)": 0.255230275924,
    "INSQ(T=2.0,max_rel=3)": 0.208706714351,
    "INST(max_rel=3)": 0.290744144444,
    "INST(T=2.0,max_rel=3)": 0.243384465207,
    "INST(min_rel=1,max_rel=3)": 0.129015416516,
    "BPM(max_rel=3)@10": 0.444444444444,
    "BPM(T=2.0,max_rel=3)@10": 0.4,
    "BPM(T=2.0,max_rel=3)@4": 0.333333333333,
    "infAP": 0.566665666684,
    "infAP(rel=2)": 0.244445777754,
    "SetAP": 0.375,
    "IPrec@0.0": 1,
    "IPrec@0.3": 0.666666666667,
    "IPrec@0.8": 0,
    "IPrec(rel=2)@0.5": 0.4,
    "Compat": 0.329096811044,
    "Compat(p=0.8)": 0.251257813691,
    "Compat(p=0.8,normalize=False)": 0.238239801081,
    "Accuracy": 0.666666666667,
    "Accuracy@4": 0.75,
    "Accuracy(rel=2)": 0.375,
}


def test_worked_example_has_its_values():
    found = ir_graded.evaluate([*WORKED], QRELS, RUN)
    assert found.names == [*WORKED]
    assert found.values.ravel().tolist() == pytest.approx([*WORKED.values()], abs=1e-11)


def test_a_call_of_two_measures_equals_two_calls():
    for pair in itertools.combinations([*WORKED, "IPrec@0.125", "IPrec@0.12", "BPM(max_rel=2)@4"], 2):
        together = ir_graded.evaluate(pair, QRELS, RUN).values.ravel().tolist()
        assert together == [ir_graded.evaluate(one, QRELS, RUN).values.item() for one in pair]


def test_recalls_that_differ_in_the_third_decimal_are_distinct():
    """Of 41 documents, 0.12 requires 5, and 0.125 requires 6."""
    qrels = {"1": dict.fromkeys(map(str, range(41)), 1)}
    run = {"1": {str(n): -float(n) for n in range(5)}}
    found = ir_graded.evaluate(["IPrec@0.125", "IPrec@0.12", "IPrec@0.13"], qrels, run).values.ravel()
    assert found.tolist() == [0.0, 1.0, 0.0]


# ---------------------------------------------------------------------------------------- references

#: Parameters to draw; SCALES has their levels.
DRAWN = {
    "SDCG": {"max_rel": [2, 3, 10], "min_rel": [None, 1, -1], "cutoff": [1, 3, 10, 1500]},
    "INSQ": {"max_rel": [2, 3, 10], "min_rel": [None, 1, -1], "T": [None, 0.25, 0.5, 2.0, 7.5]},
    "INST": {"max_rel": [2, 3, 10], "min_rel": [None, 1, -1], "T": [None, 0.25, 0.5, 2.0, 7.5]},
    "BPM": {
        "max_rel": [2, 3, 10],
        "min_rel": [None, 1, -1],
        "T": [None, 0.1, 0.5, 2.0],
        "cutoff": [1, 5, 20],
    },
    "NERR8": {"max_rel": [2, 3, 10], "min_rel": [None, 1, -1], "cutoff": [1, 3, 10, 1500]},
    "NERR9": {"max_rel": [2, 3, 10], "min_rel": [None, 1, -1], "cutoff": [1, 3, 10, 1500]},
    "NERR10": {"max_rel": [2, 3, 10], "min_rel": [None, 1, -1], "p": [None, 0.0, 0.5, 0.99, 1.0]},
    "NERR11": {"max_rel": [2, 3, 10], "min_rel": [None, 1, -1], "T": [None, 0.25, 0.5, 2.0, 7.5]},
    "IPrec": {"recall": [0.0, 0.12, 0.125, 0.3, 0.5, 1.0], "rel": [None, 2], "judged_only": [None, True]},
    "SetAP": {"rel": [None, 2], "judged_only": [None, True]},
    "Compat": {"p": [None, 0.1, 0.8, 0.99], "normalize": [None, False]},
    "Accuracy": {"cutoff": [None, 1, 4, 10], "rel": [None, 2]},
    "infAP": {"rel": [None, 2]},
}
SCALES = [(-1, 0, 0, 1, 2, 3), (-2, -0.5, 0, 0.5, 1, 1.5, 2.75, 3), (0, 1), (0, 1, 4, 12)]
each_measure = pytest.mark.parametrize("name", DRAWN)


def draw(rng, name):
    """Return a measure with drawn parameters, and these parameters."""
    chosen = {param: rng.choice(values) for param, values in DRAWN[name].items()}
    params = {param: value for param, value in chosen.items() if value is not None}
    return getattr(ir_measures, name)(**params), params


def collection(rng, topics, longest=40, scores=25):
    """Return random qrels and a run; topics may be short, or without a relevant document."""
    qrels, run = {}, {}
    for number in range(topics):
        scale = rng.choice(SCALES)
        docs = [f"d{doc:03}" for doc in range(longest * 3 // 2)]
        judged = rng.sample(docs, rng.choice([3, longest // 2, longest]))
        qrels[str(number)] = {doc: rng.choice(scale) for doc in judged}
        retrieved = rng.sample(docs, rng.choice([1, longest // 4, longest]))
        run[str(number)] = {doc: float(rng.randrange(scores)) for doc in retrieved}
    return qrels, run


def in_order(how, levels, scores):
    """Return documents by score; tied ones by id descending, or by level; unjudged ones have the lowest."""
    docs = sorted(scores, reverse=True)
    if how != "doc_id":
        docs.sort(key=lambda doc: levels.get(doc, -100), reverse=how == "optimistic")
    return sorted(docs, key=scores.get, reverse=True)


@each_measure
@pytest.mark.parametrize("how", ["doc_id", "optimistic", "pessimistic"])
def test_scores_equal_the_reference(name, how):
    rng = random.Random(f"{name} {how}")  # noqa: S311
    seen = set()
    for _ in range(32):
        qrels, run = collection(rng, 20)
        measure, params = draw(rng, name)
        if how != "doc_id" and not scorer_of(measure).RANKED:
            continue
        for topic, found in tie_scores.scores([with_ties(measure, how)], qrels, run).popitem()[1].items():
            expected = ranked.score(name, params, qrels[topic], in_order(how, qrels[topic], run[topic]))
            assert found == pytest.approx(expected, abs=1e-13), (measure, qrels[topic], run[topic])
            seen.add(found)
    assert len(seen) > 50 or how != "doc_id"


@pytest.mark.slow
@each_measure
def test_long_rankings_equal_the_reference(name):
    rng = random.Random(f"long {name}")  # noqa: S311
    for _ in range(4):
        qrels, run = collection(rng, 3, longest=1600, scores=10**9)
        measure, params = draw(rng, name)
        for topic, found in tie_scores.scores([measure], qrels, run)[measure].items():
            order = in_order("doc_id", qrels[topic], run[topic])
            expected = ranked.score(name, params, qrels[topic], order)
            assert found == pytest.approx(expected, rel=1e-13, abs=1e-15), measure
