"""Known disagreements: compute the value of the other program for each row of the documentation page.

``python benchmarks/agreement/disagreements.py`` prints the rows with another value than on the page, and
those whose program is not installed. It exits with code 1 if a value is another one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import ir_measures
import pytrec_eval
from differential.disagreements import CASES, IDENTICAL, TIED_VALUES, Case, happens
from differential.test_disagreements import TABLES, as_printed
from ir_measures import AP, nDCG, parse_measure
from pyNTCIREVAL import Labeler, metrics
from scipy import stats

from benchmarks.agreement import lists, ntcir_eval
from benchmarks.agreement.oracles import ORACLES


def by(provider, beside=()) -> Callable:
    """Return a function for the score by a provider of ir-measures, in one call with other measures."""

    def score(case):
        asked = parse_measure(case.measure)
        found = ir_measures.providers.registry[provider].iter_calc([*beside, asked], case.qrels, case.run)
        return next(
            float(one.value) for one in found if one.measure == asked and one.query_id == (case.topic or "1")
        )

    return score


def mean_by(provider, *measures) -> Callable:
    """Return a function for the mean of the first measure by a provider of ir-measures."""
    return lambda case: float(
        ir_measures.providers.registry[provider].calc_aggregate([*measures], case.qrels, case.run)[
            measures[0]
        ]
    )


def by_ranx(name) -> Callable:
    """Return a function for the score by ranx."""

    def score(case):
        import ranx

        made = ranx.Run(case.run)
        ranx.evaluate(ranx.Qrels(case.qrels), made, name)
        return float(made.scores[name]["1"])

    return score


def by_sklearn(name, *arguments, **options) -> Callable:
    """Return a function for the value of a metric of scikit-learn."""

    def score(_):
        from sklearn import metrics as sklearn_metrics

        return float(getattr(sklearn_metrics, name)(*arguments, **options))

    return score


def by_ntcireval(metric, levels=3, *, condensed=False) -> Callable:
    """Return a function for the value of pyNTCIREVAL; a metric is made from numbers of documents by level."""

    def score(case):
        labeler = Labeler(case.qrels["1"], is_condensed=condensed)
        docs = sorted(case.run["1"], key=case.run["1"].get, reverse=True)
        return float(metric(labeler.compute_per_level_doc_num(levels + 1)).compute(labeler.label(docs)))

    return score


def by_trec_eval(name, *options) -> Callable:
    """Return a function for the mean that the program prints, or for its exit code."""

    def score(case):
        done = lists.trec_eval(case.qrels, case.run, [name], *options)
        return float(done.stdout.split()[-1]) if done.returncode == 0 else f"exit code {done.returncode}"

    return score


def in_pytrec_eval(*measures) -> Callable:
    """Return a function that scores topics one by one in a process, for its output, or that it crashes."""

    def score(case):
        code = (
            "import pytrec_eval\n"
            f"for topic, docs in {case.qrels!a}.items():\n"
            f"    evaluator = pytrec_eval.RelevanceEvaluator({{topic: docs}}, {set(measures)})\n"
            f"    print(evaluator.evaluate({{topic: {case.run!a}[topic]}})[topic]['recip_rank'])\n"
        )
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
        return done.stdout if done.returncode in (0, 1) else "the process crashes"

    return score


def another_number(case):
    """Return whether pytrec_eval gives the last topic another value than 0.5."""
    found = in_pytrec_eval("recip_rank")(case).split()[-1]
    return "another number" if found != "0.5" else found


def pytrec_eval_mean(case):
    found = pytrec_eval.RelevanceEvaluator(case.qrels, {"map"}).evaluate(case.run)
    return pytrec_eval.compute_aggregated_measure("map", [values["map"] for values in found.values()])


def gdeval_mean(case):
    """Return the mean of the topics that gdeval prints: the copy in ir-measures prints no means."""
    evaluator = ir_measures.providers.registry["gdeval"].evaluator([parse_measure(case.measure)], case.qrels)
    # iter_calc would add a zero for each of the other topics.
    return fmean(metric.value for metric in evaluator._iter_calc(case.run))


NOTHING = "no score"


def by_ntcir_eval(name, *options, column=None) -> Callable:
    """Return a function for a value of label and compute; with a column of classes, of those with -ec."""

    def score(case):
        rows = case.qrels.to_dict("list") if column else None
        docs = (
            case.qrels["1"].items() if rows is None else zip(rows["doc_id"], rows["relevance"], strict=True)
        )
        judged = [[doc, f"L{level}"] for doc, level in docs]
        if rows:
            judged = [[*line, of_class] for line, of_class in zip(judged, rows[column], strict=True)]
        ranking = [doc for doc in case.run["1"] if not rows or doc in rows["doc_id"]]
        classes = ["-ec"] * bool(column)
        lines = ntcir_eval.called([[doc] for doc in ranking], "label", *classes, "-r", judged)
        try:
            found = ntcir_eval.called(lines, "compute", *classes, "-r", judged, "-g", "1:2:3", *options)
        except RuntimeError:  # a message on stderr, although the exit status is 0
            return NOTHING
        return ntcir_eval.printed(found).get(name, NOTHING)

    return score


def of_thirds(_):
    """Return the value of gains with six digits, as its scripts write, and with four decimals, as glabel."""
    ideal, lines = ([[doc, gain] for doc in "abc"] for gain in (f"{1 / 3:g}", f"{1 / 3:.4f}"))
    return ntcir_eval.printed(ntcir_eval.called(lines, "gcompute", "-I", ideal, "-cutoffs", 3))["MSnDCG@3"]


def of_two_intents(_):
    return ntcir_eval.printed(ntcir_eval.called([], "irec", "-cutoffs", 1, [["a"]], [["a"]], [["b"]]))[
        "I-rec@1"
    ]


GAINS = (1, 2, 3)
THERE: dict[str, Callable[[Case], float | str]] = {
    "pytrec_eval: scores that differ as 64-bit numbers only": by("pytrec_eval"),
    "MS MARCO's script: documents that tie": by("msmarco"),
    "Judged of ir-measures: documents that tie": by("judged"),
    "ranx: documents that tie": by_ranx("mrr"),
    "cwl_eval: documents that tie": by("cwl_eval"),
    "trectools: documents that tie": by("trectools"),
    "scikit-learn: documents that tie": by_sklearn("ndcg_score", [[1, 0]], [[1.0, 1.0]]),
    "pytrec_eval: a score is NaN": by("pytrec_eval"),
    "pytrec_eval: a table has a document twice": by("pytrec_eval"),
    "pyNTCIREVAL: a negative level": by_ntcireval(lambda n: metrics.QMeasure(n, GAINS, 1)),
    "pyNTCIREVAL: a condensed list with a negative level": by_ntcireval(
        lambda _: metrics.RR(), condensed=True
    ),
    "ranx: a negative level in bpref": by_ranx("bpref"),
    "pytrec_eval: all levels of a topic are below -1": in_pytrec_eval("recip_rank", "map", "ndcg", "bpref"),
    "pytrec_eval: a level for which memory is lacking": by("pytrec_eval"),
    "pytrec_eval: a level that is not a whole number": by("pytrec_eval"),
    "gdeval: level 5 in nDCG": by("gdeval"),
    "ranx: RBP of graded levels": by_ranx("rbp.80"),
    "pyNTCIREVAL: RBP of graded levels": by_ntcireval(lambda n: metrics.RBP(n, (1, 2), 0.8), 2),
    "trec_eval 10: RBP of graded levels": by_trec_eval("rbp.p=0.8", "-c"),
    "scikit-learn: a negative level": by_sklearn("ndcg_score", [[1, -1]], [[1.0, 2.0]]),
    "pyNTCIREVAL: Q@1 of two relevant documents": by_ntcireval(lambda n: metrics.QMeasure(n, GAINS, 1, 1)),
    "pyNTCIREVAL: AP@1 of two relevant documents": by_ntcireval(lambda n: metrics.AP(n, GAINS, 1)),
    "pyNTCIREVAL: its nDCG": by_ntcireval(lambda n: metrics.nDCG(n, GAINS, 2, 3)),
    "pyNTCIREVAL: its ERR": by_ntcireval(lambda n: metrics.ERR(n, GAINS)),
    "pyNTCIREVAL: nERR where no document has the highest level": by_ntcireval(
        lambda n: metrics.nERR(n, GAINS, None)
    ),
    "pyNTCIREVAL: nERR with gains that do not rise with the level": by_ntcireval(
        lambda n: metrics.nERR(n, (2, 1, 1), None)
    ),
    "cwl_eval: AP where a relevant document is not retrieved": by("cwl_eval"),
    "cwl_eval: RR at rank 1,100": by("cwl_eval"),
    "cwl_eval: SDCG at rank 2,000": by("cwl_eval"),
    "cwl_eval: BPM of ten gains of 0.1": by("cwl_eval"),
    "ir-measures: Compat of negative scores": by("compat"),
    "ir-measures: Accuracy where all documents retrieved are relevant": by("accuracy"),
    "pyNTCIREVAL: RBP with p=0.999": by_ntcireval(lambda n: metrics.RBP(n, (1,), 0.999), 1),
    "gdeval: ERR@20 in its digits": by("gdeval"),
    "trectools: Rprec of a topic beside another": by("trectools"),
    "trectools: nDCG where nothing relevant is retrieved": by("trectools"),
    "trectools: bpref where no document is judged not relevant": by("trectools"),
    "ranx: bpref where no document is judged not relevant": by_ranx("bpref"),
    "ranx: bpref of a topic behind one without a relevant document": by_ranx("bpref"),
    "scikit-learn: F with beta=2": by_sklearn("fbeta_score", [1, 0], [1, 1], beta=2),
    "scikit-learn: nDCG where a relevant document is not retrieved": by_sklearn(
        "ndcg_score", [[2, 0]], [[2.0, 1.0]]
    ),
    "scipy: kendalltau of tied scores": lambda _: float(stats.kendalltau(*TIED_VALUES).statistic),
    "scipy: paired t test of identical systems": lambda _: float(
        stats.ttest_rel(IDENTICAL, IDENTICAL).pvalue
    ),
    "ntcir_eval: nDCG of an ideal list whose gains are thirds": of_thirds,
    "ntcir_eval: I-rec with an intent that the probabilities lack": of_two_intents,
    "ntcir_eval: a nonrelevant document and a relevant one in one class": by_ntcir_eval(
        "AP", column="equivalence_class"
    ),
    "ntcir_eval: classes of a condensed list": by_ntcir_eval("AP", "-j", column="equivalence_class"),
    "ntcir_eval: NCUrb,P@2 of two relevant documents at ranks 1 and 2": by_ntcir_eval(
        "NCUrb,P@2", "-gamma", 0.5, "-cutoffs", 2
    ),
    "ntcir_eval: ERR where no document has the highest level": by_ntcir_eval("ERR"),
    "ntcir_eval: nDCG with the natural logarithm, one of two relevant documents at rank 2": by_ntcir_eval(
        "nDCG@10", "-logb", 0, "-cutoffs", 10
    ),
    "ntcir_eval: a topic without a relevant document": by_ntcir_eval("P-measure"),
    "ntcir_eval: ten cutoffs in one call": by_ntcir_eval(
        "Prec@10", "-cutoffs", ",".join(map(str, range(1, 11)))
    ),
    "pyNTCIREVAL: a topic without a relevant document": by_ntcireval(lambda n: metrics.nERR(n, GAINS, None)),
    "pytrec_eval: mean where the run lacks a topic": pytrec_eval_mean,
    "trec_eval 10: the run lacks a topic": by_trec_eval("map"),
    "trec_eval 10: a topic called #1": by_trec_eval("ndcg", "-c"),
    "ranx: the run lacks a topic": by_ranx("map"),
    "trectools: the run lacks a topic": mean_by("trectools", AP),
    "trec_eval 10 -c: number of relevant documents where the run lacks a topic": by_trec_eval(
        "num_rel", "-c"
    ),
    "Judged of ir-measures: a topic of the run is empty": by("judged"),
    "gdeval: mean where a topic has no relevant document": gdeval_mean,
    "gdeval: mean where the run lacks a topic": gdeval_mean,
    "gdeval: topics a-1 and b-1": lambda case: by("gdeval")(Case(case.measure, case.qrels, case.run, "1")),
    "pytrec_eval: a topic's name is a number": by("pytrec_eval"),
    "pytrec_eval: a topic called no_query": another_number,
    "pytrec_eval: an id that UTF-8 cannot encode": in_pytrec_eval("recip_rank"),
    "pytrec_eval: ids that differ behind a NUL character": by("pytrec_eval"),
    "ir-measures: NumRet beside AP(judged_only=True)": by("pytrec_eval", [AP(judged_only=True)]),
    "ir-measures: nDCG beside nDCG(gains={1:5})": by("pytrec_eval", [nDCG(gains={1: 5})]),
    "ir-measures: nDCG(gains={1:5}) before nDCG": mean_by("pytrec_eval", nDCG(gains={1: 5}), nDCG),
}


def missing(words) -> str | None:
    """Return what must be installed for a case, or None."""
    program = words.partition(":")[0].removesuffix(" -c").removesuffix(" 10")
    if program == "ntcir_eval":
        return ntcir_eval.MISSING
    return ORACLES[program].missing if program in ORACLES else None


def main() -> int:
    """Run the command."""
    wrong = skipped = 0
    for listed in TABLES.values():
        for words, (_, there) in listed.items():
            if reason := missing(words):
                skipped += 1
                print(f"not computed, {reason}: {words}")
                continue
            found = happens(lambda: THERE[words](CASES[words]))  # noqa: B023
            if as_printed(found, there) != there:
                wrong += 1
                print(f"{found}, and on the page {there}: {words}")
    print(f"{len(THERE) - skipped} of {len(THERE)} values computed, {wrong} differ from the page")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
