"""Time MAgP and measures of characters on a run of millions of passages, and Q on as many documents.

    pip install --group benchmarks
    python benchmarks/passages.py [--topics 1000] [--values 5]

The data resemble INEX: topics x 1,500 articles x 5 passages in a DataFrame with Arrow strings, and 100
judged articles per topic. Q gets a DataFrame with as many rows, each a different document. The four
measures of characters are scored together. They may take twice the time of MAgP and 1.5 times its memory.
pyperf runs each workload in a separate process to measure its peak memory, which includes the DataFrame.
"""

from __future__ import annotations

from functools import cache

import ir_measures
import numpy as np
import pandas as pd
import pyperf
from timing import peak_mib
from workloads import ARTICLES, PASSAGES, passages

import ir_graded  # noqa: F401  # registers its measures

MAGP, CHARACTERS = "MAgP(beta=0.25)", "CharP@10 CharR@10 IoU@10 AiP"


def documents(topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return qrels and a run with a document per passage."""
    qrels, run = passages(topics)
    number = np.tile(np.arange(PASSAGES), len(run) // PASSAGES).astype(str)
    run = run.assign(doc_id=run["doc_id"] + "." + number).drop(columns=["start", "length"])
    number = np.tile(np.arange(PASSAGES), len(qrels) // PASSAGES).astype(str)
    return qrels.assign(doc_id=qrels["doc_id"] + "." + number).drop(columns=["start", "length"]), run


@cache
def data(measures: str, topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return qrels and run for measures; they are created in the warm-up round."""
    return (documents if measures == "Q" else passages)(topics)


def score(measures: str, topics: int) -> None:
    ir_measures.calc_aggregate(measures.split(), *data(measures, topics))


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
        measures: runner.bench_func(measures, score, measures, topics) for measures in ("Q", MAGP, CHARACTERS)
    }
    if not runner.args.worker:
        print(f"{topics * ARTICLES * PASSAGES:,} rows")
        for measures, benchmark in found.items():
            seconds, peak = benchmark.median(), peak_mib(benchmark)
            ratios = (
                f"{seconds / found[other].median():4.2f} x {name}"
                for other, name in (("Q", "Q"), (MAGP, "MAgP"))
            )
            print(f"{measures:<30} {seconds:6.2f} s  {'  '.join(ratios)}  peak {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
