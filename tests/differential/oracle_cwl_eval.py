"""cwl_eval through ir-measures, on lists without ties, because it keeps tied documents in the given order.

Its AP is left out, because it divides by the number of relevant documents retrieved.
"""

from __future__ import annotations

from differential.oracle_cases import Collection, Oracle, both, draw, not_installed
from ir_measures import (
    BPM,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    RBP,
    RR,
    SDCG,
    P,
    providers,
)


def compare_on(rng, collection: Collection):
    """Yield measures with random parameters, on the topics that both sides have."""
    rel, k, p = (
        int(rng.choice([1, 2, 3])),
        int(rng.choice([1, 5, 20])),
        float(rng.choice([0, 0.5, 0.8, 0.99, 1])),
    )
    scale = {"min_rel": int(rng.choice([0, 1])), "max_rel": int(rng.choice([2, 3]))}
    T = float(rng.choice([0.5, 1, 3]))
    measures = [RR(rel=rel), P(rel=rel) @ k, RBP(rel=rel, p=p), SDCG(**scale) @ k, INSQ(T=T, **scale)]
    measures += [INST(T=T, **scale), NERR8(**scale) @ k, NERR9(**scale) @ k, NERR10(p=p, **scale)]
    # Sums of thirds may round to a number below T.
    measures += [NERR11(T=T, **scale), BPM(T=T, max_rel=2, min_rel=scale["min_rel"]) @ k]
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
