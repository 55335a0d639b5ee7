"""Real collections that may not be shipped; tests read them from a folder beside the project, if present."""

import lzma
from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1].parent / "shared" / "data"

needs_shared_data = pytest.mark.skipif(
    not ROOT.is_dir(), reason="needs the real collections in ../shared/data, which may not be shipped"
)


def ranked_runs(name: str) -> dict[str, pd.DataFrame]:
    """Return runs from lines ``topic, run, doc doc ...`` or ``... rank:doc ...``; fill in the other ranks."""
    rows: dict[str, list[tuple[str, str, float]]] = defaultdict(list)
    with lzma.open(ROOT / "trec-covid" / name, "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, run, docs = line.rstrip("\n").split("\t")
            if not docs:
                continue
            rows[run] += [(topic, doc, -float(rank)) for rank, doc in _at_ranks(docs.split(" "))]
    return {run: pd.DataFrame(docs, columns=["query_id", "doc_id", "score"]) for run, docs in rows.items()}


def _at_ranks(docs: list[str]) -> list[tuple[int, str]]:
    if ":" not in docs[0]:
        return list(enumerate(docs, start=1))
    judged = {int(rank): doc for rank, _, doc in (entry.partition(":") for entry in docs)}
    return [(rank, judged.get(rank, f"unjudged {rank}")) for rank in range(1, max(judged) + 1)]
