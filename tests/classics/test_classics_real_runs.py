"""On real runs, the classics equal ir-measures' own providers, run by run and topic by topic."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from classics import classic_cases as cases
from collections_data import ROOT, needs_shared_data, ranked_runs
from helpers import covid_sample

import ir_graded
from ir_graded.measures.classic import CLASSICS

pytestmark = pytest.mark.slow

#: Measures of one call. If condensed lists are among them, ir-measures may count NumRet in a condensed list.
PLAIN = [
    *("AP", "AP@100", "RR", "nDCG", "nDCG@10", "P@10", "R@100", "Rprec", "Success@5", "Bpref"),
    *("NumRet", "NumRet(rel=1)", "NumRel", "NumQ", "SetP", "SetP(relative=True)", "SetR", "SetF"),
]
CONDENSED = [
    *("AP(judged_only=True)", "nDCG(judged_only=True)@20", "RR(judged_only=True)"),
    *("R(judged_only=True)@50", "P(judged_only=True)@10", "Rprec(judged_only=True)"),
    *("SetF(judged_only=True)", "SetP(judged_only=True)"),
]


def differences(measures, qrels, runs):
    """The largest difference of each measure from ir-measures' own providers, without this package's."""
    ours = ir_graded.evaluate(measures, qrels, runs)
    assert ours.values.any(axis=(1, 2)).all()
    runs = runs if isinstance(runs, dict) else dict(zip(ours.runs, runs, strict=True))
    evaluator = cases.UPSTREAM.evaluator(
        ours.measures, frame(qrels, "relevance", ["query_id", "_", "doc_id"])
    )
    measure_at, topic_at = ({one: at for at, one in enumerate(of)} for of in (ours.measures, ours.query_ids))
    theirs = np.zeros_like(ours.values)
    for at, name in enumerate(ours.runs):
        for metric in evaluator.iter_calc(frame(runs[name], "score", ["query_id", "_", "doc_id", "rank"])):
            if metric.query_id in topic_at:
                theirs[measure_at[metric.measure], at, topic_at[metric.query_id]] = metric.value
    return np.abs(ours.values - theirs).max(axis=(1, 2))


def frame(source, value, before):
    """A frame, or the frame of a TREC file whose columns before the value are named."""
    if isinstance(source, pl.DataFrame):
        return source.to_pandas()
    if isinstance(source, pd.DataFrame):
        return source
    names = [*before, value]
    found = pd.read_csv(source, sep=r"\s+", header=None, usecols=range(len(names)), names=names, dtype=str)
    return found.astype({value: float if value == "score" else int})


def every_third_of_the_sample():
    return dict([*covid_sample().runs.items()][::3])


def test_classics_of_the_sample_equal_those_of_ir_measures():
    qrels, runs = covid_sample().qrels, every_third_of_the_sample()
    others = ["AP(rel=2)", "Bpref(rel=2)", "SetF(rel=2,beta=0.5)", "RR@10", "Judged@10", "Judged"]
    for measures in (PLAIN, CONDENSED, others, ["nDCG(gains={1:1,2:4})@10"]):
        assert (differences(measures, qrels, runs) <= 1e-12).all()


@cases.needs_perl
def test_classics_of_the_sample_equal_gdeval():
    measures, runs = ["ERR@20", "nDCG(dcg='exp-log2')@20"], every_third_of_the_sample()
    assert (differences(measures, covid_sample().qrels, runs) <= 0.5e-5 + 1e-9).all()


def test_rbp_of_the_sample_equals_cwl_eval():
    covid = covid_sample()
    name, run = next(iter(covid.runs.items()))
    measure = CLASSICS["RBP"].MEASURE(rel=2, p=0.95)
    scores = ir_graded.evaluate([measure], covid.qrels, {name: run})
    by_topic = {
        str(topic): dict(zip(rows.doc_id, rows.iloc[:, -1], strict=True))
        for topic, rows in covid.qrels.groupby("query_id")
    }
    for topic, value in zip(scores.query_ids, scores.values[0, 0], strict=True):
        rows = run[run.query_id == topic]
        expected = cases.cwl_rbp(measure, by_topic[topic], dict(zip(rows.doc_id, rows.score, strict=True)))
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.release
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@needs_shared_data
@pytest.mark.parametrize(
    ("number", "data", "count"),
    [("round1", "round1.ranked1000.tsv.xz", 143), ("round5", "round5.judged.tsv.xz", 126)],
)
def test_classics_of_every_third_trec_covid_run_equal_those_of_ir_measures(number, data, count):
    qrels, runs = ROOT / "trec-covid" / "qrels" / f"qrels.covid-{number}.txt.gz", ranked_runs(data)
    assert len(runs) == count
    assert (differences(PLAIN, qrels, dict([*runs.items()][::3])) <= 1e-12).all()


@pytest.mark.release
@needs_shared_data
def test_classics_of_every_robust_2003_run_equal_those_of_ir_measures():
    paths = sorted((ROOT / "robust2003" / "runs").glob("input.*.gz"))
    qrels = ROOT / "robust2003" / "qrels.robust03.txt.gz"
    for measures in (PLAIN, CONDENSED):
        assert (differences(measures, qrels, paths) <= 1e-12).all()
