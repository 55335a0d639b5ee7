"""Disagreements on the order of documents."""

import math

import pandas as pd
from differential import oracle_trec_eval
from differential.disagreements import Cases, by, happens, ours
from ir_measures import RR, Judged, nDCG

case = Cases()
PERL = None if oracle_trec_eval.has_perl() else "perl is not installed"

FIRST = {"1": {"a": 1}}
NEAR = {"1": {"a": 1.000000001, "b": 1.0}}
TIED = {"1": {"a": 1.0, "b": 1.0}}


def by_ranx(name, qrels, run):
    """Return the score of topic 1 by ranx."""
    import ranx

    def score():
        made = ranx.Run(run)
        ranx.evaluate(ranx.Qrels(qrels), made, name)
        return float(made.scores[name]["1"])

    return happens(score)


@case("pytrec_eval: scores that differ as 64-bit numbers only")
def _():
    return ours(RR, FIRST, NEAR), by("pytrec_eval", RR, FIRST, NEAR)


@case("MS MARCO's script: documents that tie")
def _():
    return ours(RR @ 10, FIRST, TIED), by("msmarco", RR @ 10, FIRST, TIED)


@case("Judged of ir-measures: documents that tie")
def _():
    return ours(Judged @ 1, FIRST, TIED), by("judged", Judged @ 1, FIRST, TIED)


@case("ranx: documents that tie", needs="ranx")
def _():
    return ours(RR, FIRST, TIED), by_ranx("mrr", FIRST, TIED)


@case("cwl_eval: documents that tie", needs="cwl")
def _():
    return ours(RR, FIRST, TIED), by("cwl_eval", RR, FIRST, TIED)


@case("trectools: documents that tie", needs="trectools")
def _():
    return ours(RR, FIRST, TIED), by("trectools", RR, FIRST, TIED)


@case("scikit-learn: documents that tie", needs="sklearn")
def _():
    from sklearn.metrics import ndcg_score

    return ours(nDCG, FIRST, TIED), float(ndcg_score([[1, 0]], [[1.0, 1.0]]))


@case("pytrec_eval: a score is NaN")
def _():
    run = {"1": {"a": math.nan, "b": 1.0}}
    return ours(RR, FIRST, run), by("pytrec_eval", RR, FIRST, run)


@case("pytrec_eval: a table has a document twice")
def _():
    rows = [("1", "a", 3.0), ("1", "b", 2.0), ("1", "a", 1.0)]
    run = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return ours(RR, FIRST, run), by("pytrec_eval", RR, FIRST, run)
