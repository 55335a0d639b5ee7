"""The C/W/L measures, IPrec, SetAP, Compat and Accuracy: worked example, references, errors, edge cases."""

import copy
import itertools
import pickle
import random

import ir_measures
import numpy as np
import pytest

import ir_graded
from ir_graded import ParameterError
from ir_graded.measures.classic.cwl import weights_down_to

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


@pytest.mark.slow
def test_a_call_of_two_measures_equals_two_calls():
    names = [*WORKED, "IPrec@0.125", "IPrec@0.12", "BPM(max_rel=2)@4"]
    alone = {name: ir_graded.evaluate(name, QRELS, RUN).values.item() for name in names}
    for pair in itertools.combinations(names, 2):
        together = ir_graded.evaluate(pair, QRELS, RUN).values.ravel().tolist()
        assert together == [alone[name] for name in pair]


def test_recalls_that_differ_in_the_third_decimal_are_distinct():
    """Of 41 documents, 0.12 requires 5, and 0.125 requires 6."""
    qrels = {"1": dict.fromkeys(map(str, range(41)), 1)}
    run = {"1": {str(n): -float(n) for n in range(5)}}
    found = ir_graded.evaluate(["IPrec@0.125", "IPrec@0.12", "IPrec@0.13"], qrels, run).values.ravel()
    assert found.tolist() == [0.0, 1.0, 0.0]


# ------------------------------------------------------------------------------------------ Compat's depth


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Compat(depth=1000)", 0.504521063596),
        ("Compat(depth=1000,p=0.8)", 0.317494088115),
        ("Compat(depth=6)", 0.329096811044),
        ("Compat(depth=6,ties='optimistic')", 0.329096811044),
    ],
)
def test_compat_takes_a_depth(name, expected):
    found = ir_graded.evaluate([name, "Compat"], QRELS, RUN)
    assert found.names == [name, "Compat"]
    assert found.values.ravel().tolist() == pytest.approx([expected, 0.329096811044], abs=1e-11)
    measure = found.measures[0]
    assert pickle.loads(pickle.dumps(measure)) == copy.deepcopy(measure) == measure  # noqa: S301
    assert ir_graded.evaluate(measure, QRELS, RUN).values.item() == found.values[0, 0, 0]
    (alone,) = ir_measures.calc_aggregate([name], QRELS, RUN).values()
    assert alone == found.values[0, 0, 0]


@pytest.mark.parametrize(
    "name", ["Compat(depth=0)", "Compat(depth=1.5)", "Compat(depth=10000000)", "Compat(dep=3)"]
)
def test_a_wrong_depth_is_rejected(name):
    with pytest.raises(ParameterError, match="Compat"):
        ir_graded.evaluate(name, QRELS, RUN)


# -------------------------------------------------------------------------------- errors and edge cases


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SDCG(max_rel=1,min_rel=1)@5", r"max_rel=1 must be above min_rel=1: for example SDCG\(.*max_rel=2"),
        ("INST(max_rel=0)", "max_rel=0 must be above min_rel=0: for example"),
        ("INST(max_rel=2,T=0)", r"T must be above 0 .*: for example INST\(.*T=2.0"),
        (ir_measures.BPM(max_rel=2, T=-1.0) @ 5, "T must be above 0"),
        ("NERR10(max_rel=2,p=1.5)", "p must be from 0 to 1: for example"),
        ("IPrec@1.5", "the recall must be from 0 to 1: for example IPrec@0.5"),
        (ir_measures.IPrec @ -0.1, "the recall must be from 0 to 1"),
        *((f"Compat(p={p})", r"p must be above 0 and below 1: for example Compat\(p=0.9\)") for p in (0, 1)),
        ("SDCG(max_rel=2)", "needs a cutoff: for example"),
        ("NERR8(max_rel=2)", "needs a cutoff"),
        ("NERR9@10", "needs a max_rel"),
        ("BPM", "needs a cutoff and a max_rel"),
        ("INSQ", "needs a max_rel"),
    ],
)
def test_wrong_parameters_are_rejected(name, message):
    with pytest.raises(ParameterError, match=message):
        ir_graded.evaluate(name, QRELS, RUN)


@pytest.mark.parametrize(
    "name",
    [
        "INST(max_rel=2)",
        "NERR8(max_rel=2)@3",
        "BPM(max_rel=2)@3",
        "IPrec@0.5",
        "Compat",
        "Compat(depth=5)",
        "Accuracy@3",
    ],
)
def test_measures_without_a_mean_over_orders_reject_expected(name):
    with pytest.raises(ParameterError, match=r"no exact mean|no expected score"):
        ir_graded.evaluate(name, QRELS, RUN, ties="expected")
    run = {"1": {"a": 2.0, "b": 1.0, "x": 1.0}}
    found = ir_graded.evaluate(name, {"1": {"a": 2, "b": 1}}, run, ties="optimistic")
    assert found.values.item() > 0


def test_accuracy_of_relevant_documents_only_is_1_and_of_none_is_0():
    qrels = {"1": {"a": 1, "b": 1}, "2": {"a": 1}, "3": {"a": 0}}
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"x": 1.0}, "3": {"a": 1.0}}
    found = ir_graded.evaluate(["Accuracy", "Accuracy@1"], qrels, run)
    assert found.values[:, 0].tolist() == [[1, 0, 0], [1, 0, 0]]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("name", ["INST(max_rel=3)", "INSQ(max_rel=3)"])
def test_each_of_many_topics_scores_as_alone(name):
    """Weights are summed in blocks of topics."""
    source = random.Random(3)  # noqa: S311
    qrels = {str(number): {doc: source.randint(0, 3) for doc in "abcde"} for number in range(600)}
    run = {topic: dict(zip(source.sample("abcdexyz", 7), range(7), strict=True)) for topic in qrels}
    together = ir_graded.evaluate(name, qrels, run).values[0, 0]
    alone = [ir_graded.evaluate(name, {one: qrels[one]}, {one: run[one]}).values[0, 0, 0] for one in qrels]
    np.testing.assert_allclose(together, alone, rtol=1e-14)
    assert len(set(alone)) > 300


def test_bpm_adds_up_decimals():
    """Of n documents with a gain of 0.1 each, users who want n/10 read no more."""
    for n in range(1, 21):
        docs = [f"d{rank:02}" for rank in range(n)]
        qrels, run = {"1": dict.fromkeys(docs, 1)}, {"1": {doc: -float(at) for at, doc in enumerate(docs)}}
        found = ir_graded.evaluate(ir_measures.BPM(max_rel=10, T=n / 10) @ 40, qrels, run)
        assert found.values.item() == pytest.approx(0.1, abs=1e-15)
    # In doubles, 0.7 + 0.1 < 0.8.
    qrels, run = {"1": {"a": 7, "b": 1}}, {"1": {"a": 2.0, "b": 1.0}}
    found = ir_graded.evaluate("BPM(max_rel=10,T=0.8)@40", qrels, run)
    assert found.values.item() == pytest.approx(0.4, abs=1e-15)


def test_sdcg_counts_ranks_below_1000():
    docs = [f"d{rank:04}" for rank in range(2000)]
    qrels, run = {"1": dict.fromkeys(docs, 1)}, {"1": {doc: -float(at) for at, doc in enumerate(docs[:1000])}}
    found = ir_graded.evaluate("SDCG(max_rel=1)@2000", qrels, run).values.item()
    assert found == pytest.approx(0.564181146379, abs=1e-11)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_negative_min_rel_gives_every_judged_document_a_gain():
    qrels, run = {"1": {"a": -3, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}}
    assert ir_graded.evaluate(ir_measures.NERR8(max_rel=1, min_rel=-1) @ 1, qrels, run).values.item() == 0.5
    with pytest.raises(ParameterError, match="exact bounds require"):
        ir_graded.score_bounds(ir_measures.SDCG(max_rel=1, min_rel=-1) @ 2, qrels, run)


@pytest.mark.parametrize("weight", [lambda n: 1.0 / np.log2(n + 1.0), lambda n: 1.0 / n, lambda n: n**0.0])
@pytest.mark.parametrize("ranks", [65537, 70_000, 10**6, 5 * 10**6])
def test_weights_of_many_ranks_are_summed(weight, ranks):
    known, rest = weights_down_to(weight, ranks)
    assert known.sum() + rest == pytest.approx(weight(np.arange(1, ranks + 1)).sum(), rel=1e-14)


def test_the_largest_cutoff_is_computed():
    names = ["SDCG(max_rel=3)@2147483647", "NERR9(max_rel=3)@2147483647", "BPM(max_rel=3)@2147483647"]
    assert (ir_graded.evaluate(names, QRELS, RUN).values > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["SDCG(max_rel=3)@4", "INSQ(max_rel=3)", "NERR8(max_rel=3)@4", "NERR9(max_rel=3)@4",
             "NERR10(max_rel=3)", "NERR11(max_rel=3,min_rel=1)"]
)  # fmt: skip
def test_bounds_are_the_scores_of_the_worst_and_the_best_judgments(name):
    rng = random.Random(9)  # noqa: S311
    scale = [0, 1, 2, 3]
    for _ in range(30):
        docs = [f"d{n}" for n in range(5)]
        levels = {doc: rng.choice(scale) for doc in rng.sample(docs, 3)} | {"other": 3}
        run = {"1": {doc: -float(n) for n, doc in enumerate(docs)}}
        unjudged = [doc for doc in docs if doc not in levels]
        found = ir_graded.score_bounds(name, {"1": levels}, run)
        guesses = itertools.product(scale, repeat=len(unjudged))
        # Each guess is a topic.
        guessed = {str(at): levels | dict(zip(unjudged, g, strict=True)) for at, g in enumerate(guesses)}
        scores = ir_graded.evaluate(name, guessed, dict.fromkeys(guessed, run["1"])).values.ravel().tolist()
        assert len(scores) == 4 ** len(unjudged)
        assert found.lower.item() == pytest.approx(min(scores), abs=1e-14)
        upper = found.upper.item()
        if name.startswith(("INSQ", "SDCG")):  # further documents of the best level below the end of the run
            assert upper >= max(scores) - 1e-14
        else:
            assert upper == pytest.approx(max(scores), abs=1e-14)
