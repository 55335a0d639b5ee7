"""Equivalence classes: EC of a measure compared with worked examples, the plain reference and properties."""

import pandas as pd
import pytest
from helpers import TABLES
from intents.intent_cases import CLASS_LEVELS, CLASSES

import ir_graded
from ir_graded import EC
from ir_graded.errors import InputError, ParameterError
from ir_graded.measures import REGISTRY


def as_run(ranking):
    return {doc: float(-n) for n, doc in enumerate(ranking)}


def frame_of(levels, classes):
    """Return qrels with a column of classes."""
    rows = [
        (topic, doc, level, classes[topic].get(doc))
        for topic, docs in levels.items()
        for doc, level in docs.items()
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "equivalence_class"])
    return frame.astype({"equivalence_class": object})


EXAMPLE = frame_of({"1": CLASS_LEVELS}, {"1": CLASSES})


def score(measure, ranking, qrels=EXAMPLE):
    return ir_graded.evaluate([measure], qrels, {"1": as_run(ranking)}).values.item()


# ------------------------------------------------------------------------------------------ worked examples

OF_BAC = {
    "EC-Q": 0.5625,
    "EC-P-measure": 0.625,
    "EC-P+": 0.5625,
    "EC-AP": 5 / 6,
    "EC-nDCG@10": 0.469278726023,
    "EC-nERR@10": 6 / 13,
    "EC-EBR": 0.359375,
    "EC-iRBU": 0.611362125,
}


@pytest.mark.parametrize(("measure", "expected"), OF_BAC.items())
def test_the_first_relevant_document_of_a_class_counts(measure, expected):
    assert score(measure, "bac") == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("measure", ["EC-Q", "EC-P-measure", "EC-P+", "EC-AP", "EC-nDCG@10", "EC-nERR@10"])
def test_a_list_with_the_best_of_each_class_first_is_perfect(measure):
    assert score(measure, "acb") == pytest.approx(1, abs=1e-15)


def test_equal_class_names_in_two_topics_are_separate():
    levels = {"1": {"a": 1}, "2": {"a": 1, "b": 1}}
    run = {"1": as_run("a"), "2": as_run("ab")}
    classes = {"1": {"a": "x"}, "2": {"a": "x", "b": "y"}}
    assert ir_graded.evaluate(["EC-AP"], frame_of(levels, classes), run).values.tolist() == [[[1, 1]]]


def test_only_relevant_documents_use_up_a_class():
    frame = frame_of({"1": {"a": 0, "b": 1, "c": 2}}, {"1": dict.fromkeys("abc", 7)})
    assert score("EC-RR", "abc", frame) == 0.5
    assert score(EC(measure="RR(rel=2)"), "abc", frame) == pytest.approx(1 / 3)


def test_later_documents_of_a_class_keep_their_rank_in_a_condensed_list():
    frame = frame_of({"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"a": 1, "b": 1}})
    assert score(EC(measure="AP(judged_only=True)"), "axbc", frame) == pytest.approx((1 + 2 / 3) / 2)


# ------------------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("GAP", "GAP"), ("Bpref", "Bpref"), ("Q@10", r"EC\(measure='Q'\)@10"), ("Q(ties='expected')", "ties"),
        ("MAgP", "MAgP"), ("nothing", "nothing"), (3, "3"),
    ],
)  # fmt: skip
def test_other_base_measures_are_rejected(measure, message):
    with pytest.raises(ParameterError, match=message):
        EC(measure=measure)


def test_a_missing_cutoff_of_the_base_measure_is_rejected():
    with pytest.raises((ParameterError, ValueError), match="cutoff"):
        score(EC(measure="P"), "abc")


def test_expected_ties_are_rejected():
    with pytest.raises(ParameterError, match="takes no ties"):
        ir_graded.evaluate(["EC-Q"], EXAMPLE, {"1": as_run("bac")}, ties="expected")


# ----------------------------------------------------------------------------------------------------- input


@pytest.mark.parametrize("form", ["file", *TABLES])
def test_all_forms_of_input_give_equal_scores(form, tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text("".join(f"{r[1]} {r[2]} L{r[3]} {r[4]}\n" for r in EXAMPLE.itertuples()))
    qrels = path if form == "file" else TABLES[form](EXAMPLE, tmp_path / "qrels")
    assert score("EC-Q", "bac", qrels) == 0.5625


def test_conflicting_classes_of_a_document_are_rejected():
    twice = pd.concat([EXAMPLE, EXAMPLE])
    assert score("EC-Q", "bac", twice) == 0.5625
    other = pd.concat([EXAMPLE, EXAMPLE.assign(equivalence_class=2)])
    with pytest.raises(InputError, match=r"document 'a'.*equivalence_class is 2, but 1"):
        score("EC-Q", "bac", other)


def test_documents_with_a_blank_class_are_classes_by_themselves(tmp_path):
    path = tmp_path / "qrels.csv"
    path.write_text(
        "query_id,doc_id,relevance,equivalence_class\n1,a,1,\n1,b,1, \n1,c,1,x\n1,d,1,x\n", encoding="utf-8"
    )
    read = ir_graded.read_qrels(path)
    assert read["equivalence_class"].isna().tolist() == [True, True, False, False]
    run = {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    for qrels in (path, read):
        scores = ir_graded.evaluate(["EC(measure='Q')", "EC(measure='nCG')@2"], qrels, run)
        assert scores.mean().iloc[0].tolist() == [1, 1]


def test_qrels_without_classes_are_rejected():
    with pytest.raises(InputError, match="equivalence_class"):
        score("EC-Q", "bac", {"1": CLASS_LEVELS})


# --------------------------------------------------------------------------------------------------- explain


def test_an_explanation_names_documents():
    found = ir_graded.explain("EC-Q", EXAMPLE, {"1": as_run("bac")}, "1")
    assert found.columns["doc_id"].tolist() == ["b", "c"]
    assert found.columns["rank"].tolist() == [1, 3]
    assert found.columns["level"].tolist() == [1, 2]
    assert found.columns["contribution"].sum() == pytest.approx(found.score)
    assert found.relevant == 2


def test_every_base_measure_is_registered():
    names = {name.removeprefix("EC-") for name in REGISTRY if name.startswith("EC-")}
    assert {"Q", "nDCG", "AP", "P", "RR", "Success", "P-measure", "iRBU"} <= names
