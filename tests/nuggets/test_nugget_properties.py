"""Properties of NuggetR, U and budgets on random topics."""

from fractions import Fraction

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures.providers import registry
from nuggets import nugget_cases as cases

import ir_graded

pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")

SEEDS = range(3)


def values(measures, qrels, run):
    """Return the scores of a run, shape ``(measures, topics)``."""
    return ir_graded.evaluate(measures, qrels, run).values[:, 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_names_of_nuggets_change_nothing(seed):
    qrels, run = cases.random_topics(seed, 10)
    measures = ["NuggetR(partial=True)", "NuggetR(importance='weighted')@3", "U(of='nuggets',L=90)"]
    names = {f"n{number}": f"x{9 - number}" for number in range(5)}
    renamed = qrels.assign(iteration=qrels["iteration"].map(names))
    assert np.array_equal(values(measures, qrels, run), values(measures, renamed, run))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_scores_never_fall_with_the_cutoff_or_the_budget(seed):
    qrels, run = cases.random_topics(seed, 10)
    for template in (
        "NuggetR(threshold=0.1)@{}",
        "NuggetR(threshold=0.1,budget={})",
        "NuggetR(partial=True,spans='all',budget={})",
    ):
        found = values([template.format(size) for size in range(1, 40, 3)], qrels, run)
        assert (np.diff(found, axis=0) >= 0).all()
        assert found[-1].any()


@pytest.mark.slow
def test_rows_of_one_length_have_a_cutoff_for_each_budget():
    qrels, run = cases.random_topics(5, 10)
    run = run[run["query_id"] != "none"].assign(length=7, tokens=3)
    for name in ("NuggetR", "CharR", "CharP", "IoU", "CharF"):
        for k in (1, 2, 4):
            limits = f"{name}@{k}", f"{name}(budget={7 * k})", f"{name}(budget={3 * k},unit='tokens')"
            cutoff, characters, tokens = values([*limits], qrels, run)
            assert np.array_equal(cutoff, characters)
            assert np.array_equal(cutoff, tokens)


def test_a_nugget_without_gold_multiplies_the_score_by_n_over_n_plus_1():
    qrels, run = cases.random_topics(6, 10)
    more = qrels.drop_duplicates("query_id").assign(iteration="new", relevance=0, length=0)
    n = qrels.groupby("query_id", sort=False)["iteration"].nunique().to_numpy()
    (before,), (after,) = (values("NuggetR@4", one, run) for one in (qrels, pd.concat([qrels, more])))
    assert before.any()
    assert after == pytest.approx(before * n / (n + 1))


def test_one_nugget_with_parts_is_recall_of_characters():
    qrels, run = cases.random_topics(7, 10)
    found = values(["NuggetR(spans='all',partial=True)@3", "CharR@3"], qrels.assign(iteration="n"), run)
    assert found[1].any()
    assert np.array_equal(*found)


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 20))])
def test_over_documents_it_is_recall_of_intents(seed):
    """With a gold row for each nugget, NuggetR, I-rec and StRecall are equal."""
    qrels, run = cases.random_topics(seed, 20)
    qrels = qrels.drop(columns=["start", "length", "importance"])
    qrels = qrels.drop_duplicates(["query_id", "doc_id", "iteration"])
    of_nugget = qrels.groupby(["query_id", "iteration"])["relevance"]
    qrels = qrels[of_nugget.transform("max") >= 1]
    # A document with several intents shows that the iterations are intents.
    both = pd.DataFrame({"query_id": "0", "doc_id": "z", "relevance": 1, "iteration": ["p", "q"]})
    run = run.drop(columns=["start", "length", "tokens"]).drop_duplicates(["query_id", "doc_id"])
    for k in (1, 3):
        found = values([f"NuggetR@{k}", f"I-rec@{k}", f"StRecall@{k}"], pd.concat([qrels, both]), run)
        assert found[0].any()
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("of", "over"), [("nuggets", "NuggetR"), ("characters", "CharR")])
def test_u_is_the_mean_over_budgets(seed, of, over):
    """Exact in rationals: shares of small topics have small denominators."""
    qrels, run = cases.random_topics(seed, 5)
    L = 60
    (found,) = values(f"U(of='{of}',L={L})", qrels, run)
    by_budget = values([f"{over}(budget={b})" for b in range(1, L)], qrels, run)
    for score, of_budgets in zip(found, by_budget.T, strict=True):
        total = sum(Fraction(value).limit_denominator(200) for value in of_budgets.tolist())
        assert score == pytest.approx(float(total / L), abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_with_nuggets_changes_no_other_measure(seed):
    qrels, run = cases.random_topics(seed, 10)
    lists = pd.DataFrame({"query_id": qrels["query_id"].unique(), "nugget": "listed", "importance": "vital"})
    known = qrels[["query_id", "iteration", "importance"]].drop_duplicates(["query_id", "iteration"])
    lists = pd.concat([lists, known.rename(columns={"iteration": "nugget"})])
    other = ir_graded.with_nuggets(qrels.drop(columns="importance"), lists)
    assert len(other) == len(qrels) + 10
    spans = ["CharR", "CharP@2", "IoU", "AiP(overlap='retrieved')", "MAgP", "gR@3", "Passage2AP", "PassageAP"]
    of_documents = [
        *("Q", "AP", "nDCG@10", "ERR@10", "P@3", "Bpref", "RBP(p=0.8,rel=1)", "Judged@5", "NumRel", "NumRet"),
        *("I-rec@3", "D-nDCG@3", "D#-nDCG@3", "IA(measure='Q')", "P+Q", "StRecall@3", "alpha_nDCG@3"),
        *("AP(judged_only=True)", "Q(judged_only=True)", "ERR_IA@3", "NRBP", "nERR_IA@3"),
    ]
    plain = qrels.drop(columns=["start", "length"]).drop_duplicates(["query_id", "doc_id", "iteration"])
    rows = run.drop(columns=["start", "length"]).drop_duplicates(["query_id", "doc_id"])
    for measures, before, ranking in ((spans, qrels, run), (of_documents, plain, rows)):
        after = ir_graded.with_nuggets(before.drop(columns="importance"), lists)
        assert len(after) == len(before) + 10
        assert np.array_equal(values(measures, before, ranking), values(measures, after, ranking))
    assert not np.array_equal(values("NuggetR", qrels, run), values("NuggetR", other, run))


@pytest.mark.parametrize("seed", SEEDS)
def test_with_nuggets_changes_no_measure_of_pyndeval(seed):
    pytest.importorskip("pyndeval", reason="pyndeval is not installed")
    qrels, run = cases.random_topics(seed, 10)
    qrels = qrels[["query_id", "doc_id", "relevance", "iteration"]]
    qrels = qrels.drop_duplicates(["query_id", "doc_id", "iteration"])
    names = qrels.rename(columns={"iteration": "nugget"}).assign(importance="okay")
    lists = pd.concat([names, names.assign(nugget="new")]).drop_duplicates(["query_id", "nugget"])
    more = ir_graded.with_nuggets(qrels, lists).astype({"relevance": int})[qrels.columns]
    assert len(more) == len(qrels) + 10
    names = ["alpha_nDCG@5", "ERR_IA@5", "nERR_IA@5", "NRBP", "StRecall@5", "AP_IA", "P_IA@5", "alpha_DCG@5"]
    measures = [ir_measures.parse_measure(name) for name in names]
    rows = run[["query_id", "doc_id", "score"]].drop_duplicates(["query_id", "doc_id"])
    before, after = (
        {(one.query_id, one.measure): one.value for one in evaluator.iter_calc(rows)}
        for evaluator in (registry["pyndeval"].evaluator(measures, each) for each in (qrels, more))
    )
    assert before == after
    assert any(before.values())
