"""Work on one partition, without Spark: batches and pieces of any size give the scores of one machine."""

from functools import cache

import pytest

import ir_graded
from ir_graded.measures.parsing import read_measures
from spark.spark_cases import collection, expected_table, on_one_machine, same

pa = pytest.importorskip("pyarrow")
from ir_graded.spark.evaluation import Scoring  # noqa: E402

MEASURES = ["P-measure", "Q@10", "nERR@10", "AP", "NumRet", "Judged@10", "P@3"]
QRELS, ROWS = collection(3, topics=5)
SIZES = [1, 4, 7, 1 << 10]


@cache
def expected():
    """Return the scores. The first test computes them, so that collecting tests starts no threads."""
    return expected_table(on_one_machine(MEASURES, QRELS, ROWS))


def as_sorted(qrels, rows):
    """Return the rows of one partition in the order of Spark's sort: run, topic, document, value."""
    judged = [(None, topic, doc, float(level)) for topic, doc, level in sorted(qrels)]
    by_doc = sorted(rows, key=lambda row: row[2], reverse=True)
    by_score = sorted(by_doc, key=lambda row: row[3], reverse=True)
    return judged + sorted(by_score, key=lambda row: row[:2])


def batches(rows, size):
    names = ["run", "query_id", "doc_id", "value"]
    types = [pa.string()] * 3 + [pa.float64()]
    for at in range(0, len(rows), size):
        columns = zip(*rows[at : at + size], strict=True)
        arrays = [pa.array(cells, kind) for cells, kind in zip(columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names)


def scoring(qrels, rows, *, piece, longest, measures=MEASURES):
    return Scoring(
        measures=tuple(read_measures(measures)),
        runs=tuple(sorted({run for run, *_ in rows})),
        named=True,
        scale=tuple(sorted({float(level) for *_, level in qrels})),
        judged=None,
        piece=piece,
        longest=longest,
    )


def scored(qrels, rows, size, **sizes):
    found = {}
    for batch in scoring(qrels, rows, **sizes)(batches(as_sorted(qrels, rows), size)):
        for row in batch.to_pylist():
            found[row["run"], row["query_id"], row["measure"]] = row["value"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("piece", SIZES)
@pytest.mark.parametrize("longest", SIZES)
def test_batches_and_pieces_of_any_size_give_the_scores_of_one_machine(size, piece, longest):
    same(scored(QRELS, ROWS, size, piece=piece, longest=longest), expected())


@pytest.mark.slow
@pytest.mark.parametrize(("longest", "held"), [(3, 4), (20, 21), (1 << 10, 100)])
def test_a_long_topic_holds_no_more_rows_than_allowed(monkeypatch, longest, held):
    sizes = []
    table = Scoring._table

    def counted(self, kind, rows, where):
        sizes.append(len(rows) if kind == "run" else 0)
        return table(self, kind, rows, where)

    monkeypatch.setattr(Scoring, "_table", counted)
    rows = [("one", "t", f"d{number:03}", -float(number)) for number in range(100)]
    found = scored([("t", "d099", 1)], rows, 1, piece=1, longest=longest, measures=["RR", "NumRet"])
    assert found == {("one", "t", "RR"): 1 / 100, ("one", "t", "NumRet"): 100.0}
    assert max(sizes) == held


def test_passages_of_a_long_topic_are_combined_by_article():
    """Rows of an article are far apart."""
    names = ["run", "query_id", "doc_id", "value", "run start", "run length", "qrels start", "qrels length"]
    kinds = [pa.string()] * 3 + [pa.float64()] * 5
    between = [("one", "t", f"x{number}", 9.0 - number, 0.0, 5.0) for number in range(4)]
    run = [("one", "t", "a", 10.0, 0.0, 5.0), *between, ("one", "t", "a", 1.0, 5.0, 5.0)]
    given = (
        pa.RecordBatch.from_arrays(
            [pa.array([cell], kind) for cell, kind in zip(row, kinds, strict=True)], names
        )
        for row in [(None, "t", "a", 1.0, None, None, 0.0, 10.0), *((*row, None, None) for row in run)]
    )
    one = scoring([("t", "a", 1)], run, piece=1, longest=1, measures=["MAgP", "NumRet"])
    found = [row for batch in one(given) for row in batch.to_pylist()]
    assert {row["measure"]: row["value"] for row in found} == {"MAgP": 1.0, "NumRet": 5.0}


def test_a_missing_score_in_a_long_topic_is_rejected_by_name():
    rows = [("one", "t", f"d{number}", 9.0 - number) for number in range(5)]
    rows[3] = ("one", "t", "d3", float("nan"))
    with pytest.raises(ir_graded.InputError, match=r"topic 't', document 'd3' .*run 'one'.*missing"):
        scored([("t", "d1", 1)], rows, 1, piece=1, longest=1)
