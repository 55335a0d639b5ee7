"""The plain references in ``tests/reference``: every measure with random parameters."""

from __future__ import annotations

import math

from differential.oracle_cases import SCALES, Collection, Compared, Oracle, both, draw
from measures import measure_cases
from measures.test_random_collections import MEDIUM, random_parameters
from passages import passage_cases
from reference import passages, ranked

SOFT = tuple(scale for scale in measure_cases.SCALES.values() if scale not in SCALES)


def ranked_lists_on(rng, collection: Collection):
    """Return a dozen measures with random parameters."""
    chosen = [measure_cases.VARIANTS[at] for at in rng.permutation(len(measure_cases.VARIANTS))[:12]]
    theirs = {}
    for measure in chosen:
        params = random_parameters(rng, measure, MEDIUM)
        theirs[measure(**params)] = ranked.evaluate(measure.NAME, params, collection.qrels, collection.run)
    yield from both(collection, theirs)


def ranked_lists(rng):
    """A random collection with soft labels; some scores are equal only as float32."""
    yield from ranked_lists_on(rng, draw(rng, scales=(*SCALES, *SOFT), near=True))


def passage_lists(rng):
    """Compare passages of a few topics by MAgP, gP and gR."""
    rows = passage_cases.random_rows(rng, topics=6, articles=40, judged=20)
    beta, cutoff = (
        values[rng.integers(len(values))] for values in ((0, 0.25, 1, 4, math.inf), (1, 5, 30, 1000))
    )
    rel = int(rng.choice([1, 1, 2, 3]))
    chosen = [
        ("MAgP", {"beta": beta, "rel": rel}),
        ("MAgP", {"beta": beta, "rel": rel, "cutoff": cutoff}),
        ("gP", {"beta": beta, "cutoff": cutoff}),
        ("gR", {"rel": rel, "cutoff": cutoff}),
    ]
    measures = [passage_cases.MEASURES[name](**params) for name, params in chosen]
    frames = [passage_cases.frame(kind, side) for kind, side in zip(("qrels", "run"), rows, strict=True)]
    ours = passage_cases.scores(measures, *frames)
    for measure, (name, params) in zip(measures, chosen, strict=True):
        yield Compared(str(measure), ours[str(measure)], passages.evaluate(name, params, *rows))


ORACLES = (
    Oracle("reference: ranked", ranked_lists, compare_on=ranked_lists_on),
    Oracle("reference: passages", passage_lists),
)
