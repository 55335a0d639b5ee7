"""Estimates from sampled judgments: forms of qrels and runs, what is rejected, and the command."""

from collections import namedtuple

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import TABLES, error_message, run_command
from ir_datasets.formats.trec import TrecPrel

import ir_graded
from ir_graded import InputError, ParameterError

Prel = namedtuple("Prel", ["query_id", "doc_id", "relevance", "method", "iprob"])
Row = namedtuple("Row", ["query_id", "doc_id", "relevance", "stratum"])
ROWS = [
    Prel(*row)
    for row in (
        *(("1", "a", 1, 1, 1.0), ("1", "b", 2, 1, 0.5), ("1", "c", 0, 1, 0.2), ("1", "d", 1, 2, 0.5)),
        *(("1", "e", 1, 1, 0.2), ("2", "a", 0, 4, 0.5), ("2", "b", 1, 4, 0.1)),
    )
]
FRAME = pd.DataFrame(ROWS)
RUN = {"1": {"b": 5.0, "u": 4.0, "a": 3.0, "c": 2.0, "d": 1.0}, "2": {"u": 2.0, "b": 1.0}}
RUN_FRAME = pd.DataFrame(
    [(topic, doc, score) for topic, docs in RUN.items() for doc, score in docs.items()],
    columns=["query_id", "doc_id", "score"],
)
MEASURES = ["AP", "Q", "nDCG@3"]


def estimates_of(qrels, run=RUN, **options):
    found = ir_graded.score_estimates(MEASURES, qrels, run, **options)
    return found.to_frame().drop(columns="run")


NAMES = ["qid", "docno", "label", "method", "iprob"]
FORMS = TABLES | {
    "frame with object columns": lambda table, _: table.astype(object),
    "ir_datasets": lambda *_: [TrecPrel(*row) for row in ROWS],
    "PyTerrier's names": lambda table, _: table.set_axis(NAMES, axis=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_qrels_give_the_same_estimates(form, tmp_path):
    qrels = FORMS[form](FRAME, tmp_path / "qrels")
    pd.testing.assert_frame_equal(estimates_of(qrels), estimates_of(FRAME))


def test_several_runs_keep_their_names():
    found = ir_graded.score_estimates("AP", FRAME, {"one": RUN, "two": RUN_FRAME})
    assert found.scores.runs == ("one", "two")
    np.testing.assert_array_equal(found.estimate[:, 0], found.estimate[:, 1])


def test_an_unjudged_document_needs_no_probability():
    more = [*ROWS, Prel("1", "x", -1, None, None), Prel("1", "y", -1, 1, 0.5)]
    pd.testing.assert_frame_equal(estimates_of(more), estimates_of(FRAME))


def test_no_warning_of_sampled_judgments_is_issued(recwarn):
    estimates_of(FRAME)
    assert not recwarn.list


def test_strata_in_named_tuples():
    rows = [Row("1", "a", 1, "1"), Row("1", "b", 0, "1"), Row("1", "d", -1, "1"), Row("1", "c", 2, "x")]
    found = ir_graded.score_estimates("P@1", rows, {"1": {"a": 1.0}}, certain=[])
    assert found.estimate.item() == 1.5


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "measure", ["P-measure", "P-measure@10", "P+", "O-measure", "RR", "ERR@20", "nERR", "iRBU", "AWP"]
)
def test_other_measures_have_no_estimator(measure):
    message = error_message(ParameterError, ir_graded.score_estimates, ["AP", measure], FRAME, RUN)
    name = ir_measures.parse_measure(measure)
    assert message == (f"{name} has no estimator for sampled judgments. Available: AP, Q, nDCG, P, RBP, gRBP")


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("AP@10", "with cutoff: all sampled documents count"),
        ("Q@10", "with cutoff: all sampled documents count"),
        ("Q(norm='cutoff')@10", "with norm"),
        ("AP(judged_only=True)", "with judged_only: ranks among judged documents"),
        ("nDCG(judged_only=True)", "with judged_only"),
        ("P(judged_only=True)@5", "with judged_only"),
        ("gRBP(norm='ideal')", "with norm"),
        ("gRBP(residual=True)", "with residual"),
        ("AP(ties='expected')", "ties"),
        ("nDCG(ties='optimistic')@10", "ties"),
        ("Q(ties='expected')", "ties"),
        ("Q(ranks='rows')", "needs passages"),
        ("AP(ranks='rows')", "needs passages"),
        (ir_measures.nDCG(gains={-1: 1}), "level -1 is relevant"),
    ],
)
def test_parameters_without_an_estimator_are_rejected(measure, words):
    more = [*ROWS, Prel("1", "x", -1, 1, 1)]
    assert words in error_message(ParameterError, ir_graded.score_estimates, measure, more, RUN)


@pytest.mark.parametrize("certain", ["02", 2])
def test_certain_methods_are_a_list(certain):
    message = error_message(ParameterError, ir_graded.score_estimates, "AP", FRAME, RUN, certain=certain)
    assert f"certain={certain!r} must be a list of numbers" in message


def test_an_unknown_run_of_a_difference_is_rejected():
    found = ir_graded.score_estimates("AP", FRAME, {"one": RUN, "two": RUN})
    assert "run_b='tow' must be one of 'one', 'two'" in error_message(
        ParameterError, found.difference, "one", "tow"
    )


@pytest.mark.parametrize(
    "qrels",
    [
        FRAME[["query_id", "doc_id", "relevance"]],
        {"1": {"a": 1}},
        FRAME.drop(columns="iprob").assign(iteration="1"),
    ],
)
def test_qrels_without_probabilities_and_strata_are_rejected(qrels):
    message = error_message(InputError, ir_graded.score_estimates, "AP", qrels, RUN)
    for words in ("needs inclusion probabilities", "no column iprob", "a column stratum will also do"):
        assert words in message


def with_row(*row):
    return pd.DataFrame([*ROWS, Prel(*row)])


STRATA = FRAME.drop(columns="method").assign(
    stratum=["1", "1", "2", "2", "2", "x", "x"], relevance=[1, -1, -1, 2, 0, 1, 0]
)


@pytest.mark.parametrize(
    ("qrels", "words"),
    [
        (with_row("2", "x", 1, 1, 0.0), "'2', document 'x' (row 7): the inclusion probability (iprob) is 0"),
        (with_row("2", "x", 1, 1, 1.5), "(iprob) is 1.5; it must be above 0 and at most 1"),
        (with_row("1", "a", 1, 1, 1.0), "topic '1', document 'a' (row 7): the document is also at row 0"),
        (with_row("1", "a", 2, 1, 1.0), "the document is also at row 0"),
        (
            STRATA.assign(stratum=["1", "1", None, *"2222"]).drop(columns="iprob"),
            "document 'c' (row 2): no stratum",
        ),
        (
            STRATA.assign(iprob=[0.5, 0.5, 2 / 3, 2 / 3, 2 / 3 + 2e-6, 1, 1]),
            "topic '1', stratum '2': the inclusion probability (iprob) is 0.666669, but 2 of 3 documents",
        ),
        (FRAME.assign(start=0, length=5), "takes no passages"),
    ],
)
def test_wrong_qrels_are_rejected(qrels, words):
    assert words in error_message(InputError, ir_graded.score_estimates, "AP", qrels, RUN)


def test_a_run_with_passages_is_rejected():
    run = RUN_FRAME.assign(start=0, length=5)
    assert "takes no passages" in error_message(InputError, ir_graded.score_estimates, "AP", FRAME, run)


def test_swapped_topics_are_rejected():
    with pytest.raises(ir_graded.NoSharedTopicsError):
        ir_graded.score_estimates("AP", FRAME, {"3": {"a": 1.0}})


# ------------------------------------------------------------------------------------------------- command


def test_nothing_relevant_scores_0():
    nothing = FRAME.assign(relevance=0)
    with pytest.warns(ir_graded.CoverageWarning, match="nothing is relevant"):
        found = ir_graded.score_estimates([*MEASURES, "P@1", "gRBP", "RBP(rel=1)"], nothing, RUN)
    assert not found.estimate.any()
    assert not found.se.any()
    assert found.no_relevant.tolist() == [2] * 6


def test_a_run_without_judged_documents_scores_0():
    with pytest.warns(ir_graded.CoverageWarning, match="no judged document"):
        found = ir_graded.score_estimates(MEASURES, FRAME, {"1": {"u": 1.0}, "2": {"v": 1.0}})
    assert not found.estimate.any()
    assert not found.se.any()


def test_empty_qrels_are_rejected():
    for qrels in ({}, FRAME[:0]):
        with pytest.raises(ir_graded.NoSharedTopicsError):
            ir_graded.score_estimates("AP", qrels, RUN)


@pytest.fixture
def files(tmp_path):
    run = tmp_path / "my.run"
    lines = (f"{t} Q0 {doc} 0 {score} tag\n" for t, doc, score in RUN_FRAME.itertuples(index=False))
    run.write_text("".join(lines), encoding="utf-8")
    return TABLES["parquet"](FRAME, tmp_path / "qrels"), run


COVERS = "se, low, high (95%): they cover the sampling of judgments only, not of topics.\n"


def test_the_command_prints_estimates_and_what_the_intervals_cover(capsys, files):
    code, out, err = run_command(capsys, "evaluate", *files, "-m", "AP Q", "--estimates")
    assert (code, err) == (0, "")
    assert out.endswith(f"\n\n{COVERS}")
    head, _, row = out.splitlines()[:3]
    ends = ("", " se", " low", " high")
    assert head.split() == " ".join(["run", *(m + end for m in ("AP", "Q") for end in ends)]).split()
    found = ir_graded.score_estimates(["AP", "Q"], FRAME, RUN)
    assert row.split()[1:] == [f"{value:.4f}" for value in found.overall[:, :, 0].T.ravel()]


@pytest.mark.parametrize("output", ["csv", "tsv", "jsonl", "latex"])
def test_the_note_does_not_disturb_programs(capsys, files, output):
    code, out, err = run_command(capsys, "evaluate", *files, "-m", "AP", "--estimates", "-o", output, "-q")
    assert (code, err) == (0, COVERS)
    assert COVERS not in out


@pytest.mark.parametrize(
    "options",
    [
        ("--unjudged", "bounds"),
        ("--ties", "expected"),
        ("--ranks", "rows"),
        ("--intents", "f"),
        ("--nuggets", "f"),
        ("--groups", "a=f"),
        ("--lengths", "f"),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(capsys, files, options):
    code, out, err = run_command(capsys, "evaluate", *files, "-m", "AP", "--estimates", *options)
    assert (code, out) == (2, "")
    assert "--estimates" in err


def test_the_command_rejects_other_measures(capsys, files):
    code, _, err = run_command(capsys, "evaluate", *files, "-m", "P-measure", "--estimates")
    assert code == 2
    assert "P-measure has no estimator for sampled judgments. Available: AP, Q, nDCG, P, RBP, gRBP" in err


# --------------------------------------------------------------------------------------------------- files


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dropped rows:ir_graded.SampledJudgmentsWarning")
def test_a_file_of_prels_is_read_with_methods(tmp_path):
    path = tmp_path / "web.prels"
    lines = [" ".join(map(str, row[:5])) for row in ROWS]
    path.write_text("\n".join([*lines, "1 z -999 1 NA", ""]), encoding="utf-8")
    pd.testing.assert_frame_equal(estimates_of(path), estimates_of(FRAME))
    pd.testing.assert_frame_equal(estimates_of(path, certain=()), estimates_of(FRAME, certain=()))
    assert not estimates_of(path).equals(estimates_of(path, certain=()))


def test_rows_without_probability_are_dropped_and_counted():
    with pytest.warns(ir_graded.SampledJudgmentsWarning, match=r"^Dropped rows \(.*\): 1\.$"):
        found = ir_graded.score_estimates("AP", with_row("2", "x", 1, 1, None), RUN)
    without = ir_graded.score_estimates("AP", with_row("2", "x", 1, 1, 1.0).iloc[:-1], RUN)
    assert found.to_frame().equals(without.to_frame())
