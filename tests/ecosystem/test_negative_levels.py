"""Levels below 0 beside other providers of ir-measures: pytrec_eval never gets one, all others do."""

import math
import random

import ir_measures
import numpy as np
import pytest
from classics.classic_cases import frame
from helpers import rows_of
from ir_measures import (
    AP,
    RR,
    Bpref,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)

from ir_graded import evaluate, explain

PYTREC_EVAL = ir_measures.providers.registry["pytrec_eval"]
CONDENSABLE = [
    P @ 3, P(rel=2) @ 5, RR, Rprec, AP, AP(rel=2) @ 3, nDCG, nDCG @ 3, R @ 5, SetAP, SetF, SetF(beta=0.5),
    SetP, SetP(relative=True), Success @ 2, IPrec @ 0.5, IPrec @ 0.0,
]  # fmt: skip
MEASURES = [
    *CONDENSABLE,
    *(measure(judged_only=True) for measure in CONDENSABLE),
    Bpref, Bpref(rel=2), NumRet, NumRet(rel=1), NumQ, NumRel, SetR, nDCG(gains={1: 0, 2: 5}),
    nDCG(gains={0: 1}) @ 3,
]  # fmt: skip


def collections(cases, topics):
    """Return random qrels, by the levels that a topic may have, and runs."""
    rng = random.Random(14)  # noqa: S311
    for _ in range(cases):
        qrels, run = {}, {}
        for topic, levels in topics.items():
            judged = rng.sample(range(14), rng.randrange(1, 9))
            retrieved = rng.sample(range(14), rng.randrange(1, 12))
            qrels[topic] = {f"d{doc}": rng.choice(levels) for doc in judged}
            run[topic] = {f"d{doc}": float(rng.randrange(5)) for doc in retrieved}
        yield qrels, run


def by_topic(metrics):
    return {(str(metric.measure), metric.query_id): metric.value for metric in metrics}


def by_pytrec_eval(measures, qrels, run):
    """Return values of ir-measures' own provider, called without this package."""
    found = {}
    for measure in measures:  # one at a time, because they affect each other in one call
        found |= by_topic(PYTREC_EVAL.iter_calc([measure], qrels, run))
    # IPrec(judged_only=True) is -nan where nothing judged was retrieved.
    return {key: 0.0 if math.isnan(value) else value for key, value in found.items()}


def by_evaluate(measures, qrels, run):
    found = {}
    for measure in measures:
        row = evaluate(measure, qrels, run).values[0, 0].tolist()
        found |= {(str(measure), topic): value for topic, value in zip(qrels, row, strict=True)}
    return found


def as_frames(qrels, run, _):
    return frame(qrels, "relevance"), frame(run, "score")


def as_files(qrels, run, folder):
    (folder / "qrels.txt").write_text("".join(f"{t} 0 {doc} {level}\n" for t, doc, level in rows_of(qrels)))
    (folder / "a.run").write_text("".join(f"{t} Q0 {doc} 1 {score} r\n" for t, doc, score in rows_of(run)))
    return folder / "qrels.txt", folder / "a.run"


def by_a_mixed_call(measures, qrels, run):
    found = {}
    for measure in measures:
        metrics = by_topic(ir_measures.iter_calc(["Q", measure], qrels, run))
        found |= {key: value for key, value in metrics.items() if key[0] != "Q"}
    return found


def texts(values):
    """Return values to the last digit, with NaN equal to itself."""
    return {key: repr(float(value)) for key, value in values.items()}


LEVELS = [-3, -2, -1, 0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("ours", [by_evaluate, by_a_mixed_call])
def test_negative_levels_in_a_mixed_call_change_no_value(ours):
    for qrels, run in collections(8, {"1": LEVELS, "2": LEVELS}):
        for docs in qrels.values():
            docs["d0"] = 0
        clipped = {t: {doc: max(level, -1) for doc, level in docs.items()} for t, docs in qrels.items()}
        assert ours(MEASURES, qrels, run) == pytest.approx(by_pytrec_eval(MEASURES, clipped, run), abs=1e-14)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("ours", [by_evaluate, by_a_mixed_call])
def test_a_topic_of_negative_levels_scores_like_one_without_relevant_documents(ours):
    for qrels, run in collections(8, {"1": [-1, -2, -5], "2": [0, 1, 2]}):
        without = {"1": {"never retrieved": 0}, "2": qrels["2"]}
        assert ours(MEASURES, qrels, run) == pytest.approx(by_pytrec_eval(MEASURES, without, run), abs=1e-14)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("ours", [by_evaluate, by_a_mixed_call])
def test_inf_ap_counts_negative_levels_as_pooled_and_not_judged(ours):
    """The rows were dropped, so that other documents above counted as outside the pool."""
    changed = 0
    for qrels, run in collections(8, {"1": LEVELS}):
        qrels["1"]["d0"] = 0
        without = {"1": {doc: level for doc, level in qrels["1"].items() if level >= 0}}
        clipped = {"1": {doc: max(level, -1) for doc, level in qrels["1"].items()}}
        for measure in (infAP, infAP(rel=2)):
            found = ours([measure], qrels, run)
            assert found == pytest.approx(by_pytrec_eval([measure], clipped, run), abs=1e-15)
            changed += found != pytest.approx(by_pytrec_eval([measure], without, run), abs=1e-15)
    assert changed


@pytest.mark.parametrize("form", [dict, as_frames, as_files])
def test_inf_ap_of_a_worked_example(form, tmp_path):
    """b and c are relevant, n is not, m is pooled and not judged, and x is not in the pool; rank by rank."""
    qrels = {"1": {"a": 3, "b": 1, "c": 2, "u": 2, "n": 0, "m": -1, "l": -3}, "2": {"m": -1}}
    run = {"1": {doc: -float(n) for n, doc in enumerate("bxalncm")}, "2": {"m": 1.0}}
    e = 0.00001
    terms = [1, 1 / 3 + 1 / 3 * (1 + e) / (1 + 2 * e), 1 / 6 + 4 / 6 * (2 + e) / (3 + 2 * e)]
    tables = (qrels, run) if form is dict else form(qrels, run, tmp_path)
    found = evaluate(["infAP", "infAP(rel=3)"], *tables)
    # With rel=3, b is judged not relevant, and rank 2 is outside the pool.
    assert found.values[:, 0].tolist() == pytest.approx(
        np.array([[sum(terms) / 4, 0], [1 / 3 + 1 / 3 * e / (1 + 2 * e), 0]]), abs=1e-15
    )
    table = explain("infAP", *tables, "1").columns
    assert table["doc_id"].tolist() == ["b", "a", "c"]
    assert table["contribution"].tolist() == pytest.approx([term / 4 for term in terms], abs=1e-15)


QRELS = {"1": {"a": 2, "b": -1, "c": -4, "d": 0}, "2": {"a": -1}, "3": {"b": 1}}
RUN = {"1": {"b": 4.0, "a": 3.0, "c": 2.0, "x": 1.0}, "2": {"a": 1.0}, "3": {"b": 1.0}}


def test_gains_apply_to_the_levels_of_the_qrels():
    """A level of -4 was treated as -1."""
    measure = nDCG(gains={-1: 3, 1: 1, 2: 1})
    expected = by_pytrec_eval([measure], {"1": {"a": 1, "b": 3, "d": 0}}, RUN)
    assert evaluate(measure, QRELS, RUN).values[0, 0, 0] == pytest.approx(expected[str(measure), "1"])


def test_other_providers_get_the_levels_of_the_qrels():
    seen = []

    def look(qrels, _):
        seen.append(dict(zip(qrels["doc_id"], qrels["relevance"], strict=True)))
        return 0.0

    defined = ir_measures.define_byquery(look, name="Look")
    evaluate([defined, "Q", AP], QRELS, RUN)
    ir_measures.calc_aggregate(["Q", defined, AP], QRELS, RUN)
    assert seen == [*QRELS.values(), *QRELS.values()]
    scores = [metric.value for metric in ir_measures.iter_calc(["Q", Judged @ 4], QRELS, RUN)][3:]
    assert scores == [0.75, 1.0, 1.0]
