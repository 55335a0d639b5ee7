"""pytrec_eval, called without ir-measures: the classics, and measures of this package that reduce to one."""

from __future__ import annotations

import pytrec_eval
from differential.oracle_cases import Collection, Oracle, both, draw
from ir_measures import AP, RR, Bpref, NumRel, NumRet, P, R, Rprec, SetF, SetP, SetR, Success, nDCG

from ir_graded import BR, GAP, NCU, R_WP, O, P_measure, P_plus, Q, R_measure


def pairs(rel, condensed, k, levels):
    """Return measures with their names in trec_eval."""
    both_take = {"rel": rel, "judged_only": condensed}
    plain = {**both_take, "beta": 0}
    flat = {**both_take, "gains": dict.fromkeys((level for level in levels if level > 0), 1)}
    found = {
        AP(**both_take): "map",
        AP(**both_take) @ k: f"map_cut_{k}",
        RR(**both_take): "recip_rank",
        P(**both_take) @ k: f"P_{k}",
        R(**both_take) @ k: f"recall_{k}",
        Rprec(**both_take): "Rprec",
        Success(**both_take) @ k: f"success_{k}",
        SetP(**both_take): "set_P",
        SetP(relative=True, **both_take): "set_relative_P",
        SetF(**both_take): "set_F",
        Q(**plain): "map",
        Q(**plain) @ k: f"map_cut_{k}",
        NCU(stop="u", **plain): "map",
        NCU(stop="rb", gamma=1, **plain): "map",
        NCU(stop="gu", stops=flat["gains"], **plain): "map",
        O(**plain): "recip_rank",
        BR(**plain) @ k: f"P_{k}",
        R_measure(**plain): "Rprec",
        R_WP(**flat): "Rprec",
    }
    if rel == 1:
        found |= {nDCG(judged_only=condensed): "ndcg", nDCG(judged_only=condensed) @ k: f"ndcg_cut_{k}"}
    if levels <= {-2, -1, 0, 1} and rel == 1:
        found |= {P_measure(**plain): "recip_rank", P_plus(**plain): "recip_rank"}
        found |= {GAP(judged_only=condensed): "map"}
    if not condensed:
        found |= {Bpref(rel=rel): "bpref", SetR(rel=rel): "set_recall", NumRet(rel=rel): "num_rel_ret"}
        found |= {NumRet: "num_ret"} | ({NumRel: "num_rel"} if rel == 1 else {})
    return found


def dotted(name, k):
    """Return the name that trec_eval takes: ``P.5`` for the printed ``P_5``."""
    return name.replace(f"_{k}", f".{k}") if name.endswith(f"_{k}") else name


def compare_on(rng, collection: Collection):
    """Return all pairs with a random lowest relevant level and cutoff, on full or condensed lists."""
    rel, condensed, k = (rng.choice(values) for values in ([1, 1, 2, 4], [False, False, True], [1, 2, 5, 30]))
    asked = pairs(int(rel), bool(condensed), int(k), collection.levels)
    evaluator = pytrec_eval.RelevanceEvaluator(
        collection.qrels,
        {dotted(name, int(k)) for name in asked.values()},
        relevance_level=int(rel),
        judged_docs_only_flag=bool(condensed),
    )
    found = evaluator.evaluate({topic: collection.run[topic] for topic in collection.shared})
    theirs = {
        measure: {topic: values[name] for topic, values in found.items()} for measure, name in asked.items()
    }
    yield from both(collection, theirs)


def compare(rng):
    """A random collection, without scores that are equal only as float32, as pytrec_eval compares them."""
    yield from compare_on(rng, draw(rng))


ORACLE = Oracle("pytrec_eval", compare, compare_on=compare_on)
