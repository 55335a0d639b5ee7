"""Measure how long each stage takes, on one thread."""

from __future__ import annotations

import gc
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

import peers

from ir_graded.matching.match import match_run, prepare_qrels

#: Functions within ``match_run`` by stage: module or class, and name. Functions that do not exist are
#: skipped, and their time counts as reading.
WITHIN = {
    "join with the qrels": [
        ("ir_graded.matching.tables", "document_keys"),
        ("ir_graded.matching.tables", "_check_duplicates"),
        ("ir_graded.matching.judgments:Lookup", "find"),
    ],
    "rank": [("ir_graded.core.ranking", "ranks")],
}
READ = "read (of dicts: look up)"
STAGES = ["qrels", READ, *WITHIN, "measures"]


def table(forms: dict[str, tuple[Any, Any]], repeat: int) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: median milliseconds of the stages of qrels and runs in several forms."""
    medians = {}
    for name, (qrels, run) in forms.items():
        found = [_stages(qrels, run) for _ in range(repeat + 1)][1:]
        medians[name] = {stage: statistics.median(times[stage] for times in found) for stage in STAGES}
    taken = [stage for stage in STAGES if any(times[stage] for times in medians.values())]
    rows = [[name, *(f"{times[stage] * 1000:,.1f}" for stage in taken)] for name, times in medians.items()]
    return ["ms", *taken], rows


def _stages(qrels: Any, run: Any) -> dict[str, float]:
    evaluator = peers.ir_graded_evaluator(qrels)
    times: dict[str, float] = defaultdict(float)
    gc.collect()
    with _adding(times, "qrels"):
        judgments = prepare_qrels(qrels)
    with _within(times), _adding(times, READ):
        hits = match_run(judgments, run, evaluator.lowest, 1)
    times[READ] -= sum(times[stage] for stage in WITHIN)
    with _adding(times, "measures"):
        evaluator.scores_of(hits)
    return times


@contextmanager
def _adding(times: dict[str, float], stage: str) -> Iterator[None]:
    begin = time.perf_counter()
    try:
        yield
    finally:
        times[stage] += time.perf_counter() - begin


@contextmanager
def _within(times: dict[str, float]) -> Iterator[None]:
    """Time the functions of WITHIN inside this context."""
    originals = [
        (stage, resolve_name(module), name) for stage, places in WITHIN.items() for module, name in places
    ]
    originals = [(stage, module, name) for stage, module, name in originals if hasattr(module, name)]
    functions = [getattr(module, name) for _, module, name in originals]
    for (stage, module, name), function in zip(originals, functions, strict=True):
        setattr(module, name, _timed(times, stage, function))
    try:
        yield
    finally:
        for (_, module, name), function in zip(originals, functions, strict=True):
            setattr(module, name, function)


def _timed(times: dict[str, float], stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        with _adding(times, stage):
            return function(*args, **options)

    return call
