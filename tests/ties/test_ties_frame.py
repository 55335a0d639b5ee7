"""``ir_graded.ties``: the range of scores over the orders of tied documents."""

import math

import ir_measures
import pandas as pd
import pytest
from ir_measures import SetAP, infAP

import ir_graded
from ir_graded.measures.classic.ties import takes_ties

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}, "3": {"d": 1}}
RUNS = {
    "tied": {"1": {"a": 1.0, "b": 1.0, "x": 1 - 1e-9}, "2": {"c": 0.0, "y": -0.0}, "9": {"z": 1.0, "a": 1.0}},
    "clear": {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}, "3": {"d": 1.0}},
}


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_shares_and_ranges_equal_values_by_hand(form):
    runs = RUNS
    if form is pd.DataFrame:
        runs = {
            name: pd.DataFrame(
                [(topic, doc, score) for topic, of in run.items() for doc, score in of.items()],
                columns=["query_id", "doc_id", "score"],
            )
            for name, run in RUNS.items()
        }
    found = ir_graded.ties(["RR", "P@1"], QRELS, runs)
    assert found["run"].tolist() == ["tied", "tied", "clear", "clear"]
    assert found["measure"].tolist() == ["RR", "P@1"] * 2
    first, last = found.iloc[0].to_dict(), found.iloc[3].to_dict()
    assert first == {
        "run": "tied",
        "measure": "RR",
        "tied_share": 0.8,
        "topics_share": pytest.approx(2 / 3),
        "largest_range": 0.5,
        "pessimistic": pytest.approx(1 / 3),
        "expected": pytest.approx(0.5),
        "optimistic": pytest.approx(2 / 3),
    }
    assert (last["tied_share"], last["topics_share"], last["largest_range"]) == (0, 0, 0)
    assert last["pessimistic"] == last["expected"] == last["optimistic"] == 1


def test_a_run_without_documents_has_no_share():
    found = ir_graded.ties("RR", QRELS, {"empty": {"1": {}}})
    assert math.isnan(found["tied_share"][0])
    assert found["largest_range"][0] == 0


def test_measures_of_other_providers_are_rejected():
    length = ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length")
    with pytest.raises(ir_graded.ParameterError, match="Length: ties needs measures that ir_graded computes"):
        ir_graded.ties(length, QRELS, RUNS)
    with pytest.raises(ir_graded.ParameterError, match=r"^infAP: ties compares the pess"):
        ir_graded.ties(infAP, QRELS, RUNS)
    with pytest.raises(ir_graded.ParameterError, match="no measure given"):
        ir_graded.ties([], QRELS, RUNS)


def test_the_order_named_by_a_measure_is_ignored():
    found = ir_graded.ties(["RR(ties='optimistic')"], QRELS, RUNS)
    plain = ir_graded.ties(["RR"], QRELS, RUNS)
    assert found.drop(columns="measure").equals(plain.drop(columns="measure"))


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_report_shows_the_range_over_ties(tmp_path):
    pytest.importorskip("jinja2")
    place = tmp_path / "report.html"
    ir_graded.report(["RR", SetAP, infAP, "Q(ties='expected')"], QRELS, RUNS, place)
    page = place.read_text(encoding="utf-8")
    assert '<th scope="col">Ties</th>' in page
    found = ir_graded.ties("RR", QRELS, RUNS).set_index("run")
    for run, span in (found["optimistic"] - found["pessimistic"]).items():
        row = page[page.index(f'<span class="run">{run}</span>') :]
        assert f"<td>{span:.4f}</td>" in row[: row.index("</tr>")]


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_report_leaves_out_ties_of_measures_without_the_parameter(tmp_path):
    pytest.importorskip("jinja2")
    place = tmp_path / "report.html"
    ir_graded.report("gRBP(p=0.8,residual=True)", QRELS, RUNS, place)
    page = place.read_text(encoding="utf-8").partition("<script")[0]
    assert "with equal scores" not in page
    assert '<th scope="col">Ties</th>' not in page
    ir_graded.report("gRBP(p=0.8,residual=True) Q", QRELS, RUNS, place)
    page = place.read_text(encoding="utf-8")
    assert "<td>\u2013</td>" in page[: page.index("<script")]


def test_a_measure_without_the_parameter_rejects_ties():
    class Own(ir_graded.GradedMeasure):
        NAME = "Own"
        SUPPORTED_PARAMS = {"cutoff": ir_graded.GradedMeasure.SUPPORTED_PARAMS["cutoff"]}

    assert not takes_ties(Own())
    with pytest.raises(ir_graded.ParameterError, match="Own takes no ties"):
        ir_graded.ties(Own(), QRELS, RUNS)
