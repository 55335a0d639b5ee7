"""Compare MAgP over millions of passages with Q over as many rows: times, ratio and peak memory of one run.

    pip install --group benchmarks
    python benchmarks/passages.py [--topics 1000] [--values 5]

The data resemble INEX: topics x 1,500 articles x 5 passages as a DataFrame with Arrow strings, 100 judged
articles per topic. Q gets a DataFrame with as many rows, each a separate document. pyperf runs each workload
in a separate process, so that the peak memory, which includes the DataFrame, is that of the workload.
"""

from __future__ import annotations

from functools import cache

import ir_measures
import numpy as np
import pandas as pd
import pyperf
from timing import peak_mib

import ir_graded  # noqa: F401  # registers its measures

ARTICLES, PASSAGES, JUDGED = 1_500, 5, 100


def tables(topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the qrels and a run of passages."""
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
    """Return the qrels and a run of as many documents."""
    qrels, run = tables(topics)
    number = np.tile(np.arange(PASSAGES), len(run) // PASSAGES).astype(str)
    run = run.assign(doc_id=run["doc_id"] + "." + number).drop(columns=["start", "length"])
    number = np.tile(np.arange(PASSAGES), len(qrels) // PASSAGES).astype(str)
    return qrels.assign(doc_id=qrels["doc_id"] + "." + number).drop(columns=["start", "length"]), run


@cache
def data(measure: str, topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return qrels and run for a measure; they are made in the round that does not count."""
    return (tables if measure.startswith("MAgP") else documents)(topics)


def score(measure: str, topics: int) -> None:
    ir_measures.calc_aggregate([measure], *data(measure, topics))


def main() -> None:
    runner = pyperf.Runner(
        processes=1,
        warmups=1,
        values=5,
        loops=1,
        add_cmdline_args=lambda command, given: command.extend(("--topics", str(given.topics))),
    )
    runner.argparser.add_argument("--topics", type=int, default=1_000)
    topics = runner.parse_args().topics
    found = {
        measure: runner.bench_func(measure, score, measure, topics) for measure in ("Q", "MAgP(beta=0.25)")
    }
    if not runner.args.worker:
        print(f"{topics * ARTICLES * PASSAGES:,} rows")
        for measure, benchmark in found.items():
            seconds, ratio = benchmark.median(), benchmark.median() / found["Q"].median()
            print(f"{measure:<16} {seconds:6.2f} s  {ratio:4.1f} x  peak {peak_mib(benchmark):,.0f} MiB")


if __name__ == "__main__":
    main()
