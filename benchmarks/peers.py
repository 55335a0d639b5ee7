"""The package and each peer as calls: the data and measures are fixed at construction, the call is timed.

Our calls compute ten measures, the peers two (AP and nDCG@10), and pyNTCIREVAL the same ten as ours.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import polars as pl
import pytrec_eval
from ir_measures import AP, nDCG
from ir_measures.providers import Evaluator, registry
from timing import Figure, timed
from workloads import Dicts, Qrels

import ir_graded  # noqa: F401  # registers its measures
from ir_graded.measures.classic.ties import with_ties

TEN = ["P-measure", "Q", "O-measure", "P+", "NCU", "nERR@10", "AP", "nDCG@10", "RR", "P@10"]
SIXTEEN = [*TEN, "AWP", "NCU(stop='rb')", "Q@10", "R@100", "Rprec", "Success@10"]
TWO = [AP, nDCG @ 10]
UNJUDGED = ["nDCG@10", "P@10", "nERR@10", "AP@100", "Q@100"]
#: Measures that torchmetrics has, too.
OF_ARRAYS = ["nDCG", "AP", "RR", "Rprec", "P@10"]
SAMPLED = ["AP", "Q", "nDCG", "nDCG@10", "P@10"]
SAMPLES = 200
REPLICATES = 1000
RANX_METRICS = ["map", "ndcg@10"]
NAMES = (
    "ir-graded",
    "numpy",
    "polars",
    "pandas",
    "ir-measures",
    "pytrec-eval-terrier",
    "ranx",
    "pyNTCIREVAL",
    "pyndeval",
    "torchmetrics",
)

Calls = dict[str, Callable[[], Any]]
Scores = dict[str, float]


def ir_graded_evaluator(qrels: Any, measures: list[str] | None = None) -> Evaluator:
    """Return the evaluator of our provider, with qrels prepared once."""
    return registry["ir_graded"].evaluator([*map(ir_measures.parse_measure, measures or TEN)], qrels)


def ir_graded_command(qrels: Path, *runs: Path, measures: list[str] | None = None) -> list[str]:
    """Return our command."""
    wanted = " ".join(measures or TEN)
    return [sys.executable, "-m", "ir_graded", "evaluate", "-m", wanted, str(qrels), *map(str, runs)]


def expected(measures: list[str] | None = None) -> list[str]:
    """Return measures that are means over the orders of tied documents."""
    return [str(with_ties(ir_measures.parse_measure(name), "expected")) for name in measures or TEN]


def ir_measures_command(qrels: Path, run: Path) -> list[str]:
    """Return the command of ir_measures."""
    return [sys.executable, "-m", "ir_measures", str(qrels), str(run), *map(str, TWO)]


def ir_measures_files(qrels: Path, runs: list[Path]) -> Callable[[], object]:
    """Run ir_measures on files, in this process."""

    def call() -> list[dict]:
        evaluator = ir_measures.evaluator(TWO, list(ir_measures.read_trec_qrels(str(qrels))))
        return [evaluator.calc_aggregate(ir_measures.read_trec_run(str(run))) for run in runs]

    return call


def pytrec_eval_dicts(qrels: Qrels) -> Callable[[Dicts], Scores]:
    """Run pytrec_eval with qrels prepared once, and average its values."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10"})
    return lambda run: _means(evaluator.evaluate(run))


def pytrec_eval_files(qrels: Path, runs: list[Path]) -> Callable[[], object]:
    """Run pytrec_eval on files that its own functions parse, in this process."""

    def call() -> list[Scores]:
        with qrels.open(encoding="utf-8") as lines:
            evaluate = pytrec_eval_dicts(pytrec_eval.parse_qrel(lines))
        found = []
        for run in runs:
            with run.open(encoding="utf-8") as lines:
                found.append(evaluate(pytrec_eval.parse_run(lines)))
        return found

    return call


def _means(topics: dict[str, Scores]) -> Scores:
    return {
        name: sum(scores[name] for scores in topics.values()) / len(topics) for name in ("map", "ndcg_cut_10")
    }


@cache
def first_use_of_ranx() -> float:
    """Return the seconds that importing ranx takes, including compilation or loading compiled code."""
    begin = time.perf_counter()
    import ranx

    ranx.evaluate(ranx.Qrels({"1": {"a": 1}}), ranx.Run({"1": {"a": 1.0}}), RANX_METRICS)
    return time.perf_counter() - begin


def ranx(qrels: Qrels, run: Dicts) -> dict[str, Callable[[], object]]:
    """Return the calls of ranx from dicts and from its Run; none if ranx is not installed."""
    if find_spec("ranx") is None:
        return {}
    first_use_of_ranx()
    import ranx

    judged, made = ranx.Qrels(qrels), ranx.Run(run)
    return {
        "ranx, map and ndcg@10": lambda: ranx.evaluate(judged, ranx.Run(run), RANX_METRICS),
        "ranx, the same from its Run made beforehand": lambda: ranx.evaluate(judged, made, RANX_METRICS),
    }


def pyndeval(
    qrels: list[ir_measures.Qrel], run: list[tuple[str, str, float]], measure: str
) -> Callable[[], dict[str, Scores]] | None:
    """Return the call of pyndeval on a list of tuples, with qrels prepared once; None if not installed."""
    if find_spec("pyndeval") is None:
        return None
    import pyndeval

    subtopics = [(one.query_id, one.iteration, one.doc_id, one.relevance) for one in qrels]
    evaluator = pyndeval.RelevanceEvaluator(subtopics, [measure])
    return lambda: evaluator.evaluate(run)


def torchmetrics(relevance: np.ndarray, scores: np.ndarray) -> Calls:
    """Return the calls of torchmetrics on tensors: OF_ARRAYS, and nDCG alone; none if not installed."""
    if find_spec("torchmetrics") is None:
        return {}
    import torch
    from torchmetrics import retrieval

    rows = torch.arange(len(scores))[:, None].expand(-1, scores.shape[1]).reshape(-1)
    preds, levels = (torch.from_numpy(array).reshape(-1) for array in (scores, relevance))
    binary = (levels > 0).long()
    ndcg = retrieval.RetrievalNormalizedDCG
    others = (retrieval.RetrievalMAP, retrieval.RetrievalMRR, retrieval.RetrievalRPrecision)

    def call(several: bool) -> list[float]:
        found = [ndcg()(preds, levels, indexes=rows)]
        if several:
            found += [metric()(preds, binary, indexes=rows) for metric in others]
            found.append(retrieval.RetrievalPrecision(top_k=10)(preds, binary, indexes=rows))
        return [float(one) for one in found]

    return {"torchmetrics, nDCG alone": partial(call, False), "torchmetrics, these five": partial(call, True)}


def py_ntcireval(qrels: Qrels, run: Dicts, topics: int) -> tuple[str, Callable[[], Figure]] | None:
    """Return the call of pyNTCIREVAL on some topics, extrapolated to all; None if it is not installed."""
    if find_spec("pyNTCIREVAL") is None:
        return None
    some = list(islice(qrels, topics))

    def call() -> Figure:
        return timed(lambda: [_ten_by_ntcireval(qrels[topic], run[topic]) for topic in some]).times(
            len(qrels) / len(some)
        )

    return f"pyNTCIREVAL, 10 measures, extrapolated from {len(some)} topics", call


def _ten_by_ntcireval(levels: dict[str, int], scores: Scores) -> list[float]:
    from pyNTCIREVAL import Labeler, metrics

    gains = (1, 2, 3)
    labeler = Labeler(levels)
    numbers = labeler.compute_per_level_doc_num(len(gains) + 1)
    labelled = labeler.label(sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True))
    wanted = [
        metrics.PMeasure(numbers, gains, 1),
        metrics.QMeasure(numbers, gains, 1),
        metrics.OMeasure(numbers, gains, 1),
        metrics.PPlusMeasure(numbers, gains, 1),
        metrics.NCUguBR(numbers, gains, gains, 1),
        metrics.nERR(numbers, gains, 10),
        metrics.AP(numbers, gains),
        metrics.MSnDCG(numbers, gains, 10),
        metrics.RR(),
        metrics.Precision(10),
    ]
    return [metric.compute(labelled) for metric in wanted]


def trec_eval_command(qrels: Path, run: Path) -> list[str] | None:
    """Return the call of the trec_eval program that the environment variable TREC_EVAL names."""
    program = os.environ.get("TREC_EVAL")
    return program and [program, "-m", "map", "-m", "ndcg_cut.10", str(qrels), str(run)]


def pair_by_pair(scores: np.ndarray) -> float:
    """Compute discriminative power by the studentised bootstrap, one pair at a time."""
    topics, systems = scores.shape
    drawn = np.random.default_rng(0).integers(0, topics, (REPLICATES, topics))
    significant = 0
    for i in range(systems):
        for j in range(i + 1, systems):
            z = scores[:, i] - scores[:, j]
            t = z.mean() / (z.std(ddof=1) / np.sqrt(topics))
            w = (z - z.mean())[drawn]
            replicates = w.mean(axis=1) / (w.std(axis=1, ddof=1) / np.sqrt(topics))
            significant += np.mean(np.abs(replicates) >= np.abs(t)) < 0.05  # noqa: PLR2004  # alpha
    return significant / (systems * (systems - 1) / 2)


def polars_three_columns(run: Path) -> pl.DataFrame:
    """Read topics, documents and scores of a tidy file with Polars, and do nothing else."""
    types = {"topic": pl.String, "Q0": pl.String, "doc": pl.String}
    types |= {"rank": pl.Int64, "score": pl.Float64, "tag": pl.String}
    file = pl.scan_csv(run, separator=" ", has_header=False, schema=types, quote_char=None)
    return file.select("topic", "doc", "score").collect()


def matplotlib_pictures(number: int) -> None:
    """Draw bar charts of 50 bars as SVG with matplotlib."""
    from matplotlib.figure import Figure as Picture

    for _ in range(number):
        picture = Picture(layout="constrained")
        axes = picture.subplots()
        axes.barh([f"topic {bar}" for bar in range(50)], np.linspace(-1, 1, 50))
        picture.savefig(BytesIO(), format="svg")
