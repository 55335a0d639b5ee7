"""Known disagreements with other programs, by their words on the documentation page: input and our value."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

import ir_graded
from ir_graded import meta


@dataclass(frozen=True)
class Case:
    """The input of a disagreement about a measure.

    Attributes:
        measure: the measure, as text.
        qrels: level by topic and document, or a table.
        run: score by topic and document, or a table.
        topic: the topic that is scored; None for the mean.
        intents: probabilities of intents.
    """

    measure: str
    qrels: Any
    run: Any
    topic: str | None = None
    intents: dict | None = None

    def __call__(self) -> float | str:
        """Return the package's score, or the name of the error."""

        def score():
            found = ir_graded.evaluate(self.measure, self.qrels, self.run, intents=self.intents)
            at = found.query_ids.index(self.topic) if self.topic else 0
            return float(found.values[0, 0, at] if self.topic else found.mean().iloc[0, 0])

        return happens(score)


def happens(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the name of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:  # other programs raise errors of any type
            return type(error).__name__


def table(*rows, **columns):
    """Return the qrels of topic 1 by intent or class."""
    return pd.DataFrame(rows, columns=["doc_id", "relevance", *columns]).assign(query_id="1")


def ranked(*docs):
    """Return the run of topic 1."""
    return {"1": {doc: float(-rank) for rank, doc in enumerate(docs)}}


FIRST, TWO, GRADED = {"1": {"a": 1}}, {"1": {"a": 2, "b": 1}}, {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}
NEAR, TIED = {"1": {"a": 1.000000001, "b": 1.0}}, {"1": {"a": 1.0, "b": 1.0}}
FOUND, SWAPPED = {"1": {"a": 1.0}}, {"1": {"b": 2.0, "a": 1.0}}
BELOW = {"1": {"a": 1.0, "b": 2.0}}
NEGATIVE = {"1": {"a": 1, "b": -1}}
TWICE = pd.DataFrame(
    [("1", "a", 3.0), ("1", "b", 2.0), ("1", "a", 1.0)], columns=["query_id", "doc_id", "score"]
)
MANY = [f"d{rank:04}" for rank in range(2000)]
LACKING = {"1": {"a": 1}, "2": {"a": 1}}
TIED_VALUES = [1, 2, 3, 4], [1, 1, 2, 3]
IDENTICAL = [0.5, 0.6, 0.7]
SURROGATE = {"1": {"\ud800": 1}}, {"1": {"x": 2.0, "\ud800": 1.0}}
THIRDS = table(("a", 1, "x"), ("b", 1, "y"), ("c", 1, "z"), iteration=None)
INTENTS = table(("a", 1, "x"), ("b", 1, "y"), iteration=None)
ONE_CLASS = table(("n", 0, 1), ("a", 1, 1), equivalence_class=None)
CLASSES = table(("a", 1, 1), ("n", 0, 2), equivalence_class=None)


def t_test():
    """Return the p-value of the paired t test of identical systems."""
    return float(meta.discriminative_power([[one, one] for one in IDENTICAL], test="t").asl.iloc[0])


CASES: dict[str, Callable[[], float | str]] = {
    # The order of documents
    "pytrec_eval: scores that differ as 64-bit numbers only": Case("RR", FIRST, NEAR),
    "MS MARCO's script: documents that tie": Case("RR@10", FIRST, TIED),
    "Judged of ir-measures: documents that tie": Case("Judged@1", FIRST, TIED),
    "ranx: documents that tie": Case("RR", FIRST, TIED),
    "cwl_eval: documents that tie": Case("RR", FIRST, TIED),
    "trectools: documents that tie": Case("RR", FIRST, TIED),
    "scikit-learn: documents that tie": Case("nDCG", FIRST, TIED),
    "pytrec_eval: a score is NaN": Case("RR", FIRST, {"1": {"a": math.nan, "b": 1.0}}),
    "pytrec_eval: a table has a document twice": Case("RR", FIRST, TWICE),
    # Levels
    "pyNTCIREVAL: a negative level": Case("Q", NEGATIVE, FOUND),
    "pyNTCIREVAL: a condensed list with a negative level": Case("RR(judged_only=True)", NEGATIVE, BELOW),
    "ranx: a negative level in bpref": Case("Bpref", NEGATIVE, BELOW),
    "pytrec_eval: all levels of a topic are below -1": Case("AP", {"1": {"a": -2}}, BELOW),
    "pytrec_eval: a level for which memory is lacking": Case("AP", {"1": {"a": 10**17}}, BELOW),
    "pytrec_eval: a level that is not a whole number": Case("nDCG", {"1": {"a": 0.5}}, BELOW),
    "gdeval: level 5 in nDCG": Case("nDCG(dcg='exp-log2')@20", {"1": {"a": 5, "b": 1}}, BELOW),
    "ranx: RBP of graded levels": Case("RBP(rel=1,p=0.8)", TWO, GRADED),
    "pyNTCIREVAL: RBP of graded levels": Case("RBP(rel=1,p=0.8)", TWO, GRADED),
    "trec_eval 10: RBP of graded levels": Case("RBP(rel=1,p=0.8)", TWO, GRADED),
    "scikit-learn: a negative level": Case("nDCG", NEGATIVE, BELOW),
    # Formulas
    "pyNTCIREVAL: Q@1 of two relevant documents": Case("Q@1", TWO, SWAPPED),
    "pyNTCIREVAL: AP@1 of two relevant documents": Case("AP@1", TWO, SWAPPED),
    "pyNTCIREVAL: its nDCG": Case("nDCG@3", TWO, SWAPPED),
    "pyNTCIREVAL: its ERR": Case("ERR@20", TWO, SWAPPED),
    "pyNTCIREVAL: nERR where no document has the highest level": Case("nERR", TWO, SWAPPED),
    "pyNTCIREVAL: nERR with gains that do not rise with the level": Case(
        "nERR(gains={1:2,2:1,3:1},max_rel=3)", TWO, SWAPPED
    ),
    "cwl_eval: AP where a relevant document is not retrieved": Case("AP", TWO, FOUND),
    "cwl_eval: RR at rank 1,100": Case("RR", {"1": {MANY[1099]: 1}}, ranked(*MANY[:1200])),
    "cwl_eval: SDCG at rank 2,000": Case(
        "SDCG(max_rel=1)@2000", {"1": dict.fromkeys(MANY, 1)}, ranked(*MANY[:1000])
    ),
    "cwl_eval: BPM of ten gains of 0.1": Case(
        "BPM(max_rel=10)@20", {"1": dict.fromkeys(MANY[:10], 1)}, ranked(*MANY[:10])
    ),
    "ir-measures: Compat of negative scores": Case(
        "Compat(p=0.8)", {"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"b": -3.0, "x": -4.0}}
    ),
    "ir-measures: Accuracy where all documents retrieved are relevant": Case("Accuracy", TWO, SWAPPED),
    "pyNTCIREVAL: RBP with p=0.999": Case("RBP(rel=1,p=0.999)", FIRST, FOUND),
    "gdeval: ERR@20 in its digits": Case("ERR@20", {"1": {"a": 4, "b": 1}}, BELOW),
    "trectools: Rprec of a topic beside another": Case(
        "Rprec", {"1": {"a": 1}, "2": {"a": 1, "b": 1}}, {**FOUND, "2": {"a": 1.0}}, "1"
    ),
    "trectools: nDCG where nothing relevant is retrieved": Case("nDCG", TWO, ranked("x")),
    "trectools: bpref where no document is judged not relevant": Case("Bpref", FIRST, FOUND),
    "ranx: bpref where no document is judged not relevant": Case("Bpref", FIRST, FOUND),
    "ranx: bpref of a topic behind one without a relevant document": Case(
        "Bpref", {"0": {"a": 0}, "1": {"a": 1, "b": 0}}, {"0": {"a": 1.0}, **FOUND}, "1"
    ),
    "scikit-learn: F with beta=2": Case("SetF(beta=2.0)", FIRST, ranked("a", "x")),
    "scikit-learn: nDCG where a relevant document is not retrieved": Case("nDCG", TWO, ranked("a", "x")),
    "scipy: kendalltau of tied scores": lambda: meta.kendall_tau(*TIED_VALUES),
    "scipy: paired t test of identical systems": t_test,
    # Intents, classes and NTCIREVAL's program
    "ntcir_eval: nDCG of an ideal list whose gains are thirds": Case(
        "D-nDCG@3", THIRDS, ranked(*"abc"), intents={"1": dict.fromkeys("xyz", 1 / 3)}
    ),
    "ntcir_eval: I-rec with an intent that the probabilities lack": Case(
        "I-rec@1", INTENTS, FOUND, intents={"1": {"x": 1}}
    ),
    "ntcir_eval: a nonrelevant document and a relevant one in one class": Case(
        "EC(measure='AP')", ONE_CLASS, ranked("n", "a")
    ),
    "ntcir_eval: classes of a condensed list": Case(
        "EC(measure='AP(judged_only=True)')", CLASSES, ranked("x", "n", "a")
    ),
    "ntcir_eval: NCUrb,P@2 of two relevant documents at ranks 1 and 2": Case(
        "NCU(stop='rb',gamma=0.5,beta=0,norm='cutoff')@2", {"1": {"a": 1, "b": 1}}, ranked("a", "b")
    ),
    "ntcir_eval: ERR where no document has the highest level": Case(
        "NCU(stop='err',utility='rr')", {"1": {"a": 2}}, FOUND
    ),
    "ntcir_eval: nDCG with the natural logarithm, one of two relevant documents at rank 2": Case(
        "nDCG-JK(b=0)@10", {"1": {"a": 1, "b": 1}}, ranked("x", "a")
    ),
    "ntcir_eval: a topic without a relevant document": Case("P-measure", {"1": {"n": 0}}, ranked("n")),
    "ntcir_eval: ten cutoffs in one call": Case("P@10", FIRST, FOUND),
    # Topics
    "pyNTCIREVAL: a topic without a relevant document": Case("Q", {"1": {"a": 0}}, FOUND),
    "pytrec_eval: mean where the run lacks a topic": Case("AP", LACKING, FOUND),
    "trec_eval 10: the run lacks a topic": Case("AP", LACKING, FOUND),
    # trec_eval 10.0-rc3 crashes if the last line of the qrels is a comment.
    "trec_eval 10: a topic called #1": Case("nDCG", {"#1": {"a": 1}, **FIRST}, {"#1": {"x": 1.0}, **FOUND}),
    "ranx: the run lacks a topic": Case("AP", LACKING, FOUND),
    "trectools: the run lacks a topic": Case("AP", LACKING, FOUND),
    "trec_eval 10 -c: number of relevant documents where the run lacks a topic": Case(
        "NumRel", LACKING, FOUND
    ),
    "Judged of ir-measures: a topic of the run is empty": Case(
        "Judged", LACKING, {"1": {}, "2": {"a": 1.0}}, "1"
    ),
    "gdeval: mean where a topic has no relevant document": Case(
        "ERR@20", {**FIRST, "2": {"b": 0}}, {**FOUND, "2": {"b": 1.0}}
    ),
    "gdeval: mean where the run lacks a topic": Case("ERR@20", LACKING, FOUND),
    "gdeval: topics a-1 and b-1": Case(
        "ERR@20", {"a-1": {"d": 1}, "b-1": {"e": 1}}, {"a-1": {"d": 1.0}, "b-1": {"x": 2.0, "e": 1.0}}, "a-1"
    ),
    "pytrec_eval: a topic's name is a number": Case(
        "AP", pd.DataFrame([(1, "a", 1)], columns=["query_id", "doc_id", "relevance"]), FOUND
    ),
    "pytrec_eval: a topic called no_query": Case(
        "RR",
        {"1": {"b": 1}, "no_query": {"a": 1}},
        {"1": {"b": 1.0}, "no_query": {"x": 2.0, "a": 1.0}},
        "no_query",
    ),
    "pytrec_eval: an id that UTF-8 cannot encode": Case("RR", *SURROGATE),
    "pytrec_eval: ids that differ behind a NUL character": Case(
        "AP", {"1": {"a": 1, "a\0b": 1}}, ranked("a", "a\0b")
    ),
    # Measures of one call
    "ir-measures: NumRet beside AP(judged_only=True)": Case("NumRet", FIRST, ranked("x", "a")),
    "ir-measures: nDCG beside nDCG(gains={1:5})": Case("nDCG", {"1": {"a": 1, "b": 2}}, ranked("a", "b")),
    "ir-measures: nDCG(gains={1:5}) before nDCG": Case(
        "nDCG(gains={1:5})", {"1": {"a": 1, "b": 2}}, ranked("a", "b")
    ),
}
