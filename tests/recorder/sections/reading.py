"""Reading: files and datasets as frames, measure strings, and messages for what cannot be read."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
from packed import gzipped

import ir_graded
from ir_graded import meta
from tests.collections_data import ROOT

from .. import forms, real, spread
from ..recorder import Recorder, section
from .scores import sample, sample_runs


@section("frames", "read_qrels and read_run of files and datasets, and the levels of datasets")
def _frames(out: Recorder) -> None:
    run = next(iter(sample_runs(1).values())).assign(score=lambda frame: frame["score"] / 7)
    for form in (*forms.FILES, "dataset", "dataset id"):
        make = forms.ALL[form]
        with out.errors("frames", form):
            out.result("read_qrels", form, ir_graded.read_qrels(make("qrels", sample().qrels, out.folder)))
            out.result("read_run", form, ir_graded.read_run(make("run", run, out.folder)))
    path = forms.FILES["file"]("qrels", sample().qrels.assign(relevance=0.5), out.folder)
    out.result("read_qrels", "soft levels", ir_graded.read_qrels(path, format="trec"))
    path = out.folder / "gold.txt"
    path.write_text("200\t12\t10\t5\tA|B\tmore\n200\t12\t40\t0\tA\n201\t7\t3\t9\n", encoding="utf-8")
    out.result("read_qrels", "gold standard with further fields", ir_graded.read_qrels(path))
    own = forms.ALL["dataset"]("qrels", sample().qrels, out.folder)
    for source in (own, "disks45/nocr/trec-robust-2004", "cord19/trec-covid"):
        name = source if isinstance(source, str) else "dataset of the recorder"
        out.result("level_definitions", name, ir_graded.level_definitions(source))
    out.result("sample", "qrels", sample().qrels)
    out.result("sample", "runs", pd.concat(sample().runs, names=["run", "row"]).reset_index(drop=True))


@section("real frames", "read_qrels and read_run of real files", needs=real.COVID)
def _real_frames(out: Recorder) -> None:
    for path in sorted([*ROOT.glob("*/qrels*.gz"), real.covid_qrels(1), real.covid_qrels(5)]):
        out.result("read_qrels", path.name, ir_graded.read_qrels(path))
    for path in [*real.covid_raw()[::4], *real.robust_runs()[::4]]:
        out.result("read_run", path.name, ir_graded.read_run(path))


# ------------------------------------------------------------------------------------ measure strings

_STRINGS = """
P-measure@1000 P+@10 Q(beta=0)@5 NCU(stop='gu',beta=inf) NCUrb,P@10 Q(gains={1:1,2:5}) Q(beta=1.0)
Q(gains={1:1,2:2}) GAP(weights={1:0,2:1}) AP(rel=2)@10 nDCG(dcg='exp-log2')@5 map P_10 P_5,10 ndcg_cut_10
recip_rank Rprec recall_1000 bpref num_ret num_rel_ret set_F set_P success_1,5 infAP iprec_at_recall_0.10
official map_cut_10
"""
_WRONG = """
P-mesure Q@ Q@0 Q@-1 Q( Q(beta=-1) Q(beta='x') Q(bta=1) Q(beta=1,beta=2) @10 nCG NCU(stop='x')
NCU(gamma=0.5) iRBU(p=0) Q(norm='cutoff') gP Q@1.5 Q(gains=[1]) AP(rel=1,rel=2) AP(foo=1) Q;Q
Q(cutoff=5)@10 nDCG#@10 P_x Q@10@10
"""


@section("strings", "measure strings and the names that are printed", quick=True)
def _strings(out: Recorder) -> None:
    for name, measure in sorted(ir_measures.measures.registry.items()):
        out.values("registry", name, [repr(measure)])
    measures = [
        *spread.single(),
        *spread.combined(),
        *spread.classics(),
        *spread.single(passages=True),
        *spread.combined(passages=True),
    ]
    for measure in dict.fromkeys(measures[::10] if out.quick else measures):
        with out.errors("round trip", str(measure)):
            read = ir_measures.parse_measure(str(measure))
            out.values("round trip", str(measure), [repr(read), str(read == measure)])
    for text in [*_STRINGS.split(), " Q ", "Q ( beta = 0.5 ) @ 10"]:
        # ir_measures prints the skipped measures of a family.
        with out.errors("parse_measure", text), redirect_stderr(io.StringIO()):
            out.values("parse_measure", text, [repr(ir_measures.parse_measure(text))])
        with out.errors("parse_trec_measure", text), redirect_stdout(io.StringIO()):
            out.values("parse_trec_measure", text, list(map(repr, ir_measures.parse_trec_measure(text))))
    for measure in (*spread.registered(), *spread.registered(passages=True)):
        out.result("range", measure.NAME, measure.RANGE)
        out.result("lacks", measure.NAME, sorted(measure.lacks))
        out.result("parameters", measure.NAME, sorted(measure.SUPPORTED_PARAMS))


# ------------------------------------------------------------------------------------------ messages

_QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"d": 1}}
_RUN = {"1": {"a": 2.0, "x": 1.0}, "2": {"d": 1.0}}

_FILES: dict[str, tuple[str, str | bytes]] = {
    "five fields": ("run", "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0\n"),
    "seven fields": ("run", "1 Q0 a 1 2.0 t extra\n"),
    "score that is a word": ("run", "1 Q0 a 1 two t\n"),
    "score that is NaN": ("run", "1 Q0 a 1 nan t\n"),
    "document twice": ("run", "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n1 Q0 a 3 0.5 t\n"),
    "topic scattered": ("run", "1 Q0 a 1 2.0 t\n2 Q0 d 1 1.0 t\n1 Q0 b 3 0.5 t\n"),
    "empty run": ("run", ""),
    "blank lines": ("run", "\n\n"),
    "other topics": ("run", "9 Q0 a 1 2.0 t\n"),
    "not UTF-8": ("run", b"1 Q0 \xff 1 2.0 t\n"),
    "cut gzip": ("run", gzipped(b"1 Q0 a 1 2.0 t\n" * 50)[:-12]),
    "gzip of nothing": ("run", gzipped(b"")),
    "nul bytes": ("run", b"1 Q0 a\x00 1 2.0 t\n"),
    "byte order mark inside": ("run", "1 Q0 a 1 2.0 t\n\ufeff1 Q0 b 2 1.0 t\n"),
    "not Parquet": ("run", b"PAR1 no"),
    "three fields": ("qrels", "1 0 a\n"),
    "level that is a word": ("qrels", "1 0 a good\n"),
    "level that is NaN": ("qrels", "1 0 a nan\n"),
    "level twice": ("qrels", "1 0 a 1\n1 0 a 0\n"),
    "letters as levels": ("qrels", "0001\tA\tdoc\t1\n"),
    "empty qrels": ("qrels", ""),
    "only level 0": ("qrels", "1 0 a 0\n2 0 d 0\n"),
}


@section("messages", "errors of wrong input: types and texts, which may change by intention")
def _messages(out: Recorder) -> None:
    for text in [*_WRONG.split(), "", "Q Q", "a" * 200]:
        _fails(out, f"measure {text!r}", ir_graded.evaluate, text, _QRELS, _RUN)
    for name, (kind, content) in _FILES.items():
        path = out.folder / f"{kind}.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        given = {"qrels": _QRELS, "run": _RUN, kind: path}
        _fails(out, f"file: {name}", ir_graded.evaluate, "Q", given["qrels"], given["run"])
        _fails(out, f"reading: {name}", getattr(ir_graded, f"read_{kind}"), path)
    for name, (qrels, run) in _wrong_objects().items():
        _fails(out, name, ir_graded.evaluate, ["Q", "AP"], qrels, run)
    for name, call in _wrong_calls(out).items():
        _fails(out, name, call)


def _fails(out: Recorder, name: str, call: Callable[..., Any], *arguments: Any) -> None:
    """Record the error of a call, or that there is none."""
    try:
        result = call(*arguments)
    except Exception as error:
        out.message("error", f"{name}, {call.__name__}", f"{type(error).__name__}: {error}")
    else:
        shown = result.values.tolist() if isinstance(result, ir_graded.Scores) else type(result).__name__
        out.message("error", f"{name}, {call.__name__}", f"no error: {shown}")


def _wrong_objects() -> dict[str, tuple[Any, Any]]:
    frame = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    lazy = pl.LazyFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
    of_qrels = frame.rename(columns={"score": "relevance"})
    return {
        "run without scores": (_QRELS, frame[["query_id", "doc_id"]]),
        "run with a missing score": (_QRELS, frame.assign(score=[2.0, np.nan])),
        "run with scores as text": (_QRELS, frame.assign(score=["2", "1"])),
        "run with a document twice": (_QRELS, frame.assign(doc_id="a")),
        "run with a missing document": (_QRELS, frame.assign(doc_id=["a", None])),
        "run with floats as ids": (_QRELS, frame.assign(query_id=[1.0, 1.5])),
        "run that is a lazy frame": (_QRELS, lazy),
        "run that is None": (_QRELS, None),
        "run that is a number": (_QRELS, 3),
        "run with scores that are no numbers": (_QRELS, {"1": {"a": "2.0"}}),
        "run with a score that is NaN": (_QRELS, {"1": {"a": float("nan")}}),
        "run of other topics": (_QRELS, {"7": {"a": 1.0}}),
        "run without topics": (_QRELS, {}),
        "runs with one of other topics": (_QRELS, {"good": _RUN, "bad": {"7": {"a": 1.0}}}),
        "run with bool scores": (_QRELS, {"1": {"a": True}}),
        "qrels without topics": ({}, _RUN),
        "qrels with levels as text": (of_qrels.assign(relevance=["1", "2"]), _RUN),
        "qrels with a level that is NaN": ({"1": {"a": float("nan")}}, _RUN),
        "qrels with an infinite level": ({"1": {"a": float("inf")}}, _RUN),
        "qrels that are a missing file": ("no such file.txt", _RUN),
        "qrels with complex levels": ({"1": {"a": 1j}}, _RUN),
        "qrels with a huge level": ({"1": {"a": 10**400}}, _RUN),
        "consumed generator": (_QRELS, iter([])),
        "ids as bytes": ({b"1": {b"a": 1}}, {b"1": {b"a": 1.0}}),
    }


def _wrong_calls(out: Recorder) -> dict[str, Callable[[], Any]]:
    matrix = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.1]])
    scores = ir_graded.evaluate(["Q", "AP"], _QRELS, {"x": _RUN, "y": {"1": {"b": 1.0}}})
    page, nowhere = out.folder / "page.html", out.folder / "no" / "page.html"
    return {
        "no measures": lambda: ir_graded.evaluate([], _QRELS, _RUN),
        "soft levels upstream": lambda: ir_graded.evaluate("infAP", {"1": {"a": 0.5}}, {"1": {"a": 1.0}}),
        "passages missing": lambda: ir_graded.evaluate("MAgP", _QRELS, _RUN),
        "level above max_rel": lambda: ir_graded.evaluate("nERR(max_rel=1)", _QRELS, _RUN),
        "level above ERR's": lambda: ir_graded.evaluate("ERR@10", {"1": {"a": 5}}, {"1": {"a": 1.0}}),
        "explain an unknown topic": lambda: ir_graded.explain("Q", _QRELS, _RUN, "9"),
        "explain two measures": lambda: ir_graded.explain("P_5,10", _QRELS, _RUN, "1"),
        "explain NumQ": lambda: ir_graded.explain("NumQ", _QRELS, _RUN, "1"),
        "explain infAP": lambda: ir_graded.explain("infAP", _QRELS, _RUN, "1"),
        "explain two runs": lambda: ir_graded.explain("Q", _QRELS, {"x": _RUN, "y": _RUN}, "1"),
        "unjudged depths": lambda: ir_graded.unjudged(_QRELS, _RUN, depths=[0]),
        "matrix of another measure": lambda: scores.matrix("RR"),
        "one topic": lambda: meta.discriminative_power(matrix[:1]),
        "NaN in a matrix": lambda: meta.swap(matrix * np.nan),
        "alpha of 2": lambda: meta.discriminative_power(matrix, alpha=2),
        "unknown test": lambda: meta.discriminative_power(matrix, test="x"),
        "no replicates": lambda: meta.stability(matrix, n_resamples=0),
        "unknown baseline": lambda: meta.differences(scores, "z"),
        "unknown reference": lambda: meta.rank_correlations(scores, "RR"),
        "tied systems": lambda: meta.tau_ap([1, 1, 2], [1, 2, 3]),
        "systems that differ": lambda: meta.kendall_tau({"a": 1, "b": 2}, {"a": 1, "c": 2}),
        "report with an unknown baseline": lambda: ir_graded.report("Q", _QRELS, _RUN, page, baseline="z"),
        "report into a missing folder": lambda: ir_graded.report("Q", _QRELS, _RUN, nowhere),
        "strip without passages": lambda: ir_graded.passages.show(_QRELS, _RUN, "1", "a"),
        "unknown format": lambda: ir_graded.read_run(out.folder / "run.txt", format="x"),
        "unknown dataset": lambda: ir_graded.read_qrels("no-such/dataset"),
        "unknown attribute": lambda: ir_graded.no_such_name,
    }
