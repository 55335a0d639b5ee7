"""Reading: files and datasets as frames, and measure strings."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout

import ir_measures
import pandas as pd

import ir_graded
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
