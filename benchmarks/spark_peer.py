"""A local session of Spark, and the time that its processes take."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import spark_scaling

#: The compiler of Java that needs least time, and one collector: calls then take nearly equal time.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def missing() -> str | None:
    """Return why Spark cannot be measured, or None."""
    if find_spec("pyspark") is None:
        return "PySpark is not installed"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java"
    if not Path("/proc/self/stat").exists():
        return "the time of Java is read from /proc, which this system lacks"
    return None


def seconds_of_family() -> float:
    """Return the processor time of this process and all its children; Linux counts ticks of 10 ms."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rpartition(b") ")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(path.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {os.getpid()}
    while found := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= found
    return sum(ticks[pid] for pid in family) / os.sysconf("SC_CLK_TCK")


@contextmanager
def spark_calls(folder: Path) -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """Yield our call and a plain job on an equal table: sorted parts, Python on each topic, a sum."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    spark_scaling.write(folder, 0.1, passages=False, intents=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PySpark, about versions of pandas
        from pyspark.sql import SparkSession

        import ir_graded.spark as graded

        session = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.extraJavaOptions", JAVA)
            .config("spark.sql.shuffle.partitions", "4")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        qrels, run = (session.read.parquet(str(folder / f"{name}.parquet")) for name in ("qrels", "run"))

        def ours() -> object:
            return graded.mean(graded.evaluate(spark_scaling.MEASURES, qrels, run)).collect()

        def sort(batches: Iterator[Any]) -> Iterator[Any]:  # defined here: Spark then sends its code
            yield from (batch.sort_by("doc_id") for batch in batches)

        def peer() -> object:
            qrels.select("relevance").distinct().collect()
            run.groupBy("query_id").count().join(qrels, "query_id").groupBy("count").count().collect()
            rows = run.repartition("query_id").sortWithinPartitions("query_id", "score", "doc_id")
            return rows.mapInArrow(sort, rows.schema).groupBy("query_id").count().collect()

        for _ in range(4):  # Java compiles what runs often
            ours()
            peer()
        try:
            yield ours, peer
        finally:
            session.stop()
