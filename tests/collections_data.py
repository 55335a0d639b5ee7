"""Real collections that may not be shipped; tests read them from a folder beside the project, if present."""

import lzma
from functools import cache
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[1].parent / "shared" / "data"

needs_shared_data = pytest.mark.skipif(
    not ROOT.is_dir(), reason="needs the real collections in ../shared/data, which may not be shipped"
)


def covid_qrels(number: int) -> Path:
    """Return the qrels of a round of TREC-COVID."""
    return ROOT / "trec-covid" / "qrels" / f"qrels.covid-round{number}.txt.gz"


def covid_round_5() -> dict[str, pl.DataFrame]:
    """Return all 126 runs of round 5, of which only judged documents are known; others fill the gaps."""
    return dict(sorted(ranked_runs("round5.judged.tsv.xz").items()))


@cache
def ranked_runs(name: str) -> dict[str, pl.DataFrame]:
    """Return runs from lines ``topic, run, doc doc ...`` or ``... rank:doc ...``; fill in the other ranks.

    The score of rank n is -n. Runs are in the order of the file.
    """
    with lzma.open(ROOT / "trec-covid" / name, "rt", encoding="utf-8") as lines:
        split = (line.rstrip("\n").split("\t") for line in lines)
        rows = pl.DataFrame(split, schema=["query_id", "run", "doc_id"], orient="row")
    rows = rows.filter(pl.col("doc_id") != "")
    rows = rows.with_columns(pl.col("doc_id").str.split(" ")).explode("doc_id")
    entry = pl.col("doc_id").str.split_exact(":", 1)
    if ":" in rows["doc_id"][0]:
        rows = rows.with_columns(rank=entry.struct[0].cast(pl.Int64), doc_id=entry.struct[1])
        rows = _with_all_ranks(rows).with_columns(
            pl.col("doc_id").fill_null(pl.format("unjudged {}", "rank"))
        )
    else:
        rows = rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query_id", "run"))
    rows = rows.select("run", "query_id", "doc_id", score=-pl.col("rank").cast(pl.Float64))
    return {str(run): found.drop("run") for (run,), found in rows.partition_by("run", as_dict=True).items()}


def _with_all_ranks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows, and rows without a document at the ranks between them."""
    each = rows.group_by("query_id", "run", maintain_order=True)
    ranks = each.agg(rank=pl.int_ranges(1, pl.col("rank").max() + 1)).explode("rank")
    return ranks.join(rows, on=["query_id", "run", "rank"], how="left", maintain_order="left")
