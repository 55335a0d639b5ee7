"""Disagreements with the program ntcir_eval: intents, classes, and the output of compute."""

import tempfile
from pathlib import Path

import ir_measures
from differential import oracle_ntcir_eval as program
from differential.disagreements import Cases, happens, ours

import ir_graded
from ir_graded import EC, NCU, D, I_rec, P_measure, nDCG_JK

case = Cases()

MISSING = program.ORACLE.missing
NOTHING = "no score"


def labelled(judged, ranking, name, *options, ec=False):
    """Return the output of label and compute for a name; ``judged``: documents, levels, perhaps classes."""
    with tempfile.TemporaryDirectory() as folder:
        path = program.written(Path(folder), "judged", judged)
        classes = ["-ec"] * ec
        lines = program.called([[doc] for doc in ranking], "label", *classes, "-r", path)
        try:
            found = program.called(lines, "compute", *classes, "-r", path, "-g", "1:2:3", *options)
        except RuntimeError:  # a message on stderr, although the exit status is 0
            return NOTHING
    return program.printed(found).get(name, NOTHING)


def qrels(*rows, **columns):
    """Return the qrels of topic 1 by intent or class, in the form of the package."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["doc_id", "relevance", *columns])
    return frame.assign(query_id="1")


def run(*ranking):
    return {"1": {doc: float(-rank) for rank, doc in enumerate(ranking)}}


@case("ntcir_eval: nDCG of an ideal list whose gains are thirds", missing=MISSING)
def _():
    judged = qrels(("a", 1, "x"), ("b", 1, "y"), ("c", 1, "z"), iteration=None)
    measure, docs = D(measure="nDCG") @ 3, "abc"
    with tempfile.TemporaryDirectory() as folder:
        # Its scripts write six significant digits, but glabel writes four decimals.
        ideal = program.written(Path(folder), "ideal", [[doc, f"{1 / 3:g}"] for doc in docs])
        lines = [[doc, f"{1 / 3:.4f}"] for doc in docs]
        found = program.printed(program.called(lines, "gcompute", "-I", ideal, "-cutoffs", 3))
    given = {"1": {"x": 1 / 3, "y": 1 / 3, "z": 1 / 3}}
    score = ir_graded.evaluate(measure, judged, run(*docs), intents=given)
    return score.values.item(), found["MSnDCG@3"]


@case("ntcir_eval: I-rec with an intent that the probabilities lack", missing=MISSING)
def _():
    judged = qrels(("a", 1, "x"), ("b", 1, "y"), iteration=None)

    def score():
        return ir_graded.evaluate(I_rec @ 1, judged, run("a"), intents={"1": {"x": 1}}).values.item()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [program.written(folder, doc, [[doc]]) for doc in "ab"]
        ranking = program.written(folder, "run", [["a"]])
        found = program.printed(program.called([], "irec", "-cutoffs", 1, ranking, *files))
    return happens(score), found["I-rec@1"]


@case("ntcir_eval: a nonrelevant document and a relevant one in one class", missing=MISSING)
def _():
    measure = EC(measure="AP")
    judged = qrels(("n", 0, 1), ("a", 1, 1), equivalence_class=None)
    rows = [["n", "L0", 1], ["a", "L1", 1]]
    return ours(measure, judged, run("n", "a")), labelled(rows, "na", "AP", ec=True)


@case("ntcir_eval: classes of a condensed list", missing=MISSING)
def _():
    measure = EC(measure="AP(judged_only=True)")
    judged = qrels(("a", 1, 1), ("n", 0, 2), equivalence_class=None)
    rows = [["a", "L1", 1], ["n", "L0", 2]]
    return ours(measure, judged, run("x", "n", "a")), labelled(rows, "na", "AP", "-j", ec=True)


@case("ntcir_eval: NCUrb,P@2 of two relevant documents at ranks 1 and 2", missing=MISSING)
def _():
    measure = NCU(stop="rb", gamma=0.5, beta=0, norm="cutoff") @ 2
    rows = [["a", "L1"], ["b", "L1"]]
    theirs = labelled(rows, "ab", "NCUrb,P@2", "-gamma", 0.5, "-cutoffs", 2)
    return ours(measure, {"1": {"a": 1, "b": 1}}, run("a", "b")), theirs


@case("ntcir_eval: ERR where no document has the highest level", missing=MISSING)
def _():
    measure = NCU(stop="err", utility="rr")
    return ours(measure, {"1": {"a": 2}}, run("a")), labelled([["a", "L2"]], "a", "ERR")


@case("ntcir_eval: nDCG with the natural logarithm, one of two relevant documents at rank 2", missing=MISSING)
def _():
    rows = [["a", "L1"], ["b", "L1"]]
    theirs = labelled(rows, "xa", "nDCG@10", "-logb", 0, "-cutoffs", 10)
    return happens(lambda: str(nDCG_JK(b=0) @ 10)), theirs


@case("ntcir_eval: a topic without a relevant document", missing=MISSING)
def _():
    return ours(P_measure, {"1": {"n": 0}}, run("n")), labelled([["n", "L0"]], "n", "P-measure")


@case("ntcir_eval: ten cutoffs in one call", missing=MISSING)
def _():
    measure = ir_measures.parse_measure("P@10")
    cutoffs = ",".join(map(str, range(1, 11)))
    return ours(measure, {"1": {"a": 1}}, run("a")), labelled(
        [["a", "L1"]], "a", "Prec@10", "-cutoffs", cutoffs
    )
