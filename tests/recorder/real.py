"""The real collections of ../shared/data as qrels and runs."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from tests.collections_data import ROOT, ranked_runs

Value = TypeVar("Value")

COVID = "trec-covid"
ROBUST = "robust2003"


def covid_qrels(number: int) -> Path:
    """Return the qrels of a round of TREC-COVID."""
    return ROOT / COVID / "qrels" / f"qrels.covid-round{number}.txt.gz"


def covid_round_1() -> dict[str, pl.DataFrame]:
    """Return all 143 runs of round 1, in their order; the score of rank n is -n."""
    return dict(sorted(ranked_runs("round1.ranked1000.tsv.xz").items()))


def covid_round_5() -> dict[str, pl.DataFrame]:
    """Return all 126 runs of round 5, of which only judged documents are known; others fill the gaps."""
    return dict(sorted(ranked_runs("round5.judged.tsv.xz").items()))


def covid_raw() -> list[Path]:
    """Return the 28 runs of round 5 as submitted."""
    return sorted((ROOT / COVID / "round5.raw").iterdir())


def robust_runs() -> list[Path]:
    """Return all 17 runs of Robust 2003."""
    return sorted(place for folder in ("runs", "more-runs") for place in (ROOT / ROBUST / folder).iterdir())


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
