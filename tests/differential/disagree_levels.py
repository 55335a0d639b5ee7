"""Disagreements on levels: negative, high, fractional."""

from differential import oracle_trec_eval
from differential.disagree_ranking import by_ranx
from differential.disagreements import Cases, by, happens, in_pytrec_eval, ours
from ir_measures import AP, RBP, RR, Bpref, nDCG
from pyNTCIREVAL import Labeler, metrics

from ir_graded import Q

case = Cases()

PERL = None if oracle_trec_eval.has_perl() else "perl is not installed"


@case("pyNTCIREVAL: a negative level")
def _():
    qrels, run = {"1": {"a": 1, "b": -1}}, {"1": {"a": 1.0}}
    labeler = Labeler(qrels["1"])
    metric = metrics.QMeasure(labeler.compute_per_level_doc_num(4), (1, 2, 3), 1)
    return ours(Q, qrels, run), metric.compute(labeler.label(["a"]))


@case("pyNTCIREVAL: a condensed list with a negative level")
def _():
    qrels, run = {"1": {"a": 1, "b": -1}}, {"1": {"a": 1.0, "b": 2.0}}
    labelled = Labeler(qrels["1"], is_condensed=True).label(["b", "a"])
    return ours(RR(judged_only=True), qrels, run), metrics.RR().compute(labelled)


@case("ranx: a negative level in bpref", needs="ranx")
def _():
    qrels, run = {"1": {"a": 1, "b": -1}}, {"1": {"a": 1.0, "b": 2.0}}
    return ours(Bpref, qrels, run), by_ranx("bpref", qrels, run)


@case("pytrec_eval: all levels of a topic are below -1")
def _():
    qrels, run = {"1": {"a": -2}}, {"1": {"a": 1.0, "b": 2.0}}
    return ours(AP, qrels, run), in_pytrec_eval(qrels, run, ("recip_rank", "map", "ndcg", "bpref"))


@case("pytrec_eval: a level for which memory is lacking")
def _():
    qrels, run = {"1": {"a": 10**17}}, {"1": {"a": 1.0, "b": 2.0}}
    return ours(AP, qrels, run), by("pytrec_eval", AP, qrels, run)


@case("pytrec_eval: a level that is not a whole number")
def _():
    qrels, run = {"1": {"a": 0.5}}, {"1": {"a": 1.0, "b": 2.0}}
    return ours(nDCG, qrels, run), by("pytrec_eval", nDCG, qrels, run)


@case("gdeval: level 5 in nDCG", missing=PERL)
def _():
    qrels, run = {"1": {"a": 5, "b": 1}}, {"1": {"a": 1.0, "b": 2.0}}
    measure = nDCG(dcg="exp-log2") @ 20
    return ours(measure, qrels, run), by("gdeval", measure, qrels, run)


GRADED, LIST = {"1": {"a": 2, "b": 1}}, {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}


@case("ranx: RBP of graded levels", needs="ranx")
def _():
    return ours(RBP(rel=1, p=0.8), GRADED, LIST), by_ranx("rbp.80", GRADED, LIST)


@case("pyNTCIREVAL: RBP of graded levels")
def _():
    labeler = Labeler(GRADED["1"])
    metric = metrics.RBP(labeler.compute_per_level_doc_num(3), (1, 2), 0.8)
    return ours(RBP(rel=1, p=0.8), GRADED, LIST), metric.compute(labeler.label(["x", "a", "b"]))


@case("trec_eval 10: RBP of graded levels", missing=oracle_trec_eval.ORACLE.missing)
def _():
    return ours(RBP(rel=1, p=0.8), GRADED, LIST), oracle_trec_eval.score("rbp.p=0.8", GRADED, LIST)


@case("scikit-learn: a negative level", needs="sklearn")
def _():
    from sklearn.metrics import ndcg_score

    qrels, run = {"1": {"a": 1, "b": -1}}, {"1": {"a": 1.0, "b": 2.0}}
    return ours(nDCG, qrels, run), happens(lambda: ndcg_score([[1, -1]], [[1.0, 2.0]]))
