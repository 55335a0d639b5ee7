"""The provider that computes each classic: in ir-measures' calls, by name, in evaluate, in the CLI."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import run_command
from ir_measures import AP, ERR, NumRet, P, nDCG
from ir_measures.providers.pytrec_eval_provider import PytrecEvalEvaluator

import ir_graded
from ir_graded.evaluation import upstream
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


@pytest.fixture
def upstream_fails(monkeypatch):
    """Fail if ir-measures' pipeline is called."""

    def fail(*_):
        raise RuntimeError("ir_measures was called")

    monkeypatch.setattr(upstream, "pipeline_evaluator", fail)


# --------------------------------------------------------------------------------- ir-measures' calls


def test_ir_measures_keeps_using_its_own_providers():
    assert type(ir_measures.evaluator([AP, nDCG @ 10], QRELS)) is PytrecEvalEvaluator
    mixed = ir_measures.evaluator(["Q", AP], QRELS)
    assert list(mixed.graded.scorers) == [ir_graded.Q]
    assert type(mixed.evaluators[0]) is PytrecEvalEvaluator


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
    by_topic = [
        (metric.query_id, metric.measure, metric.value) for metric in provider.iter_calc([AP], QRELS, RUN)
    ]
    assert by_topic == [("1", AP, pytest.approx(AP_1)), ("2", AP, 0)]
    assert provider.calc([NumRet], QRELS, RUN).aggregated == {NumRet: 3}
    with pytest.raises(ValueError, match="the provider ir_graded has no NumRel"):
        provider.evaluator([AP, ir_measures.SetAP, ir_measures.NumRel(rel=2)], QRELS)


def test_the_provider_lists_the_classics():
    for classic in CLASSICS.values():
        assert classic.MEASURE in PROVIDER.SUPPORTED_MEASURES


# ------------------------------------------------------------------------------------------- evaluate


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.usefixtures("upstream_fails")
def test_evaluate_computes_the_classics_itself():
    measures = ["P-measure", "AP", "nDCG@10", "P_5,10", "NumRet"]
    assert ir_graded.evaluate(measures, QRELS, RUN).mean().loc["run", "AP"] == pytest.approx(AP_1 / 2)
    with pytest.raises(RuntimeError, match="ir_measures was called"):
        ir_graded.evaluate(["AP"], QRELS, RUN, provider="upstream")
    with pytest.raises(RuntimeError, match="ir_measures was called"):
        ir_graded.evaluate(["AP", "AP(rel=0)"], QRELS, RUN)


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
LEFT_TO_OTHERS = {
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


@pytest.mark.parametrize("group", LEFT_TO_OTHERS)
@pytest.mark.parametrize("step", [1, -1])
def test_measures_of_other_providers_do_not_affect_each_other(group, step):
    """In one call of ir-measures, all but the first parameters of pyndeval gave 0, and IPrec@0.125 did."""
    if group == "pyndeval":
        pytest.importorskip("pyndeval", reason="pyndeval is not installed")
    names = LEFT_TO_OTHERS[group][::step]
    alone = [
        ir_measures.calc_aggregate([ir_measures.parse_measure(name)], BY_INTENT, IN_ORDER) for name in names
    ]
    alone = [value for found in alone for value in found.values()]
    assert min(alone) > 0
    together = ir_graded.evaluate(names, BY_INTENT, IN_ORDER, provider="upstream")
    assert together.values.ravel().tolist() == alone
    mixed = ir_measures.calc_aggregate([*names[:3], "Q", *names[3:]], BY_INTENT, IN_ORDER)
    assert [value for measure, value in mixed.items() if str(measure) != "Q"] == alone


def test_upstream_rejects_fractional_levels():
    qrels = {"1": {"a": 0.5}}
    assert ir_graded.evaluate("nDCG", qrels, RUN).values.item() == pytest.approx(1 / np.log2(3))
    with pytest.raises(ir_graded.InputError, match=r"but nDCG takes whole levels only; provider='auto'"):
        ir_graded.evaluate("nDCG", qrels, RUN, provider="upstream")
    with pytest.raises(ir_graded.InputError, match=r"but AP\(rel=0\) takes whole levels only$"):
        ir_graded.evaluate(["nDCG", "AP(rel=0)"], qrels, RUN)


@pytest.mark.parametrize("provider", ["auto", "upstream"])
@pytest.mark.parametrize("measure", [P, P(rel=1.5) @ 5, nDCG(dcg="ln")])
def test_unsupported_parameters_keep_the_error_of_ir_measures(measure, provider):
    with pytest.raises(ir_graded.ParameterError, match=measure.NAME):
        ir_graded.evaluate(measure, QRELS, RUN, provider=provider)


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
    theirs = ir_graded.evaluate(measures, qrels, run, provider="upstream")
    assert ours.values.ravel().tolist() == pytest.approx(theirs.values.ravel().tolist(), abs=1e-12)


# --------------------------------------------------------------------------------------- command line


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 a 2\n1 0 b 1\n2 0 d 1\n")
    (tmp_path / "one.run").write_text("1 Q0 x 1 3 t\n1 Q0 a 2 2 t\n2 Q0 d 1 1 t\n")
    (tmp_path / "two.run").write_text("1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n2 Q0 y 1 1 t\n")
    return tmp_path


COMMANDS = {
    "evaluate": ("evaluate", "qrels.txt", "one.run", "two.run", "-m", "AP NumRet Q", "-o", "csv"),
    "meta": ("meta", "qrels.txt", "one.run", "two.run", "-m", "AP Q", "-B", "20", "-o", "csv"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("files")
def test_the_command_line_offers_both_providers(capsys, command):
    plain = run_command(capsys, *COMMANDS[command])
    assert plain[0] == 0
    for provider in ("auto", "upstream"):
        assert run_command(capsys, *COMMANDS[command], "--provider", provider) == plain
    code, _, error = run_command(capsys, *COMMANDS[command], "--provider", "other")
    assert code == 2
    assert "'other' is not one of 'auto', 'upstream'" in error
