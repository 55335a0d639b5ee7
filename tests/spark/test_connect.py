"""Spark Connect, whose DataFrames have neither a plan nor a context here, gives the scores of one machine."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'ir-graded[spark]'")
for library in ("grpc", "grpc_status", "google.protobuf"):
    pytest.importorskip(library, reason="Spark Connect needs more: pip install 'pyspark[connect]'")

SCRIPT = """
    from pyspark.sql import SparkSession
    import ir_graded.spark

    spark = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    qrels = spark.createDataFrame(
        [("1", "a", 1), ("1", "b", 2), ("2", "c", 1)], "query_id string, doc_id string, relevance int"
    )
    runs = spark.createDataFrame(
        [("x", "1", "a", 3.0), ("x", "2", "z", 1.0), ("y", "1", "b", 1.0)],
        "run string, query_id string, doc_id string, score double",
    )
    scores = ir_graded.spark.evaluate(["Q", "AP"], qrels, runs)
    print(sorted((row.run, row.query_id, row.measure, row.value) for row in scores.collect()))
    print(sorted((row.run, row.measure, row.value) for row in ir_graded.spark.mean(scores).collect()))
    try:
        ir_graded.spark.evaluate("Q", qrels, runs, broadcast=True)
    except ir_graded.ParameterError as error:
        print(error)
"""


def test_scores_equal_those_of_one_machine():
    """A separate process is needed: one process has sessions of one kind."""
    done = subprocess.run(  # noqa: S603  # the program above
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT)],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    scores, means, rejected = done.stdout.splitlines()[-3:]
    assert scores == str(
        [
            ("x", "1", "AP", 0.5), ("x", "1", "Q", 1 / 3), ("x", "2", "AP", 0.0), ("x", "2", "Q", 0.0),
            ("y", "1", "AP", 0.5), ("y", "1", "Q", 0.5), ("y", "2", "AP", 0.0), ("y", "2", "Q", 0.0),
        ]
    )  # fmt: skip
    assert means == str([("x", "AP", 0.25), ("x", "Q", 1 / 6), ("y", "AP", 0.25), ("y", "Q", 0.25)])
    assert "Spark Connect" in rejected
