"""Worked examples of nuggets, budgets and U, and exact values on real chunks."""

from fractions import Fraction

import ir_measures
import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data
from nuggets.nugget_cases import DOCUMENTS, EXAMPLE, EXAMPLE_RUN, mean

import ir_graded
from ir_graded import CoverageWarning

ONLY_DOCUMENTS = EXAMPLE_RUN.drop(columns=["start", "length"]).drop_duplicates("doc_id")


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ("", [0, 0.25, 0.5, 0.75]),
        ("(importance='vital')", [0, 0.5, 0.5, 1]),
        ("(importance='weighted')", [0, Fraction(1, 3), 0.5, Fraction(5, 6)]),
        ("(importance={2:1,1:0.5})", [0, Fraction(1, 3), 0.5, Fraction(5, 6)]),
        ("(threshold=0.5)", [0.25, 0.25, 0.5, 0.75]),
        ("(threshold=1)", [0, 0, 0.5, 0.75]),
        ("(spans='all')", [0, 0, 0.25, 0.5]),
        ("(partial=True)", [0.225, 0.308333333333, 0.6, 0.75]),
        ("(partial=True,spans='all')", [0.171428571429, 0.260714285714, 0.528571428571, 0.678571428571]),
    ],
)
def test_example_with_spans(params, expected):
    found = [mean(f"NuggetR{params}@{k}") for k in (1, 2, 3, 5)]
    assert found == pytest.approx([*map(float, expected)], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("run", [EXAMPLE_RUN, ONLY_DOCUMENTS], ids=["passages", "documents"])
def test_example_of_documents(run):
    measures = ["NuggetR", "NuggetR(importance='vital')", "NuggetR(importance='weighted')"]
    assert [mean(f"{one}@1", DOCUMENTS, run) for one in measures] == [0.5, 1, 2 / 3]
    assert [mean(f"{one}@2", DOCUMENTS, run) for one in measures] == [0.75, 1, 2.5 / 3]
    assert (mean("NuggetR(rel=2)@1", DOCUMENTS, run), mean("I-rec@1", DOCUMENTS, run)) == (0.25, 2 / 3)
    # Without spans neither parameter has an effect.
    assert mean("NuggetR(spans='all',partial=True)@1", DOCUMENTS, run) == 0.5


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("CharR(budget=120)", (0.357142857143, 0.285714285714)),
        ("NuggetR(budget=180)", (0.5, 0.25)),
        ("NuggetR(budget=430)", (0.75, 0.5)),
        ("CharP(budget=120)", (5 / 12, 0.4)),
        ("IoU(budget=120)", (0.238095238095, 0.2)),
        ("CharR(budget=30,unit='tokens')", (0.35, 0.285714285714)),
        ("NuggetR(budget=70,unit='tokens')", (0.5, 0.5)),
    ],
)
def test_example_of_budgets(measure, expected):
    drop = f"{measure[:-1]},fit='drop')"
    assert (mean(measure), mean(drop)) == pytest.approx(expected, abs=1e-12)


def test_the_first_rows_are_cut_before_the_budget():
    assert mean("CharR(budget=120)@1") == mean("CharR@1")
    assert mean("CharR(budget=50)@3") == mean("CharR(budget=50)") < mean("CharR@1")


@pytest.mark.slow
def test_example_of_u():
    measures = ["U(L={})", "U(L={},gains={{2:3}})", "U(L={},of='characters')", "U(L={},of='nuggets')"]
    of_200, of_500 = ([mean(one.format(length)) for one in measures] for length in (200, 500))
    assert of_200 == pytest.approx([1.4, 1.9, 0.314464285714, 0.1125], abs=1e-12)
    assert of_500 == pytest.approx([3.18, 4.09, 0.554142857143, 0.3925], abs=1e-12)


def test_characters_after_a_length_with_a_fraction_have_no_value():
    span = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
    qrels, run = pd.DataFrame({"relevance": [1], **span}), pd.DataFrame({"score": [1.0], **span})
    scores = ir_graded.evaluate("U(L=2.5,of='characters')", qrels, run)
    assert scores.values.item() == pytest.approx(((1 - 1 / 2.5) + (1 - 2 / 2.5)) / 40)


def test_u_of_documents_takes_their_lengths():
    qrels, run = {1: {"a": 1, "b": 0, "c": 2}}, {1: {"a": 3.0, "b": 2.0, "c": 1.0}}
    lengths = {"a": 100, "b": 50, "c": 200}
    scores = ir_graded.evaluate(["U(L=1000)", "U(L=1000,of='characters')", "AP"], qrels, run, lengths=lengths)
    assert scores.query_ids == (1,)
    rows = 0.9 + 2 * 0.65
    characters = (sum(1 - p / 1000 for p in range(1, 101)) + sum(1 - p / 1000 for p in range(151, 351))) / 300
    assert scores.values[:, 0, 0] == pytest.approx([rows, characters, 5 / 6])
    twice = pd.DataFrame({"query_id": 1, "doc_id": ["a", "a"], "score": [2, 1]})
    with pytest.raises(ir_graded.InputError, match=r"appears twice"):
        ir_graded.evaluate("U", qrels, twice, lengths=lengths)
    with pytest.raises(ir_graded.InputError, match="no length is given for 1 documents of the run: 'z'"):
        ir_graded.evaluate("U", qrels, {1: {"z": 1.0}}, lengths=lengths)


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", ["fixed200", "sent400", "fixed800"])
def test_real_chunks(name):
    folder = ROOT / "answers"
    expected = pd.read_csv(folder / "expected.tsv", sep="\t", quoting=3)
    expected = expected[(expected["data"] == f"chunks-{name}") & ~expected["measure"].str.contains("skip")]
    assert len(expected) == 11
    qrels, run = folder / "chunks-gold.tsv.xz", folder / f"chunks-{name}.tsv.xz"
    found = ir_graded.evaluate([*expected["measure"]], qrels, run).mean().iloc[0]
    assert found.tolist() == pytest.approx(expected["value"].tolist(), abs=5.1e-13)


@pytest.mark.slow
@needs_shared_data
def test_real_budgets_are_those_of_runs_cut_by_hand():
    folder = ROOT / "answers"
    qrels = pd.read_csv(folder / "chunks-gold.tsv.xz", sep="\t", dtype={"query_id": str, "iteration": str})
    for name in ("fixed200", "sent400", "fixed800"):
        run = pd.read_csv(folder / f"chunks-{name}.tsv.xz", sep="\t", dtype={"query_id": str})
        before = run.groupby("query_id")["length"].cumsum() - run["length"]
        cut = run.assign(length=(2000 - before).clip(0, run["length"]))
        for measure in ("CharR", "NuggetR"):
            found = mean(f"{measure}(budget=2000)", qrels, run)
            assert found == mean(measure, qrels, cut[cut["length"] > 0])


def test_ir_measures_computes_nuggets():
    measure = ir_graded.NuggetR @ 3
    assert ir_measures.calc_aggregate([measure], EXAMPLE, EXAMPLE_RUN) == {measure: 0.5}
    parsed = ir_measures.parse_measure("NuggetR(importance='vital',budget=8000)")
    assert parsed == ir_graded.NuggetR(importance="vital", budget=8000)


def test_explain_has_a_row_for_each_nugget():
    found = ir_graded.explain("NuggetR@3", EXAMPLE, EXAMPLE_RUN, "1")
    frame = found.to_frame()
    assert frame["intent"].tolist() == ["n1", "n3", "n2", "n4"]
    assert frame["rank"].tolist() == [2, 3, 0, 0]
    assert frame["doc_id"].tolist() == ["b", "b", "a", ""]
    assert frame[["start", "length"]].to_numpy().tolist() == [[10, 30], [60, 20], [100, 50], [0, 0]]
    assert frame["share"].tolist() == [1, 1, 0.4, 0]
    assert frame["contribution"].tolist() == [0.25, 0.25, 0, 0]
    assert "Listed nuggets: 4, in a ranking of 5." in str(found)
    weighted = ir_graded.explain("NuggetR(importance='weighted')", EXAMPLE, EXAMPLE_RUN, "1").to_frame()
    assert dict(zip(weighted["intent"], weighted["weight"], strict=True)) == {
        "n1": 1, "n3": 0.5, "n2": 1, "n4": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize("of", ["rows", "characters", "nuggets"])
def test_explained_contributions_sum_to_u(of):
    found = ir_graded.explain(f"U(L=500,of='{of}')", EXAMPLE, EXAMPLE_RUN, "1")
    assert found.to_frame()["contribution"].sum() == pytest.approx(found.score, abs=1e-15)


def test_explained_rows_of_u_show_their_gains():
    found = ir_graded.explain("U(L=500,of='rows',gains={1:3,2:7})", EXAMPLE, EXAMPLE_RUN, "1").to_frame()
    assert found["level"].tolist() == [2, 1, 1, 2]
    assert found["gain"].tolist() == [7, 3, 3, 7]
    # The rows end after 100, 135, 185 and 445 characters.
    assert found["contribution"].tolist() == pytest.approx([5.6, 2.19, 1.89, 0.77], abs=1e-15)


def test_topic_without_nuggets_of_positive_weight_is_warned_of():
    with pytest.warns(CoverageWarning, match="1 topic has no nugget with a weight above 0"):
        assert mean("NuggetR(importance='vital')", EXAMPLE.assign(importance="okay")) == 0


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")  # nothing judged is retrieved
def test_nuggets_that_are_never_read_add_nothing_to_u_of_any_length():
    gold = pd.DataFrame({"query_id": ["1"], "doc_id": "a", "relevance": 1, "start": 0, "length": 9})
    run = gold.assign(doc_id="b", score=1.0)
    assert ir_graded.evaluate("U(of='nuggets',L=1e19)", gold.assign(iteration="n"), run).values.item() == 0
