"""Eight measures of ours beside pytrec_eval and ir_measures computing two: times and ratios of one run.

    python benchmarks/beside_pytrec_eval.py [--repeat 5]

Workloads: 6,980 topics x 1,000 documents with one or two judged (MS MARCO-like), and 249 topics x
1,000 documents with 1,200 judged (Robust-like). Dicts are built topic by topic in rank order, as
readers of run files build them. Every figure is the median of the repetitions, peers in turn.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval
from ir_measures import AP, nDCG

import ir_graded  # noqa: F401  # registers its measures

OURS = ["Q", "O-measure", "P-measure", "P+", "NCU", "NCU(stop='rb')", "nERR@10", "AWP"]
Dicts = dict[str, dict[str, float]]


def collection(topics: int, documents: int, judged: int, relevant: int, seed: int) -> tuple[dict, Dicts]:
    """Qrels and a run: some of the judged are relevant (levels 1 to 3), two thirds retrieved."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: Dicts = {}
    for topic in range(topics):
        name = str(1_000_000 + topic)
        pool = [str(number) for number in rng.choice(8_800_000, documents + judged, replace=False).tolist()]
        scores = np.sort(rng.random(documents) * 50)[::-1].round(4).tolist()
        run[name] = dict(zip(pool[:documents], scores, strict=True))
        found = rng.choice(documents, min(documents, (2 * judged + 2) // 3), replace=False)
        retrieved = [pool[rank] for rank in found]
        known = (retrieved + pool[documents:])[:judged]
        levels = [int(level) for level in rng.integers(1, 4, relevant)] + [0] * (judged - relevant)
        qrels[name] = dict(zip(known, rng.permutation(levels).tolist(), strict=True))
    return qrels, run


def in_turn(repeat: int, **calls: Callable[[], object]) -> dict[str, float]:
    """Median seconds of each call, in turn in every repetition, after an uncounted first one."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for round_number in range(repeat + 1):
        for name, call in calls.items():
            gc.collect()
            begin = time.perf_counter()
            call()
            if round_number:
                times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def report(title: str, times: dict[str, float]) -> None:
    """A line per peer with its ratio to ours."""
    print(f"\n{title}")
    for name, seconds in times.items():
        print(f"  {name:<34} {seconds * 1000:9.1f} ms  {seconds / times['ir_graded']:6.1f} x")


def dicts(title: str, qrels: dict, run: Dicts, repeat: int) -> None:
    ours = ir_measures.evaluator(OURS, qrels)
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10"})
    times = in_turn(
        repeat, ir_graded=lambda: ours.calc_aggregate(run), pytrec_eval=lambda: peer.evaluate(run)
    )
    report(f"{title}, dict of dicts: 8 measures of ours, pytrec_eval map and ndcg_cut_10", times)


def frames(title: str, qrels: dict, run: Dicts, repeat: int) -> None:
    judged = table(qrels, "relevance")
    arrow = table(run, "score")
    objects = arrow.astype({"query_id": object, "doc_id": object})
    times = in_turn(
        repeat,
        ir_graded=lambda: ir_measures.calc_aggregate(OURS, judged, arrow),
        ir_graded_object_columns=lambda: ir_measures.calc_aggregate(OURS, judged, objects),
        ir_measures=lambda: ir_measures.calc_aggregate([AP, nDCG @ 10], judged, arrow),
    )
    report(f"{title}, DataFrame: 8 measures of ours, ir_measures AP and nDCG@10", times)


def table(dicts: Dicts, value: str) -> pd.DataFrame:
    rows = [(topic, doc, number) for topic, docs in dicts.items() for doc, number in docs.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", value])


def importing(repeat: int) -> None:
    def run(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    times = in_turn(
        2 * repeat,
        ir_graded=run("import ir_measures, ir_graded"),
        ir_measures_alone=run("import ir_measures"),
    )
    added = times["ir_graded"] - times["ir_measures_alone"]
    print(f"\nimport ir_graded adds {added:.3f} s to import ir_measures")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    names = ("ir_graded", "ir_measures", "pytrec-eval-terrier", "numpy", "polars", "pandas")
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in names))
    few = collection(6_980, 1_000, judged=2, relevant=1, seed=1)
    dicts("6,980 topics x 1,000 documents", *few, repeat)
    frames("6,980 topics x 1,000 documents", *few, max(repeat - 2, 1))
    many = collection(249, 1_000, judged=1_200, relevant=70, seed=2)
    dicts("249 topics x 1,000 documents x 1,200 judged", *many, 4 * repeat)
    importing(repeat)


if __name__ == "__main__":
    main()
