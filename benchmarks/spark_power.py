"""Discriminative power of several measures: one after the other on one machine, and as tasks of Spark.

    python benchmarks/spark_power.py [--measures 8] [--repeat 3]

A task is one measure's matrix of topics and systems (1,000 replicates), scored by the function that one
machine calls; the session is ``local[2]`` and has warmed up. The last row is a job whose tasks do nothing:
what Spark takes for itself. Medians of the repetitions, in turn.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
from meta_power import collection

SIZES = ((50, 129), (250, 500), (250, 1000))


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def power(scores: np.ndarray) -> float:
    """Percentage of the pairs of systems that the bootstrap tells apart."""
    from ir_graded.meta import discriminative_power

    return discriminative_power(scores, seed=1, progress=False).power


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measures", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    count = options.measures
    print(f"| topics x systems | one machine, s | local[2], s |\n{'|---' * 3}|")
    for topics, systems in SIZES:
        matrices = [collection(topics, systems)] * count
        tasks = session.sparkContext.parallelize(matrices, count)
        assert tasks.map(power).collect() == [power(scores) for scores in matrices]
        pairs = [
            (seconds(lambda m=matrices: [power(scores) for scores in m]), seconds(tasks.map(power).collect))
            for _ in range(options.repeat)
        ]
        alone, spark = (statistics.median(times) for times in zip(*pairs, strict=True))
        print(f"| {topics} x {systems} | {alone:.2f} | {spark:.2f} |", flush=True)
    nothing = session.sparkContext.parallelize(range(count), count).map(int)
    print(f"| nothing | | {statistics.median(seconds(nothing.collect) for _ in range(5)):.2f} |")
    session.stop()


if __name__ == "__main__":
    main()
