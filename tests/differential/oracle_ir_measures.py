"""Through ir-measures: gdeval (perl), MS MARCO's RR, Judged, trectools. Only gdeval breaks ties alike."""

from __future__ import annotations

import math
import shutil

import ir_measures
from differential.oracle_cases import Collection, Oracle, both, draw, not_installed
from ir_measures import AP, ERR, RR, Judged, P, nDCG

from ir_graded import O


def by_provider(name, measures, collection: Collection, shared=True):
    """Scores by measure and topic from one provider."""
    qrels, run = collection.qrels, collection.run
    if shared:
        topics = collection.shared
        qrels, run = ({topic: side[topic] for topic in topics} for side in (qrels, run))
    theirs = {measure: {} for measure in measures}
    for metric in ir_measures.providers.registry[name].iter_calc(measures, qrels, run):
        theirs[metric.measure][metric.query_id] = metric.value
    return theirs


def gdeval_on(rng, collection):
    """Both measures of gdeval, at one cutoff."""
    k = int(rng.choice([1, 5, 20, 1000]))
    yield from both(collection, by_provider("gdeval", [ERR @ k, nDCG(dcg="exp-log2") @ k], collection))


def gdeval(rng):
    """A random collection with levels that gdeval takes."""
    yield from gdeval_on(rng, draw(rng, scales=((0, 1), (-2, -1, 0, 1, 2, 3, 4)), topics=20))


def msmarco(rng):
    """RR with a cutoff, and O-measure with beta 0."""
    rel, k = int(rng.choice([1, 1, 2])), int(rng.choice([1, 3, 10, 100]))
    collection = draw(rng, ties=False)
    (theirs,) = by_provider("msmarco", [RR(rel=rel) @ k], collection).values()
    yield from both(collection, {RR(rel=rel) @ k: theirs, O(rel=rel, beta=0) @ k: theirs})


def judged(rng):
    """The share of judged documents."""
    collection = draw(rng, ties=False)
    yield from both(
        collection, by_provider("judged", [Judged, Judged @ int(rng.choice([1, 5, 100]))], collection)
    )


def trectools(rng):
    """The measures of trectools but Rprec and bpref; its nDCG is NaN if nothing relevant is retrieved."""
    collection, k = draw(rng, ties=False, scales=((0, 1), (0, 1, 2, 3))), int(rng.choice([1, 5, 20]))
    asked = [AP, AP @ k, RR, P @ k, nDCG, nDCG @ k, nDCG(dcg="exp-log2") @ k]
    relevant = {topic for topic, levels in collection.qrels.items() if max(levels.values()) > 0}
    theirs = {
        measure: {
            topic: value
            for topic, value in scores.items()
            if topic in relevant and not (measure.NAME == "nDCG" and math.isnan(value))
        }
        for measure, scores in by_provider("trectools", asked, collection).items()
    }
    yield from both(collection, theirs)


ORACLES = (
    Oracle(
        "gdeval",
        gdeval,
        tolerance=0.5e-5 + 1e-9,
        missing=None if shutil.which("perl") else "perl is not installed",
        compare_on=gdeval_on,
    ),
    Oracle("ir-measures: msmarco", msmarco),
    Oracle("ir-measures: judged", judged),
    Oracle("trectools", trectools, missing=not_installed("trectools", "trectools")),
)
