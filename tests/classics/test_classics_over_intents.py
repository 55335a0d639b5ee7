"""Classics over intents (subtopics): by hand, against the reference, and beside pyndeval."""

import math
import random
import re
from functools import cache

import ir_measures
import numpy as np
import pandas as pd
import pytest
from intents.intent_cases import random_topic
from reference import subtopics as reference
from reference.test_every_measure import drawn

import ir_graded
from ir_graded import InputError, ParameterError
from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.classic.intents import IntentClassic
from ir_graded.measures.classic.ties import with_ties

pytestmark = pytest.mark.filterwarnings(
    "ignore::ir_graded.CoverageWarning", "ignore:.*no document of the qrels has two intents:UserWarning"
)

NAMES = [name for name, kind in CLASSICS.items() if issubclass(kind, IntentClassic)]
#: Relevance by intent, and a ranking; y and x are unjudged.
LEVELS = {
    "1": {"a": 2, "b": 0, "c": 1, "e": 1},
    "2": {"a": 1, "b": 1, "d": 1},
    "3": {"d": 2},
    "4": {"f": 1},
    "5": {"a": 0},
}
RANKING = ["x", "b", "a", "c", "d", "y", "e"]
BY_HAND = {
    "alpha_DCG@3": 0.239667376801,
    "alpha_nDCG@3": 0.400688226881,
    "ERR_IA@3": 0.1875,
    "nERR_IA@3": 0.324324324324,
    "P_IA@3": 0.25,
    "StRecall@3": 0.5,
    "alpha_nDCG(alpha=0.2)@3": 0.421085592480,
    "alpha_DCG@5": 0.342420895822,
    "alpha_nDCG@5": 0.553376044279,
    "ERR_IA@5": 0.249621785174,
    "nERR_IA@5": 0.421994884910,
    "P_IA@5": 0.3,
    "StRecall@5": 0.75,
    "alpha_nDCG(alpha=0.2)@5": 0.593667923738,
    "AP_IA": 0.302380952381,
    "NRBP": 0.191162109375,
    "nNRBP": 0.330379746835,
    "NRBP(alpha=0.2,beta=0.8)": 0.288100454400,
    "nNRBP(alpha=0.2,beta=0.8)": 0.645196509930,
    "alpha_nDCG": 0.562227043840,
    "alpha_nDCG(rel=2)@5": 0.543771309152,
}


def rows_of(topics):
    """Return the levels of topics as a frame, in random order."""
    rows = [
        (topic, doc, level, intent)
        for topic, levels in topics.items()
        for intent, of_intent in levels.items()
        for doc, level in of_intent.items()
    ]
    random.Random(len(rows)).shuffle(rows)  # noqa: S311
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iteration"])


def run_of(rankings):
    return {topic: {doc: -float(n) for n, doc in enumerate(ranking)} for topic, ranking in rankings.items()}


def scores(measures, topics, rankings, **options):
    """Return the scores by measure, each a dict by topic."""
    found = ir_graded.evaluate(measures, rows_of(topics), run_of(rankings), **options)
    return {
        measure: dict(zip(found.query_ids, values[0].tolist(), strict=True))
        for measure, values in zip(found.measures, found.values, strict=True)
    }


# -------------------------------------------------------------------------------------------- by hand


def test_every_measure_of_pyndeval_is_a_classic():
    assert set(NAMES) == {measure.NAME for measure in ir_measures.pyndeval.SUPPORTED_MEASURES}


def test_the_worked_example_has_its_values():
    found = ir_graded.evaluate(list(BY_HAND), rows_of({"1": LEVELS}), run_of({"1": RANKING}))
    assert found.values.ravel().tolist() == pytest.approx(list(BY_HAND.values()), abs=1e-11)
    for name, expected in BY_HAND.items():
        measure = ir_measures.parse_measure(name)
        assert reference.score(measure.NAME, measure.params, LEVELS, RANKING) == pytest.approx(
            expected, abs=1e-11
        )


@pytest.mark.parametrize(
    ("levels", "ideal"),
    [(LEVELS, "dafecb"), ({"1": {"a": 1, "c": 1}, "2": {"a": 1, "b": 1}, "3": {"b": 1, "c": 1}}, "cba")],
)
def test_the_ideal_list_scores_1_and_others_less(levels, ideal):
    assert reference.greedy(reference.relevant(levels, 1), 0.5) == list(ideal)
    measures = ["alpha_nDCG", "nERR_IA", "nNRBP"]
    found = scores(measures, {"1": levels}, {"1": list(ideal)})
    assert [values["1"] for values in found.values()] == [1.0] * 3
    # Only the order of equal documents can be another one.
    changed = scores(measures, {"1": levels}, {"1": ["x", *ideal]})
    assert all(values["1"] < 1 for values in changed.values())


def test_a_list_can_be_better_than_that_of_the_greedy_algorithm():
    levels = {
        intent: dict.fromkeys(docs, 1)
        for intent, docs in {"1": "gs", "2": "gs", "3": "s", "4": "gt", "5": "gt", "6": "t"}.items()
    }
    found = scores(["alpha_nDCG(alpha=1.0)@2"], {"1": levels}, {"1": ["s", "t"]})
    ((value,),) = (values.values() for values in found.values())
    assert value == pytest.approx((3 + 3 / math.log2(3)) / (4 + 1 / math.log2(3)))
    assert 1 < value < CLASSICS["alpha_nDCG"].RANGE[1]


def test_gains_equal_but_for_rounding_are_equal():
    """Below z, b adds 12 * .1 and a adds 1 + .1 + .1; in doubles the first sum is smaller."""
    twelve = [f"i{n}" for n in range(12)]
    of_documents = {"z": [*twelve, "j"], "b": twelve, "a": ["new", "i0", "i1"], "c": ["new", "j"]}
    levels = {intent: {} for intent in (*twelve, "j", "new")}
    for doc, intents in of_documents.items():
        for intent in intents:
            levels[intent][doc] = 1
    assert reference.greedy(reference.relevant(levels, 1), 1 - 0.9) == ["z", "b", "c", "a"]
    found = scores(
        ["alpha_nDCG(alpha=0.9)@3", "nNRBP(alpha=0.9)"], {"1": levels}, {"1": ["z", "b", "c", "a"]}
    )
    assert [values["1"] for values in found.values()] == [1.0, 1.0]


def test_large_groups_of_tied_documents():
    """Each intent has a list of one group, for which the mean is known: H_n / n of one document."""
    documents = [f"d{n}" for n in range(3000)]
    qrels = rows_of({"1": {"x": {"d7": 1}, "y": {"d7": 1, "n": 1}, "z": dict.fromkeys(documents, 1)}})
    found = ir_graded.evaluate(
        ["P_IA@30", "AP_IA", "NRBP"], qrels, {"1": dict.fromkeys(documents, 1.0)}, ties="expected"
    )
    harmonic = math.fsum(1 / n for n in range(1, 3001)) / 3000
    geometric = 0.75 * math.fsum(0.5 ** (n - 1) for n in range(1, 80)) / 3000
    assert found.values.ravel().tolist() == pytest.approx(
        [(0.01 + 0.01 + 30) / 30 / 3, (harmonic * 1.5 + 1) / 3, (2 * geometric + 1) / 3], rel=1e-12
    )


PAIRS = [
    *("alpha_nDCG(alpha=0.3)@5", "alpha_nDCG@5", "nNRBP", "ERR_IA@1", "ERR_IA@3", "ERR_IA(rel=2)@5"),
    *("P_IA@3", "P_IA(judged_only=True)@3", "alpha_DCG(alpha=0.3)@3", "NRBP(beta=0.8)", "NRBP", "AP_IA"),
    *("nNRBP(alpha=0.3)", "nNRBP(beta=0.8)", "StRecall@3", "StRecall", "AP_IA(rel=2)", "nERR_IA(rel=2)"),
]


@pytest.mark.slow
def test_measures_of_one_call_equal_those_of_separate_calls():
    rng = random.Random(5)  # noqa: S311
    topics = {str(n): random_topic(rng) for n in range(30)}
    levels = {name: topic.levels for name, topic in topics.items()}
    qrels, run = rows_of(levels), run_of({name: topic.retrieved for name, topic in topics.items()})
    for names in (PAIRS, PAIRS[::-1]):
        together = ir_graded.evaluate(names, qrels, run).values
        alone = [ir_graded.evaluate(name, qrels, run).values[0] for name in names]
        assert together.tolist() == [values.tolist() for values in alone]
        assert (together > 0).any(axis=(1, 2)).all()


def test_probabilities_and_types_of_intents_are_ignored():
    qrels, run = rows_of({"1": LEVELS}), run_of({"1": RANKING})
    names = [name for name in BY_HAND if "rel" not in name]
    plain = ir_graded.evaluate(names, qrels, run)
    given = {"1": {"1": (0.9, "nav"), "2": 0.1}}  # 3 and 4 have none
    listed = ir_graded.evaluate(names, ir_graded.with_intents(qrels, given), run)
    assert listed.values.tolist() == plain.values.tolist()
    with pytest.raises(InputError, match="relevant to intent '3', which has no probability"):
        ir_graded.evaluate(["D-Q@5", *names], qrels, run, intents=given)


# ------------------------------------------------------------------------------------ forms of input


@pytest.mark.slow
def test_every_form_of_qrels_gives_equal_scores(tmp_path):
    topics = {
        "1": {"a|b": {"d1": 1, "é": 2}, "0": {"d1": 0, "d2": 1, "\U0001f600": 1}},
        "q 2": {"x y": {"d1": 1}, "\u65e5": {"d1": 1, "é": 1}},
    }
    frame = rows_of(topics)
    run = run_of({"1": ["\U0001f600", "u", "d1", "é", "d2"], "q 2": ["é", "d1"]})
    expected = ir_graded.evaluate(PAIRS, frame, run).values
    tuples = [ir_measures.Qrel(*row) for row in frame[[*ir_measures.Qrel._fields]].itertuples(index=False)]
    frame.to_csv(tmp_path / "qrels.csv", index=False)
    others = [tuples, frame.rename(columns={"iteration": "subtopic_id"}), tmp_path / "qrels.csv"]
    for qrels in others:
        assert ir_graded.evaluate(PAIRS, qrels, run).values.tolist() == expected.tolist()
    file = tmp_path / "qrels.txt"
    file.write_text("1 i a 1\n1 j a 1\n1 j b 1\n", encoding="utf-8")
    found = ir_graded.evaluate(["P_IA@2", "alpha_nDCG"], file, {"1": {"b": 2.0, "x": 1.0}})
    # ideal list: a, b
    assert found.values.ravel().tolist() == pytest.approx([1 / 4, 1 / (2 + 0.5 / math.log2(3))])
    PROVIDER.calc_aggregate([ir_measures.alpha_nDCG @ 5], tuples, run)


@pytest.mark.slow
def test_equal_gains_are_in_order_of_ids_by_bytes():
    """U+FFFD comes before U+1F600 by code point and in UTF-8, and behind it in UTF-16."""
    small, large = "\ufffd", "\U0001f600"
    for low, high in ((small, large), ("a", "aa"), ("a\0", "a\0\0"), ("Z", "a"), ("d10", "d9")):
        levels = {"1": {low: 1, high: 1}, "2": {low: 1}, "3": {high: 1}}
        ideal = reference.greedy(reference.relevant(levels, 1), 0.5)
        assert ideal == [high, low]
        found = scores(["alpha_nDCG@1", "alpha_nDCG"], {"1": levels}, {"1": ideal})
        assert [values["1"] for values in found.values()] == [1.0, 1.0]
        # The other document also adds c, so that the order of both matters at rank 2.
        levels = {"1": {low: 1, high: 1}, "2": {low: 1, "c": 1}, "3": {high: 1}, "4": {"c": 1}}
        ideal = reference.greedy(reference.relevant(levels, 1), 0.5)
        found = scores(["alpha_nDCG", "nNRBP"], {"1": levels}, {"1": ideal})
        assert [values["1"] for values in found.values()] == [1.0, 1.0]


def test_topics_without_relevant_documents_score_0():
    topics = {"1": {"i": {"a": 0}, "j": {"b": 0}}, "2": {"i": {"a": 1}}, "3": {"i": {"a": 1}, "j": {"a": 1}}}
    found = scores([*PAIRS, "NRBP(alpha=0.0,beta=1.0)"], topics, {"1": ["a", "b"], "3": ["a"]})
    for values in found.values():
        assert values["1"] == values["2"] == 0
        assert not np.isnan(values["3"])
    empty = rows_of(topics).iloc[:0]
    assert [*PROVIDER.iter_calc([ir_measures.nNRBP, ir_measures.P_IA @ 3], empty, {"1": {"a": 1.0}})] == []


# -------------------------------------------------------------------------------------------- explain


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_contributions_by_intent_sum_to_the_score(name):
    rng = random.Random(f"explain {name}")  # noqa: S311
    for _ in range(15):
        topic = random_topic(rng, 20)
        qrels, run = rows_of({"1": topic.levels}), run_of({"1": topic.retrieved})
        if not topic.retrieved:
            continue
        measure = drawn(rng, CLASSICS[name].MEASURE, "ties")
        found = ir_graded.explain(measure, qrels, run, "1")
        frame = found.to_frame()
        assert found.score == ir_graded.evaluate(measure, qrels, run).values.item()
        assert math.fsum(frame["contribution"]) == pytest.approx(found.score, abs=1e-12)
        relevant = {doc for each in topic.levels.values() for doc in each if each[doc] >= measure["rel"]}
        assert found.missed == len(relevant - {*found.columns["doc_id"]})
        frame = frame[frame["state"] == "counted"]
        for row in frame.itertuples():
            assert row.level == topic.levels[row.intent][row.doc_id] >= measure["rel"]
        assert list(frame["C"]) == list(frame.groupby("intent").cumcount() + 1)
        if "gain" in frame and found.score:
            share = (frame["gain"] * frame["discount"] / frame["contribution"]).dropna()
            assert np.allclose(share, share.iloc[0])


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        ("alpha_DCG", "alpha_DCG needs a cutoff: for example alpha_DCG@10"),
        ("ERR_IA(rel=2)", "ERR_IA(rel=2) needs a cutoff: for example ERR_IA(rel=2)@10"),
        ("P_IA", "P_IA needs a cutoff: for example P_IA@10"),
        ("alpha_nDCG(alpha=1.5)@5", "alpha_nDCG: alpha=1.5 must be a number from 0 to 1"),
        (ir_measures.NRBP(beta=-0.1), "NRBP: beta=-0.1 must be a number from 0 to 1"),
        (ir_measures.nNRBP(alpha=math.nan), "nNRBP: alpha=nan must be a number from 0 to 1"),
        ("alpha_nDCG(ties='optimistic')", "ties='optimistic' must be one of 'doc_id', 'expected'"),
        ("P_IA(ties='expected')", "P_IA needs a cutoff: "),
    ],
    ids=str,
)
def test_wrong_parameters_are_errors(measure, problem):
    for call in (
        lambda: ir_graded.evaluate(measure, rows_of({"1": LEVELS}), run_of({"1": RANKING})),
        lambda: ir_graded.evaluate(["Q", measure], rows_of({"1": LEVELS}), run_of({"1": RANKING})),
        lambda: ir_graded.explain(measure, rows_of({"1": LEVELS}), run_of({"1": RANKING}), "1"),
    ):
        with pytest.raises(ParameterError, match=re.escape(problem)):
            call()


@pytest.mark.parametrize("name", NAMES)
def test_qrels_without_intents_are_an_error_that_names_the_forms(name):
    measure = CLASSICS[name].MEASURE @ 5 if CLASSICS[name].REQUIRED else CLASSICS[name].MEASURE
    words = "needs intents, but the qrels have no column iteration: give a table or named tuples with the "
    for qrels in ({"1": {"a": 1}}, pd.DataFrame({"query_id": ["1"], "doc_id": "a", "relevance": 1})):
        with pytest.raises(InputError, match=f"^{name}.* {words}fields .* a file of TREC or NTCIR"):
            ir_graded.evaluate(measure, qrels, {"1": {"a": 1.0}})


@pytest.mark.parametrize("name", NAMES)
def test_functions_without_intents_refuse_them(name):
    measure = CLASSICS[name].MEASURE @ 5 if CLASSICS[name].REQUIRED else CLASSICS[name].MEASURE
    qrels, run = rows_of({"1": LEVELS}), run_of({"1": RANKING})
    for call in (
        lambda: ir_graded.score_arrays(measure, [[1, 0]]),
        lambda: ir_graded.score_bounds(measure, qrels, run),
        lambda: ir_graded.compare_judgments(qrels, qrels, measure, run),
    ):
        with pytest.raises(ParameterError, match=f"^{name}.* needs the column iteration, which "):
            call()
    with pytest.raises(ParameterError, match="a sum over intents, without an explanation"):
        ir_graded.explain(with_ties(measure, "expected"), qrels, {"1": dict.fromkeys(RANKING, 1.0)}, "1")


def test_the_name_with_ties_prints_and_reads_back():
    measure = ir_measures.parse_measure("alpha_nDCG(alpha=0.3,ties='expected')@5")
    assert str(measure) == "alpha_nDCG(alpha=0.3,ties='expected')@5"
    assert PROVIDER.qrel_inputs([measure]) == ["query_id", "doc_id", "relevance", "iteration"]
    with pytest.raises(InputError, match="needs intents"):
        ir_graded.evaluate(measure, {"1": {"a": 1}}, {"1": {"a": 1.0}})


# -------------------------------------------------------------------------------------------- pyndeval

#: Measures with cutoffs that pyndeval has; it has no condensed lists.
PEERS = {
    "alpha_DCG": [{"cutoff": 5}, {"cutoff": 20}, {"alpha": 0.0, "cutoff": 10}, {"alpha": 1.0, "cutoff": 3}],
    "alpha_nDCG": [{"cutoff": 1}, {"cutoff": 20}, {"alpha": 0.0, "cutoff": 10}, {"rel": 0, "cutoff": 5}],
    "ERR_IA": [{"cutoff": 2}, {"cutoff": 20}, {"cutoff": 10, "rel": 2}],
    "nERR_IA": [{"cutoff": 1}, {"cutoff": 20}, {"cutoff": 10, "rel": 2}],
    "NRBP": [{}, {"alpha": 0.3, "beta": 0.8}, {"rel": 2}],
    "nNRBP": [{}, {"alpha": 0.0, "beta": 0.3}, {"rel": 2}],
    "AP_IA": [{}, {"rel": 2}, {"rel": 0}],
    "P_IA": [{"cutoff": 1}, {"cutoff": 20}, {"cutoff": 5, "rel": 2}],
    "StRecall": [{"cutoff": 1}, {"cutoff": 20}, {"cutoff": 5, "rel": 2}],
}


@cache
def random_collection(topics=600):
    """Return qrels and a run on random topics, without ties."""
    rng = random.Random(f"{topics} topics")  # noqa: S311
    drawn_topics = {str(n): random_topic(rng) for n in range(topics)}
    qrels = rows_of({name: topic.levels for name, topic in drawn_topics.items()})
    return qrels, run_of({name: topic.retrieved for name, topic in drawn_topics.items()})


def beside_pyndeval(measures):
    """Yield the scores of this package and of pyndeval on these topics, for each measure."""
    found = {measure: {} for measure in measures}
    for metric in PROVIDER.iter_calc(measures, *random_collection()):
        found[metric.measure][metric.query_id] = metric.value
    for measure, ours in found.items():
        # ir-measures gives pyndeval no run for the second of two parameters of one call.
        metrics = ir_measures.pyndeval.iter_calc([measure], *random_collection())
        theirs = {metric.query_id: metric.value for metric in metrics}
        assert len(ours) == 600
        yield np.array(list(ours.values())), np.array([theirs.get(name, 0.0) for name in ours])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_random_topics_equal_pyndeval(name):
    pytest.importorskip("pyndeval", reason="pyndeval is not installed")
    found = beside_pyndeval([CLASSICS[name].MEASURE(**params) for params in PEERS[name]])
    for params, (ours, theirs) in zip(PEERS[name], found, strict=True):
        undefined = np.isnan(theirs)
        assert not undefined.any() or name == "nNRBP"
        assert not ours[undefined].any()
        # Of the ideal list of nNRBP, pyndeval has 20 ranks.
        limit = params.get("beta", 0.5) ** 20 if name == "nNRBP" else 2e-15
        assert np.abs(ours - theirs)[~undefined].max() <= limit
        assert np.unique(ours.round(9)).size > 4


@pytest.mark.slow
def test_only_greedy_ties_differ_from_pyndeval():
    pytest.importorskip("pyndeval", reason="pyndeval is not installed")
    measures = [
        measure
        for alpha in (0.1, 0.2, 0.3, 0.9)
        for measure in (ir_measures.alpha_nDCG(alpha=alpha) @ 20, ir_measures.nNRBP(alpha=alpha))
    ]
    for ours, theirs in beside_pyndeval(measures):
        difference = np.abs(ours - np.nan_to_num(theirs))
        assert difference.max() < 1e-3
        assert (difference > 1e-6).mean() < 0.03


def test_at_rank_1_pyndeval_does_not_divide():
    pytest.importorskip("pyndeval", reason="pyndeval is not installed")
    levels = {"i": {"a": 1}, "j": {"a": 1}, "k": {"b": 1}}
    for measure in (ir_measures.alpha_DCG @ 1, ir_measures.ERR_IA @ 1):
        call = [measure], rows_of({"1": levels}), run_of({"1": ["a"]})
        assert PROVIDER.calc_aggregate(*call) == {measure: pytest.approx(2 / 3)}
        assert ir_measures.pyndeval.calc_aggregate(*call) == {measure: 2.0}
