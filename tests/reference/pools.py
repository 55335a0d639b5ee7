"""Reference for pools of documents to judge: sets and loops, without code of the package."""

from __future__ import annotations

import math

Rankings = dict[str, list[str]]  # the documents of each topic in ranked order


def best_ranks(runs: list[Rankings]) -> dict[tuple[str, str], int]:
    """Return the best rank in any run of each document of a topic."""
    best: dict[tuple[str, str], int] = {}
    for run in runs:
        for topic, ranking in run.items():
            for rank, doc_id in enumerate(ranking, start=1):
                best[topic, doc_id] = min(rank, best.get((topic, doc_id), rank))
    return best


def pool(runs: list[Rankings], depth: int, judged: dict[str, dict[str, float]]) -> set[tuple[str, str]]:
    """Return the documents at ranks 1 to depth of any run that have no level of at least 0."""
    return {
        (topic, doc_id)
        for (topic, doc_id), rank in best_ranks(runs).items()
        if rank <= depth and judged.get(topic, {}).get(doc_id, -1) < 0
    }


def strata(runs: list[Rankings], shares: dict[int, float]) -> dict[tuple[str, int], tuple[set[str], int]]:
    """Return the documents of each stratum of a topic, and how many of them are drawn."""
    members: dict[tuple[str, int], set[str]] = {}
    for (topic, doc_id), rank in best_ranks(runs).items():
        if rank <= max(shares):
            stratum = 1 + sum(rank > end for end in shares)
            members.setdefault((topic, stratum), set()).add(doc_id)
    found = {}
    for (topic, stratum), docs in members.items():
        share = shares[sorted(shares)[stratum - 1]]
        found[topic, stratum] = (docs, min(len(docs), max(2, math.floor(share * len(docs) + 0.5))))
    return found
