"""Every measure on Spark and on one machine, for all runs of a real round of TREC-COVID."""

import numpy as np
import polars as pl
import pytest
from collections_data import ROOT, needs_shared_data, ranked_runs

import ir_graded
from spark.spark_cases import every_classic, every_measure

pytestmark = [needs_shared_data, pytest.mark.filterwarnings("default"), pytest.mark.release]

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'ir-graded[spark]'")
from ir_graded.spark import evaluate, read_qrels  # noqa: E402

QRELS = ROOT / "trec-covid" / "qrels" / "qrels.covid-round1.txt.gz"


@pytest.fixture(scope="module")
def runs():
    return ranked_runs("round1.ranked1000.tsv.xz")


@pytest.fixture(scope="module")
def path_of_runs(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "runs.parquet"
    write(runs, path)
    return str(path)


def write(runs, path):
    pl.concat(run.with_columns(run=pl.lit(name)) for name, run in runs.items()).write_parquet(path)


def largest_difference(found, expected):
    """Return the largest difference of two sources with equal runs, topics and measures."""
    keys = ["run", "query_id", "measure"]
    found, expected = (frame.set_index(keys)["value"].sort_index() for frame in (found, expected))
    assert found.index.is_unique
    assert found.index.equals(expected.index)
    return np.abs(found - expected).max()


@pytest.mark.parametrize("broadcast", [True, False])
def test_all_runs_of_round_1_score_as_on_one_machine(spark, runs, path_of_runs, broadcast):
    measures = [*every_measure(), *every_classic()]
    expected = ir_graded.evaluate(measures, QRELS, runs).to_frame()
    assert expected["run"].nunique() == 143
    scores = evaluate(
        measures, read_qrels(spark, str(QRELS)), spark.read.parquet(path_of_runs), broadcast=broadcast
    )
    assert largest_difference(scores.toPandas(), expected) <= 1e-12


def test_all_runs_of_round_1_score_as_passages_on_one_machine(spark, runs, path_of_runs):
    """The track has no positions, so they are made up: each rank retrieves another part of a document."""
    qrels = ir_graded.read_qrels(QRELS)[["query_id", "doc_id", "relevance"]]
    qrels = qrels.assign(start=np.arange(len(qrels)) % 7 * 10, length=np.arange(len(qrels)) % 90 + 1)
    row = pl.int_range(pl.len())
    placed = {name: run.with_columns(start=row % 50, length=row % 60 + 1) for name, run in runs.items()}
    path = path_of_runs.replace("runs.parquet", "passages.parquet")
    write(placed, path)
    measures = every_measure(passages=True)
    expected = ir_graded.evaluate(measures, qrels, placed).to_frame()
    assert (expected.groupby("measure")["value"].max() > 0).all()
    scores = evaluate(measures, spark.createDataFrame(qrels), spark.read.parquet(path))
    assert largest_difference(scores.toPandas(), expected) <= 1e-12
