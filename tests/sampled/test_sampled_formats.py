"""Files and tables of sampled judgments: how they are recognised, read and rejected."""

import warnings

import ir_measures
import numpy as np
import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data
from helpers import error_message
from ir_datasets.formats.trec import TrecPrel
from sampled import sampled_cases as cases

import ir_graded
from ir_graded import InputError, SampledJudgmentsWarning


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a text to a file of a folder, and returns its path."""

    def write_text(text, name):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return tmp_path / name

    return write_text


PREL = "10 GX1-2 0 1 0.25\n10 GX1-3 2 0 1\n11 GX1-2 1 2 .5\n"
PREL_ROWS = [("10", "GX1-2", 0, 1, 0.25), ("10", "GX1-3", 2, 0, 1.0), ("11", "GX1-2", 1, 2, 0.5)]
SAMPLEVAL_ROWS = [("1", doc, level, stratum) for doc, stratum, level in cases.A]
RUN = {"10": {"GX1-2": 1.0}, "1": {"d1": 1.0}}


def rows_of(path, **options):
    return list(cases.quietly(ir_graded.read_qrels, path, **options).itertuples(index=False, name=None))


def problem_of(path):
    """Return the message of an error that read_qrels and evaluate raise alike."""
    return error_message(InputError, lambda qrels: ir_graded.evaluate("AP", qrels, RUN), path)


@pytest.mark.parametrize("blank", [" ", "\t", "  "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_prels_are_read(write, blank, end):
    path = write(PREL.replace(" ", blank).replace("\n", end), "q.txt")
    assert rows_of(path) == rows_of(path, format="prel") == PREL_ROWS


# The fields of doubtful lines, in the order in which they may come.
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("last", ["0.5", "NA", "1.0", "5e-1"])
def test_one_fraction_shows_that_a_file_has_inclusion_probabilities(write, order, last):
    lines = ["10 1 0 1 1", "10 2 1 2 1", f"10 3 1 1 {last}"][::order]
    assert [row[1] for row in rows_of(write("\n".join(lines), "q.txt"))][::order] == ["1", "2", "3"][
        : 2 + (last != "NA")
    ]


@pytest.mark.parametrize("blank", [" ", "\t", "  "])
def test_sampleval_is_read(write, blank):
    path = write(cases.sampleval(cases.A).replace(" ", blank), "q.txt")
    assert rows_of(path) == rows_of(path, format="sampleval") == SAMPLEVAL_ROWS


@pytest.mark.parametrize(
    "lines",
    [
        ["1 0 d1 1 2", "1 0 d2 1 -1"],
        ["1 0 d1 2 1", "1 0 d2 1 2"],  # a level below the stratum
        ["1 0 4711 1 2", "1 0 4712 0 -1"],
        ["1 0 d1 1 10", "1 0 d2 1 -1"],
    ],
)
def test_a_level_below_the_stratum_or_of_minus_1_shows_strata(write, lines):
    for order in (lines, lines[::-1]):
        fields = [line.split() for line in order]
        expected = [(topic, doc, int(level), stratum) for topic, _, doc, stratum, level in fields]
        assert rows_of(write("\n".join(order), "q.txt")) == expected


@pytest.mark.parametrize("second", ["Q0", "0"])
@pytest.mark.parametrize("counts", ["500 400", "0 -5"])
def test_impossible_lengths_of_passages_are_not_strata(write, second, counts):
    path = write(f"1 {second} 851 30 500\n1 {second} 852 {counts}\n", "q.txt")
    problem = problem_of(path)
    assert f"{path}, line 2: expected topic Q0 file rel_chars doc_len" in problem
    assert "but 0 <= rel_chars <= doc_len; for sampled judgments, name the format" in problem


def test_a_length_of_minus_1_is_rejected_where_the_second_field_is_q0(write):
    assert "line 2: expected topic Q0 file" in problem_of(write("1 Q0 851 30 500\n1 Q0 852 0 -1\n", "q.txt"))


@pytest.mark.slow
@needs_shared_data
def test_passages_are_still_read():
    path = ROOT / "inex" / "INEX_Qrels.txt"
    text = path.read_text(encoding="utf-8")
    assert "iprob" not in ir_graded.read_qrels(path)
    assert len(ir_graded.read_qrels(path)) > len(text.splitlines())


@pytest.mark.slow
@needs_shared_data
def test_passages_without_offsets_are_still_read(write):
    lines = (ROOT / "inex" / "INEX_Qrels.txt").read_text(encoding="utf-8").splitlines()
    five = [line.split()[:5] for line in lines]
    rows = rows_of(write("\n".join(map(" ".join, five)), "q.txt"))
    assert rows == [(topic, file, int(relevant != "0"), 0, 0) for topic, _, file, relevant, _ in five]


# --------------------------------------------------------------------------------------- rejected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "10 a 0 1 .5\n10 b 1 1 0\n",
            "document 'b' ({}, line 2): the inclusion probability (iprob) is 0; it must",
        ),
        (
            "10 a 0 1 .5\n\n10 b 1 1 1.5\n",
            "document 'b' ({}, line 3): the inclusion probability (iprob) is 1.5",
        ),
        ("10 a 0 1 .5\n10 b 1 1 -0.1\n", "({}, line 2): the inclusion probability (iprob) is -0.1"),
        ("10 a 0 1 .5\n10 b 1 1 x\n", "({}, line 2): the iprob 'x' is not a number"),
        ("10 a 0 1 .5\n10 b x 1 1\n", "{}, line 2: level 'x' is not a finite number"),
        (
            "10 a 0 1 .5\n10 b 1 1\n",
            "{}, line 2: expected 5 fields (PREL qrels: topic doc level method iprob), found 4",
        ),
        (
            "10 a 0 1 .5\n10 a 0 1 .5\n",
            "document 'a' ({0}, line 2): the document is also at {0}, line 1; in sampled",
        ),
        (
            "10 a 0 1 NA\n10 b 1 1 1\n10 a 0 1 1\n10 b 1 1 1\n",
            "({0}, line 4): the document is also at {0}, line 2",
        ),
        (
            "1 0 a 1 1\n1 0 b 1 -1\n1 0 a 1 1\n",
            "document 'a' ({0}, line 3): the document is also at {0}, line 1",
        ),
        ("1 0 a 1 1\n1 0 b 1 -1\n1 0 c 1\n", "{}, line 3: expected 5 fields (SAMPLEVAL qrels"),
        ("1 0 a 1 1\n1 0 b 1 -1\n1 0 c 1 x\n", "{}, line 2: expected topic Q0 file rel_chars"),
    ],
)
def test_a_wrong_line_is_rejected_with_its_place(write, text, problem):
    path = write(text, "q.txt")
    assert problem.format(path) in problem_of(path)


def test_duplicates_are_rejected_in_tables():
    for column, value in (("iprob", 0.5), ("stratum", "1")):
        rows = pd.DataFrame({"query_id": "1", "doc_id": ["a", "a"], "relevance": 1, column: value})
        with pytest.raises(InputError, match=r"document 'a' \(row 1\): the document is also at row 0"):
            ir_graded.evaluate("AP", rows, RUN)
    rows = [ir_measures.Qrel("1", "a", 1, h) for h in "12"]
    with pytest.raises(InputError, match=r"the stratum is '2', but '1' at item 0"):
        cases.quietly(ir_graded.evaluate, "xinfAP", rows, RUN)


def test_a_missing_stratum_is_rejected():
    rows = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "relevance": 1, "stratum": ["1", None]})
    with pytest.raises(InputError, match=r"document 'b' \(row 1\): no stratum"):
        ir_graded.evaluate("xinfAP", rows, RUN)


def test_inclusion_probabilities_are_those_of_the_strata():
    rows = cases.frame(cases.A).assign(iprob=[2 / 3] * 3 + [0.6] * 5)
    expected = cases.quiet_scores(cases.MEASURES, cases.frame(cases.A), cases.run_of(cases.RANKING_A))
    found = cases.quiet_scores(cases.MEASURES, rows, cases.run_of(cases.RANKING_A))
    assert found.tolist() == expected.tolist()
    rows.loc[4, "iprob"] = 0.61
    problem = r"^qrels: topic '1', stratum '2': the inclusion probability \(iprob\) is 0.61, but 3 of 5"
    with pytest.raises(InputError, match=problem):
        cases.quiet_scores("xinfAP", rows, cases.run_of(cases.RANKING_A))


def test_a_level_of_minus_999_counts_in_its_stratum():
    rows = cases.frame([(doc, stratum, level if level >= 0 else -999) for doc, stratum, level in cases.A])
    expected = cases.quiet_scores(cases.MEASURES, cases.frame(cases.A), cases.run_of(cases.RANKING_A))
    for qrels in (rows, rows.assign(iprob=[2 / 3] * 3 + [0.6] * 5)):
        found = cases.quiet_scores(cases.MEASURES, qrels, cases.run_of(cases.RANKING_A))
        assert found.tolist() == expected.tolist()


# ------------------------------------------------------------------------------------- the warning


def warned(measures, qrels, run=RUN):
    """Return the texts of the warnings on sampled judgments."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ir_graded.evaluate(measures, qrels, run)
    return [str(one.message) for one in caught if one.category is SampledJudgmentsWarning]


USE = "the sample as if it were complete. Use ir_graded.score_estimates."


def test_the_warning_counts_judgments_and_names_measures(write):
    path = write(PREL, "q.txt")
    counts = "2 of 3 judgments have an inclusion probability below 1."
    assert warned(["AP", "Q"], path) == [f"{counts} AP and Q score {USE}"]
    assert warned("nDCG@10 P@5 RR", path) == [f"{counts} nDCG@10, P@5 and RR score {USE}"]
    # All documents of the pool are judged, so estimates have nothing to estimate.
    assert warned("infAP", path) == [f"{counts} infAP scores {USE}"]


def test_the_warning_counts_documents_of_strata_that_were_not_judged(write):
    path = write(cases.sampleval(cases.A), "q.txt")
    counts = "3 of 8 documents of the pool were not judged."
    of_strata = "infAP takes the judgments for one uniform sample of the pool, but there are several strata"
    expected = [f"{of_strata}: use xinfAP.", f"{counts} AP scores {USE}"]
    assert warned(["AP", *cases.MEASURES], path) == expected
    assert warned(cases.MEASURES, path) == expected[:1]
    with pytest.warns(SampledJudgmentsWarning, match=f"^{counts} Most measures score {USE}$"):
        ir_graded.read_qrels(path)
    judged = [(doc, stratum, max(level, 0)) for doc, stratum, level in cases.A]
    assert warned("AP", cases.frame(judged)) == []


def test_rows_without_judgments_are_dropped_and_counted(write):
    text = f"{PREL}10 x -999 1 .5\n10 y 1 0 NA\n12 x 1 1 NA\n"
    path = write(text, "q.txt")
    assert rows_of(path) == rows_of(path, format="prel") == PREL_ROWS
    dropped = "Dropped rows (level -999 or inclusion probability NA): 3."
    counts = f"2 of 3 judgments have an inclusion probability below 1. {dropped}"
    assert warned("AP", path) == [f"{counts} AP scores {USE}"]
    assert warned("AP", write("10 x 1 1 NA\n10 y 1 1 1\n", "q.txt"), {"10": {"y": 1.0}}) == [
        f"{dropped.replace('3', '1')} AP scores {USE}"
    ]


def test_rows_of_prels_of_ir_datasets_are_dropped_alike(write):
    text = f"{PREL}10 x -999 1 .5\n"
    rows = [TrecPrel("10", "GX1-2", 0, 1, 0.25), TrecPrel("10", "GX1-3", 2, 0, 1.0)]
    rows += [TrecPrel("10", "x", -999, 1, 0.5), TrecPrel("11", "GX1-2", 1, 2, 0.5)]
    assert warned("AP", rows) == warned("AP", write(text, "q.txt")) == warned("AP", pd.DataFrame(rows))
    assert rows_of(write(text, "q.txt")) == PREL_ROWS


def test_values_do_not_change(write):
    path, run = write(PREL, "q.txt"), {"10": {"GX1-2": 2.0, "GX1-3": 1.0}, "11": {"GX1-2": 1.0}}
    complete = {"10": {"GX1-2": 0, "GX1-3": 2}, "11": {"GX1-2": 1}}
    measures = ["AP", "Q", "nDCG@10", "infAP", "ERR@5"]
    expected = ir_graded.evaluate(measures, complete, run).values
    assert (cases.quiet_scores(measures, path, run) == expected).all()


# ------------------------------------------------------------------------------------------ forms


@pytest.mark.slow
def test_all_forms_of_strata_score_alike(tmp_path):
    run = cases.run_of(cases.RANKING_A)
    expected = cases.quiet_scores(cases.MEASURES, cases.frame(cases.A), run)
    assert np.unique(expected).size == len(cases.MEASURES)
    for name, qrels in cases.forms(cases.A, tmp_path):
        assert cases.quiet_scores(cases.MEASURES, qrels, run).tolist() == expected.tolist(), name


def test_forms_without_strata_score_alike(write):
    rows = [(doc, "1", level) for doc, _, level in cases.A]
    run = cases.run_of(cases.RANKING_A)
    nested = {"1": {doc: level for doc, _, level in rows}}
    trec = write("".join(f"1 0 {doc} {level}\n" for doc, level in nested["1"].items()), "q.txt")
    expected = cases.quiet_scores(cases.MEASURES, nested, run).tolist()
    for qrels in (
        trec,
        cases.frame(rows),
        cases.frame(rows).drop(columns="stratum"),
        cases.frame(rows, "iteration"),
    ):
        assert cases.quiet_scores(cases.MEASURES, qrels, run).tolist() == expected


def test_arrays_are_complete_judgments():
    levels = [[2, 0, 1, 0, 0], [0, 1, 0, 0, 3]]
    qrels = {str(at): {f"d{n}": level for n, level in enumerate(row)} for at, row in enumerate(levels)}
    run = {topic: {doc: -float(doc[1:]) for doc in docs} for topic, docs in qrels.items()}
    expected = ir_graded.evaluate(cases.MEASURES, qrels, run).values[:, 0]
    assert ir_graded.score_arrays(cases.MEASURES, levels).tolist() == expected.tolist()
    assert ir_graded.score_arrays("infNDCG", levels, [[5, 4, 3, 2, 1]] * 2).tolist() == expected[[2]].tolist()


def test_unfilled_lines_of_a_pool_are_an_error_with_the_line(write):
    path = write("1 0 d1 1 2\n1 0 d2 2 -1\n1 0 d3 2 ?\n", "q.txt")
    with pytest.raises(ir_graded.FileFormatError, match=r"q\.txt, line 3: .*'\?'"):
        ir_graded.read_qrels(path)
