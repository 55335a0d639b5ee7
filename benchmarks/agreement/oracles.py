"""Other programs as functions: random or real input, and the values of the program by measure and topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
import pandas as pd
from collections_data import ROOT
from differential.peer_values import Lists

import ir_graded

#: All programs by their names in the table.
ORACLES: dict[str, Oracle] = {}


@dataclass(frozen=True)
class Oracle:
    """A program or reference that the package is compared with.

    Attributes:
        name: its name in the table; the golden file is called by the part before a colon.
        case: draws input, small input if asked, and returns it with the values of the program.
        on: returns the values for given lists; None if the program does not take those of real runs.
        tolerance: the largest difference explained by rounding or by digits that are not printed.
        missing: what must be installed to run it, or None.
        version: the version of the program.
        golden: number of cases in the golden file.
    """

    name: str
    case: Callable[..., tuple[Any, dict]]
    on: Callable | None
    tolerance: float
    missing: str | None
    version: str
    golden: int


def oracle(
    name: str, *, package: str = "", tolerance: float = 1e-12, missing=None, version="", golden=0, on=None
):
    """Return a decorator that registers a function of a generator and of whether the input is small."""
    if package:
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            missing = f"{package} is not installed"

    def register(case):
        ORACLES[name] = Oracle(name, case, on, tolerance, missing, version, golden)
        return case

    return register


def of_lists(name: str, *, real=False, prepare=lambda lists: lists, drawn=None, golden=6, **options):
    """Return a decorator that registers a function of a generator and of lists: the program's values.

    Args:
        name: the name of the program.
        real: whether it takes real runs, too.
        prepare: changes lists to those that the program takes.
        drawn: options of :func:`draw`.
        golden: number of cases in the golden file.
        options: further options of :func:`oracle`.
    """

    def register(values):
        def on(rng, lists):
            lists = prepare(lists)
            return lists, values(rng, lists)

        def case(rng, *, small=False):
            return on(rng, draw(rng, **{**(drawn or {}), **(SMALL if small else {})}))

        oracle(name, on=on if real else None, golden=golden, **options)(case)
        return values

    return register


@dataclass(frozen=True)
class Given:
    """Our values, where the input is not kept."""

    values: dict

    def scores(self, measures):
        return {measure: self.values[measure] for measure in measures}


def shared(lists: Lists) -> list[str]:
    """Return the topics that have documents on both sides."""
    return [topic for topic, levels in lists.qrels.items() if levels and lists.run.get(topic)]


def levels_of(lists: Lists) -> set[float]:
    """Return all levels of the qrels."""
    return {level for levels in lists.qrels.values() for level in levels.values()}


# --------------------------------------------------------------------------------------- random lists

SCALES = ((0, 1), (-1, 0, 1, 2), (-2, -1, 0, 1, 2, 3), (0, 1, 2, 3), (0, 2, 4, 8, 16))
SMALL = {"topics": 3, "longest": 24}


def draw(rng: np.random.Generator, *, scales=SCALES, ties=True, topics=8, longest=200) -> Lists:
    """Random lists: short and long ones, topics without relevant documents or on one side only.

    Args:
        rng: the source of randomness.
        scales: scales of levels; one of them is drawn.
        ties: whether documents may tie.
        topics: number of topics on both sides.
        longest: largest number of documents retrieved or judged for a topic.
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
        scores = _scores(rng, retrieved, ties).tolist()
        qrels[topic] = dict(zip(docs, levels.tolist(), strict=False))
        run[topic] = dict(zip(rng.permutation(docs)[:retrieved].tolist(), scores, strict=True))
    qrels["only-judged"] = {"d1": 1}
    run["only-retrieved"] = {"d1": 1.0}
    return Lists(qrels, run, as_tables=bool(rng.random() < 0.5))


def _scores(rng, count, ties):
    if ties and rng.random() < 0.7:
        return rng.integers(0, max(2, count // 3), count) / 8
    return rng.permutation(count) / 8 - count // 2


# ----------------------------------------------------------------------------------------- real lists


def real(name: str) -> Iterator[Lists]:
    """Yield real runs: ``sample`` are the package's, ``robust2003`` those submitted to TREC, if present."""
    if name == "sample":
        covid = ir_graded.sample()
        qrels, runs = covid.qrels, covid.runs.values()
    elif not (ROOT / name).is_dir():
        return
    else:
        qrels = ir_graded.read_qrels(ROOT / name / "qrels.robust03.txt.gz")
        runs = map(ir_graded.read_run, sorted((ROOT / name / "runs").glob("input.*.gz")))
    judged = nested(qrels, "relevance")
    for run in runs:
        yield Lists(judged, nested(run, "score"))


def nested(table: pd.DataFrame, value: str) -> dict[str, dict[str, float]]:
    """Return a table as a dict of dicts."""
    return {
        str(topic): dict(zip(rows["doc_id"].astype(str), rows[value].tolist(), strict=True))
        for topic, rows in table.groupby("query_id", sort=False)
    }
