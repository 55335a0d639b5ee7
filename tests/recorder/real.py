"""The real collections of ../shared/data as qrels and runs."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from .recorder import SHARED

Value = TypeVar("Value")

COVID = "trec-covid"
ROBUST = "robust2003"


def covid_qrels(number: int) -> Path:
    """Return the qrels of a round of TREC-COVID."""
    return SHARED / COVID / "qrels" / f"qrels.covid-round{number}.txt.gz"


@cache
def covid_round_1() -> dict[str, pl.DataFrame]:
    """Return all 143 runs of round 1, in their order; the score of rank n is -n."""
    columns = ["query_id", "run", "doc_id"]
    rows = pl.DataFrame(_ranked("round1.ranked1000.tsv.xz"), schema=columns, orient="row")
    rows = rows.with_columns(pl.col("doc_id").str.split(" ")).explode("doc_id").drop_nulls("doc_id")
    rank = pl.int_range(1, pl.len() + 1).over("query_id", "run")
    rows = rows.with_columns((-rank).cast(pl.Float64).alias("score"))
    return {
        str(name): run.drop("run") for (name,), run in sorted(rows.partition_by("run", as_dict=True).items())
    }


def covid_round_5() -> dict[str, dict[str, dict[str, float]]]:
    """Return all 126 runs of round 5, of which only judged documents are known; others fill the gaps."""
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for topic, run, docs in _ranked("round5.judged.tsv.xz"):
        judged = {int(rank): doc for rank, _, doc in (entry.partition(":") for entry in docs.split(" "))}
        runs.setdefault(run, {})[topic] = {
            judged.get(rank) or f"unjudged {rank}": -float(rank) for rank in range(1, max(judged) + 1)
        }
    return dict(sorted(runs.items()))


def covid_raw() -> list[Path]:
    """Return the 28 runs of round 5 as submitted."""
    return sorted((SHARED / COVID / "round5.raw").iterdir())


def robust_runs() -> list[Path]:
    """Return all 17 runs of Robust 2003."""
    return sorted(place for folder in ("runs", "more-runs") for place in (SHARED / ROBUST / folder).iterdir())


def levels(path: Path) -> dict[str, dict[str, float]]:
    """Return qrels as a dict of dicts, read without the package."""
    nested: dict[str, dict[str, float]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:  # noqa: TID251  (reads)
        for topic, _, doc, level in map(str.split, filter(str.strip, lines)):
            nested.setdefault(topic, {})[doc] = float(level)
    return nested


def in_groups(runs: dict[str, Value], size: int) -> Iterator[dict[str, Value]]:
    """Yield the runs in batches."""
    items: list[tuple[str, Any]] = list(runs.items())
    yield from (dict(items[start : start + size]) for start in range(0, len(items), size))


def _ranked(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield topic, run and the text of the documents of each line that has any."""
    with lzma.open(SHARED / COVID / name, "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, run, docs = line.rstrip("\n").split("\t")
            if docs:
                yield topic, run, docs
