"""MAgP over millions of passages beside Q over as many rows: times, ratio and peak memory of one run.

    python benchmarks/passages.py [--topics 1000] [--repeat 5]

INEX-like: topics x 1,500 articles x 5 passages as a DataFrame with Arrow strings, 100 judged articles a
topic. Q gets a DataFrame of as many rows, each a document of its own. Every workload runs in a process of
its own, so that the peak memory is its own; it includes the DataFrame.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time

import ir_measures
import numpy as np
import pandas as pd

import ir_graded  # noqa: F401  # registers its measures

ARTICLES, PASSAGES, JUDGED = 1_500, 5, 100


def tables(topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Qrels and a run of passages."""
    rng = np.random.default_rng(1)
    names = np.array([f"article{number:07d}" for number in range(100_000)])
    query_id = np.repeat([str(2_009_000 + topic) for topic in range(topics)], ARTICLES * PASSAGES)
    articles = np.concatenate([rng.choice(names.size, ARTICLES, replace=False) for _ in range(topics)])
    run = pd.DataFrame(
        {
            "query_id": query_id,
            "doc_id": np.repeat(names[articles], PASSAGES),
            "score": np.repeat(np.tile(np.arange(ARTICLES, 0, -1.0), topics), PASSAGES),
            "start": rng.integers(0, 50_000, query_id.size),
            "length": rng.integers(1, 2_000, query_id.size),
        }
    )
    judged = run[np.arange(len(run)) % (ARTICLES * PASSAGES) < JUDGED * PASSAGES].drop(columns="score")
    qrels = judged.assign(
        relevance=rng.integers(0, 2, len(judged)), start=rng.integers(0, 50_000, len(judged))
    )
    return qrels, run


def documents(topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Qrels and a run of as many documents."""
    qrels, run = tables(topics)
    number = np.tile(np.arange(PASSAGES), len(run) // PASSAGES).astype(str)
    run = run.assign(doc_id=run["doc_id"] + "." + number).drop(columns=["start", "length"])
    number = np.tile(np.arange(PASSAGES), len(qrels) // PASSAGES).astype(str)
    return qrels.assign(doc_id=qrels["doc_id"] + "." + number).drop(columns=["start", "length"]), run


def work(measure: str, topics: int, repeat: int) -> tuple[float, float, int]:
    """Median seconds of one call, peak memory in MiB, rows."""
    qrels, run = (tables if measure.startswith("MAgP") else documents)(topics)
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        ir_measures.calc_aggregate([measure], qrels, run)
        seconds.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return statistics.median(seconds), peak, len(run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    found = {}
    for measure in ("Q", "MAgP(beta=0.25)"):
        with spawn.Pool(1) as pool:
            found[measure] = pool.apply(work, (measure, options.topics, options.repeat))
    for measure, (seconds, peak, rows) in found.items():
        ratio = seconds / found["Q"][0]
        print(f"{measure:<16} {rows:,} rows  {seconds:6.2f} s  {ratio:4.1f} x  peak {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
