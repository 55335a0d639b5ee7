"""xinfAP, infNDCG and infQ: worked examples, results of NIST's program, limits."""

import csv
import gzip

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, infAP, nDCG
from reference import ranked, sampled as reference
from sampled import sampled_cases as cases

import ir_graded
from ir_graded import CoverageWarning, InputError, Q, infNDCG, infQ, xinfAP
from ir_graded.measures.classic.ties import with_ties

LEFT_OUT = "^No document was judged in topic '1' stratum '2', so estimates leave these documents out"


def scores(measures, rows, ranking):
    """Return the scores of one topic with strata."""
    return cases.quiet_scores(measures, cases.frame(rows), cases.run_of(ranking)).reshape(-1)


def of_measures(measures, qrels, run):
    return cases.quiet_scores(measures, qrels, run).reshape(-1).tolist()


def test_worked_example_with_two_strata():
    found = of_measures(["infAP", "xinfAP", "infNDCG"], cases.frame(cases.A), cases.run_of(cases.RANKING_A))
    assert found == pytest.approx([0.666665000033, 0.655169310438, 0.740882540272], abs=5e-13)


def test_worked_example_with_one_stratum():
    qrels, run = {"1": {"d1": 1, "d2": 0, "d3": 2}}, cases.run_of(["d2", "d1", "d3"])
    found = of_measures([xinfAP, infAP, infNDCG, nDCG], qrels, run)
    assert found == pytest.approx([0.583334999938, 0.583335833283, 0.619906233284, 0.619906233284], abs=5e-13)


@pytest.mark.filterwarnings("ignore:infAP takes:ir_graded.SampledJudgmentsWarning")
def test_a_stratum_without_judgments_adds_nothing_and_is_named():
    rows, run = [("d1", "1", 1), ("d2", "2", -1), ("d3", "2", -1)], cases.run_of(["d2", "d1", "d3"])
    with pytest.warns(CoverageWarning, match=LEFT_OUT) as caught:
        found = ir_graded.evaluate([xinfAP, infAP, infNDCG], cases.frame(rows), run)
    assert {one.filename for one in caught} == {__file__}
    assert found.values.reshape(-1) == pytest.approx([0.666666666667, 0.75, 0.630929753571], abs=5e-13)


def test_topics_without_judgments_are_named_where_there_are_no_strata():
    qrels = {name: {"d": -1} for name in "abcde"} | {"f": {"d": 1}}
    with pytest.warns(CoverageWarning, match="judged in topic 'a', topic 'b', topic 'c' ..., so"):
        found = ir_graded.evaluate([xinfAP, infQ, infNDCG], qrels, {name: {"d": 1.0} for name in qrels})
    assert found.mean().loc["run"].tolist() == pytest.approx([1 / 6] * 3, abs=1e-5)
    assert (found.values.reshape(3, -1)[:, :5] == 0).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:infAP takes:ir_graded.SampledJudgmentsWarning")
def test_the_sample_scores_as_in_the_programs_of_nist():
    lines = gzip.decompress((cases.DATA / "sample.expected.tsv.gz").read_bytes()).decode().splitlines()
    expected = {(row["run"], row["topic"]): row for row in csv.DictReader(lines, delimiter="\t")}
    runs = ir_graded.sample().runs
    found = ir_graded.evaluate([infAP, xinfAP, infNDCG], cases.DATA / "sample.sampleval.txt.gz", runs)
    differences = [
        abs(row.value - float(expected[row.run, row.query_id][str(row.measure)]))
        for row in found.to_frame().itertuples()
    ]
    assert len(differences) == 3 * len(expected) == 1800
    assert max(differences) < 1e-12


@pytest.mark.slow
def test_complete_judgments_give_the_measures_themselves():
    sample = ir_graded.sample()
    pairs = [(infNDCG, nDCG, 1e-12), (infQ, Q, 1e-5), (xinfAP, AP, 1e-5)]
    for sampled, complete, most in pairs:
        found = ir_graded.evaluate([sampled, complete], sample.qrels, sample.runs)
        first, second = (found.matrix(measure).to_numpy() for measure in (sampled, complete))
        assert np.abs(first - second).max() < most


@pytest.mark.slow
def test_several_topics_score_as_alone():
    rng = np.random.default_rng(5)
    topics = [cases.collection(rng) for _ in range(20)]
    qrels = [
        row
        for at, (rows, _) in enumerate(topics)
        for row in cases.frame(rows, topic=str(at)).itertuples(index=False)
    ]
    run = {str(at): cases.run_of(ranking)["1"] for at, (_, ranking) in enumerate(topics)}
    together = cases.quiet_scores(cases.MEASURES, qrels, run)
    alone = [of_measures(cases.MEASURES, cases.frame(r), cases.run_of(ranking)) for r, ranking in topics]
    assert together.reshape(len(cases.MEASURES), -1).T.tolist() == alone


def test_soft_levels_are_an_error_of_infndcg_only():
    rows = [("a", "1", 1), ("b", "1", 0.5), ("c", "1", -1)]
    assert len(of_measures([xinfAP, infQ, infQ(rel=0.5)], cases.frame(rows), cases.run_of("abc"))) == 3
    problem = "^infNDCG: topic '1', document 'b' has level 0.5, but the measure needs whole numbers$"
    with pytest.raises(InputError, match=problem):
        cases.quiet_scores(["AP", infNDCG], cases.frame(rows), cases.run_of("abc"))
    with pytest.raises(InputError, match=r"infNDCG: relevance\[0, 1\] is 0.5; levels must be whole numbers"):
        ir_graded.score_arrays(infNDCG, [[1, 0.5]])


def test_grades_are_sorted_as_numbers():
    # NIST's program sorts them as text, and gives 1.355332320059.
    assert of_measures([infNDCG], {"1": {"a": 10, "b": 2}}, cases.run_of("ab")) == [1.0]


def test_topics_keep_their_zeros():
    assert of_measures([xinfAP, infQ, infNDCG], {"01": {"a": 1}}, cases.run_of("a", "01")) == pytest.approx(
        [1] * 3
    )


@pytest.mark.parametrize("measure", [xinfAP, infQ, infNDCG])
def test_the_list_ends_at_rank_1000(measure):
    """NIST's program prints .5 as xinfAP of a and b at ranks 1 and 1,001."""
    rows, others = [("a", "1", 1), ("b", "1", 1), ("u", "1", -1)], [f"x{at}" for at in range(999)]
    below, only = scores([measure], rows, ["a", *others, "b"]), scores([measure], rows, ["a"])
    assert below == only
    assert below < scores([measure], rows, ["a", *others[1:], "b"])
    found = scores([xinfAP, infQ(beta=0)], rows[:2], ["a", *others, "b"])
    assert found.tolist() == [0.5, 0.5]


def test_documents_below_rank_1000_add_nothing_to_those_above():
    rows = [("a", "1", 1), ("b", "2", 1), ("c", "1", -1), ("d", "2", 0)]
    ranking = ["c", "a", *(f"x{at}" for at in range(997)), "b"]
    args = {doc: level for doc, _, level in rows}, {doc: stratum for doc, stratum, _ in rows}
    for rest in ([], ["d"], ["y", "d"]):
        found = scores([xinfAP, infQ, infNDCG], rows, [*ranking, *rest])
        expected = [
            f(*args, [*ranking, *rest]) for f in (reference.xinf_ap, reference.inf_q, reference.inf_ndcg)
        ]
        assert found == pytest.approx(expected, abs=1e-12)


def test_infndcg_looks_at_1000_documents_and_may_exceed_1():
    rows = [("a", "1", 1), ("u", "1", -1), ("b", "1", -2)]
    first = ["a", *(f"x{at}" for at in range(997))]
    rest = [*first, "u", "b"]
    # Three documents stand for one judged one; the ideal list has as many.
    ideal = 1 + 1 / np.log2(3) + 0.5
    assert scores([infNDCG], rows, rest)[0] == pytest.approx(3 / ideal)
    assert scores([infNDCG], rows, [*first, "y", "u", "b"])[0] == pytest.approx(2 / ideal)
    assert scores([infNDCG], rows, [*rest[:998], "y", "z", "b", "u"])[0] == pytest.approx(1 / ideal)
    below = [*first[1:], "x", "y", "z", "a"]
    assert scores([infNDCG, xinfAP], rows, below).tolist() == [0.0, 0.0]


def test_an_estimated_half_document_is_rounded_up():
    # 6 * 13/12 = 6.5 documents, as floats 6.499999999999999.
    rows = [(f"d{at}", "1", int(at < 6) if at < 12 else -1) for at in range(13)]
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, 8))
    for order in (rows, rows[::-1]):
        assert scores([infNDCG], order, ["d0"])[0] == pytest.approx(1 / ideal, abs=1e-14)


@pytest.mark.parametrize("ties", ["doc_id", "optimistic", "pessimistic"])
def test_infap_has_the_documents_of_the_pool_that_were_not_judged(ties):
    levels = {"d": 2, "c": -1, "b": 0, "a": 1}
    measure = with_ties(infAP, ties)
    (found,) = of_measures([measure], {"1": levels}, cases.run_of("dcba"))
    assert found == pytest.approx(0.8125, abs=1e-5)
    assert found == pytest.approx(ranked.score("infAP", {"rel": 1}, levels, [*"dcba"]), abs=1e-14)


def test_infap_is_that_of_ir_measures():
    rng = np.random.default_rng(2)
    for _ in range(20):
        rows, ranking = cases.collection(rng)
        # pytrec_eval may crash where all levels are below -1.
        qrels, run = {"1": {doc: max(level, -1) for doc, _, level in rows}}, cases.run_of(ranking)
        expected = ir_measures.calc_aggregate([infAP], qrels, run)[infAP]
        assert of_measures([infAP], qrels, run) == [pytest.approx(expected, abs=1e-15)]
