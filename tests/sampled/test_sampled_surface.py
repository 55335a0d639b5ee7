"""Measures for strata in every function that takes measures: they work or are refused with a reason."""

from functools import cache

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import run_command
from sampled import sampled_cases as cases

import ir_graded
from ir_graded import GM, IA, D, InputError, ParameterError, infNDCG, infQ, xinfAP

QRELS, RUN = cases.frame(cases.A), cases.run_of(cases.RANKING_A)
OURS = [xinfAP, infNDCG, infQ]
TUPLES = [ir_measures.Qrel("1", doc, level, stratum) for doc, stratum, level in cases.A]


@cache
def expected():
    """Return the scores. The first test computes them, so that collecting tests starts no threads."""
    return dict(zip(OURS, cases.quiet_scores(OURS, QRELS, RUN).reshape(-1).tolist(), strict=True))


def test_ir_measures_reads_strata_from_the_iteration():
    scored = [ir_measures.ScoredDoc("1", doc, score) for doc, score in RUN["1"].items()]
    qrels = pd.DataFrame(TUPLES)
    for given in (TUPLES, iter(TUPLES), qrels):
        assert ir_measures.calc_aggregate(OURS, given, scored) == expected()
    evaluator = ir_measures.evaluator(OURS, TUPLES)
    assert evaluator.calc_aggregate(RUN) == evaluator.calc_aggregate(scored) == expected()
    # The iteration has no other effect.
    assert ir_measures.calc_aggregate([ir_measures.AP], TUPLES, RUN) == ir_measures.calc_aggregate(
        [ir_measures.AP], {"1": {doc: level for doc, _, level in cases.A}}, RUN
    )


def test_a_column_of_strata_comes_before_the_iteration():
    qrels = QRELS.assign(iteration="0")
    assert cases.quiet_scores(OURS, qrels, RUN).reshape(-1).tolist() == [*expected().values()]


def test_the_command_scores_strata(tmp_path, capsys):
    (tmp_path / "q.txt").write_text(cases.sampleval(cases.A), encoding="utf-8")
    lines = [f"1 Q0 {doc} 1 {score} t" for doc, score in RUN["1"].items()]
    (tmp_path / "a.run").write_text("\n".join(lines), encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("q.txt", "a.run")]
    code, output, problem = run_command(capsys, "evaluate", *paths, "-m", "xinfAP infNDCG AP")
    assert code == 0
    assert [*output.split()[-3:-1]] == ["0.6552", "0.7409"]
    assert "3 of 8 documents of the pool were not judged. AP scores the sample" in problem


@pytest.mark.slow
@pytest.mark.parametrize("measure", [*OURS, xinfAP(rel=2), infQ(beta=0.5, gains={2: 7})], ids=str)
def test_contributions_sum_to_the_score(measure):
    rng = np.random.default_rng(4)
    for _ in range(30):
        rows, ranking = cases.collection(rng)
        qrels, run = cases.frame(rows), cases.run_of(ranking)
        found = cases.quietly(ir_graded.explain, measure, qrels, run, "1", about=ir_graded.CoverageWarning)
        assert found.score == cases.quiet_scores(measure, qrels, run)
        frame = found.to_frame()
        frame = frame[frame["state"] == "counted"]
        assert abs(frame["contribution"].sum() - found.score) <= 1e-12
        assert (frame["weight"] >= 1 - 1e-12).all()


@pytest.mark.slow
def test_a_report_has_them(tmp_path):
    runs = dict([*ir_graded.sample().runs.items()][:2])
    path = cases.DATA / "sample.sampleval.txt.gz"
    ir_graded.report(OURS, path, runs, tmp_path / "r.html")
    assert "infNDCG" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "measure",
    [
        *(f"{name}{end}" for name in ("xinfAP", "infNDCG", "infQ") for end in ("@10", "(cutoff=10)")),
        *("xinfAP(judged_only=True)", "infQ(ties='expected')", "infNDCG(ranks='rows')", "infNDCG(rel=2)"),
        "xinfAP(beta=2)",
    ],
)
def test_further_parameters_are_refused(measure):
    with pytest.raises(ParameterError, match="takes no parameter"):
        ir_graded.evaluate(measure, QRELS, RUN)


def test_an_infinite_beta_is_refused():
    with pytest.raises(ParameterError, match=r"^infQ: beta=inf must be a finite number >= 0"):
        infQ(beta=float("inf"))


@pytest.mark.parametrize("measure", OURS, ids=str)
def test_functions_without_strata_refuse_them(measure):
    calls = {
        "ties": lambda: ir_graded.ties(measure, QRELS, RUN),
        "ties=": lambda: ir_graded.evaluate(measure, QRELS, RUN, ties="expected"),
        "ranks": lambda: ir_graded.evaluate(measure, QRELS, RUN, ranks="rows"),
        "score_bounds": lambda: ir_graded.score_bounds(measure, QRELS, RUN),
        "score_intervals": lambda: ir_graded.score_intervals(measure, QRELS, RUN, depth=5),
        "compare_judgments": lambda: ir_graded.compare_judgments(QRELS, QRELS, runs=RUN, measures=measure),
        "must be one of": lambda: GM(measure=measure),
        "must be": lambda: D(measure=measure),
        "one of": lambda: IA(measure=measure),
    }
    for reason, call in calls.items():
        with pytest.raises(ParameterError, match=reason):
            call()


def test_intents_and_passages_are_refused():
    message = r"^I-rec@5 needs intents, and xinfAP strata: evaluate them separately"
    with pytest.raises(InputError, match=message):
        ir_graded.evaluate(["xinfAP", "I-rec@5"], TUPLES, RUN)
    words = r"holds intents .* probability.*, so the strata must be in a column"
    with pytest.raises(InputError, match=words):
        ir_graded.evaluate("infQ", TUPLES, RUN, intents={"1": {"1": 0.5, "2": 0.5}})
    problem = r"^infNDCG needs judgments of documents, but the qrels have passages"
    with pytest.raises(InputError, match=problem):
        ir_graded.evaluate("infNDCG", QRELS.assign(start=0, length=10), RUN)


def test_measures_have_their_values_beside_others():
    measures = ["AP", *OURS, "Q", "infAP", "nDCG@3"]
    together = cases.quiet_scores(measures, QRELS, RUN).reshape(-1).tolist()
    assert together == [cases.quiet_scores(one, QRELS, RUN).item() for one in measures]


def test_runs_without_documents_of_the_pool_score_0():
    for run in ({"1": {"x": 1.0}}, {"1": {}}, {"1": {"d3": 1.0}}):
        assert (cases.quiet_scores(cases.MEASURES, QRELS, run) == 0).all()
    assert (cases.quiet_scores(cases.MEASURES, {"1": {"a": 0, "b": -1}}, {"1": {"a": 1.0}}) == 0).all()


#: The strata with the inclusion probabilities that follow from them.
BOTH = QRELS.assign(iprob=[2 / 3 if stratum == "1" else 3 / 5 for stratum in QRELS["stratum"]])


def test_strata_probabilities_and_certain_methods_together_are_rejected():
    rows, run = BOTH.assign(method=0), {"1": {"d1": 1.0}}
    with pytest.raises(InputError, match="leave out one of the columns stratum, iprob and method"):
        ir_graded.score_estimates("AP", rows, run)
    ir_graded.score_estimates("AP", rows, run, certain=())


def test_unjudged_documents_of_certain_methods_stay_in_their_stratum():
    found = ir_graded.score_estimates(["AP", "P@3"], QRELS, RUN)
    sure = QRELS.assign(method=(QRELS["relevance"] >= 0).astype(int))
    assert ir_graded.score_estimates(["AP", "P@3"], sure, RUN).to_frame().equals(found.to_frame())


def test_tiny_probabilities_are_rejected_and_many_gains_need_little_memory():
    rows = pd.DataFrame({"query_id": "1", "doc_id": ["a"], "relevance": 1, "iprob": [1e-300]})
    with pytest.raises(ir_graded.InputError, match="at least 1e-15"):
        ir_graded.score_estimates("nDCG", rows, {"1": {"a": 1.0}})
    found = ir_graded.score_estimates(
        "nDCG", rows.assign(iprob=1e-15), {"1": {"a": 1.0}}, confidence=1 - 1e-16
    )
    assert np.isfinite(found.overall).all()


def test_only_judgments_are_counted():
    with pytest.warns(ir_graded.SampledJudgmentsWarning, match=r"^5 of 5 judgments have"):
        ir_graded.evaluate("AP", BOTH, {"1": {"d1": 1.0}})


def test_certain_documents_with_a_probability_cause_a_warning():
    rows = pd.DataFrame(
        {"query_id": "1", "doc_id": ["a", "b"], "relevance": 1, "iprob": [0.5, 1.0], "method": [0, 1]}
    )
    message = (
        "^1 judgments of method 0 have an inclusion probability below 1, but count as certain; "
        r"certain=\(\) uses the probabilities\.$"
    )
    with pytest.warns(ir_graded.SampledJudgmentsWarning, match=message):
        ir_graded.score_estimates("AP", rows, {"1": {"a": 1.0}})
    ir_graded.score_estimates("AP", rows, {"1": {"a": 1.0}}, certain=())
    words = r"xinfAP has no estimator .*: it is an estimate itself"
    with pytest.raises(ir_graded.ParameterError, match=words):
        ir_graded.score_estimates("xinfAP", rows, {"1": {"a": 1.0}})
