"""Shared by the tests of sampled judgments: worked examples, random collections, forms of qrels."""

from functools import partial
from pathlib import Path

import helpers
import ir_measures
import numpy as np
import pandas as pd
from helpers import TABLES
from packed import gzipped

import ir_graded
from ir_graded import SampledJudgmentsWarning

DATA = Path(__file__).parent / "data"

#: Worked example A: document, stratum, level.
A = [
    *(("d1", "1", 2), ("d2", "1", 0), ("d3", "1", -1), ("d4", "2", 1), ("d5", "2", -1)),
    *(("d6", "2", 0), ("d7", "2", -1), ("d8", "2", 1)),
]
RANKING_A = ["d4", "d1", "x1", "d5", "d2", "d6", "d3"]
MEASURES = ["infAP", "xinfAP", "infNDCG", "infQ"]


def run_of(ranking, topic="1"):
    """Return a run of one topic."""
    return {topic: {doc: -float(rank) for rank, doc in enumerate(ranking)}}


def sampleval(rows, topic="1"):
    """Return lines of sampleval."""
    return "".join(f"{topic} 0 {doc} {stratum} {level}\n" for doc, stratum, level in rows)


def frame(rows, column="stratum", topic="1"):
    """Return a frame with strata."""
    found = pd.DataFrame(rows, columns=["doc_id", column, "relevance"])
    return found.assign(query_id=topic)[["query_id", "doc_id", "relevance", column]]


def forms(rows, folder):
    """Yield qrels with strata in every form, by name."""
    table = frame(rows)
    yield from ((name, make(table, folder / f"q.{name}")) for name, make in TABLES.items())
    yield "iterator", iter([ir_measures.Qrel("1", doc, level, stratum) for doc, stratum, level in rows])
    renamed = frame(rows, "iteration").set_axis(["qid", "docno", "label", "iteration"], axis=1)
    yield "PyTerrier", renamed
    yield "shuffled", table.sample(frac=1, random_state=3)
    text = sampleval(rows)
    (folder / "q.txt").write_text(text.replace(" ", "  "), encoding="utf-8")
    yield "sampleval", folder / "q.txt"
    (folder / "q.gz").write_bytes(gzipped(text.replace(" ", "\t").encode()))
    yield "gzip", str(folder / "q.gz")
    yield "read_qrels", quietly(ir_graded.read_qrels, folder / "q.txt")
    yield "by name", quietly(ir_graded.read_qrels, folder / "q.txt", format="sampleval")


quietly = partial(helpers.quietly, about=SampledJudgmentsWarning)


def quiet_scores(*args, **options):
    """Return the scores of one call of evaluate, without warnings."""
    return helpers.quietly(ir_graded.evaluate, *args, **options).values


def collection(rng, levels=(0, 0, 0, 1, 1, 2, 3), most=25):
    """Return the rows of a random topic, of which some strata may lack judgments, and a ranking."""
    size, strata = int(rng.integers(1, most)), int(rng.integers(1, 5))
    share = rng.choice([0.2, 0.5, 0.8, 1.0])
    rows = [
        (f"d{doc}", f"s{rng.integers(strata)}", rng.choice(levels) if rng.random() < share else -1)
        for doc in range(size)
    ]
    # Any negative level marks a document that was not judged.
    rows = [
        (doc, h, type(levels[0])(level) if level >= 0 else -int(rng.integers(1, 3))) for doc, h, level in rows
    ]
    docs = np.array([*(row[0] for row in rows), *(f"x{n}" for n in range(5))])
    return rows, rng.permutation(docs)[: int(rng.integers(1, docs.size + 1))].tolist()
