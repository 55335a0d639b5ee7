"""cwl_eval through ir-measures, on lists without ties, because it keeps tied documents in the given order.

Its AP is left out, because it divides by the number of relevant documents retrieved.
"""

from __future__ import annotations

from differential.oracle_cases import Collection, Oracle, both, draw, not_installed
from ir_measures import RBP, RR, P, providers


def compare_on(rng, collection: Collection):
    """Yield measures with random parameters, on the topics that both sides have."""
    rel, k, p = (
        int(rng.choice([1, 2, 3])),
        int(rng.choice([1, 5, 20])),
        float(rng.choice([0, 0.5, 0.8, 0.99, 1])),
    )
    measures = [RR(rel=rel), P(rel=rel) @ k, RBP(rel=rel, p=p)]
    theirs = {measure: {} for measure in measures}
    shared = set(collection.shared)
    for metric in providers.registry["cwl_eval"].iter_calc(measures, collection.qrels, collection.run):
        if metric.query_id in shared:
            theirs[metric.measure][metric.query_id] = float(metric.value)
    yield from both(collection, theirs)


def compare(rng):
    """A random collection."""
    yield from compare_on(rng, draw(rng, ties=False))


ORACLE = Oracle("cwl_eval", compare, missing=not_installed("cwl", "cwl-eval"))
