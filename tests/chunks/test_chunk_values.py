"""Worked examples of measures of rows: every value by hand."""

import math

import pandas as pd
import pytest
from chunks import chunk_cases as cases
from collections_data import ROOT, needs_shared_data
from passages import passage_cases

import ir_graded
from ir_graded import AiP, CharF, CharP, CharR, CoverageWarning, InputError, IoU, ParameterError, iP
from ir_graded.matching import tables

# A relevant article with two spans, one with one span, one judged without any.
QRELS = passage_cases.one_topic([("a", 1, "0:30 100:50"), ("b", 1, "10:20"), ("c", 0, "0:0")])
RUN = [("1", "a", 4, 20, 100), ("1", "c", 3, 0, 40), ("1", "b", 2, 0, 30), ("1", "a", 1, 120, 60)]


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (CharP @ 1, 30 / 100), (CharP @ 2, 30 / 140), (CharP @ 3, 50 / 170), (CharP, 80 / 230),
        (CharR @ 1, 0.3), (CharR @ 2, 0.3), (CharR @ 3, 0.5), (CharR, 0.8),
        (CharF, 2 * 80 / 330), (CharF(beta=math.inf), 0.8), (CharF(beta=0), 80 / 230),
        (IoU, 80 / 250), (IoU @ 1, 30 / 170),
        (iP @ 0, 80 / 230), (iP @ 0.8, 80 / 230), (iP @ 0.81, 0), (AiP, 81 / 101 * 80 / 230),
    ],
    ids=str,
)  # fmt: skip
def test_three_articles(measure, value):
    assert passage_cases.score(measure, QRELS, RUN) == pytest.approx(value, abs=1e-15)


def test_measures_of_rows_and_of_documents_in_one_call():
    names = ["CharP@1", "MAiP", "MAgP", "SetP", "SetR", "SetF", "Q", "nDCG"]
    judged, run = passage_cases.frame("qrels", QRELS), passage_cases.frame("run", RUN)
    found = ir_graded.evaluate(names, judged, run).mean().iloc[0].to_dict()
    expected = [0.3, 0.278949634094, 0.466666666667, 2 / 3, 1, 0.8]
    assert list(found.values())[:6] == pytest.approx(expected, abs=1e-12)
    documents = [
        passage_cases.one_row_an_article(kind, rows)
        for kind, rows in zip(("qrels", "run"), (QRELS, RUN), strict=True)
    ]
    alone = ir_graded.evaluate(["Q", "nDCG"], *documents).mean().iloc[0].to_dict()
    assert {name: found[name] for name in alone} == alone


@pytest.mark.parametrize(
    ("overlap", "precision", "recall", "iou"),
    [("retrieved", 40 / 70, 1, 40 / 70), ("once", 40 / 60, 1, 40 / 60), ("each", 50 / 70, 1.25, None)],
)
def test_text_that_two_rows_hold(overlap, precision, recall, iou):
    qrels, run = [("1", "x", 1, 0, 40)], [("1", "x", 2, 0, 30), ("1", "x", 1, 20, 40)]
    assert passage_cases.score(CharP(overlap=overlap), qrels, run) == pytest.approx(precision, abs=1e-15)
    assert passage_cases.score(CharR(overlap=overlap), qrels, run) == recall
    if iou is None:
        for measure in (IoU, CharF):
            with pytest.raises(ParameterError, match="'retrieved', 'once'"):
                measure(overlap=overlap)
    else:
        assert passage_cases.score(IoU(overlap=overlap), qrels, run) == pytest.approx(iou, abs=1e-15)


def test_characters_weighted_by_the_gain_of_their_highest_level():
    qrels = [("1", "x", 1, 0, 40), ("1", "x", 3, 30, 30), ("1", "y", 2, 0, 10)]
    run = [("1", "x", 2, 20, 20), ("1", "y", 1, 5, 95)]
    # Found: ten characters of level 1, ten of level 3, five of level 2.
    assert passage_cases.score(CharR(graded=True), qrels, run) == pytest.approx(
        (10 + 30 + 10) / (30 + 90 + 20)
    )
    weighted = CharR(graded=True, gains={1: 0, 2: 5, 3: 5})
    assert passage_cases.score(weighted, qrels, run) == pytest.approx((50 + 25) / (150 + 50))
    flat = CharR(graded=True, gains={1: 2, 2: 2, 3: 2})
    assert passage_cases.score(flat, qrels, run) == pytest.approx(passage_cases.score(CharR, qrels, run))


def test_gains_that_fall_are_rejected():
    with pytest.raises(ParameterError, match="gains must not fall"):
        passage_cases.score(
            CharR(graded=True, gains={2: 0.5}),
            [("1", "x", 1, 0, 4), ("1", "x", 2, 2, 4)],
            [("1", "x", 1, 0, 9)],
        )


@pytest.mark.parametrize(
    "params", [{"graded": True, "overlap": "each"}, {"gains": {1: 2}}, {"overlap": "twice"}, {"graded": 1}]
)
def test_parameters_that_do_not_go_together_are_rejected(params):
    with pytest.raises(ParameterError):
        CharR(**params)


def test_points_of_recall_are_compared_exactly():
    """29 of 100 characters reach 0.29, although 100 * 0.29 is below 29 in doubles."""
    qrels, run = [("1", "x", 1, 0, 100)], [("1", "x", 1, 0, 29)]
    assert passage_cases.score(iP @ 0.29, qrels, run) == 1
    assert passage_cases.score(iP @ 0.3, qrels, run) == 0
    assert passage_cases.score(AiP, qrels, run) == pytest.approx(30 / 101, abs=1e-15)
    one_of_three = [("1", "x", 1, 0, 3)]
    assert passage_cases.score(iP @ (1 / 3), one_of_three, [("1", "x", 1, 0, 1)]) == 1
    assert passage_cases.score(iP @ math.nextafter(1 / 3, 1), one_of_three, [("1", "x", 1, 0, 1)]) == 0


@pytest.mark.parametrize("measure", [AiP, iP @ 0.1], ids=str)
def test_overlapping_rows_are_rejected_with_both_places(measure):
    qrels = [("1", "x", 1, 0, 40)]
    run = [("1", "x", 9, 0, 30), ("1", "y", 8, 0, 5), ("1", "z", 2, 7, 30), ("1", "z", 1, 20, 40)]
    message = r"topic '1', document 'z'.*7:30 at row 2 and 20:40 at row 3"
    with pytest.raises(InputError, match=message) as caught:
        passage_cases.score(measure, qrels, run)
    assert "overlap='retrieved'" in str(caught.value)
    assert passage_cases.score(measure(overlap="retrieved"), qrels, run) > 0


@pytest.mark.parametrize("topic", ["1", "2", "3"])
def test_overlapping_rows_are_found_in_any_part_of_a_run(topic, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 1)
    qrels = [(name, "x", 1, 0, 40) for name in "123"]
    run = [(name, "x", 2, 0, 30) for name in "123"] + [(topic, "x", 1, 20, 40)]
    run.sort(key=lambda row: row[0])
    with pytest.raises(InputError, match=f"topic '{topic}', document 'x': 0:30 .* and 20:40"):
        cases.scores([AiP], qrels, run)


@pytest.mark.slow
@needs_shared_data
def test_official_figures_of_a_run():
    measures = [CharP, CharR, CharF, iP @ 0, iP @ 0.01, iP @ 0.05, iP @ 0.1, AiP]
    with pytest.warns(CoverageWarning, match="lacks 2 of the 120 topics"):
        found = ir_graded.evaluate(measures, ROOT / "inex/INEX_Qrels.txt", ROOT / "inex/ric.run")
    scores = pd.DataFrame({measure: found.matrix(measure)[found.runs[0]] for measure in measures})
    assert len(scores) == 120
    expected = [
        *(0.154945477194, 0.334850911882, 0.145551648545, 0.520936072738),
        *(0.495900018812, 0.390566461139, 0.304838703089, 0.102062506215),
    ]
    # The official figures are means over the topics of the run.
    assert (scores.sum() / 118).tolist() == pytest.approx(expected, abs=6e-13)
    assert scores[[iP @ 0.01, AiP]].mean().tolist() == pytest.approx(
        [0.487635018498, 0.100361464445], abs=6e-13
    )
