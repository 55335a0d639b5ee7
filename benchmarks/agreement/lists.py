"""Programs that score ranked lists, and how their measures are called here.

Cases on the page of disagreements are left out. ranx, cwl_eval, trectools and the providers of ir-measures
keep tied documents in the given order, so they get lists without ties.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import ir_measures
import pandas as pd
import pytrec_eval
from differential.peer_values import Lists
from intents.intent_cases import random_topic
from ir_measures import (
    AP,
    AP_IA,
    BPM,
    ERR,
    ERR_IA,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    NRBP,
    P_IA,
    RBP,
    RR,
    SDCG,
    Bpref,
    Judged,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetF,
    SetP,
    SetR,
    StRecall,
    Success,
    alpha_DCG,
    alpha_nDCG,
    nDCG,
    nERR_IA,
    nNRBP,
)  # fmt: skip
from pyNTCIREVAL import Labeler, metrics
from reference import ranked

from benchmarks.agreement.oracles import SCALES, levels_of, of_lists, oracle, shared
from ir_graded import BR, GAP, NCU, R_WP, O, P_measure, P_plus, Q, R_measure, nERR
from ir_graded.measures.classic.ties import with_ties


def pick(rng, *values):
    """Return one of the values, with its type."""
    return values[rng.integers(len(values))]


def by_topic(lists: Lists, values) -> dict:
    """Return values by measure and topic from a function of a topic that returns values by measure."""
    found = {}
    for topic in shared(lists):
        for measure, value in values(topic).items():
            found.setdefault(measure, {})[topic] = float(value)
    return found


# ------------------------------------------------------------------------- trec_eval and pytrec_eval

TREC_EVAL = os.environ.get("TREC_EVAL", "")


def trec_measures(rel, condensed, k, levels):
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


def drawn_measures(rng, lists):
    """Return a random lowest relevant level, whether lists are condensed, measures, and names to ask for."""
    rel, condensed, k = pick(rng, 1, 1, 2, 4), pick(rng, False, False, True), pick(rng, 1, 2, 5, 30)
    asked = trec_measures(rel, condensed, k, levels_of(lists))
    # trec_eval takes P.5 for the printed P_5.
    dotted = {n: n.replace(f"_{k}", f".{k}") if n.endswith(f"_{k}") else n for n in asked.values()}
    return rel, condensed, asked, {*dotted.values()}


@of_lists("pytrec_eval", package="pytrec_eval-terrier", real=True, golden=8)
def _(rng, lists):
    rel, condensed, asked, names = drawn_measures(rng, lists)
    evaluator = pytrec_eval.RelevanceEvaluator(
        lists.qrels, names, relevance_level=rel, judged_docs_only_flag=condensed
    )
    found = evaluator.evaluate({topic: lists.run[topic] for topic in shared(lists)})
    return by_topic(lists, lambda topic: {measure: found[topic][name] for measure, name in asked.items()})


def trec_eval(qrels, run, names, *options):
    """Run trec_eval; return the finished process."""
    lines = [f"{t} 0 {doc} {level}" for t, docs in qrels.items() for doc, level in docs.items()]
    ranked_lines = [f"{t} Q0 {doc} 0 {s!r} x" for t, docs in run.items() for doc, s in docs.items()]
    asked = [part for name in sorted(names) for part in ("-m", name)]
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "qrels"), Path(folder, "run")
        for path, of_path in zip(paths, (lines, ranked_lines), strict=True):
            path.write_text("\n".join(of_path) + "\n", encoding="utf-8")
        return subprocess.run(
            [TREC_EVAL, *options, *asked, *paths], capture_output=True, text=True, check=False
        )


def version_of_trec_eval():
    done = subprocess.run([TREC_EVAL, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).split()[-1]


def with_a_level_of_0(lists: Lists) -> Lists:
    """Return lists without topics whose levels are all below 0: trec_eval 10 may end at them."""
    qrels = {topic: levels for topic, levels in lists.qrels.items() if max(levels.values(), default=0) >= 0}
    return Lists(qrels, lists.run, lists.as_tables)


@of_lists(
    "trec_eval",
    missing=None if Path(TREC_EVAL).is_file() else "the variable TREC_EVAL names no program",
    version=version_of_trec_eval() if Path(TREC_EVAL).is_file() else "",
    tolerance=0.5e-4 + 1e-9,
    real=True,
    prepare=with_a_level_of_0,
    drawn={"topics": 20},
)
def _(rng, lists):
    # It prints four decimals. Without -c, trec_eval 10 exits if a run lacks a topic; with it, it counts the
    # relevant documents of such topics.
    rel, condensed, asked, names = drawn_measures(rng, lists)
    done = trec_eval(lists.qrels, lists.run, names, "-q", "-c", "-l", str(rel), *["-J"] * condensed)
    printed = {(name, topic): value for name, topic, value in map(str.split, done.stdout.splitlines())}
    asked.pop(NumRel, None)
    return {
        measure: {topic: float(printed[name, topic]) for topic in lists.qrels}
        for measure, name in asked.items()
    }


# ------------------------------------------------------------------------------ through ir-measures


def by_provider(name, measures, lists, *, only_shared=True):
    """Return the values of a provider of ir-measures for the topics of both sides."""
    qrels, run, topics = lists.qrels, lists.run, shared(lists)
    if only_shared:
        qrels, run = ({topic: side[topic] for topic in topics} for side in (qrels, run))
    theirs = {measure: {} for measure in measures}
    for metric in ir_measures.providers.registry[name].iter_calc(measures, qrels, run):
        if metric.query_id in topics:
            theirs[metric.measure][metric.query_id] = float(metric.value)
    return theirs


@of_lists(
    "gdeval",
    package="ir-measures",
    missing=None if shutil.which("perl") else "perl is not installed",
    tolerance=0.5e-5 + 1e-9,
    real=True,
    drawn={"scales": ((0, 1), (-2, -1, 0, 1, 2, 3, 4)), "topics": 20},
)
def _(rng, lists):
    k = pick(rng, 1, 5, 20, 1000)
    return by_provider("gdeval", [ERR @ k, nDCG(dcg="exp-log2") @ k], lists)


@of_lists("ir-measures: msmarco", package="ir-measures", drawn={"ties": False})
def _(rng, lists):
    rel, k = pick(rng, 1, 1, 2), pick(rng, 1, 3, 10, 100)
    (theirs,) = by_provider("msmarco", [RR(rel=rel) @ k], lists).values()
    return {RR(rel=rel) @ k: theirs, O(rel=rel, beta=0) @ k: theirs}


@of_lists("ir-measures: judged", package="ir-measures", drawn={"ties": False}, golden=3)
def _(rng, lists):
    return by_provider("judged", [Judged, Judged @ pick(rng, 1, 5, 100)], lists)


@of_lists("trectools", package="trectools", drawn={"ties": False, "scales": ((0, 1), (0, 1, 2, 3))})
def _(rng, lists):
    # Its nDCG is NaN if nothing relevant is retrieved.
    k = pick(rng, 1, 5, 20)
    found = by_provider("trectools", [AP, AP @ k, RR, P @ k, nDCG, nDCG @ k, nDCG(dcg="exp-log2") @ k], lists)
    relevant = {topic for topic, levels in lists.qrels.items() if max(levels.values()) > 0}
    return {
        measure: {t: value for t, value in of_topic.items() if t in relevant and not math.isnan(value)}
        for measure, of_topic in found.items()
    }


@of_lists("cwl_eval", package="cwl-eval", drawn={"ties": False}, golden=8)
def _(rng, lists):
    # Its AP divides by the number of relevant documents retrieved.
    rel, k, p = pick(rng, 1, 2, 3), pick(rng, 1, 5, 20), pick(rng, 0.0, 0.5, 0.8, 0.99, 1.0)
    scale, T = {"min_rel": pick(rng, 0, 1), "max_rel": pick(rng, 2, 3)}, pick(rng, 0.5, 1.0, 3.0)
    measures = [RR(rel=rel), P(rel=rel) @ k, RBP(rel=rel, p=p), SDCG(**scale) @ k, INSQ(T=T, **scale)]
    measures += [INST(T=T, **scale), NERR8(**scale) @ k, NERR9(**scale) @ k, NERR10(p=p, **scale)]
    # Sums of thirds may round to a number below T.
    measures += [NERR11(T=T, **scale), BPM(T=T, max_rel=2, min_rel=scale["min_rel"]) @ k]
    return by_provider("cwl_eval", measures, lists, only_shared=False)


@oracle("pyndeval", package="pyndeval", golden=2)
def _(rng, *, small=False):
    # It has few cutoffs, no condensed lists, and 20 ranks of the ideal list of nNRBP; it rounds no sums.
    topics = intent_topics(rng, 4 if small else 30, 15 if small else 18)
    qrels, run = (
        with_columns(topics, "iteration"),
        {name: ranked_docs(topic) for name, topic in topics.items()},
    )
    rel, k, alpha, beta = (
        pick(rng, 1, 1, 2),
        pick(rng, 2, 5, 10, 20),
        pick(rng, 0.0, 0.5, 1.0),
        pick(rng, 0.3, 0.5, 0.8),
    )
    measures = [ERR_IA(rel=rel) @ k, nERR_IA(rel=rel) @ k, alpha_DCG(alpha=alpha, rel=rel) @ k]
    measures += [
        alpha_nDCG(rel=rel) @ k,
        NRBP(alpha=alpha, beta=beta, rel=rel),
        nNRBP(rel=rel),
        AP_IA(rel=rel),
    ]
    measures += [P_IA(rel=rel) @ k, StRecall(rel=rel) @ k]
    frame = pd.DataFrame(qrels)
    theirs = {}
    for measure in measures:  # ir-measures gives pyndeval no run for the second of two parameters of one call
        metrics = ir_measures.pyndeval.iter_calc([measure], frame, run)
        theirs[measure] = {m.query_id: m.value for m in metrics if not math.isnan(m.value)}
    return Lists(qrels, run), theirs


def intent_topics(rng, count, most_judged=60):
    """Return random topics with intents in which a document is judged for each."""
    own, topics = random.Random(int(rng.integers(2**32))), {}
    while len(topics) < count:
        topic = random_topic(own, most_judged)
        if all(topic.levels.values()) and topic.retrieved:
            topics[str(len(topics) + 1)] = topic
    return topics


def ranked_docs(topic):
    """Return the run of one topic."""
    return {doc: -rank for rank, doc in enumerate(topic.retrieved)}


def with_columns(topics, column):
    """Return the columns of qrels of topics with intents."""
    rows = [
        (name, doc, level, intent)
        for name, topic in topics.items()
        for intent, docs in topic.levels.items()
        for doc, level in docs.items()
    ]
    return dict(
        zip(("query_id", "doc_id", "relevance", column), map(list, zip(*rows, strict=True)), strict=True)
    )


# ------------------------------------------------------------------------------------- libraries


@of_lists("ranx", package="ranx", drawn={"ties": False, "scales": (*SCALES, (0, 1))}, golden=8)
def _(rng, lists):
    # Without: bpref of negative levels or of topics without judged documents of both kinds, RBP of levels.
    import ranx

    rel, k, levels = pick(rng, 1, 1, 2, 3), pick(rng, 1, 3, 10, 50), levels_of(lists)
    lowest, taken, plain = f"-l{rel}", {"rel": rel}, {"rel": rel, "beta": 0}
    asked = {
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
    qrels = {topic: lists.qrels[topic] for topic in shared(lists)}
    if levels <= {0, 1}:
        asked[RBP(rel=1, p=0.8)] = "rbp.80"
        # One topic without documents of both kinds makes the other topics NaN.
        if all({0, 1} <= set(levels.values()) for levels in qrels.values()):
            asked[Bpref] = "bpref"
    run = ranx.Run({topic: lists.run[topic] for topic in qrels})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba warns of casts within ranx
        ranx.evaluate(ranx.Qrels(qrels), run, sorted(set(asked.values())))
    return by_topic(
        lists, lambda topic: {measure: run.scores[name][topic] for measure, name in asked.items()}
    )


def completed(lists: Lists) -> Lists:
    """Return lists with all judged documents, those not retrieved last, because it scores no others."""
    run = {}
    for topic in shared(lists):
        docs, below = lists.run[topic], min(lists.run[topic].values())
        missing = [doc for doc in lists.qrels[topic] if doc not in docs]
        run[topic] = docs | {doc: below - at for at, doc in enumerate(missing, start=1)}
    return Lists(lists.qrels, run, lists.as_tables)


SKLEARN = {"package": "scikit-learn", "prepare": completed}
OF_SKLEARN = {"scales": ((0, 1), (0, 1, 2, 3))}


@of_lists("scikit-learn", **SKLEARN, drawn={**OF_SKLEARN, "ties": False}, golden=8)
def _(rng, lists):
    from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, ndcg_score

    rel, k = pick(rng, 1, 2), pick(rng, 1, 5, 20)

    def values(topic):
        docs = lists.run[topic]
        levels, scores = [lists.qrels[topic].get(doc, 0) for doc in docs], list(docs.values())
        relevant, gains = [level >= rel for level in levels], [2.0**level - 1 for level in levels]
        if not any(relevant) or len(docs) < 2:
            return {}
        ap = average_precision_score(relevant, scores)
        return {
            AP(rel=rel): ap,
            Q(rel=rel, beta=0): label_ranking_average_precision_score([relevant], [scores]),
            **({GAP: ap} if rel == 1 and levels_of(lists) <= {0, 1} else {}),
            nDCG @ k: ndcg_score([levels], [scores], k=k, ignore_ties=True),
            nDCG(dcg="exp-log2") @ k: ndcg_score([gains], [scores], k=k, ignore_ties=True),
        }

    return by_topic(lists, values)


@of_lists("scikit-learn: ties", **SKLEARN, drawn=OF_SKLEARN, golden=4)
def _(rng, lists):
    # Its nDCG is the mean over the orders of tied documents by default.
    from sklearn.metrics import ndcg_score

    k = pick(rng, 1, 5, 20)

    def values(topic):
        docs = lists.run[topic]
        levels = [lists.qrels[topic].get(doc, 0) for doc in docs]
        if not any(levels) or len(docs) < 2:
            return {}
        return {with_ties(nDCG @ k, "expected"): ndcg_score([levels], [list(docs.values())], k=k)}

    return by_topic(lists, values)


# ----------------------------------------------------------------------------------- pyNTCIREVAL

#: At each rank, pyNTCIREVAL sums again from the top.
DEEPEST = 100


def the_top(lists: Lists) -> Lists:
    """Return the first documents of each ranking."""
    run = {t: {doc: docs[doc] for doc in ranked.ranking(docs)[:DEEPEST]} for t, docs in lists.run.items()}
    return Lists(lists.qrels, run, lists.as_tables)


@of_lists(
    "pyNTCIREVAL",
    package="pyNTCIREVAL",
    real=True,
    prepare=the_top,
    drawn={"scales": ((0, 1, 2, 3), (0, 1, 3)), "longest": DEEPEST},
    golden=8,
)
def _(rng, lists):
    # Without: lists without a document, topics without a relevant document or with stop weights of 0 only.
    # Gains are whole numbers, as those of nDCG must be, and rise with the level.
    k, condensed = pick(rng, 1, 3, 10, 50), bool(rng.random() < 0.4)
    gains = pick(rng, (1, 2, 3), (1, 3, 7), (1, 1, 1), (1, 10, 1000), (3, 5, 5))
    stops = pick(rng, (1, 2, 3), (1, 1, 1), (0, 0.5, 3), (2, 1, 0.25))
    beta, gamma = pick(rng, 0.0, 0.1, 1.0, 10.0, 100.0), pick(rng, 0.1, 0.5, 0.7, 0.95, 1.0)
    table, weights = (dict(enumerate(values, start=1)) for values in (gains, stops))
    plain = {"judged_only": condensed}
    graded = {"gains": table, **plain}
    blended = {**graded, "beta": beta}
    of_one = {O: metrics.OMeasure, P_measure: metrics.PMeasure, P_plus: metrics.PPlusMeasure}

    def values(topic):
        levels, ranking = lists.qrels[topic], ranked.ranking(lists.run[topic])
        labeler = Labeler(levels, is_condensed=condensed)
        labelled, n = labeler.label(ranking), labeler.compute_per_level_doc_num(4)
        if not labelled or not sum(stops[level - 1] for level in levels.values() if level > 0):
            return {}
        whole = {
            AP(**plain): metrics.AP(n, gains),
            RR(**plain): metrics.RR(),
            P(**plain) @ k: metrics.Precision(k),
            BR(beta=0, **plain) @ k: metrics.Precision(k),
            Success(**plain) @ k: metrics.Hit(k),
            nDCG(**graded) @ k: metrics.MSnDCG(n, gains, k),
            Q(**blended): metrics.QMeasure(n, gains, beta),
            Q(norm="cutoff", **blended) @ k: metrics.QMeasure(n, gains, beta, k),
            Q(beta=0, norm="cutoff", **plain) @ k: metrics.AP(n, gains, k),
            NCU(stop="gu", stops=weights, **blended): metrics.NCUguBR(n, gains, stops, beta),
            NCU(stop="gu", stops=weights, **graded, beta=0): metrics.NCUguP(n, gains, stops),
            NCU(stop="rb", gamma=gamma, **blended): metrics.NCUrbBR(n, gains, gamma, beta),
            NCU(stop="rb", gamma=gamma, **graded, beta=0): metrics.NCUrbP(n, gains, gamma),
            nERR(max_rel=3, **graded): metrics.nERR(n, gains, None),
            nERR(max_rel=3, **graded) @ k: metrics.nERR(n, gains, k),
            **{measure(**blended): metric(n, gains, beta) for measure, metric in of_one.items()},
        }
        # Metrics without a cutoff get the list cut there.
        cut = {measure(**blended) @ k: metric(n, gains, beta) for measure, metric in of_one.items()}
        shorter = Labeler(levels, truncate=k, is_condensed=condensed).label(ranking)
        return {
            measure: metric.compute(docs)
            for asked, docs in ((whole, labelled), (cut, shorter))
            for measure, metric in asked.items()
        }

    return by_topic(lists, values)
