"""ranx, on lists without ties (it keeps tied documents in the given order) and on topics of both sides.

Left out: bpref of negative levels or of topics without judged documents of both kinds, RBP of graded levels.
"""

from __future__ import annotations

import warnings

from differential.oracle_cases import SCALES, Collection, Oracle, both, draw, not_installed
from ir_measures import AP, RBP, RR, Bpref, NumRet, P, R, Rprec, SetF, SetP, SetR, Success, nDCG

from ir_graded import BR, O, Q, R_measure


def pairs(rel, k, levels):
    """Return measures with their names in ranx."""
    lowest = f"-l{rel}"
    taken, plain = {"rel": rel}, {"rel": rel, "beta": 0}
    found = {
        AP(**taken): "map" + lowest,
        AP(**taken) @ k: f"map@{k}" + lowest,
        RR(**taken): "mrr" + lowest,
        RR(**taken) @ k: f"mrr@{k}" + lowest,
        P(**taken) @ k: f"precision@{k}" + lowest,
        R(**taken) @ k: f"recall@{k}" + lowest,
        Rprec(**taken): "r-precision" + lowest,
        Success(**taken) @ k: f"hit_rate@{k}" + lowest,
        SetP(**taken): "precision" + lowest,
        SetR(**taken): "recall" + lowest,
        SetF(**taken): "f1" + lowest,
        NumRet(**taken): "hits" + lowest,
        Q(**plain): "map" + lowest,
        Q(**plain) @ k: f"map@{k}" + lowest,
        O(**plain): "mrr" + lowest,
        BR(**plain) @ k: f"precision@{k}" + lowest,
        R_measure(**plain): "r-precision" + lowest,
        nDCG: "ndcg",
        nDCG @ k: f"ndcg@{k}",
        nDCG(dcg="exp-log2") @ k: f"ndcg_burges@{k}",
    }
    if levels <= {0, 1}:
        found |= {RBP(rel=1, p=0.8): "rbp.80", Bpref: "bpref"}
    return found


def compare_on(rng, collection: Collection):
    """Return all pairs with a random lowest relevant level and cutoff."""
    import ranx

    asked = pairs(int(rng.choice([1, 1, 2, 3])), int(rng.choice([1, 3, 10, 50])), collection.levels)
    qrels = {topic: collection.qrels[topic] for topic in collection.shared}
    run = ranx.Run({topic: collection.run[topic] for topic in qrels})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba warns of casts within ranx
        ranx.evaluate(ranx.Qrels(qrels), run, sorted(set(asked.values())))
    theirs = {
        measure: {topic: float(run.scores[name][topic]) for topic in qrels} for measure, name in asked.items()
    }
    if any(not {0, 1} <= set(levels.values()) for levels in qrels.values()):
        # One topic without documents of both kinds makes the other topics NaN.
        theirs.pop(Bpref, None)
    yield from both(collection, theirs)


def compare(rng):
    """A random collection."""
    yield from compare_on(rng, draw(rng, ties=False, scales=(*SCALES, (0, 1))))


ORACLE = Oracle("ranx", compare, missing=not_installed("ranx", "ranx"))
