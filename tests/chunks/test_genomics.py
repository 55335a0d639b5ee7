"""Measures and runs of TREC Genomics."""

import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data
from hypothesis import given, strategies as st
from measures import measure_cases
from passages import passage_cases
from reference import chunks

import ir_graded
from ir_graded import AspectAP, InputError, ParameterError, Passage2AP, PassageAP, read_qrels, read_run

examples = measure_cases.examples(30)
MEASURES = [PassageAP, AspectAP, Passage2AP]
GOLD = [("200", "1", 1, 0, 30, "A|B"), ("200", "1", 1, 20, 40, "B|C"), ("200", "2", 1, 100, 50, "D")]
#: Document, rank, score and span.
ROWS = [
    *(("1", 1, 1, 10, 40), ("3", 2, 5, 0, 50), ("1", 3, 7, 40, 40)),
    *(("2", 4, 0.5, 90, 20), ("2", 5, 0.1, 100, 10)),
]
VALUES = [0.833333333333, 0.379006410256, 0.854166666667, 0.444117637904]


def gold_frame(rows):
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "start", "length", "aspects"])


def lines_of(rows, last):
    return ["\t".join(map(str, ("200", *row, last))) for row in rows]


def written(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_worked_example(tmp_path):
    gold = written(tmp_path / "gold.txt", ["\t".join(map(str, (*row[:2], *row[3:]))) for row in GOLD])
    path = written(tmp_path / "run.txt", lines_of(ROWS, "run"))
    run = read_run(path, format="genomics", rank="column")
    for qrels in (gold_frame(GOLD), gold, read_qrels(gold)):
        found = ir_graded.evaluate(["AP", *MEASURES], qrels, run, ranks="documents").mean().iloc[0].tolist()
        assert found == pytest.approx(VALUES, abs=6e-13)
    assert read_run(path)["score"].tolist() == [1, 5, 7, 0.5, 0.1]


TEXT = st.sampled_from(("A", "B", "A|B", " B |C", "", None))


@pytest.mark.slow
@examples
@given(qrels=passage_cases.qrels(), run=passage_cases.runs(), texts=st.lists(TEXT, min_size=24, max_size=24))
def test_random_rows_with_aspects(qrels, run, texts):
    rows = [(*row[:3], row[3] % 1000, row[4], text) for row, text in zip(qrels, texts, strict=False)]
    found_rows = [(*row[:3], row[3] % 1000, row[4]) for row in run]
    measures = [*MEASURES, *(measure(rel=2) for measure in MEASURES)]
    found = passage_cases.scores(measures, gold_frame(rows), passage_cases.frame("run", found_rows))
    for measure in measures:
        expected = chunks.evaluate(measure.NAME, dict(measure.params), rows, found_rows)
        measure_cases.assert_same_scores(found.get(str(measure), {}), expected)


def test_empty_spans_are_never_chosen():
    gold = [("1", "a", 1, 0, 10, "A"), ("1", "a", 1, 20, 0, "A"), ("1", "b", 1, 0, 10, None)]
    run = [("1", "a", 1, 0, 10)]
    found = passage_cases.scores([PassageAP], gold_frame(gold), passage_cases.frame("run", run))
    assert found["PassageAP"]["1"] == 1 / 2 == chunks.evaluate("PassageAP", {}, gold, run)["1"]


@pytest.mark.slow
def test_long_text_is_summed_in_parts():
    """With one other character before the highlighted ones, the score is a sum of n / (n + 1)."""
    many = 2_500_000
    qrels = gold_frame([("1", "a", 1, 1, many, "A"), ("2", "b", 1, 0, 5, "A"), ("2", "c", 1, 1, many, "A")])
    rows = [("1", "a", 1, 0, many + 1), ("2", "b", 2, 0, 5)]
    found = passage_cases.scores([Passage2AP], qrels, passage_cases.frame("run", rows))["Passage2AP"]
    harmonic = sum(1 / n for n in range(2, many + 2))
    assert found["1"] == pytest.approx((many - harmonic) / many, rel=1e-13)
    assert found["2"] == pytest.approx(5 / (many + 5), rel=1e-15)


def test_too_much_text_is_rejected():
    rows = [("1", "a", 1, 0, 2**40)]
    with pytest.raises(InputError, match="one by one"):
        passage_cases.scores(
            [Passage2AP], passage_cases.frame("qrels", rows), passage_cases.frame("run", rows)
        )


def test_aspects_are_needed():
    rows = [("1", "a", 1, 0, 5)]
    run = passage_cases.frame("run", rows)
    with pytest.raises(InputError, match=r"AspectAP needs aspects.*no column aspects.*TREC Genomics"):
        passage_cases.scores([AspectAP], passage_cases.frame("qrels", rows), run)
    with pytest.raises(InputError, match="the aspects 5 are not text"):
        passage_cases.scores([AspectAP], gold_frame([(*rows[0], 5)]), run)


def test_gold_that_is_not_utf_8_keeps_its_aspects_apart(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_bytes(b"200\t1\t200\t9\tA\n200\t1\t0\t30\tM\xfcller\n200\t1\t50\t10\tM\xf6ller\n")
    run = passage_cases.frame("run", [("200", "1", 2, 0, 9), ("200", "1", 1, 50, 9)])
    for qrels in (path, read_qrels(path)):
        assert ir_graded.evaluate(AspectAP, qrels, run).mean().iloc[0].tolist() == [2 / 3]


def test_the_rank_column_is_for_genomics_alone(tmp_path):
    path = written(tmp_path / "run.txt", lines_of(ROWS, "run"))
    with pytest.raises(ParameterError, match="format='genomics'"):
        read_run(path, rank="column")
    with pytest.raises(ParameterError, match="'score' or 'column'"):
        read_run(path, format="genomics", rank="rank")


def test_ties_in_the_rank_column_go_by_document_start_and_length(tmp_path):
    rows = [("b", 1, 9, 5, 5), ("a", 1, 1, 9, 5), ("a", 1, 1, 3, 7), ("a", 1, 1, 3, 5), ("z", 0, 1, 3, 5)]
    run = read_run(written(tmp_path / "run.txt", lines_of(rows, "run")), format="genomics", rank="column")
    assert run["score"].tolist() == [-5, -4, -3, -2, -1]


@pytest.mark.slow
@needs_shared_data
def test_official_figures_of_a_run():
    """In these data gold spans overlap, and several rows find one span."""
    run = read_run(ROOT / "genomics/york01.txt", format="genomics", rank="column")
    measures, gold = ["AP", *MEASURES, "MAgP(beta=0.25)"], ROOT / "genomics/gold07.txt"
    found = ir_graded.evaluate(measures, gold, run, ranks="documents")
    expected = [0.108571580535, 0.016963069846, 0.024391272703, 0.009413572619, 0.019898594702]
    assert found.mean().iloc[0].tolist() == pytest.approx(expected, abs=6e-13)
