"""The migration tables are right: names are read, and values are equal."""

import re

import ir_measures
import pandas as pd
import pytest
from doc_blocks import DOCS, rows
from pyNTCIREVAL import Labeler, metrics

import ir_graded

PAGE = DOCS / "migration.rst"
NTCIREVAL = rows(PAGE, "ntcireval-measures")
BEYOND = rows(PAGE, "ntcireval-intents")
WITHOUT = rows(PAGE, "ntcireval-without")
OPTIONS = rows(PAGE, "ntcireval-options")
TREC_EVAL = rows(PAGE, "trec-eval-measures")
CUTOFF = 3
QRELS = {"d1": 3, "d2": 3, "d3": 2, "d4": 1, "d5": 1, "d6": 0, "d7": 2}
RUN = ["x1", "d4", "d6", "d3", "d1", "x2", "d5"]
GAINS = (1, 2, 3)


def theirs(name):
    """Return the value of pyNTCIREVAL by its printed name."""
    labeler = Labeler(QRELS)
    numbers = labeler.compute_per_level_doc_num(len(GAINS) + 1)
    made = {
        "RR": metrics.RR(),
        "OMeasure": metrics.OMeasure(numbers, GAINS, 1.0),
        "PMeasure": metrics.PMeasure(numbers, GAINS, 1.0),
        "PPlusMeasure": metrics.PPlusMeasure(numbers, GAINS, 1.0),
        "AP": metrics.AP(numbers, GAINS),
        "QMeasure": metrics.QMeasure(numbers, GAINS, 1.0),
        "NCUguP": metrics.NCUguP(numbers, GAINS, GAINS),
        "NCUguBR": metrics.NCUguBR(numbers, GAINS, GAINS, 1.0),
        "NCUrbP": metrics.NCUrbP(numbers, GAINS, 0.95),
        "NCUrbBR": metrics.NCUrbBR(numbers, GAINS, 0.95, 1.0),
        "AP@k": metrics.AP(numbers, GAINS, CUTOFF),
        "QMeasure@k": metrics.QMeasure(numbers, GAINS, 1.0, CUTOFF),
        "MSnDCG@k": metrics.MSnDCG(numbers, GAINS, CUTOFF),
        "Precision@k": metrics.Precision(CUTOFF),
        "nERR@k": metrics.nERR(numbers, GAINS, CUTOFF),
        "Hit@k": metrics.Hit(CUTOFF),
        "RBP": metrics.RBP(numbers, GAINS, 0.95),
        "ERR": metrics.ERR(numbers, GAINS),
        "nDCG@k": metrics.nDCG(numbers, GAINS, 2.0, CUTOFF),
    }
    assert str(made[name]) == name.replace("@k", f"@{CUTOFF:04}")
    return made[name].compute(labeler.label(RUN))


@pytest.mark.parametrize("row", [row for row in NTCIREVAL if row[1]], ids=lambda row: row[0])
def test_measures_of_ntcireval_equal_the_program(row):
    _, python_name, ours, _ = (cell.strip("`") for cell in row)
    run = {"1": {doc: float(-rank) for rank, doc in enumerate(RUN)}}
    scores = ir_graded.evaluate(ours.replace("@k", f"@{CUTOFF}"), {"1": QRELS}, run)
    assert scores.values.item() == pytest.approx(theirs(python_name), abs=1e-12)


def test_names_that_the_page_calls_accepted_are_read():
    assert sum("this name is accepted" in row[3] for row in NTCIREVAL) == 6
    for name, _, ours, remark in NTCIREVAL:
        if "this name is accepted" in remark:
            assert ir_measures.parse_measure(name.strip("`")) == ir_measures.parse_measure(ours.strip("`"))


#: Measures that version 230128 prints.
PRINTED = {
    *("RR", "O-measure", "P-measure", "P-plus", "AP", "Q-measure", "RBP", "ERR", "EBR", "iRBU", "GAP"),
    *("NCUgu,P", "NCUgu,BR", "NCUrb,P", "NCUrb,BR", "NCUrb,IE", "NCUrb,P@k", "NCUrb,BR@k", "NCUrb,IE@k"),
    *("bpref", "bpref_R", "bpref_N", "bpref_relative", "rpref_N", "rpref_relative", "rpref_relative2"),
    *("AP@k", "Q@k", "nDCG@k", "MSnDCG@k", "Prec@k", "RBP@k", "nRBP@k", "ERR@k", "nERR@k", "EBR@k"),
    *("nEBR@k", "iRBU@k", "niRBU@k", "Hit@k", "GAP@k", "I-rec@k", "I-rec@n", "GF-JSD@k", "GF-NMD@k"),
    *("GF-RNOD@k", "S-measure", "S-flat", "T-measure", "T-flat", "F-flat", "Recall", "W-recall"),
}
#: Its options.
TAKEN = {
    *("-g", "-s", "-beta", "-gamma", "-logb", "-rbp", "-rbup", "-gap", "-j", "-cutoffs", "-truncate", "-r"),
    *("-I", "-din", "-ec", "-gm", "-ngroups", "-gdistr", "-sep", "-out", "-v", "-h", "-L", "-N"),
}


def quoted(cells):
    """Return the first word of each text in double backticks."""
    return {text for cell in cells for text in re.findall("``(.+?)``", cell)}


def test_every_measure_and_option_of_the_program_has_a_row():
    listed = quoted(row[0] for row in (*NTCIREVAL, *BEYOND, *WITHOUT))
    assert listed >= PRINTED
    assert {text.split()[0] for text in quoted(row[0] for row in OPTIONS)} >= TAKEN
    assert all(row[1] for row in (*WITHOUT, *OPTIONS))


@pytest.mark.parametrize("ours", [row[1] for row in BEYOND])
def test_measures_over_intents_classes_and_groups_are_read(ours):
    measure = ir_measures.parse_measure(ours.strip("`").replace("@k", "@3"))
    assert measure["cutoff"] == 3
    assert ir_measures.parse_measure(str(measure)) == measure


@pytest.mark.parametrize(("theirs", "ours"), TREC_EVAL, ids=lambda cell: cell)
def test_names_of_trec_eval_are_read(theirs, ours):
    found = ir_graded.measures.parsing.read_measures(theirs.strip("`"))
    assert found == [ir_measures.parse_measure(text.strip("`")) for text in ours.split(" ")]


def in_ranks(ranking):
    return {"1": {doc: -float(n) for n, doc in enumerate(ranking)}}


_INTENTS = [("1", "a", "1"), ("1", "a", "2"), ("1", "b", "3")]
_BY_INTENT = [ir_measures.Qrel(topic, doc, 1, intent) for topic, doc, intent in _INTENTS]
_MANY = {"1": {f"d{n}": 1 for n in range(2000)}}
#: Qrels and run of each measure of the table; the qrels of a row may be read only once.
TRAPS = {
    "ERR_IA@1": (_BY_INTENT, in_ranks("ab")),
    "nNRBP": ([ir_measures.Qrel("2", "x", 0, "1")], {"2": {"x": 1.0, "y": 0.5}}),
    "alpha_nDCG@30": (_BY_INTENT, in_ranks("ab")),
    "alpha_nDCG(judged_only=True)@10": (_BY_INTENT, in_ranks("ab")),
    "alpha_nDCG@5": (_BY_INTENT, in_ranks("ab")),
    "IPrec@0.12": ({"1": {f"d{n}": 1 for n in range(8)}}, in_ranks(["d1", "x", "d2"])),
    "IPrec(judged_only=True)@0.5": ({"1": {"a": 0}}, {"1": {"x": 1.0, "y": 0.5}}),
    "Compat(p=0.8)": ({"1": dict.fromkeys("abc", 1)}, {"1": {"b": -3.0, "x": -4.0}}),
    "Accuracy": ({"1": {"a": 1, "b": 1}}, in_ranks("ab")),
    "SDCG(max_rel=1)@2000": (_MANY, in_ranks([*_MANY["1"]][:1000])),
    "BPM(max_rel=10)@20": ({"1": {f"d{n}": 1 for n in range(10)}}, in_ranks([f"d{n}" for n in range(20)])),
    "INST(max_rel=1)": ({"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0}}),
}
INSTALLED_BY = {"ndeval": "pyndeval", "cwl_eval": "cwl-eval"}
BESIDE = {"alpha_nDCG@5": "alpha_nDCG(alpha=0.3)@5", "IPrec@0.12": "IPrec@0.125"}
LISTED = rows(PAGE, "ir-measures-traps")


def test_the_page_lists_each_case_once():
    assert [row[2].strip("`") for row in LISTED] == [*TRAPS]


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning", "ignore::UserWarning")
@pytest.mark.parametrize("row", LISTED, ids=lambda row: row[2])
def test_values_that_differ_from_ir_measures_are_as_listed(row):
    program, _, name, there, here = (cell.strip("`") for cell in row)
    measure, (qrels, run) = ir_measures.parse_measure(name), TRAPS[name]
    assert ir_graded.evaluate(name, qrels, run).values.item() == pytest.approx(float(here), abs=5e-5)
    provider = ir_measures.providers.registry[{"ndeval": "pyndeval"}.get(program, program)]
    if not provider.is_available():
        pytest.skip(f"{INSTALLED_BY[program]} is not installed")
    measures = [ir_measures.parse_measure(BESIDE[name]), measure] if name in BESIDE else [measure]
    if there.endswith("Error"):
        with pytest.raises((AssertionError, TypeError, ZeroDivisionError)) as caught:
            provider.calc_aggregate(measures, qrels, run)
        assert caught.type.__name__ == there
    else:
        found = provider.calc_aggregate(measures, qrels, run)
        # Which of the measures of one call is lost depends on the order of a set.
        values = found.values() if name in BESIDE else [found[measure]]
        expected = pytest.approx(float(there), abs=5e-5, nan_ok=True)
        assert any(value == expected for value in values)


def answer(topic, **support):
    """Return the rows of one answer: by ``vital1`` and the like, whether the nugget is supported."""
    return [
        {"query_id": topic, "run": "r", "nugget": name, "importance": name[:-1], "assignment": label}
        for name, label in support.items()
    ]


def nuggets(*rows):
    return [{key: row[key] for key in ("query_id", "nugget", "importance")} for row in rows]


def answers(measure, rows, listed=None):
    return ir_graded.score_answers(measure, pd.DataFrame(rows), nuggets=listed and pd.DataFrame(listed))


def citations(measure, *sentences):
    rows = [("1", "r", n, *cited) for n, cites in enumerate(sentences) for cited in cites or [(None, None)]]
    names = ["query_id", "run", "sentence", "doc_id", "support"]
    return ir_graded.score_answers(measure, citations=pd.DataFrame(rows, columns=names))


def lists(measure, qrels, run, **options):
    return ir_graded.evaluate(measure, qrels, run, **options)


_ONE, _TWO = answer("1", vital1="support"), answer("1", vital1="support", vital2="not_support")
_ROWS = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b", "c"], "start": 0, "length": [400, 300, 200]})
#: A function of the measure for each row of the table, in its order.
ANSWER_TRAPS = [
    lambda measure: answers(measure, _ONE, nuggets(*_ONE, *answer("2", vital1="support"))),
    lambda measure: answers(measure, _TWO[:1], nuggets(*_TWO)),
    lambda measure: answers(measure, _ONE),
    lambda measure: citations(
        *(measure, [("a", "FS"), ("b", "NS")], [("a", "PS")], []),
        *([("c", "NS"), ("a", "FS")], [("b", "FS")]),
    ),
    lambda measure: answers(measure, answer("1", vital1="partial_support", okay1="partial_support")),
    lambda measure: answers(measure, answer("1", vital1="support", vital2="support", okay1="support")),
    lambda measure: lists(
        *(measure, [ir_measures.Qrel("1", "a", 1, "vital1")], {"1": {"a": 1.0}}), nuggets=nuggets(*_TWO)
    ),
    lambda measure: lists(measure, _ROWS.assign(relevance=[1, 0, 1]), _ROWS.assign(score=[3, 2, 1])),
]


_OF_ANSWERS = rows(PAGE, "answer-traps")


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    ("row", "score"), [*zip(_OF_ANSWERS, ANSWER_TRAPS, strict=True)], ids=[row[2] for row in _OF_ANSWERS]
)
def test_values_that_differ_from_tools_for_answers_are_as_listed(row, score):
    *_, measure, _, here = (cell.strip("`") for cell in row)
    assert score(measure).values.mean() == pytest.approx(float(here), abs=5e-5)


@pytest.mark.parametrize("option", ["rel=2", "judged_only=True"])
def test_options_in_the_tables_exist(option):
    assert str(ir_measures.parse_measure(f"AP({option})")) == f"AP({option})"
