"""Files of the page on nightly gates, from ``python tests/docs/shop.py QUERIES FOLDER``."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).parents[2] / "docs" / "files" / "nightly.sh"
KINDS = ["head", "long", "codes", "other"]
POOL, HITS = 120, 50
#: Levels of the first documents of each pool, which the engine should rank first; 10 more are judged as 0.
LEVELS = [3] * 3 + [1] * 7 + [0] * 10
GAIN = np.array([3.0] * 3 + [1.5] * 7 + [0.0] * (POOL - 10))


def responses(queries, night, broken=()):
    """Responses as of Elasticsearch, with the texts of documents; queries of some kinds are broken."""
    text = "A sentence about the product, as shops have it. " * 10
    found = {}
    for query in range(queries):
        noise = np.random.default_rng(query).normal(0, 1.5, POOL)
        changes = np.random.default_rng([query, night]).normal(0, 0.3, POOL)
        score = (0.5 if KINDS[query % 4] in broken else 1.0) * GAIN + noise + changes
        hits = [
            {"_id": f"d{query}-{at}", "_score": round(float(score[at]), 3), "_source": {"text": text}}
            for at in np.argsort(-score)[:HITS]
        ]
        found[f"q{query}"] = {"took": 3, "hits": {"hits": hits}}
    return found


def write_shop(folder, queries, broken=("codes",)):
    """Write the files that the page describes, and the script of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {
        "qrels.csv": ["query_id,doc_id,relevance"],
        "traffic.csv": ["query_id,weight"],
        "kinds.csv": ["query_id,slice"],
        "queries.tsv": [],
    }
    for query in range(queries):
        rows["qrels.csv"] += [f"q{query},d{query}-{at},{level}" for at, level in enumerate(LEVELS)]
        rows["traffic.csv"].append(f"q{query},{20_000 // (query + 30) + 1}")
        rows["kinds.csv"].append(f"q{query},{KINDS[query % 4]}")
        rows["queries.tsv"].append(f"q{query}\tquery number {query}")
    for name, lines in rows.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    (folder / "release.json").write_text(json.dumps(responses(queries, 0)))
    (folder / "engine.json").write_text(json.dumps(responses(queries, 1, broken)))
    (folder / "ask.sh").write_text("#!/bin/sh\ncat engine.json\n")
    (folder / "ask.sh").chmod(0o755)
    shutil.copy(SCRIPT, folder / "nightly.sh")


if __name__ == "__main__":
    write_shop(Path(sys.argv[2]), int(sys.argv[1]))
