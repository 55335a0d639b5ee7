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
    rows = _ranked("round1.ranked1000.tsv.xz")
    return _by_run(rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query_id", "run")))


@cache
def covid_round_5() -> dict[str, pl.DataFrame]:
    """Return all 126 runs of round 5, of which only judged documents are known; others fill the gaps."""
    entry = pl.col("doc_id").str.split_exact(":", 1)
    rows = _ranked("round5.judged.tsv.xz").with_columns(
        rank=entry.struct[0].cast(pl.Int64), doc_id=entry.struct[1]
    )
    ranks = pl.int_ranges(1, pl.col("rank").max() + 1).alias("rank")
    known = ["query_id", "run", "rank"]
    every = rows.group_by("query_id", "run").agg(ranks).explode("rank")
    rows = every.join(rows, on=known, how="left").sort(known)
    return _by_run(rows.with_columns(pl.col("doc_id").fill_null(pl.format("unjudged {}", "rank"))))


def _by_run(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    rows = rows.select("run", "query_id", "doc_id", score=-pl.col("rank").cast(pl.Float64))
    return {
        str(name): run.drop("run") for (name,), run in sorted(rows.partition_by("run", as_dict=True).items())
    }


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


def _ranked(name: str) -> pl.DataFrame:
    """Return topic, run and document of each entry of a file of ranked lists, in their order."""
    with lzma.open(SHARED / COVID / name, "rt", encoding="utf-8") as lines:
        split = (line.rstrip("\n").split("\t") for line in lines)
        rows = pl.DataFrame(split, schema=["query_id", "run", "doc_id"], orient="row")
    rows = rows.filter(pl.col("doc_id") != "")
    return rows.with_columns(pl.col("doc_id").str.split(" ")).explode("doc_id")
