"""Shared by the comparisons: random and real collections, the package's scores, and the form of an oracle.

An oracle is another program, or a plain reference, that computes some of the measures. Given a
collection, it yields the scores by topic of both sides, measure by measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pandas as pd
from classics.classic_cases import frame
from collections_data import ROOT

import ir_graded


@dataclass(frozen=True)
class Collection:
    """Qrels and a run as dicts of dicts.

    Attributes:
        qrels: level by topic and document.
        run: score by topic and document.
        as_tables: whether the package gets tables instead of the dicts.
    """

    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    as_tables: bool = False

    @property
    def levels(self) -> set[float]:
        return {level for levels in self.qrels.values() for level in levels.values()}

    @property
    def shared(self) -> list[str]:
        """Return the topics that have documents on both sides."""
        return [topic for topic, levels in self.qrels.items() if levels and self.run.get(topic)]

    def scores(self, measures: Iterable) -> dict:
        """Return the package's scores by measure and topic, with all measures in one call."""
        measures = list(measures)
        sources = (self.qrels, self.run)
        if self.as_tables:
            sources = (frame(self.qrels, "relevance"), frame(self.run, "score"))
        found = ir_graded.evaluate(measures, sources[0], {"run": sources[1]})
        return {
            measure: dict(zip(found.query_ids, values, strict=True))
            for measure, values in zip(measures, found.values[:, 0].tolist(), strict=True)
        }


class Compared(NamedTuple):
    """Scores by topic of one measure from both sides."""

    measure: str
    ours: dict[str, float]
    theirs: dict[str, float]


class Oracle(NamedTuple):
    """A program or reference that the package is compared with.

    Attributes:
        name: its name in the table.
        compare: yields a :class:`Compared` for each measure on one random collection.
        tolerance: the largest difference explained by rounding or by digits that the oracle does not print.
        missing: what must be installed to run it, or None.
        compare_on: like ``compare``, on a given collection; None if the oracle takes no ranked lists.
    """

    name: str
    compare: Callable[[np.random.Generator], Iterator[Compared]]
    tolerance: float = 1e-12
    missing: str | None = None
    compare_on: Callable[[np.random.Generator, Collection], Iterator[Compared]] | None = None


def not_installed(module: str, package: str) -> str | None:
    """Return the skip reason for a package that is not installed."""
    return None if find_spec(module) else f"{package} is not installed"


def both(collection: Collection, theirs: dict) -> Iterator[Compared]:
    """Yield the package's scores beside ``theirs``: by measure, then by topic."""
    ours = collection.scores(theirs)
    for measure, scores in theirs.items():
        yield Compared(str(measure), {topic: ours[measure][topic] for topic in scores}, scores)


# ------------------------------------------------------------------------------------ random collections


SCALES = ((0, 1), (-1, 0, 1, 2), (-2, -1, 0, 1, 2, 3), (0, 1, 2, 3), (0, 2, 4, 8, 16))


def draw(rng: np.random.Generator, *, scales=SCALES, ties=True, topics=8, longest=200, near=False):
    """A random collection: short and long lists, topics without relevant documents or on one side only.

    Args:
        rng: the source of randomness.
        scales: scales of levels; one of them is drawn.
        ties: whether documents may tie.
        topics: number of topics on both sides.
        longest: largest number of documents retrieved or judged for a topic.
        near: whether some scores differ only beyond the precision of float32.
    """
    scale = np.array(scales[rng.integers(len(scales))])
    # Relevant documents are rare in some collections and frequent in others.
    weights = rng.dirichlet(np.ones(scale.size))
    qrels, run = {}, {}
    for topic in map(str, rng.permutation(1000)[:topics].tolist()):
        judged, retrieved = np.ceil(longest ** rng.random(2)).astype(int).tolist()
        docs = [f"d{doc}" for doc in rng.permutation(max(judged, retrieved) * 3 // 2 + 1).tolist()]
        levels = rng.choice(scale, judged, p=weights)
        # pytrec_eval may crash if all levels of a topic are below -1.
        levels[0] = max(levels[0], -1)
        qrels[topic] = dict(zip(docs, levels.tolist(), strict=False))
        run[topic] = dict(
            zip(
                rng.permutation(docs)[:retrieved].tolist(),
                _scores(rng, retrieved, ties, near).tolist(),
                strict=True,
            )
        )
    qrels["only-judged"] = {"d1": 1}
    run["only-retrieved"] = {"d1": 1.0}
    return Collection(qrels, run, as_tables=bool(rng.random() < 0.5))


def _scores(rng: np.random.Generator, count: int, ties: bool, near: bool):
    if near and rng.random() < 0.5:
        return 1.0 + rng.integers(0, 4, count) * 1e-9
    if ties and rng.random() < 0.7:
        return rng.integers(0, max(2, count // 3), count) / 7.0
    return rng.permutation(count) / 7.0 - count / 14.0


# -------------------------------------------------------------------------------------- real collections


def real(name: str) -> Iterator[Collection]:
    """Yield real runs: ``sample`` are the package's, ``robust2003`` those submitted to TREC."""
    if name == "sample":
        covid = ir_graded.sample()
        qrels = nested(covid.qrels, "relevance")
        for run in covid.runs.values():
            yield Collection(qrels, nested(run, "score"))
    elif name == "robust2003":
        qrels = nested(ir_graded.read_qrels(ROOT / name / "qrels.robust03.txt.gz"), "relevance")
        for path in sorted((ROOT / name / "runs").glob("input.*.gz")):
            yield Collection(qrels, nested(ir_graded.read_run(path), "score"))


def nested(table: pd.DataFrame, value: str) -> dict[str, dict[str, float]]:
    """Return a table as a dict of dicts."""
    return {
        str(topic): dict(zip(rows["doc_id"].astype(str), rows[value].tolist(), strict=True))
        for topic, rows in table.groupby("query_id", sort=False)
    }
