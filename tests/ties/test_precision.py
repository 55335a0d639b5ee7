"""Scores that are equal as float32, but not as doubles, do not tie wherever scores are compared."""

import itertools
import warnings

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from ir_measures import AP, RR, SetP, nDCG

import ir_graded
from ir_graded import CoverageWarning, Q, RankingMetric
from ir_graded.analyses.unjudged import tied_share
from ir_graded.io.sources import opened
from ir_graded.matching.match import prepare_qrels
from ir_graded.matching.tables import match_ranked

TIME = 1_764_400_800.0
QRELS = {"1": {"a": 2, "b": 0, "c": 1}}
#: As float32, a and b tie, and b is first.
RUN = {"1": {"a": TIME, "b": TIME - 1, "c": 1.0}}
ROWS = [("1", doc_id, score) for doc_id, score in RUN["1"].items()]
COLUMNS = ["query_id", "doc_id", "score"]


def lines(order):
    return "".join(f"1 Q0 {doc_id} 1 {score!r} t\n" for _, doc_id, score in order)


FORMS = {
    "dict": lambda _, order: {"1": {doc_id: score for _, doc_id, score in order}},
    "pandas": lambda _, order: pd.DataFrame(order, columns=COLUMNS),
    "polars": lambda _, order: pl.DataFrame(order, schema=COLUMNS, orient="row"),
    "plain file": lambda folder, order: written(folder / "plain.txt", lines(order)),
    "file with tabs and blanks": lambda folder, order: written(
        folder / "tab.txt", lines(order).replace(" ", "\t \t")
    ),
    "CSV": lambda folder, order: written(
        folder / "run.csv", "query_id,doc_id,score\n" + "".join(f"{t},{d},{s!r}\n" for t, d, s in order)
    ),
}


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "order", [*itertools.permutations(ROWS)], ids=lambda rows: "".join(r[1] for r in rows)
)
@pytest.mark.parametrize("form", FORMS)
def test_close_scores_do_not_tie_in_any_form_and_order(form, order, tmp_path):
    scores = ir_graded.evaluate(["RR", "AP", "Q", "Q(ties='expected')"], QRELS, FORMS[form](tmp_path, order))
    reciprocal, average, by_id, expected = scores.values.ravel()
    assert (reciprocal, average) == (1.0, (1 + 2 / 3) / 2)
    assert by_id == expected


def test_flat_runs_ranked_responses_and_shares_of_ties_use_doubles():
    flat = {"1": {"a": TIME, "b": TIME - 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ir_graded.evaluate("Q", QRELS, flat)  # as float32, it would be called flat
    assert tied_share(prepare_qrels(QRELS), opened("run", RUN)) == 0.0
    judgments = prepare_qrels(QRELS)
    table = opened("run", pd.DataFrame(ROWS, columns=COLUMNS)).table()
    assert match_ranked(judgments, [table], 0.0).ties is None
    hits = [{"_id": doc_id, "_score": score} for doc_id, score in (("a", TIME - 1), ("b", TIME))]
    response = {"1": {"hits": {"hits": hits}}}
    with pytest.warns(CoverageWarning, match="do not descend"):
        assert ir_graded.evaluate("RR", {"1": {"a": 1}}, response).values.item() == 1.0


def test_overlap_pools_and_side_by_side_lists_use_doubles():
    swapped = {"1": {"b": TIME, "a": TIME - 1, "c": 1.0}}
    assert ir_graded.rbo(RUN, swapped)["ext"].item() < 1
    assert ir_graded.pool({"x": RUN}, 1)["doc_id"].tolist() == ["a"]
    found = ir_graded.compare_rankings("RR", QRELS, RUN, swapped, "1", depth=1)
    assert found.doc_id == ("a", "b")


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_arrays_and_training_metrics_use_doubles(dtype):
    preds, target = np.array([[TIME - 1, TIME, 1]], dtype=dtype), np.array([[0, 2, 1]])
    assert ir_graded.score_arrays(["RR"], target, preds).tolist() == [[1.0]]
    metric = RankingMetric("RR")
    metric.update(preds[0], target[0], np.zeros(3, dtype=np.int64))
    assert metric.compute() == 1.0


def test_large_whole_numbers_in_arrays_are_named():
    preds = np.array([[2**60 + 1, 2**60, 1]])
    with pytest.warns(CoverageWarning, match=r"scores holds whole numbers above 2\*\*53"):
        ir_graded.score_arrays("RR", [[1, 0, 0]], preds)
    with pytest.warns(CoverageWarning, match=r"scores holds whole numbers above 2\*\*53"):
        ir_graded.score_arrays("RR", [[1, 0, 0]], -preds)
    ir_graded.score_arrays("RR", [[1, 0, 0]], preds, mask=[[True, False, True]])


def test_classics_beside_our_measures_warn_of_scores_that_only_float32_makes_equal():
    assert ir_measures.calc_aggregate([RR], QRELS, RUN) == {RR: 0.5}  # by pytrec_eval
    with pytest.warns(CoverageWarning, match="equal as float32, but not as float64.* computes RR, AP with"):
        assert ir_measures.calc_aggregate([RR, AP, Q], QRELS, RUN)[RR] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ir_measures.calc_aggregate([Q], QRELS, RUN)
        ir_measures.calc_aggregate([Q, SetP], QRELS, RUN)
        ir_measures.calc_aggregate([RR, Q], QRELS, {"1": {"a": 3.0, "b": 2.0, "c": 2.0}})
        # Only documents without a judgment are close.
        ir_measures.calc_aggregate([RR, Q], QRELS, {"1": {"a": 3.0, "x": 1 + 1e-9, "y": 1.0}})


def test_pyterrier_warns_as_ir_measures_does():
    pt = pytest.importorskip("pyterrier")
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    qrels = pd.DataFrame([("1", d, r) for d, r in QRELS["1"].items()], columns=["qid", "docno", "label"])
    run = pd.DataFrame(ROWS, columns=COLUMNS).rename(columns=names).assign(rank=[0, 1, 2])
    topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    assert pt.Experiment([run], topics, qrels, ["RR", "nDCG@1"])["RR"].item() == 0.5
    with pytest.warns(CoverageWarning, match="equal as float32, but not as float64"):
        assert pt.Experiment([run], topics, qrels, ["RR", "Q"])["RR"].item() == 1.0


def test_signatures_say_that_doubles_are_compared_and_hashed():
    signature = ir_graded.evaluate([nDCG], QRELS, RUN).signature
    assert signature.options["precision"] == "float64"
    near = ir_graded.evaluate([nDCG], QRELS, {"1": RUN["1"] | {"b": TIME - 2}}).signature
    assert near.all_runs != signature.all_runs
