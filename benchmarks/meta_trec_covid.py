"""Check which of the papers' findings hold on TREC-COVID: compare the measures on all runs of a round.

    python benchmarks/meta_trec_covid.py FOLDER [--seed 0]

FOLDER holds qrels/qrels.covid-round5.txt.gz and round5.judged.tsv.xz, which has a line per topic and run:
``topic TAB run TAB rank:doc rank:doc ...`` with the judged documents of the run. The archive is NIST's.
"""

from __future__ import annotations

import argparse
import lzma
from collections import defaultdict
from pathlib import Path

import pandas as pd

import ir_graded

MEASURES = [
    "AP",
    "Q",
    "P-measure",
    "P+",
    "O-measure",
    "RR",
    "nDCG@20",
    "NCU(stop='gu')",
    "NCU(stop='gu',beta=0)",
    "NCU(stop='gu',beta=inf)",
    "NCU(stop='rb',gamma=0.9)",
    "NCU(stop='rb',gamma=0.7)",
    "NCU(stop='rb',gamma=0.5)",
]


def runs(path: Path) -> dict[str, pd.DataFrame]:
    """Return the runs, with unjudged documents at the ranks between the judged ones."""
    rows: dict[str, list[tuple[str, str, float]]] = defaultdict(list)
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, run, docs = line.rstrip("\n").split("\t")
            if not docs:
                continue
            judged = {int(rank): doc for rank, _, doc in (entry.partition(":") for entry in docs.split(" "))}
            ranks = range(1, max(judged) + 1)
            rows[run] += [(topic, judged.get(rank, f"unjudged {rank}"), -float(rank)) for rank in ranks]
    return {run: pd.DataFrame(docs, columns=["query_id", "doc_id", "score"]) for run, docs in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    qrels = options.folder / "qrels" / "qrels.covid-round5.txt.gz"
    scores = ir_graded.evaluate(MEASURES, qrels, runs(options.folder / "round5.judged.tsv.xz"))
    table = ir_graded.meta.compare_measures(scores, reference="AP", rng=options.seed).to_frame()
    with pd.option_context("display.width", 250, "display.max_columns", None):
        print(table.round(3))


if __name__ == "__main__":
    main()
