"""Scores of documents: the sample in every form, real collections, random ones, and calls of ir_measures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

import ir_graded
from tests.collections_data import ROOT

from .. import draws, forms, real, spread
from ..recorder import Recorder, section

#: Measures for sections that vary the input.
_FEW = """
P-measure P+@1000 Q Q(judged_only=True) O-measure NCU(stop='rb')@100 nERR@10 GAP AP nDCG@10 RR Bpref
Judged@10 NumRet
"""
FEW = _FEW.split()
#: Measures that other providers of ir_measures compute. If one is not installed, its error is recorded.
OTHERS = [
    "infAP", "IPrec@0.1", "IPrec@0.9", "Compat(p=0.9)", "SetAP", "BPM(max_rel=2)@10", "INST(max_rel=2)",
]  # fmt: skip
SUBTOPICS = ["alpha_nDCG@10", "ERR_IA@10", "AP_IA", "StRecall@10", "P_IA@5", "NRBP"]


@cache
def sample() -> Any:
    """Return the bundled sample."""
    return ir_graded.sample()


def sample_runs(count: int) -> dict[str, pd.DataFrame]:
    """Return the first runs of the sample."""
    return {name: sample().runs[name] for name in [*sample().runs][:count]}


def all_measures() -> list[Any]:
    """Return every measure over documents with its spread of parameters, and every classic."""
    return list(dict.fromkeys([*spread.single(), *spread.combined(), *spread.classics()]))


@section("sample", "the bundled runs by every measure with its spread of parameters", quick=True)
def _sample(out: Recorder) -> None:
    measures = [*spread.single(), *spread.classics()] if out.quick else all_measures()
    out.evaluate("all runs", measures, sample().qrels, sample_runs(3 if out.quick else 20))


@section("forms", "the sample in every input form, as it is and with tied scores")
def _forms(out: Recorder) -> None:
    for scores, runs in _scored().items():
        for form, make in forms.ALL.items():
            where = f"{form}, {scores}"
            qrels, made = _made(out, where, make, runs)
            out.evaluate(where, FEW, qrels, made)
            if form in forms.COMMON:
                qrels, made = _made(out, where, make, runs)
                found = ir_measures.iter_calc(FEW, qrels, next(iter(made.values())))
                out.metrics(f"ir_measures, {where}", found)
    _whole_ids(out)
    _several_runs(out)


def _scored() -> dict[str, dict[str, pd.DataFrame]]:
    """Return two runs of the sample, with original scores, tied in sevens, and different only as doubles."""
    runs = sample_runs(2)
    return {
        "scores without ties": runs,
        "scores in sevens": {
            name: run.assign(score=np.floor(run["score"] / 7)) for name, run in runs.items()
        },
        "scores near 1": {name: run.assign(score=1 + run["score"] * 1e-8) for name, run in runs.items()},
    }


def _made(
    out: Recorder, where: str, make: forms.Maker, runs: dict[str, pd.DataFrame]
) -> tuple[Any, dict[str, Any]]:
    """Return qrels and runs of the sample in a form."""

    def folder(name: str) -> Path:
        place = out.folder / f"{where} {name}".replace("[", "").replace("]", "")
        place.mkdir(exist_ok=True)
        return place

    qrels = make("qrels", sample().qrels, folder("qrels"))
    return qrels, {name: make("run", run, folder(name)) for name, run in runs.items()}


def _whole_ids(out: Recorder) -> None:
    """Record ids that are ints: as text, '9' sorts after '10'."""
    numbers = {doc: at for at, doc in enumerate(sorted(sample().qrels["doc_id"].unique()))}
    qrels = sample().qrels.assign(doc_id=lambda frame: frame["doc_id"].map(numbers))
    run = next(iter(sample_runs(1).values()))
    run = run[run["doc_id"].isin(numbers)].assign(
        doc_id=lambda frame: frame["doc_id"].map(numbers), score=lambda frame: np.floor(frame["score"] / 5)
    )
    qrels, run = (
        frame.assign(query_id=frame["query_id"].astype(int), doc_id=frame["doc_id"].astype(int))
        for frame in (qrels, run)
    )
    for form, make in forms.WHOLE.items():
        where = f"ids as ints, {form}"
        out.evaluate(where, FEW, make("qrels", qrels, out.folder), {"run": make("run", run, out.folder)})


def _several_runs(out: Recorder) -> None:
    """Several runs as a list, a folder, paths and a mapping, and one run alone."""
    runs = sample_runs(4)
    folder = out.folder / "runs"
    folder.mkdir()
    paths = []
    for (name, run), ending in zip(runs.items(), ("txt", "gz", "zst", "xz"), strict=True):
        made = forms.FILES[{"txt": "file", "gz": "gzip", "zst": "zstandard", "xz": "xz"}[ending]]
        paths.append(made("run", run, out.folder).rename(folder / f"{name}.{ending}"))
    qrels = sample().qrels
    several = {
        "a list of frames": list(runs.values()),
        "a list of paths": paths,
        "a list of texts": list(map(str, paths)),
        "a folder": folder,
        "a mapping to paths": dict(zip(runs, paths, strict=True)),
        "one frame": next(iter(runs.values())),
        "one path": paths[1],
        "a generator": (row for row in next(iter(runs.values())).itertuples()),
        "a mapping of forms": {
            "dicts": forms.dicts("run", runs[next(iter(runs))], out.folder),
            "path": paths[2],
            "frame": runs[next(iter(runs))],
        },
    }
    for name, given in several.items():
        out.evaluate(name, FEW, qrels, given)


# ---------------------------------------------------------------------------------- real collections


def _in_groups(out: Recorder, where: str, measures: list[Any], qrels: Any, runs: dict[str, Any]) -> None:
    for group in real.in_groups(runs, 16):
        first = next(iter(group))
        out.evaluate(f"{where}, {len(group)} runs from {first}", measures, qrels, group)


@section("covid1", "all 143 runs of TREC-COVID round 1", needs=real.COVID)
def _covid_1(out: Recorder) -> None:
    measures = [*spread.single(), *spread.classics()]
    _in_groups(out, "round 1", measures, real.covid_qrels(1), real.covid_round_1())


@section("covid5", "all 126 runs of TREC-COVID round 5, judged documents only", needs=real.COVID)
def _covid_5(out: Recorder) -> None:
    measures = [*spread.single(), *spread.classics()]
    _in_groups(out, "round 5", measures, real.covid_qrels(5), real.covid_round_5())


@section("covid5raw", "28 runs of TREC-COVID round 5 as submitted", needs=real.COVID)
def _covid_raw(out: Recorder) -> None:
    runs = {path.name: path for path in real.covid_raw()}
    _in_groups(out, "raw", all_measures(), real.covid_qrels(5), runs)


@section("robust", "all 17 runs of Robust 2003", needs=real.ROBUST)
def _robust(out: Recorder) -> None:
    runs = {path.name: path for path in real.robust_runs()}
    qrels = ROOT / real.ROBUST / "qrels.robust03.txt.gz"
    _in_groups(out, "files", all_measures(), qrels, runs)


@section("web", "Web 2012 with negative levels, one run as submitted", needs="web2012")
def _web(out: Recorder) -> None:
    folder = ROOT / "web2012"
    (run,) = folder.glob("*.run.gz")
    out.evaluate("as submitted", all_measures(), folder / "qrels.web.151-200.txt.gz", run)


@section("qrels", "other qrels, with random runs", needs="other-qrels")
def _other_qrels(out: Recorder) -> None:
    paths = sorted([*(ROOT / "other-qrels").glob("*.gz"), *(ROOT / "web2012").glob("qrels*.gz")])
    for at, path in enumerate(paths):
        levels = real.levels(path)
        highest = max(level for docs in levels.values() for level in docs.values())
        measures = [measure for measure in all_measures() if spread.fits(measure, highest)]
        runs = {f"random {number}": draws.run_for(levels, 10 * at + number, 150) for number in range(4)}
        out.evaluate(path.name, measures, path, runs)


# ---------------------------------------------------------------------------------- random collections


def _random_collections(out: Recorder) -> Iterator[draws.Collection]:
    yield from map(draws.collection, range(60 if out.quick else 2000))


@section("random", "2,000 random collections, a fifth of the measures each", quick=True)
def _random(out: Recorder) -> None:
    makers = [forms.ALL[name] for name in ("dicts", "pandas", "polars", "Arrow", "named tuples", "file")]
    measures = tuple([*spread.single(), *spread.classics()] if out.quick else all_measures())
    for number, drawn in enumerate(_random_collections(out)):
        some = spread.some(measures, 0.2, drawn.name)
        chosen = [measure for measure in some if spread.fits(measure, drawn.highest)]
        make = makers[number % len(makers)]
        qrels, run = (make(kind, forms.frame(kind, nested), out.folder) for kind, nested in _nested(drawn))
        if make is forms.dicts:
            qrels, run = drawn.qrels, drawn.run  # with empty topics
        out.evaluate(drawn.name, chosen, qrels, run)


def _nested(drawn: draws.Collection) -> list[tuple[str, dict[str, dict[str, float]]]]:
    return [("qrels", drawn.qrels), ("run", drawn.run)]


# ------------------------------------------------------------------------------------- ir_measures


@section("calc", "calls of ir_measures, and measures of its other providers beside ours")
def _calc(out: Recorder) -> None:
    qrels, runs = sample().qrels, sample_runs(3)
    dicts = {name: forms.dicts("run", run, out.folder) for name, run in runs.items()}
    mixed = [*FEW, ir_graded.Q(beta=0) @ 1000, ir_measures.nDCG @ 20, "map"]
    evaluator = ir_measures.evaluator(mixed, qrels)
    for name, run in runs.items():
        out.metrics(f"evaluator, {name}", evaluator.iter_calc(run))
        out.result("calc_aggregate", name, _sorted(ir_measures.calc_aggregate(mixed, qrels, run)))
        aggregated, by_topic = ir_measures.calc(mixed, forms.dicts("qrels", qrels, out.folder), dicts[name])
        out.result("calc", name, _sorted(aggregated))
        out.metrics(f"calc, {name}", by_topic)
        for measure in ("P-measure", "Q", "NCU"):
            out.metrics(f"a measure's own, {name}", ir_measures.parse_measure(measure).iter_calc(qrels, run))
    for measure in OTHERS:
        out.evaluate(f"beside {measure}", [measure, "Q"], qrels, runs)
    _subtopics(out)
    _calls_of_random(out)


def _sorted(aggregated: dict[Any, float]) -> dict[str, float]:
    return {str(measure): aggregated[measure] for measure in sorted(aggregated, key=str)}


def _subtopics(out: Recorder) -> None:
    """Record measures over subtopics, which only the calls of ir_measures support."""
    qrels = sample().qrels.assign(iteration=lambda frame: (frame.index % 3).astype(str))
    run = next(iter(sample_runs(1).values()))
    for measure in SUBTOPICS:
        with out.errors(measure, "subtopics"):
            out.metrics(f"subtopics, {measure}", ir_measures.iter_calc([measure, "Q@10", "AP"], qrels, run))


def _calls_of_random(out: Recorder) -> None:
    """Record random collections in calls of ir_measures."""
    measures = ["Q", "P-measure@5", "AP", "nDCG@10", "RR", "P@5", "Bpref", "infAP", "SetF"]
    for drawn in filter(lambda one: one.is_whole, map(draws.collection, range(400))):
        run = {topic: docs for topic, docs in drawn.run.items() if docs}
        with out.errors("calc", drawn.name):
            out.metrics(f"calc, {drawn.name}", ir_measures.iter_calc(measures, drawn.qrels, run))


# ------------------------------------------------------------------------------ unjudged documents


@section("unjudged", "shares of unjudged documents", quick=True)
def _unjudged(out: Recorder) -> None:
    out.result("unjudged", "sample", ir_graded.unjudged(sample().qrels, sample_runs(20)))
    for number, drawn in enumerate(_random_collections(out)):
        if number % 5 == 0:
            found = ir_graded.unjudged(drawn.qrels, drawn.run, depths=[1, 3, 10])
            out.result("unjudged", drawn.name, found)
            out.values("unjudged.rank_frame()", drawn.name, found.rank_frame().to_numpy().reshape(-1))


@section("unjudged real", "shares of unjudged documents of real runs", needs=real.COVID)
def _unjudged_real(out: Recorder) -> None:
    runs = real.covid_round_1()
    out.result("unjudged", "round 1", ir_graded.unjudged(real.covid_qrels(1), runs))
    found = ir_graded.unjudged(real.covid_qrels(5), real.covid_raw()[:8])
    out.result("unjudged", "raw runs of round 5", found)
