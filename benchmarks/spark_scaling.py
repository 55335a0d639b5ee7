"""Measure how long Spark takes on one machine, by rows and processors, compared with plain evaluation.

    python benchmarks/spark_scaling.py [--millions 1 5 20] [--repeat 3] [--every | --intents]
        [--masters MASTER ...]

A run of 1,000 documents per topic and its qrels (ten judged documents per topic) are written as Parquet. For
each size, ``ir_graded.spark.evaluate`` and ``mean`` compute five measures in a session of ``local[1]`` and of
``local[2]`` (the median of the repetitions after one that does not count), and ``ir_graded.evaluate``
computes them from the same files. The results are compared, and the largest difference of a score is printed.
With ``--every``, every row is a passage, and all measures of the package and all classics are computed that
need no further columns. With ``--intents``, each judged document has three rows of the qrels, one for each of
three intents of its topic, and measures over intents are computed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ir_measures.measures import Measure
from timing import in_turn

import ir_graded
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import CLASSICS, scorer_of

MEASURES = ["P-measure", "Q", "nERR@10", "AP", "nDCG@10"]
OVER_INTENTS = ["alpha_nDCG@10", "ERR_IA@10", "I-rec@10", "D(measure='nDCG')", "IA(measure='Q')", "P+Q"]
DEPTH = 1000


def every_measure() -> list[Measure]:
    """Return all measures that Spark supports, with as few parameters as they need."""
    some: tuple[dict[str, Any], ...] = ({}, {"cutoff": 10}, {"rel": 1}, {"rel": 1, "cutoff": 10})
    bare = [*REGISTRY.values(), *(kind.MEASURE for kind in CLASSICS.values())]
    kinds = {type(measure): measure.SUPPORTED_PARAMS.keys() for measure in bare}
    found = ([kind(**params) for params in some if params.keys() <= takes] for kind, takes in kinds.items())
    complete = (next(filter(_is_complete, variants), None) for variants in found)
    return [measure for measure in complete if measure is not None]


def _is_complete(measure: Measure) -> bool:
    required = (name for name, param in measure.SUPPORTED_PARAMS.items() if param.required)
    scorer = scorer_of(measure)
    if scorer is None or scorer.further_columns or scorer.NEEDS_QRELS_ORDER:
        return False
    return all(name in measure.params for name in required)


def write(folder: Path, millions: float, *, passages: bool, intents: bool) -> None:
    """Write the qrels and a run of so many million rows, in random order."""
    rng = np.random.default_rng(1)
    topics = round(millions * 1e6 / DEPTH)
    docs = np.concatenate([rng.choice(1 << 23, DEPTH, replace=False) for _ in range(topics)])
    run = pl.DataFrame(
        {
            "query_id": np.repeat(np.arange(topics), DEPTH),
            "doc_id": docs,
            "score": rng.gamma(2.0, 5.0, docs.size),
        }
    ).with_columns(pl.col("query_id", "doc_id").cast(pl.String))
    ids = ["query_id", "doc_id"]
    if passages:
        ids += ["start", "length"]
        run = run.with_columns(
            start=pl.Series(rng.integers(0, 500, docs.size)), length=pl.Series(rng.integers(1, 90, docs.size))
        )
    judged = run.sample(10 * topics, seed=1)
    levels = pl.Series("relevance", rng.integers(0, 4, judged.height))
    run.sample(fraction=1.0, shuffle=True, seed=2).write_parquet(folder / "run.parquet")
    qrels = judged.select(*ids, levels)
    if intents:
        names = pl.DataFrame({"iteration": [*"abc"], "probability": [0.5, 0.3, 0.2]})
        qrels = qrels.join(names.with_columns(intent_type=pl.lit("inf")), how="cross")
        qrels = qrels.with_columns(relevance=rng.integers(0, 4, qrels.height))
    qrels.write_parquet(folder / "qrels.parquet")


def on_spark(folder: Path, master: str, measures: list[Any], repeat: int) -> None:
    """Print the median seconds of Spark in this process, and write its scores."""
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    import ir_graded.spark as graded

    session = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    qrels, run = (session.read.parquet(str(folder / f"{name}.parquet")) for name in ("qrels", "run"))
    graded.evaluate(measures, qrels, run).toPandas().to_parquet(folder / "spark.parquet")
    print(median_seconds(repeat, lambda: graded.mean(graded.evaluate(measures, qrels, run)).collect()))
    session.stop()


def median_seconds(repeat: int, call: Callable[[], object]) -> float:
    """Return the median of the repetitions after one that does not count."""
    return in_turn(repeat, {"": call})[""].seconds


def largest_difference(folder: Path, alone: ir_graded.Scores) -> float:
    """Return the largest difference between the scores on Spark and those of one machine."""
    found = pl.read_parquet(folder / "spark.parquet").drop("run")
    expected = pl.from_pandas(alone.to_frame().drop(columns="run"))
    both = found.join(expected, on=["query_id", "measure"], how="full", coalesce=True)
    if both.height != found.height or both.null_count().sum_horizontal()[0]:
        return float("nan")
    return float((both["value"] - both["value_right"]).abs().max())  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 5, 20])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--masters", nargs="+", default=["local[1]", "local[2]"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--every", action="store_true", help="every measure, on passages")
    parser.add_argument("--intents", action="store_true", help="measures over intents")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    measures = every_measure() if options.every else OVER_INTENTS if options.intents else MEASURES
    if options.child:
        on_spark(options.folder, options.child, measures, options.repeat)
        return
    flags = [*["--every"] * options.every, *["--intents"] * options.intents]
    columns = ["million rows", "one machine, s", *(f"{name}, s" for name in options.masters)]
    print("|", " | ".join(columns), "| largest difference |")
    print("|---" * (len(columns) + 1) + "|")
    for millions in options.millions:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            write(folder, millions, passages=options.every, intents=options.intents)
            evaluate = partial(ir_graded.evaluate, measures, folder / "qrels.parquet", folder / "run.parquet")
            seconds = median_seconds(options.repeat, lambda evaluate=evaluate: evaluate().aggregates)
            row = [f"{millions:g}", f"{seconds:.2f}"]
            for master in options.masters:
                command = [sys.executable, __file__, "--child", master, "--folder", name]
                child = subprocess.run(
                    [*command, "--repeat", str(options.repeat), *flags],
                    check=True,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
                row.append(f"{float(child.stdout.splitlines()[-1]):.1f}")
            print("|", " | ".join(row), f"| {largest_difference(folder, evaluate()):.1e} |", flush=True)


if __name__ == "__main__":
    main()
