"""The provider that computes each classic: in ir-measures' calls, by name, in evaluate, in the CLI."""

import re

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, ERR, RR, NumRet, P, nDCG
from ir_measures.providers.pytrec_eval_provider import PytrecEvalEvaluator

import ir_graded
from ir_graded.evaluation.provider import PROVIDER, GradedEvaluator
from ir_graded.measures.classic import CLASSICS

QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"d": 1}}
RUN = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}, "9": {"z": 1.0}}
AP_1 = (1 / 2 + 2 / 3) / 2
ERR_1 = 3 / 16 / 2 + 13 / 16 / 16 / 3


@pytest.fixture
def without_perl(monkeypatch):
    """Hide perl and ranx: ranx also has gains of 2^level."""
    for provider in (ir_measures.gdeval, ir_measures.ranx):
        monkeypatch.setattr(provider, "_is_available", False)


# --------------------------------------------------------------------------------- ir-measures' calls


def test_ir_measures_keeps_using_its_own_providers():
    assert type(ir_measures.evaluator([AP, nDCG @ 10], QRELS)) is PytrecEvalEvaluator


def test_a_call_with_a_measure_of_this_package_is_computed_here():
    evaluator = ir_measures.evaluator(["Q", AP], QRELS)
    assert type(evaluator) is GradedEvaluator
    assert list(evaluator.scorers) == [ir_graded.Q, AP]


def test_measures_that_others_define_share_a_call():
    length = ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length")
    mixed = ir_measures.evaluator(["Q", length, AP], QRELS)
    assert list(mixed.graded.scorers) == [ir_graded.Q, AP]
    found = mixed.calc_aggregate(RUN)
    assert found == {
        ir_graded.Q: ir_measures.calc_aggregate(["Q"], QRELS, RUN)[ir_graded.Q],
        length: 1.5,
        AP: pytest.approx(AP_1 / 2),
    }
    scores = ir_graded.evaluate([length, "AP"], {"1": QRELS["1"]}, {"1": RUN["1"]})
    assert scores.values.ravel().tolist() == [3, pytest.approx(AP_1)]
    assert scores.matrix("Length")["run"].tolist() == [3]
    assert scores.matrix(length)["run"].tolist() == [3]
    with pytest.raises(ir_graded.ParameterError, match=r"ties='expected' .* Length is not among them"):
        ir_graded.evaluate(length, QRELS, RUN, ties="expected")


@pytest.mark.usefixtures("without_perl")
def test_err_is_computed_without_perl():
    measures = [ERR @ 20, nDCG(dcg="exp-log2") @ 20]
    assert type(ir_measures.evaluator(measures, QRELS)) is GradedEvaluator
    assert ir_measures.calc_aggregate([ERR @ 20], QRELS, RUN) == {ERR @ 20: pytest.approx(ERR_1 / 2)}
    # Beside trec_eval, and beside our measures.
    assert ir_measures.calc_aggregate([AP, ERR @ 20], QRELS, RUN)[ERR @ 20] == pytest.approx(ERR_1 / 2)
    mixed = ir_measures.calc_aggregate(["Q", "ERR@20", AP], QRELS, RUN)
    assert [str(measure) for measure in mixed] == ["Q", "ERR@20", "AP"]
    assert mixed[ERR @ 20] == pytest.approx(ERR_1 / 2)
    assert mixed[AP] == pytest.approx(AP_1 / 2)


# --------------------------------------------------------------------------------------- our provider


def test_the_provider_can_be_chosen_by_name():
    provider = ir_measures.providers.registry["ir_graded"]
    assert provider.calc_aggregate([AP, NumRet, ir_graded.Q], QRELS, RUN) == {
        AP: pytest.approx(AP_1 / 2),
        NumRet: 3,  # a sum
        ir_graded.Q: ir_measures.calc_aggregate(["Q"], QRELS, RUN)[ir_graded.Q],
    }
    by_topic = [(m.query_id, m.measure, m.value) for m in provider.iter_calc([AP], QRELS, RUN)]
    assert by_topic == [("1", AP, pytest.approx(AP_1)), ("2", AP, 0)]
    assert provider.calc([NumRet], QRELS, RUN).aggregated == {NumRet: 3}
    with pytest.raises(ValueError, match=r"the provider ir_graded has no NumRel\(rel=2\)"):
        provider.evaluator([AP, ir_measures.NumRel(rel=2)], QRELS)


def test_the_provider_lists_the_classics():
    for classic in CLASSICS.values():
        assert classic.MEASURE in PROVIDER.SUPPORTED_MEASURES


# ------------------------------------------------------------------------------------------- evaluate


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_evaluate_computes_all_measures_of_ir_measures_itself(monkeypatch):
    monkeypatch.setattr(type(ir_measures.DefaultPipeline), "_evaluator", None)
    measures = ["P-measure", "AP", "nDCG@10", "P_5,10", "NumRet"]
    assert ir_graded.evaluate(measures, QRELS, RUN).mean().loc["run", "AP"] == pytest.approx(AP_1 / 2)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_measures_of_all_kinds_share_one_table():
    measures = ["infAP", "Q", "AP", "P@2", "SetAP", "RBP(rel=1)"]
    scores = ir_graded.evaluate(measures, QRELS, RUN)
    assert scores.names == measures
    assert scores.matrix("AP")["run"].tolist() == pytest.approx([AP_1, 0])
    assert scores.matrix("SetAP")["run"].tolist() == pytest.approx([2 / 3, 0])


#: Documents with intents, and a run.
BY_INTENT = pd.DataFrame(
    [("1", "a", 2, "i"), ("1", "a", 2, "j"), ("1", "b", 2, "i"), ("1", "c", 1, "k"), ("1", "d", 1, "j")],
    columns=["query_id", "doc_id", "relevance", "iteration"],
)
IN_ORDER = pd.DataFrame({"query_id": "1", "doc_id": [*"xabycd"], "score": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]})
CONFUSED = {
    "pyndeval": [
        *("alpha_nDCG(alpha=0.3)@5", "alpha_nDCG@5", "nNRBP", "ERR_IA@3", "ERR_IA(rel=2)@5", "P_IA@3"),
        *("alpha_DCG(alpha=0.3)@3", "NRBP(beta=0.8)", "nNRBP(alpha=0.3)", "StRecall@3", "AP_IA(rel=2)"),
    ],
    "recalls": ["IPrec@0.125", "IPrec@0.12", "IPrec@0.5", "IPrec(rel=2)@0.12", "IPrec@0.121", "SetAP"],
    "pytrec_eval": [
        *("AP(judged_only=True)", "NumRet", "NumQ", "nDCG", "nDCG(gains={1:5})", "NumRet(rel=2)", "SetF"),
        *("SetF(beta=2.0)", "P(rel=2)@3", "nDCG(judged_only=True)@3", "SetAP(judged_only=True)"),
    ],
}


@pytest.mark.parametrize("beside", [[], ["Q"], ["alpha_nDCG@5"]])
@pytest.mark.filterwarnings("ignore:1 document has different levels")
def test_a_measure_that_others_define_sees_all_intents(beside):
    seen = []

    def look(qrels, _):
        seen.extend(qrels[["doc_id", "relevance", "iteration"]].itertuples(index=False, name=None))
        return 0.0

    defined = ir_measures.define_byquery(look, name="Look")
    ir_graded.evaluate([defined, *beside], BY_INTENT, IN_ORDER)
    assert sorted(seen) == [("a", 2, "i"), ("a", 2, "j"), ("b", 2, "i"), ("c", 1, "k"), ("d", 1, "j")]


@pytest.mark.slow
@pytest.mark.parametrize("group", CONFUSED)
@pytest.mark.parametrize("step", [1, -1])
def test_measures_in_one_call_do_not_affect_each_other(group, step):
    """In one call of ir-measures, all but the first parameters of pyndeval gave 0, and IPrec@0.125 did."""
    names = CONFUSED[group][::step]
    alone = [ir_graded.evaluate(name, BY_INTENT, IN_ORDER).values.item() for name in names]
    assert min(alone) > 0
    assert ir_graded.evaluate(names, BY_INTENT, IN_ORDER).values.ravel().tolist() == alone
    mixed = ir_measures.calc_aggregate([*names[:3], "Q", *names[3:]], BY_INTENT, IN_ORDER)
    assert [value for measure, value in mixed.items() if str(measure) != "Q"] == alone


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (P, "P needs a cutoff: for example P@10"),
        (ERR, "ERR needs a cutoff: for example ERR@10"),
        (P(rel=0) @ 5, "P: rel=0 must be a finite number > 0"),
        (AP @ 0, "AP: cutoff=0 must be a whole number >= 1 that fits 64 bits"),
        (nDCG(dcg="ln"), "nDCG: dcg='ln' must be 'log2' or 'exp-log2'"),
        (
            RR(judged_only=True) @ 5,
            "RR(judged_only=True)@5: RR takes rel, and either cutoff (as in MS MARCO's",
        ),
        (ir_measures.NumRel(rel=2), "NumRel(rel=2): NumRel takes rel; ir-measures supports rel=1 only"),
    ],
    ids=str,
)
def test_parameters_that_a_classic_is_not_defined_for_are_named(measure, message):
    with pytest.raises(ir_graded.ParameterError, match=re.escape(message)):
        ir_graded.evaluate(measure, QRELS, RUN)


@pytest.mark.parametrize(
    "measure",
    [
        *(RR, AP, P @ 3, ir_measures.RBP(p=0.5), ir_measures.Bpref, ir_measures.infAP, ir_measures.SetF),
        *(ir_measures.alpha_nDCG @ 3, ir_measures.NERR8 @ 3),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:alpha_nDCG")
def test_levels_in_parameters_may_be_fractions(measure):
    """The score is that of ten times all levels, which are whole."""
    run = {"1": {doc: -float(at) for at, doc in enumerate("xdbac")}}
    scores = []
    for scale in (1, 10):
        rows = [("1", doc, level / scale, "i") for doc, level in {"a": 3, "b": 1, "c": 6, "d": 2}.items()]
        qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iteration"])
        levels = {"rel": 2, "min_rel": 1, "max_rel": 6}
        params = {name: level / scale for name, level in levels.items() if name in measure.SUPPORTED_PARAMS}
        scores.append(ir_graded.evaluate(measure(**params), qrels, run).values.item())
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)
    assert 0 < scores[0] < 1
    assert ir_measures.calc_aggregate([measure(**params)], qrels, run) == {measure(**params): scores[1]}


def test_passages_of_an_article_count_as_one_row():
    qrels = pd.DataFrame(
        {"query_id": "1", "doc_id": ["a", "a", "b"], "relevance": [1, 2, 1], "start": [0, 50, 0], "length": 9}
    )
    run = pd.DataFrame(
        {
            "query_id": "1",
            "doc_id": ["x", "a", "a"],
            "score": [3.0, 2.0, 1.0],
            "start": [0, 0, 50],
            "length": 9,
        }
    )
    measures = ["NumRet", "NumRel", "AP", "P@2", "nDCG", "SetP", "Judged", "MAgP"]
    ours = ir_graded.evaluate(measures, qrels, run)
    assert ours.values.ravel()[:4].tolist() == [2, 2, 0.25, 0.5]
