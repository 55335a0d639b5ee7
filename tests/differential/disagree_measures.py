"""Disagreements on formulas, their normalisation and their rounding."""

import ir_measures
from differential import oracle_trec_eval
from differential.disagree_ranking import by_ranx
from differential.disagreements import Cases, by, happens, ours
from ir_measures import AP, BPM, ERR, RBP, RR, SDCG, Accuracy, Bpref, Compat, NumRet, Rprec, SetF, nDCG
from pyNTCIREVAL import Labeler, metrics
from scipy import stats

import ir_graded
from ir_graded import Q, meta, nERR

case = Cases()

PERL = None if oracle_trec_eval.has_perl() else "perl is not installed"


def by_ntcireval(metric, qrels, ranking, levels=3):
    """Return the value of pyNTCIREVAL; ``metric`` is called with the numbers of documents by level."""
    labeler = Labeler(qrels["1"])
    return happens(
        lambda: float(metric(labeler.compute_per_level_doc_num(levels + 1)).compute(labeler.label(ranking)))
    )


TWO, FIRST = {"1": {"a": 2, "b": 1}}, {"1": {"b": 2.0, "a": 1.0}}


@case("pyNTCIREVAL: Q@1 of two relevant documents")
def _():
    return ours(Q @ 1, TWO, FIRST), by_ntcireval(
        lambda n: metrics.QMeasure(n, (1, 2, 3), 1, 1), TWO, ["b", "a"]
    )


@case("pyNTCIREVAL: AP@1 of two relevant documents")
def _():
    return ours(AP @ 1, TWO, FIRST), by_ntcireval(lambda n: metrics.AP(n, (1, 2, 3), 1), TWO, ["b", "a"])


@case("pyNTCIREVAL: its nDCG")
def _():
    return ours(nDCG @ 3, TWO, FIRST), by_ntcireval(
        lambda n: metrics.nDCG(n, (1, 2, 3), 2, 3), TWO, ["b", "a"]
    )


@case("pyNTCIREVAL: its ERR")
def _():
    return ours(ERR @ 20, TWO, FIRST), by_ntcireval(lambda n: metrics.ERR(n, (1, 2, 3)), TWO, ["b", "a"])


@case("pyNTCIREVAL: nERR where no document has the highest level")
def _():
    return ours(nERR, TWO, FIRST), by_ntcireval(lambda n: metrics.nERR(n, (1, 2, 3), None), TWO, ["b", "a"])


@case("pyNTCIREVAL: nERR with gains that do not rise with the level")
def _():
    measure = nERR(gains={1: 2, 2: 1, 3: 1}, max_rel=3)
    theirs = by_ntcireval(lambda n: metrics.nERR(n, (2, 1, 1), None), TWO, ["b", "a"])
    return ours(measure, TWO, FIRST), theirs


@case("cwl_eval: AP where a relevant document is not retrieved", needs="cwl")
def _():
    return ours(AP, TWO, {"1": {"a": 1.0}}), by("cwl_eval", AP, TWO, {"1": {"a": 1.0}})


@case("cwl_eval: RR at rank 1,100", needs="cwl")
def _():
    run = {"1": {f"d{rank}": -float(rank) for rank in range(1, 1201)}}
    return ours(RR, {"1": {"d1100": 1}}, run), by("cwl_eval", RR, {"1": {"d1100": 1}}, run)


@case("cwl_eval: SDCG at rank 2,000", needs="cwl")
def _():
    docs = [f"d{rank:04}" for rank in range(2000)]
    qrels, run = {"1": dict.fromkeys(docs, 1)}, {"1": {doc: -float(n) for n, doc in enumerate(docs[:1000])}}
    measure = SDCG(max_rel=1) @ 2000
    return ours(measure, qrels, run), by("cwl_eval", measure, qrels, run)


@case("cwl_eval: BPM of ten gains of 0.1", needs="cwl")
def _():
    docs = [f"d{rank}" for rank in range(10)]
    qrels, run = {"1": dict.fromkeys(docs, 1)}, {"1": {doc: -float(n) for n, doc in enumerate(docs)}}
    measure = BPM(max_rel=10) @ 20
    return ours(measure, qrels, run), by("cwl_eval", measure, qrels, run)


@case("ir-measures: Compat of negative scores")
def _():
    qrels, run = {"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"b": -3.0, "x": -4.0}}
    measure = Compat(p=0.8)
    return ours(measure, qrels, run), by("compat", measure, qrels, run)


@case("ir-measures: Accuracy where all documents retrieved are relevant")
def _():
    return ours(Accuracy, TWO, FIRST), by("accuracy", Accuracy, TWO, FIRST)


@case("pyNTCIREVAL: RBP with p=0.999")
def _():
    qrels = {"1": {"a": 1}}
    theirs = by_ntcireval(lambda n: metrics.RBP(n, (1,), 0.999), qrels, ["a"], levels=1)
    return ours(RBP(rel=1, p=0.999), qrels, {"1": {"a": 1.0}}), theirs


@case("gdeval: ERR@20 in its digits", missing=PERL)
def _():
    qrels, run = {"1": {"a": 4, "b": 1}}, {"1": {"a": 1.0, "b": 2.0}}
    return ours(ERR @ 20, qrels, run), by("gdeval", ERR @ 20, qrels, run)


@case("trectools: Rprec of a topic beside another", needs="trectools")
def _():
    qrels, run = {"1": {"a": 1}, "2": {"a": 1, "b": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}
    values = ir_graded.evaluate(Rprec, qrels, run).matrix("Rprec")["run"]
    return float(values["1"]), by("trectools", Rprec, qrels, run)


@case("trectools: nDCG where nothing relevant is retrieved", needs="trectools")
def _():
    return ours(nDCG, TWO, {"1": {"x": 1.0}}), by("trectools", nDCG, TWO, {"1": {"x": 1.0}})


NO_OTHERS = {"1": {"a": 1}}, {"1": {"a": 1.0}}


@case("trectools: bpref where no document is judged not relevant", needs="trectools")
def _():
    return ours(Bpref, *NO_OTHERS), by("trectools", Bpref, *NO_OTHERS)


@case("ranx: bpref where no document is judged not relevant", needs="ranx")
def _():
    return ours(Bpref, *NO_OTHERS), by_ranx("bpref", *NO_OTHERS)


@case("ranx: bpref of a topic behind one without a relevant document", needs="ranx")
def _():
    qrels, run = {"0": {"a": 0}, "1": {"a": 1, "b": 0}}, {"0": {"a": 1.0}, "1": {"a": 1.0}}
    values = ir_graded.evaluate(Bpref, qrels, run).matrix("Bpref")["run"]
    return float(values["1"]), by_ranx("bpref", qrels, run)


@case("scikit-learn: F with beta=2", needs="sklearn")
def _():
    from sklearn.metrics import fbeta_score

    qrels, run = {"1": {"a": 1}}, {"1": {"a": 2.0, "x": 1.0}}
    return ours(SetF(beta=2.0), qrels, run), float(fbeta_score([1, 0], [1, 1], beta=2))


@case("scikit-learn: nDCG where a relevant document is not retrieved", needs="sklearn")
def _():
    from sklearn.metrics import ndcg_score

    run = {"1": {"a": 2.0, "x": 1.0}}
    return ours(nDCG, TWO, run), float(ndcg_score([[2, 0]], [[2.0, 1.0]]))


@case("scipy: kendalltau of tied scores")
def _():
    a, b = [1, 2, 3, 4], [1, 1, 2, 3]
    return meta.kendall_tau(a, b), float(stats.kendalltau(a, b).statistic)


@case("scipy: paired t test of identical systems")
def _():
    scores = [0.5, 0.6, 0.7]
    table = [[score, score] for score in scores]
    theirs = happens(lambda: float(stats.ttest_rel(scores, scores).pvalue))
    return float(meta.discriminative_power(table, test="t").asl.iloc[0]), theirs


CONDENSED = {"1": {"a": 1}}, {"1": {"a": 1.0, "x": 2.0}}


@case("ir-measures: NumRet beside AP(judged_only=True)")
def _():
    return ours(NumRet, *CONDENSED), by("pytrec_eval", NumRet, *CONDENSED, beside=[AP(judged_only=True)])


SWAPPED = {"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "b": 1.0}}


@case("ir-measures: nDCG beside nDCG(gains={1:5})")
def _():
    return ours(nDCG, *SWAPPED), by("pytrec_eval", nDCG, *SWAPPED, beside=[nDCG(gains={1: 5})])


@case("ir-measures: nDCG(gains={1:5}) before nDCG")
def _():
    measure = nDCG(gains={1: 5})
    found = ir_measures.providers.registry["pytrec_eval"].calc_aggregate([measure, nDCG], *SWAPPED)
    return ours(measure, *SWAPPED), float(found[measure])
