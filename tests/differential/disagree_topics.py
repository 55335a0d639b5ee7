"""Disagreements on topics: without relevant documents, on one side only, and their names."""

from statistics import fmean

import ir_measures
import pandas as pd
import pytrec_eval
from differential import oracle_trec_eval
from differential.disagree_measures import by_ntcireval
from differential.disagree_ranking import by_ranx
from differential.disagreements import Cases, by, happens, in_pytrec_eval, ours
from ir_measures import AP, ERR, RR, Judged, NumRel, nDCG
from pyNTCIREVAL import metrics

import ir_graded
from ir_graded import Q

case = Cases()

PERL = None if oracle_trec_eval.has_perl() else "perl is not installed"
NOTHING = {"1": {"a": 0}}, {"1": {"a": 1.0}}
LACKING = {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}}


def mean(measure, qrels, run):
    """Return the package's mean."""
    return float(ir_graded.evaluate(measure, qrels, run).mean().iloc[0, 0])


@case("pyNTCIREVAL: a topic without a relevant document")
def _():
    return ours(Q, *NOTHING), by_ntcireval(lambda n: metrics.nERR(n, (1, 2, 3), None), NOTHING[0], ["a"])


@case("pytrec_eval: mean where the run lacks a topic")
def _():
    found = pytrec_eval.RelevanceEvaluator(LACKING[0], {"map"}).evaluate(LACKING[1])
    return mean(AP, *LACKING), pytrec_eval.compute_aggregated_measure(
        "map", [v["map"] for v in found.values()]
    )


@case("trec_eval 10: the run lacks a topic", missing=oracle_trec_eval.ORACLE.missing)
def _():
    return mean(AP, *LACKING), oracle_trec_eval.score("map", *LACKING, complete=False)


@case("ranx: the run lacks a topic", needs="ranx")
def _():
    return mean(AP, *LACKING), by_ranx("map", *LACKING)


@case("trectools: the run lacks a topic", needs="trectools")
def _():
    return mean(AP, *LACKING), happens(
        lambda: float(ir_measures.providers.registry["trectools"].calc_aggregate([AP], *LACKING)[AP])
    )


@case(
    "trec_eval 10 -c: number of relevant documents where the run lacks a topic",
    missing=oracle_trec_eval.ORACLE.missing,
)
def _():
    return mean(NumRel, *LACKING), oracle_trec_eval.score("num_rel", *LACKING)


@case("trec_eval 10: a topic called #1", missing=oracle_trec_eval.ORACLE.missing)
def _():
    # trec_eval 10.0-rc3 crashes if the last line of the qrels is a comment.
    qrels, run = {"#1": {"a": 1}, "1": {"a": 1}}, {"#1": {"x": 1.0}, "1": {"a": 1.0}}
    return mean(nDCG, qrels, run), oracle_trec_eval.score("ndcg", qrels, run)


@case("Judged of ir-measures: a topic of the run is empty")
def _():
    qrels, run = {"1": {"a": 1}}, {"1": {}, "2": {"a": 1.0}}
    qrels |= {"2": {"a": 1}}
    return float(ir_graded.evaluate(Judged, qrels, run).matrix("Judged")["run"]["1"]), by(
        "judged", Judged, qrels, run
    )


def gdeval_mean(qrels, run):
    """Return the mean ERR@20 of the topics that gdeval prints: the copy in ir-measures prints no means."""
    evaluator = ir_measures.providers.registry["gdeval"].evaluator([ERR @ 20], qrels)
    # iter_calc would add a zero for each of the other topics.
    return fmean(metric.value for metric in evaluator._iter_calc(run))


@case("gdeval: mean where a topic has no relevant document", missing=PERL)
def _():
    qrels, run = {"1": {"a": 1}, "2": {"b": 0}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}
    return mean(ERR @ 20, qrels, run), gdeval_mean(qrels, run)


@case("gdeval: mean where the run lacks a topic", missing=PERL)
def _():
    return mean(ERR @ 20, *LACKING), gdeval_mean(*LACKING)


@case("gdeval: topics a-1 and b-1", missing=PERL)
def _():
    qrels, run = {"a-1": {"d": 1}, "b-1": {"e": 1}}, {"a-1": {"d": 1.0}, "b-1": {"x": 2.0, "e": 1.0}}
    values = ir_graded.evaluate(ERR @ 20, qrels, run).matrix("ERR@20")["run"]
    return float(values["a-1"]), by("gdeval", ERR @ 20, qrels, run)


@case("pytrec_eval: a topic's name is a number")
def _():
    qrels = pd.DataFrame([(1, "a", 1)], columns=["query_id", "doc_id", "relevance"])
    run = {"1": {"a": 1.0}}
    return ours(AP, qrels, run), by("pytrec_eval", AP, qrels, run)


@case("pytrec_eval: a topic called no_query")
def _():
    docs, ranking = {"a": 1}, {"x": 2.0, "a": 1.0}
    qrels, run = {"1": {"b": 1}, "no_query": docs}, {"1": {"b": 1.0}, "no_query": ranking}
    _, found = in_pytrec_eval(qrels, run).split()
    return ours(RR, {"no_query": docs}, {"no_query": ranking}), "another number" if found != "0.5" else found


@case("pytrec_eval: an id that UTF-8 cannot encode")
def _():
    qrels, run = {"1": {"\ud800": 1}}, {"1": {"x": 2.0, "\ud800": 1.0}}
    return ours(RR, qrels, run), in_pytrec_eval(qrels, run)


@case("pytrec_eval: ids that differ behind a NUL character")
def _():
    qrels, run = {"1": {"a": 1, "a\0b": 1}}, {"1": {"a": 2.0, "a\0b": 1.0}}
    return ours(AP, qrels, run), by("pytrec_eval", AP, qrels, run)
